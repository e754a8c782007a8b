# __init__.py in this directory explains the fields.

"""Engines and models

Messages from vLLM, SGLang, TensorRT-LLM, Transformers and PEFT about a model or a setting that does not fit it.
"""

RULES = r"""
[trtllm-backend-without-model]
keys = is not supported in TRT-LLM yet
pattern = model architecture (?P<model>\w+) is not supported in TRT-LLM yet
cause = TensorRT-LLM was started with its TensorRT backend, whose list of models lacks {model}; newer models exist only
    for its PyTorch backend.
remedy = Leave --backend tensorrt (or trtllm-build and its engine) out and start it with --backend pytorch, the default
    since 1.0; only if that backend refuses the model, too, take a newer release.
source = NVIDIA/TensorRT-LLM#15941

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
keys =
    is larger than the number of available GPUs
    exceeds available GPUs
pattern =
    World size \((?P<size>\d+)\) is larger than the number of available GPUs \((?P<gpus>\d+)\)
    [Tt]ensor parallel size \((?P<size2>\d+)\) exceeds available GPUs \((?P<gpus2>\d+)\)
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

[moe-activation-unknown]
keys = Invalid activation type
pattern = RuntimeError: (Invalid activation type)
cause = The CUTLASS kernels of flashinfer for experts have no such activation as this model uses ({found}; relu2 came
    with 0.6.8).
remedy = Choose another backend for the experts (--moe-backend triton of vLLM, --moe-runner-backend triton of SGLang),
    or a newer release with its flashinfer.
source = vllm-project/vllm#39825

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
cause = This release of the server has no kernel on this GPU for the way in which the model is quantized ({what}[:
    {why}]).
remedy = Use a newer release or the image for the Spark, another backend (--moe-backend marlin or triton), or the model
    in another quantization (FP8, AWQ or a GGUF); where a reason names a size, lower --tensor-parallel-size.
source = vllm-project/llm-compressor#1427

[type-of-model]
keys = does not support float16. Reason:
pattern =
    The model type '(?P<model>[^'\n]+)' does not support float16\. Reason: (?P<why>[^.\n]+)
cause = vLLM does not run a model of the type {model} with float16 ({why}).
remedy = Leave out --dtype float16, or set --dtype bfloat16. A quantization that works with float16 only (AWQ) cannot be
    used with such a model: take another one, as FP8.
source = intel/llm-scaler#270

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

[transformers-name-taken]
keys = is already used by a Transformers config
pattern = '(?P<name>[\w-]+)' is already used by a Transformers config
cause = The program registers the model type {name}, which the installed Transformers has itself by now: the program is
    older than this Transformers.
remedy = Take a newer release of the program (vLLM), or an older Transformers, as of its requirements.
source = nvidia-cosmos/cosmos-rl#180

[tokenizer-class-unknown]
keys = does not exist or is not currently imported
pattern = Tokenizer class (\w+) does not exist or is not currently imported
cause = The installed Transformers has no tokenizer class {found}: the model was saved with a newer one, or its code is
    needed.
remedy = Install the Transformers that the model's page names (TokenizersBackend is of 5), within what the engine
    allows, or pass --trust-remote-code if the class is in the model's repository.

[gguf-in-engine]
keys =
    GGUF model with architecture
    Error: Architecture
pattern =
    GGUF model with architecture (\w+) is not supported yet
    ValueError: Architecture (\w+) not supported
cause = Transformers, and so vLLM and SGLang, cannot read GGUF files of {found}.
remedy = Run the GGUF with llama.cpp or Ollama, or take the model in safetensors for this engine.

[rope-scaling]
keys =
    rope_scaling
    Missing required keys in `rope_parameters`
pattern =
    [Ee]rror[:,] '?(rope_scaling'? (?:must|should) [^\n\[]{0,80}[^\n\[ ])
    (Missing required keys in 'rope_parameters'[^\n]{0,80})
cause = The installed Transformers does not understand how the model scales its positions ({found}): it is older than
    the model, or an override is incomplete.
remedy = Upgrade Transformers (with the engine that pins it), or write --hf-overrides with rope_type, factor and
    original_max_position_embeddings.
source = meta-llama/llama3#299

[sglang-kv-transfer]
keys = KVTransferError(
pattern = KVTransferError\(bootstrap_room=\d+\): (?P<why>[^\n"']{4,300})
uncertain = yes
values =
    advice of why: (?:Could not fetch|.*bootstrap_addr) => Let the decoding server reach the prefill server's
    + --disaggregation-bootstrap-port at the address of its --host (ufw, no proxy)
    advice of why: . => Read both logs for the transport's error before it: name the cabled ports in
    + --disaggregation-ib-device, give containers /dev/infiniband and --ulimit memlock=-1; TCP needs a Mooncake built
    + with CUDA
cause = A request's cache did not come from the prefill to the decoding server: {why}.
remedy = {advice}.
source = sgl-project/sglang#7118

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
cause = The text and its images do not fit each other ({why}): the prompt has another number of places for them than the
    processor made.
remedy = Let the chat template write these places, one for each image and none by hand (messages with image_url, or
    processor.apply_chat_template); cut no prompt between them (a longer --max-model-len), start a model of Mistral with
    the three options of its page (--tokenizer-mode, --config-format and --load-format mistral) or with none of them,
    and
    install the transformers that the server's release pins.
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
    ValueError: (?P<weight1>\S+) is unsupported LoRA weight
    vLLM only supports (?P<weight4>modules_to_save) being None
    vLLM does not yet support (?P<weight5>DoRA)
    expected target[ _]modules in (?P<taken>\[[^\]\n]{0,200}\]?)[^\n]*? but received (?P<weight2>\[[^\]\n]{0,200})
    expected target_modules to [^\n]*?(?:unexpected modules: )?(?P<weight3>\[[^\]\n]{0,200})
values =
    reason of weight: .*(?:lm_head|embed_tokens|score|classifier|modules_to_save|original_module) => the adapter has
    + complete layers besides (modules_to_save, or an enlarged vocabulary)
    reason of weight: . => it was trained on other parts of the model than the server applies adapters to
cause = The server cannot apply this LoRA adapter ({weight}): {reason}[; it takes {taken}].
remedy = Merge the adapter into the model and serve the result (merge_and_unload() of PEFT, save_pretrained_merged() of
    Unsloth), or train again without modules_to_save and on the model's linear layers alone; for another base model take
    an adapter that was made for it.
source = vllm-project/vllm#9280

[lora-not-there]
keys = No adapter found for
pattern = (?:Loading lora (?P<name>\S+) failed: )?No adapter found for (?P<path>[^\n]*[^\n\s.])
values =
    advice of path: .*[\]}'")]$ => Take the brackets and quotes off: the value is NAME=PATH (--lora-modules
    + sql=/models/sql-lora), and several stand one after the other with blanks between
    advice of name: .*[\[{'"(] => Take the brackets and quotes off: the value is NAME=PATH (--lora-modules
    + sql=/models/sql-lora), and several stand one after the other with blanks between
    advice of path: . => Name the directory that holds adapter_config.json and adapter_model.safetensors (of a training
    + often a checkpoint's own one), mounted into the container under that path; a name of the hub must be complete
cause = The server looked for a LoRA adapter at {path} and there is none.
remedy = {advice}.
source = vllm-project/vllm#30690

[lora-rank]
keys = is greater than max_lora_rank
pattern = LoRA rank (?P<rank>\d+) is greater than max_lora_rank (?P<most>\d+)
cause = The adapter has rank {rank}, and the server takes {most}.
remedy = Start it with --max-lora-rank {rank}.

[generation-length]
keys = but `max_length` is set to
pattern = Input length of \w+ is (?P<have>\d+), but 'max_length' is set to (?P<most>\d+)
cause = The prompt has {have} tokens, and generate() may return {most} with the prompt included.
remedy = Pass max_new_tokens=256 (the number of new tokens) in the place of max_length.

[image-tokens-differ]
keys =
    mage features and image tokens do not match
    ideo features and video tokens do not match
pattern = (?P<kind>[Ii]mage|[Vv]ideo) features and \w+ tokens do not match:? ?(?P<sizes>[^\n]{0,60})
cause = The prompt has another number of places for the {kind} than its encoder made ({sizes}): the text was truncated,
    or processor and model are of different releases.
remedy = Do not truncate (truncation=False, a longer max_length or cutoff_len), use the model's own processor with the
    Transformers that its page names, and make images smaller (max_pixels) where the prompt is too long.

[batched-tokens]
keys = max_num_batched_tokens (
pattern =
    max_num_batched_tokens \((?P<have1>\d+)\) (?:is smaller than|must be greater than or equal to)
    + (?P<what1>max_model_len|max_num_seqs) \((?P<need1>\d+)\)
    (?P<what2>max_tokens_per_mm_item|block_size|max_num_seqs|max_model_len) \((?P<need2>\d+)\)
    +[^\n]*?max_num_batched_tokens \((?P<have2>\d+)\)
cause = vLLM takes {have} tokens in one step (max_num_batched_tokens), and {what} needs {need}.
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
cause = This release of the server has no parser {name} ({kind}): the name is misspelt, or the parser is newer than the
    release[; it has {known}].
remedy = Use one of its own that fits the model's family, or a newer release (or nightly image) of the server, which the
    model's page names.
source = vllm-project/vllm#9312

[reasoning-token-split]
keys = must encode to exactly one token
pattern = '?(?P<name>\w+)'? '(?P<token>[^'\n]+)' must encode to exactly one token
cause = The reasoning parser needs {token} as one token, and the model's tokenizer has none: the parser is of another
    model.
remedy = Leave --reasoning-parser out, or take the one of the model's family (its page names it), or a newer release.
source = sgl-project/sglang#24843

[template-file-missing]
keys = appears path-like, but doesn't exist
pattern = template string \((?P<file>[^)\n]+)\) appears path-like, but doesn't exist!(?: Tried: (?P<tried>[^\n]+))?
cause = The chat template {file} was not found[ (tried: {tried})].
remedy = Give its full path; in a container it must be a path inside, so mount it, or use one that the image has
    (vLLM's are in examples/ of its source).

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
    (?P<why4>Unexpected role '\w+' after role '\w+'|Conversation roles must alternate user/assistant|After the
    + optional system message[^\n]{0,60}|[Ss]ystem
    + role
    + not supported)
    (?P<why5>'(?:str|dict|list) object' has no attribute '\w+')
values =
    advice of why: .*(?:alternate|[Aa]fter ) => Send user and assistant messages in turn, beginning with
    + user,
    + and join two messages of one role (a client's context or tool messages often make them)
    advice of why: .*System message must => Put all system messages into the first one (the client or agent adds some
    + later), or give the server a template that takes them anywhere (--chat-template-file)
    advice of why: tools param => Start llama-server with --jinja
    advice of why: .*is not callable => Update llama.cpp, whose own Jinja lacked that function, or the program that has
    + it inside; until then give a template without it (--chat-template-file)
    advice of why: Cannot pass both => Let the client send back only one of content and reasoning with the tool call
    + (newer clients do), or use the newest template of the model (--chat-template-file)
    advice of why: failed to parse => Another template is used instead, and answers may get worse: pass the model's own
    + Jinja template (--chat-template-file; one of Ollama is Go's, not Jinja), and update llama.cpp
    advice of why: .*[Ss]ystem role => Put the system message's text at the start of the first user message
    advice of why: .*has no attribute => Give each message of the data or request the field that the template reads (of
    + Axolotl message_property_mappings), such as content
    advice of why: . => Use the model's own template of its newest revision, or give the server another one
    + (--chat-template FILE)
cause = The model's chat template does not take the conversation: {why}.
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
cause = vLLM found no config.json[ of {model}]: the directory is another one in the container, its download is not
    complete, or the hub did not give the file (no token of a gated model, no network); a model of diffusers or a GGUF
    file has none.
remedy = Look at the directory where vLLM runs (docker exec CONTAINER ls {model}), mount the host's (-v), give a token
    (HF_TOKEN) for a gated model; a model of images (model_index.json) needs vllm-omni or diffusers.
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
cause = The server cannot make a grammar of what the request asks for as structured output ({found}).
remedy = Simplify the schema (no patterns, lengths or ranges; types that are JSON's own), and name no backend in the
    request; vLLM with --structured-outputs-config.backend auto falls back to another than xgrammar.
source = vllm-project/vllm#12131

[architectures-missing]
keys = No model architectures are specified
pattern = (No model architectures are specified)
cause = The model's config.json has no list of architectures ({found}): it is a part of a model (a tokenizer, an
    adapter, one stage of several), or made for another library.
remedy = Take the repository's directory with the complete model, or name the class as the model's page says
    (--hf-overrides with architectures).

[auto-model-class]
keys = Unrecognized configuration class
pattern =
    Unrecognized configuration class <class '(?:[\w.-]+\.)?(?P<config>\w+)'> (?:for this kind of AutoModel:|to build an)
    + (?P<auto>\w+)
values =
    advice of config: \w*(?:VL|Vision|Llava|Omni|Mllama|Gemma[34]|Idefics|Florence|Pixtral) => It is a model of images
    + and text: load it with AutoModelForImageTextToText (or the class that its page names), with a newer release of the
    + program that loads it
    advice of config: . => Load it with the class that its page names, or upgrade Transformers and the program; a model
    + with code of its own needs trust_remote_code=True and the Transformers that its page names
cause = The program loads the model as {auto}, and a model of {config} is not of that kind in the installed
    Transformers.
remedy = {advice}.
source = QwenLM/Qwen3-VL#157

[quantization-not-of-model]
keys = Quantization is not supported for <class
pattern = Quantization is not supported for <class '(?:[\w.]+\.)?(?P<class>\w+)'>
cause = This release of vLLM runs models of {class} only without quantization.
remedy = Take a newer release, or the model without quantization (bfloat16).
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
    + file with the node or library for its quantization, update it together with the program (of ComfyUI the node that
    + moves or loads models), or take the file in bf16
    advice of log_comfyui: . => Set weight_dtype of the loaders to default, update ComfyUI and its nodes, and start it
    + with --force-fp16 or --bf16-unet (one type for all), a VAE or text encoder with its own (--fp32-vae,
    + --fp32-text-enc)
    advice of types: . => Load all parts in one type (dtype=torch.bfloat16, formerly torch_dtype) and on one device,
    + cast
    + the input (.to(model.dtype)), or run it under torch.autocast("cuda", dtype=torch.bfloat16)
cause = Two parts of a model have different data types ({types}): one was loaded in another type, or stayed on the CPU.
remedy = {advice}.

[rope-type-unknown]
keys = ROPE_INIT_FUNCTIONS[
pattern = ROPE_INIT_FUNCTIONS\[[^\n]*\n(?:[ ~^]+\n)?KeyError: '(?P<type>\w+)'
cause = The installed Transformers has no rotary embedding {type}: Transformers 5 dropped the name default, and the
    model's own code was written for 4.
remedy = Install transformers<5 (4.57.6), or take a newer revision of the model whose code is for 5.
source = KRLabsOrg/LettuceDetect#33

[tokenizer-list-of-tokens]
keys = AttributeError: 'list' object has no attribute 'keys'
pattern = AttributeError: 'list' object has no attribute 'keys'
cause = A list stands where a mapping is expected: of a tokenizer, tokenizer_config.json was written by Transformers 5
    (extra_special_tokens as a list), and the installed one is 4.
remedy = Upgrade Transformers to 5 with a release of the program that takes it, or take the model's files that were
    written for 4 (or remove extra_special_tokens from tokenizer_config.json).
source = ml-explore/mlx-lm#661

[transformers-per-layer-attribute]
keys = is a per-layer attribute
pattern = '(\w+)' is a per-layer attribute
cause = Transformers 5.15 and newer refuse to read {found} for the whole model if its layers differ, and the engine
    (vLLM up to 0.27) still reads it so: their releases do not fit.
remedy = Install 'transformers<5.15' beside this engine, or an engine that reads it for each layer (vLLM 0.28 or newer).
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
    Error: '(?P<class5>\w+Config)' object has no attribute
    + '(?P<attribute5>vocab_size|\w*hidden_size|num_\w*(?:heads|layers)
    +|\w+_token_id|rope_\w+|max_position_embeddings|text_config|head_dim|tie_word_embeddings|_attn_implementation\w*
    +|layer_types|torch_dtype)'
values =
    advice of attribute: all_special_tokens_extended => Install transformers<5 (4.57.6), or vLLM 0.13 or newer
    advice of class: \w*Cache$ => Install the older Transformers for which the model's own code was written
    + (transformers_version in its config.json, mostly 4.4x), or use Transformers' own class without trust_remote_code
    advice of attribute: (all_tied_weights_keys|_supports_sdpa) => Install the Transformers for which the model's own
    + code was written (transformers_version in its config.json), or take a newer revision of the model
    advice of class: . => Install the Transformers that the engine or the model's page names (transformers<5 where they
    + do not know 5; a newer one where the model is newer)
cause = The installed Transformers is not the one that the engine or the model's own code was written for: {class} has
    no {attribute} there.
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
    little free memory on the GPU ({found}); on a GB10 that is the host's, of which the page cache takes a part.
remedy = Put the whole model on the GPU (device_map="cuda"), drop the page cache before (sync; echo 3 | sudo tee
    /proc/sys/vm/drop_caches) and end other programs; if it is too large, take a smaller or quantized one.
source = SkyworkAI/Skywork#67

[meta-tensor]
keys =
    Cannot copy out of meta tensor
    on device meta is not on the expected device
pattern =
    (Cannot copy out of meta tensor)
    (Tensor on device meta is not on the expected device \w+:?\d*)
cause = A part of the model has no weights yet ({found}): device_map or low_cpu_mem_usage left it on the device meta,
    since the memory that was found did not suffice or its weights are not in the file.
remedy = Put it on the GPU by device_map="cuda" and leave out .to("cuda") afterwards, free memory first, update
    Transformers and accelerate, and look above for weights that were newly initialized.

[torch-load-refused]
keys = serious vulnerability issue in `torch.load`
pattern = (serious vulnerability issue in 'torch\.load')
cause = Transformers opens weights of the old format (.bin, .pt) only with PyTorch 2.6 or newer, and an older one is
    installed ({found}).
remedy = Install a newer PyTorch (on a Spark one for cu130), or take the model's safetensors (use_safetensors=True, or a
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
cause = The model's tokenizer needs a package to be read, which is not installed: {library}.
remedy = Install it in the program's environment (python -m pip install {packages}) and start the program again; if it
    stays, the tokenizer's files (tokenizer.json or tokenizer.model) are missing or not complete.
source = huggingface/transformers#36291

[peft-modules-missing]
keys = not found in the base model. Please check the target modules
pattern = Target modules (?P<modules>[^\n]+?) not found in the base model
cause = PEFT found no layers called {modules} in this model: its layers have other names, or all-linear is newer than
    the installed PEFT.
remedy = Set target_modules="all-linear" with a newer PEFT, or the names of its own layers, which model.named_modules()
    lists.
source = OptimalScale/LMFlow#125

[adapter-file-missing]
keys = Can't find 'adapter_config.json'
pattern = Can't find 'adapter_config\.json' at '(?P<path>[^'\n]+)'
cause = {path} is no adapter of PEFT: it has no adapter_config.json, as where training did not save it or it is a
    complete model.
remedy = Name the directory that trainer.save_model wrote (mostly a checkpoint- directory below), or load a complete
    model without PEFT.

[config-field-refused]
keys =
    StrictDataclassFieldValidationError
    StrictDataclassClassValidationError
    Class validation error for validator
pattern =
    StrictDataclass(?:Field|Class)ValidationError: (?:Class )?[Vv]alidation error for (?P<kind>field|validator)
    + '(?P<name>\w+)':?(?:\s+(?P<why>\w+Error: [^\n]+))?
cause = The installed Transformers refuses the model's config.json: {kind} {name}[: {why}]; the file was written by
    another release.
remedy = Install the Transformers that config.json names (transformers_version), or a newer one with the engine that
    takes it; or take a newer revision of the model.
source = vllm-project/vllm#39180

[mpi-spawn-failed]
keys =
    MPI.Exception: MPI_ERR_
    All nodes which are allocated for this job are already filled
pattern =
    MPI\.Exception: (MPI_ERR_(?:SPAWN|UNKNOWN))
    (All nodes which are allocated for this job are already filled)
cause = Open MPI started no further process for the engine ({found}): the host has fewer slots than processes are
    wanted, or this Open MPI cannot start processes from a program (TensorRT-LLM's image 1.3.0rc27 with Open MPI 5).
remedy = Allow more processes than slots (OMPI_MCA_rmaps_base_oversubscribe=1), start the server under mpirun -n SIZE
    --allow-run-as-root trtllm-llmapi-launch with the number of its ranks, or take the image of another release.
source = NVIDIA/TensorRT-LLM#5495

[main-guard-missing]
keys = finished its bootstrapping phase
pattern = (finished its bootstrapping phase)
cause = The script starts an engine or workers when it is imported, and each new process imports it again ({found}).
remedy = Put what the script does below `if __name__ == "__main__":`.

[ray-addresses]
keys = Every node should have a unique IP address
pattern = Got (?P<hosts>\d+) nodes? [^\n]*? and (?P<addresses>\d+) unique IP addresses
cause = vLLM sees {hosts} hosts of Ray with {addresses} addresses: VLLM_HOST_IP is the same on all of them, or on a
    host with several networks vLLM uses another address than Ray.
remedy = Set VLLM_HOST_IP on each host to its own address in the network between the Sparks, in the container too, and
    start Ray with the same address (ray start --node-ip-address=$VLLM_HOST_IP).
source = vllm-project/vllm#43095

[nixl-configurations-differ]
keys = compatibility hash mismatch
pattern = NIXL[^\n]{0,80}(?P<found>compatibility hash mismatch)
cause = The servers for prefill and decode do not store the KV cache alike, so that NIXL refuses to transfer it
    ({found}).
remedy = Start both with one release of vLLM and of the connector, one model, --kv-cache-dtype, --block-size and
    attention
    backend, and the same setting of --disable-hybrid-kv-cache-manager (a connector inside MultiConnector or LMCache may
    have switched it on for one of them only).
source = ai-dynamo/dynamo#12821

[nixl-status]
keys = NIXL_ERR_
pattern = (?P<status>NIXL_ERR_(?P<kind>[A-Z_]+))
values =
    advice of kind: BACKEND => Make UCX work between the hosts first (ucx_info -d, ucx_perftest): name the cabled
    + ports in UCX_NET_DEVICES, allow tcp,cuda_copy,cuda_ipc or rc in UCX_TLS, give containers /dev/infiniband,
    + --ulimit memlock=-1 and --shm-size, and use one release of NIXL and UCX on all hosts
    advice of kind: REMOTE_DISCONNECT => Read the other server's log: it exited or was restarted
    advice of kind: NOT_FOUND => Restart both servers with one release: one requests memory that the other did not
    + register
    advice of kind: (?:NOT_SUPPORTED|NOT_ALLOWED) => Choose another plugin or kind of memory (kv_buffer_device,
    + backends of the connector), or a NIXL that was built with it
    advice of kind: . => Start both servers with the same model, parallel sizes, block size and release, because the
    + memory that they register must match
uncertain = yes
cause = NIXL could not transfer data between the servers ({status}).
remedy = {advice}; NIXL_LOG_LEVEL=DEBUG and UCX_LOG_LEVEL=info show which step failed.
source = ai-dynamo/dynamo#3724
"""
