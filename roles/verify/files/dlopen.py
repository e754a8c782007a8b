# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Open shared libraries as a program would, each in a process of its own, and print what happened as JSON.

Arguments: the path of an environment's receipt, then one SONAME after the other. The receipt's few keys that
the verification reads come with the answer, so that one call to the host is enough.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

# Longest that one library may take, in seconds: its constructors run, under emulation slowly.
LIMIT = 120


def open_here(soname):
    """Return the file that dlopen took for a SONAME, and the error if it took none."""
    try:
        # Every symbol is bound now; lazy binding would hide one that is missing.
        ctypes.CDLL(soname, mode=os.RTLD_NOW)
    except OSError as error:
        return {"path": None, "error": str(error)}
    path = None
    stem = soname.split(".so")[0] + ".so"
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            words = line.split(None, 5)
            if len(words) == 6 and os.path.basename(words[5].strip()).startswith(stem):
                path = words[5].strip()
                break
    return {"path": path, "error": None}


def open_apart(soname):
    """Do the same in a child: a library that crashes while it is loaded takes only the child with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(LIMIT)
        status = 1
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as stream:
                json.dump(open_here(soname), stream)
            status = 0
        finally:
            # Without the exit handlers of this interpreter and the destructors of the library.
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        said = stream.read()
    _child, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return {"path": None, "error": f"the process that opened it ended by {name}"}
    try:
        return json.loads(said)
    except ValueError:
        return {"path": None, "error": "the process that opened it said nothing"}


def read_receipt(path):
    """Return what the verification reads of a receipt, or None where there is none."""
    try:
        with open(path, encoding="utf-8") as stream:
            receipt = json.load(stream)
    except (OSError, ValueError):
        return None
    if not isinstance(receipt, dict):
        return None
    return {key: receipt.get(key) for key in ("lock_id", "modules", "library_paths")}


def main():
    """Print one JSON object."""
    receipt, sonames = sys.argv[1], sys.argv[2:]
    libraries = {soname: open_apart(soname) for soname in sonames}
    print(json.dumps({"libraries": libraries, "receipt": read_receipt(receipt)}, sort_keys=True))


if __name__ == "__main__":
    main()
