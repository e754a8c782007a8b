"""The command `sparkforge`: a front end to the collection's playbooks. It has no engine of its own."""

from __future__ import annotations

import enum
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

COLLECTION = "sparkforge.dgx_spark"
#: The exit codes of the command; `sparkforge --help` explains them.
Exit = enum.IntEnum("Exit", ["DONE", "FAILED", "USAGE", "NO_SPARK", "NO_SSH", "REFUSED", "DECLINED"], start=0)
INTERRUPTED = 130


@dataclass
class Refusal(Exception):
    """A failure that a user can act on, with one sentence for the cause and one for the remedy."""

    code: int
    cause: str
    remedy: str


def collections_path() -> Path:
    """Return the directory that contains ``ansible_collections``: in the installed package, or in the checkout."""
    shipped = Path(__file__).with_name("_collections")
    return shipped if shipped.is_dir() else Path(__file__).parents[2] / ".collections"


def collection() -> Path:
    """Return the directory of the collection itself."""
    return collections_path() / "ansible_collections" / COLLECTION.replace(".", "/")


def release(stack: str) -> tuple[int, ...]:
    """Return the numbers in a stack's name, for comparisons: torch-2.9.1 gives (2, 9, 1)."""
    return tuple(int(number) for number in re.findall(r"\d+", stack))


def module(name: str) -> Any:
    """Return a module of the collection (``plugins.module_utils._core.sanitize``), for use in this command."""
    if (path := str(collections_path())) not in sys.path:
        sys.path.insert(0, path)
    # If the full Ansible package is installed, Python finds only its ``ansible_collections``.
    package_paths = import_module("ansible_collections").__path__
    if (own := str(collections_path() / "ansible_collections")) not in package_paths:
        package_paths.append(own)
    return import_module(f"ansible_collections.{COLLECTION}.{name}")


def galaxy(key: str) -> str:
    """Return a value from galaxy.yml, such as ``version``, or '' if it is not set."""
    line = re.search(rf"^{key}: *[\"']?([^\s\"']*)", (collection() / "galaxy.yml").read_text(), re.M)
    return line[1] if line else ""
