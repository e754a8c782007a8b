"""The lookup variable_errors finds invalid and misspelt variables."""

import re
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.sparkforge.dgx_spark.plugins.lookup.variable_errors import LookupModule, misspelt, options

ROLES = Path(__file__).parents[4] / "roles"
PLAYBOOKS = ROLES.parent / "playbooks"
SPECS = yaml.safe_load((PLAYBOOKS / "meta/argument_specs.yml").read_text())["argument_specs"]


def errors(*playbooks: str, **variables: t.Any) -> list[str]:
    loader = DataLoader()
    return LookupModule(loader, Templar(loader, variables)).run(list(playbooks), variables)


def test_every_roles_options_are_known() -> None:
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        assert set(yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]) <= set(options()), path


def test_valid_and_foreign_variables_are_no_error() -> None:
    assert errors(python_env_keep="3", sparkforge_gpu_required="false", stack_name="torch-2.9.1", other={}) == []


def test_each_wrong_variable_is_one_error_with_its_name() -> None:
    wrong = errors(python_env_keep="many", math_libraries_archives=["nvpl"], verify_require="green", stack_name="lab")
    assert len(wrong) == 3
    for name in ("python_env_keep", "math_libraries_archives", "verify_require"):
        assert [name in error for error in wrong].count(True) == 1


def test_a_variable_is_judged_by_its_templated_value() -> None:
    template = trust_as_template("{{ count }}")
    assert errors(python_env_keep=template, count=2) == []
    assert "python_env_keep" in errors(python_env_keep=template, count="two")[0]


def test_a_reference_to_a_roles_default_is_not_judged() -> None:
    disk = [{"path": trust_as_template("{{ sparkforge_root }}"), "gib": 1, "purpose": "an environment"}]
    assert errors(preflight_disk_minimum=disk) == []
    assert len(errors(preflight_disk_minimum=disk, python_env_keep="many")) == 1


def test_a_variable_without_a_value_is_an_error_unless_null_is_its_default() -> None:
    empty = errors(sparkforge_accept_nvidia_license=None, stack_name=None, python_env_imports=None)
    names = ["sparkforge_accept_nvidia_license", "stack_name"]
    assert [error.partition(" has no value")[0] for error in empty] == names


def test_a_misspelt_variable_is_an_error() -> None:
    assert "did you mean stack_method?" in errors(stack_methd="wheel")[0]
    (licence,) = errors(sparkforge_accept_nvidia_licence=True)
    assert licence.endswith("mean sparkforge_accept_nvidia_license?")


def test_no_variable_of_playbooks_and_roles_counts_as_misspelt() -> None:
    paths = [*PLAYBOOKS.glob("**/*.yml"), *ROLES.glob("*/tasks/*.yml"), *ROLES.glob("*/vars/*.yml")]
    names = {name for path in paths for name in re.findall(r"\b[a-z]+_[a-z0-9_]+\b", path.read_text())}
    # stack_profiles is a key in a data file, not a variable; sparkforge_wave is set after the validation.
    assert list(misspelt(dict.fromkeys(names - {"stack_profiles", "sparkforge_wave"}), options())) == []


def test_variables_of_a_playbook_are_checked_by_its_name() -> None:
    assert errors("mirror", mirror_directory="/srv/mirror", mirror_machines=["aarch64"], python_env_keep="many") == []
    assert errors("mirror")[0].startswith("mirror_directory is required: ")
    (wrong,) = errors("status", status_format="xml")
    assert wrong == "value of status_format must be one of: table, json, got: xml"
    assert errors("report", report_require=None)[0].startswith("report_require has no")
    (close,) = errors("rollback", rollback_enviroment_id="1a2b")
    assert close.endswith("mean rollback_environment_id?")


def test_variables_of_site_are_checked_like_those_of_roles() -> None:
    assert errors(sparkforge_waves=[1, "25%", "rest"], sparkforge_max_fail_percentage=5) == []
    waves, percentage = errors(sparkforge_wave=[1, "rest"], sparkforge_max_fail_precentage=5)
    assert "mean sparkforge_waves?" in waves and "mean sparkforge_max_fail_percentage?" in percentage


@pytest.mark.parametrize("playbook", sorted({*SPECS} - {"site"}))
def test_a_playbook_reads_each_documented_variable_and_validates_first(playbook: str) -> None:
    plays = yaml.safe_load((PLAYBOOKS / f"{playbook}.yml").read_text())
    first = next(play["tasks"] for play in plays if "tasks" in play)[0]
    assert first["ansible.builtin.import_tasks"] == "tasks/variables.yml"
    assert first["vars"] == {"__variables_of": playbook}
    text = (PLAYBOOKS / f"{playbook}.yml").read_text()
    assert [name for name in SPECS[playbook]["options"] if not re.search(rf"\b{name}\b", text)] == []


def test_variables_with_a_default_in_a_playbook_are_documented() -> None:
    text = "".join(path.read_text() for path in PLAYBOOKS.glob("**/*.yml"))
    assigned = set(re.findall(r"^ +(?:register: )?(\w+)(?=:|$)", text, re.MULTILINE))
    for path in PLAYBOOKS.glob("*.yml"):
        with_default = set(re.findall(rf"(?<![.\w])({path.stem}_[a-z_]+) \| default\(", path.read_text()))
        documented = set((SPECS.get(path.stem) or {"options": {}})["options"])
        assert with_default - assigned - documented - set(options()) == set(), path
