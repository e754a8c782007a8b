"""Small trees with the structure of LLVM, Triton, PyTorch and related projects, as git repositories.

``make(directory)`` creates them; ``MirrorServer(root, git=directory)`` or `python -m lab.serve --git` serves them. They
are built in the chain llvm -> triton -> pytorch -> extension, in the same environment as the real projects. The
README.md in this directory lists the traits that each shares with the real project.
"""

import json
import shutil
import tempfile
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from lab.mirror import locked
from lab.repositories import Repository, Submodule, Tree, read_tree, sha256, write_sdist

TREES = Path(__file__).with_name("trees")
#: A unified diff, -p1, without which v2.9.1 of the tree pytorch does not compile.
PYTORCH_PATCH = Path(__file__).with_name("patches") / "pytorch-2.9.1-cstdint.patch"
#: A source_build edit, without which triton v3.5.1 does not compile with an LLVM newer than its pin.
NEWER_LLVM_EDIT = {
    "path": "python/src/llvm.cc",
    "match": "llvm/Passes/PassPlugin.h",
    "replace": "llvm/Plugins/PassPlugin.h",
}
#: The operators of the tree pytorch: one translation unit each, written when the repository is created.
OPERATORS = """
    absolute activation adaptive_pooling affine_grid batching bernoulli binary_ops bucketize cat_kernel cdist
    channel_shuffle clamp col2im compare complex_ops convolution copy_kernel cross cumulative distance distributions
    dropout embedding fill flip fold fractional_pool gelu grid_sampler histogram im2col index_kernel lerp linear
    loss memory normalization padding pooling pow_kernel random range_kernel reduce_ops scatter
""".split()
#: Files that a build leaves in the tree pytorch. A .gitignore in the tree would have an effect here, too.
IGNORED = (
    "build/ __pycache__/ *.egg-info/ /torch/bin/ /torch/include/ /torch/lib/ /torch/share/ /torch/version.py".split()
)
SDIST = ("flash_attn", "2.8.3")
#: The URL of the submodule in the tree pytorch; `sparkforge_rewrite` points it to the mirror.
ELSEWHERE = "https://git.example.com/"
#: PyTorch -> the matching versions of Triton and torchvision.
RELEASES = {"2.9.1": ("3.5.1", "0.24.1"), "2.15.0": ("3.9.0", "0.29.2")}
COMPUTE_LIBRARY = "v53.2.0"
LAB_STACK = Path(__file__).parents[2] / "inventory" / "stacks" / "lab-native.yml"


@dataclass(frozen=True)
class Upstream:
    """The repositories that ``make`` created. ``commits``: repository -> tag, branch or ``main~1`` -> commit."""

    directory: Path
    commits: Mapping[str, Mapping[str, str]]
    sdist: Path
    sdist_sha256: str

    def repository(self, name: str) -> Repository:
        """Return a repository, for a test that adds upstream commits; such a test must use its own directory."""
        return Repository(self.directory / f"{name}.git")

    def url(self, name: str, mirror: str) -> str:
        """Return a repository's URL on a mirror."""
        return f"{mirror.rstrip('/')}/git/{name}.git"

    def sdist_url(self, mirror: str) -> str:
        return f"{mirror.rstrip('/')}/git/{self.sdist.relative_to(self.directory).as_posix()}"

    def sources(self, mirror: str, torch: str = "2.9.1") -> dict[str, dict[str, t.Any]]:
        """Return the ``sources`` of a stack for ``torch`` 2.9.1 or 2.15.0; sources pinned in the trees have no ref."""
        llvm = {"2.9.1": "llvm-project", "2.15.0": "triton-llvm-project"}[torch]
        return {
            "pytorch": {"url": self.url("pytorch", mirror), "ref": f"v{torch}"},
            "triton": {"url": self.url("triton", mirror), "ref": None},
            "llvm": {"url": self.url(llvm, mirror), "ref": None, "submodules": False},
            "compute_library": {"url": self.url("compute_library", mirror), "ref": COMPUTE_LIBRARY},
            "torchvision": {"url": self.url("vision", mirror), "ref": f"v{RELEASES[torch][1]}"},
            "flash_attention": {"archive": self.sdist_url(mirror), "sha256": self.sdist_sha256},
        }

    def stack(self, mirror: str, torch: str = "2.9.1") -> dict[str, t.Any]:
        """Return the lab's stack, changed so that it builds ``torch`` from these trees.

        A bench's mirror has a different port each time, and a stack's URLs are literal, so a test writes this to
        ``stacks/lab-upstream.yml`` in its bench's inventory, as ``{"stack_definition": …}``.
        """
        triton, vision = RELEASES[torch]
        lab = t.cast("dict[str, t.Any]", yaml.safe_load(LAB_STACK.read_text()))["stack_definition"]
        builder = "setuptools==79.0.1" if torch == "2.9.1" else "scikit-build-core==1.1.1"
        extension = ["setuptools==79.0.1", "wheel==0.45.1", "packaging==26.3", "typing-extensions==4.16.0"]
        return {
            **lab,
            "description": f"The test bench, with PyTorch {torch} and what belongs to it built from tests/upstream.",
            "versions": {"torch": torch, "triton": triton, "torchvision": vision, "torchaudio": None},
            "wheel": {"available": False, "reason": "these trees exist to be built", "cuda": None},
            "sources": self.sources(mirror, torch),
            "units": {
                "llvm": {},
                "triton": {"requirements": ["setuptools==79.0.1", "wheel==0.45.1"]},
                # Only on aarch64.
                "compute_library": {"memory_per_job": 256, "free_space": 100},
                "pytorch": {
                    "requirements": [builder, "packaging==26.3", "pyyaml==6.0.3", "typing-extensions==4.16.0"],
                    "requires": "filelock typing-extensions setuptools sympy networkx jinja2 fsspec".split(),
                },
                "torchvision": {"depends": ["pytorch"], "requirements": extension},
                "flash_attention": {"optional": True, "depends": ["pytorch"], "requirements": extension},
            },
        }


