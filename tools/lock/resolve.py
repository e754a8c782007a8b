"""The wheels of a stack and their dependencies, resolved by uv for the stack's Python and machines.

The controller often has another architecture and Python than the hosts. uv evaluates markers and ``Requires-Python``
for the requested target, while pip does so for the interpreter that runs it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import typing as t
import urllib.parse

import tomllib

from ...plugins.module_utils._core import platforms
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._fetch.index import PUBLIC, Link, list_wheels, pip_settings
from ...plugins.module_utils._wheel.tags import OLD_NAMES, oldest_glibc
from ...plugins.plugin_utils.stack.model import BESIDE

with contextlib.suppress(ImportError):
    # ansible-core depends on packaging; only ansible-test's import check runs without it.
    from packaging.markers import UndefinedComparison
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.tags import Tag, compatible_tags, cpython_tags
    from packaging.utils import parse_wheel_filename

# The glibc of the oldest system in any stack: Ubuntu 24.04 has 2.39, Debian 13 has 2.41.
GLIBC_MINOR = 39
# With several indexes, take the newest version from all of them, as pip does.
_BEST_MATCH = ["--index-strategy", "unsafe-best-match"]
# pip's options that have other names in uv; uv does not read them from pip's configuration.
_PIP_OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}
#: The time limit for uv in seconds, because an index that sends an occasional byte would block it forever.
UV_SECONDS = 1800.0


@dataclasses.dataclass(frozen=True)
class Target:
    """The host for which wheels are resolved; it is not the controller.

    :ivar python: ``3.12``.
    :ivar machine: ``aarch64`` or ``x86_64``.
    """

    python: str
    machine: str

    @property
    def platform(self) -> str:
        """Return the name of the platform in a lock."""
        return platforms.locked(self.python, self.machine)

    def accepts(self, marker: str) -> bool:
        """Tell whether an environment marker (PEP 508) holds on the target; another text is refused."""
        linux = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "extra": ""}
        python = {"python_version": self.python, "python_full_version": f"{self.python}.0"}
        with contextlib.suppress(UndefinedComparison):
            parsed = check_requirement(f"x;{marker}").marker
            return parsed is None or parsed.evaluate({**linux, **python, "platform_machine": self.machine})
        return True

    @functools.cached_property
    def rank(self) -> dict[Tag, int]:
        """Return the wheel tags that the target accepts; the best has rank 0."""
        levels = []
        for minor in range(GLIBC_MINOR, oldest_glibc(self.machine) - 1, -1):
            levels.append(f"manylinux_2_{minor}_{self.machine}")
            levels += [f"{OLD_NAMES[minor]}_{self.machine}"] if minor in OLD_NAMES else []
        levels.append(f"linux_{self.machine}")
        version, abi = [int(part) for part in self.python.split(".")], f"cp{self.python.replace('.', '')}"
        # Without an explicit ABI, the ABI of the interpreter that runs Ansible would be used.
        own = cpython_tags(version, abis=[abi], platforms=levels)
        return {tag: position for position, tag in enumerate([*own, *compatible_tags(version, abi, levels)])}


@dataclasses.dataclass(frozen=True)
class Index:
    """The sources in which wheels are searched.

    :ivar url: the URL of the index; None leaves it to the configuration of pip or uv; an empty string or ``none``
        disables it.
    :ivar find_links: directories or pages with wheels, in addition to the index.
    :ivar command: the command that runs uv; if empty, uv is searched for.
    :ivar extra: URLs of further indexes.
    """

    url: str | None = None
    find_links: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def options(self) -> list[str]:
        """Return these sources as options for uv."""
        if self.url is None:
            index = pip_options()
        else:
            index = ["--no-index"] if self.url in ("", "none") else ["--default-index", self.url]
        for url in self.extra:
            index += ["--index", url]
        if self.extra and _BEST_MATCH[0] not in index:
            index += _BEST_MATCH
        return [*index, *(word for link in self.find_links for word in ("--find-links", link))]


def resolve(
    requirements: t.Sequence[str],
    target: Target,
    index: Index,
    pins: t.Iterable[str] = (),
    overrides: t.Iterable[str] = (),
) -> dict[str, str]:
    """Return ``{name: line}`` for the requirements and their dependencies, each with the sha256 of one wheel.

    :param requirements: in the format of a wheel's ``Requires-Dist``.
    :param pins: ``name==version`` that must hold if the name is needed at all.
    :param overrides: ``name==version`` that replaces other packages' requirements on that name.
    :returns: lines in the format for ``--require-hashes``: ``name==version --hash=sha256:…``.
    :raises SparkforgeError: if no version fits, or the index does not respond; the error contains uv's message.
    """
    return {
        item["name"]: f"{item['name']}=={item['version']} --hash=sha256:{best_wheel(item, target)['hashes']['sha256']}"
        for item in packages(requirements, target, index, pins, overrides)
    }


def packages(
    requirements: t.Sequence[str],
    target: Target,
    index: Index,
    pins: t.Iterable[str] = (),
    overrides: t.Iterable[str] = (),
    alone: bool = False,
) -> list[dict[str, t.Any]]:
    """Return the packages in pylock.toml; :func:`best_wheel` chooses the wheel for a target.

    :param alone: whether to resolve the requirements without dependencies, as wheels or as source, without building
        anything.
    :raises SparkforgeError: as in :func:`resolve`.
    """
    if not requirements:
        return []
    for requirement in requirements:
        check_requirement(requirement)
    with tempfile.TemporaryDirectory(prefix="sparkforge-lock-") as directory:
        line = [*(index.command or find_uv()), "pip", "compile", "-", *index.options()]
        for option, lines in (("constraints", pins), ("overrides", overrides)):
            path = os.path.join(directory, f"{option}.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("".join(f"{requirement}\n" for requirement in lines))
            line += [f"--{option}", path]
        line += ["--python-version", target.python, "--python-platform", f"{target.machine}-manylinux_2_{GLIBC_MINOR}"]
        line += ["--no-deps"] if alone else ["--only-binary", ":all:"]
        line += ["--generate-hashes", "--format", "pylock.toml", "--no-header", "--quiet"]
        # uv needs the interpreter only for builds, and must not read a project in the current directory.
        line += ["--python", sys.executable, "--no-python-downloads", "--project", directory]
        completed = _run(line, "\n".join(requirements))
    if completed.returncode != 0:
        raise SparkforgeError(
            f"uv could not resolve {', '.join(requirements)} for {target.platform}: {_format_error(completed.stderr)}.",
            "Choose compatible versions in the stack that have wheels for this platform. If no index answered, check "
            "stack_lock_index_url, sparkforge_proxies and sparkforge_ca_certificate.",
            stderr=redact(completed.stderr[-4000:]),
            rc=completed.returncode,
        )
    return list(tomllib.loads(completed.stdout).get("packages", []))


def versions(name: str, target: Target, index: Index, count: int = 8) -> list[str]:
    """Return the newest versions of a package for a target, or [] if no index has the package."""
    newest: list[str] = []
    with contextlib.suppress(SparkforgeError):
        while len(newest) < count:
            older = f"<{newest[-1]}" if newest else ""
            newest.append(packages([f"{name}{older}"], target, index, alone=True)[0]["version"])
    return newest


def pythons(name: str, version: str, target: Target, index: Index) -> tuple[str | None, set[str]]:
    """Return what a version's wheels say of Python: a ``Requires-Python`` that excludes the target, and their tags.

    uv ignores upper bounds. The tags are those of the wheels for the target's machine.
    """
    options = index.options()
    urls = [value for option, value in zip(options, options[1:]) if option in ("--default-index", "--index")]
    links: list[Link] = []
    urls += [] if {"--default-index", "--no-index"}.intersection(options) else [PUBLIC]
    for url in urls:
        with contextlib.suppress(SparkforgeError):
            links += list_wheels(f"{url.rstrip('/')}/{name}/", {}, "inspect_index_url")
    excluding, tags = None, set[str]()
    for link in links:
        # An index may name any files, and any text as their Requires-Python.
        with contextlib.suppress(ValueError):
            _name, own_version, _build, own_tags = parse_wheel_filename(link.file)
            if str(own_version) == version:
                tags |= {tag.interpreter for tag in own_tags if target.machine in tag.platform}
                if f"{target.python}.0" not in SpecifierSet(link.python or ""):
                    excluding = excluding or link.python
    return excluding, tags


def check_requirement(line: str) -> Requirement:
    """Parse a line (PEP 508), or refuse it: METADATA may contain any text, and uv would accept options."""
    try:
        return Requirement(line)
    except InvalidRequirement as error:
        raise SparkforgeError(
            f"{line[:200]!r} is not a requirement: {str(error).splitlines()[0].rstrip('.')}.",
            "Write it like pip, name==version; if a wheel's metadata has it, do not use that wheel.",
        ) from error


def _run(line: t.Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(line, input=text, check=False, capture_output=True, text=True, timeout=UV_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SparkforgeError(
            f"{line[0]} did not finish within {UV_SECONDS:.0f} s.", "Check that the index answers, and run this again."
        ) from error
    except OSError as error:
        raise SparkforgeError(
            f"{line[0]} cannot be run: {error}.", "Set stack_lock_uv to a working uv on the controller."
        ) from error


def best_wheel(package: t.Mapping[str, t.Any], target: Target) -> t.Mapping[str, t.Any]:
    """Return the wheel that installers choose on the target: ``hashes``, and ``url`` or ``path``.

    :raises SparkforgeError: if the wheel is not from an index, or has no sha256.
    """
    if not package.get("wheels"):
        raise SparkforgeError(
            f"{package['name']} is required from a URL, but a lock needs a wheel of an index.",
            "Use a version of the requiring package that has no dependencies from URLs.",
        )
    best: t.Mapping[str, t.Any] = max(package["wheels"], key=lambda wheel: _preference(wheel, target))
    if not (best.get("hashes") or {}).get("sha256"):
        raise SparkforgeError(
            f"The index has no sha256 for {package['name']}=={package['version']}.",
            "Use an index that serves hashes, or a directory of wheels with find_links.",
        )
    return best


def _preference(wheel: t.Mapping[str, t.Any], target: Target) -> tuple[t.Any, ...]:
    """Return the sort key of a wheel, which is largest for the best tag and then for the highest build tag."""
    path = wheel.get("name") or urllib.parse.unquote(urllib.parse.urlsplit(wheel.get("url") or wheel["path"]).path)
    _name, _version, build, tags = parse_wheel_filename(os.path.basename(path))
    return (-min(target.rank.get(tag, len(target.rank)) for tag in tags), build)


def _format_error(stderr: str) -> str:
    lines = [re.sub(r"^(error|cause|hint|warning): *", "", line.strip()) for line in stderr.splitlines()]
    text = redact(" ".join(line for line in lines if line)).rstrip(".")
    return f"{text[:1500]}…" if len(text) > 1500 else text or "no output"


def find_uv() -> tuple[str, ...]:
    """Return the uv in Ansible's environment, or the first uv on PATH."""
    if importlib.util.find_spec("uv") is not None:
        return (sys.executable, "-m", "uv")
    path = shutil.which("uv")
    if path:
        return (path,)
    raise SparkforgeError(
        "uv is neither in Ansible's environment nor on the controller's PATH.",
        "Install uv next to Ansible (python3 -m pip install uv), or set stack_lock_uv.",
    )


