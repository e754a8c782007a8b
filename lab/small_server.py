# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small, correct model server for tests: a Llama that computes with torch as engines do, and can have faults.

It has pages of 16 tokens, chunks of 64, batches, and a prefix cache, and answers ``/v1/completions`` and
``/v1/chat/completions`` in vLLM's format. It needs torch, safetensors and transformers' tokenizer.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server
import json
import queue
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
import torch.nn.functional as f
import transformers

PAGE, CHUNK, TOGETHER = 16, 64, 32
FAULTS = {
    "rope_scaling": "the scaling of rotary positions is ignored",
    "page_off_by_one": "the last token of each full page is read from the page before",
    "neighbours_cache": "in a batch, a text reads the first page of its neighbour",
    "swapped_tokens": "two tokens at the end of a chunk change places",
    "fp8_scale": "weights are quantised to FP8, and one layer's scale is half as large again",
    "context": "of a text only the last 200 tokens are read",
    "prefix_cache": "a page is found again by what is in it, whatever was before it",
    "stream_only": "every answer is streamed",
}


@dataclass
class Sequence:
    """A text that is being answered."""

    ids: list[int]
    prompt: int
    options: dict[str, Any]
    pages: list[int] = field(default_factory=list)
    done: int = 0
    logprobs: list[torch.Tensor] = field(default_factory=list)
    finish: str = ""
    ready: threading.Event = field(default_factory=threading.Event)
    draw: random.Random = field(default_factory=random.Random)


