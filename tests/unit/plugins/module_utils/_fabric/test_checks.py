"""The conclusions of the fabric checks; tests/integration/test_fabric.py sends real packets."""

import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fabric import checks
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import fabric

from tests.unit.fabric_host import HALVES, Spark

SUBNETS = [f"192.168.{number}.0/24" for number in range(200, 206)]

# The client's output as shown in performance_benchmarking_guide.md of dgx-spark-playbooks.
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
    """A Spark at one end of a cable, configured by the role."""
    spark = Spark(tmp_path)
    for name, address in (("enp1s0f0np0", "192.168.200.1/24"), ("enP2p1s0f0np0", "192.168.201.1/24")):
        spark.address(name, address)
        spark.write(f"sys/class/net/{name}/mtu", "9000\n")
    spark.write("usr/bin/ib_write_bw", "")
    return spark


def check(spark: Spark, probe: t.Any = None, **options: t.Any) -> dict[str, dict[str, t.Any]]:
    rails = fabric.of_host(["spark01", "spark02"], "spark01", SUBNETS, **options)["rails"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "echo", probe or (lambda *_words: None))
        return {row["name"]: row for row in checks.FabricCheck(spark.host, rails, speed=200000).run()}


def failed_checks(rows: dict[str, dict[str, t.Any]]) -> set[str]:
    return {name for name, row in rows.items() if row["status"] == "fail"}


def test_sound_host_passes_with_device_and_speed(spark: Spark) -> None:
    rows = check(spark)
    assert failed_checks(rows) == set()
    assert rows["rdma.cable1.1"]["measured"] == "roceP2p1s0f0"
    assert rows["state.cable1.0"]["measured"] == "enp1s0f0np0 192.168.200.1/24, 200 Gb/s"
    assert rows["jumbo.cable1.0.spark02"]["measured"] == 9000


def test_slow_link_is_reported(spark: Spark) -> None:
    spark.write("sys/class/net/enp1s0f0np0/speed", "100000\n")
    rows = check(spark)
    assert failed_checks(rows) == {"state.cable1.0", "halves.port0"}
    assert "runs at 100 Gb/s, but 200 Gb/s are required" in rows["state.cable1.0"]["cause"]


def test_missing_gid_is_reported(spark: Spark) -> None:
    spark.write("sys/class/infiniband/roceP2p1s0f0/ports/1/gid_attrs/types/3", "IB/RoCE v1\n")
    assert "roceP2p1s0f0 has no RoCE v2 GID of 192.168.201.1" in check(spark)["rdma.cable1.1"]["cause"]


def test_missing_rdma_device_is_reported(spark: Spark) -> None:
    for _name, _pci, rdma in HALVES:
        (spark.root / f"sys/class/infiniband/{rdma}").rename(spark.root / f"gone-{rdma}")
    assert "modprobe mlx5_ib" in check(spark)["rdma.cable1.0"]["remedy"]


def test_reduced_pcie_width_is_reported(spark: Spark) -> None:
    (spark.root / "sys/devices/pci0002:01/0002:01:00.0/current_link_width").write_text("2\n")
    rows = check(spark)
    assert failed_checks(rows) == {"pcie.cable1.1", "halves.port0"}
    assert "32.0 GT/s PCIe x2" in rows["pcie.cable1.1"]["cause"]
    assert "fwupdmgr" in rows["pcie.cable1.1"]["remedy"]


def test_missing_port_is_reported(spark: Spark) -> None:
    for name in ("enp1s0f1np1", "enP2p1s0f1np1"):
        (spark.root / f"sys/class/net/{name}").rename(spark.root / f"gone-{name}")
    assert "Half 1 of port 1" in check(spark, port=1)["state.cable1.1"]["cause"]


def test_small_mtu_at_a_switch_is_reported(spark: Spark) -> None:
    def probe(_interface: str, _source: str, _target: str, frame: int) -> str | None:
        return None if frame <= 1504 else "no answer"

    rows = check(spark, probe, topology="switch", switch_mtu=9000)
    assert "between accepts 1504" in rows["jumbo.switch1.0.spark02"]["cause"]
    assert "lower fabric_switch_mtu" in rows["jumbo.switch1.0.spark02"]["remedy"]


