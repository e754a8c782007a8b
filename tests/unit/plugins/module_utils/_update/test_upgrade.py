# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The upgrade and its way back with real apt and dpkg, and a power cut at every command that they run."""

from __future__ import annotations

import json
import os
import signal
import tarfile
import threading
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._update import upgrade
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._update.observation import UpdateInfo
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._update.upgrade import Upgrade

from tests.unit.apt_tree import Tree

BEFORE = {"libnvidia-compute-580": "580.1", "nvidia-utils-580": "580.1", "tool": "1:1.0-1", "gone": "1.0"}
AFTER = {"libnvidia-compute-580": "580.2", "nvidia-utils-580": "580.2", "tool": "1:2.0-1", "extra": "1.0"}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A driver of two packages that go together, a tool with an epoch and a configuration, and a package that goes."""
    tree = Tree(tmp_path_factory.mktemp("spark"))
    tree.offer("libnvidia-compute-580", "580.1")
    tree.offer("nvidia-utils-580", "580.1", Depends=["libnvidia-compute-580 (= 580.1)"])
    tree.offer("tool", "1:1.0-1", files=["etc/tool.conf"])
    tree.offer("gone", "1.0")
    tree.update()
    tree.install(*BEFORE)
    (tree.path / "etc/tool.conf").write_text("mine\n")
    tree.offer("libnvidia-compute-580", "580.2")
    tree.offer("nvidia-utils-580", "580.2", Depends=["libnvidia-compute-580 (= 580.2)"])
    tree.offer("tool", "1:2.0-1", files=["etc/tool.conf"], Depends=["extra"], Conflicts=["gone"])
    tree.offer("extra", "1.0")
    tree.update()
    return tree


class Host:
    """One copy of the Spark, and what runs on it."""

    def __init__(self, spark: Tree, place: Path) -> None:
        self.tree = spark.copy(place / "copy")
        self.root = str(place / "root")
        self.expected = UpdateInfo(self.tree.host).observe(self.tree.versions())["plan"]

    @property
    def engine(self) -> Upgrade:
        return Upgrade(self.tree.apt, self.root, self.tree.host)

    def forward(self) -> None:
        self.engine.begin(self.expected, {})
        self.engine.upgrade()

    def back(self) -> None:
        self.engine.back("the proof failed")

    def cut(self, work: t.Callable[[], None], number: int, moment: str) -> bool:
        """Run ``work`` in a process of its own that loses its power at a command; tell whether it came that far."""
        child = os.fork()
        if not child:
            os.setsid()
            run, count = self.tree.run, 0

            def die() -> None:
                os.killpg(0, signal.SIGKILL)

            def counted(argv: list[str], environment: t.Mapping[str, str] | None = None) -> tuple[int, str, str]:
                nonlocal count
                count += 1
                if count == number and moment == "before":
                    die()
                if count == number and moment.isdigit():
                    threading.Timer(int(moment) / 1000, die).start()
                answer = run(argv, environment)
                if count == number:
                    die()
                return answer

            self.tree.run = counted  # type: ignore[method-assign]
            try:
                work()
            finally:
                os._exit(0)
        _child, status = os.waitpid(child, 0)
        # What it had started dies a moment later.
        while self.tree.apt.state.lock_holder():
            time.sleep(0.01)
        return os.WIFSIGNALED(status)


@pytest.fixture
def host(spark: Tree, tmp_path: Path) -> Host:
    return Host(spark, tmp_path)


def test_an_upgrade_is_made_kept_and_what_was_kept_for_the_way_back_goes(host: Host) -> None:
    state = host.engine.begin(host.expected, {})
    assert state["phase"] == upgrade.SNAPSHOT and state["lacking"] == [] and state["new"] == ["extra"]
    assert host.tree.versions() == BEFORE
    folder = Path(host.root, "update")
    assert folder.stat().st_mode & 0o777 == 0o700
    with tarfile.open(folder / "etc.tar.gz") as archive:
        assert archive.extractfile("etc/tool.conf").read() == b"mine\n"  # type: ignore[union-attr]
    assert host.engine.upgrade()["phase"] == upgrade.UPGRADED and host.tree.versions() == AFTER
    assert (host.tree.path / "etc/tool.conf").read_text() == "mine\n"
    assert host.engine.keep()["phase"] == upgrade.KEPT
    assert sorted(os.listdir(folder)) == ["state.json"]
    with pytest.raises(SparkforgeError, match="its way back is gone"):
        host.engine.back()


def test_a_second_upgrade_finds_nothing_to_do(host: Host) -> None:
    host.forward()
    host.engine.keep()
    again = UpdateInfo(host.tree.host).observe(host.tree.versions())["plan"]
    assert host.engine.begin(again, {})["phase"] == upgrade.KEPT and host.tree.versions() == AFTER


def test_the_way_back_brings_every_package_back_and_says_what_broke(host: Host) -> None:
    host.forward()
    state = host.engine.back("the driver did not load")
    assert (state["phase"], state["broke"]) == (upgrade.RETURNED, "the driver did not load")
    assert host.tree.versions() == BEFORE and state["lacking"] == state["left"] == []
    assert (host.tree.path / "etc/tool.conf").read_text() == "mine\n"
    assert host.engine.back()["broke"] == "the driver did not load"


def test_what_no_source_has_any_more_is_named_before_the_upgrade(host: Host) -> None:
    host.tree.withdraw("gone", "1.0")
    host.tree.update()
    state = host.engine.begin(host.expected, {})
    assert state["lacking"] == ["gone"]
    host.engine.upgrade()
    state = host.engine.back()
    assert state["lacking"] == ["gone"] and {**host.tree.versions(), "gone": "1.0"} == BEFORE


def test_what_the_ledger_holds_stays_and_is_released_when_its_rule_is_over(host: Host) -> None:
    rule = "driver-branch"
    host.engine.begin(host.expected, dict.fromkeys(("libnvidia-compute-580", "nvidia-utils-580"), rule))
    host.engine.upgrade()
    host.engine.keep()
    held = {name: version for name, version in BEFORE.items() if "nvidia" in name}
    assert held.items() <= host.tree.versions().items() and host.tree.versions()["tool"] == "1:2.0-1"
    assert host.engine.holds.ours() == dict.fromkeys(held, rule)
    plan = {"install": [{"name": n, "version": v} for n, v in AFTER.items()], "remove": []}
    host.engine.begin(plan, {}, over=[*held, "tool"])
    assert host.engine.holds.ours() == {}
    host.engine.upgrade()
    assert host.tree.versions() == AFTER


def test_a_hold_of_the_owner_is_not_taken_away(host: Host) -> None:
    host.tree.must("apt-mark", "hold", "tool")
    host.engine.begin(host.expected, {"tool": "x"}, over=["tool"])
    assert host.engine.holds.ours() == {} and "tool" in host.tree.apt.packages().held


def test_a_new_kernel_that_is_not_wanted_is_held_by_what_brings_it(spark: Tree, tmp_path: Path) -> None:
    tree = spark.copy(tmp_path / "copy")
    tree.offer("linux-image-6.17.0-1021-nvidia", "6.17.0-1021.21")
    tree.offer("linux-image-nvidia", "6.17.0-1021.21", Depends=["linux-image-6.17.0-1021-nvidia"])
    tree.update()
    tree.install("linux-image-nvidia")
    tree.offer("linux-image-6.17.0-1022-nvidia", "6.17.0-1022.22")
    tree.offer("linux-image-nvidia", "6.17.0-1022.22", Depends=["linux-image-6.17.0-1022-nvidia"])
    tree.update()
    plan = UpdateInfo(tree.host).observe(tree.versions())["plan"]
    assert "linux-image-6.17.0-1022-nvidia" in {step["name"] for step in plan["install"]}
    engine = Upgrade(tree.apt, str(tmp_path / "root"), tree.host, kernel="hold")
    engine.begin(plan, {})
    engine.upgrade()
    assert engine.holds.ours() == {"linux-image-nvidia": upgrade.NEW_KERNEL}
    assert "linux-image-6.17.0-1022-nvidia" not in tree.versions() and tree.versions()["tool"] == "1:2.0-1"


def refused(host: Host, **changed: t.Any) -> str:
    with pytest.raises(SparkforgeError) as refusal:
        host.engine.begin({**host.expected, **changed}, {})
    assert not os.path.exists(upgrade.path_of(host.root)) and host.tree.versions() == BEFORE
    assert refusal.value.remedy
    return refusal.value.cause


def test_a_plan_that_moved_since_the_forecast_is_refused(host: Host) -> None:
    assert "more than was forecast: gone" in refused(host, remove=[])
    host.tree.offer("tool", "1:3.0-1")
    host.tree.update()
    assert "more than was forecast: tool" in refused(host)


def test_a_source_that_no_longer_has_what_is_new_is_refused(host: Host) -> None:
    (new,) = host.tree.repository.glob("tool_*2.0-1*.deb")
    new.unlink()
    with pytest.raises(SparkforgeError) as refusal:
        host.engine.begin(host.expected, {"nvidia-utils-580": "a-rule", "libnvidia-compute-580": "a-rule"})
    assert not os.path.exists(upgrade.path_of(host.root)) and host.tree.versions() == BEFORE
    assert host.engine.holds.ours() == {} and not host.tree.apt.packages().held
    assert refusal.value.remedy.startswith("Nothing was changed. ")


def test_a_broken_dpkg_is_refused(host: Host) -> None:
    status = host.tree.path / "var/lib/dpkg/status"
    status.write_text(status.read_text().replace("install ok installed", "install ok half-configured", 1))
    with pytest.raises(SparkforgeError, match="dpkg was interrupted"):
        host.engine.begin(host.expected, {})


def test_a_boot_that_is_read_only_is_refused(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    class ReadOnly:
        f_flag = os.ST_RDONLY

    real, place = os.statvfs, str(host.tree.path / "boot")
    monkeypatch.setattr(upgrade.os, "statvfs", lambda path: ReadOnly if path == place else real(path))
    assert refused(host) == "/boot is read-only."


def test_another_apt_is_refused(host: Host) -> None:
    import fcntl

    with open(host.tree.path / "var/lib/dpkg/lock-frontend", "w") as lock:
        child = os.fork()
        if not child:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            signal.pause()
        try:
            for _attempt in range(2000):
                if host.tree.apt.state.lock_holder():
                    break
            assert "Another apt runs" in refused(host)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_a_changed_driver_needs_a_boot_and_a_host_that_was_booted_needs_none(host: Host) -> None:
    place = host.tree.path / "proc/sys/kernel/random"
    place.mkdir()
    (place / "boot_id").write_text("first\n")
    (host.tree.path / "sys/module/nvidia").mkdir(parents=True)
    (host.tree.path / "sys/module/nvidia/version").write_text("580.1\n")
    host.forward()
    state = upgrade.read(host.root) or {}
    assert upgrade.needs_boot(state, host.tree.host) and host.engine.check() == state
    (place / "boot_id").write_text("second\n")
    assert not upgrade.needs_boot(state, host.tree.host)
    (host.tree.path / "sys/module/nvidia/version").unlink()
    with pytest.raises(SparkforgeError, match=r"The driver 580\.1 was loaded before the upgrade, and none is now"):
        host.engine.check()
    assert upgrade.needs_boot(host.engine.back(), host.tree.host)


def test_a_state_that_cannot_be_read_is_never_overwritten(host: Host) -> None:
    path = Path(upgrade.path_of(host.root))
    path.parent.mkdir(parents=True)
    path.write_text("{")
    with pytest.raises(SparkforgeError, match="cannot be read"):
        host.engine.begin(host.expected, {})
    path.write_text(json.dumps({"schema": 99}))
    with pytest.raises(SparkforgeError, match="not a state of this version"):
        host.engine.begin(host.expected, {})


# -- power cuts

#: Of the commands of one upgrade: three simulations, the download of what is new, the policies and four downloads of
#: the snapshot, and the upgrade's simulation and itself. The way back is one. Milliseconds are from a command's start.
FORWARD = [(number, moment) for number in range(1, 12) for moment in ("before", "5", "30", "90", "after")]
BACKWARD = [(1, moment) for moment in ("before", "5", "20", "40", "60", "90", "120", "after")]
SAMPLE = {(1, "before"), (5, "30"), (10, "after"), (11, "5"), (11, "30"), (11, "90"), (1, "20"), (1, "60"), (1, "120")}


def cuts(points: t.Sequence[tuple[int, str]]) -> list[t.Any]:
    """Return the points; `make test` takes a sample."""
    return [pytest.param(*one, marks=() if one in SAMPLE else pytest.mark.long) for one in points]


@pytest.mark.parametrize("name", ["tool", "nvidia-utils-580"])
def test_what_was_cut_off_while_it_was_unpacked_is_unpacked_again(host: Host, name: str) -> None:
    for work, versions, number in ((host.forward, AFTER, 11), (host.back, BEFORE, 1)):
        assert host.cut(work, number, "before")
        status = host.tree.path / "var/lib/dpkg/status"
        whole = f"Package: {name}\nStatus: install ok installed\n"
        assert whole in status.read_text()
        status.write_text(status.read_text().replace(whole, whole.replace("ok installed", "reinstreq unpacked")))
        work()
        assert host.tree.versions() == versions


@pytest.mark.parametrize(("number", "moment"), cuts(FORWARD))
def test_an_upgrade_that_loses_power_is_finished_by_the_same_command(host: Host, number: int, moment: str) -> None:
    assert host.cut(host.forward, number, moment), "the upgrade has fewer commands than that"
    host.forward()
    assert host.tree.versions() == AFTER
    assert host.engine.keep()["phase"] == upgrade.KEPT


@pytest.mark.parametrize(("number", "moment"), cuts(FORWARD))
def test_an_upgrade_that_loses_power_can_be_gone_back_from(host: Host, number: int, moment: str) -> None:
    assert host.cut(host.forward, number, moment)
    if os.path.exists(upgrade.path_of(host.root)):
        host.back()
    assert host.tree.versions() == BEFORE and not host.tree.apt.packages().broken


@pytest.mark.parametrize(("number", "moment"), cuts(BACKWARD))
def test_a_way_back_that_loses_power_is_finished_by_the_same_command(host: Host, number: int, moment: str) -> None:
    host.forward()
    assert host.cut(host.back, number, moment)
    host.back()
    assert host.tree.versions() == BEFORE and not host.tree.apt.packages().broken
