import hashlib
import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import installed as packages, metadata

from lab.stand_ins import write_wheel
from proof.tests.unit import wheels

FILES = {
    "torch/__init__.py": b"__version__ = '2.15.0+cu132'\n",
    "torch/nn/functional.py": b"def relu(x):\n    return x\n",
    "torch/lib/libtorch.so": b"\x7fELF" + bytes(5 << 20),
    "functorch/__init__.py": b"",
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three wheels, and a site-packages directory in which two of them share a directory."""
    directory = tmp_path_factory.mktemp("pristine")
    torch = write_wheel(directory, "torch", "2.15.0", FILES, ["triton~=3.9.0; platform_system == 'Linux'"])
    cublas = write_wheel(directory, "nvidia_cublas", "13.1.0", {"nvidia/cu13/lib/libcublas.so.13": b"cublas"})
    nccl = write_wheel(directory, "nvidia_nccl_cu13", "2.30.7", {"nvidia/nccl/lib/libnccl.so.2": b"nccl"})
    wheels.install(directory / "site-packages", torch, cublas, nccl)
    return directory


@pytest.fixture
def site(pristine: Path, tmp_path: Path) -> Path:
    shutil.copytree(pristine / "site-packages", tmp_path / "site-packages")
    return tmp_path / "site-packages"


def compare(site: Path, *names: str) -> packages.Files:
    distributions = packages.distributions([str(site)])
    return packages.compare([distributions[name] for name in names or distributions], distributions.values())


def test_installed_distributions_have_version_and_requirements(site: Path) -> None:
    distributions = packages.distributions(["/nonexistent", str(site)])
    versions = {name: distribution.version for name, distribution in distributions.items()}
    assert versions == {"torch": "2.15.0", "nvidia-cublas": "13.1.0", "nvidia-nccl-cu13": "2.30.7"}
    assert distributions["torch"].requires == ("triton~=3.9.0; platform_system == 'Linux'",)


def test_first_distribution_on_the_path_is_used(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "first/torch-2.9.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Name: torch\nVersion: 2.9.1\n\nVersion: none, for this is the text\n")
    assert packages.distributions([str(other.parent), str(site)])["torch"].version == "2.9.1"


def test_distribution_without_metadata_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "torch-2.9.1.dist-info").mkdir()
    assert packages.distributions([str(tmp_path)])["torch"].version == ""


def test_untouched_files_match_record(site: Path) -> None:
    files = compare(site)
    assert (files.missing, files.changed, files.unknown, files.unrecorded) == ([], [], [], [])
    assert files.count > len(FILES)
    assert files.size > 5 << 20
    assert list(site.rglob("*.pyc")), "the bytecode that pip wrote must not count"


def test_changed_and_missing_files_are_named(site: Path) -> None:
    library = site / "torch/lib/libtorch.so"
    with library.open("r+b") as stream:
        stream.seek(4 << 20)
        stream.write(b"x")
    (site / "torch/nn/functional.py").write_text("def relu(x):\n    return 0 * x\n")
    (site / "functorch/__init__.py").unlink()
    files = compare(site)
    assert files.changed == ["torch/lib/libtorch.so", "torch/nn/functional.py"]
    assert files.missing == ["functorch/__init__.py"]
    assert files.unknown == []


def test_added_files_except_bytecode_are_named(site: Path) -> None:
    added = ["nvidia/cu13/lib/libcublas.so.12", "torch/lib/libcudss.so.0", "torch/nn/sitecustomize.py"]
    for path in [*added, "torch/nn/__pycache__/other.pyc", "unrelated.py"]:
        (site / path).write_bytes(b"x")
    assert compare(site).unknown == added


def test_shared_directory_may_hold_files_of_each_distribution(site: Path) -> None:
    assert compare(site, "nvidia-cublas").unknown == []
    shutil.rmtree(site / "nvidia_nccl_cu13-2.30.7.dist-info")
    assert compare(site, "nvidia-cublas").unknown == ["nvidia/nccl/lib/libnccl.so.2"]


def test_distribution_without_record_is_named(site: Path) -> None:
    (site / "torch-2.15.0.dist-info/RECORD").unlink()
    assert compare(site, "torch").unrecorded == ["torch"]


@pytest.mark.parametrize("line", ["torch/x.py,md6=abc,1", "torch/x.py,sha256=%%%,", 'torch/"x.py,sha256=', "\0"])
def test_damaged_line_of_record(site: Path, line: str) -> None:
    (site / "torch/x.py").write_text("")
    with (site / "torch-2.15.0.dist-info/RECORD").open("a") as stream:
        stream.write(f"{line}\n")
    files = compare(site, "torch")
    assert {*files.changed, *files.unknown} == {"torch/x.py"}


@pytest.mark.parametrize(
    "content",
    [b"a.py,sha256=YQ,1\n" * 20, b'"' + b"a" * 200_000 + b'",sha256=YQ,1\n', b"a\xff.py,sha256=YQ,1\n"],
    ids=["too many", "long field", "not text"],
)
def test_invalid_record_is_ignored(site: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(packages, "_FILES_LIMIT", 10)
    (site / "torch-2.15.0.dist-info/RECORD").write_bytes(content)
    assert packages.record(packages.distributions([str(site)])["torch"]) is None
    assert compare(site, "torch").unrecorded == ["torch"]


@pytest.mark.parametrize("kind", ["pipe", "zero", "large"])
@pytest.mark.parametrize("name", ["METADATA", "RECORD"])
def test_only_regular_files_of_limited_size_are_read(site: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str):
    monkeypatch.setattr(packages, "RECORD_LIMIT", 4096)
    monkeypatch.setattr(metadata, "LIMIT", 4096)
    path = site / "torch-2.15.0.dist-info" / name
    text = path.read_text()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        path.write_text(text + "x" * 4096)
    torch = packages.distributions([str(site)])["torch"]
    assert (torch.version == "", packages.record(torch) is None) == (name == "METADATA", name == "RECORD")


def test_recorded_pipe_and_unknown_digest_count_as_changed(site: Path) -> None:
    os.mkfifo(site / "torch/pipe")
    (site / "torch/x.py").write_text("")
    with (site / "torch-2.15.0.dist-info/RECORD").open("a") as stream:
        stream.write("torch/pipe,sha256=YQ,\ntorch/x.py,shake_128=YQ,\n")
    assert compare(site, "torch").changed == ["torch/pipe", "torch/x.py"]


def test_requirement_with_many_blanks_is_read_quickly() -> None:
    assert packages.requirements(distribution("a", "1", f"b{' ' * 100_000}(({' ' * 100_000}")) == {}


def test_metadata_with_licence_of_several_lines() -> None:
    text = "Name: a\nLicense: MIT\n  with: words\n\twithout\nversion: 1\nRequires-Dist: b\n\nRequires-Dist: c\n"
    assert metadata.read(text.encode()) == ("a", "1", ("b",))


@pytest.mark.parametrize("content", [b"text", b"PK\x05\x06" + bytes(18)])
def test_damaged_wheel_is_refused_with_remedy(site: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.whl").write_bytes(content)
    torch = packages.distributions([str(site)])["torch"]
    if content.startswith(b"PK"):
        assert packages.differing(str(tmp_path / "x.whl"), torch) is None
        return
    with pytest.raises(SparkforgeError, match="a complete wheel") as raised:
        packages.differing(str(tmp_path / "x.whl"), torch)
    assert raised.value.remedy


def test_installed_files_differ_from_another_wheel(pristine: Path, site: Path, tmp_path: Path) -> None:
    torch = packages.distributions([str(site)])["torch"]
    assert packages.differing(str(pristine / "torch-2.15.0-py3-none-any.whl"), torch) == []
    changed = {**FILES, "torch/__init__.py": b"__version__ = '2.15.0+cpu'\n"}
    requires = ["triton~=3.9.0; platform_system == 'Linux'"]
    other = write_wheel(tmp_path, "torch", "2.15.0", changed, requires)
    assert packages.differing(str(other), torch) == ["torch/__init__.py"]


def test_sha256_of_file(tmp_path: Path) -> None:
    content = os.urandom((3 << 20) + 17)
    (tmp_path / "x").write_bytes(content)
    assert packages.sha256_of(str(tmp_path / "x")) == hashlib.sha256(content).hexdigest()


def distribution(name: str, version: str, *requires: str) -> packages.Distribution:
    return packages.Distribution(name, version, "/s", "/s/x.dist-info", requires)


def test_unsatisfied_requirement_is_described() -> None:
    vision = distribution("torchvision", "0.26.0", "numpy", "torch (==2.11.0)", "gdown (>=4.7.3) ; extra == 'gdown'")
    versions = {"torch": "2.15.0", "gdown": "1.0", "numpy": "2.0"}
    problem = "torchvision 0.26.0 requires torch ==2.11.0, but 2.15.0 is installed"
    assert packages.unsatisfied(vision, {name: distribution(name, versions[name]) for name in versions}) == [problem]
    assert packages.unsatisfied(vision, {"torch": distribution("torch", "2.11.0+cu130")}) == []


def test_requirement_with_alternatives() -> None:
    triton = ["triton==3.9.0; platform_machine == 'x86_64'", "triton==3.9.1; platform_machine == 'aarch64'"]
    cuda = "cuda-toolkit[cublas,cudart]==13.2.2; platform_system == 'Linux'"
    torch = distribution("torch", "2.15.0", *triton, cuda)
    problem = "torch 2.15.0 requires triton ==3.9.0 or ==3.9.1, but 3.8.0 is installed"
    for name, version, problems in (("triton", "3.9.1", []), ("triton", "3.8.0", [problem])):
        assert packages.unsatisfied(torch, {name: distribution(name, version)}) == problems
    assert len(packages.unsatisfied(torch, {"cuda-toolkit": distribution("cuda-toolkit", "13.0.2")})) == 1


def test_pins_from_requirements_and_wheels() -> None:
    first, second, third = ("1" * 64, "2" * 64, "3" * 64)
    receipt = {
        "requirements": [f"Torch==2.9.1+cu130.sf0a1b2c3d --hash=sha256:{first} --hash=sha256:{second}", "bare==1"],
        "wheels": [{"file": "flash_attn-2.8.3-cp312-cp312-linux_aarch64.whl", "sha256": third}],
    }
    assert packages.pins(receipt) == {"torch": {first, second}, "bare": set(), "flash-attn": {third}}
    assert packages.pins(None) == {}
