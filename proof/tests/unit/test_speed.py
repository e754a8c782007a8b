import dataclasses
import sys
import types
import typing as t
from pathlib import Path

import pytest
import yaml
from sparkforge_proof.check import REGISTERED, Context, Failed
from sparkforge_proof.checks.speed import rates as speed
from sparkforge_proof.sampler import Caps, Process, Sample

HEALTHY = Sample(2405.0, 3003.0, 74.0, None, 98.0)
FLOOR = speed.Floor(2400.0, 0.6, "of the profile gb10")


def profile(**floors: t.Any) -> dict[str, t.Any]:
    return {"name": "gb10", "floors": floors}


def test_speed_proves_nothing_about_numbers():
    checks = [definition for definition in REGISTERED.values() if definition.family == "speed"]
    assert sorted(definition.name for definition in checks) == [
        "speed.clocks",
        "speed.copy",
        "speed.matmul_bfloat16",
        "speed.matmul_float16",
    ]
    assert all(not definition.numeric and definition.device == "cuda" for definition in checks)


# -- floors


def test_the_profile_sets_the_floor_whatever_is_known_of_the_device():
    floor = speed.floor_of("copy_gb_per_s", profile(copy_gb_per_s={"nominal": 250, "ratio": 0.5}), "NVIDIA GB10")
    assert floor is not None
    assert floor.least == 125
    assert floor.words("GB/s") == "at least 125 GB/s (0.5 of the 250 of the profile gb10)"


@pytest.mark.parametrize("floors", [{}, {"copy_gb_per_s": None}])
def test_without_a_floor_in_the_profile_what_is_known_of_the_device_counts(floors: dict[str, None]):
    floor = speed.floor_of("copy_gb_per_s", profile(**floors), "NVIDIA H200")
    assert floor is not None
    assert (floor.nominal, floor.ratio) == (4800.0, speed.DEFAULT_RATIO)


@pytest.mark.parametrize("device", ["NVIDIA H200 MIG 1g.18gb", "NVIDIA RTX A4000", "NVIDIA H100 80GB HBM3"])
def test_of_other_devices_nothing_is_known_and_the_rate_is_told_without_judgement(device: str):
    assert speed.floor_of("copy_gb_per_s", {"name": "generic", "floors": None}, device) is None
    bound, failure = speed.judged("the copy", 12.0, "GB/s", None, device)
    assert failure is None
    assert bound == f"no floor of the copy is known for {device}, and the profile has none"


def test_a_rate_below_its_floor_fails_and_one_at_it_passes():
    assert speed.judged("the copy", 1440.0, "MHz", FLOOR, "NVIDIA GB10")[1] is None
    bound, failure = speed.judged("the copy", 1439.0, "MHz", FLOOR, "NVIDIA GB10")
    assert failure is not None
    assert failure.cause == f"The copy runs at 1439 MHz, below its floor: {bound}."
    assert failure.measured == "1439 MHz"


@pytest.mark.parametrize(
    ("evidence", "blocks"),
    [("", True), ("measured on a GB10", True), ("from the data sheet", False), ("unknown: a guess", False)],
)
def test_only_a_floor_that_was_measured_or_that_the_site_means_blocks(evidence: str, blocks: bool):
    floor = dataclasses.replace(FLOOR, evidence=evidence)
    bound, problem = speed.judged("the copy", 12.0, "GB/s", floor, "NVIDIA GB10")
    assert problem is not None
    assert problem.blocks is blocks
    assert evidence in bound and evidence in problem.cause
    clock = speed.clock_fault([dataclasses.replace(HEALTHY, sm_clock_mhz=1000.0)], floor, "NVIDIA GB10")[2]
    assert clock is not None
    assert clock.blocks is blocks


