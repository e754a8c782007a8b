# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""The process that builds one unit, detached from whoever asked for it.

It goes through the phases, keeps ``state.json`` true, and publishes the artefact and its receipt last. Killed at any
point and started again it goes on where it was: a finished phase is not done again, an interrupted build goes on from
its objects. Nothing of it needs Ansible: ``_unit.engine`` starts it with a copy of these files.
"""

# A process of its own, detached: there is no module to run commands, log or exit.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached, disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import sources
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    carry,
    follow,
    model,
    patching,
    toolchain,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    jobs as _jobs,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    progress as _progress,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import receipt as sealing
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import artefact

PHASES = ("fetch", "patch", "prepare", "configure", "build", "package", "check")
#: Seconds between two looks at the log of a command that runs; each is followed by a write of the state.
_LOOK = 2.0
#: Seconds between two synced checkpoints of the objects.
_CHECKPOINT = 300.0
#: Bytes that a receipt and the state want beside an artefact.
_ROOM = 1 << 20
#: How often a build that was killed for memory goes on with half the jobs.
_HALVINGS = 2
#: What pip reads beside the account's own, which has none.
_PIP_CONFIGURATIONS = ("/etc/pip.conf", "/etc/xdg/pip/pip.conf")
#: ninja trusts these over what is on the disk, and reads around what a power loss cut off in them.
_NINJA_RECORDS = (".ninja_log", ".ninja_deps")


class State:
    """What is known of one build, on the disk whenever somebody may look."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: t.Dict[str, t.Any] = follow.read(path) or {
            "format": follow.FORMAT,
            "phases": {},
            "attempts": 0,
            "notes": [],
        }

    def update(self, **values: t.Any) -> None:
        """Take ``values`` over and write the file."""
        self.data.update(values)
        self.data["updated"] = time.time()
        temporary = f"{self.path}.{os.getpid()}"
        with open(temporary, "w", encoding="ascii") as stream:
            # Not json.dump, which does not use the encoder that is written in C.
            stream.write(json.dumps(self.data, sort_keys=True))
        # No fsync: after a power loss an older state is as good, and this is written every few seconds.
        os.replace(temporary, self.path)

    def note(self, text: str) -> None:
        """Keep a sentence for the result, once."""
        if text not in self.data["notes"]:
            self.update(notes=[*self.data["notes"], text])


