"""A library's undefined and exported symbols, with their versions."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import fatbin, reader, symbols

from tests.unit.plugins.module_utils import elf_writer

CHECK = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_"


def read(path: Path) -> symbols.Symbols:
    result = reader.read_elf(str(path), with_symbols=True).symbols
    assert result is not None
    return result


def test_symbols_and_versions_are_read(tmp_path: Path) -> None:
    path = elf_writer.write_elf(
        tmp_path / "x.so",
        undefined=[f"{CHECK}ib", "memcpy@GLIBC_2.41"],
        exports=["_ZN5thing3runEv", "nccl_run"],
        versions={"libc.so.6": ["GLIBC_2.17", "GLIBC_2.41"], "libstdc++.so.6": ["GLIBCXX_3.4.34"]},
    )
    result = read(path)
    assert result.undefined == ((f"{CHECK}ib", ""), ("memcpy", "libc.so.6"))
    assert result.exports == {symbols.checksum("_ZN5thing3runEv"), symbols.checksum("nccl_run")}
    assert result.families == {"thing", "nccl"}
    glibc = (("libc.so.6", "GLIBC_2.17"), ("libc.so.6", "GLIBC_2.41"))
    assert result.versions == (*glibc, ("libstdc++.so.6", "GLIBCXX_3.4.34"))
    assert reader.read_elf(str(path)).symbols is None, "symbols are read on request only"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        (f"{CHECK}ib", "c10"), ("_ZNK2at6Tensor4sizeEl", "at"), ("_ZTIN5torch5ErrorE", "torch"),
        ("_ZNSt6vectorIiE", ""), ("ncclCommInitRank", "nccl"), ("__nvJitLinkComplete_12_4", "nv"), ("PyList_New", ""),
        ("_Z9999999x", ""),
    ],
)  # fmt: skip
def test_family_is_the_namespace_or_the_prefix(name: str, family: str) -> None:
    assert symbols.family(name.encode()) == family


@pytest.mark.parametrize("style", ["gnu", "sysv"])
def test_tables_of_real_linker_are_read(tmp_path: Path, style: str) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler here")
    source = "int others(int); int thing_run(int x) { return others(x); } __attribute__((weak)) int maybe(void);\n"
    (tmp_path / "x.c").write_text(source + "int (*thing_maybe)(void) = maybe;\n")
    command = [compiler, "-shared", "-fPIC", f"-Wl,--hash-style={style}", "x.c", "-o", "x.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    result = read(tmp_path / "x.so")
    assert [name for name, soname in result.undefined if not soname] == ["others"]
    assert {symbols.checksum("thing_run"), symbols.checksum("thing_maybe")} <= result.exports


@pytest.mark.parametrize(
    ("tag", "value", "message"),
    [
        (symbols.DT_HASH, elf_writer.BASE + (1 << 40), "outside its segments"),
        (symbols.DT_STRSZ, 1 << 40, "bytes of names"),
        (symbols.DT_SYMTAB, elf_writer.BASE + (1 << 40), "outside its segments"),
        (symbols.DT_VERNEED, elf_writer.BASE, None),
    ],
)
def test_invalid_tables_are_refused(tmp_path: Path, tag: int, value: int, message: str | None) -> None:
    path = elf_writer.write_elf(tmp_path / "x.so", undefined=["a@V_1"], versions={"libc.so.6": ["V_1"]}, padding=4096)
    content = path.read_bytes()
    offset = next(offset for offset in range(64, 1024, 8) if struct.unpack_from("<q", content, offset)[0] == tag)
    path.write_bytes(content[: offset + 8] + struct.pack("<Q", value) + content[offset + 16 :])
    with pytest.raises(reader.CorruptElfError, match=message):
        read(path)


def test_too_many_symbols_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = elf_writer.write_elf(tmp_path / "x.so", exports=["a", "b", "c"])
    monkeypatch.setattr(symbols, "SYMBOLS_LIMIT", 2)
    with pytest.raises(reader.CorruptElfError, match="it claims 4 symbols"):
        read(path)
    monkeypatch.undo()
    monkeypatch.setattr(symbols, "VERSIONS_LIMIT", 2)
    path = elf_writer.write_elf(tmp_path / "y.so", versions={"libc.so.6": ["A_1", "A_2", "A_3"]})
    with pytest.raises(reader.CorruptElfError, match="more than 2 versions"):
        read(path)


@pytest.mark.parametrize("architecture", ["12.1", "12.0a", "10.0f", "9.0a", "8.0"])
@pytest.mark.parametrize("abi", [7, 8])
def test_architecture_of_cubin(tmp_path: Path, architecture: str, abi: int) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(elf_writer.cubin(architecture, abi))
    assert fatbin.architectures(str(path)).cubins == {architecture}
