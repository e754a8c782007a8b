"""All units that the collection installs or starts have a start timeout."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
UNITS = sorted(
    path
    for folder in ("roles", "guard/src", "proof/src", "plugins")
    for ending in ("service", "mount")
    for path in [*(ROOT / folder).rglob(f"*.{ending}"), *(ROOT / folder).rglob(f"*.{ending}.j2")]
)
#: systemd.service(5): by default these types have no start limit, or their process decides when the start is complete.
WAITED_FOR = re.compile(r"^Type=(oneshot|notify|notify-reload|forking|dbus)$", re.M)


def has_start_limit(unit: str) -> bool:
    return re.search(r"^Timeout(Start)?Sec=(?!0?$|infinity)\S", unit, re.M) is not None


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_that_are_waited_for_have_a_start_limit(path: Path) -> None:
    unit = path.read_text()
    if WAITED_FOR.search(unit) or "[Mount]" in unit:
        assert has_start_limit(unit)


def test_units_are_found_in_every_folder() -> None:
    names = {path.name for path in UNITS}
    assert {"prove.service.j2", "model.mount.j2", "sparkforge-proof.service.j2", "sparkforge-guard.service"} <= names
    assert sum(bool(WAITED_FOR.search(path.read_text())) for path in UNITS) >= 5


@pytest.mark.parametrize("line", ["", "TimeoutStartSec=", "TimeoutStartSec=0", "TimeoutStartSec=infinity"])
def test_units_without_a_finite_limit_are_detected(line: str) -> None:
    assert not has_start_limit(f"[Service]\nType=oneshot\n{line}\nExecStart=/bin/true\n")


def test_code_contains_no_units_that_are_waited_for() -> None:
    """The tests above read only templates, not units that a program writes."""
    sources = [path for folder in ("plugins", "guard/src", "proof/src", "roles") for path in (ROOT / folder).rglob("*")]
    texts = {path: path.read_text() for path in sources if path.suffix in (".py", ".yml")}
    assert [path for path, text in texts.items() if WAITED_FOR.search(text)] == []


@pytest.mark.parametrize("name", ["_core/detached.py", "_serving/hub.py"])
def test_transient_units_start_and_run_within_limits(name: str) -> None:
    source = (ROOT / "plugins/module_utils" / name).read_text()
    assert re.search(r"TimeoutStartSec=\d", source) and re.search(r"RuntimeMaxSec=\{", source)
