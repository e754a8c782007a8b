# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sub-command ``endpoint``: asks a server, compares, and prints what is wrong."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
import typing as t

from .._shared.module_utils._core import disk, shown
from .._shared.module_utils._core.errors import SparkforgeError
from ..check import CRASH, FAIL, PASS, SKIP, WARN, WRONG, Failed, Result, Skipped
from . import against, answers
from .checks import Checks
from .client import Endpoint, NotNumbers
from .session import Session
from .texts import Texts

#: The exit statuses, as the proof's own: 2 is a wrong command line, or a server that cannot be queried.
PROVEN, WRONG_NUMBER, REFUSED, UNPROVEN, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130
#: Without any of these no number was compared.
COMPARED = ("endpoint.prompt", "endpoint.completion")
FORMATS = ("auto", "fp32", "fp16", "bf16", "fp8", "nvfp4", "mxfp4")
#: Tokens of the longest text by default: behind a chunk of 2,048, vLLM's.
LONGEST = 2100
_EPILOG = """exit status: 0 proven, 1 a number is wrong, 2 it could not start, 3 no number was compared, 4 a check
failed without a wrong number, 130 interrupted"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="sparkforge-proof endpoint",
        description="Prove that an OpenAI-compatible server returns the numbers of its own weights: every"
        " log-probability is compared with a float32 reference that transformers computes, or with another server's.",
        epilog=_EPILOG,
    )
    made.add_argument("url", nargs="?", metavar="URL", help="the server, such as http://127.0.0.1:8000")
    made.add_argument("--model", default="", metavar="MODEL", help="a directory, GGUF file or name in the hub's cache")
    made.add_argument("--against", default="", metavar="URL2", help="a server of the same model, instead of --model")
    made.add_argument("--served-name", default="", metavar="NAME", help="the served model (default: the only one)")
    made.add_argument("--key-file", metavar="FILE", help="a file with the key that requests must send")
    made.add_argument("--key-variable", metavar="NAME", help="an environment variable with that key")
    made.add_argument("--format", choices=FORMATS, default="auto", help="the served format (default: config.json's)")
    made.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cpu", help="the device for the reference")
    made.add_argument("--longest", type=int, default=LONGEST, metavar="TOKENS", help=f"the longest text ({LONGEST})")
    made.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for an answer (default: 120)")
    made.add_argument("--seed", type=int, default=0, help="seed of the texts (default: from the date)")
    made.add_argument("--json", metavar="FILE", help="write the report to this file")
    made.add_argument("--quiet", action="store_true", help="print only the verdict")
    return made


def main(argv: t.Sequence[str] | None = None) -> int:
    """Ask the server, print what is wrong, and return the exit status."""
    given = parser().parse_args(argv)
    try:
        report = prove(given)
        if given.json:
            disk.write_file(os.path.abspath(given.json), (json.dumps(report, indent=2, sort_keys=True) + "\n").encode())
    except SparkforgeError as error:
        print(f"{error.cause} {error.remedy}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("Interrupted: nothing is proven. Run it again; the server was only asked.", file=sys.stderr)
        return INTERRUPTED
    counts = ", ".join(f"{count} {status}" for status, count in report["summary"].items())
    print(f"{report['verdict']} ({report['url']}, {report['format']}, {report['seconds']:.0f} s): {counts}")
    return status(report)


def status(report: t.Mapping[str, t.Any]) -> int:
    """Return what the process ends with."""
    if any(row["status"] == FAIL and row["reason"] == WRONG for row in report["checks"]):
        return WRONG_NUMBER
    return {"proven": PROVEN, "unproven": UNPROVEN}.get(report["verdict"], FAILED)


def prove(given: argparse.Namespace) -> dict[str, t.Any]:
    """Run the checks and return the report.

    :raises SparkforgeError: the server cannot be asked, or the model cannot be read.
    """
    if not given.url:
        raise SparkforgeError("No server is named.", "Write its URL: endpoint http://127.0.0.1:8000 --model PATH.")
    if bool(given.model) == bool(given.against):
        raise SparkforgeError(
            "A server is compared either with its model or with another server.", "Use --model PATH or --against URL2."
        )
    if given.timeout <= 0 or given.longest < 32:
        raise SparkforgeError("--timeout must be above 0, and --longest 32 or more.", "Correct it.")
    began = time.monotonic()
    given.seed = given.seed or int(time.strftime("%Y%m%d", time.gmtime()))
    # Quick checks go first: the servers, then the directory, then minutes of loading.
    endpoint, served = _server(given, given.url)
    checks, form = (_of_servers if given.against else _of_weights)(given, endpoint, served)
    results = []
    for row in rows(checks.rows(), lambda: checks.session.complete(checks.drawn.draw(6), max_tokens=1)):
        results.append(row)
        if not given.quiet:
            said = row.measured if row.status == PASS else f"{row.cause} {row.remedy}"
            print(shown.text(f"{row.status}  {row.name}: {said.strip()}"), flush=True)
    return _report(given, results, time.monotonic() - began, form, str(served["id"]))


def _server(given: argparse.Namespace, url: str) -> tuple[Endpoint, dict[str, t.Any]]:
    endpoint = Endpoint(url, key(given), given.timeout)
    return endpoint, _named(answers.models(endpoint.get("/v1/models")), given.served_name)


def _of_weights(
    given: argparse.Namespace, endpoint: Endpoint, served: dict[str, t.Any]
) -> tuple[Checks | against.Against, str]:
    reference, where = _loaded(given)
    limits = [given.longest, where.context, answers.context(served)]
    session = Session(endpoint, str(served["id"]), reference)
    longest = min(int(limit) for limit in limits if limit)
    # The tokenizer puts that before every text: a model is not used to anything else.
    first = list(reference.tokenizer("").input_ids)[:1]
    drawn = Texts(reference.words(), first, longest, given.seed)
    session.settle(drawn.draw(6))
    return Checks(session, drawn), reference.form.name


def _of_servers(
    given: argparse.Namespace, endpoint: Endpoint, served: dict[str, t.Any]
) -> tuple[Checks | against.Against, str]:
    other, listed = _server(given, given.against)
    limits = [given.longest, answers.context(served), answers.context(listed)]
    longest = min(int(limit) for limit in limits if limit)
    sessions = Session(endpoint, str(served["id"])), Session(other, str(listed["id"]))
    for session in sessions:
        drawn = against.settled(session, longest, given.seed)
    return against.Against(against.Pair(*sessions, drawn.batches()[0]), drawn), f"against {given.against}"


def key(given: argparse.Namespace) -> str:
    """Return the key that requests bring; empty where none is named.

    :raises SparkforgeError: it cannot be read, or no header can hold it.
    """
    if given.key_file:
        try:
            with open(given.key_file, encoding="utf-8") as stream:
                found = stream.read(4096).strip()
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "it is no text"
            raise SparkforgeError(f"The key file {given.key_file} cannot be read: {said}.", "Correct it.") from None
    elif given.key_variable:
        found = os.environ.get(given.key_variable, "").strip()
    else:
        return ""
    if not found or not found.isascii() or not found.isprintable() or " " in found:
        where = given.key_file or f"the variable {given.key_variable}"
        raise SparkforgeError(f"There is no key in {where}.", "Put the key there, in one line.")
    return found


def _named(listed: t.Sequence[dict[str, t.Any]], name: str) -> dict[str, t.Any]:
    names = [str(one["id"]) for one in listed]
    if name and name not in names:
        raise SparkforgeError(f"The server has no model {name}.", f"It lists {', '.join(names[:5])}.")
    if not name and len(names) > 1:
        raise SparkforgeError(f"The server lists {len(names)} models.", f"Name one: --served-name {names[0]}.")
    return listed[names.index(name)] if name else listed[0]


def _loaded(given: argparse.Namespace) -> t.Any:
    from . import reference

    where = reference.folder(reference.place(given.model))
    try:
        import torch
        import transformers  # noqa: F401 - whether it is there
    except ImportError as error:
        raise SparkforgeError(
            f"{sys.executable} has no {error.name}.", "Run this with the interpreter of the server's environment."
        ) from None
    from . import formats

    cuda = torch.cuda.is_available()
    if given.device == "cuda" and not cuda:
        raise SparkforgeError("torch has no GPU here.", "Use --device cpu.")
    form = formats.FORMATS[where.format if given.format == "auto" else given.format]
    form = form.stored() if where.stored and form.name == where.format else form
    device = "cuda" if given.device != "cpu" and cuda else "cpu"
    return reference.Reference(where, form, device), where


def rows(checks: t.Iterable[tuple[str, bool, t.Callable[[], t.Any]]], ask: t.Callable[[], t.Any]) -> t.Iterator[Result]:
    """Run the checks and return their rows; those that are left when the server has gone are skipped.

    :param ask: asks the server something plain, after a check that had no answer.
    """
    gone = ""
    for name, numeric, function in checks:
        if gone:
            cause = f"Not run: the server no longer answers, see {gone}."
            yield Result(name, SKIP, cause=cause, family="endpoint", numeric=numeric, required=numeric, blocked=True)
            continue
        row = _row(name, numeric, function)
        if row.reason == CRASH:
            try:
                ask()
            except SparkforgeError:
                gone = name
        yield row


def _row(name: str, numeric: bool, function: t.Callable[[], t.Any]) -> Result:
    began = time.monotonic()
    row = Result(name, PASS, family="endpoint", numeric=numeric, required=numeric)
    try:
        found = function()
        row.measured, row.bound, row.ratio = found.measured, found.bound, found.ratio
        if found.warning:
            row.status, row.cause, row.remedy = WARN, found.warning.cause, found.warning.remedy
    except Skipped as reason:
        row.status, row.cause = SKIP, str(reason)
    except Failed as failure:
        row.status, row.cause, row.remedy, row.reason = FAIL, failure.cause, failure.remedy, failure.reason
        row.measured, row.bound, row.ratio = failure.measured, failure.bound, failure.ratio
    except NotNumbers as error:
        row.status, row.cause, row.remedy, row.reason = FAIL, error.cause, error.remedy, WRONG
    except SparkforgeError as error:
        # A server that breaks off after one answer is unreliable, but the other checks still say more about it.
        row.status, row.cause, row.remedy, row.reason = FAIL, error.cause, error.remedy, CRASH
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        # An answer of a form that nobody thought of.
        row.status, row.reason = FAIL, CRASH
        row.cause = f"{name} cannot read the server's answers ({type(error).__name__}: {error})."
        row.remedy = "Report it, with the engine's name and version."
    row.seconds = round(time.monotonic() - began, 2)
    return row


def _report(
    given: argparse.Namespace, results: t.Sequence[Result], seconds: float, form: str, served: str
) -> dict[str, t.Any]:
    failed = [row for row in results if row.status == FAIL]
    compared = any(row.name in COMPARED and row.status == PASS for row in results)
    return {
        "kind": "endpoint",
        "verdict": "fail" if failed else "proven" if compared else "unproven",
        "url": given.url,
        "served": served,
        "model": os.path.abspath(given.model) if given.model else "",
        "against": given.against,
        "format": form,
        "seed": given.seed,
        "host": socket.gethostname(),
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(seconds, 1),
        "summary": {one: sum(row.status == one for row in results) for one in (PASS, WARN, FAIL, SKIP)},
        "checks": [row.as_row() for row in results],
    }
