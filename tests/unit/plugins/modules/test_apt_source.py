"""apt_source: recognising sources, keys and removal. The tests leave this machine unchanged."""

import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import openpgp, sources as _apt_source
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.apt_state import AptState
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host

from tests.unit.run_module import run_module
from tests.unit.signed_repository import Keys, require

require("gpg", "gpgconf")

URL = "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa/"


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> t.Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("g")
    keys = Keys(folder / "h")
    fingerprint = keys.make("Repository <r@example.invalid>")
    (folder / "key.pub").write_bytes(keys.gpg("--armor", "--export", fingerprint))
    yield fingerprint, folder / "key.pub"
    keys.close()


class State(AptState):
    """Returns paths as this process sees them, because the core writes to absolute paths."""

    def sources(self) -> list[dict[str, t.Any]]:
        return [{**row, "file": self.host.path(row["file"])} for row in super().sources()]


class FakeApt:
    """apt on a host in a directory; if ``complaint`` is set, an update raises it."""

    def __init__(self, root: Path) -> None:
        self.state = State(Host(root=str(root)))
        self.updated: list[str] = []
        self.complaint: SparkforgeError | None = None

    def update_source(self, file: str) -> None:
        self.updated.append(file)
        if self.complaint:
            raise self.complaint


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeApt:
    root = tmp_path / "host"
    for name, path in (("SOURCES", "etc/apt/sources.list.d"), ("KEYRINGS", "usr/share/keyrings"), ("LISTS", "lists")):
        (root / path).mkdir(parents=True)
        monkeypatch.setattr(_apt_source, name, str(root / path))
    return FakeApt(root)


def source(apt: FakeApt, key: tuple[str, Path], **more: t.Any) -> _apt_source.Source:
    check_mode = more.pop("check_mode", False)
    options = {"name": "cuda", "url": URL}
    options |= {"key_url": key[1].as_uri(), "key_fingerprint": key[0], **more}
    return _apt_source.Source(t.cast(t.Any, apt), options, check_mode)


def files(apt: FakeApt) -> dict[str, bytes]:
    root = Path(apt.state.host.root)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def vendor(apt: FakeApt, name: str, text: str) -> None:
    (Path(_apt_source.SOURCES) / name).write_text(text)


def test_the_source_names_its_keyring_and_only_its_lists_are_fetched(apt, key):
    result = source(apt, key).present()
    assert result["changed"]
    assert apt.updated == [result["file"]]
    text = Path(result["file"]).read_text()
    assert f"URIs: {URL}\nSuites: /\nSigned-By: {result['keyring']}\n" in text
    assert "trusted" not in text.lower()
    assert Path(result["keyring"]).stat().st_mode & 0o777 == 0o644
    # The key file is armoured, the keyring is not.
    assert Path(result["keyring"]).read_bytes() == openpgp.require_fingerprint(key[1].read_bytes(), key[0], "")


def test_check_mode_returns_the_same_and_writes_nothing(apt, key):
    checked = source(apt, key, check_mode=True).present()
    assert files(apt) == {}
    assert checked == source(apt, key).present()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cuda-compute-repo.sources", f"Types: deb\nURIs: {URL}\nSuites: /\nSigned-By: /usr/share/keyrings/x.gpg\n"),
        ("any.list", f"deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] {URL} /\n"),
        ("any.list", f"deb [arch=arm64] {URL.rstrip('/')} ./\n"),
        ("upper.list", f"deb {URL.replace('developer', 'Developer')}/ /\n"),
    ],
)
def test_the_vendors_source_is_recognised_by_its_content(apt, key, name: str, text: str):
    vendor(apt, name, text)
    before = files(apt)
    result = source(apt, key).present()
    assert result["changed"] is False
    assert result["file"].endswith(name)
    assert files(apt) == before
    assert apt.updated == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("off.sources", f"Enabled: no\nTypes: deb\nURIs: {URL}\nSuites: /\n"),
        ("commented.list", f"# deb {URL} /\n"),
        ("src.list", f"deb-src {URL} /\n"),
        ("other.list", f"deb {URL.replace('sbsa', 'x86_64')} /\n"),
        ("x.list.disabled", f"deb {URL} /\n"),
    ],
)
def test_a_source_without_packages_of_this_url_is_not_recognised(apt, key, name: str, text: str):
    vendor(apt, name, text)
    assert source(apt, key).present()["changed"]


def test_our_source_is_removed_when_the_vendors_exists(apt, key):
    source(apt, key).present()
    vendor(apt, "cuda-compute-repo.list", f"deb {URL} /\n")
    assert source(apt, key).present()["changed"]
    assert list(files(apt)) == ["etc/apt/sources.list.d/cuda-compute-repo.list"]
    assert not source(apt, key).present()["changed"]


