# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host with an environment, units, a manifest and an archive, and one file of it that somebody changed."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import redist_plan
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import receipt as sealing
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import artefact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from sparkforge_proof.files import audit

from tests.unit import interpreter, wheel_tree
from tests.unit.run_module import run_module


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Host:
    """A root of its own with something of everything."""

    def __init__(self, place: Path) -> None:
        self.root = place / "root"
        self._environment(place / "tiny-1.0-py3-none-any.whl")
        self.tree = wheel_tree.WheelTree(self.root)
        units = self.tree.stack(1)
        prefix = next(self.tree.house.glob("llvm/*/prefix"))
        receipt = next((self.root / "receipts/units").glob("llvm-*"))
        self._put_right(receipt, prefix)
        published = run_module(
            "wheelhouse", root=str(self.root), log_root=str(place), platform=wheel_tree.PLATFORM, name="spark01",
            stack="torch-2.9.1", lock_id="0123456789ab", python="3.12", units=units,
        )  # fmt: skip
        self.manifest = Path(published["path"])
        self._archive()

    def _environment(self, wheel: Path) -> None:
        wheel.write_bytes(wheel_tree.wheel("tiny", "1.0", scripts={"tool": "#!python\nprint('tool')\n"}))
        made = run_module(
            "python_env", interpreter=interpreter.PYTHON, name="torch", root=str(self.root), python=interpreter.PYTHON,
            kernel_dir=str(wheel.parent / "kernels"), wheels=[str(wheel)], remote_src=True, index_url="none",
        )  # fmt: skip
        assert not made.get("failed"), made
        [self.packages] = Path(made["paths"]["environment"]).glob("lib/*/site-packages")
        self.sha256 = digest(wheel.read_bytes())
        self.wheel = self.root / "wheels" / digest(wheel.read_bytes()) / wheel.name
        self.wheel.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, self.wheel)

    def _put_right(self, receipt: Path, prefix: Path) -> None:
        """Give a made-up receipt the digest of the tree that it stands for."""

        data = json.loads(receipt.read_text())
        data["outputs"] = [{"path": "prefix", **artefact.tree_digest(str(prefix))}]
        receipt.write_bytes(sealing.text_of(sealing.sealed(data)))

    def _archive(self) -> None:
        place = self.root / "redist/libcudss/0.7.1"
        (place / "lib").mkdir(parents=True)
        (place / "lib/libcudss.so.0.7.1").write_bytes(b"\x7fELF cudss")
        (place / "lib/libcudss.so.0").symlink_to("libcudss.so.0.7.1")
        record = {
            "component": "libcudss",
            "version": "0.7.1",
            "license": "cuDSS",
            "sha256": "c" * 64,
            "url": "https://example.com/libcudss.tar.xz",
            "path": str(place),
            "files": {"lib/libcudss.so.0.7.1": 10},
            "digests": {"lib/libcudss.so.0.7.1": digest(b"\x7fELF cudss")},
            "links": {"lib/libcudss.so.0": "libcudss.so.0.7.1"},
        }
        assert redist_plan.damage(record) == ""
        (self.root / "receipts/redist-libcudss.json").write_text(json.dumps(record))

    def audit(self) -> dict[str, t.Any]:
        found = run_module("audit_info", root=str(self.root))
        assert not found.get("failed") and not found["changed"], found
        return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Host]:
    with interpreter.open_directory() as place:
        yield Host(place)


def test_a_sound_host_has_no_difference(sound: Host) -> None:
    found = sound.audit()
    assert found["differs"] == [], found["summary"]
    assert set(found["checked"]) == {"environment", "wheel", "unit", "manifest", "archive"}
    assert all(found["checked"].values()) and found["checked"]["environment"] > 3
    assert found["summary"].endswith("files match the receipts.")


def changed(host: Host, where: str) -> Path:
    """Change one thing, and return what is to be named."""
    if where == "a file of a package":
        path = host.packages / "tiny.py"
        path.write_text("VERSION = '6.6'\n")
    elif where == "a file and RECORD":
        path = host.packages / "tiny.py"
        content = b"VERSION = '6.6'\n"
        path.write_bytes(content)
        record = host.packages / "tiny-1.0.dist-info/RECORD"
        encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines = [f"tiny.py,sha256={encoded},{len(content)}" if line.startswith("tiny.py") else line
                 for line in record.read_text().splitlines()]  # fmt: skip
        record.write_text("\n".join([*lines, ""]))
    elif where == "a package more":
        path = host.packages / "evil-1.dist-info"
        path.mkdir()
        (path / "METADATA").write_text("Name: evil\nVersion: 1\n")
        (path / "RECORD").write_text("")
        path = host.packages / "evil"
    elif where == "a stored wheel":
        path = host.wheel
        path.write_bytes(path.read_bytes() + b" ")
    elif where == "a unit's wheel":
        path = next((host.tree.house / "pytorch").rglob("*.whl"))
        path.write_bytes(b"")
    elif where == "a unit's tree":
        path = next(host.tree.house.glob("llvm/*/prefix"))
        (path / "lib/library.so").write_bytes(b"\x7fELG")
    elif where == "a unit's receipt":
        path = next((host.root / "receipts/units").glob("triton-*"))
        path.write_text(path.read_text().replace("2020", "2021"))
    elif where == "a manifest":
        path = host.manifest
        made = {**json.loads(path.read_text()), "host": "elsewhere"}
        path.write_bytes(publication.text_of({**made, "seal": publication.seal(made)}))  # type: ignore[typeddict-item]
    elif where == "an archive":
        path = host.root / "redist/libcudss/0.7.1/lib/libcudss.so.0.7.1"
        path.write_bytes(b"\x7fELF cudsS")
    else:
        link = host.root / "redist/libcudss/0.7.1/lib/libcudss.so.0"
        link.unlink()
        link.symlink_to("/tmp/libcudss.so.0")
        path = host.root / "redist/libcudss/0.7.1"
    return path


