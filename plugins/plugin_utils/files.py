"""Files on the controller."""

from __future__ import annotations

from ..module_utils._core import disk
from ..module_utils._core.errors import SparkforgeError


def write_text(path: str, text: str, remedy: str) -> None:
    """Write the text to a file on the controller, atomically.

    :param remedy: the remedy if writing fails, which names the variable that sets the path.
    :raises SparkforgeError: if the file cannot be written.
    """
    try:
        disk.write_file(path, text.encode())
    except SparkforgeError as error:
        reason = getattr(error.__cause__, "strerror", None) or error.__cause__
        raise SparkforgeError(f"{path} cannot be written on the controller: {reason}.", remedy) from error
