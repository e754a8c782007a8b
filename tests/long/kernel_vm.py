"""A small Debian with GRUB in a virtual machine (qemu, emulated), and repositories that bring it a new kernel.

Both kernels are Debian's own. They come in packages made here, without an initial RAM disk of Debian's: this one loads
virtio and mounts the disk. A module of Debian's, named nvidia, stands in for the driver. It needs mmdebstrap,
qemu-system-x86, cpio, apt with Debian's sources, and root.
"""

from __future__ import annotations

import gzip
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from lab.host import cache_directory
from lab.packages import Content, Entry, FileContent, Package

PACKAGES = "systemd-sysv,dbus,udev,openssh-server,python3,grub2-common,grub-pc-bin,grub-common,kmod,iproute2,procps"
#: In this order: what virtio needs of the other comes first.
VIRTIO = """virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net
virtio_blk""".split()
#: A small module with a version and no needs, which does nothing until it is told to.
STAND_IN = "hangcheck-timer"
MODULE_LISTS = ("modules.order", "modules.builtin", "modules.builtin.modinfo")
MIB = 1 << 20
DISK, START = 1400 * MIB, MIB
SIGNED = b"~Module signature appended~\n"

INIT = """#!/bin/busybox sh
b=/bin/busybox
$b mkdir -p /proc /dev /new
$b mount -t proc proc /proc; $b mount -t devtmpfs dev /dev
{first}
for one in {modules}; do $b insmod /mod/$one.ko; done
until $b mount -t ext4 /dev/vda1 /new; do $b sleep 1; done
exec $b switch_root /new {then}
"""
#: What the new kernel does before it starts anything of the system.
FIRST = {
    "fine": "",
    "without-module": "",
    "panics": "$b echo c > /proc/sysrq-trigger",
    "hangs": "$b echo HANGS > /dev/kmsg; while :; do $b sleep 1000; done",
}
POSTINST = """#!/bin/sh
set -e
[ -d /sys/kernel ] || exit 0
depmod {release}
run-parts --arg={release} --arg=/boot/vmlinuz-{release} /etc/kernel/postinst.d
"""
POSTRM = """#!/bin/sh
set -e
rm -rf /lib/modules/{release}
run-parts --arg={release} --arg=/boot/vmlinuz-{release} /etc/kernel/postrm.d
"""
FILES = {
    "etc/fstab": "/dev/vda1 / ext4 errors=remount-ro 0 1\n",
    "etc/hostname": "vm\n",
    "etc/machine-id": "5f2b9a2f6b0d4a0fa1d1f2c3b4a59687\n",
    "etc/modules-load.d/nvidia.conf": "nvidia\n",
    "etc/default/grub": """GRUB_DEFAULT=0
GRUB_TIMEOUT=1
GRUB_DISABLE_LINUX_UUID=true
GRUB_TERMINAL=console
GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0 mitigations=off"
""",
    "etc/systemd/network/eth0.network": """[Match]
Name=eth0
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
""",
    # As the package grub-pc has them.
    "etc/kernel/postinst.d/zz-update-grub": "#!/bin/sh\nexec update-grub\n",
    "etc/kernel/postrm.d/zz-update-grub": "#!/bin/sh\nexec update-grub\n",
    # Makes the menu, then ends.
    "first": """#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -o remount,rw /
for release in $(ls /lib/modules); do depmod $release; done
update-grub && echo MENU > /dev/kmsg
sync; mount -o remount,ro /
echo o > /proc/sysrq-trigger; while :; do :; done
""",
}  # fmt: skip
MASKED = """apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
dpkg-db-backup.timer systemd-timesyncd.service getty@tty1.service serial-getty@ttyS0.service""".split()


def run(*words: str | Path, cwd: Path | None = None, given: bytes | None = None) -> bytes:
    """Run a command that has to succeed; return what it prints."""
    done = subprocess.run(list(map(str, words)), cwd=cwd, input=given, capture_output=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout!r} {done.stderr!r}"
    return done.stdout


