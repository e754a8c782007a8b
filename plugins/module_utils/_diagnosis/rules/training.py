# __init__.py in this directory explains the fields.

"""Training

Messages from PyTorch, Transformers, PEFT, bitsandbytes, DeepSpeed and Apex while a model is trained.
"""

RULES = r"""
[dataloader-descriptors]
keys =
    received 0 items of ancdata
    unable to open shared memory object </torch_
pattern =
    (received 0 items of ancdata)
    (unable to open shared memory object </torch_\w+>[\w -]{0,40})
cause = A DataLoader's workers pass each tensor as an open file, and the limit of open files was reached ({found}).
remedy = Raise the limit before the start (ulimit -n 65536; for a container, --ulimit nofile=65536:65536), or put
    torch.multiprocessing.set_sharing_strategy('file_system') at the top of the script.
source = pytorch/pytorch#973

[gradients-in-float16]
keys = Attempting to unscale FP16 gradients
pattern = (Attempting to unscale FP16 gradients)
cause = The trained weights are float16, but mixed precision (fp16=True) needs them in float32 ({found}).
remedy = Train with bf16=True and load the model with dtype=torch.bfloat16. Or keep fp16=True and convert the trainable
    weights to float32 (PEFT's cast_mixed_precision_params(model, dtype=torch.float16)).
source = https://huggingface.co/docs/peft/developer_guides/troubleshooting

[gradients-missing]
keys =
    does not require grad and does not have a grad_fn
    none of output has requires_grad=True
    of the differentiated Tensors does not require grad
pattern =
    (element 0 of (?:tensors|variables) does not require grad) and does not have a grad_fn
    (One of the differentiated Tensors does not require grad)
    (none of output has requires_grad=True)
cause = No trained parameter contributes to the loss ({found}): all parameters are frozen, the loss was computed without
    gradients, or gradient checkpointing interrupted the path from a frozen embedding to an adapter.
remedy = With an adapter, call model.enable_input_require_grads() before the training, or pass use_reentrant=False
    (gradient_checkpointing_kwargs of the Trainer). Otherwise check which parameters have requires_grad, and that the
    model does not run under torch.no_grad() or .detach().

[inference-tensor]
keys = update to inference tensor outside
pattern = (Inplace update to inference tensor outside InferenceMode)
cause = A tensor created under torch.inference_mode() is changed later ({found}), such as a buffer that an evaluation
    created for a model in training.
remedy = Use torch.no_grad() instead of torch.inference_mode() for tensors that are used again, or pass on a copy
    (x.clone()). Upgrade a trainer together with what it patches (unsloth and unsloth_zoo), or turn off its gradient
    checkpointing for the evaluation.
source = unslothai/unsloth#3828

[graph-freed]
keys = Trying to backward through the graph a second time
pattern = (Trying to backward through the graph a second time)
cause = This step's loss still depends on a tensor of an earlier step, whose graph was already used ({found}).
remedy = Detach the values that you carry from step to step (hidden states, running losses: x.detach() or loss.item()),
    compute the loss again in each step, and pass retain_graph=True only if two losses share one graph.

[gradient-value-modified]
keys = has been modified by an inplace operation
pattern = modified by an inplace operation: \[(?P<tensor>[^\]\n]+\])[^\n]*?output \d+ of (?P<operation>\w+)
cause = A value that the gradient needs was changed in place after {operation} had produced it (tensor {tensor}).
remedy = Run once with torch.autograd.set_detect_anomaly(True), which shows the line. Replace x += y with x = x + y, and
    relu_ with relu; with DistributedDataParallel, set broadcast_buffers=False.

[checkpoint-recomputed-differently]
keys = CheckpointError:
pattern = CheckpointError: (?:torch\.utils\.checkpoint: )?(?P<why>[^\n]{1,120})
cause = Gradient checkpointing computed part of the model again and got different tensors: {why}
remedy = Pass use_reentrant=True (gradient_checkpointing_kwargs of the Trainer), do not use torch.compile for that part,
    or turn off gradient checkpointing. Autocast, quantization and dropout must be the same in both passes.

[batch-not-padded]
keys =
    stack expects each tensor to be equal size
    you should probably activate truncation and/or padding
pattern =
    (stack expects each tensor to be equal size[^\n]{0,80})
    (Unable to create tensor, you should probably activate truncation and/or padding)
cause = The examples of a batch have different lengths and are not padded ({found}).
remedy = Pass padding=True and truncation=True to the tokenizer, with a collator that pads
    (DataCollatorForSeq2Seq(tokenizer, padding=True), DataCollatorWithPadding), and remove columns that contain lists
    (remove_columns=dataset.column_names). Resize all images to the same size.

[token-outside-vocabulary]
keys =
    IndexError: index out of range in self
    srcSelectDimSize' failed
    srcSelectDimSize` failed
pattern =
    IndexError: (index out of range in self)
    Assertion '(srcIndex < srcSelectDimSize)' failed
cause = The number of a token, position or class is too large for its table ({found}).
remedy = [First turn off speculative decoding, which this log mentions ({log_speculation}): a draft model that does not
    fit asks for numbers that do not exist. ]Use the model's own tokenizer. After you add tokens, call
    model.resize_token_embeddings(len(tokenizer)), and give a padding token a number below the vocabulary's size. If the
    text is longer than the model's positions, truncate it (max_length).

[label-outside-classes]
keys =
    n_classes' failed
    n_classes` failed
    Target -
    is out of bounds.
pattern =
    Assertion '(t >= 0 && t < n_classes)' failed
    IndexError: (Target -?\d+ is out of bounds)
cause = The model's last layer has no class for a label ({found}).
remedy = Set num_labels (num_classes) to the number of classes, count labels from 0, and set labels to ignore to -100
    (ignore_index).

[cuda-assertion-read]
keys =
    ], thread: [
pattern = (?:^|\.cuh?:\d+: )(?P<kernel>(?!unknown:)\S+): block: \[[^\n]*?Assertion '(?P<check>[^\n]+?)' failed
values =
    what of check: .*(?:index|idx|ind\b|srcIndex) => an index out of bounds
    what of check: .*(?:prob|isnan|std::isfinite|input_val) => a probability that is negative, larger than one or not a
    + number
    what of check: . => a value that it does not accept
    advice of check: .*(?:index|idx|ind\b|srcIndex) => Compare the sizes there: usually tokens or labels exceed the
    + model's table (another tokenizer, num_labels), or coordinates exceed an image
    advice of check: .*(?:prob|isnan|std::isfinite|input_val) => Look for the model's first nan: use bfloat16 instead of
    + float16, a lower learning rate, undamaged weights, and a sigmoid or softmax before the loss
    advice of check: . => Read the condition in that file of PyTorch
cause = The kernel {kernel} found {what} ({check}). The traceback's line is not where it happened.
remedy = {advice}. CUDA_LAUNCH_BLOCKING=1 makes the traceback show the call, and device="cpu" the values.

[bitsandbytes-weight-plain]
keys =
    'Parameter' object has no attribute '
    'DTensor' object has no attribute '
pattern = '(?P<class>Parameter|DTensor)' object has no attribute '(?P<attribute>compress_statistics|quant_state|SCB|CB)'
cause = A bitsandbytes layer received an ordinary weight ({class} without {attribute}). The weight was not quantized
    during loading, because it is shared with another layer, sharding or offloading replaced it, or Transformers and
    bitsandbytes do not match.
remedy = Upgrade them together (pip install -U transformers accelerate peft bitsandbytes; for Unsloth, pip install
    --upgrade --force-reinstall --no-cache-dir --no-deps unsloth unsloth_zoo), load the complete model on the GPU
    (device_map="cuda:0"), and leave shared layers unquantized (llm_int8_skip_modules=["lm_head"]) or load in 16 bits.
source = NVIDIA/dgx-spark-playbooks#57

[weights-types-in-shards]
keys = Must flatten tensors with
pattern = Must flatten tensors with (?:the same|uniform) (?:`)?dtype'?,? but got (?P<types>[\w. ,()]+\w)
cause = FSDP joins a layer's parameters, but they have different data types ({types}).
remedy = Load the model and the adapter with one type (dtype=torch.bfloat16; for 4 bits, also
    bnb_4bit_quant_storage=torch.bfloat16). Or train with DeepSpeed ZeRO 2 or without sharding, which saves nothing on
    one Spark.

[inductor-no-choice]
keys = NoValidChoicesError
pattern = (NoValidChoicesError)
cause = Max-autotune tried its matrix kernels, but none ran on this GPU ({found}).
remedy = Add ATEN to the backends (export TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS=ATEN,TRITON), or compile with
    mode="max-autotune-no-cudagraphs" and dynamic=False (Axolotl's flex_attn_compile_kwargs).
source = https://github.com/axolotl-ai-cloud/axolotl/blob/main/docs/faq.qmd

[graph-output-overwritten]
keys = accessing tensor output of CUDAGraphs that has been overwritten
pattern = (accessing tensor output of CUDAGraphs that has been overwritten)
cause = A compiled function's result was read after the next run of its CUDA graph had overwritten it ({found}).
remedy = Call torch.compiler.cudagraph_mark_step_begin() before each run, or clone the result, or compile with
    mode="max-autotune-no-cudagraphs" (mode="default").

[deepspeed-one-gpu]
keys = 'DummyOptim' object has no attribute
pattern = '(DummyOptim)' object has no attribute
cause = The configuration uses DeepSpeed, but the program was started without it, as one process ({found}).
remedy = Do not use DeepSpeed for a single GPU (remove the deepspeed: section from Axolotl's YAML file, or --deepspeed),
    or start the program with accelerate launch or deepspeed.
source = https://github.com/axolotl-ai-cloud/axolotl/blob/main/docs/faq.qmd

[deepspeed-batch-sizes]
keys = train_batch_size is not equal to
pattern =
    train_batch_size is not equal to micro_batch_per_gpu \* gradient_acc_step \* world_size
    + *(?P<total>\d+) != (?P<parts>[\d* ]+\d)
cause = The batch sizes in DeepSpeed's configuration contradict each other: train_batch_size is {total}, but the product
    of micro batch, accumulation and processes is {parts}.
remedy = Set train_batch_size, train_micro_batch_size_per_gpu and gradient_accumulation_steps to "auto", so that the
    Trainer fills them in, or correct train_batch_size. If the last factor is 1, fewer processes than intended were
    started.

[unsloth-patching-failed]
keys = Please file a bug report! Error patching
pattern = Unsloth: Please file a bug report! Error patching (?P<class>\w+)
cause = Unsloth could not replace {class} in the installed trl, because this Unsloth does not support this trl or
    transformers.
remedy = Upgrade unsloth and unsloth_zoo together, or install the trl and transformers that they name (pip show unsloth,
    pip check), delete unsloth_compiled_cache, import unsloth before trl, and restart the notebook's kernel.
source = unslothai/unsloth#3505

[deepspeed-operator-incompatible]
keys =
    Unable to JIT load the
    cuda is missing or is incompatible with installed torch
pattern =
    Unable to JIT load the (?P<operator1>\w+) op due to it not being compatible
    (?P<operator2>\w+) cuda is missing or is incompatible with installed torch
values =
    advice of operator: async_io => install libaio-dev (sudo apt install libaio-dev), or turn off NVMe offloading
    advice of operator: . => install ninja, g++ and the CUDA toolkit of PyTorch's CUDA version, and set CUDA_HOME
cause = DeepSpeed could not compile its operator {operator}. The first error of that build is further up.
remedy = Check what ds_report says about it: {advice}.

[model-damaged-before-training]
keys = 'grad_norm':
pattern =
    'loss': '?(?P<loss>\d+(?:\.\d+)?)'?, 'grad_norm': '?(?P<norm>\d(?:\.\d+)?e\+(?:0[6-9]|[1-9]\d)|\d{7,}\.\d+)'?,
    + 'learning_rate': '?(?:0(?:\.0)?'?[,}]|[^,\n]*, 'epoch': '?0(?:\.0)?'?[,}])
cause = The gradients are already implausible at the first step (loss {loss}, gradient norm {norm}), before the training
    has changed anything. The loaded model is damaged, in its weights or its config.json (such as rope_scaling).
remedy = Load another copy of the model (from its maker's repository instead of a mirror or conversion), compare its
    config.json with the maker's, and try a plain generation with it before training.
source = NVIDIA/dgx-spark-playbooks#85

[loss-scale-at-minimum]
keys = loss scale already at minimum
pattern = (loss scale already at minimum)
cause = The gradients overflowed float16 in each step until DeepSpeed gave up ({found}).
remedy = Train in bfloat16 (bf16 enabled instead of fp16 in DeepSpeed's configuration, bf16=True in the Trainer), with a
    lower learning rate.

[apex-not-compiled]
keys =
    cannot import name 'amp_C'
    No module named 'amp_C'
    FusedLayerNorm is not available
    fused_layer_norm_cuda
    No module named 'fused_
    No module named 'apex'
pattern =
    (?:cannot import name|No module named) '(amp_C|fused_\w+_cuda|apex)'
    AssertionError: (FusedLayerNorm) is not available
cause = Apex is not installed, or only its Python part: {found} is compiled code of Apex.
remedy = Build it for this PyTorch from its repository (APEX_CPP_EXT=1 APEX_CUDA_EXT=1 TORCH_CUDA_ARCH_LIST=12.0 pip
    install -v --no-build-isolation .), use NVIDIA's image nvcr.io/nvidia/pytorch, which includes it, or start without
    it (Megatron's --no-gradient-accumulation-fusion and --no-persist-layer-norm).

[checkpoint-not-written]
keys =
    basic_ios::clear: iostream error
    . unexpected pos
pattern =
    (basic_ios::clear: iostream error)
    inline_container\.cc:\d+\] \. (unexpected pos \d+ vs \d+)
cause = A checkpoint or model file could not be written completely ({found}): the disk or a quota is full, or the file
    system failed.
remedy = Check df -h for the directory, remove older checkpoints (save_total_limit of the Trainer), delete the
    incomplete file, and resume from the last good one.
source = https://github.com/NVIDIA/dgx-spark-playbooks

[wandb-key-missing]
keys = api_key not configured (no-tty)
pattern = (api_key not configured) \(no-tty\)
cause = Weights & Biases has no key here, and no terminal to ask for one ({found}).
remedy = Run without it (export WANDB_MODE=offline, or report_to="none" of the Trainer), or set WANDB_API_KEY.

[llamafactory-dataset]
keys =
    in dataset_info.json
    dataset_info.json due to
pattern =
    Undefined dataset (?P<name>\S+) in dataset_info\.json
    Cannot open (?P<file>\S*dataset_info\.json) due to
cause = LLaMA Factory does not find the data set[ {name}][ list {file}].
remedy = Start it in its own directory (or set --dataset_dir), and describe the data set in dataset_info.json there.

[dataloader-worker-ended]
keys = exited unexpectedly
pattern = DataLoader worker \(pid\(s\) (?P<process>[\d, ]+)\) exited unexpectedly
uncertain = yes
cause = Worker processes of a DataLoader ended on their own ({process}), and this line does not say why. Usually memory
    ran out, or their own error is further up.
remedy = Run once with num_workers=0, which shows the error. Start a container with --ipc=host, use fewer workers, and
    look for Out of memory in the kernel's log (journalctl -k).

[pin-memory-thread-ended]
keys = Pin memory thread exited
pattern = (Pin memory thread exited unexpectedly)
uncertain = yes
cause = The thread that copies a DataLoader's batches to pinned memory ended ({found}): a worker died, or no memory
    could
    be pinned.
remedy = Pass pin_memory=False (dataloader_pin_memory: false), which costs nothing on a GB10, and run once with
    num_workers=0, which shows a worker's own error. Start a container with --ipc=host.

[loss-not-a-number]
keys =
    loss: nan
    loss=nan
    loss': nan
    loss: 0.0
    grad_norm': nan
pattern =
    ('?\bloss'?[:=] ?nan)\b
    ('grad_norm': nan)
    ('loss': 0\.0, 'grad_norm': nan)
uncertain = yes
cause = The training's results are no longer numbers ({found}): a value overflowed, the data or the checkpoint is
    damaged, or a kernel computes wrong results on this host.
remedy = Run the proof (sparkforge prove), which shows whether this stack computes correctly. Then try the same step on
    the CPU, in bfloat16 instead of float16, with a lower learning rate and clipped gradients, and look for an empty
    batch or labels that are all masked.
source = pytorch/pytorch#101900

[model-on-two-devices-trained]
keys = You can't train a model that has been loaded in
pattern = You can't train a model that has been loaded in (\S+(?: or \S+)? precision) (?:on a different device|with)
cause = The program trains a quantized model ({found}), but device_map loaded all or part of it on another device than
    the process's own GPU.
remedy = Load it on the process's GPU: device_map="cuda:0" on a Spark, or with several processes, each on its own GPU
    (PartialState().process_index of accelerate).
source = yangjianxin1/Firefly#270

[checkpoint-lacks-keys]
keys = Missing key in checkpoint state_dict
pattern = Missing key in checkpoint state_dict: (?P<key>[\w./-]+?)\.?$
values =
    advice of key: optim => Load only the weights (without the optimizer's state: Megatron's --no-load-optim, elsewhere
    + a load of only the model), or load
    advice of key: .*_extra_state => Use the release of Transformer Engine and Megatron that saved it (newer ones save
    + such states differently), or load
    advice of key: . => Load
cause = The distributed checkpoint does not have {key}, which the model or optimizer of this run expects: it was saved
    with another model, layout or release.
remedy = {advice} it with the settings with which it was saved (layers, adapters, kind of optimizer, distributed
    optimizer), or request only what the checkpoint has (allow_partial_load of DefaultLoadPlanner,
    --dist-ckpt-strictness log_all).
source = pytorch/pytorch#148252

[dtensor-mixed]
keys = got mixed torch.Tensor and DTensor
pattern = (?P<op>[\w.:]+): got mixed torch\.Tensor and DTensor
values =
    advice of op: .*copy_ => Gather the weights before they are copied into the other model (full_tensor(), or the
    + loader of this release of the server), and use the release of vLLM or SGLang that the trainer requires
    advice of op: .*_foreach => Set the optimizer's foreach=False and fused=False, or pass it only sharded parameters
    advice of op: .*(?:flash|sdpa|attention) => Use another attention (attn_implementation="sdpa"), which supports this
    advice of op: . => Shard every module that takes part (also adapters and the output layer, before the optimizer is
    + created), or gather the one that is used outside (full_tensor())
cause = An operation ({op}) received both sharded and ordinary tensors: FSDP2 or tensor parallelism sharded part of the
    model, but not the rest.
remedy = {advice}. On one Spark, do not shard.
source = pytorch/pytorch#153354

[group-not-initialized]
keys = group is not initialized
pattern = (?:AssertionError: |^)(?P<group>[\w ]{3,60} group) is not initialized
cause = The program used a process group ({group}) before setting up its groups.
remedy = Start it with torchrun (also with one process), and call initialize_megatron or initialize_model_parallel
    first. If there are two copies of megatron (one below the program, one installed with pip), each has its own groups:
    remove one.
source = facebookresearch/metaseq#88

[megatron-index-old]
keys = last epoch number of samples exceeded max value
pattern = (last epoch number of samples exceeded max value)
cause = Megatron's index of the samples does not fit the data: there are too few documents for this length and number of
    steps, or an earlier run saved the index for other data.
remedy = Delete the index files beside the data (*_indexmap_*.npy, or the directory of --data-cache-path), let one
    process create them, and check that the .bin and .idx files are complete and belong together. Lower --train-iters or
    --seq-length.
source = NVIDIA/Megatron-LM#176

[deepspeed-accumulation-zero]
keys = has to be greater than 0
pattern = (?P<what>Gradient accumulation steps|Train batch size|Micro batch size per gpu): (?P<value>-?\d+) has to be
    + greater than 0
cause = DeepSpeed computes {value} as {what}: the total batch size is smaller than the micro batch size times the number
    of processes.
remedy = Raise the total batch size (train_batch_size) to at least micro batch size times processes, or lower the micro
    batch size or the number of processes. In RL, the number of answers per prompt counts towards it.
source = OpenRLHF/OpenRLHF#584

[deepspeed-mixed-types]
keys = len(set(t.dtype for t in tensors)) == 1
pattern = assert (len\(set\(t\.dtype for t in tensors\)\) == 1)
cause = DeepSpeed's ZeRO-3 needs all parameters in one data type, but the model has several ({found} does not hold), for
    example because adapters, norms or a quantized base are float32 and the rest is bfloat16.
remedy = Load the model with one type (torch_dtype=torch.bfloat16), create the adapters with it, too (PEFT's
    autocast_adapter_dtype=False), or use ZeRO-2. On one Spark sharding saves no memory, so do not use DeepSpeed.
source = huggingface/trl#1770

[rl-rollout-mode]
keys = Rollout
pattern = Rollout (?P<name>\w+) with mode (?P<mode>\w+) not found
cause = This release of verl has no rollout {name} with mode {mode}.
remedy = Set rollout.name=vllm or sglang, and remove rollout.mode (newer releases have only async) and a recipe's old
    overrides.
source = verl-project/verl#4424

[quantized-needs-no-gradient]
keys = Tensors of floating point
pattern = (?:Error: |\(')(?P<found>[Oo]nly Tensors of floating point(?: and complex)? dtype can require gradients)
cause = Something requires gradients of weights that were quantized to integers ({found}), such as adapters that were
    loaded after the quantization.
remedy = Load and fuse the adapter before you quantize the model, or quantize with the loader (quantization_config) and
    update PEFT, which then ignores those weights. If you only use a model, call requires_grad_(False) first.
source = huggingface/diffusers#10381

[quantized-weights-unknown]
keys = does not have a parameter or a buffer named
pattern = (?P<layer>\w+)\([^\n]{0,120}\) does not have a parameter or a buffer named (?P<name>\w+)
cause = The file contains {name} for a layer ({layer}) that has none here: the file is quantized, but the model was
    built without that quantization.
remedy = Load it with the class of the library that saved it (Quanto's QuantizedDiffusersModel.from_pretrained), or with
    its quantization_config, which must be in config.json. Or load the original weights and quantize them here.
source = huggingface/optimum-quanto#359

[ddp-marked-twice]
keys = Expected to mark a variable ready only once
pattern = (Expected to mark a variable ready only once)
cause = DDP sees a parameter twice in one backward pass ({found}): the older kind of gradient checkpointing runs parts
    again, or a module is used twice.
remedy = Set gradient_checkpointing_kwargs=dict(use_reentrant=False) and ddp_find_unused_parameters=False, or turn off
    gradient checkpointing. static_graph=True helps if all steps are alike. On one Spark, run without DDP.
source = hiyouga/LlamaFactory#6651

[latents-not-a-number]
keys = NaN detected in latents
pattern = NaN detected in latents:? ?(?P<file>[^\n]*)
cause = The VAE computed no numbers for an image[, {file}]: in float16 that of SDXL and some others overflows, or the
    image is damaged.
remedy = Compute the VAE in float32 or bfloat16 (--no_half_vae, or mixed_precision bf16 with a fixed VAE such as
    sdxl-vae-fp16-fix), and if that image alone does it, save it anew as an RGB file or take it out.
source = bmaltais/kohya_ss#2541

[fsdp-parameters-differ]
keys =
    Cannot writeback when the parameter shape changes
    Must flatten tensors with uniform `requires_grad`
pattern =
    (Cannot writeback when the parameter shape changes)
    (Must flatten tensors with uniform `requires_grad`)
values =
    advice of found: Cannot => With one GPU leave FSDP out (it then does not shard), or load the model in bfloat16 so
    + that nothing is converted afterwards; newer PyTorch (2.8) has this mended
    advice of found: . => Set use_orig_params=True (fsdp_use_orig_params: true of accelerate), or use FSDP2
    + (fsdp_version: 2)
cause = FSDP cannot join the parameters of a module ({found}): some are trained and others not, or their form changed.
remedy = {advice}.
source = pytorch/pytorch#151223

[calibration-left-out]
keys = scaling factor
pattern = (?:AssertionError: |^)(scaling factor (?:tensor\(|[\d.e-]+ not positive))
cause = A quantizer saw no data in the calibration ({found}), mostly an expert that no sample reached.
remedy = Calibrate with more and longer samples (--calib_size 512 and more, of several data sets), let all experts take
    part (a newer ModelOpt does that for MoE models), or leave those layers out of the quantization.
source = NVIDIA/Model-Optimizer#766

[ddp-models-differ]
keys = DDP expects same model across all ranks
pattern = DDP expects same model across all ranks, but (?P<why>[^\n]{5,120}?)\.?$
cause = The ranks have built different models: {why}.
remedy = Read the log of the rank that has fewer parameters (0 means that it failed before): all must load the same
    model, adapter and configuration, with the same releases of PyTorch and Transformers on all hosts.
source = kanishkg/stream-of-search#5

[assistant-tokens-missing]
keys = has no assistant tokens
pattern = (at least one example has no assistant tokens)
cause = The trainer should learn only from the assistant's answers, and {found}: the chat template does not mark them.
remedy = Use a template with {{% generation %}} around the answers (newer TRL has its own for Qwen3 and others), give
    the data as prompt and completion (completion_only_loss), or set assistant_only_loss=False; an example whose answer
    is cut off by max_length has none either.
source = QwenLM/Qwen3#1522

[trainer-text-field-missing]
keys = pass a dataset_text_field or formatting_func
pattern = didn't pass a (dataset_text_field or formatting_func) argument
cause = An older TRL does not know where the data has its text: it has neither a column named text nor messages, and no
    {found} was given.
remedy = Set dataset_text_field in the SFTConfig to the column's name, pass formatting_func, or rename the column to
    text or messages; otherwise take the TRL that the program pins.
source = FLock-io/testnet-training-node-quickstart#14
"""
