"""The subcommand ``endpoint``: compare a server's answers with a reference and print the faults."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
import typing as t

from .._shared.module_utils._core import disk, phrases, sanitize
from .._shared.module_utils._core.errors import SparkforgeError
from ..check import CRASH, FAIL, PASS, SKIP, WARN, WRONG, Failed, Result, Skipped, seed_of_date
from . import against, answers
from .checks import Checks
from .client import Endpoint, NotNumbers
from .session import Session
from .texts import Texts

#: One of these checks must pass for the verdict ``proven``.
COMPARED = ("endpoint.prompt", "endpoint.completion")
FORMATS = ("auto", "fp32", "fp16", "bf16", "fp8", "nvfp4", "mxfp4")
#: The default length of the longest text in tokens, more than vLLM's chunk of 2,048.
LONGEST = 2100
_EPILOG = """exit status: 0 proven, 1 a number is wrong, 2 it could not start, 3 no number was compared, 4 a check
failed without a wrong number, 128 or more: stopped by a signal"""


def parser() -> argparse.ArgumentParser:
    """Return the command line parser."""
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


def main(argv: t.Sequence[str]) -> dict[str, t.Any]:
    """Check a server, print its faults, and return the report.

    :raises SparkforgeError: if the server cannot be queried, or the model cannot be read.
    """
    arguments = parser().parse_args(argv)
    report = prove(arguments)
    if arguments.json:
        text = json.dumps(report, indent=2, sort_keys=True) + "\n"
        disk.write_file(os.path.abspath(arguments.json), text.encode())
    counts = ", ".join(f"{count} {status}" for status, count in report["summary"].items())
    print(f"{report['verdict']} ({report['url']}, {report['format']}, {report['seconds']:.0f} s): {counts}")
    return report


def prove(arguments: argparse.Namespace) -> dict[str, t.Any]:
    """Run the checks and return the report."""
    if not arguments.url:
        raise SparkforgeError("The server's URL is missing.", "Add it: endpoint http://127.0.0.1:8000 --model PATH.")
    if bool(arguments.model) == bool(arguments.against):
        raise SparkforgeError(
            "A server is compared either with its model or with another server.", "Use --model PATH or --against URL2."
        )
    if arguments.timeout <= 0 or arguments.longest < 32:
        raise SparkforgeError("--timeout must be above 0, and --longest 32 or more.", "Correct them.")
    began = time.monotonic()
    arguments.seed = arguments.seed or seed_of_date()
    # Query the servers before loading the model, which takes minutes.
    endpoint, served = _query(arguments, arguments.url)
    checks, form = (_against_server if arguments.against else _against_weights)(arguments, endpoint, served)
    results = []
    for row in rows(checks.rows(), lambda: checks.session.complete(checks.drawn.draw(6), max_tokens=1)):
        results.append(row)
        if not arguments.quiet:
            text = row.measured if row.status == PASS else f"{row.cause} {row.remedy}"
            print(sanitize.text(f"{row.status}  {row.name}: {text.strip()}"), flush=True)
    return _report(arguments, results, time.monotonic() - began, form, str(served["id"]))


def _query(arguments: argparse.Namespace, url: str) -> tuple[Endpoint, dict[str, t.Any]]:
    endpoint = Endpoint(url, key(arguments), arguments.timeout)
    return endpoint, _select_model(answers.models(endpoint.get("/v1/models")), arguments.served_name)


def _against_weights(
    arguments: argparse.Namespace, endpoint: Endpoint, served: dict[str, t.Any]
) -> tuple[Checks | against.Against, str]:
    reference, source = _load(arguments)
    limits = [arguments.longest, source.context, answers.context(served)]
    session = Session(endpoint, str(served["id"]), reference)
    longest = min(int(limit) for limit in limits if limit)
    # The tokenizer begins every text with this token, and models are trained with it.
    first = list(reference.tokenizer("").input_ids)[:1]
    drawn = Texts(reference.token_ids(), first, longest, arguments.seed)
    session.settle(drawn.draw(6))
    return Checks(session, drawn), reference.form.name


def _against_server(
    arguments: argparse.Namespace, endpoint: Endpoint, served: dict[str, t.Any]
) -> tuple[Checks | against.Against, str]:
    other, listed = _query(arguments, arguments.against)
    limits = [arguments.longest, answers.context(served), answers.context(listed)]
    longest = min(int(limit) for limit in limits if limit)
    sessions = Session(endpoint, str(served["id"])), Session(other, str(listed["id"]))
    for session in sessions:
        drawn = against.settle_texts(session, longest, arguments.seed)
    return against.Against(against.Pair(*sessions, drawn.batches()[0]), drawn), f"against {arguments.against}"


def key(arguments: argparse.Namespace) -> str:
    """Return the key for requests, or '' if the command line does not name one.

    :raises SparkforgeError: if the key cannot be read, or is not valid in a header.
    """
    if arguments.key_file:
        try:
            with open(arguments.key_file, encoding="utf-8") as stream:
                value = stream.read(4096).strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            cause = f"The key file {arguments.key_file} cannot be read: {reason}."
            raise SparkforgeError(cause, "Correct --key-file.") from None
    elif arguments.key_variable:
        value = os.environ.get(arguments.key_variable, "").strip()
    else:
        return ""
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        source = arguments.key_file or f"the variable {arguments.key_variable}"
        raise SparkforgeError(f"There is no key in {source}.", "Write the key there, on one line.")
    return value


def _select_model(listed: t.Sequence[dict[str, t.Any]], name: str) -> dict[str, t.Any]:
    names = [str(model["id"]) for model in listed]
    if name and name not in names:
        raise SparkforgeError(f"The server has no model {name}.", f"Choose one of {', '.join(names[:5])}.")
    if not name and len(names) > 1:
        raise SparkforgeError(f"The server lists {len(names)} models.", f"Choose one: --served-name {names[0]}.")
    return listed[names.index(name)] if name else listed[0]


def _load(arguments: argparse.Namespace) -> t.Any:
    from . import reference

    source = reference.folder(reference.locate(arguments.model))
    try:
        import torch
        import transformers  # noqa: F401 - tests whether it is installed
    except ImportError as error:
        raise SparkforgeError(
            f"{sys.executable} has no {error.name}.", "Run this with the interpreter of the server's environment."
        ) from None
    from . import formats

    cuda = torch.cuda.is_available()
    if arguments.device == "cuda" and not cuda:
        raise SparkforgeError("torch has no GPU here.", "Use --device cpu.")
    form = formats.FORMATS[source.format if arguments.format == "auto" else arguments.format]
    form = form.stored() if source.stored and form.name == source.format else form
    device = "cuda" if arguments.device != "cpu" and cuda else "cpu"
    return reference.Reference(source, form, device), source


def rows(checks: t.Iterable[tuple[str, bool, t.Callable[[], t.Any]]], ask: t.Callable[[], t.Any]) -> t.Iterator[Result]:
    """Run the checks and yield their rows; skip the remaining checks once the server no longer answers.

    :param ask: a function that sends a plain request, to test the server after a check that got no answer.
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
        result = function()
        row.measured, row.bound, row.ratio = result.measured, result.bound, result.ratio
        if result.warning:
            row.status, row.cause, row.remedy = WARN, result.warning.cause, result.warning.remedy
    except Skipped as reason:
        row.status, row.cause = SKIP, str(reason)
    except Failed as failure:
        row.status, row.cause, row.remedy, row.reason = FAIL, failure.cause, failure.remedy, failure.reason
        row.measured, row.bound, row.ratio = failure.measured, failure.bound, failure.ratio
    except SparkforgeError as error:
        # Continue with the other checks, which find out more about an unreliable server.
        row.status, row.cause, row.remedy = FAIL, error.cause, error.remedy
        row.reason = WRONG if isinstance(error, NotNumbers) else CRASH
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        # The answer has an unexpected form.
        row.status, row.reason = FAIL, CRASH
        row.cause = f"{name} cannot read the server's answers ({type(error).__name__}: {error})."
        row.remedy = "Report this error with the engine's name and version."
    row.seconds = round(time.monotonic() - began, 2)
    return row


def _report(
    arguments: argparse.Namespace, results: t.Sequence[Result], seconds: float, form: str, served: str
) -> dict[str, t.Any]:
    failed = [row for row in results if row.status == FAIL]
    compared = any(row.name in COMPARED and row.status == PASS for row in results)
    return {
        "kind": "endpoint", "verdict": "fail" if failed else "proven" if compared else "unproven", "url": arguments.url,
        "served": served, "model": os.path.abspath(arguments.model) if arguments.model else "",
        "against": arguments.against, "format": form, "seed": arguments.seed, "host": socket.gethostname(),
        "written": phrases.now(), "seconds": round(seconds, 1),
        "summary": {status: sum(row.status == status for row in results) for status in (PASS, WARN, FAIL, SKIP)},
        "checks": [row.as_row() for row in results],
    }  # fmt: skip
