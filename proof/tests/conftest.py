"""The proof as a single file, and an environment with torch, which tests copy in order to break it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF

from proof.tests import provisioned
from proof.tests.environment import Environment, copy, make, remove


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The proof as a single file."""
    path = tmp_path_factory.mktemp("dist") / "sparkforge-proof.pyz"
    PROOF.write(path)
    return path


@pytest.fixture(scope="session")
def healthy() -> Environment:
    """The unchanged environment. It is cached, because it takes a minute and a gigabyte to create."""
    return make()


@pytest.fixture(scope="module")
def copies(healthy: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Environment]]:
    """Return a function that copies the environment and adds the receipts of a provisioned host."""
    directories: list[Path] = []

    def make_copy() -> Environment:
        directories.append(tmp_path_factory.mktemp("copy"))
        return provisioned.provision(copy(healthy, directories[-1]))

    yield make_copy
    for directory in directories:
        remove(directory)


@pytest.fixture
def broken(healthy: Environment, tmp_path: Path) -> Iterator[Callable[[], Environment]]:
    """Return a function that makes a single copy in which a test may plant a fault."""
    yield lambda: provisioned.provision(copy(healthy, tmp_path))
    remove(tmp_path)
