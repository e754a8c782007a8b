"""Prove an environment: observe the host, run the checks, judge their results, and store the report.

This does not need Ansible, so the ``verify`` role's timer can run it from a copy on the host.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import time
import typing as t

from . import catalogue, changed, coverage, history as _history, host, lane, settings, verdict
from ._shared.module_utils._core import phrases
from ._shared.module_utils._host import guarded
from ._shared.module_utils._wheel import environment
from .check import FAIL, SKIP, Result, minor, seed_of_date

#: How many operators a row names that only earlier runs computed.
NAMED = 8


class Proof:
    """One run of the proof.

    :param options: the module's options: ``python``, ``checks``, ``profile``, ``reference``, ``limits``,
        ``gpu_required``, ``user``, ``accept``, ``history``.
    :param check_mode: compute and store nothing, and allow files that earlier roles would install to be missing.
    :param progress: whether to report the running checks on standard error.
    :raises SparkforgeError: if the options are invalid.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False, progress: bool = False) -> None:
        self.check_mode, self.progress = check_mode, lane.Progress(progress)
        self.gpu_required = bool(options.get("gpu_required", True))
        self.patterns: list[str] = list(options.get("checks") or ["*"])
        self.profile: dict[str, t.Any] = dict(options.get("profile") or {})
        self.reference: dict[str, t.Any] = {**(options.get("reference") or {}), "gpu_required": self.gpu_required}
        self.limits = {
            **settings.LIMITS,
            **{key: value for key, value in (options.get("limits") or {}).items() if value is not None},
        }
        self.user: str | None = options.get("user")
        self.history = _history.History(options.get("history"))
        self.required = list(self.profile.get("required_checks") or [])
        self.accepted: list[str] = list(options.get("accept") or [])
        self._python: str | None = options.get("python")
        if self.reference.get("environment_id"):
            environment.check_name(str(self.reference["environment_id"]), "id")
        settings.check(self.patterns, self.required, self.limits, self.accepted)
        self.profile["floors"], self.notices = settings.floors(self.profile)
        if self.user:
            settings.check_user(self.user)
        self.host = host.HostSide(self.reference, self.profile, self.gpu_required, check_mode)

    def run(self) -> dict[str, t.Any]:
        """Run the proof and return the report.

        :raises SparkforgeError: if the report cannot be stored.
        """
        started, began, used = phrases.now(), time.monotonic(), sum(os.times()[:4])
        self.progress.say("Reading the GPU, its driver and the libraries of this host.")
        observed = {**self.host.observe(), "packages": changed.packages(self.host.host)}
        self.reference.update(self.host.for_checks())
        self._choose_seed()
        baseline = self.history.baseline([str(device.get("name")) for device in observed.get("devices") or []])
        site = self.profile.get("site_floors") or {}
        measured = {floor: rate for floor, rate in settings.RATES.items() if floor not in site}
        self.profile["own_floors"] = verdict.own_floors(baseline, measured)
        computed, software = self._compute()
        results = [*self.host.results(), *computed]
        applicable = {
            name: definition
            for name, definition in catalogue.CHECKS.items()
            if self.gpu_required or definition.device != "cuda"
        }
        required = [name for name in applicable if verdict.selects(self.required, name)]
        unselected = [name for name in required if not verdict.selects(self.patterns, name)]
        if not self.check_mode:
            verdict.judge(
                results,
                catalogue.CHECKS,
                {self.host.processor(), *self.reference["capabilities"], minor(software.get("torch"))},
                self.required,
                by_site=bool(self.profile.get("required_by_site")),
                gpu=self.gpu_required,
                accepted=self.accepted,
            )
        self._add_coverage(results)
        # If no checks were selected, the verdict is based on all families, regardless of the profile.
        selected = [] if self.patterns == ["*"] else self.patterns
        rests_on = required if selected else applicable
        families = verdict.families(name for name in rests_on if applicable[name].numeric)
        outcome = verdict.verdict(results, unselected, families)
        if outcome == verdict.UNPROVEN and not self.check_mode:
            self.notices += [verdict.missing_notice(results, family) for family in verdict.missing(results, families)]
        report: dict[str, t.Any] = {
            "format": verdict.FORMAT, "stack": self.reference.get("stack"), "method": self.reference.get("method"),
            "lock": self.reference.get("lock_id"), "environment_id": self._environment_id(),
            "profile": self.profile.get("name"), "gpu_required": self.gpu_required, "check_mode": self.check_mode,
            "selected": selected, "verdict": outcome, "scope": verdict.scope(results),
            "summary": verdict.summary(result.status for result in results), "started": started,
            "seconds": round(time.monotonic() - began, 1), "core_seconds": round(sum(os.times()[:4]) - used, 1),
            **observed, "software": software, "checks": [result.as_row() for result in results],
            "notices": self._notices(unselected), "resolved": self.host.resolved,
        }  # fmt: skip
        report["drift"] = verdict.drift(self.history.last(), report)
        if self.history.directory and not self.check_mode:
            self.history.remember(report)
        return report

    def _choose_seed(self) -> None:
        """Draw the inputs of the date, or on a kind of device without recorded runs, those that ran elsewhere.

        The latter until the environment is proven. A run over midnight keeps its inputs.
        """
        if "seed" in self.limits:
            return
        self.limits["seed"] = float(seed_of_date())
        kinds = {self.host.processor(), *self.reference["capabilities"]}
        recorded = {run.kind for definition in catalogue.CHECKS.values() for run in definition.measured}
        reports = self.history.of_environment(self._environment_id())
        if kinds <= recorded or any(each.get("verdict") == verdict.PROVEN for each in reports):
            return
        self.limits["seed"] = settings.SEED_SEEN
        self.notices.append(
            f"The inputs are those of seed {settings.SEED_SEEN}, which have run on other kinds of device: this kind has"
            " no recorded runs."
        )

    def _add_coverage(self, results: t.Sequence[Result]) -> None:
        """Add the survey's coverage of torch, in this run and over the last runs, to its rows and the notices."""
        reports = self.history.of_environment(self._environment_id())
        runs, before = len(reports), self.history.covered(reports)
        formats: dict[str, dict[str, dict[str, t.Any]]] = {}
        for result in results:
            if result.covered and runs:
                known = before.get(result.name, set())
                missing = sorted(known - set(result.covered))
                both = len(known | set(result.covered))
                result.measured += f"; {both} operators over the last {runs + 1} runs"
                if missing:
                    result.measured += f"; not in this run: {phrases.some(missing, NAMED)}"
            if result.coverage:
                formats.setdefault(result.name.rpartition("_")[0], {})[result.name] = result.coverage
        for name, rows in formats.items():
            earlier = [
                [row.get("coverage") for row in report.get("checks") or [] if row["name"] in rows] for report in reports
            ]
            self.notices.append(coverage.sentence(name, list(rows.values()), earlier))

    def changed_host(self) -> list[str]:
        """Describe the changes to the host since the last proof; a host without a proof counts as changed."""
        last = self.history.last()
        if last is None:
            return ["there is no proof yet"]
        changes = verdict.changed(last, changed.observe(self.host.host))
        return [f"{change['what']}: {change['before']} -> {change['now']}" for change in changes]

    def _notices(self, unselected: t.Sequence[str]) -> list[str]:
        notices = list(self.notices)
        if unselected:
            notices.append(f"Required but not selected: {', '.join(unselected)}.")
        if self.accepted:
            notices.append(f"This site accepts a failure of {', '.join(self.accepted)} (verify_accept).")
        return notices + guarded.messages()

    @property
    def python(self) -> str:
        """The option ``python``, or the resolved path of the environment's interpreter."""
        if self._python:
            return self._python
        return os.path.join(os.path.realpath(self._environment()), "bin", "python")

    @property
    def root(self) -> str:
        """The root directory of the collection on the host."""
        return self.reference.get("root") or "/opt/sparkforge"

    def _environment(self, directory: str | None = None) -> str:
        """Return the path of an environment; by default, of the one under test."""
        name = self.reference.get("environment") or "torch"
        return os.path.join(self.root, "envs", name, directory or self.reference.get("environment_id") or "current")

    def _environment_id(self) -> str | None:
        path = os.path.realpath(self._environment())
        return os.path.basename(path) if not self._python and os.path.isdir(path) else None

    def hindrance(self, report: t.Mapping[str, t.Any], require: str) -> str:
        """Return the reason why the environment under test must not become the current one, or '' if it may, or is."""
        if self._python or self.check_mode or self.is_current():
            return ""
        current = os.path.realpath(self._environment("current"))
        before = self.history.last(os.path.basename(current))
        return verdict.hindrance(report, before, not os.path.isdir(current), require)

    def is_current(self) -> bool:
        """Tell whether the environment under test is in use; a staged environment is not."""
        named = bool(self.reference.get("environment_id")) and not self._python
        return not named or os.path.realpath(self._environment()) == os.path.realpath(self._environment("current"))

    def _compute(self) -> tuple[list[Result], dict[str, t.Any]]:
        """Run the selected checks that apply, and skip the others with a reason; also return the software versions."""
        results: dict[str, Result] = {}
        gpu_fails = next((row for row in self.host.gpu_results() if row.status == FAIL), None)
        for name, definition in catalogue.CHECKS.items():
            reason, blocked = "", False
            if not verdict.selects(self.patterns, name):
                continue
            if definition.device == "cuda" and not self.gpu_required:
                reason = host.NO_GPU_REQUIRED
            elif self.check_mode:
                reason, blocked = "check mode computes nothing", True
            elif definition.device == "cuda" and gpu_fails and gpu_fails.name == "gpu":
                reason, blocked = f"Not run: no GPU responds; see {gpu_fails.name}.", True
            if reason:
                results[name] = definition.result(SKIP, cause=reason, blocked=blocked)
        names = [name for name in catalogue.CHECKS if verdict.selects(self.patterns, name) and name not in results]
        parallel, alone = catalogue.lanes(names)
        shared = (self.python, self.profile, self.reference, self.limits, self.user)
        lanes = lane.Lanes(*shared, max(1, len(parallel)), progress=self.progress)
        by_itself = dataclasses.replace(lanes, parallel=1)
        gate, gate_end = os.pipe()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            # This lane imports torch while the others run, and starts its checks once they are done.
            last = pool.submit(lane.run, by_itself, [alone], gate) if alone else None
            try:
                rows = lane.run(lanes, parallel) if parallel else []
                os.close(gate_end)
                rows += last.result() if last else []
            except BaseException:
                self.progress.stop()
                raise
        os.close(gate)
        results.update({result.name: result for result in lane.merge_rows(rows)})
        software = lanes.software or by_itself.software
        return [results[name] for name in (*catalogue.CHECKS, "python") if name in results], software
