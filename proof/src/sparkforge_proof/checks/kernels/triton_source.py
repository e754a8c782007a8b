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


def scan(source, target, columns, BLOCK: tl.constexpr):
    """Compute the running sums of each row."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(source + row * columns + column, mask=inside, other=0)
    tl.store(target + row * columns + column, tl.cumsum(x, axis=0), mask=inside)


def tally(bins, values, counts, greatest, totals, length, BLOCK: tl.constexpr):
    """Compute the number, maximum and sum of the values in each bin, with atomic operations."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < length
    chosen = tl.load(bins + offset, mask=inside, other=0)
    value = tl.load(values + offset, mask=inside, other=0)
    tl.atomic_add(counts + chosen, 1, mask=inside)
    tl.atomic_max(greatest + chosen, value, mask=inside)
    tl.atomic_add(totals + chosen, value.to(tl.float32), mask=inside)


def double(x, y, count, BLOCK: tl.constexpr):
    """Compute twice each of ``count`` numbers."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < count
    tl.store(y + index, tl.load(x + index, mask=inside) * 2, mask=inside)


def smaller(a, b):
    """Combine two numbers to the smaller of them."""
    return tl.minimum(a, b)


def lanes(x, counts, target, columns, step, ROWS: tl.constexpr, COLUMNS: tl.constexpr, REVERSE: tl.constexpr,
          SMALLER: tl.constexpr):  # fmt: skip
    """Compute tiles of integers, of which each moves, combines or counts the numbers of other lanes.

    ``x`` has ``ROWS`` rows, ``step`` apart, of ``columns`` numbers; one result follows another in ``target``.
    """
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    size, offset = ROWS * COLUMNS, row * COLUMNS + column
    tile = tl.load(x + row * step + column, mask=column < columns, other=-7)
    tl.store(target + offset, tile)
    tl.store(target + size + offset, tl.cumsum(tile, 1, reverse=REVERSE))
    tl.store(target + 2 * size + offset, tl.associative_scan(tile, 0, SMALLER, reverse=REVERSE))
    tl.store(target + 3 * size + offset, tl.sort(tile, dim=1, descending=REVERSE))
    tl.store(target + 4 * size + offset, tl.flip(tile, 1))
    tl.store(target + 5 * size + offset, tl.reshape(tl.trans(tile), (ROWS, COLUMNS)))
    tl.store(target + 6 * size + offset, tl.gather(tile, (tile + column) & (COLUMNS - 1), 1))
    tl.store(target + 7 * size + offset, tile - tl.sum(tile, 1, keep_dims=True) + tl.sum(tile, 0)[None, :])
    tl.store(target + 8 * size + offset, tl.argmax(tile, 1)[:, None] * 1000 + tl.argmin(tile, 0)[None, :])
    tl.store(target + 9 * size + offset, tl.max(tile, 0)[None, :] * 1000 + tl.reduce(tile, 1, SMALLER)[:, None])
    even, odd = tl.split(tl.reshape(tile, (ROWS, COLUMNS // 2, 2)))
    tl.store(target + 10 * size + offset, tl.interleave(odd, even + odd))
    # Triton divides integers as C does.
    tl.store(target + 11 * size + offset, (tile // 7) * 1000 + tile % 5)
    tl.store(
        target + 12 * size + offset, tl.where(tile % 2 == 0, tile >> 1, tile * 3 + 1) ^ tl.xor_sum(tile, 1)[:, None]
    )
    total = tl.zeros((ROWS, COLUMNS), tile.dtype)
    for first in range(0, columns, 16):
        at = first + column % 16
        part = tl.load(x + row * step + at, mask=at < columns, other=0)
        if first % 32 == 0:
            total += part
        else:
            total = total * 2 - part
    tl.store(target + 13 * size + offset, total)
    tl.store(target + 14 * size + offset, tile.to(tl.float32).to(tl.bfloat16).to(tl.float32).to(tile.dtype))
    tl.store(target + 15 * size + offset, tile.to(tl.int8).to(tile.dtype) + (tile.to(tl.float16) * 0.5).to(tile.dtype))
    bins = tl.histogram(tl.reshape(tile & 31, (ROWS * COLUMNS,)), 32)
    tl.store(counts + tl.arange(0, 32), bins)
    before = tl.atomic_add(counts + 32 + (tile & 31), 1, mask=column < columns)
    tl.atomic_max(counts + 64 + (tile & 31), before, mask=column < columns)
    tl.atomic_xchg(counts + 96 + (tile & 31), tile & 31, mask=column < columns)
