# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The upgrade of a host with a way back: what it was is kept first, and each state survives a loss of power.

``<root>/update/state.json`` names the phase; it is written atomically, before and after what the phase is about. Every
step may be called again: it goes on from what dpkg has on the disk, whatever the state says of it. Nothing here boots
the host. A new kernel is booted just once (``boot``), and stays only if it was confirmed.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import typing as t

from .._apt.apt_get import Apt
from .._apt.deb_version import compare_versions
from .._apt.plan import Plan, Step, names_of, parse_simulation
from .._core import disk
from .._core.errors import SparkforgeError
from .._host.reader import Host
from . import boot, health
from .holds import Holds
from .kept import CONFIGURATION, DEBS, OPTIONS, file_of, keep_configuration, keep_packages
from .observation import UPGRADES

#: The rule by which what brings a new kernel is held, where none is wanted.
NEW_KERNEL = "new-kernel"
_IMAGE = re.compile(r"linux-image-(?:unsigned-)?(\d\S*)")
_META = re.compile(r"linux-(?!libc-dev|base|firmware|tools|perf)[a-z](?!.*-\d+\.\d+)")

SCHEMA = 1
SNAPSHOT, UPGRADING, UPGRADED, PROVEN, KEPT = "snapshot", "upgrading", "upgraded", "proven", "kept"
#: The next boot is of the new kernel, once.
TRYING = "trying"
RETURNING, RETURNED = "returning", "returned"
#: Phases after which the next upgrade may begin.
ENDED = (KEPT, RETURNED)
REFUSE = "Nothing was changed. "

State = dict[str, t.Any]


def path_of(root: str) -> str:
    """Return where the state of an upgrade is."""
    return os.path.join(root, "update", "state.json")


def read(root: str) -> State | None:
    """Return the state of the last upgrade, or None.

    :raises SparkforgeError: for one that is there and cannot be read: it may be all that leads back.
    """
    try:
        with open(path_of(root), encoding="utf-8") as stream:
            found = json.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SparkforgeError(
            f"{path_of(root)} cannot be read: {error}.", "Look at it, and move it away if the host is as you want it."
        ) from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise SparkforgeError(
            f"{path_of(root)} is not a state of this version.", "Finish that upgrade with the version that began it."
        )
    return found


