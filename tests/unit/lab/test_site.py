"""The layout of the site's pages and the check of its links; tests/lint/test_publishing.py runs `make docs`."""

import re
from pathlib import Path

import pytest

from lab import site, troubleshooting


def html(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
    return folder


def test_working_links_are_counted(tmp_path: Path) -> None:
    first = '<a href="b.html#here">b</a><a href="https://example.com">e</a>'
    html(tmp_path, a=first, b='<p id="here"><a href="#here">h</a>')
    assert site.broken(tmp_path) == (2, 2, [])


@pytest.mark.parametrize("link", ["gone.html", "b.html#gone", "#gone", "gone.png", "../gone/b.html"])
def test_a_broken_link_is_reported(tmp_path: Path, link: str) -> None:
    html(tmp_path, a=f'<a href="{link}">x</a>', b="")
    assert site.broken(tmp_path)[2] == [f"a.html: {link}"]


def test_each_page_is_listed_once_on_the_first_page() -> None:
    names = site.written()
    assert {"README.md", "docs/tutorial.md", "docs/concepts.md", "roles/verify/README.md"} <= set(names)
    lines = re.findall(r"^(?:[^\n<]* <)?([\w./-]+)>?$", site.index(names), re.M)
    assert [name for name in names if lines.count(name.removesuffix(".md")) != 1] == []


def test_linked_files_are_copied_and_directories_link_to_the_published_repository(tmp_path, monkeypatch):
    text = site.page("docs/tutorial.md", tmp_path)
    assert "](reference.md#licences)" in text and (tmp_path / "docs/report.schema.json").is_file()

    def page_for(repository: str) -> str:
        monkeypatch.setattr(site.publication, "repository_url", lambda: repository)
        return site.page("docs/evidence/engine-gpu-host.md", tmp_path)

    assert "](https://forge.example/x/tree/main/docs/evidence/engine-gpu-host)" in page_for("https://forge.example/x")
    assert "are in engine-gpu-host/." in page_for("")


def test_each_failure_has_a_listed_page(tmp_path: Path) -> None:
    site.failures(tmp_path)
    rules = {rule.name for _topic, rules in troubleshooting.topics() for rule, _examples in rules}
    pages = {path.stem: path.read_text() for path in (tmp_path / "docs/failures").iterdir()}
    assert set(pages) == rules and len(rules) > 100
    assert all(text.startswith(f"# {name}\n") and "**Remedy:**" in text for name, text in pages.items())
    listed = re.findall(r"^failures/(.+)$", (tmp_path / "docs/troubleshooting.md").read_text(), re.M)
    assert sorted(listed) == sorted(rules)
