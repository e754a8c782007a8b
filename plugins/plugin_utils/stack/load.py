"""Find and validate the files of a stack, its lock and the profiles; report all problems of a file at once."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import graphlib
import os
import re
import typing as t

import yaml

from ...module_utils._core.errors import SparkforgeError
from .. import schema
from .model import BESIDE, Lock, pin_of

with contextlib.suppress(ImportError):
    # ansible-core depends on packaging; only ansible-test's import check runs without it.
    from packaging.version import InvalidVersion, Version

#: This collection's `stack` role: its stacks, locks and profiles are searched last.
SHIPPED = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "roles", "stack"))
PROFILES_FILE = "profiles"
README = "roles/stack/README.md"
# The top-level key of a file, by schema.
TOP_LEVEL = {"stack": "stack_definition", "lock": "stack_lock", "profiles": "stack_profiles"}

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")
# Unit names follow the repositories; the keys of ``versions`` are distribution names.
DISTRIBUTIONS = {"pytorch": "torch", "triton": "triton", "torchvision": "torchvision", "torchaudio": "torchaudio"}


@dataclasses.dataclass(frozen=True)
class SearchPaths:
    """The directories that are searched for files, in this order.

    :ivar stacks: directories with stacks, the collection's own last.
    :ivar locks: directories with locks, the collection's own last.
    :ivar profiles: the profiles file.
    """

    stacks: tuple[str, ...]
    locks: tuple[str, ...]
    profiles: str


def search_paths(
    inventories: t.Sequence[str], shipped: str | None, stacks: t.Sequence[str] = (), locks: t.Sequence[str] = ()
) -> SearchPaths:
    """Return the directories to search: the requested ones, then those next to the inventory, then the role's.

    :param inventories: the inventory's directories.
    :param shipped: the directory of the ``stack`` role; by default this collection's.
    """
    shipped = shipped or SHIPPED

    def order(asked: t.Sequence[str], below: str, own: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*asked, *(os.path.join(path, below) for path in inventories), own]))

    return SearchPaths(
        stacks=order(stacks, "stacks", os.path.join(shipped, "vars")),
        locks=order(locks, "locks", os.path.join(shipped, "files", "locks")),
        profiles=os.path.join(shipped, "vars", f"{PROFILES_FILE}.yml"),
    )


def inventory_directories(variables: t.Mapping[str, t.Any]) -> list[str]:
    """Return the directories that contain the inventory's files, the host's own first; ``localhost,`` has none."""
    own = variables.get("inventory_dir")
    directories = [own] if isinstance(own, str) and own else []
    for source in variables.get("ansible_inventory_sources") or []:
        if isinstance(source, str) and os.path.exists(source):
            directories.append(source if os.path.isdir(source) else os.path.dirname(source))
    return list(dict.fromkeys(os.path.abspath(path) for path in directories))


def known_names(directories: t.Iterable[str]) -> dict[str, str]:
    """Return ``{name: path}`` for the YAML files in the directories; the first file with a name wins."""
    paths: dict[str, str] = {}
    for directory in directories:
        if not os.path.isdir(directory):
            continue
        for entry in sorted(os.listdir(directory)):
            stem, extension = os.path.splitext(entry)
            if extension == ".yml" and stem != PROFILES_FILE and _NAME.match(stem):
                paths.setdefault(stem, os.path.join(directory, entry))
    return paths


def find(name: str, directories: t.Sequence[str]) -> str:
    """Return the path of a stack's file.

    :raises SparkforgeError: for an unknown name; the error lists the known names and the searched directories.
    """
    paths = known_names(directories)
    if name in paths:
        return paths[name]
    listed = ", ".join(
        f"{path} ({'no such directory' if not os.path.isdir(path) else 'there'})" for path in directories
    )
    close = difflib.get_close_matches(name, paths, n=1)
    raise SparkforgeError(
        f"Stack {name!r} is unknown: no {name}.yml in {listed}; known: {', '.join(sorted(paths)) or 'none'}.",
        f"Set stack_name to {'`' + close[0] + '`' if close else 'one of the known ones'}, or add the file to stacks/ "
        f"next to the inventory.",
    )


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe subset, refusing duplicate keys: otherwise the second would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[t.Any, t.Any]:
        known_keys = set()
        for key_node, _value in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str) and key in known_keys:
                raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", key_node.start_mark)
            if isinstance(key, str):
                known_keys.add(key)
        return super().construct_mapping(node, deep=deep)


def read_file(path: str, kind: str) -> dict[str, t.Any]:
    """Return the validated value of the only top-level key of a YAML file.

    :param kind: ``stack``, ``lock`` or ``profiles``.
    :raises SparkforgeError: if the file cannot be read, is not YAML, has another key, or does not match its schema.
    """
    key = TOP_LEVEL[kind]
    try:
        with open(path, encoding="utf-8") as file:
            # The loader is a subclass of SafeLoader, so it returns only plain data.
            content = yaml.load(file, Loader=_UniqueKeyLoader)  # noqa: S506
    except (OSError, UnicodeDecodeError) as error:
        raise SparkforgeError(f"{path} cannot be read: {error}.", "Make it readable for Ansible's user.") from error
    except yaml.YAMLError as error:
        raise SparkforgeError(
            f"{path} is not valid YAML: {' '.join(str(error).split())}.", "Correct that line."
        ) from error
    except (RecursionError, ValueError) as error:
        # These are thousands of brackets, and numbers or dates that Python cannot represent.
        raise SparkforgeError(
            f"{path} cannot be read as YAML: {' '.join(str(error).split())}.",
            "Write a mapping with few levels, and quote strings that look like numbers or dates.",
        ) from error
    if not isinstance(content, dict) or list(content) != [key] or not isinstance(content[key], dict):
        description = ", ".join(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise SparkforgeError(
            f"{path} must have a single top-level key {key} with a mapping; it has {description or 'nothing'}.",
            f"Start the file with `{key}:`; {README} describes every key.",
        )
    check(kind, content[key], path)
    return t.cast("dict[str, t.Any]", content[key])


def load(name: str, where: SearchPaths) -> tuple[dict[str, t.Any], str]:
    """Return a stack's validated definition and its path.

    :raises SparkforgeError: for an unknown or invalid stack.
    """
    path = find(name, where.stacks)
    definition = read_file(path, "stack")
    definition["versions"] = {**dict.fromkeys(DISTRIBUTIONS.values()), **definition["versions"]}
    return definition, path


def load_lock(name: str, where: SearchPaths) -> tuple[Lock | None, str | None]:
    """Return a stack's validated lock and its path, or None for both if there is no lock yet."""
    path = known_names(where.locks).get(name)
    if path is None:
        return None, None
    lock = t.cast("Lock", read_file(path, "lock"))
    if lock["stack"] != name:
        raise SparkforgeError(f"The lock {path} belongs to the stack {lock['stack']}, not of {name}.", relock(name))
    return lock, path


