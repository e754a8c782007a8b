"""Draws guards at random, breaks each of them, and runs the tests that the import graph selects, without human choice.

``python -m tests.mutants.drawn --seed 23`` prints a line for each mutant; ``--out`` writes them to a JSON file. A guard
is a refusing condition (an ``if`` that raises), a bound, a call of a function that can refuse, a pattern that must
match in full, a flag, a mode, or a directive that restricts a systemd unit. With ``--here`` no container is started;
use it only on a disposable machine.
"""

import argparse
import ast
import contextlib
import dataclasses
import functools
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from benchmarks import house
from lab.host import LabError, fail, install_packages
from tests.mutants.__main__ import KILLED, LIMIT, Bench
from tests.mutants.data import CHECKOUT
from tests.mutants.judge import Here, Judge, remove

AREAS = {
    "cli": ["cli/sparkforge"],
    "serving": [
        "plugins/module_utils/_serving", "roles/serving", "plugins/plugin_utils/plans/serving.py",
        "plugins/modules/hub_model.py", "plugins/modules/model_info.py",
    ],
    "mirror": ["tools/mirror", "plugins/action/stack_mirror.py"],
    "environment": ["plugins/module_utils/_environment"],
    "fetch": ["plugins/module_utils/_fetch"],
    "apt": ["plugins/module_utils/_apt"],
    "inspect": [
        "proof/src/sparkforge_proof/files", "plugins/modules/inspect_info.py", "plugins/action/inspect_info.py",
    ],
    "guard": ["guard/src", "plugins/modules/guard.py", "plugins/modules/model_admission.py"],
    "endpoint": ["proof/src/sparkforge_proof/endpoint"],
    "forecast": ["tools/forecast", "tools/discovery.py", "tools/network.py", "plugins/action/forecast.py"],
    "record": ["plugins/module_utils/_record"],
    "core": ["plugins/module_utils/_core", "plugins/modules/root_files.py"],
}  # fmt: skip
#: Bounds, which are moved by one.
BOUNDS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
OTHERWISE = {True: "False", False: "True"}
DIRECTIVE = re.compile(
    r"^(?:No|Protect|Private|Restrict|Capability|SystemCall|Memory|Lock|Tasks|Limit|UMask|IPAddress|Device|LoadCred|"
    r"ReadOnly|Inaccessible|StartLimit|RemoveIPC|Proc|TemporaryFile)\w*=.*\n", re.M
)  # fmt: skip
#: Names of functions that check; functions that write or remove can also fail, but are not checks.
CHECKS = re.compile(
    r"_?(check|refuse|require|verif|validate|accept|place_option|protect|using|own|correct|finish|reach)"
)
FLAGS = {"check", "strict", "follow_symlinks", "required", "links", "identity", "alone", "no_log", "start_new_session"}
LIMITS = re.compile(r"LIMIT|MOST|SPACE|RESERVE|PATIENCE|SECONDS|REDIRECTIONS|HOPS|RATE|GRACE|ATTEMPTS|KEPT|FACTOR")
#: Tests that need no other machine.
TESTS = re.compile(r"(guard/|proof/)?tests/(unit|golden|playbooks)/.*test_\w+\.py$")
#: With fewer tests that import a file, other tests are added.
FEW = 4
#: Seconds allowed for the tests that start no program.
QUICK = 120
#: The maximum number of test files that are run on a mutant, nearest first.
FILES = 14


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A guard that was drawn: a range of characters in a file, and their replacement."""

    area: str
    kind: str
    file: str
    line: int
    start: int
    end: int
    becomes: str
    tests: tuple[str, ...] = ()
    #: The number of earlier guards in the file with the same text and replacement.
    before: int = 0

    @functools.cached_property
    def id(self) -> str:
        """Its identifier, which does not change when other lines of the file do."""
        text = " ".join((CHECKOUT / self.file).read_text(encoding="utf-8")[self.start : self.end].split())
        again = f" (no. {self.before + 1})" if self.before else ""
        return f"{self.file} {self.kind}: `{text}` becomes `{self.becomes.strip()}`{again}"

    def broken(self) -> str:
        """Return the content of the file with the guard broken."""
        source = (CHECKOUT / self.file).read_text(encoding="utf-8")
        return source[: self.start] + self.becomes + source[self.end :]


class Guards(ast.NodeVisitor):
    """The guards in a file, each with its replacement."""

    def __init__(self, area: str, file: str, refusing: set[str]) -> None:
        self.area, self.file, self.refusing = area, file, refusing
        self.source = (CHECKOUT / file).read_text(encoding="utf-8")
        self.lines = [0, *(newline.end() for newline in re.finditer("\n", self.source))]
        self.found: list[Drawn] = []
        self.refusals: set[ast.AST] = set()

    def all(self) -> list[Drawn]:
        """Return them in the order of the file."""
        if self.file.endswith(".py"):
            self.visit(ast.parse(self.source))
        else:
            for directive in DIRECTIVE.finditer(self.source):
                start, end = directive.span()
                self._add("directive", start, end, "", self.source.count("\n", 0, start) + 1)
        counts: Counter[str] = Counter()
        sound = []
        for guard in filter(self._sound, self.found):
            sound.append(dataclasses.replace(guard, before=counts[guard.id]))
            counts[guard.id] += 1
        return sound

    def _sound(self, mutant: Drawn) -> bool:
        if not self.file.endswith(".py"):
            return True
        try:
            ast.parse(mutant.broken())
        except SyntaxError:
            return False
        return True

    def _add(self, kind: str, start: int, end: int, becomes: str, line: int) -> None:
        self.found.append(Drawn(self.area, kind, self.file, line, start, end, becomes))

    def _at(self, line: int, column: int) -> int:
        """Return the offset in the text; ast counts columns in bytes."""
        start = self.lines[line - 1]
        return start + len(self.source[start:].split("\n", 1)[0].encode()[:column].decode())

    def _replace(self, kind: str, node: ast.expr | ast.stmt, becomes: str) -> None:
        end = self._at(node.end_lineno or 0, node.end_col_offset or 0)
        self._add(kind, self._at(node.lineno, node.col_offset), end, becomes, node.lineno)

    def _text(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.source, node) or ""

    def visit_If(self, node: ast.If) -> None:
        """An ``if`` that refuses: never, in the opposite case, or for only some of its reasons."""
        if any(isinstance(statement, ast.Raise) for statement in node.body):
            self.refusals.update(ast.walk(node.test))
            self._replace("removed", node.test, "False")
            self._replace("negated", node.test, f"not ({self._text(node.test)})")
            if isinstance(node.test, ast.BoolOp):
                for left in node.test.values:
                    kept = [self._text(statement) for statement in node.test.values if statement is not left]
                    word = " and " if isinstance(node.test.op, ast.And) else " or "
                    self._replace("part removed", node.test, f"({word.join(kept)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Move a bound by one in a comparison with a constant or in a check that refuses."""
        operator = type(node.ops[0])
        limit = any(isinstance(name, ast.Name) and name.id.isupper() for name in ast.walk(node))
        if len(node.ops) == 1 and operator in BOUNDS and (limit or node in self.refusals):
            self._replace(
                "bound", node, f"{self._text(node.left)} {BOUNDS[operator]} {self._text(node.comparators[0])}"
            )
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call of a refusing function whose value is not used."""
        call = node.value
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in self.refusing and CHECKS.match(name):
                self._replace("check dropped", node, "pass")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """A pattern that must match in full; boolean flags."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "fullmatch":
            self._replace("pattern", node.func, f"{self._text(node.func.value)}.match")
        for word in node.keywords:
            if word.arg in FLAGS and isinstance(word.value, ast.Constant) and isinstance(word.value.value, bool):
                self._replace("flag", word.value, OTHERWISE[word.value.value])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """A system call's flag, such as ``os.O_NOFOLLOW``, which is left out."""
        if isinstance(node.op, ast.BitOr) and isinstance(node.right, ast.Attribute):
            self._replace("flag", node, self._text(node.left))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """The mode of a file, which becomes writable by all."""
        if isinstance(node.value, int) and self._text(node).startswith("0o"):
            self._replace("constant", node, oct(node.value ^ 0o022))

    def visit_Assign(self, node: ast.Assign) -> None:
        """A constant limit of the module, which is doubled and increased by one."""
        target, value = node.targets[0], node.value
        number = isinstance(value, ast.BinOp) or (
            isinstance(value, ast.Constant) and type(value.value) is int and not self._text(value).startswith("0o")
        )
        if isinstance(target, ast.Name) and LIMITS.search(target.id) and node.col_offset == 0 and number:
            try:
                limit = eval(self._text(value), {"__builtins__": {}})
            except (NameError, TypeError):
                limit = None
            if type(limit) is int:
                self._replace("constant", value, str(2 * limit + 1))
        self.generic_visit(node)


