import json
import pathlib
import re
import tracemalloc
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import scan
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis.scan import diagnose, diagnose_file

LOGS = pathlib.Path(__file__).parents[3] / "data" / "logs"


def fragment(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8")


# -- precedence of the rules


def test_rule_order_outweighs_position_in_log() -> None:
    killed, crashed = fragment("compiler-killed.gcc"), fragment("compile-error.gcc")
    for log in (killed + crashed, crashed + killed):
        diagnosis = diagnose(log)
        assert diagnosis.rule == "compiler-killed"
        assert diagnosis.others == ["compile-error"]
    assert diagnose(killed).lines[-1] == "ninja: build stopped: subcommand failed."


def test_kill_after_error_is_not_the_cause() -> None:
    reported = "Traceback (most recent call last):\n  File 'a.py', line 1, in <module>\nValueError: bad rope_scaling\n"
    diagnosis = scan.diagnose(f"{reported}\nReceived sigquit from a child process.\nKilled\n")
    assert (diagnosis.rule, diagnosis.first_error) == (None, "ValueError: bad rope_scaling")
    assert scan.diagnose("[12/40] nvcc a.cu\nKilled\n").rule == "process-killed"


def test_other_ptxas_failure_is_not_an_old_ptxas() -> None:
    command = "['/opt/triton/ptxas', '-v', '--gpu-name=sm_121a', '/tmp/a.ptx']"
    log = f"subprocess.CalledProcessError: Command '{command}' returned non-zero exit status 255.\n"
    assert scan.diagnose(log + "ptxas error   : Entry function 'kernel' uses too much shared data\n").rule is None


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        (
            "Resolved 151 packages\nerror: Distribution `torchcodec==0.9.1 @ registry+https://index.example/` can't be "
            "installed\nbecause it doesn't have a source distribution or wheel for the current platform\n",
            "uv-no-wheel",
        ),
        ("RuntimeError: The NVIDIA driver on your system is too o\nld (found version 12080).\n\n", "driver-too-old"),
        ("RuntimeError: The widget is too o\nld.\n", None),
        ("(w1, rank=0, pid=3) RuntimeError: Distributed\n  package doesn't have NCCL built in\n", "torch-without-cuda"),
        # Other words precede the exception's name, or stand instead of it.
        ("Worker hit an exception: ValueError: widget must be one of [16, 32, 64], got 48\n", "value-among-choices"),
        ("Error loading model: BitAndBytes quantization with TP or PP is not supported yet.\n", "pair-not-supported"),
        ("!!! Exception during processing !!! cannot import name 'A' from 'gsplat' (/x.py)\n", "import-name-missing"),
    ],
)
def test_wrapped_message_is_known(log: str, rule: str | None) -> None:
    diagnosis = diagnose(log)
    assert (diagnosis.rule, diagnosis.line) == (rule, 2 if "Resolved" in log else 1)


def test_key_is_that_of_its_repository() -> None:
    message = "W: GPG error: https://{}.example/apt noble InRelease: is not available: NO_PUBKEY {}\n"
    diagnosis = diagnose(message.format("one", "7FCC7D46ACCC4CF8") + message.format("two", "E7935D8DB9BD8B20"))
    assert diagnosis and re.search(r"one\.example\S+ is signed with key 7FCC7D46ACCC4CF8", diagnosis.cause)


def test_name_that_python_suggests_is_no_advice() -> None:
    log = "  File \"setup.py\", line 115\nNameError: name 'num' is not defined. Did you mean: 'sum'?\n"
    diagnosis = diagnose(log)
    assert diagnosis and "sum" not in diagnosis.remedy


def test_indented_prefix_does_not_end_a_traceback() -> None:
    log = '  (w1, rank=0, pid=3) Traceback (most recent call last):\n  (w1, rank=0, pid=3)   File "a.py", line 1\n'
    assert diagnose(f"{log}  (w1, rank=0, pid=3) ValueError: a widget\n").first_error == "ValueError: a widget"


def test_harmless_tool_output_does_not_hide_compiler_error() -> None:
    log = "/bin/sh: 1: hipconfig: not found\n/bin/sh: 1: ./x: Permission denied\n" + fragment("compile-error.gcc")
    assert diagnose(log).rule == "compile-error"


