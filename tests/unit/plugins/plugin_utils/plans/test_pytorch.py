"""The build of PyTorch on a host: library paths, refused settings and expected results."""

import copy
import json
import pathlib
import re
import typing as t

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import pytorch

from tests.unit.composed_spark import REDIST, spark

CHECKOUT = pathlib.Path(__file__).resolve().parents[5]
ROLE = yaml.safe_load((CHECKOUT / "roles/pytorch/vars/main.yml").read_text())
DEFAULTS = yaml.safe_load((CHECKOUT / "roles/pytorch/defaults/main.yml").read_text())
COMMIT = "5811a8d7da873dd699ff6687092c225caffcf1bb"

# The build environment from seeds/003, unchanged.
SEED = {
    "USE_CUDNN": 1, "USE_CUBLAS": 1, "USE_CUSPARSELT": 1, "USE_CUFILE": 1, "USE_NCCL": 1, "USE_SYSTEM_NCCL": 1,
    "USE_DISTRIBUTED": 1, "USE_TENSORPIPE": 1, "USE_FBGEMM": 1, "USE_FBGEMM_GENAI": 1, "USE_FLASH_ATTENTION": 1,
    "USE_MEM_EFF_ATTENTION": 1, "TORCH_CUDA_ARCH_LIST": "12.0;12.1", "CUDAARCHS": "12.1",
    "PYTORCH_BUILD_VERSION": "2.9.1", "PYTORCH_BUILD_NUMBER": "1",
}  # fmt: skip


def stack(torch: str = "2.9.1", architectures: str | None = "12.0") -> dict[str, t.Any]:
    """Return the keys of the fact ``stack`` that a build reads, from the shipped file."""
    definition = yaml.safe_load((CHECKOUT / "roles/stack/vars/torch-2.9.1.yml").read_text())["stack_definition"]
    return {
        "versions": {**definition["versions"], "torch": torch},
        "profile": {"name": "gb10", "architectures": architectures, "compute_capability": "12.1"},
        "cuda": {"version": "13.0", "major": 13, "suffix": "13-0"},
        "python": definition["python"],
        "cudnn": definition["cudnn"],
        "nccl": definition["nccl"],
        "cusparselt": definition["cusparselt"],
        "archives": definition["archives"],
        "units": {
            "pytorch": {
                "source": {"repo": "https://example.com/p.git", "version": COMMIT, "submodules": True},
                "requirements": {
                    "cp312-linux-aarch64": ["six==1.17.0 --hash=sha256:" + "a" * 64],
                    "cp312-linux-x86_64": ["six==1.17.0 --hash=sha256:" + "a" * 64],
                },
            }
        },
    }


def plan(host=None, facts=None, unit=None, unbuilt=None, **settings: t.Any) -> dict[str, t.Any]:
    """Return the unit for source_build, with missing libraries and notes; check mode does not refuse missing libraries.

    :raises Refused: if the plan has refusals.
    """
    unit = unit or {}
    if "environment" in settings:
        unit = {**unit, "environment": settings.pop("environment")}
    variables = {**DEFAULTS, **{f"pytorch_{name}": value for name, value in settings.items()}, "pytorch_unit": unit}
    variables |= {"stack": facts or stack(), "ansible_check_mode": True, "sparkforge_unbuilt": unbuilt, **ROLE}
    result = pytorch.plan(variables, host or spark())
    if result.refusals:
        raise Refused(result.as_result()["refused"])
    [planned] = result.steps["units"]
    version = planned["environment"]["PYTORCH_BUILD_VERSION"]
    costs = [note for note in result.notes if note.startswith("Compiling PyTorch takes ")]
    notes = [note for note in result.notes if note not in costs]
    return {**planned, **{key: result.steps[key] for key in ("before", "missing")}, "notes": notes, "version": version,
            "unit": planned, "costs": costs}  # fmt: skip


class Refused(Exception):
    """The plan refuses the build."""


