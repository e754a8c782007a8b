"""The validated options of one environment, and the paths of its files.

::

    <root>/envs/<name>/<environment id>/            one environment, immutable once proven
    <root>/envs/<name>/<environment id>/receipt.json   written after all imports succeed; without it, debris
    <root>/envs/<name>/current -> <environment id>
    <root>/envs/<name>/previous -> <environment id>
    <root>/envs/<name>/staged -> <environment id>   created and tested, not yet current
    <root>/envs/<name>/.<environment id>.partial/   an environment being created
    <root>/wheels/<sha256>/<file>            wheels from the controller
    <root>/bin/activate-<name>, <name>-python
    <root>/receipts/env-<name>.json          written last
"""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import typing as t

from .._core.errors import SparkforgeError
from .._core.redact import redact
from .._wheel import requirement
from .._wheel.environment import check_name

#: The variables set for every program that is started, so that its output can be parsed.
ENGLISH = {"LC_ALL": "C.UTF-8"}

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
#: Variables that the activation sets itself; library_paths adds to them.
_RESERVED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "PYTHONHOME")

Facts = dict[str, t.Any]
#: ``AnsibleModule.run_command``: takes argv, ``environ_update`` and ``cwd``, and returns status, stdout and stderr.
Run = t.Callable[..., tuple[int, str, str]]


@dataclasses.dataclass(frozen=True)
class Paths:
    """The paths for the environments of one name (:func:`paths_of`)."""

    root: str
    name: str
    directory: str
    current: str
    activate: str
    launcher: str
    wheels: str
    kernel: str
    receipt_name: str

    def of(self, entry: str) -> str:
        """Return the path of an environment, a link or a leftover."""
        return os.path.join(self.directory, entry)


def paths_of(root: str, name: str, kernel_dir: str = "/usr/local/share/jupyter/kernels") -> Paths:
    return Paths(
        root,
        name,
        directory=os.path.join(root, "envs", name),
        current=os.path.join(root, "envs", name, "current"),
        activate=os.path.join(root, "bin", f"activate-{name}"),
        launcher=os.path.join(root, "bin", f"{name}-python"),
        wheels=os.path.join(root, "wheels"),
        kernel=os.path.join(kernel_dir, f"sparkforge-{name}", "kernel.json"),
        receipt_name=f"env-{name}",
    )


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of ``python_env``, as in its argument spec, and facts about the host.

    :ivar login: the account that Ansible connected as, which should be a member of the group.
    """

    paths: Paths
    machine: str
    check_mode: bool
    login: str | None = None
    state: str = "present"
    switch: bool = True
    python: str = "/usr/bin/python3"
    requirements: t.Sequence[requirement.Requirement] = ()
    override: t.Sequence[str] = ()
    wheels: t.Sequence[t.Any] = ()
    find_links: t.Sequence[str] = ()
    index_url: str | None = None
    credentials: t.Sequence[t.Mapping[str, t.Any]] = ()
    stack: t.Mapping[str, t.Any] | None = None
    environment_id: str | None = None
    imports: t.Sequence[str] = ()
    require_cuda: bool = False
    library_paths: list[str] | None = None
    environment: dict[str, str] | None = None
    group: str | None = None
    users: t.Sequence[str] = ()
    compile: bool = True
    jupyter: bool = False
    keep: int = 2
    transferred: t.Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def installs(self) -> bool:
        """Whether the options allow creating an environment; otherwise it must already exist."""
        return bool(self.requirements or self.wheels)


def read(
    parameters: t.Mapping[str, t.Any], *, check_mode: bool, machine: str | None = None, login: str | None = None
) -> Options:
    """Validate the module's options; missing or null options get the defaults from the argument spec."""
    name = check_name(parameters["name"], "name")
    root = os.path.abspath(parameters["root"])
    if not os.path.isabs(parameters["root"]) or not root.strip("/"):
        raise SparkforgeError(
            f"The root {parameters['root']!r} is not an absolute path, or is /.",
            "Give an absolute path such as /opt/sparkforge.",
        )
    paths = paths_of(root, name, **{key: parameters[key] for key in ("kernel_dir",) if parameters.get(key)})
    field_names = {field.name for field in dataclasses.fields(Options)}
    options = Options(
        paths,
        machine or platform.machine(),
        check_mode,
        login,
        **{key: value for key, value in parameters.items() if key in field_names and value is not None},
    )
    options = dataclasses.replace(
        options,
        python=str(options.python),
        requirements=[requirement.parse_requirement(line) for line in parameters.get("requirements") or []],
        environment=_variables(options.environment),
        library_paths=_library_paths(options.library_paths),
        imports=list(dict.fromkeys([*options.imports, *(["torch"] if options.require_cuda else [])])),
    )
    if options.keep < 1:
        raise SparkforgeError("keep is less than 1.", "Keep at least the current environment.")
    for module in options.imports:
        if not _MODULE.fullmatch(module):
            raise SparkforgeError(f"{module!r} is not a module name.", "Correct the option imports.")
    if options.environment_id:
        check_name(options.environment_id, "id")
    requirement.place_option("index_url", options.index_url or "")
    for location in options.find_links:
        requirement.place_option("find_links", location)
        if not os.path.isabs(location) and not re.match(r"(https?|file)://", location):
            raise SparkforgeError(
                f"The find_links entry {redact(location)!r} is neither a URL nor an absolute path.",
                "Use https://…, file://… or a directory on the host.",
            )
    return options


def _variables(variables: t.Mapping[str, t.Any] | None) -> dict[str, str] | None:
    for key in variables or {}:
        if not _VARIABLE.fullmatch(key) or key in _RESERVED_VARIABLES:
            raise SparkforgeError(
                f"{key!r} cannot be set when the environment is activated.",
                f"Use variables other than {', '.join(_RESERVED_VARIABLES)}; library directories go into "
                f"library_paths.",
            )
    return None if variables is None else {key: str(value) for key, value in variables.items()}


def _library_paths(library_paths: t.Sequence[t.Any] | None) -> list[str] | None:
    for path in library_paths or []:
        if not os.path.isabs(path) or ":" in path:
            raise SparkforgeError(
                f"The library path {path!r} is not an absolute path without ':'.",
                "Use each library's versioned directory: <root>/redist/libcudss/<version>/lib.",
            )
    return None if library_paths is None else [str(path) for path in library_paths]
