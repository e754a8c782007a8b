"""The wheelhouse as a service: published by its module, served by a real nginx, read by pip and uv over the network."""

import base64
import http.client
import io
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import typing as t
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab import bench as benches, image, serve
from tests.integration import ownership
from tests.integration.conftest import MOST_EXPOSED, SANDBOXES, Bench, Host, Play, changes
from tests.unit.wheel_tree import WheelTree, fingerprint

PLATFORM = "debian13-x86_64"
LOCK = "0123456789ab"
PORT = 8629
USER, PASSWORD = "fleet", "pass:word & $6$ {SSHA}"
MODULE = "sparkforge.dgx_spark.wheelhouse"
SECRETS = "/etc/nginx/sparkforge-wheelhouse"


@dataclass
class Builder:
    """A host on which a stack was built and is served."""

    host: Host
    local: WheelTree
    units: dict[str, t.Any]
    before: dict[str, list[str]] = field(default_factory=dict)
    paths: dict[str, ownership.Entry] = field(default_factory=dict)

    @property
    def address(self) -> str:
        bench = benches.Bench.load(self.host.bench)
        assert bench
        return bench.addresses[self.host.name]

    def publish(self, check: bool = False, **options: t.Any) -> dict[str, t.Any]:
        stack = {"stack": "torch-2.9.1", "lock_id": LOCK, "python": "3.13", "units": self.units}
        names = {"platform": PLATFORM, "name": self.host.name}
        return self.host.task(MODULE, check=check, **{**names, **stack, **options})

    def serve(self, *arguments: str, **variables: object) -> Play:
        return self.host.roles("wheelhouse", arguments=arguments, **variables)

    def get(self, path: str, method="GET", tls=None, **headers: str) -> tuple[int, bytes]:
        connection: http.client.HTTPConnection
        if tls:
            connection = http.client.HTTPSConnection(self.address, PORT, context=tls)
        else:
            connection = http.client.HTTPConnection(self.address, PORT)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def wheel(self, unit: str) -> str:
        """Return the path of a unit's wheel, relative to the platform's directory."""
        return str(next((self.local.house / unit).rglob("*.whl")).relative_to(self.local.house))


