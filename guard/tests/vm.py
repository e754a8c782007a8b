"""Runs the scenarios in a virtual machine (qemu) with little memory, a Debian kernel and this host's Python.

``PYTHONPATH=.collections python -m guard.tests.vm MODE [--runs N] [--scenario NAME …] [--out FILE]``; MODE is guard,
none or earlyoom. Each row of guard/tests/inside.py is printed with the number of cores that the machine used; FILE also
gets the output of the kernel and the guard. If a machine freezes or goes down, another one runs the remaining
scenarios. The program needs qemu-system-x86, cpio, mkfs.ext4 and root; GUARD_KVM=1 uses KVM. ``--prepare FOLDER``
creates the machine's files for another host, which then needs only this checkout and Python: GUARD_PREPARED names the
directory, and GUARD_QEMU the command. As with Ubuntu's kernel, programs get huge pages only on request; /proc hides
other accounts' processes.
"""

import argparse
import gzip
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from guard.tests.scenarios import SCENARIOS

MEMORY, DISK = 1024, 2 << 30
#: Modules in this directory that run in the machine.
HERE = ("eat", "inside", "scenarios")
MODULES = """virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci netfs fscache 9pnet 9pnet_virtio
9p failover net_failover virtio_net crc32c_generic virtio_blk crc16 mbcache jbd2 ext4 zsmalloc zram""".split()
#: Parts of Python's library that the machine does not need.
LEFT_OUT = ("test", "idlelib", "tkinter", "dist-packages", "site-packages", "config-*", "ensurepip", "lib2to3")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /new
/bin/busybox mount -t proc proc /proc
for one in {modules}; do /bin/busybox insmod /mod/$one.ko; done
b=/bin/busybox; $b mkdir -p /dev /bench; $b mount -t devtmpfs dev /dev
$b mount -t ext4 -o ro /dev/vdc /new || $b poweroff -f
$b mount -t tmpfs tmpfs /new/tmp; $b mount -t tmpfs tmpfs /new/run
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro bench /bench && $b cp -r /bench /new/tmp; $b umount /bench
$b mount -t proc -o hidepid=2 proc /new/proc; $b mount -t sysfs sys /new/sys; $b mount -t devtmpfs dev /new/dev
$b mount -t ext4 /new/dev/vdb /new/mnt || $b poweroff -f
$b mount -t cgroup2 cgroup /new/sys/fs/cgroup
$b ip link set lo up; $b ip link set eth0 up; $b ip addr add 10.0.2.15/24 dev eth0; $b ip route add default via 10.0.2.2
exec $b chroot /new /usr/bin/python3 -u -B /tmp/bench/inside.py
"""


def packages() -> Path:
    """Return the directory with Debian's kernel, busybox and earlyoom, unpacked."""
    from lab.host import cache_directory

    cache = cache_directory() / "guard-vm"
    if not (cache / "done").exists():
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        shown = subprocess.run(
            ["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True, check=True
        )
        kernel = next(line.split()[-1] for line in shown.stdout.splitlines() if "Depends" in line)
        subprocess.run(["apt-get", "download", kernel, "busybox-static", "earlyoom"], cwd=cache, check=True)
        for package in cache.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, cache / "root"], check=True)
        (cache / "done").touch()
    return cache / "root"


def initramfs(root: Path, folder: Path) -> None:
    """Create the initramfs with busybox, kernel modules and the init script."""
    tree = folder / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "mod").mkdir()
    shutil.copy(next(root.glob("**/bin/busybox")), tree / "bin/busybox")
    for name in MODULES:
        for path in root.glob(f"lib/modules/**/{name}.ko"):
            shutil.copy(path, tree / "mod")
    (tree / "init").write_text(INIT.format(modules=" ".join(MODULES)))
    (tree / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(tree)) for path in tree.rglob("*"))
    command = ["cpio", "-o", "-H", "newc", "--quiet"]
    archive = subprocess.run(command, cwd=tree, input=names.encode(), capture_output=True, check=True).stdout
    (folder / "initrd.gz").write_bytes(gzip.compress(archive, 1))
    shutil.rmtree(tree)


