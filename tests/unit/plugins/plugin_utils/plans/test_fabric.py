"""The addresses of the ports' halves, and the pairs that measure in each round."""

import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import fabric

SUBNETS = [f"192.168.{number}.0/24" for number in range(200, 208)]
PAIR = ["spark01", "spark02"]
RING = ["spark01", "spark02", "spark03"]
FOUR = [*RING, "spark04"]


def addresses(hosts: list[str], host: str, **options: t.Any) -> dict[tuple[int, int], str]:
    rails = fabric.of_host(hosts, host, SUBNETS, **options)["rails"]
    return {(rail["port"], rail["half"]): rail["address"] for rail in rails}


def test_a_pair_has_a_subnet_for_each_half() -> None:
    assert addresses(PAIR, "spark01") == {(0, 0): "192.168.200.1/24", (0, 1): "192.168.201.1/24"}
    assert addresses(PAIR, "spark02") == {(0, 0): "192.168.200.2/24", (0, 1): "192.168.201.2/24"}
    assert set(addresses(PAIR, "spark02", port=1)) == {(1, 0), (1, 1)}


def test_the_other_end_of_a_rail_is_in_its_subnet_on_the_same_half() -> None:
    for hosts in (PAIR, RING, FOUR):
        plans = {host: fabric.of_host(hosts, host, SUBNETS) for host in hosts}
        for host, plan in plans.items():
            for rail in plan["rails"]:
                for peer in rail["peers"]:
                    theirs = next(row for row in plans[peer["host"]]["rails"] if row["name"] == rail["name"])
                    assert theirs["address"] == f"{peer['address']}/24"
                    assert theirs["half"] == rail["half"]
                    assert theirs["port"] == peer["port"]
                    assert host in [row["host"] for row in theirs["peers"]]


def test_no_host_has_two_interfaces_in_one_subnet() -> None:
    for hosts in (PAIR, RING, FOUR):
        for host in hosts:
            subnets = [address.rsplit(".", 1)[0] for address in addresses(hosts, host).values()]
            assert len(set(subnets)) == len(subnets)


def test_a_ring_is_wired_from_port_0_to_the_next_hosts_port_1() -> None:
    rails = fabric.of_host(RING, "spark01", SUBNETS)["rails"]
    assert {(rail["link"], rail["port"], rail["peers"][0]["host"], rail["peers"][0]["port"]) for rail in rails} == {
        ("cable1", 0, "spark02", 1),
        ("cable3", 1, "spark03", 0),
    }
    assert fabric.of_host(RING, "spark01", SUBNETS)["environment"]["NCCL_IB_SUBNET_AWARE_ROUTING"] == "1"
    assert fabric.of_host(RING, "spark01", SUBNETS)["environment"]["NCCL_IB_MERGE_NICS"] == "0"


def test_halves_of_a_pairs_cable_are_merged_but_not_at_a_switch() -> None:
    assert fabric.of_host(PAIR, "spark01", SUBNETS)["environment"] == {"NCCL_IB_MERGE_NICS": "1"}
    assert fabric.of_host(FOUR, "spark01", SUBNETS)["environment"] == {}


def test_a_switch_keeps_the_default_mtu_and_connects_all_hosts() -> None:
    rails = fabric.of_host(FOUR, "spark03", SUBNETS)["rails"]
    assert [rail["mtu"] for rail in rails] == [1500, 1500]
    assert [peer["host"] for peer in rails[0]["peers"]] == ["spark01", "spark02", "spark04"]
    assert fabric.of_host(FOUR, "spark03", SUBNETS, switch_mtu=9000)["rails"][0]["mtu"] == 9000


def test_configured_links_may_mix_cables_and_a_switch() -> None:
    links = [
        {"name": "direct", "ends": ["spark02:1", "spark01:1"], "mtu": 4200},
        {"ends": [f"{host}:0" for host in FOUR]},
    ]
    plan = fabric.of_host(FOUR, "spark01", SUBNETS, links=links)
    assert {rail["name"]: rail["mtu"] for rail in plan["rails"]} == {
        "direct.0": 4200, "direct.1": 4200, "link2.0": 1500, "link2.1": 1500,
    }  # fmt: skip


@pytest.mark.parametrize("hosts", [PAIR, RING, FOUR, [f"spark{number:02d}" for number in range(1, 31)]])
def test_each_pair_measures_both_ways_and_no_host_twice_in_a_round(hosts: list[str]) -> None:
    rounds = fabric.rounds(fabric.find_links(hosts, "auto", [], 0, 9000, 1500))
    for entries in rounds:
        busy = [host for entry in entries for host in (entry["server"], entry["client"])]
        assert len(set(busy)) == len(busy)
    pairs = [(entry["server"], entry["client"]) for entries in rounds for entry in entries]
    assert len(set(pairs)) == len(pairs)
    assert {(client, server) for server, client in pairs} == set(pairs)
    assert {host for pair in pairs for host in pair} == set(hosts)
    # Rounds take time, so on a switch their number does not grow with the number of hosts.
    assert len(rounds) <= 6