def refusal(**settings: t.Any) -> str:
    with pytest.raises(Refused) as caught:
        plan(**settings)
    return str(caught.value)


def test_environment_on_a_spark_has_the_real_path_of_every_library() -> None:
    result = plan()
    environment = result["environment"]
    assert (result["missing"], result["kind"]) == ([], "wheel")
    assert [note.partition(":")[0] for note in result["notes"]] == ["oneDNN is off"]
    expected = {
        "TORCH_CUDA_ARCH_LIST": "12.0",
        "CUDA_HOME": "/usr/local/cuda-13.0",
        "CUDA_PATH": "/usr/local/cuda-13.0",
        "CUDACXX": "/usr/local/cuda-13.0/bin/nvcc",
        "USE_CUDNN": "1",
        # NVIDIA's packages install the headers there, not in /usr/include.
        "CUDNN_INCLUDE_DIR": "/usr/include/aarch64-linux-gnu",
        "CUDNN_LIBRARY": "/usr/lib/aarch64-linux-gnu",
        "USE_NCCL": "1",
        "USE_SYSTEM_NCCL": "1",
        "NCCL_LIB_DIR": "/usr/lib/aarch64-linux-gnu",
        "USE_CUFILE": "1",
        "USE_CUSPARSELT": "1",
        "CUSPARSELT_INCLUDE_DIR": "/usr/include/libcusparseLt/13",
        "CUSPARSELT_LIBRARY": "/usr/lib/aarch64-linux-gnu/libcusparseLt/13",
        "USE_CUDSS": "1",
        "CUDSS_ROOT": f"{REDIST}/libcudss/0.7.0.20-cuda13",
        "CUDSS_INCLUDE_DIR": f"{REDIST}/libcudss/0.7.0.20-cuda13/include",
        "CUDSS_LIBRARY": f"{REDIST}/libcudss/0.7.0.20-cuda13/lib",
        "BLAS": "NVPL",
        "NVPL_BLAS_ROOT": f"{REDIST}/nvpl_blas/0.4.1.1",
        "NVPL_LAPACK_ROOT": f"{REDIST}/nvpl_lapack/0.3.1.1",
        "CMAKE_PREFIX_PATH": f"{REDIST}/nvpl_blas/0.4.1.1;{REDIST}/nvpl_lapack/0.3.1.1",
        "USE_PRIORITIZED_TEXT_FOR_LD": "1",
        # FBGEMM is only for x86-64, although the seed sets it.
        "USE_FBGEMM": "0",
        "PYTORCH_BUILD_NUMBER": "1",
    }
    assert {key: environment.get(key) for key in expected} == expected
    assert result["toolchain"] == {"nvcc": "/usr/local/cuda-13.0/bin/nvcc"}
    assert result["minimum"]["cmake"] == "3.27"
    # Packages have no directory of their own.
    assert "CUSPARSELT_ROOT" not in environment


def test_expected_results_follow_from_the_settings() -> None:
    expect = plan()["expect"]
    assert expect["version"] == plan()["environment"]["PYTORCH_BUILD_VERSION"]
    assert expect["libraries"] == [
        "libcudnn.so.*", "libnccl.so.*", "libcufile.so.*", "libcusparseLt.so.0", "libcudss.so.0", "libcudart.so.13",
        "libcublas.so.13", "libnvpl_blas_lp64_gomp.so.0", "libnvpl_lapack_lp64_gomp.so.0",
    ]  # fmt: skip
    assert expect["cmake_cache"]["USE_CUDNN"] == "ON"
    # USE_CUDSS proves nothing: 2.9.1 leaves it at 1 in the cache even if it has dropped cuDSS.
    assert "USE_CUDSS" not in expect["cmake_cache"]
    assert expect["cmake_cache"]["CUDSS_LIBRARY_PATH"] == f"{REDIST}/libcudss/0.7.0.20-cuda13/lib/libcudss.so"
    assert expect["architectures"] == ["12.0", "12.1a"]
    assert "torch/lib/libtorch_cuda.so" in expect["files"]

    without = plan(libraries=["cudnn"], fixes={"rowwise_121a": False})
    assert without["environment"]["USE_CUDSS"] == "0" and "CUDSS_ROOT" not in without["environment"]
    assert "libcudss.so.0" not in without["expect"]["libraries"]
    assert without["expect"]["architectures"] == ["12.0"]
    assert plan(unit={"expect": {"files": []}})["expect"]["files"] == []


