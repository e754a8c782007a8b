"""Check sizes at which kernels change: 32-bit indices, a grid of 65,535, vocabularies, sums that exceed their format.

Nearly all inputs are small integers whose sums, means, roots and quotients are exact in the tested format. A result is
therefore either right or wrong, regardless of the order of summation, and no bound can hide a missing row.
"""

from __future__ import annotations

import contextlib
import math
import typing as t

from ... import resources
from ...check import SEEN_ARM_GRID, SEEN_GRID, Context, Measured, Skipped, check
from ..bounds import UNIT_ROUNDOFF, Cases, functional as f, functions_of, gamma, gradients, one_thread, torch
from ..data import tensors

#: The number of entries in a row; models released in 2025 have vocabularies of up to 262,144.
VOCABULARY = 262_147
#: A number above 2^31 that is not a multiple of any block size.
ELEMENTS = 2**31 + 4_099
#: The elements of a large tensor by format, the elements of a part of it, and the prime number of its different ones.
LARGE_FORMATS = {"int8": ELEMENTS, "float32": 2**30 + 4_099, "bfloat16": ELEMENTS,
                 "float64": 2**29 + 4_099, "complex64": 2**29 + 4_099}  # fmt: skip
PART, PERIOD = 2**26, 1_048_583
#: The number of operators on large tensors in a default run, for each format.
IN_A_RUN = {"cuda": 14, "cpu": 1}
#: The blocks of a row with more elements than float32 can count, and the size of each.
BLOCKS, BLOCK = 9_977, 1_682
LONG = BLOCKS * BLOCK
#: The operators on a large tensor, and the shapes and formats that it names.
TABLE = resources.tables("checks/sizes/large.txt")["operators"]
KINDS = {
    "flat": (-1,), "wide": (5, -1), "middle": (-1, 1_031, 64), "tall": (-1, 2_051),
    "ordered": ("int8", "float32", "bfloat16", "float64"), "exact": ("int8", "float32", "float64", "complex64"),
}  # fmt: skip
#: Reductions that integers do not have, and the running sum, which bfloat16 rounds at each step.
UNFIT = {
    "int8": ("mean nanmean", "var", "std", "norm", "logsumexp", "softmax", "log_softmax"), "bfloat16": ("cumsum",),
}  # fmt: skip
FORMATS = ("float32", "float16", "bfloat16")
Function = t.Callable[[t.Any], t.Any]

REMEDY = (
    "Use another stack, or rebuild this one from clean sources; until then stay below the named size: the other "
    "families check smaller ones."
)


def integers(context: Context, stream: str, shape: t.Sequence[int], low: int = -2, high: int = 3) -> torch.Tensor:
    """Return random integers from ``low`` to below ``high`` as float64."""
    return torch.randint(low, high, tuple(shape), generator=context.generator(f"sizes {stream}")).double()


def require(context: Context, needed: int, subject: str) -> None:
    """Skip a test that needs more than the allowed share of memory.

    :raises Skipped: if there is not enough memory; the message gives the missing amount.
    """
    allowed = tensors.allowed_memory(context)
    if allowed < needed:
        raise Skipped(
            f"{subject} takes {needed / 2**30:.1f} GiB, which is {(needed - allowed) / 2**30:.1f} GiB more than"
            f" {context.limits['memory_share']:g} of the available memory."
        )


