"""Reads from a model's files how much memory it needs: the weights by data type, and the KV cache per token.

It reads config.json and the headers of safetensors files or of a GGUF file, but not the weights. The files are
compared with each other: an incomplete file, or a config that does not match its weights, is an error, because the
estimate would be wrong.
"""

from __future__ import annotations

import os
import re
import typing as t

from . import model_files
from ._shared.module_utils._core.errors import SparkforgeError
from .model_files import Tensor, torn

#: Types that pack several weights into one number, so that a tensor's shape differs from its layer's.
PACKED = ("U8", "I8", "I32", "U32", "F4")
BYTES = {"float64": 8, "float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2, "float8_e4m3fn": 1}
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,6})\.")
#: The upper limit for sizes in a model's configuration.
MOST = 1 << 40


class Model(t.NamedTuple):
    """The memory that a model needs."""

    path: str
    #: The size of the weights in bytes, by data type.
    weights: dict[str, int]
    #: The number of layers whose KV cache holds all tokens, and of those whose cache holds the last ``window`` tokens.
    full: int
    sliding: int
    window: int
    #: The number of elements per token in one layer's KV cache.
    width: int
    hidden: int
    inner: int
    vocabulary: int
    longest: int
    #: Bytes per element, unless the engine's options change it.
    size: int
    #: The number of elements in the largest tensor.
    largest: int = 0
    #: The number of query heads.
    heads: int = 0
    #: The bytes, and the number of elements, in the layer matrices that an engine can convert while loading them.
    linear: tuple[int, int] = (0, 0)

    @property
    def total(self) -> int:
        """The size of all weights in bytes."""
        return sum(self.weights.values())

    def cache(self, tokens: int, batch: int, size: float) -> int:
        """Return the size of the KV cache in bytes for ``batch`` sequences of ``tokens`` tokens."""
        return int((self.full * tokens + self.sliding * min(tokens, self.window)) * batch * self.width * size)


class UnknownError(SparkforgeError):
    """The memory that a command needs cannot be estimated, so the user has to declare it."""


def unknown(cause: str) -> UnknownError:
    """Return the error that asks the user for a figure."""
    return UnknownError(cause, "Declare the memory that the command takes, such as --needs 40G.")


def read(path: str) -> Model:
    """Return the model in a directory with a config.json, or in a GGUF file.

    :raises SparkforgeError: if the path is not a model, a file is incomplete, or the config does not match the weights.
    """
    if os.path.isfile(path):
        return _gguf(path)
    if not os.path.isdir(path):
        raise SparkforgeError(f"The model {path} is not on this machine.", "Give a directory with config.json.")
    config = _config(os.path.join(path, "config.json"))
    names = model_files.names(path)
    tensors = _tensors(path, names)
    if not tensors:
        ggufs = [name for name in names if name.endswith(".gguf")]
        if len(ggufs) == 1:
            return _gguf(os.path.join(path, ggufs[0]))
        raise unknown(f"{path} has no safetensors files.")
    _compare(path, config, tensors)
    return _model(path, config, tensors)


def _config(path: str) -> dict[str, t.Any]:
    try:
        config = model_files.read_json(path)
    except FileNotFoundError:
        raise unknown(f"There is no {path}.") from None
    if not isinstance(config, dict):
        raise torn(path, "is not a JSON object")
    # Multimodal models keep the language model's configuration in a section.
    parts = [config, *(section for section in config.values() if isinstance(section, dict))]
    parts += [section for part in parts[1:] for section in part.values() if isinstance(section, dict)]
    language = next((part for part in parts if isinstance(part.get("num_hidden_layers"), int)), None)
    if language is None:
        raise unknown(f"{path} has no num_hidden_layers.")
    merged = {**config, **language}
    for name in ("num_hidden_layers", "hidden_size", "num_attention_heads"):
        merged[name] = _size(path, merged, name)
        if not 0 < merged[name] < 1 << 24:
            raise torn(path, f"has {name} {merged[name]}, which is not a size")
    for name in OTHER_SIZES:
        merged[name] = _size(path, merged, name)
    kinds = merged.get("layer_types") or []
    if not isinstance(kinds, list):
        raise torn(path, "has layer_types that are not a list")
    return {**merged, "layer_types": [str(kind) for kind in kinds[: merged["num_hidden_layers"]]]}


#: Optional sizes in a configuration; a missing size is 0.
OTHER_SIZES = (
    "num_key_value_heads", "head_dim", "kv_lora_rank", "qk_rope_head_dim", "sliding_window", "intermediate_size",
    "moe_intermediate_size", "vocab_size", "max_position_embeddings",
)  # fmt: skip