@pytest.mark.parametrize(
    "where",
    ["a file of a package", "a file and RECORD", "a package more", "a stored wheel", "a unit's wheel", "a unit's tree",
     "a unit's receipt", "a manifest", "an archive", "a link"],
)  # fmt: skip
def test_what_somebody_changed_is_named(sound: Host, where: str, tmp_path: Path) -> None:
    shutil.copytree(sound.root, tmp_path / "kept", symlinks=True)
    try:
        path = changed(sound, where)
        found = sound.audit()
        assert {row["path"] for row in found["differs"]} == {str(path)}, found["differs"]
        assert str(path) in found["summary"]
    finally:
        shutil.rmtree(sound.root)
        shutil.copytree(tmp_path / "kept", sound.root, symlinks=True)
    assert sound.audit()["differs"] == []


def test_the_bill_of_materials_goes_from_the_commit_to_the_installed_file(sound: Host, tmp_path: Path) -> None:
    shutil.copytree(sound.root, tmp_path / "kept", symlinks=True)
    try:
        receipt = next((sound.root / "receipts/units").glob("pytorch-*"))
        data = json.loads(receipt.read_text())
        # As if the unit had made the wheel that is installed.
        data["outputs"] = [{**data["outputs"][0], "name": "tiny", "version": "1.0", "sha256": sound.sha256}]
        data["inputs"]["source"] = {"commit": "1" * 40}
        data |= {"url": "https://example.com/tiny.git", "applied": [{"patch": "fix.patch"}], "host": "spark01"}
        receipt.write_bytes(sealing.text_of(sealing.sealed(data)))
        (sound.root / "receipts/apt-cuda.json").write_text(json.dumps({"kind": "apt", "versions": {"bash": "5.2-1"}}))
        bill = run_module("audit_info", root=str(sound.root), sbom="torch")["sbom"]
        assert run_module("audit_info", root=str(sound.root), sbom="torch")["sbom"] == bill
        gone = run_module("audit_info", root=str(sound.root), sbom="other")
    finally:
        shutil.rmtree(sound.root)
        shutil.copytree(tmp_path / "kept", sound.root, symlinks=True)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    found = {one["name"]: one for one in bill["components"]}
    assert {"tiny", "pip", "libcudss", "bash"} <= set(found)
    tiny = found["tiny"]
    assert tiny["hashes"] == [{"alg": "SHA-256", "content": sound.sha256}]
    assert tiny["pedigree"]["commits"] == [{"uid": "1" * 40, "url": "https://example.com/tiny.git"}]
    assert tiny["pedigree"]["patches"][0]["diff"]["text"]["content"] == "fix.patch"
    files = {one["name"]: one["hashes"][0]["content"] for one in tiny["components"]}
    assert files["tiny.py"] == digest((sound.packages / "tiny.py").read_bytes())
    assert found["bash"]["purl"].startswith("pkg:deb/") and found["bash"]["version"] == "5.2-1"
    everything = {row["ref"]: row["dependsOn"] for row in bill["dependencies"]}
    assert set(everything["environment"]) == {one["bom-ref"] for one in bill["components"]}
    assert gone["failed"] and "There is no environment other" in gone["cause"]


def test_dpkg_says_what_of_a_package_was_changed(tmp_path: Path) -> None:
    (tmp_path / "receipts").mkdir()
    versions = {"kept": "1", "changed": "1", "gone": "1"}
    (tmp_path / "receipts/apt-cuda.json").write_text(json.dumps({"kind": "apt", "versions": versions}))
    said = {
        "kept": (0, "??5??????  c /etc/kept.conf\n"),
        "changed": (
            0,
            "??5??????   /usr/lib/libchanged.so\nmissing     /usr/lib/libgone.so\n"
            "missing     /usr/share/doc/changed/NEWS.gz\n",
        ),
        "gone": (1, ""),
    }
    found = audit.Audit(str(tmp_path), lambda command: said[command[-1]]).run()
    assert found["checked"] == {"package": 3}
    assert [(row["path"], row["what"]) for row in found["differs"]] == [
        ("/usr/lib/libchanged.so", "was changed (changed)"),
        ("/usr/lib/libgone.so", "is missing (changed)"),
        ("gone", "is not installed"),
    ]
    assert audit.describe(found, shown=1).endswith("; and 2 more.")
