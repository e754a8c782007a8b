"""The reference: the model in float32, computed with transformers, and the noise of the served format."""

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

#: By position in a text, the tokens whose log-probabilities are needed.
TokensAt = t.Mapping[int, t.Collection[int]]

#: The number of computations with the format's rounding, whose noise determines the bound.
TRIALS = 4
#: The maximum number of positions compared in a text: around page boundaries, at the end, and some in between.
POSITIONS = 256
#: The maximum number of scores in a batch: the positions in all its texts times the vocabulary.
MOST_SCORES = 50_000_000
#: Models with fewer weights use one thread, because on busy cores each small step waits for the slowest thread.
SMALL_MODEL = 50_000_000
#: The maximum size of config.json in bytes. The largest ones list each layer that is not quantised and take 0.5 MB.
LONGEST_CONFIG = 4 << 20
#: The formats by their names in config.json.
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "bf16"}
_METHODS = {"fp8": "fp8", "mxfp4": "mxfp4", "modelopt_fp4": "nvfp4", "nvfp4": "nvfp4", "modelopt": "fp8"}


@dataclasses.dataclass
class Position:
    """The reference's results at a position.

    :ivar logprobs: the log-probabilities of the requested tokens.
    :ivar sigma: the format's noise in a log-probability: the root mean square over all tokens and trials.
    :ivar moments: the mean and variance of a drawn token's log-probability, and its mean if drawn in the format.
    """

    logprobs: dict[int, float]
    sigma: float
    moments: tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class Folder:
    """A directory with a model, or a GGUF file.

    :ivar format: the format of the weights according to the configuration.
    :ivar stored: whether the weights are stored quantised, so that only activations are quantised when the model runs.
    """

    path: str
    gguf: str
    format: str
    stored: bool
    vocabulary: int
    context: int


def locate(model: str) -> str:
    """Return a model's directory; for the name of a model on the hub, the directory in the Hugging Face cache."""
    if os.path.exists(model) or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return model
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache/huggingface")
    cached = os.path.join(
        os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"), f"models--{model.replace('/', '--')}"
    )
    try:
        with open(os.path.join(cached, "refs/main"), encoding="ascii") as stream:
            return os.path.join(cached, "snapshots", stream.read().strip())
    except (OSError, UnicodeDecodeError):
        return model


def folder(path: str) -> Folder:
    """Read the configuration of a model.

    :raises SparkforgeError: if the directory has no model, no weights or no tokenizer, or an unknown format.
    """
    if path.endswith(".gguf"):
        if not os.path.isfile(path):
            raise SparkforgeError(f"There is no file {path}.", "Name the file or the directory of the model.")
        return Folder(os.path.dirname(path) or ".", os.path.basename(path), "bf16", True, 0, 0)
    try:
        with disk.open_regular(os.path.join(path, "config.json"), links=True) as stream:
            config = json.loads(stream.read(LONGEST_CONFIG))
        text = config.get("text_config") or config
        scheme = config.get("quantization_config") or {}
        method = str(scheme.get("quant_algo") or scheme.get("format") or scheme.get("quant_method") or "").lower()
        vocabulary, context = (int(text.get(name) or 0) for name in ("vocab_size", "max_position_embeddings"))
        if vocabulary < 0 or context < 0:
            raise ValueError("it has a size below 0")
    except OSError as error:
        raise SparkforgeError(
            f"{path} is not a model's directory: config.json cannot be read ({error.strerror}).",
            "Name the directory that the server loads: with config.json and *.safetensors.",
        ) from None
    except (ValueError, RecursionError, TypeError, AttributeError, OverflowError) as error:
        raise SparkforgeError(f"{path}/config.json is damaged: {error}.", "Download the model again.") from None
    names = os.listdir(path)
    weights = [name for name in names if name.endswith(".safetensors")]
    if not weights:
        pickles = any(name.endswith((".bin", ".pt", ".pth")) for name in names)
        kind = "only pickle files, which run code when they are loaded" if pickles else "no weights"
        raise SparkforgeError(f"{path} has {kind}.", "Name a directory with *.safetensors.")
    if not {"tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json"} & set(names):
        raise SparkforgeError(f"{path} has no tokenizer.", "Download the model's tokenizer.json as well.")
    is_fp4 = method.endswith("fp4")
    form = next((form for name, form in _METHODS.items() if name in method or (is_fp4 and form == "nvfp4")), "")
    if "quantization_config" in config and not form:
        raise SparkforgeError(
            f"The weights of {path} have an unknown quantisation ({method or 'unnamed'}).",
            "Use --format with the nearest of: fp32, fp16, bf16, fp8, nvfp4, mxfp4.",
        )
    dtype = str(config.get("dtype") or config.get("torch_dtype") or text.get("dtype") or "bfloat16")
    return Folder(path, "", form or _DTYPES.get(dtype, "bf16"), bool(form), vocabulary, context)


