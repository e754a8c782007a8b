"""The parts of the endpoint proof that do not need torch: requests, answers, texts, judgements, the command."""

import contextlib
import http.server
import json
import math
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import typing as t
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sparkforge_proof import cli as command_line
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof.check import Measured
from sparkforge_proof.endpoint import answers, cli, client, judge, reference, session, texts
from sparkforge_proof.endpoint.judge import Observation

KEY = "a-key-that-nobody-may-see"
SOURCES = Path(__file__).parents[2] / "src"


class Server(http.server.ThreadingHTTPServer):
    """Answers all requests with the same body, and records the headers that it receives."""

    status, body, headers = 200, b'{"data": [{"id": "tiny"}]}', {}
    pause = 0.0

    def __init__(self) -> None:
        self.seen: list[Any] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                outer.seen.append(self.headers)
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if not outer.pause:
                    with contextlib.suppress(OSError):
                        self.wfile.write(outer.body)
                for byte in outer.body if outer.pause else b"":
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(outer.pause)

            do_POST = do_GET

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def server() -> Iterator[Server]:
    http_server = Server()
    threading.Thread(target=http_server.serve_forever, daemon=True).start()
    yield http_server
    http_server.shutdown()
    http_server.server_close()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    directory = tmp_path / "model"
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps({"vocab_size": 8, "dtype": "bfloat16"}))
    (directory / "model.safetensors").write_bytes(b"1234")
    (directory / "tokenizer.json").write_text("{}")
    return directory


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (401, b"{}", "needs a key"),
        (404, b'{"error": {"message": "no such path"}}', "refused the request (HTTP 404): no such path."),
        (500, b"broken", "failed (HTTP 500): broken."),
        (400, b'{"error": {"message": "Out of range float values are not JSON compliant: nan"}}', "are not numbers"),
        (302, b"", "redirects to"),
        (200, b"<html>\x1b[31m", "not JSON: '<html>\ufffd[31m'"),
        (200, b"\xff\xfe", "is not JSON"),
        (200, b"[" * 100_000, "is not JSON"),
        (500, b'{"error": ' * 60_000, "failed (HTTP 500)"),
        (200, b"[]" + b" " * client.LONGEST, "more than 4 MiB"),
        (200, b'data: {"choices": []}\n\ndata: [DONE]\n', "streams its answer"),
    ],
)
def test_unusable_answer_is_one_cause(server: Server, status: int, body: bytes, cause: str) -> None:
    server.status, server.body, server.headers = status, body, {"Location": "http://127.0.0.1:1/"}
    with pytest.raises(SparkforgeError) as error:
        client.Endpoint(server.url).get("/v1/models")
    assert cause in error.value.cause and error.value.remedy


def test_truncated_answer_is_one_cause(server: Server) -> None:
    server.body, server.headers = b'{"data": [', {"Content-Length": "300"}
    with pytest.raises(SparkforgeError, match="after 10 bytes, 290 before"):
        client.Endpoint(server.url).get("/v1/models")


def test_unreachable_server_is_one_cause() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(SparkforgeError, match="cannot be reached"):
            client.Endpoint(f"http://127.0.0.1:{free.getsockname()[1]}").get("/v1/models")


#: Servers that send data slowly: the bytes that each sends at once, and the bytes that it then repeats.
DRIPS = {
    "status line": (b"", b"H"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
    "error body": (b"HTTP/1.1 500 No\r\nContent-Length: 100000\r\n\r\n", b" "),
    "chunk size": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
    "trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"a: b\r\n"),
}


@pytest.mark.parametrize("part", DRIPS)
def test_timeout_covers_complete_exchange(part: str) -> None:
    at_once, drip = DRIPS[part]

    def serve() -> None:
        connection, _address = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(at_once)
            while not given_up.wait(0.02):
                connection.sendall(drip)

    given_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        # The server goes on sending until the client gives up.
        with pytest.raises(SparkforgeError, match="did not answer"):
            client.Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.3).get("/v1/models")
    given_up.set()
    thread.join()


