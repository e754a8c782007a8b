# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which shared libraries a process has, where each comes from, and whether the stack says so.

The kernel names the files that are mapped by their real paths, so that no link hides one.
"""

from __future__ import annotations

import ctypes
import dataclasses
import glob
import os
import re
import site
import sys
import sysconfig
import typing as t

from ..._shared.module_utils._core.errors import SparkforgeError
from ..._shared.module_utils._elf import filesystem, providers, reader

#: Directories that the distribution's packages own.
SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64")
#: A prefix that is nobody's own: what is below it may be anybody's.
SHARED = ("/", "/usr", "/usr/local")
#: Where dpkg says which files its packages own.
DPKG = "/var/lib/dpkg/info"
#: cuDNN's small libraries say in their text which others they open; those that compute are hundreds of megabytes.
_SMALL = 256 << 20
_NAMED = re.compile(rb"libcudnn_[a-z_]+\.so(?=[\0.])")
#: The parts that every release of cuDNN 9 has, by the wheels 9.12 to 9.28. A release may name others that it does not
#: ship: 9.20.0.48 names libcudnn_engines_tensor_ir, which came with 9.21.
_PARTS = re.compile(r"libcudnn(_(adv|cnn|engines_precompiled|engines_runtime_compiled|graph|heuristic|ops))?\.so\.")


@dataclasses.dataclass(frozen=True)
class Library:
    """One file that is mapped.

    :ivar soname: as the file says, None for an extension module or what is no ELF file.
    """

    path: str
    soname: str | None
    file: reader.ElfFile | None

    @property
    def name(self) -> str:
        return self.soname or os.path.basename(self.path)


def mapped(maps: str = "/proc/self/maps") -> list[Library]:
    """Return the shared libraries of this process, by path."""
    paths = set()
    with open(maps, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            words = line.rstrip("\n").split(None, 5)
            if len(words) == 6 and words[5].startswith("/"):
                path = words[5].rpartition(" (deleted)")[0] or words[5]
                if re.search(r"\.so(\.|$)", os.path.basename(path)):
                    paths.add(path)
    return [library(path) for path in sorted(paths)]


def library(path: str) -> Library:
    """Read what a file says of itself."""
    try:
        file = reader.read_elf(path)
    except SparkforgeError:
        return Library(path, None, None)
    return Library(path, file.soname, file)


# --- what is opened by name ----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Opening:
    """A library that another one opens by its name when it is needed."""

    soname: str
    opener: Library

    @property
    def is_optional(self) -> bool:
        """Whether its opener does without it: a part of cuDNN that is not of every release."""
        return self.soname.startswith("libcudnn") and not _PARTS.match(self.soname)


def mixed(libraries: t.Sequence[Library]) -> list[Library]:
    """Return the parts of cuDNN that come from another directory than the first, which is another release's.

    The loader takes what a wheel lacks from the host. cuDNN then refuses every convolution with
    CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH (pytorch#187824).
    """
    parts = [one for one in libraries if re.match(r"libcudnn[a-z_]*\.so\.", one.name)]
    parts.sort(key=lambda one: not one.name.startswith("libcudnn.so."))
    return [one for one in parts if os.path.dirname(one.path) != os.path.dirname(parts[0].path)]


def openings(libraries: t.Sequence[Library], torch_lib: str, cuda: str) -> list[Opening]:
    """Return what torch and its libraries open by name, as far as they are there to do so.

    cuDNN is a shim that opens the libraries it names (cuDNN's Backend documentation); torch opens its linear algebra
    and NVRTC at the first use (ATen's LazyNVRTC.cpp and LazyLinalg.cpp), cuSPARSE and cuFFT nvJitLink.

    :param torch_lib: the directory of torch's own libraries.
    :param cuda: ``torch.version.cuda``.
    """
    found: list[Opening] = []
    major = cuda.partition(".")[0]
    torch_cuda = next((one for one in libraries if os.path.basename(one.path) == "libtorch_cuda.so"), None)
    torch_cuda = torch_cuda or library(os.path.join(torch_lib, "libtorch_cuda.so"))
    for name in ("libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so"):
        if os.path.exists(os.path.join(torch_lib, name)):
            found.append(Opening(name, torch_cuda))
    nvrtc = library(os.path.join(torch_lib, "libcaffe2_nvrtc.so"))
    opener = nvrtc if nvrtc.file else torch_cuda
    found.append(Opening(f"libnvrtc.so.{major}", opener))
    found.append(Opening(f"libnvJitLink.so.{major}", torch_cuda))
    shims = [one for one in libraries if re.fullmatch(r"libcudnn\.so\.\d+", one.name)]
    seen = {one.name for one in shims}
    while shims:
        shim = shims.pop()
        suffix = shim.name.rpartition(".so")[2]
        for name in named_in(shim.path):
            soname = name + suffix
            if soname in seen:
                continue
            seen.add(soname)
            found.append(Opening(soname, shim))
            path = find(soname, shim)
            if path and soname.startswith("libcudnn_graph."):
                shims.append(library(path))
    return found


def named_in(path: str) -> list[str]:
    """Return the names of cuDNN's libraries, without a version, that stand in a file."""
    try:
        if os.path.getsize(path) > _SMALL:
            return []
        with open(path, "rb") as stream:
            return sorted({name.decode() for name in _NAMED.findall(stream.read())})
    except OSError:
        return []


def find(soname: str, opener: Library) -> str | None:
    """Return the file that the loader takes from a search path when ``opener`` opens a name, None for its defaults.

    The order is ld.so(8)'s: RPATH where there is no RUNPATH, LD_LIBRARY_PATH, RUNPATH.
    """
    directories = []
    if opener.file is not None:
        directories += _expanded(opener.file.rpath, opener.path)
    directories += search_path()
    if opener.file is not None:
        directories += _expanded(opener.file.runpath, opener.path)
    for directory in directories:
        path = os.path.join(directory, soname)
        if os.path.isfile(path):
            return path
    return None


def open_named(opening: Opening) -> str | None:
    """Open a library as its opener would; return what the loader says if it does not.

    From here, the name alone would not be looked for in the search path of the opener.
    """
    if any(one.name == opening.soname for one in mapped()):
        return None
    path = find(opening.soname, opening.opener)
    try:
        ctypes.CDLL(path or opening.soname, mode=os.RTLD_NOW)
        return None
    except OSError as error:
        return str(error)


def search_path() -> list[str]:
    """Return the directories of LD_LIBRARY_PATH."""
    return [part for part in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if part.startswith("/")]


def _expanded(text: str | None, path: str) -> list[str]:
    origin = os.path.dirname(os.path.realpath(path))
    parts = [part.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for part in (text or "").split(":")]
    return [os.path.normpath(part) for part in parts if part.startswith("/")]


# --- where it comes from -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Places:
    """Where libraries may come from; every directory by its real path.

    :ivar environment: the environment's own, which needs no receipt to be named, and its interpreter's.
    :ivar named: the versioned directories that the environment was made to find, in order.
    :ivar other: the CUDA toolkit of the stack, the archives that are current, what the proof compiles.
    :ivar system: what packages own, by dpkg's ``database``.
    """

    environment: tuple[str, ...]
    named: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    system: tuple[str, ...] = SYSTEM
    database: str = DPKG


def places(reference: t.Mapping[str, t.Any], cuda: str | None) -> Places:
    """Return where the libraries of this interpreter may come from.

    :param reference: ``receipt``, ``paths``, ``cuda_version``.
    :param cuda: ``torch.version.cuda``, for a stack that names no toolkit.
    """
    # A .pth file and --system-site-packages add others to the environment's own, of which no prefix tells.
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    environment = [os.path.realpath(path) for path in (*site.getsitepackages(), *packages) if os.path.isdir(path)]
    for prefix in (os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)):
        if prefix not in SHARED:
            environment.append(prefix)
    environment += [os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    library_file = os.path.join(
        str(sysconfig.get_config_var("LIBDIR") or ""), str(sysconfig.get_config_var("INSTSONAME") or "")
    )
    if os.path.isfile(library_file):
        environment.append(os.path.realpath(library_file))
    receipt = reference.get("receipt") or {}
    named = [os.path.realpath(path) for path in receipt.get("library_paths") or []]
    version = reference.get("cuda_version") or cuda
    toolkits = [os.path.realpath(f"/usr/local/cuda-{version}")] if version else []
    # Code that is compiled while the proof runs, such as Triton's launcher, is in these directories.
    caches = [os.environ.get(name) for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")]
    archives = [os.path.realpath(match) for path in reference.get("paths") or [] for match in glob.glob(path)]
    return Places(
        tuple(dict.fromkeys(environment)),
        tuple(named),
        tuple(
            path for path in (*toolkits, *map(os.path.realpath, filter(None, caches)), *archives) if path not in SHARED
        ),
        tuple(dict.fromkeys([*SYSTEM, *map(os.path.realpath, SYSTEM)])),
    )


@dataclasses.dataclass(frozen=True)
class Stray:
    """A library that comes from elsewhere than the stack says.

    :ivar cause: one sentence.
    :ivar remedy: one sentence.
    """

    path: str
    cause: str
    remedy: str


def strays(libraries: t.Sequence[Library], allowed: Places) -> list[Stray]:
    """Return the libraries that come from elsewhere than the stack says, and those that are there twice."""
    found: list[Stray] = []
    suspects: list[Library] = []
    for one in libraries:
        if _below(one.path, allowed.environment):
            continue
        names = (one.name, os.path.basename(one.path))
        candidates = (os.path.join(place, name) for place in allowed.named for name in names)
        expected = next((path for path in candidates if os.path.isfile(path)), None)
        if expected is not None:
            if not _same(expected, one.path):
                found.append(_stray(one, libraries, f"the environment was created to find {expected}"))
        elif _below(one.path, (*allowed.named, *allowed.other)) or _is_of_the_driver(one):
            continue
        elif _below(one.path, allowed.system):
            if is_known(one.name):
                suspects.append(one)
        elif is_known(one.name) or not _preloaded(one.path):
            found.append(_stray(one, libraries, "the stack has no such path"))
    for one in unowned(suspects, allowed.database):
        found.append(_stray(one, libraries, "no package owns it"))
    return found + _twice(libraries)


def _is_of_the_driver(one: Library) -> bool:
    """Say whether it is the driver's, which a container's runtime puts anywhere; a stub of the toolkit is not."""
    if not providers.is_driver(one.name) or "stubs" in one.path.split("/"):
        return False
    try:
        return os.stat(one.path).st_uid == 0
    except OSError:
        return False


def is_known(name: str) -> bool:
    """Say whether the collection knows what provides a library of that name: libraries of the stack."""
    return providers.provider(name).role is not None


def unowned(libraries: t.Sequence[Library], database: str) -> list[Library]:
    """Return those that no package of dpkg owns; none where there is no dpkg."""
    wanted = {_without_usr(one.path): one for one in libraries}
    if not wanted or not os.path.isdir(database):
        return []
    for name in os.listdir(database):
        if not wanted:
            break
        if name.endswith(".list"):
            try:
                with open(os.path.join(database, name), encoding="utf-8", errors="replace") as stream:
                    for line in stream:
                        if ".so" in line:
                            wanted.pop(_without_usr(line.rstrip("\n")), None)
            except OSError:
                continue
    return list(wanted.values())


def _without_usr(path: str) -> str:
    # Packages of before the merge of /lib and /usr/lib say /lib.
    return path[len("/usr") :] if path.startswith("/usr/lib") else path


def _twice(libraries: t.Sequence[Library]) -> list[Stray]:
    by_name: dict[str, list[Library]] = {}
    for one in libraries:
        # A wheel's private copy has its own name (libz.7dbeb23c.so.1), by which no other library is given it.
        if one.soname and one.soname.startswith("lib") and os.path.basename(one.path).startswith(one.soname):
            others = by_name.setdefault(one.soname, [])
            if not any(_same(one.path, other.path) for other in others):
                others.append(one)
    found = []
    for soname, copies in sorted(by_name.items()):
        if len(copies) > 1:
            paths = [one.path for one in copies]
            found.append(
                Stray(
                    paths[-1],
                    f"{soname} is loaded twice, from {' and '.join(paths)}: parts of the program may call different "
                    f"copies.",
                    "Keep the stack's: remove the other file, or the setting that loads it (see LD_LIBRARY_PATH and "
                    "/etc/ld.so.conf.d).",
                )
            )
    return found


def _stray(one: Library, libraries: t.Sequence[Library], why: str) -> Stray:
    through, remedy = brought_by(one, libraries)
    by = f" It was found through {through}." if through else ""
    return Stray(one.path, f"{one.name} was loaded from {one.path}, and {why}.{by}", remedy)


def brought_by(one: Library, libraries: t.Sequence[Library]) -> tuple[str, str]:
    """Return what made the loader take a file, in words, empty where that cannot be told; and what to do about it."""
    if _preloaded(one.path):
        return "LD_PRELOAD or /etc/ld.so.preload", f"Remove {one.path} from LD_PRELOAD and /etc/ld.so.preload."
    needing = [other for other in libraries if other.file is not None and one.name in other.file.needed]
    for other in needing:
        file = t.cast(reader.ElfFile, other.file)
        if _in(one, _expanded(file.rpath, other.path)):
            return f"the RPATH of {other.path}", _reinstall(other.path)
    for directory in search_path():
        if _in(one, [directory]):
            return (
                f"LD_LIBRARY_PATH, which names {directory}",
                f"Remove {directory} from LD_LIBRARY_PATH (/etc/environment, the shell's profile, the unit that starts"
                " the job, or the environment's library_paths).",
            )
    for other in needing:
        file = t.cast(reader.ElfFile, other.file)
        if _in(one, _expanded(file.runpath, other.path)):
            return f"the RUNPATH of {other.path}", _reinstall(other.path)
    for configuration, directory in configured():
        if _in(one, [directory]):
            return (
                f"{configuration}, which names {directory}",
                f"Remove {one.path}, or remove {directory} from {configuration}, then run ldconfig.",
            )
    # The longest first: it is the one that the module was found in.
    for directory in sorted((part for part in sys.path if part), key=len, reverse=True):
        if _below(one.path, [os.path.realpath(directory)]):
            source = "PYTHONPATH" if directory in os.environ.get("PYTHONPATH", "").split(":") else "sys.path"
            return f"{source}, which names {directory}", f"Remove {directory} from {source} (PYTHONPATH, .pth files)."
    return "", f"Remove {one.path}, or remove its directory from the loader's configuration, then run ldconfig."


def configured(start: str = "/etc/ld.so.conf") -> list[tuple[str, str]]:
    """Return each directory that the loader's configuration names, with the file that does."""
    files = filesystem.FileSystem()
    known = filesystem.configured_directories(files, start)
    found = []
    for path in [*files.glob(f"{start}.d/*.conf"), start]:
        text = (files.read_bytes(path) or b"").decode("utf-8", "replace")
        words = {(line.split("#", 1)[0].split() or [""])[0].split("=", 1)[0].rstrip("/") for line in text.splitlines()}
        found += [(path, directory) for directory in known if directory in words]
    return found


def _reinstall(path: str) -> str:
    return f"Reinstall or rebuild the package of {path}: it was linked to look there."


def _preloaded(path: str) -> bool:
    words = re.split(r"[:\s]+", os.environ.get("LD_PRELOAD", ""))
    try:
        with open("/etc/ld.so.preload", encoding="utf-8", errors="replace") as stream:
            words += stream.read().split()
    except OSError:
        pass
    return any(word.startswith("/") and _same(word, path) for word in words)


def _in(one: Library, directories: t.Iterable[str]) -> bool:
    names = {one.name, os.path.basename(one.path)}
    return any(_same(os.path.join(directory, name), one.path) for directory in directories for name in names)


def _below(path: str, directories: t.Iterable[str]) -> bool:
    return any(path == directory or path.startswith(directory.rstrip("/") + "/") for directory in directories)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
