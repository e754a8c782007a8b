# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""apt-get, asked first what it would do, refused where that touches what is the vendor's, and remembered.

apt resolves, fetches and unpacks; this reads its plan and its complaints, and keeps a receipt of
what it brought.
"""

from __future__ import annotations

import fnmatch
import glob
import json
import os
import re
import shutil
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.rules import apt, memory, network
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.table import explain, load
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.apt_state import DPKG, AptState, Packages
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host

# Runs an argument list with these additions to the environment; returns exit status, stdout, stderr.
Run = t.Callable[[t.List[str], t.Dict[str, str]], t.Tuple[int, str, str]]

ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Ubuntu's needrestart would otherwise restart services, running jobs among them, without being asked.
    "NEEDRESTART_SUSPEND": "1",
    "UCF_FORCE_CONFFOLD": "1",
}

# The driver, the kernel and DGX packages are the vendor's (DESIGN.md, rule 10). linux-libc-dev is no
# kernel: it is the header package that every compiler pulls in. The names are those of nvidia-facts A and
# of Ubuntu's kernels.
PROTECTED = (
    r"^nvidia-driver",
    r"^nvidia-kernel",
    r"^nvidia-dkms",
    r"^nvidia-open",
    r"^nvidia-firmware",
    r"^nvidia-fabricmanager",
    r"^nvidia-modprobe$",
    r"^nvidia-persistenced$",
    r"^nvidia-utils-",
    r"^nvidia-compute-utils-",
    r"^nvidia-fs",
    r"^nvidia-spark",
    r"^nvidia-system-",
    r"^libnvidia-",
    r"^xserver-xorg-video-nvidia",
    r"^cuda-drivers",
    r"^cuda-compute-repo",
    r"^linux-(?!libc-dev)",
    r"^dgx-",
    r"^grub-",
    r"^shim-",
)

_WANTED = re.compile(r"(?P<name>[^\s=>]+)(?:=(?P<version>[^\s>]+))?(?:>=(?P<minimum>[^\s=>]+))?")
_NAME = re.compile(r"^[a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?$")
# States of dpkg in which a package's files lie on the disk.
_ON_DISK = (
    " installed",
    " triggers-pending",
    " triggers-awaited",
    " half-configured",
    " unpacked",
    " half-installed",
)
_INST = re.compile(r"^Inst (\S+) (?:\[(\S+)\] )?\((\S+) ?([^)\[]*)")
_REMV = re.compile(r"^(?:Remv|Purg) (\S+)(?: \[(\S+)\])?")
#: What apt and dpkg say, of themselves and of what they need, in the order of the whole table.
_RULES = load(memory, network, apt)


class Wanted(t.NamedTuple):
    """One package by name, with a version or a glob of versions, and the oldest, where that matters."""

    name: str
    version: t.Optional[str]
    minimum: t.Optional[str] = None

    def accepts(self, version: str) -> bool:
        """Tell whether ``version`` is one that was asked for."""
        if self.minimum is not None and compare_versions(version, self.minimum) < 0:
            return False
        return self.version is None or fnmatch.fnmatchcase(version, self.version)

    @property
    def asked(self) -> str:
        """Return in words which versions are accepted."""
        newer = f"{self.minimum} or newer" if self.minimum is not None else ""
        return " and ".join(filter(None, (self.version, newer)))

    def __str__(self) -> str:
        exact = "" if self.version is None else f"={self.version}"
        return self.name + exact + ("" if self.minimum is None else f">={self.minimum}")


def parse_wanted(text: str) -> t.List[Wanted]:
    """Read ``name``, ``name=version``, ``name=glob``, ``name>=version``, ``name=glob>=version``, or several of them
    joined by ``|``, best first.

    :raises SparkforgeError: for what can be no package name (apt-get would take ``name-`` for a removal).
    """
    found = []
    for alternative in text.split("|"):
        match = _WANTED.fullmatch(alternative.strip())
        if match is None or not _NAME.match(match["name"]) or match["name"].endswith("-"):
            raise SparkforgeError(
                f"{text!r} does not name a package.",
                "Write name, name=version, name=glob, name>=version, or alternatives joined by '|'"
                " (libfoo-cuda-13|libfoo).",
            )
        found.append(Wanted(match["name"], match["version"], match["minimum"]))
    return found


def satisfied(text: str, installed: t.Mapping[str, str]) -> bool:
    """Tell whether one of the alternatives is installed in a version that was asked for."""
    return any(one.name in installed and one.accepts(installed[one.name]) for one in parse_wanted(text))


def missing(wanted: t.Iterable[str], installed: t.Mapping[str, str]) -> t.List[str]:
    """Return those of ``wanted`` that are not satisfied, in order and without repeats."""
    return [text for text in dict.fromkeys(wanted) if not satisfied(text, installed)]


def _order(character: str) -> int:
    """Rank one character of a version's non-digit part (deb-version(7)): ~, the end, letters, all else."""
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _compare_part(left: str, right: str) -> int:
    while left or right:
        left_text = re.match(r"\D*", left).group()  # type: ignore[union-attr]
        right_text = re.match(r"\D*", right).group()  # type: ignore[union-attr]
        for position in range(max(len(left_text), len(right_text))):
            a = _order(left_text[position]) if position < len(left_text) else 0
            b = _order(right_text[position]) if position < len(right_text) else 0
            if a != b:
                return -1 if a < b else 1
        left, right = left[len(left_text) :], right[len(right_text) :]
        left_digits = re.match(r"\d*", left).group()  # type: ignore[union-attr]
        right_digits = re.match(r"\d*", right).group()  # type: ignore[union-attr]
        if int(left_digits or 0) != int(right_digits or 0):
            return -1 if int(left_digits or 0) < int(right_digits or 0) else 1
        left, right = left[len(left_digits) :], right[len(right_digits) :]
    return 0