def test_key_is_sent_and_never_shown(server: Server) -> None:
    server.status, server.body = 500, f"bad key {KEY}".encode()
    with pytest.raises(SparkforgeError) as error:
        client.Endpoint(server.url + "/v1", KEY).get("/v1/models")
    assert server.seen[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(error.value) and "***" in str(error.value)
    server.status = 403
    with pytest.raises(SparkforgeError, match="rejects the key"):
        client.Endpoint(server.url, KEY).get("/v1/models")


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://host", "http://", "http://host:port", "http://host/v1?a=b"])
def test_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(SparkforgeError, match="not the URL"):
        client.Endpoint(url)


def test_password_in_url_is_not_shown() -> None:
    with pytest.raises(SparkforgeError) as error:
        client.Endpoint(f"http://me:{KEY}@host/")
    assert KEY not in str(error.value)


def test_unfinished_or_invalid_stream_is_refused(server: Server) -> None:
    endpoint = client.Endpoint(server.url)
    server.body = (
        b'data: {"choices": [{"text": "a"}]}\n\n: comment\ndata: {"choices": [{"text": "b"}]}\n\ndata: [DONE]\n'
    )
    assert answers.stream_text(endpoint.stream("/v1/completions", {})) == "ab"
    server.body = b'data: {"choices": [{"text": "a"}]}\n\n'
    with pytest.raises(SparkforgeError, match=r"without \[DONE\]"):
        endpoint.stream("/v1/completions", {})
    server.body = b"data: {half\n\ndata: [DONE]\n"
    with pytest.raises(SparkforgeError, match="not JSON"):
        endpoint.stream("/v1/completions", {})
    with pytest.raises(SparkforgeError, match="stream is not"):
        answers.stream_text([{"choices": ["text"]}])


def test_completion_of_vllm() -> None:
    choice = {
        "text": "ab",
        "finish_reason": "length",
        "logprobs": {
            "tokens": ["token_id:5", "token_id:0"],
            "token_logprobs": [-1.5, -2],
            "top_logprobs": [{"token_id:5": -1.5, "token_id:0": -3}, None],
        },
        "prompt_token_ids": [7, 8],
    }
    answer = answers.completion({"choices": [choice], "usage": {"prompt_tokens": 2, "completion_tokens": 2}})
    assert [token.id for token in answer.tokens] == [5, 0] and answer.tokens[0].top == {5: -1.5, 0: -3.0}
    assert (answer.prompt_ids, answer.prompt_tokens) == ((7, 8), 2)


def test_completion_of_llama_cpp() -> None:
    content = [{"id": 3, "token": "c", "logprob": -0.5, "top_logprobs": [{"id": 3, "token": "c", "logprob": -0.5}]}]
    answer = answers.completion({"choices": [{"text": "c", "logprobs": {"content": content}}]})
    assert (answer.tokens[0].id, answer.tokens[0].top, answer.prompt_tokens) == (3, {3: -0.5}, None)


def test_completion_of_sglang_without_token_ids() -> None:
    logprobs = {"tokens": ["x", "y"], "token_logprobs": [None, -1], "top_logprobs": [None, {"y": -1}]}
    answer = answers.completion({"choices": [{"text": "xy", "logprobs": logprobs}]})
    assert [(token.text, token.id) for token in answer.tokens] == [("x", None), ("y", None)]
    assert answer.tokens[1].top == {"y": -1.0}


@pytest.mark.parametrize("body", [None, [], {}, {"choices": []}, {"choices": [{"logprobs": 3}]}, {"choices": ["a"]}])
def test_invalid_completion_is_refused(body: Any) -> None:
    with pytest.raises(SparkforgeError, match="not a completion"):
        answers.completion(body)


@pytest.mark.parametrize(
    ("logprobs", "usage"),
    [
        ({"tokens": ["a"], "token_logprobs": [10**400]}, {}),
        ({"content": [{"token": "a", "id": math.inf, "logprob": 0}]}, {}),
        ({"content": {"a": 1}}, {}),
        ({"content": [3]}, {}),
        (None, {"prompt_tokens": math.inf}),
        (None, {"prompt_tokens": math.nan}),
    ],
)
def test_completion_with_huge_numbers_is_refused(logprobs: Any, usage: Any) -> None:
    with pytest.raises(SparkforgeError, match="is not a"):
        answers.completion({"choices": [{"text": "", "logprobs": logprobs}], "usage": usage})


@pytest.mark.parametrize(
    "listed", [{"max_model_len": 64}, {"meta": {"n_ctx_train": 64}}, {}, {"meta": [1]}, {"meta": 3}]
)
def test_context_length_from_list_of_models(listed: Any) -> None:
    assert answers.context(listed) == (64 if "64" in str(listed) else None)


@pytest.mark.parametrize("value", [-5, "many", math.inf, {"a": 1}, 1 << 31, [[]]])
def test_invalid_context_length_is_refused(value: Any) -> None:
    with pytest.raises(SparkforgeError, match="context length"):
        answers.context({"max_model_len": value})


def test_server_without_model_is_refused() -> None:
    assert answers.models({"data": [{"id": "a"}]}) == [{"id": "a"}]
    for body in ({}, [], {"data": []}, {"data": [{"id": 3}]}, {"data": True}, {"data": 7}):
        with pytest.raises(SparkforgeError, match="lists no model"):
            answers.models(body)


def test_texts_have_lengths_near_page_sizes_and_follow_from_seed() -> None:
    drawn = texts.Texts(range(10, 50), [1], 2100, 3)
    lengths = drawn.lengths()
    assert {15, 16, 17, 32, 33, 512, 513, 2048, 2049} <= set(lengths) and max(lengths) == 2100 - texts.GENERATED
    prompts = drawn.alone()
    assert all(text.ids[0] == 1 and len(text.ids) == length for text, length in zip(prompts, lengths, strict=True))
    assert texts.Texts(range(10, 50), [1], 2100, 3).alone() == prompts
    assert texts.Texts(range(10, 50), [1], 2100, 4).alone() != prompts


def test_every_fourth_text_of_batch_gets_other_neighbours() -> None:
    first, second = texts.Texts(range(10, 50), [], 300, 0).batches()
    assert len(first) == len(second) == texts.BATCH
    same = [text.ids == other.ids for text, other in zip(first, second, strict=True)]
    assert same[::4] == [True] * 8 and not all(same)


@pytest.mark.parametrize("first", [[], [1]])
@pytest.mark.parametrize("page", texts.PAGES)
def test_cache_that_ignores_a_pages_prefix_takes_a_page_from_another_text(first: list[int], page: int) -> None:
    cached: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}
    confused = 0
    for text in texts.Texts(range(10, 90), first, 300, 0).shared():
        is_cached = True
        for end in range(page, len(text.ids), page):
            key, beginning = (end, text.ids[end - page : end]), text.ids[:end]
            # An engine computes everything after the first page that is not in its cache.
            is_cached = is_cached and key in cached
            confused += is_cached and cached[key] != beginning
            cached.setdefault(key, beginning)
    assert confused


