import sys
import typing as t
from pathlib import Path

import pytest
from sparkforge_proof._shared.module_utils._elf import fatbin
from sparkforge_proof._shared.module_utils._wheel import installed as packages
from sparkforge_proof.check import Context, Failed
from sparkforge_proof.checks.stack import architectures

from proof.tests.unit import gpu_library

#: The architectures in libtorch_cuda.so of the official aarch64 wheel of 2.11.0.
OFFICIAL = "8.0 9.0 9.0a 10.0 10.0a 10.3a 11.0 11.0a 12.0 12.0a 12.1a"
OFFICIAL_FLAGS = ["sm_80", "sm_90", "sm_100", "sm_110", "sm_120"]


def code(cubins: str = "", ptx: str = "") -> fatbin.Embedded:
    return fatbin.Embedded(frozenset(cubins.split()), frozenset(ptx.split()))


def test_architectures_are_read_from_libraries(tmp_path: Path) -> None:
    path = gpu_library.write(tmp_path / "libtorch_cuda.so", "9.0 12.0f 12.1a", "12.0")
    plain = gpu_library.write(tmp_path / "libc10.so")
    (tmp_path / "libx.so").write_text("INPUT(libx.so.1)")
    paths = [str(path), str(plain), str(tmp_path / "libx.so")]
    assert architectures.read(paths) == {str(path): code("9.0 12.0f 12.1a", "12.0")}


def test_damaged_library_fails(tmp_path: Path) -> None:
    path = gpu_library.write(tmp_path / "libtorch_cuda.so", "12.0")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(Failed) as failed:
        architectures.read([str(path)])
    assert "libtorch_cuda.so is a damaged ELF file" in failed.value.cause
    assert failed.value.remedy


@pytest.mark.parametrize(
    ("cubins", "ptx", "device", "expected"),
    [
        (OFFICIAL, "", "12.1", "covered"), (OFFICIAL, "", "9.0", "covered"), (OFFICIAL, "", "8.9", "covered"),
        (OFFICIAL, "", "11.0", "covered"), ("8.0 9.0 12.0", "", "11.0", "nothing"), ("7.5", "", "12.1", "nothing"),
        ("12.0a", "", "12.1", "single"), ("9.0a", "", "12.1", "single"), ("12.0f", "", "12.1", "covered"),
        ("12.1", "", "12.0", "nothing"), ("8.0", "9.0", "12.1", "compiled"), ("8.0", "12.1", "9.0", "nothing"),
    ],
)  # fmt: skip
def test_coverage_of_device(cubins: str, ptx: str, device: str, expected: str) -> None:
    problems, compiled, single = architectures.coverage({"/s/x.so": code(cubins, ptx)}, [device])
    kinds = {"nothing": problems, "compiled": compiled, "single": single}
    assert [kind for kind, libraries in kinds.items() if libraries] == ([] if expected == "covered" else [expected])


def test_torch_library_must_cover_every_device() -> None:
    path = "/t/torch/lib/libtorch_cuda.so"
    problems, _compiled, single = architectures.coverage({path: code("9.0a")}, ["12.1"])
    assert (problems, single) == ([(path, "12.1")], []), "code for one other GPU is not enough in torch's own library"
    assert architectures.coverage({path: code("12.0")}, ["12.1", "9.0"])[0] == [(path, "9.0")]


@pytest.mark.parametrize(
    ("cubins", "ptx", "flags", "expected"),
    [
        # Official wheels and our own build have 12.1a code only for the row-wise FP8 product.
        (OFFICIAL, "", OFFICIAL_FLAGS, []),
        ("12.0 12.0a 12.1a", "", ["sm_120"], []),
        ("12.0", "12.1", ["sm_120", "compute_121"], []),
        ("12.0f 12.1a", "", ["sm_120f"], []),
        # The list from the seed recipe, 12.0;12.1.
        ("12.0 12.0a 12.1 12.1a", "", ["sm_120", "sm_121"], ["12.1"]),
        ("12.1 12.1a", "12.1", ["sm_121", "compute_121"], ["12.1"]),
        ("12.0 12.1f", "", ["sm_120", "sm_121f"], ["12.1f"]),
        # Lists with 12.1a, together with another entry or alone.
        ("12.0 12.1a", "", ["sm_120", "sm_121a"], ["12.1a"]),
        ("9.0 12.1a", "", [], ["12.1a"]),
        ("9.0", "12.1", ["sm_90", "compute_121"], ["PTX of 12.1"]),
    ],
)
def test_trap_of_attention_kernels_for_12_1(cubins: str, ptx: str, flags: list[str], expected: list[str]) -> None:
    assert architectures.trapped(code(cubins, ptx), flags) == expected


GUARDED = {
    "installed": True,
    "intact": True,
    "applied": [
        {"edit": "rowwise_121a", "file": "cmake/Codegen.cmake", "matches": 1},
        {
            "edit": "attention_guard",
            "file": "aten/src/x/mem_eff_attention/kernels/cutlassF_f16_aligned.cu",
            "matches": 3,
        },
    ],
}


def test_guard_is_known_from_unit_receipt() -> None:
    assert architectures.is_guarded(GUARDED)
    own = {"patch": "my-guards", "file": "aten/src/x/mem_eff_attention/kernels/cutlassB_f32.cu", "change": "modified"}
    assert architectures.is_guarded({**GUARDED, "applied": [own]})


@pytest.mark.parametrize(
    "change",
    [{"applied": GUARDED["applied"][:1]}, {"installed": False}, {"intact": False}, {"applied": None}],  # type: ignore[index]
)
def test_guard_is_not_known_from_other_receipts(change: dict[str, t.Any]) -> None:
    assert not architectures.is_guarded({**GUARDED, **change})
    assert not architectures.is_guarded(None)


@pytest.mark.parametrize(
    ("local", "ours"), [("cu130.sf0a1b2c3d", True), ("cu130", False), ("", False), ("cu130.sfx", False)]
)
def test_local_version_of_own_build(local: str, ours: bool) -> None:
    assert bool(architectures._OURS.search(local)) is ours


def test_capabilities_are_observed_or_from_profile() -> None:
    observed = Context(device="cpu", profile={"compute_capability": "12.1"}, reference={"capabilities": ["9.0"]})
    assert architectures.capabilities(observed) == ["9.0"]
    assert architectures.capabilities(Context(device="cpu", profile={"compute_capability": "12.1"})) == ["12.1"]
    assert architectures.capabilities(Context(device="cpu", profile={"compute_capability": None})) == []


def test_libraries_of_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = gpu_library.write(tmp_path / "flash_attn/lib/libkernels.so.2", "9.0")
    beside = gpu_library.write(tmp_path / "flash_attn_2_cuda.abi3.so", "9.0")
    gpu_library.write(tmp_path / "other.so", "9.0")
    (tmp_path / "flash_attn/lib/libkernels.so").symlink_to("libkernels.so.2")
    (tmp_path / "flash_attn/__init__.py").write_text("raise SystemExit('it is read, not run')")
    info = tmp_path / "flash_attn-2.8.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: flash-attn\nVersion: 2.8.3\n\n")
    (info / "RECORD").write_text("flash_attn_2_cuda.abi3.so,sha256=x,1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    paths = architectures.libraries("flash_attn", packages.distributions())
    assert sorted(Path(path).resolve() for path in paths) == sorted([inside, beside])
