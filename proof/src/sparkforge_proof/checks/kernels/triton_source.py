# Triton reads the annotations and compiles the bodies, so they cannot be Python types.
# mypy: disable-error-code="no-untyped-def"

"""The kernels of :mod:`triton_kernels`, which compiles them with ``triton.jit``.

They are in a file of their own because Triton reads their source with ``inspect``.
"""

from __future__ import annotations

try:
    import triton.language as tl
except ImportError:
    # Every module here can be imported without Triton; the checks report a missing or broken Triton.
    tl = None


def dot(
    a, b, c, rows, columns, inner, a_row, a_inner, b_inner, b_column,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Compute a matrix product, with one program per tile; ``c`` is contiguous float32."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, inner, INNER):
        k = start + tl.arange(0, INNER)
        left = tl.load(
            a + row[:, None] * a_row + k[None, :] * a_inner,
            mask=(row[:, None] < rows) & (k[None, :] < inner),
            other=0.0,
        )
        right = tl.load(
            b + k[:, None] * b_inner + column[None, :] * b_column,
            mask=(k[:, None] < inner) & (column[None, :] < columns),
            other=0.0,
        )
        total = tl.dot(left, right, total, input_precision=PRECISION)
    offset = row[:, None] * columns + column[None, :]
    tl.store(c + offset, total, mask=(row[:, None] < rows) & (column[None, :] < columns))


def recurrence(
    query, key, value, factor, target, state, steps,
    ROWS: tl.constexpr, KEYS: tl.constexpr, VALUES: tl.constexpr, TRANSPOSED: tl.constexpr,
):  # fmt: skip
    """Apply a matrix to each block of queries, and then scale it and add a product; there is one program per head."""
    head = tl.program_id(0)
    row, inner, column = tl.arange(0, ROWS), tl.arange(0, KEYS), tl.arange(0, VALUES)
    carried = tl.zeros((KEYS, VALUES), dtype=tl.float32)
    for step in range(steps):
        first = (head * steps + step) * ROWS
        queries = tl.load(query + (first + row[:, None]) * KEYS + inner[None, :])
        if TRANSPOSED:
            keys = tl.trans(tl.load(key + (first + row[:, None]) * KEYS + inner[None, :]))
        else:
            keys = tl.load(key + (first + row[None, :]) * KEYS + inner[:, None])
        offset = (first + row[:, None]) * VALUES + column[None, :]
        tl.store(target + offset, tl.dot(queries, carried.to(queries.dtype)))
        carried = carried * tl.load(factor + head * steps + step)
        carried = tl.dot(keys, tl.load(value + offset), carried)
    tl.store(state + (head * KEYS + inner[:, None]) * VALUES + column[None, :], carried)


def double(x, y, count, BLOCK: tl.constexpr):
    """Compute twice each of ``count`` numbers."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    tl.store(y + index, tl.load(x + index, mask=inside) * 2, mask=inside)
