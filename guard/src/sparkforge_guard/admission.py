# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admission: what a command will take of this machine's memory, and whether it may start.

The arithmetic is shown, line by line. What a GPU holds cannot be swapped, so swap does not count; a page cache that is
clean does, but an engine that asks CUDA what is free sees free pages alone, and the cache is dropped for it first.
A GPU with its own memory is judged by that.
"""

from __future__ import annotations

import os
import re
import typing as t

from . import models, nvml
from ._shared.module_utils._core.errors import SparkforgeError
from .host import Host, Memory, Process

GIB = 1 << 30
#: Of all memory, what stays for the system: the guard warns below it (watch.Levels).
RESERVE = 0.10
#: As for a build: one more compiler at run time.
JOB = 4 * GIB
#: What each engine takes beside weights and KV cache: CUDA's context with its kernels, and the processes. Those of
#: torch and vLLM were fitted (docs/evidence/guard.md); those of others are assumptions.
OUTSIDE = {"vllm": int(3.2 * GIB), "sglang": 6 * GIB, "llama.cpp": 1 * GIB, "torch": int(1.2 * GIB)}
#: What compiled code and CUDA graphs take beside that, fitted too.
COMPILED = GIB
#: What torch's allocator takes for activations, of what they are: fitted on 12 pairs, docs/evidence/guard.md.
SLACK = 1.25
EIGHT_BITS = ("F8_E4M3", "F8_E5M2", "I8", "U8")
#: The option by which an engine takes a share of all memory at once, and its default: vLLM's is that of its source
#: (vllm/config/cache.py, 0.25.1 and 0.33.0), SGLang's is an assumption.
SHARES = {"vllm": ("--gpu-memory-utilization", 0.92), "sglang": ("--mem-fraction-static", 0.88)}
#: Bytes of a weight, its scales included, where vLLM converts 16 bits as it loads them (--quantization; 0.33.0's
#: vllm/config/quantization.py). Those that convert experts alone are not here; others need weights that are stored so.
ONLINE = {
    "fp8": 1.0, "fp8_per_tensor": 1.0, "fp8_per_block": 1.0, "fp8_per_channel": 1.0, "mxfp8": 1 + 1 / 32,
    "mxfp4": 0.5 + 1 / 32,
}  # fmt: skip
START, DROP, PROPOSE, REFUSE = "start", "drop", "propose", "refuse"
#: Lengths that are proposed are multiples of it, and no shorter than the other.
STEP, SHORTEST = 1024, 2048
LENGTH = {"vllm": "--max-model-len", "sglang": "--context-length", "llama.cpp": "-c", "torch": "--max-length"}


class Part(t.NamedTuple):
    """One line of the arithmetic."""

    what: str
    size: int
    how: str


class Demand(t.NamedTuple):
    """What a command takes; ``pool`` is the share that the engine takes at once, 0 if it takes only what it needs."""

    engine: str
    parts: tuple[Part, ...]
    pool: int
    #: The contents of that pool, or all of it: weights, activations, and the cache of ``length`` tokens.
    least: int
    length: int
    #: Bytes of the KV cache by its length.
    cache: t.Callable[[int], int]
    #: The first contents of the pool.
    within: tuple[Part, ...] = ()

    @property
    def total(self) -> int:
        """All of it."""
        return sum(part.size for part in self.parts)


class Verdict(t.NamedTuple):
    """Whether a command may start; ``proposal`` has the arguments that fit, ``jobs`` the compilers that do."""

    answer: str
    demand: Demand
    memory: Memory
    said: tuple[str, ...]
    proposal: tuple[str, ...]
    jobs: int
    holders: tuple[Process, ...] = ()


class Words:
    """The options of a command line, whatever their spelling."""

    def __init__(self, words: t.Sequence[str]) -> None:
        self.words = list(words)

    def value(self, *names: str) -> str:
        """Return the value of the last of some options, or an empty text."""
        found = ""
        for index, word in enumerate(self.words):
            name, equals, value = word.partition("=")
            if name.replace("_", "-") in names:
                found = value if equals else self.words[index + 1] if index + 1 < len(self.words) else ""
        return found

    def has(self, *names: str) -> bool:
        """Say whether one of these options is there, which take no value."""
        return any(word.replace("_", "-") in names for word in self.words)

    def number(self, usual: float, *names: str) -> float:
        """Return a number; ``4k`` and ``4K`` are those of vLLM.

        :raises SparkforgeError: it is none.
        """
        text = self.value(*names)
        if not text or text == "auto":
            return usual
        found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([kKmMgG]?)", text)
        if not found:
            raise SparkforgeError(f"{names[0]} {text} is no number.", "Correct the command.")
        return float(found[1]) * {"": 1, "k": 1000, "K": 1024, "m": 1e6, "M": 1 << 20, "g": 1e9, "G": GIB}[found[2]]


def size_of(text: str) -> int:
    """Return bytes of a text such as ``40G`` (GiB).

    :raises SparkforgeError: it is no size.
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([MGT])i?B?", text)
    if not found:
        raise SparkforgeError(f"{text!r} is no size.", "Write it as 40G, in GiB.")
    return int(float(found[1]) * {"M": 1 << 20, "G": GIB, "T": 1 << 40}[found[2]])


