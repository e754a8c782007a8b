"""The variables that stack and user set for PyTorch's build: find refused and ineffective ones (pytorch.yml)."""

from __future__ import annotations

import re
import typing as t

from ...module_utils._core.versions import numbers
from .pytorch_build import KNOWN, Build, asks_for, true

#: From this release on, the build clones NCCL unless it is told to use the host's (tools/build_pytorch_libs.py).
NCCL_CLONED = (2, 7)
#: From this release on, scikit-build-core replaces setup.py and calls CMake (the wheels' generator; pytorch#189758).
SCIKIT_BUILD = (2, 14)


def given_variables(build: Build) -> dict[str, str]:
    """Return the variables of stack and user as strings; record problems for those that would not work as expected."""
    variables: dict[str, str] = {}
    for key, value in (build.unit.get("environment") or {}).items():
        if value is None:
            continue
        # YAML reads `yes` as a boolean; builds expect 1 and 0.
        text = str(int(value)) if isinstance(value, bool) else str(value)
        variables[str(key)] = text
        refusal = _refusal(build, str(key), text)
        if refusal:
            build.problems.append(f"The environment of the unit pytorch has {key}={text}: {refusal}.")
        elif build.release >= SCIKIT_BUILD and not any(re.fullmatch(name, str(key)) for name in KNOWN["reaching"]):
            build.notes.append(f"{key} has no effect: since 2.14 only known variables reach CMake.")
    if build.release < (2, 11) and build.cuda and true(variables.get("USE_FBGEMM_GENAI")):
        build.notes.append("USE_FBGEMM_GENAI=1 has no effect: with CUDA this release builds it only for 10.0a.")
    return variables


def _refusal(build: Build, key: str, value: str) -> str:
    row = next((row for row in KNOWN["refused"] if _applies(row, build, key, value)), None)
    if row:
        return str(row["because"])
    if key == "USE_CUDA" and true(value) != build.cuda:
        return f"set pytorch_cuda: {str(not build.cuda).lower()} instead, which sets the rest"
    if key == "USE_SYSTEM_NCCL" and not true(value) and asks_for(build, "nccl") and build.release >= NCCL_CLONED:
        return (
            "NCCL is not a submodule of PyTorch 2.7 and newer, whose build clones it unverified; remove it to use the "
            "host's NCCL, or remove nccl from pytorch_libraries"
        )
    return ""


def _applies(row: t.Mapping[str, t.Any], build: Build, key: str, value: str) -> bool:
    """Tell whether a row of ``refused`` applies to this variable with this value in this release."""
    return (
        key in row.get("names", [key])
        and build.release >= numbers(row.get("since", "0"))
        and ("before" not in row or build.release < numbers(row["before"]))
        and re.search(row.get("value", ""), value) is not None
        and (true(value) or not row.get("is_on"))
    )
