import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils.elf_writer import write_elf
from sparkforge_proof.checks.stack import origins


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An environment, a versioned directory of the stack, and directories that nobody named."""
    root = tmp_path.resolve()
    write_elf(root / "env/torch/lib/libtorch_cuda.so", soname="libtorch_cuda.so", needed=["libcudss.so.0"])
    write_elf(root / "redist/0.7.0.20/lib/libcudss.so.0.7.0", soname="libcudss.so.0")
    (root / "redist/0.7.0.20/lib/libcudss.so.0").symlink_to("libcudss.so.0.7.0")
    write_elf(root / "stale/libcudss.so.0", soname="libcudss.so.0")
    write_elf(root / "usr/lib/libc.so.6", soname="libc.so.6")
    return root


def places(tree: Path, *named: str) -> origins.Places:
    directories = tuple(str(tree / name) for name in named)
    return origins.Places(
        (str(tree / "env"),), directories, (str(tree / "cuda-13.0"),), (str(tree / "usr/lib"),), str(tree / "dpkg")
    )


def strays(tree: Path, *paths: str, named: t.Sequence[str] = ("redist/0.7.0.20/lib",)) -> list[origins.Stray]:
    return origins.strays([origins.library(str(tree / path)) for path in paths], places(tree, *named))


def test_libraries_of_the_environment_the_stack_and_the_system_are_where_they_belong(tree: Path) -> None:
    write_elf(tree / "cuda-13.0/targets/sbsa-linux/lib/libcublas.so.13", soname="libcublas.so.13")
    paths = ["env/torch/lib/libtorch_cuda.so", "redist/0.7.0.20/lib/libcudss.so.0.7.0", "usr/lib/libc.so.6"]
    assert strays(tree, *paths, "cuda-13.0/targets/sbsa-linux/lib/libcublas.so.13") == []


def test_a_stale_copy_is_named_with_what_brought_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tree}/stale:{tree}/redist/0.7.0.20/lib")
    (found,) = strays(tree, "env/torch/lib/libtorch_cuda.so", "stale/libcudss.so.0")
    assert found.cause == (
        f"libcudss.so.0 was loaded from {tree}/stale/libcudss.so.0, and the environment was created to find"
        f" {tree}/redist/0.7.0.20/lib/libcudss.so.0. It was found through LD_LIBRARY_PATH, which names {tree}/stale."
    )
    assert f"Remove {tree}/stale from LD_LIBRARY_PATH" in found.remedy


def test_the_same_file_by_another_name_is_no_stale_copy(tree: Path) -> None:
    os.link(tree / "redist/0.7.0.20/lib/libcudss.so.0.7.0", tree / "linked.so")
    assert strays(tree, "linked.so") == []


def test_even_a_copy_in_the_systems_directory_is_stale_where_the_stack_names_another(tree: Path) -> None:
    write_elf(tree / "usr/lib/libcudss.so.0", soname="libcudss.so.0")
    assert [one.path for one in strays(tree, "usr/lib/libcudss.so.0")] == [f"{tree}/usr/lib/libcudss.so.0"]
    assert strays(tree, "usr/lib/libcudss.so.0", named=()) == []


def test_a_copy_in_the_systems_directory_that_no_package_brought_is_a_stray_save_the_drivers(tree: Path) -> None:
    """A container's runtime puts the driver's libraries there."""
    (tree / "dpkg").mkdir()
    for name in ("libcudss.so.0", "libcuda.so.1", "libanything.so.1"):
        write_elf(tree / "usr/lib" / name, soname=name)
    (found,) = strays(tree, "usr/lib/libcudss.so.0", "usr/lib/libcuda.so.1", "usr/lib/libanything.so.1", named=())
    assert found.cause.startswith(f"libcudss.so.0 was loaded from {tree}/usr/lib/libcudss.so.0, and no package owns it")


def test_a_library_from_a_place_that_nobody_named_is_a_stray_whatever_it_is(tree: Path) -> None:
    write_elf(tree / "home/user/libjemalloc.so.2", soname="libjemalloc.so.2")
    (found,) = strays(tree, "home/user/libjemalloc.so.2")
    assert "the stack has no such path" in found.cause
    assert found.remedy


def test_a_toolkit_of_another_version_is_a_stray(tree: Path) -> None:
    write_elf(tree / "cuda-12.8/lib64/libcublas.so.12", soname="libcublas.so.12")
    assert len(strays(tree, "cuda-12.8/lib64/libcublas.so.12")) == 1


def test_the_runpath_that_brought_it_is_named(tree: Path) -> None:
    write_elf(
        tree / "env/flash/kernels.so", soname="kernels.so", needed=["libcudss.so.0"], runpath="$ORIGIN/../../stale"
    )
    (found,) = strays(tree, "env/flash/kernels.so", "stale/libcudss.so.0", named=())
    assert f"It was found through the RUNPATH of {tree}/env/flash/kernels.so." in found.cause


def test_what_the_administrator_preloads_for_every_program_is_let_be_unless_it_is_the_stacks(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_elf(tree / "agent/libwatch.so", soname="libwatch.so")
    monkeypatch.setenv("LD_PRELOAD", f"{tree}/agent/libwatch.so {tree}/stale/libcudss.so.0")
    assert strays(tree, "agent/libwatch.so") == []
    (found,) = strays(tree, "stale/libcudss.so.0")
    assert "LD_PRELOAD" in found.cause
    assert "LD_PRELOAD" in found.remedy


def test_two_copies_of_one_library_are_told_and_a_wheels_private_copy_is_none(tree: Path) -> None:
    for path in ("env/nvidia/lib/libcudart.so.13", "env/torch/lib/libcudart.so.13"):
        write_elf(tree / path, soname="libcudart.so.13", padding=len(path))
    write_elf(tree / "env/torchvision.libs/libcudart.faf08d9a.so.13", soname="libcudart.so.13")
    private = ["env/nvidia/lib/libcudart.so.13", "env/torchvision.libs/libcudart.faf08d9a.so.13"]
    assert strays(tree, *private) == []
    (found,) = strays(tree, *private, "env/torch/lib/libcudart.so.13")
    assert "libcudart.so.13 is loaded twice" in found.cause
    assert all(f"{tree}/env/{place}" in found.cause for place in ("nvidia", "torch"))


def test_only_a_package_may_put_a_library_of_the_stack_into_the_systems_directories(tmp_path: Path) -> None:
    database = tmp_path / "info"
    database.mkdir()
    (database / "libcublas-13-0.list").write_text("/.\n/usr/lib\n/usr/lib/x/libcublas.so.13\n")
    (database / "libold.list").write_text("/lib/x/libold.so.1\n")
    (database / "libold.md5sums").write_text("/usr/lib/x/libcudss.so.0\n")
    wanted = [origins.Library(f"/usr/lib/x/{name}", name, None) for name in ("libcublas.so.13", "libold.so.1", "libcudss.so.0")]  # noqa: E501  # fmt: skip
    assert [one.name for one in origins.unowned(wanted, str(database))] == ["libcudss.so.0"]
    assert origins.unowned(wanted, str(tmp_path / "no-dpkg-here")) == []


def test_the_file_that_names_a_directory_to_the_loader_is_found(tmp_path: Path) -> None:
    (tmp_path / "ld.so.conf.d").mkdir()
    (tmp_path / "ld.so.conf").write_text(f"include {tmp_path}/ld.so.conf.d/*.conf\n/opt/other\n")
    (tmp_path / "ld.so.conf.d/sparkforge-cudss.conf").write_text("# ours\n/opt/sparkforge/redist/cudss/current/lib/\n")
    assert origins.configured(str(tmp_path / "ld.so.conf")) == [
        (f"{tmp_path}/ld.so.conf.d/sparkforge-cudss.conf", "/opt/sparkforge/redist/cudss/current/lib"),
        (f"{tmp_path}/ld.so.conf", "/opt/other"),
    ]


def test_this_interpreters_own_libraries_come_from_allowed_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an interpreter of these tests' kind, whatever it is: nothing of a healthy one is a stray."""
    (tmp_path / "redist/current/lib").mkdir(parents=True)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    reference = {
        "receipt": {"library_paths": [str(tmp_path / "lib")]},
        "paths": [f"{tmp_path}/redist/*/lib"],
        "cuda_version": "13.0",
    }
    allowed = origins.places(reference, None)
    assert str((tmp_path / "redist/current/lib").resolve()) in allowed.other
    assert str((tmp_path / "triton").resolve()) in allowed.other
    assert allowed.named == (str((tmp_path / "lib").resolve()),)
    assert not {"/", "/usr", "/usr/local"} & {*allowed.environment, *allowed.other}
    # A fresh one: into this process other tests may have loaded libraries of their own.
    script = "import ctypes, ssl, sqlite3; print(open('/proc/self/maps').read())"
    maps = tmp_path / "maps"
    maps.write_text(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
    libraries = origins.mapped(str(maps))
    assert any(one.name == "libc.so.6" for one in libraries)
    assert origins.strays(libraries, allowed) == []


def test_the_site_packages_that_a_pth_file_adds_are_the_environments_own(tmp_path: Path) -> None:
    """Such an environment has no receipt, so that nothing else names where its extension modules are."""
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
        "assert origins.strays(libraries, origins.places({}, None)) == []\n"
    )
    sources = str(Path(origins.__file__).parents[3])
    subprocess.run([environment / "bin/python", "-c", script], check=True, env={"PYTHONPATH": sources})


