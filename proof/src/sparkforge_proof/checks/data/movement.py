"""Check operators that move data without computing: copies of every kind and size.

Nothing is rounded here, so every case must be bitwise equal. Sizes lie around each power of two, at the boundaries of
blocks, grids and vectors.
"""

from __future__ import annotations

import copy as copying
import os

from ...check import EMULATED_GRID, H200S, SEEN_ARM, X86_GRID, Context, Measured, check
from ..bounds import Cases, around_powers, as_bytes, functions_of, torch

REMEDY = (
    "Do not compute with this stack: use another torch or driver; if only some runs fail, test the memory and the bus."
)
#: The base-2 logarithm of the largest copy's size in bytes.
LARGEST_POWER = {"cuda": 25, "cpu": 17}
#: The number of elements on both sides of a target that must stay unchanged.
MARGIN = 64
#: Views of tensors, of which the last has four dimensions.
VIEWS = functions_of("views")
FORMATS = "bool uint8 int16 int32 int64 float8_e4m3fn float16 bfloat16 float32 float64 complex64 complex128"


def _random_bytes(context: Context, stream: str, count: int) -> torch.Tensor:
    return torch.randint(0, 256, (count,), generator=context.generator(stream), dtype=torch.uint8)


@check("movement.copies", devices=("cuda", "cpu"), seconds=120, measured=SEEN_ARM, factor=1)
def copies(context: Context) -> Measured:
    """Check copies to, from and within the device, pinned or not, blocking or not, with sizes around powers of two."""
    cases = Cases("the copy", REMEDY)
    _compare_sizes(context, cases)
    _compare_layouts(context, cases)
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
            for layout, view in VIEWS.items():
                if layout == "channels last" and plain.dim() != 4:
                    continue
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


@check("movement.views", devices=("cuda", "cpu"), factor=1, measured=(*H200S, X86_GRID, EMULATED_GRID))
def views(context: Context) -> Measured:
    """Require that views that are saved, mapped from a file, or copied together keep their numbers and their memory."""
    cases, path = Cases("the view", REMEDY), os.path.join(context.directory, f"views-{context.device}.pt")
    numbers = torch.randint(-(2**23), 2**23, (257, 6), generator=context.generator("movement views"))
    pairs = torch.view_as_complex(numbers.double().to(context.device).unflatten(1, (3, 2)))
    views = {name: view(pairs) for name, view in VIEWS.items() if name != "channels last"}
    views.update({"conjugate": pairs.conj(), "empty": pairs[5:5], "row": pairs[7]})
    torch.save(views, path)
    copies = {f"loaded, mapped {mapped}": torch.load(path, map_location=context.device, mmap=mapped, weights_only=True)
              for mapped in (False, True)}  # fmt: skip
    copies["copied"] = copying.deepcopy(views)
    for way, tensors in copies.items():
        for name, view in views.items():
            cases.exactly(f"{name}, {way}", as_bytes(tensors[name]), as_bytes(view))
        tensors["whole"].zero_()
        # A copy of a conjugate has memory of its own.
        for name in views.keys() - {"conjugate"}:
            cases.exactly(f"{name}, {way}, in the same memory", tensors[name].abs().sum(), torch.zeros(()).double())
    if context.device == "cuda":
        freed = [torch.full((2**18, 3), number).pin_memory()[:, 1].to("cuda", torch.float32, non_blocking=True)
                 for number in range(20)]  # fmt: skip
        extrema = torch.stack([torch.stack(column.aminmax()) for column in freed])
        cases.exactly("pinned columns that were freed at once", extrema, torch.arange(20.0).view(-1, 1).expand(-1, 2))
    return cases.result()
