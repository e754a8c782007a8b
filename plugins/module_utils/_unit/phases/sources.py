"""The phases fetch and patch: the sources, and the unit's changes to them."""

from __future__ import annotations

import os
import typing as t

from ..._core import disk
from ..._fetch import sources
from ..._fetch.git import Git
from .. import commands, patching
from ..attempt import Attempt


def fetch(attempt: Attempt) -> None:
    """Fetch the sources from upstream, a mirror or an archive."""
    paths, unit = attempt.paths, attempt.unit
    tree = paths.inside("source")
    disk.remove(tree)
    # Remove objects built from sources of an earlier attempt, which may have newer mtimes than the new sources.
    disk.remove(paths.inside("build"))
    store = os.path.join(paths.builds, ".sources")
    source: t.Any
    if unit.is_git:
        source = Git(unit.source["repo"], attempt.request["commit"], unit.source["submodules"])
    else:
        source = sources.Archive(unit.source["archive"], unit.source["sha256"])
    network = commands.network_environment(attempt)
    environment = {**commands.base_environment(attempt), **network}
    os.environ.update(network)
    fetched = sources.fetch(source, tree, store, attempt.say, environment, rewrite=unit.rewrite)
    attempt.state.update(source=fetched)


def patch(attempt: Attempt) -> None:
    """Apply the unit's patches and edits, and record them."""
    tree, unit = attempt.paths.inside("source"), attempt.unit
    applied = patching.apply(tree, unit.patches, unit.edits, attempt.say)
    label = attempt.request["shown_source"]
    sources.check_tree(tree, unit.subdirectory, unit.kind, label, unit.source.get("submodules", True))
    attempt.state.update(applied=applied)
