"""All parsers of external input, with valid input: archives, manifests, receipts, output of programs."""

import io
import json
import tarfile
from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import deb_version, plan, removal, sources
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.request import parse_request
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests, receipts, redact, versions
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import scan
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import fatbin, ldcache, reader
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import (
    git_errors,
    index,
    redist_plan,
    unpack,
    urls,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import apt_state, dpkg, gpu, observation
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import (
    progress,
    receipt as unit_receipt,
    state_file,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import (
    artefact,
    installed as packages,
    names,
    requirement,
    wheel,
    wheel_file,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import keep, publication
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.report import fleet
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import load
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse.query import Query
from ansible_collections.sparkforge.dgx_spark.tools.lock import requirement_lines, resolve, upstream
from sparkforge_proof import sampler
from sparkforge_proof._shared.module_utils._core import deadline
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError as ProofError
from sparkforge_proof.files import contents, fit, judge, texts

from proof.tests.unit import gpu_library
from tests import example_reports
from tests.unit import live_parsers, wheel_tree
from tests.unit.parser import Parser, of_file, of_text
from tests.unit.plugins.module_utils import elf_writer

DATA = Path(__file__).parent / "data"
A = "a" * 64


def _archive(mode: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in (("one-1.0/a.c", b"int a;\n"), ("one-1.0/lib/b.so", bytes(300))):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("one-1.0/lib/c.so")
        link.type, link.linkname = tarfile.SYMTYPE, "b.so"
        archive.addfile(link)
    return stream.getvalue()


def _unpack(path: str) -> object:
    return unpack.unpack(path, str(Path(path).parent / "unpacked"))


_QUERY = Query("torch-2.9.1", "0123456789ab", "ubuntu24.04-aarch64")


def _manifest() -> bytes:
    listed = {"name": "torch", "version": "2.9.1", "file": "torch-2.9.1-py3-none-any.whl", "sha256": A, "size": 1}
    units = [{"name": "pytorch", "fingerprint": "1" * 16, "wheels": [wheel.Wheel(**listed)]}]
    manifest = publication.manifest(
        stack="torch-2.9.1", lock_id="0123456789ab", platform="ubuntu24.04-aarch64", python="3.12", host="spark01",
        written="2026-11-21T10:00:00Z", units=units,
    )  # fmt: skip
    return digests.text_of(manifest).encode()


def _redist(data: bytes, _directory: Path) -> object:
    archive = redist_plan.archives_from(
        [{"product": "cudss", "component": "libcudss", "release": "0.7.1"}], "linux-sbsa", "cuda13", "present"
    )[0]
    return redist_plan.resolve(redist_plan.parse_manifest(data, "https://a/x.json"), archive, "https://a/x.json")


_REDIST = {
    "release_date": "2025-10-01",
    "libcudss": {
        "name": "NVIDIA cuDSS",
        "license": "cuDSS",
        "version": "0.7.1.4",
        "linux-sbsa": {
            "cuda13": {
                "relative_path": "libcudss/linux-sbsa/libcudss-linux-sbsa-0.7.1.4_cuda13-archive.tar.xz",
                "sha256": A,
                "md5": "b" * 32,
                "size": "1234",
            }
        },
    },
}
_UNIT = {
    "format": state_file.FORMAT, "name": "tiny", "fingerprint": "1" * 16, "platform": "debian13-x86_64",
    "finished": "2026", "inputs": {"depends": {"llvm": "2" * 16}},
    "outputs": [{"path": "a.whl", "name": "a", "version": "1", "size": 1, "sha256": A}],
}  # fmt: skip


def _read_sealed(data: bytes, directory: Path) -> object:
    """Seal all JSON objects, because an account that can write a receipt can also seal it."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        data = json.dumps(unit_receipt.seal({**document, "format": state_file.FORMAT})).encode()
    (directory / "receipt.json").write_bytes(data)
    receipt = unit_receipt.read(str(directory / "receipt.json"))
    return keep.Build.of(receipt) if receipt else None


def _ninja(data: bytes, _directory: Path) -> object:
    ninja = progress.Ninja()
    for start in range(0, len(data), 7):
        ninja.feed(data[start : start + 7])
    return ninja.done, ninja.total


def _report(path: str) -> object:
    return fleet.load(path, "spark1")


def _metadata(path: str) -> object:
    installed = packages.distributions([str(Path(path).parents[1])])
    return [(packages.requirements(each), packages.unsatisfied(each, installed)) for each in installed.values()]


def _image(data: bytes, directory: Path) -> object:
    """Write the data to all files that the inspection of an image reads, and inspect that image."""
    site, etc = directory / "site", directory / "etc"
    for info in (site / "a-1.dist-info", site / "b-1.dist-info", etc):
        info.mkdir(parents=True, exist_ok=True)
    for path in (site / "a-1.dist-info/METADATA", site / "a-1.dist-info/RECORD", site / "x.so", etc / "ld.so.conf"):
        path.write_bytes(data)
    (etc / "ld.so.cache").unlink(missing_ok=True)
    if data.startswith(ldcache.CACHE_MAGIC):
        (etc / "ld.so.cache").write_bytes(data)
    (site / "b-1.dist-info/METADATA").write_text("Name: b\nVersion: 1\n")
    (site / "b-1.dist-info/RECORD").write_text("x.so,sha256=YQ,1\n")
    return judge.table(judge.judge(contents.of_environments(str(directory)), judge.Device()))


def _host_sources(text: str) -> object:
    return [parse("a", text) for parse in (apt_state.parse_one_line_sources, apt_state.parse_deb822_sources)]


#: A few hundred bytes of GPU code: a bare fatbin container.
_CODE = gpu_library.fatbin("12.0", "9.0")
ROLE = Path(__file__).parents[2] / "roles/stack"
_LOGS = [path.read_bytes() for path in sorted((DATA / "logs").glob("*.log"))[::9]]

PARSERS: dict[str, Parser] = {
    "archive tar.bz2": of_file(_unpack, _archive("w:bz2"), name="a.tar.bz2"),
    "archive tar.gz": of_file(_unpack, _archive("w:gz"), name="a.tar.gz"),
    "archive tar.xz": of_file(_unpack, _archive("w:xz"), name="a.tar.xz"),
    "wheel": of_file(
        lambda path: wheel_file.collect_wheels(str(Path(path).parent)),
        wheel_tree.wheel("tiny", "1.0", scripts={"tool": "#!python\n"}),
        name="tiny-1.0-py3-none-any.whl",
    ),
    "wheel name": of_text(names.parse_wheel_name, "torch-2.9.1+sf.1-1-cp312-cp312-manylinux_2_28_aarch64.whl"),
    "wheel METADATA": of_file(
        _metadata,
        b"Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Dist: a<2; extra == 'x'\nRequires-Dist: b (>=1)\n\nW",
        name="a-1.dist-info/METADATA",
    ),
    "stack": of_file(
        lambda path: load.read_file(path, "stack"), (ROLE / "vars/torch-2.14.1.yml").read_bytes(), name="a.yml"
    ),
    "lock": of_file(
        lambda path: load.read_file(path, "lock"),
        b"stack_lock:\n  format: 1\n  stack: a\n  resolved: '2026-11-24'\n  archives: {}\n  sources: {}\n"
        + f"  wheels:\n    cp312-linux-aarch64:\n      - a==1 --hash=sha256:{A}\n".encode(),
        name="a.yml",
    ),
    "wheel RECORD": of_text(
        packages.rows, "a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\nb/RECORD,,\n", raises=(ValueError,)
    ),
    "requirement": of_text(
        requirement.parse_requirement,
        f"torch==2.9.1 --hash=sha256:{A}",
        f"a @ https://example.com/a-1-py3-none-any.whl --hash=sha256:{A} ; python_version > '3'",
    ),
    "place": of_text(lambda text: requirement.place_option("index_url", text), "https://user@[::1]:8080/simple?x#y"),
    "credentials": of_text(
        lambda text: index.credentials([{"url": text, "username": "a", "password": text}]), "https://example.com/x"
    ),
    "page of an index": of_text(
        lambda text: index.read_page(text, "https://example.com/simple/x/"),
        '{"files": [{"url": "x-1-py3-none-any.whl", "hashes": {"sha256": "0"}, "size": 1}]}',
    ),
    "manifest": Parser([_manifest()], lambda data, _directory: _QUERY.read(data, "It")),
    "manifest of NVIDIA": Parser([json.dumps(_REDIST).encode()], _redist),
    "state": of_file(state_file.read, json.dumps({"format": state_file.FORMAT, "status": "failed"}).encode()),
    "receipt of a unit": Parser([json.dumps(_UNIT).encode()], _read_sealed),
    "receipt": of_file(
        lambda path: receipts.read(str(Path(path).parents[1]), "a"), b'{"kind": "wheelhouse"}', name="receipts/a.json"
    ),
    "report": of_file(_report, json.dumps(example_reports.healthy("spark1")).encode(), name="spark1.json"),
    "ELF": of_file(reader.read_elf, (DATA / "fatbin/kernels.so").read_bytes()[:20_000]),
    "symbols of a library": of_file(
        lambda path: reader.read_elf(path, with_symbols=True),
        elf_writer.elf_bytes(undefined=["_ZN1a1bEv", "c@V_1"], exports=["d_e"], versions={"libc.so.6": ["V_1", "V_2"]}),
        (DATA / "fatbin/kernels.so").read_bytes()[:20_000],
    ),
    "texts of a binary": of_file(
        lambda path: texts.read(path, deadline.NEVER),
        b"\0This kernel only supports sm[75, 80).\n\0only sm_120a or sm120f\0requires compute capability >= 9.0\0",
        b"kernel `x` is for sm80-sm100, but was built for sm%d\n\0Cuda compilation tools, release 12.8, V12.8.93\0",
    ),
    "requirement lines": of_text(
        lambda text: requirement_lines.RequirementLines(resolve.Index(), resolve.Target("3.12", "aarch64")).read(text),
        "--find-links ./a\n--pre\n--extra-index-url https://example.com/simple\n-e ./c\n",
        "vllm==0.13.0 \\\n  --hash=sha256:0\nx @ file:///w/x-1.0-py3-none-any.whl ; python_version > '3'\n",
        "https://example.com/x-1.0%2Bcu130-py3-none-any.whl#sha256=0\ngit+https://example.com/y@main\n~\0/z.whl\n",
    ),
    "fat binary": of_file(
        lambda path: fatbin.architectures(path, everywhere=True),
        (DATA / "fatbin/kernels.so").read_bytes(),
        _CODE,
        elf_writer.cubin("12.1a"),
    ),
    "image to be inspected": Parser(
        [
            b"Name: a\nVersion: 1\nRequires-Dist: b (>=1)\n\n",
            b"x.so,sha256=YQ,1\n../../../../etc/passwd,sha256=YQ,\n",
            b"/usr/lib\ninclude *.conf /etc/ld.so.conf.d/*\n",
            elf_writer.elf_bytes(soname="x.so", needed=["libc.so.6", "a/b"], rpath="$ORIGIN:/x", interpreter="/ld.so"),
            elf_writer.new_cache([("libc.so.6", "/lib/libc.so.6", 0x303, "")]),
        ],
        _image,
        (ProofError,),
    ),
    "variables of an image": of_file(
        lambda path: list(fit.of_image(str(Path(path).parent), "13.0")),
        b'{"config": {"Env": ["NVIDIA_REQUIRE_CUDA=cuda\\u003e=13.1 brand=tesla,driver\\u003e=580"]}}',
        name="rootfs/config.json",
    ),
    "wheel to be inspected": of_file(
        lambda path: judge.judge([contents.of_wheel(path, str(Path(path).parent))], judge.Device()),
        wheel_tree.wheel("thing", "1.0"),
        name="thing-1.0-py3-none-any.whl",
        raises=(ProofError,),
    ),
    "loader cache": Parser(
        [
            elf_writer.new_cache(
                [("libc.so.6", "/lib/libc.so.6", 0x303, ""), ("libm.so.6", "/lib/x/libm.so.6", 0x303, "x")]
            )
        ],
        lambda data, _directory: ldcache.parse_cache(data),
    ),
    "git URL": of_text(
        lambda text: urls.read_remote(text, "It"),
        "https://user:pw@example.com/a.git",
        "ssh://git@h:22/a",
        "git@h:a.git",
    ),
    "submodule URL": of_text(lambda text: urls.absolute_url("https://example.com/org/one.git", text), "../../two.git"),
    "git's words": of_text(
        lambda text: (git_errors.of_remote(text, 128), git_errors.of_local(text, 128)),
        "fatal: unable to access 'https://a/': The requested URL returned error: 403\n",
    ),
    "pinned commit": of_text(
        lambda text: upstream.read_pin(text, "cmake/llvm-info.json", "It"),
        json.dumps({"llvm_hash": "1" * 40, "repository": "https://example.com/a.git", "artifacts": {"a": {"b": "c"}}}),
    ),
    "log of a build": of_file(scan.diagnose_file, *_LOGS),
    "ninja": Parser([b"[1/20] Building CXX object a.o\n[2/20] Linking\r[ 50%] Built target b\nninja: error\n"], _ninja),
    "CMakeCache.txt": of_file(artefact.read_cache, b"//Use it\nUSE_CUDA:BOOL=ON\nA-ADVANCED:INTERNAL=1\n"),
    "deb control": of_text(apt_state.paragraphs, "Package: a\nVersion: 1:2-3\nDescription: b\n c\n .\n"),
    "deb versions": of_text(
        lambda text: deb_version.compare_versions(*(text.split("|") + ["1"])[:2]), "1:2.0~rc1-3ubuntu4|1:2.0-1"
    ),
    "versions": of_text(lambda text: versions.numbers(text), "2.9.1+cu130.sf1"),
    "apt policy": of_text(
        apt_state.parse_policy,
        "a:\n  Installed: 1.0\n  Candidate: 1.1\n  Version table:\n     1.1 500\n        500 https://a/ noble/main\n",
    ),
    "apt keyring": Parser(
        [b"\x88\x10\x04\x13\x01\x02" + bytes(12), b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\niBAEEwEC\n=abcd\n"],
        lambda data, _directory: apt_state.certification_hashes(data),
    ),
    "apt simulation": of_text(plan.parse_simulation, "Inst a [1.0] (1.1 Ubuntu:24.04 [arm64]) []\nRemv b [1]\n"),
    "apt name": of_text(parse_request, "cuda-toolkit-13-0=13.0.1-1"),
    "apt sources": of_text(
        lambda text: (apt_state.parse_one_line_sources("a.list", text), sources.canonical(text)),
        "deb [arch=arm64 signed-by=/usr/share/keyrings/a.gpg] https://a/ubuntu noble main\n",
    ),
    "apt sources of a host": of_text(
        _host_sources,
        "deb [arch=arm64 signed-by=/usr/share/keyrings/a.gpg] http://a.example/b noble main\n",
        "Types: deb\nURIs: http://a.example/b https://n.example/x\nSuites: noble\nSigned-By: /a.gpg\n",
    ),
    "apt preferences": of_text(
        lambda text: apt_state.parse_preferences("a", text), "Package: *\nPin: release o=NVIDIA\nPin-Priority: -1\n"
    ),
    "dpkg status": of_text(
        lambda text: (dpkg.parse_status(text), removal.parse_dependencies(text)),
        "Package: a\nStatus: install ok installed\nArchitecture: arm64\nVersion: 1\nDepends: b (>= 2) | c, d:any\n\n",
    ),
    "apt's own choices": of_text(removal.parse_extended_states, "Package: a\nArchitecture: arm64\nAuto-Installed: 1\n"),
    "nvidia-smi": of_text(
        lambda text: (gpu.parse_devices(text), gpu.parse_processes(text), gpu.parse_proc_version(text)),
        "0, NVIDIA GB10, GPU-1, 12.1, [N/A], [N/A], 580.95.05\n",
        "123, /usr/bin/python, 45 MiB\n",
        "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05\n",
    ),
    "nvidia-smi, sampled": of_text(
        sampler.parse, "2405, 3003, 35.1, [N/A], 96, 0x0000000000000004", raises=(sampler.NoSampler,)
    ),
    "/proc": of_text(
        lambda text: (
            observation.parse_meminfo(text),
            observation.parse_cpuinfo(text),
            observation.parse_mountinfo(text),
        ),
        "MemTotal: 124610 kB\nMemAvailable: 1 kB\n",
        "processor : 0\nCPU part : 0xd87\n",
        "26 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n",
    ),
    "redaction": of_text(redact.redact, "see https://user:pa/ss@example.com/?token=abc&x=1 and more"),
    **live_parsers.PARSERS,
}
