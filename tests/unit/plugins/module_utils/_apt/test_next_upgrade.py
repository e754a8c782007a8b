"""The observation of the next upgrade, from a host's files and recorded output of apt and fwupd."""

import json
import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import next_upgrade
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.next_upgrade import UpdateInfo
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host
from ansible_collections.sparkforge.dgx_spark.tools.forecast.facts import State

# Output of apt 2.8 on Ubuntu 24.04 with LC_ALL=C.UTF-8.
SIMULATED = """\
Reading package lists...
Building dependency tree...
Reading state information...
Calculating upgrade...
The following packages were automatically installed and are no longer required:
  linux-headers-6.17.0-1014-nvidia nvidia-spark-repo
Use 'sudo apt autoremove' to remove them.
The following upgrades have been deferred due to phasing:
  libnss-systemd systemd
The following packages have been kept back:
  linux-image-nvidia
The following NEW packages will be installed:
  linux-image-7.0.0-1019-nvidia
The following packages will be upgraded:
  curl
2 upgraded, 1 newly installed, 1 to remove and 3 not upgraded.
Inst curl [8.5.0-2ubuntu10.6] (8.5.0-2ubuntu10.7 Ubuntu:24.04/noble-updates, Ubuntu:24.04/noble-security [arm64])
Inst linux-image-7.0.0-1019-nvidia (7.0.0-1019.19~24.04.2 NVIDIA:1.0/noble-updates [arm64])
Remv libfoo1 [1.0-1]
Conf curl (8.5.0-2ubuntu10.7 Ubuntu:24.04/noble-updates, Ubuntu:24.04/noble-security [arm64])
"""
SIZES = """\
Need to get 166 MB/215 MB of archives.
After this operation, 3,242 kB of additional disk space will be used.
'http://deb/x.deb' x.deb 12 SHA256:0
"""
CONFIG = """\
APT "";
APT::Periodic "";
APT::Periodic::Unattended-Upgrade "1";
Unattended-Upgrade::Allowed-Origins "";
Unattended-Upgrade::Allowed-Origins:: "${distro_id}:${distro_codename}-security";
Unattended-Upgrade::Package-Blacklist "";
Unattended-Upgrade::Package-Blacklist:: "linux-";
"""


class Machine:
    """A host's root directory with recorded answers, each selected by an argument of the command."""

    def __init__(self, root: Path, **answers: tuple[int, str, str]) -> None:
        self.root, self.executed = root, []  # type: tuple[Path, list[list[str]]]
        self.answers = {
            "--simulate": (0, SIMULATED, ""),
            "--print-uris": (0, SIZES, ""),
            "dump": (0, CONFIG, ""),
            **{name.replace("_", "-"): answer for name, answer in answers.items()},
        }

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.executed.append(argv)
        return next((answer for part, answer in self.answers.items() if part in argv), (127, "", "not found"))

    def write(self, path: str, text: str | bytes = "") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def observe(self, **options: t.Any) -> dict[str, t.Any]:
        self.host = Host(str(self.root), run=self.run)
        return UpdateInfo(self.host, **options).observe({"curl": "8.5.0-2ubuntu10.6"})


def test_plan_with_kept_phased_and_unused_packages(tmp_path: Path) -> None:
    plan = Machine(tmp_path).observe()["plan"]
    origin = "Ubuntu:24.04/noble-updates, Ubuntu:24.04/noble-security"
    versions = {"previous": "8.5.0-2ubuntu10.6", "version": "8.5.0-2ubuntu10.7"}
    assert plan["install"][0] == {"name": "curl", **versions, "origin": origin}
    assert plan["install"][1]["previous"] is None and plan["remove"][0]["name"] == "libfoo1"
    assert plan["kept"] == ["linux-image-nvidia"] and plan["phased"] == ["libnss-systemd", "systemd"]
    assert plan["autoremove"] == ["linux-headers-6.17.0-1014-nvidia", "nvidia-spark-repo"]
    assert (plan["download_mib"], plan["growth_mib"], plan["problem"]) == (159, 3, None)


