"""Where a manifest is looked for, against a real server that serves it, a login page, or asks for a password."""

import base64
import copy
import hashlib
import os
import typing as t
from pathlib import Path

import pytest
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
WANTED = Query("torch-2.9.1", "0123456789ab", "ubuntu24.04-aarch64", "3.12")
LOGIN = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>"
MANIFEST = f"/wheelhouse/{WANTED.platform}/manifests/{WANTED.file}"
PLACES = ["url", "cache", "builder"]


def manifest(content: bytes = WHEEL, **changes: t.Any) -> dict[str, t.Any]:
    wheel = {
        "name": "torch",
        "version": "2.9.1+sf.4b5c1f0e",
        "file": FILE,
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


class Server(web_server.Server):
    """Serves manifests below a wheelhouse."""

    def __init__(self) -> None:
        super().__init__()
        self.url += "/wheelhouse"

    def publish(self, made: dict[str, t.Any]) -> None:
        self.files[MANIFEST] = publication.text_of(made)

    def ask_for(self, password: str) -> None:
        self.authorization = "Basic " + base64.b64encode(f"lab:{password}".encode()).decode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Server()
    yield made
    made.close()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"), WANTED.platform)


def nobody(_name: str) -> bytes | None:
    raise AssertionError("the builder is not to be asked")


def lacks(_name: str) -> bytes | None:
    return None


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> signature.Signer:
    """The key of the builder."""
    made = signature.Signer(str(tmp_path_factory.mktemp("builder")))
    assert made.make(check_mode=False)
    return made


@pytest.fixture
def wanted(signer: signature.Signer) -> Query:
    return WANTED._replace(signers=[str(signer.public_key)])


def find(
    wanted: Query, cache: Cache, served: Served | None = None, builder: t.Callable[[str], bytes | None] = lacks
) -> Found:
    return find_manifest(wanted, PLACES, cache, served, builder, "spark01")


# --------------------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    "platform", ["../../stolen-x86_64", "/etc-x86_64", "a/b-x86_64", "x86_64", "", "a-b\n", "a\n-b"]
)
def test_no_platform_that_a_host_names_leads_out_of_the_cache(tmp_path: Path, platform: str) -> None:
    with pytest.raises(SparkforgeError, match="is not the name of a platform") as failure:
        Cache(str(tmp_path / "cache"), platform)
    assert failure.value.remedy and list(tmp_path.iterdir()) == []


def test_find_asks_the_url_then_the_cache_then_the_builder(
    server: Server, cache: Cache, wanted: Query, signer: signature.Signer
) -> None:
    made = signer.sign(manifest())
    found = find(wanted, cache, Served(server.url), lambda _name: publication.text_of(made))
    assert found.where == "builder"
    assert [row["place"] for row in found.tried] == [server.url, cache.path_of(WANTED), "spark01"]
    cache.save(wanted, made)
    assert find(wanted, cache, Served(server.url), nobody).where == "cache"
    server.publish(made)
    found = find(wanted, cache, Served(server.url), nobody)
    assert (found.where, found.manifest) == ("url", made)


def test_where_nobody_has_it_each_place_says_so(server: Server, cache: Cache, wanted: Query) -> None:
    def silent(_name: str) -> bytes | None:
        raise OSError("spark01 cannot be asked: no route to host")

    found = find(wanted, cache, Served(server.url), silent)
    assert found.manifest is None
    assert [row["said"] for row in found.tried] == [
        "does not have it",
        "does not have it",
        "spark01 cannot be asked: no route to host",
    ]


def test_a_server_that_does_not_answer_is_passed_over(
    server: Server, cache: Cache, wanted: Query, signer: signature.Signer
) -> None:
    url = server.url
    server.close()
    cache.save(wanted, signer.sign(manifest()))
    found = find(wanted, cache, Served(url), nobody)
    assert found.where == "cache"
    assert "No connection" in found.tried[0]["said"]


# ------------------------------------------------------------------------------------------- what is no manifest


def test_an_html_page_with_status_200_is_no_manifest(server: Server, cache: Cache, wanted: Query) -> None:
    server.files[MANIFEST] = LOGIN
    with pytest.raises(SparkforgeError, match="is an HTML page") as caught:
        find(wanted, cache, Served(server.url))
    assert "proxy or a login page" in caught.value.remedy


