"""Parsers of input from servers, the network, processes and models, and of records and ledgers."""

import datetime
import http.client
import io
import json
import os
import struct
import tempfile
import types
import typing as t
import urllib.request
from pathlib import Path
from unittest import mock

import zeroconf
from ansible_collections.sparkforge.dgx_spark.plugins.action import forecast as forecast_action
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import sanitize
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record import redaction
from ansible_collections.sparkforge.dgx_spark.tools import discovery
from ansible_collections.sparkforge.dgx_spark.tools.forecast import forecast, ledger
from sparkforge import Refusal, find, top
from sparkforge.terminal import Console
from sparkforge_guard import admission, host, model_files, models
from sparkforge_guard._shared.module_utils._core.errors import SparkforgeError as GuardError
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError as ProofError
from sparkforge_proof.endpoint import answers, client, reference

from guard.tests.machine import TOTAL, Machine
from tests.unit.parser import Parser, of_file, of_text
from tests.unit.recorded_spark import ANSWERS, FILES, Commands, recorder

HOSTS = Path(__file__).parent / "data/hosts"
GUARD, PROOF = (GuardError,), (ProofError,)


_CONFIG = {"num_hidden_layers": 1, "hidden_size": 4, "num_attention_heads": 2, "layer_types": ["full"], "vocab_size": 9}
_HEADER = b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
_SAFETENSORS = struct.pack("<Q", len(_HEADER)) + _HEADER + bytes(4)


def _model(data: bytes, directory: Path) -> object:
    directory.joinpath("config.json").write_bytes(data)
    directory.joinpath("model.safetensors").write_bytes(_SAFETENSORS)
    return models.read(str(directory))