def compare_versions(left: str, right: str) -> int:
    """Return -1, 0 or 1 as ``dpkg --compare-versions`` orders two versions (deb-version(7))."""
    parts = []
    for version in (left, right):
        epoch, colon, rest = version.strip().partition(":")
        if not colon or not epoch.isdigit():
            epoch, rest = "0", version.strip()
        upstream, dash, revision = rest.rpartition("-")
        parts.append((int(epoch), upstream if dash else rest, revision if dash else ""))
    if parts[0][0] != parts[1][0]:
        return -1 if parts[0][0] < parts[1][0] else 1
    return _compare_part(parts[0][1], parts[1][1]) or _compare_part(parts[0][2], parts[1][2])


class Policy(t.NamedTuple):
    """What ``apt-cache policy`` says of one name."""

    candidate: t.Optional[str]
    versions: t.List[t.Tuple[str, int]]  # (version, pin priority), newest first; what is installed counts too
    offered: t.FrozenSet[str]  # versions that a source offers, and not dpkg's status alone


def parse_policy(text: str) -> t.Dict[str, Policy]:
    """Read ``apt-cache policy NAME…``; a name that apt does not know does not appear."""
    found: t.Dict[str, Policy] = {}
    name = None
    candidate: t.Optional[str] = None
    versions: t.List[t.Tuple[str, int]] = []
    offered: t.Set[str] = set()
    for line in [*text.splitlines(), "end:"]:
        head = re.match(r"^(\S[^ ]*):$", line)
        row = re.match(r"^ (?:\*\*\*|   ) (\S+)(?: \(phased \d+%\))? (-?\d+)$", line)
        origin = re.match(r"^ {8,}-?\d+ (\S+)", line)
        if head:
            if name is not None:
                found[name] = Policy(candidate, versions, frozenset(offered))
            name, candidate, versions, offered = head.group(1), None, [], set()
        elif line.startswith("  Candidate: "):
            value = line.split(": ", 1)[1]
            candidate = None if value == "(none)" else value
        elif row:
            versions.append((row.group(1), int(row.group(2))))
        elif origin and versions and origin.group(1) != f"{DPKG}/status":
            offered.add(versions[-1][0])
    return found


def present_versions(packages: Packages) -> t.Dict[str, str]:
    """Return name -> version of all that lies on the disk, half-configured packages included."""
    return {**{row["name"]: "" for row in packages.broken}, **packages.versions}


class Choice(t.NamedTuple):
    """What to ask apt-get for, or why there is nothing to ask for."""

    argument: t.Optional[str]
    reason: str


