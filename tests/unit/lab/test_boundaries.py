"""The table of external inputs: each has a bound, a test, and a row that names the files that read it."""

import ast
from pathlib import Path

import pytest

from lab import boundaries
from tests.unit import parsers
from tests.unit.test_documents import missing_tests

#: Full names of calls that read external input.
FULL_NAMES = {
    "ast.literal_eval", "bz2.open", "configparser.ConfigParser", "csv.reader", "email.message_from_bytes",
    "email.message_from_string", "fetch", "gzip.open", "http.fetch", "json.load", "json.loads", "lzma.open",
    "pickle.load", "pickle.loads", "struct.iter_unpack", "struct.unpack", "struct.unpack_from", "tarfile.open",
    "tomllib.load", "tomllib.loads", "yaml.load", "yaml.safe_load", "yaml_load", "zipfile.ZipFile",
}  # fmt: skip
#: The last parts of the names of such calls.
LAST_NAMES = {
    "fetch_bytes", "fetch_page", "get_service_info", "getresponse", "makefile", "open_regular", "read1", "recv",
    "recvfrom", "recvmsg", "urlopen",
}  # fmt: skip
#: Checks run in the environment that they prove, and read only their own files.
CHECKS = "/checks/"
FOLDERS = ("plugins", "proof/src", "guard/src", "cli", "tools", "roles")


def calls_of_readers(source: str) -> set[str]:
    names = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
    return {name for name in names if name in FULL_NAMES or name.rpartition(".")[2] in LAST_NAMES}


def unlisted_readers(root: Path, listed: set[str]) -> list[str]:
    """Return a message for each product file that reads external input but is not named in any row."""
    messages = []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        name = str(path.relative_to(root))
        if CHECKS in name or name in listed or any(part.is_symlink() for part in (path, *path.parents)):
            continue
        if calls := calls_of_readers(path.read_text(encoding="utf-8")):
            messages.append(
                f"{name} calls {', '.join(sorted(calls))}: name it in lab/boundaries.yml under `files` of the row "
                "whose input it reads, or add a row: who may write it, who reads it with which rights, which bound, "
                "which test; then run python -m lab.boundaries"
            )
    return messages


@pytest.fixture(scope="module")
def rows() -> list[boundaries.Row]:
    return boundaries.rows()


def test_the_table_of_the_page_is_current() -> None:
    assert boundaries.main(["--check"]) == 0, "run python -m lab.boundaries"


def test_an_outdated_table_is_detected_and_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "security.md"
    page.write_text(f"# A\n\n{boundaries.HEADING}\n| outdated |\n\n## B\n")
    monkeypatch.setattr(boundaries, "PAGE", page)
    assert boundaries.main(["--check"]) == 1
    assert boundaries.main([]) == boundaries.main(["--check"]) == 0
    text = page.read_text()
    assert "outdated" not in text and text.startswith("# A\n") and text.endswith(" |\n\n## B\n")


def test_each_row_names_existing_tests_or_has_no_bound(rows: list[boundaries.Row]) -> None:
    named = [test for row in rows for test in row.test]
    assert missing_tests(" ".join(f"`{test}`" for test in named)) == []
    assert all(test.count("::") == 1 for test in named)
    assert [row.input for row in rows if not row.test and not row.bound.startswith("none")] == []


def test_each_row_names_existing_files(rows: list[boundaries.Row]) -> None:
    files = [file for row in rows for file in row.files]
    assert [file for file in files if not (boundaries.ROOT / file).is_file()] == []
    assert len({row.input for row in rows}) == len(rows)


def test_each_reader_of_external_input_has_a_row(rows: list[boundaries.Row]) -> None:
    messages = unlisted_readers(boundaries.ROOT, {file for row in rows for file in row.files})
    assert messages == [], "\n".join(messages)
    assert len(unlisted_readers(boundaries.ROOT, set())) > 70, "the product's readers are no longer found"


def test_each_fuzzed_parser_belongs_to_one_row(rows: list[boundaries.Row]) -> None:
    assert sorted(name for row in rows for name in row.parsers) == sorted(parsers.PARSERS)


def row_of(bound: str) -> boundaries.Row:
    return boundaries.Row("a", "b", "c", bound, ["x.py::test_a", "x.py::test_b"], ["cli/sparkforge/top.py"])


def test_a_limit_has_the_value_of_its_constant() -> None:
    limits = "64 KiB (`LONGEST`) a line, 6 (`NOTES`) notes, 10 s (`AGAIN`)"
    line = row_of("{LONGEST:bytes} a line, {NOTES:count} notes, {AGAIN:seconds}").line()
    assert line == f"| a | b | c | {limits} | `x.py::test_a`, `::test_b` |\n"


def test_a_limit_without_a_constant_is_refused() -> None:
    with pytest.raises(ValueError, match="row 'a' has the constant NOWHERE"):
        row_of("{NOWHERE:bytes}").line()
