"""Send the controller's wheels that the host lacks, and print the progress of the host's own downloads.

The module does the work itself.
"""

from __future__ import annotations

import datetime
import hashlib
import pathlib
import typing as t

from ansible.errors import AnsibleError
from ansible.utils.display import Display

from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils.action import OnHost, merge_mapping

display = Display()


class ActionModule(OnHost):
    """Calls the module, and calls it again if wheels had to be sent or a download takes longer than one call."""

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        local: dict[str, str] = {}
        try:
            arguments = merge_mapping(self._task.args, "wanted")
            arguments.pop("transferred", None)
            is_installing = arguments.get("state", "present") == "present"
            if is_installing and arguments.get("wheels"):
                arguments["wheels"], local = self._resolved(arguments["wheels"])
        except SparkforgeError as error:
            return {**result, "failed": True, **error.as_result()}
        result = self._execute_module(module_args=arguments, task_vars=task_vars)
        missing = result.get("missing_wheels") or []
        if missing and not self._task.check_mode and not result.get("failed"):
            arguments["transferred"] = self._send(local, [wheel["sha256"] for wheel in missing])
            result = self._execute_module(module_args=arguments, task_vars=task_vars)
        label = f"{(task_vars or {}).get('inventory_hostname', '')} | {arguments.get('name', '')}"
        while result.pop("unfinished", False) and not result.get("failed"):
            self._print_progress(label, result["download"])
            result = self._execute_module(module_args=arguments, task_vars=task_vars)
        self._print_progress(label, result.get("download") or {})
        return result

    def _print_progress(self, label: str, download: dict[str, t.Any]) -> None:
        """Print each wheel that arrived, and name the next ones, because there may be no output for a while."""
        finished, waiting = download.get("finished") or [], download.get("next") or []
        for wheel in finished:
            display.display(f"{label} | {wheel['file']}, {wheel['size'] / 1e6:.1f} MB")
        if not waiting:
            return
        so_far = f"{download['files']} of {download['of_files']} wheels, {download['bytes'] / 1e6:.1f} MB"
        if download["of_bytes"]:
            rate = sum(wheel["size"] for wheel in finished) / max(download["seconds"], 0.1)
            remaining = datetime.timedelta(seconds=round((download["of_bytes"] - download["bytes"]) / max(rate, 1)))
            so_far += f" of {download['of_bytes'] / 1e6:.1f} MB, {rate / 1e6:.1f} MB/s, about {remaining} left"
        display.display(f"{label} | {so_far} | next: {', '.join(waiting)}")

    def _resolved(self, wheels: t.Any) -> tuple[list[dict[str, str]], dict[str, str]]:
        """Return the wheels with their sha256, and the path of each on the controller."""
        if not isinstance(wheels, list):
            raise SparkforgeError("The option wheels is not a list.", "Set it to a list of paths.")
        resolved, local = [], {}
        for item in wheels:
            path = item.get("path") or item.get("file") if isinstance(item, dict) else item
            if not isinstance(path, str) or (isinstance(item, dict) and set(item) - {"path", "file", "sha256"}):
                raise SparkforgeError(
                    f"The wheel {item!r} has no path.", "Give a path, or a mapping of path and sha256."
                )
            if isinstance(item, dict) and item.get("sha256") and self._is_cached(path, str(item["sha256"])):
                resolved.append({"file": pathlib.Path(path).name, "sha256": str(item["sha256"])})
                local[str(item["sha256"])] = path
                continue
            try:
                wheel = pathlib.Path(self._find_needle("files", path))
                with wheel.open("rb") as stream:
                    actual = hashlib.file_digest(stream, "sha256").hexdigest()
            except (AnsibleError, OSError):
                raise SparkforgeError(
                    f"The wheel {path} is not on the controller.", "Give the path of an existing file."
                ) from None
            pin = str(item.get("sha256") or actual).lower() if isinstance(item, dict) else actual
            if pin != actual:
                raise SparkforgeError(
                    f"The sha256 of {path} is {actual}, expected {pin}.",
                    "Use the wheel that the lock names, or renew the lock.",
                )
            resolved.append({"file": wheel.name, "sha256": actual})
            local[actual] = str(wheel)
        return resolved, local

    def _is_cached(self, path: str, sha256: str) -> bool:
        """Tell whether a wheel is in the controller's cache, where M(wheelhouse_manifest) has verified it.

        Reading a gigabyte for each host would cost the controller more than everything else; the host verifies its
        copy. In check mode the wheel need not exist.
        """
        cached = pathlib.Path(path)
        return cached.parent.name == sha256 and (self._task.check_mode or cached.is_file())

    def _send(self, local: dict[str, str], missing: list[str]) -> dict[str, str]:
        """Send the missing wheels, readable for the become user; return their paths by sha256."""
        directory = self._connection._shell.tmpdir or self._make_tmp_path()
        remote_paths = {sha256: self._connection._shell.join_path(directory, f"{sha256}.whl") for sha256 in missing}
        for sha256, path in remote_paths.items():
            self._transfer_file(local[sha256], path)
        self._fixup_perms2([directory, *remote_paths.values()])
        return remote_paths
