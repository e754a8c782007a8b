"""The findings for packages' contents, and the contents as read from wheels, directories and images."""

import array
import base64
import functools
import itertools
import json
import os
import re
import types
import typing as t
import zipfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer
from sparkforge_proof._shared.module_utils._core import deadline, disk
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof._shared.module_utils._elf import filesystem, symbols
from sparkforge_proof._shared.module_utils._elf.filesystem import FileSystem
from sparkforge_proof._shared.module_utils._wheel import installed as packages
from sparkforge_proof.files import contents, judge, texts

from lab.stand_ins import write_wheel
from proof.tests.unit import gpu_library
from tests.unit.run_module import run_module

SPARK = judge.Device()
_HOSTS = Path(__file__).parents[3] / "tests/unit/data/hosts"
SPARKS = [
    host for host in (json.loads(path.read_text()) for path in sorted(_HOSTS.glob("*.json"))) if host["os"]["dgx"]
]


def library(path: str, cubins="", ptx="", needed="libc.so.6", lacking="", **more: t.Any) -> contents.Library:
    lists: dict[str, t.Any] = {"needed": needed.split(), "lacking": lacking.split(), "undefined": [], "guards": []}
    lists.update(cubins=cubins.split(), ptx=ptx.split(), versions={})
    texts: dict[str, t.Any] = {"path": path, "machine": "aarch64", "soname": path.rpartition("/")[2], "release": ""}
    return t.cast(contents.Library, {**texts, **lists, **more})


def package(name: str, *libraries: contents.Library, version: str = "1.0", **more: t.Any) -> contents.Contents:
    defaults: dict[str, t.Any] = {"file": "", "site": "", "requires": [], "damaged": [], "exports": "", "families": []}
    defaults.update(files=1, sources=0, unread={}, without_symbols=0)
    named = {"name": name, "version": version, "libraries": list(libraries)}
    return t.cast(contents.Contents, {**defaults, **named, **more})


def answer(*inspected: contents.Contents, requested="", device=SPARK) -> tuple[str, set[tuple[str, str]]]:
    """Return the verdict, and the level and kind of each finding."""
    result = judge.judge(inspected, device, requested.split())
    assert all(finding["what"][-1] in ".)" for finding in result["findings"]), result["findings"]
    return result["verdict"], {(finding["level"], finding["kind"]) for finding in result["findings"]}


@pytest.mark.parametrize(
    ("cubins", "ptx", "expected"),
    [
        ("9.0 12.0", "", ("yes", set())), ("12.0f", "", ("yes", set())), ("12.1a", "", ("yes", set())),
        ("8.0", "12.0", ("yes", {("note", "ptx")})), ("8.0", "12.0a", ("no", {("no", "gpu_code")})),
        ("12.0a", "", ("no", {("no", "gpu_code")})), ("8.0 9.0", "", ("no", {("no", "gpu_code")})),
        ("8.0", "13.0", ("no", {("no", "gpu_code")})), ("", "", ("yes", set())),
    ],
)  # fmt: skip
def test_gpu_code_decides_verdict(cubins: str, ptx: str, expected: tuple[str, set[tuple[str, str]]]) -> None:
    assert answer(package("thing", library("thing/_C.so", cubins, ptx))) == expected


@pytest.mark.parametrize("host", SPARKS, ids=[host["os"]["dgx"]["name"] or "?" for host in SPARKS])
def test_gpu_code_on_each_recorded_spark(host: dict[str, t.Any]) -> None:
    device = judge.Device(
        host["kernel"]["machine"],
        host["gpu"]["devices"][0]["compute_capability"],
        host["driver"]["cuda_version"],
        ".".join(host["python"][0]["version"].split(".")[:2]),
    )
    for cubins, ptx, verdict in (
        ("12.0", "", "yes"),
        ("12.0a", "", "no"),
        ("9.0", "9.0", "yes"),
        ("10.0a 9.0", "", "no"),
    ):
        assert answer(package("kernels", library("kernels/lib.so", cubins, ptx)), device=device)[0] == verdict, cubins


def test_libraries_differing_only_in_numbers_need_one_match() -> None:
    old, new = library("b/libb_cuda118.so", "8.0", lacking="libcudart.so.11.0"), library("b/libb_cuda130.so", "12.0")
    assert answer(package("b", old, new)) == ("yes", set())
    assert answer(package("b", old)) == ("no", {("no", "gpu_code")})
    assert answer(package("k", library("k/sm90/ops.so", "9.0a"), library("k/sm120/ops.so", "12.0"))) == ("yes", set())


def test_library_for_other_gpus_beside_one_that_runs() -> None:
    good = library("k/_C.so", "12.0")
    assert answer(package("k", good, library("k/_flashmla.so", "9.0a 10.0f"))) == ("yes", {("note", "gpu_code")})
    assert answer(package("k", good, library("k/_C_sm90.so", "9.0a"))) == ("yes", {("note", "gpu_code")})
    variants = library("k/moe_90.so", "9.0a"), library("k/moe_100.so", "10.0a")
    assert answer(package("k", good, *variants)) == ("perhaps", {("perhaps", "gpu_code")})
    # Its name does not tell that it is for some GPUs alone.
    assert answer(package("k", good, library("k/moe.so", "9.0a 10.3a"))) == ("perhaps", {("perhaps", "gpu_code")})
    assert answer(package("k", good, library("k/_infllm.so", "9.0 12.0a"))) == ("perhaps", {("perhaps", "gpu_code")})


