"""Proxies and a corporate CA: a download's environment, the files on a host, and refused settings."""

import base64
import hashlib
import json
import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.network_access import files, problems

from tests.unit.certificate import PEM

environment = FilterModule().filters()["fetch_environment"]

APT = "/etc/apt/apt.conf.d/51sparkforge-proxy"
KEPT = "/etc/sparkforge-proxies.json"
CA = "/usr/local/share/ca-certificates/sparkforge.crt"
SECRET = "hunter2"
PROXIES = {
    "http": "http://proxy.example.com:3128",
    "https": f"http://joe:{SECRET}@proxy.example.com:3128/",
    "no_proxy": ["localhost", ".example.com", "10.0.0.0/8", "mirror.example.com"],
}


def pem(der: bytes) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{base64.encodebytes(der).decode()}-----END CERTIFICATE-----\n"


@pytest.fixture
def certificate(tmp_path: t.Any) -> str:
    """A file with two certificates, each with its name in a comment."""
    path = tmp_path / "ca.pem"
    path.write_text(f"# Büro\n{PEM}\n# Außenstelle\n{PEM}")
    return str(path)


def test_environment_is_empty_without_proxies_and_ca() -> None:
    assert environment({}, "") == {}
    assert environment(None) == {}
    assert {row["content"] for row in files({}, "").values()} == {""}


def test_proxies_are_set_in_both_spellings(certificate: str) -> None:
    hosts = "localhost,.example.com,10.0.0.0/8,mirror.example.com"
    bundle = "/etc/ssl/certs/ca-certificates.crt"
    proxies = {**PROXIES, "https": "http://proxy.example.com:3129"}
    assert environment(proxies, certificate) == {
        "http_proxy": proxies["http"], "HTTP_PROXY": proxies["http"], "https_proxy": proxies["https"],
        "HTTPS_PROXY": proxies["https"], "no_proxy": hosts, "NO_PROXY": hosts, "SSL_CERT_FILE": bundle,
        "PIP_CERT": bundle, "GIT_SSL_CAINFO": bundle, "CURL_CA_BUNDLE": bundle, "REQUESTS_CA_BUNDLE": bundle,
    }  # fmt: skip


def test_a_password_is_in_a_file_and_not_in_the_environment() -> None:
    assert environment(PROXIES) == {"SPARKFORGE_PROXIES": KEPT}
    row = files(PROXIES, "")[KEPT]
    assert row["mode"] == "0600"
    assert json.loads(row["content"])["https_proxy"] == PROXIES["https"]
    assert files({"http": PROXIES["http"]}, "")[KEPT]["content"] == ""


def test_no_proxy_may_be_a_string() -> None:
    assert environment({"no_proxy": "localhost, mirror.example.com"})["no_proxy"] == "localhost,mirror.example.com"


def test_apt_configuration_has_proxies_and_supported_exceptions() -> None:
    row = files(PROXIES, "")[APT]
    assert row["content"].splitlines()[1:] == [
        'Acquire::http::Proxy "http://proxy.example.com:3128";',
        'Acquire::http::Proxy::localhost "DIRECT";',
        'Acquire::http::Proxy::mirror.example.com "DIRECT";',
        f'Acquire::https::Proxy "http://joe:{SECRET}@proxy.example.com:3128/";',
        'Acquire::https::Proxy::localhost "DIRECT";',
        'Acquire::https::Proxy::mirror.example.com "DIRECT";',
    ]
    assert row["sha256"] == hashlib.sha256(row["content"].encode()).hexdigest()


def test_a_file_with_a_password_is_readable_by_root_only() -> None:
    assert files(PROXIES, "")[APT]["mode"] == "0600"
    assert files({"http": PROXIES["http"]}, "")[APT]["mode"] == "0644"


def test_the_ca_is_copied_unchanged(certificate: str) -> None:
    with open(certificate, encoding="utf-8") as stream:
        assert files({}, certificate)[CA]["content"] == stream.read()


@pytest.mark.parametrize(
    ("proxies", "message"),
    [
        ("http://proxy:3128", "not a mapping"),
        ({"htpp": "http://proxy:3128"}, "htpp"),
        ({"http": "proxy:3128"}, "http://"),
        ({"http": f"ftp://joe:{SECRET}@proxy"}, "does not begin"),
        ({"http": f"http://joe:{SECRET}@:3128"}, "has no host"),
        ({"https": f"http://joe:{SECRET}@proxy:port"}, "port"),
        ({"https": f"http://joe:{SECRET}@proxy:99999"}, "port"),
        ({"http": f'http://joe:{SECRET}@proxy"; Dir "/'}, "invalid characters"),
        ({"http": f"http://joe:{SECRET}@proxy/path"}, "host and port"),
        ({"http": 3128}, "not a URL"),
        ({"no_proxy": 5}, "neither"),
        ({"no_proxy": ["a b;"]}, "not a host"),
    ],
)
def test_faulty_proxies_are_refused_without_showing_a_password(proxies: t.Any, message: str) -> None:
    (problem,) = problems(proxies, "")
    assert message in problem.cause
    assert problem.remedy
    assert SECRET not in str(problem)
    with pytest.raises(AnsibleFilterError) as error:
        environment(proxies)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"", "no PEM certificate"),
        (b"\x30\x82\xff\xfe", "is not PEM"),
        (b"-----BEGIN CERTIFICATE-----\nMIIB\n", "something other"),
        (PEM[:-100].encode(), "something other"),
        (pem(b"\x30\x82\x01\x00" + bytes(10)).encode(), "something other"),
        (pem(b"hello").encode(), "something other"),
        (b"-----BEGIN PRIVATE KEY-----\n", "private key"),
    ],
)
def test_a_faulty_certificate_is_refused_with_its_path(tmp_path: t.Any, content: bytes | None, message: str) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    (problem,) = problems({}, str(path))
    assert message in problem.cause
    assert str(path) in problem.cause
