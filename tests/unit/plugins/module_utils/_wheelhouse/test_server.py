# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nginx is told, and that nothing stays where it refuses. A real nginx is in tests/integration."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import server as _wheelhouse_server
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse.server import (
    Server,
    hashed,
    holds_password,
    render,
)

from lab import serve


class Nginx:
    """Stands for nginx and its files below a directory: it serves what it was told to read last."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.etc = place / "etc"
        (self.etc / "conf.d").mkdir(parents=True)
        (self.etc / "sites-enabled").mkdir()
        self.refuses = self.deaf = self.runs = False
        self.served = ""
        self.calls: list[str] = []
        tool = place / "bin/nginx"
        tool.parent.mkdir()
        tool.touch(mode=0o755)
        monkeypatch.setattr(_wheelhouse_server, "_PATH", str(tool.parent))
        monkeypatch.setattr(_wheelhouse_server, "PATIENCE", 0.1)
        monkeypatch.setattr(_wheelhouse_server, "_master", lambda: 1 if self.runs else None)
        monkeypatch.setattr(_wheelhouse_server.detached, "systemd_runs", lambda: False)
        monkeypatch.setattr(Server, "_ask", lambda server: self.digest())
        monkeypatch.setattr(Server, "_check_port", lambda server: None)

    def run(self, argv: list[str], _environment: dict[str, str]) -> tuple[int, str, str]:
        self.calls.append(" ".join(argv[1:]))
        if "-t" in argv and self.refuses:
            return 1, "", 'nginx: [emerg] unknown directive "nonsense" in /etc/nginx/conf.d/theirs.conf:1\n'
        if "-t" not in argv:
            self.runs = "quit" not in argv
            if not self.deaf:
                path = self.etc / "conf.d/sparkforge-wheelhouse.conf"
                self.served = path.read_text() if path.exists() else ""
        return 0, "", ""

    def digest(self) -> str | None:
        lines = [line for line in self.served.splitlines() if "return 200" in line]
        return lines[0].split('"')[1].removesuffix("\\n") if lines and self.runs else None

    def server(self, check_mode: bool = False, **options: t.Any) -> Server:
        asked = {"root": str(self.place / "root"), "listen": ["0.0.0.0"], "port": 8629, **options}
        return Server(asked, self.run, check_mode, str(self.etc))

    def files(self) -> dict[str, tuple[int, bytes]]:
        return {
            str(path.relative_to(self.place)): (path.stat().st_mode & 0o777, path.read_bytes())
            for path in sorted(self.place.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def nginx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nginx:
    return Nginx(tmp_path, monkeypatch)


def test_the_password_s_digest_is_what_nginx_reads() -> None:
    # RFC 2307 as nginx's documentation of auth_basic_user_file has it: base64 of sha1(password, salt), then the salt.
    line = hashed("fleet", "secret", b"saltsalt")
    user, _colon, rest = line.decode().strip().partition(":{SSHA}")
    raw = base64.b64decode(rest)
    assert user == "fleet"
    assert (raw[:20], raw[20:]) == (hashlib.sha1(b"secretsaltsalt").digest(), b"saltsalt")
    assert holds_password(line, "fleet", "secret")
    for content in (
        line + line,
        hashed("other", "secret", b"s"),
        hashed("fleet", "wrong", b"s"),
        b"",
        b"fleet:{SSHA}*",
    ):
        assert not holds_password(content, "fleet", "secret")


def test_what_is_asked_for_is_in_the_server_file() -> None:
    text = render("/srv/forge", ["192.0.2.1", "2001:db8::1"], 8443, "/etc/x", tls=True, password=True, digest="d1")
    for line in (
        "listen 192.0.2.1:8443 ssl;", "listen [2001:db8::1]:8443 ssl;", "root /srv/forge/wheelhouse;",
        "ssl_certificate /etc/x/certificate.pem;", "auth_basic_user_file /etc/x/htpasswd;", "autoindex off;",
    ):  # fmt: skip
        assert f"    {line}\n" in text
    plain = render("/srv/forge", ["192.0.2.1"], 80, "/etc/x", tls=False, password=False, digest="d1")
    assert "ssl" not in plain and "auth_basic_user_file" not in plain
    assert text.count("{") == text.count("}")


def test_it_is_served_once_and_then_left_alone(nginx: Nginx) -> None:
    first = nginx.server().present()
    assert first["changed"] and first["url"] == "http://127.0.0.1:8629/"
    calls = len(nginx.calls)
    assert not nginx.server().present()["changed"]
    assert len(nginx.calls) == calls
    assert receipts.read(str(nginx.place / "root"), "nginx-wheelhouse") is not None
    assert nginx.server(port=8630).present()["changed"]
    assert nginx.calls[-2:] == ["-t -q", "-s reload -q"]


def test_check_mode_writes_nothing_and_asks_nginx_nothing(nginx: Nginx) -> None:
    before = nginx.files()
    checked = nginx.server(check_mode=True, username="fleet", password="hunter2").present()
    assert checked["changed"]
    assert nginx.files() == before
    assert nginx.calls == []
    assert "hunter2" not in str(checked)


def test_one_that_does_not_run_is_started(nginx: Nginx) -> None:
    nginx.server().present()
    nginx.runs = False
    again = nginx.server().present()
    assert again["changed"] and again["reasons"] == ["nginx does not serve it"]


@pytest.mark.parametrize("how", ["refuses", "deaf"])
def test_where_nginx_refuses_or_does_not_serve_it_all_is_as_before(nginx: Nginx, how: str) -> None:
    nginx.server(username="fleet", password="secret").present()
    before = nginx.files()
    setattr(nginx, how, True)
    with pytest.raises(SparkforgeError) as caught:
        nginx.server(port=8630, username="fleet", password="another").present()
    assert caught.value.cause.startswith(
        "nginx refuses its configuration: unknown directive" if how == "refuses" else "nginx does not serve"
    )
    assert nginx.files() == before


def test_the_first_time_too(nginx: Nginx) -> None:
    before = nginx.files()
    nginx.deaf = True
    with pytest.raises(SparkforgeError, match="does not serve the wheelhouse at"):
        nginx.server(username="fleet", password="secret").present()
    assert nginx.files() == before
    assert not nginx.runs, "what was started for nothing is ended"


def test_secrets_are_in_no_result_and_their_files_are_closed(nginx: Nginx, tmp_path: Path) -> None:
    made = serve.make_certificate(tmp_path / "pair", ["127.0.0.1"])
    options = {
        "certificate": made.certificate.read_text(),
        "key": made.key.read_text(),
        "username": "fleet",
        "password": "very secret",
    }
    first = nginx.server(**options).present()
    place = nginx.etc / "sparkforge-wheelhouse"
    assert [oct((place / name).stat().st_mode & 0o777) for name in ("key.pem", "htpasswd")] == ["0o600", "0o640"]
    for secret in ("very secret", options["key"].splitlines()[1], (place / "htpasswd").read_text().partition(":")[2]):
        assert secret not in str(first)
    assert not nginx.server(**options).present()["changed"]
    assert nginx.server(**{**options, "password": "other"}).present()["changed"]
    # Without them their files go.
    assert nginx.server().present()["changed"]
    assert not place.exists()


def test_a_file_that_was_opened_to_others_is_closed_again(nginx: Nginx) -> None:
    options = {"username": "fleet", "password": "secret"}
    nginx.server(**options).present()
    path = nginx.etc / "sparkforge-wheelhouse/htpasswd"
    path.chmod(0o644)
    assert nginx.server(**options).present()["changed"]
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"port": 0}, "0 is not a port"),
        ({"port": 70000}, "70000 is not a port"),
        ({"listen": []}, "no address to listen at"),
        ({"listen": ["spark01"]}, "'spark01' is not an address"),
        ({"listen": ["0.0.0.0; root /"]}, "is not an address"),
        ({"root": "/srv/a b"}, "cannot stand in a configuration"),
        ({"root": "/srv/a;b"}, "cannot stand in a configuration"),
        ({"username": "fleet"}, "a user name for the wheelhouse, and no password"),
        ({"password": "secret"}, "a password for the wheelhouse, and no user name"),
        ({"username": "a:b", "password": "secret"}, "a colon"),
        ({"username": "fleet", "password": "se\ncret"}, "a line break"),
        ({"certificate": "x"}, "a certificate for the wheelhouse, and no key"),
        ({"key": "x"}, "a key for the wheelhouse, and no certificate"),
        ({"certificate": "x", "key": "y"}, "cannot be used together"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(nginx: Nginx, options: dict[str, t.Any], message: str) -> None:
    before = nginx.files()
    with pytest.raises(SparkforgeError, match=message) as caught:
        nginx.server(**options).present()
    assert caught.value.remedy
    assert "secret" not in str(caught.value.as_result())
    assert nginx.files() == before
    assert nginx.calls == []


def test_a_key_with_a_passphrase_is_refused_without_asking_for_it(nginx: Nginx, tmp_path: Path) -> None:
    made = serve.make_certificate(tmp_path / "pair", ["127.0.0.1"])
    closed = tmp_path / "closed.key"
    command = ["openssl", "pkey", "-in", made.key, "-aes256", "-passout", "pass:x", "-out", closed]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(SparkforgeError, match="asks for a passphrase"):
        nginx.server(certificate=made.certificate.read_text(), key=closed.read_text()).present()


def test_nginx_that_is_missing_is_named(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wheelhouse_server, "_PATH", str(nginx.place / "nowhere"))
    with pytest.raises(SparkforgeError, match="nginx is not installed"):
        nginx.server().present()


@pytest.mark.parametrize("brought", [True, False])
def test_the_package_s_own_page_goes_where_we_brought_the_package(nginx: Nginx, brought: bool) -> None:
    root = str(nginx.place / "root")
    receipts.write(root, "apt-wheelhouse", {"kind": "apt", "brought": ["nginx", "nginx-common"] if brought else []})
    site = nginx.etc / "sites-enabled/default"
    (nginx.etc / "sites-available").mkdir()
    (nginx.etc / "sites-available/default").touch()
    site.symlink_to("../sites-available/default")
    nginx.server().present()
    assert site.is_symlink() is not brought
    assert not nginx.server().present()["changed"]
    assert nginx.server().absent()["changed"]
    assert site.is_symlink()
    assert not nginx.server().absent()["changed"]


def test_absent_takes_the_files_back_and_ends_what_was_started(nginx: Nginx) -> None:
    before = nginx.files()
    nginx.server(username="fleet", password="secret").present()
    checked = nginx.server(check_mode=True).absent()
    assert checked["changed"] and nginx.runs
    assert "{SSHA}" not in str(checked)
    assert nginx.server().absent()["changed"]
    assert nginx.files() == before
    assert not nginx.runs
    assert not nginx.server().absent()["changed"]


def test_an_nginx_of_somebody_else_goes_on(nginx: Nginx) -> None:
    nginx.runs = True
    nginx.server().present()
    nginx.server().absent()
    assert nginx.runs
    assert nginx.calls[-1] == "-s reload -q"
