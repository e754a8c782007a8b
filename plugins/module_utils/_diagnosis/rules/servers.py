# __init__.py in this directory explains the fields.

"""Servers of models

vLLM, SGLang, TensorRT-LLM, FlashInfer and others that serve or run a model.
"""

RULES = r"""
[kernel-of-another-gpu]
keys = This kernel only supports sm
pattern = ^This kernel only supports (sm\w+)\.
cause = A compiled kernel refused this GPU, because it supports only {found}. What the log reports afterwards
    (unspecified launch failure) is a consequence.
remedy = Use another kernel for this quantization (in vLLM, the backend Marlin or Triton), or a build with kernels for
    this GPU (12.1a, or 12.0f).
source = eugr/spark-vllm-docker#143

[cutlass-refused]
keys =
    Failed to run cutlass
    Error Internal
    Got cutlass error:
pattern =
    Failed to run cutlass (?P<why3>[\w ]+) on (?P<arch>sm\d+)
    ^RuntimeError: (?P<why2>Error Internal)
    (?:built for (?P<arch2>\d+[af]?): )?Got cutlass error: (?P<why>Error Internal)
values =
    reason of arch: \d+[af] => Code for an architecture with a letter runs on that GPU (a) or its family (f) only; a
    + GB10 is 12.1, that is 121a or 120f
    reason of arch: (?:) => A GB10 (12.1) has 99 KiB of shared memory per block, so kernels with larger tiles, or for
    + data-centre GPUs only, do not start
    advice of arch: \d+[af] => Build it for this GPU (on a GB10 TORCH_CUDA_ARCH_LIST=12.1a), or install a build or
    + release that names 12.1; until then choose another backend for this quantization
    advice of log_tensorrt_llm: . => Choose another backend of TensorRT-LLM for it (cuBLASLt instead of CUTLASS), or a
    + newer TensorRT-LLM, whose CUTLASS (4.4.2 and newer) has tiles for this GPU
    advice of log_tensorrt_llm: (?:) => Choose another backend for this quantization (Marlin or Triton in vLLM, another
    + backend of flashinfer), or a release of the program with kernels for 12.1
cause = A CUTLASS kernel could not run on this GPU ([{why}, ][compiled for {arch}]). {reason}.
remedy = {advice}.
source = NVIDIA/TensorRT-LLM#11368

[vllm-free-memory]
keys = Free memory on device
pattern =
    Free memory on device (?:\S+ )?\((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup is less than desire
    +d GPU memory utilization \((?P<share>[\d.]+), (?P<asked>[\d.]+) GiB\)
cause = Only {free} of {total} GiB are free, but vLLM is configured to use {asked} GiB (a share of {share}).
remedy = Lower --gpu-memory-utilization until its share of {total} GiB is below {free} GiB, or end what holds memory. On
    a GB10, that includes the page cache and every program of the host.
source = pytorch/pytorch#175666

[vllm-no-cache-memory]
keys = No available memory for the cache blocks
pattern = No available memory for the cache blocks
cause = The weights and the trial run use up vLLM's share of memory, so nothing is left for the KV cache.
remedy = Raise --gpu-memory-utilization if the host has the memory, or use a smaller or more quantized model. On a GB10
    a cold start counts the page cache as used: drop it first (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), or set
    the cache's size yourself (--kv-cache-memory-bytes 8G).
source = vllm-project/vllm#27508

[vllm-max-length]
keys = max seq len (
pattern =
    max seq len \((?P<length1>\d+)\),\s+\(?(?:(?P<needed1>[\d.]+) )?GiB KV cache is needed, which is larger than the
    + available KV cache memory \((?P<left1>[\d.]+) GiB\)(?:[^\n]*?maximum model length is (?P<most1>\d+))?
    max seq len \((?P<length2>\d+)\) is larger than the maximum number of tokens that can be stored in KV cach
    +e \((?P<most2>\d+)\)
cause = One request of {length} tokens does not fit into the KV cache[: it needs {needed} GiB][; {left} GiB are left].
remedy = Lower --max-model-len[ to at most {most}], or raise --gpu-memory-utilization if the host has the memory.
source = vllm-project/vllm#2418

[sglang-no-cache-memory]
keys = Please try to increase --mem-fraction-static
pattern = Please try to increase --mem-fraction-static(?:\.? Current value: \S*?=?(?P<share>[\d.]*\d))?
cause = The weights use up SGLang's static share of memory[, {share}], so nothing is left for the KV cache.
remedy = Raise --mem-fraction-static[ above {share}], or use a smaller or quantized model or a shorter context. Lowering
    it helps only if memory runs out later, in a CUDA graph or during use.
source = gpustack/gpustack#3831

[harmony-vocabulary]
keys = vocab file
pattern = (error downloading or loading vocab file)
cause = The server needs the vocabulary of gpt-oss, but could not download or read it ({found}).
remedy = Allow the download, or put o200k_base.tiktoken and cl100k_base.tiktoken (from
    https://openaipublic.blob.core.windows.net/encodings/) into a directory and set TIKTOKEN_ENCODINGS_BASE to it. If
    the cache /tmp/tiktoken-rs-cache is not writable, set TIKTOKEN_RS_CACHE_DIR to another directory.
source = NVIDIA/dgx-spark-playbooks#17

[harmony-message-malformed]
keys =
    HarmonyError:
    output messages (reasoning and final)
pattern =
    HarmonyError: (?P<why1>(?!error downloading)[^\n]{3,160})
    (?P<why2>Expected \d+ output messages \(reasoning and final\), but got \d+)
uncertain = yes
cause = gpt-oss wrote a message that the parser of its format (openai-harmony) does not accept: {why}.
remedy = Send the request again. If it happens often, use a newer release of the server and of openai-harmony, give the
    model room (a larger max_tokens and context), and pass tools only through the API's tools field.
source = vllm-project/vllm#51977

[flashinfer-versions-differ]
keys = does not match flashinfer version
pattern = (flashinfer-[\w-]+) version \((?P<other>[^)\n]+)\) does not match flashinfer version \((?P<own>[^)\n]+)\)
cause = {found} is version {other}, but flashinfer is {own} and accepts only its own version.
remedy = Install version {own} of both, or remove {found}.
source = vllm-project/vllm#49804

[flashinfer-sparse-decode]
keys = : Decode (num_tokens <=
pattern = num_tokens > (?P<most>\d+) \((?P<tokens>\d+) vs\. \d+\) ?: Decode \(num_tokens <= \d+\)\s+must go through
    + (?P<kernel>sparse_mla_\w+)
cause = A decode of {tokens} tokens was passed to FlashInfer's prefill kernel of sparse attention, which accepts only
    more than {most}: this server and this FlashInfer do not fit together (the decode kernel is {kernel}).
remedy = Use a newer release of the server (vLLM, SGLang) with the FlashInfer that it pins. Until then, leave out
    speculative decoding, or choose another attention backend.
source = vllm-project/vllm#50720

[flashinfer-no-architecture]
keys =
    FlashInfer requires GPUs with sm75 or higher
    No supported CUDA architectures found for major versions
pattern =
    FlashInfer requires GPUs with (sm\d+ or higher)
    (No supported CUDA architectures) found for major versions \[[\d, ]*12
cause = FlashInfer found no architecture to compile for (its message, {found}, does not name one). Either its toolkit is
    too old for this GPU, or TORCH_CUDA_ARCH_LIST names other architectures.
remedy = Set FLASHINFER_CUDA_ARCH_LIST (12.1a on a GB10), and point CUDA_HOME to CUDA 12.9 or newer.
source = flashinfer-ai/flashinfer#3675

[flashinfer-cubin-refused]
keys =
    Failed to get cubin
    cubin_loader
    kernelinferencelibrary
pattern =
    Failed to get (?:cubin|header) (?P<file1>\S+)
    (?:40[34]|5\d\d) (?:Client|Server) Error: (?P<why>\w[\w ]*) for url:
    + \S*kernelinferencelibrary\S*?(?P<file2>[\w.-]+)$
cause = FlashInfer could not download a kernel that NVIDIA ships compiled ({file}[: {why}]). A proxy or firewall refuses
    the address, or the server no longer has the files of this release. No login is needed.
remedy = Install flashinfer-cubin in the version of flashinfer-python, which includes all these kernels (pip install
    --no-deps flashinfer-cubin==VERSION), or choose another attention and MoE backend, because they are for data-centre
    GPUs.
source = flashinfer-ai/flashinfer#5445

[flashinfer-workspace]
keys = Buffer overflow when allocating memory for
pattern =
    Buffer overflow when allocating memory for (?P<part>\w+) with size (?P<need>\d+)[^\n]*?only (?P<have>\d+) bytes
    + available
cause = FlashInfer's workspace is too small for this model and batch: {part} needs {need} bytes, but {have} are left.
remedy = Enlarge it (export VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE=1073741824 for vLLM, SGLANG_FLASHINFER_WORKSPACE_SIZE
    for SGLang), lower --max-num-seqs or --max-num-batched-tokens, use a newer release or image, which sets the size
    itself, or choose another --attention-backend.
source = vllm-project/vllm#40023

[gemm-of-another-gpu]
keys = occurred when running GEMM
pattern = occurred when running GEMM[^\n]*_(sm10\d[af]?)\b
cause = The chosen matrix kernel is one of TensorRT-LLM that supports only {found}, so a GB10 (12.1) cannot run it.
remedy = Choose another MoE backend (CUTLASS or Marlin) instead of flashinfer_trtllm.
source = vllm-project/vllm#43906

[cache-block-size]
keys = No common block size for
pattern = (No common block size for \d+)
cause = The attention backends of this model's layers support no common cache block size ({found}).
remedy = Choose one backend that supports it (--attention-backend TRITON_ATTN supports 128), or another --block-size
    (16, 32, 64).
source = vllm-project/vllm#57932

[backend-lacks-feature]
keys =
    is not supported for Flashinfer
    is not supported for FlashInfer
    backend does not support
    is not supported by the
    attention backend does not
    kernel exists for this layer
pattern =
    Error: no '(?P<backend4>\w+)' kernel exists for (?P<feature4>this layer type)
    Error: (?P<feature1>\w+) is not supported for (?P<backend1>Flash[Ii]nfer)
    Error: (?P<backend2>[\w ]{1,40}?) backend does not support (?P<feature2>[^\n.]{1,60}\w)
    Error: (?P<feature3>[\w -]{1,60}) is not supported by the (?P<backend3>[\w ]{1,40}?) backend
cause = The chosen backend, {backend}, does not support a feature of this model or setting: {feature}.
remedy = Choose another backend[ (this log has {log_backend_option})] for that part (--attention-backend, or
    --moe-runner-backend and --moe-backend), or remove the setting. The server lists the backends for this model.
source = sgl-project/sglang#34192

[setup-refuses-gpu]
keys = setup.py", line
pattern =
    setup\.py', line \d+, in \S+\n(?: {4}[^\n]*\n){1,12}(?:\w+\.)*\w*(?:Error|Exception|Exit):
    + (?P<why>[^\n]*(?:GPU|[Aa]rch|[Cc]apabilit|\bSM ?_?\d|\bsm_?\d)[^\n]*)
cause = The package's setup.py does not know this GPU, so it stops before it compiles anything: {why}.
remedy = Use a release of it that knows 12.1. Otherwise, if it reads TORCH_CUDA_ARCH_LIST, set an architecture that it
    knows and this GPU runs (12.0), or add 12.1 beside 12.0 to the list in its setup.py.
source = thu-ml/SageAttention#107

[sglang-pdmux-gpu]
keys =
    multiplex/pdmux_context.py
    in get_arch_constraints
pattern = pdmux_context\.py[^\n]*\n(?:[^\n]*\n){0,4}?\W*ValueError: (Unsupported compute capability: [\d.]+)
cause = SGLang's PD multiplexing has no entry for this GPU ({found}).
remedy = Start the server without --enable-pdmux, or use a newer SGLang that lists 12.x for it. Another attention or MoE
    backend does not help.
source = sgl-project/sglang#32933

[kernel-for-other-architectures]
keys =
    No supported CUDA architectures found for major versions
    expects arch to be one of
    FmhaRunner'
    No kernel found for the given options
    MOE GEMM1 Config is not set
    TRTLLMGenFusedMoE does not support
    Unsupported SM version for
    Assertion failed: Unsupported architecture
    Assertion failed: Unsupported SM
    Assertion failed: Unsupported Arch
    Could not find valid config when calculating
    Arch unsupported for
    is only supported on SM
    grouped gemm is not supported on this device
    Unsupported compute capability
    RuntimeError: Unsupported GPU
    and SM<=
    only supported on Blackwell GPUs
    ): Unsupported architecture
    does not support current device
    does not support this device
    not supported on SM
    requires the SM100
    FlashMLA
    _flashmla_C is not available
    buildNdTmaDescriptor
    only supported on 1
    only supported on SM
    is only supported on sm
    nsupported moe backend
    nsupported MoE backend
    Assertion failed: Error occurred when running GEMM
pattern =
    (No supported CUDA architectures found for major versions \[[\d, ]+\])
    (expects arch to be one of \[[^\]\n]*\], but got [\w.]+)
    '((?:TllmGen)?FmhaRunner)'[^\n]*Unsupported architecture
    '(\w+Runner)' at [^\n]*No kernel found for the given options
    Assertion failed: (MOE GEMM1 Config is not set)
    (TRTLLMGenFusedMoE does not support SM\d+)
    (Unsupported SM version for [\w ]+)
    Assertion failed: (Unsupported (?:architecture|Arch|SM)\b|[\w ]+ is only supported on SM\d+)
    (Arch unsupported for [^\n(]{3,60}?) ?(?:\(|$)
    Assertion failed: (Could not find valid config when calculating workspace size)
    (\w+ grouped gemm is not supported on this device)
    (Unsupported compute capability: [\d.]+)
    RuntimeError: (Unsupported GPU)$
    (requires SM>=\d+ and SM<=\d+)
    (only supported on Blackwell GPUs \(SM\d+\))
    Assertion error \([^)\n]*\): (Unsupported architecture)
    (kernel does not support (?:current|this) device\b[\w ]*(?:: \d+)?)
    Error: ([^\n]{1,80}? not supported on SM ?\d+(?:\.\d)?)
    (requires the SM100 [\w-]+)
    (FlashMLA[\w ]{0,30} only support(?:s|ed)[^\n]{0,60})
    (_flashmla_C is not available)
    (buildNdTmaDescriptor)\b[^\n]*Check failed
    ^[^\w\n]*\w*Error: (\w+ (?:is )?only supported on (?:SM)?\d[\d, ]+\d)
    ([\w.]+ is only supported on sm\d+)
    ([Uu]nsupported (?:moe|MoE) backend:? \w+ for \w+)
    Assertion failed: (Error occurred when running GEMM)
unless = No valid attention backend
cause = The chosen kernel or feature does not exist for this GPU ({found}). Kernels for data-centre GPUs (9.0, 10.0) do
    not run on
    a GB10 (12.1).
remedy = Choose another backend[ (this log has {log_backend_option})] for it (attention: flashinfer or Triton; MoE:
    Marlin, CUTLASS or Triton), leave out the option of the feature that the traceback names, or use a release that
    + supports 12.x. Setting another architecture does not help.
source = vllm-project/vllm#31740

[cutlass-dsl-failed]
keys =
    DSLRuntimeError
    DSLBaseError
pattern = (DSL(?:Runtime|Base)Error):? ?(?P<why>[^\n]{0,160})
uncertain = yes
cause = The CUTLASS DSL (CuTe) could not compile a kernel ({found}[: {why}]). Usually it is older than the GPU or for
    another CUDA, or the kernel is for data-centre GPUs.
remedy = Upgrade it to the version that the program accepts (pip install -U "nvidia-cutlass-dsl[cu13]"), or choose
    another backend for that part (--attention-backend, --moe-backend).

[flash-attention-gpu-too-old]
keys = FlashAttention only supports Ampere
pattern = FlashAttention only supports (Ampere GPUs or newer)
cause = This flash-attention refuses the GPU (it supports only {found}): the GPU is older than 8.0, or, on a GB10 or an
    RTX 50, the copy in use is so old that its check knows only 8.x and 9.0.
remedy = On a GB10, use a flash-attn that knows 12.x (2.7.4 or newer, built here with TORCH_CUDA_ARCH_LIST=12.0; also
    for
    packages that include a copy of it, such as Block-Sparse-Attention), or another attention (sdpa). With several GPUs,
    select a newer one with CUDA_VISIBLE_DEVICES.
source = komikndr/raylight#68

[triton-gpu-too-old]
keys = too old to be supported by the triton GPU compiler
pattern = Found ([^\n]+?) which is too old to be supported by the triton GPU compiler
cause = {found} is too old for Triton.
remedy = Use a newer GPU, or run without torch.compile (--enforce-eager).
source = sasha0552/pascal-pkgs-ci#5

[kernel-not-compiled]
keys = undefined symbol: _Z
pattern = (\S+): undefined symbol: _Z\w{0,80}?\d(?P<kernel>[a-z][a-z0-9_]*_sm\d{2,3}[af]?)(?![a-z0-9_])
cause = {found} calls {kernel}, but was built without it. That release's build for these architectures is at fault, and
    another PyTorch does not help.
remedy = Build or install a release in which this is fixed. Building the same source again does not help.
source = vllm-project/vllm#29030

[vllm-length-beyond-model]
keys =
    User-specified max_model_len
    User-specified context_length
pattern =
    User-specified max_model_len \((?P<asked1>\d+)\) is greater than the derived max_model_len \(\w+=(?P<most1>[\d.]+)
    User-specified context_length \((?P<asked2>\d+)\) is greater than the derived context_length \((?P<most2>\d+)
cause = The server was started with a context length of {asked} tokens, but the model supports only {most}.
remedy = Set it to at most {most} (vLLM's --max-model-len, SGLang's --context-length). A model made for more needs rope
    scaling, as its page says (vLLM's --hf-overrides). Without it, VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 or
    SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1 produces wrong text.

[model-type-missing]
keys = Unrecognized model in
pattern = Unrecognized model in ([^\n]+?)\. Should have a 'model_type' key
cause = The config.json of {found} names no model type. It is not a Transformers model (but a GGUF or LoRA repository,
    or another library's model), or the download is incomplete.
remedy = Check that config.json is complete, and use the repository with the weights in the Hugging Face format. Run a
    GGUF with llama.cpp or Ollama.

[weights-of-another-layout]
keys =
    KeyError: 'layers.
    KeyError: 'model.layers.
    KeyError: 'blocks.
    KeyError: 'transformer.
    KeyError: 'visual.
    weights were not initialized from checkpoint
    There is no module or parameter named
    exceeds dimension size
    ed to load weight
pattern =
    ((?:Tri|Attempt)ed to load weights? (?:of size )?[^\n]{4,120})
    (start \(\d+\) \+ length \(\d+\) exceeds dimension size \(\d+\))
    KeyError: '((?:\w+\.)*(?:layers|blocks|h)\.\d+\.[\w.]+)'
    weights were not initialized from checkpoint: \{'([^'\n]+)'
    There is no module or parameter named '([^'\n]+)'
uncertain = yes
cause = The weights file does not fit this release of the server ({found}), which expects another layout of the model,
    usually because the model's quantization or architecture is newer.
values =
    advice of found: .*load weights of size torch\.Size\(\[\d{5,}, 1\] => The weights are packed in four bits by
    + bitsandbytes, which this release does not unpack for this model: use a newer release, or the model in another
    + quantization (FP8, AWQ, NVFP4) or unquantized
    advice of found: .*(?:absmax|quant_map|quant_state) => The weights are in bitsandbytes format: start the server with
    + --quantization bitsandbytes --load-format bitsandbytes, in a release that supports such files, or use the model in
    + another quantization
    advice of found: .*\.attention\.w[qkvo]\.|.*feed_forward\.w[123]\. => The file is in Mistral's own format: start the
    + server with --load-format mistral --config-format mistral --tokenizer-mode mistral, or remove
    + consolidated.safetensors if the model's Transformers files are in the same directory
    advice of found: .*\.(?:qweight|qzeros|g_idx)$ => The options say that the weights are quantized (GPTQ, AWQ), but
    + this file has plain weights: pass the directory of the quantized model, or remove that option
    advice of found: . => Use the release of the server that the model's page names (usually a newer one), or another
    + quantization of the model; if files are missing, download the model again
remedy = {advice}.
source =
    vllm-project/vllm#45102
    vllm-project/vllm#11010

[server-option-unknown]
keys =
    error: unrecognized arguments
    o such option
    unexpected argument
pattern =
    (?:^|\s)(?P<program>[\w./-]+(?: [a-z]\w+)?): error: unrecognized arguments: (?P<option1>-[^\n]+)
    ^error: unrecognized arguments: (?P<option4>-[^\n]+)
    [Nn]o such option:? (?P<option2>-\S+)
    error: unexpected argument '(?P<option3>-[^'\n]+)'
values =
    advice of option: --lora-path\b => Write --lora-modules NAME=PATH for vLLM, --lora-paths NAME=PATH for SGLang
    advice of option: --(?:max-model-len|gpu-memory-utilization|num-nodes|master-(?:addr|port))\b => Use this program's
    + name for it: SGLang has --context-length for --max-model-len, --mem-fraction-static for --gpu-memory-utilization,
    + --nnodes and --dist-init-addr HOST:PORT for several hosts; llama.cpp has -c; an old vLLM needs Ray for several
    + hosts
    advice of option: --(?:context-length|ctx-size|mem-fraction-static|dist-init-addr)\b => Use this program's name for
    + it: vLLM has --max-model-len for the context, --gpu-memory-utilization for the share of memory, --master-addr with
    + --nnodes for several hosts
    advice of option: --enable-reasoning\b => Remove it, because --reasoning-parser also turns it on
    advice of option: --guided-decoding-backend\b => Write --structured-outputs-config '{"backend": "xgrammar"}'
    advice of option: --task\b => Write --runner (generate, pooling) and --convert (embed, classify) instead
    advice of option: --rope-(?:scaling|theta)\b => Write it into --hf-overrides '{"rope_parameters": …}' instead
    advice of option: --(?:disable-log-requests|num-scheduler-steps|swap-space|use-v2-block-manager)\b => Remove it,
    + because newer releases do this automatically (requests are logged only with --enable-log-requests)
    advice of option: . => Remove it from the command (or compose file, or unit) unless --help lists it under another
    + name, or use a release or image of the program that has it
cause = This release[ of {program}] does not know the option {option}[; its image is {log_image}].
remedy = {advice}.
source = MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#17

[custom-all-reduce]
keys = custom_all_reduce.cuh
pattern = [Ee]rror \S*custom_all_reduce\.cuh:\d+ '(?P<why>[^'\n]+)'
cause = vLLM's own all-reduce between GPUs failed ({why}), because their memory cannot be shared in the way that it
    needs.
remedy = Start it with --disable-custom-all-reduce, so that NCCL does the all-reduce.
source = vllm-project/vllm#49101

[server-argument-unknown]
keys =
    error: argument
    error: unrecognized arguments:
    error: invalid argument: -
    error while handling argument
    error: unknown argument:
pattern =
    (?P<program1>[\w./-]+): error: (?P<what1>unrecognized arguments: (?!-)[^\n]+)
    ^error: (?P<what4>unrecognized arguments: (?!-)[^\n]+)
    (?P<program2>[\w./-]+): error: (?P<what2>argument [^\n]+)
    error while handling argument (?P<what6>'[^'\n]+': [^\n]+)
    error: (?P<what3>(?:invalid|unknown) argument: -\S+)
values =
    advice of what: [^{]*\{\{.*cannot be converted to => Write its JSON with single braces; the doubled braces come from
    + a template
    advice of what: .*cannot be converted to <function (?:_?loads|parse) => Write its JSON in single quotes, with double
    + quotes inside ('{"method": "mtp"}'), because the shell removed the quotes; in a YAML list, write it as one item
    advice of what: (?:invalid|unknown) argument: --rpc => Build it with -DGGML_RPC=ON, which adds the option
    advice of what: (?:invalid|unknown) argument: -[a-z]{3} => Write it with two hyphens if that is its long name
    + (--rpc, with -DGGML_RPC=ON in the build); otherwise remove it, because this release or build does not have it
    + (--help lists its options)
    advice of what: (?:invalid|unknown) argument => Remove the option, which this release or build does not have (--help
    + lists its options), or use a newer release that has it
    advice of what: unrecognized arguments: [\w-]+(?:-run|-server|-cli|serve)\b => The command of another program was
    + passed: choose that program's image or runtime, or update the tool that starts it
    advice of what: unrecognized => Remove it, or put it after the option whose value it is, because a word without an
    + option is refused (quote a value that contains spaces)
    advice of what: .*has been removed => Write what the message names instead; if another program starts it (a user
    + interface, a script), update that program, or use the release for which it was made
    advice of what: .*invalid int value: .\d+:\d+.?$ => That is an option of Docker (-p HOST:CONTAINER): write Docker's
    + options before the image's name, and only the program's after it
    advice of what: .*not allowed with => Remove one of the two, because they exclude each other
    advice of what: .*invalid choice => Use a value that the message lists, or the release that knows this one
    advice of what: .*(?:expected one argument|expected at least) => Set the option's value, with = if it begins with a
    + dash
    advice of what: . => Set a value that --help lists for the option, or remove it; in a compose file or unit, each
    + option and its value must be separate words
cause = The program[ {program}] does not accept its arguments: {what}.
remedy = {advice}.
source = vllm-project/vllm#9312

[flashinfer-not-usable]
keys = module 'vllm.utils.flashinfer' has no attribute
pattern = module 'vllm\.utils\.flashinfer' has no attribute '(\w+)'
cause = vLLM defines {found} only if it can use FlashInfer, and in this process it cannot: it needs flashinfer-python,
    and nvcc on the PATH or the package flashinfer-cubin.
remedy = Start the server with the toolkit's directory on its PATH (Environment=PATH=/usr/local/cuda/bin:/usr/bin:/bin
    in a unit, which does not read a shell's profile), or install flashinfer-cubin in the version of flashinfer-python.
    To check, run python -c 'import shutil; print(shutil.which("nvcc"))' as the server's account.
source = smg-project/smg#2566

[deepgemm-kernel-missing]
keys =
    Failed to open: /
    deep_gemm/include
pattern =
    Failed to open: \S*/(?P<file>(?P<target>sm_?\d+)\w*\.cuh)
    (?P<file2>deep_gemm/include/\S+?\.cuh)\S*\s+No such file
cause = DeepGEMM looks for the source of a kernel, {file}, which its installed package does not include: this release
    has none for this GPU[ ({target})]. Nothing is missing on the host.
remedy = Use a newer image or release of the server, whose DeepGEMM has kernels for 12.x, or turn off DeepGEMM
    (VLLM_USE_DEEP_GEMM=0, SGLANG_ENABLE_JIT_DEEPGEMM=0, another attention or MoE backend) or use another kind of model.
source = spark-arena/sparkrun#220

[piecewise-graph-failed]
keys =
    Piecewise CUDA Graph failed
    iecewise CUDA graph
pattern = Piecewise CUDA Graph failed with error: ([^\n]+)
cause = SGLang could not capture this model in pieces ({found}). This is an experimental feature that is on by default.
remedy = Start it with --disable-piecewise-cuda-graph. Full CUDA graphs for decoding stay on.
source = sgl-project/sglang#23386

[nvcc-not-at-run-time]
keys =
    Could not find nvcc
    cuda_home is not None
pattern =
    (?<=Error: )(Could not find nvcc)(?: and default cuda_home|\W*$)
    (assert cuda_home is not None)
cause = A package that compiles kernels at run time, such as flashinfer or DeepGEMM, found no CUDA toolkit ({found}).
remedy = Install the toolkit of the same CUDA (cuda-toolkit-13-0; role cuda_libraries) and set CUDA_HOME to it before
    the start (export CUDA_HOME=/usr/local/cuda, with its bin on PATH), or use a -devel image. For flashinfer,
    flashinfer-cubin and flashinfer-jit-cache of the same version include compiled kernels.
source = sgl-project/sglang#13468

[scaled-mm-not-compiled]
keys =
    No compiled cutlass_
    No compiled nvfp4
    No compiled get_cutlass
pattern = No compiled (?P<kernel>\w+)(?:: no \w+ kernel)? for [^\n]*?(?P<need>\d{2,3})\b
values =
    reason of need: 1[0-2]\d => a GB10 is 121): it was built without 12.0 and 12.1, or for another CUDA
    reason of need: . => that is its compute capability without the point): no such kernel was built for it, or none
    + exists
    advice of need: 1[0-2]\d => Install vLLM's wheel for cu130 or an image for the Spark, or build it with
    + TORCH_CUDA_ARCH_LIST=12.1a; or choose
    advice of need: 87 => Build it on the device with TORCH_CUDA_ARCH_LIST=8.7; or choose
    advice of need: . => Use the previous release, if it loaded this model on this GPU; or choose
cause = This build of vLLM has no kernel {kernel} for this GPU ({need}; {reason}.
remedy = {advice} another backend (Marlin, Triton) or quantization.

[quantization-gpu-too-old]
keys =
    is not supported for the current GPU
    is only supported on GPUs with compute capability
    is only supported on CUDA devices with compute
pattern =
    The quantization method (?P<method>\w+) is not supported for the current GPU\. Minimum capability: (?P<need>\d+)\.
    + Current capability: (?P<have>\d+)
    (?P<method3>torch\._scaled_mm) is only supported on CUDA devices with compute capability >= (?P<need3>[\d.]+ or
    + [\d.]+\d)
    (?P<method2>\w+) quantized models (?:is|are) only supported on GPUs with compute capability >=
    + (?P<need2>[\d.]+\d)[^\n]*actual = '(?P<have2>[\d.]+)
cause = The quantization {method} needs a GPU of capability {need}[, but this one has {have}] (a GB10 has 12.1).
remedy = Use the model in another quantization on that GPU, or select a GPU that supports it (CUDA_VISIBLE_DEVICES).

[memory-unbalanced]
keys = The memory capacity is unbalanced
pattern =
    memory capacity is unbalanced\.[^\n]*?(?:min\w*|pre_model_load_memory)=(?P<least>[\d.]+)[^\n]*?local_gpu_memory=(?P
    +<own>[\d.]+)
    The memory capacity is unbalanced
cause = The hosts have different amounts of free memory[ ({least} and {own} GB)]. On a GB10, other programs and the page
    cache use the GPU's memory.
remedy = End other programs and drop the page cache on the host with less free memory (sync; echo 3 | sudo tee
    /proc/sys/vm/drop_caches), and start again. If a killed container left memory allocated, reboot.
source = https://al-engr.com/minimax-sglang-debug.html

[multicast-missing]
keys = Device does not support multicasting
pattern = (Device does not support multicasting)
cause = The chosen fast all-reduce needs NVLink multicast, which a GB10 does not have ({found}).
remedy = Turn it off (SGLang: --disable-custom-all-reduce, or omit --enable-flashinfer-allreduce-fusion; vLLM:
    --disable-custom-all-reduce), so that NCCL does the all-reduce.

[batch-tokens]
keys = max_num_tokens
pattern = \((?P<asked>\d+)\)[^\n]*?max_num_tokens \(?(?P<most>\d+)
cause = A request has {asked} tokens, but the engine accepts only {most} at once.
remedy = Start it with a larger --max_num_tokens, or with chunked prefill (enable_chunked_prefill: true), or shorten the
    prompt.

[gguf-not-language]
keys =
    unknown model architecture: 'sd
    unknown model architecture: 'flux
pattern = unknown model architecture: '(sd\w*|flux\w*)'
cause = The file's model ({found}) generates images, but llama.cpp runs only language models.
remedy = Use a program for image models (ComfyUI with its GGUF loader, stable-diffusion.cpp), or download a language
    model as GGUF.
source = ggml-org/llama.cpp#10104

[model-type-unknown]
keys =
    but Transformers does not recognize this architecture
    configuration_auto.py
    KeyError: 'qwen
    KeyError: 'glm
    KeyError: 'gemma
    KeyError: 'deepseek
    KeyError: 'mistral
    KeyError: 'ministral
    KeyError: 'nemotron
    KeyError: 'gpt_oss
    KeyError: 'minimax
    KeyError: 'llama
    KeyError: 'granite
    KeyError: 'kimi
pattern =
    has model type '([\w.-]+)' but Transformers does not recognize this architecture
    configuration_auto\.py', line \d+, in __getitem__\n[^\n]*\n(?:[ ~^]+\n)?KeyError: '([\w.-]+)'
    ^KeyError: '((?:qwen|glm|gemma|deepseek|mi[ni]?stral|nemotron|gpt_oss|minimax|llama|granite
    +|kimi)[\w.-]*)'$(?!\s*During handling)
cause = The installed Transformers does not know the model type {found}. It is older than the model, or the program that
    defines the type did not register it.
remedy = Install a release of the server that supports the model, with the Transformers that it pins. For Transformers
    alone, run pip install -U transformers (until a release has the model, install its source:
    git+https://github.com/huggingface/transformers).
source = vllm-project/vllm#19793

[tokenizer-of-a-newer-release]
keys = did not match any variant of untagged enum
pattern = data did not match any variant of untagged enum ((?:Py)?\w+Wrapper)
cause = The model's tokenizer file was written by another release of tokenizers, and the installed one cannot read it
    ({found}).
remedy = Upgrade tokenizers and Transformers together.
source = m87-labs/moondream#242

[quantization-unknown]
keys = Unknown quantization method:
pattern = Unknown quantization method: (\w[\w-]*(?:\.\w+)*)
cause = This release of vLLM does not know the model's quantization {found}.
remedy = Use a release that lists it (usually a newer one), or the model in a quantization that this release lists.
source = vllm-project/vllm#1919

[attention-backend-none]
keys = No valid attention backend
pattern =
    No valid attention backend found for \w+ with [^\n]*Reasons: \{(?P<why>[^\n]+)\}
    No valid attention backend
values =
    advice of why: .*_SPARSE(?:_\w+)?: \[[^\]]*compute capability => The model uses sparse attention, for which this
    + vLLM has kernels only for data-centre GPUs (9.0, 10.0), so no other backend helps. Use a newer vLLM with a sparse
    + backend for 12.x, or a model without sparse attention
    advice of why: (?!.*(?:FlashInfer API|requires)).*compute capability not supported => Use a newer vLLM, or an image
    + for the Spark, with a backend for 12.x, or another model; kernels for this kind of attention are usually for
    + data-centre GPUs
    advice of why: (?:) => If a reason says that a backend requires an API of FlashInfer, install the FlashInfer that
    + this vLLM pins; otherwise change the setting that the reasons name
cause = No attention backend of this vLLM fits the model's settings[: {why}].
remedy = {advice}.
source =
    vllm-project/vllm#57932
    vllm-project/vllm#31480

[modelopt-fp8-of-fp4]
keys = ModelOptFp8Config only supports
pattern = (ModelOptFp8Config) only supports static FP8
cause = The model is quantized to FP4, but SGLang reads it as ModelOpt FP8 ({found}).
remedy = Start it with --quantization modelopt_fp4 (for mixed quantization, modelopt_mixed, in a release that has it).
source = sgl-project/sglang#14285

[attention-backend-invalid]
keys =
    is not valid for this configuration. Reason
    Unknown attention backend
    must be registered before use
pattern =
    Backend (\w+) must be registered before use
    Unknown attention backend: '(\w+)'
    Selected backend \S*?(\w+) is not valid for this configuration\. Reason: \[(?P<why>[^\]\n]*)\]
cause = The attention backend {found} does not support this model on this GPU[: {why}], or is not in this release.
remedy = Let vLLM choose (unset VLLM_ATTENTION_BACKEND and --attention-backend), use a backend that its message or
    --help lists, or use the image for which the recipe was written.
source = vllm-project/vllm#28589

[vllm-caches-disabled]
keys = TORCHINDUCTOR_FORCE_DISABLE_CACHES
pattern = (TORCHINDUCTOR_FORCE_DISABLE_CACHES)['\"]?[=:] ?['\"]?1
when = vllm-compile-failed
cause = {found}=1 keeps PyTorch from writing the compiled code that vLLM reads back (with torch 2.7 and older). The
    cache is not damaged, and deleting it does not help.
remedy = Unset {found} (VLLM_DISABLE_COMPILE_CACHE=1 turns off vLLM's own cache), use torch 2.8 or newer, or start with
    --enforce-eager.
source = vllm-project/vllm#21858

[vllm-compile-failed]
keys = vLLM failed to compile the model
pattern = (vLLM failed to compile the model)
cause = vLLM does not find the compiled code that it expects in its cache: an earlier compilation failed, or
    TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 kept PyTorch from writing it.
remedy = Unset TORCHINDUCTOR_FORCE_DISABLE_CACHES if it is set. Otherwise delete ~/.cache/vllm/torch_compile_cache and
    start again to see the first failure. --enforce-eager starts without compilation.
source = vllm-project/vllm#21858

[vllm-jetson-without-nvml]
keys = in current_memory_usage
pattern =
    in current_memory_usage\n(?:[^\n]*\n){0,4}?\s*UnboundLocalError: [^\n]*variable '(mem)'
cause = vLLM found no CUDA platform, so it measured no memory ('{found}' has no value). Up to 0.6.3 it looks for the GPU
    with NVML, which a Jetson does not have; torch and the GPU work.
remedy = Use vLLM 0.6.4 or newer, which supports Jetsons, or NVIDIA's or jetson-containers' image for it.
source = vllm-project/vllm#9728

[ollama-runner-exited]
keys = llama runner exited, you may not have enough
pattern = (llama runner exited, you may not have enough (?:available )?memory)
uncertain = yes
cause = Ollama's runner ended while it loaded the model, usually because there was too little memory ({found}).
remedy = Read the runner's lines above it (journalctl -u ollama), end other programs, and use a smaller model or context
    (OLLAMA_CONTEXT_LENGTH), or fewer layers on the GPU (num_gpu).
source = ollama/ollama#1566

[nvml-gpu-number]
keys = NVMLError_InvalidArgument
pattern = (NVMLError_InvalidArgument)
cause = The program asked NVML for a GPU that does not exist ({found}). CUDA_VISIBLE_DEVICES contains the host's
    numbers, but a container with only some of the GPUs counts them from 0.
remedy = Unset CUDA_VISIBLE_DEVICES in the container, or set it to 0 (0,1 for two). A Spark has only GPU 0.
source = vllm-project/vllm#9865

[no-device-type]
keys =
    Failed to infer device type
    Unknown runtime environment
    Device string must not be empty
pattern =
    (Failed to infer device type)
    RuntimeError: (Unknown runtime environment)
    RuntimeError: (Device string must not be empty)
cause = vLLM found no PyTorch with CUDA ({found}): the installed one is a CPU build, or it sees no GPU.
remedy = Install torch from the cu130 index first, then a vLLM for it (build with --no-build-isolation), and check that
    torch.cuda.is_available() is True.
source = vllm-project/vllm#28371

[ray-placement-waits]
keys = Waiting for creating a placement group of specs for
pattern =
    Waiting for creating a placement group of specs for (?P<time>\d{2,}) seconds\.
    + specs=(?P<specs>[^\n]*?'node:(?P<node>[^'\n]+)'[^\n]*?\]|[^\n]{1,160}?\])
cause = For {time} s Ray has not found what vLLM needs: GPUs on as many hosts[, one of them with the address {node}].
remedy = Compare the request with ray status and ray list nodes. On each host, VLLM_HOST_IP must be the address with
    which Ray was started there (ray start --node-ip-address). Each Spark has one GPU, so the other host must have
    joined.
source = eugr/spark-vllm-docker#227

[tensor-parallel-over-hosts]
keys = cannot divide worker
pattern = --tensor-parallel-size (?P<size>\d+) cannot divide worker\[\d+\] (?P<have>\d+) GPUs
cause = The launcher allows tensor parallelism only within one host: {size} parts do not fit {have} GPU.
remedy = Use --pipeline-parallel-size {size} with --tensor-parallel-size 1, or start vLLM itself over both hosts with
    tensor
    parallelism (--nnodes, or a Ray cluster).
source = gpustack/gpustack#5779

[ray-node-unknown]
keys = can fulfill resource request {'node:
pattern = can fulfill resource request \{'node:(?P<node>[^'\n]+)'
cause = Ray has no host with the address {node} from VLLM_HOST_IP: that host has not joined the cluster, or its Ray was
    started with another address.
remedy = Start Ray on each host with that host's VLLM_HOST_IP (ray start --node-ip-address=$VLLM_HOST_IP).
source = vllm-project/vllm#7815

[ray-driver-without-node]
keys = No node info found matching attributes
pattern = (No node info found matching attributes)
cause = The program reached the Ray cluster, but Ray knows no node where the program runs ({found}): Ray was started in
    another container of this host, or with another of its addresses.
remedy = Start the program in the container in which ray start ran (docker exec), or first run ray start
    --address=HEAD:6379 --node-ip-address=ADDRESS there; for vLLM, set VLLM_HOST_IP to the same address.
source = gpustack/gpustack#5469

[ray-no-gpu]
keys =
    has no GPU available
    does not allocate any GPUs
    Cannot provide a placement group
    can fulfill resource request
    exceeds the total number of available GPUs
pattern =
    (Current node has no GPU available)
    (Ray does not allocate any GPUs on the driver node)
    (Cannot provide a placement group)
    (No available node types can fulfill resource request)
    (number of required GPUs exceeds the total number of available GPUs)
cause = The Ray cluster does not have the requested GPUs ({found}): the other host has not joined, or has another
    address than Ray knows.
remedy = Check ray status, and start Ray on the other Spark with the head's address.
source = vllm-project/vllm#7815

[trainer-gpus-too-few]
keys = total desired GPUs
pattern = Total available GPUs (?P<have>\d+) is less than total desired GPUs (?P<need>\d+)
cause = The training asks for {need} GPUs, but the Ray cluster has {have}.
remedy = Set the numbers to what exists: trainer.n_gpus_per_node=1 and trainer.nnodes=1 on one Spark, nnodes=2 with two
    in
    one Ray cluster (ray status shows both).

[weights-layout-changed]
keys = is not a valid data dimension for a
pattern = (shard_dim=\d+ is not a valid data dimension for a \d+D tensor)
cause = New weights cannot overwrite the loaded ones, because vLLM's MoE backend has rearranged those for its kernel
    ({found}).
remedy = Choose a backend that keeps the layout (--moe-backend triton), or a newer release of the trainer (verl), which
    reloads weights in vLLM's own way.
source = verl-project/verl#7987

[vllm-data-parallel-ranks]
keys = DP placement groups, expected
pattern = Created (?P<have>\d+) DP placement groups, expected (?P<need>\d+)
cause = Ray's hosts have room for {have} replicas, but --data-parallel-size asks for {need}, because vLLM distributes
    them by host.
remedy = Set --data-parallel-size to the number of hosts times --data-parallel-size-local, and let only the
    participating hosts join Ray (ray status). Or start the replicas on each host separately (--data-parallel-backend
    mp).
source = vllm-project/vllm#32400

[flashinfer-call-failed]
keys = failed with error
pattern = (?P<kernel>(?:Batch|Single)(?:Prefill|Decode|MLA)\w*|Sampling\w+|AllReduce\w*) failed with error
    + (?P<why>[^\n"]{3,80}?)\.?$
cause = A kernel of FlashInfer failed on this GPU ({kernel}): {why}.
remedy = Choose another attention backend (--attention-backend TRITON_ATTN or FLASH_ATTN of vLLM, triton of SGLang) or
    --kv-cache-dtype auto, delete ~/.cache/flashinfer, and use one release of flashinfer-python, flashinfer-cubin and
    flashinfer-jit-cache, the one that the server pins.
source = vllm-project/vllm#50331

[tei-backend-failed]
keys =
    Could not start Candle backend
    CublasError(
pattern =
    Could not start Candle backend: (?:Could not start backend: )?(?P<why1>cannot find tensor [^\n]{3,120})
    (?P<why2>CublasError\(CUBLAS_STATUS_\w+\))
values =
    advice of why: cannot find => It does not know this model's layout: take a newer image of it, a model of its list
    + (supported models in its documentation), or serve the model with vLLM (--runner pooling)
    advice of why: . => Take the image for this GPU (for a GB10 build one from Dockerfile-cuda with
    + CUDA_COMPUTE_CAP=120, whose code a 12.1 runs, too), and lower --max-batch-tokens
cause = Text Embeddings Inference cannot compute this model here: {why}.
remedy = {advice}.
source = huggingface/text-embeddings-inference#600

[grammar-refused-token]
keys =
    FSM failed to advance
    Failed to advance FSM
pattern = ((?:FSM failed to advance|Failed to advance FSM))
uncertain = yes
cause = The model's next token does not fit the grammar or JSON schema of the request ({found}), so that vLLM ended it:
    a fault of the backend for grammars, often together with speculative decoding or a reasoning parser.
remedy = Choose another backend (--structured-outputs-config with backend guidance or outlines;
    --guided-decoding-backend
    before vLLM 0.12), try it without speculative decoding, and upgrade vLLM with its xgrammar.
source = vllm-project/vllm#18783

[mpi-ranks-missing]
keys =
    MPI error
    mpiSize == tp * pp
pattern =
    Assertion failed: Failed: MPI error \S+ '(\d+)'
    Assertion failed: (mpiSize == tp \* pp)
cause = MPI has another number of ranks than the engine ({found}): the engine was built for several ranks, but started
    with fewer.
remedy = Start it with mpirun -n and the engine's world size (tensor parallelism times pipeline parallelism; on one
    Spark, build it with 1 and 1).
source =
    NVIDIA/TensorRT-LLM#1826
    NVIDIA/TensorRT-LLM#1796

[xformers-incomplete]
keys = module 'xformers.ops' has no attribute
pattern = module 'xformers\.ops' has no attribute '(\w+)'
cause = The installed xformers is incomplete for this PyTorch: it has no {found}.
remedy = Uninstall xformers, or choose another attention in the program.
source = mmartial/ComfyUI-Nvidia-Docker#136

[ollama-memory]
keys = model requires more system memory
pattern = model requires more system memory \((?P<need>[\d.]+ \w+)\) than is available \((?P<free>[\d.]+ \w+)\)
cause = The model needs {need} of memory, but only {free} are available.
remedy = End other programs that hold memory (also other models), drop the page cache if the GPU shares the host's
    memory (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches), or use a smaller or more quantized model.
source = ollama/ollama#12283

[rdma-memory-refused]
keys = Failed to register memory
pattern = Failed to register memory (?:0x)?\w+: (?P<why>Bad address|Invalid argument|Operation not supported)
cause = The network card could not register GPU memory ({why}). This needs GPUDirect RDMA (nvidia-peermem or DMA-BUF),
    which NVIDIA does not support on a DGX Spark, even if NCCL reports DMABUF as enabled.
remedy = Let the transfer use the host's memory or TCP (for Mooncake, MC_FORCE_TCP=1 or the protocol tcp; for NIXL,
    UCX_TLS=tcp). On a GPU that supports it, load nvidia-peermem.
source =
    kvcache-ai/Mooncake#281
    https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html

[omniverse-extension-missing]
keys =
    No versions of
    can't be satisfied
pattern = No versions of (?P<extension>omni\.\S+|isaacsim\.\S+) that satisfies: (?P<parent>\S+) depends on
    +(?:[^\n]*\n){1,9}?[^\n]*Synced registries:(?:[^\n]*\n){1,4}?\s*- (?P<registry>\S+)\s*: found 0 packages
    \[(?P<parent3>[\w.]+)-[^\]\n]*\] dependency: '(?P<extension3>[\w.]+)' = \{[^}\n]*\} can't be
    + satisfied(?!(?:[^\n]*\n){1,6}?[^\n]*incompatible: platform)
    No versions of (?P<extension2>omni\.\S+|isaacsim\.\S+) that satisfies: (?P<parent2>\S+) depends on
cause = The Omniverse registries that were read have no {extension}, which {parent} needs[; {registry} returned no
    packages at all].
remedy = Check that the registry can be reached (proxy, firewall; try again later), delete its cache (~/.local/share/ov,
    ~/.cache/ov), and use a release whose extensions exist for aarch64.
source = isaac-sim/IsaacSim#732

[triton-backend-missing]
keys = unable to find backend library for backend
pattern = unable to find backend library for backend '(\w+)'
cause = This image of the Triton Inference Server has no backend {found}, which the model's config.pbtxt requires.
remedy = Use the image variant that has it (for vLLM, -vllm-python-py3; for TensorRT-LLM, -trtllm-python-py3), or put
    the backend's directory into /opt/tritonserver/backends.
source = https://github.com/triton-inference-server/vllm_backend

[physx-gpu-failed]
keys =
    PhysX error: GPU
    PhysX Internal CUDA error
    ERROR_DEVICE_LOST
pattern =
    PhysX error: (?P<why1>GPU [^\n,]{5,80})
    (?P<why2>PhysX Internal CUDA error[^\n]{0,80})
    VkResult: (?P<why3>ERROR_DEVICE_LOST)
values =
    advice of why: ERROR_DEVICE => Look for an Xid in the kernel's log (journalctl -k), leave memory free, and use the
    + newest driver of the branch
    advice of why: . => Run the physics on the CPU (--device cpu), or with the Newton engine, and use the newest
    + release; PhysX on the GPU was reported not to work on a GB10
uncertain = yes
cause = The GPU part of the simulation failed ({why}).
remedy = {advice}.
source = isaac-sim/IsaacLab#4813

[omniverse-extension-platform]
keys = (incompatible: platform)
pattern =
    \[(?P<extension2>[\w.]+)-[^\]\n]*\] \(incompatible: platform\)
cause = Omniverse's extension {extension} exists only for other platforms (lx64, wx64), not for Linux on aarch64 (la64).
remedy = Do not use the extension that needs it (an x86-64 machine can run that step), or look for a release of Isaac
    Sim whose registry has a build of it for la64.
source = isaac-sim/IsaacSim#567

[nvml-no-memory]
keys =
    NVMLError_NotSupported
    invalid literal for int()
    could not convert string to float
    emory info
    getting device memory
    GetMemoryInfo
    No GPU memory values found
    nvml get memory error
    GPU memory telemetry
    division by 0 (error token
    Fail to get GPU info
    NVIDIA numeric field
pattern =
    (NVMLError_NotSupported)
    (Could not read valid GPU memory telemetry|invalid NVIDIA numeric field)
    Error: (No GPU memory values found)
    Fail to get GPU info: (Not Supported)
    nvml get memory error (ret=3)\b
    (?:[Mm]emory info|getting device memory|GetMemoryInfo)[^\n:]{0,60}[:(=] ?'?(?:\w*ERROR_)?((?i:not[ _]supported))
    (N/A) [^\n]{0,20}: division by 0
    Error: (?:invalid literal for int\(\) with base 10|could not convert string to float): ('\[?(?:N/A|Not
    + Supported)[^\n]*)
cause = NVML and nvidia-smi have no memory counters for a GPU that shares the host's memory (a GB10, a Jetson)
    ({found}), but the program expects a number. The driver and the GPU work.
remedy = Use a release of the program that works without the number, or reads it from cudaMemGetInfo or /proc/meminfo
    (NVIDIA's device plugin for Kubernetes from 0.17.4, GPU Operator from 25.10). HAMi also needs the amount:
    devicePlugin.preConfiguredDeviceMemory in MiB.
source = NVIDIA/gpu-operator#1794

[triton-server-model]
keys =
    failed to load all models
    failed to load '
    failed to poll model '
    Failed to determine modification time for '
    loading failed with error: version
    Could not determine backend for model
    unable to load shared library
    Poll failed for model directory
pattern =
    failed to load '(?P<model1>[^'\n]+)' version \d+: (?P<why1>[^\n]{1,200})
    Poll failed for model directory '(?P<model2>[^'\n]+)': (?P<why2>[^\n]{1,200})
    failed to poll model '(?P<model4>[^'\n]+)': (?P<why4>[^\n]{1,200}?)\.?$
    Failed to determine modification time for '(?P<model5>[^'\n]+)': (?P<why5>[^\n]{1,300}?)\.?$
    Model '(?P<model6>[^'\n]+)' loading failed with error: version \d+ is at UNAVAILABLE state:
    + (?P<why6>[^\n]{1,300}?)[.;]*$
    (?P<why3>failed to load all models)
values =
    advice of why: .*\$\{ => A variable in its config.pbtxt was not replaced: run tools/fill_template.py of
    + tensorrtllm_backend on the file (triton_backend:tensorrtllm, and the others with a dollar sign)
    advice of why: .*(?:/opt/tritonserver/backends|backend library) => This image has no such backend: use the image of
    + the same release that has it (nvcr.io/nvidia/tritonserver:YY.MM-trtllm-python-py3, -vllm-python-py3, -py3)
    advice of why: .*(?:unable to find|not found in any|does not exist|No such file) => Check that the files exist:
    + REPOSITORY/MODEL/config.pbtxt, and REPOSITORY/MODEL/1/model.pt (.onnx, .plan, .py) or the name that
    + default_model_filename in config.pbtxt sets; a container sees only what -v mounts
    advice of why: .*json\.exception\.parse_error => One of its parameters or files should be JSON but is empty: remove
    + parameters without a value from config.pbtxt, and check that the engine's directory (gpt_model_path) contains its
    + config.json
    advice of why: .*(?:unexpected|unable to find|invalid) (?:inference )?(?:in|out)put => Correct the name in
    + config.pbtxt to one that the message or the model has (an export may renumber them), or omit inputs and outputs,
    + so that the server fills them in
    advice of why: .*unknown (?:platform|backend) => Use a server image that has that backend (newer ones have none for
    + TensorFlow; nvcr.io/nvidia/tritonserver:YY.MM-py3), or convert the model to ONNX or TensorRT
    advice of why: failed to load all => Read the table of models above: the row with UNAVAILABLE says which model
    + failed, and why
    advice of why: . => Compare its config.pbtxt (backend, file names in the directory 1) with the backend's
    + documentation, use a server image that has that backend in the model's version (for TensorRT, the release that
    + built the engine), and read the lines about that model above
cause = Triton Inference Server could not load a model[, {model}]: {why}.
remedy = {advice}.

[scheduler-killed]
keys = Exit code: -9
pattern = ^(Exit code: -9)
cause = One of the server's processes was killed by signal 9 ({found}), as the kernel does if memory runs out.
remedy = Look for Out of memory in the kernel's log, and reduce the server's memory or use a smaller model.
source = sgl-project/sglang#15235

[marlin-shape]
keys = Invalid thread config: thread_m_blocks
pattern = Invalid thread config: thread_m_blocks[^\n]*?for MKN = \[(?P<shape>[^\]\n]+)\]
cause = Marlin cannot multiply matrices of this shape (M, K, N {shape}): K or N is not a multiple of 64 or 128, usually
    because the GPUs share the matrix.
remedy = Choose another --tensor-parallel-size (or --enable-expert-parallel) so that each part is a multiple, or use the
    model in another quantization, which has another kernel.
source = vllm-project/vllm#28363
"""