def pip_options() -> list[str]:
    """Return the index in the configuration of Ansible's pip as options for uv, unless uv's own variables set one."""
    if any("INDEX" in name or name == "UV_FIND_LINKS" for name in os.environ if name.startswith("UV_")):
        return []
    if importlib.util.find_spec("pip") is None:
        return []
    settings = _run([sys.executable, "-m", "pip", "config", "list"], "").stdout
    values = pip_settings(settings)
    options = [
        word for key, option in _PIP_OPTIONS.items() for text in values.get(key, "").split() for word in (option, text)
    ]
    if values.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        options.append("--no-index")
    if "cert" in values:
        options += ["--cert", values["cert"]]
    if "extra-index-url" in values:
        options += _BEST_MATCH
    return options


def targets(definition: t.Mapping[str, t.Any]) -> list[Target]:
    """Return the hosts for which wheels are resolved: the stack's Python on each of its machines."""
    return [Target(definition["python"]["version"], machine) for machine in definition["machines"]]


def wheels(definition: t.Mapping[str, t.Any], target: Target, index: Index) -> list[str]:
    """Return the lines of an environment made from wheels: the stack's packages and their usual companions.

    Triton is not requested, because torch requires the version that it was built for; on aarch64 before 2.11 it
    requires none.
    """
    versions, left_out = definition["versions"], definition["wheel"].get("without") or {}
    own = {name: versions[name] for name in ("torch", "torchvision", "torchaudio") if versions.get(name)}
    requirements = [f"{name}=={version}" for name, version in own.items() if name not in left_out]
    overrides = _pinned(definition["wheel"].get("override"))
    return sorted(resolve([*requirements, *_companions(definition)], target, index, overrides=overrides).values())


