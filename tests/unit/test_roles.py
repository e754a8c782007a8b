"""Each role has a README, and its defaults and argument_specs agree."""

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import required_checks

ROLES = sorted(path for path in (Path(__file__).parents[2] / "roles").iterdir() if path.is_dir())
PYTHON_TYPES = {
    "str": str, "path": str, "int": int, "bool": bool, "list": list, "dict": dict, "float": (float, int), "raw": object,
}  # fmt: skip

each_role = pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)


@functools.cache
def load(path: Path) -> dict:
    return yaml.safe_load(path.read_text()) or {}


def options(role: Path) -> dict:
    return load(role / "meta/argument_specs.yml")["argument_specs"]["main"]["options"]


def defaults(role: Path) -> dict:
    path = role / "defaults/main.yml"
    return load(path) if path.exists() else {}


def is_expression(value: object) -> bool:
    return isinstance(value, str) and "{{" in value


def stays_text(option: dict) -> bool:
    """Tell whether argument_specs may have an expression as the option's default."""
    return option["type"] in ("str", "path") or (option["type"] == "list" and option.get("elements") != "dict")


@each_role
def test_defaults_match_their_documentation(role: Path):
    documented = {name: option["default"] for name, option in options(role).items() if "default" in option}
    # argument_specs has no default for null, which stands for a value that the role determines, or for an expression
    # that yields a dict, a bool or a number, which antsibull-docs refuses; the description states those.
    set_values = {
        name: value
        for name, value in defaults(role).items()
        if value is not None and not (is_expression(value) and not stays_text(options(role)[name]))
    }
    assert documented == set_values
    assert set(defaults(role)) <= set(options(role))


@each_role
def test_an_option_without_a_default_is_described(role: Path):
    for name, option in options(role).items():
        assert option.get("description"), f"{name} has no description"
        assert option.get("type"), f"{name} has no type"


@each_role
def test_defaults_have_the_documented_type(role: Path):
    for name, value in defaults(role).items():
        kind = options(role)[name]["type"]
        if value is None or is_expression(value):
            continue
        assert isinstance(value, PYTHON_TYPES[kind]), f"{name}: {value!r} is not a {kind}"


@each_role
def test_public_variables_have_the_role_name_as_prefix_or_are_shared(role: Path):
    for name in options(role):
        assert name.startswith((f"{role.name}_", "sparkforge_")) or name in ("stack", role.name), name


@each_role
def test_a_shared_variable_has_the_same_default_in_every_role(role: Path):
    for other in ROLES:
        mine, theirs = defaults(role), defaults(other)
        for name in set(mine) & set(theirs):
            if name.startswith("sparkforge_"):
                assert mine[name] == theirs[name], f"{name} differs between {role.name} and {other.name}"


def texts_that_read_variables() -> dict[Path, str]:
    """Return the texts that may read a variable: YAML without comments, templates, and strings in Python code."""
    texts = {}
    for folder in ("roles", "playbooks", "plugins", "tools", "cli"):
        for path in sorted((ROLES[0].parents[1] / folder).rglob("*")):
            if path.is_file() and path.suffix in (".yml", ".j2", ".py") and path.parent.name != "meta":
                text = path.read_text()
                texts[path] = code_strings(text) if path.suffix == ".py" else COMMENT.sub("", text)
    return texts


COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)


def code_strings(source: str) -> str:
    """Return the string constants in Python code, one per line, except docstrings and plugin documentation."""
    tree = ast.parse(source)
    documentation = {statement.value for statement in ast.walk(tree) if isinstance(statement, ast.Expr)} | {
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id in ("DOCUMENTATION", "EXAMPLES", "RETURN")
    }
    return "\n".join(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation
    )


def unread_options(role: Path, texts: dict[Path, str]) -> list[str]:
    """Return the role's options whose names occur only in the line that sets the default."""
    unread = []
    for name in options(role):
        default = re.compile(rf"^{name}:", re.MULTILINE)
        naming = {path: text for path, text in texts.items() if name in text}
        own = role / "defaults/main.yml"
        others = (default.sub("", text) if path == own else text for path, text in naming.items())
        if not any(re.search(rf"\b{name}\b", text) for text in others):
            unread.append(name)
    return unread