def engine_of(words: t.Sequence[str]) -> str:
    """Return which engine a command starts, or an empty text."""
    for word in words[:8]:
        name = os.path.basename(word)
        if name == "vllm" or word.startswith("vllm."):
            return "vllm"
        if name == "sglang" or word.startswith("sglang."):
            return "sglang"
        if name in ("llama-server", "llama-cli", "llama-bench", "llama-run"):
            return "llama.cpp"
    python = re.match(r"(python[\d.]*|torchrun|accelerate)$", os.path.basename(words[0])) if words else None
    return "torch" if python and Words(words).value("--model", "--model-path", "--model-name-or-path") else ""


def model_of(engine: str, words: t.Sequence[str]) -> str:
    """Return the path of the model that a command names."""
    options = Words(words)
    if engine == "llama.cpp":
        return options.value("-m", "--model")
    named = options.value("--model", "--model-path", "--model-name-or-path")
    if not named and engine == "vllm" and "serve" in words:
        after = words[list(words).index("serve") + 1 :]
        named = after[0] if after and not after[0].startswith("-") else ""
    return named


def demand(words: t.Sequence[str], needs: str, total: int, model: models.Model | None = None) -> Demand:
    """Return what a command will take.

    :param needs: what the user says it takes, which counts if it is given.
    :param total: the memory of the device, which on a Spark is the host's.
    :raises SparkforgeError: nobody knows, or the model's files are wrong.
    """
    if needs:
        size = size_of(needs)
        return Demand("", (Part("the command", size, f"--needs {needs}"),), 0, size, 0, lambda _: 0)
    engine = engine_of(words)
    if not engine:
        name = os.path.basename(words[0]) if words else "an empty command"
        known = "known are vllm, sglang, llama-server, and Python with --model"
        raise models.unknown(f"What {name} takes of the memory is unknown: {known}.")
    if model is None:
        path = model_of(engine, words)
        if not path:
            raise models.unknown("The command names no model.")
        model = models.read(os.path.realpath(os.path.expanduser(path)))
    return _demand(engine, Words(words), model, total)


