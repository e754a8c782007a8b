"""Check data against the collection's *.schema.json files, and report each problem in a sentence with the key's path.

A schema's ``title`` or first example is the suggested value in messages. Patterns match the complete value.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import json
import math
import os
import re
import typing as t

from ..module_utils._core.errors import SparkforgeError

with contextlib.suppress(ImportError):
    # ansible-test's import check runs without these packages.
    import jsonschema
    import referencing


_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


_COLLECTION = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
#: The directories with schemas, for files that users write and for reports that other programs read.
_DIRECTORIES = tuple(os.path.join(_COLLECTION, part) for part in ("plugins/plugin_utils/stack", "docs"))


@functools.cache
def document(name: str) -> dict[str, t.Any]:
    """Return the schema in ``<name>.schema.json``."""
    paths = [os.path.join(directory, f"{name}.schema.json") for directory in _DIRECTORIES]
    path = next(filter(os.path.exists, paths), paths[0])
    try:
        with open(path, encoding="utf-8") as file:
            return t.cast("dict[str, t.Any]", json.load(file))
    except OSError as error:
        raise SparkforgeError(
            f"{path}, a part of this collection, cannot be read: {error.strerror}.", "Install the collection again."
        ) from error


@functools.cache
def _validator(name: str) -> t.Any:
    try:
        draft = jsonschema.validators.validator_for(document(name))
    except NameError:
        raise SparkforgeError(
            "Ansible's Python on the controller lacks the package jsonschema.",
            "Install it there: python3 -m pip install jsonschema.",
        ) from None
    schemas = [(f"{schema_name}.schema.json", document(schema_name)) for schema_name in dict.fromkeys((name, "common"))]
    registry = referencing.Registry().with_resources(
        (uri, referencing.Resource.from_contents(content)) for uri, content in schemas
    )
    # By default, 20.0 is an integer too, although it is a different pin than 20, and infinity is a number.
    types = draft.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number})
    strict = jsonschema.validators.extend(draft, {"pattern": _pattern}, type_checker=types)
    return strict(document(name), registry=registry)


def _is_integer(_checker: t.Any, value: t.Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_checker: t.Any, value: t.Any) -> bool:
    return math.isfinite(value) if isinstance(value, float) else _is_integer(_checker, value)


def _pattern(validator: t.Any, pattern: str, value: t.Any, schema: t.Mapping[str, t.Any]) -> t.Iterator[t.Any]:
    """Match the complete value, as editors do: in Python's own search, ``$`` also matches before a final newline."""
    if validator.is_type(value, "string") and not re.fullmatch(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


def problems(name: str, value: t.Any, below: str | None = None) -> list[str]:
    """Return every problem of ``value``, or [] if it matches the schema ``name``.

    :param below: the file's top-level key that contains ``value``; it is left out of the paths.
    """
    document_part = {below: value} if below else value
    sentences = (
        sentence
        for error in _validator(name).iter_errors(document_part)
        for sentence in _sentences(error, list(error.absolute_path)[1 if below else 0 :])
    )
    return list(dict.fromkeys(sentences))


def _sentences(error: t.Any, path: t.Sequence[str | int]) -> list[str]:
    key_path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    prefix = f"{key_path}." if key_path else ""
    value, rule, schema = error.instance, error.validator, error.schema
    if rule == "anyOf":
        # The first alternative describes the value; the others are the ways to leave it out.
        first = [inner for inner in error.context if inner.schema_path[0] == 0]
        return [sentence for inner in first for sentence in _sentences(inner, path)]
    if "propertyNames" in error.absolute_schema_path:
        return [f"{prefix}{value} is not a valid name{_example(schema)}"]
    if value is None or value == "":
        return [f"{key_path} is empty{_example(schema)}"]
    if rule == "required":
        return [f"{prefix}{key} is missing" for key in error.validator_value if key not in value]
    if rule == "additionalProperties":
        keys = schema.get("properties", {})
        return [f"{prefix}{key} is not a known key; {_nearest(str(key), keys)}" for key in value if key not in keys]
    if rule == "type":
        return [f"{key_path} {_type_problem(value, error.validator_value)}"]
    if rule == "minItems":
        return [f"{key_path} is an empty list"]
    if rule in ("minimum", "maximum") and "maximum" in schema:
        return [f"{key_path} is {value} but must be from {schema['minimum']} to {schema['maximum']}"]
    if rule == "minimum":
        return [f"{key_path} is {value} but must be {error.validator_value} or more"]
    if rule == "const":
        return [f"{key_path} is {value!r:.80} but must be {json.dumps(error.validator_value)}"]
    if rule == "exclusiveMinimum":
        return [f"{key_path} is {value} but must be above {error.validator_value}"]
    if rule in ("pattern", "enum"):
        return [f"{key_path} is {value!r:.80}{_example(schema)}"]
    return [f"{key_path or 'it'}: {error.message}"]


def _example(schema: t.Mapping[str, t.Any]) -> str:
    if "enum" in schema:
        return f", write it as {' or '.join(map(str, schema['enum']))}"
    if "title" in schema:
        return f", write it as {schema['title']}"
    if "examples" in schema:
        example = schema["examples"][0]
        # YAML reads 13.0 as a number and 2026-11-20 as a date.
        return f", write it as {json.dumps(example) if re.fullmatch('[0-9.-]+', example) else example}"
    return ""


def _nearest(key: str, known: t.Collection[str]) -> str:
    similar = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {similar[0]}" if similar else f"it takes {', '.join(known)}"


def _type_problem(value: t.Any, types: str | list[str]) -> str:
    kinds = [types] if isinstance(types, str) else [kind for kind in types if kind != "null"]
    if "string" in kinds and isinstance(value, (int, float)) and not isinstance(value, bool):
        # YAML reads 13.0 and 3.10 as numbers, and 3.10 as 3.1.
        return f"is the number {value}: quote it, since YAML changes unquoted versions"
    names = {dict: "a mapping", list: "a list", str: "a string", bool: "a truth value", int: "an integer"}
    names[float] = str(value)
    expected = [_TYPES[kind] for kind in kinds]
    listed = f"{', '.join(expected[:-1])} or {expected[-1]}" if len(expected) > 1 else expected[0]
    return f"must be {listed}, not {names.get(type(value), f'a {type(value).__name__}')}"
