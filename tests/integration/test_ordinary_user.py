# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The README's commands by an ordinary user with sudo, whose PATH has no sbin: a second account on this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab import image
from lab.host import ROOTLESS_PACKAGES, cache_directory, install_packages, native_architecture
from tests.integration.conftest import CHECKOUT, Bench
from tests.lint.test_collection import copy_of_the_tracked_files

# What Debian's login gives a user (/etc/login.defs).
USER_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"


@dataclass
class Account:
    """An account of this machine with a checkout in its home."""

    name: str

    @property
    def home(self) -> Path:
        return Path(pwd.getpwnam(self.name).pw_dir)

    @property
    def checkout(self) -> Path:
        return self.home / "checkout"

    def run(self, command: str, expect: int = 0) -> str:
        """Run a command line in the checkout as the user's shell would, with no terminal, and return its output."""
        variables = [f"HOME={self.home}", f"USER={self.name}", f"LOGNAME={self.name}", f"PATH={USER_PATH}"]
        done = subprocess.run(
            ["setpriv", "--reuid", self.name, "--regid", self.name, "--init-groups", "env", "-i", *variables,
             "sh", "-c", command],
            cwd=self.checkout, text=True, check=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == expect, done.stdout[-6000:]
        return done.stdout

    def not_its_own(self) -> list[str]:
        """Return what lies in its home and belongs to somebody else."""
        own = pwd.getpwnam(self.name).pw_uid
        return [str(path) for path in self.home.rglob("*") if path.lstat().st_uid != own]


@pytest.fixture(scope="module")
def account(bench: Bench) -> Iterator[Account]:
    bench.fresh()  # the image and the mirror are made
    install_packages(("sudo", "python3-venv"))
    account = Account(f"sparkforge{os.getpid()}")
    rule = Path("/etc/sudoers.d") / account.name
    # Of a number that no account in a container has: the kernel tells them apart by that alone, and pkill below too.
    subprocess.run(["useradd", "--create-home", "--key", "UID_MIN=50000", account.name], check=True)
    try:
        rule.touch(0o440)
        rule.write_text(f"{account.name} ALL=(ALL:ALL) NOPASSWD: ALL\n")
        copy_of_the_tracked_files(account.checkout)
        shutil.copytree(cache_directory() / "mirror", account.home / ".cache/sparkforge/mirror")
        # As `make setup` makes it, without the test tools; of the distribution's Python, for root's may be root's.
        environment = account.checkout / ".venv"
        subprocess.run(["/usr/bin/python3", "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin/pip", "install", "-q", "-r", CHECKOUT / "requirements.txt"], check=True)
        (environment / ".ready").touch()
        subprocess.run(["chown", "-R", f"{account.name}:", account.home], check=True)
        account.home.chmod(0o700)
        yield account
        if Path(account.home / ".cache/sparkforge/benches").exists():
            account.run(f"make lab-down BENCH={account.name}")
    finally:
        # Connections to the hosts that its Ansible keeps open for two minutes.
        subprocess.run(["pkill", "-u", account.name], check=False)
        subprocess.run(["userdel", "--force", "--remove", account.name], check=True, capture_output=True)
        rule.unlink()


def test_make_demo_and_make_lab_down_word_for_word_leave_the_user_nothing_of_roots(account: Account):
    """The README's two commands, without the emulation of ARM64; two runs of the whole site."""
    said = account.run(f"make demo PLATFORM=native BENCH={account.name}")
    assert "The second run changed nothing." in said
    assert (account.checkout / "reports/spark01.json").is_file()
    assert account.not_its_own() == []
    container = f"{account.name}-spark01"
    assert image.podman("container", "exists", container, quiet=True).returncode == 0
    account.run(f"make lab-down PLATFORM=native BENCH={account.name}")
    assert image.podman("container", "exists", container, quiet=True).returncode == 1
    assert account.not_its_own() == []
    assert (account.home / ".ansible").is_dir()


def test_what_roots_part_made_is_the_users_also_when_it_fails(account: Account):
    script = (
        'mkdir -p "$SPARKFORGE_CACHE/a" .mypy_cache reports && touch "$SPARKFORGE_CACHE/a/b" .mypy_cache/c reports/d'
        ' && mkdir -p "$SPARKFORGE_CACHE/images/x.root" && ln -s /etc/passwd reports/link && exit 3'
    )
    account.run(f"lab/as_root sh -c '{script}'", expect=3)
    # A root file system in the making is not taken apart.
    assert account.not_its_own() == [str(account.home / ".cache/sparkforge/images/x.root")]
    (account.home / ".cache/sparkforge/images/x.root").rmdir()
    assert Path("/etc/passwd").stat().st_uid == 0


def test_roots_part_has_sbin_and_a_home_of_its_own_and_the_users_settings(account: Account):
    variables = (
        f"XDG_CACHE_HOME={account.home}/.cache ANSIBLE_HOME={account.home}/.ansible LAB_DEBIAN_ARCHIVE=http://a/"
    )
    settings = account.home / ".config/pip/pip.conf"
    settings.parent.mkdir(parents=True)
    settings.touch()
    printed = account.run(f"{variables} make -s --eval 'seen: ; $(ROOT) env' seen")
    seen = dict(line.partition("=")[::2] for line in printed.splitlines())
    assert Path(seen["HOME"]) == Path(pwd.getpwuid(0).pw_dir)
    assert {"/usr/sbin", "/sbin"} <= set(seen["PATH"].split(":"))
    assert seen["PATH"].startswith(f"{account.checkout}/.venv/bin:")
    assert not {"XDG_CACHE_HOME", "ANSIBLE_HOME"} & set(seen)
    assert seen["LAB_DEBIAN_ARCHIVE"] == "http://a/"
    assert seen["PIP_CONFIG_FILE"] == str(settings)
    assert seen["SPARKFORGE_CACHE"] == f"{account.home}/.cache/sparkforge"
    shutil.rmtree(account.home / ".config")


def test_a_cache_of_somebody_elses_is_refused_by_name(account: Account):
    said = account.run("SPARKFORGE_CACHE=/var/cache lab/as_root touch made", expect=1)
    assert "The cache /var/cache is not yours. Set SPARKFORGE_CACHE to a folder of your own." in said
    assert not (account.checkout / "made").exists()


def test_under_sudo_make_the_checkout_stays_the_users_and_the_cache_roots(account: Account):
    account.run("sudo lab/as_root touch made")
    assert account.not_its_own() == []
    assert cache_directory().stat().st_uid == 0


def test_debian_13s_sudo_with_a_password_does_the_same(bench: Bench):
    """The lab's image is Debian 13; its user is asked for a password. No containers are started inside of it."""
    host = bench.fresh()
    host.copy(CHECKOUT / "lab/as_root", "/home/spark/checkout/lab/as_root")
    host.execute("chown -R spark: /home/spark && chmod +x /home/spark/checkout/lab/as_root")
    assert "trixie" in host.execute("cat /etc/os-release")
    # sudo remembers the password for what the same shell starts, as it does at a terminal.
    script = (
        "echo spark > p && sudo -S -v < p && rm p && lab/as_root sh -c 'touch reports && env' && stat -c %U reports"
    )
    seen = host.execute(
        f"cd /home/spark/checkout && setpriv --reuid spark --regid spark --init-groups"
        f' env -i HOME=/home/spark USER=spark PATH={USER_PATH} sh -c "{script}"'
    ).splitlines()
    assert "HOME=/root" in seen and "SPARKFORGE_CACHE=/home/spark/.cache/sparkforge" in seen
    assert f"PATH={USER_PATH}:/usr/local/sbin:/usr/sbin:/sbin" in "\n".join(seen)
    assert seen[-1] == "spark"
    assert host.execute("find /home/spark -user root") == ""


def test_the_lab_finds_sbin_where_root_has_a_users_path():
    """After `su` without `-`."""
    code = "import lab.host, shutil; print(shutil.which('debootstrap'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, env={"PATH": USER_PATH}, text=True, check=True, capture_output=True
    )
    assert done.stdout.strip() == "/usr/sbin/debootstrap"


