# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base classes of the action plugins."""

from __future__ import annotations

import gc
import importlib
import time
import typing as t

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.action import ActionBase

from ..module_utils._core import shown
from ..module_utils._core.errors import SparkforgeError
from . import programs


def expanded(arguments: t.Mapping[str, t.Any], option: str) -> dict[str, t.Any]:
    """Return a task's arguments with those of the mapping ``option`` among them.

    What the task gives itself wins, and null in the mapping is as if it were left out.

    :raises SparkforgeError: if the option is not a mapping.
    """
    rest = dict(arguments)
    mapping = rest.pop(option, None) or {}
    if not isinstance(mapping, dict):
        raise SparkforgeError(
            f"The option {option} is not a mapping: {str(mapping)[:200]!r}.", "Give a mapping of the module's options."
        )
    return {**{key: value for key, value in mapping.items() if value is not None}, **rest}


#: Seconds that a lost connection is tried again before the host counts as unreachable.
_RECONNECT = 120.0
Answer = t.TypeVar("Answer")


class Reconnecting:
    """For an action that follows work that outlives the connection."""

    _connection: t.Any

    def again(self, ask: t.Callable[[], Answer]) -> Answer:
        """Return what ``ask`` returns; a connection that is lost meanwhile is made again.

        :raises AnsibleConnectionFailure: if that takes too long; the work continues on the host.
        """
        deadline = None
        while True:
            try:
                return ask()
            except AnsibleConnectionFailure as error:
                # From the loss on: ssh may take minutes to notice it.
                deadline = deadline or time.monotonic() + _RECONNECT
                if time.monotonic() > deadline:
                    raise AnsibleConnectionFailure(
                        f"The host does not answer. The work continues there; run the same command to follow it. "
                        f"{error}"
                    ) from error
                self._connection.reset()
                time.sleep(5)


class OnHost(ActionBase):
    """An action that runs a module on the host, and takes of the answer no more than a host may say.

    Who is root there can replace the interpreter and answer anything: what it says is shown on the controller, and
    facts of any name would be variables of the play where ``inject_facts_as_vars`` is on.

    :cvar FACTS: the facts that the module is there to set.
    """

    FACTS: t.ClassVar[t.Collection[str]] = ()

    def _execute_module(self, *arguments: t.Any, **options: t.Any) -> dict[str, t.Any]:
        # Ansible parses each file that travels. Python would meanwhile search all objects for garbage many times over,
        # in a process that ends with this task: half of the time.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return self.taken(super()._execute_module(*arguments, **options))
        except SparkforgeError as error:
            return {"failed": True, "changed": False, **error.as_result()}
        finally:
            if collecting:
                gc.enable()

    def taken(self, answer: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return what is taken of a module's answer: texts that a terminal may show, and the facts of :attr:`FACTS`.

        :raises SparkforgeError: if the answer is none of this module's.
        """
        returned = answer.get("ansible_facts")
        facts = {key: returned[key] for key in self.FACTS if key in returned} if isinstance(returned, dict) else {}
        # Ansible found the interpreter, and would search for it again if it were not in the facts.
        if self._discovered_interpreter_key:
            facts[self._discovered_interpreter_key] = self._discovered_interpreter
        rest = {key: value for key, value in answer.items() if key != "ansible_facts"}
        taken: dict[str, t.Any] = shown.values({**rest, "ansible_facts": facts} if facts else rest)
        return taken


class AsksProgram(OnHost):
    """An action whose module has the program of the proof, or the guard's, do its work."""

    def asked(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the module's result: by one call where the host has the program, else it is sent to it."""
        program = programs.CALLED.get(self._task.action.rpartition(".")[2], programs.PROOF)
        try:
            content, sha256 = program.archive()
        except SparkforgeError as error:
            return {"failed": True, "changed": False, **error.as_result()}
        arguments["program"] = {"sha256": sha256}
        done: dict[str, t.Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        if not done.pop("needs_program", False):
            return done
        directory = self._connection._shell.tmpdir or self._make_tmp_path()
        path = self._connection._shell.join_path(directory, program.file)
        self._transfer_data(path, content)
        self._fixup_perms2([directory, path])
        arguments["program"]["path"] = path
        return dict(self._execute_module(module_args=arguments, task_vars=task_vars))


def documented(name: str) -> dict[str, t.Any]:
    """Return the argument spec that the documentation of a module has, its fragments included."""
    module = importlib.import_module(f"..modules.{name}", __package__)
    documentation = yaml_load(module.DOCUMENTATION)
    options = dict(documentation["options"])
    for fragment in documentation["extends_documentation_fragment"]:
        file, _dot, variant = fragment.removeprefix("sparkforge.dgx_spark.").partition(".")
        texts = importlib.import_module(f"..doc_fragments.{file}", __package__).ModuleDocFragment
        options.update(yaml_load(getattr(texts, variant.upper() or "DOCUMENTATION"))["options"])
    keys = ("type", "elements", "required", "choices", "default")
    return {name: {key: option[key] for key in keys if key in option} for name, option in options.items()}


class OnController(ActionBase):
    """An action that works on the controller: what it does is ``work``, whose refusals become the task's failure.

    Its arguments are those of the documentation.

    :cvar ARGUMENTS: the specs of those that the documentation does not say all of.
    """

    _requires_connection = False
    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {}
    spec: t.ClassVar[dict[str, t.Any]]

    def __init_subclass__(cls) -> None:
        # Read once, where Ansible's main process imports the action, and not by the worker of each host.
        cls.spec = {**documented(cls.__module__.rpartition(".")[2]), **cls.ARGUMENTS}

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return what ``work`` returns, or its refusal."""
        del tmp
        task_vars = task_vars or {}
        result = super().run(task_vars=task_vars)
        _spec, arguments = self.validate_argument_spec(argument_spec=self.spec)
        try:
            return {**result, **self.work(arguments, task_vars)}
        except SparkforgeError as error:
            return {**result, "failed": True, "changed": False, **error.as_result()}

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Do it, and return the task's result.

        :raises SparkforgeError: for what cannot be done.
        """
        raise NotImplementedError
