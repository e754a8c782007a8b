"""The plan of the role verify: the settings for the proof and its timer."""

import typing as t
from pathlib import Path

import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.doc_fragments import proof
from ansible_collections.sparkforge.dgx_spark.plugins.modules import cuda_proof
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import Plan, verify

DEFAULTS = yaml.safe_load((Path(__file__).parents[5] / "roles/verify/defaults/main.yml").read_text())
STACK = {
    "name": "torch-2.9.1",
    "method": "build",
    "lock": {"id": "0123456789ab"},
    "versions": {"torch": "2.9.1"},
    "cuda": {"version": "13.0"},
    "driver_minimum": "580.65.06",
    "profile": {"name": "gb10", "required_checks": ["matmul.*"]},
    "archives": [
        {"component": "libcudss", "soname": "libcudss.so.0", "sha256": {"linux-sbsa": "a"}},
        {"component": "nvpl_blas", "soname": "libnvpl.so.0", "sha256": {"linux-sbsa": "a"}},
        {"component": "other", "soname": "libother.so.0", "sha256": {"linux-x86_64": "a"}},
    ],
    "cusparselt": {"soname": "libcusparseLt.so.0", "archive": {"sha256": {"linux-sbsa": "a"}}},
}


def steps(machine: str = "aarch64", **changed: t.Any) -> t.Mapping[str, t.Any]:
    return plan(machine, **changed).steps


def plan(machine: str = "aarch64", **changed: t.Any) -> Plan:
    settings = {**DEFAULTS, "verify_environment": "torch", "verify_environment_id": None, "stack": STACK, **changed}
    return verify.plan(settings, {"kernel": {"machine": machine}})


def test_the_archives_of_the_hosts_platform_and_torch_are_searched() -> None:
    reference = steps()["reference"]
    assert reference["paths"] == [
        "/opt/sparkforge/redist/libcudss/current/lib",
        "/opt/sparkforge/redist/nvpl_blas/current/lib",
        "/opt/sparkforge/envs/torch/current/lib/python3*/site-packages/torch/lib",
    ]
    assert reference["sonames"] == ["libcudss.so.0", "libnvpl.so.0", "libcusparseLt.so.0"]
    assert (reference["environment"], reference["environment_id"]) == ("torch", None)
    assert steps("x86_64")["reference"]["sonames"] == ["libother.so.0"]


def test_a_timer_proves_the_current_environment() -> None:
    planned = steps(verify_environment_id="5d41402abc4b")
    assert planned["reference"]["environment_id"] == "5d41402abc4b"
    assert planned["reference"]["paths"][-1].startswith("/opt/sparkforge/envs/torch/5d41402abc4b/lib/")
    assert planned["scheduled"]["reference"] == steps()["reference"] == steps()["scheduled"]["reference"]


def test_a_timer_proves_with_every_option_of_the_module() -> None:
    texts = (cuda_proof.DOCUMENTATION, proof.ModuleDocFragment.DOCUMENTATION)
    options = {option for text in texts for option in yaml.safe_load(text)["options"]}
    planned = steps(verify_user="nobody", verify_limits={"seconds": 60}, verify_checks="cpu.*, matmul.*")
    # The option require concerns a switch, which a timer does not make.
    assert set(planned["scheduled"]) == options - {"require", "program"}
    expected = {"user": "nobody", "limits": {"seconds": 60}, "checks": ["cpu.*", "matmul.*"], "gpu_required": True}
    assert expected.items() <= planned["scheduled"].items()


def test_a_timer_is_added_and_removed_by_verify_schedule() -> None:
    installed, missing = {"scheduled": True}, {"scheduled": False}
    added = plan(verify_schedule="weekly", __verify_proof=missing)
    assert added.steps["timer"] == "present" and len(added.reasons) == 1
    # The module compares the calendar.
    unchanged = plan(verify_schedule="weekly", __verify_proof=installed)
    assert (unchanged.steps["timer"], unchanged.reasons) == ("present", [])
    removed = plan(__verify_proof=installed)
    assert removed.steps["timer"] == "absent" and len(removed.reasons) == 1 and removed.reasons != added.reasons
    for none in (plan(__verify_proof=missing), plan()):
        assert "timer" not in none.steps and not none.reasons


def test_a_configured_interpreter_belongs_to_no_environment() -> None:
    reference = steps(verify_python="/srv/venv/bin/python", verify_environment_id="5d41402abc4b")["reference"]
    assert reference["paths"][-1] == "/srv/venv/lib/python3*/site-packages/torch/lib"
    assert (reference["environment"], reference["environment_id"]) == (None, None)


def test_variables_of_the_inventory_override_the_stack() -> None:
    floors = {"matmul_bfloat16_tflops": {"ratio": 0.5}}
    planned = steps(verify_paths=["/srv/lib"], verify_sonames=[], verify_required_checks=[], verify_speed_floors=floors)
    assert (planned["reference"]["paths"], planned["reference"]["sonames"]) == (["/srv/lib"], [])
    profile = {"name": "gb10", "required_checks": [], "required_by_site": True, "site_floors": floors}
    assert planned["profile"] == profile
    assert steps()["profile"]["required_checks"] == ["matmul.*"]
