import dataclasses
import types
import typing as t
from pathlib import Path

import pytest
import yaml
from sparkforge_proof import settings
from sparkforge_proof.check import REGISTERED, Context, Failed
from sparkforge_proof.checks.speed import rates as speed
from sparkforge_proof.sampler import Caps, Process, Sample

HEALTHY = Sample(2405.0, 3003.0, 74.0, None, 98.0)
FLOOR = speed.Floor(2400.0, 0.6, "of the profile gb10")


def profile(**floors: t.Any) -> dict[str, t.Any]:
    return {"name": "gb10", "floors": floors}


def test_speed_checks_are_not_numeric():
    checks = {name: definition for name, definition in REGISTERED.items() if definition.family == "speed"}
    assert set(checks) == {"speed.clocks", "speed.copy", "speed.matmul_bfloat16", "speed.matmul_float16"}
    assert all(not definition.numeric and definition.device == "cuda" for definition in checks.values())
    assert {check for check, _rate in settings.RATES.values()} <= set(checks)


def test_floor_of_profile():
    (floor,) = speed.floors_of("copy_gb_per_s", profile(copy_gb_per_s={"nominal": 250, "ratio": 0.5}))
    assert floor.least == 125
    assert floor.text("GB/s") == "at least 125 GB/s (0.5 of the 250 of the profile gb10)"


@pytest.mark.parametrize("device", ["NVIDIA H200 MIG 1g.18gb", "NVIDIA RTX A4000", "NVIDIA H100 80GB HBM3"])
def test_unknown_device_has_no_floor(device: str):
    assert speed.floors_of("copy_gb_per_s", {"name": "generic", "floors": None}) == []
    bound, failure = speed.judged("the copy", 12.0, "GB/s", [], device)
    assert failure is None
    assert f"known for {device}, and" in bound


def test_rate_below_floor_fails():
    assert speed.judged("the copy", 1440.0, "MHz", [FLOOR], "NVIDIA GB10")[1] is None
    bound, failure = speed.judged("the copy", 1439.0, "MHz", [FLOOR], "NVIDIA GB10")
    assert failure is not None
    assert failure.cause == f"The copy runs at 1439 MHz, below its floor: {bound}."
    assert failure.measured == "1439 MHz"


@pytest.mark.parametrize(
    ("evidence", "blocks"),
    [("", True), ("measured on a GB10", True), ("from the data sheet", False), ("unknown: a guess", False)],
)
def test_only_measured_floor_blocks(evidence: str, blocks: bool):
    floor = dataclasses.replace(FLOOR, evidence=evidence)
    bound, problem = speed.judged("the copy", 12.0, "GB/s", [floor], "NVIDIA GB10")
    assert problem is not None
    assert problem.blocks is blocks
    assert evidence in bound and evidence in problem.cause
    clock = speed.clock_fault([dataclasses.replace(HEALTHY, sm_clock_mhz=1000.0)], [floor], "NVIDIA GB10")[2]
    assert clock is not None
    assert clock.blocks is blocks


def test_own_floor_of_host_blocks():
    proven = {"own_floors": {"copy_gb_per_s": {"nominal": 200.0, "since": "2026-11-22"}}}
    (own,) = speed.floors_of("copy_gb_per_s", proven)
    sheet = speed.Floor(273.0, 0.6, "of the profile gb10", "from the data sheet")
    bound, slower = speed.judged("the copy", 155.0, "GB/s", [own, sheet], "NVIDIA GB10")
    assert slower is not None
    assert not slower.blocks
    assert "0.75 of the 200 that this host" in bound
    drifted = speed.judged("the copy", 149.0, "GB/s", [own, sheet], "NVIDIA GB10")[1]
    assert drifted is not None
    assert drifted.blocks and "reached on 2026-11-22" in drifted.cause and "verify_speed_floors" in drifted.remedy
    assert speed.judged("the copy", 199.0, "GB/s", [own, sheet], "NVIDIA GB10")[1] is None


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., Context]:
    """Return a function that makes a device with the rate and the clock given as arguments."""

    def make(rate=1.0, clock=2405.0, reasons=frozenset(), **profile: t.Any) -> Context:
        cuda = types.SimpleNamespace(get_device_name=lambda: "NVIDIA GB10")
        monkeypatch.setattr(speed, "torch", types.SimpleNamespace(cuda=cuda, bfloat16="bfloat16"))
        monkeypatch.setattr(speed, "_wait_until_idle", lambda index: None)
        monkeypatch.setattr(speed, "_index", lambda: "0")
        monkeypatch.setattr(speed, "_product", lambda context, dtype: (1000, None))
        monkeypatch.setattr(speed, "_rate", lambda work, seconds=1.0: rate)
        sample = dataclasses.replace(HEALTHY, sm_clock_mhz=clock, reasons=reasons)
        monkeypatch.setattr(speed, "_SAMPLES", [])
        monkeypatch.setattr(speed, "_under_load", lambda index, work: ([sample] * 5, rate))
        return Context(device="cuda", profile=profile)

    return make


