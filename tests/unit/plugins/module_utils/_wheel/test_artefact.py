import base64
import hashlib
import os
import shutil
import subprocess
import typing as t
import zipfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import artefact, wheel_file
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer

GPU_CODE = Path(__file__).parents[3] / "data/fatbin/kernels.so"  # 9.0a, 10.0f, 12.0, 12.1a and PTX of 12.0
TAG = "py3-none-any"


def record_digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write_wheel(directory: Path, files=None, *, name="tiny_torch", version="2.9.1+spark", tag=TAG, header="") -> Path:
    """Write a wheel that pip can install, and return its path."""
    info = f"{name}-{version}.dist-info"
    members = {
        "tiny_torch.py": b"answer = 42\n",
        **(files or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            + header
            + "".join(f"Tag: {python}-none-any\n" for python in tag.split("-")[0].split("."))
        ).encode(),
    }
    rows = [[path, record_digest(content), str(len(content))] for path, content in members.items()]
    record = "".join(",".join(f'"{cell}"' if "," in cell else cell for cell in row) + "\r\n" for row in rows)
    members[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\r\n").encode()
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            entry = zipfile.ZipInfo(member, (2026, 11, 21, 12, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100755 << 16 if member.endswith(".so") else 0o100644 << 16
            archive.writestr(entry, content)
    return path


def wheels(*paths: Path) -> list[Wheel]:
    return [wheel for path in paths for wheel in wheel_file.collect_wheels(str(path.parent)) if wheel.path == str(path)]


def shared_library(*needed: str) -> bytes:
    return elf_writer.elf_bytes(soname="libx.so", needed=needed, machine=elf_writer.X86_64)


# --- wheels --------------------------------------------------------------------------------------------------------


def test_wheels_are_collected_by_name(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, name="Flash_Attn", version="2.8.3.post2+spark", tag="py2.py3-none-any")
    write_wheel(tmp_path, name="another")
    (tmp_path / "build.log").write_text("no wheel")
    wheel = wheel_file.collect_wheels(str(tmp_path))[0]
    assert (wheel.path, wheel.file) == (str(path), path.name)
    assert (wheel.name, wheel.version) == ("flash-attn", "2.8.3.post2+spark")
    assert wheel.size == path.stat().st_size
    assert [wheel.name for wheel in wheel_file.collect_wheels(str(tmp_path))] == ["flash-attn", "another"]
    assert wheel_file.collect_wheels(str(tmp_path / "absent")) == []


def test_truncated_wheel_is_refused(tmp_path: Path) -> None:
    path = write_wheel(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SparkforgeError, match=r"tiny_torch.*\.whl is not a .*: File is not a zip file\."):
        wheel_file.collect_wheels(str(tmp_path))


def test_invalid_wheel_name_is_refused(tmp_path: Path) -> None:
    shutil.move(write_wheel(tmp_path), tmp_path / "torch.whl")
    with pytest.raises(SparkforgeError, match="valid wheel name"):
        wheel_file.collect_wheels(str(tmp_path))


def test_wheel_without_record_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / f"torch-1-{TAG}.whl", "w") as archive:
        archive.writestr("torch-1.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    with pytest.raises(SparkforgeError, match=r"exactly one \.dist-info"):
        wheel_file.collect_wheels(str(tmp_path))


# --- digests of prefixes -------------------------------------------------------------------------------------------


def write_prefix(directory: Path) -> Path:
    (directory / "lib").mkdir(parents=True)
    (directory / "bin").mkdir()
    (directory / "bin/tool").write_text("#!/bin/sh\n")
    (directory / "bin/tool").chmod(0o755)
    (directory / "lib/libx.so.1").write_bytes(shared_library("libc.so.6"))
    (directory / "lib/libx.so").symlink_to("libx.so.1")
    (directory / "share").mkdir()
    return directory


def test_tree_digest_ignores_times_and_group_modes(tmp_path: Path) -> None:
    first, second = (write_prefix(tmp_path / name) for name in ("one", "two"))
    os.utime(second / "bin/tool", (1, 1))
    (second / "bin/tool").chmod(0o700)
    tree = artefact.tree_digest(str(first))
    assert tree == artefact.tree_digest(str(second))
    assert tree["files"] == 2
    assert tree["size"] == len(shared_library("libc.so.6")) + len("#!/bin/sh\n")


@pytest.mark.parametrize(
    "change",
    [
        lambda path: (path / "bin/tool").write_text("#!/bin/bash\n"),
        lambda path: (path / "bin/tool").chmod(0o644),
        lambda path: (path / "bin/tool").rename(path / "bin/another"),
        lambda path: ((path / "lib/libx.so").unlink(), (path / "lib/libx.so").symlink_to("libx.so.2")),
        lambda path: ((path / "lib/libx.so").unlink(), shutil.copy(path / "lib/libx.so.1", path / "lib/libx.so")),
        lambda path: (path / "share").rmdir(),
        lambda path: (path / "lib/empty").touch(),
    ],
)
def test_tree_digest_depends_on_every_change(tmp_path: Path, change: t.Callable[[Path], t.Any]) -> None:
    path = write_prefix(tmp_path / "prefix")
    before = artefact.tree_digest(str(path))["sha256"]
    change(path)
    assert artefact.tree_digest(str(path))["sha256"] != before


# --- CMake's choices -----------------------------------------------------------------------------------------------

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(shaped_like_pytorch NONE)
include(CMakeDependentOption)
option(USE_CUDA "" ON)
option(USE_CUDSS "" ON)
option(USE_NCCL "" ON)
set(CUDSS_HINT "" CACHE PATH "")
if(NOT USE_CUDA)
  set(USE_CUDA OFF CACHE BOOL "" FORCE)
endif()
cmake_dependent_option(USE_CUFILE "" ON "USE_CUDA" OFF)
cmake_dependent_option(USE_CUDNN "" ON "USE_CUDA" OFF)
if(USE_CUDNN)
  find_path(CUDNN_INCLUDE_PATH cudnn_nowhere.h NO_DEFAULT_PATH)
  find_library(CUDNN_LIBRARY_PATH cudnn_nowhere NO_DEFAULT_PATH)
  if(NOT CUDNN_LIBRARY_PATH)
    message(WARNING "cuDNN was not found: turning USE_CUDNN off")
    set(USE_CUDNN OFF CACHE BOOL "" FORCE)
  endif()
endif()
set(BLAS "OpenBLAS" CACHE STRING "")
set(NVPL_DIR "/opt/nvpl/lib/cmake" CACHE PATH "")
"""


@pytest.fixture(scope="module")
def configure(tmp_path_factory: pytest.TempPathFactory) -> t.Callable[..., str]:
    """Return a function that configures the project and returns the path of its cache."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not on PATH")
    source = tmp_path_factory.mktemp("source")
    (source / "CMakeLists.txt").write_text(PROJECT)

    def run(*arguments: str) -> str:
        build = tmp_path_factory.mktemp("build")
        command = ["cmake", "-S", str(source), "-B", str(build), *(f"-D{argument}" for argument in arguments)]
        subprocess.run(command, check=True, capture_output=True)
        return str(build / "CMakeCache.txt")

    return run


def cmake_problems(cache: str | None, **options: t.Any) -> list[str]:
    return artefact.check({"cmake_cache": options}, caches=[cache] if cache else [])


def test_dropped_cmake_option_is_named_with_reason(configure: t.Callable[..., str]) -> None:
    cache = configure("USE_CUDNN=1", "USE_CUBLAS=1")
    cudnn, cublas, mkl, blas = cmake_problems(
        cache, USE_CUDNN="ON", USE_CUDA=True, USE_CUBLAS="1", USE_MKL="OFF", BLAS="NVPL"
    )
    assert cudnn.startswith("USE_CUDNN was requested (ON)") and "(CUDNN_INCLUDE_PATH, CUDNN_LIBRARY_PATH)" in cudnn
    assert "USE_CUBLAS" in cublas and "no such option" in cublas and "USE_MKL" in mkl and "no such variable" in mkl
    assert "BLAS was requested (NVPL)" in blas and "OpenBLAS" in blas


def test_cmake_option_with_unmet_condition_is_off(configure: t.Callable[..., str]) -> None:
    cache = configure("USE_CUDA=OFF", "USE_CUFILE=1")
    assert "USE_CUFILE:INTERNAL=1" in Path(cache).read_text()
    (problem,) = cmake_problems(cache, USE_CUFILE="1")
    assert problem.startswith("USE_CUFILE was requested (1)") and "(USE_CUDA is)" in problem


def test_satisfied_cmake_options_are_accepted(configure: t.Callable[..., str]) -> None:
    cache = configure("TORCH_CUDA_ARCH_LIST=12.0;12.1a")
    paths = {"NVPL_DIR": "/opt/*/cmake", "CUDNN_LIBRARY_PATH": "OFF"}
    assert cmake_problems(cache, USE_NCCL="ON", USE_CUDNN=False, BLAS="OpenBLAS", **paths) == []
    assert cmake_problems(cache, USE_NCCL=True, USE_CUDNN=0, TORCH_CUDA_ARCH_LIST="12.0;12.1a") == []
    assert cmake_problems(cache, USE_NCCL="1") == cmake_problems(cache, USE_NCCL="yes") == []


def test_pattern_does_not_match_missing_cmake_value(configure: t.Callable[..., str]) -> None:
    problems = cmake_problems(configure(), CUDNN_LIBRARY_PATH="*", CUDSS_HINT="*", NVPL_DIR="/usr/*")
    assert problems == [
        "CUDNN_LIBRARY_PATH was requested (*), CMake chose CUDNN_LIBRARY_PATH-NOTFOUND",
        "CUDSS_HINT was requested (*), CMake chose nothing",
        "NVPL_DIR was requested (/usr/*), CMake chose /opt/nvpl/lib/cmake",
    ]


def test_outermost_cmake_cache_is_used(tmp_path: Path) -> None:
    inner, outer = tmp_path / "build/third_party/CMakeCache.txt", tmp_path / "build/CMakeCache.txt"
    inner.parent.mkdir(parents=True)
    inner.write_text("USE_CUDA:BOOL=OFF\nONLY_INNER:BOOL=ON\n")
    outer.write_text("# comment\n//help\nUSE_CUDA:BOOL=ON\n\"A:B\":STRING=x\nC:STRING=' y '\n")
    expect = {"cmake_cache": {"USE_CUDA": "ON", "ONLY_INNER": "ON"}}
    assert artefact.check(expect, caches=[str(inner), str(outer)]) == []
    assert artefact.read_cache(str(outer))["A:B"] == ("STRING", "x")
    assert artefact.read_cache(str(outer))["C"] == ("STRING", " y ")


def test_missing_cmake_cache_is_reported() -> None:
    assert "no CMakeCache.txt" in cmake_problems(None, USE_CUDNN="ON")[0]
    with pytest.raises(SparkforgeError, match=r"/nowhere/CMakeCache\.txt cannot be read"):
        cmake_problems("/nowhere/CMakeCache.txt", USE_CUDNN="ON")


# --- the files' content --------------------------------------------------------------------------------------------


def test_unlinked_library_is_named(tmp_path: Path) -> None:
    path = write_wheel(
        tmp_path,
        {
            "torch/lib/libtorch_cuda.so": shared_library("libcudnn.so.8", "libc.so.6"),
            "torch/_C.so": shared_library("libcudart.so.13"),
        },
    )
    expect = {"libraries": ["libcudss.so.0", "libcudnn.so.9", "libcudart.so.*", "libcufile.so*"]}
    problems = artefact.check(expect, wheels=wheels(path))
    assert [problem.partition(" ")[0] for problem in problems] == ["libcudss.so.0", "libcudnn.so.9", "libcufile.so*"]
    assert path.name in problems[1] and "libcudnn.so.8 instead" in problems[1]
    assert os.listdir(tmp_path) == [path.name], "unpacked files must be removed"


@pytest.mark.parametrize("version", ["2.9.1", "2.9.1+cu130.sf0123abce", "2.9.10+cu130.sf0123abcd"])
def test_wheel_of_another_version_is_named(tmp_path: Path, version: str) -> None:
    path = write_wheel(tmp_path, {"torch/a.py": b""}, version="2.9.1+cu130.sf0123abcd")
    problem = f"{path.name} has version 2.9.1+cu130.sf0123abcd, not {version}"
    assert artefact.check({"version": version}, wheels=wheels(path)) == [problem]


def test_linked_libraries_of_compiled_library(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not on PATH")
    prefix = tmp_path / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (tmp_path / "x.c").write_text("double cos(double); double f(double x) { return cos(x); }\n")
    command = ["gcc", "-shared", "-fPIC", "-Wl,--no-as-needed", "x.c", "-o", "prefix/lib/libx.so.1.2", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    (prefix / "lib/libx.so").symlink_to("libx.so.1.2")
    (prefix / "lib/dangling.so").symlink_to("gone")
    (prefix / "lib/libx.la").write_text("# text\n")
    expect = {"libraries": ["libm.so.6"], "files": ["lib/libx.so", "*.so.1.2"]}
    assert artefact.check(expect, prefix=str(prefix)) == []
    path = write_wheel(tmp_path / "out", {"lib/libx.so": (prefix / "lib/libx.so.1.2").read_bytes()})
    assert artefact.check({**expect, "files": ["lib/libx.so"]}, wheels=wheels(path)) == []
    (problem,) = artefact.check({"libraries": ["libm.so.7"]}, prefix=str(prefix))
    assert problem.startswith("libm.so.7 ") and f"{prefix}, which links libm.so.6" in problem


def test_missing_architecture_is_named_with_existing_ones(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, {"torch/lib/libtorch_cuda.so": GPU_CODE.read_bytes(), "torch/_C.so": shared_library()})
    content = "libtorch_cuda.so: it holds 9.0a, 10.0f, 12.0, 12.1a and PTX of 12.0"
    assert artefact.check({"architectures": ["12.0", "12.1a", "12.0+PTX"]}, wheels=wheels(path)) == []
    assert artefact.check({"architectures": ["12.1", "12.0a", "12.1a+PTX"]}, wheels=wheels(path)) == [
        f"no code for 12.1 in {content}",
        f"no code for 12.0a in {content}",
        f"no PTX of 12.1a in {content}",
    ]


def gpu_code(*keep: int) -> bytes:
    """Return the recorded library, changed so that only the numbered entries can run.

    The entries are 0: 9.0a, 1: 10.0f, 2: PTX of 12.0, 3: 12.0, 4: 12.1a.
    """
    data = bytearray(GPU_CODE.read_bytes())
    position = data.index(b"\x50\xed\x55\xba") + 16
    for number in range(5):
        header = int.from_bytes(data[position + 4 : position + 8], "little")
        size = int.from_bytes(data[position + 8 : position + 16], "little")
        if number not in keep:
            data[position] = 8
        position += header + size
    return bytes(data)


def test_every_file_must_have_requested_architectures(tmp_path: Path) -> None:
    path = write_wheel(
        tmp_path,
        {"a/main.so": gpu_code(2, 3), "a/old.so": gpu_code(1), "a/jit.so": gpu_code(2), "a/hopper.so": gpu_code(0)},
    )
    expect = {"architectures": ["12.0"]}
    # A file with only 10.0f or 9.0a passes because its caller selects it by GPU; PTX runs on 12.0.
    assert artefact.check(expect, wheels=wheels(path)) == []
    other = write_wheel(tmp_path, {"a/main.so": gpu_code(2, 3, 4), "a/tail.so": gpu_code(3)}, name="other")
    assert artefact.check({"architectures": ["12.0+PTX", "12.1a"]}, wheels=wheels(other)) == [
        "no PTX of 12.0 in tail.so: it holds 12.0"
    ]
    assert artefact.check({"architectures": ["10.0f", "12.1a"]}, wheels=wheels(path)) == [
        "no code for 12.1a in hopper.so: it holds 9.0a, nor in jit.so: it holds PTX of 12.0, "
        "nor in main.so: it holds 12.0 and PTX of 12.0, nor in old.so: it holds 10.0f"
    ]


def test_file_without_any_requested_architecture_is_named(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    prefix.mkdir()
    (prefix / "libmain.so").write_bytes(gpu_code(3))
    # Change the entry's architecture from 12.0 to 9.0, as if the library had been built without the list.
    old = bytearray(gpu_code(3))
    position = old.index((120).to_bytes(4, "little") + bytes(8) + b"\x11\x80\x00\x01")
    old[position] = 90
    (prefix / "libold.so").write_bytes(old)
    (problem,) = artefact.check({"architectures": ["12.0"]}, prefix=str(prefix))
    assert "12.0 in libold.so: it holds 9.0" in problem


def test_wheel_without_gpu_code_is_reported(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, {"torch/_C.so": shared_library("libc.so.6")})
    (problem,) = artefact.check({"architectures": ["12.0", "12.1a"]}, wheels=wheels(path))
    assert path.name in problem and "GPU code" in problem and "12.0, 12.1a" in problem


def test_damaged_library_is_reported(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, {"torch/lib/libtorch.so": shared_library("libcudnn.so.9")[:100]})
    problems = artefact.check({"libraries": ["libcudnn.so.9"]}, wheels=wheels(path))
    assert problems[0].startswith("torch/lib/libtorch.so is a damaged")
    assert problems[1].startswith("libcudnn.so.9 is not")


def test_wheel_with_damaged_content_is_refused(tmp_path: Path) -> None:
    path = write_wheel(tmp_path, {"torch/lib/libtorch.so": shared_library("libcudnn.so.9") + os.urandom(5000)})
    data = bytearray(path.read_bytes())
    position = data.index(b"torch/lib/libtorch.so") + 2000
    data[position : position + 20] = bytes(20)
    path.write_bytes(data)
    with pytest.raises(SparkforgeError, match="a complete wheel"):
        artefact.check({"libraries": ["libcudnn.so.9"]}, wheels=wheels(path))
    assert os.listdir(tmp_path) == [path.name]


def test_missing_file_is_named(tmp_path: Path) -> None:
    first, second = write_wheel(tmp_path), write_wheel(tmp_path, {"b/x.so": b""}, name="b")
    expect = {"files": ["tiny_torch.py", "b/*.so", "torch/lib/libtorch_cuda.so"]}
    problem = f"{first.name} or {second.name} has no file torch/lib/libtorch_cuda.so"
    assert artefact.check(expect, wheels=wheels(first, second)) == [problem]


def test_empty_prefix_is_reported(tmp_path: Path) -> None:
    assert f"{tmp_path}/gone" in artefact.check({"files": ["*"]}, prefix=str(tmp_path / "gone"))[0]


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"library": ["libcudnn.so.9"]}, "unknown key 'library'"),
        ({"architectures": ["121"]}, "'121' in expect.architectures"),
        ({"architectures": ["sm_121a"]}, "'sm_121a' in expect.architectures"),
    ],
)
def test_invalid_expectation_is_refused(expect: dict[str, t.Any], message: str) -> None:
    with pytest.raises(SparkforgeError, match=message):
        artefact.check(expect)
