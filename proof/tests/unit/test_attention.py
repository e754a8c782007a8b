# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of the attention checks, which needs no torch."""

from __future__ import annotations

from itertools import product

from sparkforge_proof.checks.kernels import attention
from sparkforge_proof.checks.kernels.attention import FORMATS, HEAD_SIZES, MASKS


def combinations(cases: list[attention.Case]) -> set[tuple[str, str, int]]:
    return {(case.format, case.mask, case.shape[-1]) for case in cases}


def test_every_format_meets_every_mask_and_every_head_size():
    assert combinations(attention.plan(FORMATS)) >= set(product(FORMATS, MASKS, HEAD_SIZES))


def test_a_thin_plan_has_every_pair_and_about_half_of_the_cases():
    thin, whole = attention.plan(FORMATS, thin=True), attention.plan(FORMATS)
    found = combinations(thin)
    assert len(thin) < 0.6 * len(whole)
    # A mask of truth values reaches the kernel as one of numbers.
    masks = [mask for mask in MASKS if mask != "bool"]
    assert {x[:2] for x in found} >= set(product(FORMATS, masks))
    assert {x[1:] for x in found} >= set(product(masks, HEAD_SIZES))
    assert {(x[0], x[2]) for x in found} >= set(product(FORMATS, HEAD_SIZES))


def test_each_format_has_a_long_an_uneven_and_a_grouped_case():
    for form in FORMATS:
        cases = [case for case in attention.plan(FORMATS) if case.format == form]
        assert any(case.shape[3] >= 640 for case in cases)
        assert any(case.shape[3] != case.shape[4] for case in cases)
        assert any(case.shape[1] != case.shape[2] for case in cases)


def test_lengths_that_a_tile_divides_and_others_meet_every_mask_and_head_size():
    found = {(case.mask, case.shape[3] % 64 == 0) for case in attention.plan(FORMATS)}
    assert found == set(product(MASKS, (True, False)))
    found = {(case.shape[-1], case.shape[3] % 64 == 0) for case in attention.plan(FORMATS)}
    assert found == set(product(HEAD_SIZES, (True, False)))


def test_a_causal_case_has_as_many_queries_as_keys_because_kernels_disagree_otherwise():
    assert all(case.shape[3] == case.shape[4] for case in attention.plan(FORMATS) if case.mask == "causal")


def test_the_small_plan_is_small():
    small = attention.plan(FORMATS, thin=True, small=True)
    assert len(small) <= 30
    assert max(case.shape[3] * case.shape[4] * case.shape[0] * case.shape[1] for case in small) <= 40_000


def test_a_case_is_named_in_words():
    case = attention.Case("bfloat16", "causal", (2, 4, 2, 64, 64, 96))
    assert str(case) == "bfloat16, causal, head size 96, 64 tokens, 4 heads share 2"
    case = attention.Case("float32", "none", (1, 2, 2, 77, 333, 128))
    assert str(case) == "float32, no mask, head size 128, 77 queries of 333 keys"
