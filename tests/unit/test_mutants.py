"""All mutants of ``make mutants`` can still be made, although the code that they change moves."""

from collections import Counter

from tests.mutants import data, drawn


def test_each_mutant_changes_one_place_and_names_existing_tests() -> None:
    assert [problem for mutant in data.load() if (problem := mutant.problem())] == []


def test_no_guard_is_broken_twice() -> None:
    mutants = data.load()
    assert len(mutants) >= 150
    for key in ("id", "broken"):
        values = [(mutant.file, mutant.broken()) if key == "broken" else (mutant.area, mutant.id) for mutant in mutants]
        assert [value for value, count in Counter(values).items() if count > 1] == []


def test_paths_of_each_drawn_area_exist() -> None:
    assert [path for paths in drawn.AREAS.values() for path in paths if not (data.CHECKOUT / path).exists()] == []
