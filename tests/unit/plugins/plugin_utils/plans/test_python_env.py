"""An environment's wheels, their sources, and refusals because of missing wheels."""

import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import python_env

DEFAULTS = yaml.safe_load((Path(__file__).parents[5] / "roles/python_env/defaults/main.yml").read_text())
SHA = "b" * 64
SPARK = {"kernel": {"machine": "aarch64"}, "platform": "ubuntu24.04-aarch64"}
URL = "https://spark02.example.com:8629/"
LOCKED = ["torch==2.15.0+cu130 --hash=sha256:" + "c" * 64, "triton==3.7.1 --hash=sha256:" + "d" * 64]
STACK: dict[str, t.Any] = {
    "name": "torch-2.9.1",
    "method": "build",
    "python": {"version": "3.12"},
    "units": ["llvm", "triton", "pytorch", "torchvision"],
    "versions": {"torch": "2.9.1", "triton": "3.5.1", "torchvision": "1"},
    "extensions": ["torchvision"],
    "activation": {"TRITON_PTXAS_PATH": "/usr/local/cuda/bin/ptxas"},
    "archives": [
        {"component": "libcudss", "version": "0.7.1.4", "variant": "cuda13", "sha256": {"linux-sbsa": SHA}},
        {"component": "nvpl_blas", "version": "0.5.0", "sha256": {"linux-sbsa": SHA}},
        {"component": "other", "version": "1", "sha256": {"linux-x86_64": SHA}},
    ],
    "wheel": {"override": ["nvidia-cudnn-cu13"]},
    "lock": {
        "wheels": {"cp312-linux-aarch64": LOCKED},
        "run_requirements": {
            "cp312-linux-aarch64": {
                "pytorch": ["filelock==1 --hash=x", "sympy==1 --hash=x"],
                "torchvision": ["pillow==1 --hash=x", "filelock==1 --hash=x"],
                "flash_attention": ["einops==1 --hash=x"],
                "beside": ["ipykernel==7 --hash=x"],
            }
        },
    },
}


def unit(name: str, project: str, version: str, path: str) -> dict[str, t.Any]:
    _unit, fingerprint, file = path.split("/")
    wheel = {"name": project, "version": version, "sha256": SHA, "path": path, "file": file, "size": 1}
    return {"name": name, "fingerprint": fingerprint, "wheels": [wheel]}


UNITS = [
    {"name": "llvm", "wheels": []},
    unit("pytorch", "torch", "2.9.1+cu130.sf0", "pytorch/1/t.whl"),
    # An index normalises this name.
    unit("torchvision", "Torch_Vision", "1", "torchvision/3/v.whl"),
    unit("triton", "triton", "3.5.1", "triton/2/tr.whl"),
]


def plan(method="build", units=UNITS, environments=None, **changed: t.Any) -> plans.Plan:
    settings = {
        **DEFAULTS,
        "python_env_require_cuda": True,
        "python_env_group": "sparkforge",
        "stack": {**STACK, "method": method},
        "inventory_hostname": "spark01",
        "groups": {"all": ["spark01", "spark02"]},
        "ansible_check_mode": False,
        **({} if units is None else {"sparkforge_manifest": {"host": "spark01", "units": units}}),
        **changed,
    }
    return python_env.plan(settings, {**SPARK, "environments": environments or {}})


UNEXPECTED_UNITS = {
    "a unit that no stack has": (unit("evil", "evil", "1", "evil/1/e.whl"), "the unit evil"),
    "a locked project": (unit("torchaudio", "sympy", "99", "torchaudio/1/s.whl"), "a wheel of sympy in the unit"),
    "a project again": (unit("torchaudio", "Torch.Vision", "9", "torchaudio/1/v.whl"), "after another wheel"),
}


@pytest.mark.parametrize(("extra", "cause"), UNEXPECTED_UNITS.values(), ids=UNEXPECTED_UNITS)
def test_a_manifest_with_an_unexpected_unit_is_refused(extra: dict[str, t.Any], cause: str) -> None:
    stack = {**STACK, "units": [*STACK["units"], "torchaudio"]}
    refused = plan(stack=stack, sparkforge_manifest={"host": "spark02", "units": [*UNITS, extra]})
    assert not refused.steps
    assert cause in refused.refusals[0]["cause"] and "Find out what spark02 built." in refused.refusals[0]["remedy"]


