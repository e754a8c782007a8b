import json
import os
import subprocess
import sys
import time
import typing as t
from pathlib import Path

import pytest
from sparkforge_proof import host
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof._shared.module_utils._host import reader
from sparkforge_proof._shared.module_utils._unit import receipt as sealing
from sparkforge_proof.check import Result

REFERENCE: dict[str, t.Any] = {
    "stack": "torch-2.15.0",
    "environment": "torch",
    "lock_id": "0123456789ab",
    "versions": {"torch": "2.15.0"},
    "cuda_version": "13.0",
    "driver_minimum": "580.65.06",
}
PROFILE = {"name": "gb10", "compute_capability": "12.1"}
GPU = {"present": True, "devices": [{"name": "NVIDIA GB10", "compute_capability": "12.1"}]}
NO_GPU: dict[str, t.Any] = {"present": False, "devices": []}
DRIVER = {"version": "580.95.05"}
STACK = {"name": "torch-2.15.0", "lock_id": "0123456789ab", "method": "wheel"}
RECEIPT = {
    "environment_id": "5d41402abc4b",
    "stack": STACK,
    "modules": {"torch": {"version": "2.15.0+cu130", "cuda": "13.0"}},
}
CLOSURE: dict[str, t.Any] = {
    "missing": [],
    "wrong_version": [],
    "driver_provided": [],
    "absent": [],
    "unreadable": [],
    "found": 41,
    "examined": 96,
}
CUDSS: dict[str, t.Any] = {
    "soname": "libcudss.so.0",
    "needed_by": ["/e/libtorch_cuda.so", "/e/libtorch_cuda_linalg.so"],
    "provided_by": {
        "role": "math_libraries",
        "package": "libcudss0-cuda-13",
        "archive": "cudss/redist/libcudss/linux-sbsa",
        "hint": "cuDSS.",
    },
    "rejected": [],
    "off_path": [],
}


def rows(
    gpu: t.Any = GPU,
    driver: t.Any = DRIVER,
    closure: t.Any = CLOSURE,
    profile: t.Any = PROFILE,
    gpu_required: bool = True,
    check_mode: bool = False,
) -> list[Result]:
    return [*host.gpu_checks(gpu, driver, REFERENCE, profile, gpu_required), *host.closure_checks(closure, check_mode)]


def judge(**given: t.Any) -> dict[str, Result]:
    """Return the rows by name."""
    return {row.name: row for row in rows(**given)}


def closure(**changed: t.Any) -> dict[str, t.Any]:
    return {**CLOSURE, **changed}


def test_a_host_that_has_everything_passes() -> None:
    found = rows()
    assert {row.status for row in found} == {"pass"}
    assert [row.name for row in found] == ["gpu", "compute_capability", "driver", "closure"]


def test_every_row_is_the_hosts_and_each_failure_has_a_remedy() -> None:
    damaged = closure(missing=[CUDSS], absent=["/gone"], unreadable=[{"path": "/cut", "cause": "It is cut off."}])
    for gpu_required, check_mode in ((True, False), (False, True)):
        options = {"gpu_required": gpu_required, "check_mode": check_mode}
        for row in rows(gpu={}, driver={}, closure=damaged, **options):
            assert (row.family, row.numeric) == ("host", False)
            assert all(isinstance(text, str) for text in (row.measured, row.bound, row.cause, row.remedy))
            assert (row.status == "fail") == bool(row.remedy)
            assert (row.status == "pass") == (row.cause == "")


def test_a_missing_library_fails_with_who_needs_it_and_who_brings_it() -> None:
    row = judge(closure=closure(missing=[CUDSS]))["closure libcudss.so.0"]
    assert row.status == "fail"
    assert "/e/libtorch_cuda.so needs and 1 more" in row.cause
    assert row.remedy == (
        "Run the role math_libraries, which installs the package libcudss0-cuda-13"
        " or the archive cudss/redist/libcudss/linux-sbsa."
    )


