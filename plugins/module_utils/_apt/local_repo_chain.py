# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The chain of signatures in a local repository: from its key over Release and Packages to each .deb."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import typing as t

from .._core import digests
from .._core.errors import SparkforgeError
from . import indexes, openpgp

Runner = t.Callable[[list[str]], tuple[int, str, str]]


def _check_file(directory: str, name: str, expected: tuple[int, str], listed_in: str) -> None:
    path = os.path.join(directory, name)
    actual = (os.path.getsize(path), digests.of_file(path))
    if actual != expected:
        raise SparkforgeError(
            f"{name} in the local repository has the sha256 {actual[1]}, but the signed {listed_in} says "
            f"{expected[1]}.",
            "Do not use this .deb: it was changed after it was signed.",
        )


def _unpacked_index(path: str) -> str:
    with open(path, "rb") as stream:
        content = stream.read()
    if path.endswith(".gz"):
        content = gzip.decompress(content)
    elif path.endswith(".xz"):
        content = lzma.decompress(content)
    return content.decode("utf-8", "replace")


def _regular_files(directory: str) -> list[str]:
    """Return the paths below ``directory`` of the files in it.

    :raises SparkforgeError: for whatever is neither a file nor a directory: a link to one leads to the host's own.
    """
    names = []
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                names.append(os.path.relpath(path, directory))
            elif not stat.S_ISDIR(mode):
                raise SparkforgeError(
                    f"{os.path.relpath(path, directory)} in the local repository is not a regular file.",
                    "Do not use this .deb; get another copy from its vendor.",
                )
    return sorted(names)


def verify_chain(directory: str, keyring: str, fingerprint: str, run: Runner) -> None:
    """Verify a flat repository: the signature over Release, Release over Packages, Packages over each .deb.

    Every regular file in the directory must be covered: what nobody signed has no place there.

    :param keyring: a binary keyring that holds the pinned key alone.
    :param run: runs ``gpgv``.
    :raises SparkforgeError: for whatever is unsigned, signed by another key, changed, or not listed.
    """
    names = _regular_files(directory)
    release = _signed_release(directory, names, keyring, run)
    sums = indexes.parse_release(release)
    if not sums:
        raise SparkforgeError(
            "The repository's Release file lists no SHA256 sums.",
            "Use the redist archive (cusparselt_backends: [redist]), or set the sha256 of the .deb.",
        )
    covered = {"InRelease", "Release", "Release.gpg"}
    packages: dict[str, tuple[int, str]] = {}
    for listed, expected in sums.items():
        name = os.path.normpath(listed)
        if name in names and name not in covered:
            _check_file(directory, name, expected, "Release")
            covered.add(name)
            if os.path.basename(name) in ("Packages", "Packages.gz", "Packages.xz"):
                packages.update(indexes.parse_packages(_unpacked_index(os.path.join(directory, name))))
    if not packages:
        raise SparkforgeError(
            "The local repository's signed Release file lists no Packages index.",
            "Set the sha256 of the .deb instead of its key's fingerprint.",
        )
    # apt reads any compression of the index that is there, so all of them must be covered, also .bz2 or
    # .zst.
    for name, expected in packages.items():
        if name in names:
            _check_file(directory, name, expected, "Packages")
            covered.add(name)
    strays = []
    for name in names:
        if name.endswith((".gpg", ".pub")) and name not in covered:
            # The keyring cannot be signed by itself: it has to be the pinned key and nothing else.
            openpgp.require_fingerprint(read_key(os.path.join(directory, name)), fingerprint, name)
        elif name not in covered:
            strays.append(name)
    if strays:
        raise SparkforgeError(
            f"{', '.join(strays[:5])} in the local repository is not covered by a signature.",
            "Set the sha256 of the .deb; its key's fingerprint alone does not verify this file.",
        )


def _signed_release(
    directory: str,
    names: t.Sequence[str],
    keyring: str,
    run: Runner,
) -> str:
    """Return the text of Release that gpgv vouches for; InRelease and Release.gpg must both be good.

    apt takes InRelease where there is one, so the text that is trusted here is the one apt will trust.
    """
    text = None
    if "Release" in names and "Release.gpg" in names:
        _gpgv(run, keyring, [os.path.join(directory, "Release.gpg"), os.path.join(directory, "Release")])
        with open(os.path.join(directory, "Release"), encoding="utf-8", errors="replace") as stream:
            text = stream.read()
    if "InRelease" in names:
        text = _gpgv(run, keyring, ["--output", "-", os.path.join(directory, "InRelease")])
    if text is None:
        raise SparkforgeError(
            "The local repository has neither InRelease nor Release with Release.gpg: nothing in it is signed.",
            "Set the sha256 of the .deb as its vendor publishes it.",
        )
    return text


def _gpgv(run: Runner, keyring: str, arguments: list[str]) -> str:
    status, stdout, stderr = run(["gpgv", "--keyring", keyring, *arguments])
    if status == 0:
        return stdout
    if status == 127:
        raise SparkforgeError(
            "gpgv is not installed, so the signature inside the .deb cannot be verified.",
            "Install the package gpgv, or set the sha256 of the .deb.",
        )
    raise SparkforgeError(
        f"{os.path.basename(arguments[-1])} of the local repository is not signed by the pinned key: "
        f"{' '.join(stderr.split())[-300:]}.",
        "Do not use this .deb; check the fingerprint with the vendor, not with this download.",
        stderr=stderr,
    )


def read_key(path: str) -> bytes:
    """Return a key file of a .deb that nothing has proven yet, or so much of it that it is refused as too large."""
    with open(path, "rb") as stream:
        return stream.read(openpgp.SIZE_LIMIT + 1)
