# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sparks on the local network: who answers multicast DNS, and which of the answers are machines with a GB10."""

from __future__ import annotations

import fnmatch
import ipaddress
import re
import time
import typing as t
from dataclasses import dataclass

from ..plugins.module_utils._core.errors import SparkforgeError, UnreachableError
from ..plugins.plugin_utils.names import RESERVED

try:
    import zeroconf
except ImportError:
    HAS_ZEROCONF = False
else:
    HAS_ZEROCONF = True

#: How machines with a GB10 are called from the factory: a word for the model, and four hexadecimal digits. Each was
#: read in public pages or repositories (docs/reference.md, "Names of Sparks"); owners rename theirs as they like.
FACTORY_NAMES = (
    "spark-*",  # NVIDIA DGX Spark
    "gx10-*",  # ASUS Ascent GX10
    "zgx-*",  # HP ZGX Nano
    "promaxgb10-*",  # Dell Pro Max with GB10
    "thinkstationpgx-*",  # Lenovo ThinkStation PGX
    "edgexpert-*",  # MSI EdgeXpert
    "aitopatom-*",  # Gigabyte AI TOP ATOM
    "gn100-*",  # Acer Veriton GN100
)
#: Announced services: NVIDIA's own script (dgx-spark-playbooks, connect-two-sparks/assets/discover-sparks) searches for
#: the first, HP's ZGX Toolkit (src/constants/net.ts) for both.
SERVICES = ("_ssh._tcp", "_hpzgx._tcp")
SERVICE = re.compile(r"_[A-Za-z0-9-]{1,15}\._(?:tcp|udp)")
SSH_PORT = 22
#: The form of a name's first label (RFC 1123). Anybody in the network can announce anything, and the name of a
#: host becomes the name of files.
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
#: Milliseconds to wait for the addresses of a machine whose name is known.
RESOLVE_TIMEOUT = 2000


@dataclass(frozen=True)
class Answer:
    """What one machine announced: ``server`` (``spark-ab12.local.``), its service's type and port, its addresses."""

    server: str
    service: str
    port: int
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Spark:
    """A machine that is taken for a Spark.

    ``name`` is ``spark-ab12``; ``addresses`` are in the order in which they are to be tried, and ``port`` is where sshd
    listens.
    """

    name: str
    addresses: tuple[str, ...]
    port: int = SSH_PORT


def sparks(
    answers: t.Iterable[Answer], names: t.Sequence[str] = FACTORY_NAMES, groups: t.Iterable[str] = ()
) -> tuple[list[Spark], list[str]]:
    """Return the machines whose name one of ``names`` matches, in the order of their names, and who was left out.

    Of two machines that announce one name neither is taken. Addresses of one name cannot be told apart, so that two are
    told by two announcements of ssh; one that takes over the other's announcement is told by its ssh host key alone.

    :param names: patterns as the shell has them, for the first label of the name; case does not count.
    :param groups: names of groups, which no machine may have.
    :returns: the Sparks, and a sentence on each name that was left out.
    """
    merged: dict[str, list[Answer]] = {}
    for answer in answers:
        label, _dot, domain = answer.server.lower().partition(".")
        if not LABEL.fullmatch(label) or domain.rstrip(".") != "local":
            continue
        if any(fnmatch.fnmatchcase(label, name.lower()) for name in names):
            merged.setdefault(label, []).append(answer)
    found, left_out = [], []
    for name, said in sorted(merged.items()):
        addresses = sorted({address for answer in said for address in answer.addresses}, key=preference)
        # The port of another service is not sshd's.
        ports = [answer.port for answer in said if answer.service == "_ssh._tcp"]
        if name in RESERVED or name in groups:
            left_out.append(f"The machine at {' and '.join(addresses)} announces the reserved name {name}. Rename it.")
        elif len(ports) > 1:
            left_out.append(
                f"Two machines are called {name}: ssh was announced {len(ports)} times, for {' and '.join(addresses)}. "
                f"Rename one, or list the right one with its address under hosts."
            )
        else:
            found.append(Spark(name, tuple(addresses), ports[0] if ports else SSH_PORT))
    return found, left_out


def preference(address: str) -> tuple[int, int, int]:
    """Return what addresses are sorted by: IPv4 first, and those of one cable alone (169.254…, fe80…) last.

    Two Sparks that are cabled together give each other such addresses, and a controller has no way there.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return (int(parsed.is_link_local), parsed.version, int(parsed))


def browse(services: t.Sequence[str] = SERVICES, wait: float = 4.0, interfaces: t.Sequence[str] = ()) -> list[Answer]:
    """Ask the local network by multicast DNS and return what was announced within ``wait`` seconds.

    :param services: types without their domain, ``_ssh._tcp``.
    :param interfaces: addresses of this machine, of the interfaces that are asked on; none for all of them.
    :raises SparkforgeError: zeroconf is not installed, or a type is none.
    :raises UnreachableError: this machine has no network that multicast goes through.
    """
    if not HAS_ZEROCONF:
        raise SparkforgeError(
            "Finding Sparks needs the Python package zeroconf, which is not installed.",
            "Install it for the Python that runs Ansible (pip install zeroconf), or list the Sparks under hosts and "
            "set browse: false.",
        )
    for service in services:
        if not SERVICE.fullmatch(service):
            raise SparkforgeError(f"{service} is not a service type.", "Write it as _ssh._tcp, without a domain.")
    types = [f"{service}.local." for service in services]
    try:
        client = zeroconf.Zeroconf(interfaces=list(interfaces) or zeroconf.InterfaceChoice.All)
    except OSError as error:
        raise UnreachableError(
            f"The search for Sparks in the network failed: {error}.",
            "Connect this machine to the network of the Sparks, or list them under hosts.",
        ) from error
    try:
        instances: set[tuple[str, str]] = set()

        def note(**said: t.Any) -> None:
            gone = said["state_change"] is zeroconf.ServiceStateChange.Removed
            (instances.discard if gone else instances.add)((said["service_type"], said["name"]))

        browser = zeroconf.ServiceBrowser(client, types, handlers=[note])
        # It asks at once, after a second, and after two more (RFC 6762, 5.2): the first answers may be lost.
        time.sleep(wait)
        browser.cancel()
        answers = []
        for kind, instance in sorted(instances):
            info = client.get_service_info(kind, instance, timeout=RESOLVE_TIMEOUT)
            # A machine that announced itself and is gone again no longer answers.
            if info and info.server and info.parsed_addresses():
                service = kind.removesuffix(".local.")
                addresses = tuple(info.parsed_scoped_addresses())
                answers.append(Answer(info.server, service, info.port or SSH_PORT, addresses))
        return answers
    finally:
        client.close()
