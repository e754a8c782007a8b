import os
import pathlib
import struct
import sys
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import reader
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer
from elftools.elf.elffile import ELFFile

SYSTEM = [
    os.path.realpath(path)
    for path in (sys.executable, "/bin/ls", "/usr/bin/ssh", "/bin/bash", "/usr/bin/gcc")
    if os.path.exists(path)
]


def system_libraries() -> list[str]:
    """Return up to 60 of this host's own libraries."""
    directories = [pathlib.Path("/usr", name) for name in ("lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64")]
    paths = [os.path.realpath(path) for directory in directories for path in sorted(directory.glob("*.so.*"))]
    return [path for path in dict.fromkeys(paths) if reader.is_elf(path)][::7][:60]


def by_pyelftools(path: str) -> dict[str, t.Any]:
    with open(path, "rb") as stream:
        elf = ELFFile(stream)
        segments: list[t.Any] = list(elf.iter_segments())
        tags = [tag for segment in segments if segment.header.p_type == "PT_DYNAMIC" for tag in segment.iter_tags()]

        def first_value(name: str, attribute: str) -> str | None:
            return next((getattr(tag, attribute) for tag in tags if tag.entry.d_tag == name), None)

        runpath = first_value("DT_RUNPATH", "runpath")
        return {
            "bits": elf.elfclass,
            "little_endian": elf.little_endian,
            "machine": struct.unpack_from("<H" if elf.little_endian else ">H", pathlib.Path(path).read_bytes(), 18)[0],
            "soname": first_value("DT_SONAME", "soname"),
            "needed": tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
            "rpath": first_value("DT_RPATH", "rpath") if runpath is None else None,
            "runpath": runpath,
            "interpreter": next((s.get_interp_name() for s in segments if s.header.p_type == "PT_INTERP"), None),
        }


@pytest.mark.parametrize("path", SYSTEM)
def test_real_program_matches_pyelftools(path: str) -> None:
    elf = reader.read_elf(path)
    assert {key: getattr(elf, key) for key in by_pyelftools(path)} == by_pyelftools(path)


def test_real_libraries_match_pyelftools() -> None:
    libraries = system_libraries()
    assert len(libraries) > 20
    for path in libraries:
        elf = reader.read_elf(path)
        expected = by_pyelftools(path)
        assert {key: getattr(elf, key) for key in expected} == expected, path


def test_library_search_paths(tmp_path: pathlib.Path) -> None:
    needed, runpath = ["libc.so.6", "libm.so.6"], "$ORIGIN/../lib"
    path = elf_writer.write_elf(
        tmp_path / "x.so", soname="x.so", needed=needed, runpath=runpath, rpath="/ignored", interpreter="/lib/ld.so.1"
    )
    elf = reader.read_elf(str(path))
    assert (elf.needed, elf.interpreter) == (tuple(needed), "/lib/ld.so.1")
    assert (elf.soname, elf.runpath, elf.rpath) == ("x.so", runpath, None)


@pytest.mark.parametrize(("bits", "machine", "little_endian"), [(32, 3, True), (32, 40, False), (64, 22, False)])
def test_other_class_or_byte_order_is_not_read(tmp_path: pathlib.Path, bits: int, machine: int, little_endian: bool):
    header = {"machine": machine, "bits": bits, "little_endian": little_endian}
    elf = reader.read_elf(str(elf_writer.write_elf(tmp_path / "x.so", needed=["libc.so.6"], **header)))
    assert (elf.bits, elf.little_endian, elf.machine, elf.needed) == (bits, little_endian, machine, ())


def test_elf_writer_output_matches_pyelftools(tmp_path: pathlib.Path) -> None:
    path = elf_writer.write_elf(tmp_path / "a.so", soname="a.so", needed=["b.so"], rpath="/x:/y")
    assert by_pyelftools(str(path))["needed"] == ("b.so",)
    assert by_pyelftools(str(path))["rpath"] == "/x:/y"


def test_file_without_section_headers(tmp_path: pathlib.Path) -> None:
    data = bytearray(pathlib.Path(sys.executable).resolve().read_bytes())
    data[40:48] = bytes(8)  # e_shoff
    data[58:64] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    (tmp_path / "stripped").write_bytes(data)
    assert reader.read_elf(str(tmp_path / "stripped")).needed == reader.read_elf(sys.executable).needed


def test_long_name_is_read_completely(tmp_path: pathlib.Path) -> None:
    name = "lib" + "x" * 700 + ".so"
    path = elf_writer.write_elf(tmp_path / "a.so", needed=[name, "libc.so.6"])
    assert reader.read_elf(str(path)).needed == (name, "libc.so.6")


