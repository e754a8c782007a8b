"""The meaning of a git failure: its cause and remedy, and how long to retry."""

from __future__ import annotations

import dataclasses
import enum
import re
import signal
import time
import typing as t

from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import http_errors
from .urls import Revision

#: Seconds to keep retrying after the network is lost; the last attempt comes at the end.
RETRY_SECONDS = 600.0
#: The longest pause between two attempts, in seconds.
LONGEST_PAUSE = 60.0
#: The maximum number of attempts if every transfer starts and breaks off, and after an unknown error.
BROKEN_ATTEMPTS = 10
UNKNOWN_ATTEMPTS = 3

Say = t.Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Patience:
    """The time to keep retrying after the network is lost; tests supply their own clock."""

    seconds: float = RETRY_SECONDS
    sleep: t.Callable[[float], None] = time.sleep
    clock: t.Callable[[], float] = time.monotonic


_UNREACHABLE = (
    "{label} cannot be reached: {line}.",
    "Check the network, DNS, sparkforge_proxies and the URL, and run again: completed downloads are kept.",
)


class Kind(enum.Enum):
    """The meaning of a git failure: a pattern for its messages, and cause and remedy for the user.

    The order matters: specific patterns come first, because many messages end with "the remote end hung up". The texts
    are those of git 2.34 to 2.51, libcurl 7.81 to 8.14 and OpenSSH 8.9 to 10 in the C locale. {label} is the repository
    at the start of a sentence, {inside} within a sentence.
    """

    def __init__(self, pattern: str, cause: str, remedy: str) -> None:
        self.pattern = pattern
        self.cause = cause
        self.remedy = remedy

    SPACE = (
        r"no space left on device|disk quota exceeded|file too large|died of signal 25\b"
        # git does not report the reason, but it is almost always lack of space.
        r"|unable to write (?:file|new index|pack|sha1)|cannot store (?:pack|index) file",
        "{label} cannot be stored in {directory}: {line}{free}.",
        "Free some space there and run again: completed downloads are kept.",
    )
    STORE = (
        r"read-only file system|insufficient permission for adding an object|unable to create temporary file|"
        r"cannot (?:mkdir|open) .*: permission denied|could not create .*: permission denied",
        "{label} cannot be stored in {directory}: {line}{free}.",
        "Make the directory writable for the build user, and run again.",
    )
    CHECKOUT = (
        r"unable to create (?:file|symlink)|invalid path|file name too long",
        "A file of {inside} cannot be created on this file system: {line}.",
        "Move the root to a case-sensitive file system that allows long names, such as ext4 or xfs.",
    )
    COMMIT = (
        r"not our ref|couldn't find remote ref|no such remote ref|unable to find [0-9a-f]{40} under",
        "{label} does not have the commit {commit}: {line}.",
        "Correct source.version; a commit that a force push removed is only available from a mirror.",
    )
    UNADVERTISED = (
        r"does not allow request for unadvertised object|shallow capabilities|"
        r"server does not support (?:shallow|--depth)",
        "{label} does not serve single commits, and none of its branches or tags is {commit}: {line}.",
        "Open the URL in a browser, because a login page may have answered; otherwise use a server with version 2 of "
        "git's protocol (all since git 2.26), or a mirror made by playbooks/mirror.yml.",
    )
    OWNER = (
        r"dubious ownership",
        "{label} does not belong to the build user: {line}.",
        "Change its owner to the build user, or serve it over https.",
    )
    PROTOCOL = (
        r"transport '.*' not allowed|protocol .* (?:not supported|disabled)|unsupported protocol",
        "{label} uses or redirects to a protocol that is not allowed: {line}.",
        "Correct the URL or the server's redirection: an https URL must stay on https.",
    )
    REDIRECTED = (
        r"returned error: 30[1-8]|unable to update url base from redirection",
        "{label} redirects to another URL: {line}.",
        "Use the final URL in the source or the mirror: credentials go only to the server that they name.",
    )
    HOST_KEY = (
        r"host key verification failed",
        "The ssh host key of {inside} is unknown to the build user: {line}.",
        "Verify the key with the server's owner and add it to the host's ssh_known_hosts, or use https.",
    )
    PROXY = (
        r"\b407\b.*proxy|proxy.*\b407\b|returned error: 407|CONNECT tunnel failed|code 4\d\d from proxy",
        "The proxy blocks git's access to {inside}: {line}.",
        http_errors.PROXY_REMEDY,
    )
    CERTIFICATE = (
        r"certificate|server verification failed|error setting .* verify locations",
        "The TLS certificate of {inside} cannot be verified: {line}.",
        http_errors.CERTIFICATE_REMEDY,
    )
    ACCESS = (
        r"could not read (?:username|password)|authentication failed|returned error: 40[13]|permission denied \(",
        "{label} does not exist or needs credentials: {line}.",
        "Correct the URL; for a private repository use a mirror whose URL has the credentials, or an ssh key.",
    )
    MISSING = (
        r"returned error: (?:404|410)|repository (?:'.*' )?not found|does not appear to be a git repository|"
        r"no such repository|access denied or repository not exported|update-server-info",
        "{label} does not exist: {line}.",
        "Correct the URL, or the mirror, which must have the repository at that path.",
    )
    BROKEN = (  # a transfer that started and broke off
        r"early eof|unexpected disconnect|index-pack (?:failed|died)|invalid index-pack output|transfer closed with|"
        r"curl (?:16|18|28|52|55|56|92)\b|operation too slow|bytes of body are still expected|http/2 stream|"
        r"unexpected flush|pack has .* unresolved|bad line length|expected flush after|the remote end hung up upon|"
        r"inflate returned|partial file|expected packfile|unexpected end of file",
        *_UNREACHABLE,
    )
    CORRUPT = (
        r"is corrupt|bad object|object file .* is empty|inflate: data stream error|"
        r"packfile .* (?:cannot|does not|is far too)|broken ref|bad ref|missing blob|missing tree|"
        r"did not send all necessary objects|unable to (?:read|parse|unpack) (?:tree|commit|object|[0-9a-f]{40})|"
        r"loose object|hash mismatch|object corrupt|could not parse (?:commit|object)|"
        r"bad (?:signature|config|tree)|not a git repository|invalid (?:object|sha1 pointer)|"
        r"index file .* (?:too small|does not match|is)|pack .* (?:too small|invalid)|unresolved deltas|"
        r"cannot lock ref|invalid shallow|bad shallow",
        "The objects of {inside} are damaged in {store}, even after fetching them again: {line}.",
        "Check the disk and the memory of the host (dmesg), then the server's repository with git fsck.",
    )
    NETWORK = (
        r"unable to access|could not resolve host|connection (?:refused|reset|timed out|closed)|"
        r"network is unreachable|no route to host|broken pipe|timed out|returned error: (?:408|425|429|5\d\d)|"
        r"could not read from remote repository|remote end hung up|temporary failure|unable to connect|rpc failed|"
        r"kex_exchange|unable to look up|remote error: ",
        *_UNREACHABLE,
    )
    UNKNOWN = (
        r"",
        "git cannot fetch {inside}: {line}.",
        "See git's output in the log; check the URL and the network, and run again.",
    )


