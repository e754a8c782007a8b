"""Check products with 2:4 sparse matrices, which tensor cores multiply at twice the rate, by cuSPARSELt."""

from __future__ import annotations

from ...check import SEEN, Context, Measured, Skipped, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, gamma, name_of, one_thread, torch

_REMEDY = (
    "Check that libcusparseLt.so.0 is the stack's (playbooks/libraries.yml) and that no other copy comes first on the "
    "loader's path; then rebuild torch against it or use another stack."
)


def _sparsified(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Set two of every four neighbours in a row to zero, chosen at random."""
    rows, columns = values.shape
    order = torch.rand(rows, columns // 4, 4, generator=generator).argsort(-1).argsort(-1)
    return values * (order < 2).reshape(rows, columns)


@check("sparsity.semi_structured", measured=SEEN)
def semi_structured(context: Context) -> Measured:
    """Check products with matrices in which two of every four values are zero, by cuSPARSELt.

    Half of the k products are zero. The others are exact in float32, whose sums are truncated on tensor cores. Bound:
    g(k / 2 + 2) |A| |B| with g for 2^-23, plus u |C| for rounding the result. Integers are exact.
    """
    cases = Cases("the product with a 2:4 sparse matrix", _REMEDY)
    if not torch.backends.cusparselt.is_available():
        raise Skipped("This torch is built without cuSPARSELt.")
    if torch.cuda.get_device_capability(0) < (8, 0):
        raise Skipped("2:4 sparsity needs compute capability 8.0 or higher.")
    note = f"; cuSPARSELt {torch.backends.cusparselt.version()}"
    for dtype in (torch.float16, torch.bfloat16):
        for sizes in ((128, 256, 96), (384, 512, 160)):
            _compare_floating_point(context, cases, dtype, *sizes)
    try:
        _compare_integers(context, cases)
    except RuntimeError as error:
        if "not supported" not in str(error).replace("_", " ").lower():
            raise
        note += "; the library does not support int8 on this GPU"
    return cases.result(note)


def _compare_floating_point(
    context: Context, cases: Cases, dtype: torch.dtype, rows: int, inner: int, columns: int
) -> None:
    """Compare products from both sides, with the dense matrix in both orders, and one with a bias."""
    name = f"{name_of(dtype)}{f', {rows} rows' * (rows > 128)}"
    generator = context.generator(f"sparsity {name}")
    with one_thread():
        left = _sparsified(torch.randn(rows, inner, generator=generator), generator).to(dtype)
        right = torch.randn(inner, columns, generator=generator).to(dtype)
        bias = torch.randn(rows, generator=generator).to(dtype)
        a, b, c = left.double(), right.double(), bias.double()

        unit, least = UNIT_ROUNDOFF[name_of(dtype)], UNDERFLOW[name_of(dtype)]

        def bound(exact: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
            return (1 + unit) * gamma(inner // 2 + 2, 2.0**-23) * size + unit * exact.abs() + least

        exact, size = a @ b, a.abs() @ b.abs()
        allowed = bound(exact, size)
        with_bias = exact.T + c
        # Adding a bias to a rounded result rounds a second time.
        allowed_with_bias = bound(with_bias, size.T + c.abs()) + unit * exact.T.abs()
    # Torch's tensor subclass for these functions would import the compiler, which takes seconds.
    packed, dense = torch._cslt_compress(left.to(context.device)), right.to(context.device)
    column_major = right.T.contiguous().to(context.device).T
    plain, by_columns = torch._cslt_sparse_mm(packed, dense), torch._cslt_sparse_mm(packed, column_major)
    linear = torch._cslt_sparse_mm(packed, column_major, bias=bias.to(context.device), transpose_result=True)
    cases.compare(name, plain, exact, allowed)
    cases.compare(f"{name}, dense by columns", by_columns, exact, allowed)
    cases.compare(f"{name}, as a linear layer has it", linear, with_bias, allowed_with_bias)


def _compare_integers(context: Context, cases: Cases) -> None:
    """Compare int8 products in int32, in which a sum of 128 of them cannot overflow."""
    rows, inner, columns = 128, 256, 64
    generator = context.generator("sparsity int8")
    with one_thread():
        left = _sparsified(torch.randint(-128, 128, (rows, inner), generator=generator), generator).to(torch.int8)
        right = torch.randint(-128, 128, (columns, inner), generator=generator).to(torch.int8)
        exact = left.double() @ right.double().T
    packed = torch._cslt_compress(left.to(context.device))
    result = torch._cslt_sparse_mm(packed, right.to(context.device).T, out_dtype=torch.int32)
    cases.exactly("int8 into int32", result, exact)
