from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import connectx, network

from tests.unit.fabric_host import Spark


def test_port_halves_are_paired_by_pci_address(tmp_path: Path) -> None:
    info = connectx.observe(Spark(tmp_path).host)
    assert info["ports"] == [
        {"port": 0, "halves": ["enp1s0f0np0", "enP2p1s0f0np0"]},
        {"port": 1, "halves": ["enp1s0f1np1", "enP2p1s0f1np1"]},
    ]
    links = {link["interface"]: link for link in info["links"]}
    assert links["enP2p1s0f0np0"]["rdma"] == "roceP2p1s0f0"
    assert links["enp1s0f0np0"]["carrier"] is True
    assert links["enp1s0f1np1"]["carrier"] is False
    assert links["enp1s0f0np0"]["speed_mbps"] == 200000
    assert links["enp1s0f0np0"]["pcie"] == {"speed": "32.0 GT/s PCIe", "width": 4}
    assert "enP7s7" not in links


def test_port_keeps_its_number_without_the_other_port(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    for name in ("enp1s0f0np0", "enP2p1s0f0np0"):
        (tmp_path / f"sys/class/net/{name}").rename(tmp_path / f"gone-{name}")
    assert connectx.observe(spark.host)["ports"] == [{"port": 1, "halves": ["enp1s0f1np1", "enP2p1s0f1np1"]}]


def test_virtual_functions_and_other_cards_are_ignored(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    spark.half("enp1s0f0v0", "0000:01:00.2", "rocep1s0f0v0")
    (tmp_path / "sys/devices/pci0000:01/0000:01:00.2/physfn").mkdir()
    spark.half("ens5", "0005:01:00.0", "mlx5_9")
    (tmp_path / "sys/devices/pci0005:01/0005:01:00.0/device").write_text("0x1017\n")
    info = connectx.observe(spark.host)
    assert {link["interface"] for link in info["links"]} == {name for row in info["ports"] for name in row["halves"]}
    assert len(info["links"]) == 4


def test_named_ports_override_pci(tmp_path: Path) -> None:
    info = connectx.observe(Spark(tmp_path).host, [["enP7s7", "enp1s0f0np0"]])
    assert info["ports"] == [{"port": 0, "halves": ["enP7s7", "enp1s0f0np0"]}]


def test_only_ipv4_gids_are_listed(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    spark.address("enp1s0f0np0", "192.168.200.12/24")
    link = next(row for row in connectx.observe(spark.host)["links"] if row["interface"] == "enp1s0f0np0")
    assert link["gids"] == [{"index": 3, "address": "192.168.200.12", "type": "RoCE v2"}]
    assert link["addresses"] == ["192.168.200.12/24"]


def test_management_interface_has_best_default_route(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    management = {"interface": "enP7s7", "addresses": ["10.0.0.11/24"], "wireless": False}
    assert connectx.observe(spark.host)["management"] == management
    text = (tmp_path / "proc/net/route").read_text()
    spark.write("proc/net/route", text + "wlP9s9\t00000000\t0100000A\t0003\t0\t0\t50\t00000000\t0\t0\t0\n")
    (tmp_path / "sys/class/net/wlP9s9/phy80211").mkdir(parents=True)
    assert connectx.observe(spark.host)["management"]["wireless"] is True
    spark.write("proc/net/route", "")
    assert connectx.observe(spark.host)["management"] is None


def test_sound_host_has_no_problems(tmp_path: Path) -> None:
    assert network.problems(connectx.observe(Spark(tmp_path).host)) == []


def test_kho_reserve_from_free_cma(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    # The reserve shows up as about 9.7 GiB in CmaFree, although CmaTotal is 0.
    spark.write("proc/meminfo", "MemTotal: 125541260 kB\nCmaTotal:       0 kB\nCmaFree:        10171187 kB\n")
    info = connectx.observe(spark.host)
    assert info["kernel"]["kho"]["reserved_mib"] == 9932
    (problem,) = network.problems(info)
    assert problem["check"] == "kernel.kho"
    assert "9932 MiB for Kexec" in problem["cause"]
    assert "nvidia-spark-grub-kho" in problem["remedy"]


def test_kho_reserve_from_debugfs(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    spark.write("sys/kernel/debug/kho/out/scratch_len", "0xc000000 0x12ba00000 0x11f800000\n")
    assert connectx.observe(spark.host)["kernel"]["kho"]["reserved_mib"] == 192 + 4794 + 4600


@pytest.mark.parametrize(("text", "problems"), [("3", 1), ("2", 0), (None, 1)])
def test_wifi_power_saving_is_a_problem(tmp_path: Path, text: str | None, problems: int) -> None:
    spark = Spark(tmp_path)
    (tmp_path / "sys/class/net/enP7s7/wireless").mkdir()
    if text:
        path = "etc/NetworkManager/conf.d/default-wifi-powersave-on.conf"
        spark.write(path, f"[connection]\nwifi.powersave = {text}\n")
    names = [row["check"] for row in network.problems(connectx.observe(spark.host))]
    assert names == ["management.powersave"] * problems


def test_netplan_files_are_listed_with_interfaces_only(tmp_path: Path) -> None:
    spark = Spark(tmp_path)
    wifi = "network:\n  wifis:\n    wlP9s9:\n      access-points:\n        home: {password: hunter2}\n"
    spark.write("etc/netplan/01-wifi.yaml", wifi)
    spark.write("etc/netplan/40-cx7.yaml", "network:\n  ethernets:\n    enp1s0f0np0: {}\n    # enP2p1s0f0np0: {}\n")
    spark.write("etc/netplan/note.txt", "enp1s0f1np1")
    info = connectx.observe(spark.host)
    assert info["netplan"]["files"] == [
        {"path": "/etc/netplan/01-wifi.yaml", "interfaces": []},
        {"path": "/etc/netplan/40-cx7.yaml", "interfaces": ["enp1s0f0np0"]},
    ]
    assert "hunter2" not in str(info)


def test_host_without_connectx_is_observed(tmp_path: Path) -> None:
    host = Spark(tmp_path).host
    host.root = str(tmp_path / "empty")
    info = connectx.observe(host)
    assert info["links"] == []
    assert info["ports"] == []
    assert network.problems(info) == []
