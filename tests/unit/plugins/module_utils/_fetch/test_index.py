# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a package index really answers, and how credentials reach pip."""

from __future__ import annotations

import netrc
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import index
from ansible_collections.sparkforge.dgx_spark.tests.unit import web_server

URL = "https://spark01.example.com/simple/torch/"
PAGE = b"<html><head><title>Sign in &amp; out</title></head></html>"


@pytest.mark.parametrize(
    ("entry", "cause"),
    [
        ({"username": "a", "password": "b"}, "neither a url nor a host"),
        ({"url": "https://a/", "host": "a", "username": "a", "password": "b"}, "both a url and a host"),
        ({"url": "spark01", "username": "a", "password": "b"}, "names no server"),
        ({"url": "https://[a/", "username": "a", "password": "b"}, "names no server"),
        ({"host": "a", "username": "", "password": "b"}, "have no user name"),
        ({"host": "a", "username": "a", "password": ""}, "have no password"),
        ({"host": "a", "username": "a", "password": "b\n"}, "cannot encode"),
        ({"host": "a", "username": "a", "password": "\u20ac"}, "cannot encode"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused_and_no_password_is_told(entry: dict[str, t.Any], cause: str) -> None:
    with pytest.raises(SparkforgeError, match=cause) as refused:
        index.credentials([entry])
    assert "\u20ac" not in str(refused.value)


def test_one_server_has_one_password() -> None:
    one = {"host": "a", "username": "a", "password": "b"}
    assert len(index.credentials([one, {**one, "host": "", "url": "https://a:8443/x"}])) == 1
    with pytest.raises(SparkforgeError, match="a has two user names or passwords"):
        index.credentials([one, {**one, "password": "c"}])


@pytest.mark.parametrize("password", ["plain", 'p "a\\ss# x', "#first", '"quoted"', "machine", "é"])
def test_a_netrc_file_gives_back_what_was_put_into_it(tmp_path: Path, password: str) -> None:
    file = tmp_path / "netrc"
    entries = index.credentials([{"host": "a.example", "username": "us er", "password": password}])
    file.write_text(index.render_netrc(entries, sys.version_info[:2]), encoding="utf-8")
    assert netrc.netrc(str(file)).authenticators("a.example") == ("us er", "", password)


def test_an_older_python_is_not_given_what_it_cannot_read() -> None:
    entries = index.credentials([{"host": "a", "username": "reader", "password": 'p"a\\ss#'}])
    assert index.render_netrc(entries, (3, 9)) == 'machine a login reader password p"a\\ss#\n'
    entries = index.credentials([{"host": "a", "username": "reader", "password": "two words"}])
    with pytest.raises(SparkforgeError, match="cannot read"):
        index.render_netrc(entries, (3, 10))


@pytest.mark.parametrize(
    ("url", "answer", "words"),
    [
        (
            URL,
            index.Answer(200, "text/html", PAGE),
            "an HTML page ('Sign in & out') and status 200 without files",
        ),
        (URL, index.Answer(200, "", b"<!doctype html>"), "an HTML page and status 200"),
        (URL + "a%2B1.whl", index.Answer(200, "text/html", PAGE), "instead of a+1.whl"),
        (URL, index.Answer(401), "requires a user name and password"),
        (URL, index.Answer(403), "is forbidden for this host without credentials"),
        (URL, index.Answer(407), "The proxy requires a user name"),
        (URL, index.Answer(502, server_error="Bad Gateway"), "answers HTTP 502 Bad Gateway"),
    ],
)
def test_a_wrong_answer_is_explained(url: str, answer: index.Answer, words: str) -> None:
    error = index.explain(url, answer, "torch", False)
    assert error is not None and words in error.cause and error.remedy


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        (URL, index.Answer(200, "text/html", b'<html><a href="torch-2.9.1-py3-none-any.whl#sha256=0">torch</a>')),
        (URL, index.Answer(200, "application/vnd.pypi.simple.v1+json", b"{}")),
        (URL, index.Answer(404)),
        (URL, index.Answer(302)),
        (URL + "a.whl", index.Answer(200, "application/octet-stream", b"PK")),
    ],
)
def test_what_pip_can_cope_with_is_left_to_it(url: str, answer: index.Answer) -> None:
    assert index.explain(url, answer, "torch", False) is None


def test_credentials_go_to_their_server_and_follow_no_redirection() -> None:
    one, other = web_server.Server(), web_server.Server()
    try:
        one.authorization = "Basic YTpi"
        one.files["/simple/"] = b"<a href='x.whl'>x</a>"
        known = index.credentials([{"url": one.url, "username": "a", "password": "b"}])
        answer = index.ask(f"{one.url}/simple/", known)
        assert answer is not None and (answer.status, answer.content_type) == (200, "text/html")
        assert index.ask(f"{one.url}/simple/") == index.Answer(401, server_error="Unauthorized")
        one.redirects["/away/"] = f"{other.url}/"
        answer = index.ask(f"{one.url}/away/", known)
        assert answer is not None and answer.status == 302
        assert other.requests == []
    finally:
        one.close()
        other.close()
    assert index.ask(f"{one.url}/simple/") is None


def test_a_server_is_not_told_the_password_of_another() -> None:
    one = web_server.Server()
    try:
        known = index.credentials([{"host": "other.test", "username": "a", "password": "b"}])
        assert index.ask(f"{one.url}/simple/", known) == index.Answer(404, server_error="Not Found")
        assert one.credentials == []
    finally:
        one.close()
