# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every check that computes or that asks torch, in the order in which they run.

What a report needs to know of each is in catalogue.json, written by `python -m tests.required_checks`: compiling all
checks takes a host longer than the rest of a short proof, and only the interpreter that is proven computes them.
"""

from __future__ import annotations

import json
import os
import typing as t

from .check import REGISTERED, Definition, Evidence
from .checks import device


def registered() -> dict[str, Definition]:
    """Import every check and return them by name, in the order in which they run."""
    from .checks import (
        algebra,
        architectures,
        attention,
        chance,
        collectives,
        companions,
        compilation,
        convolution,
        data_parallel,
        fastpaths,
        formats,
        graphs,
        identity,
        inference,
        layouts,
        linalg,
        many,
        matmul,
        movement,
        search,
        sizes,
        sparsity,
        specials,
        speed,
        storage,
        streams,
        survey,
        survey_modules,
        tensors,
        toolchain,
        training,
        transforms,
        triton_kernels,
    )

    # Files whose checks belong to a family of another name.
    parts = (data_parallel, survey_modules, graphs, transforms, many)
    # Speed comes last: by then the device is warm, and a stack that computes wrong numbers has been told.
    families = (
        identity,
        architectures,
        toolchain,
        device,
        tensors,
        movement,
        streams,
        formats,
        specials,
        chance,
        search,
        layouts,
        matmul,
        convolution,
        attention,
        fastpaths,
        linalg,
        algebra,
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
    order = [file.__name__.rpartition(".")[2] for file in (*families, *parts)]
    # Whoever imported some of them before has changed nothing.
    rows = sorted(REGISTERED.values(), key=lambda one: (order.index(one.family), order.index(one.module)))
    return {one.name: one for one in rows}


def _known() -> dict[str, Definition]:
    # Not pkgutil.get_data, which finds nothing in the one file while this is imported (Python 3.9).
    loader: t.Any = globals()["__loader__"]
    rows = json.loads(loader.get_data(os.path.join(os.path.dirname(__file__), "catalogue.json")))
    return {
        name: Definition(
            name, family, where, numeric, seconds, module, tuple(Evidence(*one) for one in measured), steps
        )
        for name, family, where, numeric, seconds, module, measured, steps in rows
    }


#: By name, in the order in which they run.
CHECKS = _known()

#: Checks of the GPU that tolerate no company: one takes what memory is free, the others measure speed.
ALONE = ("tensors.memory", "speed.")
#: From so many cores on, what takes long has lanes of its own.
MANY_CORES = 8
#: Lanes beside ``host`` and ``others``, by the beginning of a check's name; the first that fits. Checks of a family in
#: one lane share a process, and with it the kernels that a context loads at their first use, which takes more of a
#: core's time than most checks compute: those are together that use the same. Split by the processor's seconds on a
#: host of 16 cores and an H200 (docs/evidence/survey.md): some 40 in a lane that comes first, 25 in another.
LANES = {
    "attention.cudnn_float16": "cuDNN in float16",
    "attention.cudnn": "cuDNN",
    "attention.": "attention",
    "compilation.": "compiler",
    "survey.float32": "survey in float32",
    "survey.float64": "survey in float64",
    "survey.optimizers": "survey in float64",
    "survey.complex64": "survey in complex64",
    "survey.modules": "survey in complex64",
    "survey.": "survey in 16 bits",
    "training.transformer": "sequences",
    "training.recurrent": "sequences",
    "training.compiled_": "convolutions",
    "training.compiled": "compiled network",
    "training.": "convolutions",
    "sizes.": "sizes",
    "inference.": "inference",
    "chance.": "inference",
    "movement.large": "streams",
    "movement.": "movement",
    "streams.": "streams",
    "search.": "streams",
    "formats.": "formats",
    "specials.": "layouts",
    "layouts.": "layouts",
    "algebra.fft": "transforms",
    "algebra.": "algebra",
    "fastpaths.": "fast ways",
    "triton.": "fast ways",
    "companions.": "fast ways",
    "collectives.": "fast ways",
    "storage.": "fast ways",
    "cpu.training.": "networks on the host",
    "cpu.inference.": "networks on the host",
    "cpu.survey.": "survey on the host",
    "cpu.sizes.": "sizes on the host",
    "cpu.algebra.": "algebra on the host",
    "cpu.chance.": "algebra on the host",
    "cpu.movement.": "algebra on the host",
    "cpu.fastpaths.": "algebra on the host",
    "cpu.formats.": "formats on the host",
    "cpu.specials.": "formats on the host",
    "cpu.search.": "formats on the host",
    "cpu.layouts.": "formats on the host",
}
#: The same with few cores.
FEW_LANES = {"attention.": "attention"}


def lanes(names: t.Sequence[str], cores: int | None = None) -> tuple[list[list[str]], list[str]]:
    """Return what runs side by side, each list in a process of its own, and what runs alone after it.

    Everything on the GPU begins with whether it can be reached.

    :param cores: of this host, by default those that this process may use.
    """
    table = LANES if (cores or len(os.sched_getaffinity(0))) >= MANY_CORES else FEW_LANES
    groups: dict[str, list[str]] = {"host": [], **{lane: [] for lane in table.values()}, "others": [], "alone": []}
    for name in names:
        one = CHECKS[name]
        if name == device.NAME:
            continue
        lane = next((lane for start, lane in table.items() if name.startswith(start)), "")
        if one.device == "cuda" and name.startswith(ALONE):
            lane = "alone"
        groups[lane or ("others" if one.device == "cuda" else "host")].append(name)
    on_gpu = [group for group in groups.values() if any(CHECKS[name].device == "cuda" for name in group)]
    for group in on_gpu:
        group.insert(0, device.NAME)
    if device.NAME in names and not on_gpu:
        groups["others"].append(device.NAME)
    alone = groups.pop("alone")
    return [group for group in groups.values() if group], alone
