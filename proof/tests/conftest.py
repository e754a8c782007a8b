"""An environment with torch, which is kept, and copies of it that may be broken."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proof.tests import provisioned
from proof.tests.environment import Environment, copy, make, remove


@pytest.fixture(scope="session")
def healthy() -> Environment:
    """The environment that nothing was done to; it is kept in the cache, for it takes a minute and a gigabyte."""
    return make()


@pytest.fixture(scope="module")
def copies(healthy: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Environment]]:
    """Make copies of the environment with the receipts of a provisioned host, for the tests of a file."""
    made: list[Path] = []

    def one() -> Environment:
        made.append(tmp_path_factory.mktemp("copy"))
        return provisioned.provision(copy(healthy, made[-1]))

    yield one
    for directory in made:
        remove(directory)


@pytest.fixture
def broken(healthy: Environment, tmp_path: Path) -> Iterator[Callable[[], Environment]]:
    """Make a copy of the environment, with the receipts of a provisioned host, that may be broken."""

    def one() -> Environment:
        return provisioned.provision(copy(healthy, tmp_path))

    yield one
    remove(tmp_path)
