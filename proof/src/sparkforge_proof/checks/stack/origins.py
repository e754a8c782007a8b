"""Find a process's shared libraries, where each comes from, and those from outside the stack.

The kernel lists mapped files by their real paths, so no link can hide a file.
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

#: The directories that the distribution's packages own.
SYSTEM = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64")
#: Shared prefixes: files in them need not belong to this environment.
SHARED = ("/", "/usr", "/usr/local")
#: dpkg's lists of the files that its packages own.
DPKG = "/var/lib/dpkg/info"
#: The maximum size of cuDNN's small libraries, which name the libraries that they open. Larger ones contain kernels.
_SMALL = 256 << 20
_NAMED = re.compile(rb"libcudnn_[a-z_]+\.so(?=[\0.])")
#: The parts that every cuDNN 9 release has, according to the wheels from 9.12 to 9.28. A release may name parts that it
#: does not ship: 9.20.0.48 names libcudnn_engines_tensor_ir, which was added in 9.21.
_PARTS = re.compile(r"libcudnn(_(adv|cnn|engines_precompiled|engines_runtime_compiled|graph|heuristic|ops))?\.so\.")


@dataclasses.dataclass(frozen=True)
class Library:
    """A mapped library file.

    :ivar soname: the file's DT_SONAME, or None, as for extension modules and files that are not ELF.
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
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                path = fields[5].rpartition(" (deleted)")[0] or fields[5]
                if re.search(r"\.so(\.|$)", os.path.basename(path)):
                    paths.add(path)
    return [library(path) for path in sorted(paths)]


def library(path: str) -> Library:
    """Read the soname and the headers of a library."""
    try:
        file = reader.read_elf(path)
    except SparkforgeError:
        return Library(path, None, None)
    return Library(path, file.soname, file)


@dataclasses.dataclass(frozen=True)
class Opening:
    """A library that another library opens by name when it needs it."""

    soname: str
    opener: Library

    @property
    def is_optional(self) -> bool:
        """Whether the opener works without this library: it is a part that not every release of cuDNN has."""
        return self.soname.startswith("libcudnn") and not _PARTS.match(self.soname)


def mixed(libraries: t.Sequence[Library]) -> list[Library]:
    """Return the parts of cuDNN that come from another directory than the first part, hence from another release.

    The loader takes parts that a wheel lacks from the host. cuDNN then refuses every convolution with
    CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH (pytorch#187824).
    """
    parts = [library for library in libraries if re.match(r"libcudnn[a-z_]*\.so\.", library.name)]
    parts.sort(key=lambda library: not library.name.startswith("libcudnn.so."))
    return [library for library in parts if os.path.dirname(library.path) != os.path.dirname(parts[0].path)]


def openings(libraries: t.Sequence[Library], torch_lib: str, cuda: str) -> list[Opening]:
    """Return the libraries that torch and its libraries open by name, if the openers exist.

    cuDNN is a shim that opens the libraries named in it (cuDNN's Backend documentation). torch opens its linear algebra
    and NVRTC at first use (ATen's LazyNVRTC.cpp and LazyLinalg.cpp); cuSPARSE and cuFFT open nvJitLink.

    :param torch_lib: the directory of torch's own libraries.
    :param cuda: ``torch.version.cuda``.
    """
    major = cuda.partition(".")[0]
    own = next((each for each in libraries if os.path.basename(each.path) == "libtorch_cuda.so"), None)
    torch_cuda = own or library(os.path.join(torch_lib, "libtorch_cuda.so"))
    at_first_use = ("libtorch_cuda_linalg.so", "libcaffe2_nvrtc.so")
    opened = [Opening(name, torch_cuda) for name in at_first_use if os.path.exists(os.path.join(torch_lib, name))]
    nvrtc = library(os.path.join(torch_lib, "libcaffe2_nvrtc.so"))
    opener = nvrtc if nvrtc.file else torch_cuda
    opened.append(Opening(f"libnvrtc.so.{major}", opener))
    opened.append(Opening(f"libnvJitLink.so.{major}", torch_cuda))
    shims = [mapped_library for mapped_library in libraries if re.fullmatch(r"libcudnn\.so\.\d+", mapped_library.name)]
    visited = {mapped_library.name for mapped_library in shims}
    while shims:
        shim = shims.pop()
        suffix = shim.name.rpartition(".so")[2]
        for name in named_in(shim.path):
            soname = name + suffix
            if soname in visited:
                continue
            visited.add(soname)
            opened.append(Opening(soname, shim))
            path = find(soname, shim)
            if path and soname.startswith("libcudnn_graph."):
                shims.append(library(path))
    return opened


