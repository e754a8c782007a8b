"""Accounts that are added to the environments' group, and groups that are refused."""

import grp
import pwd
from types import SimpleNamespace

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import members

GROUPS = {"sparkforge": (991, ["ann"]), "team": (5000, []), "docker": (118, ["ann"]), "root": (0, [])}
ACCOUNTS = {"root": 0, "spark": 1000, "ann": 1001, "member": 5000}


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grp, "getgrnam", lambda name: SimpleNamespace(gr_gid=GROUPS[name][0], gr_mem=GROUPS[name][1]))
    monkeypatch.setattr(pwd, "getpwnam", lambda name: SimpleNamespace(pw_gid=ACCOUNTS[name]))


@pytest.mark.parametrize(
    ("group", "users", "login", "created", "added"),
    [
        ("sparkforge", [], "spark", False, ["spark"]),
        ("sparkforge", ["ann", "spark"], "spark", False, ["spark"]),
        ("sparkforge", ["root"], "root", False, []),
        # The connecting account may not exist on the host, or may not use sudo.
        ("sparkforge", [], "elsewhere", False, []),
        ("sparkforge", [], None, False, []),
        # A site's group, which is also the primary group of an account.
        ("team", ["ann", "member"], "spark", False, ["ann", "spark"]),
        ("not-yet", ["ann"], "spark", False, ["ann", "spark"]),
        # A system group, which this collection may or may not have created.
        ("docker", [], "spark", True, ["spark"]),
        ("docker", [], "spark", False, []),
        ("docker", ["ann"], "spark", False, []),
    ],
)
def test_missing_members(group: str, users: list[str], login: str | None, created: bool, added: list[str]) -> None:
    assert members.missing(group, users, login, created) == added


@pytest.mark.parametrize("group", ["docker", "root"])
def test_system_group_is_refused(group: str) -> None:
    with pytest.raises(SparkforgeError, match=rf"The group {group} \(id \d+\)") as caught:
        members.missing(group, ["spark"], None, False)
    assert f"gpasswd -a spark {group}" in caught.value.remedy


def test_missing_account_is_refused() -> None:
    with pytest.raises(SparkforgeError, match="no account bob") as caught:
        members.missing("sparkforge", ["bob"], "spark", False)
    assert "sparkforge_users" in caught.value.remedy
