"""The plugin with a builder that is this machine, or one that nobody can reach."""

import base64
import hashlib
import shutil
import typing as t
from pathlib import Path

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleFileNotFound
from ansible_collections.sparkforge.dgx_spark.plugins.action.wheelhouse_manifest import ActionModule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Manifest, Wheel
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication, signature

from tests.unit.act import act
from tests.unit.web_server import Server

PLATFORM = "debian13-x86_64"
FILE = "tool-1.0+sf.1-py3-none-any.whl"


class Site:
    """A builder with one wheel in its wheelhouse, a host that nobody reaches, and a cache."""

    def __init__(self, path: Path) -> None:
        self.path, self.root, self.cache = path, path / "root", path / "cache"
        wheel = self.house / "tool/4b5c1f0e9a37d286" / FILE
        wheel.parent.mkdir(parents=True)
        wheel.write_bytes(b"a wheel")
        listed = {"name": "tool", "version": "1.0+sf.1", "file": FILE, "size": 7}
        listed["sha256"] = hashlib.sha256(b"a wheel").hexdigest()
        units = [{"name": "tool", "fingerprint": "4b5c1f0e9a37d286", "wheels": [Wheel(**listed)]}]
        self.manifest = publication.manifest(
            stack="mine", lock_id="0123456789ab", platform=PLATFORM, python="3.12", host="builder",
            written="2026-11-21T10:00:00Z", units=units,
        )  # fmt: skip
        (self.house / "manifests").mkdir()
        self.publish(self.manifest)

    def publish(self, manifest: Manifest) -> None:
        (self.house / "manifests/mine-0123456789ab.json").write_bytes(publication.text_of(manifest))

    @property
    def house(self) -> Path:
        return self.root / "wheelhouse" / PLATFORM

    def find(self, host: str = "builder", check_mode: bool = False, **options: t.Any) -> dict[str, t.Any]:
        """Return what the plugin says for a host: ``builder``, or ``gone``, which nobody reaches."""
        given = {"stack": "mine", "lock_id": "0123456789ab", "platform": PLATFORM, "cache": str(self.cache)}

        def answer(module: str, arguments: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
            if host == "gone":
                raise AnsibleConnectionFailure("Connection refused")
            assert module == "ansible.builtin.slurp"
            path = Path(arguments["src"])
            if not path.exists():
                return {"failed": True, "msg": f"file not found: {path}"}
            return {"content": base64.b64encode(path.read_bytes()).decode()}

        def fetch(source: str, target: str) -> None:
            if not Path(source).exists():
                raise AnsibleFileNotFound(f"file or module does not exist: {source}")
            shutil.copyfile(source, target)

        given |= {"root": str(self.root), **options}
        return act(ActionModule, given, check_mode=check_mode, host=host, answer=answer, fetch=fetch)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_what_the_builder_has_is_kept_and_its_wheels_are_brought(site: Site) -> None:
    found = site.find(wheels=True)
    assert (found["where"], found["saved"], found["changed"]) == ("builder", True, False)
    assert found["manifest"] == site.manifest
    (wheel,) = found["wheels"]
    assert Path(wheel["path"]).read_bytes() == b"a wheel"
    assert Path(wheel["path"]).is_relative_to(site.cache)
    # Now nobody needs to be asked.
    again = site.find(host="gone", wheels=True)
    assert (again["where"], again["saved"], again["wheels"]) == ("cache", False, [wheel])


def test_check_mode_writes_nothing(site: Site) -> None:
    found = site.find(check_mode=True, wheels=True)
    assert found["manifest"] == site.manifest
    assert [wheel["sha256"] for wheel in found["wheels"]] == [hashlib.sha256(b"a wheel").hexdigest()]
    assert not site.cache.exists()


def test_where_no_place_has_it_each_is_named(site: Site) -> None:
    signers = ["ssh-ed25519 AAAA"]
    found = site.find(host="gone", url="http://127.0.0.1:1/", signers=signers)
    assert found["failed"] is True
    assert "No build of mine (lock 0123456789ab) for debian13-x86_64 was found" in found["cause"]
    assert "http://127.0.0.1:1: No connection" in found["cause"]
    assert "gone: gone cannot be queried" in found["cause"]
    assert "playbooks/build.yml" in found["remedy"]
    found = site.find(host="gone", required=False, places=["cache", "builder"])
    assert ("failed" in found, found["manifest"]) == (False, None)


def test_a_wheel_that_is_gone_or_was_changed_is_named(site: Site) -> None:
    wheel = site.house / "tool/4b5c1f0e9a37d286" / FILE
    wheel.write_bytes(b"another wheel")
    found = site.find(wheels=True)
    assert f"The sha256 of {FILE} is" in found["cause"]
    wheel.unlink()
    found = site.find(wheels=True)
    assert f"The wheel {FILE} is not available: builder did not return {wheel}" in found["cause"]
    assert not list(site.cache.rglob("*.whl"))


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[signature.Signer]:
    """The keys of two builders."""
    made = [signature.Signer(str(tmp_path_factory.mktemp("builder"))) for _number in range(2)]
    assert all(signer.make(check_mode=False) for signer in made)
    return made


def test_a_manifest_that_a_pinned_key_signed_is_taken_from_anywhere(site: Site, keys: list[signature.Signer]) -> None:
    site.publish(keys[0].sign(site.manifest))
    pins = [f"{key.public_key} of a builder" for key in reversed(keys)]
    assert site.find(signers=pins)["where"] == "builder"
    assert site.find(host="gone", signers=pins)["where"] == "cache"


@pytest.mark.parametrize("forged", ["unsigned", "another key", "another purpose", "another manifest", "no signature"])
def test_a_manifest_that_no_pinned_key_signed_is_refused(
    site: Site, keys: list[signature.Signer], forged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its seal is right: whoever changes a manifest can seal it."""
    mine, other = keys
    manifest = site.manifest
    if forged == "another key":
        manifest = other.sign(manifest)
    elif forged == "another purpose":
        monkeypatch.setattr(signature, "NAMESPACE", "git")
        manifest = mine.sign(manifest)
    elif forged == "another manifest":
        manifest = {**mine.sign(manifest), "host": "elsewhere"}
        manifest["seal"] = publication.seal(manifest)
    elif forged == "no signature":
        manifest = {**manifest, "signature": "-----BEGIN SSH SIGNATURE-----\n"}
    site.publish(manifest)
    found = site.find(signers=[mine.public_key])
    assert "The manifest of mine on builder is " in found["cause"]
    assert ("not signed" if forged == "unsigned" else "signed by none of") in found["cause"]
    assert "playbooks/build.yml" in found["remedy"] and not site.cache.exists()
    # One that was cached before the key was pinned is not believed either.
    assert site.find()["where"] == "builder"
    found = site.find(signers=[mine.public_key])
    assert "The cached manifest" in found["cause"] and "Remove" in found["remedy"]


def written(site: Site, at: str, **changed: t.Any) -> Manifest:
    """Return the manifest as of another time."""
    made: dict[str, t.Any] = {**site.manifest, "written": at, **changed}
    return t.cast(Manifest, {**made, "seal": publication.seal(made)})


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("place", ["builder", "url"])
def test_an_older_manifest_that_is_signed_is_refused_unless_it_is_asked_for(
    site: Site, keys: list[signature.Signer], place: str, check_mode: bool
) -> None:
    server = Server()
    options: dict[str, t.Any] = {"signers": [keys[0].public_key], "places": [place]}
    options |= {"url": server.url} if place == "url" else {}
    served = f"/{PLATFORM}/manifests/mine-0123456789ab.json"

    def publish(manifest: Manifest) -> None:
        site.publish(keys[0].sign(manifest))
        server.files[served] = (site.house / "manifests/mine-0123456789ab.json").read_bytes()

    try:
        newest = written(site, "2026-11-22T10:00:00Z", host="another-builder")
        publish(newest)
        assert site.find(**options)["saved"] is True
        (kept,) = site.cache.rglob("mine-*.json")
        before = kept.read_bytes()
        publish(site.manifest)
        refused = site.find(**options, check_mode=check_mode)
        where = f"at {server.url}" if place == "url" else "on builder"
        older, newer = "2026-11-21T10:00:00Z", "2026-11-22T10:00:00Z"
        assert (
            refused["cause"] == f"The manifest of mine {where} is of {older}, older than that of {newer} in the cache."
        )
        for words in ("playbooks/build.yml", "sparkforge_wheelhouse_allow_older=true"):
            assert words in refused["remedy"]
        assert kept.read_bytes() == before
        taken = site.find(**options, allow_older=True)
        assert (taken["manifest"]["written"], taken["saved"]) == ("2026-11-21T10:00:00Z", True)
        # From now on it is the one that is known.
        assert site.find(**options)["where"] == place
        publish(newest)
        assert site.find(**options)["manifest"]["written"] == "2026-11-22T10:00:00Z"
    finally:
        server.close()


def test_a_manifest_of_the_same_second_is_not_older(site: Site) -> None:
    assert site.find(places=["builder"])["saved"] is True
    site.publish(written(site, site.manifest["written"], python="3.13"))
    assert site.find(places=["builder"])["manifest"]["python"] == "3.13"


def test_without_signers_only_the_same_builder_s_counts(site: Site) -> None:
    """Two fleets with stacks of the same lock may share a cache."""
    site.publish(written(site, "2026-11-22T10:00:00Z", host="spark01-of-another-fleet"))
    assert site.find(places=["builder"])["saved"] is True
    site.publish(site.manifest)
    assert site.find(places=["builder"])["manifest"]["host"] == "builder"
    site.publish(written(site, "2026-11-20T10:00:00Z"))
    assert "older than that of 2026-11-21T10:00:00Z" in site.find(places=["builder"])["cause"]


def test_what_this_run_has_published_counts_whatever_the_cache_has(site: Site) -> None:
    """The builder itself was asked, over ssh."""
    site.publish(written(site, "2026-11-22T10:00:00Z"))
    site.find(places=["builder"])
    assert site.find(manifest=site.manifest)["saved"] is True
    assert site.find(places=["cache"])["manifest"] == site.manifest


def test_one_in_the_cache_that_no_pinned_key_signed_says_nothing_of_others(
    site: Site, keys: list[signature.Signer]
) -> None:
    site.publish(keys[1].sign(written(site, "2099-01-01T00:00:00Z")))
    site.find()
    site.publish(keys[0].sign(site.manifest))
    assert site.find(signers=[keys[0].public_key], places=["builder"])["manifest"]["written"] == "2026-11-21T10:00:00Z"


@pytest.mark.parametrize("line", ["", "ssh-ed25519", "AAAA", "ssh-ed25519 AAAA\n* ssh-ed25519 BBBB"])
def test_what_is_no_public_key_is_named(site: Site, line: str) -> None:
    found = site.find(signers=[line])
    assert "which is not an OpenSSH public key" in found["cause"]
