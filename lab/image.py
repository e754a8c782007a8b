"""The operating system of a simulated Spark: Debian 13 for one architecture, as a container image.

The image is pulled from a registry if one answers, and otherwise built with mmdebstrap.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lab.host import cache_directory, debian_archive, digest_of, install_packages, rootless, run, say, step

SUITE = "trixie"
REGISTRY_IMAGE = "docker.io/library/debian:trixie-slim"
NAME = "localhost/sparkforge-lab"

# Packages that a factory-fresh DGX Spark has and a minimal Debian lacks. Compilers, Python headers and venv are left
# out on purpose, because the collection installs them.
FACTORY_PACKAGES = "python3 python3-apt openssh-server sudo ca-certificates gpg gpgv iproute2 procps kmod acl".split()

# A Spark runs systemd; most tests do without it, because it takes seconds to start and does not run under emulation.
INIT_PACKAGES = {"sshd": [], "systemd": ["systemd-sysv", "dbus"]}

# Settings that save minutes under emulation: no fsync of each unpacked file, no documentation, and only a few of the
# 140 certificate authorities, for each of which update-ca-certificates starts several programs. Some, such as ISRG's,
# are kept, because the file of all authorities must not be empty.
DPKG_SETTINGS = ["force-unsafe-io", "path-exclude=/usr/share/doc/*", "path-exclude=/usr/share/man/*"]
FEW_AUTHORITIES = "path-exclude=/usr/share/ca-certificates/mozilla/[!I]*"

# The user who runs Ansible: sudo asks for a password, as it does on a Spark.
USER, PASSWORD = "spark", "spark"

PROVISION = f"""
set -eu
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
    # Write the file only once: containers that start in parallel read it and must not find it empty.
    if not settings.exists() or settings.read_text() != text:
        settings.write_text(text)
    return run("podman", *arguments, quiet=quiet, env={**os.environ, "CONTAINERS_CONF": str(settings)})


def build(architecture: str, init: str = "sshd", extra: Sequence[str] = ()) -> str:
    """Return the name of the lab's image for ``architecture`` (``amd64`` or ``arm64``), building it if missing.

    :param init: the program that its containers start: ``sshd`` or ``systemd``.
    :param extra: packages in addition to the factory's.
    """
    install_packages()
    added = [*INIT_PACKAGES[init], *extra]
    name = _name(architecture, [*FACTORY_PACKAGES, *added])

    def make(archive: Path) -> None:
        if added:
            _add_packages(build(architecture), name, added)
        else:
            _import(name, archive, architecture, lambda partial: _factory(architecture, partial))

    return _once(name, make)


def unpacked(architecture: str) -> str:
    """Return the name of an image with Python, building it if missing. Its packages are not configured.

    No program of ``architecture`` has to run for it. Under emulation, that takes a tenth of the time of :func:`build`.
    """
    install_packages()
    options = ["--variant=extract", "--include=?essential"]
    name = _name(architecture, options)

    def make(archive: Path) -> None:
        _import(name, archive, architecture, lambda part: _bootstrap(architecture, ["python3"], part, *options))

    return _once(name, make)


def _name(architecture: str, content: Sequence[str]) -> str:
    return f"{NAME}:{architecture}-{digest_of(SUITE, content, PROVISION, _dpkg_settings(), architecture)}"


def _once(name: str, make: Callable[[Path], object]) -> str:
    """Make an image unless it exists; two benches that start at the same time make it only once."""
    archive = _archive(name)
    with archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if podman("image", "exists", name, quiet=True).returncode:
            make(archive)
    return name


def root_file_system(name: str) -> Path:
    """Return the archive of an image named by :func:`build`, exporting it from podman if it is not in the cache."""
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


def _import(name: str, archive: Path, architecture: str, write: Callable[[Path], object]) -> None:
    """Import an image from its archive, which ``write`` writes if it is not in the cache."""
    if not archive.exists():
        partial = archive.with_suffix(".partial")
        with step(f"making a Debian 13 root file system for {architecture} (about 3 minutes for arm64)"):
            write(partial)
        partial.replace(archive)
    with step(f"importing {name}"):
        podman("import", "--arch", architecture, archive, name)


def _factory(architecture: str, archive: Path) -> None:
    if not _from_registry(architecture, archive):
        customize = f'--customize-hook=chroot "$1" sh -c {shlex.quote(PROVISION)}'
        _bootstrap(architecture, FACTORY_PACKAGES, archive, "--variant=minbase", customize)


def _from_registry(architecture: str, archive: Path) -> bool:
    pulled = podman("pull", "-q", "--arch", architecture, "--retry", "0", REGISTRY_IMAGE, quiet=True)
    if pulled.returncode:
        # Older versions of podman lack --retry; their refusal has the same status as an unreachable registry.
        pulled = podman("pull", "-q", "--arch", architecture, REGISTRY_IMAGE, quiet=True)
    if pulled.returncode:
        say("no container registry answers: making it from Debian's archive")
        return False
    with _running(architecture, REGISTRY_IMAGE) as container:
        settings = "\n".join(_dpkg_settings())
        podman("exec", container, "sh", "-c", f"printf '%s\\n' '{settings}' > /etc/dpkg/dpkg.cfg.d/lab")
        _install(container, FACTORY_PACKAGES)
        podman("exec", container, "sh", "-c", PROVISION)
        podman("export", "-o", archive, container)
    return True


def _add_packages(factory: str, name: str, packages: Sequence[str]) -> None:
    architecture = factory.partition(":")[2].partition("-")[0]
    with step(f"adding {len(packages)} packages to {factory}"), _running(architecture, factory) as container:
        _install(container, packages)
        podman("commit", "-q", container, name)


@contextlib.contextmanager
def _running(architecture: str, name: str) -> Iterator[str]:
    container = podman("create", "--arch", architecture, name, "sleep", "3600").stdout.strip()
    try:
        podman("start", container)
        yield container
    finally:
        podman("rm", "-f", "-t", "0", container, quiet=True)


def _install(container: str, packages: Sequence[str]) -> None:
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    podman("exec", container, "apt-get", "update", "-q")
    podman("exec", "--env=DEBIAN_FRONTEND=noninteractive", container, *install)
    podman("exec", container, "sh", "-c", "apt-get clean; rm -rf /var/lib/apt/lists/*")


def _bootstrap(architecture: str, packages: Sequence[str], archive: Path, *options: str) -> None:
    """Make a root file system from Debian's packages; without root, in a user namespace, without devices and mounts."""
    arguments = [f"--architectures={architecture}", f"--include={','.join(packages)}", "--format=tar", *options]
    # mmdebstrap would look for a different binfmt_misc entry from emulator.py's, so skip its check.
    arguments += [f"--mode={'unshare' if rootless() else 'root'}", "--skip=check/qemu"]
    arguments += [f"--dpkgopt={setting}" for setting in _dpkg_settings()]
    # /tmp may be small. Without root, the files have subordinate ids, which cannot access the cache.
    variables = {} if rootless() else {"TMPDIR": str(archive.parent)}
    run("mmdebstrap", *arguments, SUITE, archive, debian_archive(), env={**os.environ, **variables})


def _dpkg_settings() -> list[str]:
    """Return dpkg's settings in the image; an archive reached through TLS needs its certificate authority."""
    return [*DPKG_SETTINGS, *([] if debian_archive().startswith("https:") else [FEW_AUTHORITIES])]
