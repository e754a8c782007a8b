"""Match the plan's rails to the interfaces of a host."""

from __future__ import annotations

import typing as t

WHERE_THE_CARD_IS = "`lspci -d 15b3:` and the driver mlx5_core; for another card, set the interfaces in fabric_ports."

Facts = t.Mapping[str, t.Any]


def locate(rails: t.Iterable[Facts], info: Facts) -> list[tuple[dict[str, t.Any], dict[str, t.Any] | None]]:
    """Return each rail with its ``interface``, and the observed link or None if the host has no such half."""
    halves = {(row["port"], half): name for row in info["ports"] for half, name in enumerate(row["halves"])}
    links = {link["interface"]: link for link in info["links"]}
    located = [{**rail, "interface": halves.get((rail["port"], rail["half"]))} for rail in rails]
    return [(rail, links.get(rail["interface"])) for rail in located]
