"""What is taken of a host's answer: no variable of the play, nothing that a terminal obeys, no false observation."""

import copy
import importlib
import json
import resource
import signal
import typing as t
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from ansible.plugins.action import ActionBase
from ansible_collections.sparkforge.dgx_spark.plugins.action import cuda_proof, spark_info, wheelhouse_manifest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import action, programs

ROOT = Path(__file__).parents[4]
HOSTS = sorted((ROOT / "tests/unit/data/hosts").glob("*.json"))
ESCAPES = "\x1b[2J\x1b]52;c;b3duZWQ=\x07\x9b2J\u202e"


def answered(
    plugin: type[ActionBase],
    answer: dict[str, t.Any],
    monkeypatch: pytest.MonkeyPatch,
    interpreter: str = "",
    module: str = "sparkforge.dgx_spark.spark_info",
) -> dict[str, t.Any]:
    """Return what is left of an answer of the host's."""
    monkeypatch.setattr(ActionBase, "_execute_module", lambda *_arguments, **_options: copy.deepcopy(answer))
    called = plugin(
        task=MagicMock(action=module), connection=MagicMock(), play_context=MagicMock(), loader=MagicMock(),
        templar=MagicMock(), shared_loader_obj=None,
    )  # fmt: skip
    called._discovered_interpreter_key = "discovered_interpreter_python" if interpreter else None
    called._discovered_interpreter = interpreter
    return t.cast("dict[str, t.Any]", called._execute_module())


def test_no_answer_sets_a_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"status_file": "/root/.profile", "spark_info": {}, "discovered_interpreter_python": "/bin/false"}
    answer = {"changed": True, "ansible_facts": facts, "rc": 0}
    assert answered(cuda_proof.ActionModule, answer, monkeypatch) == {"changed": True, "rc": 0}
    # What Ansible itself found is told on, or it would look for it at every task.
    found = answered(cuda_proof.ActionModule, answer, monkeypatch, "/usr/bin/python3")
    assert found["ansible_facts"] == {"discovered_interpreter_python": "/usr/bin/python3"}
    for nonsense in (None, [], "x", 5):
        answer = {"changed": False, "ansible_facts": nonsense}
        assert answered(cuda_proof.ActionModule, answer, monkeypatch) == {"changed": False}


def test_a_module_that_observes_nothing_brings_no_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"changed": False, "spark_info": {"platform": 5}, "ansible_facts": {"spark_info": {"platform": 5}}}
    found = answered(spark_info.ActionModule, answer, monkeypatch, module="sparkforge.dgx_spark.build_info")
    assert "ansible_facts" not in found


def test_no_answer_moves_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"msg": f"a\tb\n{ESCAPES}", f"k{ESCAPES}": [{"x": [f"{ESCAPES}y"]}], "number": 1.5, "nothing": None}
    found = json.dumps(answered(cuda_proof.ActionModule, answer, monkeypatch), ensure_ascii=False)
    assert not set("\x1b\x07\x9b\u202e") & set(found)
    assert json.loads(found)["msg"].startswith("a\tb\n")
    assert json.loads(found)["number"] == 1.5


def test_a_program_that_lacks_a_file_fails_the_task_with_cause_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = programs.Program("proof", lambda: {"x": (tmp_path / "x").read_text()})
    monkeypatch.setattr(programs, "PROOF", lacking)
    called = cuda_proof.ActionModule(
        task=MagicMock(action="cuda_proof"), connection=MagicMock(), play_context=MagicMock(), loader=MagicMock(),
        templar=MagicMock(), shared_loader_obj=None,
    )  # fmt: skip
    failed = called.asked({}, {})
    assert failed["failed"] and failed["remedy"]
    assert failed["cause"] == f"sparkforge-proof.pyz cannot be put together: {tmp_path / 'x'} is missing."


