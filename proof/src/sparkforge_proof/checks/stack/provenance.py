"""Check that the installed files, and the wheels that they are from, are those in the receipts."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import typing as t

from ..._shared.module_utils._core import phrases
from ..._shared.module_utils._core.errors import SparkforgeError
from ..._shared.module_utils._wheel import environment, installed as packages
from ..._shared.module_utils._wheel.names import normalised
from ..._shared.module_utils._wheel.wheel import Wheel
from ...check import X86_BUILT, X86_LAST, Context, Failed, Measured, Skipped, check
from .identity import LIST_LIMIT, STACK, Facts, receipt_of, reinstall, sentences


@check("identity.wheels", devices=("none",), numeric=False, seconds=180, measured=(X86_BUILT,))
def wheels(context: Context) -> Measured:
    """Check that torch's commit and the wheels that are still on this host are those in the receipts."""
    reference = context.reference
    receipt = receipt_of(reference)
    if not receipt:
        raise Skipped("There is no receipt of the environment, so its wheels are unknown.")
    installed = packages.distributions()
    units: Facts = reference.get("units") or {}
    problems = receipt_problems(receipt, sys.prefix)
    problems += unit_problems(receipt, units, str(reference.get("method") or ""))
    version = getattr(importlib.import_module("torch"), "version", None)
    installed_commit = str(getattr(version, "git_version", None) or "")
    recorded = str(((receipt.get("modules") or {}).get("torch") or {}).get("git_version") or "")
    if installed_commit and recorded and installed_commit != recorded:
        problems.append(f"torch is from commit {installed_commit[:12]}, but the receipt says {recorded[:12]}")
    artefacts = available_wheels(receipt, units, str(reference.get("root") or "/opt/sparkforge"))
    for artefact in artefacts:
        problems += artefact_problems(artefact, installed)
    count = len(packages.pins(receipt))
    measured = f"{count} pins, {len(artefacts)} wheels of them here"
    if problems:
        raise Failed(
            sentences(problems), f"Find out who changed it. {reinstall()}", measured, "the sha256 of the receipts"
        )
    return Measured(measured, "the sha256 of the receipts")


def receipt_problems(receipt: Facts, prefix: str) -> list[str]:
    """Compare the receipt's fingerprint with its contents, and the receipt with the copy in the environment."""
    problems = []
    python = (receipt.get("python") or {}).get("version") or ""
    numbers = re.fullmatch(r"(\d+)\.(\d+)", str(python))
    if numbers and receipt.get("fingerprint"):
        # A wheel that was sent to the host for a requirement with a hash does not change the fingerprint.
        named = packages.pins({"requirements": receipt.get("requirements")})
        by_name = ((normalised(str(wheel.get("file")).partition("-")[0]), str(wheel.get("sha256")))
                   for wheel in receipt.get("wheels") or [])  # fmt: skip
        fingerprint = environment.fingerprint(
            (int(numbers[1]), int(numbers[2])),
            str(receipt.get("machine")),
            [str(line) for line in receipt.get("requirements") or []],
            [digest for name, digest in by_name if digest not in named.get(name, ())],
        )
        if fingerprint != receipt["fingerprint"]:
            problems.append(
                f"the environment's receipt has the fingerprint {str(receipt['fingerprint'])[:12]}, but its contents "
                f"give {fingerprint[:12]}: it was changed after it was written"
            )
    copy = environment.own_of(os.path.realpath(prefix)) or {}
    for key in ("environment_id", "fingerprint", "requirements", "wheels", "packages", "modules"):
        if key in copy and copy[key] != receipt.get(key):
            problems.append(
                f"the environment's receipt and the copy in {os.path.realpath(prefix)} differ in {key}:"
                f" {_short(receipt.get(key))} and {_short(copy[key])}"
            )
            # The receipt of another environment would differ in every key.
            break
    return problems


