# SPDX-License-Identifier: GPL-3.0-or-later
"""Extensions for this torch, compiled with ninja."""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext

TORCH = Path(__file__).resolve().parent.parent
CUDA_HOME = os.environ.get("CUDA_HOME")


def include_paths() -> list:
    return [str(TORCH / "include")]


def library_paths() -> list:
    return [str(TORCH / "lib")]


def CppExtension(name: str, sources: list, **options: object) -> Extension:
    options["include_dirs"] = [*options.get("include_dirs", []), *include_paths()]
    options["library_dirs"] = [*options.get("library_dirs", []), *library_paths()]
    options["libraries"] = [*options.get("libraries", []), "c10", "torch", "torch_cpu", "torch_python"]
    options["language"] = "c++"
    return Extension(name, sources, **options)


class BuildExtension(build_ext):
    """Writes build.ninja into the build directory, so that existing objects are not compiled again."""

    def build_extensions(self) -> None:
        if not shutil.which("ninja"):
            raise RuntimeError("Ninja is required to load C++ extensions")
        self.compiler.compile = self._compile
        super().build_extensions()

    def _compile(self, sources: list, output_dir: str = "", macros: object = None, include_dirs: object = None,
                 debug: object = 0, extra_preargs: object = None, extra_postargs: object = None,
                 depends: object = None) -> list:  # fmt: skip
        flags = ["-fPIC", "-std=c++17", "-O2", "-DNDEBUG", *(extra_postargs or [])]
        flags += [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in macros or []]
        flags += [f"-I{path}" for path in [*(include_dirs or []), sysconfig.get_path("include")]]
        if os.environ.get("FIXTURE_WEIGHT"):
            flags.append(f"-DFIXTURE_WEIGHT={os.environ['FIXTURE_WEIGHT']}")
        folder = Path(output_dir).resolve()
        objects = [folder / Path(source).with_suffix(".o") for source in sources]
        lines = [
            "ninja_required_version = 1.3",
            f"cxx = {os.environ.get('CXX', 'c++')}",
            f"cflags = {shlex.join(flags)}",
            "rule compile",
            "  command = $cxx -MMD -MF $out.d $cflags -c $in -o $out",
            "  depfile = $out.d",
            "  deps = gcc",
        ]
        for source, target in zip(sources, objects):
            target.parent.mkdir(parents=True, exist_ok=True)
            lines.append(f"build {target}: compile {Path(source).resolve()}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "build.ninja").write_text("\n".join([*lines, ""]))
        command = ["ninja", "-v"]
        if os.environ.get("MAX_JOBS"):
            print(f"Using envvar MAX_JOBS ({os.environ['MAX_JOBS']}) as the number of workers...", file=sys.stderr)
            command += ["-j", os.environ["MAX_JOBS"]]
        subprocess.run(command, cwd=folder, check=True)
        return [str(path) for path in objects]
