"""The rules of the table, the reader of their data files, and a function that explains a short text."""

from __future__ import annotations

import configparser
import functools
import re
import types
import typing as t
from dataclasses import dataclass

from .._core.redact import redact
from .._elf import providers

#: The maximum number of characters in a quoted value.
VALUE_WIDTH = 160
#: The number of characters of a line to examine at once, and those after the line that a pattern can also match,
#: because CMake wraps its messages.
LINE = 2000
WINDOW = 2048

_VALUE = re.compile(r"(\w+) of (\w+): (.*?) => (.*)")
_SHARED = re.compile(r"^as in ([\w-]+)$", re.MULTILINE)
# The words before an exception's name, or before a message without one, and the names that suit some messages; the
# module "any" marks such a name, because a rule that repeats a program's advice needs the program's own.
_BEFORE = re.compile(
    r"(?!(?:WARNING: )?Retrying|(?:\w+\.)*\w+(?:Error|Exception):)"
    r"(?:[^\n]{1,160}?(?<![\w.])((?:\w+\.)*(?:\w+Error|\w*Exception))(?:: |\( *f?[\"'])|[^\n]{0,80}?"
    r"\"(?:message|detail)\": ?\"|\W*Exception during \w+ !* *|\W*(?:[Ee]rror|ERROR|Exception)\b[^:\n]{0,60}:\** |)"
)
_KIND = re.compile(
    r"(?P<ModuleNotFoundError>No module)|(?P<ImportError>cannot import|lib\S+: cannot open|.*be imported)"
    r"|(?P<TypeError>.*(?:unexpected keyword|'NoneType' object|positional arg|not (?:call|subscript|iter)able))"
    r"|(?P<AttributeError>.*no attrib)|(?P<NameError>name \S+ is n)|(?P<CalledProcessError>Command )|(?P<RuntimeError>)"
)
_QUOTES = "'\"`\u2018\u2019\u201c\u201d"


@dataclass(frozen=True)
class Rule:
    """One row of the table; the package ``rules`` documents the fields."""

    name: str
    keys: tuple[str, ...]
    pattern: str
    cause: str
    remedy: str
    library: bool = False
    unless: str = ""
    when: tuple[str, ...] = ()
    values: tuple[tuple[str, str, str, str], ...] = ()
    source: tuple[str, ...] = ()
    every: bool = False
    uncertain: bool | None = None
    notice: bool = False

    @functools.cached_property
    def regex(self) -> t.Pattern[str]:
        """The compiled pattern."""
        return _compile(self.pattern)

    @functools.cached_property
    def exception(self) -> t.Pattern[str] | None:
        """The compiled pattern that excludes a line, or None."""
        return _compile(self.unless) if self.unless else None

    @functools.cached_property
    def spans(self) -> bool:
        """Whether the pattern can match across lines."""
        rest = re.sub(r"\[\^[^\]]*\\[ns][^\]]*\]", "", self.pattern)
        return bool(re.search(r"\\[nsDW]|\(\?s|\[\^", rest))

    @functools.cached_property
    def tells_digits_apart(self) -> bool:
        """Whether a digit's value can decide if the rule matches."""
        rest = re.sub(r"\\d|0-9|\{\d*,?\d*\}|\(\?P<\w+>", "", f"{self.pattern}|{self.unless}")
        return bool(re.search(r"\d|\(\?P=", rest))

    @property
    def links(self) -> list[str]:
        """The URLs of the rule's public sources."""
        return [
            re.sub(r"^([\w.-]+/[\w.-]+)#(\d+)$", r"https://github.com/\1/issues/\2", source) for source in self.source
        ]

    def groups(self, match: t.Match[str]) -> dict[str, str]:
        """Return the values for cause and remedy; the value of a group that did not match is empty."""
        values = [_clean(_first(match))]
        if self.every:
            values = sorted({_clean(_first(other)) for other in self.regex.finditer(match.string, match.start())})
        groups = {"found": ", ".join(values)}
        for name, value in match.groupdict().items():
            name = name.rstrip("0123456789")
            groups[name] = groups.get(name) or _clean(value or "")
        return groups

    def explain(self, groups: dict[str, str], hide: t.Callable[[str], str] = str) -> tuple[str, str]:
        """Return the cause and the remedy with the values inserted, after applying ``hide`` to each."""
        values = {name: _short(hide(value)) for name, value in groups.items()}
        values.update(_provider(groups["found"]) if self.library else {})
        for name, group, pattern, text in self.values:
            if re.match(pattern, groups.get(group, "")):
                values.setdefault(name, text)
        return _fill(self.cause, values), _fill(self.remedy, values)


class Known(t.NamedTuple):
    """The table's explanation of a text."""

    rule: str
    cause: str
    remedy: str
    groups: dict[str, str]


def explain(text: str, rules: t.Iterable[Rule], **values: str) -> Known | None:
    """Return the explanation by the first rule that matches ``text``, or None.

    It is meant for the output of one failed tool; for logs use ``scan.diagnose``.

    :param values: values that replace the groups with the same names.
    """
    rules = list(rules)
    matches = {rule.name: match for rule in rules if (match := _first_match(rule, text))}
    for rule in rules:
        if rule.name in matches and (not rule.when or any(name in matches for name in rule.when)):
            groups = {**rule.groups(matches[rule.name]), **values}
            return Known(rule.name, *rule.explain(groups), groups)
    return None