def test_every_missing_library_is_a_failure_of_its_own() -> None:
    other = {**CUDSS, "soname": "libgomp.so.1"}
    found = judge(closure=closure(missing=[CUDSS, other]))
    assert [name for name, row in found.items() if row.status == "fail"] == [
        "closure libcudss.so.0",
        "closure libgomp.so.1",
    ]
    assert "closure" not in found


def test_the_version_that_is_there_instead_is_named() -> None:
    wrong = [{"soname": "libcudss.so.0", "found": "libcudss.so.1", "path": "/x/libcudss.so.1"}]
    row = judge(closure=closure(missing=[CUDSS], wrong_version=wrong))["closure libcudss.so.0"]
    assert "/x/libcudss.so.1 is libcudss.so.1, which does not satisfy it." in row.cause


def test_a_library_outside_the_loaders_path_is_to_be_made_known_and_not_installed_again() -> None:
    hidden = {**CUDSS, "off_path": ["/usr/lib/aarch64-linux-gnu/libcudss/13/libcudss.so.0"]}
    remedy = judge(closure=closure(missing=[hidden]))["closure libcudss.so.0"].remedy
    assert "run ldconfig" in remedy
    assert "/usr/lib/aarch64-linux-gnu/libcudss/13 to a file in /etc/ld.so.conf.d" in remedy


def test_a_library_that_nobody_knows_gets_the_hint_and_no_invented_package() -> None:
    unknown = {
        **CUDSS,
        "soname": "libodd.so.1",
        "provided_by": {"role": None, "package": None, "archive": None, "hint": "Unknown: ask."},
    }
    assert judge(closure=closure(missing=[unknown]))["closure libodd.so.1"].remedy == "Unknown: ask."


def test_a_fresh_host_in_check_mode_fails_nothing_and_says_what_is_not_provisioned_yet() -> None:
    absent = closure(absent=["/opt/sparkforge/redist/libcudss/current/lib"], examined=0, found=0)
    found = judge(closure=absent, check_mode=True)
    assert [name for name, row in found.items() if row.status == "fail"] == []
    for name in ("closure", "path /opt/sparkforge/redist/libcudss/current/lib"):
        assert found[name].status == "skip"
        assert found[name].cause.startswith("not provisioned yet")


def test_the_same_fresh_host_fails_in_a_real_run() -> None:
    absent = closure(absent=["/opt/sparkforge/redist/libcudss/current/lib"], examined=0, found=0)
    found = judge(closure=absent)
    assert [name for name, row in found.items() if row.status == "fail"] == [
        "path /opt/sparkforge/redist/libcudss/current/lib",
        "closure",
    ]


def test_check_mode_skips_what_a_role_would_bring_and_fails_what_none_would() -> None:
    unknown = {**CUDSS, "soname": "libz.so.1", "provided_by": {**CUDSS["provided_by"], "role": None}}
    found = judge(closure=closure(missing=[CUDSS, unknown]), check_mode=True)
    assert found["closure libcudss.so.0"].status == "skip"
    assert found["closure libz.so.1"].status == "fail"


def test_check_mode_skips_a_library_of_the_stack_that_no_package_provides() -> None:
    provided_by = {"role": None, "package": None, "archive": None, "hint": "It exists for aarch64 alone."}
    nvpl = {**CUDSS, "soname": "libnvpl.so.0", "needed_by": ["the stack"], "provided_by": provided_by}
    assert judge(closure=closure(missing=[nvpl]), check_mode=True)["closure libnvpl.so.0"].status == "skip"
    assert judge(closure=closure(missing=[nvpl]))["closure libnvpl.so.0"].status == "fail"


