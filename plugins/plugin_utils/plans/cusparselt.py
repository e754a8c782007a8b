# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of the role cusparselt: where it comes from, and what that takes."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
import typing as t

from ...module_utils._apt.deb_version import compare_versions
from ...module_utils._apt.wanted import parse_wanted, satisfied
from ...module_utils._core import platforms
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._fetch import redist_plan
from . import Plan, archives, for_wheels, is_written

_LOCAL_REPO = re.compile(r"^cusparselt-local-repo-[a-z0-9]+-\d")
BACKENDS = ("apt", "local_repo", "redist")
# No local-repo .deb is known from this version on (reference facts, B).
FIRST_WITHOUT_LOCAL_REPO = "0.9"
_NO_PROOF = (
    "Set cusparselt_local_repo_sha256 (run sha256sum on a copy fetched over a connection that you trust; "
    "no public one is known) or cusparselt_local_repo_key_fingerprint, or add redist to cusparselt_backends, whose "
    "sha256 the stack pins."
)


@dataclasses.dataclass(frozen=True)
class Request:
    """What is asked for; ``exact`` where the user named the version, ``archive`` what the stack pins."""

    backends: t.Sequence[str]
    version: str
    cuda_major: int
    archive: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    soname: str = "libcusparseLt.so.0"
    exact: bool = False
    sha256: str = ""
    key_fingerprint: str = ""
    root: str = "/opt/sparkforge"
    check_mode: bool = False

    @classmethod
    def of(cls, settings: t.Mapping[str, t.Any]) -> Request:
        stack, version = settings["stack"]["cusparselt"], str(settings["cusparselt_version"])
        return cls(
            backends=settings["cusparselt_backends"],
            version=version or stack["version"],
            cuda_major=int(settings["stack"]["cuda"]["major"]),
            archive=stack.get("archive") or {},
            soname=stack["soname"],
            exact=bool(version),
            sha256=settings["cusparselt_local_repo_sha256"],
            key_fingerprint=settings["cusparselt_local_repo_key_fingerprint"],
            root=settings["sparkforge_root"],
            check_mode=settings["ansible_check_mode"],
        )

    @property
    def pinned(self) -> bool:
        return str(self.archive.get("release", "")) == self.version


@dataclasses.dataclass(frozen=True)
class Choice:
    """What provides it: ``settled`` where that is installed, ``undecided`` where apt has to be asked first."""

    backend: str
    reason: str
    packages: t.Sequence[str]
    names: t.Sequence[str]
    platform: str
    directory: str
    local_repos: t.Sequence[str]
    settled: bool = False
    undecided: bool = False
    passed_over: t.Sequence[tuple[str, str]] = ()


def wanted_packages(version: str, cuda_major: int) -> list[str]:
    """Return runtime and development package, named by CUDA major with the generic name as the fallback."""
    # 0.8.1 is packaged as 0.8.1.1-1; the class keeps 0.8.10 out.
    glob = f"{version}[.-]*"
    runtime = (f"libcusparselt0-cuda-{cuda_major}", "libcusparselt0")
    # 0.7 and older have the last of these names.
    headers = (f"libcusparselt0-dev-cuda-{cuda_major}", "libcusparselt0-dev", "libcusparselt-dev")
    return ["|".join(f"{name}={glob}" for name in names) for names in (runtime, headers)]


