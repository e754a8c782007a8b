"""Check irregular shapes: empty and uneven groups, views at any offset, long texts."""

from __future__ import annotations

import contextlib

from ...check import SEEN_ARM_GRID, Context, Measured, check
from ..bounds import Cases, functional as f, one_thread, setting, torch
from ..data.tensors import allowed_memory
from ..kernels import attention_grid, attention_reference
from .large import FORMATS, REMEDY, integers

TOKENS = {"cuda": 131_072, "cpu": 4_096}
#: The numbers of heads and of tokens with masks of more than 2^31 elements, and the free memory that they take.
MASKS, FOR_MASKS = ((1, 46_344), (64, 5_888)), 24 * 2**30


@check("sizes.groups", devices=("cuda", "cpu"), measured=SEEN_ARM_GRID)
def groups(context: Context) -> Measured:
    """Check products of groups of any size, including empty ones: each alone, and by torch's own grouped product."""
    cases = Cases("uneven groups", REMEDY)
    sizes = [0, 3, 0, 17, 64, 0, 1, 128, 0]
    rows = integers(context, "groups", (sum(sizes), 32))
    weights = integers(context, "groups weights", (len(sizes), 32, 20))
    products = torch.cat([part @ weight for part, weight in zip(rows.split(sizes), weights)])
    signs = products[:, :16].sign()
    sums = torch.stack([part.t() @ sign for part, sign in zip(rows.split(sizes), signs.split(sizes))])
    function = getattr(f, "grouped_mm", getattr(torch, "_grouped_mm", None))
    for form in FORMATS:
        on_device, matrices = (values.to(context.device, getattr(torch, form)) for values in (rows, weights))
        actual = torch.cat([part @ weight for part, weight in zip(on_device.split(sizes), matrices)])
        cases.exactly(f"product of each, {form}", actual, products)
        if form != "bfloat16" or function is None:
            continue
        # Models keep weights as (outputs, inputs), and the kernel requires contiguous columns.
        column_major = matrices.mT.contiguous().mT
        ends = torch.tensor(sizes).cumsum(0).to(context.device, torch.int32)
        # The gradient of the weights of an expert is a sum over its tokens.
        for case, left, right, expected in (
            ("grouped product", on_device, column_major, products), ("sums", on_device.t(), signs.to(on_device), sums),
        ):  # fmt: skip
            with cases.offered(case):
                cases.exactly(f"{case}, bfloat16", function(left, right, offs=ends), expected)
    return cases.result()