def test_general_warning_is_not_the_cause_of_a_clear_error() -> None:
    warning = "WARNING 11-29 10:00:00 [utils.py:12] WIDGET_TOKEN is not set\n"
    assert scan.diagnose(f"{warning}failed to start\n").rule == "environment-variable-missing"
    assert scan.diagnose(f"{warning}ValueError: odd widget\n").rule is None


def test_only_failed_retry_is_the_cause() -> None:
    retry = fragment("index-unreachable.name").splitlines()[1] + "\n"
    assert diagnose(retry + fragment("compile-error.gcc")).rule == "compile-error"
    assert diagnose(retry).rule is None
    assert diagnose(fragment("index-unreachable.name")).rule == "index-unreachable"


def test_dropped_cmake_options_are_noticed_once() -> None:
    diagnosis = diagnose(fragment("option-dropped") * 2 + fragment("compile-error.gcc"))
    assert diagnosis.rule == "compile-error"
    dropped = [notice.cause for notice in diagnosis.notices if notice.rule == "option-dropped"]
    assert [re.sub(r".*not find (\w+),.*", r"\1", cause) for cause in dropped] == ["cuDNN", "cuSPARSELt", "CUDSS"]


# -- failures that are not in the table


@pytest.mark.parametrize(
    ("log", "first"),
    [
        (
            "[1/9] ok\nFAILED: x.o\ng++ -Werror -c x.cc\nsomething.py: error: quota of widgets used up\n"
            "ninja: build stopped: subcommand failed.\nerror: subprocess-exited-with-error\n",
            "something.py: error: quota of widgets used up",
        ),
        (
            'Traceback (most recent call last):\n  File "setup.py", line 1\nWidgetError: CUDNN\n'
            "error: metadata-generation-failed\n",
            "WidgetError: CUDNN",
        ),
        ("fatal: not a git repository\n-- Check for error: x\nmake: *** [all] Error 2\n", "make: *** [all] Error 2"),
        (
            "CMake Error at CMakeLists.txt:3 (message):\n  USE_A needs\n  USE_B.\nCall Stack (most recent call\n"
            "  first):\n  CMakeLists.txt:1 (include)\n\n\n-- Configuring incomplete, errors occurred!\n",
            "CMake Error at CMakeLists.txt:3 (message): USE_A needs USE_B.",
        ),
        ("warning: error: no\nW: some error: no\nall is well\n", None),
        # A warning counts only in the last line.
        ("step 1\nWARNING Could not load widget\n", "Could not load widget"),
        ("WARNING: Could not load widget\nstep 1\nstep 2\n", None),
        # PyTorch's FindMKL.cmake prints such a line for each library that it tries, and pip indents it.
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
        # The first of chained exceptions counts, even if its name does not end in Error.
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\nacme.QuotaGone: none left\n\n'
            "The above exception was the direct cause of the following exception:\n\n"
            'Traceback (most recent call last):\n  File "b.py", line 2\n'
            "RuntimeError: could not go on\n",
            "acme.QuotaGone: none left",
        ),
        # A server's messages before and after a traceback are not the cause.
        (
            "(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1] Worker failed to start.\n"
            "(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1] Traceback (most recent call last):\n"
            "(W1 pid=2) INFO 11-20 10:00:00 [a.py:1] going on\n"
            '(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1]   File "x", line 1\n'
            "(W0 pid=1) ERROR 11-20 10:00:00 [a.py:1] acme.Broken: the thing broke\n"
            "(API pid=3) RuntimeError: Engine core initialization failed. See root cause above.\n",
            "acme.Broken: the thing broke",
        ),
        # Frames without indentation, with and without the beginning of the traceback.
        (
            '(W pid=1) ERROR 11-20 10:00:00 [a.py:1] File "x.py", line 1, in f\n'
            "(W pid=1) ERROR 11-20 10:00:00 [a.py:1] g(\n(W pid=1) ERROR 11-20 10:00:00 [a.py:1] ^^\n"
            "(W pid=1) ERROR 11-20 10:00:00 [a.py:1] acme.Broken: the thing broke\n",
            "acme.Broken: the thing broke",
        ),
        (
            'Traceback (most recent call last):\nFile "a.py", line 1, in <module>\nx = f()\nFile "b.py", line 2, in f\n'
            "return widget[0]\nacme.Broken: the thing broke\n",
            "acme.Broken: the thing broke",
        ),
        # Tests for features are errors only if nothing else is.
        (
            "_configtest.c:1:10: error: immintrin.h: No such file or directory\n/tmp/cc6BiTMm.s: Assembler messages:"
            "\n/tmp/cc6BiTMm.s:19: Error: unknown mnemonic `vpand' -- `vpand %xmm1,%xmm2'\nno widget: error: odd\n",
            "no widget: error: odd",
        ),
        (
            "conftest.c:11:28: error: 'widget' undeclared (first use in this function)\n",
            "conftest.c:11:28: error: 'widget' undeclared (first use in this function)",
        ),
        # The innermost tool's error counts.
        (
            "error[F0433]: failed to resolve: use of `bar`\n --> src/lib.rs:3:5\nerror: could not compile `foo` (lib)\n"
            "maturin failed\n  Caused by: Failed to build a native library through cargo\n",
            "error[F0433]: failed to resolve: use of `bar`",
        ),
        (
            "  \u00d7 Failed to build `acme==1.0`\n  \u251c\u2500\u25b6 The build backend returned an error\n"
            "  \u2570\u2500\u25b6 Call to `build_wheel` failed (exit status: 1)\n\n      [stderr]\n"
            '      Traceback (most recent call last):\n        File "<string>", line 14\n'
            "      acme.NoWidget: there is none\n",
            "acme.NoWidget: there is none",
        ),
        # Prefixes before the message are recognised by their form.
        (
            '[rank0]: Traceback (most recent call last):\n[rank0]:   File "x"\n[rank0]: acme.Odd: what\n',
            "acme.Odd: what",
        ),
        ("2025-11-20T10:00:01.123Z #14 0.759 x.py: error: no widget\n", "x.py: error: no widget"),
        ("vllm-0  | 2025-11-20 10:00:00,123 - vllm.engine - ERROR - Widget lost\n", "Widget lost"),
        ('Nov 20 10:00:00 spark x[3]: time="2025" level=error msg="widget lost"\n', "widget lost"),
        (
            "0.00.226.612 I srv load: failed once\n0.00.307.807 E load: error loading widgets: no widget\n"
            "0.00.307.851 E load: failed to load model\n",
            "load: error loading widgets: no widget",
        ),
        ('{"log":"RuntimeError: no widget\\n","stream":"stderr"}\n', "RuntimeError: no widget"),
        ("2026-08-03T21:37:08Z [4,717ms] [Error] [omni.widget] Widget lost\n", "Widget lost"),
        ("[Fr Okt 25 17:43:06 2024] E: no widget\n", "E: no widget"),
        ("app-1  | (app:1): Widget-WARNING **: 05:23:27.773: E: no widget\n" + "GET / 200\n" * 9, None),
        # A line with an error field counts whatever its log level.
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
        # The innermost of chained exceptions with a useful message counts, or else the last one.
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
        # Pydantic prints the reason in the following lines.
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\n'
            "pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
            "  The widget is too old [type=widget]\n",
            "pydantic_core.ValidationError: 1 validation error for ModelConfig The widget is too old [type=widget]",
        ),
        ("try\nRuntimeError: widget (a.h:9):\nFailed: a.widget\n", "RuntimeError: widget (a.h:9): Failed: a.widget"),
        ("a: could not widget\n1\n2\n3\n4\n5\nb can't widget\n", "b can't widget"),
        # An attempt counts only if the log ends without a further one.
        ("10:00:00Z ERR no widget (1)\n10:00:03Z ERR Retrying in 3s\n10:00:03Z ERR no widget (2)\n", "no widget (2)"),
        ("10:00:00Z ERR Widget lost, retrying in 3s\n1\n2\n3\n4\n", None),
        # The forms in which other programs mark their errors.
        ("2026-05-02T10:00:00.1Z ERROR router: Shard 0 failed to start\n1\n2\n3\n", "Shard 0 failed to start"),
        ("awk: cannot open w (No such file or directory)\n-E- Cannot locate widget!\n", "-E- Cannot locate widget!"),
        ("FATA[0000] validate the widget: rpc\n1\n2\n3\n", "validate the widget: rpc"),
        ("[2026-05-02 10:00:00,345 E 12 12] (raylet) no widget\n1\n2\n3\n", "(raylet) no widget"),
        ("[E 2026-05-02 10:00:00.345 App] Uncaught x\n1\n2\n3\n", "[E 2026-05-02 10:00:00.345 App] Uncaught x"),
        ('Exception in thread "main" acme.Error: none\n1\n2\n3\n', 'Exception in thread "main" acme.Error: none'),
        # Parts of a message or traceback count where nothing else reports an error, but not the source in a warning.
        ("10:00:00 ERROR   File a\n10:00:00 ERROR     f(widget)\n1\n2\n3\n", "File a"),
        ('10:00:00 ERROR     f(a)\n    raise OddError("no widget")\n1\n2\n3\n', 'raise OddError("no widget")'),
        ('a.py:1: SyntaxWarning: odd\n  raise OddError("\\d")\n1\n2\n3\n', None),
        ("cannot move QP 7: Connection timed out\n", "cannot move QP 7: Connection timed out"),
        ("[FAIL] widget 0\n1\n2\n3\n", "[FAIL] widget 0"),
        ("2026-05-02 10:00:00,345 INFO gave up: widget entered it\n1\n2\n3\n", "gave up: widget entered it"),
        (
            'INFO:     192.0.2.1:4 - "POST /v1/widget HTTP/1.1" 500 Internal Server Error\n1\n2\n3\n',
            '192.0.2.1:4 - "POST /v1/widget HTTP/1.1" 500 Internal Server Error',
        ),
        ('INFO:     192.0.2.1:4 - "GET /health HTTP/1.1" 503 Service Unavailable\n1\n2\n3\n', None),
        ("10:00:00 WARN worker died\n", "worker died"),
        ("[rank1]:[E502 10:00:00.345 Widget.cpp:684] [Rank 1] Widget lost\n1\n2\n3\n", "Widget lost"),
        ("[Acme-LLM][ERROR] Error Code: 6: no widget\n1\n2\n3\n", "[Acme-LLM][ERROR] Error Code: 6: no widget"),
        ("acme.Broken: widget of the wrong size\n", "acme.Broken: widget of the wrong size"),
        ("widget PASS 10 FAIL 0\n", None),
        ("Can't remove 'widget'\nSuccessfully installed widget\n", None),
        ("widget exited with code 143\n", None),
        ("thread 'main' panicked at src/a.rs:1:5:\nno widget\n", "thread 'main' panicked at src/a.rs:1:5: no widget"),
        (
            "Caused by:\n  process didn't exit successfully: `w`\n  thread 'main' panicked at 'no widget', a.rs:1:5\n",
            "thread 'main' panicked at 'no widget', a.rs:1:5",
        ),
        ("2 errors detected in the compilation\npanicked at a.rs:1:5:\n", "2 errors detected in the compilation"),
    ],
)
def test_unknown_failure_shows_first_error(log: str, first: str | None) -> None:
    diagnosis = diagnose(log)
    assert (diagnosis.rule, diagnosis.first_error) == (None, first)
    if first:
        assert first in diagnosis.cause


