import io
import json
import os
import pathlib
import subprocess
import sys
import threading
import typing as t

import pytest
from sparkforge_proof import explain
from sparkforge_proof._shared.module_utils._diagnosis import lines, scan
from sparkforge_proof._shared.module_utils._diagnosis.anonymous import Anonymous

FULL = "a\nb\nc\nd\nx.o: No space left on device\ne\nf\ng\nh\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def log(tmp_path: pathlib.Path) -> pathlib.Path:
    """The log of a build on a full disk."""
    (tmp_path / "log").write_text(FULL)
    return tmp_path / "log"


def answer(path: pathlib.Path, capsys: Capture, text: str | None = None) -> tuple[int, dict[str, t.Any]]:
    """Explain a log, or this text; return the exit status and the JSON answer."""
    if text is not None:
        path.write_text(text)
    return explain.main(["--json", str(path)]), json.loads(capsys.readouterr().out)


def test_known_error_with_three_lines_around_it(log: pathlib.Path, capsys: Capture) -> None:
    assert explain.main([str(log)]) == explain.EXPLAINED
    text = capsys.readouterr().out
    assert text.splitlines()[0].startswith(f"{log}, line 5: ")
    assert [row[:5] for row in text.splitlines()[1:8]] == [f"{'>' if n == 5 else ' '} {n} |" for n in range(2, 9)]
    assert all(part in text for part in ("Cause: A file system", "Remedy: Find what", "md#no-space", "Source: https:"))
    for line, *parts in (("open: permission denied", ", perhaps: "), ("x: error: x", ", not known: ", "Source: none")):
        log.write_text(line)
        assert explain.main([str(log)]) == explain.UNKNOWN
        assert all(part in text for text in [capsys.readouterr().out] for part in parts)


@pytest.mark.parametrize(
    ("text", "status", "line", "cause"),
    [
        ("ERROR Engine core initialization failed\n", explain.UNKNOWN, 1, "this log does not show the failure itself"),
        ("e.cpp:1:18: error: 'x' was not declared in this scope\n", explain.UNKNOWN, 1, "The source does not compile"),
        ("open: permission denied\n", explain.UNKNOWN, 1, "This account is not permitted"),
        ("TypeError: f() missing 1 required positional argument: 'x'\n", explain.UNKNOWN, 1, "called without 'x'"),
        ("ValueError: too many widgets. Please use fewer.\n", explain.UNKNOWN, 1, "its message says why"),
        ("[NV_ERR_NO_MEMORY] (0x51) returned from _memdescAlloc\n", explain.UNKNOWN, 1, "no memory for a request"),
        ("Run-time dependency CUDA found: NO (tried system)\n", explain.UNKNOWN, 1, "dependency CUDA found: NO"),
        ("Library m found: NO\nFound ninja-1.11 at /usr/bin/ninja\n", explain.NO_ERROR, 2, "Found ninja-1.11"),
        ("", explain.NO_ERROR, 0, "The log is empty."),
        ("[1/2] src/error.c\n[2/2] test_error.cpp\n", explain.NO_ERROR, 2, "[2/2] test_error.cpp"),
        ("fine\nsomething.py: error: quota of widgets used up\n", explain.UNKNOWN, 2, "quota of widgets used up"),
    ],
)
def test_unknown_error(text: str, status: int, line: int, cause: str, log: pathlib.Path, capsys: Capture) -> None:
    exit_status, answers = answer(log, capsys, text)
    (row,) = answers["answers"]
    assert (exit_status, row["status"], row["line"]) == (status, status, line)
    assert row["rule"] in {None, *scan.UNEXPLAINED}
    assert cause in row["cause"] and not row["notices"]
    assert not any(claim in f"{row['cause']} {row['remedy']}" for claim in ("shows no error", "host went down"))


def test_reader_may_close_the_pipe(log: pathlib.Path) -> None:
    program = "import sys; from sparkforge_proof.explain import main; sys.exit(main(sys.argv[1:]))"
    command = 'set -o pipefail; "$@" | true'
    finished = subprocess.run(
        ["bash", "-c", command, "-", sys.executable, "-c", program, log],
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(explain.__file__).parents[1])},
        capture_output=True, text=True,
    )  # fmt: skip
    assert (finished.returncode, finished.stderr) == (0, "")


def test_folder_of_logs(tmp_path: pathlib.Path, capsys: Capture) -> None:
    (tmp_path / "rank0.log").write_text("all is well\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "rank1.log").write_text(FULL)
    (tmp_path / "core").write_bytes(b"\x7fELF\1\2\3\4" * 100)
    os.mkfifo(tmp_path / "pipe")
    status, answers = answer(tmp_path, capsys)
    assert status == explain.EXPLAINED
    assert {row["file"][len(str(tmp_path)) :]: row["status"] for row in answers["answers"]} == {
        "/rank0.log": explain.NO_ERROR,
        "/sub/rank1.log": explain.EXPLAINED,
    }
    assert len(answers["not_looked_at"]) == 2
    explain.main([str(tmp_path)])
    assert "1 more log" in capsys.readouterr().out


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FULL.encode()), encoding="utf-8"))
    monkeypatch.setattr(lines, "blocks", lambda stream: iter([stream.read()]))
    assert explain.main(["-"]) == explain.EXPLAINED
    assert "-, line 5" in capsys.readouterr().out


