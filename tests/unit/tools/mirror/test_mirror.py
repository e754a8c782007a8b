"""A mirror's contents, from locks, indexes and manifests. The tests download only from this machine."""

import contextlib
import hashlib
import json
import os
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import index, redist_plan
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.requirement import Requirement
from ansible_collections.sparkforge.dgx_spark.tools.lock import resolve
from ansible_collections.sparkforge.dgx_spark.tools.mirror import collect, pages
from ansible_collections.sparkforge.dgx_spark.tools.mirror.directory import Directory, inside, read_manifest
from ansible_collections.sparkforge.dgx_spark.tools.mirror.needs import needs_of, read_line

from tests.unit.web_server import Server

SHA = "a" * 64


def pin(name: str, digit: str = "a") -> str:
    return f"{name}==1.0 --hash=sha256:{digit * 64}"


def parse_pin(name: str, version: str, sha256: str) -> Requirement:
    return read_line(f"{name}=={version} --hash=sha256:{sha256}")


def stack(method: str) -> dict:
    return {
        "name": "ours",
        "method": method,
        "machines": ["aarch64", "x86_64"],
        "python": {"version": "3.12"},
        "extensions": ["torchvision"],
        "archives": [
            {"product": "nvpl", "component": "nvpl_blas", "release": "26.5", "version": "0.6.0", "variant": "",
             "soname": "libnvpl.so.0", "sha256": {"linux-sbsa": SHA}},
        ],
        "cusparselt": {"archive": None},
        "units": {
            "pytorch": {
                "source": {"repo": "https://host.example/pytorch.git", "version": "1" * 40, "submodules": True},
                "requirements": {"cp312-linux-aarch64": [pin("ninja", "b")]},
            },
            "torchvision": {"source": {"archive": "https://host.example/v.tar.gz", "sha256": SHA}, "requirements": {}},
            "flash_attention": {"source": None, "requirements": {"cp312-linux-aarch64": [pin("einops", "e")]}},
        },
        "lock": {
            "wheels": {"cp312-linux-aarch64": [pin("torch")], "cp312-linux-x86_64": [pin("torch", "c")]},
            "run_requirements": {"cp312-linux-aarch64": {"pytorch": [pin("filelock", "d")], "beside": []}},
        },
    }  # fmt: skip


def test_the_method_decides_which_wheels_and_sources_are_needed() -> None:
    wheels = needs_of(stack("wheel"), ["aarch64"], None)
    assert [wheel.name for wheel in wheels.wheels] == ["torch"]
    assert wheels.sources == ()
    assert [(archive.component, archive.platform) for archive in wheels.archives] == [("nvpl_blas", "linux-sbsa")]
    built = needs_of(stack("build"), ["aarch64"], None)
    assert [wheel.name for wheel in built.wheels] == ["filelock", "ninja"]
    assert [source.get("repo") or source["archive"] for source in built.sources] == [
        "https://host.example/pytorch.git",
        "https://host.example/v.tar.gz",
    ]


def test_each_machine_has_its_wheels_and_published_archives() -> None:
    needs = needs_of(stack("wheel"), ["aarch64", "x86_64"], None)
    assert [wheel.hashes[0][0] for wheel in needs.wheels] == ["a", "c"]
    assert len(needs.archives) == 1


def test_a_requested_extension_is_needed() -> None:
    assert "einops" in [wheel.name for wheel in needs_of(stack("build"), ["aarch64"], ["flash_attention"]).wheels]
    with pytest.raises(SparkforgeError, match="has no unit nothing"):
        needs_of(stack("build"), ["aarch64"], ["nothing"])


@pytest.mark.parametrize("machines", [[], ["riscv64"]])
def test_a_machine_outside_the_stack_is_refused(machines: list[str]) -> None:
    with pytest.raises(SparkforgeError, match="is for aarch64, x86_64, not for"):
        needs_of(stack("wheel"), machines, None)


@pytest.mark.parametrize(
    "line",
    [
        "torch", "torch==1.0", "torch>=1.0", f"torch>=1.0 --hash=sha256:{'b' * 64}",
        f"{pin('torch')} --hash=sha256:{'b' * 64}", "-r x",
    ],
)  # fmt: skip
def test_a_line_without_exactly_one_file_is_refused(line: str) -> None:
    with pytest.raises(SparkforgeError, match="not name==version with one sha256"):
        read_line(line)


