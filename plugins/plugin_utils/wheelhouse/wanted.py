# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the manifest of a stack must be of."""

from __future__ import annotations

import typing as t

from ...module_utils._core.errors import SparkforgeError
from ...module_utils._wheel.wheel import Manifest
from ...module_utils._wheelhouse import publication
from . import signed

_FIELDS = ("stack", "lock_id", "platform")


class Wanted(t.NamedTuple):
    """What a manifest must be of."""

    stack: str
    lock_id: str
    platform: str
    python: str = ""
    signers: t.Sequence[str] = ()

    def check(self, manifest: t.Any, where: str) -> Manifest:
        """Return the manifest.

        :raises SparkforgeError: if it is of something else, was changed, or is not signed by one of ``signers``.
        """
        found = publication.check(manifest, where=where, **{key: getattr(self, key) for key in _FIELDS})
        if self.python and found["python"] != self.python:
            raise SparkforgeError(
                f"{where} is for Python {found['python']}, not {self.python}.",
                "Build the stack for this Python with playbooks/build.yml.",
            )
        signed.check(found, self.signers, where)
        return found

    @property
    def file(self) -> str:
        return publication.file_of(self.stack, self.lock_id)
