"""Observe, read-only, the effect of a host's next upgrade and everything that decides whether the host survives it.

The result comes from apt's own solver, with all sources, pins, holds and phased updates of the host. Nothing is locked
or written, and no query starts an update. An ordinary account gets the same result, except from root-only files.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import typing as t

from .._host.reader import Host
from .apt_get import diagnose, read_only
from .deb_version import compare_versions
from .plan import parse_simulation

#: The time limit in seconds for one query to fwupd, whose daemon may have to start.
FIRMWARE_SECONDS = 8
UPGRADES = {"full": "dist-upgrade", "safe": "upgrade"}
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#: NVIDIA's own updater, which runs once after the first boot (owners' field notes; cylon's role masks it).
ONCE = "nvidia-spark-run-apt-upgrade-once.service"
UNITS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
#: The world-readable directory of the checker's release recipes, from "Updating a fleet of GB10 systems" (2026-09-05),
#: for nvidia-spark-ota-check 1.0.16-1.
RECIPES = "/opt/nvidia/spark-ota-check/metadata"

_LISTS = {
    "kept": "packages have been kept back",
    "phased": "upgrades have been deferred due to phasing",
    "autoremove": "automatically installed and (is|are) no longer required",
}
_ORIGIN = re.compile(r"^Inst (\S+) (?:\[\S+\] )?\(\S+ ([^)]*?)(?: \[\w+\])?\)", re.M)
_SIZE = re.compile(r"([\d.,]+) ([kMGT]?)B")
_UNIT = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
#: fwupd's states, in the order of their numbers in its JSON output (libfwupd, FwupdUpdateState).
STATES = ("unknown", "pending", "success", "failed", "needs-reboot", "failed-transient")
#: A pattern for the driver's module in modules.dep, compressed or not.
_DRIVER = re.compile(r"(^|/)nvidia\.ko(\.\w+)?:", re.M)


def parse_lists(text: str) -> dict[str, list[str]]:
    """Return the lists in apt-get's output: packages kept back, deferred by phasing, or no longer required."""
    lists: dict[str, list[str]] = {name: [] for name in _LISTS}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("  ") and current is not None:
            current += line.split()
        else:
            names = [name for name, phrase in _LISTS.items() if re.search(phrase, line) and line.rstrip().endswith(":")]
            current = lists[names[0]] if names else None
    return lists


