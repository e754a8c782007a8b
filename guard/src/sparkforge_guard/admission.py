"""Admission: estimate the memory that a command needs, and decide whether it may start on this machine.

The calculation is shown line by line. Swap does not count, because the GPU's memory cannot be swapped. Clean page cache
counts, but an engine that queries CUDA sees only free pages, so the cache is dropped for it first. If the GPU has its
own memory, only that memory counts.
"""

from __future__ import annotations

import os
import re
import typing as t

from . import models, nvml
from ._shared.module_utils._core.errors import SparkforgeError
from .host import GIB, Host, Memory, Process, gib

#: The share of memory to leave for the system: below it, the guard warns (watch.Levels).
RESERVE = 0.10
#: The memory that an additional compile job needs at run time, the same as in a build.
JOB = 4 * GIB
#: The memory that each engine uses besides weights and KV cache: for its CUDA context with kernels, and its processes.
#: The values for torch and vLLM were fitted (docs/evidence/guard.md); the others are assumptions.
OUTSIDE = {"vllm": int(3.2 * GIB), "sglang": 6 * GIB, "llama.cpp": 1 * GIB, "torch": int(1.2 * GIB)}
#: The memory for compiled code and CUDA graphs, also fitted.
COMPILED = GIB
#: The ratio of torch's allocated memory to the size of the activations, fitted to 12 pairs (docs/evidence/guard.md).
SLACK = 1.25
EIGHT_BITS = ("F8_E4M3", "F8_E5M2", "I8", "U8")
#: The option that sets the share of all memory that an engine reserves at startup, and its default. vLLM's default is
#: from its source (vllm/config/cache.py, 0.25.1 and 0.33.0); SGLang's is an assumption.
SHARES = {"vllm": ("--gpu-memory-utilization", 0.92), "sglang": ("--mem-fraction-static", 0.88)}
#: Bytes per weight, including its scales, for each method that vLLM uses to convert 16-bit weights while loading
#: (--quantization; vllm/config/quantization.py in 0.33.0). Methods that convert only experts are left out; all others
#: need weights that are stored in their format.
ONLINE = {
    "fp8": 1.0, "fp8_per_tensor": 1.0, "fp8_per_block": 1.0, "fp8_per_channel": 1.0, "mxfp8": 1 + 1 / 32,
    "mxfp4": 0.5 + 1 / 32,
}  # fmt: skip
START, DROP, PROPOSE, REFUSE = "start", "drop", "propose", "refuse"
#: Proposed lengths are multiples of STEP, and at least SHORTEST.
STEP, SHORTEST = 1024, 2048
LENGTH = {"vllm": "--max-model-len", "sglang": "--context-length", "llama.cpp": "-c", "torch": "--max-length"}


class Part(t.NamedTuple):
    """A line of the calculation."""

    label: str
    size: int
    how: str


class Demand(t.NamedTuple):
    """The memory that a command needs; ``pool`` is the part that its engine reserves at startup, or 0."""

    engine: str
    parts: tuple[Part, ...]
    pool: int
    #: The memory that has to fit: weights, activations, and the cache for ``length`` tokens.
    least: int
    length: int
    #: Returns the bytes of the KV cache for a length.
    cache: t.Callable[[int], int]
    #: The parts inside the pool.
    within: tuple[Part, ...] = ()

    @property
    def total(self) -> int:
        """The size of all parts in bytes."""
        return sum(part.size for part in self.parts)


class Verdict(t.NamedTuple):
    """Whether a command may start. ``proposal`` holds arguments that would fit, ``jobs`` the number of compile jobs."""

    answer: str
    demand: Demand
    memory: Memory
    lines: tuple[str, ...]
    proposal: tuple[str, ...]
    jobs: int
    holders: tuple[Process, ...] = ()


