import json
import os
import subprocess
import sys
import typing as t
import zlib
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils.elf_writer import write_elf
from sparkforge_proof.checks.stack import origins


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A root directory with an environment, a versioned directory of the stack, a system directory, an old copy."""
    root = tmp_path.resolve()
    write_elf(root / "env/torch/lib/libtorch_cuda.so", soname="libtorch_cuda.so", needed=["libcudss.so.0"])
    write_elf(root / "redist/0.7.0.20/lib/libcudss.so.0.7.0", soname="libcudss.so.0")
    (root / "redist/0.7.0.20/lib/libcudss.so.0").symlink_to("libcudss.so.0.7.0")
    write_elf(root / "stale/libcudss.so.0", soname="libcudss.so.0")
    write_elf(root / "usr/lib/libc.so.6", soname="libc.so.6")
    return root


def strays(tree: Path, *paths: str, named: t.Sequence[str] = ("redist/0.7.0.20/lib",)) -> list[origins.Stray]:
    """Return the libraries that were loaded from outside the tree's environment, stack, toolkit and system."""
    stack = tuple(str(tree / name) for name in named)
    environment, toolkit, system, dpkg = (str(tree / name) for name in ("env", "cuda-13.0", "usr/lib", "dpkg"))
    allowed = origins.AllowedPaths((environment,), stack, (toolkit,), (system,), dpkg)
    return origins.strays([origins.library(str(tree / path)) for path in paths], allowed)


def test_expected_libraries_are_not_strays(tree: Path) -> None:
    write_elf(tree / "cuda-13.0/targets/sbsa-linux/lib/libcublas.so.13", soname="libcublas.so.13")
    paths = ["env/torch/lib/libtorch_cuda.so", "redist/0.7.0.20/lib/libcudss.so.0.7.0", "usr/lib/libc.so.6"]
    assert strays(tree, *paths, "cuda-13.0/targets/sbsa-linux/lib/libcublas.so.13") == []


def test_stale_copy_names_variable_that_loads_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tree}/stale:{tree}/redist/0.7.0.20/lib")
    (stray,) = strays(tree, "env/torch/lib/libtorch_cuda.so", "stale/libcudss.so.0")
    assert f"from {tree}/stale/libcudss.so.0, and the environment" in stray.cause
    assert f"{tree}/redist/0.7.0.20/lib/libcudss.so.0" in stray.cause
    assert stray.cause.endswith(f"LD_LIBRARY_PATH, which names {tree}/stale.")
    assert f"Remove {tree}/stale from LD_LIBRARY_PATH" in stray.remedy


def test_hard_link_is_not_a_stale_copy(tree: Path) -> None:
    os.link(tree / "redist/0.7.0.20/lib/libcudss.so.0.7.0", tree / "linked.so")
    assert strays(tree, "linked.so") == []


def test_system_copy_of_library_in_stack_is_stale(tree: Path) -> None:
    write_elf(tree / "usr/lib/libcudss.so.0", soname="libcudss.so.0")
    assert [stray.path for stray in strays(tree, "usr/lib/libcudss.so.0")] == [f"{tree}/usr/lib/libcudss.so.0"]
    assert strays(tree, "usr/lib/libcudss.so.0", named=()) == []


def test_unpackaged_system_library_is_a_stray(tree: Path) -> None:
    """The driver's libraries are allowed, because container runtimes mount them without a package."""
    (tree / "dpkg").mkdir()
    for name in ("libcudss.so.0", "libcuda.so.1", "libanything.so.1"):
        write_elf(tree / "usr/lib" / name, soname=name)
    (stray,) = strays(tree, "usr/lib/libcudss.so.0", "usr/lib/libcuda.so.1", "usr/lib/libanything.so.1", named=())
    assert stray.cause.startswith(f"libcudss.so.0 was loaded from {tree}/usr/lib/libcudss.so.0, and no package")


