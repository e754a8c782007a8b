import base64
import contextlib
import hashlib
import itertools
import os
import time
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError, UnreachableError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import http, http_errors

from tests.unit.web_server import Server, make_certificate

BODY = bytes(range(256)) * 5000


@pytest.fixture
def server() -> t.Iterator[Server]:
    server = Server()
    server.files["/file"] = BODY
    yield server
    server.close()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    recorded: list[float] = []
    # Replace only this module's `time`, because a thread left behind by another test may be sleeping.
    monkeypatch.setattr(http, "time", types.SimpleNamespace(sleep=recorded.append, monotonic=time.monotonic))
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return recorded


def test_upper_case_pin_is_accepted(server: Server, tmp_path: Path) -> None:
    assert http.fetch(f"{server.url}/file", str(tmp_path), sha256=hashlib.sha256(BODY).hexdigest().upper())


def test_wrong_sha256_names_both_hashes(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError) as failure:
        http.fetch(f"{server.url}/file", str(tmp_path), sha256="0" * 64)
    assert failure.value.cause == (
        f"The sha256 of {server.url}/file is {hashlib.sha256(BODY).hexdigest()}, expected {'0' * 64}."
    )
    assert "use the file" in failure.value.remedy
    assert os.listdir(tmp_path) == []
    assert len(server.requests) == 1, "a retry would not help"


def test_all_digits_of_pin_are_compared(server: Server, tmp_path: Path) -> None:
    digest = hashlib.sha256(BODY).hexdigest()
    for pin in (digest[:-1] + "0f"[digest.endswith("0")], "0f"[digest.startswith("0")] + digest[1:]):
        with pytest.raises(SparkforgeError, match="expected"):
            http.fetch(f"{server.url}/file", str(tmp_path), sha256=pin)
    assert os.listdir(tmp_path) == []


def test_invalid_pin_is_refused_before_download(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match="not a sha256"):
        http.fetch(f"{server.url}/file", str(tmp_path), sha256="abc")
    assert server.requests == []


def test_download_with_progress_continues(server: Server, tmp_path: Path, pauses: list[float]) -> None:
    server.files["/file"] = BODY * 5
    server.cuts["/file"] = [http.BLOCK] * 6
    assert Path(http.fetch(f"{server.url}/file", str(tmp_path), retries=1)).read_bytes() == BODY * 5
    assert server.sent["/file"] == len(BODY * 5) and set(pauses) == {1.0}


def test_partial_of_another_file_is_removed(server: Server, tmp_path: Path) -> None:
    options: dict[str, t.Any] = {"sha256": hashlib.sha256(BODY).hexdigest(), "partial": "partial"}
    (tmp_path / "partial").write_bytes(b"x" * 1000)
    assert Path(http.fetch(f"{server.url}/file", str(tmp_path), **options)).read_bytes() == BODY
    with pytest.raises(SparkforgeError, match="expected"):
        http.fetch(f"{server.url}/file", str(tmp_path), sha256="0" * 64, partial="partial")
    assert os.listdir(tmp_path) == []


def test_partial_is_readable_by_owner_only(server: Server, tmp_path: Path, umask: t.Callable[[int], int]) -> None:
    server.cuts["/file"] = [400_000] * 9
    umask(0)
    with pytest.raises(SparkforgeError):
        http.fetch(f"{server.url}/file", str(tmp_path), partial="partial", retries=0)
    assert (tmp_path / "partial").stat().st_mode & 0o777 == 0o600


def test_server_without_etag_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.etags = False
    server.cuts["/file"] = [400_000]
    assert Path(http.fetch(f"{server.url}/file", str(tmp_path))).read_bytes() == BODY
    assert [range_header for _, range_header in server.requests] == [None, None]


def test_misplaced_range_is_fetched_again(server: Server, tmp_path: Path) -> None:
    server.cuts["/file"] = [400_000]
    server.misplaced = 1000
    assert Path(http.fetch(f"{server.url}/file", str(tmp_path))).read_bytes() == BODY
    assert [range_header for _, range_header in server.requests] == [None, "bytes=400000-", None]