def test_names_are_normalized_as_on_an_index() -> None:
    requirement = read_line(f"Typing_Extensions==4.16.0 --hash=sha256:{SHA}")
    assert (requirement.name, requirement.version, requirement.hashes) == ("typing-extensions", "4.16.0", (SHA,))


PAGE = f"""<!DOCTYPE html><html><body>
<a href="../../files/torch-1.0-py3-none-any.whl#sha256={SHA}">torch</a>
<a href="https://files.example/torch-1.0-cp312-cp312-linux_aarch64.whl">no hash</a>
<a href="torch-1.0.tar.gz#sha256={SHA}">an sdist</a> <a href="javascript:x.whl">x</a> <a>nothing</a>
"""


def test_links_of_an_index_page_are_read() -> None:
    links = index.read_page(PAGE, "https://index.example/simple/torch/")
    assert [link.url for link in links] == [
        "https://index.example/files/torch-1.0-py3-none-any.whl",
        "https://files.example/torch-1.0-cp312-cp312-linux_aarch64.whl",
    ]
    assert [link.sha256 for link in links] == [SHA, None]


def test_the_link_with_the_sha256_is_chosen_or_else_those_without() -> None:
    links = index.read_page(PAGE, "https://index.example/simple/torch/")
    assert pages.choose(links, parse_pin("torch", "1.0", SHA)) == links[:1]
    assert pages.choose(links, parse_pin("torch", "1.0", "b" * 64)) == links[1:]
    assert pages.choose(links, parse_pin("torch", "2.0", SHA)) == []
    nameless = index.Link("torch.whl", "https://x.example/torch.whl", SHA)
    assert pages.choose([nameless], parse_pin("torch", "1.0", SHA)) == []


def test_written_index_pages_can_be_read() -> None:
    written = pages.pages({"torch/torch-1.0+cu-py3-none-any.whl": SHA, "six/six-1.0-py3-none-any.whl": SHA})
    assert set(written) == {"index.html", "torch/index.html", "six/index.html"}
    url = "https://m.example/simple/torch/"
    expected = index.Link("torch-1.0+cu-py3-none-any.whl", f"{url}torch-1.0%2Bcu-py3-none-any.whl", SHA)
    assert index.read_page(written["torch/index.html"].decode(), url) == [expected]


@pytest.mark.parametrize("path", ["../x", "a/../b", "/etc/passwd", ".x", "a//b", "", "a/.git", "a\\b c"])
def test_a_path_outside_the_mirror_is_rejected(path: str) -> None:
    assert not inside(path)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": 2, "files": {}}', '{"format": 1, "files": []}',
     json.dumps({"format": 1, "files": {"../x": {"sha256": SHA, "from": "x"}}}),
     json.dumps({"format": 1, "files": {"x": {"sha256": f"{SHA}\n", "from": "x"}}}),
     '{"format": 1, "files": {"x": {"sha256": "1", "from": "x"}}}', '{"format": 1, "files": {"x": {}}}'],
)  # fmt: skip
def test_an_invalid_mirror_manifest_is_refused(text: str) -> None:
    with pytest.raises(SparkforgeError, match="mirror manifest"):
        read_manifest(text, "/srv/mirror.json")


def mirror(path: Path, check: bool = False) -> Directory:
    directory = Directory(str(path / "mirror"), check=check, say=lambda _line: None)
    directory.verify()
    return directory


def source(path: Path, text: str = "content") -> tuple[str, str]:
    file = path / "upstream"
    file.write_text(text)
    return file.as_uri(), hashlib.sha256(text.encode()).hexdigest()


def test_a_file_is_fetched_once_and_recorded_with_its_url(tmp_path: Path) -> None:
    url, digest = source(tmp_path)
    checked = mirror(tmp_path, check=True)
    checked.fetch("a/b", url, digest)
    assert checked.changed and checked.missing == [f"fetch {url}"]
    assert not (tmp_path / "mirror").exists()
    mirror(tmp_path).fetch("a/b", url, digest)
    content = json.loads((tmp_path / "mirror/mirror.json").read_text())
    assert content == {"format": 1, "files": {"a/b": {"sha256": digest, "from": url}}}
    (tmp_path / "upstream").unlink()
    again = mirror(tmp_path)
    again.fetch("a/b", url, digest)
    assert not again.changed


