"""The pages agree on figures, defaults, the inventory and the method, and README answers ten questions."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

CHECKOUT = Path(__file__).parents[2]
#: All pages except evidence and the changelog, which describe the past.
PAGES = {
    str(path.relative_to(CHECKOUT)): path.read_text()
    for pattern in ("*.md", "docs/*.md", "roles/*/README.md", "lab/*.md", "guard/README.md", "proof/README.md")
    for path in sorted(CHECKOUT.glob(pattern))
}
FIGURES: dict[str, dict[str, Any]] = yaml.safe_load((CHECKOUT / "docs/figures.yml").read_text())
INVENTORY = "~/.config/sparkforge/hosts.yml"
BLOCK = re.compile(r"```bash\n(.*?)```", re.S)


def load(name: str) -> Any:
    return yaml.safe_load((CHECKOUT / name).read_text())


def commands(text: str) -> list[str]:
    """Return the commands in a page's code blocks."""
    blocks = "\n".join(BLOCK.findall(text)).replace("\\\n", " ")
    return [line.partition(" #")[0].strip() for line in blocks.splitlines()]


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_the_same_on_every_page(name: str) -> None:
    figure = FIGURES[name]
    stated = {
        page: {next(filter(None, match.groups())) for match in re.finditer(figure["near"], " ".join(text.split()))}
        for page, text in PAGES.items()
    }
    assert {page: values for page, values in stated.items() if values - {figure["value"]}} == {}
    assert [page for page in figure["pages"] if not stated[page]] == []


@pytest.mark.parametrize(("method", "libraries", "name"), [("wheel", "auto", "wheels"), ("build", "all", "a_build")])
def test_disk_space_in_the_pages_is_that_of_preflight(method: str, libraries: str, name: str) -> None:
    rows = load("roles/preflight/defaults/main.yml")["preflight_disk_minimum"]
    templar = Templar(DataLoader(), variables={"stack": {"method": method, "libraries": libraries}})
    sizes = [int(templar.template(trust_as_template(str(row["gib"])))) for row in rows]
    assert FIGURES[f"disk_for_{name}"]["value"] == f"{sum(sizes)} GiB"


def test_number_of_rules_is_that_of_the_ledger() -> None:
    rules = [path for path in (CHECKOUT / "roles/forecast/files/ledger").glob("*.yml") if path.stem != "ledger"]
    assert FIGURES["rules_of_the_forecast"]["value"] == f"{len(rules)} rules"


