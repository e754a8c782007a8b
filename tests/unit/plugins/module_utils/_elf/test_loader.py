import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import ldcache, loader, reader
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf.closure import Closure
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf.filesystem import (
    FileSystem,
    configured_directories,
)
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils.elf_writer import (
    AARCH64,
    X86_64,
    write_elf,
)

AARCH64_CACHE_FLAGS = 0x0A03
X86_64_CACHE_FLAGS = 0x0303
SYSTEM_LOADER = next((path for path in loader.INTERPRETERS.values() if os.path.exists(path)), "")


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """An aarch64 root file system with a C library and a loader, in Debian's layout, without a cache."""
    directory = tmp_path / "root"
    write_elf(directory / "lib/ld-linux-aarch64.so.1", soname="ld-linux-aarch64.so.1")
    libraries = directory / "lib/aarch64-linux-gnu"
    write_elf(libraries / "libc.so.6", soname="libc.so.6", needed=["ld-linux-aarch64.so.1"])
    (directory / "etc/ld.so.conf.d").mkdir(parents=True)
    return directory


def closure(root: pathlib.Path, *paths: str, **options: t.Any) -> dict[str, t.Any]:
    return Closure(list(paths), root=str(root), **options).result()


def sonames(entries: list[dict[str, t.Any]]) -> list[str]:
    return [entry["soname"] for entry in entries]


# -- missing libraries


def test_closure_names_all_missing_libraries_at_once(root: pathlib.Path) -> None:
    """The loader itself stops at the first missing library: first nvpl_lapack, then nvpl_blas, then cudss."""
    torch = root / "usr/lib/python3/dist-packages/torch/lib"
    write_elf(torch / "libc10.so", soname="libc10.so", needed=["libc.so.6"])
    cpu = ["libc10.so", "libnvpl_lapack_lp64_gomp.so.0", "libnvpl_blas_lp64_gomp.so.0", "libgomp.so.1"]
    write_elf(torch / "libtorch_cpu.so", soname="libtorch_cpu.so", needed=cpu, rpath="$ORIGIN")
    cuda = ["libtorch_cpu.so", "libcudss.so.0", "libcublas.so.13", "libcuda.so.1", "libc.so.6"]
    write_elf(torch / "libtorch_cuda.so", soname="libtorch_cuda.so", needed=cuda, rpath="$ORIGIN")
    write_elf(root / "usr/lib/aarch64-linux-gnu/libcublas.so.13", soname="libcublas.so.13", needed=["libc.so.6"])
    path = "/usr/lib/python3/dist-packages/torch/lib/libtorch_cuda.so"
    result = closure(root, path, driver=True, cuda_version="13.0")
    assert {entry["soname"]: entry["provided_by"]["role"] for entry in result["missing"]} == {
        "libcudss.so.0": "math_libraries",
        "libgomp.so.1": "build_toolchain",
        "libnvpl_blas_lp64_gomp.so.0": "math_libraries",
        "libnvpl_lapack_lp64_gomp.so.0": "math_libraries",
    }
    cudss = result["missing"][0]
    assert cudss["needed_by"] == [path]
    assert cudss["provided_by"]["package"] == "libcudss0-cuda-13"
    assert cudss["machine"] == "aarch64"
    assert result["driver_provided"] == ["libcuda.so.1"]
    assert result["resolved"]["libcublas.so.13"] == "/usr/lib/aarch64-linux-gnu/libcublas.so.13"


def test_driver_libraries_may_be_absent_on_request(root: pathlib.Path) -> None:
    write_elf(root / "a.so", needed=["libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-nvvm.so.4"])
    assert sonames(closure(root, "/a.so")["missing"]) == ["libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-nvvm.so.4"]
    without_driver = closure(root, "/a.so", driver=True)
    assert sonames(without_driver["missing"]) == ["libnvidia-nvvm.so.4"]
    assert without_driver["driver_provided"] == ["libcuda.so.1", "libnvidia-ml.so.1"]


def test_library_of_wrong_version_is_named_with_path(root: pathlib.Path) -> None:
    write_elf(root / "a.so", needed=["libcudss.so.0"])
    write_elf(root / "usr/lib/aarch64-linux-gnu/libcudss.so.1.0.0", soname="libcudss.so.1")
    (root / "usr/lib/aarch64-linux-gnu/libcudss.so.1").symlink_to("libcudss.so.1.0.0")
    result = closure(root, "/a.so")
    assert sonames(result["missing"]) == ["libcudss.so.0"]
    (note,) = result["wrong_version"]
    assert (note["soname"], note["found"]) == ("libcudss.so.0", "libcudss.so.1")
    assert note["path"] == "/usr/lib/aarch64-linux-gnu/libcudss.so.1"
    assert note["path"] in note["note"]


