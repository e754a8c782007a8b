"""Run a tool on an untrusted file, with limits on time, memory and output."""

# There is no AnsibleModule here to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import os
import subprocess
import tempfile
import typing as t

from .apt_get import ENVIRONMENT

# This is also the size limit for each file that the tool writes.
OUTPUT_LIMIT = 16 * 1024 * 1024
TIMED_OUT = 124


def ask(argv: t.Sequence[str], *, seconds: int, memory: int | None = None) -> tuple[int, str, str]:
    """Return the exit status, stdout and stderr of a tool; the status is TIMED_OUT if it did not finish.

    :param memory: the limit on its address space in bytes.
    """
    # Both programs are in essential packages (coreutils, util-linux).
    bounds = ["timeout", "--kill-after=5", str(seconds), "prlimit", f"--fsize={OUTPUT_LIMIT}"]
    if memory is not None:
        bounds.append(f"--as={memory}")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = subprocess.run(
            [*bounds, *argv],
            env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=False,
        ).returncode  # fmt: skip
        text = []
        for stream in (out, err):
            stream.seek(0)
            text.append(stream.read().decode("utf-8", "replace"))
    # 137 means that it ignored SIGTERM and was killed.
    return TIMED_OUT if status == 137 else status, text[0], text[1]
