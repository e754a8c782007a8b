# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pages of a package index (PEP 503): finding a file by its sha256, and writing pages of your own."""

from __future__ import annotations

import contextlib
import dataclasses
import html.parser
import os
import pathlib
import re
import typing as t
import urllib.parse

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse.publication import page
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.mirror.wanted import Wheel

with contextlib.suppress(ImportError):
    # ansible-core depends on packaging; only the import check of ansible-test runs without it.
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*\.whl")


@dataclasses.dataclass(frozen=True)
class Link:
    """A file that a page lists.

    :ivar sha256: as the page says it, or ''.
    """

    file: str
    url: str
    sha256: str


class _Anchors(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        place = dict(attrs).get("href") or ""
        if tag == "base" and not self.base:
            self.base = place
        elif tag == "a" and place:
            self.found.append(place)


def read_page(text: str, url: str) -> list[Link]:
    """Return the wheels that a page lists.

    :param url: of the page; what it lists may be relative to it.
    """
    anchors = _Anchors()
    anchors.feed(text)
    links = []
    for place in anchors.found:
        with contextlib.suppress(ValueError):
            whole = urllib.parse.urlsplit(urllib.parse.urljoin(urllib.parse.urljoin(url, anchors.base), place))
            file = urllib.parse.unquote(whole.path.rpartition("/")[2])
            sha256 = re.search(r"(?:^|&)sha256=([0-9a-fA-F]{64})(?:&|$)", whole.fragment)
            if _FILE.fullmatch(file) and whole.scheme in ("http", "https", "file"):
                link = urllib.parse.urlunsplit(whole._replace(fragment=""))
                links.append(Link(file, link, sha256[1].lower() if sha256 else ""))
    return links


def read_directory(directory: str) -> list[Link]:
    """Return the wheels that lie in a directory of this machine.

    :raises OSError: if it cannot be read.
    """
    names = [name for name in sorted(os.listdir(directory)) if _FILE.fullmatch(name)]
    return [Link(name, pathlib.Path(directory, name).absolute().as_uri(), "") for name in names]


def choose(links: t.Iterable[Link], wheel: Wheel) -> list[Link]:
    """Return the files that may be the wheel: that of its sha256, or those of its version that are without one."""
    same, silent = [], []
    for link in links:
        with contextlib.suppress(InvalidWheelFilename):
            name, version, _build, _tags = parse_wheel_filename(link.file)
            if name != wheel.name or str(version) != wheel.version:
                continue
            if link.sha256 == wheel.sha256:
                same.append(link)
            elif not link.sha256:
                silent.append(link)
    return same[:1] or silent


def pages(files: t.Mapping[str, str]) -> dict[str, bytes]:
    """Return the pages of an index, by their paths below it.

    :param files: ``<name>/<file>`` -> its sha256.
    """
    names = sorted({path.partition("/")[0] for path in files})
    found = {"index.html": page("Simple index", [(f"{name}/", name) for name in names])}
    for name in names:
        rows = [(file, digest) for path, digest in sorted(files.items()) for file in [path.rpartition("/")[2]]
                if path.startswith(f"{name}/")]  # fmt: skip
        links = [(f"{urllib.parse.quote(file)}#sha256={digest}", file) for file, digest in rows]
        found[f"{name}/index.html"] = page(name, links)
    return {path: text.encode() for path, text in found.items()}
