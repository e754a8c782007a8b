"""The netplan file and NCCL's variables; tests/integration/test_fabric.py runs the real netplan."""

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
    """A Spark whose netplan file and root directory are in one directory, with a simulated netplan."""

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
        return netplan.FabricNetplan(self.options(**options), host, check, self.warnings.append, session).run()

    def command(self, argv: list[str]) -> tuple[int, str, str]:
        """Change the interfaces as netplan and ip would."""
        result = self.spark.run(argv)
        if argv[0].endswith("netplan") and argv[1] == "apply" and result[0] == 0:
            self.apply_file()
        if argv[1:3] == ["address", "delete"] and argv[3] in self.spark.addresses.get(argv[5], []):
            self.spark.addresses[argv[5]].remove(argv[3])
        if argv[1:3] == ["link", "set"]:
            self.spark.write(f"sys/class/net/{argv[4]}/mtu", argv[6])
        return result

    def apply_file(self) -> None:
        if self.file.exists():
            for name, row in yaml.safe_load(self.file.read_text())["network"]["ethernets"].items():
                self.spark.addresses[name] = list(row["addresses"])
                self.spark.write(f"sys/class/net/{name}/mtu", str(row["mtu"]))

    def run_error(self, **options: t.Any) -> SparkforgeError:
        with pytest.raises(SparkforgeError) as caught:
            self.run(**options)
        return caught.value

    def apply_count(self) -> int:
        return len([argv for argv in self.spark.ran if argv[0].endswith("netplan") and argv[1] == "apply"])


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def test_both_interfaces_get_addresses_and_hcas(setup: Setup) -> None:
    result = setup.run()
    assert result["changed"] is True
    assert stat.S_IMODE(setup.file.stat().st_mode) == 0o600
    ethernets = yaml.safe_load(setup.file.read_text())["network"]["ethernets"]
    addresses = {name: row["addresses"] for name, row in ethernets.items()}
    assert addresses == {"enp1s0f0np0": ["192.168.200.1/24"], "enP2p1s0f0np0": ["192.168.201.1/24"]}
    assert {row["mtu"] for row in ethernets.values()} == {9000}
    assert {str(row["link-local"]) for row in ethernets.values()} == {"[]"}
    assert result["environment"] == {
        "NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0", "NCCL_SOCKET_IFNAME": "enP7s7", "GLOO_SOCKET_IFNAME": "enP7s7",
        "UCX_NET_DEVICES": "enP7s7", "OMPI_MCA_btl_tcp_if_include": "enP7s7", "NCCL_IB_MERGE_NICS": "1",
    }  # fmt: skip
    assert "NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0\n" in (setup.root / "fabric/nccl.env").read_text()
    assert setup.warnings == []


def test_ring_has_four_devices_and_its_settings(tmp_path: Path) -> None:
    environment = Setup(tmp_path, ("spark01", "spark02", "spark03")).run()["environment"]
    assert environment["NCCL_IB_HCA"] == "rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1"
    assert environment["NCCL_IB_SUBNET_AWARE_ROUTING"] == "1"
    assert environment["NCCL_NET_PLUGIN"] == "none"


def test_changed_mtu_is_restored_unless_cable_is_missing(setup: Setup) -> None:
    setup.run()
    setup.spark.write("sys/class/net/enP2p1s0f0np0/mtu", "1500")
    result = setup.run()
    assert [row.split()[0] for row in result["deviations"]] == ["enP2p1s0f0np0"]
    assert result["changed"] is True
    setup.spark.write("sys/class/net/enP2p1s0f0np0/mtu", "1500")
    setup.spark.write("sys/class/net/enP2p1s0f0np0/carrier", "0")
    assert setup.run()["changed"] is False


def test_file_readable_by_others_is_rewritten(setup: Setup) -> None:
    setup.run()
    setup.file.chmod(0o644)
    assert setup.run()["changed"] is True
    assert stat.S_IMODE(setup.file.stat().st_mode) == 0o600


