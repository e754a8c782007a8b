"""What benchmarks/house.py counts."""

from __future__ import annotations

from pathlib import Path

from benchmarks import house


def test_the_longest_class_and_the_lines_of_files(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Short:\n    x = 1\n\n\nclass Long:\n    x = 1\n    y = 2\n")
    (tmp_path / "two.py").write_text("value = 1\n")
    assert house.longest_class(house.code(tmp_path)) == 3
    assert house.lines(*house.code(tmp_path)) == 8


def test_what_a_module_sends_is_what_it_imports() -> None:
    assert house.sent("build_info") < house.sent("source_build")
    # The engine is no part of what only looks.
    assert house.sent("build_info") <= 1500
    assert house.sent("wheelhouse") <= 3000


def test_the_table_says_what_was_missed() -> None:
    table = house.table([house.Row("a", 5, 10, 5), house.Row("b", 6, 10, 5)])
    assert table.splitlines()[2:] == ["| a | 10 | 5 | 5 |", "| b | 10 | 6 (missed) | 5 |"]


def test_what_runs_on_a_host_imports_nothing_of_the_controller_and_all_imports_are_seen() -> None:
    structure = {
        "flat files in module_utils",
        "circles of imports",
        "arrows to a package above",
        "absolute imports within the collection",
    }
    assert {row.what: row.value for row in house.measures() if row.what in structure} == dict.fromkeys(structure, 0)


def test_the_kinds_of_lines_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text('"""What it is."""\n\n# Why.\nDOCUMENTATION = r"""\n\nmodule: one\n"""\n\nvalue = """\n"""\n')
    assert house.kinds(path) == {"documentation": 6, "blank": 2, "code": 2}


def test_the_packages_have_all_the_lines_between_them() -> None:
    assert sum(house.BEFORE.values()) == sum(house.KINDS.values())
    last = house.where().splitlines()[-2].split("|")
    assert int(last[3].replace(",", "")) == house.lines(*house.code(), *house.code(house.TOOLS))


def test_what_says_the_same_of_a_wheel_or_takes_its_line_apart_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(
        'import re\n\n\nclass Stored:\n    """A wheel on this host."""\n\n    sha256: str\n\n\n'
        'class Link:\n    """A wheel that a page lists."""\n\n    url: str\n    sha256: str\n\n\n'
        'found = re.findall(r"--hash=(x)", "")\n'
    )
    assert house.records_of_a_wheel([path]) == ["one.py: Stored"]
    assert house.parsers_of_a_line([path]) == ["one.py"]


def test_circles_arrows_up_and_names_of_the_whole_are_found(tmp_path: Path) -> None:
    core, wheel = tmp_path / "plugins/module_utils/_core", tmp_path / "plugins/module_utils/_wheel"
    for folder in (core, wheel):
        folder.mkdir(parents=True)
    (core / "one.py").write_text("from .._wheel import two\n")
    name = "ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core"
    (wheel / "two.py").write_text(f"from {name} import one\n")
    paths = house.code(tmp_path)
    assert house.circles(paths, tmp_path) == 1
    assert house.arrows_up(paths, tmp_path) == {("_core", "_wheel")}
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/upper.py").write_text("from ..plugins.module_utils._core import one\n")
    (tmp_path / "plugins/plugin_utils").mkdir()
    (tmp_path / "plugins/plugin_utils/three.py").write_text("from ...tools import upper\n")
    house.imports.cache_clear()
    assert house.arrows_up(house.code(tmp_path), tmp_path) == {("_core", "_wheel"), ("plugin_utils", "tools")}
    assert [relative for path in paths for _file, relative in house.imports(path, tmp_path)] == [True, False]