def forbidding_pin(name: str, pins: t.Iterable[t.Mapping[str, t.Any]]) -> t.Optional[t.Mapping[str, t.Any]]:
    """Return the first pin with a negative priority that names ``name`` (apt_preferences(5)), or None.

    :param pins: rows of :meth:`AptState.pins`; a package is a glob, or a regular expression between slashes.
    """
    for pin in pins:
        for pattern in str(pin["package"]).split():
            regular = re.fullmatch(r"/(.+)/", pattern)
            try:
                matches = bool(re.search(regular.group(1), name)) if regular else fnmatch.fnmatchcase(name, pattern)
            except re.error:
                matches = False
            if matches and pin["priority"] < 0:
                return pin
    return None


def choose(text: str, policies: t.Mapping[str, Policy], pins: t.Iterable[t.Mapping[str, t.Any]] = ()) -> Choice:
    """Pick the first alternative that a source offers, in the version that apt would prefer.

    The highest pin priority wins, then the highest version, as apt does it itself; a version whose
    priority is
    negative is not taken: a pin of -1 is the vendor's word (preferences.d of DGX OS).
    """
    reasons = []
    for wanted in parse_wanted(text):
        policy = policies.get(wanted.name)
        if policy is None or not policy.versions:
            reasons.append(f"{wanted.name} is not known to any enabled source")
            continue
        if wanted.version is None and policy.candidate is not None and wanted.accepts(policy.candidate):
            return Choice(wanted.name, "")
        allowed = [(v, p) for v, p in policy.versions if wanted.accepts(v) and p >= 0 and v in policy.offered]
        if allowed:
            best = allowed[0]
            for version, priority in allowed[1:]:
                if (priority, compare_versions(version, best[0])) > (best[1], 0):
                    best = (version, priority)
            return Choice(f"{wanted.name}={best[0]}", "")
        if any(wanted.accepts(version) and priority < 0 for version, priority in policy.versions):
            pin = forbidding_pin(wanted.name, pins)
            which = f"the pin of {pin['package']} to {pin['priority']} in {pin['file']}" if pin else None
            reasons.append(f"{wanted.name} is forbidden by {which or 'a pin with a negative priority'}")
        else:
            has = ", ".join(version for version, _priority in policy.versions[:4])
            reasons.append(f"{wanted.name} has no version {wanted.asked}, only {has}")
    return Choice(None, "; ".join(reasons))


class Step(t.NamedTuple):
    """One package in apt's plan: installed anew where ``previous`` is None, removed where ``version`` is
    None."""

    name: str
    previous: t.Optional[str]
    version: t.Optional[str]

    def as_result(self) -> t.Dict[str, t.Optional[str]]:
        return {"name": self.name, "previous": self.previous, "version": self.version}


class Plan(t.NamedTuple):
    """What apt-get would do."""

    install: t.List[Step]
    remove: t.List[Step]


def parse_simulation(text: str) -> Plan:
    """Read the output of ``apt-get --simulate``."""
    plan = Plan([], [])
    for line in text.splitlines():
        inst, remv = _INST.match(line), _REMV.match(line)
        if inst:
            plan.install.append(Step(inst.group(1), inst.group(2), inst.group(3)))
        elif remv and remv.group(1) not in {step.name for step in plan.remove}:
            plan.remove.append(Step(remv.group(1), remv.group(2), None))
    return plan


def check_plan(plan: Plan, protect: t.Iterable[str], allow: t.Iterable[str] = ()) -> None:
    """Refuse a plan that removes or downgrades anything, or that touches a protected package.

    :param protect: regular expressions of package names that nobody but the vendor changes.
    :param allow: regular expressions that take names out of ``protect`` again (nvidia-fs, where it is
        asked for).
    """
    if plan.remove:
        raise SparkforgeError(
            f"apt would remove {_names(plan.remove)} to install what is asked for.",
            "Find out with `apt-get -s install` which package conflicts; remove it by hand if it is not "
            "needed, "
            "or ask for versions that fit.",
            would_remove=[step.as_result() for step in plan.remove],
        )
    allowed = [re.compile(pattern) for pattern in allow]
    guarded = [re.compile(pattern) for pattern in protect]
    touched = [
        step
        for step in plan.install
        if any(pattern.search(step.name) for pattern in guarded)
        and not any(pattern.search(step.name) for pattern in allowed)
    ]
    if touched:
        raise SparkforgeError(
            f"apt would install or upgrade {_names(touched)}: the driver, the kernel and DGX packages are "
            "the vendor's.",
            "Bring the host up to date with the vendor's own update first (apt full-upgrade, or DGX "
            "Dashboard), or ask "
            "for package versions that work with what is installed.",
            protected=[step.as_result() for step in touched],
        )
    down = [
        step
        for step in plan.install
        if step.previous is not None and step.version is not None and compare_versions(step.previous, step.version) > 0
    ]
    if down:
        raise SparkforgeError(
            "apt would downgrade "
            + ", ".join(f"{step.name} from {step.previous} to {step.version}" for step in down)
            + ".",
            "Ask for the version that is installed, or remove the newer package by hand first.",
            would_downgrade=[step.as_result() for step in down],
        )


