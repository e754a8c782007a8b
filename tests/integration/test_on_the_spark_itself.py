"""Ansible runs on the host that it provisions: no ssh, no inventory, only a checkout and one extra variable."""

import json
import platform
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import tomllib

from lab import image
from lab.host import files
from tests.integration.conftest import CHECKOUT, Bench, Host

ANSIBLE = "ansible-core==2.21.5"
PYTHON = "3.13"


def page_command() -> str:
    """Return the page's command for the Spark itself, without -K: sudo does not ask root for a password."""
    lines = (CHECKOUT / "docs/developer.md").read_text().splitlines()
    # On this host, Ansible is not in .venv.
    commands = [line.removeprefix(".venv/bin/").replace(" -K", "") for line in lines]
    matching = {command for command in commands if command.startswith("ansible-playbook -c local -i localhost,")}
    assert len(matching) == 1, f"the page has {len(matching)} commands for the Spark itself"
    return matching.pop()


def download(folder: Path, *requirements: str) -> None:
    """Download wheels for the host's Python."""
    platforms = [f"manylinux_2_{minor}_{platform.machine()}" for minor in (34, 28, 17)]
    platforms.append(f"manylinux2014_{platform.machine()}")
    subprocess.run(
        [
            sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:",
            "--python-version", PYTHON, *(word for name in platforms for word in ("--platform", name)),
            "--dest", str(folder), *requirements,
        ],
        check=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def host(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """A host with a checkout in /srv/checkout and its own Ansible in /srv/ansible."""
    host = bench.fresh()
    work = tmp_path_factory.mktemp("spark-itself")
    wheels = work / "wheels"
    download(wheels, ANSIBLE, "-r", str(CHECKOUT / "meta/requirements.txt"))
    for wheel in wheels.iterdir():
        with zipfile.ZipFile(wheel) as content:
            content.extractall(work / "ansible")
    with tarfile.open(work / "checkout.tar", "w") as archive:
        for name in files():
            archive.add(CHECKOUT / name, name)
    image.podman("cp", work / "ansible", f"{host.container}:/srv/ansible")
    image.podman("cp", work / "checkout.tar", f"{host.container}:/srv/checkout.tar")
    host.execute("mkdir /srv/checkout && tar -C /srv/checkout -xf /srv/checkout.tar")
    return host


@pytest.mark.long
def test_first_step_of_make_spark_needs_only_make_and_python(host: Host, tmp_path: Path) -> None:
    """No git, no C compiler, no venv: a bare machine on which the checkout was unpacked."""
    lines = (CHECKOUT / "requirements.txt").read_text().splitlines()
    names = [line for line in lines if line[:1] not in ("", "#") and not line.startswith("ansible-core")]
    builds = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["build-system"]["requires"]
    download(tmp_path / "wheels", ANSIBLE, *names, *builds, "editables")
    image.podman("cp", tmp_path / "wheels", f"{host.container}:/srv/wheels")
    host.execute("apt-get update -q && apt-get install -y -q --no-install-recommends make")
    for absent in ("git", "cc", "gcc", "pip3"):
        assert host.execute(f"command -v {absent} || echo none") == "none"
    assert host.execute("python3 -c 'import ensurepip' 2>/dev/null || echo none") == "none"
    make = "cd /srv/checkout && PIP_NO_INDEX=1 PIP_FIND_LINKS=/srv/wheels make .venv/.command"
    host.execute(make)
    assert "Set up DGX" in host.execute("/srv/checkout/.venv/bin/sparkforge --help")
    assert "up to date" in host.execute(make)
    host.execute("rm -r /srv/checkout/.venv")


def play(host: Host, command: str) -> tuple[int, str]:
    """Run ansible-playbook inside the container, like a logged-in user."""
    script = (
        "cd /srv/checkout && export LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1 PYTHONPATH=/srv/ansible\n"
        f"python3 -m ansible {command.removeprefix('ansible-')} 2>&1; echo exited with $?"
    )
    output = host.execute(script)
    code = re.search(r"exited with (\d+)$", output)
    assert code, output
    assert "Traceback" not in output, output[-6000:]
    return int(code[1]), " ".join(output.split())


def test_default_stack_on_another_machine_reports_all_problems_and_changes_nothing(host: Host) -> None:
    before = (host.contents(), host.snapshot())
    code, text = play(host, page_command())
    assert code == 2
    heading = re.search(r"localhost cannot get stack torch-[0-9.]+\. Problems: (\d+)\. Nothing was changed\.", text)
    assert heading
    message = text[heading.start() : text.index("Origin:")]
    assert message.count("Remedy:") == int(heading[1])
    for check in ("operating system: The host runs debian 13", "no NVIDIA GPU", "python: Stack torch-"):
        assert check in message
    assert "licence:" not in message
    assert (host.contents(), host.snapshot()) == before


def test_the_site_is_checked_on_the_host_itself_with_the_labs_variables(host: Host) -> None:
    mirror = host.mirror
    host.copy(Path(mirror["ca"]), "/srv/mirror-ca.pem")
    host.copy(host.inventory / "locks/lab-native.yml", "/srv/locks/lab-native.yml")
    variables = {
        "stack_name": "lab-native",
        "stack_method": "wheel",
        "stack_profile": "generic",
        "stack_directories": ["/srv/checkout/inventory/stacks"],
        "stack_lock_directories": ["/srv/locks"],
        "sparkforge_gpu_required": False,
        "sparkforge_nvidia_url": mirror["url"],
        "sparkforge_ca_certificate": "/srv/mirror-ca.pem",
        "cuda_libraries_key_fingerprint": mirror["summary"]["key_fingerprint"],
        "cusparselt_local_repo_sha256": mirror["summary"]["cusparselt_local_repo_sha256"],
        "python_env_find_links": [f"{mirror['url']}/wheels/"],
        "python_env_index_url": "",
        "verify_report_directory": "/srv/reports",
    }
    host.execute(f"cat > /srv/variables.json <<'end'\n{json.dumps(variables)}\nend")
    before = host.contents()
    code, text = play(host, f"{page_command()} -e @/srv/variables.json --check --diff")
    assert code == 0, text[-4000:]
    assert re.search(r"localhost : ok=\d+ changed=[1-9]\d* unreachable=0 failed=0", text)
    assert host.contents() == before
