# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reference: a model's own weights in float32, by transformers' own classes, and how far its format may lead."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import typing as t

from .._shared.module_utils._core import disk
from .._shared.module_utils._core.errors import SparkforgeError
from .texts import Ids

if t.TYPE_CHECKING:
    from .formats import Format

Wanted = t.Mapping[int, t.Collection[int]]

#: Computations of a text with the format's rounding, from which its bound follows.
TRIALS = 4
#: Positions of a text that are compared: those around the boundaries of pages, the last ones, and some between.
POSITIONS = 256
#: Scores that are computed at once: positions of several texts times the vocabulary.
TOGETHER = 50_000_000
#: Weights up to which one thread computes: where the cores are busy, each small step waits for the slowest thread.
SMALL = 50_000_000
#: Bytes that are read of config.json; the largest list each layer that is not quantised, 0.5 MB.
LONGEST_CONFIG = 4 << 20
#: Formats by what config.json says of its weights.
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "bf16"}
_METHODS = {"fp8": "fp8", "mxfp4": "mxfp4", "modelopt_fp4": "nvfp4", "nvfp4": "nvfp4", "modelopt": "fp8"}


@dataclasses.dataclass
class Position:
    """What the reference says of one position.

    :ivar logprobs: of the tokens that were asked for.
    :ivar sigma: by how much the format moves a log-probability there, root mean square over all tokens and trials.
    :ivar moments: mean and variance of a drawn token's log-probability, and the mean where it is drawn in the format.
    """

    logprobs: dict[int, float]
    sigma: float
    moments: tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class Folder:
    """A directory with a model, or a file of GGUF.

    :ivar format: what its configuration says of its weights.
    :ivar stored: its weights are kept in that format, so that only activations are quantised.
    """

    path: str
    gguf: str
    format: str
    stored: bool
    vocabulary: int
    context: int


def place(model: str) -> str:
    """Return the directory of a model; of one that is named as on the hub, where the hub's client keeps it."""
    if os.path.exists(model) or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return model
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache/huggingface")
    kept = os.path.join(
        os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"), f"models--{model.replace('/', '--')}"
    )
    try:
        with open(os.path.join(kept, "refs/main"), encoding="ascii") as stream:
            return os.path.join(kept, "snapshots", stream.read().strip())
    except (OSError, UnicodeDecodeError):
        return model


def folder(path: str) -> Folder:
    """Read what a model's directory says of it.

    :raises SparkforgeError: there is no model, or no weights.
    """
    if path.endswith(".gguf"):
        if not os.path.isfile(path):
            raise SparkforgeError(f"There is no file {path}.", "Name the file or the directory of the model.")
        return Folder(os.path.dirname(path) or ".", os.path.basename(path), "bf16", True, 0, 0)
    try:
        with disk.open_regular(os.path.join(path, "config.json"), links=True) as stream:
            config = json.loads(stream.read(LONGEST_CONFIG))
        text = config.get("text_config") or config
        found = config.get("quantization_config") or {}
        method = str(found.get("quant_algo") or found.get("format") or found.get("quant_method") or "").lower()
        vocabulary, context = (int(text.get(name) or 0) for name in ("vocab_size", "max_position_embeddings"))
        if vocabulary < 0 or context < 0:
            raise ValueError("it has a size below 0")
    except OSError as error:
        raise SparkforgeError(
            f"{path} is no directory of a model: config.json cannot be read ({error.strerror}).",
            "Name the directory that the server loads: with config.json and *.safetensors.",
        ) from None
    except (ValueError, RecursionError, TypeError, AttributeError, OverflowError) as error:
        raise SparkforgeError(f"{path}/config.json is damaged: {error}.", "Get the model again.") from None
    names = os.listdir(path)
    weights = [name for name in names if name.endswith(".safetensors")]
    if not weights:
        pickles = any(name.endswith((".bin", ".pt", ".pth")) for name in names)
        kind = "only pickle files, which run code when they are loaded" if pickles else "no weights"
        raise SparkforgeError(f"{path} has {kind}.", "Name a directory with *.safetensors.")
    if not {"tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json"} & set(names):
        raise SparkforgeError(f"{path} has no tokenizer.", "Get the model's tokenizer.json as well.")
    form = next((one for name, one in _METHODS.items() if name in method or (one, "fp4") == ("nvfp4", method[-3:])), "")
    if "quantization_config" in config and not form:
        raise SparkforgeError(
            f"The weights of {path} are quantised in a way that is not known here ({method or 'unnamed'}).",
            "Use --format with the nearest of: fp32, fp16, bf16, fp8, nvfp4, mxfp4.",
        )
    dtype = str(config.get("dtype") or config.get("torch_dtype") or text.get("dtype") or "bfloat16")
    return Folder(path, "", form or _DTYPES.get(dtype, "bf16"), bool(form), vocabulary, context)


