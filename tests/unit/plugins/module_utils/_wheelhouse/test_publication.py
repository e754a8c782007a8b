import dataclasses
import html.parser
import json
import typing as t
import urllib.parse
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel, of_units
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((Path(__file__).parents[5] / "docs/manifest.schema.json").read_text(encoding="utf-8"))
)
FILE = "torch-2.9.1+sf.4b5c1f0e-cp312-cp312-linux_aarch64.whl"
WHEEL = {"name": "torch", "version": "2.9.1+sf.4b5c1f0e", "file": FILE, "sha256": "a" * 64, "size": 123}
UNITS = [
    {"name": "triton", "fingerprint": "2" * 16, "wheels": []},
    {"name": "pytorch", "fingerprint": "4b5c1f0e9a37d286", "wheels": [Wheel(**WHEEL)]},
    {"name": "llvm", "fingerprint": "1" * 16, "wheels": []},
]


FIELDS = {
    "stack": "torch-2.9.1", "lock_id": "0123456789ab", "platform": "ubuntu24.04-aarch64", "python": "3.12",
    "host": "spark01", "written": "2026-11-21T10:00:00Z",
}  # fmt: skip


def make_manifest(**changes: t.Any) -> dict[str, t.Any]:
    return publication.manifest(**{**FIELDS, "units": UNITS, **changes})


def test_manifest_fields() -> None:
    manifest = make_manifest()
    assert {key: manifest[key] for key in ("format", *FIELDS)} == {"format": 1, **FIELDS}
    assert [unit["name"] for unit in manifest["units"]] == ["llvm", "pytorch", "triton"]
    assert manifest["units"][0] == {"name": "llvm", "fingerprint": "1" * 16, "wheels": []}
    assert manifest["units"][1]["wheels"] == [{**WHEEL, "path": f"pytorch/4b5c1f0e9a37d286/{FILE}"}]


def test_seal_does_not_depend_on_order() -> None:
    manifest = make_manifest()
    assert manifest["seal"] == make_manifest(units=reversed(UNITS))["seal"]
    assert manifest["seal"] == publication.seal(json.loads(json.dumps(dict(reversed(manifest.items())))))
    assert make_manifest(python="3.11")["seal"] != manifest["seal"]


def test_changed_manifest_is_refused() -> None:
    manifest = make_manifest()
    manifest["units"][1]["wheels"][0]["sha256"] = "b" * 64
    with pytest.raises(SparkforgeError, match=f"its seal is {manifest['seal'][:12]}"):
        publication.check(manifest)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "{{ lookup('ansible.builtin.pipe', 'id') }}"},
        {"file": "../../../../../etc/shadow"},
        {"file": f"../{FILE}"},
        {"version": "2.9.1\nRequires-Dist: evil"},
        {"name": "pip"},
    ],
    ids=["template", "path", "directory", "lines", "another project"],
)
def test_invalid_wheel_facts_are_not_published(changed: dict[str, str]) -> None:
    wheel = dataclasses.replace(Wheel(FILE, "a" * 64, "torch", WHEEL["version"], 1), **changed)
    units = [{"name": "pytorch", "fingerprint": "1" * 16, "wheels": [wheel]}]
    with pytest.raises(SparkforgeError, match="not a wheel") as refused:
        make_manifest(units=units)
    assert refused.value.cause.isprintable() and "Nothing was published" in refused.value.cause


def test_schema_describes_the_manifest() -> None:
    SCHEMA.check_schema(SCHEMA.schema)
    SCHEMA.validate(json.loads(digests.text_of(make_manifest())))
    for form in (SCHEMA.schema, *SCHEMA.schema["$defs"].values()):
        assert set(form["required"]) == set(form["properties"]) - {"signature"}
    assert set(SCHEMA.schema["properties"]) == {*make_manifest(), "signature"}
    assert not SCHEMA.is_valid({**make_manifest(), "signature": 3})


class Links(html.parser.HTMLParser):
    """Reads the links on a page as pip does."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append((str(dict(attrs)["href"]), ""))

    def handle_data(self, data: str) -> None:
        if self.links and not self.links[-1][1]:
            self.links[-1] = (self.links[-1][0], data.strip())


def test_index_links_files_with_sha256() -> None:
    other = Wheel("flash_attn-2.8-py3-none-any.whl", "a" * 64, "flash_attn", "2.8", place="flash_attention/1")
    [torch] = of_units(make_manifest()["units"])
    pages = publication.index([torch, other, torch])
    assert set(pages) == {"index.html", "torch/index.html", "flash-attn/index.html"}
    assert Links(pages["index.html"]).links == [("flash-attn/", "flash-attn"), ("torch/", "torch")]
    ((target, text),) = Links(pages["torch/index.html"]).links
    assert text == FILE
    page = "http://spark01:8629/ubuntu24.04-aarch64/simple/torch/"
    url = urllib.parse.urlsplit(urllib.parse.urljoin(page, target))
    assert urllib.parse.unquote(url.path) == f"/ubuntu24.04-aarch64/pytorch/4b5c1f0e9a37d286/{FILE}"
    # Some servers interpret a plus sign as a space.
    assert "%2Bsf" in url.path
    assert url.fragment == "sha256=" + "a" * 64


def test_html_in_a_name_is_escaped_in_the_index() -> None:
    evil = '"><script>'
    page = publication.index([Wheel(f"x{evil}.whl", evil, "a", "1", place="a/1")])["a/index.html"]
    assert "<script" not in page
    ((target, text),) = Links(page).links
    assert text == f"x{evil}.whl" and target.endswith(f"#sha256={evil}")
