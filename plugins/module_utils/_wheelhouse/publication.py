"""The manifest and the simple index that a wheelhouse publishes, without access to a host.

::

    <root>/wheelhouse/<platform>/<unit>/<fingerprint>/<wheel>        written by source_build
    <root>/wheelhouse/<platform>/manifests/<stack>-<lock id>.json    the wheels of a stack
    <root>/wheelhouse/<platform>/simple/<project>/index.html         the same for pip and uv (PEP 503)

A manifest lists everything that a host needs to install another host's wheels: names, versions and hashes. The
transport of the manifest and the wheels need not be trusted, as long as the manifest itself comes from a trusted
source.
"""

from __future__ import annotations

import dataclasses
import html
import re
import typing as t
import urllib.parse

from .._core import digests
from .._core.errors import SparkforgeError
from .._wheel.names import normalised, parse_wheel_name
from .._wheel.wheel import Manifest, Unit, Wheel

#: Raise this when the meaning of a manifest changes.
FORMAT = 1

#: Text that becomes part of paths and URLs.
_STACK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_LOCK_ID = re.compile(r"[0-9a-f]{8,64}")
_PLATFORM = re.compile(r"[a-z0-9][a-z0-9._+]*-[a-z0-9_]+")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*\.whl")
#: The format of ``written``, which sorts chronologically as text.
TIME = "%Y-%m-%dT%H:%M:%SZ"


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

    :param units: the ``name``, ``fingerprint`` and ``wheels`` of each unit, in any order.
    :raises SparkforgeError: if stack or lock cannot be part of a file name, or a receipt lists an invalid wheel.
    """
    for key, text, pattern in (("stack", stack, _STACK), ("lock_id", lock_id, _LOCK_ID)):
        if not pattern.fullmatch(text):
            raise SparkforgeError(
                f"The option {key} is {text!r}, which cannot be part of the name of a manifest.",
                "Pass stack.name and stack.lock.id.",
            )
    rows: list[Unit] = []
    for unit in sorted(units, key=lambda unit: str(unit["name"])):
        name, mark = str(unit["name"]), str(unit["fingerprint"])
        for wheel in unit["wheels"]:
            # The build account wrote the receipt, so it is not trusted.
            if not matches_wheel(wheel.file, wheel.name, wheel.version):
                raise SparkforgeError(
                    f"The receipt of {name} {mark} names {wheel.file!r:.80}, which is not a wheel of "
                    f"{wheel.name!r:.80} {wheel.version!r:.80}. Nothing was published.",
                    "Find out who wrote it; then remove that receipt and run playbooks/build.yml, which rebuilds it.",
                )
        placed_wheels = [dataclasses.replace(wheel, place=f"{name}/{mark}") for wheel in unit["wheels"]]
        wheels = [wheel.as_row() for wheel in sorted(placed_wheels, key=lambda wheel: wheel.file)]
        rows.append({"name": name, "fingerprint": mark, "wheels": wheels})
    result: Manifest = {
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
    result["seal"] = seal(result)
    return result


def matches_wheel(file: str, name: str, version: str) -> bool:
    """Tell whether a file name matches a project and version, because hosts install according to the file name."""
    try:
        parsed = parse_wheel_name(file)
    except SparkforgeError:
        return False
    is_same = parsed.distribution == normalised(name) and parsed.version.replace("_", "-") == version.replace("_", "-")
    return is_same and _FILE.fullmatch(file) is not None


def seal(manifest: t.Mapping[str, t.Any]) -> str:
    """Return the sha256 of the canonical JSON of a manifest without its seal and signature."""
    return digests.of_data({key: value for key, value in manifest.items() if key not in ("seal", "signature")})


def file_of(stack: str, lock_id: str) -> str:
    """Return the file name of a manifest."""
    return f"{stack}-{lock_id}.json"


def checked_platform(platform: str) -> str:
    """Return the name of a platform, which a host reports and which becomes part of paths and URLs."""
    if not _PLATFORM.fullmatch(platform):
        raise SparkforgeError(
            f"{platform!r:.80} is not the name of a platform.",
            "Write it like ubuntu24.04-aarch64, and check the host's /etc/os-release.",
        )
    return platform


def check(manifest: t.Any, where: str = "The manifest") -> Manifest:
    """Return ``manifest`` if it has this version's format and an intact seal.

    The controller checks the other fields of a manifest from another machine (``plugin_utils.wheelhouse.query``).

    :param where: the text with which messages begin.
    :raises SparkforgeError: if it is not a manifest, or was modified.
    """
    reason = ""
    if not isinstance(manifest, dict):
        reason = "it is not a JSON object"
    elif manifest.get("format") != FORMAT:
        reason = f"its format is {manifest.get('format')!r}, but this collection reads {FORMAT}"
    if reason:
        raise SparkforgeError(
            f"{where} is not a wheelhouse manifest: {reason}.",
            "Publish it again on the builder with playbooks/build.yml.",
        )
    if seal(manifest) != manifest.get("seal"):
        raise SparkforgeError(
            f"{where} was changed after it was written: its seal is {str(manifest.get('seal'))[:12]}…, but that of "
            f"its content is {seal(manifest)[:12]}….",
            "Publish it again on the builder with playbooks/build.yml, and find out who changed it.",
        )
    return t.cast(Manifest, dict(manifest))


def index(wheels: t.Iterable[Wheel]) -> dict[str, str]:
    """Return the pages of the simple index, keyed by their path relative to ``simple/``.

    :param wheels: the wheels in the manifests; duplicates are listed once.
    """
    projects: dict[str, dict[str, Wheel]] = {}
    for wheel in wheels:
        projects.setdefault(normalised(wheel.name), {})[wheel.relative] = wheel
    pages = {"index.html": page("Wheelhouse", [(f"{project}/", project) for project in sorted(projects)])}
    for project, rows in projects.items():
        links = [
            (f"../../{urllib.parse.quote(path)}#sha256={wheel.sha256}", wheel.file)
            for path, wheel in sorted(rows.items())
        ]
        pages[f"{project}/index.html"] = page(f"Links for {project}", links)
    return pages


def page(title: str, links: t.Sequence[tuple[str, str]]) -> str:
    """Return a page of links (PEP 503).

    :param links: the target and text of each link.
    """
    lines = [f'    <a href="{html.escape(target)}">{html.escape(text)}</a><br>\n' for target, text in links]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n  <head>\n    <meta charset="utf-8">\n'
        '    <meta name="pypi:repository-version" content="1.0">\n'
        f"    <title>{html.escape(title)}</title>\n  </head>\n  <body>\n{''.join(lines)}  </body>\n</html>\n"
    )
