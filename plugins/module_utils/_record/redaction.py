"""Remove everything that identifies a host or its owner from a record.

The form of a secret cannot be known in advance, so ``RULES`` lists what may be kept: the known keys and the form of
their values. Other keys are dropped, and other texts become ``redacted-1``, ``redacted-2`` …, one number per text.
"""

from __future__ import annotations

import functools
import importlib
import re
import typing as t

from .._core import bundle

#: Known words in the names of packages and files from distributions, NVIDIA and this collection.
WORDS = frozenset(
    (
        # directories, devices and the files that apt and the loader read
        "usr bin sbin lib lib32 lib64 libc opt etc var log cache boot efi efivars firmware dev shm tmp tmpfs run "
        "user lock home root srv mnt media data snap proc sys share include keyrings local src targets stubs "
        "swapfile none overlay fuse overlayfs conf d so ld ldconfig preferences pref apt list sources gpg asc pgp "
        "inline frontend dpkg lists archives x86 linux gnu "
        # distributions and their archives
        "ubuntu debian noble jammy bookworm trixie sid stable updates backports security proposed main universe "
        "restricted multiverse contrib non free default deb archive ports keyring trusted snapshot ppa esm apps "
        "infra pro aarch64 arm64 armhf amd64 sbsa 64 64k generic hwe lts edge image headers modules tools extra "
        "unsigned ubuntu2404 ubuntu24 debian12 debian13 meta release org com net http https "
        # the vendor: DGX OS, its sources, packages and pins
        "nvidia dgx spark gb10 baseos repo repos compute cuda hpc sdk nvhpc canonical vulkan packages nv workbench "
        "ai doca latest lowpri lowpri2 keys download developer docker ce cli containerd stable o l n a c pin oem "
        "fs open driver drivers pinning kernel dkms utils persistenced fabricmanager imex nsight systems container "
        "toolkit base libnvidia ota update check system core station platform gds peermem mlnx mlnxofed ofed "
        "mellanox config cccl crt cub command line compiler minimal build compat cross documentation demo gdb "
        "opencl profiler api sandbox sanitizer libraries runtime dev devel source modprobe settings grub kho "
        "limits avahi hotplug lvfs once upgrade bt initcall bl dashboard desktop cfg1 decode encode fbc1 gl nscq "
        "container1 libxnvctrl0 xserver xorg video visual crashdump xconfig disable numa balancing params no systemd "
        "suspend nvme options gwdt remove fstab manager pci realtek mod wifi fw cpu governor gpus grubmenu mode "
        "persistence compose podman buildah runc crun fwupd mstflint lldpd netplan network earlyoom repository origin "
        # compilers and tools, Python, their dependencies, and this collection's own files
        "python python3 venv pip pip3 full stdlib setuptools resources wheel whl pkg gcc g cpp clang clangd llvm "
        "lld cmake ninja ccache mold make essential binutils common git man patch patchelf libstdc libgcc libllvm "
        "libclang libopenblas openblas rdma ibverbs libibverbs perftest bash dpkg gpgv ca certificates libc6 t64 "
        "swig rdmacm librdmacm librdmacm1t64 libibverbs1 providers ucx libucx0 "
        "libpython libexpat1 libz3 zlib1g libcurl3t64 libcurl4t64 libcurl4 gnutls openssl nginx file sparkforge "
        "envs torch wheelhouse receipts redist fabric current static proxies mirror keep ldcache "
        # the parts of NVIDIA's libraries
        "adv cnn ops engines precompiled compiled heuristic graph tensor ir ext builtins alt plugin host device "
        "shared seq gomp lp64 ilp64 blas lapack commlayer mtlayer io lite lt debugger "
    ).split()
)
# The names of NVIDIA's libraries, some with a number at the end, and of interpreters and disks.
_WORD = re.compile(
    r"(lib)?(cu(da|dart|dnn|blas|fft|file|pti|rand|solver|sparse|sparselt|dss|libos|objdump|xxfilt|obj|dadebugger)|nccl"
    r"|npp|nvcc|nvidia|nvpl|nvrtc|nvml|nvtx|nvvm|nvblas|nvjpeg|nvjitlink|nvfatbin|nvptxcompiler|nvdisasm|nvprof|nvprune"
    r"|nvshmem|nvtoolsext|python3|llvm|clang)(lt|mg|w)?\d{0,4}|nvme\d+n\d+(p\d+)?|[sv]d[a-z]\d*|(md|dm|loop|mmcblk)\d+(p\d+)?"
    r"|\d{1,4}|c\+\+",
    re.IGNORECASE,
)
# Numbers count as words, but not if they look like an address or a serial number.
_ADDRESS = re.compile(
    r"(?<!\d)\d{1,3}(\.\d{1,3}){3}(?!\d)|[0-9a-f]*(:[0-9a-f]*){2,}|([0-9a-f]{2}-){5}[0-9a-f]{2}", re.I
)
_MOST_DIGITS = 10
# A kernel or driver version is part of its package names and may contain more digits.
_OF_A_NAME = re.compile(r"(?<![\d.])(\d\.\d{1,2}\.\d-\d{1,4}|\d{3}\.\d{2,3}(\.\d{2})?)(?![\d.])")
# Three groups of digits with separators count as a serial number if they are long and not a date; versions contain dots
# and letters.
_DAY = r"20\d\d-[01]\d-[0-3]\d(?![-_ ]?\d)"
_GROUPS = re.compile(rf"(?<!\d)(?!{_DAY})\d+(?:[-_ ]\d+){{2,}}(?![\dA-Za-z])")
_FEW_DIGITS = 6
# Library versions such as 10.4.0.35-1. Only CUDA's libraries have four numbers without a revision, the first one small.
_QUAD = re.compile(r"(?<![\d.])(\d{1,3})(?:\.\d{1,3}){3}(?![\d.])(?!-\d)")
_HIGHEST_QUAD = 15
_REDACTED = re.compile(r"redacted-\d{1,4}(\.invalid)?")
_PUBLIC = re.compile(
    r"((developer|repo|workbench)\.download\.nvidia|([a-z]{2}\.)?(archive|ports|security|esm)\.ubuntu"
    r"|download\.docker)\.com"
    r"|(deb|security)\.debian\.org|(snapshot\.)?ppa\.launchpadcontent\.net"
)
_PART = r"(?:(?:19|20)\d\d[01]\d[0-3]\d|\d{1,4})"
_LETTERS = "ubuntu|build|deb|noble|cuda|cu|cpu|dfsg|ds|rc|git|bpo|esm|really|is|alpha|beta|dev|post|nmu|[abpuv]"
_PARTS = rf"{_PART}(?:[.+~]{_PART}|[.+~]?(?:{_LETTERS})(?:{_PART})?)*"
_VERSION = re.compile(rf"(?:\d{{1,2}}:)?{_PARTS}(?:-{_PARTS})?")
_RELEASE = re.compile(r"\d{1,2}\.\d{1,3}\.\d{1,3}(-\d{1,4})?(-(nvidia|generic|oem|hwe|64k|cloud|arm64|amd64))*")
_NUMBER = re.compile(r"[-+]?\d{1,6}(\.\d{1,9})?(e[-+]?\d{1,3})?%?")
ENDINGS = ("list", "sources", "conf", "gpg", "asc", "pref")


