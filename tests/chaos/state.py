"""The state of a host, read from its disk: after a fault, each path must be in the old state or in the new one."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Directories whose contents are compared; elsewhere only names are.
PLACES = ("etc", "opt", "usr/local", "usr/share/keyrings", "var/lib/sparkforge", "var/tmp", "tmp", "root", "home")
#: Paths of the kernel, and paths that apt, dpkg, ldconfig and Ansible's connection rewrite at any time.
FOREIGN = re.compile(
    r"(proc|sys|dev|run|lost\+found|var/log|var/cache|var/lib/(apt|dpkg|systemd|ucf)|etc/ld\.so\.cache|etc/\.pwd\.lock"
    r"|home/spark/\.ansible|etc/(passwd|group|shadow|gshadow|subuid|subgid)-|.*/__pycache__|etc/(hosts|resolv.conf)"
    r"|etc/(mtab|hostname)|etc/(ld\.so\.preload|faketimerc)"
    # Files that Ansible unpacks for itself, which a killed module cannot remove; none is this collection's.
    r"|tmp/ansible_.*_payload_[^/]+"
    # apt's links to what it gives to dpkg, in a directory that the next boot of a real host empties.
    r"|tmp/apt-dpkg-install-[^/]+"
    # A build's own working place, which only its receipt and its artefact come out of.
    r"|opt/sparkforge/builds/.+)(/.*)?"
)
#: Dates, durations and numbers of processes in receipts, logs and reports.
VOLATILE = re.compile(
    rb'\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d:?\d\d)?|"(seconds|elapsed|pid|boot_id|started|finished|'
    rb'mtime|checkpoint|\w*epoch|jobs|sha256|digest|time|duration|inode|ctime|ctime_ns|mtime_ns)": *("[^"]*"|[^,}\n]+)'
)
#: Published as a whole or not at all: links and receipts lead to them.
WHOLE = re.compile(r"(opt/sparkforge/(?:redist/[^/]+/[^/]+|envs/[^/]+/[^/]+|wheelhouse/[^/]+/[^/]+/[^/]+))(?:/.*)?")
#: Written by ansible.builtin.copy, which syncs nothing: a power loss may empty it, which is as if it were not there.
BY_ANSIBLE = re.compile(r"etc/(apt/apt\.conf\.d/5[12]sparkforge-[^/]+|ld\.so\.conf\.d/sparkforge-cusparselt\.conf)")
EMPTY = hashlib.sha256(b"").hexdigest()[:16]
PACKAGES = "var/lib/dpkg/status"
#: The states of a package between unpacking and configuring, which dpkg reports.
BETWEEN = re.compile(r".* (unpacked|half-configured|half-installed|triggers-\w+)")

Look = Mapping[str, str]


def look(root: Path) -> dict[str, str]:
    """Return path -> what is there, and package -> version and state."""
    entries = dict(_walk(root, ""))
    for text in (root / PACKAGES).read_text(errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Status): (.*)$", text, re.M))
        if fields and not fields["Status"].endswith("not-installed"):
            entries[f"package {fields['Package']}"] = f"{fields.get('Version')} {fields['Status'].split()[-1]}"
    return entries


def _walk(root: Path, relative: str) -> Iterator[tuple[str, str]]:
    with os.scandir(root / relative) as entries:
        for entry in entries:
            path = f"{relative}/{entry.name}" if relative else entry.name
            if FOREIGN.fullmatch(path) or entry.name.endswith(".pyc"):
                continue
            if entry.is_symlink():
                yield path, f"-> {os.readlink(entry.path)}"
            elif entry.is_dir():
                yield path, "directory"
                yield from _walk(root, path)
            else:
                state = entry.stat()
                inside = path.startswith(tuple(f"{directory}/" for directory in PLACES)) and entry.is_file()
                content = _digest(Path(entry.path)) if inside else ""
                yield path, f"file {state.st_mode:o} {state.st_uid} {content}"


def _digest(path: Path) -> str:
    content = path.read_bytes()
    if re.search(r"receipts/units/[^/]+\.json$|wheelhouse/[^/]+/[^/]+/[^/]+/receipt\.json$", str(path)):
        # The rest says how it came about: attempts, notes, how long each phase took, a seal of all that.
        receipt = json.loads(content)
        content = json.dumps([receipt[key] for key in ("name", "fingerprint", "inputs", "outputs")]).encode()
    if path.name == "shadow":
        # The day on which useradd made an account, by a clock that may be a year off.
        content = re.sub(rb"(?m)^([^:]*:[^:]*):\d*:", rb"\1::", content)
    if path.parent.name == "ld.so.conf.d":
        # The loader passes over what redist_archive notes there once the receipt is written.
        content = re.sub(rb"(?m)^#.*\n?", b"", content)
    if path.suffix in (".json", ".log", ".html", ".txt", ".cfg", "") and b"\0" not in content[:4096]:
        content = VOLATILE.sub(b"", content)
    return hashlib.sha256(content).hexdigest()[:16]


def published(seen: Look) -> dict[str, str]:
    """Return what others rely on: no hidden names, and what is published as a whole as one value."""
    published_entries: dict[str, str] = {}
    for path, content in sorted(seen.items()):
        if "/." in path or path.startswith((".", "tmp/", "var/", "usr/lib", "usr/share/")):
            continue
        whole_path = WHOLE.fullmatch(path)
        if whole_path and (path != whole_path[1] or content == "directory"):
            published_entries[whole_path[1]] = hashlib.sha256(
                f"{published_entries.get(whole_path[1], '')}{path}{content}".encode()
            ).hexdigest()[:16]
        else:
            published_entries[path] = content
    # An environment is one once its receipt, which is written last, lies in it.
    return {
        path: content
        for path, content in published_entries.items()
        if not re.fullmatch(r"opt/sparkforge/envs/[^/]+/[0-9a-f]{12}", path) or f"{path}/receipt.json" in seen
    }


def neither(before: Look, now: Look, after: Look, apt: bool = False, power: bool = False) -> list[str]:
    """Return what is neither as before nor as after.

    :param apt: allows what dpkg says of a package that it is at, and the receipt that says what has arrived.
    :param power: allows what Ansible's own modules did not sync to be empty.
    """
    old, new, seen = published(before), published(after), published(now)
    wrong = []
    for path in sorted({*old, *new, *seen}):
        content = seen.get(path)
        known = content in (old.get(path), new.get(path))
        lost = power and path not in old and BY_ANSIBLE.fullmatch(path) and str(content).endswith(EMPTY)
        if not known and not lost and not (apt and _of_apt(path, content)):
            wrong.append(f"{path} is {content or 'gone'}, neither as before nor as after")
    return wrong + [f"{path} leads to nothing" for path in _dangling(seen)]


def _of_apt(path: str, content: str | None) -> bool:
    # Packages that arrived before apt failed are in their receipt, so that they can be taken back.
    if re.fullmatch(r"opt/sparkforge/receipts/apt-[^/]+\.json", path):
        return content is not None
    # A file of /etc lies beside its name until its package is configured.
    if path.endswith(".dpkg-new"):
        return True
    return path.startswith("package ") and (content is None or BETWEEN.fullmatch(content) is not None)


def _dangling(seen: Look) -> list[str]:
    links = re.compile(r"opt/sparkforge/(redist|envs)/[^/]+/(current|previous|staged)")
    return [
        path for path, content in seen.items()
        if links.fullmatch(path) and os.path.normpath(os.path.join(os.path.dirname(path), content[3:])) not in seen
    ]  # fmt: skip


def called(before: Look, now: Look, after: Look) -> str:
    """Say in a word which state the host is in."""
    old, new, seen = published(before), published(after), published(now)
    return "new" if seen == new else "old" if seen == old else "between"


def unlike(reference: Look, now: Look) -> list[str]:
    """Return what differs from the host that nothing happened to."""
    return [
        f"{path} is {now.get(path, 'missing')}, not {reference.get(path, 'there')}"
        for path in sorted({*reference, *now})
        if reference.get(path) != now.get(path)
    ]