def seen(position: int, off: float, condition: str = texts.ALONE, length: int = 64, text: int = 0) -> Observation:
    ids = (text, *range(1, length))
    return Observation(texts.Text(ids, condition), position, -2.0 + off, -2.0, 0.1)


def test_numbers_beyond_noise_of_format_are_wrong() -> None:
    right = [seen(at, 0.1 if at % 2 else -0.1) for at in range(1, 60)]
    assert not judge.judge(right).wrong
    assert judge.judge([*right, seen(60, 0.7)]).wrong == [seen(60, 0.7)]
    # No single number is far off, but together they deviate by more than the format explains.
    assert len(judge.judge([seen(at, 0.3 if at % 2 else -0.3) for at in range(1, 60)]).wrong) == 59
    assert judge.judge([seen(3, float("nan"))]).wrong and judge.judge([seen(3, float("-inf"))]).wrong


def test_condition_of_wrong_numbers_is_named() -> None:
    right = [seen(at, 0.0) for at in range(1, 60)]
    assert "position 17, just behind a multiple of 16" in judge.describe([seen(17, 1.0)], right, 17)
    assert "texts in a batch" in judge.describe([seen(17, 1.0, texts.BATCHED)], right, 17)
    assert "prefix cache" in judge.describe([seen(17, 1.0, texts.SHARED)], right, 17)
    assert "Even the first" in judge.describe([seen(at, 1.0) for at in range(1, 5)], [], 1)
    long = [seen(at, 1.0, length=257) for at in range(200, 257)]
    assert "up to 64 tokens are right; from 257 tokens on" in judge.describe(long, right, 200)


