"""The state of apt and dpkg on a host, read from their own files; only offers need a subprocess."""

from __future__ import annotations

import base64
import fcntl
import os
import re
import struct
import typing as t

from .dpkg import DPKG
from .reader import Host

# apt's locks in the order in which it takes them, so that the first one identifies the process to wait for.
LOCKS = (f"{DPKG}/lock-frontend", f"{DPKG}/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock")

# apt ignores other names in a .d directory (apt_preferences(5), sources.list(5)).
_PART_NAME = re.compile(r"^[A-Za-z0-9_.-]+$")
_OPTION = re.compile(r"([A-Za-z-]+)[+-]?=(\S+)")
# OpenPGP (RFC 9580): a version 4 signature that certifies a key, up to its hash algorithm, and an armoured key.
_CERTIFICATION = re.compile(
    rb"(?s)(?:\x88.|\x89..|\x8a.{4}|\xc2(?:[\x00-\xbf]|[\xc0-\xdf].|\xff.{4}))\x04[\x10-\x13\x1f][\x01-\x1f](.)"
)
_ARMOURED = re.compile(rb"-----BEGIN PGP PUBLIC KEY BLOCK-----(?:\r?\n[^\r\n]+)*\r?\n\r?\n([A-Za-z0-9+/\s]+)")
_SHA1 = 2