def _gguf(**sizes: int) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    pairs = [text("general.architecture") + struct.pack("<I", 8) + text("x")]
    pairs += [text(f"x.{name}") + struct.pack("<II", 4, size) for name, size in sizes.items()]
    pairs.append(text("x.a") + struct.pack("<IIQ", 9, 4, 1) + bytes(4))
    pairs.append(text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"))
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


def _read_for_proof(data: bytes, directory: Path) -> object:
    directory.joinpath("config.json").write_bytes(data)
    directory.joinpath("model.safetensors").write_bytes(_SAFETENSORS)
    directory.joinpath("tokenizer.json").write_text("{}")
    return reference.folder(str(directory))


class _Socket:
    """A connection whose server has sent its complete answer."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, *_arguments: t.Any, **_options: t.Any) -> io.BytesIO:
        return io.BytesIO(self.data)

    def sendall(self, _data: bytes) -> None:
        """Ignore the request."""

    def close(self) -> None:
        """Close nothing, as no socket is open."""


class _Server(urllib.request.HTTPHandler):
    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    def http_open(self, request: urllib.request.Request) -> t.Any:
        def connected(name: str, **options: t.Any) -> http.client.HTTPConnection:
            connection = http.client.HTTPConnection(name, **options)
            connection.sock = _Socket(self.data)
            return connection

        return self.do_open(connected, request)


def _from_endpoint(read: t.Callable[[client.Endpoint], object]) -> t.Callable[[bytes, Path], object]:
    def from_server(data: bytes, _directory: Path) -> object:
        endpoint = client.Endpoint("http://127.0.0.1:8000/v1", "key-of-nobody")
        endpoint._opener = urllib.request.build_opener(
            _Server(data), client._NoRedirect, urllib.request.ProxyHandler({})
        )
        try:
            return read(endpoint)
        except ProofError as error:
            assert error.cause and error.remedy and "key-of-nobody" not in f"{error}"
            raise

    return from_server


def _http(body: str | bytes, status: str = "200 OK", headers: str = "") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n{headers}\r\n".encode() + data


_COMPLETION = {
    "choices": [
        {
            "text": "ab", "finish_reason": "length", "token_ids": [3, 4], "prompt_token_ids": [1, 2],
            "logprobs": {
                "tokens": ["a", "token_id:4"], "token_logprobs": [None, -1.5], "top_logprobs": [None, {"b": -1.5}],
            },
        }
    ],
    "usage": {"prompt_tokens": 2, "completion_tokens": 2},
}  # fmt: skip
_CHAT = {"choices": [{"message": {"content": "a"}, "logprobs": {"content": [
    {"token": "token_id:3", "id": 3, "logprob": -1, "top_logprobs": [{"token": "a", "logprob": -1}]}]}}]}  # fmt: skip
_EVENTS = 'data: {"choices": [{"text": "a"}]}\n\n: x\ndata: {"choices": []}\n\ndata: [DONE]\n\n'


def _chunked_answer(body: str) -> bytes:
    pieces = "".join(f"{len(piece):x};a=b\r\n{piece}\r\n" for piece in (body[:9], body[9:], ""))
    return f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{pieces}".encode()


def _processes(data: bytes, directory: Path) -> object:
    """Write pieces of the data to the /proc files for a process, for memory and for pressure, and read them."""
    machine = Machine(directory / "proc")
    machine.start(900, "model", 2, uid=1000)
    names = ("900/stat", "900/status", "900/cgroup", "meminfo", "pressure/memory")
    for name, piece in zip(names, data.split(b"\n%%\n")):
        (directory / "proc" / name).write_bytes(piece)
    guarded = host.Host(str(directory / "proc"))
    try:
        processes = guarded.processes({900: 1 << 30}, swapped=True)
        for process in processes.values():
            assert sanitize.line(process.name) == process.name and sanitize.line(process.path) == process.path
        return guarded.memory(), guarded.unmapped(processes), processes
    finally:
        # A Host keeps its files open, because a guard uses it for as long as it runs.
        for descriptor in (guarded._meminfo, guarded._pressure, machine.host._meminfo, machine.host._pressure):
            if descriptor >= 0:
                os.close(descriptor)


_STAT = b"900 (a (strange) name) S 1 900 900 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 2 0 900 1073741824 4096 0 0\n"
_STATUS = b"Name:\tmodel\nUid:\t0\t0\t0\t0\nGroups:\t1 2 3\nRssAnon:\t100 kB\nRssShmem:\t9 kB\nVmSwap:\t0 kB\n"
_CGROUPS = b"4:memory:/other.service\n1:name=systemd:/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n"
_MEMORY = b"MemTotal:  125541260 kB\nMemAvailable:  1000 kB\nShmem: 100 kB\nCached: 90 kB\n"
_PRESSURE = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=9.99 avg60=0.00 avg300=0.00 total=1\n"
_MODEL = models.Model(
    "/m", {"BF16": 8 << 30}, 16, 8, 512, 1024, 4096, 14336, 128256, 131072, 2, 1 << 28, 32, (8 << 30, 4 << 30)
)


def _command(text: str) -> object:
    demand = admission.demand(text.split(), "", TOTAL, _MODEL)
    memory = host.Memory(0.0, TOTAL, TOTAL // 2, TOTAL // 4, 0, 0, 0, -1.0, -1.0, 0, 0)
    return admission.plan(demand, memory, cores=4)


_TODAY = datetime.date(2026, 11, 28)
_RULES = ledger.load()
#: The hosts that trigger each rule of the ledger, taken from its examples.
_TRIGGERS = [rule["examples"]["triggers"] for rule in _RULES.rules]
_RECORDS = [
    {**json.loads((HOSTS / "dgx-spark.json").read_text()), **example.get("observation", {}),
     "record": {"format": 1, "update": example.get("update", {})}}
    for example in _TRIGGERS
]  # fmt: skip


def _forecast(path: str) -> object:
    row = forecast_action.ActionModule._row(forecast_action.recorded(path), _RULES, _TODAY, ())
    state = forecast.fleet([row], _RULES, _TODAY)
    return forecast.as_text(state), forecast.as_json(state)


def _ledger(data: bytes, directory: Path) -> object:
    (directory / ledger.HEAD).write_text('{"format": 1, "date": "2026-11-25"}')
    (directory / "rule.yml").write_bytes(data)
    rules = ledger.load(str(directory))
    rows = [forecast.judge("spark", *forecast.of_record(record), rules, _TODAY) for record in _RECORDS[::9]]
    state = forecast.fleet(rows, rules, _TODAY)
    return forecast.as_text(state), forecast.as_json(state)


def _host(data: bytes, directory: Path) -> object:
    """Record a host on which the data is the output of each command and the content of almost every file."""
    text, root = data.decode("utf-8", "surrogateescape"), Path(tempfile.mkdtemp(dir=directory))
    spark_recorder = recorder(root, Commands(dict.fromkeys(ANSWERS, (0, text, ""))))
    for path in FILES:
        # Only the kernel writes the files in /proc.
        if not path.startswith("proc/"):
            (root / path).write_bytes(data)
    record = spark_recorder.record()
    assert redaction.redacted(record) == record
    return json.dumps(record)


def _redact(text: str) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return redaction.redacted(document) if isinstance(document, dict) else None


#: The parts of zeroconf that have no types.
_DNS: t.Any = zeroconf


class _Network:
    """A network, standing in for zeroconf's, in which one packet has been received."""

    def __init__(self, data: bytes) -> None:
        self.records = _DNS.DNSIncoming(data).answers()
        self.cache = _DNS.DNSCache()
        self.cache.async_add_records(self.records)

    def add_listener(self, listener: t.Any, _question: None) -> None:
        updates = [zeroconf.RecordUpdate(record, None) for record in self.records]
        listener.async_update_records(self, zeroconf.current_time_millis(), updates)

    def browser(self, _client: object, kinds: list[str], handlers: list[t.Callable[..., None]]) -> t.Any:
        for record in self.records:
            if isinstance(record, _DNS.DNSPointer) and record.name.lower() in kinds:
                handlers[0](
                    zeroconf=self, service_type=record.name.lower(), name=record.alias,
                    state_change=zeroconf.ServiceStateChange.Added,
                )  # fmt: skip
        return types.SimpleNamespace(cancel=lambda: None)

    def get_service_info(self, kind: str, name: str, timeout: int) -> t.Any:
        info = zeroconf.ServiceInfo(kind, name)
        return info if info.load_from_cache(self) else None  # type: ignore[arg-type]

    def close(self) -> None:
        """Close nothing, as no socket is open."""


def _browse(data: bytes, _directory: Path) -> object:
    network = _Network(data)
    with mock.patch.multiple(zeroconf, Zeroconf=lambda **_options: network, ServiceBrowser=network.browser):
        answers, _left_out = discovery.browse(wait=0)
    sparks, left_out = discovery.sparks(answers, groups=["lab"])
    for spark in sparks:
        find.Spark(spark.name, list(spark.addresses), "in this network", spark.port)
    return sparks, left_out


def _announcement(name: str, kind: str = "_ssh._tcp.local.") -> bytes:
    packet = _DNS.DNSOutgoing(0x8400)
    instance, server = f"{name}.{kind}", f"{name}.local."
    records: list[t.Any] = [
        _DNS.DNSPointer(kind, 12, 1, 120, instance),
        _DNS.DNSService(instance, 33, 1, 120, 0, 0, 22, server),
        _DNS.DNSText(instance, 16, 1, 120, b"\x03a=b"),
        _DNS.DNSAddress(server, 1, 1, 120, bytes([192, 0, 2, 1])),
        _DNS.DNSAddress(server, 28, 1, 120, bytes.fromhex("fe80" + "0" * 27 + "1")),
    ]
    for record in records:
        packet.add_answer_at_time(record, 0)
    return bytes(packet.packets()[0])


def _figures(data: bytes, _directory: Path) -> object:
    source = top.Source("spark01", [])
    process = types.SimpleNamespace(stdout=io.BytesIO(data), stderr=io.BytesIO(data[:300]), wait=lambda _limit: 0)
    problem = source._read(t.cast(t.Any, process))
    pages = []
    for source.problem in (problem, ""):
        output = io.StringIO()
        Console(file=output, width=200).print(top.table([source]))
        pages.append(output.getvalue())
        assert sanitize.text(pages[-1]) == pages[-1]
    return source.row, pages


_ROW = {
    "memory": {"available": 1 << 30, "total": 2 << 30, "cached": 0},
    "devices": [{"power": 60.5, "limit": 100, "clock": 400, "clock_max": 3000, "temperature": 61, "sticks": True}],
    "processes": [{"name": "model", "gpu": 1 << 30}], "slowed": ["heat"], "units": {"a.service": "failed"},
    "braked": {"b.service": "why"}, "guard": "ended loader", "down": "went down",
}  # fmt: skip

PARSERS: dict[str, Parser] = {
    "configuration of a model": Parser([json.dumps(_CONFIG).encode()], _model, (GuardError,)),
    "safetensors": of_file(model_files.header, _SAFETENSORS, raises=(GuardError,)),
    "GGUF": of_file(models.read, _gguf(block_count=2, embedding_length=8), raises=(GuardError,)),
    "completion": of_text(
        lambda text: answers.completion(json.loads(text)),
        json.dumps({"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": [-1.0]}}], "usage": {}}),
        json.dumps(
            {"choices": [{"logprobs": {"content": [{"token": "token_id:3", "logprob": -1, "top_logprobs": []}]}}]}
        ),
        raises=(ValueError, RecursionError, ProofError),
    ),
    "models of a server": of_text(
        lambda text: [answers.context(listed) for listed in answers.models(json.loads(text))],
        json.dumps({"data": [{"id": "a", "max_model_len": 4096, "meta": {"n_ctx_train": 4096}}]}),
        raises=(ValueError, RecursionError, ProofError),
    ),
    "configuration of a proven model": Parser(
        [
            json.dumps(
                {**_CONFIG, "text_config": {"vocab_size": 9}, "quantization_config": {"quant_method": "fp8"}}
            ).encode()
        ],
        _read_for_proof,
        PROOF,
    ),
    "answer of a server": Parser(
        [
            _http(json.dumps(_COMPLETION)),
            _chunked_answer(json.dumps(_CHAT)),
            b"HTTP/1.1 100 Continue\r\n\r\n" + _http(json.dumps(_COMPLETION)),
        ],
        _from_endpoint(lambda endpoint: answers.completion(endpoint.post("/v1/completions", {"prompt": "a"}))),
        PROOF,
        refused=[
            _http('{"error": {"message": "no"}}', "400 Bad Request"),
            _http('["not JSON compliant"]', "500 x"),
            _http("x", "302 Found", "Location: http://192.0.2.1/\r\n"),
            _http("", "401 Unauthorized"),
        ],
    ),
    "stream of a server": Parser(
        [_http(_EVENTS), _chunked_answer(_EVENTS)],
        _from_endpoint(lambda endpoint: answers.stream_text(endpoint.stream("/v1/completions", {"prompt": "a"}))),
        PROOF,
    ),
    "process": Parser([b"\n%%\n".join([_STAT, _STATUS, _CGROUPS, _MEMORY, _PRESSURE])], _processes),
    "command of a server": of_text(
        _command,
        "vllm serve /m --max-model-len 4k --gpu-memory-utilization 0.8 -tp 2 --kv-cache-dtype fp8 --quantization fp8",
        "python -m sglang.launch_server --model-path /m --context-length=8192 --tp-size 1 --chunked-prefill-size 4096",
        "llama-server -m /m.gguf -c 4096 -np 4 -ub 512 -fa off -ctk q8_0",
        "python3.12 train.py --model /m --batch-size 8 --length 2048",
        raises=GUARD,
    ),
    "record of a Spark": of_file(_forecast, *(json.dumps(record).encode() for record in _RECORDS), name="record.json"),
    "host that is recorded": Parser(
        [text.encode() for text in (*FILES.values(), *(answer[1] for answer in ANSWERS.values())) if text], _host
    ),
    "observation to be redacted": of_text(_redact, *map(json.dumps, _RECORDS[::9])),
    "rule of a ledger": Parser([json.dumps({**rule, "id": "rule"}).encode() for rule in _RULES.rules[::3]], _ledger),
    "packet of mDNS": Parser(
        [_announcement("spark-ab12"), _announcement("gx10-1"), _announcement("zgx-1", "_hpzgx._tcp.local.")],
        _browse,
        (Refusal,),
    ),
    "keys of an sshd": of_text(
        lambda text: (find.key_lines(text), find.key_lines(text, "@revoked"), find.sync_aliases(text)),
        "# 192.0.2.1:22 SSH-2.0-x\n192.0.2.1 ssh-ed25519 AAAAC3Nz x\n@revoked * ssh-rsa AAAA\nHost spark-1\n",
    ),
    "figures of a host": Parser([(json.dumps(_ROW) + "\n").encode() * 2], _figures),
}
