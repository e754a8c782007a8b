# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Create a tiny model with random weights and a tokenizer: `python -m lab.tiny_model FAMILY PATH [SEED]`.

Its results depend on all inputs: attention is sharp, layers do not cancel out, and scores differ by a few units. With a
training run's initial values, all tokens would be almost equally likely, and any fault would be within rounding.
"""

from __future__ import annotations

import os
import sys
import typing as t

#: For each family, the class of transformers' configuration, and its settings in addition to :data:`_COMMON`.
FAMILIES: dict[str, tuple[str, dict[str, t.Any]]] = {
    "llama": ("LlamaConfig", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}}),
    "mistral": ("MistralConfig", {"sliding_window": None}),
    "qwen2": ("Qwen2Config", {}),
    "qwen3": ("Qwen3Config", {"head_dim": 64}),
    "gemma2": ("Gemma2Config", {"head_dim": 64, "query_pre_attn_scalar": 64, "sliding_window": 64}),
    "gemma3": ("Gemma3TextConfig", {"head_dim": 64, "query_pre_attn_scalar": 64, "sliding_window": 64}),
    "gpt-oss": (
        "GptOssConfig",
        {"head_dim": 64, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 64},
    ),
}
_COMMON = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ("<|begin|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>")
_SENTENCES = (
    "The quick brown fox jumps over the lazy dog, and then the dog jumps over the fox.",
    "A proof compares numbers with numbers; nothing else proves that a computer computes.",
    "for number in range(10): print(number, number ** 2)",
)


def make(path: str, family: str = "llama", seed: int = 0, dtype: str = "bfloat16") -> None:
    """Write a model to a new directory."""
    if os.path.isdir(path) and os.listdir(path):
        sys.exit(f"{path} is not empty.")
    import torch
    import transformers

    tokenizer = _tokenizer()
    name, more = FAMILIES[family]
    ids = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    config = getattr(transformers, name)(vocab_size=len(tokenizer), **{**_COMMON, **ids, **more})
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for label, weight in model.named_parameters():
            weight.copy_(_drawn(label, weight))
    model.to(getattr(torch, dtype)).save_pretrained(path)
    tokenizer.save_pretrained(path)


def _drawn(label: str, weight: t.Any) -> t.Any:
    import torch

    noise = torch.randn_like(weight)
    if "embed_tokens" in label:
        return noise
    if weight.dim() == 1:
        # A norm's weight: Gemma adds one to the stored value, so a stored value around zero has the effect of one.
        around = 0.0 if float(weight.detach().abs().max()) == 0 else 1.0
        return around + noise / 8
    # gpt-oss stores its expert weights transposed.
    fan_in = weight.shape[-2] if weight.dim() == 3 and "bias" not in label else weight.shape[-1]
    gain = 2.0 if "q_proj" in label or "k_proj" in label or "lm_head" in label else 1.2
    return noise * (0.1 if "bias" in label or "sinks" in label else gain / fan_in**0.5)


def _tokenizer() -> t.Any:
    import tokenizers
    import transformers

    trained = tokenizers.Tokenizer(tokenizers.models.BPE())
    trained.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=384, special_tokens=list(_SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    trained.train_from_iterator(_SENTENCES, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained, bos_token=_SPECIAL[0], eos_token=_SPECIAL[1], pad_token=_SPECIAL[1]
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


if __name__ == "__main__":
    make(sys.argv[2], sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
