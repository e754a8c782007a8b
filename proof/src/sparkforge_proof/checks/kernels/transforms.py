# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fourier transforms by classes of length: small ones, powers, products of primes, primes, odd and long ones.

The reference is the definition, a sum of products of complex128, for what is short, and else the same transform of
complex128 on the CPU.
Errors grow with the logarithm of the length and add as squares do (W. M. Gentleman and G. Sande, 1966): ``STEPS`` u of
the root mean square for each doubling; a length with a large prime is made of three longer transforms.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, around_powers
from .algebra import REAL, REMEDY

if t.TYPE_CHECKING:
    import torch

STEPS = 16.0
#: The longest line that is transformed by the definition.
BY_DEFINITION = 1024
CLASSES: dict[str, tuple[int, ...]] = {
    "small": tuple(range(1, 34)),
    "around powers": tuple(around_powers(13, 6)),
    "odd": (45, 75, 105, 225, 315, 945, 1155, 3375, 10395),
    "powers of 3, 5, 7": (81, 243, 729, 2187, 6561, 125, 625, 3125, 343, 2401),
    "primes": (37, 61, 101, 127, 251, 509, 1009, 2003, 4001, 7919),
    "products with a prime": (74, 202, 22 * 13, 1018, 2018, 1021 * 3),
    "long": (16384, 32768, 65536, 65537, 100000, 131072, 131071, 262144, 3**11, 2**20, 2**20 + 2),
}  # fmt: skip


@check("algebra.fft", devices=("cuda", "cpu"), seconds=180, measured=SEEN)
def fft(context: Context) -> Measured:
    """Every transform of torch.fft, over all classes of length, in batches, along any dimension, cut and padded."""
    import torch

    cases = Cases("a Fourier transform", REMEDY)
    gpu = context.device == "cuda"
    for form in ("float32", "float64") if gpu else ("float32",):
        for words, lengths in CLASSES.items():
            for length in (
                lengths[:: (3 if form == "float64" else 1 if words == "long" else 2)]
                if gpu
                else lengths[:: 2 if words != "long" else 4]
            ):
                if form == "float64" and length > 2**17:
                    continue
                _length(cases, context, form, length)
        _several(cases, context, form)
    if gpu:
        for length in (2, 8, 64, 256, 2048):
            # Of half precision cuFFT computes powers of two.
            values = torch.randn(3, length, generator=context.generator(f"fft half {length}")).half()
            found, wanted = torch.fft.rfft(values.to("cuda")).to(torch.complex64), torch.fft.rfft(values.double())
            _compare(cases, f"rfft, {length} of float16", found, wanted, UNIT_ROUNDOFF["float16"] * 4, length)
    return cases.result()


def _compare(cases: Cases, case: str, found: torch.Tensor, wanted: torch.Tensor, unit: float, length: int) -> None:
    # By the root mean square of all lines, for one may be small.
    size = wanted.abs().square().mean().sqrt()
    primes = 3.0 if _largest_prime(length) > 7 else 1.0
    cases.compare(case, found.cpu(), wanted, STEPS * primes * unit * (math.log2(length) + 4) * size)


def _largest_prime(length: int) -> int:
    rest, prime, largest = length, 2, 1
    while prime * prime <= rest:
        while rest % prime == 0:
            rest, largest = rest // prime, prime
        prime += 1
    return max(rest, largest)


def _transform(signal: torch.Tensor, *dims: int) -> torch.Tensor:
    """Return the Fourier transform of complex128 along dimensions, by default the last."""
    import torch

    for dim in dims or (-1,):
        length = signal.shape[dim]
        if length > BY_DEFINITION:
            signal = torch.fft.fft(signal, dim=dim)
            continue
        place = torch.arange(length)
        angle = torch.outer(place, place).remainder(length).double() * (-2 * math.pi / length)
        signal = (signal.movedim(dim, -1) @ torch.complex(angle.cos(), angle.sin())).movedim(-1, dim)
    return signal