class Reference:
    """The model in float32.

    :param where: its directory or file.
    :param form: what the server computes in.
    :param device: ``cpu`` or ``cuda``.
    """

    def __init__(self, where: Folder, form: Format, device: str) -> None:
        import torch
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self.form = form
        options = {"gguf_file": where.gguf} if where.gguf else {}
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(
                where.path, local_files_only=True, trust_remote_code=False, **options
            )
        except Exception as error:
            raise _of_transformers(where, "tokenizer", error) from None
        _room(where, device)
        try:
            config = transformers.AutoConfig.from_pretrained(where.path, local_files_only=True, **options)
            self.model = (
                transformers.AutoModelForCausalLM.from_pretrained(
                    where.path,
                    dtype="float32",
                    attn_implementation="eager",
                    local_files_only=True,
                    trust_remote_code=False,
                    use_safetensors=None if where.gguf else True,
                    **_dequantised(config),
                    **options,
                )
                .to(device)
                .eval()
            )
        except Exception as error:
            raise _of_transformers(where, "model", error) from None
        if device == "cpu" and self.model.num_parameters() < SMALL:
            torch.set_num_threads(1)
        self.vocabulary = int(self.model.get_input_embeddings().weight.shape[0])
        if max(self.tokenizer.get_vocab().values()) >= self.vocabulary and len(self.tokenizer) > self.vocabulary + 256:
            raise SparkforgeError(
                f"The tokenizer of {where.path} is another model's: it has {len(self.tokenizer)} tokens, and the"
                f" weights have {self.vocabulary}.",
                "Get the model again, with the tokenizer beside it.",
            )

    def words(self) -> list[int]:
        """Return the tokens that a text may be drawn from: neither special nor without a text."""
        special = {*self.tokenizer.all_special_ids, *self.tokenizer.added_tokens_decoder}
        return [
            one for one in sorted(self.tokenizer.get_vocab().values()) if one not in special and one < self.vocabulary
        ]

    def ends(self) -> set[int]:
        """Return the tokens that end a text."""
        named = getattr(getattr(self.model, "generation_config", None), "eos_token_id", None)
        named = self.tokenizer.eos_token_id if named is None else named
        return {int(one) for one in (named if isinstance(named, (list, tuple)) else [named]) if one is not None}

    def defaults(self) -> dict[str, float]:
        """Return what undoes the penalties that the model's generation_config.json asks for."""
        kept = getattr(self.model, "generation_config", None)
        none = {"repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
        return {name: value for name, value in none.items() if (getattr(kept, name, None) or value) != value}

    def score(
        self, asked: t.Sequence[tuple[Ids, Wanted]], trials: int = TRIALS, drawn: float = 0
    ) -> list[dict[int, Position]]:
        """Return what the reference says at positions of texts.

        :param asked: each text and, by position, the tokens whose log-probability is asked for; 3 is the fourth token.
        :param trials: computations with the format's rounding; without any, sigma is 0.
        :param drawn: the temperature at which tokens were drawn, if they were.
        """
        found: list[dict[int, Position]] = [{} for _ in asked]
        for group in self._groups([len(ids) if wanted else 0 for ids, wanted in asked]):
            rows = [(number, place) for number in group for place in sorted(asked[number][1])]
            exact, sigma, moments = self._computed([asked[number][0] for number in group], rows, group, trials, drawn)
            for row, (number, place) in enumerate(rows):
                line = exact[row]
                named = {one: float(line[one]) for one in asked[number][1][place] if 0 <= one < len(line)}
                found[number][place] = Position(named, float(sigma[row]), tuple(moments[row].tolist()))
        return found

    def _groups(self, lengths: t.Sequence[int]) -> t.Iterator[list[int]]:
        """Yield the numbers of texts that are computed at once: padded to one length, they must fit into memory."""
        group: list[int] = []
        for number in sorted((one for one, length in enumerate(lengths) if length), key=lambda one: lengths[one]):
            size = (len(group) + 1) * lengths[number]
            if group and (
                size * self.vocabulary > TOGETHER or size > 8192 or lengths[number] > 2 * lengths[group[0]] + 32
            ):
                yield group
                group = []
            group.append(number)
        if group:
            yield group

    def _computed(
        self,
        texts: t.Sequence[Ids],
        rows: t.Sequence[tuple[int, int]],
        group: t.Sequence[int],
        trials: int,
        drawn: float,
    ) -> tuple[t.Any, t.Any, t.Any]:
        import torch

        from . import formats

        longest = max(map(len, texts))
        # A token does not depend on those after it, so padding needs no mask.
        batch = torch.tensor([[*ids, *[ids[0]] * (longest - len(ids))] for ids in texts], device=self.model.device)
        line = torch.tensor([group.index(number) for number, _ in rows])
        column = torch.tensor([place - 1 for _, place in rows])
        keep = column.to(self.model.device) if len(texts) == 1 else 0

        def logprobs() -> t.Any:
            logits = self.model(input_ids=batch, use_cache=False, logits_to_keep=keep).logits.cpu()
            chosen = logits[0] if len(texts) == 1 else logits[line, column]
            return torch.log_softmax(chosen.double(), -1)

        with torch.no_grad():
            exact = logprobs()
        total = torch.zeros(len(rows), dtype=torch.float64)
        likely = exact > exact.amax(-1, keepdim=True) - 20
        moments = torch.zeros(len(rows), 3, dtype=torch.float64)
        if drawn:
            p = (exact / drawn).softmax(-1)
            mean = (p * exact).nansum(-1)
            moments = torch.stack([mean, (p * (exact - mean[:, None]).square()).nansum(-1), torch.zeros_like(mean)], -1)
        for number in range(trials):
            with formats.trial(self.model, self.form, number):
                tried = logprobs()
            off = tried - exact
            if drawn:
                moments[:, 2] += ((tried / drawn).softmax(-1) * exact).nansum(-1) / trials
            total += (off.square() * likely).nan_to_num().sum(-1) / likely.sum(-1)
        return exact, (total / max(trials, 1)).sqrt(), moments


def places(length: int, first: int = 1) -> list[int]:
    """Return the positions of a text that are compared."""
    every = range(max(first, 1), length)
    if len(every) <= POSITIONS:
        return list(every)
    near = [one for one in every if one % 16 in (0, 1, 15)]
    step = max(1, len(near) // (POSITIONS - 64))
    between = [every[number * len(every) // 32] for number in range(32)]
    return sorted({*near[::step], *between, *every[-32:]})


def _dequantised(config: t.Any) -> dict[str, t.Any]:
    """Return how transformers is told to take stored weights of 8 or 4 bits back to float32."""
    import transformers

    found = getattr(config, "quantization_config", None)
    if not found:
        return {}
    method = str((found if isinstance(found, dict) else vars(found)).get("quant_method"))
    kind = {"mxfp4": "Mxfp4Config", "fp8": "FineGrainedFP8Config"}.get(method)
    if kind and hasattr(transformers, kind):
        return {"quantization_config": getattr(transformers, kind)(dequantize=True)}
    if method == "compressed-tensors":
        return {"quantization_config": transformers.CompressedTensorsConfig(run_compressed=False)}
    return {}


def _room(where: Folder, device: str) -> None:
    """Refuse before memory runs out: the host that serves the model has other things in it."""
    files = [where.gguf] if where.gguf else [one for one in os.listdir(where.path) if one.endswith(".safetensors")]
    size = sum(os.path.getsize(os.path.join(where.path, one)) for one in files)
    # Four bytes a weight: twice what 16 bits take, four times 8 bits, eight times 4 bits.
    needed = size * {"fp8": 4, "nvfp4": 7, "mxfp4": 7}.get(where.format if where.stored else "", 2)
    if device != "cpu":
        import torch

        free = torch.cuda.mem_get_info()[0]
    else:
        try:
            with open("/proc/meminfo", encoding="ascii") as stream:
                free = next(int(line.split()[1]) * 1024 for line in stream if line.startswith("MemAvailable"))
        except (OSError, StopIteration):
            return
    if needed > free:
        raise SparkforgeError(
            f"The reference in float32 needs about {needed / 1e9:.0f} GB of memory, and {free / 1e9:.0f} GB are free.",
            "Prove a smaller model with the same engine and settings, or compute on a host with more memory.",
        )


def _of_transformers(where: Folder, what: str, error: Exception) -> SparkforgeError:
    said = (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(".")
    return SparkforgeError(
        f"transformers cannot load the {what} of {where.path}: {said}.",
        "Get the model again, or use an environment whose transformers knows it.",
    )
