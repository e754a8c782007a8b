# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Puts the proof, with what it carries of the collection, into what is built of both packages of this checkout."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CHECKOUT = Path(__file__).resolve().parents[1]


class ProofHook(BuildHookInterface):  # type: ignore[type-arg]
    """Option ``file``: the place of the one file that hosts run. Without it, the sources become a package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel; an editable one imports from the checkout."""
        if version == "editable":
            return
        sys.path.insert(0, str(CHECKOUT))
        from plugins.plugin_utils import proof

        self.directory_of_files = directory = Path(tempfile.mkdtemp(prefix="sparkforge-proof-"))
        place = self.config.get("file")
        files = (
            {place: proof.program()[0]} if place else {name: text.encode() for name, text in proof.sources().items()}
        )
        for name, content in files.items():
            if name == "__main__.py":
                continue
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            build_data["force_include"][str(path)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made for the archive, which is written by now."""
        if version != "editable":
            shutil.rmtree(self.directory_of_files)
