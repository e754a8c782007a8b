"""Owners and modes of the paths that the collection leaves on a host: the table data/ownership.yml against a host.

``python -m tests.integration.ownership`` writes docs/files.md from the table.
"""

import functools
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml

CHECKOUT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("data") / "ownership.yml"
PAGE = CHECKOUT / "docs/files.md"
ROOT = "/opt/sparkforge"
KINDS = {"directory": "d", "file": "f", "link": "l"}
#: A mode that the row leaves to a source or a wheel: whatever it is, nobody but the owner may write.
ANY = "any"
_WORDS = {"**": ".+", "*": "[^/]*", "<root>": re.escape(ROOT), "<unit>": "(?!(?:manifests|simple)(?:/|$))[^/]+"}
# Gone with the next boot, or the kernel's.
ELSEWHERE = "/proc /sys /dev /run"
LOOK = "find / -xdev {prune} -printf '%y\\t%m\\t%u\\t%g\\t%T@ %s\\t%l\\t%p\\0'"
# Every path of a package, where dpkg would put it today: /lib is /usr/lib.
PACKAGED = "cat /var/lib/dpkg/info/*.list | sed -E 's#^/(lib|lib64|bin|sbin)(/|$)#/usr/\\1\\2#' | sort -u"


class Shell(Protocol):
    """A host on which a script runs as root."""

    def execute(self, script: str) -> str: ...


@dataclass(frozen=True)
class Entry:
    """One path of a host. ``mode`` has four octal digits; ``content`` stands for times, size and a link's target."""

    path: str
    kind: str
    mode: str
    owner: str
    group: str
    content: str = ""

    @property
    def open_to(self) -> str:
        """Writers beside the owner: ``group``, ``others`` or none. A link's mode means nothing."""
        bits = 0 if self.kind == "l" else int(self.mode, 8)
        return "others" if bits & 0o002 else "group" if bits & 0o020 else ""

    def __str__(self) -> str:
        return f"{self.kind} {self.mode} {self.owner}:{self.group} {self.path}"


@dataclass(frozen=True)
class Row:
    """One row of the table.

    :param modes: of each kind that a path of it may be: the modes that it may have.
    :param writers: who may write beside root, where that is not the owner alone.
    :param left_by: which host has it, or which test asserts it.
    """

    path: str
    modes: Mapping[str, tuple[str, ...]]
    owner: str
    group: str
    what: str
    left_by: str
    writers: str = ""

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        return glob(self.path)

    def covers(self, entry: Entry) -> bool:
        """Tell whether it is the row of that path, which has one of its kinds."""
        return entry.kind in self.modes and self.pattern.fullmatch(entry.path) is not None

    def faults(self, entry: Entry) -> list[str]:
        """Return what of a path that it covers is not as it says."""
        messages, modes = [], self.modes[entry.kind]
        if entry.kind != "l" and entry.mode not in modes and ANY not in modes:
            messages.append(f"has the mode {entry.mode}, not {' or '.join(modes)}")
        for attribute, is_there, expected in (("owner", entry.owner, self.owner), ("group", entry.group, self.group)):
            if expected != ANY and is_there != expected:
                messages.append(f"has the {attribute} {is_there}, not {expected}")
        if entry.open_to and not self.writers:
            messages.append(f"can be written by {entry.open_to}")
        return messages


def glob(path: str) -> re.Pattern[str]:
    """Return what the paths of a row are."""
    return re.compile("".join(_WORDS.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*|<\w+>)", path)))


def rows() -> list[Row]:
    """Return the table."""
    return [_row(fields) for fields in yaml.safe_load(TABLE.read_text())]


def _row(fields: Mapping[str, Any]) -> Row:
    modes = {letter: tuple(str(fields[kind]).split()) for kind, letter in KINDS.items() if kind in fields}
    owner = fields.get("owner", "root")
    rest = {key: value for key, value in fields.items() if key not in (*KINDS, "owner", "group")}
    return Row(modes=modes, owner=owner, group=fields.get("group", owner), **rest)


def look(host: Shell) -> dict[str, Entry]:
    """Return every path of the host's disk."""
    prune = " ".join(f"-path {folder} -prune -o" for folder in ELSEWHERE.split())
    entries = {}
    for line in host.execute(LOOK.format(prune=prune)).strip("\0").split("\0"):
        kind, mode, owner, group, content, target, path = line.split("\t", 6)
        # Entries that come and go do not change a directory; a link counts as its target.
        content = {"d": "", "l": target}.get(kind, content)
        entries[path] = Entry(path, kind, mode.zfill(4), owner, group, content)
    return entries


def left(host: Shell, before: Mapping[str, Entry]) -> list[Entry]:
    """Return what was added or changed since ``before``, but for what is a package's own."""
    packaged = set(host.execute(PACKAGED).splitlines())
    changed = [entry for path, entry in look(host).items() if before.get(path) != entry]
    return [entry for entry in changed if entry.path not in packaged or entry.open_to == "others"]


def faults(entries: Iterable[Entry], table: Iterable[Row], host: str) -> list[str]:
    """Return what is wrong: paths that not exactly one row has, or that are not as it says, and rows without a path.

    :param host: the kind of host, as ``left_by`` names it: its rows must have a path each.
    """
    messages, seen = [], set()
    table = list(table)
    for entry in entries:
        matching = [row for row in table if row.covers(entry)]
        seen.update(row.path for row in matching)
        if len(matching) != 1:
            messages.append(f"{entry}: {' and '.join(row.path for row in matching) or 'no row'}")
        messages += [f"{entry}: {fault} ({row.path})" for row in matching for fault in row.faults(entry)]
    return messages + [f"{row.path}: no path" for row in table if row.left_by == host and row.path not in seen]


def compared(entries: Iterable[Entry], host: str, umask: str = "022") -> list[str]:
    """Return what is wrong with a kind of host, and print how much: docs/evidence/ownership.md."""
    entries = list(entries)
    wrong = faults(entries, rows(), host)
    print(f"{host}, umask {umask}: {len(entries)} paths were left, {len(wrong)} differ")
    return wrong


INTRODUCTION = """\
# Every file that the collection leaves on a host

`python -m tests.integration.ownership` writes this page from `tests/integration/data/ownership.yml`. The tests
`tests/integration/test_site.py`, `test_build.py` and `test_wheelhouse.py` compare the table with every path that was
added or changed on their hosts: each path must have one row, with its owner and mode. For the site this also runs under
a umask of 027 and 077 (`test_umask.py`). `<root>` is `sparkforge_root`, `<unit>` the name of a unit, `*` a part of a
name, and `**` any path below. Files that dpkg lists as part of a package are left out.

The mode *any* is the mode from a source or a wheel, without write access for group and others. Only the owner and root
may write, unless the last column lists others.

| path | mode | owner | content | other writers |
|---|---|---|---|---|
"""


def page(table: Iterable[Row]) -> str:
    """Return docs/files.md."""
    names = {letter: kind for kind, letter in KINDS.items()}
    lines = [INTRODUCTION]
    for row in table:
        kinds = [names[kind] if kind == "l" else f"{names[kind]} {' or '.join(row.modes[kind])}" for kind in row.modes]
        lines.append(f"| `{row.path}` | {', '.join(kinds)} | {row.owner}:{row.group} | {row.what} | {row.writers} |\n")
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(rows()))
    sys.exit(0)
