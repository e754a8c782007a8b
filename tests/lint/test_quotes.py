"""Tests quote at most three consecutive words of an error, so that rewording it does not break them."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
WORDS = 4


def trees(folder: str) -> Iterator[ast.AST]:
    """Yield the syntax tree of each Python file in a folder."""
    listed = subprocess.run(["git", "ls-files", "--", folder], cwd=CHECKOUT, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        if name.endswith(".py"):
            yield ast.parse((CHECKOUT / name).read_text(encoding="utf-8"))


def phrases(tree: ast.AST) -> set[str]:
    """Return each four consecutive words in the strings; numbers, identifiers and inserted values separate words."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    quotes: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            for part in re.split(r"\S*[^A-Za-z',\s-]\S*", node.value):
                sequence = part.lower().replace(",", "").split()
                quotes |= {" ".join(sequence[first : first + WORDS]) for first in range(len(sequence) - WORDS + 1)}
    return quotes


@pytest.mark.parametrize(
    ("sources", "tests"),
    [
        ("cli", "tests/unit/cli"), ("lab", "tests/unit/lab"), ("plugins", "tests/unit/plugins"),
        ("guard/src", "guard/tests"), ("proof/src", "proof/tests"), ("tools", "tests/unit/tools"),
    ],
)  # fmt: skip
def test_errors_are_quoted_by_three_words(sources: str, tests: str) -> None:
    raised = [node for tree in trees(sources) for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    errors = set[str]().union(*map(phrases, raised))
    assert errors
    assert sorted(errors & set[str]().union(*map(phrases, trees(tests)))) == []
