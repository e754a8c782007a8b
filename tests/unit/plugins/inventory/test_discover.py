# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.inventory import discover
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.tools import discovery

ANSWERED = discovery.Spark("spark-ab12", ("192.0.2.7", "fe80::7%eth0"))


def test_the_documented_defaults_are_those_of_the_code() -> None:
    options = yaml.safe_load(discover.DOCUMENTATION)["options"]
    assert tuple(options["names"]["default"]) == discovery.FACTORY_NAMES
    assert tuple(options["services"]["default"]) == discovery.SERVICES


def test_who_answers_is_reached_by_address_or_by_name() -> None:
    host = discover.merged([ANSWERED], {}, by_name=False)["spark-ab12"]
    assert host == {
        "ansible_host": "192.0.2.7",
        "discovered_name": "spark-ab12.local",
        "discovered_addresses": ["192.0.2.7", "fe80::7%eth0"],
    }
    assert discover.merged([ANSWERED], {}, by_name=True)["spark-ab12"]["ansible_host"] == "spark-ab12.local"
    odd = discovery.Spark("spark-ab12", ("192.0.2.7",), 2222)
    assert discover.merged([odd], {}, by_name=False)["spark-ab12"]["ansible_port"] == 2222


def test_who_is_listed_is_there_and_prevails() -> None:
    listed = {"spark-ab12": {"address": "198.51.100.1", "port": 2022}, "attic": {}}
    hosts = discover.merged([ANSWERED], listed, by_name=False)
    assert hosts["spark-ab12"]["ansible_host"] == "198.51.100.1"
    assert hosts["spark-ab12"]["ansible_port"] == 2022
    assert hosts["spark-ab12"]["discovered_addresses"] == ["192.0.2.7", "fe80::7%eth0"]
    assert hosts["attic"] == {"ansible_host": "attic"}
    kept = discover.merged([ANSWERED], {"spark-ab12": {}}, by_name=False)
    assert kept["spark-ab12"]["ansible_host"] == "192.0.2.7"


@pytest.mark.parametrize(
    ("settings", "said"),
    [("192.0.2.1", "no mapping"), ({"addres": "192.0.2.1"}, "unknown key addres"), ({"port": "22"}, "port is '22'")],
)
def test_a_listed_host_that_cannot_be_read_is_refused(settings: t.Any, said: str) -> None:
    with pytest.raises(SparkforgeError, match=f"entry attic .*{said}.*address: 192"):
        discover.listed_hosts({"attic": settings})
    assert discover.listed_hosts({"attic": None}) == {"attic": {}}