def test_ansible_result_without_cause_is_explained() -> None:
    result = {"msg": "non-zero return code", "stderr": "x.o: No space left on device"}
    (text,) = explain.of_result(result)
    assert text.startswith("A file system is full") and text.endswith("(docs/troubleshooting.md#no-space)")
    assert explain.of_result({**result, "cause": "It is full."}) == []
    assert explain.of_result({"msg": "no such thing is known"}) == []


def test_secrets_hosts_and_addresses_are_hidden(log: pathlib.Path, capsys: Capture) -> None:
    log.write_text(
        "Nov 20 10:00:00 spark-7f2a vllm[31]: HF_TOKEN=hf_AbCdEfGhIjKlMnOp password=tulip /home/ada ada@spark-7f2a:~\n"
        "Nov 20 10:00:01 spark-7f2a vllm[31]: error: widget 10.4.0.35-1 of https://me:pw@mirror.corp.example/simple\n"
        "Nov 20 10:00:01 spark-7f2a vllm[31]: from 192.0.2.7 and fe80::1ff:fe23:4567:890a to spark-7f2a at 10:00:01\n"
        "Nov 20 10:00:02 spark-7f2a vllm[31]: std::vector<int> 13.0.88 https://docs.nvidia.com/cuda 127.0.0.1\n"
    )
    status, answers = answer(log, capsys)
    text = json.dumps(answers)
    assert status == explain.UNKNOWN
    for secret in ("spark-7f2a", "hf_AbC", "tulip", "/home/ada", "ada@", "mirror.corp", "me:pw", "192.0.2.7", "fe80::"):
        assert secret not in text.replace(str(log.parent), ""), secret
    for part in ("10.4.0.35-1", "std::vector<int>", "13.0.88", "https://docs.nvidia.com/cuda", "127.0.0.1", "10:00:01"):
        assert part in text


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("main.c:5:10: fatal error: Python.h: No such file or directory\n", "headers of this Python"),
        ("ERROR: HTTP error 502 while getting https://wheels.example.com/a.whl\n", "https://host-1/a.whl answers"),
        ("fatal: [spark-a]: Could not resolve host: mirror.example.com\n", "cannot be resolved here: host-1."),
    ],
)
def test_only_texts_from_log_are_hidden(text, cause, log: pathlib.Path, capsys: Capture, monkeypatch):
    # The host's name also occurs as a word in a rule.
    monkeypatch.setattr("socket.gethostname", lambda: "headers")
    (row,) = answer(log, capsys, text)[1]["answers"]
    assert cause in row["cause"]


@pytest.mark.parametrize("day", ["Mar 06", "mar 06", "févr. 06", "Mär 6", "11月 06", "11월 06"])
def test_host_of_a_journal_in_any_language_is_hidden(day: str, log: pathlib.Path, capsys: Capture) -> None:
    message = "gdm3[7055]: modprobe: ERROR: could not insert 'nvidia': Key was rejected by service"
    (row,) = answer(log, capsys, f"{day} 15:10:43 CS3003NS {message}\n")[1]["answers"]
    assert row["lines"][0]["text"] == f"{day} 15:10:43 host-1 {message}"


def test_hosts_in_rules_are_not_hidden(log: pathlib.Path, capsys: Capture) -> None:
    text = (
        "W: https://mirror.corp.example/ubuntu noble InRelease is old\n"
        "E: Conflicting values set for option Signed-By regarding source "
        "https://nvidia.github.io/libnvidia-container/stable/deb/arm64/ /: /usr/share/keyrings/a.gpg != \n"
    )
    (row,) = answer(log, capsys, text)[1]["answers"]
    assert "https://nvidia.github.io/libnvidia-container" in row["cause"]
    assert [line["text"].split("://")[1].partition("/")[0] for line in row["lines"]] == ["host-1", "nvidia.github.io"]
    for name in ("github.com", "huggingface.co", "hf.co", "ubuntu.com", "docker.com", "debian.org", "nvidia.com"):
        assert Anonymous((), explain.public_domains()).text(f"get https://x.{name}/y") == f"get https://x.{name}/y"
    for name in ("nvidia.com.evil.example", "github.com.corp", "spark-7.lan", "notnvidia.com", "gitlab.acme.com"):
        assert name not in Anonymous((), explain.public_domains()).text(f"get https://{name}/y")
    for host in ("packages.microsoft.com", "deb.nodesource.com"):
        assert host in Anonymous().text(f"get https://{host}/y")
        assert host not in Anonymous().text(f"get https://{host}.corp/y")
    assert "desk" not in Anonymous().text("get https://desk.microsoft.com/y")
    for registry in ("pypi", "npmjs", "crates"):
        assert f"files.{registry}.org" in Anonymous().text(f"get https://files.{registry}.org/y")
        assert registry not in Anonymous().text(f"get https://{registry}.corp/y and https://{registry}.acme.com")


