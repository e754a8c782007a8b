"""Messages for hosts that ssh or sudo refuses; in tests/playbooks/test_first_words.py the errors come from Ansible."""

import typing as t
from pathlib import Path

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible_collections.sparkforge.dgx_spark.plugins.action import spark_info

from tests.unit.act import act

SHIPPED = Path(__file__).parents[4] / "inventory/hosts.yml"
HOST = {"ansible_host": "spark01.local", "ansible_user": "nvidia", "inventory_file": str(SHIPPED)}
# The prefixes that ansible-core 2.19 uses with and without pipelining.
SENT = 'Data could not be sent to remote host "spark01.local". Make sure this host can be reached over ssh: '
VIA = "Failed to connect to the host via ssh: "


def observe(error: AnsibleError, **variables: str) -> dict[str, t.Any]:
    def answer(_name: str, _arguments: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        raise error

    return act(spark_info.ActionModule, {}, answer=answer, **{"inventory_hostname": "spark01", **variables})


@pytest.mark.parametrize(
    ("error", "cause", "remedy"),
    [
        (
            f"{SENT}ssh: Could not resolve hostname spark01.local: Name or service not known\r\n",
            "Could not resolve hostname spark01.local: Name or service not known.",
            f"into line 8 of {SHIPPED} (ansible_host: spark01.local), or run `make spark`",
        ),
        (
            f"{VIA}nvidia@spark01.local: Permission denied (publickey,password).",
            "nvidia@spark01.local: Permission denied (publickey,password).",
            f"into line 10 of {SHIPPED} (ansible_user: nvidia), and add -k",
        ),
        (f"{VIA}Host key verification failed.", "Host key verification", "`ssh nvidia@spark01.local` shows"),
        (
            f"{SENT}ssh: connect to host spark01.local port 22: Connection refused",
            "connect to host spark01.local port 22: Connection refused.",
            f"running sshd (`ssh nvidia@spark01.local`), or correct line 8 of {SHIPPED}",
        ),
    ],
)
def test_an_unreachable_host_names_the_line_to_edit(error: str, cause: str, remedy: str) -> None:
    # The host remains unreachable for Ansible, and in the command's exit status.
    with pytest.raises(AnsibleConnectionFailure) as caught:
        observe(AnsibleConnectionFailure(error), **HOST)
    assert str(caught.value).startswith("spark01 ") and f": {cause}" in str(caught.value)
    assert remedy in str(caught.value)


def test_an_address_that_no_file_sets_names_the_option(tmp_path: Path) -> None:
    error = AnsibleConnectionFailure(f"{SENT}ssh: Could not resolve hostname spark01: Name or service not known")
    inventory = tmp_path / "hosts.yml"
    inventory.write_text("all: {hosts: {spark01: }}\n# ansible_host: spark01.local\n")
    for file, setting in (
        (str(inventory), f"host in {inventory}, or"),
        ("spark01,", "into the option -e ansible_host=…, or"),
    ):
        with pytest.raises(AnsibleConnectionFailure, match="Could not resolve") as caught:
            observe(error, inventory_file=file)
        assert setting in str(caught.value)


def test_a_missing_sudo_password_names_option_K() -> None:
    missing = observe(AnsibleError("Missing sudo password"), **HOST)
    assert missing["failed"] and "sudo on spark01 asks nvidia" in missing["cause"]
    assert missing["remedy"] == "Add -K."
    assert observe(AnsibleError("Incorrect sudo password"), **HOST)["remedy"].endswith("with -K.")


def test_other_errors_are_raised_unchanged() -> None:
    with pytest.raises(AnsibleError, match="the interpreter is gone"):
        observe(AnsibleError("the interpreter is gone"), **HOST)
