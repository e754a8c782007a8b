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


def test_every_role_s_options_are_known() -> None:
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        assert set(yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]) <= set(options()), path


def test_what_the_roles_take_is_no_error_and_what_they_do_not_know_neither() -> None:
    assert errors(python_env_keep="3", sparkforge_gpu_required="false", stack_name="torch-2.9.1", other={}) == []


def test_each_wrong_variable_is_one_error_that_names_it() -> None:
    found = errors(python_env_keep="many", math_libraries_archives=["nvpl"], verify_require="green", stack_name="lab")
    assert len(found) == 3
    for name in ("python_env_keep", "math_libraries_archives", "verify_require"):
        assert [name in error for error in found].count(True) == 1


@pytest.mark.parametrize("playbooks", [(), ("forecast",)])
def test_a_variable_of_the_former_update_names_the_new_way(playbooks: tuple[str, ...]) -> None:
    assert errors(*playbooks, update_ledger="x", update_kernel="once") == [
        "update_ledger is no longer a variable: call it forecast_ledger",
        "update_kernel is no longer a variable: remove it; forecast.yml forecasts the upgrade, which NVIDIA's own "
        "updaters make",
    ]


def test_a_variable_is_judged_by_what_its_template_becomes() -> None:
    template = trust_as_template("{{ wanted }}")
    assert errors(python_env_keep=template, wanted=2) == []
    assert "python_env_keep" in errors(python_env_keep=template, wanted="two")[0]


def test_what_refers_to_the_default_of_a_role_is_left_to_that_role() -> None:
    disk = [{"path": trust_as_template("{{ sparkforge_root }}"), "gib": 1, "purpose": "an environment"}]
    assert errors(preflight_disk_minimum=disk) == []
    assert len(errors(preflight_disk_minimum=disk, python_env_keep="many")) == 1


def test_a_variable_without_a_value_is_an_error_where_nothing_is_not_its_default() -> None:
    found = errors(sparkforge_accept_nvidia_license=None, stack_name=None, python_env_imports=None)
    assert found == [
        "sparkforge_accept_nvidia_license has no value: give it one, or remove the line",
        "stack_name has no value: give it one, or remove the line",
    ]


def test_a_name_with_a_letter_too_few_or_of_another_english_is_an_error() -> None:
    assert errors(stack_methd="wheel") == ["stack_methd is no variable of this collection: stack_method is"]
    (licence,) = errors(sparkforge_accept_nvidia_licence=True)
    assert licence.endswith("sparkforge_accept_nvidia_license is")


def test_no_variable_of_the_playbooks_and_of_ansible_is_taken_for_a_misspelt_one() -> None:
    words = {
        word
        for path in [
            *ROLES.parent.glob("playbooks/**/*.yml"),
            *ROLES.glob("*/tasks/*.yml"),
            *ROLES.glob("*/vars/*.yml"),
        ]
        for word in re.findall(r"\b[a-z]+_[a-z0-9_]+\b", path.read_text())
    }
    # The data of the stacks' profiles, which no play has among its variables, and what is counted after the validation.
    assert list(misspelt(dict.fromkeys(words - {"stack_profiles", "sparkforge_wave"}), options())) == []


def test_a_playbook_s_own_variables_are_compared_by_its_name() -> None:
    assert errors("mirror", mirror_directory="/srv/mirror", mirror_machines=["aarch64"], python_env_keep="many") == []
    assert errors("mirror") == ["mirror_directory is required: The target directory; several stacks may share it"]
    (wrong,) = errors("status", status_format="xml")
    assert wrong == "value of status_format must be one of: table, json, got: xml"
    assert errors("report", report_require=None) == ["report_require has no value: give it one, or remove the line"]
    (close,) = errors("rollback", rollback_enviroment_id="1a2b")
    assert close.endswith("rollback_environment_id is")


def test_what_site_takes_is_compared_with_what_the_roles_take() -> None:
    assert errors(sparkforge_waves=[1, "25%", "rest"], sparkforge_max_fail_percentage=5) == []
    found = errors(sparkforge_wave=[1, "rest"], sparkforge_max_fail_precentage=5)
    assert [error.rpartition(": ")[2] for error in found] == [
        "sparkforge_waves is",
        "sparkforge_max_fail_percentage is",
    ]


@pytest.mark.parametrize("playbook", sorted({*SPECS} - {"site"}))
def test_a_playbook_reads_each_variable_that_it_says_it_takes_and_validates_it_first(playbook: str) -> None:
    plays = yaml.safe_load((PLAYBOOKS / f"{playbook}.yml").read_text())
    first = next(play["tasks"] for play in plays if "tasks" in play)[0]
    assert first["ansible.builtin.import_tasks"] == "tasks/variables.yml"
    assert first["vars"] == {"__variables_of": playbook}
    text = (PLAYBOOKS / f"{playbook}.yml").read_text()
    assert [name for name in SPECS[playbook]["options"] if not re.search(rf"\b{name}\b", text)] == []


def test_what_a_playbook_gives_a_default_is_said_to_be_a_variable() -> None:
    of_roles = set(options())
    everything = "".join(path.read_text() for path in PLAYBOOKS.glob("**/*.yml"))
    made = set(re.findall(r"^ +(?:register: )?(\w+)(?=:|$)", everything, re.MULTILINE))
    for path in PLAYBOOKS.glob("*.yml"):
        taken = set(re.findall(rf"(?<![.\w])({path.stem}_[a-z_]+) \| default\(", path.read_text()))
        own = set((SPECS.get(path.stem) or {"options": {}})["options"])
        assert taken - made - own - of_roles == set(), path


def test_a_variable_of_a_former_version_is_an_error_with_a_remedy() -> None:
    (found,) = errors(llvm_follow=False, stack_name="lab")
    assert found.startswith("llvm_follow is no longer a variable: remove it")
    (found,) = errors(cusparselt_local_repo_key_fingerprint="AB" * 20)
    assert found.endswith("is no longer a variable: set cusparselt_local_repo_sha256, which alone proves the .deb")
    assert errors("lock", llvm_follow=False) == []
    (found,) = errors("mirror", mirror_directory="/srv/mirror", mirror_apt_snapshot="spark.tar")
    assert found.startswith("mirror_apt_snapshot is no longer a variable: mirror apt repositories with aptly")
    (found,) = errors(sparkforge_wheelhouse_manifest_sha256="0" * 64, stack_name="lab")
    assert "is no longer a variable: set sparkforge_wheelhouse_signers" in found