@pytest.mark.parametrize(("etag", "pin"), [('"two"', None), ('"one"', hashlib.sha256(BODY[::-1]).hexdigest())])
def test_changed_file_is_fetched_again(server: Server, tmp_path, monkeypatch, etag, pin: str | None):
    """Without a pin, only the server's ETag shows the change; with the same ETag, as on a careless mirror, the pin."""
    server.cuts["/file"] = [400_000]
    old = server.answer

    def answer(handler: t.Any) -> None:
        old(handler)
        server.files["/file"], server.etag = BODY[::-1], etag

    monkeypatch.setattr(server, "answer", answer)
    assert Path(http.fetch(f"{server.url}/file", str(tmp_path), sha256=pin)).read_bytes() == BODY[::-1]
    assert pin or server.conditions == [None, '"one"']


def test_truncated_download_is_refused_with_sizes(server: Server, tmp_path: Path, pauses: list[float]) -> None:
    server.etags = False
    server.cuts["/file"] = [1000] * 9
    with pytest.raises(SparkforgeError) as failure:
        http.fetch(f"{server.url}/file", str(tmp_path), retries=2)
    assert f"truncated: 1000 of {len(BODY)} bytes" in failure.value.cause
    assert failure.value.details["attempts"] == 3
    assert pauses == [1.0, 2.0]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "message"), [(403, "is forbidden"), (401, "requires a user"), (407, "proxy requires"), (418, "HTTP 418")]
)
def test_final_http_status_is_not_retried(server: Server, tmp_path: Path, status: t.Any, message: t.Any) -> None:
    server.statuses["/file"] = [status]
    with pytest.raises(SparkforgeError, match=message):
        http.fetch(f"{server.url}/file", str(tmp_path))
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", sorted(http_errors.TRANSIENT_HTTP))
def test_busy_server_is_retried(server: Server, tmp_path: Path, status: t.Any) -> None:
    server.statuses["/file"] = [status]
    assert http.fetch(f"{server.url}/file", str(tmp_path))
    assert len(server.requests) == 2


