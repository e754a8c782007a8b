"""The action plugin wheelhouse_manifest with this machine as the builder, or with an unreachable builder."""

import base64
import hashlib
import shutil
import typing as t
from pathlib import Path

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleFileNotFound
from ansible_collections.sparkforge.dgx_spark.plugins.action.wheelhouse_manifest import ActionModule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Manifest, Wheel
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication, signature

from tests.unit.act import act
from tests.unit.web_server import Server

PLATFORM = "debian13-x86_64"
FILE = "tool-1.0+sf.1-py3-none-any.whl"


class Site:
    """A builder with one wheel in its wheelhouse, an unreachable host, and a cache."""

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
        (self.house / "manifests/mine-0123456789ab.json").write_bytes(digests.text_of(manifest).encode())

    @property
    def house(self) -> Path:
        return self.root / "wheelhouse" / PLATFORM

    def find(self, host: str = "builder", check_mode: bool = False, **options: t.Any) -> dict[str, t.Any]:
        """Return the plugin's result for the host ``builder`` or the unreachable ``gone``."""
        arguments = {"stack": "mine", "lock_id": "0123456789ab", "platform": PLATFORM, "cache": str(self.cache)}
        arguments |= {"root": str(self.root), **options}

        def answer(module: str, module_arguments: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
            if host == "gone":
                raise AnsibleConnectionFailure("Connection refused")
            assert module == "ansible.builtin.slurp"
            path = Path(module_arguments["src"])
            if not path.exists():
                return {"failed": True, "msg": f"file not found: {path}"}
            return {"content": base64.b64encode(path.read_bytes()).decode()}

        def fetch(source: str, target: str) -> None:
            if not Path(source).exists():
                raise AnsibleFileNotFound(f"file or module does not exist: {source}")
            shutil.copyfile(source, target)

        return act(ActionModule, arguments, check_mode=check_mode, host=host, answer=answer, fetch=fetch)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_the_builders_manifest_and_wheels_are_cached(site: Site) -> None:
    result = site.find(wheels=True)
    assert (result["where"], result["saved"], result["changed"]) == ("builder", True, False)
    assert result["manifest"] == site.manifest
    (wheel,) = result["wheels"]
    assert Path(wheel["path"]).read_bytes() == b"a wheel"
    assert Path(wheel["path"]).is_relative_to(site.cache)
    # The cache now suffices.
    again = site.find(host="gone", wheels=True)
    assert (again["where"], again["saved"], again["wheels"]) == ("cache", False, [wheel])


def test_check_mode_writes_nothing(site: Site) -> None:
    result = site.find(check_mode=True, wheels=True)
    assert result["manifest"] == site.manifest
    assert [wheel["sha256"] for wheel in result["wheels"]] == [hashlib.sha256(b"a wheel").hexdigest()]
    assert not site.cache.exists()


def test_a_manifest_that_is_nowhere_names_every_source(site: Site) -> None:
    signers = ["ssh-ed25519 AAAA"]
    result = site.find(host="gone", url="http://127.0.0.1:1/", signers=signers)
    assert result["failed"] is True
    assert "No build of mine (lock 0123456789ab) for debian13-x86_64 was found" in result["cause"]
    assert "http://127.0.0.1:1: No connection" in result["cause"]
    assert "gone: gone cannot be queried" in result["cause"]
    assert "playbooks/build.yml" in result["remedy"]
    result = site.find(host="gone", required=False, places=["cache", "builder"])
    assert ("failed" in result, result["manifest"]) == (False, None)


def test_a_missing_or_changed_wheel_is_named(site: Site) -> None:
    wheel = site.house / "tool/4b5c1f0e9a37d286" / FILE
    wheel.write_bytes(b"another wheel")
    result = site.find(wheels=True)
    assert f"The sha256 of {FILE} is" in result["cause"]
    wheel.unlink()
    result = site.find(wheels=True)
    assert f"The wheel {FILE} is not available: builder did not return {wheel}" in result["cause"]
    assert not list(site.cache.rglob("*.whl"))


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[signature.Signer]:
    """The keys of two builders."""
    signers = [signature.Signer(str(tmp_path_factory.mktemp("builder"))) for _number in range(2)]
    assert all(signer.make(check_mode=False) for signer in signers)
    return signers


def test_a_manifest_signed_by_a_pinned_key_is_accepted_from_every_source(site: Site, keys: list[signature.Signer]):
    site.publish(keys[0].sign(site.manifest))
    pins = [f"{key.public_key} of a builder" for key in reversed(keys)]
    assert site.find(signers=pins)["where"] == "builder"
    assert site.find(host="gone", signers=pins)["where"] == "cache"


@pytest.mark.parametrize("forged", ["unsigned", "another key", "another purpose", "another manifest", "no signature"])
def test_a_manifest_not_signed_by_a_pinned_key_is_refused(site: Site, keys, forged, monkeypatch: pytest.MonkeyPatch):
    """The seal is valid, because an attacker who changes a manifest can also seal it."""
    pinned, other = keys
    manifest = site.manifest
    if forged == "another key":
        manifest = other.sign(manifest)
    elif forged == "another purpose":
        monkeypatch.setattr(signature, "NAMESPACE", "git")
        manifest = pinned.sign(manifest)
    elif forged == "another manifest":
        manifest = {**pinned.sign(manifest), "host": "elsewhere"}
        manifest["seal"] = publication.seal(manifest)
    elif forged == "no signature":
        manifest = {**manifest, "signature": "-----BEGIN SSH SIGNATURE-----\n"}
    site.publish(manifest)
    result = site.find(signers=[pinned.public_key])
    assert "The manifest of mine on builder is " in result["cause"]
    assert ("not signed" if forged == "unsigned" else "signed by none") in result["cause"]
    assert "playbooks/build.yml" in result["remedy"] and not site.cache.exists()
    # A manifest that was cached before the key was pinned is refused too.
    assert site.find()["where"] == "builder"
    result = site.find(signers=[pinned.public_key])
    assert "The cached manifest" in result["cause"] and "Remove" in result["remedy"]


def manifest_of(site: Site, at: str, **changed: t.Any) -> Manifest:
    """Return the manifest with a different time."""
    manifest: dict[str, t.Any] = {**site.manifest, "written": at, **changed}
    return t.cast(Manifest, {**manifest, "seal": publication.seal(manifest)})


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("source", ["builder", "url"])
def test_an_older_signed_manifest_is_refused_unless_allowed(site: Site, keys, source, check_mode):
    server = Server()
    options: dict[str, t.Any] = {"signers": [keys[0].public_key], "places": [source]}
    options |= {"url": server.url} if source == "url" else {}
    served = f"/{PLATFORM}/manifests/mine-0123456789ab.json"

    def publish(manifest: Manifest) -> None:
        site.publish(keys[0].sign(manifest))
        server.files[served] = (site.house / "manifests/mine-0123456789ab.json").read_bytes()

    try:
        newest = manifest_of(site, "2026-11-22T10:00:00Z", host="another-builder")
        publish(newest)
        assert site.find(**options)["saved"] is True
        (cached,) = site.cache.rglob("mine-*.json")
        before = cached.read_bytes()
        publish(site.manifest)
        refused = site.find(**options, check_mode=check_mode)
        location = f"at {server.url}" if source == "url" else "on builder"
        assert refused["cause"].startswith(f"The manifest of mine {location} is from 2026-11-21T10:00:00Z, older")
        assert "from 2026-11-22T10:00:00Z" in refused["cause"]
        for text in ("playbooks/build.yml", "sparkforge_wheelhouse_allow_older=true"):
            assert text in refused["remedy"]
        assert cached.read_bytes() == before
        accepted = site.find(**options, allow_older=True)
        assert (accepted["manifest"]["written"], accepted["saved"]) == ("2026-11-21T10:00:00Z", True)
        # The older manifest is now in the cache, and the next one is compared with it.
        assert site.find(**options)["where"] == source
        publish(newest)
        assert site.find(**options)["manifest"]["written"] == "2026-11-22T10:00:00Z"
    finally:
        server.close()


def test_a_manifest_of_the_same_second_is_not_older(site: Site) -> None:
    assert site.find(places=["builder"])["saved"] is True
    site.publish(manifest_of(site, site.manifest["written"], python="3.13"))
    assert site.find(places=["builder"])["manifest"]["python"] == "3.13"


def test_without_signers_only_manifests_of_the_same_builder_are_compared(site: Site) -> None:
    """Two fleets with the same lock may share a cache."""
    site.publish(manifest_of(site, "2026-11-22T10:00:00Z", host="spark01-of-another-fleet"))
    assert site.find(places=["builder"])["saved"] is True
    site.publish(site.manifest)
    assert site.find(places=["builder"])["manifest"]["host"] == "builder"
    site.publish(manifest_of(site, "2026-11-20T10:00:00Z"))
    assert "from 2026-11-21T10:00:00Z" in site.find(places=["builder"])["cause"]


def test_a_manifest_published_by_this_run_replaces_the_cached_one(site: Site) -> None:
    """Such a manifest comes from the builder itself, over ssh."""
    site.publish(manifest_of(site, "2026-11-22T10:00:00Z"))
    site.find(places=["builder"])
    assert site.find(manifest=site.manifest)["saved"] is True
    assert site.find(places=["cache"])["manifest"] == site.manifest


def test_a_cached_manifest_of_an_unknown_key_is_not_compared(site: Site, keys: list[signature.Signer]) -> None:
    site.publish(keys[1].sign(manifest_of(site, "2099-01-01T00:00:00Z")))
    site.find()
    site.publish(keys[0].sign(site.manifest))
    assert site.find(signers=[keys[0].public_key], places=["builder"])["manifest"]["written"] == "2026-11-21T10:00:00Z"


@pytest.mark.parametrize("line", ["", "ssh-ed25519", "AAAA", "ssh-ed25519 AAAA\n* ssh-ed25519 BBBB"])
def test_an_invalid_public_key_is_named(site: Site, line: str) -> None:
    assert "OpenSSH public key" in site.find(signers=[line])["cause"]
