"""Judge each host's observation by the ledger, and show the forecast for all hosts.

The documentation is in plugins/modules/forecast.py.
"""

from __future__ import annotations

import datetime
import json
import os
import typing as t

from ...tools.forecast import forecast, ledger
from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils import files
from ..plugin_utils.action import OnController

#: The maximum number of characters read from a record.
LARGEST = 16 << 20
#: Errors caused by a malformed observation, which comes from a host's root or the sender of a record.
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
SHOWN = {"table": forecast.as_text, "json": forecast.as_json}


def recorded(path: str) -> dict[str, t.Any]:
    """Return the row of a Spark recorded by ``sparkforge record``."""
    try:
        with open(path, encoding="utf-8") as stream:
            record = json.loads(stream.read(LARGEST))
        observation, update = forecast.of_record(record)
    except (OSError, ValueError, RecursionError, AttributeError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a record of a Spark"
        raise SparkforgeError(
            f"{path} cannot be forecast: {reason}.", "Create a record on the Spark with `sparkforge record`."
        ) from error
    return {"host": os.path.basename(path), "observation": observation, "update": update}


class ActionModule(OnController):
    """Prints the forecast, and writes it to a file on the controller if one is named; it contacts no host."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the forecast that was shown."""
        del task_vars
        rules, today = ledger.load(arguments["ledger"]), datetime.date.today()
        unknown = sorted(set(arguments["accept"]) - {rule["id"] for rule in rules.rules} - {"ledger-old"})
        if unknown:
            raise SparkforgeError(
                f"forecast_accept has {', '.join(unknown)}, which is not in the ledger.",
                "Use the rule ids that the forecast shows in brackets.",
            )
        rows = [self._row(row, rules, today, arguments["accept"]) for row in arguments["rows"]]
        rows += [self._row(recorded(path), rules, today, arguments["accept"]) for path in arguments["records"]]
        state = forecast.fleet(rows, rules, today)
        text = SHOWN[arguments["format"]](state)
        path = os.path.abspath(str(arguments["path"])) if arguments["path"] else None
        if path:
            files.write_text(path, text + "\n", "Set forecast_file to a file in a directory that you can write to.")
        reports = str(arguments["reports"] or "")
        # Recorded Sparks are not in an inventory, and no reports directory is created here.
        if arguments["rows"] and os.path.isdir(reports):
            forecast.keep(reports, state)
        self._display.display(text)
        if rows and state["summary"][forecast.UNREAD] == len(rows):
            first = f"{rows[0]['host']}: {rows[0]['problem']}"
            raise SparkforgeError(f"No host could be read. {first}", "Correct the cause, then forecast again.")
        by_host = {row["host"]: row for row in rows}
        return {
            "changed": False,
            "path": path,
            "summary": state["summary"],
            "ledger": state["ledger"],
            "hosts": by_host,
        }

    @staticmethod
    def _row(
        row: t.Mapping[str, t.Any], rules: ledger.Ledger, today: datetime.date, accept: t.Sequence[str]
    ) -> forecast.Forecast:
        host = str(row["host"])
        if not row.get("observation") or not row.get("update"):
            return forecast.unread(host, str(row.get("problem") or "The play failed on this host before it was read."))
        try:
            return forecast.judge(host, row["observation"], row["update"], rules, today, accept)
        except MALFORMED as error:
            return forecast.unread(host, f"The host's data is malformed ({type(error).__name__}: {error}).")
