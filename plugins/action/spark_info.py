"""Run any module that meta/runtime.yml routes here, and keep only the parts of its answer that a host may set.

spark_info is the first call to each host. If the host is unreachable or sudo refuses, the message gives the remedy;
to Ansible the host remains unreachable, and no further call is made. An observation is accepted only in the form that
every plan reads, because other hosts' tasks read it too, and a malformed one would stop them all.
"""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action.normal import ActionModule as Normal

from ..module_utils._core import phrases
from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils import schema
from ..plugin_utils.action import OnHost

#: The text that Ansible puts before ssh's message.
_WRAPPED = re.compile(r".*(?:over|via) ssh: (?:ssh: )?", re.S | re.I)
_SUDO = re.compile(r"(Missing|Incorrect) (?:sudo|su) password")
_FIND = "or run `make spark` (`sparkforge setup`), which finds Sparks and writes an inventory of its own"


class ActionModule(OnHost, Normal):
    """Calls the module once, and replaces Ansible's message if the call fails."""

    FACTS: t.ClassVar[t.Collection[str]] = ("spark_info",)

    def accept(self, answer: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the answer with the observation as its only fact; see :class:`OnHost`."""
        result = {key: value for key, value in answer.items() if key != "ansible_facts"}
        observes = str(self._task.action).rpartition(".")[2] == "spark_info"
        if not observes or answer.get("failed") or answer.get("unreachable"):
            return super().accept(result)
        wrong = schema.problems("observation", answer.get("spark_info"))
        if wrong:
            raise SparkforgeError(
                f"The answer of this host is not a valid observation: {phrases.some([wrong[0][:300], *wrong[1:]], 1)}.",
                "Find out who changed python3 or other system files on it; until then, exclude the host with -l.",
            )
        return super().accept({**result, "ansible_facts": {"spark_info": answer["spark_info"]}})

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        variables = task_vars or {}
        try:
            result: dict[str, t.Any] = super().run(tmp, task_vars)
            return result
        except AnsibleConnectionFailure as error:
            raise AnsibleConnectionFailure(str(unreachable_error(str(error), variables))) from None
        except AnsibleError as error:
            if not (sudo := _SUDO.search(str(error))):
                raise
            return {"failed": True, "changed": False, **_no_root(sudo[1], variables).as_result()}


def unreachable_error(output: str, variables: t.Mapping[str, t.Any]) -> SparkforgeError:
    """Return why ssh could not reach a host, and the remedy, from ssh's message and the host's variables."""
    host = str(variables.get("inventory_hostname"))
    message = " ".join(_WRAPPED.sub("", output).split()).rstrip(".")
    address = _setting_of("ansible_host", variables)
    user = _setting_of("ansible_user", variables)
    login = f"ssh {variables.get('ansible_user', 'USER')}@{variables.get('ansible_host') or host}"
    if "Could not resolve hostname" in message:
        remedy = f"Write the Spark's name or address into {address}, {_FIND}."
    elif "Permission denied" in message:
        remedy = f"Write your user name on the Spark into {user}, and add -k if `{login}` asks for a password."
    elif "Host key verification failed" in message or "IDENTIFICATION HAS CHANGED" in message:
        remedy = f"Compare the key that `{login}` shows with the Spark's own, and accept it there."
    else:
        remedy = f"Check that it is on, on this network and running sshd (`{login}`), or correct {address}, {_FIND}."
    return SparkforgeError(f"{host} cannot be reached over ssh: {message}.", remedy)


def _no_root(word: str, variables: t.Mapping[str, t.Any]) -> SparkforgeError:
    host, user = variables.get("inventory_hostname"), variables.get("ansible_user", "the account there")
    if word == "Missing":
        return SparkforgeError(f"sudo on {host} asks {user} for a password, and none was given.", "Add -K.")
    return SparkforgeError(f"sudo on {host} refuses the password of {user}.", "Run the command again with -K.")


def _setting_of(variable: str, variables: t.Mapping[str, t.Any]) -> str:
    """Return the file and line that set a host's variable, or a way to set it."""
    file, value = Path(str(variables.get("inventory_file") or "")), str(variables.get(variable) or "")
    if not file.is_file():
        return f"the option -e {variable}=…"
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    setting = re.compile(rf"^[^#]*\b{variable}\s*[:=]\s*['\"]?{re.escape(value)}(?![\w.-])")
    lines_set = (
        f"line {number} of {file} ({line.strip()})" for number, line in enumerate(lines, 1) if setting.match(line)
    )
    return next(lines_set, f"{variable} of this host in {file}")