def system(root: Path, folder: Path) -> None:
    """Create a disk with Python and busybox, because pages cannot be read from a 9p share once memory has run out."""
    tree, python = folder / "tree", os.path.realpath("/usr/bin/python3")
    for name in ("bin", "sbin", "lib", "lib64"):
        (tree / "usr" / name).mkdir(parents=True)
        (tree / name).symlink_to(f"usr/{name}")
    for name in ("dev", "proc", "sys", "tmp", "run", "mnt", "etc"):
        (tree / name).mkdir()
    shown = [python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]
    library = Path(subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip())
    shutil.copytree(library, tree / library.relative_to("/"), ignore=shutil.ignore_patterns(*LEFT_OUT))
    files = [*library.glob("lib-dynload/*.so"), Path(python), folder / "earlyoom"]
    needed = subprocess.run(["ldd", *files], capture_output=True, text=True, check=True).stdout
    for name in {python, *re.findall(r"^\t(?:\S+ => )?(/\S+) \(", needed, re.M)}:
        (tree / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, tree / name[1:])
    shutil.copy(next(root.glob("**/bin/busybox")), tree / "bin")
    for name, target in {"bin/python3": python, "bin/sh": "/bin/busybox", "sbin/mkswap": "/bin/busybox"}.items():
        if not (tree / name).exists():
            (tree / name).symlink_to(target)
    with (folder / "system").open("wb") as stream:
        stream.truncate(256 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-d", tree, folder / "system"], check=True)
    shutil.rmtree(tree)


def bench(prepared: Path, folder: Path, mode: str, scenarios: list[str]) -> Path:
    """Create the directory for the machine, with this checkout's guard and the names of the scenarios."""
    from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import GUARD

    folder.mkdir()
    for path in (*(Path(__file__).with_name(f"{name}.py") for name in HERE), prepared / "earlyoom"):
        shutil.copy(path, folder)
    (folder / "guard.pyz").write_bytes(GUARD.archive()[0])
    (folder / "wanted.json").write_text(json.dumps({"mode": mode, "names": scenarios}))
    return folder


def prepare(folder: Path) -> Path:
    """Create the machine's files: kernel, initramfs, disks and earlyoom."""
    root = packages()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / "usr/bin/earlyoom", folder)
    shutil.copy(next(root.glob("boot/vmlinuz*")), folder / "vmlinuz")
    initramfs(root, folder)
    system(root, folder)
    with (folder / "disk").open("wb") as stream:
        stream.truncate(DISK)
    subprocess.run(["mkfs.ext4", "-q", "-F", folder / "disk"], check=True)
    return folder


