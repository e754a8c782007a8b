"""A process without a network: what it can open, and what it starts."""

import json
import subprocess
import sys

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import offline

#: Every family that this Python knows, and io_uring, which opens sockets without socket(2).
PROBE = """
import ctypes, errno, json, socket
def tried(family):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(family, kind).close()
            return "open"
        except OSError as error:
            said = errno.errorcode[error.errno]
            if said == "ENETUNREACH":
                return said
    return said
libc = ctypes.CDLL(None, use_errno=True)
found = {name: tried(family) for name, family in socket.AddressFamily.__members__.items()}
ring = libc.syscall(425, 1, 0)
found["io_uring"] = "open" if ring >= 0 else errno.errorcode[ctypes.get_errno()]
found["socketpair"] = [one.fileno() > 2 for one in socket.socketpair()]
print(json.dumps(found))
"""


def test_neither_a_process_nor_what_it_starts_has_a_network() -> None:
    assert offline.is_possible()
    again = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {PROBE!r}], check=True)"
    for code in (PROBE, again):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, preexec_fn=offline.closing()
        )
        found = json.loads(done.stdout)
        # The third is another name of the second.
        assert {found.pop(name) for name in ("AF_UNIX", "AF_NETLINK", "AF_ROUTE")} == {"open"}
        assert found.pop("socketpair") == [True, True]
        assert found.pop("io_uring") == "ENOSYS"
        assert len(found) > 10 and set(found.values()) == {"ENETUNREACH"}