def _names(steps: t.Sequence[Step], limit: int = 12) -> str:
    names = [step.name for step in steps]
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


class Installed(t.NamedTuple):
    """One installed package, as far as its removal depends on it."""

    depends: t.List[t.List[str]]  # one list of alternatives for each dependency
    provides: t.List[str]


def parse_dependencies(status: str, native: t.Optional[str] = None) -> t.Dict[str, Installed]:
    """Read which installed package needs which from dpkg's status file (Depends and Pre-Depends)."""
    found = {}
    for stanza in status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Architecture|Depends|Pre-Depends|Provides): *(.*)$", stanza, re.M))
        if "Package" not in fields or not fields.get("Status", "").endswith(_ON_DISK):
            continue
        own = fields.get("Architecture", "all")
        name = fields["Package"] if native is None or own in ("all", native) else f"{fields['Package']}:{own}"
        clauses = []
        for field in ("Pre-Depends", "Depends"):
            for clause in filter(None, (part.strip() for part in fields.get(field, "").split(","))):
                clauses.append([_bare(alternative) for alternative in clause.split("|")])
        provides = [_bare(part) for part in fields.get("Provides", "").split(",") if part.strip()]
        found[name] = Installed(clauses, provides)
    return found


def _bare(relation: str) -> str:
    """Return the package name of ``name:any (>= 1)``."""
    return re.split(r"[\s:(\[]", relation.strip(), maxsplit=1)[0]


def removable(brought: t.Iterable[str], installed: t.Mapping[str, Installed]) -> t.Set[str]:
    """Return those of ``brought`` that no package outside of them depends on, followed to the end."""
    leaving = {name for name in brought if name in installed}
    while True:
        staying = [name for name in installed if name not in leaving]
        offered = {name.split(":")[0] for name in staying}
        for name in staying:
            offered.update(installed[name].provides)
        needed: t.Set[str] = set()
        for name in staying:
            for alternatives in installed[name].depends:
                if offered.isdisjoint(alternatives):
                    needed.update(
                        one
                        for one in leaving
                        if one.split(":")[0] in alternatives
                        or not set(installed[one].provides).isdisjoint(alternatives)
                    )
        if not needed:
            return leaving
        leaving -= needed


def parse_extended_states(text: str) -> t.Set[str]:
    """Return the packages that apt itself chose (``Auto-Installed: 1``), from its extended_states."""
    found = set()
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): *(.*)$", stanza, re.M))
        if fields.get("Auto-Installed") == "1" and "Package" in fields:
            found.add(fields["Package"])
    return found


def diagnose(
    action: str, stdout: str, stderr: str, holder: t.Optional[t.Mapping[str, t.Any]] = None
) -> SparkforgeError:
    """Turn what apt-get or dpkg complained of into one cause and one remedy.

    :param action: what was tried, in words (``install libfoo``).
    :param holder: who holds the lock, from :meth:`AptState.lock_holder`.
    """
    # Both have parts of it, and stdout what came first.
    text = f"{stdout}\n{stderr}"
    details: t.Dict[str, t.Any] = {"stderr": stderr[-4000:], "stdout": stdout[-4000:]}
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
        "Run `apt-get check` on the host and mend what it names.",
        **details,
    )