def test_html_page_instead_of_archive_is_refused(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>"
    with pytest.raises(SparkforgeError, match="an HTML page"):
        http.fetch(f"{server.url}/file", str(tmp_path), sha256="0" * 64)
    with pytest.raises(SparkforgeError, match="an HTML page"):
        http.fetch_bytes(f"{server.url}/file")
    assert http.fetch_bytes(f"{server.url}/file", html=True).startswith(b"\n<!DOCTYPE")


def test_document_above_limit_is_refused(server: Server) -> None:
    with pytest.raises(SparkforgeError, match="limit is 1000"):
        http.fetch_bytes(f"{server.url}/file", limit=1000)
    assert http.fetch_bytes(f"{server.url}/file", limit=len(BODY)) == BODY
    with pytest.raises(SparkforgeError, match=f"limit is {len(BODY) - 1}"):
        http.fetch_bytes(f"{server.url}/file", limit=len(BODY) - 1)


def test_error_status_with_location_is_an_error(server: Server) -> None:
    """A Location header counts only with a redirect status (RFC 9110, 10.2.2)."""
    server.statuses["/old"] = [404, 410, 403]
    server.location = f"{server.url}/file"
    for status in (404, 410, 403):
        with pytest.raises(SparkforgeError, match=str(status)):
            http.fetch_bytes(f"{server.url}/old")
    assert server.paths == ["/old"] * 3


@pytest.mark.parametrize("lengths", [True, False])
def test_file_above_max_bytes_is_refused(server: Server, tmp_path: Path, lengths: t.Any) -> None:
    server.lengths = lengths
    with pytest.raises(SparkforgeError, match="limit is 1000"):
        http.fetch(f"{server.url}/file", str(tmp_path), sha256=hashlib.sha256(BODY).hexdigest(), max_bytes=1000)
    assert os.listdir(tmp_path) == []
    assert len(server.requests) == 1
    (tmp_path / "local").write_bytes(BODY)
    with pytest.raises(SparkforgeError, match="limit is 1000"):
        http.fetch((tmp_path / "local").as_uri(), str(tmp_path), max_bytes=1000)
    assert os.listdir(tmp_path) == ["local"]


def test_default_size_limit_applies(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "SIZE_LIMIT", len(BODY) - 1)
    with pytest.raises(SparkforgeError, match="the limit is"):
        http.fetch(f"{server.url}/file", str(tmp_path))


@pytest.mark.parametrize("part", ["head", "body"])
def test_stalling_server_is_given_up(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: t.Any):
    # The first request imports modules, which also takes time.
    http.fetch_bytes(f"{server.url}/file")
    monkeypatch.setattr(http, "GRACE", 1.0)
    server.drips = part
    with pytest.raises(UnreachableError, match="sends too slowly"):
        http.fetch(f"{server.url}/file", str(tmp_path))
    assert os.listdir(tmp_path) == []
    assert len(server.requests) == 2


def test_slow_server_is_waited_for(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0, 4)
    monkeypatch.setattr(http.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(http, "GRACE", 10)
    assert http.fetch(f"{server.url}/file", str(tmp_path))


def test_unresolvable_name_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match=r"The name mirror\.invalid .* cannot be resolved"):
        http.fetch("http://mirror.invalid/file", str(tmp_path), retries=0)


def test_unreachable_proxy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:secret@127.0.0.1:9")
    with pytest.raises(SparkforgeError, match=r"through the proxy http://127\.0\.0\.1:9") as failure:
        http.fetch("http://mirror.invalid/file", str(tmp_path), retries=0)
    assert "secret" not in str(failure.value)


def test_password_of_url_is_not_in_messages(server: Server, tmp_path: Path) -> None:
    url = server.url.replace("http://", "http://user:secret@") + "/other"
    with pytest.raises(SparkforgeError) as failure:
        http.fetch(url, str(tmp_path))
    assert "secret" not in repr(failure.value.as_result())


def test_file_url_reads_local_file(tmp_path: Path) -> None:
    (tmp_path / "a b").write_bytes(b"data")
    assert http.fetch_bytes((tmp_path / "a b").as_uri()) == b"data"
    with pytest.raises(SparkforgeError, match="cannot be read: No such file"):
        http.fetch_bytes((tmp_path / "none").as_uri())
    with pytest.raises(SparkforgeError, match="cannot be read: embedded null byte"):
        http.fetch_bytes("file:///etc/%00passwd")


@pytest.mark.parametrize(
    "url",
    ["ftp://host/file", "/etc/passwd", "http://", "data:,x", "http://[::1/file", "http://host:x/", "http://host:99999/",
     "https://\u2100.test/", "http://a b/", "http://a\nb/"],
)  # fmt: skip
def test_invalid_url_is_refused(url: t.Any) -> None:
    with pytest.raises(SparkforgeError, match="can be fetched"):
        http.fetch_bytes(url)


def test_missing_destination_is_named(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match=f"stored in {tmp_path}/none"):
        http.fetch(f"{server.url}/file", f"{tmp_path}/none")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"<html>", True), (b"\xef\xbb\xbf <!doctype HTML public>", True), (b"<!-- a comment --><html lang=en>", True),
        (b"\xfd7zXZ\x00", False), (b'{"a": "<html>"}', False), (b"<?xml version='1.0'?>", False), (b"", False),
    ],
)  # fmt: skip
def test_html_is_recognized_by_first_bytes(head: t.Any, expected: t.Any) -> None:
    assert http.is_html(head) is expected


