"""The module as Ansible runs it, with real virtual environments and with wheels that these tests write."""

import base64
import csv
import grp
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import typing as t
import zipfile

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import unprivileged
from ansible_collections.sparkforge.dgx_spark.tests.unit import interpreter, module_server, web_server
from ansible_collections.sparkforge.dgx_spark.tests.unit.run_module import tree

from lab import stand_ins

REPOSITORY = pathlib.Path(__file__).parents[4]
MODULE = "ansible_collections.sparkforge.dgx_spark.plugins.modules.python_env"
VERSION = "{}.{}".format(*interpreter.version())


def record_hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write_wheel(directory, name, version="1.0", *, code=None, requires=(), script=True, files=None) -> pathlib.Path:
    """Write a wheel with one module ``name`` and a console script of the same name that prints its version."""
    code = code if code is not None else f"__version__ = {version!r}\ndef main():\n    print({name!r}, __version__)\n"
    entry_points = {f"{name}-{version}.dist-info/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n"}
    members = {**(files or {f"{name}.py": code}), **(entry_points if script else {})}
    return stand_ins.write_wheel(directory, name, version, members, requires)


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pin(path: pathlib.Path) -> str:
    name, version = path.name.split("-")[:2]
    return f"{name}=={version} --hash=sha256:{sha256(path)}"


def sent_wheel(path: pathlib.Path, digest: str) -> dict[str, t.Any]:
    """Return a wheel's options as the action plugin sets them after sending the file."""
    return {"wheels": [{"file": path.name, "sha256": digest}], "transferred": {digest: str(path)}}


