# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says whether an earlier wave ended the rollout."""

from __future__ import annotations

DOCUMENTATION = r"""
name: rollout_stop
short_description: Say why the rollout goes no further
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Reads what C(playbooks/rollout.yml) noted of each host, C(sparkforge_wave) and, of those that failed,
    C(sparkforge_outcome).
  - A host that was lost in the middle of its wave counts as failed, for what was rolled out may be the cause.
positional: _input, hostvars, alive, max_fail_percentage
options:
  _input:
    description: The hosts of the rollout.
    type: list
    elements: str
    required: true
  hostvars:
    description: The variables of every host, C(hostvars).
    type: dict
    required: true
  alive:
    description: The hosts that were not lost, C(ansible_play_hosts).
    type: list
    elements: str
    required: true
  max_fail_percentage:
    description: How many of a hundred hosts of a wave may fail before the rollout ends.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Stop where an earlier wave failed
  ansible.builtin.fail:
    msg: "{{ stop }}"
  vars:
    stop: "{{ groups['sparkforge_rollout'] | sparkforge.dgx_spark.rollout_stop(hostvars, ansible_play_hosts, 20) }}"
  when: stop | length > 0
"""

RETURN = r"""
_value:
  description: One sentence, empty where the next wave may begin.
  type: str
  sample: "wave 1 ended the rollout: spark01 failed (1 of 1 host, 0 % may)."
"""

import typing as t

from ansible.errors import AnsibleFilterError


def rollout_stop(
    hosts: t.Sequence[str],
    hostvars: t.Mapping[str, t.Any],
    alive: t.Collection[str],
    max_fail_percentage: t.Any = 0,
) -> str:
    """Return why no further wave may begin, or nothing; see RETURN.

    :raises AnsibleFilterError: for a percentage that is none.
    """
    allowed, running = percentage(max_fail_percentage), set(alive)
    waves: dict[int, list[tuple[str, bool]]] = {}
    for host in hosts:
        variables = hostvars[host]
        if variables.get("sparkforge_wave"):
            done = host in running and not variables.get("sparkforge_outcome")
            waves.setdefault(int(variables["sparkforge_wave"]), []).append((host, done))
    for number, members in sorted(waves.items()):
        failed = [host for host, done in members if not done]
        if 100 * len(failed) > allowed * len(members):
            noun = "host" if len(members) == 1 else "hosts"
            return (
                f"wave {number} ended the rollout: {', '.join(failed)} failed"
                f" ({len(failed)} of {len(members)} {noun}, {allowed:g} % may)."
            )
    return ""


def percentage(value: t.Any) -> float:
    """Return how many of a hundred may fail.

    :raises AnsibleFilterError: for what is no percentage.
    """
    try:
        number = float(str(value).strip().removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise AnsibleFilterError(
            f"sparkforge_max_fail_percentage is {value}, which is not a percentage. Set it to a number from 0 to 100."
        )
    return number


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"rollout_stop": rollout_stop}
