# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Engines and models

What vLLM, SGLang and TensorRT-LLM say of a model or of a setting that does not fit it.
"""

RULES = r"""
[processor-missing]
keys = No processor registered for architecture
pattern = No processor registered for architecture: \['(\w+)'
cause = This SGLang has no processor of images or sound for {found}: it is older than the model, or a package that the
    processor imports is missing.
remedy = Use a newer release or image (of NVIDIA nvcr.io/nvidia/sglang instead of lmsysorg/sglang:spark), and look above
    for an import that failed.
source = NVIDIA/dgx-spark-playbooks#68

[sglang-watchdog]
keys = Watchdog timeout (self.watchdog_timeout
pattern = Watchdog timeout \(self\.watchdog_timeout=(?P<time>[\d.]+)
cause = SGLang's watchdog ended the server, because its scheduler did nothing for {time} s: it waits for another rank
    (NCCL), for a kernel that compiles, or hangs in one.
remedy = With two hosts read the NCCL lines of both (NCCL_DEBUG=INFO); at a first start give it longer
    (--watchdog-timeout 1800) until the kernels are compiled; with one host try --disable-cuda-graph or another
    --attention-backend.
source = MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks#3

[sglang-run-memory]
keys =
    Prefill out of memory
    Decode out of memory
pattern = ((?:Prefill|Decode) out of memory)
cause = SGLang's pool for the KV cache is too small for the requests that run at once ({found}).
remedy = Lower --max-running-requests, --chunked-prefill-size or the context, or raise --mem-fraction-static if the host
    has the memory.

[world-size]
keys = is larger than the number of available GPUs
pattern = World size \((?P<size>\d+)\) is larger than the number of available GPUs \((?P<gpus>\d+)\)
cause = vLLM was asked for {size} GPUs, and this host has {gpus}: a Spark has one.
remedy = On one Spark set --tensor-parallel-size 1; for two start it on both (Ray, or --nnodes 2 --node-rank with
    --master-addr), with --distributed-executor-backend ray or mp as its page of several hosts says.

[quantization-differs]
keys = does not match the quantization method
pattern =
    model config \((?P<model>\w[\w-]*)\) does not match the quantization method specified in the 'quantization'
    + argument \((?P<asked>\w[\w-]*)\)
cause = The model is quantized as {model}, and --quantization says {asked}.
remedy = Leave --quantization out: the server reads it from the model's config.json.

[type-of-quantization]
keys = is not supported for quantization method
pattern =
    (?P<type>torch\.\w+) is not supported for quantization method (?P<method>\w+)\. Supported dtypes:
    + \[(?P<types>[^\]\n]+)\]
cause = The quantization {method} does not work with {type}, but with {types}.
remedy = Set --dtype to one of those, or leave it at auto.

[head-size]
keys =
    Unsupported head_dim
    Unsupported head size
    head_size not supported
pattern =
    Unsupported head_dim: (\d+)
    Unsupported head size:? (\d+)
cause = The attention backend has no kernel for heads of {found} elements, which this model has.
remedy = Choose another one (--attention-backend TRITON_ATTN of vLLM, triton of SGLang).

[tokenizer-class-unknown]
keys = does not exist or is not currently imported
pattern = Tokenizer class (\w+) does not exist or is not currently imported
cause = The installed Transformers has no tokenizer class {found}: the model was saved with a newer one, or its code is
    needed.
remedy = Install the Transformers that the model's page names (TokenizersBackend is of 5), within what the engine
    allows, or pass --trust-remote-code if the class is in the model's repository.

[gguf-in-engine]
keys = GGUF model with architecture
pattern = GGUF model with architecture (\w+) is not supported yet
cause = Transformers, and so vLLM and SGLang, cannot read GGUF files of {found}.
remedy = Run the GGUF with llama.cpp or Ollama, or take the model in safetensors for this engine.

[rope-scaling]
keys = rope_scaling
pattern = Error: '?(rope_scaling'? must [^\n]{0,80})
cause = The installed Transformers does not understand how the model scales its positions ({found}): it is older than
    the model, or an override is incomplete.
remedy = Upgrade Transformers (with the engine that pins it), or write --hf-overrides with rope_type, factor and
    original_max_position_embeddings.

[trtllm-no-cache-memory]
keys =
    memory available for KV cache
    No available memory for KV cache
pattern = (No (?:available )?memory (?:available )?for KV cache)
cause = After the weights nothing is left for the KV cache ({found}).
remedy = Take a smaller or more quantized model, a shorter --max_seq_len or a smaller --max_batch_size, end other
    programs, or raise kv_cache_config.free_gpu_memory_fraction if the host has the memory.

[ray-shared-memory]
keys = exceeds /dev/shm size
pattern = object store size \((?P<asked>[^)\n]+)\) exceeds /dev/shm size \((?P<have>[^)\n]+)\)
cause = Ray is to keep {asked} in /dev/shm, which has {have}.
remedy = Start the container with --ipc=host or a larger --shm-size, or Ray with a smaller --object-store-memory.

[lora-rank]
keys = is greater than max_lora_rank
pattern = LoRA rank (?P<rank>\d+) is greater than max_lora_rank (?P<most>\d+)
cause = The adapter has rank {rank}, and the server takes {most}.
remedy = Start it with --max-lora-rank {rank}.

[shard-indivisible]
keys = is not divisible by
pattern = (?P<what>\w+) = (?P<size>\d+) is not divisible by [\w ]+ = (?P<by>\d+)
cause = A quantized weight cannot be divided among the GPUs: {what} is {size}, and its blocks are of {by}.
remedy = Lower --tensor-parallel-size (or use --enable-expert-parallel or pipeline parallelism for the other hosts), or
    take the model in another quantization.
"""
