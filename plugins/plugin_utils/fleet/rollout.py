"""A rollout: check that its hosts are different machines, compute the waves, and report where it stopped."""

from __future__ import annotations

import re
import typing as t

from ...module_utils._core.errors import SparkforgeError

#: The default waves: one canary, then a quarter, then the rest.
DEFAULT = (1, "25%", "rest")
_REMEDY = "Set sparkforge_waves to numbers of hosts, percentages and rest, such as [1, 25%, rest]."
#: With another jump host or port, the same address is a different machine.
_ROUTE = ("ansible_port", "ansible_ssh_common_args", "ansible_ssh_extra_args")


def distinct(hosts: t.Sequence[str], hostvars: t.Mapping[str, t.Any]) -> list[str]:
    """Return the hosts if each has its own address.

    :raises SparkforgeError: if two names belong to one machine, which would build, publish and measure twice at the
        same time.
    """
    names: dict[tuple[str, ...], str] = {}
    for host in hosts:
        variables = hostvars[host]
        address = str(variables.get("ansible_host") or host).lower()
        route = (address, *(str(variables.get(name) or "") for name in _ROUTE))
        other = names.setdefault(route, host)
        if other != host:
            raise SparkforgeError(
                f"{other} and {host} are one machine in this inventory: both are reached at {address}.",
                f"Remove one of the names, leave it out with -l '!{host}', or correct its ansible_host.",
            )
    return list(hosts)


def waves(hosts: t.Sequence[str], definition: t.Any = "default") -> list[int]:
    """Return the size of each wave.

    :raises SparkforgeError: for an invalid definition, or one that leaves hosts out.
    """
    entries = _parse(DEFAULT if definition == "default" else definition)
    percentages = sum(int(entry[:-1]) for entry in entries if entry.endswith("%"))
    if percentages > 100:
        raise SparkforgeError(f"The waves {_listed(entries)} add up to {percentages} % of the hosts.", _REMEDY)
    left, sizes = len(hosts), []
    for entry in entries:
        if entry == "rest":
            size = left
        elif entry.endswith("%"):
            size = max(1, len(hosts) * int(entry[:-1]) // 100)
        else:
            size = int(entry)
        sizes.append(min(size, left))
        left -= sizes[-1]
    if left:
        raise SparkforgeError(
            f"The waves {_listed(entries)} hold {sum(sizes)} of {len(hosts)} hosts: {left} would never be reached.",
            "Make rest the last wave of sparkforge_waves.",
        )
    return [size for size in sizes if size] or [1]


def _parse(definition: t.Any) -> list[str]:
    """Return the waves as validated strings."""
    listed = [definition] if isinstance(definition, int) else definition
    if isinstance(listed, str):
        listed = [entry for entry in re.split(r"[\s,\[\]'\"]+", listed) if entry]
    if not isinstance(listed, t.Sequence) or not listed:
        raise SparkforgeError("sparkforge_waves has no wave.", _REMEDY)
    entries = [str(item).strip() for item in listed]
    for number, entry in enumerate(entries, 1):
        if isinstance(listed[number - 1], bool) or not re.fullmatch(r"[1-9]\d{0,5}|[1-9]\d?%|100%|rest", entry):
            raise SparkforgeError(f"{entry} is not a wave size.", _REMEDY)
        if entry == "rest" and number < len(entries):
            raise SparkforgeError(f"In the waves {_listed(entries)} no hosts are left after rest.", _REMEDY)
    return entries


def _listed(entries: t.Sequence[str]) -> str:
    return f"[{', '.join(entries)}]"


def stop(
    hosts: t.Sequence[str], hostvars: t.Mapping[str, t.Any], alive: t.Collection[str], max_fail_percentage: t.Any = 0
) -> str:
    """Return why no further wave may start, or ''."""
    allowed, running = percentage(max_fail_percentage), set(alive)
    waves: dict[int, list[tuple[str, bool]]] = {}
    for host in hosts:
        variables = hostvars[host]
        if variables.get("sparkforge_wave"):
            is_done = host in running and not variables.get("sparkforge_outcome")
            waves.setdefault(int(variables["sparkforge_wave"]), []).append((host, is_done))
    for number, members in sorted(waves.items()):
        failed = [host for host, is_done in members if not is_done]
        if 100 * len(failed) > allowed * len(members):
            noun = "host" if len(members) == 1 else "hosts"
            return (
                f"wave {number} stopped the rollout: {', '.join(failed)} failed"
                f" ({len(failed)} of {len(members)} {noun}, at most {allowed:g} % may)."
            )
    return ""


def percentage(value: t.Any) -> float:
    """Return the percentage of hosts that may fail."""
    try:
        number = float(str(value).strip().removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise SparkforgeError(
            f"sparkforge_max_fail_percentage is {value}, which is not a percentage.",
            "Set it to a number from 0 to 100.",
        )
    return number


def stopped(hosts: t.Sequence[str], alive: t.Collection[str], hostvars: t.Mapping[str, t.Any]) -> dict[str, str]:
    """Return the hosts on which the run stopped, each with the reason."""
    running = set(alive)
    reasons = {}
    for host in hosts:
        reason = _stop_reason(host in running, hostvars[host])
        if reason:
            reasons[host] = " ".join(f"{reason.strip().rstrip('.')}{_interim_state(hostvars[host])}".split())
    return reasons


def _interim_state(variables: t.Mapping[str, t.Any]) -> str:
    """Return a host's usable state while its stack is not built yet, as a clause."""
    failed = str((variables.get("sparkforge_bridge") or {}).get("failed") or "")
    if failed:
        return f"; the interim wheels: {failed.rstrip('.')}"
    if (variables.get("__python_env_switched") or {}).get("changed"):
        return ""
    observed = (variables.get("ansible_facts") or {}).get("spark_info") or {}
    environment = (observed.get("environments") or {}).get(variables.get("python_env_name") or "torch") or {}
    stack = environment.get("stack") or {}
    if (variables.get("stack") or {}).get("method") == "build" and stack.get("method") == "wheel":
        root, name = variables.get("sparkforge_root") or "/opt/sparkforge", variables.get("python_env_name") or "torch"
        return (
            f"; until its stack is built, you can use the official wheels of {stack['name']}"
            f" (. {root}/bin/activate-{name}), and stack_method: wheel keeps them"
        )
    return ""


def _stop_reason(alive: bool, variables: t.Mapping[str, t.Any]) -> str:
    outcome = variables.get("sparkforge_outcome")
    if outcome:
        return str(outcome)
    if alive:
        stop = variables.get("sparkforge_stop")
        return f"was not started and is unchanged: {stop.rstrip('.')}" if stop else ""
    if variables.get("sparkforge_wave"):
        return (
            f"was lost in wave {variables['sparkforge_wave']}; it keeps its previous environment until the new one is "
            f"proven, and the next run continues"
        )
    if "spark_info" in (variables.get("ansible_facts") or {}):
        return "failed before the rollout, see above; the next run tries again"
    return "was unreachable, or failed before it was observed; the next run tries again"
