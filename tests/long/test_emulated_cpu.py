"""Run the proof's host checks with the default stack's aarch64 wheels on an emulated Neoverse N2.

This takes hours on one core. The lab's cache keeps the report of each batch of checks until the proof or the lock
changes, so that an interrupted run can be continued. docs/evidence/emulated-cpu.md has the results; its row in
proof-runs.json is written to reports/ by the last test.
"""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF
from sparkforge_proof import catalogue
from sparkforge_proof.check import FAIL, KNOWN, PASS, SKIP, WARN

from lab import emulator, image
from lab.host import cache_directory, digest_of, install_packages, owner, run
from tests.integration.conftest import CHECKOUT

pytestmark = pytest.mark.long

STACK = yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text())["stack_default"]
LOCK = yaml.safe_load((CHECKOUT / f"roles/stack/files/locks/{STACK}.yml").read_text())["stack_lock"]
#: The lock's entry for each wheel on a Spark: the version, and the sha256 of the file for Python 3.12.
LOCKED = dict(line.split(" --hash=sha256:") for line in LOCK["wheels"]["cp312-linux-aarch64"])
#: Like a GB10's cores, it has 128-bit SVE, bf16 and i8mm; the cores differ otherwise, so they have a separate kind.
CPU, KIND, CAPABILITY = "neoverse-n2", "emulated aarch64 0x41 0xd49", "SVE128"
#: Packages that torch.compile needs on a CPU.
COMPILER = ("g++", "python3-dev")
#: Debian 13's Python, for which the wheels must be built.
PYTHON = "3.13"
NAME = f"emulated-cpu-{owner()}"
#: Paths in the container: the directory of a run, and the environment that is proven.
SHARED, ROOT, ENVIRONMENT = "/srv", "/opt/sparkforge", "/opt/sparkforge/envs/torch/emulated"
HOST_CHECKS = [name for name, definition in catalogue.CHECKS.items() if definition.device == "cpu"]
#: Checks that take over five minutes here, each of which has a process.
SLOW = re.compile(
    r"cpu\.(companions.torchvision|compilation|fastpaths.modules|layouts.nested|sizes\.(many|tokens)|survey\.[^_]+$"
    r"|training\.(conv|trans))"
)


def batches() -> list[tuple[str, ...]]:
    """Return the checks of each process; those of a room share one, because importing torch takes half a minute."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for name in HOST_CHECKS:
        room = catalogue.CHECKS[name].module.partition(".")[0]
        groups.setdefault((True, name) if SLOW.match(name) else (False, room), []).append(name)
    return [tuple(groups[key]) for key in sorted(groups)]


BATCHES = batches()
#: A single thread computes many times slower than real hardware, and the survey's drawn cases need their time. On days
#: that are a multiple of four, attention is compiled too.
LIMITS = {"factor": 60, "seconds": 6 * 3600, "survey": 150, "seed": 12}


def fetch_wheels() -> Path:
    """Return a directory with the lock's wheels, unpacked for the container's Python."""
    folder = cache_directory() / "emulated-cpu" / f"wheels-{digest_of(LOCKED, PYTHON)}"
    platforms = [*(f"manylinux_2_{minor}_aarch64" for minor in range(39, 16, -1)), "manylinux2014_aarch64"]
    python = ["--only-binary=:all:", "--no-deps", "--python-version", PYTHON, "--implementation", "cp"]
    python += [word for platform in platforms for word in ("--platform", platform)]
    if not (folder / "ready").exists():
        pip = [sys.executable, "-m", "pip", "-q"]
        run(*pip, "download", "--dest", folder / "files", *python, *LOCKED)
        for wheel in (folder / "files").glob("*.whl"):
            # For another Python, the same release has another file.
            is_locked = hashlib.sha256(wheel.read_bytes()).hexdigest() in LOCKED.values()
            assert is_locked or "-cp313-" in wheel.name, wheel.name
        files = sorted((folder / "files").glob("*.whl"))
        assert len(files) == len(LOCKED)
        # This machine's Python, which unpacks the wheels, may be older than they require.
        python += ["--ignore-requires-python", "--no-compile", "--target", str(folder / "unpacked")]
        run(*pip, "install", "--no-index", *python, *files)
        shutil.rmtree(folder / "files")
        (folder / "ready").touch()
    return folder / "unpacked"


class Emulated:
    """A container that emulates this CPU, and the directory of the reports from its runs."""

    def __init__(self) -> None:
        archive, digest = PROOF.archive()
        self.folder = cache_directory() / "emulated-cpu" / digest_of(digest, LOCKED, CPU)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / PROOF.file).write_bytes(archive)
        volumes = [f"--volume={self.folder}:{SHARED}", f"--volume={fetch_wheels()}:/opt/wheels"]
        tag = image.build("arm64", extra=COMPILER)
        image.podman("rm", "-f", "-t", "0", NAME, quiet=True)
        image.podman("create", "--arch", "arm64", "--name", NAME, *volumes, tag, "sleep", "infinity")
        image.podman("start", NAME)
        # Create the part of the python_env role's environment that the proof reads; programs run on one thread of this
        # CPU.
        environment = {"QEMU_CPU": CPU, "OMP_NUM_THREADS": "1"}
        receipt = json.dumps({"schema": 2, "environment": environment, "packages": {}})
        site = f"{ENVIRONMENT}/lib/python{PYTHON}/site-packages"
        self.execute(
            f"mkdir -p {ENVIRONMENT}/bin {site}; ln -s /usr/bin/python3 {ENVIRONMENT}/bin/python;"
            f"echo home = /usr/bin > {ENVIRONMENT}/pyvenv.cfg; echo /opt/wheels > {site}/wheels.pth;"
            f"echo '{receipt}' > {ENVIRONMENT}/receipt.json"
        )

    def execute(self, command: str) -> str:
        return image.podman("exec", "-e", f"QEMU_CPU={CPU}", NAME, "sh", "-ec", command).stdout.strip()

    def python(self, code: str) -> str:
        return self.execute(f"PYTHONPATH={SHARED}/{PROOF.file} {ENVIRONMENT}/bin/python -c '{code}'")

    def report(self, batch: Sequence[str]) -> dict[str, Any]:
        """Return the proof's report for some checks, from an earlier run if that was completed."""
        kept = self.folder / f"{batch[0]}.json"
        if not kept.exists():
            options = {
                "checks": batch,
                "profile": {"name": "generic"},
                "reference": {"root": ROOT, "environment": "torch", "environment_id": "emulated"},
                "limits": LIMITS,
                "gpu_required": False,
                "require": "unproven",
            }
            (self.folder / "call.json").write_text(json.dumps({"options": options}))
            self.execute(f"cd {SHARED}; python3 {PROOF.file} call prove < call.json > answer.json")
            answer = json.loads((self.folder / "answer.json").read_text())
            kept.write_text(json.dumps(answer["result"]["report"], indent=1))
        report: dict[str, Any] = json.loads(kept.read_text())
        return report