def test_original_mtu_is_restored_after_several_runs(setup: Setup) -> None:
    setup.run()
    for rail in setup.plan["rails"]:
        rail["mtu"] = 4200
    setup.run()
    setup.run(state="absent")
    assert (setup.spark.root / "sys/class/net/enp1s0f0np0/mtu").read_text() == "1500"


def test_lost_management_address_reverts_the_change(setup: Setup) -> None:
    apply_file = setup.apply_file

    def lose_management_address() -> None:
        apply_file()
        setup.spark.addresses["enP7s7"] = []

    setup.apply_file = lose_management_address  # type: ignore[method-assign]
    error = setup.run_error()
    assert "lacks 10.0.0.11/24" in error.cause
    assert not setup.file.exists()
    assert not (setup.root / "receipts").exists()
    assert setup.spark.addresses["enp1s0f0np0"] == []


def test_failed_removal_restores_the_fabric(setup: Setup) -> None:
    setup.run()
    apply_file, text = setup.apply_file, setup.file.read_text()

    def lose_management_address() -> None:
        apply_file()
        setup.spark.addresses["enP7s7"] = ["10.0.0.11/24"] if setup.file.exists() else []

    setup.apply_file = lose_management_address  # type: ignore[method-assign]
    assert "lacks 10.0.0.11/24" in setup.run_error(state="absent").cause
    assert setup.file.read_text() == text
    assert setup.spark.addresses["enp1s0f0np0"] == ["192.168.200.1/24"]
    assert setup.run()["changed"] is False


def test_ineffective_apply_reverts_the_change(setup: Setup) -> None:
    setup.apply_file = lambda: None  # type: ignore[method-assign]
    assert "After `netplan apply` enp1s0f0np0 has no address" in setup.run_error().cause
    assert not setup.file.exists()


def test_file_is_written_without_apply(setup: Setup) -> None:
    assert setup.run(apply=False)["changed"] is True
    assert setup.apply_count() == 0
    assert setup.run(apply=False)["changed"] is False


def test_interface_of_the_connection_is_refused(setup: Setup) -> None:
    setup.spark.address("enp1s0f0np0", "10.5.5.5/24")
    assert "connected to 10.5.5.5 on enp1s0f0np0" in setup.run_error(session="10.5.5.5").cause


def test_kernel_problem_is_a_warning(setup: Setup) -> None:
    setup.spark.write("proc/meminfo", "CmaTotal: 0 kB\nCmaFree: 10171187 kB\n")
    assert [row["check"] for row in setup.run()["problems"]] == ["kernel.kho"]
    assert "nvidia-spark-grub-kho" in setup.warnings[0]


@pytest.mark.parametrize("environment", [{"lower": "1"}, {"A B": "1"}, {"NCCL_DEBUG": "a b"}, {"NCCL_DEBUG": "$(id)"}])
def test_variable_unsafe_for_a_shell_is_refused(setup: Setup, environment: dict[str, str]) -> None:
    assert "fabric_environment" in setup.run_error(environment=environment).cause
    assert not setup.file.exists()


def test_variables_can_be_replaced_and_removed(setup: Setup) -> None:
    changes = {"NCCL_DEBUG": "INFO", "UCX_NET_DEVICES": None}
    environment = setup.run(environment=changes, socket_interface="enp1s0f0np0")["environment"]
    assert environment["NCCL_DEBUG"] == "INFO"
    assert "UCX_NET_DEVICES" not in environment
    assert environment["NCCL_SOCKET_IFNAME"] == "enp1s0f0np0"


def test_session_address_from_ssh_connection() -> None:
    assert netplan.session_address({"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}) == "10.0.0.2"
    assert netplan.session_address({}) == ""


@pytest.mark.parametrize("file", ["/etc/netplan/fabric.yml", "/etc/netplan/a b.yaml"])
def test_file_that_netplan_ignores_is_refused(setup: Setup, file: str) -> None:
    assert "that netplan reads" in setup.run_error(file=file).cause
