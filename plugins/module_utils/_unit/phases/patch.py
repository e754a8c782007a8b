# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The phase patch: patches and edits, in sources of your own or in the tree of another fingerprint's build."""

from __future__ import annotations

import os
import time
import typing as t

from ..._core import disk
from ..._fetch import sources
from .. import carry, model, patching, trees
from ..attempt import Attempt


def run(attempt: Attempt) -> None:
    """Change the sources as the unit says, and remember how."""
    source = attempt.paths.inside("source")
    if attempt.carried:
        applied = _patch_carried(attempt, source, attempt.paths.inside("wanted"))
    else:
        applied = _patch_pristine(attempt, source)
    changed = {step["file"]: carry.digest(os.path.join(source, step["file"])) for step in applied}
    attempt.state.update(applied=applied, changed=changed)


def _patch_pristine(attempt: Attempt, tree: str) -> list[dict[str, t.Any]]:
    unit = attempt.unit
    applied = patching.apply(tree, unit.patches, unit.edits, attempt.say)
    label = attempt.request["shown_source"]
    sources.check_tree(tree, unit.subdirectory, unit.kind, label, unit.source.get("submodules", True))
    return applied


def _patch_carried(attempt: Attempt, source: str, wanted: str) -> list[dict[str, t.Any]]:
    """Make ``source``, which another fingerprint's patches and edits changed, what ours make of ``wanted``."""
    before, fingerprint = attempt.carried["changed"], attempt.carried["fingerprint"]
    pristine = carry.compare(source, wanted)
    applied = _patch_pristine(attempt, wanted)
    touched = {step["file"] for step in applied}
    names = {path for path in pristine.names | touched if os.path.lexists(os.path.join(wanted, path))}
    place = attempt.paths.tree_directory
    try:
        paths = carry.differences(source, wanted, before, touched, pristine)
        # From here on the other build must not take it for its own.
        trees.hold(place, fingerprint, attempt.paths.fingerprint)
        carry.tidy([tree for tree in attempt.trees if os.path.isdir(tree)], source, names, paths)
    except carry.Doubt as doubt:
        attempt.state.note(f"The tree of the build {fingerprint} was recreated: {doubt}.")
        trees.hold(place, attempt.paths.fingerprint)
        attempt.state.undo("prepare")
        for name in model.TREES:
            if name != "wanted":
                disk.remove(attempt.paths.inside(name))
        os.rename(wanted, source)
        return applied
    # A clock that is behind must not make an object younger than the source that it is compiled from again.
    moment = time.time()
    attempt.clamp_mtimes(moment)
    carry.merge(source, wanted, paths, moment + 0.01)
    disk.remove(wanted)
    time.sleep(0.05)
    attempt.checkpoint()
    attempt.state.note(
        f"The build continued in the tree of build {fingerprint}: {len(paths)} files of the source differ."
    )
    return applied
