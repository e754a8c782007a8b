"""The inventory that `sparkforge setup` writes: hosts.yml, and known_hosts beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from sparkforge import Exit, Refusal, find, module, unsafe_text
from sparkforge.find import Spark, address_to_keep, output_of
from sparkforge.questions import Answers, methods

disk = module("plugins.module_utils._core.disk")
HEAD = "---\n# Written by `sparkforge setup`, which keeps what you add, except comments.\n"
#: inventory_dir is the file's directory, so the file can be moved. The host key is stored under the host's name.
SSH_ARGUMENTS = """-o HostKeyAlias={{ inventory_hostname }} -o StrictHostKeyChecking=yes \
-o 'UserKnownHostsFile="{{ inventory_dir }}/known_hosts"'"""
MEND = "Correct the file, or name another one with -i."


def default_path() -> Path:
    """Return the inventory's path: SPARKFORGE_INVENTORY or, if unset, hosts.yml in the user's settings directory."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    return Path(os.environ.get("SPARKFORGE_INVENTORY") or folder / "sparkforge" / "hosts.yml")


def load(path: Path) -> dict[str, Any]:
    """Return the inventory's content, or {} if there is no inventory.

    :raises Refusal: if it is not an inventory that can be extended.
    """
    try:
        node = known = unsafe_text.load(path.read_text()) or {}
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Refusal(Exit.USAGE, f"{path} cannot be read: {str(error).splitlines()[0]}.", MEND) from error
    for key in ("all", "children", "sparks", "hosts", ""):
        if not isinstance(node, dict):
            raise Refusal(Exit.USAGE, f"{path} is not an inventory with a group sparks.", MEND)
        node = node.get(key) or {}
    return dict(known)


def unknown_names(path: Path, limit: str) -> list[str]:
    """Return the names in ``limit`` that a static YAML inventory does not contain; only Ansible can read patterns."""
    text = path.read_text(errors="replace") if path.is_file() else ""
    is_static = re.search(r"^all:", text, re.M) and not re.search(r"\[\w*:\w+\]", text)
    names = {"localhost", "ungrouped", *re.findall(r"[\w.-]+", text)}
    unknown = [name for name in limit.split(",") if re.fullmatch(r"[\w.-]+", name) and name not in names]
    return unknown if is_static else []


def render(known: dict[str, Any], answers: Answers) -> str:
    """Return the text of the inventory with the answers added."""
    node = known
    for key in ("all", "children", "sparks"):
        node[key] = node = node.get(key) or {}
    hosts = node["hosts"] = node.get("hosts") or {}
    for spark in answers.sparks:
        variables = {"ansible_connection": "local"} if spark.local else {"ansible_host": address_to_keep(spark)}
        port = {"ansible_port": spark.port} if spark.port != 22 else {}
        file = {"ansible_ssh_private_key_file": spark.key_file} if spark.key_file else {}
        hosts[spark.name] = {**(hosts.get(spark.name) or {}), **unsafe_text.as_data({**variables, **port, **file})}
    # The answer determines the stack; a stack set for a single host is kept.
    other_variables = {name: value for name, value in (node.get("vars") or {}).items() if name != "stack_name"}
    proxies = unsafe_text.as_data({"sparkforge_proxies": dict.fromkeys(("http", "https"), answers.proxy)})
    node["vars"] = {
        "ansible_python_interpreter": "/usr/bin/python3",
        "stack_profile": "gb10",
        **other_variables,
        "ansible_user": unsafe_text.as_data(answers.user),
        "ansible_ssh_common_args": SSH_ARGUMENTS,
        "sparkforge_accept_nvidia_license": True,
        **methods()[1][answers.method],
        **(proxies if answers.proxy else {}),
    }
    return f"{HEAD}{unsafe_text.dump(known)}\n"


def known_keys(path: Path, sparks: Sequence[Spark]) -> str:
    """Return the text of known_hosts: the lines of other hosts, marked lines, and a line for each of these hosts.

    If the user accepted a new key, it also replaces the keys of the host's other names and addresses in the file.
    """
    lines = path.read_text().splitlines() if path.is_file() else []
    for spark in (spark for spark in sparks if spark.key):
        others = [name for name in spark.names[1:] if spark.changed and find.known_keys(path, name)]
        for name in dict.fromkeys((spark.name, *others)):
            # ssh-keygen finds hashed names too.
            old = output_of("ssh-keygen", "-F", name, "-f", str(path)).splitlines()
            lines = [row for row in lines if row[:1] == "@" or not (row in old or name in row.split(" ")[0].split(","))]
            lines.append(f"{name} {spark.key}")
    return "".join(f"{line}\n" for line in lines)


def write(path: Path, text: str) -> None:
    """Write a file atomically, accessible only to its owner."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        disk.write_file(str(path.absolute()), text.encode(), 0o600)
    except OSError as error:
        raise Refusal(Exit.USAGE, f"{path} cannot be written: {error.strerror}.", MEND) from error
    except disk.SparkforgeError as error:
        raise Refusal(Exit.USAGE, error.cause, MEND) from error
