import dataclasses
import json
import platform
import re
import shutil
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils.elf_writer import elf_bytes
from sparkforge_proof._shared.module_utils._wheel import environment as recorded, installed as packages
from sparkforge_proof.check import Context, Failed, Skipped
from sparkforge_proof.checks.stack import identity, origins, provenance, runtime

from lab.stand_ins import write_wheel
from proof.tests.unit import wheels


def installed(**versions: str) -> dict[str, packages.Distribution]:
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    return {name: packages.Distribution(name, version, "/s", "/s/x.dist-info") for name, version in names.items()}


@pytest.mark.parametrize(
    ("onednn", "acl", "flags", "cause", "blocks"),
    [
        (False, False, {"USE_MKLDNN": "1"}, "without oneDNN and Arm's Compute Library, although the unit", True),
        (True, False, {"USE_MKLDNN": "1", "USE_MKLDNN_ACL": "ON"}, "without Arm's Compute Library, although", True),
        (True, False, {"USE_MKLDNN": "1"}, "is built without Arm's Compute Library: ", False),
        (False, False, {"USE_MKLDNN": "0"}, "is built without oneDNN", False),
        (False, False, {}, "is built without oneDNN", False),
    ],
)
def test_missing_onednn(onednn: bool, acl: bool, flags: dict[str, str], cause: str, blocks: bool) -> None:
    problem = identity.onednn_problem({"oneDNN": onednn, "Arm's Compute Library": acl}, flags, "2.9.1")
    assert problem is not None
    assert cause in problem.cause and "pytorch_compute_library" in problem.remedy
    assert problem.blocks is blocks
    assert identity.onednn_problem({"oneDNN": True, "Arm's Compute Library": True}, flags, "2.9.1") is None


def test_missing_companion_of_receipt_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "import_error", lambda name: f"No module named '{name}'" if name != "torch" else None)
    monkeypatch.setattr(identity, "is_installed", lambda name: name == "torch")
    monkeypatch.setitem(sys.modules, "torch", type("Torch", (), {"__version__": "2.9.1"}))
    context = Context(device="cpu", reference={"receipt": {"packages": {"torch": "2.9.1", "torchaudio": "2.9.1"}}})
    with pytest.raises(Failed, match="import torchaudio fails") as failed:
        identity.imports(context)
    assert "deploy.yml" in failed.value.remedy
    assert identity.imports(Context(device="cpu")).measured == "torch 2.9.1"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Path]:
    """A directory on the path for test modules, which are unloaded after the test."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def write_module(directory: Path, name: str, text: str = "", **files: bytes) -> None:
    (directory / name).mkdir()
    (directory / name / "__init__.py").write_text(text)
    for file, content in files.items():
        (directory / name / f"{file}.so").write_bytes(content)


def test_bare_directory_is_not_a_module(modules: Path) -> None:
    write_module(modules, "sound_module")
    (modules / "bare_directory").mkdir()
    assert identity.is_installed("sound_module")
    assert identity.import_error("sound_module") is None
    assert not identity.is_installed("bare_directory")
    assert not identity.is_installed("absent_module")


def test_swallowed_loader_error_is_reported(modules: Path) -> None:
    """As with torchvision, the extension fails to load without a message, and an operator is missing later."""
    library = elf_bytes(soname="_C.so", needed=["libc10_nowhere.so"], machine=_machine())
    text = "raise RuntimeError('operator torchvision::nms does not exist')"
    write_module(modules, "vision_like", text, _C=library)
    assert "libc10_nowhere.so: cannot open shared object file" in str(identity.import_error("vision_like"))


def test_unloaded_compiled_code_is_an_error(modules: Path) -> None:
    write_module(modules, "silent_like", "from . import extension\n")
    (modules / "silent_like/extension.py").write_text("def _has_ops():\n    return False\n")
    assert "was not loaded" in (identity.import_error("silent_like") or "")


def _machine() -> int:
    """Return this machine's number in ELF headers."""
    return {"x86_64": 62, "aarch64": 183}[platform.machine()]


def _redist() -> str:
    """Return NVIDIA's name for this machine's archives."""
    return {"x86_64": "linux-x86_64", "aarch64": "linux-sbsa"}[platform.machine()]


