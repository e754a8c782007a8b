# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every check that computes or that asks torch, in the order in which a report shows them.

They are found in the sources of ``checks``: who writes one adds it to no list. The sources are read and not run, for
compiling all checks takes a host longer than the rest of a short proof, and only the interpreter that is proven
computes them.
"""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import typing as t

from . import check
from .check import Definition
from .checks.stack import device

#: The packages of ``checks``. Speed comes last: by then the device is warm, and a stack that computes wrong numbers has
#: been told.
ROOMS = ("stack", "data", "kernels", "programs", "survey", "sizes", "speed")
_DECORATOR = re.compile(r"^@(check\(.+?\))\n(?:def|@)", re.MULTILINE | re.DOTALL)


def declared(source: str, module: str) -> dict[str, Definition]:
    """Return the checks that the source of a module declares, by name."""
    found: dict[str, Definition] = {}
    for text in _DECORATOR.findall(source):
        call = t.cast("ast.Call", ast.parse(text, mode="eval").body)
        options = {word.arg: word.value for word in call.keywords if word.arg}
        names = [one.id for one in ast.walk(options.pop("measured", ast.Tuple([]))) if isinstance(one, ast.Name)]
        evidence = [getattr(check, name) for name in names]
        found.update(
            check.definitions(
                ast.literal_eval(call.args[0]),
                module,
                measured=[one for seen in evidence for one in (seen if isinstance(seen, tuple) else (seen,))],
                **{word: ast.literal_eval(value) for word, value in options.items()},
            )
        )
    return found


def _found() -> dict[str, Definition]:
    """Return what the sources of all rooms declare."""
    # Not pkgutil.get_data, which finds nothing in the one file while this is imported (Python 3.9).
    loader: t.Any = globals()["__loader__"]
    found: dict[str, Definition] = {}
    for room in ROOMS:
        directory = os.path.join(os.path.dirname(__file__), "checks", room)
        for file in pkgutil.iter_modules([directory]):
            source = loader.get_data(os.path.join(directory, f"{file.name}.py")).decode("utf-8")
            found.update(declared(source, f"{room}.{file.name}"))
    return found


#: By name, in the order in which a report shows them.
CHECKS = _found()


def modules() -> list[str]:
    """Return the modules that the checks are in, as ``checks.kernels.matmul``."""
    return [f"checks.{module}" for module in dict.fromkeys(definition.module for definition in CHECKS.values())]


#: Checks of the GPU that tolerate no company: one takes what memory is free, the others measure speed.
ALONE = ("tensors.memory", "speed.")
#: From so many cores on, what takes long has lanes of its own.
MANY_CORES = 8
#: Lanes beside ``host`` and ``others``, with how names of their checks begin; the longest that fits. Checks of a family
#: in one lane share a process, and with it the kernels that a context loads at their first use, which takes more of a
#: core's time than most checks compute: those are together that use the same. Split by the processor's seconds on a
#: host of 16 cores and an H200 (docs/evidence/survey.md): some 40 in a lane that comes first, 25 in another.
LANES = {
    "cuDNN in float16": ("attention.cudnn_float16",),
    "cuDNN": ("attention.cudnn",),
    "attention": ("attention.",),
    "compiler": ("compilation.",),
    "survey in float32": ("survey.float32",),
    "survey in float64": ("survey.float64", "survey.optimizers"),
    "survey in complex64": ("survey.complex64", "survey.modules"),
    "survey in 16 bits": ("survey.",),
    "survey in pairs": ("survey.pairs",),
    "sequences": ("training.transformer", "training.recurrent"),
    "convolutions": ("training.compiled_", "training."),
    "compiled network": ("training.compiled",),
    "sizes": ("sizes.",),
    "inference": ("inference.", "chance."),
    "streams": ("movement.large", "streams."),
    "movement": ("movement.",),
    "formats": ("formats.",),
    "layouts": ("layouts.",),
    "transforms": ("algebra.fft",),
    "algebra": ("algebra.",),
    "fast ways": ("fastpaths.", "triton.", "companions.", "collectives.", "storage."),
    "networks on the host": ("cpu.training.", "cpu.inference."),
    "survey on the host": ("cpu.survey.",),
    "sizes on the host": ("cpu.sizes.",),
    "algebra on the host": ("cpu.algebra.", "cpu.chance.", "cpu.movement.", "cpu.fastpaths."),
    "formats on the host": ("cpu.formats.", "cpu.layouts."),
}
#: The same with few cores.
FEW_LANES = {"attention": ("attention.",)}


def lanes(names: t.Sequence[str], cores: int | None = None) -> tuple[list[list[str]], list[str]]:
    """Return what runs side by side, each list in a process of its own, and what runs alone after it.

    Everything on the GPU begins with whether it can be reached.

    :param cores: of this host, by default those that this process may use.
    """
    table = LANES if (cores or len(os.sched_getaffinity(0))) >= MANY_CORES else FEW_LANES
    groups: dict[str, list[str]] = {"host": [], **{lane: [] for lane in table}, "others": [], "alone": []}
    for name in names:
        one = CHECKS[name]
        if name == device.NAME:
            continue
        fits = [(len(start), lane) for lane, starts in table.items() for start in starts if name.startswith(start)]
        lane = max(fits, default=(0, ""))[1]
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
