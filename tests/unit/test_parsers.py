"""Readers of what others write, fed with anything: they return, or say cause and remedy. `make fuzz` tries more."""

import os
import random
import tempfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.anything import Anything
from tests.unit.parser import Parser
from tests.unit.parsers import PARSERS

EXAMPLES = 30


@pytest.mark.parametrize("name", PARSERS)
def test_anything_is_read_or_refused(name: str) -> None:
    anything = Anything(PARSERS[name], random.Random(name))
    for _example in range(EXAMPLES):
        try_it(PARSERS[name], anything.made())


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
