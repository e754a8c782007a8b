import datetime
import hashlib
import json
import os
import pwd
import shutil
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import files, keep, store
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse.store import Store

from tests.unit.wheel_tree import PLATFORM, WheelTree, fingerprint

LOCK = "0123456789ab"


@pytest.fixture
def tree(tmp_path: Path) -> WheelTree:
    return WheelTree(tmp_path / "root")


def run(tree: WheelTree, units: t.Any, check_mode: bool = False, **options: t.Any) -> dict[str, t.Any]:
    """Return the module's result, or the cause and remedy of its failure."""
    paths = {"root": str(tree.root), "log_root": str(tree.logs), "platform": PLATFORM}
    release = {"name": "spark01", "stack": "torch-2.9.1", "lock_id": LOCK, "python": "3.12", "units": units}
    try:
        return Store({**paths, **release, "keep": 2, **options}, check_mode).present()

    except SparkforgeError as error:
        return {"failed": True, **error.as_result()}


def publish(tree: WheelTree, units: t.Any, **options: t.Any) -> dict[str, t.Any]:
    result = run(tree, units, **options)
    assert not result.get("failed"), result
    return result


def contents(root: Path) -> dict[str, t.Any]:
    return {
        str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(root.rglob("*"))
    }


def test_second_run_changes_nothing(tree: WheelTree) -> None:
    units = tree.stack(1)
    publish(tree, units)
    before = contents(tree.root / "wheelhouse"), contents(tree.root / "receipts")
    again = publish(tree, units)
    assert not again["changed"]
    assert again["diff"][0]["before"] == again["diff"][0]["after"]
    assert (contents(tree.root / "wheelhouse"), contents(tree.root / "receipts")) == before


def test_check_mode_names_units_not_yet_built(tree: WheelTree) -> None:
    units = {**tree.built("llvm", 1, wheels=[]), "pytorch": {"fingerprint": "0" * 16, "wheels": []}}
    checked = run(tree, units, check_mode=True)
    assert checked["changed"] and not checked.get("failed")
    assert checked["pending"] == ["pytorch"]
    assert checked["manifest"] is None


@pytest.mark.parametrize("was_published", [False, True])
def test_wheel_with_wrong_hash_is_not_published(tree: WheelTree, was_published: bool) -> None:
    units = tree.stack(1)
    wheel = next((tree.house / "pytorch").rglob("*.whl"))
    if was_published:
        publish(tree, units)
        (tree.house / "manifests" / f"torch-2.9.1-{LOCK}.json").unlink()
    times, content = wheel.stat(), bytearray(wheel.read_bytes())
    content[-1] ^= 1
    wheel.write_bytes(content)
    os.utime(wheel, ns=(times.st_atime_ns, times.st_mtime_ns))
    before = contents(tree.root)
    result = run(tree, units)
    assert result["failed"]
    assert wheel.name in result["cause"] and "Nothing was published" in result["cause"]
    assert f"says {units['pytorch']['wheels'][0]['sha256']}" in result["cause"]
    assert f"is {hashlib.sha256(content).hexdigest()}" in result["cause"]
    assert str(wheel.parent) in result["remedy"]
    assert contents(tree.root / "wheelhouse") == {k: v for k, v in before.items() if "/wheelhouse/" in k}


def edit_receipt(receipt: Path) -> None:
    receipt.write_text(receipt.read_text().replace("2020-01-01", "2020-01-02"))


@pytest.mark.parametrize(
    ("make_invalid", "message"),
    [
        (lambda tree, units: next((tree.house / "triton").rglob("*.whl")).unlink(), "cannot be read: No such file"),
        (lambda tree, units: tree.receipt("triton", units["triton"]["fingerprint"]).unlink(), "no intact receipt"),
        (lambda tree, units: edit_receipt(tree.receipt("triton", units["triton"]["fingerprint"])), "no intact receipt"),
        (lambda tree, units: units["triton"]["wheels"][0].update(sha256="0" * 64), "but 000"),
        (lambda tree, units: units["triton"].pop("fingerprint"), "has no fingerprint"),
        (lambda tree, units: units.clear(), "nothing to publish"),
    ],
    ids=["wheel missing", "receipt missing", "receipt edited", "another fact", "no fingerprint", "no unit"],
)
def test_bad_input_publishes_nothing(tree: WheelTree, make_invalid: t.Any, message: str) -> None:
    units = tree.stack(1)
    make_invalid(tree, units)
    before = contents(tree.house)
    result = run(tree, units)
    assert result["failed"]
    assert message in result["cause"]
    assert result["remedy"]
    assert contents(tree.house) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 0}, "keep is 0"),
        ({"platform": "../x"}, "of a platform"),
        ({"stack": "a/b"}, "stack is 'a/b'"),
        ({"lock_id": ""}, "lock_id is ''"),
    ],
)
def test_bad_options_are_refused(tree: WheelTree, options: dict[str, t.Any], message: str) -> None:
    result = run(tree, tree.stack(1), **options)
    assert result["failed"]
    assert message in result["cause"]
    assert not (tree.house / "manifests").exists()


