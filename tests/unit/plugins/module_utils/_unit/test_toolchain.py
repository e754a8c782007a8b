import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import toolchain

GCC = "{name} (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\nCopyright (C) 2023 Free Software Foundation, Inc.\n"
NVCC = (
    "nvcc: NVIDIA (R) Cuda compiler driver\nCopyright (c) 2005-2025 NVIDIA Corporation\n"
    "Built on Wed_Aug_20_01:58:59_PM_PDT_2025\nCuda compilation tools, release 13.0, V13.0.88\n"
    "Build cuda_13.0.r13.0/compiler.36424714_0\n"
)


class Tools:
    """A directory of programs, each of which prints a version."""

    def __init__(self, directory: Path) -> None:
        self.bin = directory / "bin"
        self.bin.mkdir()

    def add(self, name: str, output: str, status: int = 0, to: str = "stdout") -> Path:
        path = self.bin / name
        redirection = " >&2" if to == "stderr" else ""
        lines = ["#!/bin/sh", f"cat <<'EOF'{redirection}", output.rstrip("\n"), "EOF"]
        # Replace the file by renaming another over it, as package managers do, so that its inode changes.
        fresh = path.with_name("." + name)
        fresh.write_text("\n".join([*lines, f"exit {status}\n"]))
        fresh.chmod(0o755)
        fresh.replace(path)
        return path

    @property
    def path(self) -> str:
        return f"{self.bin}:/usr/bin:/bin"

    def observe(self, python: str | None = None, **programs: str) -> toolchain.Toolchain:
        return toolchain.observe(programs, python, self.path)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


@pytest.mark.parametrize(
    ("name", "output", "version", "identity"),
    [
        ("cc", GCC.format(name="gcc"), "13.3.0", "gcc 13"),
        ("cc", GCC.format(name="cc"), "13.3.0", "gcc 13"),
        ("cxx", GCC.format(name="x86_64-linux-gnu-g++-13.2"), "13.3.0", "gcc 13"),
        ("cc", "gcc (GCC) 11.5.0 20240719 (Red Hat 11.5.0-2)\n(C) 2021 Free Software Foundation", "11.5.0", "gcc 11"),
        ("cc", "Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: aarch64-unknown-linux-gnu\n", "18.1.3", "clang 18"),
        ("cxx", "clang version 20.1.2 (https://example.com/llvm 1.2.3)\nThread model: posix\n", "20.1.2", "clang 20"),
        ("nvcc", NVCC, "13.0.88", "13.0"),
        ("cmake", "cmake version 3.28.3\n\nCMake suite maintained and supported by Kitware.\n", "3.28.3", "3.28"),
        ("cmake", "cmake version 4.1.0-rc2\n", "4.1.0", "4.1"),
        ("ninja", "1.11.1\n", "1.11.1", "1.11"),
        ("ninja", "1.13.0.git.kitware.jobserver-pipe-1\n", "1.13.0", "1.13"),
    ],
)
def test_tool_version_is_parsed(tools: Tools, name: str, output: str, version: str, identity: str) -> None:
    tools.add("tool", output)
    chain = tools.observe(**{name: "tool"})
    assert (chain.versions(), chain.identity()) == ({name: version}, {name: identity})
    assert version in chain.tools[name].line


def test_real_nvcc_version() -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not on PATH")
    chain = toolchain.observe({"nvcc": "nvcc"}, None, os.environ["PATH"])
    assert chain.tools["nvcc"].line.startswith("Cuda compilation tools, release " + chain.identity()["nvcc"])


def test_replaced_tool_is_noticed(tools: Tools) -> None:
    tools.add("gcc", GCC.format(name="gcc"))
    old = tools.observe(cc="gcc")
    tools.add("gcc", GCC.format(name="gcc").replace("13.3.0\n", "13.4.0\n"))
    new = tools.observe(cc="gcc")
    assert new.identity() == old.identity()
    assert toolchain.patch_level_changes(old.versions(), new.versions()) == ["cc: 13.3.0 -> 13.4.0"]


