import functools
import os
import re
import shutil
import struct
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.deadline import Deadline, TooSlowError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import fatbin, reader
from elftools.elf.elffile import ELFFile

RECORDED = Path(__file__).parents[3] / "data/fatbin/kernels.so"
KERNEL = """
__global__ void scale(float *x, float by) { x[blockIdx.x * blockDim.x + threadIdx.x] *= by; }
void launch(float *x) { scale<<<1, 32>>>(x, 2.0f); }
"""
CALLER = """
__device__ float twice(float x);
__global__ void doubled(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
void launch(float *x) { doubled<<<1, 32>>>(x); }
"""
CALLED = "__device__ float twice(float x) { return 2 * x; }\n"
MAIN = "void launch(float *);\nint main() { launch(nullptr); }\n"


def embedded(cubins: str = "", ptx: str = "") -> fatbin.Embedded:
    return fatbin.Embedded(frozenset(cubins.split()), frozenset(ptx.split()))


# --- with nvcc -----------------------------------------------------------------------------------------------------


@functools.cache
def nvcc_fault() -> str:
    """Return the reason why this machine's nvcc cannot be used, or ''."""
    if shutil.which("nvcc") is None:
        return "nvcc is not on PATH: only the recorded library is read"
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False).stdout
    release = re.search(r"release (\d+)\.(\d+)", version)
    if release is None or (int(release[1]), int(release[2])) < (13, 0):
        return f"nvcc is {release[0] if release else 'of an unknown version'}; the targets of these tests need 13.0"
    return ""


def target(name: str) -> list[str]:
    """Return nvcc's options for a target: ``121a`` is machine code, ``ptx 120`` is PTX."""
    kind, _, number = name.rpartition(" ")
    return ["-gencode", f"arch=compute_{number},code={'compute' if kind else 'sm'}_{number}"]


def nvcc(directory: Path, *arguments: str, targets: str) -> None:
    if nvcc_fault():
        pytest.skip(nvcc_fault())
    sources = {"kernel.cu": KERNEL, "caller.cu": CALLER, "called.cu": CALLED, "main.cpp": MAIN}
    for name, text in sources.items():
        (directory / name).write_text(text)
    gencodes = [word for name in targets.split(",") for word in target(name.strip())]
    command = ["nvcc", "--threads", "0", "-O1", "-Xcompiler", "-fPIC", *gencodes, *arguments]
    subprocess.run(command, cwd=directory, check=True)


def check_with_cuobjdump(path: Path) -> None:
    """Compare with NVIDIA's own tool, if it is installed; it prints the number without the letter."""
    tool = shutil.which("cuobjdump")
    if tool is None:
        print("cuobjdump is not on PATH: compared only with the targets passed to nvcc")
        return
    command = [tool, "-all", "--list-elf", "--list-ptx", str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    architectures = fatbin.architectures(str(path))
    for kind, names in (("cubin", architectures.cubins), ("ptx", architectures.ptx)):
        numbers = {name.rstrip("af").replace(".", "") for name in names}
        assert set(re.findall(rf"\.sm_(\d+)[af]?\.{kind}", output)) == numbers


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ("90, 90a, 100f, 120, 120a, 121, 121a, ptx 120", embedded("9.0 9.0a 10.0f 12.0 12.0a 12.1 12.1a", "12.0")),
        ("120f, 121f, ptx 121a", embedded("12.0f 12.1f", "12.1a")),
        ("ptx 120f", embedded("", "12.0f")),
    ],
)
def test_shared_library_has_the_targets_of_nvcc(tmp_path: Path, targets: str, expected: fatbin.Embedded) -> None:
    nvcc(tmp_path, "-shared", "-cudart", "none", "kernel.cu", "-o", "lib.so", targets=targets)
    assert fatbin.architectures(str(tmp_path / "lib.so")) == expected
    check_with_cuobjdump(tmp_path / "lib.so")


