"""The plan of the role wheelhouse, and settings that it refuses before it contacts the host."""

import hashlib
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import Plan, wheelhouse

ROLE = Path(__file__).parents[5] / "roles/wheelhouse"
CERTIFICATE, KEY = "-----BEGIN CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----\n"
CLOSED = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
PLAIN = {"wheelhouse_username": "fleet", "wheelhouse_password": "hunter22"}


def plan(*packages: str, **changed: t.Any) -> Plan:
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    data = {**yaml.safe_load((ROLE / "vars/main.yml").read_text()), "inventory_hostname": "spark01"}
    return wheelhouse.plan({**defaults, **data, **changed}, {"apt": {"packages": dict.fromkeys(packages, "1")}})


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, str]:
    for name, text in (("cert.pem", CERTIFICATE), ("key.pem", KEY), ("closed.pem", CLOSED)):
        (tmp_path / name).write_text(text)
    (tmp_path / "der.pem").write_bytes(b"\x30\x82\xff")
    return {"wheelhouse_tls_certificate": str(tmp_path / "cert.pem"), "wheelhouse_tls_key": str(tmp_path / "key.pem")}


@pytest.mark.parametrize(
    ("changed", "cause", "remedy"),
    [
        ({"sparkforge_root": "/srv/a b"}, "/srv/a b cannot", "absolute path"),
        ({"sparkforge_root": "/srv/a;b"}, "/srv/a;b cannot", "absolute path"),
        ({"wheelhouse_port": 0}, "0 is not", "wheelhouse_port"),
        ({"wheelhouse_port": 70000}, "70000 is not", "wheelhouse_port"),
        ({"wheelhouse_port": "http"}, "http is not", "wheelhouse_port"),
        ({"wheelhouse_listen": []}, "[] are not addresses", "wheelhouse_listen"),
        ({"wheelhouse_listen": ["spark01"]}, '["spark01"] are not addresses', "wheelhouse_listen"),
        ({"wheelhouse_listen": ["0.0.0.0; root /"]}, "are not addresses", "wheelhouse_listen"),
        ({"wheelhouse_listen": ["10.0.0.1", "fe80::1%eth0"]}, "are not addresses", "wheelhouse_listen"),
        ({"wheelhouse_username": "fleet"}, "but no password", "wheelhouse_password"),
        ({"wheelhouse_password": "secret"}, "but no user", "wheelhouse_username"),
        ({**PLAIN, "wheelhouse_username": "a:b"}, "has a colon", "wheelhouse_username"),
        ({**PLAIN, "wheelhouse_password": "secret\n"}, "a line break", "| trim"),
        ({**PLAIN, "wheelhouse_password": "é" * 128}, "longer than 255 bytes", "wheelhouse_password"),
        ({"wheelhouse_tls_certificate": "cert.pem"}, "but no key", "wheelhouse_tls_key"),
        ({"wheelhouse_tls_key": "key.pem"}, "but no certificate", "wheelhouse_tls_certificate"),
        ({"wheelhouse_tls_certificate": "none.pem", "wheelhouse_tls_key": "key.pem"}, "none.pem is not", "plain HTTP"),
        ({"wheelhouse_tls_certificate": "der.pem", "wheelhouse_tls_key": "key.pem"}, "read as PEM", "PEM files"),
        (
            {"wheelhouse_tls_certificate": "cert.pem", "wheelhouse_tls_key": "closed.pem"},
            "closed.pem has a passphrase",
            "without one",
        ),
    ],
)
def test_an_impossible_setting_is_refused_with_its_remedy(tls, tmp_path, monkeypatch, changed, cause, remedy):
    monkeypatch.chdir(tmp_path)
    refused = plan(**changed)
    assert not refused.steps and not refused.reasons
    (refusal,) = refused.refusals
    assert cause in refusal["cause"] and remedy in refusal["remedy"]
    assert "secret" not in str(refusal)


def test_all_impossible_settings_are_refused_at_once() -> None:
    assert len(plan(wheelhouse_port=0, wheelhouse_listen=[], wheelhouse_username="fleet").refusals) == 3


@pytest.mark.parametrize(
    ("listen", "addresses", "url"),
    [
        (["::", "[2001:db8::1]", "192.0.2.1"], ["[::]", "[2001:db8::1]", "192.0.2.1"], "http://[::1]:8629"),
        (["0.0.0.0"], ["0.0.0.0"], "http://127.0.0.1:8629"),
        (["10.0.0.0"], ["10.0.0.0"], "http://10.0.0.0:8629"),
        ("192.0.2.1,::1", ["192.0.2.1", "[::1]"], "http://192.0.2.1:8629"),
    ],
)
def test_addresses_are_written_for_nginx_and_the_url(listen: t.Any, addresses: list[str], url: str) -> None:
    site = plan(wheelhouse_listen=listen).steps["site"]
    assert (site["addresses"], site["url"]) == (addresses, url)


