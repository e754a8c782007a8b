# __init__.py in this directory explains the fields.

"""The Hugging Face hub

Models, datasets and kernels that a program downloads from the hub.
"""

RULES = r"""
[hub-token-rights]
keys = 403 Forbidden:
pattern =
    403 Forbidden: (?P<why>Please enable access to public gated repositories[^\n.]*|Authorization error|You must use a
    + write token[^\n.]*|[^\n.]*\b(?:gated|token|permission)\b[^\n.]*)
values =
    advice of why: Please enable => In the token's settings on the hub, allow it to read public gated repositories, or
    + create a token of type read
    advice of why: . => Create a token with the necessary rights (read for a download, write for an upload), for an
    + account that has access on the model's page, and log in with it (hf auth login); unset an old HF_TOKEN
cause = The hub knows the token that was sent, but the token lacks a right: {why}.
remedy = {advice}.

[hub-gated]
keys =
    gated repo
    GatedRepoError
    Access to model
    403 Client Error: Forbidden for url: https://huggingface.co/
pattern =
    Access to model (\S+) is restricted
    Cannot access (gated repo)
    (?:trying to access a|Cannot access) (gated repo)
    (GatedRepoError)
    (403 Client Error: Forbidden) for url: https://huggingface\.co/\S+/resolve/
cause = The model is gated ({found}), but no token of an account with access was sent.
remedy = Accept the model's terms on its page, and give the program a token with the right to read gated
    repositories (serving_model_token_file, HF_TOKEN).
source = vllm-project/semantic-router#817

[hub-unknown]
keys =
    RepositoryNotFoundError
    Repository Not Found for url
pattern =
    Repository Not Found for url: https?://[^/\s]+/(?:api/)?(?:models/|datasets/)?([\w.-]+/[\w.-]+?)(?:[/.]?$|/)
    RepositoryNotFoundError: 404[^\n]*\s+Repository Not Found for url: https?://[^/\s]+/(?:api/)?(?:models/|datasets/)?(
    +[\w.-]+/[\w.-]+?)(?:[/.]?$|/)
    (RepositoryNotFoundError): 404
cause = The hub has no repository with that name that this account may see ({found}): the name is wrong, or the
    repository is private.
remedy = Compare the name with the repository's page on the hub. For a private repository, give the program a token of
    an account that may read it (HF_TOKEN).
source = huggingface/huggingface_hub#1202

[hub-offline]
keys =
    outgoing traffic has been disabled
    offline mode is enabled
pattern =
    (outgoing traffic has been disabled)
    Cannot reach (\S+): offline mode is enabled
cause = The hub's client is offline (HF_HUB_OFFLINE or local_files_only), and the requested file is not in its cache
    ({found}).
remedy = Download the model first (sparkforge model get), and check that HF_HOME is the directory that was used for
    that.
source = harry0703/MoneyPrinterTurbo#196

[hub-transfer]
keys =
    CAS service error
    Data processing error:
    Task runtime error:
    /xorbs/
    .xethub.hf.co
pattern =
    Data processing error: (?:File reconstruction error: )?(CAS [Ss]ervice [Ee]rror|CAS [Cc]lient [Ee]rror)
    Task runtime error: (Task cancelled)
    \b((?:40[138]|50\d)(?: \w+)?)\b[^\n]{0,160}(?:/xorbs/|\.xethub\.hf\.co)
    (?:/xorbs/|\.xethub\.hf\.co)[^\n]{0,400}?\b((?:40[138]|50\d) [A-Z]\w+|[Tt]imed? ?out|[Cc]onnection reset)
cause = The hub's Xet transfer failed ({found}): its server cannot be reached through this network or proxy, or refuses
    the addresses that it issued itself.
remedy = Run again, which keeps finished parts; if that does not help, set HF_HUB_DISABLE_XET=1 to download over plain
    HTTP.
source = huggingface/transformers#45797

[hub-timeout]
keys =
    httpx.ReadTimeout
    httpx.ConnectTimeout
    httpcore.ReadTimeout
    httpcore.ConnectTimeout
pattern = (?:httpx|httpcore)\.(?P<what>(?:Read|Connect)Timeout)(?:: (?P<why>[^\n]+))?
cause = The hub, or another server that Python contacted, did not answer in time ({what}[: {why}]).
remedy = Run it again, which keeps the finished downloads. On a slow line, set HF_HUB_DOWNLOAD_TIMEOUT=60 and
    HF_HUB_ETAG_TIMEOUT=60; behind a proxy, set HTTPS_PROXY. Download first (hf download MODEL).

[hub-size]
keys = Consistency check failed
pattern = Consistency check failed: file should be of size (?P<size>\d+) but has size (?P<got>\d+)
cause = A download ended with {got} bytes instead of {size}.
remedy = Download it again. If {size} is 0, a mirror did not send the length, and a newer huggingface_hub helps.
source = huggingface/huggingface_hub#1498

[hub-resume-refused]
keys = 416 Client Error
pattern = 416 Client Error: ([\w ]+) for url
cause = The hub cannot continue the partial file that an earlier download left ({found}).
remedy = Remove the files that end in .incomplete from the cache (~/.cache/huggingface/hub/models--*/blobs, or
    .cache/huggingface of the local directory), and download again.
source = huggingface/huggingface_hub#2197

[hub-too-many-requests]
keys =
    429 Client Error
    429 Too Many Requests' for url 'https://huggingface
    client error (429
    GET failed (429)
pattern =
    429 Client Error: ([\w ]+) for url: https://(?:huggingface|hf)\b
    '429 ([\w ]+)' for url 'https://huggingface
    client error \(429 ([\w ]+)\), domain: https://huggingface\.co
    (GET failed) \(429\)
cause = The hub temporarily refuses more requests from this address (429, {found}).
remedy = Log in (hf auth login, HF_TOKEN) for higher limits, wait some minutes, and download with fewer workers (hf
    download --max-workers 2).
source = huggingface/huggingface_hub#4520

[hub-token-missing]
keys = Token is required (
pattern = (Token is required) \(
cause = The program needs a token for the hub, but finds none in this account.
remedy = Run hf auth login as that account, or set a token (export HF_TOKEN=…; docker run -e HF_TOKEN).

[hub-token-invalid]
keys =
    Invalid user token
    Invalid username or password
    Invalid credentials in Authorization header
    but the token seems invalid
pattern =
    (Invalid user token)
    (Invalid username or password)
    (Invalid credentials in Authorization header)
    (the token seems invalid)
cause = The hub does not accept the token that was sent ({found}): it is expired, revoked or truncated, or lacks the
    necessary right.
remedy = Create a new token on the hub's tokens page and log in with it (hf auth login). Unset an old HF_TOKEN, because
    with a wrong token the hub refuses even a public model.
source = huggingface/huggingface_hub#2586

[hub-file-missing]
keys =
    does not appear to have a file named
    Revision Not Found for url
    Entry Not Found for url
pattern =
    (?P<model>\S+) does not appear to have a file named (?P<file>\S+?)\.?\s
    (?P<what>Revision|Entry) Not Found for url: (?P<file2>\S+?)\.?$
cause = The repository[ {model}] has no {file}: it has another format (GGUF, LoRA, diffusers), or the name or revision
    is wrong.
remedy = Check its files on the hub, and use the repository or subdirectory that has the file, the right revision, or
    the program for its format.

[model-code-not-allowed]
keys =
    contains custom code which must be executed
    requires you to execute the
pattern =
    The repository (?:for )?(\S+) contains custom code
    Loading (\S+) requires you to execute the \w+ file
cause = The model {found} includes its own Python code, which runs only if you allow it.
remedy = Read that code, and pass --trust-remote-code (trust_remote_code=True) if you trust its author. Pin the
    revision.
source = runpod-workers/worker-vllm#43

[accelerate-missing]
keys =
    requires the `accelerate`
    requires Accelerate
    packages that were not found in your environment
pattern =
    requires (?:the )?'?([Aa]ccelerate)'?
    packages that were not found in your environment: (?!flash_attn)([\w., -]+?)\.\s
values =
    other of found: .*\bdecord(?!2) => decord2 instead of decord, which has no wheel for aarch64
cause = The program needs {found}, which is not installed in its environment.
remedy = Install it there (python -m pip install {found}[; {other}]).

[hub-range]
keys =
    416 Client Error
    416 Requested Range
pattern = (416 (?:Client Error: )?Requested Range Not Satisfiable)
cause = Part of an earlier download no longer fits the file ({found}).
remedy = Delete the .incomplete files of that model in the cache, and download again.

[hub-kernel-missing]
keys =
    does not have build
    Cannot find a build variant
pattern =
    ([^\s`]+)`? (?:at revision \S+ )?does not have build: (?P<build>[\w.+-]+)
    Cannot find a build variant for this system in (\S+)
cause = The hub's kernel {found} has no build for this PyTorch, CUDA and CPU[ ({build})].
remedy = Choose another attention (sdpa, or the flash-attention that the role torch_extensions builds), or install the
    PyTorch for which the kernel has a variant.
source = unslothai/unsloth#4867

[hub-name-unknown]
keys =
    is not a valid model identifier
    Repo id must be in the form
pattern =
    (?P<model1>\S+) is not a local folder and is not a valid model identifier
    Repo id must be in the form [^:\n]*: '(?P<model2>[^'\n]+)'
cause = {model} is neither a directory that this program can see nor the name of a model on the hub.
remedy = Correct the path (it must exist where the program runs), or write the name with its owner (owner/name). For a
    private model, give the program a token (HF_TOKEN).
source = vllm-project/vllm-ascend#135

[weights-incomplete]
keys =
    header: MetadataIncompleteBuffer
    header: incomplete metadata
    PytorchStreamReader failed
    Unable to load weights from
pattern =
    deserializing header: (MetadataIncompleteBuffer|incomplete metadata[\w ,]*)
    (PytorchStreamReader failed [^\n]{1,80})
    (Unable to load weights from (?:pytorch|safetensors|the) checkpoint[^\n]{0,120})
cause = A file of the model's weights is incomplete ({found}): a download or a copy was interrupted.
remedy = Delete that file, download it again, and compare its size or checksum with the hub's.
source = lyogavin/airllm#137

[weights-not-weights]
keys =
    UnpicklingError: invalid load key
    invalid magic characters
    invalid magic number
pattern =
    UnpicklingError: (?P<why1>invalid load key, '[v<]')
    gguf_init_from_file\w*: (?P<why2>invalid magic (?:characters:? '(?:vers|<)|number:? (?:0x)?73726576)'?)
values =
    kind of why: [^<]*< => an error page or another page from a server
    kind of why: . => a Git LFS pointer, which begins with the word version
cause = A file of the model's weights contains something else ({why}). Its first bytes show {kind}.
remedy = Download the file itself (hf download, or git lfs pull in the clone), and compare its size and checksum with
    the hub's.
source = codefuse-ai/MFTCoder#20

[weights-header]
keys =
    Error while deserializing header
    invalid magic characters
    invalid magic number
    Error: invalid file magic
pattern =
    Error while deserializing header: (?P<why1>\w[\w :]*\w)
    gguf_init_from_file\w*: (?P<why2>invalid magic (?:characters|number)[^\n]{0,24})
    Error: (?P<why3>invalid file magic)
uncertain = yes
cause = A file of the model's weights has a wrong beginning ({why}): it is empty, a Git LFS pointer, an error page,
    damaged or in another format, or it is intact but was read incorrectly.
remedy = Compare its size and checksum with the hub's. If they differ, download the file again (hf download, git lfs
    pull). If they match, read it from a local disk and with another loader (--load-format safetensors, without
    fastsafetensors or streaming), and look for disk errors in journalctl -k.
source = eugr/spark-vllm-docker#275

[weights-not-mappable]
keys = No such device (os error 19)
pattern = (No such device \(os error 19\))
cause = The weights cannot be mapped into memory ({found}): they are on a network or merged file system that does not
    support it (mergerfs, CIFS, Ceph, some FUSE), or the path is a directory instead of the file.
remedy = Copy the model to a local disk (the NVMe) and load it from there, or mount that file system with its options
    for mmap (for mergerfs, cache.files=partial). Check that the path is the .safetensors file.
source = safetensors/safetensors#545

[shared-tensors-not-saved]
keys = Some tensors share memory, this will lead
pattern = Some tensors share memory[^\n]*?: \[\{(?P<names>[^}\n]{1,120})
cause = safetensors does not save tensors that share memory: {names}.
remedy = Save with the model's own save_pretrained, which knows the tied tensors (with a newer Transformers, if that
    failed), or with safetensors.torch.save_model instead of save_file. Otherwise save a copy (.clone()) of one of them.
source = safetensors/safetensors#202

[probabilities-not-numbers]
keys = probability tensor contains either
pattern = (probability tensor contains either 'inf', 'nan' or element < 0)
cause = The model's probabilities for the next token are not numbers ({found}): float16 overflowed, the weights or an
    adapter are damaged (by a training whose loss was 0 or nan), or padding was computed.
remedy = Load it with dtype=torch.bfloat16 instead of float16 (or with float32, to test this), and try the model without
    the adapter and without quantization.
source = JIA-Lab-research/LongLoRA#165

[attention-not-in-model]
keys = does not support an attention implementation through
pattern = (?P<model>\w+) does not support an attention implementation through torch[\w.]*\.(?P<kind>\w+) yet
cause = The class {model} does not support Transformers' {kind}, which is the default.
remedy = Load it with attn_implementation='eager'. For code from elsewhere (custom nodes, trust_remote_code), use a
    release that supports the installed Transformers, or the Transformers that it names.
source = chflame163/ComfyUI_OmniGen_Wrapper#11

[git-lfs-missing]
keys =
    git-lfs
    'lfs' is not a git command
pattern =
    (git-lfs)[^\n]*: (?:command )?not found
    git: '(lfs)' is not a git command
cause = The repository keeps large files in Git LFS, but {found} is not installed.
remedy = Install git-lfs, run git lfs install, and git lfs pull in the clone. For a model, use hf download instead.

[git-lfs-limit]
keys =
    exceeded its LFS budget
    over its data quota
pattern = repository (?:is |exceeded )(over its data quota|its LFS budget)
cause = The server currently refuses downloads of the repository's large files ({found}).
remedy = Clone without them (GIT_LFS_SKIP_SMUDGE=1) and get the files elsewhere, or wait until the owner has a larger
    budget.

[model-directory-incomplete]
keys = Error no file named
pattern = Error no file named (?P<files>[^\n]+?),? found in directory (?P<directory>\S+?)\.?$
cause = The directory {directory} has no weights in a format that the program reads ({files}).
remedy = Complete the download (hf download NAME --local-dir {directory}). A GGUF file, an adapter (LoRA) or a
    quantization needs a program that supports it.

[model-without-weights]
keys = Cannot find any model weights
pattern = Cannot find any model weights with '(?P<directory>[^'\n]+)'
cause = {directory} has no weights file that the server reads: the download did not finish, the repository's new
    revision is incomplete, or the weights have another format.
remedy = List it (ls -lL) and download it again (hf download NAME, with --revision for an older one that was complete).
    Pass the path of a complete directory to the server; for GGUF or another format, set --load-format.
source = MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#20

[hub-command-renamed]
keys = huggingface-cli is deprecated
pattern = (huggingface-cli) is deprecated and no longer works
cause = The command {found} was replaced by hf.
remedy = Use hf download, hf auth login and so on. A script that needs the old command needs huggingface_hub<1.

[hub-cache-not-writable]
keys =
    trying to write in your cache folder
    .cache/huggingface
    Data processing error: I/O error
pattern =
    Data processing error: I/O error: (?P<xet>Permission denied)
    trying to write in your cache folder \((?P<path1>[^)\n]+)\)
    Permission denied: '(?P<path2>[^'\n]*\.cache/huggingface[^'\n]*)'
cause = The program may not write to the hub's cache[ {path}], which another account, or a container's root, created.
remedy = Change its owner to the program's account (sudo chown -R ~/.cache/huggingface), or set HF_HOME (and
    HF_XET_CACHE, if that is set) to a directory that the program may write. Run a container with the volume's user
    (--user).

[dataset-script]
keys =
    Dataset scripts are no longer supported
    `trust_remote_code` is not supported anymore
pattern =
    Dataset scripts are no longer supported, but found (?P<script>\S+\.py)
    ('trust_remote_code' is not supported anymore)
cause = The installed datasets (4 or newer) does not run a dataset's code, but a script creates this dataset[
    ({script})].
remedy = Install datasets<4 (3.6.0) and pass trust_remote_code=True if you trust its author, or use the dataset as
    Parquet (another repository of it, or revision="refs/convert/parquet").
source = EleutherAI/lm-evaluation-harness#3171

[dataset-feature-unknown]
keys = Available feature types:
pattern = Feature type '(\w+)' not found\. Available feature types
cause = A newer datasets saved the dataset; the installed one has no feature type {found}.
remedy = Upgrade datasets (4 or newer knows List), and delete the dataset's cache if it was written before the upgrade.

[unsloth-config-missing]
keys = Unsloth: No config file found
pattern = (Unsloth: No config file found)
cause = Unsloth found no config.json for the model ({found}): the name or directory is wrong, or a package for the
    download is not installed, such as hf_transfer with HF_HUB_ENABLE_HF_TRANSFER=1 (as in NVIDIA's playbook for the
    Spark).
remedy = Install hf_transfer (or unset HF_HUB_ENABLE_HF_TRANSFER), check that hf download MODEL works in this
    environment (token for a gated model, network), and write the name with its owner.
source = NVIDIA/dgx-spark-playbooks#15

[hub-files-not-loaded]
keys =
    make sure you don't have a local directory with the same name
    Can't load tokenizer for
    Can't load feature extractor for
    Can't load image processor for
    Can't load the configuration of
pattern = Can't load (?:the )?(?P<part>\w[\w ]*?) (?:for|of) '(?P<model>[^'\n]+)'
cause = The {part} of {model} could not be loaded: the directory does not exist where the program runs, it lacks files
    for that part, or a local directory has the same name as the model on the hub.
remedy = Check that directory (tokenizer.json, config.json), complete the download (hf download {model}), start in
    another directory if there is one with that name, and set a token (HF_TOKEN) for a gated model.

[direct-storage-failed]
keys =
    gds_device_buffer
    cuFileBufRegister
    cuFileDriverOpen
    cuFileHandleRegister
pattern = (cuFile\w+) (?:returned an error|failed)[^\n=]*(?:= ?(?P<number>\d+))?
cause = The weights loader (fastsafetensors) uses GPUDirect Storage, but {found} failed[ ({number})]. A GB10 and many
    file systems do not support it.
remedy = Start without it: --load-format safetensors (auto), or fastsafetensors 0.3.3 or newer, which falls back
    automatically (SGLANG_FASTSAFETENSORS_NOGDS=1 for SGLang).
source = foundation-model-stack/fastsafetensors#28
"""