def _size(path: str, config: t.Mapping[str, t.Any], name: str) -> int:
    """Return a size from a configuration, or 0 if it is missing or null."""
    value = config.get(name) or 0
    if isinstance(value, list) and value and all(type(number) is int for number in value):
        # Layers may differ in size.
        value = max(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST:
        raise torn(path, f"has {name} {str(value)[:40]!r}, which is not a size")
    return value


def _tensors(directory: str, names: t.Sequence[str]) -> dict[str, Tensor]:
    """Return each tensor in a directory's safetensors files."""
    files = [name for name in names if name.endswith(".safetensors")]
    index = os.path.join(directory, "model.safetensors.index.json")
    try:
        listed = sorted({str(name) for name in model_files.read_json(index)["weight_map"].values()})
    except FileNotFoundError:
        return model_files.safetensors(directory, files)
    except (KeyError, TypeError, AttributeError):
        raise torn(index, "lists no weight files") from None
    missing = sorted(set(listed) - set(files))
    if missing:
        raise torn(directory, f"lacks {len(missing)} of its weight files, among them {missing[0][:80]}")
    # Leave out other files: a single file with all weights, for example, would be counted twice.
    return model_files.safetensors(directory, listed)


def _compare(path: str, config: t.Mapping[str, t.Any], tensors: t.Mapping[str, Tensor]) -> None:
    """Refuse a config that does not match the weights."""

    def lies(field: str, says: t.Any, have: t.Any) -> SparkforgeError:
        cause = f"{path}/config.json says {field} is {says}, but the weights have {have}"
        return SparkforgeError(f"{cause}.", "Use the config that belongs to these weights.")

    layers = {int(match[1]) for match in map(_LAYER.search, tensors) if match}
    declared = config["num_hidden_layers"]
    if layers and max(layers) + 1 < declared:
        raise lies("num_hidden_layers", declared, max(layers) + 1)
    heads, width = _heads(config)
    for name, (kind, shape, _size) in tensors.items():
        if kind in PACKED or len(shape) != 2 or "vision" in name or "visual" in name:
            continue
        if name.endswith("embed_tokens.weight") and shape[1] != config["hidden_size"]:
            raise lies("hidden_size", config["hidden_size"], shape[1])
        if name.endswith("self_attn.k_proj.weight") and not config["kv_lora_rank"] and shape[0] != heads * width:
            raise lies("the width of a key", f"{heads} x {width}", shape[0])


def _heads(config: t.Mapping[str, t.Any]) -> tuple[int, int]:
    """Return the number of key and value heads, and the width of each."""
    heads: int = config["num_key_value_heads"] or config["num_attention_heads"]
    width: int = config["head_dim"] or config["hidden_size"] // config["num_attention_heads"]
    return heads, width


def _linear(config: t.Mapping[str, t.Any], tensors: t.Mapping[str, Tensor]) -> tuple[int, int]:
    """Return the bytes and elements in the language model's unquantised matrices, except embeddings and output."""
    if "quantization_config" in config or "compression_config" in config:
        return 0, 0
    matrices = [
        tensor
        for name, tensor in tensors.items()
        if tensor.kind in ("F32", "F16", "BF16") and len(tensor.shape) > 1 and _LAYER.search(name)
        and "vision" not in name and "visual" not in name
    ]  # fmt: skip
    return sum(tensor.size for tensor in matrices), sum(tensor.numbers for tensor in matrices)


def _model(path: str, config: t.Mapping[str, t.Any], tensors: t.Mapping[str, Tensor]) -> Model:
    weights: dict[str, int] = {}
    for kind, _shape, size in tensors.values():
        weights[kind] = weights.get(kind, 0) + size
    heads, head = _heads(config)
    # Multi-head latent attention stores one compressed vector for keys and values.
    latent = config["kv_lora_rank"]
    width = latent + config["qk_rope_head_dim"] if latent else 2 * heads * head
    layers = int(config["num_hidden_layers"])
    kinds = config["layer_types"]
    sliding = sum("sliding" in kind for kind in kinds)
    linear = sum("linear" in kind or "mamba" in kind for kind in kinds)
    window = config["sliding_window"]
    if not window:
        sliding = 0
    hidden = int(config["hidden_size"])
    number = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16").replace("torch.", "")
    return Model(
        path, weights, layers - sliding - linear, sliding, window, width, hidden,
        config["intermediate_size"] or config["moe_intermediate_size"] or 4 * hidden,
        config["vocab_size"], config["max_position_embeddings"], BYTES.get(number, 2),
        max(tensor.numbers for tensor in tensors.values()), int(config["num_attention_heads"]),
        _linear(config, tensors),
    )  # fmt: skip


def _gguf(path: str) -> Model:
    """Return the model that a GGUF file's metadata describes."""
    size, pairs = model_files.gguf(path)
    kind = str(pairs.get("general.architecture"))[:80]

    def value(name: str, usual: int = 0) -> int:
        raw = pairs.get(f"{kind}.{name}", usual)
        values = raw if isinstance(raw, list) else [raw]
        if not all(type(number) is int and 0 <= number < MOST for number in values):
            raise torn(path, f"has {name} {str(raw)[:40]!r}, which is not a size")
        return max(values, default=0)

    layers, hidden = value("block_count"), value("embedding_length")
    heads = value("attention.head_count", 1) or 1
    if not layers or not hidden:
        raise torn(path, "has no block_count or no embedding_length")
    head = value("attention.key_length", hidden // heads)
    width = value("attention.head_count_kv", heads) * (head + value("attention.value_length", head))
    tokens = pairs.get("tokenizer.ggml.tokens")
    inner, vocabulary = value("feed_forward_length", 4 * hidden), value("vocab_size") or _length(tokens)
    # The file is mapped, so its size is the size of the weights.
    longest = value("context_length")
    return Model(path, {"GGUF": size}, layers, 0, 0, width, hidden, inner, vocabulary, longest, 2, heads=heads)


def _length(kept: t.Any) -> int:
    """Return the number of elements in a GGUF list."""
    return kept if type(kept) is int else len(kept) if isinstance(kept, list) else 0
