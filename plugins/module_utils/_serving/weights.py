"""The weights of a model on a host: their location, whether a server may load them, and their owner.

The directory belongs to another account, so only names, modes and the revision are read, and links are never followed
out of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import typing as t

from .._core import disk, receipts
from .._core.errors import SparkforgeError

#: Limits on the entries in a model's directory and their depth; the hub's largest models have several hundred files.
MOST_ENTRIES, DEEPEST = 20_000, 8
#: Files for torch.load, which runs the code in a pickle (docs.pytorch.org, torch.load).
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
#: Formats that contain only numbers.
SAFE = (".safetensors", ".gguf")
#: The configuration of a model, in the format of transformers or Mistral.
CONFIGURATIONS = ("config.json", "params.json")
#: The name of a model on the hub, as in huggingface_hub's validate_repo_id.
NAME = re.compile(r"(?!.*(--|\.\.))[A-Za-z0-9][\w.-]{0,95}/[\w.-]{0,94}\w", re.ASCII)
_REVISION = re.compile(r"[0-9a-f]{40}")
#: Characters that must not occur within quotes in a unit file (systemd.exec(5), BindReadOnlyPaths=).
_UNQUOTED = re.compile(r'[\x00-\x1f\x7f"\\]')
_CACHED = re.compile(r"models--([\w.-]+?)--([\w.-]+)", re.ASCII)


def receipt_of(name: str) -> str:
    """Return the receipt's name for a model that the collection downloaded from the hub."""
    return f"model-{name.replace('/', '--')}"


def find(model: str, root: str, allow_pickle: bool = False) -> dict[str, t.Any] | None:
    """Return the location and properties of a model, or None if it is given by name and not on this host.

    ``directory`` is the path for the engine, ``bind`` is the directory with all its files, ``name`` is its display
    name, ``account`` has the ids of the only account that can read it, and ``bytes`` is its size.

    :param model: an absolute path, or ORGANISATION/NAME.
    :raises SparkforgeError: if it does not exist, or no server may load it.
    """
    receipt: dict[str, t.Any] = {"name": model}
    if model.startswith("/"):
        directory, receipt["name"] = _locate(model)
    else:
        receipt = receipts.read(root, receipt_of(model)) or receipt
        directory = str(receipt.get("directory"))
        if not os.path.isdir(directory):
            return None
    if _UNQUOTED.search(directory):
        remedy = "Move the model to a path without quotes, backslashes and control characters."
        raise SparkforgeError(f"{directory!r} has characters that a systemd unit cannot contain.", remedy)
    try:
        facts = _observe(directory, _bound_directory(directory), model, allow_pickle)
    except OSError as error:
        raise disk.io_error(f"The files of {model} cannot be read", error) from error
    return {**facts, **{key: str(receipt.get(key) or "") for key in ("name", "revision", "license")}}


def _locate(model: str) -> tuple[str, str]:
    """Return the directory for a path, and the model's name if it is in a Hugging Face cache."""
    directory = os.path.realpath(model)
    try:
        os.stat(f"{directory}/.")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SparkforgeError(
            f"There is no directory {model} on this host.",
            "Copy the weights there, or get a model from the hub: `sparkforge model get ORGANISATION/NAME`.",
        ) from error
    except OSError as error:
        raise disk.io_error(f"{model} cannot be read", error) from error
    cached = _CACHED.fullmatch(os.path.basename(_bound_directory(directory)))
    if os.path.basename(directory).startswith("models--"):
        directory = os.path.join(directory, "snapshots", _main_revision(directory))
    if not os.path.isdir(directory):
        raise SparkforgeError(f"{model} has no snapshot of its main branch.", "Give the path of one of its snapshots.")
    return directory, "/".join(cached.groups()) if cached else ""


def _bound_directory(directory: str) -> str:
    """Return the directory with all files: in a Hugging Face cache, a snapshot consists of links to blobs."""
    parts = directory.split("/")
    return "/".join(parts[:-2]) if parts[-2:-1] == ["snapshots"] and parts[-3].startswith("models--") else directory


def _main_revision(directory: str) -> str:
    """Return the revision of the main branch, or of the only snapshot."""
    revision = ""
    with contextlib.suppress(OSError), disk.open_regular(os.path.join(directory, "refs", "main")) as stream:
        revision = stream.read(64).decode("ascii", "replace").strip()
    snapshots = disk.names(os.path.join(directory, "snapshots"))
    return revision if _REVISION.fullmatch(revision) else snapshots[0] if len(snapshots) == 1 else "none"


def _observe(directory: str, bound: str, model: str, allow_pickle: bool) -> dict[str, t.Any]:
    closed: set[tuple[int, int]] = set()
    size = 0
    for path, entry in _entries(bound, model):
        if stat.S_ISLNK(entry.st_mode):
            # The unit can access nothing else.
            if not os.path.realpath(path).startswith(f"{bound}/"):
                remedy = "Give the directory that has the files themselves, or copy them there."
                raise SparkforgeError(f"{path!r} is a link that leads out of {bound}.", remedy)
            continue
        if not stat.S_ISREG(entry.st_mode) and not stat.S_ISDIR(entry.st_mode):
            raise SparkforgeError(f"{path!r} is neither a file nor a directory.", "Remove it from the model.")
        needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(entry.st_mode) else 0)
        if entry.st_mode & needed != needed:
            closed.add((entry.st_uid, entry.st_gid))
        size += entry.st_size if stat.S_ISREG(entry.st_mode) else 0
    _check_format(directory, model, allow_pickle)
    if len({uid for uid, _gid in closed}) > 1:
        raise SparkforgeError(
            f"The files of {model} belong to several accounts, each of which keeps its files private.",
            f"Give them to one account: chown -R USER {bound}.",
        )
    uid, gid = min(closed, default=(-1, -1))
    return {
        "directory": directory,
        "bind": bound,
        "bytes": size,
        "account": {"uid": uid, "gid": gid} if closed else None,
    }


def _entries(bound: str, model: str) -> t.Iterator[tuple[str, os.stat_result]]:
    """Yield each path in a model with its status, starting with the directory itself."""
    waiting, count = [(bound, 0)], 0
    yield bound, os.lstat(bound)
    while waiting:
        directory, depth = waiting.pop()
        with os.scandir(directory) as entries:
            for entry in entries:
                count += 1
                if count > MOST_ENTRIES or depth >= DEEPEST:
                    cause = f"{model} has more than {MOST_ENTRIES} files or {DEEPEST} levels of directories."
                    raise SparkforgeError(cause, "Set serving_model to the directory of one model.")
                entry_status = entry.stat(follow_symlinks=False)
                yield entry.path, entry_status
                if stat.S_ISDIR(entry_status.st_mode):
                    waiting.append((entry.path, depth + 1))


def _check_format(directory: str, model: str, allow_pickle: bool) -> None:
    """Refuse directories without a model, and weights that run code: engines load those if there are no others."""
    names = disk.names(directory)
    safe_names = [name for name in names if name.endswith(SAFE)]
    pickles = [name for name in names if name.endswith(PICKLES)]
    if not set(CONFIGURATIONS).intersection(names) and not safe_names:
        remedy = "Give the directory that has config.json and the weights."
        raise SparkforgeError(f"{model} is not a model: it has neither config.json nor weights.", remedy)
    if pickles and not safe_names and not allow_pickle:
        raise SparkforgeError(
            f"The weights of {model} are pickle files ({pickles[0]!r}), which run code when they are loaded.",
            "Get the model as safetensors, or set serving_allow_pickle if you trust their author.",
        )