# -- the tests near a file


def python_files(*directories: str) -> list[str]:
    """Return the Python files in directories of the checkout."""
    files = [path for directory in directories for path in (CHECKOUT / directory).rglob("*.py")]
    return sorted(str(path.relative_to(CHECKOUT)) for path in files)


@functools.cache
def tests() -> dict[str, set[Path]]:
    """Return the tests that need no other machine, each with the files that it imports, directly or not.

    A test that names a module, an action plugin or a role's file imports it, too.
    """
    doors = [
        path for name in ("plugins/modules", "plugins/action", "roles") for path in (CHECKOUT / name).rglob("*.py")
    ]
    imported = {}
    for test in filter(TESTS.match, python_files("tests", "guard/tests", "proof/tests")):
        text = (CHECKOUT / test).read_text(encoding="utf-8")
        named = [
            door for door in doors
            if f'"{door.stem}"' in text or door.name in text or Path(test).stem.startswith(f"test_{door.stem}")
        ]  # fmt: skip
        imported[test] = house.reached([CHECKOUT / test, *named], CHECKOUT) | set(named)
    return imported


def near(file: str) -> list[str]:
    """Return the test files that reach a file; the one named after the file comes before all others."""
    stem, package = Path(file).stem.lstrip("_"), Path(file).parent.name
    if file.startswith("roles/"):
        # A role's files and templates are never imported: its own tests read them.
        return [
            test
            for test in tests()
            if re.search(rf"tests/unit/(roles|.*plans)/test_{file.split('/')[1]}\w*\.py$", test)
        ]
    reaching = {test for test, imported in tests().items() if CHECKOUT / file in imported}
    tokens = {test: set(re.findall(r"\w+", (CHECKOUT / test).read_text(encoding="utf-8"))) for test in tests()}
    if file.startswith("proof/") and len(reaching) < FEW:
        # A file that runs as a program is never imported, so all tests that mention it count.
        reaching |= {test for test in tests() if stem in tokens[test]}

    def kin(test: str) -> bool:
        return f"/{package}/" in test or (file.startswith("cli/") and "/cli/" in test)

    named = {test for test in tests() if Path(test).stem == f"test_{stem}" and kin(test)}
    order = sorted(
        reaching | named, key=lambda test: (test not in named, not kin(test), stem not in tokens[test], test)
    )
    plays = [test for test in order if test.startswith("tests/playbooks")]
    return [test for test in order if test not in plays][:FILES] + plays[:2]


