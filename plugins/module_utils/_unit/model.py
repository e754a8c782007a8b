"""A unit is one package built from source: its options, its identity and its paths.

The fingerprint covers every input that can change the artefact. Options that cannot change it (mirrors, the number of
jobs, the checks afterwards) are not inputs, so changing them triggers no rebuild.
"""

from __future__ import annotations

import dataclasses
import os
import re
import typing as t

from .._core import digests
from .._core.errors import SparkforgeError
from .._wheel import requirement

#: Raise this when the meaning of the inputs changes. Every unit is then rebuilt.
FORMAT = 1
KINDS = ("wheel", "cmake")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = re.compile(r"\{(root|source|build|environment|prefix|depends\.([a-z][a-z0-9_]*)\.prefix)\}")
#: Tools that are also packages on the index, under the same name.
_BROUGHT = frozenset({"cmake", "ninja"})
#: Intermediate build directories, which can be recreated.
TREES = ("source", "build", "environment", "out", "home", "tmp", "launchers")
#: Variables that only the engine may set, and the options to use instead.
_RESERVED = {
    "MAX_JOBS": "jobs",
    "CMAKE_BUILD_PARALLEL_LEVEL": "jobs",
    "CC": "toolchain.cc",
    "CXX": "toolchain.cxx",
    "PATH": "toolchain",
    "HOME": "",
    "TMPDIR": "",
    "CCACHE_DIR": "ccache",
    "CCACHE_MAXSIZE": "ccache_size",
}


_SOURCE = {
    "repo": {"type": "str"},
    "version": {"type": "str"},
    "submodules": {"type": "bool", "default": True},
    "archive": {"type": "str"},
    "sha256": {"type": "str"},
}
_EDIT = {
    "path": {"type": "str", "required": True},
    "match": {"type": "str", "required": True},
    "replace": {"type": "str", "required": True},
    "name": {"type": "str"},
    "count": {"type": "int", "default": 1},
}
_EXPECT = {
    "cmake_cache": {"type": "dict", "default": {}},
    "libraries": {"type": "list", "elements": "str", "default": []},
    "architectures": {"type": "list", "elements": "str", "default": []},
    "files": {"type": "list", "elements": "str", "default": []},
    "version": {"type": "str"},
}


def _option(kind: str, layers: str = "", without: t.Any = None, **spec: t.Any) -> t.Any:
    """Return a field of ``Unit``: an option of ``source_build`` and its specification.

    :param kind: the option's type.
    :param layers: how to combine the values from role, stack and user (see ``plans.units``): ``merge`` mappings key by
        key, ``add`` (concatenate) lists, or ``replace``. Empty for a site's or run's own options.
    :param without: the value if no layer sets the option.
    :param spec: the rest of its specification.
    """
    empty: dict[str, t.Any] = {"dict": {"default_factory": dict}, "list": {"default": ()}}
    default: t.Any = empty.get(kind, {"default": spec.get("default")})
    metadata = {"layers": layers, "without": without, "spec": {"type": kind, **spec}}
    return dataclasses.field(metadata=metadata, **default)  # pylint: disable=invalid-field-call


@dataclasses.dataclass(frozen=True)
class Depend:
    """A unit that must be built first; if ``fingerprint`` is None, the newest build on the host is used."""

    name: str
    fingerprint: str | None = None


@dataclasses.dataclass(frozen=True)
class Paths:
    """The paths that belong to one fingerprint of a unit; see docs/concepts.md."""

    root: str
    log_root: str
    name: str
    fingerprint: str
    platform: str

    @property
    def builds(self) -> str:
        """The directory that holds the builds of all units and the files that they share."""
        return os.path.join(self.root, "builds")

    @property
    def build_directory(self) -> str:
        return os.path.join(self.builds, self.name, self.fingerprint)

    def inside(self, *parts: str) -> str:
        """Return a path inside the build directory."""
        return os.path.join(self.build_directory, *parts)

    @property
    def artefact(self) -> str:
        return os.path.join(self.root, "wheelhouse", self.platform, self.name, self.fingerprint)

    @property
    def prefix(self) -> str:
        return os.path.join(self.artefact, "prefix")

    @property
    def receipts(self) -> str:
        return os.path.join(self.root, "receipts", "units")

    @property
    def receipt(self) -> str:
        return os.path.join(self.receipts, f"{self.name}-{self.fingerprint}.json")

    @property
    def log(self) -> str:
        return os.path.join(self.log_root, f"{self.name}-{self.fingerprint}.log")

    @property
    def marker(self) -> str:
        """The value of the marker variable in the environment of every process of the build."""
        return f"{self.name}/{self.fingerprint}"

    @property
    def service(self) -> str:
        """The name of the transient systemd unit."""
        return f"sparkforge-{self.name}-{self.fingerprint}.service"


