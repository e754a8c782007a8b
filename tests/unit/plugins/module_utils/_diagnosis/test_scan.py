import pathlib
import re
import subprocess
import sys
import tracemalloc
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import scan
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.scan import diagnose, diagnose_file

LOGS = pathlib.Path(__file__).parents[3] / "data" / "logs"


def fragment(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8")


def names(log: str) -> set[str | None]:
    found = diagnose(log)
    return {found.rule} if found.rule else {notice.rule for notice in found.notices}


# -- what is recognised


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("library-not-found.nvpl", "role math_libraries, package libnvpl-lapack0"),
        ("cudss-soname", "libcudss.so.1"),
        ("submodule-failed.clone", "third_party/XNNPACK cannot be fetched from file://"),
        ("submodule-failed.commit", "third_party/XNNPACK cannot be fetched: its repository has no commit caf9292"),
        ("apt-locked", "/var/lib/dpkg/lock-frontend, which is held by process 859 (python3)"),
        ("missing-header.cudnn", "libcudnn9-dev-cuda-13"),
        ("cmake-package-missing.config", "NVPL (role math_libraries)"),
        ("certificate.python", "(self-signed certificate)"),
        ("python-version", "3.12.1 not in '<3.12,>=3.10'"),
        ("install-into-system.cmake", "(/usr/local/lib/python3.12/dist-packages/caffe2)"),
        (
            "input-missing.install",
            "needs the file /opt/sparkforge/builds/demo/0f1e2d3c4b5a6978/source/third_party/sleef",
        ),
        ("cuda-too-old", "needs CUDA 12.1 or newer"),
        ("cuda-too-old.toolkit", "needs CUDA 13.0 or newer"),
        ("cmake-too-new", "cmake<4"),
    ],
)
def test_the_message_names_what_the_log_names(log: str, words: str) -> None:
    found = diagnose(fragment(log))
    assert words in f"{found.cause} {found.remedy}"


# -- which rule wins


def test_the_rule_decides_and_not_the_place_in_the_log() -> None:
    killed, crashed = fragment("compiler-killed.gcc"), fragment("compile-error.gcc")
    for log in (killed + crashed, crashed + killed):
        found = diagnose(log)
        assert found.rule == "compiler-killed"
        assert found.others == ["compile-error"]
    assert diagnose(killed).lines[-1] == "ninja: build stopped: subcommand failed."


def test_kill_after_a_reported_error_is_its_consequence() -> None:
    reported = "Traceback (most recent call last):\n  File 'a.py', line 1, in <module>\nValueError: bad rope_scaling\n"
    found = scan.diagnose(f"{reported}\nReceived sigquit from a child process.\nKilled\n")
    assert (found.rule, found.first_error) == (None, "ValueError: bad rope_scaling")
    assert scan.diagnose("[12/40] nvcc a.cu\nKilled\n").rule == "process-killed"


def test_ptxas_that_fails_for_another_reason_is_not_called_too_old() -> None:
    command = "['/opt/triton/ptxas', '-v', '--gpu-name=sm_121a', '/tmp/a.ptx']"
    log = f"subprocess.CalledProcessError: Command '{command}' returned non-zero exit status 255.\n"
    assert scan.diagnose(log + "ptxas error   : Entry function 'kernel' uses too much shared data\n").rule is None


def test_a_harmless_answer_of_some_tool_does_not_hide_the_compiler_s_error() -> None:
    log = "/bin/sh: 1: hipconfig: not found\n/bin/sh: 1: ./x: Permission denied\n" + fragment("compile-error.gcc")
    assert diagnose(log).rule == "compile-error"


def test_a_retry_that_succeeded_is_no_cause_and_one_that_did_not_is() -> None:
    retry = fragment("index-unreachable.name").splitlines()[1] + "\n"
    assert diagnose(retry + fragment("compile-error.gcc")).rule == "compile-error"
    assert diagnose(retry).rule is None
    assert diagnose(fragment("index-unreachable.name")).rule == "index-unreachable"


def test_what_cmake_dropped_is_told_beside_the_failure_once_each() -> None:
    found = diagnose(fragment("option-dropped") * 2 + fragment("compile-error.gcc"))
    assert found.rule == "compile-error"
    dropped = [notice.cause for notice in found.notices if notice.rule == "option-dropped"]
    assert [re.sub(r".*not find (\w+),.*", r"\1", cause) for cause in dropped] == ["cuDNN", "cuSPARSELt", "CUDSS"]


# -- failures that the table does not know


