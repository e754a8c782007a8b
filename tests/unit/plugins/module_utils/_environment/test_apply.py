"""A wheel on its way to where root keeps it; whole environments: modules/test_python_env.py."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import apply, model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel


def test_a_wheel_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, kept = tmp_path / "tiny-1.0-py3-none-any.whl", tmp_path / "kept/tiny-1.0-py3-none-any.whl"
    source.write_bytes(b"a wheel")
    synced: list[int] = []
    before: list[list[int]] = []
    replace = os.replace

    def named(path: str, target: str) -> None:
        before.append(list(synced))
        replace(path, target)

    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(os, "replace", named)
    digest = hashlib.sha256(b"a wheel").hexdigest()
    wheel = Wheel(source.name, digest, path=str(source))
    apply._copy_verified(wheel, str(source), str(kept))
    assert kept.stat().st_ino in before[0]


def test_a_wheel_that_was_changed_since_it_was_hashed_is_not_kept(tmp_path: Path) -> None:
    source, kept = tmp_path / "tiny-1.0-py3-none-any.whl", tmp_path / "kept/tiny-1.0-py3-none-any.whl"
    source.write_bytes(b"another wheel")
    digest = hashlib.sha256(b"a wheel").hexdigest()
    wheel = Wheel(source.name, digest, path=str(source))
    with pytest.raises(SparkforgeError, match=f"expected {digest}"):
        apply._copy_verified(wheel, str(source), str(kept))
    assert not list(kept.parent.iterdir())


def test_a_kept_wheel_is_taken_for_what_its_sha256_says(tmp_path: Path) -> None:
    kept = tmp_path / "tiny-1.0-py3-none-any.whl"
    kept.write_bytes(b"a wheel")
    wheel = Wheel(kept.name, hashlib.sha256(b"a wheel").hexdigest())
    apply.verify(wheel, str(kept), "tiny", "Run again.")
    kept.write_bytes(b"another wheel")
    with pytest.raises(SparkforgeError, match=f"The sha256 of tiny is .*, expected {wheel.sha256}"):
        apply.verify(wheel, str(kept), "tiny", "Run again.")


def test_of_the_kept_wheels_only_those_go_that_no_environment_has(tmp_path: Path) -> None:
    paths = model.paths_of(str(tmp_path), "torch")
    kept = Path(paths.wheels)
    for name in ("a" * 64, "b" * 64, f"{'b' * 64}-of-somebody"):
        (kept / name).mkdir(parents=True)
    place = Path(paths.of("0123456789ab"))
    place.mkdir(parents=True)
    row = {"file": "tiny-1.0-py3-none-any.whl", "sha256": "a" * 64}
    (place / "receipt.json").write_text(json.dumps({"wheels": [row]}))
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
def test_a_line_that_the_probe_does_not_print_is_refused_in_short(line: str) -> None:
    with pytest.raises(
        SparkforgeError, match="prints a line that only the test of its imports prints: @sparkforge"
    ) as said:
        apply._judged(apply._MARK + line, ["evil"])
    assert len(said.value.cause) < 1000