def test_maps_are_read_as_the_kernel_writes_them(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text(
        "7f0000000000-7f0000001000 r-xp 00000000 08:01 42                         /opt/with space/libx.so.1\n"
        "7f0000001000-7f0000002000 r--p 00001000 08:01 42                         /opt/with space/libx.so.1\n"
        "7f0000002000-7f0000003000 r--p 00000000 08:01 43                         /opt/liby.so (deleted)\n"
        "7f0000003000-7f0000004000 r--p 00000000 08:01 44                         /usr/bin/python3.12\n"
        "7f0000004000-7f0000005000 rw-p 00000000 00:00 0                          [heap]\n"
        "7f0000005000-7f0000006000 rw-s 00000000 00:01 9                          /dev/shm/x.sock\n"
        "7f0000006000-7f0000007000 rw-p 00000000 00:00 0\n"
    )
    assert [one.path for one in origins.mapped(str(tmp_path / "maps"))] == ["/opt/liby.so", "/opt/with space/libx.so.1"]


# --- what is opened by name ----------------------------------------------------------------------------------------


def cudnn(directory: Path) -> origins.Library:
    """Write cuDNN's shims, which name the libraries that they open in their text."""
    write_elf(directory / "libcudnn.so.9", soname="libcudnn.so.9", runpath="$ORIGIN")
    with (directory / "libcudnn.so.9").open("ab") as stream:
        stream.write(b"\0libcudnn_graph.so\0libcudnn_ops.so\0libcudnn.so.9\0")
    write_elf(directory / "libcudnn_graph.so.9", soname="libcudnn_graph.so.9", runpath="$ORIGIN")
    with (directory / "libcudnn_graph.so.9").open("ab") as stream:
        stream.write(b"\0libcudnn_graph.so.9\0libcudnn_engines_precompiled.so\0libcudnn_heuristic.so\0libnvrtc.so\0")
    return origins.library(str(directory / "libcudnn.so.9"))


def test_what_torch_and_cudnn_open_by_name_is_what_they_name_themselves(tmp_path: Path) -> None:
    torch_lib = tmp_path / "torch/lib"
    shim = cudnn(tmp_path / "nvidia/cudnn/lib")
    write_elf(torch_lib / "libtorch_cuda.so", soname="libtorch_cuda.so")
    write_elf(torch_lib / "libtorch_cuda_linalg.so", soname="libtorch_cuda_linalg.so")
    libraries = [shim, origins.library(str(torch_lib / "libtorch_cuda.so"))]
    found = origins.openings(libraries, str(torch_lib), "13.2")
    assert {one.soname: os.path.basename(one.opener.path) for one in found} == {
        "libtorch_cuda_linalg.so": "libtorch_cuda.so",
        "libnvrtc.so.13": "libtorch_cuda.so",
        "libnvJitLink.so.13": "libtorch_cuda.so",
        "libcudnn_graph.so.9": "libcudnn.so.9",
        "libcudnn_ops.so.9": "libcudnn.so.9",
        "libcudnn_engines_precompiled.so.9": "libcudnn_graph.so.9",
        "libcudnn_heuristic.so.9": "libcudnn_graph.so.9",
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"runpath": "$ORIGIN/own"}, "searched"),
        ({"rpath": "${ORIGIN}/own"}, "own"),
        ({"rpath": "$ORIGIN/other", "runpath": "$ORIGIN/own"}, "searched"),
        ({}, "searched"),
    ],
)
def test_a_name_is_looked_for_in_the_order_of_the_loader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], expected: str
) -> None:
    for name in ("own", "other", "searched"):
        write_elf(tmp_path / name / "libx.so.1", soname="libx.so.1")
    opener = origins.library(str(write_elf(tmp_path / "opener.so", **options)))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"relative:{tmp_path}/searched")
    assert origins.find("libx.so.1", opener) == f"{tmp_path.resolve() if expected == 'own' else tmp_path}/{expected}/libx.so.1"  # noqa: E501  # fmt: skip
    assert origins.find("libnowhere.so.1", opener) is None


