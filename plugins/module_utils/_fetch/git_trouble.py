# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What goes wrong with git and the disk: whose fault it is, how long it is waited for, and what the user is told."""

from __future__ import annotations

import dataclasses
import enum
import errno
import os
import re
import signal
import time
import typing as t

from .._core.errors import SparkforgeError
from .._core.redact import redact
from .urls import Wanted

#: Seconds for which a lost network is waited for; the last attempt comes after them.
RETRY_SECONDS = 600.0
#: The longest pause between two attempts, in seconds.
LONGEST_PAUSE = 60.0
#: Attempts where a transfer begins and breaks off each time, and after an error that nothing is known of.
BROKEN_ATTEMPTS = 10
UNKNOWN_ATTEMPTS = 3

Say = t.Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long a lost network is waited for; tests give a clock of their own."""

    seconds: float = RETRY_SECONDS
    sleep: t.Callable[[float], None] = time.sleep
    clock: t.Callable[[], float] = time.monotonic


class Kind(enum.Enum):
    """What a failure of git means to us."""

    NETWORK = "no connection"
    BROKEN = "a transfer that began and broke off"
    UNADVERTISED = "a server that gives no single object"
    COMMIT = "no such commit"
    MISSING = "no such repository"
    ACCESS = "credentials wanted"
    CERTIFICATE = "TLS"
    PROXY = "proxy"
    HOST_KEY = "ssh host key"
    OWNER = "a local repository of another user"
    PROTOCOL = "protocol not allowed"
    REDIRECTED = "a redirection that is not followed"
    SPACE = "disk full"
    STORE = "not writable"
    CHECKOUT = "a file that the file system does not take"
    CORRUPT = "damaged objects"
    UNKNOWN = "unknown"


#: Tried in this order: what is certain first, for "the remote end hung up" ends many a message. The texts are those
#: of git 2.34 to 2.51, libcurl 7.81 to 8.14 and OpenSSH 8.9 to 10, in the C locale. Compiled once git fails.
_RULES: t.Final[tuple[tuple[Kind, str], ...]] = (
    (Kind.SPACE, r"no space left on device|disk quota exceeded|file too large|died of signal 25\b"
                 # git does not say why, and there is hardly another reason.
                 r"|unable to write (?:file|new index|pack|sha1)|cannot store (?:pack|index) file"),
    (Kind.STORE, r"read-only file system|insufficient permission for adding an object|unable to create temporary "
                 r"file|cannot (?:mkdir|open) .*: permission denied|could not create .*: permission denied"),
    (Kind.COMMIT, r"not our ref|couldn't find remote ref|no such remote ref|unable to find [0-9a-f]{40} under"),
    (Kind.UNADVERTISED, r"does not allow request for unadvertised object|shallow capabilities|"
                        r"server does not support (?:shallow|--depth)"),
    (Kind.OWNER, r"dubious ownership"),
    (Kind.PROTOCOL, r"transport '.*' not allowed|protocol .* (?:not supported|disabled)|unsupported protocol"),
    (Kind.REDIRECTED, r"returned error: 30[1-8]|unable to update url base from redirection"),
    (Kind.HOST_KEY, r"host key verification failed"),
    (Kind.PROXY, r"\b407\b.*proxy|proxy.*\b407\b|returned error: 407|CONNECT tunnel failed|"
                 r"code 4\d\d from proxy"),
    (Kind.CERTIFICATE, r"certificate|server verification failed|error setting .* verify locations"),
    (Kind.ACCESS, r"could not read (?:username|password)|authentication failed|returned error: 40[13]|"
                  r"permission denied \("),
    (Kind.MISSING, r"returned error: (?:404|410)|repository (?:'.*' )?not found|does not appear to be a git "
                   r"repository|no such repository|access denied or repository not exported|update-server-info"),
    (Kind.BROKEN, r"early eof|unexpected disconnect|index-pack (?:failed|died)|invalid index-pack output|"
                  r"transfer closed with|curl (?:16|18|28|52|55|56|92)\b|operation too slow|"
                  r"bytes of body are still expected|http/2 stream|unexpected flush|pack has .* unresolved|"
                  r"bad line length|expected flush after|the remote end hung up upon|inflate returned|"
                  r"partial file|expected packfile|unexpected end of file"),
    (Kind.CORRUPT, r"is corrupt|bad object|object file .* is empty|inflate: data stream error|"
                   r"packfile .* (?:cannot|does not|is far too)|broken ref|bad ref|missing blob|missing tree|"
                   r"did not send all necessary objects|unable to (?:read|parse|unpack) (?:tree|commit|object|"
                   r"[0-9a-f]{40})|loose object|hash mismatch|object corrupt|could not parse (?:commit|object)|"
                   r"bad (?:signature|config|tree)|not a git repository|invalid (?:object|sha1 pointer)|"
                   r"index file .* (?:too small|does not match|is)|pack .* (?:too small|invalid)|"
                   r"unresolved deltas|cannot lock ref|invalid shallow|bad shallow"),
    (Kind.NETWORK, r"unable to access|could not resolve host|connection (?:refused|reset|timed out|closed)|"
                   r"network is unreachable|no route to host|broken pipe|timed out|returned error: (?:408|425|"
                   r"429|5\d\d)|could not read from remote repository|remote end hung up|temporary failure|"
                   r"unable to connect|rpc failed|kex_exchange|unable to look up|remote error: "),
)  # fmt: skip


#: Characters of what git said that are kept, the last ones.
KEPT = 4000


class GitError(Exception):
    """A command of git that failed."""

    def __init__(self, kind: Kind, output: str) -> None:
        super().__init__(output)
        self.kind = kind
        #: The directory that was written, where that is not the store.
        self.place = ""
        #: The end of what git said, without credentials.
        self.output = redact(output).strip()[-KEPT:]

    @property
    def line(self) -> str:
        """The line that says most, without the full stop."""
        lines = [line.strip() for line in re.split(r"[\r\n]+", self.output) if line.strip()]
        telling = [line for rule in _RULES if rule[0] is self.kind for line in lines if re.search(rule[1], line, re.I)]
        spoken = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "remote:"))]
        chosen = (telling or spoken or lines or ["no output from git"])[0]
        # The URL is in our own sentence.
        return re.sub(
            r"^(?:(?:fatal|error|ssh|remote|remote error): ?|unable to access '[^']*': )+", "", chosen
        ).rstrip(".")


def of_remote(output: str, status: int) -> GitError:
    if status == -signal.SIGXFSZ:
        return GitError(Kind.SPACE, output or "the limit on the size of a file was reached")
    for kind, pattern in _RULES:
        if re.search(pattern, output, re.I):
            return GitError(kind, output)
    return GitError(Kind.UNKNOWN, output or f"git ended with status {status}")


def of_local(output: str, status: int) -> GitError:
    """What goes wrong without a network goes wrong with the disk, or with what is on it."""
    error = of_remote(output, status)
    if error.kind in (Kind.SPACE, Kind.STORE):
        return error
    if re.search(r"unable to create (?:file|symlink)|invalid path|file name too long", output, re.I):
        return GitError(Kind.CHECKOUT, output)
    return GitError(Kind.CORRUPT, output or f"git ended with status {status}")


_AGAIN = "Free some space there and run again: completed downloads are kept."
#: The cause and the remedy of each kind; {what} is the repository as the beginning of a sentence, {inside} within one.
_SENTENCES: t.Final[dict[Kind, tuple[str, str]]] = {
    Kind.COMMIT: (
        "{what} does not have the commit {commit}: {line}.",
        "Correct source.version; a commit that a force push removed is only available from a mirror.",
    ),
    Kind.MISSING: (
        "{what} does not exist: {line}.",
        "Correct the URL, or the mirror, which must have the repository at that path.",
    ),
    Kind.ACCESS: (
        "{what} does not exist or needs credentials: {line}.",
        "Correct the URL; for a private repository use a mirror whose URL has the credentials, or an ssh key.",
    ),
    Kind.CERTIFICATE: (
        "The TLS certificate of {inside} cannot be verified: {line}.",
        "Behind a proxy that inspects TLS, set sparkforge_ca_certificate to its CA; otherwise check the clock and "
        "the ca-certificates package. Verification is never turned off.",
    ),
    Kind.PROXY: (
        "The proxy blocks git's access to {inside}: {line}.",
        "Correct sparkforge_proxies (address, user and password), or add the host to its no_proxy.",
    ),
    Kind.HOST_KEY: (
        "The ssh host key of {inside} is unknown to the build user: {line}.",
        "Verify the key with the server's owner and add it to the host's ssh_known_hosts, or use https.",
    ),
    Kind.OWNER: (
        "{what} does not belong to the build user: {line}.",
        "Change its owner to the build user, or serve it over https.",
    ),
    Kind.PROTOCOL: (
        "{what} uses or redirects to a protocol that is not allowed: {line}.",
        "Correct the URL or the server's redirection: an https URL must stay on https.",
    ),
    Kind.REDIRECTED: (
        "{what} redirects to another place: {line}.",
        "Use the final URL in the source or the mirror: credentials go only to the server that they name.",
    ),
    Kind.UNADVERTISED: (
        "{what} serves no single commits, and no branch or tag contains {commit}: {line}.",
        "Use a commit that a branch or a tag contains, or a mirror that allows any commit.",
    ),
    Kind.SPACE: ("{what} cannot be stored in {place}: {line}{free}.", _AGAIN),
    Kind.STORE: (
        "{what} cannot be stored in {place}: {line}{free}.",
        "Make the directory writable for the build user, and run again.",
    ),
    Kind.CHECKOUT: (
        "A file of {inside} cannot be created on this file system: {line}.",
        "Move the root to a case-sensitive file system that allows long names, such as ext4 or xfs.",
    ),
    Kind.CORRUPT: (
        "The objects of {inside} are damaged in {store}, even after fetching them again: {line}.",
        "Check the disk and the memory of the host (dmesg), then the server's repository with git fsck.",
    ),
    Kind.NETWORK: (
        "{what} cannot be reached: {line}.",
        "Check the network, DNS, sparkforge_proxies and the URL, and run again: completed downloads are kept.",
    ),
    Kind.UNKNOWN: (
        "git cannot fetch {inside}: {line}.",
        "See git's output in the log; check the URL and the network, and run again.",
    ),
}
_SENTENCES[Kind.BROKEN] = _SENTENCES[Kind.NETWORK]
_LOST_COMMIT = (
    "The superproject pins a commit that was never pushed or was removed: use another version, or a mirror that has "
    "the commit."
)


def explained(wanted: Wanted, error: GitError, store: str = "") -> SparkforgeError:
    """Map a failure of git to a cause and a remedy."""
    cause, remedy = _SENTENCES[error.kind]
    remedy = _LOST_COMMIT if wanted.path and error.kind is Kind.COMMIT else remedy
    place = error.place or store or "the store"
    cause = cause.format(
        what=wanted.label, inside=wanted.inside, commit=wanted.commit, line=error.line, store=store, place=place,
        free=free_space(place),
    )  # fmt: skip
    return SparkforgeError(cause, remedy, output=error.output)


def free_space(directory: str) -> str:
    try:
        numbers = os.statvfs(directory)
    except OSError:
        return ""
    return f" ({numbers.f_bavail * numbers.f_frsize / 1e6:.0f} MB are free)"


def not_written(what: str, place: str, error: OSError) -> SparkforgeError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    while not os.path.isdir(place) and place != "/":
        place = os.path.dirname(place) or "/"
    return SparkforgeError(
        f"{what}: {error.strerror or error}{free_space(place) if full else ''}.",
        _AGAIN if full else "Make sure that the build user can write there, and run again.",
    )


class Retry:
    """Calls until it works, for as long as only the network is to blame."""

    def __init__(self, patience: Patience, say: Say) -> None:
        self.patience = patience
        self.say = say

    def __call__(self, wanted: Wanted, attempt: t.Callable[[], t.Any], give_way: t.Container[Kind] = ()) -> t.Any:
        """Return what ``attempt`` returns.

        :param give_way: failures that the caller answers with another way instead of with another attempt.
        :raises GitError: for these, and for what waiting does not fix.
        :raises SparkforgeError: if the network stays lost.
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
                # A transfer that broke off had begun, so the network was there.
                lost = now if lost is None or error.kind is Kind.BROKEN else lost
                failures.append(error.kind)
                if failures.count(Kind.UNKNOWN) >= UNKNOWN_ATTEMPTS:
                    raise
                left = self.patience.seconds - (now - lost)
                if left <= 0 or failures.count(Kind.BROKEN) >= BROKEN_ATTEMPTS:
                    raise self.lost(wanted, error, len(failures), now - lost) from error
                # The pauses end with the patience, so that an outage of just that length is survived.
                pause = min(2.0 ** min(len(failures) - 1, 10), LONGEST_PAUSE, max(left, 1.0))
                self.say(f"{wanted.label}: {error.line}; attempt {len(failures) + 1} in {pause:.0f} s")
                self.patience.sleep(pause)

    def lost(self, wanted: Wanted, error: GitError, attempts: int, seconds: float) -> SparkforgeError:
        final = explained(wanted, error)
        for_long = (
            "" if seconds < 1 else f"{seconds:.0f} s and " if seconds < 120 else f"{seconds / 60:.0f} minutes and "
        )
        return SparkforgeError(
            f"{final.cause[:-1]} (for {for_long}{attempts} {'attempts' if attempts > 1 else 'attempt'}).",
            final.remedy,
            **final.details,
            attempts=attempts,
        )
