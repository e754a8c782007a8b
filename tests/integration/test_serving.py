"""One of the lab's model servers under systemd: its running unit, key and weights, switching, rollback and removal.

The tests query the running unit instead of reading its file: systemd, the kernel, and the server.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import bench as benches, model_server, stand_ins
from lab.host import cache_directory
from lab.hub import Hub, Model
from tests.integration.conftest import CHECKOUT, MOST_EXPOSED, Bench, Host, Play

ENVIRONMENTS = "/opt/sparkforge/envs/serving"
MODEL = "/srv/models/tiny"
UNIT = "sparkforge-serving"
KEY = "k3y-of-the-server-0123456789"


def wheel(folder: Path, version: str) -> str:
    files = {
        **{f"{path}/__init__.py": "" for path in ("vllm", "vllm/entrypoints", "vllm/entrypoints/cli")},
        "vllm/entrypoints/cli/main.py": Path(model_server.__file__).read_text(),
    }
    return str(stand_ins.write_wheel(folder, "vllm", version, files))


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    host = bench.fresh("systemd", ["--cap-add=SYS_ADMIN"])
    assert host.execute("systemctl is-system-running --wait") == "running"
    # systemd does this outside of containers: credentials are mounts that must propagate to the unit (systemd.exec(5)).
    host.execute("mount --make-rshared /")
    host.execute(
        f"mkdir -p {MODEL} /opt/sparkforge/fabric && echo NCCL_IB_HCA=rocep1s0f0 > /opt/sparkforge/fabric/nccl.env"
    )
    host.execute(f"echo '{{}}' > {MODEL}/config.json")
    return host


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("wheels")
    return wheel(folder / "1", "0.1"), wheel(folder / "2", "0.2")


def serve(host: Host, wheel: str, *arguments: str, **variables: Any) -> Play:
    all_variables = {
        "serving_engine": "vllm",
        "serving_model": MODEL,
        "serving_start_timeout": 60,
        "python_env_wheels": [wheel],
        # The stack's libraries were not installed on this host.
        "verify_paths": [],
        "verify_sonames": [],
        **variables,
    }
    return host.run("serve", *arguments, **all_variables)


#: Prints the status and the answer.
ASK = """
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": f"Bearer {sys.argv[2]}"} if sys.argv[2] else {})
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode())
"""


def asked(host: Host, path: str = "/", key: str = "") -> Any:
    """Return the server's answer, or its status if the answer is empty or a refusal."""
    command = ["python3", "-c", ASK, f"http://127.0.0.1:8000{path}", key]
    status, _space, body = host.execute(shlex.join(command)).partition(" ")
    return json.loads(body) if status == "200" and body else int(status)


def shown(host: Host, *names: str) -> dict[str, str]:
    """Return properties of the unit from systemd."""
    properties = " ".join(f"-p {name}" for name in names)
    return dict(line.split("=", 1) for line in host.execute(f"systemctl show {UNIT} {properties}").splitlines())


def current(host: Host) -> str:
    return host.execute(f"readlink {ENVIRONMENTS}/current || true")


def with_an_engine(bench: Bench) -> Host:
    """Return a host with systemd, a model, and a fake environment that contains only a stand-in for the engine."""
    host = bench.fresh("systemd", ["--cap-add=SYS_ADMIN"])
    host.execute("systemctl is-system-running --wait")
    engine = f"{ENVIRONMENTS}/one/vllm/entrypoints/cli"
    host.copy(Path(model_server.__file__), f"{engine}/main.py")
    host.execute(f"""
        groupadd --system sparkforge; mkdir -p {MODEL} /opt/sparkforge/bin; echo '{{}}' > {MODEL}/config.json
        ln -s one {ENVIRONMENTS}/current; touch /opt/sparkforge/bin/serving-python
        cd /opt/sparkforge/bin; chmod 0755 serving-python
        printf '#!/bin/sh\nPYTHONPATH={ENVIRONMENTS}/one exec /usr/bin/python3 "$@"\n' > serving-python
    """)
    return host


