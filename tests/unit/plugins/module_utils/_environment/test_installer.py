"""How an environment is made of wheels: by their hashes, without a network, and only of what fits together."""

import hashlib
import os
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.sandbox import Sandbox
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import download, installer, model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.identity import Identity
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import requirement

from lab import stand_ins
from tests.unit import interpreter, web_server


class Bench:
    """A directory of wheels, and what was started to make an environment of them."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.started: list[list[str]] = []
        self.bounds: dict[str, float] = {}
        self.links = path / "links"
        self.links.mkdir()
        self.lines = [self.wheel("tiny", "1.0"), self.wheel("other", "2.0")]
        self.monkeypatch = monkeypatch

    def wheel(self, name: str, version: str, files: t.Any = None, requires: t.Sequence[str] = ()) -> str:
        """Put a wheel there and return its requirement."""
        files = files or {f"{name}.py": f"VERSION = {version!r}\n"}
        path = stand_ins.write_wheel(self.links, name, version, files, requires)
        return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def run(
        self, argv: t.Sequence[str], environ_update: t.Any = None, cwd: t.Any = None, data: str | None = None
    ) -> tuple[int, str, str]:
        self.started.append(list(argv))
        environment = {**os.environ, **(environ_update or {})}
        done = subprocess.run(argv, input=data, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def install(self, *more: str, **options: t.Any) -> Path:
        """Make an environment and return its site-packages."""
        place = self.path / "place"
        paths = model.paths_of(str(self.path / "root"), "torch")
        given = model.Options(
            paths=paths,
            machine="x86_64",
            check_mode=False,
            requirements=[requirement.parse_requirement(line) for line in [*self.lines, *more]],
            **{"index_url": "none", "compile": False, "find_links": [str(self.links)], **options},
        )
        os.makedirs(paths.directory, exist_ok=True)
        identity = Identity("0" * 12, "0" * 16, interpreter.PYTHON, interpreter.version())
        sandbox = Sandbox(paths.directory, **self.bounds)  # type: ignore[arg-type]
        installer.Installer(given, self.run, sandbox).install(str(place), identity)
        assert not list(place.glob(".*"))
        [site] = place.glob("lib/python3*/site-packages")
        return site


@pytest.fixture
def bench(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(open_path, monkeypatch)


def test_a_pth_file_that_sleeps_is_killed(bench: Bench) -> None:
    bench.bounds = {"seconds": 1}
    files = {"sleepy.py": "", "sleepy.pth": "import time; time.sleep(600)\n"}
    with pytest.raises(SparkforgeError, match=r"^pip check in the environment torch did not end within 1 s and was"):
        bench.install(bench.wheel("sleepy", "1.0", files))


def test_an_environment_looks_as_if_pip_had_taken_it_from_an_index(bench: Bench) -> None:
    site = bench.install()
    assert not list(site.glob("tiny-*.dist-info/direct_url.json"))
    assert (site / "pip").is_dir()


def test_a_wheel_that_changed_since_it_was_fetched_is_refused(bench: Bench) -> None:
    real = download.Download.fetch

    def forged(self: download.Download, given: t.Container[str]) -> t.Any:
        paths, told = real(self, given)
        Path(paths[0]).write_bytes(bench.links.joinpath("other-2.0-py3-none-any.whl").read_bytes())
        return paths, told

    bench.monkeypatch.setattr(download.Download, "fetch", forged)
    with pytest.raises(SparkforgeError, match="sha256"):
        bench.install()


def test_packages_that_do_not_fit_each_other_are_refused(bench: Bench) -> None:
    with pytest.raises(SparkforgeError, match=r"needy 1\.0 has requirement other<2"):
        bench.install(bench.wheel("needy", "1.0", requires=["other<2"]))


def test_what_the_lock_overrides_need_not_fit_and_all_else_must(bench: Bench) -> None:
    needy = bench.wheel("needy", "1.0", requires=["Other<2"])
    assert (bench.install(needy, override=["other"]) / "needy.py").exists()
    wanting = bench.wheel("wanting", "1.0", requires=["tiny<1", "absent"])
    with pytest.raises(SparkforgeError, match=r"wanting 1\.0 requires absent, which is not installed"):
        bench.install(wanting, override=["tiny"])


def test_pip_is_told_to_want_hashes_and_wheels_alone_and_to_ask_nobody(bench: Bench) -> None:
    server = web_server.Server()
    for name in ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS"):
        bench.monkeypatch.setenv(f"PIP_{name}", f"{server.url}/simple/")
    bench.monkeypatch.setenv("PIP_USER", "1")
    try:
        bench.install()
        assert server.requests == []
    finally:
        server.close()
    [command] = [argv for argv in bench.started if "install" in argv]
    assert {"--require-hashes", "--only-binary=:all:", "--no-index", "--no-deps"} <= set(command)


def test_an_environment_that_does_not_fit_on_the_disk_is_not_begun(bench: Bench) -> None:
    real = disk.check_space

    def full(place: str, needed: int, what: str) -> None:
        real(place, needed if "download" in what else 1 << 60, what)

    bench.monkeypatch.setattr(disk, "check_space", full)
    with pytest.raises(SparkforgeError, match=r"The environment torch needs .* MB, and .* MB free"):
        bench.install()
    assert not any("install" in argv for argv in bench.started)