def test_a_users_unit_is_accepted_if_the_inventory_names_it() -> None:
    units = [*UNITS, unit("own", "own", "1", "own/1/own.whl")]
    result = plan(sparkforge_manifest={"host": "spark02", "units": units}, torch_extensions=[{"name": "own"}])
    assert f"own==1 --hash=sha256:{SHA}" in result.steps["environment"]["requirements"]


def plan_elsewhere(**changed: t.Any) -> plans.Plan:
    return plan(sparkforge_manifest={"host": "spark02", "units": UNITS}, **changed)


def test_built_wheels_are_pinned_and_their_requirements_come_from_the_lock() -> None:
    steps = plan().steps
    environment = steps["environment"]
    assert environment["requirements"] == [
        f"torch==2.9.1+cu130.sf0 --hash=sha256:{SHA}",
        f"Torch_Vision==1 --hash=sha256:{SHA}",
        f"triton==3.5.1 --hash=sha256:{SHA}",
        # flash-attention's requirements are absent because it was not built.
        "filelock==1 --hash=x",
        "sympy==1 --hash=x",
        "pillow==1 --hash=x",
        "ipykernel==7 --hash=x",
    ]
    house = "/opt/sparkforge/wheelhouse/ubuntu24.04-aarch64"
    assert environment["find_links"] == [f"{house}/pytorch/1", f"{house}/torchvision/3", f"{house}/triton/2"]
    assert environment["library_paths"] == [
        "/opt/sparkforge/redist/libcudss/0.7.1.4-cuda13/lib",
        "/opt/sparkforge/redist/nvpl_blas/0.5.0/lib",
    ]
    assert environment["imports"] == ["torch", "triton"]
    assert environment["environment"] == STACK["activation"]
    assert environment["wheels"] == []
    assert set(steps) == {"environment"}


def test_official_wheels_come_from_the_lock_with_their_libraries() -> None:
    steps = plan("wheel", None).steps
    assert set(steps) == {"environment"}
    assert steps["environment"]["requirements"] == LOCKED
    assert steps["environment"]["library_paths"] == steps["environment"]["find_links"] == []
    assert steps["environment"]["python"] == "/usr/bin/python3.12"


def test_variables_of_the_inventory_override_the_stack() -> None:
    requirement = "torch==1 --hash=x"
    environment = plan(
        python_env_requirements=[requirement], python_env_extra_requirements=["six==1 --hash=x"],
        python_env_library_paths=["/srv/lib"], python_env_imports=["numpy"], python_env_environment={"A": "1"},
        python_env_python="/usr/bin/python3.13", python_env_environment_id="0123456789ab",
    ).steps["environment"]  # fmt: skip
    # These requirements replace the units.
    assert environment["requirements"] == [requirement, "six==1 --hash=x"]
    assert environment["library_paths"] == ["/srv/lib"]
    assert environment["imports"] == ["numpy"]
    assert environment["environment"] == {**STACK["activation"], "A": "1"}
    assert (environment["python"], environment["environment_id"]) == ("/usr/bin/python3.13", "0123456789ab")


def test_a_missing_unit_is_named_with_the_searched_sources() -> None:
    tried = [{"place": "the cache", "said": "There is none."}]
    [refusal] = plan(units=UNITS[:2], sparkforge_found={"tried": tried}).refusals
    assert refusal["cause"] == (
        "triton, torchvision of the stack torch-2.9.1 are not built for ubuntu24.04-aarch64"
        " (searched: the cache: There is none)."
    )
    assert refusal["remedy"].startswith("Run playbooks/build.yml")
    assert plan(units=None).refusals[0]["cause"].startswith("triton, pytorch, torchvision of the stack")


def test_check_mode_reports_pending_builds() -> None:
    result = plan(sparkforge_manifest={"pending": ["pytorch"]}, ansible_check_mode=True)
    assert len(result.reasons) == 1 and "once pytorch is" in result.reasons[0] and result.as_result()["settled"]
    # The reason is present even without check mode, for status.yml.
    assert list(plan(sparkforge_manifest={"pending": ["pytorch"]}).reasons) == list(result.reasons)


def test_a_lock_without_wheels_for_the_host_is_refused() -> None:
    [refusal] = python_env.plan(
        {**DEFAULTS, "stack": {**STACK, "method": "wheel"}, "inventory_hostname": "gpu01"},
        {"kernel": {"machine": "x86_64"}, "platform": "ubuntu24.04-x86_64"},
    ).refusals
    assert "no wheels for cp312-linux-x86_64" in refusal["cause"]
    assert "playbooks/lock.yml" in refusal["remedy"]


