"""The parts of the kernel checks that do not need torch: plans, shapes, causes."""

import random
import types

import pytest
from sparkforge_proof.catalogue import CHECKS
from sparkforge_proof.check import Context
from sparkforge_proof.checks.kernels import algebra, attention, attention_grid
from sparkforge_proof.checks.kernels.convolution_draws import Layer
from sparkforge_proof.checks.kernels.scaled_matmul import rowwise_failure, scale_offset


@pytest.mark.parametrize(("kernel", "count"), [*attention.ROWS.items()])
def test_attention_rows_of_a_run_have_most_pairs(kernel: str, count: int):
    unfit = set(attention_grid.UNFIT[kernel])
    rows = [*attention_grid.rows("seed", count, unfit)]
    assert rows == [*attention_grid.rows("seed", count, unfit)] != [*attention_grid.rows("other", count, unfit)]
    assert all(attention_grid.is_sound(row) and not unfit.intersection(row.values()) for row in rows)
    values = {(axis, value) for axis, values in attention_grid.AXES.items() for value in values}
    pairs, possible = (
        {pair for row in some for pair in attention_grid.pairs(row) if values.issuperset(pair)}
        for some in (rows, attention_grid.rows("seed", 400, unfit))
    )
    assert len(pairs) > min(0.85, count / 75) * len(possible)


@pytest.mark.parametrize("kernel", ["efficient", "cudnn", ""])
def test_attention_trains_with_masks_at_64_of_128_tokens(kernel: str):
    rows = attention_grid.rows("seed", attention.ROWS[kernel], attention_grid.UNFIT[kernel])
    steps = [row for row in rows if row["call"] == "training" and row["mask"] in attention_grid.TENSORS]
    sizes = {int(row["size"]) for row in steps if row["lengths"] == "64 of 128" and row["size"].isdigit()}
    assert len(sizes & {64, 96, 128, 192, 256}) >= (5 if kernel == "efficient" else 2)


def test_attention_case_is_in_the_class_of_its_row():
    drawing = random.Random(1)
    for row in attention_grid.rows("seed", 300, ()):
        case = attention_grid.case_of(row, "float32", drawing)
        _batch, heads, key_heads, queries, keys, size = case.shape
        few, many = {"1, many": (1, 129), "few, many": (2, 129)}.get(row["lengths"], (0, 0))
        assert queries >= few and keys >= many and (not few or queries <= 16)
        assert (queries > keys) == (row["lengths"] == "more, fewer")
        assert row["heads"].startswith(f"{heads} of {key_heads}")
        assert (case.value_size == size) or row["value size"] != "equal"
        assert queries * keys * heads * size < 40_000_000, "a reference takes a tenth of a second"


@pytest.mark.parametrize(
    ("mask", "expanded", "queries", "release", "defect"),
    [
        ("causal", True, 1, "2.11.0", "efficient"), ("causal", True, 65, "2.11.0", "efficient"),
        ("boolean", True, 65, "2.11.0", "efficient"), ("none", True, 65, "2.11.0", ""),
        ("causal", False, 65, "2.11.0", ""), ("causal", True, 66, "2.11.0", ""), ("causal", True, 65, "2.14.1", ""),
    ],
)  # fmt: skip
def test_attention_defect_is_known_of_masked_expanded_keys(monkeypatch, mask, expanded, queries, release, defect):
    monkeypatch.setattr(attention, "torch", types.SimpleNamespace(__version__=release))
    case = attention_grid.Case("float32", mask, (1, 3, 1, queries, 513, 56), is_expanded=expanded)
    assert attention._known_defect(Context("cuda"), "efficient", case) == defect
    assert not attention._known_defect(Context("cuda"), "math", case)


@pytest.mark.parametrize(
    ("form", "size", "release", "defect"),
    [
        ("bfloat16", 1, "2.10.0", "flash"),
        ("bfloat16", 1, "2.11.0", ""),
        ("bfloat16", 2, "2.10.0", ""),
        ("float16", 1, "2.10.0", ""),
    ],
)
def test_attention_defect_is_known_of_heads_of_one_number_on_a_cpu(monkeypatch, form, size, release, defect):
    monkeypatch.setattr(attention, "torch", types.SimpleNamespace(__version__=release))
    case = attention_grid.Case(form, "none", (1, 2, 2, 16, 415, size))
    assert attention._known_defect(Context("cpu"), "flash", case) == defect
    assert not attention._known_defect(Context("cuda"), "flash", case)


