"""Version specifiers."""

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import specifiers


@pytest.mark.parametrize(
    ("version", "specifier", "expected"),
    [
        ("2.15.0+cu132", "==2.15.0", True), ("2.15.0", "==2.15", True), ("2.15.1", "==2.15.0", False),
        ("2.15.0+cu132", "==2.15.0+cpu", False), ("2.15.0+cpu", "==2.15.0+cpu", True), ("2.9.1", ">=2.14.0", False),
        ("2.14.1", ">=2.9", True), ("3.9.2", "~=3.9.0", True), ("3.10.0", "~=3.9.0", False),
        ("3.9.0", "~=3.9.1", False), ("3.10.0", "~=3.9", True), ("13.0.96", "<14,>=13.0.3", True),
        ("14.0", "<14,>=13.0.3", False), ("8.3.1", "!=8.3.*,>=5.3.0", False), ("8.30.1", "!=8.3.*", True),
        ("8.3.1", "==8.3.*", True), ("2.8.3.post1", ">2.8.3", True), ("2.8.3.post1", "==2.8.3", False),
        ("2.15.0a0", ">=2.15.0", False), ("2.15.0rc1", ">2.15.0a0", True), ("2.15.0.dev20261101", "<2.15.0a0", True),
        ("2.15.0", "===2.15.0", True), ("2.15.0", "", True), ("unknown", ">=1", True),
    ],
)  # fmt: skip
def test_specifiers_compare_as_in_pip(version: str, specifier: str, expected: bool) -> None:
    assert specifiers.satisfies(version, specifier) is expected