def _demand(engine: str, options: Words, model: models.Model, total: int) -> Demand:
    shards = max(1, int(options.number(1, "--tensor-parallel-size", "-tp", "--tp-size", "--tp")))
    kinds = {"fp8": 1, "fp8-e4m3": 1, "fp8-e5m2": 1, "q8-0": 1.0625, "q4-0": 0.5625, "f16": 2, "bf16": 2, "f32": 4}
    kind = options.value("--kv-cache-dtype", "-ctk", "--cache-type-k").lower().replace("_", "-")
    size = kinds.get(kind, model.size if engine != "llama.cpp" else 2)
    names = ("--max-model-len", "--context-length", "-c", "--ctx-size", "--max-length", "--length")
    length = int(options.number(model.longest or 4096, *names)) or model.longest
    batch = int(options.number(1, "-np", "--parallel", "--batch-size", "--batch"))
    weights, shown = _weights(engine, options, model)
    weights //= shards
    lines = [Part("weights", weights, shown + (f", on {shards} devices" if shards > 1 else ""))]
    # llama.cpp's context is shared by its sequences.
    sequences = 1 if engine in ("vllm", "sglang", "llama.cpp") else batch

    def cached(tokens: int) -> int:
        return model.cache(tokens, sequences, size) // shards

    cache = cached(length)
    layers = f"{model.full} layers" + (f" and {model.sliding} of the last {model.window}" if model.sliding else "")
    lines.append(Part(
        "KV cache", cache, f"{length} tokens x {sequences} x {layers} x {model.width} numbers of {size:g} bytes",
    ))  # fmt: skip
    at_once = ("--max-num-batched-tokens", "--chunked-prefill-size", "-ub", "--ubatch-size")
    tokens = int(options.number({"vllm": 8192, "sglang": 8192, "llama.cpp": 512}.get(engine, length * batch), *at_once))
    active, how = _activations(engine, options, model, tokens, length, batch)
    lines.append(Part("activations", active // shards, how))
    least = sum(part.size for part in lines)
    pool, within = 0, t.cast("tuple[Part, ...]", ())
    if engine in SHARES:
        name, usual = SHARES[engine]
        share = options.number(usual, name)
        pool = int(share * total)
        # SGLang's share is of weights and cache alone.
        within = tuple(lines if engine == "vllm" else lines[:2])
        least = sum(part.size for part in within)
        lines = [Part("the engine's share", pool, f"{share:g} of {gib(total)}, filled at once"), *lines[len(within) :]]
    lines.append(Part("context and processes", OUTSIDE[engine], f"{engine}: CUDA's context, its processes"))
    if engine in ("vllm", "sglang") and not options.has("--enforce-eager", "--disable-cuda-graph"):
        lines.append(Part("compile jobs", COMPILED, "torch.compile, and CUDA graphs"))
    return Demand(engine, tuple(lines), pool, least, length, cached, within)


def _weights(engine: str, options: Words, model: models.Model) -> tuple[int, str]:
    """Return the bytes of the weights as the engine keeps them, and how they are reckoned."""
    shown = ", ".join(f"{kind} {gib(part)}" for kind, part in sorted(model.weights.items()))
    method = options.value("--quantization", "-q")
    if engine != "vllm" or method not in ONLINE or not model.linear:
        return model.total, shown
    stored, numbers = model.linear
    kept = int(numbers * ONLINE[method])
    return model.total - stored + kept, f"{shown}; {gib(stored)} of it becomes {gib(kept)} by {method}"


def _activations(
    engine: str, options: Words, model: models.Model, tokens: int, length: int, batch: int
) -> tuple[int, str]:
    """Return the bytes of what is computed at once of so many tokens, and how they are reckoned."""
    if engine == "llama.cpp":
        # One buffer, as large as the largest step: the scores of all, or each with the whole context.
        largest, what = model.vocabulary + 2 * model.hidden, f"{model.vocabulary} + 2 x {model.hidden}"
        each = length * (model.heads + 1) + 5 * model.hidden + model.width
        if options.value("-fa", "--flash-attn") in ("off", "0") and each > largest:
            largest, what = each, f"{length} x {model.heads + 1} + 5 x {model.hidden} + {model.width}"
        return 4 * tokens * largest, f"{tokens} tokens x ({what}) x 4 bytes"
    size = int(SLACK * tokens * (3 * model.inner + 5 * model.hidden) * model.size)
    how = f"{SLACK:g} x {tokens} tokens x (3 x {model.inner} + 5 x {model.hidden}) x {model.size} bytes"
    if model.weights and max(model.weights, key=lambda kind: model.weights[kind]) in EIGHT_BITS and engine == "torch":
        size += model.largest * model.size
        how += f", and a copy of the largest tensor in {8 * model.size} bits"
    size += 2 * 4 * model.vocabulary * (256 if engine in ("vllm", "sglang") else batch)
    return size, f"{how}, and the scores"


def gib(size: float) -> str:
    """Return a size for a person."""
    return f"{size / GIB:.1f} GiB"


def plan(wanted: Demand, memory: Memory, holders: t.Sequence[Process] = (), cores: int = 1) -> Verdict:
    """Return whether a command may start.

    :param holders: who holds the GPU's memory now.
    """
    reserve = int(memory.total * RESERVE)
    room = memory.available - reserve
    free = room - memory.cached
    lines = [f"{part.what:<22}{gib(part.size):>11}   {part.how}" for part in wanted.parts]
    lines[1:1] = [f"  of it {part.what:<14}{gib(part.size):>11}   {part.how}" for part in wanted.within]
    lines.append(f"{'it takes':<22}{gib(wanted.total):>11}")
    lines.append(
        f"{'available':<22}{gib(memory.available):>11}   of {gib(memory.total)}, {gib(memory.cached)} of it page cache"
    )
    lines.append(
        f"{'for the system':<22}{gib(reserve):>11}   {RESERVE:.0%}; swap does not count, the GPU cannot use it"
    )
    lines += [
        f"{'held by the GPU':<22}{gib(one.gpu):>11}   {one.name} (process {one.pid}, {one.unit or 'no unit'})"
        for one in holders
    ]
    jobs = max(1, min(cores, 1 + (room - wanted.total) // JOB))
    fits = wanted.least <= wanted.pool if wanted.pool else True
    if wanted.total <= room and fits:
        answer = START if wanted.total <= free or not memory.cached else DROP
        return Verdict(answer, wanted, memory, tuple(lines), (), jobs, tuple(holders))
    proposal = propose(wanted, room, memory.total) if wanted.engine else ()
    return Verdict(PROPOSE if proposal else REFUSE, wanted, memory, tuple(lines), proposal, jobs, tuple(holders))


def propose(wanted: Demand, room: int, total: int) -> tuple[str, ...]:
    """Return the arguments with which a command fits, or none."""
    pool = room - (wanted.total - (wanted.pool or wanted.least))
    said: tuple[str, ...] = ()
    if wanted.pool:
        share = int(100 * pool / total) / 100
        pool = int(share * total)
        said = (SHARES[wanted.engine][0], f"{share:g}")
    fixed, length = wanted.least - wanted.cache(wanted.length), wanted.length
    if wanted.least > pool:
        length = length // STEP * STEP
        while length and fixed + wanted.cache(length) > pool:
            length -= STEP
        if length < SHORTEST:
            return ()
        said = (LENGTH[wanted.engine], str(length), *said)
    return said


def of_device(memory: Memory, devices: t.Sequence[nvml.Device]) -> Memory:
    """Return the memory that the GPU has: the host's on a Spark, its own elsewhere, where each device has as much."""
    own = [one["memory"] for one in devices if one.get("memory")]
    if not own:
        return memory
    total, free = min(own, key=lambda one: int(one[1]))
    return memory._replace(total=total, available=free, cached=0, dirty=0, unaccounted=total - free)


def admit(
    words: t.Sequence[str], needs: str = "", recorded: str = "", proc: str = "/proc", releases: str = ""
) -> Verdict:
    """Return how a command may start on this machine.

    :param releases: a unit that will be stopped before, so that what it holds is available.
    :raises UnknownError: nobody can tell what it takes.
    :raises SparkforgeError: it does not fit, or the model's files are wrong.
    """
    host, device = Host(proc), nvml.connect(recorded)
    memory = of_device(host.memory(), device.devices() if device is not None else ())
    engine = "" if needs else engine_of(words)
    path = model_of(engine, words) if engine else ""
    model = models.read(os.path.realpath(os.path.expanduser(path))) if path else None
    wanted = demand(words, needs, memory.total, model)
    held = device.processes() if device is not None else {}
    swapped = memory.swap_total > memory.swap_free
    if releases:
        ending = [one for one in host.processes(held, swapped).values() if one.unit == releases]
        held = {pid: size for pid, size in held.items() if pid not in {one.pid for one in ending}}
        memory = memory._replace(available=min(memory.total, memory.available + sum(one.held for one in ending)))
    found = [host.process(pid, held, swapped) for pid in held]
    holders = sorted((one for one in found if one is not None), key=lambda one: -one.gpu)
    verdict = plan(wanted, memory, holders, len(os.sched_getaffinity(0)))
    if verdict.answer in (PROPOSE, REFUSE):
        raise refusal(verdict)
    return verdict


def refusal(verdict: Verdict) -> SparkforgeError:
    """Return the error for a command that does not fit, with what to do."""
    room = verdict.memory.available - int(verdict.memory.total * RESERVE)
    cause, said = f"This takes {gib(verdict.demand.total)}, and {gib(max(0, room))} can be had.", list(verdict.said)
    if verdict.proposal:
        fits, proposal = f"It fits with {' '.join(verdict.proposal)}.", list(verdict.proposal)
        return SparkforgeError(cause, fits, said=said, proposal=proposal)
    remedy = "Take a smaller model, or one with fewer bits."
    if verdict.holders:
        one = verdict.holders[0]
        remedy = f"End {one.name} (process {one.pid}), which holds {gib(one.gpu)}, or take a smaller model."
    return SparkforgeError(cause, remedy, said=said)


def drop_caches(model_path: str) -> str:
    """Give back page cache: all that is clean if root, else that of the model's files; return what was done."""
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as stream:
            stream.write("1")
        return "the page cache"
    except OSError:
        pass
    done = 0
    places = (
        [model_path]
        if os.path.isfile(model_path)
        else [os.path.join(model_path, name) for name in os.listdir(model_path)]
    )
    for path in places:
        if os.path.isfile(path):
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
            done += 1
    return f"the page cache of {done} files of the model"
