"""Draw the texts for a served model, with lengths around the engines' page and chunk boundaries."""

from __future__ import annotations

import dataclasses
import random
import typing as t

#: The range of page sizes (vLLM 16, SGLang 1 to 64, TensorRT-LLM 32 to 128) and of chunk sizes for long prompts (from
#: llama.cpp's 512 to 8,192). Texts end at each of these powers of two and one token later; for small ones, also one
#: earlier.
SMALLEST, LARGEST = 16, 8192
#: The lengths of the parts that texts share. A part must fill a page to reveal a cache that ignores the page's prefix:
#: 64 tokens did not reveal it in a vLLM with 128-token pages.
PAGES = (16, 64, 128)
#: The number of texts that are requested at the same time.
BATCH = 32
#: The number of tokens to generate after each text: more than a page of 16, so that a new page begins.
GENERATED = 18

ALONE, BATCHED, REPEATED, SHARED = "alone", "in a batch", "repeated", "after another with the same part"
Ids = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Text:
    """A text and its condition, one of the four above."""

    ids: Ids
    condition: str


class Texts:
    """Random texts.

    :param tokens: the ids to draw from, without special tokens.
    :param first: the beginning of each text: the tokenizer's BOS token, if it has one.
    :param longest: the maximum number of tokens in a text and its completion.
    """

    def __init__(self, tokens: t.Sequence[int], first: t.Sequence[int], longest: int, seed: int) -> None:
        self._tokens, self._first, self._longest = list(tokens), list(first), longest
        self._random = random.Random(seed)  # noqa: S311 - draws texts

    def lengths(self) -> list[int]:
        """Return the lengths of the texts to request one at a time, in ascending order."""
        most = self._longest - GENERATED
        lengths = {1, 2, 5, most}
        size = SMALLEST
        while size <= LARGEST:
            lengths.update((size, size + 1) if size > 64 else (size - 1, size, size + 1))
            size *= 2
        return sorted(length for length in lengths if len(self._first) < length <= most)

    def draw(self, length: int) -> Ids:
        """Return a text of random tokens whose second half repeats the first, so that the context matters."""
        half = [self._random.choice(self._tokens) for _ in range(length - length // 2)]
        return tuple((self._first + half + half)[:length])

    def alone(self) -> list[Text]:
        """Return a text of each length."""
        return [Text(self.draw(length), ALONE) for length in self.lengths()]

    def repeated(self, asked: t.Sequence[Text]) -> list[Text]:
        """Return some texts that were requested before and may be cached."""
        return [Text(text.ids, REPEATED) for text in asked if len(text.ids) in (17, 33, 65, 129, 257, 513)]

    def shared(self) -> list[Text]:
        """Return texts that share parts, in the order in which to request them, four for each size.

        The first two share their beginning. The last one consists of two parts that were requested at the same
        positions, but not after each other; a cache that ignores a page's prefix takes the second from another text.
        """
        texts = []
        for size in PAGES:
            if 2 * size + 3 + GENERATED > self._longest:
                continue
            begin, other = self.draw(size), self.draw(size)
            middle, end = (self.draw(len(self._first) + size + 3)[len(self._first) :] for _ in range(2))
            parts = ((begin, middle), (begin, end), (other, end), (other, middle))
            texts += [Text(head + tail, SHARED) for head, tail in parts]
        return texts

    def batches(self) -> list[list[Text]]:
        """Return two batches of :data:`BATCH` texts; every fourth text is in both, next to different texts."""
        most = max(1 + len(self._first), min(160, self._longest - GENERATED))
        sizes = [1 + len(self._first) + (number * 37) % most for number in range(BATCH)]
        first, second = ([self.draw(min(size, most)) for size in sizes] for _ in range(2))
        second[::4] = first[::4]
        return [[Text(ids, BATCHED) for ids in batch] for batch in (first, second)]
