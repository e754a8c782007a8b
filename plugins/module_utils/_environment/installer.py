"""Create an environment at a path with the interpreter's own venv and pip, from wheels on the host.

Root never runs code from a wheel. pip, a copy of the interpreter's own, only unpacks files, without network access. The
base interpreter compiles the bytecode, and the finished environment runs only without privileges.
"""

from __future__ import annotations

import contextlib
import os
import re
import typing as t
import urllib.request
import zipfile

from .._core import digests, directories, disk
from .._core.errors import SparkforgeError
from .._core.sandbox import Sandbox
from .._diagnosis.rules import memory, pip as pip_rules, python as python_rules
from .._diagnosis.table import explain, load
from .._elf import providers
from .._wheel.names import normalised, parse_wheel_name
from .._wheel.requirement import clip, place_option
from . import download
from .identity import Identity
from .model import ENGLISH, Facts, Options, Run

#: A program that creates an environment without packages and prints the path of the interpreter's pip wheel. ensurepip
#: would need three processes to install and compile it, which takes as long as everything else. The directories are
#: those of ensurepip (PEP 453); some Debian releases do not list Debian's among the config variables.
_VENV = """
import glob, os, sys, sysconfig
prompt, place = sys.argv[1:]
try:
    import ensurepip, venv
    venv.create(place, symlinks=True, prompt=prompt)
except (ImportError, OSError) as error:
    sys.exit(str(error))
bundled = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
places = (sysconfig.get_config_var("WHEEL_PKG_DIR"), bundled, "/usr/share/python-wheels")
wheels = (wheel for place in places if place for wheel in glob.glob(os.path.join(glob.escape(place), "pip-*.whl")))
print(next(wheels, "ensurepip has no wheel of pip"))
"""


_RULES = load(memory, python_rules, pip_rules)


class Installer:
    """Create environments; ``fetched`` is the progress of the download."""

    def __init__(self, options: Options, run: Run, sandbox: Sandbox) -> None:
        self.options = options
        self.run = run
        self.sandbox = sandbox
        self.fetched: Facts = {}

    def install(self, environment: str, identity: Identity) -> None:
        """Create a new environment at ``environment`` with exactly the requested packages.

        :raises UnfinishedError: if the download takes longer than one call.
        """
        # The default prompt would be the name of the directory, which is temporary.
        venv = [identity.python, "-I", "-c", _VENV, self.options.paths.name, environment]
        rc, out, err = self.run(venv, environ_update=ENGLISH)
        pip = out.rstrip("\n")
        if rc != 0 or not os.path.isfile(pip):
            raise venv_failure(identity.python, identity.version, out + err)
        fetching = download.Download(self.options, self.run, identity.python, pip)
        wheels, self.fetched = fetching.fetch({wheel.sha256 for wheel in identity.wheels})
        self._fill(environment, identity, pip, [*wheels, *(wheel.path for wheel in identity.wheels)])

    def _fill(self, environment: str, identity: Identity, pip: str, wheels: t.Sequence[str]) -> None:
        """Install the wheels, and pip from its bundled wheel."""
        requirements = os.path.join(environment, ".requirements.txt")
        temporary = os.path.join(environment, ".tmp")
        # pip still imports parts of itself after installing, and by then they could come from one of the wheels.
        with zipfile.ZipFile(pip) as archive:
            archive.extractall(temporary)
        names = [parse_wheel_name(path) for path in wheels]
        # The name of a wheel's directory is its sha256.
        pairs = zip(names, (os.path.basename(os.path.dirname(path)) for path in wheels))
        lines = [f"{wheel.distribution}=={wheel.version} --hash=sha256:{sha256}" for wheel, sha256 in pairs]
        lines += [place_option("find_links", os.path.dirname(path)) for path in wheels]
        if "pip" not in [wheel.distribution for wheel in names]:
            lines.append(f"file://{urllib.request.pathname2url(pip)} --hash=sha256:{digests.of_file(pip)}")
        with open(requirements, "w", encoding="utf-8") as stream:
            stream.write("\n".join([*lines, ""]))
        size = sum(map(_unpacked_size, wheels))
        directories.check_space(environment, size, f"The environment {self.options.paths.name}")
        argv = [*_own_pip(environment), "--no-cache-dir", "install", "--no-index", "--no-deps", "--require-hashes"]
        argv += ["--only-binary=:all:", "--progress-bar=off", "--no-compile", "--requirement", requirements]
        # Use a directory next to the environment, because /tmp is often a small tmpfs.
        variables = {**ENGLISH, "PIP_CONFIG_FILE": os.devnull, "TMPDIR": temporary}
        rc, out, err = self.run(argv, environ_update=variables, cwd=environment)
        if rc != 0:
            raise pip_failure(f"{out}\n{err}")
        if self.options.compile:
            # Like pip, skip files that are not valid for this Python version.
            self.run([identity.python, "-I", "-m", "compileall", "-q", os.path.join(environment, "lib")])
        activity = f"pip check in the environment {self.options.paths.name}"
        rc, out, err = self.sandbox.run([*_own_pip(environment), "check"], ENGLISH, activity, environment)
        if rc != 0 and not (out or err).strip():
            raise pip_failure(f"ERROR: {activity} ended with status {rc}")
        complaints = [line for line in (out or err).splitlines() if line.strip() and not self._is_override(line)]
        if rc != 0 and complaints:
            raise SparkforgeError(
                f"The packages conflict: {clip(complaints[0].rstrip('.'))}.",
                "Renew the lock with playbooks/lock.yml, or add the missing packages, pinned and with hashes.",
                pip_output=(out + err).strip(),
            )
        disk.remove(requirements)
        disk.remove(temporary)

    def _is_override(self, complaint: str) -> bool:
        """Tell whether pip complains about a version that was overridden on purpose."""
        match = re.search(r" has requirement ([A-Za-z0-9._-]+)", complaint)
        return match is not None and normalised(match[1]) in map(normalised, self.options.override)


