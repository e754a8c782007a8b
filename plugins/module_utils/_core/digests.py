"""The sha256 of files and of data."""

from __future__ import annotations

import hashlib
import json
import typing as t

_BLOCK = 1 << 20


def of_file(path: str) -> str:
    """Return the sha256 of a file as 64 hexadecimal digits."""
    with open(path, "rb") as stream:
        return of_stream(stream)


def of_stream(stream: t.IO[bytes], copy: t.IO[bytes] | None = None) -> str:
    """Return the sha256 of the rest of ``stream`` as 64 hexadecimal digits.

    :param copy: a stream to write the same bytes to, so that the copy is sure to have this sha256.
    """
    digest = hashlib.sha256()
    for block in iter(lambda: stream.read(_BLOCK), b""):
        digest.update(block)
        if copy is not None:
            copy.write(block)
    return digest.hexdigest()


def of_data(data: t.Any) -> str:
    """Return the sha256 of JSON-serializable data, independent of the order of keys."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def text_of(data: t.Any) -> str:
    """Return the text of a receipt or manifest, which is always the same for the same data."""
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def seal(data: t.Mapping[str, t.Any]) -> str:
    """Return the digest of a receipt's content, which reveals later changes."""
    return of_data({key: value for key, value in data.items() if key != "seal"})[:16]
