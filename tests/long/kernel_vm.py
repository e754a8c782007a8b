"""A small Debian with GRUB in a virtual machine (qemu, emulated), and repositories that bring it a new kernel.

One is an x86_64 machine with a BIOS, the other an ARM64 one with UEFI, as a Spark is. Both kernels are Debian's own.
They come in packages made here, without an initial RAM disk of Debian's: this one loads virtio and mounts the disk. A
module of Debian's, named nvidia, stands in for the driver. It needs mmdebstrap, qemu-system-x86, cpio, apt with
Debian's sources, and root; qemu and the firmware for ARM64 are downloaded where they are not installed.
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
import typing as t
from pathlib import Path

from lab import emulator
from lab.host import cache_directory, debian_archive
from lab.packages import Content, Entry, FileContent, Package

PACKAGES = "systemd-sysv,dbus,udev,openssh-server,python3,grub2-common,grub-common,kmod,iproute2,procps"


class Kind(t.NamedTuple):
    """A kind of machine: ``grub`` is GRUB's name of the platform, and of the folder of its modules."""

    architecture: str
    console: str
    grub: str
    packages: str
    modules: tuple[str, ...]


AMD64 = Kind("amd64", "ttyS0", "i386-pc", "grub-pc-bin", ("biosdisk", "part_msdos", "ext2"))
ARM64 = Kind(
    "arm64", "ttyAMA0", "arm64-efi", "grub-efi-arm64-bin,dosfstools,mtools",
    ("part_msdos", "ext2", "fat", "normal", "configfile", "echo", "test", "search"),
)  # fmt: skip
#: Debian's packages with qemu for ARM64 and UEFI for it.
EMULATOR, FIRMWARE = ("qemu-system-arm", "usr/bin/qemu-system-aarch64"), ("qemu-efi-aarch64", "QEMU_EFI.fd")
#: In this order: what virtio needs of the other comes first.
VIRTIO = """virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net
virtio_blk""".split()
#: A small module with a version (1.0) and no needs, which does nothing until a socket wants it.
STAND_IN = "tcp_nv"
MODULE_LISTS = ("modules.order", "modules.builtin", "modules.builtin.modinfo")
MIB = 1 << 20
#: The partition of the system begins after that of UEFI, which the other machine leaves empty.
DISK, ESP, START = 1400 * MIB, MIB, 9 * MIB
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
GRUB_CMDLINE_LINUX="console=CONSOLE net.ifnames=0 mitigations=off"
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
dpkg-db-backup.timer systemd-timesyncd.service getty@tty1.service serial-getty@ttyS0.service
serial-getty@ttyAMA0.service""".split()


def run(*words: str | Path, cwd: Path | None = None, given: bytes | None = None, within: float | None = None) -> bytes:
    """Run a command that has to succeed; return what it prints."""
    command = list(map(str, words))
    done = subprocess.run(command, cwd=cwd, input=given, capture_output=True, check=False, timeout=within)
    assert done.returncode == 0, f"{words}: {done.stdout!r} {done.stderr!r}"
    return done.stdout


#: Run by mmdebstrap, whose apt then has the lists of the machine's architecture.
DOWNLOAD = """cd {place}; export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
names=$(apt-cache pkgnames linux-image- | grep -E '^linux-image-[0-9.]+-[0-9]+-cloud-{architecture}$' | sort -V |
        tail -n 2)
apt-get download $names busybox-static; echo $names | sed s/linux-image-//g > releases"""


def debian(kind: Kind, place: Path) -> Path:
    """Make a root file system; beside it are Debian's two newest kernels for virtual machines, and busybox."""
    suite = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    assert suite
    archive, tree = debian_archive(), place / "tree"
    sources = [f"deb {archive} {suite[1]} main", f"deb {archive} {suite[1]}-updates main"]
    sources.append(f"deb {archive}-security {suite[1]}-security main")
    words = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale")]
    words += [f"--include={PACKAGES},{kind.packages}", f"--architectures={kind.architecture}", "--skip=check/qemu"]
    words.append(f"--customize-hook={DOWNLOAD.format(place=place, architecture=kind.architecture)}")
    run("mmdebstrap", "--variant=minbase", *words, "--format=directory", suite[1], tree, *sources)
    for package in place.glob("*.deb"):
        run("dpkg", "-x", package, place / "root")
    return tree


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


def kernel(kind: Kind, root: Path, release: str, first: str = "", module: bool = True) -> Package:
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
    return Package(f"linux-image-{release}", "1", kind.architecture, "A kernel", entries=entries, scripts=scripts)


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


def qemu(kind: Kind, disk: Path, *more: str | Path) -> list[str]:
    """Return how the machine is started."""
    words = ["-smp", "2", "-m", "700", "-display", "none", "-accel", "tcg,thread=multi"]
    words += ["-drive", f"file={disk},format=raw,if=none,id=disk", "-device", "virtio-blk-pci,drive=disk,bootindex=1"]
    if kind is AMD64:
        return ["qemu-system-x86_64", "-cpu", "max", *words, *map(str, more)]
    program, firmware = arm64_emulator()
    machine = ["-machine", "virt", "-cpu", "cortex-a72", "-bios", str(firmware)]
    return [str(program), *machine, *words, *map(str, more)]


