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
    """Return some real libraries of this host, whichever machine it is."""
    found: dict[str, None] = {}
    for directory in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"):
        if os.path.isdir(directory):
            for name in sorted(os.listdir(directory)):
                path = os.path.realpath(os.path.join(directory, name))
                if ".so." in name and reader.is_elf(path):
                    found[path] = None
    return list(found)[::7][:60]


def by_pyelftools(path: str) -> dict[str, t.Any]:
    with open(path, "rb") as stream:
        elf = ELFFile(stream)
        segments: list[t.Any] = list(elf.iter_segments())
        tags = [tag for segment in segments if segment.header.p_type == "PT_DYNAMIC" for tag in segment.iter_tags()]

        def one(name: str, attribute: str) -> str | None:
            return next((getattr(tag, attribute) for tag in tags if tag.entry.d_tag == name), None)

        runpath = one("DT_RUNPATH", "runpath")
        return {
            "bits": elf.elfclass,
            "little_endian": elf.little_endian,
            "machine": struct.unpack_from("<H" if elf.little_endian else ">H", pathlib.Path(path).read_bytes(), 18)[0],
            "soname": one("DT_SONAME", "soname"),
            "needed": tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
            "rpath": one("DT_RPATH", "rpath") if runpath is None else None,
            "runpath": runpath,
            "interpreter": next((s.get_interp_name() for s in segments if s.header.p_type == "PT_INTERP"), None),
        }


@pytest.mark.parametrize("path", SYSTEM)
def test_a_real_program_is_read_as_pyelftools_reads_it(path: str) -> None:
    ours = reader.read_elf(path)
    assert {key: getattr(ours, key) for key in by_pyelftools(path)} == by_pyelftools(path)


def test_real_libraries_are_read_as_pyelftools_reads_them() -> None:
    libraries = system_libraries()
    assert len(libraries) > 20
    for path in libraries:
        ours = reader.read_elf(path)
        expected = by_pyelftools(path)
        assert {key: getattr(ours, key) for key in expected} == expected, path


def test_a_library_is_read_with_where_it_looks_for_others(tmp_path: pathlib.Path) -> None:
    needed, runpath = ["libc.so.6", "libm.so.6"], "$ORIGIN/../lib"
    path = elf_writer.write_elf(
        tmp_path / "x.so", soname="x.so", needed=needed, runpath=runpath, rpath="/ignored", interpreter="/lib/ld.so.1"
    )
    elf = reader.read_elf(str(path))
    assert (elf.needed, elf.interpreter) == (tuple(needed), "/lib/ld.so.1")
    assert (elf.soname, elf.runpath, elf.rpath) == ("x.so", runpath, None)


@pytest.mark.parametrize(("bits", "machine", "little_endian"), [(32, 3, True), (32, 40, False), (64, 22, False)])
def test_a_file_of_another_class_or_byte_order_is_named_and_not_read(
    tmp_path: pathlib.Path, bits: int, machine: int, little_endian: bool
) -> None:
    path = elf_writer.write_elf(
        tmp_path / "x.so", needed=["libc.so.6"], machine=machine, bits=bits, little_endian=little_endian
    )
    elf = reader.read_elf(str(path))
    assert (elf.bits, elf.little_endian, elf.machine, elf.needed) == (bits, little_endian, machine, ())


def test_the_writer_writes_what_pyelftools_can_read(tmp_path: pathlib.Path) -> None:
    path = elf_writer.write_elf(tmp_path / "a.so", soname="a.so", needed=["b.so"], rpath="/x:/y")
    assert by_pyelftools(str(path))["needed"] == ("b.so",)
    assert by_pyelftools(str(path))["rpath"] == "/x:/y"


def test_a_file_without_section_headers_is_read(tmp_path: pathlib.Path) -> None:
    data = bytearray(pathlib.Path(sys.executable).resolve().read_bytes())
    data[40:48] = bytes(8)  # e_shoff
    data[58:64] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    (tmp_path / "stripped").write_bytes(data)
    assert reader.read_elf(str(tmp_path / "stripped")).needed == reader.read_elf(sys.executable).needed


def test_a_name_longer_than_one_piece_is_read_whole(tmp_path: pathlib.Path) -> None:
    name = "lib" + "x" * 700 + ".so"
    path = elf_writer.write_elf(tmp_path / "a.so", needed=[name, "libc.so.6"])
    assert reader.read_elf(str(path)).needed == (name, "libc.so.6")


