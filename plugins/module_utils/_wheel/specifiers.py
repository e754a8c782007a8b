"""Check versions against specifiers like pip, without needing the packaging library."""

from __future__ import annotations

import re
import typing as t

from .._core.versions import public

_CLAUSE = re.compile(r"(===|~=|==|!=|<=|>=|<|>)\s*(\S+)")
# PEP 440, appendix B, without epochs, which none of these packages uses, and with numbers short enough for int().
_VERSION = re.compile(
    r"v?(?P<release>\d{1,18}(?:\.\d{1,18})*)(?:[-_.]?(?P<stage>a|b|rc|alpha|beta|c|pre|preview)[-_.]?(?P<number>\d{0,18}))?"
    r"(?:[-_.]?(?:post|rev|r)[-_.]?(?P<post>\d{0,18}))?(?:[-_.]?dev[-_.]?(?P<dev>\d{0,18}))?(?:\+.*)?",
    re.IGNORECASE,
)


def _key(version: str) -> tuple[t.Any, ...] | None:
    match = _VERSION.fullmatch(version.strip())
    if match is None:
        return None
    release = tuple(int(part) for part in match["release"].split("."))
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    last = float("inf")
    stage: tuple[t.Any, ...] = ("z",)
    if match["stage"]:
        letter = match["stage"][0].lower()
        stage = (letter if letter in "ab" else "rc", int(match["number"] or 0))
    elif match["dev"] is not None and match["post"] is None:
        stage = ("",)
    post = -1 if match["post"] is None else int(match["post"] or 0)
    return release, stage, post, last if match["dev"] is None else int(match["dev"] or 0)


def satisfies(version: str, specifier: str) -> bool:
    """Tell whether a version satisfies ``>=2.9,<3`` (PEP 440); unparsable clauses count as satisfied."""
    for clause in specifier.split(","):
        match = _CLAUSE.fullmatch(clause.strip())
        if match is not None and not _satisfies(version, match[1], match[2]):
            return False
    return True


def _satisfies(version: str, operator: str, bound: str) -> bool:
    # The local part counts only if the bound has one.
    if "+" not in bound:
        version = public(version)
    elif operator in ("==", "!="):
        return (version == bound) is (operator == "==")
    if operator == "===":
        return version == bound
    if bound.endswith(".*"):
        is_same = (version + ".").startswith(bound[:-1])
        return is_same if operator == "==" else not is_same
    version_key, bound_key = _key(version), _key(bound)
    if version_key is None or bound_key is None:
        return True
    if operator == "~=":
        prefix = public(bound).rpartition(".")[0]
        return version_key >= bound_key and (version + ".").startswith(prefix + ".")
    return {
        "==": version_key == bound_key,
        "!=": version_key != bound_key,
        "<=": version_key <= bound_key,
        ">=": version_key >= bound_key,
        "<": version_key < bound_key,
        ">": version_key > bound_key,
    }[operator]
