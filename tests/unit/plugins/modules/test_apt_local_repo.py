"""apt_local_repo: verifying and installing a .deb. The tests leave this machine unchanged."""

import hashlib
import shutil
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import local_repo, sources
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import dpkg
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.apt_state import AptState
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host

from tests.unit.run_module import run_module
from tests.unit.signed_repository import Keys, build_deb, require

require("gpg", "gpgconf", "dpkg-deb", "ar")

VERSION = "0.8.1"
PACKAGE = f"cusparselt-local-repo-ubuntu2404-{VERSION}"


def run(argv: list[str]) -> tuple[int, str, str]:
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


class Maker(t.NamedTuple):
    keys: Keys
    fingerprint: str
    other: str


@pytest.fixture(scope="module")
def maker(tmp_path_factory) -> t.Iterator[Maker]:
    keys = Keys(tmp_path_factory.mktemp("g") / "h")
    yield Maker(keys, keys.make("Vendor <v@example.invalid>"), keys.make("Other <o@example.invalid>"))
    keys.close()


def repository(tmp_path: Path, maker: Maker) -> Path:
    """Return the tree of a local repository that contains one package."""
    tree = tmp_path / "tree"
    folder = tree / "var" / PACKAGE
    folder.mkdir(parents=True)
    inner = tmp_path / "inner"
    (inner / "usr/lib").mkdir(parents=True)
    (inner / "usr/lib/libcusparseLt.so.0").write_text("library")
    build_deb(inner, folder, Package="libcusparselt0-cuda-13", Version="0.8.1.1-1", Architecture="all")
    (folder / "cusparselt-local-ABCD-keyring.gpg").write_bytes(maker.keys.gpg("--export", maker.fingerprint))
    return tree


def pack(tree: Path, tmp_path: Path, package: str = PACKAGE, **more: str) -> Path:
    (tree / "etc/apt/sources.list.d").mkdir(parents=True, exist_ok=True)
    (tree / "etc/cron.d").mkdir(exist_ok=True)
    (tree / "etc/cron.d/unsigned").write_text("* * * * * root true\n")
    (tree / f"etc/apt/sources.list.d/{package}.list").write_text(f"deb [trusted=yes] file:///var/{package} /\n")
    (tree / "DEBIAN").mkdir(exist_ok=True)
    script = tree / "DEBIAN/postinst"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    return build_deb(tree, tmp_path, **{"Package": package, "Version": f"{VERSION}-1", "Architecture": "all", **more})


class FakeApt:
    """A host in a directory; instead of installing a .deb, it keeps a copy."""

    def __init__(self, root: Path) -> None:
        (root / "var/lib/dpkg").mkdir(parents=True)
        (root / "var/lib/dpkg/arch").write_text("arm64\n")
        self.status = root / "var/lib/dpkg/status"
        self.status.write_text("")
        self.state = AptState(Host(root=str(root), run=run))
        self.installed: Path = root / "installed.deb"
        self.calls: list[list[str]] = []

    def packages(self) -> t.Any:
        return dpkg.packages(self.state.host)

    def run(self, argv: list[str], action: str) -> str:
        self.calls.append(argv)
        if argv[1] == "--install":
            shutil.copy(argv[2], self.installed)
        return ""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeApt:
    root, work = tmp_path / "host", tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr(local_repo, "WORK", str(work))
    monkeypatch.setattr(sources, "KEYRINGS", str(root / "keyrings"))
    monkeypatch.setattr(sources, "LISTS", str(root / "lists"))
    return FakeApt(root)


def local(apt: FakeApt, tmp_path: Path, deb: Path | None, **more: t.Any) -> local_repo.LocalRepository:
    url = None if deb is None else deb.as_uri()
    check_mode = more.pop("check_mode", False)
    options = {"name": "cusparselt", "version": VERSION, "url": url, "root": str(tmp_path / "root")}
    options |= {"sha256": None, **more}
    return local_repo.LocalRepository(t.cast(t.Any, apt), options, check_mode)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def assert_untouched(apt: FakeApt, tmp_path: Path) -> None:
    assert not [call for call in apt.calls if call[0] == "dpkg"]
    assert list((tmp_path / "work").iterdir()) == []
    assert not (tmp_path / "root").exists()


@pytest.fixture
def no_configure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_repo.LocalRepository, "_configure", lambda *_: None)


