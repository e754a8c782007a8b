"""Check operators that move data without computing: copies of every kind and size, and memory beyond 2 GiB.

Nothing is rounded here, so every case must be bitwise equal. Sizes lie around each power of two, at the boundaries of
blocks, grids and vectors.
"""

from __future__ import annotations

import copy as copying
import io
import typing as t

from ...check import SEEN, SEEN_ARM, Context, Measured, Skipped, check
from ..bounds import Cases, around_powers, as_bytes, torch

REMEDY = (
    "Do not compute with this stack: use another torch or driver; if only some runs fail, test the memory and the bus."
)
#: The base-2 logarithm of the largest copy's size in bytes.
LARGEST_POWER = {"cuda": 25, "cpu": 17}
#: The number of elements on both sides of a target that must stay unchanged.
MARGIN = 64
Function = t.Callable[..., t.Any]
FORMATS = "bool uint8 int16 int32 int64 float8_e4m3fn float16 bfloat16 float32 float64 complex64 complex128"


def _random_bytes(context: Context, stream: str, count: int) -> torch.Tensor:
    return torch.randint(0, 256, (count,), generator=context.generator(stream), dtype=torch.uint8)


@check("movement.copies", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM, factor=1)
def copies(context: Context) -> Measured:
    """Check copies to, from and within the device, pinned or not, blocking or not, with sizes around powers of two."""
    cases = Cases("the copy", REMEDY)
    _compare_sizes(context, cases)
    _compare_layouts(context, cases)
    _compare_transfers(context, cases)
    return cases.result()


def _compare_sizes(context: Context, cases: Cases) -> None:
    """Copy bytes into the middle of a larger block, from aligned and unaligned addresses."""
    power, device = LARGEST_POWER[context.device], context.device
    sizes = around_powers(power)
    source = _random_bytes(context, "movement sizes", sizes[-1] + 64)
    on_device = torch.empty(sizes[-1] + 2 * MARGIN, dtype=torch.uint8, device=device)
    gpu = device == "cuda"
    pinned, returned = (torch.empty_like(source, pin_memory=gpu) for _unused in range(2))
    for number, size in enumerate(sizes):
        offset = (0, 1, 2, 4, 8, 16, 3)[number % 7]
        part, target = source[offset : offset + size], on_device[: size + 2 * MARGIN]
        expected = torch.cat([torch.full((MARGIN,), 165, dtype=torch.uint8), part, torch.full((MARGIN,), 165).byte()])
        target.fill_(165)
        target[MARGIN : MARGIN + size].copy_(part)
        cases.exactly(f"{size:,} bytes to the device", target, expected)
        target.fill_(165)
        # Copy from pinned memory without blocking: to the device, to another block there, and back.
        pinned[:size].copy_(part)
        copy = torch.full_like(target, 165)
        target[MARGIN : MARGIN + size].copy_(pinned[:size], non_blocking=True)
        copy[MARGIN : MARGIN + size].copy_(target[MARGIN : MARGIN + size], non_blocking=True)
        returned[: size + 0].copy_(copy[MARGIN : MARGIN + size], non_blocking=True)
        if gpu:
            torch.cuda.current_stream().synchronize()
        cases.exactly(f"{size:,} bytes, pinned, there and back", returned[:size], part)
        cases.exactly(f"{size:,} bytes on the device", copy, expected)
        returned[:size] = target[MARGIN : MARGIN + size].cpu()
        cases.exactly(f"{size:,} bytes from the device", returned[:size], part)


def _compare_layouts(context: Context, cases: Cases) -> None:
    """Copy between layouts, in each format: within the device, from the host and to the host."""
    device, formats = context.device, [getattr(torch, name) for name in FORMATS.split() if hasattr(torch, name)]
    shapes = ((33, 65), (128, 31), (1, 257), (1025, 2), (3, 5, 7, 9), (2, 64, 3, 33))
    for number, dtype in enumerate(formats):
        name, width = str(dtype).rpartition(".")[2], torch.empty(0, dtype=dtype).element_size()
        for shape in (*shapes, (1024 + number % 3 - 1, 515)):
            count = torch.Size(shape).numel()
            raw = _random_bytes(context, f"movement {name} {shape}", count * width)
            plain = (raw.remainder(2).bool() if dtype is torch.bool else raw.view(dtype)).reshape(shape)
            on_device = plain.to(device, copy=True)
            for layout, view in _views(plain.dim()):
                case = f"{name}, {'x'.join(map(str, shape))}, {layout}"
                expected = as_bytes(view(plain))
                cases.exactly(f"{case}, made contiguous", as_bytes(view(on_device).contiguous()), expected)
                cases.exactly(f"{case}, to the host", as_bytes(view(on_device).to("cpu", copy=True)), expected)
                cases.exactly(f"{case}, to the device", as_bytes(view(plain).to(device, copy=True)), expected)
                target = torch.zeros_like(view(plain), device=device).transpose(0, -1).contiguous().transpose(0, -1)
                target.copy_(view(on_device))
                cases.exactly(f"{case}, into a transposed one", as_bytes(target), expected)
                target.zero_().copy_(view(plain), non_blocking=True)
                cases.exactly(f"{case}, from the host into a transposed one", as_bytes(target), expected)


