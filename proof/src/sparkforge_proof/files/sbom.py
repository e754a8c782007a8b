# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bill of materials of an environment: CycloneDX 1.6, from receipts and RECORD.

Of what was built here it is the chain from the commit to the installed file: a package has its wheel's sha256 and its
files with theirs, and as pedigree the source, the patches and edits, and the fingerprint of the unit that made it.
"""

from __future__ import annotations

import os
import re
import typing as t
import urllib.parse
import uuid

from .._shared.module_utils._apt import receipt as apt
from .._shared.module_utils._core import digests, receipts
from .._shared.module_utils._core.errors import SparkforgeError
from .._shared.module_utils._environment import receipt as environments, tree
from .._shared.module_utils._fetch import redist_plan
from .._shared.module_utils._unit import receipt as sealing
from .._shared.module_utils._wheel import installed as packages
from .._shared.module_utils._wheel.names import normalised

Component = dict[str, t.Any]


def of_environment(root: str, name: str, system: str) -> dict[str, t.Any]:
    """Return the bill of materials of the current environment ``name`` and of the host libraries below it.

    :param system: of the host, as platforms are named: ``ubuntu24.04-aarch64``.
    :raises SparkforgeError: there is no such environment.
    """
    place = os.path.realpath(os.path.join(root, "envs", name, "current"))
    receipt = environments.own_of(place)
    if receipt is None:
        raise SparkforgeError(
            f"There is no environment {name} below {root}.",
            "Create one with playbooks/deploy.yml, or correct the name.",
        )
    installed = packages.installed([tree.site_packages(place)])
    made = {
        (normalised(output["name"]), output["sha256"]): unit
        for unit in sealing.receipts_of(root)[0]
        for output in unit["outputs"]
        if "version" in output
    }
    pins = packages.pins(receipt)
    wheels = [_package(one, pins.get(one.name, set()), made) for one in installed.values()]
    others = [*_archives(root), *_apt_packages(root, system)]
    environment = {
        "type": "application",
        "bom-ref": "environment",
        "name": name,
        "version": str(receipt.get("environment_id")),
        "properties": [_property("fingerprint", receipt["fingerprint"]), _property("platform", system)],
    }
    components = sorted([*wheels, *others], key=lambda one: str(one["bom-ref"]))
    refs = {one.name: _purl("pypi", one.name, one.version) for one in installed.values()}
    depends = [
        {
            "ref": refs[one.name],
            "dependsOn": sorted(refs[name] for name in packages.requirements(one) if name in refs),
        }
        for one in installed.values()
    ]
    content = {
        "metadata": {
            "component": environment,
            "tools": {"components": [{"type": "application", "name": "sparkforge.dgx_spark"}]},
        },
        "components": components,
        "dependencies": [
            {"ref": "environment", "dependsOn": [one["bom-ref"] for one in components]},
            *sorted(depends, key=lambda row: str(row["ref"])),
        ],
    }
    # The same environment has the same bill.
    number = uuid.uuid5(uuid.NAMESPACE_URL, digests.of_data(content))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        **content,
    }


def _package(
    one: packages.Distribution, pins: set[str], made: t.Mapping[tuple[str, str], t.Mapping[str, t.Any]]
) -> Component:
    unit = next((made[one.name, pin] for pin in sorted(pins) if (one.name, pin) in made), None)
    ref = _purl("pypi", one.name, one.version)
    component: Component = {"type": "library", "bom-ref": ref, "name": one.name, "version": one.version, "purl": ref}
    # Of several pins, one for each platform, it is not known which was taken.
    if len(pins) == 1:
        component["hashes"] = [_sha256(next(iter(pins)))]
    if unit is not None:
        component.update(_origin(unit))
    files = [
        {"type": "file", "bom-ref": f"{ref}#{row.path}", "name": row.path, "hashes": [_sha256(row.digest.hex())]}
        for row in packages.record(one) or []
        if row.algorithm == "sha256"
    ]
    if files:
        component["components"] = files
    return component


def _origin(unit: t.Mapping[str, t.Any]) -> Component:
    """Return where what a unit made comes from."""
    source = unit["inputs"].get("source") or {}
    url, commit, archive = str(unit.get("url") or ""), source.get("commit"), source.get("sha256")
    pedigree: Component = {"notes": f"built as the unit {unit['name']} {unit['fingerprint']} on {unit.get('host')}"}
    if commit:
        pedigree["commits"] = [{"uid": commit, **({"url": url} if "://" in url else {})}]
    applied = [str(row.get("patch") or row.get("edit")) for row in unit.get("applied") or [] if isinstance(row, dict)]
    if applied:
        pedigree["patches"] = [{"type": "unofficial", "diff": {"text": {"content": name}}} for name in applied]
    found: Component = {"pedigree": pedigree}
    if "://" in url or archive:
        reference: Component = {"type": "vcs" if commit else "source-distribution", "url": url or "archive"}
        if archive:
            reference["hashes"] = [_sha256(archive)]
        found["externalReferences"] = [reference]
    return found


def _archives(root: str) -> t.Iterator[Component]:
    for name in receipts.names(root, "redist-"):
        for record in redist_plan.generations(receipts.read(root, name))[:1]:
            ref = _purl("generic", str(record.get("component")), str(record.get("version")))
            digest = str(record.get("sha256"))
            component: Component = {
                "type": "library",
                "bom-ref": ref,
                "name": str(record.get("component")),
                "version": str(record.get("version")),
                "purl": ref,
                "supplier": {"name": "NVIDIA"},
                "hashes": [_sha256(digest)],
                "components": [
                    {"type": "file", "bom-ref": f"{ref}#{name}", "name": name, "hashes": [_sha256(content)]}
                    for name, content in sorted((record.get("digests") or {}).items())
                ],
            }
            if record.get("license"):
                component["licenses"] = [{"license": {"name": str(record["license"])}}]
            if record.get("url"):
                component["externalReferences"] = [{"type": "distribution", "url": str(record["url"])}]
            yield component


def _apt_packages(root: str, system: str) -> t.Iterator[Component]:
    vendor = re.match("[a-z]*", system)[0] or "debian"  # type: ignore[index]
    for name, version in sorted(apt.versions(root).items()):
        ref = _purl(f"deb/{vendor}", name, str(version))
        yield {"type": "library", "bom-ref": ref, "name": name, "version": str(version), "purl": ref}


def _purl(kind: str, name: str, version: str) -> str:
    """Return a package URL (github.com/package-url/purl-spec)."""
    return f"pkg:{kind}/{urllib.parse.quote(name, safe='')}@{urllib.parse.quote(version, safe='.-_~')}"


def _sha256(content: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": content}


def _property(name: str, value: t.Any) -> dict[str, str]:
    return {"name": f"sparkforge:{name}", "value": str(value)}