def test_running_unit_is_confined(bench: Bench) -> None:
    """Only the role runs, in a fake environment, so that every test run can afford this test."""
    host = with_an_engine(bench)
    variables = {"serving_engine": "vllm", "serving_model": MODEL, "serving_start_timeout": 60}
    host.roles("serving", **variables).succeeded()
    properties = shown(
        host, "ActiveState", "UnitFileState", "OOMScoreAdjust", "NRestarts", "StartLimitBurst", "RestartMode",
        "DevicePolicy", "DeviceAllow", "IPAddressDeny", "IPAddressAllow", "ProtectHome", "MainPID",
    )  # fmt: skip
    process = properties.pop("MainPID")
    # The server's processes communicate where no other host can reach them.
    inside = asked(host)["environment"]
    names = ("VLLM_HOST_IP", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
    assert [inside[name] for name in names] == ["127.0.0.1", "lo", "lo"]
    networks = [set(properties.pop(name).split()) for name in ("IPAddressDeny", "IPAddressAllow")]
    assert networks == [{"0.0.0.0/0", "::/0"}, {"127.0.0.0/8", "::1/128"}]
    assert properties == {
        "ActiveState": "active", "UnitFileState": "enabled", "OOMScoreAdjust": "800", "NRestarts": "0",
        "StartLimitBurst": "4", "RestartMode": "direct", "DevicePolicy": "closed",
        "DeviceAllow": "char-nvidia* rw",
        "ProtectHome": "tmpfs",
    }  # fmt: skip
    status = dict(line.split(":\t") for line in host.execute(f"cat /proc/{process}/status").splitlines())
    bounds = [status[name] for name in ("NoNewPrivs", "Seccomp", "CapBnd", "Umask")]
    assert bounds == ["1", "2", "0000000000000000", "0077"]
    account = int(host.execute(f"id -u {UNIT}"))
    assert asked(host, "/can") == {
        "read the model": "[b'{}\\n']", "write the model": "EROFS", "list homes": "[]", "read shadow": "EACCES",
        "write etc": "EROFS", "write sparkforge": "EROFS", "write its home": "None", "make setuid": "EPERM",
        "make a namespace": "EPERM", "open a raw socket": "EAFNOSUPPORT", "chroot": "EPERM",
        "leave the host": "EPERM",
        # Without these, just-in-time compilers fail and engines cannot choose their cores.
        "compile": "None", "choose cores": "None", "processes": [account],
    }  # fmt: skip
    assert host.exposure(UNIT) <= MOST_EXPOSED


#: Stands in for the proof: like the real one, it queries the server and reads the model; it reports a fault on request.
PROVE = """
import json, os, sys, urllib.request
url, model, report = sys.argv[2], sys.argv[4], sys.argv[6]
urllib.request.urlopen(url + "/health")
open(os.path.join(model, "config.json")).read()
open(report, "w").write(json.dumps({"uid": os.getuid(), "words": sys.argv[1:]}))
print("fail  endpoint.batch: Answers in a batch are off." if "--wrong" in sys.argv else "proven")
sys.exit("--wrong" in sys.argv)
"""


@pytest.mark.long
def test_server_is_enabled_once_it_is_proven(bench: Bench, tmp_path: Path) -> None:
    host = with_an_engine(bench)
    variables = {"serving_engine": "vllm", "serving_model": MODEL, "serving_start_timeout": 60, "serving_prove": True}
    assert "proof is not" in host.roles("serving", **variables).failed().text
    (tmp_path / "proof.pyz").write_text(PROVE)
    host.copy(tmp_path / "proof.pyz", "/opt/sparkforge/proof/proof.pyz")
    wrong = host.roles("serving", **variables, serving_prove_arguments=["--wrong"]).failed().text
    assert "not proven: fail endpoint.batch: " in wrong
    assert shown(host, "ActiveState", "UnitFileState") == {"ActiveState": "inactive", "UnitFileState": "disabled"}
    host.roles("serving", **variables).succeeded()
    assert shown(host, "ActiveState", "UnitFileState") == {"ActiveState": "active", "UnitFileState": "enabled"}
    report = json.loads(host.execute(f"cat /var/lib/{UNIT}/proof.json"))
    assert report["uid"] == int(host.execute(f"id -u {UNIT}"))
    arguments = ["endpoint", "http://127.0.0.1:8000", "--model", MODEL, "--json", f"/var/lib/{UNIT}/proof.json"]
    assert report["words"] == arguments
    assert host.roles("serving", **variables).succeeded().changed == 0
    host.roles("serving", **{**variables, "serving_prove": False}).succeeded()
    assert host.execute(f"ls /etc/systemd/system/{UNIT}-prove.service || true") == ""


@pytest.mark.long
def test_another_process_on_the_port_is_not_mistaken_for_the_server(host: Host, wheels: tuple[str, str]) -> None:
    host.execute(
        "cd / && { setsid python3 -m http.server --bind 127.0.0.1 8001 >/dev/null 2>&1 & echo $! > /tmp/other.pid; }"
    )
    host.execute("timeout 20 sh -c 'until ss -ltn | grep -q :8001; do sleep 0.1; done'")
    before = host.contents()
    try:
        assert "listens on port 8001" in serve(host, wheels[0], serving_port=8001).failed().text
        assert host.contents() == before
    finally:
        host.execute("kill $(cat /tmp/other.pid) && rm /tmp/other.pid")


@pytest.mark.long
def test_check_mode_changes_nothing(host: Host, wheels: tuple[str, str]) -> None:
    before = host.contents()
    assert serve(host, wheels[0], "--check", "--diff").succeeded().changed > 0
    assert host.contents() == before


@pytest.mark.long
def test_a_server_runs_as_its_own_account_and_a_second_run_changes_nothing(host: Host, wheels: tuple[str, str]) -> None:
    # systemd would interpret this argument if it were not quoted.
    arguments = ["--served-model-name", 'a "b" %h $HOME']
    variables = {"serving_arguments": arguments, "serving_environment": {"GREETING": "50 % of $x"}}
    serve(host, wheels[0], serving_networks=["localhost", "192.0.2.0/24"], **variables).succeeded()
    now = asked(host)
    assert (now["model"], now["gpu_memory_utilization"], now["served_model_name"]) == (MODEL, 0.7, 'a "b" %h $HOME')
    assert now["prefix"] == f"{ENVIRONMENTS}/{current(host)}"
    assert now["uid"] == int(host.execute(f"id -u {UNIT}")) != 0
    expected = {
        "NCCL_IB_HCA": "rocep1s0f0", "GREETING": "50 % of $x", "HOME": f"/var/lib/{UNIT}", "HF_HUB_OFFLINE": "1",
        "VLLM_HOST_IP": "127.0.0.1",
    }  # fmt: skip
    assert now["environment"].items() >= expected.items()
    assert int(now["environment"]["MAX_JOBS"]) >= 1
    modes = host.execute(f"stat -c '%n %a %U:%G' /etc/systemd/system/{UNIT}.service /var/lib/{UNIT} {ENVIRONMENTS}")
    assert modes.splitlines() == [
        f"/etc/systemd/system/{UNIT}.service 644 root:root",
        f"/var/lib/{UNIT} 700 {UNIT}:{UNIT}",
        f"{ENVIRONMENTS} 750 root:sparkforge",
    ]
    again = serve(host, wheels[0], serving_networks=["localhost", "192.0.2.0/24"], **variables).succeeded()
    assert again.changed == 0, again.output


@pytest.mark.long
def test_other_hosts_need_the_key_and_the_key_is_not_exposed(host: Host, wheels: tuple[str, str], tmp_path: Path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    variables = {"serving_host": "0.0.0.0", "serving_api_key_file": str(tmp_path / "key")}
    played = serve(host, wheels[0], "-vvv", "--diff", **variables).succeeded()
    assert asked(host) == asked(host, "/invocations") == asked(host, key="another") == 401
    assert asked(host, "/health") == 200
    assert asked(host, key=KEY)["middleware"] == "sparkforge_launch.Guard"
    assert KEY not in played.output
    # The key is in no process's command line or environment, in no journal, and only in files of root and systemd.
    seen = "cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; journalctl --no-pager"
    assert KEY not in host.execute(seen)
    files = host.execute(f"grep -rlsF {KEY} /etc /opt /run /var /home /tmp /root", check=False).splitlines()
    assert sorted(files) == [f"/etc/{UNIT}.key", f"/run/credentials/{UNIT}.service/api_key"]
    assert host.execute(f"stat -c '%a %U' /etc/{UNIT}.key") == "600 root"
    assert host.execute(f"su nobody -s /bin/sh -c 'cat {files[0]} {files[1]}'", check=False) == ""
    assert shown(host, "IPAddressDeny")["IPAddressDeny"] == ""
    assert host.exposure(UNIT) <= MOST_EXPOSED
    assert serve(host, wheels[0], **variables).succeeded().changed == 0
    serve(host, wheels[0]).succeeded()
    assert host.execute(f"ls /etc/{UNIT}.key", check=False) == ""
    (tmp_path / "key").write_text("short\n")
    assert "contain a key" in serve(host, wheels[0], **variables).failed().text


@pytest.mark.long
def test_private_weights_are_read_in_place(host: Host, wheels: tuple[str, str]) -> None:
    home, commit = "/home/ada/.cache/huggingface/hub/models--Org--Tiny", "0" * 40
    # The kernel maps owners on tmpfs and ext4, but not on a container's overlay.
    host.execute(f"""
        useradd --create-home ada && mount -t tmpfs -o mode=0700,uid=$(id -u ada),gid=$(id -g ada) none /home/ada
        mkdir -p {home}/blobs {home}/refs {home}/snapshots/{commit}; printf {commit} > {home}/refs/main
        echo '{{}}' > {home}/blobs/aaa; echo numbers > {home}/blobs/bbb; echo secret > /home/ada/secret
        ln -s ../../blobs/aaa {home}/snapshots/{commit}/config.json
        ln -s ../../blobs/bbb {home}/snapshots/{commit}/model.safetensors
        chown -hR ada:ada /home/ada; chmod -R go= /home/ada
    """)
    modes = host.execute("find /home/ada -printf '%p %m %u %l\\n' | sort")
    serve(host, wheels[0], serving_model=home).succeeded()
    now, can = asked(host), asked(host, "/can")
    assert (now["model"], now["served_model_name"]) == (f"{home}/snapshots/{commit}", "Org/Tiny")
    assert sorted(json.loads(can["read the model"].replace("b'", '"').replace("'", '"').replace("\\n", ""))) == [
        "numbers", "{}",
    ]  # fmt: skip
    # The server sees only the model from her home, and other accounts see nothing of the mount.
    assert can["list homes"] == "['/home/ada/.cache']" and can["write the model"] == "EROFS"
    assert host.execute("su nobody -s /bin/sh -c 'ls /run/sparkforge/serving'", check=False) == ""
    assert host.execute("find /home/ada -printf '%p %m %u %l\\n' | sort") == modes
    assert serve(host, wheels[0], serving_model=home).succeeded().changed == 0
    serve(host, wheels[0]).succeeded()
    assert host.execute("mount | grep -c /run/sparkforge", check=False) == "0"


@pytest.mark.long
def test_a_new_environment_is_switched_to_and_back_and_the_server_follows(host: Host, wheels: tuple[str, str]) -> None:
    first, process = current(host), host.execute(f"systemctl show {UNIT} -p MainPID --value")
    serve(host, wheels[1]).succeeded()
    second = current(host)
    assert second != first
    assert asked(host)["prefix"] == f"{ENVIRONMENTS}/{second}"
    back = {"python_env_name": "serving", "serving_engine": "vllm", "verify_paths": [], "verify_sonames": []}
    assert "serving_model is empty" in host.run("rollback", **back).failed().text
    assert current(host) == second
    host.run("rollback", serving_model=MODEL, **back).succeeded()
    assert (current(host), asked(host)["prefix"]) == (first, f"{ENVIRONMENTS}/{first}")
    assert host.execute(f"systemctl show {UNIT} -p MainPID --value") != process
    named = {"rollback_environment_id": first, "serving_model": MODEL}
    assert host.run("rollback", **back, **named).succeeded().changed == 0


@pytest.mark.long
def test_server_that_fails_to_start_is_left_off_with_the_reason_until_repaired(host: Host, wheels: tuple[str, str]):
    host.execute("mkdir -p /srv/models/broken")
    host.execute("""echo '{"cause": "no such layer"}' > /srv/models/broken/config.json""")
    broken = {"serving_model": "/srv/models/broken", "serving_start_attempts": 2}
    play = serve(host, wheels[0], **broken).failed()
    assert "on port 8000 after 2 starts" in play.text
    assert "ValueError: no such layer" in play.text
    assert "playbooks/rollback.yml -e python_env_name=serving" in play.text
    # It does not run now, and will not start at the next boot.
    assert shown(host, "ActiveState", "UnitFileState") == {"ActiveState": "failed", "UnitFileState": "disabled"}
    login_text = host.execute("run-parts /etc/update-motd.d")
    assert f"{UNIT}.service is off since" in login_text and "after 2 starts: it exited" in login_text
    assert "ValueError: no such layer" in login_text and f"systemctl enable --now {UNIT}" in login_text
    assert f"{UNIT}.service is off since" in host.run("status").succeeded().text
    # Repair the cause, then follow the message as a user would.
    host.execute(
        f"echo '{{}}' > /srv/models/broken/config.json; systemctl reset-failed {UNIT}; systemctl enable --now {UNIT}"
    )
    script = f"/opt/sparkforge/serving/serving/sparkforge_unit.py answers {UNIT} http://127.0.0.1:8000/health 60"
    host.execute(f"python3 {script}")
    assert f"{UNIT}.service is off" not in host.execute("run-parts /etc/update-motd.d")
    serve(host, wheels[0]).succeeded()
    assert shown(host, "ActiveState", "UnitFileState") == {"ActiveState": "active", "UnitFileState": "enabled"}


@pytest.fixture(scope="module")
def hub(host: Host) -> Iterator[Hub]:
    """The lab's hub, reachable from the container, and the wheels of its client on the host."""
    folder = cache_directory() / "hub-wheels"
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    command += ["--python-version", "3.13", "--implementation", "cp", "-d", str(folder)]
    for glibc in ("2_39", "2_28", "2_17"):
        command += ["--platform", f"manylinux_{glibc}_{host.machine}"]
    pins = CHECKOUT / "roles/serving/files/hub-requirements.txt"
    subprocess.run([*command, "-r", str(pins)], check=True)
    for path in folder.glob("*.whl"):
        host.copy(path, f"/srv/wheels/{path.name}")
    files = {
        "README.md": b"---\nlicense: apache-2.0\n---\n", "config.json": b"{}", "model.safetensors": bytes(25_000_000),
        "model.bin": b"a pickle",
    }  # fmt: skip
    hub = Hub(Model("Org/Tiny", files), address=benches.bridge_address())
    yield hub
    hub.close()


@pytest.mark.long
def test_model_is_downloaded_by_name_and_served(host: Host, hub: Hub, wheels: tuple[str, str]) -> None:
    variables = {
        "serving_model": "Org/Tiny", "serving_model_hub": hub.url, "python_env_find_links": ["/srv/wheels"],
        "serving_models": "/srv/hub",
    }  # fmt: skip
    # A disk that is too small is reported in advance; one that fills up during the download is reported then.
    host.execute("mkdir -p /srv/hub && mount -t tmpfs -o size=20m none /srv/hub")
    assert "Org/Tiny needs" in host.run("model", **variables).failed().text
    host.execute("mount -o remount,size=30m /srv/hub")
    hub.before["model.safetensors"] = lambda: host.execute("fallocate -l 16M /srv/hub/others || true")
    assert "disk is full" in host.run("model", **variables).failed().text
    hub.before.clear()
    host.execute("umount -l /srv/hub")
    assert serve(host, wheels[0], "--check", **variables).succeeded().changed > 0
    hub.cuts["model.safetensors"] = [12_000_000]
    assert "Org/Tiny: licence apache-2.0, revision" in serve(host, wheels[0], **variables).succeeded().text
    now = asked(host)
    assert now["model"] == f"/srv/hub/models--Org--Tiny/snapshots/{hub.models['Org/Tiny'].commit}"
    assert now["served_model_name"] == "Org/Tiny"
    assert host.execute(f"ls {now['model']}").split() == ["README.md", "config.json", "model.safetensors"]
    assert host.execute("stat -c '%U %a' /srv/hub /srv/hub/models--Org--Tiny/blobs/*").split("\n")[0] == (
        "sparkforge-models 755"
    )
    hub.requests.clear()
    assert serve(host, wheels[0], **variables).succeeded().changed == 0
    assert host.run("model", **variables).succeeded().changed == 0
    assert hub.requests == []
    assert "Org/Tiny is served by" in host.run("model", serving_model_state="absent", **variables).failed().text
    serve(host, wheels[0]).succeeded()
    assert host.run("model", "--check", serving_model_state="absent", **variables).succeeded().changed == 1
    assert host.run("model", serving_model_state="absent", **variables).succeeded().changed == 1
    assert host.execute("ls /srv/hub").split() == ["CACHEDIR.TAG"]


@pytest.mark.long
def test_absent_removes_everything_except_the_weights(host: Host) -> None:
    absent = {"serving_state": "absent"}
    assert host.roles("serving", arguments=["--check"], **absent).succeeded().changed > 0
    assert host.execute(f"systemctl is-active {UNIT}") == "active"
    host.roles("serving", **absent).succeeded()
    assert host.roles("serving", **absent).succeeded().changed == 0
    assert (
        host.execute(
            f"getent passwd {UNIT}; getent group {UNIT}; ls -d /var/lib/{UNIT} /etc/systemd/system/{UNIT}* "
            f"/etc/update-motd.d/*{UNIT} /opt/sparkforge/serving/serving /etc/{UNIT}.key",
            check=False,
        )
        == ""
    )
    assert host.execute(f"systemctl show {UNIT} -p LoadState --value") == "not-found"
    assert host.execute(f"ls {MODEL}") == "config.json"
    assert current(host)
    host.run("uninstall").succeeded()
    assert host.execute("ls /opt/sparkforge/envs /opt/sparkforge/models 2>/dev/null", check=False) == ""
    assert host.execute("getent passwd sparkforge-models", check=False) == ""
    assert host.run("uninstall").succeeded().changed == 0
