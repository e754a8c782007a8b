"""The commands of a build: their environment, the launchers on their PATH, and how to run them."""

# This runs in the detached worker, which has no AnsibleModule to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import time
import typing as t

from .._core import offline, processes
from .._core.errors import SparkforgeError
from . import jobs as _jobs, progress as _progress
from .attempt import Attempt

#: Seconds between two reads of a running command's log; each is followed by a write of the state.
_LOOK = 2.0
#: Seconds between two checkpoints that sync the objects to disk.
_CHECKPOINT = 300.0
#: The diagnoses of a command that needs the network but has no access.
_NETWORK = ("download-in-build", "proxy", "host-unknown", "connection-failed")


def base_environment(attempt: Attempt) -> dict[str, str]:
    """Return the base environment of every command, which inherits no variables."""
    paths = attempt.paths
    for name in ("home", "tmp"):
        os.makedirs(paths.inside(name), exist_ok=True)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": paths.inside("home"),
        "TMPDIR": paths.inside("tmp"),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_CACHE_DIR": paths.inside("tmp", "pip"),
        processes.MARKER: paths.marker,
    }


def network_environment(attempt: Attempt) -> dict[str, str]:
    """Return the variables for proxies, certificates and pip's index, from a file only the account can read."""
    try:
        with open(attempt.paths.inside("network.json"), encoding="utf-8") as stream:
            return dict(json.load(stream))
    except FileNotFoundError:
        return {}


def build_environment(attempt: Attempt, jobs: int) -> dict[str, str]:
    """Return the compile environment, after creating the launchers."""
    paths, tools, unit = attempt.paths, attempt.tools, attempt.unit
    environment = base_environment(attempt)
    directories = [paths.inside("environment", "bin"), _launchers(attempt)]
    directories += [os.path.dirname(tools[tool]) for tool in ("nvcc", "cc", "cxx") if tool in tools]
    for variable, tool in (("CC", "cc"), ("CXX", "cxx")):
        if tool in tools:
            environment[variable] = _launcher(attempt, tool) if attempt.has_ccache else tools[tool]
    if "nvcc" in tools:
        environment["CUDACXX"] = tools["nvcc"]
        if "cxx" in tools:
            # CMake reads CUDAHOSTCXX. nvcc reads NVCC_CCBIN, which has lower precedence than its command-line option.
            environment["CUDAHOSTCXX"] = environment["NVCC_CCBIN"] = tools["cxx"]
    if attempt.has_ccache:
        environment.update(
            CCACHE_DIR=os.path.join(paths.builds, ".ccache"),
            CCACHE_MAXSIZE=unit.ccache_size,
            # Two fingerprints of a unit are built in different directories but should share their objects.
            CCACHE_BASEDIR=paths.build_directory,
            CCACHE_NOHASHDIR="1",
            CMAKE_CUDA_COMPILER_LAUNCHER=tools["ccache"],
        )
        if "nvcc" in tools:
            environment["PYTORCH_NVCC"] = f"{tools['ccache']} {tools['nvcc']}"
    environment["PATH"] = ":".join([*dict.fromkeys(directories), environment["PATH"]])
    environment.update({key: attempt.expand(value) for key, value in unit.environment.items()})
    environment["MAX_JOBS"] = environment["CMAKE_BUILD_PARALLEL_LEVEL"] = str(jobs)
    return environment


def _launcher(attempt: Attempt, tool: str) -> str:
    return attempt.paths.inside("launchers", os.path.basename(attempt.tools[tool]))


def _launchers(attempt: Attempt) -> str:
    """Return a directory for PATH with a launcher for each tool, so that exactly the tools in the receipt run.

    ccache gets the compiler's path. If called by the compiler's name, it would run the next compiler with that name on
    PATH, which may be a different one.
    """
    directory = attempt.paths.inside("launchers")
    os.makedirs(directory, exist_ok=True)
    for tool, path in attempt.tools.items():
        if tool in ("ccache", "python"):
            continue
        cached = attempt.has_ccache and tool in ("cc", "cxx")
        command = shlex.join([*([attempt.tools["ccache"]] if cached else []), path])
        for launcher in sorted({_launcher(attempt, tool), os.path.join(directory, {"cxx": "c++"}.get(tool, tool))}):
            with open(f"{launcher}.new", "w", encoding="utf-8") as stream:
                stream.write(f'#!/bin/sh\nexec {command} "$@"\n')
            os.chmod(f"{launcher}.new", 0o700)
            # PyTorch's CMake wraps the launcher in a second ccache, which identifies a compiler by its mtime and size.
            moment = os.stat(path).st_mtime_ns
            os.utime(f"{launcher}.new", ns=(moment, moment))
            os.replace(f"{launcher}.new", launcher)
    return directory


