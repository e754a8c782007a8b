"""The site on a host without a route out, from a directory that playbooks/mirror.yml collected.

The output of aptly or debmirror is already there: the distribution's packages and NVIDIA's repository.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab import bench as benches, image
from tests import upstream
from tests.integration.conftest import CHECKOUT, Host, Play, running
from tests.integration.test_build import VARIABLES, lock, write_stack

pytestmark = pytest.mark.long


@dataclass
class Site:
    """Two hosts that can reach only the mirror, and the runs that collected it."""

    built: Host
    wheels: Host
    directory: Path
    url: str
    checked: Play
    after_check: list[str]
    interrupted: dict[str, dict[str, str]]
    collected: Play
    again: Play

    def run(self, host: Host, **variables: object) -> Play:
        """Run the site with the mirror's variables."""
        brought = yaml.safe_load((self.directory / "mirror-vars.yml").read_text())
        return host.run("site", **{**variables, **brought})


WHEELS = {"stack_name": "lab-native", "stack_method": "wheel"}
#: The apt part of NVIDIA's tree.
REPOSITORY = "compute/cuda/repos"


def command(host: Host, directory: Path, *arguments: str, **variables: object) -> list[str]:
    """Return the command that runs the playbook on the connected machine, which reaches the lab's mirror by address."""
    mirror = host.mirror
    here = {
        "mirror_host": host.name,
        "mirror_directory": str(directory),
        "mirror_machines": [host.machine],
        "stack_meanwhile": "",
        "sparkforge_nvidia_url": mirror["url_here"],
        "mirror_index_url": "none",
        "mirror_find_links": [f"{mirror['url_here']}/wheels/"],
        "sparkforge_rewrite": {upstream.ELSEWHERE: f"{mirror['url_here']}/git/"},
    }
    playbook = [str(Path(sys.executable).parent / "ansible-playbook"), str(CHECKOUT / "playbooks/mirror.yml")]
    return [*playbook, "-i", str(host.inventory / "lab.yml"), "-e", json.dumps({**variables, **here}), *arguments]


def collect(host: Host, directory: Path, *arguments: str, **variables: object) -> Play:
    result = subprocess.run(
        command(host, directory, *arguments, **variables), cwd=CHECKOUT, env=host.environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Play(result.returncode, result.stdout)


def manifest(directory: Path) -> dict[str, dict[str, str]]:
    path = directory / "mirror.json"
    return json.loads(path.read_text())["files"] if path.exists() else {}


def interrupt(host: Host, directory: Path, **variables: object) -> dict[str, dict[str, str]]:
    """Kill the playbook while it is collecting; return the files that it had fetched by then."""
    process = subprocess.Popen(
        command(host, directory, **variables), cwd=CHECKOUT, env=host.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while len(manifest(directory)) < 5:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.05)
    # Ansible's workers run in sessions of their own.
    workers = subprocess.run(["pgrep", "-P", str(process.pid)], check=False, capture_output=True, text=True).stdout
    for pid in [process.pid, *map(int, workers.split())]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    return manifest(directory)


def isolate(host: Host) -> None:
    """Leave the host one reachable address, this machine's on the bridge: no gateway, no neighbours."""
    process = image.podman("inspect", host.container, "--format", "{{.State.Pid}}").stdout.strip()
    gateway = benches.bridge_address()

    def ip(*arguments: str) -> str:
        result = subprocess.run(
            ["nsenter", "-t", process, "-n", "ip", *arguments], check=True, capture_output=True, text=True
        )
        return result.stdout

    device = json.loads(ip("-j", "route", "get", gateway))[0]["dev"]
    # Add this route before the others are removed, because ssh needs it.
    ip("route", "add", f"{gateway}/32", "dev", device)
    for route in json.loads(ip("-j", "route")):
        if route["dst"] != gateway:
            ip("route", "del", route["dst"])


@contextlib.contextmanager
def serving(host: Host, directory: Path) -> Iterator[str]:
    """Serve a directory over HTTPS as plain files, and yield its URL."""
    bench = benches.Bench.load(host.bench)
    assert bench
    directory.mkdir(exist_ok=True)
    gateway = benches.bridge_address()
    port = benches._free_port(gateway)
    options = ["--root", directory, "--bind", gateway, "--port", port, "--name", benches.MIRROR_NAME]
    files = {"cert": "mirror.pem", "key": "mirror.key", "ca": "ca.pem"}
    options += [word for option, name in files.items() for word in (f"--{option}", bench.folder / name)]
    options += ["--log", directory.parent / "served.log"]
    command = [sys.executable, "-m", "lab.serve", *map(str, options)]
    with (directory.parent / "served.out").open("wb") as printed:
        process = subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed)
    try:
        benches._wait_for_server(gateway, port, process, directory.parent / "served.out")
        yield f"https://{benches.MIRROR_NAME}:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    for bench in running(tmp_path_factory, "native"):
        built, wheels = bench.fresh(), bench.fresh()
        write_stack(built)
        lock(built).succeeded()
        directory = tmp_path_factory.mktemp("mirror") / "mirror"
        with serving(built, directory) as url:
            at = {"mirror_url": url}
            checked = collect(built, directory, "--check", **VARIABLES, **at).succeeded()
            after_check = [path.name for path in directory.iterdir()]
            interrupted = interrupt(built, directory, **VARIABLES, **at)
            collected = collect(built, directory, **VARIABLES, **at).succeeded()
            again = collect(built, directory, **VARIABLES, **at).succeeded()
            # Collect another stack into the same directory.
            collect(built, directory, **WHEELS, **at).succeeded()
            shutil.copytree(Path(built.mirror["tree"]) / REPOSITORY, directory / "nvidia" / REPOSITORY)
            for host, variables in ((built, VARIABLES), (wheels, WHEELS)):
                host.run("libraries", **variables).succeeded()
                host.execute("rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*")
                isolate(host)
            state = benches.Bench.load(built.bench)
            assert state and state.server
            # Stop the server from which the mirror was collected.
            os.kill(state.server, signal.SIGTERM)
            yield Site(built, wheels, directory, url, checked, after_check, interrupted, collected, again)


