"""Terminal output without control sequences from a host, a file or the network."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console as RichConsole, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from sparkforge import Exit, Refusal, module

sanitize = module("plugins.module_utils._core.sanitize")
#: The colours that Ansible uses; black is excluded because it may be unreadable.
COLOUR = re.compile(r"(\x1b\[(?:0|(?:[01];)?3[1-7])m)")


class Console(RichConsole):
    """Shows text without control characters, except rich's own for colours and bars."""

    def __init__(self, stderr: bool = False, **options: object) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, **options)  # type: ignore[arg-type]

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments to write."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(sanitize.text(piece.text), piece.style)


def coloured(text: str) -> Text:
    """Return Ansible's lines with their colours, but without other control characters."""
    parts = COLOUR.split(text.replace("\r\n", "\n"))
    return Text.from_ansi("".join(part if at % 2 else sanitize.text(part) for at, part in enumerate(parts)))


def refuse_control(arguments: Iterable[str]) -> None:
    """Refuse command-line words that cannot be displayed as they are."""
    for word in arguments:
        if sanitize.line(word) != word:
            cause = f"{word!r} has a control character, or is not UTF-8."
            raise Refusal(Exit.USAGE, cause, "Remove the character, or rename the file.")