@pytest.mark.parametrize("first", [1, 48, 192, 200])
def test_fault_begins_where_noise_grows(first: int) -> None:
    # Only the last number exceeds its bound; before the fault, the noise is a quarter of what it is after it.
    draw = random.Random(first)
    numbers = [
        seen(at, draw.gauss(0, 0.05 if at < first else 0.2), length=192, text=text)
        for at in range(1, 210)
        for text in range(6)
    ]
    assert judge.first_wrong([*numbers, seen(209, 3.0, length=192)]) == pytest.approx(first, abs=1)


class Trials:
    """A reference in which rounding makes every eighth computation use another expert, with ten times the error."""

    def score(self, asked: Any, trials: int = reference.TRIALS, drawn: float = 0) -> list[dict[int, Any]]:
        sigma = 0.1 if trials < 8 else math.sqrt(0.1**2 + 1.0 / 8)
        return [
            {at: reference.Position(dict.fromkeys(ids, -2.0), sigma, (0, 0, 0)) for at, ids in positions.items()}
            for _ids, positions in asked
        ]


@pytest.mark.parametrize(("off", "texts_off", "wrong"), [(1.0, 1, 0), (1.0, 5, 5), (9.0, 1, 1), (0.1, 0, 0)])
def test_noise_of_few_wrong_texts_is_computed_again(off: float, texts_off: int, wrong: int) -> None:
    answered = []
    for number in range(8):
        logprobs = [-2.0] * 17 + [-2.0 - (off if number < texts_off else 0.0)]
        tokens = tuple(answers.Token("", token, logprob) for token, logprob in enumerate(logprobs))
        answered.append((texts.Text((5, 6, number), texts.BATCHED), answers.Answer("", "length", tokens), None))
    pairs = session.Session(t.cast(Any, None), "model", t.cast(Any, Trials())).compare(answered)
    assert len(pairs) == 8 and all(len(pair.completion) == 18 and not pair.prompt for pair in pairs)
    assert len(judge.judge([observation for pair in pairs for observation in pair.completion]).wrong) == wrong


def test_draws_that_are_too_likely_deviate() -> None:
    fair = [(-1.0, -1.5, 0.25, -1.5), (-2.0, -1.5, 0.25, -1.5)] * 200
    assert abs(judge.deviation(fair)) < 1 and judge.deviation([(-1.0, -1.5, 0.25, -1.5)] * 400) > judge.DRAWS
    # A coarse format draws tokens that are less likely than the exact scores predict.
    assert judge.deviation([(-1.6, -1.5, 0.25, -1.7)] * 400) == 0 > judge.deviation([(-1.9, -1.5, 0.25, -1.7)] * 400)
    assert judge.deviation([]) == 0


@pytest.mark.parametrize(
    ("config", "cause"),
    [
        ("{", "config.json is damaged"),
        ("[]", "config.json is damaged"),
        ("[" * 100_000, "config.json is damaged"),
        (" " * reference.LONGEST_CONFIG + "{}", "config.json is damaged"),
        ('{"text_config": "x"}', "config.json is damaged"),
        ('{"quantization_config": [1]}', "config.json is damaged"),
        ('{"vocab_size": Infinity}', "config.json is damaged"),
        ('{"max_position_embeddings": -5}', "size below 0"),
        ('{"quantization_config": {"quant_method": "gptq"}}', r"unknown quantisation \(gptq\)"),
    ],
)
def test_damaged_model_configuration_is_refused(model: Path, config: str, cause: str) -> None:
    (model / "config.json").write_text(config)
    with pytest.raises(SparkforgeError, match=cause):
        reference.folder(str(model))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda model: (model / "config.json").unlink(), "model's directory"),
        (lambda model: pipe(model / "config.json"), "not a regular file"),
        (lambda model: (model / "model.safetensors").unlink(), "has no weights"),
        (lambda model: (model / "model.safetensors").rename(model / "model.bin"), "only pickle files"),
        (lambda model: (model / "tokenizer.json").unlink(), "has no tokenizer"),
    ],
)
def test_incomplete_model_directory_is_refused(model: Path, change: Any, cause: str) -> None:
    change(model)
    with pytest.raises(SparkforgeError, match=cause):
        reference.folder(str(model))


