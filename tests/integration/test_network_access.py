"""Proxies and a corporate CA on a host: all downloads use them, no output shows the password, and both are
removable."""

import json
import typing as t
from collections.abc import Iterator

import pytest

from tests.integration import ownership, planted, proxy as corporate
from tests.integration.conftest import Bench, Host, Play
from tests.integration.proxy import Proxy

APT_FILE = "/etc/apt/apt.conf.d/51sparkforge-proxy"
PROXIES_FILE = "/etc/sparkforge-proxies.json"
CA_FILE = "/usr/local/share/ca-certificates/sparkforge.crt"
# The search looks for the mark, as in tests/integration/test_secrets.py.
SECRET = planted.Planted()
PASSWORD = SECRET.mark


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    return bench.fresh()


@pytest.fixture(scope="module")
def factory(host: Host) -> list[str]:
    return host.contents()


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    with corporate.running(PASSWORD) as server:
        yield server


@pytest.fixture(scope="module")
def sampler(factory: list[str]) -> Iterator[planted.Sampler]:
    """Samples processes from the first test in this file onwards."""
    with planted.sampled(SECRET) as sampler:
        yield sampler


def apply(host: Host, *arguments: str, roles: t.Sequence[str] = ("network_access",), **variables: t.Any) -> Play:
    # Pass a file, as a user would for a password: command-line arguments are visible.
    path = host.inventory.parent / "given.json"
    path.touch(0o600)
    path.write_text(json.dumps(variables))
    return host.roles(*roles, arguments=[*arguments, "-e", f"@{path}"])


def test_check_mode_shows_the_changes_without_the_password(host: Host, factory, proxy: Proxy, sampler: planted.Sampler):
    play = apply(host, "--check", "--diff", "-vvv", sparkforge_proxies={"https": proxy.url}).succeeded()
    assert play.changed == 2  # the proxies' two files in one task, and the CA
    assert PASSWORD not in play.output
    assert host.contents() == factory


def test_all_downloads_use_the_proxy_and_the_password_is_never_shown(host, factory, proxy, sampler):
    before = ownership.look(host)
    proxies = {"http": proxy.url, "https": proxy.url, "no_proxy": ["10.0.0.0/8", ".example.com", "direct.example"]}
    play = apply(host, "--diff", "-vvv", sparkforge_proxies=proxies).succeeded()
    assert PASSWORD not in play.output
    assert ownership.faults(ownership.left(host, before), ownership.rows(), "proxies") == []
    text = host.execute("apt-config dump Acquire::https")
    assert f'Acquire::https::Proxy "{proxy.url}";' in text
    assert 'Acquire::https::Proxy::direct.example "DIRECT";' in text
    assert host.execute("grep -c . /etc/ssl/certs/sparkforge.pem")
    again = apply(host, "--diff", "-vvv", sparkforge_proxies=proxies).succeeded()
    assert again.changed == 0
    assert PASSWORD not in again.output

    # Modules of the collection use the environment that the playbooks set for their downloads.
    proxies["no_proxy"] = []
    play = apply(host, "-vvv", roles=["math_libraries"], sparkforge_proxies=proxies).succeeded()
    assert any(method == "CONNECT" and "mirror." in target and right for method, target, right in proxy.asked)
    assert PASSWORD not in play.output
    host.roles("math_libraries", math_libraries_state="absent").succeeded()

    hits = planted.on_host(host, SECRET)
    hits += sampler.end([0])
    expected = [row for row in planted.accepted() if row.path in (APT_FILE, PROXIES_FILE)]
    assert [hit for hit in hits.hits if not any(row.covers(hit) for row in expected)] == []
    assert len(hits.hits) == len(expected) and hits.processes > 0


def test_both_are_removed_when_the_variables_are_empty(host: Host, factory: list[str], proxy: Proxy) -> None:
    apply(host, sparkforge_proxies={"http": proxy.url}).succeeded()
    empty = {"sparkforge_proxies": {}, "sparkforge_ca_certificate": ""}
    assert apply(host, "--check", "--diff", **empty).succeeded().changed >= 2
    assert host.execute(f"ls {APT_FILE} {CA_FILE}").split() == [APT_FILE, CA_FILE]
    apply(host, **empty).succeeded()
    assert host.contents() == factory
    assert apply(host, **empty).succeeded().changed == 0
