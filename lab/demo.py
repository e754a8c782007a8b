# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The end of `make demo`: prints the results from the report and of the second run, and opens the page."""

from __future__ import annotations

import json
import os
import re
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPORTS = Path(__file__).parents[1] / "reports"
HOST = "spark01"
#: Ansible's last line for an unchanged host.
UNCHANGED = re.compile(rf"^{HOST} .*changed=0 .*unreachable=0 .*failed=0", re.M)


def sentence(report: Mapping[str, Any]) -> str:
    """Return a sentence on the demo's result, based on its report."""
    torch = (report.get("software") or {}).get("torch")
    environment = f"A simulated Spark has a Python environment with PyTorch {torch or ''}".rstrip()
    compared = [check for check in report["checks"] if check["numeric"] and check["status"] == "pass"]
    if report["verdict"] == "proven":
        count = f"{len(compared)} check{'s' * (len(compared) != 1)}"
        outcome = f"its results were compared with float64 in {count}, and are right"
    elif report["verdict"] == "unproven":
        outcome = "it computed no numbers, because its PyTorch is a stand-in; the verdict is unproven"
    else:
        outcome = "its proof failed, and the page says why"
    return f"{environment}; {outcome}. The second run changed nothing."


def main() -> int:
    """Print the sentence and the page's path; open the page on a desktop. Return 1 if the second run made changes."""
    if not UNCHANGED.search((REPORTS / "second-run.log").read_text(encoding="utf-8", errors="replace")):
        print("demo: the second run made changes", file=sys.stderr)
        return 1
    page = (REPORTS / "index.html").resolve()
    print(f"demo: {sentence(json.loads((REPORTS / f'{HOST}.json').read_text(encoding='utf-8')))}")
    print(f"demo: the page is {page.as_uri()}")
    # Without a desktop, this would start a text browser or do nothing.
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(page.as_uri())
    return 0


if __name__ == "__main__":
    sys.exit(main())
