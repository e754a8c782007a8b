"""Of which wheels an environment is made, where they come from, and what is said where one is missing."""

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
    # A name that an index writes otherwise.
    unit("torchvision", "Torch_Vision", "1", "torchvision/3/v.whl"),
    unit("triton", "triton", "3.5.1", "triton/2/tr.whl"),
]


def plan(
    method: str = "build",
    units: t.Sequence[t.Mapping[str, t.Any]] | None = UNITS,
    environments: t.Mapping[str, t.Any] | None = None,
    **changed: t.Any,
) -> plans.Plan:
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


FOREIGN = {
    "a unit that no stack has": (unit("evil", "evil", "1", "evil/1/e.whl"), "the unit evil, which is not in the stack"),
    "what the lock pins": (unit("torchaudio", "sympy", "99", "torchaudio/1/s.whl"), "a wheel of sympy in the unit"),
    "a project again": (unit("torchaudio", "Torch.Vision", "9", "torchaudio/1/v.whl"), "and another one before"),
}


@pytest.mark.parametrize(("more", "said"), FOREIGN.values(), ids=FOREIGN)
def test_of_a_manifest_with_what_nobody_asked_for_nothing_is_taken(more: dict[str, t.Any], said: str) -> None:
    stack = {**STACK, "units": [*STACK["units"], "torchaudio"]}
    made = plan(stack=stack, sparkforge_manifest={"host": "spark02", "units": [*UNITS, more]})
    assert not made.steps
    assert said in made.refusals[0]["cause"] and "Find out what spark02 built." in made.refusals[0]["remedy"]


def test_a_unit_of_one_s_own_is_taken_where_the_inventory_names_it() -> None:
    units = [*UNITS, unit("own", "own", "1", "own/1/own.whl")]
    made = plan(sparkforge_manifest={"host": "spark02", "units": units}, torch_extensions=[{"name": "own"}])
    assert f"own==1 --hash=sha256:{SHA}" in made.steps["environment"]["requirements"]


def elsewhere(**changed: t.Any) -> plans.Plan:
    return plan(sparkforge_manifest={"host": "spark02", "units": UNITS}, **changed)


