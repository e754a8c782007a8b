"""Run apt-get on this host: build its arguments, wait for its lock, and explain its errors."""

from __future__ import annotations

import os
import re
import shutil
import time
import typing as t

from .._core.errors import SparkforgeError
from .._diagnosis.rules import apt, consequences, memory, network
from .._diagnosis.table import explain, load
from .._host import apt_state, dpkg
from .._host.reader import Host
from .plan import Plan, parse_simulation

# A function that runs an argument list with additions to the environment; returns exit status, stdout and stderr.
Run = t.Callable[[list[str], dict[str, str]], tuple[int, str, str]]

ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Ubuntu's needrestart would otherwise restart services, including running jobs, without asking.
    "NEEDRESTART_SUSPEND": "1",
    "UCF_FORCE_CONFFOLD": "1",
}

_OPTIONS = (
    "--no-install-recommends",
    *("-o", "Dpkg::Options::=--force-confold"),
    *("-o", "Dpkg::Use-Pty=0"),
    # Removing unneeded packages is up to the administrator, because autoremove could remove DGX packages.
    *("-o", "APT::Get::AutomaticRemove=0"),
)


def read_only() -> tuple[str, ...]:
    """Return the options that make apt read-only.

    An ordinary account cannot take the lock. As root, apt would write a cache, and a log for each simulated plan.
    """
    cache = ("-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Log::Planner=/dev/null")
    return ("-o", "Debug::NoLocking=1", *(cache if os.geteuid() == 0 else ()))


#: The rules for messages from apt, dpkg and their helpers, in the order of the full table.
_RULES = load(memory, network, apt, consequences)


def diagnose(action: str, stdout: str, stderr: str, holder: t.Mapping[str, t.Any] | None = None) -> SparkforgeError:
    """Turn error output from apt-get or dpkg into one cause and one remedy.

    :param action: a description of the attempt (``install libfoo``).
    :param holder: the holder of the lock, from :meth:`AptState.lock_holder`.
    """
    # Errors appear in both streams, the earliest in stdout.
    text = f"{stdout}\n{stderr}"
    details: dict[str, t.Any] = {"stderr": stderr[-4000:], "stdout": stdout[-4000:]}
    if holder:
        details["holder"] = dict(holder)
    explanation = explain(text, _RULES, **({"who": f"{holder['pid']} ({holder['command']})"} if holder else {}))
    if explanation:
        details["diagnosis"] = explanation.rule
        if explanation.rule == "apt-no-package":
            details["unknown"] = explanation.groups["found"].split(", ")
        return SparkforgeError(explanation.cause, explanation.remedy, **details)
    errors = re.findall(r"^(?:E|Error): *(.*\S)", text, re.M)
    message = " ".join(errors) or " ".join(stderr.split())[-300:] or "it printed nothing"
    return SparkforgeError(
        f"apt could not {action}: {message.rstrip('.')}.",
        "Run `apt-get check` on the host and fix the problems that it reports.",
        **details,
    )


def command_runner(module: t.Any) -> Run:
    """Return a function that runs commands for the core; status 127 means that the command is not installed.

    :param module: the ``AnsibleModule``.
    """

    def run(argv: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
        if shutil.which(argv[0]) is None:
            return 127, "", f"{argv[0]}: command not found"
        status, stdout, stderr = module.run_command(argv, environ_update=environment)
        return int(status), str(stdout), str(stderr)

    return run


class Apt:
    """apt-get on this host."""

    def __init__(self, run: Run, lock_timeout: float = 120.0, poll: float = 2.0) -> None:
        self._run = run
        self._lock_timeout = lock_timeout
        self._poll = poll
        self.state = apt_state.AptState(Host(run=lambda argv: run(argv, ENVIRONMENT)))

    def packages(self) -> dpkg.Packages:
        """Return the packages that dpkg lists as installed."""
        return dpkg.packages(self.state.host)

    def run(self, argv: list[str], action: str) -> str:
        """Run apt-get or dpkg, waiting for the lock, and return its output.

        :raises SparkforgeError: with the cause and, after a timeout, the holder of the lock.
        """
        deadline = time.monotonic() + self._lock_timeout
        while True:
            status, stdout, stderr = self._run(argv, ENVIRONMENT)
            if status == 0:
                return stdout + stderr
            error = diagnose(action, stdout, stderr)
            if error.details.get("diagnosis") != "apt-locked":
                raise error
            # Look it up immediately, because a holder that exits meanwhile can no longer be identified.
            holder = self.state.lock_holder()
            if time.monotonic() >= deadline:
                error = diagnose(action, stdout, stderr, holder)
                error.details["waited"] = self._lock_timeout
                raise error
            time.sleep(self._poll)

    def policies(self, names: t.Sequence[str]) -> dict[str, apt_state.Policy]:
        """Return apt's policy for each name, in one call."""
        status, stdout, stderr = self._run(["apt-cache", "policy", *names], ENVIRONMENT)
        if status != 0:
            raise diagnose("read its package lists", stdout, stderr)
        return apt_state.parse_policy(stdout)

    def simulate(self, *arguments: str) -> Plan:
        """Return the plan of ``apt-get <arguments>``."""
        action = " ".join(arguments)
        return parse_simulation(self.run(["apt-get", "--simulate", "-q", *_OPTIONS, *arguments], action))

    def apply(self, *arguments: str) -> str:
        """Run ``apt-get <arguments>`` without prompts."""
        return self.run(["apt-get", "--yes", "-q", *_OPTIONS, *arguments], " ".join(arguments))

    def update(self) -> None:
        """Fetch all package lists."""
        self.run(["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any"], "update its package lists")

    def update_source(self, file: str) -> None:
        """Fetch the package lists for one source file without changing the others."""
        only = ("-o", f"Dir::Etc::sourcelist={file}", "-o", "Dir::Etc::sourceparts=/dev/null")
        # Without the second option, an unreachable repository is only a warning and apt exits with 0.
        options = ("-o", "APT::Get::List-Cleanup=0", "-o", "APT::Update::Error-Mode=any")
        self.run(["apt-get", "update", "-q", *only, *options], f"update its package lists from {file}")
