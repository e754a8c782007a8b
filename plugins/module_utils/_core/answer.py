"""The program's side of a call; ``_core.program`` is the module's side and documents the format."""

from __future__ import annotations

import json
import sys
import typing as t

from .errors import SparkforgeError


def answer(work: t.Callable[[t.Mapping[str, t.Any], bool], dict[str, t.Any]]) -> int:
    """Answer one call; return 0 even for a refusal, which is part of the answer."""
    request = json.load(sys.stdin)
    answered: dict[str, t.Any]
    try:
        answered = {"result": work(request["options"], bool(request.get("check_mode")))}
    except SparkforgeError as error:
        answered = {"error": {"cause": error.cause, "remedy": error.remedy, **error.details}}
    sys.stdout.write(json.dumps(answered) + "\n")
    return 0
