"""Who is added to the group of the environments, and to which groups nobody is."""

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
    ("group", "users", "login", "made", "added"),
    [
        ("sparkforge", [], "spark", False, ["spark"]),
        ("sparkforge", ["ann", "spark"], "spark", False, ["spark"]),
        ("sparkforge", ["root"], "root", False, []),
        # The connection's account may be none of the host's, as may no sudo be called at all.
        ("sparkforge", [], "elsewhere", False, []),
        ("sparkforge", [], None, False, []),
        # A site's own group, and one whose member one is by one's account.
        ("team", ["ann", "member"], "spark", False, ["ann", "spark"]),
        ("not-yet", ["ann"], "spark", False, ["ann", "spark"]),
        # The system's, which this collection made or not.
        ("docker", [], "spark", True, ["spark"]),
        ("docker", [], "spark", False, []),
        ("docker", ["ann"], "spark", False, []),
    ],
)
def test_who_is_added(group: str, users: list[str], login: str | None, made: bool, added: list[str]) -> None:
    assert members.missing(group, users, login, made) == added


@pytest.mark.parametrize("group", ["docker", "root"])
def test_nobody_is_added_to_a_group_of_the_system(group: str) -> None:
    with pytest.raises(SparkforgeError, match=rf"The group {group} \(id \d+\) is a system group") as caught:
        members.missing(group, ["spark"], None, False)
    assert f"gpasswd -a spark {group}" in caught.value.remedy


def test_an_account_that_is_asked_for_must_exist() -> None:
    with pytest.raises(SparkforgeError, match="The host has no account bob") as caught:
        members.missing("sparkforge", ["bob"], "spark", False)
    assert "sparkforge_users" in caught.value.remedy