class Options:
    """The options on a command line, spelled with hyphens or underscores."""

    def __init__(self, arguments: t.Sequence[str]) -> None:
        self.arguments = list(arguments)

    def value(self, *names: str) -> str:
        """Return the last value of any of these options, or ''."""
        latest = ""
        for index, word in enumerate(self.arguments):
            name, equals, value = word.partition("=")
            if name.replace("_", "-") in names:
                latest = value if equals else "".join(self.arguments[index + 1 : index + 2])
        return latest

    def has(self, *names: str) -> bool:
        """Tell whether any of these flags is set."""
        return any(word.replace("_", "-") in names for word in self.arguments)

    def number(self, usual: float, *names: str) -> float:
        """Return the value of an option as a number; ``4k`` is 4000 and ``4K`` 4096, as in vLLM.

        :raises SparkforgeError: if the value is not a number.
        """
        text = self.value(*names)
        if not text or text == "auto":
            return usual
        match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([kKmMgG]?)", text)
        if not match:
            raise SparkforgeError(f"{names[0]} takes a number, not {text[:80]!r}.", "Correct the command.")
        return float(match[1]) * {"": 1, "k": 1000, "K": 1024, "m": 1e6, "M": 1 << 20, "g": 1e9, "G": GIB}[match[2]]