@pytest.mark.parametrize("given", ["", "wrong"])
def test_a_refused_password_is_said_and_never_shown(server: Server, cache: Cache, wanted: Query, given: str) -> None:
    server.ask_for("secret")
    with pytest.raises(SparkforgeError, match="user name and password") as caught:
        find(wanted, cache, Served(server.url, "lab" if given else "", given))
    said = f"{caught.value} {caught.value.details}"
    assert "HTTP 401" in said
    assert "wrong" not in said
    assert "sparkforge_wheelhouse_password" in caught.value.remedy


def test_with_the_password_it_is_found(server: Server, cache: Cache, wanted: Query, signer: signature.Signer) -> None:
    server.ask_for("p@ss/word:")
    server.publish(signer.sign(manifest()))
    assert find(wanted, cache, Served(server.url, "lab", "p@ss/word:"), nobody).where == "url"


def test_a_server_that_forbids_is_not_passed_over(server: Server, cache: Cache, wanted: Query) -> None:
    server.statuses[MANIFEST] = [403] * 9
    with pytest.raises(SparkforgeError, match="HTTP 403"):
        find(wanted, cache, Served(server.url))


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
    with pytest.raises(SparkforgeError, match=said) as caught:
        find(WANTED, cache, None, lambda _name: publication.text_of(manifest(**changes)))
    assert caught.value.cause.startswith("The manifest of torch-2.9.1 on spark01 is for") and caught.value.remedy


def test_a_manifest_that_was_changed_is_refused(
    server: Server, cache: Cache, wanted: Query, signer: signature.Signer
) -> None:
    made = signer.sign(manifest())
    made["units"][-1]["wheels"][0]["sha256"] = "0" * 64
    server.publish(made)
    with pytest.raises(SparkforgeError, match="was changed after it was written"):
        find(wanted, cache, Served(server.url))


def broken(change: t.Callable[[dict[str, t.Any]], object]) -> dict[str, t.Any]:
    made = copy.deepcopy(manifest())
    change(made)
    # Sealed anew: whoever serves it can do that.
    made["seal"] = publication.seal(made)
    return made


def renamed(made: dict[str, t.Any], file: str) -> None:
    """Have the row of a wheel name another file: what a host installs is what its name says."""
    made["units"][1]["wheels"][0].update(file=file, path=f"pytorch/4b5c1f0e9a37d286/{file}")


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
        (lambda made: made["units"].append(made["units"][0]), "lists a unit twice"),
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
        (lambda made: renamed(made, "pip-99-py3-none-any.whl"), "pip-99-py3-none-any.whl is no wheel of torch 2.9.1"),
        (lambda made: renamed(made, FILE.replace("2.9.1", "2.9.2")), "is no wheel of torch 2.9.1"),
        (lambda made: renamed(made, "torch.whl"), "torch.whl is no wheel of torch 2.9.1"),
    ],
)
def test_a_manifest_with_a_wrong_path_or_requirement_is_refused(cache: Cache, change: t.Any, message: str) -> None:
    with pytest.raises(SparkforgeError, match="is not a wheelhouse manifest") as caught:
        find(WANTED, cache, None, lambda _name: publication.text_of(broken(change)))
    assert message in caught.value.cause
    # What no schema can say.
    beyond = "is no wheel of" in message or message in (
        "lists a unit twice",
        "the path of torch",
        "written is '2026-13-45T10:00:00Z'",
    )
    assert bool(schema.problems("manifest", broken(change))) is not beyond


def test_a_spoilt_cache_names_the_file_to_remove(cache: Cache) -> None:
    path = Path(cache.path_of(WANTED))
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(SparkforgeError) as caught:
        find(WANTED, cache)
    assert str(path) in caught.value.remedy


# ------------------------------------------------------------------------------------------------------ trust


def test_a_url_is_asked_only_where_a_signature_can_vouch_for_its_manifest(server: Server, cache: Cache) -> None:
    made = manifest()
    server.publish(made)
    server.statuses[MANIFEST] = [403] * 9
    found = find(WANTED, cache, Served(server.url))
    assert found.manifest is None
    assert "sparkforge_wheelhouse_signers names no key" in found.tried[0]["said"]
    # Nor where the cache has the same one.
    cache.save(WANTED, made)
    assert find(WANTED, cache, Served(server.url)).where == "cache"


def test_a_manifest_that_a_pinned_key_signed_is_taken(
    server: Server, cache: Cache, wanted: Query, signer: signature.Signer
) -> None:
    server.publish(signer.sign(manifest()))
    assert find(wanted, cache, Served(server.url)).where == "url"
    server.publish(manifest())
    with pytest.raises(SparkforgeError, match="is not signed"):
        find(wanted, cache, Served(server.url))


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
