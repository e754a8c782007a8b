# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""playbooks/update.yml over ssh on virtual machines with GRUB, whose new kernel is bad in three ways, or fine.

One has a BIOS, the other is ARM64 with UEFI, as a Spark. Minutes for each: the machine is emulated. The first run also
makes it.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.long.kernel_vm import AMD64, ARM64, Machine
from tests.playbooks.run_playbook import ROOT, run_playbook

pytestmark = pytest.mark.long
BEFORE, AFTER = ("1", "1"), ("2", "2")


@pytest.fixture(params=[AMD64, ARM64], ids=lambda kind: kind.architecture)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path, request.param)
    try:
        made.wait()
        yield made
    finally:
        made.end()


def play(machine: Machine, place: Path) -> subprocess.CompletedProcess[str]:
    """Upgrade the machine as its owner does; the lists of its repository are fresh."""
    host = {
        "ansible_host": "127.0.0.1", "ansible_port": machine.port, "ansible_user": "root",
        "ansible_ssh_private_key_file": str(machine.place / "key"), "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null",
    }  # fmt: skip
    (place / "hosts.json").write_text(json.dumps({"all": {"hosts": {"vm": host}}}))
    (place / "ansible.cfg").write_text("[ssh_connection]\npipelining = true\n")
    # Its driver is in the kernel's package, which the ledger cannot know.
    settings = {"update_kernel": "once", "update_accept": ["kernel-without-driver"]}
    return run_playbook(place, "-i", "hosts.json", "-e", json.dumps(settings), str(ROOT / "playbooks/update.yml"))


def offer(machine: Machine, what: str) -> None:
    """Give the machine the repository with this new kernel."""
    machine.do(f"echo 'deb [trusted=yes] file:/srv/{what} ./' > /etc/apt/sources.list; apt-get update -q")


def versions(machine: Machine) -> tuple[str, ...]:
    return tuple(machine.do("dpkg-query -W -f '${Version}\n' linux-image-cloud tool").split())


def assert_left_to_itself(machine: Machine) -> None:
    """Nothing of the trial is left, and GRUB boots this kernel by the owner's own settings."""
    left = "ls /etc/default/grub.d /etc/systemd/system/multi-user.target.wants; grub-editenv list"
    found = machine.do(left)
    assert "sparkforge" not in found and "next_entry" not in found
    menu = machine.do("cat /boot/grub/grub.cfg")
    running = machine.do("uname -r")
    assert 'set default="0"' in menu and "panic=" not in menu
    first = next(line.split()[1] for line in menu.splitlines() if line.strip().startswith("linux"))
    assert first == f"/boot/vmlinuz-{running}"


def test_a_kernel_that_is_fine_stays(machine: Machine, tmp_path: Path) -> None:
    offer(machine, "fine")
    assert machine.do("uname -r") == machine.old and versions(machine) == BEFORE
    done = play(machine, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.do("uname -r") == machine.new and versions(machine) == AFTER
    assert json.loads(machine.do("cat /opt/sparkforge/update/state.json"))["phase"] == "kept"
    assert_left_to_itself(machine)
    boots = machine.said.count("Linux version")
    again = play(machine, tmp_path)
    assert again.returncode == 0 and "changed=0" in again.stdout, again.stdout + again.stderr
    assert machine.said.count("Linux version") == boots == 2


@pytest.mark.parametrize(
    ("what", "words", "boots"),
    [
        # The one before, the trial, and the former kernel again.
        ("panics", "was booted once, and did not come up: it panicked or hung.", 3),
        ("hangs", "was booted once, and did not come up: it panicked or hung.", 3),
        ("without-module", "was booted once: the NVIDIA driver 1.0 was loaded before, and none is now.", 3),
    ],
)
def test_a_kernel_that_is_not_fine_is_left_again(
    machine: Machine, tmp_path: Path, what: str, words: str, boots: int
) -> None:
    offer(machine, what)
    ended = threading.Event()

    def person() -> None:
        while not ended.is_set() and "HANGS" not in machine.said:
            time.sleep(1)
        if not ended.is_set():
            time.sleep(10)
            machine.switch_off_and_on()

    waiting = threading.Thread(target=person)
    waiting.start()
    done = play(machine, tmp_path)
    ended.set()
    waiting.join()
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0 and f"The new kernel {machine.new} {words}" in said, done.stdout + done.stderr
    assert "The upgrade was taken back" in said and "All packages are as before." in said
    assert machine.do("uname -r") == machine.old and versions(machine) == BEFORE
    assert machine.do("cat /sys/module/nvidia/version") == "1.0"
    assert json.loads(machine.do("cat /opt/sparkforge/update/state.json"))["phase"] == "returned"
    assert machine.do(f"ls /boot/vmlinuz-{machine.new} 2>/dev/null || echo none") == "none"
    assert_left_to_itself(machine)
    assert machine.said.count("Linux version") == boots
