"""Each parser of external input returns or raises an error with cause and remedy. `make fuzz` tries more inputs."""

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
        parse(PARSERS[name], anything.generate())


def parse(parser: Parser, data: bytes) -> None:
    """Parse data in a separate directory; check the error, and that no file is written outside that directory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as outer:
        directory = Path(outer, "directory")
        (directory / "receipts").mkdir(parents=True)
        try:
            parser.read(data, directory)
        except SparkforgeError as error:
            assert error.cause and error.remedy
            # Users have to be able to read the message.
            assert len(error.cause) + len(error.remedy) < 5000
        except parser.raises:
            pass
        assert os.listdir(outer) == ["directory"]


@pytest.mark.parametrize("name", PARSERS)
def test_valid_input_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "receipts").mkdir()
    for seed in PARSERS[name].seeds:
        PARSERS[name].read(seed, tmp_path)