def named_in(path: str) -> list[str]:
    """Return the names of the cuDNN libraries that a file mentions, without versions."""
    try:
        if os.path.getsize(path) > _SMALL:
            return []
        with open(path, "rb") as stream:
            return sorted({name.decode() for name in _NAMED.findall(stream.read())})
    except OSError:
        return []


def find(soname: str, opener: Library) -> str | None:
    """Return the file in the search path that the loader takes if ``opener`` opens a name, or None for its defaults.

    The order is that in ld.so(8): RPATH if there is no RUNPATH, LD_LIBRARY_PATH, RUNPATH.
    """
    rpath, runpath = (opener.file.rpath, opener.file.runpath) if opener.file else (None, None)
    directories = [*_expanded(rpath, opener.path), *search_path(), *_expanded(runpath, opener.path)]
    paths = (os.path.join(directory, soname) for directory in directories)
    return next(filter(os.path.isfile, paths), None)


def open_named(opening: Opening) -> str | None:
    """Open a library as its opener would; return the loader's message if that fails.

    The loader would not look for a bare name in the opener's search path.
    """
    if any(library.name == opening.soname for library in mapped()):
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


@dataclasses.dataclass(frozen=True)
class AllowedPaths:
    """The resolved paths that libraries may come from.

    :ivar environment: the directories of the environment, allowed without a receipt, and of its interpreter.
    :ivar named: the versioned directories from the environment's receipt, in order.
    :ivar other: the stack's CUDA toolkit, the current archives, and the caches of code that the proof compiles.
    :ivar system: the directories of packages, which dpkg's ``database`` lists.
    """

    environment: tuple[str, ...]
    named: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    system: tuple[str, ...] = SYSTEM
    database: str = DPKG


