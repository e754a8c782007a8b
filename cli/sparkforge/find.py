"""Finds Sparks by multicast DNS, in NVIDIA Sync's configuration, and by the names that a user gives."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sparkforge import Exit, Refusal, module
from sparkforge.terminal import Console

discovery = module("tools.discovery")
fingerprint, key_lines, sync_aliases = discovery.fingerprint, discovery.key_lines, discovery.sync_aliases
KEY_TYPES, NAME = discovery.KEY_TYPES, discovery.NAME

#: The paths of NVIDIA Sync's ssh configuration. Source: NVIDIA's "DGX Spark / GB10 FAQ"
#: (forums.developer.nvidia.com/t/dgx-spark-gb10-faq/347344), read in a third party's copy of version 11, 2026-08-04;
#: public repositories name the same paths for macOS and Linux.
SYNC_FILES = {
    "darwin": "~/Library/Application Support/NVIDIA/Sync/config/ssh_config",
    "linux": "~/.config/NVIDIA/Sync/config/ssh_config",
}
#: The time limit for a program in seconds, because ssh-keyscan's own limit restarts whenever data arrives.
PATIENCE = 30.0
#: A name, or an address with an interface, which a direct cable needs: fe80::1%eth0.
ADDRESS = re.compile(NAME.pattern + r"(%[A-Za-z0-9._-]+)?")
#: The files in which ssh itself stores keys.
PERSONAL = ("~/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")


@dataclass
class Spark:
    """A machine that can be set up. ``key`` (``ssh-ed25519 AAAA…``) is empty if sshd does not answer.

    ``known``: the key was known before; ``changed``: why it differs from the known keys; ``revoked``: why it is
    refused; ``hostname``: the machine's own name, known after the first login.

    :raises Refusal: if its name or one of its addresses is invalid.
    """

    name: str
    addresses: list[str]
    source: str
    port: int = 22
    user: str = ""
    key_file: str = ""
    key: str = ""
    local: bool = False
    known: bool = False
    changed: str = ""
    revoked: str = ""
    hostname: str = ""

    def __post_init__(self) -> None:
        reserved = self.name in discovery.RESERVED and not (self.local and self.name == discovery.CONTROLLER)
        for word in (self.name, *self.addresses):
            if not ADDRESS.fullmatch(word) or reserved:
                cause = f"{word!r} ({self.source}) is not the name or address of a machine."
                raise Refusal(Exit.USAGE, cause, "Correct the name there, or rename the machine.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which its key may be stored."""
        return (self.name, f"{self.name}.local", self.addresses[0])

    @property
    def is_reachable(self) -> bool:
        """Whether Ansible can connect to it."""
        return self.local or bool(self.key)


def output_of(*command: str) -> str:
    """Run a program without input and return its output, or '' if it does not finish in time."""
    try:
        result = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return ""
    return result.stdout.decode(errors="replace")


def by_mdns(names: Sequence[str] | None, interfaces: Sequence[str] | None, console: Console) -> list[Spark]:
    """Return the Sparks that answer on this network: machines with a factory name or a name that matches ``names``.

    :param interfaces: this machine's addresses on the interfaces to search, or None to search all interfaces.
    """
    try:
        answers, omissions = discovery.browse(interfaces=interfaces or ())
    except discovery.SparkforgeError as error:
        raise Refusal(Exit.NO_SPARK, error.cause, "Name the Sparks with --host.") from error
    sparks, left_out = discovery.sparks(answers, names or discovery.FACTORY_NAMES)
    for sentence in [*omissions, *left_out]:
        console.print(sentence)
    return [Spark(spark.name, list(spark.addresses), "in this network", spark.port) for spark in sparks]


def by_sync(path: Path | None = None) -> list[Spark]:
    """Return the Sparks in NVIDIA Sync's file, parsed by OpenSSH itself, or [] if the file does not exist."""
    path = path or Path(SYNC_FILES.get(sys.platform, SYNC_FILES["linux"])).expanduser()
    sparks = []
    for alias in sync_aliases(path.read_text(errors="replace")) if path.is_file() else ():
        lines = output_of("ssh", "-G", "-F", str(path), "--", alias).splitlines()
        # The first value wins, as in ssh.
        values = dict(line.split(" ", 1) for line in reversed(lines) if " " in line)
        if "hostname" not in values:
            continue
        key = values.get("identityfile", "")
        spark = Spark(alias.removesuffix(".local").lower(), [values["hostname"]], "in NVIDIA Sync", int(values["port"]))
        spark.user, spark.key_file = values.get("user", ""), key if Path(key).expanduser().is_file() else ""
        sparks.append(spark)
    return sparks


