"""Installing an environment from wheels: by hash, without a network, and only compatible packages."""

import contextlib
import hashlib
import os
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import directories
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.sandbox import Sandbox
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import installer, model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.identity import Identity
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import requirement

from lab import stand_ins
from tests.unit import interpreter, web_server


class Bench:
    """A directory of wheels, and the commands that have installed them into an environment."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.started: list[list[str]] = []
        self.bounds: dict[str, float] = {}
        self.links = path / "links"
        self.links.mkdir()
        self.lines = [self.wheel("tiny", "1.0"), self.wheel("other", "2.0")]
        self.monkeypatch = monkeypatch

    def wheel(self, name: str, version: str, files: t.Any = None, requires: t.Sequence[str] = ()) -> str:
        """Write a wheel and return its requirement."""
        files = files or {f"{name}.py": f"VERSION = {version!r}\n"}
        path = stand_ins.write_wheel(self.links, name, version, files, requires)
        return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def run(self, argv: t.Sequence[str], environ_update=None, cwd=None, data=None) -> tuple[int, str, str]:
        self.started.append(list(argv))
        environment = {**os.environ, **(environ_update or {})}
        result = subprocess.run(argv, input=data, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout, result.stderr

    def install(self, *extra_lines: str, **options: t.Any) -> Path:
        """Install an environment and return its site-packages."""
        directory = self.path / "environment"
        paths = model.paths_of(str(self.path / "root"), "torch")
        options = {"index_url": "none", "compile": False, "find_links": [str(self.links)], **options}
        options["requirements"] = [requirement.parse_requirement(line) for line in [*self.lines, *extra_lines]]
        environment = model.Options(paths=paths, machine="x86_64", check_mode=False, **options)
        os.makedirs(paths.directory, exist_ok=True)
        identity = Identity("0" * 12, "0" * 16, interpreter.PYTHON, interpreter.version())
        sandbox = Sandbox(paths.directory, **self.bounds)  # type: ignore[arg-type]
        installer.Installer(environment, self.run, sandbox).install(str(directory), identity)
        assert not list(directory.glob(".*"))
        [site] = directory.glob("lib/python3*/site-packages")
        return site


@pytest.fixture
def bench(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(open_path, monkeypatch)


def test_sleeping_pth_file_is_killed(bench: Bench) -> None:
    bench.bounds = {"seconds": 1}
    files = {"sleepy.py": "", "sleepy.pth": "import time; time.sleep(600)\n"}
    with pytest.raises(SparkforgeError, match=r"environment torch did not .* 1 s"):
        bench.install(bench.wheel("sleepy", "1.0", files))


def test_killed_check_of_packages_is_no_conflict(bench: Bench) -> None:
    files = {"killed.py": "", "killed.pth": "import os; os.kill(os.getpid(), 9)\n"}
    with pytest.raises(SparkforgeError, match=r"pip check .* status -9"):
        bench.install(bench.wheel("killed", "1.0", files))


def test_environment_has_no_direct_urls(bench: Bench) -> None:
    site = bench.install()
    assert not list(site.glob("tiny-*.dist-info/direct_url.json"))
    assert (site / "pip").is_dir()


def test_incompatible_packages_are_refused(bench: Bench) -> None:
    with pytest.raises(SparkforgeError, match=r"needy 1\.0 has requirement other<2"):
        bench.install(bench.wheel("needy", "1.0", requires=["other<2"]))


def test_overridden_requirement_need_not_be_satisfied(bench: Bench) -> None:
    needy = bench.wheel("needy", "1.0", requires=["Other<2"])
    assert (bench.install(needy, override=["other"]) / "needy.py").exists()
    wanting = bench.wheel("wanting", "1.0", requires=["tiny<1", "absent"])
    with pytest.raises(SparkforgeError, match=r"wanting 1\.0 requires absent, which is not installed"):
        bench.install(wanting, override=["tiny"])


def test_pip_requires_hashes_and_wheels_without_index(bench: Bench) -> None:
    bench.monkeypatch.setenv("PIP_USER", "1")
    with contextlib.closing(web_server.Server()) as server:
        for name in ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS"):
            bench.monkeypatch.setenv(f"PIP_{name}", f"{server.url}/simple/")
        bench.install()
        assert server.requests == []
    [command] = [argv for argv in bench.started if "install" in argv]
    assert {"--require-hashes", "--only-binary=:all:", "--no-index", "--no-deps"} <= set(command)


def test_environment_larger_than_the_disk_is_not_installed(bench: Bench) -> None:
    real = directories.check_space

    def full_disk(directory: str, needed: int, purpose: str) -> None:
        real(directory, needed if "download" in purpose else 1 << 60, purpose)

    bench.monkeypatch.setattr(directories, "check_space", full_disk)
    with pytest.raises(SparkforgeError, match=r"The environment torch needs .* MB, and .* MB free"):
        bench.install()
    assert not any("install" in argv for argv in bench.started)
