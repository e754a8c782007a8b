# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is a .deb and what is not, and what is in one."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import deb as _deb
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.signed_repository import build_deb, require

require("dpkg-deb")


def run(argv: list[str]) -> tuple[int, str, str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def deb(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    tree = tmp_path / "tree"
    (tree / "var/thing").mkdir(parents=True)
    (tree / "var/thing/a file").write_text("x")
    (tree / "var/thing/link").symlink_to("../elsewhere -> odd")
    return build_deb(
        tree, tmp_path, getattr(request, "param", "xz"),
        Package="thing", Version="1:2.0-1", Architecture="all", Description="short\n long text",
    )  # fmt: skip


def ar(path: Path, *members: tuple[str, bytes]) -> Path:
    data = _deb.AR_MAGIC
    for name, content in members:
        data += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        data += b"\n" * (len(content) % 2)
    path.write_bytes(data)
    return path


def tar(name: str = "./control", content: bytes = b"Package: x\nVersion: 1\nArchitecture: all\n") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


VERSION = ("debian-binary", b"2.0\n")


@pytest.mark.parametrize("deb", ["xz", "gzip", "none", "zstd"], indirect=True)
def test_the_control_fields_are_those_that_dpkg_deb_prints(deb: Path):
    fields = _deb.control(str(deb), run)
    expected = subprocess.run(
        ["dpkg-deb", "-f", str(deb), "Package", "Version"], check=True, capture_output=True, text=True
    ).stdout
    assert f"Package: {fields['Package']}\nVersion: {fields['Version']}\n" == expected
    assert fields["Description"] == "short\nlong text"


@pytest.mark.parametrize("deb", ["zstd"], indirect=True)
def test_zst_without_dpkg_deb_is_said_to_be_unreadable(deb: Path):
    names = [member.name for member in _deb.members(str(deb))]
    if "control.tar.zst" not in names:
        pytest.skip(f"this dpkg-deb writes {names[1]} and not control.tar.zst")
    with pytest.raises(SparkforgeError, match="zst"):
        _deb.control(str(deb))


def test_the_paths_have_their_type_and_no_link_target(deb: Path):
    assert _deb.paths(str(deb), run) == [
        ("d", "/"),
        ("d", "/var"),
        ("d", "/var/thing"),
        ("-", "/var/thing/a file"),
        ("l", "/var/thing/link"),
    ]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "is not a Debian package"),
        (b"<html><body>Sign in</body></html>", "an HTML page"),
        (b"PK\x03\x04 a zip", "begins with"),
        (b"!<arch>\n", "debian-binary"),
        (b"!<arch>\ngarbage", "no ar header at byte 8"),
    ],
)
def test_what_is_not_a_deb_ends_in_one_clear_error(tmp_path: Path, content: bytes, cause: str):
    path = tmp_path / "x.deb"
    path.write_bytes(content)
    with pytest.raises(SparkforgeError, match=cause) as raised:
        _deb.control(str(path), run)
    assert raised.value.remedy
    assert path.read_bytes() == content


def test_a_deb_that_is_cut_off_says_where_it_should_have_ended(deb: Path):
    whole = deb.read_bytes()
    deb.write_bytes(whole[:-40])
    with pytest.raises(SparkforgeError, match=f"cut off: its member data.tar.* ends at byte .*, the file at byte "
                                              f"{len(whole) - 40}"):  # fmt: skip
        _deb.control(str(deb), run)


@pytest.mark.parametrize(
    ("members", "cause"),
    [
        ([("control.tar", tar()), VERSION], "first member is not debian-binary"),
        ([VERSION, ("data.tar", tar("./a"))], "not exactly one control.tar"),
        ([VERSION, ("control.tar", tar())], "not exactly one data.tar"),
        (
            [VERSION, ("control.tar", tar()), ("control.tar.xz", b""), ("data.tar", b"")],
            "exactly one control.tar",
        ),
        ([("debian-binary", b"3.0\n"), ("control.tar", tar()), ("data.tar", b"")], "format version"),
        ([VERSION, ("control.tar.xz", b"junk"), ("data.tar", b"")], "control.tar.xz is damaged"),
        ([VERSION, ("control.tar", tar("./other")), ("data.tar", b"")], "no control file"),
        ([VERSION, ("control.tar", tar(content=b"Package: x\n")), ("data.tar", b"")], "no Version field"),
    ],
)
def test_an_odd_container_is_refused(tmp_path: Path, members: list, cause: str):
    with pytest.raises(SparkforgeError, match=cause):
        _deb.control(str(ar(tmp_path / "odd.deb", *members)), run)


def test_a_path_that_leaves_the_tree_is_refused(tmp_path: Path):
    path = ar(tmp_path / "evil.deb", VERSION, ("control.tar", tar()), ("data.tar", tar("./../../etc/passwd")))
    with pytest.raises(SparkforgeError, match="leaves the tree"):
        _deb.paths(str(path), run)
    assert sorted(os.listdir(tmp_path)) == ["evil.deb"]
