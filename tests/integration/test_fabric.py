"""Two or three Sparks connected by veth pairs: the results of the checks, and the role's changes with the real netplan.

There is no ConnectX-7 here: the test interfaces are named like the halves of ports, and the plan assigns addresses.
"""

import contextlib
import ipaddress
import json
import os
import subprocess
import sys
import typing as t
from collections.abc import Iterator

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans.fabric import of_host

from tests.integration import cables, ownership
from tests.integration.cables import PORTS, ip
from tests.integration.conftest import CHECKOUT, Bench, Play

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

SUBNETS = [f"192.168.{number}.0/24" for number in range(200, 206)]


MODULES = "ansible_collections.sparkforge.dgx_spark.plugins.modules"


class Fabric:
    """Named network namespaces, and cables between them."""

    def __init__(self, *hosts: str) -> None:
        self.hosts = list(hosts)
        self.spaces = {host: f"sf-{os.getpid()}-{host}" for host in hosts}
        for space in self.spaces.values():
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")

    def close(self) -> None:
        for space in self.spaces.values():
            ip("netns", "delete", space)

    def ip(self, host: str, *arguments: str) -> str:
        return ip("-n", self.spaces[host], *arguments)

    def cable(self, first_port: str, second_port: str) -> None:
        """Connect two ports, written as ``host:port``, with a veth pair for each half."""
        (here, port), (there, their_port) = first_port.split(":"), second_port.split(":")
        for half in (0, 1):
            # fmt: off
            ip("link", "add", "name", PORTS[int(port)][half], "netns", self.spaces[here], "type", "veth",
               "peer", "name", PORTS[int(their_port)][half], "netns", self.spaces[there])
            # fmt: on

    def plan(self, host: str, **options: t.Any) -> dict[str, t.Any]:
        return of_host(self.hosts, host, SUBNETS, **options)

    def configure(self, **options: t.Any) -> None:
        """Configure by hand what the role configures through netplan."""
        for host in self.hosts:
            for rail in self.plan(host, **options)["rails"]:
                interface = PORTS[rail["port"]][rail["half"]]
                self.ip(host, "link", "set", interface, "mtu", str(rail["mtu"]), "up")
                self.ip(host, "address", "add", rail["address"], "dev", interface)

    def module(self, host: str, name: str, **arguments: t.Any) -> dict[str, t.Any]:
        """Run a module in a host's namespace, as Ansible would on that host."""
        result = subprocess.run(
            ["ip", "netns", "exec", self.spaces[host], sys.executable, "-m", f"{MODULES}.{name}"],
            input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), text=True, capture_output=True, check=False,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / ".collections"), "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert "Traceback" not in result.stderr, result.stderr
        return json.loads(result.stdout)

    def check(self, host: str, **options: t.Any) -> dict[str, t.Any]:
        plan = self.plan(host, **options)
        return self.module(host, "fabric_check", rails=plan["rails"], ports=PORTS, speed=0)


@contextlib.contextmanager
def fabric(*hosts: str) -> Iterator[Fabric]:
    made = Fabric(*hosts)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def pair() -> Iterator[Fabric]:
    """Two hosts, one cable, configured."""
    with fabric("spark01", "spark02") as hosts:
        hosts.cable("spark01:0", "spark02:0")
        hosts.configure()
        yield hosts


def failures(result: dict[str, t.Any]) -> dict[str, str]:
    return {row["name"]: f"{row['cause']} {row['remedy']}" for row in result["checks"] if row["status"] == "fail"}


def test_configured_pair_passes_over_both_rails(pair: Fabric) -> None:
    for host, peer in (("spark01", "spark02"), ("spark02", "spark01")):
        result = pair.check(host)
        assert result["failures"] == []
        passed = {row["name"]: row["measured"] for row in result["checks"]}
        assert passed[f"jumbo.cable1.0.{peer}"] == passed[f"jumbo.cable1.1.{peer}"] == 9000


