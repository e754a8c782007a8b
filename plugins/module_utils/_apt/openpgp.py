# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Reads OpenPGP certificates (RFC 4880 and RFC 9580) as far as naming their keys needs it.

A fingerprint is computed here from the key's own bytes, before the keyring reaches a directory that apt reads,
so a host needs no ``gpg`` (minimal Debian and Ubuntu have only ``gpgv``, which cannot list keys).
Signatures are not checked here: that is what ``gpgv`` and apt do, with the keyring that this let through.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

PUBLIC_KEY = 6
PUBLIC_SUBKEY = 14
# What a transferable public key may hold: signature, public key, marker, trust, user id, public subkey,
# user attribute, padding (RFC 9580, 10.1).
CERTIFICATE_TAGS = frozenset({2, PUBLIC_KEY, 10, 12, 13, PUBLIC_SUBKEY, 17, 21})
SECRET_KEY_TAGS = frozenset({5, 7})

_ARMOR = re.compile(
    rb"^-----BEGIN (PGP [A-Z ]+)-----[ \t]*\r?\n(.*?)^-----END \1-----[ \t]*\r?$", re.MULTILINE | re.DOTALL
)
_CRC24_INIT = 0xB704CE
_CRC24_POLYNOMIAL = 0x1864CFB

_REMEDY = "Check the URL: it must serve the OpenPGP public key of the repository, armored or binary."


class Packet(t.NamedTuple):
    """One OpenPGP packet: its tag and its body without the header."""

    tag: int
    body: bytes


def crc24(data: bytes) -> int:
    """Return the CRC-24 of RFC 4880, 6.1, that ends an armored block."""
    crc = _CRC24_INIT
    for byte in data:
        crc ^= byte << 16
        for _bit in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= _CRC24_POLYNOMIAL
    return crc & 0xFFFFFF


def dearmor(data: bytes) -> bytes:
    """Return the binary form of a key file; binary input is returned as it is.

    Several armored blocks in one file are joined, as ``gpg --dearmor`` of each would be. The checksum line is
    checked where there is one (RFC 9580 made it optional).

    :raises SparkforgeError: for text that is no OpenPGP block, broken base64, or a checksum that does not
        match.
    """
    if data[:1] and data[0] & 0x80:
        return data
    blocks = list(_ARMOR.finditer(data))
    if not blocks:
        looks_like_html = data.lstrip()[:1] == b"<"
        what = "an HTML page" if looks_like_html else f"{len(data)} bytes that begin with {data[:24]!r}"
        raise SparkforgeError(f"The key file is not an OpenPGP public key: it is {what}.", _REMEDY)
    return b"".join(_decode_block(block.group(1), block.group(2)) for block in blocks)


def _decode_block(kind: bytes, content: bytes) -> bytes:
    if kind not in (b"PGP PUBLIC KEY BLOCK", b"PGP SIGNATURE"):
        raise SparkforgeError(f"The key file holds a {kind.decode()}, not a public key.", _REMEDY)
    lines = [line.strip() for line in content.splitlines()]
    # Armor headers (Version:, Comment:) end with an empty line; a block without headers may lack that line.
    if b"" in lines and all(b":" in line for line in lines[: lines.index(b"")]):
        lines = lines[lines.index(b"") + 1 :]
    checksum = None
    encoded = []
    for line in lines:
        if line.startswith(b"=") and len(line) == 5:
            checksum = line[1:]
        else:
            encoded.append(line)
    try:
        binary = base64.b64decode(b"".join(encoded), validate=True)
        wanted = None if checksum is None else int.from_bytes(base64.b64decode(checksum, validate=True), "big")
    except (binascii.Error, ValueError) as error:
        raise SparkforgeError(f"The armored key is damaged: {error}.", _REMEDY) from error
    if wanted is not None and crc24(binary) != wanted:
        raise SparkforgeError(
            f"The armored key is damaged: its CRC-24 is {crc24(binary):06x}, its last line says {wanted:06x}.",
            "Fetch the key again; a proxy or an editor changed it.",
        )
    return binary


def parse_packets(data: bytes) -> t.List[Packet]:
    """Split binary OpenPGP data into its packets, old and new header format, partial lengths included.

    :raises SparkforgeError: for data that ends inside a packet or does not begin with one.
    """
    packets = []
    position = 0
    try:
        while position < len(data):
            first = data[position]
            if not first & 0x80:
                raise SparkforgeError(f"The keyring is damaged: no OpenPGP packet at byte {position}.", _REMEDY)
            position += 1
            if first & 0x40:
                tag = first & 0x3F
                body, position = _new_format_body(data, position)
            else:
                tag = (first >> 2) & 0x0F
                body, position = _old_format_body(data, position, first & 0x03)
            packets.append(Packet(tag, body))
    except (IndexError, struct.error) as error:
        raise SparkforgeError("The keyring is cut off inside a packet.", _REMEDY) from error
    return packets


