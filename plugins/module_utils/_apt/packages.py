"""Package sets that are installed through apt-get, and the receipt of the packages that were new.

apt resolves, downloads and unpacks; this module first simulates the installation, and records the result.
"""

from __future__ import annotations

import re
import typing as t

from .._core import phrases, receipts
from .._core.errors import SparkforgeError
from .._host.dpkg import DPKG, Packages
from . import receipt as recorded
from .apt_get import Apt
from .plan import Plan, Step, check_plan, names_of
from .policy import Choice, choose
from .removal import parse_dependencies, parse_extended_states, removable
from .request import missing, parse_request


def present_versions(packages: Packages) -> dict[str, str]:
    """Return the versions of all packages on the disk by name, including half-configured ones."""
    return {**{row["name"]: "" for row in packages.broken}, **packages.versions}


class PackageSet:
    """The packages that a role requests, and the receipt of those that were new.

    :param options: the options of the module ``apt_packages``.
    """

    def __init__(
        self, apt: Apt, options: t.Mapping[str, t.Any], check_mode: bool, warn: t.Callable[[str], None]
    ) -> None:
        self._apt, self._check_mode, self._warn = apt, check_mode, warn
        self._root: str = options["root"]
        self._receipt: str = recorded.SETS + options["name"]
        self._path = receipts.path_of(self._root, self._receipt)
        self._wanted: list[str] = list(dict.fromkeys(options["packages"] or ()))
        self._allow: list[str] = options["allow"]
        self._update_cache: bool = options["update_cache"]
        for text in self._wanted:
            parse_request(text)
        for pattern in self._allow:
            try:
                re.compile(pattern)
            except re.error as error:
                raise SparkforgeError(f"{pattern!r} is not a regular expression: {error}.", "Correct allow.") from error

    def present(self) -> dict[str, t.Any]:
        """Install missing packages, or report them in check mode."""
        before = self._apt.packages()
        missing_requests = missing(self._wanted, before.versions)
        if not missing_requests:
            return self._result(False, before.versions)
        if self._update_cache and not self._check_mode:
            self._update()
        choices = self._choose(missing_requests)
        unavailable = {text: choice.reason for text, choice in choices.items() if choice.argument is None}
        if unavailable and not self._check_mode:
            raise _unavailable_error(unavailable)
        arguments = [choice.argument for choice in choices.values() if choice.argument is not None]
        # In check mode an earlier step might have added the source, so report this instead of failing.
        notes = [f"{text} would be installed; now {reason}." for text, reason in unavailable.items()]
        plan = self._plan(arguments, notes)
        check_plan(plan, self._allow)
        if not self._check_mode:
            self._install(arguments, plan, before)
        result = self._result(True, before.versions if self._check_mode else self._apt.packages().versions)
        result.update(
            installed=[step.as_result() for step in plan.install],
            notes=notes,
            diff=phrases.diff(
                "packages",
                "".join(f"{s.name} {s.previous}\n" for s in plan.install if s.previous is not None),
                "".join(f"{s.name} {s.version}\n" for s in plan.install)
                + "".join(f"{text} (version not known yet)\n" for text in unavailable),
            ),
        )
        return result

    def _update(self) -> None:
        try:
            self._apt.update()
        except SparkforgeError as error:
            if "holder" in error.details or "waited" in error.details:
                raise
            # One broken source (an expired vendor key) must not block packages from other sources.
            self._warn(str(error))

    def _choose(self, lacking: t.Sequence[str]) -> dict[str, Choice]:
        names = sorted({request.name for text in lacking for request in parse_request(text)})
        policies = self._apt.policies(names)
        pins = self._apt.state.pins()
        return {text: choose(text, policies, pins) for text in lacking}

    def _plan(self, arguments: t.Sequence[str], notes: list[str]) -> Plan:
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
        versions_before = present_versions(before)
        planned = {step.name: step.version or "" for step in plan.install}
        earlier = recorded.packages(self._root, self._receipt)
        # Write the receipt first, in case this run is killed after the installation; readers ignore missing packages.
        self._record([name for name in planned if name not in versions_before], {**versions_before, **planned})
        try:
            self._apt.apply("install", "--no-remove", *arguments)
        finally:
            # Do this after a failure too: packages installed before it can be removed only if they are recorded.
            now = present_versions(self._apt.packages())
            arrived = [name for name in now if name not in versions_before and name in planned]
            if arrived or earlier is not None:
                self._record(arrived, now)
            else:
                receipts.remove(self._root, self._receipt)
        missing_requests = missing(self._wanted, self._apt.packages().versions)
        if missing_requests:
            raise SparkforgeError(
                f"apt-get succeeded, but {', '.join(missing_requests)} is not installed as requested.",
                "Check for another process that changes packages, then run again.",
            )

    def _record(self, new: t.Iterable[str], now: t.Mapping[str, str]) -> None:
        old = recorded.packages(self._root, self._receipt) or {}
        brought = sorted({name for name in [*old.get("brought", []), *new] if name in now})
        requested_names = sorted(
            {request.name for text in self._wanted for request in parse_request(text) if request.name in now}
        )
        # apt marks packages requested by name as manually installed, so that mark alone does not prove that a user
        # wants to keep them.
        explicit = sorted({*old.get("explicit", []), *requested_names} & set(brought))
        if brought or old:
            data = recorded.Packages(
                kind="apt",
                wanted=sorted(self._wanted),
                asked=requested_names,
                brought=brought,
                explicit=explicit,
                versions={name: now[name] for name in sorted({*brought, *requested_names})},
            )
            receipts.write(self._root, self._receipt, data)

    def absent(self) -> dict[str, t.Any]:
        """Remove the packages that the receipt lists as new and that nothing else needs."""
        receipt = recorded.packages(self._root, self._receipt)
        before = self._apt.packages()
        if receipt is None:
            return self._result(False, before.versions)
        removable_names, reasons, adopted = self._split_recorded(receipt, before)
        removed: list[Step] = []
        if removable_names:
            plan = self._apt.simulate("purge", *sorted(removable_names))
            extra = [step for step in plan.remove if step.name not in removable_names]
            if extra or plan.install:
                raise SparkforgeError(
                    f"Removing the packages of {self._receipt} would also change {names_of([*extra, *plan.install])}.",
                    "Remove those manually first if they are not needed, or keep the packages.",
                    would_remove=[step.as_result() for step in extra],
                )
            removed = plan.remove
            if not self._check_mode:
                self._apt.apply("purge", *sorted(removable_names))
        if not self._check_mode:
            for other, names in adopted.items():
                data = recorded.packages(self._root, other) or {}
                data["brought"] = sorted({*data.get("brought", []), *names})
                by_hand = set(names) & set(receipt.get("explicit", []))
                data["explicit"] = sorted({*data.get("explicit", []), *by_hand})
                receipts.write(self._root, other, data)
            receipts.remove(self._root, self._receipt)
        result = self._result(True, before.versions if self._check_mode else self._apt.packages().versions)
        result.update(
            removed=[step.as_result() for step in removed],
            kept=reasons,
            diff=phrases.diff("packages", "".join(f"{s.name} {s.previous}\n" for s in removed), ""),
        )
        return result

    def _split_recorded(
        self, receipt: recorded.Packages, before: Packages
    ) -> tuple[set[str], list[dict[str, str]], dict[str, list[str]]]:
        """Split the recorded packages into those to remove, those to keep and why, and those for other receipts."""
        host = self._apt.state.host
        automatic = parse_extended_states(host.read("/var/lib/apt/extended_states") or "")
        installed = parse_dependencies(host.read(f"{DPKG}/status") or "", before.architecture)
        brought = {name for name in receipt.get("brought", []) if name in installed}
        explicit = set(receipt.get("explicit", []))
        reasons: dict[str, str] = {}
        adopted: dict[str, list[str]] = {}
        others = recorded.sets(self._root)
        others.pop(self._receipt, None)
        for other, data in others.items():
            for name in sorted(brought & set(data.get("asked", []))):
                if name not in reasons:
                    reasons[name] = f"{other} requires it"
                    adopted.setdefault(other, []).append(name)
        for name in brought - set(reasons) - explicit:
            if name.split(":")[0] not in automatic:
                reasons[name] = "it has since been marked as manually installed (apt-mark manual)"
        removable_names = removable(brought - set(reasons), installed)
        needed = brought - set(reasons) - removable_names
        remaining = {name: row for name, row in installed.items() if name not in removable_names}
        for other, data in others.items():
            # A package that another set's packages need is removed with that set, so that set's receipt must list it.
            theirs = sorted(needed & removable(needed | set(data.get("brought", [])), remaining))
            if theirs:
                adopted.setdefault(other, []).extend(theirs)
                needed -= set(theirs)
                reasons.update(dict.fromkeys(theirs, f"a dependency of {other} needs it"))
        reasons.update(dict.fromkeys(needed, "another installed package needs it"))
        return removable_names, [{"name": name, "reason": reasons[name]} for name in sorted(reasons)], adopted

    def _result(self, changed: bool, installed: t.Mapping[str, str]) -> dict[str, t.Any]:
        names = {request.name for text in self._wanted for request in parse_request(text)}
        return {
            "changed": changed,
            "installed": [],
            "removed": [],
            "kept": [],
            "notes": [],
            "packages": {name: installed[name] for name in sorted(names) if name in installed},
            "receipt": self._path,
            "diff": {"before": "", "after": ""},
        }


def _unavailable_error(reasons: t.Mapping[str, str]) -> SparkforgeError:
    return SparkforgeError(
        f"{len(reasons)} package(s) cannot be installed: {'; '.join(reasons.values())}.",
        "Check the names and versions for this distribution, that their source is enabled and updated (update_cache), "
        "and the pins in /etc/apt/preferences.d.",
        unknown=sorted(reasons),
    )
