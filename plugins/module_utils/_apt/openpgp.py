"""Check with gpg which keys are in a key file before it is written to a directory that apt reads.

The result is the keyring as gpg parsed it, not the file itself, so it contains nothing that only another parser would
find. Signatures are not checked here; gpgv and apt do that with the accepted keyring.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from .._core.errors import SparkforgeError
from .._fetch.http import is_html
from . import tools

# All of Debian's keys take 60 KB. Even a smaller crafted file can keep gpg busy for minutes and fill gigabytes.
SIZE_LIMIT = 1024 * 1024
_SECONDS = 30
_MEMORY = 256 * 1024 * 1024

_REMEDY = "Check the URL: it must serve the OpenPGP public key of the repository, armored or binary."


def require_gpg() -> None:
    """Raise an error if gpg is not installed: a minimal Debian has only gpgv or sqv, which cannot list keys."""
    if shutil.which("gpg") is None:
        raise SparkforgeError(
            "gpg is not installed, so a repository's key cannot be verified.",
            "Install the package gpg on the host: sudo apt-get install gpg.",
        )


def _gpg(data: bytes, *arguments: str) -> tuple[int, str, bytes]:
    """Return gpg's exit status for a key file, its listing (or its messages if it failed), and its output file."""
    require_gpg()
    if len(data) > SIZE_LIMIT:
        return 1, f"it is larger than {SIZE_LIMIT} bytes", b""
    # Use a temporary home without an agent or a keyring, so that the user's keys are not involved.
    with tempfile.TemporaryDirectory(prefix="sparkforge-gpg-") as home:
        key_file, written = os.path.join(home, "given"), os.path.join(home, "written")
        with open(key_file, "wb") as stream:
            stream.write(data)
        options = "--batch --no-tty --no-options --no-autostart --no-keyring --trust-model always --with-colons".split()
        status, listing, message = tools.ask(
            ["gpg", *options, "--homedir", home, "--output", written, *arguments, key_file],
            seconds=_SECONDS,
            memory=_MEMORY,
        )
        if status == tools.TIMED_OUT:
            message = f"nothing within {_SECONDS} s"
        lines = message.replace(key_file, "the file").replace("gpg: ", "").splitlines()
        message = "; ".join(line.strip(" .") for line in lines if line.strip())[:300]
        result = b""
        if os.path.exists(written):
            with open(written, "rb") as stream:
                result = stream.read()
    return status, listing if status == 0 else message, result


def _keys(data: bytes) -> tuple[list[str], bytes]:
    """Return the fingerprints of all primary keys, in order and unique, and the last key as a binary keyring."""
    status, text, ring = _gpg(data, "--import-options", "show-only,import-export", "--import")
    fingerprints: list[str] = []
    kind = ""
    for row in (line.split(":") for line in text.splitlines() if status == 0):
        if row[0] == "sec":
            raise SparkforgeError(
                "The key file contains a secret key.",
                "Publish the public key (gpg --export), and treat the secret key as compromised.",
            )
        # Each key is followed by its fingerprint; a designated revoker may come between a primary key and its own.
        if row[0] == "fpr" and kind == "pub" and row[9] not in fingerprints:
            fingerprints.append(row[9])
        kind = row[0] if row[0] in ("pub", "sub", "fpr") else kind
    if not fingerprints:
        raise _not_a_key(data, text)
    return fingerprints, ring


def _not_a_key(data: bytes, message: str) -> SparkforgeError:
    reason = f"gpg reports for its {len(data)} bytes: {message or 'there is no key in them'}"
    if is_html(data[:1024]):
        reason = "it is an HTML page"
    elif b"" < data[:1] < b"\x80":
        reason = f"it begins with {data[:40]!r}, and {reason}"
    return SparkforgeError(f"The key file is not an OpenPGP public key: {reason}.", _REMEDY)


def primary_fingerprints(data: bytes) -> list[str]:
    """Return the fingerprints of all primary keys in a key file, armored or binary, in order and without duplicates.

    :raises SparkforgeError: for a file that is not a certificate, contains secret keys, or contains no key.
    """
    return _keys(data)[0]


def normalise_fingerprint(value: str) -> str:
    """Return a fingerprint as 40 or 64 upper-case hexadecimal digits, without spaces, colons or 0x.

    :raises SparkforgeError: for a short or long key id, because those can be forged at will.
    """
    digits = re.sub(r"[\s:]", "", value).upper().removeprefix("0X")
    if not re.fullmatch(r"[0-9A-F]{40}|[0-9A-F]{64}", digits):
        raise SparkforgeError(
            f"{value!r} is not an OpenPGP fingerprint: it has {len(digits)} characters, not 40 or 64 hex digits.",
            "Set the full fingerprint that `gpg --show-keys --with-fingerprint` prints; a key id can be forged.",
        )
    return digits


def require_fingerprint(data: bytes, pinned: str, origin: str) -> bytes:
    """Return the pinned key as a binary keyring if it is the only primary key in the file.

    :param origin: URL or path, for the message.
    :raises SparkforgeError: for any other key, because apt would trust its signatures too.
    """
    expected = normalise_fingerprint(pinned)
    fingerprints, ring = _keys(data)
    others = [value for value in fingerprints if value != expected]
    if others:
        raise SparkforgeError(
            f"The key at {origin} has the fingerprint {', '.join(others)}, expected {expected}.",
            "Ask the repository's owner over another channel which fingerprint is right, then pin it.",
        )
    return ring
