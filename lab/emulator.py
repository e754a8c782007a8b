"""ARM64 emulation: qemu-user from Debian 13, and its entry in binfmt_misc, which is restored afterwards.

Debian 12 ships qemu 7.2, which runs Python code eight times more slowly than the qemu 10 used here (lab/README.md), so
the emulator always comes from Debian 13.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.host import LabError, cache_directory, debian_archive, native_architecture, rootless, run, say, step

SUITE = "trixie"
BINFMT = Path("/proc/sys/fs/binfmt_misc")
ENTRY = "sparkforge-aarch64"
# The kernel keeps one entry until it restarts, shared by all users of the machine, each of whom has a separate cache.
STATE = Path("/run/sparkforge-lab")
# Type EM_AARCH64 (0xb7), 64-bit little-endian, ET_EXEC or ET_DYN: the kernel's admin guide, binfmt-misc.
MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
# P keeps argv[0]; F opens the emulator now, so that it works inside containers; C respects set-user-ID files (and
# passes an open one), without which sudo does not work.
FLAGS = "PFC"


def binary() -> Path:
    """Return the static qemu-aarch64, downloaded from Debian 13's archive the first time."""
    target = cache_directory() / "emulator" / "qemu-aarch64"
    if target.exists():
        return target
    with step("fetching qemu-user of Debian 13 (71 MB)"):
        work = target.parent / "apt"
        for folder in ("lists/partial", "archives/partial", "parts", "unpacked"):
            (work / folder).mkdir(parents=True, exist_ok=True)
        keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
        (work / "sources.list").write_text(f"deb [signed-by={keyring}] {debian_archive()} {SUITE} main\n")
        (work / "status").touch()
        settings = {
            "Dir::Etc::SourceList": work / "sources.list",
            "Dir::Etc::SourceParts": work / "parts",
            "Dir::State::Lists": work / "lists",
            "Dir::State::Status": work / "status",
            "Dir::Cache": work,
            "APT::Architecture": native_architecture(),
            "APT::Sandbox::User": "root",
        }
        apt = [
            "apt-get",
            "-q",
            *(word for key, value in settings.items() for word in ("-o", f"{key}={value}")),
        ]
        run(*apt, "update")
        run(*apt, "download", "qemu-user", cwd=work)
        package = max(work.glob("qemu-user_*.deb"), key=lambda path: path.stat().st_mtime)
        run("dpkg-deb", "-x", package, work / "unpacked")
        (work / "unpacked/usr/bin/qemu-aarch64").replace(target)
        run("rm", "-rf", work)
    return target


@contextmanager
def _registry() -> Iterator[dict[str, Any]]:
    """Lock and yield the list of benches that use the emulator, and the state before the first of them."""
    STATE.mkdir(exist_ok=True)
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = STATE / "binfmt.json"
        state = json.loads(path.read_text()) if path.exists() else {"users": [], "mounted": False, "disabled": []}
        yield state
        path.write_text(json.dumps(state))


def register(user: str) -> None:
    """Let this machine run ARM64 programs for the bench ``user``."""
    if native_architecture() == "arm64":
        return
    if rootless():
        raise LabError("ARM64 needs an emulator here, which only root can register. Use PLATFORM=native.")
    with _registry() as state:
        if not (BINFMT / "register").exists():
            run("mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT)
            state["mounted"] = True
        if not (BINFMT / ENTRY).exists():
            emulator = binary()
            # If the machine has restarted since, the recorded state no longer applies.
            state["users"], state["disabled"] = [], []
            for other in sorted(BINFMT.iterdir()):
                if other.name in ("register", "status"):
                    continue
                text = other.read_text()
                if "7f454c460201" in text and "0200b700" in text and text.startswith("enabled"):
                    other.write_text("0")
                    state["disabled"].append(other.name)
            (BINFMT / "register").write_text(f":{ENTRY}:M::{MAGIC}:{MASK}:{emulator}:{FLAGS}")
            say(f"registered {emulator} for ARM64 programs")
        if user not in state["users"]:
            state["users"].append(user)


def release(user: str) -> None:
    """Restore binfmt_misc when the last bench that uses the emulator is released."""
    if native_architecture() == "arm64" or rootless():
        return
    with _registry() as state:
        if user in state["users"]:
            state["users"].remove(user)
        if state["users"] or not (BINFMT / ENTRY).exists():
            return
        (BINFMT / ENTRY).write_text("-1")
        for other in state["disabled"]:
            (BINFMT / other).write_text("1")
        if state["mounted"]:
            run("umount", BINFMT)
        state.update(mounted=False, disabled=[])
        say("binfmt_misc is as it was")