def test_both_ends_of_a_measurement_are_in_the_same_round() -> None:
    parts = {host: fabric.of_host(RING, host, SUBNETS)["rounds"] for host in RING}
    for host, rounds in parts.items():
        for number, part in enumerate(rounds):
            if part:
                theirs = parts[part["peer"]][number]
                assert theirs["peer"] == host
                assert {theirs["role"], part["role"]} == {"server", "client"}


@pytest.mark.parametrize(
    ("message", "hosts", "options"),
    [
        ("two different hosts", ["spark01"], {}),
        ("fabric_hosts has none", [], {}),
        ("different hosts", ["spark01", "spark01"], {}),
        ("fabric_topology is 'star'", PAIR, {"topology": "star"}),
        ("fabric_topology is pair, and fabric_hosts has 3 hosts", RING, {"topology": "pair"}),
        ("ring without a", FOUR, {"topology": "ring"}),
        ("fabric_port is 2", PAIR, {"port": 2}),
        ("has no list 'ends'", PAIR, {"links": [{"end": []}]}),
        ("unknown key speed", PAIR, {"links": [{"ends": ["spark01:0", "spark02:0"], "speed": 1}]}),
        ("end 'spark09:0' is not", PAIR, {"links": [{"ends": ["spark01:0", "spark09:0"]}]}),
        ("end 'spark02' is not", PAIR, {"links": [{"ends": ["spark01:0", "spark02"]}]}),
        ("has spark01 twice. Remove one", PAIR, {"links": [{"ends": ["spark01:0", "spark01:1"]}]}),
        ("is used by a and by b", PAIR, {"links": [
            {"name": "a", "ends": ["spark01:0", "spark02:0"]}, {"name": "b", "ends": ["spark01:0", "spark02:1"]}]}),
        ("have the name a", PAIR, {"links": [
            {"name": "a", "ends": ["spark01:0", "spark02:0"]}, {"name": "a", "ends": ["spark01:1", "spark02:1"]}]}),
        ("has spark01 twice", PAIR, {"links": [{"ends": ["spark01:0", "spark01:1", "spark02:0"]}]}),
        ("The MTU of cable1 is 90000", PAIR, {"mtu": 90000}),
        ("'10.0.0.1/24' is not an IPv4 network", PAIR, {"subnets": ["10.0.0.1/24", "10.0.1.0/24"]}),
        ("overlaps with 10.0.0.0/16", PAIR, {"subnets": ["10.0.0.0/16", "10.0.1.0/24"]}),
        ("The fabric has 2 rails", PAIR, {"subnets": ["10.0.0.0/24"]}),
        ("has room for 2 hosts; the fabric has 3", RING, {"subnets": [f"10.0.{n}.0/30" for n in range(6)]}),
        ("spark01 is not a", ["spark02", "spark03"], {}),
        ("No link of fabric_links ends at spark01", RING, {"links": [{"ends": ["spark02:0", "spark03:0"]}]}),
    ],
)  # fmt: skip
def test_an_inconsistent_fabric_is_refused(message: str, hosts: list[str], options: dict[str, t.Any]) -> None:
    subnets = options.pop("subnets", SUBNETS)
    with pytest.raises(fabric.PlanError) as caught:
        fabric.of_host(hosts, "spark01", subnets, **options)
    assert message in str(caught.value)


def test_all_faults_of_a_fabric_are_reported_at_once() -> None:
    links = [{"ends": ["nobody:0", "spark02:0"]}, {"ends": ["spark01:0", "spark01:1"]}]
    with pytest.raises(fabric.PlanError) as caught:
        fabric.of_host(PAIR, "spark01", SUBNETS, links=links)
    assert "nobody:0" in str(caught.value)
    assert "has spark01 twice" in str(caught.value)


def test_the_plan_reads_the_roles_variables() -> None:
    role = Path(__file__).parents[5] / "roles/fabric/defaults/main.yml"
    settings = {**yaml.safe_load(role.read_text()), "fabric_hosts": PAIR, "inventory_hostname": "spark01"}
    assert fabric.plan({**settings, "fabric_mtu": "9000"}, {}).steps == fabric.of_host(PAIR, "spark01", SUBNETS)
    [refusal] = fabric.plan({**settings, "fabric_topology": "star"}, {}).refusals
    assert refusal["cause"].startswith("fabric_topology is 'star'")
