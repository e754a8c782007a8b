"""Containers reached over real ssh, and playbook runs against them like a user's."""

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab import bench as benches, image
from tests.integration import ownership

CHECKOUT = Path(__file__).parents[2]
#: The highest exposure allowed for a unit that is long-running or runs third-party code; see :meth:`Host.exposure`.
MOST_EXPOSED = 2.0
#: Without these capabilities, systemd in a container cannot create a namespace, or a loopback interface in one.
SANDBOXES = ["--cap-add=SYS_ADMIN", "--cap-add=NET_ADMIN"]
#: The packages of the role build_toolchain. An image with them saves the half minute that test_site.py needs.
TOOLCHAIN = (
    "build-essential git cmake ninja-build ccache pkg-config patchelf python3-dev python3-venv llvm-19 clang-19 lld-19"
).split()
RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.M)


@dataclass
class Play:
    """The result of one run of a playbook."""

    code: int
    output: str

    @property
    def changed(self) -> int:
        return sum(int(row[2]) for row in RECAP.findall(self.output))

    @property
    def text(self) -> str:
        """The output with line breaks and YAML indentation collapsed, so that sentences can be searched for."""
        return " ".join(self.output.replace("\\n", " ").split())

    def succeeded(self) -> "Play":
        assert self.code == 0, self.output[-6000:]
        return self

    def failed(self) -> "Play":
        assert self.code != 0, f"the play was expected to fail:\n{self.output[-3000:]}"
        assert "Traceback" not in self.output, self.output[-6000:]
        return self


