# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a build made, wheels or an installed prefix: digests, build tag, and whether what was asked for is in it.

CMake continues without what it did not find and ends well. So the artefact itself is asked: which options CMake chose,
which libraries its files are linked with, which GPUs they have code for. A wheel is read in place; only its ELF files
are unpacked, one at a time.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import fnmatch
import functools
import hashlib
import io
import os
import re
import shutil
import stat
import typing as t
import zipfile
from dataclasses import dataclass

from .._core import digests, disk
from .._core.deadline import NEVER, Deadline
from .._core.errors import SparkforgeError
from .._elf import fatbin, reader
from .._fetch import archive_reader
from . import installed, metadata
from .requirement import normalised

_BLOCK = 1 << 20
#: Bytes that stay free where a file of a wheel is unpacked.
_RESERVE = 64 << 20
_ARCHIVE = b"!<arch>\n"
# PEP 427, "File name convention": five parts, or six with a build tag, which begins with a digit.
_WHEEL = re.compile(r"([^-]+)-([^-]+)(?:-(\d[^-]*))?-([^-]+)-([^-]+)-([^-]+)\.whl")
_BUILD_TAG = re.compile(r"\d[A-Za-z0-9_.]*")
_EXPECTED = frozenset({"version", "cmake_cache", "libraries", "architectures", "files"})
_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_FALSE = frozenset({"0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND", ""})
_SWITCH = re.compile(r"(?:USE|WITH|BUILD|ENABLE)_(?:SYSTEM_)?")
#: How the makers of a library write what an option of CMake says in capitals.
_NAMES = {
    "CUDA": "CUDA",
    "CUDNN": "cuDNN",
    "CUDSS": "cuDSS",
    "CUFILE": "cuFile",
    "CUSPARSELT": "cuSPARSELt",
    "MKLDNN": "oneDNN",
    "OPENMP": "OpenMP",
}


@dataclass(frozen=True)
class Artefact:
    """One wheel.

    :ivar path: where it is.
    :ivar name: its file name.
    :ivar distribution: the project's name as the index writes it (PEP 503): ``flash-attn``.
    :ivar version: with the local part, ``2.9.1+spark``.
    :ivar build: the build tag, empty if there is none.
    :ivar size: bytes.
    """

    path: str
    name: str
    distribution: str
    version: str
    build: str
    size: int

    @functools.cached_property
    def sha256(self) -> str:
        """The digest of the file, read when it is asked for: a PyTorch wheel takes a second."""
        return digests.of_file(self.path)

    @functools.cached_property
    def requires(self) -> tuple[str, ...]:
        """Each ``Requires-Dist`` of its METADATA, none where it has no such file."""
        with _opened(self.path) as archive:
            try:
                text = archive_reader.read_member(archive, f"{_dist_info(archive, self.name)}/METADATA", metadata.LIMIT)
            except KeyError:
                return ()
        return metadata.read(text).requires


def collect_wheels(directory: str) -> list[Artefact]:
    """Return the wheels that lie in ``directory``, by name; none where there is no such directory.

    :raises SparkforgeError: for one that is not whole, or whose name is not that of a wheel.
    """
    return [_wheel(os.path.join(directory, name)) for name in disk.names(directory) if name.endswith(".whl")]


