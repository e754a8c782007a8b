"""The netplan file and NCCL's variables; what real netplan does with them is in tests/integration/test_fabric.py."""

import stat
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fabric import netplan
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import fabric

from tests.unit.fabric_host import Spark

SUBNETS = [f"192.168.{number}.0/24" for number in range(200, 206)]


class Setup:
    """A Spark whose netplan file and root lie below one directory, and a netplan that does as it is told."""

    def __init__(self, directory: Path, hosts: t.Sequence[str] = ("spark01", "spark02")) -> None:
        self.spark = Spark(directory / "host", cabled=(0, 1))
        self.spark.write("usr/sbin/netplan", "")
        self.file = directory / "etc-netplan" / "60-sparkforge-fabric.yaml"
        self.file.parent.mkdir()
        self.root = directory / "opt"
        self.plan = fabric.of_host(list(hosts), "spark01", SUBNETS)
        self.warnings: list[str] = []
        self.spark.commands["netplan apply"] = (0, "", "")

    def options(self, **options: t.Any) -> dict[str, t.Any]:
        return {
            "state": "present", "rails": self.plan["rails"], "ports": [], "file": str(self.file), "renderer": "",
            "apply": True, "wait": 0, "socket_interface": "", "environment": self.plan["environment"],
            "root": str(self.root), **options,
        }  # fmt: skip

    def run(self, check: bool = False, session: str = "", **options: t.Any) -> dict[str, t.Any]:
        host = self.spark.host
        host.run = self.command
        made = netplan.FabricNetplan(self.options(**options), host, check, self.warnings.append, session)
        return made.run()

    def command(self, argv: list[str]) -> tuple[int, str, str]:
        """Do what netplan and ip do to interfaces."""
        done = self.spark.run(argv)
        if argv[0].endswith("netplan") and argv[1] == "apply" and done[0] == 0:
            self.take()
        if argv[1:3] == ["address", "delete"] and argv[3] in self.spark.addresses.get(argv[5], []):
            self.spark.addresses[argv[5]].remove(argv[3])
        if argv[1:3] == ["link", "set"]:
            self.spark.write(f"sys/class/net/{argv[4]}/mtu", argv[6])
        return done

    def take(self) -> None:
        if self.file.exists():
            for name, row in yaml.safe_load(self.file.read_text())["network"]["ethernets"].items():
                self.spark.addresses[name] = list(row["addresses"])
                self.spark.write(f"sys/class/net/{name}/mtu", str(row["mtu"]))

    def failed(self, **options: t.Any) -> SparkforgeError:
        with pytest.raises(SparkforgeError) as caught:
            self.run(**options)
        return caught.value

    def applied(self) -> int:
        return len([argv for argv in self.spark.ran if argv[0].endswith("netplan") and argv[1] == "apply"])


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def test_both_halves_are_written_with_their_addresses_and_hcas(setup: Setup) -> None:
    result = setup.run()
    assert result["changed"] is True
    assert stat.S_IMODE(setup.file.stat().st_mode) == 0o600
    ethernets = yaml.safe_load(setup.file.read_text())["network"]["ethernets"]
    assert {name: row["addresses"] for name, row in ethernets.items()} == {
        "enp1s0f0np0": ["192.168.200.1/24"],
        "enP2p1s0f0np0": ["192.168.201.1/24"],
    }
    assert {row["mtu"] for row in ethernets.values()} == {9000}
    assert {str(row["link-local"]) for row in ethernets.values()} == {"[]"}
    assert result["environment"] == {
        "NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0",
        "NCCL_SOCKET_IFNAME": "enP7s7",
        "GLOO_SOCKET_IFNAME": "enP7s7",
        "UCX_NET_DEVICES": "enP7s7",
        "OMPI_MCA_btl_tcp_if_include": "enP7s7",
        "NCCL_IB_MERGE_NICS": "1",
    }
    assert "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0\n" in (setup.root / "fabric/nccl.env").read_text()
    assert setup.warnings == []


def test_a_ring_names_all_four_devices_and_the_ring_s_settings(tmp_path: Path) -> None:
    setup = Setup(tmp_path, ("spark01", "spark02", "spark03"))
    found = setup.run()["environment"]
    assert found["NCCL_IB_HCA"] == "rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1"
    assert found["NCCL_IB_SUBNET_AWARE_ROUTING"] == "1"
    assert found["NCCL_NET_PLUGIN"] == "none"