class Reference:
    """The model in float32.

    :param form: the format in which the server computes.
    :param device: ``cpu`` or ``cuda``.
    """

    def __init__(self, source: Folder, form: Format, device: str) -> None:
        import torch
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self.form = form
        options = {"gguf_file": source.gguf} if source.gguf else {}
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(
                source.path, local_files_only=True, trust_remote_code=False, **options
            )
        except Exception as error:
            raise _load_error(source, "tokenizer", error) from None
        _check_memory(source, device)
        try:
            config = transformers.AutoConfig.from_pretrained(source.path, local_files_only=True, **options)
            self.model = (
                transformers.AutoModelForCausalLM.from_pretrained(
                    source.path,
                    dtype="float32",
                    attn_implementation="eager",
                    local_files_only=True,
                    trust_remote_code=False,
                    use_safetensors=None if source.gguf else True,
                    **_dequantise_options(config),
                    **options,
                )
                .to(device)
                .eval()
            )
        except Exception as error:
            raise _load_error(source, "model", error) from None
        if device == "cpu" and self.model.num_parameters() < SMALL_MODEL:
            torch.set_num_threads(1)
        self.vocabulary = int(self.model.get_input_embeddings().weight.shape[0])
        if max(self.tokenizer.get_vocab().values()) >= self.vocabulary and len(self.tokenizer) > self.vocabulary + 256:
            raise SparkforgeError(
                f"The tokenizer of {source.path} belongs to another model: it has {len(self.tokenizer)} tokens, and the"
                f" weights have {self.vocabulary}.",
                "Download the model again, with its tokenizer.",
            )

    def token_ids(self) -> list[int]:
        """Return the ids of all tokens except special ones."""
        special = {*self.tokenizer.all_special_ids, *self.tokenizer.added_tokens_decoder}
        ids = sorted(self.tokenizer.get_vocab().values())
        return [id_ for id_ in ids if id_ not in special and id_ < self.vocabulary]

    def end_tokens(self) -> set[int]:
        """Return the ids of the tokens that end a text."""
        ids = getattr(getattr(self.model, "generation_config", None), "eos_token_id", None)
        ids = self.tokenizer.eos_token_id if ids is None else ids
        return {int(id_) for id_ in (ids if isinstance(ids, (list, tuple)) else [ids]) if id_ is not None}

    def neutral_penalties(self) -> dict[str, float]:
        """Return the options that undo the penalties in the model's generation_config.json."""
        defaults = getattr(self.model, "generation_config", None)
        neutral = {"repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
        return {name: value for name, value in neutral.items() if (getattr(defaults, name, None) or value) != value}

    def score(
        self, asked: t.Sequence[tuple[Ids, TokensAt]], trials: int = TRIALS, drawn: float = 0
    ) -> list[dict[int, Position]]:
        """Return the reference's scores for the given token positions in each text.

        :param asked: each text with the tokens to score by position; position 3 is the fourth token.
        :param trials: the number of computations with the format's rounding; if it is 0, so is sigma.
        :param drawn: the temperature at which the tokens were drawn, if they were.
        """
        scores: list[dict[int, Position]] = [{} for _ in asked]
        for group in self._groups([len(ids) if tokens else 0 for ids, tokens in asked]):
            rows = [(number, position) for number in group for position in sorted(asked[number][1])]
            exact, sigma, moments = self._computed([asked[number][0] for number in group], rows, group, trials, drawn)
            for row, (number, position) in enumerate(rows):
                logprobs = {
                    id_: float(exact[row][id_]) for id_ in asked[number][1][position] if 0 <= id_ < len(exact[row])
                }
                scores[number][position] = Position(logprobs, float(sigma[row]), tuple(moments[row].tolist()))
        return scores

    def _groups(self, lengths: t.Sequence[int]) -> t.Iterator[list[int]]:
        """Yield batches as lists of text indices; a batch padded to one length must fit into memory."""
        group: list[int] = []
        for number in sorted((index for index, length in enumerate(lengths) if length), key=lengths.__getitem__):
            size = (len(group) + 1) * lengths[number]
            if group and (
                size * self.vocabulary > MOST_SCORES or size > 8192 or lengths[number] > 2 * lengths[group[0]] + 32
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
        # A token's score does not depend on later tokens, so padding needs no mask.
        batch = torch.tensor([[*ids, *[ids[0]] * (longest - len(ids))] for ids in texts], device=self.model.device)
        line = torch.tensor([group.index(number) for number, _ in rows])
        column = torch.tensor([position - 1 for _, position in rows])
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


def compared_positions(length: int) -> list[int]:
    """Return the positions to compare in a text."""
    every = range(1, length)
    if len(every) <= POSITIONS:
        return list(every)
    near = [position for position in every if position % 16 in (0, 1, 15)]
    step = max(1, len(near) // (POSITIONS - 64))
    between = [every[number * len(every) // 32] for number in range(32)]
    return sorted({*near[::step], *between, *every[-32:]})


def _dequantise_options(config: t.Any) -> dict[str, t.Any]:
    """Return the options that make transformers convert stored 8-bit or 4-bit weights to float32."""
    import transformers

    scheme = getattr(config, "quantization_config", None)
    if not scheme:
        return {}
    method = str((scheme if isinstance(scheme, dict) else vars(scheme)).get("quant_method"))
    kind = {"mxfp4": "Mxfp4Config", "fp8": "FineGrainedFP8Config"}.get(method)
    if kind and hasattr(transformers, kind):
        return {"quantization_config": getattr(transformers, kind)(dequantize=True)}
    if method == "compressed-tensors":
        return {"quantization_config": transformers.CompressedTensorsConfig(run_compressed=False)}
    return {}


def _check_memory(source: Folder, device: str) -> None:
    """Refuse a model that does not fit into free memory, because the host that serves it must not run out of memory."""
    from ..checks.data.tensors import available_memory

    names = [source.gguf] if source.gguf else [n for n in os.listdir(source.path) if n.endswith(".safetensors")]
    size = sum(os.path.getsize(os.path.join(source.path, name)) for name in names)
    # float32 needs 2 times the memory of 16-bit weights, 4 times that of 8 bits, and 7 times that of scaled 4 bits.
    needed = size * {"fp8": 4, "nvfp4": 7, "mxfp4": 7}.get(source.format if source.stored else "", 2)
    free = available_memory(device)
    # Linux may not report the host's memory, but a GPU without free memory has none.
    if needed > free and (free or device != "cpu"):
        raise SparkforgeError(
            f"The reference in float32 needs about {needed / 1e9:.0f} GB of memory, and {free / 1e9:.0f} GB are free.",
            "Prove a smaller model with the same engine and settings, or compute on a host with more memory.",
        )


def _load_error(source: Folder, part: str, error: Exception) -> SparkforgeError:
    message = (str(error).strip() or type(error).__name__).splitlines()[0][:300].rstrip(".")
    return SparkforgeError(
        f"transformers cannot load the {part} of {source.path}: {message}.",
        "Get the model again, or use an environment whose transformers knows it.",
    )