@pytest.mark.parametrize("path", ["/usr/lib/aarch64-linux-gnu/libx/13/libx.so.1", "/usr/lib/libx.so.1.4.2"])
def test_library_outside_search_path_or_without_soname_link_is_named(root: pathlib.Path, path: str) -> None:
    write_elf(root / "a.so", needed=["libx.so.1"])
    write_elf(root / path[1:], soname="libx.so.1")
    (missing,) = closure(root, "/a.so")["missing"]
    assert missing["off_path"] == [path]


# -- search order


def test_loaded_soname_satisfies_later_needs(root: pathlib.Path) -> None:
    write_elf(root / "hidden/libx.so.1", soname="libx.so.1")
    write_elf(root / "usr/lib/liby.so", soname="liby.so", needed=["libx.so.1"])
    write_elf(root / "first.so", needed=["libx.so.1", "liby.so"], runpath="/hidden")
    write_elf(root / "later.so", needed=["liby.so"], runpath="/hidden")
    assert closure(root, "/first.so")["missing"] == []
    assert sonames(closure(root, "/later.so")["missing"]) == ["libx.so.1"]


def test_file_opened_through_alias_provides_its_soname(root: pathlib.Path) -> None:
    write_elf(root / "usr/lib/libreal.so.7", soname="libreal.so.7")
    (root / "usr/lib/libalias.so").symlink_to("libreal.so.7")
    write_elf(root / "a.so", needed=["libalias.so", "libreal.so.7"])
    result = closure(root, "/a.so")
    assert result["missing"] == []
    assert result["resolved"]["libreal.so.7"] == "/usr/lib/libalias.so"


@pytest.mark.parametrize(
    "token", ["$ORIGIN/../deep", "${ORIGIN}/../deep", "/$LIB/deep", "/p/$PLATFORM", "/${LIB}/deep/"]
)
def test_search_path_tokens_are_expanded(root: pathlib.Path, token: str) -> None:
    for directory in ("deep", "lib/aarch64-linux-gnu/deep", "p/aarch64"):
        write_elf(root / directory / "libx.so.1", soname="libx.so.1")
    write_elf(root / "bin/a.so", needed=["libx.so.1"], runpath=token)
    assert closure(root, "/bin/a.so")["missing"] == []


def test_origin_of_linked_library_and_program(root: pathlib.Path) -> None:
    write_elf(root / "real/lib/liba.so", soname="liba.so", needed=["libx.so.1"], runpath="$ORIGIN")
    write_elf(root / "real/lib/libx.so.1", soname="libx.so.1")
    write_elf(root / "real/bin/tool", needed=["libx.so.1"], runpath="$ORIGIN/../lib", interpreter="/lib/ld.so")
    (root / "link").mkdir()
    (root / "link/liba.so").symlink_to("/real/lib/liba.so")
    (root / "link/tool").symlink_to("/real/bin/tool")
    assert sonames(closure(root, "/link/liba.so")["missing"]) == ["libx.so.1"]
    assert closure(root, "/link/tool")["missing"] == []


def test_candidate_for_another_machine_is_skipped(root: pathlib.Path) -> None:
    write_elf(root / "one/libx.so.1", soname="libx.so.1", machine=X86_64)
    write_elf(root / "two/libx.so.1", soname="libx.so.1", machine=40, bits=32)
    write_elf(root / "three/libx.so.1", soname="libx.so.1")
    write_elf(root / "a.so", needed=["libx.so.1"], runpath="/one:/two:/three")
    write_elf(root / "b.so", needed=["libx.so.1"], runpath="/one:/two")
    assert closure(root, "/a.so")["resolved"]["libx.so.1"] == "/three/libx.so.1"
    (missing,) = closure(root, "/b.so")["missing"]
    assert missing["rejected"] == [
        {"path": "/one/libx.so.1", "reason": "it is for x86_64, not aarch64"},
        {"path": "/two/libx.so.1", "reason": "it has 32 bits, not 64"},
    ]