def test_kho_reserve_fails_the_check(spark: Spark) -> None:
    spark.write("proc/meminfo", "CmaTotal: 0 kB\nCmaFree: 10171187 kB\n")
    assert failed_checks(check(spark)) == {"kernel.kho"}


@pytest.mark.parametrize("limit", [577, 1500, 4217, 8999])
def test_largest_frame(limit: int) -> None:
    assert checks.largest(lambda size: size <= limit, 576, 9000) == limit


def test_internet_checksum() -> None:
    # The example in RFC 1071, section 3: the sum is ddf2.
    assert checks.checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF ^ 0xDDF2
    assert checks.checksum(b"\x01") == 0xFEFF


# -- bandwidth


def measure(spark: Spark, role: str = "client", rails: int | None = None) -> list[dict[str, t.Any]]:
    plan = fabric.of_host(["spark01", "spark02"], "spark01", SUBNETS)
    check = checks.FabricCheck(spark.host, plan["rails"][:rails])
    return list(check.measure({"link": "cable1", "role": role, "peer": "spark02"}, 5, 80))


def measure_rate(spark: Spark, rate: float, role: str = "client") -> list[dict[str, t.Any]]:
    spark.commands["ib_write_bw -d"] = (0, OUTPUT.format(rate), "")
    return measure(spark, role)


def test_each_half_is_measured_by_its_device_and_gid(spark: Spark) -> None:
    rows = measure_rate(spark, 92.57)
    assert [(row["status"], row["measured"]) for row in rows] == [("pass", 92.57), ("pass", 92.57)]
    first, second = [argv for argv in spark.ran if "ib_write_bw" in argv[0]]
    assert first[1:5] == ["-d", "rocep1s0f0", "-i", "1"]
    assert first[-3:] == ["-x", "3", "192.168.200.2"]
    assert second[second.index("-p") + 1] != first[first.index("-p") + 1]
    assert second[-1] == "192.168.201.2"


def test_server_has_no_peer_and_no_rate(spark: Spark) -> None:
    assert [row["measured"] for row in measure_rate(spark, 92.57, role="server")] == ["served", "served"]
    assert next(argv for argv in spark.ran if "ib_write_bw" in argv[0])[-1] == "3"


def test_13_gigabits_on_200_gigabit_link_is_degraded(spark: Spark) -> None:
    row = measure_rate(spark, 13.23)[0]
    assert row["status"] == "fail"
    assert "13.2 Gb/s to spark02" in row["cause"] and "reports 200 Gb/s" in row["cause"]
    assert "kernels 6.17.0-1029 and 6.17.0-1032" in row["cause"] and "power supplies for 60 s" in row["remedy"]


def test_rate_of_real_hosts_is_parsed() -> None:
    # ib_write_bw -q 4 -s 1048576 between two Sparks with one cable (from an owner's blog, 2026-07-21).
    line = "1048576    70121            0.00               98.04             0.011687"
    assert checks.bandwidth_of(f" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]\n {line}\n") == 98.04


def test_other_low_rate_is_reported(spark: Spark) -> None:
    row = measure_rate(spark, 49.0)[0]
    assert row["cause"] == "rocep1s0f0 writes 49.0 Gb/s to spark02; 80 are required."


def test_missing_perftest_skips_the_measurement(spark: Spark) -> None:
    (spark.root / "usr/bin/ib_write_bw").unlink()
    rows = measure_rate(spark, 92.57)
    assert {row["status"] for row in rows} == {"skip"}
    assert "perftest" in rows[0]["cause"]


def test_missing_peer_is_reported(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MEETING_SECONDS", 0)
    output = "Couldn't connect to 192.168.200.2:12000\nUnable to open file descriptor"
    spark.commands["ib_write_bw -d"] = (1, output, "")
    row = measure(spark)[0]
    assert "finish with spark02: Couldn't connect" in row["cause"]
    assert "two forks" in row["remedy"]


def test_client_retries_until_server_is_ready(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.time, "sleep", lambda _seconds: None)
    answers = iter([(1, "", "Couldn't connect to 192.168.200.2:12000"), (0, OUTPUT.format(92.57), "")])
    run = spark.run
    monkeypatch.setattr(spark, "run", lambda argv: next(answers) if "ib_write_bw" in argv[0] else run(argv))
    (row,) = measure(spark, rails=1)
    assert row["measured"] == 92.57