# --- which builds are kept ---


def publish_generations(tree: WheelTree, *numbers: int) -> list[dict[str, t.Any]]:
    """Build and publish these generations of a stack, each with its own lock."""
    return [publish(tree, tree.stack(number), lock_id=f"{number:012x}") for number in numbers]


def names(tree: WheelTree, part: str) -> set[str]:
    return {path.name for path in (tree.house / part).iterdir()}


def test_builds_of_latest_manifests_are_kept(tree: WheelTree) -> None:
    results = publish_generations(tree, 1, 2, 3, 4)
    assert tree.there() == {(unit, number) for unit in ("llvm", "triton", "pytorch") for number in (3, 4)}
    assert names(tree, "manifests") == {"torch-2.9.1-000000000003.json", "torch-2.9.1-000000000004.json"}
    pruned = {(row["name"], row["fingerprint"]) for row in results[3]["pruned"]}
    assert pruned == {(unit, fingerprint(unit, 2)) for unit in ("llvm", "triton", "pytorch")}
    page = (tree.house / "simple/torch/index.html").read_text()
    assert fingerprint("pytorch", 3) in page and fingerprint("pytorch", 2) not in page
    # The logs and build trees of pruned builds are removed, too.
    logs = {path.stem for path in tree.logs.iterdir()}
    assert logs == {f"{unit}-{fingerprint(unit, number)}" for unit, number in tree.there()}
    trees = {(path.parent.name, path.name) for path in (tree.root / "builds").glob("*/*")}
    assert trees == {(unit, fingerprint(unit, number)) for unit, number in tree.there()}


def test_rebuild_of_lock_replaces_manifest_and_keeps_builds(tree: WheelTree) -> None:
    for number in (1, 2):
        publish(tree, tree.stack(number))
    assert names(tree, "manifests") == {f"torch-2.9.1-{LOCK}.json"}
    manifest = json.loads((tree.house / f"manifests/torch-2.9.1-{LOCK}.json").read_bytes())
    assert manifest["units"][0]["fingerprint"] == fingerprint("llvm", 2)
    assert tree.there() == {(unit, number) for unit in ("llvm", "triton", "pytorch") for number in (1, 2)}
    publish(tree, tree.stack(3))
    assert tree.there() == {(unit, number) for unit in ("llvm", "triton", "pytorch") for number in (2, 3)}