def test_a_changed_mtu_is_mended_and_a_cable_that_is_not_there_is_no_deviation(setup: Setup) -> None:
    setup.run()
    setup.spark.write("sys/class/net/enP2p1s0f0np0/mtu", "1500")
    result = setup.run()
    assert result["deviations"] == ["enP2p1s0f0np0 has an MTU of 1500"]
    assert result["changed"] is True
    setup.spark.write("sys/class/net/enP2p1s0f0np0/mtu", "1500")
    setup.spark.write("sys/class/net/enP2p1s0f0np0/carrier", "0")
    assert setup.run()["changed"] is False


def test_a_file_that_others_may_read_is_written_anew(setup: Setup) -> None:
    setup.run()
    setup.file.chmod(0o644)
    assert setup.run()["changed"] is True
    assert stat.S_IMODE(setup.file.stat().st_mode) == 0o600


def test_the_mtu_of_before_is_remembered_over_several_runs(setup: Setup) -> None:
    setup.run()
    for rail in setup.plan["rails"]:
        rail["mtu"] = 4200
    setup.run()
    setup.run(state="absent")
    assert (setup.spark.root / "sys/class/net/enp1s0f0np0/mtu").read_text() == "1500"


def test_a_management_interface_that_loses_its_address_brings_the_old_state_back(setup: Setup) -> None:
    taken = setup.take

    def take() -> None:
        taken()
        setup.spark.addresses["enP7s7"] = []

    setup.take = take  # type: ignore[method-assign]
    error = setup.failed()
    assert "the management interface lacks 10.0.0.11/24" in error.cause
    assert not setup.file.exists()
    assert not (setup.root / "receipts").exists()
    assert setup.spark.addresses["enp1s0f0np0"] == []


def test_a_fabric_that_cannot_be_removed_stays_whole(setup: Setup) -> None:
    setup.run()
    taken, text = setup.take, setup.file.read_text()

    def take() -> None:
        taken()
        setup.spark.addresses["enP7s7"] = ["10.0.0.11/24"] if setup.file.exists() else []

    setup.take = take  # type: ignore[method-assign]
    error = setup.failed(state="absent")
    assert "the management interface lacks 10.0.0.11/24" in error.cause
    assert setup.file.read_text() == text
    assert setup.spark.addresses["enp1s0f0np0"] == ["192.168.200.1/24"]
    assert setup.run()["changed"] is False


def test_interfaces_that_do_not_follow_bring_the_old_state_back(setup: Setup) -> None:
    setup.take = lambda: None  # type: ignore[method-assign]
    error = setup.failed()
    assert "After `netplan apply` enp1s0f0np0 has no address" in error.cause
    assert not setup.file.exists()


def test_without_apply_the_file_is_written_for_the_next_boot(setup: Setup) -> None:
    assert setup.run(apply=False)["changed"] is True
    assert setup.applied() == 0
    assert setup.run(apply=False)["changed"] is False


def test_the_interface_of_the_connection_is_left_alone(setup: Setup) -> None:
    setup.spark.address("enp1s0f0np0", "10.5.5.5/24")
    assert "Ansible is connected to 10.5.5.5 on enp1s0f0np0" in setup.failed(session="10.5.5.5").cause


def test_what_spoils_a_fabric_is_warned_of(setup: Setup) -> None:
    setup.spark.write("proc/meminfo", "CmaTotal: 0 kB\nCmaFree: 10171187 kB\n")
    assert [row["check"] for row in setup.run()["problems"]] == ["kernel.kho"]
    assert "nvidia-spark-grub-kho" in setup.warnings[0]


@pytest.mark.parametrize("environment", [{"lower": "1"}, {"A B": "1"}, {"NCCL_DEBUG": "a b"}, {"NCCL_DEBUG": "$(id)"}])
def test_a_variable_that_a_shell_would_misread_is_refused(setup: Setup, environment: dict[str, str]) -> None:
    assert "fabric_environment" in setup.failed(environment=environment).cause
    assert not setup.file.exists()


def test_variables_are_replaced_and_left_out(setup: Setup) -> None:
    found = setup.run(environment={"NCCL_DEBUG": "INFO", "UCX_NET_DEVICES": None}, socket_interface="enp1s0f0np0")
    assert found["environment"]["NCCL_DEBUG"] == "INFO"
    assert "UCX_NET_DEVICES" not in found["environment"]
    assert found["environment"]["NCCL_SOCKET_IFNAME"] == "enp1s0f0np0"


def test_the_session_is_read_as_ssh_writes_it() -> None:
    assert netplan.session_address({"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}) == "10.0.0.2"
    assert netplan.session_address({}) == ""


@pytest.mark.parametrize("file", ["/etc/netplan/fabric.yml", "/etc/netplan/a b.yaml"])
def test_a_file_that_netplan_would_not_read_is_refused(setup: Setup, file: str) -> None:
    assert "is not a file that netplan reads" in setup.failed(file=file).cause
