import dataclasses
import html.parser
import json
import typing as t
import urllib.parse
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel, of_manifest
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


def make(**changes: t.Any) -> dict[str, t.Any]:
    return publication.manifest(
        **{
            "stack": "torch-2.9.1",
            "lock_id": "0123456789ab",
            "platform": "ubuntu24.04-aarch64",
            "python": "3.12",
            "host": "spark01",
            "written": "2026-11-21T10:00:00Z",
            "units": UNITS,
            **changes,
        }
    )


def test_a_manifest_is_as_the_contract_has_it() -> None:
    made = make()
    assert {key: made[key] for key in ("format", "stack", "lock_id", "platform", "python", "host", "written")} == {
        "format": 1, "stack": "torch-2.9.1", "lock_id": "0123456789ab", "platform": "ubuntu24.04-aarch64",
        "python": "3.12", "host": "spark01", "written": "2026-11-21T10:00:00Z",
    }  # fmt: skip
    assert [unit["name"] for unit in made["units"]] == ["llvm", "pytorch", "triton"]
    assert made["units"][0] == {"name": "llvm", "fingerprint": "1" * 16, "wheels": []}
    assert made["units"][1]["wheels"] == [{**WHEEL, "path": f"pytorch/4b5c1f0e9a37d286/{FILE}"}]


def test_the_seal_does_not_depend_on_the_order_of_keys_and_units() -> None:
    made = make()
    assert made["seal"] == make(units=reversed(UNITS))["seal"]
    assert made["seal"] == publication.seal(json.loads(json.dumps(dict(reversed(made.items())))))
    assert make(python="3.11")["seal"] != made["seal"]


def test_a_manifest_is_read_as_it_was_written() -> None:
    made = make()
    assert publication.read(publication.text_of(made)) == made
    assert publication.check(made) == made
    assert publication.file_of(made["stack"], made["lock_id"]) == "torch-2.9.1-0123456789ab.json"


def test_one_that_was_changed_is_refused() -> None:
    made = make()
    made["units"][1]["wheels"][0]["sha256"] = "b" * 64
    with pytest.raises(SparkforgeError, match=f"was changed after it was written: its seal is {made['seal'][:12]}"):
        publication.check(made)


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
def test_what_a_receipt_says_of_no_wheel_is_not_published(changed: dict[str, str]) -> None:
    wheel = dataclasses.replace(Wheel(FILE, "a" * 64, "torch", WHEEL["version"], 1), **changed)
    units = [{"name": "pytorch", "fingerprint": "1" * 16, "wheels": [wheel]}]
    with pytest.raises(SparkforgeError, match="which is no wheel of") as refused:
        make(units=units)
    assert refused.value.cause.isprintable() and "Nothing was published" in refused.value.cause


def test_the_schema_is_that_of_what_is_written() -> None:
    SCHEMA.check_schema(SCHEMA.schema)
    SCHEMA.validate(json.loads(publication.text_of(make())))
    for form in (SCHEMA.schema, *SCHEMA.schema["$defs"].values()):
        assert set(form["required"]) == set(form["properties"]) - {"signature"}
    assert set(SCHEMA.schema["properties"]) == {*make(), "signature"}
    assert not SCHEMA.is_valid({**make(), "signature": 3})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", "is an HTML page"),
        (b"  <html>", "is an HTML page"),
        (b"502", "its format|not a JSON object"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"format": ' + b"1" * 5000 + b"}", "is not"),
        (b"[]", "it is not a JSON object"),
    ],
)
def test_what_is_no_manifest_is_named(content: bytes, message: str) -> None:
    with pytest.raises(SparkforgeError, match=message) as caught:
        publication.read(content, "The manifest at https://spark01/")
    assert "The manifest at https://spark01/" in caught.value.cause


class Links(html.parser.HTMLParser):
    """The links of a page, as pip reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append((str(dict(attrs)["href"]), ""))

    def handle_data(self, data: str) -> None:
        if self.found and not self.found[-1][1]:
            self.found[-1] = (self.found[-1][0], data.strip())


def test_the_index_names_every_project_by_its_normalised_name_and_links_its_files_with_their_sha256() -> None:
    other = Wheel("flash_attn-2.8-py3-none-any.whl", "a" * 64, "flash_attn", "2.8", place="flash_attention/1")
    [torch] = of_manifest(make())
    pages = publication.index([torch, other, torch])
    assert set(pages) == {"index.html", "torch/index.html", "flash-attn/index.html"}
    assert Links(pages["index.html"]).found == [("flash-attn/", "flash-attn"), ("torch/", "torch")]
    ((target, text),) = Links(pages["torch/index.html"]).found
    assert text == FILE
    found = urllib.parse.urlsplit(urllib.parse.urljoin("http://spark01:8629/ubuntu24.04-aarch64/simple/torch/", target))
    assert urllib.parse.unquote(found.path) == f"/ubuntu24.04-aarch64/pytorch/4b5c1f0e9a37d286/{FILE}"
    # A plus sign would be a blank to some.
    assert "%2Bsf" in found.path
    assert found.fragment == "sha256=" + "a" * 64


def test_what_a_name_has_of_html_is_text_in_the_index() -> None:
    evil = '"><script>'
    page = publication.index([Wheel(f"x{evil}.whl", evil, "a", "1", place="a/1")])["a/index.html"]
    assert "<script" not in page
    ((target, text),) = Links(page).found
    assert text == f"x{evil}.whl" and target.endswith(f"#sha256={evil}")