@pytest.mark.parametrize(
    ("inspected", "verdict", "finding"),
    [
        (package("nvidia-cufft", library("nvidia/cu13/lib/libcufftw.so.12", "7.5")), "yes", ("note", "gpu_code")),
        (package("torch", library("torch/lib/libtorch_cuda.so", "12.0 12.1"), version="2.11.0"), "no",
         ("no", "attention_guard")),
        (package("torch", library("torch/lib/libtorch_cuda.so", "12.0"), version="2.11.0"), "yes", None),
        (package("torch", library("torch/lib/libtorch_cuda.so", "12.0 12.1"), version="2.12.0"), "yes", None),
        (package("torch", library("torch/lib/libtorch_cpu.so")), "no", ("no", "cpu_only")),
        (package("b", library("b/libb.so", "12.0", machine="x86_64"), file="b-1.0-py3-none-any.whl"), "no",
         ("no", "machine")),
        (package("b", library("b/b.abi3.so", machine="x86_64")), "no", ("no", "machine")),
        (package("z3", library("z3/lib/libz3.so", machine="x86_64")), "no", ("no", "machine")),
        # debugpy's wheel for any machine includes a library for processes on another machine.
        (package("debugpy", library("debugpy/attach_linux_amd64.so", machine="x86_64"), files=300), "perhaps",
         ("perhaps", "machine")),
        # A program for another machine, and nothing beside it.
        (package("micromamba", library("micromamba", machine="x86_64"), version=""), "no", ("no", "machine")),
        (package("b", library("b/libb.so", "12.0"), file="b-1.0-cp310-cp310-manylinux_2_28_aarch64.whl"), "no",
         ("no", "platform")),
        (package("x", files=0), "no", ("no", "empty")),
        (package("x", version="0.0.0.dev0", requires=["torch"]), "no", ("no", "empty")),
        (package("nvidia-npp-cu13", version="0.0.0a0"), "no", ("no", "empty")),
        (package("cuda-toolkit", files=0, requires=["nvidia-cuda-runtime; extra == 'cudart'"]), "yes", None),
    ],
)  # fmt: skip
def test_finding_for_one_package(inspected: contents.Contents, verdict: str, finding: tuple[str, str] | None) -> None:
    assert answer(inspected) == (verdict, {finding} if finding else set())


def test_fault_in_dependency_is_a_doubt() -> None:
    bad = package("dep", library("dep/_C.so", "8.0"))
    assert answer(package("thing"), bad, requested="thing")[0] == "perhaps"
    assert answer(package("thing"), bad, requested="thing dep")[0] == "no"


def test_differing_cuda_versions() -> None:
    toolkit = package("cuda-toolkit", version="13.0.2")
    assert answer(toolkit, package("nvidia-nvjitlink", version="13.0.39"))[0] == "yes"
    findings = {("perhaps", "cuda"), ("note", "cuda")}
    assert answer(toolkit, package("nvidia-cuda-nvrtc", version="13.2.1")) == ("perhaps", findings)
    assert answer(toolkit, package("torch", version="2.9.1+cu128"))[0] == "perhaps"
    # nvJitLink links objects from older CUDA minor versions, but not from newer ones.
    assert answer(toolkit, package("nvidia-nvjitlink", version="13.5.37")) == ("yes", set())
    newer = package("cuda-toolkit", version="13.2.2")
    assert answer(newer, package("nvidia-nvjitlink", version="13.0.39"))[0] == "perhaps"
    assert answer(package("cuda-toolkit", version="14.0.1")) == ("no", {("no", "cuda")})
    for_12, for_13 = (
        package(name, library("x.so", needed=f"libcudart.so.{major}")) for name, major in (("a", 12), ("b", 13))
    )
    assert answer(for_12, for_13) == ("perhaps", {("perhaps", "cuda")})
    # A package whose name only starts like NVIDIA's is not part of CUDA, so its requirements count.
    assert answer(toolkit, package("nvidia-nvtx-plugin", version="9.9"))[0] == "yes"
    assert answer(newer, package("nvidia-nvjitlink-tools", version="13.0"))[1] == {("note", "cuda")}
    plugin = package("nvidia-nvtx-plugin", library("x.so", needed="libcudart.so.12"))
    assert answer(plugin, for_13) == ("perhaps", {("perhaps", "cuda")})


def test_missing_soname() -> None:
    def verdict_for(needed: str, *others: contents.Contents) -> tuple[str, set[tuple[str, str]]]:
        every = [package("thing", library("thing/_C.so", needed=needed)), *others]
        judge.find_lacking(every, SPARK)
        return answer(*every)

    on_host = "libc.so.6 libmvec.so.1 libstdc++.so.6 libcuda.so.1 libpython3.12.so.1.0 libcudart.so.13 libexpat.so.1"
    assert verdict_for(on_host) == ("yes", set())
    assert verdict_for("libcudart.so.12") == ("no", {("no", "soname")})
    assert verdict_for("libssl.so.1.1")[0] == "no"
    assert verdict_for("libnobody.so.1")[0] == "no"
    # No other package and no host has a library with auditwheel's hash.
    assert verdict_for("libcrypt-06cd74a6.so.2") == ("no", {("no", "soname")})
    assert verdict_for("libc10.so libtorch.so") == ("perhaps", {("perhaps", "soname")})
    torch = package("torch", library("torch/lib/libtorch.so"), library("x/libtorch_cuda.so"))
    assert verdict_for("libtorch.so", torch)[0] == "yes"
    # torchcodec has a variant for each of FFmpeg's versions; the finding names the one that Ubuntu's package serves.
    variants = package("torchcodec", *(library(f"core{n}.so", needed=f"libavcodec.so.{n + 54}") for n in (4, 6, 7)))
    judge.find_lacking([variants], SPARK)
    assert "libavcodec.so.60" in judge.judge([variants], SPARK, ["torchcodec"])["findings"][0]["what"]
    # A build without kernels runs, but not on the GPU.
    assert answer(package("ctranslate2", library("ctranslate2/_ext.so"))) == ("perhaps", {("perhaps", "cpu_only")})


