"""The search for Triton's tools, and the causes of their errors."""

import pytest
from sparkforge_proof.checks.stack import toolchain

GCC = (
    "/opt/x/kernel.c:1:10: fatal error: Python.h: No such file or directory\n"
    "    1 | #include <Python.h>\ncompilation terminated."
)
CLANG = "kernel.c:1:10: fatal error: 'Python.h' file not found\n#include <Python.h>\n1 error generated."


@pytest.mark.parametrize(
    ("environment", "installed", "compiler"),
    [
        ({"CC": "/opt/cc"}, {"gcc": "/usr/bin/gcc"}, "/opt/cc"),
        ({}, {"gcc": "/usr/bin/gcc", "clang": "/usr/bin/clang"}, "/usr/bin/gcc"),
        ({}, {"clang": "/usr/bin/clang"}, "/usr/bin/clang"),
        ({}, {}, None),
    ],
)
def test_compiler_of_triton(environment: dict[str, str], installed: dict[str, str], compiler: str | None):
    assert toolchain.find_compiler(environment, installed.get) == compiler


@pytest.mark.parametrize("error", [GCC, CLANG])
def test_missing_python_headers(error: str):
    failed = toolchain.compiler_failure(error, "gcc", "/usr/include/python3.12", "3.12")
    assert "Python.h of Python 3.12 is missing" in str(failed)
    assert "python3.12-dev" in failed.remedy
    assert "build_toolchain" in failed.remedy


def test_missing_cuda_headers_and_other_errors():
    failed = toolchain.compiler_failure("x.c:1:10: fatal error: cuda.h: No such file or directory", "gcc", "/i", "3.12")
    assert "cuda.h is missing" in str(failed)
    assert "CPATH" in failed.remedy
    failed = toolchain.compiler_failure("a note\ncc1: error: bad value 'neoverse' for '-mcpu'\n", "gcc", "/i", "3.12")
    assert "bad value 'neoverse'" in str(failed)


def test_capabilities_of_profile_come_first():
    assert toolchain.capabilities({"compute_capability": "12.1"}, {"capabilities": ["9.0"]}) == ["12.1"]
    assert toolchain.capabilities({"compute_capability": None}, {"capabilities": ["9.0", "9.0"]}) == ["9.0"]
    assert toolchain.capabilities({}, {}) == []


@pytest.mark.parametrize(("capability", "number"), [("12.1", 121), ("9.0", 90), ("10.3", 103), ("11", 110)])
def test_number_of_capability(capability: str, number: int):
    assert toolchain.number_of(capability) == number


def test_assembly_names_version_and_target():
    text = toolchain.assembly(87, "sm_121a")
    assert text.startswith(".version 8.7\n.target sm_121a\n")
    assert ".entry" in text


def test_old_ptxas():
    error = "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'"
    failed = toolchain.ptxas_failure(error, 255, "/t/ptxas", "12.8", "sm_121a", "TRITON_PTXAS_PATH")
    assert "does not know sm_121a" in str(failed)
    assert "CUDA 12.8" in str(failed)
    assert "TRITON_PTXAS_PATH" in failed.remedy


def test_other_failures_of_ptxas():
    failed = toolchain.ptxas_failure("", -11, "/t/ptxas", "12.9", "sm_90a", "TRITON_PTXAS_BLACKWELL_PATH")
    assert "killed by signal 11" in str(failed)
    failed = toolchain.ptxas_failure("ptxas fatal : Unsupported .version 9.4", 1, "/t/ptxas", "12.9", "sm_90a", "X")
    assert "Unsupported .version 9.4" in str(failed)
