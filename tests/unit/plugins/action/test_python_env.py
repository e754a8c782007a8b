"""The action plugin python_env: module calls, transferred wheels and errors."""

import hashlib
import json
import os
import pathlib
import typing as t
from unittest.mock import MagicMock

import pytest
from ansible.errors import AnsibleError
from ansible_collections.sparkforge.dgx_spark.plugins.action import python_env

from tests.unit.act import construct


class Action:
    """The action plugin, with a list of results for the module."""

    def __init__(self, directory, arguments: dict[str, t.Any], answers: list[dict[str, t.Any]], check_mode=False):
        connection = MagicMock()
        connection._shell.tmpdir = None
        connection._shell.join_path = os.path.join
        self.plugin = construct(python_env.ActionModule, arguments, check_mode=check_mode, connection=connection)
        self.calls: list[dict[str, t.Any]] = []
        self.sent: list[tuple[str, str]] = []
        self.readable: list[str] = []

        def execute(module_args: dict[str, t.Any], task_vars: t.Any) -> dict[str, t.Any]:
            self.calls.append(json.loads(json.dumps(module_args)))
            return answers[len(self.calls) - 1]

        def find(_directory: str, name: str) -> str:
            path = directory / name
            if not path.exists():
                raise AnsibleError(f"Could not find or access {name}")
            return str(path)

        replaced: dict[str, t.Any] = {
            "_execute_module": execute,
            "_find_needle": find,
            "_make_tmp_path": lambda: "/remote/tmp",
            "_transfer_file": lambda local, remote: self.sent.append((local, remote)),
            "_fixup_perms2": self.readable.extend,
        }
        for name, function in replaced.items():
            setattr(self.plugin, name, function)

    def run(self) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", self.plugin.run(task_vars={"inventory_hostname": "spark01"}))


def test_without_wheels_the_module_runs_once_and_nothing_is_sent(tmp_path: pathlib.Path) -> None:
    action = Action(tmp_path, {"name": "torch", "requirements": ["x"]}, [{"changed": True}])
    assert action.run()["changed"]
    assert action.calls == [{"name": "torch", "requirements": ["x"]}]
    assert action.sent == []


def test_the_module_runs_once_if_the_host_has_the_wheels(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a-1-py3-none-any.whl").write_bytes(b"a")
    action = Action(
        tmp_path, {"name": "torch", "wheels": ["a-1-py3-none-any.whl"]}, [{"changed": False, "missing_wheels": []}]
    )
    action.run()
    digest = hashlib.sha256(b"a").hexdigest()
    assert [call["wheels"] for call in action.calls] == [[{"file": "a-1-py3-none-any.whl", "sha256": digest}]]
    assert action.sent == []


def test_only_the_missing_wheels_are_sent_and_made_readable(tmp_path: pathlib.Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}-1-py3-none-any.whl").write_bytes(name.encode())
    digest = hashlib.sha256(b"b").hexdigest()
    wheels = ["a-1-py3-none-any.whl", {"path": "b-1-py3-none-any.whl", "sha256": digest.upper()}]
    action = Action(
        tmp_path,
        {"name": "torch", "wheels": wheels, "transferred": {"x": "/etc/shadow"}},
        [{"changed": False, "missing_wheels": [{"file": "b", "sha256": digest}]}, {"changed": True}],
    )
    assert action.run() == {"changed": True}
    remote = f"/remote/tmp/{digest}.whl"
    assert action.sent == [(str(tmp_path / "b-1-py3-none-any.whl"), remote)]
    assert action.readable == ["/remote/tmp", remote]
    assert "transferred" not in action.calls[0]
    assert action.calls[1]["transferred"] == {digest: remote}


def test_an_unfinished_download_continues_and_its_progress_is_shown(tmp_path: pathlib.Path, monkeypatch):
    lines: list[str] = []
    monkeypatch.setattr(python_env.display, "display", lines.append)
    small, large = {"file": "small.whl", "size": 2_500_000}, {"file": "large.whl", "size": 600_000_000}
    first: dict[str, t.Any] = {"finished": [small], "files": 1, "of_files": 2, "bytes": 2_500_000, "seconds": 2.5}
    first |= {"of_bytes": 602_500_000, "next": ["large.whl"]}
    silent = {**first, "finished": [], "of_bytes": None}
    last = {**first, "finished": [large], "files": 2, "bytes": 602_500_000, "next": []}
    action = Action(
        tmp_path,
        {"name": "torch", "requirements": ["x"]},
        [*({"unfinished": True, "download": row} for row in (first, silent)), {"changed": True, "download": last}],
    )
    assert action.run() == {"changed": True, "download": last}
    assert action.calls == [{"name": "torch", "requirements": ["x"]}] * 3
    assert lines == [
        "spark01 | torch | small.whl, 2.5 MB",
        "spark01 | torch | 1 of 2 wheels, 2.5 MB of 602.5 MB, 1.0 MB/s, about 0:10:00 left | next: large.whl",
        "spark01 | torch | 1 of 2 wheels, 2.5 MB | next: large.whl",
        "spark01 | torch | large.whl, 600.0 MB",
    ]


def test_a_failed_download_is_not_continued(tmp_path: pathlib.Path) -> None:
    action = Action(tmp_path, {"name": "torch"}, [{"failed": True, "unfinished": True, "msg": "no"}])
    assert action.run()["failed"] and len(action.calls) == 1


def test_check_mode_sends_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a-1-py3-none-any.whl").write_bytes(b"a")
    digest = hashlib.sha256(b"a").hexdigest()
    action = Action(
        tmp_path,
        {"name": "torch", "wheels": ["a-1-py3-none-any.whl"]},
        [{"changed": True, "missing_wheels": [{"file": "a", "sha256": digest}]}],
        check_mode=True,
    )
    assert action.run()["changed"]
    assert action.sent == []


@pytest.mark.parametrize(
    ("wheels", "cause"),
    [
        (["missing-1-py3-none-any.whl"], "missing-1-py3-none-any.whl is not on"),
        ([{"path": "a-1-py3-none-any.whl", "sha256": "0" * 64}], "expected 0000"),
        ([{"sha256": "0" * 64}], "has no path"),
        ([7], "has no path"),
        ("a-1-py3-none-any.whl", "not a list"),
    ],
)
def test_bad_wheels_are_refused_before_the_module_runs(tmp_path: pathlib.Path, wheels: t.Any, cause: str) -> None:
    (tmp_path / "a-1-py3-none-any.whl").write_bytes(b"a")
    action = Action(tmp_path, {"name": "torch", "wheels": wheels}, [])
    result = action.run()
    assert result["failed"]
    assert cause in result["cause"]
    assert result["remedy"]
    assert action.calls == []


def test_wheels_of_an_absent_environment_need_not_exist(tmp_path: pathlib.Path) -> None:
    action = Action(tmp_path, {"name": "torch", "state": "absent", "wheels": ["gone.whl"]}, [{"changed": False}])
    assert not action.run()["changed"]
