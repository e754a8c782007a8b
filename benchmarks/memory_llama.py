# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare admission's estimate with the memory of llama.cpp's server on a host without a GPU.

``PYTHONPATH=.:guard/src PYTHON -m benchmarks.memory_llama`` prints a line of JSON for each model and length. PYTHON
must have llama-cpp-python with its server's packages, and gguf. The models have random weights. The server answers a
request whose prompt is longer than its batch, and then its memory is read (``VmHWM`` of all its processes, including
mapped files). The comparison excludes the memory used without a model, and CUDA's context, which does not exist on a
CPU.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks import memory_torch
from proof.tests import served

#: The model, the type of its weights, the context length, and whether flash attention is on.
LLAMA = (
    ("0.1B", "F16", 2048, "on"), ("0.1B", "F16", 16384, "off"), ("0.3B", "Q8_0", 8192, "on"),
    ("0.3B", "F16", 4096, "off"), ("0.5B", "F16", 4096, "on"), ("0.5B", "Q8_0", 32768, "off"),
)  # fmt: skip
#: A line in llama.cpp's log that reports an allocated buffer.
TAKEN = re.compile(r"(\w+) buffer size = +([\d.]+) MiB")
SIZES = {
    "0.1B": (12, 768, 3072, 12, 12, 64, 32000),
    "0.3B": (16, 1024, 2816, 16, 16, 64, 32000),
    "0.5B": (24, 896, 4864, 14, 2, 64, 151936),
}
PROMPT = "a" * 900


def write_gguf(path: Path, size: str, kind: str) -> None:
    """Write a model with Llama's architecture and a vocabulary of bytes and made-up words."""
    gguf, numpy = map(importlib.import_module, ("gguf", "numpy"))
    layers, hidden, inner, heads, keys, width, vocabulary = SIZES[size]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(131072)
    writer.add_embedding_length(hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(keys)
    writer.add_rope_dimension_count(width)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(vocabulary)
    writer.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    writer.add_token_list(tokens + [f"\u2581w{number}" for number in range(vocabulary - len(tokens))])
    writer.add_token_scores([0.0] * vocabulary)
    writer.add_token_types(kinds + [1] * (vocabulary - len(kinds)))
    draw = numpy.random.default_rng(1)
    shapes = {"token_embd": (vocabulary, hidden), "output": (vocabulary, hidden)}
    for index in range(layers):
        named = {
            "attn_q": (hidden, hidden), "attn_k": (keys * width, hidden), "attn_v": (keys * width, hidden),
            "attn_output": (hidden, hidden), "ffn_gate": (inner, hidden), "ffn_up": (inner, hidden),
            "ffn_down": (hidden, inner),
        }  # fmt: skip
        shapes |= {f"blk.{index}.{name}": shape for name, shape in named.items()}
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{index}.{name}.weight", numpy.ones(hidden, numpy.float32))
    writer.add_tensor("output_norm.weight", numpy.ones(hidden, numpy.float32))
    for name, shape in shapes.items():
        data = draw.standard_normal(shape, numpy.float32) * 0.02
        if kind == "F16":
            writer.add_tensor(f"{name}.weight", data.astype(numpy.float16))
        else:
            form = gguf.GGMLQuantizationType[kind]
            writer.add_tensor(f"{name}.weight", gguf.quants.quantize(data, form), raw_dtype=form)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def complete(folder: Path, **more: Any) -> None:
    """Add the keys other than sizes that transformers requires in a config, by default Llama's."""
    path = folder / "config.json"
    usual = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": False,
        "attention_bias": False,
    }  # fmt: skip
    path.write_text(json.dumps({**json.loads(path.read_text()), **usual, **more}))


def family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    pids = [pid]
    for member in pids:
        for path in Path(f"/proc/{member}/task").glob("*/children"):
            pids += [int(child) for child in path.read_text().split()]
    return pids


def held(pid: int) -> dict[str, int]:
    """Return the memory figures of a process and its descendants."""
    names = ("VmHWM", "RssAnon", "RssFile", "RssShmem")
    return {name: sum(memory_torch.status(name, f"/proc/{member}/status") for member in family(pid)) for name in names}


def ask(port: int, prompt: Any) -> None:
    """Send a request to a server and wait for the answer."""
    body = json.dumps({"model": "m", "prompt": prompt, "max_tokens": 4}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/completions", body)
    request.add_header("Content-Type", "application/json")
    urllib.request.urlopen(request).read()  # noqa: S310 - the address is literal


def serve(command: list[str], port: int, prompt: Any, log: Path) -> dict[str, int]:
    """Start a server, send it a request, and return its memory figures."""
    with log.open("w") as stream:
        server = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        while True:
            if server.poll() is not None:
                raise SystemExit(log.read_text()[-3000:])
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models").read()
                break
            except OSError:
                time.sleep(0.5)
        ask(port, prompt)
        return held(server.pid)
    finally:
        server.terminate()
        server.wait()


def imported(module: str) -> int:
    """Return the peak memory of a process that has imported the server's modules."""
    program = f"import {module}; print(open('/proc/self/status').read())"
    status = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) << 10


def measure(size: str, kind: str, length: int, flash: str, folder: Path) -> dict[str, Any]:
    """Measure llama.cpp's library in its Python server.

    Add the buffer sizes from its log: a GPU driver allocates buffers up front, but on a CPU the kernel allocates only
    the pages that are written.
    """
    from sparkforge_guard import admission

    path, port = folder / "model.gguf", served.free_port()
    write_gguf(path, size, kind)
    demand = admission.demand(["llama-server", "-m", str(path), "-c", str(length), "-fa", flash], "", 1 << 40)
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(path), "--n_ctx", str(length)]
    command += ["--flash_attn", str(flash == "on"), "--port", str(port)]
    before = imported("llama_cpp.server.app")
    figures = serve(command, port, PROMPT, folder / "log")
    pieces = TAKEN.findall((folder / "log").read_text())
    took = int(sum(float(mib) for _what, mib in pieces) * (1 << 20))
    predicted = demand.total - admission.OUTSIDE["llama.cpp"]
    return {
        "parts": {part.label: part.size for part in (*demand.within, *demand.parts)}, "predicted": predicted,
        "took": took, "off": round(predicted / took - 1, 3), **figures, "flash": flash, "imported": before,
        "pieces": pieces,
    }  # fmt: skip


def main() -> None:
    """Measure all pairs."""
    argparse.ArgumentParser("python -m benchmarks.memory_llama", description=__doc__).parse_args()
    for pair in LLAMA:
        with tempfile.TemporaryDirectory() as name:
            figures = measure(*pair, Path(name))
        print(json.dumps({"model": pair[0], "kind": pair[1], "length": pair[2], **figures}), flush=True)


if __name__ == "__main__":
    main()
