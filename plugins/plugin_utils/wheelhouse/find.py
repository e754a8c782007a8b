# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the manifest of a stack is found."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from ...module_utils._core.errors import SparkforgeError
from ...module_utils._wheel.wheel import Manifest
from ...module_utils._wheelhouse import publication
from .cache import Cache
from .served import Served, is_passed_over
from .wanted import Wanted


class Found(t.NamedTuple):
    """A manifest and where it was; ``served`` None where nobody was asked, or nobody answered."""

    manifest: Manifest | None
    where: str | None
    tried: list[dict[str, str]]
    served: bool | None


def find_manifest(
    wanted: Wanted,
    places: t.Sequence[str],
    cache: Cache,
    served: Served | None,
    ask_builder: Callable[[str], bytes | None],
    builder: str,
    allow_older: bool = False,
) -> Found:
    """Look for a manifest in the places, in order, and say what each had.

    :param ask_builder: returns the content of the file of that name in the builder's wheelhouse, None where it is
        not there; raises OSError with words where the builder cannot be asked.
    :param allow_older: whether one is taken that is older than the cache's.
    :raises SparkforgeError: if a place has something that is not a manifest, one of another stack, or an older one.
    """
    tried: list[dict[str, str]] = []
    is_served: bool | None = None
    manifest = where = None
    for place in places:
        name, label = place, f"The manifest of {wanted.stack} on {builder}"
        if place == "url":
            if served is None:
                continue
            name, label = served.url, f"The manifest of {wanted.stack} at {served.url}"
            try:
                cached = None if served.pinned or wanted.signers else cache.load(wanted)
                manifest = served.manifest(wanted, cached)
                is_served = manifest is not None
                said = "has it" if manifest else "does not have it"
            except SparkforgeError as error:
                if not is_passed_over(error):
                    raise
                said = error.cause
        elif place == "cache":
            name = cache.path_of(wanted)
            manifest = cache.load(wanted)
            said = "has it" if manifest else "does not have it"
        else:
            name = builder
            try:
                content = ask_builder(wanted.file)
                manifest = wanted.check(publication.read(content, label), label) if content is not None else None
                said = "has it" if manifest else "does not have it"
            except OSError as error:
                said = str(error)
        tried.append({"place": name, "said": said})
        if manifest:
            if not allow_older:
                cache.check_not_older(wanted, manifest, label)
            where = place
            break
    return Found(manifest, where, tried, is_served)
