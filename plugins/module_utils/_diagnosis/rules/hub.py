# __init__.py in this directory explains the fields.

"""The Hugging Face hub

Models, datasets and kernels that a program downloads from the hub.
"""

RULES = r"""
[hub-token-rights]
keys = 403 Forbidden:
pattern =
    403 Forbidden: (?P<why>Please enable access to public gated repositories[^\n.]*|Authorization error|You must use a
    + write
    + token[^\n.]*|[^\n.]*\b(?:gated|token|permission)\b[^\n.]*)
values =
    advice of why: Please enable => In the token's settings on the hub tick the right to read public gated repositories,
    + or make a token of the kind read
    advice of why: . => Make a token with the rights that this takes (read for a download, write for an upload), of an
    + account that was given access on the model's page, and log in with it (hf auth login); unset an old HF_TOKEN
cause = The hub knows the token that was sent, and it lacks a right: {why}.
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
cause = The model is gated ({found}), and no token of an account with access was sent.
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
cause = The hub has no repository of that name that this account may see ({found}): the name is wrong, or it is private.
remedy = Compare the name with its page on the hub; for a private one give the program a token of an account that may
    read it (HF_TOKEN).
source = huggingface/huggingface_hub#1202

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
source = harry0703/MoneyPrinterTurbo#196

[hub-transfer]
keys =
    CAS service error
    Data processing error:
    /xorbs/
    .xethub.hf.co
pattern =
    Data processing error: (?:File reconstruction error: )?(CAS [Ss]ervice [Ee]rror|CAS [Cc]lient [Ee]rror)
    \b((?:40[138]|50\d)(?: \w+)?)\b[^\n]{0,160}(?:/xorbs/|\.xethub\.hf\.co)
    (?:/xorbs/|\.xethub\.hf\.co)[^\n]{0,400}?\b((?:40[138]|50\d) [A-Z]\w+|[Tt]imed? ?out|[Cc]onnection reset)
cause = The hub's Xet transfer gave up ({found}): its server is not reached through this network or proxy, or refuses
    the addresses that it gave out itself.
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
cause = The hub, or another server that Python asks, did not answer in time ({what}[: {why}]).
remedy = Run it again, which keeps what was downloaded; with a slow line set HF_HUB_DOWNLOAD_TIMEOUT=60 and
    HF_HUB_ETAG_TIMEOUT=60, with a proxy HTTPS_PROXY, and download first (hf download MODEL).

[hub-size]
keys = Consistency check failed
pattern = Consistency check failed: file should be of size (?P<size>\d+) but has size (?P<got>\d+)
cause = A download ended with {got} bytes instead of {size}.
remedy = Download again; where {size} is 0, a mirror told no length, and a newer huggingface_hub helps.
source = huggingface/huggingface_hub#1498

[hub-resume-refused]
keys = 416 Client Error
pattern = 416 Client Error: ([\w ]+) for url
cause = The hub cannot go on with a part of a file that an earlier download left ({found}).
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
cause = The hub refuses more requests of this address for now (429, {found}).
remedy = Log in (hf auth login, HF_TOKEN), whose limits are higher, wait some minutes, and download with fewer workers
    (hf download --max-workers 2).
source = huggingface/huggingface_hub#4520

[hub-token-missing]
keys = Token is required (
pattern = (Token is required) \(
cause = The program needs a token of the hub, and finds none on this account.
remedy = Run hf auth login as that account, or give it one (export HF_TOKEN=…; docker run -e HF_TOKEN).

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
cause = The hub does not know the token that was sent ({found}): it is expired, revoked, cut off or without the right
    that is needed.
remedy = Make a new one on the hub's page of tokens and log in with it (hf auth login), and unset an old HF_TOKEN: even
    a public model is refused with a wrong token.
source = huggingface/huggingface_hub#2586

[hub-file-missing]
keys =
    does not appear to have a file named
    Revision Not Found for url
    Entry Not Found for url
pattern =
    (?P<model>\S+) does not appear to have a file named (?P<file>\S+?)\.?\s
    (?P<what>Revision|Entry) Not Found for url: (?P<file2>\S+?)\.?$
cause = The repository[ {model}] has no {file}: it is of another format (GGUF, LoRA, diffusers), or the name or revision
    is wrong.
remedy = Look at its files on the hub: take the repository or subdirectory that has it, the right revision, or the
    program for its format.

[model-code-not-allowed]
keys =
    contains custom code which must be executed
    requires you to execute the
pattern =
    The repository (?:for )?(\S+) contains custom code
    Loading (\S+) requires you to execute the \w+ file
cause = The model {found} brings Python code of its own, which runs only where that is allowed.
remedy = Read that code, and pass --trust-remote-code (trust_remote_code=True) if you trust its author; pin the
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
    other of found: .*\bdecord(?!2) => in the place of decord, which has no wheel for aarch64, decord2
cause = The program needs {found}, which is not installed in its environment.
remedy = Install it there (python -m pip install {found}[; {other}]).

[hub-range]
keys =
    416 Client Error
    416 Requested Range
pattern = (416 (?:Client Error: )?Requested Range Not Satisfiable)
cause = A part of an earlier download does not fit the file any more ({found}).
remedy = Delete the .incomplete files of that model in the cache, and download again.

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
source = unslothai/unsloth#4867

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
source = vllm-project/vllm-ascend#135

[weights-incomplete]
keys =
    header: MetadataIncompleteBuffer
    header: incomplete metadata
    PytorchStreamReader failed
pattern =
    deserializing header: (MetadataIncompleteBuffer|incomplete metadata[\w ,]*)
    (PytorchStreamReader failed [^\n]{1,80})
cause = A file of the model's weights is not complete ({found}): a download or a copy broke off.
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
    kind of why: [^<]*< => an error page or another page of a server
    kind of why: . => a pointer of Git LFS, whose first word is version
cause = A file of the model's weights is no such file ({why}): by its first bytes it is {kind}.
remedy = Get the file itself (hf download, or git lfs pull in the clone), and compare its size and checksum with the
    hub's.
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
cause = A file of the model's weights does not begin as one ({why}): it is empty, a pointer of Git LFS or an error page,
    damaged, of another format, or sound and not read correctly.
remedy = Compare its size and checksum with the hub's. If they differ, get the file again (hf download, git lfs pull);
    if they are right, read it from a local disk and with another loader (--load-format safetensors, without
    fastsafetensors or streaming), and look for errors of the disk in journalctl -k.
source = eugr/spark-vllm-docker#275

[weights-not-mappable]
keys = No such device (os error 19)
pattern = (No such device \(os error 19\))
cause = The weights cannot be mapped into memory ({found}): they lie on a network or merged file system that does not
    allow it (mergerfs, CIFS, Ceph, some FUSE), or a directory was named instead of the file.
remedy = Copy the model to a local disk (the NVMe) and load it from there, or mount that file system with the options
    for mmap (of mergerfs cache.files=partial); check that the path is the .safetensors file.
source = safetensors/safetensors#545

[shared-tensors-not-saved]
keys = Some tensors share memory, this will lead
pattern = Some tensors share memory[^\n]*?: \[\{(?P<names>[^}\n]{1,120})
cause = safetensors does not write tensors that are one and the same in memory: {names}.
remedy = Save with the model's own save_pretrained, which knows the tied ones (with a newer Transformers, if that is
    what failed), or with safetensors.torch.save_model instead of save_file; else save a copy (.clone()) of one.
source = safetensors/safetensors#202

[probabilities-not-numbers]
keys = probability tensor contains either
pattern = (probability tensor contains either 'inf', 'nan' or element < 0)
cause = The model computed no numbers to choose a token from ({found}): float16 overflowed, the weights or an adapter
    are damaged (a training whose loss was 0 or nan), or padding was computed.
remedy = Load it with dtype=torch.bfloat16 instead of float16 (or float32, to see whether that is it); try the model
    without the adapter, and without quantization.
source = JIA-Lab-research/LongLoRA#165

[attention-not-in-model]
keys = does not support an attention implementation through
pattern = (?P<model>\w+) does not support an attention implementation through torch[\w.]*\.(?P<kind>\w+) yet
cause = The class {model} is not written for Transformers' {kind}, which is chosen by default.
remedy = Load it with attn_implementation='eager'; of code from elsewhere (custom nodes, trust_remote_code), take a
    release that knows the installed Transformers, or the Transformers that it names.
source = chflame163/ComfyUI_OmniGen_Wrapper#11

[git-lfs-missing]
keys =
    git-lfs
    'lfs' is not a git command
pattern =
    (git-lfs)[^\n]*: (?:command )?not found
    git: '(lfs)' is not a git command
cause = The repository keeps large files in Git LFS, and {found} is not installed.
remedy = Install git-lfs, run git lfs install, and git lfs pull in the clone; of a model take hf download instead.

[git-lfs-limit]
keys =
    exceeded its LFS budget
    over its data quota
pattern = repository (?:is |exceeded )(over its data quota|its LFS budget)
cause = The server gives the repository's large files to nobody for now ({found}).
remedy = Clone without them (GIT_LFS_SKIP_SMUDGE=1) and get the files elsewhere, or wait until the owner has a larger
    budget.

[model-directory-incomplete]
keys = Error no file named
pattern = Error no file named (?P<files>[^\n]+?),? found in directory (?P<directory>\S+?)\.?$
cause = The directory {directory} has no weights in a form that the program reads ({files}).
remedy = Complete the download (hf download NAME --local-dir {directory}); a GGUF file, an adapter (LoRA) or a
    quantization needs a program that reads it.

[model-without-weights]
keys = Cannot find any model weights
pattern = Cannot find any model weights with '(?P<directory>[^'\n]+)'
cause = {directory} has no file of weights that the server reads: the download did not end, the repository's new
    revision is only in part there, or the weights have another form.
remedy = List it (ls -lL) and download it again (hf download NAME, with --revision for an older one that was complete);
    serve a complete directory by its path, and of a GGUF or other form name --load-format.
source = MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#20

[hub-command-renamed]
keys = huggingface-cli is deprecated
pattern = (huggingface-cli) is deprecated and no longer works
cause = The command {found} was replaced by hf.
remedy = Write hf download, hf auth login and so on; a script that needs the old one needs huggingface_hub<1.

[hub-cache-not-writable]
keys =
    trying to write in your cache folder
    .cache/huggingface
pattern =
    trying to write in your cache folder \((?P<path1>[^)\n]+)\)
    Permission denied: '(?P<path2>[^'\n]*\.cache/huggingface[^'\n]*)'
cause = The program may not write the hub's cache {path}: another account, or a container's root, made it.
remedy = Make it the program's own (sudo chown -R), or set HF_HOME to a directory that it may write; give a container
    the user of the volume (--user).

[dataset-script]
keys =
    Dataset scripts are no longer supported
    `trust_remote_code` is not supported anymore
pattern =
    Dataset scripts are no longer supported, but found (?P<script>\S+\.py)
    ('trust_remote_code' is not supported anymore)
cause = The installed datasets (4 or newer) runs no code of a dataset, and this one is made by a script[ ({script})].
remedy = Install datasets<4 (3.6.0) and pass trust_remote_code=True if you trust its author, or take the dataset as
    Parquet (another repository of it, or revision="refs/convert/parquet").
source = EleutherAI/lm-evaluation-harness#3171

[dataset-feature-unknown]
keys = Available feature types:
pattern = Feature type '(\w+)' not found\. Available feature types
cause = The dataset was saved by a newer datasets than the installed one, which has no feature type {found}.
remedy = Upgrade datasets (4 or newer knows List), and delete the dataset's cache if it was written before.

[unsloth-config-missing]
keys = Unsloth: No config file found
pattern = (Unsloth: No config file found)
cause = Unsloth got no config.json of the model ({found}): the name or directory is wrong, or a package that the
    download needs is not installed, such as hf_transfer where HF_HUB_ENABLE_HF_TRANSFER=1 is set (NVIDIA's playbook for
    the Spark).
remedy = Install hf_transfer (or unset HF_HUB_ENABLE_HF_TRANSFER), check that hf download MODEL works in this
    environment (token of a gated model, network), and write the name with its owner.
source = NVIDIA/dgx-spark-playbooks#15

[hub-files-not-loaded]
keys = make sure you don't have a local directory with the same name
pattern = Can't load (?:the )?(?P<part>\w[\w ]*?) (?:for|of) '(?P<model>[^'\n]+)'
cause = The {part} of {model} could not be loaded: there is no such directory where the program runs, it lacks files of
    that part, or a local directory has the name of the model on the hub.
remedy = Look at that directory (tokenizer.json, config.json), complete the download (hf download {model}), start from
    elsewhere where a directory of that name lies, and give a token (HF_TOKEN) for a gated model.

[direct-storage-failed]
keys =
    gds_device_buffer
    cuFileBufRegister
    cuFileDriverOpen
    cuFileHandleRegister
pattern = (cuFile\w+) (?:returned an error|failed)[^\n=]*(?:= ?(?P<number>\d+))?
cause = The loader of weights (fastsafetensors) uses GPUDirect Storage, and {found} failed[ ({number})]: a GB10 and many
    file systems do not have it.
remedy = Start without it: --load-format safetensors (auto), or fastsafetensors 0.3.3 or newer, which falls back by
    itself (SGLANG_FASTSAFETENSORS_NOGDS=1 for SGLang).
source = foundation-model-stack/fastsafetensors#28
"""