# The tables below come from public reports (docs/evidence/inspect.md).
CHECK = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_"


def exporting(name: str, *exports: str, path: str, version: str = "1.0") -> contents.Contents:
    """Return a package with one library that exports these symbols."""
    checksums = array.array("I", sorted(symbols.checksum(export) for export in exports)).tobytes()
    families = sorted({symbols.family(export.encode()) for export in exports})
    exported = base64.b64encode(checksums).decode()
    return package(name, library(path), version=version, exports=exported, families=families)


@pytest.mark.parametrize(
    ("cubins", "guard", "expected"),
    [
        ("9.0a 10.0f 12.0a 12.1f", "This kernel only supports sm120.", "perhaps"),
        ("9.0a 10.0f 12.0f", "This kernel only supports sm120.", "yes"),
        ("12.0 12.1", "This kernel only supports sm[120, 121].", "yes"),
        ("12.0 12.1", "This kernel only supports sm120f.", "yes"),
        ("12.0 12.1", "kernel requires sm_120a", "perhaps"),
        ("12.1", "This kernel only supports sm >= 90.", "yes"),
        ("9.0a 12.0", "This kernel only supports sm90.", "yes"),
        ("12.0", "This kernel only supports sm90.", "perhaps"),
        ("8.0 12.1", "FATAL: kernel `x` is for sm80-sm100, but was built for sm%d", "perhaps"),
        ("8.0 12.0", "FATAL: kernel `x` is for sm80-sm121, but was built for sm%d", "yes"),
        ("12.0 12.1", "requires compute capability 12.0", "perhaps"),
        ("12.0 12.1", "requires compute capability 8.9 or higher", "yes"),
        ("12.0 12.1", "the only sum of 120", "yes"),
        # Error messages of torch's own functions.
        ("12.0", "torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9", "yes"),
        ("12.0", "DeepSeek style scaling only supported in CUDA for SM90", "yes"),
    ],
)
def test_guard_that_device_fails(cubins: str, guard: str, expected: str) -> None:
    kernels = package("kernels", library("kernels/_C.abi3.so", cubins, guards=[guard] if texts.ranges(guard) else []))
    assert answer(kernels) == (expected, {("perhaps", "guard")} if expected == "perhaps" else set())


def test_bare_cubins_for_other_gpus() -> None:
    def cubin(number: int, architecture: str) -> contents.Library:
        path = f"flashinfer_cubin/cubins/fmhaSm100aKernel_{number}.cubin"
        return library(path, architecture, machine=contents.CUBIN, needed="")

    other = package("flashinfer-cubin", cubin(1, "10.0a"), cubin(2, "10.0a"), file="f-1-py3-none-any.whl")
    assert answer(other) == ("perhaps", {("perhaps", "gpu_code")})
    assert judge.judge([other], SPARK)["packages"][0]["libraries"] == 0
    assert answer(package("flashinfer-cubin", cubin(1, "10.0a"), cubin(2, "12.0f"))) == ("yes", set())


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (("0.6.16.post3", "0.6.13"), "no"),
        (("0.6.16.post3", "0.6.16.post3"), "yes"),
        (("0.6.16", "0.6.16+cu130"), "yes"),
    ],
)
def test_versions_of_one_release(versions: tuple[str, str], expected: str) -> None:
    names = ("flashinfer-python", "flashinfer-cubin")
    assert answer(*(package(name, version=version) for name, version in zip(names, versions)))[0] == expected


def test_cpu_build_beside_cuda_torch() -> None:
    torch = package("torch", library("torch/lib/libtorch_cuda.so", "12.0"), version="2.9.1+cu130")
    assert answer(torch, package("torchvision", version="0.24.1+cpu"))[0] == "perhaps"
    assert answer(torch, package("torchvision", version="0.24.1+cu130"))[0] == "yes"
    assert answer(torch, package("torchvision", version="0.24.1"))[0] == "yes"


def test_library_for_single_releases_of_torch() -> None:
    names = ("dgl/graphbolt/libgraphbolt_pytorch_2.5.0.so", "dgl/graphbolt/libgraphbolt_pytorch_2.6.0.so")
    dgl = package("dgl", *map(library, names))
    torch = functools.partial(package, "torch", library("torch/lib/libtorch_cuda.so", "12.0"))
    assert answer(dgl) == ("perhaps", {("perhaps", "sisters")})
    assert answer(dgl, torch(version="2.6.0+cu130"))[0] == "yes"
    assert answer(dgl, torch(version="2.9.1+cu130")) == ("no", {("no", "sisters")})


def test_versions_in_two_environments() -> None:
    def flashinfer(name: str, version: str, site: str) -> contents.Contents:
        return package(name, version=version, site=site)

    python, cubin = flashinfer("flashinfer-python", "0.6.16", "/a"), flashinfer("flashinfer-cubin", "0.6.13", "/b")
    assert answer(python, cubin)[0] == "yes"
    assert answer(python, flashinfer("flashinfer-cubin", "0.6.13", "/a"))[0] == "no"
    assert answer(python, flashinfer("flashinfer-cubin", "0.6.13", ""))[0] == "no", "a wheel goes into any of them"