def test_source_build_accepts_the_planned_unit() -> None:
    result = plan(architectures="12.0;12.1")
    unit = model.Unit.from_options(result["unit"])
    assert dict(unit.environment) == result["environment"]
    assert unit.requirements == ("six==1.17.0 --hash=sha256:" + "a" * 64,)
    assert unit.source["version"] == COMMIT and unit.memory_per_job == 9216 and unit.free_space == 40960


def test_a_spark_compiles_with_10_jobs_and_the_plan_names_memory_and_disk() -> None:
    def costs(*arguments: t.Any, **options: t.Any) -> list[str]:
        (sentence,) = plan(*arguments, **options)["costs"]
        return re.findall(r"([\d.]+ (?:GiB|jobs?)\b)", sentence)

    assert costs() == ["90 GiB", "10 jobs", "40 GiB"]
    assert costs(jobs=1, unit={"memory_per_job": "2048", "free_space": 1536}) == ["2 GiB", "1 job", "1.5 GiB"]
    # Too little free memory is not a reason for refusal here, because the build itself checks it again.
    busy = spark()
    busy["memory"]["available_mib"] = 20000
    assert costs(busy) == ["9 GiB", "1 job", "40 GiB"]
    assert costs({**busy, "memory": None}) == ["40 GiB"]
    assert plan(cuda=False)["costs"] == [] and plan(cuda=False)["memory_per_job"] == 4096


def test_user_settings_override_those_of_the_stack() -> None:
    facts = stack()
    facts["units"]["pytorch"].update(
        environment={"USE_MAGMA": "1", "USE_NUMA": "1"}, edits=[{"path": "a", "match": "b", "replace": "c"}],
        patches=["one.patch"], expect={"files": ["torch/bin/*"]}, minimum={"cxx": "11"}, memory_per_job=6000,
    )  # fmt: skip
    user_unit = {"environment": {"USE_NUMA": 0}, "patches": ["two.patch"], "free_space": 1}
    result = plan(facts=facts, unit=user_unit)
    assert (result["environment"]["USE_MAGMA"], result["environment"]["USE_NUMA"]) == ("1", 0)
    assert result["edits"][-1]["path"] == "a" and result["patches"] == ["one.patch", "two.patch"]
    assert result["expect"]["files"] == ["torch/bin/*"] and "libcudss.so.0" in result["expect"]["libraries"]
    assert result["minimum"] == {"cmake": "3.27", "cxx": "11", "nvcc": "12.0"}
    assert (result["memory_per_job"], result["free_space"]) == (6000, 1)
    facts["units"]["pytorch"]["environment"] = {"CUDAARCHS": "12.1"}
    with pytest.raises(Refused, match="CMake rejects"):
        plan(facts=facts)


def test_the_build_fetches_no_library() -> None:
    assert plan()["environment"]["USE_SYSTEM_NCCL"] == "1"
    assert plan(libraries=[])["environment"]["USE_NCCL"] == "0"
    # A release that has NCCL as a submodule can use that copy.
    older = plan(version="2.6.0", environment={"USE_SYSTEM_NCCL": "0"})
    assert older["environment"]["USE_SYSTEM_NCCL"] == "0" and "libnccl.so.*" not in older["expect"]["libraries"]
    assert plan(libraries=[], environment={"USE_SYSTEM_NCCL": "0"})["environment"]["USE_NCCL"] == "0"
    host = spark()
    assert [note for note in plan(host, blas="Eigen")["notes"] if "libeigen3-dev" in note]
    host["apt"]["packages"]["libeigen3-dev"] = "3.4.0-4build0.1"
    result = plan(host, blas="Eigen")
    assert result["environment"]["USE_SYSTEM_EIGEN_INSTALL"] == "1"
    assert not [note for note in result["notes"] if "Eigen" in note]