def test_without_a_required_gpu_its_checks_are_skipped_each_with_the_reason() -> None:
    provided = closure(driver_provided=["libcuda.so.1"])
    found = judge(gpu=NO_GPU, driver={"version": None}, closure=provided, gpu_required=False)
    for name in ("gpu", "compute_capability", "driver", "closure libcuda.so.1"):
        assert found[name].status == "skip"
        assert "sparkforge_gpu_required is false" in found[name].cause


def test_a_required_gpu_that_is_not_there_fails() -> None:
    found = judge(gpu=NO_GPU, driver={"version": None})
    assert found["gpu"].status == found["driver"].status == "fail"


@pytest.mark.parametrize(
    ("version", "status"),
    [("580.65.06", "pass"), ("580.95.05", "pass"), ("590.1", "pass"), ("580.65.05", "fail"), ("570.200", "fail")],
)
def test_the_driver_is_compared_with_what_the_cuda_minor_needs(version: str, status: str) -> None:
    assert judge(driver={"version": version})["driver"].status == status


def test_a_gpu_of_another_capability_than_the_profiles_fails() -> None:
    row = judge(gpu={"present": True, "devices": [{"name": "Thor", "compute_capability": "11.0"}]})[
        "compute_capability"
    ]
    assert (row.status, row.measured, row.bound) == ("fail", "11.0", "12.1")


def test_a_profile_without_a_capability_takes_any_gpu() -> None:
    row = judge(profile={"name": "generic", "compute_capability": None})["compute_capability"]
    assert (row.status, row.measured) == ("skip", "12.1")


def test_environment_without_a_receipt_fails_with_the_playbook_to_run() -> None:
    (row,) = host.environment_checks(None, REFERENCE, False)
    assert (row.name, row.status) == ("environment", "fail") and "playbooks/deploy.yml" in row.remedy
    (later,) = host.environment_checks(None, REFERENCE, True)
    assert later.status == "skip" and later.cause.startswith("not provisioned yet")
    (found,) = host.environment_checks(RECEIPT, REFERENCE, False)
    assert (found.status, found.measured) == ("pass", "5d41402abc4b")
    assert host.environment_checks(None, {}, False) == []


def test_no_paths_at_all_is_a_skip_with_its_reason() -> None:
    row = judge(closure={})["closure"]
    assert (row.status, "verify_paths is empty" in row.cause) == ("skip", True)


def test_a_path_that_cannot_be_examined_fails_with_the_cause_and_its_remedy() -> None:
    row = judge(closure={"error": SparkforgeError("/x is a script.", "Name a library.")})["closure"]
    assert (row.status, row.cause, row.remedy) == ("fail", "/x is a script.", "Name a library.")


# --- what is looked at ---------------------------------------------------------------------------------------------

