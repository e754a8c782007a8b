# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Checks data against the *.schema.json beside the code and says each problem in one sentence, by the key's path.

A schema's ``title`` or first example is what messages say a value should look like. Patterns match the whole value.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import json
import os
import re
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

with contextlib.suppress(ImportError):
    # The import check of ansible-test runs without it.
    import jsonschema
    import referencing.jsonschema


_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


@functools.cache
def document(name: str) -> dict[str, t.Any]:
    """Return the schema in ``<name>.schema.json``."""
    with open(os.path.join(os.path.dirname(__file__), "stack", f"{name}.schema.json"), encoding="utf-8") as file:
        return t.cast("dict[str, t.Any]", json.load(file))


@functools.cache
def _validator(name: str) -> t.Any:
    try:
        draft = jsonschema.Draft7Validator
    except NameError:
        raise SparkforgeError(
            "Ansible's Python on the controller lacks the library jsonschema.",
            "Install it there: python3 -m pip install jsonschema.",
        ) from None
    known = [(f"{one}.schema.json", document(one)) for one in dict.fromkeys((name, "common"))]
    registry = referencing.Registry().with_resources(
        (uri, referencing.jsonschema.DRAFT7.create_resource(content)) for uri, content in known
    )
    # To the library 20.0 is an integer as well, and another pin than 20.
    types = draft.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: isinstance(value, int) and not isinstance(value, bool)
    )
    strict = jsonschema.validators.extend(draft, {"pattern": _pattern}, type_checker=types)
    return strict(document(name), registry=registry)


def _pattern(validator: t.Any, pattern: str, value: t.Any, schema: t.Mapping[str, t.Any]) -> t.Iterator[t.Any]:
    """Match as editors do: to Python's own search, ``$`` is before a newline at the end as well."""
    if validator.is_type(value, "string") and not re.fullmatch(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


def problems(name: str, value: t.Any, below: str | None = None) -> list[str]:
    """Return every problem of ``value``, none where it fits the schema ``name``.

    :param below: the top-level key that ``value`` stands under in its file; paths are said without it.
    """
    whole = {below: value} if below else value
    found = (
        sentence
        for error in _validator(name).iter_errors(whole)
        for sentence in _sentences(error, list(error.absolute_path)[1 if below else 0 :])
    )
    return list(dict.fromkeys(found))


def _sentences(error: t.Any, path: t.Sequence[str | int]) -> list[str]:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    at = f"{where}." if where else ""
    value, rule, schema = error.instance, error.validator, error.schema
    if "propertyNames" in error.absolute_schema_path:
        return [f"{at}{value} is not a name there{_example(schema)}"]
    if value is None or value == "":
        return [f"{where} is empty{_example(schema)}"]
    if rule == "required":
        return [f"{at}{key} is missing" for key in error.validator_value if key not in value]
    if rule == "additionalProperties":
        known = schema.get("properties", {})
        return [f"{at}{key} is not a key of it, {_nearest(str(key), known)}" for key in value if key not in known]
    if rule == "type":
        return [f"{where} {_type_problem(value, error.validator_value)}"]
    if rule == "minItems":
        return [f"{where} is an empty list"]
    if rule in ("minimum", "maximum"):
        return [f"{where} is {value}, it must be from {schema['minimum']} to {schema['maximum']}"]
    if rule == "exclusiveMinimum":
        return [f"{where} is {value}, it must be above {error.validator_value}"]
    if rule in ("pattern", "enum"):
        return [f"{where} is {value!r}{_example(schema)}"]
    return [f"{where or 'it'}: {error.message}"]


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
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {near[0]}" if near else f"it takes {', '.join(known)}"


def _type_problem(value: t.Any, wanted: str | list[str]) -> str:
    kinds = [wanted] if isinstance(wanted, str) else [kind for kind in wanted if kind != "null"]
    if "string" in kinds and isinstance(value, (int, float)) and not isinstance(value, bool):
        # 13.0 and 3.10 are numbers to YAML, and 3.10 is 3.1.
        return f"is the number {value}: quote it, YAML changes versions that are not quoted"
    found = {dict: "a mapping", list: "a list", str: "a string", bool: "a truth value", int: "an integer"}
    words = [_TYPES[kind] for kind in kinds]
    listed = f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
    return f"must be {listed}, it is {found.get(type(value), f'a {type(value).__name__}')}"