def build_requirements(definition: t.Mapping[str, t.Any], target: Target, index: Index) -> dict[str, list[str]]:
    """Return the lines of each unit's build environment: the build requirements and their dependencies."""
    return {
        name: sorted(resolve(unit.get("requirements") or [], target, index).values())
        for name, unit in sorted(definition["units"].items())
    }


def run_requirements(definition: t.Mapping[str, t.Any], target: Target, index: Index) -> dict[str, list[str]]:
    """Return the lines of each built unit's run-time dependencies, resolved together for one environment.

    The units themselves are not requested, because they are built and no index has them.
    """
    requirements = {name: unit.get("requires") or [] for name, unit in definition["units"].items()}
    requirements[BESIDE] = _companions(definition)
    together = resolve(list(dict.fromkeys(text for texts in requirements.values() for text in texts)), target, index)
    pins = [line.partition(" ")[0] for line in together.values()]
    return {name: sorted(resolve(texts, target, index, pins).values()) for name, texts in sorted(requirements.items())}


def _companions(definition: t.Mapping[str, t.Any]) -> list[str]:
    return _pinned(definition["wheel"].get("beside"))


def _pinned(versions: t.Mapping[str, str] | None) -> list[str]:
    return [f"{name}=={version}" for name, version in sorted((versions or {}).items())]
