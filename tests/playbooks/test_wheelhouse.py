# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings of the role wheelhouse that it refuses before it asks the host anything, and what it makes of them."""

from __future__ import annotations

import json
import subprocess
import typing as t
from pathlib import Path

import yaml

from lab import serve
from tests.playbooks.run_playbook import ROOT, run_playbook

ROLE = "sparkforge.dgx_spark.wheelhouse"
DEFAULTS = yaml.safe_load((ROOT / "roles/wheelhouse/defaults/main.yml").read_text())


def run(place: Path, tasks: list[dict[str, t.Any]], *arguments: str) -> str:
    play = {"name": "P", "hosts": "all", "gather_facts": False, "tasks": tasks}
    (place / "play.yml").write_text(json.dumps([play]))
    done = run_playbook(place, "-i", "spark01,", "play.yml", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_settings_that_cannot_work_are_refused_each_with_its_remedy(tmp_path: Path) -> None:
    made = serve.make_certificate(tmp_path / "pair", ["127.0.0.1"])
    closed = tmp_path / "closed.key"
    command = ["openssl", "pkey", "-in", made.key, "-aes256", "-passout", "pass:x", "-out", closed]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    missing = str(tmp_path / "missing.pem")
    certificate, key = str(made.certificate), str(made.key)
    cases: list[tuple[dict[str, t.Any], str, str]] = [
        ({"sparkforge_root": "/srv/a b"}, "/srv/a b cannot be used in a configuration", "absolute path"),
        ({"sparkforge_root": "/srv/a;b"}, "/srv/a;b cannot be used in a configuration", "absolute path"),
        ({"wheelhouse_port": 0}, "0 is not a port", "wheelhouse_port"),
        ({"wheelhouse_port": 70000}, "70000 is not a port", "wheelhouse_port"),
        ({"wheelhouse_listen": []}, "not addresses to listen at", "wheelhouse_listen"),
        ({"wheelhouse_listen": ["spark01"]}, '["spark01"] are not addresses', "wheelhouse_listen"),
        ({"wheelhouse_listen": ["0.0.0.0; root /"]}, "are not addresses", "wheelhouse_listen"),
        ({"wheelhouse_username": "fleet"}, "a user name and no password", "wheelhouse_password"),
        ({"wheelhouse_password": "secret"}, "a password and no user name", "wheelhouse_username"),
        ({"wheelhouse_username": "a:b", "wheelhouse_password": "secret"}, "has a colon", "wheelhouse_username"),
        ({"wheelhouse_username": "fleet", "wheelhouse_password": "secret\n"}, "a line break", "| trim"),
        ({"wheelhouse_username": "fleet", "wheelhouse_password": "é" * 128}, "longer than 255 bytes", "password"),
        ({"wheelhouse_tls_certificate": certificate}, "a certificate and no key", "wheelhouse_tls_key"),
        ({"wheelhouse_tls_key": key}, "a key and no certificate", "wheelhouse_tls_certificate"),
        (
            {"wheelhouse_tls_certificate": missing, "wheelhouse_tls_key": missing},
            f"{missing} is not a file on the controller",
            "plain HTTP",
        ),
        (
            {"wheelhouse_tls_certificate": certificate, "wheelhouse_tls_key": str(closed)},
            "closed.key asks for a passphrase",
            "without one",
        ),
    ]
    tasks: list[dict[str, t.Any]] = [
        {
            "name": f"Case {number}",
            "vars": variables,
            "block": [
                {"name": "Check", "ansible.builtin.include_role": {"name": ROLE, "tasks_from": "validate"}},
            ],
            "rescue": [
                {"name": "Say", "ansible.builtin.debug": {"msg": f"{number}: {{{{ ansible_failed_result.msg }}}}"}},
            ],
        }
        for number, (variables, _cause, _remedy) in enumerate(cases)
    ]
    said = run(tmp_path, tasks)
    for number, (variables, cause, remedy) in enumerate(cases):
        line = next((line for line in said.splitlines() if f'"msg": "{number}: ' in line), "").replace('\\"', '"')
        assert cause in line and remedy in line, (variables, line or said)
    assert "secret" not in said


def test_addresses_stand_as_nginx_and_a_url_have_them(tmp_path: Path) -> None:
    settings = {**DEFAULTS, "wheelhouse_listen": ["::", "[2001:db8::1]", "192.0.2.1"]}
    role = {"name": ROLE, "tasks_from": "validate", "public": True}
    said = run(
        tmp_path,
        [
            {"name": "Validate", "ansible.builtin.include_role": role, "vars": settings},
            {
                "name": "Say",
                "ansible.builtin.debug": {"msg": "{{ __wheelhouse_addresses | join(' ') }} {{ __wheelhouse_url }}"},
                "vars": settings,
            },
        ],
    )
    assert "[::] [2001:db8::1] 192.0.2.1 http://[::1]:8629" in said
