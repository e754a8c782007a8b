"""Tests are in the directory that matches their cost."""

import re
from pathlib import Path

import conftest

TESTS = Path(__file__).parents[1]


def test_no_unit_test_starts_ansible_or_a_container() -> None:
    """Unit tests call the code directly. tests/playbooks has the tests that need a play; integration, those that need a
    host."""
    for path in (TESTS / "unit").rglob("*.py"):
        for word in ("run_playbook", 'with_name("ansible', "ansible_runner.", "image.podman", "integration.conftest"):
            assert word not in path.read_text(), (path, word)


def test_provisioned_host_is_shared_by_the_tests_that_read_it() -> None:
    """The tests must run on one worker, because another would provision its own host, which takes most of a minute."""
    fixtures = re.compile("provisioned: Host|site_run: SiteRun")
    using = {path for path in (TESTS / "integration").glob("test_*.py") if fixtures.search(path.read_text())}
    assert {str(path.relative_to(TESTS.parent)) for path in using} == set(conftest.PROVISIONED)


def test_longest_test_files_exist() -> None:
    assert [path for path in conftest.LONGEST if not (TESTS.parent / path).is_file()] == []
