"""The plan of the `torch_extensions` role: build each extension against this host's PyTorch."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ..stack.model import Stack
from . import Plan, packages
from .units import TOOLS, platform_of, units

_TOOLCHAIN = {"cc": "/usr/bin/gcc", "cxx": "/usr/bin/g++", **TOOLS}


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the units in order, and the packages with image format headers for torchvision.

    :raises SparkforgeError: for a unit that cannot be assembled, and for an invalid package name.
    """
    own = {unit["name"]: unit for unit in settings["torch_extensions"]}
    names = list(dict.fromkeys([*settings["torch_extensions_names"], *own]))
    if settings["torch_extensions_state"] == "absent" or not names:
        return Plan()
    stack: Stack = settings["stack"]
    cuda = boolean(settings["torch_extensions_cuda"], strict=False)
    # Never leave it unset: PyTorch's own detection turns a 12.1 GPU into compute_20.
    architectures = _architectures(settings, stack, observation)
    if cuda and not architectures:
        profile = stack["profile"]["name"]
        cause = f"The profile {profile} lists no architectures, and this host has no GPU to detect one from."
        remedy = "Set torch_extensions_architectures, or torch_extensions_cuda to false."
        return Plan(refusals=[{"cause": cause, "remedy": remedy}])
    layers = [
        settings["__torch_extensions_built"],
        _of_role(stack, cuda, architectures),
        stack["units"],
        {"*": {"toolchain": settings["torch_extensions_toolchain"]}},
        own,
        # This overrides the user as well, because setup.py would otherwise download a wheel without checking its hash.
        {"flash_attention": {"environment": {"FLASH_ATTENTION_FORCE_BUILD": "TRUE"}}},
    ]
    chosen = units(names, layers, platform_of(stack, observation), settings.get("sparkforge_built"))
    headers = packages(settings["torch_extensions_packages"] if "torchvision" in names else [], observation)
    return Plan({"units": chosen, **headers.steps}, headers.reasons)


def _architectures(settings: t.Mapping[str, t.Any], stack: Stack, observation: t.Mapping[str, t.Any]) -> str:
    devices = (observation.get("gpu") or {}).get("devices") or []
    capabilities = sorted({device["compute_capability"] for device in devices if device.get("compute_capability")})
    requested = settings["torch_extensions_architectures"] or stack["profile"]["architectures"]
    return str(requested or ";".join(capabilities))


def _of_role(stack: Stack, cuda: bool, architectures: str) -> dict[str, dict[str, t.Any]]:
    """Return the options for all extensions (``*``) and for each that ``__torch_extensions_built`` cannot have."""
    requested = [architecture for architecture in architectures.split(";") if architecture]
    # flash-attention takes numbers; use the oldest of each major version, because a cubin for 12.0 runs on 12.1.
    majors = list(dict.fromkeys(architecture.split(".")[0] for architecture in requested))
    # The local version distinguishes the wheel from the index's, and from builds with other inputs.
    local = f"{'cu' + stack['cuda']['suffix'].replace('-', '') if cuda else 'cpu'}.sf{{digest}}"
    # Set both, as for PyTorch: its FindCUDA, which every CMake project that finds torch includes, does not know
    # CUDA_HOME. It would search PATH and mistake the directory of our nvcc wrapper for a toolkit's.
    toolkit = dict.fromkeys(("CUDA_HOME", "CUDA_PATH"), stack["cuda"]["home"])
    environment = {**toolkit, "TORCH_CUDA_ARCH_LIST": architectures} if cuda else {}
    # The architectures that must be embedded, without the suffix for PTX.
    embedded = {"architectures": [architecture.removesuffix("+PTX") for architecture in requested]} if cuda else {}
    return {
        "*": {
            "environment": {"PYTORCH_VERSION": stack["versions"]["torch"], **environment},
            "toolchain": {**_TOOLCHAIN, **({"nvcc": f"{stack['cuda']['home']}/bin/nvcc"} if cuda else {})},
        },
        "torchvision": {
            "environment": {
                "BUILD_VERSION": f"{stack['versions'].get('torchvision')}+{local}",
                # setup.py checks torch.cuda.is_available(), but a builder need not have a GPU.
                "FORCE_CUDA": str(int(cuda)),
            },
            "expect": embedded,
        },
        "torchaudio": {
            "environment": {
                "BUILD_VERSION": f"{stack['versions'].get('torchaudio')}+{local}",
                "USE_CUDA": str(int(cuda)),
            },
            "expect": embedded,
        },
        "flash_attention": {
            "environment": {
                "FLASH_ATTN_LOCAL_VERSION": local,
                "FLASH_ATTN_CUDA_ARCHS": ";".join(f"{major}0" for major in majors),
            },
            "expect": {"architectures": [f"{major}.0" for major in majors]},
        },
    }