@pytest.mark.parametrize(
    ("log", "first"),
    [
        (
            "[1/9] ok\nFAILED: x.o\ng++ -Werror -c x.cc\nsomething.py: error: quota of widgets used up\n"
            "ninja: build stopped: subcommand failed.\nerror: subprocess-exited-with-error\n",
            "something.py: error: quota of widgets used up",
        ),
        (
            "Traceback (most recent call last):\n  File \"setup.py\", line 1\nKeyError: 'CUDNN'\n"
            "error: metadata-generation-failed\n",
            "KeyError: 'CUDNN'",
        ),
        ("fatal: not a git repository\n-- Check for error: x\nmake: *** [all] Error 2\n", "make: *** [all] Error 2"),
        (
            "CMake Error at CMakeLists.txt:3 (message):\n  USE_A needs\n  USE_B.\nCall Stack (most recent call\n"
            "  first):\n  CMakeLists.txt:1 (include)\n\n\n-- Configuring incomplete, errors occurred!\n",
            "CMake Error at CMakeLists.txt:3 (message): USE_A needs USE_B.",
        ),
        ("warning: error: no\nW: some error: no\nall is well\n", None),
        # What PyTorch's FindMKL.cmake prints of each library that it tries, indented by pip; what others try.
        (
            "-- Checking for [mkl_intel_lp64 - mkl_gnu_thread - mkl_core - gomp - pthread - m - dl]\n"
            "--   Library mkl_intel_lp64: not found\n  --   Library mkl_intel_lp64: not found\n"
            "checking for mkl.h: not found\n"
            "CMake Error at cmake/Dependencies.cmake:212 (message):\n  Preferred BLAS (OpenBLAS) cannot be had.\n"
            "Call Stack (most recent call first):\n  CMakeLists.txt:866 (include)\n\n\n"
            "-- Configuring incomplete, errors occurred!\n",
            "CMake Error at cmake/Dependencies.cmake:212 (message): Preferred BLAS (OpenBLAS) cannot be had.",
        ),
        ("checking for mkl.h: not found\nmake: *** [all] Error 1\n", "checking for mkl.h: not found"),
        # Of chained exceptions the first, whatever it is called.
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\nacme.QuotaGone: none left\n\n'
            "The above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "b.py", line 2\n'
            "RuntimeError: could not go on\n",
            "acme.QuotaGone: none left",
        ),
        # Of several processes one; a server's own words before and after a traceback are no cause.
        (
            "(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1] Worker failed to start.\n"
            "(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1] Traceback (most recent call last):\n"
            "(W1 pid=2) INFO 11-20 10:00:00 [a.py:1] going on\n"
            '(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1]   File "x", line 1\n'
            "(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1] acme.Broken: the thing broke\n"
            "(API pid=3) RuntimeError: Engine core initialization failed. See root cause above.\n",
            "acme.Broken: the thing broke",
        ),
        # Of nested tools the innermost.
        (
            "error[E0433]: failed to resolve: use of `bar`\n --> src/lib.rs:3:5\nerror: could not compile `foo` (lib)\n"
            "maturin failed\n  Caused by: Failed to build a native library through cargo\n",
            "error[E0433]: failed to resolve: use of `bar`",
        ),
        (
            "  \u00d7 Failed to build `acme==1.0`\n  \u251c\u2500\u25b6 The build backend returned an error\n"
            "  \u2570\u2500\u25b6 Call to `build_wheel` failed (exit status: 1)\n\n      [stderr]\n"
            '      Traceback (most recent call last):\n        File "<string>", line 14\n'
            "      acme.NoWidget: there is none\n",
            "acme.NoWidget: there is none",
        ),
        # What stands before the words, by its form.
        (
            '[rank0]: Traceback (most recent call last):\n[rank0]:   File "x"\n[rank0]: acme.Odd: what\n',
            "acme.Odd: what",
        ),
        ("2025-11-20T10:00:01.123Z #14 0.759 x.py: error: no widget\n", "x.py: error: no widget"),
        ("vllm-0  | 2025-11-20 10:00:00,123 - vllm.engine - ERROR - Widget lost\n", "Widget lost"),
        ('Nov 20 10:00:00 spark x[3]: time="2025" level=error msg="widget lost"\n', "widget lost"),
        (
            "0.00.226.612 I srv load: failed once\n0.00.307.807 E load: error loading model: no widget\n"
            "0.00.307.851 E load: failed to load model\n",
            "load: error loading model: no widget",
        ),
        ('{"log":"RuntimeError: no widget\\n","stream":"stderr"}\n', "RuntimeError: no widget"),
        # A field of a line tells an error, whatever level the line has.
        (
            'Nov 20 10:00:00 spark x[3]: time=2026-11-20T10:00:00Z level=INFO msg="load failed" id=7 '
            'error="the \\"widget\\" is gone"\ntime=2026-11-20T10:00:01Z level=INFO msg=going on\n' + "GET / 200\n" * 9,
            'load failed id=7 error="the "widget" is gone"',
        ),
        ("ts=1 caller=a.go:7 level=info component=x msg=closed err=EWIDGET\n", "closed err=EWIDGET"),
        ('level=info ts=1 msg="error: no widget"\n', "error: no widget"),
        ('{"level":"info","ts":1,"msg":"load failed","error":"no widget"}\n', 'load failed error="no widget"'),
        ('time=1 level=INFO msg="starting" error=<nil> err="" error=null\n', None),
        ('time=1 level=INFO msg="skip loading plugin aufs" error="aufs is not supported: skip plugin"\n', None),
        ('time=1 level=DEBUG msg="no such cgroup" error="not found"\n', None),
        # Of chained exceptions the innermost whose words tell something; the last where none do.
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'qwen9'\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "b.py", line 2\nValueError: no widget of that name\n\n'
            "The above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "c.py", line 3\nRuntimeError: could not go on\n',
            "ValueError: no widget of that name",
        ),
        (
            "(W pid=1) ERROR 11-20 10:00:00 [a.py:1] Traceback (most recent call last):\n"
            '(W pid=1) ERROR 11-20 10:00:00 [a.py:1]   File "x", line 1\n'
            "(W pid=1) ERROR 11-20 10:00:00 [a.py:1] StopIteration\n(W pid=1) ERROR 11-20 10:00:00 [a.py:1]\n"
            "(W pid=1) ERROR 11-20 10:00:00 [a.py:1] During handling of the above exception, another exception "
            "occurred:\n(W pid=1) ERROR 11-20 10:00:00 [a.py:1] Traceback (most recent call last):\n"
            '(W pid=1) ERROR 11-20 10:00:00 [a.py:1]   File "y", line 1\n'
            "(W pid=1) ERROR 11-20 10:00:00 [a.py:1] acme.Broken: the thing broke\n",
            "acme.Broken: the thing broke",
        ),
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\nAttributeError\n\n'
            "During handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n  File \"b.py\", line 2\nKeyError: 'b'\n",
            "KeyError: 'b'",
        ),
        # Pydantic says in the lines below what is wrong.
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\n'
            "pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
            "  Value error, the widget is too old [type=value_error]\n",
            "pydantic_core.ValidationError: 1 validation error for ModelConfig Value error, the widget is too old "
            "[type=value_error]",
        ),
        ("thread 'main' panicked at src/a.rs:1:5:\nno widget\n", "thread 'main' panicked at src/a.rs:1:5: no widget"),
    ],
)
def test_an_unknown_failure_gives_its_first_error(log: str, first: str | None) -> None:
    found = diagnose(log)
    assert found.rule is None
    assert found.first_error == first
    if first:
        assert first in found.cause


