# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a model's own files say of the memory it takes: weights by data type, and the KV cache of each token.

Read are config.json and the headers of safetensors files (8 bytes of length, JSON, data) or of a GGUF file (ggml's
docs/gguf.md); the weights themselves are not. Each is compared with the other: a file that is torn or a config that
does not fit its weights is an error, for its arithmetic would be wrong.
"""

from __future__ import annotations

import json
import os
import re
import struct
import typing as t

from ._shared.module_utils._core.errors import SparkforgeError

LONGEST_HEADER = 100 << 20
#: Bits of each data type of safetensors.
BITS = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16, "I16": 16, "U16": 16,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8, "F4": 4,
}  # fmt: skip
#: Types in which several weights share a number: their shapes say nothing of a layer's.
PACKED = ("U8", "I8", "I32", "U32", "F4")
BYTES = {"float64": 8, "float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2, "float8_e4m3fn": 1}
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d+)\.")
_GGUF = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class Model(t.NamedTuple):
    """A model's memory."""

    path: str
    #: Bytes of the weights by data type.
    weights: dict[str, int]
    #: Layers with a KV cache: of all tokens, and of the last ``window`` alone.
    full: int
    sliding: int
    window: int
    #: Numbers of one token in one layer's KV cache.
    width: int
    hidden: int
    inner: int
    vocabulary: int
    longest: int
    #: Bytes of a number, unless the engine is told another.
    size: int
    #: Numbers of the largest tensor.
    largest: int = 0
    #: Heads of a query.
    heads: int = 0
    #: Bytes and numbers of the layers' matrices that an engine can convert as it loads them; nothing if there are none.
    linear: tuple[int, int] = (0, 0)

    @property
    def total(self) -> int:
        """Bytes of all weights."""
        return sum(self.weights.values())

    def cache(self, tokens: int, batch: int, size: float) -> int:
        """Return the bytes of the KV cache of ``batch`` sequences of ``tokens``."""
        return int((self.full * tokens + self.sliding * min(tokens, self.window)) * batch * self.width * size)


class UnknownError(SparkforgeError):
    """Nobody can tell what it takes; the user can."""


def unknown(cause: str) -> UnknownError:
    """Return the error that asks for a figure."""
    return UnknownError(cause, "Say what it takes of the memory, such as --needs 40G.")


def torn(path: str, why: str) -> SparkforgeError:
    """Return the error for a file that is not what it should be."""
    return SparkforgeError(f"{path} {why}.", "Get the model again: sparkforge model get ORGANISATION/NAME.")


def read(path: str) -> Model:
    """Return what a directory with config.json, or a GGUF file says.

    :raises SparkforgeError: it is no model, or torn, or its config does not fit its weights.
    """
    if os.path.isfile(path):
        return _gguf(path)
    if not os.path.isdir(path):
        raise SparkforgeError(f"There is no model {path} on this machine.", "Give the directory that has config.json.")
    config = _config(os.path.join(path, "config.json"))
    tensors = _tensors(path)
    if not tensors:
        ggufs = sorted(name for name in os.listdir(path) if name.endswith(".gguf"))
        if len(ggufs) == 1:
            return _gguf(os.path.join(path, ggufs[0]))
        raise unknown(f"{path} has no safetensors files.")
    _compare(path, config, tensors)
    return _model(path, config, tensors)


def _config(path: str) -> dict[str, t.Any]:
    try:
        with open(path, encoding="utf-8") as stream:
            whole = json.loads(stream.read(16 << 20))
    except FileNotFoundError:
        raise unknown(f"There is no {path}.") from None
    except (OSError, ValueError) as error:
        raise torn(path, f"cannot be read: {error}") from None
    if not isinstance(whole, dict):
        raise torn(path, "is no object")
    # Models of several modes have the language model's part within.
    parts = [whole, *(one for one in whole.values() if isinstance(one, dict))]
    parts += [one for part in parts[1:] for one in part.values() if isinstance(one, dict)]
    found = next((one for one in parts if isinstance(one.get("num_hidden_layers"), int)), None)
    if found is None:
        raise unknown(f"{path} names no num_hidden_layers.")
    merged = {**whole, **found}
    for name in ("num_hidden_layers", "hidden_size", "num_attention_heads"):
        value = merged.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 24:
            raise torn(path, f"has {name} {value!r}, which is no size")
    return merged