def test_files_fetched_by_a_killed_run_are_not_fetched_again(tmp_path: Path) -> None:
    url, digest = source(tmp_path)
    mirror(tmp_path).fetch("a", url, digest)
    (tmp_path / "mirror/mirror.json").unlink()
    (tmp_path / "upstream").unlink()
    mirror(tmp_path).fetch("a", url, digest)
    assert "a" in mirror(tmp_path).rows


def test_a_changed_file_is_refused_and_a_missing_one_fetched_again(tmp_path: Path) -> None:
    url, digest = source(tmp_path)
    mirror(tmp_path).fetch("a", url, digest)
    (tmp_path / "mirror/a").unlink()
    mirror(tmp_path).fetch("a", url, digest)
    (tmp_path / "mirror/a").write_text("other")
    with pytest.raises(SparkforgeError, match="file was changed"):
        mirror(tmp_path)


def test_partial_files_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    mirror(tmp_path).fetch("a/b", *source(tmp_path))
    half = tmp_path / "mirror/a/.fetch-half"
    half.write_text("con")
    with mirror(tmp_path).alone():
        assert not half.exists()
    assert sorted(path.name for path in (tmp_path / "mirror").iterdir()) == ["a", "mirror.json"]


def test_content_with_another_sha256_is_refused(tmp_path: Path) -> None:
    url, _digest = source(tmp_path)
    with pytest.raises(SparkforgeError, match="expected"):
        mirror(tmp_path).fetch("a", url, SHA)
    assert list((tmp_path / "mirror").iterdir()) == []


@pytest.mark.parametrize(
    "path", ["nvidia/compute/../../../escaped", "/etc/escaped", "a//b", "", ".", "a/.git/b", "a\nb"]
)
def test_nothing_outside_the_mirror_is_read_or_written(tmp_path: Path, path: str) -> None:
    directory = Directory(str(tmp_path / "a/b/c/mirror"), check=False, say=lambda _line: None)
    with contextlib.closing(Server()) as server:
        for attempt in (
            lambda: directory.write(path, b"x", "https://a.example/x"),
            lambda: directory.fetch(path, f"{server.url}/x"),
            lambda: directory.has(path, "0" * 64),
        ):
            with pytest.raises(SparkforgeError, match="inside the mirror"):
                attempt()
        assert (server.paths, list(tmp_path.rglob("*"))) == ([], [])


def test_an_unwritable_directory_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    directory = Directory(str(file / "mirror"), check=False, say=lambda _line: None)
    with pytest.raises(SparkforgeError, match="mirror_directory"):
        directory.fetch("a", *source(tmp_path))


def test_a_file_larger_than_the_free_space_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(Server()) as server:
        server.files["/a"] = b"content"
        directory = mirror(tmp_path)
        monkeypatch.setattr(os, "statvfs", lambda _path: os.statvfs_result((1, 1, 1, 1, 1, 1, 1, 1, 0, 255)))
        with pytest.raises(SparkforgeError, match=r"has 0\.0 MB free\. Free some space"):
            directory.fetch("a", f"{server.url}/a")
    assert list((tmp_path / "mirror").iterdir()) == []


def test_a_manifest_of_archives_has_a_size_limit(tmp_path: Path) -> None:
    manifest = tmp_path / "compute/cudss/redist/redistrib_0.8.0.json"
    manifest.parent.mkdir(parents=True)
    with manifest.open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    cudss = redist_plan.Archive("libcudss", "cudss", "0.8.0", "linux-sbsa", "cuda13", "0.8.0.10", SHA, "libcudss.so.0")
    with pytest.raises(SparkforgeError, match="the limit is 67108864"):
        collect.archives(mirror(tmp_path), [cudss], tmp_path.as_uri())
    assert list((tmp_path / "mirror").rglob("*.json")) == []


def test_wheels_of_a_directory_are_collected_with_an_index(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "2.0"):
        (wheels / f"six-{version}-py3-none-any.whl").write_text(version)
    digest = hashlib.sha256(b"1.0").hexdigest()
    collect.wheels(mirror(tmp_path), [parse_pin("six", "1.0", digest)], resolve.Index("none", (str(wheels),)))
    page = (tmp_path / "mirror/simple/six/index.html").read_text()
    assert f"six-1.0-py3-none-any.whl#sha256={digest}" in page
    again = mirror(tmp_path)
    collect.wheels(again, [parse_pin("six", "1.0", digest)], resolve.Index("none", ()))
    assert not again.changed
    with pytest.raises(SparkforgeError, match=r"has six 3\.0"):
        collect.wheels(again, [parse_pin("six", "3.0", SHA)], resolve.Index("none", (str(wheels),)))


