"""Keys in a file as gpg reads them, their pinned fingerprints, and hostile key files."""

import tempfile
import time
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import openpgp
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.signed_repository import Keys, require

require("gpg", "gpgconf")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    keys = Keys(tmp_path_factory.mktemp("g") / "h")
    yield keys
    keys.close()


@pytest.fixture(scope="module")
def key(keys: Keys) -> tuple[str, bytes, bytes]:
    fingerprint = keys.make("One <one@example.invalid>")
    keys.gpg("--passphrase", "", "--quick-add-key", fingerprint, "rsa2048", "encr")
    return fingerprint, keys.gpg("--export", fingerprint), keys.gpg("--armor", "--export", fingerprint)


@pytest.fixture(scope="module")
def other_key(keys: Keys) -> tuple[str, bytes, bytes]:
    fingerprint = keys.make("Other <other@example.invalid>")
    return fingerprint, keys.gpg("--export", fingerprint), keys.gpg("--armor", "--export", fingerprint)


@pytest.fixture(autouse=True)
def isolated_gnupg(monkeypatch: pytest.MonkeyPatch):
    """Keep tests away from the user's keys, and fail a test that leaves a file."""
    # The path of gpg's socket is limited to 107 characters, and pytest's directories have longer paths.
    with tempfile.TemporaryDirectory(prefix="keys-") as directory:
        monkeypatch.setenv("GNUPGHOME", f"{directory}/mine")
        monkeypatch.setattr(openpgp.tempfile, "tempdir", directory)
        yield
        assert list(Path(directory).iterdir()) == []


def test_primary_key_of_armored_and_binary_file(key):
    fingerprint, binary, armored = key
    for data in (binary, armored, armored.replace(b"\n", b"\r\n"), b"a note before\n" + armored + b"and after\n"):
        assert openpgp.primary_fingerprints(data) == [fingerprint]
        assert openpgp.require_fingerprint(data, fingerprint, "key.pub") == binary


@pytest.mark.parametrize("form", [1, 2], ids=["binary", "armored"])
def test_second_key_in_the_file_is_refused(key, other_key, form: int):
    both = key[form] + other_key[form]
    assert openpgp.primary_fingerprints(both) == [key[0], other_key[0]]
    with pytest.raises(SparkforgeError, match=f"has the fingerprint {other_key[0]}, expected {key[0]}"):
        openpgp.require_fingerprint(both, key[0], "key.pub")


def test_key_without_user_id_is_refused(key, other_key):
    # gpg would not import a key's first packet on its own (RFC 9580, 4.2.2).
    bare = other_key[1][: 3 + int.from_bytes(other_key[1][1:3], "big")]
    with pytest.raises(SparkforgeError, match=f"has the fingerprint {other_key[0]}"):
        openpgp.require_fingerprint(key[1] + bare, key[0], "key.pub")


def test_secret_key_is_refused(keys: Keys, key):
    secret = keys.gpg("--pinentry-mode", "loopback", "--passphrase", "", "--export-secret-keys", key[0])
    with pytest.raises(SparkforgeError, match="a secret key"):
        openpgp.require_fingerprint(secret, key[0], "key.pub")


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"<html>login</html>", "an HTML page"),
        (b"", "OpenPGP public key"),
        (b"not a key", "b'not a key', and gpg .* 9 bytes: no valid OpenPGP data found"),
        (b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!!!\n-----END PGP PUBLIC KEY BLOCK-----\n", "gpg reports"),
        (b"\x99\x01", "gpg reports"),
        (b"\xcb\x01x", "gpg reports"),
    ],
)
def test_other_file_is_refused_with_cause(data: bytes, cause: str):
    with pytest.raises(SparkforgeError, match=cause) as raised:
        openpgp.require_fingerprint(data, "0" * 40, "key.pub")
    assert "Check the URL" in raised.value.remedy


def test_damaged_and_truncated_keys_are_refused(key):
    lines = key[2].splitlines(keepends=True)
    middle = len(lines) // 2
    lines[middle] = (b"B" if lines[middle][:1] == b"A" else b"A") + lines[middle][1:]
    for data in (b"".join(lines), key[1][:300], key[2][:300], key[1] + b"rubbish"):
        with pytest.raises(SparkforgeError, match="OpenPGP public key"):
            openpgp.primary_fingerprints(data)


def test_file_that_keeps_gpg_busy_is_refused(key, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openpgp, "_SECONDS", 1)
    begin = time.monotonic()
    with pytest.raises(SparkforgeError, match="nothing within 1 s"):
        openpgp.primary_fingerprints(key[1] + b"\xcd\x01u" * 300_000)
    assert time.monotonic() - begin < 10


def test_large_file_does_not_reach_gpg(key):
    with pytest.raises(SparkforgeError, match="larger than 1048576 bytes"):
        openpgp.primary_fingerprints(key[1] * 2000)


def test_file_of_the_largest_size_is_read(key, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openpgp, "SIZE_LIMIT", len(key[1]))
    assert openpgp.primary_fingerprints(key[1]) == [key[0]]
    monkeypatch.setattr(openpgp, "SIZE_LIMIT", len(key[1]) - 1)
    with pytest.raises(SparkforgeError, match=f"larger than {len(key[1]) - 1} bytes"):
        openpgp.primary_fingerprints(key[1])


@pytest.mark.parametrize("value", ["3BF863CC", "A4B469963BF863CC", "", "EB69" * 9, "g" * 40, "A" * 41, "A" * 40 + ";"])
def test_key_id_is_not_a_fingerprint(value: str):
    with pytest.raises(SparkforgeError, match="OpenPGP fingerprint"):
        openpgp.normalise_fingerprint(value)


def test_distribution_keyring_with_revokers(keys: Keys):
    ring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    if not ring.exists():
        pytest.skip(f"{ring} is missing")
    listed = keys.gpg("--show-keys", "--with-colons", str(ring)).decode().splitlines()
    ids = [line.split(":")[4] for line in listed if line.startswith("pub:")]
    assert [value[-16:] for value in openpgp.primary_fingerprints(ring.read_bytes())] == ids
