"""An outsider runs the README's first block: an ordinary user with sudo and an empty home.

It is a second account of this machine; its PATH has no sbin, and its directory names contain spaces.
"""

import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab import bench as benches, image, release
from lab.host import ROOTLESS_PACKAGES, cache_directory, install_packages, native_architecture
from tests.integration.conftest import CHECKOUT, Bench
from tests.lint.test_collection import copy_of_the_tracked_files
from tests.unit.git_server import git
from tests.unit.interpreter import open_directory

# The PATH that Debian's login sets for a user (/etc/login.defs).
USER_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
#: `make test` would also run this test, so only the tests in tests/golden are run here.
FEW_TESTS = "--ignore-glob=tests/[!g]* --ignore-glob=guard/tests/* --ignore-glob=proof/tests/*"


def first_block() -> list[str]:
    """Return the README's two commands verbatim: its first block, and the block under "Develop"."""
    page = (CHECKOUT / "README.md").read_text()
    parts = (page, page.partition("\n## Develop\n")[2])
    blocks = [block for part in parts if (block := re.search(r"```bash\n(.*?)```", part, re.S))]
    return [line.partition("#")[0].strip() for block in blocks for line in block[1].splitlines()]


@dataclass
class Account:
    """An account on this machine with a clone in its home."""

    name: str

    @property
    def home(self) -> Path:
        return Path(pwd.getpwnam(self.name).pw_dir)

    @property
    def checkout(self) -> Path:
        return self.home / "first evening/dgx spark"

    def run(self, command: str, expect: int = 0, cwd: Path | None = None, **variables: str) -> str:
        """Run a command line in the checkout as the user's shell would, without a terminal, and return its output."""
        variables = {"HOME": str(self.home), "USER": self.name, "LOGNAME": self.name, "PATH": USER_PATH, **variables}
        result = subprocess.run(
            ["setpriv", "--reuid", self.name, "--regid", self.name, "--init-groups", "env", "-i",
             *(f"{name}={value}" for name, value in variables.items()), "sh", "-c", command],
            cwd=cwd or self.checkout, text=True, check=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert result.returncode == expect, result.stdout[-6000:]
        return result.stdout

    def not_its_own(self) -> list[str]:
        """Return the paths in the account's home that belong to other accounts."""
        own = pwd.getpwnam(self.name).pw_uid
        return [str(path) for path in self.home.rglob("*") if path.lstat().st_uid != own]

    @property
    def make(self) -> dict[str, str]:
        """Options for make in addition to the README's: no emulation, and a bench with a unique name."""
        return {"MAKEFLAGS": f"-- PLATFORM=native BENCH={self.name}"}


@pytest.fixture(scope="module")
def account(bench: Bench) -> Iterator[Account]:
    bench.fresh()  # build the image, which belongs to root
    install_packages(("sudo",))
    account = Account(f"sparkforge{os.getpid()}")
    rule = Path("/etc/sudoers.d") / account.name
    with open_directory() as folder:
        (folder / "skel").mkdir()
        # Use an id that no account in a container has: the kernel, and pkill below, tell accounts apart only by ids.
        home = ["--create-home", "--skel", folder / "skel", "--key", "UID_MIN=50000"]
        subprocess.run(["useradd", *home, account.name], check=True)
        try:
            rule.touch(0o440)
            rule.write_text(f"{account.name} ALL=(ALL:ALL) NOPASSWD: ALL\n")
            account.home.chmod(0o700)
            source = copy_of_the_tracked_files(folder / "source")
            git("init", "--quiet", ".", cwd=source)
            git("add", "--all", cwd=source)
            git("commit", "--quiet", "--message=all", cwd=source)
            subprocess.run(["chown", "-R", f"{account.name}:", source], check=True)
            clone = f"git clone -q --depth 1 --no-tags file://{source} {shlex.quote(str(account.checkout))}"
            account.run(clone, cwd=account.home)
            yield account
            account.run("make lab-down", **account.make)
        finally:
            # Close the SSH connections that Ansible keeps open for two minutes under this account.
            subprocess.run(["pkill", "-u", account.name], check=False)
            subprocess.run(["userdel", "--force", "--remove", account.name], check=True, capture_output=True)
            rule.unlink()


@pytest.fixture(scope="module")
def set_up(account: Account) -> str:
    """Return the output of the README's first command. Without a terminal, it sets up the simulated Spark."""
    return account.run(first_block()[0], **account.make)


def containers(name: str) -> dict[str, str]:
    """Return the running containers of a bench name, each with the content of its file /whose."""
    names = image.podman("ps", "--format", "{{.Names}}", "--filter", f"name=^{name}-").stdout.split()
    return {container: image.podman("exec", container, "cat", "/whose", quiet=True).stdout for container in names}


def test_readme_first_command_word_for_word(account: Account, set_up: str) -> None:
    """Run it without emulating ARM64: the whole site, twice. The README's other command is `make test` itself."""
    assert len(first_block()) == 2
    assert "a simulated Spark" in set_up and "run changed nothing." in set_up
    assert (account.checkout / "reports/spark01.json").is_file()
    assert account.not_its_own() == []
    assert (account.home / ".ansible").is_dir()


def test_readme_next_commands_work_from_a_clone(account: Account, set_up: str) -> None:
    assert "rollback" in account.run(".venv/bin/sparkforge --help")
    assert "no inventory" in account.run(".venv/bin/sparkforge rollback", expect=2)
    listed = "all: {children: {sparks: {hosts: {spark01: {ansible_connection: local}}}}}"
    shown = account.run(
        f"echo '{listed}' > hosts.yml; .venv/bin/sparkforge status -i hosts.yml --dry-run --no-password"
    )
    assert f"ANSIBLE_COLLECTIONS_PATH='{account.checkout}/.collections'" in shown
    tasks = account.run(f"{shown.splitlines()[0].removeprefix('+ ')} --list-tasks; rm hosts.yml")
    assert "Show all hosts" in tasks


def test_benches_of_one_name_in_two_checkouts_and_two_accounts_are_up_at_once(account: Account, set_up, tmp_path: Path):
    second = account.home / "second"
    account.run(f"git clone -q . {second} && ln -s {shlex.quote(str(account.checkout))}/.venv {second}/.venv")
    # Make it newer than the clone's requirements.txt, so that it is not installed again.
    account.run("touch .venv/.command && make lab", cwd=second, **account.make)
    benches.up(account.name, "native", ["spark01"], tmp_path / "inventory")
    try:
        up = list(containers(account.name))
        assert len(up) == 3
        for number, container in enumerate(up):
            image.podman("exec", container, "sh", "-c", f"echo {number} > /whose")
        # Each inventory leads to its own bench's container.
        look = ".venv/bin/ansible spark01 -i inventory/lab.yml -m ansible.builtin.command -a 'cat /whose' -o"
        seen = [account.run(look), account.run(look, cwd=second)]
        environment = {**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg")}
        program = [Path(sys.executable).with_name("ansible"), *shlex.split(look)[1:]]
        program[program.index("inventory/lab.yml")] = tmp_path / "inventory/lab.yml"
        seen.append(
            subprocess.run(program, cwd=CHECKOUT, env=environment, check=True, capture_output=True, text=True).stdout
        )
        assert sorted(re.findall(r"\(stdout\) (\d)", "".join(seen))) == ["0", "1", "2"]
        account.run("make lab-down", cwd=second, **account.make)
        assert len(containers(account.name)) == 2
    finally:
        benches.down(account.name, tmp_path / "inventory")
    assert len(containers(account.name)) == 1
    account.run("make lab-down", **account.make)
    assert containers(account.name) == {}
    assert account.not_its_own() == []


@pytest.mark.long
def test_the_readmes_first_block_in_an_unpacked_release_with_nothing_cached_on_arm64(account: Account, tmp_path: Path):
    """It is emulated, with its own image, wheels and test tools; only the tests in tests/golden are run."""
    home = account.home / "another-home"
    home.mkdir()
    shutil.unpack_archive(release.source(tmp_path), home / "an unpacked release", filter="tar")
    (unpacked,) = (home / "an unpacked release").iterdir()
    # Store its images and containers separately, because root already has the image.
    storage = home / "storage.conf"
    storage.write_text(
        f'[storage]\ndriver = "overlay"\nrunroot = "/run/{account.name}"\ngraphroot = "{home}/storage"\n'
    )
    subprocess.run(["chown", "-R", f"{account.name}:", home], check=True)
    variables = {"HOME": str(home), "CONTAINERS_STORAGE_CONF": str(storage), "MAKEFLAGS": f"-- BENCH={account.name}"}
    try:
        output = account.run(first_block()[0], cwd=unpacked, **variables)
        assert "compared with float64" in output and "run changed nothing." in output
        tested = account.run(first_block()[1], cwd=unpacked, PYTEST_ADDOPTS=FEW_TESTS, **variables)
        assert re.search(r"\d\d passed", tested)
    finally:
        account.run("make lab-down", cwd=unpacked, **variables)
        account.run(f"sudo env CONTAINERS_STORAGE_CONF={shlex.quote(str(storage))} podman rmi -af", cwd=home)
        subprocess.run(["umount", f"{home}/storage/overlay"], check=False, capture_output=True)
        shutil.rmtree(home)


def test_as_root_output_belongs_to_the_user_after_a_failure(account: Account):
    script = (
        'mkdir -p "$SPARKFORGE_CACHE/a" .mypy_cache reports && touch "$SPARKFORGE_CACHE/a/b" .mypy_cache/c reports/d'
        ' && mkdir -p "$SPARKFORGE_CACHE/images/mmdebstrap.x" && ln -s /etc/passwd reports/link && exit 3'
    )
    account.run(f"lab/as_root sh -c '{script}'", expect=3)
    # A root file system that is being built is left alone.
    assert account.not_its_own() == [str(account.home / ".cache/sparkforge/images/mmdebstrap.x")]
    (account.home / ".cache/sparkforge/images/mmdebstrap.x").rmdir()
    assert Path("/etc/passwd").stat().st_uid == 0


def test_root_commands_have_sbin_their_own_home_and_the_users_settings(account: Account):
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


def test_cache_of_another_user_is_refused(account: Account):
    output = account.run("SPARKFORGE_CACHE=/var/cache lab/as_root touch made", expect=1)
    assert "The cache /var/cache is not yours. Set SPARKFORGE_CACHE to a folder of your own." in output
    assert not (account.checkout / "made").exists()


def test_sudo_make_leaves_the_checkout_to_the_user_and_the_cache_to_root(account: Account):
    account.run("sudo lab/as_root touch made")
    assert account.not_its_own() == []
    assert cache_directory().stat().st_uid == 0


def test_debian_13s_sudo_with_a_password_does_the_same(bench: Bench):
    """The lab's image is Debian 13, where sudo asks this user for a password. No containers are started inside it."""
    host = bench.fresh()
    host.copy(CHECKOUT / "lab/as_root", "/home/spark/checkout/lab/as_root")
    host.execute("chown -R spark: /home/spark && chmod +x /home/spark/checkout/lab/as_root")
    assert "trixie" in host.execute("cat /etc/os-release")
    # sudo remembers the password for commands started by the same shell, as at a terminal.
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
    """The PATH is that after `su` without `-`."""
    code = "import lab.host, shutil; print(shutil.which('iptables'))"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, env={"PATH": USER_PATH}, text=True, check=True, capture_output=True
    )
    assert result.stdout.strip() == "/usr/sbin/iptables"


# Keep these tests last, because podman leaves files of the account's subordinate ids in its home.
@pytest.fixture(scope="module")
def rootless(account: Account) -> Iterator[str]:
    """Install the packages with which podman can start the account's containers, using the ids that useradd assigned;
    return the options for make."""
    tun = Path("/dev/net/tun")
    if not int(Path("/proc/sys/user/max_user_namespaces").read_text()) or not tun.exists():
        pytest.skip("this machine lets nobody but root start containers: it has no user namespaces, or no /dev/net/tun")
    install_packages(ROOTLESS_PACKAGES)
    archive = image.root_file_system(image.build(native_architecture()))
    images = account.home / ".cache/sparkforge/images"
    images.mkdir(parents=True, exist_ok=True)
    shutil.copy(archive, images)
    subprocess.run(["chown", "-R", f"{account.name}:", images], check=True)
    mode = tun.stat().st_mode & 0o777
    tun.chmod(0o666)  # udev's mode on Debian and Ubuntu
    yield f"PLATFORM=native BENCH={account.name} LAB_ROOTLESS=1"
    tun.chmod(mode)
    account.run("podman system reset --force")
    shutil.rmtree(f"/tmp/podman-run-{pwd.getpwnam(account.name).pw_uid}", ignore_errors=True)


@pytest.mark.long
def test_the_lab_runs_without_root(account: Account, rootless: str):
    assert "spark01 is up at 127.0.0.1:" in account.run(f"make lab {rootless}")
    assert containers(account.name) == {}, "it is not root's"
    assert f"{account.name}-" in account.run("podman ps")
    played = account.run(".venv/bin/ansible-playbook -i inventory/lab.yml playbooks/preflight.yml -l spark01")
    assert "failed=0" in played
    account.run(f"make lab-down {rootless}")
    assert account.run("podman ps -a -q") == ""


@pytest.mark.long
def test_make_demo_without_root(account: Account, rootless: str):
    assert "run changed nothing." in account.run(f"make demo {rootless}")
    account.run(f"make lab-down {rootless}")


@pytest.mark.long
def test_without_root_the_lab_names_what_only_root_can_provide(account: Account, rootless: str):
    if native_architecture() != "arm64":
        last_line = account.run(f"make lab {rootless} PLATFORM=arm64", expect=2)
        assert "Use PLATFORM=native." in last_line
    Path("/dev/net/tun").chmod(0o600)
    try:
        assert "Have root open" in account.run(f"make lab {rootless}", expect=2)
    finally:
        Path("/dev/net/tun").chmod(0o666)
    script = "import lab.host as h; h.ROOTLESS_PACKAGES.append('no-such-package'); h.install_packages()"
    last_line = account.run(f'LAB_ROOTLESS=1 .venv/bin/python -c "{script}" 2>&1 | tail -1')
    assert "the lab needs no-such-package." in last_line
