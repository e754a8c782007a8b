"""Findings about packages whose versions, symbols or compilers do not match each other or the host."""

from __future__ import annotations

import os
import re
import typing as t

from .._shared.module_utils._core import versions
from .._shared.module_utils._elf import fatbin, symbols
from .._shared.module_utils._elf.filesystem import FileSystem
from .._shared.module_utils._wheel import installed
from . import contents, texts
from .contents import PRIVATE, Contents, Library


class Finding(t.TypedDict):
    """``level`` is ``no``, ``perhaps`` or ``note``, ``kind`` a keyword for programs, and ``what`` a sentence."""

    package: str
    level: str
    kind: str
    what: str


def finding(package: str, level: str, kind: str, sentence: str) -> Finding:
    return {"package": package, "level": level, "kind": kind, "what": sentence}


#: Packages that must have the same version, which they compare when they are imported (flashinfer-ai/flashinfer issue
#: 4781; Transformer Engine's common/__init__.py; jax's plugins).
_ALIKE = (
    {"flashinfer-python", "flashinfer-cubin", "flashinfer-jit-cache"},
    {"transformer-engine", "transformer-engine-cu12", "transformer-engine-cu13", "transformer-engine-torch"},
    {"jax-cuda12-plugin", "jax-cuda12-pjrt"},
    {"jax-cuda13-plugin", "jax-cuda13-pjrt"},
)
_OF_TORCH = ("torch", "torchvision", "torchaudio")
#: A library for one release of PyTorch, such as DGL's libgraphbolt_pytorch_2.5.0.so (dmlc/dgl issue 7909).
_FOR_TORCH = re.compile(r"torch_(\d+\.\d+\.\d+)\.so$")
#: The first CUDA release whose compilers support a GPU (CUDA release notes).
_FIRST_CUDA = {
    "8.9": "11.8", "9.0": "11.8", "10.0": "12.8", "10.3": "12.9", "11.0": "13.0", "12.0": "12.8", "12.1": "12.9",
}  # fmt: skip
_COMPILER = re.compile(r"(ptxas|nvcc|cicc|libnvrtc)(?=$|[-.])")
_COMPILERS_OF_CUDA = re.compile(r"nvidia-cuda-(nvrtc|nvcc)(?:-cu\d+)?")
_TRITON = ("triton", "pytorch-triton")
#: Triton up to 3.5 contains the ptxas from CUDA 12.8 (vllm-project/vllm issue 30163); 3.6 also contains that from 12.9.
_TRITON_WITH_129, _TRITON_BEFORE = (3, 6), "12.8"
#: The driver's functions, whose library the host provides.
_OF_THE_DRIVER = re.compile(r"cu[A-Z]|nvml[A-Z]")


def of_versions(contents_read: t.Sequence[Contents], machine: str) -> t.Iterator[Finding]:
    """Yield findings for related packages from different releases, and for unmet requirements.

    Packages are compared only within an environment, and wheels with each environment.
    """
    for site in sorted({package["site"] for package in contents_read}):
        by_name = {package["name"]: package for package in contents_read if package["site"] in ("", site)}
        for family in _ALIKE:
            members = [f"{name} {by_name[name]['version']}" for name in sorted(family) if name in by_name]
            if len({versions.public(member.partition(" ")[2]) for member in members}) > 1:
                sentence = f"these compare their versions on import, and must be of one: {', '.join(members)}."
                yield from (finding(member.partition(" ")[0], "no", "sisters", sentence) for member in members)
        builds = {name: by_name[name]["version"].partition("+")[2] for name in _OF_TORCH if name in by_name}
        for name, build in builds.items():
            if (of_torch := builds.get("torch")) and build and build != of_torch and "cpu" in (build, of_torch):
                yield finding(name, "perhaps", "sisters", f"it is the build {build}, but torch is {of_torch}.")
        torch = versions.public(by_name["torch"]["version"]) if "torch" in by_name else ""
        for name, package in by_name.items():
            releases = {match[1] for library in package["libraries"] for match in _FOR_TORCH.finditer(library["path"])}
            if releases and torch not in releases:
                level, has = ("no", f"is {torch}") if torch else ("perhaps", "was not read")
                sentence = f"it has libraries for PyTorch {', '.join(sorted(releases))} alone, and torch {has}."
                yield finding(name, level, "sisters", sentence)
        distributions = {name: _distribution(package, machine) for name, package in by_name.items()}
        for name, distribution in distributions.items():
            for sentence in installed.unsatisfied(distribution, distributions):
                pin = re.search(r" requires torch ==(\d+\.\d+)[^,]*, but (\d+\.\d+)", sentence)
                # PyTorch's ABI is stable only within a minor release.
                broken = pin is not None and pin[1] != pin[2] and by_name[name]["libraries"]
                yield finding(name, "no" if broken else "perhaps", "sisters", f"{sentence}.")