@functools.lru_cache(maxsize=1)
def vocabulary() -> frozenset[str]:
    """Return the words in this collection's own sources, which are public."""
    # The texts in a report come from the proof.
    checks = importlib.import_module("sparkforge_proof.catalogue").modules()
    resources = importlib.import_module("sparkforge_proof.resources")
    proof = [f"sparkforge_proof.{module}" for module in ("cli", *checks)]
    sources = bundle.files(f"{__package__}.record", *proof).values()
    text = "\n".join([*sources, *map(resources.text, resources.OF_CHECKS)])
    return frozenset(word.lower() for word in re.findall(r"[A-Za-z0-9]+", text) if not word.isdigit())


class Redaction:
    """The redaction of one record, in which equal texts get the same placeholder."""

    def __init__(self) -> None:
        self._replaced: dict[str, str] = {}

    def keys(self, parent: str, mapping: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        """Return the known keys of a mapping, which is the value of the key ``parent``."""
        rules = {key: RULES.get(f"{parent}.{key}", RULES.get(key)) for key in mapping}
        return {key: self.value(rule, key, mapping[key]) for key, rule in rules.items() if rule is not None}

    def value(self, rule: t.Any, key: str, value: t.Any) -> t.Any:
        """Return the part of a value that the rule for ``key`` allows; for a list, apply the rule to each row.

        :param rule: ``keys``; a pair of rules, for a mapping whose keys come from the host; a pattern; the name of a
            method; a number, the maximum for numbers; ``bool``; or a set with the one value to return.
        """
        if value is None or value == "":
            return value
        if isinstance(value, (list, tuple)):
            return [self.value(rule, key, row) for row in value]
        if isinstance(value, t.Mapping):
            if not isinstance(rule, tuple):
                return self.keys(key, value) if rule == "keys" else None
            rows = ((self.value(rule[0], key, name), name, inner) for name, inner in value.items())
            # A package with an unknown name is the owner's own, and no test can need it.
            kept_rows = [(made, inner) for made, name, inner in rows if made == name or rule[0] == "path"]
            return {made: self.value(rule[1], key, inner) for made, inner in kept_rows}
        if isinstance(rule, frozenset):
            return next(iter(rule))
        if rule is bool or isinstance(rule, (int, float)):
            is_allowed = isinstance(value, bool) if rule is bool else type(value) in (int, float) and abs(value) <= rule
            return value if is_allowed else None
        if not isinstance(value, str) or rule == "keys" or isinstance(rule, tuple):
            return None
        if _REDACTED.fullmatch(value):
            return value
        if isinstance(rule, re.Pattern):
            is_allowed = rule.fullmatch(value) and value.isascii() and not _looks_like_one_host(value)
            return value if is_allowed else self.placeholder(value)
        return getattr(self, rule)(value)

    def placeholder(self, text: str) -> str:
        """Return the placeholder for a text that must not be kept."""
        return self._replaced.setdefault(text, f"redacted-{len(self._replaced) + 1}")

    def name(self, text: str) -> str:
        """Keep a name if it consists of known words."""
        parts = [word for word in re.split(r"[-_.+~*\s=/:()]", text) if word]
        is_known = all(word.lower() in WORDS or _WORD.fullmatch(word) for word in parts) and text.isascii()
        return text if is_known and not _looks_like_one_host(_OF_A_NAME.sub("", text)) else self.placeholder(text)

    def path(self, text: str) -> str:
        """Check a path part by part; keep file extensions, which tell how apt and the loader read a file."""
        parts = []
        for part in text.split("/"):
            stem, dot, ending = part.rpartition(".")
            clean = part if _REDACTED.fullmatch(stem if ending in ENDINGS else part) else self.name(part)
            parts.append(f"{self.placeholder(stem)}{dot}{ending}" if clean != part and ending in ENDINGS else clean)
        return "/".join(parts)

    def uri(self, text: str) -> str:
        """Keep the URI of a public archive, without credentials, query and fragment."""
        scheme, _separator, rest = re.split(r"[?#]", text)[0].partition("://")
        host, slash, path = rest.rpartition("@")[2].partition("/")
        if scheme not in ("http", "https") or not (_PUBLIC.fullmatch(host) or _REDACTED.fullmatch(host)):
            return f"https://{self.placeholder(text)}.invalid/"
        return f"{scheme}://{host}{slash}{self.path(path)}"

    def version(self, text: str) -> str:
        """Keep a valid Debian version (deb-version(7)); replace any other with 0, which can be compared like one."""
        address = any(int(quad[1]) > _HIGHEST_QUAD or quad[1] == "10" for quad in _QUAD.finditer(text))
        return text if _VERSION.fullmatch(text) and _digits(text) <= 15 and not address else "0"

    def release(self, text: str) -> str:
        """Keep the standard part of a kernel release, without a builder's own suffix."""
        standard = _RELEASE.match(text)
        return "0" if not standard else text if standard.group() == text else f"{standard.group()}-redacted"

    @staticmethod
    def parameters(text: str) -> str:
        """Keep the known parameters on a kernel command line."""
        return " ".join(word for word in text.split() if PARAMETER.fullmatch(word))

    def prose(self, text: str) -> str:
        """Keep only the words of a sentence that occur in this collection's sources, and standalone numbers."""
        tokens = re.findall(r"\s+|\S+", text)
        numbers = [bool(_NUMBER.fullmatch(token.strip("(),;:.~<>="))) for token in tokens]
        # A serial number may be written in groups.
        groups: set[int] = set()
        for index in range(2, len(tokens)):
            pair = (index - 2, index)
            if (
                all(numbers[position] for position in pair)
                and tokens[index - 2][-1].isdigit()
                and tokens[index][0].isdigit()
            ):
                groups.update(pair)
        for index, token in enumerate(tokens):
            if token.isspace() or (numbers[index] and index not in groups):
                continue
            if "/" in token:
                # Any word in a path may be a person's name.
                tokens[index] = self.path(token)
            elif index in groups or not self._is_prose(token):
                tokens[index] = self.placeholder(token)
        return "".join(tokens)

    @staticmethod
    def _is_prose(token: str) -> bool:
        parts = re.findall(r"[A-Za-z0-9]+", token)
        is_known = all(part.lower() in vocabulary() or re.fullmatch(r"\d{1,4}", part) for part in parts)
        most = 6 if all(part.isdigit() for part in parts) else _MOST_DIGITS
        return bool(_REDACTED.fullmatch(token)) or (
            # A terminal would interpret unprintable characters.
            is_known and token.isascii() and token.isprintable() and not _looks_like_one_host(token, most)
        )


def _looks_like_one_host(text: str, most: int = _MOST_DIGITS) -> bool:
    grouped = any(_digits(groups) > _FEW_DIGITS for groups in _GROUPS.findall(text))
    return bool(_ADDRESS.search(text)) or grouped or _digits(text) > most


def _digits(text: str) -> int:
    return sum(character.isdigit() for character in text)


#: The kernel parameters that DGX OS sets (tests/unit/data/hosts/README.md) and those that reserve memory.
PARAMETER = re.compile(
    r"quiet|splash|ro|rw|(kho|init_on_alloc|mitigations|pcie_aspm)=\w{1,4}|iommu\.\w{1,12}=\d|pci=pcie_bus_\w{4,8}"
    r"|console=tty(S|AMA)?\d(,\d{4,6})?|earlycon=uart,mmio32,0x\w{1,8}|crashkernel=[\dGMK:,-]{1,16}"
    r"|initcall_blacklist=tegra234_cbb_init|(default_)?hugepages(z|sz)?=\d{1,5}[KMG]?|transparent_hugepage=\w{5,7}"
    r"|cma=\d{1,5}[KMG]?"
)
_MIB, _COUNT = 10**8, 10**6
_DOTTED = re.compile(r"\d{1,3}(\.\d{1,3}){0,2}")
_HEX, _DATE = re.compile("[0-9a-f]{12}"), re.compile(r"20\d\d-[01]\d-[0-3]\d")
_CPU = re.compile(
    r"Cortex-[AX]\d{2,3}(AE|C)?|Neoverse-[ENV]\d(AE)?|Arm part 0x[0-9a-f]{3}|0x[0-9a-f]{2} 0x[0-9a-f]{3}"
    r"|((Intel|Xeon|Core|AMD|EPYC|Ryzen|Platinum|Gold|Silver|CPU|Processor|@|\(R\)|\(TM\)|i\d-\d{4,5}\w?|\d{1,3}-Core"
    r"|\d{4}[A-Z]{0,2}|\d\.\d{1,2}GHz)[ -]?){1,9}"
)
_GPU = re.compile(
    r"NVIDIA( (GeForce|RTX|PRO|Tesla|Ada|Generation|GPU|Thor|Ti|SUPER|PCIe|NVL|SXM\d?|HBM3e?|\d{2,3}GB|\d{4}"
    r"|G[BH]\d{2,3}|[ABHLT]\d{1,3}[A-Z]?))+"
)
_MACHINE = re.compile(
    r"NVIDIA(_DGX_Spark)?|ASUSTeK COMPUTER INC\.|GX10|Dell Inc\.|Dell Pro Max with GB10.{0,8}|HP|LENOVO|Acer"
    r"|Micro-Star International Co\., Ltd\.|Gigabyte Technology Co\., Ltd\."
)
_SMI = re.compile(
    r"-?\d{1,5}(\.\d{1,2})?|\[?(N/A|Not Supported)\]?|Enabled|Disabled|P\d{1,2}|0x[0-9a-f]{1,5}"
    r"|[0-9A-F]{2}(\.[0-9A-F]{2}){4}"
)
_DGX = re.compile(
    r"DGX_(NAME|PRETTY_NAME|(SWBUILD|OTA)_VERSION|PLATFORM)|(NVIDIA )?DGX (Spark|Station|OS)|\d(\.\d{1,2}){2}"
    r"|GX10|HP ZGX Nano G1n AI Station"
)
_FIRMWARE = re.compile(
    r"Embedded Controller|UEFI (Device Firmware|dbx|CA|Key Exchange Key|Signature Database)|TPM|SoC Firmware|KEK CA"
    r"|SBAT|MT2910 Family [\[(]ConnectX-7[\])]( \(Composite\))?|DGX Spark Platform Key"
)
_RDMA = r"roce(P\d)?p\d{1,2}s\d{1,2}f\d|mlx5_\d{1,2}"
_FIRMWARE_OF = re.compile(rf"board|GPU [0-9a-f]{{4}}:[0-9a-f]{{2}}:[0-9a-f]{{2}}\.\d|{_RDMA}")
_FIRMWARE_VERSION = re.compile(r"(GX10DGX\.)?[0-9A-F]{1,4}(\.[0-9A-F]{2,4}){1,4}|\d\.\d{2}_0ACUM\d{3}")
_CLOCK_UNIT = re.compile(r"(gb10|nvidia)-clock-cap\.service|(spark-)?gpu-clock-lock\.service")


def _table(*rows: tuple[t.Any, str]) -> dict[str, t.Any]:
    return {key: rule for rule, keys in rows for key in keys.split()}


#: The keys that may be kept in an observation by ``spark_info`` and, under ``record``, in the rest of a record. If a
#: key has a different meaning under another parent, the rule names both.
RULES = _table(
    (
        "keys",
        "apt broken lock_holder pins apt_sources clock cpu cuda_toolkits disk driver gpu devices processes kernel "
        "loader memory os dgx python stack unread record build wheels install remove refused would_remove "
        "would_downgrade protected versions ota firmware torch fabric links ports management kho pcie report checks "
        "update plan problem update.kernels dkms boot system archives secure_boot unattended cdi",
    ),
    (("name", "version"), "packages offers ota.behind host_packages"),
    (("prose", "version"), "software"),
    # This rule is only for an observation; elsewhere the key holds a list of fwupd's devices.
    ((_FIRMWARE_OF, _FIRMWARE_VERSION), ".firmware"),
    (("name", "keys"), "policy"),
    (("name", "release"), "ota.software"),
    (("path", "path"), "entries"),
    (("name", "path"), "libraries"),
    (("path", frozenset({"0" * 64})), "managed_files"),
    (("prose", _COUNT), "summary rates"),
    (("prose", _SMI), "rest load"),
    ((re.compile(r"(Mem|Swap|Cma)(Total|Free|Available)|Cached|HugePages_Total|Committed_AS"), 10**9), "record.memory"),
    ((re.compile(r"avg\d{2,3}"), 100), "pressure"),
    ((re.compile(r"sys_vendor|product_name"), _MACHINE), "record.machine"),
    ((re.compile(r"torch|vllm|sglang"), "keys"), "environments"),
    (
        bool,
        "enabled keyring_present keyring_sha1 synchronized nvidia_fs open_kernel_module hardware present "
        "unified_memory headers venv root up connectx7 carrier wireless gpu_required numeric required blocked blocks "
        "accepted running image kernels.driver read_only on key vendor_once refresh reboot_required virtual",
    ),
    (
        _MIB,
        "available_mib total_mib swap_total_mib memory_total_mib memory_used_mib used_mib reserved_mib speed_mbps "
        "download_mib growth_mib",
    ),
    (
        _COUNT,
        "count index priority offset format seconds swappiness mtu width port wifi_powersave ratio mib lists_days",
    ),
    (frozenset({0}), "pid epoch"),
    (frozenset({"GPU-00000000-0000-0000-0000-000000000000"}), "uuid"),
    (frozenset({"00000000-0000-0000-0000-000000000000"}), "boot_id"),
    ("name", "name held package pin components unavailable kept phased autoremove"),
    ("path", "file signed_by suites device mount nvcc path command processes.name torch.python"),
    ("uri", "uris origins"),
    (
        "version",
        "candidate previous versions.version install.version remove.version would_remove.version protected.version "
        "would_downgrade.version",
    ),
    (_DOTTED, "static_driver version cuda_version nvcc_version compute_capability report.driver"),
    (re.compile(r"0x[0-9a-f]{1,8}|\d{1,5}(\.\d{1,4}){0,3}"), "firmware.version firmware.update"),
    (re.compile(r"\d(\.\d{1,2}){1,2}((a|rc|\.dev)\d{1,8})?(\+(cu\d{2,3}|cpu))?"), "torch.version environments.torch"),
    ("release", "release kernels report.kernel"),
    ("parameters", "cmdline"),
    (
        "prose",
        "state probe reason cause remedy diagnosis no_load measured bound family status verdict scope profile notices "
        "evidence checks.name report.stack report.method origin unattended.origins patterns blacklist error default",
    ),
    (re.compile(r"arm64|amd64"), "architecture"),
    (re.compile(r"aarch64|x86_64"), "machine"),
    (re.compile(r"deb(-src)?"), "types"),
    (re.compile(r"ubuntu|debian"), "os.id like"),
    (re.compile(r"noble|jammy|bookworm|trixie"), "codename"),
    (re.compile(r"(ubuntu|debian)[\d.]{2,5}-(aarch64|x86_64)"), "platform"),
    (re.compile(r"ext4|xfs|btrfs|vfat|tmpfs|overlay|zfs|nfs4?|cifs|smb3|fuse(\.[a-z-]{2,16})?|virtiofs|9p"), "fstype"),
    (re.compile(r"\d{1,4}:\d{1,4}"), "id"),
    (re.compile(r"(torch|vllm|sglang)-\d{1,2}(\.\d{1,2}){1,2}|cpu|lab"), "stack.name"),
    (re.compile(r"build|wheel"), "method"),
    (re.compile(r"(en|wl)(P\d{1,2})?(p\d{1,3})?s\d{1,3}(f\d{1,2})?(np\d)?"), "interface halves"),
    (re.compile(_RDMA), "rdma infiniband"),
    (re.compile(r"[\d.]{1,5} GT/s PCIe"), "speed"),
    (re.compile(r"on|off"), "asked"),
    (re.compile(r"OTA[\d.]{1,6}"), "ota.name"),
    (_HEX, "current lock_id"),
    (_DATE, "taken released"),
    (_CPU, "models"),
    (_GPU, "devices.name"),
    (_DGX, "dgx.name record.release"),
    (_FIRMWARE, "firmware.name"),
    (_CLOCK_UNIT, "clock_units"),
)


def redacted(record: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return a record, or just a ``spark_info`` observation, without anything that identifies the host or its owner.

    Redacting a redacted record again changes nothing.
    """
    return Redaction().keys("", record)
