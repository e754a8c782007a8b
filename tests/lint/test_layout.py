"""That tests lie where their cost says that they do."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_unit_test_starts_ansible_or_a_container() -> None:
    """Their logic is called. What only a play shows is in tests/playbooks, what only a host shows in integration."""
    for path in (TESTS / "unit").rglob("*.py"):
        for word in ("run_playbook", 'with_name("ansible', "ansible_runner", "image.podman", "integration.conftest"):
            assert word not in path.read_text(), (path, word)