def retag(path: str, build_tag: str) -> str:
    """Give a wheel a build tag and return its new path; one that has the tag already is left alone.

    The name, ``Build`` in WHEEL and the line of WHEEL in RECORD change; every other member is copied as it is
    compressed. The wheel of the old name goes when the new one is whole. A run that is killed between leaves both, and
    the next one replaces the new one.

    :raises SparkforgeError: for an invalid tag, or a wheel that is not whole.
    """
    if not _BUILD_TAG.fullmatch(build_tag):
        raise SparkforgeError(
            f"{build_tag!r} is not a valid build tag.", "Start with a digit, followed by letters, digits, '_' and '.'."
        )
    wheel = _wheel(path)
    parts = t.cast("re.Match[str]", _WHEEL.fullmatch(wheel.name))
    new = os.path.join(os.path.dirname(path), f"{parts[1]}-{parts[2]}-{build_tag}-{parts[4]}-{parts[5]}-{parts[6]}.whl")
    if new == path and _build_of(path) == build_tag:
        return path
    temporary = f"{new}.partial"
    try:
        with _opened(path) as old:
            info = _dist_info(old, wheel.name)
            text = _with_build(archive_reader.read_member(old, f"{info}/WHEEL", metadata.LIMIT), build_tag)
            record = archive_reader.read_member(old, f"{info}/RECORD", installed.RECORD_LIMIT)
            record = _with_digest(record, f"{info}/WHEEL", text, wheel.name)
            _copy_zip(old, temporary, {f"{info}/WHEEL": text, f"{info}/RECORD": record})
        os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, new)
    finally:
        disk.remove(temporary)
    if new != path:
        os.unlink(path)
    return new


def tree_digest(directory: str) -> dict[str, t.Any]:
    """Return ``{"sha256", "files", "size"}`` of a directory: the same for the same names, contents, links and modes.

    Of a file's mode only whether it is executable counts; times and owners do not.
    """
    digest = hashlib.sha256()
    files = size = 0
    for name, path in _tree(directory):
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            kind, content = "link", os.fsencode(os.readlink(path)).hex()
        elif stat.S_ISDIR(status.st_mode):
            kind, content = "directory", ""
        else:
            kind = "program" if status.st_mode & 0o100 else "file"
            content = digests.of_file(path)
            files += 1
            size += status.st_size
        digest.update(f"{kind} {content} {os.fsencode(name).hex()}\n".encode("ascii"))
    return {"sha256": digest.hexdigest(), "files": files, "size": size}


def check(
    expect: t.Mapping[str, t.Any],
    *,
    wheels: t.Iterable[Artefact] = (),
    prefix: str | None = None,
    caches: t.Iterable[str] = (),
) -> list[str]:
    """Return what was asked for and is not in the artefact, each in words; empty where all is.

    ``expect`` has any of

    - ``cmake_cache``: variable -> the value that CMake must have chosen. ``ON``, ``1``, ``true`` are the same; ``*``
      and ``?`` stand for anything but a ``-NOTFOUND``. Of several caches the outermost that has the variable counts,
      for projects within the project have options of the same names;
    - ``libraries``: patterns of SONAMEs, each of which some file must be linked with (``DT_NEEDED``);
    - ``architectures``: as in TORCH_CUDA_ARCH_LIST (``12.0``, ``12.1a``, ``12.0+PTX``). Some file must have code for
      each. Every file with GPU code must run on a plain one, and have the PTX of one with ``+PTX``, save files that
      have code for single capabilities (``a``, ``f``) alone;
    - ``files``: patterns of paths in the wheel or below the prefix, in which ``*`` stands for ``/`` too;
    - ``version``: of each wheel, with its local part. A build may go its own way, and its wheel pass for another.

    :param wheels: from :func:`collect_wheels`.
    :param prefix: a directory with what ``cmake --install`` put there.
    :param caches: paths of ``CMakeCache.txt``.
    :raises SparkforgeError: if ``expect`` itself is wrong, or a file cannot be read.
    """
    _check_expect(expect)
    if prefix is not None and not os.path.isdir(prefix):
        return [f"nothing was installed into {prefix}"]
    wheels = list(wheels)
    problems = []
    version = str(expect.get("version") or "")
    if version:
        problems += [
            f"{os.path.basename(wheel.path)} has version {wheel.version}, not {version}"
            for wheel in wheels
            if _plain(wheel.version) != _plain(version)
        ]
    values = expect.get("cmake_cache") or {}
    if values:
        problems += _check_caches(values, sorted(caches, key=lambda path: (path.count("/"), path)))
    sources: list[WheelFiles | _Prefix] = [WheelFiles(wheel) for wheel in wheels]
    if prefix is not None:
        sources.append(_Prefix(prefix))
    where = " or ".join(source.name for source in sources) or "nothing"
    patterns = [str(pattern) for pattern in expect.get("files") or ()]
    if patterns:
        names = [name for source in sources for name in source.names()]
        problems += [f"{where} has no file {pattern}" for pattern in patterns if not fnmatch.filter(names, pattern)]
    libraries = [str(pattern) for pattern in expect.get("libraries") or ()]
    wanted = [str(architecture) for architecture in expect.get("architectures") or ()]
    if libraries or wanted:
        linked: set[str] = set()
        embedded: dict[str, fatbin.Embedded] = {}
        for source in sources:
            for name, path in source.binaries():
                try:
                    if not name.endswith(".a"):
                        linked.update(reader.read_elf(path, name).needed)
                    found = fatbin.architectures(path, name) if wanted else None
                except (reader.CorruptElfError, reader.UnreadableFileError) as error:
                    problems.append(error.cause.rstrip("."))
                    continue
                if found:
                    embedded[f"{source.name}/{name}"] = found
        problems += _check_libraries(libraries, linked, where)
        problems += _check_architectures(wanted, embedded, where)
    return problems


