"""What `make fast` skips, and a directory that every account may enter."""

from __future__ import annotations

import subprocess
import typing as t
from collections.abc import Iterator
from pathlib import Path

# Imported here, since it starts ldconfig when the first template is rendered.
import ansible.utils.encrypt  # noqa: F401
import pytest

from tests.unit import interpreter


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-programs", action="store_true", help="skip a test when it starts a program, for `make fast`")


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
