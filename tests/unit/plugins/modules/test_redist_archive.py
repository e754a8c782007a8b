"""The module redist_archive, with a server that has a small redist tree."""

import concurrent.futures
import os
import typing as t
from pathlib import Path

import pytest

from tests.unit.redist_tree import Tree, archive, library, member, tar
from tests.unit.run_module import run_module, tree
from tests.unit.web_server import Server

TOP = "libcudss-linux-sbsa-0.8.0.10_cuda13-archive"


class Host:
    """A host with its prefix, root and loader directory in one directory, and a mirror."""

    def __init__(self, directory: Path, server: Server) -> None:
        self.directory = directory
        self.server = server
        self.tree = Tree(server.files)
        self.prefix = directory / "opt" / "redist"
        self.loader = directory / "ld.so.conf.d"
        self.loader.mkdir()
        self.cudss = {
            "product": "cudss", "component": "libcudss", "release": "0.8.0", "version": "0.8.0.10",
            "soname": "libcudss.so.0", "sha256": self.publish("0.8.0", "0.8.0.10"),
        }  # fmt: skip
        nvpl = archive("nvpl_blas-archive", "libnvpl_blas_core.so.0", "0.4.1.1")
        self.nvpl = {
            "product": "nvpl",
            "component": "nvpl_blas",
            "release": "25.5",
            "variant": "",
            "sha256": self.tree.publish("nvpl", "25.5", "nvpl_blas", "0.4.1.1", nvpl, variant=""),
        }

    def publish(self, release: str, version: str, **options: t.Any) -> str:
        content = archive(TOP, options.pop("soname", "libcudss.so.0"), version, **options)
        return self.tree.publish("cudss", release, "libcudss", version, content)

    def publish_content(self, content: bytes) -> dict[str, str]:
        """Replace the archive of cuDSS 0.8.0 and return an entry that pins the new content."""
        return {**self.cudss, "sha256": self.tree.publish("cudss", "0.8.0", "libcudss", "0.8.0.10", content)}

    def arguments(self, **options: t.Any) -> dict[str, t.Any]:
        return {
            "base_url": f"{self.server.url}/compute", "platform": "linux-sbsa", "variant": "cuda13",
            "prefix": str(self.prefix), "root": str(self.directory / "opt"), "loader_directory": str(self.loader),
            "archives": [self.cudss, self.nvpl], **options, "_ansible_diff": True,
            "_ansible_remote_tmp": str(self.directory),
        }  # fmt: skip

    def call(self, check: bool = False, **options: t.Any) -> dict[str, t.Any]:
        return run_module("redist_archive", check_mode=check, **self.arguments(**options))

    def content(self) -> dict[str, str]:
        return tree(self.directory)


@pytest.fixture
def server() -> t.Iterator[Server]:
    served = Server()
    yield served
    served.close()


@pytest.fixture
def host(tmp_path: Path, server: Server) -> Host:
    return Host(tmp_path, server)


def test_one_call_installs_every_archive(host: Host) -> None:
    result = host.call()
    assert result["changed"] is True
    cudss = host.prefix / "libcudss"
    assert os.readlink(cudss / "current") == "0.8.0.10-cuda13"
    assert (cudss / "current/lib/libcudss.so.0").read_bytes() == library("libcudss.so.0")
    assert os.readlink(host.prefix / "nvpl_blas/current") == "0.4.1.1"
    entry = (host.loader / "sparkforge-libcudss.conf").read_text().splitlines()
    assert entry[0].split()[1:5] == ["sparkforge", "redist_archive:", "libcudss", "0.8.0.10"]
    assert entry[1] == f"{cudss}/current/lib"
    assert sorted(os.listdir(host.prefix)) == ["libcudss", "nvpl_blas"]
    assert not [name for name in os.listdir(host.directory / "opt") if name.startswith(".")]
    row = result["archives"][0]
    assert (row["action"], row["path"]) == ("install", f"{cudss}/0.8.0.10-cuda13")
    assert (row["sonames"], row["license"]) == (["libcudss.so.0"], "libcudss licence")


def test_a_second_run_changes_nothing_and_contacts_no_server(host: Host) -> None:
    host.call()
    before, request_count = host.content(), len(host.server.requests)
    result = host.call()
    assert result["changed"] is False
    assert [row["action"] for row in result["archives"]] == ["none", "none"]
    assert result["diff"]["before"] == result["diff"]["after"]
    assert host.call(check=True)["changed"] is False
    assert host.content() == before
    assert len(host.server.requests) == request_count