def make(directory: Path) -> Upstream:
    """Create the repositories (`<name>.git`) and the sdist (in `archives/`) in ``directory``. It takes a second.

    Repositories that are already there and equal are left alone, so that running fetches are not disturbed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # Tests that run in parallel create the same repositories.
    with (
        locked(directory.with_name(f".{directory.name}.lock")),
        tempfile.TemporaryDirectory(prefix=".making-", dir=directory) as work,
    ):
        commits = _commits(Path(work))
        for name in commits:
            new, final = Repository(Path(work) / f"{name}.git"), directory / f"{name}.git"
            if final.exists():
                if Repository(final).references() == new.references():
                    continue
                shutil.rmtree(final)
            new.path.replace(final)
        sdist = write_sdist(Path(work), *SDIST, read_tree(TREES / "flash_attention"))
        final = directory / "archives" / sdist.name
        final.parent.mkdir(exist_ok=True)
        sdist.replace(final)
    return Upstream(directory, commits, final, sha256(final))


def _commits(directory: Path) -> dict[str, dict[str, str]]:
    """Create all repositories; those that others pin by commit come first."""
    commits: dict[str, dict[str, str]] = {}

    def repository(name: str) -> Repository:
        commits[name] = {}
        return Repository(directory / f"{name}.git")

    bits = commits.setdefault("bitslike", {})
    bits["main"] = Repository(directory / "bitslike.git").commit(_tree("bitslike"), "Count bits")
    fmt = commits.setdefault("fmtlike", {})
    fmt["main"] = Repository(directory / "fmtlike.git").commit(
        {**_tree("fmtlike"), "third_party/bitslike": Submodule("../bitslike.git", bits["main"])}, "Format numbers"
    )

    # Triton pins commits between releases: no tag names them, and branches have moved on.
    llvm = repository("llvm-project")
    base, moved = _llvm("base"), _llvm("base", "moved", without="llvm/include/llvm/Passes/PassPlugin.h")
    commits["llvm-project"]["main~1"] = llvm.commit(base, "[Passes] Add plugins")
    commits["llvm-project"]["main"] = llvm.commit(moved, "[Plugins] Move the header of passes' plugins")
    fork = repository("triton-llvm-project")
    fork.commit(base, "[Passes] Add plugins")
    fork.commit(moved, "[Plugins] Move the header of passes' plugins")
    version = "cmake/Modules/LLVMVersion.cmake"
    newer = {**moved, version: moved[version].replace(b"MAJOR 23", b"MAJOR 24")}
    commits["triton-llvm-project"]["main~1"] = fork.commit(newer, "Bump the version to 24.0.0git")
    commits["triton-llvm-project"]["main"] = fork.commit({**newer, "CHANGES.md": "# Changes\n"}, "Begin a change log")

    triton = repository("triton")
    pin = commits["llvm-project"]["main~1"]
    commits["triton"]["v3.5.1"] = triton.commit(
        {**_tree("triton/base"), "cmake/llvm-hash.txt": f"{pin}\n", "cmake/FixtureWeight.cmake": _shared(".cmake")},
        "Triton 3.5.1",
        tag="v3.5.1",
        annotated=False,
    )
    pin = commits["triton-llvm-project"]["main~1"]
    info = {"llvm_hash": pin, "build_number": 1, "sha256sum": {"ubuntu-arm64": "0" * 64, "ubuntu-x64": "0" * 64}}
    commits["triton"]["v3.9.0"] = triton.commit(
        {
            **_tree("triton/base", "triton/v3.9.0"),
            "cmake/llvm-info.json": json.dumps(info, indent=2) + "\n",
            "cmake/FixtureWeight.cmake": _shared(".cmake"),
        },
        "Triton 3.9.0",
        tag="v3.9.0",
        annotated=False,
    )

    pytorch = repository("pytorch")
    # Like upstream's submodules, it has its own URL, which a site without access to it must redirect.
    submodule = Submodule(f"{ELSEWHERE}fmtlike.git", fmt["main"])
    for torch, (pinned, _) in RELEASES.items():
        tree: dict[str, t.Any] = {
            **_tree("pytorch/common", f"pytorch/v{torch}"),
            **_operators(),
            "cmake/FixtureWeight.cmake": _shared(".cmake"),
            "cmake/include/fixture_weight.h": _shared(".h"),
            "third_party/fmtlike": submodule,
            ".ci/docker/ci_commit_pins/triton.txt": commits["triton"][f"v{pinned}"] + "\n",
            ".ci/docker/triton_version.txt": f"{pinned}\n",
            ".gitignore": "\n".join(IGNORED),
        }
        branch = {"2.9.1": "release/2.9", "2.15.0": "main"}[torch]
        parent = commits["pytorch"].get("v2.9.1")
        commits["pytorch"][f"v{torch}"] = pytorch.commit(
            tree, f"PyTorch {torch}", branch=branch, tag=f"v{torch}", parent=parent
        )

    library = repository("compute_library")
    commits["compute_library"][COMPUTE_LIBRARY] = library.commit(
        _tree("compute_library"), f"Compute Library {COMPUTE_LIBRARY}", tag=COMPUTE_LIBRARY
    )

    vision = repository("vision")
    for _, release in RELEASES.values():
        commits["vision"][f"v{release}"] = vision.commit(
            {**_tree("vision"), "version.txt": f"{release}\n"}, f"torchvision {release}", tag=f"v{release}"
        )
    return commits


def _tree(*names: str) -> dict[str, bytes]:
    return read_tree(*(TREES / name for name in names))


def _shared(suffix: str) -> bytes:
    return (TREES / "shared" / {".h": "fixture_weight.h", ".cmake": "FixtureWeight.cmake"}[suffix]).read_bytes()


def _llvm(*names: str, without: str = "") -> dict[str, bytes]:
    tree = _tree(*(f"llvm-project/{name}" for name in names))
    tree.pop(without, None)
    modules = "cmake/Modules"
    return {**tree, f"{modules}/FixtureWeight.cmake": _shared(".cmake"), f"{modules}/fixture_weight.h": _shared(".h")}


def _operators() -> Tree:
    """Return the list of operators and one source file for each."""
    header = "// SPDX-License-Identifier: GPL-3.0-or-later\n#include <ATen/Ops.h>\n#include <fixture_weight.h>\n"
    files = {
        f"aten/src/ATen/native/{''.join(part.title() for part in name.split('_'))}.cpp": (
            f"{header}\ndouble at::native::{name}(const double *values, long count) {{\n"
            f"  return fixture::work<{10000 + 100 * number}>(values, count);\n}}\n"
        )
        for number, name in enumerate(OPERATORS)
    }
    listed = "".join(f"- func: {name}\n" for name in OPERATORS)
    return {**files, "aten/src/ATen/native/native_functions.yaml": f"---\n{listed}"}