@pytest.mark.parametrize(
    "line",
    [
        # Of GB10s, as their owners published them.
        "NVRM: Xid (PCI:000f:01:00): 119, pid=3849, name=KMS thread, Timeout after 45s of waiting for RPC response "
        "from GPU0 GSP!",
        "NVRM: Xid 119, Timeout after 6s waiting for GSP_INIT_DONE (function 4097)",
        "NVRM: Xid (PCI:000f:01:00): 120, pid=9111, name=python, GSP task exception: load access fault",
        "NVRM: Xid (PCI:000f:01:00): 13, Graphics SM Warp Exception: Illegal Instruction Parameter",
        "NVRM: Xid (PCI:000f:01:00): 31, pid=3003984, name=python3, channel 0x00000015, intr 00000000. MMU Fault",
        "NVRM: Xid (PCI:000f:01:00): 169, fd8cd000 94000000",
        "pcieport 0000:00:00.0: AER: Uncorrectable (Fatal)",
    ],
)
def test_a_line_of_the_kernel_of_a_real_spark_is_what_failed(line: str) -> None:
    log = f"[  100.1] usb 1-1: new high-speed USB device\n[  101.2] {line}\n[  102.3] systemd[1]: Started Session 4.\n"
    found = diagnose(log)
    assert found.first_error and line[:60] in found.first_error
    assert found.rule in (None, "gpu-firmware-timeout", "gpu-page-fault", "gpu-xid", "driver-module-proprietary")


def test_a_log_without_any_error_says_so() -> None:
    found = diagnose("[1/2] a\n[2/2] b\n")
    assert (found.rule, found.first_error, found.lines) == (None, None, ["[1/2] a", "[2/2] b"])
    assert diagnose("").lines == []


# -- how a log is read