def test_a_floor_of_the_hosts_own_blocks_beside_one_that_only_warns():
    own = speed.own_floor("copy_gb_per_s", {"own_floors": {"copy_gb_per_s": {"nominal": 200.0, "since": "2026-11-22"}}})
    assert own is not None
    sheet = speed.Floor(273.0, 0.6, "of the profile gb10", "from the data sheet")
    bound, slower = speed.judged("the copy", 155.0, "GB/s", sheet, "NVIDIA GB10", own)
    assert slower is not None
    assert not slower.blocks
    assert "0.75 of the 200 that this host reached on 2026-11-22" in bound
    drifted = speed.judged("the copy", 149.0, "GB/s", sheet, "NVIDIA GB10", own)[1]
    assert drifted is not None
    assert drifted.blocks and "reached on 2026-11-22" in drifted.cause and "verify_speed_floors" in drifted.remedy
    assert speed.judged("the copy", 199.0, "GB/s", sheet, "NVIDIA GB10", own)[1] is None


def test_a_slow_device_blocks_only_below_a_floor_that_was_measured_on_its_kind_or_set_by_the_site():
    stuck = [dataclasses.replace(HEALTHY, sm_clock_mhz=611.0)] * 5
    for evidence, blocks in (("unknown: reported", False), ("", True), ("measured on NVIDIA GB10", True)):
        found = speed.clock_fault(stuck, dataclasses.replace(FLOOR, evidence=evidence), "NVIDIA GB10")[2]
        assert found is not None
        assert (found.reason, found.blocks) == ("slow", blocks)


def test_a_cap_that_the_owner_set_is_no_fault():
    capped = dataclasses.replace(HEALTHY, sm_clock_mhz=1200.0, reasons=frozenset({speed.CAPPED}))
    assert speed.clock_fault([capped] * 5, FLOOR, "NVIDIA GB10")[2] is None


def test_each_rate_that_becomes_a_floor_is_one_of_a_check():
    assert {check for check, _rate in speed.RATES.values()} <= set(REGISTERED)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., Context]:
    """A device with torch that reaches the rate or the clock that it is given, and does nothing else."""

    def make(
        rate: float = 1.0, clock: float = 2405.0, reasons: frozenset[str] = frozenset(), **profile: t.Any
    ) -> Context:
        cuda = types.SimpleNamespace(get_device_name=lambda: "NVIDIA GB10")
        monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda, bfloat16="bfloat16"))
        monkeypatch.setattr(speed, "_rest", lambda index: None)
        monkeypatch.setattr(speed, "_index", lambda: "0")
        monkeypatch.setattr(speed, "_product", lambda context, dtype: (1000, None))
        monkeypatch.setattr(speed, "_rate", lambda work, seconds=1.0: rate)
        sample = dataclasses.replace(HEALTHY, sm_clock_mhz=clock, reasons=reasons)
        monkeypatch.setattr(speed, "_SEEN", [])
        monkeypatch.setattr(speed, "_under_load", lambda index, work: ([sample] * 5, rate))
        return Context(device="cuda", profile=profile)

    return make


def test_a_product_that_is_slower_than_nobody_measured_warns_with_its_rate(device: t.Callable[..., Context]):
    floors = {"matmul_bfloat16_tflops": {"nominal": 93.6, "ratio": 0.6, "evidence": "unknown"}}
    found = speed.matmul_bfloat16(device(rate=20e3, name="gb10", floors=floors))
    assert found.rates == {"tflops": 40.0}
    assert found.warning is not None
    assert "runs at 40 TFLOP/s, below its floor" in found.warning.cause
    own = {"matmul_bfloat16_tflops": {"nominal": 60.0, "since": "2026-11-22"}}
    found = speed.matmul_bfloat16(device(rate=20e3, name="gb10", floors=floors, own_floors=own))
    assert "this host reached on 2026-11-22" in found.warning.cause and found.warning.blocks
    capped = device(rate=20e3, name="gb10", floors=floors, own_floors=own, reasons=frozenset({speed.CAPPED}))
    assert not speed.matmul_bfloat16(capped).warning.blocks
    assert speed.matmul_bfloat16(device(rate=30e3, name="gb10", floors=floors, own_floors=own)).warning is None


