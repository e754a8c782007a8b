"""Code that travels: complete for what it starts with, and nothing beside."""

from __future__ import annotations

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle


def files(*roots: str) -> dict[str, str]:
    return bundle.files(*(f"{bundle.PACKAGE}.{root}" for root in roots))


def test_a_module_that_is_not_there_is_told() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"_core\.nothing"):
        files("_core.nothing")
