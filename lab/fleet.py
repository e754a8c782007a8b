"""A fleet: native containers with a PyTorch that can compute, and stacks for it that build in seconds.

All containers have this machine's Python and PyTorch mounted read-only; hosts install a 26 MB wheel.
"""

from __future__ import annotations

import fcntl
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import yaml

from lab import bench as benches, image, torch
from lab.bench import Bench
from lab.host import CHECKOUT, LabError, install_packages, repositories, run, step
from lab.repositories import Repository, read_tree

NAME = "fleet"
TORCH = torch.VERSION
TREE = Path(__file__).parent / "trees" / "fleet_pytorch"
REPOSITORY = "fleet-pytorch.git"
WHEELS = "fleet-wheels"
#: A release whose products are wrong by one per cent, which only the proof detects.
WRONG = f"v{TORCH}-wrong"


class Stack(NamedTuple):
    """One of the fleet's stacks: the tag to build, and the version of typing-extensions that accompanies it."""

    tag: str
    beside: str = "4.15.0"


#: An upgrade goes from the first stack to any other. The last two need no new build.
STACKS = {
    "lab-fleet": Stack(f"v{TORCH}"),
    "lab-fleet-next": Stack(f"v{TORCH}-1"),
    "lab-fleet-wrong": Stack(WRONG),
    "lab-fleet-after": Stack(f"v{TORCH}-1", "4.14.1"),
    "lab-fleet-last": Stack(f"v{TORCH}-1", "4.14.0"),
}
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
#: Packages that the roles install on all hosts, that the faults need, and that serve the wheelhouse.
PACKAGES = "build-essential git cmake ninja-build nginx-light libfaketime rsync".split()
#: Their paths in the containers.
PYTHON_HOME, TORCH_HOME = f"/opt/lab/python{PYTHON}", "/opt/lab/site-packages"
COMMAND = f"""
printf '%s\\n' {PYTHON_HOME}/lib {TORCH_HOME}/torch/lib > /etc/ld.so.conf.d/lab-fleet.conf && ldconfig
for place in bin lib include; do ln -sfn {PYTHON_HOME}/$place/python{PYTHON} /usr/$place/python{PYTHON}; done
mkdir -p /run/sshd
exec /usr/sbin/sshd -D -e
"""

# On an overlay file system, which real hosts do not use, a directory in an image's layer cannot be renamed.
OWN = "cd /opt && cp -a sparkforge own && rm -rf sparkforge && mv own sparkforge"


def names(count: int) -> list[str]:
    """Return ``count`` names, ``spark01`` …"""
    if count < 1:
        raise LabError(f"A fleet of {count} hosts is not possible. Set HOSTS to 1 or more.")
    return [f"spark{number:02d}" for number in range(1, count + 1)]


def up(hosts: list[str], name: str = NAME, folder: Path | None = None) -> Bench:
    """Bring up a fleet and return its bench; ``<folder>/fleet.yml`` describes it.

    :param folder: where the copy of the checkout's inventory is written; by default, the bench's own directory.
    """
    install_packages()
    bench = Bench.load(name) or Bench(name, "native")
    bench.save()
    folder = folder or inventory(name).parent
    make_sources()
    benches.make_ssh_key(bench)
    folder.mkdir(parents=True, exist_ok=True)
    join(bench, hosts, folder)
    benches.build_mirror(bench.platform)
    benches.serve_mirror(bench)
    benches.write_inventory(bench, folder, "lab-fleet")
    add_stack(bench, folder, "lab-fleet")
    return bench


def inventory(name: str = NAME) -> Path:
    """Return the inventory file of a fleet that was brought up without a ``folder``."""
    return Bench(name, "native").folder / "inventory" / "fleet.yml"


def join(bench: Bench, hosts: list[str], inventory: Path, like: str | None = None) -> None:
    """Add hosts to the fleet, either in the factory state or as copies of the host ``like`` in its current state."""
    tag = image.build(bench.architecture, extra=PACKAGES)
    if like:
        tag = f"{image.NAME}:{bench.id}-{like}"
        with step(f"keeping what {like} is"):
            image.podman("commit", "-q", bench.containers[like], tag)
        bench.images.append(tag)
    mounts = ["--volume", f"{_python()}:{PYTHON_HOME}:ro", "--volume", f"{real_torch()}:{TORCH_HOME}:ro"]
    with step(f"{len(hosts)} containers"):
        benches.start(bench, hosts, tag, mounts, ["sh", "-c", COMMAND])
    if like:
        with step("giving each copy its own environments"), ThreadPoolExecutor(benches.STARTERS) as pool:
            list(pool.map(lambda host: image.podman("exec", bench.containers[host], "sh", "-c", OWN), hosts))
    write_hosts(bench, inventory)