def _own_pip(environment: str) -> list[str]:
    """Return the first arguments for running the pip that the environment started with."""
    runner = os.path.join(environment, ".tmp", "pip", "__pip-runner__.py")
    python = os.path.join(environment, "bin", "python")
    return [python, "-I", runner, "--isolated", "--no-input", "--disable-pip-version-check"]


def _unpacked_size(wheel: str) -> int:
    with contextlib.suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(wheel) as archive:
        return sum(info.file_size for info in archive.infolist())
    return 0


def pip_failure(output: str) -> SparkforgeError:
    """Return the cause and remedy for the output of a failed pip."""
    details = {"pip_output": "\n".join(output.strip().splitlines()[-25:])}
    explanation = explain(output, _RULES)
    if explanation is not None:
        return SparkforgeError(explanation.cause, explanation.remedy, diagnosis=explanation.rule, **details)
    errors = re.findall(r"^ERROR: (.*)", output, re.MULTILINE)
    line = errors[0] if errors else (output.strip().splitlines() or ["no message"])[-1]
    return SparkforgeError(f"pip failed: {clip(line.rstrip('.'))}.", "See pip_output; nothing was changed.", **details)


def venv_failure(python: str, version: tuple[int, int], output: str) -> SparkforgeError:
    """Return the cause and remedy for the output of a failed virtual environment creation."""
    details = {"stderr": "\n".join(output.strip().splitlines()[-10:])}
    if "No space left on device" in output:
        return SparkforgeError(
            "The file system of the environment has no space left.", "Free space under the root.", **details
        )
    dotted = f"{version[0]}.{version[1]}"
    if "ensurepip" in output or "No module named 'venv'" in output:
        return SparkforgeError(
            f"{python} cannot create virtual environments: its modules venv and ensurepip are not installed.",
            f"Run the role build_toolchain, or: apt install python{dotted}-venv",
            **details,
        )
    last_line = (output.strip().splitlines() or ["no message"])[-1]
    return SparkforgeError(
        f"{python} cannot create a virtual environment: {clip(last_line)}.",
        f"Check that {python} is a working CPython {dotted}.",
        **details,
    )


def import_failure(module: str, error: str, machine: str = "aarch64") -> SparkforgeError:
    """Return the cause and remedy for an import that failed in the finished environment."""
    match = re.search(r"(lib[\w+.-]+\.so[\w.]*): cannot open shared object file", error)
    remedy = "The environment was not activated; correct the lock, or install the missing library, and run again."
    if match:
        role = providers.provider(match.group(1), machine).role
        provider = {None: "Find out", "driver": "The GPU driver provides it; find"}.get(
            role, f"Run the role {role}, which installs it; find"
        )
        remedy = f"{provider} everything that is missing with elf_closure_info on the package's directory."
    elif "undefined symbol" in error:
        remedy = "The package was built against another version of its dependency: lock compatible versions."
    return SparkforgeError(f"import {module} failed: {clip(error)}.", remedy, error=error)
