"""Test the search for a manifest against a web server that serves it, serves a login page, or requires a password."""

import base64
import copy
import hashlib
import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication, signature
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.cache import Cache
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.find import Found, Served, find_manifest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.query import Query

from tests.unit import web_server

WHEEL = b"not much of a wheel"
FILE = "torch-2.9.1+sf.4b5c1f0e-cp312-cp312-linux_aarch64.whl"
QUERY = Query("torch-2.9.1", "0123456789ab", "ubuntu24.04-aarch64", "3.12")
LOGIN = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>"
MANIFEST = f"/wheelhouse/{QUERY.platform}/manifests/{QUERY.file}"
SOURCES = ["url", "cache", "builder"]


def manifest(content: bytes = WHEEL, **changes: t.Any) -> dict[str, t.Any]:
    wheel = {
        "name": "torch", "version": "2.9.1+sf.4b5c1f0e", "file": FILE, "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }  # fmt: skip
    fields: dict[str, t.Any] = {
        **{key: value for key, value in QUERY._asdict().items() if key != "signers"},
        "host": "spark01",
        "written": "2026-11-21T10:00:00Z",
        "units": [
            {"name": "pytorch", "fingerprint": "4b5c1f0e9a37d286", "wheels": [Wheel(**wheel)]},
            {"name": "llvm", "fingerprint": "0f3a56be12c4d789", "wheels": []},
        ],
    }
    return publication.manifest(**{**fields, **changes})


class Server(web_server.Server):
    """Serves a wheelhouse's manifests."""

    def __init__(self) -> None:
        super().__init__()
        self.url += "/wheelhouse"

    def publish(self, content: dict[str, t.Any]) -> None:
        self.files[MANIFEST] = digests.text_of(content).encode()

    def require_password(self, password: str) -> None:
        self.authorization = "Basic " + base64.b64encode(f"lab:{password}".encode()).decode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    yield server
    server.close()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"), QUERY.platform)


def unused_builder(_name: str) -> bytes | None:
    raise AssertionError("the builder was queried")


def empty_builder(_name: str) -> bytes | None:
    return None


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> signature.Signer:
    """The builder's key."""
    key = signature.Signer(str(tmp_path_factory.mktemp("builder")))
    assert key.make(check_mode=False)
    return key


@pytest.fixture
def query(signer: signature.Signer) -> Query:
    return QUERY._replace(signers=[str(signer.public_key)])


def find(query: Query, cache: Cache, served=None, builder=empty_builder) -> Found:
    return find_manifest(query, SOURCES, cache, served, builder, "spark01")


@pytest.mark.parametrize(
    "platform", ["../../stolen-x86_64", "/etc-x86_64", "a/b-x86_64", "x86_64", "", "a-b\n", "a\n-b"]
)
def test_a_platform_cannot_lead_outside_the_cache(tmp_path: Path, platform: str) -> None:
    with pytest.raises(SparkforgeError, match="of a platform") as failure:
        Cache(str(tmp_path / "cache"), platform)
    assert failure.value.remedy and list(tmp_path.iterdir()) == []


def test_manifest_is_searched_at_the_url_then_in_the_cache_then_on_the_builder(server, cache, query, signer):
    signed = signer.sign(manifest())
    result = find(query, cache, Served(server.url), lambda _name: digests.text_of(signed).encode())
    assert result.where == "builder"
    assert [row["place"] for row in result.tried] == [server.url, cache.path_of(QUERY), "spark01"]
    cache.save(query, signed)
    assert find(query, cache, Served(server.url), unused_builder).where == "cache"
    server.publish(signed)
    result = find(query, cache, Served(server.url), unused_builder)
    assert (result.where, result.manifest) == ("url", signed)


def test_a_missing_manifest_lists_every_source_tried(server: Server, cache: Cache, query: Query) -> None:
    def unreachable_builder(_name: str) -> bytes | None:
        raise OSError("no route to host")

    result = find(query, cache, Served(server.url), unreachable_builder)
    assert result.manifest is None
    assert len(result.tried) == 3 and result.tried[2]["said"] == "no route to host"


def test_an_unreachable_server_is_skipped(server: Server, cache: Cache, query: Query, signer: signature.Signer) -> None:
    url = server.url
    server.close()
    cache.save(query, signer.sign(manifest()))
    result = find(query, cache, Served(url), unused_builder)
    assert result.where == "cache"
    assert "No connection" in result.tried[0]["said"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", "HTML page"), (b"  <html>", "HTML page"),
        (b"502", "its format|JSON object"), (b"\xff\xfe", "is not JSON"), (b"[" * 100_000, "is not JSON"),
        (b'{"format": ' + b"1" * 5000 + b"}", "is not"), (b"[]", "JSON object"), (b"", "is not JSON"),
    ],
)  # fmt: skip
def test_kind_of_other_document_is_named(content: bytes, message: str) -> None:
    with pytest.raises(SparkforgeError, match=message) as caught:
        QUERY.read(content, "The manifest at https://spark01/")
    assert "The manifest at https://spark01/" in caught.value.cause


