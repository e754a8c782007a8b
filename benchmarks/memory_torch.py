# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare admission's estimate with torch's memory on a GPU, for a decoder with random weights and a KV cache.

``PYTHONPATH=.:guard/src PYTHON -m benchmarks.memory_torch all`` prints a line of JSON for each of 12 pairs of model and
data type, each run in a separate process; with ``cpu``, it does the same for small models without a GPU and measures
the process's memory. The model's directory has a real config and real headers; its data is a hole in a file. PYTHON
must have torch.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: Layers, hidden size, inner size, heads, key heads, head size, vocabulary; batch and length.
SIZES = {
    "1B": ((16, 2048, 8192, 32, 8, 64, 128256), 8, 2048), "3B": ((28, 3072, 8192, 24, 8, 128, 128256), 8, 2048),
    "8B": ((32, 4096, 14336, 32, 8, 128, 128256), 8, 4096), "14B": ((40, 5120, 13824, 40, 40, 128, 32000), 2, 4096),
    "0.1B": ((12, 768, 3072, 12, 12, 64, 50257), 4, 1024), "0.5B": ((24, 896, 4864, 14, 2, 64, 151936), 1, 1024),
}  # fmt: skip
ON_CPU = ("0.1B", "0.5B")
KINDS = {"float32": "F32", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3"}
BYTES = {"F32": 4, "BF16": 2, "F8_E4M3": 1}


def shapes(size: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a decoder's tensors, with Llama's names."""
    layers, hidden, inner, heads, keys, width, vocabulary = SIZES[size][0]
    tensors: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (vocabulary, hidden),
        "lm_head.weight": (vocabulary, hidden),
    }
    for index in range(layers):
        prefix = f"model.layers.{index}"
        tensors |= {
            f"{prefix}.self_attn.q_proj.weight": (heads * width, hidden),
            f"{prefix}.self_attn.k_proj.weight": (keys * width, hidden),
            f"{prefix}.self_attn.v_proj.weight": (keys * width, hidden),
            f"{prefix}.self_attn.o_proj.weight": (hidden, heads * width),
            f"{prefix}.mlp.gate_proj.weight": (inner, hidden),
            f"{prefix}.mlp.up_proj.weight": (inner, hidden),
            f"{prefix}.mlp.down_proj.weight": (hidden, inner),
        }
    return tensors


def write(size: str, kind: str, folder: Path, kept: tuple[str, ...] = ()) -> None:
    """Write config.json and a safetensors file whose data is a hole; tensors in ``kept`` have 16 bits."""
    layers, hidden, inner, heads, keys, width, vocabulary = SIZES[size][0]
    config = {
        "num_hidden_layers": layers, "hidden_size": hidden, "intermediate_size": inner, "vocab_size": vocabulary,
        "num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": width, "max_position_embeddings": 131072,
        "torch_dtype": "float32" if kind == "float32" else "bfloat16",
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    rows, begin = {}, 0
    for name, shape in shapes(size).items():
        stored = "BF16" if name in kept else KINDS[kind]
        count = shape[0] * shape[1] * BYTES[stored]
        rows[name] = {"dtype": stored, "shape": shape, "data_offsets": [begin, begin + count]}
        begin += count
    header = json.dumps(rows).encode()
    with (folder / "model.safetensors").open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)
        stream.truncate(8 + len(header) + begin)


def status(name: str, path: str = "/proc/self/status") -> int:
    """Return a field of a status or meminfo file, in bytes."""
    fields = dict(line.split(":", 1) for line in Path(path).read_text().splitlines())
    return int(fields[name].split()[0]) << 10


def measure(size: str, kind: str) -> dict[str, Any]:
    """Load a model, run a forward pass, and return the memory figures."""
    import torch
    from sparkforge_guard import admission, models, nvml

    (layers, _hidden, _inner, heads, keys, width, _vocabulary), batch, length = SIZES[size]
    gpu = torch.cuda.is_available()
    free, total = torch.cuda.mem_get_info() if gpu else (0, status("MemTotal", "/proc/meminfo"))
    with tempfile.TemporaryDirectory() as name:
        write(size, kind, Path(name))
        command = ["python", "serve.py", "--model", name, "--batch", str(batch), "--length", str(length)]
        demand = admission.demand(command, "", total, models.read(name))
    compute = torch.float32 if kind == "float32" else torch.bfloat16
    device, stored = torch.device("cuda" if gpu else "cpu"), getattr(torch, kind)
    # Start threads and load libraries before measuring.
    torch.nn.functional.linear(torch.ones(64, 64, dtype=compute), torch.ones(64, 64, dtype=compute))
    before = status("VmHWM")
    weights = {name: torch.empty(shape, device=device, dtype=stored) for name, shape in shapes(size).items()}
    for tensor in weights.values():
        tensor.view(torch.uint8).zero_()
    cache = [torch.zeros(2, batch, keys, length, width, device=device, dtype=compute) for _ in range(layers)]

    def linear(value: Any, name: str) -> Any:
        return torch.nn.functional.linear(value, weights[name].to(compute))

    with torch.inference_mode():
        tokens = torch.zeros(batch, length, device=device, dtype=torch.long)
        table = weights["model.embed_tokens.weight"].to(compute)
        hide = torch.nn.functional.embedding(tokens, table)
        del table
        for index in range(layers):
            prefix = f"model.layers.{index}"
            query = linear(hide, f"{prefix}.self_attn.q_proj.weight").view(batch, length, heads, width).transpose(1, 2)
            for part, name in enumerate("kv"):
                made = linear(hide, f"{prefix}.self_attn.{name}_proj.weight").view(batch, length, keys, width)
                cache[index][part].copy_(made.transpose(1, 2))
            pair = [tensor.repeat_interleave(heads // keys, 1) for tensor in cache[index]]
            mixed = torch.nn.functional.scaled_dot_product_attention(query, *pair, is_causal=True)
            hide = hide + linear(mixed.transpose(1, 2).reshape(batch, length, -1), f"{prefix}.self_attn.o_proj.weight")
            gate = torch.nn.functional.silu(linear(hide, f"{prefix}.mlp.gate_proj.weight"))
            hide = hide + linear(
                gate.mul_(linear(hide, f"{prefix}.mlp.up_proj.weight")), f"{prefix}.mlp.down_proj.weight"
            )
        linear(hide[:, -1], "lm_head.weight").float().argmax(-1)
    kept = sum(tensor.nbytes for tensor in weights.values()) + sum(tensor.nbytes for tensor in cache)
    row = {
        "model": size, "kind": kind, "batch": batch, "length": length, "kept": kept,
        "predicted": {part.label: part.size for part in demand.parts}, "total": demand.total,
    }  # fmt: skip
    if not gpu:
        return {**row, "least": demand.least, "took": status("VmHWM") - before, "imported": before}
    torch.cuda.synchronize()
    device_now = nvml.connect()
    assert device_now is not None
    held = device_now.processes()
    return {
        **row,
        "nvml": held.get(os.getpid()), "nvml_processes": held, "mem_get_info": free - torch.cuda.mem_get_info()[0],
        "reserved": torch.cuda.memory_reserved(), "peak": torch.cuda.max_memory_allocated(),
        "anon": status("RssAnon"), "device": device_now.devices(),
    }  # fmt: skip


def main(model: str, kind: str | None) -> None:
    """Measure a pair, or all of them."""
    if kind:
        print("ROW " + json.dumps(measure(model, kind)), flush=True)
        return
    for size in ON_CPU if model == "cpu" else [size for size in SIZES if size not in ON_CPU]:
        for kind in list(KINDS)[: 2 if size in ON_CPU else 3]:
            result = subprocess.run([sys.executable, __file__, size, kind], check=False, capture_output=True, text=True)
            print(result.stdout or result.stderr[-2000:], flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m benchmarks.memory_torch", description=__doc__)
    parser.add_argument("model", choices=("all", "cpu", *SIZES))
    parser.add_argument("kind", nargs="?", choices=KINDS)
    main(**vars(parser.parse_args()))
