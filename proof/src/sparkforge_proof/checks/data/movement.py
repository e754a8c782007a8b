# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What moves data without computing: copies of every kind and size, and operators that rearrange many pieces.

Nothing here rounds, so that every case must be equal to the last bit. Sizes and counts lie around each power of two,
where blocks, grids and vectors of a kernel end.
"""

from __future__ import annotations

import copy as copying
import io
import typing as t

from ...check import SEEN, Context, Measured, Skipped, check
from ..bounds import Cases, around_powers, as_bytes, on_the_host

if t.TYPE_CHECKING:
    import torch

REMEDY = (
    "Do not compute with this stack: use another torch or driver; if only some runs fail, test the memory and the bus."
)
#: Bytes of the largest copy among those around powers of two, as an exponent.
MOST_BYTES = {"cuda": 25, "cpu": 17}
#: Elements and pieces of what is rearranged, as exponents.
MOST_ELEMENTS, MOST_PIECES = {"cuda": 18, "cpu": 13}, {"cuda": 11, "cpu": 9}
#: The elements on both sides of a target, which must stay unchanged.
MARGIN = 64
FORMATS = "bool uint8 int16 int32 int64 float8_e4m3fn float16 bfloat16 float32 float64 complex64 complex128"


def _random_bytes(context: Context, words: str, count: int) -> torch.Tensor:
    import torch

    return torch.randint(0, 256, (count,), generator=context.generator(words), dtype=torch.uint8)


@check("movement.copies", devices=("cuda", "cpu"), seconds=120, measured=SEEN, factor=1)
def copies(context: Context) -> Measured:
    """Copies between host and device and within it, pinned or not, waited for or not, of sizes around powers of two."""
    cases = Cases("the copy", REMEDY)
    _sizes(context, cases)
    _layouts(context, cases)
    _entries(context, cases)
    return cases.result()


def _sizes(context: Context, cases: Cases) -> None:
    """Copy bytes into the middle of a larger block, from addresses that are aligned and that are not."""
    import torch

    most, device = MOST_BYTES[context.device], context.device
    sizes = around_powers(most)
    source = _random_bytes(context, "movement sizes", sizes[-1] + 64)
    on_device = torch.empty(sizes[-1] + 2 * MARGIN, dtype=torch.uint8, device=device)
    gpu = device == "cuda"
    pinned, landing = (torch.empty_like(source, pin_memory=gpu) for _unused in range(2))
    for number, size in enumerate(sizes):
        offset = (0, 1, 2, 4, 8, 16, 3)[number % 7]
        part, room = source[offset : offset + size], on_device[: size + 2 * MARGIN]
        wanted = torch.cat([torch.full((MARGIN,), 165, dtype=torch.uint8), part, torch.full((MARGIN,), 165).byte()])
        room.fill_(165)
        room[MARGIN : MARGIN + size].copy_(part)
        cases.exactly(f"{size:,} bytes to the device", room, wanted)
        room.fill_(165)
        # Pinned and without waiting: to the device, there to another place, and back.
        pinned[:size].copy_(part)
        other = torch.full_like(room, 165)
        room[MARGIN : MARGIN + size].copy_(pinned[:size], non_blocking=True)
        other[MARGIN : MARGIN + size].copy_(room[MARGIN : MARGIN + size], non_blocking=True)
        landing[: size + 0].copy_(other[MARGIN : MARGIN + size], non_blocking=True)
        if gpu:
            torch.cuda.current_stream().synchronize()
        cases.exactly(f"{size:,} bytes, pinned, there and back", landing[:size], part)
        cases.exactly(f"{size:,} bytes on the device", other, wanted)
        landing[:size] = room[MARGIN : MARGIN + size].cpu()
        cases.exactly(f"{size:,} bytes from the device", landing[:size], part)


def _layouts(context: Context, cases: Cases) -> None:
    """Copy between layouts, in each format: on the device, from the host and to it."""
    import torch

    device, formats = context.device, [getattr(torch, name) for name in FORMATS.split() if hasattr(torch, name)]
    shapes = ((33, 65), (128, 31), (1, 257), (1025, 2), (3, 5, 7, 9), (2, 64, 3, 33))
    for number, dtype in enumerate(formats):
        name, width = str(dtype).rpartition(".")[2], torch.empty(0, dtype=dtype).element_size()
        for shape in (*shapes, (1024 + number % 3 - 1, 515)):
            count = torch.Size(shape).numel()
            raw = _random_bytes(context, f"movement {name} {shape}", count * width)
            plain = (raw.remainder(2).bool() if dtype is torch.bool else raw.view(dtype)).reshape(shape)
            there = plain.to(device, copy=True)
            for words, view in _views(plain.dim()):
                case = f"{name}, {'x'.join(map(str, shape))}, {words}"
                wanted = as_bytes(view(plain))
                cases.exactly(f"{case}, made contiguous", as_bytes(view(there).contiguous()), wanted)
                cases.exactly(f"{case}, to the host", as_bytes(view(there).to("cpu", copy=True)), wanted)
                cases.exactly(f"{case}, to the device", as_bytes(view(plain).to(device, copy=True)), wanted)
                target = torch.zeros_like(view(plain), device=device).transpose(0, -1).contiguous().transpose(0, -1)
                target.copy_(view(there))
                cases.exactly(f"{case}, into a transposed one", as_bytes(target), wanted)
                target.zero_().copy_(view(plain), non_blocking=True)
                cases.exactly(f"{case}, from the host into a transposed one", as_bytes(target), wanted)


def _views(dimensions: int) -> list[tuple[str, t.Callable[[torch.Tensor], torch.Tensor]]]:
    found: list[tuple[str, t.Callable[[torch.Tensor], torch.Tensor]]] = [
        ("whole", lambda x: x),
        ("transposed", lambda x: x.transpose(0, -1)),
        ("every second", lambda x: x[..., ::2]),
        ("without the edge", lambda x: x[..., 1:]),
        ("expanded", lambda x: x[:1].expand(5, *x.shape[1:])),
    ]
    if dimensions == 4:
        found.append(("channels last", lambda x: x.permute(0, 2, 3, 1)))
    return found


def _entries(context: Context, cases: Cases) -> None:
    """The other ways by which data gets to a device and back."""
    import torch

    device, generator = context.device, context.generator("movement entries")
    plain = torch.randint(-(2**23), 2**23, (1021, 3), generator=generator).float()
    there = plain.to(device)
    cases.exactly("a list to the device", torch.tensor(plain.tolist(), device=device), plain)
    cases.exactly("to a list", torch.tensor(there.tolist(), dtype=torch.float64), plain)
    few = there.reshape(-1)[:40]
    cases.exactly("elements one by one", torch.tensor([one.item() for one in few]), plain.reshape(-1)[:40])
    cases.exactly("deep copy", copying.deepcopy(there), plain)
    cases.exactly("as_tensor", torch.as_tensor(plain, device=device), plain)
    module = torch.nn.Linear(1021, 3, bias=False)
    module.weight.data.copy_(plain.t())
    cases.exactly("a module moved", module.to(device).weight, plain.t())
    cases.exactly("a module moved back", module.to("cpu").weight, plain.t())
    file = io.BytesIO()
    torch.save(there, file)
    file.seek(0)
    cases.exactly("saved and loaded", torch.load(file, map_location=device, weights_only=True), plain)
    storage = torch.zeros_like(there)
    storage.untyped_storage().copy_(there.untyped_storage())
    cases.exactly("a storage's copy", storage, plain)
    pushed = torch.empty_like(there)
    pushed.data = there.clone()
    cases.exactly("set as data", pushed, plain)
    cases.exactly("two formats at once", there.to("cpu", torch.float64), plain)
    cases.exactly("two formats at once, to the device", plain.to(device, torch.float64), plain)


# -- what rearranges

Function = t.Callable[..., t.Any]


@check("movement.counts", devices=("cuda", "cpu"), seconds=120, measured=SEEN, factor=1)
def counts(context: Context) -> Measured:
    """Operators that rearrange, over lengths and numbers of pieces around each power of two, forward and backward."""
    import torch

    cases = Cases("what rearranges data", REMEDY)
    formats = [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.float16, torch.complex64, torch.int16]
    day = context.seed
    for number, length in enumerate(_lengths(MOST_ELEMENTS[context.device])):
        dtype = formats[number % len(formats)]
        line = _whole(context, f"movement counts {length}", (length,), dtype)
        # Of the longer ones half of the operators a day.
        every = list(_rearranged(length, context).items())
        some = dict(every if length < 130 else every[(number + day) % 2 :: 2])
        _compare(cases, f", {length:,} of {_name(dtype)}", some, [line], dtype, context.device)
        if length <= 1025:
            grid = _whole(context, f"movement grid {length}", (3, length, 5), dtype)
            _compare(cases, f", {length:,} of {_name(dtype)}", _of_grids(length), [grid], dtype, context.device)
    for number, count in enumerate(around_powers(MOST_PIECES[context.device])):
        if not count:
            continue
        dtype = formats[number % len(formats)]
        pieces = [
            _whole(context, f"movement pieces {count} {one}", (2 + one % 3, 3), dtype) for one in range(min(count, 9))
        ]
        many = [pieces[one % 9] if one else pieces[0] for one in range(count)]
        _compare(cases, f" of {count:,} of {_name(dtype)}", _of_many(count), many, dtype, context.device)
    return cases.result()


def _lengths(most: int) -> list[int]:
    """Return each power of two and what is one beside, of the larger ones every third."""
    found = around_powers(most, 1)
    return [one for number, one in enumerate(found) if one < 1_030 or number % 3 == 0]


def _name(dtype: torch.dtype) -> str:
    return str(dtype).rpartition(".")[2]


def _whole(context: Context, words: str, shape: t.Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Return whole numbers that every format holds, in the one in which the reference is computed."""
    import torch

    low = 0 if dtype is torch.uint8 else -120
    values = torch.randint(low, 121, tuple(shape), generator=context.generator(words)).double()
    return torch.complex(values, values.flip(0)) if dtype.is_complex else values