def test_check_mode_on_an_empty_host_writes_and_downloads_nothing(host: Host) -> None:
    before = host.content()
    result = host.call(check=True)
    assert result["changed"] is True
    assert result["diff"]["before"] == ""
    assert "libcudss 0.8.0.10 (linux-sbsa, cuda13)" in result["diff"]["after"]
    assert host.content() == before
    assert host.server.requests == []


def test_check_mode_shows_the_old_and_the_new_version(host: Host) -> None:
    host.call()
    before = host.content()
    newer = {**host.cudss, "release": "0.9.0", "version": "0.9.0.1", "sha256": None}
    result = host.call(check=True, archives=[newer])
    assert result["diff"]["before"] == "libcudss 0.8.0.10 (linux-sbsa, cuda13)\n"
    assert result["diff"]["after"] == "libcudss 0.9.0.1 (linux-sbsa, cuda13)\n"
    assert result["archives"][0]["action"] == "replace"
    assert host.content() == before


def test_an_upgrade_keeps_one_previous_version_and_a_downgrade_downloads_nothing(host: Host) -> None:
    host.call(archives=[host.cudss])
    versions = {"0.8.0": host.cudss}
    for release, version in (("0.9.0", "0.9.0.1"), ("0.10.0", "0.10.0.2")):
        pin = host.publish(release, version)
        versions[release] = {**host.cudss, "release": release, "version": version, "sha256": pin}
        result = host.call(archives=[versions[release]])
        assert result["archives"][0]["action"] == "replace"
    cudss = host.prefix / "libcudss"
    assert sorted(os.listdir(cudss)) == ["0.10.0.2-cuda13", "0.9.0.1-cuda13", "current"]
    request_count = len(host.server.requests)
    result = host.call(archives=[versions["0.9.0"]])
    assert result["changed"] is True
    assert result["archives"][0]["action"] == "replace"
    assert result["archives"][0]["previous_version"] == "0.10.0.2"
    assert os.readlink(cudss / "current") == "0.9.0.1-cuda13"
    assert len(host.server.requests) == request_count
    assert host.call(archives=[versions["0.9.0"]])["changed"] is False
    host.call(archives=[versions["0.8.0"]])
    assert os.readlink(cudss / "current") == "0.8.0.10-cuda13"


def test_a_pin_that_is_added_later_and_agrees_changes_nothing(host: Host) -> None:
    host.call(archives=[{**host.cudss, "sha256": None, "version": None, "soname": None}])
    assert host.call(archives=[host.cudss])["changed"] is False


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: (path / "lib/libcudss.so.0.8.0.10").write_bytes(b"x"), "has 1 bytes instead of"),
        (lambda path: (path / "include/libcudss.h").unlink(), "include/libcudss.h is missing"),
        (lambda path: (path / "lib/libcudss.so").unlink(), "the symlink lib/libcudss.so is missing"),
    ],
)
def test_a_damaged_archive_is_detected_and_installed_again(host: Host, harm: t.Any, message: str) -> None:
    host.call()
    intact = host.content()
    harm(host.prefix / "libcudss/0.8.0.10-cuda13")
    result = host.call()
    assert message in result["archives"][0]["reason"]
    assert message in result["diff"]["before"]
    assert [row["action"] for row in result["archives"]] == ["replace", "none"]
    healed = host.content()
    receipt = "opt/receipts/redist-libcudss.json"
    assert {**healed, receipt: ""} == {**intact, receipt: ""}
    assert host.call()["changed"] is False


@pytest.mark.parametrize("missing", ["symlink", "loader entry"])
def test_a_missing_symlink_or_loader_entry_is_restored_without_a_download(host: Host, missing: str) -> None:
    host.call()
    request_count = len(host.server.requests)
    path = host.prefix / "libcudss/current" if missing == "symlink" else host.loader / "sparkforge-libcudss.conf"
    path.unlink()
    assert host.call()["changed"] is True
    assert path.exists()
    assert len(host.server.requests) == request_count
    assert host.call()["changed"] is False