def _first_match(rule: Rule, text: str) -> t.Match[str] | None:
    """Return the first match of a rule that starts in a line with one of its keys."""
    for key in rule.keys:
        position = text.find(key)
        while position >= 0:
            start = max(text.rfind("\n", 0, position) + 1, position - LINE)
            stop = text.find("\n", position)
            stop = min(len(text) if stop < 0 else stop, position + LINE)
            match = rule.regex.search(text[start : stop + (16 * WINDOW if rule.every else WINDOW)])
            is_excluded = rule.exception and rule.exception.search(text[start:stop])
            if match and match.start() <= stop - start and not is_excluded:
                return match
            position = text.find(key, stop)
    return None


def named(text: str) -> str:
    """Return an error's message after its exception's name, as rules expect it, or '' if ``text`` starts with one."""
    match = _BEFORE.match(text)
    name = match and (match[1] or f"any.{_KIND.match(text, match.end()).lastgroup}")  # type: ignore[union-attr]
    return re.sub(r"""(["']) *f?\1|["'][)}\]]+$""", "", f"{name}: {text[match.end() :]}") if match else ""


def load(*topics: types.ModuleType) -> tuple[Rule, ...]:
    """Return the rules in the data files ``topics``, in order.

    :raises ValueError: if a file is invalid; the message names the file, and the rule or the line.
    """
    return tuple(rule for topic in topics for rule in _read(topic))


@functools.cache
def _read(topic: types.ModuleType) -> tuple[Rule, ...]:
    reader = configparser.RawConfigParser(delimiters="=", comment_prefixes="#")
    try:
        reader.read_string(topic.RULES, topic.__name__)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    rules: list[Rule] = []
    for name in reader.sections():
        try:
            fields = dict(reader[name])
            if fields.keys() != {"values"}:
                values = fields.get("values", "")
                fields["values"] = _SHARED.sub(lambda line: reader[line[1]]["values"].strip(), values)
                rules.append(_rule(name, fields))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{topic.__name__}: rule {name}: {error}") from error
    return tuple(rules)


def _rule(name: str, fields: t.Mapping[str, str]) -> Rule:
    values: dict[str, t.Any] = {}
    for key, value in fields.items():
        # A line that begins with + continues the previous line.
        lines = value.strip().replace("\n+", "").splitlines()
        if key in ("keys", "when", "source"):
            values[key] = tuple(lines)
        elif key == "values":
            values[key] = tuple(_VALUE.fullmatch(line).groups() for line in lines)  # type: ignore[union-attr]
        elif key in ("pattern", "unless"):
            values[key] = "|".join(map(_anchor_leading_run, lines))
        elif key in ("every", "library", "notice", "uncertain"):
            values[key] = {"yes": True, "no": False}[value]
        else:
            values[key] = " ".join(lines)
    return Rule(name=name, **values)


def _anchor_leading_run(alternative: str) -> str:
    """Let a pattern that begins with a repeated character class match only from the start of a run of such characters.

    The first match begins there anyway, and this avoids quadratic time on long runs.
    """
    return re.sub(r"^((?:'\?)?\(?(?:\?P<\w+>)?)(\\[Sw]|\[\^?[^\]]+\])(?=[+*])", r"(?<!\2)\1\2", alternative)


def _compile(pattern: str) -> t.Pattern[str]:
    """Compile a rule's pattern; a straight quote also matches typographic quotes, inside a character class too."""

    def with_quotes(token: t.Match[str]) -> str:
        return f"[{_QUOTES}]" if token[0] == "'" else token[0].replace("'", _QUOTES)

    # Escaped characters, character classes and single quotes.
    return re.compile(re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]|'", with_quotes, pattern), re.MULTILINE)


# ---------------------------------------------------------------------------------------------------------------
# Fill in the values.


def _provider(soname: str) -> dict[str, str]:
    """Return the values about the provider of a library."""
    provider = providers.provider(soname, cuda_version="13.0")
    role = f"role {provider.role}" if provider.role not in (None, "driver") else ""
    ways = ", ".join(filter(None, (role, f"package {provider.package}" if provider.package else "")))
    return {"hint": provider.hint, "ways": f" ({ways})" if ways else ""}


def _first(match: t.Match[str]) -> str:
    return next((value for value in match.groups() if value), None) or match.group(0)


def _clean(text: str) -> str:
    return redact(" ".join(text.split()))


def _short(text: str) -> str:
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 2] + " …"


def _fill(sentence: str, values: t.Mapping[str, str]) -> str:
    """Return ``sentence`` with the values inserted, without bracketed parts that contain a name without a value."""

    def part(match: t.Match[str]) -> str:
        return match[1] if all(values.get(name) for name in re.findall(r"\{(\w+)\}", match[1])) else ""

    return re.sub(r"\[([^\[\]{]*\{[^\[\]]*)\]", part, sentence).format_map(values)
