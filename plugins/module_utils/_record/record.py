"""Record a host in one file that its owner can send, without root or Ansible (``sparkforge-record.pyz``).

It reads files, simulates apt, and observes the GPU at rest and under load. It changes nothing on the host. The archive
also contains the proof; its builder passes in the functions that this module uses.
"""

# This is a separate program, not an Ansible module.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pkgutil
import re
import sys
import time
import typing as t

from .._apt.apt_get import Apt, read_only
from .._apt.next_upgrade import UpdateInfo
from .._apt.plan import check_plan
from .._apt.policy import choose
from .._apt.request import missing, parse_request
from .._core import sanitize
from .._core.errors import SparkforgeError
from .._host import connectx, gpu as gpus
from .._host.observation import SparkInfo
from .._host.reader import Host, run_command
from .redaction import redacted

FORMAT = 1
#: The file in the archive that lists the apt packages that a run requests, by method (``wheels``, ``build``).
PACKAGES = "packages.json"
#: Time limits in seconds: for one command, for the load (with the import of torch), and in total without ``--prove``.
COMMAND_LIMIT, LOAD_LIMIT, LIMIT = 20.0, 25.0, 50.0
ROOT = "/opt/sparkforge"
# If a driver rejects an unknown field, the query is repeated without it.
_QUERY = (
    "pstate vbios_version persistence_mode clocks.sm clocks.mem clocks.max.sm clocks.applications.graphics power.draw "
    "power.limit temperature.gpu utilization.gpu clocks_event_reasons.active clocks_throttle_reasons.active"
).split()
_FIND_TORCH = """import importlib.metadata, importlib.util
found = importlib.util.find_spec("torch")
print(importlib.metadata.version("torch"), *(found.submodule_search_locations or []), sep="\\n")"""
# Otherwise, bytecode and compiled kernels would be left on the host.
_PYTHON = ("env", "PYTHONDONTWRITEBYTECODE=1", "CUDA_CACHE_DISABLE=1")
_LOAD = """import time, torch
factor = torch.ones(4096, 4096, device="cuda", dtype=torch.bfloat16)
torch.cuda.synchronize()
end = time.monotonic() + 3
while time.monotonic() < end:
    for _ in range(20):
        factor @ factor
    torch.cuda.synchronize()"""
# Record only these keys, because the file also contains the machine's serial number.
RELEASE = r'^(DGX_(?:NAME|PRETTY_NAME|SWBUILD_VERSION|OTA_VERSION|PLATFORM))="?([^"\n]*)'
MEMORY = "MemTotal MemFree MemAvailable Cached SwapTotal SwapFree CmaTotal CmaFree HugePages_Total Committed_AS".split()

Report = t.Mapping[str, t.Any]
#: Last returns the host's last report; Prove proves an interpreter's torch, in a directory and on some GPUs.
Last = t.Callable[[Host], t.Optional[Report]]
Prove = t.Callable[[str, str, t.Sequence[t.Mapping[str, t.Any]]], Report]


