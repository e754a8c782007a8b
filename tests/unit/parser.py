"""A reader of what others write, with something that it reads, as the tests and the fuzzer feed it."""

import dataclasses
import typing as t
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Parser:
    """One reader.

    :ivar seeds: what it reads in good days; the tests change that.
    :ivar read: takes the bytes and a directory of its own.
    :ivar raises: beside SparkforgeError, what its callers know of.
    :ivar refused: what it refuses, and the tests change as well.
    """

    seeds: t.Sequence[bytes]
    read: t.Callable[[bytes, Path], object]
    raises: tuple[type[Exception], ...] = ()
    refused: t.Sequence[bytes] = ()


def of_text(read: t.Callable[[str], object], *seeds: str, raises: tuple[type[Exception], ...] = ()) -> Parser:
    return Parser(
        [seed.encode() for seed in seeds], lambda data, _place: read(data.decode("utf-8", "surrogateescape")), raises
    )


def of_file(
    read: t.Callable[[str], object], *seeds: bytes, name: str = "file", raises: tuple[type[Exception], ...] = ()
) -> Parser:
    def from_file(data: bytes, place: Path) -> object:
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return read(str(path))

    return Parser(seeds, from_file, raises)
