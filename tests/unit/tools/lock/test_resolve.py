"""The wheels in a lock, which uv chooses for a target from an index on 127.0.0.1."""

import hashlib
import socket
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.tools.lock import resolve
from ansible_collections.sparkforge.dgx_spark.tools.lock.resolve import Index, Target

from tests.unit.package_index import PackageIndex, sha256_of
from tests.unit.wheel_tree import file_name, wheel

AARCH64 = Target("3.12", "aarch64")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = PackageIndex()
    yield server
    server.close()


def chosen_versions(index: PackageIndex, *requirements: str, target: Target = AARCH64) -> dict[str, str]:
    """Return the version chosen for each project."""
    lines = resolve.resolve(requirements, target, Index(index.simple))
    return {name: line.partition(" ")[0].partition("==")[2] for name, line in lines.items()}


def refusal(index: PackageIndex, *requirements: str) -> SparkforgeError:
    with pytest.raises(SparkforgeError) as caught:
        chosen_versions(index, *requirements)
    assert caught.value.remedy
    assert "\n" not in caught.value.cause
    return caught.value


@pytest.mark.parametrize(("python", "machine"), [("3.12", "aarch64"), ("3.9", "x86_64")])
def test_the_platform_of_a_target_has_the_form_of_locks(python: str, machine: str) -> None:
    assert Target(python, machine).platform == f"cp{python.replace('.', '')}-linux-{machine}"


def test_the_cpu_build_for_aarch64_needs_neither_triton_nor_nvidia_packages(index: PackageIndex) -> None:
    index.record("cp313-linux-aarch64")
    versions = chosen_versions(index, "torch==2.10.0", target=Target("3.13", "aarch64"))
    assert {"torch", "filelock", "sympy", "mpmath", "markupsafe"} <= set(versions)
    assert not [name for name in versions if name == "triton" or name.startswith("nvidia-")]


def test_the_same_release_for_x86_64_needs_both(index: PackageIndex) -> None:
    index.record("cp313-linux-x86_64")
    versions = chosen_versions(index, "torch==2.10.0", target=Target("3.13", "x86_64"))
    assert versions["triton"] == "3.6.0"
    assert "nvidia-cudnn-cu12" in versions


def test_extras_of_cuda_toolkit_are_resolved(index: PackageIndex) -> None:
    index.record("cp312-linux-aarch64")
    lines = resolve.resolve(["torch==2.15.0", "torchvision==0.29.2"], AARCH64, Index(index.simple))
    assert lines["triton"].startswith("triton==3.9.0 ")
    assert lines["nvidia-cublas"].startswith("nvidia-cublas==13.4.1.3 ")
    # torch does not require this extra of cuda-toolkit.
    assert "nvidia-npp" not in lines
    sha256 = "9e51cf9460c5441dcd2a4f31ece207e35ea7c3d2535be0f929cca4944e2eeb18"
    assert lines["torch"] == f"torch==2.15.0 --hash=sha256:{sha256}"
    assert not [path for path in index.paths if path.endswith(".whl")], "metadata is enough"


@pytest.mark.parametrize(
    ("marker", "machine", "python", "expected"),
    [
        ('platform_machine == "x86_64"', "aarch64", "3.12", False),
        ('platform_machine == "aarch64"', "aarch64", "3.12", True),
        ('python_version < "3.13"', "aarch64", "3.12", True),
        ('sys_platform == "win32"', "x86_64", "3.12", False),
    ],
)
def test_a_marker_is_evaluated_for_the_target(index: PackageIndex, marker, machine, python, expected):
    index.add("root", "1", f"leaf; {marker}")
    index.add("leaf", "1")
    assert ("leaf" in chosen_versions(index, "root==1", target=Target(python, machine))) is expected


def test_the_python_version_is_that_of_the_target(index: PackageIndex) -> None:
    index.add("tool", "1")
    index.add("tool", "2", python=">=3.13")
    assert chosen_versions(index, "tool") == {"tool": "1"}
    assert chosen_versions(index, "tool", target=Target("3.13", "aarch64")) == {"tool": "2"}
    assert "Python" in refusal(index, "tool==2").cause


