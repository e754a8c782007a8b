"""Find the manifest of a build and bring its wheels to the controller.

The documentation is in plugins/modules/wheelhouse_manifest.py.
"""

from __future__ import annotations

import base64
import contextlib
import json
import posixpath
import resource
import signal
import typing as t

from ansible.errors import AnsibleError

from ...tools.network import network
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._wheel.wheel import Manifest, of_units
from ..plugin_utils.action import OnController
from ..plugin_utils.wheelhouse.cache import Cache
from ..plugin_utils.wheelhouse.find import Found, Served, find_manifest
from ..plugin_utils.wheelhouse.query import Query

#: The space in bytes that ssh itself needs for its log and known_hosts.
_LEAST = 16 << 20


class ActionModule(OnController):
    """Works on the controller; it queries the host only for files that are nowhere else."""

    _requires_connection = True

    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {"password": {"type": "str", "default": "", "no_log": True}}

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the manifest, its origin, and the paths of its wheels on the controller."""
        with network(arguments["proxies"], str(arguments["ca_certificate"])):
            return self._find(arguments, task_vars)

    def _find(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        # The options are strings of Ansible's own types; convert them for files and the result.
        text = {key: str(value) for key, value in arguments.items() if isinstance(value, str)}
        signers = [str(signer) for signer in arguments["signers"]]
        query = Query(text["stack"], text["lock_id"], text["platform"], text["python"], signers)
        cache = Cache(text["cache"], query.platform)
        served = Served(text["url"], text["username"], text["password"]) if text["url"] else None
        builder = str(self._task.delegate_to or task_vars.get("inventory_hostname", ""))
        if arguments["manifest"]:
            label = "The manifest of this run"
            # Convert it through JSON, because Ansible's tags on its values are not part of the content.
            content = json.loads(json.dumps(arguments["manifest"], default=str))
            search = Found(query.check(content, label), "given", [])
        else:

            def ask(name: str) -> bytes | None:
                path = posixpath.join(text["root"], "wheelhouse", query.platform, "manifests", name)
                return self._slurp(path, builder, task_vars)

            directories = [str(directory) for directory in arguments["places"]]
            search = find_manifest(query, directories, cache, served, ask, builder, arguments["allow_older"])
        manifest = search.manifest
        if manifest is None:
            if arguments["required"]:
                raise not_found(query, search)
            return {"changed": False, **search._asdict(), "wheels": [], "saved": False}
        saved = wheels = False
        if not self._task.check_mode:
            saved = cache.save(query, manifest)
            if arguments["wheels"]:
                wheels = self._bring(query, manifest, cache, text["root"], builder)
        wheel_rows = [
            {"path": cache.wheel(wheel), "sha256": wheel.sha256}
            for wheel in (of_units(manifest["units"]) if arguments["wheels"] else [])
        ]
        # ``changed`` is false because only the controller's cache changes, regardless of the host that runs the task.
        return {"changed": False, **search._asdict(), "wheels": wheel_rows, "saved": saved or wheels}

    def _bring(self, query: Query, manifest: Manifest, cache: Cache, root: str, builder: str) -> bool:
        """Fetch the wheels that the cache lacks from the builder; tell whether there were any."""
        missing = cache.missing(manifest)
        for wheel in missing:
            with cache.bringing(wheel) as target:
                if target is None:
                    continue
                path = posixpath.join(root, "wheelhouse", query.platform, *wheel.relative.split("/"))
                with _no_file_larger(wheel.size):
                    reason = self._fetch(path, target, builder)
                if reason:
                    raise SparkforgeError(
                        f"The wheel {wheel.file} is not available: {reason}.",
                        f"Make {manifest['host']} reachable, or run playbooks/build.yml with it. If the wheels are "
                        f"lost, remove {cache.path_of(query)} and run playbooks/build.yml.",
                    )
        return bool(missing)

    def _fetch(self, path: str, target: str, builder: str) -> str:
        """Fetch a file from the builder; return the reason for a failure, or ''.

        Do not use ssh's third method, a pipe, unless the user chose it, because it keeps the complete file in memory.
        """
        try:
            smart = self._connection.get_option("ssh_transfer_method") == "smart"
        except (AttributeError, KeyError, AnsibleError):
            smart = False
        reason = ""
        for method in ("sftp", "scp") if smart else ("",):
            try:
                if method:
                    self._connection.set_option("ssh_transfer_method", method)
                self._connection.fetch_file(path, target)
                return ""
            except (AnsibleError, OSError) as error:
                reason = reason or f"{builder} did not return {path}: {_one_line(error)}"
            finally:
                if method:
                    self._connection.set_option("ssh_transfer_method", "smart")
        return reason

    def _slurp(self, path: str, builder: str, task_vars: dict[str, t.Any]) -> bytes | None:
        """Return a file from the builder, or None if it does not exist."""
        try:
            answer = self._execute_module("ansible.builtin.slurp", {"src": path}, task_vars=task_vars)
        except AnsibleError as error:
            raise OSError(f"{builder} cannot be queried: {_one_line(error)}") from error
        if answer.get("failed"):
            message = str(answer.get("msg", ""))
            if "not found" in message:
                return None
            raise OSError(
                f"{builder} cannot be queried: {message.strip().splitlines()[-1] if message else 'it failed'}"
            )
        try:
            return base64.b64decode(answer["content"])
        except (KeyError, TypeError, ValueError) as error:
            raise OSError(f"{builder} returned no file in answer to {path}") from error


def not_found(query: Query, search: Found) -> SparkforgeError:
    """Return the error for a manifest that was not found anywhere."""
    attempts = "; ".join(f"{attempt['place']}: {attempt['said'].rstrip('.')}" for attempt in search.tried)
    return SparkforgeError(
        f"No build of {query.stack} (lock {query.lock_id}) for {query.platform} was found. Looked in {attempts}.",
        "Run playbooks/build.yml with the builder or a host of this platform, or set stack_method to wheel.",
        tried=search.tried,
    )


@contextlib.contextmanager
def _no_file_larger(size: int) -> t.Iterator[None]:
    """Limit files written by this process, which is the task's own, and by ssh to the maximum size of a wheel.

    On the builder, the wheel may be a link to an endless device.
    """
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(size, _LEAST)
    if hard_limit != resource.RLIM_INFINITY:
        largest = min(largest, hard_limit)
    # The signal must not kill this process, which may hold the connection.
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft_limit, hard_limit))
        signal.signal(signal.SIGXFSZ, before)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")[:300]
