"""The machine on which the lab runs: its packages, its cache, its Debian archive and its commands."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# These packages have the same names in Debian 12/13 and Ubuntu 24.04.
_COMMON = (
    "podman runc uidmap mmdebstrap debian-archive-keyring openssh-client apt-utils gpg gpg-agent gpgv xz-utils "
    "ca-certificates git make"
).split()
PACKAGES = [*_COMMON, *"fuse-overlayfs netavark aardvark-dns iptables nftables iproute2".split()]
ROOTLESS_PACKAGES = [*_COMMON, "slirp4netns"]

CHECKOUT = Path(__file__).parents[1]
#: The kernel's name for a machine -> the name in Debian and podman.
DEBIAN_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

# After `su` without `-`, root has a user's PATH, without the sbin directories where podman looks for iptables.
os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"


class LabError(Exception):
    """A failure of the lab that the user can fix, with a one-sentence cause and a one-sentence remedy."""


def say(text: str) -> None:
    """Print a progress line immediately, even if standard output is a file."""
    print(f"lab: {text}", flush=True)


def native_architecture() -> str:
    """Return Debian's name for this machine's architecture: ``amd64`` or ``arm64``."""
    machine = platform.machine()
    if machine not in DEBIAN_ARCHITECTURES:
        raise LabError(f"The lab does not know the machine {machine}. Run it on x86_64 or aarch64.")
    return DEBIAN_ARCHITECTURES[machine]


def cache_directory() -> Path:
    """Return the directory, outside any checkout, for everything that is slow to create."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sparkforge"
    directory = Path(os.environ.get("SPARKFORGE_CACHE", default))
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def owner() -> str:
    """Return 6 hexadecimal digits that identify this checkout and the account that uses it, even through sudo."""
    return digest_of(str(CHECKOUT.resolve()), int(os.environ.get("SUDO_UID") or os.getuid()))[:6]


def repositories() -> Path:
    """Return the directory with the git repositories that this checkout's benches serve; each checkout has its own."""
    return cache_directory() / "git" / owner()


def run(*command: str | Path, quiet: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command and return its result.

    :raises LabError: with the end of the command's output, if it fails.
    """
    argv = [str(word) for word in command]
    result = subprocess.run(argv, text=True, capture_output=True, check=False, **options)
    if result.returncode and not quiet:
        tail = "\n".join((result.stdout + result.stderr).strip().splitlines()[-15:])
        raise LabError(f"`{' '.join(argv)}` exited with {result.returncode}:\n{tail}")
    return result


def files() -> list[str]:
    """Return the paths of the checkout's files that git tracks or would track; an unpacked release needs no git."""
    with tempfile.TemporaryDirectory() as folder:
        git: list[str] = ["git"]
        if not (CHECKOUT / ".git").exists():
            run("git", "init", "-q", folder)
            git += [f"--git-dir={folder}/.git", f"--work-tree={CHECKOUT}"]
        listed = run(*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=CHECKOUT).stdout
    return sorted(name for name in set(listed.split("\0")) if name and os.path.lexists(CHECKOUT / name))


def digest_of(*parts: object) -> str:
    """Return 12 hexadecimal digits that identify ``parts``, as a cache key."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]


@contextmanager
def step(text: str) -> Iterator[None]:
    """Announce a step, and its duration when it is done."""
    say(f"{text} …")
    start = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - start:.0f} s")


def rootless() -> bool:
    """Tell whether the lab runs without root, where podman's containers have ports on this machine but no addresses."""
    return os.geteuid() != 0 and bool(os.environ.get("LAB_ROOTLESS"))


def require_rootless() -> None:
    """Check for everything podman needs to run without root; only root can provide it.

    :raises LabError: if something is missing.
    """
    if missing := _missing(ROOTLESS_PACKAGES):
        raise LabError(f"Without root the lab needs {' '.join(missing)}. Ask root to install them with apt-get.")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        cause = "/dev/net/tun, which gives containers their network, is closed to you."
        raise LabError(f"{cause} Have root open it, as Debian's udev does: chmod 0666 /dev/net/tun.")
    if (tried := run("podman", "unshare", "true", quiet=True)).returncode:
        raise LabError(f"podman does not run without root here. Correct the cause of its error: {tried.stderr.strip()}")


def _missing(packages: Iterable[str]) -> list[str]:
    query = run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages, quiet=True).stdout
    present = {line.split()[0] for line in query.splitlines() if line.endswith(" installed")}
    return [package for package in packages if package not in present]


def install_packages(packages: Iterable[str] = PACKAGES) -> None:
    """Install, once, the packages that the lab needs from the distribution."""
    if rootless():
        require_rootless()
        return
    if os.geteuid() != 0:
        raise LabError("The lab starts containers with addresses of their own. Run it with lab/as_root.")
    # Test workers start their benches together, and apt-get does not wait for another process's lock on the lists.
    with (cache_directory() / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = _missing(packages)
        if not missing:
            return
        with step(f"installing {len(missing)} packages: {' '.join(missing)}"):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            run("apt-get", "update", "-q", env=environment)
            run("apt-get", "install", "-y", "-q", "--no-install-recommends", *missing, env=environment)


def debian_archive() -> str:
    """Return the Debian archive from this machine's configuration, or Debian's own."""
    if "LAB_DEBIAN_ARCHIVE" in os.environ:
        return os.environ["LAB_DEBIAN_ARCHIVE"]
    sources = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    archive = _archives_in(path.read_text(errors="replace") for path in sources if path.is_file())
    return archive or "http://deb.debian.org/debian"


def _archives_in(texts: Iterable[str]) -> str | None:
    for text in texts:
        if match := re.search(r"^(?:URIs:|deb)\s+(?:\[[^\]]*\]\s+)?(https?://\S+/debian)/?(?:\s|$)", text, re.M):
            return match[1]
    return None


def require(tool: str) -> str:
    """Return the path of a command that :func:`install_packages` provides."""
    path = shutil.which(tool)
    if not path:
        raise LabError(f"The command {tool} is missing. Run `python -m lab up`, which installs it.")
    return path


def fail(error: LabError) -> int:
    """Print a failure as one message and return its exit code."""
    print(f"lab: error: {error}", file=sys.stderr, flush=True)
    return 1
