"""The apt packages that an environment was created with, and whether the installed ones still fit it.

An environment brings its own wheels. From the host it uses its interpreter and, if its packages were built here, the
libraries of CUDA, cuDNN, NCCL and cuSPARSELt. Their versions are recorded at creation and compared at a rollback.
"""

from __future__ import annotations

import contextlib
import os
import re
import typing as t

from .._apt.deb_version import compare_versions
from .._core.errors import SparkforgeError
from .._host.dpkg import DPKG, packages
from .._host.reader import Host

#: Packages that may provide libraries for an environment. The driver's are excluded, because every proof checks them.
PACKAGES = re.compile(
    r"cuda-|libcu(blas|dnn|dss|fft|file|pti|rand|solver|sparse|tensor)|libnv(fatbin|jitlink|jpeg|pl|ptxcompiler|shmem|vm)"
    r"|libnpp|libnccl|nvpl-|sparkforge-"
)


class Misfit(t.NamedTuple):
    """The differences between the recorded and the installed packages, each as a sentence."""

    wrong: list[str]
    newer: list[str]


def series(version: str) -> tuple[str, str]:
    """Return the parts of a version that must stay the same: its major number, and the major number of CUDA, if given.

    Before 1.0, the minor number counts as part of the major number.

    >>> series("2.28.3-1+cuda13.0"), series("0.8.1.1-1")
    (('2', '13'), ('0.8', ''))
    """
    upstream = version.partition(":")[2] or version
    numbers = re.findall(r"\d+", re.split(r"[-+~]", upstream, maxsplit=1)[0])
    major = ".".join(numbers[:2]) if numbers[:1] == ["0"] else "".join(numbers[:1])
    cuda = re.search(r"\+cuda(\d+)", version)
    return major, cuda.group(1) if cuda else ""


def misfit(recorded: t.Mapping[str, str], now: t.Mapping[str, str]) -> Misfit:
    """Compare the packages that an environment was created with to those installed now.

    A package that is missing, older, or of a different major version does not fit. A newer package with the same major
    version does, because NVIDIA has kept these libraries compatible so far, and the following proof decides.
    """
    misfits, newer = [], []
    for name, before in sorted(recorded.items()):
        version = now.get(name)
        if version == before:
            continue
        if version is None:
            misfits.append(f"{name} {before} is no longer installed")
        elif compare_versions(version, before) < 0 or series(version) != series(before):
            misfits.append(f"{name} is {version}, but the environment was created with {before}")
        else:
            newer.append(f"{name} is {version}, but the environment was created with {before}")
    return Misfit(misfits, newer)


def installed(root: str = "/") -> dict[str, str]:
    """Return every installed package and its version from dpkg's status file, without starting a process."""
    return packages(Host(root)).versions


def needed(environment: str, python: str, library_paths: t.Sequence[str], values: t.Iterable[str]) -> dict[str, str]:
    """Return the packages that an environment uses, with their versions.

    :param environment: its path.
    :param python: its Python version, ``3.12``.
    :param library_paths: the directories in its ``LD_LIBRARY_PATH``.
    :param values: the values of its activation variables, some of which are paths of toolkit programs.
    """
    from .._elf.closure import Closure

    versions = installed()
    packages = {name: versions[name] for name in (f"python{python}",) if name in versions}
    candidates = [name for name in versions if PACKAGES.match(name)]
    if not candidates:
        return packages
    try:
        closure = Closure(paths=[environment], search=library_paths, driver=True, ignore_absent=True).result()
    except SparkforgeError:
        # The proof reports this error; it must not prevent a later rollback.
        return packages
    files = {*closure["resolved"].values(), *(value for value in values if value.startswith("/"))}
    files_used = {os.path.realpath(path) for path in files if not path.startswith(environment + os.sep)}
    with contextlib.suppress(OSError):
        packages.update({name: versions[name] for name in candidates if not files_used.isdisjoint(_files(name))})
    return packages


def _files(package: str) -> set[str]:
    plain = package.partition(":")[0]
    paths: set[str] = set()
    info = f"{DPKG}/info"
    for name in os.listdir(info):
        if name.endswith(".list") and name[: -len(".list")].partition(":")[0] == plain:
            with open(os.path.join(info, name), encoding="utf-8", errors="replace") as stream:
                paths |= {os.path.realpath(line.rstrip("\n")) for line in stream if ".so" in line or "/bin/" in line}
    return paths
