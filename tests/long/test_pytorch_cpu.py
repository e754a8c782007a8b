"""PyTorch from Debian 13's source package, built with the stack's clang and lld, with another clang on PATH.

This takes more than an hour on two cores, so it runs only in `make test-long`. If it is interrupted or fails, its host
is kept, and the next run continues in the build's tree. `python -m lab down --bench pytorch-cpu` removes the host.
"""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab import bench as benches
from lab.host import cache_directory, debian_archive, run
from tests.integration.conftest import CHECKOUT, Host, Play

pytestmark = pytest.mark.long

BENCH = "pytorch-cpu"
RECIPE = yaml.safe_load((Path(__file__).parent / "pytorch_cpu.yml").read_text())
STACK = "lab-pytorch-cpu"
#: The checks of the proof that a CPU-only PyTorch without distributed must pass.
COMPUTED = ("cpu.tensors.", "cpu.matmul.", "cpu.convolution.", "cpu.attention.", "cpu.linalg.")
#: Kill the build after this many steps.
KILLED_AFTER = 150
#: A copy, on the host, of Ninja's log at that moment.
AT_KILL = "/srv/ninja_log.at_kill"


@dataclass
class Site:
    """A host, and whether this run completed all tests."""

    host: Host
    variables: dict[str, Any]
    done: bool = False

    def run(self, playbook: str) -> Play:
        return self.host.run(playbook, **self.variables)

    def info(self) -> dict[str, Any]:
        return self.host.task("sparkforge.dgx_spark.build_info")

    @property
    def receipt(self) -> dict[str, Any]:
        return self.info()["receipts"][0]

    @property
    def tree(self) -> str:
        return self.host.execute("ls -td /opt/sparkforge/builds/pytorch/*/ | head -n 1")


def fetch_source() -> Path:
    """Download Debian's source package into the lab's cache with apt."""
    folder = cache_directory() / "sources" / RECIPE["source"]["package"]
    archive = folder / RECIPE["source"]["archive"]
    if archive.exists() and hashlib.sha256(archive.read_bytes()).hexdigest() == RECIPE["source"]["sha256"]:
        return folder
    for name in ("lists/partial", "archives/partial", "parts"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (folder / "sources.list").write_text(f"deb-src [signed-by={keyring}] {debian_archive()} trixie main\n")
    settings = {
        "Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": folder / "parts",
        "Dir::State::Lists": folder / "lists", "Dir::Cache": folder, "APT::Sandbox::User": "root",
    }  # fmt: skip
    apt = ["apt-get", "-q", *(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))]
    run(*apt, "update")
    run(*apt, "source", "--download-only", RECIPE["source"]["package"], cwd=folder)
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == RECIPE["source"]["sha256"]
    return folder


def added_headers(folder: Path) -> list[dict[str, str]]:
    """Return patches that add the headers which the packaging keeps outside the archive."""
    patches = []
    with tarfile.open(next(folder.glob("*.debian.tar.xz"))) as packaging:
        files = {f"/{member.name}": member for member in packaging.getmembers() if member.isfile()}
        for ending, path in RECIPE["source"]["headers"].items():
            member = next(files[name] for name in sorted(files) if name.endswith(ending))
            stream = packaging.extractfile(member)
            assert stream
            lines = stream.read().decode().splitlines()
            text = "".join(f"+{line}\n" for line in lines)
            header = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
            patches.append({"name": path, "content": header + text})
    return patches


def fetch_wheels() -> Path:
    """Download the real wheels that PyTorch requires to build and to run; those of the native mirror are stand-ins."""
    folder = cache_directory() / "sources" / "pytorch-wheels"
    command = [sys.executable, "-m", "pip", "download", "-q", "--dest", folder, "--only-binary=:all:", "--no-deps"]
    command += ["--python-version", "3.13"]
    command += [word for glibc in ("2_28", "2_27", "2_17") for word in ("--platform", f"manylinux_{glibc}_x86_64")]
    run(*command, *RECIPE["wheels"])
    return folder


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """The host, with the toolchain, the source and the lock; an earlier run's host is reused."""
    source, wheels = fetch_source(), fetch_wheels()
    folder = benches.Bench(BENCH, "native").folder
    inventory = folder / "inventory"
    up = benches.up(BENCH, "native", ["spark01"], inventory)
    host = Host("spark01", up.containers["spark01"], inventory, folder / "reports", BENCH)
    host.copy(source / RECIPE["source"]["archive"], f"/srv/source/{RECIPE['source']['archive']}")
    for wheel in wheels.glob("*.whl"):
        host.copy(wheel, f"/srv/wheels/{wheel.name}")
    definition = yaml.safe_load((CHECKOUT / "inventory/stacks/lab-native.yml").read_text())["stack_definition"]
    archive = {key: RECIPE["source"][key] for key in ("archive", "sha256")}
    archive["archive"] = f"/srv/source/{archive['archive']}"
    definition = {**definition, **RECIPE["stack"], "machines": [host.machine], "sources": {"pytorch": archive}}
    (inventory / f"stacks/{STACK}.yml").write_text(yaml.safe_dump({"stack_definition": definition}))
    unit = {**RECIPE["variables"]["pytorch_unit"], "patches": added_headers(source)}
    variables = {**RECIPE["variables"], "stack_name": STACK, "pytorch_unit": unit, "pytorch_keep": 1}
    site = Site(host, {**variables, "python_env_find_links": ["/srv/wheels"]})
    here = {"stack_lock_host": host.name, "stack_lock_find_links": [str(wheels)]}
    host.run("lock", stack_name=STACK, stack_lock_parts=["requirements"], **here).succeeded()
    host.roles("build_toolchain", **site.variables).succeeded()
    yield site
    if site.done:
        benches.down(BENCH, inventory)


