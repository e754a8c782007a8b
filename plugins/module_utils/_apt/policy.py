"""Choose the package version to request from apt, based on its sources and pins."""

from __future__ import annotations

import fnmatch
import re
import typing as t

from .._host.apt_state import Policy
from .deb_version import compare_versions
from .request import parse_request


class Choice(t.NamedTuple):
    """The argument for apt-get, or the reason why there is none."""

    argument: str | None
    reason: str


def pin_names(pattern: str, name: str) -> bool:
    """Tell whether a pin's pattern, a glob or a regular expression between slashes, matches the package."""
    regular = re.fullmatch(r"/(.+)/", pattern)
    try:
        return bool(re.search(regular.group(1), name)) if regular else fnmatch.fnmatchcase(name, pattern)
    except re.error:
        return False


def forbidding_pin(name: str, pins: t.Iterable[t.Mapping[str, t.Any]]) -> t.Mapping[str, t.Any] | None:
    """Return the first pin with a negative priority for ``name`` (apt_preferences(5)), or None.

    :param pins: rows from :meth:`AptState.pins`.
    """
    forbidding = (pin for pin in pins if pin["priority"] < 0)
    return next((pin for pin in forbidding if any(pin_names(text, name) for text in str(pin["package"]).split())), None)


def choose(text: str, policies: t.Mapping[str, Policy], pins: t.Iterable[t.Mapping[str, t.Any]] = ()) -> Choice:
    """Choose the first available alternative, in the version that apt would prefer.

    As in apt itself, the highest pin priority wins, then the highest version. A version with a negative priority is
    never chosen, because a pin of -1 is the vendor's decision (preferences.d of DGX OS).
    """
    reasons = []
    for request in parse_request(text):
        policy = policies.get(request.name)
        if policy is None or not policy.versions:
            reasons.append(f"{request.name} is in no enabled apt source")
            continue
        if request.version is None and policy.candidate is not None and request.accepts(policy.candidate):
            return Choice(request.name, "")
        allowed = [(v, p) for v, p in policy.versions if request.accepts(v) and p >= 0 and v in policy.origins]
        if allowed:
            best = allowed[0]
            for version, priority in allowed[1:]:
                if (priority, compare_versions(version, best[0])) > (best[1], 0):
                    best = (version, priority)
            return Choice(f"{request.name}={best[0]}", "")
        if any(request.accepts(version) and priority < 0 for version, priority in policy.versions):
            pin = forbidding_pin(request.name, pins)
            which = f"the pin of {pin['package']} to {pin['priority']} in {pin['file']}" if pin else None
            reasons.append(f"{request.name} is blocked by {which or 'a pin with a negative priority'}")
        else:
            offered_versions = ", ".join(version for version, _priority in policy.versions[:4])
            reasons.append(f"{request.name} has no version {request.asked}, only {offered_versions}")
    return Choice(None, "; ".join(reasons))
