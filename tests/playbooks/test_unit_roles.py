"""The roles' requests for libraries, units and environments, as Ansible evaluates them."""

import base64
import json
import re
import typing as t
from pathlib import Path

import pytest
import yaml

from tests.playbooks.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[2]
ROLES = ("cuda_libraries", "llvm", "triton", "torch_extensions")
SHA = "b" * 64
SPARK: dict[str, t.Any] = {
    "os": {"id": "ubuntu", "version": "24.04"}, "kernel": {"machine": "aarch64"}, "gpu": {"devices": []},
    "apt": {"packages": {"libpng-dev": "1.6"}}, "apt_sources": [], "driver": {"nvidia_fs": None}, "managed_files": {},
}  # fmt: skip
LLVM = {"fingerprint": "0" * 16, "status": "built", "prefix": "/p", "wheels": []}
TORCH_WHEEL = {"name": "torch", "version": "2.9.1+cu130.sf0", "sha256": SHA, "path": "/house/pytorch/1/torch.whl"}
PYTORCH = {"fingerprint": "1" * 16, "status": "built", "prefix": None, "wheels": [TORCH_WHEEL]}
TRITON = {"fingerprint": "2" * 16, "status": "would_build", "prefix": None, "wheels": []}


class Worker:
    """Evaluates the roles' variables in a play, with all cases in one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cases: dict[str, tuple[dict[str, t.Any], list[str]]] = {}

    def case(self, name: str, names: list[str], **variables: t.Any) -> None:
        self.cases[name] = (variables, names)

    def run(self) -> dict[str, dict[str, t.Any]]:
        files = [
            str(COLLECTION / "roles" / role / part / "main.yml") for role in ROLES for part in ("defaults", "vars")
        ]
        plays = []
        for name, (variables, names) in self.cases.items():
            own = self.path / f"{name}.yml"
            own.write_text(yaml.safe_dump({"ansible_facts": {"spark_info": SPARK}, **variables}))
            tasks: list[dict[str, t.Any]] = [
                {
                    "sparkforge.dgx_spark.stack_facts": {
                        "name": "{{ stack_name | default('torch-2.9.1') }}",
                        "profile": "{{ stack_profile | default('gb10') }}",
                        "method": "{{ stack_method | default('build') }}",
                        "libraries": "{{ stack_libraries | default('auto') }}",
                    },
                    "register": "found",
                },
                {"ansible.builtin.set_fact": {"stack": "{{ found.stack }}"}},
            ]
            pairs = ", ".join(f"'{item}': {item}" for item in names)
            shown = f"{{{{ {{{pairs}}} | to_json | b64encode }}}}"
            tasks.append({"ansible.builtin.debug": {"msg": f"<{name}:{shown}>"}})
            plays.append({"hosts": "all", "gather_facts": False, "vars_files": [*files, str(own)], "tasks": tasks})
        (self.path / "play.yml").write_text(yaml.safe_dump(plays))
        (self.path / "hosts.yml").write_text("all: {hosts: {spark01: {ansible_host: 192.0.2.1}}}\n")
        result = run_playbook(self.path, "-i", "hosts.yml", "play.yml")
        assert result.returncode == 0, (result.stdout + result.stderr)[-6000:]
        answers = re.findall(r"<(\w+):([A-Za-z0-9+/=]+)>", result.stdout)
        return {name: json.loads(base64.b64decode(answer)) for name, answer in answers}


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, t.Any]]:
    worker = Worker(tmp_path_factory.mktemp("roles"))
    worker.case(
        "recipe",
        [
            "__llvm_plan", "__triton_plan", "__torch_extensions_plan", "__cuda_libraries_plan",
        ],
        sparkforge_built={"llvm": LLVM, "pytorch": PYTORCH, "triton": TRITON},
    )  # fmt: skip
    worker.case(
        "own",
        ["__llvm_plan", "__triton_plan", "__torch_extensions_plan"],
        triton_llvm_override={"archive": "https://user:secret@example.com/llvm.tar.xz", "sha256": SHA},
        llvm_toolchain={"cc": "/usr/bin/gcc-13", "cxx": "/usr/bin/g++-13"},
        llvm_linker="",
        triton_unit={
            "source": {"archive": "/srv/triton.tar.gz", "sha256": SHA},
            "requirements": ["cmake==3.31.10"],
            "edits": [{"path": "a", "match": "b", "replace": "c"}],
            "rewrite": {"https://github.com/": "https://git.example.com/"},
        },
        triton_proton=True,
        triton_strip=False,
        torch_extensions_architectures="9.0;12.0+PTX;12.1a",
        torch_extensions_names=["flash_attention"],
        torch_extensions=[
            {
                "name": "flash_attention",
                "source": {"archive": "/srv/flash.tar.gz", "sha256": SHA},
                "environment": {"FLASH_ATTENTION_FORCE_BUILD": "FALSE"},
            },
            {"name": "mine", "source": {"archive": "/srv/mine.tar.gz", "sha256": SHA}, "depends": ["pytorch"]},
        ],
    )
    worker.case(
        "without_cuda", ["__torch_extensions_plan"], torch_extensions_cuda=False, torch_extensions_names=["torchvision"]
    )
    worker.case(
        "installed", ["__cuda_libraries_plan"], stack_name="torch-2.15.0", stack_method="wheel", stack_libraries="all"
    )
    return worker.run()


def extension(facts: dict[str, t.Any], name: str) -> dict[str, t.Any]:
    return next(step for step in facts["__torch_extensions_plan"]["steps"]["units"] if step["name"] == name)


def unit(facts: dict[str, t.Any], role: str) -> dict[str, t.Any]:
    [planned] = facts[f"__{role}_plan"]["steps"]["units"]
    return t.cast("dict[str, t.Any]", planned)


def libraries_of_stack(facts: dict[str, t.Any]) -> list[str]:
    packages = facts["__cuda_libraries_plan"]["steps"]["libraries"]["packages"]
    return [name for name in packages if re.match("libcudnn|libnccl", name)]


def test_a_build_asks_for_cudnn_and_nccl_of_the_stacks_minor_first_and_wheels_for_any(facts):
    assert libraries_of_stack(facts["recipe"]) == [
        *(f"libcudnn9-{part}cuda-13=9.13.*>=9.13|libcudnn9-{part}cuda-13=*>=9.13" for part in ("", "headers-", "dev-")),
        *(f"{name}=2.27.*+cuda13.*>=2.27.7|{name}=*+cuda13.*>=2.27.7" for name in ("libnccl2", "libnccl-dev")),
    ]
    assert libraries_of_stack(facts["installed"]) == [
        "libcudnn9-cuda-13=*", "libcudnn9-headers-cuda-13=*", "libcudnn9-dev-cuda-13=*", "libnccl2=*+cuda13.*",
        "libnccl-dev=*+cuda13.*",
    ]  # fmt: skip


def test_llvm_is_built_at_the_pin_with_what_triton_links(facts: dict[str, dict[str, t.Any]]) -> None:
    planned = unit(facts["recipe"], "llvm")
    assert planned["source"] == {
        "repo": "https://github.com/llvm/llvm-project.git",
        "version": "7d5de3033187c8a3bb4d2e322f5462cdaf49808f",
        "submodules": False,
    }
    assert planned["kind"] == "cmake"
    assert planned["subdirectory"] == "llvm"
    assert {"-DLLVM_ENABLE_PROJECTS=mlir;llvm;lld", "-DLLVM_TARGETS_TO_BUILD=host;NVPTX;AMDGPU"} <= set(
        planned["cmake_args"]
    )
    assert facts["recipe"]["__llvm_plan"]["steps"]["override"] == ""


def test_compilers_are_found_by_their_versioned_path(facts: dict[str, dict[str, t.Any]]) -> None:
    for role in ("llvm", "triton"):
        assert unit(facts["recipe"], role)["toolchain"]["cxx"] == "/usr/lib/llvm-20/bin/clang++"
        assert unit(facts["own"], role)["toolchain"]["cxx"] == "/usr/bin/g++-13"
    assert "-DLLVM_USE_LINKER=lld" in unit(facts["recipe"], "llvm")["cmake_args"]
    assert not [item for item in unit(facts["own"], "llvm")["cmake_args"] if "LINKER" in item]
    assert "fuse-ld" not in unit(facts["own"], "triton")["environment"]["TRITON_APPEND_CMAKE_ARGS"]


def test_triton_is_built_offline_against_that_llvm(facts: dict[str, dict[str, t.Any]]) -> None:
    planned = unit(facts["recipe"], "triton")
    environment = planned["environment"]
    assert environment["TRITON_OFFLINE_BUILD"] == "1"
    assert environment["LLVM_SYSPATH"] == "{depends.llvm.prefix}"
    assert environment["TRITON_PTXAS_PATH"] == "/usr/local/cuda-13.0/bin/ptxas"
    assert environment["TRITON_BUILD_PROTON"] == "OFF"
    assert "'-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld -Wl,-s'" in environment["TRITON_APPEND_CMAKE_ARGS"]
    assert planned["depends"] == [{"name": "llvm", "fingerprint": "0" * 16}]
    assert [line for line in planned["requirements"] if line.startswith("cmake==3.")]
    assert unit(facts["own"], "triton")["environment"]["TRITON_BUILD_PROTON"] == "ON"
    assert "-Wl,-s" not in unit(facts["own"], "triton")["environment"]["TRITON_APPEND_CMAKE_ARGS"]
    assert unit(facts["own"], "triton")["requirements"] == ["cmake==3.31.10"]
    assert unit(facts["own"], "triton")["rewrite"] == {"https://github.com/": "https://git.example.com/"}
    assert unit(facts["recipe"], "triton")["rewrite"] == {}


def test_a_version_has_one_plus_sign(facts: dict[str, dict[str, t.Any]]) -> None:
    # In a checkout, setup.py puts +git<commit> before the suffix; in an unpacked archive it puts nothing.
    suffix = {
        name: unit(facts[name], "triton")["environment"]["TRITON_WHEEL_VERSION_SUFFIX"] for name in ("recipe", "own")
    }
    assert re.fullmatch(r"\.cu130\.sf[0-9a-f]{8}", suffix["recipe"])
    assert re.fullmatch(r"\+cu130\.sf[0-9a-f]{8}", suffix["own"])
    vision = extension(facts["recipe"], "torchvision")["environment"]["BUILD_VERSION"]
    assert re.fullmatch(r"0\.24\.1\+cu130\.sf[0-9a-f]{8}", vision)


def test_extensions_are_built_against_the_pytorch_of_this_host(facts: dict[str, dict[str, t.Any]]) -> None:
    names = [step["name"] for step in facts["recipe"]["__torch_extensions_plan"]["steps"]["units"]]
    assert names == ["torchvision", "torchaudio"]
    vision = extension(facts["recipe"], "torchvision")
    assert vision["depends"] == [{"name": "pytorch", "fingerprint": "1" * 16}]
    assert vision["environment"]["PYTORCH_VERSION"] == "2.9.1"
    assert vision["environment"]["TORCH_CUDA_ARCH_LIST"] == "12.0"
    assert vision["expect"]["architectures"] == ["12.0"]
    assert extension(facts["recipe"], "torchaudio")["expect"]["architectures"] == ["12.0"]
    assert facts["recipe"]["__torch_extensions_plan"]["reasons"] == ["install libjpeg-dev", "install libwebp-dev"]


def test_flash_attention_is_always_built_from_source(facts: dict[str, dict[str, t.Any]]) -> None:
    unit = extension(facts["own"], "flash_attention")
    assert unit["environment"]["FLASH_ATTENTION_FORCE_BUILD"] == "TRUE"
    assert unit["environment"]["FLASH_ATTN_CUDA_ARCHS"] == "90;120"
    assert unit["expect"]["architectures"] == ["9.0", "12.0"]
    assert unit["source"]["archive"] == "/srv/flash.tar.gz"
    assert unit["memory_per_job"] >= 5430


def test_a_unit_of_ones_own_gets_what_every_extension_needs(facts: dict[str, dict[str, t.Any]]) -> None:
    unit = extension(facts["own"], "mine")
    assert unit["environment"]["TORCH_CUDA_ARCH_LIST"] == "9.0;12.0+PTX;12.1a"
    assert unit["toolchain"]["nvcc"] == "/usr/local/cuda-13.0/bin/nvcc"


def test_without_cuda_there_is_no_nvcc_and_nothing_of_it_is_expected(facts: dict[str, dict[str, t.Any]]) -> None:
    unit = extension(facts["without_cuda"], "torchvision")
    assert "nvcc" not in unit["toolchain"]
    assert unit["environment"]["FORCE_CUDA"] == "0"
    assert "TORCH_CUDA_ARCH_LIST" not in unit["environment"]
    assert "architectures" not in unit["expect"]
    assert "+cpu.sf" in unit["environment"]["BUILD_VERSION"]


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_role_continues_without_a_unit_that_has_an_official_wheel(tmp_path: Path, strict: bool) -> None:
    """None of these can be built; plans/test_python_env.py covers the resulting environment."""
    # The module refuses a source without a commit before anything is created.
    sources = {name: {"name": name, "kind": "wheel", "source": {"repo": "/x"}} for name in ("triton", "pytorch")}
    stack = {
        "units": {"llvm": {}, "triton": {}, "pytorch": {}}, "versions": {"triton": "3.8.0"},
        "python": {"version": "3.12"},
        "lock": {"wheels": {"cp312-linux-aarch64": [f"triton==3.8.0 --hash=sha256:{SHA}"]}},
    }  # fmt: skip
    role = {
        "ansible.builtin.include_role": {"name": "sparkforge.dgx_spark.source_unit"},
        "vars": {"source_unit_plan": {"steps": {"units": list(sources.values())}, "refused": "", "notes": []}},
    }
    print_unbuilt = {
        "ansible.builtin.debug": {
            "msg": "UNBUILT {{ sparkforge_unbuilt | default({}) }} AND {{ ansible_failed_task.name }}"
        }
    }
    play = {
        "hosts": "all", "gather_facts": False, "tasks": [{"block": [role], "rescue": [print_unbuilt]}],
        "vars": {
            "ansible_facts": {"spark_info": SPARK}, "stack": stack, "sparkforge_root": str(tmp_path / "root"),
            "ansible_become": False, "source_unit_strict": strict,
        },
    }  # fmt: skip
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    result = run_playbook(tmp_path, "-i", "spark01,", "-c", "local", "play.yml")
    assert result.returncode == 0, result.stdout + result.stderr
    output = " ".join(result.stdout[result.stdout.index("UNBUILT") :].split())
    assert f"AND Build {'triton' if strict else 'pytorch'}" in output
    assert ("spark01 did not build triton, so" in output) is not strict, output
    assert not (tmp_path / "root").exists()
