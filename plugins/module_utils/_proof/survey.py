# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Every operator of torch's own catalogue, with the inputs that it brings, forward and backward, against the CPU.

``torch.testing._internal`` lists some 700 operators with sample inputs for each format (OpInfo). Each is computed on
the device and, with the same inputs in float64, on the CPU. An error is counted in units: how far a value is off, by the
spacing of the format's numbers near the value and near the largest one of the result. How many units an operator may be
off stands in ``survey_bounds``, which was calibrated on sound stacks.
"""

from __future__ import annotations

import dataclasses
import math
import random
import sys
import time
import types
import typing as t
import unittest
import warnings

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import survey_bounds
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.bounds import UNIT_ROUNDOFF, allow_tf32
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import (
    Context,
    Failed,
    Measured,
    Skipped,
    check,
)

if t.TYPE_CHECKING:
    import torch

#: Of each operator and format; ``limits.samples`` of the proof.
SAMPLES = 3
#: How many of the operators that are off are named.
NAMED = 5
#: A gradient is nothing but rounding where it is smaller than this part of what went in, and then it may be so many
#: times as far off.
VANISHING, CANCELLED = 1e-6, 1e4

REMEDY = (
    "Take another stack, or build this one again with other flags; to see it by itself, run the operator on the device"
    " and in float64 on the CPU."
)


@dataclasses.dataclass
class Survey:
    """What a run over the catalogue found in one format.

    :ivar units: by operator, the worst error of the results and of the gradients, in units.
    :ivar refused: by operator, what the device said that does not offer it in this format.
    :ivar left_out: operators that are not compared, see ``survey_bounds.LEFT_OUT``.
    """

    units: t.Dict[str, t.List[float]] = dataclasses.field(default_factory=dict)
    refused: t.Dict[str, str] = dataclasses.field(default_factory=dict)
    left_out: t.List[str] = dataclasses.field(default_factory=list)
    samples: int = 0


def catalogue() -> t.List[t.Any]:
    """Return torch's operators.

    :raises Skipped: this torch brings no such list.
    """
    if "expecttest" not in sys.modules:
        # Only its base class of tests is wanted, for classes that are never used.
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        raise Skipped(f"This torch's list of operators cannot be read: {error}.") from error
    return list(op_db)


def name_of(operator: t.Any) -> str:
    """Return an operator's name: ``nn.functional.pad.reflect``."""
    return f"{operator.name}.{operator.variant_test_name}" if operator.variant_test_name else str(operator.name)


def survey(device: str, form: str, samples: int, seed: int, only: t.Optional[t.Collection[str]] = None) -> Survey:
    """Compute each operator in one format on the device and in float64 on the CPU.

    :param form: ``float32``.
    :param samples: how many inputs of each operator, drawn by ``seed`` from those that it brings.
    :param only: names of operators; all where it is left out.
    """
    import torch

    found, dtype, operators = Survey(), getattr(torch, form), catalogue()
    # After that import cuDNN's flags are changed by its own context alone.
    with allow_tf32(torch.backends.cuda.matmul, False), torch.backends.cudnn.flags(allow_tf32=False):
        for operator in operators:
            name = name_of(operator)
            if (only is not None and name not in only) or dtype not in operator.supported_dtypes(device):
                continue
            if survey_bounds.left_out(name):
                found.left_out.append(name)
                continue
            try:
                units, count = _operator(operator, dtype, device, samples, f"{seed} {name}")
            except NotOffered as error:
                found.refused[name] = str(error)
                continue
            found.units[name] = units
            found.samples += count
    return found


class NotOffered(Exception):
    """The device, or the CPU in float64, does not compute an operator."""