@pytest.mark.parametrize(
    ("line", "version", "expected"),
    [
        ("torch==2.8.0", "2.9.1+cu130", "no"),
        ("torch==2.9.0", "2.9.1", "perhaps"),
        ("torch==2.9.1", "2.9.1+cu130", "yes"),
        ("torch==2.8.0; platform_machine == 'x86_64'", "2.9.1", "yes"),
        ("torch==2.8.0; platform_system == 'Linux'", "2.9.1", "no"),
        ("torch==2.8.0; sys_platform == 'win32'", "2.9.1", "yes"),
        ("torch==2.8.0; extra == 'x'", "2.9.1", "yes"),
    ],
)
def test_unmet_requirement(line: str, version: str, expected: str) -> None:
    torch = package("torch", library("torch/lib/libtorch_cuda.so", "12.0"), version=version)
    vision = package("torchvision", library("torchvision/_C.so"), requires=[line])
    assert answer(torch, vision)[0] == expected


@pytest.mark.parametrize(
    ("inspected", "expected"),
    [
        (package("nvidia-cuda-nvrtc-cu12", version="12.8.93"), "perhaps"),
        (package("nvidia-cuda-nvrtc", library("nvidia/lib/libnvrtc.so.13", release="13.0"), version="13.0.88"), "yes"),
        (package("torch-nvrtc", library("torch/lib/libnvrtc-b51b459d.so.12", release="12.8")), "perhaps"),
        (package("nvidia-cuda-nvcc-cu12", version="12.8.93"), "perhaps"),
        (package("triton", version="3.5.1"), "perhaps"),
        (package("triton", version="3.6.0"), "yes"),
        (package("nvidia-cuda-nvcc-cu12-stubs", version="12.8.93"), "yes"),
        (package("pytorch-triton", version="3.5.0+git1b0418a9"), "perhaps"),
        (package("triton", library("triton/bin/ptxas", release="12.8"), version="3.5.1"), "perhaps"),
        (package("triton", library("triton/bin/ptxas", release="12.8"),
                 library("triton/bin/ptxas-blackwell", release="12.9"), version="3.6.0"), "yes"),
        (package("triton", library("triton/bin/ptxas", release="13.0"), version="3.5.1+sf"), "yes"),
    ],
)  # fmt: skip
def test_compiler_without_support_for_gpu(inspected: contents.Contents, expected: str) -> None:
    verdict, findings = answer(inspected)
    assert verdict == expected
    assert ("compiler" in {kind for _level, kind in findings}) is (expected == "perhaps")
    assert answer(inspected, device=judge.Device(capability="12.0"))[0] == "yes"


def test_symbol_missing_from_other_package() -> None:
    torch = exporting("torch", f"{CHECK}jb", path="torch/lib/libc10_cuda.so")
    torch["libraries"].append(library("torch/lib/libtorch_cuda.so", "12.0"))

    def extension(symbol: str, *needed: str) -> contents.Contents:
        return package("kernels", library("kernels/_C.so", needed=" ".join(needed), undefined=[(symbol, "")]))

    assert answer(torch, extension(f"{CHECK}ib", "libc10_cuda.so")) == ("no", {("no", "symbol")})
    assert answer(torch, extension(f"{CHECK}jb", "libc10_cuda.so")) == ("yes", set())
    # None of its dependencies has this namespace, and the driver's symbols are unknown, so neither counts as a fault.
    assert answer(torch, extension("_ZN6others3runEv", "libc10_cuda.so"))[0] == "yes"
    assert answer(torch, extension(f"{CHECK}ib", "libother.so"))[0] == "no"
    assert answer(torch, extension("cudaMalloc", "libother.so"))[0] == "yes"
    module = extension(f"{CHECK}ib", "libc10_cuda.so")
    module["libraries"] += [library("kernels/libplain.so")]
    assert answer(torch, module)[0] == "perhaps"
    module["libraries"][0]["path"] = "kernels/_C.abi3.so"
    assert answer(torch, module)[0] == "no"
    nccl = exporting("nvidia-nccl-cu13", "ncclCommInitRank", path="nvidia/nccl/lib/libnccl.so.2")
    assert answer(nccl, extension("ncclCommShrink", "libnccl.so.2"))[0] == "no"
    # One match is enough for libraries whose names differ only in numbers.
    both = package("kernels", library("k/sm90/ops.so", needed="libc10_cuda.so", undefined=[(f"{CHECK}ib", "")]),
                   library("k/sm100/ops.so", needed="libc10_cuda.so"))  # fmt: skip
    assert answer(torch, both)[0] == "yes"


def test_symbols_newer_than_host() -> None:
    def needing(**versions: str) -> contents.Contents:
        return package("kernels", library("kernels/_C.so", versions=versions))

    assert answer(needing(GLIBC="2.41")) == ("no", {("no", "host")})
    assert answer(needing(GLIBC="2.39", GLIBCXX="3.4.33", CXXABI="1.3.15")) == ("yes", set())
    assert answer(needing(GLIBCXX="3.4.34"))[0] == "no"
    assert answer(needing(GLIBCXX="3.4.34"), package("own", library("own/libstdc++.so.6")))[0] == "yes"
    assert answer(needing(GLIBC="2.41"), device=judge.Device(host={"GLIBC": "2.41"}))[0] == "yes"
    assert answer(needing(GLIBC_PRIVATE="libpthread.so.0")) == ("perhaps", {("perhaps", "host")})
    assert answer(needing(GLIBC_PRIVATE="libc.so.6"), package("own", library("own/libc.so.6")))[0] == "yes"
    assert answer(package("k", file="k-1-cp312-cp312-manylinux_2_41_aarch64.whl"))[1] == {("no", "platform")}
    assert answer(package("k", file="k-1-cp312-cp312-manylinux_2_17_aarch64.manylinux_2_41_aarch64.whl"))[0] == "yes"


def test_no_package_is_not_a_yes() -> None:
    assert judge.judge([], SPARK)["verdict"] == "perhaps"