@dataclasses.dataclass(frozen=True)
class Unit:
    """The validated options of ``source_build``.

    A new option needs a field here, a paragraph in the module's documentation and, if a stack may set it, an entry in
    stack.schema.json. A test compares the three. Module, plans and action plugin read the option from here.
    """

    name: str = dataclasses.field(metadata={"layers": "", "spec": {"type": "str", "required": True}})
    kind: str = _option("str", "replace", "wheel", choices=list(KINDS))
    source: t.Mapping[str, t.Any] = _option("dict", "replace", options=_SOURCE)
    rewrite: t.Mapping[str, str] = _option("dict", "merge", default={})
    subdirectory: str = _option("str", "replace", "", default="")
    patches: tuple[t.Mapping[str, str], ...] = _option("list", "add", elements="raw", default=[])
    edits: tuple[t.Mapping[str, t.Any], ...] = _option("list", "add", elements="dict", options=_EDIT, default=[])
    environment: t.Mapping[str, str] = _option("dict", "merge", default={})
    requirements: tuple[str, ...] = _option("list", "replace", (), elements="str", default=[])
    index_url: str | None = _option("str")
    find_links: tuple[str, ...] = _option("list", elements="str", default=[])
    python: str = _option("str", default="/usr/bin/python3")
    cmake_args: tuple[str, ...] = _option("list", "add", elements="str", default=[])
    depends: tuple[Depend, ...] = _option("list", "add", elements="raw", default=[])
    toolchain: t.Mapping[str, str] = _option("dict", "merge", default={})
    minimum: t.Mapping[str, str] = _option("dict", "merge", default={})
    libraries: t.Mapping[str, t.Mapping[str, str]] = _option("dict", "merge", default={})
    jobs: int = _option("int", default=0)
    memory_per_job: int = _option("int", "replace", 4096, default=4096)
    memory_reserve: int = _option("int", default=0)
    free_space: int = _option("int", "replace", 0, default=0)
    ccache: bool = _option("bool", default=True)
    ccache_size: str = _option("str", default="20G")
    network: bool = _option("bool", "replace", False, default=False)
    expect: t.Mapping[str, t.Any] = _option("dict", "merge", options=_EXPECT, default={})
    keep: int = _option("int", default=0)

    @classmethod
    def from_options(cls, options: t.Mapping[str, t.Any]) -> Unit:
        """Return the unit that the module's options describe.

        :raises SparkforgeError: for the first option that is invalid or contradicts another.
        """
        field_names = {field.name for field in dataclasses.fields(cls)}
        values = {key: value for key, value in options.items() if key in field_names and value is not None}
        for key in ("patches", "edits", "requirements", "find_links", "cmake_args"):
            values[key] = tuple(values.get(key) or ())
        values["depends"] = tuple(_depend(item) for item in values.get("depends") or ())
        values["environment"] = _environment(values.get("environment") or {})
        values["source"] = _source(values.get("source") or {})
        values["libraries"] = {name: _library(name, row) for name, row in (values.get("libraries") or {}).items()}
        for key in ("toolchain", "minimum", "expect"):
            values[key] = {name: value for name, value in (values.get(key) or {}).items() if value not in (None, "")}
        unit = cls(**values)
        unit.check()
        return unit

    def check(self) -> None:
        """Refuse options that cannot work on any host."""
        if not _NAME.fullmatch(self.name):
            raise SparkforgeError(f"{self.name!r} is not a valid unit name.", "Use lower-case letters, digits and '_'.")
        if self.kind not in KINDS:
            raise SparkforgeError(
                f"{self.kind!r} is not a kind of unit.", f"Set the option kind to {' or '.join(KINDS)}."
            )
        requirement.place_option("index_url", self.index_url or "")
        for link in self.find_links:
            requirement.place_option("find_links", link)
        names = [depend.name for depend in self.depends]
        if self.name in names:
            raise SparkforgeError(
                f"The unit {self.name} depends on itself.", "Remove its own name from the option depends."
            )
        if len(set(names)) < len(names):
            raise SparkforgeError(
                f"The unit {self.name} lists a dependency twice: {', '.join(names)}.", "List each of them once."
            )
        if os.path.isabs(self.subdirectory) or ".." in self.subdirectory.split("/"):
            raise SparkforgeError(
                f"The subdirectory {self.subdirectory!r} is outside the source.",
                "Use a directory inside the source tree.",
            )
        if self.kind == "wheel" and self.cmake_args:
            raise SparkforgeError(
                f"The unit {self.name} is a wheel, which takes no cmake_args.",
                "Put them into the environment variable that its setup reads, such as CMAKE_ARGS, or "
                "TRITON_APPEND_CMAKE_ARGS for Triton.",
                option="cmake_args",
            )
        for option in ("jobs", "memory_per_job", "memory_reserve", "free_space", "keep"):
            if getattr(self, option) < 0:
                raise SparkforgeError(f"The option {option} is {getattr(self, option)}.", "Set it to 0 or more.")
        texts = [*self.environment.values(), *self.cmake_args]
        for text in texts:
            for match in _PLACEHOLDER.finditer(text):
                if match[2] and match[2] not in names:
                    raise SparkforgeError(
                        f"{match[0]} is used, but the unit {self.name} does not depend on {match[2]}.",
                        f"Add {match[2]} to the option depends.",
                    )

    @property
    def is_git(self) -> bool:
        return "repo" in self.source

    @property
    def brings(self) -> frozenset[str]:
        """The build tools that the requirements install. They replace the host's tools, and their pins are inputs."""
        return frozenset(_BROUGHT.intersection(_by_name(self.requirements)))

    def inputs(
        self,
        *,
        identity: t.Mapping[str, str],
        tools: t.Mapping[str, str],
        platform: str,
        depends: t.Mapping[str, str],
        digest: t.Mapping[str, str],
    ) -> dict[str, t.Any]:
        """Return everything that can change the artefact, for the fingerprint and for ``--diff``.

        :param identity: the ``commit`` or ``sha256`` of the source. The URL is left out, because it may be a mirror's.
        :param tools: ``_toolchain.Toolchain.identity()``.
        :param platform: for example ``ubuntu24.04-aarch64``.
        :param depends: the fingerprint of each unit that this unit depends on.
        :param digest: ``patching.contents_digest()``: a name and a sha256 for each patch and edit.
        """
        return {
            "format": FORMAT,
            "name": self.name,
            "kind": self.kind,
            "source": {
                **identity,
                "subdirectory": self.subdirectory,
                **({"submodules": str(bool(self.source["submodules"])).lower()} if self.is_git else {}),
            },
            "changes": dict(digest),
            "environment": dict(self.environment),
            "requirements": _by_name(self.requirements),
            # No other input represents the files that the build itself downloads.
            **({"network": "true"} if self.network else {}),
            "cmake_args": list(self.cmake_args),
            # These are constant in every fingerprint; only a new FORMAT may change them.
            "targets": [],
            "build_tag": "",
            "toolchain": dict(tools),
            # Use the requested version, not the installed one: a newer library with the same SONAME needs no rebuild.
            **({"libraries": requested_versions} if (requested_versions := self._libraries("version")) else {}),
            "platform": platform,
            "depends": dict(depends),
        }

    @property
    def found_libraries(self) -> dict[str, str]:
        """Return the host's version of each library, for the receipt."""
        return self._libraries("found")

    def _libraries(self, key: str) -> dict[str, str]:
        return {name: row[key] for name, row in sorted(self.libraries.items()) if row.get(key)}