def unit_problems(receipt: Facts, units: Facts, method: str) -> list[str]:
    """Compare the pins in the environment's receipt with the wheels that this host's units built."""
    problems = []
    pins = packages.pins(receipt)
    versions_of = {normalised(str(name)): version for name, version in (receipt.get("packages") or {}).items()}
    for name, unit in units.items():
        if not unit.get("intact", True):
            problems.append(f"the receipt of the unit {name} was changed after it was written")
        # An official wheel may have the same name and version as one that another stack built here.
        if unit.get("installed") or method != "build":
            continue
        for output in unit.get("outputs") or []:
            dist = normalised(str(output.get("name") or ""))
            if dist in pins and versions_of.get(dist) == output.get("version"):
                allowed = " or ".join(sorted(digest[:12] for digest in pins[dist]))
                problems.append(
                    f"the environment has a wheel of {dist} {output.get('version')} with the sha256 {allowed}, but the "
                    f"unit {name} built {output.get('path')} with {str(output.get('sha256'))[:12]}"
                )
    return problems


def available_wheels(receipt: Facts, units: Facts, root: str) -> list[Wheel]:
    """Return those wheels from the controller and from the units that are still on this host."""
    wheels = environment.installed_wheels(receipt, os.path.join(root, "wheels"))
    pins = packages.pins(receipt)
    for unit in units.values():
        for output in unit.get("outputs") or []:
            name, digest = normalised(str(output.get("name") or "")), str(output.get("sha256"))
            if digest in pins.get(name, ()):
                file = str(output.get("path"))
                wheels.append(Wheel(file, digest, name, path=os.path.join(str(unit.get("artefact")), file)))
    return [wheel for wheel in wheels if os.access(wheel.path, os.R_OK)]


def artefact_problems(artefact: Wheel, installed: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Compare a wheel with its sha256, and the installed files with the list in the wheel."""
    try:
        digest = packages.sha256_of(artefact.path)
        if digest != artefact.sha256:
            return [f"{artefact.path} has the sha256 {digest[:12]}, but the receipt says {artefact.sha256[:12]}"]
        package = installed.get(artefact.name)
        if package is None:
            return [f"{artefact.name} is not installed, but the environment was created from {artefact.path}"]
        differing = packages.differing(artefact.path, package)
    except OSError as error:
        return [f"{artefact.path} cannot be read ({error})"]
    except SparkforgeError as error:
        return [error.cause.rstrip(".")]
    if differing:
        return [f"{artefact.name} was not installed from {artefact.path}: {phrases.some(differing, LIST_LIMIT)} differ"]
    return []


@check("identity.files", devices=("none",), numeric=False, seconds=300, measured=(X86_LAST,))
def files(context: Context) -> Measured:
    """Check that every file of torch, its companions and NVIDIA's wheels matches RECORD, and that no file was added."""
    everything = packages.distributions()
    chosen = [package for package in everything.values() if STACK.fullmatch(package.name)]
    if not any(package.name == "torch" for package in chosen):
        raise Skipped("torch was not installed from a wheel, so no RECORD lists its files.")
    # If Triton's wheel lacks the tools that the activation's variables name, python_env links them into the package.
    variables = (receipt_of(context.reference) or {}).get("environment") or {}
    comparison = packages.compare(chosen, everything.values(), [str(value) for value in variables.values() if value])
    problems = [
        f"{len(paths)} files {fault}: {phrases.some(paths, LIST_LIMIT)}"
        for fault, paths in (
            ("are missing", comparison.missing),
            ("were changed after they were installed", comparison.changed),
            ("belong to no wheel", comparison.unknown),
        )
        if paths
    ]
    if comparison.unrecorded and receipt_of(context.reference):
        problems.append(f"no RECORD for {', '.join(comparison.unrecorded)}")
    measured = f"{comparison.count} files, {comparison.size / 1e9:.1f} GB"
    bound = "the sha256 in RECORD"
    if problems:
        raise Failed(
            sentences(problems), f"{reinstall()} Make intended changes in a patch of the unit.", measured, bound
        )
    if not comparison.count:
        raise Skipped("No RECORD lists torch's files: it was not installed from a wheel.")
    return Measured(measured, bound)


def _short(value: t.Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:77]}..."
