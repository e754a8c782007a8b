"""The receipt of a build, which shows whether it was modified since, and the list of a host's builds.

This is separate from the code that builds, because listing builds does not need the engine.
"""

from __future__ import annotations

import glob
import os
import re
import typing as t

from .._core import digests
from . import state_file

#: Valid names in an artefact's directory: wheels, or the prefix of an installation.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*")


class Receipt(t.TypedDict, total=False):
    """The record of a build: inputs, outputs, seconds and host; ``seal`` is the digest of all other fields.

    ``outputs`` are wheels (``_wheel.wheel`` reads their rows) or one tree: its ``path`` relative to the receipt,
    ``sha256``, ``files`` and ``size``. ``inputs`` are those of the fingerprint; ``applied`` lists the patches; times
    are ISO 8601 in UTC.
    """

    format: int
    name: str
    fingerprint: str
    platform: str
    inputs: dict[str, t.Any]
    tools: dict[str, str]
    source: t.Any
    url: str
    version: str | None
    applied: list[t.Any]
    outputs: list[dict[str, t.Any]]
    override: t.Any
    started: str
    finished: str
    seconds: dict[str, float]
    elapsed: float
    attempts: int
    jobs: t.Any
    ccache: t.Any
    notes: list[str]
    host: str
    log: str
    seal: str


def seal(receipt: Receipt) -> Receipt:
    """Return the receipt with a digest of its own content, which reveals later changes."""
    return {**receipt, "seal": digests.seal(receipt)}


def read(path: str) -> Receipt | None:
    """Return the receipt at ``path``, or None if it is missing or was changed after it was written."""
    receipt = t.cast("Receipt | None", state_file.read(path))
    is_intact = receipt is not None and digests.seal(receipt) == receipt.get("seal")
    return receipt if receipt is not None and is_intact and _is_shaped(receipt) else None


def receipts_of(root: str, name: str | None = None) -> tuple[list[Receipt], list[str]]:
    """Return the intact receipts of one unit or all units, newest first, and the paths of modified receipts."""
    receipts, changed = [], []
    form = re.compile((re.escape(name) if name else "[a-z][a-z0-9_]*") + r"-[0-9a-f]{16}\.json")
    for file in sorted(glob.glob(os.path.join(glob.escape(root), "receipts", "units", "*.json"))):
        if form.fullmatch(os.path.basename(file)):
            receipt = read(file)
            if receipt is None:
                changed.append(file)
            else:
                receipts.append(receipt)
    return sorted(receipts, key=lambda receipt: (str(receipt["finished"]), receipt["name"]), reverse=True), changed


def observe_all(root: str, name: str | None = None) -> dict[str, t.Any]:
    """Return the receipts, the running builds and the unfinished builds."""
    receipts, changed = receipts_of(root, name)
    finished_builds = {(receipt["name"], receipt["fingerprint"]) for receipt in receipts}
    running, unfinished = [], []
    pattern = os.path.join(glob.escape(root), "builds", glob.escape(name) if name else "*", "*")
    for directory in sorted(glob.glob(pattern)):
        unit, fingerprint = directory.split(os.sep)[-2:]
        state = state_file.state(directory)
        if not state:
            continue
        build = {"name": unit, "fingerprint": fingerprint, "state": state}
        if state_file.is_running(directory):
            running.append(build)
        elif (unit, fingerprint) not in finished_builds:
            unfinished.append({**build, "error": state.get("error")})
    return {"receipts": receipts, "running": running, "unfinished": unfinished, "changed_receipts": changed}


def _is_shaped(receipt: t.Mapping[str, t.Any]) -> bool:
    """Tell whether the receipt has the fields that its readers rely on: the build account may have written anything."""
    texts = [receipt.get(key) for key in ("name", "fingerprint", "platform", "finished")]
    inputs, outputs = receipt.get("inputs"), receipt.get("outputs")
    if not all(isinstance(text, str) for text in texts) or not isinstance(inputs, dict):
        return False
    depends = inputs.get("depends") or {}
    if not isinstance(depends, dict) or not isinstance(outputs, list):
        return False
    if not all(isinstance(fingerprint, str) for fingerprint in depends.values()):
        return False
    return all(isinstance(item, dict) and _is_output(item) for item in outputs)


def _is_output(item: t.Mapping[str, t.Any]) -> bool:
    # An output with a version is a wheel.
    texts = [item.get(key) for key in ("path", *(("name", "version", "sha256") if "version" in item else ()))]
    is_sized = "version" not in item or isinstance(item.get("size"), int)
    return is_sized and all(isinstance(text, str) for text in texts) and bool(_NAME.fullmatch(item["path"]))
