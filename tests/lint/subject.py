"""The form of a commit's subject, `area: verb …`: a pre-commit hook checks messages, and test_words.py the history."""

import re
import sys
from pathlib import Path

LONGEST = 72
# One to three areas, for example `serving, proof: `; a verb comes first in the rest.
FORM = re.compile(r"[\w.][\w./-]*(?:, [\w.][\w./-]*){0,2}: ([a-z][\w-]*) \S")
# An imperative has none of these endings, apart from a few verbs.
ENDING = re.compile(r"(?!(?:bring|ping|string|embed|shed|focus)$)\w+(?:(?<!e)ed|ing|(?<!s)s)")
NO_VERB = {"a", "an", "the", "no", "not", "what", "who", "whose", "whom", "where", "when", "of", "nobody", "that", "it"}


def fault(subject: str) -> str:
    """Return the fault in a subject's form, or ''."""
    if len(subject) > LONGEST:
        return f"it has {len(subject)} characters, and {LONGEST} are the most"
    if subject.startswith('Revert "'):
        return ""
    verb = FORM.match(subject)
    if not verb or verb[1] in NO_VERB or ENDING.fullmatch(verb[1]):
        return 'it must name an area and begin with an imperative: "guard: protect names of uid 0 only"'
    return ""


if __name__ == "__main__":
    reason = fault(Path(sys.argv[1]).read_text(encoding="utf-8").partition("\n")[0])
    sys.exit(f"The subject of this commit must change: {reason}." if reason else 0)