def allowed_paths(reference: t.Mapping[str, t.Any], cuda: str | None) -> AllowedPaths:
    """Return the paths that the libraries of this interpreter may come from.

    :param reference: ``receipt``, ``paths``, ``cuda_version``.
    :param cuda: ``torch.version.cuda``, used if the stack names no toolkit.
    """
    # .pth files and --system-site-packages add directories outside the environment's prefix.
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    environment = [os.path.realpath(path) for path in (*site.getsitepackages(), *packages) if os.path.isdir(path)]
    prefixes = map(os.path.realpath, (sys.prefix, sys.base_prefix))
    environment += [prefix for prefix in prefixes if prefix not in SHARED]
    environment += [os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    library_file = os.path.join(*(str(sysconfig.get_config_var(name) or "") for name in ("LIBDIR", "INSTSONAME")))
    if os.path.isfile(library_file):
        environment.append(os.path.realpath(library_file))
    receipt = reference.get("receipt") or {}
    named = [os.path.realpath(path) for path in receipt.get("library_paths") or []]
    version = reference.get("cuda_version") or cuda
    toolkits = [os.path.realpath(f"/usr/local/cuda-{version}")] if version else []
    # Code that is compiled during the proof, such as Triton's launcher, is in these directories.
    caches = [os.environ.get(name) for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")]
    archives = [os.path.realpath(match) for path in reference.get("paths") or [] for match in glob.glob(path)]
    other = [*toolkits, *map(os.path.realpath, filter(None, caches)), *archives]
    return AllowedPaths(
        tuple(dict.fromkeys(environment)),
        tuple(named),
        tuple(path for path in other if path not in SHARED),
        tuple(dict.fromkeys([*SYSTEM, *map(os.path.realpath, SYSTEM)])),
    )


@dataclasses.dataclass(frozen=True)
class Stray:
    """A library from outside the stack.

    :ivar cause: one sentence.
    :ivar remedy: one sentence.
    """

    path: str
    cause: str
    remedy: str


def strays(libraries: t.Sequence[Library], allowed: AllowedPaths) -> list[Stray]:
    """Return the libraries that come from outside the stack or are loaded twice."""
    outside: list[Stray] = []
    suspects: list[Library] = []
    for library in libraries:
        if _below(library.path, allowed.environment):
            continue
        names = (library.name, os.path.basename(library.path))
        candidates = (os.path.join(directory, name) for directory in allowed.named for name in names)
        expected = next((path for path in candidates if os.path.isfile(path)), None)
        if expected is not None:
            if not _same(expected, library.path):
                outside.append(_stray(library, libraries, f"the environment was created to find {expected}"))
        elif _below(library.path, (*allowed.named, *allowed.other)) or _is_from_driver(library):
            continue
        elif _below(library.path, allowed.system):
            if is_known(library.name):
                suspects.append(library)
        elif is_known(library.name) or not _preloaded(library.path):
            outside.append(_stray(library, libraries, "the stack has no such path"))
    outside += [_stray(library, libraries, "no package owns it") for library in unowned(suspects, allowed.database)]
    return outside + _loaded_twice(libraries)


def _is_from_driver(library: Library) -> bool:
    """Tell whether a library, in any directory, belongs to the driver; the toolkit's stubs do not count."""
    if not providers.is_driver(library.name) or "stubs" in library.path.split("/"):
        return False
    try:
        return os.stat(library.path).st_uid == 0
    except OSError:
        return False


def is_known(name: str) -> bool:
    """Tell whether the collection knows a provider for a library with that name, so that it belongs to the stack."""
    return providers.provider(name).role is not None


def unowned(libraries: t.Sequence[Library], database: str) -> list[Library]:
    """Return the libraries that no dpkg package owns, or [] if there is no dpkg."""
    unclaimed = {_without_usr(library.path): library for library in libraries}
    if not unclaimed or not os.path.isdir(database):
        return []
    for name in os.listdir(database):
        if not unclaimed:
            break
        if name.endswith(".list"):
            try:
                with open(os.path.join(database, name), encoding="utf-8", errors="replace") as stream:
                    for line in stream:
                        if ".so" in line:
                            unclaimed.pop(_without_usr(line.rstrip("\n")), None)
            except OSError:
                continue
    return list(unclaimed.values())


def _without_usr(path: str) -> str:
    # Packages built before /lib and /usr/lib were merged list /lib.
    return path[len("/usr") :] if path.startswith("/usr/lib") else path


def _loaded_twice(libraries: t.Sequence[Library]) -> list[Stray]:
    by_name: dict[str, list[Library]] = {}
    for copy in libraries:
        # A wheel's private copy has a name of its own (libz.7dbeb23c.so.1), so no other library gets it.
        if copy.soname and copy.soname.startswith("lib") and os.path.basename(copy.path).startswith(copy.soname):
            others = by_name.setdefault(copy.soname, [])
            if not any(_same(copy.path, other.path) for other in others):
                others.append(copy)
    remedy = (
        "Keep the stack's: remove the other file, or the setting that loads it (see LD_LIBRARY_PATH and "
        "/etc/ld.so.conf.d)."
    )
    duplicates = []
    for soname, copies in sorted(by_name.items()):
        if len(copies) > 1:
            paths = " and ".join(copy.path for copy in copies)
            cause = f"{soname} is loaded twice, from {paths}: parts of the program may call different copies."
            duplicates.append(Stray(copies[-1].path, cause, remedy))
    return duplicates


def _stray(library: Library, libraries: t.Sequence[Library], reason: str) -> Stray:
    setting, remedy = brought_by(library, libraries)
    by = f" It was found through {setting}." if setting else ""
    return Stray(library.path, f"{library.name} was loaded from {library.path}, and {reason}.{by}", remedy)


def brought_by(library: Library, libraries: t.Sequence[Library]) -> tuple[str, str]:
    """Return a phrase for the setting that made the loader take a file, '' if unknown, and the remedy."""
    if _preloaded(library.path):
        return "LD_PRELOAD or /etc/ld.so.preload", f"Remove {library.path} from LD_PRELOAD and /etc/ld.so.preload."
    needing = [(other.path, other.file) for other in libraries if other.file and library.name in other.file.needed]
    # In the order of the loader; see find().
    settings = [(f"the RPATH of {path}", _expanded(file.rpath, path), _reinstall(path)) for path, file in needing]
    settings += [
        (
            f"LD_LIBRARY_PATH, which names {directory}",
            [directory],
            f"Remove {directory} from LD_LIBRARY_PATH (/etc/environment, the shell's profile, the unit that starts the"
            " job, or the environment's library_paths).",
        )
        for directory in search_path()
    ]
    settings += [(f"the RUNPATH of {path}", _expanded(file.runpath, path), _reinstall(path)) for path, file in needing]
    settings += [
        (
            f"{configuration}, which names {directory}",
            [directory],
            f"Remove {library.path}, or remove {directory} from {configuration}, then run ldconfig.",
        )
        for configuration, directory in configured()
    ]
    for setting, directories, remedy in settings:
        if _in(library, directories):
            return setting, remedy
    # Try the longest first, because the module was found in it.
    for directory in sorted((part for part in sys.path if part), key=len, reverse=True):
        if _below(library.path, [os.path.realpath(directory)]):
            source = "PYTHONPATH" if directory in os.environ.get("PYTHONPATH", "").split(":") else "sys.path"
            return f"{source}, which names {directory}", f"Remove {directory} from {source} (PYTHONPATH, .pth files)."
    return "", f"Remove {library.path}, or remove its directory from the loader's configuration, then run ldconfig."


def configured(start: str = "/etc/ld.so.conf") -> list[tuple[str, str]]:
    """Return each directory in the loader's configuration, with the file that names it."""
    files = filesystem.FileSystem()
    known = filesystem.configured_directories(files, start)
    directories = []
    for path in [*files.glob(f"{start}.d/*.conf"), start]:
        text = (files.read_bytes(path) or b"").decode("utf-8", "replace")
        names = {(line.split("#", 1)[0].split() or [""])[0].split("=", 1)[0].rstrip("/") for line in text.splitlines()}
        directories += [(path, directory) for directory in known if directory in names]
    return directories


def _reinstall(path: str) -> str:
    return f"Reinstall or rebuild the package of {path}: it was linked to look there."


def _preloaded(path: str) -> bool:
    paths = re.split(r"[:\s]+", os.environ.get("LD_PRELOAD", ""))
    try:
        with open("/etc/ld.so.preload", encoding="utf-8", errors="replace") as stream:
            paths += stream.read().split()
    except OSError:
        pass
    return any(preloaded.startswith("/") and _same(preloaded, path) for preloaded in paths)


def _in(library: Library, directories: t.Iterable[str]) -> bool:
    names = {library.name, os.path.basename(library.path)}
    return any(_same(os.path.join(directory, name), library.path) for directory in directories for name in names)


def _below(path: str, directories: t.Iterable[str]) -> bool:
    return any(path == directory or path.startswith(directory.rstrip("/") + "/") for directory in directories)


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False
