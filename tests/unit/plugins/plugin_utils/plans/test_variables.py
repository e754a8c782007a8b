"""Invalid variables, for which every playbook checks."""

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import variables


def faults(method: str = "wheel", **settings: t.Any) -> list[dict[str, str]]:
    return variables.faults({"stack": {"method": method}, "sparkforge_root": "/opt/sparkforge", **settings})


@pytest.mark.parametrize(
    ("settings", "cause", "remedy"),
    [
        ({"sparkforge_root": "opt/sparkforge"}, "sparkforge_root is 'opt/sparkforge'.", "an absolute path"),
        ({"sparkforge_root": "~/sparkforge"}, "sparkforge_root is '~/sparkforge'.", "an absolute path"),
        ({"sparkforge_root": "/data/my sparks"}, "sparkforge_root is '/data/my sparks'.", "an absolute path"),
        ({"sparkforge_root": "/"}, "sparkforge_root is '/'.", "an absolute path"),
        ({"sparkforge_root": "/opt/../etc"}, "sparkforge_root is '/opt/../etc'.", "an absolute path"),
        ({"sparkforge_user": "spark forge"}, "sparkforge_user is 'spark forge'.", "such as sparkforge"),
        ({"verify_user": ""}, "verify_user is ''.", "such as nobody"),
        ({"method": "build", "sparkforge_user": "root"}, "sparkforge_user is root", "unprivileged account"),
        ({"sparkforge_proxies": {"http": "proxy.example:3128"}}, "sparkforge_proxies.http does not begin", "http://"),
        ({"sparkforge_ca_certificate": "/nowhere/ca.pem"}, "/nowhere/ca.pem cannot be read", "on the controller"),
    ],
)
def test_each_faulty_variable_is_reported_with_its_remedy(settings: dict[str, t.Any], cause: str, remedy: str) -> None:
    (fault,) = faults(**settings)
    assert cause in fault["cause"] and remedy in fault["remedy"]


def test_valid_variables_have_no_fault() -> None:
    assert faults() == []
    settings = {"sparkforge_root": "/data/spark.forge_1/", "sparkforge_user": "ann-b", "verify_user": "_apt"}
    assert faults(method="build", **settings) == []
    # Official wheels do not compile anything, so root may own the environment.
    assert faults(sparkforge_user="root") == []


def test_all_faulty_variables_are_reported_at_once() -> None:
    assert len(faults(sparkforge_root="x", sparkforge_user="", sparkforge_proxies={"http": "y"})) == 3
