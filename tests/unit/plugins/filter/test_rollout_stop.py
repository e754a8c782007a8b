# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.rollout_stop import FilterModule

rollout_stop = FilterModule().filters()["rollout_stop"]


def variables(**hosts: tuple[int, str | None] | None) -> dict[str, t.Any]:
    """Return hostvars of hosts, each with its wave and how it ended; None for a host of a later wave."""
    found: dict[str, t.Any] = {}
    for host, noted in hosts.items():
        wave, result = noted or (None, None)
        found[host] = {
            **({"sparkforge_wave": wave} if wave else {}),
            **({"sparkforge_outcome": {"result": result, "said": ""}} if result else {}),
        }
    return found


def stop(noted: dict[str, t.Any], *allowed: t.Any) -> str:
    return str(rollout_stop(list(noted), noted, *allowed))


def test_the_first_wave_may_begin() -> None:
    assert stop(variables(a=None, b=None)) == ""


def test_a_wave_that_ended_well_stops_nothing() -> None:
    assert stop(variables(a=(1, "done"), b=(2, "done"), c=None)) == ""


def test_one_failed_host_ends_the_rollout() -> None:
    said = stop(variables(a=(1, "done"), b=(2, "done"), c=(2, "failed"), d=None))
    assert said == "wave 2 ended the rollout: c failed (1 of 2 hosts, 0 % may)."


def test_a_host_that_was_lost_in_its_wave_counts_as_failed() -> None:
    assert stop(variables(a=(1, None), b=None)) == "wave 1 ended the rollout: a failed (1 of 1 host, 0 % may)."


def test_so_many_may_fail_as_the_site_allows() -> None:
    noted = variables(a=(1, "done"), b=(2, "failed"), c=(2, "done"), d=(2, "done"), e=(2, "done"), f=None)
    assert stop(noted, 25) == ""
    assert stop(noted, "25%") == ""
    assert stop(noted, 24) != ""


def test_hosts_that_were_not_begun_keep_the_first_reason() -> None:
    noted = variables(a=(1, "failed"), b=(2, "not begun"), c=None)
    assert "wave 1" in stop(noted)


@pytest.mark.parametrize("value", [-1, 101, "some", None])
def test_what_is_no_percentage_is_refused(value: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match=r"sparkforge_max_fail_percentage .* from 0 to 100"):
        stop({}, value)
