# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bounds of the survey's operators, in units, and the operators that it does not compare."""

from __future__ import annotations

import re

from . import variants

#: Bounds of results and of gradients of operators that are not in the table.
DEFAULT = {"complex64": 32.0, "float64": 64.0, "float32": 32.0, "bfloat16": 6.0, "float16": 6.0}

#: Reasons why operators are not compared, by name or by name without the variant.
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        "bernoulli cauchy exponential geometric log_normal multinomial normal uniform rand_like randn"
        " randn_like randint randint_like nn.functional.alpha_dropout nn.functional.dropout"
        " nn.functional.dropout2d nn.functional.dropout3d nn.functional.feature_alpha_dropout"
        " nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d"
        " nn.functional.multi_head_attention_forward nn.functional.rrelu pca_lowrank svd_lowrank".split(),
        "it draws random numbers, which differ between devices",
    ),
    **dict.fromkeys(
        "empty empty_like empty_permuted empty_strided new_empty new_empty_strided".split(),
        "it returns uninitialised memory",
    ),
    **dict.fromkeys(
        "jiterator_unary jiterator_binary jiterator_binary_return_by_ref jiterator_2inputs_2outputs"
        " jiterator_4inputs_with_extra_args torch.ops.aten._efficient_attention_forward"
        " torch.ops.aten._flash_attention_forward".split(),
        "the CPU has no such operator",
    ),
    **dict.fromkeys(
        "_native_batch_norm_legit native_batch_norm native_layer_norm".split(),
        "the CPU returns statistics of a different shape or format",
    ),
    "linalg.det.singular": "a determinant near zero, and its gradient, are what a cancellation leaves (torch 2.6)",
    "as_strided.partial_views": "it reads past a copy of the view",
    "signal.windows.blackman": "the values of a window of two result from cancellation",
    **dict.fromkeys(("grid_sampler_2d", "grid_sampler_3d"), "nn.functional.grid_sample is the same, 100 times faster"),
    "_softmax_backward_data": "one of its inputs mixes two formats, which GPUs cannot differentiate",
    "to": "it moves its result from one device to another",
    **dict.fromkeys(
        tuple(
            f"as_strided{suffix}, {way}" for suffix in ("", "_copy", "_scatter") for way in ("strided", "transposed")
        ),
        "it sets its own strides, so it refers to other elements in another layout",
    ),
    "resize_, transposed": "it keeps what lies in memory, in another order in another layout",
    "resize_as_, transposed": "as resize_",
    **dict.fromkeys(
        ("matmul, out=", "nn.functional.linear, out="), "torch 2.13 writes some to other than the elements given"
    ),
    "nn.functional.gelu, infinite": "torch 2.13's CPU kernel of bfloat16 makes a NaN of an infinity",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu, transposed": "it reads these wrong: pytorch#187506",
    **{
        f"{name}, out=": "torch 2.13's CPU kernel, or 2.11's CUDA kernel, does not write to strided elements"
        for name in "nn.functional.gelu nn.functional.avg_pool2d nn.functional.avg_pool3d narrow_copy fft.ihfftn"
        " fft.ihfft2".split()
    },
    "linalg.eigh, out=": "the sign of a vector is arbitrary, and only the plain call normalises it",
}