def kernels(folder: Path) -> tuple[Path, list[str]]:
    """Return Debian's two newest kernels for virtual machines, and busybox, unpacked; and the releases."""
    names = run("apt-cache", "pkgnames", "linux-image-").decode().split()
    found = [match for name in names if (match := re.fullmatch(r"linux-image-([\d.]+-(\d+)-cloud-amd64)", name))]
    releases = [match[1] for match in sorted(found, key=lambda match: int(match[2]))[-2:]]
    run("apt-get", "download", *(f"linux-image-{release}" for release in releases), "busybox-static", cwd=folder)
    for package in folder.glob("*.deb"):
        run("dpkg", "-x", package, folder / "root")
    return folder / "root", releases


def stand_in(path: Path) -> bytes:
    """Return a module under the name nvidia, without the signature that it then no longer has."""
    data = path.read_bytes()
    if data.endswith(SIGNED):
        end = len(data) - len(SIGNED)
        data = data[: end - 12 - struct.unpack(">I", data[end - 4 : end])[0]]
    name = path.stem.replace("-", "_").encode()
    padded = b"nvidia".ljust(len(name), b"\0")
    # In `struct module`, and in what modinfo prints.
    return data.replace(name + b"\0" * 8, padded + b"\0" * 8).replace(b"name=" + name, b"name=" + padded)


