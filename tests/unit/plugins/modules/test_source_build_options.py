"""The options of a unit are one list: the fields of Unit, and their two descriptions agree with them."""

import dataclasses
import typing as t

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model
from ansible_collections.sparkforge.dgx_spark.plugins.modules import source_build
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import units

UNIT = schema.document("stack")["definitions"]["unit"]["properties"]
#: What a stack says of a unit beside its options.
OF_THE_STACK = {"optional", "requires"}
JSON = {"str": "string", "int": "integer", "bool": "boolean", "list": "array", "dict": "object"}


def described(options: t.Mapping[str, t.Any], inner: str) -> dict[str, t.Any]:
    """Return what a specification and a documentation must agree on."""
    return {
        name: {
            "type": option["type"],
            "required": option.get("required", False),
            "default": option.get("default"),
            "choices": option.get("choices"),
            "elements": option.get("elements"),
            "options": described(option.get(inner, {}), inner),
        }
        for name, option in options.items()
    }


def test_the_module_documents_every_option_as_it_takes_it() -> None:
    documented = yaml.safe_load(source_build.DOCUMENTATION)["options"]
    spec = model.argument_spec()
    assert {field.name for field in dataclasses.fields(model.Unit)} == set(spec)
    assert described(spec, "options") == described({name: documented[name] for name in spec}, "suboptions")


def test_a_stack_s_unit_has_every_option_that_a_user_s_layer_may_have() -> None:
    assert set(UNIT) - OF_THE_STACK == {*units.MERGED, *units.ADDED, *units.REPLACED}


@pytest.mark.parametrize("name", sorted(set(UNIT) - OF_THE_STACK))
def test_the_stack_s_schema_takes_the_types_of_the_options(name: str) -> None:
    spec, written = model.argument_spec()[name], UNIT[name]
    if name == "source":
        assert written["allOf"], "a stack names one of its sources, which has the keys of the option"
    elif "choices" in spec:
        assert written["enum"] == spec["choices"]
    else:
        assert written["type"] == JSON[spec["type"]]
    if name in ("edits", "expect"):
        inner = schema.document("stack")["definitions"]["edit"] if name == "edits" else written
        assert {key: row.get("type", "string") for key, row in inner["properties"].items()} == {
            key: JSON[row["type"]] for key, row in spec["options"].items()
        }
