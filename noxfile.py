# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# /// script
# dependencies = ["nox==2026.10.20", "antsibull-nox==1.10.0"]
# ///

"""The sessions that collections have in common, by antsibull-nox: `uv run noxfile.py`. `make` has our own tests."""

import antsibull_nox
import nox

antsibull_nox.load_antsibull_nox_toml()

if __name__ == "__main__":
    nox.main()
