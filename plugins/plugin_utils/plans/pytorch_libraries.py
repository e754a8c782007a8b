"""The host's libraries that PyTorch is built with: the path of each, its linkage, and the missing ones."""

from __future__ import annotations

import fnmatch
import typing as t

from ...module_utils._apt.deb_version import compare_versions
from ...module_utils._core.versions import numbers
from . import archives
from .pytorch_build import KNOWN, Build, asks_for, true

BLAS = ("NVPL", "OpenBLAS", "MKL", "Eigen")
#: From this release on, Eigen is not a submodule either (tools/optional_submodules.py clones it).
EIGEN_CLONED = (2, 8)


def libraries(build: Build) -> None:
    """Set up the requested CUDA libraries."""
    cuda = build.stack["cuda"]
    for name, row in KNOWN["libraries"].items():
        is_requested = asks_for(build, name)
        build.environment[f"USE_{name.upper()}"] = "1" if is_requested else "0"
        if not is_requested:
            continue
        package = row["package"].format(**cuda)
        if name == "nccl" and not true(build.given.get("USE_SYSTEM_NCCL") or "1"):
            build.cache["USE_NCCL"] = "ON"  # the submodule's copy, linked statically
            continue
        build.cache.update(row["cache"])
        if name in ("cudnn", "nccl", "cusparselt"):
            _check_version(build, name, row["title"], package)
        if "variable" in row:
            _set_paths(build, name, row, package)
        else:
            if package not in build.packages and not fnmatch.filter(build.loader, row["soname"]):
                build.missing.append(f"{row['title']}, {package} (role cuda_libraries)")
            values = {key: value.format(multiarch=build.multiarch) for key, value in row["environment"].items()}
            build.environment.update(values)
            build.libraries.append(row["soname"])
    build.libraries += [f"libcudart.so.{cuda['major']}", f"libcublas.so.{cuda['major']}"]
    build.cache["USE_CUDA"] = "ON"


def _set_paths(build: Build, name: str, row: t.Mapping[str, t.Any], package: str) -> None:
    """Set the paths of a library that NVIDIA's packages install outside the compiler's search path.

    The packages use ``<directory>/<CUDA major>`` in /usr/include and /usr/lib/<multiarch>, and the archives use
    ``<root>/redist``. ``_ROOT`` is searched before the host's own directories, ``_LIBRARY`` after them.
    """
    variable, major = row["variable"], build.stack["cuda"]["major"]
    if name == "cusparselt":
        archive, soname = build.stack["cusparselt"].get("archive"), build.stack["cusparselt"]["soname"]
    else:
        archive = _archive(build, "libcudss")
        soname = (archive or {}).get("soname") or "libcudss.so.0"
    loaded = str(build.loader.get(soname) or "")
    by_package = package in build.packages
    by_archive = loaded.startswith(f"{build.root}/") or (not by_package and archives.exists(archive, build.machine))
    file = f"{soname.split('.so')[0]}.so"
    if by_archive and archive:
        prefix = archives.directory(build.root, archive)
        include, library, library_file = f"{prefix}/include", f"{prefix}/lib", f"{prefix}/lib/{file}"
        build.environment[f"{variable}_ROOT"] = prefix
        lacks = "" if loaded else soname
    else:
        include = f"/usr/include/{row['directory']}/{major}"
        library, library_file = f"/usr/lib/{build.multiarch}/{row['directory']}/{major}", f"*/{file}"
        lacks = "" if by_package else package
    build.environment.update({f"{variable}_INCLUDE_DIR": include, f"{variable}_LIBRARY": library})
    build.cache[f"{variable}_LIBRARY_PATH"] = library_file
    if lacks:
        build.missing.append(f"{row['title']}, {lacks} (role {row['role']})")
    build.libraries.append(soname)


def blas(build: Build) -> None:
    """Choose the library for linear algebra on the CPU."""
    chosen = str(build.settings.get("blas") or ("NVPL" if build.machine == "aarch64" else "OpenBLAS"))
    if chosen not in BLAS:
        build.problems.append(f"pytorch_blas is {chosen}: choose {' or '.join(BLAS)}.")
        return
    build.environment["BLAS"] = chosen
    if chosen == "Eigen" and build.release >= EIGEN_CLONED:
        _eigen(build)
    if chosen == "OpenBLAS":
        if not any(fnmatch.fnmatchcase(name, "libopenblas*-dev") for name in build.packages):
            build.missing.append("OpenBLAS, libopenblas-dev (build_toolchain_extra_packages)")
        build.libraries.append("libopenblas*.so.*")
    elif chosen == "MKL" and build.machine != "x86_64":
        build.problems.append(f"pytorch_blas is MKL, which exists for x86-64, not for {build.machine}: set NVPL.")
    elif chosen == "NVPL":
        _nvpl(build)


def _eigen(build: Build) -> None:
    if "libeigen3-dev" in build.packages:
        build.environment["USE_SYSTEM_EIGEN_INSTALL"] = "1"
    else:
        build.notes.append(
            "BLAS=Eigen needs third_party/eigen, which is not a submodule of this release: the build would fail or "
            "clone it unverified. libeigen3-dev (build_toolchain_extra_packages)"
            " takes its place; pytorch_blas OpenBLAS is faster."
        )


def _nvpl(build: Build) -> None:
    prefixes = []
    for component in ("nvpl_blas", "nvpl_lapack"):
        archive = _archive(build, component)
        if not archive or not archives.exists(archive, build.machine):
            build.problems.append(
                f"BLAS=NVPL needs the archive {component}, which the stack does not pin for {build.machine}: "
                "set pytorch_blas to OpenBLAS, or add the archive to the stack."
            )
            continue
        prefix = archives.directory(build.root, archive)
        prefixes.append(prefix)
        # CMake's package files for NVPL; the wheels on the index do not have them.
        build.environment[f"{component.upper()}_ROOT"] = prefix
        build.libraries.append(archive["soname"])
        if not build.loader.get(archive["soname"]):
            build.missing.append(f"NVPL, {archive['soname']} (role math_libraries)")
    if prefixes:
        # Separate them with a semicolon, because PyTorch appends the value to a CMake list.
        build.environment["CMAKE_PREFIX_PATH"] = ";".join(prefixes)


def _check_version(build: Build, name: t.Literal["cudnn", "nccl", "cusparselt"], title: str, package: str) -> None:
    """Record the stack's and the host's version of a library, and refuse an older one on the host.

    The package names contain the SONAME, so a newer version works as well: it is compiled against and recorded.
    """
    stack_version = str((build.stack.get(name) or {}).get("version") or "")
    installed = build.packages.get(package, "")
    build.against[name] = {key: text for key, text in (("version", stack_version), ("found", installed)) if text}
    if not stack_version or not installed:
        return
    if compare_versions(installed, stack_version) < 0:
        build.missing.append(f"{title} {stack_version} or newer; it has {package} {installed} (role cuda_libraries)")
    elif numbers(installed)[:2] != numbers(f"{stack_version}.0")[:2]:
        build.notes.append(
            f"{title} {installed} is newer than the stack's {stack_version} with the same SONAME: the build uses it."
        )


def _archive(build: Build, component: str) -> t.Mapping[str, t.Any] | None:
    rows = [row for row in build.stack.get("archives") or [] if row.get("component") == component]
    return rows[0] if rows else None
