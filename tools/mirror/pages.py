"""Pages of a package index (PEP 503): choose a file by its sha256, and generate pages."""

from __future__ import annotations

import contextlib
import typing as t
import urllib.parse

from ...plugins.module_utils._fetch.index import Link
from ...plugins.module_utils._wheel.requirement import Requirement
from ...plugins.module_utils._wheelhouse.publication import page

with contextlib.suppress(ImportError):
    # ansible-core depends on packaging; only ansible-test's import check runs without it.
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename


def choose(links: t.Iterable[Link], wheel: Requirement) -> list[Link]:
    """Return the links that may be the wheel: the link with its sha256, or those of its version without a sha256."""
    exact, silent = [], []
    for link in links:
        with contextlib.suppress(InvalidWheelFilename):
            name, version, _build, _tags = parse_wheel_filename(link.file)
            if name != wheel.name or str(version) != wheel.version:
                continue
            if link.sha256 == wheel.hashes[0]:
                exact.append(link)
            elif not link.sha256:
                silent.append(link)
    return exact[:1] or silent


def pages(files: t.Mapping[str, str]) -> dict[str, bytes]:
    """Return the pages of an index, by path within it.

    :param files: ``<name>/<file>`` -> its sha256.
    """
    names = sorted({path.partition("/")[0] for path in files})
    contents = {"index.html": page("Simple index", [(f"{name}/", name) for name in names])}
    for name in names:
        rows = [(file, digest) for path, digest in sorted(files.items()) for file in [path.rpartition("/")[2]]
                if path.startswith(f"{name}/")]  # fmt: skip
        links = [(f"{urllib.parse.quote(file)}#sha256={digest}", file) for file, digest in rows]
        contents[f"{name}/index.html"] = page(name, links)
    return {path: text.encode() for path, text in contents.items()}
