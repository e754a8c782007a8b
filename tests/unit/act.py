"""Calls an action plugin in this process, as a task would; in tests/playbooks, Ansible itself calls them."""

import os
import typing as t
from unittest.mock import MagicMock

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

Answer = t.Callable[[str, t.Mapping[str, t.Any]], dict[str, t.Any]]


def construct(plugin, arguments, *, check_mode=False, connection=None) -> t.Any:
    """Return an action plugin for a task with these arguments."""
    task = MagicMock(async_val=0, check_mode=check_mode, diff=False, args=dict(arguments), delegate_to=None)
    return plugin(
        task=task, connection=connection or MagicMock(), play_context=MagicMock(), loader=MagicMock(),
        templar=MagicMock(), shared_loader_obj=None,
    )  # fmt: skip


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
    """Return the result of one task; ``shown`` contains the displayed lines.

    :param answer: stands in for the host: it is called with a module's name and arguments. If it is None, no module may
    run.
    :param fetch: stands in for the connection: it is called with a path on the host and the path for the copy.
    :param variables: the host's variables.
    """
    called = construct(plugin, arguments, check_mode=check_mode)

    def execute(module_name="", module_args=None, task_vars=None, wrap_async=False) -> dict[str, t.Any]:
        assert answer, f"a module was run: {module_name} {module_args}"
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
        # Ansible's task executor does the same.
        result = {"failed": True, "msg": str(error)}
    shown = "\n".join(str(call.args[0]) for call in called._display.display.call_args_list)
    return {**t.cast("dict[str, t.Any]", result), "shown": shown}