#: The number of characters to keep from the end of git's output.
KEPT = 4000


class GitError(Exception):
    """A git command that failed."""

    def __init__(self, kind: Kind, output: str) -> None:
        super().__init__(output)
        self.kind = kind
        #: The directory that git wrote to, if it is not the store.
        self.place = ""
        #: The end of git's output, without credentials.
        self.output = redact(output).strip()[-KEPT:]

    @property
    def line(self) -> str:
        """The most informative line, without the full stop."""
        lines = [line.strip() for line in re.split(r"[\r\n]+", self.output) if line.strip()]
        pattern = self.kind.pattern
        matching_lines = [line for line in lines if pattern and re.search(pattern, line, re.I)]
        error_lines = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "remote:"))]
        chosen = (matching_lines or error_lines or lines or ["no output from git"])[0]
        # Our own sentence already contains the URL.
        return re.sub(
            r"^(?:(?:fatal|error|ssh|remote|remote error): ?|unable to access '[^']*': )+", "", chosen
        ).rstrip(".")


def of_remote(output: str, status: int) -> GitError:
    """Return the error for a git command that contacted a remote and exited with ``status``."""
    if status == -signal.SIGXFSZ:
        return GitError(Kind.SPACE, output or "the limit on the size of a file was reached")
    kind = next(kind for kind in Kind if re.search(kind.pattern, output, re.I))
    return GitError(kind, output or f"git exited with status {status}")