def test_unreadable_candidate_stops_the_search(root: pathlib.Path) -> None:
    (root / "one").mkdir()
    (root / "one/libx.so.1").write_text("a git-lfs pointer\n")
    write_elf(root / "two/libx.so.1", soname="libx.so.1")
    write_elf(root / "a.so", needed=["libx.so.1"], runpath="/one:/two")
    (missing,) = closure(root, "/a.so")["missing"]
    assert "/one/libx.so.1 is not" in missing["rejected"][0]["reason"]


def test_need_with_slash_is_a_path(root: pathlib.Path) -> None:
    write_elf(root / "opt/libx.so", soname="libx.so")
    write_elf(root / "a.so", needed=["/opt/libx.so", "$ORIGIN/opt/libx.so", "/gone/liby.so"])
    assert sonames(closure(root, "/a.so")["missing"]) == ["/gone/liby.so"]


def test_circular_needs_end(root: pathlib.Path) -> None:
    write_elf(root / "d/liba.so", soname="liba.so", needed=["libb.so"], runpath="$ORIGIN")
    write_elf(root / "d/libb.so", soname="libb.so", needed=["liba.so", "libgone.so"], runpath="$ORIGIN")
    result = closure(root, "/d")
    assert sonames(result["missing"]) == ["libgone.so"]
    assert result["missing"][0]["needed_by"] == ["/d/libb.so"]


# -- the cache and its configuration


CACHE = [
    ("libx.so.1", "/opt/x/libx.so.1", AARCH64_CACHE_FLAGS, ""),
    ("libx.so.1", "/opt/x86/libx.so.1", X86_64_CACHE_FLAGS, ""),
]


def test_cache_entries_for_special_processors_are_skipped() -> None:
    cache = elf_writer.new_cache([*CACHE, ("liby.so", "/v/liby.so", X86_64_CACHE_FLAGS, "x86-64-v3")])
    assert ldcache.parse_cache(cache) == [ldcache.CacheEntry(name, path, flags) for name, path, flags, _hwcaps in CACHE]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"ld.so-1.7.0\0" + bytes(40), r"unknown format: it begins with b'ld\.so-1\.7\.0"),
        *((elf_writer.new_cache(CACHE)[:size], r"ld\.so\.cache is damaged") for size in (0, 10, 30, 47, 60, 90)),
    ],
)
def test_damaged_cache_or_that_of_old_glibc_is_refused(content: bytes, cause: str) -> None:
    with pytest.raises(SparkforgeError, match=cause) as failure:
        ldcache.parse_cache(content)
    assert "ldconfig" in failure.value.remedy


def test_cache_entry_matches_the_machine(root: pathlib.Path) -> None:
    write_elf(root / "opt/x/libx.so.1", soname="libx.so.1")
    write_elf(root / "opt/x86/libx.so.1", soname="libx.so.1", machine=X86_64)
    write_elf(root / "a.so", needed=["libx.so.1"])
    write_elf(root / "b.so", needed=["libx.so.1"], machine=X86_64)
    (root / "etc/ld.so.cache").write_bytes(elf_writer.new_cache(list(reversed(CACHE))))
    assert closure(root, "/a.so")["resolved"]["libx.so.1"] == "/opt/x/libx.so.1"
    assert closure(root, "/b.so")["resolved"]["libx.so.1"] == "/opt/x86/libx.so.1"


def test_stale_cache_entry_does_not_hide_default_directories(root: pathlib.Path) -> None:
    write_elf(root / "usr/lib/libx.so.1", soname="libx.so.1")
    write_elf(root / "a.so", needed=["libx.so.1"])
    (root / "etc/ld.so.cache").write_bytes(elf_writer.new_cache(CACHE))
    assert closure(root, "/a.so")["resolved"]["libx.so.1"] == "/usr/lib/libx.so.1"


def test_directory_missing_from_cache_is_named(root: pathlib.Path) -> None:
    write_elf(root / "opt/new/libx.so.1", soname="libx.so.1")
    write_elf(root / "a.so", needed=["libx.so.1"])
    (root / "etc/ld.so.conf").write_text("/opt/new\n")
    (root / "etc/ld.so.cache").write_bytes(elf_writer.new_cache([]))
    (missing,) = closure(root, "/a.so")["missing"]
    assert missing["off_path"] == ["/opt/new/libx.so.1"]


