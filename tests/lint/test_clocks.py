"""Nothing may wait by the wall clock, because a user, a time server or a flat battery can change it during the wait."""

import ast
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
FOLDERS = ("plugins", "proof/src", "guard/src", "cli", "tools", "roles")
TIMES_OF_DAY = {"time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow"}
#: Functions that read the wall clock, and why; none of them waits for a certain time.
ASKING = {
    "guard/src/sparkforge_guard/brakes.py may_start": "is shown",
    "guard/src/sparkforge_guard/watch.py _tell": "is written down",
    "guard/src/sparkforge_guard/power.py note": "is written down",
    "guard/src/sparkforge_guard/power.py down": "a note of the last days is shown",
    "plugins/action/stack_lock.py _resolve": "is written down",
    "plugins/module_utils/_environment/status.py observe": "the controller says how old what it sees is",
    "plugins/module_utils/_fetch/redist.py _record": "is written down",
    "plugins/module_utils/_fetch/unpack.py add_file": "no file is of the future, which ninja would rebuild for ever",
    "plugins/module_utils/_host/guarded.py messages": "a note of the last days is shown",
    "plugins/module_utils/_unit/attempt.py checkpoint": "of the files' own clock, after a power loss",
    "plugins/module_utils/_unit/resume.py take_stock": "notices that the clock went back",
    "plugins/module_utils/_unit/attempt.py update": "notices that the clock went back",
    "plugins/module_utils/_wheelhouse/store.py _manifest": "is written down",
    "proof/src/sparkforge_proof/history.py remember": "a name",
}


def asking(root: Path) -> set[str]:
    """Return the file and function of each call that reads the wall clock."""
    lines = set()
    for path in (path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        if any(part.is_symlink() for part in (path, *path.parents)):
            continue
        functions = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
        ]
        for function in functions:
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            if any(ast.unparse(call.func) in TIMES_OF_DAY for call in calls):
                lines.add(f"{path.relative_to(root)} {function.name}")
    return lines


def test_nothing_waits_by_the_time_of_day() -> None:
    lines = asking(CHECKOUT)
    assert sorted(lines - set(ASKING)) == [], "measure a time that passes with time.monotonic()"
    assert sorted(set(ASKING) - lines) == []


def test_a_wait_by_the_time_of_day_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "tools/new.py"
    path.parent.mkdir()
    path.write_text("def wait():\n    end = time.time() + 9\n    while time.time() < end:\n        pass\n")
    assert asking(tmp_path) == {"tools/new.py wait"}
