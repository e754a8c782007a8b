# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""The Hugging Face hub

Models, datasets and kernels that a program gets from there.
"""

RULES = r"""
[hub-gated]
keys =
    gated repo
    GatedRepoError
    Access to model
pattern =
    Access to model (\S+) is restricted
    Cannot access (gated repo)
    (?:trying to access a|Cannot access) (gated repo)
    (GatedRepoError)
cause = The model is gated ({found}), and no token of an account with access was sent.
remedy = Accept the model's terms on its page, and give the program a token with the right to read gated
    repositories (serving_model_token_file, HF_TOKEN).
source =
    vllm-project/semantic-router#817
    huggingface/diffusers#4447
    hyperonym/basaran#289

[hub-unknown]
keys =
    RepositoryNotFoundError
    Repository Not Found for url
pattern =
    Repository Not Found for url: \S*?/(?:api/)?(?:models/|datasets/)?([\w.-]+/[\w.-]+?)(?:[/.]?$|/)
    (RepositoryNotFoundError): 404
cause = The hub has no repository of that name that this account may see ({found}): the name is wrong, or it is private.
remedy = Compare the name with its page on the hub; for a private one give the program a token of an account that may
    read it (HF_TOKEN).
source =
    huggingface/huggingface_hub#1202
    albertsokol/bunpo-check#3

[hub-offline]
keys =
    outgoing traffic has been disabled
    offline mode is enabled
pattern =
    (outgoing traffic has been disabled)
    Cannot reach (\S+): offline mode is enabled
cause = The hub's client is offline (HF_HUB_OFFLINE or local_files_only), and what was asked for is not in this
    cache ({found}).
remedy = Get the model first (sparkforge model get), and check that HF_HOME is the directory that was used for that.
source =
    harry0703/MoneyPrinterTurbo#196
    huggingface/optimum-neuron#535

[hub-transfer]
keys = CAS service error
pattern = Data processing error: (CAS service error)
cause = The hub's Xet transfer gave up ({found}): its server is not reached through this network or proxy, or the
    line broke.
remedy = Run again, which keeps finished parts; if it stays so, set HF_HUB_DISABLE_XET=1 to download over plain
    HTTP.
source =
    meta-pytorch/torchforge#109
    huggingface/huggingface_hub#3036

[hub-size]
keys = Consistency check failed
pattern = Consistency check failed: file should be of size (?P<size>\d+) but has size (?P<got>\d+)
cause = A download ended with {got} bytes instead of {size}.
remedy = Download again; where {size} is 0, a mirror told no length, and a newer huggingface_hub helps.
source =
    huggingface/huggingface_hub#1498
    huggingface/huggingface_hub#3307

[hub-kernel-missing]
keys =
    does not have build
    Cannot find a build variant
pattern =
    ([^\s`]+)`? (?:at revision \S+ )?does not have build: (?P<build>[\w.+-]+)
    Cannot find a build variant for this system in (\S+)
cause = The hub's kernel {found} has no build for this PyTorch, CUDA and processor[ ({build})].
remedy = Choose another attention (sdpa, or the flash-attention that the role torch_extensions builds), or install
    the PyTorch that the kernel's variants name.
source =
    unslothai/unsloth#4867
    KellerJordan/modded-nanogpt#145
    huggingface/kernels-community#1082

[hub-name-unknown]
keys =
    is not a valid model identifier
    Repo id must be in the form
pattern =
    (?P<model1>\S+) is not a local folder and is not a valid model identifier
    Repo id must be in the form [^:\n]*: '(?P<model2>[^'\n]+)'
cause = {model} is neither a directory that this program finds nor the name of a model on the hub.
remedy = Correct the path (it must exist where the program runs), or write the name with its owner (owner/name); for a
    private model give the program a token (HF_TOKEN).
source =
    vllm-project/vllm-ascend#135
    Jiaxuan-Li/EVCap#8

[weights-incomplete]
keys =
    header: MetadataIncompleteBuffer
    header: incomplete metadata
pattern = deserializing header: (MetadataIncompleteBuffer|incomplete metadata[\w ,]*)
cause = A file of the model's weights is shorter than its header says ({found}): a download or a copy broke off.
remedy = Delete that file, download it again, and compare its size or checksum with the hub's.
source =
    lyogavin/airllm#137
    QwenLM/Qwen3-VL#264

[weights-not-weights]
keys =
    Error while deserializing header
    UnpicklingError: invalid load key
    invalid magic characters
    invalid magic number
pattern =
    Error while deserializing header: (?P<why1>\w[\w ]*)
    UnpicklingError: (?P<why2>invalid load key, '[v<]')
    gguf_init_from_file\w*: (?P<why3>invalid magic (?:characters|number)[^\n]{0,24})
cause = A file of the model's weights is no such file ({why}): it is a pointer of Git LFS, an error page, damaged, or of
    another format.
remedy = Look at its size and its first bytes: of a pointer (some hundred bytes that begin with version) get the file
    itself (hf download, or git lfs pull), else download it again and compare its checksum with the hub's.
source =
    codefuse-ai/MFTCoder#20
    microsoft/OmniParser#34
    vllm-project/vllm#1382
    OpenBMB/MiniCPM#250
    ggml-org/llama.cpp#3358
"""