def test_onednn_is_set_explicitly_and_checked_after_the_build() -> None:
    without = plan()
    assert (without["environment"]["USE_MKLDNN"], without["environment"]["USE_MKLDNN_ACL"]) == ("0", "0")
    assert "USE_MKLDNN" not in without["expect"]["cmake_cache"]
    assert "ACL_ROOT_DIR" not in without["environment"]

    result = plan(compute_library="/opt/acl/")
    environment, cache = result["environment"], result["expect"]["cmake_cache"]
    assert (environment["USE_MKLDNN"], environment["USE_MKLDNN_ACL"]) == ("1", "1")
    assert environment["ACL_ROOT_DIR"] == "/opt/acl"
    assert (cache["USE_MKLDNN"], cache["USE_MKLDNN_ACL"]) == ("ON", "ON")
    header = "torch/include/oneapi/dnnl/dnnl_version.h"
    assert header in result["expect"]["files"] and header not in without["expect"]["files"]
    assert result["notes"] == []
    # The user's variable takes precedence, and the build must respect it.
    cache = plan(environment={"USE_MKLDNN": 1})["expect"]["cmake_cache"]
    assert cache["USE_MKLDNN"] == "ON" and "USE_MKLDNN_ACL" not in cache

    host = spark()
    host["kernel"]["machine"] = "x86_64"
    result = plan(host, blas="MKL")
    assert result["environment"]["USE_MKLDNN"] == "1" and result["expect"]["cmake_cache"]["USE_MKLDNN"] == "ON"
    assert "USE_MKLDNN_ACL" not in result["environment"]
    off = plan(host, blas="MKL", environment={"USE_MKLDNN": 0})
    assert "USE_MKLDNN" not in off["expect"]["cmake_cache"]
    with pytest.raises(Refused, match="is for aarch64, not for x86_64"):
        plan(host, blas="MKL", compute_library="/opt/acl")


def test_onednn_on_aarch64_uses_the_compute_library_of_the_stack() -> None:
    facts = stack()
    facts["units"]["compute_library"] = {"source": {"repo": "https://example.com/acl.git", "version": COMMIT}}
    result = plan(facts=facts, toolchain={"cxx": "/usr/bin/g++-14"})
    assert (result["environment"]["USE_MKLDNN"], result["environment"]["USE_MKLDNN_ACL"]) == ("1", "1")
    assert result["environment"]["ACL_ROOT_DIR"] == "{depends.compute_library.prefix}"
    assert result["expect"]["cmake_cache"]["USE_MKLDNN_ACL"] == "ON"
    assert (result["depends"], result["notes"]) == (["compute_library"], [])
    # The Compute Library is built first, with the same compiler, and linked statically into PyTorch's libraries.
    [library] = result["before"]
    unit = model.Unit.from_options(library)
    assert (unit.name, unit.kind, unit.source["version"]) == ("compute_library", "cmake", COMMIT)
    assert unit.toolchain["cxx"] == "/usr/bin/g++-14"
    assert "-DARM_COMPUTE_BUILD_SHARED_LIB=OFF" in library["cmake_args"]
    assert "lib/libarm_compute.a" in library["expect"]["files"]

    # It is not built if a directory on the host replaces it, if oneDNN is off, or on x86-64.
    without = plan(facts=facts, unbuilt={"compute_library": "it did not compile"})
    assert (without["depends"], without["before"]) == ([], []) and "oneDNN is off" in without["notes"][0]
    result = plan(facts=facts, compute_library="/opt/acl")
    assert (result["environment"]["ACL_ROOT_DIR"], result["depends"], result["before"]) == ("/opt/acl", [], [])
    host = spark()
    host["kernel"]["machine"] = "x86_64"
    for result in (plan(facts=facts, environment={"USE_MKLDNN": 0}), plan(host, facts=facts, blas="MKL")):
        assert (result["depends"], result["before"]) == ([], [])
        assert "ACL_ROOT_DIR" not in result["environment"]


