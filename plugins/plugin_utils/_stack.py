# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""From the name of a stack to its facts: find the file, validate it, merge lock and profile.

A stack is one YAML file with the single key ``stack_definition``, a lock one with ``stack_lock``. Both are
data that people write by hand, so that every problem of a file is said at once, with the nearest key for a
misspelt one.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import os
import re
import tempfile
import typing as t

import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import _lock

METHODS = ("wheel", "build")
MACHINES = ("aarch64", "x86_64")
PROFILES_FILE = "profiles"
README = "roles/stack/README.md"

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")
_WHEEL_LINE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.+!_-]*( --hash=sha256:[0-9a-f]{64})+$")
_PLATFORM = r"cp3\d{1,2}-linux-(aarch64|x86_64)"
_UNIT = r"[a-z][a-z0-9_]*"
# Those with a role of their own; every other unit is one of the role torch_extensions.
CORE_UNITS = ("llvm", "triton", "pytorch")
# What people expect beside torch stands in a lock under this name, next to the units'.
BESIDE = "beside"
# The unit's name is the repository's, the version's that of the distribution.
DISTRIBUTIONS = {"pytorch": "torch", "triton": "triton", "torchvision": "torchvision", "torchaudio": "torchaudio"}


# --- reading ----------------------------------------------------------------------------------------------


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe subset, refusing a key that stands twice: the second one would win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[t.Any, t.Any]:
        seen = set()
        for key_node, _value in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            if isinstance(key, str):
                seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_file(path: str, key: str) -> dict[str, t.Any]:
    """Return what stands under the one top-level key of a YAML file.

    :raises SparkforgeError: when the file cannot be read, is not YAML, or has not exactly that key.
    """
    try:
        with open(path, encoding="utf-8") as file:
            # A subclass of SafeLoader: plain data alone.
            content = yaml.load(file, Loader=_UniqueKeyLoader)  # noqa: S506
    except (OSError, UnicodeDecodeError) as error:
        raise SparkforgeError(f"{path} cannot be read: {error}.", "Give the controller's user access to it.") from error
    except yaml.YAMLError as error:
        raise SparkforgeError(
            f"{path} is not valid YAML: {' '.join(str(error).split())}.", "Correct the line that it names."
        ) from error
    if not isinstance(content, dict) or list(content) != [key] or not isinstance(content[key], dict):
        has = ", ".join(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise SparkforgeError(
            f"{path} must have the one top-level key {key} with a mapping below it; it has {has or 'nothing'}.",
            f"Start the file with `{key}:`; {README} describes every key.",
        )
    return t.cast("dict[str, t.Any]", content[key])


def known_names(directories: t.Iterable[str]) -> dict[str, str]:
    """Return ``{name: path}`` of the YAML files in the directories; the first that has a name wins."""
    found: dict[str, str] = {}
    for directory in directories:
        if not os.path.isdir(directory):
            continue
        for entry in sorted(os.listdir(directory)):
            stem, extension = os.path.splitext(entry)
            if extension == ".yml" and stem != PROFILES_FILE and _NAME.match(stem):
                found.setdefault(stem, os.path.join(directory, entry))
    return found


def find(name: str, directories: t.Sequence[str]) -> str:
    """Return the path of a stack's file.

    :raises SparkforgeError: for an unknown name, with the known ones and where each was looked for.
    """
    known = known_names(directories)
    if name in known:
        return known[name]
    places = ", ".join(
        f"{path} ({'no such directory' if not os.path.isdir(path) else 'there'})" for path in directories
    )
    near = difflib.get_close_matches(name, known, n=1)
    listing = ", ".join(f"{item} ({path})" for item, path in sorted(known.items()))
    raise SparkforgeError(
        f"There is no stack {name!r}: looked for {name}.yml in {places}; known are {listing or 'none'}.",
        f"Set stack_name to {'`' + near[0] + '`' if near else 'one of the known ones'},"
        " or put the file into stacks/ beside the inventory.",
        known=sorted(known),
        searched=list(directories),
    )


# --- the schema -------------------------------------------------------------------------------------------


class Rule:
    """One value of a file. ``check`` returns the problems; none stops the others from being found."""

    def __init__(self, *, required: bool = True, null: bool = False) -> None:
        self.required = required
        self.null = null

    def check(self, where: str, value: t.Any) -> list[str]:
        if value is None:
            return [] if self.null else [f"{where} is empty"]
        return self.problems(where, value)

    def problems(self, where: str, value: t.Any) -> list[str]:
        raise NotImplementedError


class Text(Rule):
    """A string, of a pattern where one is given."""

    def __init__(self, pattern: str = r"(?s).+", example: str = "", **options: bool) -> None:
        super().__init__(**options)
        self.pattern = re.compile(pattern)
        self.example = example

    def problems(self, where: str, value: t.Any) -> list[str]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # 13.0 and 3.10 are numbers to YAML, and 3.10 is 3.1.
            return [f"{where} is the number {value}: quote it, YAML changes versions that are not quoted"]
        if not isinstance(value, str):
            return [f"{where} must be a string, it is {_kind(value)}"]
        if not self.pattern.fullmatch(value):
            return [f"{where} is {value!r}{', write it as ' + self.example if self.example else ''}"]
        return []


class Number(Rule):
    """An integer within bounds, both included."""

    def __init__(self, low: int, high: int, **options: bool) -> None:
        super().__init__(**options)
        self.low = low
        self.high = high

    def problems(self, where: str, value: t.Any) -> list[str]:
        if isinstance(value, bool) or not isinstance(value, int):
            return [f"{where} must be an integer, it is {_kind(value)}"]
        if not self.low <= value <= self.high:
            return [f"{where} is {value}, it must be from {self.low} to {self.high}"]
        return []


class Quantity(Rule):
    """A number above 0, with or without a fraction."""

    def problems(self, where: str, value: t.Any) -> list[str]:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return [f"{where} must be a number, it is {_kind(value)}"]
        return [] if value > 0 else [f"{where} is {value}, it must be above 0"]


class Truth(Rule):
    """true or false."""

    def problems(self, where: str, value: t.Any) -> list[str]:
        return [] if isinstance(value, bool) else [f"{where} must be true or false, it is {_kind(value)}"]


class Scalar(Rule):
    """What an environment variable or a CMake variable is set to: a string, an integer, or true and false."""

    def problems(self, where: str, value: t.Any) -> list[str]:
        if isinstance(value, (str, int)):
            return []
        if isinstance(value, float):
            return [f"{where} is the number {value}: quote it, YAML changes versions that are not quoted"]
        return [f"{where} must be a string, an integer or a truth value, it is {_kind(value)}"]


class Either(Rule):
    """A mapping that has one of two forms; the first key of the second form tells which."""

    def __init__(self, first: Keys, second: Keys, **options: bool) -> None:
        super().__init__(**options)
        self.first = first
        self.second = second

    def problems(self, where: str, value: t.Any) -> list[str]:
        is_second = isinstance(value, dict) and next(iter(self.second.keys)) in value
        return (self.second if is_second else self.first).problems(where, value)


class Items(Rule):
    """A list of values of one kind."""

    def __init__(self, item: Rule, *, empty: bool = False, **options: bool) -> None:
        super().__init__(**options)
        self.item = item
        self.empty = empty

    def problems(self, where: str, value: t.Any) -> list[str]:
        if not isinstance(value, list):
            return [f"{where} must be a list, it is {_kind(value)}"]
        if not value and not self.empty:
            return [f"{where} is an empty list"]
        return [text for index, item in enumerate(value) for text in self.item.check(f"{where}[{index}]", item)]


class Keys(Rule):
    """A mapping with the keys that are named here and no others; a partial one may leave any of them out."""

    def __init__(self, keys: t.Mapping[str, Rule], *, partial: bool = False, **options: bool) -> None:
        super().__init__(**options)
        self.keys = keys
        self.partial = partial

    def problems(self, where: str, value: t.Any) -> list[str]:
        if not isinstance(value, dict):
            return [f"{where} must be a mapping, it is {_kind(value)}"]
        at = f"{where}." if where else ""
        found = []
        for key, item in value.items():
            if key in self.keys:
                found += self.keys[key].check(f"{at}{key}", item)
            else:
                near = difflib.get_close_matches(str(key), self.keys, n=1)
                found.append(
                    f"{at}{key} is not a key of it, "
                    + (f"did you mean {near[0]}" if near else f"it takes {', '.join(self.keys)}")
                )
        required = [] if self.partial else [key for key, rule in self.keys.items() if rule.required]
        return found + [f"{at}{key} is missing" for key in required if key not in value]


class Named(Rule):
    """A mapping from names of a pattern to values of one kind."""

    def __init__(self, key: str, item: Rule, example: str = "", **options: bool) -> None:
        super().__init__(**options)
        self.key = re.compile(key)
        self.item = item
        self.example = example

    def problems(self, where: str, value: t.Any) -> list[str]:
        if not isinstance(value, dict):
            return [f"{where} must be a mapping, it is {_kind(value)}"]
        found = []
        for key, item in value.items():
            if not self.key.fullmatch(str(key)):
                found.append(
                    f"{where}.{key} is not a name there{', write it as ' + self.example if self.example else ''}"
                )
            found += self.item.check(f"{where}.{key}", item)
        return found


def _kind(value: t.Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "a string", bool: "a truth value", int: "an integer"}
    return names.get(type(value), f"a {type(value).__name__}")


_VERSION = r"\d+(\.[0-9A-Za-z]+)*([+-][0-9A-Za-z.]+)?"
_URL = r"(https?|file|ssh|git)://\S+"


def _version(example: str, **options: bool) -> Text:
    return Text(_VERSION, f'"{example}"', **options)


def _two_part(example: str, **options: bool) -> Text:
    return Text(r"\d+\.\d+", f'"{example}"', **options)


def _archive_keys() -> dict[str, Rule]:
    return {
        "product": Text(r"[a-z0-9_-]+", "cudss"),
        "component": Text(r"[a-z0-9_]+", "libcudss"),
        "release": _version("0.8.0"),
        "version": _version("0.8.0.10"),
        "variant": Text(r"cuda\d+", "cuda13", required=False, null=True),
        "soname": Text(r"lib[^/\s]+\.so(\.\d+)*", "libcudss.so.0"),
        "sha256": Named(
            r"linux-(sbsa|x86_64)",
            Text(r"[0-9a-f]{64}", "64 hexadecimal digits"),
            "linux-sbsa",
            required=False,
        ),
    }


_EVIDENCE = Text(
    r"(measured on |from the data sheet|unknown).*",
    '"measured on <device>, <date>", "from the data sheet" or "unknown"',
)

PROFILE_KEYS: dict[str, Rule] = {
    "description": Text(),
    "compute_capability": _two_part("12.1", null=True),
    "architectures": Text(r"\d+\.\d[af]?(\+PTX)?(;\d+\.\d[af]?(\+PTX)?)*", '"12.0"', null=True),
    "unified_memory": Truth(null=True),
    "memory_minimum_mib": Number(0, 1 << 24),
    "driver_minimum": _version("580.65.06", null=True),
    # Shell patterns over the names of checks, and what it rests on that they must pass: see the role verify.
    "required_checks": Named(r"\S+", _EVIDENCE, "attention.*", required=False),
    # What the device is made for, in the unit that the rate's name ends with, the part of it that must be reached, and
    # what that rests on.
    "speed_floors": Named(
        r"[a-z0-9_]+",
        Keys({"nominal": Quantity(), "ratio": Quantity(), "evidence": _EVIDENCE}),
        "matmul_bfloat16_tflops",
        required=False,
    ),
}

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"

# What a stack says of a unit; the rest is the role's. Names are those of source_build's options, but for these:
UNIT_KEYS: dict[str, Rule] = {
    # The key in `sources`; the unit's own name where it is left out.
    "source": Text(_UNIT, "pytorch"),
    # Built only where somebody asks for it.
    "optional": Truth(),
    # What it is built with, `name==version`; playbooks/lock.yml adds what that needs, and the hashes.
    "requirements": Items(Text(r"[A-Za-z0-9][A-Za-z0-9._-]*==\S+", "setuptools==80.9.0"), empty=True),
    # What the built wheel requires at run time (Requires-Dist), without other units.
    "requires": Items(Text(), empty=True),
    "kind": Text("wheel|cmake", "wheel or cmake"),
    "subdirectory": Text(r"[^/\s]\S*", "llvm"),
    # Paths: beside the stack's file, else those of the unit's role.
    "patches": Items(Text(r"\S+"), empty=True),
    "edits": Items(
        Keys(
            {
                "path": Text(r"[^/\s]\S*", "cmake/Codegen.cmake"),
                "match": Text(),
                "replace": Text(r"(?s).*"),
                "name": Text(required=False),
                "count": Number(1, 1 << 16, required=False),
                "regex": Truth(required=False),
            }
        ),
        empty=True,
    ),
    "environment": Named(_VARIABLE, Scalar(null=True), "USE_CUDA"),
    "cmake_args": Items(Text(r"-\S.*", "-DLLVM_ENABLE_ASSERTIONS=ON"), empty=True),
    "targets": Items(Text(), empty=True),
    "depends": Items(Text(_UNIT, "pytorch"), empty=True),
    "expect": Keys(
        {
            "cmake_cache": Named(_VARIABLE, Scalar(), "USE_CUDNN"),
            "libraries": Items(Text(), empty=True),
            "architectures": Items(Text(r"\d+\.\d[af]?", '"12.0"'), empty=True),
            "files": Items(Text(), empty=True),
            "version": Text(),
        },
        partial=True,
    ),
    "minimum": Named("cc|cxx|cmake|ninja|nvcc", _version("11"), "cxx"),
    "memory_per_job": Number(256, 1 << 20),
    "free_space": Number(0, 1 << 24),
    "build_tag": Text(r"\d([a-z0-9_.]|\{digest\})*", "1_{digest}"),
    "system_site_packages": Truth(),
}

STACK = Keys(
    {
        "description": Text(),
        "cuda": Keys({"version": _two_part("13.0")}),
        "driver_minimum": _version("580.65.06"),
        "systems": Items(Keys({"id": Text(r"[a-z]+", "ubuntu"), "version": Text(r"\d+(\.\d+)?", '"24.04"')})),
        "machines": Items(Text("|".join(MACHINES), " or ".join(MACHINES))),
        "python": Keys({name: Text(r"3\.\d+", '"3.12"') for name in ("version", "minimum", "maximum")}),
        "llvm_major": Number(14, 99),
        "versions": Keys(
            {
                "torch": _version("2.15.0"),
                # Of what the stack neither builds nor installs there is none.
                "triton": _version("3.9.0", required=False, null=True),
                "torchvision": _version("0.29.2", required=False, null=True),
                "torchaudio": _version("2.11.0", required=False, null=True),
            }
        ),
        "wheel": Keys(
            {
                "available": Truth(),
                "reason": Text(required=False),
                "cuda": _two_part("13.2", null=True),
                "without": Named(r"torchvision|torchaudio", Text(), "torchaudio", required=False),
                # What people expect beside torch, and no wheel of the stack asks for.
                "beside": Named(r"[a-z0-9][a-z0-9._-]*", _version("2.3.0"), "numpy", required=False),
            }
        ),
        # A stack says of a profile only what differs.
        "profiles": Named(r"[a-z][a-z0-9_]*", Keys(PROFILE_KEYS, partial=True), "gb10", required=False),
        "cusparselt": Keys(
            {
                "version": _version("0.8.1"),
                "soname": Text(r"lib[^/\s]+\.so(\.\d+)*", "libcusparseLt.so.0"),
                "archive": Keys(
                    {key: rule for key, rule in _archive_keys().items() if key != "soname"},
                    required=False,
                    null=True,
                ),
            }
        ),
        # The oldest that will do, and what PyTorch is told apart by; a newer one of the same SONAME serves as well.
        "cudnn": Keys({"version": _version("9.13")}, required=False),
        "nccl": Keys({"version": _version("2.27")}, required=False),
        "archives": Items(Keys(_archive_keys()), empty=True),
        "sources": Named(
            _UNIT,
            Either(
                Keys(
                    {
                        # null: what the other source's tree says.
                        "url": Text(_URL, "https://github.com/pytorch/pytorch.git", null=True),
                        # A tag, a branch or a commit. null: another source's tree names the commit.
                        "ref": Text(r"[A-Za-z0-9][A-Za-z0-9._/+-]*", "v2.15.0", null=True),
                        "submodules": Truth(required=False),
                        "pin": Keys(
                            {"source": Text(_UNIT, "pytorch"), "files": Items(Text(r"[^/\s]\S*", "cmake/hash.txt"))},
                            required=False,
                        ),
                    }
                ),
                Keys(
                    {
                        "archive": Text(r"(https?|file)://\S+|/\S+", "https://example.com/name-1.0.tar.gz"),
                        "sha256": Text(r"[0-9a-f]{64}", "64 hexadecimal digits"),
                    }
                ),
            ),
            "pytorch",
            required=False,
        ),
        # What is built from source where stack_method is build, in the order in which extensions are built.
        "units": Named(_UNIT, Keys(UNIT_KEYS, partial=True), "pytorch", required=False),
    }
)

PROFILES = Named(r"[a-z][a-z0-9_]*", Keys(PROFILE_KEYS), "gb10")

_LINE = Text(_WHEEL_LINE.pattern, "name==version --hash=sha256:<64 hexadecimal digits>")
_LINES = Items(_LINE, empty=True)

LOCK = Keys(
    {
        "format": Number(1, 1),
        "stack": Text(_NAME.pattern),
        "resolved": Text(r"\d{4}-\d{2}-\d{2}", '"2026-11-20"'),
        "archives": Named(
            r"[a-z0-9_]+",
            Keys({key: rule for key, rule in _archive_keys().items() if key in ("release", "version", "sha256")}),
            "libcudss",
        ),
        "wheels": Named(_PLATFORM, Items(_LINE), "cp312-linux-aarch64"),
        "sources": Named(
            _UNIT,
            Either(
                Keys(
                    {
                        "url": Text(_URL),
                        "ref": Text(null=True),
                        "commit": Text(r"[0-9a-f]{40}", "40 hexadecimal digits"),
                        # Which file of which commit of another source said so.
                        "pinned_by": Keys(
                            {
                                "source": Text(_UNIT),
                                "commit": Text(r"[0-9a-f]{40}", "40 hexadecimal digits"),
                                "file": Text(r"[^/\s]\S*"),
                            },
                            required=False,
                        ),
                        # What upstream's CI built of the commit, by machine.
                        "prebuilt": Named(
                            "|".join(MACHINES),
                            Keys({"file": Text(r"[^/\s]+"), "sha256": Text(r"[0-9a-f]{64}", "64 hexadecimal digits")}),
                            "aarch64",
                            required=False,
                        ),
                    }
                ),
                Keys({"archive": Text(), "sha256": Text(r"[0-9a-f]{64}", "64 hexadecimal digits")}),
            ),
        ),
        "build_requirements": Named(_PLATFORM, Named(_UNIT, _LINES), "cp312-linux-aarch64", required=False),
        "run_requirements": Named(_PLATFORM, Named(_UNIT, _LINES), "cp312-linux-aarch64", required=False),
    }
)


def validate(rule: Rule, value: t.Any, path: str, what: str) -> None:
    """Raise with every problem of a file at once.

    :raises SparkforgeError: when there is one.
    """
    problems = rule.check("", value)
    if not problems and rule is STACK:
        problems = _contradictions(value)
    if problems:
        raise SparkforgeError(
            f"The {what} {path} has {len(problems)} problem{'s' if len(problems) > 1 else ''}: {'; '.join(problems)}.",
            f"Correct the file; {README} describes every key.",
            problems=problems,
        )


def _contradictions(definition: t.Mapping[str, t.Any]) -> list[str]:
    """Return what no single key shows."""
    found = []
    python = definition["python"]
    low, wanted, high = (numbers(python[key]) for key in ("minimum", "version", "maximum"))
    if not low <= wanted <= high:
        found.append(f"python.version {python['version']} is outside {python['minimum']} to {python['maximum']}")
    if not definition["wheel"]["available"] and not definition["wheel"].get("reason"):
        found.append("wheel.reason is missing: say why there are no wheels")
    components = [archive["component"] for archive in definition["archives"]]
    found += [f"archives has {name} twice" for name in sorted({x for x in components if components.count(x) > 1})]
    return [*found, *_source_contradictions(definition), *_unit_contradictions(definition)]


def _source_contradictions(definition: t.Mapping[str, t.Any]) -> list[str]:
    sources, versions, found = definition.get("sources") or {}, definition["versions"], []
    for name, source in sources.items():
        pin = _lock.pin_of(name, source)
        if source.get("ref") and not source.get("url"):
            found.append(f"sources.{name}.url is empty, and its ref names no repository")
        if source.get("pin") and source["pin"]["source"] not in sources:
            found.append(f"sources.{name}.pin.source is {source['pin']['source']}, which is not one of the sources")
        if not source.get("url") and "archive" not in source and pin is None:
            found.append(f"sources.{name}.url is empty, and no other source is known to name it")
        wanted = versions.get(DISTRIBUTIONS.get(name, name))
        tag = re.fullmatch(r"v?(\d+(?:\.\d+)+)", str(source.get("ref") or ""))
        if wanted and tag and tag[1] != wanted.partition("+")[0]:
            found.append(f"sources.{name}.ref is {tag[0]}, and versions says {wanted}")
    vision = _torchvision_for(versions["torch"])
    given = versions.get("torchvision")
    if vision and given and not vision[0] <= numbers(given)[:2] <= vision[1]:
        found.append(
            f"versions.torchvision {given} is not made for torch {versions['torch']},"
            f" which takes {'.'.join(map(str, vision[0]))}"
        )
    return found


def _torchvision_for(torch: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the oldest and newest minor of torchvision for a torch, where that is known.

    Requires-Dist of torchvision: 0.15 asks for torch 2.0, and so on one by one to 0.28 for 2.13; 0.29.1 asks for 2.14
    or newer. torchvision 0.9.2, which a recipe of 2025 names, is of 2021 and for torch 1.8.
    """
    major, minor = (*numbers(torch), 0)[:2]
    if major != 2:
        return None
    return ((0, minor + 15), (0, minor + 15)) if minor < 14 else ((0, 29), (0, 999))


def _unit_contradictions(definition: t.Mapping[str, t.Any]) -> list[str]:
    units, sources, found = definition.get("units") or {}, definition.get("sources") or {}, []
    for name, unit in units.items():
        distribution = DISTRIBUTIONS.get(name)
        if distribution and not definition["versions"].get(distribution):
            found.append(f"versions.{distribution} is missing, and units.{name} builds it")
        if name == BESIDE:
            found.append(f"units.{name} cannot be the name of a unit")
        source = unit.get("source", name)
        if source not in sources:
            found.append(f"units.{name} has no source: there is no sources.{source}")
        for other in unit.get("depends") or []:
            if other not in units:
                found.append(f"units.{name}.depends names {other}, which is not one of the units")
        ring = _ring(name, units)
        if ring:
            found.append(f"units.{name} depends on itself: {' -> '.join(ring)}")
    return found


def _ring(name: str, units: t.Mapping[str, t.Any]) -> list[str]:
    """Return the way from a unit back to it, empty where there is none."""
    ways = [[name]]
    seen = set()
    while ways:
        way = ways.pop()
        for other in (units.get(way[-1]) or {}).get("depends") or []:
            if other == name:
                return [*way, name]
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a dotted version, for comparison: ``3.10`` is newer than ``3.9``."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


# --- the facts --------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Places:
    """Where files are looked for, first one first.

    :ivar stacks: directories of stacks, the collection's own last.
    :ivar locks: directories of locks, the collection's own last.
    :ivar profiles: the file of the profiles.
    """

    stacks: tuple[str, ...]
    locks: tuple[str, ...]
    profiles: str


def places(
    inventories: t.Sequence[str], shipped: str, stacks: t.Sequence[str] = (), locks: t.Sequence[str] = ()
) -> Places:
    """Return where to look: what was asked for, then beside the inventory, then in the role.

    :param inventories: directories of the inventory.
    :param shipped: the directory of the role ``stack``.
    """

    def order(asked: t.Sequence[str], below: str, own: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*asked, *(os.path.join(path, below) for path in inventories), own]))

    return Places(
        stacks=order(stacks, "stacks", os.path.join(shipped, "vars")),
        locks=order(locks, "locks", os.path.join(shipped, "files", "locks")),
        profiles=os.path.join(shipped, "vars", f"{PROFILES_FILE}.yml"),
    )


def inventory_directories(sources: t.Sequence[t.Any], inventory_dir: t.Any = None) -> list[str]:
    """Return the directories that the inventory's files lie in; ``localhost,`` has none.

    :param sources: Ansible's ``ansible_inventory_sources``.
    :param inventory_dir: the host's ``inventory_dir``, which comes first.
    """
    found = [inventory_dir] if isinstance(inventory_dir, str) and inventory_dir else []
    for source in sources:
        if isinstance(source, str) and os.path.exists(source):
            found.append(source if os.path.isdir(source) else os.path.dirname(source))
    return list(dict.fromkeys(os.path.abspath(path) for path in found))


def load(name: str, where: Places) -> tuple[dict[str, t.Any], str]:
    """Return a stack's definition, validated, and its path.

    :raises SparkforgeError: for an unknown or wrong stack.
    """
    path = find(name, where.stacks)
    definition = read_file(path, "stack_definition")
    validate(STACK, definition, path, "stack")
    definition["versions"] = {**dict.fromkeys(DISTRIBUTIONS.values()), **definition["versions"]}
    return definition, path


def load_lock(name: str, where: Places) -> tuple[dict[str, t.Any] | None, str | None]:
    """Return a stack's lock, validated, and its path, or twice None where there is none yet.

    :raises SparkforgeError: for a wrong lock.
    """
    path = known_names(where.locks).get(name)
    if path is None:
        return None, None
    lock = read_file(path, "stack_lock")
    validate(LOCK, lock, path, "lock")
    if lock["stack"] != name:
        raise SparkforgeError(f"The lock {path} is that of the stack {lock['stack']}, not of {name}.", _relock(name))
    return lock, path


def _relock(name: str) -> str:
    return f"Write it anew: ansible-playbook sparkforge.dgx_spark.lock -e stack_name={name}."


def profile_facts(name: str, definition: t.Mapping[str, t.Any], where: Places) -> dict[str, t.Any]:
    """Return a host profile as the stack amends it.

    :raises SparkforgeError: for an unknown profile.
    """
    known = read_file(where.profiles, "stack_profiles")
    validate(PROFILES, known, where.profiles, "file of profiles")
    amended = definition.get("profiles") or {}
    merged = {key: {**known.get(key, {}), **amended.get(key, {})} for key in {**known, **amended}}
    if name not in merged:
        near = difflib.get_close_matches(name, merged, n=1)
        raise SparkforgeError(
            f"There is no profile {name!r}: known are {', '.join(sorted(merged))} ({where.profiles}, and"
            " profiles in the stack's file).",
            f"Set stack_profile to {'`' + near[0] + '`' if near else 'one of them'}.",
            known=sorted(merged),
        )
    missing = sorted(key for key, rule in PROFILE_KEYS.items() if rule.required and key not in merged[name])
    if missing:
        raise SparkforgeError(
            f"The profile {name} of the stack lacks {', '.join(missing)}.",
            f"Add them; {README} describes every key.",
        )
    return {"name": name, "required_checks": {}, "speed_floors": {}, **merged[name]}


def _with_lock(
    archive: t.Mapping[str, t.Any], lock: t.Mapping[str, t.Any], lock_path: str | None, name: str, *, required: bool
) -> dict[str, t.Any]:
    """Return an archive with the sha256 of stack and lock, which must not contradict each other."""
    pinned = dict(archive.get("sha256") or {})
    found = lock.get("archives", {}).get(archive["component"])
    if found is not None:
        for key in ("release", "version"):
            if found[key] != archive[key]:
                raise SparkforgeError(
                    f"The lock {lock_path} has {archive['component']} {key} {found[key]},"
                    f" the stack says {archive[key]}.",
                    _relock(name),
                )
        for platform, sha256 in (found.get("sha256") or {}).items():
            if pinned.setdefault(platform, sha256) != sha256:
                raise SparkforgeError(
                    f"The lock {lock_path} has sha256 {sha256} of {archive['component']} for {platform},"
                    f" the stack pins {pinned[platform]}.",
                    "Find out which one is NVIDIA's; a published archive does not change.",
                )
    if not pinned and required:
        raise SparkforgeError(
            f"No sha256 is known for {archive['component']} {archive['version']} of the stack {name}.",
            _relock(name),
        )
    return {**archive, "variant": archive.get("variant") or "", "sha256": dict(sorted(pinned.items()))}


def locked_version(lines: t.Sequence[str], name: str) -> str | None:
    """Return the version that the lines of a lock pin a distribution to."""
    for line in lines:
        found, _sep, rest = line.partition("==")
        if re.sub(r"[-_.]+", "-", found).lower() == name:
            return rest.split(" ", 1)[0]
    return None


def _same_version(locked: str | None, wanted: str | None) -> bool:
    """An index of its own may serve 2.15.0 as 2.15.0+cu132: the public part is what a stack names."""
    if locked is None or wanted is None:
        return locked is wanted
    return locked == wanted or locked.split("+", 1)[0] == wanted


def wheel_versions(definition: t.Mapping[str, t.Any]) -> dict[str, str | None]:
    """Return the versions of an environment made from wheels: without what the stack leaves out."""
    left_out = definition["wheel"].get("without") or {}
    return {name: None if name in left_out else value for name, value in definition["versions"].items()}


def _check_wheels(
    name: str, definition: t.Mapping[str, t.Any], lock: t.Mapping[str, t.Any], lock_path: str | None
) -> None:
    """Refuse the method wheel where its wheels are not known, or are of other versions.

    :raises SparkforgeError: with the way out.
    """
    wheels = lock.get("wheels") or {}
    if not wheels and not definition["wheel"]["available"]:
        raise SparkforgeError(
            f"The stack {name} has no wheels to install: {definition['wheel']['reason'].strip().rstrip('.')}.",
            "Use stack_name torch-2.13.0 or torch-2.15.0, or pin wheels of an index that has them: ansible-playbook"
            f" sparkforge.dgx_spark.lock -e stack_name={name} -e stack_lock_index_url=<index>.",
        )
    if not wheels:
        raise SparkforgeError(
            f"The stack {name} has no lock with wheels ({lock_path or 'no lock was found'}).",
            f"Write it: ansible-playbook sparkforge.dgx_spark.lock -e stack_name={name}.",
        )
    wanted_versions = {**(definition["wheel"].get("beside") or {}), **wheel_versions(definition)}
    for platform, lines in sorted(wheels.items()):
        for distribution, wanted in sorted(wanted_versions.items()):
            if distribution == "triton":
                continue  # torch's own requirement decides it, and on some platforms there is none
            locked = locked_version(lines, distribution)
            if not _same_version(locked, wanted):
                raise SparkforgeError(
                    f"The lock {lock_path} has {distribution} {locked or 'not at all'} for {platform},"
                    f" the stack {name} says {wanted or 'none'}.",
                    _relock(name),
                )


# --- units ------------------------------------------------------------------------------------------------


def unit_source(name: str, definition: t.Mapping[str, t.Any], lock: t.Mapping[str, t.Any]) -> dict[str, t.Any] | None:
    """Return the option ``source`` of source_build for a source of the stack, None where no commit is known.

    The URL is the stack's where it has one, so that a mirror may take upstream's place without a new lock.
    """
    source = definition["sources"][name]
    if "archive" in source:
        return {"archive": source["archive"], "sha256": source["sha256"]}
    locked = (lock.get("sources") or {}).get(name) or {}
    ref = source.get("ref")
    commit = ref if re.fullmatch(r"[0-9a-f]{40}", ref or "") else locked.get("commit")
    url = source.get("url") or locked.get("url")
    if not commit or not url:
        return None
    return {"repo": url, "version": commit, "submodules": source.get("submodules", True)}


def unit_facts(
    definition: t.Mapping[str, t.Any], path: str, lock: t.Mapping[str, t.Any]
) -> dict[str, dict[str, t.Any]]:
    """Return every unit of a stack with its source and its requirements by platform, as the lock has them.

    :param path: of the stack's file: its patches lie beside it, or else with the unit's role.
    """
    found = {}
    beside = os.path.dirname(path)
    for name, unit in (definition.get("units") or {}).items():
        patches = [os.path.join(beside, patch) for patch in unit.get("patches") or []]
        found[name] = {
            **{key: value for key, value in unit.items() if key not in ("requires", "patches")},
            "optional": unit.get("optional", False),
            "source": unit_source(unit.get("source", name), definition, lock),
            "patches": [
                path if os.path.isfile(path) else patch
                for path, patch in zip(patches, unit.get("patches") or [], strict=True)
            ],
            "requirements": {
                platform: sorted(lines[name])
                for platform, lines in sorted((lock.get("build_requirements") or {}).items())
                if name in lines
            },
        }
    return found


def extensions(definition: t.Mapping[str, t.Any]) -> list[str]:
    """Return the units that are built beside LLVM, Triton and PyTorch unless somebody says otherwise, in order."""
    units = definition.get("units") or {}
    return [name for name, unit in units.items() if name not in CORE_UNITS and not unit.get("optional")]


def _check_units(
    name: str, definition: t.Mapping[str, t.Any], lock: t.Mapping[str, t.Any], lock_path: str | None
) -> None:
    """Refuse the method build where the lock does not say what is to be built, with everything that it lacks.

    :raises SparkforgeError: with the way out.
    """
    units = definition.get("units") or {}
    instead = " Or set stack_method: wheel." if definition["wheel"]["available"] else ""
    if not units:
        raise SparkforgeError(
            f"The stack {name} names no units, so there is nothing to build.",
            f"Set stack_method: wheel, or give the stack `units`; {README} describes every key.",
        )
    problems = _stale_sources(definition, lock)
    for unit_name, unit in units.items():
        source = unit.get("source", unit_name)
        if unit_source(source, definition, lock) is None and not unit.get("optional"):
            problems.append(f"the commit of {source} is not known")
        problems += _stale_requirements(unit_name, unit, lock)
    if any(unit.get("requires") for unit in units.values()) and not lock.get("run_requirements"):
        problems.append("what the units need at run time is not resolved")
    if problems:
        raise SparkforgeError(
            f"The lock of the stack {name} ({lock_path or 'no lock was found'}) does not say what to build:"
            f" {'; '.join(problems)}.",
            f"{_relock(name)}{instead}",
            problems=problems,
        )


def _stale_sources(definition: t.Mapping[str, t.Any], lock: t.Mapping[str, t.Any]) -> list[str]:
    """Return where the lock is of another day of the stack, or contradicts itself."""
    locked, problems = lock.get("sources") or {}, []
    for name, source in (definition.get("sources") or {}).items():
        entry = locked.get(name) or {}
        if not entry.get("commit") or "archive" in source:
            continue
        if source.get("ref") != entry.get("ref"):
            problems.append(f"it has {name} {entry.get('ref') or 'as pinned'}, the stack says {source.get('ref')}")
        by = entry.get("pinned_by") or {}
        other = (locked.get(by.get("source")) or {}).get("commit")
        if by and other and other != by["commit"]:
            problems.append(
                f"it has {name} as {by['source']} {by['commit'][:12]} pins it, and {by['source']} {other[:12]}"
            )
    return problems


def _stale_requirements(name: str, unit: t.Mapping[str, t.Any], lock: t.Mapping[str, t.Any]) -> list[str]:
    pins = unit.get("requirements") or []
    known = {platform: lines for platform, lines in (lock.get("build_requirements") or {}).items() if name in lines}
    if pins and not known:
        return [f"the build requirements of {name} have no hashes"]
    problems = []
    for platform, lines in sorted(known.items()):
        for pin in pins:
            wanted, _sep, version = pin.partition("==")
            found = locked_version(lines[name], re.sub(r"[-_.]+", "-", wanted).lower())
            if found != version:
                problems.append(
                    f"it builds {name} with {wanted} {found or '(none)'} on {platform}, the stack says {version}"
                )
    return problems


def triton_environment(version: str | None, cuda_home: str, *, built: bool) -> dict[str, str]:
    """Return the variables that a Triton needs in the environment that it is used from.

    Up to 3.5 its wheels bring a ptxas of CUDA 12.8, which does not know sm_121a; from 3.6 on a second one, which does,
    for compute capability 10.0 and newer (knobs.py of the wheels of 3.5.1, 3.6.0 and 3.9.0). What is built here brings
    neither tools nor headers: without ``cuda.h`` the first launch of a kernel fails in gcc. TRITON_CUDART_PATH adds
    them to that call alone, where CPATH would add them to every compilation of the user.
    """
    if version is None:
        return {}
    found = {}
    old = numbers(version) < (3, 6)
    if old or built:
        found["TRITON_PTXAS_PATH"] = f"{cuda_home}/bin/ptxas"
    if built:
        if not old:
            found["TRITON_PTXAS_BLACKWELL_PATH"] = f"{cuda_home}/bin/ptxas"
        found["TRITON_CUOBJDUMP_PATH"] = f"{cuda_home}/bin/cuobjdump"
        found["TRITON_NVDISASM_PATH"] = f"{cuda_home}/bin/nvdisasm"
        found["TRITON_CUDACRT_PATH"] = found["TRITON_CUDART_PATH"] = f"{cuda_home}/include"
        # Of the profiler proton, where that was built.
        found["TRITON_CUPTI_LIB_PATH"] = f"{cuda_home}/extras/CUPTI/lib64"
    return found


# --- the whole --------------------------------------------------------------------------------------------


def lock_id(pins: t.Mapping[str, t.Any]) -> str:
    """Return the first 12 hexadecimal digits of the sha256 over the pins' canonical JSON."""
    canonical = json.dumps(pins, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def facts(name: str, method: str, profile: str, where: Places, *, lock_required: bool = True) -> dict[str, t.Any]:
    """Return ``{stack: ..., files: ...}``: what ``stack_name``, ``stack_method`` and ``stack_profile`` mean.

    :param lock_required: refuse a stack whose lock does not have what the method needs. Taking everything back, for
        one, needs none of it.
    :raises SparkforgeError: for unknown names, wrong files, and a method that the stack cannot have.
    """
    definition, path = load(name, where)
    if method not in METHODS:
        near = difflib.get_close_matches(method, METHODS, n=1)
        raise SparkforgeError(f"There is no method {method!r}.", f"Set stack_method to {near[0] if near else 'build'}.")
    chosen = profile_facts(profile, definition, where)
    found, lock_path = load_lock(name, where)
    lock = found or {}
    if lock_required:
        (_check_units if method == "build" else _check_wheels)(name, definition, lock, lock_path)

    cuda = definition["cuda"]["version"]
    cuda_home = f"/usr/local/cuda-{cuda}"

    def pinned(archive: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        return _with_lock(archive, lock, lock_path, name, required=lock_required)

    archives = [pinned(archive) for archive in definition["archives"]]
    cusparselt = dict(definition["cusparselt"])
    if cusparselt.get("archive"):
        cusparselt["archive"] = pinned(cusparselt["archive"])
    else:
        cusparselt["archive"] = None
    wheels = {platform: sorted(lines) for platform, lines in sorted((lock.get("wheels") or {}).items())}
    sources = {key: lock["sources"][key] for key in sorted(lock.get("sources") or {})}
    versions = wheel_versions(definition) if method == "wheel" else dict(definition["versions"])
    units = unit_facts(definition, path, lock)
    run_requirements = _sorted(lock.get("run_requirements") or {})

    # What an environment or a host is made of; no path, no date, no words, so that the same pins are the same
    # everywhere.
    pins: dict[str, t.Any] = {
        "method": method,
        "cuda": cuda,
        "python": definition["python"]["version"],
        "llvm_major": definition["llvm_major"],
        "versions": versions,
        "cusparselt": cusparselt,
        "archives": sorted(archives, key=lambda item: item["component"]),
        "wheels": wheels,
        "sources": sources,
        **{name: definition[name] for name in ("cudnn", "nccl") if name in definition},
    }
    if method == "build":
        pins["units"] = definition.get("units") or {}
        pins["build_requirements"] = lock.get("build_requirements") or {}
        pins["run_requirements"] = run_requirements
    stack = {
        "name": name,
        "method": method,
        "description": " ".join(definition["description"].split()),
        "profile": chosen,
        "cuda": {
            "version": cuda,
            "major": int(cuda.split(".")[0]),
            "suffix": cuda.replace(".", "-"),
            "home": cuda_home,
        },
        "driver_minimum": chosen["driver_minimum"] or definition["driver_minimum"],
        "systems": definition["systems"],
        "machines": definition["machines"],
        "python": definition["python"],
        "llvm_major": definition["llvm_major"],
        "versions": versions,
        "wheel": {"cuda": definition["wheel"]["cuda"], "without": definition["wheel"].get("without") or {}},
        "cusparselt": cusparselt,
        "cudnn": definition.get("cudnn") or {},
        "nccl": definition.get("nccl") or {},
        "archives": archives,
        "units": units,
        "extensions": extensions(definition),
        "activation": triton_environment(versions["triton"], cuda_home, built=method == "build" and "triton" in units),
        "lock": {
            "id": lock_id(pins),
            "wheels": wheels,
            "sources": sources,
            "run_requirements": run_requirements,
        },
    }
    return {"stack": stack, "files": {"stack": path, "lock": lock_path}}


# --- writing a lock ---------------------------------------------------------------------------------------

_HEADER = """---
# What the stack {name} resolved to. Written by playbooks/lock.yml: change the stack and run that instead.
"""


class _IndentedDumper(yaml.SafeDumper):
    """Lists indented below their key, as the rest of the collection writes them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, False)


def lock_text(lock: t.Mapping[str, t.Any]) -> str:
    """Return a lock's file: the same pins give the same bytes."""
    ordered = {
        "format": 1,
        "stack": lock["stack"],
        "resolved": lock["resolved"],
        "archives": _sorted(lock.get("archives") or {}),
        "wheels": _sorted(lock.get("wheels") or {}),
        "sources": _sorted(lock.get("sources") or {}),
        "build_requirements": _sorted(lock.get("build_requirements") or {}),
        "run_requirements": _sorted(lock.get("run_requirements") or {}),
    }
    # Strings that came through Ansible are of a class of its own, which YAML's safe subset does not write.
    plain = json.loads(json.dumps({"stack_lock": ordered}))
    body = yaml.dump(plain, Dumper=_IndentedDumper, sort_keys=False, default_flow_style=False, width=1000)
    return _HEADER.format(name=lock["stack"]) + body


def _sorted(value: t.Any) -> t.Any:
    """Return mappings by key and lists of lines in order; nothing in a lock depends on an order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return sorted(value)
    return value


def same_pins(one: t.Mapping[str, t.Any] | None, other: t.Mapping[str, t.Any]) -> bool:
    """Say whether two locks differ in nothing but the day on which they were resolved."""
    if one is None:
        return False
    return lock_text({**one, "resolved": ""}) == lock_text({**other, "resolved": ""})


def write_file(path: str, text: str) -> None:
    """Put a file into place by one rename, on disk before it has its name."""
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=directory)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def lock_archives(definition: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return every archive of a stack that a manifest can be asked for, cuSPARSELt's included."""
    archives = [dict(archive) for archive in definition["archives"]]
    if definition["cusparselt"].get("archive"):
        archives.append(dict(definition["cusparselt"]["archive"]))
    return archives


def lock_targets(definition: t.Mapping[str, t.Any]) -> list[_lock.Target]:
    """Return the hosts that wheels are resolved for: the stack's Python on each of its machines."""
    return [_lock.Target(definition["python"]["version"], machine) for machine in definition["machines"]]


def lock_units(definition: t.Mapping[str, t.Any]) -> dict[str, list[str]]:
    """Return the pinned build requirements of every unit of a stack."""
    return {name: list(unit.get("requirements") or []) for name, unit in (definition.get("units") or {}).items()}


def lock_run_requirements(definition: t.Mapping[str, t.Any]) -> dict[str, list[str]]:
    """Return what every unit needs at run time, and what people expect beside them."""
    units = definition.get("units") or {}
    if not units:
        return {}
    beside = definition["wheel"].get("beside") or {}
    return {
        **{name: list(unit.get("requires") or []) for name, unit in units.items()},
        BESIDE: [f"{name}=={version}" for name, version in sorted(beside.items())],
    }


def moved(old: t.Mapping[str, t.Any], new: t.Mapping[str, t.Any]) -> list[str]:
    """Return one sentence for each pin that differs between two locks."""
    before, after = _flat(old), _flat(new)
    lines = []
    for key in sorted(set(before) | set(after)):
        if before.get(key) == after.get(key):
            continue
        was, now = before.get(key, ("none", "")), after.get(key, ("none", ""))
        if was[0] == now[0]:
            lines.append(f"{key} {now[0]}: sha256 {was[1] or 'none'} -> {now[1] or 'none'}")
        else:
            lines.append(f"{key}: {was[0]} -> {now[0]}")
    return lines


def _flat(lock: t.Mapping[str, t.Any]) -> dict[str, tuple[str, str]]:
    """Return ``{what: (version, sha256)}`` of every pin."""
    flat: dict[str, tuple[str, str]] = {}
    for component, archive in (lock.get("archives") or {}).items():
        for platform, sha256 in (archive.get("sha256") or {}).items():
            flat[f"archives {component} {platform}"] = (archive["version"], sha256)
    for platform, lines in (lock.get("wheels") or {}).items():
        flat.update(_flat_lines(f"wheels {platform}", lines))
    for name, source in (lock.get("sources") or {}).items():
        if "archive" in source:
            flat[f"sources {name}"] = (redact(source["archive"]), source["sha256"])
        else:
            by = source.get("pinned_by")
            said = f" ({by['file']} of {by['source']} {by['commit'][:12]})" if by else ""
            flat[f"sources {name}"] = (f"{source['commit']}{said}", "")
    for part in ("build_requirements", "run_requirements"):
        for platform, units in (lock.get(part) or {}).items():
            for unit, lines in units.items():
                flat.update(_flat_lines(f"{part} {platform} {unit}", lines))
    return flat


def _flat_lines(what: str, lines: t.Iterable[str]) -> dict[str, tuple[str, str]]:
    found = {}
    for line in lines:
        name, _sep, rest = line.partition("==")
        version, _sep, hashes = rest.partition(" --hash=sha256:")
        found[f"{what} {name}"] = (version, hashes)
    return found
