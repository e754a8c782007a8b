"""Each role's plan for an observed host; it is empty if nothing is missing."""

import copy
import hashlib
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.policy import choose
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.request import missing
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.apt_state import Policy
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import (
    build_toolchain,
    cuda_libraries,
    cusparselt,
    llvm,
    math_libraries,
    network_access,
    torch_extensions,
    triton,
)

from tests.unit.apt_tree import Tree
from tests.unit.certificate import PEM
from tests.unit.plugins.plugin_utils.plans.test_cusparselt import ARCHIVE, INSTALLED, LOADER, OFFERED

ROLES = Path(__file__).parents[5] / "roles"
HOST: dict[str, t.Any] = {
    "kernel": {"machine": "aarch64"},
    "apt": {"packages": {"git": "1:2.43", "ca-certificates": "2024"}, "architecture": "arm64", "offers": {}},
    "apt_sources": [],
    "driver": {"nvidia_fs": None},
    "managed_files": {},
    "loader": {"libraries": {}},
}
URL = "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa"
SOURCE = {"archive": "/srv/source.tar.gz", "sha256": "a" * 64}
FOR_WHEELS: dict[str, t.Any] = {"stack": {"cuda": {"major": 13, "suffix": "13-0"}, "libraries": "wheels"}}
KEEP = "/etc/apt/apt.conf.d/52sparkforge-keep-dgx"


def settings(role: str, **changed: t.Any) -> dict[str, t.Any]:
    """Return the role's variables, not templated, and the other variables that its plan reads."""
    own = {}
    for part in ("defaults", "vars"):
        own.update(yaml.safe_load((ROLES / role / part / "main.yml").read_text()))
    return {**own, "stack": {"cuda": {"major": 13, "suffix": "13-0"}}, "ansible_check_mode": False, **changed}


def host(**changed: t.Any) -> dict[str, t.Any]:
    return {**copy.deepcopy(HOST), **changed}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_all_packages_are_requested_if_one_is_missing() -> None:
    installed = host(apt={"packages": {"libnccl2": "2.27.7-1+cuda13.0", "git": "1:2.43"}})
    requested = ["git", "libnccl2=*+cuda13.*", "cmake", "aa|git"]
    assert plans.packages(requested, installed) == plans.Plan({"packages": requested}, ["install cmake"])
    assert plans.packages(["git"], installed) == plans.Plan({}, [])
    with pytest.raises(SparkforgeError, match="name a package"):
        plans.packages(["--force"], installed)


def test_wheels_need_only_compiler_and_python_of_the_toolchain() -> None:
    standard = ["build-essential", "git", "cmake", "python3.12-dev", "python3.12-venv", "clang-20"]
    variables = settings("build_toolchain", __build_toolchain_standard=standard)
    assert build_toolchain.plan(variables, host()).steps == {"packages": standard}
    lacking = ["build-essential", "python3.12-dev", "python3.12-venv"]
    assert build_toolchain.plan({**variables, **FOR_WHEELS}, host()).steps == {"packages": lacking}
    extra = {**variables, **FOR_WHEELS, "build_toolchain_extra_packages": ["gdb"]}
    assert build_toolchain.plan(extra, host()).steps == {"packages": [*lacking, "gdb"]}
    replaced = build_toolchain.plan({**variables, "build_toolchain_packages": ["git"]}, host())
    assert replaced == plans.Plan({}, [])
    assert build_toolchain.plan({**variables, "build_toolchain_state": "absent"}, host()) == plans.Plan()


def test_wheels_need_only_requested_nvidia_packages() -> None:
    observed = host(driver={"nvidia_fs": "2.20"})
    variables = settings("cuda_libraries", __cuda_libraries_standard=["libcublas-dev-13-0"], **FOR_WHEELS)
    variables["__cuda_libraries_keep_file"] = KEEP
    assert cuda_libraries.plan(variables, observed) == plans.Plan()
    assert cusparselt.plan(settings("cusparselt", **FOR_WHEELS), observed) == plans.Plan()
    extra = cuda_libraries.plan({**variables, "cuda_libraries_extra_packages": ["cuda-gdb-13-0"]}, observed)
    assert extra.steps["libraries"]["packages"] == ["cuda-gdb-13-0"] and extra.steps["source"]


