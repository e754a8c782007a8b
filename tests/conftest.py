"""Which tests run in one worker: those of a file, or of all files that share an expensive fixture."""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file's tests together under ``--dist loadgroup``, for its fixtures are made once in each worker.

    Files that share a fixture of the session say so with ``pytest.mark.xdist_group``. The order is pytest's, by path:
    the fleet and the containers come first, and the many short files of tests/unit fill up the workers at the end.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0].removeprefix("tests/")))