class Upgrade:
    """One host's upgrade.

    :param apt: apt-get on the host.
    :param root: of the collection.
    :param host: what the host's files are read through; its root is that of a test's tree.
    :param kernel: whether a new kernel is booted ``once``, or what brings it is held (``hold``).
    """

    def __init__(self, apt: Apt, root: str, host: Host, mode: str = "full", kernel: str = "once") -> None:
        self.apt, self.root, self.host, self.kernel = apt, root, host, kernel
        self.word = UPGRADES[mode]
        self.folder = os.path.join(root, "update")
        self.holds = Holds(apt, root)

    # -- state

    def _write(self, state: State, phase: str | None = None) -> State:
        if phase:
            state["phase"] = phase
        disk.write_file(path_of(self.root), (json.dumps(state, indent=1, sort_keys=True) + "\n").encode())
        return state

    def _state(self) -> State:
        state = read(self.root)
        if state is None:
            raise SparkforgeError("No upgrade was begun on this host.", "Run the step begin first.")
        return state

    # -- begin: what it was

    def begin(self, expected: t.Mapping[str, t.Any], holds: t.Mapping[str, str], over: t.Sequence[str] = ()) -> State:
        """Keep what apt and the boot will change, and hold what the ledger holds; go on with one that was begun.

        :param expected: the plan of the forecast, ``install`` and ``remove``.
        :param holds: package to the id of the rule that holds it.
        :param over: packages whose rule is over.
        :raises SparkforgeError: if the host is in no state to begin; nothing was changed then.
        """
        state = read(self.root)
        if state and state["phase"] not in ENDED:
            return state
        _check(self.apt, self.host)
        # Before anything is held or released.
        plan = self._plan()
        self._as_forecast(plan, expected)
        if self.kernel == "once" and any(_is_new_kernel(step) for step in plan.install):
            boot.check_trial(self.host, boot.running(self.host))
        self.holds.release(over)
        plan = self._plan()
        held_back = self.kernel == "hold" and any(_is_new_kernel(step) for step in plan.install)
        metas = [step.name for step in plan.install if held_back and step.previous and _META.match(step.name)]
        held = self.holds.add({**holds, **dict.fromkeys(metas, NEW_KERNEL)})
        plan = self._plan()
        self._as_forecast(plan, expected)
        against = [
            step for step in [*plan.install, *plan.remove] if step.name in holds or (held_back and _is_new_kernel(step))
        ]
        if against:
            raise SparkforgeError(
                f"apt would change {names_of(against)}, although what brings it is held.",
                "Find out with `apt-get -s full-upgrade` which package wants it, and hold that one.",
            )
        if not plan.install and not plan.remove:
            return {"schema": SCHEMA, "phase": KEPT, "changed": {}, "new": [], "lacking": []}
        self._fetch(held)
        disk.remove(self.folder)
        disk.make_directories(os.path.join(self.folder, DEBS))
        os.chmod(self.folder, 0o700)  # a copy of /etc has secrets in it
        changed = {step.name: step.previous for step in [*plan.install, *plan.remove] if step.previous}
        kept = keep_packages(self.apt, self.host, self.folder, changed)
        keep_configuration(self.host, self.folder)
        state = {
            "schema": SCHEMA,
            "changed": changed,
            "new": sorted(step.name for step in plan.install if not step.previous),
            "packages": self.apt.packages().versions,
            "kept": sorted(kept),
            "lacking": sorted(set(changed) - set(kept)),
            "kernel": boot.running(self.host),
            "kernel_new": _newest(plan),
            "driver": boot.driver(self.host),
            "network": health.has_route(self.host.path("/")),
            "boot_id": boot.boot_id(self.host),
            "broke": None,
        }
        boot.keep_kernel(self.host, self.folder, state["kernel"])
        disk.fsync_tree(self.folder)
        return self._write(state, SNAPSHOT)

    def _plan(self) -> Plan:
        return parse_simulation(
            self.apt.run(["apt-get", "--simulate", "-q", *OPTIONS, self.word], f"simulate {self.word}")
        )

    def _as_forecast(self, plan: Plan, expected: t.Mapping[str, t.Any]) -> None:
        """Refuse a plan that does more than what was forecast: the archive may have moved meanwhile."""
        running = boot.running(self.host)
        known = {(step["name"], step["version"]) for step in expected.get("install") or []}
        gone = {step["name"] for step in expected.get("remove") or []}
        more = [step for step in plan.install if (step.name, step.version) not in known]
        more += [step for step in plan.remove if step.name not in gone]
        own = [step for step in plan.remove if (match := _IMAGE.match(step.name)) and match[1] == running]
        if own:
            raise SparkforgeError(
                f"apt would remove the running kernel: {names_of(own)}.",
                f"{REFUSE}Run `apt-mark manual {own[0].name}`, then forecast again.",
            )
        if more:
            raise SparkforgeError(
                f"apt would now do more than was forecast: {names_of(more)}.",
                f"{REFUSE}Forecast again, and begin again.",
            )

    def _fetch(self, held: t.Sequence[str]) -> None:
        """Download what the upgrade brings: a source that does not answer is found before anything is begun."""
        try:
            self.apt.run(
                ["apt-get", "--yes", "-q", *OPTIONS, "--download-only", self.word], f"download for {self.word}"
            )
        except SparkforgeError as error:
            self.holds.release(held)
            raise SparkforgeError(error.cause, f"{REFUSE}{error.remedy}", **error.details) from error

    # -- the upgrade and its way back

    def _finish_dpkg(self) -> None:
        """Let dpkg finish what was cut off."""
        if self.apt.packages().broken:
            # What one package lacks of another that was cut off, apt brings next; it also says what is really wrong.
            with contextlib.suppress(SparkforgeError):
                self.apt.run(["dpkg", "--force-confold", "--configure", "-a"], "configure what was interrupted")
            # What was cut off while it was unpacked; apt alone would only configure it, which dpkg refuses.
            torn = [row["name"] for row in self.apt.packages().broken if row["state"].endswith("reinstreq")]
            if torn:
                with contextlib.suppress(SparkforgeError):
                    again = ["--reinstall", "install", *torn]
                    self.apt.run(["apt-get", "--yes", "-q", *OPTIONS, *again], "unpack what was interrupted")
            self.apt.run(["apt-get", "--yes", "-q", *OPTIONS, "-f", "install"], "mend what was interrupted")

    def upgrade(self) -> State:
        """Upgrade by apt, or go on with it; a new kernel is the next boot's then, once."""
        state = self._state()
        if state["phase"] in (SNAPSHOT, UPGRADING):
            state = self._apply(state)
        return self._try(state) if state["phase"] == UPGRADED and state.get("kernel_new") else state

    def _try(self, state: State) -> State:
        new = state["kernel_new"]
        state["boot_id"] = boot.boot_id(self.host)
        if boot.running(self.host) != new:  # else it was booted before this run was cut off
            if boot.was_tried(self.host, new):
                state["boot_id"] = None  # and left again: it is not booted a second time
            else:
                before = {"driver": state["driver"], "network": state["network"]}
                boot.arm(self.host, self.folder, {"old": state["kernel"], "new": new, **before})
        return self._write(state, TRYING)

    def _apply(self, state: State) -> State:
        self._write(state, UPGRADING)
        if state.get("kernel_new"):
            # Before the new one is in GRUB's menu.
            boot.pin(self.host, state["kernel"])
        self._finish_dpkg()
        planned = {*state["changed"], *state["new"]}
        plan = self._plan()
        more = [step for step in [*plan.install, *plan.remove] if step.name not in planned]
        if more:
            raise SparkforgeError(
                f"apt would now also change {names_of(more)}, which nothing was kept of.",
                "Run the command again with update_state: back, then forecast again.",
            )
        if plan.install or plan.remove:
            self.apt.run(["apt-get", "--yes", "-q", *OPTIONS, self.word], self.word)
        state["boot_id"] = boot.boot_id(self.host)
        return self._write(state, UPGRADED)

    def check(self) -> State:
        """Tell whether the host came back from its reboot as it has to be.

        :raises SparkforgeError: for what broke.
        """
        state = self._state()
        if state["phase"] == TRYING:
            boot.judge(self.host, self.folder, state["kernel_new"])
        tried = state["phase"] in (TRYING, PROVEN) and state.get("kernel_new")
        wanted = state["kernel_new"] if tried else state["kernel"]
        kernel, driver = boot.running(self.host), boot.driver(self.host)
        if state["driver"] and not driver:
            raise SparkforgeError(
                f"The driver {state['driver']} was loaded before the upgrade, and none is now.", "Look at `dmesg`."
            )
        if wanted and kernel != wanted:
            raise SparkforgeError(f"The host came back with the kernel {kernel}, not {wanted}.", "Look at GRUB.")
        return state

    def keep(self) -> State:
        """End an upgrade that was proven: what was kept of the time before goes."""
        state = self._state()
        if state["phase"] in ENDED:
            return state
        if state["phase"] == TRYING:
            self.check()
        elif state["phase"] not in (UPGRADED, PROVEN):
            raise SparkforgeError(
                f"The upgrade is in the phase {state['phase']}, and cannot be kept.", "Run the same command again."
            )
        self._write(state, PROVEN)
        if state.get("kernel_new"):
            boot.unpin(self.host)
        for name in (DEBS, "boot", CONFIGURATION, "health.pyz", "trial.json"):
            disk.remove(os.path.join(self.folder, name))
        return self._write(state, KEPT)

    def back(self, broke: str | None = None) -> State:
        """Go back to the packages that were there before, as far as they were kept; say what could not."""
        state = self._state()
        if state["phase"] == RETURNED:
            return state
        if state["phase"] == KEPT:
            raise SparkforgeError("The upgrade was kept, and its way back is gone.", "Install older versions by hand.")
        state["broke"] = state["broke"] or broke
        self._write(state, RETURNING)
        if state.get("kernel_new"):
            boot.turn_back(self.host, state["kernel"])
            if boot.running(self.host) == state["kernel_new"]:
                return state  # its packages can go once the former one runs
        self._finish_dpkg_back()
        if state["kept"] and self.apt.packages().broken:
            # apt takes a package that a power cut left half unpacked for one that is there, and refuses. dpkg unpacks
            # it anew: all that was kept, which fits together, in whatever order.
            kept = [file_of(self.folder, name, state["changed"][name]) for name in state["kept"]]
            self.apt.run(["dpkg", "--force-depends", "--force-conflicts", "--unpack", *kept], "go back")
            self._finish_dpkg_back()
        now = self.apt.packages().versions
        wanted = [name for name in state["kept"] if now.get(name) != state["changed"][name]]
        files = [file_of(self.folder, name, state["changed"][name]) for name in wanted]
        # The kernel that runs is never removed: it is the one before, or the host is not yet where it can go back.
        running = boot.running(self.host)
        new = [name for name in state["new"] if name in now and not (running and name.endswith(f"-{running}"))]
        arguments = [*files, *(f"{name}-" for name in new)]
        if arguments:
            options = [*OPTIONS, "--allow-downgrades", "--allow-change-held-packages", "--no-install-recommends"]
            self.apt.run(["apt-get", "--yes", "-q", *options, "install", *arguments], "go back")
        boot.restore_kernel(self.host, self.folder, state["kernel"])
        if state.get("kernel_new"):
            boot.unpin(self.host)
        now = self.apt.packages().versions
        state["lacking"] = sorted(name for name, version in state["changed"].items() if now.get(name) != version)
        state["left"] = sorted(name for name in state["new"] if name in now)
        return self._write(state, RETURNED)

    def _finish_dpkg_back(self) -> None:
        # A package that cannot be configured is about to be replaced, so it must not stop the way back.
        with contextlib.suppress(SparkforgeError):
            self._finish_dpkg()