def paragraphs(text: str) -> list[dict[str, str]]:
    """Split a deb822 text into paragraphs, with lower-case field names.

    A value with several lines keeps the blank at the start of each continuation line, so it can be written back.
    """
    rows: list[dict[str, str]] = []
    current: dict[str, str] = {}
    field = ""
    # dpkg and apt end lines only at a newline, unlike splitlines().
    for line in [*text.split("\n"), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if current:
                rows.append(current)
            current, field = {}, ""
        elif line[0] in " \t":
            if field:
                current[field] += "\n " + line.strip()
        elif ":" in line:
            name, _colon, value = line.partition(":")
            field = name.strip().lower()
            current[field] = value.strip()
    return rows


def _signed_by(value: str) -> str | None:
    if "BEGIN PGP" in value:
        return "inline"
    return ",".join(value.replace(",", " ").split()) or None


def parse_deb822_sources(file: str, text: str) -> list[dict[str, t.Any]]:
    """Parse a ``.sources`` file, including disabled entries."""
    rows = []
    for paragraph in paragraphs(text):
        uris = paragraph.get("uris", "").split()
        if not uris:
            continue
        rows.append(
            {
                "file": file,
                "enabled": paragraph.get("enabled", "yes").lower() not in ("no", "false", "0", "off", "without"),
                "types": paragraph.get("types", "deb").split(),
                "uris": uris,
                "suites": paragraph.get("suites", "").split(),
                "components": paragraph.get("components", "").split(),
                "signed_by": _signed_by(paragraph.get("signed-by", "")),
            }
        )
    return rows


def parse_one_line_sources(file: str, text: str) -> list[dict[str, t.Any]]:
    """Parse a ``.list`` file; commented-out entries are ignored because they cannot be told from prose."""
    rows = []
    for line in text.splitlines():
        line = line.split("#", 1)[0].strip()
        match = re.match(r"(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$", line)
        if not match:
            continue
        kind, options, uri, suite, components = match.groups()
        chosen = {name.lower(): value for name, value in _OPTION.findall(options or "")}
        rows.append(
            {
                "file": file,
                "enabled": True,
                "types": [kind],
                "uris": [uri],
                "suites": [suite],
                "components": components.split(),
                "signed_by": _signed_by(chosen.get("signed-by", "")),
            }
        )
    return rows


def parse_preferences(file: str, text: str) -> list[dict[str, t.Any]]:
    """Parse a preferences file into one row for each paragraph with a package, a pin and a priority."""
    rows = []
    for paragraph in paragraphs(text):
        package, pin = paragraph.get("package"), paragraph.get("pin")
        try:
            priority = int(paragraph.get("pin-priority", ""))
        except ValueError:
            continue
        if package and pin:
            rows.append({"file": file, "package": " ".join(package.split()), "pin": pin, "priority": priority})
    return rows


def certification_hashes(keyring: bytes) -> set[int]:
    """Return OpenPGP's numbers for the hash algorithms with which the keys in a keyring are certified."""
    texts = [b"".join(text.split()) for text in _ARMOURED.findall(keyring)]
    parts = [base64.b64decode(text[: len(text) // 4 * 4]) for text in texts] or [keyring]
    return {match[1][0] for part in parts for match in _CERTIFICATION.finditer(part)}


class Policy(t.NamedTuple):
    """The output of ``apt-cache policy`` for one name."""

    candidate: str | None
    versions: list[tuple[str, int]]  # (version, pin priority), newest first, including the installed version
    origins: dict[str, list[str]]  # the URIs of the sources for each version, without dpkg's own status


def parse_policy(text: str) -> dict[str, Policy]:
    """Parse the output of ``apt-cache policy NAME…``; names that apt does not know are left out."""
    policies: dict[str, Policy] = {}
    name = ""
    for line in text.splitlines():
        if head := re.match(r"^(\S[^ ]*):$", line):
            name = head.group(1)
            policies[name] = Policy(None, [], {})
        if not policies:
            continue
        policy = policies[name]
        row = re.match(r"^ (?:\*\*\*|   ) (\S+)(?: \(phased \d+%\))? (-?\d+)$", line)
        origin = re.match(r"^ {8,}\d+ (\S+)", line)
        if line.startswith("  Candidate: ") and not line.endswith(" (none)"):
            policies[name] = policy._replace(candidate=line.split(": ", 1)[1])
        elif row:
            policy.versions.append((row.group(1), int(row.group(2))))
        elif origin and policy.versions and origin.group(1) != f"{DPKG}/status":
            policy.origins.setdefault(policy.versions[-1][0], []).append(origin.group(1))
    return policies


class AptState:
    """Observe apt and dpkg on one host."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def sources(self) -> list[dict[str, t.Any]]:
        """Return every apt source, and whether its keyring exists (``None`` if it names none)."""
        rows = parse_one_line_sources("/etc/apt/sources.list", self.host.read("/etc/apt/sources.list") or "")
        folder = "/etc/apt/sources.list.d"
        for name in self.host.names(folder):
            file = f"{folder}/{name}"
            if not _PART_NAME.match(name):
                continue
            if name.endswith(".list"):
                rows += parse_one_line_sources(file, self.host.read(file) or "")
            elif name.endswith(".sources"):
                rows += parse_deb822_sources(file, self.host.read(file) or "")
        for row in rows:
            paths = [path for path in (row["signed_by"] or "").split(",") if path.startswith("/")]
            row["keyring_present"] = all(self.host.is_file(path) for path in paths) if paths else None
            row["keyring_sha1"] = any(
                certification_hashes(self.host.read_bytes(path) or b"") == {_SHA1} for path in paths
            )
        return rows

    def pins(self) -> list[dict[str, t.Any]]:
        """Return every pin, in the order in which apt reads them."""
        rows = []
        folder = "/etc/apt/preferences.d"
        for name in self.host.names(folder):
            # apt reads names without an extension or with .pref, and silently skips the others.
            if _PART_NAME.match(name) and ("." not in name or name.endswith(".pref")):
                rows += parse_preferences(f"{folder}/{name}", self.host.read(f"{folder}/{name}") or "")
        main = "/etc/apt/preferences"
        return parse_preferences(main, self.host.read(main) or "") + rows

    def offers(self, names: t.Sequence[str]) -> dict[str, list[str]]:
        """Return the available versions for each name, which are none for a name that apt does not know."""
        if not names:
            return {}
        offers: dict[str, list[str]] = {name: [] for name in names}
        status, stdout, stderr = self.host.run(["apt-cache", "policy", *names])
        if status != 0:
            self.host.note("apt-cache policy", stderr or f"exit status {status}")
        for name, policy in parse_policy(stdout).items():
            if name in offers:
                offers[name] = [
                    offer for offer, priority in policy.versions if priority >= 0 and offer in policy.origins
                ]
        return offers

    def lock_holder(self) -> dict[str, t.Any] | None:
        """Return the holder of one of apt's locks as ``pid``, ``command`` and ``file``, or ``None`` if they are free.

        The pid is 0 for a process outside this process namespace.
        """
        for file in LOCKS:
            pid = self._holder_by_fcntl(file)
            if pid is None:
                pid = self._holder_by_proc_locks(file)
            if pid is not None and pid >= 0:
                return {"pid": pid, "command": self._command_line(pid), "file": file}
        return None

    def _holder_by_fcntl(self, file: str) -> int | None:
        """Return the holder's process id from the kernel, without locking; -1 means none, ``None`` a failed query."""
        try:
            descriptor = os.open(self.host.path(file), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return -1
        except OSError:
            return None
        layout = "@hhqqi"  # struct flock on 64-bit Linux: type, whence, start, length, process id
        try:
            question = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, question)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        kind, _whence, _start, _length, pid = struct.unpack(layout, answer)
        return -1 if kind == fcntl.F_UNLCK else max(pid, 0)

    def _holder_by_proc_locks(self, file: str) -> int | None:
        """Look up the file's inode in ``/proc/locks``, because ordinary users cannot open dpkg's lock files."""
        try:
            inode = os.stat(self.host.path(file)).st_ino
        except OSError:
            return None
        for line in (self.host.read("/proc/locks") or "").splitlines():
            fields = line.split()
            # 1: POSIX ADVISORY WRITE 1234 fd:01:131 0 EOF; the second field is "->" for a waiting process.
            if len(fields) >= 8 and fields[1] == "POSIX" and fields[5].rsplit(":", 1)[-1] == str(inode):
                return max(int(fields[4]), 0)
        return None

    def _command_line(self, pid: int) -> str:
        if pid <= 0:
            return "a process outside this container"
        text = self.host.read(f"/proc/{pid}/cmdline") or ""
        return text.replace("\0", " ").strip() or "unknown"