class Asker(threading.Thread):
    """Connects to the machine every 0.2 s, as if to sshd, and records the longest response time."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.port, self.asking, self.longest, self.unanswered = port, False, 0.0, 0

    def run(self) -> None:
        while True:
            time.sleep(0.2)
            if not self.asking:
                continue
            began, answer = time.monotonic(), b""
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=30) as stream:
                    answer = stream.recv(64)
            except OSError:
                answer = b""
            self.longest = max(self.longest, time.monotonic() - began)
            self.unanswered += b"alive" not in answer

    def taken(self) -> dict[str, Any]:
        """Return the figures since the last call."""
        figures = {"answer": round(self.longest, 3), "unanswered": self.unanswered}
        self.longest, self.unanswered = 0.0, 0
        return figures


def run(mode: str, scenarios: list[str], out: Path, frozen: float = 90) -> list[dict[str, Any]]:
    """Run the scenarios; kill a machine that prints nothing for ``frozen`` seconds, and start another one."""
    rows: list[dict[str, Any]] = []
    while scenarios:
        began = len(rows)
        boot(mode, scenarios, out, frozen, rows)
        finished = sum("scenario" in row for row in rows[began:])
        if not finished:
            raise SystemExit(f"The virtual machine did not start: see {out}.")
        scenarios = scenarios[finished:]
    return rows


def boot(mode: str, scenarios: list[str], out: Path, frozen: float, rows: list[dict[str, Any]]) -> None:
    """Start a machine and let it run scenarios until it finishes, freezes or goes down."""
    prepared_path = os.environ.get("GUARD_PREPARED")
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        prepared = Path(prepared_path) if prepared_path else prepare(folder / "prepared")
        bench_folder = bench(prepared, folder / "bench", mode, scenarios)
        subprocess.run(["cp", "--sparse=always", prepared / "disk", folder / "own"], check=True)
        with (folder / "swap").open("wb") as stream:
            stream.truncate(DISK)
        drives = []
        for file in ("swap", "own"):
            drives += ["-drive", f"file={folder / file},format=raw,if=virtio,cache=unsafe"]
        drives += ["-drive", f"file={prepared / 'system'},format=raw,if=virtio,cache=unsafe,readonly=on"]
        command = [
            *shlex.split(os.environ.get("GUARD_QEMU", "qemu-system-x86_64")),
            "-accel", "kvm" if os.environ.get("GUARD_KVM") else "tcg,thread=multi", "-cpu", "max",
            "-smp", "2", "-m", str(MEMORY), "-nographic", "-no-reboot",
            "-kernel", str(prepared / "vmlinuz"), "-initrd", str(prepared / "initrd.gz"),
            "-append", "console=ttyS0 quiet panic=5 loglevel=4 psi=1 transparent_hugepage=madvise",
            "-fsdev", f"local,security_model=none,readonly=on,id=bench,path={bench_folder}",
            "-device", "virtio-9p-pci,fsdev=bench,mount_tag=bench",
            *drives, "-nic", f"user,model=virtio-net-pci,hostfwd=tcp:127.0.0.1:{port}-:22",
        ]  # fmt: skip
        follow(command, port, out, frozen, rows)


def used(pid: int) -> float:
    """Return the machine's CPU seconds, which show whether a busy host slowed it down."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def follow(command: list[str], port: int, out: Path, frozen: float, rows: list[dict[str, Any]]) -> None:
    """Start a machine and collect its rows."""
    asker = Asker(port)
    asker.start()
    begun, spent = "", 0.0

    def keep(**row: Any) -> None:
        rows.append(row)
        print(json.dumps(row), flush=True)

    with out.open("a") as log:
        machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert machine.stdout is not None
        # The times of the last output and of the scenario's start, because a kernel can spend minutes killing.
        last, since = [time.monotonic()], [float("inf")]

        def end_if_frozen() -> None:
            while machine.poll() is None:
                if max(time.monotonic() - last[0], time.monotonic() - since[0] - 30) > frozen:
                    machine.kill()
                time.sleep(1)

        threading.Thread(target=end_if_frozen, daemon=True).start()
        for line in machine.stdout:
            last[0] = time.monotonic()
            text = line.decode(errors="replace").strip()
            log.write(text + "\n")
            log.flush()
            # A row may follow earlyoom's colour codes or part of a kernel message, and may precede another line.
            _front, marker, rest = text.partition("ROW {")
            if not marker:
                continue
            row, _rest = json.JSONDecoder().raw_decode("{" + rest)
            if "begins" in row:
                begun, asker.asking, since[0] = row["begins"], True, time.monotonic()
                spent = used(machine.pid)
                asker.taken()
            elif "scenario" in row:
                cores = (used(machine.pid) - spent) / (time.monotonic() - since[0])
                begun, asker.asking, since[0] = "", False, float("inf")
                keep(**row, **asker.taken(), cores=round(cores, 2))
            else:
                keep(**row)
    machine.wait()
    if begun:
        # The machine froze and was killed, or its kernel panicked.
        keep(scenario=begun, ok=False, **{"frozen" if machine.returncode < 0 else "down": True}, **asker.taken())


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["guard", "none", "earlyoom"], nargs="?", default="guard")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--scenario", action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path(os.devnull))
    parser.add_argument("--prepare", type=Path)
    arguments = parser.parse_args()
    if arguments.prepare:
        prepare(arguments.prepare)
        return
    run(arguments.mode, (arguments.scenario or list(SCENARIOS)) * arguments.runs, arguments.out)


if __name__ == "__main__":
    main()
