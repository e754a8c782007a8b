"""The fixture of the guard's tests: a host made of files."""

from pathlib import Path

import pytest

from guard.tests.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "proc")
    machine.start(1, "systemd")
    machine.start(700, "sshd", unit="ssh.service")
    return machine
