# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The package ``sparkforge_proof`` on the controller: its modules, and the one file that hosts run.

The collection holds its sources in ``proof/src``. Where they are not, as in the wheel of the command ``sparkforge``,
that one file itself is in ``proof``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import pathlib
import sys
import typing as t

import yaml

from ..module_utils._core import bundle
from ..module_utils._core.errors import SparkforgeError

HOME = pathlib.Path(__file__).parents[2]
SOURCES = HOME / "proof/src"
NAME = "sparkforge-proof.pyz"
BUILT = HOME / "proof" / NAME
#: The files that the page needs besides its code.
_PAGE = "plugin_utils/fleet/report"
_PAGE_FILES = ("report.css", "report.html.j2", "report.js")
_MAIN = """import sys

if sys.version_info < (3, 9):
    sys.exit("Python 3.9 or newer is needed.")
from sparkforge_proof.{} import main

sys.exit(main())
"""


def module(name: str) -> t.Any:
    """Return a module of the package: ``files.judge``."""
    place = str(SOURCES if SOURCES.is_dir() else BUILT)
    if place not in sys.path:
        # Last: a name that the controller has already stays what it is.
        sys.path.append(place)
    return importlib.import_module(f"sparkforge_proof.{name}")


@contextlib.contextmanager
def refusals() -> t.Iterator[None]:
    """Raise what the package refuses as this collection's own error, of which it carries a copy."""
    try:
        yield
    except module("_shared.module_utils._core.errors").SparkforgeError as error:
        raise SparkforgeError(error.cause, error.remedy, **error.details) from error


@functools.cache
def program() -> tuple[bytes, str]:
    """Return the package as one file that Python runs, and its sha256."""
    content = bundle.archive(sources()) if SOURCES.is_dir() else BUILT.read_bytes()
    return content, hashlib.sha256(content).hexdigest()


def sources(start: str = "cli") -> dict[str, str]:
    """Return the path and the text of each file of an archive that begins with ``main`` of the module ``start``."""
    own = module("_shared.module_utils._core.bundle")
    profiles = yaml.safe_load((HOME / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]
    page = {
        f"sparkforge_proof/_shared/{_PAGE}/{name}": (HOME / "plugins" / _PAGE / name).read_text()
        for name in _PAGE_FILES
    }
    return {
        **own.files(f"sparkforge_proof.{start}", *(["sparkforge_proof.__main__"] if start == "cli" else [])),
        **page,
        "sparkforge_proof/profiles.json": json.dumps(profiles, sort_keys=True),
        "__main__.py": _MAIN.format(start),
    }