@pytest.mark.parametrize("password", ["", "wrong"])
def test_a_refused_password_is_not_shown(server: Server, cache: Cache, query: Query, password: str) -> None:
    server.require_password("secret")
    with pytest.raises(SparkforgeError, match="name and password") as caught:
        find(query, cache, Served(server.url, "lab" if password else "", password))
    message = f"{caught.value} {caught.value.details}"
    assert "HTTP 401" in message
    assert "wrong" not in message
    assert "sparkforge_wheelhouse_password" in caught.value.remedy


def test_a_manifest_is_found_with_the_password(server: Server, cache: Cache, query: Query, signer: signature.Signer):
    server.require_password("p@ss/word:")
    server.publish(signer.sign(manifest()))
    assert find(query, cache, Served(server.url, "lab", "p@ss/word:"), unused_builder).where == "url"


def test_a_server_that_forbids_access_is_an_error(server: Server, cache: Cache, query: Query) -> None:
    server.statuses[MANIFEST] = [403] * 9
    with pytest.raises(SparkforgeError, match="HTTP 403"):
        find(query, cache, Served(server.url))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"platform": "debian13-x86_64"}, "platform debian13-x86_64"),
        ({"stack": "torch-2.15.0"}, "stack torch-2.15.0"),
        ({"lock_id": "ba9876543210"}, "lock ba9876543210"),
        ({"python": "3.11"}, "Python 3.11"),
    ],
)
def test_a_manifest_for_another_build_is_refused(cache: Cache, changes: dict[str, str], message: str) -> None:
    with pytest.raises(SparkforgeError, match=message) as caught:
        find(QUERY, cache, None, lambda _name: digests.text_of(manifest(**changes)).encode())
    assert caught.value.cause.startswith("The manifest of torch-2.9.1 on spark01 is for") and caught.value.remedy


def edited_manifest(change: t.Callable[[dict[str, t.Any]], object]) -> dict[str, t.Any]:
    content = copy.deepcopy(manifest())
    change(content)
    # An attacker who serves a manifest can also seal it.
    content["seal"] = publication.seal(content)
    return content


def rename(content: dict[str, t.Any], file: str) -> None:
    """Change a wheel's file name, because that name decides what a host installs."""
    content["units"][1]["wheels"][0].update(file=file, path=f"pytorch/4b5c1f0e9a37d286/{file}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: made.update(format=2), "its format is 2"),
        (lambda made: made.update(stack="../../etc"), "stack is '../../etc'"),
        (lambda made: made.update(python="3.12; rm"), "python is"),
        (lambda made: made.pop("host"), "host is missing"),
        (lambda made: made.update(host="spark01\nspark02"), "host is 'spark01"),
        (lambda made: made.update(host="{{ lookup('pipe', 'id') }}"), 'host is "{{'),
        (lambda made: made.update(host="\x1b[2J"), "host is '\\x1b"),
        (lambda made: made.update(host="a" * 300), "host is 'aaa"),
        (lambda made: made.update(written="yesterday"), "written is 'yesterday'"),
        (lambda made: made.update(written="2026-13-45T10:00:00Z"), "written is '2026-13-45T10:00:00Z'"),
        (lambda made: made.update(units={}), "units"),
        (lambda made: made["units"].append(made["units"][0]), "a unit twice"),
        (lambda made: made["units"][0].update(name="a/b"), "units[0].name is 'a/b'"),
        (lambda made: made["units"][0].update(fingerprint="1"), "units[0].fingerprint is '1'"),
        (lambda made: made["units"][0].update(wheels=None), "units[0].wheels"),
        (lambda made: made["units"][1]["wheels"][0].update(file="../x.whl"), "units[1].wheels[0].file is"),
        (lambda made: made["units"][1]["wheels"][0].update(name="torch --index-url http://x"), "wheels[0].name is"),
        (lambda made: made["units"][1]["wheels"][0].update(version="1 --hash=sha256:0"), "wheels[0].version is"),
        (lambda made: made["units"][1]["wheels"][0].update(sha256="A" * 64), "wheels[0].sha256 is"),
        (lambda made: made["units"][1]["wheels"][0].update(size=True), "wheels[0].size"),
        (lambda made: made["units"][1]["wheels"][0].update(size=10**30), "wheels[0].size"),
        (lambda made: made["units"][1]["wheels"][0].update(path="pytorch/../../x.whl"), "the path of torch"),
        (lambda made: rename(made, "pip-99-py3-none-any.whl"), "pip-99-py3-none-any.whl is not"),
        (lambda made: rename(made, FILE.replace("2.9.1", "2.9.2")), "whl is not"),
        (lambda made: rename(made, "torch.whl"), "torch.whl is not"),
    ],
)
def test_a_manifest_with_a_wrong_path_or_requirement_is_refused(cache: Cache, change: t.Any, message: str) -> None:
    with pytest.raises(SparkforgeError, match="a wheelhouse manifest") as caught:
        find(QUERY, cache, None, lambda _name: digests.text_of(edited_manifest(change)).encode())
    assert message in caught.value.cause
    # The schema itself cannot express these rules.
    beyond_schema = ("whl is not", "a unit twice", "the path of torch", "written is '2026-13-45T10:00:00Z'")
    has_problems = bool(schema.problems("manifest", edited_manifest(change)))
    assert has_problems is not any(rule in message for rule in beyond_schema)