@check("sizes.elements", devices=("cuda", "cpu"), seconds=300, measured=SEEN_GRID)
def elements(context: Context) -> Measured:
    """Require of operators on more than 2^31 elements or 2^32 bytes that they return the same as on parts of them.

    Each day takes other operators, and a full proof takes all.
    """
    cases = Cases("a tensor of more than 2^31 elements", REMEDY)
    gpu, compared = context.device == "cuda", 0
    for form, count in LARGE_FORMATS.items() if gpu else [("int8", ELEMENTS)]:
        dtype = getattr(torch, form)
        size = count * torch.empty(0, dtype=dtype).element_size()
        require(context, int(1.5 * size), f"A tensor of {count:,} elements in {form}")
        values = _patterned(cases, count, dtype, context.device)
        listed = [entry for entry in _large_operators() if form in entry.forms and (gpu or not entry.is_slow)]
        count = len(listed) if context.full else IN_A_RUN[context.device]
        for number in range(count):
            entry = listed[(context.seed * count + number) % len(listed)]
            with cases.offered(f"{entry.name}, {form}"):
                require(context, int(entry.memory * size), entry.name)
                _compare_parts(cases, f"{entry.name}, {form}", entry, values)
                compared += 1
        del values
        if gpu:
            torch.cuda.empty_cache()
    if gpu:
        with cases.offered("a random mask"):
            _compare_masks(cases, context)
        with cases.offered("a matrix product"):
            require(context, 6 * 46_400**2, "A matrix product of that size")
            left, right = (integers(context, f"product {number}", (29, 16)) for number in range(2))
            exact, *factors = (part.to("cuda", torch.bfloat16) for part in (left @ right.t(), left, right))
            actual = factors[0].repeat(1_600, 1) @ factors[1].repeat(1_600, 1).t()
            is_right = torch.equal(actual, exact.repeat(1_600, 1_600))
            cases.expect("a product of 46,400 rows and columns", is_right, "differs from that of those which repeat")
    return cases.result(f"; {compared} operators")