def by_name(names: Iterable[str], known: Sequence[Spark]) -> list[Spark]:
    """Return the machines that a user named, with NVIDIA Sync's settings for the ones that it knows."""
    chosen = []
    for text in names:
        name = text.lower().removesuffix(".local")
        if not NAME.fullmatch(text):
            raise Refusal(Exit.USAGE, f"{text!r} is not a host name.", "Write it as spark-ab12 or 192.0.2.17.")
        matches = [spark for spark in known if spark.name == name or text in spark.addresses]
        chosen += matches or [Spark(name, [text], "named", local=text.lower() in (discovery.CONTROLLER, "127.0.0.1"))]
    return chosen


def reach(sparks: Sequence[Spark], known_hosts: Path) -> None:
    """Query the host keys of every machine, keep its first address that answers, and compare with the known keys.

    :raises Refusal: if two machines have the same name.
    """
    own_hostname = socket.gethostname().split(".")[0].lower()
    pairs = [(spark, address) for spark in sparks for address in spark.addresses]
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda pair: host_keys(pair[1], pair[0].port), pairs))
    for spark in sparks:
        answered = {address: key for (owner, address), key in zip(pairs, keys, strict=True) if owner is spark and key}
        spark.local = spark.local or spark.name == own_hostname
        if spark.local or not answered:
            continue
        first, *others = answered.values()
        if not (offered := [key for key in first if all(key in other for other in others)]):
            cause = f"Two machines are called {spark.name}: {' and '.join(answered)} have different ssh host keys."
            remedy = "Rename one (sudo hostnamectl set-hostname NAME), or select one by its address with --host."
            raise Refusal(Exit.NO_SPARK, cause, remedy)
        spark.addresses = [next(iter(answered))]
        compare(spark, offered, known_hosts)


def host_keys(address: str, port: int) -> list[str]:
    """Return the keys of the sshd at an address, in the order of KEY_TYPES, or [] if it does not answer in time."""
    offered = key_lines(output_of("ssh-keyscan", "-T", "5", "-p", str(port), "--", address))
    return [key for kind in KEY_TYPES for key in offered if key.split()[0] == kind]


def compare(spark: Spark, offered: list[str], own: Path) -> None:
    """Choose which of the offered keys to store: a known key, of any type, if there is one.

    ssh-keyscan does not prove that a machine owns the offered keys, so no other key may replace a known one. An entry
    that setup wrote for the name takes precedence, because addresses change. A revoked key is refused.
    """
    port = "{}" if spark.port == 22 else f"[{{}}]:{spark.port}"
    entries = [(own, name) for name in spark.names]
    entries += [(Path(path).expanduser(), port.format(name)) for path in PERSONAL for name in spark.names]
    for path, name in entries:
        if revoked := [key for key in known_keys(path, name, "@revoked") if key in offered]:
            spark.revoked = f"{path} says that its key {fingerprint(revoked[0])} is revoked"
            return
        if not spark.changed and known_keys(path, name, "@cert-authority"):
            spark.changed = f"{path} has a certificate authority for {name}, but setup checks no certificates"
    for path, name in entries:
        stored_keys = known_keys(path, name)
        if stored_keys and not any(key in stored_keys for key in offered):
            spark.known, spark.changed = False, f"{path} has {', '.join(map(fingerprint, stored_keys))} for {name}"
            break
        if stored_keys:
            offered, spark.known, spark.changed = [key for key in offered if key in stored_keys], True, ""
            if (path, name) == entries[0]:
                break
    spark.key = offered[0]


def known_keys(path: Path, name: str, marker: str = "") -> list[str]:
    """Return the keys for a name in a known_hosts file (see :func:`key_lines`)."""
    return key_lines(output_of("ssh-keygen", "-F", name, "-f", str(path)), marker) if path.is_file() else []


def address_to_keep(spark: Spark) -> str:
    """Return the name if this machine can resolve it, because addresses change, and otherwise the address.

    A name that is not the machine's own, such as Avahi's NAME-2, will soon change.
    """
    name, address = f"{spark.name}.local", spark.addresses[0]
    if spark.hostname.partition(".")[0].lower() not in ("", spark.name):
        return address
    try:
        resolved = {str(entry[4][0]) for entry in socket.getaddrinfo(name, spark.port)}
    except OSError:
        return address
    return name if address in resolved else address
