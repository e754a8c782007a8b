"""The phases package and check: create the prefix or the wheels, and check that they have the requested features."""

from __future__ import annotations

from ..._core import disk
from ..._core.errors import SparkforgeError
from ..._wheel import artefact, wheel_file
from .. import commands
from ..attempt import Attempt


def package(attempt: Attempt) -> None:
    """Turn the build results into the files to publish.

    :raises SparkforgeError: if there is no wheel, or not enough space.
    """
    paths, unit = attempt.paths, attempt.unit
    if unit.kind == "cmake":
        staged = paths.inside("out", "staged")
        disk.remove(staged)
        try:
            commands.run(attempt, [attempt.cmake, "--install", paths.inside("build")], environment={"DESTDIR": staged})
        except SparkforgeError:
            # A partial tree is useless and takes up space, which may be scarce.
            disk.remove(staged)
            raise
        return
    if not wheel_file.collect_wheels(paths.inside("out")):
        raise SparkforgeError(
            f"The build of {paths.name} succeeded but created no wheel.",
            "The end of the log may show where it was written.",
        )


def check(attempt: Attempt) -> None:
    """Check that the artefact has the requested features, because CMake continues without those it did not find."""
    expect = dict(attempt.unit.expect)
    if not expect:
        return
    is_cmake = attempt.unit.kind == "cmake"
    problems = artefact.check(
        expect,
        wheels=[] if is_cmake else wheel_file.collect_wheels(attempt.paths.inside("out")),
        prefix=attempt.staged if is_cmake else None,
        caches=list(attempt.files("CMakeCache.txt")),
    )
    if problems:
        raise SparkforgeError(
            f"The build of {attempt.paths.name} lacks requested features: {'; '.join(problems)}.",
            "Install the libraries (roles cuda_libraries, cusparselt and math_libraries) or do not request them, then "
            "run again: the objects are kept.",
            problems=problems,
        )
