"""Finding Sparks: names, addresses, NVIDIA Sync and ssh host keys."""

import contextlib
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sparkforge import Exit, Refusal, find, inventory
from sparkforge.find import Spark

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRnt4vLtUNZ7dEuiqoOqMY6+AZ3XUJVbPf5ANL5aOQl"
OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPlJAZ0CjOXPmmRrkPuSFWSKKFScUxVzwDe5iF8f+d8z"


def spark(name: str, *addresses: str, source: str = "in this network") -> Spark:
    return Spark(name, list(addresses or ("192.0.2.1",)), source)


def test_names_in_an_ssh_configuration_are_read_without_patterns() -> None:
    text = 'Host spark-85e8.local  gx10-1\n  Hostname x\n\nhost="lab"\nHost *\nMatch host a\n# Host comment\nHost !no\n'
    assert find.sync_aliases(text) == ["spark-85e8.local", "gx10-1", "lab"]


def test_configuration_of_nvidia_sync_is_read_like_opensshs(tmp_path: Path) -> None:
    key = tmp_path / "Application Support" / "nvsync.key"
    key.parent.mkdir()
    key.touch()
    path = tmp_path / "ssh_config"
    path.write_text(
        f'Host spark-85e8.local\n  Hostname spark-85e8.local\n  User ada\n  Port 2200\n  IdentityFile "{key}"\n'
        "Host Attic\n  Hostname 192.0.2.7\n  IdentityFile /nowhere/key\nHost *\n  User bob\n"
    )
    first, second = find.by_sync(path)
    assert first == Spark("spark-85e8", ["spark-85e8.local"], "in NVIDIA Sync", 2200, "ada", str(key))
    assert (second.name, second.addresses, second.port, second.user) == ("attic", ["192.0.2.7"], 22, "bob")
    assert second.key_file == ""
    assert find.by_sync(tmp_path / "none") == []


def test_a_spark_in_network_and_nvidia_sync_is_listed_once() -> None:
    mdns = [spark("spark-1", "192.0.2.1"), spark("spark-2", "192.0.2.2"), spark("spark-3", "192.0.2.3")]
    sync = [
        Spark("spark-1", ["spark-1.local"], "in NVIDIA Sync", user="ada", key_file="/k"),
        Spark("desk", ["192.0.2.2"], "in NVIDIA Sync", user="bob"),
        Spark("away", ["198.51.100.1"], "in NVIDIA Sync"),
    ]
    sparks = find.discovery.combined(mdns, sync)
    assert [spark.name for spark in sparks] == ["away", "spark-1", "spark-2", "spark-3"]
    assert (sparks[1].user, sparks[1].key_file, sparks[1].addresses) == ("ada", "/k", ["192.0.2.1"])
    assert sparks[1].source == "in this network, in NVIDIA Sync"
    assert sparks[2].user == "bob"


