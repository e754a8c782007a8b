"""The plan of the `triton` role: build Triton offline against the LLVM built for it, without its own downloads."""

from __future__ import annotations

import typing as t

from ...module_utils._core.versions import numbers
from ..stack.model import Stack
from . import Plan
from .units import clang, platform_of, units

_APPENDED = "TRITON_APPEND_CMAKE_ARGS"
#: From this release on, clang compiles a part of Triton, the sanitizer GSan, and CMake looks for clang only in LLVM's
#: prefix (third_party/nvidia/CMakeLists.txt). The LLVM built here contains no clang. The stack's clang 20 compiles
#: GSan, and Triton 3.8.0 links the result; clang 19 does not know one of its functions (tried on 2026-11-25).
_GSAN = (3, 8)


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the unit, and as ``override`` the source used instead of the LLVM that Triton pins."""
    if settings["triton_state"] == "absent":
        return Plan()
    stack: Stack = settings["stack"]
    built = settings.get("sparkforge_built") or {}
    of_stack, of_user = stack["units"].get("triton") or {}, settings["triton_unit"]
    source = of_user.get("source") or of_stack.get("source") or {}
    of_role = _of_role(settings, stack, source)
    # If two arguments define one variable, CMake uses the later definition.
    added = filter(None, ((layer.get("environment") or {}).get(_APPENDED) for layer in (of_role, of_stack, of_user)))
    last_layer = {"toolchain": settings["triton_toolchain"], "environment": {_APPENDED: " ".join(added)}}
    layers = [settings["__triton_built"], of_role, of_stack, of_user, last_layer]
    chosen = units(["triton"], [{"triton": layer} for layer in layers], platform_of(stack, observation), built)
    note = (
        f"Triton {stack['versions'].get('triton') or ''}: {settings['triton_build_type']}"
        f"{', stripped' if settings['triton_strip'] else ''},"
        f" {'with' if settings['triton_proton'] else 'without'} the profiler proton."
    )
    return Plan({"units": chosen, "override": (built.get("llvm") or {}).get("override") or ""}, notes=[note])


def _of_role(settings: t.Mapping[str, t.Any], stack: Stack, source: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the options that depend on the role's variables; ``__triton_built`` has the others."""
    build_type, linker = settings["triton_build_type"], settings["triton_linker"]
    # setup.py has no option for these, and CMake reads them last: the build type, which replaces setup.py's own; lld,
    # which third_party/amd looks for with NO_DEFAULT_PATH; and -s, which strips debug information and LLVM's symbols.
    flags = " ".join(([f"-fuse-ld={linker}"] if linker else []) + (["-Wl,-s"] if settings["triton_strip"] else []))
    cmake_args = [
        f"-DCMAKE_BUILD_TYPE={build_type}",
        "-DLLD_DIR={depends.llvm.prefix}/lib/cmake/lld",
        f"'-DCMAKE_MODULE_LINKER_FLAGS={flags}'",
        f"'-DCMAKE_SHARED_LINKER_FLAGS={flags}'",
    ]
    if numbers(str(stack["versions"].get("triton") or "")) >= _GSAN:
        cmake_args.append(f"-DTRITON_GSAN_CLANGXX={clang(stack)['cxx']}")
    # In a checkout setup.py puts +git<commit> first, and a version may contain only one plus sign.
    plus = "+" if "archive" in source else "."
    return {
        "environment": {
            "TRITON_BUILD_PROTON": "ON" if settings["triton_proton"] else "OFF",
            "TRITON_PARALLEL_LINK_JOBS": str(settings["triton_link_jobs"]),
            _APPENDED: " ".join(cmake_args),
            "TRITON_WHEEL_VERSION_SUFFIX": f"{plus}cu{stack['cuda']['suffix'].replace('-', '')}.sf{{digest}}",
        },
        "toolchain": clang(stack),
        "expect": {"cmake_cache": {"CMAKE_BUILD_TYPE": build_type}},
    }