def _offered(text: str, offers: t.Mapping[str, t.Sequence[str]]) -> bool:
    return any(
        fnmatch.fnmatchcase(version, one.version or "*")
        for one in parse_wanted(text)
        for version in offers.get(one.name, ())
    )


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return what provides cuSPARSELt, and what is taken back where another backend has taken over.

    :raises SparkforgeError: if no backend serves the version.
    """
    if settings["cusparselt_state"] == "absent" or for_wheels(settings):
        return Plan()
    request = Request.of(settings)
    choice, version = choose(request, observation), request.version
    if choice.undecided:
        return Plan({"ask": choice.names}, [f"install cuSPARSELt {version}, from the first source that has it"])
    files, loader_file = observation["managed_files"], settings["__cusparselt_loader_file"]
    steps: dict[str, t.Any] = {}
    reasons = []
    passed = "; ".join(reason for _backend, reason in choice.passed_over)
    notes = [f"cuSPARSELt {version} from {choice.backend}: {choice.reason}."]
    notes += [f"Skipped: {passed}."] if passed else []
    if choice.backend in ("apt", "local_repo"):
        if not choice.settled:
            if choice.backend == "local_repo":
                steps["local_repo"] = {"version": version, "url": deb_url(settings, observation, version)}
            steps["packages"] = choice.packages
            reasons.append(f"install the packages of cuSPARSELt {version}")
        if redist_plan.loader_path(archives.LOADER_DIRECTORY, settings["__cusparselt_redist_component"]) in files:
            steps["archive_absent"] = choice.platform
            reasons.append("remove its archive")
        content = f"{choice.directory}\n"
        if not is_written(loader_file, content, observation):
            steps["loader"] = content
            reasons.append(f"write {loader_file}")
    elif choice.backend == "redist":
        wanted = {**request.archive, "soname": request.soname}
        found = archives.select([wanted], observation, f"{request.root}/redist")
        if not found["archives"] or not found["installed"]:
            steps["archive"] = {"platform": choice.platform, "archive": _archive_of(request, choice.platform)}
            reasons.append(f"install the archive of cuSPARSELt {version}")
        if loader_file in files:
            steps["packages_absent"] = loader_file
            reasons += ["remove its packages", f"remove {loader_file}"]
    if choice.backend in ("apt", "redist") and choice.local_repos:
        # Where the archive serves, somebody else's packages stay, and so does the repository that they came from.
        steps["local_repo_absent"] = {"keep_foreign": choice.backend == "redist"}
        reasons.append("remove its local repository")
    return Plan(steps, reasons, notes=notes)


def deb_url(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any], version: str) -> str:
    """Return where NVIDIA has the local repository's package, unless the user says where it is."""
    name = f"cusparselt-local-repo-{settings['cusparselt_distribution']}-{version}"
    base = f"{settings['sparkforge_nvidia_url'].rstrip('/')}/compute/cusparselt/{version}/local_installers"
    file = f"{name}_{version}-1_{observation['apt']['architecture']}.deb"
    return settings["cusparselt_local_repo_url"] or f"{base}/{file}"


def choose(request: Request, observation: t.Mapping[str, t.Any]) -> Choice:
    """Choose the backend.

    :raises SparkforgeError: for an unknown backend, and where none of them can serve the version.
    """
    backends, version = request.backends, request.version
    unknown = [backend for backend in backends if backend not in BACKENDS]
    if unknown or not backends:
        raise SparkforgeError(
            f"cusparselt_backends contains {', '.join(map(str, unknown)) or 'nothing'}.",
            f"Name one or more of {', '.join(BACKENDS)}.",
        )
    machine, installed = str(observation["kernel"]["machine"]), observation["apt"]["packages"]
    packages = wanted_packages(version, request.cuda_major)
    names = [one.name for text in packages for one in parse_wanted(text)]
    newer = "" if request.exact else _newer(names, version, request.soname, installed)
    # Packages that are missing next to a newer one must have its version.
    asked = newer or version
    packages = wanted_packages(asked, request.cuda_major)
    choice = Choice(
        backend="none",
        reason="",
        packages=packages,
        names=names,
        platform=platforms.redist(machine),
        directory=f"/usr/lib/{machine}-linux-gnu/libcusparseLt/{request.cuda_major}",
        local_repos=[name for name in sorted(installed) if _LOCAL_REPO.match(name)],
    )
    by_package = [backend for backend in backends if backend != "redist"]
    # The one of this version is in use; another is a remnant that the other backend retires.
    in_use = any(name.endswith(f"-{version}") for name in choice.local_repos)
    if by_package and all(satisfied(text, installed) for text in packages):
        reason = f"{version} is already installed as a package"
        if newer:
            reason = f"{newer} is installed as a package, newer than {version} and with its SONAME {request.soname}"
        backend = "local_repo" if in_use and "local_repo" in by_package else by_package[0]
        return dataclasses.replace(choice, backend=backend, settled=True, reason=reason)
    path = str((observation.get("loader") or {}).get("libraries", {}).get(request.soname) or "")
    if path.startswith(request.root.rstrip("/") + "/") and "redist" in backends and request.pinned:
        return dataclasses.replace(choice, backend="redist", reason=f"the loader already finds the archive's {path}")
    offers = observation["apt"].get("offers") or {}
    passed_over: list[tuple[str, str]] = []
    # An interrupted run may have brought it, and what apt offers is then its own.
    for backend in sorted(backends, key=lambda name: name != "local_repo") if in_use and not newer else backends:
        if backend == "apt" and not set(names) <= set(offers):
            reason = "apt has not been asked yet"
            return dataclasses.replace(choice, undecided=True, reason=reason, passed_over=passed_over)
        # Only an apt source may have what is newer than the stack's version.
        found = asked if backend == "apt" else version
        serves, reason = _serves(backend, request, choice, offers, found)
        if serves:
            if backend != "redist":
                _check_not_older(names, found, installed)
            return dataclasses.replace(choice, backend=backend, reason=reason, passed_over=passed_over)
        passed_over.append((backend, reason))
    why = "; ".join(f"{backend}: {reason}" for backend, reason in passed_over)
    if request.check_mode:
        # An apt source that a real run adds first may serve it, so a check is no place to fail.
        reason = f"nothing serves it as the host is now ({why})"
        return dataclasses.replace(choice, reason=reason, passed_over=passed_over)
    remedy = (
        _NO_PROOF
        if "local_repo" in backends and not without_local_repo(version)
        else "Add redist to cusparselt_backends, and choose a version that the stack pins for this platform; "
        "playbooks/lock.yml fetches the sha256."
    )
    raise SparkforgeError(f"No backend serves cuSPARSELt {version} ({why}).", remedy)


