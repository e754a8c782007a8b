"""The host's compilers and build tools, and the facts about them that identify a build.

A fingerprint includes only the part of a version that changes the artefact: the major version of a C compiler, the
minor version of nvcc, CMake and Ninja, and the ABI of Python. The rest is reported; a rebuild can be requested.
"""

# This is independent of AnsibleModule, so that its caller can be tested without one.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import os
import re
import subprocess
import typing as t
from dataclasses import dataclass

from .._core import platforms, versions
from .._core.errors import SparkforgeError
from .._host.reader import Host

#: The timeout in seconds for ``--version``; under emulation the slowest tool needs several.
ANSWER_LIMIT = 120.0
#: Tools that do not change the artefact: they are recorded but not part of the fingerprint.
_UNFINGERPRINTED = frozenset({"ccache"})

# It does not match after '-', '.' or a word, because in "gcc-4.9" the number is part of the name.
_VERSION = re.compile(r"(?<![\w.-])\d+(?:\.\d+)+")
_NVCC = re.compile(r"release (\d+\.\d+), V(\d+(?:\.\d+)+)")
_PROBE = (
    "import platform, sys, sysconfig\n"
    "print(platform.python_implementation(), platform.python_version(), sys.version_info[0], sys.version_info[1],"
    " 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else '-')\n"
)


@dataclass(frozen=True)
class Tool:
    """One tool on the host.

    :ivar name: its purpose: ``cc``, ``cxx``, ``cmake``, ``ninja``, ``nvcc``, ``ccache``, ``python``.
    :ivar path: the absolute path, with links unresolved: some programs depend on their name (clang++, ccache).
    :ivar version: the full version, ``13.3.0``.
    :ivar line: the line of the ``--version`` output that contains it.
    :ivar identity: its part of the fingerprint: ``gcc 13``, ``13.0``, ``cp312``.
    """

    name: str
    path: str
    version: str
    line: str
    identity: str


@dataclass(frozen=True)
class Toolchain:
    """The observed tools, by name."""

    tools: t.Mapping[str, Tool]

    def identity(self) -> dict[str, str]:
        """Return the tools' part of the fingerprint: ``{"cc": "gcc 13", "nvcc": "13.0", "python": "cp312", …}``."""
        return {name: tool.identity for name, tool in self.tools.items() if name not in _UNFINGERPRINTED}

    def versions(self) -> dict[str, str]:
        return {name: tool.version for name, tool in self.tools.items()}


def observe(
    commands: t.Mapping[str, str], python: str | None, path: str, *, optional: t.Mapping[str, str] | None = None
) -> Toolchain:
    """Find the tools and return their paths and versions.

    :param commands: a command or an absolute path for each tool's name.
    :param python: the target interpreter of the build, a command or an absolute path, or None.
    :param path: the directories to search for commands, in the format of PATH.
    :param optional: like ``commands``, but missing tools are left out.
    :raises SparkforgeError: for a tool that is missing or does not work.
    """
    tools = {}
    maybe = {name: command for name, command in (optional or {}).items() if name not in commands}
    for name, command in {**commands, **maybe, **({"python": python} if python is not None else {})}.items():
        program = _find(command, path)
        if program is None:
            if name in maybe:
                continue
            raise _missing(name, command, path)
        if name != "ccache" and os.path.basename(os.path.realpath(program)) == "ccache":
            raise SparkforgeError(
                f"{program}, set as {name}, is a link to ccache, not a compiler.",
                f"Set {_option(name)} to the compiler's own path: the build adds ccache itself.",
            )
        tools[name] = _ask_python(program, path) if name == "python" else _ask(name, program, path)
    return Toolchain(tools)


def check_minimum(tool: Tool, minimum: str, remedy: str | None = None) -> None:
    """Refuse a tool that is older than ``minimum``; versions are compared number by number, so 3.9 is older than 3.28.

    :param remedy: the remedy for the error, if the tool does not come from the host.
    :raises SparkforgeError: if the tool is older, or if ``minimum`` is not a version.
    """
    if not re.fullmatch(r"\d+(\.\d+)*", minimum):
        raise SparkforgeError(
            f"{minimum!r}, the minimum of {tool.name}, is not a version.", "Use numbers and dots, such as 3.18."
        )
    bound = versions.numbers(minimum)
    if versions.numbers(tool.version)[: len(bound)] < bound:
        raise SparkforgeError(
            f"{tool.path} is version {tool.version}, but {minimum} or newer is needed as {tool.name}.",
            remedy
            or f"Install a newer one (role {_role(tool.name)}), or set another in the option {_option(tool.name)}.",
        )


