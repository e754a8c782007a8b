"""Compare torch's fast paths, kernels for long keys and shortcuts in modules, with the plain computation."""

from __future__ import annotations

import copy
import itertools
import math
import typing as t
import warnings

from ...check import SEEN_ARM, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, around_powers, one_thread, setting, torch

REMEDY = (
    "Do not serve or train with this stack: use another torch, or switch the fast way off "
    "(torch.backends.mha.set_fastpath_enabled, torch.nn.attention.sdpa_kernel)."
)
#: The base-2 logarithm of the largest number of keys.
LARGEST_POWER = {"cuda": 18, "cpu": 12}


@check("fastpaths.keys", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM)
def keys(context: Context) -> Measured:
    """Check attention over long keys: each of many queries matches one key, at any position, and returns its value.

    Keys consist of signs, and a query is 2 times its key. Its score is 2 d^0.5 for that key and only a fraction of this
    for others, so that 2^18 other keys together have less than e^-10 of the weight. A zero query weights all keys
    equally.
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel

    cases, device = Cases("attention over long keys", REMEDY), context.device
    attend = torch.nn.functional.scaled_dot_product_attention
    kernels = {"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}
    if device == "cuda":
        del kernels["math"]
        kernels |= {"efficient": SDPBackend.EFFICIENT_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
    drawing = context.drawing("keys")
    sizes = around_powers(LARGEST_POWER[device], 8)
    lengths = sorted({*drawing.sample(sizes, 8 if device == "cuda" else 6), sizes[-1]})
    for number, length in enumerate(lengths):
        size = (64, 128)[number % 2]
        form = ("bfloat16", "float16")[number // 2 % 2]
        dtype, generator = getattr(torch, form), context.generator(f"keys {length}")
        key = torch.randint(0, 2, (length, size), generator=generator).double() * 2 - 1
        value = torch.randint(-8, 9, (length, size), generator=generator).double()
        powers = (power for power in around_powers(LARGEST_POWER[device], 5) if power < length)
        others = torch.randint(0, length, (40,), generator=generator).tolist()[:8]
        positions = sorted({0, 1, length // 2, length - 2, length - 1, *powers, *others})
        query = torch.cat([key[positions] * (4 if size == 64 else 3), torch.zeros(1, size, dtype=torch.float64)])
        marks = torch.zeros(length, size, dtype=torch.float64)
        # Each column marks one block of the keys.
        marks[torch.arange(length), torch.arange(length) * size // length] = 1.0
        with one_thread():
            expected = ((query[:-1] @ key.t()) / math.sqrt(size)).softmax(1) @ value
        uniform, average, unit = marks.mean(0), value.mean(0), UNIT_ROUNDOFF[form]
        on_device = [x.to(dtype).to(device)[None, None] for x in (query, key, value, marks)]
        for name, kernel in kernels.items():
            if name == "math" and length > 4097:
                continue
            case = f"{name}, {length:,} keys of {size}, {form}"
            with cases.offered(case), sdpa_kernel(kernel), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attended = attend(*on_device[:3])[0, 0]
                shares = attend(on_device[0][:, :, -1:], on_device[1], on_device[3])[0, 0, 0]
            if case in cases.refused:
                continue
            cases.compare(f"{case}, one key each", attended[:-1], expected, 8 * 8 * unit * torch.ones_like(expected))
            cases.compare(f"{case}, all alike", shares, uniform, (8 * unit) * uniform + 2.0**-24)
            bound = 8 * unit * (average.abs() + 8 / math.sqrt(length)) + 2.0**-20
            cases.compare(f"{case}, their mean", attended[-1], average, bound)
            if device == "cpu":
                with sdpa_kernel(kernel):
                    _compare_hidden(cases, case, on_device, (query, key, value))
    return cases.result()


def _compare_hidden(
    cases: Cases, case: str, on_device: t.Sequence[torch.Tensor], exact: t.Sequence[torch.Tensor]
) -> None:
    """Compare attention where a mask hides the first five eighths of the keys, and one query is NaN."""
    query, (key, value) = exact[0], (each[len(each) * 5 // 8 :] for each in exact[1:])
    with one_thread():
        expected = ((query @ key.t()) / math.sqrt(key.shape[1])).softmax(1) @ value
    queries, rest = on_device[0].clone(), torch.arange(len(query)) != 1
    queries[:, :, 1, 5] = math.nan
    mask = torch.zeros(len(query), len(exact[1]), dtype=queries.dtype)
    mask[:, : -len(key)] = -math.inf
    bound = 8 * 8 * (torch.finfo(queries.dtype).eps / 2) * torch.ones_like(expected[rest])
    for name, hiding in (("numbers", mask), ("booleans", mask == 0)):
        attended = torch.nn.functional.scaled_dot_product_attention(queries, *on_device[1:3], hiding)[0, 0]
        cases.same(f"{case}, a NaN, {name}", attended, expected, attended.isnan() == rest[:, None])
        cases.compare(f"{case}, the first hidden by {name}", attended[rest], expected[rest], bound)


def _compare_pictures(cases: Cases, context: Context) -> None:
    """Compare resized pictures of bytes, in each layout; a CPU rounds after each of two dimensions, and the weights."""
    chance = context.drawing("pictures")
    for channels, smooth, way in itertools.product((1, 3, 4), (False, True), range(4)):
        size, new = ([chance.randint(5, 80) for _dimension in range(2)] for _size in range(2))
        generator = context.generator(f"pictures {channels} {smooth} {way}")
        memory = torch.randint(0, 256, (2, channels, size[0] + 3, 2 * size[1] + 5), generator=generator).byte()
        memory = memory.contiguous(memory_format=torch.channels_last) if way % 2 else memory
        x = memory[:, :, 2 : size[0] + 2, 1 : 2 * size[1] + 1 : 2] if way > 1 else memory[:, :, 1:-2, 3 : size[1] + 3]
        x, options = x if way else x.contiguous(), {"mode": "bilinear", "antialias": smooth}
        expected = torch.nn.functional.interpolate(x.double(), new, **options)
        with cases.offered("a picture of bytes"):
            actual = torch.nn.functional.interpolate(x, new, **options)
            cases.compare(f"a picture of bytes, way {way}, {options}", actual, expected, torch.full_like(expected, 1.5))


@check("fastpaths.modules", devices=("cuda", "cpu"), measured=SEEN_ARM)
def modules(context: Context) -> Measured:
    """Compare encoders and attention that use torch's shortcut, in evaluation mode with masks, with float64 modules."""
    cases = Cases("a module's fast way", REMEDY)
    device = context.device
    if device == "cpu":
        _compare_pictures(cases, context)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for heads, size, norm_first, activation in (
            (2, 16, False, "relu"),
            (4, 64, True, "gelu"),
            (8, 128, False, "gelu"),
        ):
            torch.manual_seed(heads)
            options: t.Any = {"batch_first": True, "norm_first": norm_first}
            layer = torch.nn.TransformerEncoderLayer(size, heads, 2 * size, 0.1, activation, **options)
            encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=not norm_first).eval()
            attention = torch.nn.MultiheadAttention(size, heads, batch_first=True).eval()
            for batch, length in ((1, 1), (2, 7), (3, 33), (5, 65)):
                generator = context.generator(f"fastpaths {size} {batch} {length}")
                x = torch.randn(batch, length, size, generator=generator)
                lengths = torch.randint(1, length + 1, (batch,), generator=generator)
                lengths[0] = length
                padded = torch.arange(length)[None] >= lengths[:, None]
                shape = f"{heads} heads of {size // heads}, {batch} x {length}"
                with setting(torch.backends.mha, "_is_fastpath_enabled", False), one_thread():
                    exact = copy.deepcopy(encoder).double()
                    wide = copy.deepcopy(attention).double()
                    plain = exact(x.double())
                    masked = exact(x.double(), src_key_padding_mask=padded)
                    mixed, shares = wide(x.double(), x.double(), x.double(), key_padding_mask=padded)
                for form, units in (("float32", 600.0), ("bfloat16", 24.0)):
                    dtype, error = getattr(torch, form), units * UNIT_ROUNDOFF[form]
                    if device == "cuda" and form == "float32":
                        # These are off by about 2^-11 (H100, torch 2.11), probably due to TF32, despite the settings.
                        error = 16 * UNIT_ROUNDOFF["tf32"]
                    bound = torch.full_like(plain, error * float(plain.abs().amax()))
                    module, mask = copy.deepcopy(encoder).to(device, dtype), padded.to(device)
                    inputs = x.to(device, dtype)
                    cases.compare(f"an encoder, {shape}, {form}", module(inputs), plain, bound)
                    output = module(inputs, src_key_padding_mask=mask).cpu()
                    output = torch.cat([output, output.new_zeros(batch, length - output.shape[1], size)], 1)
                    of_tokens = (each[~padded] for each in (output, masked, bound))
                    cases.compare(f"an encoder with padding, {shape}, {form}", *of_tokens)
                    copied = copy.deepcopy(attention).to(device, dtype)
                    for weights in (True, False):
                        result, of_keys = copied(inputs, inputs, inputs, key_padding_mask=mask, need_weights=weights)
                        cases.compare(f"attention, weights={weights}, {shape}, {form}", result, mixed, bound)
                        if weights:
                            cases.compare(f"attention's weights, {shape}, {form}", of_keys, shares, bound[..., :1])
    return cases.result()
