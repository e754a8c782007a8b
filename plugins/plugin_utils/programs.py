# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The packages ``sparkforge_proof`` and ``sparkforge_guard`` on the controller: modules, and the file that hosts run.

The collection holds the sources in ``proof/src`` and ``guard/src``. Where they are not, as in the wheel of the command
``sparkforge``, that one file itself is in ``proof`` and ``guard``.
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
#: Any Python reads it, 2.7 too.
_VERSION = """import sys

if sys.version_info < (3, 9):
    sys.stderr.write("Python 3.9 or newer is needed.\\n")
    sys.exit(2)
"""
_MAIN = f"""{_VERSION}from {{}} import main

sys.exit(main())
"""
#: The recorder uses the proof, which does not know of it.
_RECORDER = f"""{_VERSION}from sparkforge_proof import cli, history
from {{}} import main

sys.exit(main(lambda host: history.History(host.path(history.DIRECTORY)).last(), cli.prove_other))
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """A package of its own that hosts run as one file.

    :ivar name: its folder, and the end of its names: ``sparkforge_proof``, ``sparkforge-proof.pyz``.
    :ivar data: returns what it needs besides its code, by paths below its package.
    :ivar others: returns modules that come along although ``cli``, whose ``main`` begins the file, imports none.
    """

    name: str
    data: t.Callable[[], dict[str, str]] = dict
    others: t.Callable[[], tuple[str, ...]] = lambda: ("__main__",)

    @property
    def file(self) -> str:
        """The name of the one file."""
        return f"sparkforge-{self.name}.pyz"

    @property
    def _place(self) -> pathlib.Path:
        sources = HOME / self.name / "src"
        return sources if sources.is_dir() else HOME / self.name / self.file

    def module(self, name: str) -> t.Any:
        """Return a module of the package: ``files.judge``."""
        path = str(self._place)
        if path not in sys.path:
            # Last: a name that the controller has already stays what it is.
            sys.path.append(path)
        return importlib.import_module(f"sparkforge_{self.name}.{name}")

    @functools.lru_cache(maxsize=2)  # noqa: B019 - there are two, for as long as the process runs
    def archive(self) -> tuple[bytes, str]:
        """Return the package as one file that Python runs, and its sha256."""
        content = self._place.read_bytes() if self._place.is_file() else bundle.archive(self.sources())
        return content, hashlib.sha256(content).hexdigest()

    def write(self, path: pathlib.Path) -> None:
        """Write that file, which the same sources make of the same bytes."""
        write(path, self.archive()[0])

    def sources(self) -> dict[str, str]:
        """Return the path and the text of each file of it.

        :raises SparkforgeError: if one of them is missing.
        """
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
                f"{self.file} cannot be put together: {missing} is missing.",
                "Install the collection again; in a clone, git status shows what was removed.",
            ) from error


def write(path: pathlib.Path, archive: bytes) -> None:
    """Write a file that Python and a shell run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(archive)
    path.chmod(0o755)


def recorder(packages: t.Mapping[str, t.Sequence[str]]) -> bytes:
    """Return the one file that records the host it runs on: the recorder, and the proof that it uses.

    :param packages: those that a run asks apt for, by method.
    :raises SparkforgeError: if a file of it is missing.
    """
    from ..module_utils._record import record

    package = record.__package__.replace(".", "/")
    asked = {f"{package}/{record.PACKAGES}": json.dumps(packages)}
    main = {"__main__.py": _RECORDER.format(record.__name__)}
    return bundle.archive({**PROOF.sources(), **bundle.files(record.__name__), **asked, **main})


def _of_the_proof() -> dict[str, str]:
    import yaml

    profiles = yaml.safe_load((HOME / "roles/stack/vars/profiles.yml").read_text())["stack_profiles"]
    page = PROOF.module("page")
    files = {f"page/{name}": page.resource(name) for name in page.FILES}
    return {**files, "profiles.json": json.dumps(profiles, sort_keys=True)}


def _beside_the_proof() -> tuple[str, ...]:
    # The command finds the checks in their sources and imports none of them.
    return ("__main__", "runner", *PROOF.module("catalogue").modules())


def _of_the_guard() -> dict[str, str]:
    return {f"units/{name}": (HOME / "guard/src/sparkforge_guard/units" / name).read_text() for name in _UNITS}


PROOF = Program("proof", _of_the_proof, others=_beside_the_proof)
GUARD = Program("guard", _of_the_guard)
PROGRAMS = {program.name: program for program in (PROOF, GUARD)}
#: The program of each module that calls another one than the proof.
CALLED = {"guard": GUARD, "model_admission": GUARD}

if __name__ == "__main__":
    try:
        PROGRAMS[sys.argv[1]].write(pathlib.Path(sys.argv[2]))
    except SparkforgeError as error:
        sys.exit(str(error))