@pytest.mark.parametrize(
    "line",
    [
        # Kernel messages published by owners of GB10 machines.
        "NVRM: Xid 119, Timeout after 6s waiting for GSP_INIT_DONE (function 4097)",
        "NVRM: Xid (PCI:000f:01:00): 120, pid=9111, name=python, GSP task exception: load access fault",
        "NVRM: Xid (PCI:000f:01:00): 13, Graphics SM Warp Exception: Illegal Instruction Parameter",
        "NVRM: Xid (PCI:000f:01:00): 31, pid=3003984, name=python3, channel 0x00000015, intr 00000000. MMU Fault",
    ],
)
def test_kernel_message_of_real_spark_is_the_error(line: str) -> None:
    log = f"[  100.1] usb 1-1: new high-speed USB device\n[  101.2] {line}\n[  102.3] systemd[1]: Started Session 4.\n"
    diagnosis = diagnose(log)
    assert diagnosis.first_error and line[:60] in diagnosis.first_error
    assert diagnosis.rule in (None, "gpu-firmware-timeout", "gpu-program-fault", "gpu-xid", "driver-module-proprietary")


_CRI = "2026-11-02T10:11:12.123456789Z stderr F "


@pytest.mark.parametrize("start", ["", "    s1: ", "==> spark: ", "> ", "- ", "2026-11-02T10:11:12.1234567Z ", _CRI])
def test_failure_that_ansible_does_not_count_is_not_the_error(start: str) -> None:
    error = "Cannot connect to the Docker daemon at unix:///docker.sock"
    results = [
        f'fatal: [a]: FAILED! => {{"stderr": "{error}"}}\nfatal: [b]: FAILED! => {{"stderr": "{error}"}}\n...ignoring',
        f"failed: [a] (item=1) => changed=false\n  msg: odd\n  stderr: |-\n{'    x' * 9}\n    {error}\n...ignoring",
        f'ok: [a] => {{"failed_when_result": false, "stderr": "{error}"}}',
        f'ok: [a] => {{\n  "b": {{\n    "c": 1\n  }},\n  "failed_when_result": false,\n  "stderr": "{error}"\n}}',
        f'"a": {{\n    "stderr": "{error}",\n    "ignore_errors": true\n}}',
    ]
    last = 'TASK [d]\nfatal: [a]: FAILED! => {"msg": "odd widget"}\nTASK [e]\nok: [a]\nPLAY RECAP\na : ok=1'
    last = f"{last} failed=1 rescued=0\n".replace("\n", f"\n{start}")
    logs = [f"TASK [c]\n{result}\n\n{start}{last}" for result in results]
    assert [diagnose(log).first_error for log in logs] == ["odd widget"] * len(results)
    assert diagnose(last.replace("failed=1 rescued=0", "failed=0 rescued=1")).first_error is None
    lines = ("CMake Error in common/CMakeLists.txt:", '  CUDA_ARCHITECTURES is empty for target "a".')
    assert diagnose("\n".join(["a", *(f"{start}{line}" for line in lines)])).rule == "cuda-architectures-empty"


