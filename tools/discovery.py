"""Sparks on the local network: machines that answer multicast DNS, and which of them have a GB10.

The inventory plugin ``discover`` and the command ``sparkforge setup`` both use this module.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import ipaddress
import re
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..plugins.module_utils._core.errors import SparkforgeError, UnreachableError

#: Factory names of machines with a GB10: a word for the model, and four hexadecimal digits. Each was read on public
#: pages or in repositories (docs/reference.md, "Names of Sparks"); owners may rename their machines.
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
#: Ansible's own name for the machine that it runs on. If the inventory gave this name to another machine, plays on
#: ``localhost`` and tasks delegated to it would run there.
CONTROLLER = "localhost"
#: Names that no machine may have: the controller's, and the groups of Ansible and of the collection.
RESERVED = frozenset({CONTROLLER, "all", "ungrouped", "sparks", "builders", "fabric"})
#: Announced services: NVIDIA's own script (dgx-spark-playbooks, connect-two-sparks/assets/discover-sparks) searches for
#: the first, HP's ZGX Toolkit (src/constants/net.ts) for both.
SERVICES = ("_ssh._tcp", "_hpzgx._tcp")
SERVICE = re.compile(r"_[A-Za-z0-9-]{1,15}\._(?:tcp|udp)")
SSH_PORT = 22
#: The form of a name's first label (RFC 1123). Any machine on the network can announce any name, and host names are
#: used as file names.
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
NAME = re.compile(r"[A-Za-z0-9:][A-Za-z0-9:._-]*")
#: The types of host keys, in order of preference; the first that a host has is stored.
KEY_TYPES = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")
#: Seconds to wait for answers: a query is sent immediately, after one second, and after two more (RFC 6762, 5.2),
#: because the first answers may be lost.
WAIT = 4.0
#: The search continues while the last new answer is younger than this, for at most twice the wait.
QUIET = 1.0
#: The time limit in seconds for resolving all announced names.
RESOLVE = 3.0
#: Limits for answers from the network: names, addresses per name, and names resolved at a time.
MOST_NAMES, MOST_ADDRESSES, AT_ONCE = 1024, 16, 32


@dataclass(frozen=True)
class Answer:
    """A machine's announcement: ``server`` (``spark-ab12.local.``), its service's type and port, its addresses."""

    server: str
    service: str
    port: int
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Spark:
    """A machine that counts as a Spark.

    ``name`` is ``spark-ab12``; ``addresses`` are in the order in which to try them, and ``port`` is sshd's port.
    """

    name: str
    addresses: tuple[str, ...]
    port: int = SSH_PORT

    @property
    def local_name(self) -> str:
        """Its name in multicast DNS."""
        return f"{self.name}.local"


def sparks(
    answers: t.Iterable[Answer], names: t.Sequence[str] = FACTORY_NAMES, groups: t.Iterable[str] = ()
) -> tuple[list[Spark], list[str]]:
    """Return the machines whose name matches a pattern in ``names``, sorted by name, and those that were left out.

    If two machines announce the same name, neither is returned. Their addresses cannot be told apart, so two machines
    are recognized by two announcements of ssh; a machine that takes over another's announcement is recognized only by
    its ssh host key.

    :param names: shell patterns for the first label of the name, ignoring case.
    :param groups: names of groups, which no machine may have.
    :returns: the Sparks, and a sentence about each name that was left out.
    """
    by_name: dict[str, list[Answer]] = {}
    for answer in answers:
        label, _dot, domain = answer.server.lower().partition(".")
        if not LABEL.fullmatch(label) or domain.rstrip(".") != "local":
            continue
        if any(fnmatch.fnmatchcase(label, name.lower()) for name in names):
            by_name.setdefault(label, []).append(answer)
    accepted, left_out = [], []
    for name, own_answers in sorted(by_name.items()):
        addresses = sorted({address for answer in own_answers for address in answer.addresses}, key=preference)
        # The port of another service is not sshd's port.
        ports = [answer.port for answer in own_answers if answer.service == "_ssh._tcp"]
        if name in RESERVED or name in groups:
            left_out.append(f"The machine at {' and '.join(addresses)} announces the reserved name {name}. Rename it.")
        elif len(ports) > 1:
            left_out.append(
                f"Two machines are called {name}: ssh was announced {len(ports)} times, for {' and '.join(addresses)}. "
                f"Rename one of them, or name your Spark by its address."
            )
        else:
            accepted.append(Spark(name, tuple(addresses), ports[0] if ports else SSH_PORT))
    return accepted, left_out


def combined(mdns: t.Sequence[t.Any], sync: t.Sequence[t.Any]) -> list[t.Any]:
    """Return every machine once; a machine that is also in NVIDIA Sync gets Sync's user and key file.

    :param mdns: machines in the format of the command ``sparkforge setup``, with these attributes.
    """
    machines = list(mdns)
    for spark in sync:
        (address,) = spark.addresses
        for machine in machines:
            addresses = (*machine.addresses, f"{machine.name}.local")
            if machine.name == spark.name or address in addresses:
                machine.source, machine.user = f"{machine.source}, {spark.source}", spark.user
                machine.key_file = spark.key_file
                machine.addresses += [] if address in addresses else [address]
                break
        else:
            machines.append(spark)
    return sorted(machines, key=lambda spark: spark.name)


def distinct(machines: t.Iterable[t.Any], names: t.Mapping[str, str]) -> tuple[list[t.Any], list[str]]:
    """Return every machine once, by its ssh host key, and a sentence about each of its other names.

    Avahi calls a Spark that hears itself over a bridge NAME-2, and later NAME-3.

    :param machines: in the format of :func:`combined`.
    :param names: the known names by key; for an unknown key the shortest name is used.
    """
    by_key: dict[str, t.Any] = {}
    sentences = []
    for machine in sorted(machines, key=lambda machine: (not machine.known, len(machine.name), machine.name)):
        announced, machine.name = machine.name, names.get(machine.key, machine.name)
        machine.known = machine.known or machine.key in names
        first = by_key.setdefault(machine.key or machine.name, machine)
        if announced != first.name:
            sentences.append(f"{announced} is {first.name}: both have the ssh host key {fingerprint(first.key)}.")
            first.user, first.key_file = first.user or machine.user, first.key_file or machine.key_file
    return sorted(by_key.values(), key=lambda machine: str(machine.name)), sentences


def sync_aliases(text: str) -> list[str]:
    """Return the names in the Host lines of an ssh configuration, without patterns."""
    lines = re.findall(r"^\s*Host(?:\s+|\s*=\s*)(.+)$", text, re.M | re.I)
    names = [word.strip('"') for line in lines for word in line.split()]
    return list(dict.fromkeys(word for word in names if NAME.fullmatch(word)))


def fingerprint(key: str) -> str:
    """Return an ssh host key's hash in the format of ``ssh-keygen -l``."""
    digest = hashlib.sha256(base64.b64decode(key.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def key_lines(text: str, marker: str = "") -> list[str]:
    """Return the keys, ``ssh-ed25519 AAAA…``, in a known_hosts file, from lines with or without a marker."""
    head = rf"{marker}[ \t]+" if marker else "(?![#@])"
    return [" ".join(key) for key in re.findall(rf"^[ \t]*{head}\S+[ \t]+(\S+)[ \t]+(\S+)", text, re.M)]


def names_by_key(text: str) -> dict[str, str]:
    """Return the first name of each key in the known_hosts file that setup writes."""
    rows = [line.split() for line in reversed(text.splitlines())]
    return {" ".join(row[1:]): row[0] for row in rows if len(row) == 3 and NAME.fullmatch(row[0])}


def preference(address: str) -> tuple[int, int, int]:
    """Return the sort key of an address: IPv4 first, and link-local addresses (169.254…, fe80…) last.

    Two Sparks that are cabled together assign each other such addresses, which a controller cannot reach.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return (int(parsed.is_link_local), parsed.version, int(parsed))


def browse(
    services: t.Sequence[str] = SERVICES, wait: float = WAIT, interfaces: t.Sequence[str] = ()
) -> tuple[list[Answer], list[str]]:
    """Search the local network by multicast DNS and return the announcements made within ``wait`` seconds.

    The second list has a sentence about each omission.

    :param services: types without their domain, ``_ssh._tcp``.
    :param interfaces: this machine's addresses on the interfaces to search, or None to search all interfaces.
    :raises SparkforgeError: if zeroconf is not installed, or a type or an address is invalid.
    :raises UnreachableError: if this machine has no network with multicast.
    """
    # Import zeroconf here, because commands that do not search start faster without it.
    try:
        import zeroconf
    except ImportError as error:
        raise SparkforgeError(
            "Finding Sparks needs the Python package zeroconf, which is not installed.",
            "Install it for the Python that runs Ansible (pip install zeroconf), or name the Sparks in an inventory.",
        ) from error
    for service in services:
        if not SERVICE.fullmatch(service):
            raise SparkforgeError(f"{service} is not a service type.", "Write it as _ssh._tcp, without a domain.")
    instances: set[tuple[str, str]] = set()
    addresses: dict[str, set[str]] = {}
    newest = time.monotonic()
    crowded = False

    class AddressListener(zeroconf.RecordUpdateListener):
        """Keeps each address of a name.

        When a name is announced again, zeroconf's cache drops all records that it received more than a second earlier
        (RFC 6762, 10.2), including those of another machine with the same name.
        """

        def async_update_records(self, client: t.Any, now: float, records: t.Any) -> None:
            # Only address records, of either family, have an address.
            for record in (update.new for update in records if hasattr(update.new, "address")):
                scope = f"%{record.scope_id}" if record.scope_id else ""
                address = f"{ipaddress.ip_address(record.address)}{scope}"
                known_addresses = addresses.get(record.name.lower(), set())
                if record.is_expired(now):
                    known_addresses.discard(address)
                elif len(known_addresses) < MOST_ADDRESSES and (known_addresses or len(addresses) < 2 * MOST_NAMES):
                    addresses.setdefault(record.name.lower(), known_addresses).add(address)

    def note(**change: t.Any) -> None:
        nonlocal newest, crowded
        newest = time.monotonic()
        instance = (change["service_type"], change["name"])
        if change["state_change"] is zeroconf.ServiceStateChange.Removed:
            instances.discard(instance)
        elif len(instances) < MOST_NAMES:
            instances.add(instance)
        else:
            crowded = True

    try:
        client = zeroconf.Zeroconf(interfaces=list(interfaces) or zeroconf.InterfaceChoice.All)
    except (OSError, ValueError) as error:
        raise UnreachableError(
            f"The search for Sparks in the network failed: {error}.",
            "Connect this machine to the network of the Sparks, or name them in an inventory.",
        ) from error
    try:
        client.add_listener(AddressListener(), None)
        start = time.monotonic()
        browser = zeroconf.ServiceBrowser(client, [f"{service}.local." for service in services], handlers=[note])
        while (now := time.monotonic()) < start + wait or now < min(newest + QUIET, start + 2 * wait):
            time.sleep(0.1)
        browser.cancel()
        answers = _answers(resolved(client, sorted(instances)), addresses)
        left_out = []
        if crowded:
            left_out.append(f"More than {MOST_NAMES} services are announced in this network; the others were left out.")
        if silent := len(instances) - len(answers):
            left_out.append(f"{silent} announced services did not resolve within {RESOLVE:g} s and were left out.")
        return answers, left_out
    finally:
        client.close()


def _answers(resolved_services: t.Mapping[tuple[str, str], t.Any], addresses: t.Mapping[str, set[str]]) -> list[Answer]:
    """Return the answers of services that were resolved, with all announced addresses of their machines."""
    answers = []
    for (kind, _name), info in resolved_services.items():
        # A machine that has left the network since its announcement does not answer.
        if info and info.server and info.parsed_addresses():
            known_addresses = addresses.get(info.server.lower(), set()) | set(info.parsed_scoped_addresses())
            limited_addresses = tuple(sorted(known_addresses)[:MOST_ADDRESSES])
            answers.append(Answer(info.server, kind.removesuffix(".local."), info.port or SSH_PORT, limited_addresses))
    return answers


def resolved(client: t.Any, instances: t.Sequence[tuple[str, str]]) -> dict[tuple[str, str], t.Any]:
    """Return zeroconf's information about each service, or None without an answer, within RESOLVE seconds in all."""
    import zeroconf

    deadline = time.monotonic() + RESOLVE

    def resolve(instance: tuple[str, str]) -> t.Any:
        # Services that were received earlier resolve immediately, even when little time is left.
        try:
            return client.get_service_info(*instance, timeout=max(1, int(1000 * (deadline - time.monotonic()))))
        except zeroconf.Error:
            # The announced name is invalid for such a service.
            return None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(instances, pool.map(resolve, instances), strict=True))
