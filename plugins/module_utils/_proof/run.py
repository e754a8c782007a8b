# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""The proof of one environment on one host: observes the host, runs the checks, judges them, remembers the report.

Nothing of Ansible is needed, so that the timer of the role ``verify`` runs the same from a copy on the host.

Files::

    /var/log/sparkforge/proof/<time>.json   each report, the newest ``KEPT`` of them
"""

# There is no module here to run commands with: see above.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pwd
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle, disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import naming
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.apt_state import AptState
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import (
    catalogue,
    host,
    runner,
    speed,
    verdict,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import FAIL, SKIP, Result

FORMAT = verdict.FORMAT
#: Reports that are kept on the host.
KEPT = 50
#: What a share of the device's memory, a factor of each check's time and the seconds in all are by default.
LIMITS: t.Dict[str, float] = {"memory_share": 0.5, "factor": 1.0, "seconds": 1800.0}
#: Rows of the host's side that a profile may require.
HOST_ROWS = ("gpu", "compute_capability", "driver", "torch", "closure")
#: How long importing torch may take, in seconds: cold from a disk it reads gigabytes.
IMPORT_SECONDS = 300.0

NOT_SELECTED = "not among the checks that were asked for"
NO_GPU_REQUIRED = "no GPU is required of this host (sparkforge_gpu_required is false)"

#: What runs in the environment.
PROGRAM = "_proof.runner"
_MAIN = f"""import sys

from {bundle.PACKAGE}.{PROGRAM} import main

