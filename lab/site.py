# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the documentation site in dist/docs/html: `make docs`.

The handwritten pages keep their layout from the checkout, so that their links need not change. There is also a page for
each failure in the table of diagnoses and, from antsibull-docs, one for each module, filter, lookup and role. Then
sphinx builds the site, treating warnings as errors, and all links within the site are checked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lab import host, publication, troubleshooting

ROOT = Path(__file__).parents[1]
SITE = ROOT / "dist/docs"
COLLECTION = "sparkforge.dgx_spark"
#: `](target)` in Markdown, except links to other sites and to headings on the same page.
LINK = re.compile(r"\[([^][]*)\]\((?!https?:|mailto:|#)([^)#\s]+)([^)]*)\)")

INDEX = """\
# sparkforge.dgx_spark

Takes NVIDIA DGX Sparks from the factory image to a PyTorch and Triton stack that is proven to compute right numbers,
and keeps a fleet of them there. [The first page](README.md) has the two commands to begin with.

```{{toctree}}
:maxdepth: 1
:caption: Begin

The first page <README>
docs/tutorial
```

```{{toctree}}
:maxdepth: 1
:caption: How to

docs/owner
docs/fleet
docs/serving
docs/offline
docs/developer
docs/scale
{how_to}
docs/troubleshooting
```

```{{toctree}}
:maxdepth: 1
:caption: Concepts

docs/concepts
docs/security
```

```{{toctree}}
:maxdepth: 1
:caption: Reference

docs/reference
docs/files
collection/index
```

```{{toctree}}
:maxdepth: 1
:caption: Roles

{roles}
```

```{{toctree}}
:maxdepth: 1
:caption: The project

docs/status
{project}
{evidence}
```

* {{ref}}`search`
"""


#: Labels in Ansible's own documentation that antsibull-docs refers to, and their pages on Ansible's site.
ANSIBLE = {
    "common_return_values": "reference_appendices/common_return_values.html",
    "ansible_configuration_settings": "reference_appendices/config.html",
    "action_plugins": "plugins/action.html",
}
#: The theme shows a page's contents next to it, and replaces any other table of contents with an error.
CONTENTS = re.compile(r"^\.\. contents::\n(?:[ ]+:.*\n)*", re.M)
MODULE = re.compile(r"ansible_collections\.ansible\.builtin\.(\w+_module)\b")


def ansible(made: Path) -> str:
    """Return a page (reStructuredText) that defines the labels in use, so that any other label is a broken link.

    :param made: the directory with the pages from antsibull-docs.
    """
    modules = {name for path in made.glob("*.rst") for name in MODULE.findall(path.read_text(encoding="utf-8"))}
    pages = {
        f"ansible_collections.ansible.builtin.{name}": f"collections/ansible/builtin/{name}.html" for name in modules
    }
    parts = [":orphan:\n\nIn Ansible's documentation\n==========================\n"]
    for label, path in sorted({**ANSIBLE, **pages}.items()):
        title = label.rpartition(".")[2].removesuffix("_module").replace("_", " ").capitalize()
        url = f"https://docs.ansible.com/projects/ansible/latest/{path}"
        parts.append(f".. _{label}:\n\n{title}\n{'-' * len(title)}\n\n`{title} <{url}>`__\n")
    return "\n".join(parts)


