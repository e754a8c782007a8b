"""The patch phase: unified diffs through ``git apply``, and exact-text replacements.

``git apply`` accepts no fuzz, stays inside the tree, and applies a diff completely or not at all. Edits are written
once all of them match. If one fails, the patches before it remain applied; the next attempt fetches the sources again
(``_unit.resume``).
"""

# This also runs in the detached worker, which has no AnsibleModule to run commands.
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

#: The maximum number of matches whose line numbers an error lists.
SHOWN_MATCHES = 10


def apply(
    tree: str,
    patches: t.Sequence[t.Mapping[str, str]],
    edits: t.Sequence[t.Mapping[str, t.Any]],
    say: t.Callable[[str], None],
) -> list[dict[str, t.Any]]:
    """Change the files in ``tree`` and return which patch or edit changed which file.

    :param patches: ``{name, content}``, unified diffs whose paths begin with ``a/`` and ``b/`` (-p1).
    :param edits: ``{path, match, replace}`` and optionally ``count`` (1), how often ``match`` must occur, and ``name``.
    :returns: ``{"patch": name, "file": path}`` and ``{"edit": name, "file": path, "matches": count}``.
    :raises SparkforgeError: for the first patch or edit that does not apply.
    """
    tree = os.path.realpath(tree)
    applied: list[dict[str, t.Any]] = []
    try:
        for patch in patches:
            for file in _apply_patch(tree, patch["name"], patch["content"], say):
                applied.append({"patch": patch["name"], "file": file})
        contents: dict[str, bytes] = {}
        for edit in [_Edit.of(edit) for edit in edits]:
            applied.append(edit.apply(tree, contents))
            say(f"edit {edit.name}: {applied[-1]['file']} ({applied[-1]['matches']} replaced)")
        for path, content in contents.items():
            file = os.path.join(tree, path)
            disk.write_file(file, content, stat.S_IMODE(os.stat(file).st_mode))
    except OSError as error:
        raise SparkforgeError(
            f"The sources in {tree} cannot be changed: {error.strerror or error}.",
            "Make sure that the build user can write there and that the file system has free space; run again.",
        ) from error
    return applied


def contents_digest(
    patches: t.Sequence[t.Mapping[str, str]], edits: t.Sequence[t.Mapping[str, t.Any]]
) -> dict[str, str]:
    """Return a name and a sha256 for each patch and edit, and their order: an input of the fingerprint."""
    digests: dict[str, str] = {}

    def add(name: str, content: bytes) -> None:
        number, unique = 1, name
        while unique in digests:
            number += 1
            unique = f"{name} ({number})"
        digests[unique] = hashlib.sha256(content).hexdigest()

    for patch in patches:
        add(f"patch {patch['name']}", _bytes(patch["content"]))
    for edit in edits:
        checked = _Edit.of(edit)
        # The edit's name is not an input. The last item is a constant that keeps existing fingerprints unchanged.
        content = json.dumps([checked.path, checked.match, checked.replace, checked.count, False])
        add(f"edit {checked.name}", content.encode("ascii"))
    if len(digests) > 1:
        digests["order"] = ", ".join(digests)
    return digests


def _apply_patch(tree: str, name: str, text: str, say: t.Callable[[str], None]) -> list[str]:
    # YAML and Ansible's file lookup strip trailing newlines, and with them an empty context line or the empty line that
    # terminates a binary diff. Extra newlines do no harm.
    content = _bytes(text + ("\n" if text.endswith("\n") else "\n\n"))
    numstat = _git(tree, content, "--numstat", "-z")
    # git skips a damaged binary diff with a message but exits with 0.
    if numstat.returncode or re.search(rb"^(?:error|fatal):", numstat.stderr, re.M):
        raise SparkforgeError(
            f"The patch {name} is not a unified diff: {_line(numstat.stderr)}.",
            "Create it with git diff or git format-patch, and keep every character, including trailing spaces.",
        )
    applied = _git(tree, content, "--verbose")
    messages = applied.stderr.decode("utf-8", "replace")
    if applied.returncode == 0:
        for line in messages.splitlines():
            say(f"patch {name}: {line}")
        rows = numstat.stdout.decode("utf-8", "surrogateescape").split("\0")
        return [row.split("\t", 2)[2] for row in rows if row]
    remedy = "Recreate the patch from this version of the source."
    hunk = re.search(r"^error: patch failed: (.*):(\d+)$", messages, re.M)
    if _git(tree, content, "--reverse", "--check").returncode == 0:
        reason = "the source already has its changes"
        remedy = "Remove the patch for this version of the source."
    elif hunk:
        reason = f"its hunk at line {hunk[2]} of {hunk[1]} does not fit there"
    else:
        reason = _line(applied.stderr)
        remedy += " Its paths must start with a/ and b/ (-p1), relative to the top of the source."
    if b"\r\n" in content:
        remedy += " It has Windows line endings (CRLF), but the source may not."
    # git's output includes the lines that it looked for.
    raise SparkforgeError(f"The patch {name} does not apply: {reason}.", remedy, output=messages[-4000:])