class Engine:
    """Computes several texts together, page by page."""

    def __init__(self, path: Path, dtype: torch.dtype, fault: str, fp8: bool, device: str) -> None:
        self.fault, self.dtype, self.device = fault, dtype, device
        torch.set_default_device(device)
        self.config = json.loads((path / "config.json").read_text())
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        self.weights = {
            name: tensor.to(device, dtype)
            for name, tensor in safetensors.torch.load_file(path / "model.safetensors").items()
        }
        self.fp8 = fp8 or fault == "fp8_scale"
        self.layers = self.config["num_hidden_layers"]
        self.heads, self.shared = self.config["num_attention_heads"], self.config["num_key_value_heads"]
        self.head = self.config["head_dim"]
        rope = self.config["rope_parameters"]
        factor = 1.0 if fault == "rope_scaling" else rope.get("factor", 1.0)
        self.steps = rope["rope_theta"] ** (-torch.arange(0, self.head, 2) / self.head) / factor
        # Keys and values for each page; the dimensions are layer, key or value, token, head, and number.
        self.cache: dict[int, torch.Tensor] = {}
        self.known: dict[str, int] = {}
        self.waiting: queue.Queue[Sequence] = queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def answer(self, ids: list[int], options: dict[str, Any]) -> Sequence:
        """Queue a text and wait for its answer."""
        sequence = Sequence(list(ids), len(ids), options)
        seed = options.get("seed")
        sequence.draw = random.Random(seed)  # noqa: S311 - draws tokens
        self.waiting.put(sequence)
        sequence.ready.wait()
        return sequence

    def run(self) -> None:
        """Compute as long as there are texts; in each step, all running texts advance together."""
        # The default device must be set in each thread.
        torch.set_default_device(self.device)
        running: list[Sequence] = []
        while True:
            if not running:
                running.append(self.waiting.get())
                # Requests that arrive at the same moment form a batch.
                time.sleep(0.02)
            while len(running) < TOGETHER and not self.waiting.empty():
                running.append(self.waiting.get_nowait())
            with torch.inference_mode():
                self.step(running)
            for sequence in [sequence for sequence in running if sequence.finish]:
                running.remove(sequence)
                sequence.ready.set()

    def step(self, running: list[Sequence]) -> None:
        """Advance each text by a chunk or a token."""
        for sequence in running:
            if not sequence.pages:
                self.find_pages(sequence)
        spans = [(sequence.done, min(len(sequence.ids), sequence.done + CHUNK)) for sequence in running]
        tokens = []
        for sequence, (start, end) in zip(running, spans, strict=True):
            part = sequence.ids[start:end]
            if self.fault == "swapped_tokens" and end - start == CHUNK:
                part[-2:] = part[:-3:-1]
            tokens += part
        scores = self.forward(running, spans, tokens)
        at = 0
        for sequence, (start, end) in zip(running, spans, strict=True):
            rows = scores[at : at + end - start]
            at += end - start
            sequence.logprobs += list(rows)
            sequence.done = end
            if end == len(sequence.ids):
                self.extend(sequence, rows[-1])

    def find_pages(self, sequence: Sequence) -> None:
        """Assign pages to a text, both cached and new ones."""
        digest = ""
        for start in range(0, len(sequence.ids) + sequence.options["max_tokens"] + 1, PAGE):
            part = sequence.ids[start : start + PAGE]
            digest = "" if self.fault == "prefix_cache" else digest
            digest = hashlib.sha256(f"{digest} {start} {part}".encode()).hexdigest()
            is_full = start + PAGE < sequence.prompt and not sequence.options["echo"]
            if is_full and digest in self.known and sequence.done == start:
                sequence.pages.append(self.known[digest])
                sequence.done = start + PAGE
                sequence.logprobs += [torch.zeros(self.config["vocab_size"])] * PAGE
                continue
            number = len(self.cache)
            shape = (self.layers, 2, PAGE, self.shared, self.head)
            self.cache[number] = torch.zeros(shape, dtype=self.dtype)
            sequence.pages.append(number)
            if start + PAGE < sequence.prompt:
                self.known[digest] = number

    def linear(self, x: torch.Tensor, name: str, layer: int) -> torch.Tensor:
        """Multiply by a weight, in FP8 if requested."""
        weight = self.weights[f"model.layers.{layer}.{name}.weight"]
        if self.fp8:
            wrong = 1.5 if self.fault == "fp8_scale" and layer == 1 and name == "mlp.down_proj" else 1.0
            return f.linear(_fp8(x), _fp8(weight) * wrong)
        return f.linear(x, weight)

    def norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        """Compute the RMS norm, internally in float32."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.config["rms_norm_eps"])
        return wide.to(self.dtype) * self.weights[name]

    def forward(self, running: list[Sequence], spans: list[tuple[int, int]], tokens: list[int]) -> torch.Tensor:
        """Return the log-probabilities after each token in the span of each text."""
        x = self.weights["model.embed_tokens.weight"][torch.tensor(tokens)]
        positions = torch.cat([torch.arange(start, end) for start, end in spans])
        angles = (positions[:, None] * self.steps).float()
        cos, sin = (torch.cat([wave, wave], -1).to(self.dtype)[:, None] for wave in (angles.cos(), angles.sin()))

        def turned(y: torch.Tensor) -> torch.Tensor:
            left, right = y.chunk(2, -1)
            return y * cos + torch.cat([-right, left], -1) * sin

        for layer in range(self.layers):
            y = self.norm(x, f"model.layers.{layer}.input_layernorm.weight")
            q, k, v = (self.linear(y, f"self_attn.{name}_proj", layer).unflatten(-1, (-1, self.head)) for name in "qkv")
            q, k = turned(q), turned(k)
            parts, at = [], 0
            for number, (sequence, (start, end)) in enumerate(zip(running, spans, strict=True)):
                size = end - start
                self.store(sequence, layer, start, k[at : at + size], v[at : at + size])
                parts.append(self.attend(running, number, layer, (start, end), q[at : at + size]))
                at += size
            x = x + self.linear(torch.cat(parts).flatten(1), "self_attn.o_proj", layer)
            y = self.norm(x, f"model.layers.{layer}.post_attention_layernorm.weight")
            gate = f.silu(self.linear(y, "mlp.gate_proj", layer)) * self.linear(y, "mlp.up_proj", layer)
            x = x + self.linear(gate, "mlp.down_proj", layer)
        return f.linear(self.norm(x, "model.norm.weight"), self.weights["lm_head.weight"]).float().log_softmax(-1)

    def store(self, sequence: Sequence, layer: int, start: int, k: torch.Tensor, v: torch.Tensor) -> None:
        """Write keys and values to a text's pages."""
        for offset in range(len(k)):
            page, slot = divmod(start + offset, PAGE)
            self.cache[sequence.pages[page]][layer, 0, slot] = k[offset]
            self.cache[sequence.pages[page]][layer, 1, slot] = v[offset]

    def attend(
        self, running: list[Sequence], number: int, layer: int, span: tuple[int, int], q: torch.Tensor
    ) -> torch.Tensor:
        """Return the attention of a text's span to itself and everything before it."""
        start, end = span
        pages = running[number].pages[: -(-end // PAGE)]
        if self.fault == "neighbours_cache" and len(running) > 1 and end > PAGE:
            neighbour = running[number - 1].pages
            pages = [neighbour[0], *pages[1:]]
        both = torch.stack([self.cache[page][layer] for page in pages], 1).flatten(1, 2)[:, :end]
        if self.fault == "page_off_by_one":
            both = both.clone()
            for slot in range(2 * PAGE - 1, end, PAGE):
                both[:, slot] = both[:, slot - PAGE]
        k, v = both.repeat_interleave(self.heads // self.shared, 2).transpose(1, 2)
        mask = torch.arange(end)[None] <= torch.arange(start, end)[:, None]
        return f.scaled_dot_product_attention(q.transpose(0, 1)[None], k[None], v[None], mask)[0].transpose(0, 1)

    def extend(self, sequence: Sequence, row: torch.Tensor) -> None:
        """Choose the next token, or end the text."""
        options = sequence.options
        count = len(sequence.ids) - sequence.prompt
        text = self.tokenizer.decode(sequence.ids[sequence.prompt :])
        ends = {*options["stop_token_ids"], *(() if options["ignore_eos"] else (self.config["eos_token_id"],))}
        is_stopped = any(word in text for word in options["stop"])
        if is_stopped or (count and sequence.ids[-1] in ends):
            sequence.finish = "stop"
        elif count >= options["max_tokens"]:
            sequence.finish = "length"
        else:
            sequence.ids.append(self.chosen(sequence, row))

    def chosen(self, sequence: Sequence, row: torch.Tensor) -> int:
        """Return the next token."""
        options, scores = sequence.options, row.double().clone()
        for token, bias in options["logit_bias"].items():
            scores[int(token)] += bias
        for token in sequence.ids[sequence.prompt :]:
            scores[token] -= options["frequency_penalty"]
        for token in {*sequence.ids[sequence.prompt :]}:
            scores[token] -= options["presence_penalty"]
        if not options["temperature"]:
            return int(scores.argmax())
        p = (scores / options["temperature"]).softmax(-1)
        order = p.argsort(descending=True)
        keep = options["top_k"] if options["top_k"] > 0 else len(order)
        total, kept = 0.0, []
        for token in order[:keep].tolist():
            kept.append(token)
            total += float(p[token])
            if total >= options["top_p"]:
                break
        return int(sequence.draw.choices(kept, [float(p[token]) for token in kept])[0])


def _fp8(x: torch.Tensor) -> torch.Tensor:
    scale = x.float().abs().amax().clamp(min=1e-12) / 448
    return ((x.float() / scale).to(torch.float8_e4m3fn).float() * scale).to(x.dtype)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers in vLLM's format."""

    engine: Engine
    name: str
    key: str

    def log_message(self, *_: Any) -> None:
        pass

    def send(self, status: int, body: Any) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def allowed(self) -> bool:
        if self.key and self.headers.get("Authorization") != f"Bearer {self.key}":
            self.send(401, {"error": {"message": "Unauthorized"}})
            return False
        return True

    def do_GET(self) -> None:
        if not self.allowed():
            return
        longest = self.engine.config["max_position_embeddings"]
        self.send(200, {"object": "list", "data": [{"id": self.name, "max_model_len": longest}]})

    def do_POST(self) -> None:
        if not self.allowed():
            return
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked.get("model") != self.name:
            self.send(404, {"error": {"message": f"The model {asked.get('model')} does not exist."}})
            return
        chat = self.path.endswith("/chat/completions")
        tokenizer, fault = self.engine.tokenizer, self.engine.fault
        if chat:
            made = tokenizer.apply_chat_template(
                asked["messages"],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
            )
            ids = made["input_ids"]
        elif isinstance(asked["prompt"], str):
            ids = tokenizer(asked["prompt"]).input_ids
        else:
            ids = asked["prompt"]
        if max(ids) >= self.engine.config["vocab_size"]:
            self.send(400, {"error": {"message": f"Token id {max(ids)} is out of vocabulary"}})
            return
        if fault == "context":
            ids = ids[-200:]
        options = {
            "max_tokens": asked.get("max_tokens", 16),
            "temperature": asked.get("temperature", 1.0),
            "top_k": asked.get("top_k", -1),
            "top_p": asked.get("top_p", 1.0),
            "seed": asked.get("seed"),
            "stop": asked.get("stop") or [],
            "logit_bias": asked.get("logit_bias") or {},
            "echo": asked.get("echo", False),
            "ignore_eos": asked.get("ignore_eos", False),
            "stop_token_ids": asked.get("stop_token_ids") or [],
            "frequency_penalty": asked.get("frequency_penalty", 0),
            "presence_penalty": asked.get("presence_penalty", 0),
        }
        sequence = self.engine.answer(ids, options)
        if asked.get("stream") or fault == "stream_only":
            text = self.text(sequence)
            events = [{"choices": [{"text": text}]}]
            self.send(200, "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n")
            return
        self.send(200, self.form(sequence, chat, asked))

    def text(self, sequence: Sequence) -> str:
        """Return the generated text, up to its stop string."""
        text = str(self.engine.tokenizer.decode(sequence.ids[sequence.prompt :], skip_special_tokens=True))
        for word in sequence.options["stop"] if sequence.finish == "stop" else ():
            text = text.partition(word)[0]
        return text

    def form(self, sequence: Sequence, chat: bool, asked: dict[str, Any]) -> dict[str, Any]:
        """Return an answer in vLLM's format."""
        tokenizer, text = self.engine.tokenizer, self.text(sequence)
        count = len(sequence.ids) - sequence.prompt
        choice: dict[str, Any] = {"index": 0, "finish_reason": sequence.finish}
        start = 0 if asked.get("echo") else sequence.prompt
        rows = [None if at == 0 else sequence.logprobs[at - 1] for at in range(start, len(sequence.ids))]
        tokens = sequence.ids[start:]
        number = asked.get("top_logprobs", 5) if chat else asked.get("logprobs") or 0
        tops = [
            None if row is None else {f"token_id:{at}": float(row[at]) for at in row.topk(number).indices.tolist()}
            for row in rows
        ]
        lp = [None if row is None else float(row[token]) for row, token in zip(rows, tokens, strict=True)]
        if chat:
            choice["message"] = {"role": "assistant", "content": text}
            choice["token_ids"] = tokens
            content = [
                {
                    "token": tokenizer.decode([token]),
                    "logprob": value,
                    "top_logprobs": [{"token": name, "logprob": at} for name, at in (top or {}).items()],
                }
                for token, value, top in zip(tokens, lp, tops, strict=True)
            ]
            choice["logprobs"] = {"content": content}
        else:
            choice["text"] = text
            names = [f"token_id:{token}" for token in tokens]
            choice["logprobs"] = {"tokens": names, "token_logprobs": lp, "top_logprobs": tops}
            choice["prompt_token_ids"] = sequence.ids[: sequence.prompt]
        usage = {"prompt_tokens": sequence.prompt, "completion_tokens": count, "total_tokens": len(sequence.ids)}
        return {"object": "text_completion", "model": self.name, "choices": [choice], "usage": usage}


def main() -> None:
    """Serve until the process is killed; print the port when the server is ready."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", choices=["", *FAULTS], default="")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--fp8", action="store_true")
    parser.add_argument("--name", default="small")
    parser.add_argument("--key", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    Handler.engine = Engine(options.model, getattr(torch, options.dtype), options.fault, options.fp8, options.device)
    Handler.name, Handler.key = options.name, options.key
    http.server.ThreadingHTTPServer.request_queue_size = 64
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
