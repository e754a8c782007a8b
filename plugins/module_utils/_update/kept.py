# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an upgrade keeps of the time before, below its folder: the packages' files and a copy of /etc."""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import typing as t

from .._apt.apt_get import Apt
from .._core import disk
from .._core.errors import SparkforgeError
from .._host.reader import Host

#: Modified configuration files are kept, as everywhere in this collection; recommended packages come as apt has it set.
OPTIONS = (
    *("-o", "Dpkg::Options::=--force-confold", "-o", "Dpkg::Use-Pty=0"),
    *("-o", "APT::Get::AutomaticRemove=0", "-o", "APT::Sandbox::User="),
)
DEBS, CONFIGURATION = "debs", "etc.tar.gz"


def keep_packages(apt: Apt, host: Host, folder: str, changed: t.Mapping[str, str]) -> set[str]:
    """Keep the files of the versions that go, as far as a source or apt's cache has them; return the packages."""
    policies = apt.policies(sorted(changed)) if changed else {}
    debs, kept = os.path.join(folder, DEBS), set()
    for name, version in changed.items():
        plain, file = name.partition(":")[0], version.replace(":", "%3a")
        cached = [
            one
            for one in host.names("/var/cache/apt/archives")
            if one.startswith(f"{plain}_{file}_") and one.endswith(".deb")
        ]
        if cached:
            shutil.copy2(host.path(f"/var/cache/apt/archives/{cached[0]}"), os.path.join(debs, cached[0]))
            kept.add(name)
            continue
        policy = policies.get(name) or policies.get(plain)
        if policy and version in policy.origins:
            with contextlib.suppress(SparkforgeError):
                argv = ["env", "-C", debs, "apt-get", "download", "-q", *OPTIONS, f"{name}={version}"]
                apt.run(argv, f"download {name} {version}")
                kept.add(name)
    return kept


def keep_configuration(host: Host, folder: str) -> None:
    """Keep a copy of /etc."""
    path = os.path.join(folder, CONFIGURATION)
    temporary = disk.beside(path)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
            archive.add(host.path("/etc"), "etc")
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, path)


def file_of(folder: str, name: str, version: str) -> str:
    """Return the file that was kept of a package.

    :raises SparkforgeError: if it is gone.
    """
    debs = os.path.join(folder, DEBS)
    start = f"{name.partition(':')[0]}_{version.replace(':', '%3a')}_"
    found = next((one for one in disk.names(debs) if one.startswith(start) and one.endswith(".deb")), None)
    if found is None:
        raise SparkforgeError(f"{debs} has no file of {name} {version} any more.", "Install it by hand, then again.")
    return os.path.join(debs, found)
