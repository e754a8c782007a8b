"""docs/ names only tests that exist and stacks that are shipped, and its table of files on a host is generated."""

import ast
import dataclasses
import functools
import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

from tests.integration import ownership
from tests.integration.ownership import Entry, Row

CHECKOUT = Path(__file__).parents[2]
SECURITY = CHECKOUT / "docs/security.md"
#: `module_utils/_core/test_disk.py`, with or without a test; `::test_x` is in the last file that was named.
NAMED = re.compile(r"`([\w./]+\.py)?(?:::(test_\w+)(?:\[[^\]`]*\])?)?`")
HOSTS = {"site", "build", "served", "wheels", "proxies", "scheduled", "fabric"}


@functools.lru_cache
def functions_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def missing_tests(text: str) -> list[str]:
    """Return missing tests that a text names; paths are relative to the checkout or tests/unit/plugins."""
    absent, latest = [], None
    for file, test in NAMED.findall(text):
        if not file and not test:
            continue
        if file:
            is_whole_path = file.startswith(("tests/", "plugins/", "proof/", "guard/"))
            latest = (CHECKOUT if is_whole_path else CHECKOUT / "tests/unit/plugins") / file
        if latest is None or not latest.is_file():
            absent.append(f"{file or latest} (no such file)")
        elif test and test not in functions_in(latest):
            absent.append(f"{latest.name}::{test}")
    return absent


def test_every_test_that_the_security_page_names_exists() -> None:
    text = SECURITY.read_text()
    assert len(text.splitlines()) <= 300
    assert len([1 for file, test in NAMED.findall(text) if test]) > 30, "the page names no tests in this form any more"
    assert missing_tests(text) == []


def test_a_missing_test_is_reported() -> None:
    assert missing_tests("`tests/unit/test_documents.py::test_nobody_wrote`, `::test_nor_this`") == [
        "test_documents.py::test_nobody_wrote",
        "test_documents.py::test_nor_this",
    ]
    assert missing_tests("`module_utils/_core/test_nowhere.py`") != []


def test_each_sentence_of_the_threat_model_names_a_test_or_is_accepted() -> None:
    model = SECURITY.read_text().partition("## Threat model\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in model.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 9
    for attacker, *cells in rows:
        for cell in cells:
            for sentence in filter(None, (part.strip() for part in cell.split(";"))):
                named = [test for _file, test in NAMED.findall(sentence) if test]
                assert named or "*accepted*" in sentence, f"{attacker}: {sentence}"


def test_page_of_files_matches_the_table() -> None:
    assert ownership.PAGE.read_text() == ownership.page(ownership.rows()), "run python -m tests.integration.ownership"


def test_each_row_names_a_host_of_the_suite_or_a_test() -> None:
    for row in ownership.rows():
        assert row.left_by in HOSTS or ("::" in row.left_by and missing_tests(f"`{row.left_by}`") == []), row
        open_to = [mode for kind, modes in row.modes.items() if kind != "l" for mode in modes if mode != ownership.ANY]
        assert any(int(mode, 8) & 0o022 for mode in open_to) == bool(row.writers), f"{row}: who may write?"


ROWS = [
    Row("<root>", {"d": ("0755",)}, "root", "root", "", "site"),
    Row("<root>/**", {"f": ("0644",)}, "root", "root", "", "site"),
    Row("/srv/*", {"f": (ownership.ANY,)}, "spark", "spark", "", "build"),
]
ENTRIES = [
    Entry("/opt/sparkforge", "d", "0755", "root", "root"),
    Entry("/opt/sparkforge/a/b", "f", "0644", "root", "root"),
]


def test_paths_that_match_the_table_are_no_fault() -> None:
    assert ownership.faults(ENTRIES, ROWS, "site") == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"mode": "0664"}, "can be written by group"),
        ({"mode": "0646"}, "can be written by others"),
        ({"mode": "0600"}, "has the mode 0600, not 0644"),
        ({"owner": "spark"}, "has the owner spark, not root"),
        ({"group": "spark"}, "has the group spark, not root"),
        ({"kind": "l"}, "no row"),
        ({"path": "/etc/shadow-"}, "no row"),
        ({"path": "/srv/x", "owner": "spark", "group": "spark", "mode": "0602"}, "can be written by others"),
    ],
)
def test_a_path_that_differs_from_the_table_is_a_fault(change: dict[str, str], fault: str) -> None:
    changed = dataclasses.replace(ENTRIES[1], **change)
    faults = ownership.faults([*ENTRIES, changed], ROWS, "site")
    assert faults and all(str(changed) in line for line in faults)
    assert any(fault in line for line in faults)