def kill(site: Site) -> None:
    """Start the build, then kill it with all of its processes, as a power cut would."""
    extra = {**site.variables, "sparkforge_wheelhouse_cache": str(site.host.reports.parent / "wheelhouse")}
    command = [
        str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(site.host.inventory / "lab.yml"),
        str(CHECKOUT / "playbooks/build.yml"), "-l", site.host.name, "-e", json.dumps(extra),
    ]  # fmt: skip
    with open(os.devnull, "w") as devnull:
        controller = subprocess.Popen(command, cwd=CHECKOUT, env=site.host.environment, stdout=devnull, stderr=devnull,
                                      stdin=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
        while not any((item["state"].get("done") or 0) >= KILLED_AFTER for item in site.info()["running"]):
            assert controller.poll() is None
            time.sleep(10)
        os.killpg(controller.pid, 9)
        controller.wait()
    site.host.execute(f"pkill -9 -u sparkforge; sleep 1; cp {site.tree}/source/build/.ninja_log {AT_KILL}")


def finished(log: str) -> dict[str, str]:
    """Return each object's modification time from Ninja's log: start, end, modification time, file, command."""
    lines = [line.split("\t") for line in log.splitlines() if not line.startswith("#")]
    return {line[3]: line[2] for line in lines if line[3].endswith(".o")}


@pytest.fixture(scope="module")
def built(site: Site) -> Site:
    """A host on which PyTorch's wheel was built and published; the build was killed once."""
    # Continue the unfinished build of an earlier run, if there is one.
    if not site.info()["receipts"] and not site.info()["unfinished"]:
        kill(site)
    site.run("build").succeeded()
    return site


def test_a_killed_build_went_on_and_did_no_finished_step_again(built: Site) -> None:
    assert built.receipt["attempts"] >= 2
    log = f"{built.tree}/source/build/.ninja_log"
    before, after = finished(built.host.execute(f"cat {AT_KILL}")), finished(built.host.execute(f"cat {log}"))
    assert KILLED_AFTER / 2 < len(before) < len(after)
    assert [output for output in before if before[output] != after[output]] == []


def test_the_compiler_that_the_receipt_names_compiled(built: Site) -> None:
    major = RECIPE["stack"]["llvm_major"]
    other = built.host.execute("clang --version")
    assert f"clang version {major}" not in other
    assert built.receipt["inputs"]["toolchain"]["cxx"] == f"clang {major}"
    version = built.receipt["tools"]["cxx"]
    objects = f"find {built.tree}/source/build -name '*.o'"
    comments = built.host.execute(
        f"{objects} -exec readelf -p .comment {{}} + | grep -o 'clang version [0-9.]*' | sort | uniq -c"
    )
    assert [line.split()[1:] for line in comments.splitlines()] == [["clang", "version", version]]
    assert int(comments.split()[0]) == int(built.host.execute(f"{objects} | wc -l")) > 1000
    linked = built.host.execute(f"readelf -p .comment {built.tree}/source/torch/lib/libtorch_cpu.so")
    assert f"LLD {major}." in linked


def test_the_same_command_again_compiles_nothing(built: Site) -> None:
    before = built.info()["receipts"]
    assert built.run("build").succeeded().changed == 0
    assert built.info()["receipts"] == before


def test_the_cpu_checks_of_the_proof_pass(built: Site) -> None:
    built.run("deploy").succeeded()
    version = built.host.execute(
        "/opt/sparkforge/envs/torch/current/bin/python -c 'import torch; print(torch.__version__)'"
    )
    assert version == built.receipt["outputs"][0]["version"]
    assert version.startswith("2.6.0+cpu.sf")
    built.run("verify").succeeded()
    report = json.loads((built.host.reports / f"{built.host.name}.json").read_text())
    states = {check["name"]: check["status"] for check in report["checks"]}
    assert report["verdict"] == "proven"
    assert [name for name, status in states.items() if status == "fail"] == []
    computed = {name: status for name, status in states.items() if name.startswith(COMPUTED)}
    assert len(computed) > 15 and set(computed.values()) == {"pass"}, computed
    assert built.run("deploy").succeeded().changed == 0
    # Keep the report and the receipt, because the host is removed.
    kept = CHECKOUT / "reports"
    kept.mkdir(exist_ok=True)
    (kept / f"{BENCH}.json").write_text(json.dumps(report, indent=2) + "\n")
    (kept / f"{BENCH}.receipt.json").write_text(json.dumps(built.receipt, indent=2) + "\n")
    built.done = True