def _views(dimensions: int) -> list[tuple[str, t.Callable[[torch.Tensor], torch.Tensor]]]:
    views: list[tuple[str, t.Callable[[torch.Tensor], torch.Tensor]]] = [
        ("whole", lambda x: x),
        ("transposed", lambda x: x.transpose(0, -1)),
        ("every second", lambda x: x[..., ::2]),
        ("without the edge", lambda x: x[..., 1:]),
        ("expanded", lambda x: x[:1].expand(5, *x.shape[1:])),
    ]
    if dimensions == 4:
        views.append(("channels last", lambda x: x.permute(0, 2, 3, 1)))
    return views


def _compare_transfers(context: Context, cases: Cases) -> None:
    """Compare the other ways to move data to a device and back."""
    device, generator = context.device, context.generator("movement entries")
    plain = torch.randint(-(2**23), 2**23, (1021, 3), generator=generator).float()
    on_device = plain.to(device)
    cases.exactly("a list to the device", torch.tensor(plain.tolist(), device=device), plain)
    cases.exactly("to a list", torch.tensor(on_device.tolist(), dtype=torch.float64), plain)
    elements = on_device.reshape(-1)[:40]
    cases.exactly("elements one by one", torch.tensor([element.item() for element in elements]), plain.reshape(-1)[:40])
    cases.exactly("deep copy", copying.deepcopy(on_device), plain)
    cases.exactly("as_tensor", torch.as_tensor(plain, device=device), plain)
    module = torch.nn.Linear(1021, 3, bias=False)
    module.weight.data.copy_(plain.t())
    cases.exactly("a module moved", module.to(device).weight, plain.t())
    cases.exactly("a module moved back", module.to("cpu").weight, plain.t())
    file = io.BytesIO()
    torch.save(on_device, file)
    file.seek(0)
    cases.exactly("saved and loaded", torch.load(file, map_location=device, weights_only=True), plain)
    storage = torch.zeros_like(on_device)
    storage.untyped_storage().copy_(on_device.untyped_storage())
    cases.exactly("a storage's copy", storage, plain)
    replaced = torch.empty_like(on_device)
    replaced.data = on_device.clone()
    cases.exactly("set as data", replaced, plain)
    cases.exactly("two formats at once", on_device.to("cpu", torch.float64), plain)
    cases.exactly("two formats at once, to the device", plain.to(device, torch.float64), plain)


