"""Readers for a model's files: JSON, safetensors headers (an 8-byte length, then JSON) and GGUF metadata.

The model's author controls these files, and root reads them before the server starts. Each reader accepts only regular
files (also through links, as in a hub's cache), and limits bytes, entries and digits.
"""

from __future__ import annotations

import io
import json
import os
import struct
import typing as t

from ._shared.module_utils._core import disk
from ._shared.module_utils._core.errors import SparkforgeError

#: The maximum size of JSON in bytes. The largest configurations list each unquantised layer and take 0.5 MB. A
#: safetensors header has about 130 bytes per tensor, and a file of 5 to 10 GB has about a thousand tensors.
LONGEST_CONFIG, LONGEST_HEADER = 4 << 20, 16 << 20
#: The maximum size of all of a model's headers in bytes, and the maximum number of lists and objects in a JSON text.
ALL_HEADERS, MOST_PARTS = 64 << 20, 1 << 20
#: The maximum number of digits in an integer; 2^63 has 19.
DIGITS = 19
#: The maximum number of entries in a model's directory.
MOST_ENTRIES = 20_000
#: Limits for GGUF: pairs, bytes in a name, elements in all lists together, and elements in a list that is kept. A
#: tokenizer has about 300,000 tokens and 500,000 merges; a list of layer sizes has one number per layer.
MOST_PAIRS, LONGEST_NAME, MOST_ELEMENTS, KEPT_ELEMENTS = 1 << 16, 1 << 16, 1 << 22, 1 << 12
#: The bits of each safetensors data type.
BITS = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8, "F4": 4,
}  # fmt: skip
#: The ``struct`` formats of GGUF's number types (ggml's docs/gguf.md).
_GGUF_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_GGUF_TEXT, _GGUF_LIST = 8, 9


class Tensor(t.NamedTuple):
    """A tensor in a file: its data type, its shape, and the bytes of its data."""

    kind: str
    shape: tuple[int, ...]
    size: int

    @property
    def numbers(self) -> int:
        """The number of its elements."""
        product = 1
        for length in self.shape:
            product *= length
        return product


def torn(path: str, why: str) -> SparkforgeError:
    """Return the error for an incomplete or invalid file."""
    return SparkforgeError(f"{path} {why}.", "Get the model again: sparkforge model get ORGANISATION/NAME.")


def names(directory: str) -> list[str]:
    """Return the names in a model's directory.

    :raises SparkforgeError: if the directory has more entries than any model.
    """
    listed: list[str] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            listed.append(entry.name)
            if len(listed) > MOST_ENTRIES:
                raise torn(directory, f"has more than {MOST_ENTRIES} entries, which no model has")
    return sorted(listed)


