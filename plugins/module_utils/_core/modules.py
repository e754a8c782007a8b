"""Exit a module of this collection with its result, or with one cause and one remedy."""

from __future__ import annotations

import json
import os
import re
import typing as t

from .errors import SparkforgeError
from .redact import passwords

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


#: The variable with the path of the file with proxies. Ansible shows a task's environment with -vvv and ``ps`` shows it
#: on the host, so it must not contain a proxy's password.
PROXIES_VARIABLE = "SPARKFORGE_PROXIES"


def take_proxies(environment: t.MutableMapping[str, str]) -> None:
    """Add the variables from the file that PROXIES_VARIABLE points to; a missing file adds nothing."""
    path = environment.get(PROXIES_VARIABLE)
    if not path:
        return
    try:
        with open(path, encoding="utf-8") as stream:
            environment.update({str(key): str(value) for key, value in json.load(stream).items()})
    except FileNotFoundError:
        return
    except (OSError, ValueError, AttributeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a JSON object"
        raise SparkforgeError(
            f"The proxies of this host cannot be read from {path}: {reason}.",
            "Set become for this task, since the file contains a password. If it is damaged, remove it and run the "
            "role network_access.",
        ) from error


def _urls(value: t.Any) -> t.Iterator[str]:
    """Yield each URL in a module's options; URLs inside other text, such as a patch, do not count."""
    if isinstance(value, t.Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _urls(item)
    elif isinstance(value, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", value):
        yield value


def run(module: AnsibleModule, work: t.Callable[[], dict[str, t.Any]]) -> None:
    """Call ``work`` and exit with its result; its ``warnings`` go to Ansible, which prints them.

    :raises SystemExit: always, through ``exit_json`` or ``fail_json``.
    """
    # Ansible shows a module's options with -vvv, and some of them in its error messages.
    module.no_log_values |= {word for url in _urls(module.params) for word in passwords(url)}
    # Other accounts must be able to read the new files: users, `nobody`, and apt's own account.
    os.umask(0o022)
    try:
        take_proxies(os.environ)
        result = work()
    except SparkforgeError as error:
        module.fail_json(**error.as_result())
    for warning in result.pop("warnings", []):
        module.warn(warning)
    module.exit_json(**result)