def test_three_in_a_ring_reach_each_other_over_each_cable(pair: Fabric) -> None:
    with fabric("a", "b", "c") as ring:
        for port, other in (("a:0", "b:1"), ("b:0", "c:1"), ("c:0", "a:1")):
            ring.cable(port, other)
        ring.configure()
        for host in ring.hosts:
            result = ring.check(host)
            assert result["failures"] == []
            assert len([row for row in result["checks"] if row["name"].startswith("jumbo.")]) == 4


def test_an_odd_mtu_is_found(pair: Fabric) -> None:
    pair.ip("spark02", "link", "set", "enp1s0f0np0", "mtu", "4217")
    assert "those of 4221 do" in failures(pair.check("spark01"))["jumbo.cable1.0.spark02"]


def test_half_that_is_down_is_named_at_both_ends(pair: Fabric) -> None:
    pair.ip("spark02", "link", "set", "enP2p1s0f0np0", "down")
    here = failures(pair.check("spark02"))
    assert "enP2p1s0f0np0 (half 1 of port 0) is down." in here["state.cable1.1"]
    assert "Only one half" in here["halves.port0"]
    there = failures(pair.check("spark01"))
    assert "enP2p1s0f0np0 (half 1 of port 0) has no link." in there["state.cable1.1"]


def test_a_half_without_an_address_is_not_hidden_by_the_other(pair: Fabric) -> None:
    pair.ip("spark02", "address", "flush", "dev", "enP2p1s0f0np0")
    here = failures(pair.check("spark02"))
    assert "enP2p1s0f0np0 (half 1 of port 0) has no address." in here["state.cable1.1"]
    there = failures(pair.check("spark01"))
    assert "spark02 (192.168.201.2) does not answer" in there["reach.cable1.1.spark02"]
    assert "halves.port0" in there


def test_the_wrong_subnet_is_named(pair: Fabric) -> None:
    pair.ip("spark02", "address", "flush", "dev", "enp1s0f0np0")
    pair.ip("spark02", "address", "add", "10.9.9.2/24", "dev", "enp1s0f0np0")
    here = failures(pair.check("spark02"))
    assert "has 10.9.9.2/24 instead of 192.168.200.2/24." in here["state.cable1.0"]
    assert "reach.cable1.0.spark02" in failures(pair.check("spark01"))


def test_swapped_halves_are_not_hidden_by_the_routing_table() -> None:
    with fabric("spark01", "spark02") as hosts:
        for here, there in zip(PORTS[0], reversed(PORTS[0]), strict=True):
            # fmt: off
            ip("link", "add", "name", here, "netns", hosts.spaces["spark01"], "type", "veth",
               "peer", "name", there, "netns", hosts.spaces["spark02"])
            # fmt: on
        hosts.configure()
        assert {"reach.cable1.0.spark02", "reach.cable1.1.spark02"} <= set(failures(hosts.check("spark01")))


def test_the_information_has_addresses_and_mtu(pair: Fabric) -> None:
    result = pair.module("spark01", "fabric_check", ports=PORTS[:1])
    links = {link["interface"]: link for link in result["fabric"]["links"]}
    assert links["enp1s0f0np0"]["addresses"] == ["192.168.200.1/24"]
    assert links["enP2p1s0f0np0"]["mtu"] == 9000
    assert links["enp1s0f0np0"]["carrier"] is True
    assert result["fabric"]["ports"] == [{"port": 0, "halves": PORTS[0]}]


# -- the role, with netplan and systemd-networkd

# The capabilities that systemd-networkd requires.
CAPABILITIES = "--cap-add=NET_ADMIN,NET_RAW,NET_BROADCAST,SYS_ADMIN,BPF"
FILE = "/etc/netplan/60-sparkforge-fabric.yaml"
# A container has no udev, which netplan reloads.
UDEVADM = "/usr/local/sbin/udevadm"