def argument_spec() -> dict[str, dict[str, t.Any]]:
    """Return the argument specification for the options of a unit."""
    return {field.name: dict(field.metadata["spec"]) for field in dataclasses.fields(Unit)}


def fingerprint(inputs: t.Mapping[str, t.Any]) -> str:
    """Return a 16-digit hexadecimal fingerprint of ``inputs``."""
    return digests.of_data(inputs)[:16]


def changes(old: t.Mapping[str, t.Any], new: t.Mapping[str, t.Any]) -> list[str]:
    """Return one line for each input that differs: ``environment.USE_CUFILE: 0 -> 1``."""
    before, after = dict(_flatten(old)), dict(_flatten(new))
    lines = []
    for key in sorted({*before, *after}):
        old_value, other = before.get(key), after.get(key)
        if old_value != other:
            lines.append(f"{key}: {_short_value(old_value)} -> {_short_value(other)}")
    return lines


def expand(text: str, paths: t.Mapping[str, str]) -> str:
    """Replace ``{source}``, ``{depends.llvm.prefix}`` … with paths and leave other braces unchanged.

    :param paths: the path for each placeholder, keyed by its name without braces.
    """
    return _PLACEHOLDER.sub(lambda match: paths.get(match[1], match[0]), text)


def _flatten(value: t.Any, path: str = "") -> t.Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flatten(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        # Key list items by content, so that an added argument shows as one line instead of shifting all later ones.
        for item in value:
            yield f"{path}[{item}]", "given"
    else:
        yield path, str(value)


def _short_value(value: str | None) -> str:
    if value is None:
        return "(none)"
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", value):
        return value[:7]
    return value if value else "''"


def _by_name(requirements: t.Iterable[str]) -> dict[str, str]:
    """Return requirement lines keyed by package name, so that ``--diff`` can name the package that changed."""
    by_name: dict[str, str] = {}
    for line in requirements:
        # Leave the hashes out: they identify files, and another platform in the lock does not change the version.
        requirement_line = requirement.split(line)
        name, rest = requirement_line.written.lower(), requirement_line.pin[len(requirement_line.written) :].strip()
        by_name[name] = " ".join(sorted([*by_name[name].split(), rest])) if name in by_name else rest
    return by_name


def _depend(item: t.Any) -> Depend:
    if isinstance(item, str):
        item = {"name": item}
    if not isinstance(item, dict) or set(item) - {"name", "fingerprint"} or not isinstance(item.get("name"), str):
        raise SparkforgeError(
            f"{item!r} does not name a unit to depend on.", "Set its name, or its name and fingerprint."
        )
    mark = item.get("fingerprint")
    if not _NAME.fullmatch(item["name"]) or (mark is not None and not _FINGERPRINT.fullmatch(str(mark))):
        raise SparkforgeError(
            f"{item!r} is not a valid dependency.", "Use a unit's name, and a fingerprint of 16 hexadecimal digits."
        )
    return Depend(item["name"], mark)


def _library(name: str, library: t.Any) -> dict[str, str]:
    if not isinstance(library, dict) or set(library) - {"version", "found"}:
        raise SparkforgeError(
            f"{library!r} does not say which {name} the unit is compiled against.",
            "Set the requested version of the library, and found, the host's version.",
        )
    return {key: str(value) for key, value in library.items() if value}


def _environment(variables: t.Mapping[str, t.Any]) -> dict[str, str]:
    environment: dict[str, str] = {}
    for key, value in variables.items():
        if not _VARIABLE.fullmatch(str(key)):
            raise SparkforgeError(f"{key!r} is not a valid environment variable name.", "Use letters, digits and '_'.")
        if key in _RESERVED:
            instead = _RESERVED[key]
            raise SparkforgeError(
                f"The environment variable {key} is set by the engine itself.",
                f"Use the option {instead} instead." if instead else "Remove it.",
            )
        if value is None:
            continue
        if isinstance(value, (dict, list)):
            raise SparkforgeError(f"The environment variable {key} is not a string.", "Give a string.")
        # YAML turns `yes` and `true` into booleans, but builds expect 1 and 0.
        environment[str(key)] = str(int(value)) if isinstance(value, bool) else str(value)
    return environment


def _source(options: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    source = {key: value for key, value in options.items() if value is not None}
    if ("repo" in source) == ("archive" in source):
        raise SparkforgeError(
            "A source must be either a repository or an archive.",
            "Set source.repo and source.version, or source.archive and source.sha256.",
        )
    if "repo" in source:
        if not source.get("version"):
            raise SparkforgeError(
                f"The source {source['repo']} has no version.", "Set source.version to a commit, a tag or a branch."
            )
        if str(source["version"]).startswith("-"):
            raise SparkforgeError(f"{source['version']!r} is not a version.", "Use a commit, a tag or a branch.")
        return {
            "repo": str(source["repo"]),
            "version": str(source["version"]),
            "submodules": bool(source.get("submodules", True)),
        }
    sha256 = str(source.get("sha256") or "").lower()
    if not _SHA256.fullmatch(sha256):
        raise SparkforgeError(
            f"The archive {source['archive']} has no sha256.",
            "Set source.sha256 (64 hexadecimal digits) from a source that you trust.",
        )
    return {"archive": str(source["archive"]), "sha256": sha256}
