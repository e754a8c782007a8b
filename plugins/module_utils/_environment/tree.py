"""The files of an environment: relocating them, reading them, and finding the processes that use them."""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import io
import os
import re
import typing as t

from .._core import disk
from .._wheel import metadata
from .._wheel.environment import Own


def relocate(environment: str, old: str, new: str) -> None:
    """Replace ``old`` with ``new`` in an environment's scripts, to which venv and pip give absolute paths.

    Also update the hashes of these scripts in each RECORD, so that a later check of RECORD passes.

    :param environment: the current path of the environment.
    """
    rewritten: dict[str, bytes] = {}
    candidates = [os.path.join(environment, "pyvenv.cfg")]
    scripts = os.path.join(environment, "bin")
    candidates += [os.path.join(scripts, name) for name in sorted(os.listdir(scripts))]
    for path in candidates:
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        with open(path, "rb") as stream:
            content = stream.read()
        # Paths in a binary have a fixed length; no binary that pip installs contains the environment's path.
        if os.fsencode(old) not in content or b"\0" in content:
            continue
        content = content.replace(os.fsencode(old), os.fsencode(new))
        with open(path, "r+b") as stream:
            stream.write(content)
            stream.truncate()
        rewritten[os.path.realpath(path)] = content
    _correct_records(environment, rewritten)


def _correct_records(environment: str, rewritten: t.Mapping[str, bytes]) -> None:
    packages = site_packages(environment)
    for entry in sorted(os.listdir(packages)):
        record = os.path.join(packages, entry, "RECORD")
        if not entry.endswith(".dist-info") or not os.path.isfile(record):
            continue
        with open(record, encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        is_changed = False
        for row in rows:
            if len(row) != 3 or "/bin/" not in row[0]:
                continue
            content = rewritten.get(os.path.realpath(os.path.join(packages, row[0])))
            if content is None:
                continue
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            row[1:] = [f"sha256={digest}", str(len(content))]
            is_changed = True
        if is_changed:
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows(rows)
            with open(record, "w", encoding="utf-8", newline="") as stream:
                stream.write(text.getvalue())


def site_packages(environment: str) -> str:
    """Return the site-packages directory of an environment."""
    library = os.path.join(environment, "lib")
    for name in sorted(os.listdir(library)):
        path = os.path.join(library, name, "site-packages")
        if name.startswith("python") and os.path.isdir(path):
            return path
    raise FileNotFoundError(2, "no site-packages", environment)


def installed_packages(environment: str) -> dict[str, str]:
    """Return the version of every distribution with a ``dist-info`` directory in the environment, by name."""
    packages: dict[str, str] = {}
    directory = site_packages(environment)
    for entry in sorted(os.listdir(directory)):
        if not entry.endswith(".dist-info"):
            continue
        with disk.open_regular(os.path.join(directory, entry, "METADATA"), links=True) as stream:
            fields = metadata.read(stream.read(metadata.LIMIT))
        packages[fields.name or entry.split("-")[0]] = fields.version
    return packages


def processes_using(paths: t.Iterable[str], proc: str = "/proc") -> dict[str, dict[int, str]]:
    """Return the processes that use each directory of ``paths``: pid -> command line.

    A process uses an environment if it runs, maps or works in one of its files, or has its path in its command line or
    environment variables. Command line and variables matter because the environment's interpreter is a symlink to the
    system's, so its executable and maps need not show the environment.
    """
    patterns = {path: re.compile(re.escape(os.fsencode(path)) + rb"(?=[/\0:;\n \"']|$)") for path in paths}
    users: dict[str, dict[int, str]] = {path: {} for path in patterns}
    if not patterns:
        return users
    for entry in os.listdir(proc):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        mentions = []
        for name in ("exe", "cwd", "root"):
            with contextlib.suppress(OSError):
                mentions.append(os.fsencode(os.readlink(f"{proc}/{entry}/{name}")))
        command = b""
        for name in ("cmdline", "environ", "maps"):
            with contextlib.suppress(OSError):
                with open(f"{proc}/{entry}/{name}", "rb") as stream:
                    mentions.append(stream.read())
                if name == "cmdline":
                    command = mentions[-1]
        text = b"\0".join(mentions)
        for path, pattern in patterns.items():
            if pattern.search(text):
                users[path][int(entry)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return users


def missing_files(environment: str, receipt: Own) -> list[str]:
    """Return the files in the receipt that are missing from the environment, based on two directory listings."""
    if not os.access(os.path.join(environment, "bin", "python"), os.X_OK):
        return ["bin/python"]
    try:
        present = set(os.listdir(site_packages(environment)))
    except OSError:
        return ["site-packages"]
    return sorted(set(receipt.get("entries") or []) - present)


def has_content(path: str, content: str, mode: int) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read() == content.encode() and os.fstat(stream.fileno()).st_mode & 0o7777 == mode
    except OSError:
        return False