def test_cudnn_and_nccl_of_the_stack_are_inputs_and_those_of_the_host_are_recorded() -> None:
    result = plan()
    assert result["unit"]["libraries"] == {
        "cudnn": {"version": "9.13", "found": "9.13.0.50-1"},
        "nccl": {"version": "2.27.7", "found": "2.27.7-1+cuda13.0"},
        "cusparselt": {"version": "0.8.1", "found": "0.8.1.1-1"},
    }
    # A newer library with the same SONAME is used, with a note, and does not change the version; a different pin does.
    newer = spark()
    newer["apt"]["packages"].update({"libcudnn9-dev-cuda-13": "9.28.0.42-1", "libnccl-dev": "2.27.8-1+cuda13.0"})
    again = plan(newer)
    assert again["missing"] == [] and again["version"] == result["version"]
    notes = [note for note in again["notes"] if "newer than" in note]
    assert len(notes) == 1 and "9.28.0.42-1" in notes[0] and "9.13" in notes[0]
    facts = stack()
    facts["cudnn"] = {"version": "9.20"}
    assert plan(newer, facts)["version"] != result["version"]
    # An older library is refused, naming the role that installs a newer one.
    (missing,) = plan(spark(), facts)["missing"]
    assert "cuDNN 9.20 or" in missing and "9.13.0.50-1 (role cuda_libraries)" in missing
    # For a stack without a pin, the host's version is recorded.
    del facts["cudnn"], facts["nccl"]
    assert plan(spark(), facts)["unit"]["libraries"]["cudnn"] == {"found": "9.13.0.50-1"}
    assert "cudnn" not in plan(libraries=["nccl"])["unit"]["libraries"]


def test_libraries_from_archives_and_packages_are_distinguished() -> None:
    host = spark()
    del host["apt"]["packages"]["libcusparselt0-dev-cuda-13"]
    host["loader"]["libraries"]["libcusparseLt.so.0"] = f"{REDIST}/libcusparse_lt/current/lib/libcusparseLt.so.0"
    result = plan(host)
    assert result["environment"]["CUSPARSELT_ROOT"] == f"{REDIST}/libcusparse_lt/0.8.1.1-cuda13"
    host["apt"]["packages"]["libcudss0-dev-cuda-13"] = "0.7.1.4-1"
    host["loader"]["libraries"]["libcudss.so.0"] = "/usr/lib/aarch64-linux-gnu/libcudss/13/libcudss.so.0"
    result = plan(host)
    assert result["environment"]["CUDSS_LIBRARY"] == "/usr/lib/aarch64-linux-gnu/libcudss/13"
    assert result["environment"]["CUDSS_INCLUDE_DIR"] == "/usr/include/libcudss/13"
    assert "CUDSS_ROOT" not in result["environment"]


def test_missing_libraries_of_a_new_host_are_named_with_their_roles() -> None:
    host = json.loads((CHECKOUT / "tests/unit/data/hosts/dgx-spark.json").read_text())
    host["cuda_toolkits"] = []
    missing = "; ".join(plan(host)["missing"])
    for message in (
        "nvcc 13.0 (role cuda_libraries)", "cuDNN, libcudnn9-dev-cuda-13", "NCCL, libnccl-dev", "cuFile",
        "cuSPARSELt, libcusparseLt.so.0 (role cusparselt)", "cuDSS, libcudss.so.0 (role math_libraries)",
        "NVPL, libnvpl_lapack_lp64_gomp.so.0",
    ):  # fmt: skip
        assert message in missing