@pytest.mark.parametrize(
    "options", ["--compress-mode none", "--compress-mode speed", "--compress-mode size", "-Xfatbin -compress-all"]
)
def test_compressed_code_is_read(tmp_path: Path, options: str) -> None:
    arguments = ["-shared", "-cudart", "none", *options.split(), "kernel.cu", "-o", "lib.so"]
    nvcc(tmp_path, *arguments, targets="90, ptx 120")
    assert fatbin.architectures(str(tmp_path / "lib.so")) == embedded("9.0", "12.0")
    check_with_cuobjdump(tmp_path / "lib.so")


def test_executable_with_relocatable_device_code(tmp_path: Path) -> None:
    nvcc(tmp_path, "-rdc=true", "caller.cu", "called.cu", "main.cpp", "-o", "program", targets="121, ptx 120")
    assert fatbin.architectures(str(tmp_path / "program")) == embedded("12.1", "12.0")
    check_with_cuobjdump(tmp_path / "program")


def test_object_file(tmp_path: Path) -> None:
    nvcc(tmp_path, "-dc", "caller.cu", "called.cu", targets="90, ptx 120")
    assert fatbin.architectures(str(tmp_path / "caller.o")) == embedded("9.0", "12.0")


def test_link_time_intermediate_code_does_not_count(tmp_path: Path) -> None:
    if nvcc_fault():
        pytest.skip(nvcc_fault())
    (tmp_path / "called.cu").write_text(CALLED)
    command = ["nvcc", "-dc", "-gencode", "arch=compute_120,code=lto_120", "called.cu"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert not fatbin.architectures(str(tmp_path / "called.o"))


# --- without nvcc --------------------------------------------------------------------------------------------------


def device_code() -> bytes:
    """Return the GPU code section of the recorded library."""
    with RECORDED.open("rb") as stream:
        section: t.Any = ELFFile(stream).get_section_by_name(".nv_fatbin")
        return t.cast("bytes", section.data())


def library(path: Path, sections: t.Mapping[str, bytes], *, at: int = 4096, bits: int = 2, hole: int = 0) -> Path:
    """Write a sparse ELF file with these sections.

    :param at: the offset of the first section; the bytes before it take no disk space.
    :param hole: the number of bytes by which each section is longer than its content.
    """
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    headers = [bytes(64)]
    position = at
    with path.open("wb") as stream:
        for name, content in {**sections, ".shstrtab": names}.items():
            stream.seek(position)
            stream.write(content)
            kind = 3 if name == ".shstrtab" else 1
            size = len(content) + (hole if kind == 1 else 0)
            name_offset = names.index(b"\0" + name.encode() + b"\0") + 1
            headers.append(struct.pack("<IIQQQQIIQQ", name_offset, kind, 0, 0, position, size, 0, 0, 1, 0))
            position += size + -size % 8
        stream.seek(position)
        stream.write(b"".join(headers))
        stream.seek(0)
        stream.write(b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9))
        count = len(headers)
        stream.write(struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, position, 0, 64, 56, 0, 64, count, count - 1))
    return path


def test_recorded_library_architectures() -> None:
    assert fatbin.architectures(str(RECORDED)) == embedded("9.0a 10.0f 12.0 12.1a", "12.0")
    check_with_cuobjdump(RECORDED)


def test_containers_separated_by_padding(tmp_path: Path) -> None:
    code = device_code()
    path = library(tmp_path / "lib.so", {".nv_fatbin": code + bytes(1000) + code, "__nv_relfatbin": code})
    assert fatbin.architectures(str(path)) == embedded("9.0a 10.0f 12.0 12.1a", "12.0")


def test_bare_fatbin_is_read(tmp_path: Path) -> None:
    (tmp_path / "kernels.fatbin").write_bytes(device_code())
    assert str(fatbin.architectures(str(tmp_path / "kernels.fatbin"))) == "9.0a, 10.0f, 12.0, 12.1a and PTX of 12.0"


