"""Proves tiny models served by a real vLLM, sound and with faults: `python3 proof/tests/served.py ROWS SECONDS [N]`.

Run it with the interpreter of an environment that has vLLM. It runs the cases missing from ROWS, N at a time, and
appends a line of JSON for each. No case starts in the last minute of SECONDS. It creates the models itself, and writes
the engines' logs to the directory of ROWS. The exit status is 1 if a fault was missed or a sound server failed.
"""

import concurrent.futures
import contextlib
import dataclasses
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
NGRAM = '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4, "prompt_lookup_min": 2}'
EAGER, PLAIN = ("--enforce-eager",), ("--enforce-eager", "--no-enable-prefix-caching")
SHORT = ("--longest", "700")
WITHOUT_SCALING = '{"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}'


@dataclasses.dataclass(frozen=True)
class Case:
    """One server.

    :ivar family: the model's family in lab/tiny_model.py.
    :ivar engine: additional arguments of vLLM.
    :ivar proof: additional arguments of the proof.
    :ivar fault: a fault from vllm_faults.py, ``weights``, or a name for the fault that vLLM's arguments plant.
    :ivar caught: checks of which at least one must fail; it is empty for a sound server.
    """

    name: str
    family: str
    engine: tuple[str, ...] = ()
    proof: tuple[str, ...] = ()
    fault: str = ""
    caught: tuple[str, ...] = ()


NUMBERS = ("endpoint.prompt", "endpoint.completion", "endpoint.batch", "endpoint.cache")
CASES = (
    Case("llama", "llama"),
    Case("llama-plain", "llama", PLAIN),
    Case("attention-scale", "llama", EAGER, SHORT, "attention_scale", NUMBERS),
    Case("drafts-unverified", "llama", (*EAGER, "--speculative-config", NGRAM), SHORT, "drafts_unverified",
         ("endpoint.greedy",)),
    Case("llama-ngram", "llama", (*EAGER, "--speculative-config", NGRAM)),
    Case("qwen3", "qwen3"),
    Case("gemma3", "gemma3"),
    Case("gpt-oss", "gpt-oss"),
    Case("mistral", "mistral"),
    Case("prefix-by-content", "llama", EAGER, SHORT, "prefix_by_content", ("endpoint.cache",)),
    Case("neighbours-page", "llama", EAGER, SHORT, "neighbours_page", ("endpoint.batch",)),
    Case("late-positions", "llama", EAGER, SHORT, "late_positions", NUMBERS),
    Case("seed-ignored", "llama", EAGER, SHORT, "seed_ignored", ("endpoint.seed",)),
    Case("half-temperature", "llama", EAGER, SHORT, "half_temperature", ("endpoint.temperature",)),
    Case("gemma2", "gemma2"),
    Case("qwen2", "qwen2"),
    Case("qwen3-plain", "qwen3", PLAIN),
    Case("gpt-oss-plain", "gpt-oss", PLAIN),
    Case("gemma3-plain", "gemma3", PLAIN),
    Case("llama-fp8", "llama", (*EAGER, "--quantization", "fp8"), ("--format", "fp8")),
    Case("no-rope-scaling", "llama", (*EAGER, "--hf-overrides", WITHOUT_SCALING), SHORT, "rope_scaling", NUMBERS),
    Case("one-expert", "gpt-oss", (*EAGER, "--hf-overrides", '{"num_experts_per_tok": 1}'), SHORT, "experts", NUMBERS),
    Case("wider-window", "gemma3", (*EAGER, "--hf-overrides", '{"sliding_window": 128}'), SHORT, "window", NUMBERS),
    Case("other-weights", "llama", EAGER, SHORT, "weights", NUMBERS),
    Case("fp8-unsaid", "llama", (*EAGER, "--quantization", "fp8"), SHORT, "format", NUMBERS),
    Case("fp8-cache", "llama", (*EAGER, "--kv-cache-dtype", "fp8"), SHORT, "cache format", NUMBERS),
    Case("other-template", "llama", (*EAGER, "--chat-template", "TEMPLATE"), SHORT, "template", ("endpoint.template",)),
    Case("qwen3-ngram", "qwen3", ("--speculative-config", NGRAM)),
    Case("llama-chunks", "llama", (*EAGER, "--max-num-batched-tokens", "256", "--max-num-seqs", "16")),
    Case("llama-fp32", "llama", (*EAGER, "--dtype", "float32"), ("--format", "fp32")),
    Case("llama-fp16", "llama", ("--dtype", "float16"), ("--format", "fp16")),
    Case("mistral-plain", "mistral", PLAIN),
    Case("gemma2-plain", "gemma2", PLAIN),
    Case("qwen2-plain", "qwen2", PLAIN),
)  # fmt: skip
#: For each family, the checks that fail without a network: vLLM downloads the vocabulary for gpt-oss's chats.
OFFLINE = {"gpt-oss": {"endpoint.template"}}
#: Environment variables for all servers that tests start, including those of benchmarks.memory_vllm.
ENGINE = {
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo", "VLLM_USE_DEEP_GEMM": "0", "PYTHONUNBUFFERED": "1",
}  # fmt: skip
if importlib.util.find_spec("flashinfer") is None:
    # On a GPU, vLLM 0.25.1's sampler imports flashinfer even if it is not installed.
    ENGINE["VLLM_USE_FLASHINFER_SAMPLER"] = "0"
VARIABLES = {**ENGINE, "VLLM_USE_V2_MODEL_RUNNER": "0"}
CACHE = 256 << 20
STARTED: set[subprocess.Popen[bytes]] = set()


