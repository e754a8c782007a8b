# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a manifest is looked for, against a real server that serves it, a login page, or asks for a password."""

from __future__ import annotations

import base64
import hashlib
import os
import threading
import typing as t
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel, of_manifest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication, signature
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.cache import Cache
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.find import Found, find_manifest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.served import Served
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.wanted import Wanted

WHEEL = b"not much of a wheel"
WANTED = Wanted("torch-2.9.1", "0123456789ab", "ubuntu24.04-aarch64", "3.12")
LOGIN = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>"
PLACES = ["url", "cache", "builder"]


def manifest(content: bytes = WHEEL, **changes: t.Any) -> dict[str, t.Any]:
    wheel = {
        "name": "torch",
        "version": "2.9.1+sf.4b5c1f0e",
        "file": "torch-2.9.1+sf.4b5c1f0e-cp312-cp312-linux_aarch64.whl",
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }
    said: dict[str, t.Any] = {
        **{key: value for key, value in WANTED._asdict().items() if key != "signers"},
        "host": "spark01",
        "written": "2026-11-21T10:00:00Z",
        "units": [
            {"name": "pytorch", "fingerprint": "4b5c1f0e9a37d286", "wheels": [Wheel(**wheel)]},
            {"name": "llvm", "fingerprint": "0f3a56be12c4d789", "wheels": []},
        ],
    }
    return publication.manifest(**{**said, **changes})


