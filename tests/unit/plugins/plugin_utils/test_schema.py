"""The schemas are valid, editors find them, and they are strict about lock ids. test_stack.py tests their messages."""

import re
import typing as t
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema

COLLECTION = Path(__file__).parents[4]
SCHEMAS = sorted(COLLECTION.glob("plugins/plugin_utils/*/*.schema.json"))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_valid_and_its_examples_match_their_patterns(path: Path) -> None:
    content = schema.document(path.name.removesuffix(".schema.json"))
    jsonschema.Draft7Validator.check_schema(content)
    for part in parts(content):
        if "pattern" in part:
            # Patterns are anchored because editors search for them, while the collection uses fullmatch.
            assert part["pattern"].startswith("^") and part["pattern"].endswith("$")
            assert all(re.fullmatch(part["pattern"], example) for example in part.get("examples", ())), part
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert set(part.get("required", ())) <= set(part["properties"])


def parts(value: t.Any) -> t.Iterator[dict[str, t.Any]]:
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from parts(item)
    if isinstance(value, dict):
        yield value


@pytest.mark.parametrize(
    "path",
    [*(COLLECTION / "roles/stack/vars").glob("*.yml"), *(COLLECTION / "inventory/stacks").glob("*.yml")],
    ids=lambda path: path.stem,
)
def test_the_first_line_of_a_stack_names_its_schema(path: Path) -> None:
    match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", path.read_text().splitlines()[0])
    assert match
    assert (path.parent / match[1]).resolve() in SCHEMAS
    assert ("profiles" in match[1]) is (path.stem == "profiles")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("llvm_major", 20.0, "llvm_major must be an integer, not 20.0"),
        ("driver_minimum", "580.65.06\n", r"driver_minimum is '580.65.06\n', write it as \"580.65.06\""),
        ("wheel", {"available": True, "cuda": None, "beside": {1: "2"}}, "wheel.beside.1 is not a"),
        ("machines", [None], "machines[0] is empty, write it as aarch64 or x86_64"),
        ("cudnn", {}, "cudnn.version is missing"),
        ("units", {"a": {"minimum": {"nvc": "1"}}}, "units.a.minimum.nvc is not a"),
    ],
)
def test_values_that_yaml_or_the_library_accepts_are_refused(key: str, value: t.Any, message: str) -> None:
    problems = schema.problems("stack", {key: value}, "stack_definition")
    assert [text for text in problems if message.replace(r"\"", '"') in text], problems


def test_a_controller_without_jsonschema_gets_the_command_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    schema._validator.cache_clear()
    monkeypatch.delattr(schema, "jsonschema")
    with pytest.raises(SparkforgeError, match="the package jsonschema") as caught:
        schema.problems("stack", {})
    assert "pip install jsonschema" in caught.value.remedy
