"""The packages ``sparkforge_proof`` and ``sparkforge_guard`` on the controller, as modules and as files for hosts.

The collection contains the sources in ``proof/src`` and ``guard/src``. The wheel of the command ``sparkforge`` has the
packed file in ``proof`` and ``guard`` instead.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib
import json
import pathlib
import sys
import typing as t

from ..module_utils._core import bundle
from ..module_utils._core.errors import SparkforgeError

HOME = pathlib.Path(__file__).parents[2]
_UNITS = ("sparkforge-guard.service", "sparkforge-guard-caps.service", "sparkforge-guard-caps.timer")
#: Any Python can read this, even 2.7.
_VERSION = """import sys

if sys.version_info < (3, 9):
    sys.stderr.write("Python 3.9 or newer is needed.\\n")
    sys.exit(2)
"""
_MAIN = f"""{_VERSION}from {{}} import main

sys.exit(main())
"""
#: The recorder imports the proof, which does not know the recorder.
_RECORDER = f"""{_VERSION}from sparkforge_proof import cli, history
from {{}} import main

sys.exit(main(lambda host: history.History(host.path(history.DIRECTORY)).last(), cli.prove_other))
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """A separate package that hosts run as one file.

    :ivar name: its directory, and the suffix of its names: ``sparkforge_proof``, ``sparkforge-proof.pyz``.
    :ivar data: returns its data files, by path within the package.
    :ivar others: returns modules to include although ``cli``, whose ``main`` starts the program, does not import them.
    """

    name: str
    data: t.Callable[[], dict[str, str]] = dict
    others: t.Callable[[], tuple[str, ...]] = lambda: ("__main__",)

    @property
    def file(self) -> str:
        """The name of the packed file."""
        return f"sparkforge-{self.name}.pyz"

    @property
    def _place(self) -> pathlib.Path:
        sources = HOME / self.name / "src"
        return sources if sources.is_dir() else HOME / self.name / self.file

    def module(self, name: str) -> t.Any:
        """Return a module of the package, such as ``files.judge``."""
        path = str(self._place)
        if path not in sys.path:
            # Append the path, so that names that the controller already knows keep their meaning.
            sys.path.append(path)
        return importlib.import_module(f"sparkforge_{self.name}.{name}")

    @functools.lru_cache(maxsize=2)  # noqa: B019 - there are two, for as long as the process runs
    def archive(self) -> tuple[bytes, str]:
        """Return the package as one file that Python can run, and its sha256."""
        content = self._place.read_bytes() if self._place.is_file() else bundle.archive(self.sources())
        return content, hashlib.sha256(content).hexdigest()

    def write(self, path: pathlib.Path) -> None:
        """Write the packed file; the same sources give the same bytes."""
        write(path, self.archive()[0])

    def sources(self) -> dict[str, str]:
        """Return the text of each file in the package, by path."""
        package = f"sparkforge_{self.name}"
        try:
            own = self.module("_shared.module_utils._core.bundle")
            return {
                **own.files(*(f"{package}.{module}" for module in ("cli", *self.others()))),
                **{f"{package}/{path}": text for path, text in self.data().items()},
                "__main__.py": _MAIN.format(f"{package}.cli"),
            }
        except (FileNotFoundError, ModuleNotFoundError) as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) else error.filename or error
            raise SparkforgeError(
                f"{self.file} cannot be assembled: {missing} is missing.",
                "Install the collection again; in a clone, git status shows what was removed.",
            ) from error


def write(path: pathlib.Path, archive: bytes) -> None:
    """Write a file that Python or a shell can run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(archive)
    path.chmod(0o755)


def recorder(packages: t.Mapping[str, t.Sequence[str]]) -> bytes:
    """Return the file that records its host: the recorder together with the proof, which it uses.

    :param packages: the packages that a run installs with apt, by method.
    :raises SparkforgeError: if a file is missing.
    """
    from ..module_utils._record import record

    package = record.__package__.replace(".", "/")
    data_files = {f"{package}/{record.PACKAGES}": json.dumps(packages)}
    main = {"__main__.py": _RECORDER.format(record.__name__)}
    return bundle.archive({**PROOF.sources(), **bundle.files(record.__name__), **data_files, **main})


def _of_the_proof() -> dict[str, str]:
    import yaml

    profiles = yaml.safe_load((HOME / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]
    resources = PROOF.module("resources")
    files = {path: resources.text(path) for path in (*resources.OF_CHECKS, *resources.OF_PAGE)}
    return {**files, "profiles.json": json.dumps(profiles, sort_keys=True)}


def _beside_the_proof() -> tuple[str, ...]:
    # The command finds the checks by their source files and does not import them.
    return ("__main__", "runner", *PROOF.module("catalogue").modules())


def _of_the_guard() -> dict[str, str]:
    return {f"units/{name}": (HOME / "guard/src/sparkforge_guard/units" / name).read_text() for name in _UNITS}


PROOF = Program("proof", _of_the_proof, others=_beside_the_proof)
GUARD = Program("guard", _of_the_guard)
PROGRAMS = {program.name: program for program in (PROOF, GUARD)}
#: The program of each module that calls a program other than the proof.
CALLED = {"guard": GUARD, "model_admission": GUARD}

if __name__ == "__main__":
    try:
        PROGRAMS[sys.argv[1]].write(pathlib.Path(sys.argv[2]))
    except SparkforgeError as error:
        sys.exit(str(error))
