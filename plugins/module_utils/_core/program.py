# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A program of ours on a host: pushed once, compared with its sha256 before each use, and called.

The action beside the module knows its sha256 and sends it if the host lacks it (plugin_utils/action.py). It arrives in
a folder of the account that connects, which may exchange the file at any time: the file is read once, and what was
read is compared, run and kept. Neither the pushed file nor the kept one is opened by name a second time. A call is
one JSON object on stdin, ``{"options": {…}, "check_mode": false}``, and one on stdout: ``{"result": {…}}``, or
``{"error": {"cause": …, "remedy": …, …}}`` if the program refuses.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import typing as t

from . import disk, modules
from .errors import SparkforgeError

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

#: Of every module that calls it. The action fills it in.
ARGUMENT: dict[str, t.Any] = {
    "type": "dict",
    "options": {"sha256": {"type": "str", "required": True}, "path": {"type": "path"}},
}
#: Where the collection keeps what it makes, by default.
ROOT = "/opt/sparkforge"
#: Where each lies below it. What starts the guard does so by a fixed name, where its own installation puts it.
PLACES = {"proof": "proof/{}.pyz", "guard": "guard/guard.pyz"}
#: Units of systemd that start the program by its name.
UNITS = "/etc/systemd/system"
#: Bytes of a program at most; the proof's are 1.1 million.
LARGEST = 16 << 20


def run(module: AnsibleModule, call: str, root: str, keep: bool = True, name: str = "proof") -> None:
    """Have the program answer ``call`` with the module's options, and exit with its result.

    :param root: directory of the collection on the host.
    :param keep: whether a program that had to be sent stays for the next call; not for what only reads.
    :param name: which program.
    """

    def work() -> dict[str, t.Any]:
        options = dict(module.params)
        program = options.pop("program")
        if program is None:
            raise SparkforgeError(
                "This module was started without its action plugin, which brings its program.",
                "Use it in a task or with ansible -m, by its full name, from an installed collection.",
            )
        sha256, path = program["sha256"], place(root, program["sha256"], name)
        content = kept(path, sha256)
        if content is None and program.get("path"):
            content = received(program["path"], sha256)
            if keep and not module.check_mode:
                store(path, content)
        if content is None:
            return {"changed": False, "needs_program": True}
        # A unit of systemd names the place where it stays, which in check mode is not where it is.
        options["program"] = path
        return {"changed": False, **_call(module, content, call, options)}

    modules.run(module, work)


def place(root: str, sha256: str, name: str = "proof") -> str:
    """Return where the program is kept.

    :raises SparkforgeError: the sha256 is none.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise SparkforgeError(f"{sha256!r} is not a sha256.", "Leave out the option program: the action fills it in.")
    return os.path.join(root, PLACES[name].format(sha256))


def kept(path: str, sha256: str) -> bytes | None:
    """Return the program that the host keeps; None if it keeps none, or another version at a fixed name.

    :raises SparkforgeError: its content is not what its name says.
    """
    try:
        content = _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.failed(f"{path} cannot be read", error) from error
    digest = hashlib.sha256(content).hexdigest()
    if digest == sha256:
        return content
    if sha256 in path:
        raise SparkforgeError(
            f"{path} was changed on this host: its sha256 is {digest[:12]}….",
            "Find out who changed it. Then remove it, and run the play again: it is sent anew.",
        )
    return None


def received(path: str, sha256: str) -> bytes:
    """Return the program that was pushed, read once.

    :raises SparkforgeError: it is not the one that was sent.
    """
    try:
        content = _read(path)
    except OSError as error:
        raise disk.failed("The program that was sent cannot be read", error) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SparkforgeError(
            "The program did not arrive whole, or was exchanged.",
            "Run the play again. If it fails again, check the connection, and who else has the account that connects.",
        )
    return content


def _read(path: str) -> bytes:
    with disk.open_regular(path) as stream:
        # One byte more than any program has: a larger file has another sha256.
        return stream.read(LARGEST + 1)


def store(path: str, content: bytes) -> None:
    """Keep a program for the next call, if this account may write there."""
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
    """Remove former programs that no unit of systemd starts any more."""
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
    # A file without a name: nobody can put another one in its place.
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
        last = " ".join((err or out).strip().rpartition("\n")[2].split())
        raise SparkforgeError(
            f"The program ended with status {status}: {last or 'it printed nothing'}.",
            "Run the task again with -vvv: the result's stderr has the program's last output.",
            stderr=err[-4000:],
        ) from None
    raise SparkforgeError(error.pop("cause"), error.pop("remedy"), **error)


def root_of_units(path: str) -> str:
    """Return the absolute path of a root that units of systemd name.

    :raises SparkforgeError: systemd would read another one.
    """
    if not re.fullmatch(r"/[A-Za-z0-9._/+-]*[A-Za-z0-9._+-]", os.path.abspath(path)):
        raise SparkforgeError(
            f"The root {path!r} cannot be used in a systemd unit.",
            "Use an absolute path of letters, digits, '.', '_', '+' and '-'.",
        )
    return os.path.abspath(path)