class Worker:
    """One attempt to finish a build.

    :param request: what ``_unit.engine`` wrote into ``request.json``.
    """

    def __init__(self, request: t.Mapping[str, t.Any]) -> None:
        self.request = request
        self.unit = model.Unit.from_options(request["unit"])
        self.paths = model.Paths(**request["paths"])
        #: Of the host: what the requirements bring is found on PATH.
        self.tools: t.Mapping[str, str] = request["tools"]
        self.state = State(self.paths.inside("state.json"))
        self.began = time.monotonic()
        self._earlier = float(self.state.data.get("elapsed") or 0)
        self._checkpointed = time.monotonic()
        #: The state of another fingerprint's build, whose tree this one goes on with.
        self._carried: t.Mapping[str, t.Any] = {}

    # --- the whole ---------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Go through the phases that are not done.

        :raises SparkforgeError: where one fails; what is done stays done.
        """
        self._after_interruption()
        data = self.state.data
        self.state.update(
            name=self.paths.name,
            fingerprint=self.paths.fingerprint,
            status="running",
            attempts=data["attempts"] + 1,
            started=data.get("started") or _now(),
            boot_id=detached.boot_id(),
            host=socket.gethostname(),
            pid=os.getpid(),
            tree=self.paths.tree_directory,
            log=self.paths.log,
            error=None,
        )
        for phase in PHASES:
            if self._is_done(phase):
                continue
            began = time.monotonic()
            if self.state.data.get("phase") != phase:
                self.state.update(done=0, total=0, rate=None)
            self.state.update(phase=phase, remaining=None, elapsed=self._elapsed())
            self.say(f"== {self.paths.name} {self.paths.fingerprint}: {phase}, attempt {self.state.data['attempts']}")
            getattr(self, f"_{phase}")()
            if phase == "configure":
                # What the compilers are given. It takes minutes, and is made anew where power is lost before this.
                self._checkpoint()
            self._finish(phase, time.monotonic() - began)
            if phase == "patch":
                carry.hold(self.paths.tree_directory, self.paths.fingerprint)
        # As far as whoever waits is concerned; a failure here is none of the check's.
        self.state.update(phase="package")
        self._publish()

    def _is_done(self, phase: str) -> bool:
        return bool(self.state.data["phases"].get(phase, {}).get("done"))

    def _finish(self, phase: str, seconds: float) -> None:
        phases = dict(self.state.data["phases"])
        seconds += float(phases.get(phase, {}).get("seconds") or 0)
        phases[phase] = {"done": True, "seconds": round(seconds, 1)}
        self.state.update(phases=phases, elapsed=self._elapsed())

    def _undo(self, *phases: str) -> None:
        """Mark phases as not done."""
        known = {name: value for name, value in self.state.data["phases"].items() if name not in phases}
        self.state.update(phases=known)

    def _elapsed(self) -> float:
        return round(self._earlier + time.monotonic() - self.began, 1)

    def say(self, text: str) -> None:
        """Put a line into the log."""
        print(text, flush=True)

    # --- what an interruption leaves ---------------------------------------------------------------------------

    def _after_interruption(self) -> None:
        disk.remove(self.paths.inside("wanted"))
        data = self.state.data
        last = self._last_in_tree()
        if not last:
            self._begin_anew()
        elif last is not data:
            # What this build did before lies in no tree any more; what lies there another one did.
            self.state.update(
                **{key: last.get(key) for key in ("boot_id", "checkpoint", "failed_phase")}, phases=dict(last["phases"])
            )
        if last and last.get("boot_id") and last["boot_id"] != detached.boot_id():
            self._after_power_loss(float(last.get("checkpoint") or 0))
        behind = float(last.get("updated") or 0) - time.time()
        if behind > 5:
            moved = _clamp_mtimes(self._trees(), time.time())
            self.state.note(
                f"The clock of this host went back by {behind:.0f} s since the last attempt; {moved} files from the"
                " future were given the present time, so that ninja does not misjudge them."
            )
        failed = data.get("failed_phase")
        if failed == "check":
            # What CMake has not found it remembers; the objects stay.
            for path in _files(self._trees(), ("CMakeCache.txt",)):
                os.unlink(path)
            self._undo("configure", "build", "package", "check")
        elif failed == "configure":
            self._undo("prepare")
        # A tree is fetched and changed in one go: changes on top of changes cannot be told from a failure.
        if not self._is_done("patch"):
            self._undo("fetch")
        self.state.update(failed_phase=None)
        if last is not data and self._is_done("patch"):
            self._carry_on(last)

    def _last_in_tree(self) -> t.Dict[str, t.Any]:
        """Return the state of the build that was in this tree last: this one's, or another fingerprint's.

        :return: empty where nothing is known of what lies there, if anything does.
        """
        data = self.state.data
        holder, taker = carry.holder(self.paths.tree_directory)
        mine = self.paths.fingerprint
        if holder == mine:
            # No state: a power loss took it, say, or it is to be built again from the beginning.
            return data if data["attempts"] and taker is None else {}
        if holder is None or taker not in (None, mine) or (self.request.get("rebuild") and not data["attempts"]):
            return {}
        other = dataclasses.replace(self.paths, fingerprint=holder)
        if not follow.is_running(other.build_directory):
            detached.end_processes(other.marker)
        state = follow.read(other.inside("state.json")) or {}
        return state if state.get("attempts") else {}

    def _begin_anew(self) -> None:
        disk.remove(self.paths.tree_directory)
        self.state.update(phases={}, checkpoint=None, failed_phase=None)
        carry.hold(self.paths.tree_directory, self.paths.fingerprint)

    def _carry_on(self, last: t.Mapping[str, t.Any]) -> None:
        """Go on in the tree of another fingerprint, or begin anew where that is not safe.

        :param last: the state of the build that was in the tree.
        """
        try:
            other = dataclasses.replace(self.paths, fingerprint=last["fingerprint"])
            with open(other.inside("request.json"), encoding="utf-8") as stream:
                request = json.load(stream)
            carry.check_builds(request, last, self.request)
        except (OSError, ValueError, LookupError, carry.Doubt) as reason:
            self.state.note(f"The tree of the build {last['fingerprint']} was made anew: {reason}.")
            self._begin_anew()
            return
        self._carried = last
        # The environment stays, for objects would be older than the headers of a new one.
        done = {"prepare": {"done": True, "seconds": 0.0}} if self._is_done("prepare") else {}
        self.state.update(phases=done)
        disk.remove(self.paths.inside("out"))

    def _after_power_loss(self, checkpoint: float) -> None:
        """Remove what was written after the last synced checkpoint: ninja would trust a file full of zeros."""
        self._undo("build", "package", "check")
        if not checkpoint:
            self._begin_anew()
            self.state.note("The host was started anew before anything was synced: the build begins anew.")
            return
        if not self._is_done("configure"):
            self._undo("prepare")
        removed = 0
        for path in _files(self._trees()):
            with contextlib.suppress(FileNotFoundError):
                if os.lstat(path).st_mtime > checkpoint and os.path.basename(path) not in _NINJA_RECORDS:
                    os.unlink(path)
                    removed += 1
        self.state.note(
            f"The host was started anew during the build: {removed} files younger than the last synced checkpoint"
            " are made again."
        )

    def _trees(self) -> t.List[str]:
        return [self.paths.inside("source"), self.paths.inside("build")]

    def _checkpoint(self) -> None:
        """Sync what is there, and remember the time before that: files older than it survive a power loss."""
        moment = time.time()
        done = subprocess.run(
            ["sync", "--file-system", self.paths.build_directory],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            os.sync()
        self._checkpointed = time.monotonic()
        self.state.update(checkpoint=moment)

    # --- the phases --------------------------------------------------------------------------------------------

    def _fetch(self) -> None:
        if self._carried:
            tree = self.paths.inside("wanted")
        else:
            tree = self.paths.inside("source")
            # Objects of other sources, whose times may be younger than these.
            disk.remove(self.paths.inside("build"))
        disk.remove(tree)
        store = os.path.join(self.paths.builds, ".sources")
        source = self.unit.source
        wanted: t.Any
        if self.unit.is_git:
            wanted = sources.Git(source["repo"], self.request["commit"], source["submodules"])
        else:
            wanted = sources.Archive(source["archive"], source["sha256"])
        environment = {**self._base_environment(), **self._network()}
        os.environ.update(self._network())
        found = sources.fetch(wanted, tree, store, self.say, environment, rewrite=self.unit.rewrite)
        self.state.update(source=found)

    def _patch(self) -> None:
        source = self.paths.inside("source")
        if self._carried:
            applied = self._patch_carried(source, self.paths.inside("wanted"))
        else:
            applied = self._patch_pristine(source)
        changed = {step["file"]: carry.digest(os.path.join(source, step["file"])) for step in applied}
        self.state.update(applied=applied, changed=changed)

    def _patch_pristine(self, tree: str) -> t.List[t.Dict[str, t.Any]]:
        applied = patching.apply(tree, self.unit.patches, self.unit.edits, self.say)
        label = self.request["shown_source"]
        sources.check_tree(
            tree, self.unit.subdirectory, self.unit.kind, label, self.unit.source.get("submodules", True)
        )
        return applied

    def _patch_carried(self, source: str, wanted: str) -> t.List[t.Dict[str, t.Any]]:
        """Make ``source``, which another fingerprint's patches and edits changed, what ours make of ``wanted``."""
        before, fingerprint = self._carried["changed"], self._carried["fingerprint"]
        pristine = carry.compare(source, wanted)
        applied = self._patch_pristine(wanted)
        touched = {step["file"] for step in applied}
        names = {path for path in pristine.names | touched if os.path.lexists(os.path.join(wanted, path))}
        place = self.paths.tree_directory
        try:
            paths = carry.differences(source, wanted, before, touched, pristine)
            # From here on the other build must not take it for its own.
            carry.hold(place, fingerprint, self.paths.fingerprint)
            carry.tidy([tree for tree in self._trees() if os.path.isdir(tree)], source, names, paths)
        except carry.Doubt as doubt:
            self.state.note(f"The tree of the build {fingerprint} was made anew: {doubt}.")
            carry.hold(place, self.paths.fingerprint)
            self._undo("prepare")
            for name in model.TREES:
                if name != "wanted":
                    disk.remove(self.paths.inside(name))
            os.rename(wanted, source)
            return applied
        # A clock that is behind must not make an object younger than the source that it is compiled from again.
        moment = time.time()
        _clamp_mtimes(self._trees(), moment)
        carry.merge(source, wanted, paths, moment + 0.01)
        disk.remove(wanted)
        time.sleep(0.05)
        self._checkpoint()
        self.state.note(
            f"The build went on in the tree of the build {fingerprint}: {len(paths)} files of the source differ."
        )
        return applied

    def _prepare(self) -> None:
        """Make the environment that the build runs in, from pinned requirements and the units it depends on."""
        if self.unit.kind == "cmake" and not self.unit.requirements:
            return
        place = self.paths.inside("environment")
        disk.remove(place)
        shared = ["--system-site-packages"] if self.unit.system_site_packages else []
        self._command([self.unit.python, "-m", "venv", *shared, place])
        pip = [self._python, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--progress-bar=off"]
        if self.unit.requirements:
            # In a file of the account's alone, not among the arguments, which ps and the log show: a URL may have a
            # password.
            listed = self.paths.inside("requirements.txt")
            lines = [f"--find-links {shlex.quote(link)}" for link in self.unit.find_links]
            if self.unit.index_url is None:
                self._check_pip_configuration()
            else:
                lines.append(f"--index-url {self.unit.index_url}" if self.unit.index_url else "--no-index")
            disk.write_file(listed, "\n".join([*lines, *self.unit.requirements, ""]).encode("utf-8"), 0o600)
            hashed = ["--require-hashes"] if all("--hash=" in line for line in self.unit.requirements) else []
            # --no-deps: the requirements are the whole closure, and nothing comes in that no pin names.
            self._command([*pip, *hashed, "--no-deps", "-r", listed], network=True)
        wheels = [wheel["path"] for depend in self.request["depends"].values() for wheel in depend["wheels"]]
        if wheels:
            self._command([*pip, "--no-index", "--no-deps", *wheels])
        path = self._build_environment(1)["PATH"]
        found = toolchain.observe({name: name for name in sorted(self.unit.brings)}, None, None, path)
        for name, tool in found.tools.items():
            if name in self.unit.minimum:
                toolchain.check_minimum(
                    tool, str(self.unit.minimum[name]), f"Require a newer {name} in the option requirements."
                )
        self.state.update(tools=found.versions())

    def _check_pip_configuration(self) -> None:
        """Refuse a configuration of pip that the account may not read: pip would pass it over without a word."""
        named = self._network().get("PIP_CONFIG_FILE", os.devnull)
        for path in [*filter(os.path.exists, _PIP_CONFIGURATIONS), named]:
            if not os.access(path, os.R_OK):
                raise SparkforgeError(
                    f"{path}, which says where packages come from, may not be read by the account that builds.",
                    "Let the account read it, or name the index (option index_url, variable python_env_index_url).",
                )

    def _configure(self) -> None:
        os.makedirs(self.paths.inside("out"), exist_ok=True)
        if self.unit.kind == "wheel":
            backend = self._backend()
            probe = f"import importlib; importlib.import_module({backend.partition(':')[0]!r})"
            self._command([self._python, "-c", probe])
            return
        arguments = [self._expanded(text) for text in self.unit.cmake_args]
        if not any(text.startswith("-DCMAKE_BUILD_TYPE") for text in arguments):
            arguments.insert(0, "-DCMAKE_BUILD_TYPE=Release")
        ninja = [f"-DCMAKE_MAKE_PROGRAM={self.tools['ninja']}"] if "ninja" in self.tools else []
        self._command(
            [
                self.tools.get("cmake", "cmake"), "-G", "Ninja", "-S", self._project, "-B", self.paths.inside("build"),
                *ninja, f"-DCMAKE_INSTALL_PREFIX={self.paths.prefix}", *arguments,
            ]
        )  # fmt: skip

    def _build(self) -> None:
        jobs = self._jobs(0)
        before = self._ccache_counts()
        for halving in range(_HALVINGS + 1):
            kills = _jobs.oom_kills()
            start = _size(self.paths.log)
            self.state.update(jobs=jobs)
            try:
                self._command(self._build_command(jobs), jobs=jobs, progress=True)
                break
            except SparkforgeError as error:
                tail = _tail(self.paths.log, start)
                killed = _jobs.killed_for_memory(tail, kills, _jobs.oom_kills(), error.details.get("rc"))
                if not killed or halving == _HALVINGS or jobs == 1:
                    raise
                fewer = self._jobs(max(1, jobs // 2))
                note = f"The build was killed for memory with {jobs} jobs and went on with {fewer}."
                self.say(f"== {note}")
                self.state.note(note)
                jobs = fewer
        self._count_ccache(before)

    def _build_command(self, jobs: int) -> t.List[str]:
        if self.unit.kind == "cmake":
            targets = ["--target", *self.unit.targets] if self.unit.targets else []
            return [self.tools.get("cmake", "cmake"), "--build", self.paths.inside("build"), "-j", str(jobs), *targets]
        # scikit-build-core builds in a temporary directory, from which nothing can go on, unless it is told one.
        fixed = [f"--config-settings=build-dir={self.paths.inside('build')}"] if "scikit" in self._backend() else []
        return [
            self._python, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-build-isolation",
            "--no-index", "--verbose", *fixed, "--wheel-dir", self.paths.inside("out"), self._project,
        ]  # fmt: skip

    def _package(self) -> None:
        if self.unit.kind == "cmake":
            staged = self.paths.inside("out", "staged")
            disk.remove(staged)
            try:
                self._command(
                    [self.tools.get("cmake", "cmake"), "--install", self.paths.inside("build")],
                    environment={"DESTDIR": staged},
                )
            except SparkforgeError:
                # Half of it is worth nothing, and takes the room that may be what is missing.
                disk.remove(staged)
                raise
            return
        wheels = artefact.collect_wheels(self.paths.inside("out"))
        if not wheels:
            raise SparkforgeError(
                f"The build of {self.paths.name} ended well, yet made no wheel.",
                "Look at the end of the log for where it put it.",
            )
        if self.unit.build_tag:
            for wheel in wheels:
                if wheel.build != self.unit.build_tag:
                    self._need_room(wheel.size)
                    artefact.retag(wheel.path, self.unit.build_tag)

    def _check(self) -> None:
        """Assert that what was asked for is in the artefact: CMake goes on without what it did not find."""
        expect = dict(self.unit.expect)
        if not expect:
            return
        problems = artefact.check(
            expect,
            wheels=[] if self.unit.kind == "cmake" else artefact.collect_wheels(self.paths.inside("out")),
            prefix=self._staged if self.unit.kind == "cmake" else None,
            caches=list(_files(self._trees(), ("CMakeCache.txt",))),
        )
        if problems:
            raise SparkforgeError(
                f"The build of {self.paths.name} lacks what was asked for: {'; '.join(problems)}.",
                "Install what is missing (the roles cuda_libraries, cusparselt and math_libraries do), or do not ask"
                " for it; then run again: the objects are kept.",
                problems=problems,
            )

    # --- publishing --------------------------------------------------------------------------------------------

    @property
    def _staged(self) -> str:
        """Where ``cmake --install`` put the prefix."""
        return self.paths.inside("out", "staged") + self.paths.prefix

    def _publish(self) -> None:
        """Move the artefact to its final name, then write the receipt: whoever reads that may trust what it names."""
        partial = os.path.join(os.path.dirname(self.paths.artefact), f".{self.paths.fingerprint}.partial")
        disk.remove(partial)
        try:
            self._publish_by(partial)
        except (OSError, SparkforgeError):
            with contextlib.suppress(OSError):
                disk.remove(partial)
            raise

    def _need_room(self, size: int) -> None:
        """Refuse to write ``size`` bytes where there is no room for them.

        :raises SparkforgeError: with what is needed and what there is.
        """
        free = shutil.disk_usage(self.paths.builds).free
        if free < size + _ROOM:
            raise SparkforgeError(
                f"The disk is full: packaging {self.paths.name} takes {(size + _ROOM) >> 20} MiB below "
                f"{self.paths.root}, which has {free >> 20} MiB free.",
                "Make room, or set sparkforge_root to a larger file system; run again: only the packaging is done.",
            )

    def _publish_by(self, partial: str) -> None:
        """Publish, by way of the directory ``partial``."""
        target = self.paths.artefact
        disk.make_directories(partial)
        outputs: t.List[t.Dict[str, t.Any]] = []
        if self.unit.kind == "cmake":
            if not os.path.isdir(self._staged):
                # An attempt that was cut short had moved it.
                self._package()
            os.rename(self._staged, os.path.join(partial, "prefix"))
            outputs.append({"path": "prefix", **artefact.tree_digest(os.path.join(partial, "prefix"))})
        else:
            wheels = artefact.collect_wheels(self.paths.inside("out"))
            self._need_room(sum(wheel.size for wheel in wheels))
            for wheel in wheels:
                file = os.path.basename(wheel.path)
                shutil.copyfile(wheel.path, os.path.join(partial, file))
                outputs.append(
                    {
                        "path": file,
                        "name": wheel.distribution,
                        "version": wheel.version,
                        "sha256": wheel.sha256,
                        "size": wheel.size,
                    }
                )
            sums = "".join(f"{item['sha256']}  {item['path']}\n" for item in outputs)
            disk.write_file(os.path.join(partial, "SHA256SUMS"), sums.encode("ascii"))
        receipt = self._make_receipt(outputs)
        disk.write_file(os.path.join(partial, "receipt.json"), sealing.text_of(receipt))
        disk.fsync_tree(partial)
        disk.remove(target)
        os.rename(partial, target)
        disk.fsync_directory(os.path.dirname(target))
        disk.write_file(self.paths.receipt, sealing.text_of(receipt))
        self._prune()
        self.say(f"== {self.paths.name} {self.paths.fingerprint}: published in {target}")
        # What is left of the tree is what a build of the same inputs goes on from, should the artefact get lost.
        kept = PHASES[: PHASES.index("package")] if os.path.isdir(self.paths.inside("source")) else ()
        phases = {name: value for name, value in self.state.data["phases"].items() if name in kept}
        self.state.update(
            status="succeeded", phase="published", elapsed=self._elapsed(), finished=_now(), phases=phases
        )

    def _make_receipt(self, outputs: t.List[t.Dict[str, t.Any]]) -> t.Dict[str, t.Any]:
        data = self.state.data
        return sealing.sealed(
            {
                "format": follow.FORMAT,
                "name": self.paths.name,
                "fingerprint": self.paths.fingerprint,
                "platform": self.paths.platform,
                "inputs": self.request["inputs"],
                "tools": {**self.request["versions"], **(data.get("tools") or {})},
                "source": data.get("source"),
                "url": self.request["shown_source"],
                "version": self.unit.source.get("version"),
                "applied": data.get("applied") or [],
                "outputs": outputs,
                "override": self.request.get("override"),
                "tree": _tree_size(self._trees()),
                "started": data["started"],
                "finished": _now(),
                "seconds": {name: value["seconds"] for name, value in data["phases"].items()},
                "elapsed": self._elapsed(),
                "attempts": data["attempts"],
                "jobs": data.get("jobs"),
                "ccache": data.get("ccache"),
                "notes": data["notes"],
                "host": data["host"],
                "log": self.paths.log,
            }
        )

    def _prune(self) -> None:
        """Remove the trees of this unit's builds but the newest ``keep``: PyTorch's is tens of GB."""
        parent = os.path.dirname(self.paths.build_directory)
        others = [tree for tree in carry.trees(parent) if tree[0] != self.paths.tree_directory]
        others.sort(key=lambda tree: os.stat(tree[0]).st_mtime, reverse=True)
        kept = {self.paths.fingerprint}
        for number, (tree, holder) in enumerate(others, 1):
            if holder and (number < self.unit.keep or follow.is_running(os.path.join(parent, holder))):
                kept.add(holder)
            else:
                disk.remove(tree)
        for name in os.listdir(parent):
            directory = os.path.join(parent, name)
            if name in kept or name.startswith("tree-") or os.path.islink(directory) or not os.path.isdir(directory):
                continue
            if not follow.is_running(directory):
                disk.remove(directory)
        if self.unit.keep == 0:
            # The state stays: it says that the build is done.
            disk.remove(self.paths.tree_directory)

    # --- commands ----------------------------------------------------------------------------------------------

    @property
    def _python(self) -> str:
        return self.paths.inside("environment", "bin", "python")

    @property
    def _project(self) -> str:
        return os.path.normpath(self.paths.inside("source", self.unit.subdirectory))

    def _backend(self) -> str:
        """Return the build backend that pyproject.toml names, setuptools where it names none (PEP 517)."""
        try:
            with open(os.path.join(self._project, "pyproject.toml"), encoding="utf-8") as stream:
                text = stream.read()
        except FileNotFoundError:
            return "setuptools.build_meta"
        return sources.build_backend(text) or "setuptools.build_meta"

    def _places(self) -> t.Dict[str, str]:
        places = {
            "root": self.paths.root,
            "source": self.paths.inside("source"),
            "build": self.paths.inside("build"),
            "environment": self.paths.inside("environment"),
            "prefix": self.paths.prefix,
        }
        for name, depend in self.request["depends"].items():
            places[f"depends.{name}.prefix"] = depend["prefix"]
        return places

    def _expanded(self, text: str) -> str:
        return model.expand(text, self._places())

    def _base_environment(self) -> t.Dict[str, str]:
        """Return the environment of every command: given whole, never inherited."""
        for name in ("home", "tmp"):
            os.makedirs(self.paths.inside(name), exist_ok=True)
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.paths.inside("home"),
            "TMPDIR": self.paths.inside("tmp"),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_CACHE_DIR": self.paths.inside("tmp", "pip"),
            detached.MARKER: self.paths.marker,
        }

    def _network(self) -> t.Dict[str, str]:
        """Return proxies, certificates and pip's index: perhaps a password, so that the file is the account's alone."""
        try:
            with open(self.paths.inside("network.json"), encoding="utf-8") as stream:
                return dict(json.load(stream))
        except FileNotFoundError:
            return {}

    def _build_environment(self, jobs: int) -> t.Dict[str, str]:
        environment = self._base_environment()
        directories = [self.paths.inside("environment", "bin"), self._launchers()]
        directories += [os.path.dirname(self.tools[tool]) for tool in ("nvcc", "cc", "cxx") if tool in self.tools]
        for variable, tool in (("CC", "cc"), ("CXX", "cxx")):
            if tool in self.tools:
                environment[variable] = self._launcher(tool) if self._has_ccache else self.tools[tool]
        if "nvcc" in self.tools:
            environment["CUDACXX"] = self.tools["nvcc"]
            if "cxx" in self.tools:
                # CMake reads the one; nvcc itself the other, which is weaker than its option.
                environment["CUDAHOSTCXX"] = environment["NVCC_CCBIN"] = self.tools["cxx"]
        if self._has_ccache:
            environment.update(
                CCACHE_DIR=os.path.join(self.paths.builds, ".ccache"),
                CCACHE_MAXSIZE=self.unit.ccache_size,
                # Two fingerprints of a unit lie in two directories; their objects are the same all the same.
                CCACHE_BASEDIR=self.paths.tree_directory,
                CCACHE_NOHASHDIR="1",
                CMAKE_CUDA_COMPILER_LAUNCHER=self.tools["ccache"],
            )
            if "nvcc" in self.tools:
                environment["PYTORCH_NVCC"] = f"{self.tools['ccache']} {self.tools['nvcc']}"
        environment["PATH"] = ":".join([*dict.fromkeys(directories), environment["PATH"]])
        environment.update({key: self._expanded(value) for key, value in self.unit.environment.items()})
        environment["MAX_JOBS"] = environment["CMAKE_BUILD_PARALLEL_LEVEL"] = str(jobs)
        return environment

    @property
    def _has_ccache(self) -> bool:
        return self.unit.ccache and "ccache" in self.tools

    def _launcher(self, tool: str) -> str:
        return self.paths.inside("launchers", os.path.basename(self.tools[tool]))

    def _launchers(self) -> str:
        """Return a directory for PATH in which each tool has its name, so that what the receipt names is what runs.

        ccache is told the compiler's path. Called by a compiler's name it would take the next of that name on PATH,
        which on a host with two of them is another one.
        """
        directory = self.paths.inside("launchers")
        os.makedirs(directory, exist_ok=True)
        for tool, path in self.tools.items():
            if tool in ("ccache", "python"):
                continue
            cached = self._has_ccache and tool in ("cc", "cxx")
            command = shlex.join([*([self.tools["ccache"]] if cached else []), path])
            for launcher in sorted({self._launcher(tool), os.path.join(directory, {"cxx": "c++"}.get(tool, tool))}):
                with open(f"{launcher}.new", "w", encoding="utf-8") as stream:
                    stream.write(f'#!/bin/sh\nexec {command} "$@"\n')
                os.chmod(f"{launcher}.new", 0o700)
                # A second ccache around it, as PyTorch's CMake puts there, knows a compiler by its time and size.
                moment = os.stat(path).st_mtime_ns
                os.utime(f"{launcher}.new", ns=(moment, moment))
                os.replace(f"{launcher}.new", launcher)
        return directory

    def _command(
        self,
        argv: t.Sequence[str],
        *,
        jobs: int = 1,
        network: bool = False,
        progress: bool = False,
        environment: t.Optional[t.Mapping[str, str]] = None,
    ) -> None:
        """Run a command, its output in the log.

        :raises SparkforgeError: with the diagnosis of what it printed, where it fails.
        """
        whole = {**self._build_environment(jobs), **(environment or {})}
        if network:
            # Empty, it is as if it were not set: pip reads what the host has in /etc. A virtual environment is no place
            # for packages of a user's.
            whole.update({"PIP_CONFIG_FILE": "", "PIP_USER": "0", **self._network()})
        self.say(f"+ {' '.join(argv)}")
        start = _size(self.paths.log)
        directory = self._project if os.path.isdir(self._project) else self.paths.build_directory
        try:
            child = subprocess.Popen(argv, env=whole, cwd=directory, stdin=subprocess.DEVNULL)
        except OSError as error:
            raise SparkforgeError(
                f"{argv[0]} cannot be started: {error.strerror}.",
                "Make sure that it is installed; the role build_toolchain brings compilers and Python.",
            ) from error
        code = self._follow(child, start, progress)
        if code == 0:
            return
        # A build that goes well does without the table.
        from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import scan

        diagnosis = scan.diagnose_file(self.paths.log, start)
        cause = diagnosis.cause
        if diagnosis.rule == "no-space":
            needed = f" of the {self.unit.free_space} MiB that the build takes" if self.unit.free_space else ""
            cause += f" {self.paths.root} has {shutil.disk_usage(self.paths.builds).free >> 20} MiB free{needed}."
        raise SparkforgeError(
            cause,
            diagnosis.remedy,
            lines=diagnosis.lines,
            rule=diagnosis.rule,
            command=os.path.basename(argv[0]),
            rc=code,
        )

    def _follow(self, child: subprocess.Popen[bytes], start: int, progress: bool) -> int:
        """Wait for ``child``; keep the state true meanwhile."""
        # What an earlier attempt at this phase reached: ninja's counter begins at the objects that are missing.
        known = self.state.data if progress else {}
        ninja = _progress.Ninja(known.get("done") or 0, known.get("total") or 0)
        estimate = _progress.Estimate(known.get("rate"))
        # The log is read from beside, so that a killed engine does not break the pipe of a compiler.
        with open(self.paths.log, "rb") as log:
            log.seek(start)
            code = None
            while code is None:
                code = _wait(child, _LOOK)
                if progress:
                    ninja.feed(log.read())
                    estimate.update(ninja.done, ninja.total, time.monotonic())
                # On a full disk an older state stays, and the command says itself what it lacked.
                with contextlib.suppress(OSError):
                    self.state.update(
                        done=ninja.done,
                        total=ninja.total,
                        unit=ninja.unit,
                        rate=estimate.rate,
                        remaining=estimate.remaining,
                        elapsed=self._elapsed(),
                        available_mib=_jobs.memory(service=self.paths.service).available_mib,
                    )
                if code is None and time.monotonic() - self._checkpointed >= _CHECKPOINT:
                    self._checkpoint()
            return code

    # --- memory and ccache -------------------------------------------------------------------------------------

    def _jobs(self, at_most: int) -> int:
        jobs = size_jobs(self.unit, _jobs.memory(service=self.paths.service), at_most)
        self.say(f"== {jobs.why}")
        return jobs.count

    def _ccache_counts(self) -> t.Dict[str, int]:
        """Return ccache's counters, empty where it is not used."""
        if not self._has_ccache:
            return {}
        done = subprocess.run(
            [self.tools["ccache"], "--print-stats"], env=self._build_environment(1), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        rows = (line.split() for line in done.stdout.splitlines())
        return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}

    def _count_ccache(self, before: t.Mapping[str, int]) -> None:
        if not before:
            return
        after = self._ccache_counts()
        hits = sum(after.get(name, 0) - before.get(name, 0) for name in ("direct_cache_hit", "preprocessed_cache_hit"))
        misses = after.get("cache_miss", 0) - before.get("cache_miss", 0)
        rate = round(100 * hits / (hits + misses), 1) if hits + misses else None
        self.state.update(ccache={"hits": hits, "misses": misses, "hit_rate": rate})


# --- small things ----------------------------------------------------------------------------------------------


def size_jobs(unit: model.Unit, memory: _jobs.Memory, at_most: int = 0) -> _jobs.Jobs:
    """Return how many jobs the host allows now, ``at_most`` at most where it is not 0.

    :raises SparkforgeError: where there is no room for one, or GPU processes hold it.
    """
    wanted = [number for number in (unit.jobs, at_most) if number]
    return _jobs.size(
        _jobs.cores(),
        memory.available_mib,
        memory.total_mib,
        unit.memory_per_job,
        unit.memory_reserve,
        min(wanted) if wanted else 0,
        _jobs.gpu_memory_processes(),
    )


def _wait(child: subprocess.Popen[bytes], seconds: float) -> t.Optional[int]:
    """Return the exit status of ``child`` once it has ended; None where it has not after so many seconds.

    ``Popen.wait`` does that too, but wakes up twenty times a second meanwhile.
    """
    try:
        end = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        # Linux before 5.3, a Python that was built on one, an emulator that does not know it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(seconds)
        return None
    try:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        poll.poll(1000 * seconds)
    finally:
        os.close(end)
    return child.poll()


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _tail(path: str, start: int, limit: int = 1 << 20) -> str:
    with open(path, "rb") as stream:
        stream.seek(max(start, _size(path) - limit))
        return stream.read().decode("utf-8", "replace")


def _files(trees: t.Iterable[str], names: t.Container[str] = ()) -> t.Iterator[str]:
    """Yield the files below ``trees``, all of them or those of these names; links are not followed."""
    for tree in trees:
        for directory, _directories, files in os.walk(tree):
            for name in files:
                if not names or name in names:
                    yield os.path.join(directory, name)


def _tree_size(trees: t.Iterable[str]) -> t.Dict[str, int]:
    count = size = 0
    for path in _files(trees):
        with contextlib.suppress(FileNotFoundError):
            size += os.lstat(path).st_blocks * 512
            count += 1
    return {"files": count, "bytes": size}


def _clamp_mtimes(trees: t.Iterable[str], now: float) -> int:
    moved = 0
    for path in _files(trees):
        with contextlib.suppress(OSError):
            if os.lstat(path).st_mtime > now:
                os.utime(path, (now, now), follow_symlinks=False)
                moved += 1
    return moved


def main(directory: str) -> int:
    """Build what ``<directory>/request.json`` says; return the exit status.

    A second worker on the same directory ends at once, for the first one holds the lock.
    """
    lock = detached.Lock(os.path.join(directory, "lock"))
    deadline = time.monotonic() + 5
    while not lock.take():
        # Whoever only looks holds it for an instant.
        if time.monotonic() > deadline:
            return 0
        time.sleep(0.05)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    state = State(os.path.join(directory, "state.json"))
    try:
        with open(os.path.join(directory, "request.json"), encoding="utf-8") as stream:
            request = json.load(stream)
        # Before the wait, for until then another build may have taken the tree over.
        ended = detached.end_processes(model.Paths(**request["paths"]).marker)
        if ended:
            state.note(f"{ended} processes of an interrupted attempt were ended.")
        whole = detached.Lock(os.path.join(request["paths"]["root"], "builds", ".lock"))
        while not whole.take():
            if state.data.get("phase") != "waiting":
                state.update(status="running", phase="waiting")
            time.sleep(0.5)
        worker = Worker(request)
        state = worker.state
        worker.run()
    except SparkforgeError as error:
        failure(state, error)
        return 1
    except OSError as error:
        full = error.errno in (28, 122)
        free = f" ({shutil.disk_usage(directory).free >> 20} MiB free)" if full else ""
        failure(
            state,
            SparkforgeError(
                f"The build failed at {error.filename or directory}: {error.strerror or error}{free}.",
                "Make room on that file system and run again: what is done stays done."
                if full
                else "Correct what it names and run again.",
            ),
        )
        return 1
    except SystemExit:
        detached.end_processes(os.environ.get(detached.MARKER, ""))
        state.update(status="stopped")
        return 143
    return 0


def failure(state: State, error: SparkforgeError) -> None:
    """Put the failure into the state and the log; a full disk must not keep it from being told."""
    with contextlib.suppress(OSError):
        print(f"== failed in {state.data.get('phase')}: {error}", flush=True)
    values = {"status": "failed", "failed_phase": state.data.get("phase"), "error": error.as_result()}
    try:
        state.update(**values)
    except OSError:
        # In place and no longer than before, which takes no block that a full disk does not have.
        state.data.update(values)
        text = json.dumps({**state.data, "notes": [], "applied": []}, sort_keys=True)
        with contextlib.suppress(OSError), open(state.path, "r+", encoding="ascii") as stream:
            stream.write(text)
            stream.truncate()