def relock(name: str) -> str:
    """Return the remedy for a lock that does not match the stack."""
    return f"Renew it: ansible-playbook sparkforge.dgx_spark.lock -e stack_name={name}."


def check(kind: str, value: t.Any, path: str) -> None:
    """Raise an error that lists every problem of a file.

    :param kind: ``stack``, ``lock`` or ``profiles``.
    :raises SparkforgeError: if there is a problem.
    """
    problems = schema.problems(kind, value, TOP_LEVEL[kind])
    if not problems and kind == "stack":
        problems = _contradictions(value)
    if problems:
        label = "profiles file" if kind == "profiles" else kind
        raise SparkforgeError(
            f"The {label} {path} has {len(problems)} problem{'s' if len(problems) > 1 else ''}: {'; '.join(problems)}.",
            f"Correct the file; {README} describes every key.",
            problems=problems,
        )


def _contradictions(definition: t.Mapping[str, t.Any]) -> list[str]:
    """Return the contradictions between keys."""
    sentences = []
    python = definition["python"]
    low, version, high = (Version(python[key]) for key in ("minimum", "version", "maximum"))
    if not low <= version <= high:
        sentences.append(f"python.version {python['version']} is outside {python['minimum']} to {python['maximum']}")
    if not definition["wheel"]["available"] and not definition["wheel"].get("reason"):
        sentences.append("wheel.reason is missing: state why there are no wheels")
    components = [archive["component"] for archive in definition["archives"]]
    sentences += [f"archives has {name} twice" for name in sorted({x for x in components if components.count(x) > 1})]
    return [*sentences, *_source_contradictions(definition), *_unit_contradictions(definition)]


