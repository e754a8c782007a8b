# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/update.yml over ssh on two hosts: forecast, upgrade, way back, a canary that fails, and a loss of power.

Each host has one source, made on the spot. Version N of its tool cannot be configured where /srv/fault-N is.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import threading
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse.signature import Signer
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans.fabric import of_host
from ansible_collections.sparkforge.dgx_spark.tools.update import ledger

from lab import bench as benches, faults, image
from lab.packages import Content, Entry, Package
from tests.integration import cables
from tests.integration.conftest import Bench, Host, Play

#: A version fails where the test says so, or spoils the fabric's rate; it waits where the test wants to cut it off.
POSTINST = """#!/bin/sh
[ ! -e /srv/slow-NUMBER ] || echo 49 > /srv/rate
[ ! -e /srv/wait ] || { touch /srv/waits; sleep 1000; }
[ ! -e /srv/fault-NUMBER ] || { echo "the tool does not start" >&2; exit 1; }
"""
#: A host without power is noticed in seconds, and no connection outlives it.
SSH = "-o ControlMaster=no -o ControlPath=none -o ServerAliveInterval=2 -o ServerAliveCountMax=3"
STATE = "/opt/sparkforge/update/state.json"


def write(place: Path, newest: int, postinst: str = POSTINST) -> Path:
    """Write a repository with all versions of two packages up to ``newest``."""
    folder = place / f"repository-{newest}"
    folder.mkdir()
    index = []
    for number in range(1, newest + 1):
        library = Package("library", f"{number}.0", "all", "A library")
        scripts = {"postinst": postinst.replace("NUMBER", str(number))}
        tool = Package(
            "tool", f"{number}.0", "all", "A tool", relations={"Depends": [f"library (= {number}.0)"]},
            entries=[Entry("etc/tool.conf", Content("theirs\n"))], scripts=scripts,
        )  # fmt: skip
        for package in (library, tool):
            made = package.write(folder)
            place_of = f"Filename: ./{made.path.name}\nSize: {made.size}\nSHA256: {made.sha256}\n"
            index.append(package.control() + place_of)
    (folder / "Packages").write_text("\n".join(index))
    return folder


class Two:
    """Two hosts, and the versions that their source has."""

    def __init__(self, hosts: list[Host], place: Path) -> None:
        self.hosts, self.place, self.newest = hosts, place, 0

    def offer(self, newest: int) -> None:
        folder = write(self.place, newest)
        for host in self.hosts:
            host.execute("rm -rf /srv/repository")
            image.podman("cp", folder, f"{host.container}:/srv/repository")
            host.execute("apt-get update -q")
        self.newest = newest

    def run(self, *arguments: str, host: Host | None = None, **variables: t.Any) -> Play:
        first = self.hosts[0]
        names = host.name if host else ",".join(one.name for one in self.hosts)
        return first.run("update", "-l", names, *arguments, ansible_ssh_args=SSH, **variables)

    def versions(self) -> list[str]:
        return [version(host) for host in self.hosts]


def version(host: Host) -> str:
    """Return the version of both packages, and whether dpkg has anything left to do."""
    found = host.execute("dpkg-query -W -f '${Version} ${db:Status-Status}\\n' library tool; dpkg --audit").splitlines()
    assert len(set(found)) == 1 and found[0].endswith(" installed"), found
    return found[0].split()[0]


def messages(play: Play) -> int:
    """Return how many there are; the end of the play repeats what failed in a wave."""
    return len(set(re.findall(r"^\[ERROR\]: (?:Task failed: \w+ failed: )?(.*)", play.output, re.M)))


