"""The module's documentation and the stack's schema describe the fields of Unit, which are a unit's options."""

import dataclasses
import typing as t

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model
from ansible_collections.sparkforge.dgx_spark.plugins.modules import source_build
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import units

UNIT = schema.document("stack")["definitions"]["unit"]["properties"]
#: Keys of a unit in a stack that are not options.
STACK_KEYS = {"optional", "requires"}
JSON = {"str": "string", "int": "integer", "bool": "boolean", "list": "array", "dict": "object"}


def properties_of(options: t.Mapping[str, t.Any], inner: str) -> dict[str, t.Any]:
    """Return the properties on which specification and documentation must agree."""
    return {
        name: {
            "type": option["type"],
            "required": option.get("required", False),
            "default": option.get("default"),
            "choices": option.get("choices"),
            "elements": option.get("elements"),
            "options": properties_of(option.get(inner, {}), inner),
        }
        for name, option in options.items()
    }


def test_documentation_matches_the_argument_spec() -> None:
    documented = yaml.safe_load(source_build.DOCUMENTATION)["options"]
    spec = model.argument_spec()
    assert {field.name for field in dataclasses.fields(model.Unit)} == set(spec)
    assert properties_of(spec, "options") == properties_of({name: documented[name] for name in spec}, "suboptions")


def test_stack_schema_has_every_option_of_user_settings() -> None:
    assert set(UNIT) - STACK_KEYS == {*units.MERGED, *units.ADDED, *units.REPLACED}


@pytest.mark.parametrize("name", sorted(set(UNIT) - STACK_KEYS))
def test_stack_schema_has_the_types_of_the_options(name: str) -> None:
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
