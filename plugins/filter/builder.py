# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says which host builds for the platform of another."""

from __future__ import annotations

DOCUMENTATION = r"""
name: builder
short_description: Say which host builds for a host
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - The builder of a platform is its first host in the group C(builders); where none is there, its first host in the
    inventory. Neither C(--limit) nor C(serial) changes that.
  - Where the builder is not in the play, nobody builds if what it built is known (O(found)). Otherwise the first host
    of the platform in the play builds, and the reason says so.
  - A platform is known of hosts that M(sparkforge.dgx_spark.spark_info) observed, so of those in the play. It goes by
    membership, never by C(run_once), which is the first host of each batch, and none where that is skipped.
  - A group C(builders) that can build for nobody but itself is refused.
positional: groups, play_hosts, platforms, reached, found
options:
  _input:
    description: The host, C(inventory_hostname).
    type: str
    required: true
  groups:
    description: The inventory's groups, C(groups).
    type: dict
    required: true
  play_hosts:
    description: Every host of the play, of all batches, C(ansible_play_hosts_all).
    type: list
    elements: str
    required: true
  platforms:
    description: The platform of every host that was observed, of P(sparkforge.dgx_spark.platforms#filter).
    type: dict
    required: true
  reached:
    description: The hosts of the play that are still in it, C(ansible_play_hosts); all where left out.
    type: list
    elements: str
  found:
    description: The manifest of what was built already, where one was found.
    type: dict
"""

EXAMPLES = r"""
- name: Say who builds
  ansible.builtin.debug:
    msg: "{{ (inventory_hostname | sparkforge.dgx_spark.builder(groups, ansible_play_hosts_all, platforms)).reason }}"
  vars:
    platforms: "{{ groups.all | sparkforge.dgx_spark.platforms(hostvars) }}"
"""

RETURN = r"""
_value:
  description:
    - C(name) of the host that builds, or built, the C(platform) it is for, whether this host builds (C(here)), and
      C(reason).
    - C(outside) are the hosts to ask, the likeliest first, for what they built, because they come before C(name) and
      are not in the play.
  type: dict
  sample:
    name: spark01
    platform: ubuntu24.04-aarch64
    here: false
    outside: []
    reason: spark02 builds nothing, spark01 builds for ubuntu24.04-aarch64 (the first of it in the inventory).
"""

import typing as t

from ansible.errors import AnsibleFilterError

#: Hosts outside the play that are asked for what they built: each costs a connection.
ASKED = 3


def builder(
    host: str,
    groups: t.Mapping[str, t.Sequence[str]],
    play_hosts: t.Sequence[str],
    platforms: t.Mapping[str, str],
    reached: t.Sequence[str] | None = None,
    found: t.Mapping[str, t.Any] | None = None,
) -> dict[str, t.Any]:
    """Return who builds for ``host``, and why; see RETURN.

    :raises AnsibleFilterError: where the host was not observed, or the group builders can build for nobody else.
    """
    platform = platforms.get(host)
    if platform is None:
        raise AnsibleFilterError(
            f"It is not known what {host} is. Run sparkforge.dgx_spark.spark_info on every host of the play first."
        )
    inventory = list(groups.get("all") or play_hosts)
    playing = set(play_hosts if reached is None else reached)
    named = list(groups.get("builders") or [])
    _refuse_strangers(named, [item for item in inventory if item in playing], platforms)
    name, why = _choose(platform, named, inventory, playing, platforms)
    # Of one in the play that was not reached there is nothing to learn; what it is may be known of an earlier run.
    before = [item for item in _before(name, named, inventory) if item not in playing]
    before = [item for item in before if platforms.get(item) in (None, platform)]
    outside = [item for item in before if item not in play_hosts][:ASKED]
    if found and before and found["host"] != name:
        reason = (
            f"{host} builds nothing: {found['host']} built {found['stack']} for {platform} already,"
            f" on {found['written'][:10]}."
        )
        return {"name": found["host"], "platform": platform, "here": False, "outside": outside, "reason": reason}
    if name == host:
        reason = f"{host} builds for {platform}: {why}."
    else:
        reason = f"{host} builds nothing, {name} builds for {platform} ({why})."
    return {"name": name, "platform": platform, "here": name == host, "outside": outside, "reason": reason}


def _before(name: str, named: t.Sequence[str], inventory: t.Sequence[str]) -> list[str]:
    """Return who would rather build than ``name``, in order."""
    order = list(named) if named else list(inventory)
    return order[: order.index(name)] if name in order else order


def _refuse_strangers(named: t.Sequence[str], playing: t.Sequence[str], platforms: t.Mapping[str, str]) -> None:
    """Refuse a group builders whose hosts are all of a platform that no other host of the play has.

    :raises AnsibleFilterError: naming the builders and what they are.
    """
    kinds = {item: platforms.get(item) for item in named}
    others = [item for item in playing if item not in kinds]
    if not kinds or None in kinds.values() or not others:
        return
    wanted = {platforms.get(item) for item in others}
    if wanted & set(kinds.values()):
        return
    listed = ", ".join(f"{item} ({kind})" for item, kind in kinds.items())
    raise AnsibleFilterError(
        f"The group builders has {listed}, and the other hosts are {', '.join(sorted(filter(None, wanted)))}: it can"
        f" build for none of them. Put a host of their platform, such as {others[0]}, into the group builders, or take"
        " the group away. Nothing was changed."
    )


def _choose(
    platform: str,
    named: t.Sequence[str],
    inventory: t.Sequence[str],
    playing: t.Container[str],
    platforms: t.Mapping[str, str],
) -> tuple[str, str]:
    """Return the builder and why it is."""

    def first(hosts: t.Iterable[str]) -> str | None:
        return next((item for item in hosts if item in playing and platforms.get(item) == platform), None)

    chosen = first(named)
    if chosen:
        return chosen, "it is in the group builders"
    # Always found: the host that asks is one of them.
    chosen = t.cast(str, first(inventory))
    absent = [item for item in named if item not in playing]
    if absent:
        why = f"the group builders has {', '.join(absent)}, outside this play or not reached"
        return chosen, f"{why}, and it is the first host in it"
    before = [item for item in inventory[: list(inventory).index(chosen)] if item not in playing]
    before = [item for item in before if platforms.get(item) in (None, platform)]
    if before:
        return chosen, f"{before[0]} comes before it in the inventory and is outside this play or not reached"
    return chosen, "the first of it in the inventory"


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"builder": builder}
