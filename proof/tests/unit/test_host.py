import json
import os
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
    "stack": "torch-2.15.0", "environment": "torch", "lock_id": "0123456789ab", "versions": {"torch": "2.15.0"},
    "cuda_version": "13.0", "driver_minimum": "580.65.06",
}  # fmt: skip
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
LISTS = ("missing", "wrong_version", "driver_provided", "absent", "unreadable")
CLOSURE: dict[str, t.Any] = {**{name: [] for name in LISTS}, "found": 41, "examined": 96}
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
#: A library that no role installs.
UNKNOWN = {**CUDSS, "provided_by": {"role": None, "package": None, "archive": None, "hint": "Unknown: ask."}}
FRESH = {**CLOSURE, "absent": ["/opt/sparkforge/redist/libcudss/current/lib"], "examined": 0, "found": 0}


def judge(
    gpu: t.Any = GPU,
    driver: t.Any = DRIVER,
    closure: t.Any = CLOSURE,
    profile: t.Any = PROFILE,
    gpu_required: bool = True,
    check_mode: bool = False,
) -> dict[str, Result]:
    """Return the rows by name."""
    gpu_rows = host.gpu_checks(gpu, driver, REFERENCE, profile, gpu_required)
    return {row.name: row for row in [*gpu_rows, *host.closure_checks(closure, check_mode)]}


def closure(**changed: t.Any) -> dict[str, t.Any]:
    return {**CLOSURE, **changed}


def failed(rows: t.Mapping[str, Result]) -> list[str]:
    return [name for name, row in rows.items() if row.status == "fail"]


def test_complete_host_passes() -> None:
    statuses = {name: row.status for name, row in judge().items()}
    assert statuses == dict.fromkeys(("gpu", "compute_capability", "driver", "closure"), "pass")


def test_every_row_is_of_host_family_and_failures_have_remedies() -> None:
    damaged = closure(missing=[CUDSS], absent=["/gone"], unreadable=[{"path": "/cut", "cause": "It is cut off."}])
    for gpu_required, check_mode in ((True, False), (False, True)):
        rows = judge(gpu={}, driver={}, closure=damaged, gpu_required=gpu_required, check_mode=check_mode)
        for row in rows.values():
            assert (row.family, row.numeric) == ("host", False)
            assert all(isinstance(text, str) for text in (row.measured, row.bound, row.cause, row.remedy))
            assert (row.status == "fail") == bool(row.remedy)
            assert (row.status == "pass") == (row.cause == "")


def test_missing_library_names_its_user_and_its_role() -> None:
    row = judge(closure=closure(missing=[CUDSS]))["closure libcudss.so.0"]
    assert row.status == "fail"
    assert "/e/libtorch_cuda.so needs and 1 more" in row.cause
    assert row.remedy == (
        "Run the role math_libraries, which installs the package libcudss0-cuda-13"
        " or the archive cudss/redist/libcudss/linux-sbsa."
    )


def test_each_missing_library_is_a_failure() -> None:
    rows = judge(closure=closure(missing=[CUDSS, {**CUDSS, "soname": "libgomp.so.1"}]))
    assert failed(rows) == ["closure libcudss.so.0", "closure libgomp.so.1"]
    assert "closure" not in rows


@pytest.mark.parametrize(
    ("library", "cause", "remedy"),
    [
        (CUDSS, "/x/libcudss.so.1 is libcudss.so.1, which does not", "math_libraries"),
        (
            {**CUDSS, "off_path": ["/usr/lib/aarch64-linux-gnu/libcudss/13/libcudss.so.0"]},
            "",
            "first add /usr/lib/aarch64-linux-gnu/libcudss/13 to a file",
        ),
        (UNKNOWN, "", "Unknown: ask."),
    ],
    ids=["version", "path", "unknown"],
)
def test_cause_and_remedy_of_missing_library(library: dict[str, t.Any], cause: str, remedy: str) -> None:
    other = [{"soname": "libcudss.so.0", "found": "libcudss.so.1", "path": "/x/libcudss.so.1"}] if cause else []
    row = judge(closure=closure(missing=[library], wrong_version=other))["closure libcudss.so.0"]
    assert cause in row.cause and remedy in row.remedy


def test_fresh_host_fails_except_in_check_mode() -> None:
    names = ["path /opt/sparkforge/redist/libcudss/current/lib", "closure"]
    assert failed(judge(closure=FRESH)) == names
    rows = judge(closure=FRESH, check_mode=True)
    assert failed(rows) == []
    for name in names:
        assert rows[name].status == "skip"
        assert rows[name].cause.startswith("not provisioned yet")


@pytest.mark.parametrize(
    ("library", "status"),
    [
        (CUDSS, "skip"),
        ({**CUDSS, "provided_by": {**CUDSS["provided_by"], "role": None}}, "fail"),
        # A library of the stack that exists only for aarch64.
        ({**UNKNOWN, "needed_by": ["the stack"]}, "skip"),
    ],
    ids=["role", "no role", "stack"],
)
def test_missing_library_in_check_mode(library: dict[str, t.Any], status: str) -> None:
    missing = closure(missing=[library])
    assert judge(closure=missing, check_mode=True)["closure libcudss.so.0"].status == status
    assert judge(closure=missing)["closure libcudss.so.0"].status == "fail"


