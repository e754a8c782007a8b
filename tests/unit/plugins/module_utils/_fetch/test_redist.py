import dataclasses
import functools
import json
import os
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import redist as _redist, redist_plan

from tests.unit.redist_tree import Tree, archive

PIN = "c5fe7e5796792e10c3c5971bbb169ab3040ba61fe6fc99bdcbc02cf0f1ed9409"
# Abridged from NVIDIA's manifest for cuDSS 0.8.0.
MANIFEST: dict[str, t.Any] = {
    "release_date": "2026-06-01",
    "release_label": "0.8.0",
    "release_product": "cudss",
    "libcudss": {
        "name": "NVIDIA cuDSS library",
        "license": "cudss",
        "license_path": "libcudss/LICENSE.txt",
        "version": "0.8.0.10",
        "cuda_variant": ["12", "13"],
        "linux-sbsa": {
            "cuda12": {"relative_path": "libcudss/linux-sbsa/a.tar.xz", "sha256": "1" * 64, "size": "9"},
            "cuda13": {"relative_path": "libcudss/linux-sbsa/b.tar.xz", "sha256": PIN, "size": "156677968"},
        },
    },
}
ARCHIVE = redist_plan.Archive("libcudss", "cudss", "0.8.0", "linux-sbsa", "cuda13", "0.8.0.10", PIN, "libcudss.so.0")


@pytest.mark.parametrize(
    "change",
    [
        {"relative_path": "../../etc/passwd"}, {"relative_path": "/etc/passwd"},
        {"relative_path": "http://elsewhere/file"}, {"sha256": "abc"}, {"sha256": None},
    ],
)  # fmt: skip
def test_manifest_with_invalid_values_is_refused(change: t.Any) -> None:
    variant = {**MANIFEST["libcudss"]["linux-sbsa"]["cuda13"], **change}
    manifest = {"libcudss": {**MANIFEST["libcudss"], "linux-sbsa": {"cuda13": variant}}}
    with pytest.raises(SparkforgeError, match="not valid"):
        redist_plan.resolve(manifest, ARCHIVE, "url")


@pytest.mark.parametrize("version", ["../x", "", None, 8, "current", "v1", "..", "-1", "1" * 129, "1\n"])
def test_version_that_cannot_be_a_directory_is_refused(version: t.Any) -> None:
    manifest = {"libcudss": {**MANIFEST["libcudss"], "version": version}}
    with pytest.raises(SparkforgeError, match="not valid"):
        redist_plan.resolve(manifest, dataclasses.replace(ARCHIVE, version=None), "url")


RECEIPT = {
    "product": "cudss", "component": "libcudss", "release": "0.8.0", "version": "0.8.0.10", "platform": "linux-sbsa",
    "variant": "cuda13", "sha256": PIN, "prefix": "/prefix",
}  # fmt: skip


def test_installed_archive_differs_by_each_input() -> None:
    assert redist_plan.differs(RECEIPT, ARCHIVE, "/prefix") == ""
    assert redist_plan.differs(RECEIPT, ARCHIVE, "/other") == "its prefix is /prefix, expected /other"
    for key in ("product", "release", "version", "platform", "variant", "sha256"):
        assert redist_plan.differs({**RECEIPT, key: "x"}, ARCHIVE, "/prefix").startswith(f"its {key} is x, ")


def directories(path: Path) -> dict[str, t.Any]:
    """Return the options with the mirror's and the host's directories."""
    names = {"prefix": "prefix", "root": "root", "loader_directory": "loader"}
    options = {option: str(path / name) for option, name in names.items()}
    return {"base_url": (path / "mirror/compute").as_uri(), **options}