@pytest.mark.parametrize(
    ("error", "cause", "remedy"),
    [
        (
            "ImportError: /e/torchaudio/lib/_torchaudio.so: undefined symbol: _ZN3c1017RegisterOperatorsD1Ev",
            "was built against a different PyTorch",
            "from source against this torch",
        ),
        ("RuntimeError: operator torchvision::nms does not exist", "torchvision does not fit", "torch_extensions"),
        ("RuntimeError: something\nelse", "import torch fails: RuntimeError: something else.", "playbooks/deploy.yml"),
    ],
)
def test_failed_import_has_cause_and_remedy(error: str, cause: str, remedy: str) -> None:
    explained = identity.explain("torch", error)
    assert cause in explained[0]
    assert remedy in explained[1]


def test_remedy_does_not_remove_system_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert identity.reinstall().startswith("Run playbooks/deploy.yml")
    (tmp_path / "pyvenv.cfg").write_text("")
    assert identity.reinstall().startswith(f"Remove {tmp_path.resolve()} and run playbooks/deploy.yml")


def test_local_part_of_version_is_ignored(tmp_path: Path) -> None:
    distributions = installed(torch="2.15.0+cu132", triton="3.9.0", torchvision="0.29.2", flash_attn="2.8.3.post1")
    reference = {
        "root": str(tmp_path),
        "versions": {"torch": "2.15.0", "triton": "3.9.0", "torchaudio": "2.11.0", "flash_attn": "2.8.3.post1"},
        "receipt": {"packages": {"torch": "2.15.0+cu132", "Flash_Attn": "2.8.3.post1", "numpy": "1"}},
    }
    assert identity.version_problems(distributions, reference) == []


def test_requirement_overridden_by_stack_is_ignored() -> None:
    distributions = {
        name: packages.Distribution(name, version, "/", "/", requires)
        for name, version, requires in (
            ("torch", "2.13.0", ("nvidia-cudnn-cu13==9.20.0.48", "triton==3.7.1")),
            ("nvidia-cudnn-cu13", "9.24.0.43", ()),
            ("triton", "3.7.0", ()),
        )
    }
    (problem,) = identity.unsatisfied(distributions, ["nvidia_cudnn_cu13"])
    assert problem == "torch 2.13.0 requires triton ==3.7.1, but 3.7.0 is installed"
    assert len(identity.unsatisfied(distributions, [])) == 2


def test_versions_differing_from_stack_or_receipt(tmp_path: Path) -> None:
    distributions = installed(torch="2.14.1", pytorch_triton="3.8.0", nvidia_cublas="13.1")
    reference = {
        "root": str(tmp_path),
        "versions": {"torch": "2.15.0", "triton": "3.9.0"},
        "receipt": {"packages": {"torch": "2.15.0", "nvidia-cublas": "13.2", "nvidia-nccl-cu13": "2.30.7"}},
    }
    problems = identity.version_problems(distributions, reference)
    for problem, (actual, expected) in zip(problems, [
        ("torch 2.14.1 ", "stack says 2.15.0"),
        ("pytorch-triton 3.8.0 ", "stack says 3.9.0"),
        ("torch 2.14.1 ", "receipt says torch 2.15.0"),
        ("nvidia-cublas 13.1 ", "receipt says nvidia-cublas 13.2"),
        ("no nvidia-nccl-cu13 ", "receipt says nvidia-nccl-cu13 2.30.7"),
    ], strict=True):  # fmt: skip
        assert problem.startswith(actual) and problem.endswith(expected)
    assert len(identity.version_problems({}, {"versions": {"torch": "2.15.0"}})) == 1


def test_shadowed_distribution() -> None:
    torch = installed(torch="2.15.0")
    assert identity.shadowing_problems({"torch": "2.15.0+cu132"}, torch) == []
    (problem,) = identity.shadowing_problems({"torch": "2.9.1+cu130"}, torch)
    assert problem == "torch reports 2.9.1+cu130, but 2.15.0 is installed"
    assert len(identity.shadowing_problems({"torch": "2.9.1"}, {})) == 1


