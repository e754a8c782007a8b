# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase configure: CMake's, or the build backend's first import."""

from __future__ import annotations

import os

from .. import commands
from ..attempt import Attempt


def run(attempt: Attempt) -> None:
    paths, unit = attempt.paths, attempt.unit
    os.makedirs(paths.inside("out"), exist_ok=True)
    if unit.kind == "wheel":
        probe = f"import importlib; importlib.import_module({attempt.backend().partition(':')[0]!r})"
        commands.run(attempt, [attempt.python, "-c", probe])
        return
    arguments = [attempt.expanded(text) for text in unit.cmake_args]
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