def test_a_part_of_cudnn_that_only_newer_releases_have_is_optional(tmp_path: Path) -> None:
    shim = cudnn(tmp_path)
    names = ["libcudnn_engines_tensor_ir.so.9", "libcudnn_engines_precompiled.so.9", "libnvrtc.so.13"]
    assert [origins.Opening(name, shim).is_optional for name in names] == [True, False, False]


def test_parts_of_cudnn_are_of_one_directory() -> None:
    own = [origins.Library(f"/env/cudnn/lib/{name}", name, None) for name in ("libcudnn_ops.so.9", "libcudnn.so.9")]
    name = "libcudnn_engines_tensor_ir.so.9"
    hosts = origins.Library(f"/usr/lib/aarch64-linux-gnu/{name}.23.2", name, None)
    other = origins.Library("/usr/lib/aarch64-linux-gnu/libcublas.so.13", "libcublas.so.13", None)
    assert origins.mixed([*own, other]) == []
    assert origins.mixed([hosts, *own, other]) == [hosts]


def test_a_library_that_is_not_there_is_told_by_the_loaders_words(tmp_path: Path) -> None:
    opener = origins.library(str(write_elf(tmp_path / "opener.so")))
    error = origins.open_named(origins.Opening("libnowhere.so.1", opener))
    assert error == "libnowhere.so.1: cannot open shared object file: No such file or directory"
    assert origins.open_named(origins.Opening("libc.so.6", opener)) is None


def test_a_stale_library_that_a_real_process_loads_is_found(tmp_path: Path) -> None:
    """A copy of zlib under another SONAME, which LD_LIBRARY_PATH brings into a process that opens it by name."""
    source = next((one.path for one in _zlib()), None)
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
        "print(json.dumps([one.cause for one in origins.strays(origins.mapped(), origins.places({}, None))]))\n"
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(stale), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        f"libq.so.1 was loaded from {stale}/libq.so.1, and the stack has no such path."
        f" It was found through LD_LIBRARY_PATH, which names {stale}."
    ]


def _zlib() -> list[origins.Library]:
    import zlib

    assert zlib
    return [one for one in origins.mapped() if one.soname == "libz.so.1"]