@pytest.mark.parametrize(("mode", "word"), [("full", "dist-upgrade"), ("safe", "upgrade")])
def test_apt_only_simulates(tmp_path: Path, mode: str, word: str) -> None:
    machine = Machine(tmp_path)
    machine.observe(mode=mode)
    commands = [argv for argv in machine.executed if argv[0] == "apt-get"]
    assert [argv[-1] for argv in commands] == [word, word]
    assert all("Debug::NoLocking=1" in argv and {"--simulate", "--print-uris"} & set(argv) for argv in commands)


def test_lists_are_fetched_into_temporary_directory(tmp_path: Path) -> None:
    machine = Machine(tmp_path, update=(0, "", ""))
    machine.observe(refresh=True)
    (option,) = {word for argv in machine.executed for word in argv if word.startswith("Dir::State::lists=")}
    assert not os.path.exists(option.partition("=")[2])
    commands = [argv for argv in machine.executed if argv[0] == "apt-get"]
    assert all(option in argv for argv in commands) and len(commands) == 3


def test_unreachable_source_is_a_problem_without_plan(tmp_path: Path) -> None:
    stderr = (
        "E: Failed to fetch http://repo/Release  Could not connect to repo:80 (192.0.2.1). - connect (111: Refused)"
    )
    plan = Machine(tmp_path, update=(100, "", stderr)).observe(refresh=True)["plan"]
    assert "repo" in plan["problem"]["cause"] and plan["problem"]["remedy"] and "install" not in plan


def test_unmet_dependencies_are_a_problem(tmp_path: Path) -> None:
    stderr = "E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution)."
    plan = Machine(tmp_path, **{"--simulate": (100, "", stderr)}).observe()["plan"]
    assert plan["problem"]["cause"] and plan["problem"]["remedy"]


