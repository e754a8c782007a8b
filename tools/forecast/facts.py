"""The state of a host after an upgrade: the facts that the ledger's rules use, computed from an observation.

The computation is pure, so observed hosts, recorded hosts and the examples in rules are judged alike.
"""

from __future__ import annotations

import functools
import re
import typing as t

from ...plugins.module_utils._apt.deb_version import compare_versions
from ...plugins.module_utils._apt.plan import PROTECTED
from ...plugins.module_utils._core import versions
from ...plugins.module_utils._environment.apt_compat import misfit
from ...plugins.plugin_utils import apt_sources
from . import patterns

#: The size in MiB of a kernel and its initial RAM disk, for a host without one to measure.
KERNEL_MIB = 200
#: The MiB that must remain free after an upgrade.
RESERVE_MIB = 512
#: The oldest driver branch for each major version of CUDA: NVIDIA, "CUDA Compatibility", table 1.
DRIVER_OF_CUDA = {"11": 450, "12": 525, "13": 580}

_PROTECTED = re.compile("|".join(PROTECTED))
_IMAGE = re.compile(r"^linux-image-(?:unsigned-)?(\d[\w.+~-]*)$")
_DRIVER = re.compile(r"^(?:libnvidia-compute|nvidia-driver|nvidia-kernel-common|nvidia-utils)-?(\d{3})?\b(?!.*:)")
_DKMS = re.compile(r"-dkms(?:-|$)")
_REWRITES_INITRD = re.compile(rf"^(?:linux-firmware|initramfs-tools)(?:-|$)|{_DKMS.pattern}")
_FIRMWARE_BAD = ("failed", "failed-transient")

# The fields of a record's samples of a GPU under load, and the utilisation (%) from which a GPU counts as busy.
_CLOCKS = ("clocks.sm", "clocks.max.sm", "utilization.gpu")
_BUSY = 50

Facts = t.Mapping[str, t.Any]
#: dpkg's order of versions, for sorted() and max().
by_version = functools.cmp_to_key(compare_versions)


