"""What the checks conclude; real packets are in tests/integration/test_fabric.py."""

import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fabric import checks
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import fabric

from tests.unit.fabric_host import HALVES, Spark

SUBNETS = [f"192.168.{number}.0/24" for number in range(200, 206)]

# As dgx-spark-playbooks' performance_benchmarking_guide.md has the client's output.
OUTPUT = """
                    RDMA_Write BW Test
 Dual-port       : OFF            Device         : rocep1s0f0
 Number of qps   : 1              Transport type : IB
 Mtu             : 1024[B]
 GID index       : 3
---------------------------------------------------------------------------------------
 local address:  LID 0000 QPN 0x0129 PSN 0x57279d RKey 0x184300 VAddr 0x00ec99bedad000
 GID:            00:00:00:00:00:00:00:00:00:00:255:255:192:168:200:13
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]    MsgRate[Mpps]
 65536      882805           0.00               {}                0.176554
---------------------------------------------------------------------------------------
"""


@pytest.fixture
def spark(tmp_path: Path) -> Spark:
    """A Spark at one end of a cable, as the role leaves it."""
    made = Spark(tmp_path)
    for name, address in (("enp1s0f0np0", "192.168.200.1/24"), ("enP2p1s0f0np0", "192.168.201.1/24")):
        made.address(name, address)
        made.write(f"sys/class/net/{name}/mtu", "9000\n")
    made.write("usr/bin/ib_write_bw", "")
    return made


def check(spark: Spark, probe: t.Any = None, **options: t.Any) -> dict[str, dict[str, t.Any]]:
    rails = fabric.of_host(["spark01", "spark02"], "spark01", SUBNETS, **options)["rails"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "echo", probe or (lambda *_words: None))
        return {row["name"]: row for row in checks.FabricCheck(spark.host, rails, speed=200000).run()}


def failed(rows: dict[str, dict[str, t.Any]]) -> set[str]:
    return {name for name, row in rows.items() if row["status"] == "fail"}


def test_a_sound_end_passes_with_its_device_and_speed(spark: Spark) -> None:
    rows = check(spark)
    assert failed(rows) == set()
    assert rows["rdma.cable1.1"]["measured"] == "roceP2p1s0f0"
    assert rows["state.cable1.0"]["measured"] == "enp1s0f0np0 192.168.200.1/24, 200 Gb/s"
    assert rows["jumbo.cable1.0.spark02"]["measured"] == 9000


def test_a_slow_link_is_named(spark: Spark) -> None:
    spark.write("sys/class/net/enp1s0f0np0/speed", "100000\n")
    rows = check(spark)
    assert failed(rows) == {"state.cable1.0", "halves.port0"}
    assert "runs at 100 Gb/s, but 200 Gb/s are required" in rows["state.cable1.0"]["cause"]


def test_an_rdma_device_without_the_rail_s_gid_is_named(spark: Spark) -> None:
    spark.write("sys/class/infiniband/roceP2p1s0f0/ports/1/gid_attrs/types/3", "IB/RoCE v1\n")
    rows = check(spark)
    assert "roceP2p1s0f0 has no RoCE v2 GID of 192.168.201.1" in rows["rdma.cable1.1"]["cause"]


def test_an_interface_without_an_rdma_device_is_named(spark: Spark) -> None:
    for _name, _pci, rdma in HALVES:
        (spark.root / f"sys/class/infiniband/{rdma}").rename(spark.root / f"gone-{rdma}")
    rows = check(spark)
    assert "modprobe mlx5_ib" in rows["rdma.cable1.0"]["remedy"]


def test_two_pcie_lanes_are_named(spark: Spark) -> None:
    (spark.root / "sys/devices/pci0002:01/0002:01:00.0/current_link_width").write_text("2\n")
    rows = check(spark)
    assert failed(rows) == {"pcie.cable1.1", "halves.port0"}
    assert "32.0 GT/s PCIe x2" in rows["pcie.cable1.1"]["cause"]
    assert "fwupdmgr" in rows["pcie.cable1.1"]["remedy"]


def test_a_port_that_is_not_there_is_named(spark: Spark) -> None:
    for name in ("enp1s0f1np1", "enP2p1s0f1np1"):
        (spark.root / f"sys/class/net/{name}").rename(spark.root / f"gone-{name}")
    assert "Half 1 of port 1 has no interface on this host" in check(spark, port=1)["state.cable1.1"]["cause"]


def test_at_a_switch_either_the_other_end_or_the_switch_is_to_blame(spark: Spark) -> None:
    def probe(_interface: str, _source: str, _target: str, frame: int) -> str | None:
        return None if frame <= 1504 else "no answer"

    rows = check(spark, probe, topology="switch", switch_mtu=9000)
    assert "the other end or the switch between accepts 1504" in rows["jumbo.switch1.0.spark02"]["cause"]
    assert "lower fabric_switch_mtu" in rows["jumbo.switch1.0.spark02"]["remedy"]


