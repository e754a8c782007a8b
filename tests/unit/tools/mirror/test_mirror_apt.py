# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""apt's part of a mirror: places, sources that name it, and what a Release file vouches for."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.tools.mirror import apt
from ansible_collections.sparkforge.dgx_spark.tools.mirror.directory import Directory

from tests.unit.signed_repository import Keys, build_deb, require, sign
from tests.unit.web_server import Server

NVIDIA = "https://nvidia.example"
MIRROR = {"http://ports.example/ubuntu-ports/": "https://m.example/apt/ports.example/ubuntu-ports"}
OPTIONS = ["Check-Valid-Until: no", "Targets: Packages", "Languages: none", "By-Hash: no"]


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        (f"{NVIDIA}/compute/cuda/repos/u/sbsa/./x_1%3a1.deb", "nvidia/compute/cuda/repos/u/sbsa/x_1%3a1.deb"),
        (f"{NVIDIA}/compute/", "nvidia/compute"),
        ("http://ports.example:8080//ubuntu/pool/x.deb", "apt/ports.example_8080/ubuntu/pool/x.deb"),
        ("http://user:word@ports.example/ubuntu/", "apt/ports.example/ubuntu"),
    ],
)
def test_where_a_repository_s_file_lies(uri: str, path: str) -> None:
    assert apt.place(uri, NVIDIA) == path


@pytest.mark.parametrize(
    "uri",
    ["file:///srv/repo", "cdrom:x", "http:///x", "http://a.example/../x", "nothing", "http://[", "mirror+file:/etc/x",
     "mirror://a.example/x", "ssh://-oProxyCommand=x/y", f"{NVIDIA}/compute/../../../../escaped/"],
)  # fmt: skip
def test_what_is_served_by_nobody_has_no_place(uri: str) -> None:
    with pytest.raises(SparkforgeError, match="cannot be mirrored"):
        apt.place(uri, NVIDIA)


def test_sources_of_one_line_name_the_mirror() -> None:
    text = "deb http://ports.example/ubuntu-ports noble main\ndeb-src http://ports.example/ubuntu-ports noble main\n"
    text += "deb [signed-by=/usr/share/keyrings/a.gpg] http://ports.example/ubuntu-ports/ noble main\n# a note\n"
    assert apt.rewritten(text, MIRROR).splitlines() == [
        "deb [check-valid-until=no target=Packages lang=none by-hash=no]"
        " https://m.example/apt/ports.example/ubuntu-ports noble main",
        "deb [check-valid-until=no target=Packages lang=none by-hash=no signed-by=/usr/share/keyrings/a.gpg]"
        " https://m.example/apt/ports.example/ubuntu-ports noble main",
        "# a note",
    ]


def test_sources_of_several_lines_name_the_mirror() -> None:
    text = "Types: deb deb-src\nBy-Hash: force\nURIs: http://ports.example/ubuntu-ports/\n"
    text += "Suites: noble\nSigned-By: /usr/x.gpg\n"
    assert apt.rewritten(f"{text}\n{text.replace('deb deb-src', 'deb-src')}", MIRROR).splitlines() == [
        "Types: deb",
        *OPTIONS,
        "URIs: https://m.example/apt/ports.example/ubuntu-ports",
        "Suites: noble",
        "Signed-By: /usr/x.gpg",
        "",
        "Types: deb",
        "Enabled: no",
        *OPTIONS,
        "URIs: https://m.example/apt/ports.example/ubuntu-ports",
        "Suites: noble",
        "Signed-By: /usr/x.gpg",
    ]


def test_keyrings_are_those_of_the_host_s_archive() -> None:
    text = (
        "deb [arch=arm64 signed-by=/etc/apt/a.gpg] http://x.example y\nSigned-By: /usr/b.gpg\nSigned-By:\n -----BEGIN"
    )
    assert apt.localised(text, "/tmp/r").splitlines() == [
        "deb [arch=arm64 signed-by=/tmp/r/etc/apt/a.gpg] http://x.example y",
        "Signed-By: /tmp/r/usr/b.gpg",
        "Signed-By:",
        " -----BEGIN",
    ]


