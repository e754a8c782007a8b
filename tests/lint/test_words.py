"""Plain words: names say what they hold, sentences name their subject, and the history is searchable.

No file, name or sentence is exempt, except that class fields are not checked, because some are keys of reports and
receipts, which must not change.
"""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lint import subject

CHECKOUT = Path(__file__).parents[2]
#: Subjects have the form given in CONTRIBUTING.md from this commit on.
SINCE = "1b4fd80a9319f86c62da65dad3e133bc60ca7d48"
VAGUE = {"one", "found", "wanted", "given", "said", "place", "places", "words", "what", "whole"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OPENING = re.compile(r"(?:what|who|whom|whose|of|where|nobody)\b", re.IGNORECASE)
# Comments, task names and descriptions; in a module's description, list items are sentences.
YAML_TEXT = re.compile(r"\s*(#|- name:|-|(?:short_)?description:) ['\"]?([A-Z].*)")


def files() -> list[Path]:
    command = ["git", "ls-files", "--", "*.py", "*.yml", "*.yaml"]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)
    paths = [CHECKOUT / name for name in listed.stdout.splitlines()]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the name of each variable, parameter, function and class, with its line."""
    fields = {
        id(target)
        for body in ast.walk(tree)
        if isinstance(body, ast.ClassDef)
        for statement in body.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for target in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.lineno, node.id
        elif isinstance(node, (ast.ExceptHandler, ast.alias)):
            yield node.lineno, getattr(node, "asname", None) or node.name or ""


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comment blocks of Python code, each with its first line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text
    last, first, block = -1, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, text = token.start[0], token.string.lstrip("#: ")
            is_next = line == last + 1 and token.line.lstrip().startswith("#")
            if not is_next:
                yield first, block
            first, block = (first, f"{block} {text}") if is_next else (line, text)
            last = line
    yield first, block


def yaml_sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments, task names and descriptions of a YAML text, with their lines."""
    previous = ""
    for line, text in enumerate(source.splitlines(), 1):
        match = YAML_TEXT.match(text)
        if match and not (match[1] == "#" and previous.lstrip().startswith("#")):
            yield line, match[2]
        previous = text


def is_vague(text: str) -> bool:
    """Tell whether a text starts with a word that names no subject, and is not a question."""
    return bool(OPENING.match(text)) and not re.match(r"[^.]*\?", text)


def test_names_and_openings() -> None:
    faults: list[tuple[str, str]] = []
    for path in files():
        source, relative = path.read_text(encoding="utf-8"), path.relative_to(CHECKOUT)
        if path.suffix == ".py":
            faults += [
                (f"{relative}:{line}", name)
                for line, name in [*named(ast.parse(source)), (1, path.stem)]
                if name in VAGUE or (name.startswith("test_") and is_vague(name[5:].replace("_", " ")))
            ]
            faults += [(f"{relative}:{line}", text) for line, text in sentences(source) if is_vague(text)]
            source = re.sub(r"^\s*#.*", "", source, flags=re.MULTILINE)
        faults += [(f"{relative}:{line}", text) for line, text in yaml_sentences(source) if is_vague(text)]
    assert sorted(set(faults)) == []


def lost_in_comprehensions(source: str) -> Iterator[tuple[int, str]]:
    """Yield the functions that one comprehension of a function calls and another takes as its variable."""
    tree = ast.parse(source)
    names = {node.name for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    for function in (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)):
        # Generator expressions keep a scope of their own.
        inlined = [node for node in ast.walk(function) if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp))]
        targets = [each.target for node in inlined for each in node.generators]
        taken = names & {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        for call in (node for each in inlined for node in ast.walk(each) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id in taken:
                yield call.lineno, call.func.id


def test_comprehensions_take_no_function_of_another() -> None:
    """Python 3.12 raises UnboundLocalError there, as in all compiled checks of a proof on a GPU host; 3.11 does not."""
    source = "def f(): ...\ndef g(): return [0 for f in 'ab'], [f() for x in 'ab']"
    assert list(lost_in_comprehensions(source)) == [(2, "f")]
    paths = [path for path in files() if path.suffix == ".py"]
    assert [path for path in paths if list(lost_in_comprehensions(path.read_text(encoding="utf-8")))] == []


def test_subjects_of_commits() -> None:
    # A shallow clone, like CI's, has only the latest commits.
    known = subprocess.run(["git", "cat-file", "-e", SINCE], cwd=CHECKOUT, check=False, capture_output=True)
    span = ["-1"] if known.returncode else [f"{SINCE}..HEAD"]
    log = subprocess.run(["git", "log", "--no-merges", "--format=%s", *span], cwd=CHECKOUT, check=True,
                         capture_output=True, text=True).stdout  # fmt: skip
    assert [(line, subject.fault(line)) for line in log.splitlines() if subject.fault(line)] == []


def test_glossary_has_twelve_nouns_at_most_each_defined_once() -> None:
    table = (CHECKOUT / "docs/concepts.md").read_text().partition("## Glossary\n")[2].partition("\n## ")[0]
    _header, *nouns = re.findall(r"^\| (\w+) \| .+ \| .+ \|$", table, re.MULTILINE)
    assert 0 < len(nouns) <= 12
    assert sorted(nouns) == sorted(set(nouns))


@pytest.mark.parametrize(("line", "is_fault"), [
    ("guard: protect names of uid 0 only", False), ("roles/guard, docs: bring the limits together", False),
    ("Say what is known", True), ("guard: what it protects", True), ("guard: protected names", True),
    ("guard: protects names", True), ("guard: " + "protect names " * 5, True),
])  # fmt: skip
def test_subject_form(line: str, is_fault: bool) -> None:
    assert bool(subject.fault(line)) is is_fault
