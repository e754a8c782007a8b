# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fingerprints, armor and pins, compared with what gpg itself says."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import openpgp
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.signed_repository import Keys, require

require("gpg", "gpgconf")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    found = Keys(tmp_path_factory.mktemp("g") / "h")
    yield found
    found.close()


@pytest.fixture(scope="module")
def one(keys: Keys) -> tuple[str, bytes, bytes]:
    fingerprint = keys.make("One <one@example.invalid>")
    return fingerprint, keys.gpg("--export", fingerprint), keys.gpg("--armor", "--export", fingerprint)


@pytest.fixture(scope="module")
def other(keys: Keys) -> tuple[str, bytes]:
    fingerprint = keys.make("Other <other@example.invalid>")
    return fingerprint, keys.gpg("--export", fingerprint)


def test_the_fingerprint_is_the_one_that_gpg_prints(one):
    fingerprint, binary, armored = one
    assert openpgp.primary_fingerprints(binary) == [fingerprint]
    assert openpgp.primary_fingerprints(armored) == [fingerprint]


def test_a_key_of_nvidia_s_fingerprint_length_is_forty_digits(one):
    assert len(openpgp.primary_fingerprints(one[1])[0]) == 40


def test_dearmoring_gives_the_bytes_that_gpg_dearmor_gives(one):
    _fingerprint, binary, armored = one
    assert openpgp.dearmor(armored) == binary
    assert openpgp.dearmor(binary) == binary
    assert openpgp.dearmor(armored.replace(b"\n", b"\r\n")) == binary
    assert openpgp.dearmor(b"a note before\n" + armored + b"and after\n") == binary


def test_a_subkey_is_no_primary_key(keys: Keys):
    fingerprint = keys.make("Sub <sub@example.invalid>")
    keys.gpg("--passphrase", "", "--quick-add-key", fingerprint, "rsa2048", "encr")
    data = keys.gpg("--export", fingerprint)
    assert openpgp.PUBLIC_SUBKEY in {packet.tag for packet in openpgp.parse_packets(data)}
    assert openpgp.primary_fingerprints(data) == [fingerprint]


def test_a_second_key_in_the_keyring_is_refused(one, other):
    with pytest.raises(SparkforgeError, match=f"has the fingerprint {other[0]}, the pin says {one[0]}"):
        openpgp.require_fingerprint(one[1] + other[1], one[0], "key.pub")


def test_a_second_armored_block_is_seen_too(keys: Keys, one, other):
    both = one[2] + keys.gpg("--armor", "--export", other[0])
    assert openpgp.primary_fingerprints(both) == [one[0], other[0]]
    with pytest.raises(SparkforgeError, match="the pin says"):
        openpgp.require_fingerprint(both, one[0], "key.pub")


def test_the_pinned_key_is_let_in_as_a_binary_keyring(one):
    spaced = " ".join(one[0][i : i + 4] for i in range(0, 40, 4)).lower()
    assert openpgp.require_fingerprint(one[2], spaced, "key.pub") == one[1]


def test_one_changed_character_fails_the_checksum(one):
    lines = one[2].splitlines(keepends=True)
    middle = len(lines) // 2
    flipped = b"B" if lines[middle][:1] == b"A" else b"A"
    lines[middle] = flipped + lines[middle][1:]
    with pytest.raises(SparkforgeError, match="CRC-24"):
        openpgp.dearmor(b"".join(lines))


def test_armor_without_a_checksum_is_read(one):
    lines = [line for line in one[2].splitlines(keepends=True) if not (line.startswith(b"=") and len(line) == 6)]
    assert openpgp.primary_fingerprints(b"".join(lines)) == [one[0]]


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"<html>login</html>", "an HTML page"),
        (b"", "not an OpenPGP public key"),
        (b"not a key", "begin with b'not a key'"),
        (b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!!!\n-----END PGP PUBLIC KEY BLOCK-----\n", "damaged"),
        (b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nAAAA\n-----END PGP PRIVATE KEY BLOCK-----\n", "PRIVATE"),
        (b"\x99\x01", "cut off"),
        (b"\xcb\x01x", "packet of type 11"),
        (b"\x95\x01\x00" + b"\x00" * 256, "secret key"),
        (b"\xb4\x01x", "no public key"),
    ],
)
def test_what_is_no_public_key_is_refused_with_the_cause(data: bytes, cause: str):
    with pytest.raises(SparkforgeError, match=cause):
        openpgp.primary_fingerprints(data)


def test_a_keyring_that_ends_early_is_refused_at_each_length(one):
    for length in range(1, 120, 7):
        with pytest.raises(SparkforgeError):
            openpgp.primary_fingerprints(one[1][:length])


@pytest.mark.parametrize(("version", "prefix"), [(5, b"\x9a"), (6, b"\x9b")])
def test_keys_of_version_five_and_six_have_a_sha256_fingerprint(version: int, prefix: bytes):
    body = bytes([version]) + b"\x00" * 40
    expected = hashlib.sha256(prefix + struct.pack(">I", len(body)) + body).hexdigest().upper()
    assert openpgp.primary_fingerprints(bytes([0xC6, len(body)]) + body) == [expected]


def test_a_key_of_version_three_is_refused():
    with pytest.raises(SparkforgeError, match="version 3"):
        openpgp.fingerprint(b"\x03" + b"\x00" * 20)


def test_every_length_form_of_a_packet_is_read():
    def bodies(data: bytes) -> list[bytes]:
        return [packet.body for packet in openpgp.parse_packets(data)]

    long = b"x" * 9000
    assert bodies(b"\xcd\x03abc") == [b"abc"]
    assert bodies(b"\xcd" + bytes([192 + ((1000 - 192) >> 8), (1000 - 192) & 255]) + long[:1000]) == [long[:1000]]
    assert bodies(b"\xcd\xff" + struct.pack(">I", 9000) + long) == [long]
    assert bodies(b"\xcd" + bytes([224 + 9]) + long[:512] + b"\x02yy") == [long[:512] + b"yy"]
    assert bodies(b"\xb4\x03abc" + b"\xb5\x00\x02de" + b"\xb6\x00\x00\x00\x01f") == [b"abc", b"de", b"f"]
    assert bodies(b"\xb7rest") == [b"rest"]


@pytest.mark.parametrize("value", ["3BF863CC", "A4B469963BF863CC", "", "EB69" * 9, "g" * 40])
def test_a_key_id_is_no_fingerprint(value: str):
    with pytest.raises(SparkforgeError, match="not an OpenPGP fingerprint"):
        openpgp.normalise_fingerprint(value)


def test_crc24_of_nothing_is_the_initial_value():
    assert openpgp.crc24(b"") == 0xB704CE


def test_the_keyring_of_this_distribution_reads_as_gpg_reads_it(keys: Keys):
    ring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    if not ring.exists():
        pytest.skip(f"{ring} is not on this machine")
    listed = keys.gpg("--show-keys", "--with-colons", str(ring)).decode().splitlines()
    expected = []
    for number, line in enumerate(listed):
        if line.startswith("pub"):
            # A designated revoker (rvk) may stand between the key and its fingerprint.
            expected.append(next(row.split(":")[9] for row in listed[number:] if row.startswith("fpr")))
    assert sorted(openpgp.primary_fingerprints(ring.read_bytes())) == sorted(set(expected))