def test_what_lies_on_the_host_itself_is_not_asked_for() -> None:
    text = "deb [signed-by=/x.gpg] file:///var/repo /\ndeb http://a.example b c\n"
    assert apt.localised(text, "/r") == "deb http://a.example b c\n"
    assert (
        apt.localised("Types: deb\nURIs: file:/var/repo\n", "/r") == "Types: deb\nEnabled: no\nURIs: file:/var/repo\n"
    )


RELEASE = f"""Origin: Debian
MD5Sum:
 {"0" * 32} 10 main/binary-arm64/Packages.xz
SHA256:
 {"1" * 64} 30 main/binary-arm64/Packages
 {"2" * 64} 20 main/binary-arm64/Packages.gz
 {"3" * 64} 10 main/binary-arm64/Packages.xz
Acquire-By-Hash: yes
"""


def test_the_smallest_form_of_an_index_is_taken_with_its_sha256() -> None:
    assert apt.smallest(RELEASE, "main/binary-arm64/Packages") == ("main/binary-arm64/Packages.xz", "3" * 64)
    assert apt.smallest(RELEASE.replace("Packages.xz", "Sources"), "main/binary-arm64/Packages")[1] == "2" * 64


@pytest.mark.parametrize("text", ["", "SHA256:\n", RELEASE.replace("SHA256", "SHA1"), RELEASE.replace("arm64", "i386")])
def test_an_index_that_nothing_vouches_for_is_refused(text: str) -> None:
    with pytest.raises(SparkforgeError, match="has no sha256 for main/binary-arm64/Packages"):
        apt.smallest(text, "main/binary-arm64/Packages")


def test_the_architecture_is_that_of_dpkg() -> None:
    status = "Package: libc6\nArchitecture: amd64\n\nPackage: dpkg\nStatus: install ok\n x\nArchitecture: arm64\n\n"
    assert apt.architecture(status) == "arm64"
    for text in ("", "Package: dpkg\n\nPackage: x\nArchitecture: arm64\n"):
        with pytest.raises(SparkforgeError, match="has no dpkg status file"):
            apt.architecture(text)


@pytest.mark.parametrize("content", [None, b"", b"no archive"])
def test_what_is_no_archive_of_a_host_is_refused(tmp_path, content: bytes | None) -> None:
    snapshot = tmp_path / "spark01.tar"
    if content is not None:
        snapshot.write_bytes(content)
    request = apt.Request(str(snapshot), ("gcc",), "0.8.1", 13, "", NVIDIA, "ubuntu2404", "0" * 40)
    directory = Directory(str(tmp_path / "mirror"), check=False, say=lambda _line: None)
    with pytest.raises(SparkforgeError, match=r"spark01\.tar (cannot be read|is not a host's archive)"):
        apt.collect(directory, request, "https://m.example")


# --- the archive of a host that nobody trusts ---


require("apt-get", "apt-ftparchive", "dpkg-deb", "gpg", "gpgconf")

STATUS = "Package: dpkg\nStatus: install ok installed\nArchitecture: arm64\nVersion: 1\n\n"