@pytest.mark.parametrize(
    ("cuda", "version", "gpu_required", "problem"),
    [
        ("13.2", "13.0", True, ""),
        ("13.0", "13.0", True, ""),
        ("13.0", None, True, ""),
        (None, "cpu", True, ""),
        ("13.0", "cpu", False, ""),
        ("13.0", "cpu", True, "torchvision .* CPU build, .* with CUDA 13.0"),
        ("13.0", "12.8", True, "torchvision .* CUDA 12.8, .* CUDA 13.0"),
        (None, "13.0", False, "torchvision .* CUDA 13.0, .* a CPU build"),
    ],
)
def test_cuda_of_companion(cuda: str | None, version: str | None, gpu_required: bool, problem: str) -> None:
    problems = identity.cuda_problems(cuda, {"torchvision": version}, gpu_required)
    assert len(problems) == bool(problem) and all(re.fullmatch(problem, text) for text in problems)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root directory with a unit's wheel, and an environment into which pip installed it."""
    root = tmp_path_factory.mktemp("template")
    artefact = root / "wheelhouse/ubuntu24.04-x86_64/pytorch/0123456789abcdef"
    artefact.mkdir(parents=True)
    files = {"torch/__init__.py": b"", "torch/lib/x.so": b"x"}
    wheel = write_wheel(artefact, "torch", "2.9.1+cu130.sf0a1b2c3d", files)
    wheels.install(root / "envs/torch/lock/site-packages", wheel)
    return root


@pytest.fixture
def reference(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, t.Any]:
    """A reference to a current environment that was installed from one of a unit's wheels, with its receipts."""
    shutil.copytree(template, tmp_path / "root")
    (wheel,) = tmp_path.glob("root/wheelhouse/*/pytorch/*/*.whl")
    artefact, environment = wheel.parent, tmp_path / "root/envs/torch/lock"
    digest = packages.sha256_of(str(wheel))
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "path", [str(environment / "site-packages")])
    line = f"torch==2.9.1+cu130.sf0a1b2c3d --hash=sha256:{digest}"
    receipt = {
        "schema": recorded.SCHEMA,
        "environment_id": "5d41402abc4b",
        "fingerprint": recorded.fingerprint((3, 12), "x86_64", [line], []),
        "python": {"path": "/usr/bin/python3.12", "version": "3.12"},
        "machine": "x86_64",
        "requirements": [line],
        "wheels": [],
        "packages": {"torch": "2.9.1+cu130.sf0a1b2c3d"},
        "modules": {"torch": {"version": "2.9.1+cu130.sf0a1b2c3d"}},
        "paths": {"environment": str(environment)},
    }
    (environment / "receipt.json").write_text(
        json.dumps({key: value for key, value in receipt.items() if key != "paths"})
    )
    output = {"path": wheel.name, "name": "torch", "version": "2.9.1+cu130.sf0a1b2c3d", "sha256": digest}
    units = {"pytorch": {"installed": True, "intact": True, "outputs": [output], "artefact": str(artefact)}}
    root = str(tmp_path / "root")
    return {"root": root, "environment": "torch", "method": "build", "receipt": receipt, "units": units}


def judge(reference: dict[str, t.Any]) -> str:
    """Return the cause of the check's failure, or '' if it passes."""
    try:
        provenance.wheels(Context(device="cpu", reference=reference))
    except Failed as failed:
        assert failed.remedy
        return failed.cause
    return ""


def test_unchanged_environment_agrees_with_receipts(reference: dict[str, t.Any]) -> None:
    measured = provenance.wheels(Context(device="cpu", reference=reference)).measured
    assert measured.startswith("1 pins, 1 wheels")


def test_check_without_receipt_is_skipped(reference: dict[str, t.Any]) -> None:
    with pytest.raises(Skipped, match="no receipt"):
        provenance.wheels(Context(device="cpu", reference={**reference, "receipt": None}))