def keys(monkeypatch: pytest.MonkeyPatch, home: Path, **by_address: str) -> None:
    """Set the host keys of addresses: ``a1=KEY``."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(find, "host_keys", lambda address, _port: by_address.get(address, "").splitlines())


def test_the_first_address_that_answers_is_kept_with_its_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a2=KEY, a3=KEY)
    answering, silent = spark("spark-1", "a1", "a2", "a3"), spark("spark-2", "a4")
    find.reach([answering, silent], tmp_path / "known_hosts")
    assert (answering.addresses, answering.key, answering.is_reachable) == (["a2"], KEY, True)
    assert (silent.addresses, silent.key, silent.is_reachable) == (["a4"], "", False)


def test_two_machines_of_one_name_are_refused_with_both_addresses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    keys(monkeypatch, tmp_path, a1=KEY, a2=OTHER)
    with pytest.raises(Refusal) as refused:
        find.reach([spark("spark-1", "a1", "a2")], tmp_path / "known_hosts")
    assert refused.value.code == Exit.NO_SPARK
    assert "spark-1: a1 and a2 have" in refused.value.cause
    assert "hostnamectl" in refused.value.remedy


ECDSA = (
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLdCYpRp"
    "SG6nF+fjq8pV2pXRlwJ8bXgTz6gSGlbeaGGz"
)


def distinct_machines(known: Path, *sparks: Spark) -> tuple[list[Spark], list[str]]:
    """Return each machine once, as setup does, and the sentences about merged names."""
    find.reach(sparks, known)
    names = find.discovery.names_by_key(known.read_text()) if known.is_file() else {}
    machines, sentences = find.discovery.distinct(sparks, names)
    return machines, sentences


def test_a_spark_renamed_by_avahi_is_recognized_by_its_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a1=KEY, a2=KEY, a3=f"{KEY}\n{ECDSA}", a4=OTHER)
    desk = Spark("desk-spark", ["a3"], "in NVIDIA Sync", user="ada", key_file="/k")
    sparks = [spark("spark-ab12-2", "a1"), desk, spark("spark-ab12", "a2"), spark("spark-cd34", "a4")]
    machines, sentences = distinct_machines(tmp_path / "known_hosts", *sparks)
    assert [(machine.name, machine.addresses, machine.user, machine.key_file) for machine in machines] == [
        ("desk-spark", ["a3"], "ada", "/k"),
        ("spark-cd34", ["a4"], "", ""),
    ]
    assert [text.split(":")[0] for text in sentences] == ["spark-ab12 is desk-spark", "spark-ab12-2 is desk-spark"]
    assert all(find.fingerprint(KEY) in text for text in sentences)


def test_a_spark_of_the_inventory_keeps_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a1=KEY, a2=OTHER)
    known = tmp_path / "known_hosts"
    known.write_text(f"# by hand\n@revoked * {ECDSA}\nspark-ab12 {KEY}\n192.0.2.1 {KEY}\n\n|1|aa|bb {OTHER}\n")
    machines, sentences = distinct_machines(known, spark("spark-ab12-2", "a1"), spark("spark-cd34", "a2"))
    assert [(machine.name, machine.known) for machine in machines] == [("spark-ab12", True), ("spark-cd34", False)]
    assert len(sentences) == 1 and sentences[0].startswith("spark-ab12-2 is spark-ab12: ")


def test_silent_machines_are_not_merged() -> None:
    silent = [spark("spark-1"), spark("spark-2")]
    assert find.discovery.distinct(silent, {}) == (silent, [])


def reach(name: str = "spark-1", *addresses: str, known: Path, port: int = 22) -> Spark:
    result = Spark(name, list(addresses or ("a1",)), "in this network", port)
    find.reach([result], known)
    return result


@pytest.mark.parametrize("name", ["spark-1", "spark-1.local", "a1"])
@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("offered", [OTHER, ECDSA, f"{OTHER}\n{ECDSA}"])
def test_a_host_without_its_known_key_is_refused(name, hashed, offered, monkeypatch, tmp_path):
    known = tmp_path / "known_hosts"
    known.write_text(f"# a comment\n{name} {KEY}\n")
    if hashed:
        subprocess.run(["ssh-keygen", "-H", "-f", known], check=True, capture_output=True)
    keys(monkeypatch, tmp_path, a1=offered)
    stranger = reach(known=known)
    assert (stranger.known, stranger.changed) == (False, f"{known} has {find.fingerprint(KEY)} for {name}")
    # If the known key is among those offered, only that one is used, because offering a key does not prove ownership.
    keys(monkeypatch, tmp_path, a1=f"{offered}\n{KEY}")
    known_spark = reach(known=known)
    assert (known_spark.known, known_spark.changed, known_spark.key) == (True, "", KEY)


@pytest.mark.parametrize("pattern", ["spark-1", "*", "spark-9,a1", "hashed"])
@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("offered", [KEY, f"{KEY}\n{OTHER}"])
def test_a_host_with_a_revoked_key_is_refused(pattern, personal, offered, monkeypatch, tmp_path):
    own_keys = tmp_path / "known_hosts"
    path = tmp_path / ".ssh" / "known_hosts" if personal else own_keys
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# a comment\n@revoked {pattern.replace('hashed', 'spark-1')} {KEY}\nspark-1 {OTHER}\n")
    if pattern == "hashed":
        subprocess.run(["ssh-keygen", "-H", "-f", path], check=True, capture_output=True)
    keys(monkeypatch, tmp_path, a1=offered)
    refused = reach(known=own_keys)
    assert (refused.key, refused.known, refused.is_reachable) == ("", False, False)
    assert str(path) in refused.revoked and find.fingerprint(KEY) in refused.revoked
    # A host that has another key is not affected by the revocation.
    keys(monkeypatch, tmp_path, a1=OTHER)
    assert (reach(known=own_keys).known, reach(known=own_keys).revoked) == (True, "")


def test_a_host_with_a_certificate_authority_is_not_new(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text(f"@cert-authority * {OTHER} ca\n")
    keys(monkeypatch, tmp_path, a1=KEY)
    assert "certificate authority for spark-1" in reach(known=known).changed
    # A key that the user has accepted counts.
    known.write_text(f"@cert-authority * {OTHER} ca\nspark-1 {KEY}\n")
    assert (reach(known=known).known, reach(known=known).changed) == (True, "")


def test_revoked_keys_are_kept_when_keys_are_written(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(f"@revoked spark-1 {OTHER}\nspark-1 {ECDSA}\n")
    text = inventory.known_keys(path, [Spark("spark-1", ["a1"], "named", key=KEY)])
    assert text == f"@revoked spark-1 {OTHER}\nspark-1 {KEY}\n"


def test_keys_known_to_ssh_match_by_name_address_and_port(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own_keys, personal = tmp_path / "known_hosts", tmp_path / ".ssh" / "known_hosts"
    personal.parent.mkdir()
    keys(monkeypatch, tmp_path, a1=OTHER)
    personal.write_text(f"[a1]:2200 {KEY}\n")
    stranger = reach(known=own_keys)
    assert (stranger.known, stranger.changed) == (False, "")
    assert "for [a1]:2200" in reach(known=own_keys, port=2200).changed
    personal.write_text(f"a1 {KEY}\n")
    assert "for a1" in reach(known=own_keys).changed
    # The key that setup wrote for the name decides, even though another machine had the address before.
    own_keys.write_text(f"spark-1 {OTHER}\n")
    assert reach(known=own_keys).known


def test_only_a_key_offered_at_both_addresses_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a1=f"{OTHER}\n{ECDSA}", a2=f"{KEY}\n{ECDSA}")
    assert reach("spark-1", "a1", "a2", known=tmp_path / "known_hosts").key == ECDSA


def test_fingerprint_matches_ssh_keygen(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_text(KEY)
    result = subprocess.run(
        ["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True
    )
    assert find.fingerprint(KEY) == result.stdout.split()[1]


def test_a_host_name_is_looked_up_or_used_unchanged() -> None:
    known = [spark("spark-1", "192.0.2.1")]
    assert find.by_name(["spark-1.local", "192.0.2.1"], known) == known * 2
    (other,) = find.by_name(["Attic.example"], known)
    assert (other.name, other.addresses, other.local) == ("attic.example", ["Attic.example"], False)
    for wrong in ("-oProxyCommand=id", "a b", "", "a;b", "{{ x }}"):
        with pytest.raises(Refusal, match="not a host"):
            find.by_name([wrong], known)


def test_localhost_is_only_this_machine() -> None:
    for name in ("localhost", "LocalHost"):
        assert find.by_name([name], [])[0].local
    for address in ("192.0.2.7", "localhost"):
        with pytest.raises(Refusal, match="'localhost'"):
            spark("localhost", address)
    with pytest.raises(Refusal, match="'localhost'"):
        find.by_name(["localhost.local"], [])


def test_the_name_is_kept_if_it_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    for address, kept in (("192.0.2.1", "spark-1.local"), ("192.0.2.66", "192.0.2.1")):
        monkeypatch.setattr("socket.getaddrinfo", lambda *_, address=address: [(0, 0, 0, "", (address, 22))])
        assert find.address_to_keep(spark("spark-1", "192.0.2.1")) == kept


#: The server stalls either before its version or within the first packet, whose length it announces as 32 KiB.
@pytest.mark.parametrize("start", [b"", b"SSH-2.0-\xff\r\n\0\0\x7f\xfc"])
def test_sshd_that_sends_single_bytes_has_no_key(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    """ssh-keyscan itself gives up 5 s after the last byte, but here the last byte never comes."""
    stopped = threading.Event()

    def trickle(listening: socket.socket) -> None:
        with contextlib.suppress(OSError), listening, listening.accept()[0] as connection:
            connection.sendall(start)
            while not stopped.wait(0.2):
                connection.sendall(b"x")

    listening = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr(find, "PATIENCE", 6.0)
    with ThreadPoolExecutor() as pool:
        pool.submit(trickle, listening)
        started = time.monotonic()
        assert find.host_keys("127.0.0.1", listening.getsockname()[1]) == []
        seconds = time.monotonic() - started
        stopped.set()
    assert 5.5 < seconds < 20


def test_the_address_is_kept_if_the_announced_name_is_not_the_hostname(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda name, _port: [(0, 0, 0, "", ("192.0.2.1", 22))])
    renamed = spark("spark-ab12-2", "192.0.2.1")
    local = "spark-ab12-2.local"
    for hostname, kept in (("spark-ab12", "192.0.2.1"), ("spark-ab12-2.lan", local), ("", local)):
        renamed.hostname = hostname
        assert find.address_to_keep(renamed) == kept
