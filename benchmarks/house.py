# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The size of the code, its dependencies, and the code that a module sends to a host: `python -m benchmarks.house`.

Each figure is shown with its value at commit 37448370 and its bound. The program runs nothing, so the figures are the
same everywhere. Two measures need a run: the minutes of `make test` (bound 17), and the cost of a converged site
(`python -m benchmarks.noop`: 3 remote calls, 5 times a ping).
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import typing as t
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / ".collections"), str(CHECKOUT)]

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle

PLUGINS, TOOLS, PROOF = CHECKOUT / "plugins", CHECKOUT / "tools", CHECKOUT / "proof/src/sparkforge_proof"
#: The product's directories, and those of its tests.
PRODUCT = ("plugins", "proof/src", "guard/src", "cli", "tools", "roles", "playbooks")
TESTS = ("tests", "proof/tests", "guard/tests")
#: Data files, whose length depends on their content.
TABLES = ("_diagnosis/rules/", "_elf/providers.py")
#: Data files that are Python only in that they have quotes around the data, because Ansible sends only .py files to
#: hosts. A rule in the table of diagnoses no more counts as product code than a line in a stack's YAML does.
DATA = "_diagnosis/rules/"
#: Each package depends only on those before it. Other packages in module_utils are above all of these, and those in
#: ABOVE are above them, in that order; action plugins and similar plugins may import all.
FLOORS = (
    "_core", "_elf", "_fetch", "_wheel", "_host", "_diagnosis", "_apt", "_unit", "_environment", "_wheelhouse",
)  # fmt: skip
ABOVE = ("modules", "plugin_utils", "tools")
#: For each tested recipe in CONTRIBUTING.md, the number of files that it touched at commit 37448370, and the bound.
RECIPES = {"check": (7, 3), "stack": (8, 2)}

_PREFIX = "ansible_collections.sparkforge.dgx_spark."
#: Packages with absolute names, and their directories.
_SOURCES = {"sparkforge": "cli", "sparkforge_guard": "guard/src", "sparkforge_proof": "proof/src",
            "tests": "", "guard": "", "proof": "", "lab": ""}  # fmt: skip


class Row(t.NamedTuple):
    """A measure.

    :ivar before: its value at commit 37448370.
    :ivar bound: its upper limit.
    """

    what: str
    value: int
    before: int
    bound: int


def lines(*paths: Path) -> int:
    """Return the total number of lines in the files, excluding data."""
    counted = [path for path in paths if DATA not in path.as_posix() or path.stem == "__init__"]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in counted)


def code(directory: Path = PLUGINS) -> list[Path]:
    return sorted(directory.rglob("*.py"))


def tracked(*directories: str) -> list[Path]:
    """Return the Python files in these directories that git tracks."""
    listed = subprocess.run(
        ["git", "-C", CHECKOUT, "ls-files", "--", *directories], capture_output=True, text=True, check=True
    )
    paths = [CHECKOUT / name for name in listed.stdout.splitlines() if name.endswith(".py")]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def is_table(path: Path) -> bool:
    return any(part in path.as_posix() for part in TABLES)


def longest_function(paths: t.Iterable[Path]) -> int:
    """Return the length in lines of the longest function in ``paths``."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in paths)
    functions = (node for tree in trees for node in ast.walk(tree)
                 if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))  # fmt: skip
    return max(((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions), default=0)


@functools.cache
def imports(path: Path, root: Path) -> tuple[tuple[Path, bool], ...]:
    """Return each of this collection's files that a file in ``root`` imports, and whether by a relative name."""
    imported = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
        elif (node.module or "").startswith(_PREFIX):
            base = root / (node.module or "").removeprefix(_PREFIX).replace(".", "/")
        elif (top := (node.module or "").partition(".")[0]) in _SOURCES:
            base = root / _SOURCES[top] / (node.module or "").replace(".", "/")
        else:
            continue
        for alias in node.names:
            modules = (base / alias.name, base)
            for file in (file for name in modules for file in (name.with_suffix(".py"), name / "__init__.py")):
                if file.is_file():
                    imported.append((file.resolve(), bool(node.level)))
                    break
    return tuple(imported)