def test_check_lists_the_downloads_and_writes_nothing(site: Site) -> None:
    assert site.after_check == []
    assert site.checked.changed == 1
    for item in ("redistrib_25.5.json", "setuptools 79.0.1", "pytorch.git, with its submodules"):
        assert re.search(f"would .*{re.escape(item)}", site.checked.output), item


def test_interrupted_download_resumes(site: Site) -> None:
    assert len(site.interrupted) < len(manifest(site.directory))
    for row in site.interrupted.values():
        assert f"fetching {row['from']}\n" not in site.collected.output


def test_a_second_run_fetches_nothing(site: Site) -> None:
    assert site.collected.changed == 1
    assert "fetching" in site.collected.output
    assert site.again.changed == 0
    assert "fetching" not in site.again.output


def test_manifest_has_every_file_except_refs_and_itself(site: Site) -> None:
    rows = manifest(site.directory)
    there = {str(path.relative_to(site.directory)) for path in site.directory.rglob("*") if path.is_file()}
    there = {name for name in there if not name.startswith(f"nvidia/{REPOSITORY}/")}
    mutable = {name for name in there if re.match(r"git/[^/]+/(?!objects/)|git/[^/]+/objects/info/packs", name)}
    assert set(rows) == there - mutable - {"mirror.json"}
    commits = upstream.make(Path(site.built.mirror["tree"]).parents[1] / "git").commits
    for name in ("fmtlike", "bitslike"):
        [repository] = (site.directory / "git").glob(f"{name}-*.git")
        assert commits[name]["main"] in (repository / "info/refs").read_text()


@pytest.mark.parametrize("of", ["built", "wheels"])
def test_no_packet_leaves_for_anywhere_but_the_mirror(site: Site, of: str) -> None:
    host, other = getattr(site, of), site.wheels if of == "built" else site.built
    state = benches.Bench.load(host.bench)
    assert state
    gateway = benches.bridge_address()
    # Addresses reserved for documentation (RFC 5737, RFC 3849), and the neighbour on the same bridge.
    for address in ("192.0.2.1", "198.51.100.7", "2001:db8::1", state.addresses[other.name]):
        assert "unreachable" in host.execute(f"ip route get {address} 2>&1", check=False), address
        counters = host.execute(
            f"python3 -c 'import socket; socket.create_connection((\"{address}\", 443), 5)' 2>&1", check=False
        )
        assert "Network is unreachable" in counters, counters
    assert host.execute("ip route").split()[0] == gateway
    assert len(host.execute("ip route").splitlines()) == 1
    assert host.execute("getent hosts example.com || echo unknown") == "unknown"


def test_the_site_builds_from_source_twice_and_the_second_run_changes_nothing(site: Site) -> None:
    site.run(site.built, **VARIABLES, stack_meanwhile="").succeeded()
    assert site.run(site.built, **VARIABLES, stack_meanwhile="").succeeded().changed == 0
    installed = site.built.execute(
        "/opt/sparkforge/envs/torch/current/bin/python -c 'import torch, triton, torchvision; print(torch.__version__)'"
    )
    assert installed.startswith("2.9.1")


def test_the_site_of_wheels_runs_twice_and_the_second_run_changes_nothing(site: Site) -> None:
    site.run(site.wheels, **WHEELS).succeeded()
    assert site.run(site.wheels, **WHEELS).succeeded().changed == 0
