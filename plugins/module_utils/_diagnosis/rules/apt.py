# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file. What its fields mean: __init__.py beside it.

"""apt and dpkg

Sources, keys, locks and packages.
"""

RULES = r"""
[apt-signed-by-conflict]
keys = Conflicting values set for option Signed-By
pattern = Conflicting values set for option Signed-By regarding source (\S+)
cause = Two apt sources name {found} with different keys: DGX OS has its own, and cuda-keyring added a second.
remedy = Remove the added one (the package cuda-keyring); the role cuda_libraries detects a source by its URL.
from = apt 2.6, two sources as cuda-keyring makes them
example =
    E: Conflicting values set for option Signed-By regarding source file:/opt/sparkforge/builds/demo/0f1e2d3c4b5 [...]

[apt-later-version]
keys =
    A later version is already installed
    without --allow-downgrades
    will not downgrade
pattern =
    A later version is already installed
    without --allow-downgrades
    will not downgrade (\S+)
cause = A package is installed in a later version than the one asked for.
remedy = Keep the later one and correct the pin; nothing here downgrades a package.
from = dpkg 1.21
example = dpkg: will not downgrade tzdata from 2025b-0+deb12u2 to 0.1, skipping
from = composed after the table of failures
example = fatal: [spark01]: FAILED! => {"changed": false, "msg": "A later version is already installed"}

[apt-locked]
keys =
    Could not get lock
    Unable to acquire the dpkg frontend lock
pattern =
    Could not get lock (\S+?)\.? +It is held by (?P<holder>process \d+ \([^)\n]+\))
    Could not get lock (\S+)
    Unable to acquire the dpkg frontend lock \(([^)\n]+)\)
cause = Another program holds apt's lock: {found}[ ({holder})].
remedy = Wait until it ends (unattended-upgrades and the OTA updater take minutes), or raise
    sparkforge_apt_lock_timeout.
from = apt 2.6, a lock held by another process
example = E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 859 (python3)

[apt-key-missing]
keys =
    NO_PUBKEY
    EXPKEYSIG
pattern = (?:NO_PUBKEY|EXPKEYSIG) (\w+)
cause = apt lacks the key {found} of a repository, or the key has expired.
remedy = Install the package that brings it again: nvidia-spark-repo for the Spark's, cuda-keyring for CUDA's.
from = apt 2.6, a repository signed by an unknown key
example =
      The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 558D844B06C76F4A

[apt-interrupted]
keys = dpkg was interrupted
pattern = dpkg was interrupted
cause = An earlier run of dpkg was interrupted.
remedy = Run 'dpkg --configure -a' as root, then run again.
from = apt 2.6
example = E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.

[apt-hash]
keys =
    Hash Sum mismatch
    File has unexpected size
pattern =
    Hash Sum mismatch
    File has unexpected size
cause = A file of an apt repository is not the one that its index names.
remedy = Run again in some minutes: a mirror that is being updated or a caching proxy serves parts of two states.
from = apt 2.6
example =   Hash Sum mismatch

[apt-no-package]
keys =
    Unable to locate package
    has no installation candidate
pattern =
    Unable to locate package (\S+)
    Package '?([^\s']+)'? has no installation candidate
cause = No apt source of this host has the package {found}.
remedy = Run the role that adds its source (cuda_libraries for NVIDIA's), or correct the name for this distribution.
from = apt 2.6
example = E: Unable to locate package libcudss0-cuda-13

[apt-unmet]
keys =
    have unmet dependencies
    have held broken packages
pattern =
    packages have unmet dependencies:\s+(\S+)
    held broken packages
cause = apt cannot install {found} together with what is there.
remedy = See the lines below for what it wants; DGX OS pins packages in /etc/apt/preferences.d, which must stay.
from = apt 2.6
example =
    The following packages have unmet dependencies:
     demo-x : Depends: libnothing (>= 3) but it is not installable
"""
