# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Choose the host that builds for another host's platform."""

from __future__ import annotations

import typing as t

from ...module_utils._core.errors import SparkforgeError

#: The number of hosts outside the play that are queried for earlier builds, because each costs a connection.
ASKED = 3


def platforms(hosts: t.Iterable[str], hostvars: t.Mapping[str, t.Any]) -> dict[str, str]:
    """Return the platform of each observed host."""
    facts = {host: hostvars[host].get("ansible_facts") or {} for host in hosts}
    return {host: of_host["spark_info"]["platform"] for host, of_host in facts.items() if of_host.get("spark_info")}


def elect(
    host: str,
    groups: t.Mapping[str, t.Sequence[str]],
    play_hosts: t.Sequence[str],
    platforms: t.Mapping[str, str],
    reached: t.Sequence[str] | None = None,
    found: t.Mapping[str, t.Any] | None = None,
) -> dict[str, t.Any]:
    """Return the builder for ``host``, and the reason.

    :raises SparkforgeError: if the host was not observed, or the `builders` group cannot build for the other hosts.
    """
    platform = platforms.get(host)
    if platform is None:
        raise SparkforgeError(
            f"The platform of {host} is not known.",
            "Run sparkforge.dgx_spark.spark_info on every host of the play first.",
        )
    inventory = list(groups.get("all") or play_hosts)
    reachable_hosts = set(play_hosts if reached is None else reached)
    builders = list(groups.get("builders") or [])
    _check_builders(builders, [item for item in inventory if item in reachable_hosts], platforms)
    name, why = _choose(platform, builders, inventory, reachable_hosts, platforms)
    # An unreachable host in the play cannot be queried; its platform may be known from an earlier run.
    before = [item for item in _preceding(name, builders, inventory) if item not in reachable_hosts]
    before = [item for item in before if platforms.get(item) in (None, platform)]
    absent_hosts = [item for item in before if item not in play_hosts][:ASKED]
    if found and before and found["host"] != name:
        reason = (
            f"{host} builds nothing: {found['host']} built {found['stack']} for {platform} already,"
            f" on {found['written'][:10]}."
        )
        return {"name": found["host"], "platform": platform, "here": False, "outside": absent_hosts, "reason": reason}
    if name == host:
        reason = f"{host} builds for {platform}: {why}."
    else:
        reason = f"{host} builds nothing, {name} builds for {platform} ({why})."
    return {"name": name, "platform": platform, "here": name == host, "outside": absent_hosts, "reason": reason}


def _preceding(name: str, named: t.Sequence[str], inventory: t.Sequence[str]) -> list[str]:
    """Return the hosts that take precedence over ``name``, in order."""
    order = list(named) if named else list(inventory)
    return order[: order.index(name)] if name in order else order


def _check_builders(named: t.Sequence[str], playing: t.Sequence[str], platforms: t.Mapping[str, str]) -> None:
    """Refuse a `builders` group that shares no platform with the other hosts of the play."""
    kinds = {item: platforms.get(item) for item in named}
    others = [item for item in playing if item not in kinds]
    if not kinds or None in kinds.values() or not others:
        return
    needed = {platforms.get(item) for item in others}
    if needed & set(kinds.values()):
        return
    hosts = ", ".join(f"{item} ({kind})" for item, kind in kinds.items())
    raise SparkforgeError(
        f"The group builders has {hosts}, and the other hosts are {', '.join(sorted(filter(None, needed)))}: none of "
        f"its hosts can build for these platforms.",
        f"Add a host of their platform, such as {others[0]} to the group builders, or remove the group. Nothing"
        " was changed.",
    )


def _choose(
    platform: str,
    named: t.Sequence[str],
    inventory: t.Sequence[str],
    playing: t.Container[str],
    platforms: t.Mapping[str, str],
) -> tuple[str, str]:

    def first(hosts: t.Iterable[str]) -> str | None:
        return next((item for item in hosts if item in playing and platforms.get(item) == platform), None)

    chosen = first(named)
    if chosen:
        return chosen, "it is in the group builders"
    # This always succeeds, because the requesting host is one of them.
    chosen = t.cast(str, first(inventory))
    absent = [item for item in named if item not in playing]
    if absent:
        why = f"the group builders has {', '.join(absent)}, not in this play or unreachable"
        return chosen, f"{why}, and it is the first host in it"
    before = [item for item in inventory[: list(inventory).index(chosen)] if item not in playing]
    before = [item for item in before if platforms.get(item) in (None, platform)]
    if before:
        return chosen, f"{before[0]} comes before it in the inventory and is not in this play or unreachable"
    return chosen, "the first host of the platform in the inventory"
