"""What readers are fed: changed pieces of what they read in good days, and anything."""

import copy
import json
import random
import typing as t

from tests.unit.parser import Parser

#: What separates, ends, counts or nests where somebody reads.
WORDS = [b"", b"\0", b"\n", b"\n\n", b" ", b":", b",", b"-" * 3, b"[" * 3000, b'{"a":' * 2000, b"9" * 5000, b"1e999"]
WORDS += ["²".encode(), b"\xff\xfe", b"\xed\xa0\x80", b"../" * 50, b"/etc/passwd", b"null", b"{}", b"-1", b"\x1b[31m"]
#: What may stand in JSON in the place of anything else.
ODD: list[t.Any] = [
    None,
    True,
    -1,
    0,
    1e308,
    float("inf"),
    float("nan"),
    10**400,
    2**63,
    "",
    "x" * 5000,
    "\x1b[2J\r\n",
    "\ud800",
]
ODD += ["../..", "1e999", "-5", "²", [], [[]], [None], [1, "x"], {}, {"": {}}, {"id": []}]


class Anything:
    """What one reader is fed."""

    def __init__(self, parser: Parser, chance: random.Random) -> None:
        self.chance = chance
        self.seeds = [*parser.seeds, *parser.refused]
        self.documents = [seed for seed in self.seeds if _is_document(seed)]

    def made(self) -> bytes:
        """Return the next input."""
        kind = self.chance.random()
        if kind < 0.15:
            return self.chance.randbytes(self.chance.choice([1, 4, 40, 400, 2000]))
        return self._restructured() if self.documents and kind < 0.7 else self._changed()

    def _changed(self) -> bytes:
        """Return one of the seeds with some pieces cut out, put in or moved."""
        data = self.chance.choice(self.seeds)
        for _edit in range(self.chance.randint(0, 4)):
            start = self.chance.randint(0, len(data))
            end = start + self.chance.choice([0, 0, 1, 4, 40, len(data)])
            random_bytes = self.chance.randbytes(self.chance.randint(0, 12))
            piece = self.chance.choice([self.chance.choice(WORDS), random_bytes, data[start:end] * 2])
            data = data[:start] + piece + data[end:]
        return data

    def _restructured(self) -> bytes:
        """Return a document of JSON in which some values are others, doubled, gone or under another key."""
        document: t.Any = json.loads(self.chance.choice(self.documents))
        for _edit in range(self.chance.randint(1, 3)):
            inner, places = document, []
            while isinstance(inner, (dict, list)) and inner:
                key = self.chance.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
                places.append((inner, key))
                inner = inner[key]
            odd = copy.deepcopy(self.chance.choice(ODD))
            if not places:
                document = odd
                break
            holder, key = self.chance.choice(places)
            kind = self.chance.choice(["change", "change", "go", "beside", "nest"])
            if kind == "go":
                del holder[key]
            elif kind == "nest" and len(places) < 9:
                holder[key] = copy.deepcopy(document)
            else:
                holder[key] = [odd, holder[key]] if kind == "beside" else odd
        return json.dumps(document).encode()


def _is_document(seed: bytes) -> bool:
    """Tell whether a seed is a list or an object of JSON."""
    try:
        return isinstance(json.loads(seed), (dict, list))
    except ValueError:
        return False
