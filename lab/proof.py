# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes `sparkforge-proof.pyz`, the proof as one file that any Python with torch runs: `make proof`.

It is the file that the collection sends to hosts. The same sources make the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
sys.path[:0] = [str(CHECKOUT / ".collections")]

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import proof


def write(path: Path) -> None:
    """Write the archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(proof.program()[0])
    path.chmod(0o755)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else CHECKOUT / "dist/sparkforge-proof.pyz")
    write(target)
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")
