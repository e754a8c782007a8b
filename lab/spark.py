# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make spark`: sets up the Sparks that `sparkforge setup` finds or, if there are none, a simulated one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sparkforge import Exit
from sparkforge.questions import has_terminal

#: The demo, with the variables passed to this make (through MAKEFLAGS).
SIMULATED = ["make", "--no-print-directory", "demo"]
SETUP = Path(sys.executable).with_name("sparkforge")


def say(text: str) -> None:
    print(f"spark: {text}", flush=True)


def simulated() -> int:
    """Set up the simulated Spark, and return the exit status."""
    return subprocess.run(SIMULATED, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Run `sparkforge setup` with these arguments, or the simulation, and return the exit status."""
    if not arguments and not has_terminal():
        say("There is no terminal for questions, so this sets up a simulated Spark. For a real Spark, run:")
        say(".venv/bin/sparkforge setup --host NAME --user NAME --accept-nvidia-license --method wheels --no-password")
        return simulated()
    code = subprocess.run([SETUP, "setup", *arguments], check=False).returncode
    # A Mac cannot run Linux containers, and a user who named a Spark does not want a simulated one.
    if code != Exit.NO_SPARK or arguments or not sys.platform.startswith("linux"):
        return code
    say("sparkforge is .venv/bin/sparkforge here. On the Spark itself: .venv/bin/sparkforge setup --host localhost.")
    answer = input("Set up a simulated Spark on this machine instead (ten minutes, root or sudo, 8 GB)? [y/N] ")
    return simulated() if answer.strip().lower() in ("y", "yes") else code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (KeyboardInterrupt, EOFError):
        sys.exit(130)