def test_a_url_is_queried_only_with_pinned_signers(server: Server, cache: Cache) -> None:
    unsigned = manifest()
    server.publish(unsigned)
    server.statuses[MANIFEST] = [403] * 9
    result = find(QUERY, cache, Served(server.url))
    assert result.manifest is None
    assert "sparkforge_wheelhouse_signers names no key" in result.tried[0]["said"]
    # If the cache has the same manifest, the URL is not queried either.
    cache.save(QUERY, unsigned)
    assert find(QUERY, cache, Served(server.url)).where == "cache"


@pytest.mark.parametrize("url", ["spark01/wheelhouse", "ftp://spark01/x", "https://me:secret@spark01/x"])
def test_an_invalid_url_or_one_with_a_password_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(SparkforgeError) as caught:
        Served(url)
    assert "secret" not in str(caught.value)


def store(cache: Cache, wheel: dict[str, t.Any], content: bytes) -> None:
    with cache.bringing(wheel) as target:
        assert target
        Path(target).write_bytes(content)


def test_a_wheel_is_verified_before_it_gets_its_name(cache: Cache) -> None:
    content = manifest()
    (wheel,) = cache.missing(content)
    with pytest.raises(SparkforgeError, match="the manifest says") as caught:
        store(cache, wheel, b"changed on its way")
    assert f"of {wheel.file} is {hashlib.sha256(b'changed on its way').hexdigest()}" in caught.value.cause
    with pytest.raises(SparkforgeError, match="HTML page"):
        store(cache, wheel, LOGIN)
    assert not os.path.exists(cache.directory)
    store(cache, wheel, WHEEL)
    assert cache.missing(content) == []
    assert Path(cache.wheel(wheel)).parent.name == wheel.sha256
    with cache.bringing(wheel) as target:
        assert target is None


def test_the_cache_keeps_the_latest_manifests_of_a_stack_and_their_wheels(cache: Cache) -> None:
    versions = []
    for number in range(3):
        query = QUERY._replace(lock_id=f"{number:012x}")
        content = f"wheel {number}".encode()
        published = manifest(content, lock_id=query.lock_id)
        assert cache.save(query, published) is True
        assert cache.save(query, published) is False
        os.utime(cache.path_of(query), (number, number))
        store(cache, cache.missing(published)[0], content)
        versions.append((query, published))
    other = QUERY._replace(stack="mine")
    cache.save(other, manifest(stack="mine"))
    cache.save(QUERY._replace(lock_id="3" * 12), manifest(b"wheel 3", lock_id="3" * 12))
    assert [cache.load(query) is not None for query, _manifest in versions] == [False, False, True]
    assert [cache.missing(manifest) == [] for _query, manifest in versions] == [False, False, True]
    assert cache.load(other) is not None


def test_a_cached_wheel_is_synced_before_and_after_its_renaming(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int | str] = []
    replace = os.replace

    def record_replace(source: str, target: str) -> None:
        calls.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", lambda descriptor: calls.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(os, "replace", record_replace)
    (wheel,) = cache.missing(manifest())
    store(cache, wheel, WHEEL)
    path = Path(cache.wheel(wheel))
    replaced = calls.index("replace")
    assert path.stat().st_ino in calls[:replaced] and path.parent.stat().st_ino in calls[replaced:]