def _check(apt: Apt, host: Host) -> None:
    """Refuse a host on which an upgrade cannot begin."""
    found = apt.packages()
    if found.broken:
        names = ", ".join(row["name"] for row in found.broken[:6])
        raise SparkforgeError(
            f"dpkg was interrupted: {names}.",
            f"{REFUSE}Run `dpkg --configure -a` and `apt-get -f install`, then again.",
        )
    holder = apt.state.lock_holder()
    if holder:
        raise SparkforgeError(
            f"Another apt runs: process {holder['pid']} ({holder['command']}).", f"{REFUSE}Wait until it ends."
        )
    boot.check_shutdown(host)
    place = host.path("/boot")
    if os.path.isdir(place) and os.statvfs(place).f_flag & os.ST_RDONLY:
        raise SparkforgeError("/boot is read-only.", f"{REFUSE}Run `mount -o remount,rw /boot`, then again.")


def _is_new_kernel(step: Step) -> bool:
    return bool(_IMAGE.match(step.name)) and step.version is not None and not step.previous


def _newest(plan: Plan) -> str | None:
    """Return the release of the newest kernel that a plan brings."""
    found = [match[1] for step in plan.install if _is_new_kernel(step) and (match := _IMAGE.match(step.name))]
    return max(found, key=functools.cmp_to_key(compare_versions)) if found else None


def needs_boot(state: t.Mapping[str, t.Any], host: Host) -> bool:
    """Tell whether a new kernel is to be booted or left, or a driver changed, whose module stays until a boot."""
    new = state.get("kernel_new")
    if state.get("phase") in (UPGRADED, TRYING) and state["boot_id"] != boot.boot_id(host):
        return False  # it was booted before this run was cut off
    if state.get("phase") == RETURNING:
        return bool(new) and boot.running(host) == new
    # What a new kernel brought was never loaded once the former one runs again.
    names = [*(state.get("changed") or {}), *(name for name in state.get("new") or [] if not _of(name, new))]
    return state.get("phase") == TRYING or any(
        re.match(r"(lib)?nvidia-|linux-modules-nvidia-|linux-image-\d", name) for name in names
    )


def _of(name: str, release: str | None) -> bool:
    return release is not None and name.endswith(f"-{release}")
