# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a wheelhouse publishes, as far as it can be told without a host: manifest and simple index.

::

    <root>/wheelhouse/<platform>/<unit>/<fingerprint>/<wheel>        written by source_build
    <root>/wheelhouse/<platform>/manifests/<stack>-<lock id>.json    which wheels a stack is made of
    <root>/wheelhouse/<platform>/simple/<project>/index.html         the same for pip and uv (PEP 503)

A manifest is all that a host needs to install what another one built: names, versions and hashes. Whoever carries it
and the wheels need not be trusted, as long as the manifest itself comes from who is.
"""

from __future__ import annotations

import dataclasses
import html
import json
import re
import time
import typing as t
import urllib.parse

from .._core import digests
from .._core.errors import SparkforgeError
from .._wheel.names import normalised, parse_wheel_name
from .._wheel.wheel import Manifest, Unit, Wheel

#: Raised when the meaning of a manifest changes.
FORMAT = 1

_STACK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_LOCK_ID = re.compile(r"[0-9a-f]{8,64}")
_PLATFORM = re.compile(r"[a-z0-9][a-z0-9._+]*-[a-z0-9_]+")
_UNIT = re.compile(r"[a-z][a-z0-9_]*")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PROJECT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*\.whl")
#: The most bytes that a wheel can have, for who fetches one must know when to stop: ten times the largest PyTorch.
LARGEST = 16 << 30
#: A host, by its name in an inventory, which messages show.
_HOST = re.compile(r"[\w\[][\w.:@%+\[\]-]{0,254}")
#: Of ``written``: these are in the order of their texts.
TIME = "%Y-%m-%dT%H:%M:%SZ"
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_TEXTS = {
    "stack": _STACK,
    "lock_id": _LOCK_ID,
    "platform": _PLATFORM,
    "python": re.compile(r"\d+\.\d+"),
    "written": _WRITTEN,
    "host": _HOST,
}
_WHEEL_TEXTS = {"name": _PROJECT, "version": _VERSION, "file": _FILE, "sha256": _SHA256}

# --------------------------------------------------------------------------------------------------------- manifest


def manifest(
    *,
    stack: str,
    lock_id: str,
    platform: str,
    python: str,
    host: str,
    written: str,
    units: t.Iterable[t.Mapping[str, t.Any]],
) -> Manifest:
    """Return the manifest of a stack, with its seal.

    :param units: of each its ``name``, ``fingerprint`` and ``wheels``, in any order.
    :raises SparkforgeError: for what no manifest can say.
    """
    rows: list[Unit] = []
    for unit in sorted(units, key=lambda unit: str(unit["name"])):
        name, mark = str(unit["name"]), str(unit["fingerprint"])
        placed = [dataclasses.replace(wheel, place=f"{name}/{mark}") for wheel in unit["wheels"]]
        wheels = [wheel.as_row() for wheel in sorted(placed, key=lambda wheel: wheel.file)]
        rows.append({"name": name, "fingerprint": mark, "wheels": wheels})
    made: Manifest = {
        "format": FORMAT,
        "stack": stack,
        "lock_id": lock_id,
        "platform": platform,
        "python": python,
        "host": host,
        "written": written,
        "units": rows,
        "seal": "",
    }
    made["seal"] = seal(made)
    return check(made)


def seal(manifest: t.Mapping[str, t.Any]) -> str:
    """Return the sha256 over the canonical JSON of a manifest without its seal and signature."""
    return digests.of_data({key: value for key, value in manifest.items() if key not in ("seal", "signature")})


def text_of(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest's file, the same for the same manifest."""
    return (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode("ascii")


def file_of(stack: str, lock_id: str) -> str:
    """Return the name of the file of a manifest."""
    return f"{stack}-{lock_id}.json"


def checked_platform(platform: str) -> str:
    """Return the name of a platform, which becomes part of paths and URLs and is what a host says of itself.

    :raises SparkforgeError: if it is none.
    """
    if not _PLATFORM.fullmatch(platform):
        raise SparkforgeError(
            f"{platform!r:.80} is not the name of a platform.",
            "It is as ubuntu24.04-aarch64. Find out what the host's /etc/os-release says.",
        )
    return platform


def read(content: bytes, where: str = "The manifest") -> Manifest:
    """Return the manifest that ``content`` is.

    :param where: how messages call it, for example ``The manifest at https://…``.
    :raises SparkforgeError: if it is not one, for example the HTML of a proxy's error page.
    """
    try:
        data = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        start = content[:200].lstrip().lower()
        what = "an HTML page" if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")) else "not JSON"
        raise SparkforgeError(
            f"{where} is {what}.",
            "Check what answers there: this looks like a proxy or a login page.",
        ) from error
    return check(data, where=where)


def check(
    manifest: t.Any,
    *,
    stack: str | None = None,
    lock_id: str | None = None,
    platform: str | None = None,
    where: str = "The manifest",
) -> Manifest:
    """Return ``manifest`` if it is whole, unchanged, and of what is asked for.

    Its texts become paths, URLs and requirement lines: each is checked for what it may hold.

    :param stack, lock_id, platform: what it must be of, where that is given.
    :param where: how messages call it.
    :raises SparkforgeError: naming what is wrong first.
    """
    _check_shape(manifest, where)
    if seal(manifest) != manifest["seal"]:
        raise SparkforgeError(
            f"{where} was changed after it was written: its seal is {manifest['seal'][:12]}…, its content's "
            f"{seal(manifest)[:12]}….",
            "Publish it again on the builder with playbooks/build.yml, and find out who changed it.",
        )
    for key, wanted in (("platform", platform), ("stack", stack), ("lock_id", lock_id)):
        if wanted is not None and manifest[key] != wanted:
            words = {"platform": "the platform", "stack": "the stack", "lock_id": "the lock"}[key]
            raise SparkforgeError(
                f"{where} is for {words} {manifest[key]}, not {wanted}.",
                "Set the URL or cache of a wheelhouse that has it, or build it with playbooks/build.yml.",
            )
    return t.cast(Manifest, dict(manifest))


def _check_shape(manifest: t.Any, where: str) -> None:
    def refuse(what: str) -> SparkforgeError:
        return SparkforgeError(
            f"{where} is not a wheelhouse manifest: {what}.",
            "Publish it again on the builder with playbooks/build.yml.",
        )

    if not isinstance(manifest, dict):
        raise refuse("it is not a JSON object")
    if manifest.get("format") != FORMAT:
        raise refuse(f"its format is {manifest.get('format')!r}, but this collection reads {FORMAT}")
    for key, pattern in _TEXTS.items():
        if not _fits(pattern, manifest.get(key)):
            raise refuse(f"{key} is {_shown(manifest.get(key))}")
    try:
        time.strptime(manifest["written"], TIME)
    except ValueError:
        raise refuse(f"written is {_shown(manifest['written'])}") from None
    if not _fits(_SHA256, manifest.get("seal")):
        raise refuse(f"seal is {_shown(manifest.get('seal'))}")
    if not isinstance(manifest.get("signature", ""), str):
        raise refuse(f"signature is {_shown(manifest['signature'])}")
    units = manifest.get("units")
    if not isinstance(units, list) or not all(isinstance(unit, dict) for unit in units):
        raise refuse("units is not a list of units")
    for unit in units:
        if not _fits(_UNIT, unit.get("name")) or not _fits(_FINGERPRINT, unit.get("fingerprint")):
            raise refuse(f"it names the unit {_shown(unit.get('name'))} {_shown(unit.get('fingerprint'))}")
        wheels = unit.get("wheels")
        if not isinstance(wheels, list) or not all(isinstance(wheel, dict) for wheel in wheels):
            raise refuse(f"the wheels of {unit['name']} are not a list")
        for wheel in wheels:
            for key, pattern in _WHEEL_TEXTS.items():
                if not _fits(pattern, wheel.get(key)):
                    raise refuse(f"{key} of a wheel of {unit['name']} is {_shown(wheel.get(key))}")
            if not _is_of(wheel["file"], wheel["name"], wheel["version"]):
                raise refuse(f"{wheel['file']} is no wheel of {wheel['name']} {wheel['version']}")
            # pylint: disable-next=unidiomatic-typecheck  # a truth value is an int, too
            if type(wheel.get("size")) is not int or not 0 <= wheel["size"] <= LARGEST:
                raise refuse(f"the size of {wheel['file']} is {_shown(wheel.get('size'))}")
            if wheel.get("path") != f"{unit['name']}/{unit['fingerprint']}/{wheel['file']}":
                raise refuse(f"the path of {wheel['file']} is {_shown(wheel.get('path'))}")
    names = [unit["name"] for unit in units]
    if len(set(names)) < len(names):
        raise refuse("it lists a unit twice")


def _fits(pattern: t.Pattern[str], value: t.Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _is_of(file: str, name: str, version: str) -> bool:
    """Say whether a file is of a project and its version: a host installs what the file's name says."""
    try:
        parsed = parse_wheel_name(file)
    except SparkforgeError:
        return False
    return parsed.distribution == normalised(name) and parsed.version.replace("_", "-") == version.replace("_", "-")


def _shown(value: t.Any) -> str:
    return "missing" if value is None else repr(value)[:80]


# ----------------------------------------------------------------------------------------------------- simple index


def index(wheels: t.Iterable[Wheel]) -> dict[str, str]:
    """Return the pages of the simple index by their path below ``simple/``.

    :param wheels: of manifests; one that several manifests have is in the page once.
    """
    projects: dict[str, dict[str, Wheel]] = {}
    for wheel in wheels:
        projects.setdefault(normalised(wheel.name), {})[wheel.relative] = wheel
    pages = {
        "index.html": page("Wheelhouse", [(f"{project}/", project) for project in sorted(projects)]),
    }
    for project, rows in projects.items():
        links = [
            (f"../../{urllib.parse.quote(path)}#sha256={wheel.sha256}", wheel.file)
            for path, wheel in sorted(rows.items())
        ]
        pages[f"{project}/index.html"] = page(f"Links for {project}", links)
    return pages


def page(title: str, links: t.Sequence[tuple[str, str]]) -> str:
    """Return a page of links (PEP 503).

    :param links: where each leads, and its text.
    """
    lines = [f'    <a href="{html.escape(target)}">{html.escape(text)}</a><br>\n' for target, text in links]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n  <head>\n    <meta charset="utf-8">\n'
        '    <meta name="pypi:repository-version" content="1.0">\n'
        f"    <title>{html.escape(title)}</title>\n  </head>\n  <body>\n{''.join(lines)}  </body>\n</html>\n"
    )