def test_output_in_a_result_of_ansible_keeps_its_lines_and_quotes() -> None:
    text = 'a\nCMake Error: CMake was unable to find a build program corresponding to "Ninja".  Set X.\n'
    results = [json.dumps({"rc": 1, "stderr": text}), json.dumps({"stderr_lines": text.splitlines()}, indent=4)]
    assert [diagnose(f"fatal: [a]: FAILED! => {result}\n").rule for result in results] == ["ninja-missing"] * 2
    log = json.dumps({"level": "error", "msg": "a", "reason": "odd"})
    assert diagnose(log).first_error == 'a error="odd"'


def test_log_that_ends_waiting_is_explained_by_its_last_line_of_any_level() -> None:
    line = "INFO 05-02 14:11:16 [x.py:1] Timed out while waiting for GCS to become available.\n"
    assert [diagnose(log).rule for log in (f"Starting\n{line}", f"{line}Started\n")] == ["ray-head-unreachable", None]


def test_unknown_failure_shows_advice_of_the_log() -> None:
    diagnosis = diagnose("RuntimeError: no widget\n\n  To work around this error, add --without-widget.\n")
    assert diagnosis.rule is None
    assert diagnosis.remedy.endswith("add --without-widget.")
    # A sentence that its line does not end goes on in the next one, or is left out.
    error = "RuntimeError: no widget\nYou can try to build it anew by calling"
    assert diagnose(f"{error}\n'make widget' as root.\n").remedy.endswith("by calling 'make widget' as root.")
    assert "calling" not in diagnose(f"{error}\n").remedy


