"""How the site's pages are laid out and its links followed. `make docs` as a whole: tests/lint/test_publishing.py."""

import re
from pathlib import Path

import pytest

from lab import site, troubleshooting


def html(folder: Path, **pages: str) -> Path:
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
    return folder


def test_links_that_lead_somewhere_are_counted(tmp_path: Path) -> None:
    html(
        tmp_path,
        a='<a href="b.html#here">b</a><a href="https://example.com">e</a>',
        b='<p id="here"><a href="#here">h</a>',
    )
    assert site.broken(tmp_path) == (2, 2, [])


@pytest.mark.parametrize("link", ["gone.html", "b.html#gone", "#gone", "gone.png", "../gone/b.html"])
def test_a_link_that_leads_nowhere_is_told(tmp_path: Path, link: str) -> None:
    html(tmp_path, a=f'<a href="{link}">x</a>', b="")
    assert site.broken(tmp_path)[2] == [f"a.html: {link}"]


def test_each_written_page_is_in_one_part_of_the_first_page() -> None:
    names = site.written()
    assert {"README.md", "docs/tutorial.md", "docs/concepts.md", "roles/verify/README.md"} <= set(names)
    lines = re.findall(r"^(?:[^\n<]* <)?([\w./-]+)>?$", site.index(names), re.M)
    assert [name for name in names if lines.count(name.removesuffix(".md")) != 1] == []


def test_a_file_comes_along_and_a_directory_is_linked_where_there_is_a_published_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = site.page("docs/tutorial.md", tmp_path)
    assert "](reference.md#licences)" in text and (tmp_path / "docs/report.schema.json").is_file()

    def linked(place: str) -> str:
        monkeypatch.setattr(site.publication, "repository_url", lambda: place)
        return site.page("docs/evidence/engine-gpu-host.md", tmp_path)

    assert "](https://forge.example/x/tree/main/docs/evidence/engine-gpu-host)" in linked("https://forge.example/x")
    assert "are in engine-gpu-host/." in linked("")


def test_each_failure_has_a_page_that_the_list_names(tmp_path: Path) -> None:
    site.failures(tmp_path)
    rules = {rule.name for _topic, rules in troubleshooting.topics() for rule, _examples in rules}
    pages = {path.stem: path.read_text() for path in (tmp_path / "docs/failures").iterdir()}
    assert set(pages) == rules and len(rules) > 100
    assert all(text.startswith(f"# {name}\n") and "**Remedy:**" in text for name, text in pages.items())
    listed = re.findall(r"^failures/(.+)$", (tmp_path / "docs/troubleshooting.md").read_text(), re.M)
    assert sorted(listed) == sorted(rules)
