# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory that finds Sparks by multicast DNS."""

from __future__ import annotations

DOCUMENTATION = r"""
name: discover
short_description: Find DGX Sparks on the local network
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - Searches the local network by multicast DNS (mDNS, also known as Bonjour, Avahi or zeroconf) for machines that offer
    ssh. Those with a factory name of a GB10 machine count as Sparks.
  - Machines with the name of a group, or C(localhost), and all machines of one name if ssh was announced more than once
    for that name, are left out with a warning.
  - List Sparks that do not answer, or that multicast does not reach, under O(hosts).
  - Needs a file that ends in C(discover.yml) or C(discover.yaml).
requirements:
  - The Python package C(zeroconf) on the controller, unless O(browse=false).
extends_documentation_fragment: ansible.builtin.inventory_cache
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [sparkforge.dgx_spark.discover]
  names:
    description:
      - Shell patterns of names. Case and everything after the first dot are ignored.
      - A renamed Spark needs its own name here, or under O(hosts).
    type: list
    elements: str
    default: [spark-*, gx10-*, zgx-*, promaxgb10-*, thinkstationpgx-*, edgexpert-*, aitopatom-*, gn100-*]
  services:
    description: The types of services to search for.
    type: list
    elements: str
    default: [_ssh._tcp, _hpzgx._tcp]
  browse:
    description: Whether to search the network. With V(false) only O(hosts) are in the inventory.
    type: bool
    default: true
  wait:
    description: Seconds to wait for answers.
    type: float
    default: 4.0
  interfaces:
    description: The controller's addresses on the interfaces to search; all of them by default.
    type: list
    elements: str
    default: []
  hosts:
    description:
      - Sparks that are always in the inventory, by name, even if they do not answer. Their values here take precedence.
      - If the network cannot be searched, that is a warning if there are such Sparks, otherwise an error.
    type: dict
    default: {}
    suboptions:
      address:
        description: The address or name to connect to; the name itself by default.
        type: str
      port:
        description: The port of sshd.
        type: int
        default: 22
  group:
    description: The group of the Sparks.
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
  - A network in which no Spark answered is searched again, whatever is cached.
"""

EXAMPLES = r"""
# discover.yml: every Spark that answers
plugin: sparkforge.dgx_spark.discover

---
# Those of one's own naming, and one behind a router; asked once an hour
plugin: sparkforge.dgx_spark.discover
names: [spark-*, lab-gb10-*]
hosts:
  spark-attic: {address: 192.0.2.17}
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

HOST_KEYS = {"address": str, "port": int}


class InventoryModule(BaseInventoryPlugin, Cacheable):
    """Puts every Spark that is listed or answers into one group."""

    NAME = "sparkforge.dgx_spark.discover"

    def verify_file(self, path: str) -> bool:
        """Tell whether the name of the file says that it is for this plugin."""
        return bool(super().verify_file(path)) and path.endswith(("discover.yml", "discover.yaml"))

    def parse(self, inventory: t.Any, loader: t.Any, path: str, cache: bool = True) -> None:
        """Fill the inventory from the file at ``path``."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            listed = listed_hosts(self.get_option("hosts"))
            found = self._found(path, cache, bool(listed))
        except SparkforgeError as error:
            raise AnsibleParserError(str(error)) from error
        group = self.inventory.add_group(self.get_option("group"))
        by_name = self.get_option("connect_by") == "name"
        for name, variables in merged(found, listed, by_name).items():
            self.inventory.add_host(name, group=group)
            for key, value in variables.items():
                self.inventory.set_variable(name, key, value)

    def _found(self, path: str, cache: bool, spare: bool) -> list[discovery.Spark]:
        """Return who answers or answered; with ``spare`` hosts a network that cannot be asked is a warning."""
        if not self.get_option("browse"):
            return []
        self.load_cache_plugin()
        key = self.get_cache_key(path)
        caching = self.get_option("cache")
        if caching and cache:
            known = self._cache.get(key) or []
            answers = [discovery.Answer(**{**one, "addresses": tuple(one["addresses"])}) for one in known]
            # Where no Spark answered, one may have been switched on since.
            if found := self._sparks(answers):
                return found
        try:
            answers = discovery.browse(
                self.get_option("services"), self.get_option("wait"), self.get_option("interfaces")
            )
        except SparkforgeError as error:
            if not spare:
                raise
            self.display.warning(f"Only the listed hosts are in the inventory. {error}")
            return []
        found = self._sparks(answers)
        if caching:
            self._cache[key] = [asdict(answer) for answer in answers]
        if not found and not spare:
            self.display.warning(
                f"No Spark answered within {self.get_option('wait'):g} s; {len(answers)} other machines did. Check "
                f"that the Sparks are on and in this network, add their names to names, or list them under hosts."
            )
        return found

    def _sparks(self, answers: list[discovery.Answer]) -> list[discovery.Spark]:
        """Return who is taken for a Spark; who is left out is a warning each."""
        groups = {*self.inventory.groups, self.get_option("group")}
        found: list[discovery.Spark]
        found, left_out = discovery.sparks(answers, self.get_option("names"), groups)
        for sentence in left_out:
            self.display.warning(sentence)
        return found


def listed_hosts(hosts: t.Mapping[str, t.Any]) -> dict[str, dict[str, t.Any]]:
    """Return the option ``hosts`` with every key that it may have checked.

    :raises SparkforgeError: an unknown key, or a value of another type.
    """
    checked: dict[str, dict[str, t.Any]] = {}
    for name, settings in hosts.items():
        settings = settings or {}
        wrong = "no mapping" if not isinstance(settings, t.Mapping) else ""
        for key, value in settings.items() if not wrong else ():
            if key not in HOST_KEYS:
                wrong = f"unknown key {key}"
            elif not isinstance(value, HOST_KEYS[key]):
                wrong = f"{key} is {value!r}"
        if wrong:
            raise SparkforgeError(
                f"hosts has an entry {name} that cannot be read: {wrong}.",
                f"Write it as {name}: {{address: 192.0.2.17, port: 22}}; both are optional.",
            )
        checked[str(name)] = dict(settings)
    return checked


def merged(
    found: t.Iterable[discovery.Spark], listed: t.Mapping[str, t.Mapping[str, t.Any]], by_name: bool
) -> dict[str, dict[str, t.Any]]:
    """Return the variables of every host by its name: of who answered, and of who is listed, which prevail."""
    hosts: dict[str, dict[str, t.Any]] = {}
    for spark in found:
        hosts[spark.name] = {
            "ansible_host": f"{spark.name}.local" if by_name else spark.addresses[0],
            "discovered_name": f"{spark.name}.local",
            "discovered_addresses": list(spark.addresses),
        }
        if spark.port != discovery.SSH_PORT:
            hosts[spark.name]["ansible_port"] = spark.port
    for name, settings in listed.items():
        host = hosts.setdefault(name, {"ansible_host": settings.get("address", name)})
        if "address" in settings:
            host["ansible_host"] = settings["address"]
        if "port" in settings:
            host["ansible_port"] = settings["port"]
    return hosts
