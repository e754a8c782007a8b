"""Finds Sparks: by multicast DNS, in what NVIDIA Sync wrote, and by the names that a person gives."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sparkforge import COLLECTION, Exit, Refusal
from sparkforge.play import environment

#: Where NVIDIA Sync keeps the ssh configuration of its Sparks. Source: NVIDIA's "DGX Spark / GB10 FAQ"
#: (forums.developer.nvidia.com/t/dgx-spark-gb10-faq/347344), read in a third party's copy of version 11, 2026-08-04;
#: public repositories name the same for macOS and Linux.
SYNC_FILES = {
    "darwin": "~/Library/Application Support/NVIDIA/Sync/config/ssh_config",
    "linux": "~/.config/NVIDIA/Sync/config/ssh_config",
}
#: The key that is kept of those that a host has: the first of these.
KEY_TYPES = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")
NAME = re.compile(r"[A-Za-z0-9:][A-Za-z0-9:._-]*")


@dataclass
class Spark:
    """A machine that may be set up. ``key`` (``ssh-ed25519 AAAA…``) is empty where sshd does not answer."""

    name: str
    addresses: list[str]
    source: str
    port: int = 22
    user: str = ""
    key_file: str = ""
    key: str = ""
    local: bool = False

    @property
    def able(self) -> bool:
        """Whether Ansible can get there."""
        return self.local or bool(self.key)

    @property
    def fingerprint(self) -> str:
        """The key's hash as ``ssh-keygen -l`` prints it."""
        digest = hashlib.sha256(base64.b64decode(self.key.split()[1])).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def printed(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program that reads nothing and return how it ended."""
    env = {**os.environ, **variables}
    return subprocess.run(command, env=env, text=True, check=False, capture_output=True, stdin=subprocess.DEVNULL)


def by_mdns(settings: Path | None) -> list[Spark]:
    """Return the Sparks that the inventory plugin finds, with the settings in a file or with the defaults."""
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as folder:
        plugin = settings or Path(folder) / "discover.yml"
        if settings is None:
            plugin.write_text(f"plugin: {COLLECTION}.discover\n")
        variables = {**environment(), "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}
        program = str(Path(sys.executable).with_name("ansible-inventory"))
        done = printed(program, "-i", str(plugin), "--list", "--export", **variables)
    if done.returncode:
        said = " ".join(done.stderr.split())
        raise Refusal(Exit.NO_SPARK, f"The search for Sparks in the network failed: {said}", "Name them with --host.")
    found = []
    # Values from the network are wrapped as not trusted: here they are shown and written, never evaluated.
    hosts = json.loads(done.stdout, object_hook=lambda value: value.get("__ansible_unsafe", value))
    for name, values in hosts["_meta"]["hostvars"].items():
        addresses = values.get("discovered_addresses") or [values["ansible_host"]]
        found.append(Spark(name, addresses, "in this network", int(values.get("ansible_port", 22))))
    return found


def by_sync(path: Path | None = None) -> list[Spark]:
    """Return the Sparks of NVIDIA Sync, each as OpenSSH itself reads the file; none where there is no such file."""
    path = path or Path(SYNC_FILES.get(sys.platform, SYNC_FILES["linux"])).expanduser()
    found = []
    for alias in sync_aliases(path.read_text(errors="replace")) if path.is_file() else ():
        done = printed("ssh", "-G", "-F", str(path), "--", alias)
        # The first value counts, as in ssh.
        values = dict(line.split(" ", 1) for line in reversed(done.stdout.splitlines()) if " " in line)
        if done.returncode or "hostname" not in values:
            continue
        key = values.get("identityfile", "")
        spark = Spark(alias.removesuffix(".local").lower(), [values["hostname"]], "in NVIDIA Sync", int(values["port"]))
        spark.user, spark.key_file = values.get("user", ""), key if Path(key).expanduser().is_file() else ""
        found.append(spark)
    return found


def sync_aliases(text: str) -> list[str]:
    """Return the names that an ssh configuration has entries for, without patterns."""
    lines = re.findall(r"^\s*Host(?:\s+|\s*=\s*)(.+)$", text, re.M | re.I)
    words = [word.strip('"') for line in lines for word in line.split()]
    return list(dict.fromkeys(word for word in words if NAME.fullmatch(word)))


def by_name(names: Iterable[str], known: Sequence[Spark]) -> list[Spark]:
    """Return the machines that a person named, as NVIDIA Sync knows them where it does."""
    chosen = []
    for given in names:
        name = given.lower().removesuffix(".local")
        if not NAME.fullmatch(given):
            raise Refusal(Exit.USAGE, f"{given!r} is not a host name.", "Write it as spark-ab12 or 192.0.2.17.")
        same = [spark for spark in known if spark.name == name or given in spark.addresses]
        chosen += same or [Spark(name, [given], "named", local=given in ("localhost", "127.0.0.1"))]
    return chosen


def combined(mdns: Sequence[Spark], sync: Sequence[Spark]) -> list[Spark]:
    """Return every machine once; who answers and is in NVIDIA Sync has the user and the key file of Sync."""
    found = list(mdns)
    for spark in sync:
        (address,) = spark.addresses
        same = [one for one in found if one.name == spark.name or address in (*one.addresses, f"{one.name}.local")]
        if not same:
            found.append(spark)
            continue
        one = same[0]
        one.source, one.user, one.key_file = f"{one.source}, {spark.source}", spark.user, spark.key_file
        if address not in (*one.addresses, f"{one.name}.local"):
            one.addresses.append(address)
    return sorted(found, key=lambda spark: spark.name)


def reach(sparks: Sequence[Spark], known_hosts: Path) -> None:
    """Ask sshd of every machine for its key, and keep the first address that answers.

    :raises Refusal: two machines have one name, or one has another key than before.
    """
    here = socket.gethostname().split(".")[0].lower()
    wanted = [(spark, address) for spark in sparks for address in spark.addresses]
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda pair: host_key(pair[1], pair[0].port), wanted))
    for spark in sparks:
        answered = {address: key for (one, address), key in zip(wanted, keys, strict=True) if one is spark and key}
        if len(set(answered.values())) > 1:
            cause = f"Two machines are called {spark.name}: {' and '.join(answered)} have different ssh host keys."
            remedy = "Rename one (sudo hostnamectl set-hostname NAME), or select one by its address with --host."
            raise Refusal(Exit.NO_SPARK, cause, remedy)
        spark.local = spark.local or spark.name == here
        for address, spark.key in answered.items():
            spark.addresses = [address]
            refuse_another_key(spark, (known_hosts, Path("~/.ssh/known_hosts").expanduser()))
            break


def host_key(address: str, port: int) -> str:
    """Return the key of the sshd at an address, or nothing where none answers in time."""
    done = printed("ssh-keyscan", "-T", "5", "-p", str(port), "--", address)
    offered = {key.split()[0]: key for key in key_lines(done.stdout)}
    return next((offered[kind] for kind in KEY_TYPES if kind in offered), "")


def key_lines(text: str) -> list[str]:
    """Return the keys, ``ssh-ed25519 AAAA…``, of lines of a known_hosts file."""
    lines = [line.split() for line in text.splitlines() if line[:1] not in ("#", "@")]
    return [" ".join(words[1:3]) for words in lines if len(words) > 2]


def refuse_another_key(spark: Spark, files: Iterable[Path]) -> None:
    """Compare with the keys of the same type that are known under the name or the address."""
    for path in filter(Path.is_file, files):
        for name in (spark.name, f"{spark.name}.local", *spark.addresses):
            known = key_lines(printed("ssh-keygen", "-F", name, "-f", str(path)).stdout)
            known = [key for key in known if key.split()[0] == spark.key.split()[0]]
            if known and spark.key not in known:
                cause = f"{spark.name} has another ssh host key than {path} has for {name}: it was reinstalled, or "
                cause += "another machine answers in its place."
                remedy = (
                    f"Compare {spark.fingerprint} with the Spark's own; if they agree: ssh-keygen -R {name} -f {path}"
                )
                raise Refusal(Exit.NO_SSH, cause, remedy)


def address_to_keep(spark: Spark) -> str:
    """Return the name where this machine resolves it, for addresses change; else the address."""
    name, address = f"{spark.name}.local", spark.addresses[0]
    try:
        resolved = {str(entry[4][0]) for entry in socket.getaddrinfo(name, spark.port)}
    except OSError:
        return address
    return name if address in resolved else address