# --- what is expected ----------------------------------------------------------------------------------------------


def _check_expect(expect: t.Mapping[str, t.Any]) -> None:
    """Refuse what would be skipped in silence: a key that is misspelt, an architecture that does not exist."""
    for key in expect:
        if key not in _EXPECTED:
            raise SparkforgeError(
                f"The option expect has an unknown key {key!r}.", f"Use one or more of {', '.join(sorted(_EXPECTED))}."
            )
    for architecture in expect.get("architectures") or ():
        if not fatbin.is_architecture(str(architecture).replace("+PTX", "")):
            raise SparkforgeError(
                f"{architecture!r} in expect.architectures names no GPU architecture.",
                "Write it in quotes, as in TORCH_CUDA_ARCH_LIST: '12.0', '12.1a', '12.0+PTX'.",
            )


def _plain(version: str) -> str:
    """Return a version as installers compare it: ``+CU130.007`` is ``+cu130.7``."""
    return re.sub(r"(?<![0-9a-z])0+(?=\d)", "", re.sub(r"[-_]", ".", version.lower()))


def _check_libraries(patterns: list[str], linked: set[str], where: str) -> list[str]:
    problems = []
    for pattern in patterns:
        if fnmatch.filter(linked, pattern):
            continue
        # libcudnn.so.8 instead of libcudnn.so.9 is another problem than no cuDNN at all.
        stem = re.split(r"\.so\b|[*?\[]", pattern)[0]
        others = sorted(name for name in linked if stem and re.split(r"\.so\b", name)[0] == stem)
        instead = f", which links {', '.join(others)} instead" if others else ""
        problems.append(f"{pattern} is not linked by any file of {where}{instead}")
    return problems


def _check_architectures(wanted: list[str], embedded: t.Mapping[str, fatbin.Embedded], where: str) -> list[str]:
    if wanted and not embedded:
        return [f"no file of {where} has GPU code, which was requested for {', '.join(wanted)}"]
    problems = []
    held = ", nor in ".join(f"{os.path.basename(name)}: it holds {found}" for name, found in sorted(embedded.items()))
    for item in wanted:
        architecture = item.replace("+PTX", "")
        if not any(architecture in found.cubins for found in embedded.values()):
            problems.append(f"no code for {architecture} in {held}")
        elif architecture[-1] not in "af":
            problems += [
                f"no code that runs on {architecture} in {os.path.basename(name)}: it holds {found}"
                for name, found in sorted(embedded.items())
                if not _is_specific(found) and not found.runs_on(architecture)
            ]
        if item.endswith("+PTX"):
            problems += [
                f"no PTX of {architecture} in {os.path.basename(name)}: it holds {found}"
                for name, found in sorted(embedded.items())
                if not _is_specific(found) and architecture not in found.ptx
            ]
    return problems


def _is_specific(found: fatbin.Embedded) -> bool:
    """Say whether a file has code for single capabilities alone, which its caller chooses by the GPU."""
    return all(name[-1] in "af" for name in found.cubins | found.ptx)


