# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What of a host's boot an upgrade needs: the kernel and the driver that run, and the trial of a new kernel.

In a trial GRUB boots the new kernel once and the former one by default: whatever the new one does, the next boot, also
after a power cycle, is of the former one. Only ``health``, on the new kernel, makes that one the default.
"""

from __future__ import annotations

import os
import re
import shutil
import typing as t

from .._core import bundle, disk
from .._core.errors import SparkforgeError
from .._host.reader import Host
from . import grub, health

DROP_IN = "/etc/default/grub.d/zz-sparkforge-update.cfg"
UNIT = "sparkforge-update-health.service"
UNITS = "/etc/systemd/system"
#: A panic reboots instead of waiting for a person; Linux waits for ever by default.
_SETTINGS = """# Written by an upgrade, which removes it when it ends: GRUB boots the kernel that saved_entry names.
GRUB_DEFAULT=saved
GRUB_SAVEDEFAULT=false
GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX panic=30"
"""
#: File systems and layers to which GRUB cannot write its environment, by GRUB's own list (util/grub.d/00_header.in).
_NO_WRITE = {"btrfs", "cpiofs", "newc", "odc", "romfs", "squash4", "tarfs", "zfs"}
#: A variable of GRUB's environment, written with the one-time entry. GRUB takes only that one away when it boots it.
TRIAL = "sparkforge_trial"
#: Seconds in which the driver and the network have to be there.
SECONDS = 180
REFUSE = "Nothing was changed. "
OTHERWISE = "Or set update_kernel: hold, which leaves the kernel as it is."

_MAIN = f"""import sys

from {bundle.PACKAGE}._update.health import main

sys.exit(main(sys.argv[1:]))
"""


def running(host: Host) -> str | None:
    """Return the release that runs."""
    return (host.read("/proc/sys/kernel/osrelease") or "").strip() or None


def boot_id(host: Host) -> str | None:
    """Return the id of this boot."""
    return (host.read("/proc/sys/kernel/random/boot_id") or "").strip() or None


def driver(host: Host) -> str | None:
    """Return the version of the NVIDIA module that is loaded."""
    return (host.read("/sys/module/nvidia/version") or "").strip() or None


def _files(release: str | None) -> tuple[str, str]:
    return f"vmlinuz-{release}", f"initrd.img-{release}"


def keep_kernel(host: Host, folder: str, release: str | None) -> None:
    """Copy the kernel that runs and its initial RAM disk, which packages may write anew."""
    place = os.path.join(folder, "boot")
    for name in _files(release):
        source = host.path(f"/boot/{name}")
        if os.path.isfile(source):
            disk.make_directories(place)
            shutil.copy2(source, os.path.join(place, name))


def restore_kernel(host: Host, folder: str, release: str | None) -> None:
    """Put back what of the kept kernel is no longer in /boot."""
    for name in _files(release):
        kept, place = os.path.join(folder, "boot", name), host.path(f"/boot/{name}")
        if os.path.isfile(kept) and not os.path.exists(place):
            temporary = disk.beside(place)
            shutil.copy2(kept, temporary)
            disk.fsync_file(temporary)
            os.replace(temporary, place)


def default(host: Host) -> str:
    """Return the owner's GRUB_DEFAULT."""
    folder = os.path.dirname(DROP_IN)
    files = ["/etc/default/grub", *(f"{folder}/{name}" for name in host.names(folder) if name.endswith(".cfg"))]
    text = "\n".join(host.read(path) or "" for path in files if path != DROP_IN)
    found = re.findall(r"^\s*GRUB_DEFAULT=[\"']?([^\"'\n]*)", text, re.M)
    return found[-1] if found else "0"


# -- the trial of a new kernel


def check_shutdown(host: Host) -> None:
    """Refuse a host that is about to go down.

    :raises SparkforgeError: if it is.
    """
    if host.is_file("/run/systemd/shutdown/scheduled") or host.is_file("/run/nologin"):
        raise SparkforgeError(
            "The host is about to reboot or to shut down.", f"{REFUSE}Wait until it is back, or run `shutdown -c`."
        )


