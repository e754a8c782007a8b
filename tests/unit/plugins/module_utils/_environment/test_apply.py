"""Verified copies of wheels; modules/test_python_env.py creates complete environments."""

import hashlib
import json
import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import apply, model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel


def test_wheel_is_synced_before_it_is_renamed(tmp_path: Path, synced_before: t.Callable[[t.Any, str], list[set[int]]]):
    source, kept = tmp_path / "tiny-1.0-py3-none-any.whl", tmp_path / "kept/tiny-1.0-py3-none-any.whl"
    source.write_bytes(b"a wheel")
    renamed = synced_before(os, "replace")
    wheel = Wheel(source.name, hashlib.sha256(b"a wheel").hexdigest(), path=str(source))
    apply._copy_verified(wheel, str(source), str(kept))
    assert kept.stat().st_ino in renamed[0]


def test_only_unused_wheels_are_removed(tmp_path: Path) -> None:
    paths = model.paths_of(str(tmp_path), "torch")
    kept = Path(paths.wheels)
    for name in ("a" * 64, "b" * 64, f"{'b' * 64}-of-somebody"):
        (kept / name).mkdir(parents=True)
    environment = Path(paths.of("0123456789ab"))
    environment.mkdir(parents=True)
    row = {"file": "tiny-1.0-py3-none-any.whl", "sha256": "a" * 64}
    (environment / "receipt.json").write_text(json.dumps({"wheels": [row]}))
    apply.remove_unused_wheels(paths)
    assert sorted(path.name for path in kept.iterdir()) == ["a" * 64, f"{'b' * 64}-of-somebody"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[" * 100_000,
        "7",
        '{"module": "evil"}',
        '{"module": "other", "state": "begun"}',
        '{"module": "evil", "state": "imported"}',
        '{"module": "evil", "state": "imported", "found": {"version": [1]}}',
        '{"module": "evil", "state": "failed", "error": 7}',
        '{"module": ["evil"], "state": "begun", "more": 1}',
    ],
    ids=lambda line: line[:60],
)
def test_invalid_probe_line_is_refused_with_short_message(line: str) -> None:
    message = "import test: @sparkforge"
    with pytest.raises(SparkforgeError, match=message) as raised:
        apply._parse_probe_line(apply._MARK + line, ["evil"])
    assert len(raised.value.cause) < 1000