def test_a_static_program_has_no_dynamic_section(tmp_path: pathlib.Path) -> None:
    path = elf_writer.write_elf(tmp_path / "static", dynamic=False, kind=2)
    assert not reader.read_elf(str(path)).dynamic


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is empty"),
        (b"#!/bin/sh\nexit 0\n", "it is a script"),
        (b"hello, this is a text file\n", "it is text"),
        (b"!<arch>\n/               ", "static archive"),
        (b"/* GNU ld script */ GROUP ( /lib/libc.so.6 )", "linker script"),
        (b"PK\x03\x04 something zipped", "it begins with 50 4b 03 04"),
        (b"\x7fEL", "it begins with 7f 45 4c"),
    ],
)
def test_what_is_no_elf_file_is_named_for_what_it_is(tmp_path: pathlib.Path, content: bytes, says: str) -> None:
    (tmp_path / "x.so").write_bytes(content)
    with pytest.raises(reader.NotElfError, match=says):
        reader.read_elf(str(tmp_path / "x.so"))


@pytest.mark.parametrize("size", [4, 15, 16, 40, 63, 64, 100, 200, 250])
def test_a_cut_off_file_is_one_clear_error(tmp_path: pathlib.Path, size: int) -> None:
    data = elf_writer.elf_bytes(soname="libx.so.1", needed=["libc.so.6"], padding=4096)
    (tmp_path / "x.so").write_bytes(data[:size])
    with pytest.raises(reader.CorruptElfError, match="damaged ELF file") as failure:
        reader.read_elf(str(tmp_path / "x.so"))
    assert "sha256" in failure.value.remedy


def test_a_file_that_lacks_only_its_end_is_called_cut_off(tmp_path: pathlib.Path) -> None:
    data = elf_writer.elf_bytes(soname="libx.so.1", needed=["libc.so.6"], padding=4096)
    (tmp_path / "x.so").write_bytes(data[:-1])
    with pytest.raises(reader.CorruptElfError, match=f"truncated: its program headers cover {len(data)} bytes"):
        reader.read_elf(str(tmp_path / "x.so"))


def test_no_single_damaged_byte_leads_to_anything_but_an_answer_or_a_clear_error(tmp_path: pathlib.Path) -> None:
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


def test_a_path_that_does_not_exist_is_a_clear_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(reader.UnreadableFileError, match="does not exist"):
        reader.read_elf(str(tmp_path / "gone.so"))


def test_a_directory_and_a_pipe_are_refused_without_waiting(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(reader.UnreadableFileError, match="not a regular file"):
        reader.read_elf(str(tmp_path / "pipe"))
    with pytest.raises(reader.UnreadableFileError, match="is a directory"):
        reader.read_elf(str(tmp_path))


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ({"needed": ["n" * 5000]}, "a name in its dynamic section has more than 4096 bytes"),
        ({"soname": "n" * (1 << 20)}, "a name in its dynamic section has more than 4096 bytes"),
        ({"runpath": "/lib:" * 20_000}, "a name in its dynamic section has more than 65536 bytes"),
        ({"needed": ["n"] * 5000}, "its dynamic section claims 80048 bytes"),
    ],
)
def test_names_without_end_are_refused_and_not_read(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, description: dict[str, t.Any], says: str
) -> None:
    elf_writer.write_elf(tmp_path / "x.so", **description)
    read: list[int] = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *given: (read.append(given[1]), pread(*given))[1])
    with pytest.raises(reader.CorruptElfError, match=says):
        reader.read_elf(str(tmp_path / "x.so"))
    assert sum(read) < 3 * reader.SEARCH_LIMIT


def test_a_search_path_of_many_directories_is_read(tmp_path: pathlib.Path) -> None:
    path = ":".join(f"$ORIGIN/../../nvidia/{number}/lib" for number in range(500))
    elf_writer.write_elf(tmp_path / "x.so", runpath=path)
    assert reader.read_elf(str(tmp_path / "x.so")).runpath == path


@pytest.mark.parametrize(
    ("size", "count", "says"), [(57, 1, "claim 57 bytes each"), (56, 2000, "2000 program headers")]
)
def test_a_table_of_headers_that_linux_does_not_take_is_not_read(
    tmp_path: pathlib.Path, size: int, count: int, says: str
) -> None:
    data = bytearray(elf_writer.elf_bytes(padding=1 << 20))
    struct.pack_into("<HH", data, 54, size, count)
    (tmp_path / "x.so").write_bytes(data)
    with pytest.raises(reader.CorruptElfError, match=says):
        reader.read_elf(str(tmp_path / "x.so"))


def test_the_magic_alone_decides_whether_a_file_is_elf(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text").write_text("x")
    assert not reader.is_elf(str(tmp_path / "text"))
    assert not reader.is_elf(str(tmp_path / "gone"))
    assert not reader.is_elf(str(tmp_path))
    assert reader.is_elf(sys.executable)
