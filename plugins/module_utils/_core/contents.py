"""Read the content of files that other accounts cannot replace."""

from __future__ import annotations

import os

from . import disk


def read(path: str) -> bytes | None:
    """Return the content of a file, or None if it does not exist."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.io_error(f"{path} cannot be read", error) from error


def text(path: str) -> str | None:
    """Return the text of a file, or None if it does not exist."""
    content = read(path)
    return None if content is None else content.decode("utf-8", "replace")


def tail(path: str, offset: int = 0, limit: int = 64 << 10) -> str:
    """Return the text of a file from an offset on, at most its last ``limit`` bytes, or '' if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(offset, size - limit))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""