def _git(tree: str, content: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        # Ignore the settings and attributes of any repository, including the sources' own. In a subdirectory of a
        # repository, git would also silently skip changes to files outside that subdirectory.
        "GIT_DIR": os.devnull,
    }
    try:
        return subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-p1", *options, "-"],
            input=content, cwd=tree, env=variables, capture_output=True, check=False, umask=0o022,
        )  # fmt: skip
    except FileNotFoundError:
        raise SparkforgeError(
            f"git is not on the PATH {variables['PATH']}.", "Run the role build_toolchain, which installs it."
        ) from None


@dataclasses.dataclass(frozen=True)
class _Edit:
    name: str
    path: str
    match: str
    replace: str
    count: int

    @classmethod
    def of(cls, options: t.Mapping[str, t.Any]) -> _Edit:
        """Return the edit that ``options`` describe.

        :raises SparkforgeError: if it cannot match in any file.
        """
        path, match, replace = (options.get(key) for key in ("path", "match", "replace"))
        name = str(options.get("name") or path)
        for key, value in (("path", path), ("match", match), ("replace", replace)):
            if not isinstance(value, str) or (not value and key != "replace") or (key == "path" and "\0" in value):
                raise SparkforgeError(
                    f"The edit {name} has no {key}.", f"Set {key}: an edit has path, match and replace."
                )
        count = options.get("count")
        count = 1 if count is None else int(count)
        if count < 1:
            raise SparkforgeError(
                f"The edit {name} requires {count} matches.", "Set the number of matches that it must find, 1 or more."
            )
        return cls(name, str(path), str(match), str(replace), count)

    def file_in(self, tree: str) -> str:
        """Return the path of the edited file relative to ``tree``, with links resolved."""
        file = os.path.realpath(os.path.join(tree, self.path))
        path = posixpath.relpath(file, tree)
        reason = ""
        if path == "." or path.startswith("../"):
            reason = f"which is outside the source: {file}"
        elif ".git" in path.lower().split("/"):
            reason = "which belongs to git"
        elif not os.path.lexists(file):
            reason = "which the source does not have"
        elif not os.path.isfile(file):
            reason = "which is not a file"
        if reason:
            raise SparkforgeError(
                f"The edit {self.name} changes {self.path}, {reason}.",
                "Use the path of a file, relative to the top of the source.",
            )
        return path

    def apply(self, tree: str, contents: dict[str, bytes]) -> dict[str, t.Any]:
        """Apply the edit to ``contents``, which includes the results of earlier edits, and return a summary."""
        label = f"The edit {self.name}"
        path = self.file_in(tree)
        if path not in contents:
            with open(os.path.join(tree, path), "rb") as stream:
                contents[path] = stream.read()
        # This decoding loses no bytes.
        text = contents[path].decode("utf-8", "surrogateescape")
        matches = list(re.finditer(re.escape(self.match), text))
        if len(matches) != self.count:
            raise self.miscount(label, path, text, matches)
        text = text.replace(self.match, self.replace)
        contents[path] = _bytes(text)
        return {"edit": self.name, "file": path, "matches": len(matches)}

    def miscount(self, label: str, path: str, text: str, matches: t.Sequence[t.Match[str]]) -> SparkforgeError:
        lines = [text.count("\n", 0, match.start()) + 1 for match in matches]
        expected = "1 match" if self.count == 1 else f"{self.count} matches"
        if matches:
            numbers = ", ".join(map(str, lines[:SHOWN_MATCHES])) + (", …" if len(lines) > SHOWN_MATCHES else "")
            return SparkforgeError(
                f"{label} expects {expected} in {path} but finds {len(matches)}, in line {numbers}.",
                "Add more of the surrounding text to match, or correct count.",
            )
        hint = ""
        if self.match.strip():
            first = self.match.strip().splitlines()[0].strip()
            similar = [number for number, line in enumerate(text.splitlines(), 1) if first == line.strip()]
            if similar:
                hint = f"; its first line is in line {similar[0]}, but the lines after it or the spaces differ"
            if similar and "\r\n" in text:
                hint = "; the file has Windows line endings (CRLF)"
        return SparkforgeError(
            f"{label} expects {expected} of {_short(self.match)} in {path} but finds none{hint}.",
            "Copy the text from this version of the source, including spaces; if upstream has made the change, remove "
            "the edit.",
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _line(output: bytes) -> str:
    text = output.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.startswith(("error:", "fatal:"))] or text.splitlines()
    return re.sub(r"^(?:error|fatal): ", "", lines[0] if lines else "no output from git").rstrip(".")


def _short(text: str) -> str:
    line, more, _rest = text.strip().partition("\n")
    return repr(line[:80]) + (" …" if more or len(line) > 80 else "")
