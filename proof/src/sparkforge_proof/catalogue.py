"""The catalogue of all checks that use torch, in the order of the report.

It is read from the sources of ``checks``, so there is no list to maintain. The sources are parsed instead of imported,
because compiling all checks takes longer than the rest of a short proof, and only the interpreter under test runs them.
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

#: The packages of ``checks``. Speed comes last, when the device is warm and wrong results have already been reported.
ROOMS = ("stack", "data", "kernels", "programs", "survey", "sizes", "speed")
_DECORATOR = re.compile(r"^@(check\(.+?\))\n(?=def|@)", re.MULTILINE | re.DOTALL)


def parse_checks(source: str, module: str) -> dict[str, Definition]:
    """Return the checks that the source of a module declares, by name."""
    definitions: dict[str, Definition] = {}
    for text in _DECORATOR.findall(source):
        call = t.cast("ast.Call", ast.parse(text, mode="eval").body)
        options = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        names = [node.id for node in ast.walk(options.pop("measured", ast.Tuple([]))) if isinstance(node, ast.Name)]
        measured: list[check.Evidence] = []
        for evidence in (getattr(check, name) for name in names):
            measured += evidence if isinstance(evidence, tuple) else [evidence]
        literals = {name: ast.literal_eval(value) for name, value in options.items()}
        definitions.update(check.definitions(ast.literal_eval(call.args[0]), module, measured=measured, **literals))
    return definitions


def _read_sources() -> dict[str, Definition]:
    """Return the checks that the sources of all packages declare."""
    # Python 3.9's pkgutil.get_data finds nothing in the single-file program while this module is imported.
    loader: t.Any = globals()["__loader__"]
    definitions: dict[str, Definition] = {}
    for room in ROOMS:
        directory = os.path.join(os.path.dirname(__file__), "checks", room)
        for file in pkgutil.iter_modules([directory]):
            source = loader.get_data(os.path.join(directory, f"{file.name}.py")).decode("utf-8")
            definitions.update(parse_checks(source, f"{room}.{file.name}"))
    return definitions


#: All checks by name, in the order of the report.
CHECKS = _read_sources()


def modules() -> list[str]:
    """Return the modules that contain checks, such as ``checks.kernels.matmul``."""
    return [f"checks.{module}" for module in dict.fromkeys(definition.module for definition in CHECKS.values())]


#: GPU checks that must run alone: one allocates all free memory, the others measure speed.
ALONE = ("tensors.memory", "speed.")
#: The number of cores from which the long families get separate lanes.
MANY_CORES = 8
#: Lanes in addition to ``host`` and ``others``, with the prefixes of their checks; the longest matching prefix counts.
#: The checks of a family that are in one lane share a process and the kernels that its CUDA context has loaded. Loading
#: a kernel takes more CPU time than most checks, so checks that use the same kernels are put together. The survey's
#: lanes end by its time limit; the others are balanced by ``core_seconds`` on an H200, at most 35 for each except the
#: tables of compiled programs, which take up to 60.
LANES = {
    "cuDNN": ("attention.cudnn",), "attention": ("attention.",),
    "compiled attention": ("compilation.attention", "compilation.compositions"),
    "compiled tables": ("compilation.panels",), "survey in float32": ("survey.float32",),
    "survey in float64": ("survey.float64", "survey.optimizers", "survey.pairs_integers"),
    "survey in complex64": ("survey.complex64", "survey.pairs_complex64", "survey.modules"),
    "survey in bfloat16": ("survey.bfloat16", "survey.pairs_bfloat16"),
    "survey in float16": ("survey.float16", "survey.pairs_float"), "sequences": ("training.transformer",),
    "optimisers": ("training.",), "sizes": ("sizes.",), "many rows": ("sizes.many",), "random numbers": ("chance.",),
    "streams": ("streams.",), "movement": ("movement.", "companions."), "formats": ("formats.",),
    "layouts": ("layouts.", "triton.", "collectives."), "transforms": ("algebra.fft",), "algebra": ("algebra.",),
    "exact numbers": ("matmul.", "reductions.", "elements.", "indices.", "layers."), "fast ways": ("fastpaths.",),
    "training on the host": ("cpu.training.",),
    "survey on the host": ("cpu.survey.float32",), "pairs on the host": ("cpu.survey.",),
    "sizes on the host": ("cpu.sizes.",),
    "algebra on the host": ("cpu.algebra.", "cpu.chance.", "cpu.movement.", "cpu.fastpaths."),
    "formats on the host": ("cpu.formats.", "cpu.layouts."),
}  # fmt: skip
#: The additional lanes on a host with few cores.
FEW_LANES = {"attention": ("attention.",)}


def lanes(names: t.Sequence[str], cores: int | None = None) -> tuple[list[list[str]], list[str]]:
    """Return the checks in each parallel lane, and the checks that run alone afterwards.

    Each lane on the GPU begins with the check that CUDA can be initialised.

    :param cores: the number of cores; by default, those that this process may use.
    """
    table = LANES if (cores or len(os.sched_getaffinity(0))) >= MANY_CORES else FEW_LANES
    groups: dict[str, list[str]] = {"host": [], **{lane: [] for lane in table}, "others": [], "alone": []}
    for name in names:
        on_cuda = CHECKS[name].device == "cuda"
        if name == device.NAME:
            continue
        fits = [(len(start), lane) for lane, starts in table.items() for start in starts if name.startswith(start)]
        lane = max(fits, default=(0, ""))[1]
        if on_cuda and name.startswith(ALONE):
            lane = "alone"
        groups[lane or ("others" if on_cuda else "host")].append(name)
    on_gpu = [group for group in groups.values() if any(CHECKS[name].device == "cuda" for name in group)]
    for group in on_gpu:
        group.insert(0, device.NAME)
    if device.NAME in names and not on_gpu:
        groups["others"].append(device.NAME)
    alone = groups.pop("alone")
    return [group for group in groups.values() if group], alone
