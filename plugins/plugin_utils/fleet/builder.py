"""Choose the host that builds for another host's platform."""

from __future__ import annotations

import typing as t

from ...module_utils._core.errors import SparkforgeError

#: The maximum number of hosts outside the play that are queried for earlier builds, because each costs a connection.
OUTSIDE_LIMIT = 3


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
    manifest: t.Mapping[str, t.Any] | None = None,
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
    _check_builders(builders, [name for name in inventory if name in reachable_hosts], platforms)
    builder, explanation = _choose(platform, builders, inventory, reachable_hosts, platforms)
    # An unreachable host in the play cannot be queried; its platform may be known from an earlier run.
    preceding = [name for name in _preceding(builder, builders, inventory) if name not in reachable_hosts]
    preceding = [name for name in preceding if platforms.get(name) in (None, platform)]
    outside = [name for name in preceding if name not in play_hosts][:OUTSIDE_LIMIT]
    is_builder = builder == host
    if manifest and preceding and manifest["host"] != builder:
        builder, is_builder = manifest["host"], False
        written = manifest["written"][:10]
        reason = f"{host} builds nothing: {builder} built {manifest['stack']} for {platform} already, on {written}."
    elif is_builder:
        reason = f"{host} builds for {platform}: {explanation}."
    else:
        reason = f"{host} builds nothing, {builder} builds for {platform} ({explanation})."
    return {"name": builder, "platform": platform, "here": is_builder, "outside": outside, "reason": reason}


def _preceding(name: str, builders: t.Sequence[str], inventory: t.Sequence[str]) -> list[str]:
    """Return the hosts that take precedence over ``name``, in order."""
    order = list(builders or inventory)
    return order[: order.index(name)] if name in order else order


def _check_builders(builders: t.Sequence[str], hosts: t.Sequence[str], platforms: t.Mapping[str, str]) -> None:
    """Refuse a `builders` group that shares no platform with the other hosts of the play."""
    of_builders = {name: platforms.get(name) for name in builders}
    others = [name for name in hosts if name not in of_builders]
    if not of_builders or None in of_builders.values() or not others:
        return
    needed = {platforms.get(name) for name in others}
    if needed & set(of_builders.values()):
        return
    listed = ", ".join(f"{name} ({platform})" for name, platform in of_builders.items())
    raise SparkforgeError(
        f"The group builders has {listed}, and the other hosts are {', '.join(sorted(filter(None, needed)))}: none of "
        f"its hosts can build for these platforms.",
        f"Add a host of their platform, such as {others[0]} to the group builders, or remove the group. Nothing"
        " was changed.",
    )


def _choose(
    platform: str,
    builders: t.Sequence[str],
    inventory: t.Sequence[str],
    hosts: t.Container[str],
    platforms: t.Mapping[str, str],
) -> tuple[str, str]:
    """Return the host among ``hosts`` that builds for the platform, and an explanation."""

    def first(names: t.Iterable[str]) -> str | None:
        return next((name for name in names if name in hosts and platforms.get(name) == platform), None)

    builder = first(builders)
    if builder:
        return builder, "it is in the group builders"
    # This always succeeds, because the requesting host is one of them.
    builder = t.cast(str, first(inventory))
    absent = [name for name in builders if name not in hosts]
    if absent:
        explanation = f"the group builders has {', '.join(absent)}, not in this play or unreachable"
        return builder, f"{explanation}, and it is the first host in it"
    preceding = [name for name in _preceding(builder, [], inventory) if name not in hosts]
    preceding = [name for name in preceding if platforms.get(name) in (None, platform)]
    if preceding:
        return builder, f"{preceding[0]} comes before it in the inventory and is not in this play or unreachable"
    return builder, "the first host of the platform in the inventory"
