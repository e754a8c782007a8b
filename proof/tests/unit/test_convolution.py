# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unit tests of the shapes of convolutions, which need no torch."""

from __future__ import annotations

import pytest
from sparkforge_proof.check import REGISTERED
from sparkforge_proof.checks.kernels import convolution
from sparkforge_proof.checks.kernels.convolution import Layer


@pytest.mark.parametrize("name", ["conv2d", "conv1d_3d", "transposed", "recurrent"])
def test_each_runs_on_the_gpu_and_on_the_cpu(name: str):
    assert REGISTERED[f"convolution.{name}"].device == "cuda"
    assert REGISTERED[f"cpu.convolution.{name}"].device == "cpu"


@pytest.mark.parametrize(
    ("layer", "size"),
    [
        (Layer("", 3, 4, (3, 3), (14, 14), padding=1), (14, 14)),
        (Layer("", 3, 4, (3, 3), (17, 13), stride=2, padding=1), (9, 7)),
        (Layer("", 4, 4, (5, 3), (15, 16), padding=2, dilation=2), (11, 16)),
        (Layer("", 4, 4, (4,), (61,), stride=3, padding=3, dilation=2), (21,)),
        (Layer("", 3, 4, (3, 3), (9, 8), stride=2, padding=1, transposed=True, output_padding=1), (18, 16)),
        (Layer("", 3, 4, (4, 2), (8, 9), padding=1, dilation=2, transposed=True), (12, 9)),
    ],
)
def test_sizes_of_results(layer: Layer, size: tuple[int, ...]):
    assert convolution.output_size(layer) == size


def test_weights_of_a_transposed_convolution_have_the_channels_first():
    layer = Layer("", 6, 8, (3, 2), (9, 9), groups=2)
    assert convolution.weight_shape(layer) == (8, 3, 3, 2)
    assert convolution.weight_shape(layer._replace(transposed=True)) == (6, 4, 3, 2)


def test_how_many_products_are_summed():
    layer = Layer("", 6, 8, (3, 3), (10, 10), batch=2, groups=2)
    assert convolution.terms(layer) == (27, 36, 128)


def test_integers_are_so_few_that_their_sums_stay_far_below_the_limit():
    layer = Layer("", 32, 40, (3, 3), (14, 14), padding=1)
    for largest in (2**8, 2**11):
        assert convolution.density(layer, largest) ** 2 * max(convolution.terms(layer)) <= largest / 2


def test_short_sums_keep_some_zeros():
    assert convolution.density(Layer("", 1, 1, (1,), (4,)), 2**11) == 0.8