def test_a_wrong_sha256_is_refused(apt, tmp_path, maker):
    deb = pack(repository(tmp_path, maker), tmp_path)
    with pytest.raises(SparkforgeError, match=f"is {sha256(deb)}, expected {'0' * 64}"):
        local(apt, tmp_path, deb, sha256="0" * 64).present()
    assert_untouched(apt, tmp_path)


@pytest.mark.parametrize(
    ("package", "more", "message"),
    [
        ("cudss-local-repo-ubuntu2404-0.8.1", {}, "local repository of cusparselt"),
        ("cusparselt-local-repo-ubuntu2404-0.8.0", {"Version": "0.8.0-1"}, "not version 0.8.1"),
        (PACKAGE, {"Architecture": "amd64"}, "for amd64, but"),
    ],
)
def test_another_package_version_or_architecture_is_refused(apt, tmp_path, maker, package, more, message):
    deb = pack(repository(tmp_path, maker), tmp_path, package, **more)
    with pytest.raises(SparkforgeError, match=message):
        local(apt, tmp_path, deb, sha256=sha256(deb)).present()
    assert_untouched(apt, tmp_path)


def test_a_deb_without_a_repository_is_refused(apt, tmp_path):
    tree = tmp_path / "tree"
    (tree / "var/elsewhere").mkdir(parents=True)
    (tree / "var/elsewhere/file").write_text("x")
    deb = pack(tree, tmp_path)
    with pytest.raises(SparkforgeError, match=f"no repository at /var/{PACKAGE}/") as raised:
        local(apt, tmp_path, deb, sha256=sha256(deb)).present()
    assert raised.value.remedy
    assert_untouched(apt, tmp_path)


@pytest.mark.parametrize("option", ["trusted=yes", "trusted=no", "Trusted=yes"])
def test_a_source_with_option_trusted_is_rewritten(apt, tmp_path, maker, monkeypatch, option):
    folder = tmp_path / "var" / PACKAGE
    folder.mkdir(parents=True)
    ring = maker.keys.gpg("--export", maker.fingerprint)
    (folder / "cusparselt-keyring.gpg").write_bytes(ring)
    keyring = Path(sources.KEYRINGS) / "cusparselt-keyring.gpg"
    keyring.parent.mkdir()
    keyring.write_bytes(ring)
    source = tmp_path / "one.list"
    row = {"file": str(source), "signed_by": str(keyring)}
    monkeypatch.setattr(local_repo, "_keyring_in", lambda *_a, **_k: str(folder / "cusparselt-keyring.gpg"))
    monkeypatch.setattr(sources, "has_lists", lambda _url: True)
    monkeypatch.setattr(local_repo.LocalRepository, "_source_of", lambda *_a: [row])
    repository = local(apt, tmp_path, None)
    sound = f"deb [signed-by={keyring}] file:///var/{PACKAGE} /\n"
    source.write_text(sound)
    assert repository._is_configured(PACKAGE)
    source.write_text(f"deb [signed-by={keyring} {option}] file:///var/{PACKAGE} /\n")
    assert not repository._is_configured(PACKAGE)
    # The keyring no longer belongs to the repository.
    source.write_text(sound)
    keyring.write_bytes(maker.keys.gpg("--export", maker.other))
    assert not repository._is_configured(PACKAGE)
    # A run was killed before apt had fetched the package lists.
    keyring.write_bytes(ring)
    monkeypatch.setattr(sources, "has_lists", lambda _url: False)
    assert not repository._is_configured(PACKAGE)


@pytest.mark.parametrize(
    "name", ["cusparselt-a.gpg\nTrusted: yes\n.gpg", "ubuntu-archive-keyring.gpg", "cusparselt-.gpg"]
)
def test_a_keyring_with_a_foreign_or_multiline_name_is_refused(tmp_path, maker, name):
    """The keyring's name is used in an apt file name and in a source entry."""
    folder = repository(tmp_path, maker) / "var" / PACKAGE
    (folder / "cusparselt-local-ABCD-keyring.gpg").rename(folder / name)
    with pytest.raises(SparkforgeError, match=r"The keyring in .* is called .*, not cusparselt-….gpg"):
        local_repo._keyring_in(str(folder))


