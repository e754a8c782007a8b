# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""llama.cpp, Ollama and ComfyUI

What programs print that load a model on one host.
"""

RULES = r"""
[gguf-incomplete]
keys =
    is not within the file bounds
    failed to read tensor data
    gguf_init_from_file_impl: failed to read
pattern =
    tensor '([^'\n]+)' data is not within the file bounds
    gguf_init_from_file\w*: (failed to read [\w ]+)
cause = The GGUF file is cut off ({found}): a download or a copy broke off.
remedy = Delete it, download it again, and compare its size with the hub's.

[gguf-tensor-missing]
keys =
    missing tensor
    wrong number of tensors
pattern =
    missing tensor '([^'\n]+)'
    (wrong number of tensors)
cause = The GGUF file does not have the layers that this llama.cpp expects of its architecture ({found}): it was made by
    another release, or is a part (mmproj, LoRA, draft) and no model.
remedy = Update llama.cpp (or Ollama), or take a GGUF that was made anew since; give an mmproj file with --mmproj, a
    LoRA with --lora.

[gguf-not-found]
keys = failed to open GGUF file
pattern = failed to open GGUF file '(?P<file>[^'\n]+)'(?: \((?P<why>[^)\n]+)\))?
cause = llama.cpp cannot open {file}[: {why}].
remedy = Correct the path (in a container the one inside, where the directory is mounted), and let the account read the
    file.

[gguf-first-part]
keys =
    must be loaded with the first split
    invalid split file
pattern =
    illegal split file idx: \d+ \(file: (?P<file>[^)\n]+)\)
    (?P<file2>invalid split file[^\n]*)
cause = The model is split into several files, and {file} is not the first.
remedy = Name the file that ends in -00001-of-, with all others beside it.

[llamacpp-no-cuda]
keys = ggml_cuda_init: failed to initialize CUDA
pattern = ggml_cuda_init: failed to initialize CUDA: ([^\n]+)
cause = llama.cpp does not reach the GPU: {found}; it would run on the processor.
remedy = Make nvidia-smi work where it runs (a container needs --gpus all), unset CUDA_VISIBLE_DEVICES, and use a build
    for a CUDA that the driver supports.

[llamacpp-assertion]
keys = GGML_ASSERT(
pattern = GGML_ASSERT\((?P<what>[^\n]+?)\) failed
cause = A check inside llama.cpp failed ({what}): a fault of this release for this model or these options.
remedy = Update llama.cpp (or Ollama) and try without the less common options (quantized cache, -fa, speculative
    decoding, a batch size of your own); then look the assertion up in its issues.

[llamacpp-no-toolkit]
keys = CUDA Toolkit not found
pattern = (CUDA Toolkit not found)
cause = CMake does not find the CUDA toolkit ({found}).
remedy = Install it (cuda-toolkit-13-0; role cuda_libraries), put /usr/local/cuda/bin on PATH or set
    -DCUDAToolkit_ROOT=/usr/local/cuda and -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc, and configure in an empty
    directory.

[ollama-not-running]
keys =
    could not connect to ollama
    could not connect to a running Ollama
pattern = (could not connect to (?:a running )?[Oo]llama)
cause = No Ollama server answers ({found}).
remedy = Start it (systemctl start ollama) and read its journal if it ends; from a container or another host set
    OLLAMA_HOST to its address, and OLLAMA_HOST=0.0.0.0 for the server.

[ollama-too-old]
keys = requires a newer version of Ollama
pattern = (requires a newer version of Ollama)
cause = The model {found} than the server that is asked.
remedy = Install the newest one on that host (its install script, or the newest image), and restart the service.

[ollama-load-timeout]
keys = timed out waiting for llama runner to start
pattern = timed out waiting for llama runner to start(?: - progress (?P<progress>[\d.]+))?
cause = The model was not loaded in time[ (progress {progress})].
remedy = Raise OLLAMA_LOAD_TIMEOUT (30m) in the service, keep the models on the local NVMe, and leave memory free; at
    progress 0.00 read the runner's lines in the journal.

[ollama-digest]
keys = digest mismatch, file must be downloaded again
pattern = (digest mismatch)
cause = A downloaded part of the model is damaged ({found}).
remedy = Pull it again; if it comes back, a proxy changes it, or the disk or memory of the host is at fault.

[ollama-discovery]
keys = failure during GPU discovery
pattern = failure during GPU discovery[^\n]*error='(?P<why>[^'\n]+)'
cause = Ollama could not ask the GPU when it started ({why}), and would run on the processor.
remedy = Make nvidia-smi work for its account, start it after the driver (After=nvidia-persistenced.service), restart
    it, and update Ollama: older ones lack code for CUDA 13 or 12.1.

[llamacpp-cache-memory]
keys =
    failed to allocate buffer for kv cache
    failed to allocate compute buffers
pattern = (failed to allocate (?:buffer for kv cache|compute buffers))
cause = There was no memory for llama.cpp's context ({found}).
remedy = Start it with a shorter context (-c), fewer slots (-np) or a quantized cache (-ctk q8_0 -ctv q8_0 with -fa on),
    or free memory first.

[llamacpp-needs-flash-attention]
keys = V cache quantization requires flash_attn
pattern = (V cache quantization requires flash_attn)
cause = A quantized V cache works only with flash attention ({found}).
remedy = Add -fa on, or leave -ctv at f16.

[comfyui-frontend]
keys =
    ComfyUI frontend package
    comfyui-frontend-package is not installed
pattern =
    (?:Could not find the )?(ComfyUI frontend package)
    (comfyui-frontend-package) is not installed
cause = A package of ComfyUI's requirements is missing in its environment ({found}), as after an update
    of only its source.
remedy = Run pip install -r requirements.txt with ComfyUI's own Python, without replacing torch.

[comfyui-model-unknown]
keys = Could not detect model type of
pattern = Could not detect model type of: (\S+)
cause = ComfyUI does not recognise {found}: it is a part of a model (a UNet, VAE or LoRA), is newer than this ComfyUI,
    or is damaged.
remedy = Load a part with its own loader (Load Diffusion Model, VAE, LoRA), update ComfyUI, and compare the file's size
    with its source's.

[fp8-not-implemented]
keys = not implemented for '
pattern = '(?P<operation>\w+)' not implemented for '(?P<type>\w+)'
cause = PyTorch has no {operation} for the data type {type}.
remedy = Load the model in another type (of ComfyUI: weight_dtype default, or a node that knows the quantization), or
    take a newer PyTorch and program; on a CPU half types lack many operations.
"""
