"""The role cusparselt on one host: each backend, the switch from one to the next, and the removal."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.conftest import Bench, Host, Play, changes

Role = Callable[..., Play]
REDIST = "/opt/sparkforge/redist/libcusparse_lt"
LOADER_ENTRY = "/etc/ld.so.conf.d/sparkforge-cusparselt.conf"
OPEN = """python3 -c "import ctypes; ctypes.CDLL('libcusparseLt.so.0')
print(next(line.split()[-1] for line in open('/proc/self/maps') if 'libcusparseLt' in line))" """


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    fresh = bench.fresh()
    # Apply the one-time changes of any role's first run: the mirror's CA, and Debian's package lists.
    fresh.roles("network_access").succeeded()
    fresh.execute("apt-get update -q")
    return fresh


@pytest.fixture(scope="module")
def before(host: Host) -> tuple[list[str], list[str]]:
    return host.contents(), host.snapshot()["packages"]


@pytest.fixture
def role(host: Host) -> Role:
    def run(*arguments: str, **variables: Any) -> Play:
        return host.roles("cusparselt", arguments=arguments, **variables)

    return run


def state(host: Host) -> tuple[list[str], list[str]]:
    return host.contents(), host.snapshot()["packages"]


def opened(host: Host) -> str:
    """Return the file that dlopen finds for the library."""
    return host.execute(OPEN)


def remains(host: Host) -> dict[str, bool]:
    """Return, for each backend, whether it has left anything on the host."""
    packages = "\n".join(line for line in host.snapshot()["packages"] if "cusparselt" in line)
    contents = "\n".join(host.contents())
    return {
        "package": "libcusparselt0" in packages or LOADER_ENTRY in contents or "apt-cusparselt" in contents,
        "local_repo": "local-repo" in packages or "cusparselt-local" in contents or "apt_local_repo-" in contents,
        "redist": "libcusparse_lt" in contents,
    }


def test_check_on_a_fresh_host_names_the_source(host: Host, before: tuple[list[str], list[str]], role: Role) -> None:
    play = role("--check", "--diff").succeeded()
    assert play.changed > 0
    assert "cuSPARSELt 0.8.1 from local_repo" in play.text
    assert "Skipped: no apt source" in play.text
    assert state(host) == before


def test_local_repo_by_sha256_installs_a_loadable_library(host: Host, role: Role) -> None:
    repository = host.mirror["summary"]["cusparselt_local_repos"]["0.8.0"]
    role(cusparselt_version="0.8.0", cusparselt_local_repo_sha256=repository["sha256"]).succeeded()
    assert opened(host).endswith("/libcusparseLt/13/libcusparseLt.so.0.8.0.4")
    source = host.execute("cat /etc/apt/sources.list.d/*cusparselt*")
    assert f"/usr/share/keyrings/{repository['keyring']}" in source and "trusted" not in source


def test_local_repo_upgrades_and_retires_the_older(host: Host, role: Role) -> None:
    role().succeeded()
    assert opened(host).endswith("/libcusparseLt/13/libcusparseLt.so.0.8.1.1")
    assert "0.8.0" not in host.execute("ls -d /var/cusparselt*; dpkg -l | grep cusparselt")


def test_second_run_changes_nothing_and_keeps_the_local_repo(role: Role) -> None:
    play = role().succeeded()
    assert play.changed == 0
    assert "from local_repo" in play.text and "already" in play.text


@pytest.mark.long
def test_archive_replaces_the_local_repo_completely(host: Host, role: Role) -> None:
    role(cusparselt_backends=["redist"]).succeeded()
    assert opened(host).startswith(REDIST)
    assert remains(host) == {"package": False, "local_repo": False, "redist": True}


def test_absent_removes_everything_and_is_idempotent(
    host: Host, before: tuple[list[str], list[str]], role: Role
) -> None:
    earlier = state(host)
    assert role("--check", "--diff", cusparselt_state="absent").succeeded().changed > 0
    assert state(host) == earlier
    assert role(cusparselt_state="absent").succeeded().changed > 0
    assert remains(host) == {"package": False, "local_repo": False, "redist": False}
    assert "libcusparseLt" not in host.execute("/sbin/ldconfig -p")
    assert role(cusparselt_state="absent").succeeded().changed == 0
    assert changes(before[1], host.snapshot()["packages"]) == []
