"""Publish a build: move the artefact and its receipt to their final name, and remove old trees."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import typing as t

from .._core import digests, directories, disk, phrases
from .._core.errors import SparkforgeError
from .._wheel import artefact, wheel_file
from . import model, receipt as sealing, state_file
from .attempt import Attempt
from .phases import package

#: Space in bytes for the receipt and the state, in addition to the artefact.
_RECEIPT_SPACE = 1 << 20


def publish(attempt: Attempt) -> None:
    """Move the artefact and its receipt to their final name. Root reads the receipt from there."""
    partial = os.path.join(os.path.dirname(attempt.paths.artefact), f".{attempt.paths.fingerprint}.partial")
    disk.remove(partial)
    try:
        _publish_by(attempt, partial)
    except (OSError, SparkforgeError):
        with contextlib.suppress(OSError):
            disk.remove(partial)
        raise


def _publish_by(attempt: Attempt, partial: str) -> None:
    paths, target = attempt.paths, attempt.paths.artefact
    disk.make_directories(partial)
    outputs: list[dict[str, t.Any]] = []
    if attempt.unit.kind == "cmake":
        if not os.path.isdir(attempt.staged):
            # An interrupted attempt had already moved it.
            package.package(attempt)
        os.rename(attempt.staged, os.path.join(partial, "prefix"))
        tree = artefact.tree_digest(os.path.join(partial, "prefix"))
        outputs.append({"path": "prefix", "sha256": tree["sha256"], "files": tree["files"], "size": tree["size"]})
    else:
        wheels = wheel_file.collect_wheels(paths.inside("out"))
        remedy = "Free space, or set sparkforge_root to a larger file system, and run again to repeat this step only."
        size = sum(wheel.size for wheel in wheels)
        directories.check_space(paths.builds, size, f"The packaging of {paths.name}", remedy, _RECEIPT_SPACE)
        for wheel in wheels:
            copied = shutil.copyfile(wheel.path, os.path.join(partial, wheel.file))
            published = dataclasses.replace(wheel, sha256=digests.of_file(copied))
            outputs.append(published.as_output())
        sums = "".join(f"{item['sha256']}  {item['path']}\n" for item in outputs)
        disk.write_file(os.path.join(partial, "SHA256SUMS"), sums.encode("ascii"))
    receipt = _make_receipt(attempt, outputs)
    disk.write_file(os.path.join(partial, "receipt.json"), digests.text_of(receipt).encode("ascii"))
    disk.fsync_tree(partial)
    disk.remove(target)
    os.rename(partial, target)
    disk.fsync(os.path.dirname(target))
    _prune(attempt)
    attempt.say(f"== {paths.name} {paths.fingerprint}: published in {target}")
    # If the artefact is lost, a build with the same inputs can reuse the rest of the tree.
    known = attempt.state.data["phases"] if os.path.isdir(paths.inside("source")) else {}
    phases = {name: value for name, value in known.items() if name not in ("package", "check")}
    attempt.state.update(
        status="succeeded", phase="published", elapsed=attempt.elapsed(), finished=phrases.now(), phases=phases
    )


def _make_receipt(attempt: Attempt, outputs: list[dict[str, t.Any]]) -> sealing.Receipt:
    data, paths, request = attempt.state.data, attempt.paths, attempt.request
    return sealing.seal(
        {
            "format": state_file.FORMAT,
            "name": paths.name,
            "fingerprint": paths.fingerprint,
            "platform": paths.platform,
            "inputs": request["inputs"],
            "tools": {**request["versions"], **(data.get("tools") or {})},
            "source": data.get("source"),
            "url": request["shown_source"],
            "version": attempt.unit.source.get("version"),
            "applied": data.get("applied") or [],
            "outputs": outputs,
            "override": request.get("override"),
            "started": data["started"],
            "finished": phrases.now(),
            "seconds": {name: value["seconds"] for name, value in data["phases"].items()},
            "elapsed": attempt.elapsed(),
            "attempts": data["attempts"],
            "jobs": data.get("jobs"),
            "ccache": data.get("ccache"),
            "notes": data["notes"],
            "host": data["host"],
            "log": paths.log,
        }
    )


def _prune(attempt: Attempt) -> None:
    """Remove this unit's build trees except the newest ``keep``, because PyTorch's takes tens of GB."""
    paths, keep = attempt.paths, attempt.unit.keep
    with os.scandir(os.path.dirname(paths.build_directory)) as entries:
        others = [entry for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name != paths.fingerprint]
    others.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
    for number, entry in enumerate(others, 1):
        if number >= keep and not state_file.is_running(entry.path):
            disk.remove(entry.path)
    if keep == 0:
        # Keep the state, which records that the build is done.
        for name in model.TREES:
            disk.remove(paths.inside(name))