def test_ld_so_conf_is_used_without_cache(root: pathlib.Path) -> None:
    write_elf(root / "opt/sparkforge/redist/libcudss/current/lib/libcudss.so.0", soname="libcudss.so.0")
    write_elf(root / "a.so", needed=["libcudss.so.0"])
    (root / "etc/ld.so.conf").write_text("include ld.so.conf.d/*.conf  # the rest\n\nhwcap 1 nosegneg\n/opt/y=libc6\n")
    (root / "etc/ld.so.conf.d/b.conf").write_text("# sparkforge\n/opt/sparkforge/redist/libcudss/current/lib/\n")
    (root / "etc/ld.so.conf.d/a.conf").write_text("/usr/local/lib\ninclude /etc/ld.so.conf\n")
    files = FileSystem(str(root))
    assert configured_directories(files) == ["/usr/local/lib", "/opt/sparkforge/redist/libcudss/current/lib", "/opt/y"]
    assert closure(root, "/a.so")["missing"] == []


def test_cache_of_this_host_matches_ldconfig() -> None:
    ldconfig = shutil.which("ldconfig") or "/usr/sbin/ldconfig"
    if not (os.path.exists(ldconfig) and os.path.exists("/etc/ld.so.cache")):
        pytest.skip("this host has no ldconfig or no /etc/ld.so.cache to compare with")
    printed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^\t(\S+) \((?!.*hwcap)(.*?)\) => (\S+)$", printed, re.MULTILINE)
    entries = ldcache.parse_cache(pathlib.Path("/etc/ld.so.cache").read_bytes())
    assert len(lines) > 10
    assert [(entry.soname, entry.path) for entry in entries] == [(name, path) for name, _kind, path in lines]
    for entry, (_name, kind, _path) in zip(entries, lines):
        assert ("x86-64" in kind) == (entry.flags & 0xFF00 == 0x0300)
        assert ("AArch64" in kind) == (entry.flags & 0xFF00 == 0x0A00)


# -- comparison with the real loader


def by_the_real_loader(path: str, **environment: str) -> dict[str, str | None]:
    """Run this host's loader on a file, and return SONAME -> path, or None for a missing library.

    Like ldd, it sets LD_TRACE_LOADED_OBJECTS; unlike --list, this continues after the first missing library.
    """
    variables = {"LC_ALL": "C", "LD_TRACE_LOADED_OBJECTS": "1", **environment}
    output = subprocess.run([SYSTEM_LOADER, path], capture_output=True, text=True, env=variables).stdout
    matches = re.findall(r"^\t(\S+) => (not found|\S+)", output, re.MULTILINE)
    return {soname: None if target == "not found" else target for soname, target in matches}


def by_our_loader(path: str, search: t.Sequence[str] = ()) -> dict[str, str | None]:
    return {need.soname: need.path for need in reversed(loader.Loader(search=search).load(path).needs)}


def system_files() -> list[str]:
    programs = [os.path.realpath(sys.executable), "/bin/ls", "/usr/bin/python3"]
    programs += ["/usr/bin/git", "/usr/bin/ssh", "/usr/bin/gdb"]
    libraries: list[str] = []
    for triplet in loader.TRIPLETS.values():
        libraries += sorted(str(path) for path in (pathlib.Path("/usr/lib") / triplet).glob("lib*.so.?"))
    return [path for path in programs if os.path.exists(path)] + libraries[::12][:20]


@pytest.mark.skipif(not SYSTEM_LOADER, reason="no glibc loader to compare with on this host")
@pytest.mark.parametrize("path", system_files())
def test_real_loader_finds_the_same_files(path: str) -> None:
    expected = {name: target for name, target in by_the_real_loader(path).items() if "ld-linux" not in name}
    assert {name: target for name, target in by_our_loader(path).items() if "ld-linux" not in name} == expected


@pytest.fixture
def compile_library(tmp_path: pathlib.Path) -> t.Callable[..., str]:
    """Provide a function that compiles a shared library with gcc."""
    if not shutil.which("gcc") or not SYSTEM_LOADER:
        pytest.skip("NO COMPILER: gcc is missing, so the comparison with the real loader's search paths DID NOT RUN")

    def build(name: str, *libraries: str, flags: t.Sequence[str] = ()) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = tmp_path / "empty.c"
        source.write_text("int unused_by_all;\n")
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-nostdlib", "-o", str(path), f"-Wl,-soname,{path.name}", "-Wl,--no-as-needed"]
            + ["-Wl,--allow-shlib-undefined", *flags, str(source), *libraries],
            check=True,
        )
        return str(path)

    return build