def _operator(operator: t.Any, dtype: torch.dtype, device: str, samples: int, seed: str) -> t.Tuple[t.List[float], int]:
    """Return the worst errors of results and of gradients in units, and of how many inputs."""
    import torch

    differentiable = bool(operator.supports_autograd) and dtype in operator.supported_backward_dtypes(device)
    torch.manual_seed(random.Random(seed).getrandbits(32))  # noqa: S311 - which inputs are tried is no secret
    worst, count = [0.0, 0.0], 0
    for sample in _drawn(operator.sample_inputs(device, dtype, requires_grad=differentiable), samples, seed):
        count += 1
        # A probability of dropout: two devices draw other numbers.
        if sample.kwargs.get("dropout_p") or sample.kwargs.get("dropout"):
            continue
        exact, leaves = _exact(sample)
        try:
            expected = operator(exact.input, *exact.args, **exact.kwargs)
        except (RuntimeError, TypeError, ValueError, AssertionError) as error:
            raise NotOffered(f"the CPU in float64: {_short(error)}") from error
        try:
            actual = operator(sample.input, *sample.args, **sample.kwargs)
        except (NotImplementedError, AssertionError) as error:
            raise NotOffered(_short(error)) from error
        except RuntimeError as error:
            raise RuntimeError(f"{name_of(operator)}: {_short(error)}") from error
        actual, expected = sample.output_process_fn_grad(actual), exact.output_process_fn_grad(expected)
        pairs = list(zip(tensors(actual), tensors(expected)))
        for one, other in pairs:
            worst[0] = max(worst[0], units(one, other.detach(), dtype))
        if differentiable and leaves:
            worst[1] = max(worst[1], _gradients(pairs, leaves, dtype, seed))
    return worst, count


def _drawn(samples: t.Iterable[t.Any], count: int, seed: str) -> t.List[t.Any]:
    """Return some of the inputs: the first, which is the plainest, and others by the seed."""
    listed = []
    for sample in samples:
        listed.append(sample)
        # Some operators bring thousands, which take longer to make than to compute.
        if len(listed) >= 20 * count:
            break
    if len(listed) <= count:
        return listed
    return [listed[0], *random.Random(seed).sample(listed[1:], count - 1)]  # noqa: S311 - as above


