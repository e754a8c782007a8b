# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds this checkout's programs, with the collection's code that they contain, to its Python packages."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CHECKOUT = Path(__file__).resolve().parents[1]


class ProgramsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Option ``program``: the program whose sources become a package. Without it, all are added at ``place``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel; an editable wheel imports them from the checkout."""
        if version == "editable":
            return
        sys.path.insert(0, str(CHECKOUT))
        from plugins.plugin_utils.programs import PROGRAMS

        # The directory is deleted along with this hook, after the archive has been written.
        self.place_of_files = tempfile.TemporaryDirectory(prefix="sparkforge-programs-")
        directory = Path(self.place_of_files.name)
        if "program" in self.config:
            files = {name: text.encode() for name, text in PROGRAMS[self.config["program"]].sources().items()}
            del files["__main__.py"]
        else:
            folder = Path(self.config["place"])
            files = {str(folder / name / program.file): program.archive()[0] for name, program in PROGRAMS.items()}
        for name, content in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            build_data["force_include"][str(path)] = name
