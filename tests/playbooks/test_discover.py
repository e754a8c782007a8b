"""The inventory plugin, run by ansible-inventory, against a real responder on the loopback interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.playbooks import mdns

CHECKOUT = Path(__file__).parents[2]
#: Another worker may announce machines at the same time.
MINE = f"t{os.getpid()}"


def listed(path: Path, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    """Return what ansible-inventory makes of the file, and what it said."""
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-inventory"), "-i", path, "--list", *arguments],
        cwd=path.parent, text=True, check=False, capture_output=True,
        env={
            **os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        },
    )  # fmt: skip
    said = " ".join(done.stderr.split())
    assert done.returncode == code, said
    assert "Traceback" not in said
    if code:
        return {}, said
    return json.loads(done.stdout, object_hook=lambda value: value.get("__ansible_unsafe", value)), said


def test_sparks_that_answer_are_found_and_others_are_not(tmp_path: Path) -> None:
    path = mdns.settings(tmp_path, names=[f"{MINE}-*"], hosts={"attic": {"address": "192.0.2.9"}}, group="gb10")
    with mdns.announced(f"{MINE}-ab12", f"{MINE}-cd34", "printer", port=2222):
        found, _said = listed(path)
    assert found["gb10"]["hosts"] == [f"{MINE}-ab12", f"{MINE}-cd34", "attic"]
    first = found["_meta"]["hostvars"][f"{MINE}-ab12"]
    assert (first["ansible_host"], first["ansible_port"]) == ("127.0.0.1", 2222)
    assert first["discovered_name"] == f"{MINE}-ab12.local"
    assert found["_meta"]["hostvars"]["attic"]["ansible_host"] == "192.0.2.9"


def test_what_answered_is_cached_until_the_cache_is_flushed_and_nothing_is_not(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cached = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(cache)}
    path = mdns.settings(tmp_path, names=[f"{MINE}-*"], **cached)
    with mdns.announced(f"{MINE}-ef56"):
        found, _said = listed(path)
        assert found["sparks"]["hosts"] == [f"{MINE}-ef56"]
    found, _said = listed(path)
    assert found["sparks"]["hosts"] == [f"{MINE}-ef56"]
    found, said = listed(path, "--flush-cache")
    assert not found.get("sparks", {}).get("hosts")
    assert "No Spark answered within 3.5 s" in said
    assert not [entry for entry in cache.iterdir() if MINE in entry.read_text()]


def test_a_network_that_cannot_be_asked_is_an_error_unless_hosts_are_listed(tmp_path: Path) -> None:
    # An address that no interface of this machine has (RFC 5737).
    path = mdns.settings(tmp_path, interfaces=["192.0.2.200"])
    _found, said = listed(path, code=1)
    assert "The search for Sparks in the network failed" in said
    assert "list them under hosts" in said
    path = mdns.settings(tmp_path, interfaces=["192.0.2.200"], hosts={"attic": {}})
    found, said = listed(path)
    assert found["sparks"]["hosts"] == ["attic"]
    assert "Only the listed hosts are in the inventory" in said
    path = mdns.settings(tmp_path, browse=False, hosts={"attic": {}})
    assert listed(path)[0]["sparks"]["hosts"] == ["attic"]


def test_of_two_machines_of_one_name_neither_is_taken(tmp_path: Path) -> None:
    path = mdns.settings(tmp_path, names=[f"{MINE}-*", "all"])
    twice = mdns.announced(f"{MINE}-two", addresses=("127.0.0.3",), instance="one")
    with twice, mdns.announced(f"{MINE}-two", addresses=("127.0.0.2",), instance="two"), mdns.announced("all"):
        found, said = listed(path)
    assert not found.get("sparks", {}).get("hosts")
    assert f"Two machines are called {MINE}-two: ssh was announced 2 times, for 127.0.0.2 and 127.0.0.3." in said
    assert "The machine at 127.0.0.1 announces the reserved name all." in said
