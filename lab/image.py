"""The operating system of a simulated Spark: Debian 13 for one architecture, as a container image.

Pulled from a registry where one answers, made with debootstrap or, without root, mmdebstrap where none does.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.host import cache_directory, debian_archive, digest_of, rootless, run, say, step

SUITE = "trixie"
REGISTRY_IMAGE = "docker.io/library/debian:trixie-slim"
NAME = "localhost/sparkforge-lab"

# What a DGX Spark has from the factory and a minimal Debian has not. Compilers, Python headers and venv are
# left out on purpose: bringing them is the collection's work.
FACTORY_PACKAGES = "python3 python3-apt openssh-server sudo ca-certificates gpg gpgv iproute2 procps kmod acl".split()

# A Spark runs systemd; most tests do without, since it takes seconds to start and does not run under emulation.
INIT_PACKAGES = {"sshd": [], "systemd": ["systemd-sysv", "dbus"]}

# fsync of each unpacked file and documentation would triple the time under emulation.
DPKG_SETTINGS = "force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\n"

# The person who runs Ansible: sudo asks for a password, as it does on a Spark.
USER, PASSWORD = "spark", "spark"

PROVISION = f"""
set -eu
printf '%s' '{DPKG_SETTINGS}' > /etc/dpkg/dpkg.cfg.d/test-bench
useradd --create-home --shell /bin/bash {USER}
echo '{USER}:{PASSWORD}' | chpasswd
usermod -aG sudo {USER}
install -d -m 0700 -o {USER} -g {USER} /home/{USER}/.ssh
install -d -m 0755 /run/sshd
rm -f /etc/ssh/ssh_host_*
"""


def podman(*arguments: str | Path, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """Run podman with the settings that unprivileged rlimits and cgroup v1 need (lab/README.md)."""
    settings = cache_directory() / "containers.conf"
    text = '[containers]\ndefault_ulimits = []\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n'
    # Written once: containers that start side by side read it, and must not find it empty.
    if not settings.exists() or settings.read_text() != text:
        settings.write_text(text)
    return run("podman", *arguments, quiet=quiet, env={**os.environ, "CONTAINERS_CONF": str(settings)})


def build(architecture: str, init: str = "sshd", extra: Sequence[str] = ()) -> str:
    """Return the name of the lab's image for ``architecture`` (``amd64`` or ``arm64``), made when missing.

    :param init: what its containers start: ``sshd`` or ``systemd``.
    :param extra: packages beside those of the factory.
    """
    packages = [*FACTORY_PACKAGES, *INIT_PACKAGES[init], *extra]
    name = f"{NAME}:{architecture}-{digest_of(SUITE, packages, PROVISION, architecture)}"
    archive = _archive(name)
    with archive.with_suffix(".lock").open("w") as lock:
        # Two benches that start at once make the image once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build(name, archive, architecture, packages)
    return name


def root_file_system(name: str) -> Path:
    """Return the archive of an image that :func:`build` named, taken from podman where the cache has lost it."""
    archive = _archive(name)
    with archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            partial = archive.with_suffix(".partial")
            container = podman("create", name, "true").stdout.strip()
            try:
                podman("export", "-o", partial, container)
            finally:
                podman("rm", "-f", container, quiet=True)
            partial.replace(archive)
    return archive


def _archive(name: str) -> Path:
    directory = cache_directory() / "images"
    directory.mkdir(exist_ok=True)
    return directory / f"{name.partition(':')[2]}.tar"


def _build(name: str, archive: Path, architecture: str, packages: list[str]) -> None:
    if podman("image", "exists", name, quiet=True).returncode == 0:
        return
    if not archive.exists():
        partial = archive.with_suffix(".partial")
        with step(f"making a Debian 13 root file system for {architecture} (about 4 minutes for arm64)"):
            made = _from_mmdebstrap if rootless() else _from_debootstrap
            _from_registry(architecture, packages, partial) or made(architecture, packages, partial)
        partial.replace(archive)
    with step(f"importing {name}"):
        podman("import", "--arch", architecture, archive, name)


def _from_registry(architecture: str, packages: list[str], archive: Path) -> bool:
    pulled = podman("pull", "-q", "--arch", architecture, "--retry", "0", REGISTRY_IMAGE, quiet=True)
    if pulled.returncode:
        # Older podman has no --retry: its refusal and an unreachable registry end the same way.
        pulled = podman("pull", "-q", "--arch", architecture, REGISTRY_IMAGE, quiet=True)
    if pulled.returncode:
        say("no container registry answers: making it from Debian's archive")
        return False
    container = podman("create", "--arch", architecture, REGISTRY_IMAGE, "sleep", "3600").stdout.strip()
    try:
        podman("start", container)
        _provision(lambda *command: podman("exec", container, *command), install=packages)
        podman("export", "-o", archive, container)
    finally:
        podman("rm", "-f", "-t", "0", container, quiet=True)
    return True


def _from_debootstrap(architecture: str, packages: list[str], archive: Path) -> bool:
    root = archive.with_suffix(".root")
    shutil.rmtree(root, ignore_errors=True)
    try:
        run(
            "debootstrap",
            f"--arch={architecture}",
            "--variant=minbase",
            f"--include={','.join(packages)}",
            SUITE,
            root,
            debian_archive(),
        )
        _provision(lambda *command: run("chroot", root, *command), install=[])
        run("tar", "-C", root, "--numeric-owner", "-cf", archive, ".")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return True


def _from_mmdebstrap(architecture: str, packages: list[str], archive: Path) -> bool:
    """The same without root: mmdebstrap makes its own user namespace, in which debootstrap may make no devices."""
    words = [f"--architectures={architecture}", f"--include={','.join(packages)}", "--mode=unshare", "--format=tar"]
    words += ["--variant=minbase", f'--customize-hook=chroot "$1" sh -c {shlex.quote(PROVISION)}']
    run("mmdebstrap", *words, SUITE, archive, debian_archive())
    return True


def _provision(execute: Callable[..., object], *, install: list[str]) -> None:
    if install:
        execute("apt-get", "update", "-q")
        execute("apt-get", "install", "-y", "-q", "--no-install-recommends", *install)
    execute("sh", "-c", PROVISION)
    execute("sh", "-c", "apt-get clean; rm -rf /var/lib/apt/lists/*")