# --- CMake ---------------------------------------------------------------------------------------------------------


def read_cache(path: str) -> dict[str, tuple[str, str]]:
    """Return ``{variable: (type, value)}`` of a ``CMakeCache.txt``.

    :raises SparkforgeError: if it cannot be read.
    """
    found: dict[str, tuple[str, str]] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                match = re.match(r'(?:"([^"]+)"|([^#/"\s][^:=]*)):([A-Z]+)=(.*)', line)
                if match:
                    value = match[4].strip("\r\n")
                    # CMake puts a value that begins or ends with a blank in single quotes.
                    quoted = len(value) > 1 and value[0] == value[-1] == "'"
                    found[match[1] or match[2]] = (match[3], value[1:-1] if quoted else value)
    except OSError as error:
        raise SparkforgeError(
            f"{path} cannot be read: {error.strerror}.", "Build with rebuild set, so that CMake recreates it."
        ) from error
    return found


def _check_caches(wanted: t.Mapping[str, t.Any], paths: list[str]) -> list[str]:
    caches = [read_cache(path) for path in paths]
    problems = []
    for variable, value in wanted.items():
        asked = _text(value)
        cache = next((cache for cache in caches if variable in cache), None)
        if cache is not None:
            problem = _problem(variable, asked, cache)
        elif caches:
            problem = "CMake has no such variable"
        else:
            problem = "there is no CMakeCache.txt that shows what CMake chose"
        if problem:
            problems.append(f"{variable} was requested ({asked}), {problem}")
    return problems


def _problem(variable: str, asked: str, cache: t.Mapping[str, tuple[str, str]]) -> str:
    """Return why the cache does not have what was asked, empty where it has."""
    kind, chosen = cache[variable]
    wanted, actual = _truth(asked), _truth(chosen)
    if wanted is True and kind == "UNINITIALIZED":
        # Given with -D, and neither option() nor set(... CACHE) ever named it.
        return "but the project declares no such option"
    if wanted is True and actual is True and kind == "INTERNAL":
        # cmake_dependent_option() hides the option so, keeps the value that was given, and continues with OFF.
        return f"CMake ignored it: an option that it depends on is off{_off(cache)}"
    if wanted is not None and wanted == actual:
        return ""
    if asked != chosen and ("*" in asked or "?" in asked) and not chosen.endswith("NOTFOUND") and chosen:
        return "" if fnmatch.fnmatchcase(chosen, asked) else f"CMake chose {chosen}"
    if asked == chosen:
        return ""
    return f"CMake chose {chosen or 'nothing'}{_reason(variable, cache) if wanted is True else ''}"


def _reason(variable: str, cache: t.Mapping[str, tuple[str, str]]) -> str:
    """Name the library that a dropped option stands for, where the cache has what CMake looked for in vain."""
    stem = _SWITCH.sub("", variable, count=1).upper()
    missing = sorted(
        name
        for name, (_kind, value) in cache.items()
        if value.endswith("-NOTFOUND") and (name.upper().startswith(stem) or f"_{stem}_" in f"_{name.upper()}_")
    )
    if not missing or not stem:
        return ""
    return f": {_NAMES.get(stem, stem)} was not found ({', '.join(missing)})"


def _off(cache: t.Mapping[str, tuple[str, str]]) -> str:
    off = _truth(cache.get("USE_CUDA", ("", "ON"))[1]) is False
    return " (USE_CUDA is)" if off else ""


def _truth(text: str) -> bool | None:
    """Read a boolean as ``if()`` of CMake does; None for anything else."""
    upper = text.upper()
    if upper in _TRUE:
        return True
    return False if upper in _FALSE or upper.endswith("-NOTFOUND") else None


def _text(value: t.Any) -> str:
    return {True: "ON", False: "OFF"}[value] if isinstance(value, bool) else str(value)


# --- where files lie -----------------------------------------------------------------------------------------------


