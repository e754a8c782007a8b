"""Compare the owners and modes of the paths that the collection leaves on a host with the table data/ownership.yml.

``python -m tests.integration.ownership`` generates docs/files.md from the table.
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
#: The mode is set by a source or a wheel; only the owner may have write permission.
ANY = "any"
_WORDS = {"**": ".+", "*": "[^/]*", "<root>": re.escape(ROOT), "<unit>": "(?!(?:manifests|simple)(?:/|$))[^/]+"}
# These belong to the kernel or do not survive a reboot.
ELSEWHERE = "/proc /sys /dev /run"
LOOK = "find / -xdev {prune} -printf '%y\\t%m\\t%u\\t%g\\t%T@ %s\\t%l\\t%p\\0'"
# All paths of packages, where dpkg would put them today: /lib is /usr/lib.
PACKAGED = "cat /var/lib/dpkg/info/*.list | sed -E 's#^/(lib|lib64|bin|sbin)(/|$)#/usr/\\1\\2#' | sort -u"


class Shell(Protocol):
    """A host on which scripts run as root."""

    def execute(self, script: str) -> str: ...


@dataclass(frozen=True)
class Entry:
    """A path on a host: ``mode`` has four octal digits; ``content`` is its times and size, or a link's target."""

    path: str
    kind: str
    mode: str
    owner: str
    group: str
    content: str = ""

    @property
    def open_to(self) -> str:
        """The accounts that can write besides the owner: ``group``, ``others`` or ''. A link's mode has no effect."""
        bits = 0 if self.kind == "l" else int(self.mode, 8)
        return "others" if bits & 0o002 else "group" if bits & 0o020 else ""

    def __str__(self) -> str:
        return f"{self.kind} {self.mode} {self.owner}:{self.group} {self.path}"


@dataclass(frozen=True)
class Row:
    """A row of the table.

    :param modes: the modes allowed for each kind of path.
    :param writers: the accounts besides the owner and root that may write, or '' if there are none.
    :param left_by: the host that has the path, or the test that asserts it.
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
        """Tell whether this row applies to a path: its pattern matches, and it allows paths of this kind."""
        return entry.kind in self.modes and self.pattern.fullmatch(entry.path) is not None

    def faults(self, entry: Entry) -> list[str]:
        """Return the differences between a path and this row."""
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
    """Return the regular expression for a row's path."""
    return re.compile("".join(_WORDS.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*|<\w+>)", path)))


def rows() -> list[Row]:
    """Return the rows of the table."""
    return [_row(fields) for fields in yaml.safe_load(TABLE.read_text())]


def _row(fields: Mapping[str, Any]) -> Row:
    modes = {letter: tuple(str(fields[kind]).split()) for kind, letter in KINDS.items() if kind in fields}
    owner = fields.get("owner", "root")
    rest = {key: value for key, value in fields.items() if key not in (*KINDS, "owner", "group")}
    return Row(modes=modes, owner=owner, group=fields.get("group", owner), **rest)


def look(host: Shell) -> dict[str, Entry]:
    """Return all paths on the host's disk."""
    prune = " ".join(f"-path {folder} -prune -o" for folder in ELSEWHERE.split())
    entries = {}
    for line in host.execute(LOOK.format(prune=prune)).strip("\0").split("\0"):
        kind, mode, owner, group, content, target, path = line.split("\t", 6)
        # Adding or removing entries does not count as a change of the directory; a link is compared by its target.
        content = {"d": "", "l": target}.get(kind, content)
        entries[path] = Entry(path, kind, mode.zfill(4), owner, group, content)
    return entries


def left(host: Shell, before: Mapping[str, Entry]) -> list[Entry]:
    """Return the paths added or changed since ``before``, except those that belong to packages."""
    packaged = set(host.execute(PACKAGED).splitlines())
    changed = [entry for path, entry in look(host).items() if before.get(path) != entry]
    return [entry for entry in changed if entry.path not in packaged or entry.open_to == "others"]


def faults(entries: Iterable[Entry], table: Iterable[Row], host: str) -> list[str]:
    """Return the faults: paths without exactly one row, paths that differ from their row, and rows without a path.

    :param host: the kind of host, as in ``left_by``; each of its rows must have a path.
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
    """Return the faults of a kind of host, and print the counts for docs/evidence/ownership.md."""
    entries = list(entries)
    wrong = faults(entries, rows(), host)
    print(f"{host}, umask {umask}: {len(entries)} paths were left, {len(wrong)} differ")
    return wrong


INTRODUCTION = """\
# Every file that the collection puts on a host

`python -m tests.integration.ownership` writes this page from `tests/integration/data/ownership.yml`. The tests
`tests/integration/test_site.py`, `test_build.py` and `test_wheelhouse.py` compare the table with every path that was
added or changed on their hosts: each path must have one row, with its owner and mode. For the site playbook, the
comparison is repeated with umasks 027 and 077 (`test_umask.py`). `<root>` is `sparkforge_root`, `<unit>` the name of a
unit, `*` a part of a name, and `**` any path below. Files that dpkg lists as part of a package are left out.

The mode *any* is the mode from a source or a wheel, without write access for group and others. Only the owner and root
may write, unless the last column lists others.

| path | mode | owner | content | other writers |
|---|---|---|---|---|
"""


def page(table: Iterable[Row]) -> str:
    """Return the text of docs/files.md."""
    names = {letter: kind for kind, letter in KINDS.items()}
    lines = [INTRODUCTION]
    for row in table:
        kinds = [names[kind] if kind == "l" else f"{names[kind]} {' or '.join(row.modes[kind])}" for kind in row.modes]
        lines.append(f"| `{row.path}` | {', '.join(kinds)} | {row.owner}:{row.group} | {row.what} | {row.writers} |\n")
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(rows()))
    sys.exit(0)
