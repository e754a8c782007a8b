# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase package: the prefix where it is published from, or the wheels with their build tag."""

from __future__ import annotations

from ..._core import disk
from ..._core.errors import SparkforgeError
from ..._wheel import wheel_file
from .. import commands
from ..attempt import Attempt


def run(attempt: Attempt) -> None:
    """Make of what was built what is published.

    :raises SparkforgeError: if there is no wheel, or no room.
    """
    paths, unit = attempt.paths, attempt.unit
    if unit.kind == "cmake":
        staged = paths.inside("out", "staged")
        disk.remove(staged)
        try:
            commands.run(attempt, [attempt.cmake, "--install", paths.inside("build")], environment={"DESTDIR": staged})
        except SparkforgeError:
            # Half of it is worth nothing, and takes the room that may be what is missing.
            disk.remove(staged)
            raise
        return
    wheels = wheel_file.collect_wheels(paths.inside("out"))
    if not wheels:
        raise SparkforgeError(
            f"The build of {paths.name} succeeded but created no wheel.",
            "Check the end of the log for where it was written.",
        )
    if unit.build_tag:
        for wheel in wheels:
            if wheel_file.tag_of(wheel) != unit.build_tag:
                attempt.need_room(wheel.size)
                wheel_file.retag(wheel.path, unit.build_tag)