def without_contents(made: Path) -> None:
    """Remove the tables of contents from antsibull-docs' pages in a directory."""
    for path in made.glob("*.rst"):
        path.write_text(CONTENTS.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")


def written() -> list[str]:
    """Return the handwritten pages, by their paths in the checkout."""
    return [name for name in host.files() if name.endswith(".md") and not name.startswith((".", "tests/"))]


def page(name: str, source: Path) -> str:
    """Return a page's text; copy linked files to ``source``, and point links to directories at the repository."""
    url = publication.repository_url()

    def target(match: re.Match[str]) -> str:
        path = ((ROOT / name).parent / unquote(match[2])).resolve()
        if path.is_dir():
            # The site has no page for it, and an unpublished repository cannot be linked to.
            return f"[{match[1]}]({url}/tree/main/{path.relative_to(ROOT)})" if url else match[1]
        if path.is_file() and path.suffix != ".md":
            copy = source / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
        return match[0]

    return LINK.sub(target, (ROOT / name).read_text(encoding="utf-8"))


def failures(source: Path) -> None:
    """Write a page for each failure, and a page that lists them in place of docs/troubleshooting.md."""
    folder = source / "docs/failures"
    folder.mkdir(parents=True)
    parts = [troubleshooting.INTRODUCTION]
    for topic, rules in troubleshooting.topics():
        title, _blank, about = troubleshooting.chapter(topic)
        parts.append(f"## {title}\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n")
        for rule, examples in rules:
            text = troubleshooting.section(rule, examples).replace("### ", "# ", 1)
            (folder / f"{rule.name}.md").write_text(text, encoding="utf-8")
            parts.append(f"failures/{rule.name}")
        parts.append("```\n")
    (source / "docs/troubleshooting.md").write_text("\n".join(parts), encoding="utf-8")


def index(names: Iterable[str]) -> str:
    """Return the start page, which lists all other pages by section."""
    listed = (
        "README docs/tutorial docs/owner docs/fleet docs/serving docs/offline docs/developer docs/scale"
        " docs/troubleshooting docs/concepts docs/security docs/reference"
    )
    rest = [name.removesuffix(".md") for name in names]
    rest = [name for name in rest if name not in {*listed.split(), "docs/files", "docs/status"}]
    parts: dict[str, list[str]] = {"roles": [], "evidence": [], "how_to": [], "project": []}
    for name in rest:
        kind = "roles" if name.startswith("roles/") else "evidence" if name.startswith("docs/evidence/") else ""
        parts[kind or ("how_to" if name in ("docs/runs-on-spark", "docs/update-rules") else "project")].append(name)
    return INDEX.format(**{kind: "\n".join(lines) for kind, lines in parts.items()})


class _Page(HTMLParser):
    """The anchors and links of a page on the site."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors, self.links = {""}, []  # type: set[str], list[str]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" or (key == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif key in ("href", "src") and value:
                self.links.append(value)


def broken(html: Path) -> tuple[int, int, list[str]]:
    """Check all links within the site.

    :returns: the number of pages, the number of such links, and the broken links.
    """
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(html.rglob("*.html"))}
    links, lost = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or (target in pages and unquote(parts.fragment) not in pages[target].anchors):
                lost.append(f"{path.relative_to(html.resolve())}: {link}")
    return len(pages), links, lost


def tool(name: str, *arguments: str | Path) -> bool:
    """Run a tool from this Python's environment and report a failure."""
    command = [Path(sys.executable).with_name(name), *arguments]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status != 0:
        print(f"docs: {name} exited with {status}", file=sys.stderr)
    return status == 0


def main() -> int:
    """Rebuild the site; if a page is invalid or a link is broken, report it and return 1."""
    source, html = SITE / "source", SITE / "html"
    shutil.rmtree(SITE, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("conf.py", "site.css"):
        shutil.copy2(ROOT / "docs" / name, source)
    names = written()
    for name in names:
        copy = source / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(page(name, source), encoding="utf-8")
    failures(source)
    (source / "index.md").write_text(index(names), encoding="utf-8")
    generated = source / "collection"
    generated.mkdir()
    if not tool(
        "antsibull-docs", "collection", "--use-current", "--squash-hierarchy", "--fail-on-error",
        "--no-add-antsibull-docs-version", "--dest-dir", generated, COLLECTION,
    ):  # fmt: skip
        return 1
    without_contents(generated)
    (source / "ansible.rst").write_text(ansible(generated), encoding="utf-8")
    if not tool("sphinx-build", "-q", "-n", "-W", "--keep-going", "-b", "html", source, html):
        return 1
    pages, links, lost = broken(html)
    for link in lost:
        print(f"docs: a broken link: {link}", file=sys.stderr)
    print(f"docs: {pages} pages, {links} links within them, {len(lost)} broken: {html.relative_to(ROOT)}/index.html")
    return 1 if lost or not links else 0


if __name__ == "__main__":
    sys.exit(main())