def _length(cases: Cases, context: Context, form: str, length: int) -> None:
    """One length: complex and real, both ways, alone and in a batch, along the first dimension, backward."""
    import torch

    dtype, unit = getattr(torch, form), UNIT_ROUNDOFF[REAL[form]] * (2 if form == "float64" else 1)
    wide = torch.complex64 if form == "float32" else torch.complex128
    generator = context.generator(f"fft {form} {length}")
    count = 1 if length > 20_000 else 3 + length % 7
    signal = torch.randn(count, length, generator=generator, dtype=wide).to(torch.complex128)
    there, real = signal.to(wide).to(context.device), signal.real.clone()
    real_there = real.to(dtype).to(context.device)

    def compare(name: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
        _compare(cases, f"{name}, {length} of {form}", found, wanted, unit, length)

    compare("fft", torch.fft.fft(there), _transform(signal))
    compare("ifft", torch.fft.ifft(there), _transform(signal.conj()).conj() / length)
    spectrum = _transform(real.to(torch.complex128))[:, : length // 2 + 1]
    compare("rfft", torch.fft.rfft(real_there), spectrum)
    half = spectrum.to(wide).to(torch.complex128)
    compare("irfft", torch.fft.irfft(half.to(wide).to(context.device), n=length), torch.fft.irfft(half, n=length))
    if length > 5_000:
        return
    compare("fft of a transposed", torch.fft.fft(there.t().contiguous(), dim=0).t(), torch.fft.fft(signal))
    compare("fft of a conjugate", torch.fft.fft(there.conj()), torch.fft.fft(signal.conj()))
    compare("rfft of a strided one", torch.fft.rfft(real_there.repeat_interleave(2, 1)[:, ::2]), torch.fft.rfft(real))
    for norm in ("ortho", "forward"):
        compare(f"fft, {norm}", torch.fft.fft(there, norm=norm), torch.fft.fft(signal, norm=norm))
        compare(f"ifft, {norm}", torch.fft.ifft(there, norm=norm), torch.fft.ifft(signal, norm=norm))
    compare("ihfft", torch.fft.ihfft(real_there), torch.fft.ihfft(real))
    compare("hfft", torch.fft.hfft(half.to(wide).to(context.device), n=length), torch.fft.hfft(half, n=length))
    if length > 2:
        compare(
            "fft, padded",
            torch.fft.fft(there[:, : length // 2], n=length),
            torch.fft.fft(signal[:, : length // 2], n=length),
        )
    leaf, right = real_there.clone().requires_grad_(), real.clone().requires_grad_()
    up = torch.randn(half.shape, generator=generator, dtype=torch.complex128)
    (back,) = torch.autograd.grad(torch.fft.rfft(leaf), leaf, up.to(wide).to(context.device))
    (true,) = torch.autograd.grad(torch.fft.rfft(right), right, up.to(wide).to(torch.complex128))
    compare("rfft, backward", back, true)


def _several(cases: Cases, context: Context, form: str) -> None:
    """Two and three dimensions, odd and even; short-time transforms and their inverse."""
    import torch

    wide, unit = (torch.complex64 if form == "float32" else torch.complex128), UNIT_ROUNDOFF[REAL[form]] * 2
    dtype = getattr(torch, form)
    for shape in ((5, 7), (16, 33), (64, 64), (31, 48), (127, 130), (3, 5, 7), (8, 16, 32), (9, 11, 13), (2, 255, 257)):
        signal = torch.randn(shape, generator=context.generator(f"fft {form} {shape}"), dtype=wide).to(torch.complex128)
        there, size = signal.to(wide).to(context.device), signal.numel()
        words = f"{'x'.join(map(str, shape))} of {form}"
        exact = _transform(signal, *range(signal.dim()))
        _compare(cases, f"fftn, {words}", torch.fft.fftn(there), exact, unit, size)
        _compare(cases, f"ifft2, {words}", torch.fft.ifft2(there), torch.fft.ifft2(signal), unit, size)
        real = signal.real.clone()
        half = torch.fft.rfftn(real)
        _compare(cases, f"rfftn, {words}", torch.fft.rfftn(real.to(dtype).to(context.device)), half, unit, size)
        found = torch.fft.irfftn(half.to(wide).to(context.device), s=shape)
        _compare(cases, f"irfftn, {words}", found, real, unit * 2, size)
        _compare(
            cases,
            f"fftn, first and last, {words}",
            torch.fft.fftn(there, dim=(0, -1)),
            torch.fft.fftn(signal, dim=(0, -1)),
            unit,
            size,
        )
        moved = torch.fft.fftshift(there)
        cases.exactly(f"fftshift, {words}", moved, torch.fft.fftshift(signal))
    line = torch.randn(3, 4_000, generator=context.generator(f"stft {form}"), dtype=torch.float64).to(dtype).double()
    for size, hop in ((64, 16), (400, 160), (255, 100)):
        window = torch.hann_window(size, dtype=torch.float64)
        options = {"n_fft": size, "hop_length": hop, "return_complex": True}
        wanted = torch.stft(line, window=window, **options)
        found = torch.stft(line.to(dtype).to(context.device), window=window.to(dtype).to(context.device), **options)
        _compare(cases, f"stft, {size}, {form}", found, wanted, unit * 2, size)
        del options["return_complex"]
        again = torch.istft(found, window=window.to(dtype).to(context.device), **options)
        _compare(cases, f"istft, {size}, {form}", again, torch.istft(wanted, window=window, **options), unit * 4, size)
