"""Sockets in a process without a network, and in its child processes."""

import json
import subprocess
import sys

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import offline

#: Tries all address families that Python knows, and io_uring, which opens sockets without socket(2).
PROBE = """
import ctypes, errno, json, socket
def tried(family):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(family, kind).close()
            return "open"
        except OSError as error:
            name = errno.errorcode[error.errno]
            if name == "ENETUNREACH":
                return name
    return name
libc = ctypes.CDLL(None, use_errno=True)
results = {name: tried(family) for name, family in socket.AddressFamily.__members__.items()}
ring = libc.syscall(425, 1, 0)
results["io_uring"] = "open" if ring >= 0 else errno.errorcode[ctypes.get_errno()]
results["socketpair"] = [end.fileno() > 2 for end in socket.socketpair()]
print(json.dumps(results))
"""


def test_process_and_child_have_no_network() -> None:
    assert offline.is_possible()
    in_child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {PROBE!r}], check=True)"
    for code in (PROBE, in_child):
        command = [sys.executable, "-c", code]
        output = subprocess.check_output(command, text=True, preexec_fn=offline.network_blocker())
        results = json.loads(output)
        # AF_ROUTE is another name for AF_NETLINK.
        assert {results.pop(name) for name in ("AF_UNIX", "AF_NETLINK", "AF_ROUTE")} == {"open"}
        assert results.pop("socketpair") == [True, True]
        assert results.pop("io_uring") == "ENOSYS"
        assert len(results) > 10 and set(results.values()) == {"ENETUNREACH"}
