"""The edits that the role `pytorch` makes to PyTorch's source, and their effect.

The files here were written for these tests and share only the edited lines with PyTorch's.
docs/evidence/engine-pytorch-patches.md records a trial on PyTorch's own files, which the last test repeats if
SPARKFORGE_PYTORCH_TREE names a directory with a release's source.
"""

import os
import re
import shutil
import subprocess
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import patching
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import pytorch

CHECKOUT = Path(__file__).resolve().parents[3]
FIXES = yaml.safe_load((CHECKOUT / "roles/pytorch/vars/main.yml").read_text())["__pytorch_known_fixes"]
TREE = os.environ.get("SPARKFORGE_PYTORCH_TREE")

CODEGEN = """
function(flags_for archs)
      set(chosen "")
      foreach(_arch ${archs})
        if("${_arch}" STREQUAL "120a")
          if(_existing_arch_flags MATCHES "compute_120")
            list(APPEND chosen 120a)
          endif()
        endif()
        list(APPEND chosen ${_file_compile_flags})
        set(_file_compile_flags "")
      endforeach()
      message("${chosen}")
endfunction()
flags_for(
      "89;90a;100a;120a")
"""
SELECT = """
      string(REPLACE "2.1" "2.1(2.0)" compute_capabilities "${compute_capabilities}")
message("${compute_capabilities}")
"""
KERNEL = "#include <cute/tensor.hpp>\n"
GUARD = "#if __CUDA_ARCH__ <= 1200\n"


def edits_of(name: str) -> list[dict[str, t.Any]]:
    return pytorch._expand_edits(name, FIXES[name]["edits"])


def apply_fix(tree: Path, name: str, *contents: str) -> list[str]:
    """Write a fix's files, apply the fix, and return their new contents."""
    files = [tree / path for path in dict.fromkeys(edit["path"] for edit in edits_of(name))]
    for file, content in zip(files, contents, strict=True):
        file.parent.mkdir(parents=True)
        file.write_text(content)
    patching.apply(str(tree), [], edits_of(name), print)
    return [file.read_text() for file in files]


