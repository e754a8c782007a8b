"""The tests that `make fast` skips, the order of files, and a directory that every account can enter."""

from __future__ import annotations

import subprocess
import typing as t
from collections.abc import Iterator
from pathlib import Path

# This module starts ldconfig on import, so it is imported here and not when the first template is rendered.
import ansible.utils.encrypt  # noqa: F401
import pytest
from xdist.scheduler import LoadFileScheduling

from tests.unit import interpreter

#: Test files that share a provisioned host, in the order in which they use it. One worker runs all of them, and the
#: last file uninstalls the site.
PROVISIONED = [
    f"tests/integration/test_{name}.py" for name in ("site", "status", "hostile_host", "verify", "uninstall")
]
#: Test files that take more than a minute. They start first, so that all workers end at about the same time. Of the
#: first three, one makes the containers' image, one installs PyTorch, and one needs neither, so that none waits.
LONGEST = [
    *PROVISIONED,
    "proof/tests/test_drawn.py",
    "tests/lint/test_lint.py",
    "tests/chaos/test_chaos.py",
    "tests/integration/test_build.py",
    "tests/integration/test_wheelhouse.py",
    "tests/unit/plugins/modules/test_python_env.py",
    "tests/integration/test_ordinary_user.py",
    "proof/tests/test_faults.py",
    "tests/lint/test_sanity.py",
    "tests/lint/test_recipes.py",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-programs", action="store_true", help="skip a test when it starts a program, for `make fast`")


class ByFile(LoadFileScheduling):
    """Keep the tests of a file in one worker, and those of files that share a host."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return "provisioned" if scope in PROVISIONED else scope


def pytest_xdist_make_scheduler(config: pytest.Config, log: t.Any) -> ByFile | None:
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))


@pytest.fixture(scope="session", autouse=True)
def _programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --no-programs, skip each test when it starts a program, so that no list of such tests is needed."""

    def skip(*_arguments: t.Any, **_options: t.Any) -> None:
        pytest.skip("it starts a program; `make unit` runs it")

    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("--no-programs"):
            patch.setattr(subprocess.Popen, "__init__", skip)
        yield


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Yield a directory that every account can enter, unlike ``tmp_path``."""
    with interpreter.open_directory() as path:
        yield path