def _compare(
    cases: Cases,
    case: str,
    functions: t.Mapping[str, Function],
    inputs: list[torch.Tensor],
    dtype: torch.dtype,
    device: str,
) -> None:
    """Compare operators' results and, where the format has gradients, how they send 1, 2, 3 … back.

    :param case: names it after the operator's name: ``1,025 of float32``.
    """
    import torch

    backward = dtype.is_floating_point or dtype.is_complex
    there = [one.to(dtype).to(device, copy=True).requires_grad_(backward) for one in inputs]
    exact = [one.clone().requires_grad_(backward) for one in inputs]
    found: dict[str, list[torch.Tensor]] = {}
    pairs: list[tuple[str, torch.Tensor, torch.Tensor]] = []
    for name, function in functions.items():
        found[name], wanted = _listed(function(there)), _listed(function(exact))
        same = len(found[name]) == len(wanted)
        cases.say(f"{name}{case}", same, f"returns {len(found[name])} results instead of {len(wanted)}")
        pairs += [(f"{name}{case}", one, other.detach()) for one, other in zip(found[name], wanted)]
        if not same or not backward or not wanted[0].requires_grad:
            continue
        weights = [torch.arange(other.numel()).remainder(13).reshape(other.shape).double() for other in wanted]
        given = [w.to(device, one.dtype) for w, one in zip(weights, found[name])]
        back = torch.autograd.grad(found[name], there, given, allow_unused=True)
        right = torch.autograd.grad(wanted, exact, [w.to(other.dtype) for w, other in zip(weights, wanted)],
                                    allow_unused=True)  # fmt: skip
        for one, other in zip(back, right):
            # Whole numbers above what 8 bits of a significand hold are rounded.
            if other is not None and float(other.abs().max() if other.numel() else 0) <= 256:
                if one is None:
                    cases.say(f"{name}{case}, backward", False, "sends nothing back")
                else:
                    pairs.append((f"{name}{case}, backward", one, other))
    for (words, _there, other), one in zip(pairs, on_the_host([one for _words, one, _other in pairs])):
        cases.exactly(words, one.to(other.dtype), other)