def check_trial(host: Host, release: str | None) -> None:
    """Refuse a host on which a new kernel could not be booted just once.

    :param release: the kernel that runs.
    :raises SparkforgeError: with the reason; nothing was changed.
    """

    def refuse(cause: str, remedy: str) -> SparkforgeError:
        return SparkforgeError(f"A new kernel cannot be tried here: {cause}.", f"{REFUSE}{remedy} {OTHERWISE}")

    menu = host.read(grub.MENU)
    image = re.search(r"BOOT_IMAGE=(\S+)", host.read("/proc/cmdline") or "")
    if menu is None or not host.command("update-grub") or not image or not image[1].endswith(f"vmlinuz-{release}"):
        raise refuse("GRUB does not boot this host", "Upgrade the kernel by hand, with a console at hand.")
    if "next_entry" not in menu or release not in grub.entries(menu):
        raise refuse(
            f"GRUB's menu has no entry of the running kernel {release} that can be booted once", "Run `update-grub`."
        )
    chosen = default(host)
    if chosen != "saved" and (chosen != "0" or grub.first(menu) != release):
        raise refuse(
            f"GRUB_DEFAULT is {chosen}, which does not lead to the running kernel {release}",
            "Set it to 0 or saved, run `update-grub`, and reboot.",
        )
    block = grub.read_block(host.path(grub.BLOCK))
    if block is None:
        raise refuse("GRUB has no environment block", "Run `grub-editenv /boot/grub/grubenv create`.")
    if block.get("next_entry"):
        raise refuse(
            f"GRUB already has a one-time entry, {block['next_entry']}",
            "Reboot, or run `grub-editenv - unset next_entry`.",
        )
    for target in ("abstraction", "fs"):
        status, said, _error = host.run(["grub-probe", f"--target={target}", "/boot/grub"])
        if status == 0 and said.strip() and (target == "abstraction" or said.strip() in _NO_WRITE):
            raise refuse(
                f"GRUB cannot write to /boot, which is on {said.strip()}, so a one-time entry would stay for ever",
                "Upgrade the kernel by hand, with a console at hand.",
            )
    sizes = [os.stat(host.path(f"/boot/{name}")).st_size for name in _files(release) if host.is_file(f"/boot/{name}")]
    room = host.statvfs("/boot")
    # While an initial RAM disk is written anew, the former one is still there.
    if room.f_bavail * room.f_frsize < 2 * sum(sizes):
        raise refuse(
            f"/boot has {room.f_bavail * room.f_frsize >> 20} MiB, and {2 * sum(sizes) >> 20} MiB are needed",
            "Remove kernels that are neither running nor the way back.",
        )


def _update_grub(host: Host) -> None:
    status, said, error = host.run(["update-grub"])
    if status:
        last = " ".join((error or said).strip().rpartition("\n")[2].split())
        raise SparkforgeError(f"update-grub failed: {last or status}.", "Run it by hand, then the same command again.")


def _entry(host: Host, release: str) -> str:
    found = grub.entries(host.read(grub.MENU) or "").get(release)
    if found is None:
        raise SparkforgeError(
            f"GRUB's menu has no entry of the kernel {release}.", "Run `update-grub`, then the same command again."
        )
    return found


def pin(host: Host, release: str) -> None:
    """Have GRUB boot a kernel by default, whatever newer ones are installed."""
    grub.write_block(host.path(grub.BLOCK), **{"saved_entry": _entry(host, release), "next_entry": "", TRIAL: ""})
    path = host.path(DROP_IN)
    disk.make_directories(os.path.dirname(path))
    disk.write_file(path, _SETTINGS.encode())
    _update_grub(host)
    if 'default="${saved_entry}"' not in (host.read(grub.MENU) or ""):
        raise SparkforgeError(
            f"GRUB does not take its default from {DROP_IN}.", "Look at what /etc/default/grub.d sets after it."
        )


