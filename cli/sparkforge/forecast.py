"""The variables that `sparkforge forecast` passes on: the hosts, the ledger, and the output format."""

from __future__ import annotations

import argparse
from typing import Any

from sparkforge import Exit, Refusal


def variables(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the playbook's variables.

    :raises Refusal: if a record does not exist, or hosts are named in two ways.
    """
    if arguments.host and arguments.limit:
        cause = f"Hosts are named twice: {' '.join(arguments.host)}, and -l {arguments.limit}."
        raise Refusal(Exit.USAGE, cause, "Name them in one of the two ways.")
    for path in arguments.record or []:
        if not path.is_file():
            raise Refusal(Exit.USAGE, f"There is no file {path}.", "Make one with sparkforge record.")
    given = {
        "forecast_records": [str(path.absolute()) for path in arguments.record or []],
        "forecast_ledger": arguments.ledger,
        "forecast_accept": arguments.accept,
        "forecast_format": "json" if arguments.json else None,
        "forecast_file": str(arguments.file.absolute()) if arguments.file else None,
    }
    return {name: value for name, value in given.items() if value}
