"""Links on index pages, and each server's credentials."""

import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import index

SHA = "a" * 64
FILE = "tiny-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    "entry",
    [
        {"username": "a", "password": "secret"},
        {"url": "spark01", "username": "a", "password": "secret"},
        {"url": "https://[a/", "username": "a", "password": "secret"},
        {"host": "a", "username": "", "password": "secret"},
        {"host": "a", "username": "a", "password": ""},
    ],
)
def test_invalid_credentials_are_refused_without_the_password(entry: dict[str, t.Any]) -> None:
    with pytest.raises(SparkforgeError, match="Entry 1 of credentials") as refused:
        index.credentials([entry])
    assert "secret" not in str(refused.value)


def test_server_with_two_passwords_is_refused() -> None:
    entry = {"host": "a", "username": "a", "password": "b"}
    assert len(index.credentials([entry, {**entry, "host": "", "url": "https://a:8443/x"}])) == 1
    with pytest.raises(SparkforgeError, match="two user names"):
        index.credentials([entry, {**entry, "password": "c"}])


def test_credentials_are_added_for_their_server_only() -> None:
    known = index.credentials([{"host": "a.test", "username": "us er", "password": "p@ss/é"}])
    assert index.with_credentials("https://a.test:8443/x", known) == "https://us%20er:p%40ss%2F%C3%A9@a.test:8443/x"
    for other in ("https://b.test/x", "https://a.test.evil/x", "file:///srv/x", "https://own:one@a.test/x"):
        assert index.with_credentials(other, known) == other


def test_json_page_has_hashes_and_sizes() -> None:
    files = [
        {"filename": FILE, "url": f"../../{FILE}", "hashes": {"sha256": SHA}, "size": 7},
        {"filename": "tiny-1.0.tar.gz", "url": "tiny-1.0.tar.gz", "hashes": {}},
        {"filename": "tiny-2.0-py3-none-any.whl", "url": "https://b.test/tiny-2.0-py3-none-any.whl", "hashes": None},
        {"url": "tiny-3.0-py3-none-any.whl", "hashes": {"sha256": f"{SHA}0"}, "size": "7"},
    ]
    assert index.read_page(json.dumps({"files": files}), "https://a.test/simple/tiny/") == [
        index.Link(FILE, f"https://a.test/{FILE}", SHA, 7),
        index.Link("tiny-2.0-py3-none-any.whl", "https://b.test/tiny-2.0-py3-none-any.whl"),
        index.Link("tiny-3.0-py3-none-any.whl", "https://a.test/simple/tiny/tiny-3.0-py3-none-any.whl"),
    ]


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"files": 1}', '{"files": [1]}', '{"files": [{"url": 1}]}', "<a href=", "<![x["]
)
def test_invalid_page_lists_nothing(text: str) -> None:
    assert index.read_page(text, "https://a.test/simple/tiny/") == []


def test_html_page_with_base_url() -> None:
    page = f'<base href="/pool/"><a href="{FILE}#sha256={SHA.upper()}">{FILE}</a>'
    links = index.read_page(page, "https://a.test/simple/tiny/")
    assert links == [index.Link(FILE, f"https://a.test/pool/{FILE}", SHA)]


def test_links_keep_the_protection_of_the_page() -> None:
    page = "".join(f'<a href="{scheme}://b.test/{FILE}">' for scheme in ("file", "http", "https", "ftp"))
    for scheme, expected in (("https", ["https"]), ("http", ["http", "https"])):
        links = index.read_page(page, f"{scheme}://a.test/simple/tiny/")
        assert [link.url.partition(":")[0] for link in links] == expected
    for base in ("file:///srv/", "http://a.test/"):
        assert index.read_page(f'<base href="{base}"><a href="{FILE}">', "https://a.test/simple/tiny/") == []


def test_password_of_page_is_used_for_same_server_only() -> None:
    page = f'<a href="{FILE}"><a href="https://a.test/x/{FILE}"><a href="https://b.test/{FILE}">'
    links = index.read_page(page, "https://user:secret@a.test/simple/tiny/")
    assert [link.url for link in links] == [
        f"https://user:secret@a.test/simple/tiny/{FILE}",
        f"https://user:secret@a.test/x/{FILE}",
        f"https://b.test/{FILE}",
    ]


def test_directory_lists_wheels_or_has_a_page(tmp_path: Path) -> None:
    for name in (FILE, "notes.txt"):
        (tmp_path / name).touch()
    for location in (str(tmp_path), tmp_path.as_uri()):
        assert index.list_wheels(location, {}, "x") == [index.Link(FILE, (tmp_path / FILE).as_uri())]
    (tmp_path / "index.html").write_text(f'<a href="{FILE}#sha256={SHA}">')
    assert index.list_wheels(str(tmp_path), {}, "x") == [index.Link(FILE, (tmp_path / FILE).as_uri(), SHA)]


def test_file_with_longer_name_is_not_a_wheel(tmp_path: Path) -> None:
    for name in ("a-1-py3-none-any.whl", "b-1-py3-none-any.whl.asc", "c-1-py3-none-any.whl\n", "-d.whl", "e.whl;x"):
        (tmp_path / name).touch()
    assert [link.file for link in index.list_wheels(str(tmp_path), {}, "find_links")] == ["a-1-py3-none-any.whl"]


def test_page_without_wheels_is_described(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<html><head><title>Sign in &amp;\n out</title></head></html>")
    with pytest.raises(SparkforgeError, match=r"'Sign in & out'\) that lists"):
        index.list_wheels(str(tmp_path), {}, "x")
    (tmp_path / "index.html").write_text('{"files": []}')
    assert index.list_wheels(str(tmp_path), {}, "x") == []