def test_a_match_shows_the_lines_around_it_but_no_blank_one() -> None:
    log = "".join(f"before {n}\n\n" for n in range(20)) + "x.h: No space left on device\n" + "after\n\n" * 20
    assert (
        diagnose(log).lines == [f"before {n}" for n in (17, 18, 19)] + ["x.h: No space left on device"] + ["after"] * 6
    )


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_chunks_of_any_size_give_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The pieces of a log of some kilobytes are then searched one after another, as those of a large one are.
    monkeypatch.setattr(scan, "_CHUNK", 50)
    for name in ("compiler-killed.gcc", "option-dropped", "submodule-missing", "install-into-system.cmake"):
        data = ("fill\n" * 30 + fragment(name) + "fill\n" * 30).encode()
        whole = diagnose(data)
        assert diagnose(data[at : at + size] for at in range(0, len(data), size)) == whole
        assert diagnose(data.decode().splitlines(keepends=True)) == whole


def test_a_file_is_read_from_where_the_attempt_began(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log"
    first = fragment("no-space.git")
    path.write_text(first + fragment("compile-error.gcc"), encoding="utf-8")
    assert diagnose_file(str(path)).rule == "no-space"
    assert diagnose_file(str(path), start=len(first.encode())).rule == "compile-error"
    with pytest.raises(SparkforgeError, match="cannot be read: No such file"):
        diagnose_file(str(tmp_path / "none"))


def test_colours_carriage_returns_and_broken_utf_8_do_not_hide_an_error() -> None:
    log = b"\r[1/2] a\r[2/2] b\xff\r\n\x1b[1mx.cpp:1:1:\x1b[m \x1b[31mfatal error: \x1b[mPython.h: No such file\n"
    assert diagnose(log).rule == "missing-python-headers"


def test_line_is_seen_after_a_thousand_that_differ_in_digits_alone() -> None:
    line = "Found GPU0 NVIDIA GB10 which is of cuda capability {}.\n"
    log = line.format("8.6") * 1000 + line.format("12.1")
    assert [notice.rule for notice in diagnose(log).notices] == ["capability-warning"]


def test_each_key_can_be_found_by_a_word_that_is_looked_at() -> None:
    # Words without digits are what a log is searched for first, and of those not what may be a number in base 16.
    for anchor, keys in scan._anchors().items():
        assert anchor.strip(scan._HEXADECIMAL) and not set(anchor) & set(scan._DIGITS)
        assert all(anchor in key for key, _without_digits in keys)


def test_memory_stays_bounded_whatever_the_lines_are() -> None:
    def pieces(line: bytes) -> t.Iterator[bytes]:
        for _piece in range(6):
            yield line * ((1 << 20) // len(line))
        yield b"\nx: No space left on device\n"

    for line in (b"[1/2] c++ -Werror=x a.cpp\n", b"x" * 4096, b"error: \n"):
        tracemalloc.start()
        assert diagnose(pieces(line)).rule == "no-space"
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5 << 20


def test_no_password_of_a_url_is_shown() -> None:
    log = (
        "fatal: unable to access 'https://user:secret@mirror.example.com/a.git/': returned error: 403\n"
        "fatal: clone of 'https://user:secret@mirror.example.com/b.git' into submodule path 'x/y' failed\n"
        "error: https://secret@mirror.example.com/c\n"
    )
    found = diagnose(log)
    assert found.rule == "submodule-failed"
    assert "https://mirror.example.com/b.git" in found.cause
    assert "secret" not in repr(found)
    assert "secret" not in repr(diagnose("error: https://a:secret@b/c\n"))


# -- programs that really fail here


def test_a_compiler_that_fails_on_this_machine_is_diagnosed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.c").write_text("#include <cudnn.h>\n")
    log = subprocess.run(["gcc", "-c", "a.c"], cwd=tmp_path, capture_output=True, text=True, check=False).stderr
    found = diagnose(log)
    assert (found.rule, found.first_error) == ("missing-header", log.splitlines()[0])


def test_an_import_that_fails_on_this_machine_is_diagnosed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "lib.c").write_text("int f(void) { return 1; }\n")
    (tmp_path / "ext.c").write_text("int f(void);\nint g(void) { return f(); }\n")
    library = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libcusparseLt.so.0", "lib.c", "-o", "libx.so"]
    subprocess.run(library, cwd=tmp_path, check=True)
    extension = ["gcc", "-shared", "-fPIC", "-Wl,--no-as-needed", "ext.c", "-L.", "-lx", "-o", "ext.so"]
    subprocess.run(extension, cwd=tmp_path, check=True)
    program = "import ctypes; ctypes.CDLL('./ext.so')"
    log = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    found = diagnose(log.stderr)
    assert found.rule == "library-not-found"
    assert "role cusparselt, package libcusparselt0-cuda-" in found.remedy
