# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How large the code is and what a module sends to a host: `python -m benchmarks.house`.

Each figure is next to that of commit 6140af7 and its bound, and below them where the collection's lines are. Nothing is
run, so the figures are the same anywhere. Two measures of the house need a run: the minutes of `make test` (bound 20)
and the ratio of a converged site to a ping (bound 4).
"""

from __future__ import annotations

import ast
import collections
import functools
import re
import subprocess
import sys
import typing as t
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / ".collections"), str(CHECKOUT)]

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle

PLUGINS, TOOLS = CHECKOUT / "plugins", CHECKOUT / "tools"
BUILD_ROLES = ("llvm", "triton", "pytorch", "torch_extensions")
#: Files of data, which may be as long as what they describe.
TABLES = ("_diagnosis/rules/", "_elf/providers.py")
#: Each stands on those before it alone. Other packages of module_utils stand above all of these, and above them ABOVE,
#: again in that order; action plugins and the like may import all.
FLOORS = (
    "_core", "_elf", "_fetch", "_wheel", "_host", "_diagnosis", "_apt", "_unit", "_environment", "_wheelhouse",
)  # fmt: skip
ABOVE = ("modules", "plugin_utils", "tools")
#: How many lines commit 6140af7 had in each package, and of each kind.
BEFORE = {
    "module_utils/_apt": 2086, "module_utils/_audit": 384, "module_utils/_core": 1356, "module_utils/_diagnosis": 2176,
    "module_utils/_elf": 2107, "module_utils/_environment": 2608, "module_utils/_fabric": 1224,
    "module_utils/_fetch": 3893, "module_utils/_host": 1030, "module_utils/_inspect": 522, "module_utils/_proof": 14706,
    "module_utils/_unit": 4407, "module_utils/_wheel": 851, "module_utils/_wheelhouse": 953, "plugin_utils": 870,
    "plugin_utils/fleet": 1222, "plugin_utils/lock": 894, "plugin_utils/mirror": 1076, "plugin_utils/plans": 3124,
    "plugin_utils/stack": 809, "plugin_utils/wheelhouse": 509, "modules": 4678, "action": 1224, "filter": 407,
    "lookup": 211, "doc_fragments": 202, "inventory": 211,
}  # fmt: skip
KINDS = {"code": 35372, "documentation": 11455, "blank": 6913}

_PREFIX = "ansible_collections.sparkforge.dgx_spark."
#: What takes a text apart.
_CUTS = ("compile", "findall", "finditer", "fullmatch", "match", "partition", "search", "split", "sub")


class Row(t.NamedTuple):
    """One measure.

    :ivar before: what it was at commit 6140af7.
    :ivar bound: at most so much.
    """

    what: str
    value: int
    before: int
    bound: int


def lines(*paths: Path) -> int:
    """Return how many lines the files have together."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def code(directory: Path = PLUGINS) -> list[Path]:
    return sorted(directory.rglob("*.py"))


def is_table(path: Path) -> bool:
    return any(part in path.as_posix() for part in TABLES)


def longest_function(paths: t.Iterable[Path]) -> int:
    """Return the lines of the longest function in ``paths``."""
    return longest(paths, (ast.FunctionDef, ast.AsyncFunctionDef))


def longest_class(paths: t.Iterable[Path]) -> int:
    """Return the lines of the longest class in ``paths``."""
    return longest(paths, (ast.ClassDef,))


def longest(paths: t.Iterable[Path], kinds_of_node: tuple[type[ast.stmt], ...]) -> int:
    found = [0]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds_of_node):
                found.append((node.end_lineno or node.lineno) - node.lineno + 1)
    return max(found)


def records_of_a_wheel(paths: t.Iterable[Path]) -> list[str]:
    """Return the classes that are of a wheel, by their own words, and have its sha256."""
    found = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and re.search(r"\b[Ww]heel\b", ast.get_docstring(node) or ""):
                fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
                names = [field.id for field in fields if isinstance(field, ast.Name)]
                names += [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
                # A link of an index names any file.
                if "sha256" in names and "url" not in names:
                    found.append(f"{path.name}: {node.name}")
    return found


def parsers_of_a_line(paths: t.Iterable[Path]) -> list[str]:
    """Return the files that take a line of a lock apart: patterns and cuts with ``--hash`` in them."""
    found = []
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            cuts = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CUTS
            if cuts and any("--hash" in str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)):
                found.append(path.name)
    return sorted(set(found))


