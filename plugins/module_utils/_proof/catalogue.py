# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Every check that computes or that asks torch, in the order in which they run."""

from __future__ import annotations

import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import (
    architectures,
    attention,
    collectives,
    companions,
    compilation,
    convolution,
    device,
    identity,
    inference,
    linalg,
    matmul,
    sizes,
    sparsity,
    speed,
    storage,
    survey,
    tensors,
    toolchain,
    training,
    triton_kernels,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import REGISTERED, Definition

# Speed comes last: by then the device is warm, and a stack that computes wrong numbers has been told.
FAMILIES = (
    identity,
    architectures,
    toolchain,
    device,
    tensors,
    matmul,
    convolution,
    attention,
    linalg,
    sparsity,
    triton_kernels,
    compilation,
    companions,
    collectives,
    storage,
    survey,
    sizes,
    training,
    inference,
    speed,
)


def _names() -> t.List[str]:
    return [family.__name__.rpartition(".")[2] for family in FAMILIES]


#: By name, in the order in which they run.
CHECKS: t.Dict[str, Definition] = dict(sorted(REGISTERED.items(), key=lambda item: _names().index(item[1].family)))


#: Families of the GPU that tolerate no company: one takes what memory is free, the other measures speed.
ALONE = ("tensors", "speed")


def lanes(names: t.Sequence[str]) -> t.Tuple[t.List[t.List[str]], t.List[t.List[str]]]:
    """Return what runs side by side, each in an interpreter of its own, and what runs alone after it.

    Building cuDNN's plans of attention takes one core half a minute, in which the others compute. Everything on the GPU
    begins with whether it can be reached.
    """
    groups: t.Dict[str, t.List[str]] = {"host": [], "attention": [], "others": [], "alone": []}
    for name in names:
        one = CHECKS[name]
        if name == device.NAME:
            continue
        group = "alone" if one.family in ALONE else "attention" if one.family == "attention" else "others"
        groups["host" if one.device != "cuda" else group].append(name)
    for name in ("attention", "others", "alone"):
        if groups[name]:
            groups[name].insert(0, device.NAME)
    if device.NAME in names and not any(groups[name] for name in ("attention", "others", "alone")):
        groups["others"].append(device.NAME)
    beside = [groups[name] for name in ("host", "attention", "others") if groups[name]]
    return beside, [groups["alone"]] if groups["alone"] else []
