# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory plugin that finds Sparks by multicast DNS."""

from __future__ import annotations

DOCUMENTATION = r"""
name: discover
short_description: Find DGX Sparks on the local network
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - Searches the local network by multicast DNS (mDNS, also known as Bonjour, Avahi or zeroconf) for machines that offer
    ssh. Those with the factory name of a GB10 machine count as Sparks.
  - Machines named like a group or C(localhost) are left out with a warning, and so are all machines that share a name
    for which ssh was announced more than once.
  - List Sparks that do not answer, or that multicast does not reach, in a second inventory.
  - The name of the inventory file must end in C(discover.yml) or C(discover.yaml).
requirements:
  - The Python package C(zeroconf) on the controller.
extends_documentation_fragment: ansible.builtin.inventory_cache
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [sparkforge.dgx_spark.discover]
  names:
    description:
      - Shell patterns for names. Case and everything after the first dot are ignored.
      - Add the name of a renamed Spark here.
    type: list
    elements: str
    default: [spark-*, gx10-*, zgx-*, promaxgb10-*, thinkstationpgx-*, edgexpert-*, aitopatom-*, gn100-*]
  services:
    description: The service types to search for.
    type: list
    elements: str
    default: [_ssh._tcp, _hpzgx._tcp]
  wait:
    description: Seconds to wait for answers; up to twice as long while new answers arrive.
    type: float
    default: 4.0
  interfaces:
    description: The controller's addresses on the interfaces to search; by default all of them.
    type: list
    elements: str
    default: []
  group:
    description: The group that the Sparks are added to.
    type: str
    default: sparks
  connect_by:
    description:
      - Whether C(ansible_host) is the C(address) or the announced C(name), C(spark-ab12.local).
      - A name stays valid when a router assigns new addresses, but needs a controller that resolves such names; macOS
        and Ubuntu desktops do.
    type: str
    choices: [address, name]
    default: address
notes:
  - Each host gets C(discovered_addresses), all addresses that it announced, and C(discovered_name).
  - If no Spark answered the last search, the network is searched again despite the cache.
"""

EXAMPLES = r"""
# discover.yml: every Spark that answers
plugin: sparkforge.dgx_spark.discover

---
# Sparks with names of your own; searched once an hour
plugin: sparkforge.dgx_spark.discover
names: [spark-*, lab-gb10-*]
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/sparkforge/discover
cache_timeout: 3600
"""

import typing as t
from dataclasses import asdict

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable

from ...tools import discovery
from ..module_utils._core.errors import SparkforgeError


class InventoryModule(BaseInventoryPlugin, Cacheable):
    """Puts every Spark that answers into one group."""

    NAME = "sparkforge.dgx_spark.discover"

    def verify_file(self, path: str) -> bool:
        """Tell whether the file's name marks it as a configuration of this plugin."""
        return bool(super().verify_file(path)) and path.endswith(("discover.yml", "discover.yaml"))

    def parse(self, inventory: t.Any, loader: t.Any, path: str, cache: bool = True) -> None:
        """Fill the inventory from the file at ``path``."""
        super().parse(inventory, loader, path, cache)
        if unknown := sorted(set(self._read_config_data(path)) - set(self.get_options())):
            raise AnsibleParserError(
                f"{path} has {', '.join(unknown)}, which discover does not know. Remove it; Sparks that do not answer "
                f"can be listed in another inventory."
            )
        try:
            sparks = self._sparks(path, cache)
        except SparkforgeError as error:
            raise AnsibleParserError(str(error)) from error
        group = self.inventory.add_group(self.get_option("group"))
        for spark in sparks:
            self.inventory.add_host(
                spark.name, group=group, port=spark.port if spark.port != discovery.SSH_PORT else None
            )
            host = spark.local_name if self.get_option("connect_by") == "name" else spark.addresses[0]
            self.inventory.set_variable(spark.name, "ansible_host", host)
            self.inventory.set_variable(spark.name, "discovered_name", spark.local_name)
            self.inventory.set_variable(spark.name, "discovered_addresses", list(spark.addresses))

    def _sparks(self, path: str, cache: bool) -> list[discovery.Spark]:
        """Return the Sparks that answer or, with the cache, answered before."""
        self.load_cache_plugin()
        key, caching = self.get_cache_key(path), self.get_option("cache")
        if caching and cache:
            cached_answers = [
                discovery.Answer(**{**row, "addresses": tuple(row["addresses"])}) for row in self._cache.get(key) or []
            ]
            # If no Spark answered last time, search again, because one may have been switched on since.
            if sparks := self._accepted_sparks(cached_answers):
                return sparks
        wait = self.get_option("wait")
        answers, omissions = discovery.browse(self.get_option("services"), wait, self.get_option("interfaces"))
        for sentence in omissions:
            self.display.warning(sentence)
        if caching:
            self._cache[key] = [asdict(answer) for answer in answers]
        sparks = self._accepted_sparks(answers)
        if not sparks:
            self.display.warning(
                f"No Spark answered within {wait:g} s; {len(answers)} other machines did. Check that the Sparks are on "
                f"and in this network, add their names to names, or list them in another inventory."
            )
        return sparks

    def _accepted_sparks(self, answers: list[discovery.Answer]) -> list[discovery.Spark]:
        """Return the answers that count as Sparks, and warn about each machine that is left out."""
        groups = {*self.inventory.groups, self.get_option("group")}
        sparks: list[discovery.Spark]
        sparks, left_out = discovery.sparks(answers, self.get_option("names"), groups)
        for sentence in left_out:
            self.display.warning(sentence)
        return sparks