#: Operator, format, and the bounds of its results and its gradients: four times the largest error on sound stacks.
#: inf: not compared in that format, since the rounding of an input decides the value (an index, a truncation, a cell of
#: a grid), since it overflows, or since libraries follow different rules, such as which pivot of complex numbers is the
#: largest (``algebra.dense`` multiplies the factors instead). Sound stacks: torch 2.13.0 (CPU, x86_64) and torch
#: 2.11.0+cu130 (NVIDIA H100 and H200, and their hosts), up to 85 seeds of a format, 2026-11-24; see
#: docs/evidence/survey.md.
_TABLE = """
__rmatmul__ float64 100 64
__rmul__ float16 6 8.9
__rpow__ bfloat16 6 inf
__rpow__ float16 6 inf
_batch_norm_with_update bfloat16 6 24
_batch_norm_with_update float16 6 53
_batch_norm_with_update float32 32 38
_foreach_clamp_max bfloat16 6 inf
_foreach_clamp_max float16 6 inf
_foreach_clamp_min bfloat16 6 inf
_foreach_clamp_min float16 6 inf
_foreach_maximum bfloat16 6 inf
_foreach_maximum float16 6 inf
_foreach_minimum bfloat16 6 inf
_foreach_minimum float16 6 inf
_foreach_pow bfloat16 6 inf
_foreach_pow float16 6 inf
_unsafe_masked_index bfloat16 6 9.1
_unsafe_masked_index float16 6 12
_upsample_bilinear2d_aa float32 41 55
addcdiv bfloat16 6 24
addcdiv float16 6 13
argsort bfloat16 inf 6
argsort float16 inf 6
atanh float16 6 8.7
atanh float32 32 61
cdist float32 32 130
corrcoef bfloat16 6 8.9
cov float32 35 35
cov float64 inf inf
digamma float32 32 110
dist float16 6 30
div.trunc_rounding bfloat16 12 6
erfinv bfloat16 6 6.8
fmod bfloat16 inf inf
fmod float16 inf inf
histc bfloat16 inf 6
histc float16 inf 6
linalg.eig float32 32 43
linalg.eigh float32 32 62
linalg.householder_product complex64 32 9000
linalg.lu complex64 inf inf
linalg.lu_factor complex64 inf inf
linalg.lu_factor_ex complex64 inf inf
lu complex64 inf inf
_foreach_norm complex64 32 inf
logcumsumexp complex64 32 inf
logsumexp complex64 32 inf
renorm complex64 32 inf
linalg.householder_product float32 32 130
linalg.householder_product float64 64 9000
linalg.pinv float64 64 95
linalg.pinv.singular float64 71 64
linalg.svd float32 32 44
linalg.svd float64 64 410
linalg.tensorsolve float32 61 120
linalg.vector_norm float16 6 1600
logcumsumexp bfloat16 6 inf
logcumsumexp float16 6 inf
logcumsumexp float32 32 23000
logsumexp float32 32 330
masked.logsumexp bfloat16 6 6.1
masked.prod float16 6 inf
matmul float64 100 64
matrix_exp bfloat16 inf inf
matrix_exp float16 inf inf
mode bfloat16 inf inf
mode float16 inf inf
msort bfloat16 6 inf
msort float16 6 inf
mul bfloat16 6 9.6
mul float16 6 6.4
native_group_norm bfloat16 6 12
native_group_norm float16 6 13
nn.functional.batch_norm bfloat16 6 24
nn.functional.batch_norm float16 6 50
nn.functional.conv3d float32 32 39
nn.functional.ctc_loss float32 32 1700
nn.functional.ctc_loss float64 64 1100
nn.functional.embedding_bag bfloat16 180 6
nn.functional.grid_sample bfloat16 inf inf
nn.functional.grid_sample float16 inf inf
nn.functional.group_norm float16 6 14
nn.functional.hardsigmoid float64 2.8e+08 64
nn.functional.hardswish float64 2.8e+08 64
nn.functional.kl_div float16 6 18
nn.functional.layer_norm float16 6 14
nn.functional.layer_norm float32 32 55
nn.functional.layer_norm float64 64 7100
nn.functional.normalize bfloat16 6 8.8
nn.functional.pairwise_distance float16 6 120
nn.functional.poisson_nll_loss float16 7.6 6
nn.functional.scaled_dot_product_attention float64 64 150
nn.functional.soft_margin_loss float16 inf inf
pinverse float64 64 93
polygamma.polygamma_n_0 float16 6 inf
polygamma.polygamma_n_0 float32 120 32
polygamma.polygamma_n_1 float16 6 inf
polygamma.polygamma_n_1 float32 120 32
polygamma.polygamma_n_2 float16 6 inf
polygamma.polygamma_n_2 float32 120 32
polygamma.polygamma_n_3 float32 120 32
polygamma.polygamma_n_4 float32 120 32
pow float16 6 inf
remainder bfloat16 inf inf
remainder float16 inf inf
signal.windows.nuttall float32 160 32
sort bfloat16 inf inf
sort float16 inf inf
special.airy_ai float32 92 32
special.log_ndtr float32 32 53
special.ndtr bfloat16 inf 6
special.ndtr float32 inf 32
special.polygamma.special_polygamma_n_0 float16 6 inf
special.polygamma.special_polygamma_n_0 float32 120 32
svd float32 32 39
svd float64 64 410
topk bfloat16 inf inf
xlogy bfloat16 6 8.2
xlogy float16 6 12
"""

#: Bounds of modules, which are a few operators in sequence.
DEFAULT_OF_MODULES = {"float32": 64.0, "bfloat16": 12.0}
#: Reasons why modules are not compared.
MODULES_LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        "nn.Dropout nn.Dropout1d nn.Dropout2d nn.Dropout3d nn.AlphaDropout nn.FeatureAlphaDropout nn.RReLU"
        " nn.FractionalMaxPool2d nn.FractionalMaxPool3d".split(),
        "it draws random numbers, which differ between devices",
    ),
    **dict.fromkeys(
        "nn.LazyConv1d nn.LazyConv2d nn.LazyConv3d nn.LazyConvTranspose1d nn.LazyConvTranspose2d"
        " nn.LazyConvTranspose3d".split(),
        "it becomes the module without Lazy in its name on the first call",
    ),
}


