# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""apt-get on this host: how it is called, waited for and understood."""

from __future__ import annotations

import os
import re
import shutil
import time
import typing as t

from .._core.errors import SparkforgeError
from .._diagnosis.rules import apt, memory, network
from .._diagnosis.table import explain, load
from .._host import apt_state, dpkg
from .._host.reader import Host
from .plan import Plan, parse_simulation

# Runs an argument list with these additions to the environment; returns exit status, stdout, stderr.
Run = t.Callable[[list[str], dict[str, str]], tuple[int, str, str]]

ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Ubuntu's needrestart would otherwise restart services, running jobs among them, without being asked.
    "NEEDRESTART_SUSPEND": "1",
    "UCF_FORCE_CONFFOLD": "1",
}

_OPTIONS = (
    "--no-install-recommends",
    *("-o", "Dpkg::Options::=--force-confold"),
    *("-o", "Dpkg::Use-Pty=0"),
    # The administrator decides about packages that nobody needs: autoremove could remove DGX packages.
    *("-o", "APT::Get::AutomaticRemove=0"),
)


def read_only() -> tuple[str, ...]:
    """Return the options with which apt only reads.

    An ordinary account cannot lock, and root would write a cache, and a log of each plan that is simulated.
    """
    cache = ("-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Log::Planner=/dev/null")
    return ("-o", "Debug::NoLocking=1", *(cache if os.geteuid() == 0 else ()))


#: The rules for messages of apt, dpkg and what they need, in the order of the whole table.
_RULES = load(memory, network, apt)


def diagnose(action: str, stdout: str, stderr: str, holder: t.Mapping[str, t.Any] | None = None) -> SparkforgeError:
    """Turn what apt-get or dpkg complained of into one cause and one remedy.

    :param action: what was tried, in words (``install libfoo``).
    :param holder: who holds the lock, from :meth:`AptState.lock_holder`.
    """
    # Both have parts of it, and stdout what came first.
    text = f"{stdout}\n{stderr}"
    details: dict[str, t.Any] = {"stderr": stderr[-4000:], "stdout": stdout[-4000:]}
    if holder:
        details["holder"] = dict(holder)
    known = explain(text, _RULES, **({"who": f"{holder['pid']} ({holder['command']})"} if holder else {}))
    if known:
        details["diagnosis"] = known.rule
        if known.rule == "apt-no-package":
            details["unknown"] = known.groups["found"].split(", ")
        return SparkforgeError(known.cause, known.remedy, **details)
    errors = re.findall(r"^(?:E|Error): *(.*\S)", text, re.M)
    said = " ".join(errors) or " ".join(stderr.split())[-300:] or "it said nothing"
    return SparkforgeError(
        f"apt could not {action}: {said.rstrip('.')}.",
        "Run `apt-get check` on the host and fix what it reports.",
        **details,
    )


def command_runner(module: t.Any) -> Run:
    """Return what runs a command for the core; 127 is the status of a command that is not installed.

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
        """Return what dpkg has installed."""
        return self.state.packages()

    def run(self, argv: list[str], action: str) -> str:
        """Run apt-get or dpkg, waiting for the lock, and return its output.

        :raises SparkforgeError: with the cause, and with who held the lock when the wait ran out.
        """
        deadline = time.monotonic() + self._lock_timeout
        while True:
            status, stdout, stderr = self._run(argv, ENVIRONMENT)
            if status == 0:
                return stdout + stderr
            error = diagnose(action, stdout, stderr)
            if error.details.get("diagnosis") != "apt-locked":
                raise error
            # Asked at once: a holder that ends meanwhile can no longer be named.
            holder = self.state.lock_holder()
            if time.monotonic() >= deadline:
                error = diagnose(action, stdout, stderr, holder)
                error.details["waited"] = self._lock_timeout
                raise error
            time.sleep(self._poll)

    def policies(self, names: t.Sequence[str]) -> dict[str, apt_state.Policy]:
        """Return what apt knows of each name, in one call."""
        status, stdout, stderr = self._run(["apt-cache", "policy", *names], ENVIRONMENT)
        if status != 0:
            raise diagnose("read its package lists", stdout, stderr)
        return apt_state.parse_policy(stdout)

    def simulate(self, *arguments: str) -> Plan:
        """Return what ``apt-get <arguments>`` would do."""
        action = " ".join(arguments)
        return parse_simulation(self.run(["apt-get", "--simulate", "-q", *_OPTIONS, *arguments], action))

    def apply(self, *arguments: str) -> str:
        """Run ``apt-get <arguments>`` without questions."""
        return self.run(["apt-get", "--yes", "-q", *_OPTIONS, *arguments], " ".join(arguments))

    def update(self) -> None:
        """Fetch all package lists."""
        self.run(["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any"], "update its package lists")

    def update_source(self, file: str) -> None:
        """Fetch the package lists of one source file and leave all others as they are."""
        only = ("-o", f"Dir::Etc::sourcelist={file}", "-o", "Dir::Etc::sourceparts=/dev/null")
        # Without the second apt calls an unreachable repository a warning and exits with 0.
        kept = ("-o", "APT::Get::List-Cleanup=0", "-o", "APT::Update::Error-Mode=any")
        self.run(["apt-get", "update", "-q", *only, *kept], f"update its package lists from {file}")