def _source_contradictions(definition: t.Mapping[str, t.Any]) -> list[str]:
    sources, versions, sentences = definition.get("sources") or {}, definition["versions"], []
    for name, source in sources.items():
        pin = pin_of(name, source)
        if source.get("ref") and not source.get("url"):
            sentences.append(f"sources.{name}.url is empty, and its ref names no repository")
        if source.get("pin") and source["pin"]["source"] not in sources:
            sentences.append(f"sources.{name}.pin.source is {source['pin']['source']}, which is not one of the sources")
        if not source.get("url") and "archive" not in source and pin is None:
            sentences.append(f"sources.{name}.url is empty, and no other source provides it")
        version = versions.get(DISTRIBUTIONS.get(name, name))
        tag = re.fullmatch(r"v?(\d+(?:\.\d+)+)", str(source.get("ref") or ""))
        if version and tag and tag[1] != version.partition("+")[0]:
            sentences.append(f"sources.{name}.ref is {tag[0]}, but versions says {version}")
    return [*sentences, *_version_contradictions(versions)]


def _version_contradictions(versions: t.Mapping[str, t.Any]) -> list[str]:
    read, sentences = {}, []
    for name, text in versions.items():
        try:
            read[name] = Version(text) if text else None
        except InvalidVersion:
            sentences.append(f"versions.{name} is {text!r}, which is not a version of a Python package (PEP 440)")
    torch, vision = read.get("torch"), read.get("torchvision")
    fitting = _torchvision_for(torch) if torch else None
    if fitting and vision and not fitting[0] <= vision.release[:2] <= fitting[1]:
        sentences.append(
            f"versions.torchvision {vision} does not fit torch {torch}, which needs {'.'.join(map(str, fitting[0]))}"
        )
    return sentences


def _torchvision_for(torch: Version) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the oldest and newest minor version of torchvision for a torch version, or None if unknown.

    Requires-Dist of torchvision: 0.15 requires torch 2.0, and so on in steps of one to 0.28 for 2.13; 0.29.1 requires
    2.14 or newer. torchvision 0.9.2, which a recipe from 2025 names, was released in 2021 for torch 1.8.
    """
    if torch.major != 2:
        return None
    return ((0, torch.minor + 15), (0, torch.minor + 15)) if torch.minor < 14 else ((0, 29), (0, 999))


def _unit_contradictions(definition: t.Mapping[str, t.Any]) -> list[str]:
    units, sources, sentences = definition.get("units") or {}, definition.get("sources") or {}, []
    for name, unit in units.items():
        distribution = DISTRIBUTIONS.get(name)
        if distribution and not definition["versions"].get(distribution):
            sentences.append(f"versions.{distribution} is missing, but units.{name} builds it")
        if name == BESIDE:
            sentences.append(f"units.{name} is not a valid unit name")
        source = unit.get("source", name)
        if source not in sources:
            sentences.append(f"units.{name} has no source: it lacks sources.{source}")
        for other in unit.get("depends") or []:
            if other not in units:
                sentences.append(f"units.{name}.depends names {other}, which is not one of the units")
    try:
        graphlib.TopologicalSorter({name: unit.get("depends") or [] for name, unit in units.items()}).prepare()
    except graphlib.CycleError as error:
        # graphlib lists each unit before the one that needs it.
        ring = error.args[1][::-1]
        sentences.append(f"units.{ring[0]} depends on itself: {' -> '.join(ring)}")
    return sentences
