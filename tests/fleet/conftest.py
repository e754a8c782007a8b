"""A fleet with a working environment, runs of playbooks on it, and the state of each host."""

import json
import os
import re
import shutil
import subprocess
import sys
import typing as t
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lab import faults, fleet
from lab.bench import Bench, down as end
from tests.integration.conftest import CHECKOUT, RECAP, Play

#: The faults need eight hosts; `make test-fleet` uses sixteen.
HOSTS = int(os.environ.get("SPARKFORGE_FLEET_HOSTS", "16"))
ENVIRONMENT = "/opt/sparkforge/envs/torch/current"
#: Tell a dead host from a slow one within seconds instead of two minutes.
SSH = "-o ControlMaster=auto -o ControlPersist=120s -o ServerAliveInterval=5 -o ServerAliveCountMax=4"


@dataclass
class Event:
    """A disturbance of a run: ``act`` is called when a line of its output matches for the ``nth`` time."""

    pattern: str
    act: Callable[[], object]
    nth: int = 1
    seen: int = 0


@dataclass
class Rollout(Play):
    """The result of a run on the fleet, host by host."""

    reports: Path

    def succeeded(self) -> "Rollout":
        super().succeeded()
        return self

    def failed(self) -> "Rollout":
        super().failed()
        return self

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        """Return, for each host, how many tasks were ok, changed, unreachable and failed."""
        names = ("ok", "changed", "unreachable", "failed")
        return {row[0]: dict(zip(names, map(int, row[1:]), strict=True)) for row in RECAP.findall(self.output)}

    @property
    def report(self) -> dict[str, str]:
        """Return the report's last line for each host."""
        return dict(re.findall(r"^report \| (spark\d+): (.*)$", self.output, re.M))

    @property
    def waves(self) -> list[list[str]]:
        """Return the hosts that created an environment, wave by wave."""
        parts = re.split(r"^TASK \[(.*)\] \**$", self.output, flags=re.M)
        outputs = [text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name == MAKING]
        return [sorted(set(re.findall(r"^(?:ok|changed|fatal): \[(spark\d+)", text, re.M))) for text in outputs]


MAKING = "sparkforge.dgx_spark.python_env : Create the environment"


@dataclass
class Fleet:
    """The hosts, and the site that provisions them."""

    bench: Bench
    folder: Path
    variables: dict[str, object] = field(default_factory=dict)

    @property
    def hosts(self) -> list[str]:
        return sorted(self.bench.containers)

    def run(self, playbook: str, *arguments: str, during=(), name="reports", **variables: t.Any) -> Rollout:
        """Run a playbook, the collection's or a file, on the fleet."""
        path = Path(playbook) if playbook.endswith(".yml") else CHECKOUT / "playbooks" / f"{playbook}.yml"
        reports = self.folder.parent / name
        extra = {"verify_report_directory": str(reports), **self.variables, **variables}
        command = [
            str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(self.folder / "fleet.yml"), str(path),
            "-e", json.dumps(extra), *arguments,
        ]  # fmt: skip
        environment = {
            **os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_SSH_ARGS": SSH, "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        lines: list[str] = []
        with subprocess.Popen(command, cwd=CHECKOUT, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:  # fmt: skip
            assert process.stdout
            for line in process.stdout:
                lines.append(line)
                for event in during:
                    if re.search(event.pattern, line):
                        event.seen += 1
                        if event.seen == event.nth:
                            event.act()
        return Rollout(process.returncode, "".join(lines), reports)

    def play(self, play: dict[str, object], *arguments: str, **variables: t.Any) -> Rollout:
        """Run a user's own play."""
        path = self.folder.parent / "play.yml"
        path.write_text(json.dumps([{"gather_facts": False, "become": True, **play}]))
        return self.run(str(path), *arguments, **variables)

    def add_stack(self, name: str) -> None:
        fleet.add_stack(self.bench, self.folder, name)

    def current(self, hosts: Sequence[str] | None = None) -> dict[str, str]:
        """Return the id of each host's environment, after checking that it can compute."""
        computes = "import torch; assert (torch.ones(2, 2) @ torch.ones(2, 2)).sum() == 8"
        script = f"cd / && {ENVIRONMENT}/bin/python -c '{computes}' && basename $(readlink -f {ENVIRONMENT})"
        return {host: self.execute(host, script) for host in hosts or self.hosts}

    def links(self, hosts: Sequence[str] | None = None) -> dict[str, str]:
        """Return the id of each host's environment without running it."""
        return {host: self.execute(host, f"readlink {ENVIRONMENT} || echo none") for host in hosts or self.hosts}

    def builders(self, unit: str = "pytorch") -> dict[str, list[str]]:
        """Return the fingerprints of a unit's builds on each host; hosts without builds are left out."""
        builds = {host: self.execute(host, f"ls /opt/sparkforge/wheelhouse/*/{unit} 2>/dev/null || true").split()
                 for host in self.hosts}  # fmt: skip
        return {host: built for host, built in builds.items() if built}

    def execute(self, host: str, script: str) -> str:
        return faults.execute(self.bench, host, script)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The fleet: every host has the proven environment of the stack lab-fleet, which spark01 built and serves.

    The site provisions two hosts; the others are copies of the second.
    """
    folder = tmp_path_factory.mktemp("fleet") / "inventory"
    name = f"fleet-{os.getpid()}"
    hosts = fleet.names(HOSTS)
    try:
        bench = fleet.up(hosts[:2], name, folder)
        provisioned = Fleet(bench, folder)
        provisioned.run("site").succeeded()
        provisioned.play(
            {"hosts": hosts[0], "roles": ["sparkforge.dgx_spark.stack", "sparkforge.dgx_spark.wheelhouse"]}
        ).succeeded()
        provisioned.variables["sparkforge_wheelhouse_url"] = f"http://{bench.addresses[hosts[0]]}:8629"
        # Until spark01 served them, the wheels came through the controller.
        for pushed in (bench.folder / "wheelhouse").glob("*/wheels"):
            shutil.rmtree(pushed)
        provisioned.execute(hosts[1], "rm -rf /var/log/sparkforge/proof")
        fleet.join(bench, hosts[2:], folder, like=hosts[1])
        yield provisioned
    finally:
        end(name, folder)
