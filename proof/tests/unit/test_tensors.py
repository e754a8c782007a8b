"""The parts of the memory checks that do not need torch."""

from sparkforge_proof.checks.data import tensors
from sparkforge_proof.checks.data.tensors import GIB, MIB


def test_share_of_memory_leaves_reserve():
    assert tensors.share_of(100 * GIB, 0.5, 8 * GIB) == 50 * GIB
    assert tensors.share_of(100 * GIB, 1.0, 8 * GIB) == 92 * GIB
    assert tensors.share_of(4 * GIB, 0.5, 8 * GIB) == 0


def test_pieces_of_memory():
    assert tensors.pieces_of(3 * GIB + 200 * MIB, GIB) == [GIB] * 3 + [64 * MIB] * 3
    assert tensors.pieces_of(63 * MIB, GIB) == []


def test_leak_grows_in_every_round():
    assert tensors.is_leaking([1000, 900, 800, 700], 50)
    assert not tensors.is_leaking([1000, 900, 900, 900], 50)
    assert not tensors.is_leaking([1000, 900, 1000, 900], 50)
    assert not tensors.is_leaking([1000, 990, 980, 970], 50)
    assert not tensors.is_leaking([1000, 0], 50), "one round is not enough"