def reached(starts: t.Iterable[Path], root: Path) -> set[Path]:
    """Return the files that ``starts`` import directly or indirectly, including imports within functions."""
    seen: set[Path] = set()
    waiting = [file for path in starts for file, _relative in imports(path, root)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [file for file, _relative in imports(path, root)]
    return seen


def below_the_proof() -> list[Path]:
    """Return the files in plugins/ on which the proof depends."""
    return sorted(path for path in reached(code(PROOF), CHECKOUT) if path.is_relative_to(PLUGINS))


def circles(paths: t.Sequence[Path], root: Path) -> int:
    """Return the number of groups of files that import each other in a circle."""
    within = {path: reached([path], root) for path in paths}
    return len({frozenset(other for other in within[path] if path in within.get(other, ())) for path in paths
                if path in within[path]})  # fmt: skip


def arrows_up(paths: t.Iterable[Path], root: Path) -> set[tuple[str, str]]:
    """Return the pairs of packages of which the first imports the second, although the second is above it."""
    floor = {name: number for number, name in enumerate(FLOORS)}

    def floor_of(path: Path) -> tuple[int, str]:
        top, *parts = path.relative_to(root).parts
        if parts[0] == "module_utils":
            return floor.get(parts[1], len(FLOORS)), parts[1]
        name = parts[0] if top == "plugins" else top
        return len(FLOORS) + 1 + (ABOVE.index(name) if name in ABOVE else len(ABOVE)), name

    upward = set()
    for path in paths:
        own, name = floor_of(path)
        upward |= {
            (name, other) for file, _relative in imports(path, root) for at, other in [floor_of(file)] if own < at
        }
    return upward


def sent(module: str) -> int:
    """Return how many of the collection's lines a call of ``module`` sends to a host."""
    path = PLUGINS / "modules" / f"{module}.py"
    roots = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level and f"{node.module}.".startswith("module_utils."):
            for alias in node.names:
                name = f"{node.module}.{alias.name}".removeprefix("module_utils.")
                path_below = PLUGINS / "module_utils" / name.replace(".", "/")
                there = path_below.is_dir() or path_below.with_suffix(".py").is_file()
                roots.append(name if there else name.rpartition(".")[0])
    return lines(path) + sum(
        len(source.splitlines()) for source in bundle.files(*(f"{bundle.PACKAGE}.{root}" for root in roots)).values()
    )


def files_of_a_recipe(name: str) -> int:
    """Return the number of files that a recipe in CONTRIBUTING.md touches."""
    patch = (CHECKOUT / "tests/recipes" / f"{name}.patch").read_text(encoding="utf-8")
    return sum(line.startswith("diff --git ") for line in patch.splitlines())


def measures() -> list[Row]:
    """Return all measures."""
    product = tracked(*PRODUCT)
    plain = [path for path in product if not is_table(path)]
    collection = [*code(), *code(TOOLS)]
    programs = [*code(CHECKOUT / "guard/src"), *code(CHECKOUT / "proof/src"), *code(CHECKOUT / "cli")]
    recipes = [
        Row(f"files of the recipe of a {name}", files_of_a_recipe(name), before, bound)
        for name, (before, bound) in RECIPES.items()
        if (CHECKOUT / "tests/recipes" / f"{name}.patch").is_file()
    ]
    return [
        Row("lines of product Python", lines(*product), 71796, 62800),
        Row("of it in plugins/", lines(*tracked("plugins")), 40036, 35300),
        Row("of it in proof/src/", lines(*tracked("proof/src")), 24030, 20900),
        Row("lines of tests", lines(*tracked(*TESTS)), 66508, 61000),
        Row("lines of plugins that the proof imports", lines(*below_the_proof()), 12317, 6500),
        Row("files flat in the proof's checks", len(list((PROOF / "checks").glob("*.py"))), 46, 8),
        *recipes,
        Row("lines of the largest file, tables aside", max(lines(path) for path in plain), 850, 500),
        Row("lines of the largest function", longest_function(plain), 178, 80),
        Row("lines sent for build_info", sent("build_info"), 696, 1000),
        Row("lines sent for wheelhouse", sent("wheelhouse"), 2546, 2000),
        Row("lines sent for cuda_proof, converged", sent("cuda_proof"), 966, 1500),
        Row("lines sent for guard, converged", sent("guard"), 960, 1500),
        Row("circles of imports", circles([*collection, *programs], CHECKOUT), 0, 0),
        Row("arrows to a package above", len(arrows_up(collection, CHECKOUT)), 0, 0),
    ]


def table(rows: t.Iterable[Row]) -> str:
    """Return the rows as Markdown."""
    shown = ["| measure | 37448370 | now | bound |", "|---|---|---|---|"]
    for row in rows:
        verdict = "" if row.value <= row.bound else " (missed)"
        shown.append(f"| {row.what} | {row.before:,} | {row.value:,}{verdict} | {row.bound:,} |")
    return "\n".join(shown)


if __name__ == "__main__":
    print(table(measures()))