def test_the_lock_has_the_wheel_that_installers_choose(index: PackageIndex) -> None:
    for number, tag in enumerate(
        [
            "py3-none-any",
            "cp310-abi3-manylinux2014_aarch64",
            "1-cp312-cp312-manylinux_2_28_aarch64.manylinux_2_17_aarch64",
            "2-cp312-cp312-manylinux_2_28_aarch64.manylinux_2_17_aarch64",
            "cp312-cp312-manylinux_2_28_x86_64",
            "cp313-cp313-manylinux_2_28_aarch64",
            # This glibc is newer than Ubuntu 24.04's.
            "cp312-cp312-manylinux_2_41_aarch64",
        ]
    ):
        index.add("tool", "1", sha256=str(number) * 64, tag=tag)
    index.add("old", "1", sha256="a" * 64, tag="py3-none-manylinux_2_12_x86_64.manylinux2010_x86_64")
    index.add("old", "1", sha256="b" * 64, tag="py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64")
    index.add("own", "1", tag="cp312-cp312-linux_aarch64")
    simple = Index(index.simple)
    assert resolve.resolve(["tool"], AARCH64, simple)["tool"].endswith("3" * 64)
    assert resolve.resolve(["tool"], Target("3.12", "x86_64"), simple)["tool"].endswith("4" * 64)
    assert resolve.resolve(["old"], Target("3.12", "x86_64"), simple)["old"].endswith("b" * 64)
    assert resolve.resolve(["own"], AARCH64, simple)["own"].endswith(sha256_of("own", "1"))


def test_a_release_without_a_wheel_for_the_target_is_skipped(index: PackageIndex) -> None:
    index.add("tool", "1")
    index.add("tool", "2", tag="cp312-cp312-manylinux_2_28_x86_64")
    index.files["/simple/tool/"] += b'<a href="/files/tool-3.tar.gz#sha256=' + b"0" * 64 + b'">tool-3.tar.gz</a>'
    assert chosen_versions(index, "tool") == {"tool": "1"}


def test_a_nightly_is_chosen_only_where_it_is_pinned(index: PackageIndex) -> None:
    nightly = "2.16.0.dev20261120"
    for package in (f"torch {nightly} triton==3.10.0.dev3 leaf", "triton 3.10.0.dev3", "leaf 1", "leaf 2rc1"):
        index.add(*package.split())
    assert chosen_versions(index, f"torch=={nightly}") == {"torch": nightly, "triton": "3.10.0.dev3", "leaf": "1"}


def test_an_override_wins_over_requirements(index: PackageIndex) -> None:
    index.add("tool", "1", "leaf==1")
    for version in ("1", "2", "3"):
        index.add("leaf", version)
    lines = resolve.resolve(["tool"], AARCH64, Index(index.simple), overrides=["leaf==2"])
    assert lines["leaf"].startswith("leaf==2 ")


def test_a_contradiction_names_both_sides(index: PackageIndex) -> None:
    index.add("one", "1", "leaf==1")
    index.add("two", "1", "leaf==2")
    index.add("leaf", "1")
    index.add("leaf", "2")
    cause = refusal(index, "one", "two").cause
    assert "depend on leaf==1" in cause and "depend on leaf==2" in cause
    assert "one, two for cp312-linux-aarch64" in cause


def test_a_missing_version_is_named_with_its_dependent(index: PackageIndex) -> None:
    index.add("root", "1", "leaf>=3")
    index.add("leaf", "1")
    cause = refusal(index, "root").cause
    assert "leaf<3" in cause or "leaf>=3" in cause
    assert "root" in cause
    assert "nothing" in refusal(index, "nothing").cause


@pytest.mark.parametrize("requirement", ["root", "leaf @ https://example.invalid/leaf-1-py3-none-any.whl"])
def test_a_dependency_from_a_url_is_refused(index: PackageIndex, requirement: str) -> None:
    index.add("root", "1", "leaf @ https://example.invalid/leaf-1-py3-none-any.whl")
    assert "leaf" in refusal(index, requirement).cause


@pytest.mark.parametrize(
    "line", ["-r /etc/passwd", "--index-url=https://evil.example", "-e /srv/x", "./x", "", "a\n-r b", "a\n--pre"]
)
def test_uv_gets_no_option_and_no_file_as_a_requirement(line: str) -> None:
    """A wheel's METADATA may contain any text."""
    with pytest.raises(SparkforgeError, match="not a requirement: ") as refused:
        resolve.packages(["fine", line], AARCH64, Index("none", command=("/nonexistent/uv",)))
    assert "\n" not in refused.value.cause


def test_a_wheel_without_sha256_is_refused(index: PackageIndex) -> None:
    index.add("tool", "1", sha256="")
    assert "tool" in refusal(index, "tool").cause