def test_unread_files_are_listed() -> None:
    thing = package("thing", library("thing/_C.so", "12.0"), unread={"a": 2, "ptx": 1})
    result = judge.judge([thing], SPARK, unread=["git+https://example.com/x"])
    assert result["not_looked_at"][0] == "git+https://example.com/x"
    assert {"2 files named .a", "1 file named .ptx"} <= set(result["not_looked_at"])
    assert "not looked at: git+https://example.com/x; " in judge.table(result)


@pytest.mark.parametrize(
    "wrong",
    [{"capability": "12.1a"}, {"capability": "new"}, {"capability": "12.1f"}, {"cuda": "13"}, {"cuda": "13.0.2"},
     {"cuda": "13.0\n"}, {"python": "3"}, {"python": "3.12 "}],
)  # fmt: skip
def test_invalid_device_is_refused(wrong: dict[str, t.Any]) -> None:
    with pytest.raises(SparkforgeError):
        judge.Device(**wrong)


def test_table_shows_requested_and_faulty_packages() -> None:
    result = judge.judge(
        [package("thing", sources=3), package("quiet", sources=3), package("dep", library("d.so", "8.0"))],
        SPARK,
        ["thing"],
    )
    table = judge.table(result)
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:4]] == ["thing", "dep"]
    assert "3 files of CUDA C++" in table
    assert table.splitlines()[-1].startswith("perhaps: ")
    assert "1 more" in table


def test_wheel_is_read_without_installing_it(tmp_path: Path) -> None:
    code = gpu_library.write(tmp_path / "_C.so", "9.0", "12.0").read_bytes()
    linked = elf_writer.elf_bytes(soname="libx.so.1", needed=["libc.so.6"])
    files = {"thing/_C.so": code, "thing/libx.so.1": linked, "thing/k.cu": "", "d.so": b"\x7fELF"}
    wheel = write_wheel(tmp_path, "thing", "1.0", files, ["torch>=2"])
    thing = contents.of_wheel(str(wheel), str(tmp_path))
    assert (thing["name"], thing["version"], thing["requires"]) == ("thing", "1.0", ["torch>=2"])
    assert (thing["files"], thing["sources"], thing["file"]) == (4, 1, wheel.name)
    assert "d.so is a damaged ELF file" in thing["damaged"][0]
    by_path = {library["path"]: library for library in thing["libraries"]}
    assert (by_path["thing/_C.so"]["cubins"], by_path["thing/_C.so"]["ptx"]) == (["9.0"], ["12.0"])
    assert (by_path["thing/libx.so.1"]["soname"], by_path["thing/libx.so.1"]["machine"]) == ("libx.so.1", "aarch64")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_C.so", wheel.name], "temporary files are left"


def test_containers_outside_nvcc_sections_are_read(tmp_path: Path) -> None:
    path = gpu_library.write(tmp_path / "libcufft.so.12", "7.5")
    near_miss = gpu_library.fatbin("13.0")[:4] + b"\xff" * 40
    path.write_bytes(
        path.read_bytes() + bytes(70_000) + near_miss + gpu_library.fatbin("12.0") + gpu_library.fatbin("", "9.0")
    )
    wheel = write_wheel(tmp_path, "thing", "1.0", {"libcufft.so.12": path.read_bytes()})
    (cufft,) = contents.of_wheel(str(wheel), str(tmp_path))["libraries"]
    assert (cufft["cubins"], cufft["ptx"]) == (["12.0", "7.5"], ["9.0"])


def test_findings_for_wheels_on_disk(tmp_path: Path) -> None:
    guard = b"\0This kernel only supports sm120.\n\0"
    ptxas = elf_writer.elf_bytes(kind=2, message=b"\0Cuda compilation tools, release 12.8, V12.8.93\0")
    extension = elf_writer.elf_bytes(
        needed=["libc10_cuda.so", "libc.so.6"],
        undefined=[f"{CHECK}ib", "memcpy@GLIBC_2.41", "PyList_New"],
        versions={"libc.so.6": ["GLIBC_2.17", "GLIBC_2.41", "GLIBC_PRIVATE"]},
    )
    code = bytearray(gpu_library.write(tmp_path / "x.so", "9.0a 10.0f 12.0a 12.1f").read_bytes() + guard)
    code[18:20] = elf_writer.AARCH64.to_bytes(2, "little")
    files: dict[str, dict[str, bytes | str]] = {
        "guarded": {"guarded/_C.abi3.so": bytes(code)},
        "flashinfer-cubin": {"cubins/fmhaSm100aKernel_1.cubin": elf_writer.cubin("10.0a")},
        "triton": {"triton/backends/nvidia/bin/ptxas": ptxas},
        "torch": {
            "torch/lib/libc10_cuda.so": elf_writer.elf_bytes(soname="libc10_cuda.so", exports=[f"{CHECK}jb"]),
            "torch/lib/libtorch_cuda.so": elf_writer.elf_bytes(soname="libtorch_cuda.so"),
        },
        "kernels": {"kernels/_C.so": extension},
    }
    wheels = [str(write_wheel(tmp_path, name, "3.6", content)) for name, content in files.items()]
    result = judge.paths(wheels, SPARK)
    kinds = {(finding["package"], finding["level"], finding["kind"]) for finding in result["findings"]}
    assert kinds == {
        ("guarded", "perhaps", "guard"), ("flashinfer-cubin", "perhaps", "gpu_code"), ("triton", "perhaps", "compiler"),
        ("kernels", "no", "symbol"), ("kernels", "no", "host"), ("kernels", "perhaps", "host"),
    }  # fmt: skip
    assert result["verdict"] == "no"
    assert any("requirements of" in row for row in result["not_looked_at"])