def write_hosts(bench: Bench, inventory: Path) -> None:
    """Write the inventory of the fleet's hosts: ``fleet.yml``."""
    hosts = dict.fromkeys(sorted(bench.containers))
    groups = {"lab": {"vars": {"lab_torch": f"{TORCH_HOME}/torch"}, "children": {"fleet": {"hosts": hosts}}}}
    text = yaml.safe_dump({"all": {"children": groups}}, sort_keys=False).replace(" null", "")
    (inventory / "fleet.yml").write_text(f"---\n# Written by `python -m lab up --count`.\n{text}")


def add_stack(bench: Bench, folder: Path, name: str) -> None:
    """Add one of STACKS and its lock to the inventory, as a site would add its own stack."""
    tag, beside = STACKS[name]
    definition = yaml.safe_load((CHECKOUT / "inventory/stacks/lab-native.yml").read_text())["stack_definition"]
    definition |= {
        "description": f"The lab's fleet: PyTorch {TORCH} for the CPU, one unit of it built from {tag}.",
        "machines": ["aarch64" if bench.architecture == "arm64" else "x86_64"],
        "python": {"version": PYTHON, "minimum": PYTHON, "maximum": PYTHON},
        "versions": {"torch": TORCH, "triton": None, "torchvision": None, "torchaudio": None},
        "wheel": {
            "available": False,
            "reason": "the fleet builds it",
            "cuda": None,
            "beside": {"typing-extensions": beside},
        },
        # Use the address, because this machine, which writes the lock, cannot resolve the name.
        "sources": {"pytorch": {"url": f"{bench.mirror['url_here']}/git/{REPOSITORY}", "ref": tag}},
        "units": {"pytorch": {"requirements": ["setuptools==79.0.1", "wheel==0.45.1"]}},
    }
    text = yaml.safe_dump({"stack_definition": definition}, sort_keys=False)
    (folder / "stacks" / f"{name}.yml").write_text(f"---\n{text}")
    links = [bench.mirror["wheels"], str(repositories() / WHEELS)]
    parts = ["archives", "sources", "requirements"]
    benches.write_lock(bench, folder / "fleet.yml", name, stack_lock_find_links=links, stack_lock_parts=parts)


def make_sources() -> None:
    """Create the repository, with a tag for each stack, and the wheels that an environment contains besides torch."""
    directory = repositories()
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{REPOSITORY}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        partial = directory / f".{REPOSITORY}.partial"
        # Remove the remains of a killed run, because otherwise new commits would be added on top of its commits.
        shutil.rmtree(partial, ignore_errors=True)
        new = Repository(partial)
        tree = read_tree(TREE)
        wrong = tree.pop("wrong.py")
        for tag in dict.fromkeys(stack.tag for stack in STACKS.values()):
            release: dict[str, bytes] = {"csrc/release.h": f'#define RELEASE "{tag}"\n'.encode()}
            if tag == WRONG:
                release["wrong.py"] = wrong
            new.commit({**tree, **release}, f"Release {tag}", tag=tag)
        final = directory / REPOSITORY
        if not final.exists() or Repository(final).references() != new.references():
            shutil.rmtree(final, ignore_errors=True)
            new.path.rename(final)
        shutil.rmtree(partial, ignore_errors=True)
        wheels = directory / WHEELS
        wheels.mkdir(exist_ok=True)
        for version in {stack.beside for stack in STACKS.values()}:
            if not list(wheels.glob(f"typing_extensions-{version}-*.whl")):
                only = ["--no-deps", "--only-binary", ":all:"]
                run(*_pip(sys.executable), "download", "-q", *only, "-d", wheels, f"typing-extensions=={version}")
        links = "".join(f'<a href="{path.name}">{path.name}</a>\n' for path in sorted(wheels.glob("*.whl")))
        (wheels / "index.html").write_text(f"<!DOCTYPE html>\n{links}")


def real_torch() -> Path:
    """Return the site-packages with the PyTorch from the package index."""
    return next((torch.environment() / "lib").glob("python3*/site-packages"))


def _pip(python: str | Path) -> list[str | Path]:
    return [python, "-m", "pip", "--disable-pip-version-check"]


def _python() -> Path:
    """Return the directory tree of this interpreter for the containers, because Debian 13 has only Python 3.13."""
    home = Path(sys.base_prefix).resolve()
    if home in (Path("/usr"), Path("/")):
        raise LabError(
            f"The fleet's containers get this Python ({PYTHON}), but {home} contains other files too. Make .venv with"
            " a Python in a directory of its own (pyenv, uv python install): make setup PYTHON=/path/to/python3."
        )
    return home