@pytest.mark.parametrize("path", ["home/user/libjemalloc.so.2", "cuda-12.8/lib64/libcublas.so.12"])
def test_library_outside_stack_is_a_stray(tree: Path, path: str) -> None:
    write_elf(tree / path, soname=os.path.basename(path))
    (stray,) = strays(tree, path)
    assert "no such path" in stray.cause
    assert stray.remedy


def test_stray_names_runpath_that_loads_it(tree: Path) -> None:
    write_elf(
        tree / "env/flash/kernels.so", soname="kernels.so", needed=["libcudss.so.0"], runpath="$ORIGIN/../../stale"
    )
    (stray,) = strays(tree, "env/flash/kernels.so", "stale/libcudss.so.0", named=())
    assert f"through the RUNPATH of {tree}/env/flash/kernels.so." in stray.cause


def test_preloaded_library_is_a_stray_only_if_in_stack(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_elf(tree / "agent/libwatch.so", soname="libwatch.so")
    monkeypatch.setenv("LD_PRELOAD", f"{tree}/agent/libwatch.so {tree}/stale/libcudss.so.0")
    assert strays(tree, "agent/libwatch.so") == []
    (stray,) = strays(tree, "stale/libcudss.so.0")
    assert "LD_PRELOAD" in stray.cause
    assert "LD_PRELOAD" in stray.remedy


def test_library_loaded_twice(tree: Path) -> None:
    for path in ("env/nvidia/lib/libcudart.so.13", "env/torch/lib/libcudart.so.13"):
        write_elf(tree / path, soname="libcudart.so.13", padding=len(path))
    write_elf(tree / "env/torchvision.libs/libcudart.faf08d9a.so.13", soname="libcudart.so.13")
    private = ["env/nvidia/lib/libcudart.so.13", "env/torchvision.libs/libcudart.faf08d9a.so.13"]
    assert strays(tree, *private) == []
    (stray,) = strays(tree, *private, "env/torch/lib/libcudart.so.13")
    assert "libcudart.so.13 is loaded twice" in stray.cause
    assert all(f"{tree}/env/{name}" in stray.cause for name in ("nvidia", "torch"))


def test_unowned_libraries(tmp_path: Path) -> None:
    database = tmp_path / "info"
    database.mkdir()
    (database / "libcublas-13-0.list").write_text("/.\n/usr/lib\n/usr/lib/x/libcublas.so.13\n")
    (database / "libold.list").write_text("/lib/x/libold.so.1\n")
    (database / "libold.md5sums").write_text("/usr/lib/x/libcudss.so.0\n")
    names = ("libcublas.so.13", "libold.so.1", "libcudss.so.0")
    libraries = [origins.Library(f"/usr/lib/x/{name}", name, None) for name in names]
    assert [library.name for library in origins.unowned(libraries, str(database))] == ["libcudss.so.0"]
    assert origins.unowned(libraries, str(tmp_path / "no-dpkg-here")) == []


def test_directories_of_loader_configuration(tmp_path: Path) -> None:
    (tmp_path / "ld.so.conf.d").mkdir()
    (tmp_path / "ld.so.conf").write_text(f"include {tmp_path}/ld.so.conf.d/*.conf\n/opt/other\n")
    (tmp_path / "ld.so.conf.d/sparkforge-cudss.conf").write_text("# ours\n/opt/sparkforge/redist/cudss/current/lib/\n")
    assert origins.configured(str(tmp_path / "ld.so.conf")) == [
        (f"{tmp_path}/ld.so.conf.d/sparkforge-cudss.conf", "/opt/sparkforge/redist/cudss/current/lib"),
        (f"{tmp_path}/ld.so.conf", "/opt/other"),
    ]


def test_healthy_interpreter_has_no_strays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "redist/current/lib").mkdir(parents=True)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    reference = {
        "receipt": {"library_paths": [str(tmp_path / "lib")]},
        "paths": [f"{tmp_path}/redist/*/lib"],
        "cuda_version": "13.0",
    }
    allowed = origins.allowed_paths(reference, None)
    assert str((tmp_path / "redist/current/lib").resolve()) in allowed.other
    assert str((tmp_path / "triton").resolve()) in allowed.other
    assert allowed.named == (str((tmp_path / "lib").resolve()),)
    assert not {"/", "/usr", "/usr/local"} & {*allowed.environment, *allowed.other}
    # Use a new process, because other tests may have loaded libraries into this one.
    script = "import ctypes, ssl, sqlite3; print(open('/proc/self/maps').read())"
    maps = tmp_path / "maps"
    maps.write_text(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
    libraries = origins.mapped(str(maps))
    assert any(library.name == "libc.so.6" for library in libraries)
    assert origins.strays(libraries, allowed) == []


def test_site_packages_of_pth_file_are_allowed(tmp_path: Path) -> None:
    """This environment has no receipt: only the .pth file names the directory of the extension modules."""
    below = tmp_path / "base/lib/python3/site-packages"
    foreign = below / "numpy.libs/libgfortran.so.5"
    write_elf(foreign, soname="libgfortran.so.5")
    environment = tmp_path / "over"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    own = next((environment / "lib").glob("python3*/site-packages"))
    (own / "base.pth").write_text(f"{below}\n")
    script = (
        "from sparkforge_proof.checks.stack import origins\n"
        f"libraries = [origins.library(path) for path in {[str(path) for path in (foreign, own / '_x.so')]}]\n"
        "assert origins.strays(libraries, origins.allowed_paths({}, None)) == []\n"
    )
    sources = str(Path(origins.__file__).parents[3])
    subprocess.run([environment / "bin/python", "-c", script], check=True, env={"PYTHONPATH": sources})


def test_mapped_libraries(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text(
        "7f0000000000-7f0000001000 r-xp 00000000 08:01 42                         /opt/with space/libx.so.1\n"
        "7f0000001000-7f0000002000 r--p 00001000 08:01 42                         /opt/with space/libx.so.1\n"
        "7f0000002000-7f0000003000 r--p 00000000 08:01 43                         /opt/liby.so (deleted)\n"
        "7f0000003000-7f0000004000 r--p 00000000 08:01 44                         /usr/bin/python3.12\n"
        "7f0000004000-7f0000005000 rw-p 00000000 00:00 0                          [heap]\n"
        "7f0000005000-7f0000006000 rw-s 00000000 00:01 9                          /dev/shm/x.sock\n"
        "7f0000006000-7f0000007000 rw-p 00000000 00:00 0\n"
    )
    libraries = origins.mapped(str(tmp_path / "maps"))
    assert [library.path for library in libraries] == ["/opt/liby.so", "/opt/with space/libx.so.1"]


def cudnn(directory: Path) -> origins.Library:
    """Write cuDNN's shims, which contain the names of the libraries that they open."""
    write_elf(directory / "libcudnn.so.9", soname="libcudnn.so.9", runpath="$ORIGIN")
    with (directory / "libcudnn.so.9").open("ab") as stream:
        stream.write(b"\0libcudnn_graph.so\0libcudnn_ops.so\0libcudnn.so.9\0")
    write_elf(directory / "libcudnn_graph.so.9", soname="libcudnn_graph.so.9", runpath="$ORIGIN")
    with (directory / "libcudnn_graph.so.9").open("ab") as stream:
        stream.write(b"\0libcudnn_graph.so.9\0libcudnn_engines_precompiled.so\0libcudnn_heuristic.so\0libnvrtc.so\0")
    return origins.library(str(directory / "libcudnn.so.9"))


def test_libraries_opened_by_torch_and_cudnn(tmp_path: Path) -> None:
    torch_lib = tmp_path / "torch/lib"
    shim = cudnn(tmp_path / "nvidia/cudnn/lib")
    write_elf(torch_lib / "libtorch_cuda.so", soname="libtorch_cuda.so")
    write_elf(torch_lib / "libtorch_cuda_linalg.so", soname="libtorch_cuda_linalg.so")
    libraries = [shim, origins.library(str(torch_lib / "libtorch_cuda.so"))]
    openings = origins.openings(libraries, str(torch_lib), "13.2")
    assert {opening.soname: os.path.basename(opening.opener.path) for opening in openings} == {
        "libtorch_cuda_linalg.so": "libtorch_cuda.so", "libnvrtc.so.13": "libtorch_cuda.so",
        "libnvJitLink.so.13": "libtorch_cuda.so", "libcudnn_graph.so.9": "libcudnn.so.9",
        "libcudnn_ops.so.9": "libcudnn.so.9", "libcudnn_engines_precompiled.so.9": "libcudnn_graph.so.9",
        "libcudnn_heuristic.so.9": "libcudnn_graph.so.9",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"runpath": "$ORIGIN/own"}, "searched"),
        ({"rpath": "${ORIGIN}/own"}, "own"),
        ({"rpath": "$ORIGIN/other", "runpath": "$ORIGIN/own"}, "searched"),
        ({}, "searched"),
    ],
)
def test_search_order_of_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], expected):
    for name in ("own", "other", "searched"):
        write_elf(tmp_path / name / "libx.so.1", soname="libx.so.1")
    opener = origins.library(str(write_elf(tmp_path / "opener.so", **options)))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"relative:{tmp_path}/searched")
    directory = tmp_path.resolve() if expected == "own" else tmp_path
    assert origins.find("libx.so.1", opener) == f"{directory}/{expected}/libx.so.1"
    assert origins.find("libnowhere.so.1", opener) is None


