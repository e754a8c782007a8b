# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase patch: patches and edits."""

from __future__ import annotations

from ..._fetch import sources
from .. import patching
from ..attempt import Attempt


def run(attempt: Attempt) -> None:
    """Change the sources as the unit says, and remember how."""
    tree, unit = attempt.paths.inside("source"), attempt.unit
    applied = patching.apply(tree, unit.patches, unit.edits, attempt.say)
    label = attempt.request["shown_source"]
    sources.check_tree(tree, unit.subdirectory, unit.kind, label, unit.source.get("submodules", True))
    attempt.state.update(applied=applied)