main(sys.argv[1])
"""


class Proof:
    """One run.

    :param options: the module's options: ``python``, ``checks``, ``profile``, ``reference``, ``limits``,
        ``gpu_required``, ``user``, ``history``.
    :param check_mode: nothing is computed and nothing is remembered; what earlier roles would bring may be missing.
    :raises SparkforgeError: for options that do not fit together.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False) -> None:
        self.check_mode = check_mode
        self.gpu_required = bool(options.get("gpu_required", True))
        self.patterns: t.List[str] = list(options.get("checks") or ["*"])
        self.profile: t.Dict[str, t.Any] = dict(options.get("profile") or {})
        self.reference: t.Dict[str, t.Any] = {**(options.get("reference") or {}), "gpu_required": self.gpu_required}
        self.limits = {**LIMITS, **{key: value for key, value in (options.get("limits") or {}).items() if value}}
        self.user: t.Optional[str] = options.get("user")
        self.history: t.Optional[str] = options.get("history")
        self.required = verdict.patterns(self.profile.get("required_checks") or [])
        self.notices: t.List[str] = []
        self._python: t.Optional[str] = options.get("python")
        if self.reference.get("environment_id"):
            naming.check_name(str(self.reference["environment_id"]), "lock id")
        self._check_options()
        self.host = host.HostSide(self.reference, self.profile, self.gpu_required, check_mode)
        self.software: t.Dict[str, t.Any] = {}
        self._lanes = 1
        self._kept: t.Optional[str] = None

    def _check_options(self) -> None:
        names = [*catalogue.CHECKS, *HOST_ROWS]
        for what, patterns in (("checks", self.patterns), ("the profile's required checks", self.required)):
            for pattern in patterns:
                if not any(verdict.selects([pattern], name) for name in names):
                    raise SparkforgeError(
                        f"{pattern!r} in {what} matches no check.",
                        f"The names are in the role verify's README; families: "
                        f"{', '.join(dict.fromkeys(name.partition('.')[0] for name in catalogue.CHECKS))}.",
                    )
        unknown = sorted(set(self.limits) - set(LIMITS))
        if unknown:
            raise SparkforgeError(f"limits has the unknown key {unknown[0]!r}.", f"Known are {', '.join(LIMITS)}.")
        for key, value in self.limits.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                raise SparkforgeError(f"limits.{key} is {value!r}.", "Give a number above 0.")
        if self.limits["memory_share"] > 0.9:
            raise SparkforgeError(
                f"limits.memory_share is {self.limits['memory_share']}.",
                "Leave the host a tenth at least: on unified memory it takes the host down with it.",
            )
        self.profile["floors"] = self._floors()
        if self.user:
            try:
                pwd.getpwnam(self.user)
            except KeyError as error:
                raise SparkforgeError(
                    f"There is no account {self.user} on this host.", "Set verify_user to one that is there."
                ) from error

    def _floors(self) -> t.Dict[str, t.Dict[str, float]]:
        """Return the floors of the profile as the site changes them; what it lowers is noted for the report."""
        own, site = self.profile.get("speed_floors") or {}, self.profile.get("site_floors") or {}
        floors = {rate: {**(own.get(rate) or {}), **(site.get(rate) or {})} for rate in {**own, **site}}
        for rate in site:
            # What the site sets is meant.
            floors[rate].pop("evidence", None)
        for rate, floor in floors.items():
            for key in ("nominal", "ratio"):
                value = floor.get(key)
                if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
                    raise SparkforgeError(
                        f"The floor {rate} of the profile {self.profile.get('name')} has no {key}.",
                        "Give nominal (what the device is made for) and ratio (the part of it that must be reached),"
                        " both above 0, or remove the floor.",
                    )
            before = own.get(rate) or {}
            if before and floor["nominal"] * floor["ratio"] < before["nominal"] * before["ratio"]:
                self.notices.append(
                    f"The floor of {rate} is {floor['ratio']:g} of {floor['nominal']:g}; the site lowered it from"
                    f" {before['ratio']:g} of {before['nominal']:g}."
                )
        return floors

    def run(self) -> t.Dict[str, t.Any]:
        """Return the report.

        :raises SparkforgeError: it cannot be remembered.
        """
        started, began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), time.monotonic()
        observed = {**self.host.observe(), "packages": self._packages()}
        self.reference.update(self.host.for_checks())
        baseline = self._baseline([str(one.get("name")) for one in observed.get("devices") or []])
        site = self.profile.get("site_floors") or {}
        rates = {floor: rate for floor, rate in speed.RATES.items() if floor not in site}
        self.profile["own_floors"] = verdict.own_floors(baseline, rates)
        results = self._compute()
        results = [*self.host.results(), *results]
        gpu_checks = {name for name, definition in catalogue.CHECKS.items() if definition.device == "cuda"}
        unselected = [
            name
            for name in catalogue.CHECKS
            if not verdict.selects(self.patterns, name)
            and verdict.selects(self.required, name)
            and (self.gpu_required or name not in gpu_checks)
        ]
        if not self.check_mode:
            verdict.require(
                results, self.required, gpu_checks | {"gpu", "compute_capability", "driver"}, self.gpu_required
            )
        report: t.Dict[str, t.Any] = {
            "format": FORMAT,
            "stack": self.reference.get("stack"),
            "method": self.reference.get("method"),
            "lock": self.reference.get("lock_id"),
            "environment_id": self._environment_id(),
            "profile": self.profile.get("name"),
            "gpu_required": self.gpu_required,
            "check_mode": self.check_mode,
            "verdict": verdict.verdict(results, unselected),
            "scope": verdict.scope(results),
            "summary": verdict.summary(results),
            "started": started,
            "seconds": round(time.monotonic() - began, 1),
            **observed,
            "software": self.software,
            "checks": [_as_row(result) for result in results],
            "notices": self._notices(unselected),
            "resolved": self.host.resolved,
        }
        report["drift"] = verdict.drift(self._last(), report)
        if self.history and not self.check_mode:
            self._remember(report)
        return report

    @staticmethod
    def _packages() -> t.Dict[str, str]:
        versions = AptState(Host()).packages().versions
        return {name: version for name, version in sorted(versions.items()) if verdict.PACKAGES.match(name)}

    def changed_host(self) -> t.List[str]:
        """Return in words what the last proof depended on and is another now; a host without one has changed."""
        last = self._last()
        if last is None:
            return ["there is no proof yet"]
        now = {**self.host.observe(), "packages": self._packages()}
        changes = verdict.drift(
            {key: last.get(key) for key in ("driver", "kernel", "packages")},
            {key: now.get(key) for key in ("driver", "kernel", "packages")},
        )["changes"]
        return [f"{change['what']}: {change['before']} -> {change['now']}" for change in changes]

    def _notices(self, unselected: t.Sequence[str]) -> t.List[str]:
        said = list(self.notices)
        if unselected:
            said.append(f"Required and not asked for: {', '.join(unselected)}.")
        return said

    # -- computing

    @property
    def python(self) -> str:
        """The environment's interpreter, by its resolved path where it is the environment's."""
        if self._python:
            return self._python
        return os.path.join(os.path.realpath(self._environment()), "bin", "python")

    def _environment(self, one: t.Optional[str] = None) -> str:
        """Return where the environment lies that is proven: the current one, or the one that is named."""
        root, name = self.reference.get("root") or "/opt/sparkforge", self.reference.get("environment") or "torch"
        return os.path.join(root, "envs", name, one or self.reference.get("environment_id") or "current")

    def _environment_id(self) -> t.Optional[str]:
        place = os.path.realpath(self._environment())
        return os.path.basename(place) if not self._python and os.path.isdir(place) else None

    def is_current(self) -> bool:
        """Say whether what is proven is what people use: a staged environment is not."""
        named = bool(self.reference.get("environment_id")) and not self._python
        return not named or os.path.realpath(self._environment()) == os.path.realpath(self._environment("current"))

    def _compute(self) -> t.List[Result]:
        """Run what is selected and applies; the others are skipped with the reason."""
        results: t.Dict[str, Result] = {}
        gpu_fails = next((row for row in self.host.gpu_results() if row.status == FAIL), None)
        for name, definition in catalogue.CHECKS.items():
            reason, blocked = "", False
            if not verdict.selects(self.patterns, name):
                continue
            if definition.device == "cuda" and not self.gpu_required:
                reason = NO_GPU_REQUIRED
            elif self.check_mode:
                reason, blocked = "check mode computes nothing", True
            elif definition.device == "cuda" and gpu_fails and gpu_fails.name == "gpu":
                reason, blocked = f"Not run: no GPU answers, see {gpu_fails.name}.", True
            if reason:
                results[name] = self._row(name, SKIP, cause=reason, blocked=blocked)
        wanted = [name for name in catalogue.CHECKS if verdict.selects(self.patterns, name) and name not in results]
        beside, after = catalogue.lanes(wanted)
        self._lanes = max(1, len(beside))
        with concurrent.futures.ThreadPoolExecutor(max(1, len(beside))) as pool:
            found = [result for lane in pool.map(self._run, beside) for result in lane]
        self._lanes = 1
        for lane in after:
            found += self._run(lane)
        results.update({result.name: result for result in found})
        return [results[name] for name in (*catalogue.CHECKS, "python") if name in results]

    @staticmethod
    def _row(name: str, status: str, **words: t.Any) -> Result:
        definition = catalogue.CHECKS.get(name)
        family, numeric = (definition.family, definition.numeric) if definition else ("host", False)
        return Result(name, status, family=family, numeric=numeric, **words)

    def _run(self, names: t.Sequence[str]) -> t.List[Result]:
        python = self.python
        if not os.access(python, os.X_OK):
            cause = f"There is no interpreter {python}."
            remedy = "Run playbooks/deploy.yml, or set verify_environment or verify_python to what is there."
            return self._nothing(names, Result("python", FAIL, "absent", "starts", cause, remedy))
        directory = tempfile.mkdtemp(prefix="sparkforge-proof-")
        try:
            return self._run_in(directory, python, names)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _run_in(self, directory: str, python: str, names: t.Sequence[str]) -> t.List[Result]:
        reading, writing = os.pipe()
        scratch = os.path.join(directory, "scratch")
        os.mkdir(scratch)
        bundle.write(directory, bundle.files(PROGRAM))
        job = {
            "checks": list(names),
            "profile": self.profile,
            "reference": self.reference,
            "limits": self.limits,
            "directory": scratch,
            "results": writing,
        }
        for name, text in (("job.json", json.dumps(job)), ("main.py", _MAIN)):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        identity = self._identity(directory, scratch, python)
        output = os.path.join(directory, "output.log")
        argv = [python, os.path.join(directory, "main.py"), os.path.join(directory, "job.json")]
        with open(output, "wb") as log:
            try:
                process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=scratch,
                    env=self._variables(scratch, python),
                    pass_fds=[writing],
                    start_new_session=True,
                    **identity,
                )
            except OSError as error:
                os.close(reading)
                who = f" as the account {self.user}" if identity else ""
                cause = f"{python} does not start{who}: {error.strerror}."
                remedy = "Run playbooks/deploy.yml to make the environment again, or correct verify_python."
                if isinstance(error, PermissionError):
                    remedy = "Set verify_user to an account that may read the environment."
                return self._nothing(names, Result("python", FAIL, "an error", "starts", cause, remedy))
            finally:
                os.close(writing)
        try:
            return self._collect(process, reading, names, output)
        finally:
            os.close(reading)
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    kill(process.pid, signal.SIGKILL)
            process.wait()

    def _identity(self, directory: str, scratch: str, python: str) -> t.Dict[str, t.Any]:
        """Return as whom the checks run; what they may write to becomes theirs."""
        if not self.user or os.geteuid() != 0:
            return {}
        entry = pwd.getpwnam(self.user)
        os.chmod(directory, 0o755)  # noqa: S103  # the sources must be read by that account; they hold no secret
        os.chown(scratch, entry.pw_uid, entry.pw_gid)
        # The account's own, and those that may open the devices of a Jetson (/dev/nvmap is of the group video).
        groups = set(os.getgrouplist(entry.pw_name, entry.pw_gid))
        for device in ("/dev/nvmap", "/dev/nvidia0", "/dev/dri/renderD128", "/dev/infiniband/uverbs0"):
            if os.path.exists(device):
                groups.add(os.stat(device).st_gid)
        # The role python_env opens an environment to its group alone.
        place = python
        while place != "/":
            found = os.stat(place)
            if not found.st_mode & stat.S_IXOTH:
                groups.add(found.st_gid)
            place = os.path.dirname(place)
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": sorted(groups - {0})}

    def _variables(self, scratch: str, python: str) -> t.Dict[str, str]:
        """Return the process environment: what the environment's activation sets, and nothing of ours."""
        receipt = self.reference.get("receipt") or {}
        bin_directory = os.path.dirname(python)
        toolkit = self.reference.get("cuda_version")
        places = [bin_directory, f"/usr/local/cuda-{toolkit}/bin" if toolkit else "", "/usr/local/sbin:/usr/local/bin"]
        variables = {
            "PATH": ":".join([place for place in places if place] + ["/usr/sbin:/usr/bin:/sbin:/bin"]),
            "LANG": "C.UTF-8",
            "HOME": scratch,
            "TMPDIR": scratch,
            "VIRTUAL_ENV": os.path.dirname(bin_directory),
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "TRITON_CACHE_DIR": os.path.join(scratch, "triton"),
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "inductor"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "CUDA_CACHE_PATH": os.path.join(scratch, "cuda"),
            # What runs side by side shares the cores, and waiting for one must not take another.
            "OMP_WAIT_POLICY": "PASSIVE",
            "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // self._lanes)),
        }
        for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"):
            if name in os.environ:
                variables[name] = os.environ[name]
        paths = [*(receipt.get("library_paths") or []), variables.get("LD_LIBRARY_PATH", "")]
        if any(paths):
            variables["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
        variables.update({key: str(value) for key, value in (receipt.get("environment") or {}).items()})
        return variables

    def _collect(
        self, process: subprocess.Popen[bytes], reading: int, names: t.Sequence[str], output: str
    ) -> t.List[Result]:
        """Read results until the runner ends or the time is up."""
        results: t.List[Result] = []
        end = time.monotonic() + self.limits["seconds"]
        deadline = min(end, time.monotonic() + IMPORT_SECONDS * self.limits["factor"])
        ready, buffered = False, b""
        while True:
            readable, _unused, _unused = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
            block = os.read(reading, 1 << 16) if readable else b""
            if not block:
                break
            *lines, buffered = (buffered + block).split(b"\n")
            for line in lines:
                said = json.loads(line)
                if said.pop("event") == "ready":
                    ready, deadline, self.software = True, end, said["software"]
                else:
                    results.append(Result(**said))
        missing = [name for name in names if name not in {result.name for result in results}]
        if not missing:
            return results
        printed = [line for line in runner.read_from(output, 0).splitlines() if line.strip()]
        last = " ".join(printed[-1].split())[:400] if printed else ""
        late = time.monotonic() >= deadline
        if not late:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                late = True
        how = "gave no answer in time" if late else _how(process.returncode)
        if not ready:
            return results + self._nothing(missing, self._import_failure(last, how))
        cause = f"What runs the checks {how} before {missing[0]} was done." + (f" It printed: {last}" if last else "")
        remedy = "Give limits.seconds more where it was the time; else read what it printed, and run the proof again."
        return results + self._nothing(missing, Result("python", FAIL, "ended", "runs", cause, remedy))

    def _import_failure(self, last: str, how: str) -> Result:
        """Return the row that says why torch could not be imported."""
        python = self.python
        cause = f"torch cannot be imported by {python}: {last or how}".rstrip(".") + "."
        if "No module named 'torch'" in last:
            cause = f"There is no torch in the environment of {python}."
            remedy = "Run playbooks/deploy.yml, or set verify_environment to the environment that has it."
        elif "undefined symbol" in last:
            remedy = "Its libraries are of two builds: run playbooks/deploy.yml to make the environment anew from one."
        elif "cannot open shared object file" in last:
            remedy = "Run playbooks/libraries.yml; the rows named closure say what is missing and what brings it."
        else:
            remedy = (
                f"Run {python} -c 'import torch' on the host; run playbooks/deploy.yml to make the environment anew."
            )
        return Result("python", FAIL, how if not last else "an error", "imports torch", cause, remedy)

    def _nothing(self, names: t.Iterable[str], why: Result) -> t.List[Result]:
        """Return a failure and, for every check that it kept from running, a skip."""
        cause = f"Not run, see {why.name}."
        return [why, *(self._row(name, SKIP, cause=cause, blocked=True) for name in names)]

    # -- history

    def _reports(self) -> t.List[str]:
        try:
            return sorted(name for name in os.listdir(self.history or "") if name.endswith(".json"))
        except OSError:
            return []

    def _read(self, name: str) -> t.Optional[t.Dict[str, t.Any]]:
        """Return a report; a damaged one, and one of another format, counts as none."""
        try:
            with open(os.path.join(self.history or "", name), encoding="utf-8") as stream:
                report = json.load(stream)
        except (OSError, ValueError):
            return None
        return report if isinstance(report, dict) and report.get("format") == FORMAT else None

    def _last(self) -> t.Optional[t.Dict[str, t.Any]]:
        """Return the report of the run before this one."""
        return next(filter(None, map(self._read, reversed(self._reports()))), None)

    def _baseline(self, devices: t.Sequence[str]) -> t.Optional[t.Dict[str, t.Any]]:
        """Return the report of the first run that proved this host with these GPUs, and keep it."""
        for name in self._reports():
            report = self._read(name)
            if report is not None and verdict.is_baseline(report, devices):
                self._kept = name
                return report
        return None

    def _remember(self, report: t.Mapping[str, t.Any]) -> None:
        directory = t.cast(str, self.history)
        names = self._reports()
        path = os.path.join(directory, f"{report['started'].replace(':', '')}.{time.time_ns() % 10**9:09d}.json")
        disk.make_directories(directory)
        disk.write_file(path, (json.dumps(report, indent=2, sort_keys=True) + "\n").encode("utf-8"))
        # The first proven one, whose rates are the host's floors, goes with none of the others.
        for name in [name for name in names if name != self._kept][: max(0, len(names) + 1 - KEPT)]:
            os.unlink(os.path.join(directory, name))


def _as_row(result: Result) -> t.Dict[str, t.Any]:
    """Return a check as the report has it; what it is that failed is in its status by then."""
    return {key: value for key, value in dataclasses.asdict(result).items() if key != "unanswered"}


def _how(status: t.Optional[int]) -> str:
    if status is not None and status < 0:
        return f"died by {signal.Signals(-status).name}"
    return f"ended with status {status}"
