# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
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
    assert publication.check(made, stack="torch-2.9.1", lock_id="0123456789ab", platform="ubuntu24.04-aarch64") == made
    assert publication.file_of(made["stack"], made["lock_id"]) == "torch-2.9.1-0123456789ab.json"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"platform": "debian13-x86_64"}, "platform ubuntu24.04-aarch64, not debian13-x86_64"),
        ({"stack": "torch-2.10.0"}, "stack torch-2.9.1, not torch-2.10.0"),
        ({"lock_id": "ba9876543210"}, "lock 0123456789ab, not ba9876543210"),
    ],
)
def test_one_of_something_else_is_refused(wanted: dict[str, str], message: str) -> None:
    with pytest.raises(SparkforgeError, match=message) as caught:
        publication.check(make(), where="The manifest at http://spark01/", **wanted)
    assert caught.value.cause.startswith("The manifest at http://spark01/ is for")
    assert caught.value.remedy


def test_one_that_was_changed_is_refused() -> None:
    made = make()
    made["units"][1]["wheels"][0]["sha256"] = "b" * 64
    with pytest.raises(SparkforgeError, match=f"was changed after it was written: its seal is {made['seal'][:12]}"):
        publication.check(made)


def broken(change: t.Callable[[dict[str, t.Any]], object]) -> dict[str, t.Any]:
    made = copy.deepcopy(make())
    change(made)
    # Sealed anew: whoever serves it can do that.
    made["seal"] = publication.seal(made)
    return made


def renamed(made: dict[str, t.Any], file: str) -> None:
    """Have the row of a wheel name another file: what a host installs is what its name says."""
    made["units"][1]["wheels"][0].update(file=file, path=f"pytorch/4b5c1f0e9a37d286/{file}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.update(format=2), "its format is 2"),
        (lambda one: one.update(stack="../../etc"), "stack is '../../etc'"),
        (lambda one: one.update(python="3.12; rm"), "python is"),
        (lambda one: one.pop("host"), "host is missing"),
        (lambda one: one.update(host="spark01\nspark02"), "host is 'spark01"),
        (lambda one: one.update(host="{{ lookup('pipe', 'id') }}"), 'host is "{{'),
        (lambda one: one.update(host="\x1b[2J"), "host is '\\x1b"),
        (lambda one: one.update(host="a" * 300), "host is 'aaa"),
        (lambda one: one.update(written="yesterday"), "written is 'yesterday'"),
        (lambda one: one.update(written="2026-13-45T10:00:00Z"), "written is '2026-13-45T10:00:00Z'"),
        (lambda one: one.update(units={}), "units is not a list"),
        (lambda one: one["units"].append(one["units"][0]), "lists a unit twice"),
        (lambda one: one["units"][0].update(name="a/b"), "names the unit 'a/b'"),
        (lambda one: one["units"][0].update(wheels=None), "the wheels of llvm are not a list"),
        (lambda one: one["units"][1]["wheels"][0].update(file="../x.whl"), "file of a wheel of pytorch"),
        (lambda one: one["units"][1]["wheels"][0].update(name="torch --index-url http://x"), "name of a wheel"),
        (lambda one: one["units"][1]["wheels"][0].update(version="1 --hash=sha256:0"), "version of a wheel"),
        (lambda one: one["units"][1]["wheels"][0].update(sha256="A" * 64), "sha256 of a wheel"),
        (lambda one: one["units"][1]["wheels"][0].update(size=True), "the size of torch"),
        (lambda one: one["units"][1]["wheels"][0].update(size=10**30), "the size of torch"),
        (lambda one: one["units"][1]["wheels"][0].update(path="pytorch/../../x.whl"), "the path of torch"),
        (lambda one: renamed(one, "pip-99-py3-none-any.whl"), "pip-99-py3-none-any.whl is no wheel of torch 2.9.1"),
        (lambda one: renamed(one, FILE.replace("2.9.1", "2.9.2")), "is no wheel of torch 2.9.1"),
        (lambda one: renamed(one, "torch.whl"), "torch.whl is no wheel of torch 2.9.1"),
    ],
)
def test_what_would_become_a_wrong_path_or_requirement_is_refused(change: t.Any, message: str) -> None:
    with pytest.raises(SparkforgeError, match="is not a wheelhouse manifest") as caught:
        publication.check(broken(change))
    assert message in caught.value.cause
    # What a schema can say; the modules that read manifests have no library for it on a host.
    beyond = "is no wheel of" in message or message in (
        "lists a unit twice",
        "the path of torch",
        "written is '2026-13-45T10:00:00Z'",
    )
    assert SCHEMA.is_valid(broken(change)) is beyond


def test_the_schema_is_that_of_what_is_written() -> None:
    SCHEMA.check_schema(SCHEMA.schema)
    SCHEMA.validate(json.loads(publication.text_of(make())))
    for form in (SCHEMA.schema, *SCHEMA.schema["$defs"].values()):
        assert set(form["required"]) == set(form["properties"]) - {"signature"}
    assert set(SCHEMA.schema["properties"]) == {*make(), "signature"}


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
