"""Compare awx/job_templates.yml with the playbooks and roles. No AWX runs here."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
ASSETS = yaml.safe_load((CHECKOUT / "awx/job_templates.yml").read_text())
SCHEMA = json.loads((CHECKOUT / "awx/schema.json").read_text())
TEMPLATES: dict[str, dict[str, Any]] = {template["name"]: template for template in ASSETS["controller_templates"]}
QUESTIONS = [
    pytest.param(template, question, id=f"{name}-{question['variable']}")
    for name, template in TEMPLATES.items()
    for question in template["survey_spec"]["spec"]
]
# For each type of question, the types in argument_specs that its answer can have.
FITTING = {
    "text": {"str", "path", "raw", "list"},
    "password": {"str"},
    "integer": {"int", "float", "raw"},
    "multiplechoice": {"str", "bool"},
}


def role_options() -> dict[str, dict[str, Any]]:
    """Return all documented variables of all roles."""
    names: dict[str, dict[str, Any]] = {}
    for path in sorted(CHECKOUT.glob("roles/*/meta/argument_specs.yml")):
        for entry in yaml.safe_load(path.read_text())["argument_specs"].values():
            names.update(entry.get("options", {}))
    return names


def playbook_variables(playbook: Path) -> set[str]:
    """Return the shared variables documented at the top of a playbook or of a playbook it imports."""
    text = playbook.read_text()
    names = set(re.findall(r"^#   ([a-z]+_[a-z_]+)   ", text, re.M))
    for name in re.findall(r"import_playbook:\s*(\S+)", text):
        names |= playbook_variables(playbook.parent / name)
    return names


def playbook_options() -> dict:
    """Return the playbooks' own options, by variable name."""
    specs = yaml.safe_load((CHECKOUT / "playbooks/meta/argument_specs.yml").read_text())["argument_specs"]
    return {name: option for spec in specs.values() for name, option in spec["options"].items()}


def test_the_assets_fit_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    errors = [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message}"
        for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(ASSETS)
    ]
    assert not errors


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "choice"}, {"type": "multiplechoice"}, {"type": "integer", "default": "0"},
        {"type": "text", "choices": ["a"]}, {"type": "text", "default": True},
    ],
)  # fmt: skip
def test_the_schema_refuses_a_question_that_awx_refuses(wrong: dict) -> None:
    question = {"question_name": "x", "variable": "x", "required": True, **wrong}
    validator = jsonschema.Draft202012Validator({**SCHEMA["$defs"]["question"], "$defs": SCHEMA["$defs"]})
    assert list(validator.iter_errors(question))


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_names_existing_things(name: str) -> None:
    template = TEMPLATES[name]
    assert (CHECKOUT / template["playbook"]).is_file()
    assert template["project"] in {project["name"] for project in ASSETS["controller_projects"]}
    assert template["execution_environment"] in {ee["name"] for ee in ASSETS["controller_execution_environments"]}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_run_is_one_job_and_its_hosts_are_chosen_at_launch(name: str) -> None:
    template = TEMPLATES[name]
    # Slices are separate runs: each would have its own canary and builder.
    assert template["job_slice_count"] == 1
    assert template["ask_limit_on_launch"]
    changes = name in ("sparkforge-site", "sparkforge-rollback")
    assert template["allow_simultaneous"] is not changes


@pytest.mark.parametrize(("template", "question"), QUESTIONS)
def test_question_sets_a_documented_variable(template: dict, question: dict) -> None:
    variable = question["variable"]
    option = {**role_options(), **playbook_options()}.get(variable)
    if option is None:
        assert variable in playbook_variables(CHECKOUT / template["playbook"])
        return
    assert option["type"] in FITTING[question["type"]]
    if option["type"] == "bool":
        assert set(question["choices"]) == {"true", "false"}
    elif "choices" in option:
        assert set(question["choices"]) == set(option["choices"])
    # AWX's defaults equal the collection's.
    default = option.get("default", "")
    assert str(question["default"]).lower() == str(default).lower()


@pytest.mark.parametrize(("template", "question"), QUESTIONS)
def test_secret_is_asked_for_with_a_password_question(template: dict, question: dict) -> None:
    option = role_options().get(question["variable"], {})
    assert (question["type"] == "password") == bool(option.get("no_log"))
    if question["type"] == "password":
        assert question["default"] == ""


def test_the_waves_of_the_survey_are_those_of_the_collection() -> None:
    from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.rollout import DEFAULT, waves

    answers = {question["variable"]: question for question in TEMPLATES["sparkforge-site"]["survey_spec"]["spec"]}
    hosts = [f"spark{number}" for number in range(16)]
    assert waves(hosts, answers["sparkforge_waves"]["default"]) == waves(hosts, list(DEFAULT)) == [1, 4, 11]


def test_profiles_of_the_survey_are_those_that_are_shipped() -> None:
    (profiles,) = yaml.safe_load((CHECKOUT / "roles/stack/vars/profiles.yml").read_text()).values()
    answers = {question["variable"]: question for question in TEMPLATES["sparkforge-site"]["survey_spec"]["spec"]}
    assert set(answers["stack_profile"]["choices"]) == set(profiles)
