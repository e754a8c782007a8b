# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gets a model with the hub's own client: ``python hub_client.py DIRECTORY``.

Stands alone: its text is given to the interpreter of the environment that has huggingface_hub, as an account without
rights. ``DIRECTORY`` has ``request.json``, which is removed once it is read, since it has the token, and gets
``state.json``. A lock there tells that this process lives.

huggingface_hub before 1.18 goes on with a file that another process began, later ones begin anew
(huggingface_hub#4306), and so does hf_xet, which is therefore off.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pathlib
import shutil
import sys
import threading
import time
import typing as t

#: Files that an engine does not load: the weights of other frameworks, and a second copy of them.
OTHERS = ("original/*", "*.h5", "*.msgpack", "*.onnx", "*.onnx_data", "*.tflite", "*.ot", "openvino/*", "coreml/*")
#: How often in a row a connection may break off without a byte of news: half a minute.
PATIENCE = 4
#: Seconds between two states.
_GLANCE = 1.0


class Refusal(Exception):
    """One sentence of cause, one of remedy."""


class Get:
    """One model: what the hub says of it, its files, their hashes."""

    def __init__(self, directory: pathlib.Path, request: dict[str, t.Any]) -> None:
        self.directory, self.request = directory, request
        self.name: str = request["name"]
        self.cache: str = request["cache"]
        self.state: dict[str, t.Any] = {"format": 1, "status": "running", "done": 0, "total": 0, "rate": 0}
        self.state.update({key: request[key] for key in ("id", "asked")})

    def run(self) -> None:
        """Do it all, and leave how it ended in ``state.json``."""
        try:
            self._get()
            self.state["status"] = "done"
        except Refusal as refusal:
            cause, remedy = refusal.args
            self.state.update({"status": "failed", "cause": cause, "remedy": remedy})
        self._write()

    def _get(self) -> None:
        import huggingface_hub
        from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

        token = self.request["token"] or False
        api = huggingface_hub.HfApi(token=token, library_name="sparkforge")
        ignored = [*OTHERS, *(() if self.request["allow_pickle"] else self.request["pickles"])]
        with _explained(self.name, self.request["endpoint"], bool(token)):
            info = api.model_info(self.name, revision=self.request["asked"] or "main", files_metadata=True)
            found = {file.rfilename: int(file.size or 0) for file in info.siblings or []}
            wanted = {name: found[name] for name in filter_repo_objects(found, ignore_patterns=ignored)}
            self._check(found, wanted)
            card: t.Any = info.card_data or {}
            self.state.update({
                "revision": info.sha, "license": str(card.get("license_name") or card.get("license") or ""),
                "license_link": str(card.get("license_link") or ""), "gated": bool(info.gated),
                "total": sum(wanted.values()), "files": len(wanted),
            })  # fmt: skip
            self._check_room()
            over = threading.Event()
            watch = threading.Thread(target=self._watch, args=(over,), daemon=True)
            watch.start()
            try:
                place = self._download(api, str(info.sha), ignored)
            finally:
                over.set()
                watch.join()
            self.state["status"] = "verifying"
            self._write()
            verified = api.verify_repo_checksums(self.name, revision=info.sha, cache_dir=self.cache)
        for mismatch in verified.mismatches:
            link = pathlib.Path(place, mismatch["path"])
            link.resolve().unlink(missing_ok=True)
            link.unlink(missing_ok=True)
        if verified.mismatches:
            one = verified.mismatches[0]
            raise Refusal(
                f"{one['path']} of {self.name} has the {one['algorithm']} {one['actual']}, "
                f"but the hub says {one['expected']}.",
                "Run it again: what is right is kept, and this file is fetched anew.",
            )
        self.state.update({"directory": place, "verified": verified.checked_count})

    def _download(self, api: t.Any, revision: str, ignored: t.Sequence[str]) -> str:
        """Return the directory with all files; a connection that breaks off is made again, as long as that helps."""
        vain = 0
        while True:
            before = self._size()
            try:
                place: str = api.snapshot_download(
                    self.name, revision=revision, cache_dir=self.cache, ignore_patterns=list(ignored)
                )
                return place
            except Exception as error:
                vain = 0 if self._size() > before else vain + 1
                if vain > PATIENCE or not _is_transient(error):
                    raise
                time.sleep(2**vain)

    def _check(self, found: t.Mapping[str, int], wanted: t.Mapping[str, int]) -> None:
        safe = [name for name in wanted if name.endswith(tuple(self.request["safe"]))]
        if not safe and len(wanted) < len(found) and not self.request["allow_pickle"]:
            raise Refusal(
                f"{self.name} has no weights as safetensors, only files that run code when they are loaded.",
                "Take a model with safetensors, or set serving_allow_pickle if you trust who made this one.",
            )
        if not found:
            raise Refusal(f"{self.name} has no files.", "Check its page on the hub, or give another revision.")

    def _check_room(self) -> None:
        free = shutil.disk_usage(self.cache).free
        missing = self.state["total"] - self._size()
        if missing > free:
            raise Refusal(
                f"{self.name} needs {missing / 1e9:.1f} GB more, and {self.cache} has {free / 1e9:.1f} GB.",
                "Free some space, or set serving_models to a directory on a larger disk.",
            )

    def _size(self) -> int:
        blobs = pathlib.Path(self.cache, "models--" + self.name.replace("/", "--"), "blobs")
        return sum(entry.stat().st_size for entry in os.scandir(blobs)) if blobs.is_dir() else 0

    def _watch(self, over: threading.Event) -> None:
        began, first = time.monotonic(), self._size()
        while not over.wait(_GLANCE):
            try:
                done = self._size()
            except FileNotFoundError:  # a file was renamed meanwhile
                continue
            self.state.update({"done": done, "rate": (done - first) / (time.monotonic() - began)})
            self._write()

    def _write(self) -> None:
        partial = self.directory / "state.json.partial"
        partial.write_text(json.dumps(self.state), encoding="utf-8")
        partial.replace(self.directory / "state.json")


def _is_transient(error: Exception) -> bool:
    """Tell whether the network or the hub may do better the next time."""
    import httpx
    from huggingface_hub import errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return bool(status == 429 or status >= 500)
    # The client names a file that ended early by an OSError without a number.
    early = isinstance(error, OSError) and error.errno is None
    return early or isinstance(error, (httpx.TransportError, errors.LocalEntryNotFoundError))


class _explained:
    """Says what the client's exceptions mean. None of their texts is shown: they may have the token or a signed URL."""

    def __init__(self, name: str, hub: str, has_token: bool) -> None:
        self.name, self.hub, self.has_token = name, hub, has_token

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: t.Any, error: BaseException | None, _trace: t.Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, Refusal):
            raise Refusal(*self._reason(error)) from None

    def _reason(self, error: Exception) -> tuple[str, str]:
        from huggingface_hub import errors

        given = "the token that was given is not of an account that did" if self.has_token else "no token was given"
        token = f"make a token that may read it ({self.hub}/settings/tokens), and give it with --token-file"
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(error, errors.GatedRepoError):
            cause = f"{self.name} is for those who accepted its licence on the hub, and {given}."
            return cause, f"Accept it at {self.hub}/{self.name}, {token} (serving_model_token_file)."
        if isinstance(error, errors.RevisionNotFoundError):
            return f"{self.name} has no such revision.", "Give a branch, a tag or a commit of its page on the hub."
        if isinstance(error, errors.RepositoryNotFoundError):
            cause = f"The hub has no model {self.name}, or shows it to its members alone."
            return cause, f"Check the name at {self.hub}/{self.name}; for a private model {token}."
        if status == 401:
            return "The hub does not accept the token.", f"It may be mistyped or expired: {token}."
        if status is not None:
            return f"The hub answered {self.name} with status {status}.", "Run it again later; what is here is kept."
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return "The disk became full.", "Free some space and run it again; what is here is kept."
        if isinstance(error, OSError) and error.errno is not None:
            return f"The model's files cannot be written: {os.strerror(error.errno)}.", "Mend that, and run it again."
        remedy = "Check the network, sparkforge_proxies and sparkforge_ca_certificate, and run it again: it goes on."
        return f"The connection to {self.hub} failed or broke off ({type(error).__name__}).", remedy


def main(place: str) -> None:
    directory = pathlib.Path(place)
    with open(directory / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = directory / "request.json"
        request = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
        os.environ.update(request["environment"])
        os.umask(0o022)
        Get(directory, request).run()


if __name__ == "__main__":
    main(sys.argv[1])
