"""Two names for the same machine in an inventory."""

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

distinct = FilterModule().filters()["distinct"]


@pytest.mark.parametrize(
    "variables",
    [
        {"spark01": {"ansible_host": "192.0.2.1"}, "spark02": {"ansible_host": "192.0.2.1"}},
        {"spark01": {"ansible_host": "SPARK02"}, "spark02": {}},
        {"spark01": {"ansible_host": "a", "ansible_port": 22}, "spark02": {"ansible_host": "a", "ansible_port": "22"}},
    ],
)
def test_two_names_for_one_address_are_refused(variables: dict[str, t.Any]) -> None:
    with pytest.raises(AnsibleFilterError, match=r"^spark01 and spark02 are one machine .* '!spark02'"):
        distinct(list(variables), variables)


def test_one_address_with_other_ports_or_jump_hosts_is_another_machine() -> None:
    variables = {
        "spark01": {"ansible_host": "127.0.0.1"},
        "spark02": {"ansible_host": "127.0.0.1", "ansible_port": 2222},
        "spark03": {"ansible_host": "127.0.0.1", "ansible_ssh_common_args": "-J bastion"},
        "spark04": {},
    }
    assert distinct(list(variables), variables) == list(variables)
