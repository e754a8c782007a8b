"""The base classes of the action plugins."""

from __future__ import annotations

import gc
import importlib
import typing as t

from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.action import ActionBase

from ..module_utils._core import sanitize
from ..module_utils._core.errors import SparkforgeError
from . import programs


def merge_mapping(arguments: t.Mapping[str, t.Any], option: str) -> dict[str, t.Any]:
    """Return a task's arguments merged with those in the mapping ``option``.

    The task's own arguments take precedence; null in the mapping means unset.

    :raises SparkforgeError: if the option is not a mapping.
    """
    rest = dict(arguments)
    mapping = rest.pop(option, None) or {}
    if not isinstance(mapping, dict):
        raise SparkforgeError(
            f"The option {option} is not a mapping: {str(mapping)[:200]!r}.", "Give a mapping of the module's options."
        )
    return {**{key: value for key, value in mapping.items() if value is not None}, **rest}


class OnHost(ActionBase):
    """An action that runs a module on the host and filters its answer.

    Root on the host can replace the interpreter and return anything. The answer is shown on the controller,
    and facts with arbitrary names would become play variables if ``inject_facts_as_vars`` is on.

    :cvar FACTS: the facts that the module is meant to set.
    """

    FACTS: t.ClassVar[t.Collection[str]] = ()

    def _execute_module(self, *arguments: t.Any, **options: t.Any) -> dict[str, t.Any]:
        # Ansible parses each module file that it sends to the host. Garbage collection would meanwhile scan all objects
        # many times and take half of the time, although the process exits with this task.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return self.accept(super()._execute_module(*arguments, **options))
        except SparkforgeError as error:
            return {"failed": True, "changed": False, **error.as_result()}
        finally:
            if collecting:
                gc.enable()

    def accept(self, answer: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the accepted part of a module's answer: texts safe on a terminal, and the facts in :attr:`FACTS`.

        :raises SparkforgeError: if the answer cannot come from this module.
        """
        returned = answer.get("ansible_facts")
        facts = {key: returned[key] for key in self.FACTS if key in returned} if isinstance(returned, dict) else {}
        # Keep Ansible's discovered interpreter in the facts; otherwise Ansible would search for it again.
        if self._discovered_interpreter_key:
            facts[self._discovered_interpreter_key] = self._discovered_interpreter
        rest = {key: value for key, value in answer.items() if key != "ansible_facts"}
        accepted: dict[str, t.Any] = sanitize.data({**rest, "ansible_facts": facts} if facts else rest, sanitize.text)
        return accepted


class AsksProgram(OnHost):
    """An action whose module leaves its work to the program of the proof or of the guard."""

    def run_program(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the module's result: after one call if the host has the program, and otherwise after sending it."""
        program = programs.CALLED.get(self._task.action.rpartition(".")[2], programs.PROOF)
        try:
            content, sha256 = program.archive()
        except SparkforgeError as error:
            return {"failed": True, "changed": False, **error.as_result()}
        arguments["program"] = {"sha256": sha256}
        answer: dict[str, t.Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        if not answer.pop("needs_program", False):
            return answer
        directory = self._connection._shell.tmpdir or self._make_tmp_path()
        path = self._connection._shell.join_path(directory, program.file)
        self._transfer_data(path, content)
        self._fixup_perms2([directory, path])
        arguments["program"]["path"] = path
        return dict(self._execute_module(module_args=arguments, task_vars=task_vars))


def argument_spec(name: str) -> dict[str, t.Any]:
    """Return the argument spec from a module's documentation, including its fragments."""
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
    """An action that runs ``work`` on the controller and turns its refusals into the task's failure.

    Its arguments come from the documentation.

    :cvar ARGUMENTS: specs of arguments that the documentation does not describe completely.
    """

    _requires_connection = False
    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {}
    spec: t.ClassVar[dict[str, t.Any]]

    def __init_subclass__(cls) -> None:
        # Read the documentation once, when Ansible's main process imports the action, not in each host's worker.
        cls.spec = {**argument_spec(cls.__module__.rpartition(".")[2]), **cls.ARGUMENTS}

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return the result of ``work``, or its refusal."""
        del tmp
        task_vars = task_vars or {}
        result = super().run(task_vars=task_vars)
        _spec, arguments = self.validate_argument_spec(argument_spec=self.spec)
        try:
            return {**result, **self.work(arguments, task_vars)}
        except SparkforgeError as error:
            return {**result, "failed": True, "changed": False, **error.as_result()}

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Do the action's work and return the task's result."""
        raise NotImplementedError