GB10 = "{index}, NVIDIA GB10, GPU-{index}, 12.1, [N/A], [N/A], 580.95.05\n"
SMI = {
    "--query-gpu": GB10.format(index=0) + GB10.format(index=1),
    "--query-compute-apps": "",
    "--version": "NVIDIA-SMI version : 580.95.05\nCUDA Version : 13.0\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A host whose nvidia-smi is a recorded one."""
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/nvidia-smi").write_text("")
    return tmp_path


def recorded(argv: list[str]) -> tuple[int, str, str]:
    option = next(word.partition("=")[0] for word in argv if word.startswith("--") and "nvidia-smi" in argv[0])
    return 0, SMI[option], ""


def write_receipt(root: Path, **content: t.Any) -> None:
    path = root / "sparkforge/receipts/env-torch.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def side(root: Path, **reference: t.Any) -> host.HostSide:
    known = {**REFERENCE, "root": str(root / "sparkforge"), **reference}
    return host.HostSide(known, PROFILE, root=str(root), run=recorded)


def test_the_host_is_looked_at_anew_and_the_checks_are_told_of_it(root: Path) -> None:
    found = side(root)
    observed = found.observe()
    assert [device["name"] for device in observed["devices"]] == ["NVIDIA GB10"] * 2
    assert (observed["driver"], observed["kernel"]) == ("580.95.05", os.uname().release)
    assert found.for_checks() == {"receipt": None, "units": {}, "capabilities": ["12.1"], "driver_cuda": "13.0"}
    write_receipt(root, **RECEIPT)
    found.observe()
    assert found.for_checks()["receipt"] == RECEIPT
    assert [row.status for row in found.gpu_results()] == ["pass", "pass", "pass"]


def test_all_rows_of_a_host_come_from_one_call(root: Path) -> None:
    write_receipt(root, **RECEIPT)
    library = next(Path("/").glob("lib*/*/libc.so.6"), None) or next(Path("/").glob("lib*/libc.so.6"))
    found = side(root, paths=[str(library)], sonames=["libc.so.6", "libnowhere.so.1"])
    found.observe()
    statuses = {row.name: row.status for row in found.results()}
    assert statuses == {
        "gpu": "pass",
        "compute_capability": "pass",
        "driver": "pass",
        "environment": "pass",
        "closure libnowhere.so.1": "fail",
    }
    assert os.path.basename(found.resolved["libc.so.6"]).startswith("libc")


def test_library_of_the_stack_that_the_loader_does_not_find_is_named(root: Path) -> None:
    library = next(Path("/").glob("lib*/*/libc.so.6"), None) or next(Path("/").glob("lib*/libc.so.6"))
    found = side(root, paths=[str(library)], sonames=["libcudss.so.0"])
    found.observe()
    row = next(row for row in found.results() if row.name == "closure libcudss.so.0")
    assert row.cause == "The loader does not find libcudss.so.0, which the stack needs."
    assert row.remedy.startswith("Run the role math_libraries, which installs ")


def test_paths_without_a_library_fail_although_the_stacks_are_found(root: Path) -> None:
    (root / "empty").mkdir()
    found = side(root, paths=[str(root / "empty")], sonames=["libc.so.6"])
    found.observe()
    row = next(row for row in found.results() if row.name == "closure")
    assert (row.status, row.measured) == ("fail", "0 files")


def test_a_named_file_that_is_no_library_is_a_failed_row_and_not_the_end(root: Path) -> None:
    (root / "script").write_text("#!/bin/sh\n")
    found = side(root, paths=[str(root / "script")])
    found.observe()
    row = next(row for row in found.results() if row.name == "closure")
    assert (row.status, "is not an ELF file: it is a script" in row.cause, bool(row.remedy)) == ("fail", True, True)


def test_nothing_of_ansible_is_needed() -> None:
    program = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ansible":
            raise ImportError(name)
sys.meta_path.insert(0, Refused())
from sparkforge_proof import host
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


# --- the units' receipts -------------------------------------------------------------------------------------------

PIN = {"requirements": [f"torch==2.9.1+cu130.sf0a1b2c3d --hash=sha256:{'a' * 64}"], "wheels": []}
INSTALLED = {**PIN, "packages": {"torch": "2.9.1+cu130.sf0a1b2c3d"}}


def write_unit(root: Path, fingerprint: str, **changed: t.Any) -> Path:
    output = {"path": "torch.whl", "name": "torch", "version": "2.9.1+cu130.sf0a1b2c3d", "sha256": "a" * 64, "size": 1}
    receipt = sealing.sealed(
        {
            "format": 1,
            "name": "pytorch",
            "fingerprint": fingerprint,
            "platform": "ubuntu24.04-aarch64",
            "outputs": [{**output, **changed.pop("output", {})}],
            "finished": "2026-11-20T10:00:00Z",
            **changed,
        }
    )
    path = root / f"receipts/units/{receipt['name']}-{fingerprint}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(receipt))
    return path


def test_the_unit_that_made_the_environments_wheel_is_found_by_its_sha256(tmp_path: Path) -> None:
    write_unit(tmp_path, "0" * 16)
    later = {"output": {"sha256": "b" * 64}, "finished": "2026-11-21T10:00:00Z"}
    write_unit(tmp_path, "1" * 16, **later)
    write_unit(tmp_path, "2" * 16, name="torchvision", output={"name": "torchvision"})
    found = host.units(str(tmp_path), INSTALLED)
    assert list(found) == ["pytorch"]
    assert found["pytorch"]["fingerprint"] == "0" * 16
    assert (found["pytorch"]["installed"], found["pytorch"]["intact"]) == (True, True)
    assert found["pytorch"]["artefact"] == f"{tmp_path}/wheelhouse/ubuntu24.04-aarch64/pytorch/{'0' * 16}"


def test_one_of_the_same_name_and_version_is_said_not_to_be_installed(tmp_path: Path) -> None:
    write_unit(tmp_path, "0" * 16, output={"sha256": "b" * 64})
    assert host.units(str(tmp_path), INSTALLED)["pytorch"]["installed"] is False
    write_unit(tmp_path, "0" * 16, output={"sha256": "b" * 64, "version": "2.10.0"})
    assert host.units(str(tmp_path), INSTALLED) == {}


def test_a_receipt_that_was_changed_is_said_not_to_be_intact(tmp_path: Path) -> None:
    path = write_unit(tmp_path, "0" * 16)
    path.write_text(path.read_text().replace("2026-11-20", "2026-11-19"))
    assert host.units(str(tmp_path), INSTALLED)["pytorch"]["intact"] is False


def test_receipt_of_another_format_is_none(tmp_path: Path) -> None:
    path = write_unit(tmp_path, "0" * 16)
    assert json.loads(path.read_text())["format"] == host.UNIT_FORMAT
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    assert host.units(str(tmp_path), INSTALLED) == {}


def test_a_host_without_units_or_with_a_damaged_receipt_has_none(tmp_path: Path) -> None:
    assert host.units(str(tmp_path), INSTALLED) == {}
    write_unit(tmp_path, "0" * 16).write_text("{")
    assert host.units(str(tmp_path), INSTALLED) == {}
    assert host.units(str(tmp_path), None) == {}


# --- processes -----------------------------------------------------------------------------------------------------


def test_a_command_has_a_status_an_output_and_a_limit() -> None:
    assert reader.run_command(["sh", "-c", "echo out; echo err >&2; exit 3"]) == (3, "out\n", "err\n")
    assert reader.run_command(["/nonexistent/nvidia-smi"])[0] == 127
    began = time.monotonic()
    status, _stdout, said = reader.run_command(["sh", "-c", "trap '' TERM; sleep 60"], limit=0.3)
    assert (status, "did not respond within 0.3 seconds" in said) == (124, True)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("machine", "built_for", "parts", "expected"),
    [
        ("aarch64", "aarch64", ["0xd85", "0xd87", "0xd85"], "aarch64 0x41 0xd85 0xd87"),
        ("aarch64", "x86_64", ["0xd49"], "emulated aarch64 0x41 0xd49"),
        # Before Linux 6.1 a kernel does not say it.
        ("aarch64", None, ["0xd4f"], "aarch64 0x41 0xd4f"),
        ("aarch64", "aarch64", [], "aarch64"),
        ("x86_64", "x86_64", ["0xd49"], "x86_64"),
        ("x86_64", "aarch64", [], "emulated x86_64"),
    ],
)
def test_a_processor_is_named_by_machine_arm_cores_and_emulation(
    tmp_path: Path, machine: str, built_for: str | None, parts: list[str], expected: str
) -> None:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    if built_for:
        (tmp_path / "proc/sys/kernel/arch").write_text(f"{built_for}\n")
    text = "".join(f"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n" for part in parts)
    (tmp_path / "proc/cpuinfo").write_text(text)
    side = host.HostSide(REFERENCE, PROFILE)
    side.host = reader.Host(str(tmp_path), uname=("6.17.0", machine))
    assert side.processor() == expected