def test_every_module_that_runs_on_a_host_is_run_by_an_action_of_ours() -> None:
    """One that Ansible's own action ran would set any fact."""
    routed = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())["plugin_routing"]["modules"]
    own = {path.stem for path in (ROOT / "plugins/action").glob("*.py")}
    modules = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")} - {"__init__"}
    routed = {name: one for name, one in routed.items() if "tombstone" not in one}
    assert set(routed) | own >= modules
    assert {one["action_plugin"].rpartition(".")[2] for one in routed.values()} == {"spark_info", "cuda_proof"}
    # Ansible takes what is sent somewhere there before an action of the module's own name.
    assert not set(routed) & own
    for name in own - {"__init__"}:
        plugin = importlib.import_module(f"{spark_info.__package__}.{name}").ActionModule
        assert issubclass(plugin, (action.OnHost, action.OnController)), name


@pytest.fixture(params=HOSTS, ids=[path.stem for path in HOSTS])
def observation(request: pytest.FixtureRequest) -> dict[str, t.Any]:
    found = json.loads(request.param.read_text())
    found.pop("record", None)
    return t.cast("dict[str, t.Any]", found)


def test_the_observation_of_every_recorded_host_is_taken_as_it_is(
    observation: dict[str, t.Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"changed": False, "spark_info": observation, "ansible_facts": {"spark_info": "another", "x": 1}}
    found = answered(spark_info.ActionModule, answer, monkeypatch)
    assert found["spark_info"] == observation
    # One thing has one value: what was checked.
    assert found["ansible_facts"] == {"spark_info": observation}


@pytest.mark.parametrize(
    "change",
    [
        {"platform": "../../../stolen-x86_64"},
        {"platform": "/etc-x86_64"},
        {"platform": "ubuntu24.04-aarch64\n"},
        {"platform": ["ubuntu24.04-aarch64"]},
        {"platform": None},
        {"environments": {"torch": {"current": "1", "stack": {"name": ["x"]}}}},
        {"environments": {"torch": {}}},
        {"environments": {"torch": {"current": "1", "torch": None, "stack": {"method": "wheel"}}}},
        {"environments": []},
        {"memory": {"total_mib": "1"}},
        {"memory": {"total_mib": True}},
        {"disk": [{"mount": None}]},
        {"disk": {}},
        {"os": {"id": "x" * 5000}},
        {"clock": {"offset": float("nan")}},
        {"python": [{"path": "/usr/bin/python3.12", "version": "3.12; rm"}]},
        {"apt": None},
        {"gpu": []},
        {"loader": None},
    ],
)  # fmt: skip
def test_what_is_no_observation_is_refused_with_its_place(
    change: dict[str, t.Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = json.loads((ROOT / "tests/unit/data/hosts/dgx-spark.json").read_text())
    answer = {"changed": False, "spark_info": {**sound, **change}, "ansible_facts": {"spark_info": sound}}
    found = answered(spark_info.ActionModule, answer, monkeypatch)
    assert found["failed"] and not found["changed"] and "ansible_facts" not in found and "spark_info" not in found
    assert found["cause"].startswith(f"What the host says of itself is not an observation: {next(iter(change))}")
    assert found["remedy"] and "\n" not in found["cause"] and len(found["msg"]) < 1000


def test_an_answer_that_is_none_is_refused_and_a_failure_sets_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    for nonsense in ({}, {"spark_info": []}, {"spark_info": 5}, {"spark_info": None}):
        assert answered(spark_info.ActionModule, {"changed": False, **nonsense}, monkeypatch)["failed"]
    failed = {"failed": True, "msg": "no python", "ansible_facts": {"spark_info": {}}}
    assert answered(spark_info.ActionModule, failed, monkeypatch) == {"failed": True, "msg": "no python"}


def test_what_is_fetched_in_the_place_of_a_wheel_ends_at_its_size(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    with (
        (tmp_path / "wheel").open("wb", buffering=0) as target,
        wheelhouse_manifest._no_file_larger(20 << 20),
        pytest.raises(OSError, match="large"),
    ):
        for _block in range(30):
            assert target.write(bytes(1 << 20)) == 1 << 20
    assert (tmp_path / "wheel").stat().st_size <= 20 << 20
    assert (resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)) == before
