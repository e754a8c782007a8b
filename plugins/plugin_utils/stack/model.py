"""The controller's types: a stack, in the format of the fact ``stack``, and its lock, in that of ``lock.schema.json``.

A platform is the lock's identifier for Python and machine, ``cp312-linux-aarch64``; NVIDIA's name for it is
``linux-sbsa``. A line is a pinned pip requirement with its hashes.
"""

from __future__ import annotations

import dataclasses
import typing as t

#: A lock's key for the usual companions of torch, next to the units' keys.
BESIDE = "beside"


class Python(t.TypedDict):
    """``version`` is used for environments; the stack supports ``minimum`` to ``maximum``."""

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
    """An NVIDIA archive. ``sha256`` is a mapping by NVIDIA's platforms; ``variant`` is empty if there is only one."""

    product: str
    component: str
    release: str
    version: str
    variant: str
    soname: str
    sha256: dict[str, str]


class Wheels(t.TypedDict):
    """The stack's official wheels: the excluded ones, and those whose version differs from torch's requirement."""

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
    """The fact ``stack``; roles/stack/README.md describes every key. ``versions`` are None for excluded distributions.

    ``libraries`` selects the host's NVIDIA libraries and compilers: ``all``, or only those that ``wheels`` lack.
    The role sets ``named``: whether ``stack_name`` names the stack; otherwise it is the default.
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
    """A lock file; ``resolved`` is the date. Parts that were not resolved yet are missing."""

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
    """A file in one source's tree that names the commit of another source.

    :ivar source: the source with that tree.
    :ivar files: paths in that tree; the first file that exists is used.
    """

    source: str
    files: tuple[str, ...]


#: Sources pinned by other sources: PyTorch pins Triton, and Triton pins LLVM (llvm-hash.txt up to 3.7, llvm-info.json
#: from 3.8 on). A stack declares others with `pin`.
PINS = {
    "triton": Pin("pytorch", (".ci/docker/ci_commit_pins/triton.txt",)),
    "llvm": Pin("triton", ("cmake/llvm-info.json", "cmake/llvm-hash.txt")),
}


def pin_of(name: str, source: t.Mapping[str, t.Any]) -> Pin | None:
    """Return the file that names the commit of a source for which the stack gives no reference."""
    pin = source.get("pin")
    return Pin(pin["source"], tuple(pin["files"])) if pin else PINS.get(name)
