"""Runs modules in forks of a process that has imported ansible, because starting Python takes longer than most modules.

Each module still has its own process, with its caller's environment variables, directory and umask.
"""

import atexit
import contextlib
import functools
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import typing as t

import ansible

SECONDS = 120.0


@functools.cache
def _start_server(interpreter: str) -> str:
    """Start this process's server for an interpreter, which exits along with it, and return its socket's path."""
    directory = tempfile.mkdtemp(prefix="sparkforge-modules-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    path = os.path.join(directory, "socket")
    # Another interpreter imports this one's ansible.
    own_ansible = os.path.dirname(os.path.dirname(ansible.__file__))
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONPATH": own_ansible}
    command = [interpreter, __file__, path]
    server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return path


def call(module, arguments, environment, directory=".", umask=-1, interpreter=sys.executable) -> tuple[str, str]:
    """Run a module with its arguments on stdin, and return its stdout and stderr once no process holds them open.

    :param module: the full name, found on the PYTHONPATH of ``environment``.
    """
    server = _start_server(interpreter)
    (its_input, our_input), *outputs = [os.pipe() for _number in range(3)]
    request = {
        "module": module, "environment": dict(environment), "directory": os.path.abspath(directory), "umask": umask,
    }  # fmt: skip
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(server)
        its_ends = [its_input, *(writing for _reading, writing in outputs)]
        socket.send_fds(connection, [json.dumps(request).encode()], its_ends)
        pid = int(connection.recv(20))
    for end in its_ends:
        os.close(end)
    with contextlib.suppress(BrokenPipeError), os.fdopen(our_input, "w", encoding="utf-8") as stream:
        stream.write(arguments)
    printed = {reading: b"" for reading, _writing in outputs}
    unfinished, deadline = set(printed), time.monotonic() + SECONDS
    while unfinished:
        ready = select.select(unfinished, [], [], max(0.0, deadline - time.monotonic()))[0]
        if not ready:
            os.kill(pid, signal.SIGKILL)
            raise TimeoutError(f"{module} did not exit within {SECONDS:.0f} s")
        for reading in ready:
            block = os.read(reading, 1 << 16)
            printed[reading] += block
            if not block:
                unfinished.remove(reading)
                os.close(reading)
    out, err = (content.decode() for content in printed.values())
    return out, err


def _run(request: dict[str, t.Any], descriptors: list[int]) -> None:
    """Run the module in this process, as `python -m` does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    if request["umask"] >= 0:
        os.umask(request["umask"])
    del sys.argv[1:]
    try:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _serve(path: str) -> None:
    """Fork for each request until stdin is closed, which happens when the process that started this server exits."""
    import ansible.module_utils.basic  # noqa: F401

    del sys.path[0]  # this file's directory
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin.fileno()], [], [])[0]:
            connection, _address = listener.accept()
            message, descriptors, _flags, _sender = socket.recv_fds(connection, 1 << 20, 3)
            request = json.loads(message)
            paths = request["environment"].get("PYTHONPATH", "").split(":")
            sys.path[:0] = [entry for entry in paths if entry and entry not in sys.path]
            # Forks share the module's imports.
            with contextlib.suppress(Exception):
                importlib.import_module(request["module"])
            sys.modules.pop(request["module"], None)
            pid = os.fork()
            if not pid:
                _run(request, descriptors)
            connection.send(str(pid).encode())
            connection.close()
            for descriptor in descriptors:
                os.close(descriptor)


if __name__ == "__main__":
    _serve(sys.argv[1])
