# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module apt_local_repo on a host: a .deb is let in by what proves it, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Bench, Host

MODULE = "sparkforge.dgx_spark.apt_local_repo"
FOLDER = "/srv/debs"


class LocalRepos:
    """A host with the mirror's .deb files on its own disk, so that no network takes part."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.facts: dict[str, dict[str, Any]] = host.mirror["summary"]["cusparselt_local_repos"]
        for version, fact in self.facts.items():
            host.copy(self.file(version), f"{FOLDER}/{Path(fact['path']).name}")

    def file(self, version: str) -> Path:
        return self.host.mirror["tree"] / self.facts[version]["path"].lstrip("/")

    def run(self, version: str, check: bool = False, **options: Any) -> dict[str, Any]:
        given = {"url": f"file://{FOLDER}/{self.file(version).name}", **options}
        return self.host.task(MODULE, check=check, name="cusparselt", version=version, **given)

    def refused(self, version: str, **options: Any) -> str:
        """Return cause and remedy of a refusal that has left the host as it was."""
        before = self.state()
        result = self.run(version, **options)
        assert result.get("cause") and result.get("remedy"), result
        assert self.state() == before
        return f"{result['cause']} {result['remedy']}"

    def state(self) -> tuple[list[str], list[str], str]:
        leftovers = "ls -d /var/cusparselt* /var/tmp/sparkforge* /var/lib/apt/lists/*cusparselt* 2>/dev/null || true"
        return self.host.contents(), self.host.snapshot()["packages"], self.host.execute(leftovers)


@pytest.fixture(scope="module")
def repos(bench: Bench) -> LocalRepos:
    return LocalRepos(bench.fresh())


def test_a_server_whose_certificate_is_not_trusted_is_refused(repos: LocalRepos) -> None:
    url = repos.host.mirror["url"] + repos.facts["0.8.1"]["path"]
    said = repos.refused("0.8.1", url=url, sha256=repos.facts["0.8.1"]["sha256"])
    assert "certificate" in said.lower()


def test_check_mode_announces_it_and_installs_nothing(repos: LocalRepos) -> None:
    before = repos.state()
    result = repos.run("0.8.0", check=True, sha256=repos.facts["0.8.0"]["sha256"])
    assert result["changed"], result
    assert repos.state() == before


def test_the_sha256_lets_it_in_and_a_second_run_changes_nothing(repos: LocalRepos) -> None:
    options = {"sha256": repos.facts["0.8.0"]["sha256"]}
    result = repos.run("0.8.0", **options)
    assert result["changed"], result
    assert not repos.run("0.8.0", **options)["changed"]
    keyring = f"/usr/share/keyrings/{repos.facts['0.8.0']['keyring']}"
    source = repos.host.execute("cat /etc/apt/sources.list.d/*cusparselt*")
    assert keyring in source and "trusted" not in source
    offered = "apt-cache policy libcusparselt0-cuda-13"
    assert "0.8.0.4-1" in repos.host.execute(offered)
    # As after a run that was killed between the source and its package lists.
    repos.host.execute("rm /var/lib/apt/lists/_var_cusparselt*")
    assert "0.8.0.4-1" not in repos.host.execute(offered)
    assert repos.run("0.8.0", **options)["changed"]
    assert "0.8.0.4-1" in repos.host.execute(offered)
    assert not repos.run("0.8.0", **options)["changed"]


def test_the_older_one_is_retired(repos: LocalRepos) -> None:
    options = {"sha256": repos.facts["0.8.1"]["sha256"]}
    result = repos.run("0.8.1", **options)
    assert result["retired"] == ["cusparselt-local-repo-ubuntu2404-0.8.0"], result
    left = repos.host.execute("ls -d /var/cusparselt* /usr/share/keyrings/cusparselt* /etc/apt/sources.list.d/*cuspa*")
    assert "0.8.0" not in left and repos.facts["0.8.0"]["keyring"] not in left
    offered = repos.host.execute("apt-cache policy libcusparselt0-cuda-13")
    assert "0.8.1.1-1" in offered and "0.8.0" not in offered
    assert not repos.run("0.8.1", **options)["changed"]


def test_one_that_is_older_than_the_installed_one_is_refused(repos: LocalRepos) -> None:
    said = repos.refused("0.8.0", sha256=repos.facts["0.8.0"]["sha256"])
    assert "newer than the requested 0.8.0" in said and "state: absent" in said


def test_absent_takes_back_everything_and_is_idempotent(repos: LocalRepos) -> None:
    assert repos.host.task(MODULE, check=True, name="cusparselt", state="absent")["changed"]
    assert repos.host.task(MODULE, name="cusparselt", state="absent")["changed"]
    assert repos.state()[2] == ""
    assert "cusparselt" not in "\n".join(repos.host.contents())
    assert not repos.host.task(MODULE, name="cusparselt", state="absent")["changed"]


def test_absent_can_leave_alone_what_somebody_else_has_installed(repos: LocalRepos) -> None:
    # As seeds/003 does it by hand.
    deb = f"{FOLDER}/{repos.file('0.8.1').name}"
    by_hand = f"dpkg -i {deb} && cp /var/cusparselt-*/*-keyring.gpg /usr/share/keyrings/ && apt-get update -q"
    repos.host.execute(by_hand)
    before = repos.state()
    assert not repos.host.task(MODULE, name="cusparselt", state="absent", keep_foreign=True)["changed"]
    assert repos.state() == before
    assert not repos.run("0.8.1", sha256="ab" * 32)["changed"], "one that is there already is not fetched again"