def test_manifest_times_only_increase(tree: WheelTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers refuse a manifest older than the last one, even after a clock change or a return to earlier content."""

    class Clock(datetime.datetime):
        at = "2026-11-25T12:00:00"

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return datetime.datetime.fromisoformat(cls.at).replace(tzinfo=tz)

    module = types.SimpleNamespace(datetime=Clock, timezone=datetime.timezone, timedelta=datetime.timedelta)
    monkeypatch.setattr(store, "datetime", module)
    units = tree.stack(1)
    first = publish(tree, units)["manifest"]
    Clock.at = "2026-11-20T12:00:00"
    assert publish(tree, units)["manifest"] == first
    second = publish(tree, tree.stack(2))["manifest"]
    again = publish(tree, units)
    third = again["manifest"]
    times = [manifest["written"] for manifest in (first, second, third)]
    assert times == [f"2026-11-25T12:00:0{second}Z" for second in range(3)]
    assert third["units"] == first["units"]
    assert json.loads(Path(again["path"]).read_text())["written"] == third["written"]
    assert not publish(tree, units)["changed"]


def test_stacks_are_pruned_separately(tree: WheelTree) -> None:
    publish(tree, tree.stack(1), stack="torch-2.8.0")
    publish_generations(tree, 2, 3, 4)
    assert {number for _unit, number in tree.there()} == {1, 3, 4}


def test_builds_used_by_environment_are_kept_with_dependencies(tree: WheelTree) -> None:
    publish_generations(tree, 1)
    tree.environment(1, "triton")
    result = publish_generations(tree, 2, 3)[-1]
    # No environment has pytorch 1; triton 1 was built with llvm 1.
    assert {row for row in tree.there() if row[1] == 1} == {("llvm", 1), ("triton", 1)}
    reasons = {row["name"]: row["reason"] for row in result["kept"]}
    assert reasons["triton"] == "the environment of envs/torch/lock1/receipt.json uses it"
    assert reasons["llvm"] == f"triton {fingerprint('triton', 1)} depends on it"
    # Without the environment, its builds are not kept.
    shutil.rmtree(tree.root / "envs")
    publish_generations(tree, 4)
    assert {number for _unit, number in tree.there()} == {3, 4}


def test_builds_named_by_environment_receipt_are_kept(tree: WheelTree) -> None:
    publish_generations(tree, 1)
    (tree.root / "receipts/env-torch.json").write_text(tree.environment(1, "pytorch", "triton").read_text())
    shutil.rmtree(tree.root / "envs")
    publish_generations(tree, 2, 3)
    assert {row for row in tree.there() if row[1] == 1} == {("llvm", 1), ("triton", 1), ("pytorch", 1)}
    # All builds in its manifest are kept, so that the manifest remains installable.
    assert "torch-2.9.1-000000000001.json" in names(tree, "manifests")


def test_unit_shared_by_newer_stacks_is_kept(tree: WheelTree) -> None:
    publish_generations(tree, 1)
    for number in (2, 3, 4):
        publish(tree, tree.stack(number, llvm=1), lock_id=f"{number:012x}")
    assert tree.there() == {("llvm", 1), ("triton", 3), ("pytorch", 3), ("triton", 4), ("pytorch", 4)}


def test_dependencies_of_unfinished_build_are_kept(tree: WheelTree) -> None:
    publish_generations(tree, 1)
    build = tree.root / "builds/torchvision/aaaaaaaaaaaaaaaa"
    build.mkdir(parents=True)
    (build / "state.json").write_text(json.dumps({"format": 1, "status": "failed"}))
    inputs = {"depends": {"pytorch": fingerprint("pytorch", 1)}}
    (build / "request.json").write_text(json.dumps({"inputs": inputs}))
    publish_generations(tree, 2, 3)
    assert {row for row in tree.there() if row[1] == 1} == {("pytorch", 1)}
    assert build.exists()


@pytest.mark.parametrize("kind", ["pipe", "link", "large"])
def test_request_that_is_not_a_regular_file_is_ignored(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "builds/torchvision/aaaaaaaaaaaaaaaa/request.json"
    path.parent.mkdir(parents=True)
    text = json.dumps({"inputs": {"depends": {"pytorch": "1" * 16}}})
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "other.json").write_text(text)
        path.symlink_to(tmp_path / "other.json")
    else:
        path.write_text(" " * receipts.LARGEST + text)
    unfinished = [{"name": "torchvision", "fingerprint": "aaaaaaaaaaaaaaaa"}]
    assert keep.depends_of(str(tmp_path), unfinished) == []


def test_unpublished_build_is_kept_until_superseded(tree: WheelTree) -> None:
    # A second stack, of which only some units have been built so far.
    tree.built("triton", 1)
    tree.built("torchvision", 1)
    publish_generations(tree, 2)
    assert ("triton", 1) in tree.there()
    publish_generations(tree, 3)
    assert ("triton", 1) not in tree.there()
    # torchvision is in no manifest, so it is not superseded.
    assert ("torchvision", 1) in tree.there()


def test_check_mode_reports_pruning_and_removes_nothing(tree: WheelTree) -> None:
    publish_generations(tree, 1, 2)
    units = tree.stack(3)
    before = contents(tree.root)
    checked = run(tree, units, check_mode=True, lock_id=f"{3:012x}")
    assert {row["name"] for row in checked["pruned"]} == {"llvm", "triton", "pytorch"}
    assert contents(tree.root) == before
    result = publish(tree, units, lock_id=f"{3:012x}")
    assert result["pruned"] == checked["pruned"]
    assert f"pytorch {fingerprint('pytorch', 1)}\n" in result["diff"][1]["before"]
    assert f"pytorch {fingerprint('pytorch', 1)}\n" not in result["diff"][1]["after"]


def test_lost_receipt_is_rebuilt_from_manifests(tree: WheelTree) -> None:
    publish_generations(tree, 1, 2)
    (tree.root / f"receipts/wheelhouse-{PLATFORM}.json").unlink()
    publish_generations(tree, 3)
    assert {number for _unit, number in tree.there()} == {2, 3}


def test_returning_to_earlier_lock_makes_it_the_latest(tree: WheelTree) -> None:
    first = tree.stack(1)
    publish(tree, first, lock_id=f"{1:012x}")
    publish_generations(tree, 2)
    assert not publish(tree, first, lock_id=f"{1:012x}")["changed"]
    publish_generations(tree, 3)
    assert {number for _unit, number in tree.there()} == {1, 3}


def test_edited_manifest_is_rewritten(tree: WheelTree) -> None:
    units = tree.stack(1)
    path = Path(publish(tree, units)["path"])
    content = path.read_bytes()
    path.write_bytes(content.replace(b"spark01", b"spark66"))
    assert publish(tree, units)["changed"]
    assert path.read_bytes() == content


def test_debris_of_killed_run_is_removed(tree: WheelTree) -> None:
    units = tree.stack(1)
    publish(tree, units)
    (tree.house / "manifests/.torch.json.1-abc").write_text("{")
    (tree.house / "simple/gone").mkdir()
    (tree.house / "simple/gone/index.html").write_text("")
    assert publish(tree, units)["changed"]
    assert names(tree, "manifests") == {f"torch-2.9.1-{LOCK}.json"}
    assert names(tree, "simple") == {"index.html", "torch", "triton"}


def test_absent_removes_manifests_and_index_only(tree: WheelTree) -> None:
    units = tree.stack(1)
    before = sorted(str(path) for path in tree.root.rglob("*"))
    publish(tree, units)
    published = contents(tree.root)

    def absent(check_mode: bool = False) -> bool:
        return bool(Store({"root": str(tree.root), "platform": None}, check_mode).absent()["changed"])

    assert absent(check_mode=True)
    assert contents(tree.root) == published
    assert absent()
    assert sorted(str(path) for path in tree.root.rglob("*")) == before
    assert not absent()


# --- privileges and order of writes ---


def test_wheel_that_is_a_link_is_not_published(tree: WheelTree) -> None:
    units = tree.stack(1)
    wheel = next((tree.house / "pytorch").rglob("*.whl"))
    wheel.rename(tree.root / "elsewhere")
    wheel.symlink_to(tree.root / "elsewhere")
    assert f"The wheel {wheel} cannot be read" in run(tree, units)["cause"]


def test_manifest_is_written_last(tree: WheelTree, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = disk.write_file

    def record(path: str, content: bytes, *mode: int) -> None:
        written.append(os.path.relpath(path, tree.house).split("/")[0])
        write(path, content, *mode)

    monkeypatch.setattr(disk, "write_file", record)
    publish(tree, tree.stack(1))
    parts = [part for part in written if part in ("manifests", "simple")]
    assert set(parts) == {"manifests", "simple"} and parts == sorted(parts, reverse=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root publishes what another account built")
def test_builds_are_read_and_removed_with_rights_of_their_account(open_path: Path, monkeypatch: pytest.MonkeyPatch):
    tree, account = WheelTree(open_path / "root"), pwd.getpwnam("nobody")
    publish_generations(tree, 1, 2)
    units = tree.stack(3)
    for directory in [tree.root / "builds", *(tree.house / unit for unit in ("llvm", "triton", "pytorch"))]:
        for path in [directory, *directory.rglob("*")]:
            os.lchown(path, account.pw_uid, account.pw_gid)
    callers: dict[str, set[int]] = {}

    def recording(name: str, function: t.Any) -> t.Any:
        def record_user_id(*arguments: t.Any) -> t.Any:
            callers.setdefault(name, set()).add(os.geteuid())
            return function(*arguments)

        return record_user_id

    for module, name in ((store.built, "observe_all"), (files, "verify"), (files, "remove_build")):
        monkeypatch.setattr(module, name, recording(name, getattr(module, name)))
    assert publish(tree, units, lock_id=f"{3:012x}")["pruned"]
    assert callers == {name: {account.pw_uid} for name in ("observe_all", "verify", "remove_build")}