class Bench:
    """A mirror with archives, and a host's directories."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = Tree({})
        self.entries: list[dict[str, t.Any]] = []

    def publish(self, product: str = "one", version: str = "1.0", release: str = "1") -> dict[str, t.Any]:
        content = archive("top", f"lib{product}.so.0", "1.0", filler=version.encode())
        pin = self.tree.publish(product, release, product, version, content)
        for path, body in self.tree.files.items():
            (self.path / "mirror" / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            (self.path / "mirror" / path[1:]).write_bytes(body)
        self.entries = [{"product": product, "component": product, "release": release, "sha256": pin}]
        return self.entries[0]

    def redist(self, state: str = "present", **options: t.Any) -> _redist.RedistArchives:
        archives = redist_plan.archives_from(self.entries, "linux-sbsa", "cuda13", state)
        return _redist.RedistArchives(archives, directories(self.path), False, **options)

    def edit_receipt(self, **changes: t.Any) -> None:
        path = self.path / "root/receipts/redist-one.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_deep_staging_directory_of_killed_run_is_removed(bench: Bench) -> None:
    bench.publish()
    stale = bench.path / "prefix/.staging-one-0"
    stale.mkdir(parents=True)
    parent = os.open(stale, os.O_RDONLY)
    for _level in range(3000):
        os.mkdir("d", dir_fd=parent)
        child = os.open("d", os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = child
    os.close(parent)
    assert bench.redist().present()["changed"]
    assert os.listdir(bench.path / "prefix") == ["one"]


@pytest.mark.parametrize("target", ["..", ".", "../..", "current", "../other", "{bench}/outside"])
def test_edited_link_does_not_decide_removal(bench: Bench, target: str) -> None:
    bench.publish()
    bench.redist().present()
    (bench.path / "prefix/other/1.0").mkdir(parents=True)
    (bench.path / "prefix/one/of-somebody-else").mkdir()
    link = bench.path / "prefix/one/current"
    link.unlink()
    # All targets are inside the test's directory, because a broken guard would remove them.
    (bench.path / "outside").mkdir()
    link.symlink_to(target.format(bench=bench.path))
    removed = bench.redist("absent").absent()["archives"][0]["removed"]
    assert set(removed) <= {str(link), str(bench.path / "prefix/one/1.0-cuda13")} | {
        str(bench.path / path) for path in ("loader/sparkforge-one.conf", "root/receipts/redist-one.json")
    }
    assert (bench.path / "prefix/other/1.0").is_dir()
    assert (bench.path / "outside").is_dir()
    assert os.listdir(bench.path / "prefix/one") == ["of-somebody-else"]


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "precious", "prefix": "."},
        {"path": "precious/one", "prefix": ".", "component": "precious"},
        {"path": "precious/one/..", "prefix": "precious"},
        {"path": "precious/one/current", "prefix": "precious"},
        {"path": "precious/one", "prefix": "precious", "component": ""},
        {"path": "prefix/one/../../precious", "prefix": "prefix/one/.."},
    ],
)
@pytest.mark.parametrize("generation", ["previous", "installed"])
def test_edited_receipt_does_not_decide_removal(bench: Bench, changes: dict[str, str], generation: str) -> None:
    bench.publish()
    bench.redist().present()
    precious = bench.path / "precious/one/current"
    precious.mkdir(parents=True)
    edited = {key: os.path.join(bench.path, value) if key != "component" else value for key, value in changes.items()}
    bench.edit_receipt(**(edited if generation == "installed" else {"previous": edited}))
    bench.redist("absent").absent()
    assert precious.is_dir()


def test_files_are_synced_before_the_receipt(bench: Bench, synced_before: t.Callable[[t.Any, str], list[set[int]]]):
    written = synced_before(_redist.receipts, "write")
    bench.publish()
    bench.redist().present()
    version = bench.path / "prefix/one/1.0-cuda13"
    paths = [version, version.parent, *(path for path in version.rglob("*") if not path.is_symlink())]
    assert {path.stat().st_ino for path in paths} <= written[0]


@pytest.mark.parametrize(("times", "is_enough"), [(6, True), (3, False)])
def test_disk_space_for_archive_and_content(bench: Bench, monkeypatch: pytest.MonkeyPatch, times: int, is_enough: bool):
    bench.publish()
    [tarball] = (path for path in bench.path.rglob("*.tar.xz"))
    size = tarball.stat().st_size
    # unpack keeps a different reserve free.
    monkeypatch.setattr(_redist.unpack, "RESERVE", 0)
    monkeypatch.setattr(os, "statvfs", lambda _path: types.SimpleNamespace(f_bavail=times * size, f_frsize=1))
    if is_enough:
        assert bench.redist().present()["changed"]
        return
    with pytest.raises(SparkforgeError, match="downloaded and unpacked, needs"):
        bench.redist().present()
    assert not (bench.path / "prefix").exists()


def test_ldconfig_runs_once_before_the_receipts(bench: Bench) -> None:
    bench.entries = [bench.publish(product, f"1.{number}") for number, product in enumerate(("one", "two"))]
    calls: list[tuple[list[str], bool]] = []
    status = [1]

    def run(arguments: list[str]) -> tuple[int, str, str]:
        calls.append((arguments, (bench.path / "root/receipts").exists()))
        return status[0], "", "ldconfig: no space"

    redist = functools.partial(bench.redist, ldconfig=["/sbin/ldconfig"], run=run)
    with pytest.raises(SparkforgeError, match="exit status 1: ldconfig: no space"):
        redist().present()
    assert calls == [(["/sbin/ldconfig"], False)]
    status[0] = 0
    assert redist().present()["changed"] is True, "without ldconfig the installation is not complete"
    assert calls[1:] == [(["/sbin/ldconfig"], False)]
    assert redist().present()["changed"] is False
    assert len(calls) == 2
    assert redist().absent()["changed"] is True
    assert len(calls) == 3
    assert sorted(path.name for path in bench.path.iterdir()) == ["loader", "mirror"]


@pytest.mark.parametrize(
    "path",
    ["/prefix/other/1.0", "/prefix/one/../one/1.0", "prefix/one/1.0", "/prefix/one/current", "/prefix/one",
     "/prefix/one/1.0 of mine"],
)  # fmt: skip
def test_is_version_checks_the_path(path: str) -> None:
    assert redist_plan.is_version("/prefix/one/1.0-cuda13", "one")
    assert not redist_plan.is_version(path, "one")


def test_upgrade_ignores_paths_of_edited_receipt(bench: Bench) -> None:
    bench.publish()
    bench.redist().present()
    precious = bench.path / "precious"
    precious.mkdir()
    bench.edit_receipt(previous={"path": str(precious), "prefix": str(bench.path), "component": "one"})
    bench.publish(version="2.0", release="2")
    assert bench.redist().present()["changed"]
    assert precious.is_dir()