def _parse(table: str) -> dict[tuple[str, str], tuple[float, float]]:
    rows = [line.split() for line in table.strip().splitlines()]
    return {(name, form): (float(result), float(gradient)) for name, form, result, gradient in rows}


CALIBRATED = _parse(_TABLE)

#: The same table for modules. RNN, RNNCell and the transformers have about a hundred units, since a rounding to
#: bfloat16 decides the sign of a ReLU's input, and with it the gradient.
_MODULES = """
nn.BatchNorm1d bfloat16 12 31
nn.CTCLoss float32 64 1700
nn.CrossEntropyLoss bfloat16 53 17
nn.Embedding bfloat16 12 44
nn.GELU float32 140 64
nn.GRU bfloat16 12 36
nn.GRU float32 64 120
nn.KLDivLoss bfloat16 12 inf
nn.KLDivLoss float32 64 inf
nn.LayerNorm bfloat16 12 25
nn.MultiMarginLoss bfloat16 12 47
nn.MultiheadAttention bfloat16 12 18
nn.MultiheadAttention float32 64 92
nn.RNN bfloat16 12 150
nn.RNNCell bfloat16 12 150
nn.Transformer bfloat16 12 73
nn.TransformerDecoderLayer bfloat16 12 70
nn.TransformerEncoder bfloat16 12 130
nn.TransformerEncoderLayer bfloat16 12 72
"""
CALIBRATED_MODULES = _parse(_MODULES)


#: Operators that round at most once, and their forms for lists, which every device can compute exactly.
_ROUNDED_ONCE = re.compile(
    r"(_foreach_|__r|special\.)?(abs|add|sub|rsub|mul|div(\.no_rounding_mode)?|true_divide|neg|positive|sign|sqrt|reciprocal|square"
    r"|floor|ceil|trunc|frac|round|eq|ne|lt|le|gt|ge|isnan|isinf|isfinite|logical_\w+|bitwise_\w+|maximum|minimum|fmax|fmin"
    r"|clamp(_max|_min)?|fill|zeros?|ones|full|zeros_like|ones_like|full_like|nn\.functional\.relu)(__)?$"
)


def is_elementary(name: str) -> bool:
    """Tell whether an operator's results are exact: it moves values, rounds once, or multiplies matrices."""
    products = variants.PRODUCTS.search(name) and not variants.LIBRARIES.match(name) and "conv" not in name
    return bool(variants.MOVES.match(name) or _ROUNDED_ONCE.match(name) or products)


def bounds(name: str, form: str) -> tuple[float, float]:
    """Return the bounds of the results and of the gradients of an operator in a format, in units.

    :param name: ``sort``, or ``sort, strided``.
    """
    return CALIBRATED.get((name.partition(",")[0], form), (DEFAULT[form], DEFAULT[form]))


#: Known defects of torch itself, which only warn, by device and call.
KNOWN_DEFECTS = {
    ("cuda", r"nn\.functional\.avg_pool[12]d, transposed(, .*)?, backward"): (
        "of inputs whose channels are last, with padding, until pytorch#188345 (2026-07)"
    ),
    ("cpu", r"special\.\w*(chebyshev|laguerre|legendre)_polynomial_\w+, (.*, )?(negative )?NaN(, .*)?"): (
        "memory that nobody has set is returned, until pytorch#187762 and #188027 (2026-06)"
    ),
}


def known_defect(name: str, device: str) -> str:
    """Return the known defect of torch in a call of an operator, or an empty string.

    :param name: the call: ``nn.functional.avg_pool2d, transposed, backward``.
    """
    return next(
        (why for (where, pattern), why in KNOWN_DEFECTS.items() if where == device and re.fullmatch(pattern, name)), ""
    )


#: Prefixes of the operators whose kernels torch compiles at their first use on a GPU.
COMPILED = (
    *"special. polygamma mvlgamma masked.prod prod nanprod i0 erf lgamma sinc exp2 digamma gcd lcm".split(),
    *"_foreach_erf _foreach_lgamma signal.windows.kaiser".split(),
)


def compiled(name: str) -> bool:
    """Tell whether an operator takes seconds to compile at its first use."""
    return name.startswith(COMPILED)


def of_module(name: str) -> tuple[float, float]:
    """Return the bounds of the results and of the gradients of a module, in units.

    :param name: ``nn.Linear trained (float32)``.
    """
    module, _unused, form = name.split(" ")
    form = form.strip("()")
    return CALIBRATED_MODULES.get((module, form), (DEFAULT_OF_MODULES[form],) * 2)


def left_out(name: str) -> str:
    """Return the reason why an operator or its variant is not compared, or an empty string if it is."""
    parts = name.split(".")
    return next((why for count in range(len(parts), 0, -1) if (why := LEFT_OUT.get(".".join(parts[:count])))), "")