class _Prefix:
    """What was installed below a directory; :class:`WheelFiles` has the same methods."""

    def __init__(self, directory: str) -> None:
        self.name = directory
        self.directory = directory

    def names(self) -> list[str]:
        """Return the relative paths of all files."""
        return [name for name, path in _tree(self.directory) if not os.path.isdir(path)]

    def binaries(self) -> t.Iterator[tuple[str, str]]:
        """Yield name and path of each ELF file and archive of object files; the path is good until the next one."""
        for name, path in _tree(self.directory):
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as stream:
                    is_binary = _is_binary(name, stream.read(8))
                if is_binary:
                    yield name, path


class WheelFiles:
    """The files of a wheel; ELF files are unpacked beside it, one at a time, as far as there is room.

    :param deadline: for all of its reading.
    """

    def __init__(self, wheel: Artefact, deadline: Deadline = NEVER) -> None:
        self.name = wheel.name
        self.path = wheel.path
        self.deadline = deadline

    def names(self) -> list[str]:
        with _opened(self.path) as archive:
            return [member.filename for member in archive.infolist() if not member.is_dir()]

    def binaries(self) -> t.Iterator[tuple[str, str]]:
        # Beside the wheel, for /tmp may be in memory and libtorch_cuda.so has a gigabyte; under one name, so that what
        # a killed run left is overwritten.
        unpacked = f"{self.path}.unpacked"
        try:
            with _opened(self.path) as archive:
                for member in archive.infolist():
                    self.deadline.check()
                    with archive.open(member) as stream:
                        start = stream.read(8)
                        if not _is_binary(member.filename, start):
                            continue
                        # zipfile gives no more than a member is said to have.
                        self._check_room(member)
                        with open(unpacked, "wb") as target:
                            target.write(start)
                            for block in iter(functools.partial(stream.read, _BLOCK), b""):
                                self.deadline.check()
                                target.write(block)
                    yield member.filename, unpacked
        finally:
            disk.remove(unpacked)

    def _check_room(self, member: zipfile.ZipInfo) -> None:
        place = os.path.dirname(self.path)
        free = shutil.disk_usage(place).free
        if member.file_size + _RESERVE > free:
            raise SparkforgeError(
                f"{member.filename[:200]!r} in {self.name} needs {member.file_size >> 20} MiB, and {place} has "
                f"{free >> 20} MiB free.",
                "Free space there; if the size is implausible, do not trust the wheel.",
                path=self.path,
            )


def _is_binary(name: str, start: bytes) -> bool:
    return start.startswith(reader.MAGIC) or (start == _ARCHIVE and name.endswith(".a"))


