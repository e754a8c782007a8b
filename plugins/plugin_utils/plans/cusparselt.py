"""The plan of the `cusparselt` role: choose a backend and derive its steps."""

from __future__ import annotations

import re
import typing as t

from ...module_utils._apt.deb_version import compare_versions
from ...module_utils._apt.request import is_satisfied, parse_request
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._fetch import redist_plan
from . import Plan, archives, for_wheels, is_written

_LOCAL_REPO = re.compile(r"^cusparselt-local-repo-[a-z0-9]+-\d")
_REMEDY = (
    "Set cusparselt_local_repo_sha256 (run sha256sum on a copy fetched over a connection that you trust; no public one "
    "is known), or add redist to cusparselt_backends, with a version whose sha256 the stack pins for this platform."
)


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the steps to install cuSPARSELt and to remove the files of backends that are no longer used.

    :raises SparkforgeError: if no backend has the version.
    """
    if settings["cusparselt_state"] == "absent" or for_wheels(settings):
        return Plan()
    stack, machine = settings["stack"], observation["kernel"]["machine"]
    version = str(settings["cusparselt_version"] or stack["cusparselt"]["version"])
    pinned = {**(stack["cusparselt"].get("archive") or {}), "soname": stack["cusparselt"]["soname"]}
    rows = [pinned] if str(pinned.get("release")) == version else []
    archive = archives.select(rows, observation, f"{settings['sparkforge_root']}/redist")
    local_repos = [name for name in observation["apt"]["packages"] if _LOCAL_REPO.match(name)]
    backend, reason, packages = choose(settings, observation, version, archive, local_repos)
    if not backend:
        names = [parse_request(text)[0].name for text in packages]
        return Plan({"ask": names}, [f"install cuSPARSELt {version}, from the first source that has it"])
    files, loader_file = observation["managed_files"], settings["__cusparselt_loader_file"]
    loader_entry = f"/usr/lib/{machine}-linux-gnu/libcusparseLt/{stack['cuda']['major']}\n"
    steps: dict[str, t.Any] = {}
    reasons = []
    if backend == "local_repo" and packages:
        base = f"{settings['sparkforge_nvidia_url'].rstrip('/')}/compute/cusparselt/{version}/local_installers"
        name = f"cusparselt-local-repo-{settings['cusparselt_distribution']}-{version}"
        url = f"{base}/{name}_{version}-1_{observation['apt']['architecture']}.deb"
        steps["local_repo"] = {"version": version, "url": settings["cusparselt_local_repo_url"] or url}
    if packages:
        steps["packages"] = packages
        reasons.append(f"install the packages of cuSPARSELt {version}")
    if backend in ("apt", "local_repo"):
        component = settings["__cusparselt_redist_component"]
        if redist_plan.loader_path(redist_plan.LOADER_DIRECTORY, component) in files:
            steps["archive_absent"] = archive["platform"]
            reasons.append("remove its archive")
        if not is_written(loader_file, loader_entry, observation):
            steps["loader"] = loader_entry
            reasons.append(f"write {loader_file}")
    elif backend == "redist":
        if not archive["installed"]:
            steps["archive"] = {"platform": archive["platform"], "archive": archive["archives"][0]}
            reasons.append(f"install the archive of cuSPARSELt {version}")
        if loader_file in files:
            steps["packages_absent"] = loader_file
            reasons += ["remove its packages", f"remove {loader_file}"]
    if backend in ("apt", "redist") and local_repos:
        # If the archive is used, keep foreign packages and the repository that they came from.
        steps["local_repo_absent"] = {"keep_foreign": backend == "redist"}
        reasons.append("remove its local repository")
    return Plan(steps, reasons, notes=[f"cuSPARSELt {version} from {backend}: {reason}."])


def choose(
    settings: t.Mapping[str, t.Any],
    observation: t.Mapping[str, t.Any],
    version: str,
    archive: t.Mapping[str, t.Any],
    local_repos: t.Sequence[str],
) -> tuple[str, str, list[str]]:
    """Return the first backend that has the version, the reason, and the packages to install or to query apt for.

    The backend is "" if apt must be queried first, and "none" if no backend has the version in check mode, because a
    real run may add a suitable apt source first.

    :param archive: the result of ``archives.select`` for the stack's archive of this version.
    :param local_repos: the installed packages of local repositories.
    :raises SparkforgeError: if no backend has the version.
    """
    backends, exact = settings["cusparselt_backends"], bool(settings["cusparselt_version"])
    installed, offers = observation["apt"]["packages"], observation["apt"].get("offers") or {}
    soname, cuda_major = settings["stack"]["cusparselt"]["soname"], settings["stack"]["cuda"]["major"]
    library = f"libcusparselt{soname.rpartition('.so.')[2]}"
    runtime = f"{library}-cuda-{cuda_major}"
    installed_version = installed.get(runtime, "").rpartition("-")[0]
    # 0.8.1 is packaged as 0.8.1.1-1.
    newer = compare_versions(installed_version, version) > 0 and not installed_version.startswith(f"{version}.")
    # Headers to install alongside a newer package with the stack's SONAME must match that package's version.
    requested_version = installed_version if newer and not exact else version
    packages = [f"{name}={requested_version}[.-]*" for name in (runtime, f"{library}-dev-cuda-{cuda_major}")]
    in_use = any(name.endswith(f"-{version}") for name in local_repos)
    by_package = [backend for backend in backends if backend != "redist"]
    if by_package and all(is_satisfied(text, installed) for text in packages):
        backend = "local_repo" if in_use and "local_repo" in by_package else by_package[0]
        return backend, f"{installed_version} is already installed as a package, with the SONAME {soname}", []
    path = str((observation.get("loader") or {}).get("libraries", {}).get(soname))
    if "redist" in backends and archive["archives"] and path.startswith(f"{settings['sparkforge_root']}/"):
        return "redist", f"the loader already finds the archive's {path}", []
    missing_packages = [
        package.name
        for package in (parse_request(text)[0] for text in packages)
        if not any(map(package.accepts, offers.get(package.name, ())))
    ]
    no_sha256 = not settings["cusparselt_local_repo_sha256"]
    no_archive = not archive["archives"]
    obstacles = {
        "apt": missing_packages and f"no apt source offers {' and '.join(missing_packages)} {requested_version}",
        "local_repo": no_sha256 and "the sha256 of its .deb is not set (cusparselt_local_repo_sha256)",
        "redist": no_archive and f"the stack pins no sha256 of the archive {version} for {archive['platform']}",
    }
    reasons = {
        "apt": f"an apt source of the host offers {requested_version}",
        "local_repo": "the sha256 of the local repository is set",
        "redist": f"the stack pins the archive {version}",
    }
    skipped = []
    # After an interrupted run, apt offers the local repository's packages; another backend would remove that
    # repository.
    for backend in sorted(backends, key=lambda name: name != "local_repo") if in_use and not newer else backends:
        if backend == "apt" and not offers:
            return "", "apt has not been queried yet", packages
        obstacle = obstacles.get(backend, f"{backend} is not one of {', '.join(obstacles)}")
        if obstacle:
            skipped.append(str(obstacle))
            continue
        if newer and backend != "redist" and (exact or backend == "local_repo"):
            raise SparkforgeError(
                f"{runtime} {installed[runtime]} is installed, newer than the requested cuSPARSELt {version}.",
                "Set cusparselt_version to the version that is installed, or remove the newer one first with "
                "cusparselt_state: absent.",
            )
        reason = ". Skipped: ".join([reasons[backend], "; ".join(skipped)] if skipped else [reasons[backend]])
        return backend, reason, [] if backend == "redist" else packages
    why = "; ".join(skipped)
    if settings["ansible_check_mode"]:
        return "none", f"no backend can provide it on this host now ({why})", []
    raise SparkforgeError(f"No backend can provide cuSPARSELt {version} ({why}).", _REMEDY)