def _newer(names: t.Iterable[str], version: str, soname: str, installed: t.Mapping[str, str]) -> str:
    """Return the version of packages that are newer than asked for and serve all the same, else nothing.

    The number in the packages' names is that of the SONAME.
    """
    number = soname.rpartition(".so.")[2]
    for name in names:
        found = installed.get(name, "")
        if re.match(rf"libcusparselt{number}(-|$)", name) and _is_newer(found, version):
            return found.rpartition("-")[0] or found
    return ""


def _is_newer(found: str, version: str) -> bool:
    return bool(found) and compare_versions(found, version) > 0 and not re.match(rf"{re.escape(version)}[.-]", found)


def _check_not_older(names: t.Iterable[str], version: str, installed: t.Mapping[str, str]) -> None:
    """Refuse before anything changes what apt would refuse after the local repository is there."""
    for name in names:
        found = installed.get(name, "")
        if _is_newer(found, version):
            raise SparkforgeError(
                f"{name} {found} is installed, newer than the requested cuSPARSELt {version}.",
                "Set cusparselt_version to the version that is installed, or remove the newer one first with "
                "cusparselt_state: absent.",
            )


def without_local_repo(version: str) -> bool:
    return compare_versions(version, FIRST_WITHOUT_LOCAL_REPO) >= 0


def _archive_of(request: Request, platform: str) -> dict[str, t.Any]:
    """Return the archive as redist_archive takes it: one sha256, where the stack has one for this platform."""
    found = {key: value for key, value in request.archive.items() if key != "sha256" and value is not None}
    digest = (request.archive.get("sha256") or {}).get(platform)
    return {"soname": request.soname, **found, **({"sha256": digest} if digest else {})}


def _serves(
    backend: str, request: Request, choice: Choice, offers: t.Mapping[str, t.Sequence[str]], version: str
) -> tuple[bool, str]:
    if backend == "apt":
        lacking = [parse_wanted(text)[0].name for text in choice.packages if not _offered(text, offers)]
        if lacking:
            return False, f"no apt source offers {' and '.join(lacking)} {version}"
        return True, f"an apt source of the host offers {version}"
    if backend == "local_repo":
        if without_local_repo(version):
            return False, f"cuSPARSELt has no local repository since {FIRST_WITHOUT_LOCAL_REPO}"
        if not request.sha256 and not request.key_fingerprint:
            return False, (
                "neither the sha256 of its .deb nor its key's fingerprint is set"
                " (cusparselt_local_repo_sha256, cusparselt_local_repo_key_fingerprint)"
            )
        return True, f"the {'sha256' if request.sha256 else 'key fingerprint'} of the local repository is set"
    if not request.pinned:
        return False, f"the stack pins no archive of {version}"
    if not (request.archive.get("sha256") or {}).get(choice.platform):
        return False, f"no sha256 of the archive {version} is known for {choice.platform}"
    return True, f"the stack pins the archive {request.archive.get('version') or version}"
