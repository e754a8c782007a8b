"""The units in the shipped stacks whose failure does not stop a build."""

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import source_unit
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

SPARK = {"kernel": {"machine": "aarch64"}}


def dispensable_units(name: str = "torch-2.14.1", **settings: t.Any) -> dict[str, str]:
    stack = facts.facts(name, "build", "gb10", load.search_paths([], load.SHIPPED))["stack"]
    steps = source_unit.plan({"stack": stack, "source_unit_strict": False, **settings}, SPARK).steps
    return t.cast("dict[str, str]", steps.get("dispensable") or {})


def test_only_pytorch_of_the_default_stack_must_compile() -> None:
    units = dispensable_units()
    assert set(units) == {"llvm", "triton", "compute_library", "torchvision", "torchaudio", "flash_attention"}
    assert "official wheel" in units["torchvision"]


def test_triton_and_extensions_must_compile_without_official_wheels() -> None:
    assert set(dispensable_units("torch-2.9.1")) == {"flash_attention"}


@pytest.mark.parametrize(
    ("settings", "required"),
    [
        ({"triton_unit": {"source": {"archive": "/srv/triton.tar.gz"}}}, {"triton"}),
        ({"triton_llvm_override": {"repo": "/srv/llvm", "version": "x"}}, {"llvm"}),
        ({"torch_extensions": [{"name": "torchvision"}, {"name": "mine"}]}, {"torchvision", "mine"}),
    ],
)
def test_units_that_the_user_changed_must_compile(settings: dict[str, t.Any], required: set[str]) -> None:
    assert not required & set(dispensable_units(**settings))


def test_every_unit_must_compile_if_strict() -> None:
    assert dispensable_units(source_unit_strict="true") == {}