def initial_disk(root: Path, release: str, first: str, then: str = "/sbin/init") -> bytes:
    """Return an initial RAM disk."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        (tree / "bin").mkdir()
        (tree / "mod").mkdir()
        shutil.copy(next(root.glob("**/bin/busybox")), tree / "bin/busybox")
        for module in VIRTIO:
            for path in (root / "lib/modules" / release).glob(f"**/{module}.ko"):
                shutil.copy(path, tree / "mod")
        (tree / "init").write_text(INIT.format(modules=" ".join(VIRTIO), first=first, then=then))
        (tree / "init").chmod(0o755)
        names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
        return gzip.compress(run("cpio", "-o", "-H", "newc", "--quiet", cwd=tree, given=names.encode()), 1)


def kernel(root: Path, release: str, first: str = "", module: bool = True) -> Package:
    """Return the package of a kernel."""
    modules = f"lib/modules/{release}"
    driver = next((root / modules).glob(f"**/{STAND_IN}.ko"))
    entries = [
        Entry(f"boot/vmlinuz-{release}", FileContent(root / f"boot/vmlinuz-{release}")),
        Entry(f"boot/initrd.img-{release}", Content(initial_disk(root, release, first))),
        *(Entry(f"{modules}/{name}", FileContent(root / modules / name)) for name in MODULE_LISTS),
        *([Entry(f"{modules}/kernel/nvidia.ko", Content(stand_in(driver)))] if module else []),
    ]
    scripts = {"postinst": POSTINST.format(release=release), "postrm": POSTRM.format(release=release)}
    return Package(f"linux-image-{release}", "1", "amd64", "A kernel", entries=entries, scripts=scripts)


def repository(place: Path, packages: list[Package]) -> None:
    """Write packages and their index."""
    place.mkdir(parents=True)
    index = []
    for package in packages:
        written = package.write(place)
        index.append(
            f"{package.control()}Filename: ./{written.path.name}\nSize: {written.size}\nSHA256: {written.sha256}\n"
        )
    (place / "Packages").write_text("\n".join(index))


def qemu(disk: Path, *more: str | Path) -> list[str]:
    """Return how the machine is started."""
    return [
        "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "700", "-display", "none",
        "-drive", f"file={disk},format=raw,if=virtio", *map(str, more),
    ]  # fmt: skip


def image() -> Path:
    """Return the folder with the disk of a machine that runs the older kernel, and the key to it; made once."""
    place = cache_directory() / "update-vm"
    if (place / "done").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    suite = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    assert suite
    tree = place / "tree"
    leave_out = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
    run("mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", *leave_out, "--format=directory", suite[1], tree)
    root, (old, new) = kernels(place)
    (place / "releases").write_text(f"{old} {new}")
    for path, text in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        (tree / path).chmod(0o755 if text.startswith("#!") else 0o644)
    tool = [Package("tool", version, "all", "A tool") for version in ("1", "2")]
    meta = [
        Package("linux-image-cloud-amd64", version, "amd64", "The newest kernel", relations={"Depends": [needed]})
        for version, needed in (("1", f"linux-image-{old}"), ("2", f"linux-image-{new}"))
    ]
    before = [kernel(root, old), meta[0], tool[0]]
    for name, first in FIRST.items():
        newer = kernel(root, new, first, module=name != "without-module")
        repository(tree / "srv" / name, [*before, newer, meta[1], tool[1]])
    run("chroot", tree, "sh", "-c", "dpkg -i " + " ".join(f"/srv/fine/{one.file_name}" for one in before))
    for unit in MASKED:
        (tree / "etc/systemd/system" / unit).symlink_to("/dev/null")
    run("chroot", tree, "systemctl", "enable", "systemd-networkd", "ssh")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / "key")
    (tree / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
    shutil.copy(place / "key.pub", tree / "root/.ssh/authorized_keys")
    (tree / "etc/apt/sources.list").unlink(missing_ok=True)
    # GRUB, as grub-install puts it.
    shutil.copytree(tree / "usr/lib/grub/i386-pc", tree / "boot/grub/i386-pc")
    run("chroot", tree, "grub-editenv", "/boot/grub/grubenv", "create")
    core = ["-O", "i386-pc", "-p", "(hd0,msdos1)/boot/grub", "-o", "/core.img", "biosdisk", "part_msdos", "ext2"]
    run("chroot", tree, "grub-mkimage", *core)
    write_disk(tree, place / "disk.img")
    (place / "first.img").write_bytes(initial_disk(root, old, "", "/first"))
    direct = ["-kernel", root / f"boot/vmlinuz-{old}", "-initrd", place / "first.img", "-append", "console=ttyS0"]
    run(*qemu(place / "disk.img", "-no-reboot", "-serial", f"file:{place}/first.log", "-nic", "none", *direct))
    assert " MENU" in (place / "first.log").read_text(errors="replace"), "GRUB's menu was not made"
    for path in (tree, root):
        shutil.rmtree(path)
    (place / "done").touch()
    return place


def write_disk(tree: Path, path: Path) -> None:
    """Write a disk with GRUB before its one partition, which has all of ``tree``."""
    with path.open("wb") as stream:
        stream.truncate(DISK)
    plain = "^orphan_file,^metadata_csum_seed,^64bit"
    offset = f"offset={START},root_owner=0:0"
    run("mke2fs", "-q", "-t", "ext4", "-O", plain, "-E", offset, "-d", tree, path, f"{(DISK - START) >> 10}k")
    grub, sectors = tree / "usr/lib/grub/i386-pc", START // 512
    row = struct.pack("<B3sB3sII", 0x80, b"\xfe\xff\xff", 0x83, b"\xfe\xff\xff", sectors, (DISK - START) // 512)
    with path.open("r+b") as stream:
        stream.write((grub / "boot.img").read_bytes()[:440] + b"vmvm\0\0" + row.ljust(64, b"\0") + b"\x55\xaa")
        stream.write((tree / "core.img").read_bytes())


class Machine:
    """A copy of the machine, started."""

    def __init__(self, folder: Path) -> None:
        self.place = image()
        self.old, self.new = (self.place / "releases").read_text().split()
        self.disk, self.log, self.monitor = folder / "disk.img", folder / "serial.log", folder / "monitor"
        run("cp", "--sparse=always", "--reflink=auto", self.place / "disk.img", self.disk)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        network = f"user,model=virtio-net-pci,hostfwd=tcp:127.0.0.1:{self.port}-:22"
        words = ["-serial", f"file:{self.log}", "-monitor", f"unix:{self.monitor},server,nowait", "-nic", network]
        self.process = subprocess.Popen(qemu(self.disk, *words), stdin=subprocess.DEVNULL)

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def wait(self) -> None:
        """Wait until ssh answers."""
        while subprocess.run(self._ssh("true"), capture_output=True, check=False).returncode:
            assert self.process.poll() is None, self.said
            time.sleep(2)

    def _ssh(self, script: str) -> list[str]:
        return [
            "ssh", "-q", "-i", str(self.place / "key"), "-p", str(self.port), "-o", "StrictHostKeyChecking=no",
            "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectTimeout=5", "-o", "BatchMode=yes",
            "root@127.0.0.1", script,
        ]  # fmt: skip

    def do(self, script: str) -> str:
        """Run a script on it, as root."""
        return run(*self._ssh(script)).decode().strip()

    def switch_off_and_on(self) -> None:
        """Do what a person does to a machine that hangs."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.monitor))
            monitor.sendall(b"system_reset\n")
            time.sleep(1)

    def end(self) -> None:
        """Switch it off."""
        self.process.kill()
        self.process.wait()
        self.disk.unlink()
