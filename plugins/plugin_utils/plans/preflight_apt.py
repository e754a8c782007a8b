"""The apt checks of preflight: half-installed packages, locks, holds, sources and their keys, and pins."""

from __future__ import annotations

import typing as t
from urllib.parse import urlsplit

from ...module_utils._apt.policy import pin_names
from ...module_utils._core import phrases
from .. import apt_sources
from .preflight_case import Case, Problem, problem


def state(case: Case) -> t.Iterator[Problem]:
    apt = case.part("apt")
    broken = list(apt.get("broken") or [])
    if broken:
        names = phrases.some([f"{row['name']} ({row['state']})" for row in broken], 8)
        yield problem(
            "apt",
            f"dpkg left packages half-installed: {names}.",
            "Run `sudo dpkg --configure -a && sudo apt-get --fix-broken install` on the host.",
        )
    holder = apt.get("lock_holder")
    if holder:
        wait = case.settings.get("apt_wait")
        yield problem(
            "apt lock",
            f"{holder.get('command')} (process {holder.get('pid')}) holds {holder.get('file')}"
            + (f" after a wait of {wait} s." if wait else "."),
            "Let it finish, stop unattended-upgrades during the play, or raise preflight_apt_wait.",
        )
    held_packages = sorted(set(apt.get("held") or []) & set(case.settings.get("packages") or []))
    if held_packages:
        yield problem(
            "held packages",
            f"Packages that stack {case.name} needs are on hold: {', '.join(held_packages)}.",
            "They keep their version. To change it, run `sudo apt-mark unhold` for them.",
            "warning",
        )


def sources(case: Case) -> t.Iterator[Problem]:
    rows = apt_sources.enabled(case.observation)
    for row in apt_sources.without_keyring(rows):
        uris = " ".join(row["uris"])
        yield problem(
            "apt source",
            f"{row['file']} names the keyring {row['signed_by']} for {uris}, which does not exist: apt fails with "
            f"NO_PUBKEY.",
            "Reinstall the vendor's package that provides it (nvidia-repo-keys for the CUDA and DGX"
            " sources, nvidia-spark-repo for the Spark one), or disable that source.",
        )
    refuses = "sqv" in (case.part("apt").get("packages") or {})
    for row in apt_sources.with_sha1_keyring(rows):
        yield problem(
            "apt source",
            f"The key {row['signed_by']} of {row['file']} is certified only with SHA-1, which apt 3 refuses.",
            "Fetch the repository's key again, since its owner may have certified it again, and save it there.",
            "error" if refuses else "warning",
        )
    for row in apt_sources.of_another_machine(rows, str(case.part("apt").get("architecture"))):
        yield problem(
            "apt source",
            f"{row['file']} is a source of CUDA for another architecture: none of its packages is offered here.",
            "Remove that file; DGX OS has its own source, and elsewhere the address ends in sbsa on arm64, and in"
            " x86_64 on amd64.",
            "warning",
        )
    for uri, files in apt_sources.signed_differently(rows).items():
        descriptions = "; ".join(
            f"{', '.join(sorted(set(names)))} with {signer or 'no Signed-By'}" for signer, names in files.items()
        )
        yield problem(
            "apt source",
            f"apt has two sources for {uri} that are signed differently: {descriptions}. "
            "apt stops with 'Conflicting values set for option Signed-By'.",
            "Keep the source that came with DGX OS and remove the other one; remove an added cuda-keyring with "
            "`sudo apt-get purge cuda-keyring`.",
        )


def gpg(case: Case) -> t.Iterator[Problem]:
    """Check for the package that the module apt_source needs if NVIDIA's source is to be added."""
    root = f"{str(case.settings.get('cuda_url') or '').rstrip('/')}/compute/cuda/repos/"
    sources = [
        uri
        for row in apt_sources.enabled(case.observation)
        if row.get("keyring_present") is not False
        for uri in row.get("uris") or []
    ]
    adds_source = case.settings.get("packages") and not any(uri.startswith(root) for uri in sources)
    if adds_source and "gpg" not in (case.part("apt").get("packages") or {}):
        yield problem(
            "gpg",
            "The package gpg is not installed; it verifies the key of NVIDIA's apt source before the source is added.",
            "Install it on the host: `sudo apt-get install gpg`.",
        )


def pins(case: Case) -> t.Iterator[Problem]:
    apt = case.part("apt")
    packages = [name for name in case.settings.get("packages") or [] if name not in (apt.get("packages") or {})]
    host = urlsplit(str(case.settings.get("cuda_url") or "")).hostname or "developer.download.nvidia.com"
    blocked: dict[str, list[str]] = {}
    for name in packages:
        pin = _pin_for(name, apt.get("pins") or [], host)
        if pin is not None and int(pin["priority"]) < 0:
            blocked.setdefault(f"{pin['file']} ({pin['package']}: {pin['pin']}, {pin['priority']})", []).append(name)
    for pin_name, names in blocked.items():
        yield problem(
            "apt pins",
            f"The pin {pin_name} forbids packages that stack {case.name} needs: {', '.join(names)}.",
            "Vendor pins are never overridden: update DGX OS, choose a stack with its CUDA version, or remove the pin "
            "if it is your own.",
        )


def _pin_for(name: str, pins: t.Sequence[t.Mapping[str, t.Any]], host: str) -> t.Mapping[str, t.Any] | None:
    """Return the pin that applies to a package from NVIDIA's source (apt_preferences(5)).

    The first pin that names the package wins; ``*`` is a general pin and applies only if no specific pin does.
    """
    general = None
    for pin in pins:
        kind, _space, value = str(pin["pin"]).partition(" ")
        value = value.strip().strip('"')
        if kind == "origin":
            reaches = value == host
        elif kind == "release":
            # The fields of NVIDIA's Release file are not known here, so count its name and `*` as a match.
            reaches = value.strip() in ("*", "a=*", "o=*") or "nvidia" in value.lower()
        else:
            reaches = kind == "version" and value == "*"
        if not reaches:
            continue
        for pattern in str(pin["package"]).split():
            if pattern == "*":
                general = general or pin
            elif pin_names(pattern, name):
                return pin
    return general


#: The checks, in the order in which their problems are reported.
CHECKS = (state, sources, gpg, pins)
