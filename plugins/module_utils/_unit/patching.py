# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase patch: unified diffs and text replacements on a source tree, all of them or none.

``git apply`` judges and applies the diffs: unlike ``patch`` it accepts no fuzz, knows modes, renames and binary diffs,
stays in the tree, and does all of a diff or nothing. Where a later diff or an edit does not fit, those before it are
reversed.
"""

# Runs in the detached worker too, where there is no module to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import posixpath
import re
import stat
import subprocess
import typing as t

from .._core import disk
from .._core.errors import SparkforgeError

Say = t.Callable[[str], None]

#: Matches whose lines an error names.
SHOWN_MATCHES = 10


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
    :raises SparkforgeError: if one does not fit; the contents of the tree are then as they were.
    """
    if not patches and not edits:
        return []
    tree = os.path.realpath(tree)
    wanted = [_Edit.of(edit) for edit in edits]
    done: list[dict[str, t.Any]] = []
    applied: list[_Patch] = []
    try:
        try:
            for patch in patches:
                one = _Patch(patch["name"], patch["content"], tree, environment or os.environ, say)
                done += one.apply()
                applied.append(one)
            contents: dict[str, bytes] = {}
            done += [edit.apply(tree, contents) for edit in wanted]
        except SparkforgeError:
            for one in reversed(applied):
                one.git("--reverse")
            raise
        for path, content in contents.items():
            place = os.path.join(tree, path)
            disk.write_file(place, content, stat.S_IMODE(os.stat(place).st_mode))
    except OSError as error:
        raise SparkforgeError(
            f"The sources in {tree} cannot be changed: {error.strerror or error}.",
            "Make sure that the build user can write there and that the file system has free space; run again.",
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


class _Patch:
    """One unified diff."""

    def __init__(self, name: str, content: str, tree: str, environment: t.Mapping[str, str], say: Say) -> None:
        self.name = name
        self.label = f"The patch {name}"
        # YAML and Ansible's file lookup remove line ends at the end, and with them an empty line of context or the
        # one that ends a binary diff; more of them do no harm.
        self.content = _bytes(content + ("\n" if content.endswith("\n") else "\n\n"))
        self.tree = tree
        self.say = say
        self.environment = {
            "PATH": environment.get("PATH", os.defpath),
            "LC_ALL": "C",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            # Settings and attributes of a repository, be it the sources' own, must not count.
            "GIT_DIR": os.devnull,
        }

    def apply(self) -> list[dict[str, t.Any]]:
        """Apply it and return what became of which file."""
        paths = self.paths()
        before = [self.exists(path) for path in paths]
        done = self.git("--verbose")
        if done.returncode:
            raise self.failure(done.stderr.decode("utf-8", "surrogateescape"))
        for line in done.stderr.decode("utf-8", "replace").splitlines():
            if "offset" in line:
                self.say(f"patch {self.name}: {line}")
        steps = []
        for path, existed in zip(paths, before):
            self.check_symlink(path)
            change = "modified" if existed and self.exists(path) else "deleted" if existed else "created"
            steps.append({"patch": self.name, "file": path, "change": change})
        return steps

    def exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.tree, path))

    def paths(self) -> list[str]:
        """Return every path that it reads or writes, as git understands it."""
        done = self.git("--numstat", "-z")
        # git skips a binary diff that is damaged, says so, and ends with 0.
        if done.returncode or re.search(rb"^(?:error|fatal):", done.stderr, re.M):
            line = _line(done.stderr.decode("utf-8", "replace"))
            raise SparkforgeError(
                f"{self.label} is not a unified diff: {line}.",
                "Create it with git diff or git format-patch, and keep every character, including trailing spaces.",
            )
        text = done.stdout.decode("utf-8", "surrogateescape")
        paths = {entry.split("\t", 2)[2] for entry in text.split("\0") if entry.count("\t") >= 2}
        # The former name of a renamed file is not among them; the reverse of the diff has it.
        text = self.git("--numstat", "-z", "--reverse").stdout.decode("utf-8", "surrogateescape")
        paths |= {entry.split("\t", 2)[2] for entry in text.split("\0") if entry.count("\t") >= 2}
        return sorted(paths)

    def check_symlink(self, path: str) -> None:
        place = os.path.join(self.tree, path)
        if not os.path.islink(place):
            return
        target = os.readlink(place)
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if target.startswith("/") or inside.startswith(".."):
            self.git("--reverse")
            raise SparkforgeError(
                f"{self.label} makes the symlink {path} to {target!r}, which points outside the source.",
                "Do not use it.",
            )

    def git(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", "apply", "--whitespace=nowarn", "-p1", *options, "-"],
                input=self.content, cwd=self.tree, env=self.environment, capture_output=True, check=False, umask=0o022,
            )  # fmt: skip
        except FileNotFoundError:
            raise SparkforgeError(
                f"git is not on the PATH {self.environment['PATH']}.",
                "Run the role build_toolchain, which installs it.",
            ) from None

    def failure(self, output: str) -> SparkforgeError:
        """Say what does not fit, in git's words, and which line the patch expects in vain."""
        shown = output.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[-4000:]
        if self.git("--reverse", "--check").returncode == 0:
            return SparkforgeError(
                f"{self.label} does not apply: the source already has its changes.",
                "Remove the patch for this version of the source.",
                output=shown,
            )
        windows = " It has Windows line endings (CRLF), but the source may not." if b"\r\n" in self.content else ""
        remedy = f"Recreate the patch from this version of the source.{windows}"
        found = re.search(r"^error: while searching for:\n(.*?)^error: patch failed: (.*):(\d+)$", output, re.M | re.S)
        if not found:
            hint = " Its paths must start with a/ and b/ (-p1), relative to the top of the source."
            return SparkforgeError(f"{self.label} does not apply: {_line(output)}.", remedy + hint, output=shown)
        expected, path, line = found[1].rstrip("\n").split("\n"), found[2], int(found[3])
        with open(os.path.join(self.tree, path), "rb") as stream:
            there = set(stream.read().decode("utf-8", "surrogateescape").split("\n"))
        missing = next((text for text in expected if text not in there), None)
        why = "does not fit there" if missing is None else f"expects {missing!r}, a line that the file does not have"
        return SparkforgeError(
            f"{self.label} does not apply: its hunk at line {line} of {path} {why}.", remedy, output=shown
        )


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

    def checked(self, tree: str) -> str:
        """Return the path of its file in ``tree``, normalised.

        :raises SparkforgeError: if it is no file of the source's own.
        """
        label, plain = f"The edit {self.name}", posixpath.normpath(self.path)
        parts = plain.split("/")
        if plain == "." or plain.startswith("/") or ".." in parts or "\0" in plain:
            raise SparkforgeError(
                f"{label} changes {self.path!r}, which is outside the source.",
                "Use a path below the top of the source.",
            )
        if any(part.lower() == ".git" for part in parts):
            raise SparkforgeError(
                f"{label} changes {plain!r}, which belongs to git.", "Change only files of the source."
            )
        place = os.path.join(tree, plain)
        real = os.path.realpath(place)
        if real != place:
            inside = real.startswith(tree + "/")
            raise SparkforgeError(
                f"{label} changes {plain!r} through a symlink to {real[len(tree) + 1 :] if inside else real}.",
                f"Name the file as {real[len(tree) + 1 :]}." if inside else "Do not use it.",
            )
        if os.path.lexists(place) and not os.path.isfile(place):
            raise SparkforgeError(
                f"{label} changes {plain}, which is not a file.",
                "Name a file of the source; those of a submodule are below its path.",
            )
        return plain

    def apply(self, tree: str, contents: dict[str, bytes]) -> dict[str, t.Any]:
        """Replace in ``contents``, which has what edits before made of files, and return what was done."""
        label = f"The edit {self.name}"
        path = self.checked(tree)
        if path not in contents:
            try:
                with open(os.path.join(tree, path), "rb") as stream:
                    contents[path] = stream.read()
            except (FileNotFoundError, NotADirectoryError):
                raise SparkforgeError(
                    f"{label} changes {path}, which the source does not have.",
                    "Correct path: it is relative to the top of the source.",
                ) from None
        # Lossless, whatever the bytes are.
        text = contents[path].decode("utf-8", "surrogateescape")
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
        contents[path] = _bytes(text)
        return {"edit": self.name, "file": path, "matches": len(matches)}

    def miscount(self, label: str, path: str, text: str, matches: t.Sequence[t.Match[str]]) -> SparkforgeError:
        lines = [text.count("\n", 0, found.start()) + 1 for found in matches]
        wanted = "1 match" if self.count == 1 else f"{self.count} matches"
        if matches:
            places = ", ".join(map(str, lines[:SHOWN_MATCHES])) + (", …" if len(lines) > SHOWN_MATCHES else "")
            return SparkforgeError(
                f"{label} wants {wanted} in {path} but finds {len(matches)}, in line {places}.",
                "Add more of the surrounding text to match, or correct count.",
            )
        hint = ""
        if not self.regex and self.match.strip():
            first = self.match.strip().splitlines()[0].strip()
            near = [number for number, line in enumerate(text.splitlines(), 1) if first == line.strip()]
            if near:
                hint = f"; its first line is in line {near[0]}, but what follows or the spaces differ"
            if near and "\r\n" in text:
                hint = "; the file has Windows line endings (CRLF)"
        return SparkforgeError(
            f"{label} wants {wanted} of {_short(self.match)} in {path} but finds none{hint}.",
            "Copy the text from this version of the source, including spaces; if upstream has made the change, remove "
            "the edit.",
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _line(output: str) -> str:
    """Return the first line of git's that says what is wrong."""
    lines = [line for line in output.splitlines() if line.startswith(("error:", "fatal:"))] or output.splitlines()
    return re.sub(r"^(?:error|fatal): ", "", lines[0] if lines else "no output from git").rstrip(".")


def _short(text: str) -> str:
    line, more, _rest = text.strip().partition("\n")
    return repr(line[:80]) + (" …" if more or len(line) > 80 else "")