def test_static_program_is_not_dynamic(tmp_path: pathlib.Path) -> None:
    path = elf_writer.write_elf(tmp_path / "static", dynamic=False, kind=2)
    assert not reader.read_elf(str(path)).dynamic


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"#!/bin/sh\nexit 0\n", "a script"),
        (b"hello, this is a text file\n", "it is text"),
        (b"!<arch>\n/               ", "static archive"),
        (b"/* GNU ld script */ GROUP ( /lib/libc.so.6 )", "linker script"),
        (b"PK\x03\x04 something zipped", "it begins with 50 4b 03 04"),
        (b"\x7fEL", "it begins with 7f 45 4c"),
    ],
)
def test_kind_of_other_file_is_named(tmp_path: pathlib.Path, content: bytes, message: str) -> None:
    (tmp_path / "x.so").write_bytes(content)
    with pytest.raises(reader.NotElfError, match=message):
        reader.read_elf(str(tmp_path / "x.so"))


@pytest.mark.parametrize("size", [4, 15, 16, 40, 63, 64, 100, 200, 250])
def test_truncated_file_is_refused(tmp_path: pathlib.Path, size: int) -> None:
    data = elf_writer.elf_bytes(soname="libx.so.1", needed=["libc.so.6"], padding=4096)
    (tmp_path / "x.so").write_bytes(data[:size])
    with pytest.raises(reader.CorruptElfError, match="damaged ELF file") as failure:
        reader.read_elf(str(tmp_path / "x.so"))
    assert "sha256" in failure.value.remedy


def test_file_without_last_byte_is_truncated(tmp_path: pathlib.Path) -> None:
    data = elf_writer.elf_bytes(soname="libx.so.1", needed=["libc.so.6"], padding=4096)
    (tmp_path / "x.so").write_bytes(data[:-1])
    with pytest.raises(reader.CorruptElfError, match=f"headers cover {len(data)} bytes"):
        reader.read_elf(str(tmp_path / "x.so"))


def test_damaged_bytes_are_read_or_refused(tmp_path: pathlib.Path) -> None:
    data = elf_writer.elf_bytes(soname="libx.so.1", needed=["libc.so.6"], runpath="$ORIGIN", interpreter="/ld")
    path = tmp_path / "x.so"
    refused = 0
    for position in range(4, len(data)):
        for value in (0x00, 0x7F, 0xFF):
            path.write_bytes(data[:position] + bytes([value]) + data[position + 1 :])
            try:
                reader.read_elf(str(path))
            except reader.CorruptElfError:
                refused += 1
    assert refused > 100


def test_missing_path_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(reader.UnreadableFileError, match="does not exist"):
        reader.read_elf(str(tmp_path / "gone.so"))


def test_directory_and_pipe_are_refused(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(reader.UnreadableFileError, match="regular file"):
        reader.read_elf(str(tmp_path / "pipe"))
    with pytest.raises(reader.UnreadableFileError, match="is a directory"):
        reader.read_elf(str(tmp_path))


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"needed": ["n" * 5000]}, "has more than 4096 bytes"),
        ({"soname": "n" * (1 << 20)}, "has more than 4096 bytes"),
        ({"runpath": "/lib:" * 20_000}, "has more than 65536 bytes"),
        ({"needed": ["n"] * 5000}, "claims 80048 bytes"),
    ],
)
def test_endless_names_are_refused_and_not_read(tmp_path: pathlib.Path, monkeypatch, description, message):
    elf_writer.write_elf(tmp_path / "x.so", **description)
    sizes: list[int] = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *arguments: (sizes.append(arguments[1]), pread(*arguments))[1])
    with pytest.raises(reader.CorruptElfError, match=message):
        reader.read_elf(str(tmp_path / "x.so"))
    assert sum(sizes) < 3 * reader.SEARCH_LIMIT


def test_search_path_with_many_directories(tmp_path: pathlib.Path) -> None:
    path = ":".join(f"$ORIGIN/../../nvidia/{number}/lib" for number in range(500))
    elf_writer.write_elf(tmp_path / "x.so", runpath=path)
    assert reader.read_elf(str(tmp_path / "x.so")).runpath == path


@pytest.mark.parametrize(
    ("size", "count", "message"), [(57, 1, "claim 57 bytes each"), (56, 2000, "2000 program headers")]
)
def test_header_table_refused_by_linux_is_not_read(tmp_path: pathlib.Path, size: int, count: int, message: str) -> None:
    data = bytearray(elf_writer.elf_bytes(padding=1 << 20))
    struct.pack_into("<HH", data, 54, size, count)
    (tmp_path / "x.so").write_bytes(data)
    with pytest.raises(reader.CorruptElfError, match=message):
        reader.read_elf(str(tmp_path / "x.so"))


def test_is_elf_checks_the_magic_number(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text").write_text("x")
    assert not reader.is_elf(str(tmp_path / "text"))
    assert not reader.is_elf(str(tmp_path / "gone"))
    assert not reader.is_elf(str(tmp_path))
    assert reader.is_elf(sys.executable)
