"""A host's state, read from its disk: after a fault, each path must be in its old or its new state."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Directories whose contents are compared; elsewhere, only names are compared.
PLACES = ("etc", "opt", "usr/local", "usr/share/keyrings", "var/lib/sparkforge", "var/tmp", "tmp", "root", "home")
#: Paths of the kernel, and paths that apt, dpkg, ldconfig and Ansible's connection rewrite at any time.
FOREIGN = re.compile(
    r"(proc|sys|dev|run|lost\+found|var/log|var/cache|var/lib/(apt|dpkg|systemd|ucf)|etc/ld\.so\.cache|etc/\.pwd\.lock"
    r"|home/spark/\.ansible|etc/(passwd|group|shadow|gshadow|subuid|subgid)-|.*/__pycache__|etc/(hosts|resolv.conf)"
    r"|etc/(mtab|hostname)|etc/(ld\.so\.preload|faketimerc|faketime\.so)"
    # Ansible unpacks these files for itself, and a killed module cannot remove them; none belongs to the collection.
    r"|tmp/ansible_.*_payload_[^/]+"
    # apt's links to the packages that it passes to dpkg; a real host's next boot empties this directory.
    r"|tmp/apt-dpkg-install-[^/]+"
    # A build's working directory; only its receipt and artefact are used by others.
    r"|opt/sparkforge/builds/.+)(/.*)?"
)
#: Dates, durations and pids in receipts, logs and reports.
VOLATILE = re.compile(
    rb'\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d:?\d\d)?|"(seconds|elapsed|pid|boot_id|started|finished|'
    rb'mtime|checkpoint|\w*epoch|jobs|sha256|digest|time|duration|inode|ctime|ctime_ns|mtime_ns)": *("[^"]*"|[^,}\n]+)'
)
#: Published completely or not at all: links and receipts refer to these directories.
WHOLE = re.compile(r"(opt/sparkforge/(?:redist/[^/]+/[^/]+|envs/[^/]+/[^/]+|wheelhouse/[^/]+/[^/]+/[^/]+))(?:/.*)?")
#: Written by ansible.builtin.copy, which does not sync: after a power loss these may be empty, which has the same
#: effect as if they were missing.
BY_ANSIBLE = re.compile(r"etc/(apt/apt\.conf\.d/5[12]sparkforge-[^/]+|ld\.so\.conf\.d/sparkforge-cusparselt\.conf)")
EMPTY = hashlib.sha256(b"").hexdigest()[:16]
PACKAGES = "var/lib/dpkg/status"
#: The states of a package between unpacking and configuring, as dpkg reports them.
BETWEEN = re.compile(r".* (unpacked|half-configured|half-installed|triggers-\w+)")

Look = Mapping[str, str]


def look(root: Path) -> dict[str, str]:
    """Return path -> type, mode and content, and package -> version and state."""
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
        # The other fields tell how the artefact came about: attempts, notes, durations of phases, and a seal of these.
        receipt = json.loads(content)
        content = json.dumps([receipt[key] for key in ("name", "fingerprint", "inputs", "outputs")]).encode()
    if path.name == "shadow":
        # The day on which useradd created an account, by a clock that may be a year off.
        content = re.sub(rb"(?m)^([^:]*:[^:]*):\d*:", rb"\1::", content)
    if path.parent.name == "ld.so.conf.d":
        # The loader ignores the comments that redist_archive adds there once the receipt is written.
        content = re.sub(rb"(?m)^#.*\n?", b"", content)
    if path.suffix in (".json", ".log", ".html", ".txt", ".cfg", "") and b"\0" not in content[:4096]:
        content = VOLATILE.sub(b"", content)
    return hashlib.sha256(content).hexdigest()[:16]


def published(seen: Look) -> dict[str, str]:
    """Return the paths that others rely on: no hidden names, and one value for each tree published as a whole."""
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
    # A directory counts as an environment only if it has its receipt, which is written last.
    return {
        path: content
        for path, content in published_entries.items()
        if not re.fullmatch(r"opt/sparkforge/envs/[^/]+/[0-9a-f]{12}", path) or f"{path}/receipt.json" in seen
    }


def neither(before: Look, now: Look, after: Look, apt: bool = False, power: bool = False) -> list[str]:
    """Return the paths that are neither in their old nor in their new state.

    :param apt: allow the intermediate package states that dpkg reports, and the receipt of the packages installed so
    far.
    :param power: allow files to be empty that Ansible's own modules did not sync.
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
    # Packages that were installed before apt failed are in the receipt, so that they can be removed.
    if re.fullmatch(r"opt/sparkforge/receipts/apt-[^/]+\.json", path):
        return content is not None
    # Until its package is configured, a file in /etc has this name next to its own.
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
    """Return the name of the host's state: old, new or between."""
    old, new, seen = published(before), published(after), published(now)
    return "new" if seen == new else "old" if seen == old else "between"


def unlike(reference: Look, now: Look) -> list[str]:
    """Return the differences from the host that had no fault."""
    return [
        f"{path} is {now.get(path, 'missing')}, not {reference.get(path, 'there')}"
        for path in sorted({*reference, *now})
        if reference.get(path) != now.get(path)
    ]
