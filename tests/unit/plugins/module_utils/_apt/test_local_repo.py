"""Installed local repositories, and names in apt pins."""

import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import local_repo, policy
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


@pytest.mark.parametrize(
    ("version", "state", "message"),
    [
        ("0.9.0", "installed", "than the requested 0.8.1"),
        ("0.9.0", "config-files", "no URL is"),
        ("0.7.0", "installed", "no URL is"),
        ("0.8.1", "config-files", "no URL is"),
    ],
)
def test_installed_newer_repository_is_not_replaced(tmp_path: Path, version: str, state: str, message: str) -> None:
    status = f"Package: x-local-repo-ubuntu2404-{version}\nStatus: install ok {state}\n"
    apt = types.SimpleNamespace(state=types.SimpleNamespace(host=types.SimpleNamespace(read=lambda _path: status)))
    options = {"name": "x", "version": "0.8.1", "sha256": None, "root": str(tmp_path), "url": None}
    options |= {"key_fingerprint": None, "distribution": None}
    repository = local_repo.LocalRepository(t.cast(t.Any, apt), options, True)
    with pytest.raises(SparkforgeError, match=message):
        repository.present()


@pytest.mark.parametrize(
    ("pattern", "names"), [("/^a/", True), ("/a/b", False), ("a*", True), ("/[/", False), ("//", False)]
)
def test_pin_matches_packages_by_glob_or_expression(pattern: str, names: bool) -> None:
    assert policy.pin_names(pattern, "abc") is names
