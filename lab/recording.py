# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records the real `make demo` in a terminal, and its report page: `make recording`.

asciinema records docs/demo.cast, with every pause cut to at most a second, and termtosvg draws docs/demo.svg; both are
in requirements-docs.txt. Chromium draws docs/demo-report.png. This machine's paths are replaced, because they mean
nothing to readers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAST, PICTURE = ROOT / "docs/demo.cast", ROOT / "docs/demo.svg"
REPORT, PAGE = ROOT / "docs/demo-report.png", ROOT / "reports/spark01.html"
COLUMNS, ROWS = 100, 28
#: Times in seconds: the longest pause, and the shortest and longest time for which a picture is shown.
IDLE, SHORTEST, LONGEST = 1.0, 0.1, 2.0


def without_paths(cast: str, home: str, checkout: str) -> str:
    """Return a recording (asciicast v2: one JSON value per line) with neutral paths for the checkout and home.

    :raises ValueError: if the recording has another format.
    """
    head, *events = cast.splitlines()
    if json.loads(head).get("version") != 2:
        raise ValueError("asciinema wrote another format than version 2")
    lines = [json.dumps({key: value for key, value in json.loads(head).items() if key != "env"})]
    for line in events:
        when, kind, text = json.loads(line)
        text = text.replace(checkout, "~/dgx_spark").replace(home, "~") if kind == "o" else text
        lines.append(json.dumps([round(when, 3), kind, text], ensure_ascii=False))
    return "\n".join(lines) + "\n"


def draw_page() -> None:
    """Draw a picture of the report page of the demo's host.

    :raises FileNotFoundError: if Chromium is missing.
    """
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError("there is no Chromium to draw the page with: install Debian's package chromium")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,1250"]
    subprocess.run([browser, *options, f"--screenshot={REPORT}", PAGE.as_uri()], check=True, capture_output=True)


def main(platform: str = "native", bench: str = "recording") -> int:
    """Record, draw, and stop the bench; return the exit status of the demo."""
    tools = Path(sys.executable).parent
    demo = f"make --no-print-directory demo PLATFORM={platform} BENCH={bench}"
    # asciinema exits with 0 whatever the command's status is.
    command = [
        tools / "asciinema", "rec", "--overwrite", "--quiet", "--idle-time-limit", str(IDLE), "--cols", str(COLUMNS),
        "--rows", str(ROWS), "--title", f"make demo PLATFORM={platform}",
        "--command", f"{demo}; echo $? > dist/recording.status", CAST,
    ]  # fmt: skip
    (ROOT / "dist").mkdir(exist_ok=True)
    try:
        subprocess.run([str(word) for word in command], cwd=ROOT, check=True)
    finally:
        # Do not use `make lab-down`, which would also stop the fleet's bench.
        down = ["lab/as_root", ".venv/bin/python", "-m", "lab", "down", "--bench", bench]
        subprocess.run(down, cwd=ROOT, check=False)
    status = int((ROOT / "dist/recording.status").read_text())
    CAST.write_text(without_paths(CAST.read_text(encoding="utf-8"), str(Path.home()), str(ROOT)), encoding="utf-8")
    draw = ["render", CAST, PICTURE, "-m", f"{SHORTEST * 1000:.0f}", "-M", f"{LONGEST * 1000:.0f}", "-D", "5000"]
    subprocess.run([str(word) for word in (tools / "termtosvg", *draw)], cwd=ROOT, check=True)
    draw_page()
    for path in (CAST, PICTURE, REPORT):
        print(f"recording: {path.relative_to(ROOT)}, {path.stat().st_size // 1000} kB")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
