# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What another program asks of the proof by ``sparkforge-proof call NAME``: the modules of the collection.

The form is that of ``_core/program.py``: one JSON object on stdin, one on stdout. Nothing in the file is compiled, so
each call imports what it alone needs.
"""

from __future__ import annotations

import typing as t

from . import publish, run, scheduled
from ._shared.module_utils._core.answer import answer

Options = t.Mapping[str, t.Any]


def prove(options: Options, check_mode: bool) -> dict[str, t.Any]:
    """Return what the module ``cuda_proof`` returns."""
    proof = run.Proof(options, check_mode)
    report = proof.run()
    return {
        "report": report,
        "current": proof.is_current(),
        "hindrance": proof.hindrance(report, options["require"]),
        "scheduled": scheduled.is_scheduled(),
        "program": options.get("program"),
        "published": publish.is_published(proof.root),
    }


def inspected(options: Options, check_mode: bool) -> dict[str, t.Any]:
    """Return what the module ``inspect_info`` returns of a directory; nothing is ever changed."""
    from .files import judge

    del check_mode
    device = judge.Device(*(options[key] for key in ("machine", "capability", "cuda", "python")))
    return judge.paths([options["target"]], device)


CALLS: dict[str, t.Callable[[Options, bool], dict[str, t.Any]]] = {
    "prove": prove,
    "publish": lambda options, check_mode: publish.Publisher(options, check_mode).run(),
    "inspect": inspected,
}


def main(name: str) -> int:
    """Answer one call."""
    return answer(CALLS[name])