def test_gigabyte_file_is_read_sparsely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = device_code()
    _magic, _version, _header, size = struct.unpack_from("<4sHHQ", code)
    # Append the entry of a 600 MB cubin for sm_90.
    body = 600 << 20
    entry = struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, body, 0, 0, 8, 1, 90, 0, 0, 0x11, 0, 0)
    container = struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, size + 64 + body) + code[16 : 16 + size] + entry
    path = library(tmp_path / "libtorch_cuda.so", {".nv_fatbin": container}, at=1 << 30, hole=body)
    assert path.stat().st_size > 1600 << 20
    assert path.stat().st_blocks * 512 < 1 << 20, "the file must be sparse"

    bytes_read = 0
    pread = os.pread

    def counting_pread(descriptor: int, length: int, offset: int) -> bytes:
        nonlocal bytes_read
        bytes_read += length
        return pread(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", counting_pread)
    assert fatbin.architectures(str(path)) == embedded("9.0 9.0a 10.0f 12.0 12.1a", "12.0")
    assert bytes_read < 4096


def test_section_count_above_16_bits(tmp_path: Path) -> None:
    path = library(tmp_path / "kernels.o", {".nv_fatbin": device_code()})
    data = bytearray(path.read_bytes())
    table = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<HH", data, 60, 0, 0xFFFF)
    struct.pack_into("<Q", data, table + 32, 3)
    struct.pack_into("<I", data, table + 40, 2)
    path.write_bytes(data)
    assert fatbin.architectures(str(path)) == embedded("9.0a 10.0f 12.0 12.1a", "12.0")


def test_file_without_gpu_code(tmp_path: Path) -> None:
    for path in (
        library(tmp_path / "plain.so", {".text": b"code"}),
        library(tmp_path / "narrow.so", {".nv_fatbin": device_code()}, bits=1),
        Path(shutil.which("sh") or "/bin/sh").resolve(),
    ):
        assert not fatbin.architectures(str(path))
    assert str(embedded()) == "no GPU code"


def test_debug_file_with_empty_sections(tmp_path: Path) -> None:
    path = library(tmp_path / "lib.so.debug", {".nv_fatbin": device_code()})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, struct.unpack_from("<Q", data, 40)[0] + 64 + 4, 8)
    path.write_bytes(data)
    assert not fatbin.architectures(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"hello, world\n", "it is text"), (b"", "it is empty"), (b"PK\x03\x04zip", "it begins with")],
)
def test_kind_of_file_without_gpu_code_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(reader.NotElfError, match=message):
        fatbin.architectures(str(tmp_path / "x"))


def test_unreadable_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(reader.UnreadableFileError, match="does not exist"):
        fatbin.architectures(str(tmp_path / "gone"))
    with pytest.raises(reader.UnreadableFileError, match="is a directory"):
        fatbin.architectures(str(tmp_path))


# --- hostile input ---


def library_with_false_containers(tmp_path: Path, number: int) -> Path:
    """Write a library with GPU code and this many magic numbers without a container."""
    return library(tmp_path / "slow.so", {".nv_fatbin": device_code(), ".text": fatbin.MAGIC * number})


def test_false_containers_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, is_block, pread = library_with_false_containers(tmp_path, 100_000), [], os.pread
    monkeypatch.setattr(os, "pread", lambda *arguments: (is_block.append(arguments[1] > 1024), pread(*arguments))[1])
    assert str(fatbin.architectures(str(path), everywhere=True)).startswith("9.0a, 10.0f")
    assert sum(is_block) < 20


@pytest.mark.parametrize("section", [".text", ".nv_fatbin"])
def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str) -> None:
    path = library_with_false_containers(tmp_path, 200)
    if section == ".nv_fatbin":
        path = library(path, {section: device_code() + struct.pack("<4sHHQ", fatbin.MAGIC, 1, 16, 0) * 200})
    assert fatbin.architectures(str(path), everywhere=True)
    monkeypatch.setattr(fatbin, "_ENTRIES_LIMIT", 100)
    with pytest.raises(reader.CorruptElfError, match="more than 100 entries"):
        fatbin.architectures(str(path), everywhere=True)