def test_a_clock_below_a_floor_that_only_warns_is_told_with_its_rates(device: t.Callable[..., Context]):
    floors = {"sm_clock_mhz": {"nominal": 2400.0, "ratio": 0.6, "evidence": "from the data sheet"}}
    found = speed.clocks(device(clock=1200.0, name="gb10", floors=floors))
    assert (found.rates["sm_clock_mhz"], found.warning is not None) == (1200.0, True)
    assert "at least 1440 MHz (0.6 of the 2400 of the profile gb10: from the data sheet)" in found.bound
    assert speed.clocks(device(name="gb10", floors=floors)).warning is None
    held = speed.clocks(device(clock=611.0, name="gb10", floors=floors)).warning
    assert "500 to 850 MHz" in held.cause and not held.blocks


# -- what owners of GB10s measured, against the shipped floors

CHECKOUT = Path(__file__).parents[3]
GB10 = yaml.safe_load((CHECKOUT / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]["gb10"]
HWTEST = "E27-25/fusionxpark-gb10-hwtest, 448a6db"
MINEFIELD = "Blackwellboy/model-serving-minefield, trap 124"
#: Rates of sound machines by the names of floors. A copy is counted as read and written, so that owners who count one
#: direction have half.
SOUND = [
    ("matmul_bfloat16_tflops", 91.5, MINEFIELD),
    ("matmul_bfloat16_tflops", 99.8, "MAMF on a GB10, two repositories"),
    ("matmul_float16_tflops", 90.58, "HarryMclean/dgx_spark_config, a wheel"),
    ("matmul_float16_tflops", 93.61, "HarryMclean/dgx_spark_config, built from source"),
    ("copy_gb_per_s", 2 * 124.0, HWTEST),
    ("copy_gb_per_s", 202.0, "74 % of 273 by decoding, several owners"),
    ("sm_clock_mhz", 2385.0, MINEFIELD),
    ("sm_clock_mhz", 2177.0, f"{HWTEST}, after 15 s"),
]


@pytest.mark.parametrize(("name", "rate", "source"), SOUND, ids=[f"{name}-{rate:g}" for name, rate, _source in SOUND])
def test_a_sound_gb10_reaches_every_shipped_floor(name: str, rate: float, source: str):
    floor = speed.floor_of(name, {"name": "gb10", "floors": GB10["speed_floors"]}, "NVIDIA GB10")
    assert floor is not None and speed.short_of(rate, [floor]) is None, source


def test_a_gb10_with_a_stack_for_another_gpu_is_below_its_floor_and_only_warns():
    # HWTEST: wheels of cu128, which have no code for 12.x.
    floor = speed.floor_of("matmul_bfloat16_tflops", {"name": "gb10", "floors": GB10["speed_floors"]}, "NVIDIA GB10")
    problem = speed.judged("the bfloat16 matrix product", 11.9, "TFLOP/s", floor, "NVIDIA GB10")[1]
    assert problem is not None and not problem.blocks and "speed.clocks" in problem.remedy


@pytest.mark.parametrize(
    ("clock", "power", "fault"),
    [(799.0, 19.5, "draws 20 W"), (799.0, None, "limited to 799 MHz"), (2385.0, 92.5, ""), (2177.0, 88.0, "")],
)
def test_a_gb10_that_is_stuck_is_unplugged_and_not_rebooted(clock: float, power: float | None, fault: str):
    # MINEFIELD for the first three, HWTEST for the last.
    floor = speed.floor_of("sm_clock_mhz", {"name": "gb10", "floors": GB10["speed_floors"]}, "NVIDIA GB10")
    seen = dataclasses.replace(HEALTHY, sm_clock_mhz=clock, power_w=power)
    problem = speed.clock_fault([seen] * 5, floor, "NVIDIA GB10")[2]
    assert bool(problem) == bool(fault)
    if problem:
        assert fault in problem.cause
        assert "for 60 seconds" in problem.remedy and "a reboot is not enough" in problem.remedy


# -- a device in use


def test_who_uses_the_device_is_named():
    reason = speed.busy([Process(4242, "python train.py"), Process(7, "ollama")], [0.0])
    assert reason is not None
    assert "python train.py (process 4242), ollama (process 7)" in reason


def test_a_device_that_does_not_come_to_rest_is_busy_and_one_that_does_is_not():
    assert "90 %" in (speed.busy([], [100.0, 95.0, 90.0]) or "")
    assert speed.busy([], [100.0, 95.0, 3.0]) is None
    assert speed.busy([], [None]) is None
    assert speed.busy([], []) is None


# -- clocks


def test_a_healthy_device_keeps_its_clock():
    assert speed.clock_fault([HEALTHY] * 4, FLOOR, "NVIDIA GB10") == (2405.0, 74.0, None)


def test_one_slow_sample_of_many_is_no_fault():
    slow = dataclasses.replace(HEALTHY, sm_clock_mhz=600.0)
    assert speed.clock_fault([HEALTHY, slow, HEALTHY], FLOOR, "NVIDIA GB10")[2] is None


def fault(device: str = "NVIDIA GB10", **changes: t.Any) -> Failed:
    failure = speed.clock_fault([dataclasses.replace(HEALTHY, **changes)] * 5, FLOOR, device)[2]
    assert failure is not None
    return failure


def test_the_fault_of_the_power_delivery_is_named():
    found = fault(sm_clock_mhz=611.0, power_w=29.0)
    assert "about 30 W" in found.cause
    assert "RMA" in found.remedy
    assert found.measured == "SM clock 611 MHz at 29 W"


def test_few_watts_alone_are_no_fault_for_a_cap_lowers_them_too():
    assert speed.clock_fault([dataclasses.replace(HEALTHY, power_w=29.0)], FLOOR, "NVIDIA GB10")[2] is None
    assert "about 30 W" not in fault("NVIDIA T4", sm_clock_mhz=611.0, power_w=29.0).cause


def test_a_cap_that_the_owner_set_is_no_fault_and_nobody_is_told_to_reset_it():
    slow = [dataclasses.replace(HEALTHY, sm_clock_mhz=800.0, power_w=30.0)] * 5
    assert speed.clock_fault(slow, FLOOR, "NVIDIA GB10", caps=Caps(clock_mhz=800.0))[2] is None
    weak = [dataclasses.replace(HEALTHY, sm_clock_mhz=1000.0, power_w=58.0)] * 5
    assert speed.clock_fault(weak, FLOOR, "NVIDIA GB10", caps=Caps(power_w=60.0))[2] is None
    # What the cap does not explain is a fault as ever.
    assert speed.clock_fault(slow, FLOOR, "NVIDIA GB10", caps=Caps(power_w=100.0, clock_mhz=2000.0))[2] is not None


@pytest.mark.parametrize("clock", [500.0, 611.0, 850.0])
def test_a_clock_held_low_is_named(clock: float):
    found = fault(sm_clock_mhz=clock, reasons=frozenset({"software power cap"}), power_limit_w=700.0)
    assert f"limited to {clock:.0f} MHz" in found.cause
    assert "500 to 850 MHz" in found.cause
    assert "60 seconds" in found.remedy
    assert found.measured.endswith("software power cap")


@pytest.mark.parametrize(
    ("reason", "cause", "remedy"),
    [
        ("software thermal slowdown", "by software thermal slowdown", "fans"),
        ("hardware thermal slowdown", "by hardware thermal slowdown", "fans"),
        ("software power cap", "by software power cap", "--power-limit"),
        ("sync boost", "below its floor", "nvidia-smi -q"),
    ],
)
def test_what_holds_the_clock_back_is_named(reason: str, cause: str, remedy: str):
    found = fault("NVIDIA H200", sm_clock_mhz=1000.0, power_limit_w=250.0, reasons=frozenset({reason}))
    assert cause in found.cause
    assert remedy in found.remedy


def test_a_clock_without_a_floor_and_power_is_told():
    quiet = Sample(611.0)
    assert speed.clock_fault([quiet], None, "NVIDIA X") == (611.0, None, None)