def test_a_row_without_a_path_and_a_path_with_two_rows_are_faults() -> None:
    assert ownership.faults(ENTRIES[:1], ROWS, "site") == ["<root>/**: no path"]
    assert ownership.faults([], ROWS, "build") == ["/srv/*: no path"]
    twice = [*ROWS, Row("<root>/a/*", {"f": ("0644",)}, "root", "root", "", "build")]
    assert ownership.faults(ENTRIES, twice, "site") == [f"{ENTRIES[1]}: <root>/** and <root>/a/*"]


#: Words with a special meaning in this project, except those that only concepts.md uses.
OURS = """
    bridge builder canary closure fabric fingerprint fleet lab lane lock manifest meanwhile mirror preflight profile
    proof proven receipt rollout stack staged survey switch unit unproven verdict verify wave wheelhouse
""".split()
#: The words in OURS on the first page, each with the text that explains it there.
EXPLAINED = {
    "lab": "`make lab-down` stops the simulated Spark",
    "proof": "a more exact calculation on the CPU, in float64 (the proof)",
    "proven": "if it is proven: no number that can be judged is wrong",
}


def test_readme_explains_each_special_word_that_it_uses() -> None:
    text = re.sub(r"```.*?```", "", (CHECKOUT / "README.md").read_text(), flags=re.S)
    page_words = set(re.findall(r"[a-z]+", re.sub(r"\]\([^)]*\)", "]", text).lower()))
    assert {word for word in OURS if {word, f"{word}s"} & page_words} == set(EXPLAINED)
    assert [word for word, explanation in EXPLAINED.items() if explanation not in " ".join(text.split())] == []


ROLE = CHECKOUT / "roles/stack"
#: The name of a stack, as opposed to that of a wheel or a wheel's directory.
STACK = re.compile(r"\b(?:torch|vllm|sglang)-\d+(?:\.\d+){2}\b(?![+-]|\.\w)")
#: Texts that users read or copy. Evidence and the changelog describe the past.
PAGES = ("*.md", "docs/*.md", "roles/*/README.md", "lab/*.md", "inventory/*.yml", "playbooks/*.yml", "awx/*.yml",
         "cli/**/*.py", "plugins/modules/*.py", "plugins/action/*.py")  # fmt: skip


def default_stack() -> str:
    return str(yaml.safe_load((ROLE / "defaults/main.yml").read_text())["stack_default"])


def test_every_stack_that_a_page_names_is_shipped() -> None:
    shipped = {path.stem for path in (ROLE / "vars").glob("*.yml")}
    named = {
        (str(path.relative_to(CHECKOUT)), name)
        for pattern in PAGES
        for path in CHECKOUT.glob(pattern)
        for name in STACK.findall(path.read_text())
    }
    assert len(named) > 20, "no page names stacks in this form any more"
    assert sorted((path, name) for path, name in named if name not in shipped) == []


def test_every_page_names_the_default_stack_of_the_role() -> None:
    """Only the role `stack` determines the default version."""
    default = default_stack()
    spec = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    assert spec["stack_default"]["default"] == default
    version = default.removeprefix("torch-")
    for page, sentence in {
        "README.md": f"the same PyTorch, {version}",
        "docs/reference.md": f"| `{default}` (default) |",
        "roles/stack/README.md": f"`{default}`, the default,",
    }.items():
        text = (CHECKOUT / page).read_text()
        assert sentence in text, page
        assert len(re.findall(r"\(default\)`?\s*\|\s*\d|, the default,", text)) <= 1, page
    # A copy of the inventory or of a job template must leave the default to the installed collection.
    assert not re.search(r"^\s*stack_name:", (CHECKOUT / "inventory/hosts.yml").read_text(), re.M)
    names = [
        question["default"]
        for template in yaml.safe_load((CHECKOUT / "awx/job_templates.yml").read_text())["controller_templates"]
        for question in template.get("survey_spec", {}).get("spec", ())
        if question["variable"] == "stack_name"
    ]
    assert names
    assert set(names) == {""}


def test_the_default_stack_is_the_newest_that_can_be_installed_and_built() -> None:
    def is_complete(name: str) -> bool:
        paths = load.search_paths([], str(ROLE))
        try:
            return all(facts.facts(name, method, "gb10", paths) for method in ("wheel", "build"))
        except SparkforgeError:
            return False

    def release(name: str) -> tuple[int, ...]:
        return tuple(int(part) for part in name.removeprefix("torch-").split("."))

    names = [path.stem for path in (ROLE / "vars").glob("torch-*.yml")]
    assert max((name for name in names if is_complete(name)), key=release) == default_stack()
