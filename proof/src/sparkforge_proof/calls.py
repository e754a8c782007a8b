"""The functions that the collection's modules call with ``sparkforge-proof call NAME``.

As in ``_core/program.py``, a call reads a JSON object from stdin and writes one to stdout. The single-file program has
no byte code, so each call imports only the modules that it needs.
"""

from __future__ import annotations

import os
import typing as t

from . import publish, run, scheduled

Options = t.Mapping[str, t.Any]


def prove(options: Options, check_mode: bool) -> dict[str, t.Any]:
    """Return the values that the module ``cuda_proof`` returns."""
    proof = run.Proof(options, check_mode)
    report = proof.run()
    return {
        "report": report,
        "current": proof.is_current(),
        "hindrance": proof.hindrance(report, options["require"]),
        "scheduled": os.path.exists(scheduled.TIMER),
        "program": options.get("program"),
        "published": publish.is_published(proof.root),
    }


def inspect(options: Options, _check_mode: bool) -> dict[str, t.Any]:
    """Return the values that the module ``inspect_info`` returns for a directory."""
    from .files import judge

    device = judge.Device(*(options[key] for key in ("machine", "capability", "cuda", "python")))
    return judge.paths([options["target"]], device)


CALLS: dict[str, t.Callable[[Options, bool], dict[str, t.Any]]] = {
    "prove": prove,
    "publish": lambda options, check_mode: publish.Publisher(options, check_mode).run(),
    "inspect": inspect,
}
