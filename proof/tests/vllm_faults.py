"""Faults that are planted into vLLM: a plugin of its own kind, which vLLM loads into each of its processes.

The variable SPARKFORGE_FAULT names the fault. What is replaced says so on standard error when it first computes, so
that a fault that was never reached is told from one that was missed. Written against 0.25.1's first model runner.
"""

import functools
import os
import sys
import typing as t

_SAID: set[str] = set()


def _reached(name: str) -> None:
    if name not in _SAID:
        _SAID.add(name)
        print(f"PLANTED {name}", file=sys.stderr, flush=True)


def attention_scale() -> None:
    """Attention's scores are a tenth too large."""
    from vllm.v1.attention.backends.flash_attn import FlashAttentionImpl as Attention

    begin = Attention.__init__

    @functools.wraps(begin)
    def replaced(self: t.Any, *arguments: t.Any, **named: t.Any) -> None:
        begin(self, *arguments, **named)
        self.scale *= 1.1
        _reached("attention_scale")

    Attention.__init__ = replaced


def neighbours_page() -> None:
    """In a batch, a text reads the first page of its neighbour."""
    from vllm.v1.attention.backends.flash_attn import FlashAttentionImpl as Attention

    forward = Attention.forward

    @functools.wraps(forward)
    def replaced(self: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        found = next((one for one in (*arguments, *named.values()) if hasattr(one, "block_table")), None)
        if found is None or found.block_table.shape[0] < 2:
            return forward(self, *arguments, **named)
        own = found.block_table
        found.block_table = own.clone()
        found.block_table[1:, 0] = own[:-1, 0]
        _reached("neighbours_page")
        try:
            return forward(self, *arguments, **named)
        finally:
            found.block_table = own

    Attention.forward = replaced


def late_positions() -> None:
    """Rotary positions end at 255."""
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
    """A page is found again by what is in it, whatever was before it."""
    from vllm.v1.core import kv_cache_utils

    hashed = kv_cache_utils.hash_block_tokens

    def replaced(function: t.Any, parent: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("prefix_by_content")
        return hashed(function, None, *arguments, **named)

    kv_cache_utils.hash_block_tokens = replaced


def seed_ignored() -> None:
    """The generators that seeds make are not used."""
    from vllm.v1.sample.ops import topk_topp_sampler

    draw = topk_topp_sampler.random_sample

    def replaced(scores: t.Any, _generators: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("seed_ignored")
        return draw(scores, {}, *arguments, **named)

    topk_topp_sampler.random_sample = replaced
    # The CPU's way does not come by there.
    sampler = topk_topp_sampler.TopKTopPSampler
    on_cpu = sampler.forward_cpu

    @functools.wraps(on_cpu)
    def without(self: t.Any, scores: t.Any, _generators: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("seed_ignored")
        return on_cpu(self, scores, {}, *arguments, **named)

    sampler.forward_cpu = without


def half_temperature() -> None:
    """Scores are divided by the square root of the temperature."""
    from vllm.v1.sample.sampler import Sampler

    divide = Sampler.apply_temperature

    def replaced(scores: t.Any, temperature: t.Any, *arguments: t.Any, **named: t.Any) -> t.Any:
        _reached("half_temperature")
        return divide(scores, temperature**0.5, *arguments, **named)

    Sampler.apply_temperature = staticmethod(replaced)


def drafts_unverified() -> None:
    """Speculative decoding accepts every draft."""
    from vllm.v1.sample import rejection_sampler

    verify = rejection_sampler.rejection_sample

    def replaced(drafts: t.Any, counts: t.Sequence[int], *arguments: t.Any, **named: t.Any) -> t.Any:
        found, begin = verify(drafts, counts, *arguments, **named), 0
        for row, count in enumerate(counts):
            if count:
                _reached("drafts_unverified")
                found[row, :count] = drafts[begin : begin + count].to(found.dtype)
            begin += count
        return found

    rejection_sampler.rejection_sample = replaced


FAULTS = (
    attention_scale, neighbours_page, late_positions, prefix_by_content, seed_ignored, half_temperature,
    drafts_unverified,
)  # fmt: skip


def plant() -> None:
    """Plant what the variable names; vLLM calls this."""
    name = os.environ.get("SPARKFORGE_FAULT", "")
    for fault in FAULTS:
        if fault.__name__ == name:
            fault()
