"""The filter for a host's answers: no variables set, no terminal sequences, and only valid observations."""

import copy
import importlib
import json
import resource
import signal
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.plugins.action import ActionBase
from ansible_collections.sparkforge.dgx_spark.plugins.action import cuda_proof, spark_info, wheelhouse_manifest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import action, programs

from tests.unit.act import construct

ROOT = Path(__file__).parents[4]
HOSTS = sorted((ROOT / "tests/unit/data/hosts").glob("*.json"))
ESCAPES = "\x1b[2J\x1b]52;c;b3duZWQ=\x07\x9b2J\u202e"


def filtered_answer(
    plugin: type[ActionBase],
    answer: dict[str, t.Any],
    monkeypatch: pytest.MonkeyPatch,
    interpreter: str = "",
    module: str = "sparkforge.dgx_spark.spark_info",
) -> dict[str, t.Any]:
    """Return a module's answer after it has been filtered on the host."""
    monkeypatch.setattr(ActionBase, "_execute_module", lambda *_arguments, **_options: copy.deepcopy(answer))
    called = construct(plugin, {})
    called._task.action = module
    called._discovered_interpreter_key = "discovered_interpreter_python" if interpreter else None
    called._discovered_interpreter = interpreter
    return t.cast("dict[str, t.Any]", called._execute_module())


def test_no_answer_sets_a_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"status_file": "/root/.profile", "spark_info": {}, "discovered_interpreter_python": "/bin/false"}
    answer = {"changed": True, "ansible_facts": facts, "rc": 0}
    assert filtered_answer(cuda_proof.ActionModule, answer, monkeypatch) == {"changed": True, "rc": 0}
    # The interpreter that Ansible itself discovered remains a fact, or Ansible would search for it in every task.
    result = filtered_answer(cuda_proof.ActionModule, answer, monkeypatch, "/usr/bin/python3")
    assert result["ansible_facts"] == {"discovered_interpreter_python": "/usr/bin/python3"}
    for nonsense in (None, [], "x", 5):
        answer = {"changed": False, "ansible_facts": nonsense}
        assert filtered_answer(cuda_proof.ActionModule, answer, monkeypatch) == {"changed": False}


def test_an_observation_by_another_module_sets_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"changed": False, "spark_info": {"platform": 5}, "ansible_facts": {"spark_info": {"platform": 5}}}
    result = filtered_answer(spark_info.ActionModule, answer, monkeypatch, module="sparkforge.dgx_spark.build_info")
    assert "ansible_facts" not in result


def test_answers_contain_no_terminal_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"msg": f"a\tb\n{ESCAPES}", f"k{ESCAPES}": [{"x": [f"{ESCAPES}y"]}], "number": 1.5, "nothing": None}
    result = filtered_answer(cuda_proof.ActionModule, answer, monkeypatch)
    assert not set("\x1b\x07\x9b\u202e") & set(json.dumps(result, ensure_ascii=False))
    assert result["msg"].startswith("a\tb\n")
    assert result["number"] == 1.5


def test_a_program_without_a_file_fails_the_task_with_cause_and_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    incomplete = programs.Program("proof", lambda: {"x": (tmp_path / "x").read_text()})
    monkeypatch.setattr(programs, "PROOF", incomplete)
    failed = construct(cuda_proof.ActionModule, {}).run_program({}, {})
    assert failed["failed"] and failed["remedy"]
    assert f"{tmp_path / 'x'} is missing" in failed["cause"]


def test_every_host_module_is_run_by_an_action_of_the_collection() -> None:
    """A module without such an action could set any fact."""
    routed = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())["plugin_routing"]["modules"]
    actions = {path.stem for path in (ROOT / "plugins/action").glob("*.py")}
    modules = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")} - {"__init__"}
    routed = {name: entry for name, entry in routed.items() if "tombstone" not in entry}
    assert set(routed) | actions >= modules
    assert {entry["action_plugin"].rpartition(".")[2] for entry in routed.values()} == {"spark_info", "cuda_proof"}
    # Ansible prefers a module's redirection to an action with the same name.
    assert not set(routed) & actions
    for name in actions - {"__init__"}:
        plugin = importlib.import_module(f"{spark_info.__package__}.{name}").ActionModule
        assert issubclass(plugin, (action.OnHost, action.OnController)), name


@pytest.fixture(params=HOSTS, ids=[path.stem for path in HOSTS])
def observation(request: pytest.FixtureRequest) -> dict[str, t.Any]:
    recorded = json.loads(request.param.read_text())
    recorded.pop("record", None)
    return t.cast("dict[str, t.Any]", recorded)


def test_observations_of_recorded_hosts_are_accepted_unchanged(observation, monkeypatch: pytest.MonkeyPatch):
    answer = {"changed": False, "spark_info": observation, "ansible_facts": {"spark_info": "another", "x": 1}}
    result = filtered_answer(spark_info.ActionModule, answer, monkeypatch)
    assert result["spark_info"] == observation
    # The fact is the checked observation, not the one among the answer's facts.
    assert result["ansible_facts"] == {"spark_info": observation}


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
def test_an_invalid_observation_is_refused_with_its_key(change: dict[str, t.Any], monkeypatch: pytest.MonkeyPatch):
    sound = json.loads((ROOT / "tests/unit/data/hosts/dgx-spark.json").read_text())
    answer = {"changed": False, "spark_info": {**sound, **change}, "ansible_facts": {"spark_info": sound}}
    result = filtered_answer(spark_info.ActionModule, answer, monkeypatch)
    assert result["failed"] and not result["changed"] and not {"ansible_facts", "spark_info"} & set(result)
    assert f"valid observation: {next(iter(change))}" in result["cause"]
    assert result["remedy"] and "\n" not in result["cause"] and len(result["msg"]) < 1000


def test_an_answer_without_observation_is_refused_and_a_failure_sets_no_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    for nonsense in ({}, {"spark_info": []}, {"spark_info": 5}, {"spark_info": None}):
        assert filtered_answer(spark_info.ActionModule, {"changed": False, **nonsense}, monkeypatch)["failed"]
    failed = {"failed": True, "msg": "no python", "ansible_facts": {"spark_info": {}}}
    assert filtered_answer(spark_info.ActionModule, failed, monkeypatch) == {"failed": True, "msg": "no python"}


def test_a_fetched_file_cannot_exceed_the_size_of_the_wheel(tmp_path: Path) -> None:
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