def send(host: Host, tree: WheelTree) -> None:
    """Copy a tree to the host; the build account owns the files that builds create."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as packed:
        packed.add(tree.root, "opt/sparkforge")
        packed.add(tree.logs, "var/log/sparkforge")
    archive = tree.root.parent / "tree.tar"
    archive.write_bytes(stream.getvalue())
    host.copy(archive, "/tmp/tree.tar")
    host.execute(
        "tar -xf /tmp/tree.tar -C / --no-same-owner && rm /tmp/tree.tar"
        " && chown root: /opt /var /var/log && cd /opt/sparkforge && chown root: . wheelhouse wheelhouse/*"
        " && chown -R root: receipts && chown -R sparkforge: builds wheelhouse/*/*"
    )


def rewritten(units: dict[str, t.Any], tree: WheelTree) -> dict[str, t.Any]:
    """Return the units with their paths changed to those on the host."""
    return json.loads(json.dumps(units).replace(str(tree.root), "/opt/sparkforge"))


@pytest.fixture(scope="module")
def builder(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    host = bench.fresh()
    host.execute("useradd --system --no-create-home sparkforge")
    before = host.snapshot()
    tree = WheelTree(tmp_path_factory.mktemp("built") / "root", PLATFORM)
    units = tree.stack(1)
    send(host, tree)
    return Builder(host, tree, rewritten(units, tree), before, ownership.look(host))


@pytest.fixture(scope="module")
def published(builder: Builder) -> Builder:
    checked = builder.publish(check=True)
    assert checked["changed"] and "cause" not in checked, checked
    assert "manifests" not in builder.host.execute(f"ls /opt/sparkforge/wheelhouse/{PLATFORM}")
    result = builder.publish()
    assert result["changed"] and "cause" not in result, result
    return builder


@pytest.fixture(scope="module")
def served(published: Builder) -> Builder:
    """The wheelhouse served over plain HTTP, without a password."""
    before = published.host.contents()
    assert published.serve("--check", "--diff").succeeded().changed > 0
    assert published.host.contents() == before
    assert published.serve().succeeded().changed > 0
    return published


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # Ignore this machine's own index, wheel cache and certificates.
    foreign = re.compile(r"(PIP|UV)_.*|(REQUESTS|CURL)_CA_BUNDLE|SSL_CERT_(FILE|DIR)|NETRC")
    ours = {key: value for key, value in os.environ.items() if not foreign.fullmatch(key)}
    variables = {**ours, "UV_NO_CONFIG": "1", **environment}
    return subprocess.run([str(word) for word in command], env=variables, text=True, check=False, capture_output=True)


def pip(target: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    quiet = ("--isolated", "--no-cache-dir", "--no-input", "--disable-pip-version-check")
    return run(sys.executable, "-m", "pip", "install", *quiet, "--target", target, *arguments, **environment)


def requirements(builder: Builder, target: Path, **digests: str) -> Path:
    """Write the requirements that a host generates from the manifest."""
    lines = []
    for unit in builder.units.values():
        for wheel in unit["wheels"]:
            digest = digests.get(wheel["name"], wheel["sha256"])
            lines.append(f"{wheel['name']}=={wheel['version']} --hash=sha256:{digest}")
    path = target.parent / f"{target.name}.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def version_of(target: Path) -> str:
    return run(
        sys.executable, "-c", "import torch, triton; print(torch.VERSION)", PYTHONPATH=str(target)
    ).stdout.strip()


def test_published_files_belong_to_root_and_second_run_changes_nothing(published: Builder) -> None:
    again = published.publish()
    assert not again["changed"], again["diff"]
    assert not published.publish(check=True)["changed"]
    house = f"/opt/sparkforge/wheelhouse/{PLATFORM}"
    owners = published.host.execute(
        f"stat -c %U {house} {house}/manifests/*.json {house}/simple/torch/index.html {house}/simple"
        f" /opt/sparkforge/receipts/units/* /opt/sparkforge/receipts/wheelhouse-{PLATFORM}.json"
    )
    assert set(owners.split()) == {"root"}
    assert published.host.execute(f"stat -c %U {house}/pytorch {house}/pytorch/*") == "sparkforge\nsparkforge"


def modules(play: Play) -> list[str]:
    """Return the modules that a play, run with -vvv, called on the host."""
    return re.findall(r"Using module file \S+/(\w+)\.py", play.output)


def test_wheelhouse_is_served_and_a_second_run_changes_nothing_in_few_calls(served: Builder) -> None:
    second = served.serve("-vvv").succeeded()
    assert second.changed == 0
    assert modules(second) == ["spark_info", "command"]
    assert served.serve("--check", "--diff").succeeded().changed == 0
    status, content = served.get(f"/{PLATFORM}/manifests/torch-2.9.1-{LOCK}.json")
    assert (status, json.loads(content)["host"]) == (200, served.host.name)


def test_every_path_that_serving_left_is_in_the_table_with_its_owner_and_mode(served: Builder) -> None:
    assert ownership.compared(ownership.left(served.host, served.paths), "served") == []


def test_files_other_than_index_manifest_and_wheels_are_not_served(served: Builder) -> None:
    house = f"/opt/sparkforge/wheelhouse/{PLATFORM}"
    torch = served.wheel("pytorch")
    folder = str(Path(torch).parent)
    served.host.execute(
        f"cd {house} && cp {torch} {folder}/.hidden.whl && ln -sf /etc/passwd {folder}/linked-1-py3-none-any.whl"
        f" && touch {folder}/receipt.json {folder}/SHA256SUMS"
    )
    assert served.get(f"/{PLATFORM}/{torch.replace('+', '%2B')}")[0] == 200
    assert served.get(f"/{PLATFORM}/simple/")[0] == 200
    llvm = f"llvm/{fingerprint('llvm', 1)}/prefix/lib/library.so"
    beside = [f"{folder}/{name}" for name in ("receipt.json", "SHA256SUMS", ".hidden.whl")]
    for path in ("", f"{folder}/", *beside, llvm, "manifests/"):
        assert served.get(f"/{PLATFORM}/{path}")[0] == 404, path
    assert served.get("/../receipts/")[0] in (400, 404)
    assert served.get(f"/{PLATFORM}/{folder}/linked-1-py3-none-any.whl")[0] == 403
    for method in ("PUT", "POST", "DELETE"):
        assert served.get(f"/{PLATFORM}/simple/", method)[0] in (404, 405)
    served.host.execute(f"cd {house}/{folder} && rm .hidden.whl linked-1-py3-none-any.whl receipt.json SHA256SUMS")


def test_pip_installs_from_it_with_hashes(served: Builder, tmp_path: Path) -> None:
    where = ["--index-url", f"http://{served.address}:{PORT}/{PLATFORM}/simple/"]
    target = tmp_path / "site"
    lock_file = requirements(served, target)
    result = pip(target, "--require-hashes", "-r", lock_file, *where, "--trusted-host", f"{served.address}:{PORT}")
    assert result.returncode == 0, result.stdout + result.stderr
    assert version_of(target) == served.units["pytorch"]["wheels"][0]["version"]


def test_pip_refuses_a_wheel_whose_hash_is_wrong(served: Builder, tmp_path: Path) -> None:
    base = f"http://{served.address}:{PORT}/{PLATFORM}/simple/"
    torch = served.wheel("pytorch")
    path = f"/opt/sparkforge/wheelhouse/{PLATFORM}/{torch}"
    # Swap it on the builder after it was published, keeping its size.
    served.host.execute(f"cp -p {path} /tmp/torch.whl && printf X | dd of={path} conv=notrunc bs=1 seek=60 status=none")
    target = tmp_path / "site"
    result = pip(
        target, "--require-hashes", "-r", requirements(served, target), "--index-url", base,
        "--trusted-host", f"{served.address}:{PORT}",
    )  # fmt: skip
    assert result.returncode != 0
    assert "DO NOT MATCH THE HASHES" in result.stderr
    assert not (target / "torch.py").exists()
    refused = served.publish()
    assert Path(torch).name in refused["cause"] and "Nothing was published" in refused["cause"]
    assert served.units["pytorch"]["wheels"][0]["sha256"] in refused["cause"]
    assert "Traceback" not in json.dumps(refused)
    # Previously published files are still served unchanged.
    assert served.get(f"/{PLATFORM}/manifests/torch-2.9.1-{LOCK}.json")[0] == 200
    served.host.execute(f"cp -p /tmp/torch.whl {path} && rm /tmp/torch.whl")
    mended = served.publish()
    assert mended.get("changed") is False, mended


def test_uv_installs_from_it_with_hashes(served: Builder, tmp_path: Path) -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert uv, "uv is in requirements-dev.txt"
    target = tmp_path / "site"
    lock_file = requirements(served, target)
    base = [
        uv, "pip", "install", "--no-cache", "--python", sys.executable, "--target", target, "--require-hashes",
        "--default-index", f"http://{served.address}:{PORT}/{PLATFORM}/simple/",
    ]  # fmt: skip
    result = run(*base, "-r", lock_file)
    assert result.returncode == 0, result.stderr
    assert version_of(target) == served.units["pytorch"]["wheels"][0]["version"]
    other = tmp_path / "other"
    base[base.index(target)] = other
    refused = run(*base, "-r", requirements(served, other, torch="0" * 64))
    assert refused.returncode != 0
    assert "hash" in refused.stderr.lower()


# --- bad input: one message, and the previous content is still served


def assert_refused(served: Builder, *phrases: str, **variables: object) -> None:
    before = served.host.contents()
    refused = served.serve(**variables).failed()
    for word in phrases:
        assert word in refused.text
    assert served.host.contents() == before
    assert served.get(f"/{PLATFORM}/simple/")[0] == 200


def test_a_port_that_something_else_uses_is_named_with_its_process(served: Builder) -> None:
    served.host.execute("python3 -m http.server 8700 --bind 127.0.0.1 >/dev/null 2>&1 & echo $! > /tmp/other.pid")
    served.host.execute("until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8700))'; do :; done")
    try:
        assert_refused(served, "Port 8700 is used by python3", "Set wheelhouse_port", wheelhouse_port=8700)
    finally:
        served.host.execute("kill $(cat /tmp/other.pid) && rm /tmp/other.pid")


def test_invalid_configuration_of_another_site_is_named(served: Builder) -> None:
    served.host.execute("echo 'nonsense on;' > /etc/nginx/conf.d/their-own.conf")
    try:
        phrases = ("nginx refuses its configuration", "their-own.conf:1", "are unchanged")
        assert_refused(served, *phrases, wheelhouse_port=8631)
    finally:
        served.host.execute("rm /etc/nginx/conf.d/their-own.conf")


@pytest.mark.long
def test_site_that_nginx_does_not_read_is_removed(served: Builder) -> None:
    include = "include /etc/nginx/conf.d"
    served.host.execute(f"sed -i 's|{include}|# {include}|' /etc/nginx/nginx.conf")
    before = served.host.contents()
    refused = served.serve(wheelhouse_port=8631).failed()
    assert "does not serve it: " in refused.text and "are unchanged" in refused.text
    assert served.host.contents() == before
    served.host.execute(f"sed -i 's|# {include}|{include}|' /etc/nginx/nginx.conf")
    # nginx had re-read its configuration without the file, so the role reports a change.
    assert served.serve().succeeded().changed > 0
    assert served.get(f"/{PLATFORM}/simple/")[0] == 200


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()


# --- removal


@pytest.mark.long
def test_uninstalling_removes_the_service_the_manifests_and_nginx(served: Builder) -> None:
    assert served.host.run("uninstall", "--check").succeeded().changed > 0
    assert served.get(f"/{PLATFORM}/simple/")[0] == 200
    assert served.host.run("uninstall").succeeded().changed > 0
    with pytest.raises(ConnectionRefusedError):
        served.get("/")
    assert served.host.execute("pgrep nginx", check=False) == ""
    after = served.host.snapshot()
    assert after["packages"] == served.before["packages"]
    assert changes(served.before["paths"], after["paths"]) == []
    assert served.host.run("uninstall").succeeded().changed == 0


#: An nginx process's account, capabilities, and whether it can gain privileges.
STATUS = "sed -n 's/^\\(Uid\\|CapEff\\|NoNewPrivs\\|Seccomp\\):\\s*//p' /proc/{process}/status | cut -f1"


def test_unit_of_nginx_is_confined_and_serves_over_tls(bench: Bench, tmp_path: Path) -> None:
    host = bench.fresh("systemd", SANDBOXES)
    assert host.execute("systemctl is-system-running --wait") == "running"
    before = host.contents()
    builder = Builder(host, WheelTree(tmp_path / "root", PLATFORM), {})
    certificate = serve.make_certificate(tmp_path / "certificate", [builder.address])
    files = {"certificate": certificate.certificate, "key": certificate.key}
    variables: dict[str, t.Any] = {f"wheelhouse_tls_{name}": str(path) for name, path in files.items()}
    page, trusting = f"/{PLATFORM}/simple/", ssl.create_default_context(cafile=str(certificate.ca))
    house = f"/opt/sparkforge/wheelhouse/{PLATFORM}"
    host.execute(f"mkdir -p {house}/simple && echo wheels > {house}/simple/index.html")
    host.roles("network_access", "wheelhouse", **variables).succeeded()
    assert builder.get(page, tls=trusting) == (200, b"wheels\n")
    assert host.exposure("nginx") <= MOST_EXPOSED
    main = host.execute("systemctl show nginx -p MainPID --value")
    account = host.execute("id -u www-data")
    assert host.execute(STATUS.format(process=main)).split() == [account, "0000000000000000", "1", "2"]
    # The running process reloads changed files.
    assert host.roles("wheelhouse", **variables).succeeded().changed == 0
    assert (
        host.roles("wheelhouse", **variables, wheelhouse_username=USER, wheelhouse_password=PASSWORD)
        .succeeded()
        .changed
    )
    assert builder.get(page, tls=trusting)[0] == 401
    assert builder.get(page, tls=trusting, Authorization=basic(PASSWORD))[0] == 200
    assert host.execute("systemctl show nginx -p MainPID --value") == main
    host.execute("systemctl restart nginx && systemctl reload nginx")
    assert builder.get(page, tls=trusting)[0] == 401
    # Another site may need root's privileges.
    host.execute("printf 'server { listen 8700; }' > /etc/nginx/conf.d/their-own.conf")
    assert host.roles("wheelhouse", **variables).succeeded().changed
    assert builder.get(page, tls=trusting)[0] == 200
    main = host.execute("systemctl show nginx -p MainPID --value")
    assert host.execute(STATUS.format(process=main)).split()[0] == "0"
    assert host.execute(f"stat -c '%a %U:%G' {SECRETS}/tls.pem") == "600 root:root"
    host.execute("rm /etc/nginx/conf.d/their-own.conf")
    assert host.roles("wheelhouse", **variables).succeeded().changed
    assert host.exposure("nginx") <= MOST_EXPOSED
    host.roles("wheelhouse", wheelhouse_state="absent").succeeded()
    left = [line for line in changes(before, host.contents()) if "/nginx.service.d" in line or "sparkforge-wh" in line]
    assert left == []


@pytest.mark.long
def test_with_systemd_nginx_is_enabled_reloaded_and_removed(bench: Bench) -> None:
    host = bench.fresh("systemd", SANDBOXES)
    assert host.execute("systemctl is-system-running --wait") == "running"
    before = host.snapshot()
    host.roles("network_access", "wheelhouse").succeeded()
    assert host.execute("systemctl is-enabled nginx; systemctl is-active nginx").split() == ["enabled", "active"]
    # The package's default page is disabled.
    assert host.execute("ls /etc/nginx/sites-enabled") == ""
    assert host.roles("wheelhouse").succeeded().changed == 0
    first = host.execute("systemctl show nginx -p MainPID --value")
    assert host.roles("wheelhouse", wheelhouse_port=8640).succeeded().changed > 0
    # Running downloads are not cut off.
    assert host.execute("systemctl show nginx -p MainPID --value") == first
    host.execute("systemctl disable --quiet --now nginx")
    assert host.roles("wheelhouse", wheelhouse_port=8640).succeeded().changed > 0
    assert host.execute("systemctl is-enabled nginx; systemctl is-active nginx").split() == ["enabled", "active"]
    host.roles("wheelhouse", wheelhouse_state="absent").succeeded()
    assert host.roles("wheelhouse", wheelhouse_state="absent").succeeded().changed == 0
    assert host.snapshot()["packages"] == before["packages"]
    assert image.podman("exec", host.container, "systemctl", "is-active", "nginx", quiet=True).returncode != 0
    # An existing nginx keeps its default page and keeps running.
    host.execute("DEBIAN_FRONTEND=noninteractive apt-get install -qq -y nginx")
    theirs = host.contents()
    assert host.execute("ls /etc/nginx/sites-enabled") == "default"
    first = host.execute("systemctl show nginx -p MainPID --value")
    host.roles("wheelhouse").succeeded()
    assert host.execute("ls /etc/nginx/sites-enabled") == "default"
    host.roles("wheelhouse", wheelhouse_state="absent").succeeded()
    assert host.execute("systemctl show nginx -p MainPID --value") == first
    assert host.contents() == theirs
