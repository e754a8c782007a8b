"""The estimate of a model's memory, and the decision on whether it may start."""

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from sparkforge import cli
from sparkforge_guard import admission, model_files, models
from sparkforge_guard._shared.module_utils._core.errors import SparkforgeError
from sparkforge_guard.host import Memory, Process

from benchmarks import memory_llama, memory_torch

GIB = 1 << 30
CONFIG = {
    "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "head_dim": 16,
    "num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 4096, "torch_dtype": "bfloat16",
}  # fmt: skip
TENSORS = {
    "model.embed_tokens.weight": ("BF16", (100, 64)),
    "model.layers.0.self_attn.k_proj.weight": ("BF16", (32, 64)),
    "model.layers.1.self_attn.k_proj.weight": ("BF16", (32, 64)),
    "model.layers.1.mlp.up_proj.weight": ("F8_E4M3", (128, 64)),
}


def write(folder: Path, config=None, tensors=None, name="model.safetensors", size=0) -> Path:
    """Write a model whose data is a hole in the file."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG if config is None else config))
    rows, begin = {}, 0
    for key, (kind, shape) in (TENSORS if tensors is None else tensors).items():
        end = begin + shape[0] * shape[1] * model_files.BITS[kind] // 8
        rows[key] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
        begin = end
    header = json.dumps({"__metadata__": {"format": "pt"}, **rows}).encode()
    with (folder / name).open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)
        stream.truncate(size or 8 + len(header) + begin)
    return folder


def memory(available: float, total: float = 120, cached: float = 0) -> Memory:
    return Memory(0, int(total * GIB), int(available * GIB), int(cached * GIB), 0, 0, 0, 0, 0, 0, 0)


#: Llama 3.1 8B has 14.96 GiB of weights and a cache of 128 KiB per token.
EIGHT = models.Model("/m", {"BF16": int(14.96 * GIB)}, 32, 0, 0, 2 * 8 * 128, 4096, 14336, 128256, 131072, 2)


def test_weights_are_counted_by_type_and_the_cache_by_layers_and_heads(tmp_path: Path):
    model = models.read(str(write(tmp_path / "m")))
    assert model.weights == {"BF16": 2 * (6400 + 2 * 2048), "F8_E4M3": 8192}
    # Keys and values in 2 layers with 2 heads of size 16, 2 bytes each.
    assert model.cache(10, 3, 2) == 10 * 3 * 2 * 2 * 2 * 16 * 2
    assert model.longest == 4096


@pytest.mark.parametrize(
    ("config", "tokens", "numbers"),
    [
        ({"kv_lora_rank": 512, "qk_rope_head_dim": 64}, 10, 10 * 2 * 576),
        ({"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}, 10, (10 + 4) * 64),
        ({"layer_types": ["linear_attention", "full_attention"]}, 10, 10 * 64),
    ],
)
def test_other_kinds_of_attention_keep_less(config: dict[str, Any], tokens: int, numbers: int, tmp_path: Path):
    assert models.read(str(write(tmp_path / "m", {**CONFIG, **config}))).cache(tokens, 1, 1) == numbers


def test_config_of_a_multimodal_model_has_a_language_section(tmp_path: Path):
    config = {"torch_dtype": "bfloat16", "vision_config": {"depth": 3}, "text_config": CONFIG}
    assert models.read(str(write(tmp_path / "m", config))).full == 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"num_hidden_layers": 3}, "num_hidden_layers is 3, .* have 2"),
        ({"hidden_size": 128}, "hidden_size is 128, .* have 64"),
        ({"num_key_value_heads": 4}, "4 x 16, .* have 32"),
        ({"num_hidden_layers": -1}, "not a size"),
        ({"num_attention_heads": 0}, "not a size"),
        ({"num_hidden_layers": None}, "no num_hidden_layers"),
        ({"hidden_size": [8, 128]}, "hidden_size is 128, .* have 64"),
        ({"layer_types": 5}, "not a list"),
        ({"sliding_window": "x"}, "not a size"),
        ({"vocab_size": -1}, "not a size"),
        ({"head_dim": True}, "not a size"),
        ({"num_key_value_heads": {"a": 1}}, "not a size"),
        ([1], "JSON object"),
    ],
)
def test_config_that_contradicts_the_weights_is_one_message(change: Any, text: str, tmp_path: Path):
    config = {**CONFIG, **change} if isinstance(change, dict) else change
    with pytest.raises(SparkforgeError, match=text):
        models.read(str(write(tmp_path / "m", config)))


def test_directory_without_weights_needs_a_declared_size(tmp_path: Path):
    folder = write(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    with pytest.raises(models.UnknownError, match="no safetensors files"):
        models.read(str(folder))


def test_hub_cache_links_are_followed(tmp_path: Path):
    folder = write(tmp_path / "m")
    before = models.read(str(folder))
    for name in ("config.json", "model.safetensors"):
        (folder / name).rename(tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
    assert models.read(str(folder)) == before
    (tmp_path / "linked.gguf").symlink_to(gguf(tmp_path / "whole.gguf", block_count=2, embedding_length=8))
    assert models.read(str(tmp_path / "linked.gguf")).full == models.read(str(tmp_path / "whole.gguf")).full


@pytest.mark.parametrize(("tokens", "proposal"), [(2048, ("--max-model-len", "2048")), (2047, ())])
def test_proposed_length_has_a_minimum(tokens: int, proposal: tuple[str, ...]):
    part = admission.Part("all", 10_000, "")
    demand = admission.Demand("vllm", (part,), 0, part.size, 8192, lambda length: length)
    assert admission.propose(demand, part.size - 8192 + tokens, 20_000) == proposal


def test_torn_files_are_one_message_each(tmp_path: Path):
    folder = write(tmp_path / "m", size=9000)
    with pytest.raises(SparkforgeError, match="9000 bytes, but its"):
        models.read(str(folder))
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(SparkforgeError, match="not a safetensors"):
        models.read(str(folder))
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 20) + b'{"a": {"dtype": "F8"')
    with pytest.raises(SparkforgeError, match="cannot be read"):
        models.read(str(folder))
    write(folder)
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(SparkforgeError, match=r"lacks 1 .* model-00002\.safetensors"):
        models.read(str(folder))
    (folder / "config.json").write_text("{")
    with pytest.raises(SparkforgeError, match="cannot be read"):
        models.read(str(folder))


@pytest.mark.parametrize(
    "text", ["[" * 3000, '{"a": NaN}', '{"num_hidden_layers": ' + "9" * 4000 + "}", "[]" * (2 << 20)]
)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json"])
def test_json_that_no_model_has_is_refused(name: str, text: str, tmp_path: Path):
    folder = write(tmp_path / "m")
    (folder / name).write_text(text)
    with pytest.raises(SparkforgeError, match=r"cannot be read|no model has|no configuration has"):
        models.read(str(folder))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "model.safetensors"])
def test_pipe_in_place_of_a_model_file_is_refused(name: str, tmp_path: Path):
    folder = write(tmp_path / "m")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(SparkforgeError, match="cannot be read"):
        models.read(str(folder))


def safetensors(path: Path, content: bytes, length: int | None = None) -> Path:
    path.write_bytes(struct.pack("<Q", len(content) if length is None else length) + content)
    return path


@pytest.mark.parametrize(
    "rows",
    [
        [],
        "x",
        {"a": 5},
        {"a": {"dtype": "F8", "shape": 5, "data_offsets": [0, 1]}},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1, 2]}},
        {"a": {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]}},
        {"a": {"dtype": "F32", "shape": [1 << 30] * 10_000, "data_offsets": [0, 4]}},
        {"a": {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}},
    ],
)
def test_safetensors_header_of_another_form_is_refused(rows: Any, tmp_path: Path):
    with pytest.raises(SparkforgeError, match=r"has a header|says a is|has \d+ bytes"):
        model_files.header(str(safetensors(tmp_path / "a.safetensors", json.dumps(rows).encode())))


@pytest.mark.parametrize("content", [b"[" * 200_000, b"[]" * (6 << 20), b'{"a": ' + b"9" * 4000 + b"}"])
def test_safetensors_header_that_takes_long_is_refused(content: bytes, tmp_path: Path):
    with pytest.raises(SparkforgeError, match=r"cannot be read|no model has"):
        model_files.header(str(safetensors(tmp_path / "a.safetensors", content)))


def test_headers_of_all_files_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in "ab":
        safetensors(tmp_path / f"{name}.safetensors", b"{}" + b" " * 98)
    monkeypatch.setattr(model_files, "ALL_HEADERS", 150)
    with pytest.raises(SparkforgeError, match="headers of more"):
        model_files.safetensors(str(tmp_path), ["a.safetensors", "b.safetensors"])


def metadata(path: Path, *pairs: bytes) -> Path:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs))
    return path


def pair(name: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + value


def listed(inner: int, count: int, elements: bytes = b"") -> bytes:
    return struct.pack("<IQ", inner, count) + elements


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (listed(7, 1 << 24), "more than .* elements"), (listed(7, 1 << 20), "within a value"),
        (listed(8, 1 << 20), "a buffer|within a value"), (listed(8, 3, struct.pack("<Q", 1 << 62)), "within a value"),
        (listed(9, 3), "list .* type 9"), (listed(99, 3), "list .* type 99"),
    ],
)  # fmt: skip
def test_gguf_list_without_bounds_is_refused(value: bytes, message: str, tmp_path: Path):
    with pytest.raises(SparkforgeError, match=message):
        models.read(str(metadata(tmp_path / "m.gguf", pair("a", 9, value))))


def test_gguf_lists_are_bounded_together(tmp_path: Path):
    pairs = [pair(f"a{number}", 9, listed(7, 1 << 16, bytes(1 << 16))) for number in range(80)]
    with pytest.raises(SparkforgeError, match=r"more than .* elements"):
        models.read(str(metadata(tmp_path / "m.gguf", *pairs)))


@pytest.mark.parametrize(
    "value", [pair("x.block_count", 8, struct.pack("<Q", 1) + b"9"), pair("x.block_count", 6, bytes(4))]
)
def test_gguf_size_of_another_type_is_refused(value: bytes, tmp_path: Path):
    kind = pair("general.architecture", 8, struct.pack("<Q", 1) + b"x")
    with pytest.raises(SparkforgeError, match=r"not a size|no block_count"):
        models.read(str(metadata(tmp_path / "m.gguf", kind, value)))


def gguf(path: Path, **values: int) -> Path:
    a, b, llama = (struct.pack("<Q", len(text)) + text for text in (b"a", b"b", b"llama"))
    pairs = [pair("general.architecture", 8, llama), pair("tokenizer.ggml.tokens", 9, listed(8, 2, a + b))]
    sizes = {name.replace("__", "."): struct.pack("<I", value) for name, value in values.items()}
    metadata(path, *pairs, *(pair(f"llama.{name}", 4, value) for name, value in sizes.items()))
    path.write_bytes(path.read_bytes() + bytes(1000))
    return path


def test_gguf_file_gives_the_cache_size(tmp_path: Path):
    values = {"block_count": 4, "embedding_length": 64, "context_length": 512, "attention__head_count": 8,
              "attention__head_count_kv": 2}  # fmt: skip
    path = gguf(tmp_path / "m.gguf", **values)
    model = models.read(str(path))
    assert (model.total, model.width, model.longest, model.vocabulary) == (path.stat().st_size, 2 * 2 * 8, 512, 2)
    demand = admission.demand(["llama-server", "-m", str(path), "-c", "256", "-ctk", "q8_0"], "", GIB)
    assert demand.parts[1].size == int(256 * 4 * 32 * 1.0625)
    # The scores of 512 tokens and, without flash attention, the attention to the whole context.
    assert demand.parts[2].size == 4 * 512 * (2 + 2 * 64)
    command = ["llama-server", "-m", str(path), "-c", "256", "-fa", "off", "--ubatch-size", "128"]
    assert admission.demand(command, "", GIB).parts[2].size == 4 * 128 * (256 * 9 + 5 * 64 + 32)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(SparkforgeError, match="cannot be read"):
        models.read(str(path))


@pytest.mark.parametrize(
    ("command", "engine", "model"),
    [
        (["vllm", "serve", "/m", "--port", "1"], "vllm", "/m"),
        (["/opt/sparkforge/bin/serving-python", "/x/launch.py", "vllm", "0.7", "open", "serve", "/m"], "vllm", "/m"),
        (["python3", "-m", "vllm.entrypoints.openai.api_server", "--model=/m"], "vllm", "/m"),
        (["python3", "-m", "sglang.launch_server", "--model-path", "/m"], "sglang", "/m"),
        (["llama-server", "-m", "/m.gguf"], "llama.cpp", "/m.gguf"),
        (["python3.12", "serve.py", "--model_name_or_path", "/m"], "torch", "/m"),
        (["python3", "train.py"], "", ""),
        (["blender"], "", ""),
    ],
)
def test_engine_and_model_are_read_from_the_command(command: list[str], engine: str, model: str):
    assert admission.engine_of(command) == engine
    if engine:
        assert admission.model_of(engine, command) == model


def test_unknown_command_needs_a_declared_size():
    with pytest.raises(models.UnknownError, match="blender takes is unknown"):
        admission.demand(["blender"], "", GIB)
    assert admission.demand(["blender"], "40G", GIB).total == 40 * GIB
    with pytest.raises(SparkforgeError, match="not a size"):
        admission.demand(["blender"], "forty", GIB)
    with pytest.raises(SparkforgeError, match="not a size"):
        admission.demand(["blender"], "9" * 400 + "G", GIB)
    for option in (["--max-model-len", "x"], ["--max-model-len", "9" * 400], ["-tp", "1e999"]):
        with pytest.raises(SparkforgeError, match="takes a number"):
            admission.demand(["vllm", "serve", "/m", *option], "", GIB, EIGHT)
    on_one, on_none = (admission.demand(["vllm", "serve", "/m", "-tp", number], "", GIB, EIGHT) for number in "10")
    assert on_none.parts == on_one.parts


def test_vllm_keeps_the_matrices_of_layers_as_its_command_says(tmp_path: Path):
    tensors = {
        "model.embed_tokens.weight": ("BF16", (100, 64)), "lm_head.weight": ("BF16", (100, 64)),
        "model.layers.0.self_attn.k_proj.weight": ("BF16", (32, 64)),
        "model.layers.1.self_attn.k_proj.weight": ("BF16", (32, 64)),
        "model.layers.1.mlp.experts.3.up_proj.weight": ("BF16", (128, 64)),
        "vision.layers.1.mlp.up_proj.weight": ("BF16", (128, 64)),
    }  # fmt: skip
    plain = write(tmp_path / "plain", tensors=tensors)
    stored = write(tmp_path / "stored", {**CONFIG, "quantization_config": {"quant_method": "fp8"}}, tensors)
    total, converted = models.read(str(plain)).total, 64 * (32 + 32 + 128)

    def weights(folder: Path, *more: str, start: tuple[str, ...] = ("vllm", "serve")) -> admission.Part:
        named = ("--model-path", str(folder)) if start[0] == "sglang" else (str(folder),)
        parts = admission.demand([*start, *named, *more], "", 120 * GIB)
        return next(part for part in parts.within if part.label == "weights")

    assert weights(plain).size == total
    converted_weights = weights(plain, "--quantization", "fp8")
    assert converted_weights.size == total - converted and converted_weights.how.endswith(
        "of it becomes 0.0 GiB by fp8"
    )
    assert weights(plain, "--quantization=fp8_per_block", "-tp", "2").size == (total - converted) // 2
    assert weights(plain, "-q", "mxfp4").size == total - 2 * converted + converted * 17 // 32
    # Weights that are stored quantised remain so, awq requires such weights, and SGLang's conversions are not known.
    assert weights(stored, "--quantization", "fp8").size == weights(plain, "--quantization", "awq").size == total
    assert weights(plain, "--quantization", "fp8", start=("sglang", "serve")).size == total


def test_vllm_takes_its_share_at_once_and_a_smaller_one_is_proposed():
    demand = admission.demand(["vllm", "serve", "/m"], "", 120 * GIB, EIGHT)
    assert demand.pool == int(0.92 * 120 * GIB)
    assert {part.label: part.size for part in demand.within}["KV cache"] == 131072 * 128 * 1024
    # vLLM takes 110 + 4.2 GiB; an idle Spark offers 118 - 12 GiB.
    verdict = admission.plan(demand, memory(118))
    assert (verdict.answer, verdict.proposal) == ("propose", ("--gpu-memory-utilization", "0.84"))
    fitting = admission.demand(["vllm", "serve", "/m", *verdict.proposal], "", 120 * GIB, EIGHT)
    assert admission.plan(fitting, memory(118)).answer == "start"
    eager = admission.demand(["vllm", "serve", "/m", "--enforce-eager"], "", 120 * GIB, EIGHT)
    assert demand.total - eager.total == admission.COMPILED
    # This is less than a sequence of 131072 tokens needs, so a shorter length is proposed.
    verdict = admission.plan(demand, memory(45))
    assert verdict.proposal[0] == "--max-model-len"
    fitting = admission.demand(["vllm", "serve", "/m", *verdict.proposal], "", 120 * GIB, EIGHT)
    assert admission.plan(fitting, memory(45)).answer == "start"
    verdict = admission.plan(demand, memory(30))
    assert (verdict.answer, verdict.proposal) == ("refuse", ())


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llama.cpp", "torch"])
@pytest.mark.parametrize("available", range(20, 120, 7))
def test_proposal_fits_the_available_memory(engine: str, available: int):
    start = {
        "vllm": ["vllm", "serve", "/m"], "sglang": ["sglang", "serve", "--model-path", "/m"],
        "llama.cpp": ["llama-server", "-m", "/m"],
        "torch": ["python3", "x.py", "--model", "/m", "--length", "65536"],
    }  # fmt: skip
    command = start[engine]
    verdict = admission.plan(admission.demand(command, "", 120 * GIB, EIGHT), memory(available))
    if verdict.answer == "propose":
        fitting = admission.demand([*command, *verdict.proposal], "", 120 * GIB, EIGHT)
        assert admission.plan(fitting, memory(available)).answer in ("start", "drop"), verdict.proposal
    elif verdict.answer == "start":
        assert verdict.demand.total <= (available - 12) * GIB


def test_page_cache_is_dropped_first_and_jobs_fill_the_rest():
    demand = admission.demand(["blender"], "60G", GIB)
    assert admission.plan(demand, memory(100, cached=10)).answer == "start"
    assert admission.plan(demand, memory(100, cached=80)).answer == "drop"
    assert admission.plan(demand, memory(100), cores=20).jobs == 1 + (100 - 12 - 60) // 4


def test_holder_of_the_memory_is_named():
    holder = Process(7, 1, 7, 1.0, "ollama", "ollama.service", GIB, 70 * GIB, 0, "/system.slice/ollama.service")
    verdict = admission.plan(admission.demand(["x"], "60G", GIB), memory(40), [holder])
    assert "Stop ollama (process 7), which holds 70.0 GiB" in str(admission.refusal(verdict))
    assert any("ollama (process 7, ollama.service)" in line for line in verdict.lines)


def test_gpu_with_its_own_memory_is_judged_by_it():
    own = admission.of_device(memory(10), [{"memory": [80 * GIB, 79 * GIB]}, {"memory": [80 * GIB, 60 * GIB]}])
    assert (own.total, own.available) == (80 * GIB, 60 * GIB)
    assert admission.of_device(memory(10), [{"memory": None}]) == memory(10)


#: GiB of GPU memory (from NVML) and of process memory, measured on an H100 with torch 2.11.0 (docs/evidence/guard.md).
MEASURED = {
    ("1B", "float32"): 10.18, ("1B", "bfloat16"): 5.68, ("1B", "float8_e4m3fn"): 4.84,
    ("3B", "float32"): 21.02, ("3B", "bfloat16"): 11.15, ("3B", "float8_e4m3fn"): 8.89,
    ("8B", "float32"): 48.06, ("8B", "bfloat16"): 24.75, ("8B", "float8_e4m3fn"): 18.20,
    ("14B", "float32"): 64.65, ("14B", "bfloat16"): 33.04, ("14B", "float8_e4m3fn"): 21.57,
}  # fmt: skip


@pytest.mark.parametrize(("size", "kind"), MEASURED)
def test_estimate_is_within_ten_per_cent_of_torch(size: str, kind: str, tmp_path: Path):
    memory_torch.write(size, kind, tmp_path)
    _shape, batch, length = memory_torch.SIZES[size]
    command = ["python3", "x.py", "--model", str(tmp_path), "--batch", str(batch), "--length", str(length)]
    assert admission.demand(command, "", 80 * GIB).total == pytest.approx(MEASURED[size, kind] * GIB, rel=0.10)


#: MiB of the KV cache and of the compute buffer, from llama.cpp's log (benchmarks.memory_llama).
LLAMA = {
    ("0.1B", 2048, "on"): (72, 65.5), ("0.1B", 16384, "off"): (576, 426.51), ("0.3B", 8192, "on"): (512, 66.5),
    ("0.3B", 4096, "off"): (256, 150.01), ("0.5B", 4096, "on"): (48, 300.25), ("0.5B", 32768, "off"): (384, 969.26),
}  # fmt: skip


@pytest.mark.parametrize(("size", "length", "flash"), LLAMA)
def test_estimate_matches_llama_cpp(size: str, length: int, flash: str):
    layers, hidden, inner, heads, keys, width, vocabulary = memory_llama.SIZES[size]
    model = models.Model(
        "/m.gguf", {"GGUF": GIB}, layers, 0, 0, 2 * keys * width, hidden, inner, vocabulary, 131072, 2, heads=heads
    )
    command = ["llama-server", "-m", "/m.gguf", "-c", str(length), "-fa", flash]
    _weights, *parts, _context = admission.demand(command, "", 80 * GIB, model).parts
    assert [part.size / (1 << 20) for part in parts] == pytest.approx(LLAMA[size, length, flash], rel=0.03)


def test_run_command_reports_and_refuses(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    assert cli.main(["run", "--needs", "1M", "--dry-run", "--", "true"]) == 0
    output = capfd.readouterr().out
    assert "it takes" in output
    assert "would start: true" in output
    assert cli.main(["run", "--needs", "900T", "--", "true"]) == 1
    assert "free for it" in capfd.readouterr().err
    assert cli.main(["run", "--", "blender"]) == 2
    assert "--needs 40G" in capfd.readouterr().err
    assert cli.main(["run", "--", "vllm", "serve", str(tmp_path / "none")]) == 2
    assert "is not on" in capfd.readouterr().err


def test_run_command_executes_with_a_limit_of_compile_jobs(monkeypatch: pytest.MonkeyPatch):
    became: list[Any] = []
    environment: dict[str, str] = {}
    monkeypatch.setattr("os.environ", environment)
    monkeypatch.setattr("os.execvp", lambda name, command: became.append((name, command)) or sys.exit(0))
    with pytest.raises(SystemExit):
        cli.main(["run", "--needs", "1M", "--", "true", "--flag"])
    assert became == [("true", ["true", "--flag"])]
    assert int(environment["MAX_JOBS"]) >= 1
