# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where redist archives lie on a host.

Apart from ``_fetch.redist``, because a filter on the controller reads it in every worker that a task forks,
and what fetches and unpacks takes 0.1 s to import.
"""

from __future__ import annotations

import os
import re
import typing as t

#: Where NVIDIA's archives keep libraries; the first that exists counts.
LIBRARY_DIRECTORIES = ("lib", "lib64")

#: What a version is called, perhaps with a variant behind it; never as the symlink beside it.
VERSION = re.compile(r"[0-9][A-Za-z0-9._+-]{0,127}")


def current_path(prefix: str, component: str) -> str:
    """Return the symlink that says which version of a component is in use."""
    return os.path.join(prefix, component, "current")


def is_version(path: str, component: str) -> bool:
    """Tell whether ``path`` is where a version of ``component`` may lie, below whatever prefix."""
    above, name = os.path.split(path)
    sound = os.path.isabs(path) and os.path.normpath(path) == path and os.path.basename(above) == component
    return sound and VERSION.fullmatch(name) is not None


def loader_path(loader_directory: str, component: str) -> str:
    """Return where the loader entry of a component is."""
    return os.path.join(loader_directory, f"sparkforge-{component}.conf")


def loader_entry(record: t.Mapping[str, t.Any], *, identity: bool) -> str:
    """Return the text of the loader entry.

    Its first line names what is installed, so that an observer of /etc alone can tell. That line is written
    after the receipt and so proves that the installation came to its end.
    """
    head = ""
    if identity:
        what = [record["component"], record["version"], record["variant"] or "-", record["platform"]]
        head = f"# sparkforge redist_archive: {' '.join(what)} {record['sha256']}\n"
    return f"{head}{os.path.join(record['current'], record['library_directory'])}\n"
