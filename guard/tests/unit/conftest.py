"""The host made of files that the tests of the guard start from."""

from pathlib import Path

import pytest

from guard.tests.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "proc")
    machine.start(1, "systemd")
    machine.start(700, "sshd", unit="ssh.service")
    return machine
