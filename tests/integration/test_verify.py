"""verify on a provisioned host: silence is a failure, and each failure names its cause and remedy."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.integration.conftest import Host, Play


@dataclass
class Removed:
    """The output of verify on a host from which libraries were removed."""

    play: Play
    report: dict[str, Any]
    checked: Play
    check_report: dict[str, Any]


@contextmanager
def broken(host: Host, how: str, mend: str) -> Iterator[None]:
    host.execute(how)
    try:
        yield
    finally:
        host.execute(mend)


def report(host: Host, kind: str = "") -> dict[str, Any]:
    return json.loads((host.reports / f"{host.name}{kind}.json").read_text())


def failed(host: Host, kind: str = "") -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in report(host, kind)["checks"] if check["status"] == "fail"}


@pytest.fixture(scope="module")
def removed(provisioned: Host) -> Removed:
    """The libraries of two packages were removed by hand, and the loader's cache was refreshed."""
    files = "/usr/local/cuda-13.0/targets/*/lib/libcublas.so.13* /usr/lib/*/libcusparseLt/13/libcusparseLt.so.0*"
    gone = f"tar -C / -cf /srv/gone.tar $(ls {files} | sed s,^/,,) && rm {files} && /sbin/ldconfig"
    with broken(provisioned, gone, "tar -C / -xf /srv/gone.tar && /sbin/ldconfig"):
        play = provisioned.run("verify")
        report_before = report(provisioned)
        checked = provisioned.run("verify", "--check")
    # The host is shared, so it is repaired before the tests look at the output.
    return Removed(play, report_before, checked, report(provisioned, ".check"))


def test_a_removed_library_fails_with_its_soname_who_needs_it_and_the_role(removed: Removed) -> None:
    output = removed.play.failed().text
    assert "does not find libcublas.so.13, which " in output and "libcudss.so.0.7.1 needs" in output
    assert "Run the role cuda_libraries, which installs the package libcublas-13-0" in output


def test_the_play_names_every_failure_at_once_and_so_does_the_report(removed: Removed) -> None:
    assert removed.report["verdict"] == "fail"
    failures = {check["name"]: check for check in removed.report["checks"] if check["status"] == "fail"}
    assert set(failures) == {"closure libcublas.so.13", "closure libcusparseLt.so.0"}
    assert all(check["cause"] in removed.play.text and check["remedy"] for check in failures.values())
    assert "does not find libcusparseLt.so.0, which the stack needs" in failures["closure libcusparseLt.so.0"]["cause"]


def test_check_mode_reports_a_missing_library_and_does_not_fail(removed: Removed) -> None:
    assert removed.checked.succeeded().changed == 0
    skipped = [check["cause"] for check in removed.check_report["checks"] if check["status"] == "skip"]
    assert any("cuda_libraries would install libcublas.so.13" in cause for cause in skipped)


def test_missing_environment_fails_and_names_the_playbook(provisioned: Host) -> None:
    receipt = "/opt/sparkforge/receipts/env-torch.json"
    with broken(provisioned, f"mv {receipt} /srv/", f"mv /srv/env-torch.json {receipt}"):
        play = provisioned.run("verify").failed()
    assert "playbooks/deploy.yml" in play.text


def test_a_sound_host_passes_and_nothing_on_it_changes(provisioned: Host) -> None:
    before = provisioned.contents()
    play = provisioned.run("verify").succeeded()
    assert play.changed == 0, "the report of a sound host is the same each time"
    assert failed(provisioned) == {} and report(provisioned)["verdict"] == "unproven"
    assert provisioned.contents() == before