def test_unknown_symbol_tables_are_not_damage(tmp_path: Path) -> None:
    odd = bytearray(elf_writer.elf_bytes(needed=["libc.so.6"], exports=["a_b"]))
    entry = next(at for at in range(64, 512, 8) if odd[at : at + 8] == (6).to_bytes(8, "little"))
    odd[entry + 8 : entry + 16] = (1 << 40).to_bytes(8, "little")
    result = judge.paths([str(wheel_with(tmp_path, "thing/x.so", bytes(odd)))], SPARK)
    assert result["verdict"] == "yes"
    assert "the symbols of 1 binary with unknown tables" in result["not_looked_at"]


def test_endless_texts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(b"only " * 2_000 + b"".join(b"\0only sm%d" % (50 + number) for number in range(90)))
    guards = texts.read(str(path), deadline.Deadline(900, "It")).guards
    assert len(guards) == 50
    assert max(map(len, guards)) <= 2 * 240
    # Texts that are split across two blocks are found.
    path.write_bytes(bytes((1 << 20) - 5) + b"only sm120\0" + bytes(1 << 20) + b"release 12.8, V\0")
    assert texts.read(str(path), deadline.Deadline(900, "It")) == (["only sm120"], "")
    monkeypatch.setattr(deadline, "time", types.SimpleNamespace(monotonic=itertools.count(0, 901).__next__))
    with pytest.raises(SparkforgeError, match="read within 900 s"):
        texts.read(str(path), deadline.Deadline(900, "It"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rootfs/etc/environment", "NVIDIA_REQUIRE_CUDA=cuda>=13.1\n"),
        ("config.json", '{"process": {"env": ["PATH=/bin", "NVIDIA_REQUIRE_CUDA=cuda\\u003e=13.1"]}}'),
        ("rootfs/config.json", '{"config": {"Env": ["NVIDIA_REQUIRE_CUDA=cuda>=13.1"]}}'),
    ],
)
def test_image_for_newer_driver(tmp_path: Path, name: str, content: str) -> None:
    root = tmp_path / "rootfs"
    for path in ("usr", "etc"):
        (root / path).mkdir(parents=True)
    (tmp_path / name).write_text(content)
    for target in (root, tmp_path) if name == "config.json" else (root,):
        result = judge.paths([str(target)], SPARK)
        assert (result["verdict"], result["findings"][0]["kind"]) == ("no", "image")
    (tmp_path / name).write_text(content.replace("13.1", "13.1 brand=tesla,driver>=580,driver<581"))
    assert judge.paths([str(root)], SPARK)["verdict"] == "perhaps"
    with pytest.raises(SparkforgeError, match="no Python package"):
        judge.paths([str(root)], judge.Device(cuda="13.1"))


def test_mounted_image_with_newer_cuda(tmp_path: Path) -> None:
    # `podman image mount` does not reveal environment variables.
    for path in ("usr/local/cuda-13.1", "usr/local/cuda-12.9", "etc"):
        (tmp_path / path).mkdir(parents=True)
    result = judge.paths([str(tmp_path)], SPARK)
    assert (result["verdict"], result["findings"][0]["kind"]) == ("perhaps", "image")


def test_libc_of_image_counts(tmp_path: Path) -> None:
    root = tmp_path / "image"
    files = {"thing/_C.so": elf_writer.elf_bytes(needed=["libc.so.6"], versions={"libc.so.6": ["GLIBC_2.41"]})}
    unpack(write_wheel(tmp_path, "thing", "1.0", files), root / "opt/venv/lib/python3.12/site-packages")
    libc = elf_writer.elf_bytes(soname="libc.so.6", message=b"\0GLIBC_2.17\0GLIBC_2.41\0")
    for path in ("usr", "etc", "lib"):
        (root / path).mkdir()
    (root / "lib/libc.so.6").write_bytes(libc)
    assert judge.paths([str(root)], SPARK)["verdict"] == "yes"
    (root / "lib/libc.so.6").write_bytes(libc.replace(b"2.41", b"2.36"))
    assert judge.paths([str(root)], SPARK)["verdict"] == "no"


def test_bare_library_is_read_as_a_package(tmp_path: Path) -> None:
    read = contents.of_wheel(str(gpu_library.write(tmp_path / "libthing.so.1", "9.0")), str(tmp_path))
    assert [library["cubins"] for library in read["libraries"]] == [["9.0"]]
    assert (read["name"], answer(read)[0]) == ("libthing.so.1", "no")


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("thing-1.0-py3-none-any.whl", b"text", "not a zip file"),
        ("thing-1.0-py3-none-any.whl", None, "No such file"),
        ("thing.whl", b"", "is not a wheel file name"),
    ],
)
def test_file_that_is_not_a_wheel(tmp_path: Path, name: str, content: bytes | None, cause: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SparkforgeError, match=cause):
        contents.of_wheel(str(tmp_path / name), str(tmp_path))


@pytest.mark.parametrize(
    ("members", "cause"),
    [
        ("thing.py", r"exactly one \.dist-info directory"),
        ("thing-1.0.dist-info/WHEEL thing-1.0.dist-info/RECORD", r"directory with METADATA"),
        ("thing-1.0.dist-info/WHEEL thing-1.0.dist-info/RECORD thing-1.0.dist-info/METADATA.txt",
         r"directory with METADATA"),
    ],
)  # fmt: skip
def test_zip_without_metadata_is_not_a_wheel(tmp_path: Path, members: str, cause: str) -> None:
    with zipfile.ZipFile(tmp_path / "thing-1.0-py3-none-any.whl", "w") as archive:
        for member in members.split():
            archive.writestr(member, "Name: thing\n")
    with pytest.raises(SparkforgeError, match=cause):
        contents.of_wheel(str(tmp_path / "thing-1.0-py3-none-any.whl"), str(tmp_path))