# At the end, for podman keeps files of the account's other ids in its home.
@pytest.fixture(scope="module")
def rootless(account: Account) -> Iterator[str]:
    """What podman needs to start containers for the account, which useradd gave ids for them; the words for make."""
    tun = Path("/dev/net/tun")
    if not int(Path("/proc/sys/user/max_user_namespaces").read_text()) or not tun.exists():
        pytest.skip("this machine lets nobody but root start containers: it has no user namespaces, or no /dev/net/tun")
    install_packages(ROOTLESS_PACKAGES)
    archive = image.root_file_system(image.build(native_architecture()))
    images = account.home / ".cache/sparkforge/images"
    images.mkdir(exist_ok=True)
    shutil.copy(archive, images)
    subprocess.run(["chown", "-R", f"{account.name}:", images], check=True)
    mode = tun.stat().st_mode & 0o777
    tun.chmod(0o666)  # as udev has it on Debian and Ubuntu
    yield f"PLATFORM=native BENCH={account.name} LAB_ROOTLESS=1"
    tun.chmod(mode)
    account.run("podman system reset --force")
    shutil.rmtree(f"/tmp/podman-run-{pwd.getpwnam(account.name).pw_uid}", ignore_errors=True)


def test_the_lab_runs_without_root(account: Account, rootless: str):
    said = account.run(f"make lab {rootless}")
    assert "spark01 is up at 127.0.0.1:" in said
    container = f"{account.name}-spark01"
    assert image.podman("container", "exists", container, quiet=True).returncode == 1, "it is not root's"
    assert container in account.run("podman ps")
    played = account.run(".venv/bin/ansible-playbook -i inventory/lab.yml playbooks/preflight.yml -l spark01")
    assert "failed=0" in played
    account.run(f"make lab-down {rootless}")
    assert account.run("podman ps -a -q") == ""


@pytest.mark.long
def test_make_demo_without_root(account: Account, rootless: str):
    said = account.run(f"make demo {rootless}")
    assert "The second run changed nothing." in said
    account.run(f"make lab-down {rootless}")


def test_without_root_the_lab_says_what_only_root_can_bring(account: Account, rootless: str):
    if native_architecture() != "arm64":
        said = account.run(f"make lab {rootless} PLATFORM=arm64", expect=2)
        assert "only root registers an emulator. Run it with PLATFORM=native." in said
    Path("/dev/net/tun").chmod(0o600)
    try:
        assert "Have root open it" in account.run(f"make lab {rootless}", expect=2)
    finally:
        Path("/dev/net/tun").chmod(0o666)
    script = "import lab.host as h; h.ROOTLESS_PACKAGES.append('no-such-package'); h.install_packages()"
    said = account.run(f'LAB_ROOTLESS=1 .venv/bin/python -c "{script}" 2>&1 | tail -1')
    assert "Without root the lab needs no-such-package. Have them installed with apt-get." in said