def start(command: list[str], log: Path, **variables: str) -> subprocess.Popen[bytes]:
    """Start a process in a new session."""
    path = os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "proof/src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    with log.open("ab") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, start_new_session=True, env=environment)
    STARTED.add(process)
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process, then kill its process group."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    STARTED.discard(process)


def model(case: Case, directory: Path) -> Path:
    """Create the case's model and return the one to serve; the fault ``weights`` scales one of its matrices by 1.5."""
    sound = directory / "model"
    maker = [sys.executable, "-m", "lab.tiny_model", case.family, str(sound)]
    subprocess.run(maker, check=True, capture_output=True, cwd=CHECKOUT)
    if case.fault != "weights":
        return sound
    import safetensors.torch

    served = directory / "served"
    shutil.copytree(sound, served)
    tensors = safetensors.torch.load_file(served / "model.safetensors")
    tensors["model.layers.2.mlp.down_proj.weight"] *= 1.5
    safetensors.torch.save_file(tensors, served / "model.safetensors", metadata={"format": "pt"})
    return served


def plugin(directory: Path) -> None:
    """Write the plugin through which vLLM loads the faults into each of its processes."""
    info = directory / "sparkforge_faults-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sparkforge-faults\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[vllm.general_plugins]\nfaults = proof.tests.vllm_faults:plant\n")


def free_port() -> int:
    """Return a port on which no program listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def prove(case: Case, directory: Path, logs: Path, threads: int) -> dict[str, Any]:
    """Serve the case's model, prove it, and return a row."""
    began, port, log = time.monotonic(), free_port(), logs / f"{case.name}.log"
    log.unlink(missing_ok=True)
    served = model(case, directory)
    (directory / "template").write_text("{% for message in messages %}{{ message['content'] }}<|end|>{% endfor %}")
    engine = [str(directory / "template") if argument == "TEMPLATE" else argument for argument in case.engine]
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(served), "--served-model-name", "tiny"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--max-model-len", "4096"]
    command += ["--kv-cache-memory-bytes", str(CACHE), "--gpu-memory-utilization", "0.1", *engine]
    variables = {**VARIABLES, "OMP_NUM_THREADS": str(threads)}
    sources = f"{directory}{os.pathsep}{CHECKOUT}{os.pathsep}{CHECKOUT / 'proof/src'}{os.pathsep}"
    variables["PYTHONPATH"] = sources + os.environ.get("PYTHONPATH", "")
    plugin(directory)
    row: dict[str, Any] = {"case": case.name, "family": case.family, "fault": case.fault, "engine": list(case.engine)}
    server = start(command, log, **variables, SPARKFORGE_FAULT=case.fault)
    try:
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health").read()
                break
            except OSError:
                time.sleep(0.3)
        row["started"] = round(time.monotonic() - began, 1)
        if server.poll() is not None:
            lines = [line[-300:] for line in log.read_text(errors="replace").splitlines() if "Error" in line]
            return {**row, "verdict": "not served", "errors": lines[:2] + lines[-2:]}
        path = directory / "report.json"
        command = [sys.executable, "-m", "sparkforge_proof", "endpoint", f"http://127.0.0.1:{port}"]
        command += ["--model", str(directory / "model")]
        proof = start([*command, "--json", str(path), *case.proof], log, OMP_NUM_THREADS=str(threads))
        row["status"] = proof.wait()
        end(proof)
    finally:
        end(server)
    text = log.read_text(errors="replace")
    if not path.exists():
        return {**row, "verdict": "refused", "said": text[-600:]}
    report = json.loads(path.read_text())
    row |= {name: report[name] for name in ("verdict", "seconds", "format")}
    row["checks"] = {
        check["name"]: [check["status"], check["measured"] or check["cause"][:400], check["ratio"], check["seconds"]]
        for check in report["checks"]
    }
    failed = {check["name"] for check in report["checks"] if check["status"] == "fail"}
    sound = report["verdict"] == "proven" or (bool(failed) and failed <= OFFLINE.get(case.family, set()))
    row["right"] = bool(failed & set(case.caught)) if case.caught else sound
    return {**row, "failed": sorted(failed), "reached": f"PLANTED {case.fault}" in text if case.fault else None}


def main(rows: Path, seconds: float, at_once: int = 4) -> int:
    """Prove the cases that are missing from the file."""
    deadline = time.monotonic() + seconds
    proven = [json.loads(line)["case"] for line in rows.read_text().splitlines()] if rows.exists() else []
    left, lock, wrong = [case for case in CASES if case.name not in proven], threading.Lock(), []
    threads = max(2, (os.cpu_count() or 2) // at_once)

    def work() -> None:
        while True:
            with lock:
                if not left or time.monotonic() > deadline - 60:
                    return
                case = left.pop(0)
            with tempfile.TemporaryDirectory() as name:
                try:
                    row = prove(case, Path(name), rows.parent, threads)
                except (OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
                    row = {"case": case.name, "verdict": "broken", "errors": [repr(error)]}
            if time.monotonic() > deadline:
                return
            with lock:
                with rows.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(json.dumps({key: value for key, value in row.items() if key != "checks"}), flush=True)
                if not row.get("right"):
                    wrong.append(case.name)

    def kill_at_deadline() -> None:
        time.sleep(max(0.0, deadline - time.monotonic()))
        for process in list(STARTED):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=kill_at_deadline, daemon=True).start()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(work) for _ in range(at_once)]:
            future.result()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:4])))
