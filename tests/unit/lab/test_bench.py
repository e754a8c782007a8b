"""Benches and what they share with the machine; what needs containers is in tests/integration/test_ordinary_user.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import bench, emulator, faults, host
from lab.bench import Bench
from lab.host import LabError

CHECKOUT = Path(__file__).parents[3]
# Of apt-get and dpkg-query what counts here: an apt-get beside another one fails, as it does over apt's lists.
APT = """#!/bin/sh
mkdir "$STATE/lists" || exit 100
echo "$1" >> "$STATE/called"
sleep 0.2
[ "$1" = update ] || touch "$STATE/installed"
rmdir "$STATE/lists"
"""
DPKG = """#!/bin/sh
[ ! -e "$STATE/installed" ] || echo "podman installed"
"""
INSTALL = "import os; os.geteuid = lambda: 0; from lab.host import install_packages; install_packages(('podman',))"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "cache"))


def test_each_checkout_and_each_account_has_a_bench_of_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = set()
    for checkout in ("one", "two"):
        monkeypatch.setattr(host, "CHECKOUT", tmp_path / checkout)
        for account in ("1000", "1001"):
            monkeypatch.setenv("SUDO_UID", account)
            assert Bench.load("demo") is None
            made = Bench("demo", "native", {"spark01": f"{checkout}{account}"})
            made.save()
            assert Bench.load("demo") == made
            ids.add(made.id)
    assert len(ids) == 4


def test_the_account_is_the_same_with_and_without_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(host.os, "getuid", lambda: 1000)
    own = Bench("demo", "native").id
    monkeypatch.setattr(host.os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    assert Bench("demo", "native").id == own


def test_the_end_of_a_bench_leaves_the_variables_of_the_one_that_the_inventory_describes(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    (inventory / bench.GENERATED).parent.mkdir(parents=True)
    for name in ("other", "demo"):
        Bench(name, "native").save()
    (inventory / bench.GENERATED).write_text(bench.describe(Bench("demo", "native"), "lab-native"))
    bench.down("other", inventory)
    assert (inventory / bench.GENERATED).exists()
    bench.down("demo", inventory)
    assert not (inventory / bench.GENERATED).exists()


def test_the_rate_of_no_link_but_a_containers_is_changed(monkeypatch: pytest.MonkeyPatch):
    """What was taken for the container's end of a link once was this machine's own."""
    ran: list[tuple[str, ...]] = []

    class Done:
        stdout = "2: eth0: <UP> mtu 1500\n"

    monkeypatch.setattr(faults, "_in", lambda *words, **options: "9: eth0@if2: <UP> mtu 1500")
    monkeypatch.setattr(faults, "run", lambda *words, **options: ran.append(words) or Done())
    with pytest.raises(LabError, match="no container's"):
        faults.throttle(Bench("mine", "native", {"spark01": "a"}), "spark01", 8000)
    assert [words[0] for words in ran] == ["ip"]


def test_benches_that_start_at_once_install_once(tmp_path: Path) -> None:
    for name, text in (("apt-get", APT), ("dpkg-query", DPKG)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "STATE": str(tmp_path),
        "SPARKFORGE_CACHE": str(tmp_path / "cache"),
    }
    runs = [subprocess.Popen([sys.executable, "-c", INSTALL], cwd=CHECKOUT, env=environment) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert (tmp_path / "called").read_text().split() == ["update", "install"]


def test_the_entry_stays_while_a_bench_of_another_users_cache_needs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = tmp_path / "binfmt_misc"
    kernel.mkdir()
    entry = kernel / emulator.ENTRY
    (kernel / "register").touch()
    entry.write_text("enabled\n")
    monkeypatch.setattr(emulator, "BINFMT", kernel)
    monkeypatch.setattr(emulator, "STATE", tmp_path / "run", raising=False)
    monkeypatch.setattr(emulator, "native_architecture", lambda: "amd64")
    monkeypatch.setattr(emulator, "binary", lambda: tmp_path / "qemu-aarch64")

    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "alice"))
    emulator.register("demo")
    # Another user's bench ends; `make lab-down` of theirs says so of native benches too.
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "bob"))
    emulator.release("fleet")
    assert entry.read_text() == "enabled\n"
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "alice"))
    emulator.release("demo")
    assert entry.read_text() == "-1"
