"""Without which units of the shipped stacks a build goes on."""

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import source_unit
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

SPARK = {"kernel": {"machine": "aarch64"}}


def dispensable(name: str = "torch-2.14.1", **settings: t.Any) -> dict[str, str]:
    stack = facts.facts(name, "build", "gb10", load.search_paths([], load.SHIPPED))["stack"]
    made = source_unit.plan({"stack": stack, "source_unit_strict": False, **settings}, SPARK)
    return t.cast("dict[str, str]", made.steps.get("dispensable") or {})


def test_of_the_default_stack_pytorch_alone_must_compile() -> None:
    found = dispensable()
    assert set(found) == {"llvm", "triton", "compute_library", "torchvision", "torchaudio", "flash_attention"}
    assert found["torchvision"] == "environments get its official wheel"


def test_without_official_wheels_triton_and_the_extensions_must_too() -> None:
    assert set(dispensable("torch-2.9.1")) == {"flash_attention"}


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"triton_unit": {"source": {"archive": "/srv/triton.tar.gz"}}}, {"triton"}),
        ({"triton_llvm_override": {"repo": "/srv/llvm", "version": "x"}}, {"llvm"}),
        ({"torch_extensions": [{"name": "torchvision"}, {"name": "mine"}]}, {"torchvision", "mine"}),
    ],
)
def test_what_a_person_changed_is_wanted_as_it_is(settings: dict[str, t.Any], wanted: set[str]) -> None:
    assert not wanted & set(dispensable(**settings))


def test_strict_wants_everything() -> None:
    assert dispensable(source_unit_strict="true") == {}
