# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""uv and pip make the same environments, both by their hashes; what uv does not manage pip does."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import installer, model
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.identity import Identity
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import requirement

from lab import stand_ins
from tests.unit import interpreter, wheel_tree

UV = Path(sys.executable).with_name("uv")


class Bench:
    """A directory of wheels, and what was started to make an environment of them."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.started: list[list[str]] = []
        self.links = path / "links"
        self.links.mkdir()
        self.lines = [self.wheel("tiny", "1.0"), self.wheel("other", "2.0")]
        self.monkeypatch = monkeypatch
        for name in [name for name in os.environ if name.startswith("PIP_")]:
            monkeypatch.delenv(name)
        monkeypatch.setattr(installer, "_PIP_CONFIGURATIONS", (str(path / "pip.conf"),))
        self.has(UV)

    def has(self, uv: Path) -> None:
        self.monkeypatch.setattr(installer, "UV", (str(uv),))

    def wheel(self, name: str, version: str, files: t.Any = None, requires: t.Sequence[str] = ()) -> str:
        """Put a wheel there and return its requirement."""
        files = files or {f"{name}.py": f"VERSION = {version!r}\n"}
        path = stand_ins.write_wheel(self.links, name, version, files, requires)
        return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def run(self, argv: t.Sequence[str], environ_update: t.Any = None, cwd: t.Any = None) -> tuple[int, str, str]:
        self.started.append(list(argv))
        environment = {**os.environ, **(environ_update or {})}
        done = subprocess.run(argv, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
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
        installer.Installer(given, self.run).install(str(place), identity)
        assert not list(place.glob(".*"))
        [site] = place.glob("lib/python3*/site-packages")
        return site

    @property
    def programs(self) -> list[str]:
        """The programs that installed something, in order."""
        return [Path(argv[0]).name for argv in self.started if "install" in argv]


@pytest.fixture
def bench(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(open_path, monkeypatch)


def installed_by(site: Path, project: str) -> str:
    [found] = site.glob(f"{project}-*.dist-info/INSTALLER")
    return found.read_text().strip()


def test_the_host_s_uv_is_used_and_leaves_nothing_in_the_caches_of_others(bench: Bench) -> None:
    bench.monkeypatch.setenv("HOME", str(bench.path / "home"))
    site = bench.install()
    assert bench.programs == ["uv"]
    assert installed_by(site, "tiny") == installed_by(site, "other") == "uv"
    assert not list((bench.path / "home").glob("**/uv"))
    # What pip is asked for afterwards works as well: the environment is an ordinary one.
    assert (site / "pip").is_dir()


def test_modules_are_compiled_where_that_is_wanted(bench: Bench) -> None:
    assert list(bench.install(compile=True).glob("__pycache__/tiny.*.pyc"))


def test_without_uv_pip_does_it(bench: Bench) -> None:
    bench.has(bench.path / "none")
    assert installed_by(bench.install(), "tiny") == "pip"


def test_pip_s_configuration_is_not_passed_over(bench: Bench) -> None:
    (bench.path / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {bench.links}\n")
    bench.monkeypatch.setenv("PIP_CONFIG_FILE", str(bench.path / "pip.conf"))
    assert installed_by(bench.install(index_url=None, find_links=[]), "tiny") == "pip"


def test_a_uv_that_fails_is_replaced_by_pip_from_the_beginning(bench: Bench) -> None:
    broken = bench.path / "uv"
    broken.write_text("#!/bin/sh\ntouch half; exit 1\n")
    broken.chmod(0o755)
    bench.has(broken)
    site = bench.install()
    assert bench.programs == ["uv", "python"]
    assert installed_by(site, "tiny") == "pip"
    assert not (bench.path / "place/half").exists()


@pytest.mark.parametrize("uv", [True, False])
def test_a_wheel_with_another_sha256_is_refused(bench: Bench, uv: bool) -> None:
    if not uv:
        bench.has(bench.path / "none")
    bench.wheel("tiny", "1.0", {"tiny.py": "VERSION = 'forged'\n"})
    with pytest.raises(SparkforgeError, match="sha256"):
        bench.install()
    assert bench.programs == (["uv", "python"] if uv else ["python"])


def test_root_does_not_run_the_uv_of_a_wheel(bench: Bench) -> None:
    bench.has(bench.path / "none")
    data = wheel_tree.wheel("uv", "9.0", scripts={"uv": "#!/bin/sh\ntouch ran\n"})
    (bench.links / "uv-9.0-py3-none-any.whl").write_bytes(data)
    bench.install(f"uv==9.0 --hash=sha256:{hashlib.sha256(data).hexdigest()}")
    assert bench.programs == ["python"] and not (bench.path / "place/ran").exists()


@pytest.mark.parametrize("uv", [True, False])
def test_packages_that_do_not_fit_each_other_are_refused(bench: Bench, uv: bool) -> None:
    if not uv:
        bench.has(bench.path / "none")
    with pytest.raises(SparkforgeError):
        bench.install(bench.wheel("needy", "1.0", requires=["other<2"]))


@pytest.mark.parametrize("uv", [True, False])
def test_what_the_lock_overrides_need_not_fit_and_all_else_must(bench: Bench, uv: bool) -> None:
    if not uv:
        bench.has(bench.path / "none")
    needy = bench.wheel("needy", "1.0", requires=["Other<2"])
    assert (bench.install(needy, override=["other"]) / "needy.py").exists()
    wanting = bench.wheel("wanting", "1.0", requires=["tiny<1", "absent"])
    with pytest.raises(SparkforgeError, match=r"wanting 1\.0 requires absent, which is not installed"):
        bench.install(wanting, override=["tiny"])


@pytest.mark.parametrize("uv", [True, False])
def test_whoever_installs_is_told_to_want_hashes_and_wheels_alone(bench: Bench, uv: bool) -> None:
    if not uv:
        bench.has(bench.path / "none")
    bench.install()
    [command] = [argv for argv in bench.started if "install" in argv]
    assert {"--require-hashes", "--only-binary=:all:"} <= set(command)


def test_what_may_hold_a_password_is_its_owner_s_alone_and_goes_again(bench: Bench) -> None:
    bench.has(bench.path / "none")
    modes: list[int] = []
    run = bench.run

    def looked(argv: t.Sequence[str], environ_update: t.Any = None, cwd: t.Any = None) -> tuple[int, str, str]:
        if "install" in argv:
            modes.extend(os.stat(path).st_mode & 0o777 for path in (argv[-1], environ_update["NETRC"]))
        return run(argv, environ_update, cwd)

    bench.monkeypatch.setattr(bench, "run", looked)
    before = os.umask(0)
    try:
        # What it makes has no file left whose name begins with a dot.
        bench.install(credentials=[{"host": "index.test", "username": "user", "password": "secret"}])
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600]