def unpack(wheel: Path, site: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)


def test_image_is_judged_by_its_own_loader_and_packages(tmp_path: Path) -> None:
    root = tmp_path / "image"
    libraries = {
        "thing/_C.so": elf_writer.elf_bytes(needed=["libc.so.6", "libtorch.so", "libgone.so.1"]),
        "thing/lib/libtorch.so": elf_writer.elf_bytes(soname="libtorch.so"),
    }
    unpack(write_wheel(tmp_path, "thing", "1.0", libraries), root / "opt/venv/lib/python3.12/site-packages")
    elf_writer.write_elf(root / "lib/libc.so.6", soname="libc.so.6")
    for name in ("usr", "etc"):
        (root / name).mkdir()
    result = run_module("inspect_info", target=str(root))
    assert result["verdict"] == "perhaps", result
    (finding,) = result["findings"]
    assert finding["kind"] == "soname"
    assert "libgone.so.1, needed by _C.so" in finding["what"]
    assert "libtorch" not in finding["what"]
    assert "libc.so" not in finding["what"]


def test_foreign_environment_is_judged_without_host_loader(tmp_path: Path) -> None:
    site = tmp_path / "venv/lib/python3.12/site-packages"
    unpack(write_wheel(tmp_path, "thing", "1.0", {"thing/_C.so": elf_writer.elf_bytes(needed=["libc.so.6"])}), site)
    result = run_module("inspect_info", target=str(tmp_path / "venv"))
    assert (result["verdict"], result["packages"][0]["libraries"]) == ("yes", 1)


def wheel_with(directory: Path, name: str, content: bytes) -> Path:
    """Write the wheel ``thing`` with this member."""
    path = write_wheel(directory, "thing", "1.0", {})
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in {**members, name: content}.items():
            archive.writestr(member, data)
    return path


def test_huge_metadata_is_refused(tmp_path: Path) -> None:
    path = wheel_with(tmp_path, "thing-1.0.dist-info/METADATA", b"Name: thing\n" + bytes(5 << 20))
    assert path.stat().st_size < 20_000
    with pytest.raises(SparkforgeError, match=r"METADATA has more than 4 MiB"):
        contents.of_wheel(str(path), str(tmp_path))


def test_library_with_huge_names_is_damaged(tmp_path: Path) -> None:
    linked = elf_writer.elf_bytes(soname="n" * (2 << 20), needed=["n" * (1 << 20)])
    thing = contents.of_wheel(str(wheel_with(tmp_path, "thing/x.so", linked)), str(tmp_path))
    assert thing["libraries"] == []
    assert "more than 4096 bytes" in thing["damaged"][0]