def test_x86_64_takes_openblas_and_refuses_nvpl() -> None:
    host = spark()
    host["kernel"]["machine"] = "x86_64"
    host["apt"]["packages"]["libopenblas-dev"] = "1"
    result = plan(host)
    assert result["environment"]["BLAS"] == "OpenBLAS" and result["environment"]["USE_FBGEMM"] == "1"
    assert "USE_PRIORITIZED_TEXT_FOR_LD" not in result["environment"]
    assert not [line for line in result["missing"] if "OpenBLAS" in line]
    with pytest.raises(Refused, match="for x86_64: set pytorch_blas"):
        plan(host, blas="NVPL")
    del host["apt"]["packages"]["libopenblas-dev"]
    assert "OpenBLAS, libopenblas-dev (build_toolchain_extra_packages)" in plan(host)["missing"]
    assert "exists for x86-64" in refusal(blas="MKL")


def test_all_defects_of_the_seeds_environment_are_named() -> None:
    text = refusal(environment=SEED)
    for defect in ("CUDAARCHS=12.1: CMake rejects", "USE_CUBLAS=1: PyTorch has no such option", "TORCH_CUDA_ARCH_LIST=",
                   "PYTORCH_BUILD_VERSION=2.9.1", "PYTORCH_BUILD_NUMBER=1"):  # fmt: skip
        assert defect in text
    refused = ("CUDAARCHS", "USE_CUBLAS", "TORCH_CUDA_ARCH_LIST", "PYTORCH_BUILD_VERSION", "PYTORCH_BUILD_NUMBER")
    accepted = {key: value for key, value in SEED.items() if key not in refused}
    result = plan(environment=accepted)
    assert {key: result["environment"][key] for key in accepted} == accepted
    for option in ("USE_FBGEMM_GENAI", "USE_FBGEMM"):
        assert [note for note in result["notes"] if f"{option}=1 has no effect" in note]


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CMAKE_CUDA_ARCHITECTURES", "121", "set pytorch_architectures instead"),
        ("TORCH_NVCC_FLAGS", "-gencode arch=compute_121,code=sm_121", "outside the list"),
        ("CMAKE_LIBRARY_PATH", "/usr/local/cuda/include", "has no libraries"),
        ("USE_SYSTEM_LIBS", "1", "select single libraries of the host (USE_SYSTEM_SLEEF"),
        ("NVCC_FLAGS_EXTRA", "-gencode;arch=x", "does not read it from the environment"),
        ("USE_NIGHTLY", "2.8.0", "without a hash"),
        ("WGETRC_ARGS", "--no-check-certificate", "turns off TLS verification"),
        ("GIT_SSL_NO_VERIFY", "true", "like --no-check-certificate"),
        ("USE_CUDA", "0", "set pytorch_cuda: false"),
        ("BLAS", "MKL", "set pytorch_blas"),
        ("USE_ROCM", "1", "for CUDA"),
        ("USE_SYSTEM_NCCL", "0", "clones it unverified"),
    ],
)
def test_variables_without_their_apparent_effect_are_refused(variable: str, value: str, message: str) -> None:
    text = refusal(environment={variable: value})
    assert f"has {variable}={value}: " in text and message in text


@pytest.mark.parametrize(
    ("version", "variable", "message"),
    [
        ("2.15.0", "USE_FBGEMM_GENAI", "now USE_MSLK"),
        ("2.14.1", "USE_NINJA", "CMAKE_GENERATOR=Ninja"),
        ("2.14.1", "CMAKE_FRESH", "2.14 dropped it; set pytorch_rebuild"),
        ("2.14.1", "CMAKE_ONLY", "2.14 dropped it"),
        ("2.9.1", "USE_MSLK", "calls it USE_FBGEMM_GENAI"),
        ("2.9.1", "CMAKE_ARGS", "set each CMake"),
    ],
)
def test_a_renamed_or_dropped_option_is_refused_with_the_new_name(version: str, variable: str, message: str) -> None:
    assert message in refusal(version=version, environment={variable: "1"})


