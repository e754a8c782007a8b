# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An observation without what identifies its host, for a file that its owner can publish.

Nobody can list what a secret looks like, so it is the other way round: a string is kept as far as it is made of words
that every such host may have, and the rest of it becomes ``redacted-1``, ``redacted-2`` …, the same for the same text.
Numbers, truth values and the observation's own keys stay.
"""

from __future__ import annotations

import re
import typing as t

WORDS = frozenset(
    (
        # file systems, folders, devices
        "usr bin sbin lib lib32 lib64 libc libexec opt etc var log cache boot efi efivars efivarfs firmware dev shm "
        "tmp tmpfs run user lock home root srv mnt media data export sys proc include share keyrings local src "
        "targets stubs snap swap swapfile ext4 xfs btrfs vfat zfs overlay overlayfs fuse none nfs nfs4 cifs iso9660 "
        "vmlinuz initrd img conf d so python3 ld preferences pref "
        # distributions, their archives and their architectures
        "ubuntu debian noble jammy bookworm trixie sid stable updates backports security proposed main universe "
        "restricted multiverse common contrib non free default deb binary archive archives ports keyring gpg pgp asc "
        "list sources inline trusted apt com org net http https snapshot ppa launchpadcontent launchpad esm apps "
        "infra aarch64 arm64 armhf amd64 x86 sbsa linux gnu generic hwe lts server desktop edge image headers modules "
        "tools extra unsigned 64k invalid redacted ubuntu2404 ubuntu2204 ubuntu24 ubuntu22 debian12 debian13 pro "
        # the vendor's: DGX OS, its sources, packages and pins
        "nvidia dgx spark gb10 baseos repo repos compute cuda hpc sdk nvhpc canonical vulkan packages nv workbench ai "
        "doca latest bos8 lowpri lowpri2 keys download developer docker ce cli containerd origin release version l o "
        "n a c pin oem fs open driver drivers pinning kernel dkms utils persistenced fabricmanager imex nsight "
        "systems container toolkit base libnvidia ota update meta check system core station platform tegra gds "
        "peermem mlnx mlnxofed ofed mellanox config cccl crt cub command line compiler minimal build compat cross "
        "documentation demo suite gdb opencl profiler api sandbox sanitizer libraries runtime devel source modprobe "
        "settings xorg prime visual "
        # toolchains and Python
        "python venv pip full stdlib distutils setuptools wheel whl pkg resources gcc g cpp clang clangd llvm lld "
        "mlir libomp libmlir cmake ninja ccache mold make essential binutils git patch patchelf libstdc gfortran "
        "openmpi libopenmpi libopenblas rdma ibverbs libibverbs perftest bash dpkg gpgv gnupg ca certificates libc6 "
        "zlib1g file t64 sparkforge envs wheelhouse receipts redist fabric venvs current static libpython libcurl3t64 "
        "libcurl4t64 libcurl4 gnutls openssl "
        # the parts of NVIDIA's libraries
        "adv cnn ops engines precompiled compiled heuristic graph tensor ir ext builtins alt plugin host device "
        "shared seq gomp lp64 ilp64 blas lapack commlayer mtlayer io lite lt debugger "
        # processors and GPUs
        "cortex neoverse arm part intel r xeon processor platinum gold silver amd epyc cpu tm geforce rtx tesla "
        "quadro grace blackwell hopper h100 h200 a100 l4 l40 l40s b200 b300 gb200 gb300 gh200 thor orin jetson agx "
        "pcie sxm hbm3 hbm3e nvl "
        # of the kernel's command line
        "vmlinux ro rw quiet splash console tty0 iommu passthrough pci aspm off on kho init alloc initcall blacklist "
        "uuid crashkernel earlycon nokaslr mitigations auto hugepages transparent hugepage always never madvise "
        # states, and why something was not read
        "half installed configured unpacked triggers reinstreq interrupted hold permission denied no such or "
        "directory input output error process outside this unknown unattended upgrade upgrades packagekitd aptitude "
        "get the does not answer query gpu statvfs smi exit status cannot be read is an"
    ).split()
)
# NVIDIA's libraries and packages have names of their own, some with a number behind; so have disks and processors.
_WORD = re.compile(
    r"(lib)?(cu(da|dart|dnn|blas|fft|file|pti|rand|solver|sparse|sparselt|dss|libos|objdump|xxfilt|obj)|nccl|npp|nvcc"
    r"|nvidia|nvpl|nvrtc|nvml|nvtx|nvvm|nvblas|nvjpeg|nvjitlink|nvfatbin|nvptxcompiler|nvdisasm|nvprof|nvprune|nvshmem"
    r"|nvtoolsext|python3)(lt|mg|debugger|w)?\d*|nvme\d+n\d+(p\d+)?|[sv]d[a-z]\d*|(md|dm|loop|mmcblk)\d+(p\d+)?"
    r"|[xa]\d{2,3}|0x[0-9a-f]{1,4}|\d{1,6}|\d{4}[a-z]{0,2}",
    re.IGNORECASE,
)
# Digits alone are words, so what an address or a serial number looks like is not.
_ADDRESS = re.compile(
    r"(?<!\d)(?!0\.)\d{1,3}(\.\d{1,3}){3}(?!\d)|[0-9a-f]*(:[0-9a-f]*){2,}|([0-9a-f]{2}-){5}[0-9a-f]{2}", re.I
)
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+:~-]{0,60}")
_PUBLIC = re.compile(
    r"([a-z0-9-]+\.)*(nvidia\.com|ubuntu\.com|debian\.org|launchpadcontent\.net|docker\.com)|redacted-\d+\.invalid"
)
ENDINGS = ("list", "sources", "conf", "gpg", "asc", "pref")
#: Keys whose value is a mapping by names of the host: of packages, and of files and libraries.
PACKAGES = ("packages", "offers")
NAMED = ("entries", "libraries", "managed_files")


class _Redaction:
    def __init__(self) -> None:
        self._replaced: dict[str, str] = {}

    def replaced(self, text: str) -> str:
        return self._replaced.setdefault(text, f"redacted-{len(self._replaced) + 1}")

    def known(self, text: str) -> bool:
        words = re.findall(r"[A-Za-z0-9]+", text)
        return (
            all(word.lower() in WORDS or _WORD.fullmatch(word) for word in words)
            and not _ADDRESS.search(text)
            and text.isascii()
        )

    def uri(self, text: str) -> str:
        scheme, separator, rest = text.partition("://")
        host, slash, path = rest.partition("/")
        # What stands before the host is a name and a password; what follows ? or # has no place in a source.
        host = re.split(r"[?#]", host.rpartition("@")[2])[0]
        name = host if _PUBLIC.fullmatch(host) else f"{self.replaced(host)}.invalid"
        return f"{self.text(scheme)}{separator}{name}{slash}{self.text(re.split(r'[?#]', path)[0])}"

    def text(self, text: str) -> str:
        """Return what may stay of a string, word by word and folder by folder."""
        if " " in text:
            return " ".join(self.text(part) for part in text.split(" "))
        if "://" in text:
            return self.uri(text)
        key, sign, value = text.partition("=")
        if sign and self.known(key):
            return f"{key}={self.text(value)}"
        if self.known(text):
            return text
        if "/" in text:
            return "/".join(self.text(part) for part in text.split("/"))
        # The ending of a file's name says how apt and the loader read it.
        stem, dot, ending = text.rpartition(".")
        return f"{self.replaced(stem)}{dot}{ending}" if ending in ENDINGS else self.replaced(text)

    def value(self, key: str, value: t.Any, place: int = 0) -> t.Any:
        """Return what may stay of the value of ``key``; ``place`` is its row in a list."""
        if isinstance(value, str):
            if key in ("uuid", "boot_id"):
                zeros = f"00000000-0000-0000-0000-{place:012d}"
                return f"GPU-{zeros}" if key == "uuid" else zeros
            if key in PACKAGES and _VERSION.fullmatch(value):
                return value
            return "0" * 64 if key == "managed_files" else self.text(value)
        if isinstance(value, t.Mapping):
            if key in PACKAGES:
                # A package of another name is the owner's; no test can need it.
                return {name: self.value(key, value[name]) for name in value if self.known(name)}
            if key in NAMED:
                return {self.text(name): self.value(key, value[name]) for name in value}
            return {name: self.value(name, value[name], place) for name in value}
        if isinstance(value, (list, tuple)):
            if key in ("held", "broken"):
                value = [row for row in value if self.known(row if isinstance(row, str) else row["name"])]
            return [self.value(key, row, number) for number, row in enumerate(value)]
        return value


def recorded_host(observation: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return an observation of ``spark_info`` without what identifies the host or its owner.

    Nothing is taken of one that is redacted already.
    """
    redaction = _Redaction()
    return {key: redaction.value(key, value) for key, value in sorted(observation.items())}