def _listed(value: t.Any) -> list[torch.Tensor]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _rearranged(length: int, context: Context) -> dict[str, Function]:
    """Return operators over one line of values."""
    import torch

    generator = context.generator(f"movement places {length}")
    order = torch.randperm(length, generator=generator)
    some = torch.randint(0, length, (length // 2 + 1,), generator=generator)
    mask = torch.rand(length, generator=generator) < 0.5
    cut = int(torch.randint(0, length + 1, (1,), generator=generator))

    def scattered(x: t.Any) -> torch.Tensor:
        return torch.zeros_like(x[0]).scatter(0, order.to(x[0].device), x[0])

    def put(x: t.Any) -> torch.Tensor:
        return torch.zeros_like(x[0]).index_put((order.to(x[0].device),), x[0])

    def written(x: t.Any) -> torch.Tensor:
        target = torch.zeros(length + 2, dtype=x[0].dtype, device=x[0].device)
        target[1:-1] = x[0].detach()
        return target

    return {
        "index": lambda x: x[0][order.to(x[0].device)],
        "index_select": lambda x: x[0].index_select(0, some.to(x[0].device)),
        "gather": lambda x: x[0].gather(0, order.to(x[0].device)),
        "take": lambda x: x[0].take(some.to(x[0].device)),
        "scatter": scattered,
        "index_put": put,
        "masked_select": lambda x: x[0].detach().masked_select(mask.to(x[0].device)),
        "masked_fill": lambda x: x[0].masked_fill(mask.to(x[0].device), 7),
        "where": lambda x: torch.where(mask.to(x[0].device), x[0], x[0] * 0),
        "nonzero": lambda x: (x[0].detach() != 0).nonzero(),
        "flip": lambda x: x[0].flip(0),
        "roll": lambda x: x[0].roll(cut),
        "cat of two": lambda x: torch.cat([x[0][:cut], x[0][cut:]]),
        "cat of itself": lambda x: torch.cat([x[0], x[0]]),
        "stack": lambda x: torch.stack([x[0], x[0]], 1),
        "repeat": lambda x: x[0].repeat(2),
        "repeat_interleave": lambda x: x[0].repeat_interleave(3),
        "pad": lambda x: torch.nn.functional.pad(x[0], (1, 2)),
        "contiguous": lambda x: x[0][::2].contiguous(),
        "clone": lambda x: x[0].clone(),
        "unfold": lambda x: x[0].unfold(0, 2, 1) if length > 1 else x[0],
        "diff of places": lambda x: x[0][1:] * 1,
        "a slice written": written,
    }


def _of_grids(length: int) -> dict[str, Function]:
    """Return operators along the middle of three dimensions."""
    import torch

    order = torch.arange(length - 1, -1, -1)
    return {
        "index_select in the middle": lambda x: x[0].index_select(1, order.to(x[0].device)),
        "flip in the middle": lambda x: x[0].flip(1),
        "roll in two": lambda x: x[0].roll((1, 2), (0, 1)),
        "cat in the middle": lambda x: torch.cat([x[0], x[0][:, :1]], 1),
        "cat at the end": lambda x: torch.cat([x[0], x[0][..., :2]], 2),
        "permuted": lambda x: x[0].permute(2, 0, 1).contiguous(),
        "tril": lambda x: x[0].tril(),
        "triu": lambda x: x[0].transpose(1, 2).triu(1),
        "diagonal": lambda x: x[0].diagonal(0, 1, 2) * 1,
        "diag_embed": lambda x: torch.diag_embed(x[0][:, :40, 0]),
        "split": lambda x: [one * 1 for one in x[0].split(7, 1)],
        "unbind": lambda x: [one * 1 for one in x[0].unbind(1)][-3:],
        "tile": lambda x: x[0].tile(2, 1, 1),
        "rot90": lambda x: x[0].rot90(1, (1, 2)),
        "pixel_shuffle": lambda x: (
            torch.nn.functional.pixel_shuffle(x[0][:, :4, :4].reshape(-1, 4, 1), 2) if length >= 4 else x[0]
        ),
        "movedim": lambda x: x[0].movedim(0, -1).reshape(-1),
    }


def _of_many(count: int) -> dict[str, Function]:
    """Return operators with many inputs or many results."""
    import torch

    return {
        "cat": lambda x: torch.cat(list(x), 0),
        "cat along columns": lambda x: torch.cat([one[:2] for one in x], 1),
        "stack": lambda x: torch.stack([one[:2] for one in x], 1),
        "unbind": lambda x: list(torch.cat([one[:1] for one in x], 0).unbind(0)),
        "split": lambda x: list(torch.cat([one[:2] for one in x], 0).split(2)),
        "chunk": lambda x: list(torch.cat([one[:2] for one in x], 0).chunk(count)),
        "tensor_split": lambda x: list(torch.cat([one[:2] for one in x], 0).tensor_split(min(count, 5))),
        "block_diag": lambda x: torch.block_diag(*x[:65]),
        "split_with_sizes_copy": lambda x: torch.split_with_sizes_copy(
            torch.cat([one.detach()[:2] for one in x], 0), [2] * count
        ),
    }


# -- beyond 2 GiB


@check("movement.large", devices=("cuda",), seconds=180, measured=SEEN, factor=1)
def large(context: Context) -> Measured:
    """Tensors beyond 2 GiB: what an operator makes of the whole is what it makes of each part.

    Each format has more than 2^31 bytes; those of 8 bits more than 2^31 elements as well.
    """
    import torch

    cases = Cases("memory beyond 2 GiB", REMEDY)
    for name, power in (("float32", 29), ("bfloat16", 30), ("int8", 31), ("float64", 28), ("complex64", 28)):
        count = 2**power + 1_027
        dtype = getattr(torch, name)
        free = torch.cuda.mem_get_info()[0] * float(context.limits.get("memory_share", 0.5))
        if free < 4 * 2.2 * 2**30:
            raise Skipped(f"Only {free / 2**30:.1f} GiB of device memory may be taken, which is less than 8.8 GiB.")
        whole = torch.empty(count, dtype=dtype, device="cuda")
        part = 2**26
        starts = range(0, count, part)
        for start in starts:
            values = torch.arange(start, min(start + part, count), device="cuda")
            whole[start : start + part] = (values * 40503 % 65521 % 251 - 125).to(dtype)
            del values
        others = whole.roll(1)
        places = torch.tensor([0, 5, 2**27, count // 2, count - 1_027, count - 1])
        wanted = (((places - 1) % count) * 40503 % 65521 % 251 - 125).double()
        cases.exactly(f"roll, {name}", others[places.to("cuda")].cpu().to(torch.complex128).real, wanted)
        for words, function in _by_parts(name):
            found = function(whole, others)
            good = all(
                torch.equal(found[at : at + part], function(whole[at : at + part], others[at : at + part]))
                for at in starts
            )
            cases.say(f"{words}, {name}", good, "is not what it is in parts")
            del found
        if name in ("float32", "int8"):
            _to_the_host(cases, whole, name)
        _of_whole(cases, whole, others, name, part)
        del whole, others
        torch.cuda.empty_cache()
    return cases.result()


def _by_parts(name: str) -> list[tuple[str, Function]]:
    """Return operators that make each element of those at its place."""
    import torch

    found: list[tuple[str, Function]] = [
        ("clone", lambda x, y: x.clone()),
        ("sum of two", lambda x, y: x + y),
        ("product", lambda x, y: x * y),
        ("where", lambda x, y: torch.where(x == y, x, y)),
        ("in place", lambda x, y: x.clone().add_(y)),
        ("filled", lambda x, y: torch.full_like(x, 3)),
        ("masked_fill", lambda x, y: x.masked_fill(y == 3, 9)),
        ("as it was", lambda x, y: x.neg().neg_()),
    ]
    if name != "complex64":
        found += [
            ("comparison", lambda x, y: x > y),
            ("maximum", lambda x, y: torch.maximum(x, y)),
            ("clamp", lambda x, y: x.clamp(-100, 100)),
            ("to another format", lambda x, y: x.to(torch.int16)),
        ]
    if name in ("float32", "bfloat16"):
        found += [
            ("exponential", lambda x, y: (x / 64).exp()),
            ("GELU", lambda x, y: torch.nn.functional.gelu(x)),
            ("addcmul", lambda x, y: torch.addcmul(x, y, y)),
            ("a quotient", lambda x, y: x / (y + 200)),
        ]
    return found


def _of_whole(cases: Cases, whole: torch.Tensor, others: torch.Tensor, name: str, part: int) -> None:
    """Operators over rows, and over all of it."""
    import torch

    count = whole.numel()
    width = 1024
    rows = whole[: count // width * width].view(-1, width)
    step = part // width
    if name != "complex64":
        total = sum(int(whole[at : at + part].to(torch.int16).sum(dtype=torch.int64)) for at in range(0, count, part))
        kept = torch.int64 if name == "int8" else torch.float64
        cases.exactly(f"sum of all, {name}", whole.sum(dtype=kept), torch.tensor(total))
        found = rows.sum(1, dtype=kept)
        good = all(
            torch.equal(found[at : at + step], rows[at : at + step].sum(1, dtype=kept))
            for at in range(0, rows.shape[0], step)
        )
        cases.say(f"sums of rows, {name}", good, "are not what they are in parts")
        marked = int((whole[-2_000:] == 77).nonzero()[0, 0]) if bool((whole[-2_000:] == 77).any()) else 0
        before = whole[count - 2_000 + marked].clone()
        whole[count - 2_000 + marked] = 126
        cases.exactly(f"index of the largest, {name}", whole.argmax(), torch.tensor(count - 2_000 + marked))
        whole[count - 2_000 + marked] = before
    order = torch.arange(rows.shape[0] - 1, -1, -1, device="cuda")
    turned = rows.index_select(0, order)
    good = all(
        torch.equal(turned[at : at + step], rows.flip(0)[at : at + step]) for at in (0, step, rows.shape[0] - step)
    )
    cases.say(f"rows by index, {name}", good, "are not those")
    del turned, order
    crossed = rows.t().contiguous()
    good = all(torch.equal(crossed[:, at : at + step], rows[at : at + step].t()) for at in range(0, len(rows), step))
    cases.say(f"transposed, {name}", good, "is not what was there")
    del crossed
    joined = torch.cat([whole[:1_000], others, whole[-1_000:]])
    good = torch.equal(joined[:1_000], whole[:1_000]) and torch.equal(joined[-1_000:], whole[-1_000:])
    good = good and all(torch.equal(joined[1_000 + at :][:part], others[at:][:part][: count - at]) for at in
                        range(0, count - part, part))  # fmt: skip
    good = good and torch.equal(joined[-1_000 - part : -1_000], others[-part:])
    cases.say(f"cat, {name}", good, "is not what was joined")


def _to_the_host(cases: Cases, whole: torch.Tensor, name: str) -> None:
    """Copy all of it to the host and back."""
    import torch

    on_host = whole.cpu()
    back = torch.empty_like(whole)
    back.copy_(on_host)
    cases.say(f"to the host and back, {name}", torch.equal(back, whole), "has changed")
    places = torch.tensor([0, 3, 2**27 + 1, whole.numel() - 5, whole.numel() - 1])
    cases.exactly(f"on the host, {name}", on_host[places], (places * 40503 % 65521 % 251 - 125))