class Server:
    """Serves what ``files`` has by path; every other path is a 404."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.login = self.refuses = False
        self.password: str | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = outer.password and base64.b64encode(f"lab:{outer.password}".encode()).decode()
                if wanted and self.headers.get("Authorization") != f"Basic {wanted}":
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="wheelhouse"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                content = LOGIN if outer.login else outer.files.get(self.path)
                self.send_response(403 if outer.refuses else 200 if content is not None else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_arguments: t.Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/wheelhouse"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def publish(self, made: dict[str, t.Any], wheel: bytes = WHEEL) -> None:
        base = f"/wheelhouse/{made['platform']}"
        self.files[f"{base}/manifests/{WANTED.file}"] = publication.text_of(made)
        for item in of_manifest(made):
            self.files[f"{base}/{item.relative.replace('+', '%2B')}"] = wheel


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"), WANTED.platform)


def nobody(_name: str) -> bytes | None:
    raise AssertionError("the builder is not to be asked")


def lacks(_name: str) -> bytes | None:
    return None


def find(cache: Cache, served: Served | None = None, builder: t.Callable[[str], bytes | None] = lacks) -> Found:
    return find_manifest(WANTED, PLACES, cache, served, builder, "spark01")


# --------------------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    "platform", ["../../stolen-x86_64", "/etc-x86_64", "a/b-x86_64", "x86_64", "", "a-b\n", "a\n-b"]
)
def test_no_platform_that_a_host_names_leads_out_of_the_cache(tmp_path: Path, platform: str) -> None:
    with pytest.raises(SparkforgeError, match="is not the name of a platform") as failure:
        Cache(str(tmp_path / "cache"), platform)
    assert failure.value.remedy and list(tmp_path.iterdir()) == []


def test_the_url_comes_first_then_the_cache_then_the_builder(server: Server, cache: Cache) -> None:
    made = manifest()
    found = find(cache, Served(server.url), lambda _name: publication.text_of(made))
    assert (found.where, found.served) == ("builder", False)
    assert [one["place"] for one in found.tried] == [server.url, cache.path_of(WANTED), "spark01"]
    cache.save(WANTED, made)
    assert find(cache, Served(server.url), nobody).where == "cache"
    server.publish(made)
    found = find(cache, Served(server.url), nobody)
    assert (found.where, found.served, found.manifest) == ("url", True, made)


def test_where_nobody_has_it_each_place_says_so(server: Server, cache: Cache) -> None:
    def silent(_name: str) -> bytes | None:
        raise OSError("spark01 cannot be asked: no route to host")

    found = find(cache, Served(server.url), silent)
    assert found.manifest is None
    assert [one["said"] for one in found.tried] == [
        "does not have it",
        "does not have it",
        "spark01 cannot be asked: no route to host",
    ]


def test_a_server_that_does_not_answer_is_passed_over(server: Server, cache: Cache) -> None:
    url = server.url
    server.server.shutdown()
    server.server.server_close()
    cache.save(WANTED, manifest())
    found = find(cache, Served(url), nobody)
    assert (found.where, found.served) == ("cache", None)
    assert "No connection" in found.tried[0]["said"]


# ------------------------------------------------------------------------------------------- what is no manifest


def test_an_html_page_with_status_200_is_no_manifest(server: Server, cache: Cache) -> None:
    server.login = True
    with pytest.raises(SparkforgeError, match="is an HTML page") as caught:
        find(cache, Served(server.url))
    assert "proxy or a login page" in caught.value.remedy


@pytest.mark.parametrize("given", ["", "wrong"])
def test_a_refused_password_is_said_and_never_shown(server: Server, cache: Cache, given: str) -> None:
    server.password = "secret"
    with pytest.raises(SparkforgeError, match="user name and password") as caught:
        find(cache, Served(server.url, "lab" if given else "", given))
    said = f"{caught.value} {caught.value.details}"
    assert "HTTP 401" in said
    assert "wrong" not in said
    assert "sparkforge_wheelhouse_password" in caught.value.remedy


def test_with_the_password_it_is_found(server: Server, cache: Cache) -> None:
    server.password = "p@ss/word:"
    made = manifest()
    server.publish(made)
    assert find(cache, Served(server.url, "lab", server.password, made["seal"]), nobody).where == "url"


def test_a_server_that_forbids_is_not_passed_over(server: Server, cache: Cache) -> None:
    server.refuses = True
    with pytest.raises(SparkforgeError, match="HTTP 403"):
        find(cache, Served(server.url))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"platform": "debian13-x86_64"}, "platform debian13-x86_64"),
        ({"stack": "torch-2.15.0"}, "stack torch-2.15.0"),
        ({"lock_id": "ba9876543210"}, "lock ba9876543210"),
        ({"python": "3.11"}, "Python 3.11"),
    ],
)
def test_a_manifest_of_something_else_is_refused(cache: Cache, changes: dict[str, str], said: str) -> None:
    with pytest.raises(SparkforgeError, match=said):
        find(cache, None, lambda _name: publication.text_of(manifest(**changes)))


def test_a_manifest_that_was_changed_is_refused(server: Server, cache: Cache) -> None:
    made = manifest()
    made["units"][-1]["wheels"][0]["sha256"] = "0" * 64
    server.publish(made)
    with pytest.raises(SparkforgeError, match="was changed after it was written"):
        find(cache, Served(server.url))


def test_a_spoilt_cache_names_the_file_to_remove(cache: Cache) -> None:
    path = Path(cache.path_of(WANTED))
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(SparkforgeError) as caught:
        find(cache)
    assert str(path) in caught.value.remedy


# ------------------------------------------------------------------------------------------------------ trust


def test_a_manifest_is_taken_only_where_its_seal_is_known(server: Server, cache: Cache) -> None:
    made = manifest()
    server.publish(made)
    found = find(cache, Served(server.url))
    assert found.manifest is None
    assert made["seal"] in found.tried[0]["said"]
    assert find(cache, Served(server.url, pinned=made["seal"].upper())).where == "url"
    cache.save(WANTED, made)
    assert find(cache, Served(server.url)).where == "url"


def test_a_manifest_that_a_pinned_key_signed_is_taken(server: Server, cache: Cache, tmp_path: Path) -> None:
    signer = signature.Signer(str(tmp_path / "builder"))
    signer.make(check_mode=False)
    wanted = WANTED._replace(signers=[str(signer.public_key)])
    server.publish(signer.sign(manifest()))
    assert find_manifest(wanted, PLACES, cache, Served(server.url), lacks, "spark01").where == "url"
    server.publish(manifest())
    with pytest.raises(SparkforgeError, match="is not signed"):
        find_manifest(wanted, PLACES, cache, Served(server.url), lacks, "spark01")


def test_a_manifest_of_another_seal_than_the_pin_is_refused(server: Server, cache: Cache) -> None:
    server.publish(manifest())
    with pytest.raises(SparkforgeError, match="sparkforge_wheelhouse_manifest_sha256 says"):
        find(cache, Served(server.url, pinned="0" * 64))


@pytest.mark.parametrize("url", ["spark01/wheelhouse", "ftp://spark01/x", "https://me:secret@spark01/x"])
def test_a_url_that_is_none_or_holds_a_password_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(SparkforgeError) as caught:
        Served(url)
    assert "secret" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------- wheels


def bring(cache: Cache, wheel: dict[str, t.Any], content: bytes) -> None:
    with cache.bringing(wheel) as target:
        assert target
        Path(target).write_bytes(content)


def test_a_wheel_is_verified_before_it_has_its_name(cache: Cache) -> None:
    made = manifest()
    (wheel,) = cache.missing(made)
    with pytest.raises(SparkforgeError, match="the manifest says") as caught:
        bring(cache, wheel, b"changed on its way")
    assert f"of {wheel.file} is {hashlib.sha256(b'changed on its way').hexdigest()}" in caught.value.cause
    with pytest.raises(SparkforgeError, match="it is an HTML page"):
        bring(cache, wheel, LOGIN)
    assert not os.path.exists(cache.directory)
    bring(cache, wheel, WHEEL)
    assert cache.missing(made) == []
    assert Path(cache.wheel(wheel)).parent.name == wheel.sha256
    with cache.bringing(wheel) as target:
        assert target is None


def test_a_wheel_comes_from_the_url(server: Server, cache: Cache) -> None:
    made = manifest()
    server.publish(made)
    (wheel,) = cache.missing(made)
    with cache.bringing(wheel) as target:
        assert target
        assert Served(server.url).wheel(wheel, WANTED.platform, target) == []
    assert Path(cache.wheel(wheel)).read_bytes() == WHEEL
    server.files.clear()
    (reason,) = Served(server.url).wheel(wheel, WANTED.platform, str(Path(cache.directory) / "x"))
    assert "does not exist" in reason
    server.refuses = True
    with pytest.raises(SparkforgeError, match="HTTP 403"):
        Served(server.url).wheel(wheel, WANTED.platform, str(Path(cache.directory) / "x"))


def test_the_cache_keeps_the_latest_manifests_of_a_stack_and_what_they_name(cache: Cache) -> None:
    versions = []
    for number in range(3):
        wanted = WANTED._replace(lock_id=f"{number:012x}")
        content = f"wheel {number}".encode()
        made = manifest(content, lock_id=wanted.lock_id)
        assert cache.save(wanted, made) is True
        assert cache.save(wanted, made) is False
        os.utime(cache.path_of(wanted), (number, number))
        bring(cache, cache.missing(made)[0], content)
        versions.append((wanted, made))
    other = WANTED._replace(stack="mine")
    cache.save(other, manifest(stack="mine"))
    cache.save(WANTED._replace(lock_id="3" * 12), manifest(b"wheel 3", lock_id="3" * 12))
    assert [cache.load(wanted) is not None for wanted, _made in versions] == [False, False, True]
    assert [cache.missing(made) == [] for _wanted, made in versions] == [False, False, True]
    assert cache.load(other) is not None


def test_what_hosts_use_is_remembered_for_as_many_environments_as_they_keep(cache: Cache) -> None:
    def made_of(mark: str) -> dict[str, t.Any]:
        return manifest(units=[{"name": "pytorch", "fingerprint": mark * 16, "wheels": []}])

    assert cache.in_use() == []
    assert cache.record("spark02", made_of("a"), 2) is True
    assert cache.record("spark02", made_of("a"), 2) is False
    for mark in "bc":
        cache.record("spark02", made_of(mark), 2)
    cache.record("../spark03", made_of("d"), 2)
    assert cache.in_use() == ["b" * 16, "c" * 16, "d" * 16]
    assert sorted(os.listdir(cache.directory)) == ["hosts"]


def test_a_cached_wheel_is_durable_with_its_name(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int | str] = []
    replace = os.replace

    def named(source: str, target: str) -> None:
        done.append("named")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(os, "replace", named)
    (wheel,) = cache.missing(manifest())
    bring(cache, wheel, WHEEL)
    path = Path(cache.wheel(wheel))
    at = done.index("named")
    assert path.stat().st_ino in done[:at] and path.parent.stat().st_ino in done[at:]
