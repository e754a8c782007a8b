"""A wheelhouse with small, installable wheels and their receipts, as builds leave it."""

import base64
import hashlib
import io
import json
import typing as t
import zipfile
from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model

PLATFORM = "debian13-x86_64"


def wheel(name: str, version: str, content="", scripts=None, requires=()) -> bytes:
    """Return a wheel for any Python, with one module and scripts."""
    head = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
    head += [f"Requires-Dist: {requirement}\n" for requirement in requires]
    dist_info = f"{name}-{version}.dist-info"
    members = {
        f"{name}.py": content or f"VERSION = {version!r}\n",
        f"{dist_info}/METADATA": "".join([*head, "\nRequires-Dist: what the text says\n"]),
        f"{dist_info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    members.update({f"{name}-{version}.data/scripts/{key}": text for key, text in (scripts or {}).items()})
    rows = []
    for member, text in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{member},sha256={digest},{len(text.encode())}")
    members[f"{dist_info}/RECORD"] = "\n".join([*rows, f"{dist_info}/RECORD,,", ""])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for member, text in members.items():
            # Without a timestamp, the bytes are the same in every run.
            info = zipfile.ZipInfo(member)
            info.external_attr = (0o100755 if "/scripts/" in member else 0o100644) << 16
            archive.writestr(info, text)
    return stream.getvalue()


def file_name(name: str, version: str) -> str:
    return f"{name}-{version}-py3-none-any.whl"


def fingerprint(unit: str, number: int) -> str:
    """Return the fingerprint of a unit's ``number``-th build."""
    return hashlib.sha256(f"{unit} {number}".encode()).hexdigest()[:16]


class WheelTree:
    """The root of a host that builds wheels."""

    def __init__(self, root: Path, platform: str = PLATFORM) -> None:
        self.root = root
        self.platform = platform
        self.logs = root.parent / "log"
        self.logs.mkdir(parents=True, exist_ok=True)

    @property
    def house(self) -> Path:
        return self.root / "wheelhouse" / self.platform

    def receipt(self, unit: str, mark: str) -> Path:
        return self.root / f"receipts/units/{unit}-{mark}.json"

    def built(self, unit: str, number: int, *, wheels=None, **depends: str) -> dict[str, dict[str, t.Any]]:
        """Write the files of a finished build, and return its row in the fact ``sparkforge_built``.

        :param number: the number of the build, which is also its version and the day on which it finished.
        :param wheels: names of distributions; None stands for the unit's own.
        """
        mark = fingerprint(unit, number)
        directory = self.house / unit / mark
        directory.mkdir(parents=True)
        outputs: list[dict[str, t.Any]] = []
        for name in [unit] if wheels is None else wheels:
            version = f"{number}.0+sf.{mark[:8]}"
            content = wheel(name, version)
            (directory / file_name(name, version)).write_bytes(content)
            outputs.append(
                {
                    "path": file_name(name, version), "name": name.replace("_", "-"), "version": version,
                    "sha256": hashlib.sha256(content).hexdigest(), "size": len(content),
                }
            )  # fmt: skip
        if not outputs:
            (directory / "prefix/lib").mkdir(parents=True)
            (directory / "prefix/lib/library.so").write_bytes(b"\x7fELF")
            outputs.append({"path": "prefix", "files": 1, "size": 4096, "sha256": "0" * 64})
        receipt: dict[str, t.Any] = {
            "format": 1, "name": unit, "fingerprint": mark, "platform": self.platform,
            "inputs": {"name": unit, "depends": depends}, "outputs": outputs,
            "finished": f"2020-01-{number:02d}T00:00:00Z",
        }  # fmt: skip
        receipt["seal"] = model.fingerprint(receipt)
        path = self.receipt(unit, mark)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(receipt))
        (self.logs / f"{unit}-{mark}.log").write_text("built\n")
        tree = self.root / f"builds/{unit}/{mark}"
        tree.mkdir(parents=True)
        (tree / "state.json").write_text(json.dumps({"format": 1, "status": "succeeded"}))
        rows = [{**item, "path": str(directory / item["path"])} for item in outputs if "version" in item]
        return {unit: {"fingerprint": mark, "status": "built", "prefix": None, "wheels": rows}}

    def stack(self, number: int, *, llvm: int | None = None) -> dict[str, dict[str, t.Any]]:
        """Write the files from builds of llvm, triton (which depends on it) and pytorch."""
        if llvm is None:
            units = self.built("llvm", number, wheels=[])
        else:
            units = {"llvm": {"fingerprint": fingerprint("llvm", llvm), "status": "unchanged", "wheels": []}}
        return {
            **units,
            **self.built("triton", number, llvm=units["llvm"]["fingerprint"]),
            **self.built("pytorch", number, wheels=["torch"]),
        }

    def environment(self, number: int, *units: str, name: str = "torch") -> Path:
        """Write the receipt of an environment with the ``number``-th builds of some units."""
        lines = []
        for unit in units:
            receipt = json.loads(self.receipt(unit, fingerprint(unit, number)).read_text())
            lines += [f"{row['name']}=={row['version']} --hash=sha256:{row['sha256']}" for row in receipt["outputs"]]
        path = self.root / f"envs/{name}/lock{number}/receipt.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"requirements": lines}))
        return path

    def there(self) -> set[tuple[str, int]]:
        """Return the unit and number of each build that has an artefact and a receipt."""
        known = {(unit, fingerprint(unit, number)): (unit, number)
                 for unit in ("llvm", "triton", "pytorch", "torchvision") for number in range(32)}  # fmt: skip
        artefacts = {(path.parent.name, path.name) for path in self.house.glob("*/*") if path.name != "index.html"}
        artefacts = {key for key in artefacts if key in known}
        receipts = {
            (path.stem.rpartition("-")[0], path.stem.rpartition("-")[2])
            for path in (self.root / "receipts/units").glob("*.json")
        }
        assert artefacts == receipts, "an artefact without its receipt, or vice versa"
        return {known[key] for key in artefacts}
