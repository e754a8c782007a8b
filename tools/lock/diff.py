"""The differences between two locks, one sentence for each pin."""

from __future__ import annotations

import typing as t

from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._wheel.requirement import split


def moved(old: t.Mapping[str, t.Any], new: t.Mapping[str, t.Any]) -> list[str]:
    """Return a sentence for each pin that differs between two locks."""
    before, after = _flatten(old), _flatten(new)
    lines = []
    for key in sorted(set(before) | set(after)):
        if before.get(key) == after.get(key):
            continue
        pin_before, pin_after = before.get(key, ("none", "")), after.get(key, ("none", ""))
        if pin_before[0] == pin_after[0]:
            lines.append(f"{key} {pin_after[0]}: sha256 {pin_before[1] or 'none'} -> {pin_after[1] or 'none'}")
        else:
            lines.append(f"{key}: {pin_before[0]} -> {pin_after[0]}")
    return lines


def _flatten(lock: t.Mapping[str, t.Any]) -> dict[str, tuple[str, str]]:
    """Return ``{label: (version, sha256)}`` for every pin."""
    flat: dict[str, tuple[str, str]] = {}
    for component, archive in (lock.get("archives") or {}).items():
        for platform, sha256 in (archive.get("sha256") or {}).items():
            flat[f"archives {component} {platform}"] = (archive["version"], sha256)
    for platform, lines in (lock.get("wheels") or {}).items():
        flat.update(_flat_lines(f"wheels {platform}", lines))
    for name, source in (lock.get("sources") or {}).items():
        if "archive" in source:
            flat[f"sources {name}"] = (redact(source["archive"]), source["sha256"])
        else:
            by = source.get("pinned_by")
            pinned_by = f" ({by['file']} of {by['source']} {by['commit'][:12]})" if by else ""
            flat[f"sources {name}"] = (f"{source['commit']}{pinned_by}", "")
    for part in ("build_requirements", "run_requirements"):
        for platform, units in (lock.get(part) or {}).items():
            for unit, lines in units.items():
                flat.update(_flat_lines(f"{part} {platform} {unit}", lines))
    return flat


def _flat_lines(label: str, lines: t.Iterable[str]) -> dict[str, tuple[str, str]]:
    pins = map(split, lines)
    return {f"{label} {pin.written}": (pin.version, ", ".join(pin.hashes)) for pin in pins}