def size_of(text: str) -> int:
    """Convert a size such as ``40G`` (GiB) to bytes.

    :raises SparkforgeError: if the text is not a size.
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*([MGT])i?B?", text)
    if not match:
        raise SparkforgeError(f"{text[:80]!r} is not a size.", "Write a size in GiB, such as 40G.")
    return int(float(match[1]) * {"M": 1 << 20, "G": GIB, "T": 1 << 40}[match[2]])


def engine_of(command: t.Sequence[str]) -> str:
    """Return the engine that a command starts, or ''."""
    for word in command[:8]:
        name = os.path.basename(word)
        if name == "vllm" or word.startswith("vllm."):
            return "vllm"
        if name == "sglang" or word.startswith("sglang."):
            return "sglang"
        if name in ("llama-server", "llama-cli", "llama-bench", "llama-run"):
            return "llama.cpp"
    python = re.match(r"(python[\d.]*|torchrun|accelerate)$", os.path.basename(command[0])) if command else None
    return "torch" if python and Options(command).value("--model", "--model-path", "--model-name-or-path") else ""


def model_of(engine: str, command: t.Sequence[str]) -> str:
    """Return the path of the model that a command loads."""
    options = Options(command)
    if engine == "llama.cpp":
        return options.value("-m", "--model")
    named = options.value("--model", "--model-path", "--model-name-or-path")
    if not named and engine == "vllm" and "serve" in command:
        after = command[list(command).index("serve") + 1 :]
        named = after[0] if after and not after[0].startswith("-") else ""
    return named


def demand(command: t.Sequence[str], needs: str, total: int, model: models.Model | None = None) -> Demand:
    """Return the memory that a command needs.

    :param needs: a size that the user declares; it replaces the estimate.
    :param total: the memory of the device; on a Spark that is the host's memory.
    :raises SparkforgeError: if no size can be estimated, or the model's files are invalid.
    """
    if needs:
        size = size_of(needs)
        return Demand("", (Part("the command", size, f"--needs {needs}"),), 0, size, 0, lambda _: 0)
    engine = engine_of(command)
    if not engine:
        name = os.path.basename(command[0]) if command else "an empty command"
        known = "only vllm, sglang, llama-server, and Python with --model are known"
        raise models.unknown(f"The memory that {name} takes is unknown: {known}.")
    if model is None:
        path = model_of(engine, command)
        if not path:
            raise models.unknown("The command names no model.")
        model = models.read(os.path.realpath(os.path.expanduser(path)))
    return _demand(engine, Options(command), model, total)


def _demand(engine: str, options: Options, model: models.Model, total: int) -> Demand:
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
    # All sequences of llama.cpp share one context.
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
        # SGLang's share covers only weights and cache.
        within = tuple(lines if engine == "vllm" else lines[:2])
        least = sum(part.size for part in within)
        lines = [Part("the engine's share", pool, f"{share:g} of {gib(total)}, filled at once"), *lines[len(within) :]]
    lines.append(Part("context and processes", OUTSIDE[engine], f"{engine}: CUDA's context, its processes"))
    if engine in ("vllm", "sglang") and not options.has("--enforce-eager", "--disable-cuda-graph"):
        lines.append(Part("compile jobs", COMPILED, "torch.compile, and CUDA graphs"))
    return Demand(engine, tuple(lines), pool, least, length, cached, within)


def _weights(engine: str, options: Options, model: models.Model) -> tuple[int, str]:
    """Return the size of the weights in bytes as the engine stores them, and the formula."""
    shown = ", ".join(f"{kind} {gib(part)}" for kind, part in sorted(model.weights.items()))
    method = options.value("--quantization", "-q")
    if engine != "vllm" or method not in ONLINE or not model.linear:
        return model.total, shown
    stored, numbers = model.linear
    kept = int(numbers * ONLINE[method])
    return model.total - stored + kept, f"{shown}; {gib(stored)} of it becomes {gib(kept)} by {method}"


def _activations(
    engine: str, options: Options, model: models.Model, tokens: int, length: int, batch: int
) -> tuple[int, str]:
    """Return the size of the activations for ``tokens`` tokens in bytes, and the formula."""
    if engine == "llama.cpp":
        # One buffer serves every step, so the largest counts: that of the scores over the vocabulary, or over the
        # context.
        largest, formula = model.vocabulary + 2 * model.hidden, f"{model.vocabulary} + 2 x {model.hidden}"
        each = length * (model.heads + 1) + 5 * model.hidden + model.width
        if options.value("-fa", "--flash-attn") in ("off", "0") and each > largest:
            largest, formula = each, f"{length} x {model.heads + 1} + 5 x {model.hidden} + {model.width}"
        return 4 * tokens * largest, f"{tokens} tokens x ({formula}) x 4 bytes"
    size = int(SLACK * tokens * (3 * model.inner + 5 * model.hidden) * model.size)
    how = f"{SLACK:g} x {tokens} tokens x (3 x {model.inner} + 5 x {model.hidden}) x {model.size} bytes"
    if model.weights and max(model.weights, key=lambda kind: model.weights[kind]) in EIGHT_BITS and engine == "torch":
        size += model.largest * model.size
        how += f", and a copy of the largest tensor in {8 * model.size} bits"
    size += 2 * 4 * model.vocabulary * (256 if engine in ("vllm", "sglang") else batch)
    return size, f"{how}, and the scores"


def plan(requested: Demand, memory: Memory, holders: t.Sequence[Process] = (), cores: int = 1) -> Verdict:
    """Decide whether a command may start.

    :param holders: the processes that currently hold GPU memory.
    """
    reserve = int(memory.total * RESERVE)
    room = memory.available - reserve
    free = room - memory.cached
    lines = [f"{part.label:<22}{gib(part.size):>11}   {part.how}" for part in requested.parts]
    lines[1:1] = [f"  of it {part.label:<14}{gib(part.size):>11}   {part.how}" for part in requested.within]
    lines.append(f"{'it takes':<22}{gib(requested.total):>11}")
    lines.append(
        f"{'available':<22}{gib(memory.available):>11}   of {gib(memory.total)}, {gib(memory.cached)} of it page cache"
    )
    lines.append(
        f"{'for the system':<22}{gib(reserve):>11}   {RESERVE:.0%}; swap does not count, the GPU cannot use it"
    )
    lines += [
        f"{'held on the GPU':<22}{gib(user.gpu):>11}   {user.name} (process {user.pid}, {user.unit or 'no unit'})"
        for user in holders
    ]
    jobs = max(1, min(cores, 1 + (room - requested.total) // JOB))
    fits = requested.least <= requested.pool if requested.pool else True
    if requested.total <= room and fits:
        answer = START if requested.total <= free or not memory.cached else DROP
        return Verdict(answer, requested, memory, tuple(lines), (), jobs, tuple(holders))
    proposal = propose(requested, room, memory.total) if requested.engine else ()
    return Verdict(PROPOSE if proposal else REFUSE, requested, memory, tuple(lines), proposal, jobs, tuple(holders))


def propose(requested: Demand, room: int, total: int) -> tuple[str, ...]:
    """Return arguments that would make a command fit, or ()."""
    pool = room - (requested.total - (requested.pool or requested.least))
    arguments: tuple[str, ...] = ()
    if requested.pool:
        share = int(100 * pool / total) / 100
        pool = int(share * total)
        arguments = (SHARES[requested.engine][0], f"{share:g}")
    fixed, length = requested.least - requested.cache(requested.length), requested.length
    if requested.least > pool:
        length = length // STEP * STEP
        while length and fixed + requested.cache(length) > pool:
            length -= STEP
        if length < SHORTEST:
            return ()
        arguments = (LENGTH[requested.engine], str(length), *arguments)
    return arguments


def of_device(memory: Memory, devices: t.Sequence[nvml.Device]) -> Memory:
    """Return the GPU's memory: the host's on a Spark, elsewhere that of the device with the least free memory."""
    own = [device["memory"] for device in devices if device.get("memory")]
    if not own:
        return memory
    total, free = min(own, key=lambda sizes: int(sizes[1]))
    return memory._replace(total=total, available=free, cached=0, dirty=0, unaccounted=total - free)


def admit(command: t.Sequence[str], needs: str = "", releases: str = "") -> Verdict:
    """Return the verdict for a command on this machine.

    :param releases: a unit that will be stopped first, so that its memory counts as available.
    :raises UnknownError: if the command's memory cannot be estimated.
    :raises SparkforgeError: if the command does not fit, or the model's files are invalid.
    """
    host, device = Host(), nvml.connect()
    memory = of_device(host.memory(), device.devices() if device is not None else ())
    requested = demand(command, needs, memory.total)
    held = device.processes() if device is not None else {}
    swapped = memory.swap_total > memory.swap_free
    if releases:
        ending = [process for process in host.processes(held, swapped).values() if process.unit == releases]
        held = {pid: size for pid, size in held.items() if pid not in {process.pid for process in ending}}
        released = sum(process.held for process in ending)
        memory = memory._replace(available=min(memory.total, memory.available + released))
    users = [host.process(pid, held, swapped) for pid in held]
    holders = sorted((process for process in users if process is not None), key=lambda process: -process.gpu)
    verdict = plan(requested, memory, holders, len(os.sched_getaffinity(0)))
    if verdict.answer in (PROPOSE, REFUSE):
        raise refusal(verdict)
    return verdict


def refusal(verdict: Verdict) -> SparkforgeError:
    """Return the error for a command that does not fit, with its remedy."""
    room = verdict.memory.available - int(verdict.memory.total * RESERVE)
    lines, total = list(verdict.lines), gib(verdict.demand.total)
    cause = f"The command takes {total}, and {gib(max(0, room))} is free for it."
    if verdict.proposal:
        fits, proposal = f"Add {' '.join(verdict.proposal)} to the command; then it fits.", list(verdict.proposal)
        return SparkforgeError(cause, fits, said=lines, proposal=proposal)
    remedy = "Use a smaller model, or this model with fewer bits per weight."
    if verdict.holders:
        holder = verdict.holders[0]
        remedy = f"Stop {holder.name} (process {holder.pid}), which holds {gib(holder.gpu)}, or use a smaller model."
    return SparkforgeError(cause, remedy, said=lines)


def drop_caches(model_path: str) -> str:
    """Drop the clean page cache as root, else that of the model's files; return a description of the dropped cache."""
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as stream:
            stream.write("1")
        return "the page cache"
    except OSError:
        pass
    done = 0
    paths = (
        [model_path]
        if os.path.isfile(model_path)
        else [os.path.join(model_path, name) for name in os.listdir(model_path)]
    )
    for path in paths:
        if os.path.isfile(path):
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
            done += 1
    return f"the page cache of {done} files of the model"
