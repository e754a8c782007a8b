"""Run one of our programs on a host: it is pushed once, and its sha256 is checked before each use.

The module's action plugin knows the sha256 and sends the program if the host lacks it (plugin_utils/action.py). It
arrives in a directory of the connecting account, which can replace the file at any time. The file is therefore read
only once, and the bytes in memory are checked, run and stored; neither the pushed nor the stored file is opened by name
again. A call is one JSON object on stdin, ``{"options": {…}, "check_mode": false}``, and one on stdout: ``{"result":
{…}}``, or ``{"error": {"cause": …, "remedy": …, …}}`` if the program refuses.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import typing as t

from . import disk, modules, phrases
from .errors import SparkforgeError

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

#: The option of every module that calls a program; the action plugin fills it in.
ARGUMENT: dict[str, t.Any] = {
    "type": "dict",
    "options": {"sha256": {"type": "str", "required": True}, "path": {"type": "path"}},
}
#: The default root for the collection's files.
ROOT = "/opt/sparkforge"
#: The path of each program under the root. The guard's units use a fixed path, set by its own installer.
PLACES = {"proof": "proof/{}.pyz", "guard": "guard/guard.pyz"}
#: The directory of systemd units that start the program by name.
UNITS = "/etc/systemd/system"
#: The size limit for a program in bytes; the proof's has 1.1 million.
LARGEST = 16 << 20


def run(module: AnsibleModule, call: str, root: str, keep: bool = True, name: str = "proof") -> None:
    """Run ``call`` of the program with the module's options, and exit with its result.

    :param root: the collection's directory on the host.
    :param keep: whether to store a program that had to be sent for the next call; False for read-only calls.
    :param name: the name of the program.
    """

    def work() -> dict[str, t.Any]:
        options = dict(module.params)
        program = options.pop("program")
        if program is None:
            raise SparkforgeError(
                "This module was started without its action plugin, which sends its program to the host.",
                "Use it in a task or with ansible -m, by its full name, from an installed collection.",
            )
        sha256, path = program["sha256"], stored_path(root, program["sha256"], name)
        content = read_stored(path, sha256)
        if content is None and program.get("path"):
            content = read_pushed(program["path"], sha256)
            if keep and not module.check_mode:
                store(path, content)
        if content is None:
            return {"changed": False, "needs_program": True}
        # systemd units contain the stored path, where the program is not yet stored in check mode.
        options["program"] = path
        return {"changed": False, **_call(module, content, call, options)}

    modules.run(module, work)


def stored_path(root: str, sha256: str, name: str = "proof") -> str:
    """Return the path where the program is stored."""
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise SparkforgeError(f"{sha256!r} is not a sha256.", "Leave out the option program: the action fills it in.")
    return os.path.join(root, PLACES[name].format(sha256))


def read_stored(path: str, sha256: str) -> bytes | None:
    """Return the stored program, or None if there is none or a fixed path holds another version.

    :raises SparkforgeError: if its content does not match the sha256 in its name.
    """
    try:
        content = _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.io_error(f"{path} cannot be read", error) from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256 and sha256 in path:
        raise SparkforgeError(
            f"{path} was changed on this host: its sha256 is {digest[:12]}….",
            "Find out who changed it. Then remove it, and run the play again: it is sent again.",
        )
    return content if digest == sha256 else None


def read_pushed(path: str, sha256: str) -> bytes:
    """Return the pushed program, after reading it once.

    :raises SparkforgeError: if it differs from the program that was sent.
    """
    try:
        content = _read(path)
    except OSError as error:
        raise disk.io_error("The program that was sent cannot be read", error) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SparkforgeError(
            "The program did not arrive complete, or was replaced.",
            "Run the play again. If it fails again, check the connection, and who else can use that account.",
        )
    return content


def _read(path: str) -> bytes:
    with disk.open_regular(path) as stream:
        # Read one byte more than the limit: a larger file then fails the sha256 check.
        return stream.read(LARGEST + 1)


def store(path: str, content: bytes) -> None:
    """Store a program for the next call, if this account can write there."""
    directory = os.path.dirname(path)
    if _writable(directory):
        disk.make_directories(directory)
        disk.write_file(path, content, 0o755)
        _remove_others(directory, path)


def _writable(directory: str) -> bool:
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    return os.access(directory, os.W_OK)


def _remove_others(directory: str, path: str) -> None:
    """Remove older programs that no systemd unit starts any more."""
    started = ""
    for name in disk.names(UNITS):
        if name.startswith("sparkforge-proof"):
            with open(os.path.join(UNITS, name), encoding="utf-8", errors="replace") as stream:
                started += stream.read()
    for name in disk.names(directory):
        other = os.path.join(directory, name)
        if name.endswith(".pyz") and other != path and other not in started:
            os.unlink(other)


def _call(module: AnsibleModule, content: bytes, call: str, options: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    # A file without a name cannot be replaced by another account.
    with os.fdopen(os.memfd_create("sparkforge"), "wb") as program:
        program.write(content)
        program.flush()
        path = f"/proc/self/fd/{program.fileno()}"
        status, out, err = module.run_command(
            [sys.executable, "-B", path, "call", call],
            data=json.dumps({"options": options, "check_mode": module.check_mode}),
            environ_update={"LC_ALL": "C.UTF-8"},
            pass_fds=[program.fileno()],
        )
    try:
        answer = json.loads(out)
        error = answer.get("error")
        if error is None:
            return dict(answer["result"])
    except (ValueError, KeyError, TypeError, AttributeError):
        last_line = phrases.last_line(err or out)
        raise SparkforgeError(
            f"The program exited with status {status}: {last_line or 'it printed nothing'}.",
            "Run the task again with -vvv: the result's stderr has the program's last output.",
            stderr=err[-4000:],
        ) from None
    raise SparkforgeError(error.pop("cause"), error.pop("remedy"), **error)


def root_of_units(path: str) -> str:
    """Return the absolute path of a root for use in systemd units.

    :raises SparkforgeError: if systemd would parse the path differently.
    """
    if not re.fullmatch(r"/[A-Za-z0-9._/+-]*[A-Za-z0-9._+-]", os.path.abspath(path)):
        raise SparkforgeError(
            f"The root {path!r} cannot be used in a systemd unit.",
            "Use an absolute path of letters, digits, '.', '_', '+' and '-'.",
        )
    return os.path.abspath(path)
