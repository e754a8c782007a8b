"""The lookup plan reads a host's variables, and the role's files if the play does not run the role."""

import typing as t

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.sparkforge.dgx_spark.plugins.lookup.plan import ROLES, LookupModule
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import Plan, wheelhouse
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

from tests.unit import composed_spark

HOST = {"ansible_facts": {"spark_info": {"apt": {"packages": {"nginx": "1"}}, "kernel": {"machine": "aarch64"}}}}
STACK = {"python": {"version": "3.12"}, "llvm_major": 18}


def plans(*roles: str, **variables: t.Any) -> list[dict[str, t.Any]]:
    loader, known = DataLoader(), {"inventory_hostname": "spark01", **HOST, **variables}
    return LookupModule(loader, Templar(loader, known)).run(list(roles), known)


def test_unset_variables_have_the_roles_defaults() -> None:
    (plan,) = plans("wheelhouse")
    assert plan["steps"]["site"]["url"] == "http://127.0.0.1:8629"


def test_variables_override_the_roles_defaults() -> None:
    (plan,) = plans("wheelhouse", wheelhouse_port=trust_as_template("{{ base + 29 }}"), base=8000)
    assert plan["steps"]["site"]["url"] == "http://127.0.0.1:8029"


def test_a_plan_is_computed_once_for_equal_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[str] = []
    monkeypatch.setattr(wheelhouse, "plan", lambda settings, _host: Plan({"port": settings["wheelhouse_port"]}))
    monkeypatch.setattr(Plan, "as_result", lambda self: ports.append(self.steps["port"]) or {"steps": self.steps})
    port = trust_as_template("{{ item }}")
    loader, known = DataLoader(), {**HOST, "wheelhouse_port": port, "item": 1}
    for item in (1, 1, 2, 2):
        known["item"] = item
        (plan,) = LookupModule(loader, Templar(loader, known)).run(["wheelhouse"], known)
        assert plan["steps"]["port"] == item
    LookupModule(loader, Templar(loader, {**known})).run(["wheelhouse"], {**known})
    assert ports == [1, 2, 2]


def test_a_roles_data_may_refer_to_variables_of_the_play() -> None:
    (plan,) = plans("build_toolchain", stack=STACK)
    assert {"python3.12-dev", "clang-18"} <= set(plan["steps"]["packages"])


def test_each_role_reads_only_its_own_variables() -> None:
    served, toolchain = plans("wheelhouse", "build_toolchain", stack=STACK, wheelhouse_port=0)
    assert "0 is not" in served["refused"] and toolchain["refused"] == ""


def test_variables_that_a_plan_does_not_read_are_not_templated() -> None:
    broken = trust_as_template("{{ undefined_variable }}")
    (plan,) = plans("wheelhouse", wheelhouse_state=broken, python_env_name=broken)
    assert plan["refused"] == ""


def test_an_error_in_a_plan_is_a_refusal() -> None:
    (plan,) = plans("build_toolchain", stack=STACK, build_toolchain_packages=["--force"])
    assert plan["steps"] == {} and "name a package" in plan["refused"]


def test_a_wrong_option_of_a_unit_is_refused_by_preflight_before_anything_is_installed() -> None:
    host = composed_spark.spark()
    paths = load.search_paths([], load.SHIPPED)
    variables = {
        "ansible_facts": {"spark_info": host},
        "__preflight_observation": {"spark_info": host},
        "stack": {**facts.facts("torch-2.14.1", "build", "gb10", paths)["stack"], "named": True},
        "ansible_check_mode": False,
        "sparkforge_accept_nvidia_license": True,
        "triton_unit": {"cmake_args": ["-DX=1"]},
        "pytorch_unit": {"memory_per_job": "much"},
    }
    (plan,) = plans("preflight", **variables)
    assert [row["check"] for row in plan["refusals"]] == ["triton_unit", "pytorch_unit"]
    assert "TRITON_APPEND_CMAKE_ARGS in triton_unit.environment" in plan["refusals"][0]["remedy"]
    # Missing libraries are installed later, and official wheels need no unit.
    (right,) = plans("preflight", **{**variables, "triton_unit": {}, "pytorch_unit": {"memory_per_job": 4096}})
    wheels = {**variables, "stack": {**variables["stack"], "method": "wheel"}}
    assert right["refused"] == plans("preflight", **wheels)[0]["refused"] == ""


def test_a_role_without_a_plan_and_a_host_that_was_not_observed_are_refused() -> None:
    with pytest.raises(AnsibleError, match=r"role stack has no plan\. .* bridge, build"):
        plans("stack")
    with pytest.raises(AnsibleError, match="was not observed"):
        plans("verify", ansible_facts={})
    assert "wheelhouse" in ROLES
