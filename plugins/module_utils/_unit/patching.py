# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase patch: unified diffs and text replacements on a source tree, all of them or none.

The files concerned are copied beside the tree and changed there, patches first, then edits, each in the order given;
only once everything has fitted are they moved into the tree. ``git apply`` judges the diffs: unlike ``patch`` it
accepts no fuzz, knows modes, renames and binary diffs, and leaves nothing half done.
"""

# Runs in the detached worker too, where there is no module to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import posixpath
import re
import shutil
import stat
import subprocess
import typing as t

from .._core import disk
from .._core.errors import SparkforgeError

Say = t.Callable[[str], None]

#: Matches whose lines an error names.
SHOWN_MATCHES = 10

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def apply(
    tree: str,
    patches: t.Sequence[t.Mapping[str, str]],
    edits: t.Sequence[t.Mapping[str, t.Any]],
    say: Say,
    environment: t.Mapping[str, str] | None = None,
) -> list[dict[str, t.Any]]:
    """Change the files of ``tree`` and return what was done to which of them.

    :param patches: ``{name, content}``, unified diffs whose paths begin with ``a/`` and ``b/`` (-p1).
    :param edits: ``{path, match, replace}``, and ``count`` (1): how often ``match`` must be found, ``regex`` (False):
        whether it is a Python regular expression, with ``^`` and ``$`` at each line, and ``name``.
    :param environment: where ``PATH`` leads to git.
    :returns: ``{"patch": name, "file": path, "change": "modified" | "created" | "deleted"}`` and
        ``{"edit": name, "file": path, "matches": count}``.
    :raises SparkforgeError: if one does not fit; the tree is then as it was.
    """
    if not patches and not edits:
        return []
    tree = os.path.realpath(tree)
    wanted = [_Edit.of(edit) for edit in edits]
    parent, name = os.path.split(tree)
    beside = os.path.join(parent, f".{name}.patching")
    done: list[dict[str, t.Any]] = []
    try:
        disk.remove(beside)  # of a run that was killed
        os.mkdir(beside, 0o700)
        try:
            copies = _Copies(tree, beside)
            for patch in patches:
                done += _Patch(patch["name"], patch["content"], copies, environment or os.environ, say).apply()
            for edit in wanted:
                done.append(edit.apply(copies))
            copies.move()
        finally:
            disk.remove(beside)
    except OSError as error:
        raise SparkforgeError(
            f"The sources in {tree} cannot be changed: {error.strerror or error}.",
            "Make sure that the build user can write there and that the file system has free space; run again.",
            path=error.filename,
        ) from error
    for step in done:
        what, how = ("patch", step["change"]) if "patch" in step else ("edit", f"{step['matches']} replaced")
        say(f"{what} {step[what]}: {step['file']} ({how})")
    return done


def contents_digest(
    patches: t.Sequence[t.Mapping[str, str]], edits: t.Sequence[t.Mapping[str, t.Any]]
) -> dict[str, str]:
    """Return a name and a sha256 for each patch and edit, and their order: an input of the fingerprint."""
    found: dict[str, str] = {}

    def add(name: str, content: bytes) -> None:
        number, unique = 1, name
        while unique in found:
            number += 1
            unique = f"{name} ({number})"
        found[unique] = hashlib.sha256(content).hexdigest()

    for patch in patches:
        add(f"patch {patch['name']}", _bytes(patch["content"]))
    for edit in edits:
        one = _Edit.of(edit)
        # Where and what, not how it is called.
        content = json.dumps([one.path, one.match, one.replace, one.count, one.regex])
        add(f"edit {one.name}", content.encode("ascii"))
    if len(found) > 1:
        found["order"] = ", ".join(found)
    return found


class _Copies:
    """The files that are being changed, as copies in a directory that nothing refers to."""

    def __init__(self, tree: str, directory: str) -> None:
        self.tree = tree
        self.directory = directory
        #: path -> content and mode that it has in the tree; mode 0 where it is not there.
        self.before: dict[str, tuple[bytes | None, int]] = {}

    def add(self, path: str, what: str) -> str:
        """Copy the file ``path`` unless that was done; return the path, normalised.

        :param what: "The patch …" or "The edit …", for messages.
        :raises SparkforgeError: if it does not lie in the tree.
        """
        path = self.checked(path, what)
        if path in self.before:
            return path
        origin, copy = os.path.join(self.tree, path), os.path.join(self.directory, path)
        try:
            mode = os.lstat(origin).st_mode
        except (FileNotFoundError, NotADirectoryError):
            self.before[path] = (None, 0)
            return path
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            raise SparkforgeError(
                f"{what} changes {path}, which is not a file.",
                "Name a file of the source; those of a submodule are below its path.",
            )
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copyfile(origin, copy, follow_symlinks=False)
        if stat.S_ISREG(mode):
            # git tells modes apart by this bit alone, and must be able to write.
            os.chmod(copy, 0o755 if mode & 0o100 else 0o644)
        self.before[path] = (self.content(path), mode)
        return path

    def checked(self, path: str, what: str) -> str:
        plain = posixpath.normpath(path) if path else ""
        parts = plain.split("/")
        if not plain or plain == "." or plain.startswith("/") or ".." in parts or "\0" in plain:
            raise SparkforgeError(
                f"{what} changes {path!r}, which is outside the source.",
                "Use a path below the top of the source; a patch's paths start with a/ and b/ (-p1).",
            )
        if any(part.lower() == ".git" for part in parts):
            raise SparkforgeError(f"{what} changes {path!r}, which belongs to git.", "Change only files of the source.")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if os.path.isfile(os.path.join(self.tree, parent)) and not os.path.islink(os.path.join(self.tree, parent)):
                self.add(parent, what)  # so that git sees that it is no directory
            for root in (self.tree, self.directory):
                if os.path.islink(os.path.join(root, parent)):
                    target = os.path.realpath(os.path.join(root, parent))
                    inside = target.startswith(root + "/")
                    real = os.path.relpath(target, root)
                    raise SparkforgeError(
                        f"{what} changes {path!r} through the symlink {parent}"
                        + (f" to {real}." if inside else ", which points outside the source."),
                        f"Name the file as {real}/{'/'.join(parts[depth:])}." if inside else "Do not use it.",
                    )
        return plain

    def exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.directory, path))

    def content(self, path: str) -> bytes | None:
        """Return what the copy holds, None if there is none; of a symlink its target."""
        copy = os.path.join(self.directory, path)
        if os.path.islink(copy):
            return os.fsencode(os.readlink(copy))
        try:
            with open(copy, "rb") as stream:
                return stream.read()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def state(self) -> dict[str, tuple[bytes | None, int]]:
        """Return content and mode of each copy."""
        found: dict[str, tuple[bytes | None, int]] = {}
        for path in self.before:
            copy = os.path.join(self.directory, path)
            found[path] = (self.content(path), os.lstat(copy).st_mode if os.path.lexists(copy) else 0)
        return found

    def move(self) -> None:
        """Put the copies into the tree; from here on only the disk can say no."""
        after = self.state()
        changed = {
            path: mode for path, (content, mode) in self.before.items() if not _same(after[path], (content, mode))
        }
        for path, mode in changed.items():
            if mode and not after[path][1]:
                os.unlink(os.path.join(self.tree, path))
        for path, mode in changed.items():
            copy, target = os.path.join(self.directory, path), os.path.join(self.tree, path)
            if after[path][1]:
                if not os.path.islink(copy):
                    os.chmod(copy, _mode(after[path][1], mode))
                self.make_directory(os.path.dirname(target))
                os.replace(copy, target)
            elif mode:
                self.prune(os.path.dirname(target))

    def make_directory(self, path: str) -> None:
        if not os.path.isdir(path):
            self.make_directory(os.path.dirname(path))
            os.mkdir(path)
            os.chmod(path, 0o755)  # noqa: S103 - sources are no secret

    def prune(self, path: str) -> None:
        """Remove the directories that a deletion emptied, as git does."""
        with contextlib.suppress(OSError):
            while path != self.tree:
                os.rmdir(path)
                path = os.path.dirname(path)


def _same(one: tuple[bytes | None, int], other: tuple[bytes | None, int]) -> bool:
    """Compare content, kind and whether the file is executable, as git does."""
    return one[0] == other[0] and stat.S_IFMT(one[1]) == stat.S_IFMT(other[1]) and not (one[1] ^ other[1]) & 0o100


def _mode(copy: int, before: int) -> int:
    """Return the mode of a changed file: the one that it had, unless a patch changed whether it is executable."""
    executable = bool(copy & 0o100)
    if not stat.S_ISREG(before):
        return 0o755 if executable else 0o644
    mode = stat.S_IMODE(before)
    if bool(mode & 0o100) == executable:
        return mode
    # Executable by whom it is readable.
    return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111


# --- patches ---


@dataclasses.dataclass(frozen=True)
class _Hunk:
    """A hunk of a unified diff.

    :param line: where it begins in the old file, from 1.
    :param old: the lines that the old file must have there.
    """

    path: str
    number: int
    line: int
    old: list[str]


class _Patch:
    """One unified diff."""

    def __init__(self, name: str, content: str, copies: _Copies, environment: t.Mapping[str, str], say: Say) -> None:
        self.name = name
        self.label = f"The patch {name}"
        # YAML and Ansible's file lookup take line ends away at the end, and with them an empty line of context or the
        # one that ends a binary diff; more of them do no harm.
        self.content = _bytes(content + ("\n" if content.endswith("\n") else "\n\n"))
        self.copies = copies
        self.say = say
        self.environment = {
            "PATH": environment.get("PATH", os.defpath),
            "LC_ALL": "C",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            # A repository above is none of ours: its settings and attributes must not count.
            "GIT_CEILING_DIRECTORIES": os.path.dirname(copies.directory),
        }

    def apply(self) -> list[dict[str, t.Any]]:
        """Apply it to the copies and return what became of which file."""
        paths = [self.copies.add(path, self.label) for path in self.paths()]
        before = self.copies.state()
        done = self.git("--verbose")
        if done.returncode:
            raise self.failure(done.stderr.decode("utf-8", "surrogateescape"))
        for line in done.stderr.decode("utf-8", "replace").splitlines():
            if "offset" in line:
                self.say(f"patch {self.name}: {line}")
        after = self.copies.state()
        steps = []
        for path in sorted({*paths}):
            if _same(before[path], after[path]):
                continue
            self.check_symlink(path)
            change = "created" if not before[path][1] else "modified" if after[path][1] else "deleted"
            steps.append({"patch": self.name, "file": path, "change": change})
        return steps

    def paths(self) -> list[str]:
        """Return every path that it reads or writes, as git understands it."""
        done = self.git("--numstat", "-z")
        # git skips a binary diff that is damaged, says so, and ends with 0.
        if done.returncode or re.search(rb"^(?:error|fatal):", done.stderr, re.M):
            line = _line(done.stderr.decode("utf-8", "replace"))
            raise SparkforgeError(
                f"{self.label} is not a unified diff: {line}.",
                "Create it with git diff or git format-patch, and keep every character, including trailing spaces.",
                patch=self.name,
            )
        paths = [
            entry.split("\t", 2)[2]
            for entry in done.stdout.decode("utf-8", "surrogateescape").split("\0")
            if entry.count("\t") >= 2
        ]
        # What a renamed file was called before is not among them. A line of a hunk begins with none of these letters.
        for line in _lines(self.content):
            found = re.match(r"(?:rename|copy) from (.+?)\r?$", line)
            if found:
                paths.append(_unquoted(found[1]))
        return paths

    def check_symlink(self, path: str) -> None:
        copy = os.path.join(self.copies.directory, path)
        if not os.path.islink(copy):
            return
        target = os.readlink(copy)
        if target.startswith("/") or posixpath.normpath(posixpath.join(posixpath.dirname(path), target)).startswith(
            ".."
        ):
            raise SparkforgeError(
                f"{self.label} makes the symlink {path} to {target!r}, which points outside the source.",
                "Do not use it.",
            )

    def git(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", "apply", "--whitespace=nowarn", "-p1", *options, "-"],
                input=self.content, cwd=self.copies.directory, env=self.environment, capture_output=True, check=False,
                umask=0o022,
            )  # fmt: skip
        except FileNotFoundError:
            raise SparkforgeError(
                f"git is not on the PATH {self.environment['PATH']}.",
                "Run the role build_toolchain, which installs it.",
            ) from None

    def failure(self, output: str) -> SparkforgeError:
        """Say which hunk of which file does not fit, and what it expected."""
        details: dict[str, t.Any] = {"patch": self.name, "output": "\n".join(_shown(output.splitlines()))[-4000:]}
        if self.git("--reverse", "--check").returncode == 0:
            return SparkforgeError(
                f"{self.label} does not apply: the source already has its changes.",
                "Remove the patch for this version of the source.",
                **details,
            )
        windows = " It has Windows line endings (CRLF), but the source may not." if b"\r\n" in self.content else ""
        remedy = f"Recreate the patch from this version of the source.{windows}"
        hunks = list(_hunks(self.content))
        for found in re.finditer(r"^error: patch failed: (.*):(\d+)$", output, re.M):
            path, line = found[1], int(found[2])
            details["file"] = path
            for hunk in hunks:
                if (hunk.path, hunk.line) == (path, line):
                    return self.misfit(hunk, sum(one.path == path for one in hunks), details, remedy)
            return SparkforgeError(f"{self.label} does not apply at line {line} of {path}.", remedy, **details)
        reason = _line(output)
        missing = re.match(r"(.*): No such file or directory$", reason)
        if missing:
            details["file"] = missing[1]
            return SparkforgeError(
                f"{self.label} does not apply: the source has no file {missing[1]}.",
                f"{remedy} Its paths must start with a/ and b/ (-p1), relative to the top of the source.",
                **details,
            )
        exists = re.match(r"(.*): already exists in working directory$", reason)
        if exists:
            details["file"] = exists[1]
            reason = f"it creates {exists[1]}, which the source already has"
        return SparkforgeError(f"{self.label} does not apply: {reason}.", remedy, **details)

    def misfit(self, hunk: _Hunk, of: int, details: dict[str, t.Any], remedy: str) -> SparkforgeError:
        text = _lines(self.copies.content(hunk.path) or b"")
        start = _nearest(text, hunk.old, hunk.line - 1)
        there = text[start : start + len(hunk.old)]
        details.update(hunk=hunk.number, line=hunk.line, expected=_shown(hunk.old), found=_shown(there))
        for offset, expected in enumerate(hunk.old):
            actual = there[offset] if offset < len(there) else None
            if actual != expected:
                found = f"line {start + offset + 1} is {actual!r}" if actual is not None else "the file ends"
                break
        else:  # they are there, and not where the hunk may be: at the file's beginning or end
            expected, found = hunk.old[0] if hunk.old else "", f"it is found only at line {start + 1}"
        return SparkforgeError(
            f"{self.label} does not apply: hunk {hunk.number} of {of} in {hunk.path} expects {expected!r} near line "
            f"{hunk.line}, where {found}.",
            remedy,
            **details,
        )


def _hunks(content: bytes) -> t.Iterator[_Hunk]:
    """Return the hunks of a unified diff whose paths have one component too many (-p1)."""
    path, number = "", 0
    lines = iter(_lines(content))
    for line in lines:
        if line.startswith(("--- ", "+++ ")):
            name = _unquoted(line[4:].rstrip("\r").partition("\t")[0])
            if name != "/dev/null":
                path, number = name.partition("/")[2], 0
            continue
        found = _HUNK.match(line)
        if not found:
            continue
        number += 1
        old, new = (int(found[group]) if found[group] is not None else 1 for group in (2, 4))
        expected: list[str] = []
        # What looks like a header within a hunk is a line of it.
        while old > 0 or new > 0:
            line = next(lines, None)  # type: ignore[assignment]
            if line is None:
                break
            if not line.startswith(("+", "\\")):
                expected.append(line[1:])
                old -= 1
            if not line.startswith(("-", "\\")):
                new -= 1
        yield _Hunk(path, number, int(found[1]), expected)


def _nearest(text: t.Sequence[str], wanted: t.Sequence[str], line: int) -> int:
    """Return where ``text`` is most like ``wanted``: the index of the first line."""
    line = max(0, min(line, len(text) - 1))
    best, score = line, 0
    for start in range(max(1, len(text) - len(wanted) + 1)):
        equal = sum(one == other and bool(one.strip()) for one, other in zip(text[start : start + len(wanted)], wanted))
        if equal > score or (equal == score and equal and abs(start - line) < abs(best - line)):
            best, score = start, equal
    return best


# --- edits ---


@dataclasses.dataclass(frozen=True)
class _Edit:
    """A replacement in one file."""

    name: str
    path: str
    match: str
    replace: str
    count: int
    regex: bool

    @classmethod
    def of(cls, given: t.Mapping[str, t.Any]) -> _Edit:
        """Check what was given.

        :raises SparkforgeError: if it can fit no file.
        """
        path, match, replace = (given.get(key) for key in ("path", "match", "replace"))
        name = str(given.get("name") or path)
        for key, value in (("path", path), ("match", match), ("replace", replace)):
            if not isinstance(value, str) or (not value and key != "replace"):
                raise SparkforgeError(
                    f"The edit {name} has no {key}.", f"Set {key}: an edit has path, match and replace."
                )
        count, regex = given.get("count"), bool(given.get("regex"))
        count = 1 if count is None else int(count)
        if count < 1:
            raise SparkforgeError(
                f"The edit {name} requires {count} matches.", "Set the number of matches that it must find, 1 or more."
            )
        if regex:
            try:
                re.compile(str(match), re.M)
            except re.error as error:
                raise SparkforgeError(
                    f"The edit {name} has no valid regular expression: {error}.",
                    "Correct match; without regex: true it is plain text.",
                ) from error
        return cls(name, str(path), str(match), str(replace), count, regex)

    def apply(self, copies: _Copies) -> dict[str, t.Any]:
        """Replace in the copy and return what was done."""
        label = f"The edit {self.name}"
        path = copies.add(self.path, label)
        copy = os.path.join(copies.directory, path)
        if os.path.islink(copy):
            raise SparkforgeError(
                f"{label} changes {path}, which is a symlink to {os.readlink(copy)}.", "Name the link's target."
            )
        content = copies.content(path)
        if content is None:
            raise SparkforgeError(
                f"{label} changes {path}, which the source does not have.",
                "Correct path: it is relative to the top of the source.",
                path=path,
            )
        # Lossless, whatever the bytes are.
        text = content.decode("utf-8", "surrogateescape")
        pattern = re.compile(self.match if self.regex else re.escape(self.match), re.M)
        matches = list(pattern.finditer(text))
        if len(matches) != self.count:
            raise self.miscount(label, path, text, matches)
        try:
            text = pattern.sub(self.replace if self.regex else lambda _found: self.replace, text)
        except (re.error, IndexError) as error:
            raise SparkforgeError(
                f"{label} has a replacement that does not fit its expression: {error}.",
                r"Refer to groups of match as \1 or \g<name>; a literal backslash is \\.",
            ) from error
        with open(copy, "r+b") as stream:
            stream.write(_bytes(text))
            stream.truncate()
        return {"edit": self.name, "file": path, "matches": len(matches)}

    def miscount(self, label: str, path: str, text: str, matches: t.Sequence[t.Match[str]]) -> SparkforgeError:
        lines = [text.count("\n", 0, found.start()) + 1 for found in matches]
        wanted = "1 match" if self.count == 1 else f"{self.count} matches"
        details: dict[str, t.Any] = {"path": path, "match": self.match, "count": self.count, "lines": lines}
        if matches:
            places = ", ".join(map(str, lines[:SHOWN_MATCHES])) + (", …" if len(lines) > SHOWN_MATCHES else "")
            return SparkforgeError(
                f"{label} wants {wanted} in {path} but finds {len(matches)}, in line {places}.",
                "Add more of the surrounding text to match, or correct count.",
                **details,
            )
        hint = ""
        if not self.regex:
            there, wanted_lines = text.splitlines(), self.match.splitlines()
            start = _nearest([line.strip() for line in there], [line.strip() for line in wanted_lines], 0)
            near = there[start : start + len(wanted_lines)]
            if any(one.strip() and one.strip() == other.strip() for one, other in zip(near, wanted_lines)):
                details["found"] = _shown(near)
                unlike = [
                    (number, one, other)
                    for number, (one, other) in enumerate(zip(near, wanted_lines), start + 1)
                    if one != other
                ]
                if unlike:
                    hint = f"; the nearest text differs in line {unlike[0][0]}: {unlike[0][1]!r}"
                elif "\r\n" in text:
                    hint = "; the file has Windows line endings (CRLF)"
        return SparkforgeError(
            f"{label} wants {wanted} of {_short(self.match)} in {path} but finds none{hint}.",
            "Copy the text from this version of the source, including spaces; if upstream has made the change, remove "
            "the edit.",
            **details,
        )


# --- text ---


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _lines(content: bytes) -> list[str]:
    """Return the lines without their line feeds; str.splitlines knows too many ends of a line."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _shown(lines: t.Iterable[str]) -> list[str]:
    """Return ``lines`` as any output can have them."""
    return [_bytes(line).decode("utf-8", "replace") for line in lines]


def _line(output: str) -> str:
    """Return the first line of git's that says what is wrong."""
    lines = [line for line in output.splitlines() if line.startswith(("error:", "fatal:"))] or output.splitlines()
    return re.sub(r"^(?:error|fatal): ", "", lines[0] if lines else "no output from git").rstrip(".")


def _short(text: str) -> str:
    line, more, _rest = text.strip().partition("\n")
    return repr(line[:80]) + (" …" if more or len(line) > 80 else "")


def _unquoted(name: str) -> str:
    """Return a path as git means it: in quotes, with C's escapes, where it has odd characters."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    escapes = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}

    def replaced(found: t.Match[bytes]) -> bytes:
        code = found[1].decode("ascii", "replace")
        return bytes([int(code, 8) & 255 if code[0].isdigit() else escapes.get(code, ord(code))])

    return re.sub(rb"\\([0-7]{3}|.)", replaced, _bytes(name[1:-1])).decode("utf-8", "surrogateescape")