def of_local(output: str, status: int) -> GitError:
    """Return the error for a git command without network access, which blames the disk or the data on it."""
    error = of_remote(output, status)
    error.kind = error.kind if error.kind in (Kind.SPACE, Kind.STORE, Kind.CHECKOUT) else Kind.CORRUPT
    return error


_LOST_COMMIT = (
    "The superproject pins a commit that was never pushed or was removed: use another version, or a mirror that has "
    "the commit."
)


def user_error(revision: Revision, error: GitError, store: str = "") -> SparkforgeError:
    """Map a git failure to a cause and a remedy."""
    remedy = _LOST_COMMIT if revision.path and error.kind is Kind.COMMIT else error.kind.remedy
    directory = error.place or store or "the store"
    cause = error.kind.cause.format(
        label=revision.label, inside=revision.inside, commit=revision.commit, line=error.line, store=store,
        directory=directory, free=http_errors.free_space(directory),
    )  # fmt: skip
    return SparkforgeError(cause, remedy, output=error.output)


class Retry:
    """Repeat a call until it succeeds, as long as only the network is at fault."""

    def __init__(self, patience: Patience, say: Say) -> None:
        self.patience = patience
        self.say = say

    def __call__(self, revision: Revision, attempt: t.Callable[[], t.Any], give_way: t.Container[Kind] = ()) -> t.Any:
        """Return the result of ``attempt``.

        :param give_way: kinds of failure that the caller handles with a different method instead of another attempt.
        :raises GitError: for these kinds, and for failures that waiting does not fix.
        :raises SparkforgeError: if the network does not come back.
        """
        lost: float | None = None
        failures: list[Kind] = []
        while True:
            try:
                return attempt()
            except GitError as error:
                if error.kind in give_way or error.kind not in (Kind.NETWORK, Kind.BROKEN, Kind.UNKNOWN):
                    raise
                now = self.patience.clock()
                # A broken transfer had started, so the network was up.
                lost = now if lost is None or error.kind is Kind.BROKEN else lost
                failures.append(error.kind)
                if failures.count(Kind.UNKNOWN) >= UNKNOWN_ATTEMPTS:
                    raise
                remaining = self.patience.seconds - (now - lost)
                if remaining <= 0 or failures.count(Kind.BROKEN) >= BROKEN_ATTEMPTS:
                    raise self.lost(revision, error, len(failures), now - lost) from error
                # Shorten the last pause, so that the last attempt is made just as the time runs out.
                pause = min(2.0 ** min(len(failures) - 1, 10), LONGEST_PAUSE, max(remaining, 1.0))
                self.say(f"{revision.label}: {error.line}; attempt {len(failures) + 1} in {pause:.0f} s")
                self.patience.sleep(pause)

    def lost(self, revision: Revision, error: GitError, attempts: int, seconds: float) -> SparkforgeError:
        final = user_error(revision, error)
        for_long = (
            "" if seconds < 1 else f"{seconds:.0f} s and " if seconds < 120 else f"{seconds / 60:.0f} minutes and "
        )
        return SparkforgeError(
            f"{final.cause[:-1]} (for {for_long}{attempts} {'attempts' if attempts > 1 else 'attempt'}).",
            final.remedy,
            **final.details,
            attempts=attempts,
        )