class Sparks:
    """Two containers, a cable between them, and their group in the inventory."""

    def __init__(self, bench: Bench) -> None:
        self.both = [bench.fresh("systemd", [CAPABILITIES]) for _number in range(2)]
        self.names = [host.name for host in self.both]
        cables.connect(*self.both)
        self.group = bench.inventory / "fabric.yml"
        self.group.write_text(json.dumps({"fabric": {"hosts": {name: {} for name in self.names}}}))

    def run(self, *arguments: str, **variables: object) -> Play:
        """Run playbooks/fabric.yml on both hosts."""
        settings = {"fabric_ports": PORTS, "fabric_speed": 0, **variables}
        return self.both[0].run("fabric", "-i", str(self.group), "-l", ",".join(self.names), *arguments, **settings)

    def module(self, check: bool = False, subnets: t.Sequence[str] = SUBNETS, **options: t.Any) -> dict[str, t.Any]:
        """Run only fabric_netplan, on the first host, as the role does."""
        plan = of_host(self.names, self.names[0], subnets)
        return self.both[0].task(
            "sparkforge.dgx_spark.fabric_netplan",
            check=check,
            **{"rails": plan["rails"], "environment": plan["environment"], "ports": PORTS, "wait": 10, **options},
        )

    def udev(self, code: int) -> None:
        self.both[0].execute(f"printf '#!/bin/sh\\nexit {code}\\n' > {UDEVADM} && chmod 0755 {UDEVADM}")

    def state(self) -> list[str]:
        """Return the interfaces' addresses, MTU and flags, and the files that the module writes."""
        look = "ip -brief address show; ip -brief link show; ip -oneline link show | grep -o '^[^<]*\\|mtu [0-9]*'"
        files = "find /etc/netplan /opt/sparkforge -type f -printf '%p %m ' -exec sha256sum {} + 2>/dev/null || true"
        return [host.execute(f"{look}; {files}") for host in self.both]


@pytest.fixture(scope="module")
def bare(bench: Bench) -> Sparks:
    """Two hosts without netplan."""
    return Sparks(bench)


@pytest.fixture(scope="module")
def sparks(bare: Sparks) -> Sparks:
    for host in bare.both:
        host.execute("apt-get update -q && apt-get install -y -q --no-install-recommends netplan.io")
        # Compile netplan's modules first, so that a run whose files are compared does not write the byte code.
        host.execute("python3 -m compileall -q /usr/share/netplan")
        host.execute(f"printf '#!/bin/sh\\nexit 0\\n' > {UDEVADM} && chmod 0755 {UDEVADM}")
    return bare


@pytest.fixture(scope="module")
def set_up(sparks: Sparks) -> Sparks:
    first = sparks.both[0]
    before = ownership.look(first)
    sparks.run("--skip-tags", "fabric_check").succeeded()
    assert ownership.faults(ownership.left(first, before), ownership.rows(), "fabric") == []
    return sparks


@pytest.fixture
def configured(set_up: Sparks) -> Iterator[Sparks]:
    """Both hosts as configured by the role; repaired after the test."""
    yield set_up
    assert "msg" not in set_up.module()


def test_missing_netplan_is_reported_and_check_mode_continues(bare: Sparks) -> None:
    before = bare.state()
    assert "has no netplan" in bare.run("--check", "--diff").succeeded().text
    play = bare.run().failed()
    assert "has no netplan" in play.text
    assert "Install netplan.io" in play.text
    assert bare.state() == before


def test_both_halves_come_up_are_checked_and_the_second_run_changes_nothing(sparks: Sparks) -> None:
    before = sparks.state()
    shown = sparks.run("--check", "--diff").succeeded()
    assert shown.changed == 2
    assert "addresses: [192.168.200.1/24]" in shown.output
    assert sparks.state() == before

    play = sparks.run().succeeded()
    assert play.changed == 2
    assert play.output.count("pass jumbo.cable1.") == 4
    first = sparks.both[0]
    assert first.execute(f"stat -c '%a %U' {FILE}") == "600 root"
    addresses = first.execute("ip -brief address show enP2p1s0f0np0")
    assert "192.168.201.1/24" in addresses
    assert "fe80" not in addresses
    assert first.execute("set -a; . /opt/sparkforge/fabric/nccl.env; echo $NCCL_SOCKET_IFNAME") == "eth0"
    assert sparks.run().succeeded().changed == 0
    assert sparks.module(check=True)["changed"] is False

    assert sparks.run(fabric_state="absent").succeeded().changed == 2
    assert sparks.state() == before
    assert sparks.module(state="absent")["changed"] is False


