# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What moves data without computing: copies of every kind and size, and memory beyond 2 GiB.

Nothing here rounds, so that every case must be equal to the last bit. Sizes lie around each power of two,
where blocks, grids and vectors of a kernel end.
"""

from __future__ import annotations

import copy as copying
import io
import typing as t

from ...check import SEEN, Context, Measured, Skipped, check
from ..bounds import Cases, around_powers, as_bytes, torch

REMEDY = (
    "Do not compute with this stack: use another torch or driver; if only some runs fail, test the memory and the bus."
)
#: Bytes of the largest copy among those around powers of two, as an exponent.
MOST_BYTES = {"cuda": 25, "cpu": 17}
#: The elements on both sides of a target, which must stay unchanged.
MARGIN = 64
Function = t.Callable[..., t.Any]
FORMATS = "bool uint8 int16 int32 int64 float8_e4m3fn float16 bfloat16 float32 float64 complex64 complex128"


def _random_bytes(context: Context, words: str, count: int) -> torch.Tensor:
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


# -- beyond 2 GiB


@check("movement.large", devices=("cuda",), seconds=180, measured=SEEN, factor=1)
def large(context: Context) -> Measured:
    """Tensors beyond 2 GiB: what an operator makes of the whole is what it makes of each part.

    Each format has more than 2^31 bytes; those of 8 bits more than 2^31 elements as well.
    """
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
            cases.expect(f"{words}, {name}", good, "is not what it is in parts")
            del found
        if name in ("float32", "int8"):
            _to_the_host(cases, whole, name)
        _of_whole(cases, whole, others, name, part)
        del whole, others
        torch.cuda.empty_cache()
    return cases.result()


def _by_parts(name: str) -> list[tuple[str, Function]]:
    """Return operators that make each element of those at its place."""
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
        cases.expect(f"sums of rows, {name}", good, "are not what they are in parts")
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
    cases.expect(f"rows by index, {name}", good, "are not those")
    del turned, order
    crossed = rows.t().contiguous()
    good = all(torch.equal(crossed[:, at : at + step], rows[at : at + step].t()) for at in range(0, len(rows), step))
    cases.expect(f"transposed, {name}", good, "is not what was there")
    del crossed
    joined = torch.cat([whole[:1_000], others, whole[-1_000:]])
    good = torch.equal(joined[:1_000], whole[:1_000]) and torch.equal(joined[-1_000:], whole[-1_000:])
    good = good and all(torch.equal(joined[1_000 + at :][:part], others[at:][:part][: count - at]) for at in
                        range(0, count - part, part))  # fmt: skip
    good = good and torch.equal(joined[-1_000 - part : -1_000], others[-part:])
    cases.expect(f"cat, {name}", good, "is not what was joined")


def _to_the_host(cases: Cases, whole: torch.Tensor, name: str) -> None:
    """Copy all of it to the host and back."""
    on_host = whole.cpu()
    back = torch.empty_like(whole)
    back.copy_(on_host)
    cases.expect(f"to the host and back, {name}", torch.equal(back, whole), "has changed")
    places = torch.tensor([0, 3, 2**27 + 1, whole.numel() - 5, whole.numel() - 1])
    cases.exactly(f"on the host, {name}", on_host[places], (places * 40503 % 65521 % 251 - 125))