def test_log_without_error() -> None:
    diagnosis = diagnose("[1/2] a\n[2/2] b\n")
    assert (diagnosis.rule, diagnosis.first_error, diagnosis.lines) == (None, None, ["[1/2] a", "[2/2] b"])
    logs = ("", "    a\n" * 20_000 + "    No devices were found", "a: Start request repeated too quickly")
    assert [diagnose(log).rule for log in logs] == [None, "gpu-none-listed", "unit-restarts-too-often"]


# -- reading a log


def test_warnings_of_a_log_without_error_are_noticed() -> None:
    diagnosis = diagnose("a\nUserWarning: b is not installed, falling back to c\nDeprecationWarning: d\ne\n")
    assert (diagnosis.rule, diagnosis.first_error, diagnosis.line) == (None, None, 4)
    assert [notice.rule for notice in diagnosis.notices] == ["log-warns"]
    assert "line 2: UserWarning: b" in diagnosis.notices[0].cause and "line 3: Dep" in diagnosis.notices[0].cause


def test_match_is_shown_with_nonblank_context() -> None:
    error = "x.h: No space left on device"
    log = "".join(f"before {n}\n\n" for n in range(20)) + f"{error}\n" + "after\n\n" * 20
    assert diagnose(log).lines == [*(f"before {n}" for n in (17, 18, 19)), error, *["after"] * 6]


