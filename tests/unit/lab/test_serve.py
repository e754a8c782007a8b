# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The mirror's server: what a client gets over HTTP and HTTPS, and how it misbehaves when told to."""

from __future__ import annotations

import fcntl
import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import typing as t
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.mirror import opened
from lab.serve import MirrorServer, make_certificate

CHECKOUT = Path(__file__).parents[3]
DATA = bytes(range(256)) * 4000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "wheels").mkdir(parents=True)
    (folder / "big.deb").write_bytes(DATA)
    (folder / "wheels/index.html").write_text("<a href='x.whl'>x.whl</a>")
    (folder / ".stages").mkdir()
    (folder / ".stages/secret").write_text("no")
    (tmp_path / "outside").write_text("no")
    (folder / "way-out").symlink_to(tmp_path / "outside")
    return folder


@pytest.fixture
def server(root: Path) -> Iterator[MirrorServer]:
    with MirrorServer(root) as running:
        yield running


def get(url: str, context: ssl.SSLContext | None = None, **headers: str) -> tuple[int, bytes, t.Any]:
    request = urllib.request.Request(url, headers={key.replace("_", "-"): value for key, value in headers.items()})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


@pytest.mark.parametrize(
    "path",
    ["/absent", "/", "/wheels", "/../outside", "/%2e%2e/outside", "/way-out", "/.stages/secret", "/a%00b"],
)
def test_what_is_not_a_file_of_the_tree_is_404(server: MirrorServer, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def test_a_client_that_says_nothing_does_not_hold_up_the_others(root: Path, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path / "tls", ["127.0.0.1"])
    context = ssl.create_default_context(cafile=str(certificate.ca))
    with (
        MirrorServer(root, certificate) as running,
        socket.create_connection(("127.0.0.1", running.port)),
    ):
        start = time.monotonic()
        assert get(running.url + "/big.deb", context)[0] == 200
        assert time.monotonic() - start < 3


def test_a_certificate_is_made_again_only_for_a_name_that_it_lacks(tmp_path: Path) -> None:
    first = make_certificate(tmp_path, ["127.0.0.1"])
    certificate, ca = first.certificate.read_bytes(), first.ca.read_bytes()
    make_certificate(tmp_path, ["127.0.0.1"])
    assert first.certificate.read_bytes() == certificate
    make_certificate(tmp_path, ["127.0.0.1", "mirror.test"])
    assert first.certificate.read_bytes() != certificate
    assert first.ca.read_bytes() == ca
    assert first.key.stat().st_mode & 0o077 == 0


def test_a_fault_cuts_a_download_once_and_a_range_completes_it(server: MirrorServer) -> None:
    server.fault("/big.deb", truncate=1000, times=1)
    with pytest.raises(http.client.IncompleteRead) as cut:
        get(server.url + "/big.deb")
    assert cut.value.partial == DATA[:1000]
    status, rest, _ = get(server.url + "/big.deb", Range="bytes=1000-")
    assert (status, cut.value.partial + rest) == (206, DATA)
    assert [request.range for request in server.requests] == ["", "bytes=1000-"]


def test_a_fault_gives_a_status_a_body_or_ignores_ranges_until_it_is_mended(server: MirrorServer) -> None:
    server.fault("/big*", status=503)
    assert get(server.url + "/big.deb")[0] == 503
    server.fault("/big*", body=b"<html>sign in</html>")
    assert get(server.url + "/big.deb")[:2] == (200, b"<html>sign in</html>")
    server.fault("/big*", ignore_range=True)
    assert get(server.url + "/big.deb", Range="bytes=5-")[:2] == (200, DATA)
    server.mend()
    assert server.requests == []
    assert get(server.url + "/big.deb", Range="bytes=5-")[0] == 206


def test_the_command_serves_logs_writes_its_pid_and_ends_on_sigterm(root: Path, tmp_path: Path) -> None:
    with socket.socket() as probe, socket.socket() as other:
        probe.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, plain = probe.getsockname()[1], other.getsockname()[1]
    paths = {name: tmp_path / name for name in ("cert", "key", "ca", "log", "pid-file")}
    command = [sys.executable, "-m", "lab.serve", "--root", str(root), "--bind", "127.0.0.1"]
    command += ["--port", str(port), "--http-port", str(plain)]
    command += [word for name, path in paths.items() for word in (f"--{name}", str(path))]
    with subprocess.Popen(command, cwd=CHECKOUT) as process:
        try:
            deadline = time.monotonic() + 20
            while not paths["pid-file"].exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            assert int(paths["pid-file"].read_text()) == process.pid
            context = ssl.create_default_context(cafile=str(paths["ca"]))
            assert get(f"https://127.0.0.1:{port}/big.deb", context)[1] == DATA
            assert get(f"http://127.0.0.1:{plain}/big.deb")[1] == DATA
            with opened(root) as folder, pytest.raises(BlockingIOError):  # which a build would take to remove it
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=10) == 0
    assert not paths["pid-file"].exists()
    assert '"GET /big.deb HTTP/1.1" 200' in paths["log"].read_text()


def test_a_root_that_is_not_there_ends_in_one_message(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lab.serve", "--root", str(tmp_path / "absent"), "--port", "1"],
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Build the mirror with `python -m lab.mirror`" in done.stderr
    assert "Traceback" not in done.stderr