def test_a_key_that_is_not_pinned_is_refused_before_anything_is_written(apt, key):
    with pytest.raises(SparkforgeError, match="expected EB693B3035CD5710E231E123A4B469963BF863CC"):
        source(apt, key, key_fingerprint="EB693B3035CD5710E231E123A4B469963BF863CC").present()
    assert files(apt) == {}


def test_without_gpg_nothing_is_written_and_check_mode_succeeds(apt, key, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openpgp.shutil, "which", lambda _name: None)
    assert source(apt, key, check_mode=True).present()["changed"]
    with pytest.raises(SparkforgeError, match="gpg is not"):
        source(apt, key).present()
    assert files(apt) == {}


@pytest.mark.parametrize("existing", [False, True])
def test_a_failed_update_restores_all_files(apt, key, existing: bool):
    if existing:
        (Path(_apt_source.KEYRINGS) / "sparkforge-cuda.gpg").write_bytes(b"damaged")
        vendor(apt, "sparkforge-cuda.sources", "Types: deb\nURIs: https://old.invalid\nSuites: /\n")
    before = files(apt)
    apt.complaint = SparkforgeError("no network", "check it")
    with pytest.raises(SparkforgeError, match="no network"):
        source(apt, key).present()
    assert files(apt) == before


def test_a_damaged_keyring_is_repaired(apt, key):
    result = source(apt, key).present()
    (Path(_apt_source.LISTS) / (_apt_source.lists_prefix(URL) + "Packages")).write_text("x")
    good = Path(result["keyring"]).read_bytes()
    Path(result["keyring"]).write_bytes(b"damaged")
    assert source(apt, key).present()["changed"]
    assert Path(result["keyring"]).read_bytes() == good
    assert not source(apt, key).present()["changed"]


def test_lists_that_a_power_loss_emptied_are_fetched_again(apt, key):
    source(apt, key).present()
    lists = [Path(_apt_source.LISTS, _apt_source.lists_prefix(URL) + name) for name in ("InRelease", "Packages")]
    for path in lists:
        path.write_text("x")
    assert not source(apt, key).present()["changed"]
    lists[1].write_bytes(b"")
    assert source(apt, key).present()["changed"]
    assert len(apt.updated) == 2
    # apt would not fetch the list again while the release file is unchanged.
    assert [path.exists() for path in lists] == [True, False]


def test_absent_removes_only_files_of_the_module(apt, key):
    vendor(apt, "other.list", "deb https://other.invalid /\n")
    before = files(apt)
    source(apt, key).present()
    (Path(_apt_source.LISTS) / (_apt_source.lists_prefix(URL) + "Packages")).write_text("x")
    removal = source(apt, key, url=None, key_url=None, key_fingerprint=None)
    assert removal.absent()["changed"]
    assert files(apt) == before
    assert not removal.absent()["changed"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("https://X.invalid/a/", "https://x.invalid/a"),
        ("file:///var/x", "file:/var/x/"),
        ("copy:/var/x", "file:///var/x"),
        ("https://x.invalid//a//b", "https://x.invalid/a/b"),
    ],
)
def test_equivalent_urls_have_the_same_canonical_form(left: str, right: str):
    assert _apt_source.canonical(left) == _apt_source.canonical(right)


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        (URL, "developer.download.nvidia.com_compute_cuda_repos_ubuntu2404_sbsa_"),
        ("file:///var/cusparselt-local-repo-ubuntu2404-0.8.1", "_var_cusparselt-local-repo-ubuntu2404-0.8.1_"),
        ("http://u:p@h.invalid:8080/a_b", "h.invalid:8080_a%5fb_"),
    ],
)
def test_the_package_lists_are_named_as_apt_names_them(url: str, prefix: str):
    assert _apt_source.lists_prefix(url) == prefix


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "x", "url": "ftp://x.invalid"}, "the URL"),
        ({"name": "x", "url": "https://x.invalid/ [trusted=yes]"}, "the URL"),
        ({"name": "../x", "url": URL}, "valid name"),
        ({"name": "x", "url": URL, "key_url": URL, "key_fingerprint": "3BF863CC"}, "OpenPGP fingerprint"),
        ({"name": "x", "url": "https://nobody.invalid/none"}, "no key is"),
        ({"name": "x", "url": URL, "key_url": URL}, "key_fingerprint"),
        ({"name": "x"}, "url"),
    ],
)
def test_faulty_arguments_are_one_message_of_the_module(arguments: dict, message: str):
    result = run_module("apt_source", **arguments)
    assert result["failed"]
    assert message in result["msg"]


def test_absent_of_a_missing_source_is_no_change():
    assert run_module("apt_source", name="never-there", state="absent")["changed"] is False