def _exact(sample: t.Any) -> t.Tuple[t.Any, t.List[t.Tuple[torch.Tensor, torch.Tensor]]]:
    """Return the same inputs in float64 on the CPU, and what of both is differentiated for."""
    import torch

    leaves: t.List[t.Tuple[torch.Tensor, torch.Tensor]] = []

    def change(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            exact = value.detach().to("cpu")
            if exact.is_complex():
                exact = exact.to(torch.complex128)
            elif exact.is_floating_point():
                exact = exact.to(torch.float64)
            if value.requires_grad:
                exact = exact.clone().requires_grad_()
                leaves.append((value, exact))
            return exact
        if isinstance(value, torch.dtype) and value.is_floating_point:
            return torch.float64
        if isinstance(value, torch.device) or (isinstance(value, str) and value.startswith("cuda")):
            return "cpu"
        return value

    return sample.transform(change), leaves


def tensors(value: t.Any) -> t.List[torch.Tensor]:
    """Return the tensors of whatever an operator returns, in order."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    return [one for item in value for one in tensors(item)] if isinstance(value, (tuple, list)) else []


def _gradients(
    pairs: t.Sequence[t.Tuple[torch.Tensor, torch.Tensor]],
    leaves: t.Sequence[t.Tuple[torch.Tensor, torch.Tensor]],
    dtype: torch.dtype,
    seed: str,
) -> float:
    """Return the worst error of the gradients in units, for gradients of the results that are drawn by the seed."""
    import torch

    pairs = [(one, other) for one, other in pairs if one.requires_grad and other.requires_grad]
    if not pairs:
        return 0.0
    generator = torch.Generator().manual_seed(random.Random(seed).getrandbits(32))  # noqa: S311 - as above
    upstream = [
        torch.randn(one.shape, generator=generator, dtype=torch.float64).to(dtype).to(torch.float64)
        for one, _b in pairs
    ]
    found = torch.autograd.grad(
        [one for one, _other in pairs],
        [leaf for leaf, _exact in leaves],
        [value.to(one.device, one.dtype) for value, (one, _b) in zip(upstream, pairs)],
        allow_unused=True,
    )
    wanted = torch.autograd.grad(
        [other for _one, other in pairs],
        [exact for _leaf, exact in leaves],
        [value.to(other.dtype) for value, (_a, other) in zip(upstream, pairs)],
        allow_unused=True,
    )
    scale = max((float(value.abs().max()) for value in upstream if value.numel()), default=0.0)
    worst = 0.0
    for one, other in zip(found, wanted):
        if one is None or other is None or not other.numel():
            continue
        one, other = one.to_dense(), other.to_dense()
        value = units(one, other, dtype, scale, overflows=dtype is torch.float16)
        # A gradient that is zero but for rounding, as behind the normalisation of a single value, is what is left of a
        # cancellation, and as far off as what was cancelled is large.
        vanishes = float(other.abs().max()) <= VANISHING * scale
        worst = max(worst, value / CANCELLED if vanishes else value)
    return worst


def units(
    actual: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype, scale: float = 0.0, overflows: bool = False
) -> float:
    """Return how far a result is off at worst, in units of its format; infinity where it is of another kind.

    :param expected: float64, complex128, or exact: of integers and truth values every one must be right.
    :param scale: what an error is measured by at least, beside the largest value that is expected.
    :param overflows: whether a value may be infinite or none because something on the way to it was.
    """
    import torch

    got, expected = actual.detach().to("cpu"), expected.detach().to("cpu")
    if expected.layout is not torch.strided:
        got, expected = got.to_dense(), expected.to_dense()
    if got.shape != expected.shape:
        return math.inf
    if expected.numel() == 0:
        return 0.0
    if expected.is_complex():
        got = torch.view_as_real(got.to(torch.complex128).resolve_conj())
        expected = torch.view_as_real(expected.resolve_conj())
    elif not expected.is_floating_point():
        return 0.0 if torch.equal(got.to(expected.dtype), expected) else math.inf
    # What is beyond the format is infinite there, and only there.
    expected = expected.to(torch.float64)
    largest = torch.finfo(dtype).max
    got = got.to(torch.float64)
    finite = torch.isfinite(expected) & (expected.abs() < largest)
    rest = got[~finite]
    if bool((torch.isfinite(rest) & (rest.abs() < largest / 2)).any()):
        return math.inf
    got, expected = got[finite], expected[finite]
    if expected.numel() == 0:
        return 0.0
    there = torch.isfinite(got)
    if not bool(there.all()):
        if not overflows:
            return math.inf
        got, expected = got[there], expected[there]
        if expected.numel() == 0:
            return 0.0
    spacing = 2 * UNIT_ROUNDOFF[str(dtype).rpartition(".")[2]]
    around = expected.abs() + max(float(expected.abs().max()), scale)
    # Where all is zero, or smaller than any number of the format.
    around = around.clamp_min(torch.finfo(dtype).tiny)
    return float(((got - expected).abs() / (spacing * around)).max())


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def _surveyed(context: Context, form: str) -> Measured:
    """Compare every operator in one format.

    :raises Failed: one is off by more than it may.
    """
    import torch

    samples = int(context.limits.get("samples") or SAMPLES)
    seed = int(time.strftime("%Y%m%d", time.gmtime()))
    if context.device == "cuda" and form == "float64" and not torch.cuda.is_available():
        raise Skipped("There is no GPU.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = survey(context.device, form, samples, seed)
    off, worst, worst_name = [], 0.0, ""
    for name, both in found.units.items():
        for value, bound, what in zip(both, survey_bounds.bounds(name, form), ("", ", backward")):
            if value / bound >= worst:
                worst, worst_name = value / bound, f"{name}{what}"
            if value > bound:
                off.append((value / bound, f"{name}{what} by {value:.3g} units (bound {bound:g})"))
    bound = "units that sound stacks were off by, fourfold"
    measured = (
        f"{len(found.units)} operators with {found.samples} inputs, at worst {worst:.2g} of the bound ({worst_name});"
        f" {len(found.refused)} not offered, {len(found.left_out)} left out; seed {seed}"
    )
    if not found.units:
        raise Failed("No operator was computed.", REMEDY, measured, bound)
    if off:
        off.sort(reverse=True)
        listed = "; ".join(said for _ratio, said in off[:NAMED])
        more = f"; and {len(off) - NAMED} more" if len(off) > NAMED else ""
        raise Failed(f"Off in {form}: {listed}{more}.", REMEDY, measured, bound, worst)
    return Measured(measured, bound, worst)


@check("survey.float64", devices=("cuda",), seconds=600)
def float64(context: Context) -> Measured:
    """Each operator in float64: another algorithm than the CPU's, the same numbers."""
    return _surveyed(context, "float64")


@check("survey.float32", devices=("cuda", "cpu"), seconds=600)
def float32(context: Context) -> Measured:
    """Each operator in float32, without TensorFloat-32."""
    return _surveyed(context, "float32")


@check("survey.bfloat16", devices=("cuda", "cpu"), seconds=600)
def bfloat16(context: Context) -> Measured:
    """Each operator in bfloat16."""
    return _surveyed(context, "bfloat16")


@check("survey.float16", devices=("cuda", "cpu"), seconds=600)
def float16(context: Context) -> Measured:
    """Each operator in float16."""
    return _surveyed(context, "float16")