def test_version_after_at_sign_is_no_address() -> None:
    for version in ("torch@2.8.1", "left-pad@v1.0.0-rc.1", "numpy@2.1", "left-pad@file:/srv/left-pad"):
        assert Anonymous().text(f"needs {version}, which") == f"needs {version}, which"
    for address in ("ada@spark.example", "ada@2.8.example.org", "ada@192.0.2.7", "ada@7.example", "ada@spark:~"):
        assert "ada" not in Anonymous().text(f"needs {address}, which")


def test_host_has_one_replacement_in_all_texts() -> None:
    hidden = Anonymous({"spark-a", "spark-b"})
    for text, shown in (
        ("spark-b to 192.0.2.7", "host-1 to address-1.1"),
        ("192.0.2.8, 192.0.2.7, spark-a, spark-b, spark-big", "address-1.2, address-1.1, host-2, host-1, spark-big"),
        (
            "10.0.0.33 10.0.1.33 fe80::1ff fe80::2 2001:db8::1",
            "address-2.1 address-3.1 link-local-1.1 link-local-1.2 address-4.1",
        ),
        ("connect to host 192.0.2.9 port 22", "connect to host address-1.3 port 22"),
        ("connect to host spark-7, resolve hostname spark-8", "connect to host host-3, resolve hostname host-4"),
        ("host: DGX Spark, 121 GiB", "host: DGX Spark, 121 GiB"),
        ("connect to GCS, OnConnect to Node 8", "connect to GCS, OnConnect to Node 8"),
        ("connect to head at address 192.0.2.7:41000", "connect to head at address address-1.1:41000"),
        ("connect to spark-7 at address 192.0.2.7", "connect to host-3 at address address-1.1"),
    ):
        assert hidden.text(text) == shown
    assert hidden.value("10.0.1.34 and 192.0.2.7") == "address-3.2 and address-1.1"


@pytest.mark.parametrize(
    ("name", "data"),
    [("elf", b"\x7fELF\2\1\1\0\0\0" + bytes(range(256)) * 20), ("gzip", b"\x1f\x8b\x08" + bytes(range(1, 256)) * 20)],
)
def test_binary_file_is_refused(name: str, data: bytes, tmp_path: pathlib.Path, capsys: Capture) -> None:
    (tmp_path / name).write_bytes(data)
    assert explain.main([str(tmp_path / name)]) == explain.REFUSED
    assert "not a text.\n  Unpack it" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["none", "empty"])
def test_missing_or_empty_log_is_refused(name: str, tmp_path: pathlib.Path, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    assert explain.main([str(tmp_path / name)]) == explain.REFUSED
    assert capsys.readouterr().err.startswith("sparkforge explain: ")


def test_huge_hole_and_huge_line(log: pathlib.Path, capsys: Capture) -> None:
    with log.open("wb") as stream:
        stream.write(b"first\n")
        # After a power loss, a file system can leave such a hole. A 2 GiB hole takes 10 s.
        stream.seek(100 << 20, os.SEEK_CUR)
        stream.write(b"\nx" * 10 + b"y" * (10 << 20) + b" No space left on device " + b"z" * (10 << 20))
    status, answers = answer(log, capsys)
    assert (status, answers["answers"][0]["line"]) == (explain.EXPLAINED, 12)


def test_line_number_after_colours_progress_bars_and_bad_utf_8(log: pathlib.Path, capsys: Capture) -> None:
    log.write_bytes(b"a\r\nb 1%\rb 2%\rb 3%\n\xff\xfe\n\x1b[31mx.o: \x1b[1mNo space left on device\x1b[0m\r\nend\n")
    status, answers = answer(log, capsys)
    (row,) = answers["answers"]
    assert (status, row["line"]) == (explain.EXPLAINED, 4)
    assert [line["number"] for line in row["lines"]] == [2, 2, 3, 4, 5]
    assert "\x1b" not in json.dumps(row)


def test_growing_log_is_read_to_its_first_end(log: pathlib.Path) -> None:
    done = threading.Event()

    def grow() -> None:
        with log.open("a") as stream:
            while not done.is_set():
                stream.write("more\n" * 1000)
                stream.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        (row,), _left_out = explain.explain_path(str(log))
    finally:
        done.set()
        writer.join()
    assert row.diagnosis.rule == "no-space"
