"""The phases configure and build: run as many jobs as memory allows, and halve them after an out-of-memory kill."""

# This runs in the detached worker, which has no AnsibleModule to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import os
import subprocess
import typing as t

from ..._core import contents
from ..._core.errors import SparkforgeError
from .. import commands, jobs as _jobs
from ..attempt import Attempt

#: How often a build that ran out of memory continues with half the jobs.
_HALVINGS = 2


def configure(attempt: Attempt) -> None:
    paths, unit = attempt.paths, attempt.unit
    os.makedirs(paths.inside("out"), exist_ok=True)
    if unit.kind == "wheel":
        probe = f"import importlib; importlib.import_module({attempt.backend().partition(':')[0]!r})"
        commands.run(attempt, [attempt.python, "-c", probe])
        return
    arguments = [attempt.expand(text) for text in unit.cmake_args]
    if not any(text.startswith("-DCMAKE_BUILD_TYPE") for text in arguments):
        arguments.insert(0, "-DCMAKE_BUILD_TYPE=Release")
    ninja = [f"-DCMAKE_MAKE_PROGRAM={attempt.tools['ninja']}"] if "ninja" in attempt.tools else []
    commands.run(
        attempt,
        [
            attempt.cmake, "-G", "Ninja", "-S", attempt.project, "-B", paths.inside("build"),
            *ninja, f"-DCMAKE_INSTALL_PREFIX={paths.prefix}", *arguments,
        ],
    )  # fmt: skip


def build(attempt: Attempt) -> None:
    """Compile, reusing existing objects."""
    jobs = _size(attempt, 0)
    before = _ccache_counts(attempt)
    for halving in range(_HALVINGS + 1):
        kills = _jobs.oom_kills()
        start = commands.size_of(attempt.paths.log)
        attempt.state.update(jobs=jobs)
        try:
            commands.run(attempt, _command(attempt, jobs), jobs=jobs, progress=True)
            break
        except SparkforgeError as error:
            tail = contents.tail(attempt.paths.log, start, 1 << 20)
            killed = _jobs.killed_for_memory(tail, kills, _jobs.oom_kills(), error.details.get("rc"))
            if not killed or halving == _HALVINGS or jobs == 1:
                raise
            fewer = _size(attempt, max(1, jobs // 2))
            note = f"The build ran out of memory with {jobs} jobs and continued with {fewer}."
            attempt.say(f"== {note}")
            attempt.state.note(note)
            jobs = fewer
    _record_ccache(attempt, before)


def _size(attempt: Attempt, at_most: int) -> int:
    jobs = _jobs.size_for(attempt.unit, _jobs.memory(service=attempt.paths.service), at_most)
    attempt.say(f"== {jobs.why}")
    return jobs.count


def _command(attempt: Attempt, jobs: int) -> list[str]:
    build = attempt.paths.inside("build")
    if attempt.unit.kind == "cmake":
        return [attempt.cmake, "--build", build, "-j", str(jobs)]
    # By default scikit-build-core builds in a temporary directory, from which a build cannot resume.
    fixed = [f"--config-settings=build-dir={build}"] if "scikit" in attempt.backend() else []
    return [
        attempt.python, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation",
        "--no-index", "--verbose", *fixed, "--wheel-dir", attempt.paths.inside("out"), attempt.project,
    ]  # fmt: skip


def _ccache_counts(attempt: Attempt) -> dict[str, int]:
    if not attempt.has_ccache:
        return {}
    completed = subprocess.run(
        [attempt.tools["ccache"], "--print-stats"], env=commands.build_environment(attempt, 1),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    rows = (line.split() for line in completed.stdout.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def _record_ccache(attempt: Attempt, before: t.Mapping[str, int]) -> None:
    if not before:
        return
    after = _ccache_counts(attempt)
    hits = sum(after.get(name, 0) - before.get(name, 0) for name in ("direct_cache_hit", "preprocessed_cache_hit"))
    misses = after.get("cache_miss", 0) - before.get("cache_miss", 0)
    rate = round(100 * hits / (hits + misses), 1) if hits + misses else None
    attempt.state.update(ccache={"hits": hits, "misses": misses, "hit_rate": rate})