def test_missing_gpu_fails_only_if_required() -> None:
    provided = closure(driver_provided=["libcuda.so.1"])
    rows = judge(gpu=NO_GPU, driver={"version": None}, closure=provided, gpu_required=False)
    for name in ("gpu", "compute_capability", "driver", "closure libcuda.so.1"):
        assert rows[name].status == "skip"
        assert "sparkforge_gpu_required is false" in rows[name].cause
    assert {"gpu", "driver"} <= set(failed(judge(gpu=NO_GPU, driver={"version": None})))


@pytest.mark.parametrize(
    ("version", "status"),
    [("580.65.06", "pass"), ("580.95.05", "pass"), ("590.1", "pass"), ("580.65.05", "fail"), ("570.200", "fail")],
)
def test_driver_must_support_cuda_of_stack(version: str, status: str) -> None:
    assert judge(driver={"version": version})["driver"].status == status


def test_capability_must_match_profile() -> None:
    thor = {"present": True, "devices": [{"name": "Thor", "compute_capability": "11.0"}]}
    row = judge(gpu=thor)["compute_capability"]
    assert (row.status, row.measured, row.bound) == ("fail", "11.0", "12.1")
    row = judge(profile={"name": "generic", "compute_capability": None})["compute_capability"]
    assert (row.status, row.measured) == ("skip", "12.1")


def test_environment_without_receipt_fails() -> None:
    (row,) = host.environment_checks(None, REFERENCE, False)
    assert (row.name, row.status) == ("environment", "fail") and "playbooks/deploy.yml" in row.remedy
    (skipped,) = host.environment_checks(None, REFERENCE, True)
    assert skipped.status == "skip" and skipped.cause.startswith("not provisioned yet")
    (passed,) = host.environment_checks(RECEIPT, REFERENCE, False)
    assert (passed.status, passed.measured) == ("pass", "5d41402abc4b")
    assert host.environment_checks(None, {}, False) == []


def test_closure_without_readable_paths() -> None:
    row = judge(closure={})["closure"]
    assert (row.status, "verify_paths is empty" in row.cause) == ("skip", True)
    row = judge(closure={"error": SparkforgeError("/x is a script.", "Name a library.")})["closure"]
    assert (row.status, row.cause, row.remedy) == ("fail", "/x is a script.", "Name a library.")