def arm64_emulator() -> tuple[Path, Path]:
    """Return qemu for ARM64 and its firmware: the installed ones, or Debian's, unpacked into the cache."""
    found = []
    for package, name in (EMULATOR, FIRMWARE):
        installed = Path("/", name) if "/" in name else Path("/usr/share", package, name)
        place = cache_directory() / package
        if not installed.exists() and not (place / "done").exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            run("apt-get", "download", package, cwd=place)
            run("dpkg", "-x", next(place.glob("*.deb")), place)
            (place / "done").touch()
        found.append(installed if installed.exists() else place / installed.relative_to("/"))
    return found[0], found[1]


def image(kind: Kind) -> Path:
    """Return the folder with the disk of a machine that runs the older kernel, and the key to it; made once."""
    place = cache_directory() / f"update-vm-{kind.architecture}"
    if (place / "done").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if kind is AMD64:
        make(kind, place)
    else:
        emulator.register("update-vm")
        try:
            make(kind, place)
        finally:
            emulator.release("update-vm")
    direct = ["-kernel", place / "first.kernel", "-initrd", place / "first.img"]
    direct += ["-append", f"console={kind.console}", "-no-reboot", "-serial", f"file:{place}/first.log", "-nic", "none"]
    run(*qemu(kind, place / "disk.img", *direct))
    assert " MENU" in (place / "first.log").read_text(errors="replace"), "GRUB's menu was not made"
    (place / "done").touch()
    return place


def make(kind: Kind, place: Path) -> None:
    """Make the disk, and what its first start needs, which makes GRUB's menu."""
    tree, root = debian(kind, place), place / "root"
    old, new = (place / "releases").read_text().split()
    for path, text in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text.replace("CONSOLE", kind.console))
        (tree / path).chmod(0o755 if text.startswith("#!") else 0o644)
    tool = [Package("tool", version, "all", "A tool") for version in ("1", "2")]
    meta = [
        Package("linux-image-cloud", version, kind.architecture, "The newest kernel", relations={"Depends": [needed]})
        for version, needed in (("1", f"linux-image-{old}"), ("2", f"linux-image-{new}"))
    ]
    before = [kernel(kind, root, old), meta[0], tool[0]]
    for name, first in FIRST.items():
        newer = kernel(kind, root, new, first, module=name != "without-module")
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
    shutil.copytree(tree / "usr/lib/grub" / kind.grub, tree / "boot/grub" / kind.grub)
    run("chroot", tree, "grub-editenv", "/boot/grub/grubenv", "create")
    core = ["-O", kind.grub, "-p", "(hd0,msdos1)/boot/grub", "-o", "/core.img", *kind.modules]
    run("chroot", tree, "grub-mkimage", *core)
    if kind is ARM64:
        # The path that UEFI looks for on a disk without an entry of its own.
        run("chroot", tree, "sh", "-ec", "mkfs.vfat -C /esp.img 8192; mmd -i /esp.img EFI EFI/BOOT; "
            "mcopy -i /esp.img /core.img ::EFI/BOOT/BOOTAA64.EFI")  # fmt: skip
    shutil.copy(root / f"boot/vmlinuz-{old}", place / "first.kernel")
    (place / "first.img").write_bytes(initial_disk(root, old, "", "/first"))
    write_disk(kind, tree, place / "disk.img")
    for path in (tree, root):
        shutil.rmtree(path)


def write_disk(kind: Kind, tree: Path, path: Path) -> None:
    """Write a disk with one partition that has all of ``tree``, and GRUB before it: in the gap, or in UEFI's."""
    with path.open("wb") as stream:
        stream.truncate(DISK)
    plain = "^orphan_file,^metadata_csum_seed,^64bit"
    offset = f"offset={START},root_owner=0:0"
    run("mke2fs", "-q", "-t", "ext4", "-O", plain, "-E", offset, "-d", tree, path, f"{(DISK - START) >> 10}k")

    def row(mark: int, what: int, start: int, end: int) -> bytes:
        far = b"\xfe\xff\xff"
        return struct.pack("<B3sB3sII", mark, far, what, far, start // 512, (end - start) // 512)

    system = row(0x80, 0x83, START, DISK)
    if kind is AMD64:
        boot, rows = (tree / "usr/lib/grub/i386-pc/boot.img").read_bytes()[:440], system
        place, data = 512, (tree / "core.img").read_bytes()
    else:
        boot, rows = bytes(440), system + row(0, 0xEF, ESP, START)
        place, data = ESP, (tree / "esp.img").read_bytes()
    assert place + len(data) <= START
    with path.open("r+b") as stream:
        stream.write(boot + b"vmvm\0\0" + rows.ljust(64, b"\0") + b"\x55\xaa")
        stream.seek(place)
        stream.write(data)


class Machine:
    """A copy of the machine, started."""

    def __init__(self, folder: Path, kind: Kind = AMD64) -> None:
        self.place = image(kind)
        self.old, self.new = (self.place / "releases").read_text().split()
        self.disk, self.log, self.monitor = folder / "disk.img", folder / "serial.log", folder / "monitor"
        run("cp", "--sparse=always", "--reflink=auto", self.place / "disk.img", self.disk)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        network = ["-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{self.port}-:22"]
        network += ["-device", "virtio-net-pci,netdev=net,romfile="]
        words = ["-serial", f"file:{self.log}", "-monitor", f"unix:{self.monitor},server,nowait", *network]
        self.process = subprocess.Popen(qemu(kind, self.disk, *words), stdin=subprocess.DEVNULL)

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

    def do(self, script: str, given: bytes | None = None, within: float | None = None) -> str:
        """Run a script on it, as root."""
        return run(*self._ssh(script), given=given, within=within).decode().strip()

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
