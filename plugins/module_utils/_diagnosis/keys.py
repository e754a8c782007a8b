"""Find the lines of a log that contain a key, without searching each line for each key.

A key is a text that each line has which a rule matches, or which reports an error.
"""

from __future__ import annotations

import bisect
import collections
import functools
import itertools
import string
import typing as t

from .table import Rule

#: The digits, which are left out of a line or a key to compare its form.
DIGITS = b"0123456789"
#: The maximum number of different forms of lines to remember.
FORMS = 100_000

# The maximum number of different words to remember.
_WORDS = 20_000
# The maximum number of lines to examine for one key, because a log full of errors must not take hours, and the number
# of lines more that a line unlike the earlier ones counts as.
_TRIES = 20_000
_NEW_LINE = 3
# Separates the words of a line: only letters, asterisks and the bytes of other characters than ASCII are part of one.
_SEPARATED = bytes(byte if byte > 127 or chr(byte) in f"\n*{string.ascii_letters}" else 32 for byte in range(256))


class Keys:
    """The keys of rules and of errors.

    :ivar of_rule: the keys of each rule, by the rule's name.
    :ivar rules: the rules of each key, and none for a key that only an error has.
    :ivar of_form: the keys that are equal without their digits, by this form.
    """

    def __init__(self, rules: t.Sequence[Rule], of_errors: t.Sequence[bytes]) -> None:
        # JSON escapes the quotes in a message.
        self.of_rule = {r.name: tuple(max(key.split('"'), key=len).encode() for key in r.keys) for r in rules}
        self.rules: dict[bytes, list[Rule]] = {key: [] for key in of_errors}
        for rule in rules:
            for key in self.of_rule[rule.name]:
                self.rules.setdefault(key, []).append(rule)
        self.of_form: dict[bytes, list[bytes]] = {}
        for key in self.rules:
            self.of_form.setdefault(key.translate(None, DIGITS), []).append(key)

    @functools.cached_property
    def anchors(self) -> tuple[dict[bytes, tuple[bytes, ...]], dict[bytes, tuple[bytes, ...]]]:
        """The anchors that are parts of words, and those that are complete words, each with the forms that have it.

        The anchor of a form is the word that is in the fewest forms, with a space where another word follows or
        precedes it; between two others, it is a complete word of each line with the key. A log repeats most of its
        words, and few different words contain an anchor, so few lines have to be searched for the keys.
        """
        anchors: tuple[dict[bytes, tuple[bytes, ...]], dict[bytes, tuple[bytes, ...]]] = ({}, {})
        split_forms = {form: form.translate(_SEPARATED).split(b" ") for form in self.of_form}
        uses = collections.Counter(itertools.chain(*split_forms.values()))
        for form, parts in split_forms.items():
            framed = ((index > 0, index + 1 < len(parts), word) for index, word in enumerate(parts))
            left, right, word = max(framed, key=lambda frame: (len(frame[2]) > 3, -uses[frame[2]], len(frame[2])))
            is_complete = left and right
            anchor = word if is_complete else b" " * left + word + b" " * right
            anchors[is_complete][anchor] = *anchors[is_complete].get(anchor, ()), form
        return anchors


class Index:
    """The lines of a buffer that contain a key.

    :ivar rows: for each key, the lines with it, and their offsets in the buffer.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.rows: dict[bytes, list[tuple[int, bytes]]] = {}
        self._tries = dict.fromkeys(keys.rules, 0)
        # For each word, the forms whose anchors it contains.
        self._words: dict[bytes, tuple[bytes, ...]] = {}
        # The keys that a line may contain, by the hash of the line's form.
        self._forms: dict[int, tuple[bytes, ...]] = {}

    def needed(self) -> tuple[bytes, ...]:
        """Return the keys for which further lines are examined, as few lines have had them."""
        return tuple(key for key, tries in self._tries.items() if tries < _TRIES)

    def add(self, rows: t.Sequence[tuple[int, bytes]], base: int) -> None:
        """Add those of the lines ``rows`` that contain a key; their offsets start at ``base`` in the buffer."""
        forms = [row.translate(None, DIGITS) for _start, row in rows]
        hashes = list(map(hash, forms))
        if len(self._forms) > FORMS:
            self._forms.clear()
        new = {number: form for number, form in zip(hashes, forms) if number not in self._forms}
        text = b"\n".join(new.values()).translate(_SEPARATED)
        self._add_words(text)
        for (number, form), separated in zip(new.items(), text.split(b"\n")):
            parts = {part: 0 for word in separated.split() for part in self._words[word] if part in form}
            self._forms[number] = tuple(key for part in parts for key in self._keys.of_form[part])
            for key in self._forms[number]:
                self._tries[key] += _NEW_LINE
        for (start, row), number in zip(rows, hashes):
            line = base + start, row
            for key in self._forms[number]:
                if key in row and self._tries[key] < _TRIES:
                    self._tries[key] += 1
                    self.rows.setdefault(key, []).append(line)

    def leave_out(self, ranges: t.Sequence[tuple[int, int]]) -> None:
        """Remove the lines within ranges of the buffer, which are sorted and do not overlap."""
        starts, ends = [start for start, _end in ranges], [end for _start, end in ranges]
        for key, rows in self.rows.items() if ranges else ():
            befores = ((row, bisect.bisect(starts, row[0])) for row in rows)
            self.rows[key] = [row for row, count in befores if not count or row[0] >= ends[count - 1]]

    def advance(self, start: int, first: int) -> None:
        """Remove the lines before ``first``, and count the offsets of the others from ``start``."""
        left = ((key, [(at - start, row) for at, row in rows if at >= first]) for key, rows in self.rows.items())
        self.rows = {key: rows for key, rows in left if rows}

    def _add_words(self, text: bytes) -> None:
        """Store the forms whose anchors each new word contains."""
        if len(self._words) > _WORDS:
            self._words.clear()
        new = set(text.split()).difference(self._words)
        self._words.update(dict.fromkeys(new, ()))
        joined = b" %b " % b" ".join(new)
        partial, complete = self._keys.anchors
        for word in complete.keys() & new:
            self._words[word] = complete[word]
        for anchor, forms in partial.items() if new else ():
            position = joined.find(anchor)
            while position >= 0:
                stop = joined.find(b" ", position + 1)
                self._words[joined[joined.rfind(b" ", 0, position + 1) + 1 : stop]] += forms
                position = joined.find(anchor, stop)