def _tensors(place: str) -> dict[str, tuple[str, list[int], int]]:
    """Return type, shape and bytes of each tensor of a directory's safetensors files."""
    names = sorted(name for name in os.listdir(place) if name.endswith(".safetensors"))
    index = os.path.join(place, "model.safetensors.index.json")
    if os.path.exists(index):
        try:
            with open(index, encoding="utf-8") as stream:
                listed = sorted({str(name) for name in json.load(stream)["weight_map"].values()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise torn(index, f"cannot be read: {error!r}") from None
        missing = sorted(set(listed) - set(names))
        if missing:
            raise torn(place, f"lacks {missing[0]} and {len(missing) - 1} more of its files")
        # Others beside them, such as one file of all, would count twice.
        names = listed
    found: dict[str, tuple[str, list[int], int]] = {}
    for name in names:
        found.update(header(os.path.join(place, name)))
    return found


def header(path: str) -> dict[str, tuple[str, list[int], int]]:
    """Return type, shape and bytes of each tensor of one safetensors file.

    :raises SparkforgeError: the file is torn.
    """
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(LONGEST_HEADER, size - 8):
                raise torn(path, f"is no safetensors file: a header of {length} bytes in a file of {size}")
            rows = json.loads(stream.read(length))
    except (OSError, ValueError) as error:
        raise torn(path, f"cannot be read: {error}") from None
    found, last = {}, 0
    try:
        for name, row in rows.items():
            if name == "__metadata__":
                continue
            kind, shape, (begin, end) = str(row["dtype"]), [int(one) for one in row["shape"]], row["data_offsets"]
            count = _count(shape)
            if not 0 <= begin <= end or (kind in BITS and (count * BITS[kind] + 7) // 8 != end - begin):
                raise torn(path, f"says {name} is {shape} of {kind} in {end - begin} bytes")
            found[name], last = (kind, shape, end - begin), max(last, end)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise torn(path, f"has a header that cannot be read: {error!r}") from None
    if size != 8 + length + last:
        raise torn(path, f"has {size} bytes, and its header names {8 + length + last}")
    return found


def _count(shape: t.Iterable[int]) -> int:
    count = 1
    for one in shape:
        count *= one
    return count


def _compare(path: str, config: t.Mapping[str, t.Any], tensors: t.Mapping[str, tuple[str, list[int], int]]) -> None:
    """Refuse a config that does not fit the weights."""

    def lies(what: str, says: t.Any, have: t.Any) -> SparkforgeError:
        cause = f"{path}/config.json says {what} is {says}, and the weights have {have}"
        return SparkforgeError(f"{cause}.", "Use the config that belongs to these weights.")

    layers = {int(found[1]) for found in map(_LAYER.search, tensors) if found}
    declared = config["num_hidden_layers"]
    if layers and max(layers) + 1 < declared:
        raise lies("num_hidden_layers", declared, max(layers) + 1)
    heads, width = _heads(config)
    for name, (kind, shape, _size) in tensors.items():
        if kind in PACKED or len(shape) != 2 or "vision" in name or "visual" in name:
            continue
        if name.endswith("embed_tokens.weight") and shape[1] != config["hidden_size"]:
            raise lies("hidden_size", config["hidden_size"], shape[1])
        if name.endswith("self_attn.k_proj.weight") and "kv_lora_rank" not in config and shape[0] != heads * width:
            raise lies("the width of a key", f"{heads} x {width}", shape[0])


def _heads(config: t.Mapping[str, t.Any]) -> tuple[int, int]:
    """Return the heads that have keys and values, and the width of each."""
    heads = config.get("num_key_value_heads") or config["num_attention_heads"]
    width = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return int(heads), int(width)


def _linear(config: t.Mapping[str, t.Any], tensors: t.Mapping[str, tuple[str, list[int], int]]) -> tuple[int, int]:
    """Return bytes and numbers of the language model's matrices that are not quantised, embeddings and scores apart."""
    if "quantization_config" in config or "compression_config" in config:
        return 0, 0
    found = [
        (size, _count(shape))
        for name, (kind, shape, size) in tensors.items()
        if kind in ("F32", "F16", "BF16") and len(shape) > 1 and _LAYER.search(name)
        and "vision" not in name and "visual" not in name
    ]  # fmt: skip
    return sum(size for size, _number in found), sum(number for _size, number in found)


def _model(path: str, config: t.Mapping[str, t.Any], tensors: t.Mapping[str, tuple[str, list[int], int]]) -> Model:
    weights: dict[str, int] = {}
    for kind, _shape, size in tensors.values():
        weights[kind] = weights.get(kind, 0) + size
    heads, head = _heads(config)
    # Multi-head latent attention keeps one compressed vector for keys and values.
    latent = config.get("kv_lora_rank")
    width = int(latent) + int(config.get("qk_rope_head_dim") or 0) if latent else 2 * heads * head
    layers = int(config["num_hidden_layers"])
    kinds = [str(one) for one in config.get("layer_types") or []]
    sliding = sum("sliding" in one for one in kinds)
    linear = sum("linear" in one or "mamba" in one for one in kinds)
    window = int(config.get("sliding_window") or 0)
    if not window:
        sliding = 0
    hidden = int(config["hidden_size"])
    kind = str(config.get("torch_dtype") or config.get("dtype") or "bfloat16").replace("torch.", "")
    return Model(
        path, weights, layers - sliding - linear, sliding, window, width, hidden,
        int(config.get("intermediate_size") or config.get("moe_intermediate_size") or 4 * hidden),
        int(config.get("vocab_size") or 0), int(config.get("max_position_embeddings") or 0), BYTES.get(kind, 2),
        max(_count(shape) for _kind, shape, _size in tensors.values()), int(config["num_attention_heads"]),
        _linear(config, tensors),
    )  # fmt: skip


def _gguf(path: str) -> Model:
    """Read the metadata of a GGUF file."""
    try:
        with open(path, "rb") as stream:
            values = _pairs(stream, path)
            size = os.fstat(stream.fileno()).st_size
    except (OSError, struct.error, MemoryError, OverflowError) as error:
        raise torn(path, f"cannot be read: {error}") from None
    kind = str(values.get("general.architecture"))

    def value(name: str, usual: int = 0) -> int:
        found = values.get(f"{kind}.{name}", usual)
        return max(found) if isinstance(found, list) else int(found)

    layers, hidden = value("block_count"), value("embedding_length")
    heads = value("attention.head_count", 1) or 1
    if not layers or not hidden:
        raise torn(path, "names no layers")
    head = value("attention.key_length", hidden // heads)
    width = value("attention.head_count_kv", heads) * (head + value("attention.value_length", head))
    inner, vocabulary = value("feed_forward_length", 4 * hidden), value("vocab_size") or int(values.get("tokens", 0))
    # The file is mapped: its weights are its size.
    longest = value("context_length")
    return Model(path, {"GGUF": size}, layers, 0, 0, width, hidden, inner, vocabulary, longest, 2, heads=heads)


def _pairs(stream: t.BinaryIO, path: str) -> dict[str, t.Any]:
    def number(form: str) -> t.Any:
        return struct.unpack(f"<{form}", stream.read(struct.calcsize(f"<{form}")))[0]

    def text() -> str:
        length = number("Q")
        if length > 1 << 24:
            raise torn(path, f"has a text of {length} bytes")
        return stream.read(length).decode("utf-8", "replace")

    def value(kind: int) -> t.Any:
        if kind == 8:
            return text()
        if kind != 9:
            if kind not in _GGUF:
                raise torn(path, f"has a value of the unknown type {kind}")
            return number(_GGUF[kind])
        inner, count = number("I"), number("Q")
        if count > 1 << 24:
            raise torn(path, f"has a list of {count}")
        return [value(inner) for _number in range(count)]

    if stream.read(4) != b"GGUF":
        raise torn(path, "is no GGUF file")
    if number("I") not in (2, 3):
        raise torn(path, "is of another version of GGUF than 2 and 3")
    _tensors_there, count = number("Q"), number("Q")
    if count > 1 << 16:
        raise torn(path, f"names {count} values")
    found: dict[str, t.Any] = {}
    for _number in range(count):
        name, kind = text(), number("I")
        read_value = value(kind)
        found["tokens" if name == "tokenizer.ggml.tokens" else name] = (
            len(read_value) if name == "tokenizer.ggml.tokens" else read_value
        )
    return found