class Hostile(t.NamedTuple):
    """A controller that has the archive of a host."""

    request: apt.Request
    directory: Directory
    server: Server
    place: Path

    def packed(self, *entries: tuple[str, str], mode: int = 0o644) -> None:
        """Make the archive of a host whose files these are, beside dpkg's status."""
        with tarfile.open(self.request.snapshot, "w") as archive:
            for name, text in (("var/lib/dpkg/status", STATUS), *entries):
                member = tarfile.TarInfo(name)
                member.size, member.mode, member.uid = len(text.encode()), mode, 1234
                archive.addfile(member, io.BytesIO(text.encode()))

    def collect(self) -> None:
        apt.collect(self.directory, self.request, "https://m.example")

    def host(self) -> apt._Host:
        root = self.place / "unpacked"
        root.mkdir(exist_ok=True)
        return apt._Host(str(root), self.request, self.directory)

    def written(self) -> set[str]:
        return {path.relative_to(self.place).as_posix() for path in self.place.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[tuple[str, Keys]]:
    """The fingerprint of the key of NVIDIA's repository, and who has it."""
    keys = Keys(tmp_path_factory.mktemp("g") / "h")
    yield keys.make("Vendor <v@example.invalid>"), keys
    keys.close()


REPOSITORY = "/n/compute/cuda/repos/ubuntu2404/sbsa"


@pytest.fixture
def hostile(tmp_path: Path, key: tuple[str, Keys]) -> t.Iterator[Hostile]:
    server = Server()
    server.files[f"{REPOSITORY}/{apt.KEY}"] = key[1].gpg("--armor", "--export", key[0])
    request = apt.Request(str(tmp_path / "h.tar"), ("gcc",), "0.8.1", 13, "", f"{server.url}/n", "ubuntu2404", key[0])
    directory = Directory(str(tmp_path / "a/b/c/mirror"), check=False, say=lambda _line: None)
    yield Hostile(request, directory, server, tmp_path)
    server.close()


def test_an_archive_may_be_of_its_limit_and_no_more(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(hostile.request.snapshot, "wb") as stream:
        large = tarfile.TarInfo("usr/share/keyrings/large.gpg")
        large.size = (256 << 20) + 1
        stream.write(large.tobuf())
        # All but its header is a hole.
        stream.truncate(large.size + 4096)
    with pytest.raises(SparkforgeError, match="is too large"):
        hostile.host().unpack()
    assert hostile.written() == {"h.tar"}
    hostile.packed(("etc/apt/sources.list", ""))
    monkeypatch.setattr(apt, "SNAPSHOT_LIMIT", len(STATUS))
    hostile.host().unpack()
    hostile.packed(("etc/apt/sources.list", "#"))
    with pytest.raises(SparkforgeError, match="is too large"):
        hostile.host().unpack()


def test_a_controller_without_apt_is_said_before_anything_is_unpacked(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.packed()
    before = hostile.written()
    monkeypatch.setattr(apt.shutil, "which", lambda _name: None)
    with pytest.raises(SparkforgeError, match=r"The controller has no apt-get.*omit mirror_apt_snapshot"):
        hostile.collect()
    assert hostile.written() == before


def test_sources_that_apt_does_not_read_are_not_taken(hostile: Hostile) -> None:
    """Those that apt does not read may be anything, such as what an upgrade of the system kept."""
    nonsense = ("etc/apt/sources.list.d/x.list.distUpgrade", "deb mirror+file:/etc/passwd ./\n")
    hostile.packed(nonsense, ("etc/apt/sources.list.d/x.sources.save", "Types: deb\nURIs: ssh://x\nSuites: ./\n"))
    hostile.host().unpack()


@pytest.mark.parametrize(
    "source",
    ["mirror+file:/etc/passwd", "mirror://{address}/list", "ssh://-oProxyCommand=x/y", "rsh://a/b", "nonsense",
     "http://{address}/n/compute/../../../../escaped"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["deb {source} ./\n", "Types: deb\nURIs:\n {source}\nSuites: ./\n"])
def test_a_source_that_cannot_be_mirrored_is_refused_before_apt_runs(hostile: Hostile, source: str, form: str) -> None:
    name = "etc/apt/sources.list" + ("" if form.startswith("deb") else ".d/x.sources")
    text = form.format(source=source.format(address=hostile.server.url.rpartition("/")[2]))
    hostile.packed((name, text))
    before = hostile.written()
    with pytest.raises(SparkforgeError, match=r"cannot be mirrored: its URL is not http or https, or leads up"):
        hostile.collect()
    assert (hostile.server.paths, hostile.written()) == ([], before)


@pytest.mark.parametrize("hashed", [True, False])
def test_a_package_comes_with_the_sha256_that_its_repository_signs(
    hostile: Hostile, key: tuple[str, Keys], tmp_path: Path, hashed: bool
) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    deb = build_deb(tmp_path / "tree", folder, Package="gcc", Version="1", Architecture="arm64")
    sign(folder, key[1], key[0], without="" if hashed else "SHA256")
    for path in folder.iterdir():
        # apt asks for a package by the name in the index, which begins with a dot.
        hostile.server.files.update(dict.fromkeys((f"{REPOSITORY}/{path.name}", f"{REPOSITORY}/./{path.name}"),
                                                  path.read_bytes()))  # fmt: skip
    hostile.packed()
    if not hashed:
        with pytest.raises(SparkforgeError, match=r"apt has no sha256 for .*/gcc_1_arm64\.deb"):
            hostile.collect()
        return
    hostile.collect()
    place = f"{REPOSITORY.replace('/n/', 'nvidia/')}/{deb.name}"
    assert hostile.directory.has(place, hashlib.sha256(deb.read_bytes()).hexdigest())


@pytest.mark.parametrize("scheme", ["mirror", "mirror+file"])
def test_apt_itself_has_no_way_but_http_and_https(hostile: Hostile, scheme: str) -> None:
    """Of a line that only apt can read."""
    place = hostile.server.url.removeprefix("http:") if scheme == "mirror" else "/etc/passwd"
    hostile.packed(("etc/apt/sources.list", f'deb [lang="#"] {scheme}:{place} ./\n'))
    with pytest.raises(SparkforgeError) as refused:
        hostile.collect()
    assert refused.value.cause.endswith(f"cannot be mirrored: its URL is not http or https, but {scheme}.")
    # For the key, and for NVIDIA's repository, which the host lacks.
    assert {path.split("/")[1] for path in hostile.server.paths} == {"n"}


@pytest.mark.parametrize(
    "path", ["nvidia/compute/../../../escaped", "/etc/escaped", "a//b", "", ".", "a/.git/b", "a\nb"]
)
def test_nothing_outside_the_mirror_is_read_or_written(hostile: Hostile, path: str) -> None:
    before = hostile.written()
    for attempt in (
        lambda: hostile.directory.write(path, b"x", "https://a.example/x"),
        lambda: hostile.directory.fetch(path, f"{hostile.server.url}/x"),
        lambda: hostile.directory.has(path, "0" * 64),
    ):
        with pytest.raises(SparkforgeError, match="is not a path inside the mirror"):
            attempt()
    assert (hostile.server.paths, hostile.written()) == ([], before)


@pytest.mark.parametrize(
    "name",
    ["etc/apt/auth.conf", "etc/apt//auth.conf", "./etc/apt/./auth.conf", "etc/apt/auth.conf.d/a.conf",
     "etc/apt/x/../auth.conf", "etc//apt///auth.conf.d//a.conf"],
)  # fmt: skip
def test_the_passwords_of_a_host_stay_on_it(hostile: Hostile, name: str) -> None:
    hostile.packed((name, "machine a login b password word"), ("etc/apt/sources.list", "# none\n"))
    hostile.host().unpack()
    assert not [path for path in hostile.written() if "auth" in path]
    assert "unpacked/etc/apt/sources.list" in hostile.written()


@pytest.mark.parametrize("name", ["etc/apt/../../../escaped", "/etc/apt/escaped", "../etc/apt/escaped", "etc/escaped"])
def test_only_what_was_asked_for_is_unpacked_and_only_there(hostile: Hostile, name: str) -> None:
    hostile.packed((name, "x"), ("etc/apt/sources.list", "# none\n"), mode=0o6777)
    host = hostile.host()
    host.unpack()
    assert not [path for path in hostile.written() if "escaped" in path]
    taken = os.stat(host.at("var/lib/dpkg/status"))
    assert taken.st_uid == os.geteuid()
    assert stat.S_IMODE(taken.st_mode) & (stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH) == 0
