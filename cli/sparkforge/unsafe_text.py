"""Text that Ansible must not evaluate, because every value that the command passes on is data, not a template."""

from __future__ import annotations

import re
from typing import Any

import yaml

from sparkforge import Exit, Refusal

#: Text that is left readable because it cannot be a template with any delimiters. Other text is tagged for Ansible.
HARMLESS = re.compile(r"[A-Za-z0-9 ./:;,=<>+@~_-]*")


class Text(str):
    """A string that is data. In YAML it has Ansible's tag ``!unsafe`` if it could be mistaken for a template."""

    __slots__ = ()


class Dumper(yaml.SafeDumper):
    """Writes Text."""


class Loader(yaml.SafeLoader):
    """Reads YAML written by the Dumper, with Text as Text."""


def as_data(value: Any) -> Any:
    """Return a JSON-serializable value with each string in it, except keys, as Text.

    :raises Refusal: if a string is not UTF-8, as some file names are not.
    """
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise Refusal(Exit.USAGE, f"{value!r} is not UTF-8.", "Rename the file, or choose another one.")
        return Text(value)
    if isinstance(value, dict):
        return {name: as_data(member) for name, member in value.items()}
    return [as_data(item) for item in value] if isinstance(value, list) else value


def dump(value: Any, flow: bool = False) -> str:
    """Return YAML, on one line if ``flow`` is set."""
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, width=float("inf"), default_flow_style=flow).rstrip("\n")


def load(text: str) -> Any:
    """Parse YAML.

    :raises yaml.YAMLError: if the text is not valid YAML.
    """
    return yaml.load(text, Loader)  # noqa: S506 - a SafeLoader


def set_variables(**values: Any) -> list[str]:
    """Return the ansible-playbook option that sets variables."""
    return ["-e", dump(as_data(values), flow=True)]


def _represent(dumper: Dumper, value: Text) -> yaml.Node:
    if HARMLESS.fullmatch(value):
        return dumper.represent_str(str(value))
    return dumper.represent_scalar("!unsafe", str(value), style='"')


Dumper.add_representer(Text, _represent)
Loader.add_constructor("!unsafe", lambda loader, node: Text(loader.construct_scalar(node)))  # type: ignore[arg-type]