def test_an_index_that_never_finishes_its_answer_times_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(resolve, "UV_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(SparkforgeError, match="within 2 s"):
        resolve.resolve(["tool"], AARCH64, Index(f"http://127.0.0.1:{silent.getsockname()[1]}/simple"))


def test_no_password_of_an_index_is_shown(index: PackageIndex) -> None:
    index.authorization = "Basic no"
    with pytest.raises(SparkforgeError) as caught:
        resolve.resolve(["tool"], AARCH64, Index(index.simple.replace("://", "://user:p@ss@")))
    assert "ss@" not in str(caught.value) + str(caught.value.details)
    assert "401" in caught.value.cause


def test_a_directory_of_wheels_suffices_without_an_index(tmp_path: Path, index: PackageIndex) -> None:
    content = wheel("tool", "1")
    (tmp_path / file_name("tool", "1")).write_bytes(content)
    for url in ("none", ""):
        lines = resolve.resolve(["tool"], AARCH64, Index(url, (str(tmp_path),)))
        assert lines == {"tool": f"tool==1 --hash=sha256:{hashlib.sha256(content).hexdigest()}"}
    index.add("leaf", "1")
    assert sorted(resolve.resolve(["tool", "leaf"], AARCH64, Index(index.simple, (str(tmp_path),)))) == ["leaf", "tool"]


def test_an_error_of_uv_is_shown_and_a_missing_uv_names_its_variable(index: PackageIndex) -> None:
    script = "import sys; sys.stderr.write('error: first\\n  cause: second.\\n'); sys.exit(2)"
    with pytest.raises(SparkforgeError, match=r"for cp312-linux-aarch64: first second\. ?"):
        resolve.resolve(["x"], AARCH64, Index(index.simple, (), (sys.executable, "-c", script)))
    with pytest.raises(SparkforgeError, match="/no/such/uv cannot be run") as caught:
        resolve.resolve(["x"], AARCH64, Index(index.simple, (), ("/no/such/uv",)))
    assert "stack_lock_uv" in caught.value.remedy


def test_pips_configuration_is_used_unless_uv_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_CERT", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://a.invalid/simple\nextra-index-url =\n  https://b.invalid/x\n  https://c.invalid/y\n"
        "[install]\nfind-links = /wheels\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_INDEX_URL", "https://own.invalid/simple")
    options = " ".join(Index().options())
    assert "--default-index https://own.invalid/simple" in options
    assert "--index https://b.invalid/x --index https://c.invalid/y" in options
    assert "--find-links /wheels" in options
    assert "unsafe-best-match" in options
    assert Index("https://d.invalid/simple").options() == ["--default-index", "https://d.invalid/simple"]
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://e.invalid/simple")
    assert Index().options() == []


STACK: dict[str, t.Any] = {
    "python": {"version": "3.12"},
    "machines": ["aarch64"],
    "versions": {"torch": "2", "triton": "3", "torchvision": "1", "torchaudio": None},
    "wheel": {"without": {"torchvision": "not wanted"}, "beside": {"numpy": "2.3"}},
    "units": {
        "llvm": {},
        "triton": {"requirements": ["cmake==3.31"]},
        "pytorch": {"requirements": ["requests==2.32"], "requires": ["filelock"]},
        "torchvision": {"requires": ["numpy", "pillow>=5"]},
    },
}


@pytest.fixture
def stocked_index(index: PackageIndex) -> PackageIndex:
    index.add("torch", "2")
    index.add("numpy", "2.4")
    index.add("numpy", "2.3")
    index.add("pillow", "12")
    index.add("filelock", "4", "leaf")
    index.add("leaf", "1")
    index.add("cmake", "3.31")
    index.add("requests", "2.32", "idna")
    index.add("idna", "3.11")
    return index


def pins(lines: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: [line.partition(" --hash=sha256:")[0] for line in rows] for name, rows in lines.items()}


def test_the_wheels_of_a_stack_include_additional_packages(stocked_index: PackageIndex) -> None:
    assert resolve.targets(STACK) == [AARCH64]
    lines = resolve.wheels(STACK, AARCH64, Index(stocked_index.simple))
    versions = {"numpy": "2.3", "torch": "2"}
    assert lines == [f"{name}=={value} --hash=sha256:{sha256_of(name, value)}" for name, value in versions.items()]


def test_build_requirements_are_locked_with_their_dependencies(stocked_index: PackageIndex) -> None:
    assert pins(resolve.build_requirements(STACK, AARCH64, Index(stocked_index.simple))) == {
        "llvm": [], "pytorch": ["idna==3.11", "requests==2.32"], "torchvision": [], "triton": ["cmake==3.31"],
    }  # fmt: skip


def test_run_requirements_of_units_are_resolved_together(stocked_index: PackageIndex) -> None:
    assert pins(resolve.run_requirements(STACK, AARCH64, Index(stocked_index.simple))) == {
        "beside": ["numpy==2.3"], "llvm": [], "pytorch": ["filelock==4", "leaf==1"],
        "torchvision": ["numpy==2.3", "pillow==12"], "triton": [],
    }  # fmt: skip