def test_compiler_behind_ccache_is_found(tools: Tools, tmp_path: Path) -> None:
    tools.add("ccache", "ccache version 4.9.1\n")
    tools.add("gcc", GCC.format(name="gcc"))
    masked = tmp_path / "masked"
    masked.mkdir()
    (masked / "gcc").symlink_to(tools.bin / "ccache")
    chain = toolchain.observe({"cc": "gcc"}, None, f"{masked}:{tools.path}", optional={"ccache": "ccache"})
    assert chain.tools["cc"].path == str(tools.bin / "gcc")
    assert chain.versions() == {"cc": "13.3.0", "ccache": "4.9.1"}
    assert chain.identity() == {"cc": "gcc 13"}, "ccache does not change the artefact"


def test_link_to_ccache_is_refused(tools: Tools, tmp_path: Path) -> None:
    tools.add("ccache", "ccache version 4.9.1\n")
    masked = tmp_path / "gcc"
    masked.symlink_to(tools.bin / "ccache")
    with pytest.raises(SparkforgeError) as error:
        toolchain.observe({"cc": str(masked)}, None, tools.path)
    assert "link to ccache" in error.value.cause
    assert "toolchain.cc" in error.value.remedy


def failure(tools: Tools, python: str | None = None, **programs: str) -> SparkforgeError:
    with pytest.raises(SparkforgeError) as caught:
        tools.observe(python, **programs)
    return caught.value


def test_missing_tool_names_its_role(tools: Tools) -> None:
    error = failure(tools, cc="gcc-99")
    assert error.cause.startswith("gcc-99") and str(tools.path) in error.cause
    assert "option toolchain.cc" in error.remedy
    assert "role cuda_libraries" in failure(tools, nvcc="/nowhere/nvcc").remedy
    assert "/nowhere/python3.12, needed as python, is missing" in failure(tools, "/nowhere/python3.12").cause
    (tools.bin / "cmake-plain").write_text("not executable")
    assert "not executable" in failure(tools, cmake=str(tools.bin / "cmake-plain")).cause


def test_failing_tool_is_named_with_its_output(tools: Tools) -> None:
    tools.add("cmake", "cmake: error while loading shared libraries: libuv.so.1.", 127, "stderr")
    error = failure(tools, cmake="cmake")
    assert error.cause.startswith(f"{tools.bin}/cmake --version, needed as cmake, failed (127): cmake: error while")
    tools.add("ninja", "hello")
    assert "printed no version: hello" in failure(tools, ninja="ninja").cause
    (tools.bin / "gcc").write_bytes(b"\x7fELF garbage")
    (tools.bin / "gcc").chmod(0o755)
    assert "cannot be started" in failure(tools, cc="gcc").cause
    assert "report its version" in failure(tools, "ninja").cause


def test_hanging_tool_is_killed(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tools.bin / "cmake"
    script.write_text("#!/bin/sh\nexec sleep 600\n")
    script.chmod(0o755)
    monkeypatch.setattr(toolchain, "ANSWER_LIMIT", 0.1)
    assert "exit within 0.1 s" in failure(tools, cmake="cmake").cause


@pytest.mark.parametrize(
    ("version", "minimum"), [("3.9.6", "3.18"), ("12.4.0", "13"), ("3.31.0", "4.0"), ("3.28", "3.28.1")]
)
def test_old_tool_is_refused(version: str, minimum: str) -> None:
    with pytest.raises(SparkforgeError) as caught:
        toolchain.check_minimum(toolchain.Tool("cmake", "/usr/bin/cmake", version, "", ""), minimum)
    assert f"/usr/bin/cmake is version {version}, but {minimum} or" in caught.value.cause
    assert "toolchain.cmake" in caught.value.remedy


def test_invalid_minimum_version_is_refused() -> None:
    with pytest.raises(SparkforgeError, match="'newest', the minimum"):
        toolchain.check_minimum(toolchain.Tool("cmake", "/usr/bin/cmake", "3.28", "", ""), "newest")


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ('NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\nID_LIKE=debian\n', "ubuntu24.04-"),
        ("ID=debian\n", "debian-"),
        ("ID='rocky'\nVERSION_ID='9.4'\n", "rocky9.4-"),
        (None, "linux-"),
    ],
)
def test_platform_is_read_from_os_release(tmp_path: Path, text: str | None, prefix: str) -> None:
    (tmp_path / "usr/lib").mkdir(parents=True)
    if text is not None:
        (tmp_path / "usr/lib/os-release").write_text(text)
    assert toolchain.platform(str(tmp_path)) == prefix + os.uname().machine
