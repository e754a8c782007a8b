"""The lists of shipped stacks, which are generated from the stacks' files."""

from lab import stacks


def test_lists_of_shipped_stacks_are_current() -> None:
    assert stacks.main(["--check"]) == 0, "run python -m lab.stacks"