def _patterned(cases: Cases, count: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    """Return numbers from -125 to 125 whose period is a prime number, with larger ones that were written by index."""
    block = torch.arange(PERIOD) * 40_503 % 65_521 % 251 - 125
    values = block.to(device, dtype).repeat(-(-count // PERIOD))[:count]
    # Test both ends, and the elements that an overflowing index of 31 or 32 bits would hit.
    index = torch.tensor([0, 5, 4_098, 2**29 + 3, 2**30, 2**31 - 1, 2**31, 2**31 + 5, count - 2, count - 1])
    index = index[index < count].unique()
    form = str(dtype).rpartition(".")[2]
    cases.exactly(f"read by index, {form}", values[index.to(device)], block[index % PERIOD].to(dtype))
    values[index.to(device)] = 126
    values[count - 1] = 127
    cases.exactly(f"one element, {form}", values[int(index[-2])], torch.tensor(126).to(dtype))
    positions = torch.cat([(part == 126).nonzero().flatten() + number * PART
                           for number, part in enumerate(values.split(PART))])  # fmt: skip
    cases.exactly(f"written by index, {form}", positions, index[:-1])
    if device == "cuda" and not dtype.is_complex:
        cases.exactly(f"index of the largest, {form}", values.argmax(), torch.tensor(count - 1))
    return values


class Large(t.NamedTuple):
    """An operator on a large tensor.

    :ivar shape: the shape of its input, in which -1 stands for the dimension that is as large as possible.
    :ivar dim: the dimension along which parts of the input give parts of the result.
    :ivar forms: the formats of which the results do not depend on an order.
    :ivar memory: the number of bytes that it needs for each byte of the input.
    :ivar is_slow: whether it takes minutes on a CPU.
    :ivar fold: the function that makes the complete result of those of the parts, if it does not simply join them.
    """

    name: str
    function: Function
    shape: tuple[int, ...] = (-1, 1_024)
    dim: int = 0
    forms: tuple[str, ...] = tuple(LARGE_FORMATS)
    memory: float = 3
    is_slow: bool = False
    fold: t.Callable[[list[torch.Tensor]], torch.Tensor] | None = None


def _large_operators() -> list[Large]:
    """Return the operators that are compared on a large tensor."""
    names = {"torch": torch, "f": f, "rows": lambda x: torch.arange(len(x), device=x.device), "PART": PART, **KINDS}
    entries = [line.split(" :: ") for line in TABLE.strip().splitlines()]
    return [
        # The table is the only source.
        Large(name, eval(f"lambda x: {text}", names), **eval(f"dict({''.join(options)})", names))  # noqa: S307
        for name, text, *options in entries
    ]


def _compare_parts(cases: Cases, case: str, entry: Large, values: torch.Tensor) -> None:
    """Compare the result for a large tensor with those for parts of it."""
    fixed = math.prod(size for size in entry.shape if size > 0)
    x = values[: values.numel() // fixed * fixed].view(entry.shape)
    actual, position, results = entry.function(x), 0, []
    for part in x.split(max(PART * x.shape[entry.dim] // x.numel(), 1), entry.dim):
        result = entry.function(part.contiguous())
        if entry.fold:
            results.append(result)
            continue
        along = min(entry.dim, result.dim() - 1)
        is_right = torch.equal(actual.narrow(along, position, result.shape[along]), result)
        position += result.shape[along]
        cases.expect(case, is_right, f"differs from its computation in parts, of which one ends at {position:,}")
    if entry.fold:
        cases.expect(case, torch.equal(actual, entry.fold(results)), "differs from its computation in parts")
    else:
        cases.expect(case, position == actual.shape[along], "has another shape than its parts")


def _compare_masks(cases: Cases, context: Context) -> None:
    """Require of a dropout mask beyond 2^31 elements that its parts have the same rate and are independent."""
    require(context, 6 * ELEMENTS, "A dropout mask of that size")
    torch.cuda.manual_seed(context.seed)
    draws: list[Function] = [
        lambda like: f.dropout(like, 0.5) > 0, lambda like: like.bernoulli_(0.5) > 0, lambda like: like.random_(2) > 0,
    ]  # fmt: skip
    for draw in draws if context.full else [draws[context.seed % len(draws)]]:
        mask = draw(torch.ones(ELEMENTS, dtype=torch.bfloat16, device="cuda"))
        parts = [*mask.split(PART)[:-1], mask[-PART:]]
        for name, hits in (("each part", parts), ("the first part", [part == parts[0] for part in parts[1:]])):
            off = max(abs(int(part.count_nonzero()) / PART - 0.5) for part in hits)
            is_right = off < 7 / math.sqrt(4 * PART)
            cases.expect(f"a random mask, {name}", is_right, f"agrees too often or seldom, by {off:.2g}")


@check("sizes.reductions", devices=("cuda", "cpu"), seconds=120, measured=SEEN_GRID)
def reductions(context: Context) -> Measured:
    """Reduce one dimension of more than 2^24 elements; the reference first reduces blocks of it in float64."""
    cases = Cases(f"a reduction of {LONG:,} elements", REMEDY)
    require(context, 40 * LONG, "A row of that size")
    values, factors = integers(context, "long", (LONG,)), torch.ones(LONG)
    values[[LONG // 3, LONG - 9, LONG - 5]] = torch.tensor([5.0, -7.0, 7.0]).double()
    factors[:: LONG // 6] = 2
    blocks = values.view(BLOCKS, BLOCK)
    sums, squares = blocks.sum(1), blocks.square().sum(1).sum()
    total, size, ends = sums.sum(), blocks.logsumexp(1).logsumexp(0), values[BLOCK - 1 :: BLOCK]
    variance = (squares - total**2 / LONG) / (LONG - 1)
    parts = {"blocks": blocks, "sums": sums, "total": total, "size": size, "ends": ends, "squares": squares}
    reductions_of = functions_of("reductions of one row", "", values=values, variance=variance, LONG=LONG, **parts)
    exact = {names: function() for names, function in reductions_of.items()}
    # Softmax adds float32 numbers one after another in each lane, of which a CPU has 16 (torch 2.13 with AVX-512).
    lanes = gamma(LONG / (1_024 if context.device == "cuda" else 16), UNIT_ROUNDOFF["float32"])
    for form in ("float32", "bfloat16", "int8"):
        dtype = getattr(torch, form)
        on_device, factors_on_device = (row.to(context.device, dtype) for row in (values, factors))
        for names, expected in exact.items():
            if names in UNFIT.get(form, ()):
                continue
            for name in names.split():
                actual = getattr(factors_on_device if name == "prod" else on_device, name)(dim=0)
                # Extrema along a dimension come with their indices.
                actual = actual[0] if isinstance(actual, tuple) else actual
                unit = torch.finfo(actual.dtype).eps if actual.is_floating_point() else 0.0
                actual = actual[BLOCK - 1 :: BLOCK] if actual.dim() else actual
                result = torch.as_tensor(expected, dtype=torch.float64)
                bound = 16 * unit + (lanes if name.endswith("softmax") else 0.0)
                cases.compare(f"{name}, {form}", actual, result, bound * result.abs())
    return cases.result()


@check("sizes.vocabulary", devices=("cuda", "cpu"), seconds=300, measured=SEEN_ARM_GRID)
def vocabulary(context: Context) -> Measured:
    """Check rows of 262,147 entries: softmax, the loss and its gradient, the largest entry, sums and tables."""
    cases = Cases(f"a row of {VOCABULARY:,}", REMEDY)
    for form in FORMATS:
        dtype = getattr(torch, form)
        # In each row a power of two of the logits, spread over the row, are zero; the others are minus infinity.
        counts = [2**power for power in (0, 3, 10, 16, 17)]
        logits = torch.full((len(counts), VOCABULARY), -math.inf)
        for row, count in enumerate(counts):
            logits[row, torch.linspace(0, VOCABULARY - 1, count).round().long()] = 0.0
        logits_on_device = logits.to(context.device, dtype).requires_grad_()
        share = (logits == 0).double() / torch.tensor(counts).double().view(-1, 1)
        cases.exactly(f"softmax, {form}", f.softmax(logits_on_device, -1), share)
        size = torch.tensor(counts).double().log()
        # The logarithm may be off by a few units in the last place.
        unit = torch.finfo(dtype).eps * 4
        # In logsumexp and, on a CPU, in log_softmax, torch sums float16 in float16, up to 65,504.
        rows = sum(count < 2**16 for count in counts) if form == "float16" else len(counts)
        largest = logits_on_device[:rows].logsumexp(-1)
        cases.compare(f"logsumexp, {form}", largest, size[:rows], unit * (size[:rows] + 1))
        rows = rows if context.device == "cpu" else len(counts)
        logits_on_device, size, share = logits_on_device[:rows].detach().requires_grad_(), size[:rows], share[:rows]
        target = torch.zeros(rows, dtype=torch.long, device=context.device)
        loss = f.cross_entropy(logits_on_device, target, reduction="none")
        cases.compare(f"cross entropy, {form}", loss, size, unit * (size + 1))
        (gradient,) = gradients(loss, (logits_on_device,), torch.ones_like(loss))
        expected = share.clone()
        expected[:, 0] -= 1
        # The exponential of a logarithm that is rounded to the format has an error proportional to the logarithm.
        bound = 16 * unit * share + unit * expected.abs() + 1e-30
        cases.compare(f"gradient of cross entropy, {form}", gradient, expected, bound)
        _compare_row(cases, context, form, dtype)
    return cases.result()


def _compare_row(cases: Cases, context: Context, form: str, dtype: torch.dtype) -> None:
    """Compare operators on a complete row, and on a table with as many rows."""
    row = integers(context, "row", (2, VOCABULARY), -1, 2)
    positions = torch.tensor([[VOCABULARY - 2, 65_536, 7], [131_072, VOCABULARY - 1, 65_535]])
    for rank, value in enumerate((5.0, 4.0, 3.0)):
        row.scatter_(1, positions[:, rank : rank + 1], value)
    table, states = integers(context, "table", (VOCABULARY, 16)), integers(context, "states", (7, 16))
    on_device, weight = row.to(context.device, dtype), table.to(context.device, dtype).requires_grad_()
    many, tokens = torch.arange(90_001) * 7_919 % VOCABULARY, positions.flatten()
    names = {"row": row, "x": on_device, "at": positions, "table": table, "w": weight, "tokens": tokens, "many": many,
             "i": many.to(context.device), "states": states, "size": VOCABULARY, "gradients": gradients}  # fmt: skip
    for name, function in functions_of("rows of a vocabulary", "", **names).items():
        cases.exactly(f"{name}, {form}", *map(torch.as_tensor, function()))
    _compare_running(cases, form, row, on_device)


def _compare_running(cases: Cases, form: str, rows: torch.Tensor, on_device: torch.Tensor) -> None:
    """Compare scans of several tiles: of rows, and of a single one, for which torch calls another library on a GPU."""
    signs = torch.where(rows[0] < 0, -1.0, 1.0)
    cases.exactly(f"running product, {form}", signs.to(on_device).cumprod(0), signs.cumprod(0))
    cases.exactly(f"running maximum, {form}", on_device[0].cummax(0)[0], rows[0].cummax(0)[0])
    if form == "float32":
        for each, exact in ((on_device, rows), (on_device[0], rows[0])):
            cases.exactly("running sum", each.cumsum(-1), exact.cumsum(-1))
        # The largest of these logarithms is that of 64, which was added up in 63 steps.
        zeros = torch.full((VOCABULARY,), -math.inf)
        zeros[torch.linspace(0, VOCABULARY - 2, 64).long()] = 0.0
        expected = (zeros == 0).cumsum(0).double().log()
        bound = 64 * 8 * UNIT_ROUNDOFF[form] * (expected + 1)
        cases.compare("running logsumexp", zeros.to(on_device).logcumsumexp(0), expected, bound)


@check("sizes.sums", devices=("cuda", "cpu"), measured=SEEN_ARM_GRID)
def sums(context: Context) -> Measured:
    """Check sums that temporarily exceed the format, so that they need a wider one, and a product of many factors."""
    cases = Cases("a sum beyond its format", REMEDY)
    # On the CPU, torch keeps each thread's partial sum in the format, so with two threads it overflows (2.13).
    with one_thread() if context.device == "cpu" else contextlib.nullcontext():
        for form in ("float16", "bfloat16"):
            _compare_sums(cases, context.device, form)
    # The products of the survey's inputs are mostly zero or infinite.
    factors = 1 + torch.rand(64, generator=context.generator("product")) / 64
    product = factors.double().prod()
    cases.compare("product", factors.to(context.device).prod(), product, 64 * 2.0**-24 * product)
    return cases.result()


def _compare_sums(cases: Cases, device: str, form: str) -> None:
    half, count, dtype = 2**16, 2**17, getattr(torch, form)

    def made(*values: float) -> torch.Tensor:
        return torch.tensor(values, device=device, dtype=dtype)

    turns = torch.cat([made(8.0).expand(half), made(-8.0).expand(half - 64)])
    ones, square = made(1.0).expand(count).contiguous(), made(*[256.0] * 16).view(16, 1)
    names = {"f": f, "made": made, "turns": turns, "ones": ones, "square": square}
    for name, function in functions_of("sums beyond a format", "", **names).items():
        cases.exactly(f"{name}, {form}", *map(torch.as_tensor, function()))
    if form == "bfloat16":
        cases.exactly(f"sum of ones, {form}", ones.sum(), torch.tensor(float(count)))
    variance = torch.tensor(2.0**14, dtype=torch.float64)
    actual = made(*[128.0, -128.0] * 500).var(correction=0)
    cases.compare(f"variance, {form}", actual, variance, 2 * torch.finfo(dtype).eps * variance)
