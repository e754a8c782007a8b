"""Preflight passes a sound host, and reports all problems in one task before any change is made."""

import math
import re
import time
from collections.abc import Iterator

import pytest

from tests.integration.conftest import Bench, Host

# Holds dpkg's lock, as dpkg would, until the file below is removed.
HOLD = """
import fcntl, os, time
lock = open('/var/lib/dpkg/lock-frontend', 'w')
fcntl.lockf(lock, fcntl.LOCK_EX)
open('/tmp/held', 'w').close()
while os.path.exists('/tmp/held'): time.sleep(0.1)
"""
PIN = "Package: libcublas*\\nPin: release *\\nPin-Priority: -1\\n"
SOURCE = "Types: deb\\nURIs: https://apt.example\\nSuites: /\\nSigned-By: /usr/share/keyrings/gone.gpg\\n"


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    return bench.fresh()


@pytest.fixture
def lock_held(host: Host) -> Iterator[Host]:
    """A host on which another program holds dpkg's lock."""
    host.execute(
        f"cat > /tmp/hold.py <<'end'{HOLD}end\nsetsid python3 /tmp/hold.py >/dev/null 2>&1 & echo $! > /tmp/hold.pid"
    )
    host.execute("timeout 20 sh -c 'while [ ! -e /tmp/held ]; do sleep 0.1; done'")
    yield host
    host.execute("rm -f /tmp/held; while kill -0 $(cat /tmp/hold.pid) 2>/dev/null; do sleep 0.1; done; rm /tmp/hold.*")


@pytest.fixture
def spoilt(lock_held: Host) -> Iterator[Host]:
    """A host whose apt has every problem at once."""
    host = lock_held
    host.execute(
        f"printf '{PIN}' > /etc/apt/preferences.d/site; printf '{SOURCE}' > /etc/apt/sources.list.d/site.sources\n"
        "cp /var/lib/dpkg/status /tmp/status; mkdir -p /var/lib/dpkg/updates; touch /var/lib/dpkg/updates/0001\n"
        "sed -i '/^Package: acl$/,/^$/ s/^Status: .*/Status: install ok half-configured/' /var/lib/dpkg/status"
    )
    yield host
    host.execute(
        "cp /tmp/status /var/lib/dpkg/status; rm /tmp/status /var/lib/dpkg/updates/0001\n"
        "rm /etc/apt/preferences.d/site /etc/apt/sources.list.d/site.sources"
    )


def test_a_host_of_the_lab_passes_also_in_check_mode_and_as_text_variables(host: Host) -> None:
    before = host.contents()
    play = host.run("preflight", "--diff", "-e", "sparkforge_gpu_required=false", "-e", "preflight_apt_wait=5")
    assert play.succeeded().changed == 0
    assert host.run("preflight", "--check", "--diff").succeeded().changed == 0
    assert host.contents() == before


def test_every_problem_stands_in_one_message_with_its_remedy_and_nothing_changes(spoilt: Host) -> None:
    before = spoilt.contents()
    play = spoilt.run(
        "site",
        "-e", "sparkforge_gpu_required=true",
        "-e", "sparkforge_accept_nvidia_license=no",
        stack_name="torch-2.15.0",
        stack_profile="gb10",
        preflight_apt_wait=1,
        preflight_apt_delay=1,
        preflight_disk_minimum=[{"path": "/opt", "gib": 90000, "purpose": "a test"}, {"path": "/usr", "gib": 9000}],
        preflight_memory_minimum_gib=90000,
    ).failed()  # fmt: skip
    heading = re.search(r"spark\d+ cannot get stack torch-2.15.0. Problems: (\d+). Nothing was changed.", play.text)
    assert heading
    count = int(heading[1])
    message = play.text[heading.start() : play.text.index("Origin:")]
    checks = re.findall(r"(\d+)\. ([a-z ]+): ", message)
    assert [int(number) for number, _check in checks] == list(range(1, count + 1))
    assert message.count("Remedy: ") == count
    expected = {"operating system", "licence", "gpu", "memory", "disk", "python", "apt", "apt lock", "apt source"}
    assert expected | {"apt pins"} <= {check for _number, check in checks}
    for sentence in (
        "The host runs debian 13, but stack torch-2.15.0 is for ubuntu 24.04",
        "set sparkforge_accept_nvidia_license: true",
        "no NVIDIA GPU",
        "99000 GiB are needed: 90000 GiB for /opt (a test), 9000 GiB for /usr",
        "Stack torch-2.15.0 needs Python 3.12",
        "acl (half-configured), dpkg (interrupted)",
        "python3 /tmp/hold.py (process ",
        "/var/lib/dpkg/lock-frontend after a wait",
        "keyring /usr/share/keyrings/gone.gpg for https://apt.example",
        "The pin /etc/apt/preferences.d/site (libcublas*: release *, -1) forbids packages",
    ):
        assert sentence in message
    assert play.output.count("fatal:") == 1
    assert "Install host libraries" not in play.output, "the site went on after preflight had failed"
    assert spoilt.contents() == before


def test_lock_released_during_the_wait_is_accepted(lock_held: Host) -> None:
    began = time.monotonic()
    lock_held.run("preflight", preflight_apt_wait=1, preflight_apt_delay=1).failed()
    # Wait twice as long as a play takes now, so that the lock is still held at the first check on a busy machine.
    seconds = math.ceil(2 * (time.monotonic() - began))
    lock_held.execute(f"setsid sh -c 'sleep {seconds}; rm -f /tmp/held' >/dev/null 2>&1 &")
    play = lock_held.run("preflight", preflight_apt_wait=60 + 4 * seconds, preflight_apt_delay=1).succeeded()
    assert "FAILED - RETRYING" in play.output
    assert re.search(r"Another program uses apt: python3 /tmp/hold\.py \(process \d+\), \d+ min so far\.", play.text)


def test_an_ordinary_user_without_sudo_gets_the_same_judgement(host: Host) -> None:
    play = host.roles("preflight", become=False, preflight_memory_minimum_gib=90000).failed()
    assert "Problems: 1. Nothing was changed." in play.text
