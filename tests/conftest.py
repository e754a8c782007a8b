"""Order of the whole run, on two workers: what takes longest starts first."""

from __future__ import annotations

import pytest

ORDER = (
    "tests/molecule",
    "tests/lint/test_sanity",
    "tests/fleet",
    "tests/integration",
    "tests/unit",
    "tests/scale",
    "tests/lint",
    "tests/proof",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--platform",
        choices=("native", "arm64"),
        default="native",
        help="of the containers of tests/integration: this machine's own, or ARM64, emulated where it is another",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        name = item.nodeid
        return next((place for place, prefix in enumerate(ORDER) if name.startswith(prefix)), len(ORDER))

    items.sort(key=rank)