def _take(data: bytes, position: int, length: int) -> t.Tuple[bytes, int]:
    end = position + length
    if end > len(data):
        raise IndexError(end)
    return data[position:end], end


def _old_format_body(data: bytes, position: int, length_type: int) -> t.Tuple[bytes, int]:
    if length_type == 3:  # indeterminate: to the end of the data
        return data[position:], len(data)
    size = (1, 2, 4)[length_type]
    raw, position = _take(data, position, size)
    return _take(data, position, int.from_bytes(raw, "big"))


def _new_format_body(data: bytes, position: int) -> t.Tuple[bytes, int]:
    body = b""
    while True:
        first = data[position]
        position += 1
        partial = False
        if first < 192:
            length = first
        elif first < 224:
            length = ((first - 192) << 8) + data[position] + 192
            position += 1
        elif first == 255:
            raw, position = _take(data, position, 4)
            length = struct.unpack(">I", raw)[0]
        else:
            length = 1 << (first & 0x1F)
            partial = True
        piece, position = _take(data, position, length)
        body += piece
        if not partial:
            return body, position


def fingerprint(body: bytes) -> str:
    """Return the fingerprint, upper-case hexadecimal, of a public-key packet's body.

    Version 4 is SHA-1 over 0x99, the two-byte length and the body; version 5 (LibrePGP) and version 6 (RFC
    9580)
    are SHA-256 over 0x9A or 0x9B, the four-byte length and the body.

    :raises SparkforgeError: for version 3 and older, whose MD5 fingerprints prove nothing, and unknown
        versions.
    """
    version = body[0] if body else 0
    if version == 4:
        digest = hashlib.sha1(b"\x99" + struct.pack(">H", len(body)) + body, usedforsecurity=False).hexdigest()
    elif version in (5, 6):
        prefix = b"\x9a" if version == 5 else b"\x9b"
        digest = hashlib.sha256(prefix + struct.pack(">I", len(body)) + body).hexdigest()
    else:
        raise SparkforgeError(
            f"The keyring holds an OpenPGP key of version {version}, which has no usable fingerprint.",
            "Ask the repository's owner for a key of version 4 or newer.",
        )
    return digest.upper()


def primary_fingerprints(data: bytes) -> t.List[str]:
    """Return the fingerprint of each primary key in a key file, armored or binary, in order, without repeats.

    :raises SparkforgeError: for a file that is no certificate, that holds secret keys, or that holds no key.
    """
    found: t.List[str] = []
    for packet in parse_packets(dearmor(data)):
        if packet.tag in SECRET_KEY_TAGS:
            raise SparkforgeError(
                "The key file holds a secret key.",
                "Publish the public key (gpg --export) and treat the secret as lost.",
            )
        if packet.tag not in CERTIFICATE_TAGS:
            raise SparkforgeError(
                f"The key file holds an OpenPGP packet of type {packet.tag}, which no public key has.",
                _REMEDY,
            )
        if packet.tag == PUBLIC_KEY:
            value = fingerprint(packet.body)
            if value not in found:
                found.append(value)
    if not found:
        raise SparkforgeError("The key file holds no public key.", _REMEDY)
    return found


def normalise_fingerprint(value: str) -> str:
    """Return a fingerprint as 40 or 64 upper-case hexadecimal digits; spaces, colons and 0x are dropped.

    :raises SparkforgeError: for a short or long key id: those can be forged at will.
    """
    digits = re.sub(r"[\s:]", "", value).upper()
    if digits.startswith("0X"):
        digits = digits[2:]
    if not re.fullmatch(r"[0-9A-F]{40}|[0-9A-F]{64}", digits):
        raise SparkforgeError(
            f"{value!r} is not an OpenPGP fingerprint: it has {len(digits)} characters, not 40 or 64 hex digits.",
            "Give the whole fingerprint as `gpg --show-keys --with-fingerprint` prints it; a key id can be forged.",
        )
    return digits


def require_fingerprint(data: bytes, pinned: str, origin: str) -> bytes:
    """Return the binary keyring if every primary key in it is the pinned one.

    :param origin: URL or path, for the message.
    :raises SparkforgeError: for any other key: one more key in a keyring is one more signer that apt trusts.
    """
    wanted = normalise_fingerprint(pinned)
    found = primary_fingerprints(data)
    others = [value for value in found if value != wanted]
    if others:
        raise SparkforgeError(
            f"The key at {origin} has the fingerprint {', '.join(others)}, the pin says {wanted}.",
            "Ask the repository's owner which fingerprint is right, by another way than this download; then pin it.",
            expected=wanted,
            found=found,
        )
    return dearmor(data)