def run(
    attempt: Attempt,
    argv: t.Sequence[str],
    *,
    jobs: int = 1,
    network: bool = False,
    progress: bool = False,
    environment: t.Mapping[str, str] | None = None,
) -> None:
    """Run a command and write its output to the log.

    :param network: whether the command can access the network; the unit can enable it for all of its commands.
    :raises SparkforgeError: if the command fails, with the diagnosis of its output.
    """
    paths, unit = attempt.paths, attempt.unit
    network = network or unit.network
    variables = {**build_environment(attempt, jobs), **(environment or {})}
    if network:
        # An empty value counts as unset, so pip reads the host's configuration in /etc. User-level packages do not
        # belong in a virtual environment.
        variables.update({"PIP_CONFIG_FILE": "", "PIP_USER": "0", **network_environment(attempt)})
    attempt.say(f"+ {' '.join(argv)}")
    start = size_of(paths.log)
    close = None
    if not network and offline.is_possible():
        close = offline.network_blocker()
    elif not network:
        attempt.say("This kernel cannot isolate a build from the network.")
    directory = attempt.project if os.path.isdir(attempt.project) else paths.build_directory
    try:
        child = subprocess.Popen(argv, env=variables, cwd=directory, stdin=subprocess.DEVNULL, preexec_fn=close)
    except (OSError, subprocess.SubprocessError) as error:
        raise SparkforgeError(
            f"{argv[0]} cannot be started: {getattr(error, 'strerror', None) or error}.",
            "Make sure that it is installed; the role build_toolchain installs compilers and Python.",
        ) from error
    code = _follow(attempt, child, start, progress)
    if code == 0:
        return
    # A successful build does not need the rules.
    from .._diagnosis import scan

    diagnosis = scan.diagnose_file(paths.log, start)
    cause = diagnosis.cause
    if diagnosis.rule == "no-space":
        needed = f" of the {unit.free_space} MiB that the build needs" if unit.free_space else ""
        cause += f" {paths.root} has {shutil.disk_usage(paths.builds).free >> 20} MiB free{needed}."
    remedy = diagnosis.remedy
    if close and diagnosis.rule in _NETWORK:
        cause += " A build has no network after its source and requirements are fetched."
        remedy = "Add the download to the source, remove it with an edit, or set the unit's option network."
    raise SparkforgeError(
        cause,
        remedy,
        lines=diagnosis.lines,
        rule=diagnosis.rule,
        notices=[f"{notice.cause} {notice.remedy}" for notice in diagnosis.notices],
        command=os.path.basename(argv[0]),
        rc=code,
    )


def _follow(attempt: Attempt, child: subprocess.Popen[bytes], start: int, progress: bool) -> int:
    ninja = _progress.Ninja()
    estimate = _progress.Estimate(attempt.state.data.get("rate") if progress else None)
    # Read the log file instead of a pipe: if the engine is killed, a broken pipe cannot disturb the compiler.
    with open(attempt.paths.log, "rb") as log:
        log.seek(start)
        code = None
        while code is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = child.wait(_LOOK)
            if progress:
                ninja.feed(log.read())
                estimate.update(ninja.done, ninja.total, time.monotonic())
            # On a full disk the old state remains, and the command itself reports the lack of space.
            with contextlib.suppress(OSError):
                attempt.state.update(
                    done=ninja.done,
                    total=ninja.total,
                    rate=estimate.rate,
                    remaining=estimate.remaining,
                    elapsed=attempt.elapsed(),
                    available_mib=_jobs.memory(service=attempt.paths.service).available_mib,
                )
            if code is None and time.monotonic() - attempt.checkpointed >= _CHECKPOINT:
                attempt.checkpoint()
        return code


def size_of(path: str) -> int:
    """Return the size of a file, or 0 if it does not exist."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
