"""Reading .deb files with dpkg-deb; hostile and damaged files are refused with a cause and remain unchanged."""

import gzip
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import deb as _deb, tools
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import apt_state

from tests.unit.signed_repository import build_deb, require, with_control

require("dpkg-deb")


@pytest.fixture
def deb(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    tree = tmp_path / "tree"
    (tree / "var/thing").mkdir(parents=True)
    (tree / "var/thing/a file -> x").write_text("x" * 5000)
    (tree / "var/thing/link").symlink_to("../elsewhere -> odd")
    return build_deb(
        tree, tmp_path, getattr(request, "param", "xz"),
        Package="thing", Version="1:2.0-1", Architecture="all", Description="short\n long text",
    )  # fmt: skip


@pytest.mark.parametrize("deb", ["xz", "gzip", "none", "zstd"], indirect=True)
def test_control_fields_and_files(deb: Path):
    fields = _deb.control(str(deb))
    assert (fields["package"], fields["version"], fields["description"]) == ("thing", "1:2.0-1", "short\n long text")
    assert _deb.files(str(deb)) == ["/var/thing/a file -> x"]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "Debian package: dpkg-deb"),
        (b"<html><body>Sign in</body></html>", "Debian package: it is"),
        (b"PK\x03\x04 a zip" * 20, "not a Debian format archive"),
        (b"!<arch>\ngarbage", "Debian package"),
    ],
)
def test_other_file_is_refused(tmp_path: Path, content: bytes, cause: str):
    path = tmp_path / "x.deb"
    path.write_bytes(content)
    with pytest.raises(SparkforgeError, match=cause) as raised:
        _deb.control(str(path))
    assert raised.value.remedy
    assert path.read_bytes() == content


@pytest.mark.parametrize("deb", ["xz", "gzip", "none", "zstd"], indirect=True)
def test_truncated_deb_is_refused(deb: Path):
    deb.write_bytes(deb.read_bytes()[:-10])
    with pytest.raises(SparkforgeError, match=r"damaged: dpkg-deb.*end of file"):
        _deb.files(str(deb))


@pytest.mark.skipif(shutil.which("ar") is None, reason="ar is not installed on this machine")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Architecture", "all\n \tConflicts: openssh-server\n Replaces: openssh-server"),
        ("Version", "1.0\n Essential: yes"),
        ("Version", "1.0;true"),
        ("Version", "1.0 Essential: yes"),
        ("Version", "-1"),
        ("Package", "thing\n Essential: yes"),
        ("Package", "Thing"),
        ("Package", "../thing"),
        ("Architecture", "all amd64"),
    ],
)
def test_invalid_control_field_is_refused(deb: Path, name: str, value: str):
    fields = {"Package": "thing", "Version": "1:2.0-1", "Architecture": "all", name: value}
    hostile = with_control(deb, "".join(f"{key}: {text}\n" for key, text in fields.items()))
    with pytest.raises(SparkforgeError, match=f"Debian package: its {name} field is ") as raised:
        _deb.control(str(hostile))
    assert "\n" not in raised.value.cause and raised.value.remedy


@pytest.mark.parametrize("name", ["Package", "Version", "Architecture"])
def test_missing_control_field_is_refused(name: str, monkeypatch: pytest.MonkeyPatch):
    fields = {"Package": "thing", "Version": "1:2.0-1", "Architecture": "all"}
    for text in ("", *(["\n"] if name == "Version" else [])):
        lines = [f"{key}: {value}\n" for key, value in {**fields, name: text}.items() if key != name or text]
        monkeypatch.setattr(_deb, "_dpkg_deb", lambda *_arguments, lines=lines: "".join(lines))
        with pytest.raises(SparkforgeError, match=f"Debian package: it has no {name} field") as raised:
            _deb.control("x.deb")
        assert raised.value.remedy


def test_continuation_line_is_not_a_field():
    """deb822(5): a continuation line starts with a blank, and only a newline ends a line."""
    text = "Package: a\n \tEssential: yes\nTag: b\x0cEssential: yes\x85Essential: yes\n .\n"
    (fields,) = apt_state.paragraphs(text)
    assert fields == {"package": "a\n Essential: yes", "tag": "b\x0cEssential: yes\x85Essential: yes\n ."}
    assert apt_state.paragraphs("".join(f"{name}: {value}\n" for name, value in fields.items())) == [fields]


def with_data(deb: Path, data: bytes, name: str = "data.tar") -> str:
    """Return a copy of a .deb with a different data member that dpkg-deb would not pack."""
    folder = deb.parent / "members"
    folder.mkdir()
    subprocess.run(["ar", "x", deb], cwd=folder, check=True)
    next(folder.glob("data.tar*")).unlink()
    (folder / name).write_bytes(data)
    control = next(folder.glob("control.tar*")).name
    subprocess.run(["ar", "rc", "evil.deb", "debian-binary", control, name], cwd=folder, check=True)
    return str(folder / "evil.deb")


@pytest.mark.skipif(shutil.which("ar") is None, reason="ar is not installed on this machine")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("./../../etc/passwd", tarfile.REGTYPE), ("/etc/passwd", tarfile.REGTYPE),
        ("./x -> ../../etc/passwd", tarfile.REGTYPE), ("./../x", tarfile.SYMTYPE), ("./dev/null", tarfile.CHRTYPE),
        ("./dev/sda", tarfile.BLKTYPE), ("./var/pipe", tarfile.FIFOTYPE),
    ],
)  # fmt: skip
def test_path_outside_the_tree_and_device_are_refused(deb: Path, name: str, kind: bytes):
    entry = tarfile.TarInfo(name)
    entry.type = kind
    with pytest.raises(SparkforgeError, match="outside its tree"):
        _deb.files(with_data(deb, entry.tobuf() + bytes(1024)))


@pytest.mark.parametrize(("size", "succeeds"), [(16 << 20, True), ((16 << 20) + 1, False)])
def test_tool_output_is_limited(size: int, succeeds: bool):
    status, output, _stderr = tools.ask(["head", "-c", str(size), "/dev/zero"], seconds=60)
    assert (status == 0, len(output)) == (succeeds, 16 << 20)


def test_file_list_is_limited(deb: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tools, "OUTPUT_LIMIT", 100)
    with pytest.raises(SparkforgeError, match="truncated or damaged"):
        _deb.files(str(deb))


@pytest.mark.skipif(shutil.which("ar") is None, reason="ar is not installed on this machine")
def test_long_names_are_refused_in_little_memory(deb: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_deb, "_MEMORY", 64 << 20)
    size = 64 << 20
    long = tarfile.TarInfo("././@LongLink")
    long.type, long.size = tarfile.GNUTYPE_LONGNAME, size
    data = gzip.compress(long.tobuf() + b"n" * size + tarfile.TarInfo("./x").tobuf() + bytes(1024))
    with pytest.raises(SparkforgeError, match="damaged: tar: memory exhausted"):
        _deb.files(with_data(deb, data, "data.tar.gz"))


def test_deb_larger_than_the_disk_is_refused(deb: Path, monkeypatch: pytest.MonkeyPatch):
    class Small:
        f_bavail, f_frsize = _deb._RESERVE + 4999, 1

    monkeypatch.setattr(os, "statvfs", lambda _path: Small)
    with pytest.raises(SparkforgeError, match=r"needs 0.0 MB, and .* has 67.1 MB free"):
        _deb.files(str(deb))