def test_an_index_without_the_package_is_skipped_but_a_failing_one_is_an_error(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"1.0").hexdigest()
    (tmp_path / "six-1.0-py3-none-any.whl").write_text("1.0")
    with contextlib.closing(Server()) as server:
        server.files["/full/six/"] = (
            f'<a href="/six-1.0-py3-none-any.whl#sha256={digest}">six-1.0-py3-none-any.whl</a>'.encode()
        )
        links = collect.Wheels([f"{server.url}/empty", f"{server.url}/full"], []).find(parse_pin("six", "1.0", digest))
        assert [link.file for link in links] == ["six-1.0-py3-none-any.whl"]
        with pytest.raises(SparkforgeError, match="No index has six"):
            collect.Wheels([f"{server.url}/empty"], []).find(parse_pin("six", "1.0", digest))
        server.statuses["/failing/six/"] = [403] * 9
        with pytest.raises(SparkforgeError, match="403"):
            collect.Wheels([f"{server.url}/failing", f"{server.url}/full"], []).find(parse_pin("six", "1.0", digest))


def test_every_file_without_a_hash_is_tried(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"right").hexdigest()
    (tmp_path / "right.whl").write_text("right")
    (tmp_path / "wrong.whl").write_text("wrong")
    links = [index.Link("six-1.0-py2-none-any.whl", (tmp_path / "wrong.whl").as_uri(), ""),
             index.Link("six-1.0-py3-none-any.whl", (tmp_path / "right.whl").as_uri(), "")]  # fmt: skip
    collect._fetch_one(mirror(tmp_path), parse_pin("six", "1.0", digest), links)
    assert [path.name for path in (tmp_path / "mirror/simple/six").iterdir()] == ["six-1.0-py3-none-any.whl"]
    missing = index.Link("six-1.0-py2-none-any.whl", (tmp_path / "gone.whl").as_uri(), "")
    empty_mirror = Directory(str(tmp_path / "other"), check=False, say=lambda _line: None)
    with pytest.raises(SparkforgeError):
        collect._fetch_one(empty_mirror, parse_pin("six", "1.0", digest), [missing, links[1]])
    # The error names the last wrong file.
    with pytest.raises(SparkforgeError, match="sha256"):
        collect._fetch_one(empty_mirror, parse_pin("six", "1.0", digest), links[:1])


def test_an_index_is_configured_by_options_or_variables() -> None:
    options = ["--default-index", "https://a.example/simple", "--index", "https://b.example", "--find-links", "/srv"]
    assert collect.index_places(options, {}) == (["https://b.example", "https://a.example/simple"], ["/srv"])
    assert collect.index_places([], {"UV_INDEX": "own=https://c.example"}) == (["https://c.example"], [])
    no_index = collect.index_places(["--no-index", "--find-links", "/srv"], {"UV_INDEX": "https://c.example"})
    assert no_index == ([], ["/srv"])
    with pytest.raises(SparkforgeError, match="No package index"):
        collect.index_places([], {})


def test_variables_rewrite_both_spellings_of_a_repository() -> None:
    rows = {
        "git/a-1.git/objects/x": {"sha256": SHA, "from": "https://host.example/a"},
        "archives/1/v.tar.gz": {"sha256": SHA, "from": "https://host.example/v.tar.gz"},
        "simple/six/six.whl": {"sha256": SHA, "from": "https://host.example/six.whl"},
    }
    table = collect.rewrites(rows)
    assert table == {
        "https://host.example/a": "git/a-1.git",
        "https://host.example/a.git": "git/a-1.git",
        "https://host.example/v.tar.gz": "archives/1/v.tar.gz",
    }
    variables = yaml.safe_load(collect.variables("https://mirror.example/", table))
    assert variables["sparkforge_mirror_url"] == "https://mirror.example"
    assert variables["sparkforge_nvidia_url"] == "{{ sparkforge_mirror_url }}/nvidia"
    assert variables["sparkforge_rewrite"]["https://host.example/a.git"] == "{{ sparkforge_mirror_url }}/git/a-1.git"
