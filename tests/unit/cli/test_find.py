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


def test_the_entries_of_an_ssh_configuration_are_names_without_patterns() -> None:
    text = (
        'Host spark-85e8.local  gx10-1\n  Hostname x\n\nhost="lab"\nHost *\nMatch host a\n# Host commented\nHost !no\n'
    )
    assert find.sync_aliases(text) == ["spark-85e8.local", "gx10-1", "lab"]


def test_nvidia_sync_s_file_is_read_as_openssh_reads_it(tmp_path: Path) -> None:
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


def test_who_answers_and_is_in_nvidia_sync_is_one() -> None:
    mdns = [spark("spark-1", "192.0.2.1"), spark("spark-2", "192.0.2.2"), spark("spark-3", "192.0.2.3")]
    sync = [
        Spark("spark-1", ["spark-1.local"], "in NVIDIA Sync", user="ada", key_file="/k"),
        Spark("desk", ["192.0.2.2"], "in NVIDIA Sync", user="bob"),
        Spark("away", ["198.51.100.1"], "in NVIDIA Sync"),
    ]
    found = find.discovery.combined(mdns, sync)
    assert [one.name for one in found] == ["away", "spark-1", "spark-2", "spark-3"]
    assert (found[1].user, found[1].key_file, found[1].addresses) == ("ada", "/k", ["192.0.2.1"])
    assert found[1].source == "in this network, in NVIDIA Sync"
    assert found[2].user == "bob"