@pytest.fixture(scope="module")
def two(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Two:
    hosts = [bench.fresh(), bench.fresh()]
    for host in hosts:
        host.execute(
            "rm -f /etc/apt/sources.list.d/*; echo 'deb [trusted=yes] file:/srv/repository ./' > /etc/apt/sources.list"
        )
    made = Two(hosts, tmp_path_factory.mktemp("update"))
    made.offer(1)
    for host in hosts:
        host.execute("apt-get install -y -q tool && echo mine > /etc/tool.conf")
    return made


def test_an_upgrade_is_forecast_made_and_then_there_is_nothing_to_do(two: Two, tmp_path: Path) -> None:
    two.offer(2)
    one = two.hosts[0]
    before = one.contents(), one.execute("find /var/lib/dpkg /var/lib/apt -type f -exec sha256sum {} +")
    page = tmp_path / "forecast.json"
    checked = two.run("--check", update_format="json", update_file=str(page)).succeeded()
    found = json.loads(page.read_text())
    assert [(row["host"], len(row["plan"]["install"])) for row in found["hosts"]] == [(h.name, 2) for h in two.hosts]
    assert checked.changed == 0
    assert (one.contents(), one.execute("find /var/lib/dpkg /var/lib/apt -type f -exec sha256sum {} +")) == before

    made = two.run().succeeded()
    assert two.versions() == ["2.0", "2.0"] and made.changed > 0
    assert f"{one.name} has no environment with PyTorch, so no number is proven after the upgrade" in made.text
    assert [host.execute("cat /etc/tool.conf") for host in two.hosts] == ["mine", "mine"]
    assert json.loads(one.execute(f"cat {STATE} 2>/dev/null || true"))["phase"] == "kept"
    assert two.run().succeeded().changed == 0


def test_a_canary_that_fails_goes_back_and_stops_the_rollout(two: Two) -> None:
    two.offer(3)
    canary, other = two.hosts
    canary.execute("touch /srv/fault-3")
    before = other.execute(f"cat {STATE} 2>/dev/null || true")
    failed = two.run().failed()
    assert two.versions() == ["2.0", "2.0"]
    assert "The upgrade was taken back" in failed.text and "All packages are as before." in failed.text
    assert json.loads(canary.execute(f"cat {STATE} 2>/dev/null || true"))["phase"] == "returned"
    assert other.execute(f"cat {STATE} 2>/dev/null || true") == before, "the second wave began nothing"
    assert f"wave 1 ended the rollout: {canary.name} failed" in failed.text
    canary.execute("rm /srv/fault-3")


@pytest.mark.long
def test_a_loss_of_power_is_resumed_by_the_same_command(two: Two) -> None:
    canary, running = two.hosts[0], benches.Bench.load(two.hosts[0].bench)
    assert running
    if two.newest < 3:
        two.offer(3)
    canary.execute("touch /srv/wait")
    plays: list[Play] = []
    play = threading.Thread(target=lambda: plays.append(two.run(host=canary)))
    play.start()
    while play.is_alive() and canary.execute("ls /srv/waits 2>/dev/null || true") == "":
        time.sleep(0.3)
    assert play.is_alive(), plays
    faults.kill(running, canary.name)
    play.join()
    plays[0].failed()
    faults.revive(running, canary.name)
    canary.execute("rm /srv/wait /srv/waits")
    assert json.loads(canary.execute(f"cat {STATE} 2>/dev/null || true"))["phase"] == "upgrading"
    two.run().succeeded()
    assert two.versions() == ["3.0", "3.0"]


#: Each spoils the host, mends it, and is refused with these words, once, with nothing begun.
BAD = {
    "another apt": (
        "nohup python3 -c \"import fcntl, time; f = open('/var/lib/dpkg/lock-frontend', 'w'); "
        "fcntl.lockf(f, fcntl.LOCK_EX); open('/srv/holds', 'w').close(); time.sleep(1000)\" >/dev/null 2>&1 & "
        "echo $! > /srv/holder; until [ -e /srv/holds ]; do sleep 0.1; done",
        "kill $(cat /srv/holder); rm /srv/holder /srv/holds",
        "Another apt runs",
    ),
    "broken dpkg": (
        "cp /var/lib/dpkg/status /srv/status; sed -i '/^Package: tool$/,/^$/ s/ok installed/ok half-configured/' "
        "/var/lib/dpkg/status",
        "cp /srv/status /var/lib/dpkg/status; rm /srv/status",
        "dpkg was interrupted",
    ),
    "a source that does not answer": (
        "mv /srv/repository /srv/away",
        "mv /srv/away /srv/repository",
        "apt cannot work out the upgrade",
    ),
    "a reboot that is about to come": (
        "mkdir -p /run/systemd/shutdown && touch /run/systemd/shutdown/scheduled",
        "rm -r /run/systemd/shutdown",
        "The host is about to reboot or to shut down.",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", BAD)
def test_a_host_that_is_in_no_state_to_begin_is_refused(two: Two, name: str) -> None:
    spoil, mend, words = BAD[name]
    host = two.hosts[1]
    if two.newest < 4:
        two.offer(4)
    before = version(host), host.execute(f"cat {STATE} 2>/dev/null || true")
    host.execute(spoil)
    try:
        refused = two.run(host=host, update_refresh="source" in name).failed()
    finally:
        host.execute(mend)
    assert words in refused.text and re.search("Nothing was (begun|changed)", refused.text), refused.output[-3000:]
    assert messages(refused) == 1
    assert (version(host), host.execute(f"cat {STATE} 2>/dev/null || true")) == before


SUBNETS = ["192.168.200.0/24", "192.168.201.0/24"]


def rails(two: Two, host: Host) -> list[dict[str, t.Any]]:
    """Return the plan's rails of one end."""
    found: list[dict[str, t.Any]] = of_host([one.name for one in two.hosts], host.name, SUBNETS)["rails"]
    return found


@pytest.fixture
def fabric(two: Two, tmp_path: Path) -> t.Iterator[t.Callable[[], Play]]:
    """A cable between both hosts, configured on both ends; runs the play on both, which then knows of it."""
    names = [host.name for host in two.hosts]
    cables.connect(*two.hosts)
    for host in two.hosts:
        for rail in rails(two, host):
            name = cables.PORTS[rail["port"]][rail["half"]]
            cables.inside(host, "link", "set", name, "mtu", str(rail["mtu"]), "up")
            cables.inside(host, "address", "add", rail["address"], "dev", name)
    settings = {"fabric_hosts": names, "fabric_ports": cables.PORTS[:1], "fabric_speed": 0, "fabric_subnets": SUBNETS}
    group = tmp_path / "fabric.yml"
    group.write_text(json.dumps({"fabric": {"hosts": {name: {} for name in names}}}))
    yield lambda: two.run("-i", str(group), **settings)
    for name in cables.PORTS[0]:
        cables.inside(two.hosts[0], "link", "delete", name)


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_a_fabric_that_is_wrong_is_refused_and_a_whole_one_is_checked(two: Two, fabric: t.Callable[[], Play]) -> None:
    two.offer(max(two.newest, 4) + 1)
    before = two.versions(), [host.execute(f"cat {STATE} 2>/dev/null || true") for host in two.hosts]
    cables.inside(two.hosts[1], "link", "set", cables.PORTS[0][1], "mtu", "1500")
    refused = fabric().failed()
    # The canary is refused, and the other one is left out.
    assert "It was not right before the upgrade: jumbo.cable1.1" in refused.text, refused.output[-3000:]
    assert "halves.port0" in refused.text and "Nothing was begun" in refused.text
    assert refused.text.count("wave 1 ended the rollout") >= 1
    assert (two.versions(), [host.execute(f"cat {STATE} 2>/dev/null || true") for host in two.hosts]) == before

    cables.inside(two.hosts[1], "link", "set", cables.PORTS[0][1], "mtu", "9000")
    made = fabric().succeeded()
    assert two.versions() == [f"{two.newest}.0"] * 2
    assert made.output.count("pass jumbo.cable1.1") >= 6, "before and after on each, and at the end"
    # ib_write_bw is not there, so no rate is measured, and that is said.
    assert "ib_write_bw (package perftest) is not installed on both" in made.text


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_an_upgrade_that_halves_the_fabrics_rate_is_taken_back(two: Two, fabric: t.Callable[[], Play]) -> None:
    for host in two.hosts:
        cables.add_rdma(host, rails(two, host))
    canary, other = two.hosts
    before = max(two.newest, 4) + 1
    two.offer(before)
    two.run().succeeded()
    two.offer(before + 1)
    canary.execute(f"touch /srv/slow-{before + 1}")
    slow = fabric().failed()
    assert "The upgrade was taken back" in slow.text, slow.output[-3000:]
    assert f"writes 49.0 Gb/s to {other.name}; 80 are required" in slow.text
    assert two.versions() == [f"{before}.0"] * 2
    assert f"wave 1 ended the rollout: {canary.name} failed" in slow.text

    canary.execute(f"rm /srv/slow-{before + 1}")
    refused = fabric().failed()
    # The stand-in's rate stayed, as that of a ConnectX-7 that is in its degraded state may: nothing is begun on that.
    assert (
        "It was not right before the upgrade: bandwidth.cable1.0" in refused.text
        and "Nothing was begun" in refused.text
    )
    cables.rate(canary, 97.28)
    made = fabric().succeeded()
    assert two.versions() == [f"{before + 1}.0"] * 2
    assert made.output.count(f"pass bandwidth.cable1.1.{other.name}: 97.28") >= 3, "before, after, and at the end"


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="a mount in a container needs root")
def test_a_boot_that_is_read_only_is_refused(two: Two) -> None:
    host = two.hosts[1]
    if two.newest < 4:
        two.offer(4)
    before = version(host), host.execute(f"cat {STATE} 2>/dev/null || true")
    mount = ["nsenter", "-t", cables.process(host), "-m"]
    subprocess.run([*mount, "mount", "-t", "tmpfs", "-o", "ro", "none", "/boot"], check=True)
    try:
        refused = two.run(host=host).failed()
    finally:
        subprocess.run([*mount, "umount", "/boot"], check=True)
    assert "/boot is read-only. Nothing was changed." in refused.text and messages(refused) == 1, refused.output[-3000:]
    assert (version(host), host.execute(f"cat {STATE} 2>/dev/null || true")) == before


@pytest.mark.long
def test_a_ledger_that_is_damaged_old_or_of_a_stranger_is_refused(two: Two, tmp_path: Path) -> None:
    host, path, shipped = two.hosts[1], tmp_path / "ledger.json", ledger.load()
    if two.newest < 4:
        two.offer(4)
    signers = [Signer(str(tmp_path / name)) for name in ("ours", "strangers")]
    for one in signers:
        one.make(check_mode=False)
    old = datetime.date.today() - datetime.timedelta(days=ledger.OLDEST + 1)
    keys = {"update_ledger_signers": [signers[0].public_key]}
    cases: list[tuple[str, dict[str, t.Any], str]] = [
        ('{"rules": [', {}, f"The ledger {path} is damaged"),
        (json.dumps(ledger.bundle(shipped._replace(date=old))), {}, f"The ledger is {ledger.OLDEST + 1} days old"),
        (json.dumps(signers[1].sign(t.cast("t.Any", ledger.bundle(shipped)))), keys, "signed by none of"),
        (json.dumps(ledger.bundle(shipped)), keys, "is not signed"),
    ]  # fmt: skip
    before = version(host), host.execute(f"cat {STATE} 2>/dev/null || true")
    for text, options, words in cases:
        path.write_text(text)
        said = two.run(host=host, update_ledger=str(path), **options).failed()
        assert words in said.text and messages(said) <= 1, said.output[-3000:]
        assert (version(host), host.execute(f"cat {STATE} 2>/dev/null || true")) == before
