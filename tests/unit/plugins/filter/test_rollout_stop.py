# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

rollout_stop = FilterModule().filters()["rollout_stop"]


def stop(*allowed: t.Any, **hosts: tuple[int, str] | None) -> str:
    """Return what the filter says of hosts, each with its wave and how it ended; None for a host of a later wave."""
    noted: dict[str, t.Any] = {host: {} for host in hosts}
    for host, ended in hosts.items():
        if ended:
            noted[host]["sparkforge_wave"] = ended[0]
            if ended[1] == "failed":
                noted[host]["sparkforge_outcome"] = "failed"
    alive = [host for host, ended in hosts.items() if not ended or ended[1] != "lost"]
    return str(rollout_stop(list(hosts), noted, alive, *allowed))


def test_the_first_wave_may_begin() -> None:
    assert stop(a=None, b=None) == ""


def test_a_wave_that_ended_well_stops_nothing() -> None:
    assert stop(a=(1, "done"), b=(2, "done"), c=None) == ""


def test_one_failed_host_ends_the_rollout() -> None:
    said = stop(a=(1, "done"), b=(2, "done"), c=(2, "failed"), d=None)
    assert said == "wave 2 ended the rollout: c failed (1 of 2 hosts, 0 % may)."


def test_a_host_that_was_lost_in_its_wave_counts_as_failed() -> None:
    assert stop(a=(1, "lost"), b=None) == "wave 1 ended the rollout: a failed (1 of 1 host, 0 % may)."


def test_the_waves_of_a_bridge_are_not_those_of_the_rollout() -> None:
    assert stop(a=(0, "lost"), b=(0, "done")) == ""


def test_so_many_may_fail_as_the_site_allows() -> None:
    noted = {"a": (1, "done"), "b": (2, "failed"), "c": (2, "done"), "d": (2, "done"), "e": (2, "done"), "f": None}
    assert stop(25, **noted) == ""
    assert stop("25%", **noted) == ""
    assert stop(24, **noted) != ""


def test_hosts_that_were_not_begun_keep_the_first_reason() -> None:
    assert "wave 1" in stop(a=(1, "failed"), b=(2, "not begun"), c=None)


@pytest.mark.parametrize("value", [-1, 101, "some", None])
def test_what_is_no_percentage_is_refused(value: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match=r"sparkforge_max_fail_percentage .* from 0 to 100"):
        stop(value)