@dataclass
class Host:
    """One container and the site that provisions it."""

    name: str
    container: str
    inventory: Path
    reports: Path
    bench: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables for Ansible."""
        return {**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}

    def run(self, playbook: str, *arguments: str, **variables: object) -> Play:
        """Run a playbook on this host: one of the collection's (``site``, ``libraries`` …), or a file."""
        path = Path(playbook) if playbook.endswith(".yml") else CHECKOUT / "playbooks" / f"{playbook}.yml"
        extra = {
            "verify_report_directory": str(self.reports),
            "sparkforge_wheelhouse_cache": str(self.reports.parent / "wheelhouse"),
            **variables,
        }
        command = [
            str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(self.inventory / "lab.yml"),
            str(path), "-l", self.name, "-e", json.dumps(extra), *arguments,
        ]  # fmt: skip
        result = subprocess.run(
            command, cwd=CHECKOUT, env=self.environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Play(result.returncode, result.stdout)

    def roles(self, *names: str, arguments: Sequence[str] = (), become: bool = True, **variables: object) -> Play:
        """Run roles of the collection after the role stack, as a user's playbook would."""
        network = "sparkforge_proxies | default({})"
        network += " | sparkforge.dgx_spark.fetch_environment(sparkforge_ca_certificate | default(''))"
        play = {
            "hosts": "all",
            "become": become,
            "gather_facts": False,
            "environment": f"{{{{ {network} }}}}",
            "roles": [f"sparkforge.dgx_spark.{name}" for name in ("stack", *names)],
        }
        path = self.inventory.parent / f"{'-'.join(names) or 'stack'}.yml"
        path.write_text(json.dumps([play]))
        return self.run(str(path), *arguments, **variables)

    def task(self, module: str, check: bool = False, become: bool = True, **arguments: object) -> dict:
        """Run one module, the collection's or a builtin, and return its result."""
        command = [
            str(Path(sys.executable).parent / "ansible"), self.name, "-i", str(self.inventory / "lab.yml"),
            "-m", module, *(["-a", json.dumps(arguments)] if arguments else []), "-o",
            *(["--become"] if become else []), *(["--check", "--diff"] if check else []),
        ]  # fmt: skip
        result = subprocess.run(
            command, cwd=CHECKOUT, env=self.environment, text=True, check=False, capture_output=True
        )
        answer = re.search(r"(?:=>|>>) (\{.*\})\s*$", result.stdout, re.S)
        assert answer, result.stdout + result.stderr
        return json.loads(answer.group(1))

    @property
    def mirror(self) -> dict[str, Any]:
        """Return what the inventory says about the mirror (``url``, ``ca``, ``summary`` …), and its ``tree``'s path."""
        generated = yaml.safe_load((self.inventory / benches.GENERATED).read_text())
        known = {key.removeprefix("lab_mirror_"): value for key, value in generated.items()}
        bench = benches.Bench.load(self.bench)
        assert bench
        return {**known, "tree": benches.mirror_tree(bench.platform)}

    @property
    def machine(self) -> str:
        """The kernel's name for the host's architecture."""
        return self.execute("uname -m")

    def copy(self, source: Path, destination: str) -> None:
        """Copy a file from this machine into the container, readable by all users."""
        image.podman("exec", self.container, "mkdir", "-p", str(Path(destination).parent))
        image.podman("cp", source, f"{self.container}:{destination}")
        image.podman("exec", self.container, "chmod", "0644", destination)

    def execute(self, script: str, check: bool = True) -> str:
        """Run a script as root inside the container, to set up a test or inspect its result."""
        return image.podman("exec", self.container, "sh", "-c", script, quiet=not check).stdout.strip()

    def exposure(self, unit: str) -> float:
        """Return a loaded unit's exposure according to systemd-analyze(1), from 0 to 10."""
        return float(self.execute(f"systemd-analyze security --no-pager {unit} | tail -1").split()[-3])

    def contents(self) -> list[str]:
        """Return all paths that the collection may change, each with its mode, owner, link target and content."""
        folders = "/etc /opt /usr/local /usr/share/keyrings -xdev"
        own = "/etc/ld.so.cache|-$|/etc/.pwd.lock"
        listing = self.execute(f"find {folders} -printf '%p %y %m %u:%g %l\n' | grep -Ev '{own}'")
        sums = self.execute(f"find {folders} -type f -exec sha256sum {{}} + | grep -Ev '{own}'")
        return sorted([*listing.splitlines(), *sums.splitlines()])

    def snapshot(self) -> dict[str, list[str]]:
        """Return everything the collection may change: packages, and all paths below /etc, /opt and /usr/local."""
        files = "find /etc /opt /usr/local /usr/share/keyrings /var/log /var/lib -xdev"
        # apt and ldconfig rewrite these files for any package, so the collection is not responsible for them.
        own = "/etc/ld.so.cache|/var/lib/(apt|dpkg)/|/var/log/(apt|dpkg|alternatives)|/var/lib/systemd|-old$|/var/log$"
        return {
            "packages": self.execute("dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n'").splitlines(),
            "paths": sorted(self.execute(f"{files} | grep -Ev '{own}' || true").splitlines()),
        }


def changes(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the differences between two listings of a host, except the empty root directory that other roles share."""
    shared = ("/opt/sparkforge d ", "/opt/sparkforge/receipts d ", "/opt/sparkforge/redist d ")
    return sorted(line for line in set(before) ^ set(after) if not line.startswith(shared))


class Bench:
    """Containers of one architecture; each test can create a new one."""

    _numbers = itertools.count(1)

    def __init__(self, inventory: Path, platform: str) -> None:
        self.inventory = inventory
        self.platform = platform
        # A worker may have several benches: one for the session, and one for each module that needs its own.
        self.name = f"test-{platform}-{os.getpid()}-{next(self._numbers)}"
        self._names = (f"spark{number:02d}" for number in itertools.count(1))

    def fresh(self, init: str = "sshd", options: Sequence[str] = (), packages: Sequence[str] = ()) -> Host:
        name = next(self._names)
        hosts = self.inventory / "lab.yml"
        locked = benches.Bench.load(self.name) is not None
        bench = benches.up(self.name, self.platform, [name], self.inventory, init, options, locked, packages)
        listed = "".join(f"        {host}:\n" for host in bench.containers)
        hosts.write_text(f"---\nall:\n  children:\n    lab:\n      hosts:\n{listed}")
        return Host(name, bench.containers[name], self.inventory, self.inventory.parent / "reports", self.name)


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Native containers, which are fast."""
    yield from running(tmp_path_factory, "native")


def running(paths: pytest.TempPathFactory, platform: str) -> Iterator[Bench]:
    """A bench of ``native`` or (emulated on other architectures) ``arm64`` containers; it is removed at the end."""
    bench = Bench(paths.mktemp("bench") / "inventory", platform)
    try:
        yield bench
    finally:
        benches.down(bench.name, bench.inventory)


@pytest.fixture
def host(bench: Bench) -> Host:
    """A container in its factory state."""
    return bench.fresh()


@dataclass
class SiteRun:
    """A host: its state before the collection was used, and the runs of the site on it, in order."""

    host: Host
    packages_before: dict[str, list[str]]
    before: list[str]
    checked: Play
    after_check: list[str]
    first: Play
    second: Play
    checked_again: Play
    left: list[ownership.Entry]


# The owner's own changes: a package that the toolchain also requires, and a loader entry.
OWN_PACKAGE = "ninja-build"
OWN_LOADER_ENTRY = "/etc/ld.so.conf.d/our-libraries.conf"


@pytest.fixture(scope="session")
def site_run(bench: Bench) -> SiteRun:
    """Run the site on a fresh host with ``--check``, twice without it, and with ``--check`` again."""
    host = bench.fresh()
    host.execute(f"apt-get update -q && apt-get install -y -q {OWN_PACKAGE} && echo /srv/lib > {OWN_LOADER_ENTRY}")
    packages, before, paths = host.snapshot(), host.contents(), ownership.look(host)
    checked = host.run("site", "--check", "--diff")
    after_check = host.contents()
    first = host.run("site")
    second = host.run("site", "-vvv")
    checked_again = host.run("site", "--check", "--diff")
    left = ownership.left(host, paths)
    return SiteRun(host, packages, before, checked, after_check, first, second, checked_again, left)


@pytest.fixture(scope="session")
def provisioned(site_run: SiteRun) -> Host:
    """The host of ``site_run``, which tests leave as the site did."""
    site_run.first.succeeded()
    return site_run.host