def test_the_kho_reserve_fails_the_check(spark: Spark) -> None:
    spark.write("proc/meminfo", "CmaTotal: 0 kB\nCmaFree: 10171187 kB\n")
    assert failed(check(spark)) == {"kernel.kho"}


@pytest.mark.parametrize("limit", [577, 1500, 4217, 8999])
def test_the_largest_frame_is_found(limit: int) -> None:
    assert checks.largest(lambda size: size <= limit, 576, 9000) == limit


def test_the_checksum_is_the_internet_s() -> None:
    # The example of RFC 1071, section 3: the sum is ddf2.
    assert checks.checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF ^ 0xDDF2
    assert checks.checksum(b"\x01") == 0xFEFF


# -- bandwidth


def measure(
    spark: Spark, value: float | None, role: str = "client", code: int = 0, said: str = ""
) -> list[dict[str, t.Any]]:
    plan = fabric.of_host(["spark01", "spark02"], "spark01", SUBNETS)
    text = OUTPUT.format(value) if value is not None else said
    spark.commands["ib_write_bw -d"] = (code, text, "")
    made = checks.FabricCheck(spark.host, plan["rails"])
    return list(made.measure({"link": "cable1", "role": role, "peer": "spark02"}, 5, 80))


def test_each_half_is_measured_by_its_own_device_and_gid(spark: Spark) -> None:
    rows = measure(spark, 92.57)
    assert [(row["status"], row["measured"]) for row in rows] == [("pass", 92.57), ("pass", 92.57)]
    first, second = [argv for argv in spark.ran if "ib_write_bw" in argv[0]]
    assert first[1:5] == ["-d", "rocep1s0f0", "-i", "1"]
    assert first[-3:] == ["-x", "3", "192.168.200.2"]
    assert second[second.index("-p") + 1] != first[first.index("-p") + 1]
    assert second[-1] == "192.168.201.2"


def test_the_server_names_no_peer_and_has_no_figure(spark: Spark) -> None:
    rows = measure(spark, 92.57, role="server")
    assert [row["measured"] for row in rows] == ["served", "served"]
    assert next(argv for argv in spark.ran if "ib_write_bw" in argv[0])[-1] == "3"


def test_thirteen_gigabits_on_a_200_gigabit_link_are_the_degraded_state(spark: Spark) -> None:
    row = measure(spark, 13.23)[0]
    assert row["status"] == "fail"
    assert "writes 13.2 Gb/s to spark02 although the link reports 200 Gb/s" in row["cause"]
    assert "kernels 6.17.0-1029 and 6.17.0-1032" in row["cause"] and "power supplies for 60 s" in row["remedy"]


def test_the_rate_of_a_real_pair_is_read() -> None:
    # Two Sparks and one cable, ib_write_bw -q 4 -s 1048576 (an owner's blog, 2026-07-21).
    line = "1048576    70121            0.00               98.04             0.011687"
    assert checks.bandwidth_of(f" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]\n {line}\n") == 98.04


def test_other_low_figures_are_only_low(spark: Spark) -> None:
    row = measure(spark, 49.0)[0]
    assert row["cause"] == "rocep1s0f0 writes 49.0 Gb/s to spark02; 80 are required."


def test_without_perftest_it_is_skipped_with_the_reason(spark: Spark) -> None:
    (spark.root / "usr/bin/ib_write_bw").unlink()
    rows = measure(spark, 92.57)
    assert {row["status"] for row in rows} == {"skip"}
    assert "perftest" in rows[0]["cause"]


def test_a_peer_that_does_not_come_is_said(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MEETING_SECONDS", 0)
    row = measure(spark, None, code=1, said="Couldn't connect to 192.168.200.2:12000\nUnable to open file descriptor")[
        0
    ]
    assert "ib_write_bw did not finish with spark02: Couldn't connect" in row["cause"]
    assert "at least two forks" in row["remedy"]


def test_a_client_that_comes_first_tries_again(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.time, "sleep", lambda _seconds: None)
    answers = iter([(1, "", "Couldn't connect to 192.168.200.2:12000"), (0, OUTPUT.format(92.57), "")])
    host = spark.host
    usual = host.run
    host.run = lambda argv: next(answers) if "ib_write_bw" in argv[0] else usual(argv)
    plan = fabric.of_host(["spark01", "spark02"], "spark01", SUBNETS)
    made = checks.FabricCheck(host, plan["rails"][:1])
    (row,) = made.measure({"link": "cable1", "role": "client", "peer": "spark02"}, 5, 80)
    assert row["measured"] == 92.57
