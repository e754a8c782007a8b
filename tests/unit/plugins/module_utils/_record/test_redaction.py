"""A host's record does not contain the host's name or its owner's in any field."""

import copy
import json
import re
import typing as t
from pathlib import Path

import hypothesis
import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record import record
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record.redaction import Redaction, redacted
from hypothesis import strategies as st

from tests.unit import recorded_spark

SECRETS = {
    "a host's name": "wolke7.internal.acme.example",
    "a user's name": "alice",
    "an IPv4 address": "10.23.45.67",
    "an IPv6 address": "2001:470:8::17",
    "a MAC address": "00:11:22:33:44:55",
    "a MAC address with dashes": "00-11-22-33-44-55",
    "a serial number": "1983925020080",
    "another serial number": recorded_spark.SERIAL,
    "a serial number in groups": "123456 7890",
    "a serial number with dashes": "0000-1111-2222-3333",
    "a short serial number with dashes": "8473-6251-12",
    "a number of a person": "123-45-6789",
    "a number with underscores": "123_45_6789",
    "the number of a card": "4111 1111 1111 1111",
    "a UUID": "4b825dc6-42cb-6eb9-a060-e54bf8d69288",
    "a token": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "a variable with a token": "HF_TOKEN=hf_sXqPmKcVbGtRwZyLd",
    "a header with a password": "Authorization: Basic YWxpY2U6czNjcmV0",
    "a company": "acme",
    "a Wi-Fi name": "FRITZ!Box 7590 QX",
    "what a terminal obeys": "\x1bc",
}
FORMS = ["{}", "/home/{}/data", "https://deb.{}/ubuntu", "root={}", "get {} exit", "1.0+{}", "NVIDIA GB10 {}"]
FORMS += ["serial {}"]
# These fields contain versions of packages or firmware, which may look like addresses.
VERSIONS = {"packages", "offers", "software", "behind", "install", "versions", "firmware", "candidate"}


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> dict[str, t.Any]:
    """A record before redaction."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "redacted", copy.deepcopy)
        recorder = recorded_spark.recorder(tmp_path_factory.mktemp("spark"), recorded_spark.Commands())
        recorded = t.cast(dict[str, t.Any], json.loads(json.dumps(recorder.record())))
    host = json.loads((Path(__file__).parents[5] / "tests/unit/data/hosts/dgx-spark-7.6.json").read_text())
    host["apt"]["held"] = ["cuda-nvcc-13-0"]
    host["apt"]["broken"] = [{"name": "cuda-gdb-13-0", "state": "half-configured"}]
    host["apt"]["lock_holder"] = {"pid": 812, "command": "/usr/bin/apt-get", "file": "/var/lib/dpkg/lock"}
    host["gpu"]["processes"] = [{"pid": 4711, "name": "/usr/bin/python3", "used_mib": 20480}]
    host["managed_files"] = {"/etc/ld.so.conf.d/sparkforge-cudss.conf": "9f86d081" * 8}
    stack = {"name": "torch-2.14.1", "method": "wheel"}
    host["environments"] = {"torch": {"current": "5d41402abc4b", "stack": stack, "torch": "2.14.1+cu130"}}
    host["unread"] = [{"probe": "/etc/apt/preferences.d/x", "reason": "Permission denied"}]
    return {**host, "record": recorded["record"]}


def with_secret(value: t.Any, form: str, secret: t.Any, key: str = "") -> t.Any:
    """Return a record with the secret in all values and in two keys of each mapping."""
    if isinstance(value, dict):
        additions = {form.format(secret): next(iter(value.values()), ""), f"cuda-{secret}": "1.0"} if value else {}
        mapping = {
            name: with_secret(inner, form, secret, key if key in VERSIONS else name) for name, inner in value.items()
        }
        return {**mapping, **copy.deepcopy(additions)}
    if isinstance(value, list):
        return [with_secret(row, form, secret, key) for row in value]
    if isinstance(value, str):
        return value if key in VERSIONS and secret.count(".") == 3 else form.format(secret)
    return int(secret) if str(secret).isdigit() else value


def assert_gone(raw: dict[str, t.Any], form: str, secret: str) -> None:
    assert list(occurrences(redacted(with_secret(raw, form, secret)), secret.lower())) == []


def occurrences(value: t.Any, secret: str, path: str = "") -> t.Iterator[str]:
    """Yield the paths and values that contain a secret."""
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in rows:
        yield from occurrences(inner, secret, f"{path}/{name}")
    if (not rows and secret in str(value).lower()) or secret in path.rpartition("/")[2].lower():
        yield f"{path}: {value}"


@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
def test_secrets_are_redacted_in_every_field(raw: dict[str, t.Any], secret: str) -> None:
    for form in FORMS:
        assert_gone(raw, form, secret)


# Common words may be kept in a sentence, because they do not identify a host; these names are not words.
_names = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=3, max_size=12).map("zq{}".format)
_groups = st.lists(st.from_regex(r"\A\d{4}\Z"), min_size=3, max_size=6)
secrets = st.one_of(
    _names,
    st.lists(_names, min_size=2, max_size=4).map(".".join),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map(lambda address: address.exploded),
    st.from_regex(r"\A([0-9a-f]{2}:){5}[0-9a-f]{2}\Z"),
    st.integers(2 * 10**9, 10**20).map(str),
    st.tuples(_groups, st.sampled_from(" -")).map(lambda row: row[1].join(row[0])),
    st.from_regex(r"\A[A-Z]{4,8}\d{6,8}[A-Z]\d?\Z"),
    st.uuids().map(str),
    st.from_regex(r"\A(hf|ghp|sk)_[A-Za-z0-9]{20,40}\Z"),
)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(secret=secrets, form=st.sampled_from(FORMS))
def test_generated_secrets_are_redacted(raw: dict[str, t.Any], secret: str, form: str) -> None:
    assert_gone(raw, form, secret)


def test_environments_are_kept(raw: dict[str, t.Any]) -> None:
    assert redacted(raw)["environments"] == raw["environments"]


def test_unknown_fields_are_dropped(raw: dict[str, t.Any]) -> None:
    extended = {**raw, "hostname": "x", "record": {**raw["record"], "environ": {"A": "b"}}}
    assert redacted(extended) == redacted(raw)
    unknown = {"platform": {"A": "b"}, "cpu": "b", "python": ["b"]}
    assert redacted(unknown) == {"platform": None, "cpu": None, "python": [None]}
    assert "addresses" not in json.dumps(redacted(raw)["record"]["fabric"])


@pytest.mark.parametrize(
    ("uri", "recorded"),
    [
        # A user name and password for a proxy or a repository, and a token in the query.
        ("https://alice:s3cret@esm.ubuntu.com/apps/ubuntu", "https://esm.ubuntu.com/apps/ubuntu"),
        ("https://alice:p@ss@esm.ubuntu.com/apps/ubuntu", "https://esm.ubuntu.com/apps/ubuntu"),
        ("https://esm.ubuntu.com/apps?token=s3cret#x", "https://esm.ubuntu.com/apps"),
        ("https://esm.ubuntu.com?token=s3cret", "https://esm.ubuntu.com"),
        ("https://apt.acme.example:8443/s3cret/ubuntu/", "https://redacted-1.invalid/"),
        ("http://10.1.2.3/ubuntu", "https://redacted-1.invalid/"),
        ("https://notnvidia.com/ubuntu", "https://redacted-1.invalid/"),
        ("https://ppa.launchpadcontent.net/alice/ubuntu", "https://ppa.launchpadcontent.net/redacted-1/ubuntu"),
    ],
)
def test_address_keeps_its_public_part(uri: str, recorded: str) -> None:
    assert redacted({"apt_sources": [{"uris": [uri]}]}) == {"apt_sources": [{"uris": [recorded]}]}


VERSION_NUMBERS = (
    "2.28.3-1+cuda13.0 1:20.1.2-0ubuntu1~24.04.2 580.178.04-0ubuntu0.24.04.1 20240203 4.8+really4.7.5-1 "
    "7.0.0-1019.19~24.04.2 12.9.1.4 9.13.0.50-1 10.4.0.35-1 1:2.0.1.7 13.1.0.3+cuda13.0"
).split()


@pytest.mark.parametrize("version", VERSION_NUMBERS)
def test_debian_version_is_kept(version: str) -> None:
    assert redacted({"apt": {"packages": {"git": version}}})["apt"]["packages"] == {"git": version}


@pytest.mark.parametrize("text", ["10.23.45.67", "192.168.1.17", "1.0+172.16.4.9", "93.184.216.34", "2:192.0.2.7~a"])
def test_address_instead_of_version_becomes_0(text: str) -> None:
    assert redacted({"apt": {"packages": {"git": text}}})["apt"]["packages"] == {"git": "0"}


@pytest.mark.parametrize(
    "text", ["1.0+bobs.laptop", "1234567890123", "0000-1111-2222-3333", "4111.1111.1111.1111", "x"]
)
def test_version_with_words_or_serial_number_becomes_0(text: str) -> None:
    assert redacted({"apt": {"packages": {"git": text, "bobs-agent": "1"}}})["apt"]["packages"] == {"git": "0"}


def test_proof_report_keeps_text_without_names(raw: dict[str, t.Any]) -> None:
    report = redacted(raw)["record"]["report"]
    (check,) = report["checks"]
    assert check["cause"].startswith("RuntimeError: CUBLAS_STATUS_NOT_SUPPORTED in /home/redacted-")
    assert (check["measured"], check["seconds"], report["driver"]) == ("0.0125 of 0.02", 1.5, "580.178.04")
    assert "host" not in report and "wolke7" not in json.dumps(report)
    # The proof's tables alone have the names of some operators.
    assert Redaction().prose("erfinv, hypot by 90 units") == "erfinv, hypot by 90 units"


def test_same_text_gets_same_replacement() -> None:
    rows = [{"mount": mount} for mount in ("/acme", "/nimbus", "/acme/data", "/home")]
    mounts = [row["mount"] for row in redacted({"disk": rows})["disk"]]
    assert mounts == ["/redacted-1", "/redacted-2", "/redacted-1/data", "/home"]


LOOKALIKES = ["redacted-1 alice", "redacted-1alice", "redacted-1.invalid.alice.example", "redacted-1/alice"]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_lookalike_of_replacement_is_redacted(text: str) -> None:
    redaction = Redaction()
    results = [redaction.value("name", "held", text), redaction.value(re.compile("a"), "x", text)]
    results += [redaction.prose(f"get {text} exit"), redaction.path(f"/etc/{text}/{text}.conf")]
    results += [redaction.uri(f"https://{text.replace('/', '.')}/ubuntu")]
    assert not [result for result in results if "alice" in result]
    assert redaction.path("/etc/redacted-1.conf") == "/etc/redacted-1.conf"


@pytest.mark.parametrize(
    ("kind", "kept", "redacted_text"),
    [
        ("name", "linux-12-34-56", "linux-12-34-567"),
        ("name", "linux.1234.5678.90", "linux.1234.5678.901"),
        ("version", "15.1.2.3", "16.1.2.3"),
    ],
)
def test_limits_of_redaction(kind: str, kept: str, redacted_text: str) -> None:
    redaction = Redaction()
    assert getattr(redaction, kind)(kept) == kept
    assert getattr(redaction, kind)(redacted_text) in ("redacted-1", "0")


def test_second_redaction_changes_nothing(raw: dict[str, t.Any]) -> None:
    line = "BOOT_IMAGE=/boot/vmlinuz-6.17.0-1021-nvidia root=UUID=4f3b-acme quiet kho=off"
    once = redacted({**raw, "kernel": {**raw["kernel"], "cmdline": line}})
    assert once["kernel"]["cmdline"] == "quiet kho=off"
    assert redacted(once) == once