def test_slow_product_below_unmeasured_floor_warns(device: t.Callable[..., Context]):
    floors = {"matmul_bfloat16_tflops": {"nominal": 93.6, "ratio": 0.6, "evidence": "unknown"}}
    measured = speed.matmul(device(rate=20e3, name="gb10", floors=floors), "matmul_bfloat16")
    assert measured.rates == {"tflops": 40.0}
    assert measured.warning is not None
    assert "runs at 40 TFLOP/s, below its floor" in measured.warning.cause
    own = {"matmul_bfloat16_tflops": {"nominal": 60.0, "since": "2026-11-22"}}
    measured = speed.matmul(device(rate=20e3, name="gb10", floors=floors, own_floors=own), "matmul_bfloat16")
    assert "reached on 2026-11-22" in measured.warning.cause and measured.warning.blocks
    capped = device(rate=20e3, name="gb10", floors=floors, own_floors=own, reasons=frozenset({speed.CAPPED}))
    assert not speed.matmul(capped, "matmul_bfloat16").warning.blocks
    sound = device(rate=30e3, name="gb10", floors=floors, own_floors=own)
    assert speed.matmul(sound, "matmul_bfloat16").warning is None


def test_clock_below_unmeasured_floor_warns(device: t.Callable[..., Context]):
    floors = {"sm_clock_mhz": {"nominal": 2400.0, "ratio": 0.6, "evidence": "from the data sheet"}}
    measured = speed.clocks(device(clock=1200.0, name="gb10", floors=floors))
    assert (measured.rates["sm_clock_mhz"], measured.warning is not None) == (1200.0, True)
    assert "at least 1440 MHz (0.6 of the 2400 of the profile gb10: from the data sheet)" in measured.bound
    assert speed.clocks(device(name="gb10", floors=floors)).warning is None
    stuck = speed.clocks(device(clock=611.0, name="gb10", floors=floors)).warning
    assert "500 to 850 MHz" in stuck.cause and not stuck.blocks


