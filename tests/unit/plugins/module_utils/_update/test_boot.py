# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The trial of a new kernel with real apt, and a power cut at each thing that is written; GRUB itself is stood in for.

tests/long/test_kernel_trial.py has GRUB, kernels and systemd.
"""

from __future__ import annotations

import os
import types
import typing as t
import uuid
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._update import boot, grub, health, upgrade
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._update.observation import UpdateInfo
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._update.upgrade import Upgrade

from tests.unit.apt_tree import Tree

OLD, NEW = "6.17.0-1021-nvidia", "6.17.0-1022-nvidia"
#: As grub-mkconfig of GRUB 2.06 writes it, shortened.
TOP = """function recordfail {{
  set recordfail=1
}}
if [ "${{next_entry}}" ] ; then
   set default="${{next_entry}}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="{default}"
fi
menuentry 'Ubuntu' --class os $menuentry_id_option 'gnulinux-simple-1f2e' {{
\tlinux\t/boot/vmlinuz-{newest} root=UUID=1f2e ro
}}
submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-1f2e' {{
"""
ENTRY = """\tmenuentry 'Linux {release}' --class os $menuentry_id_option 'gnulinux-{release}-{kind}-1f2e' {{
\t\trecordfail
\t\tlinux\t/boot/vmlinuz-{release} root=UUID=1f2e ro
\t}}
"""
ID = "gnulinux-advanced-1f2e>gnulinux-{}-advanced-1f2e"


def menu_of(releases: t.Sequence[str], default: str) -> str:
    newest = sorted(releases, reverse=True)
    rows = [ENTRY.format(release=one, kind=kind) for one in newest for kind in ("advanced", "recovery")]
    return TOP.format(default=default, newest=newest[0]) + "".join(rows) + "}\n"


class Spark(Tree):
    """A tree that GRUB boots."""

    def furnish(self) -> None:
        for path, text in {
            "etc/default/grub": "GRUB_DEFAULT=0\n",
            "proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
            "eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\n",
            "sys/module/nvidia/version": "580.1\n",
            "usr/sbin/update-grub": "",
        }.items():
            (self.path / path).parent.mkdir(parents=True, exist_ok=True)
            (self.path / path).write_text(text)
        (self.path / "usr/sbin/update-grub").chmod(0o755)
        (self.path / "boot/grub").mkdir()
        (self.path / "boot/grub/grubenv").write_text("# GRUB Environment Block\n".ljust(grub.SIZE, "#"))

    def run(self, argv: list[str], environment: t.Mapping[str, str] | None = None) -> tuple[int, str, str]:
        if argv[0] == "update-grub":
            self.make_menu()
            return 0, "", ""
        if argv[0] == "grub-probe":
            return 0, "ext2\n" if argv[1] == "--target=fs" else "\n", ""
        answer = super().run(argv, environment)
        if "--simulate" not in argv and {"dist-upgrade", "install"} & set(argv):
            self.make_menu()  # by the kernel's package
        return answer

    def make_menu(self) -> None:
        settings = [self.path / "etc/default/grub", *sorted((self.path / "etc/default").glob("grub.d/*.cfg"))]
        default = [
            line[13:] for one in settings for line in one.read_text().splitlines() if line[:13] == "GRUB_DEFAULT="
        ]
        there = [path.name[8:] for path in (self.path / "boot").glob("vmlinuz-*")]
        if there:
            text = menu_of(there, "${saved_entry}" if default[-1] == "saved" else default[-1])
            (self.path / "boot/grub/grub.cfg").write_text(text)

    def boot(self) -> str:
        """Do what GRUB does, and return the kernel that it boots."""
        menu, block = (self.path / "boot/grub/grub.cfg").read_text(), str(self.path / "boot/grub/grubenv")
        known = grub.read_block(block) or {}
        entry = known.get("next_entry") or (known.get("saved_entry") if "${saved_entry}" in menu else "")
        grub.write_block(block, next_entry="")
        ids = {name: release for release, name in grub.entries(menu).items()}
        release = ids[entry] if entry else str(grub.first(menu))
        proc = self.path / "proc"
        (proc / "cmdline").write_text(f"BOOT_IMAGE=/boot/vmlinuz-{release} ro\n")
        (proc / "sys/kernel/osrelease").write_text(f"{release}\n")
        (proc / "sys/kernel/random").mkdir(exist_ok=True)
        (proc / "sys/kernel/random/boot_id").write_text(f"{uuid.uuid4()}\n")
        return release


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    tree = Spark(tmp_path_factory.mktemp("spark"))
    tree.furnish()
    for release, version in ((OLD, "21"), (NEW, "22")):
        tree.offer(f"linux-image-{release}", version, files=[f"boot/vmlinuz-{release}", f"boot/initrd.img-{release}"])
        tree.offer("linux-image-nvidia", version, Depends=[f"linux-image-{release}"])
        tree.offer("tool", version)
        tree.update()
        if release == OLD:
            tree.install("linux-image-nvidia", "tool")
    tree.boot()
    return tree


class PowerCut(BaseException):
    """The power is gone."""


class Machine:
    """A copy of the Spark: the commands of the play, and what happens between them."""

    def __init__(self, original: Spark, place: Path) -> None:
        self.tree = original.copy(place / "copy")
        self.tree.__class__ = Spark
        self.root = str(place / "root")
        self.trial = os.path.join(self.root, "update", "trial.json")
        self.plan = UpdateInfo(self.tree.host).observe(self.tree.versions())["plan"]
        self.boots: list[str] = []
        self.dies: str | None = None

    @property
    def engine(self) -> Upgrade:
        return Upgrade(self.tree.apt, self.root, self.tree.host)

    def boot(self) -> None:
        """Boot, and go on until nothing more is to come."""
        self.boots.append(self.tree.boot())
        if self.boots[-1] == NEW:
            loaded = self.tree.path / "sys/module/nvidia"
            if self.dies == "at once":  # a panic, or a hang that a person ends
                return self.boot()
            if self.dies == "without module":
                (loaded / "version").unlink()
                loaded.rmdir()
        if not os.path.exists(self.tree.path / f"etc/systemd/system/multi-user.target.wants/{boot.UNIT}"):
            return None
        if not health.confirm(self.trial, str(self.tree.path), pause=0):
            (self.tree.path / "sys/module/nvidia").mkdir()
            (self.tree.path / "sys/module/nvidia/version").write_text("580.1\n")
            return self.boot()
        return None

    def play(self) -> str:
        """Do what roles/update/tasks/upgrade.yml does; return how it ended."""
        state = self.engine.begin(self.plan, {})
        if state["phase"] in upgrade.ENDED:
            return str(state["phase"])
        broke = state["broke"]
        if state["phase"] != upgrade.RETURNING:
            state = self.engine.upgrade()
            if upgrade.needs_boot(state, self.tree.host):
                self.boot()
            try:
                self.engine.check()
                return str(self.engine.keep()["phase"])
            except SparkforgeError as error:
                broke = error.cause
        for _time in range(2):
            state = self.engine.back(broke)
            if upgrade.needs_boot(state, self.tree.host):
                self.boot()
        return str(state["broke"])


@pytest.fixture
def machine(original: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(boot, "SECONDS", 0)
    return Machine(original, tmp_path)


def assert_left_to_itself(machine: Machine, release: str) -> None:
    tree = machine.tree
    block = grub.read_block(str(tree.path / "boot/grub/grubenv")) or {}
    assert "next_entry" not in block and boot.TRIAL not in block
    assert not list(tree.path.glob("etc/default/grub.d/*")) and not list(
        tree.path.glob("etc/systemd/system/**/*.service")
    )
    assert tree.boot() == release and (OLD if release == NEW else NEW) != release
    assert tree.versions()["tool"] == ("22" if release == NEW else "21")
    assert (f"linux-image-{NEW}" in tree.versions()) == (release == NEW) and f"linux-image-{OLD}" in tree.versions()


def test_a_new_kernel_is_booted_once_confirmed_and_kept(machine: Machine) -> None:
    assert machine.play() == upgrade.KEPT and machine.boots == [NEW]
    assert_left_to_itself(machine, NEW)


@pytest.mark.parametrize(
    ("dies", "words"),
    [
        ("at once", f"The new kernel {NEW} was booted once, and did not come up: it panicked or hung."),
        ("without module", f"The new kernel {NEW} was booted once: the NVIDIA driver 580.1 was loaded before"),
    ],
)
def test_a_new_kernel_that_is_not_as_before_is_left(machine: Machine, dies: str, words: str) -> None:
    machine.dies = dies
    assert machine.play().startswith(words) and machine.boots == [NEW, OLD]
    assert_left_to_itself(machine, OLD)


def test_a_confirmed_kernel_whose_proof_fails_is_left(machine: Machine) -> None:
    machine.engine.begin(machine.plan, {})
    machine.engine.upgrade()
    machine.boot()
    machine.engine.check()
    state = machine.engine.back("a number is wrong")
    assert state["phase"] == upgrade.RETURNING and upgrade.needs_boot(state, machine.tree.host)
    assert f"linux-image-{NEW}" in machine.tree.versions()
    machine.boot()
    assert machine.engine.back()["phase"] == upgrade.RETURNED and machine.boots == [NEW, OLD]
    assert_left_to_itself(machine, OLD)


#: More than is written in a whole run; those beyond it are not cut.
CUTS = 26
SAMPLE = {3, 9, 13, 16, 18}


@pytest.mark.parametrize("dies", [None, "at once"])
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=() if n in SAMPLE else pytest.mark.long) for n in range(1, CUTS)]
)
def test_a_power_cut_at_each_write_ends_on_the_right_kernel(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, number: int, dies: str | None
) -> None:
    machine.dies, count = dies, 0

    def cutting(cut: pytest.MonkeyPatch, module: types.ModuleType, name: str, run: t.Callable[..., t.Any]) -> None:
        def write(*arguments: t.Any, **values: t.Any) -> t.Any:
            nonlocal count
            count += 1
            if count == number:
                raise PowerCut
            return run(*arguments, **values)

        cut.setattr(module, name, write)

    firmware, ended = grub.write_block, None
    with monkeypatch.context() as cut:
        cutting(cut, disk, "write_file", disk.write_file)
        cutting(cut, disk, "switch_symlink", disk.switch_symlink)
        cutting(cut, grub, "write_block", grub.write_block)
        cutting(cut, boot, "_update_grub", boot._update_grub)
        for _time in range(4):
            try:
                ended = machine.play()
                break
            except PowerCut:
                # GRUB's own write to its block is no cut of ours.
                with monkeypatch.context() as patch:
                    patch.setattr(grub, "write_block", firmware)
                    machine.boot()
    if ended == upgrade.KEPT:
        assert dies is None
        assert_left_to_itself(machine, NEW)
    else:
        assert ended and "was booted once" in ended and machine.boots.count(NEW) == 1
        assert_left_to_itself(machine, OLD)


def refused(machine: Machine) -> str:
    before = machine.tree.versions()
    with pytest.raises(SparkforgeError) as refusal:
        machine.engine.begin(machine.plan, {"tool": "a-rule"})
    assert not os.path.exists(upgrade.path_of(machine.root)) and machine.tree.versions() == before
    assert not machine.tree.apt.packages().held and refusal.value.remedy.startswith("Nothing was changed. ")
    return refusal.value.cause


def test_a_host_that_grub_does_not_boot_is_refused(machine: Machine) -> None:
    (machine.tree.path / "proc/cmdline").write_text("initrd=\\EFI\\linux root=UUID=1f2e\n")
    assert refused(machine) == "A new kernel cannot be tried here: GRUB does not boot this host."


def test_an_owners_choice_of_another_kernel_is_refused(machine: Machine) -> None:
    (machine.tree.path / "etc/default/grub").write_text("GRUB_DEFAULT=2\n")
    assert "GRUB_DEFAULT is 2, which does not lead to the running kernel" in refused(machine)


def test_a_block_that_grub_cannot_write_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    block = machine.tree.path / "boot/grub/grubenv"
    grub.write_block(str(block), next_entry="1")
    assert "already has a one-time entry, 1" in refused(machine)
    block.unlink()
    assert "GRUB has no environment block" in refused(machine)


def test_a_host_that_is_about_to_reboot_is_refused(machine: Machine) -> None:
    (machine.tree.path / "run/systemd/shutdown").mkdir(parents=True)
    (machine.tree.path / "run/systemd/shutdown/scheduled").touch()
    assert refused(machine) == "The host is about to reboot or to shut down."


def test_a_full_boot_is_refused(machine: Machine) -> None:
    with (machine.tree.path / f"boot/vmlinuz-{OLD}").open("wb") as stream:
        stream.truncate(1 << 42)
    assert "MiB are needed" in refused(machine)


def test_entries_are_those_of_kernels_with_their_submenu() -> None:
    assert grub.entries(menu_of([OLD, NEW], "0")) == {release: ID.format(release) for release in (OLD, NEW)}
    assert grub.entries("") == {} and grub.first("") is None


def test_a_block_that_is_full_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "grubenv"
    path.write_text("# GRUB Environment Block\n".ljust(grub.SIZE, "#"))
    before = path.read_bytes()
    with pytest.raises(OSError, match="full"):
        grub.write_block(str(path), saved_entry="x" * grub.SIZE)
    assert path.read_bytes() == before
    path.write_text("short")
    assert grub.read_block(str(path)) is None
