"""Uninstalling, after all other tests of the provisioned host: afterwards it has nothing of the site."""

import pytest

from tests.integration.conftest import OWN_LOADER_ENTRY, OWN_PACKAGE, Play, SiteRun


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
