"""Input for parsers: mutations of valid data, and random bytes."""

import copy
import json
import random
import typing as t

from tests.unit.parser import Parser

#: Separators, terminators, numbers and nesting to which parsers react.
PIECES = [b"", b"\0", b"\n", b"\n\n", b" ", b":", b",", b"-" * 3, b"[" * 3000, b'{"a":' * 2000, b"9" * 5000, b"1e999"]
PIECES += ["²".encode(), b"\xff\xfe", b"\xed\xa0\x80", b"../" * 50, b"/etc/passwd", b"null", b"{}", b"-1", b"\x1b[31m"]
#: JSON values that replace others.
ODD_VALUES: list[t.Any] = [None, True, -1, 0, 1e308, float("inf"), float("nan"), 10**400, 2**63]
ODD_VALUES += ["", "x" * 5000, "\x1b[2J\r\n", "\ud800", "../..", "1e999", "-5", "²"]
ODD_VALUES += [[], [[]], [None], [1, "x"], {}, {"": {}}, {"id": []}]


class Anything:
    """Generates input for one parser."""

    def __init__(self, parser: Parser, generator: random.Random) -> None:
        self.random = generator
        self.seeds = [*parser.seeds, *parser.refused]
        self.documents = [seed for seed in self.seeds if _is_document(seed)]

    def generate(self) -> bytes:
        """Return the next input."""
        kind = self.random.random()
        if kind < 0.15:
            return self.random.randbytes(self.random.choice([1, 4, 40, 400, 2000]))
        return self._restructured() if self.documents and kind < 0.7 else self._changed()

    def _changed(self) -> bytes:
        """Return one of the seeds with some pieces cut out, inserted or moved."""
        data = self.random.choice(self.seeds)
        for _edit in range(self.random.randint(0, 4)):
            start = self.random.randint(0, len(data))
            end = start + self.random.choice([0, 0, 1, 4, 40, len(data)])
            random_bytes = self.random.randbytes(self.random.randint(0, 12))
            piece = self.random.choice([self.random.choice(PIECES), random_bytes, data[start:end] * 2])
            data = data[:start] + piece + data[end:]
        return data

    def _restructured(self) -> bytes:
        """Return a JSON document with some values replaced, duplicated, removed or nested."""
        document: t.Any = json.loads(self.random.choice(self.documents))
        for _edit in range(self.random.randint(1, 3)):
            inner, parents = document, []
            while isinstance(inner, (dict, list)) and inner:
                key = self.random.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
                parents.append((inner, key))
                inner = inner[key]
            value = copy.deepcopy(self.random.choice(ODD_VALUES))
            if not parents:
                document = value
                break
            holder, key = self.random.choice(parents)
            kind = self.random.choice(["change", "change", "go", "beside", "nest"])
            if kind == "go":
                del holder[key]
            elif kind == "nest" and len(parents) < 9:
                holder[key] = copy.deepcopy(document)
            else:
                holder[key] = [value, holder[key]] if kind == "beside" else value
        return json.dumps(document).encode()


def _is_document(seed: bytes) -> bool:
    """Tell whether a seed is a JSON list or object."""
    try:
        return isinstance(json.loads(seed), (dict, list))
    except ValueError:
        return False
