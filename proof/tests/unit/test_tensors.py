"""Unit tests of what the checks of memory decide without torch."""

from sparkforge_proof.checks.data import tensors
from sparkforge_proof.checks.data.tensors import GIB, MIB

MEMINFO = """\
MemTotal:       125000000 kB
MemFree:          2000000 kB
MemAvailable:   100000000 kB
Buffers:            10000 kB
"""


def test_the_share_is_taken_but_never_the_reserve():
    assert tensors.share_of(100 * GIB, 0.5, 8 * GIB) == 50 * GIB
    assert tensors.share_of(100 * GIB, 1.0, 8 * GIB) == 92 * GIB
    assert tensors.share_of(4 * GIB, 0.5, 8 * GIB) == 0


def test_memory_is_taken_in_pieces():
    assert tensors.pieces_of(3 * GIB + 200 * MIB, GIB) == [GIB] * 3 + [64 * MIB] * 3
    assert tensors.pieces_of(63 * MIB, GIB) == []


def test_page_cache_counts_as_available_and_a_kernel_that_does_not_say_has_nothing():
    assert tensors.available_memory(MEMINFO) == 100000000 * 1024
    assert tensors.available_memory("MemTotal: 5 kB\n") == 0


def test_a_leak_takes_something_in_every_round():
    assert tensors.is_leaking([1000, 900, 800, 700], 50)
    assert not tensors.is_leaking([1000, 900, 900, 900], 50)
    assert not tensors.is_leaking([1000, 900, 1000, 900], 50)
    assert not tensors.is_leaking([1000, 990, 980, 970], 50)
    assert not tensors.is_leaking([1000, 0], 50), "one round proves none"
