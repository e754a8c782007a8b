# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that chooses where cuSPARSELt comes from."""

from __future__ import annotations

DOCUMENTATION = r"""
name: cusparselt_backend
short_description: Choose where cuSPARSELt comes from, and say why
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Goes through the backends in their order and takes the first that can serve the version.
  - V(apt) can where an apt source of the host offers the version; V(local_repo) where the version is older
    than 0.9 and the sha256 of its .deb or the fingerprint of its key is given; V(redist) where the stack
    pins an archive.
  - What is installed in the version already stays where it is, if its backend is among those given. So do packages of
    a newer version, such as the vendor's own upgrade brings, as long as they have the SONAME and O(exact) is false.
  - Asking apt costs a call to the host, so RV(_value.undecided) says when it is needed.
positional: version, cuda_major, observation
options:
  _input:
    description: The backends, best first.
    type: list
    elements: str
    required: true
  version:
    description: The version of cuSPARSELt.
    type: str
    required: true
  cuda_major:
    description: The major version of CUDA, part of the package names.
    type: int
    required: true
  observation:
    description: What M(sparkforge.dgx_spark.spark_info) returned.
    type: dict
    required: true
  archive:
    description: The archive that the stack pins, C(stack.cusparselt.archive).
    type: dict
    default: {}
  soname:
    description: The SONAME of the library.
    type: str
    default: libcusparseLt.so.0
  exact:
    description: Whether packages of a newer version with the same SONAME will not do.
    type: bool
    default: false
  sha256:
    description: The sha256 of the local repository's .deb, or empty.
    type: str
    default: ""
  key_fingerprint:
    description: The fingerprint of the key inside the local repository's .deb, or empty.
    type: str
    default: ""
  root:
    description: Where this collection keeps what it makes.
    type: str
    default: /opt/sparkforge
  check_mode:
    description: Whether to return the backend C(none) instead of failing, as an earlier step may yet add one.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show where cuSPARSELt would come from
  ansible.builtin.debug:
    msg: >-
      {{ ['apt', 'local_repo', 'redist'] | sparkforge.dgx_spark.cusparselt_backend(
         version='0.8.1', cuda_major=13, observation=ansible_facts.spark_info,
         archive=stack.cusparselt.archive) }}
"""

RETURN = r"""
_value:
  description: The choice.
  type: dict
  contains:
    backend:
      description: V(apt), V(local_repo) or V(redist); null while RV(_value.undecided).
      type: str
    reason:
      description: Why this one, in one sentence.
      type: str
    passed_over:
      description: The backends before it, each with the reason.
      type: list
      elements: dict
    packages:
      description: What to ask M(sparkforge.dgx_spark.apt_packages) for.
      type: list
      elements: str
    names:
      description: The names of packages that apt is to be asked about.
      type: list
      elements: str
    settled:
      description: Whether the packages are installed already.
      type: bool
    undecided:
      description:
        - Whether apt has to be asked first, with RV(_value.names) as
          O(sparkforge.dgx_spark.spark_info#module:offers).
      type: bool
    archive:
      description:
        - The archive for M(sparkforge.dgx_spark.redist_archive), with the sha256 of this platform alone.
      type: dict
    platform:
      description: The platform as NVIDIA's manifests name it.
      type: str
    directory:
      description: Where the packages put the library.
      type: str
    local_repos:
      description: The local repositories that are installed, of whatever version.
      type: list
      elements: str
  sample:
    backend: redist
    reason: the stack pins the archive 0.8.1.1
    passed_over: [{backend: apt, reason: no apt source offers libcusparselt0-cuda-13 0.8.1}]
"""

import fnmatch
import re
import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.packages import (
    compare_versions,
    parse_wanted,
    satisfied,
)

_LOCAL_REPO = re.compile(r"^cusparselt-local-repo-[a-z0-9]+-\d")
BACKENDS = ("apt", "local_repo", "redist")
# No local-repo .deb is known from this version on (reference facts, B).
FIRST_WITHOUT_LOCAL_REPO = "0.9"
_NO_PROOF = (
    "Set cusparselt_local_repo_sha256 (run sha256sum on a copy fetched over a connection that you trust; "
    "no public one is known) or cusparselt_local_repo_key_fingerprint, or let cusparselt_backends contain "
    "redist, whose sha256 the stack pins."
)


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