def test_absent_removes_only_what_the_module_installed(host: Host) -> None:
    foreign = host.loader / "other.conf"
    foreign.write_text("/usr/lib/other\n")
    before = host.content()
    host.call()
    pin = host.publish("0.9.0", "0.9.0.1")
    host.call(archives=[{**host.cudss, "release": "0.9.0", "version": "0.9.0.1", "sha256": pin}])
    components = [{"component": "libcudss"}, {"component": "nvpl_blas"}]
    full = host.content()
    result = host.call(state="absent", archives=components, check=True)
    assert result["changed"] is True
    assert "libcudss 0.9.0.1" in result["diff"]["before"]
    assert result["diff"]["after"] == ""
    assert host.content() == full
    assert host.call(state="absent", archives=components)["changed"] is True
    assert host.content() == before
    assert host.call(state="absent", archives=components)["changed"] is False


def test_absent_for_one_component_leaves_the_other_in_order(host: Host) -> None:
    host.call()
    host.call(state="absent", archives=[{"component": "libcudss"}])
    assert not (host.prefix / "libcudss").exists()
    assert host.call(archives=[host.nvpl])["changed"] is False


def test_absent_keeps_foreign_files(host: Host) -> None:
    host.call(archives=[host.cudss])
    (host.prefix / "libcudss/notes.txt").write_text("mine")
    host.call(state="absent", archives=[{"component": "libcudss"}])
    assert os.listdir(host.prefix / "libcudss") == ["notes.txt"]


def test_a_change_of_the_prefix_moves_the_installation(host: Host) -> None:
    host.call(archives=[host.cudss])
    host.call(archives=[host.cudss], prefix=str(host.directory / "elsewhere"))
    assert not host.prefix.exists()
    assert (host.directory / "elsewhere/libcudss/current/lib/libcudss.so.0").exists()


def test_two_runs_at_the_same_time_leave_one_sound_installation(host: Host) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda _number: host.call(), range(3)))
    assert [result.get("msg") for result in results] == [None] * 3
    assert sorted(result["changed"] for result in results) == [False, False, True]
    assert host.call()["changed"] is False


def test_leftovers_of_a_killed_run_are_removed(host: Host) -> None:
    (host.prefix / ".staging-libcudss-1234").mkdir(parents=True)
    (host.prefix / ".fetch-abc").write_bytes(b"half")
    (host.prefix / "libcudss/0.8.0.10-cuda13").mkdir(parents=True)
    (host.prefix / "libcudss/0.8.0.10-cuda13/half").write_bytes(b"half")
    host.call()
    assert sorted(os.listdir(host.prefix)) == ["libcudss", "nvpl_blas"]
    assert not (host.prefix / "libcudss/current/half").exists()
    assert host.call()["changed"] is False


def refusal(host: Host, **options: t.Any) -> dict[str, t.Any]:
    """Call the module, which must fail with a cause and a remedy and leave the host unchanged."""
    before = host.content()
    result = host.call(**options)
    assert result.get("failed") is True, result
    assert result["msg"] == f"{result['cause']} {result['remedy']}"
    assert "Traceback" not in result["msg"]
    assert host.content() == before
    return result


def requested_archives(host: Host) -> list[str]:
    return [path for path in host.server.paths if path.endswith(".xz")]


def test_a_pin_that_the_manifest_contradicts_is_refused_before_any_download(host: Host) -> None:
    result = refusal(host, archives=[host.nvpl, {**host.cudss, "sha256": "0" * 64}])
    assert f"gives libcudss 0.8.0.10 (linux-sbsa, cuda13) the sha256 {host.cudss['sha256']}" in result["cause"]
    assert "the stack pins 000" in result["cause"]
    assert "playbooks/lock.yml" in result["remedy"]
    assert requested_archives(host) == []


def test_an_archive_with_a_wrong_sha256_is_refused(host: Host) -> None:
    path = next(path for path in host.server.files if "libcudss-linux-sbsa-0.8.0.10" in path)
    host.server.files[path] = host.server.files[path][:-1] + b"x"
    result = refusal(host)
    assert f"expected {host.cudss['sha256']}." in result["cause"]


def test_a_bad_archive_prevents_the_installation_of_the_others_of_the_call(host: Host) -> None:
    bad = host.publish_content(b"no archive")
    assert "not a tar archive" in refusal(host, archives=[host.nvpl, bad])["cause"]


