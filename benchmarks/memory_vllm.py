# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare admission's estimate with vLLM's memory on a GPU: its log, NVML's figures and the host's memory.

``PYTHONPATH=.:guard/src PYTHON -m benchmarks.memory_vllm ROWS SECONDS`` adds a line of JSON to ROWS for each pair of
model and arguments that is missing there, as long as the pair can finish within SECONDS. PYTHON must have vLLM, which
uses dummy weights: a model's directory has a real config and real headers, and a hole instead of data.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import memory_llama, memory_torch
from proof.tests import served

SIZES = {"qwen3-0.6B": (28, 1024, 3072, 16, 8, 128, 151936), "qwen2-7B": (28, 3584, 18944, 28, 4, 128, 152064)}
#: Keys in these families' configs that differ from Llama's.
FAMILIES: dict[str, dict[str, Any]] = {
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "rms_norm_eps": 1e-6},
    "qwen2": {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "rms_norm_eps": 1e-6},
}
EAGER = ("--enforce-eager",)
#: The model, the type of its weights, the length, the share (0: vLLM's default), and further arguments.
PAIRS: tuple[tuple[str, str, int, float, tuple[str, ...]], ...] = (
    ("1B", "bfloat16", 2048, 0.15, EAGER),
    ("8B", "bfloat16", 4096, 0.5, ()),
    ("3B", "bfloat16", 8192, 0.3, ()),
    ("qwen3-0.6B", "bfloat16", 16384, 0.15, ()),
    ("8B", "float8_e4m3fn", 8192, 0.4, EAGER),
    ("8B", "bfloat16", 131072, 0.3, EAGER),
    ("qwen2-7B", "bfloat16", 32768, 0.0, EAGER),
    ("1B", "bfloat16", 2048, 0.15, ()),
    ("14B", "bfloat16", 4096, 0.6, EAGER),
    ("0.1B", "bfloat16", 1024, 0.08, EAGER),
    ("1B", "bfloat16", 8192, 0.3, (*EAGER, "--max-num-batched-tokens", "32768")),
    ("3B", "bfloat16", 32768, 0.3, ("--kv-cache-dtype", "fp8")),
    ("8B", "bfloat16", 16384, 0.0, ()),
    ("8B", "bfloat16", 8192, 0.4, (*EAGER, "--quantization", "fp8")),
    ("qwen3-0.6B", "bfloat16", 32768, 0.1, EAGER),
    ("3B", "bfloat16", 131072, 0.2, ()),
    ("0.5B", "bfloat16", 4096, 0.1, ()),
    ("1B", "bfloat16", 4096, 0.2, ("--max-num-seqs", "1024")),
    ("qwen2-7B", "bfloat16", 8192, 0.4, ()),
    ("14B", "bfloat16", 4096, 0.6, ()),
)
#: Figures that vLLM logs, in GiB, tokens or seconds.
LOGGED = {
    "weights": r"Model loading took ([\d.]+) GiB",
    "available": r"Available KV cache memory: (-?[\d.]+) GiB",
    "tokens": r"GPU KV cache size: ([\d,]+) tokens",
    "graphs": r"Graph capturing finished in \d+ secs, took (-?[\d.]+) GiB",
    "graphs_estimated": r"CUDA graph pool memory: [\d.]+ GiB \(actual\), ([\d.]+) GiB",
    "requested": r"worker requested memory: ([\d.]+)GiB",
    "activations": r"([\d.]+) GiB for peak activation",
    "beside_torch": r"([\d.]+) GiB for non-torch memory",
    "fits": r"estimated maximum model length is (\d+)",
    "compiled": r"torch\.compile (?:and initial profiling/warmup run together )?took ([\d.]+) s",
}
#: vLLM logs this before it allocates GPU memory.
BEFORE_GPU = "Initializing a V1 LLM engine"
AROUND = {**served.ENGINE, "VLLM_LOGGING_LEVEL": "DEBUG"}
#: The longest observed time for a pair, in seconds: with CUDA graphs and compiled code, and without.
GRAPHS, PLAIN = 90, 45


def write(size: str, kind: str, folder: Path) -> None:
    """Write a model's directory."""
    if size not in memory_torch.SIZES:
        memory_torch.SIZES[size] = (SIZES[size], 1, 0)
    kept = ("model.embed_tokens.weight", "lm_head.weight") if kind == "float8_e4m3fn" else ()
    memory_torch.write(size, kind, folder, kept)
    more = {"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic"}} if kept else {}
    memory_llama.complete(folder, **more, **FAMILIES.get(size.partition("-")[0], {}))