def parse_sizes(text: str) -> dict[str, int]:
    """Return the MiB that apt-get would download and add, from the text before the list of ``--print-uris``."""

    def size(line: str) -> int:
        sizes = [float(number.replace(",", "")) * _UNIT[unit] for number, unit in _SIZE.findall(line)]
        return int(sizes[0]) if sizes else 0

    needed = next((line for line in text.splitlines() if line.startswith("Need to get")), "")
    space_line = next((line for line in text.splitlines() if line.startswith("After this operation")), "")
    growth_mib = -size(space_line) if "freed" in space_line else size(space_line)
    return {"download_mib": -(-size(needed) // 2**20), "growth_mib": growth_mib // 2**20}


def parse_config(text: str) -> dict[str, list[str]]:
    """Parse the output of ``apt-config dump`` into the values for each key, in lower case."""
    settings: dict[str, list[str]] = {}
    for key, value in re.findall(r'^(\S+?)(?:::)? "(.*)";$', text, re.M):
        if value:
            settings.setdefault(key.lower(), []).append(value)
    return settings


def driver_of(text: str) -> str | None:
    """Return the driver version that a CDI specification was made for, from the name of its libcuda."""
    match = re.search(r"libcuda\.so\.(\d+(?:\.\d+)+)", text)
    return match.group(1) if match else None


class UpdateInfo:
    """Observe one host.

    :param mode: ``full``, like ``apt full-upgrade`` and the vendor's updater, or ``safe``, which removes nothing.
    :param refresh: first fetch the package lists into a temporary directory; the host's own are not changed.
    """

    def __init__(self, host: Host, mode: str = "full", refresh: bool = False) -> None:
        self.host, self.mode, self.refresh = host, mode, refresh

    def observe(self, installed: t.Mapping[str, str]) -> dict[str, t.Any]:
        """Return the observation; a missing feature on the host never raises an error."""
        release = (self.host.read("/proc/sys/kernel/osrelease") or "").strip() or self.host.release
        return {
            "plan": self.host.part("apt", self._plan) or {},
            "lists_days": self.host.part("lists", self._lists_days),
            "kernels": self.host.part("kernels", lambda: self._kernels(release)) or [],
            "dkms": self.host.part("dkms", self._dkms) or [],
            "boot": self.host.part("boot", lambda: self._space("/boot")),
            "system": self.host.part("system", lambda: self._space("/usr")),
            "archives": self.host.part("archives", lambda: self._space("/var/cache/apt")),
            "secure_boot": self.host.part("secure_boot", self._secure_boot),
            "unattended": self.host.part("unattended", self._unattended),
            "firmware": self.host.part("firmware", self._firmware),
            "ota": self.host.part("ota", lambda: newest_release(self.host, installed)),
            "cdi": self.host.part("cdi", self._cdi),
            "infiniband": self.host.names("/sys/class/infiniband"),
            "reboot_required": self.host.is_file("/run/reboot-required"),
            "virtual": self.host.is_file("/run/.containerenv") or self.host.is_file("/.dockerenv"),
        }

    def _plan(self) -> dict[str, t.Any]:
        """Return apt's plan, or the reason why there is none."""
        if not self.refresh:
            return self._simulated()
        with tempfile.TemporaryDirectory(prefix="sparkforge-lists-") as folder:
            os.mkdir(f"{folder}/partial")
            # apt's own account cannot write here.
            lists = ("-o", f"Dir::State::lists={folder}", "-o", "APT::Sandbox::User=")
            command = ["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any", *read_only(), *lists]
            code, stdout, stderr = self.host.run(command)
            if code:
                error = diagnose("update its package lists", stdout, stderr)
                return {"problem": {"cause": error.cause, "remedy": error.remedy}}
            return self._simulated(lists)

    def _simulated(self, lists: tuple[str, ...] = ()) -> dict[str, t.Any]:
        command = ["apt-get", "-q", *read_only(), *lists]
        status, stdout, stderr = self.host.run([*command, "--simulate", UPGRADES[self.mode]])
        if status:
            error = diagnose(f"simulate {UPGRADES[self.mode]}", stdout, stderr)
            return {"problem": {"cause": error.cause, "remedy": error.remedy}}
        plan, origins = parse_simulation(stdout), dict(_ORIGIN.findall(stdout))
        _status, sizes, _stderr = self.host.run([*command, "--print-uris", UPGRADES[self.mode]])
        return {
            "install": [{**step.as_result(), "origin": origins.get(step.name, "")} for step in plan.install],
            "remove": [step.as_result() for step in plan.remove],
            **parse_lists(stdout),
            **parse_sizes(sizes),
            "problem": None,
        }

    def _lists_days(self) -> float | None:
        folder = self.host.path("/var/lib/apt/lists")
        times = [entry.stat().st_mtime for entry in os.scandir(folder) if entry.name.endswith("Release")]
        return round(max(0.0, self.host.clock() - max(times)) / 86400, 1) if times else None

    def _kernels(self, running: str) -> list[dict[str, t.Any]]:
        """Return each kernel that can be booted or has modules: whether it has the driver and headers, and its size."""
        images = {name[8:] for name in self.host.names("/boot") if name.startswith("vmlinuz-")}
        kernels = []
        for release in sorted(images | set(self.host.names("/lib/modules"))):
            modules = f"/lib/modules/{release}"
            parts = [self.host.path(f"/boot/{name}-{release}") for name in ("vmlinuz", "initrd.img")]
            kernels.append(
                {
                    "release": release,
                    "running": release == running,
                    "image": release in images,
                    "driver": bool(_DRIVER.search(self.host.read(f"{modules}/modules.dep") or "")),
                    "headers": self.host.is_directory(f"{modules}/build")
                    or self.host.is_directory(f"/usr/src/linux-headers-{release}"),
                    "mib": sum(os.stat(part).st_size for part in parts if os.path.exists(part)) // 2**20,
                }
            )
        return kernels

    def _dkms(self) -> list[dict[str, str]]:
        directory = "/var/lib/dkms"
        return [
            {"name": name, "version": version}
            for name in self.host.names(directory)
            for version in self.host.names(f"{directory}/{name}")
            if self.host.is_directory(f"{directory}/{name}/{version}/source")
        ]

    def _space(self, path: str) -> dict[str, t.Any] | None:
        if not self.host.is_directory(path):
            return None
        numbers = self.host.statvfs(path)
        return {
            "available_mib": numbers.f_bavail * numbers.f_frsize // 2**20,
            "total_mib": numbers.f_blocks * numbers.f_frsize // 2**20,
            "read_only": bool(numbers.f_flag & os.ST_RDONLY),
        }

    def _secure_boot(self) -> dict[str, t.Any]:
        state = self.host.read_bytes(SECURE_BOOT)
        # Four bytes of attributes precede the value (UEFI specification, 3.3).
        is_enabled = bool(state[4]) if state and len(state) > 4 else None
        return {"on": is_enabled, "key": self.host.is_file("/var/lib/shim-signed/mok/MOK.der")}

    def _masked(self, unit: str) -> bool:
        return self.host.real(f"/etc/systemd/system/{unit}") == "/dev/null"

    def _is_active(self, unit: str) -> bool:
        return any(self.host.is_file(f"{folder}/{unit}") for folder in UNITS) and not self._masked(unit)

    def _unattended(self) -> dict[str, t.Any]:
        status, stdout, stderr = self.host.run(["apt-config", "dump"])
        if status:
            raise OSError(stderr.strip() or f"apt-config exited with status {status}")
        config = parse_config(stdout)
        periodic = config.get("apt::periodic::unattended-upgrade", ["0"])[-1]
        return {
            "enabled": periodic not in ("0", "") and self.host.is_file("/usr/bin/unattended-upgrade")
            and not self._masked("apt-daily-upgrade.timer"),
            "origins": config.get("unattended-upgrade::allowed-origins", []),
            "patterns": config.get("unattended-upgrade::origins-pattern", []),
            "blacklist": config.get("unattended-upgrade::package-blacklist", []),
            "vendor_once": self._is_active(ONCE),
        }  # fmt: skip

    def _firmware(self) -> list[dict[str, t.Any]] | None:
        """Return fwupd's devices, with available updates and unfinished ones; this only queries fwupd."""
        command = self.host.command("fwupdmgr")
        if not command:
            return None
        with tempfile.TemporaryDirectory() as folder:
            # fwupdmgr writes its cache to the account's directories.
            variables = [f"{name}={folder}" for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")]

            def ask(query: str) -> dict[str, dict[str, t.Any]]:
                quiet = ["--no-metadata-check", "--no-unreported-check", "--no-remote-check"]
                limited = ["env", *variables, "timeout", str(FIRMWARE_SECONDS), command or ""]
                status, stdout, stderr = self.host.run([*limited, query, "--json", *quiet])
                if status not in (0, 2):  # 2 means that there is nothing to report
                    self.host.note(f"fwupdmgr {query}", stderr or f"exit status {status}")
                    return {}
                rows = json.loads(stdout or "{}").get("Devices") or []
                return {str(row.get("DeviceId") or row.get("Name")): row for row in rows}

            devices, history, updates = ask("get-devices"), ask("get-history"), ask("get-updates")
        firmware = []
        for key, row in {**history, **devices}.items():
            # get-devices may report a failed update as a success, but the history is right (fwupd issue 10772).
            past = {**row, **history.get(key, {})}
            releases = (updates.get(key) or {}).get("Releases") or []
            firmware.append(
                {
                    "name": str(row.get("Name")),
                    # A device that only contains other devices has no version.
                    "version": str(row.get("Version") or ""),
                    "state": _state(past.get("UpdateState")),
                    "error": past.get("UpdateError"),
                    "update": str(releases[0].get("Version")) if releases else None,
                }
            )
        return firmware

    def _cdi(self) -> dict[str, t.Any]:
        paths = ("/etc/cdi/nvidia.yaml", "/etc/cdi/nvidia.json")
        driver = next((driver_of(self.host.read(path) or "") for path in paths if self.host.is_file(path)), None)
        return {"static_driver": driver, "refresh": self._is_active("nvidia-cdi-refresh.service")}


def newest_release(host: Host, installed: t.Mapping[str, str]) -> dict[str, t.Any] | None:
    """Return the newest release that NVIDIA's checker knows, and its packages that are older or missing here."""
    texts = [host.read(f"{RECIPES}/{name}") for name in host.names(RECIPES) if "ebeta" not in name]
    recipes = [json.loads(text) for text in texts if text]
    if not recipes:
        return None
    latest = max(recipes, key=lambda recipe: str(recipe["metadata"].get("releaseDate")))
    rows = [(row["name"], installed.get(row["name"], ""), row["version"]) for row in latest.get("package") or []]
    return {
        "name": latest["metadata"].get("name"),
        "released": str(latest["metadata"].get("releaseDate"))[:10],
        "software": {row["name"]: row["version"] for row in latest.get("software") or []},
        "behind": {name: [old, new] for name, old, new in rows if not old or compare_versions(old, new) < 0},
    }


def _state(value: t.Any) -> str | None:
    if isinstance(value, int) and 0 <= value < len(STATES):
        return STATES[value]
    return value if isinstance(value, str) else None