class State:
    """A host before and after its upgrade.

    :param observation: the result of ``spark_info``.
    :param update: the result of ``update_info``.
    """

    def __init__(self, observation: Facts, update: Facts) -> None:
        self.observation, self.update = observation, update
        apt = observation.get("apt") or {}
        self.before: dict[str, str] = dict(apt.get("packages") or {})
        self.plan: Facts = update.get("plan") or {}
        self.installs: list[Facts] = list(self.plan.get("install") or [])
        self.removes: list[Facts] = list(self.plan.get("remove") or [])
        removed_names = {step["name"] for step in self.removes}
        self.after = {name: version for name, version in self.before.items() if name not in removed_names}
        self.after.update({step["name"]: step["version"] for step in self.installs})
        self.kernels: list[Facts] = list(update.get("kernels") or [])
        self.facts = self._facts()

    def _facts(self) -> dict[str, t.Any]:
        apt, system = self.observation.get("apt") or {}, self.observation.get("os") or {}
        boot = self.update.get("boot") or {}
        secure, automatic = self.update.get("secure_boot") or {}, self.update.get("unattended") or {}
        problem = self.plan.get("problem")
        sources = apt_sources.enabled(self.observation)
        return {
            "apt_problem": problem["cause"] if problem else None,
            "autoremoved": self._protected(self.plan.get("autoremove") or []),
            "boot_missing_mib": self._boot_missing(boot),
            "boot_read_only": bool(boot.get("read_only")) and bool(self.new_kernels()),
            "broken": [row["name"] for row in apt.get("broken") or []],
            "cdi_stale": self._cdi_stale(),
            "changes": len(self.installs) + len(self.removes),
            "cuda_beyond_driver": self._cuda_beyond_driver(),
            "dgx": (system.get("dgx") or {}).get("version"),
            "dkms_without_headers": self._dkms_without_headers(),
            "dkms": self._dkms_modules(),
            "doubled_sources": sorted(apt_sources.signed_differently(sources)),
            "driver_after": self.driver(self.after),
            "driver_changes": self.driver(self.before) != self.driver(self.after),
            "environments_misfit": self._environments_misfit(),
            "fabric": bool(self.update.get("infiniband")),
            "firmware_failed": self._firmware("state", _FIRMWARE_BAD),
            "firmware_offered": [row["name"] for row in self.update.get("firmware") or [] if row.get("update")],
            "firmware_pending": self._firmware("state", ("pending", "needs-reboot")),
            "foreign_kernels": self._foreign_kernels(),
            "gpu_slow": self._gpu_slow(),
            "held": list(apt.get("held") or []),
            "kept": list(self.plan.get("kept") or []),
            "kernel_after": self.kernel_after(),
            "kernel_parameters": ((self.observation.get("kernel") or {}).get("cmdline") or "").split(),
            "kernel_running": (self.observation.get("kernel") or {}).get("release"),
            "kernels_new": self.new_kernels(),
            "kernels_without_driver": self._kernels_without_driver(),
            "kernels_of_new_series": self._kernels_of_new_series(),
            "keyrings_missing": sorted(row["file"] for row in apt_sources.without_keyring(sources)),
            "keyrings_sha1": sorted(row["file"] for row in apt_sources.with_sha1_keyring(sources)),
            "lists_days": self.update.get("lists_days"),
            "lock_holder": (apt.get("lock_holder") or {}).get("command"),
            "ota_partly": self._ota_partly(),
            "phased": list(self.plan.get("phased") or []),
            "reboot_required": bool(self.update.get("reboot_required")),
            "release_candidates": [step["name"] for step in self.installs if "~rc" in str(step["version"])],
            "removed_protected": self._protected(step["name"] for step in self.removes),
            "system_missing_mib": self._system_missing(),
            "tonight": self._tonight(automatic),
            "sources_of_another_machine": sorted(
                row["file"] for row in apt_sources.of_another_machine(sources, str(apt.get("architecture")))
            ),
            "sources_without_key": sorted(row["file"] for row in apt_sources.without_signed_by(sources)),
            "unsigned": self._unsigned(secure),
            "vendor_once": bool(automatic.get("vendor_once")),
        }

    @staticmethod
    def _protected(names: t.Iterable[str]) -> list[str]:
        return sorted(name for name in names if _PROTECTED.search(name))

    def new_kernels(self) -> list[str]:
        """Return the kernel releases that the upgrade adds, oldest first."""
        bootable = {kernel["release"] for kernel in self.kernels if kernel.get("image")}
        installed = {match[1] for step in self.installs if (match := _IMAGE.match(step["name"]))}
        return sorted(installed - bootable, key=by_version)

    def kernel_after(self) -> str | None:
        """Return the release that boots after the upgrade: the highest installed one."""
        gone = {match[1] for step in self.removes if (match := _IMAGE.match(step["name"]))}
        images = [kernel["release"] for kernel in self.kernels if kernel.get("image") and kernel["release"] not in gone]
        running = (self.observation.get("kernel") or {}).get("release")
        releases = [*images, *self.new_kernels()] or ([running] if running else [])
        return max(releases, key=by_version) if releases else None

    def _dkms_modules(self) -> list[str]:
        names = [row["name"] for row in self.update.get("dkms") or []]
        return sorted({*names, *filter(_DKMS.search, self.after)})

    def _headers(self, release: str) -> bool:
        has_headers = any(kernel["release"] == release and kernel.get("headers") for kernel in self.kernels)
        return has_headers or f"linux-headers-{release}" in self.after

    def _kernels_without_driver(self) -> list[str]:
        if not (self.observation.get("gpu") or {}).get("hardware") and self.driver(self.before) is None:
            return []
        built = [name for name in self._dkms_modules() if name.startswith("nvidia") and "fs" not in name.split("-")]
        without = []
        for release in self.new_kernels():
            packaged = any(
                name.startswith("linux-modules-nvidia-") and name.endswith(f"-{release}") for name in self.after
            )
            if not packaged and not (built and self._headers(release)):
                without.append(release)
        return without

    def _dkms_without_headers(self) -> list[str]:
        return [release for release in self.new_kernels() if self._dkms_modules() and not self._headers(release)]

    def _foreign_kernels(self) -> list[str]:
        """Return new kernels of another flavour than the running one: 7.0.0-31-generic alongside 6.17.0-1021-nvidia."""
        running = str((self.observation.get("kernel") or {}).get("release") or "")
        flavour = running.rpartition("-")[2]
        return [release for release in self.new_kernels() if flavour.isalpha() and not release.endswith(f"-{flavour}")]

    def _kernels_of_new_series(self) -> list[str]:
        """Return new kernels of another series than the running one: 7.0 alongside 6.17."""
        running = versions.numbers(str((self.observation.get("kernel") or {}).get("release") or ""))[:2]
        return [release for release in self.new_kernels() if running and versions.numbers(release)[:2] != running]

    def _unsigned(self, secure: Facts) -> list[str]:
        rebuilds_all = self.new_kernels() or self.driver(self.before) != self.driver(self.after)
        new = [step["name"] for step in self.installs if _DKMS.search(step["name"])]
        return (self._dkms_modules() if rebuilds_all else new) if secure.get("on") and not secure.get("key") else []

    def _boot_missing(self, boot: Facts) -> int:
        sizes = [int(kernel["mib"]) for kernel in self.kernels if kernel.get("mib")]
        # The old initial RAM disk is kept until the new one is written.
        needed = (max(sizes, default=KERNEL_MIB) or KERNEL_MIB) * (len(self.new_kernels()) + 1)
        writes = self.new_kernels() or any(_REWRITES_INITRD.search(step["name"]) for step in self.installs)
        return max(0, needed - boot["available_mib"]) if boot and writes else 0

    def _system_missing(self) -> int:
        if not (self.installs or self.removes):
            return 0
        fetched = int(self.plan.get("download_mib") or 0)
        growth_mib = max(0, int(self.plan.get("growth_mib") or 0))
        rooms = [(self.update.get("archives"), fetched), (self.update.get("system"), fetched + growth_mib)]
        return max(max(0, need + RESERVE_MIB - room["available_mib"]) if room else 0 for room, need in rooms)

    def driver(self, packages: t.Mapping[str, str]) -> str | None:
        """Return the version of the driver among these packages."""
        packaged = [version for name, version in packages.items() if _DRIVER.match(name)]
        upstream = [re.sub(r"^\d+:", "", version).partition("-")[0] for version in packaged]
        versions = [version for version in upstream if re.fullmatch(r"\d{3}(\.\d+)+", version)]
        if versions:
            return max(versions, key=by_version)
        observed = (self.observation.get("driver") or {}).get("version")
        # A record may leave out the driver's packages, and the driver may come from another source.
        return observed if observed and not any(_DRIVER.match(step["name"]) for step in self.removes) else None

    def _cuda_beyond_driver(self) -> list[str]:
        """Return the environments and packaged toolkits that the driver does not support after the upgrade."""
        driver = self.driver(self.after)
        branch = int(driver.partition(".")[0]) if driver else 0
        torches = {name: str(row.get("torch")) for name, row in (self.observation.get("environments") or {}).items()}
        rows = [(f"environment {name} ({torch})", re.search(r"\+cu(\d\d)\d", torch)) for name, torch in torches.items()]
        toolkit = re.compile(r"cuda-(?:cudart|libraries)-(\d\d)-\d+$")
        rows += [(f"{name} {version}", toolkit.match(name)) for name, version in self.after.items()]
        too_old = sorted(text for text, cuda in rows if cuda and branch < DRIVER_OF_CUDA.get(cuda[1], 0))
        return too_old if self.driver(self.before) else []

    def _environments_misfit(self) -> list[str]:
        misfits = []
        for name, row in (self.observation.get("environments") or {}).items():
            recorded = row.get("host_packages") or {}
            known = {key: value for key, value in recorded.items() if key in self.before}
            misfits += [f"environment {name}: {wrong}" for wrong in misfit(known, self.after).wrong]
        return misfits

    def _cdi_stale(self) -> str | None:
        """Return the driver version in the static CDI specification if the upgrade changes the driver."""
        cdi = self.update.get("cdi") or {}
        specified, new_version = cdi.get("static_driver"), self.driver(self.after)
        return str(specified) if specified and new_version and specified != new_version else None

    def _firmware(self, key: str, values: t.Collection[str]) -> list[str]:
        return [row["name"] for row in self.update.get("firmware") or [] if row.get(key) in values]

    def _gpu_slow(self) -> str | None:
        """Return the highest clock (MHz) of a busy GPU in a record, if it is less than half of what the GPU allows."""
        samples = [[str(sample.get(name)) for name in _CLOCKS] for sample in self.update.get("load") or []]
        rows = [[int(text) for text in row] for row in samples if all(map(str.isdecimal, row))]
        clock, highest, _load = max((row for row in rows if row[2] >= _BUSY), default=(0, 0, 0))
        return f"{clock} of {highest} MHz under load" if 2 * clock < highest else None

    def _ota_partly(self) -> list[str]:
        """Return the packages in NVIDIA's recipe that the plan does not upgrade although it upgrades others."""
        outdated = (self.update.get("ota") or {}).get("behind") or {}
        pending = [
            name
            for name, (installed, released) in outdated.items()
            if installed and compare_versions(self.after.get(name, "0"), released) < 0
        ]
        return sorted(pending) if len(pending) < len([1 for installed, _want in outdated.values() if installed]) else []

    def _tonight(self, automatic: Facts) -> list[str]:
        """Return the packages in the plan that unattended-upgrades would install."""
        if not automatic.get("enabled"):
            return []
        system = self.observation.get("os") or {}
        origins = {"ubuntu": "Ubuntu", "debian": "Debian"}
        substitutions = {
            "${distro_id}": origins.get(str(system.get("id")), ""),
            "${distro_codename}": str(system.get("codename") or ""),
        }
        allowed = []
        for origin in automatic.get("origins") or []:
            for word, value in substitutions.items():
                origin = origin.replace(word, value)
            allowed.append(tuple(origin.rpartition(":")[::2]))
        # These are the host's own expressions; the effect of an expression without a bound is unknown.
        barred = [pattern for pattern in automatic.get("blacklist") or [] if patterns.is_bounded(pattern)]
        return [
            step["name"]
            for step in self.installs
            if step.get("previous") and any(origin in allowed for origin in _origins(str(step.get("origin") or "")))
            and not any(patterns.matches(pattern, step["name"], "") for pattern in barred)
        ]  # fmt: skip


def _origins(text: str) -> list[tuple[str, str]]:
    """Return origins and archives, which apt writes as ``Ubuntu:24.04/noble-security, NVIDIA:1.0/stable``."""
    parts = (part.strip().partition(":") for part in text.split(","))
    return [(origin, rest.rpartition("/")[2]) for origin, _colon, rest in parts]