def test_too_many_sections_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = library(tmp_path / "x.so", {f".text.{number}": b"x" for number in range(50)})
    assert not fatbin.architectures(str(path))
    monkeypatch.setattr(fatbin, "_HEADERS_LIMIT", 40 * 64)
    with pytest.raises(reader.CorruptElfError, match="have 52 sections"):
        fatbin.architectures(str(path))


def test_deadline_is_checked(tmp_path: Path) -> None:
    path = library_with_false_containers(tmp_path, 100)
    with pytest.raises(TooSlowError, match=r"slow\.so could not .* -1 s"):
        fatbin.architectures(str(path), everywhere=True, deadline=Deadline(-1, "slow.so"))


def test_unknown_container_version_is_refused(tmp_path: Path) -> None:
    code = bytearray(device_code())
    code[4] = 2
    path = library(tmp_path / "lib.so", {".nv_fatbin": bytes(code)})
    message = r"shown\.so is .*: byte 4096 does not"
    with pytest.raises(reader.CorruptElfError, match=message):
        fatbin.architectures(str(path), "shown.so")


def test_damaged_bytes_are_read_or_refused(tmp_path: Path) -> None:
    complete = library(tmp_path / "whole.so", {".nv_fatbin": device_code()}, at=64).read_bytes()
    table = struct.unpack_from("<Q", complete, 40)[0]
    path = tmp_path / "x.so"
    refused = 0
    for position in [*range(4, 220), *range(table, len(complete))]:
        for value in (0x00, 0x39, 0x7F, 0xFF):
            path.write_bytes(complete[:position] + bytes([value]) + complete[position + 1 :])
            try:
                fatbin.architectures(str(path))
            except reader.CorruptElfError:
                refused += 1
    for size in range(4, len(complete), 97):
        path.write_bytes(complete[:size])
        with pytest.raises(reader.CorruptElfError):
            fatbin.architectures(str(path))
    assert refused > 100


@pytest.mark.parametrize(
    ("cubins", "ptx", "capability", "runs"),
    [
        ("9.0", "", "12.0", False), ("10.0f", "", "12.1", False), ("", "9.0", "12.1", True),
        ("", "12.1", "12.0", False), ("", "12.0a", "12.1", False), ("", "12.0f", "12.1", True),
        ("8.6", "", "10.0", False),
    ],
)  # fmt: skip
def test_embedded_code_runs_on_capability(cubins: str, ptx: str, capability: str, runs: bool) -> None:
    assert embedded(cubins, ptx).runs_on(capability) is runs


@pytest.mark.parametrize(
    ("capability", "architectures", "runs"),
    [
        ("12.1", "12.0", True),
        ("12.0", "12.1", False),
        ("12.1", "12.0a", False),
        ("12.1", "12.1a", True),
        ("12.1", "12.0f", True),
        ("9.0", "8.0;8.6", False),
        ("9.0", "8.0;8.6+PTX", True),
        ("12.1", "8.0 9.0 12.0+PTX", True),
        ("12.1", "11.0", False),
        ("13.0", "12.0+PTX", True),
        # A family's PTX only runs on that family.
        ("13.0", "12.0f+PTX", False),
        ("12.1", "12.0f+PTX", True),
        ("12.1", "", False),
    ],
)
def test_architecture_list_runs_on_capability(capability: str, architectures: str, runs: bool) -> None:
    assert fatbin.parse_arch_list(architectures).runs_on(capability) is runs


def test_architectures_are_printed_in_numeric_order() -> None:
    assert str(embedded("12.0 9.0 10.0a", "8.0 12.0")) == "9.0, 10.0a, 12.0 and PTX of 8.0, 12.0"
    assert str(embedded("", "12.0")) == "PTX of 12.0"
    assert str(embedded("12.0") | embedded("12.1a")) == "12.0, 12.1a"


def test_architecture_names() -> None:
    assert all(map(fatbin.is_architecture, ["9.0", "12.1a", "10.0f"]))
    assert not any(map(fatbin.is_architecture, ["121", "sm_121", "12.1b", "12", "12.0+PTX", ""]))
