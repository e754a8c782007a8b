# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Readers of what others write, fed with anything: they return, or say cause and remedy. `make fuzz` tries more."""

from __future__ import annotations

import os
import tempfile
import typing as t
from pathlib import Path

import hypothesis
import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from hypothesis import strategies as st

from tests.unit.parsers import PARSERS, Parser

EXAMPLES = 30
#: What separates, ends, counts or nests where somebody reads.
WORDS = [b"", b"\0", b"\n", b"\n\n", b" ", b":", b",", b"-" * 3, b"[" * 3000, b'{"a":' * 2000, b"9" * 5000, b"1e999"]
WORDS += ["²".encode(), b"\xff\xfe", b"\xed\xa0\x80", b"../" * 50, b"/etc/passwd", b"null", b"{}", b"-1", b"\x1b[31m"]


@st.composite
def changed(draw: st.DrawFn, seeds: t.Sequence[bytes]) -> bytes:
    """Return one of ``seeds`` with some pieces cut out, put in or moved."""
    data = draw(st.sampled_from(list(seeds)))
    for _edit in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.sampled_from([0, 0, 1, 4, 40, len(data)]))
        piece = draw(st.one_of(st.sampled_from(WORDS), st.binary(max_size=12), st.just(data[start:end] * 2)))
        data = data[:start] + piece + data[end:]
    return data


def anything(seeds: t.Sequence[bytes]) -> st.SearchStrategy[bytes]:
    return st.one_of(changed(seeds), st.binary(max_size=2000))


@pytest.mark.parametrize("name", PARSERS)
def test_anything_is_read_or_refused(name: str) -> None:
    parser = PARSERS[name]

    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(anything(parser.seeds))
    def read(data: bytes) -> None:
        try_it(parser, data)

    read()


def try_it(parser: Parser, data: bytes) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        place = Path(directory, "place")
        (place / "receipts").mkdir(parents=True)
        try:
            parser.read(data, place)
        except SparkforgeError as error:
            assert error.cause and error.remedy
            # A message is read by a person.
            assert len(error.cause) + len(error.remedy) < 5000
        except parser.raises:
            pass
        # Nothing was made beside what was asked for.
        assert os.listdir(directory) == ["place"]


@pytest.mark.parametrize("name", PARSERS)
def test_what_it_reads_in_good_days_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "receipts").mkdir()
    for seed in PARSERS[name].seeds:
        PARSERS[name].read(seed, tmp_path)
