# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How large the code is and what a module sends to a host: `python -m benchmarks.house`.

Each figure is next to that of commit 3d876ec and its bound, and below them where the plugins' lines are. Nothing is
run, so the figures are the same anywhere.
"""

from __future__ import annotations

import ast
import collections
import sys
import typing as t
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / ".collections"), str(CHECKOUT)]

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle

PLUGINS = CHECKOUT / "plugins"
BUILD_ROLES = ("llvm", "triton", "pytorch", "torch_extensions")
#: Files of data, which may be as long as what they describe.
TABLES = ("_diagnosis/rules/", "_elf/providers.py")
#: The lines that commit 3d876ec had of what is now such a package: 45 files, 16 filters, 24 modules and 9 actions.
BEFORE = {
    "module_utils/_apt": 2145, "module_utils/_audit": 0, "module_utils/_core": 685, "module_utils/_diagnosis": 1564,
    "module_utils/_elf": 2045, "module_utils/_environment": 2431, "module_utils/_fabric": 1222,
    "module_utils/_fetch": 3277, "module_utils/_host": 997, "module_utils/_proof": 778, "module_utils/_unit": 3427,
    "module_utils/_wheel": 580, "module_utils/_wheelhouse": 1465, "plugin_utils": 241, "plugin_utils/fleet": 960,
    "plugin_utils/lock": 879, "plugin_utils/mirror": 0, "plugin_utils/plans": 826, "plugin_utils/stack": 1173,
    "plugin_utils/wheelhouse": 398, "modules": 4747, "action": 1042, "filter": 2454, "lookup": 83, "doc_fragments": 42,
    "inventory": 0, "module_utils/_inspect": 0, "module_utils/_record": 0, "module_utils/_serving": 0,
    "module_utils/_guard": 0, "module_utils/_update": 0, "plugin_utils/update": 0,
}  # fmt: skip
#: The kinds of lines, and how many of each that commit had.
KINDS = {"code": 21703, "documentation": 8198, "blank": 3560}


class Row(t.NamedTuple):
    """One measure.

    :ivar before: what it was at commit 3d876ec.
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


def longest_class(paths: t.Iterable[Path]) -> int:
    """Return the lines of the longest class in ``paths``."""
    found = [0]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.append((node.end_lineno or node.lineno) - node.lineno + 1)
    return max(found)


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


def where() -> str:
    """Return as Markdown in which packages the lines are, and of which kind."""
    packages: dict[str, collections.Counter[str]] = {name: collections.Counter() for name in BEFORE}
    for path in code():
        parts = path.relative_to(PLUGINS).parts
        packages["/".join(parts[: min(2, len(parts) - 1)])] += kinds(path)
    shown = ["| package | 3d876ec | now | " + " | ".join(KINDS) + " |", "|---|---|---|" + "---|" * len(KINDS)]
    rows = [*((name, BEFORE[name], found) for name, found in packages.items())]
    rows.append(("all", sum(BEFORE.values()), sum(packages.values(), collections.Counter())))
    for name, before, found in rows:
        of_kind = " | ".join(f"{found[kind]:,}" for kind in KINDS)
        shown.append(f"| {name} | {before:,} | {found.total():,} | {of_kind} |")
    shown.append(f"| all, at 3d876ec | {sum(KINDS.values()):,} | | {' | '.join(f'{n:,}' for n in KINDS.values())} |")
    return "\n".join(shown)


def measures() -> list[Row]:
    """Return all that is measured."""
    plain = [path for path in code() if not is_table(path)]
    filters = code(PLUGINS / "filter")
    variables = sorted(CHECKOUT.glob("roles/*/vars/main.yml"))
    build_roles = [
        path
        for role in BUILD_ROLES
        for path in (CHECKOUT / "roles" / role).rglob("*.yml")
        if path.parent.name != "meta" or path.name != "main.yml"
    ]
    return [
        Row("lines of the largest file, tables aside", max(lines(path) for path in plain), 2010, 600),
        Row("lines of the largest class", longest_class(plain), 1183, 300),
        Row("flat files in module_utils", len(list((PLUGINS / "module_utils").glob("*.py"))), 45, 0),
        Row("lines sent for build_info", sent("build_info"), 9731, 1500),
        Row("lines sent for wheelhouse", sent("wheelhouse"), 10600, 3000),
        Row("lines of the roles' vars", lines(*variables), 754, 280),
        Row("lines of the four build roles", lines(*build_roles), 1198, 650),
        Row("filters", len(filters), 16, 6),
        Row("lines of the filters", lines(*filters), 2454, 1100),
        Row("lines of plugins", lines(*code()), 33461, 30000),
    ]


def table(rows: t.Iterable[Row]) -> str:
    """Return the rows as Markdown."""
    shown = ["| measure | 3d876ec | now | bound |", "|---|---|---|---|"]
    for row in rows:
        verdict = "" if row.value <= row.bound else " (missed)"
        shown.append(f"| {row.what} | {row.before:,} | {row.value:,}{verdict} | {row.bound:,} |")
    return "\n".join(shown)


if __name__ == "__main__":
    print(table(measures()), where(), sep="\n\n")
