# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A model of the hub on a host: got by a process that outlives the connection, recorded when its hashes are right.

Files::

    <directory>/models--ORGANISATION--NAME/    as the hub's client keeps it, the account's
    <root>/receipts/model-ORGANISATION--NAME.json    what it is and where, root's, written last
    /run/sparkforge-models/ORGANISATION--NAME/    request and state of a process, not on the disk that may become full
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import secrets
import time
import typing as t

from .._core import accounts, build_account, detached, disk, receipts
from .._core.errors import SparkforgeError
from .._unit import state_file
from . import hub_client, weights

#: The receipt of the account, where this made it.
_ACCOUNT = "models-account"
RUNNING = "/run/sparkforge-models"
#: Where Debian and Ubuntu keep the system's CAs, a company's own among them.
_CAS = "/etc/ssl/certs/ca-certificates.crt"
_REVISION = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w./-]{0,199}", re.ASCII)
#: The variables of the task's environment that a process needs.
_NETWORK = re.compile(r"(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)", re.IGNORECASE)
#: Seconds that one call waits for the process.
LONG_POLL = 20.0


class Model:
    """One model, or with no name all of them.

    :param options: those of the module hub_model.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False) -> None:
        self.options, self.check_mode = options, check_mode
        self.root, self.directory = str(options["root"]), str(options["directory"])
        self.name: str = options.get("name") or ""
        if self.name and not weights.NAME.fullmatch(self.name):
            raise SparkforgeError(f"{self.name!r} is not the name of a model.", "Write it as ORGANISATION/NAME.")
        self.asked: str = options.get("revision") or ""
        if self.asked and not _REVISION.fullmatch(self.asked):
            raise SparkforgeError(f"{self.asked!r} is no revision.", "Give a branch, a tag or a commit.")
        self.account = build_account.BuildAccount(options.get("user") or None)
        alone = self.account.entry is not None and self.account.entry.pw_uid == os.geteuid()
        self.running = f"{self.directory}/.running" if alone else RUNNING
        self.work, self.marker, self.service = self._process(self.name.replace("/", "--"))

    def _process(self, name: str) -> tuple[str, str, str]:
        """Return directory, marker and unit of the process that gets a model, by the name of its directory."""
        work = os.path.join(self.running, name)
        return work, f"model {work}", f"sparkforge-model-{re.sub('[^A-Za-z0-9]', '-', name)}.service"

    # -- present

    def get(self) -> dict[str, t.Any]:
        """Return the model once it is there, or after a while how far it is.

        :raises SparkforgeError: it cannot be got, with what to do about it.
        """
        receipt = receipts.read(self.root, weights.receipt_of(self.name)) or {}
        whole = self._is_whole(receipt)
        if whole and self.asked in ("", receipt.get("revision")):
            return {"changed": False, "running": False, **_told(receipt)}
        diff = {"before": f"{receipt.get('revision', '')}\n", "after": f"{self.asked or 'main'}\n"}
        if self.check_mode:
            return {"changed": True, "running": False, "diff": diff}
        wanted = self.options.get("attach") or ""
        if not wanted and not state_file.is_running(self.work):
            wanted = self._start()
        state = self._wait()
        if state_file.is_running(self.work):
            return {"changed": True, "running": True, "id": state.get("id") or wanted, "progress": self._said(state)}
        if wanted and state.get("id") != wanted:
            state = {}
        if state.get("status") != "done":
            raise SparkforgeError(
                str(state.get("cause") or f"The process that gets {self.name} ended without a word."),
                str(state.get("remedy") or f"See {self.work}/log, and run it again: what is here is kept."),
            )
        changed = not whole or state["revision"] != receipt["revision"]
        return {"changed": changed, "running": False, "diff": diff if changed else {}, **_told(self._record(state))}

    def _is_whole(self, receipt: t.Mapping[str, t.Any]) -> bool:
        """Tell whether the files of a receipt are there with their sizes."""
        size = 0
        for place, _names, files in os.walk(str(receipt.get("directory"))):
            for name in files:
                try:
                    size += os.stat(os.path.join(place, name)).st_size
                except OSError:
                    return False
        return bool(size) and size == receipt.get("bytes")

    def _start(self) -> str:
        """Start the process; return its id."""
        token = str(self.options.get("token") or "").strip()
        hub = str(self.options["hub"]).rstrip("/")
        if not re.fullmatch(r"[!-~]*", token):
            raise SparkforgeError("The token holds more than one word.", "Give the token alone: hf_ and letters.")
        if not re.match(r"https://[^/]", hub) and (token or not re.match(r"http://[^/]", hub)):
            remedy = "Use https://, so that nobody on the way reads the token."
            if not (hub.startswith("http://") and re.match(r"http://(127\.|localhost[:/]|\[::1\])", hub)):
                raise SparkforgeError(f"{hub} is no hub to send a token to.", remedy)
        python = os.path.realpath(f"{self.root}/envs/hub/current/bin") + "/python"
        python = self.options.get("python") or python
        if not os.path.exists(python):
            cause = f"There is no environment with the hub's client: {python}."
            raise SparkforgeError(cause, "Run playbooks/model.yml, which makes it, or set the option python.")
        if self.account.create(self.directory):
            receipts.write(self.root, _ACCOUNT, {"name": self.account.name})
        self._check_directory()
        disk.make_directories(self.running)
        for place in (self.directory, self.work):
            self.account.own(place)
        identity = secrets.token_hex(8)
        request = {
            "id": identity, "name": self.name, "asked": self.asked, "cache": self.directory, "token": token,
            "endpoint": hub, "allow_pickle": bool(self.options["allow_pickle"]), "safe": weights.SAFE,
            "pickles": [f"*{suffix}" for suffix in weights.PICKLES], "environment": self._environment(hub),
        }  # fmt: skip
        text = _text_of_the_client()
        self.account.own_file(f"{self.work}/log")
        with self.account.acting():
            disk.write_file(f"{self.work}/request.json", json.dumps(request).encode("ascii"), 0o600)
            disk.write_file(f"{self.work}/hub_client.py", text, 0o644)
        try:
            detached.start(
                [python, "-I", f"{self.work}/hub_client.py", self.work], account=self.account, service=self.service,
                marker=self.marker, log=f"{self.work}/log", directory=self.work,
                writable=[self.directory, self.work],
            )  # fmt: skip
            # It has the lock once it has read its request, which on a busy host takes a while.
            detached.await_start(lambda: not os.path.exists(f"{self.work}/request.json"), self.marker, self.account)
        finally:
            # It has the token.
            disk.remove(f"{self.work}/request.json")
        return identity

    def _check_directory(self) -> None:
        """Refuse to take a directory that has something of somebody else's.

        :raises SparkforgeError: naming it.
        """
        owner = accounts.owner_of(self.directory)
        if disk.names(self.directory) and owner != self.account.name:
            cause = f"{self.directory} belongs to {owner} and is not empty."
            raise SparkforgeError(cause, f"Set serving_models to a directory for {self.account.name} alone.")

    def _environment(self, hub: str) -> dict[str, str]:
        network = {name: value for name, value in os.environ.items() if _NETWORK.fullmatch(name)}
        own = {"SSL_CERT_FILE": _CAS} if os.path.exists(_CAS) else {}
        switches = ("XET", "TELEMETRY", "PROGRESS_BARS", "IMPLICIT_TOKEN", "UPDATE_CHECK")
        return {
            **own, **network, **{f"HF_HUB_DISABLE_{name}": "1" for name in switches}, "HF_ENDPOINT": hub,
            "HF_HOME": f"{self.work}/home", "HF_HUB_DOWNLOAD_TIMEOUT": "30",
        }  # fmt: skip

    def _wait(self) -> dict[str, t.Any]:
        """Return the state at the end of the process or of a while."""
        deadline = time.monotonic() + LONG_POLL
        while state_file.is_running(self.work) and time.monotonic() < deadline:
            time.sleep(0.2)
        with self.account.acting():
            return state_file.state(self.work)

    def _said(self, state: t.Mapping[str, t.Any]) -> str:
        done, total, rate = (float(state.get(key) or 0) for key in ("done", "total", "rate"))
        if state.get("status") == "verifying":
            return f"{self.name} | {total / 1e9:.2f} GB, computing their hashes"
        if not total:
            return f"{self.name} | asking the hub"
        left = f", about {(total - done) / rate / 60:.0f} min left" if rate > 0 else ""
        return f"{self.name} | {done / 1e9:.2f} of {total / 1e9:.2f} GB ({100 * done / total:.0f} %){left}"

    def _record(self, state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        kept = ("revision", "license", "license_link", "gated", "files", "verified", "directory")
        receipt = {key: state[key] for key in kept}
        receipt |= {"name": self.name, "bytes": state["total"], "hub": str(self.options["hub"])}
        if not str(receipt["directory"]).startswith(f"{os.path.realpath(self.directory)}/"):
            raise SparkforgeError(f"{self.name} was got to another place than {self.directory}.", "Run it again.")
        receipts.write(self.root, weights.receipt_of(self.name), receipt)
        disk.remove(self.work)
        return receipt

    # -- absent

    def remove(self) -> dict[str, t.Any]:
        """Remove the model, or all of them with the account."""
        own = ("models--", ".locks", "CACHEDIR.TAG", ".running")
        places = [name for name in disk.names(self.directory) if name.startswith(own)]
        records = [*receipts.names(self.root, "model-"), *receipts.names(self.root, _ACCOUNT)]
        if self.name:
            places = [place for place in places if place == f"models--{self.name.replace('/', '--')}"]
            records = [name for name in records if name == weights.receipt_of(self.name)]
        paths = [os.path.join(self.directory, place) for place in places]
        found = [*paths, *records]
        result = {"changed": bool(found), "diff": {"before": "".join(f"{one}\n" for one in found), "after": ""}}
        self._check_unused(paths)
        if self.check_mode or not found:
            return result
        for name in [place.partition("--")[2] for place in places if place.startswith("models--")]:
            work, marker, service = self._process(name)
            if os.path.isdir(work):
                detached.stop(service, marker, self.account)
                disk.remove(work)
        for path in paths:
            disk.remove(path)
        for name in records:
            receipts.remove(self.root, name)
        with contextlib.suppress(OSError):
            os.rmdir(self.directory)
        if _ACCOUNT in records:
            self.account.remove(self.account.name)
        return result

    def _check_unused(self, places: t.Sequence[str]) -> None:
        """Refuse to take the weights from a server, whose unit names them.

        :raises SparkforgeError: naming the unit.
        """
        for unit in glob.glob("/etc/systemd/system/sparkforge-*.service"):
            with open(unit, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
            if any(f"{place}/" in text for place in places):
                cause = f"{self.name or 'A model'} is served by {os.path.basename(unit)}."
                raise SparkforgeError(cause, "Serve another model first, or remove the server (serving_state: absent).")


def _told(receipt: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return {
        key: receipt.get(key) for key in ("name", "revision", "license", "license_link", "gated", "directory", "bytes")
    }


def _text_of_the_client() -> bytes:
    """Return the text of ``hub_client``: what Ansible sent is gone when the call ends."""
    loader: t.Any = hub_client.__spec__.loader
    return str(loader.get_source(hub_client.__name__)).encode()
