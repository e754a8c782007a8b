"""What reaches a terminal: nothing that a host, a file or the network said makes it do anything."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console as RichConsole, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from sparkforge import Exit, Refusal, module

shown = module("plugins.module_utils._core.shown")
#: The colours that Ansible gives its lines; no black, which could not be read.
COLOUR = re.compile(r"(\x1b\[(?:0|(?:[01];)?3[1-7])m)")


class Console(RichConsole):
    """Shows text without control characters; rich's own, of colours and of the bars, are not text."""

    def __init__(self, stderr: bool = False, **options: object) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, **options)  # type: ignore[arg-type]

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the pieces that are written."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(shown.text(piece.text), piece.style)


def coloured(text: str) -> Text:
    """Return lines of Ansible with its colours, and with no other control character."""
    parts = COLOUR.split(text.replace("\r\n", "\n"))
    return Text.from_ansi("".join(part if at % 2 else shown.text(part) for at, part in enumerate(parts)))


def refuse_control(words: Iterable[str]) -> None:
    """Refuse words of the command line that could not be shown as they are.

    :raises Refusal: one has a control character, or is not UTF-8.
    """
    for word in words:
        if shown.line(word) != word:
            cause = f"{word!r} has a control character, or is not UTF-8."
            raise Refusal(Exit.USAGE, cause, "Write it without, or rename the file.")