# -- drawing


def guards() -> dict[str, list[Drawn]]:
    """Return all guards that may be drawn, by area."""
    refusing = set()
    for file in python_files("plugins", "tools", "cli", "roles", "guard/src", "proof/src"):
        for node in ast.walk(ast.parse((CHECKOUT / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(statement, ast.Raise) for statement in ast.walk(node)
            ):
                refusing.add(node.name)
    guards_of_area: dict[str, list[Drawn]] = {}
    for area, directories in AREAS.items():
        paths = [path for directory in directories for path in _paths(CHECKOUT / directory)]
        guards_of_area[area] = [
            guard for path in paths for guard in Guards(area, str(path.relative_to(CHECKOUT)), refusing).all()
        ]
    return guards_of_area


def _paths(directory: Path) -> list[Path]:
    if directory.is_file():
        return [directory]
    return sorted(path for path in directory.rglob("*") if path.suffix in (".py", ".j2", ".service") and path.is_file())


def draw(seed: int, count: int) -> list[Drawn]:
    """Return ``count`` guards drawn evenly from the areas; an area with too few contributes all of its guards.

    Each guard has its own random number, so that adding or removing a guard changes little else.
    """
    left = {
        area: sorted(candidates, key=lambda guard: random.Random(f"{seed} {guard.id}").random())
        for area, candidates in guards().items()
    }
    drawn: list[Drawn] = []
    while len(drawn) < count and any(left.values()):
        for candidates in left.values():
            if candidates and len(drawn) < count:
                guard = candidates.pop()
                drawn.append(dataclasses.replace(guard, tests=tuple(near(guard.file))))
    return sorted(drawn, key=lambda mutant: (mutant.area, mutant.file, mutant.start))


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all drawn guards are killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.drawn", description=str(__doc__).splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("-k", metavar="PATTERN", default="", help="of those that are drawn only these")
    parser.add_argument("-j", metavar="N", type=int, default=1, help="side by side (default: one after the other)")
    parser.add_argument("--list", action="store_true", help="show them and run none")
    parser.add_argument("--limit", metavar="SECONDS", type=int, default=LIMIT, help="for one that lives on")
    parser.add_argument("--quick", action="store_true", help="only tests that start no program")
    parser.add_argument(
        "--out", type=Path, help="a file that gets a JSON object a line; what it has is not judged again"
    )
    parser.add_argument("--here", action="store_true", help="without containers: broken code may harm this machine")
    parser.add_argument("--place", metavar="DIRECTORY", help="where trees are copied to")
    parsed = parser.parse_args(arguments)
    drawn = [mutant for mutant in draw(parsed.seed, parsed.count) if re.search(parsed.k, mutant.id)]
    if parsed.list:
        print("\n".join(f"{mutant.area}: {mutant.id}" for mutant in drawn))
        return 0
    if not parsed.here:
        install_packages()
    rows = (
        [json.loads(line) for line in parsed.out.read_text().splitlines()] if parsed.out and parsed.out.exists() else []
    )
    killed = {row["id"] for row in rows if row["status"] == KILLED}
    directory = Path(tempfile.mkdtemp(prefix="mutants-", dir=parsed.place))
    with contextlib.ExitStack() as stack:
        stack.callback(remove, directory)
        pool = stack.enter_context(ThreadPoolExecutor(parsed.j))
        judge = Judge((Here if parsed.here else Bench)(directory, parsed.j))
        # First run the tests that start no program: they kill most mutants within seconds.
        for options, limit in [(("--no-programs",), QUICK), ((), parsed.limit)][: 1 if parsed.quick else 2]:
            judged = {row["id"] for row in rows if row["options"] == list(options)}
            judge.bench.limit = limit
            running = [
                pool.submit(judge.outcome, guard, *options) for guard in drawn if guard.id not in killed | judged
            ]
            for future in as_completed(running):
                outcome = future.result()
                guard = outcome.mutant
                print(f"{outcome.status:8} {outcome.seconds:5.1f} s  {guard.area}: {guard.id}", flush=True)
                if outcome.status == KILLED:
                    killed.add(guard.id)
                if parsed.out:
                    row = {"id": guard.id, "area": guard.area, "status": outcome.status, "options": options}
                    with parsed.out.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps({**row, "said": outcome.said, "seconds": outcome.seconds}) + "\n")
    alive = sum(guard.id not in killed for guard in drawn)
    print(f"mutants: {len(drawn) - alive} of {len(drawn)} drawn with seed {parsed.seed} are killed")
    return 1 if alive else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(fail(error))
