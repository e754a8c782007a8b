# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others wrote, as a terminal or a page may show it."""

from __future__ import annotations

import re
import typing as t

# Control characters, marks that turn the direction of text around or have no width, and halves of surrogate pairs: they
# would hide or reorder what is shown, or a terminal would obey them.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\U000e0000-\U000e007f]"
)
#: What systemd allows in the name of a unit (systemd.unit(5)); any user may give another to a control group.
_UNIT = re.compile(r"[^A-Za-z0-9:_.@\\-]")


def text(value: str) -> str:
    """Return text of any number of lines without what cannot be shown as it is."""
    return _UNSHOWN.sub("\ufffd", value)


def line(value: str) -> str:
    """Return text on one line."""
    return " ".join(text(value).split("\n"))


def unit(value: str) -> str:
    """Return the name of a unit with ``?`` for each character that such a name cannot have."""
    return _UNIT.sub("?", value)


def data(value: t.Any) -> t.Any:
    """Return what JSON can say with each of its texts on one line."""
    if isinstance(value, str):
        return line(value)
    if isinstance(value, dict):
        return {key: data(one) for key, one in value.items()}
    return [data(one) for one in value] if isinstance(value, list) else value


def values(value: t.Any) -> t.Any:
    """Return data with each of its texts, those of keys too, as :func:`text`; a text of which nothing goes stays it."""
    if isinstance(value, str):
        return text(value) if _UNSHOWN.search(value) else value
    if isinstance(value, dict):
        return {values(key): values(one) for key, one in value.items()}
    return [values(one) for one in value] if isinstance(value, list) else value