RPATH_FLAG, RUNPATH_FLAG = "-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"


@pytest.mark.parametrize("tags", [RPATH_FLAG, RUNPATH_FLAG], ids=["rpath", "runpath"])
@pytest.mark.parametrize("middle_tags", [None, RPATH_FLAG, RUNPATH_FLAG], ids=["plain", "rpath", "runpath"])
@pytest.mark.parametrize("environment", [False, True], ids=["no-environment", "LD_LIBRARY_PATH"])
def test_real_loader_searches_in_the_same_order(compile_library, tmp_path, tags, middle_tags, environment):
    deep = compile_library("deep/libdeep.so")
    compile_library("other/libdeep.so")
    compile_library("other/libmiddle.so", deep)
    flags = [] if middle_tags is None else [middle_tags, f"-Wl,-rpath,{tmp_path}/other"]
    middle = compile_library("deep/libmiddle.so", deep, flags=flags)
    top = compile_library("top/libtop.so", middle, deep, flags=[tags, "-Wl,-rpath,$ORIGIN/../deep"])
    without_deep = compile_library("top/liblonely.so", middle, flags=[tags, "-Wl,-rpath,$ORIGIN/../deep"])
    search = [f"{tmp_path}/other"] if environment else []
    variables = {"LD_LIBRARY_PATH": ":".join(search)} if environment else {}
    for path in (top, without_deep):
        assert by_our_loader(path, search) == by_the_real_loader(path, **variables)


# -- paths and directories


def test_directory_is_examined_without_other_files(root: pathlib.Path) -> None:
    write_elf(root / "d/liba.so", soname="liba.so", needed=["libgone.so.1"])
    write_elf(root / "d/sub/module.cpython-312.so", needed=["libgone.so.2"])
    write_elf(root / "d/object.o", kind=1, dynamic=False)
    write_elf(root / "d/static", kind=2, dynamic=False)
    (root / "d/readme").write_text("text")
    (root / "d/lib.a").write_bytes(b"!<arch>\n")
    os.mkfifo(root / "d/pipe")
    result = closure(root, "/d")
    assert sonames(result["missing"]) == ["libgone.so.1", "libgone.so.2"]
    assert result["unreadable"] == []


def test_library_inherits_rpath_within_directory(root: pathlib.Path) -> None:
    """Only libtorch.so has an RPATH, so libtorch_cpu.so cannot be loaded by itself."""
    write_elf(root / "torch/lib/libc10.so", soname="libc10.so", needed=["libc.so.6"])
    write_elf(root / "torch/lib/libtorch_cpu.so", soname="libtorch_cpu.so", needed=["libc10.so"])
    write_elf(root / "torch/lib/libtorch.so", soname="libtorch.so", needed=["libtorch_cpu.so"], rpath="$ORIGIN")
    assert closure(root, "/torch/lib")["missing"] == []
    assert sonames(closure(root, "/torch/lib/libtorch_cpu.so")["missing"]) == ["libc10.so"]


def test_needs_of_optional_plugins_are_separate(root: pathlib.Path) -> None:
    write_elf(root / "d/libcudss.so.0", soname="libcudss.so.0", needed=["libc.so.6"])
    write_elf(root / "d/libcudss_commlayer_openmpi.so.0", needed=["libmpi.so.40", "libboth.so"])
    write_elf(root / "d/libother.so", needed=["libboth.so"])
    result = closure(root, "/d")
    assert sonames(result["missing"]) == ["libboth.so"]
    assert sonames(result["missing_optional"]) == ["libmpi.so.40"]
    assert "multi-node" in result["missing_optional"][0]["reason"]
    named = closure(root, "/d/libcudss_commlayer_openmpi.so.0")
    assert sonames(named["missing"]) == ["libboth.so", "libmpi.so.40"]


def test_links_to_library_count_once(root: pathlib.Path) -> None:
    write_elf(root / "d/libx.so.1.2", soname="libx.so.1", needed=["libgone.so"])
    (root / "d/libx.so.1").symlink_to("libx.so.1.2")
    (root / "d/libx.so").symlink_to("libx.so.1")
    (root / "d/loop").symlink_to("loop")
    (root / "d/up").symlink_to("..")
    (root / "d/dangling.so").symlink_to("nothing.so")
    assert closure(root, "/d")["missing"][0]["needed_by"] == ["/d/libx.so.1.2"]


