# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The contents of a DGX release according to NVIDIA's own checker: the recipes of ``nvidia-spark-ota-check``."""

from __future__ import annotations

import json
import typing as t

from .._host.reader import Host
from .deb_version import compare_versions

# The world-readable directory of the checker's release recipes, from "Updating a fleet of GB10 systems" (2026-09-05),
# for nvidia-spark-ota-check 1.0.16-1.
RECIPES = "/opt/nvidia/spark-ota-check/metadata"


def newest(host: Host, installed: t.Mapping[str, str]) -> dict[str, t.Any] | None:
    """Return the newest release that NVIDIA's checker knows, and its packages that are older or missing here."""
    texts = [host.read(f"{RECIPES}/{name}") for name in host.names(RECIPES) if "ebeta" not in name]
    recipes = [json.loads(text) for text in texts if text]
    if not recipes:
        return None
    latest = max(recipes, key=lambda recipe: str(recipe["metadata"].get("releaseDate")))
    rows = [(row["name"], installed.get(row["name"], ""), row["version"]) for row in latest.get("package") or []]
    return {
        "name": latest["metadata"].get("name"),
        "released": str(latest["metadata"].get("releaseDate"))[:10],
        "software": {row["name"]: row["version"] for row in latest.get("software") or []},
        "behind": {name: [has, want] for name, has, want in rows if not has or compare_versions(has, want) < 0},
    }