def test_defaults_in_the_tables_are_those_of_the_roles() -> None:
    defaults = {
        name: value
        for path in CHECKOUT.glob("roles/*/defaults/main.yml")
        for name, value in load(str(path.relative_to(CHECKOUT))).items()
    }
    compared, different = 0, []
    for page, text in PAGES.items():
        for names, cell in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ((?:`[^`]*`(?:, )?)+) \|", text, re.M):
            stated = re.findall(r"`([^`]*)`", cell)
            for name, literal in zip(re.findall(r"`(\w+)`", names), stated, strict=False):
                if name not in defaults or "{{" in str(defaults[name]) or re.search("[<{/]|^[a-z]+_", literal):
                    continue
                compared += 1
                value = yaml.safe_load(literal)
                if value != defaults[name] and str(value or "") != str(defaults[name] or ""):
                    different.append((page, name, literal, defaults[name]))
    assert different == []
    assert compared > 60, "the tables have another form"


def test_every_ansible_command_names_the_default_inventory() -> None:
    for page, text in PAGES.items():
        if page.startswith("lab/"):
            continue
        for line in commands(text):
            assert "spark01" not in line, f"{page}: {line}"
            if re.match(r"(\.venv/bin/)?ansible-playbook ", line):
                assert f"-i {INVENTORY}" in line or "-i localhost," in line, f"{page}: {line}"
                assert " -K" not in line or "-c local" in line, f"{page}: who logs in by password needs -kK: {line}"


#: Pages for developers and large fleets, and lists of playbooks and error messages.
EXEMPT = ("CONTRIBUTING.md", "docs/playbooks.md", "docs/scale.md", "docs/troubleshooting.md")


def test_every_run_of_the_site_names_wheels_or_a_build() -> None:
    runs = 0
    for page, text in PAGES.items():
        for match in re.finditer(r"(?:playbook|_spark)[^\n`]*site(?:\.yml)?[^\n]*", text):
            if "--tags verify" in match[0] or page in EXEMPT:
                continue
            runs += 1
            around = text[max(0, match.start() - 700) : match.end() + 700]
            assert re.search(r"wheel|from source|stack_method", around), f"{page}: {match[0]}"
    assert runs >= 6, "no page runs the site in this form any more"


def test_reference_lists_every_module() -> None:
    table = PAGES["docs/reference.md"].partition("| modules | for |")[2].partition("\n\n")[0]
    listed = re.findall(r"`(\w+)`", table)
    assert sorted(listed) == sorted(path.stem for path in (CHECKOUT / "plugins/modules").glob("*.py"))


README = PAGES["README.md"]
#: A terminal with 40 lines and 120 columns.
SCREEN, COLUMNS = 40, 120
#: An outside reader's questions, and the text in README that answers each.
QUESTIONS = {
    "what is it": "sparkforge sets up NVIDIA DGX Sparks for PyTorch, over ssh",
    "why": "have computed wrong attention without any error message",
    "for whom": "It is for owners of a DGX Spark",
    "first command": "```bash make spark ```",
    "how long": "4.3 min at 100 Mbit/s, an estimate",
    "what it changes": "a new directory under `/opt/sparkforge`",
    "how to undo it": "delete the clone, `~/.config/sparkforge` and `~/.cache/sparkforge`",
    "what it does not do": "It does not update firmware or the system",
    "how sure": "sparkforge has not been run on one",
    "where to ask": "ask whoever gave you this copy, also with questions",
}


def screen_lines(text: str) -> list[str]:
    """Return the lines that a terminal would show."""
    return [row for line in text.splitlines() for row in textwrap.wrap(line, COLUMNS) or [""]]


def single_line(text: str) -> str:
    return " ".join(text.split())


def test_readme_has_the_estimate_of_the_evidence() -> None:
    evidence = (CHECKOUT / "docs/evidence/first-run.md").read_text()
    (share,) = re.findall(r"official wheels: `proven` and current \|.*\*\*0\.(\d\d)\*\*", evidence)
    assert f"that {share} of 100 first runs with wheels would succeed" in single_line(README)


@pytest.mark.parametrize("question", QUESTIONS)
def test_readme_answers_a_question_within_one_screen(question: str) -> None:
    """Each answer is in a section of at most one screen, with a heading to which a reader can jump."""
    parts = re.split(r"^(?=## )", README, flags=re.M)
    answers = [part for part in parts if single_line(QUESTIONS[question]) in single_line(part)]
    if question == "where to ask" and not answers:
        answers = [part for part in parts if "Questions: <" in part]
    assert len(answers) == 1
    assert len(screen_lines(answers[0])) <= SCREEN


def test_first_screen_of_readme_has_the_reason_the_limits_and_the_command() -> None:
    first = screen_lines(README)[:SCREEN]
    assert "wrong attention" in README.splitlines()[1], "the reason is in line 2"
    for answer in ("No Spark yet", "make spark", "![The report", "docs/status.md"):
        assert any(answer in line for line in first), answer


def test_readme_is_short_and_names_what_is_supported() -> None:
    assert len(README) <= 5000
    for text in ("sparkrun", "NVIDIA's playbooks", "DGX OS 7", "ansible-core 2.19", "not stored", "18 GiB", "3.2 GB"):
        assert text in single_line(README).replace("**", ""), text