def pinned(host: Host) -> bool:
    """Tell whether an upgrade decides what GRUB boots."""
    return host.is_file(DROP_IN)


def arm(host: Host, folder: str, trial: t.Mapping[str, t.Any]) -> None:
    """Have GRUB boot a new kernel once, and the host confirm it."""
    path = os.path.join(folder, "trial.json")
    if trial["new"] not in grub.entries(host.read(grub.MENU) or ""):
        _update_grub(host)  # the hook of the kernel's package was cut off, or is not there
    entry = _entry(host, trial["new"])
    health.write(path, {**trial, "entry": entry, "seconds": SECONDS, "boots": 0, "result": None, "why": ""})
    program = os.path.join(folder, "health.pyz")
    disk.write_file(program, bundle.archive({**bundle.files(health.__name__), "__main__.py": _MAIN}), 0o755)
    unit = f"""# Written by an upgrade, which removes it when it ends.
[Unit]
Description=Confirms the new kernel, or boots the former one again
After=local-fs.target

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -I -B {program} confirm {path}

[Install]
WantedBy=multi-user.target
"""
    wants = host.path(f"{UNITS}/multi-user.target.wants")
    disk.make_directories(wants)
    disk.write_file(host.path(f"{UNITS}/{UNIT}"), unit.encode())
    disk.switch_symlink(os.path.join(wants, UNIT), f"../{UNIT}")
    # Last: from here on the next boot, of whatever reason, is the trial.
    grub.write_block(host.path(grub.BLOCK), **{"next_entry": entry, TRIAL: trial["new"]})


def was_tried(host: Host, new: str) -> bool:
    """Tell whether GRUB has booted the one-time entry of a new kernel, whatever became of it."""
    block = grub.read_block(host.path(grub.BLOCK)) or {}
    return block.get(TRIAL) == new and not block.get("next_entry")


def judge(host: Host, folder: str, new: str) -> None:
    """Tell what came of a trial.

    :raises SparkforgeError: if the new kernel is not confirmed.
    """
    trial, now = health.read(os.path.join(folder, "trial.json")), running(host)
    confirmed = trial.get("result") == health.CONFIRMED
    if now == new and confirmed:
        return
    if now == new:
        raise SparkforgeError(f"The new kernel {new} runs and is not confirmed.", f"Look at `systemctl status {UNIT}`.")
    block = grub.read_block(host.path(grub.BLOCK)) or {}
    back = f"The host is back on {now}"
    if confirmed:
        cause = f"The new kernel {new} was confirmed, and another one was booted since. {back}."
    elif block.get("next_entry"):
        cause = f"GRUB booted {now} without its one-time entry of {new}."
    elif trial.get("result") == health.FAILED:
        cause = f"The new kernel {new} was booted once: {trial['why']}. {back}."
    elif trial.get("boots"):
        cause = f"The new kernel {new} was booted once, and stopped before it was confirmed. {back}."
    else:
        cause = f"The new kernel {new} was booted once, and did not come up: it panicked or hung. {back}."
    raise SparkforgeError(cause, "Look at /var/lib/systemd/pstore for what it said last.")


def turn_back(host: Host, release: str) -> None:
    """Have GRUB boot the former kernel again, also if the new one is confirmed."""
    if pinned(host):
        grub.write_block(host.path(grub.BLOCK), saved_entry=_entry(host, release), next_entry="")


def unpin(host: Host) -> None:
    """Leave to the owner's settings what GRUB boots, and remove what confirms a kernel."""
    for path in (f"{UNITS}/multi-user.target.wants/{UNIT}", f"{UNITS}/{UNIT}"):
        disk.remove(host.path(path))
    if pinned(host):
        grub.write_block(host.path(grub.BLOCK), **{TRIAL: ""})
        disk.remove(host.path(DROP_IN))
        _update_grub(host)
