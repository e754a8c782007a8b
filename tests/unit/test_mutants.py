"""That each mutant of ``make mutants`` can still be made: code moves, and a list of texts would rot unnoticed."""

from collections import Counter

from tests.mutants import data


def test_each_mutant_breaks_one_place_and_names_tests_that_there_are() -> None:
    assert [problem for mutant in data.load() if (problem := mutant.problem())] == []


def test_no_guard_is_broken_twice() -> None:
    mutants = data.load()
    assert len(mutants) >= 150
    for key in ("id", "broken"):
        values = [(one.file, one.broken()) if key == "broken" else (one.area, one.id) for one in mutants]
        assert [value for value, count in Counter(values).items() if count > 1] == []