def test_new_cudnn_library_is_optional(tmp_path: Path) -> None:
    shim = cudnn(tmp_path)
    names = ["libcudnn_engines_tensor_ir.so.9", "libcudnn_engines_precompiled.so.9", "libnvrtc.so.13"]
    assert [origins.Opening(name, shim).is_optional for name in names] == [True, False, False]


def test_cudnn_libraries_from_two_directories() -> None:
    own = [origins.Library(f"/env/cudnn/lib/{name}", name, None) for name in ("libcudnn_ops.so.9", "libcudnn.so.9")]
    name = "libcudnn_engines_tensor_ir.so.9"
    hosts = origins.Library(f"/usr/lib/aarch64-linux-gnu/{name}.23.2", name, None)
    other = origins.Library("/usr/lib/aarch64-linux-gnu/libcublas.so.13", "libcublas.so.13", None)
    assert origins.mixed([*own, other]) == []
    assert origins.mixed([hosts, *own, other]) == [hosts]


def test_missing_library_has_error_of_loader(tmp_path: Path) -> None:
    opener = origins.library(str(write_elf(tmp_path / "opener.so")))
    error = origins.open_named(origins.Opening("libnowhere.so.1", opener))
    assert str(error).startswith("libnowhere.so.1: cannot open")
    assert origins.open_named(origins.Opening("libc.so.6", opener)) is None


def test_stale_library_in_real_process(tmp_path: Path) -> None:
    """Through LD_LIBRARY_PATH, a process loads a copy of zlib with a different SONAME."""
    assert zlib
    source = next((library.path for library in origins.mapped() if library.soname == "libz.so.1"), None)
    if source is None:
        pytest.skip("this interpreter's zlib is built in: there is no library to copy")
    content = Path(source).read_bytes()
    assert b"\0libz.so.1\0" in content
    stale = tmp_path.resolve() / "stale"
    stale.mkdir()
    (stale / "libq.so.1").write_bytes(content.replace(b"\0libz.so.1\0", b"\0libq.so.1\0"))
    program = (
        "import ctypes, json\n"
        "from sparkforge_proof.checks.stack import origins\n"
        "ctypes.CDLL('libq.so.1')\n"
        "strays = origins.strays(origins.mapped(), origins.allowed_paths({}, None))\n"
        "print(json.dumps([stray.cause for stray in strays]))\n"
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stale), "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    (cause,) = json.loads(result.stdout)
    assert cause.startswith(f"libq.so.1 was loaded from {stale}/libq.so.1, and the stack")
    assert cause.endswith(f"through LD_LIBRARY_PATH, which names {stale}.")