def patch_level_changes(old: t.Mapping[str, str], new: t.Mapping[str, str]) -> list[str]:
    """Return each tool whose full version differs: ``cc: 13.2.0 -> 13.3.0``.

    :param old: ``versions()`` from the receipt; tools that only one side has are ignored.
    :param new: the current ``versions()``.
    """
    return [f"{name}: {old[name]} -> {new[name]}" for name in sorted({*old} & {*new}) if old[name] != new[name]]


def platform(root: str = "/") -> str:
    """Return ``<os id><os version>-<machine>`` of this host, such as ``ubuntu24.04-aarch64``, from os-release(5).

    :param root: the directory that contains ``etc/os-release``.
    """
    host = Host(root)
    values = platforms.release(host.read("/etc/os-release") or host.read("/usr/lib/os-release") or "")
    return platforms.system(values.get("ID"), values.get("VERSION_ID"), host.machine)


def _find(command: str, path: str) -> str | None:
    """Return the absolute path of an executable.

    Skip a link to ccache, because its target stays the same when the compiler behind it changes.
    """
    if "/" in command:
        program = os.path.abspath(command)
        return program if _is_executable(program) else None
    for directory in path.split(":"):
        program = os.path.join(os.path.abspath(directory), command) if directory else ""
        if program and _is_executable(program):
            target = os.path.basename(os.path.realpath(program))
            if target != "ccache" or command == "ccache":
                return program
    return None


def _is_executable(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _missing(name: str, command: str, path: str) -> SparkforgeError:
    where = "is missing or not executable" if "/" in command else f"is not on the PATH {path}"
    return SparkforgeError(
        f"{command}, needed as {name}, {where}.",
        f"Run the role {_role(name)}, or set its path in the option {_option(name)}.",
    )


def _role(name: str) -> str:
    return "cuda_libraries" if name == "nvcc" else "build_toolchain"


def _option(name: str) -> str:
    return "python" if name == "python" else f"toolchain.{name}"


def _ask(name: str, program: str, path: str) -> Tool:
    output = _output(name, [program, "--version"], path)
    release = _NVCC.search(output)
    if release:
        line = next(line for line in output.splitlines() if release[0] in line)
        return Tool(name, program, release[2], line.strip(), release[1])
    for line in output.splitlines():
        # The text in parentheses is the package version, whose number may precede the compiler's own.
        number = _VERSION.search(re.sub(r"\([^()]*\)", " ", line))
        if number:
            return Tool(name, program, number[0], line.strip(), _tool_identity(name, number[0], output))
    raise _tool_error(name, f"{program} --version", "printed no version", output)


def _tool_identity(name: str, version: str, output: str) -> str:
    parts = version.split(".")
    if name in ("cc", "cxx"):
        # GCC prints the name that it was called by, but its copyright line is always the same.
        family = "clang" if "clang" in output else "gcc" if "Free Software Foundation" in output else output.split()[0]
        return f"{family} {parts[0]}"
    return ".".join(parts[:2])


def _ask_python(program: str, path: str) -> Tool:
    output = _output("python", [program, "-I", "-S", "-c", _PROBE], path)
    fields = output.split()
    if len(fields) != 5:
        raise _tool_error("python", program, "did not report its version", output)
    implementation, version, major, minor, free_threaded = fields
    # Use the format of wheel tags.
    begin = "cp" if implementation == "CPython" else implementation.lower()
    tag = f"{begin}{major}{minor}{free_threaded.strip('-')}"
    return Tool("python", program, version, f"{implementation} {version}", tag)


def _output(name: str, argv: list[str], path: str) -> str:
    shown = " ".join(argv[:2]) if argv[1] == "--version" else argv[0]
    try:
        run = subprocess.run(
            argv,
            env={"PATH": path, "LC_ALL": "C", "HOME": "/nonexistent"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            timeout=ANSWER_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _tool_error(name, shown, f"did not exit within {ANSWER_LIMIT:g} s", "") from error
    except OSError as error:
        raise _tool_error(name, shown, "cannot be started", error.strerror or str(error)) from error
    output = run.stdout.decode("utf-8", "replace")
    if run.returncode != 0:
        ending = f"was killed by signal {-run.returncode}" if run.returncode < 0 else f"failed ({run.returncode})"
        raise _tool_error(name, shown, ending, run.stderr.decode("utf-8", "replace") or output)
    return output


def _tool_error(name: str, shown: str, fault: str, output: str) -> SparkforgeError:
    first = next((line.strip() for line in output.splitlines() if line.strip()), "")
    detail = f": {first[:200].rstrip('.')}" if first else ""
    return SparkforgeError(
        f"{shown}, needed as {name}, {fault}{detail}.",
        f"Reinstall it (role {_role(name)}), or set another in the option {_option(name)}.",
    )