class Host:
    """A host with its own root and a directory of wheels; it runs the module."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.root = directory / "opt" / "sparkforge"
        self.kernels = directory / "kernels"
        self.links = directory / "links"
        self.links.mkdir(parents=True)
        self.extra: dict[str, str] = {}
        #: A command through which the module is run, such as prlimit.
        self.limit: list[str] = []

    def arguments(self, **options: t.Any) -> dict[str, t.Any]:
        check = options.pop("check", False)
        return {
            "ANSIBLE_MODULE_ARGS": {
                "name": "torch",
                "root": str(self.root),
                "python": interpreter.PYTHON,
                "index_url": "none",
                "find_links": [str(self.links)],
                "kernel_dir": str(self.kernels),
                # Compiling takes as long as everything else, so only its own tests set this option.
                "compile": False,
                "_ansible_check_mode": check,
                "_ansible_diff": True,
                **options,
            }
        }

    def environ(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
            "PYTHONPATH": str(REPOSITORY / ".collections"),
            "PIP_CONFIG_FILE": os.devnull,
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.extra,
        }

    def start(self, **options: t.Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*self.limit, sys.executable, "-m", MODULE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.environ(), cwd=self.directory, umask=0o077,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.arguments(**options)))
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, **options: t.Any) -> dict[str, t.Any]:
        if self.limit:
            out, err = self.start(**options).communicate(timeout=120)
        else:
            arguments = json.dumps(self.arguments(**options))
            out, err = module_server.call(MODULE, arguments, self.environ(), str(self.directory), umask=0o077)
        assert out.strip(), err
        assert "Traceback" not in out + err
        return t.cast("dict[str, t.Any]", json.loads(out))

    def succeed(self, **options: t.Any) -> dict[str, t.Any]:
        result = self.run(**options)
        assert not result.get("failed"), result["msg"]
        return result

    def fail(self, **options: t.Any) -> dict[str, t.Any]:
        """Run the module, which must fail with a cause and a remedy and change nothing."""
        before = tree(self.directory)
        result = self.run(**options)
        assert result.get("failed"), result
        assert result["cause"]
        assert result["remedy"]
        assert tree(self.directory) == before
        return result

    @property
    def environments(self) -> pathlib.Path:
        return self.root / "envs" / "torch"

    def link(self, name: str = "current") -> str:
        return os.readlink(self.environments / name)

    def receipt(self) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", json.loads((self.root / "receipts" / "env-torch.json").read_text()))


def options_for(host: Host, version: str, kernel: bool = True) -> dict[str, t.Any]:
    """Return the options of an environment with this version of tiny, and with ipykernel if ``kernel`` is set."""
    redist = host.directory / "redist"
    redist.mkdir(exist_ok=True)
    wheels = [write_wheel(host.links, "tiny", version), *([write_wheel(host.links, "ipykernel")] if kernel else [])]
    return {
        "requirements": [pin(wheel) for wheel in wheels], "imports": ["tiny"], "jupyter": True,
        "environment": {"X": version}, "library_paths": [str(redist)], "stack": {"name": f"tiny-{version}"},
    }  # fmt: skip


@pytest.fixture(scope="module")
def host_directory() -> t.Iterator[pathlib.Path]:
    """A directory for the host, which is the same for all tests because an environment contains its own path."""
    with interpreter.open_directory() as directory:
        yield directory


@pytest.fixture(scope="module")
def copies(host_directory: pathlib.Path) -> pathlib.Path:
    """Copies of a host after installing tiny 1.0 with ipykernel, and after upgrading to tiny 2.0 without it."""
    host = Host(host_directory / "host")
    for version in ("1.0", "2.0"):
        host.succeed(**options_for(host, version, kernel=version == "1.0"))
        shutil.copytree(host.directory, host_directory / version, symlinks=True)
    shutil.rmtree(host.directory)
    return host_directory


@pytest.fixture
def host(host_directory: pathlib.Path) -> t.Iterator[Host]:
    host = Host(host_directory / "host")
    yield host
    shutil.rmtree(host.directory)


@pytest.fixture
def installed(copies: pathlib.Path, host: Host) -> Host:
    """A host with an environment."""
    shutil.copytree(copies / "1.0", host.directory, symlinks=True, dirs_exist_ok=True)
    return host


@pytest.fixture
def upgraded(copies: pathlib.Path, host: Host) -> Host:
    """A host with two environments, of which the second is current."""
    shutil.copytree(copies / "2.0", host.directory, symlinks=True, dirs_exist_ok=True)
    return host


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs an environment's interpreter as another account")
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("closed", ["python", "root"])
def test_interpreter_or_root_in_a_private_directory_is_refused(host: Host, closed: str, check: bool) -> None:
    home = host.directory / "home"
    home.mkdir(mode=0o700)
    (home / "python3").symlink_to(interpreter.PYTHON)
    options = {"python": str(home / "python3")} if closed == "python" else {"root": str(home / "forge")}
    failed = host.fail(check=check, requirements=[pin(write_wheel(host.links, "tiny"))], **options)
    assert f"lies in {home}, which" in failed["msg"]
    assert {"python": "/usr/bin/python3", "root": "/opt/sparkforge"}[closed] in failed["remedy"]
    assert sorted(path.name for path in home.iterdir()) == ["python3"]


def test_a_new_environment_is_installed_proven_and_current(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny", requires=("base>=1",))
    base = write_wheel(host.links, "base")
    options: dict[str, t.Any] = {
        "requirements": [pin(tiny), pin(base)], "imports": ["tiny"], "environment": {"GREETING": "good 'day'"},
        "library_paths": [str(host.links)], "jupyter": True, "compile": True,
    }  # fmt: skip
    predicted = host.run(check=True, **options)
    assert predicted["changed"]
    assert not host.root.exists()

    first = host.succeed(**options)
    assert first["changed"]
    assert first["environment_id"] == predicted["environment_id"]
    assert first["diff"]["before"] == {}
    assert predicted["diff"] == first["diff"]
    assert first["packages"]["tiny"] == "1.0"
    assert first["modules"] == {"tiny": {"version": "1.0"}}
    assert "no ipykernel" in json.dumps(first["warnings"])
    assert first["paths"]["kernel"] is None

    environment = host.environments / first["environment_id"]
    assert host.link() == first["environment_id"]
    assert sorted(path.name for path in host.environments.iterdir()) == sorted([first["environment_id"], "current"])
    receipt = host.receipt()
    assert receipt["environment_id"] == first["environment_id"]
    assert receipt["requirements"] == [pin(tiny), pin(base)]
    assert receipt["previous"] is None
    assert json.loads((environment / "receipt.json").read_text())["fingerprint"] == receipt["fingerprint"]

    # No file mentions the partial directory in which pip installed it, and its console script runs.
    for path in [environment / "pyvenv.cfg", *(environment / "bin").iterdir()]:
        if not path.is_symlink():
            assert b".partial" not in path.read_bytes(), path
    result = subprocess.run([environment / "bin" / "tiny"], capture_output=True, text=True, check=True)
    assert result.stdout == "tiny 1.0\n"
    packages = environment / "lib" / f"python{VERSION}" / "site-packages"
    with (packages / "tiny-1.0.dist-info" / "RECORD").open() as stream:
        row = next(row for row in csv.reader(stream) if row[0].endswith("bin/tiny"))
    assert row[1] == record_hash((environment / "bin" / "tiny").read_bytes())
    # Other accounts can read it, although the umask was 077.
    assert (packages / "tiny.py").stat().st_mode & 0o777 == 0o644
    assert list((packages / "__pycache__").glob("tiny.*.pyc"))
    # Users expect pip in an environment created by venv.
    assert subprocess.run([environment / "bin" / "pip", "--version"], capture_output=True, check=True).stdout

    code = "import os, sys; print(sys.prefix, os.environ['GREETING'], os.environ['LD_LIBRARY_PATH'])"
    result = subprocess.run(
        [host.root / "bin" / "torch-python", "-c", code], capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert result.stdout == f"{environment} good 'day' {host.links}\n"

    before = tree(host.directory)
    for check in (True, False):
        again = host.succeed(check=check, **options)
        assert not again["changed"]
        assert again["actions"] == []
        assert again["diff"]["before"] == again["diff"]["after"] != {}
        assert again["modules"] == first["modules"]
    assert tree(host.directory) == before

    assert host.succeed(state="absent", check=True)["changed"]
    assert tree(host.directory) == before
    assert host.succeed(state="absent")["changed"]
    assert sorted(path.name for path in host.directory.iterdir()) == ["links"]
    assert not host.succeed(state="absent")["changed"]


def test_a_converged_run_starts_no_process_and_uses_no_network(installed: Host) -> None:
    options = options_for(installed, "1.0")
    shutil.rmtree(installed.links)
    packages = installed.environments / installed.link() / "lib" / f"python{VERSION}" / "site-packages"
    (packages / "pip/__main__.py").write_text("raise SystemExit('pip was started')\n")
    (packages / "tiny.py").write_text("raise SystemExit('imported')\n")
    assert not installed.succeed(**options)["changed"]


def test_an_upgrade_keeps_the_previous_environment_and_a_rollback_needs_only_its_id(upgraded: Host) -> None:
    host, first, second = upgraded, upgraded.link("previous"), upgraded.link()
    assert host.receipt()["previous"] == first
    back = host.succeed(environment_id=first)
    assert back["actions"] == ["switch"]
    assert back["modules"]["tiny"]["version"] == "1.0"
    assert (host.link(), host.link("previous")) == (first, second)
    code = "import os, tiny; print(os.environ['X'], tiny.__version__)"
    completed = subprocess.run(
        [host.root / "bin" / "torch-python", "-c", code], capture_output=True, text=True, check=True
    )
    assert completed.stdout == "1.0 1.0\n"
    assert not host.succeed(environment_id=first)["changed"]
    assert "no environment nowhere" in host.fail(environment_id="nowhere")["cause"]

    # An environment that would be removed next is kept while a job uses it.
    job = subprocess.Popen(
        [host.environments / second / "bin" / "python", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    tiny_3 = write_wheel(host.links, "tiny", "3.0")
    try:
        host.succeed(requirements=[pin(tiny_3)], imports=["tiny"])
        result = host.succeed(requirements=[pin(tiny_3)], imports=["tiny"])
        assert not result["changed"]
        assert result["in_use"] == {second: [job.pid]}
        assert (host.environments / second).is_dir()
        assert f"such as {job.pid}" in host.fail(state="absent")["cause"]
    finally:
        job.communicate()
    result = host.succeed(requirements=[pin(tiny_3)], imports=["tiny"])
    assert result["changed"]
    assert result["removed"] == [second]
    assert not (host.environments / second).exists()
    assert (host.environments / first).is_dir()


def test_a_staged_environment_is_complete_and_unused_before_the_switch(installed: Host) -> None:
    host, first = installed, installed.link()
    current, staged_options = options_for(host, "1.0"), {**options_for(host, "2.0"), "switch": False, "keep": 1}
    outside = [host.root / "bin", host.root / "receipts", host.kernels]
    before = [tree(directory) for directory in outside]

    predicted = host.succeed(check=True, **staged_options)
    assert predicted["changed"]
    assert not (host.environments / "staged").is_symlink()
    staged = host.succeed(**staged_options)
    second = staged["environment_id"]
    assert staged["diff"] == predicted["diff"]
    assert staged["actions"] == ["install", "stage", "files"]
    assert (staged["current"], staged["staged"], staged["previous"]) == (first, second, None)
    assert staged["path"] == str(host.environments / second)
    assert staged["modules"]["tiny"]["version"] == "2.0"
    assert [tree(directory) for directory in outside] == before
    assert (host.receipt()["environment_id"], host.link()) == (first, first)
    assert not host.succeed(**staged_options)["changed"]
    assert not host.succeed(check=True, **staged_options)["changed"]
    # Another run for the current environment keeps the staged one, even with keep=1.
    assert not host.succeed(keep=1, **current)["changed"]
    assert not host.succeed(keep=1, **{**current, "switch": False})["changed"]

    switched = host.succeed(**{**staged_options, "switch": True})
    assert switched["actions"] == ["switch", "files"]
    assert (switched["current"], switched["previous"], switched["staged"]) == (second, first, None)
    assert not (host.environments / "staged").is_symlink()
    assert host.receipt()["environment_id"] == second
    assert second in (host.kernels / "sparkforge-torch" / "kernel.json").read_text()
    assert not host.succeed(**staged_options)["changed"]


def test_staging_removes_the_environment_staged_before(installed: Host) -> None:
    lines = [pin(write_wheel(installed.links, "tiny", version)) for version in ("2.0", "3.0")]
    assert installed.succeed(requirements=lines[:1], switch=False, environment_id="mine")["staged"] == "mine"
    result = installed.succeed(requirements=lines[1:], switch=False, keep=1)
    assert result["removed"] == ["mine"]
    names = {installed.link(), result["environment_id"], "current", "staged"}
    assert {path.name for path in installed.environments.iterdir()} == names


def test_a_failed_stage_leaves_no_link_and_absent_removes_a_staged_environment(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    broken = write_wheel(host.links, "broken", code="raise ImportError('no')\n", script=False)
    host.fail(requirements=[pin(broken)], imports=["broken"], switch=False)
    assert not host.root.exists()
    staged = host.succeed(requirements=[pin(tiny)], imports=["tiny"], switch=False)
    assert (staged["current"], staged["staged"]) == (None, staged["environment_id"])
    assert sorted(path.name for path in host.root.iterdir()) == ["envs"]
    assert host.succeed(state="absent", check=True)["diff"]["before"]["staged"] == staged["environment_id"]
    copy = shutil.copytree(host.root.parent, host.directory / "copy", symlinks=True)
    assert host.succeed(state="absent")["changed"]
    assert not host.root.exists()
    # Removing the environment removes everything that staging created, even after the switch.
    copy.rename(host.root.parent)
    host.succeed(requirements=[pin(tiny)], imports=["tiny"])
    assert not host.succeed(requirements=[pin(tiny)], imports=["tiny"])["changed"]
    host.succeed(state="absent")
    assert not host.root.exists()


def test_damage_is_detected_and_repaired(installed: Host) -> None:
    host, environment = installed, installed.environments / installed.link()
    options = options_for(host, "1.0")
    damages: list[t.Callable[[], object]] = [
        lambda: shutil.rmtree(environment / "lib" / f"python{VERSION}" / "site-packages" / "tiny-1.0.dist-info"),
        (environment / "bin" / "python").unlink,
        lambda: (environment / "receipt.json").write_text("{"),
        lambda: (host.root / "bin" / "activate-torch").write_text("# changed\n"),
        (host.environments / "current").unlink,
        (host.environments / ".other.partial").mkdir,
    ]
    for damage in damages:
        damage()
        assert host.succeed(check=True, **options)["changed"], damage
        assert host.succeed(**options)["changed"], damage
        subprocess.run([environment / "bin" / "tiny"], check=True, capture_output=True)
        assert sorted(path.name for path in host.environments.iterdir()) == sorted([environment.name, "current"])
    assert not host.succeed(**options)["changed"]


def test_receipt_is_written_after_files_inside_environment(installed: Host) -> None:
    activation = installed.environments / installed.link() / "bin" / "activate-sparkforge"
    activation.unlink()
    (activation / "debris").mkdir(parents=True)
    options = {**options_for(installed, "1.0"), "environment": {"X": "new"}}
    assert f"{activation} cannot be written" in installed.fail(**options)["cause"]
    shutil.rmtree(activation)
    assert installed.succeed(**options)["actions"] == ["prove", "files"]


def test_rollback_needs_no_index_starts_nothing_and_removes_nothing(upgraded: Host) -> None:
    host, first, second = upgraded, upgraded.link("previous"), upgraded.link()
    kernel = host.kernels / "sparkforge-torch" / "kernel.json"
    # Any installation or import would fail from now on.
    shutil.rmtree(host.links)
    for entry in (first, second):
        module = next((host.environments / entry).glob("lib/python*/site-packages/tiny.py"))
        module.write_text("raise SystemExit('imported')\n")
    (host.environments / "spare").mkdir()
    assert not kernel.exists()
    before = tree(host.directory)
    predicted = host.succeed(state="previous", check=True)
    assert (predicted["changed"], predicted["environment_id"], predicted["current"]) == (True, first, first)
    assert tree(host.directory) == before

    back = host.succeed(state="previous")
    assert back["actions"] == ["switch", "files"]
    assert back["diff"] == predicted["diff"]
    assert (back["environment_id"], back["previous"], back["stack"]) == (first, second, {"name": "tiny-1.0"})
    assert (host.link(), host.link("previous")) == (first, second)
    assert first in kernel.read_text()
    assert (host.receipt()["environment_id"], host.receipt()["environment"]) == (first, {"X": "1.0"})
    assert (host.environments / "spare").is_dir()
    # If a second run names the environment, it changes nothing; if not, it goes forward again.
    assert not host.succeed(state="previous", environment_id=first)["changed"]
    assert not host.succeed(state="previous", environment_id=first, check=True)["changed"]
    assert host.succeed(state="previous")["environment_id"] == second
    assert (host.link(), host.link("previous")) == (second, first)
    assert not kernel.exists()
    (host.environments / "spare").rmdir()
    assert tree(host.directory).keys() == before.keys() - {"opt/sparkforge/envs/torch/spare"}
    # Simulate a run that was killed between writing the two links on the way back to the first environment.
    (host.environments / "previous").unlink()
    (host.environments / "previous").symlink_to(second)
    assert host.succeed(state="previous")["environment_id"] == first
    assert (host.link(), host.link("previous")) == (first, second)


def test_rollback_is_refused_with_its_cause(upgraded: Host) -> None:
    host, environment = upgraded, upgraded.environments / upgraded.link("previous")
    paths = host.directory / "redist"

    def assert_refused(cause: str, remedy: str, **options: t.Any) -> None:
        result = host.fail(state="previous", **options)
        assert cause in result["cause"] and remedy in result["remedy"]
        assert host.run(state="previous", check=True, **options)["failed"]

    assert_refused("no environment nowhere", "Use an installed", environment_id="nowhere")
    paths.rmdir()
    assert_refused("is gone", "(stack_name: tiny-1.0)")
    paths.mkdir()
    receipt = environment / "receipt.json"
    recorded = json.loads(receipt.read_text())
    receipt.write_text(json.dumps({**recorded, "host_packages": {"sparkforge-no-such-package": "1.0"}}))
    assert_refused("sparkforge-no-such-package 1.0 is no longer", "playbooks/libraries.yml")
    (environment / "bin" / "python").unlink()
    assert_refused("is damaged (bin/python is missing)", "Set its requirements")
    shutil.rmtree(environment)
    assert_refused("previous environment of torch", "Run playbooks/deploy.yml")


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"requirements": ["tiny==1.0"]}, "'tiny==1.0' has no hash"),
        ({"name": "a/b", "requirements": []}, "'a/b' is not"),
        ({"name": "..", "requirements": []}, "valid environment name"),
        ({"environment_id": "current"}, "'current' is not"),
        ({"environment_id": "staged"}, "'staged' is not"),
        ({}, "nothing to install"),
        ({"python": "/nowhere/python3.12", "requirements": ["a==1 --hash=sha256:" + "0" * 64]}, "on this host"),
        ({"library_paths": ["lib"]}, "'lib' is not"),
        ({"imports": ["os; evil"]}, "module name"),
        ({"keep": 0}, "keep is less"),
        ({"wheels": [{"path": "a-1-py3-none-any.whl", "sha256": "xyz"}]}, "'xyz' is not the sha256"),
        ({"wheels": ["/nowhere/a-1-py3-none-any.whl"]}, "has no sha256"),
        ({"wheels": ["a-1-py3-none-win_amd64.whl"]}, "for this platform"),
        ({"state": "previous"}, "none is current"),
    ],
)
def test_bad_options_are_refused_before_anything_is_made(host: Host, options: dict[str, t.Any], cause: str) -> None:
    assert cause in host.fail(**options)["cause"]
    assert not host.root.exists()


@pytest.mark.parametrize(
    ("name", "prints", "message"),
    [
        ("python3.8", "", "is Python 3.8; 3.9 is the oldest"),
        (
            "python3.12",
            "The virtual environment was not created because ensurepip is not",
            "apt install python3.12-venv",
        ),
    ],
)
def test_unusable_interpreter_is_refused(host: Host, name: str, prints: str, message: str) -> None:
    program = host.directory / name
    program.write_text(f"#!/bin/sh\necho '{prints}'\nexit {1 if prints else 0}\n")
    program.chmod(0o755)
    result = host.fail(python=str(program), requirements=["a==1 --hash=sha256:" + "0" * 64])
    assert message in f"{result['cause']} {result['remedy']}"


def test_check_mode_accepts_an_interpreter_that_is_not_there_yet(host: Host) -> None:
    line = "a==1 --hash=sha256:" + "0" * 64
    result = host.succeed(check=True, python="/usr/bin/python3.99", requirements=[line], group="no-such-group")
    assert result["changed"]
    assert result["environment_id"]
    result = host.succeed(check=True, python="/nowhere/python", requirements=[line])
    assert result["changed"]
    assert result["environment_id"] is None
    assert not host.root.exists()


def failing_installations() -> list[t.Any]:
    def wrong_hash(host: Host) -> dict[str, t.Any]:
        write_wheel(host.links, "tiny", "2.0")
        return {"requirements": ["tiny==2.0 --hash=sha256:" + "0" * 64]}

    def missing_library(host: Host) -> dict[str, t.Any]:
        message = "libcudss.so.0: cannot open shared object file: No such file or directory"
        wheel = write_wheel(host.links, "tiny", "2.0", code=f"raise ImportError({message!r})\n", script=False)
        return {"requirements": [pin(wheel)], "imports": ["tiny"]}

    def damaged_wheel(host: Host) -> dict[str, t.Any]:
        wheel = write_wheel(host.links, "tiny", "2.0")
        wheel.write_bytes(wheel.read_bytes()[:200])
        return {"requirements": [pin(wheel)]}

    def another_wheel_was_sent(host: Host) -> dict[str, t.Any]:
        return sent_wheel(write_wheel(host.links, "tiny", "2.0"), "0" * 64)

    return [
        pytest.param(wrong_hash, "The sha256 of tiny==2.0 is", id="wrong hash"),
        pytest.param(missing_library, "libcudss.so.0", id="missing library"),
        pytest.param(damaged_wheel, "of tiny is damaged", id="damaged wheel"),
        pytest.param(another_wheel_was_sent, "expected 0000", id="another wheel was sent"),
    ]


@pytest.mark.parametrize(("prepare", "cause"), failing_installations())
def test_a_failed_installation_leaves_the_current_environment_as_it_was(host: Host, prepare, cause):
    # This stands in for an installed environment, and saves the seconds that an installation takes.
    (host.environments / "old").mkdir(parents=True)
    (host.environments / "old" / "receipt.json").write_text("{}")
    (host.environments / "current").symlink_to("old")
    for name in ("bin", "receipts"):
        (host.root / name).mkdir()
    assert cause in host.fail(**prepare(host))["cause"]
    assert host.link() == "old"


PASSWORD = 'p "a\\ss# x'


class Index:
    """A web server that can misbehave, with an index that has one wheel."""

    def __init__(self, host: Host, certificate: str | None = None) -> None:
        self.server = web_server.Server(certificate)
        self.wheel = write_wheel(host.directory / "index", "tiny")
        self.file, self.page = f"/files/{self.wheel.name}", "/simple/tiny/"
        self.server.files = {
            self.page: f'<a href="../..{self.file}">{self.wheel.name}</a>'.encode(),
            self.file: self.wheel.read_bytes(),
        }
        self.options: dict[str, t.Any] = {
            "requirements": [pin(self.wheel)],
            "index_url": f"{self.server.url}/simple",
            "find_links": [],
        }


@pytest.fixture
def index(host: Host) -> t.Iterator[Index]:
    index = Index(host)
    yield index
    index.server.close()


def test_credentials_reach_their_server_and_nothing_else(host: Host, index: Index) -> None:
    basic = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
    index.server.authorization = f"Basic {basic}"
    entry = {"url": f"{index.server.url}/wheelhouse", "username": "reader", "password": PASSWORD}
    assert "requires a user" in host.fail(**index.options)["cause"]
    wrong = host.fail(credentials=[{**entry, "password": "wrong one"}], **index.options)
    assert "rejects" in wrong["cause"] and "HTTP 401" in wrong["cause"]
    assert "wrong one" not in json.dumps({key: value for key, value in wrong.items() if key != "invocation"})
    result = host.succeed(credentials=[entry], **index.options)
    assert result["packages"]["tiny"] == "1.0"
    assert PASSWORD not in json.loads(json.dumps(result))["diff"].__repr__()
    assert result["invocation"]["module_args"]["credentials"][0]["password"] != PASSWORD
    for path in host.root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert PASSWORD.encode() not in content, path
            assert basic.encode() not in content, path
    assert not host.succeed(credentials=[entry], **index.options)["changed"]


def big_wheel(directory: pathlib.Path, size: int) -> pathlib.Path:
    """Write a wheel with an uncompressed file of zeros."""
    path = write_wheel(directory, "big")
    with zipfile.ZipFile(path, "a") as archive, archive.open("big.bin", "w", force_zip64=True) as stream:
        for _number in range(size >> 20):
            stream.write(bytes(1 << 20))
    return path


def test_an_interrupted_download_resumes_in_the_next_run(installed: Host) -> None:
    """Downloads use TLS with the host's CA; the first run gives up after four answers, the second tolerates three
    cuts."""
    host, first = installed, installed.link()
    key_and_certificate, certificate = web_server.make_certificate(host.directory)
    host.extra["SSL_CERT_FILE"] = certificate
    index = Index(host, key_and_certificate)
    big = big_wheel(host.directory / "index", 4 << 20)
    size, file = big.stat().st_size, f"/files/{big.name}"
    index.server.files |= {"/simple/big/": f'<a href="{file}">{big.name}</a>'.encode(), file: big.read_bytes()}
    index.options["requirements"].append(pin(big))

    index.server.cuts[file] = [1000] * 4
    result = host.run(**index.options)
    assert f"big-1.0-py3-none-any.whl was truncated: 4000 of {size} bytes arrived" in result["cause"]
    assert "un again" in result["remedy"]
    assert host.link() == first

    index.server.cuts[file] = [size // 5, size // 3, size // 4]
    result = host.succeed(**index.options)
    assert result["packages"]["big"] == "1.0"
    assert (index.server.sent[file], index.server.sent[index.file]) == (size, index.wheel.stat().st_size)
    assert result["download"]["finished"] == [{"file": big.name, "size": size}]
    assert not (host.environments / ".download").exists()
    index.server.close()


def test_a_disk_that_fills_up_during_a_download_leaves_the_host_unchanged(host: Host, index: Index) -> None:
    # The kernel's error for a file above this limit is handled like that for a full disk.
    big = big_wheel(host.directory / "index", 6 << 20)
    index.server.files |= {"/simple/big/": f'<a href="/files/{big.name}">'.encode()}
    index.server.files[f"/files/{big.name}"] = big.read_bytes()
    index.options["requirements"].append(pin(big))
    host.limit = ["prlimit", f"--fsize={3 << 20}"]
    result = host.fail(**index.options)
    assert f"{big.name} cannot be written" in result["cause"]
    assert "Free some space" in result["remedy"]
    assert not host.root.exists()


def test_absent_removes_an_unfinished_download(host: Host, index: Index) -> None:
    index.server.cuts[index.file] = [10] * 4
    assert host.run(**index.options)["failed"]
    copy = shutil.copytree(host.root.parent, host.directory / "copy", symlinks=True)
    assert host.succeed(state="absent")["changed"]
    assert not host.root.exists()
    copy.rename(host.root.parent)
    host.succeed(**index.options)
    host.succeed(state="absent")
    assert not host.root.exists()


def test_a_killed_run_leaves_nothing_visible_and_the_next_one_succeeds(host: Host, index: Index) -> None:
    index.server.drips = "head"
    process = host.start(**index.options)
    while not index.server.requests:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not (host.environments / "current").exists()
    assert [path.name for path in host.environments.iterdir() if not path.name.startswith(".")] == []
    index.server.drips = ""
    started = time.monotonic()
    result = host.succeed(**index.options)
    assert time.monotonic() - started < 50
    assert result["changed"]
    assert sorted(path.name for path in host.environments.iterdir()) == sorted([result["environment_id"], "current"])
    assert not host.succeed(**index.options)["changed"]


def test_kernel_is_written_for_an_environment_with_ipykernel_and_removed_again(installed: Host) -> None:
    host, environment = installed, installed.environments / installed.link()
    options = options_for(host, "1.0")
    file = host.kernels / "sparkforge-torch" / "kernel.json"
    assert json.loads(file.read_text())["argv"][0] == str(environment / "bin" / "python")
    assert host.succeed(**{**options, "jupyter": False})["actions"] == ["files"]
    assert not file.parent.exists()
    assert host.succeed(**options)["changed"] and file.exists()
    host.succeed(state="absent")
    assert not host.kernels.exists()


def test_an_environment_id_stands_for_one_set_of_inputs(installed: Host) -> None:
    tiny_2 = write_wheel(installed.links, "tiny", "2.0")
    failed = installed.fail(requirements=[pin(tiny_2)], environment_id=installed.link())
    assert "already belongs to" in failed["cause"]


def test_triton_finds_its_tools_without_the_activation(host: Host) -> None:
    """Triton's knobs.py (3.5 to 3.9) reads the variable, and otherwise looks in its own package's ``bin``."""
    knobs = (
        "import os\ndef tool(name):\n    return os.path.join(os.path.dirname(__file__), 'backends', 'nvidia', name)\n"
    )
    files = {"triton/__init__.py": "", "triton/knobs.py": knobs, "triton/backends/nvidia/bin/nvdisasm": "its own"}
    triton = write_wheel(host.links, "triton", files=files, script=False)
    toolkit = host.directory / "cuda-13.0"
    for name in ("bin/ptxas", "bin/nvdisasm", "include/cuda.h"):
        (toolkit / name).parent.mkdir(parents=True, exist_ok=True)
        (toolkit / name).write_text(f"{name} of the toolkit")
    variables = {
        "TRITON_PTXAS_PATH": f"{toolkit}/bin/ptxas",
        "TRITON_NVDISASM_PATH": f"{toolkit}/bin/nvdisasm",
        "TRITON_CUDART_PATH": f"{toolkit}/include",
    }
    options: dict[str, t.Any] = {"requirements": [pin(triton)], "imports": ["triton"], "environment": variables}
    python = host.environments / "current/bin/python"
    code = "import sys, triton.knobs; print(*[open(triton.knobs.tool(name)).read() for name in sys.argv[1:]], sep='|')"

    def contents_of_tools() -> str:
        command = [str(python), "-I", "-c", code, "bin/ptxas", "include/cuda.h", "bin/nvdisasm"]
        return subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout.strip()

    host.succeed(**options)
    assert contents_of_tools() == "bin/ptxas of the toolkit|include/cuda.h of the toolkit|its own"
    assert not host.succeed(**options)["changed"]
    # An environment created by an older release lacks the link; the toolkit is replaced after that.
    next(host.environments.glob("*/lib/python*/site-packages/triton/backends/nvidia/bin/ptxas")).unlink()
    (toolkit / "bin/ptxas-next").write_text("the next")
    assert host.succeed(check=True, **options)["actions"] == ["files"]
    host.succeed(**options)
    options["environment"] = {**variables, "TRITON_PTXAS_PATH": f"{toolkit}/bin/ptxas-next"}
    assert "files" in host.succeed(**options)["actions"]
    assert contents_of_tools().startswith("the next|")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to a group")
def test_environments_are_readable_by_the_group_only(installed: Host) -> None:
    host, options = installed, options_for(installed, "1.0")
    group = next(entry for entry in grp.getgrall() if entry.gr_gid not in (0, os.getgid()))
    assert host.succeed(**options, group=group.gr_name)["actions"] == ["access"]
    status = host.environments.stat()
    assert (status.st_gid, status.st_mode & 0o7777) == (group.gr_gid, 0o750)
    assert not host.succeed(**options, group=group.gr_name)["changed"]
    assert host.succeed(**options)["actions"] == ["access"]
    assert host.environments.stat().st_mode & 0o7777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to a group")
def test_users_that_cannot_join_the_group_are_refused_before_any_change(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    group = next(entry for entry in grp.getgrall() if 0 < entry.gr_gid < 1000 and not entry.gr_mem)
    options: dict[str, t.Any] = {"requirements": [pin(tiny)], "group": group.gr_name}
    failure = host.fail(users=["nobody"], **options)
    assert f"{group.gr_name} (id {group.gr_gid})" in failure["cause"]
    assert "no account nobody-else" in host.fail(users=["nobody-else"], **options)["cause"]
    assert not host.root.exists()
    # Accept an invalid SUDO_USER if the options do not use it. Root does not need to be a group member.
    host.extra = {"SUDO_USER": "nobody"}
    host.succeed(users=["root"], **options)
    status = host.environments.stat()
    assert (status.st_gid, status.st_mode & 0o7777) == (group.gr_gid, 0o750)
    assert grp.getgrnam(group.gr_name).gr_mem == []


def test_wheels_are_requested_by_hash_verified_and_kept_with_the_environment(host: Host) -> None:
    tiny, base = write_wheel(host.directory / "sent", "tiny"), write_wheel(host.directory / "sent", "base")
    wheels = [{"path": path.name, "sha256": sha256(path)} for path in (tiny, base)]
    options: dict[str, t.Any] = {"wheels": wheels, "requirements": [pin(base)], "imports": ["tiny", "base"]}
    first = host.succeed(**options)
    assert not first["changed"]
    assert {wheel["sha256"] for wheel in first["missing_wheels"]} == {sha256(tiny), sha256(base)}
    assert not host.root.exists()
    assert host.succeed(check=True, **options)["changed"]

    paths = {sha256(path): str(path) for path in (tiny, base)}
    swapped = dict(zip(paths, reversed(list(paths.values()))))
    assert "expected" in host.fail(transferred=swapped, **options)["cause"]

    result = host.succeed(transferred=paths, **options)
    assert result["changed"]
    assert result["missing_wheels"] == []
    assert (host.root / "wheels" / sha256(tiny) / tiny.name).is_file()
    again = host.succeed(**options)
    assert (again["changed"], again["missing_wheels"]) == (False, [])
    host.succeed(state="absent")
    assert not host.root.exists()


def test_a_stored_wheel_that_lost_its_content_is_requested_again(host: Host) -> None:
    """A power loss can leave an empty file."""
    tiny = write_wheel(host.directory / "sent", "tiny")
    options: dict[str, t.Any] = {"wheels": [{"path": tiny.name, "sha256": sha256(tiny)}], "imports": ["tiny"]}
    stored = host.root / "wheels" / sha256(tiny) / tiny.name
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"")
    failed = host.run(**options)
    assert failed["failed"] and "run again" in failed["remedy"]
    assert host.run(**options)["missing_wheels"]
    assert host.succeed(transferred={sha256(tiny): str(tiny)}, **options)["changed"]
    assert stored.read_bytes() == tiny.read_bytes()


def test_root_runs_no_code_of_a_wheel(host: Host) -> None:
    """Its code runs wherever it can, under another account and without the module's variables; its daemon is killed.

    module_utils/_core/test_unprivileged.py covers a wheel that fails.
    """
    host.extra = {"https_proxy": "http://user:secret@127.0.0.1:9"}
    log = host.directory / "log"
    log.touch()
    log.chmod(0o666)
    write = f"import json, os; print(json.dumps([os.geteuid(), dict(os.environ), {{}}]), file=open({str(log)!r}, 'a'))"
    code = write.format("0")
    daemon = "import subprocess; daemon = subprocess.Popen(['sleep', '600'], start_new_session=True).pid\n"
    files = {"evil.py": daemon + write.format("daemon"), "evil.pth": f"{code}\n"}
    files.update({f"pip/_internal/{name}.py": code for name in ("operations/check", "utils/logging", "cli/main")})
    files["pip/_internal/commands/check.py"] = code
    wheel = write_wheel(host.links, "evil", files=files, script=False)
    host.succeed(requirements=[pin(wheel)], imports=["evil"], compile=True)
    uids, variables, daemons = zip(*map(json.loads, log.read_text().splitlines()))
    [uid] = set(uids)
    assert uid in (unprivileged.ACCOUNTS if os.geteuid() == 0 else [os.geteuid()])
    assert "nonexistent" in str(variables) and "secret" not in str(variables)
    state = pathlib.Path(f"/proc/{max(daemons)}/stat")
    assert max(daemons) and (not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_wheel_replaced_after_hashing_is_not_installed(host: Host) -> None:
    """Another account can write to the wheels' directory, and replaces the wheels after they have been hashed."""
    wheels = [write_wheel(host.directory / "house", name, script=False) for name in ("tiny", "base")]
    for wheel in wheels:
        write_wheel(host.directory / "forged", wheel.name.split("-")[0], code="FORGED = 1", script=False)
    options = {
        "wheels": [{"file": wheel.name, "sha256": sha256(wheel)} for wheel in wheels],
        "transferred": {sha256(wheel): str(wheel) for wheel in wheels},
    }
    # The module starts the interpreter between hashing and installing.
    fake = host.directory / f"python{VERSION}"
    fake.write_text(f'#!/bin/sh\ncp {host.directory}/forged/* {wheels[0].parent}\nexec {interpreter.PYTHON} "$@"\n')
    fake.chmod(0o755)
    # Only one of them has a pin.
    host.succeed(requirements=[pin(wheels[0])], **options, python=str(fake), imports=["tiny", "base"])
    for name in ("tiny", "base"):
        [module] = host.root.glob(f"envs/torch/current/lib/python3*/site-packages/{name}.py")
        assert "FORGED" not in module.read_text()


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_wheel_that_is_not_a_regular_file_is_refused(host: Host, kind: str) -> None:
    wheel = write_wheel(host.directory / "house", "tiny", script=False)
    options = sent_wheel(wheel, sha256(wheel))
    wheel.unlink()
    os.mkfifo(wheel) if kind == "pipe" else wheel.symlink_to(write_wheel(host.links, "tiny", script=False))
    failed = host.run(**options)
    assert failed["failed"] and str(wheel) in failed["msg"] and not host.environments.exists()