def command_runner(module: t.Any) -> Run:
    """Return what runs a command for the core; 127 is the status of a command that is not installed.

    :param module: the ``AnsibleModule``.
    """

    def run(argv: t.List[str], environment: t.Dict[str, str]) -> t.Tuple[int, str, str]:
        if shutil.which(argv[0]) is None:
            return 127, "", f"{argv[0]}: command not found"
        status, stdout, stderr = module.run_command(argv, environ_update=environment)
        return int(status), str(stdout), str(stderr)

    return run


def receipt_path(root: str, name: str) -> str:
    """Return the path of the receipt of a set of packages."""
    return receipts.path_of(root, f"apt-{name}")


class Apt:
    """apt-get on this host."""

    def __init__(self, run: Run, lock_timeout: float = 120.0, poll: float = 2.0) -> None:
        self._run = run
        self._lock_timeout = lock_timeout
        self._poll = poll
        self.state = AptState(Host(run=lambda argv: run(argv, ENVIRONMENT)))

    def packages(self) -> Packages:
        """Return what dpkg has installed."""
        return self.state.packages()

    def run(self, argv: t.List[str], action: str) -> str:
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

    def policies(self, names: t.Sequence[str]) -> t.Dict[str, Policy]:
        """Return what apt knows of each name, in one call."""
        status, stdout, stderr = self._run(["apt-cache", "policy", *names], ENVIRONMENT)
        if status != 0:
            raise diagnose("read its package lists", stdout, stderr)
        return parse_policy(stdout)

    def simulate(self, *arguments: str) -> Plan:
        """Return what ``apt-get <arguments>`` would do."""
        action = " ".join(arguments)
        return parse_simulation(self.run(["apt-get", "--simulate", "-q", *_APT_OPTIONS, *arguments], action))

    def apply(self, *arguments: str) -> str:
        """Run ``apt-get <arguments>`` without questions."""
        return self.run(["apt-get", "--yes", "-q", *_APT_OPTIONS, *arguments], " ".join(arguments))

    def update(self) -> None:
        """Fetch all package lists."""
        self.run(["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any"], "update its package lists")

    def update_source(self, file: str) -> None:
        """Fetch the package lists of one source file and leave all others as they are."""
        self.run(
            [
                "apt-get",
                "update",
                "-q",
                *("-o", f"Dir::Etc::sourcelist={file}"),
                *("-o", "Dir::Etc::sourceparts=/dev/null"),
                *("-o", "APT::Get::List-Cleanup=0"),
                # Without it apt calls an unreachable repository a warning and exits with 0.
                *("-o", "APT::Update::Error-Mode=any"),
            ],
            f"update its package lists from {file}",
        )


_APT_OPTIONS = (
    "--no-install-recommends",
    *("-o", "Dpkg::Options::=--force-confold"),
    *("-o", "Dpkg::Use-Pty=0"),
    # What nobody needs any more is for the administrator to judge: autoremove could sweep DGX packages away.
    *("-o", "APT::Get::AutomaticRemove=0"),
)


