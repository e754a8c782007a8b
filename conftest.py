"""What `make fast` skips, which files share a worker, and a directory that every account may enter."""

from __future__ import annotations

import subprocess
import typing as t
from collections.abc import Iterator
from pathlib import Path

# Imported here, since it starts ldconfig when the first template is rendered.
import ansible.utils.encrypt  # noqa: F401
import pytest
from xdist.scheduler import LoadFileScheduling

from tests.unit import interpreter

#: Files that look at one host on which the site ran, which takes the better part of a minute: one worker has them all.
PROVISIONED = {f"tests/integration/test_{name}.py" for name in ("hostile_host", "status", "verify")}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-programs", action="store_true", help="skip a test when it starts a program, for `make fast`")


class ByFile(LoadFileScheduling):
    """A file's tests stay together, as do files that share a host."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return "provisioned" if scope in PROVISIONED else scope


def pytest_xdist_make_scheduler(config: pytest.Config, log: t.Any) -> ByFile | None:
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def _programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Skip what starts a program, where that was asked for, instead of listing what does."""

    def skip(*_arguments: t.Any, **_options: t.Any) -> None:
        pytest.skip("it starts a program; `make unit` runs it")

    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("--no-programs"):
            patch.setattr(subprocess.Popen, "__init__", skip)
        yield


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Give a directory that every account may enter; ``tmp_path`` is its owner's alone."""
    with interpreter.open_directory() as place:
        yield place
