"""The whole site on one host: check, run, run again, and check again; test_uninstall.py removes it."""

import json
import re

from tests.integration import ownership
from tests.integration.conftest import SiteRun

# DESIGN.md: a converged host costs at most one remote call per role; issue 2 sets the limit for the site's roles.
REMOTE_CALLS_BOUND = 10


def test_check_on_a_fresh_host_does_not_fail(site_run: SiteRun) -> None:
    site_run.checked.succeeded()


def test_check_on_a_fresh_host_announces_changes_and_makes_none(site_run: SiteRun) -> None:
    assert site_run.checked.changed > 0
    assert site_run.after_check == site_run.before


def test_check_with_diff_names_what_would_be_installed(site_run: SiteRun) -> None:
    for name in ("libcublas-dev-13-0", "clang-19", "libcudss 0.7.1.6", "nvpl_lapack", "torch==2.10.0"):
        assert name in site_run.checked.text, f"--check --diff on a fresh host does not name {name}"


def test_the_site_provisions_a_fresh_host(site_run: SiteRun) -> None:
    site_run.first.succeeded()
    assert site_run.first.changed > 0


def test_a_second_run_changes_nothing(site_run: SiteRun) -> None:
    assert site_run.second.succeeded().changed == 0


def test_check_on_a_provisioned_host_would_change_nothing(site_run: SiteRun) -> None:
    assert site_run.checked_again.succeeded().changed == 0


def test_a_converged_run_makes_few_remote_calls(site_run: SiteRun) -> None:
    modules = re.findall(r"Using module file \S*/modules/(\S+)\.py", site_run.second.output)
    assert modules, "the run of -vvv names no module at all: the count below would prove nothing"
    assert len(modules) <= REMOTE_CALLS_BOUND, modules


def test_the_report_is_written_and_has_no_failed_check(site_run: SiteRun) -> None:
    report = json.loads((site_run.host.reports / f"{site_run.host.name}.json").read_text())
    assert report["verdict"] == "unproven", "no number was computed, so the report may not be green"
    assert [check for check in report["checks"] if check["status"] == "fail"] == []
    assert {"libcudss.so.0", "libcusparseLt.so.0", "libnvpl_lapack_lp64_gomp.so.0"} <= set(report["resolved"])
    assert all(check["cause"] for check in report["checks"] if check["status"] == "skip"), "a skip without a reason"


def test_every_path_that_the_site_left_is_in_the_table_with_its_owner_and_mode(site_run: SiteRun) -> None:
    assert ownership.compared(site_run.left, "site") == []


def test_play_prints_the_path_of_the_report(site_run: SiteRun) -> None:
    assert str(site_run.host.reports / f"{site_run.host.name}.json") in site_run.first.text


def test_sudo_asks_the_user_of_the_play_for_a_password(site_run: SiteRun) -> None:
    assert "password is required" in site_run.host.execute("su spark -c 'sudo -n true' 2>&1 || true")


def test_wrong_sudo_password_is_reported_in_one_message(site_run: SiteRun) -> None:
    before = site_run.host.contents()
    play = site_run.host.run("site", ansible_become_password="wrong").failed()
    assert play.output.count("fatal: ") == 1
    assert "refuses the password" in play.text and "-K" in play.text
    assert site_run.host.contents() == before