def test_a_bad_upgrade_leaves_the_version_in_use(host: Host) -> None:
    host.call()
    pin = host.publish("0.9.0", "0.9.0.1", extra=[(member(f"{TOP}/../evil"), b"x")])
    newer = {**host.cudss, "release": "0.9.0", "version": "0.9.0.1", "sha256": pin}
    refusal(host, archives=[newer, host.nvpl])
    assert host.call()["changed"] is False


@pytest.mark.parametrize(
    ("library", "changed", "message"),
    [
        ("nvpl", {"platform": "linux-ppc64le"}, "no nvpl_blas for the platform linux-ppc64le; it has linux-sbsa."),
        ("cudss", {"variant": "cuda12"}, "no variant cuda12 of libcudss for linux-sbsa; it has cuda13."),
        ("cudss", {"variant": ""}, "without a variant of libcudss"),
        ("nvpl", {"variant": "cuda13"}, "variant to ''"),
        ("cudss", {"component": "cudss"}, "no component cudss; it has libcudss."),
        ("cudss", {"version": "0.8.0.9"}, "0.8.0.10, but the stack"),
        ("cudss", {"release": "9.9"}, "cudss has no release 9.9: http://127.0.0.1"),
    ],
)
def test_unpublished_archives_are_refused_with_the_published_ones(host: Host, library, changed, message):
    options = {"platform": changed["platform"]} if "platform" in changed else {}
    row = {**getattr(host, library), **({"sha256": None} if options else changed)}
    assert message in refusal(host, archives=[row], **options)["msg"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<!DOCTYPE html><html>Sign in</html>", "HTML page"),
        (b"{ not json", "is not JSON"),
        (b"[1]", "JSON object"),
        (b"{}", "has no component libcudss; it has none"),
    ],
)
def test_an_invalid_manifest_is_refused(host: Host, body: bytes, message: str) -> None:
    host.server.files["/compute/cudss/redist/redistrib_0.8.0.json"] = body
    assert message in refusal(host)["cause"]
    assert requested_archives(host) == []


def test_an_archive_without_the_pinned_soname_is_refused_with_its_sonames(host: Host) -> None:
    pin = host.publish("1.0.0", "1.0.0.35", soname="libcudss.so.1")
    entry = {**host.cudss, "release": "1.0.0", "version": "1.0.0.35", "sha256": pin}
    result = refusal(host, archives=[entry])
    assert "libcudss 1.0.0.35 has no" in result["cause"]
    assert "it has libcudss.so.1." in result["cause"]
    assert "the soname in" in result["remedy"]


def test_a_library_of_another_machine_does_not_satisfy_the_pin(host: Host) -> None:
    pinned = host.publish_content(archive(TOP, "libcudss.so.0", "0.8.0.10", machine=62))
    assert "the SONAME libcudss.so.0 for linux-sbsa" in refusal(host, archives=[pinned])["cause"]


def test_a_text_file_with_the_name_of_a_library_does_not_satisfy_the_pin(host: Host) -> None:
    content = tar([(member(f"{TOP}/lib/libcudss.so.0"), b"not ELF")])
    assert "it has none" in refusal(host, archives=[host.publish_content(content)])["cause"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"release": None}, "archives[0] (libcudss) has no release."),
        ({"product": None}, "has no product."),
        ({"sha256": "abc"}, "not 64 hexadecimal digits"),
        ({"component": "../../etc"}, "as component."),
        ({"release": "0.8/../x"}, "as release."),
        ({"variant": "a b"}, "as variant."),
    ],
)
def test_an_impossible_entry_is_refused_by_name(host: Host, change: t.Any, message: str) -> None:
    assert message in refusal(host, archives=[{**host.cudss, **change}])["cause"]
    assert host.server.requests == []


def test_a_component_that_is_named_twice_is_refused(host: Host) -> None:
    assert "repeats the component" in refusal(host, archives=[host.cudss, host.cudss])["cause"]


def test_the_root_directory_as_prefix_is_refused(host: Host) -> None:
    assert "or is /" in refusal(host, prefix="/")["cause"]


def test_a_directory_instead_of_the_symlink_is_not_touched(host: Host) -> None:
    (host.prefix / "libcudss/current").mkdir(parents=True)
    assert "not a symlink" in refusal(host)["cause"]


def test_an_unreachable_server_leaves_the_host_unchanged(host: Host) -> None:
    assert "No connection to" in refusal(host, base_url="http://127.0.0.1:9/compute")["cause"]
