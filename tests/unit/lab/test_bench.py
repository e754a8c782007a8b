"""Benches and the machine resources that they share; tests/integration/test_ordinary_user.py uses containers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab import bench, emulator, faults, host
from lab.bench import Bench
from lab.host import LabError

CHECKOUT = Path(__file__).parents[3]
# Stand-ins for apt-get and dpkg-query; like the real one, this apt-get fails while another one runs.
APT = """#!/bin/sh
mkdir "$STATE/lists" || exit 100
echo "$1" >> "$STATE/called"
sleep 0.2
[ "$1" = update ] || { printf '#!/bin/sh\\n' > "$STATE/podman"; chmod +x "$STATE/podman"; touch "$STATE/installed"; }
rmdir "$STATE/lists"
"""
DPKG = """#!/bin/sh
shift 3
[ ! -e "$STATE/installed" ] || printf '%s installed\\n' "$@"
"""
BUILD = "import os; os.geteuid = lambda: 0; from lab import image; print(image.build('amd64'))"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "cache"))


def test_benches_are_separate_for_checkouts_and_accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = set()
    for checkout in ("one", "two"):
        monkeypatch.setattr(host, "CHECKOUT", tmp_path / checkout)
        for account in ("1000", "1001"):
            monkeypatch.setenv("SUDO_UID", account)
            assert Bench.load("demo") is None
            saved = Bench("demo", "native", {"spark01": f"{checkout}{account}"})
            saved.save()
            assert Bench.load("demo") == saved
            ids.add(saved.id)
    assert len(ids) == 4


def test_the_account_is_the_same_with_and_without_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setattr(host.os, "getuid", lambda: 1000)
    bench_id = Bench("demo", "native").id
    monkeypatch.setattr(host.os, "getuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "1000")
    assert Bench("demo", "native").id == bench_id


def test_stopping_a_bench_keeps_the_variables_of_another(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    (inventory / bench.GENERATED).parent.mkdir(parents=True)
    for name in ("other", "demo"):
        Bench(name, "native").save()
    (inventory / bench.GENERATED).write_text(bench.describe(Bench("demo", "native"), "lab-native"))
    bench.down("other", inventory)
    assert (inventory / bench.GENERATED).exists()
    bench.down("demo", inventory)
    assert not (inventory / bench.GENERATED).exists()


def test_only_the_rate_of_a_containers_link_is_changed(monkeypatch: pytest.MonkeyPatch):
    """In the past, the machine's own interface was once mistaken for the container's."""
    commands: list[tuple[str, ...]] = []

    class Done:
        stdout = "2: eth0: <UP> mtu 1500\n"

    monkeypatch.setattr(faults, "_in", lambda *_command, **_options: "9: eth0@if2: <UP> mtu 1500")
    monkeypatch.setattr(faults, "run", lambda *command, **_options: commands.append(command) or Done())
    with pytest.raises(LabError, match="not a container's"):
        faults.throttle(Bench("mine", "native", {"spark01": "a"}), "spark01", 8000)
    assert [command[0] for command in commands] == ["ip"]


def test_benches_that_start_at_once_install_podman_once(tmp_path: Path) -> None:
    for name, text in (("apt-get", APT), ("dpkg-query", DPKG)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    for name in ("dpkg", "mkdir", "rmdir", "sleep", "touch", "chmod"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    environment = {
        **os.environ, "PATH": str(tmp_path), "STATE": str(tmp_path), "SPARKFORGE_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip
    runs = [subprocess.Popen([sys.executable, "-c", BUILD], cwd=CHECKOUT, env=environment) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert (tmp_path / "called").read_text().split() == ["update", "install"]


def test_emulator_remains_registered_while_another_users_bench_needs_it(monkeypatch, tmp_path):
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
    # Another user stops a bench; `make lab-down` also releases the entry for native benches.
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "bob"))
    emulator.release("fleet")
    assert entry.read_text() == "enabled\n"
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path / "alice"))
    emulator.release("demo")
    assert entry.read_text() == "-1"