def test_the_wheels_of_another_host_go_through_the_controller() -> None:
    steps = plan_elsewhere(sparkforge_wheelhouse_username="lab", sparkforge_wheelhouse_password="word").steps
    assert set(steps) == {"environment", "push"}
    assert steps["push"] == "spark02"
    assert [wheel["file"] for wheel in steps["environment"]["wheels"]] == ["t.whl", "v.whl", "tr.whl"]
    assert steps["environment"]["find_links"] == []
    # The cache stands in for a builder that is no longer in the inventory.
    assert plan_elsewhere(groups={"all": ["spark01"]}).steps["push"] == "spark01"


def test_wheels_of_another_host_are_pulled_from_the_url() -> None:
    steps = plan_elsewhere(sparkforge_wheelhouse_url=URL).steps
    assert steps["environment"]["find_links"] == [
        f"{URL}ubuntu24.04-aarch64/simple/{name}/" for name in ("torch", "torch-vision", "triton")
    ]
    assert set(steps) == {"environment"}
    account = {"sparkforge_wheelhouse_username": "lab", "sparkforge_wheelhouse_password": "word"}
    steps = plan_elsewhere(sparkforge_wheelhouse_url=URL, **account).steps
    assert steps["credentials"] == [{"url": URL, "username": "lab", "password": "word"}]
    # status.yml passes the environment on, so it must not contain a password.
    assert "word" not in str(steps["environment"])


NEWER = {
    "current": "5d41402abc4b",
    "stack": {"name": "torch-2.15.0", "method": "wheel", "lock_id": "0"},
    "torch": "2.15.0+cu132",
}
DEFAULT = {**STACK, "method": "build", "versions": {"torch": "2.14.1"}, "named": False}


def test_the_default_stack_does_not_replace_a_newer_pytorch() -> None:
    for check_mode in (False, True):
        result = plan(environments={"torch": NEWER}, stack=DEFAULT, ansible_check_mode=check_mode)
        assert result.steps == {}
        [refusal] = result.refusals
        assert "default stack torch-2.9.1" in refusal["cause"]
        assert "older 2.14.1" in refusal["cause"]
        assert "set stack_name: torch-2.15.0 and stack_method: wheel for this host" in refusal["remedy"]
        assert "name it there: stack_name: torch-2.9.1." in refusal["remedy"]
    unknown = plan(environments={"torch": {**NEWER, "stack": {}}}, stack=DEFAULT).refusals[0]
    assert "of that PyTorch" in unknown["remedy"]


@pytest.mark.parametrize(
    ("environments", "changed"),
    [
        ({"torch": NEWER}, {"stack": {**DEFAULT, "named": True}}),
        # The build replaces wheels of the same version.
        ({"torch": {**NEWER, "torch": "2.14.1+cu130"}}, {"stack": DEFAULT}),
        ({"torch": {**NEWER, "torch": "2.9.1"}}, {"stack": DEFAULT}),
        ({"torch": {**NEWER, "torch": None}}, {"stack": DEFAULT}),
        ({}, {"stack": DEFAULT}),
        # Another environment does not matter.
        ({"serving": NEWER}, {"stack": DEFAULT}),
        ({"torch": NEWER}, {"stack": DEFAULT, "python_env_requirements": ["torch==2.12.0"]}),
    ],
)
def test_other_changes_of_the_stack_are_not_refused(environments: dict[str, t.Any], changed: dict[str, t.Any]) -> None:
    assert not plan(environments=environments, **changed).refusals


def test_a_unit_that_did_not_compile_is_replaced_by_its_official_wheel() -> None:
    line = f"torchvision==1 --hash=sha256:{'e' * 64}"
    lock = {**STACK["lock"], "wheels": {"cp312-linux-aarch64": [*LOCKED, line]}}
    built = [unit for unit in UNITS if unit["name"] != "torchvision"]
    result = plan(units=built, stack={**STACK, "lock": lock})
    requirements = result.steps["environment"]["requirements"]
    assert line in requirements and "pillow==1 --hash=x" in requirements
    assert not any(requirement.startswith("Torch_Vision") for requirement in requirements)
    assert "torchvision" in result.steps["environment"]["imports"]
    # The plan is refused if there is no official wheel of that version, and for PyTorch itself.
    assert "torchvision of the stack torch-2.9.1 is not built" in str(plan(units=built).as_result()["refused"])
    alone = plan(units=[unit for unit in built if unit["name"] != "pytorch"], stack={**STACK, "lock": lock})
    assert "pytorch of the stack torch-2.9.1 is not built" in str(alone.as_result()["refused"])