def test_image_headers_are_installed_only_for_torchvision() -> None:
    vision = extensions_plan(torch_extensions_names=["torchvision"])
    assert vision.reasons == ["install libpng-dev"] and vision.steps["packages"] == ["libpng-dev"]
    extension = extensions_plan(torch_extensions=[{"name": "mine", "source": SOURCE}])
    assert [unit["name"] for unit in extension.steps["units"]] == ["mine"] and list(extension.reasons) == []
    assert extensions_plan() == extensions_plan(torch_extensions_state="absent") == plans.Plan()


def test_cuda_code_needs_known_architectures() -> None:
    refused = extensions_plan(None, torch_extensions_names=["torchvision"])
    assert refused.steps == {}
    assert refused.as_result()["refused"].startswith("The profile generic")
    planned = extensions_plan(None, [{"compute_capability": "12.1"}], torch_extensions_names=["torchvision"])
    assert planned.steps["units"][0]["environment"]["TORCH_CUDA_ARCH_LIST"] == "12.1"
    assert extensions_plan(None, torch_extensions_names=["torchvision"], torch_extensions_cuda="false").steps["units"]


def test_every_variable_for_the_toolkit_names_the_stacks() -> None:
    # PyTorch's FindCUDA reads CUDA_PATH, not CUDA_HOME, as tests/integration/test_pytorch_cmake.py shows.
    for name in ("torchvision", "torchaudio", "flash_attention"):
        unit = extensions_plan(torch_extensions=[{"name": name, "source": SOURCE}]).steps["units"][0]
        assert [unit["environment"][key] for key in ("CUDA_HOME", "CUDA_PATH")] == ["/usr/local/cuda-13.0"] * 2
        assert unit["toolchain"]["nvcc"] == "/usr/local/cuda-13.0/bin/nvcc"
    [unit] = extensions_plan(torch_extensions_names=["torchvision"], torch_extensions_cuda=False).steps["units"]
    assert not {"CUDA_HOME", "CUDA_PATH"} & set(unit["environment"])


def extensions_plan(architectures: str | None = "12.0", devices: t.Any = (), **changed: t.Any) -> plans.Plan:
    stack = {
        "cuda": {"suffix": "13-0", "home": "/usr/local/cuda-13.0"},
        "profile": {"name": "generic", "architectures": architectures},
        "python": {"version": "3.12"},
        "versions": {"torch": "2.9.1", "torchvision": "0.24.1"},
        "units": {"torchvision": {"source": SOURCE}},
    }
    variables = {"torch_extensions_packages": ["libpng-dev"], "torch_extensions_names": [], "stack": stack, **changed}
    return torch_extensions.plan(settings("torch_extensions", **variables), host(gpu={"devices": list(devices)}))


def llvm_plan(**changed: t.Any) -> plans.Plan:
    stack = {"lock": {"sources": {"llvm": {"commit": "7d5de303" * 5}}}, "python": {"version": "3.12"}, "llvm_major": 20,
             "units": {"llvm": {"source": SOURCE}}}  # fmt: skip
    return llvm.plan(settings("llvm", **{"llvm_override": {}, "stack": stack, **changed}), host())


def test_llvm_is_pinned_or_overridden() -> None:
    assert llvm_plan().steps["units"][0]["toolchain"]["cc"] == "/usr/lib/llvm-20/bin/clang"
    other = {"repo": "https://user:secret@example.com/llvm.git", "version": "main"}
    plan = llvm_plan(llvm_override=other)
    assert plan.steps["override"].startswith("LLVM main from https://example.com/llvm.git in place of 7d5de303")
    assert "your own risk" in plan.notes[0] and "secret" not in plan.notes[0]
    assert llvm_plan(llvm_state="absent") == plans.Plan()