def test_circular_link_is_refused(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (root / "loop").symlink_to("/loop")
    with pytest.raises(SparkforgeError, match="form a loop"):
        closure(root, "/loop")
    (tmp_path / "again").symlink_to("again")
    with pytest.raises(SparkforgeError, match="circular symbolic link"):
        Closure([str(tmp_path / "again")]).result()


def test_absolute_links_are_resolved_inside_the_root(root: pathlib.Path) -> None:
    write_elf(root / "opt/v1/liba.so", soname="liba.so", needed=["libgone.so"])
    (root / "opt/current").symlink_to("/opt/v1")
    (root / "outside").symlink_to("../../../../../../../opt/v1")
    assert closure(root, "/opt/current")["missing"][0]["needed_by"] == ["/opt/current/liba.so"]
    assert closure(root, "/outside/liba.so")["missing"][0]["soname"] == "libgone.so"


def test_damaged_file_does_not_hide_others(root: pathlib.Path) -> None:
    write_elf(root / "d/liba.so", needed=["libgone.so"])
    (root / "d/libcut.so").write_bytes(elf_writer.elf_bytes(needed=["libc.so.6"], padding=99)[:-50])
    result = closure(root, "/d")
    assert sonames(result["missing"]) == ["libgone.so"]
    assert [entry["path"] for entry in result["unreadable"]] == ["/d/libcut.so"]
    assert "truncated" in result["unreadable"][0]["cause"]


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"dynamic": False, "kind": 2}, "statically linked"),
        ({"kind": 1}, "an object file"),
        ({"kind": 4}, "a core dump"),
        ({"machine": 40, "bits": 32}, "is for armv7l, 32 bits"),
        ({"machine": 22, "little_endian": False}, "is for s390x, 64 bits"),
    ],
)
def test_named_file_that_cannot_be_loaded_is_refused(root: pathlib.Path, description: dict[str, t.Any], message: str):
    write_elf(root / "x", **description)
    with pytest.raises(SparkforgeError, match=message):
        closure(root, "/x")


def test_missing_path_is_refused_unless_ignored(root: pathlib.Path) -> None:
    for path in ("/gone.so", "/gone/*.so"):
        with pytest.raises(SparkforgeError, match=re.escape(f"{path} does not exist")):
            closure(root, path)
        result = closure(root, path, ignore_absent=True)
        assert (result["absent"], result["missing"], result["examined"]) == ([path], [], 0)


def test_pattern_is_expanded(root: pathlib.Path) -> None:
    for name in ("libcudss", "nvpl_blas"):
        write_elf(root / f"opt/redist/{name}/current/lib/{name}.so", needed=[f"{name}.gone"])
    assert sonames(closure(root, "/opt/redist/*/current/lib")["missing"]) == ["libcudss.gone", "nvpl_blas.gone"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"paths": []}, "No path is"),
        ({"paths": ["lib/x.so"]}, "'lib/x.so' is relative"),
        ({"paths": ["/bin"], "search": ["lib"]}, "search directory 'lib' is relative"),
        ({"paths": ["/bin"], "root": "/no/such/directory"}, "not a directory"),
    ],
)
def test_invalid_arguments_are_refused(options: dict[str, t.Any], message: str) -> None:
    with pytest.raises(SparkforgeError, match=message):
        Closure(**options).result()


def test_each_file_is_read_once(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"lib{number}.so" for number in range(30)]
    for name in names:
        needs = [other for other in names if other != name] + ["libc.so.6"]
        write_elf(root / "d" / name, soname=name, needed=needs, runpath="$ORIGIN", padding=1 << 16)
    read: list[str] = []
    read_elf = reader.read_elf

    def counted(path: str, shown: str | None = None) -> reader.ElfFile:
        read.append(shown or path)
        return read_elf(path, shown)

    monkeypatch.setattr(reader, "read_elf", counted)
    result = closure(root, "/d")
    assert result["missing"] == []
    assert len(read) == len(set(read)) == result["examined"] == 32


def test_directory_with_two_machines(root: pathlib.Path) -> None:
    write_elf(root / "d/arm.so", needed=["libc.so.6"], machine=AARCH64)
    write_elf(root / "d/intel.so", needed=["libc.so.6"], machine=X86_64)
    (missing,) = closure(root, "/d")["missing"]
    assert (missing["machine"], missing["needed_by"]) == ("x86_64", ["/d/intel.so"])
