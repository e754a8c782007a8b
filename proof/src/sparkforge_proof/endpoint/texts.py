# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draw the texts that a served model is asked: their lengths meet the boundaries that engines page and batch by."""

from __future__ import annotations

import dataclasses
import random
import typing as t

#: Sizes of a page (vLLM 16, SGLang 1 to 64, TensorRT-LLM 32 to 128), and of a chunk of a long prompt (512, llama.cpp's,
#: to 8,192); a text ends at each of these powers of two and one token behind it, and for small ones one before it.
SMALLEST, LARGEST = 16, 8192
#: Parts that texts share. Those that are shorter than a page hide one that is found by what is in it alone: 64 did not
#: show it in a vLLM whose pages are 128.
PAGES = (16, 64, 128)
#: Texts that are asked at the same time.
BATCH = 32
#: Tokens that are generated behind each text: more than a page of 16, so that one is begun.
GENERATED = 18

ALONE, BATCHED, REPEATED, SHARED = "alone", "in a batch", "repeated", "after another with the same part"
Ids = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Text:
    """One text to ask for.

    :ivar condition: how it is asked: one of the four above.
    """

    ids: Ids
    condition: str


class Texts:
    """What is asked, which follows from a seed, the tokens that may occur and the longest that is allowed.

    :param tokens: ids without special ones.
    :param first: what each text begins with: the id that marks a beginning, where the tokenizer sets one.
    :param longest: tokens of a text and what is generated behind it.
    """

    def __init__(self, tokens: t.Sequence[int], first: t.Sequence[int], longest: int, seed: int) -> None:
        self._tokens, self._first, self._longest = list(tokens), list(first), longest
        self._random = random.Random(seed)  # noqa: S311 - draws texts

    def lengths(self) -> list[int]:
        """Return the lengths that are asked alone, ascending."""
        most = self._longest - GENERATED
        found = {1, 2, 5, most}
        size = SMALLEST
        while size <= LARGEST:
            found.update((size, size + 1) if size > 64 else (size - 1, size, size + 1))
            size *= 2
        return sorted(one for one in found if len(self._first) < one <= most)

    def draw(self, length: int) -> Ids:
        """Return a text of random tokens whose second half repeats its first one: what went before matters."""
        half = [self._random.choice(self._tokens) for _ in range(length - length // 2)]
        return tuple((self._first + half + half)[:length])

    def alone(self) -> list[Text]:
        """Return a text of each length."""
        return [Text(self.draw(length), ALONE) for length in self.lengths()]

    def repeated(self, asked: t.Sequence[Text]) -> list[Text]:
        """Return some texts that were asked before, so that a cache has them."""
        return [Text(one.ids, REPEATED) for one in asked if len(one.ids) in (17, 33, 65, 129, 257, 513)]

    def shared(self) -> list[list[Text]]:
        """Return texts that share parts, each list in the order in which it is asked.

        The same beginning with two ends; and the same page at the same place behind different beginnings, which a cache
        that looks at pages without what stands before them takes for one another.
        """
        found = []
        for size in PAGES:
            if 3 * size + 1 + GENERATED > self._longest:
                continue
            begin, other = self.draw(size), self.draw(size)
            middle, end = (self.draw(size)[len(self._first) :] for _ in range(2))
            found.append([Text(begin + tail, SHARED) for tail in (middle + end, end + middle, middle + middle)])
            found.append([Text(head + middle + end[:3], SHARED) for head in (begin, other)])
        return found

    def batches(self) -> list[list[Text]]:
        """Return two batches of :data:`BATCH` texts: every fourth text is in both, beside others."""
        most = max(1 + len(self._first), min(160, self._longest - GENERATED))
        sizes = [1 + len(self._first) + (number * 37) % most for number in range(BATCH)]
        first, second = ([self.draw(min(size, most)) for size in sizes] for _ in range(2))
        second[::4] = first[::4]
        return [[Text(one, BATCHED) for one in batch] for batch in (first, second)]