def triton_arguments(version: str, **unit: str) -> str:
    stack = {
        "cuda": {"suffix": "13-0", "home": "/usr/local/cuda-13.0"}, "python": {"version": "3.12"}, "llvm_major": 20,
        "versions": {"triton": version}, "units": {"triton": {"source": SOURCE}},
    }  # fmt: skip
    variables = settings("triton", stack=stack, triton_toolchain={}, triton_unit={"environment": unit})
    [unit_options] = triton.plan(variables, host()).steps["units"]
    return str(unit_options["environment"]["TRITON_APPEND_CMAKE_ARGS"])


def test_triton_3_8_compiles_its_sanitizer_with_the_stacks_clang() -> None:
    """The LLVM built for Triton has no clang, and CMake searches only there."""
    assert "GSAN" not in triton_arguments("3.7.1")
    for version in ("3.8.0", "3.10.0"):
        assert triton_arguments(version).endswith(" -DTRITON_GSAN_CLANGXX=/usr/lib/llvm-20/bin/clang++")


def test_arguments_of_cmake_for_triton_are_added_to_the_roles() -> None:
    added = triton_arguments("3.7.1", TRITON_APPEND_CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Debug")
    assert added == f"{triton_arguments('3.7.1')} -DCMAKE_BUILD_TYPE=Debug"


def cuda_plan(observation: dict[str, t.Any], **changed: t.Any) -> plans.Plan:
    variables = settings("cuda_libraries", __cuda_libraries_standard=["git"], __cuda_libraries_keep_file=KEEP)
    variables["__cuda_libraries_of_stack"] = {}
    return cuda_libraries.plan({**variables, **changed}, observation)


NCCL = {"nccl": {"packages": ["libnccl2", "libnccl-dev"], "suffix": "+cuda13.*"}}


def nccl_requests(*offered: str, installed: str = "") -> dict[str, str | None]:
    """Return the arguments for apt for a build with NCCL 2.30.7 if the sources offer these versions."""
    packages = {"libnccl2": installed} if installed else {}
    stack = {"cuda": {"major": 13, "suffix": "13-0"}, "method": "build", "nccl": {"version": "2.30.7"}}
    plan = cuda_plan(host(apt={"packages": packages}), __cuda_libraries_of_stack=NCCL, stack=stack)
    requests = [text for text in plan.steps["libraries"]["packages"] if text != "git"]
    origins = {version: ["https://a/"] for version in offered}
    policy = Policy(offered[0], [(version, 500) for version in offered], origins)
    policies = {"libnccl2": policy, "libnccl-dev": policy}
    return {text.partition("=")[0]: choose(text, policies).argument for text in missing(requests, packages)}


def test_a_build_takes_nccl_of_the_stacks_minor_or_else_the_newest() -> None:
    same_minor = nccl_requests("2.32.3-1+cuda13.3", "2.30.9-1+cuda13.2", "2.30.7-1+cuda13.2", "2.30.9-1+cuda12.9")
    assert same_minor == {name: f"{name}=2.30.9-1+cuda13.2" for name in ("libnccl2", "libnccl-dev")}
    newest = nccl_requests("2.32.3-1+cuda13.3", "2.31.1-1+cuda13.2", "2.30.4-1+cuda13.2")
    assert newest == {name: f"{name}=2.32.3-1+cuda13.3" for name in ("libnccl2", "libnccl-dev")}
    assert nccl_requests("2.30.4-1+cuda13.2") == {"libnccl2": None, "libnccl-dev": None}


def test_nccl_headers_match_a_newer_installed_library() -> None:
    offered = ("2.32.3-1+cuda13.3", "2.31.1-1+cuda13.2", "2.30.9-1+cuda13.2")
    assert nccl_requests(*offered, installed="2.31.1-1+cuda13.2") == {"libnccl-dev": "libnccl-dev=2.31.1-1+cuda13.2"}
    # The sources no longer have its version; the stack's minor would be a downgrade, which the role refuses.
    assert nccl_requests(*offered, installed="2.31.0-1+cuda13.2") == {"libnccl-dev": "libnccl-dev=2.32.3-1+cuda13.3"}
    for other in ("2.28.3-1+cuda13.0", "2.32.3-1+cuda12.9"):
        assert set(nccl_requests(*offered, installed=other).values()) == {
            "libnccl2=2.30.9-1+cuda13.2",
            "libnccl-dev=2.30.9-1+cuda13.2",
        }


def test_a_new_host_gets_source_guard_and_libraries() -> None:
    extra = {"cuda_libraries_extra_packages": ["cuda-nvcc-13-0"]}
    plan = cuda_plan(host(), **extra, cuda_libraries_keep=["^dgx-", "^nvidia-"])
    assert plan.steps["source"] == URL
    assert plan.steps["libraries"] == {"packages": ["git", "cuda-nvcc-13-0"], "allow": []}
    assert plan.steps["guard"].endswith('\nAPT::NeverAutoRemove\n{\n  "^dgx-";\n  "^nvidia-";\n};\n')
    assert plan.reasons[0].endswith(URL)
    assert list(plan.reasons[1:]) == [f"write {KEEP}", "install cuda-nvcc-13-0"]


@pytest.mark.parametrize(
    ("changed", "is_recognized"), [({}, True), ({"enabled": False}, False), ({"keyring_present": False}, False)]
)
def test_the_source_is_recognized_by_its_url(changed: dict[str, bool], is_recognized: bool) -> None:
    row = {"enabled": True, "keyring_present": True, "uris": [f"{URL}/"], **changed}
    guard = cuda_libraries.keep(settings("cuda_libraries")["cuda_libraries_keep"])
    plan = cuda_plan(host(apt_sources=[row], managed_files={KEEP: sha256(guard)}))
    assert plan.steps == ({} if is_recognized else {"source": URL})


@pytest.mark.parametrize(
    ("gds", "loaded", "is_installed"), [("auto", "2.24", True), ("auto", None, False), (True, None, True)]
)
def test_gpudirect_storage_needs_its_module_or_the_option(gds: t.Any, loaded: t.Any, is_installed: bool) -> None:
    libraries = cuda_plan(host(driver={"nvidia_fs": loaded}), cuda_libraries_gds=gds).steps.get("libraries")
    assert libraries == ({"packages": ["git", "nvidia-gds-13-0"], "allow": ["^nvidia-fs"]} if is_installed else None)


def test_absent_removes_only_existing_files_of_cuda_libraries() -> None:
    assert cuda_plan(host(), cuda_libraries_state="absent").steps == {"source": URL}
    guarded = cuda_plan(host(managed_files={KEEP: "0" * 64}), cuda_libraries_state="absent")
    assert guarded.steps == {"source": URL, "unguard": KEEP}


APT, KEPT = "/etc/apt/apt.conf.d/51sparkforge-proxy", "/etc/sparkforge-proxies.json"
CA = "/usr/local/share/ca-certificates/sparkforge.crt"


def network_plan(observation: dict[str, t.Any], proxies: t.Any = None, ca: str = "") -> plans.Plan:
    return network_access.plan({"sparkforge_proxies": proxies or {}, "sparkforge_ca_certificate": ca}, observation)


def test_a_host_without_proxies_and_ca_is_unchanged() -> None:
    assert network_plan(host()) == plans.Plan({}, [])


def test_a_proxys_password_is_only_in_the_steps() -> None:
    plan = network_plan(host(), {"http": "http://joe:hunter2@proxy.example.com:3128"})
    assert [row["path"] for row in plan.steps["write"]] == [APT, KEPT]
    assert {row["mode"] for row in plan.steps["write"]} == {"0600"}
    assert "hunter2" in str(plan.steps) and "hunter2" not in str((plan.reasons, plan.refusals, plan.notes))
    written = {row["path"]: sha256(row["content"]) for row in plan.steps["write"]}
    assert network_plan(host(managed_files=written), {"http": "http://joe:hunter2@proxy.example.com:3128"}).steps == {}


def test_unused_proxy_and_ca_files_are_removed() -> None:
    plan = network_plan(host(managed_files={APT: "0" * 64, KEPT: "0" * 64, CA: "0" * 64}))
    assert plan.steps == {"remove": [APT, KEPT], "distrust": CA}
    assert sorted(plan.reasons) == sorted(f"remove {path}" for path in (APT, KEPT, CA))


def test_a_ca_requires_the_package_ca_certificates(tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.write_text(PEM)
    plan = network_plan(host(apt={"packages": {}}), ca=str(certificate))
    assert plan.steps["ca_certificates"] is True and plan.steps["trust"]["path"] == CA
    assert list(plan.reasons) == ["install ca-certificates", f"write {CA}"]
    trusting = host(managed_files={CA: sha256(plan.steps["trust"]["content"])})
    assert network_plan(trusting, ca=str(certificate)).steps == {}


def test_network_faults_are_refused_together() -> None:
    plan = network_plan(host(), {"http": "x", "https": "y"}, "/nowhere/ca.pem")
    assert (plan.steps, len(plan.refusals)) == ({}, 3)
    assert len(plan.as_result()["refused"].splitlines()) == 3


PINNED = {"product": "cudss", "component": "libcudss", "release": "0.8.0", "version": "0.8.0.10",
          "sha256": {"linux-sbsa": "a" * 64}}  # fmt: skip


def archives_plan(rows: list[t.Any], **changed: t.Any) -> plans.Plan:
    variables = settings("math_libraries", math_libraries_prefix="/opt/sparkforge/redist", math_libraries_archives=rows)
    return math_libraries.plan({**variables, **changed}, host())


def test_a_missing_archive_is_installed_and_one_of_another_platform_is_named() -> None:
    other = {**PINNED, "component": "nvpl", "sha256": {"linux-x86_64": "b" * 64}}
    plan = archives_plan([PINNED, other])
    assert plan.steps["archives"]["platform"] == "linux-sbsa"
    assert [row["component"] for row in plan.steps["archives"]["rows"]] == ["libcudss"]
    assert list(plan.reasons) == ["install libcudss 0.8.0.10"]
    assert list(plan.notes) == ["NVIDIA has no nvpl for linux-sbsa: skipped."]


def test_files_of_installed_archives_are_compared_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"component": "libcudss", "release": "0.8.0"}
    selected = {"archives": [row], "lacking": [], "without_platform": [], "unpinned": [], "platform": "linux-sbsa"}
    monkeypatch.setattr(math_libraries.archives, "select", lambda *_arguments: selected)
    assert archives_plan([PINNED]).steps == {}
    assert archives_plan([PINNED], math_libraries_check_files="true").steps["archives"]["rows"] == [row]


def test_an_archive_without_a_sha256_stops_the_plan() -> None:
    plan = archives_plan([PINNED, {**PINNED, "component": "nvpl", "sha256": {"linux-sbsa": ""}}])
    assert plan.steps == {} and "No sha256 is known for nvpl 0.8.0.10 (linux-sbsa)." in plan.as_result()["refused"]


def test_archives_are_removed_by_component() -> None:
    plan = archives_plan([PINNED], math_libraries_state="absent")
    assert plan.steps["archives"]["rows"] == [{"component": "libcudss"}]


REDIST = "/etc/ld.so.conf.d/sparkforge-libcusparse_lt.conf"
NOT_OFFERED: dict[str, list[str]] = {name: [] for name in OFFERED}


def sparse_plan(packages: t.Any = None, offers: t.Any = None, files: t.Any = None, **changed: t.Any) -> plans.Plan:
    variables = settings(
        "cusparselt",
        __cusparselt_loader_file=LOADER,
        __cusparselt_redist_component="libcusparse_lt",
        stack={
            "cuda": {"major": 13},
            "cusparselt": {"version": "0.8.1", "soname": "libcusparseLt.so.0", "archive": ARCHIVE},
        },
        **changed,
    )
    apt = {"packages": packages or {}, "architecture": "arm64", "offers": offers or {}}
    return cusparselt.plan(variables, host(apt=apt, managed_files=files or {}))


def test_apt_is_queried_before_cusparselt_is_decided() -> None:
    plan = sparse_plan()
    assert list(plan.steps) == ["ask"]
    assert [reason.partition(",")[0] for reason in plan.reasons] == ["install cuSPARSELt 0.8.1"]


def test_cusparselt_from_apt_replaces_its_archive() -> None:
    plan = sparse_plan(offers=OFFERED, files={REDIST: "0" * 64})
    assert list(plan.steps) == ["packages", "archive_absent", "loader"]
    assert plan.steps["loader"] == "/usr/lib/aarch64-linux-gnu/libcusparseLt/13\n"
    assert len(plan.notes) == 1 and plan.notes[0].startswith("cuSPARSELt 0.8.1 from apt: ")


def test_installed_cusparselt_needs_nothing() -> None:
    files = {LOADER: sha256("/usr/lib/aarch64-linux-gnu/libcusparseLt/13\n")}
    assert sparse_plan(INSTALLED, files=files).steps == {}


def test_local_repository_of_cusparselt_comes_from_nvidia_or_the_configured_url() -> None:
    plan = sparse_plan(offers=NOT_OFFERED, cusparselt_local_repo_sha256="ab" * 32)
    deb = "cusparselt-local-repo-ubuntu2404-0.8.1_0.8.1-1_arm64.deb"
    base = "https://developer.download.nvidia.com/compute/cusparselt/0.8.1/local_installers"
    assert plan.steps["local_repo"] == {"version": "0.8.1", "url": f"{base}/{deb}"}
    options = {"cusparselt_local_repo_sha256": "ab" * 32, "cusparselt_local_repo_url": "https://example.com/a.deb"}
    configured = sparse_plan(offers=NOT_OFFERED, **options)
    assert configured.steps["local_repo"]["url"] == "https://example.com/a.deb"


def test_the_archive_of_cusparselt_replaces_its_packages_and_local_repository() -> None:
    repository = {"cusparselt-local-repo-ubuntu2404-0.8.1": "0.8.1-1"}
    plan = sparse_plan(repository, files={LOADER: "0" * 64}, cusparselt_backends=["redist"])
    assert list(plan.steps) == ["archive", "packages_absent", "local_repo_absent"]
    assert plan.steps["archive"]["archive"]["sha256"] == "d3" * 32
    assert plan.steps["local_repo_absent"] == {"keep_foreign": True}
    assert len(plan.reasons) == 4 and f"remove {LOADER}" in plan.reasons


def test_a_version_without_a_backend_is_refused_except_in_check_mode() -> None:
    changed = {"cusparselt_backends": ["apt"], "cusparselt_version": "0.8.0"}
    with pytest.raises(SparkforgeError, match=r"cuSPARSELt 0\.8\.0"):
        sparse_plan(offers=NOT_OFFERED, **changed)
    checked = sparse_plan(offers=NOT_OFFERED, **changed, ansible_check_mode=True)
    assert checked.steps == {} and "no backend can" in checked.notes[0]
    assert sparse_plan(cusparselt_state="absent") == plans.Plan()


def test_apt_installs_a_minor_that_is_not_its_candidate_with_its_dependencies(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    for version in ("9.28.1.4-1", "9.24.0.43-1"):
        parts = ("libcudnn9-cuda-13", "libcudnn9-headers-cuda-13")
        for name in parts:
            tree.offer(name, version)
        tree.offer("libcudnn9-dev-cuda-13", version, Depends=[f"{name} (= {version})" for name in parts])
    tree.update()
    libraries = yaml.safe_load((ROLES / "cuda_libraries/vars/main.yml").read_text())["__cuda_libraries_of_stack"]
    names = [name.replace("{{ stack.cuda.major }}", "13") for name in libraries["cudnn"]["packages"]]
    stack = {"cuda": {"major": 13, "suffix": "13-0"}, "method": "build", "cudnn": {"version": "9.24"}}
    rows = {"cudnn": {"packages": names, "suffix": ""}}
    requests = cuda_plan(host(), __cuda_libraries_of_stack=rows, stack=stack).steps["libraries"]["packages"][1:]
    policies = tree.apt.policies(names)
    plan = tree.apt.simulate("install", *(str(choose(text, policies).argument) for text in requests))
    assert {step.name: step.version for step in plan.install} == dict.fromkeys(names, "9.24.0.43-1")
