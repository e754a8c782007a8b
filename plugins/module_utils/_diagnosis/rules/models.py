# __init__.py in this directory explains the fields.

"""Engines and models

Messages from vLLM, SGLang, TensorRT-LLM, Transformers and PEFT about a model or a setting that does not fit it.
"""

RULES = r"""
[trtllm-backend-without-model]
keys = is not supported in TRT-LLM yet
pattern = model architecture (?P<model>\w+) is not supported in TRT-LLM yet
cause = TensorRT-LLM was started with its TensorRT backend, whose list of models lacks {model}. Newer models exist only
    for its PyTorch backend.
remedy = Remove --backend tensorrt (or trtllm-build and its engine) and start it with --backend pytorch, the default
    since 1.0. If that backend also refuses the model, use a newer release.
source = NVIDIA/TensorRT-LLM#15941

[processor-missing]
keys = No processor registered for architecture
pattern = No processor registered for architecture: \['(\w+)'
cause = This SGLang has no image or audio processor for {found}: it is older than the model, or a package that the
    processor imports is missing.
remedy = Use a newer release or image (NVIDIA's nvcr.io/nvidia/sglang instead of lmsysorg/sglang:spark), and look above
    for an import that failed.
source = NVIDIA/dgx-spark-playbooks#68

[processor-call-failed]
keys = Failed to apply
pattern = Failed to apply (?P<processor>\w*Processor) on data=
uncertain = yes
cause = The model's {processor} did not accept the image, video, audio or text that the server gave it (at the start, a
    dummy of the largest size), or the options for it.
remedy = Read the exception above. Install the Transformers that this release of vLLM names, leave out
    --mm-processor-kwargs, and check the input (its size and format); --limit-mm-per-prompt with 0 leaves a kind out.

[sglang-watchdog]
keys = Watchdog timeout (self.watchdog_timeout
pattern = Watchdog timeout \(self\.watchdog_timeout=(?P<time>[\d.]+)
cause = SGLang's watchdog ended the server, because its scheduler did nothing for {time} s. It waits for another rank
    (NCCL) or for a kernel to compile, or a kernel hangs.
remedy = With two hosts, read both hosts' NCCL lines (NCCL_DEBUG=INFO). At the first start, allow more time
    (--watchdog-timeout 1800) until the kernels are compiled. With one host, try --disable-cuda-graph or another
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
keys =
    is larger than the number of available GPUs
    exceeds available GPUs
pattern =
    World size \((?P<size>\d+)\) is larger than the number of available GPUs \((?P<gpus>\d+)\)
    [Tt]ensor parallel size \((?P<size2>\d+)\) exceeds available GPUs \((?P<gpus2>\d+)\)
cause = vLLM is configured for {size} GPUs, but this host has {gpus}; a Spark has one.
remedy = On one Spark, set --tensor-parallel-size 1. For two, start vLLM on both (Ray, or --nnodes 2 --node-rank with
    --master-addr), with --distributed-executor-backend ray or mp, as its documentation for several hosts says.

[quantization-differs]
keys = does not match the quantization method
pattern =
    model config \((?P<model>\w[\w-]*)\) does not match the quantization method specified in the 'quantization'
    + argument \((?P<asked>\w[\w-]*)\)
cause = The model is quantized as {model}, but --quantization says {asked}.
remedy = Omit --quantization, because the server reads it from the model's config.json.

[moe-activation-unknown]
keys = Invalid activation type
pattern = RuntimeError: (Invalid activation type)
cause = flashinfer's CUTLASS kernels for experts do not support this model's activation ({found}; relu2 is supported
    since 0.6.8).
remedy = Choose another backend for the experts (vLLM's --moe-backend triton, SGLang's --moe-runner-backend triton), or
    a newer release with its flashinfer.
source = vllm-project/vllm#39825

[moe-types-not-compiled]
keys = Could not construct fused moe op
pattern = Could not construct fused moe op with the\s+requested input combination (?P<types>[^\n]{3,160})
cause = FlashInfer's CUTLASS kernels for experts were compiled without these types ({types}). Those for FP4 are left out
    if nvcc is older than 12.8.
remedy = Compile them with CUDA 13's nvcc (CUDA_HOME=/usr/local/cuda, after deleting ~/.cache/flashinfer), install
    flashinfer-jit-cache of flashinfer-python's version, or choose another backend for the experts (vLLM's --moe-backend
    marlin or triton).
source = vllm-project/vllm#48541

[quantization-scheme-unknown]
keys =
    No compressed-tensors compatible scheme was found
    ModelOpt currently only supports
    Unsupported FusedMoe scheme
    Failed to find a kernel that can implement the
    MoE backend supports the deployment configuration
    FlashInfer kernels unavailable for
pattern =
    (?P<what1>No compressed-tensors compatible scheme was found)
    (?P<what5>Unsupported FusedMoe scheme)
    (?P<what2>ModelOpt currently only supports: \[[^\]\n]*\])
    (?P<what3>Failed to find a kernel that can implement the \w+ linear layer)\.(?: Reasons: (?P<why>[^\n]+))?
    (?P<what4>No \w+ MoE backend supports the deployment configuration)
    (?P<what6>FlashInfer kernels unavailable for \w+ on current platform)
cause = This release of the server has no kernel on this GPU for the model's kind of quantization ({what}[: {why}]).
remedy = Use a newer release or the image for the Spark, another backend (--moe-backend marlin or triton), or the model
    in another quantization (FP8, AWQ or a GGUF). If a reason names a size, lower --tensor-parallel-size.
source = vllm-project/llm-compressor#1427

[type-of-model]
keys = does not support float16. Reason:
pattern =
    The model type '(?P<model>[^'\n]+)' does not support float16\. Reason: (?P<why>[^.\n]+)
cause = vLLM does not run models of type {model} with float16 ({why}).
remedy = Omit --dtype float16, or set --dtype bfloat16. A quantization that works only with float16 (AWQ) cannot be used
    with such a model: choose another, such as FP8.
source = intel/llm-scaler#270

[type-of-quantization]
keys = is not supported for quantization method
pattern =
    (?P<type>torch\.\w+) is not supported for quantization method (?P<method>\w+)\. Supported dtypes:
    + \[(?P<types>[^\]\n]+)\]
cause = The quantization {method} does not support {type}, only {types}.
remedy = Set --dtype to one of those, or to auto.

[head-size]
keys =
    Unsupported head_dim
    Unsupported head size
    head_size not supported
pattern =
    Unsupported head_dim: (\d+)
    Unsupported head size:? (\d+)
cause = The attention backend has no kernel for this model's heads, which have {found} elements.
remedy = Choose another backend (vLLM's --attention-backend TRITON_ATTN, SGLang's triton).

[transformers-name-taken]
keys = is already used by a Transformers config
pattern = '(?P<name>[\w-]+)' is already used by a Transformers config
cause = The program registers the model type {name}, which the installed Transformers now defines itself. The program is
    older than this Transformers.
remedy = Use a newer release of the program (vLLM), or an older Transformers that its requirements allow.
source = nvidia-cosmos/cosmos-rl#180

[tokenizer-class-unknown]
keys = does not exist or is not currently imported
pattern = Tokenizer class (\w+) does not exist or is not currently imported
cause = The installed Transformers has no tokenizer class {found}: the model was saved with a newer Transformers, or
    needs its own code.
remedy = Install the Transformers that the model's page names (TokenizersBackend belongs to 5), if the engine allows it,
    or pass --trust-remote-code if the class is in the model's repository.

[quantization-type-unknown]
keys = Unknown quantization type
pattern = Unknown quantization type, got (?P<got>[\w.-]+) - supported types
cause = The model is stored in the quantization {got}, which the installed Transformers does not know.
remedy = Install the Transformers that the model's page names (pip install -U transformers), serve it with an engine
    that reads {got} itself (vLLM, SGLang), or use a copy of the model in bf16 or a format from the message's list.
source = hiyouga/LlamaFactory#6777

[gguf-in-engine]
keys =
    GGUF model with architecture
    Error: Architecture
pattern =
    GGUF model with architecture (\w+) is not supported yet
    (?:ValueError: |^)Architecture (\w+) not supported
cause = Transformers, and therefore vLLM and SGLang, cannot read GGUF files of {found}.
remedy = Run the GGUF with llama.cpp or Ollama, or use the model in safetensors for this engine.

[rope-scaling]
keys =
    rope_scaling
    Missing required keys in `rope_parameters`
pattern =
    [Ee]rror[:,] '?(rope_scaling'? (?:must|should) [^\n\[]{0,80}[^\n\[ ])
    (Missing required keys in 'rope_parameters'[^\n]{0,80})
cause = The installed Transformers does not understand how the model scales its positions ({found}): it is older than
    the model, or an override is incomplete.
remedy = Upgrade Transformers (with the engine that pins it), or set rope_type, factor and
    original_max_position_embeddings with --hf-overrides.
source = meta-llama/llama3#299

[sglang-kv-transfer]
keys = KVTransferError(
pattern = KVTransferError\(bootstrap_room=\d+\): (?P<why>[^\n"']{4,300})
uncertain = yes
values =
    advice of why: (?:Could not fetch|.*bootstrap_addr) => Check that the decoding server can reach the prefill server's
    + --disaggregation-bootstrap-port at the address in its --host (ufw, no proxy)
    advice of why: . => Look in both logs for an earlier error of the transport: set the cabled ports with
    + --disaggregation-ib-device, and give containers /dev/infiniband and --ulimit memlock=-1; TCP needs a Mooncake
    + built with CUDA
cause = The cache of a request did not get from the prefill server to the decoding server: {why}.
remedy = {advice}.
source = sgl-project/sglang#7118

[trtllm-no-cache-memory]
keys =
    memory available for KV cache
    No available memory for KV cache
pattern = (No (?:available )?memory (?:available )?for KV cache)
cause = The weights use up the memory, so nothing is left for the KV cache ({found}).
remedy = Use a smaller or more quantized model, a shorter --max_seq_len or a smaller --max_batch_size, end other
    programs, or raise kv_cache_config.free_gpu_memory_fraction if the host has the memory.

[ray-shared-memory]
keys = exceeds /dev/shm size
pattern = object store size \((?P<asked>[^)\n]+)\) exceeds /dev/shm size \((?P<have>[^)\n]+)\)
cause = Ray needs {asked} in /dev/shm, which has only {have}.
remedy = Start the container with --ipc=host or a larger --shm-size, or Ray with a smaller --object-store-memory.

[image-places-differ]
keys =
    multimodal tokens to
    special image tokens in the input text
    Failed to apply prompt replacement
    dummy tokens for profiling
    prompt placeholders
pattern =
    (?P<why1>Attempted to assign [\d +x=]{1,80} multimodal tokens to \d+ placeholders)
    (?P<why2>Number of images does not match number of special image tokens in the input text)
    (?P<why3>Failed to apply prompt replacement for mm_items\['\w+'\])
    (?P<why5>Expected at least \d+ dummy tokens for profiling, but found \d+)
    (?P<why6>Expected there to be \d+ prompt placeholders[^\n]{0,80})
cause = The text does not fit its images ({why}): the prompt's number of image placeholders differs from the
    processor's.
remedy = Let the chat template write the placeholders, one for each image, and write none by hand (messages with
    image_url, or processor.apply_chat_template). Do not truncate a prompt between them (use a longer --max-model-len).
    Start a Mistral model with all three options of its page (--tokenizer-mode, --config-format and --load-format
    mistral) or with none of them, and install the transformers that the server's release pins.
source =
    vllm-project/vllm#15764
    huggingface/transformers#36008

[lora-weights-refused]
keys =
    is unsupported LoRA weight
    vLLM only supports modules_to_save
    vLLM does not yet support DoRA
    expected target modules in
    expected target_modules to
    unexpected modules: [
pattern =
    (?:ValueError: |^)(?P<weight1>\S+) is unsupported LoRA weight
    vLLM only supports (?P<weight4>modules_to_save) being None
    vLLM does not yet support (?P<weight5>DoRA)
    expected target[ _]modules in (?P<taken>\[[^\]\n]{0,200}\]?)[^\n]*? but received (?P<weight2>\[[^\]\n]{0,200})
    expected target_modules to [^\n]*?(?:unexpected modules: )?(?P<weight3>\[[^\]\n]{0,200})
values =
    reason of weight: .*(?:lm_head|embed_tokens|score|classifier|modules_to_save|original_module) => the adapter also
    + contains complete layers (modules_to_save, or an enlarged vocabulary)
    reason of weight: . => it was trained on other parts of the model than the server supports
cause = The server cannot apply this LoRA adapter ({weight}): {reason}[; it supports {taken}].
remedy = Merge the adapter into the model and serve the result (PEFT's merge_and_unload(), Unsloth's
    save_pretrained_merged()), or train again without modules_to_save and only on the model's linear layers. For another
    base model, use an adapter made for it.
source = vllm-project/vllm#9280

[lora-not-there]
keys = No adapter found for
pattern = (?:Loading lora (?P<name>\S+) failed: )?No adapter found for (?P<path>[^\n]*[^\n\s.])
values =
    advice of path: .*[\]}'")]$ => Remove the brackets and quotes: the value is NAME=PATH (--lora-modules
    + sql=/models/sql-lora), and several values are separated by spaces
    advice of name: .*[\[{'"(] => Remove the brackets and quotes: the value is NAME=PATH (--lora-modules
    + sql=/models/sql-lora), and several values are separated by spaces
    advice of path: . => Set the directory that contains adapter_config.json and adapter_model.safetensors (after a
    + training, often a checkpoint's directory), mounted into the container under that path; a name on the hub must be
    + complete
cause = The server looked for a LoRA adapter at {path}, but there is none.
remedy = {advice}.
source = vllm-project/vllm#30690

[lora-rank]
keys = is greater than max_lora_rank
pattern = LoRA rank (?P<rank>\d+) is greater than max_lora_rank (?P<most>\d+)
cause = The adapter has rank {rank}, but the server accepts at most {most}.
remedy = Start it with --max-lora-rank {rank}.

[generation-length]
keys = but `max_length` is set to
pattern = Input length of \w+ is (?P<have>\d+), but 'max_length' is set to (?P<most>\d+)
cause = The prompt has {have} tokens, but generate() is limited to {most} including the prompt.
remedy = Pass max_new_tokens=256 (the number of new tokens) instead of max_length.

[image-tokens-differ]
keys =
    mage features and image tokens do not match
    ideo features and video tokens do not match
pattern = (?P<kind>[Ii]mage|[Vv]ideo) features and \w+ tokens do not match:? ?(?P<sizes>[^\n]{0,60})
cause = The prompt's number of {kind} tokens differs from the encoder's output ({sizes}): the text was truncated, or the
    processor and the model come from different releases.
remedy = Do not truncate (truncation=False, a longer max_length or cutoff_len), use the model's own processor with the
    Transformers that its page names, and reduce the size of images (max_pixels) if the prompt is too long.

[batched-tokens]
keys = max_num_batched_tokens (
pattern =
    max_num_batched_tokens \((?P<have1>\d+)\) (?:is smaller than|must be greater than or equal to)
    + (?P<what1>max_model_len|max_num_seqs) \((?P<need1>\d+)\)
    (?P<what2>max_tokens_per_mm_item|block_size|max_num_seqs|max_model_len) \((?P<need2>\d+)\)
    +[^\n]*?max_num_batched_tokens \((?P<have2>\d+)\)
cause = vLLM processes at most {have} tokens per step (max_num_batched_tokens), but {what} needs {need}.
remedy = Start it with --max-num-batched-tokens {need} or more[, or lower {what}].
source = vllm-project/vllm#36734

[parser-unknown]
keys =
    invalid tool call parser:
    invalid reasoning parser:
    easoning parser '
    ool parser '
    -parser: invalid choice: '
pattern =
    invalid (?P<kind1>tool call|reasoning) parser: (?P<name1>[\w.-]+) \(chose from \{ ?(?P<known1>[^}\n]+)
    (?P<kind2>[Rr]easoning|[Tt]ool) parser '(?P<name2>[^'\n]+)' not found(?:\. Available parsers: (?P<known2>[^'\n]+))?
    --(?P<kind3>[\w-]+)-parser: invalid choice: '(?P<name3>[^'\n]+)' \(choose from (?P<known3>[^)\n]+)
cause = This release of the server has no {kind} parser {name}. The name is misspelt, or the parser is newer than the
    release[; it has {known}].
remedy = Use one of the server's parsers that fits the model's family, or the newer release (or nightly image) of the
    server that the model's page names.
source = vllm-project/vllm#9312

[reasoning-token-split]
keys = must encode to exactly one token
pattern = '?(?P<name>\w+)'? '(?P<token>[^'\n]+)' must encode to exactly one token
cause = The reasoning parser needs {token} as one token, which the model's tokenizer does not have: the parser is for
    another model.
remedy = Omit --reasoning-parser, or use the parser of the model's family (its page names it), or a newer release.
source = sgl-project/sglang#24843

[template-file-missing]
keys = appears path-like, but doesn't exist
pattern = template string \((?P<file>[^)\n]+)\) appears path-like, but doesn't exist!(?: Tried: (?P<tried>[^\n]+))?
cause = The chat template {file} was not found[ (tried: {tried})].
remedy = Give its full path. In a container, the path must be inside the container, so mount the file, or use one from
    the image (vLLM's are in examples/ of its source).

[chat-template-refuses]
keys =
    jinja2.exceptions.
    Conversation roles must alternate
    After the optional system message
    ystem role not supported
    Unexpected role '
    'str object' has no attribute
    'dict object' has no attribute
    'list object' has no attribute
    Jinja Exception:
    tools param requires --jinja
    is not callable: null at row
    in an assistant message with tool calls
    failed to parse chat template
    System message must be at the beginning
pattern =
    Jinja Exception: (?P<why6>[^\n"]{1,160}?)(?:\.*$|\.?"|\\n)
    (?P<why7>tools param requires --jinja(?: flag)?)
    (?P<why8>(?:Value|Callee|hint: '\w+') is not callable: null at row \d+)
    (?P<why9>Cannot pass both content and thinking in an assistant message with tool calls)
    (?P<why10>failed to parse chat template)
    (?P<why11>System message must be at the beginning)
    TemplateError: (?P<why1>[^\n]{1,160}?)\.*$
    UndefinedError: (?P<why2>[^\n]{1,160}?)$
    TemplateSyntaxError: (?P<why3>[^\n]{1,160}?)$
    (?P<why4>Unexpected role '\w+' after role '\w+'|Conversation roles must alternate user/assistant|After the optional
    + system message[^\n]{0,60}|[Ss]ystem role not supported)
    (?P<why5>'(?:str|dict|list) object' has no attribute '\w+')
values =
    advice of why: .*(?:alternate|[Aa]fter ) => Alternate user and assistant messages, beginning with user, and join
    + consecutive messages of the same role (a client's context or tool messages often cause them)
    advice of why: .*System message must => Put all system messages into the first one (the client or agent adds some
    + later), or set a template that accepts them anywhere (--chat-template-file)
    advice of why: tools param => Start llama-server with --jinja
    advice of why: .*is not callable => Update llama.cpp, whose own Jinja lacked that function, or the program that
    + includes it; until then, set a template without the function (--chat-template-file)
    advice of why: Cannot pass both => Let the client send back only content or only reasoning with the tool call (newer
    + clients do), or use the model's newest template (--chat-template-file)
    advice of why: failed to parse => Another template is used instead, and answers may be worse: pass the model's own
    + Jinja template (--chat-template-file; Ollama's templates are in Go's format, not Jinja), and update llama.cpp
    advice of why: .*[Ss]ystem role => Put the system message's text at the start of the first user message
    advice of why: .*has no attribute => Give each message of the data or request the field that the template reads,
    + such as content (in Axolotl, message_property_mappings)
    advice of why: . => Use the model's own template in its newest revision, or another one (--chat-template FILE)
cause = The model's chat template does not accept the conversation: {why}.
remedy = {advice}.
source = https://github.com/axolotl-ai-cloud/axolotl/blob/main/docs/faq.qmd
unless =
    FAILED! =>|conditional|AnsibleUndefined|template string|undefined variable

[model-files-missing]
keys =
    Invalid repository ID or local directory specified
    No supported config format found in
    Could not detect config format for
pattern =
    Invalid repository ID or local directory specified: '(?P<model1>[^'\n]+)'
    No supported config format found in (?P<model2>[^\s.]\S*?)\.?$
    (?P<none>Could not detect config format for) no config file found
cause = vLLM found no config.json[ of {model}]. The directory differs in the container, its download is incomplete, or
    the hub did not provide the file (no token for a gated model, no network). A diffusers model or a GGUF file has no
    config.json.
remedy = List the directory where vLLM runs (docker exec CONTAINER ls {model}), mount the host's (-v), and set a token
    (HF_TOKEN) for a gated model. An image model (model_index.json) needs vllm-omni or diffusers.
source = vllm-project/vllm#13724

[grammar-refused]
keys =
    not supported by xgrammar
    json_schema_converter
    structured output backend must match
pattern =
    (JSON schema contains features not supported by xgrammar)
    json_schema_converter\.cc:\d+: ([^\n]{1,160})
    (Request-level structured output backend must match engine-level backend)
cause = The server cannot create a grammar for the requested structured output ({found}).
remedy = Simplify the schema (no patterns, lengths or ranges; only JSON's own types), and name no backend in the
    request: with --structured-outputs-config.backend auto, vLLM falls back to another backend than xgrammar.
source = vllm-project/vllm#12131

[architectures-missing]
keys = No model architectures are specified
pattern = (No model architectures are specified)
cause = The model's config.json has no list of architectures ({found}): it is part of a model (a tokenizer, an adapter,
    one of several stages), or was made for another library.
remedy = Use the directory with the complete model in the repository, or set the class that the model's page names
    (--hf-overrides with architectures).

[auto-model-class]
keys = Unrecognized configuration class
pattern =
    Unrecognized configuration class <class '(?:[\w.-]+\.)?(?P<config>\w+)'> (?:for this kind of AutoModel:|to build an)
    + (?P<auto>\w+)
values =
    advice of config: \w*(?:VL|Vision|Llava|Omni|Mllama|Gemma[34]|Idefics|Florence|Pixtral) => It is a model for images
    + and text: load it with AutoModelForImageTextToText (or the class that its page names), with a newer release of the
    + program that loads it
    advice of config: . => Load it with the class that its page names, or upgrade Transformers and the program; a model
    + with its own code needs trust_remote_code=True and the Transformers that its page names
cause = The program loads the model as {auto}, but in the installed Transformers a model of {config} is of another kind.
remedy = {advice}.
source = QwenLM/Qwen3-VL#157

[quantization-not-of-model]
keys = Quantization is not supported for <class
pattern = Quantization is not supported for <class '(?:[\w.]+\.)?(?P<class>\w+)'>
cause = This release of vLLM runs models of class {class} only without quantization.
remedy = Use a newer release, or the model without quantization (bfloat16).
source = vllm-project/vllm#1711

[types-differ]
keys =
    expected mat1 and mat2 to have the same dtype
    expected m1 and m2 to have the same dtype
    expected scalar type
    should be the same
    must have the same dtype
    tensor to have dtype
    query, key, and value to have the same dtype
    should either all have the same dtype
pattern =
    (?P<types7>Query/Key/Value) should either all have the same dtype
    query, key, and value to have the same dtype, but got (?P<types6>[^\n]{5,120}?)(?: instead)?\.?$
    Expected \w+ tensor to have dtype (?P<types5>\S+, but got \w+)
    expected m(?:at)?1 and m(?:at)?2 to have the same dtype, but got: (?P<types1>\S+ != \S+)
    expected scalar type (?P<types2>\w+ but found \w+)
    Input type \((?P<types3>\S+)\) and (?:weight|bias) type \(\S+\) should be the same
    must have the same dtype, but got (?P<types4>\w+ and \w+)
values =
    advice of types: .*(?:Byte|Char|Float8|uint8|int8) => One of them is quantized and was not unpacked first: load that
    + file with the node or library for its quantization, update it together with the program (in ComfyUI, the node that
    + moves or loads models), or use the file in bf16
    advice of log_comfyui: . => Set weight_dtype of the loaders to default, update ComfyUI and its nodes, and start it
    + with --force-fp16 or --bf16-unet (one type for all parts); a VAE or text encoder has its own option (--fp32-vae,
    + --fp32-text-enc)
    advice of types: . => Load all parts with one type (dtype=torch.bfloat16, formerly torch_dtype) on one device, cast
    + the input (.to(model.dtype)), or run under torch.autocast("cuda", dtype=torch.bfloat16)
cause = Two parts of a model have different data types ({types}): one was loaded as another type, or stayed on the CPU.
remedy = {advice}.

[rope-type-unknown]
keys = ROPE_INIT_FUNCTIONS[
pattern = ROPE_INIT_FUNCTIONS\[[^\n]*\n(?:[ ~^]+\n)?KeyError: '(?P<type>\w+)'
cause = The installed Transformers has no rotary embedding {type}. Transformers 5 dropped the name default, and the
    model's own code was written for 4.
remedy = Install transformers<5 (4.57.6), or use a newer revision of the model with code for 5.
source = KRLabsOrg/LettuceDetect#33

[tokenizer-list-of-tokens]
keys = AttributeError: 'list' object has no attribute 'keys'
pattern = AttributeError: 'list' object has no attribute 'keys'
cause = The program expects a mapping, but found a list. In a tokenizer, this means that Transformers 5 wrote
    tokenizer_config.json (with a list as extra_special_tokens), and that 4 is installed.
remedy = Upgrade Transformers to 5 with a release of the program that supports it, or use model files for 4 (or remove
    extra_special_tokens from tokenizer_config.json).
source = ml-explore/mlx-lm#661

[transformers-per-layer-attribute]
keys = is a per-layer attribute
pattern = '(\w+)' is a per-layer attribute
cause = Transformers 5.15 and newer do not return {found} for the whole model if its layers differ, but the engine (vLLM
    up to 0.27) still reads it that way: the releases do not match.
remedy = Install 'transformers<5.15' with this engine, or an engine that reads the attribute per layer (vLLM 0.28 or
    newer).
source = vllm-project/vllm#51744

[transformers-attribute-missing]
keys =
    has no attribute all_special_tokens_extended
    TokenizersBackend has no attribute
    Cache' object has no attribute '
    Cache' has no attribute '
    Config' object has no attribute '
    Tokenizer' object has no attribute '
    TokenizerFast' object has no attribute '
    has no attribute 'all_tied_weights_keys'
    has no attribute '_supports_sdpa'
pattern =
    Error: (?P<class1>\w+) has no attribute (?P<attribute1>\w+)
    Error: '(?P<class2>\w*Tokenizer(?:Fast)?|(?:Dynamic|Static|Hybrid|EncoderDecoder)?Cache)' object has no attribute
    + '(?P<attribute2>\w+)'
    Error: type object '(?P<class3>\w*Cache)' has no attribute '(?P<attribute3>\w+)'
    Error: '(?P<class4>\w+)' object has no attribute '(?P<attribute4>all_tied_weights_keys|_supports_sdpa)'
    Error: '(?P<class5>\w+Config)' object has no attribute '(?P<attribute5>vocab_size|\w*hidden_size|num_\w*(?:heads|la
    +yers)|\w+_token_id|rope_\w+|max_position_embeddings|text_config|head_dim|tie_word_embeddings|_attn_implementation\
    +w*|layer_types|torch_dtype)'
values =
    advice of attribute: all_special_tokens_extended => Install transformers<5 (4.57.6), or vLLM 0.13 or newer
    advice of class: \w*Cache$ => Install the older Transformers for which the model's own code was written
    + (transformers_version in its config.json, usually 4.4x), or use Transformers' own class without trust_remote_code
    advice of attribute: (all_tied_weights_keys|_supports_sdpa) => Install the Transformers for which the model's own
    + code was written (transformers_version in its config.json), or use a newer revision of the model
    advice of class: . => Install the Transformers that the engine or the model's page names (transformers<5 if they do
    + not support 5; a newer one if the model is newer)
cause = The engine or the model's own code was written for another Transformers than the installed one, in which {class}
    has no {attribute}.
remedy = {advice}.
source = QwenLM/Qwen3-VL#2058

[model-partly-offloaded]
keys =
    Some modules are dispatched on the CPU or the disk
    had weights offloaded to the disk
    with CPU or disk offload
pattern =
    (Some modules are dispatched on the CPU or the disk)
    (had weights offloaded to the disk)
    (?:8|4)-bit[^\n]* with (CPU or disk offload)
cause = Transformers spread the model over the GPU and the CPU or the disk (device_map="auto"), because it found too
    little free memory on the GPU ({found}). On a GB10, GPU memory is the host's memory, part of which the page cache
    uses.
remedy = Put the complete model on the GPU (device_map="cuda"); before that, drop the page cache (sync; echo 3 | sudo
    tee /proc/sys/vm/drop_caches) and end other programs. If the model is too large, use a smaller or quantized one.
source = SkyworkAI/Skywork#67

[meta-tensor]
keys =
    Cannot copy out of meta tensor
    on device meta is not on the expected device
pattern =
    (Cannot copy out of meta tensor)
    (Tensor on device meta is not on the expected device \w+:?\d*)
cause = Part of the model has no weights yet ({found}). device_map or low_cpu_mem_usage left it on the device meta,
    because there was too little memory or the file lacks its weights.
remedy = Free memory first, put the model on the GPU with device_map="cuda" without a later .to("cuda"), update
    Transformers and accelerate, and look above for weights that were newly initialized.

[torch-load-refused]
keys = serious vulnerability issue in `torch.load`
pattern = (serious vulnerability issue in 'torch\.load')
cause = Transformers loads weights in the old format (.bin, .pt) only with PyTorch 2.6 or newer, but an older one is
    installed ({found}).
remedy = Install a newer PyTorch (on a Spark, for cu130), or use the model's safetensors (use_safetensors=True, or a
    revision that has them).
source = huggingface/transformers#38464

[tokenizer-library-missing]
keys =
    You need to have sentencepiece
    library but it was not found in your environment
    Couldn't instantiate the backend tokenizer
    Tiktoken failed, if a converter for SentencePiece
pattern =
    You need to have (?P<library1>sentencepiece|tiktoken)
    requires the (?P<library2>[\w-]+) library but it was not found in your environment
    (?P<library3>Couldn't instantiate the backend tokenizer)
    Converting from (?P<library4>(?:SentencePiece and )?Tiktoken) failed
values =
    packages of library: [Pp]roto => protobuf
    packages of library: [Ss]entence|[Tt]iktoken|Could => sentencepiece tiktoken protobuf
    packages of library: . => that package
cause = A package that reads the model's tokenizer is not installed: {library}.
remedy = Install it in the program's environment (python -m pip install {packages}) and start the program again. If the
    error remains, the tokenizer's files (tokenizer.json or tokenizer.model) are missing or incomplete.
source = huggingface/transformers#36291

[peft-modules-missing]
keys = not found in the base model. Please check the target modules
pattern = Target modules (?P<modules>[^\n]+?) not found in the base model
cause = PEFT found no layers named {modules} in this model: its layers have other names, or the installed PEFT is too
    old for all-linear.
remedy = Set target_modules="all-linear" with a newer PEFT, or the names of the model's layers, which
    model.named_modules() lists.
source = OptimalScale/LMFlow#125

[adapter-file-missing]
keys = Can't find 'adapter_config.json'
pattern = Can't find 'adapter_config\.json' at '(?P<path>[^'\n]+)'
cause = {path} is not a PEFT adapter, because it has no adapter_config.json: training did not save it, or it is a
    complete model.
remedy = Set the directory that trainer.save_model wrote (usually a checkpoint- directory below it), or load a complete
    model without PEFT.

[config-field-refused]
keys =
    StrictDataclassFieldValidationError
    StrictDataclassClassValidationError
    Class validation error for validator
pattern =
    StrictDataclass(?:Field|Class)ValidationError: (?:Class )?[Vv]alidation error for (?P<kind>field|validator)
    + '(?P<name>\w+)':?(?:\s+(?P<why>\w+Error: [^\n]+))?
cause = The installed Transformers refuses the model's config.json: {kind} {name}[: {why}]. Another release wrote the
    file.
remedy = Install the Transformers that config.json names (transformers_version), or a newer one with an engine that
    supports it, or use a newer revision of the model.
source = vllm-project/vllm#39180

[mpi-spawn-failed]
keys =
    MPI.Exception: MPI_ERR_
    All nodes which are allocated for this job are already filled
pattern =
    MPI\.Exception: (MPI_ERR_(?:SPAWN|UNKNOWN))
    (All nodes which are allocated for this job are already filled)
cause = Open MPI could not start more processes for the engine ({found}): the host has fewer slots than processes, or
    this Open MPI cannot start processes from a program (TensorRT-LLM's image 1.3.0rc27 with Open MPI 5).
remedy = Allow more processes than slots (OMPI_MCA_rmaps_base_oversubscribe=1), start the server with mpirun -n SIZE
    --allow-run-as-root trtllm-llmapi-launch, where SIZE is its number of ranks, or use the image of another release.
source = NVIDIA/TensorRT-LLM#5495

[main-guard-missing]
keys = finished its bootstrapping phase
pattern = (finished its bootstrapping phase)
cause = The script starts an engine or workers when it is imported, and each new process imports it again ({found}).
remedy = Put the script's actions below `if __name__ == "__main__":`.

[ray-addresses]
keys = Every node should have a unique IP address
pattern = Got (?P<hosts>\d+) nodes? [^\n]*? and (?P<addresses>\d+) unique IP addresses
cause = vLLM sees {hosts} Ray hosts with {addresses} addresses: VLLM_HOST_IP is the same on all of them, or on a host
    with several networks vLLM uses another address than Ray.
remedy = On each host, also in the container, set VLLM_HOST_IP to its own address in the network between the Sparks, and
    start Ray with the same address (ray start --node-ip-address=$VLLM_HOST_IP).
source = vllm-project/vllm#43095

[nixl-configurations-differ]
keys = compatibility hash mismatch
pattern = NIXL[^\n]{0,80}(?P<found>compatibility hash mismatch)
cause = The prefill and decode servers store the KV cache differently, so NIXL refuses to transfer it ({found}).
remedy = Start both with the same release of vLLM and of the connector, and the same model, --kv-cache-dtype,
    --block-size, attention backend and --disable-hybrid-kv-cache-manager (a connector inside MultiConnector or LMCache
    may have turned that on for only one of them).
source = ai-dynamo/dynamo#12821

[nixl-status]
keys = NIXL_ERR_
pattern = (?P<status>NIXL_ERR_(?P<kind>[A-Z_]+))
values =
    advice of kind: BACKEND => Make UCX work between the hosts first (ucx_info -d, ucx_perftest): set the cabled ports
    + in UCX_NET_DEVICES, allow tcp,cuda_copy,cuda_ipc or rc in UCX_TLS, give containers /dev/infiniband, --ulimit
    + memlock=-1 and --shm-size, and use the same release of NIXL and UCX on all hosts
    advice of kind: REMOTE_DISCONNECT => Read the other server's log: it exited or was restarted
    advice of kind: NOT_FOUND => Restart both servers with the same release, because one requests memory that the other
    + did not register
    advice of kind: (?:NOT_SUPPORTED|NOT_ALLOWED) => Choose another plugin or kind of memory (kv_buffer_device, backends
    + of the connector), or a NIXL built with it
    advice of kind: . => Start both servers with the same model, parallel sizes, block size and release, because the
    + memory that they register must match
uncertain = yes
cause = NIXL could not transfer data between the servers ({status}).
remedy = {advice}; NIXL_LOG_LEVEL=DEBUG and UCX_LOG_LEVEL=info show which step failed.
source = ai-dynamo/dynamo#3724
"""