@check("movement.large", devices=("cuda",), seconds=180, measured=SEEN, factor=1)
def large(context: Context) -> Measured:
    """Require that operators on tensors beyond 2 GiB return the same as on each part of them.

    A tensor of each format has more than 2^31 bytes; those of 8-bit formats also have more than 2^31 elements.
    """
    cases = Cases("memory beyond 2 GiB", REMEDY)
    for name, power in (("float32", 29), ("bfloat16", 30), ("int8", 31), ("float64", 28), ("complex64", 28)):
        count = 2**power + 1_027
        dtype = getattr(torch, name)
        free = torch.cuda.mem_get_info()[0] * float(context.limits.get("memory_share", 0.5))
        if free < 4 * 2.2 * 2**30:
            raise Skipped(f"Only {free / 2**30:.1f} GiB of device memory may be taken, which is less than 8.8 GiB.")
        tensor = torch.empty(count, dtype=dtype, device="cuda")
        part = 2**26
        starts = range(0, count, part)
        for start in starts:
            values = torch.arange(start, min(start + part, count), device="cuda")
            tensor[start : start + part] = (values * 40503 % 65521 % 251 - 125).to(dtype)
            del values
        rolled = tensor.roll(1)
        indices = torch.tensor([0, 5, 2**27, count // 2, count - 1_027, count - 1])
        expected = (((indices - 1) % count) * 40503 % 65521 % 251 - 125).double()
        cases.exactly(f"roll, {name}", rolled[indices.to("cuda")].cpu().to(torch.complex128).real, expected)
        for operation, function in _elementwise_operators(name):
            actual = function(tensor, rolled)
            is_right = all(
                torch.equal(actual[at : at + part], function(tensor[at : at + part], rolled[at : at + part]))
                for at in starts
            )
            cases.expect(f"{operation}, {name}", is_right, "differs from its computation in parts")
            del actual
        if name in ("float32", "int8"):
            _compare_round_trip(cases, tensor, name)
        _compare_complete(cases, tensor, rolled, name, part)
        del tensor, rolled
        torch.cuda.empty_cache()
    return cases.result()


def _elementwise_operators(name: str) -> list[tuple[str, Function]]:
    """Return element-wise operators with their names."""
    operators: list[tuple[str, Function]] = [
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
        operators += [
            ("comparison", lambda x, y: x > y),
            ("maximum", lambda x, y: torch.maximum(x, y)),
            ("clamp", lambda x, y: x.clamp(-100, 100)),
            ("to another format", lambda x, y: x.to(torch.int16)),
        ]
    if name in ("float32", "bfloat16"):
        operators += [
            ("exponential", lambda x, y: (x / 64).exp()),
            ("GELU", lambda x, y: torch.nn.functional.gelu(x)),
            ("addcmul", lambda x, y: torch.addcmul(x, y, y)),
            ("a quotient", lambda x, y: x / (y + 200)),
        ]
    return operators


def _compare_complete(cases: Cases, tensor: torch.Tensor, rolled: torch.Tensor, name: str, part: int) -> None:
    """Compare operators over rows and over the complete tensor."""
    count = tensor.numel()
    width = 1024
    rows = tensor[: count // width * width].view(-1, width)
    step = part // width
    if name != "complex64":
        total = sum(int(tensor[at : at + part].to(torch.int16).sum(dtype=torch.int64)) for at in range(0, count, part))
        accumulator = torch.int64 if name == "int8" else torch.float64
        cases.exactly(f"sum of all, {name}", tensor.sum(dtype=accumulator), torch.tensor(total))
        sums = rows.sum(1, dtype=accumulator)
        is_right = all(
            torch.equal(sums[at : at + step], rows[at : at + step].sum(1, dtype=accumulator))
            for at in range(0, rows.shape[0], step)
        )
        cases.expect(f"sums of rows, {name}", is_right, "differ from their computation in parts")
        marked = int((tensor[-2_000:] == 77).nonzero()[0, 0]) if bool((tensor[-2_000:] == 77).any()) else 0
        before = tensor[count - 2_000 + marked].clone()
        tensor[count - 2_000 + marked] = 126
        cases.exactly(f"index of the largest, {name}", tensor.argmax(), torch.tensor(count - 2_000 + marked))
        tensor[count - 2_000 + marked] = before
    order = torch.arange(rows.shape[0] - 1, -1, -1, device="cuda")
    reversed_rows = rows.index_select(0, order)
    is_right = all(
        torch.equal(reversed_rows[at : at + step], rows.flip(0)[at : at + step])
        for at in (0, step, rows.shape[0] - step)
    )
    cases.expect(f"rows by index, {name}", is_right, "are other rows")
    del reversed_rows, order
    transposed = rows.t().contiguous()
    is_right = all(
        torch.equal(transposed[:, at : at + step], rows[at : at + step].t()) for at in range(0, len(rows), step)
    )
    cases.expect(f"transposed, {name}", is_right, "differs from its input")
    del transposed
    joined = torch.cat([tensor[:1_000], rolled, tensor[-1_000:]])
    is_right = torch.equal(joined[:1_000], tensor[:1_000]) and torch.equal(joined[-1_000:], tensor[-1_000:])
    is_right = is_right and all(torch.equal(joined[1_000 + at :][:part], rolled[at:][:part][: count - at]) for at in
                        range(0, count - part, part))  # fmt: skip
    is_right = is_right and torch.equal(joined[-1_000 - part : -1_000], rolled[-part:])
    cases.expect(f"cat, {name}", is_right, "differs from its parts")


def _compare_round_trip(cases: Cases, tensor: torch.Tensor, name: str) -> None:
    """Copy the complete tensor to the host and back."""
    on_host = tensor.cpu()
    returned = torch.empty_like(tensor)
    returned.copy_(on_host)
    cases.expect(f"to the host and back, {name}", torch.equal(returned, tensor), "has changed")
    indices = torch.tensor([0, 3, 2**27 + 1, tensor.numel() - 5, tensor.numel() - 1])
    cases.exactly(f"on the host, {name}", on_host[indices], (indices * 40503 % 65521 % 251 - 125))
