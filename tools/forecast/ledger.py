"""The ledger of past upgrades and what they broke: one file per rule, validated against its schema.

A ledger is a directory of rules with ``ledger.yml``, which contains the date of its last review.
"""

from __future__ import annotations

import datetime
import os
import typing as t
from pathlib import Path

import yaml

from ...plugins.module_utils._core import phrases
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.plugin_utils import schema
from . import facts, patterns

#: The ledger that the collection ships.
SHIPPED = Path(__file__).parents[2] / "roles/forecast/files/ledger"
HEAD = "ledger.yml"
#: The age in days after which a ledger is too old, because releases of DGX OS are only weeks apart.
OLDEST = 90
#: The maximum size in bytes of a file in a ledger; the shipped files are a hundredth of that size.
LIMIT = 4 * 2**20

Rule = t.Mapping[str, t.Any]


class Ledger(t.NamedTuple):
    """Rules, the date of their last review, and their source."""

    rules: tuple[Rule, ...]
    date: datetime.date
    source: str

    def age(self, today: datetime.date) -> int:
        """Return the days since the last review."""
        return (today - self.date).days


def load(source: str = "") -> Ledger:
    """Return a validated ledger.

    :param source: a directory; '' for the shipped ledger.
    :raises SparkforgeError: if the ledger is damaged.
    """
    folder = Path(source).expanduser() if source else SHIPPED
    if not folder.is_dir():
        raise SparkforgeError(
            f"The ledger {redact(source)} is not a folder.",
            "Set forecast_ledger to a folder with ledger.yml and a file for each rule.",
        )
    return _folder(folder)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(LIMIT + 1)
    except OSError as error:
        raise SparkforgeError(
            f"The ledger {path} cannot be read: {error.strerror}.", "Set forecast_ledger to a folder that you can read."
        ) from error
    if len(content) > LIMIT:
        raise SparkforgeError(f"The ledger {path} has more than {LIMIT >> 20} MiB.", "Remove that file.")
    return content


def _damaged(where: str, fault: str) -> SparkforgeError:
    return SparkforgeError(
        f"The ledger {where} is damaged: {fault.rstrip('.')}.",
        "Restore it, or unset forecast_ledger to use this collection's ledger.",
    )


def _folder(folder: Path) -> Ledger:
    rules, head = [], {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yml"):
            continue
        try:
            content = yaml.safe_load(_read(folder / name))
        except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
            raise _damaged(str(folder / name), " ".join(str(error).split())) from error
        if name == HEAD:
            head = content
            continue
        if not isinstance(content, dict) or content.get("id") != name[: -len(".yml")]:
            raise _damaged(str(folder / name), "its id differs from the file's name")
        rules.append(content)
    if not isinstance(head, dict):
        raise _damaged(str(folder / HEAD), "it is not a mapping of keys to values")
    return _checked({**head, "rules": rules}, "of this collection" if folder == SHIPPED else str(folder))


def _checked(data: dict[str, t.Any], where: str) -> Ledger:
    data = t.cast("dict[str, t.Any]", _plain(data))
    problems = schema.problems("ledger", data, "ledger")
    if problems:
        raise _damaged(where, phrases.some(problems, 3, "; "))
    expressions = _patterns([{**rule, "examples": {}} for rule in data["rules"]])
    unbounded = next((pattern for pattern in expressions if not patterns.is_bounded(pattern)), None)
    if unbounded is not None:
        flaw = f"the regular expression {unbounded[:80]!r} does not compile, repeats a group, refers back or around, "
        raise _damaged(where, f"{flaw}or repeats more than {patterns.REPETITIONS} times, which may take years to match")
    known = facts.State({}, {}).facts
    unknown = next(
        (name for rule in data["rules"] for name in _facts([rule["when"], rule["over"]]) if name not in known), None
    )
    if unknown is not None:
        raise _damaged(where, f"no host has a fact {unknown[:80]}")
    return Ledger(tuple(data["rules"]), datetime.date.fromisoformat(data["date"]), where)


def _patterns(value: t.Any, key: str = "") -> t.Iterator[str]:
    """Yield each regular expression in a rule, as marked in the schema; a fact's name counts as one too."""
    if isinstance(value, (dict, list)):
        for name, inner in value.items() if isinstance(value, dict) else ((key, inner) for inner in value):
            yield from _patterns(inner, name)
    elif isinstance(value, str) and key in ("hold", "matches", "name"):
        yield value


def _facts(value: t.Any) -> t.Iterator[str]:
    for key, inner in value.items() if isinstance(value, dict) else (("", inner) for inner in value):
        if key == "fact":
            yield inner["name"]
        elif isinstance(inner, (dict, list)):
            yield from _facts(inner)


def _plain(value: t.Any) -> t.Any:
    # YAML reads a date as a date object.
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, datetime.date) else value
