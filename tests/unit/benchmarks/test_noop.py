"""The counting of calls in Ansible's output by benchmarks/noop.py, and its table."""

from pathlib import Path

import pytest
import yaml

from benchmarks import noop

CHECKOUT = Path(__file__).parents[3]
SSH = "SSH: EXEC ssh -o ControlMaster=auto -o ControlPersist=120s -o 'User=\"spark\"' -o 'ControlPath=\"/tmp/cp/1\"' "
SUDO = (
    "'/bin/sh -c '\"'\"'sudo -H -S -p \"[sudo via ansible, key=abc] password:\" -u root /bin/sh -c "
    "'\"'\"'\"'\"'\"'\"'\"'\"'echo BECOME-SUCCESS-abc ; {}'\"'\"'\"'\"'\"'\"'\"'\"' && sleep 0'\"'\"''"
)
PIPELINED = f"<10.88.0.9> {SSH}10.88.0.9 " + SUDO.format("/usr/bin/python3")
PIPELINED_WITHOUT_SUDO = f"<10.88.0.9> {SSH}10.88.0.9 '/bin/sh -c '\"'\"'/usr/bin/python3.13 && sleep 0'\"'\"''"
BY_FILE = f"<10.88.0.9> {SSH}10.88.0.9 " + SUDO.format(
    "/usr/bin/python3 /home/spark/.ansible/tmp/ansible-tmp-1/AnsiballZ_setup.py"
)
HOME = f"<10.88.0.9> {SSH}10.88.0.9 '/bin/sh -c '\"'\"'echo ~spark && sleep 0'\"'\"''"
EXISTS = f"<10.88.0.9> {SSH}10.88.0.9 " + SUDO.format("test -e /opt/sparkforge/redist/libcudss/0.7.1.6/lib")
FOLDER = f"<10.88.0.9> {SSH}10.88.0.9 '/bin/sh -c '\"'\"'( umask 77 && mkdir -p /tmp/x ) && sleep 0'\"'\"''"
TRANSFER = "<10.88.0.9> SSH: EXEC sftp -b - -o ControlMaster=auto '[10.88.0.9]'"


def result(**figures: object) -> noop.Result:
    values: dict = {
        "ansible_core": "2.19.0", "ping": noop.Times((0.8, 0.9, 0.7)), "ours": noop.Times((4.0, 5.0, 4.4)),
        "baseline": noop.Times((30.0, 28.0, 40.0)), "ours_calls": noop.Calls(3, 3),
        "baseline_calls": noop.Calls(55, 106), "ours_changed": 0, "baseline_changed": 0, "ours_first": 60.0,
        "baseline_first": 70.0,
    }  # fmt: skip
    return noop.Result(**{**values, **figures})


@pytest.mark.parametrize(
    ("line", "modules"),
    [(PIPELINED, 1), (PIPELINED_WITHOUT_SUDO, 1), (BY_FILE, 1), (HOME, 0), (EXISTS, 0), (FOLDER, 0), (TRANSFER, 0)],
)
def test_an_ssh_command_is_a_module_call_only_if_it_runs_a_module(line: str, modules: int) -> None:
    assert noop.count_calls(f"TASK [x] ***\n{line}\nok: [spark01]\n") == noop.Calls(modules, 1)


def test_output_of_a_module_is_not_counted() -> None:
    output = f"{PIPELINED}\n<10.88.0.9> (0, b'SSH: EXEC ssh /usr/bin/python3 && sleep 0', b'')\nSSH: EXEC\n"
    assert noop.count_calls(output) == noop.Calls(1, 1)


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ({"ours_calls": noop.Calls(4, 4)}, "bound missed"),
        ({"ping": noop.Times((0.5,))}, "goal missed"),
        ({"baseline": noop.Times((16.0,))}, "goal missed"),
    ],
)
def test_a_missed_goal_is_marked_in_the_table_of_noop(figures: dict, text: str) -> None:
    table = noop.table(result(**figures))
    assert table.count("missed") == 1
    assert text in table


def test_the_baseline_uses_only_modules_that_come_with_ansible_core() -> None:
    (play,) = yaml.safe_load((CHECKOUT / "benchmarks/baseline/site.yml").read_text())
    keywords = {
        "name", "register", "when", "loop", "loop_control", "vars", "notify", "changed_when", "failed_when",
        "environment", "delegate_to", "become",
    }  # fmt: skip
    used = {key for task in play["tasks"] + play["handlers"] for key in task if key not in keywords}
    assert used
    assert all(name.startswith("ansible.builtin.") for name in used)
    assert "sparkforge.dgx_spark." not in (CHECKOUT / "benchmarks/baseline/site.yml").read_text()