def test_a_variable_without_effect_is_noted_from_2_14_on() -> None:
    notes = plan(version="2.14.1", environment={"MY_SWITCH": "1", "CUDSS_ROOT_DIR": "/x", "USE_MSLK": "1"})["notes"]
    assert [note.split(" ")[0] for note in notes if "has no effect" in note] == ["MY_SWITCH"]
    assert not [note for note in plan(environment={"MY_SWITCH": "1"})["notes"] if "reaches" in note]


def test_a_variable_of_the_user_replaces_the_roles_and_null_removes_it() -> None:
    result = plan(environment={"USE_CUDSS": False, "USE_NUMA": True, "USE_MAGMA": None, "USE_NCCL": "0"})
    environment = result["environment"]
    assert environment["USE_CUDSS"] is False and environment["USE_NUMA"] is True and "USE_MAGMA" not in environment
    assert not {"libcudss.so.0", "libnccl.so.*"} & set(result["expect"]["libraries"])


def test_architectures_default_to_the_hosts_gpu_and_are_refused_without_one() -> None:
    host = spark()
    facts = stack(architectures=None)
    result = plan(host, facts)
    assert result["environment"]["TORCH_CUDA_ARCH_LIST"] == "12.0"
    assert [note for note in result["notes"] if "for the list's 12.0" in note]
    host["gpu"]["devices"] = [{"compute_capability": "9.0"}, {"compute_capability": "9.0"}]
    assert plan(host, facts)["environment"]["TORCH_CUDA_ARCH_LIST"] == "9.0"
    host["gpu"]["devices"] = []
    with pytest.raises(Refused, match=r"turns 12\.1 into compute_20"):
        plan(host, facts)


@pytest.mark.parametrize(
    ("text", "hint"), [("sm_121", "12.1"), ("90a", "9.0a"), ("Blackwell", "12.0"), ("All", "12.0")]
)
def test_an_invalid_compute_capability_is_refused_with_the_right_form(text: str, hint: str) -> None:
    refused = refusal(architectures=text)
    assert f"has {text}, which" in refused and f"write it as {hint}" in refused


def test_architectures_are_written_as_pytorch_reads_them() -> None:
    assert plan(architectures="9.0 12.0+PTX, 9.0")["environment"]["TORCH_CUDA_ARCH_LIST"] == "9.0;12.0+PTX"
    assert plan(architectures="9.0 12.0+PTX")["expect"]["architectures"] == ["9.0", "12.0", "12.1a"]


def test_attention_guard_is_applied_for_12_1_but_not_for_12_0() -> None:
    def names(**settings: t.Any) -> set[str]:
        return {edit["name"] for edit in plan(**settings)["edits"]}

    assert names() == {"rowwise_121a", "fermi_token"}
    assert names(architectures="12.0;12.1") == {"rowwise_121a", "fermi_token", "attention_guard"}
    assert names(fixes={"attention_guard": True}) == {"rowwise_121a", "fermi_token", "attention_guard"}
    assert names(fixes={"rowwise_121a": False, "fermi_token": "off"}) == set()
    guard = [edit for edit in plan(architectures="12.1")["edits"] if edit["name"] == "attention_guard"]
    assert len(guard) == 29 and sum(edit["count"] for edit in guard) == 55
    assert plan(architectures="12.1")["expect"]["architectures"] == ["12.1", "12.1a"]


def test_12_1_without_the_guard_is_refused_up_to_2_11() -> None:
    assert "no error" in refusal(architectures="12.1", fixes={"attention_guard": False})
    assert "attention_guard" in refusal(architectures="12.0;12.1", version="2.11.0")
    own_guard = [{"name": "attention_guard", "path": "a.cu", "match": "1200", "replace": "1210"}]
    assert plan(architectures="12.1", version="2.10.0", unit={"edits": own_guard})["edits"][-1]["path"] == "a.cu"
    assert plan(architectures="12.1", environment={"USE_MEM_EFF_ATTENTION": "0"})
    newer = plan(architectures="12.1", version="2.15.0")
    assert {edit["name"] for edit in newer["edits"]} == {"fermi_token"}
    assert newer["expect"]["architectures"] == ["12.1"]


