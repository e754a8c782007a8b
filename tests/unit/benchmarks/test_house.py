"""The counts of benchmarks/house.py."""

from pathlib import Path

from benchmarks import house


def test_longest_function_and_lines_of_files(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def short():\n    pass\n\n\ndef long():\n    x = 1\n    return x\n")
    (tmp_path / "two.py").write_text("value = 1\n")
    assert house.longest_function(house.code(tmp_path)) == 3
    assert house.lines(*house.code(tmp_path)) == 8


def test_a_module_sends_only_its_imports() -> None:
    assert house.sent("build_info") < house.sent("source_build")
    # A module that only observes does not send the engine.
    assert house.sent("build_info") <= 1500
    assert house.sent("wheelhouse") <= 3000


def test_missed_bounds_are_marked_in_the_table_of_the_house() -> None:
    table = house.table([house.Row("a", 5, 10, 5), house.Row("b", 6, 10, 5)])
    assert table.splitlines()[2:] == ["| a | 10 | 5 | 5 |", "| b | 10 | 6 (missed) | 5 |"]


def test_imports_make_no_circle_and_no_arrow_up() -> None:
    structure = {"circles of imports", "arrows to a package above"}
    assert {row.what: row.value for row in house.measures() if row.what in structure} == dict.fromkeys(structure, 0)
    collection = [*house.code(), *house.code(house.TOOLS)]
    assert all(relative for path in collection for _file, relative in house.imports(path, house.CHECKOUT))


def test_the_proof_imports_few_packages_of_the_collection() -> None:
    below = house.below_the_proof()
    # The single file includes the readers of logs and symbols, for hosts without the collection.
    assert house.lines(*below) <= 6750
    packages = {path.relative_to(house.PLUGINS).parts[1] for path in below}
    assert packages == {"_core", "_elf", "_wheel", "_host", "_diagnosis"}


def test_closure_follows_imports_within_functions_and_links(tmp_path: Path) -> None:
    shared = tmp_path / "plugins/module_utils/_core"
    shared.mkdir(parents=True)
    (shared / "__init__.py").write_text("NAME = 1\n")
    (shared / "low.py").write_text("x = 1\n")
    (shared / "high.py").write_text("def work():\n    from . import low, NAME\n\n    return low, NAME\n")
    (tmp_path / "program").mkdir()
    (tmp_path / "program/_shared").symlink_to("../plugins")
    (tmp_path / "program/main.py").write_text("from ._shared.module_utils._core.high import work\n")
    closure = house.reached([tmp_path / "program/main.py"], tmp_path)
    assert closure == {shared / "high.py", shared / "low.py", shared / "__init__.py"}


def test_circles_arrows_up_and_absolute_imports_are_found(tmp_path: Path) -> None:
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
