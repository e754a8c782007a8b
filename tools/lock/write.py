"""The file of a lock, in which the same pins give the same bytes."""

from __future__ import annotations

import json
import typing as t

import yaml

from ...plugins.plugin_utils.stack.model import Lock

_HEADER = """---
# The pins that the stack {name} resolved to. Written by playbooks/lock.yml: change the stack and run that instead.
"""


PARTS = ("archives", "wheels", "sources", "build_requirements", "run_requirements")


class _IndentedDumper(yaml.SafeDumper):
    """Indents lists under their key, like the rest of the collection's YAML."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, False)


def lock_text(lock: Lock) -> str:
    """Return the text of a lock's file."""
    content: dict[str, t.Any] = {"format": 1, "stack": lock["stack"], "resolved": lock["resolved"]}
    content |= {part: _ordered(lock.get(part) or {}) for part in PARTS}
    # Strings from Ansible have its own class, which YAML's safe subset cannot write.
    plain = json.loads(json.dumps({"stack_lock": content}))
    body = yaml.dump(plain, Dumper=_IndentedDumper, sort_keys=False, default_flow_style=False, width=1000)
    return _HEADER.format(name=lock["stack"]) + body


def same_pins(first: Lock | None, other: Lock) -> bool:
    """Tell whether two locks differ only in the date on which they were resolved."""
    if first is None:
        return False
    return lock_text({**first, "resolved": ""}) == lock_text({**other, "resolved": ""})


def _ordered(value: t.Any) -> t.Any:
    """Return mappings ordered by key and lists of lines sorted; nothing in a lock depends on the order."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return sorted(value)
    return value