@pytest.fixture
def measuring(configured: Sparks) -> Sparks:
    """Both hosts with RDMA devices and a stand-in for ib_write_bw."""
    for host in configured.both:
        if host.execute("ls /sys/class/infiniband 2>/dev/null || true"):
            continue
        cables.add_rdma(host, of_host(configured.names, host.name, SUBNETS)["rails"])
    return configured


def test_each_half_is_measured_in_both_directions_by_both_ends_at_once(measuring: Sparks) -> None:
    play = measuring.run("--tags", "fabric_check").succeeded()
    rows = [f"pass bandwidth.cable1.{half}.{name}: 97.28" for half in (0, 1) for name in measuring.names]
    assert [row for row in rows if row not in play.output] == []


def test_other_subnets_replace_the_old_ones(configured: Sparks) -> None:
    assert configured.module(subnets=["10.77.0.0/24", "10.77.1.0/24"])["changed"] is True
    addresses = configured.both[0].execute("ip -brief address show")
    assert "10.77.1.1/24" in addresses
    assert "192.168.201.1/24" not in addresses


def test_a_configuration_that_cannot_be_applied_leaves_everything_as_it_was(configured: Sparks) -> None:
    before = configured.state()
    configured.udev(1)
    try:
        result = configured.module(subnets=["10.78.0.0/24", "10.78.1.0/24"])
    finally:
        configured.udev(0)
    assert "`netplan apply` failed" in result["cause"]
    assert "configuration is unchanged" in result["remedy"]
    assert configured.state() == before


def test_a_configuration_that_netplan_refuses_is_not_written(configured: Sparks) -> None:
    other = "/etc/netplan/99-other.yaml"
    before = configured.state()
    host = configured.both[0]
    host.execute(f"umask 077; printf 'network:\\n  version: 2\\n  ethernets: [wrong]\\n' > {other}")
    try:
        result = configured.module(subnets=["10.78.0.0/24", "10.78.1.0/24"])
    finally:
        host.execute(f"rm {other}")
    assert "netplan refuses" in result["cause"]
    assert "99-other.yaml" in result["cause"]
    assert configured.state() == before


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("eth0 has the default", {"ports": [["eth0", "enP2p1s0f0np0"]]}),
        ("This host lacks half 1 of port 0 (enp9s1)", {"ports": [["enp1s0f0np0", "enp9s1"]]}),
        ("overlaps with", {"subnets": "the management network"}),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(configured: Sparks, message: str, options: dict[str, t.Any]) -> None:
    before = configured.state()
    if "subnets" in options:
        own = configured.both[0].execute("ip -oneline -4 address show eth0").split()[3]
        options = {"subnets": ["198.51.100.0/24", str(ipaddress.IPv4Interface(own).network)]}
    assert message in configured.module(**options)["cause"]
    assert configured.state() == before


def test_another_file_for_the_same_interface_is_named(configured: Sparks) -> None:
    other = "/etc/netplan/40-cx7.yaml"
    text = "network:\\n  version: 2\\n  ethernets:\\n    enp1s0f0np0:\\n      dhcp4: false\\n"
    host = configured.both[0]
    host.execute(f"umask 077; printf '{text}' > {other}")
    try:
        result = configured.module()
    finally:
        host.execute(f"rm {other}")
    assert f"{other} also configures enp1s0f0np0" in result["cause"]


@pytest.mark.long
def test_networkmanager_profile_holds_address_and_mtu(sparks: Sparks) -> None:
    """netplan writes files for NetworkManager even if it is not installed. No test has run DGX OS's NetworkManager."""
    sparks.module(state="absent")
    host = sparks.both[0]
    try:
        assert sparks.module(renderer="NetworkManager", apply=False)["changed"] is True
        host.execute("netplan generate")
        text = host.execute("cat /run/NetworkManager/system-connections/netplan-enP2p1s0f0np0.nmconnection")
        assert "mtu=9000" in text
        assert "address1=192.168.201.1/24" in text
        assert "[ipv6]\nmethod=disabled" in text or "[ipv6]\nmethod=ignore" in text
    finally:
        sparks.module(state="absent", apply=False)
        host.execute("rm -rf /run/NetworkManager/system-connections; netplan generate")