def keys(monkeypatch: pytest.MonkeyPatch, home: Path, **by_address: str) -> None:
    """Have sshd answer with these keys: ``a1`` is the address."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(find, "host_keys", lambda address, _port: by_address.get(address, "").splitlines())


def test_the_first_address_that_answers_is_kept_with_its_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a2=KEY, a3=KEY)
    one, silent = spark("spark-1", "a1", "a2", "a3"), spark("spark-2", "a4")
    find.reach([one, silent], tmp_path / "known_hosts")
    assert (one.addresses, one.key, one.able) == (["a2"], KEY, True)
    assert (silent.addresses, silent.key, silent.able) == (["a4"], "", False)


def test_two_machines_of_one_name_are_refused_with_both_addresses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys(monkeypatch, tmp_path, a1=KEY, a2=OTHER)
    with pytest.raises(Refusal) as refused:
        find.reach([spark("spark-1", "a1", "a2")], tmp_path / "known_hosts")
    assert refused.value.code == Exit.NO_SPARK
    assert refused.value.cause == "Two machines are called spark-1: a1 and a2 have different ssh host keys."
    assert "hostnamectl" in refused.value.remedy


ECDSA = (
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLdCYpRp"
    "SG6nF+fjq8pV2pXRlwJ8bXgTz6gSGlbeaGGz"
)


def once(known: Path, *sparks: Spark) -> tuple[list[Spark], list[str]]:
    """Return every machine once, as setup does it with the keys that it keeps."""
    find.reach(sparks, known)
    names = find.discovery.names_by_key(known.read_text()) if known.is_file() else {}
    machines, sentences = find.discovery.distinct(sparks, names)
    return machines, sentences


def test_spark_that_avahi_renamed_is_one_by_its_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a1=KEY, a2=KEY, a3=f"{KEY}\n{ECDSA}", a4=OTHER)
    desk = Spark("desk-spark", ["a3"], "in NVIDIA Sync", user="ada", key_file="/k")
    found = [spark("spark-ab12-2", "a1"), desk, spark("spark-ab12", "a2"), spark("spark-cd34", "a4")]
    machines, sentences = once(tmp_path / "known_hosts", *found)
    assert [(one.name, one.addresses, one.user, one.key_file) for one in machines] == [
        ("desk-spark", ["a3"], "ada", "/k"),
        ("spark-cd34", ["a4"], "", ""),
    ]
    fingerprint = find.fingerprint(KEY)
    assert sentences == [
        f"spark-ab12 is desk-spark: both have the ssh host key {fingerprint}.",
        f"spark-ab12-2 is desk-spark: both have the ssh host key {fingerprint}.",
    ]


def test_spark_of_the_inventory_keeps_its_name_where_it_announces_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys(monkeypatch, tmp_path, a1=KEY, a2=OTHER)
    known = tmp_path / "known_hosts"
    known.write_text(f"# by hand\n@revoked * {ECDSA}\nspark-ab12 {KEY}\n192.0.2.1 {KEY}\n\n|1|aa|bb {OTHER}\n")
    machines, sentences = once(known, spark("spark-ab12-2", "a1"), spark("spark-cd34", "a2"))
    assert [(one.name, one.known) for one in machines] == [("spark-ab12", True), ("spark-cd34", False)]
    assert sentences == [f"spark-ab12-2 is spark-ab12: both have the ssh host key {find.fingerprint(KEY)}."]


def test_machines_that_do_not_answer_are_no_other_names_of_each_other() -> None:
    silent = [spark("spark-1"), spark("spark-2")]
    assert find.discovery.distinct(silent, {}) == (silent, [])


def reached(name: str = "spark-1", *addresses: str, known: Path, port: int = 22) -> Spark:
    one = Spark(name, list(addresses or ("a1",)), "in this network", port)
    find.reach([one], known)
    return one


@pytest.mark.parametrize("name", ["spark-1", "spark-1.local", "a1"])
@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("offered", [OTHER, ECDSA, f"{OTHER}\n{ECDSA}"])
def test_who_offers_no_known_key_is_not_taken_whatever_type_it_offers(
    name: str, hashed: bool, offered: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = tmp_path / "known_hosts"
    known.write_text(f"# a comment\n{name} {KEY}\n")
    if hashed:
        subprocess.run(["ssh-keygen", "-H", "-f", known], check=True, capture_output=True)
    keys(monkeypatch, tmp_path, a1=offered)
    one = reached(known=known)
    assert (one.known, one.changed) == (False, f"{known} has {find.fingerprint(KEY)} for {name}")
    # Who has it as well is known by it, and by no other key: what is offered is not proven to be had.
    keys(monkeypatch, tmp_path, a1=f"{offered}\n{KEY}")
    one = reached(known=known)
    assert (one.known, one.changed, one.key) == (True, "", KEY)


@pytest.mark.parametrize("pattern", ["spark-1", "*", "spark-9,a1", "hashed"])
@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("offered", [KEY, f"{KEY}\n{OTHER}"])
def test_who_offers_a_revoked_key_is_refused(
    pattern: str, personal: bool, offered: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "known_hosts"
    path = tmp_path / ".ssh" / "known_hosts" if personal else own
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# a comment\n@revoked {pattern.replace('hashed', 'spark-1')} {KEY}\nspark-1 {OTHER}\n")
    if pattern == "hashed":
        subprocess.run(["ssh-keygen", "-H", "-f", path], check=True, capture_output=True)
    keys(monkeypatch, tmp_path, a1=offered)
    one = reached(known=own)
    assert (one.key, one.known, one.able) == ("", False, False)
    assert one.revoked == f"{path} says that its key {find.fingerprint(KEY)} is revoked"
    # Another host's key is not that one.
    keys(monkeypatch, tmp_path, a1=OTHER)
    assert (reached(known=own).known, reached(known=own).revoked) == (True, "")


def test_a_host_with_an_authority_is_no_new_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text(f"@cert-authority * {OTHER} ca\n")
    keys(monkeypatch, tmp_path, a1=KEY)
    assert "has an authority for spark-1, whose certificates" in reached(known=known).changed
    # A key that a person took counts.
    known.write_text(f"@cert-authority * {OTHER} ca\nspark-1 {KEY}\n")
    assert (reached(known=known).known, reached(known=known).changed) == (True, "")


def test_what_is_revoked_stays_so_when_keys_are_written(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(f"@revoked spark-1 {OTHER}\nspark-1 {ECDSA}\n")
    text = inventory.known_keys(path, [Spark("spark-1", ["a1"], "named", key=KEY)])
    assert text == f"@revoked spark-1 {OTHER}\nspark-1 {KEY}\n"


def test_keys_that_ssh_keeps_count_by_name_address_and_port(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own, personal = tmp_path / "known_hosts", tmp_path / ".ssh" / "known_hosts"
    personal.parent.mkdir()
    keys(monkeypatch, tmp_path, a1=OTHER)
    personal.write_text(f"[a1]:2200 {KEY}\n")
    one = reached(known=own)
    assert (one.known, one.changed) == (False, "")
    assert "for [a1]:2200" in reached(known=own, port=2200).changed
    personal.write_text(f"a1 {KEY}\n")
    assert "for a1" in reached(known=own).changed
    # What setup wrote for the name decides; the address was another machine's.
    own.write_text(f"spark-1 {OTHER}\n")
    assert reached(known=own).known


def test_of_two_addresses_only_a_key_that_both_offer_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys(monkeypatch, tmp_path, a1=f"{OTHER}\n{ECDSA}", a2=f"{KEY}\n{ECDSA}")
    assert reached("spark-1", "a1", "a2", known=tmp_path / "known_hosts").key == ECDSA


def test_the_fingerprint_is_ssh_keygen_s(tmp_path: Path) -> None:
    one = spark("spark-1")
    one.key = KEY
    (tmp_path / "key.pub").write_text(KEY)
    told = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True)
    assert find.fingerprint(one.key) == told.stdout.split()[1]


def test_a_name_that_is_given_is_looked_up_or_taken_as_it_is() -> None:
    known = [spark("spark-1", "192.0.2.1")]
    assert find.by_name(["spark-1.local", "192.0.2.1"], known) == known * 2
    (other,) = find.by_name(["Attic.example"], known)
    assert (other.name, other.addresses, other.local) == ("attic.example", ["Attic.example"], False)
    for wrong in ("-oProxyCommand=id", "a b", "", "a;b", "{{ x }}"):
        with pytest.raises(Refusal, match="is not a host name"):
            find.by_name([wrong], known)


def test_localhost_is_the_machine_that_this_runs_on_and_no_other() -> None:
    for given in ("localhost", "LocalHost"):
        assert find.by_name([given], [])[0].local
    for address in ("192.0.2.7", "localhost"):
        with pytest.raises(Refusal, match=r"'localhost' .* is no name or address of a machine"):
            spark("localhost", address)
    with pytest.raises(Refusal, match=r"'localhost' .* is no name"):
        find.by_name(["localhost.local"], [])


def test_the_name_is_kept_where_this_machine_resolves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    one = spark("spark-1", "192.0.2.1")
    monkeypatch.setattr("socket.getaddrinfo", lambda name, _port: [(0, 0, 0, "", ("192.0.2.1", 22))])
    assert find.address_to_keep(one) == "spark-1.local"
    monkeypatch.setattr("socket.getaddrinfo", lambda name, _port: [(0, 0, 0, "", ("192.0.2.66", 22))])
    assert find.address_to_keep(one) == "192.0.2.1"


#: Before its version, and within the first packet, which says that it is 32 KiB long.
@pytest.mark.parametrize("says", [b"", b"SSH-2.0-\xff\r\n\0\0\x7f\xfc"])
def test_sshd_that_sends_a_byte_now_and_then_has_no_key(monkeypatch: pytest.MonkeyPatch, says: bytes) -> None:
    """ssh-keyscan itself gives up 5 s after the last byte, which never comes."""
    ended = threading.Event()

    def trickle(listening: socket.socket) -> None:
        with contextlib.suppress(OSError), listening, listening.accept()[0] as connection:
            connection.sendall(says)
            while not ended.wait(0.2):
                connection.sendall(b"x")

    listening = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr(find, "PATIENCE", 6.0)
    with ThreadPoolExecutor() as pool:
        pool.submit(trickle, listening)
        began = time.monotonic()
        assert find.host_keys("127.0.0.1", listening.getsockname()[1]) == []
        seconds = time.monotonic() - began
        ended.set()
    assert 5.5 < seconds < 20


def test_address_is_kept_where_the_announced_name_is_not_the_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda name, _port: [(0, 0, 0, "", ("192.0.2.1", 22))])
    one = spark("spark-ab12-2", "192.0.2.1")
    for hostname, kept in (
        ("spark-ab12", "192.0.2.1"),
        ("spark-ab12-2.lan", "spark-ab12-2.local"),
        ("", f"{one.name}.local"),
    ):
        one.hostname = hostname
        assert find.address_to_keep(one) == kept