def test_a_deb_with_the_right_sha256_is_installed_unchanged(apt, tmp_path, maker, no_configure):
    deb = pack(repository(tmp_path, maker), tmp_path)
    assert local(apt, tmp_path, deb, sha256=sha256(deb).upper()).present()["changed"]
    assert apt.installed.read_bytes() == deb.read_bytes()


def test_an_install_that_cannot_be_configured_is_purged(apt, tmp_path, maker, monkeypatch):
    noted = tmp_path / "root/receipts/.apt_local_repo-cusparselt.begun"

    def fail(_self, package):
        # If a run is killed here, this file tells the next run that the module installed the package.
        assert noted.read_text().strip() == package
        raise SparkforgeError("the update failed", "mend it")

    monkeypatch.setattr(local_repo.LocalRepository, "_configure", fail)
    deb = pack(repository(tmp_path, maker), tmp_path)
    with pytest.raises(SparkforgeError, match="the update failed"):
        local(apt, tmp_path, deb, sha256=sha256(deb)).present()
    assert ["dpkg", "--purge", PACKAGE] in apt.calls
    assert not noted.exists()


def test_older_repositories_are_removed_after_the_new_one_is_installed(apt, tmp_path, maker, no_configure):
    old = "cusparselt-local-repo-ubuntu2404-0.8.0"
    left = "cusparselt-local-repo-ubuntu2204-0.7.1"
    apt.status.write_text(
        f"Package: {old}\nStatus: install ok installed\nVersion: 0.8.0-1\n\n"
        f"Package: {left}\nStatus: deinstall ok config-files\nVersion: 1.0-1\n"
    )
    deb = pack(repository(tmp_path, maker), tmp_path)
    assert local(apt, tmp_path, deb, sha256=sha256(deb)).present()["retired"] == [left, old]
    order = [call[1] for call in apt.calls if call[0] == "dpkg"]
    assert order == ["--install", "--purge", "--purge"]


def test_check_mode_downloads_nothing(apt, tmp_path):
    result = local(apt, tmp_path, tmp_path / "never-fetched.deb", sha256="0" * 64, check_mode=True).present()
    assert result["changed"]
    assert result["diff"]["after"] == "cusparselt-local-repo 0.8.1\n"
    assert_untouched(apt, tmp_path)


def test_a_repository_without_its_keyring_is_configured_again(apt, tmp_path):
    apt.status.write_text(f"Package: {PACKAGE}\nStatus: install ok installed\nVersion: {VERSION}-1\n")
    source = tmp_path / "host/etc/apt/sources.list.d/x.list"
    source.parent.mkdir(parents=True)
    source.write_text(f"deb [signed-by=/x.gpg] file:///var/{PACKAGE} /\n")
    assert local(apt, tmp_path, None, check_mode=True).present()["changed"]
    assert_untouched(apt, tmp_path)


def test_absent_can_keep_a_repository_that_the_module_did_not_install(apt, tmp_path):
    apt.status.write_text(f"Package: {PACKAGE}\nStatus: install ok installed\nVersion: {VERSION}-1\n")
    assert not local(apt, tmp_path, None).absent(keep_foreign=True)["changed"]
    assert_untouched(apt, tmp_path)
    assert local(apt, tmp_path, None).absent()["retired"] == [PACKAGE]


def test_absent_of_a_missing_repository_is_no_change(apt, tmp_path):
    assert not local(apt, tmp_path, None, version=None).absent()["changed"]
    assert apt.calls == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "no-such-thing"}, "version"),
        ({"name": "no-such-thing", "version": "1; rm"}, "not a version"),
        ({"name": "../x", "version": "1"}, "valid local repository"),
        ({"name": "no-such-thing", "version": "1", "sha256": "abc"}, "is not a sha256"),
        ({"name": "no-such-thing", "version": "1", "key_fingerprint": "3BF863CC"}, "Unsupported parameters"),
        ({"name": "no-such-thing", "version": "1"}, "no URL is"),
        ({"name": "no-such-thing", "version": "1", "url": "https://x.invalid/x.deb"}, "its sha256 is not set"),
    ],
)
def test_faulty_arguments_are_one_message_of_the_module(tmp_path, arguments: dict, message: str):
    result = run_module("apt_local_repo", root=str(tmp_path / "root"), **arguments)
    assert result["failed"]
    assert message in result["msg"]
    assert not (tmp_path / "root").exists()