@pytest.mark.parametrize(("size", "grep"), [(1, ""), (7, ""), (100_000, ""), (7, "grep"), (7, "false"), (7, "none")])
def test_diagnosis_does_not_depend_on_chunk_size(
    size: int, grep: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    # With this chunk size, a log of a few kilobytes is searched in pieces, as a large one would be.
    monkeypatch.setattr(scan.lines, "CHUNK", 50)
    if grep:
        # BusyBox's grep does not know the option, and exits as false does.
        (tmp_path / "grep").symlink_to(f"/usr/bin/{grep}")
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(scan, "_ALONE", 100)
        monkeypatch.setattr(scan, "_PART", 400)
    for name in ("compiler-killed.gcc", "option-dropped", "submodule-missing", "install-into-system.cmake"):
        data = ("fill\n" * 30 + fragment(name) + "fill\n" * 30).encode()
        expected = diagnose(data)
        assert diagnose(data[start : start + size] for start in range(0, len(data), size)) == expected
        assert diagnose(data.decode().splitlines(keepends=True)) == expected


def test_file_is_read_from_start_offset(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "log"
    first = fragment("no-space.git")
    path.write_text(first + fragment("compile-error.gcc"), encoding="utf-8")
    assert diagnose_file(str(path)).rule == "no-space"
    assert diagnose_file(str(path), start=len(first.encode())).rule == "compile-error"
    with pytest.raises(SparkforgeError, match="cannot be read: No such file"):
        diagnose_file(str(tmp_path / "none"))


def test_colors_and_invalid_utf_8_do_not_hide_error() -> None:
    log = b"\r[1/2] a\r[2/2] b\xff\r\n\x1b[1mx.cpp:1:1:\x1b[m \x1b[31mfatal error: \x1b[mPython.h: No such file\n"
    assert diagnose(log).rule == "missing-python-headers"


def test_line_ends_of_rsyslog_keep_the_number_of_their_line() -> None:
    log = "first\nkernel: NVRM: API mismatch: the client has the version 580.95.05, but#012NVRM: this kernel module has"
    diagnosis = diagnose(f"{log} the version 580.82.09.#011Please#012NVRM: make sure\nlast\n")
    assert (diagnosis.rule, diagnosis.values["module"], diagnosis.line) == ("driver-mismatch", "580.82.09", 2)
    assert diagnosis.around[-1] == (3, "last")


def test_line_is_seen_after_many_similar_lines() -> None:
    line = "Found GPU0 NVIDIA GB10 which is of cuda capability {}.\n"
    log = line.format("8.6") * 1000 + line.format("12.1")
    assert [notice.rule for notice in diagnose(log).notices] == ["capability-warning"]


def test_anchors_cover_their_keys() -> None:
    # A log is searched for the anchors first: words without digits.
    anchors = [pair for part in scan.KEYS.anchors for pair in part.items()]
    assert all(anchor.strip() and anchor.strip() in key for anchor, keys in anchors for key in keys)
    keys_with_anchor = {key for _anchor, keys in anchors for key in keys}
    assert {key for shape in keys_with_anchor for key in scan.KEYS.of_form[shape]} == set(scan.KEYS.rules)


def test_memory_is_bounded() -> None:
    def pieces(line: bytes, size: int) -> t.Iterator[bytes]:
        for _piece in range(3):
            yield line * (size // len(line))
        yield b"\nx: No space left on device\n"

    # Tracing takes 40 microseconds for each short line; one pointer kept for each of 98,000 would exceed the bound.
    for line, size, bound in (
        (b"[1/2] c++ -Werror=x a.cpp\n", 1 << 20, 5 << 20),
        (b"x" * 4096, 1 << 20, 5 << 20),
        (b"error: \n", 1 << 18, 17 << 18),
    ):
        tracemalloc.start()
        assert diagnose(pieces(line, size)).rule == "no-space"
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < bound


def test_passwords_of_urls_are_hidden() -> None:
    log = (
        "fatal: unable to access 'https://user:secret@mirror.example.com/a.git/': returned error: 403\n"
        "fatal: clone of 'https://user:secret@mirror.example.com/b.git' into submodule path 'x/y' failed\n"
        "error: https://secret@mirror.example.com/c\n"
    )
    diagnosis = diagnose(log)
    assert diagnosis.rule == "submodule-failed"
    assert "https://mirror.example.com/b.git" in diagnosis.cause
    assert "secret" not in repr(diagnosis)
    assert "secret" not in repr(diagnose("error: https://a:secret@b/c\n"))