@pytest.fixture
def secure(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[tuple[Server, str]]:
    """A TLS server with a certificate from an unknown CA, and the path of that CA's certificate."""
    both, certificate = make_certificate(tmp_path_factory.mktemp("tls"))
    server = Server(both)
    server.files["/file"] = BODY
    yield server, certificate
    server.close()


def test_unknown_ca_is_refused_with_remedy(secure: tuple[Server, str], tmp_path: Path, pauses: list[float]) -> None:
    with pytest.raises(SparkforgeError, match="cannot be verified") as failure:
        http.fetch(f"{secure[0].url}/file", str(tmp_path))
    assert "sparkforge_ca_certificate" in failure.value.remedy
    assert "never turned off" in failure.value.remedy
    assert pauses == [], "a retry would not help"
    assert secure[0].requests == []


def test_ca_of_the_environment_is_trusted(secure: tuple[Server, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", secure[1])
    assert Path(http.fetch(f"{secure[0].url}/file", str(tmp_path))).read_bytes() == BODY
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    with pytest.raises(SparkforgeError, match=r"SSL_CERT_FILE names /nowhere/ca\.pem"):
        http.fetch(f"{secure[0].url}/file", str(tmp_path))


def test_redirect_out_of_tls_is_refused(secure, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", secure[1])
    secure[0].redirects["/old"] = f"{server.url}/file"
    with pytest.raises(SparkforgeError, match="protected by TLS"):
        http.fetch(f"{secure[0].url}/old", str(tmp_path))
    secure[0].redirects["/old"] = "/file"
    assert http.fetch(f"{secure[0].url}/old", str(tmp_path))


def test_redirect_back_into_tls_is_refused(secure, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", secure[1])
    secure[0].redirects["/old"] = f"{server.url}/middle"
    server.redirects["/middle"] = f"{secure[0].url}/file"
    with pytest.raises(SparkforgeError, match=f"{server.url}/middle, which .* TLS"):
        http.fetch(f"{secure[0].url}/old", str(tmp_path))
    assert server.requests == []
    assert secure[0].paths == ["/old"]


def test_netrc_credentials_do_not_follow_redirect(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with contextlib.closing(Server()) as other:
        other.files["/file"] = BODY
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login root password secret\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        server.redirects["/old"] = f"{other.url.replace('127.0.0.1', 'localhost')}/file"
        assert http.fetch(f"{server.url}/old", str(tmp_path))
        assert server.credentials
        assert other.credentials == []
        monkeypatch.delenv("NETRC")
        server.authorization = "Basic " + base64.b64encode(b"user:secret").decode()
        server.redirects["/near"] = f"{server.url}/file"
        assert http.fetch(f"{server.url.replace('//', '//user:secret@')}/near", str(tmp_path))


@pytest.mark.parametrize(
    "location", ["ftp://host/x", "file:///etc/passwd", "http://[::1/x", "http://h:99999/", "data:,x"]
)
def test_redirect_to_invalid_url_is_refused(server: Server, tmp_path: Path, location: t.Any) -> None:
    server.redirects["/old"] = location
    with pytest.raises(SparkforgeError, match=r"can be fetched|cannot be fetched: ValueError"):
        http.fetch(f"{server.url}/old", str(tmp_path))
    assert server.paths == ["/old"]


def test_redirect_loop_is_given_up(server: Server, tmp_path: Path) -> None:
    server.redirects["/old"] = "/old"
    with pytest.raises(SparkforgeError, match="redirects 10 times"):
        http.fetch(f"{server.url}/old", str(tmp_path))
    assert len(server.requests) == 10


def test_redirect_with_space_is_followed(server: Server, tmp_path: Path) -> None:
    server.files["/a%20b"] = BODY
    server.redirects["/old"] = "/a b"
    assert http.fetch(f"{server.url}/old", str(tmp_path))


def test_https_does_not_fall_back_to_http(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match="No TLS connection"):
        http.fetch(f"{server.url.replace('http:', 'https:')}/file", str(tmp_path), retries=0)
    assert server.requests == []


def test_announced_size_above_limit_is_not_read(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Any write would now fail with a TypeError.
    monkeypatch.setattr(http._Sink, "write", None)
    with pytest.raises(SparkforgeError, match="limit is 1000"):
        http.fetch(f"{server.url}/file", str(tmp_path), max_bytes=1000)


def test_weak_etag_does_not_allow_resuming(server: Server, tmp_path: Path) -> None:
    server.etag = 'W/"one"'
    server.cuts["/file"] = [400_000]
    assert Path(http.fetch(f"{server.url}/file", str(tmp_path))).read_bytes() == BODY
    assert [range_header for _, range_header in server.requests] == [None, None]


def test_url_credentials_do_not_follow_redirect(server: Server, tmp_path: Path) -> None:
    with contextlib.closing(Server()) as other:
        other.authorization = "Basic " + base64.b64encode(b"user:secret").decode()
        server.redirects["/old"] = f"{other.url}/file"
        with pytest.raises(SparkforgeError, match="HTTP 401"):
            http.fetch(f"{server.url.replace('//', '//user:secret@')}/old", str(tmp_path))
        assert other.paths == ["/file"] and other.credentials == []


def test_download_is_synced_to_disk(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    assert os.stat(http.fetch(f"{server.url}/file", str(tmp_path))).st_ino in synced
