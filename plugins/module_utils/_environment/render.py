"""The files for using an environment: activation, launcher, Jupyter kernel, and CUDA tools for Triton."""

from __future__ import annotations

import json
import os
import shlex
import typing as t

from .._wheel.names import normalised
from .tree import site_packages


def render_activation(
    environment: str, name: str, library_paths: t.Sequence[str], variables: t.Mapping[str, str]
) -> str:
    """Return the script ``bin/activate-sparkforge`` of one environment: POSIX sh that works under ``set -eu``."""
    names = sorted(variables)
    # The `fabric` role writes this file; NCCL 2.23 and newer reads it through NCCL_CONF_FILE.
    fabric = shlex.quote(
        os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(environment))), "fabric/nccl.env")
    )
    lines = [
        f"# Environment {name} of sparkforge.dgx_spark, for bash, zsh and dash; leave it with: deactivate",
        'if [ -n "${_SPARKFORGE_OLD_PATH+set}" ]; then deactivate; fi',
        '_SPARKFORGE_OLD_PATH="${PATH-}"',
        '_SPARKFORGE_OLD_LIBRARY_PATH="${LD_LIBRARY_PATH-}"',
        "deactivate () {",
        '    PATH="${_SPARKFORGE_OLD_PATH-}"; export PATH',
        '    if [ -n "${_SPARKFORGE_OLD_LIBRARY_PATH-}" ]; then',
        '        LD_LIBRARY_PATH="$_SPARKFORGE_OLD_LIBRARY_PATH"; export LD_LIBRARY_PATH',
        "    else",
        "        unset LD_LIBRARY_PATH",
        "    fi",
        "    unset " + " ".join(["VIRTUAL_ENV", "_SPARKFORGE_OLD_PATH", "_SPARKFORGE_OLD_LIBRARY_PATH", *names]),
        f'    if [ "${{NCCL_CONF_FILE-}}" = {fabric} ]; then unset NCCL_CONF_FILE; fi',
        "    unset -f deactivate",
        "    hash -r 2>/dev/null || :",
        "}",
        f"VIRTUAL_ENV={shlex.quote(environment)}",
        'PATH="$VIRTUAL_ENV/bin${PATH:+:$PATH}"',
        "export VIRTUAL_ENV PATH",
        "unset PYTHONHOME",
    ]
    if library_paths:
        lines += [
            f"LD_LIBRARY_PATH={shlex.quote(':'.join(library_paths))}" + '"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
            "export LD_LIBRARY_PATH",
        ]
    lines += [f"export {key}={shlex.quote(variables[key])}" for key in names]
    lines.append(f'if [ -z "${{NCCL_CONF_FILE-}}" ] && [ -r {fabric} ]; then export NCCL_CONF_FILE={fabric}; fi')
    return "\n".join([*lines, "hash -r 2>/dev/null || :", ""])


def render_stable_activation(name: str, current: str) -> str:
    """Return ``<root>/bin/activate-<name>``, which resolves ``current`` once, when it is sourced."""
    return (
        f"# Activates the environment {name} as it is now; a later switch leaves this shell alone.\n"
        f'. "$(readlink -f {shlex.quote(current)})/bin/activate-sparkforge"\n'
    )


def render_launcher(name: str, current: str) -> str:
    """Return ``<root>/bin/<name>-python``, which runs the resolved interpreter instead of going through ``current``."""
    return (
        "#!/bin/sh\n"
        f"# Python of the environment {name} as it is now; a later switch leaves what it runs alone.\n"
        "set -eu\n"
        f"environment=$(readlink -f {shlex.quote(current)})\n"
        '. "$environment/bin/activate-sparkforge"\n'
        'exec "$environment/bin/python" "$@"\n'
    )


def has_ipykernel(packages: t.Iterable[str]) -> bool:
    return any(normalised(name) == "ipykernel" for name in packages)


def render_kernel(
    environment: str, name: str, environment_id: str, library_paths: t.Sequence[str], variables: t.Mapping[str, str]
) -> str:
    """Return the Jupyter kernel specification of one environment, with its resolved path."""
    values = {"VIRTUAL_ENV": environment, **variables}
    if library_paths:
        values["LD_LIBRARY_PATH"] = ":".join(library_paths)
    specification = {
        "argv": [f"{environment}/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": f"{name} (sparkforge {environment_id})",
        "language": "python",
        "metadata": {"debugger": True},
        # Jupyter substitutes $NAME in these.
        "env": {key: value.replace("$", "$$") for key, value in values.items()},
    }
    return json.dumps(specification, indent=2, sort_keys=True) + "\n"


#: Path in Triton's ``backends/nvidia`` -> the variable that overrides it, and the file in that variable's directory.
_TRITON_TOOLS = {
    "bin/ptxas": ("TRITON_PTXAS_PATH", ""),
    "bin/ptxas-blackwell": ("TRITON_PTXAS_BLACKWELL_PATH", ""),
    "bin/cuobjdump": ("TRITON_CUOBJDUMP_PATH", ""),
    "bin/nvdisasm": ("TRITON_NVDISASM_PATH", ""),
    "include/cuda.h": ("TRITON_CUDART_PATH", "cuda.h"),
}


def triton_links(environment: str, variables: t.Mapping[str, str]) -> dict[str, str]:
    """Return the links (path -> target) that let Triton find the tools in ``variables`` even if those are not exported.

    A locally built Triton includes neither ptxas nor cuda.h, and running ``bin/python`` directly skips the activation.
    Files from the wheel and correct links are left unchanged.
    """
    try:
        tools = os.path.join(site_packages(environment), "triton", "backends", "nvidia")
    except FileNotFoundError:
        return {}
    links = {}
    for name, (variable, relative) in _TRITON_TOOLS.items():
        path, target = os.path.join(tools, name), variables.get(variable)
        if not target or not os.path.isdir(tools) or (os.path.lexists(path) and not os.path.islink(path)):
            continue
        target = os.path.join(target, relative) if relative else target
        if not os.path.islink(path) or os.readlink(path) != target:
            links[path] = target
    return links
