# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase build: with as many jobs as memory allows, and with half of them where it was killed for memory."""

from __future__ import annotations

from ..._core.errors import SparkforgeError
from .. import ccache, commands, jobs as _jobs
from ..attempt import Attempt

#: How often a build that was killed for memory continues with half the jobs.
_HALVINGS = 2


def run(attempt: Attempt) -> None:
    """Compile, from the objects that are there."""
    jobs = _size(attempt, 0)
    before = ccache.counts(attempt)
    for halving in range(_HALVINGS + 1):
        kills = _jobs.oom_kills()
        start = commands.size_of(attempt.paths.log)
        attempt.state.update(jobs=jobs)
        try:
            commands.run(attempt, _command(attempt, jobs), jobs=jobs, progress=True)
            break
        except SparkforgeError as error:
            tail = _tail(attempt.paths.log, start)
            killed = _jobs.killed_for_memory(tail, kills, _jobs.oom_kills(), error.details.get("rc"))
            if not killed or halving == _HALVINGS or jobs == 1:
                raise
            fewer = _size(attempt, max(1, jobs // 2))
            note = f"The build ran out of memory with {jobs} jobs and continued with {fewer}."
            attempt.say(f"== {note}")
            attempt.state.note(note)
            jobs = fewer
    ccache.tell(attempt, before)


def _size(attempt: Attempt, at_most: int) -> int:
    jobs = _jobs.size_for(attempt.unit, _jobs.memory(service=attempt.paths.service), at_most)
    attempt.say(f"== {jobs.why}")
    return jobs.count


def _command(attempt: Attempt, jobs: int) -> list[str]:
    build, unit = attempt.paths.inside("build"), attempt.unit
    if unit.kind == "cmake":
        targets = ["--target", *unit.targets] if unit.targets else []
        return [attempt.cmake, "--build", build, "-j", str(jobs), *targets]
    # scikit-build-core builds in a temporary directory, from which nothing can go on, unless it is told one.
    fixed = [f"--config-settings=build-dir={build}"] if "scikit" in attempt.backend() else []
    return [
        attempt.python, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation",
        "--no-index", "--verbose", *fixed, "--wheel-dir", attempt.paths.inside("out"), attempt.project,
    ]  # fmt: skip


def _tail(path: str, start: int, limit: int = 1 << 20) -> str:
    with open(path, "rb") as stream:
        stream.seek(max(start, commands.size_of(path) - limit))
        return stream.read().decode("utf-8", "replace")
