"""Faults for vLLM 0.25.1's first model runner, in a plugin that vLLM loads into each of its processes.

The variable SPARKFORGE_FAULT names the fault. The fault prints its name to standard error when it first takes effect,
so that a missed fault can be told from one that never ran.
"""

import functools
import os
import sys
import typing as t

_PRINTED: set[str] = set()


def _reached(name: str) -> None:
    if name not in _PRINTED:
        _PRINTED.add(name)
        print(f"PLANTED {name}", file=sys.stderr, flush=True)


def attention_scale() -> None:
    """Make attention scores a tenth too large."""
    from vllm.v1.attention.backends.flash_attn import FlashAttentionImpl as Attention

    begin = Attention.__init__

    @functools.wraps(begin)
    def replaced(self: t.Any, *arguments: t.Any, **named: t.Any) -> None:
        begin(self, *arguments, **named)
        self.scale *= 1.1
        _reached("attention_scale")

    Attention.__init__ = replaced


def neighbours_page() -> None:
    """Make each text of a batch read its neighbour's first page."""
    from vllm.v1.attention.backends.flash_attn import FlashAttentionImpl as Attention

    forward = Attention.forward

    @functools.wraps(forward)
    def replaced(self: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        metadata = next((value for value in (*arguments, *named.values()) if hasattr(value, "block_table")), None)
        if metadata is None or metadata.block_table.shape[0] < 2:
            return forward(self, *arguments, **named)
        own = metadata.block_table
        metadata.block_table = own.clone()
        metadata.block_table[1:, 0] = own[:-1, 0]
        _reached("neighbours_page")
        try:
            return forward(self, *arguments, **named)
        finally:
            metadata.block_table = own

    Attention.forward = replaced


def late_positions() -> None:
    """Limit rotary positions to 255."""
    from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding as Rotary

    def bounded(forward: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
        @functools.wraps(forward)
        def replaced(self: t.Any, positions: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
            _reached("late_positions")
            return forward(self, positions.clamp(max=255), *arguments, **named)

        return replaced

    for name in ("forward_native", "forward_cuda", "forward_cpu"):
        setattr(Rotary, name, bounded(getattr(Rotary, name)))


def prefix_by_content() -> None:
    """Look up pages in the cache by their content, ignoring the text before them."""
    from vllm.v1.core import kv_cache_utils

    hashed = kv_cache_utils.hash_block_tokens

    def replaced(function: t.Any, parent: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("prefix_by_content")
        return hashed(function, None, *arguments, **named)

    kv_cache_utils.hash_block_tokens = replaced


def seed_ignored() -> None:
    """Ignore the random generators that seeds set."""
    from vllm.v1.sample.ops import topk_topp_sampler

    draw = topk_topp_sampler.random_sample

    def replaced(scores: t.Any, _generators: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("seed_ignored")
        return draw(scores, {}, *arguments, **named)

    topk_topp_sampler.random_sample = replaced
    # The CPU uses another function.
    sampler = topk_topp_sampler.TopKTopPSampler
    on_cpu = sampler.forward_cpu

    @functools.wraps(on_cpu)
    def without(self: t.Any, scores: t.Any, _generators: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("seed_ignored")
        return on_cpu(self, scores, {}, *arguments, **named)

    sampler.forward_cpu = without


def half_temperature() -> None:
    """Divide scores by the square root of the temperature."""
    from vllm.v1.sample.sampler import Sampler

    divide = Sampler.apply_temperature

    def replaced(scores: t.Any, temperature: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("half_temperature")
        return divide(scores, temperature**0.5, *arguments, **named)

    Sampler.apply_temperature = staticmethod(replaced)


def drafts_unverified() -> None:
    """Accept every draft of speculative decoding."""
    from vllm.v1.sample import rejection_sampler

    verify = rejection_sampler.rejection_sample

    def replaced(drafts: t.Any, counts: t.Sequence[int], *arguments: t.Any, **named: t.Any) -> t.Any:
        accepted, begin = verify(drafts, counts, *arguments, **named), 0
        for row, count in enumerate(counts):
            if count:
                _reached("drafts_unverified")
                accepted[row, :count] = drafts[begin : begin + count].to(accepted.dtype)
            begin += count
        return accepted

    rejection_sampler.rejection_sample = replaced


FAULTS = (
    attention_scale, neighbours_page, late_positions, prefix_by_content, seed_ignored, half_temperature,
    drafts_unverified,
)  # fmt: skip


def plant() -> None:
    """Plant the fault that SPARKFORGE_FAULT names. vLLM calls this function."""
    name = os.environ.get("SPARKFORGE_FAULT", "")
    for fault in FAULTS:
        if fault.__name__ == name:
            fault()