CHECKOUT = Path(__file__).parents[3]
GB10 = yaml.safe_load((CHECKOUT / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]["gb10"]
HWTEST = "E27-25/fusionxpark-gb10-hwtest, 448a6db"
MINEFIELD = "Blackwellboy/model-serving-minefield, trap 124"
#: Rates of sound machines, with the names of their floors. The copy rate counts reads and writes, so a rate from an
#: owner who counted one direction is doubled.
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
def test_sound_gb10_reaches_every_floor(name: str, rate: float, source: str):
    (floor,) = speed.floors_of(name, {"name": "gb10", "floors": GB10["speed_floors"]})
    assert speed.short_of(rate, [floor]) is None, source


def test_stack_for_other_gpu_warns():
    # From HWTEST: cu128 wheels, which have no code for 12.x.
    floors = speed.floors_of("matmul_bfloat16_tflops", {"name": "gb10", "floors": GB10["speed_floors"]})
    problem = speed.judged("the bfloat16 matrix product", 11.9, "TFLOP/s", floors, "NVIDIA GB10")[1]
    assert problem is not None and not problem.blocks and "speed.clocks" in problem.remedy


@pytest.mark.parametrize(
    ("clock", "power", "fault"),
    [(799.0, 19.5, "draws 20 W"), (799.0, None, "limited to 799 MHz"), (2385.0, 92.5, ""), (2177.0, 88.0, "")],
)
def test_remedy_of_stuck_gb10(clock: float, power: float | None, fault: str):
    # The first three figures are from MINEFIELD, the last is from HWTEST.
    floors = speed.floors_of("sm_clock_mhz", {"name": "gb10", "floors": GB10["speed_floors"]})
    sample = dataclasses.replace(HEALTHY, sm_clock_mhz=clock, power_w=power)
    problem = speed.clock_fault([sample] * 5, floors, "NVIDIA GB10")[2]
    assert bool(problem) == bool(fault)
    if problem:
        assert fault in problem.cause
        assert "for 60 seconds" in problem.remedy and "not enough" in problem.remedy


def test_busy_device():
    reason = speed.busy([Process(4242, "python train.py"), Process(7, "ollama")], [0.0])
    assert "python train.py (process 4242), ollama (process 7)" in (reason or "")
    assert "90 %" in (speed.busy([], [100.0, 95.0, 90.0]) or "")
    assert speed.busy([], [100.0, 95.0, 3.0]) is None
    assert speed.busy([], [None]) is None
    assert speed.busy([], []) is None


def sample(**changes: t.Any) -> Sample:
    return dataclasses.replace(HEALTHY, **changes)


def test_healthy_clock():
    assert speed.clock_fault([HEALTHY] * 4, [FLOOR], "NVIDIA GB10") == (2405.0, 74.0, None)


@pytest.mark.parametrize(
    ("samples", "caps"),
    [
        ([HEALTHY, sample(sm_clock_mhz=600.0), HEALTHY], Caps()),
        # A capped clock also lowers the power.
        ([sample(power_w=29.0)], Caps()),
        ([sample(sm_clock_mhz=1200.0, reasons=frozenset({speed.CAPPED}))] * 5, Caps()),
        ([sample(sm_clock_mhz=800.0, power_w=30.0)] * 5, Caps(clock_mhz=800.0)),
        ([sample(sm_clock_mhz=1000.0, power_w=58.0)] * 5, Caps(power_w=60.0)),
    ],
)
def test_single_sample_or_cap_is_not_a_fault(samples: list[Sample], caps: Caps):
    assert speed.clock_fault(samples, [FLOOR], "NVIDIA GB10", caps=caps)[2] is None


def test_cap_that_does_not_explain_the_clock():
    slow = [sample(sm_clock_mhz=800.0, power_w=30.0)] * 5
    assert speed.clock_fault(slow, [FLOOR], "NVIDIA GB10", caps=Caps(power_w=100.0, clock_mhz=2000.0))[2] is not None


def fault(device: str = "NVIDIA GB10", **changes: t.Any) -> Failed:
    failure = speed.clock_fault([sample(**changes)] * 5, [FLOOR], device)[2]
    assert failure is not None
    return failure


def test_fault_of_power_delivery():
    failure = fault(sm_clock_mhz=611.0, power_w=29.0)
    assert "about 30 W" in failure.cause
    assert "RMA" in failure.remedy
    assert failure.measured == "SM clock 611 MHz at 29 W"
    assert "about 30 W" not in fault("NVIDIA T4", sm_clock_mhz=611.0, power_w=29.0).cause


@pytest.mark.parametrize("clock", [500.0, 611.0, 850.0])
def test_clock_stuck_low(clock: float):
    failure = fault(sm_clock_mhz=clock, reasons=frozenset({"software power cap"}), power_limit_w=700.0)
    assert f"limited to {clock:.0f} MHz" in failure.cause
    assert "500 to 850 MHz" in failure.cause
    assert "60 seconds" in failure.remedy
    assert failure.measured.endswith("software power cap")
    assert (failure.reason, failure.blocks) == ("slow", True)


@pytest.mark.parametrize(
    ("reason", "cause", "remedy"),
    [
        ("software thermal slowdown", "by software thermal slowdown", "fans"),
        ("hardware thermal slowdown", "by hardware thermal slowdown", "fans"),
        ("software power cap", "by software power cap", "--power-limit"),
        ("sync boost", "below its floor", "nvidia-smi -q"),
    ],
)
def test_reason_of_low_clock(reason: str, cause: str, remedy: str):
    failure = fault("NVIDIA H200", sm_clock_mhz=1000.0, power_limit_w=250.0, reasons=frozenset({reason}))
    assert cause in failure.cause
    assert remedy in failure.remedy


def test_clock_without_floor_and_power():
    assert speed.clock_fault([Sample(611.0)], [], "NVIDIA X") == (611.0, None, None)
