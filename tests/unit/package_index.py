"""A package index on 127.0.0.1 with the metadata and hashes of wheels (PEP 503, 658), but without the wheels."""

import hashlib
import json
from pathlib import Path

from tests.unit.web_server import Server

# The index's metadata for these platforms' wheels on 2026-11-20: name, version, sha256, Requires-Dist.
RECORDED = json.loads((Path(__file__).parent / "plugins/plugin_utils/recorded/wheels.json").read_text())


def sha256_of(name: str, version: str) -> str:
    """Return a sha256 for a wheel that does not exist; uv treats two wheels with the same sha256 as one."""
    return hashlib.sha256(f"{name} {version}".encode()).hexdigest()


class PackageIndex(Server):
    """An index whose pages are at ``simple``."""

    @property
    def simple(self) -> str:
        return f"{self.url}/simple"

    def add(self, name: str, version: str, *requires: str, sha256=None, tag="py3-none-any", python="") -> None:
        """Add a wheel; ``tag`` may start with a build tag: ``2-py3-none-any``. The page omits an empty sha256."""
        sha256 = sha256_of(name, version) if sha256 is None else sha256
        file = f"/files/{name.replace('-', '_')}-{version}-{tag}.whl"
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {text}" for text in requires]
        lines += [f"Requires-Python: {python}"] if python else []
        self.files[f"{file}.metadata"] = "\n".join([*lines, "", ""]).encode()
        attribute = f' data-requires-python="{python.replace(">", "&gt;").replace("<", "&lt;")}"' if python else ""
        href = f"{file}#sha256={sha256}" if sha256 else file
        link = f'<a href="{href}" data-core-metadata="true"{attribute}>{file.rpartition("/")[2]}</a>\n'
        page = f"/simple/{name}/"
        self.files[page] = self.files.get(page, b"<!DOCTYPE html>\n") + link.encode()

    def record(self, platform: str) -> None:
        """Add a platform's recorded wheels."""
        for item in RECORDED[platform]:
            self.add(item["name"], item["version"], *item["requires"], sha256=item["sha256"])