@pytest.mark.parametrize(
    ("config", "form", "stored"),
    [
        ({"dtype": "float16"}, "fp16", False),
        ({"torch_dtype": "bfloat16"}, "bf16", False),
        ({"quantization_config": {"quant_method": "mxfp4"}}, "mxfp4", True),
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8", True),
        (
            {"quantization_config": {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}},
            "nvfp4",
            True,
        ),
        ({"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}, "nvfp4", True),
    ],
)
def test_format_from_model_configuration(model: Path, config: Any, form: str, stored: bool) -> None:
    (model / "config.json").write_text(json.dumps(config))
    folder = reference.folder(str(model))
    assert (folder.format, folder.stored) == (form, stored)


def test_hub_model_in_client_cache(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = tmp_path / "home/hub/models--org--name"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs/main").write_text("0123abc")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    assert reference.locate("org/name") == str(cached / "snapshots/0123abc")
    assert reference.locate("org/other") == "org/other" and reference.locate(str(model)) == str(model)


COMMAND = [sys.executable, "-m", "sparkforge_proof", "endpoint"]


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--model", "/nowhere"], "URL is missing"),
        (["http://127.0.0.1:1", "--model", "/nowhere"], "cannot be reached"),
        (["{url}", "--model", "/nowhere"], "/nowhere is not"),
        (["{url}", "--model", "{model}", "--served-name", "large"], "no model large. Choose one of tiny."),
        (["{url}", "--model", "{model}", "--key-file", "/nowhere"], "The key file /nowhere cannot be read"),
        (["{url}", "--model", "{model}", "--key-variable", "EMPTY"], "no key in the variable EMPTY."),
        (["{url}", "--model", "{model}"], "has no torch."),
        (["{url}", "--model", "{model}", "--longest", "3"], "--longest 32 or more"),
        (["{url}"], "or --against URL2."),
        (["{url}", "--model", "{model}", "--against", "{url}"], "or --against URL2."),
        (["{url}", "--against", "127.0.0.1"], "not the URL"),
    ],
)
def test_refusal_is_one_line(server: Server, model: Path, arguments: list[str], cause: str) -> None:
    command = [*COMMAND, *(argument.format(url=server.url, model=model) for argument in arguments)]
    environment = {"PYTHONPATH": str(SOURCES), "PATH": os.environ["PATH"]}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (result.returncode, result.stdout) == (command_line.REFUSED, "")
    assert cause in result.stderr and result.stderr.count("\n") == 1


def test_interruption_is_one_line(server: Server, model: Path) -> None:
    server.pause, server.body = 0.2, b" " * 10_000
    for number in (signal.SIGINT, signal.SIGTERM):
        server.seen.clear()
        running = subprocess.Popen(
            [*COMMAND, server.url, "--model", str(model)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": str(SOURCES)},
            # The tests may run in a background shell, where SIGINT is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        while not server.seen:
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(number)
        out, error = running.communicate()
        assert (running.returncode, out, error.count("\n")) == (128 + number, "", 1)
        assert error.startswith("Stopped by ")


@pytest.mark.parametrize(("is_gone", "checks"), [(True, ["one", "two"]), (False, ["one", "two", "three"])])
def test_server_that_disappears_fails_one_check(is_gone: bool, checks: list[str]) -> None:
    called = []

    def check(name: str) -> Any:
        def function() -> Measured:
            called.append(name)
            if name == "two":
                raise SparkforgeError("The server failed (HTTP 500).", "Look at its log.")
            return Measured("right", "a bound")

        return name, True, function

    def ping() -> None:
        if is_gone:
            raise SparkforgeError("The server cannot be reached.", "Start it.")

    rows = list(cli.rows([check("one"), check("two"), check("three")], ping))
    assert called == checks
    assert [row.status for row in rows] == ["pass", "fail", "skip" if is_gone else "pass"]
    assert rows[2].cause.startswith("Not run: ") == is_gone


def test_answer_of_nan_is_a_wrong_number() -> None:
    def check() -> Any:
        raise client.NotNumbers("nan", "Try another version.")

    (row,) = cli.rows([("one", True, check)], lambda: None)
    assert (row.status, row.reason, row.cause) == ("fail", "wrong", "nan")
