"""Facts from upstream: the archives' sha256 from NVIDIA's manifests, and the sources' commits.

All functions are pure and take their readers as arguments, except the ``ask_*`` functions, which run git.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import shutil
import subprocess
import tempfile
import typing as t

from ...plugins.module_utils._core import platforms
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._fetch import redist_plan
from ...plugins.module_utils._host.reader import run_command
from ...plugins.plugin_utils.stack.model import pin_of

# A commit's trees have a few MB, so a server that takes longer counts as unresponsive.
GIT_SECONDS = 600.0

_COMMIT = re.compile(r"^[0-9a-f]{40}$")
_REMOTE_LINE = re.compile(r"^(?P<commit>[0-9a-f]{40})\t(?P<ref>\S+)$")
# Git errors after which no other way of fetching would help.
_NO_ANSWER = re.compile(
    r"Could not resolve|Connection (refused|timed out|reset)|Failed to connect|Authentication failed|"
    r"does not appear to be a git repository|[Rr]epository .* (not found|does not exist)|SSL certificate problem"
)
# If a git hook runs the playbook, these variables refer to the hook's own repository.
_GIT_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE")


def manifest_url(nvidia_url: str, product: str, release: str) -> str:
    """Return the URL of a redist manifest in NVIDIA's download tree."""
    return f"{nvidia_url.rstrip('/')}/compute/{product}/redist/redistrib_{release}.json"


def manifest_pins(
    manifest: t.Mapping[str, t.Any], archive: t.Mapping[str, t.Any], machines: t.Sequence[str], url: str
) -> dict[str, str]:
    """Return the sha256 of an archive for each machine's platform that the manifest lists.

    :raises SparkforgeError: if the manifest lists none of the platforms, or another version.
    """
    pins, missing_error = {}, SparkforgeError("The stack has no machines.", "Set machines in the stack.")
    keys = ("component", "product", "release", "version")
    query = redist_plan.Archive(**{key: archive[key] for key in keys}, variant=archive.get("variant") or "")
    for platform in map(platforms.redist, machines):
        try:
            resolved = redist_plan.resolve(manifest, dataclasses.replace(query, platform=platform), redact(url))
            pins[platform] = resolved.sha256
        except SparkforgeError as error:
            missing_error = error
    if not pins:
        raise missing_error
    return pins


def resolve_archives(
    archives: t.Sequence[t.Mapping[str, t.Any]],
    *,
    machines: t.Sequence[str],
    nvidia_url: str,
    fetch: t.Callable[[str], bytes],
    say: t.Callable[[str], None] = lambda _text: None,
) -> dict[str, dict[str, t.Any]]:
    """Return ``{component: {release, version, sha256: {platform: ...}}}`` from NVIDIA's manifests.

    A sha256 that the stack itself pins must match the manifest, because querying upstream never changes a pin.

    :raises SparkforgeError: if a manifest is unreachable, invalid, or contradicts a pin.
    """
    resolved: dict[str, dict[str, t.Any]] = {}
    manifests: dict[str, t.Any] = {}
    for archive in archives:
        url = manifest_url(nvidia_url, archive["product"], archive["release"])
        if url not in manifests:
            say(f"archives: reading {url}")
            manifests[url] = redist_plan.parse_manifest(fetch(url), redact(url))
        pins = manifest_pins(manifests[url], archive, machines, url)
        for platform, pinned in (archive.get("sha256") or {}).items():
            if pins.get(platform, pinned) != pinned:
                raise SparkforgeError(
                    f"The sha256 of {archive['component']} {archive['version']} for {platform} is"
                    f" {pins[platform]} in {url}, but the stack pins {pinned}.",
                    "Find out who changed the archive before you install anything: published archives do not change.",
                )
        resolved[archive["component"]] = {"release": archive["release"], "version": archive["version"], "sha256": pins}
    return resolved


def remote_commit(answer: str, ref: str) -> str | None:
    """Return the commit of a tag or branch from the output of ``git ls-remote``, or None.

    An annotated tag is a separate object; its peeled line (``^{}``) names the commit.
    """
    commits: dict[str, str] = {}
    for line in answer.splitlines():
        match = _REMOTE_LINE.match(line)
        if match:
            commits[match["ref"]] = match["commit"]
    for name in (f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}"):
        if name in commits:
            return commits[name]
    return None