def test_wheelhouse_salt_and_certificate_are_the_same_each_time(tls: dict[str, str]) -> None:
    steps = plan(**tls, **PLAIN, wheelhouse_listen=["::", "192.0.2.1"]).steps
    assert steps["salt"] == "ff05372dac43698c"
    assert steps["site"]["url"] == "https://[::1]:8629"
    assert steps["tls"] == f"{CERTIFICATE}{KEY}".rstrip()


SITE = "/etc/nginx/conf.d/sparkforge-wheelhouse.conf"
TLS, HTPASSWD = (f"/etc/nginx/sparkforge-wheelhouse/{name}" for name in ("tls.pem", "htpasswd"))


def observation(steps: t.Mapping[str, t.Any], *lines: str, without: str = "") -> dict[str, t.Any]:
    """Return the role's observation of a host that follows ``steps``, without the lines ``without`` and with others."""

    def file(path: str, content: str, attributes: str) -> list[str]:
        return [f"{attributes} {path}", f"{hashlib.sha256(content.encode()).hexdigest()}  {path}"]

    output = ["listening", "enabled", *file(SITE, steps["site"]["content"], "644 root:root")]
    output += file(TLS, steps["tls"] + "\n", "600 root:root") if "tls" in steps else []
    output += ["password", *file(HTPASSWD, "user:hash\n", "640 root:www-data")] if "salt" in steps else []
    lines_left = [line for line in output if not without or without not in line]
    return {"__wheelhouse_observed": {"stdout": "\n".join([*lines_left, *lines])}}


def test_missing_parts_are_reasons_and_a_served_wheelhouse_has_none() -> None:
    steps = plan().steps
    fresh = plan(__wheelhouse_observed={"stdout": ""})
    assert fresh.steps["packages"] == ["nginx"] and {"first", "serve", "reload"} <= set(fresh.steps)
    assert fresh.reasons[0] == "install nginx" and fresh.reasons[1].endswith(" http://127.0.0.1:8629")
    served = plan("nginx", **observation(steps))
    assert list(served.steps) == ["site"] and served.reasons == []
    # If nginx was not observed, the plan lists no reasons.
    assert plan("nginx").reasons == []


@pytest.mark.parametrize(
    ("without", "line", "reload"),
    [
        ("listening", "", True),
        ("enabled", "", False),
        ("password", "", False),
        (SITE, "", False),
        (TLS, f"600 root:root {TLS}", False),
        ("640 root:www-data", f"644 root:www-data {HTPASSWD}", False),
    ],
)
def test_differences_are_applied_and_a_silent_nginx_is_reloaded(tls: dict[str, str], without, line, reload):
    settings = {**PLAIN, **tls}
    steps = plan("nginx", "openssl", **settings).steps
    assert "serve" not in plan("nginx", "openssl", **settings, **observation(steps)).steps
    differs = plan("nginx", "openssl", **settings, **observation(steps, line, without=without))
    assert differs.steps["serve"] and ("reload" in differs.steps) == reload and differs.reasons


UNIT = "/etc/systemd/system/nginx.service.d/sparkforge.conf"


def test_unit_of_nginx_without_another_site_is_confined_and_released(tls: dict[str, str]) -> None:
    steps = plan("nginx", **tls).steps
    alone = plan("nginx", **tls, **observation(steps, "alone"))
    assert "User=www-data" in alone.steps["unit"] and alone.reasons and "opened" not in alone.steps
    assert "CAP_NET_BIND_SERVICE" not in alone.steps["unit"]
    assert "CAP_NET_BIND_SERVICE" in plan("nginx", wheelhouse_port=80, **observation(steps, "alone")).steps["unit"]
    digest = hashlib.sha256(alone.steps["unit"].encode()).hexdigest()
    installed = [f"644 root:root {UNIT}", f"{digest}  {UNIT}"]
    # The account that runs nginx must be able to read the key.
    shut_in = observation(steps, "alone", f"640 root:www-data {TLS}", *installed, without=f"600 root:root {TLS}")
    assert plan("nginx", **tls, **shut_in).reasons == []
    opened = plan("nginx", **tls, **observation(steps, *installed)).steps
    assert opened["opened"] and opened["serve"] and "unit" not in opened


def test_files_that_a_site_no_longer_uses_are_removed() -> None:
    steps = plan("nginx", "openssl", **PLAIN).steps
    other = plan("nginx", "openssl", **PLAIN, **observation(steps, f"600 root:root {TLS}"))
    assert other.steps["stale"] == [TLS] and "serve" in other.steps
    assert "packages" not in other.steps and "first" not in other.steps


def test_a_password_needs_openssl_and_is_a_warning_without_tls(tls: dict[str, str]) -> None:
    warned = plan("nginx", **PLAIN)
    assert warned.reasons == ["install openssl"] and "first" not in warned.steps
    assert "without TLS" in warned.notes[0] and "hunter22" not in str(warned)
    assert plan("nginx", **PLAIN, **tls).notes == []
