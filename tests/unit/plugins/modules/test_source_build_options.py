"""The stack's schema describes the fields of Unit, which are a unit's options."""

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import units

UNIT = schema.document("stack")["definitions"]["unit"]["properties"]
#: Keys of a unit in a stack that are not options.
STACK_KEYS = {"optional", "requires"}
JSON = {"str": "string", "int": "integer", "bool": "boolean", "list": "array", "dict": "object"}


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