def _tree(directory: str) -> t.Iterator[tuple[str, str]]:
    """Yield relative name and path of everything below ``directory``, in the order of the names; links not followed."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        yield name, path
        if os.path.isdir(path) and not os.path.islink(path):
            for inner, inner_path in _tree(path):
                yield f"{name}/{inner}", inner_path


# --- wheels --------------------------------------------------------------------------------------------------------


def _wheel(path: str) -> Artefact:
    name = os.path.basename(path)
    parts = _WHEEL.fullmatch(name)
    if parts is None:
        raise SparkforgeError(
            f"{path} is not a valid wheel name.",
            "Correct name and version in its setup.py or pyproject.toml: neither may contain '-' after normalisation.",
            path=path,
        )
    with _opened(path) as archive:
        _dist_info(archive, name)
    return Artefact(
        path=path,
        name=name,
        distribution=normalised(parts[1]),
        version=parts[2].replace("_", "-"),
        build=parts[3] or "",
        size=os.stat(path).st_size,
    )


@contextlib.contextmanager
def _opened(path: str) -> t.Iterator[zipfile.ZipFile]:
    """Open a wheel, and say in words where it turns out not to be whole."""
    try:
        with archive_reader.opened_zip(path) as archive:
            yield archive
    except archive_reader.DAMAGED as error:
        raise SparkforgeError(
            f"{path} is not a complete wheel: {str(error).rstrip('.') or 'it is truncated'}.",
            "Remove it and run again: the build is kept and packaged again.",
            path=path,
        ) from error


def _dist_info(archive: zipfile.ZipFile, name: str) -> str:
    """Return the name of the ``.dist-info`` directory that has WHEEL and RECORD."""
    members = set(archive.namelist())
    found = [
        member[: -len("/WHEEL")] for member in members if member.endswith(".dist-info/WHEEL") and member.count("/") == 1
    ]
    if len(found) != 1 or f"{found[0]}/RECORD" not in members:
        raise SparkforgeError(
            f"{name} is not a wheel: it does not have exactly one .dist-info directory with WHEEL and RECORD.",
            "Check in the log what created it; a build backend writes both.",
        )
    return found[0]


def _build_of(path: str) -> str | None:
    with _opened(path) as archive:
        info = _dist_info(archive, os.path.basename(path))
        text = archive_reader.read_member(archive, f"{info}/WHEEL", metadata.LIMIT).decode("utf-8", "replace")
    match = re.search(r"(?mi)^Build:[ \t]*(\S+)", text)
    return match[1] if match else None


def _with_build(text: bytes, build_tag: str) -> bytes:
    """Return WHEEL with one ``Build`` field, which stands before the tags as PEP 427 shows it."""
    newline = b"\r\n" if b"\r\n" in text else b"\n"
    lines = [line for line in text.rstrip().splitlines() if not line.lower().startswith(b"build:")]
    place = next((index for index, line in enumerate(lines) if line.lower().startswith(b"tag:")), len(lines))
    lines.insert(place, b"Build: " + build_tag.encode("ascii"))
    return newline.join(lines) + newline


def _with_digest(record: bytes, member: str, content: bytes, name: str) -> bytes:
    """Return RECORD with the digest and the size of a member's new content."""
    rows = list(csv.reader(io.StringIO(record.decode("utf-8"), newline="")))
    hits = [row for row in rows if row and row[0] == member]
    if len(hits) != 1:
        raise SparkforgeError(
            f"RECORD of {name} names {member} {len(hits)} times.",
            "Check in the log what created it, and rebuild it.",
        )
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
    hits[0][1:] = [f"sha256={digest}", str(len(content))]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(row for row in rows if row)
    return text.getvalue().encode("utf-8")


def _copy_zip(old: zipfile.ZipFile, path: str, changed: t.Mapping[str, bytes]) -> None:
    """Write a copy in which the members ``changed`` have other contents and stand last.

    The bytes of all others are copied as they are: to compress a PyTorch wheel again would take minutes. zipfile cannot
    do that, but what it keeps of an archive (its list of members and where the next one goes) has been the same since
    Python 3.5.
    """
    source, begin = t.cast(t.BinaryIO, old.fp), t.cast(t.Any, old).start_dir
    members = sorted(old.infolist(), key=lambda member: member.header_offset)
    ends = [*(member.header_offset for member in members[1:]), begin]
    with zipfile.ZipFile(path, "w", allowZip64=True) as new:
        target, internals = t.cast(t.BinaryIO, new.fp), t.cast(t.Any, new)
        for member, end in zip(members, ends):
            if member.filename in changed:
                continue
            source.seek(member.header_offset)
            if source.read(4) != b"PK\x03\x04" or member.compress_size > end - member.header_offset:
                raise zipfile.BadZipFile(f"the member {member.filename} is not where the archive's directory says")
            source.seek(member.header_offset)
            length, member.header_offset = end - member.header_offset, target.tell()
            _copy(source, target, length)
            internals.filelist.append(member)
            internals.NameToInfo[member.filename] = member
        internals.start_dir = target.tell()
        for name, content in changed.items():
            before = old.getinfo(name)
            member = zipfile.ZipInfo(name, before.date_time)
            member.compress_type, member.external_attr = before.compress_type, before.external_attr
            new.writestr(member, content)


def _copy(source: t.BinaryIO, target: t.BinaryIO, length: int) -> None:
    while length:
        block = source.read(min(_BLOCK, length))
        if not block:
            raise zipfile.BadZipFile("it is truncated")
        target.write(block)
        length -= len(block)