def test_receipt_of_other_environment_is_ignored(reference: dict[str, t.Any], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert identity.receipt_of(reference, str(tmp_path / "other")) is None
    assert identity.receipt_of(reference) == reference["receipt"]
    (tmp_path / "root/envs/torch/current").symlink_to("lock")
    receipt = {**reference["receipt"], "paths": {"environment": str(tmp_path / "gone")}}
    assert identity.receipt_of({**reference, "receipt": receipt}) == receipt


def test_edited_pin_changes_fingerprint(reference: dict[str, t.Any]) -> None:
    reference["receipt"]["requirements"] = [f"torch==2.9.1+cu130.sf0a1b2c3d --hash=sha256:{'b' * 64}"]
    reference["units"]["pytorch"]["installed"] = False
    cause = judge(reference)
    assert "has the fingerprint" in cause
    assert "was changed after" in cause
    assert "but the unit pytorch built torch-2.9.1" in cause
    assert "with the sha256 bbbbbbbbbbbb" in cause


def test_sent_wheel_has_fingerprint_of_fetched_wheel(reference: dict[str, t.Any]) -> None:
    (line,) = reference["receipt"]["requirements"]
    sent = {"file": "torch-2.9.1+cu130.sf0a1b2c3d-cp312-cp312-linux_x86_64.whl", "sha256": line.rpartition(":")[2]}
    receipt = {**reference["receipt"], "wheels": [sent]}
    assert provenance.receipt_problems(receipt, "/nowhere") == []
    other = {**receipt, "wheels": [{**sent, "sha256": "c" * 64}]}
    assert "was changed after" in " ".join(provenance.receipt_problems(other, "/nowhere"))


def test_edited_receipt_differs_from_copy(reference: dict[str, t.Any]) -> None:
    reference["receipt"]["modules"]["torch"] = {"version": "2.15.0"}
    assert "differ in modules" in judge(reference)
    line = f"torch==2.9.1+cu130.sf0a1b2c3d --hash=sha256:{'b' * 64}"
    reference["receipt"].update(requirements=[line], fingerprint=recorded.fingerprint((3, 12), "x86_64", [line], []))
    assert "differ in fingerprint" in judge(reference)


def test_changed_unit_receipt_fails(reference: dict[str, t.Any]) -> None:
    reference["units"]["pytorch"]["intact"] = False
    assert "unit pytorch was changed" in judge(reference)


def test_changed_wheel_has_another_sha256(reference: dict[str, t.Any]) -> None:
    path = Path(reference["units"]["pytorch"]["artefact"]) / reference["units"]["pytorch"]["outputs"][0]["path"]
    with path.open("ab") as stream:
        stream.write(b"x")
    assert f"{path} has the sha256" in judge(reference)


def test_other_wheel_of_same_version_installed(reference: dict[str, t.Any], tmp_path: Path) -> None:
    site = Path(sys.prefix) / "site-packages"
    shutil.rmtree(site)
    other = write_wheel(tmp_path, "torch", "2.9.1+cu130.sf0a1b2c3d", {"torch/__init__.py": b"", "torch/lib/x.so": b"y"})
    wheels.install(site, other)
    cause = judge(reference)
    assert cause.startswith("Torch was not")
    assert "torch/lib/x.so differ" in cause
    assert provenance.files(Context(device="cpu", reference=reference)).measured


def test_official_wheel_is_not_compared_with_built_wheel(reference: dict[str, t.Any]) -> None:
    output = {**reference["units"]["pytorch"]["outputs"][0], "sha256": "c" * 64}
    reference["units"]["pytorch"].update(installed=False, outputs=[output])
    assert "but the unit pytorch built" in judge(reference)
    assert judge({**reference, "method": "wheel"}) == ""


def test_wheel_in_store_is_compared(reference: dict[str, t.Any]) -> None:
    source = Path(reference["units"]["pytorch"]["artefact"]) / reference["units"]["pytorch"]["outputs"][0]["path"]
    digest = packages.sha256_of(str(source))
    store = Path(reference["root"]) / "wheels" / digest
    store.mkdir(parents=True)
    shutil.copy(source, store)
    receipt = {"wheels": [{"file": source.name, "sha256": digest}]}
    (stored,) = provenance.available_wheels(receipt, {}, reference["root"])
    assert provenance.artefact_problems(stored, packages.distributions()) == []
    (store / source.name).write_bytes(b"no wheel")
    damaged = dataclasses.replace(stored, sha256=packages.sha256_of(stored.path))
    assert "is not a complete wheel" in provenance.artefact_problems(damaged, packages.distributions())[0]


def test_link_outside_activated_paths_fails(reference: dict[str, t.Any]) -> None:
    cuda = "/usr/local/cuda-13.0"
    variables = {"TRITON_PTXAS_PATH": f"{cuda}/bin/ptxas", "TRITON_CUDART_PATH": f"{cuda}/include"}
    receipt = {**reference["receipt"], "environment": variables}
    context = Context(device="cpu", reference={**reference, "receipt": receipt})
    library = Path(sys.prefix) / "site-packages/torch/lib"
    (library / "ptxas").symlink_to("/usr/local/cuda-13.0/bin/ptxas")
    (library / "cuda.h").symlink_to("/usr/local/cuda-13.0/include/cuda.h")
    assert provenance.files(context).measured
    (library / "nvdisasm").symlink_to("/tmp/nvdisasm")
    with pytest.raises(Failed) as failed:
        provenance.files(context)
    assert failed.value.cause.endswith("no wheel: torch/lib/nvdisasm.")


def test_changed_and_added_files_are_named(reference: dict[str, t.Any]) -> None:
    context = Context(device="cpu", reference=reference)
    assert provenance.files(context).measured.endswith("files, 0.0 GB")
    site = Path(sys.prefix) / "site-packages"
    (site / "torch/lib/x.so").write_bytes(b"y")
    (site / "torch/lib/libstray.so").write_bytes(b"y")
    with pytest.raises(Failed) as failed:
        provenance.files(context)
    changed, added = failed.value.cause.split(";")
    assert "changed" in changed and changed.endswith("torch/lib/x.so")
    assert "no wheel" in added and added.endswith("torch/lib/libstray.so.")
    (site / "torch/lib/libstray.so").unlink()
    for number in range(9):
        (site / f"torch/extra{number}.py").write_text("")
    with pytest.raises(Failed, match=r"extra4\.py and 4 more"):
        provenance.files(Context(device="cpu", reference=reference))


def test_missing_record_fails_only_with_receipt(reference: dict[str, t.Any]) -> None:
    next((Path(sys.prefix) / "site-packages").glob("torch-*.dist-info/RECORD")).unlink()
    with pytest.raises(Failed, match="RECORD for torch"):
        provenance.files(Context(device="cpu", reference=reference))
    with pytest.raises(Skipped):
        provenance.files(Context(device="cpu", reference={}))


def test_environment_without_torch_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(Skipped):
        provenance.files(Context(device="cpu"))


def test_library_that_does_not_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opener = origins.Library("/usr/lib/x/libcudnn_graph.so.9", "libcudnn_graph.so.9", None)
    name = "libcudnn_engines_nowhere.so.9"
    opened, problems = runtime.open_all([origins.Opening("libc.so.6", opener), origins.Opening(name, opener)])
    assert opened == ["libc.so.6"]
    (problem,) = problems
    assert problem.cause.startswith(f"{name}, which libcudnn_graph.so.9 ") and problem.cause.count(name) == 2
    assert problem.remedy("13.0") == (
        "Run the role cuda_libraries, which installs the package libcudnn9-cuda-13 or the archive"
        f" cudnn/redist/cudnn/{_redist()}."
    )
    assert not problem.is_driver
    wheel = write_wheel(tmp_path, "nvidia_cudnn_cu13", "9.26.0", {"nvidia/cudnn/lib/libcudnn.so.9": b"x"})
    monkeypatch.setattr(sys, "path", [str(wheels.install(tmp_path / "site-packages", wheel))])
    assert "playbooks/deploy.yml" in problem.remedy("13.0")


def test_missing_driver_library_is_the_driver() -> None:
    opening = origins.Opening("libcaffe2_nvrtc.so", origins.Library("/t/libtorch_cuda.so", None, None))
    problem = runtime.Unopened(opening, "libcuda.so.1: no file", "libcuda.so.1")
    assert problem.is_driver
    assert "NVIDIA describes" in problem.remedy(None)