@pytest.fixture(scope="module")
def emulated() -> Iterator[Emulated]:
    install_packages()
    emulator.register(NAME)
    try:
        yield Emulated()
    finally:
        image.podman("rm", "-f", "-t", "0", NAME, quiet=True)
        emulator.release(NAME)


def test_torch_computes_with_sve_and_the_proof_knows_that_the_processor_is_emulated(emulated: Emulated) -> None:
    assert emulated.python("import torch; print(torch.backends.cpu.get_cpu_capability())") == CAPABILITY
    assert emulated.python("from sparkforge_proof.host import HostSide; print(HostSide({}, {}).processor())") == KIND


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: batch[0])
def test_no_check_of_the_host_raises_an_alarm(emulated: Emulated, batch: tuple[str, ...]) -> None:
    report = emulated.report(batch)
    rows = [row for row in report["checks"] if row["name"] in HOST_CHECKS]
    assert rows and f"torch=={report['software']['torch'].partition('+')[0]}" in LOCKED
    # A known defect of torch is no alarm.
    assert [row for row in rows if row["status"] not in (PASS, SKIP) and row["reason"] != KNOWN] == []


def test_a_run_of_all_checks_is_written_as_evidence(emulated: Emulated) -> None:
    reports = [emulated.report(batch) for batch in BATCHES]
    rows = {row["name"]: row["status"] for report in reports for row in report["checks"] if row["name"] in HOST_CHECKS}
    assert sorted(rows) == sorted(HOST_CHECKS)
    named = {status: sorted(name for name in rows if rows[name] == status) for status in (PASS, FAIL, SKIP, WARN)}
    evidence = {
        "date": max(report["started"] for report in reports)[:10],
        "device": None,
        "compute_capability": None,
        "machine": KIND,
        "torch": reports[0]["software"]["torch"],
        "software": reports[0]["software"],
        "verdict": "fail" if named[FAIL] else "proven",
        "seconds": round(sum(report["seconds"] for report in reports), 1),
        "driver": None,
        "seed": LIMITS["seed"],
        "passed": named[PASS],
        "failed": named[FAIL],
        "skipped": named[SKIP],
        "warned": named[WARN],
    }
    path = CHECKOUT / "reports" / "emulated-cpu.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(evidence, indent=1) + "\n")
