# __init__.py in this directory explains the fields.

"""llama.cpp, Ollama and ComfyUI

Messages from programs that load a model on one host.
"""

RULES = r"""
[gguf-type-unknown]
keys = has invalid ggml type
pattern = tensor '(?P<tensor>[^'\n]+)' has invalid ggml type (?P<type>\d+)
values =
    what of type: 39$ => MXFP4, as in gpt-oss
    what of type: 4[01]$ => a newer quantization, such as NVFP4
    what of type: . => a newer quantization, or a fork's quantization
cause = The GGUF file has a tensor of type {type} ({what}), which this llama.cpp, or the one in the program that uses
    it, is too old to know.
remedy = Build or install a newer llama.cpp (update Ollama, LM Studio, llama-cpp-python or the program that includes
    it). A file with a fork's own types (BitNet, ik_llama.cpp) runs only with that fork.
source = ggml-org/llama.cpp#15099

[gguf-conversion-unknown]
keys =
    BPE pre-tokenizer was not recognized
    hf-to-gguf:Model
    Can not map tensor '
    Failed compiling llama.cpp with WARNING:hf-to-gguf
pattern =
    (BPE pre-tokenizer was not recognized)
    hf-to-gguf:Model (\w+) is not supported
    (?:ValueError: |^)Can not map (tensor '[^'\n]+)
    Failed compiling llama\.cpp with (WARNING:hf-to-gguf):\*
values =
    reason of found: WARNING => usually because it does not know the tokenizer (run its convert_hf_to_gguf.py by hand,
    + which prints the complete warning)
    reason of found: . => because it does not know that
cause = This llama.cpp cannot convert the model to GGUF ({found}), {reason}.
remedy = Update it (git pull, pip install -r requirements.txt) and convert again, from the original model rather than a
    quantized or merged one. Otherwise use an existing GGUF of the model.

[llamacpp-no-cuda]
keys = ggml_cuda_init: failed to initialize CUDA
pattern = ggml_cuda_init: failed to initialize CUDA: (?!system not yet|CUDA driver version|forward compat)([^\n]+)
values =
    advice of found: operation not supported => On a Jetson, use a build for its own CUDA (JetPack's, not the one for
    + aarch64 servers); elsewhere make nvidia-smi work where llama.cpp runs
    advice of found: no CUDA-capable => Make nvidia-smi work where llama.cpp runs (a container needs --gpus all), and
    + unset CUDA_VISIBLE_DEVICES; if that works and only a service that starts with the system sees no GPU,
    + /dev/nvidia-uvm did not exist yet: let its unit wait (After=nvidia-persistenced.service,
    + ExecStartPre=+/usr/bin/nvidia-modprobe -u -c=0)
    advice of found: . => Make nvidia-smi work where llama.cpp runs (a container needs --gpus all), unset
    + CUDA_VISIBLE_DEVICES, and use a build for a CUDA that the driver supports
cause = llama.cpp cannot use the GPU: {found}. It would run on the CPU.
remedy = {advice}.
source = ollama/ollama#18067

[llamacpp-attention-fault]
keys = an illegal memory access was encountered
pattern = an illegal memory access was encountered *\n[^\n]*in function (ggml_cuda_flash_attn\w*)
cause = llama.cpp's flash attention kernel failed ({found}). This is a fault of this release with the model's head size
    or with long prompts, not a lack of memory.
remedy = Start without flash attention (llama.cpp's -fa off, Ollama's OLLAMA_FLASH_ATTENTION=0) or with smaller batches
    (-ub 256), and use a newer release.
source = ollama/ollama#17596

[llamacpp-illegal-instruction]
keys = an illegal instruction was encountered
pattern = an illegal instruction was encountered *\n[^\n]*in function (ggml_\w+)
cause = One of llama.cpp's kernels stopped at an instruction that this GPU refuses ({found}). CUDA 13.0's nvcc is
    reported to compile some kernels for 12.x wrongly (MXFP4), or the build is for another GPU.
remedy = Build the newest llama.cpp with CUDA 13.1 or newer and -DCMAKE_CUDA_ARCHITECTURES=121a-real in an empty
    directory. Until then, use another quantization (Q4_K_M) or -DGGML_CUDA_FORCE_CUBLAS=ON.
source = ggml-org/llama.cpp#19168

[ggml-built-for-another]
keys =
    CUDA error
    in function ggml_cuda_kernel_can_use_pdl
pattern =
    (?P<why>CUDA error: [\w ]+)\n[^\n]*in function ggml_cuda_kernel_can_use_pdl
    in function ggml_cuda_kernel_can_use_pdl
cause = The launch of a llama.cpp (ggml) kernel failed[ ({why})] before this check, which only reports it. Usually the
    library was built for another GPU or an older CUDA, as in wheels.
remedy = Build it here with CUDA 13 (-DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=121; for a wheel, pip install --no-binary
    with CMAKE_ARGS), or use the program's other backend (torch).
source = ggml-org/llama.cpp#26246

[llamacpp-batch-small]
keys = GGML_ASSERT(
pattern = GGML_ASSERT\(([^\n]*n_u?batch[^\n]*?)\) failed
cause = The input has more tokens than llama.cpp's batch may have ({found}).
remedy = Raise the batch size (-b, --batch-size, -ub) to the length of the input, or send shorter inputs.
source = ggml-org/llama.cpp#25791

[llamacpp-assertion]
keys =
    GGML_ASSERT(
    GGML_ASSERT:
    LLAMA_ASSERT:
    : fatal error
pattern =
    GGML_ASSERT\((?P<what1>[^\n]+?)\) failed
    (?:GGML|LLAMA)_ASSERT: (?:[^\n:]*:)?[^\n:]*?(?P<what3>[\w.-]+:\d+: (?!!')[^\n]+)
    /ggml-cuda/(?P<what2>[\w-]+\.cuh?:\d+): fatal error$
values =
    advice of what: (?:[^\n]*kv_self|addr|buffer|buf|ctx|ctx_size|ptr|data)\b => Leave it more memory (a shorter
    + context, a smaller model or quantization), because usually an allocation failed just before
    advice of what: . => Update llama.cpp (or Ollama) and try without the less common options (quantized cache, -fa,
    + speculative decoding, your own batch size, --split-mode, --rpc); then search its issues for the assertion
uncertain = yes
cause = A check inside llama.cpp failed ({what}).
remedy = {advice}.
source = ggml-org/llama.cpp#25791

[llamacpp-context-full]
keys = does not support K-shift
pattern = (context does not support K-shift)
cause = The model's context is full, and llama.cpp ended because it cannot shift the context with this model or cache
    ({found}).
remedy = Set a longer context (llama.cpp's -c; Ollama's num_ctx or OLLAMA_CONTEXT_LENGTH), limit the answer (-n,
    num_predict) and send shorter prompts. Update it, because newer releases end the answer instead.
source = ollama/ollama#9410

[llamacpp-cublas]
keys =
    CUDA error: an internal operation failed
    CUDA error: the resource allocation failed
    CUDA error: the library was not initialized
    CUDA error: the function failed to launch on the GPU
pattern = CUDA error: (an internal operation failed|the resource allocation failed|the library was not initialized|the
    + function failed to launch on the GPU)
cause = cuBLAS failed in llama.cpp or Ollama ({found}): the loaded CUDA libraries are not for this GPU (Ollama's
    cuda_v12 on a Thor or Spark, server libraries on a Jetson Orin), or no memory is left for it.
remedy = Update Ollama, and check that it loads cuda_v13 (on an Orin, cuda_jetpack6; the journal's line load_backend
    names it). Build llama.cpp with the host's own CUDA, and leave more memory free.
source = ollama/ollama#13033

[llamacpp-no-toolkit]
keys = CUDA Toolkit not found
pattern = (CUDA Toolkit not found)
cause = CMake does not find the CUDA toolkit ({found}).
remedy = Install it (cuda-toolkit-13-0; role cuda_libraries), put /usr/local/cuda/bin on PATH or set
    -DCUDAToolkit_ROOT=/usr/local/cuda and -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc, and configure in an empty
    directory.

[llamacpp-no-https]
keys =
    HTTPS is not supported. Please rebuild
    built without CURL
    built without libcurl
    'https' scheme is not supported
pattern =
    (HTTPS is not supported)\. Please rebuild
    (built without (?:lib)?(?:CURL|curl))
    ('https' scheme is not supported)
cause = This llama.cpp was built without TLS, so it cannot download a model itself ({found}).
remedy = Install libssl-dev and build it again in an empty directory (LLAMA_OPENSSL is on by default; before 2026, use
    libcurl4-openssl-dev and -DLLAMA_CURL=ON), or download the file with hf download and start it with -m FILE.
source = ggml-org/llama.cpp#21355

[llamacpp-rpc-not-reached]
keys =
    RPC server version mismatch
    Failed to connect to
    RPC: failed to connect to
pattern =
    RPC server version mismatch: (?P<have>[\d.]+)(?s:.)*?Failed to connect to (?P<address1>\S*:\d+)
    (?:^(?:\d+\.[\d.]+ E )?|ggml_rpc: |RPC: )[Ff]ailed to connect to (?P<address2>[\d.]*:\d+)
    ^Failed to connect to (?P<address3>\S+:50052)
cause = llama.cpp cannot connect to the RPC server {address} on another host[, which uses another version of the
    protocol ({have})].
remedy = Start ggml-rpc-server (older: rpc-server) there with -H and its address in the network between the hosts,
    because its default is 127.0.0.1. Pass that address and port to --rpc, and rebuild both hosts from the same commit.
source = ggml-org/llama.cpp#26392

[llamacpp-template]
keys = this custom template is not supported
pattern = (this custom template is not supported)
cause = llama.cpp can read the model's chat template only with its Jinja engine ({found}).
remedy = Start it with --jinja, or choose one of its own templates (--chat-template chatml).

[llama-python-absent]
keys = has no attribute 'Llama
pattern = 'NoneType' object has no attribute '(Llama\w*)'
cause = The program found no llama-cpp-python that it can import, and so has no {found}.
remedy = Install it with CUDA in the program's environment (CMAKE_ARGS='-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=121'
    pip install --no-cache-dir --force-reinstall llama-cpp-python), and try python -c 'import llama_cpp'.
source = oobabooga/textgen#4817

[ollama-architecture]
keys = unsupported architecture "
pattern = Error: unsupported architecture '(\w+)'
cause = Ollama cannot create a model of {found} from safetensors: the architecture is newer than this Ollama, or was
    never supported.
remedy = Update Ollama, or use the model as GGUF (FROM ./model.gguf in the Modelfile, or ollama run hf.co/OWNER/NAME),
    converted with llama.cpp's convert_hf_to_gguf.py.

[appimage-without-fuse]
keys =
    AppImages require FUSE to run
    error loading libfuse.so.2
pattern =
    (AppImages require FUSE) to run
    error loading (libfuse\.so\.2)
cause = An AppImage, such as LM Studio, needs version 2 of the FUSE library, which is not installed ({found}).
remedy = Install it (sudo apt install libfuse2t64 on Ubuntu 24.04, or libfuse2 on older releases), or unpack the file
    (--appimage-extract) and start squashfs-root/AppRun.

[electron-sandbox]
keys = The SUID sandbox helper binary was found
pattern = You need to make sure that (\S+/chrome-sandbox) is owned by root
cause = Ubuntu 24.04 does not let the program, such as LM Studio, create its own sandbox, and its helper ({found}) lacks
    the necessary permissions.
remedy = Start it with --no-sandbox. To keep the sandbox, unpack the AppImage (--appimage-extract), change its
    chrome-sandbox (sudo chown root:root, sudo chmod 4755) and start it from there, or allow sandboxes for all programs
    (sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0).
source = lmstudio-ai/lmstudio-bug-tracker#30

[ollama-template-newer]
keys = Error: template:
pattern = Error: template: \S*?:\d+: function '(?P<function>\w+)' not defined
cause = The model's template uses {function}, which this Ollama is too old to know.
remedy = Update Ollama on the server's host (curl -fsSL https://ollama.com/install.sh | sh, or the newest image),
    restart it, and pull the model again.
source = ollama/ollama#11673

[ollama-tools]
keys =
    does not support tools
    does not support thinking
    does not support chat
    does not support generate
    does not support insert
pattern = ([\w./-]+(?::[\w.-]+)?)'? does not support (?P<what>tools|thinking|chat|generate|insert)(?=['\\}]|$)
cause = A client asks Ollama's model {found} for {what}, which its template does not mention: the model does not support
    it, or it was made from a GGUF file without the library's template.
remedy = Use a model that the library lists with {what}, put the template into your Modelfile (ollama show --modelfile
    of the library's model prints it), or turn {what} off in the client.
source = ollama/ollama#14795

[ollama-not-running]
keys =
    could not connect to ollama
    could not connect to a running Ollama
pattern = (could not connect to (?:a running )?[Oo]llama)
cause = No Ollama server answers ({found}).
remedy = Start it (systemctl start ollama) and read its journal if it ends. From a container or another host, set
    OLLAMA_HOST to its address, and OLLAMA_HOST=0.0.0.0 for the server.
source = ollama/ollama#8813

[ollama-too-old]
keys = requires a newer version of Ollama
pattern = (requires a newer version of Ollama)
cause = The model {found} than the server that you use.
remedy = Install the newest Ollama on that host (its install script, with OLLAMA_VERSION=VERSION before sh for a
    pre-release, or the newest image), and restart the service.

[ollama-load-timeout]
keys = timed out waiting for llama runner to start
pattern = timed out waiting for llama runner to start(?: - progress (?P<progress>[\d.]+))?
cause = The model was not loaded in time[ (progress {progress})].
remedy = Raise OLLAMA_LOAD_TIMEOUT (30m) in the service, keep the models on the local NVMe, and leave memory free. At
    progress 0.00, read the runner's lines in the journal.

[ollama-pull-interrupted]
keys = Error: max retries exceeded
pattern = Error: max retries exceeded(?:: (?P<why>[^\n]{1,160}))?
cause = Ollama's download of the model was interrupted repeatedly[: {why}].
remedy = Start ollama pull again, which continues the download. Behind a proxy, set HTTPS_PROXY for the server, not for
    the shell (systemctl edit ollama: Environment=HTTPS_PROXY=…, then restart it).
source = ollama/ollama#1770

[ollama-digest]
keys = digest mismatch, file must be downloaded again
pattern = (digest mismatch)
cause = A downloaded part of the model is damaged ({found}).
remedy = Pull it again. If the error comes back, a proxy changes the file, or the host's disk or memory is at fault.

[ollama-installer-sees-no-gpu]
keys = Unable to detect NVIDIA/AMD GPU. Install lspci or lshw
pattern = (Unable to detect NVIDIA/AMD GPU)\. Install lspci or lshw
cause = Ollama's installer could not look for a GPU, because neither lspci nor lshw is installed ({found}). Ollama
    itself does not need them.
remedy = Run nvidia-smi. If it shows the GPU, start Ollama and check ollama ps, or install pciutils and run the
    installer again. Otherwise repair the driver, or start the container with --gpus all.
source = ollama/ollama#14661

[ollama-discovery]
keys = failure during GPU discovery
pattern = failure during GPU discovery[^\n]*error='(?P<why>[^'\n]+)'
cause = Ollama could not query the GPU when it started ({why}), so it would run on the CPU.
remedy = Make nvidia-smi work for Ollama's account, start it after the driver (After=nvidia-persistenced.service),
    restart it, and update it: older releases have no code for CUDA 13 or 12.1.

[llamacpp-split-too-long]
keys = exceed maximum supported devices
pattern = (Attempt to split tensors that exceed maximum supported devices)(?:[^\n]*LLAMA_MAX_DEVICES=(?P<count>\d+))?
cause = tensor_split has more numbers than this build of llama.cpp supports devices[ ({count}, as in a build without
    CUDA)].
remedy = Omit tensor_split, because a Spark has one GPU. If it was meant for several GPUs, install a build with CUDA
    (llama-cpp-python from source with CMAKE_ARGS=-DGGML_CUDA=on).
source = abetlen/llama-cpp-python#1164

[unsloth-needs-llamacpp]
keys =
    Unsloth: The file 'llama.cpp/
    GGUF conversion failed
pattern =
    Unsloth: The file '(llama\.cpp/[\w/-]+)'
    GGUF conversion failed: [^\n]*?'(llama\.cpp/[\w/-]+)'
cause = Unsloth writes GGUF files with a llama.cpp in the current directory, which is missing or not built ({found}).
remedy = Build it there (git clone https://github.com/ggml-org/llama.cpp; cmake -S llama.cpp -B llama.cpp/build; cmake
    --build llama.cpp/build --target llama-quantize -j; cp llama.cpp/build/bin/llama-* llama.cpp), or save the model
    with save_pretrained_merged and convert it with convert_hf_to_gguf.py.
source = https://unsloth.ai/docs/basics/troubleshooting-and-faqs

[lmstudio-server-not-verified]
keys = Failed to verify the server is running
pattern = (Failed to verify the server is running)
cause = LM Studio's lms started its server but could not connect to it ({found}). Releases of 2026 also report this for
    a running server (with --bind).
remedy = Query it (curl http://localhost:1234/v1/models): if it answers, it is running. Otherwise choose another port
    (--port), and update LM Studio.
source = lmstudio-ai/lmstudio-bug-tracker#1720

[localai-backend-absent]
keys = grpc process not found
pattern = grpc process not found: (?:\S*/)?(?P<name>[\w+-]+)(?:/run\.sh)?\.?(?:\s|$)
cause = This image or build of LocalAI does not have the backend that the model's configuration names ({name}).
remedy = Install the backend (the page Backends, or local-ai backends install NAME), or use an image that has it (for
    older releases, one without -core). Check the field backend in the model's YAML file.
source = mudler/LocalAI#1871

[localai-backend-ended]
keys =
    GRPC Service NOT ready
    grpc service not ready
pattern = ((?:GRPC Service NOT|grpc service not) ready)
uncertain = yes
cause = LocalAI started the model's backend as a separate process, which ended or did not listen ({found}). The refused
    connections to 127.0.0.1 are a consequence.
remedy = Start LocalAI with DEBUG=true and read the backend's own lines (stderr). Usually the image lacks a CUDA
    library, the CPU lacks instructions for which the backend was built, or there is too little memory.
source = kaito-project/aikit#155

[comfyui-frontend]
keys =
    ComfyUI frontend package
    comfyui-frontend-package is not installed
    Failed to initialize database. Please ensure
pattern =
    (Failed to initialize database)\. Please ensure
    (?:Could not find the )?(ComfyUI frontend package)
    (comfyui-frontend-package) is not installed
cause = A package from ComfyUI's requirements is missing in its environment ({found}). This happens if only its source
    was updated.
remedy = Run pip install -r requirements.txt with ComfyUI's own Python, without replacing torch.

[comfyui-node-unknown]
keys =
    a node is missing the class_type property
    Cannot execute because node
pattern =
    Cannot execute because node (?P<node>[^\n]{1,80}?) does not exist
    (a node is missing the class_type property)
cause = The workflow has a node[, {node},] that this ComfyUI does not know: its custom nodes are not installed, or their
    import failed.
remedy = Look for IMPORT FAILED in the startup log, install missing nodes with ComfyUI-Manager (Install Missing Custom
    Nodes), restart ComfyUI, and reload the page and the workflow.
source = Comfy-Org/ComfyUI#11355

[comfyui-workflow-of-api]
keys = the workflow does not contain any nodes
pattern = (the workflow does not contain any nodes)
cause = The file is a prompt for ComfyUI's API, not a workflow for its page ({found}).
remedy = Load the workflow's own JSON file (with nodes and links) in the page, or send the API file to /prompt with
    curl.
source = https://github.com/NVIDIA/dgx-spark-playbooks

[comfyui-input-missing]
keys =
    ERROR: VAE is invalid: None
    ERROR: clip input is invalid: None
pattern = ERROR: (VAE|clip) (?:input )?is invalid: None
cause = The file that the workflow's loader opened contains no {found}: it is only the diffusion model, or not the file
    that the workflow expects.
remedy = Load the {found} with a node of its own (Load VAE, Load CLIP) from the files that the model's page names, or
    use a checkpoint that contains it.

[comfyui-input-not-connected]
keys =
    Required input is missing
    Prompt has no outputs
pattern =
    Required input is missing: (?P<input>\S+)
    (?P<why>Prompt has no outputs)
cause = ComfyUI does not run the workflow[: the input {input} of a node is not connected][: {why}].
remedy = Connect the input, or bypass that node. A workflow without an output needs a node such as Save Image. An input
    that lost its connection usually belongs to a node that is missing or newer (update ComfyUI and its nodes, reload
    the page).

[diffusers-pipeline-unknown]
keys = find a pipeline linked to
pattern = AutoPipeline can't find a pipeline linked to (?P<pipeline>\w+)
cause = The installed diffusers does not know the model's pipeline {pipeline}.
remedy = Upgrade it with its dependencies (pip install -U diffusers transformers accelerate; the newest pipelines are
    only in its source: pip install git+https://github.com/huggingface/diffusers), in the Python that runs the program.
source = xorbitsai/inference#2085

[comfyui-gguf-unknown]
keys =
    in GGUF file
    Unknown model architecture!
pattern =
    Unexpected (?:text model )?architecture type in GGUF file(?:: |, expected one of [^\n]{3,120}? but got
    + )'?(?P<type>[\w-]+)
    (?:Error|Message:\*\*):? (?P<none>Unknown model architecture!)
cause = ComfyUI-GGUF does not know the file's architecture[, {type}], or the workflow loads the file with another node.
remedy = Update ComfyUI-GGUF (git -C custom_nodes/ComfyUI-GGUF pull, and its requirements.txt), load diffusion models
    with Unet Loader (GGUF), and text encoders with CLIPLoader (GGUF) and the model's type. Then restart ComfyUI. A file
    from another converter (pig) needs that converter's own node, so use city96's file or the one on the model's page.

[comfyui-model-unknown]
keys = Could not detect model type of
pattern = Could not detect model type of: (\S+)
cause = ComfyUI does not recognise {found}: it is part of a model (a UNet, VAE or LoRA), newer than this ComfyUI, or
    damaged.
remedy = Load a part with its own loader (Load Diffusion Model, VAE, LoRA), update ComfyUI, and compare the file's size
    with the original.

[sageattention-too-old]
keys =
    sageattention is not new enough
    from 'sageattention'
pattern =
    (sageattention is not new enough version)
    cannot import name '(sageattn_\w+)' from 'sageattention'
cause = A node needs SageAttention 2, but the package index has only 1.0.6 ({found}), or its architecture was not found.
remedy = Build SageAttention 2.2 from its source for this GPU (pip install --no-build-isolation, with
    TORCH_CUDA_ARCH_LIST=12.0), or do not use that node.
source = kijai/ComfyUI-KJNodes#721

[nunchaku-other-format]
keys = this->shape.dataExtent
pattern = Assertion failed: this->shape\.dataExtent == other\.shape\.dataExtent
cause = nunchaku was given a model in a format that is not for this GPU: INT4 files are for GPUs before Blackwell, FP4
    files for Blackwell.
remedy = On a GB10 or another Blackwell GPU, load the file with svdq-fp4 in its name, on older ones svdq-int4, and use a
    nunchaku that was built for the installed torch and for 12.0 or 12.1.
source = nunchux-ai/nunchaku#130

[node-llama-without-cuda]
keys = is detected, but using it failed
pattern = (CUDA) is detected, but using it failed
cause = node-llama-cpp finds {found} on this host, but its prebuilt binary cannot use it: there is no CUDA build for
    linux-arm64.
remedy = Build it here: install cmake, g++ and the CUDA toolkit, then npx --no node-llama-cpp source download --gpu
    cuda.
source = withcatai/node-llama-cpp#651

[ctranslate2-without-cuda]
keys =
    CTranslate2 package was not compiled with CUDA
    Conv1D on GPU currently requires the cuDNN
pattern =
    (CTranslate2 package was not compiled with CUDA) support
    Conv1D on GPU currently requires the (cuDNN library which is not integrated in this build)
cause = CTranslate2 was built without CUDA or cuDNN, like its wheel for aarch64 ({found}), so faster-whisper and
    WhisperX run only on the CPU.
remedy = Build CTranslate2 from source with -DWITH_CUDA=ON -DWITH_CUDNN=ON and its Python package for that build, run it
    on the CPU (device="cpu", compute_type="int8"), or use whisper.cpp or Transformers' Whisper, which support CUDA on
    aarch64.
source = QuentinFuxa/WhisperLiveKit#284

[ctranslate2-type]
keys = do not support efficient
pattern = Requested (?P<type>\w+) compute type, but the target device or backend do not support
cause = CTranslate2 was asked to compute in {type} on a device that does not support it, usually the CPU, because its
    wheel for aarch64 has no CUDA.
remedy = Set compute_type="int8" (or "float32") with device="cpu". For the GPU, build CTranslate2 with -DWITH_CUDA=ON.
source = OpenNMT/CTranslate2#1908

[nvenc-refused]
keys =
    OpenEncodeSessionEx failed
    capable devices found
pattern =
    (?P<encoder1>\w+_nvenc) @[^\n]*OpenEncodeSessionEx failed: (?P<why1>[^\n]+)
    (?P<encoder2>\w+_nvenc) @[^\n]*(?P<why2>No (?:NVENC )?capable devices found)
values =
    advice of why: .*out of memory => End other encoders (a GeForce limits the number of simultaneous sessions) and
    + programs that hold GPU memory
    advice of why: .*(?:unsupported device) => Encode with another GPU or on the CPU (libx264, libx265, libsvtav1),
    + because this GPU has no such encoder
    advice of why: .*(?:client key|version) => Update the driver, which is older than this FFmpeg's headers
    advice of why: . => Run it with -loglevel verbose, which says for each GPU why it is not used, and remove profile,
    + preset, B-frames and 10 bit one by one; a GPU may have no encoder (A100, H100) or not this one (AV1 since Ada),
    + and the driver may be too old
cause = FFmpeg's encoder {encoder} cannot use any GPU: {why}.
remedy = {advice}.
source = HandBrake/HandBrake#2204

[ffmpeg-codec-missing]
keys =
    Unknown encoder '
    Unknown decoder '
pattern = Unknown (?P<kind>en|de)coder '(?P<name>[\w-]+)'
values =
    advice of name: .*(?:nvenc|cuvid) => Use an FFmpeg with NVENC (Ubuntu's own, apt install ffmpeg, has it; conda's and
    + static builds usually do not), or build it with --enable-nvenc and the nv-codec-headers of the driver's version
    advice of name: . => Use an FFmpeg that was built with it (apt install ffmpeg), or choose another codec
cause = This FFmpeg was built without the {kind}coder {name} (ffmpeg -{kind}coders lists the available ones).
remedy = {advice}.
source = https://trac.ffmpeg.org/wiki/HWAccelIntro

[nvenc-driver-too-old]
keys = required nvenc API version
pattern = does not support the required nvenc API version. Required: (?P<required>[\d.]+) Found: (?P<have>[\d.]+)
cause = This FFmpeg was built for NVENC {required}, but the driver supports only {have}.
remedy = Use an FFmpeg that was built with the headers for the driver's version (the distribution's package; for your
    own build, the tag n{have}* of nv-codec-headers), or update DGX OS with its driver.
source = https://github.com/FFmpeg/nv-codec-headers

[gstreamer-element-missing]
keys =
    erroneous pipeline: no element
    No such element or plugin
pattern =
    erroneous pipeline: no element '(?P<element1>\w+)'
    No such element or plugin '(?P<element2>\w+)'
values =
    package of element: (nvv4l2|nvarg|nvvid|nvjpeg|nv3d) => on a Jetson nvidia-l4t-gstreamer (in a container started
    + with --runtime nvidia), elsewhere DeepStream
    package of element: nv => DeepStream, or gstreamer1.0-plugins-bad (nvh264dec and the like)
    package of element: (av|libav) => gstreamer1.0-libav
    package of element: x26|rtsp => gstreamer1.0-plugins-ugly and gstreamer1.0-rtsp
    package of element: . => gstreamer1.0-plugins-base, -good, -bad and -ugly
cause = GStreamer has no element {element}: its plugin is not installed, or could not be loaded.
remedy = Install it ({package}), delete ~/.cache/gstreamer-1.0, and run gst-inspect-1.0 {element} to check.

[fp8-not-implemented]
keys = not implemented for '
pattern = '(?P<operation>\w+)' not implemented for '(?P<type>\w+)'
values =
    advice of type: Float8 => Load the weights as another type (in ComfyUI, weight_dtype default, or a node that
    + supports the quantization), or use a newer PyTorch and program
    advice of operation: .*(?:cpu|CPU) => This part runs on the CPU: move the model to the GPU (.to("cuda"),
    + device_map), or load it as float32
    advice of type: Half|BFloat16 => Usually it runs on the CPU: move the model to the GPU, or load it as float32
    advice of type: . => Convert the tensor to a type that the operation supports (float32, int64)
cause = PyTorch has no {operation} for the data type {type}.
remedy = {advice}.

[torchcodec-not-loaded]
keys = Could not load libtorchcodec
pattern =
    Could not load libtorchcodec(?s:.{0,900}?)The PyTorch version
    + \((?P<torch1>[^)\n]+)\)(?s:.{0,1100}?)(?P<why>undefined
    + symbol|libnpp\w+\.so[.\d]*|libnvrtc\.so[.\d]*|libtorch\w*\.so)
    Could not load libtorchcodec(?s:.{0,900}?)The PyTorch version \((?P<torch2>[^)\n]+)\)
    Could not load libtorchcodec
values =
    fit of torch: 2\.8 => 0.7
    fit of torch: 2\.9 => 0.9
    fit of torch: 2\.10 => 0.10
    fit of torch: 2\.1[1-9] => 0.12
    fit of torch: . => that its README lists
    fit of torch: (?:) => that its README lists for the installed torch
    reason of why: undefined|libtorch => it was built for another PyTorch than the installed one
    reason of why: lib => a CUDA library is not found, or belongs to another CUDA
    reason of why: (?:) => FFmpeg's libraries are missing, or it was built for another PyTorch
cause = TorchCodec's library could not be loaded[ with PyTorch {torch}]: {reason}. Ignore the errors about versions of
    FFmpeg that are not installed.
remedy = Install FFmpeg (sudo apt install ffmpeg) and the TorchCodec {fit} (pip install torchcodec --index-url
    https://download.pytorch.org/whl/cu130, for the same CUDA as torch), and nvidia-npp if libnpp is named. Without
    TorchCodec, read audio with soundfile.
source = meta-pytorch/torchcodec#1139

[torchaudio-needs-torchcodec]
keys = _with_torchcodec
pattern = TorchCodec is required for ((?:load|save)_with_torchcodec)
cause = torchaudio 2.9 and newer read and write audio with TorchCodec only, and its import failed.
remedy = Run python -c 'import torchcodec', which shows the reason. Install FFmpeg (sudo apt install ffmpeg) and the
    TorchCodec for this torch (pip install torchcodec --index-url https://download.pytorch.org/whl/cu130), or read the
    audio with soundfile.
source = SWivid/F5-TTS#1234

[torchcodec-missing]
keys = torchcodec is not available
pattern = (torchcodec is not available)
cause = The program reads video with TorchCodec, which is not installed, or cannot be imported ({found}).
remedy = Run python -c 'import torchcodec', which shows the reason. Install FFmpeg (sudo apt install ffmpeg) and the
    TorchCodec for this torch (for aarch64, from PyTorch's index, --index-url https://download.pytorch.org/whl/cu130),
    or choose another of the program's readers (video_backend decord, pyav or opencv).
source = NVIDIA/Isaac-GR00T#421

[comfyui-file-missing]
keys = Value not in list
pattern =
    Value not in list: (?P<field>\w+): '(?P<value>[^'\n]*\.(?:safetensors|sft|ckpt|pth?|pt2|bin|gguf|onnx|patch|engine
    +|trt|vae|yaml|png|jpe?g|webp|mp4|wav|mp3|json|txt)|[^'\n]*(?:model|lora|ckpt|vae|unet|clip)[^'\n]*)' not in
cause = The workflow sets {field} to {value}, which this ComfyUI does not have.
remedy = Put the file into the loader's directory below models (checkpoints, diffusion_models, vae, loras), or add its
    directory to extra_model_paths.yaml; then reload the page, and choose it in the node.

[comfyui-value-unknown]
keys =
    Value not in list
    Failed to convert an input value to a
pattern =
    Value not in list: (?P<field>\w+): '?(?P<value>[^'\n]*?)'? not in
    Failed to convert an input value to an? \w+ value: (?P<field1>\w+), (?P<value1>[^,\n]*)
cause = A node of the workflow sets {field} to {value}, which this release of the node does not accept. An update added
    or removed fields, so the saved values moved, or a model's name is not in its list.
remedy = Recreate the node (right-click, Fix node (recreate)), choose its values again and save the workflow. If the
    value names a model, put the model into the directory below models. Or use the release of the node with which the
    workflow was made.
source = LucianoCirino/efficiency-nodes-comfyui#214

[comfyui-prompt-refused]
keys = prompt_outputs_failed_validation
pattern = prompt_outputs_failed_validation'[^\n]*?'details': ?'(?P<input>\w+): '?(?P<value>[^'\n]*)'? not in
    (prompt_outputs_failed_validation)
uncertain = yes
cause = ComfyUI does not run the workflow: {found}[ has the value {value}, which is not in its list]. The lines above or
    below name the nodes and their inputs.
remedy = Connect each input that they name, choose each value again that is not in the list (for a model, put its file
    into the directory below models, and reload the page), and update ComfyUI and its nodes.

[lmstudio-load-failed]
keys = Please check settings and try loading the model again
pattern = \(Exit code: (?P<code>\w+)\)\. Please check settings and try loading the model again
uncertain = yes
values =
    advice of code: (?:137|9)$ => Memory ran out: choose a smaller quantization or context, and end other programs on
    + the GPU
    advice of code: (?:13[3-9]|null|42)$ => Its runtime crashed: update LM Studio and its runtime (Settings, Runtime;
    + on a
    + Spark the one for CUDA 13 on ARM), choose a shorter context and flash attention off, and leave more memory free
    advice of code: . => Update LM Studio and its runtime, and load the model with fewer settings of your own
cause = LM Studio could not load the model (its runtime ended with the code {code}), and does not say why.
remedy = {advice}; lms log stream and its developer log have the runtime's own lines.
source = lmstudio-ai/lmstudio-bug-tracker#285

[gguf-tokenizer-file-missing]
keys = File not found:
pattern = (?:FileNotFoundError: |^)File not found: (?P<file>\S*tokenizer(?:\.model|\.json|_config\.json))
cause = The converter to GGUF looks for {file}, which the directory does not contain. Only the weights were saved there,
    or the original model has another kind of tokenizer.
remedy = Save the tokenizer into the directory too (tokenizer.save_pretrained), or copy tokenizer.model, tokenizer.json
    and tokenizer_config.json from the original model. If that has no tokenizer.model, update llama.cpp.
source = unslothai/unsloth#785

[unsloth-quantization-failed]
keys = Unsloth: Quantization failed for
pattern = Unsloth: Quantization failed for (?P<file>[^\n]+)
uncertain = yes
cause = Unsloth created the GGUF file {file}, but llama.cpp's llama-quantize failed with it.
remedy = Check the free space on that disk (df -h), and look for llama-quantize's own lines above. Write to a local disk
    rather than a mounted store, or rebuild llama.cpp and run it by hand (llama-quantize FILE.BF16.gguf OUT.gguf
    q4_k_m).
source = unslothai/unsloth#4557

[ollama-load-cancelled]
keys = error="context canceled"
pattern = Load failed[^\n]{0,200}error="(context canceled)"
cause = The client gave up while Ollama loaded the model ({found}), because the client's time limit was over.
remedy = Raise the client's time limit, load the model beforehand (ollama run MODEL ""), keep it loaded
    (OLLAMA_KEEP_ALIVE=-1), and keep the models on a local disk. OLLAMA_LOAD_TIMEOUT is the server's own limit.
source = ollama/ollama#12194

[ollama-registry-fails]
keys = pull model manifest: 5
pattern = pull model manifest: (5\d\d)
cause = Ollama's library itself failed (status {found}); the host is not at fault.
remedy = Wait and pull again. If the error remains, check whether a proxy answers instead (HTTPS_PROXY of the service),
    or use the model from the hub (ollama pull hf.co/OWNER/REPOSITORY).
source = ollama/ollama#8873

[ollama-model-unknown]
keys =
    pull model manifest: file does not exist
    not found, try pulling it first
    Error: model '
    Error: model "
pattern =
    (pull model manifest: file does not exist)
    Error: model '([^'\n]+)' not found
    model '([^'\n]+)' not found, try pulling it first
cause = Ollama has no such model, or its library has no such name or tag ({found}).
remedy = Check the exact name and tag in ollama list and on the library's page, and pull the model first (with the
    account whose server you use).
"""
