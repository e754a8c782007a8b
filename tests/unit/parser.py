"""A parser of external input, with examples of its input, for the tests and the fuzzer."""

import dataclasses
import typing as t
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Parser:
    """A function that parses external input, and examples of that input.

    :ivar seeds: valid inputs, which the tests mutate.
    :ivar read: a function of the bytes and a private directory.
    :ivar raises: exceptions that its callers handle, in addition to SparkforgeError.
    :ivar refused: inputs that are refused, which the tests also mutate.
    """

    seeds: t.Sequence[bytes]
    read: t.Callable[[bytes, Path], object]
    raises: tuple[type[Exception], ...] = ()
    refused: t.Sequence[bytes] = ()


def of_text(read: t.Callable[[str], object], *seeds: str, raises: tuple[type[Exception], ...] = ()) -> Parser:
    return Parser(
        [seed.encode() for seed in seeds], lambda data, _path: read(data.decode("utf-8", "surrogateescape")), raises
    )


def of_file(read: t.Callable[[str], object], *seeds: bytes, name="file", raises=()) -> Parser:
    def from_file(data: bytes, directory: Path) -> object:
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return read(str(path))

    return Parser(seeds, from_file, raises)
