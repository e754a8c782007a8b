"""The playbook variables for `sparkforge serve` and `sparkforge model`: a stack, a model, and files with secrets."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparkforge import Exit, Refusal, collection, release

#: Addresses that are reachable only from the Spark itself.
LOCAL = ("127.0.0.1", "::1", "localhost")


@contextmanager
def variables(arguments: argparse.Namespace) -> Iterator[dict[str, str | int]]:
    """Yield the playbook's variables. A typed token is in a private file until the variables have been used.

    :raises Refusal: if a secret's file is missing, a model is neither a name nor a path, or a server has no key.
    """
    from sparkforge import questions

    values = {"serving_model": _model(arguments.model), "serving_model_revision": arguments.revision or ""}
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as private:
        token = arguments.token_file
        if arguments.ask_token and not arguments.dry_run:
            token = Path(private) / "token"
            token.touch(0o600)
            token.write_text(questions.ask_password("Token of the hub", ""))
        values["serving_model_token_file"] = _secret(token)
        if arguments.command == "serve":
            if arguments.key_file is None and (arguments.listen or LOCAL[0]) not in LOCAL:
                cause = f"Without a key, everyone who reaches {arguments.listen} of the Spark could use the model."
                raise Refusal(Exit.USAGE, cause, "Add --key-file FILE, or listen on 127.0.0.1.")
            stacks = [path.stem for path in (collection() / "roles/stack/vars").glob("vllm-*.yml")]
            values |= {"stack_name": arguments.stack or max(stacks, key=release), "serving_port": arguments.port}
            values |= {"serving_host": arguments.listen or "", "serving_api_key_file": _secret(arguments.key_file)}
        elif arguments.action == "remove":
            if not (arguments.limit or {"-l", "--limit"} & {*arguments.further}):
                raise Refusal(Exit.USAGE, "model remove needs -l.", "Name the Sparks with -l, or write -l all.")
            values["serving_model_state"] = "absent"
        yield {name: value for name, value in values.items() if value != ""}


def _model(text: str) -> str:
    if text.startswith("."):
        return str(Path(text).absolute())
    # A quoted ~ does not tell whether it is the home directory here or on the Spark.
    if text.startswith("~") or (not text.startswith("/") and text.count("/") != 1):
        remedy = "Write it as ORGANISATION/NAME, or give an absolute path on the Spark."
        raise Refusal(Exit.USAGE, f"{text!r} is neither the name of a model nor a path.", remedy)
    return text


def _secret(path: Path | None) -> str:
    if path is not None and not path.is_file():
        raise Refusal(Exit.USAGE, f"There is no file {path}.", "Name a file that contains only the secret.")
    return str(path.absolute()) if path else ""