class Recorder:
    """Record one host.

    :param packages: the apt packages that a run requests, by method.
    :param last: a function that returns the report of a host's last proof.
    :param python: the interpreter for the GPU load and the proof; defaults to the first one with torch.
    :param system: the path of the host's ``/``.
    :param command: a function that runs an argument list within a number of seconds.
    """

    def __init__(
        self,
        packages: t.Mapping[str, t.Sequence[str]],
        last: Last,
        python: str | None = None,
        system: str = "/",
        command: t.Callable[[list[str], float], tuple[int, str, str]] = run_command,
    ) -> None:
        self.packages = packages
        self.last = last
        self.python = python
        self._command = command
        self._end = time.monotonic() + LIMIT
        self.host = Host(system, run=self._run)

    def _run(self, argv: list[str], limit: float = COMMAND_LIMIT) -> tuple[int, str, str]:
        remaining = min(limit, self._end - time.monotonic())
        return self._command(argv, remaining) if remaining > 0 else (124, "", f"{argv[0]} was not run: no time left")

    def _ask(self, argv: list[str], limit: float = COMMAND_LIMIT) -> str:
        status, stdout, stderr = self._run(argv, limit)
        if status:
            raise OSError((stderr or stdout).strip()[-300:] or f"exit status {status}")
        return stdout

    def record(self, prove: Prove | None = None) -> dict[str, t.Any]:
        """Return the redacted record: an observation by ``spark_info``, and everything else under ``record``.

        :param prove: a function that proves the host's torch; its report replaces that of the last proof.
        """
        began = time.monotonic()
        observation = SparkInfo(self.host).observe()
        apt, gpu = observation["apt"], observation["gpu"] or {}
        torches = self.host.part("torch", self._torch_packages) or []
        pressure = self.host.stripped("/proc/pressure/memory").partition("full")[0]
        parts: dict[str, t.Any] = {
            "format": FORMAT,
            "taken": time.strftime("%Y-%m-%d", time.gmtime()),
            "root": os.geteuid() == 0,
            "apt": self.host.part("apt", lambda: self._apt(apt["packages"], apt["pins"])),
            "release": re.findall(RELEASE, self.host.stripped("/etc/dgx-release"), re.M),
            "machine": {
                name: self.host.stripped(f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")
            },
            "memory": {
                name: int(size)
                for name, size in re.findall(r"^(\w+):\s+(\d{1,12})", self.host.stripped("/proc/meminfo"), re.M)
                if name in MEMORY
            },
            "pressure": {name: float(share) for name, share in re.findall(r"(avg\d+)=([\d.]+)", pressure)},
            "swappiness": int(self.host.stripped("/proc/sys/vm/swappiness") or 0),
            # Only the unit that runs `nvidia-smi --lock-gpu-clocks` shows the locked clock: measured with driver
            # 580.178.04 by the owner of eight GB10s, "GB10 power-offs at long-prefill onset" (2026-09).
            "clock_units": [name for name in self.host.names("/etc/systemd/system") if "clock" in name],
            "torch": torches,
            "gpu": self.host.part("gpu", lambda: self._gpu(gpu, torches)) if gpu.get("devices") else None,
            "fabric": self.host.part("fabric", lambda: connectx.observe(self.host)),
            "update": self.host.part("update", lambda: self._update(apt["packages"])),
            "report": None if prove else self.host.part("report", lambda: self.last(self.host)),
        }
        if prove:
            parts["report"] = self.host.part("proof", lambda: self._prove(prove, torches, gpu.get("devices") or []))
        parts["seconds"] = round(time.monotonic() - began, 1)
        return redacted({**observation, "unread": self.host.unread, "record": parts})

    def _apt(self, installed: t.Mapping[str, str], pins: t.Sequence[t.Mapping[str, t.Any]]) -> dict[str, t.Any]:
        """Return apt's data about the packages, and its simulated installation for each method."""

        def ask(argv: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
            variables = [f"{name}={value}" for name, value in environment.items()]
            return self._run(["env", *variables, argv[0], *read_only(), *argv[1:]])

        apt = Apt(ask, lock_timeout=0)
        names = {
            request.name for requests in self.packages.values() for text in requests for request in parse_request(text)
        }
        policies = apt.policies(sorted(names))
        facts: dict[str, t.Any] = {"policy": {}}
        for name, policy in policies.items():
            rows = [{"version": v, "priority": p, "origins": policy.origins.get(v, [])} for v, p in policy.versions]
            facts["policy"][name] = {"candidate": policy.candidate, "versions": rows}
        for method, requests in self.packages.items():
            choices = {text: choose(text, policies, pins).argument for text in missing(requests, installed)}
            answer: dict[str, t.Any] = {
                "unavailable": [parse_request(text)[0].name for text, argument in choices.items() if not argument]
            }
            try:
                plan = apt.simulate("install", *filter(None, choices.values()))
                answer["install"] = [step.as_result() for step in plan.install]
                answer["remove"] = [step.as_result() for step in plan.remove]
                check_plan(plan)
            except SparkforgeError as error:
                answer["refused"] = {**error.details, "cause": error.cause}
            facts[method] = answer
        return facts

    def _update(self, installed: t.Mapping[str, str]) -> dict[str, t.Any]:
        host = Host(self.host.root, run=lambda argv: self._run(["env", "LC_ALL=C.UTF-8", "LANGUAGE=C", *argv]))
        upgrade = UpdateInfo(host).observe(installed)
        for row in host.unread:
            self.host.note(row["probe"], row["reason"])
        return upgrade

    def _torch_packages(self) -> list[dict[str, str]]:
        """Return each interpreter that has torch: its path, torch's version, and the package's directory."""
        own = [f"{os.environ[name]}/bin/python" for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if name in os.environ]
        own_pythons = [f"{ROOT}/envs/{name}/current/bin/python" for name in self.host.names(f"{ROOT}/envs")]
        torches = []
        for python in [self.python] if self.python else [*own, *own_pythons, "python3"]:
            status, stdout, stderr = self._run([*_PYTHON, python, "-c", _FIND_TORCH])
            version, *folders = stdout.split("\n")
            if status == 0 and folders and folders[0]:
                torches.append({"python": python, "version": version, "folder": folders[0]})
            elif self.python:
                self.host.note("torch", stderr.strip().rpartition("\n")[2] or "Torch was not found.")
        return torches

    def _gpu(self, gpu: t.Mapping[str, t.Any], torches: t.Sequence[t.Mapping[str, str]]) -> dict[str, t.Any]:
        """Return nvidia-smi's data about the first GPU, at rest and twice a second during 3 s of matrix products."""
        facts: dict[str, t.Any] = {"rest": self._sample()}
        if gpu.get("processes") or not torches:
            return {**facts, "no_load": "The GPU is in use." if gpu.get("processes") else "No torch was found."}
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            load = pool.submit(self._ask, [*_PYTHON, torches[0]["python"], "-c", _LOAD], LOAD_LIMIT)
            samples = []
            while not load.done():
                samples.append(self._sample())
                time.sleep(0.5)
        if load.exception():
            return {**facts, "no_load": str(load.exception()).rpartition("\n")[2]}
        # Earlier samples are from the import of torch.
        return {**facts, "load": samples[-6:]}

    def _sample(self) -> dict[str, str]:
        names = list(_QUERY)
        while True:
            query = [f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits", "-i", "0"]
            status, stdout, stderr = self._run(["nvidia-smi", *query])
            unknown = re.search(r'Field "([\w.]+)" is not a valid field', stdout + stderr)
            if not unknown or unknown.group(1) not in names:
                row = next((line for line in stdout.splitlines() if line.count(",") == len(names) - 1), "")
                values = (re.sub("^0x0+(?=.)", "0x", value.strip()) for value in row.split(","))
                return dict(zip(names, values)) if row and status in (0, gpus.INFOROM_CORRUPTED) else {}
            names.remove(unknown.group(1))

    @staticmethod
    def _prove(
        prove: Prove, torches: t.Sequence[t.Mapping[str, str]], devices: t.Sequence[t.Mapping[str, t.Any]]
    ) -> Report:
        if not torches:
            raise SparkforgeError("There is no torch to prove.", "Name an interpreter that has it with --python.")
        return prove(torches[0]["python"], torches[0]["folder"], devices)


def make_parser() -> argparse.ArgumentParser:
    """Return the command-line parser."""
    parser = argparse.ArgumentParser(
        prog="sparkforge-record.pyz",
        description="Record the facts about this machine that a run of sparkforge.dgx_spark needs, without those that"
        " identify it or its owner, in a file to read and to send. It needs no root and changes nothing.",
    )
    add = parser.add_argument
    add("--output", default="sparkforge-record.json", metavar="FILE", help="default: %(default)s; - prints it")
    add("--python", metavar="PATH", help="an interpreter with torch, which loads the GPU for 3 seconds")
    add("--prove", action="store_true", help="prove that torch too, which takes minutes, and add the report")
    return parser


def main(last: Last, prove: Prove, argv: t.Sequence[str] | None = None) -> int:
    """Record this host, and return the exit status: 0, or 2 if the file cannot be written.

    :param last: see :class:`Recorder`.
    :param prove: see :meth:`Recorder.record`.
    """
    options = make_parser().parse_args(argv)
    packages = json.loads(pkgutil.get_data(__package__ or "", PACKAGES) or b"")
    record = Recorder(packages, last, options.python).record(prove if options.prove else None)
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
        return 0
    try:
        with open(options.output, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        print(
            f"{options.output} cannot be written: {error.strerror}. Name another file with --output.", file=sys.stderr
        )
        return 2
    for row in record["unread"]:
        print(sanitize.line(f"not read: {row['probe']}: {row['reason']}"))
    print(
        f"{options.output}: {len(text) / 1000:.0f} kB in {record['record']['seconds']:.0f} s."
        " Read it before you send it."
    )
    return 0