def _git(arguments: t.Sequence[str], url: str, *, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run git with the user's own configuration (proxies, credentials, ``insteadOf``), but without a prompt."""
    git = shutil.which("git")
    if git is None:
        raise SparkforgeError("The controller has no git.", "Install git, or remove sources from the parts.")
    unset = [part for name in _GIT_PLACES for part in ("-u", name)]
    directory_options = ["-C", cwd] if cwd else []
    status, stdout, stderr = run_command(
        ["env", *unset, "GIT_TERMINAL_PROMPT=0", git, *directory_options, *arguments], GIT_SECONDS
    )
    if status == 124:
        raise SparkforgeError(f"{redact(url)} did not answer git within {GIT_SECONDS:.0f} s.", KEEP_SOURCES)
    return subprocess.CompletedProcess(arguments, status, stdout, stderr)


KEEP_SOURCES = "Set sparkforge_proxies, or remove sources from the parts: the lock then keeps its commits."


def _format_error(done: subprocess.CompletedProcess[str], url: str) -> str:
    """Return git's error without a password that the URL may contain."""
    lines = [line.strip() for line in done.stderr.replace(url, redact(url)).splitlines() if line.strip()]
    # These lines are the server's answer; the lines after them are general advice.
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no output"])[-1].rstrip(".")


def ask_remote(url: str, ref: str) -> str:
    """Return the commit of a tag or branch in a remote repository.

    :raises SparkforgeError: if the remote cannot be read or has no such tag or branch.
    """
    line = ["ls-remote", "--", url, f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}", f"refs/heads/{ref}"]
    completed = _git(line, url)
    if completed.returncode != 0:
        raise SparkforgeError(f"git ls-remote {redact(url)} failed: {_format_error(completed, url)}.", KEEP_SOURCES)
    commit = remote_commit(completed.stdout, ref)
    if commit is None:
        raise SparkforgeError(f"{redact(url)} has no tag or branch {ref}.", "Correct the reference in the stack.")
    return commit


def ask_file(url: str, commit: str, paths: t.Sequence[str], ref: str | None = None) -> tuple[str, str]:
    """Return the path and content of the first of ``paths`` that exists in a commit of a remote repository.

    If the server supports filters, only that file is fetched (PyTorch's tree is 1 GB). Otherwise the single commit is
    fetched, or the tag or branch if the server does not serve single commits. From a plain file server, which supports
    none of these, everything is fetched.

    :param ref: a tag or branch that contains the commit.
    :raises SparkforgeError: if the remote cannot be read, lacks the commit, or the commit lacks the files.
    """
    shallow = ["--depth=1", "--no-tags"]
    attempts = [
        [*shallow, "--filter=blob:none", "origin", commit],
        [*shallow, "origin", commit],
        *([[*shallow, "origin", ref]] if ref else []),
        ["origin", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"],
    ]
    for attempt in attempts:
        # Use a separate repository for each attempt, because one with filtered objects fetches missing objects by
        # itself.
        with tempfile.TemporaryDirectory(prefix="sparkforge-lock-") as directory:
            path, completed = _fetch_file(attempt, url, commit, paths, directory)
        if path is not None:
            return path, completed.stdout
        if _NO_ANSWER.search(completed.stderr):
            break
    raise SparkforgeError(
        f"The commit {commit} could not be read from {redact(url)}: {_format_error(completed, url)}.", KEEP_SOURCES
    )


def _fetch_file(
    way: t.Sequence[str], url: str, commit: str, paths: t.Sequence[str], directory: str
) -> tuple[str | None, subprocess.CompletedProcess[str]]:
    """Fetch in one way; return the path of the file that exists and the result of ``git show``, or the failure."""

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return _git(arguments, url, cwd=directory)

    git("init", "--quiet", "--bare", ".")
    git("remote", "add", "origin", url)
    completed = git("fetch", "--quiet", *way)
    if completed.returncode == 0:
        # The tag or branch may have moved away from the commit.
        completed = git("ls-tree", "--name-only", commit, "--", *paths)
    if completed.returncode != 0:
        return None, completed
    present = [path for path in paths if path in completed.stdout.splitlines()]
    if not present:
        raise SparkforgeError(
            f"{redact(url)} has no {' and no '.join(paths)} at {commit}.",
            "Set the commit (ref) or the file (pin) in the stack.",
        )
    # If the server supports filters, this fetches only the file.
    completed = git("show", f"{commit}:{present[0]}")
    return (present[0] if completed.returncode == 0 else None), completed


# The LLVM repository for each pin file, if neither the file nor the stack names one; Triton's fork from 3.8 on.
PINNED_REPOSITORIES = {
    "cmake/llvm-hash.txt": "https://github.com/llvm/llvm-project.git",
    "cmake/llvm-info.json": "https://github.com/triton-lang/llvm-project.git",
}


@dataclasses.dataclass(frozen=True)
class Pinned:
    """The pin of another source, from a file in a source's tree.

    :ivar repository: the URL of that source, or None if neither the file nor its path determines it.
    """

    commit: str
    repository: str | None = None


def read_pin(text: str, path: str, where: str) -> Pinned:
    """Return the pin in a file: a bare commit, or JSON with ``llvm_hash`` or ``commit``.

    :param where: the description of the file in messages.
    :raises SparkforgeError: if the file names no commit.
    """
    repository = PINNED_REPOSITORIES.get(path)
    if not path.endswith(".json"):
        commit = (text.split() or [""])[0]
    else:
        content = None
        with contextlib.suppress(ValueError, RecursionError):
            content = json.loads(text)
        content = content if isinstance(content, dict) else {}
        commit = str(content.get("llvm_hash") or content.get("commit") or "")
        repository = str(content.get("repository") or "") or repository
    if not _COMMIT.match(commit):
        raise SparkforgeError(
            f"{where} names no commit of 40 hexadecimal digits: {text.strip()[:60]!r}.",
            "Set the commit in the stack (ref), and report to this collection's maintainers that the file changed.",
        )
    if repository and not re.fullmatch(r"(https?|file|ssh|git)://\S+", repository):
        raise SparkforgeError(
            f"{where} names the repository {repository!r}, which is not a git URL.", "Set its url in the stack."
        )
    return Pinned(commit, repository)


class Sources:
    """Resolves the sources of a stack, beginning with those whose trees pin others.

    :param ask: a function that returns the commit of a tag or branch: ``ask_remote``.
    :param read: a function that returns the path and content of a file at a commit: ``ask_file``.
    """

    def __init__(
        self,
        sources: t.Mapping[str, t.Mapping[str, t.Any]],
        known: t.Mapping[str, t.Mapping[str, t.Any]],
        *,
        ask: t.Callable[[str, str], str],
        read: t.Callable[[str, str, t.Sequence[str], str | None], tuple[str, str]],
        say: t.Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.sources = sources
        self.known = known
        self.ask = ask
        self.read = read
        self.say = say
        self.resolved: dict[str, dict[str, t.Any]] = {}
        self._begun: list[str] = []

    def resolve(self) -> dict[str, dict[str, t.Any]]:
        """Return ``{name: {url, ref, commit, pinned_by}}`` or ``{archive, sha256}`` for each source.

        :raises SparkforgeError: if an upstream does not respond, or sources pin each other in a circle.
        """
        for name in sorted(self.sources):
            self._resolve(name)
        return {name: entry for name, entry in sorted(self.resolved.items()) if entry}

    def _resolve(self, name: str) -> dict[str, t.Any]:
        if name in self.resolved:
            return self.resolved[name]
        if name in self._begun:
            ring = " -> ".join([*self._begun[self._begun.index(name) :], name])
            raise SparkforgeError(
                f"The sources {ring} pin each other's commits in a circle.", "Give one of them a ref in the stack."
            )
        self._begun.append(name)
        source = self.sources[name]
        if "archive" in source:
            entry: dict[str, t.Any] = {"archive": source["archive"], "sha256": source["sha256"]}
        elif source.get("ref"):
            entry = self._named(source["url"], source["ref"])
        else:
            entry = self._pinned(name, source)
        self._begun.pop()
        self.resolved[name] = entry
        return entry

    def _named(self, url: str, ref: str) -> dict[str, t.Any]:
        if _COMMIT.match(ref):
            return {"url": url, "ref": ref, "commit": ref}
        self.say(f"sources: asking {redact(url)} for {ref}")
        return {"url": url, "ref": ref, "commit": self.ask(url, ref)}

    def _pinned(self, name: str, source: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        """Return the pin from another source's tree, or from the lock if the stack has no such source."""
        pin = pin_of(name, source)
        by = self._resolve(pin.source) if pin and pin.source in self.sources else {}
        if pin is None or not by.get("commit"):
            self.say(f"sources: no other source of the stack pins {name}: the lock keeps its commit")
            return dict(self.known.get(name) or {})
        self.say(f"sources: reading the pin of {name} in {pin.source} {by['commit'][:12]} from {redact(by['url'])}")
        ref = by.get("ref")
        path, text = self.read(by["url"], by["commit"], pin.files, None if ref and _COMMIT.match(ref) else ref)
        pinned = read_pin(text, path, f"{path} of {pin.source} {by['commit']}")
        url = source.get("url") or pinned.repository
        if not url:
            raise SparkforgeError(
                f"Neither the stack nor {path} of {pin.source} has the URL of {name} {pinned.commit}.",
                f"Set sources.{name}.url in the stack.",
            )
        return {
            "url": url,
            "ref": None,
            "commit": pinned.commit,
            "pinned_by": {"source": pin.source, "commit": by["commit"], "file": path},
        }


def lock_archives(stack: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return all archives of a stack (its file or its fact) that a manifest lists, including cuSPARSELt."""
    cusparselt = stack["cusparselt"].get("archive")
    return [*stack["archives"], *([cusparselt] if cusparselt else [])]
