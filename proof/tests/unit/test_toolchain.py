"""Unit tests of how Triton's tools are found and what their errors mean."""

import os

import pytest
from sparkforge_proof.checks.stack import toolchain

GCC = (
    "/opt/x/kernel.c:1:10: fatal error: Python.h: No such file or directory\n"
    "    1 | #include <Python.h>\ncompilation terminated."
)
CLANG = "kernel.c:1:10: fatal error: 'Python.h' file not found\n#include <Python.h>\n1 error generated."


@pytest.mark.parametrize(
    ("environment", "installed", "found"),
    [
        ({"CC": "/opt/cc"}, {"gcc": "/usr/bin/gcc"}, "/opt/cc"),
        ({}, {"gcc": "/usr/bin/gcc", "clang": "/usr/bin/clang"}, "/usr/bin/gcc"),
        ({}, {"clang": "/usr/bin/clang"}, "/usr/bin/clang"),
        ({}, {}, None),
    ],
)
def test_the_compiler_is_the_one_that_triton_finds(
    environment: dict[str, str], installed: dict[str, str], found: str | None
):
    assert toolchain.find_compiler(environment, installed.get) == found


@pytest.mark.parametrize("said", [GCC, CLANG])
def test_missing_headers_name_the_package(said: str):
    failed = toolchain.compiler_failure(said, "gcc", "/usr/include/python3.12", "3.12")
    assert "Python.h of Python 3.12 is missing" in str(failed)
    assert "python3.12-dev" in failed.remedy
    assert "build_toolchain" in failed.remedy


def test_missing_cuda_headers_are_another_matter_and_other_errors_are_shown():
    failed = toolchain.compiler_failure("x.c:1:10: fatal error: cuda.h: No such file or directory", "gcc", "/i", "3.12")
    assert "cuda.h is missing" in str(failed)
    assert "CPATH" in failed.remedy
    failed = toolchain.compiler_failure("a note\ncc1: error: bad value 'neoverse' for '-mcpu'\n", "gcc", "/i", "3.12")
    assert "bad value 'neoverse'" in str(failed)


def test_the_headers_are_looked_for_where_the_interpreter_has_them():
    assert os.path.basename(toolchain.include_directory()).startswith("python")


def test_the_profile_says_for_what_kernels_are_assembled():
    assert toolchain.capabilities({"compute_capability": "12.1"}, {"capabilities": ["9.0"]}) == ["12.1"]
    assert toolchain.capabilities({"compute_capability": None}, {"capabilities": ["9.0", "9.0"]}) == ["9.0"]
    assert toolchain.capabilities({}, {}) == []


@pytest.mark.parametrize(("capability", "number"), [("12.1", 121), ("9.0", 90), ("10.3", 103), ("11", 110)])
def test_capabilities_are_counted_as_triton_does(capability: str, number: int):
    assert toolchain.number_of(capability) == number


def test_the_kernel_is_of_the_version_and_the_target():
    text = toolchain.assembly(87, "sm_121a")
    assert text.startswith(".version 8.7\n.target sm_121a\n")
    assert ".entry" in text


def test_a_ptxas_that_is_too_old_names_the_variable():
    said = "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'"
    failed = toolchain.ptxas_failure(said, 255, "/t/ptxas", "12.8", "sm_121a", "TRITON_PTXAS_PATH")
    assert "does not know sm_121a" in str(failed)
    assert "CUDA 12.8" in str(failed)
    assert "TRITON_PTXAS_PATH" in failed.remedy


def test_a_ptxas_that_dies_says_how():
    failed = toolchain.ptxas_failure("", -11, "/t/ptxas", "12.9", "sm_90a", "TRITON_PTXAS_BLACKWELL_PATH")
    assert "was killed by signal 11" in str(failed)
    failed = toolchain.ptxas_failure("ptxas fatal : Unsupported .version 9.4", 1, "/t/ptxas", "12.9", "sm_90a", "X")
    assert "Unsupported .version 9.4" in str(failed)