def test_every_variable_of_a_role_is_read():
    texts = texts_that_read_variables()
    unread = {role.name: unread_options(role, texts) for role in ROLES}
    assert {name: names for name, names in unread.items() if names} == {}


def test_variable_that_only_its_default_and_documentation_name_is_unread():
    role = next(path for path in ROLES if path.name == "triton")
    first, second, *others = options(role)
    texts = {role / "defaults/main.yml": "\n".join(f"{name}: 1" for name in options(role))}
    texts[role / "plan.py"] = code_strings(f'"""Reads {second}."""\nDOCUMENTATION = "{second}"\nname = "{first}"\n')
    assert unread_options(role, texts) == [second, *others]


@each_role
def test_a_role_has_a_readme(role: Path):
    assert len((role / "README.md").read_text()) > 300


def test_readme_lists_the_required_checks_of_gb10():
    text = required_checks.README.read_text()
    assert required_checks.written(text) == text, "run python -m tests.required_checks"


@each_role
def test_no_role_mentions_the_lab(role: Path):
    for path in role.rglob("*"):
        if path.is_file() and path.suffix != ".md":
            text = path.read_text(errors="replace").lower().replace("-", " ")
            assert "lab" not in text.split(), f"{path} mentions the lab"


#: Expressions in tasks that yield a password or a private key. Modules hide their own secret options.
SECRETS = (
    "{{ wheelhouse_password }}",
    "__wheelhouse_plan.steps.tls ~",
    "__wheelhouse_hashed.stdout",
    "__network_access_plan.steps.write",
)


def tasks_of(rows: list[dict]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield {key: value for key, value in row.items() if key not in ("block", "rescue", "always")}
        for part in ("block", "rescue", "always"):
            yield from tasks_of(row.get(part) or [])


def test_tasks_with_secrets_have_no_log():
    tasks = {}
    for path in (path for role in ROLES for path in sorted(role.glob("tasks/*.yml"))):
        for task in tasks_of(yaml.safe_load(path.read_text()) or []):
            # The module hides these.
            files = task.get("sparkforge.dgx_spark.root_files", {}).get("files")
            rows = [row for row in files if isinstance(row, dict)] if isinstance(files, list) else []
            hidden = json.dumps([row.pop("secret", "") for row in rows])
            for secret in SECRETS:
                if secret in json.dumps(task):
                    assert task.get("no_log") is True, (path, task.get("name"))
                    tasks[secret] = task.get("name")
                elif secret in hidden:
                    tasks[secret] = task.get("name")
    assert set(tasks) == set(SECRETS)


#: Actions that put a file into the connecting account's directory, where root would open it.
TRANSFERRING = ("copy", "template", "unarchive", "assemble", "script", "patch")


def test_no_task_transfers_a_file_for_root():
    playbooks = sorted((ROLES[0].parents[1] / "playbooks").glob("**/*.yml"))
    kept_apart = set()
    for path in [*playbooks, *(path for role in ROLES for path in sorted(role.glob("*/*.yml")))]:
        rows = yaml.safe_load(path.read_text())
        plays = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        for play in plays:
            parts = [play.get(part) or [] for part in ("pre_tasks", "tasks", "post_tasks", "handlers")]
            for task in tasks_of([play, *(task for part in parts for task in part)]):
                names = {key.rpartition(".")[2] for key in task}
                if names & {*TRANSFERRING, "async"}:
                    assert task.get("become", play.get("become")) is False, (path, task.get("name"))
                    kept_apart.add(path.name)
    assert kept_apart == {"record.yml"}


def test_included_task_files_of_roles_exist():
    playbooks = sorted((ROLES[0].parents[1] / "playbooks").glob("**/tasks/*.yml"))
    named = set()
    for path in [*playbooks, *(path for role in ROLES for path in sorted(role.glob("tasks/*.yml")))]:
        for task in tasks_of(yaml.safe_load(path.read_text()) or []):
            included = task.get("ansible.builtin.include_role", {})
            if "tasks_from" in included:
                named.add(
                    f"{included['name'].removeprefix('sparkforge.dgx_spark.')}/tasks/{included['tasks_from']}.yml"
                )
    assert "wheelhouse/tasks/observe.yml" in named
    assert [name for name in sorted(named) if not (ROLES[0].parent / name).is_file()] == []