def test_what_was_built_comes_by_its_sha256_and_what_it_needs_from_the_lock() -> None:
    steps = plan().steps
    environment = steps["environment"]
    assert environment["requirements"] == [
        f"torch==2.9.1+cu130.sf0 --hash=sha256:{SHA}",
        f"Torch_Vision==1 --hash=sha256:{SHA}",
        f"triton==3.5.1 --hash=sha256:{SHA}",
        # Of flash-attention nothing was built.
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


def test_official_wheels_come_from_the_lock_and_bring_their_libraries() -> None:
    steps = plan("wheel", None).steps
    assert set(steps) == {"environment"}
    assert steps["environment"]["requirements"] == LOCKED
    assert steps["environment"]["library_paths"] == steps["environment"]["find_links"] == []
    assert steps["environment"]["python"] == "/usr/bin/python3.12"


def test_the_inventory_decides_where_it_says_something() -> None:
    mine = "torch==1 --hash=x"
    environment = plan(
        python_env_requirements=[mine],
        python_env_extra_requirements=["six==1 --hash=x"],
        python_env_library_paths=["/srv/lib"],
        python_env_imports=["numpy"],
        python_env_environment={"A": "1"},
        python_env_python="/usr/bin/python3.13",
        python_env_environment_id="0123456789ab",
    ).steps["environment"]
    # No unit is asked for.
    assert environment["requirements"] == [mine, "six==1 --hash=x"]
    assert environment["library_paths"] == ["/srv/lib"]
    assert environment["imports"] == ["numpy"]
    assert environment["environment"] == {**STACK["activation"], "A": "1"}
    assert (environment["python"], environment["environment_id"]) == ("/usr/bin/python3.13", "0123456789ab")


def test_a_unit_that_is_not_built_is_named_with_who_was_asked() -> None:
    tried = [{"place": "the cache", "said": "There is none."}]
    [refusal] = plan(units=UNITS[:2], sparkforge_found={"tried": tried}).refusals
    assert refusal["cause"] == (
        "triton, torchvision of the stack torch-2.9.1 are not built for ubuntu24.04-aarch64"
        " (searched: the cache: There is none)."
    )
    assert refusal["remedy"].startswith("Run playbooks/build.yml")
    assert plan(units=None).refusals[0]["cause"].startswith("triton, pytorch, torchvision of the stack")


def test_in_check_mode_the_builder_says_what_it_would_build() -> None:
    made = plan(sparkforge_manifest={"pending": ["pytorch"]}, ansible_check_mode=True)
    assert made == plans.Plan(reasons=["create the environment once pytorch is built"])
    assert made.as_result()["settled"]
    # status.yml is no check mode: the reason is there as well.
    assert list(plan(sparkforge_manifest={"pending": ["pytorch"]}).reasons) == list(made.reasons)


def test_a_lock_without_wheels_for_the_host_is_refused() -> None:
    [refusal] = python_env.plan(
        {**DEFAULTS, "stack": {**STACK, "method": "wheel"}, "inventory_hostname": "gpu01"},
        {"kernel": {"machine": "x86_64"}, "platform": "ubuntu24.04-x86_64"},
    ).refusals
    assert refusal["cause"] == "The lock of the stack torch-2.9.1 has no wheels for cp312-linux-x86_64."
    assert "playbooks/lock.yml" in refusal["remedy"]


def test_the_wheels_of_another_host_go_through_the_controller() -> None:
    steps = elsewhere(sparkforge_wheelhouse_username="lab", sparkforge_wheelhouse_password="word").steps
    assert set(steps) == {"environment", "push"}
    assert steps["push"] == "spark02"
    assert [wheel["file"] for wheel in steps["environment"]["wheels"]] == [
        "t.whl", "v.whl", "tr.whl",
    ]  # fmt: skip
    assert steps["environment"]["find_links"] == []
    # A builder that left the inventory is not asked: the cache has them.
    assert elsewhere(groups={"all": ["spark01"]}).steps["push"] == "spark01"


def test_or_are_pulled_from_the_url() -> None:
    steps = elsewhere(sparkforge_wheelhouse_url=URL).steps
    assert steps["environment"]["find_links"] == [
        f"{URL}ubuntu24.04-aarch64/simple/{name}/" for name in ("torch", "torch-vision", "triton")
    ]
    assert set(steps) == {"environment"}
    account = {"sparkforge_wheelhouse_username": "lab", "sparkforge_wheelhouse_password": "word"}
    steps = elsewhere(sparkforge_wheelhouse_url=URL, **account).steps
    assert steps["credentials"] == [{"url": URL, "username": "lab", "password": "word"}]
    # What status.yml hands on has no password in it.
    assert "word" not in str(steps["environment"])


NEWER = {
    "current": "5d41402abc4b",
    "stack": {"name": "torch-2.15.0", "method": "wheel", "lock_id": "0"},
    "torch": "2.15.0+cu132",
}
DEFAULT = {**STACK, "method": "build", "versions": {"torch": "2.14.1"}, "named": False}


def test_the_default_stack_does_not_replace_a_newer_pytorch_and_says_how_to() -> None:
    for check_mode in (False, True):
        made = plan(environments={"torch": NEWER}, stack=DEFAULT, ansible_check_mode=check_mode)
        assert made.steps == {}
        [refusal] = made.refusals
        assert refusal["cause"] == (
            "The environment torch has PyTorch 2.15.0+cu132, and the default stack torch-2.9.1 would replace it by the "
            "older 2.14.1."
        )
        assert "set stack_name: torch-2.15.0 and stack_method: wheel for this host" in refusal["remedy"]
        assert "name it there: stack_name: torch-2.9.1." in refusal["remedy"]
    unknown = plan(environments={"torch": {**NEWER, "stack": {}}}, stack=DEFAULT).refusals[0]
    assert "set stack_name to a stack of that PyTorch for this host" in unknown["remedy"]


@pytest.mark.parametrize(
    ("environments", "changed"),
    [
        ({"torch": NEWER}, {"stack": {**DEFAULT, "named": True}}),
        # Wheels of the same version, before the build.
        ({"torch": {**NEWER, "torch": "2.14.1+cu130"}}, {"stack": DEFAULT}),
        ({"torch": {**NEWER, "torch": "2.9.1"}}, {"stack": DEFAULT}),
        ({"torch": {**NEWER, "torch": None}}, {"stack": DEFAULT}),
        ({}, {"stack": DEFAULT}),
        # Another environment has its own.
        ({"serving": NEWER}, {"stack": DEFAULT}),
        ({"torch": NEWER}, {"stack": DEFAULT, "python_env_requirements": ["torch==2.12.0"]}),
    ],
)
def test_every_other_change_is_made(environments: dict[str, t.Any], changed: dict[str, t.Any]) -> None:
    assert not plan(environments=environments, **changed).refusals


def test_a_unit_that_did_not_compile_comes_as_its_official_wheel_with_what_that_needs() -> None:
    line = f"torchvision==1 --hash=sha256:{'e' * 64}"
    lock = {**STACK["lock"], "wheels": {"cp312-linux-aarch64": [*LOCKED, line]}}
    built = [unit for unit in UNITS if unit["name"] != "torchvision"]
    made = plan(units=built, stack={**STACK, "lock": lock})
    requirements = made.steps["environment"]["requirements"]
    assert line in requirements and "pillow==1 --hash=x" in requirements
    assert not any(one.startswith("Torch_Vision") for one in requirements)
    assert "torchvision" in made.steps["environment"]["imports"]
    # Of another version there is none, and PyTorch's is another environment.
    assert "torchvision of the stack torch-2.9.1 is not built" in str(plan(units=built).as_result()["refused"])
    alone = plan(units=[unit for unit in built if unit["name"] != "pytorch"], stack={**STACK, "lock": lock})
    assert "pytorch of the stack torch-2.9.1 is not built" in str(alone.as_result()["refused"])