@check("sizes.tokens", devices=("cuda", "cpu"), seconds=300, measured=SEEN_ARM_GRID)
def tokens(context: Context) -> Measured:
    """Check attention over 131,072 tokens (4,096 on a CPU), for some rows and everything that depends on them.

    In a full proof on a GPU there are also masks of more than 2^31 elements: one for many tokens, and one that is
    expanded for many heads.
    """
    length, cuda = TOKENS[context.device], context.device == "cuda"
    cases = Cases(f"attention over {length:,} tokens", REMEDY)
    rows = torch.tensor([0, 1, length // 2 - 1, length // 2, length - 65, length - 1])
    case = attention_grid.Case("bfloat16", "none", (1, 1, 1, length, length, 64))
    inputs = attention_grid.draw(context, case)
    for causal in (False, True):
        mask = torch.arange(length) <= rows.view(-1, 1) if causal else torch.ones(len(rows), length, dtype=torch.bool)
        in_kind = case._replace(mask="causal" if causal else "none")
        _compare_some_rows(cases, context, in_kind, inputs._replace(mask=mask), rows)
    if cuda:
        _compare_many_texts(cases, context)
    is_small = cuda and allowed_memory(context) < FOR_MASKS
    if context.full and cuda and not is_small:
        for heads, length in MASKS:
            _compare_large_mask(cases, context, heads, length)
    return cases.result("; no room for masks beyond 2^31 elements" if context.full and is_small else "")


def _compare_many_texts(cases: Cases, context: Context) -> None:
    """Compare attention over many short texts in each kernel."""
    size = (32, 64, 128)[context.seed % 3]
    case = attention_grid.Case("bfloat16", ("none", "causal")[context.seed % 2], (200, 2, 2, 65, 65, size))
    inputs = attention_grid.draw(context, case)
    with one_thread():
        bounds = attention_reference.reference(inputs, True, context.device == "cpu", heads=False)
    for kernel in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"):
        backend = getattr(torch.nn.attention.SDPBackend, kernel)
        with cases.offered(f"many texts by {kernel}"), torch.nn.attention.sdpa_kernel(backend):
            results = attention_grid.attend(case, attention_grid.arguments(case, inputs, context.device))
            for (result, bound), actual in zip(bounds.items(), results):
                cases.compare(f"{case}, {kernel}, {result}", actual, bound.expected, bound.allowed("bfloat16"))


def _compare_some_rows(
    cases: Cases,
    context: Context,
    case: attention_grid.Case,
    inputs: attention_reference.Inputs,
    rows: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> None:
    """Compare attention for some rows; ``inputs`` has their mask, and ``mask`` is that of all rows on the device.

    Only those rows have a gradient. The gradients of keys and values are then sums over a few rows, which the reference
    computes at once on the CPU; the gradients of other rows are zero.
    """
    cpu, form = context.device == "cpu", case.format
    gradient = torch.zeros_like(inputs.gradient)
    gradient[:, :, rows] = inputs.gradient[:, :, rows]
    arguments = attention_grid.arguments(case, inputs._replace(gradient=gradient), context.device)
    subset = inputs._replace(query=inputs.query[:, :, rows], gradient=inputs.gradient[:, :, rows])
    rounds = cpu and attention_reference.rounds_scores(form)
    # On the CPU, each of the rows may be in a different block, and sums of gradients are rounded after each block.
    with setting(attention_reference, "CPU_BLOCKS", (1, 512)), one_thread():
        bounds = attention_reference.reference(subset, True, cpu, rounds, heads=False)
    results = list(attention_grid.attend(case, arguments._replace(mask=mask)))
    is_other = torch.ones(case.shape[3], dtype=torch.bool)
    is_other[rows] = False
    of_others = results[1][:, :, is_other]
    cases.exactly(f"{case}, dQ of other rows", of_others, torch.zeros(of_others.shape))
    for index in (0, 1):
        results[index] = results[index][:, :, rows]
    for (result, bound), actual in zip(bounds.items(), results):
        cases.compare(f"{case}, {result}", actual, bound.expected, bound.allowed(form))


def _compare_large_mask(cases: Cases, context: Context, heads: int, length: int) -> None:
    """Compare attention with a mask that all heads share, by torch's choice and by the memory-efficient kernel."""
    form, key = torch.bfloat16, torch.arange(length)
    rows = torch.tensor([0, length // 2, length - 65, length - 1])
    case = attention_grid.Case("bfloat16", "none", (1, heads, heads, length, length, 64))
    inputs = attention_grid.draw(context, case)

    def mask_of(queries: torch.Tensor) -> torch.Tensor:
        """Return eighths, which are exact in every format."""
        return (7 * queries.view(-1, 1) + 13 * key.to(queries.device)) % 11 / 8

    on_device = torch.empty(length, length, dtype=form, device="cuda")
    for block in torch.arange(length, device="cuda").split(1024):
        on_device[block] = mask_of(block).to(form)
    backend = torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION
    for select in (contextlib.nullcontext(), torch.nn.attention.sdpa_kernel(backend)):
        with select:
            for is_boolean in (False, True):
                mask = mask_of(rows).double()
                of_rows, of_all = (mask > 0, on_device > 0) if is_boolean else (mask, on_device)
                of_all = of_all.expand(1, heads, -1, -1)
                _compare_some_rows(cases, context, case, inputs._replace(mask=of_rows), rows, of_all)