def test_a_fix_is_not_applied_to_an_untested_release_but_noted() -> None:
    result = plan(version="2.10.0")
    assert result["edits"] == []
    assert [note for note in result["notes"] if "with 2.9.1, not with 2.10.0" in note]


def test_version_differs_from_the_index_and_depends_on_the_inputs() -> None:
    first = plan()
    assert first["version"].startswith("2.9.1+cu130.sf")
    assert first["environment"]["PYTORCH_BUILD_VERSION"] == first["version"]
    other = stack()
    other["units"]["pytorch"]["source"]["version"] = "f" * 40
    mirror = copy.deepcopy(stack())
    mirror["units"]["pytorch"]["source"]["repo"] = "https://mirror.sparkforge.test/p.git"
    versions = {
        first["version"], plan(facts=other)["version"], plan(libraries=["cudnn"])["version"],
        plan(unit={"patches": ["/home/one/a.patch"]})["version"], plan(fixes={"fermi_token": False})["version"],
    }  # fmt: skip
    assert len(versions) == 5 and not [version for version in versions if "{" in version]
    # The same source from a mirror has the same version.
    assert plan(facts=mirror)["version"] == first["version"]
    assert plan(local_version="site.1")["version"] == "2.9.1+site.1"
    assert "lower-case letters" in refusal(local_version="Site_1")
    assert plan(cuda=False)["version"].startswith("2.9.1+cpu.sf")


def test_a_cpu_build_requires_no_cuda_library() -> None:
    result = plan(cuda=False)
    assert result["environment"]["USE_CUDA"] == "0" and "TORCH_CUDA_ARCH_LIST" not in result["environment"]
    assert result["toolchain"] == {} and result["edits"] == [] and result["expect"]["architectures"] == []
    assert result["expect"]["libraries"] == ["libnvpl_blas_lp64_gomp.so.0", "libnvpl_lapack_lp64_gomp.so.0"]


@pytest.mark.parametrize(
    "settings", [{"libraries": ["cudnn", "cublas"]}, {"fixes": {"sm121": True}}, {"version": "main"}]
)
def test_a_misspelt_setting_is_refused(settings: dict[str, t.Any]) -> None:
    assert next(iter(settings)) in refusal(**settings)


def test_a_missing_library_is_refused_except_in_check_mode() -> None:
    host = spark()
    del host["apt"]["packages"]["libcudnn9-dev-cuda-13"]
    assert "cuDNN" in plan(host)["missing"][0]
    variables = {**DEFAULTS, **ROLE, "stack": stack(), "ansible_check_mode": False}
    refused = pytorch.plan(variables, host).as_result()["refused"]
    assert refused.startswith("This host lacks cuDNN") and "Run that role" in refused
    assert pytorch.plan({**variables, "pytorch_state": "absent"}, host).steps == {}


def test_documented_pytorch_unit_reaches_cmake_and_is_checked() -> None:
    page = (CHECKOUT / "docs/developer.md").read_text()
    (block,) = [block for block in page.split("```yaml\n")[1:] if block.startswith("build_toolchain_extra_packages")]
    unit = yaml.safe_load(block.partition("```")[0])["pytorch_unit"]
    planned = plan(facts=stack("2.14.1"), unit=unit)
    assert planned["environment"]["USE_MPI"] == "1"
    assert planned["expect"]["cmake_cache"] == {**plan(facts=stack("2.14.1"))["expect"]["cmake_cache"], "USE_MPI": "ON"}
    assert "libcudnn.so.*" in planned["expect"]["libraries"]
    assert not [note for note in planned["notes"] if "USE_MPI" in note]
