# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nouns of the controller: a stack as the fact ``stack`` has it, and its lock as ``lock.schema.json`` has it.

A platform is the lock's word for Python and machine, ``cp312-linux-aarch64``; NVIDIA's is ``linux-sbsa``. A line is one
of pip's requirements, pinned and with its hashes.
"""

from __future__ import annotations

import dataclasses
import typing as t

#: A lock has the packages that people expect beside torch under this name, next to the units'.
BESIDE = "beside"


class Python(t.TypedDict):
    """``version`` is the one that environments are made with; the stack supports ``minimum`` to ``maximum``."""

    version: str
    minimum: str
    maximum: str


class Cuda(t.TypedDict):
    """``13.2`` as apt writes it (``suffix``, 13-2), as a number (``major``) and as a directory (``home``)."""

    version: str
    major: int
    suffix: str
    home: str


class Archive(t.TypedDict, total=False):
    """An archive of NVIDIA's; ``sha256`` by NVIDIA's platform, ``variant`` empty where there is but one."""

    product: str
    component: str
    release: str
    version: str
    variant: str
    soname: str
    sha256: dict[str, str]


class Wheels(t.TypedDict):
    """The stack's official wheels: those left out, and those with another version than torch requires."""

    cuda: str
    without: dict[str, str]
    override: list[str]


class Pins(t.TypedDict):
    """The pins of a stack's lock: lines by platform, sources by name, run requirements by platform and unit."""

    id: str
    wheels: dict[str, list[str]]
    sources: dict[str, dict[str, t.Any]]
    run_requirements: dict[str, dict[str, list[str]]]


class Stack(t.TypedDict):
    """The fact ``stack``; roles/stack/README.md describes every key. ``versions`` are None for what is left out.

    ``libraries`` is what the host gets of NVIDIA's libraries and of compilers: ``all``, or what ``wheels`` lack.
    ``named`` is the role's: whether ``stack_name`` names the stack, or it is the default.
    """

    name: str
    method: str
    libraries: str
    description: str
    profile: dict[str, t.Any]
    cuda: Cuda
    driver_minimum: str
    systems: list[dict[str, t.Any]]
    machines: list[str]
    python: Python
    llvm_major: int
    versions: dict[str, str | None]
    wheel: Wheels
    cusparselt: dict[str, t.Any]
    cudnn: dict[str, t.Any]
    nccl: dict[str, t.Any]
    archives: list[Archive]
    units: dict[str, dict[str, t.Any]]
    extensions: list[str]
    activation: dict[str, str]
    lock: Pins
    named: t.NotRequired[bool]


class Lock(t.TypedDict, total=False):
    """A file of locks; ``resolved`` is the day. It lacks what was not resolved yet."""

    format: int
    stack: str
    resolved: str
    archives: dict[str, dict[str, t.Any]]
    wheels: dict[str, list[str]]
    sources: dict[str, dict[str, t.Any]]
    build_requirements: dict[str, dict[str, list[str]]]
    run_requirements: dict[str, dict[str, list[str]]]


@dataclasses.dataclass(frozen=True)
class Pin:
    """A file in the tree of one source that names the commit of another.

    :ivar source: the source with that tree.
    :ivar files: paths in that tree; the first that exists counts.
    """

    source: str
    files: tuple[str, ...]


#: Sources that pin each other: PyTorch pins Triton, and Triton pins LLVM (llvm-hash.txt to 3.7, llvm-info.json
#: from 3.8 on). A stack names others with `pin`.
PINS = {
    "triton": Pin("pytorch", (".ci/docker/ci_commit_pins/triton.txt",)),
    "llvm": Pin("triton", ("cmake/llvm-info.json", "cmake/llvm-hash.txt")),
}


def pin_of(name: str, source: t.Mapping[str, t.Any]) -> Pin | None:
    """Return what names the commit of a source that the stack gives no reference for."""
    pin = source.get("pin")
    return Pin(pin["source"], tuple(pin["files"])) if pin else PINS.get(name)