def cusparselt_backend(
    backends: t.Sequence[str],
    version: str,
    cuda_major: int,
    observation: t.Mapping[str, t.Any],
    archive: t.Mapping[str, t.Any] | None = None,
    soname: str = "libcusparseLt.so.0",
    exact: bool = False,
    sha256: str = "",
    key_fingerprint: str = "",
    root: str = "/opt/sparkforge",
    check_mode: bool = False,
) -> dict[str, t.Any]:
    """Choose the backend.

    :raises AnsibleFilterError: for an unknown backend, and where none of them can serve the version.
    """
    unknown = [backend for backend in backends if backend not in BACKENDS]
    if unknown or not backends:
        raise AnsibleFilterError(
            f"cusparselt_backends holds {', '.join(map(str, unknown)) or 'nothing'}. "
            f"Name one or more of {', '.join(BACKENDS)}."
        )
    machine = str(observation["kernel"]["machine"])
    multiarch = f"{machine}-linux-gnu"
    platform = "linux-sbsa" if machine == "aarch64" else f"linux-{machine}"
    packages = wanted_packages(version, int(cuda_major))
    names = [one.name for text in packages for one in parse_wanted(text)]
    installed = observation["apt"]["packages"]
    newer = "" if exact else _newer(names, version, soname, installed)
    if newer:
        packages = wanted_packages(newer, int(cuda_major))
    settled = all(satisfied(text, installed) for text in packages)
    choice: dict[str, t.Any] = {
        "backend": None,
        "reason": "",
        "passed_over": [],
        "packages": packages,
        "names": names,
        "settled": False,
        "undecided": False,
        "archive": _archive_of(archive, platform, soname),
        "platform": platform,
        "directory": f"/usr/lib/{multiarch}/libcusparseLt/{cuda_major}",
        "local_repos": [name for name in sorted(observation["apt"]["packages"]) if _LOCAL_REPO.match(name)],
    }
    by_package = [backend for backend in backends if backend != "redist"]
    path = str((observation.get("loader") or {}).get("libraries", {}).get(soname) or "")
    if settled and by_package:
        # The one of this version is in use; another is a remnant that the other backend retires.
        in_use = any(name.endswith(f"-{version}") for name in choice["local_repos"])
        return {
            **choice,
            "backend": "local_repo" if in_use and "local_repo" in by_package else by_package[0],
            "settled": True,
            "reason": f"{newer} is installed by package, newer than {version} and with its SONAME {soname}"
            if newer
            else f"{version} is installed by package already",
        }
    if path.startswith(root.rstrip("/") + "/") and "redist" in backends and _pinned(archive, version):
        return {**choice, "backend": "redist", "reason": f"the loader finds the archive's {path} already"}
    offers = observation["apt"].get("offers") or {}
    for backend in backends:
        if backend == "apt" and not set(names) <= set(offers):
            return {**choice, "undecided": True, "reason": "apt has not been asked yet"}
        # What a newer package lacks beside it is of its version, and only an apt source may have that.
        asked = newer if newer and backend == "apt" else version
        serves, reason = _serves(backend, packages, offers, asked, archive, platform, sha256, key_fingerprint)
        if serves:
            if backend != "redist":
                _refuse_older(names, asked, installed)
            return {**choice, "backend": backend, "reason": reason}
        choice["passed_over"].append({"backend": backend, "reason": reason})
    why = "; ".join(f"{row['backend']}: {row['reason']}" for row in choice["passed_over"])
    if check_mode:
        # An apt source that a real run adds first may serve it, so a check is no place to fail.
        return {**choice, "backend": "none", "reason": f"nothing serves it as the host is now ({why})"}
    remedy = (
        _NO_PROOF
        if "local_repo" in backends and not _without_local_repo(version)
        else "Let cusparselt_backends contain redist, and choose a version that the stack pins for this platform; "
        "playbooks/lock.yml asks for the sha256."
    )
    raise AnsibleFilterError(f"No backend serves cuSPARSELt {version} ({why}). {remedy}")


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


def _refuse_older(names: t.Iterable[str], version: str, installed: t.Mapping[str, str]) -> None:
    """Refuse before anything changes what apt would refuse after the local repository is there."""
    for name in names:
        found = installed.get(name, "")
        if _is_newer(found, version):
            raise AnsibleFilterError(
                f"{name} {found} is installed, newer than the cuSPARSELt {version} that was asked for. "
                "Set cusparselt_version to the version that is installed, or take the newer one back first with "
                "cusparselt_state: absent."
            )


def _without_local_repo(version: str) -> bool:
    return compare_versions(version, FIRST_WITHOUT_LOCAL_REPO) >= 0


def _pinned(archive: t.Mapping[str, t.Any] | None, version: str) -> bool:
    return bool(archive) and str(archive.get("release", "")) == version  # type: ignore[union-attr]


def _archive_of(archive: t.Mapping[str, t.Any] | None, platform: str, soname: str) -> dict[str, t.Any]:
    """Return the archive as redist_archive takes it: one sha256, where the stack has one for this
    platform."""
    if not archive:
        return {}
    found = {key: value for key, value in archive.items() if key != "sha256" and value is not None}
    digest = (archive.get("sha256") or {}).get(platform)
    return {"soname": soname, **found, **({"sha256": digest} if digest else {})}


def _serves(
    backend: str,
    packages: t.Sequence[str],
    offers: t.Mapping[str, t.Sequence[str]],
    version: str,
    archive: t.Mapping[str, t.Any] | None,
    platform: str,
    sha256: str,
    key_fingerprint: str,
) -> tuple[bool, str]:
    if backend == "apt":
        lacking = [parse_wanted(text)[0].name for text in packages if not _offered(text, offers)]
        if lacking:
            return False, f"no apt source offers {' and '.join(lacking)} {version}"
        return True, f"an apt source of the host offers {version}"
    if backend == "local_repo":
        if _without_local_repo(version):
            return False, f"no local repository exists from {FIRST_WITHOUT_LOCAL_REPO} on"
        if not sha256 and not key_fingerprint:
            return False, (
                "neither the sha256 of its .deb nor the fingerprint of its key is given"
                " (cusparselt_local_repo_sha256, cusparselt_local_repo_key_fingerprint)"
            )
        return True, f"the {'sha256' if sha256 else 'key fingerprint'} of the local repository is given"
    if not archive or not _pinned(archive, version):
        return False, f"the stack pins no archive of {version}"
    if not (archive.get("sha256") or {}).get(platform):
        return False, f"no sha256 of the archive {version} is known for {platform}"
    return True, f"the stack pins the archive {archive.get('version') or version}"


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"cusparselt_backend": cusparselt_backend}
