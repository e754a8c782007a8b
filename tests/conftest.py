"""Which tests run in one worker: those of a file, or of the files that share a fixture; and what `make fast` skips."""

from __future__ import annotations

import subprocess
import typing as t
from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-programs", action="store_true", help="skip a test when it starts a program, for `make fast`")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file's tests together under ``--dist loadgroup``, for its fixtures are made once in each worker.

    Files that share a fixture of the session say so with ``pytest.mark.xdist_group``. The order is pytest's, by path:
    the fleet and the containers come first, and the many short files of tests/unit fill up the workers at the end.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0].removeprefix("tests/")))


@pytest.fixture(scope="session", autouse=True)
def _programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Skip what starts a program, where that was asked for, instead of listing what does."""

    def skip(*_arguments: t.Any, **_options: t.Any) -> None:
        pytest.skip("it starts a program; `make unit` runs it")

    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("--no-programs"):
            patch.setattr(subprocess.Popen, "__init__", skip)
        yield
