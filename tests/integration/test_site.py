"""The whole site on one host: check, run, run again, check again, and uninstall."""

import json
import re

import pytest

from tests.integration import ownership
from tests.integration.conftest import OWN_LOADER_ENTRY, OWN_PACKAGE, Play, SiteRun

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


# --- uninstalling, last: afterwards the host has nothing of the site --------------------------------------------------


class Uninstalled:
    """A host on which the site was run and then uninstalled, with the plays' output."""

    def __init__(self, run: SiteRun) -> None:
        run.first.succeeded()
        self.host = run.host
        self.provisioned = self.host.contents()
        self.checked: Play = self.host.run("uninstall", "--check", "--diff")
        self.after_check = self.host.contents()
        self.first: Play = self.host.run("uninstall")
        self.second: Play = self.host.run("uninstall")


@pytest.fixture(scope="module")
def uninstalled(site_run: SiteRun) -> Uninstalled:
    return Uninstalled(site_run)


def test_check_announces_the_removal_and_removes_nothing(uninstalled: Uninstalled) -> None:
    assert uninstalled.checked.succeeded().changed > 0
    assert uninstalled.after_check == uninstalled.provisioned


def test_uninstalling_succeeds_and_a_second_time_changes_nothing(uninstalled: Uninstalled) -> None:
    assert uninstalled.first.succeeded().changed > 0
    assert uninstalled.second.succeeded().changed == 0


def test_only_the_collections_packages_are_removed(uninstalled: Uninstalled, site_run: SiteRun) -> None:
    assert uninstalled.host.snapshot()["packages"] == site_run.packages_before["packages"]


def test_every_path_is_as_it_was_before_the_first_run(uninstalled: Uninstalled, site_run: SiteRun) -> None:
    assert uninstalled.host.contents() == site_run.before
    assert uninstalled.host.snapshot()["paths"] == site_run.packages_before["paths"]


def test_package_lists_of_a_removed_source_are_removed(uninstalled: Uninstalled) -> None:
    assert uninstalled.host.execute("ls /var/lib/apt/lists | grep -e mirror -e cusparselt || true") == ""


def test_previously_installed_package_is_kept(uninstalled: Uninstalled) -> None:
    status = f"dpkg-query -W -f '${{db:Status-Status}}' {OWN_PACKAGE}"
    assert uninstalled.host.execute(status) == "installed"
    assert OWN_PACKAGE in uninstalled.host.execute("apt-mark showmanual").split()


def test_loader_entry_of_another_owner_is_kept(uninstalled: Uninstalled) -> None:
    assert uninstalled.host.execute(f"cat {OWN_LOADER_ENTRY}") == "/srv/lib"


def test_the_loader_no_longer_knows_the_libraries(uninstalled: Uninstalled) -> None:
    known = uninstalled.host.execute("/sbin/ldconfig -p")
    for soname in ("libcudss.so.0", "libcusparseLt.so.0", "libnvpl_lapack_lp64_gomp.so.0", "libcublas.so.13"):
        assert soname not in known
