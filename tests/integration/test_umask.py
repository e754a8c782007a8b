"""The whole site, its proof and a second run on hosts where all accounts, including root, have a strict umask."""

import json

import pytest

from tests.integration import ownership
from tests.integration.conftest import Bench, Host

# Set it for logins (through PAM), for commands run by sudo, and for the shells of both accounts.
STRICT = """set -e
sed -i 's/pam_umask.so.*/pam_umask.so umask=0{umask} nousergroups/' /etc/pam.d/common-session*
echo 'Defaults umask=0{umask}' > /etc/sudoers.d/umask && chmod 0440 /etc/sudoers.d/umask
echo 'umask {umask}' | tee -a /root/.profile /root/.bashrc >> /home/spark/.profile
"""


def umask_of(host: Host, become: bool) -> int:
    """Return a module's umask, taken from the mode of a directory that it creates."""
    directory = host.task("ansible.builtin.file", become=become, path=f"/tmp/umask-{become}", state="directory")
    host.task("ansible.builtin.file", become=become, path=f"/tmp/umask-{become}", state="absent")
    return int(directory["mode"], 8) ^ 0o777


@pytest.fixture(scope="module", params=["027", "077"])
def umask(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def strict(umask: str, bench: Bench) -> Host:
    host = bench.fresh()
    host.execute(STRICT.format(umask=umask))
    # Otherwise the rest of the test would prove nothing.
    assert {umask_of(host, become) for become in (False, True)} == {int(umask, 8)}
    # Created by the check above, and again by the site.
    host.execute("rm /home/spark/.sudo_as_admin_successful")
    return host


@pytest.mark.long
def test_a_strict_umask_changes_no_owner_and_no_mode(strict: Host, umask: str) -> None:
    before = ownership.look(strict)
    assert strict.run("site").succeeded().changed > 0
    assert ownership.compared(ownership.left(strict, before), "site", umask) == []
    # The proof ran as nobody and could read everything the site had made.
    report = json.loads((strict.reports / f"{strict.name}.json").read_text())
    assert [check for check in report["checks"] if check["status"] == "fail"] == []
    assert "pass" in {check["status"] for check in report["checks"]}
    assert strict.run("site").succeeded().changed == 0