def on_host(pid: int) -> int:
    """Return a process's private host memory plus its proportional share of shared memory."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss_Anon", "Pss_Shmem")))


class Server:
    """A server that is started before its turn and paused before it allocates GPU memory."""

    def __init__(self, pair: tuple[str, str, int, float, tuple[str, ...]], folder: Path) -> None:
        size, kind, length, share, more = pair
        self.pair, self.log, self.port = pair, folder / "log", served.free_port()
        (folder / "model").mkdir()
        write(size, kind, folder / "model")
        arguments = ["serve", str(folder / "model"), "--max-model-len", str(length), *more]
        self.arguments = [*arguments, "--gpu-memory-utilization", str(share)] if share else arguments
        command = [sys.executable, "-m", "vllm.entrypoints.cli.main", *self.arguments, "--load-format", "dummy"]
        command += ["--skip-tokenizer-init", "--served-model-name", "m"]
        command += ["--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("w") as stream:
            around = {**os.environ, **AROUND}
            self.process = subprocess.Popen(command, stdout=stream, stderr=stream, env=around, start_new_session=True)
        self.peak, self.peak_on_host, self.began = 0, 0, 0.0
        self._turn = self._over = self._still = False
        self._lock = threading.Lock()
        threading.Thread(target=self._hold_back, daemon=True).start()

    def _hold_back(self) -> None:
        while not self._turn and self.process.poll() is None:
            if BEFORE_GPU in self.log.read_text():
                with self._lock:
                    if not self._turn:
                        self._signal(signal.SIGSTOP)
                        self._still = True
                return
            time.sleep(0.05)

    def _signal(self, number: int) -> None:
        for pid in memory_llama.family(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def go(self, device: Any) -> bool:
        """Let the server continue, and return whether it starts to serve."""
        self.began = time.monotonic()
        with self._lock:
            self._turn = True
            if self._still:
                self._signal(signal.SIGCONT)
        threading.Thread(target=self._watch, args=(device,), daemon=True).start()
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/models").read()
                return True
            except OSError:
                time.sleep(0.2)
        return False

    def _watch(self, device: Any) -> None:
        while not self._over:
            gpu, host = self.held(device)
            self.peak, self.peak_on_host = max(self.peak, gpu), max(self.peak_on_host, host)
            time.sleep(0.5)

    def held(self, device: Any) -> tuple[int, int]:
        """Return the GPU and host memory of the server's processes."""
        try:
            pids = memory_llama.family(self.process.pid)
        except OSError:
            return 0, 0
        held = device.processes()
        return sum(held.get(pid, 0) for pid in pids), sum(map(on_host, pids))

    def ask(self) -> None:
        """Send the server 32 long texts at once."""
        size = min(self.pair[2] - 64, 4000)
        with ThreadPoolExecutor(32) as pool:
            list(pool.map(lambda number: memory_llama.ask(self.port, [5 + number] * size), range(32)))

    def end(self) -> None:
        """Stop the server and its children."""
        self._over = True
        self._signal(signal.SIGCONT)
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def measure(server: Server, device: Any) -> dict[str, Any]:
    """Run a server and return a row with admission's estimate and the measured figures."""
    from sparkforge_guard import admission

    verdict = admission.admit(["vllm", *server.arguments])
    demand = verdict.demand
    total, free = device.devices()[0]["memory"]
    row: dict[str, Any] = {
        "pair": list(server.pair), "words": server.arguments[2:], "answer": verdict.answer,
        "proposal": list(verdict.proposal), "total": total, "used_before": total - free,
        "predicted": demand.total, "pool": demand.pool, "least": demand.least,
        "parts": {part.label: part.size for part in (*demand.within, *demand.parts)}, "each_token": demand.cache(1),
    }  # fmt: skip
    is_served = server.go(device)
    row["seconds"] = round(time.monotonic() - server.began, 1)
    if is_served:
        row["gpu_at_rest"], row["host_at_rest"] = server.held(device)
        try:
            server.ask()
        except OSError as error:
            row["asked"] = repr(error)
        row["gpu"], row["host"] = server.held(device)
        _total, now = device.devices()[0]["memory"]
        row["used"] = free - now
    text = server.log.read_text()
    server.end()
    matches = {name: re.findall(form, text) for name, form in LOGGED.items()}
    row["said"] = {name: float(values[-1].replace(",", "")) for name, values in matches.items() if values}
    row |= {"gpu_peak": server.peak, "host_peak": server.peak_on_host, "served": is_served}
    if not is_served:
        errors = [line[-400:] for line in text.splitlines() if re.search(r"Error|error:", line)]
        row["errors"] = errors[:2] + errors[-2:]
    while device.devices()[0]["memory"][1] < free - (256 << 20) and time.monotonic() - server.began < 150:
        time.sleep(0.2)
    return row


def main(rows: Path, seconds: float) -> int:
    """Measure the pairs that are not in the file yet; give up if the first three fail."""
    from sparkforge_guard import nvml

    deadline, device = time.monotonic() + seconds, nvml.connect()
    if device is None:
        raise SystemExit("NVML cannot be loaded: this needs a GPU.")
    # Stop the servers when this process is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    measured = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    left = [pair for pair in PAIRS if not any(row["pair"] == json.loads(json.dumps(pair)) for row in measured)]
    has_served = any(row["served"] for row in measured)
    with tempfile.TemporaryDirectory() as name:
        ahead: Server | None = None

        def started() -> Server | None:
            takes = PLAIN if left and "--enforce-eager" in left[0][4] else GRAPHS
            if not left or deadline - time.monotonic() < takes + (PLAIN if ahead else 0):
                return None
            return Server(left.pop(0), Path(tempfile.mkdtemp(dir=name)))

        ahead = started()
        while ahead is not None:
            current = ahead
            ahead = started()
            try:
                row = measure(current, device)
            except SystemExit:
                if ahead is not None:
                    ahead.end()
                raise
            finally:
                current.end()
            has_served = has_served or row["served"]
            with rows.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            (rows.parent / "vllm.log").write_bytes(current.log.read_bytes()[-2_000_000:])
            print(json.dumps({key: value for key, value in row.items() if key != "parts"}), flush=True)
            measured.append(row)
            if not has_served and len(measured) >= 3:
                if ahead is not None:
                    ahead.end()
                return 1
            asked = {str(word) for row in measured for word in row["words"]}
            if not row["served"] and "fits" in row["said"] and row["proposal"] and row["proposal"][1] not in asked:
                # vLLM refused this command, so try admission's proposal.
                size, kind, _length, _share, more = current.pair
                proposal = dict(zip(row["proposal"][::2], row["proposal"][1::2]))
                length = int(proposal.get("--max-model-len", current.pair[2]))
                share = float(proposal.get("--gpu-memory-utilization", current.pair[3]))
                left.insert(0, (size, kind, length, share, more))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.memory_vllm", description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("seconds", type=float)
    sys.exit(main(**vars(parser.parse_args())))
