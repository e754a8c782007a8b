# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes `sparkforge-proof.pyz`, the proof as one file that any Python with torch runs: `make proof`.

It holds sources of this collection alone (zipapp of the standard library). The same sources make the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[1]
sys.path[:0] = [str(CHECKOUT / ".collections")]

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import cli

#: What draws the page: two modules of the controller's side and what they read.
PAGE = "plugins/plugin_utils/fleet/report"
PAGE_FILES = ("__init__.py", "page.py", "report.css", "report.html.j2", "report.js")
MAIN = f"""import sys

if sys.version_info < (3, 9):
    sys.exit("sparkforge-proof needs Python 3.9 or newer.")
from {bundle.PACKAGE}._proof.cli import main

sys.exit(main())
"""


def sources() -> dict[str, str]:
    """Return the path and the text of each file of the archive."""
    profiles = yaml.safe_load((CHECKOUT / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]
    found = {"__main__.py": MAIN, cli.PROFILES: json.dumps(profiles), **bundle.files("_proof.cli")}
    collection = bundle.PACKAGE.replace(".", "/").removesuffix("/plugins/module_utils")
    for name in PAGE_FILES:
        found[f"{collection}/{PAGE}/{name}"] = (CHECKOUT / PAGE / name).read_text()
    parent = Path(PAGE).parent
    while parent != Path("plugins"):
        found[f"{collection}/{parent}/__init__.py"] = ""
        parent = parent.parent
    return found


def write(path: Path) -> None:
    """Write the archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    bundle.archive(str(path), sources())


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else CHECKOUT / "dist/sparkforge-proof.pyz")
    write(target)
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")
