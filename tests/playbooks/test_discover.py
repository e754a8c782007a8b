"""The inventory plugin, run by ansible-inventory, against a real responder on the loopback interface."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sparkforge.dgx_spark.tools import discovery
from zeroconf._dns import DNSPointer
from zeroconf._protocol.outgoing import DNSOutgoing
from zeroconf.const import _CLASS_IN, _FLAGS_AA, _FLAGS_QR_RESPONSE, _TYPE_PTR

from tests.playbooks import mdns

CHECKOUT = Path(__file__).parents[2]
#: Other workers may announce machines at the same time.
MINE = f"t{os.getpid()}"


def listed(path: Path, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    """Return the inventory that ansible-inventory makes of the file, and its messages."""
    result = subprocess.run(
        [Path(sys.executable).with_name("ansible-inventory"), "-i", path, "--list", *arguments],
        cwd=path.parent, text=True, check=False, capture_output=True,
        env={
            **os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        },
    )  # fmt: skip
    output = " ".join(result.stderr.split())
    assert result.returncode == code, output
    assert "Traceback" not in output
    if code:
        return {}, output
    return json.loads(result.stdout, object_hook=lambda value: value.get("__ansible_unsafe", value)), output


def test_sparks_that_answer_are_found_and_others_are_not(tmp_path: Path) -> None:
    path = mdns.settings(tmp_path, names=[f"{MINE}-*"], group="gb10")
    with mdns.announced(f"{MINE}-ab12", f"{MINE}-cd34", "printer", port=2222):
        machines, _said = listed(path)
    assert machines["gb10"]["hosts"] == [f"{MINE}-ab12", f"{MINE}-cd34"]
    first = machines["_meta"]["hostvars"][f"{MINE}-ab12"]
    assert (first["ansible_host"], first["ansible_port"]) == ("127.0.0.1", 2222)
    assert first["discovered_name"] == f"{MINE}-ab12.local"
    assert first["discovered_addresses"] == ["127.0.0.1"]


def test_answers_are_cached_until_flushed_and_an_empty_search_is_not(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cached = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(cache)}
    path = mdns.settings(tmp_path, names=[f"{MINE}-*"], **cached)
    with mdns.announced(f"{MINE}-ef56"):
        machines, _said = listed(path)
        assert machines["sparks"]["hosts"] == [f"{MINE}-ef56"]
    machines, _said = listed(path)
    assert machines["sparks"]["hosts"] == [f"{MINE}-ef56"]
    assert "ansible_port" not in machines["_meta"]["hostvars"][f"{MINE}-ef56"]
    machines, output = listed(path, "--flush-cache")
    assert not machines.get("sparks", {}).get("hosts")
    assert "answered within 3.5 s" in output
    assert not [entry for entry in cache.iterdir() if MINE in entry.read_text()]


def test_a_network_that_cannot_be_asked_is_an_error(tmp_path: Path) -> None:
    # No interface of this machine has this address (RFC 5737).
    path = mdns.settings(tmp_path, interfaces=["192.0.2.200"])
    _found, output = listed(path, code=1)
    assert "search for Sparks" in output
    assert "in an inventory" in output


def test_silent_sparks_can_be_listed_in_a_second_inventory(tmp_path: Path) -> None:
    mdns.settings(tmp_path, names=[f"{MINE}-*"], connect_by="name")
    (tmp_path / "hosts.yml").write_text("sparks: {hosts: {attic: {ansible_host: 192.0.2.9}}}\n")
    with mdns.announced(f"{MINE}-ab12"):
        machines, _said = listed(tmp_path)
    assert sorted(machines["sparks"]["hosts"]) == ["attic", f"{MINE}-ab12"]
    assert machines["_meta"]["hostvars"][f"{MINE}-ab12"]["ansible_host"] == f"{MINE}-ab12.local"


def test_an_option_that_discover_does_not_know_is_refused(tmp_path: Path) -> None:
    path = mdns.settings(tmp_path, wait=0, hosts={"attic": {}}, browse=False)
    _found, output = listed(path, code=1)
    assert "hosts, which discover" in output
    assert "in another inventory" in output


def test_the_address_of_the_first_of_two_machines_is_kept_when_the_second_answers_later() -> None:
    """An announcement invalidates records for its name received more than a second earlier (RFC 6762, 10.2)."""
    answers: list[discovery.Answer] = []
    # On a busy machine the second answer may come too late for a short search, so try longer ones.
    for wait in (5, 20, 60):
        name, stop = f"{MINE}-late{wait}", threading.Event()

        def announce_second(name: str = name, stop: threading.Event = stop) -> None:
            stop.wait(1.5)
            with mdns.announced(name, addresses=("127.0.0.2",), instance="two"):
                stop.wait()

        second = threading.Thread(target=announce_second)
        with mdns.announced(name, addresses=("127.0.0.3",), instance="one"):
            second.start()
            machines, _left_out = discovery.browse(wait=wait, interfaces=[mdns.HERE])
            stop.set()
            second.join()
        answers = [answer for answer in machines if answer.server == f"{name}.local."]
        if len(answers) == 2:
            break
    assert [answer.addresses for answer in answers] == [("127.0.0.2", "127.0.0.3")] * 2


def test_flood_of_names_is_limited_in_number_and_time_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_NAMES", 50)
    kind, stop = "_ssh._tcp.local.", threading.Event()
    with mdns.announced(f"{MINE}-real") as responder:

        def flood() -> None:
            while not stop.wait(0.3):
                for start in range(0, 200, 20):
                    out = DNSOutgoing(_FLAGS_QR_RESPONSE | _FLAGS_AA)
                    for number in range(start, start + 20):
                        alias = f"{MINE}-flood{number}.{kind}"
                        out.add_answer_at_time(DNSPointer(kind, _TYPE_PTR, _CLASS_IN, 120, alias), 0)
                    responder.send(out)

        flooding = threading.Thread(target=flood)
        flooding.start()
        try:
            begin = time.monotonic()
            machines, left_out = discovery.browse(wait=3, interfaces=[mdns.HERE])
            seconds = time.monotonic() - begin
        finally:
            stop.set()
            flooding.join()
    assert len(machines) <= 50
    assert "More than 50 services" in left_out[0]
    assert "resolve within 3 s" in left_out[1]
    assert seconds < 2 * 3 + discovery.RESOLVE + 5
