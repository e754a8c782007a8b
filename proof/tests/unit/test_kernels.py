"""What the checks of kernels decide without torch."""

from itertools import product

import pytest
from sparkforge_proof.check import REGISTERED
from sparkforge_proof.checks.kernels import algebra, attention, convolution, matmul, sparse_algebra, sparsity
from sparkforge_proof.checks.kernels.attention import FORMATS, HEAD_SIZES, MASKS
from sparkforge_proof.checks.kernels.convolution import Layer

# -- the plan of attention


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


# -- shapes of convolutions


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


# -- products


def test_the_check_that_can_spoil_the_device_runs_last():
    family = [name for name, definition in REGISTERED.items() if definition.family == "matmul"]
    assert family[-1] == "matmul.float8_rowwise"


@pytest.mark.parametrize(
    ("row", "block", "offset"),
    [
        (0, 0, 0),
        (0, 1, 1),
        (0, 3, 3),
        (1, 0, 16),
        (31, 0, 31 * 16),
        (32, 0, 4),
        (64, 2, 10),
        (127, 3, 31 * 16 + 15),
        (0, 4, 512),
        (128, 0, 3 * 512),
        (129, 9, 3 * 512 + 2 * 512 + 16 + 1),
    ],
)
def test_scales_lie_in_tiles_of_128_rows_by_4_blocks(row: int, block: int, offset: int):
    assert matmul.scale_offset(row, block, 10) == offset


def test_each_scale_has_a_place_of_its_own():
    places = {matmul.scale_offset(row, block, 10) for row in range(256) for block in range(10)}
    assert len(places) == 2560
    assert max(places) < 256 * 12


def test_a_gb10_without_its_row_wise_kernel_is_told_of_the_trap():
    failed = matmul.rowwise_trouble("CUDA error: no kernel image is available for execution on the device", (12, 1))
    assert failed is not None
    assert "120a" in str(failed)
    assert "121a" in failed.remedy


def test_other_gpus_are_not_told_of_the_trap_of_the_gb10():
    failed = matmul.rowwise_trouble("Rowwise scaling is not currently supported on your device", (9, 0))
    assert failed is not None
    assert "120a" not in str(failed)
    assert "90a" in failed.remedy


@pytest.mark.parametrize("capability", [(8, 9), (11, 0)])
def test_what_torch_does_not_offer_is_no_failure(capability: tuple[int, int]):
    assert matmul.rowwise_trouble("Rowwise scaling is not currently supported on your device", capability) is None


def test_an_error_without_a_message_still_is_one():
    assert matmul.rowwise_trouble("", (10, 0)) is not None


# -- sparse and dense algebra


@pytest.mark.parametrize(
    ("number", "text"), [(801, "0.8.1"), (602, "0.6.2"), (1000, "1.0.0"), (None, "of unknown version")]
)
def test_the_version_of_cusparselt_is_readable(number: int | None, text: str):
    assert sparsity.version_text(number) == text


SHOWN = """PyTorch built with:
  - LAPACK is enabled (usually provided by MKL)
  - Build settings: BLAS_INFO=nvpl, BUILD_TYPE=Release, LAPACK_INFO=nvpl, TORCH_VERSION=2.9.1, USE_CUDA=ON,
"""
MAPS = """
ffff8000-ffff9000 r-xp 00000000 08:01 11  /usr/lib/aarch64-linux-gnu/libnvpl_blas_lp64_gomp.so.0
ffff9000-ffffa000 rw-p 00000000 08:01 11  /usr/lib/aarch64-linux-gnu/libnvpl_blas_lp64_gomp.so.0
ffffa000-ffffb000 r-xp 00000000 08:01 12  /usr/lib/aarch64-linux-gnu/libnvpl_lapack_lp64_gomp.so.0
ffffb000-ffffc000 r-xp 00000000 08:01 13  /usr/lib/aarch64-linux-gnu/libc.so.6
ffffc000-ffffd000 rw-p 00000000 00:00 0
"""


def test_the_linked_libraries_are_named_by_torch_and_by_what_is_mapped():
    assert algebra.libraries(SHOWN, MAPS) == (
        "BLAS nvpl, LAPACK nvpl (libnvpl_blas_lp64_gomp.so.0, libnvpl_lapack_lp64_gomp.so.0)"
    )


def test_libraries_that_are_linked_statically_are_named_by_torch_alone():
    assert algebra.libraries("Build settings: BLAS_INFO=mkl", "") == "BLAS mkl, LAPACK unnamed"


def test_the_sparse_system_is_dominated_by_its_diagonal_in_every_column_and_not_symmetric():
    side = 7
    system = sparse_algebra.convection(side)
    count = side * side
    assert len(system.rows) == count + 1
    assert system.rows[-1] == len(system.columns) == len(system.values)
    dense = [[0.0] * count for _ in range(count)]
    for row in range(count):
        places = system.columns[system.rows[row] : system.rows[row + 1]]
        assert places == sorted(set(places))
        for column, value in zip(places, system.values[system.rows[row] :]):
            dense[row][column] = value
    for column in range(count):
        beside = sum(abs(dense[row][column]) for row in range(count) if row != column)
        assert beside <= 0.8 * dense[column][column]
    assert any(dense[i][j] != dense[j][i] for i in range(count) for j in range(i))
