# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files that a program installs: compared with what is there, written, removed."""

from __future__ import annotations

import os
import typing as t

from . import disk, modules


class Files:
    """What a program installs, compared with what is there.

    :param wanted: content and mode of each file by its path.
    :param installed: what an earlier run may have installed: what is not wanted of it goes.
    :ivar changes: content before and after of each file that differs, None for no file.
    """

    def __init__(self, wanted: t.Mapping[str, tuple[bytes, int]], installed: t.Iterable[str]) -> None:
        self.wanted = wanted
        there = {path: disk.read(path) for path in sorted({*wanted, *installed})}
        pairs = {path: (old, wanted.get(path, (None, 0))[0]) for path, old in there.items()}
        self.changes = {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}

    def diff(self) -> list[dict[str, str]]:
        """Return what ``--diff`` shows."""
        return [modules.diff(path, _shown(old), _shown(new)) for path, (old, new) in self.changes.items()]

    def apply(self) -> None:
        """Write and remove them.

        :raises SparkforgeError: if that fails.
        """
        for path, (_old, new) in self.changes.items():
            if new is not None:
                disk.write_file(path, new, self.wanted[path][1])
                continue
            try:
                os.unlink(path)
                directory = os.path.dirname(path)
                if directory.endswith(".service.d") and not os.listdir(directory):
                    os.rmdir(directory)
            except OSError as error:
                raise disk.failed(f"{path} cannot be removed", error) from error


def _shown(content: bytes | None) -> str:
    if content is None or b"\0" not in content:
        return (content or b"").decode("utf-8", "replace")
    return f"{len(content)} bytes\n"