def read_json(path: str) -> t.Any:
    """Return the content of a JSON file.

    :raises FileNotFoundError: if the file does not exist.
    :raises SparkforgeError: if the file cannot be read, or is larger than any configuration.
    """
    try:
        with disk.open_regular(path, links=True) as stream:
            content = stream.read(LONGEST_CONFIG + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise torn(path, f"cannot be read: {error.strerror}") from None
    if len(content) > LONGEST_CONFIG:
        raise torn(path, f"has more than {LONGEST_CONFIG >> 20} MiB, which no configuration has")
    return _parsed(path, content)


def _parsed(path: str, content: bytes) -> t.Any:
    if content.count(b"[") + content.count(b"{") > MOST_PARTS:
        raise torn(path, f"has more than {MOST_PARTS} lists and objects, which no model has")
    try:
        return json.loads(content, parse_int=_integer, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise torn(path, f"cannot be read: {str(error)[:200]}") from None


def _integer(digits: str) -> int:
    if len(digits) > DIGITS + 1:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a valid number")


def safetensors(directory: str, files: t.Iterable[str]) -> dict[str, Tensor]:
    """Return each tensor in a directory's files.

    :raises SparkforgeError: if a file is incomplete, or the headers are larger than any model's.
    """
    tensors: dict[str, Tensor] = {}
    headers = 0
    for name in files:
        path = os.path.join(directory, name)
        length, of_file = header(path)
        headers += length
        if headers > ALL_HEADERS:
            raise torn(directory, f"has headers of more than {ALL_HEADERS >> 20} MiB, which no model has")
        tensors.update(of_file)
    return tensors


def header(path: str) -> tuple[int, dict[str, Tensor]]:
    """Return the size of a safetensors file's header, and its tensors.

    :raises SparkforgeError: if the file is incomplete.
    """
    try:
        with disk.open_regular(path, links=True) as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(LONGEST_HEADER, size - 8):
                raise torn(path, f"is not a safetensors file: a header of {length} bytes in a file of {size}")
            rows = _parsed(path, stream.read(length))
    except OSError as error:
        raise torn(path, f"cannot be read: {error.strerror}") from None
    if not isinstance(rows, dict):
        raise torn(path, "has a header that is not a JSON object")
    rows.pop("__metadata__", None)
    tensors = {name: _tensor(path, name, row) for name, row in rows.items()}
    last = max((end for _tensor_there, end in tensors.values()), default=0)
    if size != 8 + length + last:
        raise torn(path, f"has {size} bytes, but its header implies {8 + length + last}")
    return length, {name: tensor for name, (tensor, _end) in tensors.items()}


def _tensor(path: str, name: str, row: t.Any) -> tuple[Tensor, int]:
    """Return a tensor, and the offset of the end of its data."""
    try:
        kind, shape, (begin, end) = row["dtype"], tuple(row["shape"]), row["data_offsets"]
        # No file has 2^63 bytes. Each factor is checked before the product is computed.
        fits = len(shape) <= 16 and all(
            type(length) is int and 0 <= length < 1 << 40 for length in (*shape, begin, end)
        )
        tensor = Tensor(str(kind), shape, end - begin if fits else 0)
    except (KeyError, TypeError, ValueError):
        raise torn(path, f"has a header that cannot be read: {name[:80]!r}") from None
    if not fits or begin > end or (kind in BITS and (tensor.numbers * BITS[kind] + 7) // 8 != tensor.size):
        raise torn(
            path, f"says {name[:80]} is {str(list(shape))[:80]} of {str(kind)[:20]} in {str(tensor.size)[:20]} bytes"
        )
    return tensor, end


def gguf(path: str) -> tuple[int, dict[str, t.Any]]:
    """Return a GGUF file's size and its metadata; long lists are replaced by their length.

    :raises SparkforgeError: if the file is incomplete.
    """
    try:
        with disk.open_regular(path, links=True) as stream:
            size = os.fstat(stream.fileno()).st_size
            return size, _Metadata(path, size, t.cast(io.BufferedReader, stream)).pairs()
    except (OSError, struct.error) as error:
        raise torn(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


class _Metadata:
    """Reads the metadata of a GGUF file, and skips values that are not needed."""

    def __init__(self, path: str, size: int, stream: io.BufferedReader) -> None:
        self._path, self._size, self._stream = path, size, stream
        self._elements = 0

    def pairs(self) -> dict[str, t.Any]:
        if self._stream.read(4) != b"GGUF":
            raise torn(self._path, "is not a GGUF file")
        if self._number("I") not in (2, 3):
            raise torn(self._path, "has a GGUF version other than 2 and 3")
        _tensors, count = self._number("Q"), self._number("Q")
        if count > MOST_PAIRS:
            raise torn(self._path, f"declares {count} metadata values, which no model has")
        pairs = {}
        for _pair in range(count):
            name = self._text()
            pairs[name] = self._value(self._number("I"))
        return pairs

    def _number(self, form: str) -> t.Any:
        return struct.unpack(f"<{form}", self._stream.read(struct.calcsize(f"<{form}")))[0]

    def _text(self) -> str:
        length = self._number("Q")
        if length > LONGEST_NAME:
            raise torn(self._path, f"has a name of {length} bytes")
        return self._stream.read(length).decode("utf-8", "replace")

    def _skip(self, length: int) -> None:
        if self._stream.tell() + length > self._size:
            raise torn(self._path, f"ends within a value of {length} bytes")
        self._stream.seek(length, os.SEEK_CUR)

    def _value(self, kind: int) -> t.Any:
        if kind in _GGUF_NUMBERS:
            return self._number(_GGUF_NUMBERS[kind])
        if kind == _GGUF_TEXT:
            length = self._number("Q")
            if length > LONGEST_NAME:
                # A text of this length may be a chat template, which is not needed.
                self._skip(length)
                return ""
            return self._stream.read(length).decode("utf-8", "replace")
        if kind != _GGUF_LIST:
            raise torn(self._path, f"has a value of the unknown type {kind}")
        inner, count = self._number("I"), self._number("Q")
        self._elements += count
        if self._elements > MOST_ELEMENTS:
            raise torn(self._path, f"has lists of more than {MOST_ELEMENTS} elements")
        if inner in _GGUF_NUMBERS:
            if count <= KEPT_ELEMENTS:
                return [self._number(_GGUF_NUMBERS[inner]) for _element in range(count)]
            self._skip(count * struct.calcsize(f"<{_GGUF_NUMBERS[inner]}"))
        elif inner == _GGUF_TEXT:
            for _element in range(count):
                self._skip(self._number("Q"))
        else:
            raise torn(self._path, f"has a list of the unknown type {inner}")
        return count
