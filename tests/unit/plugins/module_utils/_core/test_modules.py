"""The start-up code that all modules share: umask, hidden passwords, and proxies from a private file."""

import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import modules
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


def test_module_sets_the_umask(tmp_path: Path, umask: t.Callable[[int], int]) -> None:
    class Module:
        params: t.ClassVar[dict[str, object]] = {}
        no_log_values: t.ClassVar[set[str]] = set()

        def exit_json(self, **_result: object) -> None:
            raise SystemExit

    def work() -> dict[str, object]:
        (tmp_path / "made").mkdir()
        (tmp_path / "made/file").touch()
        return {}

    umask(0o077)
    with pytest.raises(SystemExit):
        modules.run(t.cast("t.Any", Module()), work)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "made/file").stat().st_mode & 0o777 == 0o644


def test_passwords_of_urls_in_options_are_hidden() -> None:
    class Module:
        params: t.ClassVar[dict[str, object]] = {
            "index_url": "https://user:one%2B@index.test/simple/",
            "find_links": ["https://user:two@links.test/"],
            "rewrite": {"https://a.test/": "https://user:three@b.test/"},
            "patches": [{"content": "+ http://user:of-a-patch@c.test/"}],
            "jobs": 4,
        }

        def __init__(self) -> None:
            self.no_log_values = {"of an option"}

        def exit_json(self, **_result: object) -> None:
            raise SystemExit

    module = Module()
    with pytest.raises(SystemExit):
        modules.run(t.cast("t.Any", module), dict)
    assert module.no_log_values == {"of an option", "one%2B", "one+", "two", "three"}


def test_proxies_are_added_to_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "proxies.json"
    path.write_text('{"https_proxy": "http://u:p@proxy:3128"}')
    environment = {"PATH": "/bin", modules.PROXIES_VARIABLE: str(path)}
    modules.take_proxies(environment)
    assert environment["https_proxy"] == "http://u:p@proxy:3128"
    assert environment["PATH"] == "/bin"


@pytest.mark.parametrize("named", [{}, {modules.PROXIES_VARIABLE: "/nowhere/proxies.json"}])
def test_missing_proxies_file_adds_nothing(named: dict[str, str]) -> None:
    environment = dict(named)
    modules.take_proxies(environment)
    assert environment == named


@pytest.mark.parametrize("content", ["not JSON", "[]"])
def test_damaged_proxies_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "proxies.json"
    path.write_text(content)
    with pytest.raises(SparkforgeError) as error:
        modules.take_proxies({modules.PROXIES_VARIABLE: str(path)})
    assert str(path) in error.value.cause
    assert "network_access" in error.value.remedy
