"""Make text from untrusted sources safe for a terminal or a page."""

from __future__ import annotations

import re
import typing as t

# Control characters, invisible or direction-changing marks, and surrogates: they would hide or reorder text, or control
# a terminal.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\U000e0000-\U000e007f]"
)
#: The characters that systemd allows in unit names (systemd.unit(5)); any user can give a control group another name.
_UNIT = re.compile(r"[^A-Za-z0-9:_.@\\-]")


def text(value: str) -> str:
    """Return multi-line text with unsafe characters replaced."""
    return _UNSHOWN.sub("\ufffd", value)


def line(value: str) -> str:
    """Return text on one line."""
    return " ".join(text(value).split("\n"))


def unit(value: str) -> str:
    """Return the name of a unit with ``?`` for each invalid character."""
    return _UNIT.sub("?", value)


def data(value: t.Any, clean: t.Callable[[str], str] = line) -> t.Any:
    """Return JSON-serializable data with ``clean`` applied to each string, including keys."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {data(key, clean): data(item, clean) for key, item in value.items()}
    return [data(item, clean) for item in value] if isinstance(value, list) else value