class PackageSet:
    """Packages that one role asks for by name, and the receipt of what they brought."""

    def __init__(
        self,
        apt: Apt,
        *,
        name: str,
        wanted: t.Sequence[str],
        root: str,
        protect: t.Sequence[str] = PROTECTED,
        allow: t.Sequence[str] = (),
        update_cache: bool = False,
        check_mode: bool = False,
        warn: t.Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._apt = apt
        self._receipt = f"apt-{name}"
        self._wanted = list(dict.fromkeys(wanted))
        self._root = root
        self._protect = protect
        self._allow = allow
        self._update_cache = update_cache
        self._check_mode = check_mode
        self._warn = warn
        receipts.path_of(root, self._receipt)
        for text in self._wanted:
            parse_wanted(text)
        for pattern in (*protect, *allow):
            try:
                re.compile(pattern)
            except re.error as error:
                raise SparkforgeError(
                    f"{pattern!r} is not a regular expression: {error}.", "Correct protect or allow."
                ) from error

    # -- present -----------------------------------------------------------------------------------

    def present(self) -> t.Dict[str, t.Any]:
        """Install what is missing, or say what would be installed."""
        before = self._apt.packages()
        lacking = missing(self._wanted, before.versions)
        if not lacking:
            return self._result(False, before.versions)
        if self._update_cache and not self._check_mode:
            self._update()
        choices = self._choose(lacking)
        unavailable = {text: choice.reason for text, choice in choices.items() if choice.argument is None}
        if unavailable and not self._check_mode:
            raise _unavailable(unavailable)
        arguments = [choice.argument for choice in choices.values() if choice.argument is not None]
        # In check mode the source may be one that an earlier step would have added: say so, and do not fail.
        notes = [f"{text} would be installed; today {reason}." for text, reason in unavailable.items()]
        plan = self._plan(arguments, notes)
        check_plan(plan, self._protect, self._allow)
        if not self._check_mode:
            self._install(arguments, plan, before)
        result = self._result(True, before.versions if self._check_mode else self._apt.packages().versions)
        result.update(
            installed=[step.as_result() for step in plan.install],
            notes=notes,
            diff={
                "before": "".join(f"{s.name} {s.previous}\n" for s in plan.install if s.previous is not None),
                "after": "".join(f"{s.name} {s.version}\n" for s in plan.install)
                + "".join(f"{text} (version not known yet)\n" for text in unavailable),
                "before_header": "packages",
                "after_header": "packages",
            },
        )
        return result

    def _update(self) -> None:
        try:
            self._apt.update()
        except SparkforgeError as error:
            if "holder" in error.details or "waited" in error.details:
                raise
            # One broken source (an expired vendor key) must not stop packages that other sources offer.
            self._warn(str(error))

    def _choose(self, lacking: t.Sequence[str]) -> t.Dict[str, Choice]:
        names = sorted({one.name for text in lacking for one in parse_wanted(text)})
        policies = self._apt.policies(names)
        pins = self._apt.state.pins()
        return {text: choose(text, policies, pins) for text in lacking}

    def _plan(self, arguments: t.Sequence[str], notes: t.List[str]) -> Plan:
        if not arguments:
            return Plan([], [])
        try:
            return self._apt.simulate("install", *arguments)
        except SparkforgeError as error:
            if self._check_mode and notes:
                notes.append(f"apt cannot plan the rest yet: {error.cause}")
                return Plan([], [])
            raise

    def _install(self, arguments: t.Sequence[str], plan: Plan, before: Packages) -> None:
        try:
            self._apt.apply("install", "--no-remove", *arguments)
        finally:
            # Also after a failure: what arrived before it must be known, or nobody could take it back.
            now = present_versions(self._apt.packages())
            was = present_versions(before)
            planned = {step.name for step in plan.install}
            self._record([name for name in now if name not in was and name in planned], now)
        lacking = missing(self._wanted, self._apt.packages().versions)
        if lacking:
            raise SparkforgeError(
                f"apt-get succeeded, and yet {', '.join(lacking)} is not installed as asked.",
                "Look for another process that changes packages at the same time, then run again.",
            )

    def _record(self, new: t.Iterable[str], now: t.Mapping[str, str]) -> None:
        old = receipts.read(self._root, self._receipt) or {}
        brought = sorted({name for name in [*old.get("brought", []), *new] if name in now})
        asked = sorted({one.name for text in self._wanted for one in parse_wanted(text) if one.name in now})
        # apt marks what is asked for by name as wanted by hand; that alone is then no sign of a person's
        # wish.
        explicit = sorted({*old.get("explicit", []), *asked} & set(brought))
        if brought or old:
            receipts.write(
                self._root,
                self._receipt,
                {
                    "kind": "apt",
                    "wanted": sorted(self._wanted),
                    "asked": asked,
                    "brought": brought,
                    "explicit": explicit,
                    "versions": {name: now[name] for name in sorted({*brought, *asked})},
                },
            )

    # -- absent ------------------------------------------------------------------------------------

    def absent(self) -> t.Dict[str, t.Any]:
        """Take back what the receipt says that this brought and that nothing else needs."""
        receipt = receipts.read(self._root, self._receipt)
        before = self._apt.packages()
        if receipt is None:
            return self._result(False, before.versions)
        leaving, kept, adopted = self._split(receipt, before)
        removed: t.List[Step] = []
        if leaving:
            plan = self._apt.simulate("purge", *sorted(leaving))
            extra = [step for step in plan.remove if step.name not in leaving]
            if extra or plan.install:
                raise SparkforgeError(
                    f"Taking back what {self._receipt} brought would also change {_names([*extra, *plan.install])}.",
                    "Remove those by hand first, if they are not needed, or leave the packages where they are.",
                    would_remove=[step.as_result() for step in extra],
                )
            removed = plan.remove
            if not self._check_mode:
                self._apt.apply("purge", *sorted(leaving))
        if not self._check_mode:
            for other, names in adopted.items():
                data = receipts.read(self._root, other) or {}
                data["brought"] = sorted({*data.get("brought", []), *names})
                by_hand = set(names) & set(receipt.get("explicit", []))
                data["explicit"] = sorted({*data.get("explicit", []), *by_hand})
                receipts.write(self._root, other, data)
            receipts.remove(self._root, self._receipt)
        result = self._result(True, before.versions if self._check_mode else self._apt.packages().versions)
        result.update(
            removed=[step.as_result() for step in removed],
            kept=kept,
            diff={
                "before": "".join(f"{s.name} {s.previous}\n" for s in removed),
                "after": "",
                "before_header": "packages",
                "after_header": "packages",
            },
        )
        return result

    def _split(
        self, receipt: t.Mapping[str, t.Any], before: Packages
    ) -> t.Tuple[t.Set[str], t.List[t.Dict[str, str]], t.Dict[str, t.List[str]]]:
        """Divide what was brought into what leaves, what stays and why, and what another receipt takes
        over."""
        host = self._apt.state.host
        automatic = parse_extended_states(host.read("/var/lib/apt/extended_states") or "")
        installed = parse_dependencies(host.read(f"{DPKG}/status") or "", before.architecture)
        brought = {name for name in receipt.get("brought", []) if name in installed}
        explicit = set(receipt.get("explicit", []))
        kept: t.Dict[str, str] = {}
        adopted: t.Dict[str, t.List[str]] = {}
        for other, data in self._other_receipts().items():
            for name in sorted(brought & set(data.get("asked", []))):
                if name not in kept:
                    kept[name] = f"{other} asks for it"
                    adopted.setdefault(other, []).append(name)
        for name in brought - set(kept) - explicit:
            if name.split(":")[0] not in automatic:
                kept[name] = "somebody has marked it as wanted since (apt-mark manual)"
        leaving = removable(brought - set(kept), installed)
        needed = brought - set(kept) - leaving
        remaining = {name: row for name, row in installed.items() if name not in leaving}
        for other, data in self._other_receipts().items():
            # Needed by what another set brought: it leaves with that set, and so must be known to it.
            theirs = sorted(needed & removable(needed | set(data.get("brought", [])), remaining))
            if theirs:
                adopted.setdefault(other, []).extend(theirs)
                needed -= set(theirs)
                kept.update(dict.fromkeys(theirs, f"what {other} brought needs it"))
        kept.update(dict.fromkeys(needed, "another installed package needs it"))
        return leaving, [{"name": name, "reason": kept[name]} for name in sorted(kept)], adopted

    def _other_receipts(self) -> t.Dict[str, t.Dict[str, t.Any]]:
        found = {}
        for path in sorted(glob.glob(os.path.join(glob.escape(self._root), "receipts", "apt-*.json"))):
            name = os.path.basename(path)[: -len(".json")]
            if name == self._receipt:
                continue
            try:
                with open(path, encoding="utf-8") as stream:
                    data = json.load(stream)
            except (OSError, ValueError):
                continue
            if isinstance(data, dict) and data.get("kind") == "apt":
                found[name] = data
        return found

    def _result(self, changed: bool, installed: t.Mapping[str, str]) -> t.Dict[str, t.Any]:
        names = {one.name for text in self._wanted for one in parse_wanted(text)}
        return {
            "changed": changed,
            "installed": [],
            "removed": [],
            "kept": [],
            "notes": [],
            "packages": {name: installed[name] for name in sorted(names) if name in installed},
            "diff": {"before": "", "after": ""},
        }


def _unavailable(reasons: t.Mapping[str, str]) -> SparkforgeError:
    return SparkforgeError(
        f"{len(reasons)} package(s) cannot be installed: {'; '.join(reasons.values())}.",
        "Check the names and versions for this distribution, that the source that carries them is "
        "enabled and updated "
        "(update_cache), and the pins in /etc/apt/preferences.d.",
        unknown=sorted(reasons),
    )
