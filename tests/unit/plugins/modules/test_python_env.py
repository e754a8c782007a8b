"""The module, run as Ansible runs it, on real virtual environments and wheels that these tests write."""

import base64
import contextlib
import csv
import grp
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import typing as t
import zipfile

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import unprivileged
from ansible_collections.sparkforge.dgx_spark.tests.unit import interpreter, module_server, web_server

from lab import stand_ins

REPOSITORY = pathlib.Path(__file__).parents[4]
MODULE = "ansible_collections.sparkforge.dgx_spark.plugins.modules.python_env"
VERSION = "{}.{}".format(*interpreter.version())


def record_hash(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write_wheel(
    directory: pathlib.Path,
    name: str,
    version: str = "1.0",
    *,
    code: str | None = None,
    requires: tuple[str, ...] = (),
    script: bool = True,
    files: t.Mapping[str, str] | None = None,
) -> pathlib.Path:
    """Write a wheel with one module ``name`` and a console script of that name that prints its version."""
    code = code if code is not None else f"__version__ = {version!r}\ndef main():\n    print({name!r}, __version__)\n"
    entry_points = {f"{name}-{version}.dist-info/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n"}
    members = {**(files or {f"{name}.py": code}), **(entry_points if script else {})}
    return stand_ins.write_wheel(directory, name, version, members, requires)


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pin(path: pathlib.Path) -> str:
    name, version = path.name.split("-")[:2]
    return f"{name}=={version} --hash=sha256:{sha256(path)}"


def sent(path: pathlib.Path, digest: str) -> dict[str, t.Any]:
    """Return the options of a wheel as the action plugin gives them once it has sent the file."""
    return {"wheels": [{"file": path.name, "sha256": digest}], "transferred": {digest: str(path)}}


def tree(directory: pathlib.Path) -> dict[str, str]:
    """Return everything below ``directory``: path -> what it is."""
    found = {}
    for path in sorted(directory.rglob("*")):
        key = str(path.relative_to(directory))
        if path.is_symlink():
            found[key] = "-> " + os.readlink(path)
        else:
            found[key] = "directory" if path.is_dir() else sha256(path)
        if not path.is_symlink():
            found[key] += f" {path.stat().st_mode:o}"
    return found


class Host:
    """A root of its own, a directory of wheels, and the module."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.root = directory / "opt" / "sparkforge"
        self.kernels = directory / "kernels"
        self.links = directory / "links"
        self.links.mkdir()
        self.extra: dict[str, str] = {}
        #: A command before the module's.
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
                # It takes as long as all the rest: where a test is about it, it asks for it.
                "compile": False,
                "_ansible_check_mode": check,
                "_ansible_diff": True,
                **options,
            }
        }

    def environ(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PIP_") and key != "PYTHONPATH"}
        return {
            **kept,
            "PYTHONPATH": str(REPOSITORY / ".collections"),
            "PIP_CONFIG_FILE": os.devnull,
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.extra,
        }

    def start(self, **options: t.Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*self.limit, sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ(),
            cwd=self.directory,
            umask=0o077,
        )
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
        """Run the module, which must fail with a cause and a remedy and leave everything as it was."""
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

    def receipt(self) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", json.loads((self.root / "receipts" / "env-torch.json").read_text()))


@pytest.fixture
def host(open_path: pathlib.Path) -> Host:
    return Host(open_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs an environment's interpreter as somebody else")
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("closed", ["python", "root"])
def test_what_nobody_may_enter_is_refused_at_once(host: Host, closed: str, check: bool) -> None:
    home = host.directory / "home"
    home.mkdir(mode=0o700)
    (home / "python3").symlink_to(interpreter.PYTHON)
    given = {"python": str(home / "python3")} if closed == "python" else {"root": str(home / "forge")}
    failed = host.fail(check=check, requirements=[pin(write_wheel(host.links, "tiny"))], **given)
    assert f"lies in {home}, which only its owner can enter" in failed["msg"]
    assert {"python": "/usr/bin/python3", "root": "/opt/sparkforge"}[closed] in failed["remedy"]
    assert sorted(path.name for path in home.iterdir()) == ["python3"]


def test_a_new_environment_is_installed_proven_and_current(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny", requires=("base>=1",))
    base = write_wheel(host.links, "base")
    asked: dict[str, t.Any] = {
        "requirements": [pin(tiny), pin(base)],
        "imports": ["tiny"],
        "environment": {"GREETING": "good 'day'"},
        "library_paths": [str(host.links)],
        "jupyter": True,
        "compile": True,
    }
    predicted = host.run(check=True, **asked)
    assert predicted["changed"]
    assert not host.root.exists()

    first = host.succeed(**asked)
    assert first["changed"]
    assert first["environment_id"] == predicted["environment_id"]
    assert first["diff"]["before"] == {}
    assert predicted["diff"] == first["diff"]
    assert first["packages"]["tiny"] == "1.0"
    assert first["modules"] == {"tiny": {"version": "1.0"}}
    assert "no ipykernel" in json.dumps(first["warnings"])
    assert first["paths"]["kernel"] is None

    place = host.environments / first["environment_id"]
    assert os.readlink(host.environments / "current") == first["environment_id"]
    assert sorted(path.name for path in host.environments.iterdir()) == sorted([first["environment_id"], "current"])
    receipt = host.receipt()
    assert receipt["environment_id"] == first["environment_id"]
    assert receipt["requirements"] == [pin(tiny), pin(base)]
    assert receipt["previous"] is None
    assert json.loads((place / "receipt.json").read_text())["fingerprint"] == receipt["fingerprint"]

    # Nothing names the place where it was made, and a console script runs from where it is now.
    for path in [place / "pyvenv.cfg", *(place / "bin").iterdir()]:
        if not path.is_symlink():
            assert b".partial" not in path.read_bytes(), path
    done = subprocess.run([place / "bin" / "tiny"], capture_output=True, text=True, check=True)
    assert done.stdout == "tiny 1.0\n"
    with (place / "lib" / f"python{VERSION}" / "site-packages" / "tiny-1.0.dist-info" / "RECORD").open() as stream:
        row = next(row for row in csv.reader(stream) if row[0].endswith("bin/tiny"))
    assert row[1] == record_hash((place / "bin" / "tiny").read_bytes())
    packages = place / "lib" / f"python{VERSION}" / "site-packages"
    # Made under a umask of 077, and yet others can read it.
    assert (packages / "tiny.py").stat().st_mode & 0o777 == 0o644
    assert list((packages / "__pycache__").glob("tiny.*.pyc"))
    # What people expect of an environment that venv made.
    assert subprocess.run([place / "bin" / "pip", "--version"], capture_output=True, check=True).stdout

    code = "import os, sys; print(sys.prefix, os.environ['GREETING'], os.environ['LD_LIBRARY_PATH'])"
    done = subprocess.run(
        [host.root / "bin" / "torch-python", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert done.stdout == f"{place} good 'day' {host.links}\n"

    before = tree(host.directory)
    for check in (True, False):
        again = host.succeed(check=check, **asked)
        assert not again["changed"]
        assert again["actions"] == []
        assert again["diff"]["before"] == again["diff"]["after"] != {}
        assert again["modules"] == first["modules"]
    assert tree(host.directory) == before

    gone = host.succeed(state="absent", check=True)
    assert gone["changed"]
    assert tree(host.directory) == before
    assert host.succeed(state="absent")["changed"]
    assert sorted(path.name for path in host.directory.iterdir()) == ["links"]
    assert not host.succeed(state="absent")["changed"]


def test_a_converged_run_starts_no_process_and_asks_no_network(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    host.succeed(requirements=[pin(tiny)], imports=["tiny"])
    # Any program that were started would have to be found first, and any wheel to be there.
    shutil.rmtree(host.links)
    place = host.environments / host.receipt()["environment_id"]
    pip = next((place / "lib").glob("python*/site-packages/pip/__main__.py"))
    pip.write_text("raise SystemExit('pip was started')\n")
    (place / "lib" / f"python{VERSION}" / "site-packages" / "tiny.py").write_text("raise SystemExit('imported')\n")
    assert not host.succeed(requirements=[pin_of(tiny)], imports=["tiny"])["changed"]


def test_an_upgrade_keeps_the_previous_environment_and_a_rollback_needs_its_name_alone(host: Host) -> None:
    one, two, three = (write_wheel(host.links, "tiny", version) for version in ("1.0", "2.0", "3.0"))
    first = host.succeed(requirements=[pin(one)], environment={"X": "1"}, imports=["tiny"])["environment_id"]
    result = host.succeed(requirements=[pin(two)], environment={"X": "2"}, imports=["tiny"])
    second = result["environment_id"]
    assert result["previous"] == first
    assert os.readlink(host.environments / "previous") == first

    back = host.succeed(environment_id=first)
    assert back["actions"] == ["switch"]
    assert back["modules"]["tiny"]["version"] == "1.0"
    assert os.readlink(host.environments / "current") == first
    assert os.readlink(host.environments / "previous") == second
    code = "import os, tiny; print(os.environ['X'], tiny.__version__)"
    done = subprocess.run([host.root / "bin" / "torch-python", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 1.0\n"
    assert not host.succeed(environment_id=first)["changed"]
    assert "There is no environment nowhere" in host.fail(environment_id="nowhere")["cause"]

    # A job of the environment that would go next keeps it; when it ends, it goes.
    job = subprocess.Popen(
        [host.environments / second / "bin" / "python", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    try:
        host.succeed(requirements=[pin(three)], imports=["tiny"])
        result = host.succeed(requirements=[pin(three)], imports=["tiny"])
        assert not result["changed"]
        assert result["in_use"] == {second: [job.pid]}
        assert (host.environments / second).is_dir()
        assert f"such as {job.pid}" in host.fail(state="absent")["cause"]
    finally:
        job.communicate()
    result = host.succeed(requirements=[pin(three)], imports=["tiny"])
    assert result["changed"]
    assert result["removed"] == [second]
    assert not (host.environments / second).exists()
    assert (host.environments / first).is_dir()


def test_a_staged_environment_is_whole_and_nobody_uses_it_before_the_switch(host: Host) -> None:
    one, two = (write_wheel(host.links, "tiny", version) for version in ("1.0", "2.0"))
    kernel = write_wheel(host.links, "ipykernel")
    used: dict[str, t.Any] = {"requirements": [pin(one), pin(kernel)], "imports": ["tiny"], "jupyter": True}
    new: dict[str, t.Any] = {**used, "requirements": [pin(two), pin(kernel)], "switch": False, "keep": 1}
    first = host.succeed(**used)["environment_id"]
    outside = [host.root / "bin", host.root / "receipts", host.kernels]
    before = [tree(directory) for directory in outside]

    predicted = host.succeed(check=True, **new)
    assert predicted["changed"]
    assert not (host.environments / "staged").is_symlink()
    staged = host.succeed(**new)
    second = staged["environment_id"]
    assert staged["diff"] == predicted["diff"]
    assert staged["actions"] == ["install", "stage", "files"]
    assert (staged["current"], staged["staged"], staged["previous"]) == (first, second, None)
    assert staged["path"] == str(host.environments / second)
    assert staged["modules"]["tiny"]["version"] == "2.0"
    assert [tree(directory) for directory in outside] == before
    assert (host.receipt()["environment_id"], os.readlink(host.environments / "current")) == (first, first)
    assert not host.succeed(**new)["changed"]
    assert not host.succeed(check=True, **new)["changed"]
    # What is done to the current environment leaves it alone, however few are kept.
    assert not host.succeed(keep=1, **used)["changed"]
    assert not host.succeed(keep=1, **{**used, "switch": False})["changed"]

    switched = host.succeed(**{**new, "switch": True})
    assert switched["actions"] == ["switch", "files"]
    assert (switched["current"], switched["previous"], switched["staged"]) == (second, first, None)
    assert not (host.environments / "staged").is_symlink()
    assert host.receipt()["environment_id"] == second
    assert second in (host.kernels / "sparkforge-torch" / "kernel.json").read_text()
    assert not host.succeed(**new)["changed"]


def test_one_environment_is_staged_at_a_time_and_the_one_before_it_goes(host: Host) -> None:
    lines = [pin(write_wheel(host.links, "tiny", version)) for version in ("1.0", "2.0", "3.0")]
    first, second = (host.succeed(requirements=[line], switch=line is lines[0])["environment_id"] for line in lines[:2])
    result = host.succeed(requirements=[lines[2]], switch=False, keep=1)
    assert result["removed"] == [second]
    names = {first, result["environment_id"], "current", "staged"}
    assert {path.name for path in host.environments.iterdir()} == names


def test_a_failed_stage_leaves_no_link_and_what_was_staged_on_a_fresh_host_goes_again(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    broken = write_wheel(host.links, "broken", code="raise ImportError('no')\n", script=False)
    host.fail(requirements=[pin(broken)], imports=["broken"], switch=False)
    assert not host.root.exists()
    staged = host.succeed(requirements=[pin(tiny)], imports=["tiny"], switch=False)
    assert (staged["current"], staged["staged"]) == (None, staged["environment_id"])
    assert sorted(path.name for path in host.root.iterdir()) == ["envs"]
    assert host.succeed(state="absent", check=True)["diff"]["before"]["staged"] == staged["environment_id"]
    assert host.succeed(state="absent")["changed"]
    assert not host.root.exists()
    # What the staged one made goes with the environment, also once it is switched to.
    host.succeed(requirements=[pin(tiny)], imports=["tiny"], switch=False)
    host.succeed(requirements=[pin(tiny)], imports=["tiny"])
    assert not host.succeed(requirements=[pin(tiny)], imports=["tiny"])["changed"]
    host.succeed(state="absent")
    assert not host.root.exists()


def test_damage_is_found_and_mended(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    asked: dict[str, t.Any] = {"requirements": [pin(tiny)], "imports": ["tiny"]}
    place = host.environments / host.succeed(**asked)["environment_id"]
    damages: list[t.Callable[[], object]] = [
        lambda: shutil.rmtree(place / "lib" / f"python{VERSION}" / "site-packages" / "tiny-1.0.dist-info"),
        (place / "bin" / "python").unlink,
        lambda: (place / "receipt.json").write_text("{"),
        lambda: (host.root / "bin" / "activate-torch").write_text("# changed\n"),
        (host.environments / "current").unlink,
        (host.environments / ".other.partial").mkdir,
    ]
    for damage in damages:
        damage()
        assert host.succeed(check=True, **asked)["changed"], damage
        assert host.succeed(**asked)["changed"], damage
        subprocess.run([place / "bin" / "tiny"], check=True, capture_output=True)
        assert sorted(path.name for path in host.environments.iterdir()) == sorted([place.name, "current"])
    assert not host.succeed(**asked)["changed"]


def pin_of(path: pathlib.Path) -> str:
    """Return what :func:`pin` returned for a wheel of :func:`write_wheel` that may be gone by now."""
    with contextlib.ExitStack() as stack:
        if not path.exists():
            stack.callback(path.unlink)
            write_wheel(path.parent, *path.name.split("-")[:2])
        return pin(path)


# ------------------------------------------------------------------------------------------------ going back


class Two:
    """A host with two environments; the second is current."""

    def __init__(self, host: Host, **options: t.Any) -> None:
        self.host = host
        self.made = []
        for version in ("1.0", "2.0"):
            tiny = write_wheel(host.links, "tiny", version)
            kernel = [pin(write_wheel(host.links, "ipykernel"))] if version == "1.0" else []
            result = host.succeed(
                requirements=[pin(tiny), *kernel], jupyter=True, stack={"name": f"tiny-{version}"}, **options
            )
            self.made.append(result["environment_id"])

    @property
    def links(self) -> tuple[str, str]:
        return tuple(os.readlink(self.host.environments / link) for link in ("current", "previous"))  # type: ignore[return-value]


def test_going_back_and_forth_needs_no_index_starts_nothing_and_removes_nothing(host: Host) -> None:
    two = Two(host, environment={"GREETING": "hello"})
    first, second = two.made
    kernel = host.kernels / "sparkforge-torch" / "kernel.json"
    # What were installed or imported would fail.
    shutil.rmtree(host.links)
    for entry in two.made:
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
    assert two.links == (first, second)
    assert first in kernel.read_text()
    assert (host.receipt()["environment_id"], host.receipt()["environment"]) == (first, {"GREETING": "hello"})
    assert (host.environments / "spare").is_dir()
    # With its name a second run has nothing to do; without it, it goes forward again.
    assert not host.succeed(state="previous", environment_id=first)["changed"]
    assert not host.succeed(state="previous", environment_id=first, check=True)["changed"]
    assert host.succeed(state="previous")["environment_id"] == second
    assert two.links == (second, first)
    assert not kernel.exists()
    (host.environments / "spare").rmdir()
    assert tree(host.directory).keys() == before.keys() - {"opt/sparkforge/envs/torch/spare"}
    # Killed between the two links, on the way back to the first.
    (host.environments / "previous").unlink()
    (host.environments / "previous").symlink_to(second)
    assert host.succeed(state="previous")["environment_id"] == first
    assert two.links == (first, second)


def test_receipts_of_schema_1_are_read_and_nothing_is_made_again(host: Host) -> None:
    two = Two(host)
    first, second = two.made
    own = [host.environments / entry / "receipt.json" for entry in two.made]
    for path in [host.root / "receipts/env-torch.json", *own]:
        receipt = json.loads(path.read_text())
        assert receipt["schema"] == 2
        old = {**receipt, "schema": 1, "lock_id": receipt.pop("environment_id")}
        del old["environment_id"]
        path.write_text(json.dumps(old, indent=2, sort_keys=True) + "\n")
    before = tree(host.directory)
    asked = {"requirements": [pin(host.links / "tiny-2.0-py3-none-any.whl")], "jupyter": True}
    assert not host.succeed(**asked, stack={"name": "tiny-2.0"})["changed"]
    assert tree(host.directory) == before

    back = host.succeed(state="previous", environment_id=first)
    assert (back["environment_id"], back["previous"], back["actions"]) == (first, second, ["switch", "files"])
    assert (host.receipt()["schema"], host.receipt()["environment_id"]) == (2, first)
    assert "lock_id" not in host.receipt()
    assert host.succeed(state="previous")["environment_id"] == second


def test_going_back_is_refused_with_the_cause(host: Host) -> None:
    paths = host.directory / "redist"
    paths.mkdir()
    two = Two(host, library_paths=[str(paths)])
    place = host.environments / two.made[0]

    def refused(cause: str, remedy: str, **options: t.Any) -> None:
        result = host.fail(state="previous", **options)
        assert cause in result["cause"] and remedy in result["remedy"]
        assert host.run(state="previous", check=True, **options)["failed"]

    refused("There is no environment nowhere of torch", "Use an installed one", environment_id="nowhere")
    paths.rmdir()
    refused("is gone", "(stack_name: tiny-1.0)")
    paths.mkdir()
    receipt = place / "receipt.json"
    recorded = json.loads(receipt.read_text())
    receipt.write_text(json.dumps({**recorded, "host_packages": {"sparkforge-no-such-package": "1.0"}}))
    refused("sparkforge-no-such-package 1.0 is no longer installed", "playbooks/libraries.yml")
    (place / "bin" / "python").unlink()
    refused("is damaged (bin/python is missing)", "Set its requirements")
    shutil.rmtree(place)
    refused("There is no previous environment of torch", "Run playbooks/deploy.yml")


def test_without_any_environment_there_is_nothing_to_go_back_to(host: Host) -> None:
    assert "none is current" in host.fail(state="previous")["cause"]


# ----------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"requirements": ["tiny==1.0"]}, "'tiny==1.0' has no hash"),
        ({"name": "a/b", "requirements": []}, "'a/b' is not a valid"),
        ({"name": "..", "requirements": []}, "is not a valid environment name"),
        ({"environment_id": "current"}, "'current' is not a valid environment id"),
        ({"environment_id": "staged"}, "'staged' is not a valid environment id"),
        ({"root": "/"}, "is not an absolute path below /"),
        ({}, "there is nothing to install"),
        ({"python": "/nowhere/python3.12", "requirements": ["a==1 --hash=sha256:" + "0" * 64]}, "is not on this host"),
        ({"python": "3.99", "requirements": ["a==1 --hash=sha256:" + "0" * 64]}, "Python 3.99 is not on this host"),
        ({"environment": {"PATH": "/x"}}, "'PATH' cannot be set"),
        ({"environment": {"A B": "x"}}, "'A B' cannot be set"),
        ({"library_paths": ["lib"]}, "'lib' is not an absolute path"),
        ({"find_links": ["links"]}, "'links' is neither a URL"),
        ({"imports": ["os; evil"]}, "is not a module name"),
        ({"keep": 0}, "keep is less than 1"),
        ({"wheels": [{"path": "a-1-py3-none-any.whl", "sha256": "xyz"}]}, "'xyz' is not the sha256"),
        ({"wheels": ["/nowhere/a-1-py3-none-any.whl"]}, "has no sha256"),
        ({"wheels": ["a-1-py3-none-win_amd64.whl"]}, "is not for this platform"),
        ({"wheels": [{"file": "a"}]}, "neither a path nor a mapping"),
    ],
)
def test_bad_options_are_refused_before_anything_is_made(host: Host, options: dict[str, t.Any], cause: str) -> None:
    assert cause in host.fail(**options)["cause"]
    assert not host.root.exists()


def test_an_old_interpreter_is_refused(host: Host) -> None:
    old = host.directory / "python3.8"
    old.write_text("#!/bin/sh\n")
    old.chmod(0o755)
    result = host.fail(python=str(old), requirements=["a==1 --hash=sha256:" + "0" * 64])
    assert "is Python 3.8; 3.9 is the oldest" in result["cause"]


def test_an_interpreter_without_venv_names_the_package(host: Host) -> None:
    bare = host.directory / "python3.12"
    bare.write_text("#!/bin/sh\necho 'The virtual environment was not created because ensurepip is not'\nexit 1\n")
    bare.chmod(0o755)
    result = host.fail(python=str(bare), requirements=["a==1 --hash=sha256:" + "0" * 64])
    assert "apt install python3.12-venv" in result["remedy"]


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

    def not_found(host: Host) -> dict[str, t.Any]:
        return {"requirements": ["nothing==2.0 --hash=sha256:" + "0" * 64]}

    def missing_library(host: Host) -> dict[str, t.Any]:
        message = "libcudss.so.0: cannot open shared object file: No such file or directory"
        wheel = write_wheel(host.links, "tiny", "2.0", code=f"raise ImportError({message!r})\n", script=False)
        return {"requirements": [pin(wheel)], "imports": ["tiny"]}

    def damaged_wheel(host: Host) -> dict[str, t.Any]:
        wheel = write_wheel(host.links, "tiny", "2.0")
        wheel.write_bytes(wheel.read_bytes()[:200])
        return {"requirements": [pin(wheel)]}

    def another_wheel_was_sent(host: Host) -> dict[str, t.Any]:
        return sent(write_wheel(host.links, "tiny", "2.0"), "0" * 64)

    return [
        pytest.param(wrong_hash, "The sha256 of tiny==2.0 is", id="wrong hash"),
        pytest.param(not_found, "No wheel of nothing==2.0 for this interpreter and machine was found", id="not found"),
        pytest.param(missing_library, "libcudss.so.0", id="missing library"),
        pytest.param(damaged_wheel, "of tiny is damaged, or is no wheel", id="damaged wheel"),
        pytest.param(another_wheel_was_sent, "expected 0000", id="another wheel was sent"),
    ]


@pytest.mark.parametrize(("prepare", "cause"), failing_installations())
def test_a_failed_installation_leaves_the_current_environment_as_it_was(
    host: Host, prepare: t.Callable[[Host], dict[str, t.Any]], cause: str
) -> None:
    # As an installed environment looks, without the seconds that one takes.
    (host.environments / "old").mkdir(parents=True)
    (host.environments / "old" / "receipt.json").write_text("{}")
    (host.environments / "current").symlink_to("old")
    for name in ("bin", "receipts"):
        (host.root / name).mkdir()
    result = host.fail(**prepare(host))
    assert cause in result["cause"]
    assert os.readlink(host.environments / "current") == "old"


PASSWORD = 'p "a\\ss# x'


class Served:
    """A wheelhouse with one wheel, behind a server that can misbehave."""

    def __init__(self, host: Host, certificate: str | None = None) -> None:
        self.server = web_server.Server(certificate)
        self.wheel = write_wheel(host.directory / "served", "tiny")
        self.file, self.page = f"/files/{self.wheel.name}", "/simple/tiny/"
        self.server.files = {
            self.page: f'<a href="../..{self.file}">{self.wheel.name}</a>'.encode(),
            self.file: self.wheel.read_bytes(),
        }
        self.asked: dict[str, t.Any] = {
            "requirements": [pin(self.wheel)],
            "index_url": f"{self.server.url}/simple",
            "find_links": [],
        }


@pytest.fixture
def served(host: Host) -> t.Iterator[Served]:
    one = Served(host)
    yield one
    one.server.close()


def test_credentials_reach_their_server_and_nothing_else(host: Host, served: Served) -> None:
    basic = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
    served.server.authorization = f"Basic {basic}"
    entry = {"url": f"{served.server.url}/wheelhouse", "username": "reader", "password": PASSWORD}
    assert "requires a user name and password" in host.fail(**served.asked)["cause"]
    wrong = host.fail(credentials=[{**entry, "password": "wrong one"}], **served.asked)
    assert "rejects the user name or password (HTTP 401)" in wrong["cause"]
    assert "wrong one" not in json.dumps({key: value for key, value in wrong.items() if key != "invocation"})
    result = host.succeed(credentials=[entry], **served.asked)
    assert result["packages"]["tiny"] == "1.0"
    assert PASSWORD not in json.loads(json.dumps(result))["diff"].__repr__()
    assert result["invocation"]["module_args"]["credentials"][0]["password"] != PASSWORD
    for path in host.root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert PASSWORD.encode() not in content, path
            assert basic.encode() not in content, path
    assert not host.succeed(credentials=[entry], **served.asked)["changed"]


def test_what_is_shown_of_a_call_has_no_password_of_a_url(host: Host) -> None:
    """With -vvv Ansible shows the options, which a result has as its invocation."""
    tiny = write_wheel(host.links, "tiny")
    places = [f"file://{host.links}", "https://user:of-links@127.0.0.1:1/wheels/"]
    asked = {"requirements": [pin(tiny)], "index_url": "https://user:of%2Bindex@127.0.0.1:1/simple/"}
    said = json.dumps(host.run(find_links=places, check=True, **asked))
    assert "127.0.0.1:1/simple/" in said and "of-links" not in said and "of%2Bindex" not in said


def big_wheel(directory: pathlib.Path, size: int) -> pathlib.Path:
    """Write a wheel with a file of zeros, not compressed."""
    path = write_wheel(directory, "big")
    with zipfile.ZipFile(path, "a") as archive, archive.open("big.bin", "w", force_zip64=True) as stream:
        for _number in range(size >> 20):
            stream.write(bytes(1 << 20))
    return path


def test_a_download_that_is_cut_off_goes_on_in_the_next_run(host: Host, served: Served) -> None:
    """With the host's CA, over TLS, as an index is reached; three times within a run, and for good in the first one."""
    both, certificate = web_server.make_certificate(host.directory)
    host.extra["SSL_CERT_FILE"] = certificate
    served = Served(host, both)
    big = big_wheel(host.directory / "served", 4 << 20)
    size, file = big.stat().st_size, f"/files/{big.name}"
    served.server.files |= {"/simple/big/": f'<a href="{file}">{big.name}</a>'.encode(), file: big.read_bytes()}
    served.asked["requirements"].append(pin(big))
    first = host.succeed(requirements=[pin(write_wheel(host.links, "old"))])["environment_id"]

    served.server.cuts[file] = [1000] * 4
    result = host.run(**served.asked)
    assert f"big-1.0-py3-none-any.whl was truncated: 4000 of {size} bytes arrived" in result["cause"]
    assert "un again" in result["remedy"]
    assert os.readlink(host.environments / "current") == first

    served.server.cuts[file] = [size // 5, size // 3, size // 4]
    result = host.succeed(**served.asked)
    assert result["packages"]["big"] == "1.0"
    assert (served.server.sent[file], served.server.sent[served.file]) == (size, served.wheel.stat().st_size)
    assert result["download"]["finished"] == [{"file": big.name, "size": size}]
    assert not (host.environments / ".download").exists()
    served.server.close()


def test_a_disk_that_is_full_in_the_middle_of_a_wheel_leaves_the_host_as_it_was(host: Host, served: Served) -> None:
    # No file of the host may be so large: what the kernel says then takes the same way as a full disk.
    big = big_wheel(host.directory / "served", 6 << 20)
    served.server.files |= {"/simple/big/": f'<a href="/files/{big.name}">'.encode()}
    served.server.files[f"/files/{big.name}"] = big.read_bytes()
    served.asked["requirements"].append(pin(big))
    host.limit = ["prlimit", f"--fsize={3 << 20}"]
    result = host.fail(**served.asked)
    assert f"{big.name} cannot be written to" in result["cause"]
    assert "Free some space there and run again" in result["remedy"]
    assert not host.root.exists()


def test_what_an_unfinished_download_made_goes_with_the_environment(host: Host, served: Served) -> None:
    served.server.cuts[served.file] = [10] * 4
    assert host.run(**served.asked)["failed"] and host.root.exists()
    assert host.succeed(state="absent")["changed"]
    assert not host.root.exists()
    served.server.cuts[served.file] = [10] * 4
    host.run(**served.asked)
    host.succeed(**served.asked)
    host.succeed(state="absent")
    assert not host.root.exists()


# -------------------------------------------------------------------------------------------- interruption


class SlowIndex(http.server.BaseHTTPRequestHandler):
    asked = threading.Event()
    released = threading.Event()

    def do_GET(self) -> None:
        self.asked.set()
        self.released.wait(60)
        self.send_error(404)

    def log_message(self, format: str, *args: t.Any) -> None:
        pass


def test_a_killed_run_leaves_nothing_visible_and_the_next_one_succeeds(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowIndex)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        process = host.start(
            requirements=[pin(tiny)], index_url=f"http://127.0.0.1:{server.server_address[1]}/simple", find_links=[]
        )
        assert SlowIndex.asked.wait(60)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (host.environments / "current").exists()
        assert [path.name for path in host.environments.iterdir() if not path.name.startswith(".")] == []
        started = time.monotonic()
        result = host.succeed(requirements=[pin(tiny)], imports=["tiny"])
        assert time.monotonic() - started < 50
    finally:
        SlowIndex.released.set()
        server.shutdown()
        server.server_close()
    assert result["changed"]
    assert sorted(path.name for path in host.environments.iterdir()) == sorted([result["environment_id"], "current"])
    assert not host.succeed(requirements=[pin(tiny)], imports=["tiny"])["changed"]


# ----------------------------------------------------------------------------------------- what people use


def test_a_kernel_is_written_for_an_environment_with_ipykernel_and_goes_again(host: Host) -> None:
    kernel = write_wheel(host.links, "ipykernel")
    place = host.environments / host.succeed(requirements=[pin(kernel)], jupyter=True)["environment_id"]
    file = host.kernels / "sparkforge-torch" / "kernel.json"
    assert json.loads(file.read_text())["argv"][0] == str(place / "bin" / "python")
    assert host.succeed(requirements=[pin(kernel)], jupyter=False)["actions"] == ["files"]
    assert not file.parent.exists()
    assert host.succeed(requirements=[pin(kernel)], jupyter=True)["changed"]
    host.succeed(state="absent")
    assert not host.kernels.exists()


def test_an_environment_id_stands_for_one_set_of_inputs(host: Host) -> None:
    one, two = write_wheel(host.links, "tiny"), write_wheel(host.links, "tiny", "2.0")
    host.succeed(requirements=[pin(one)], environment_id="mine")
    assert os.readlink(host.environments / "current") == "mine"
    assert "already belongs to an environment" in host.fail(requirements=[pin(two)], environment_id="mine")["cause"]


def test_triton_finds_its_tools_without_the_activation(host: Host) -> None:
    """As knobs.py of 3.5 to 3.9 does it: the variable, and else ``bin`` of its own package."""
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
    asked: dict[str, t.Any] = {"requirements": [pin(triton)], "imports": ["triton"], "environment": variables}
    python = host.environments / "current/bin/python"
    code = "import sys, triton.knobs; print(*[open(triton.knobs.tool(name)).read() for name in sys.argv[1:]], sep='|')"

    def found() -> str:
        command = [str(python), "-I", "-c", code, "bin/ptxas", "include/cuda.h", "bin/nvdisasm"]
        return subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout.strip()

    host.succeed(**asked)
    assert found() == "bin/ptxas of the toolkit|include/cuda.h of the toolkit|its own"
    assert not host.succeed(**asked)["changed"]
    # An environment of before, and another toolkit.
    ptxas = next(host.environments.glob("*/lib/python*/site-packages/triton/backends/nvidia/bin/ptxas"))
    ptxas.unlink()
    (toolkit / "bin/ptxas-next").write_text("the next")
    assert host.succeed(check=True, **asked)["actions"] == ["files"]
    host.succeed(**asked)
    asked["environment"] = {**variables, "TRITON_PTXAS_PATH": f"{toolkit}/bin/ptxas-next"}
    assert "files" in host.succeed(**asked)["actions"]
    assert found().startswith("the next|")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to a group")
def test_only_the_group_may_enter(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    group = next(entry for entry in grp.getgrall() if entry.gr_gid not in (0, os.getgid()))
    host.succeed(requirements=[pin(tiny)], group=group.gr_name)
    status = host.environments.stat()
    assert (status.st_gid, status.st_mode & 0o7777) == (group.gr_gid, 0o750)
    assert not host.succeed(requirements=[pin(tiny)], group=group.gr_name)["changed"]
    assert host.succeed(requirements=[pin(tiny)])["actions"] == ["access"]
    assert host.environments.stat().st_mode & 0o7777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to a group")
def test_who_may_not_be_added_to_the_group_is_told_before_any_change(host: Host) -> None:
    tiny = write_wheel(host.links, "tiny")
    group = next(entry for entry in grp.getgrall() if 0 < entry.gr_gid < 1000 and not entry.gr_mem)
    asked: dict[str, t.Any] = {"requirements": [pin(tiny)], "group": group.gr_name}
    said = host.fail(users=["nobody"], **asked)
    assert f"The group {group.gr_name} (id {group.gr_gid}) is a system group" in said["cause"]
    assert "The host has no account nobody-else" in host.fail(users=["nobody-else"], **asked)["cause"]
    assert not host.root.exists()
    # Whom nobody asked for is no reason to refuse, and root needs no membership.
    host.extra = {"SUDO_USER": "nobody"}
    host.succeed(users=["root"], **asked)
    assert grp.getgrnam(group.gr_name).gr_mem == []


def test_wheels_are_asked_for_by_hash_verified_and_kept_with_the_environment(host: Host) -> None:
    tiny, base = write_wheel(host.directory / "sent", "tiny"), write_wheel(host.directory / "sent", "base")
    wheels = [{"path": path.name, "sha256": sha256(path)} for path in (tiny, base)]
    asked: dict[str, t.Any] = {"wheels": wheels, "requirements": [pin(base)], "imports": ["tiny", "base"]}
    first = host.succeed(**asked)
    assert not first["changed"]
    assert {wheel["sha256"] for wheel in first["missing_wheels"]} == {sha256(tiny), sha256(base)}
    assert not host.root.exists()
    assert host.succeed(check=True, **asked)["changed"]

    paths = {sha256(path): str(path) for path in (tiny, base)}
    swapped = dict(zip(paths, reversed(list(paths.values()))))
    assert "expected" in host.fail(transferred=swapped, **asked)["cause"]

    done = host.succeed(transferred=paths, **asked)
    assert done["changed"]
    assert done["missing_wheels"] == []
    assert (host.root / "wheels" / sha256(tiny) / tiny.name).is_file()
    again = host.succeed(**asked)
    assert (again["changed"], again["missing_wheels"]) == (False, [])
    other = write_wheel(host.links, "other")
    host.succeed(requirements=[pin(other)], keep=1)
    host.succeed(state="absent")
    assert not host.root.exists()


def test_a_stored_wheel_that_lost_its_content_is_brought_anew(host: Host) -> None:
    """As a power loss leaves it."""
    tiny = write_wheel(host.directory / "sent", "tiny")
    asked: dict[str, t.Any] = {"wheels": [{"path": tiny.name, "sha256": sha256(tiny)}], "imports": ["tiny"]}
    transferred = {sha256(tiny): str(tiny)}
    host.succeed(transferred=transferred, **asked)
    stored = host.root / "wheels" / sha256(tiny) / tiny.name
    stored.write_bytes(b"")
    failed = host.run(**{**asked, "name": "second"})
    assert failed["failed"] and "run again" in failed["remedy"]
    assert host.run(**{**asked, "name": "second"})["missing_wheels"]
    assert host.succeed(transferred=transferred, **{**asked, "name": "second"})["changed"]
    assert stored.read_bytes() == tiny.read_bytes()


# -- root runs nothing that a wheel brings

SAYS = "import os; open({path!r}, 'a').write('%d\\n' % os.geteuid())"


@pytest.fixture
def told(host: Host) -> pathlib.Path:
    """A file that every account may write to: whatever a wheel runs says there as whom."""
    path = host.directory / "told"
    path.touch()
    path.chmod(0o666)
    return path


def test_root_runs_no_code_of_a_wheel(host: Host, told: pathlib.Path) -> None:
    say = SAYS.format(path=str(told))
    files = {"evil.py": say, "evil.pth": f"{say}\n", "pip/_internal/commands/check.py": say}
    files.update({f"pip/_internal/{name}.py": say for name in ("operations/check", "utils/logging", "cli/main")})
    wheel = write_wheel(host.links, "evil", files=files, script=False)
    host.succeed(requirements=[pin(wheel)], imports=["evil"], compile=True)
    [uid] = {int(uid) for uid in told.read_text().split()}
    assert uid in (unprivileged.ACCOUNTS if os.geteuid() == 0 else [os.geteuid()])


def test_what_a_wheel_runs_sees_no_variable_of_the_module(host: Host, told: pathlib.Path) -> None:
    host.extra = {"https_proxy": "http://user:secret@127.0.0.1:9"}
    code = f"import os; open({str(told)!r}, 'a').write(str(dict(os.environ)))"
    wheel = write_wheel(host.links, "evil", code=code, script=False)
    host.succeed(requirements=[pin(wheel)], imports=["evil"])
    assert "nonexistent" in told.read_text() and "secret" not in told.read_text()


def test_a_daemon_of_a_wheel_does_not_outlive_the_task(host: Host, told: pathlib.Path) -> None:
    """Nor does it where the wheel fails: module_utils/_core/test_unprivileged.py."""
    code = "import os, subprocess\nfound = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    code += f"open({str(told)!r}, 'a').write('%d\\n' % found.pid)\n"
    wheel = write_wheel(host.links, "evil", code=code, script=False)
    host.succeed(requirements=[pin(wheel)], imports=["evil"])
    [daemon] = told.read_text().split()
    state = pathlib.Path(f"/proc/{daemon}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_line_that_the_probe_does_not_print_is_one_clear_message(host: Host) -> None:
    """All that is refused of such lines: module_utils/_environment/test_apply.py."""
    line = '{"module": "evil", "state": "imported", "found": {"version": [1]}}'
    wheel = write_wheel(host.links, "evil", code=f"print({'@sparkforge ' + line!r}, flush=True)", script=False)
    failed = host.run(requirements=[pin(wheel)], imports=["evil"])
    assert failed["failed"] and "prints a line that only the test of its imports prints: @sparkforge" in failed["msg"]
    assert len(failed["msg"]) < 1000 and not (host.environments / "current").exists()


@pytest.mark.parametrize("with_pin", [True, False])
def test_what_is_hashed_is_what_is_installed(host: Host, with_pin: bool) -> None:
    """The wheel lies where another account writes, who changes it once it was hashed."""
    wheel = write_wheel(host.directory / "house", "tiny", script=False)
    forged = write_wheel(host.directory / "forged", "tiny", code="FORGED = 1", script=False)
    asked = sent(wheel, sha256(wheel))
    pins = [pin(wheel)] if with_pin else []
    # Made of the interpreter, so that it runs between hashing and installing.
    fake = host.directory / f"python{VERSION}"
    fake.write_text(f'#!/bin/sh\ncp {forged} {wheel}\nexec {interpreter.PYTHON} "$@"\n')
    fake.chmod(0o755)
    host.succeed(requirements=pins, **asked, python=str(fake), imports=["tiny"])
    [installed] = host.root.glob("envs/torch/current/lib/python3*/site-packages/tiny.py")
    assert "FORGED" not in installed.read_text()


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_wheel_that_is_no_file_is_refused(host: Host, kind: str) -> None:
    wheel = write_wheel(host.directory / "house", "tiny", script=False)
    asked = sent(wheel, sha256(wheel))
    wheel.unlink()
    os.mkfifo(wheel) if kind == "pipe" else wheel.symlink_to(write_wheel(host.links, "tiny", script=False))
    failed = host.run(**asked)
    assert failed["failed"] and str(wheel) in failed["msg"] and not host.environments.exists()
