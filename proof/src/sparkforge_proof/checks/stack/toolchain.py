"""Check the tools that a Triton kernel's first launch needs: a C compiler, Python's and CUDA's headers, and ptxas."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import typing as t

from ...check import X86, Context, Failed, Measured, Skipped, check

#: A module like those that Triton compiles for each kernel. Its answer proves that it was loaded and ran.
MODULE = """\
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *arguments) {
    long number;
    if (!PyArg_ParseTuple(arguments, "l", &number)) return NULL;
    return PyLong_FromLong(3 * number + 1);
}
static PyMethodDef methods[] = {{"answer", answer, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "sparkforge_proof", NULL, -1, methods};
PyMODINIT_FUNC PyInit_sparkforge_proof(void) { return PyModule_Create(&definition); }
"""

#: The header that Triton's driver module includes before Python.h.
HEADER = '#include "cuda.h"\nint sparkforge_proof_header(void) { return CUDA_VERSION; }\n'

#: The time limit for one compiler run in seconds. On slow hosts, the runner's limit applies.
LIMIT = 240


def find_compiler(environment: t.Mapping[str, str], which: t.Callable[[str], str | None]) -> str | None:
    """Return the C compiler that triton/runtime/build.py finds: CC verbatim, else gcc, else clang."""
    return environment.get("CC") or which("gcc") or which("clang")


def include_directory() -> str:
    """Return the directory in which Triton looks for Python.h; the one in Debian's own scheme does not exist."""
    scheme = getattr(sysconfig, "get_default_scheme", lambda: "posix_prefix")()
    if scheme == "posix_local":
        scheme = "posix_prefix"
    return sysconfig.get_paths(scheme=scheme)["include"]


def compiler_failure(output: str, compiler: str, include: str, python: str) -> Failed:
    """Return the failure that a compiler's output shows.

    :param output: the compiler's output.
    :param include: the directory that should hold Python.h.
    :param python: the interpreter's version, ``3.12``.
    """
    if re.search(r"Python\.h'?(: No such file| file not found)", output):
        return Failed(
            f"Python.h of Python {python} is missing ({include}): Triton cannot compile its kernel launchers.",
            f"Install python{python}-dev, as the role build_toolchain does; a virtual environment has no headers.",
            "no Python.h",
            f"{include}/Python.h",
        )
    if re.search(r"\bcuda\.h'?(: No such file| file not found)", output):
        return Failed(
            "cuda.h is missing: this Triton has no CUDA headers, and cannot compile its kernel launchers.",
            "Use a Triton wheel that has them (backends/nvidia/include), or set CPATH to the CUDA toolkit's include "
            "directory in the environment's activation.",
            "no cuda.h",
            "cuda.h",
        )
    error_lines = [line.strip() for line in output.splitlines() if "error" in line.lower()]
    first = (error_lines or [output.strip()[:300] or "silence"])[0]
    return Failed(
        f"The C compiler {compiler} cannot compile a module for Python {python}: {first}.",
        "Install gcc and libc6-dev, as the role build_toolchain does, and unset CC, CFLAGS and CPATH if they are "
        "wrong.",
        "does not compile",
        "a module that runs",
    )


def _compile(compiler: str, folder: str, name: str, source: str, suffix: str, includes: t.Sequence[str]) -> str:
    """Compile a shared library as Triton does and return its path."""
    path, target = os.path.join(folder, f"{name}.c"), os.path.join(folder, f"{name}{suffix}")
    with open(path, "w", encoding="ascii") as stream:
        stream.write(source)
    command = [compiler, path, "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", target]
    command += [f"-I{include}" for include in includes]
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    try:
        process = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False, encoding="utf-8",
            errors="replace", env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except OSError as error:
        raise Failed(
            f"The C compiler {compiler} in CC cannot be run: {error.strerror}.",
            "Unset CC, or set it to the path of a compiler without arguments: Triton runs it verbatim.",
            "cannot be run",
            "a compiler",
        ) from error
    if process.returncode or not os.path.isfile(target):
        raise compiler_failure(process.stdout, compiler, includes[-1], python)
    return target


@check("toolchain.python_headers", devices=("none",), numeric=False, measured=(X86,))
def python_headers(context: Context) -> Measured:
    """Check that a module with Python.h compiles with the compiler that Triton finds, can be loaded, and answers.

    If Triton is installed, CUDA's header, which its driver module includes, must compile as well.
    """
    triton = importlib.util.find_spec("triton")
    compiler = find_compiler(os.environ, shutil.which)
    if compiler is None:
        if triton is None:
            raise Skipped("There is no C compiler, but Triton, which would need one, is not installed either.")
        raise Failed(
            "There is no C compiler, but Triton needs one for the first launch of every kernel.",
            "Install gcc, as the role build_toolchain does, or set CC in the environment's activation.",
            "no compiler",
            "gcc, clang or CC",
        )
    include = include_directory()
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    with tempfile.TemporaryDirectory(dir=context.directory, prefix="headers-") as folder:
        name = "sparkforge_proof"
        library = _compile(compiler, folder, name, MODULE, suffix, [folder, include])
        try:
            spec = importlib.util.spec_from_file_location(name, library)
            if spec is None or spec.loader is None:
                raise ImportError(f"{library} is not a module")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        except ImportError as error:
            raise Failed(
                f"A module that {compiler} compiled cannot be loaded: {error}.",
                "Use a compiler for the host's architecture, and a directory for temporary files that is not mounted "
                "noexec.",
                "does not load",
                "a module that runs",
            ) from error
        answer = module.answer(14)
        if answer != 43:
            raise Failed(
                f"A module that {compiler} compiled returns {answer} instead of 43.",
                "Reinstall the compiler, and unset CC and CFLAGS.",
                str(answer),
                "43",
            )
        headers = "Python.h"
        if triton is not None:
            headers = "Python.h and cuda.h"
            own_includes = [
                os.path.join(directory, "backends", "nvidia", "include")
                for directory in triton.submodule_search_locations or ()
            ]
            _compile(compiler, folder, "sparkforge_proof_header", HEADER, ".so", [*own_includes, folder, include])
    return Measured(f"{compiler} compiled a module with {headers}, which ran", "a module that runs")


def capabilities(profile: t.Mapping[str, t.Any], reference: t.Mapping[str, t.Any]) -> list[str]:
    """Return the compute capabilities for which to assemble kernels: the profile's, else those of the devices."""
    profiled = profile.get("compute_capability")
    selected = [profiled] if profiled else list(reference.get("capabilities") or [])
    return [str(capability) for capability in dict.fromkeys(selected)]


def number_of(capability: str) -> int:
    """Return 121 for ``12.1``, in the form that Triton uses for capabilities."""
    major, _unused, minor = capability.partition(".")
    return int(major) * 10 + int(minor or 0)


def assembly(version: int, target: str) -> str:
    """Return a kernel in PTX.

    :param version: 86 for PTX 8.6.
    :param target: ``sm_121a``.
    """
    return f"""\
.version {version // 10}.{version % 10}
.target {target}
.address_size 64
.visible .entry sparkforge_proof(.param .u64 place)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [place];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 43;
    st.global.u32 [%rd2], %r1;
    ret;
}}
"""


def ptxas_failure(output: str, status: int, path: str, release: str, target: str, variable: str) -> Failed:
    """Return the failure that the output of ptxas shows.

    :param release: the CUDA release of this ptxas: ``12.8``.
    :param variable: the variable that makes Triton use another ptxas.
    """
    remedy = (
        f"Set {variable} to the ptxas of a CUDA toolkit that knows {target} (such as /usr/local/cuda/bin/ptxas) in the "
        f"environment's activation, or use a newer Triton."
    )
    error_lines = [line.strip() for line in output.splitlines() if "fatal" in line or "error" in line]
    first = (error_lines or [output.strip()[:300] or "silence"])[0]
    if f"Value '{target}' is not defined" in output:
        return Failed(
            f"The ptxas that Triton uses, {path} of CUDA {release}, does not know {target}: no kernel can be compiled"
            " for this GPU.",
            remedy,
            f"CUDA {release}",
            f"one that knows {target}",
        )
    ending = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
    return Failed(
        f"The ptxas that Triton uses, {path} of CUDA {release}, {ending} on a kernel for {target}: {first}.",
        remedy,
        ending,
        f"a kernel for {target}",
    )


def _ptxas_of(compiler: t.Any, knobs: t.Any, number: int) -> tuple[t.Any, str]:
    """Return the ptxas that Triton itself selects for a capability, and the variable that overrides it.

    Triton 3.5 has a single ptxas, 3.6 has another for 100 and above, and 3.9 another for 90 and above.
    """
    variable = "TRITON_PTXAS_PATH"
    try:
        tool = compiler.get_ptxas(number) if inspect.signature(compiler.get_ptxas).parameters else compiler.get_ptxas()
        blackwell = getattr(knobs.nvidia, "ptxas_blackwell", None)
        if blackwell is not None and tool == blackwell:
            variable = "TRITON_PTXAS_BLACKWELL_PATH"
        return tool, variable
    except (OSError, RuntimeError) as error:
        names = " and ".join(
            f"{name}={os.environ[name]}"
            for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")
            if name in os.environ
        )
        raise Failed(
            f"Triton has no ptxas that can be run{f' ({names})' if names else ''}: {error}.",
            "Install a Triton wheel of this architecture with its ptxas, or set TRITON_PTXAS_PATH, and"
            " TRITON_PTXAS_BLACKWELL_PATH for Triton 3.6 and newer, to the ptxas of the CUDA toolkit.",
            "no ptxas",
            "a ptxas that runs",
        ) from error


@check("toolchain.ptxas", devices=("none",), numeric=False, measured=(X86,))
def ptxas(context: Context) -> Measured:
    """Check that the ptxas selected by the installed Triton assembles a kernel for the device with Triton's options."""
    required = capabilities(context.profile, context.reference)
    if importlib.util.find_spec("triton") is None:
        raise Skipped("Triton is not installed.")
    if not required:
        raise Skipped("Neither the profile nor a GPU gives a compute capability to assemble kernels for.")
    compiler = importlib.import_module("triton.backends.nvidia.compiler")
    knobs = importlib.import_module("triton.knobs")
    assembled = []
    for capability in required:
        number = number_of(capability)
        tool, variable = _ptxas_of(compiler, knobs, number)
        target = compiler.sm_arch_from_capability(number)
        with tempfile.TemporaryDirectory(dir=context.directory, prefix="ptxas-") as folder:
            source, result = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
            with open(source, "w", encoding="ascii") as stream:
                stream.write(assembly(compiler.ptx_get_version(tool.version), target))
            process = subprocess.run(
                [tool.path, f"--gpu-name={target}", source, "-o", result],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False, encoding="utf-8",
                errors="replace",
            )  # fmt: skip
            if process.returncode or not os.path.isfile(result) or not os.path.getsize(result):
                raise ptxas_failure(process.stdout, process.returncode, tool.path, tool.version, target, variable)
        overridden = os.environ.get(variable)
        note = f" ({variable} names {overridden}, which does not run)" if overridden and overridden != tool.path else ""
        assembled.append(f"{tool.path} of CUDA {tool.version}{note} for {target}")
    return Measured("; ".join(assembled), "a kernel for the device")