def test_library_too_large_for_disk_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel_with(tmp_path, "thing/x.so", elf_writer.elf_bytes(padding=2 << 20))
    room = types.SimpleNamespace(f_bavail=65, f_frsize=1 << 20)
    monkeypatch.setattr(os, "statvfs", lambda _path: room)
    with pytest.raises(SparkforgeError, match=r"'thing/x.so' in thing-1.0-py3-none-any.whl needs 2.1 MB, and"):
        contents.of_wheel(str(path), str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == [path.name], "temporary files are left"


def test_reading_stops_at_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock advances by fifteen minutes and one second at each call.
    monkeypatch.setattr(deadline, "time", types.SimpleNamespace(monotonic=itertools.count(0, 901).__next__))
    path = wheel_with(tmp_path, "thing/x.so", elf_writer.elf_bytes())
    unpack(path, tmp_path / "image/site-packages")
    plain = write_wheel(tmp_path / "plain", "thing", "1.0", {})
    for attempt in (
        lambda: contents.of_wheel(str(path), str(tmp_path)),
        lambda: contents.of_wheel(str(plain), str(tmp_path)),
        lambda: FileSystem("/", deadline.Deadline(900, "It")).outside("/etc"),
        lambda: contents.of_environments(str(tmp_path / "image")),
        lambda: contents.of_environments("/", str(tmp_path / "image")),
    ):
        with pytest.raises(SparkforgeError, match="read within 900 s") as raised:
            attempt()
        assert "to be slow" in raised.value.remedy


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image with one package, next to a file of the host's that the inspection must not read."""
    (tmp_path / "outside").write_text("Name: outside\nVersion: 66\nRequires-Dist: secret\n")
    elf_writer.write_elf(tmp_path / "outside.so", soname="outside.so")
    unpack(write_wheel(tmp_path, "thing", "1.0", {"thing/x.so": elf_writer.elf_bytes()}), tmp_path / "image/site")
    return tmp_path / "image"


@pytest.mark.parametrize("kind", ["pipe", "device", "climbing", "absolute", "through a directory", "loop", "large"])
@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
def test_only_files_of_image_are_read(image: Path, name: str, kind: str) -> None:
    info = image / "site/thing-1.0.dist-info"
    path = info / name
    path.unlink()
    outside = image.parent / "outside"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        (image / "dev").mkdir()
        path.symlink_to("/dev/zero")
    elif kind == "climbing":
        path.symlink_to("../../../outside")
    elif kind == "absolute":
        path.symlink_to(outside)
    elif kind == "through a directory":
        (info / "up").symlink_to(image.parent)
        path.symlink_to("up/outside")
    elif kind == "loop":
        path.symlink_to(name)
    else:
        with path.open("wb") as stream:
            stream.truncate(1 << 40)
    (thing,) = contents.of_environments(str(image))
    assert (thing["name"], thing["requires"]) == ("thing", [])
    assert thing["version"] == ("" if name == "METADATA" else "1.0")
    (damage,) = thing["damaged"]
    assert damage.startswith(f"/site/thing-1.0.dist-info/{name} is not")
    assert len(thing["libraries"]) == (name == "METADATA")


def test_link_within_image_is_followed(image: Path) -> None:
    info = image / "site/thing-1.0.dist-info"
    (image / "store").mkdir()
    for name in ("METADATA", "RECORD"):
        (info / name).rename(image / "store" / name)
    (info / "METADATA").symlink_to("/store/METADATA")
    (info / "RECORD").symlink_to("../../store/RECORD")
    (thing,) = contents.of_environments(str(image))
    assert (thing["version"], len(thing["libraries"]), thing["damaged"]) == ("1.0", 1, [])


def test_link_swapped_before_open_is_refused(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory is replaced with a link after its path is resolved and before the file is opened."""
    outside = FileSystem.outside

    def swap_after_resolving(self: FileSystem, path: str) -> str:
        resolved = outside(self, path)
        if resolved.endswith("/RECORD"):
            (image / "site").rename(image / "was")
            (image / "site").symlink_to(image.parent / "elsewhere")
        return resolved

    unpack(image.parent / "thing-1.0-py3-none-any.whl", image.parent / "elsewhere")
    monkeypatch.setattr(FileSystem, "outside", swap_after_resolving)
    (thing,) = packages.distributions(["/site"], FileSystem(str(image))).values()
    assert packages.record(thing, FileSystem(str(image))) is None


@pytest.mark.parametrize(
    "row", ["/outside.so", "../../outside.so", "../../../../../../../../dev/null", "thing/up/outside.so", "a\0b"]
)
def test_record_reads_nothing_outside_image(image: Path, row: str) -> None:
    (image / "site/thing/up").symlink_to("../../..")
    with (image / "site/thing-1.0.dist-info/RECORD").open("a") as stream:
        stream.write(f"{row},sha256=YQ,\n")
    (thing,) = contents.of_environments(str(image))
    assert [library["path"] for library in thing["libraries"]] == ["/site/thing/x.so"]


def test_control_characters_in_names_are_not_printed(image: Path) -> None:
    attack = "\x1b]0;title\x07\x1b[2J\u202e"
    info = image / "site/thing-1.0.dist-info"
    (info / "METADATA").write_text(f"Name: thing{attack}\nVersion: 1{attack}\n")
    library = elf_writer.elf_bytes(soname=f"a{attack}", needed=[f"b{attack}"])
    (image / f"site/thing/{attack}.so").write_bytes(library)
    (image / f"site/thing/{attack}damaged.so").write_bytes(library[:40])
    with (info / "RECORD").open("a") as stream:
        stream.write(f"thing/{attack}.so,sha256=YQ,\nthing/{attack}damaged.so,sha256=YQ,\n")
    result = judge.judge(contents.of_environments(str(image)), SPARK)
    printed = f"{result}{judge.table(result)}"
    assert {finding["kind"] for finding in result["findings"]} >= {"damaged", "soname"}
    assert not re.search(r"\\x1b|\\x07|\\u202e|[\x1b\x07\u202e]", printed)


@pytest.mark.parametrize(("count", "last"), [(100, "80 more"), (20, "19 is damaged")])
def test_twenty_damaged_files_are_listed(count: int, last: str) -> None:
    thing = package("thing", damaged=[f"{number} is damaged" for number in range(count)])
    findings = judge.judge([thing], SPARK)["findings"]
    assert len(findings) == min(count, 21) and findings[-1]["what"].startswith(last)


def test_endless_directories_are_refused(image: Path) -> None:
    try:
        path = str(image)
        for _depth in range(1200):
            path += "/d"
            os.mkdir(path)
        with pytest.raises(SparkforgeError, match="are nested more than 100 deep") as raised:
            contents.of_environments(str(image))
        assert raised.value.remedy
    finally:
        disk.remove(str(image / "d"))


def test_too_many_names_in_directory_are_refused(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "NAMES_LIMIT", 50)
    (image / "many").mkdir()
    for number in range(51):
        (image / "many" / str(number)).write_text("")
    with pytest.raises(SparkforgeError, match="/many has more than 50"):
        contents.of_environments(str(image))


@pytest.mark.parametrize("kind", ["pipe", "large", "a circle of includes", "includes without end"])
def test_endless_loader_configuration_is_ignored(image: Path, kind: str) -> None:
    (image / "etc").mkdir()
    if kind == "pipe":
        os.mkfifo(image / "etc/ld.so.cache")
        os.mkfifo(image / "etc/ld.so.conf")
    elif kind == "large":
        for name in ("ld.so.cache", "ld.so.conf"):
            with (image / "etc" / name).open("wb") as stream:
                stream.truncate(1 << 40)
    else:
        for number in range(2000):
            following = 0 if kind == "a circle of includes" and number == 5 else number + 1
            (image / f"etc/{number}.conf").write_text(f"include {following}.conf\n/lib{number}\n")
        (image / "etc/0.conf").rename(image / "etc/ld.so.conf")
    (thing,) = contents.of_environments(str(image))
    assert len(thing["libraries"]) == 1


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("nothing", "does not exist"), ("a file", "neither a directory"), ("an empty directory", "no Python package"),
     ("a.tar.gz", "a source distribution")],
)  # fmt: skip
def test_target_without_packages_is_refused(tmp_path: Path, kind: str, cause: str) -> None:
    path = tmp_path / kind
    if kind.startswith("a") and "directory" not in kind:
        path.write_text("")
    elif kind != "nothing":
        path.mkdir()
    result = run_module("inspect_info", target=str(path))
    assert result["failed"]
    assert str(path) in result["cause"] and cause in result["cause"]
    assert result["remedy"]