def _distribution(package: Contents, machine: str) -> installed.Distribution:
    """Return a package with only those requirements whose markers match the machine."""
    counting = []
    for line in package["requires"]:
        marker = re.sub(r"(platform_system|sys_platform) *== *['\"][Ll]inux['\"]", "", line.partition(";")[2])
        marker = re.sub(rf"platform_machine *== *['\"]{machine}['\"]", "", marker)
        if not re.search(r"platform|implementation|os_name", marker):
            counting.append(line)
    return installed.Distribution(package["name"], package["version"], "", "", tuple(counting))


def missing_symbols(contents_read: t.Sequence[Contents]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return each missing symbol with the package that should export it, by package and path of the library.

    A symbol counts if another package must have it, because that package exports other symbols in the C++ namespace, or
    because the library needs one of its SONAMEs.
    """
    owners: dict[str, Contents] = {}
    for package in contents_read:
        owners.update({name: package for library in package["libraries"] for name in contents.names(library)})
    exports = contents.export_checksums(contents_read)
    missing: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for package in contents_read:
        others = [other for other in contents_read if other is not package]
        for library in package["libraries"]:
            if library["lacking"]:
                continue
            needed = [owners[name] for name in library["needed"] if owners.get(name, package) is not package]
            for name, soname in library["undefined"]:
                if (soname and soname not in owners) or _OF_THE_DRIVER.match(name):
                    continue
                if symbols.checksum(name) in exports:
                    continue
                family = symbols.family(name.encode())
                candidates = [*needed, *others] if name.startswith("_Z") else needed
                owner = next((other["name"] for other in candidates if family in other["families"]), None)
                if owner is not None:
                    missing.setdefault((package["name"], library["path"]), []).append((name, owner))
    return missing


def of_host(
    package: Contents, libraries: t.Sequence[Library], host: t.Mapping[str, str], own: t.Collection[str]
) -> t.Iterator[Finding]:
    """Yield findings if libraries need newer or private symbol versions of the host's libc or libstdc++.

    :param own: the SONAMEs that packages contain, which may include a libstdc++.
    """
    newer = {}
    for library in libraries:
        for name, version in library["versions"].items():
            brought = name != "GLIBC" and "libstdc++.so.6" in own
            if name in host and not brought and versions.numbers(version) > versions.numbers(host[name]):
                newer[library["path"]] = f"{os.path.basename(library['path'])} needs {name}_{version}"
    if newer:
        level = "no" if len(newer) == len(libraries) else "perhaps"
        has = ", ".join(f"{name}_{version}" for name, version in host.items())
        yield finding(package["name"], level, "host", f"{'; '.join([*newer.values()][:3])}, but the host has {has}.")
    for library in libraries:
        owner = library["versions"].get(PRIVATE)
        if owner and owner not in own:
            name = os.path.basename(library["path"])
            sentence = f"{name} needs private symbols of {owner}, which another release of glibc need not have."
            yield finding(package["name"], "perhaps", "host", sentence)


def of_compilers(package: Contents, capability: str) -> t.Iterator[Finding]:
    """Yield findings for compilers in a package that do not support the GPU: ptxas, nvcc and NVRTC."""
    needed = _FIRST_CUDA.get(capability, "0")
    releases: dict[str, list[str]] = {}
    for library in package["libraries"]:
        kind = _COMPILER.match(os.path.basename(library["path"]))
        if kind and library["release"]:
            releases.setdefault(kind[1].replace("libnvrtc", "NVRTC"), []).append(library["release"])
    part = _COMPILERS_OF_CUDA.fullmatch(package["name"])
    if not releases and part:
        releases[part[1].replace("nvrtc", "NVRTC")] = [".".join(package["version"].split(".")[:2])]
    if not releases and package["name"] in _TRITON and versions.numbers(package["version"])[:2] < _TRITON_WITH_129:
        releases["ptxas"] = [_TRITON_BEFORE]
    for name, known in releases.items():
        newest = max(known, key=versions.numbers)
        if versions.numbers(newest) < versions.numbers(needed):
            way = "; set TRITON_PTXAS_PATH to the CUDA toolkit's" if package["name"] in _TRITON else ""
            sentence = f"its {name} is from CUDA {newest}, but {capability} needs CUDA {needed} or newer{way}."
            yield finding(package["name"], "perhaps", "compiler", sentence)


def of_guards(package: Contents, libraries: t.Sequence[Library], capability: str) -> t.Iterator[Finding]:
    """Yield findings for libraries whose messages suggest that their code for the GPU does nothing but trap."""
    for library in libraries:
        code = [fatbin.number(name) for name in library["cubins"] or library["ptx"]]
        used = fatbin.Embedded(frozenset(library["cubins"]), frozenset(library["ptx"])).used_on(capability)
        guard = texts.trap(library["guards"], fatbin.number(used), code) if used and library["guards"] else None
        if guard:
            file = os.path.basename(library["path"])
            sentence = f"{file} has code for {used} and prints {guard!r}: it may be a trap."
            yield finding(package["name"], "perhaps", "guard", sentence)


def of_image(root: str, cuda: str) -> t.Iterator[Finding]:
    """Yield findings for an unpacked image that the container toolkit would refuse because it needs a newer driver.

    :param cuda: the driver's CUDA version.
    """
    bundle = os.path.dirname(os.path.abspath(root))
    # NVIDIA_REQUIRE_CUDA is in docker's and podman's output, in OCI bundles, and in images that set it at login.
    files = [(root, "/config.json"), (root, "/etc/environment")]
    files += [(bundle, "/config.json")] if os.path.basename(os.path.abspath(root)) == "rootfs" else []
    content = b"\n".join(FileSystem(top).read_bytes(path) or b"" for top, path in files)
    # Go escapes > in JSON.
    text = content.decode("utf-8", "replace").replace("\\u003e", ">")
    values = list(dict.fromkeys(re.findall(r'NVIDIA_REQUIRE_CUDA=["\']?([^"\'\n]*)', text)))
    for value in values:
        needed = re.search(r"\bcuda *>= *(\d{1,3}\.\d{1,3})", value)
        if needed and versions.numbers(needed[1]) > versions.numbers(cuda):
            others = ", unless another condition of its NVIDIA_REQUIRE_CUDA is met" if "brand" in value else ""
            sentence = f"it needs a driver for CUDA {needed[1]}, not {cuda}: the container toolkit refuses it{others}."
            yield finding("image", "perhaps" if others else "no", "image", sentence)
    toolkits = [re.fullmatch(r"cuda-(\d{1,3}\.\d{1,3})", name) for name in FileSystem(root).names("/usr/local")]
    newest = max((toolkit[1] for toolkit in toolkits if toolkit), key=versions.numbers, default="0")
    if not values and os.path.realpath(root) != "/" and versions.numbers(newest) > versions.numbers(cuda):
        sentence = f"it has CUDA {newest}: if it is NVIDIA's, it requires a driver for it, but this one is for {cuda}."
        yield finding("image", "perhaps", "image", sentence)