@functools.cache
def imports(path: Path, root: Path) -> tuple[tuple[Path, bool], ...]:
    """Return each file of this collection that a file of ``root`` imports, and whether by a relative name."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
        elif (node.module or "").startswith(_PREFIX):
            base = root / (node.module or "").removeprefix(_PREFIX).replace(".", "/")
        elif (node.module or "").partition(".")[0] == "sparkforge":
            base = root / "cli" / (node.module or "").replace(".", "/")
        else:
            continue
        for alias in node.names:
            for file in (base / f"{alias.name}.py", base.with_suffix(".py")):
                if file.is_file():
                    found.append((file, bool(node.level)))
                    break
    return tuple(found)


def circles(paths: t.Sequence[Path], root: Path) -> int:
    """Return how many groups of files import each other."""
    graph = {path: {file for file, _relative in imports(path, root)} for path in paths}

    def reached(start: Path) -> set[Path]:
        seen: set[Path] = set()
        waiting = list(graph.get(start, ()))
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += graph.get(one, ())
        return seen

    within = {path: reached(path) for path in paths}
    return len({frozenset(other for other in within[path] if path in within.get(other, ())) for path in paths
                if path in within[path]})  # fmt: skip


def arrows_up(paths: t.Iterable[Path], root: Path) -> set[tuple[str, str]]:
    """Return which packages import one that stands above them."""
    floor = {name: number for number, name in enumerate(FLOORS)}

    def place(path: Path) -> tuple[int, str]:
        top, *parts = path.relative_to(root).parts
        if parts[0] == "module_utils":
            return floor.get(parts[1], len(FLOORS)), parts[1]
        name = parts[0] if top == "plugins" else top
        return len(FLOORS) + 1 + (ABOVE.index(name) if name in ABOVE else len(ABOVE)), name

    found = set()
    for path in paths:
        own, name = place(path)
        found |= {(name, other) for file, _relative in imports(path, root) for at, other in [place(file)] if own < at}
    return found


def sent(module: str) -> int:
    """Return how many lines of ours a call of ``module`` sends to a host."""
    path = PLUGINS / "modules" / f"{module}.py"
    roots = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level and f"{node.module}.".startswith("module_utils."):
            for alias in node.names:
                name = f"{node.module}.{alias.name}".removeprefix("module_utils.")
                place = PLUGINS / "module_utils" / name.replace(".", "/")
                there = place.is_dir() or place.with_suffix(".py").is_file()
                roots.append(name if there else name.rpartition(".")[0])
    return lines(path) + sum(
        len(source.splitlines()) for source in bundle.files(*(f"{bundle.PACKAGE}.{root}" for root in roots)).values()
    )


def kinds(path: Path) -> collections.Counter[str]:
    """Return how many lines of a file are code, documentation (docstrings, comments, Ansible's) and blank."""
    source = path.read_text(encoding="utf-8")
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            texts.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("DOCUMENTATION", "EXAMPLES", "RETURN"):
            texts.update(range(node.lineno, (node.end_lineno or 0) + 1))
    return collections.Counter(
        "documentation" if number in texts or line.startswith("#") else "code" if line else "blank"
        for number, line in enumerate(map(str.strip, source.splitlines()), 1)
    )


def without_tests() -> list[Path]:
    """Return the Python files of the repository but for the tests."""
    listed = subprocess.run(["git", "-C", CHECKOUT, "ls-files", "*.py"], capture_output=True, text=True, check=True)
    paths = [CHECKOUT / name for name in listed.stdout.splitlines() if "tests" not in name.split("/")]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def where() -> str:
    """Return as Markdown in which packages of plugins/ and tools/ the lines are, and of which kind."""
    packages: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    packages.update({name: collections.Counter() for name in BEFORE})
    for path in [*code(), *code(TOOLS)]:
        parts = path.relative_to(CHECKOUT if path.is_relative_to(TOOLS) else PLUGINS).parts
        packages["/".join(parts[: min(2, len(parts) - 1)])] += kinds(path)
    shown = ["| package | 6140af7 | now | " + " | ".join(KINDS) + " |", "|---|---|---|" + "---|" * len(KINDS)]
    rows = [*((name, BEFORE.get(name, 0), found) for name, found in packages.items())]
    rows.append(("all", sum(BEFORE.values()), sum(packages.values(), collections.Counter())))
    for name, before, found in rows:
        of_kind = " | ".join(f"{found[kind]:,}" for kind in KINDS)
        shown.append(f"| {name} | {before:,} | {found.total():,} | {of_kind} |")
    shown.append(f"| all, at 6140af7 | {sum(KINDS.values()):,} | | {' | '.join(f'{n:,}' for n in KINDS.values())} |")
    return "\n".join(shown)


def measures() -> list[Row]:
    """Return all that is measured."""
    plugins = code()
    collection = [*plugins, *code(TOOLS)]
    plain = [path for path in collection if not is_table(path)]
    filters = code(PLUGINS / "filter")
    variables = sorted(CHECKOUT.glob("roles/*/vars/main.yml"))
    build_roles = [
        path
        for role in BUILD_ROLES
        for path in (CHECKOUT / "roles" / role).rglob("*.yml")
        if path.parent.name != "meta" or path.name != "main.yml"
    ]
    programs = [*code(CHECKOUT / "guard/src"), *code(CHECKOUT / "proof/src")]
    return [
        Row("lines of Python in plugins/", lines(*plugins), 53740, 33000),
        Row("lines of Python without tests", lines(*without_tests()), 62286, 50000),
        Row("lines of the largest file, tables aside", max(lines(path) for path in plain), 863, 500),
        Row("lines of the largest function", longest_function(plain), 178, 80),
        Row("lines of the largest class", longest_class(plain), 296, 300),
        Row("flat files in module_utils", len(list((PLUGINS / "module_utils").glob("*.py"))), 0, 0),
        Row("lines sent for build_info", sent("build_info"), 1067, 1000),
        Row("lines sent for wheelhouse", sent("wheelhouse"), 2732, 2000),
        Row("lines sent for cuda_proof, converged", sent("cuda_proof"), 21443, 1500),
        Row("lines sent for guard, converged", sent("guard"), 0, 1500),
        Row("records of a wheel", len(records_of_a_wheel([*collection, *programs])), 6, 1),
        Row("parsers of a lock's line", len(parsers_of_a_line([*collection, *programs])), 6, 1),
        Row("circles of imports", circles([*collection, *programs, *code(CHECKOUT / "cli")], CHECKOUT), 1, 0),
        Row("arrows to a package above", len(arrows_up(collection, CHECKOUT)), 1, 0),
        Row("absolute imports within the collection", absolute(collection), 1287, 0),
        Row("lines of the roles' vars", lines(*variables), 256, 280),
        Row("lines of the four build roles", lines(*build_roles), 650, 650),
        Row("filters", len(filters), 6, 6),
        Row("lines of the filters", lines(*filters), 407, 1100),
    ]


def absolute(paths: t.Iterable[Path]) -> int:
    """Return how many imports of each other name the files by the collection, where a drawing tool sees no arrow."""
    return sum(not relative for path in paths for _file, relative in imports(path, CHECKOUT))


def table(rows: t.Iterable[Row]) -> str:
    """Return the rows as Markdown."""
    shown = ["| measure | 6140af7 | now | bound |", "|---|---|---|---|"]
    for row in rows:
        verdict = "" if row.value <= row.bound else " (missed)"
        shown.append(f"| {row.what} | {row.before:,} | {row.value:,}{verdict} | {row.bound:,} |")
    return "\n".join(shown)


if __name__ == "__main__":
    print(table(measures()), where(), sep="\n\n")