@pytest.mark.parametrize(
    ("layer", "size"),
    [
        (Layer(3, 4, (3, 3), (14, 14), 2, (1, 1), (1, 1), (1, 1), (0, 0)), (14, 14)),
        (Layer(3, 4, (3, 3), (17, 13), 2, (2, 1), (1, 1), (1, 1), (0, 0)), (9, 13)),
        (Layer(4, 4, (5, 3), (15, 16), 2, (1, 1), (2, 2), (2, 2), (0, 0)), (11, 16)),
        (Layer(4, 4, (4,), (61,), 2, (3,), (3,), (2,), (0,)), (21,)),
        (Layer(3, 4, (3, 3), (9, 8), 2, (2, 2), (1, 1), (1, 1), (1, 0), transposed=True), (18, 15)),
        (Layer(3, 4, (4, 2), (8, 9), 2, (1, 1), (1, 1), (2, 2), (0, 0), transposed=True), (12, 9)),
    ],
)
def test_output_size(layer: Layer, size: tuple[int, ...]):
    assert layer.output == size


def test_weight_shape_and_number_of_summed_products():
    layer = Layer(6, 8, (3, 2), (9, 9), 2, (1, 1), (0, 0), (1, 1), (0, 0), 2)
    assert layer.shapes[1] == (8, 3, 3, 2)
    assert layer._replace(transposed=True).shapes[1] == (6, 4, 3, 2)
    layer = layer._replace(kernel=(3, 3), size=(10, 10))
    assert layer.terms() == {"forward": 27, "dInput": 36, "dWeight": 128, "dBias": 128}


def test_check_that_may_break_the_device_runs_last():
    family = [name for name, definition in CHECKS.items() if definition.family == "matmul"]
    assert family[-1] == "matmul.float8_rowwise"


@pytest.mark.parametrize(
    ("row", "block", "offset"),
    [
        (0, 0, 0), (0, 1, 1), (0, 3, 3), (1, 0, 16), (31, 0, 31 * 16), (32, 0, 4), (64, 2, 10), (127, 3, 31 * 16 + 15),
        (0, 4, 512), (128, 0, 3 * 512), (129, 9, 3 * 512 + 2 * 512 + 16 + 1),
    ],
)  # fmt: skip
def test_scale_offset_in_tiles_of_128_rows_by_4_blocks(row: int, block: int, offset: int):
    assert scale_offset(row, block, 10) == offset


def test_scale_offsets_are_distinct():
    offsets = {scale_offset(row, block, 10) for row in range(256) for block in range(10)}
    assert len(offsets) == 2560
    assert max(offsets) < 256 * 12


@pytest.mark.parametrize(
    ("error", "capability", "remedy"),
    [
        ("CUDA error: no kernel image is available for execution on the device", (12, 1), "121a"),
        ("Rowwise scaling is not currently supported on your device", (9, 0), "90a"),
        ("", (10, 0), ""),
    ],
)
def test_missing_rowwise_kernel(error: str, capability: tuple[int, int], remedy: str):
    failed = rowwise_failure(error, capability)
    assert failed is not None and remedy in failed.remedy
    assert ("120a" in str(failed)) is (capability == (12, 1)), "only a GB10 has this trap"


@pytest.mark.parametrize("capability", [(8, 9), (11, 0)])
def test_rowwise_kernel_that_torch_does_not_offer(capability: tuple[int, int]):
    assert rowwise_failure("Rowwise scaling is not currently supported on your device", capability) is None


def test_gels_is_not_called_where_nvpl_writes_past_its_workspace():
    assert algebra.drivers(65, "aarch64") == algebra.drivers(33, "aarch64") == ("gelsy", "gelsd")
    assert algebra.drivers(32, "aarch64") == algebra.drivers(129, "x86_64") == ("gels", "gelsy", "gelsd")
