"""What `sparkforge forecast` tells the playbook: whose forecast, by which ledger, and how it is shown."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sparkforge import Exit, Refusal


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("host", nargs="*", help="only these hosts of the inventory")
    add("--record", type=Path, action="append", metavar="FILE", help="forecast a Spark that sparkforge record recorded")
    add("--ledger", metavar="FOLDER", help="another ledger")
    add("--accept", action="append", metavar="RULE", help="you have dealt with this rule; may be given again")
    add("--json", action="store_true", help="print JSON in one line")
    add("--file", type=Path, metavar="FILE", help="write the same into this file too")


def variables(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the variables of the playbook.

    :raises Refusal: a record is not there.
    """
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
