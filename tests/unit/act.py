"""Calls an action plugin as a task does, in this process; tests/playbooks has those that Ansible calls."""

import os
import typing as t
from unittest.mock import MagicMock

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

Answer = t.Callable[[str, t.Mapping[str, t.Any]], dict[str, t.Any]]


def act(
    plugin: type[ActionBase],
    arguments: t.Mapping[str, t.Any],
    *,
    check_mode: bool = False,
    host: str = "spark01",
    answer: Answer | None = None,
    fetch: t.Callable[[str, str], None] | None = None,
    **variables: t.Any,
) -> dict[str, t.Any]:
    """Return the result of one task; ``shown`` has what it displayed.

    :param answer: stands for the host: called with a module's name and its arguments. Without it no host may be asked.
    :param fetch: stands for the connection: called with a file of the host and where it shall be.
    :param variables: of the host.
    """
    task = MagicMock(async_val=0, check_mode=check_mode, diff=False, args=dict(arguments), delegate_to=None)
    called = plugin(
        task=task, connection=MagicMock(), play_context=MagicMock(), loader=MagicMock(), templar=MagicMock(),
        shared_loader_obj=None,
    )  # fmt: skip

    def execute(
        module_name: str = "",
        module_args: t.Mapping[str, t.Any] | None = None,
        task_vars: t.Any = None,
        wrap_async: t.Any = False,
    ) -> dict[str, t.Any]:
        assert answer, f"a host was asked: {module_name} {module_args}"
        return answer(module_name, module_args or {})

    def find(_directory: str, name: str) -> str:
        if not os.path.exists(name):
            raise AnsibleError(f"Could not find or access {name}")
        return name

    called._execute_module = execute
    called._find_needle = find
    called._connection.fetch_file = fetch
    called._display = MagicMock()
    try:
        result = called.run(task_vars={"inventory_hostname": host, **variables})
    except AnsibleActionFail as error:
        # As the executor of a task does.
        result = {"failed": True, "msg": str(error)}
    shown = "\n".join(str(call.args[0]) for call in called._display.display.call_args_list)
    return {**t.cast("dict[str, t.Any]", result), "shown": shown}