def cmake_output(script: str, tree: Path, **variables: str) -> str:
    file = tree / "script.cmake"
    file.write_text(script)
    defines = [f"-D{key}={value}" for key, value in variables.items()]
    result = subprocess.run(["cmake", *defines, "-P", str(file)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stderr.strip()


@pytest.mark.parametrize(
    ("flags", "cuda", "chosen"),
    [
        ("-gencode;arch=compute_120,code=sm_120", "13.0", "120a;-gencode;arch=compute_121a,code=sm_121a"),
        ("-gencode;arch=compute_121,code=sm_121", "13.0", "-gencode;arch=compute_121a,code=sm_121a"),
        ("-gencode;arch=compute_120,code=sm_120", "12.9", "120a;-gencode;arch=compute_121a,code=sm_121a"),
        # nvcc before 12.9 does not know 121a.
        ("-gencode;arch=compute_120,code=sm_120", "12.8", "120a"),
        ("-gencode;arch=compute_90,code=sm_90", "13.0", ""),
    ],
)
def test_row_wise_product_is_compiled_for_121a_with_120a(tmp_path: Path, flags: str, cuda: str, chosen: str) -> None:
    text, _kernel = apply_fix(tmp_path, "rowwise_121a", CODEGEN, KERNEL)
    assert cmake_output(text, tmp_path, _existing_arch_flags=flags, CUDA_VERSION=cuda) == chosen


@pytest.mark.parametrize(
    ("target", "known"),
    [("__CUDA_ARCH_FEAT_SM121_ALL", True), ("__CUDA_ARCH_FEAT_SM120_ALL", False), ("__CUDA_ARCH_FEAT_SM90_ALL", False)],
)
def test_cutlass_treats_121a_like_120a(tmp_path: Path, target: str, known: bool) -> None:
    _codegen, kernel = apply_fix(tmp_path, "rowwise_121a", CODEGEN, KERNEL)
    (tmp_path / "cute").mkdir()
    (tmp_path / "cute/tensor.hpp").write_text("#ifdef CUTLASS_ARCH_MMA_SM120A_ENABLED\ntold\n#endif\n")
    (tmp_path / "kernel.cc").write_text(kernel)
    command = ["g++", "-E", "-P", f"-D{target}", f"-I{tmp_path}", str(tmp_path / "kernel.cc")]
    assert ("told" in subprocess.run(command, capture_output=True, text=True, check=True).stdout) is known


@pytest.mark.parametrize(
    ("capabilities", "before", "after"),
    [
        ("12.1", "12.1(2.0)", "12.1"),
        ("2.1", "2.1(2.0)", "2.1(2.0)"),
        ("12.1;8.0;2.1", "12.1(2.0);8.0;2.1(2.0)", "12.1;8.0;2.1(2.0)"),
        ("9.0", "9.0", "9.0"),
    ],
)
def test_only_an_exact_2_1_is_fermi(tmp_path: Path, capabilities: str, before: str, after: str) -> None:
    assert cmake_output(SELECT, tmp_path, compute_capabilities=capabilities) == before
    (text,) = apply_fix(tmp_path, "fermi_token", SELECT)
    assert cmake_output(text, tmp_path, compute_capabilities=capabilities) == after


def kernels(tree: Path) -> list[Path]:
    """Write the files with the attention guard, each with as many guards as the edits expect."""
    for edit in edits_of("attention_guard"):
        file = tree / edit["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(GUARD * edit["count"])
    return sorted(tree.rglob("*.cu"))


def test_every_guard_is_lifted_to_1210(tmp_path: Path) -> None:
    files = kernels(tmp_path)
    assert len(files) == 29
    patching.apply(str(tmp_path), [], edits_of("attention_guard"), print)
    text = "".join(file.read_text() for file in files)
    assert text.count("__CUDA_ARCH__ <= 1210") == 55 and "1200" not in text


def test_another_number_of_guards_is_refused_without_a_change(tmp_path: Path) -> None:
    files = kernels(tmp_path)
    files[3].write_text(files[3].read_text() + GUARD)
    before = [file.read_bytes() for file in files]
    with pytest.raises(SparkforgeError, match=re.escape(files[3].name)):
        patching.apply(str(tmp_path), [], edits_of("attention_guard"), print)
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("name", sorted(FIXES))
def test_a_source_without_the_text_is_refused_with_the_fix(tmp_path: Path, name: str) -> None:
    for edit in edits_of(name):
        (tmp_path / edit["path"]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / edit["path"]).write_text("another release\n")
    with pytest.raises(SparkforgeError, match=name):
        patching.apply(str(tmp_path), [], edits_of(name), print)


def test_each_fix_names_tested_releases() -> None:
    assert set(FIXES) == set(pytorch.FIXES)
    for fix in FIXES.values():
        assert fix["versions"] and all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in fix["versions"])


@pytest.mark.skipif(not TREE, reason="SPARKFORGE_PYTORCH_TREE names no source of PyTorch 2.9.1, which is not kept here")
@pytest.mark.parametrize("name", sorted(FIXES))
def test_a_fix_holds_on_the_real_files(tmp_path: Path, name: str) -> None:
    tree = Path(TREE or "")
    version = re.match(r"\d+\.\d+\.\d+", (tree / "version.txt").read_text())
    if not version or version[0] not in FIXES[name]["versions"]:
        pytest.skip(f"{name} is not for {version and version[0]}")
    edits = edits_of(name)
    for edit in edits:
        (tmp_path / edit["path"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree / edit["path"], tmp_path / edit["path"])
    assert len(patching.apply(str(tmp_path), [], edits, print)) == len(edits)
    if name == "attention_guard":
        # The edits cover all guarded files.
        folder = tree / FIXES[name]["edits"][0]["directory"]
        guarded = {path.name for path in folder.iterdir() if "__CUDA_ARCH__ <= 1200" in path.read_text()}
        assert guarded == set(FIXES[name]["edits"][0]["files"])