def test_kernels_have_driver_headers_and_size(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("proc/sys/kernel/osrelease", "6.17.0-1021-nvidia\n")
    machine.write("boot/vmlinuz-6.17.0-1021-nvidia", b"x" * 3 * 2**20)
    machine.write("boot/initrd.img-6.17.0-1021-nvidia", b"x" * 5 * 2**20)
    machine.write("lib/modules/6.17.0-1021-nvidia/modules.dep", "kernel/nvidia-580-open/nvidia.ko.zst:\n")
    machine.write("lib/modules/6.17.0-1021-nvidia/build/Makefile")
    machine.write("boot/vmlinuz-7.0.0-1019-nvidia")
    machine.write("lib/modules/7.0.0-1019-nvidia/modules.dep", "kernel/drivers/nvme/nvidiafb.ko: x\n")
    first, second = machine.observe()["kernels"]
    parts = {"image": True, "driver": True, "headers": True}
    assert first == {"release": "6.17.0-1021-nvidia", "running": True, **parts, "mib": 8}
    assert (second["running"], second["driver"], second["headers"]) == (False, False, False)


def test_secure_boot_and_dkms(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(next_upgrade.SECURE_BOOT[1:], b"\x06\0\0\0\x01")
    machine.write("var/lib/dkms/nvidia-fs/2.26.6/source/dkms.conf")
    machine.write("var/lib/dkms/mok.pub")
    machine.write("boot/vmlinuz-6.17.0-1021-nvidia")
    observed = machine.observe()
    assert observed["secure_boot"] == {"on": True, "key": False}
    assert observed["dkms"] == [{"name": "nvidia-fs", "version": "2.26.6"}]
    assert observed["boot"]["total_mib"] > 0


@pytest.mark.parametrize("masked", [False, True])
def test_unattended_upgrades_are_read_from_configuration(tmp_path: Path, masked: bool) -> None:
    machine = Machine(tmp_path)
    machine.write("usr/bin/unattended-upgrade")
    machine.write(f"usr/lib/systemd/system/{next_upgrade.ONCE}")
    if masked:
        (tmp_path / "etc/systemd/system").mkdir(parents=True)
        for unit in ("apt-daily-upgrade.timer", next_upgrade.ONCE):
            (tmp_path / "etc/systemd/system" / unit).symlink_to("/dev/null")
    observed = machine.observe()["unattended"]
    assert observed["enabled"] is not masked and observed["vendor_once"] is not masked
    assert observed["origins"] == ["${distro_id}:${distro_codename}-security"] and observed["blacklist"] == ["linux-"]


def devices(**fields: t.Any) -> tuple[int, str, str]:
    return 0, json.dumps({"Devices": [{"DeviceId": "1dff", "Name": "System Firmware", "Version": "1", **fields}]}), ""


def test_failed_firmware_update_is_read_from_history(tmp_path: Path) -> None:
    machine = Machine(
        tmp_path,
        get_devices=devices(UpdateState=2),
        get_history=devices(UpdateState=3, UpdateError="expected 2 and got 1"),
        get_updates=devices(Releases=[{"Version": "2"}]),
    )
    machine.write("usr/bin/fwupdmgr")
    (row,) = machine.observe()["firmware"]
    failure = {"state": "failed", "error": "expected 2 and got 1", "update": "2"}
    assert row == {"name": "System Firmware", "version": "1", **failure}
    arguments = {word for argv in machine.executed for word in argv if argv[0] == "env"}
    assert {"get-devices", "get-history", "get-updates"} <= arguments
    assert not arguments & {"update", "install", "refresh", "upgrade", "activate"}


def test_founders_edition_firmware_has_no_pending_update(tmp_path: Path) -> None:
    # fwupd 2.0.20 on a Spark and a GX10 (anakronox/spark-fleet-updates, 69129d40): the flag needs-reboot only means
    # that an update would need a reboot; one vendor certificate has an UpdateError, and one part of the ConnectX-7 has
    # a version.
    flags = {"Flags": ["internal", "updatable", "require-ac", "supported", "needs-reboot"]}
    certificate = {"Name": "ASUS KEK Certificate", "DeviceId": "bac0", "Version": "2020"}
    rows = [
        {"Name": "Embedded Controller", "DeviceId": "8c94", "Version": "0x03000508", "UpdateState": 2, **flags},
        {"Name": "UEFI Device Firmware", "DeviceId": "0681", "Version": "0x02009b0b", "UpdateState": 2, **flags},
        {**certificate, "UpdateError": "No vendor ID set", **flags},
        {"Name": "MT2910 Family (ConnectX-7)", "DeviceId": "dd18"},
        {"Name": "MT2910 Family (ConnectX-7) (Composite)", "DeviceId": "5e4e", "Version": "28.45.4028"},
    ]
    answer = (0, json.dumps({"Devices": rows}), "")
    machine = Machine(tmp_path, get_devices=answer, get_history=(2, "", ""), get_updates=(2, "", ""))
    machine.write("usr/bin/fwupdmgr")
    observed = machine.observe()["firmware"]
    states = [("0x03000508", "success"), ("0x02009b0b", "success"), ("2020", None), ("", None), ("28.45.4028", None)]
    assert [(row["version"], row["state"]) for row in observed] == states
    assert {row["update"] for row in observed} == {None}
    facts = State({}, {"firmware": observed}).facts
    assert [facts[name] for name in ("firmware_failed", "firmware_pending", "firmware_offered")] == [[], [], []]


def test_firmware_that_needs_a_reboot(tmp_path: Path) -> None:
    machine = Machine(tmp_path, get_devices=devices(UpdateState="needs-reboot"), get_history=(2, "", "No history"))
    machine.write("usr/bin/fwupdmgr")
    (row,) = machine.observe()["firmware"]
    assert (row["state"], row["update"]) == ("needs-reboot", None)
    assert "fwupdmgr get-updates" in [row["probe"] for row in machine.host.unread]


def test_cdi_specification_is_read(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("etc/cdi/nvidia.yaml", "- hostPath: /usr/lib/aarch64-linux-gnu/libcuda.so.580.173.02\n")
    assert machine.observe()["cdi"] == {"static_driver": "580.173.02", "refresh": False}


def test_empty_machine_is_observed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, **{"--simulate": (127, "", "apt-get: not found"), "dump": (127, "", "not found")})
    observed = machine.observe()
    assert observed["kernels"] == [] and observed["firmware"] is None and observed["boot"] is None
    assert {row["probe"] for row in machine.host.unread} >= {"unattended"}