GB10 = "{index}, NVIDIA GB10, GPU-{index}, 12.1, [N/A], [N/A], 580.95.05\n"
SMI = {
    "--query-gpu": GB10.format(index=0) + GB10.format(index=1),
    "--query-compute-apps": "",
    "--version": "NVIDIA-SMI version : 580.95.05\nCUDA Version : 13.0\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A host's root directory with an ``nvidia-smi`` that answers with the texts from ``recorded``."""
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


def test_observation_is_passed_to_checks(root: Path) -> None:
    observer = side(root)
    observed = observer.observe()
    assert [device["name"] for device in observed["devices"]] == ["NVIDIA GB10"] * 2
    assert (observed["driver"], observed["kernel"]) == ("580.95.05", os.uname().release)
    assert observer.for_checks() == {"receipt": None, "units": {}, "capabilities": ["12.1"], "driver_cuda": "13.0"}
    write_receipt(root, **RECEIPT)
    observer.observe()
    assert observer.for_checks()["receipt"] == RECEIPT
    assert [row.status for row in observer.gpu_results()] == ["pass", "pass", "pass"]


def test_a_host_has_a_row_for_each_check_and_a_missing_library_fails(root: Path) -> None:
    write_receipt(root, **RECEIPT)
    library = next(Path("/").glob("lib*/*/libc.so.6"), None) or next(Path("/").glob("lib*/libc.so.6"))
    observer = side(root, paths=[str(library)], sonames=["libc.so.6", "libcudss.so.0"])
    observer.observe()
    rows = {row.name: row for row in observer.results()}
    passed = dict.fromkeys(("gpu", "compute_capability", "driver", "environment"), "pass")
    assert {name: row.status for name, row in rows.items()} == {**passed, "closure libcudss.so.0": "fail"}
    assert os.path.basename(observer.resolved["libc.so.6"]).startswith("libc")
    cudss = rows["closure libcudss.so.0"]
    assert "libcudss.so.0, which the stack needs" in cudss.cause
    assert cudss.remedy.startswith("Run the role math_libraries, which installs ")


def test_paths_without_library_fail(root: Path) -> None:
    (root / "empty").mkdir()
    observer = side(root, paths=[str(root / "empty")], sonames=["libc.so.6"])
    observer.observe()
    row = next(row for row in observer.results() if row.name == "closure")
    assert (row.status, row.measured) == ("fail", "0 files")
    (root / "script").write_text("#!/bin/sh\n")
    observer = side(root, paths=[str(root / "script")])
    observer.observe()
    row = next(row for row in observer.results() if row.name == "closure")
    assert (row.status, "is not an ELF file: it is a script" in row.cause, bool(row.remedy)) == ("fail", True, True)


PIN = {"requirements": [f"torch==2.9.1+cu130.sf0a1b2c3d --hash=sha256:{'a' * 64}"], "wheels": []}
INSTALLED = {**PIN, "packages": {"torch": "2.9.1+cu130.sf0a1b2c3d"}}


def write_unit(root: Path, fingerprint: str, **changed: t.Any) -> Path:
    output = {"path": "torch.whl", "name": "torch", "version": "2.9.1+cu130.sf0a1b2c3d", "sha256": "a" * 64, "size": 1}
    receipt = sealing.seal(
        {
            "format": 1, "name": "pytorch", "fingerprint": fingerprint, "platform": "ubuntu24.04-aarch64",
            "outputs": [{**output, **changed.pop("output", {})}], "finished": "2026-11-20T10:00:00Z", **changed,
        }
    )  # fmt: skip
    path = root / f"receipts/units/{receipt['name']}-{fingerprint}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(receipt))
    return path


def test_unit_is_found_by_sha256_of_wheel(tmp_path: Path) -> None:
    write_unit(tmp_path, "0" * 16)
    later = {"output": {"sha256": "b" * 64}, "finished": "2026-11-21T10:00:00Z"}
    write_unit(tmp_path, "1" * 16, **later)
    write_unit(tmp_path, "2" * 16, name="torchvision", output={"name": "torchvision"})
    units = host.units(str(tmp_path), INSTALLED)
    assert list(units) == ["pytorch"]
    assert units["pytorch"]["fingerprint"] == "0" * 16
    assert (units["pytorch"]["installed"], units["pytorch"]["intact"]) == (True, True)
    assert units["pytorch"]["artefact"] == f"{tmp_path}/wheelhouse/ubuntu24.04-aarch64/pytorch/{'0' * 16}"


def test_unit_with_other_sha256_is_not_installed(tmp_path: Path) -> None:
    write_unit(tmp_path, "0" * 16, output={"sha256": "b" * 64})
    assert host.units(str(tmp_path), INSTALLED)["pytorch"]["installed"] is False
    write_unit(tmp_path, "0" * 16, output={"sha256": "b" * 64, "version": "2.10.0"})
    assert host.units(str(tmp_path), INSTALLED) == {}


def test_changed_receipt_is_not_intact(tmp_path: Path) -> None:
    path = write_unit(tmp_path, "0" * 16)
    path.write_text(path.read_text().replace("2026-11-20", "2026-11-19"))
    assert host.units(str(tmp_path), INSTALLED)["pytorch"]["intact"] is False
    path.write_text(path.read_text().replace(f'"format": {host.UNIT_FORMAT}', '"format": 2'))
    assert host.units(str(tmp_path), INSTALLED) == {}


def test_host_without_readable_receipts_has_no_units(tmp_path: Path) -> None:
    assert host.units(str(tmp_path), INSTALLED) == {}
    write_unit(tmp_path, "0" * 16).write_text("{")
    assert host.units(str(tmp_path), INSTALLED) == {}
    assert host.units(str(tmp_path), None) == {}


def test_command_status_output_and_limit() -> None:
    assert reader.run_command(["sh", "-c", "echo out; echo err >&2; exit 3"]) == (3, "out\n", "err\n")
    assert reader.run_command(["/nonexistent/nvidia-smi"])[0] == 127
    began = time.monotonic()
    status, _stdout, stderr = reader.run_command(["sh", "-c", "trap '' TERM; sleep 60"], limit=0.3)
    assert (status, "within 0.3 seconds" in stderr) == (124, True)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("machine", "built_for", "parts", "expected"),
    [
        ("aarch64", "aarch64", ["0xd85", "0xd87", "0xd85"], "aarch64 0x41 0xd85 0xd87"),
        ("aarch64", "x86_64", ["0xd49"], "emulated aarch64 0x41 0xd49"),
        # Kernels before Linux 6.1 do not report the machine that they were built for.
        ("aarch64", None, ["0xd4f"], "aarch64 0x41 0xd4f"),
        ("aarch64", "aarch64", [], "aarch64"),
        ("x86_64", "x86_64", ["0xd49"], "x86_64"),
        ("x86_64", "aarch64", [], "emulated x86_64"),
    ],
)
def test_processor_name(tmp_path: Path, machine: str, built_for: str | None, parts: list[str], expected: str) -> None:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    if built_for:
        (tmp_path / "proc/sys/kernel/arch").write_text(f"{built_for}\n")
    text = "".join(f"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n" for part in parts)
    (tmp_path / "proc/cpuinfo").write_text(text)
    side = host.HostSide(REFERENCE, PROFILE)
    side.host = reader.Host(str(tmp_path), uname=("6.17.0", machine))
    assert side.processor() == expected
