"""Which keys a file holds as gpg reads it, which pin lets it in, and what a hostile file cannot do."""

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
    found = Keys(tmp_path_factory.mktemp("g") / "h")
    yield found
    found.close()


@pytest.fixture(scope="module")
def one(keys: Keys) -> tuple[str, bytes, bytes]:
    fingerprint = keys.make("One <one@example.invalid>")
    keys.gpg("--passphrase", "", "--quick-add-key", fingerprint, "rsa2048", "encr")
    return fingerprint, keys.gpg("--export", fingerprint), keys.gpg("--armor", "--export", fingerprint)


@pytest.fixture(scope="module")
def other(keys: Keys) -> tuple[str, bytes, bytes]:
    fingerprint = keys.make("Other <other@example.invalid>")
    return fingerprint, keys.gpg("--export", fingerprint), keys.gpg("--armor", "--export", fingerprint)


@pytest.fixture(autouse=True)
def no_traces(monkeypatch: pytest.MonkeyPatch):
    """Fail a test that leaves a file behind; the user's keys are out of reach."""
    # gpg makes a socket there, whose path may have at most 107 characters; pytest's own directories are longer.
    with tempfile.TemporaryDirectory(prefix="keys-") as directory:
        monkeypatch.setenv("GNUPGHOME", f"{directory}/mine")
        monkeypatch.setattr(openpgp.tempfile, "tempdir", directory)
        yield
        assert list(Path(directory).iterdir()) == []


def test_armored_and_binary_form_have_the_same_primary_key_and_a_subkey_is_none(one):
    fingerprint, binary, armored = one
    for data in (binary, armored, armored.replace(b"\n", b"\r\n"), b"a note before\n" + armored + b"and after\n"):
        assert openpgp.primary_fingerprints(data) == [fingerprint]
        assert openpgp.require_fingerprint(data, fingerprint, "key.pub") == binary


@pytest.mark.parametrize("form", [1, 2], ids=["binary", "armored"])
def test_a_second_key_in_the_file_is_seen_and_refused(one, other, form: int):
    both = one[form] + other[form]
    assert openpgp.primary_fingerprints(both) == [one[0], other[0]]
    with pytest.raises(SparkforgeError, match=f"has the fingerprint {other[0]}, expected {one[0]}"):
        openpgp.require_fingerprint(both, one[0], "key.pub")


def test_a_key_without_a_user_id_is_seen_too(one, other):
    # Its first packet alone (RFC 9580, 4.2.2), which gpg would not import.
    bare = other[1][: 3 + int.from_bytes(other[1][1:3], "big")]
    with pytest.raises(SparkforgeError, match=f"has the fingerprint {other[0]}"):
        openpgp.require_fingerprint(one[1] + bare, one[0], "key.pub")


def test_a_secret_key_is_refused(keys: Keys, one):
    secret = keys.gpg("--pinentry-mode", "loopback", "--passphrase", "", "--export-secret-keys", one[0])
    with pytest.raises(SparkforgeError, match="contains a secret key"):
        openpgp.require_fingerprint(secret, one[0], "key.pub")


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"<html>login</html>", "it is an HTML page"),
        (b"", "not an OpenPGP public key"),
        (b"not a key", "it begins with b'not a key', and gpg says of its 9 bytes: no valid OpenPGP data found"),
        (b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!!!\n-----END PGP PUBLIC KEY BLOCK-----\n", "gpg says of its "),
        (b"\x99\x01", "gpg says of its "),
        (b"\xcb\x01x", "gpg says of its "),
    ],
)
def test_what_is_no_public_key_is_refused_with_the_cause(data: bytes, cause: str):
    with pytest.raises(SparkforgeError, match=cause) as raised:
        openpgp.require_fingerprint(data, "0" * 40, "key.pub")
    assert "Check the URL" in raised.value.remedy


def test_a_damaged_and_a_cut_off_key_are_refused(one):
    lines = one[2].splitlines(keepends=True)
    middle = len(lines) // 2
    lines[middle] = (b"B" if lines[middle][:1] == b"A" else b"A") + lines[middle][1:]
    for data in (b"".join(lines), one[1][:300], one[2][:300], one[1] + b"rubbish"):
        with pytest.raises(SparkforgeError, match="not an OpenPGP public key"):
            openpgp.primary_fingerprints(data)


def test_a_file_that_keeps_gpg_busy_is_given_up(one, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openpgp, "_SECONDS", 1)
    begin = time.monotonic()
    with pytest.raises(SparkforgeError, match="nothing within 1 s"):
        openpgp.primary_fingerprints(one[1] + b"\xcd\x01u" * 300_000)
    assert time.monotonic() - begin < 10


def test_a_file_that_is_too_large_never_reaches_gpg(one):
    with pytest.raises(SparkforgeError, match="larger than 1048576 bytes"):
        openpgp.primary_fingerprints(one[1] * 2000)


def test_the_limit_of_a_key_s_size_is_the_last_size_that_is_read(one, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openpgp, "SIZE_LIMIT", len(one[1]))
    assert openpgp.primary_fingerprints(one[1]) == [one[0]]
    monkeypatch.setattr(openpgp, "SIZE_LIMIT", len(one[1]) - 1)
    with pytest.raises(SparkforgeError, match=f"larger than {len(one[1]) - 1} bytes"):
        openpgp.primary_fingerprints(one[1])


@pytest.mark.parametrize("value", ["3BF863CC", "A4B469963BF863CC", "", "EB69" * 9, "g" * 40, "A" * 41, "A" * 40 + ";"])
def test_a_key_id_is_no_fingerprint(value: str):
    with pytest.raises(SparkforgeError, match="not an OpenPGP fingerprint"):
        openpgp.normalise_fingerprint(value)


def test_the_keyring_of_this_distribution_with_its_revokers_is_read(keys: Keys):
    ring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    if not ring.exists():
        pytest.skip(f"{ring} is not on this machine")
    listed = keys.gpg("--show-keys", "--with-colons", str(ring)).decode().splitlines()
    ids = [line.split(":")[4] for line in listed if line.startswith("pub:")]
    assert [value[-16:] for value in openpgp.primary_fingerprints(ring.read_bytes())] == ids
