# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.


"""Messages that explain themselves

Forms of messages that many programs share; these rules are tried only if no other rule knows the failure.
"""

RULES = r"""
[environment-variable-missing]
keys =
    not set
    environment variable
    nvironment variable not found
    KeyError: '
    in __getitem__
pattern =
    (?<![\w.{$-])(?P<variable1>[A-Z][A-Z0-9]*_[A-Z0-9_]+)'?(?: environment variable)? (?:is |was |has )?(?:not (?:been
    + )?set|unset)\b
    [Ee]nvironment variable:? '?(?P<variable2>[A-Z][A-Z0-9_]{3,})'? (?:is |was )?(?:not (?:set|found|defined)|missing
    +|required|must be set|needs to be set|expected)
    (?:<frozen os>|/os\.py)', line \d+, in __getitem__\n(?: [^\n]*\n){0,3}KeyError: '(?P<variable3>\w+)'
    ^KeyError: '(?P<variable4>[A-Z][A-Z0-9]*_[A-Z0-9_]+)'$
    [Ss]et(?:ting)? (?:the )?environment variable '?(?P<variable5>[A-Z][A-Z0-9_]{3,})'?(?: to |=)'?(?P<value>[^\s',.]+)
unless = Defaulting to a blank|[Uu]sing default|\bwill (?:use|fall)|default to
values =
    advice of variable: (HF|HUGGING_FACE\w*)_\w*TOKEN => Make a token on the hub's page of settings and give it to the
    + program
    advice of variable: (NGC|NVIDIA)_API_KEY => Make a key on the NGC page of the account and give it to the program
    advice of variable: (CUDA_HOME|CUDA_PATH) => Name the CUDA toolkit's directory (/usr/local/cuda)
    advice of variable: . => Give it its value
cause = The program needs the environment variable {variable}[ as {value}], which is not set so where it runs.
remedy = {advice}: export {variable}=VALUE in the same shell before the start (docker run -e {variable}=VALUE, the .env
    file of a compose project, Environment= of a unit; sudo drops variables unless sudo -E is used).
source = https://github.com/NVIDIA/dgx-spark-playbooks

[import-not-available]
keys = is not available
pattern = ImportError: (?P<part>[^\n]{1,80}? '(?P<package>\w+)') is not available\.?$
uncertain = yes
cause = The program could not import {package}: it is not installed, or its import fails.
remedy = Import it with the Python that runs the program (python -c 'import {package}'), which says why it fails.

[package-required]
keys = requires
pattern =
    ^\W*\w*(?:Error|Exception): (?P<part>[\w .-]{3,80}?) requires (?:the )?'?(?P<package>[a-z][a-z0-9]*_\w+|[\w-]+(?=
    + (?:package|library|module|to be installed)))'?(?: package| library| module| to be installed)?\.?$
cause = {part} needs the package {package}, which is not installed.
remedy = Install it with the Python that runs the program (python -m pip install {package}; a name of its own index or
    repository may differ), or choose another setting than {part}.

[version-required]
keys =
    requires
    require
    needs
    ou need
pattern =
    (?:Error:|\.) '?(?P<program>[\w./-]+(?: \d[\w.]*)?)'? (?:requires|needs) '?(?P<package>CUDA|[Pp]y[Tt]orch|[Tt]orch
    +|[Pp]ython
    +|[\w-]+)'?(?: version)? ?(?P<bound>>=|==|~=|>|<=|<) ?(?P<version>\d[\w.]*\w)(?:[^\n]{0,40}?(?:have|found|got|but)
    + [^\n\d]{0,30}(?P<have>\d[\w.+]*\w))?
    Error: [^\n]{0,60}?[Yy]ou need '?(?P<package2>[A-Za-z][\w-]*) ?(?P<bound2>>=|==|~=|>|<=|<) ?(?P<version2>\d[\w.]*\w)
values =
    advice of package: CUDA => Install a CUDA toolkit of that version (cuda-toolkit-13-0; role cuda_libraries) and let
    + CUDA_HOME and PATH name it
    advice of package: [Pp]y[Tt]orch|[Tt]orch => Install a PyTorch of that version for CUDA 13 with its torchvision
    + and torchaudio (pip install --index-url https://download.pytorch.org/whl/cu130), or another release of what
    + asks for it
    advice of package: [Pp]ython => Make the environment with a Python of that version (uv venv --python 3.12)
    advice of package: . => Install that version (pip install, with the name, bound and version in one pair of quotes)
cause = The program[ {program}] takes {package} only {bound} {version}[, and {have} is installed].
remedy = {advice}.

[parts-not-divisible]
keys =
    must be divisible by
    must be a multiple of
    is not divisible by
    should be divisible by
pattern =
    Error: (?P<part1>[^\n]{2,120}?) (?:must|should) be (?:divisible by|a multiple of) (?P<other1>[^\n]{1,120}?)\.?$
    Error: (?P<part2>[^\n]{2,120}?) is not divisible by (?P<other2>[^\n]{1,120}?)\.?$
cause = Two sizes do not go together: {part} must be a multiple of {other}.
remedy = Change one of them: of a server lower --tensor-parallel-size to a number that divides it (1 on one Spark); of a
    training the batch, sequence length or number of processes; of an image width and height to multiples of 64.

[called-with-other-arguments]
keys = required positional argument
pattern =
    TypeError: (?P<function>[\w.]+)\(\) missing \d+ required positional arguments?: (?P<argument>'\w+'(?:[\w ,]+'\w+')*)
cause = {function} was called without {argument}: its package is a different version from the one that the caller was
    written for.
remedy = Upgrade the package whose line is the last but one of the traceback, or install the version of the other one
    which that release pins (its requirements.txt or pyproject.toml).

[option-asked-for]
keys =
    set `--
    use `--
    pass `--
    specify `--
    without `--
    enable `--
    requires `--
    increase `--
    set --
    use --
    pass --
    specify --
    without --
    enable --
    requires --
    increase --
    validation error
    Value error,
pattern =
    (?:^\W*(?:[\w.]+\.)?\w*(?:Error|Exception|error):|(?:validation errors? for \w+\n(?:\S+\n)?\s*)?Value error,)
    + (?P<why>[^\n]{4,300}?\b(?:[Ss]et|[Uu]se|[Pp]ass|[Ss]pecify|without|[Ee]nable|requires|[Ii]ncrease)
    + '?(?P<option>--[a-z][\w-]+)'?[^\n]{0,160}?)\.?(?: \[type=[^\n]*)?$
cause = The program names an option that it needs: {why}.
remedy = Start it with {option} (its --help says which values it takes), or change what its message says instead.

[program-advice]
keys =
    Please
    please
    Consider
    consider
    Make sure
    make sure
    You must
    You need to
    you must
    you need to
    Did you
    validation error
    Value error,
pattern =
    (?:^\W*(?:[\w.]+\.)?\w*(?:Error|Exception):|(?:validation errors? for \w+\n(?:\S+\n)?\s*)?Value error,)
    + (?P<why>[^\n]{8,400}?)[.!;,:]\)? +(?P<advice>(?:(?:[Pp]lease|[Cc]onsider|Try|[Mm]ake sure|[Yy]ou (?:must|need to
    +|can)|[Dd]id you|To fix|In order to)\b)[^\n]{8,300}?)[.!]?(?: \[type=[^\n]*)?$
unless = report a bug|open an issue|file an issue|for more (?:information|details)|enforce fail
cause = The program ended, and its message says why: {why}.
remedy = Do what the message says: {advice}.

[assertion-without-message]
keys =
    ", line
    AssertionError: assert
pattern =
    File '(?P<file1>[^'\n]+)', line (?P<line1>\d+), in (?P<function1>\S+)\n +assert (?P<check1>[^\n]+)\n(?:[
    + ~^]+\n)?AssertionError\s*$
    AssertionError: assert (?P<check2>[^\n]{3,160})
values =
    advice of check: .*(?:loaded_weight|param_data|weight\w*\.shape) => The file of weights has another layout than this
    + release expects: take the release that the model's page names, or another quantization of the model
    advice of check: .*(?:world_size|tp_size|tensor_parallel|num_gpus|% ) => Choose sizes and numbers of processes that
    + divide each other (--tensor-parallel-size 1 on one Spark)
    advice of check: .*(?:capability|compute_cap|sm_?\d|is_sm|device_arch) => The kernel is not for this GPU: choose
    + another
    + backend for it, or a release that knows 12.1
    advice of check: .*(?:quant|scale|dtype|bits) => Leave out options of quantization and data type (--quantization,
    + --dtype, --kv-cache-dtype), or take the model in another quantization
    advice of check: .*(?:head_dim|head_size|num_heads|block_size|page_size) => Choose another attention backend, and
    + leave
    + out sizes of blocks and pages
    advice of check: .*(?:os\.path|exists|isfile|isdir) => See that this file or directory is there for the program
    + (in a
    + container it must be mounted)
    advice of check: .*is not None => Something that this line needs was not given or not found: read what the program
    + wrote
    + before it, and compare the options with its --help
    advice of check: . => Leave out the less common options one after the other, or take another release of the program
uncertain = yes
cause = A check of the program itself failed[ in {file}, line {line}]: {check} does not hold.
remedy = {advice}; look the file and the condition up in the project's issues.

[feature-not-supported]
keys =
    does not support
    doesn't support
    do not support
pattern =
    ^\W*(?:[\w.]+\.)?(?:ValueError|NotImplementedError|RuntimeError|AssertionError|TypeError|ImportError):
    + (?P<part>[^\n]{2,100}?) (?:does not|doesn't|do not)(?: yet| currently)? support (?P<feature>[^\n]{2,200}?)
    +(?: yet)?\.?$
unless = (?i:device|driver|gpu|system|platform|hardware) does|Error in function
cause = {part} does not support {feature} in this release of the program.
remedy = Leave out the option that asks for the one or the other[ ({log_backend_option} in this log)], or take a newer
    release, whose notes say so.

[pair-not-supported]
keys =
    not supported
    not yet supported
    not currently supported
    not compatible
    not implemented
    incompatible with
    unsupported
    not available
pattern =
    ^\W*(?:[\w.]+\.)?(?:ValueError|NotImplementedError|RuntimeError|AssertionError|TypeError|ImportError): (?P<what>
    +[^\n]{3,140}?) (?:is|are) (?:currently )?(?:not (?:yet |currently )?(?:supported|compatible|implemented|available)
    +|incompatible|unsupported)(?: yet)?(?: (?P<how>with|when|for|on|by|in|without) (?P<other>[^\n]{2,140}?))?\.?$
values =
    advice of other: .*\b(?:device|GPU|platform|hardware|architecture) => Choose another kernel, backend or
    + quantization for it
    advice of how: with => Leave out one of the two
    advice of how: for|on => Choose another one there
    advice of how: . => Do without it
    advice of how: (?:) => Do without it
unless = is not available\.?$
cause = This release of the program does not support {what}[ {how} {other}].
remedy = {advice} (take the option or setting out of the command or configuration), or take a newer release of the
    program, whose notes say so.

[setting-refused]
keys = validation error
pattern =
    validation errors? for (?P<model>\w+)\n(?:(?P<field>\w[\w.\[\]-]*)\n)?\s*(?P<why>Extra inputs are not permitted|
    +Field required|Input should be [^\n\[]*[^\n\[ ])
values =
    advice of why: Extra => Remove it, or correct its name and level: this release has no such setting there (of
    + TensorRT-LLM compare the YAML file with the reference of the installed release)
    advice of why: Field => Add it: this release requires it
    advice of why: . => Write a value of that kind (in YAML without quotes, where it is a number or true)
cause = {model} refuses a setting[, {field}]: {why}.
remedy = {advice}.

[package-asked-for]
keys =
    pip install
    lease install
pattern =
    Error: [^\n]*?['\"(](?P<command1>(?:uv )?pip3? install [^'\"()\n]*[^'\"()\n .])
    Error: [^\n]*?[Pp]lease install '?(?P<command2>[\w.-]+(?:\[[\w,-]+\])?)'?(?= (?:for|to|before|first|it|with|via
    +|from)\b|[.,;]? *$)
cause = The program needs a package that is not installed, or a newer one than there is: it asks for {command}.
remedy = Install it with the Python that runs the program (python -m pip install), with --no-deps where it would replace
    torch; if it has no wheel for aarch64, look for an option that goes without it.

[object-attribute-missing]
keys = ' object has no attribute '
pattern =
    AttributeError: '(?P<class>(?!NoneType|str'|list'|dict'|int'|float'|tuple'|bool'|bytes'|function'|_OpNamespace)\w+)'
    + object has no attribute '(?P<attribute>\w+)'
uncertain = yes
cause = {class} has no {attribute} in the installed versions: the package whose line is the last of the traceback was
    written for another release of the one that {class} is of.
remedy = Upgrade both in one command, or install the versions that the program's release pins; the paths of the
    traceback's last two places name the packages.

[pod-image-pull]
keys =
    Failed to pull image
    ErrImagePull
    ImagePullBackOff
    Back-off pulling image
pattern =
    Failed to pull image '(?P<image1>[^'\n]+)': (?P<why>[^\n]{1,200})
    Back-off pulling image '(?P<image2>[^'\n]+)'
    (ErrImagePull|ImagePullBackOff)
values =
    advice of why: .*(?:unauthorized|denied|forbidden|authentication) => Give the pod the login (kubectl create secret
    + docker-registry, named under imagePullSecrets), or correct the name, as a registry refuses an unknown one alike
    advice of why: .*(?:no match for platform|no matching manifest) => Take a tag that has linux/arm64
    advice of why: .*(?:not found|manifest unknown) => Correct the name and tag; an image that is only local needs
    + imagePullPolicy: IfNotPresent, and must be in containerd (k3s ctr images import)
    advice of why: .*(?:toomanyrequests|429) => Log in to the registry, or wait, since its limit was reached
    advice of why: .*(?:x509|certificate) => Give containerd the registry's certificate (/etc/containerd/certs.d)
    advice of why: .*(?:no such host|i/o timeout|dial tcp|connection refused|deadline) => See from the node that the
    + registry's name and port are reached (curl -I with https:// and its name), through its proxy if there is one
    advice of why: .*(?:no space|disk pressure) => Free the node's disk (crictl rmi --prune)
    advice of why: . => Look at the complete reason (kubectl describe pod POD)
    advice of why: (?:) => Look at the reason (kubectl describe pod POD): a wrong name or tag, none for linux/arm64, a
    + missing login (imagePullSecrets) or an image that is only local (imagePullPolicy: IfNotPresent)
cause = Kubernetes could not pull the image[ {image}][: {why}].
remedy = {advice}.

[compiled-graph-failed]
keys =
    InductorError:
    BackendCompilerFailed:
    LoweringException:
    exc.TorchRuntimeError:
pattern = (?:InductorError|BackendCompilerFailed|LoweringException|TorchRuntimeError): (?P<why>[^\n]+)
uncertain = yes
cause = torch.compile failed: {why}.
remedy = Start without it to go on (--enforce-eager of vLLM, TORCHDYNAMO_DISABLE=1 elsewhere), delete the caches
    (~/.cache/vllm/torch_compile_cache, /tmp/torchinductor_*), and take a newer PyTorch with its Triton; the lines below
    it say which kernel it was.

[crate-build-script]
keys = failed to run custom build command for
pattern =
    failed to run custom build command for '(?P<crate>(?:ring(?= v)|openssl-sys|alsa-sys|libudev|hidapi|aws-lc|candle
    +|cudarc
    +|bindgen_cuda|prost|protobuf|etcd|tonic|lance|rdkafka|zmq|libgit2|libz|libssh2|fontconfig|freetype|dbus|xcb|wayland
    +|gtk|glib|gdk|cairo|pango)[\w-]*) v(?P<version>[^\s'`]+)
values =
    advice of crate: ring$ => Take a newer gcc (9 or newer), or for that of manylinux2014 set
    + CFLAGS_aarch64_unknown_linux_gnu=-D__ARM_ARCH=8
    advice of crate: openssl-sys => Install libssl-dev and pkg-config
    advice of crate: alsa-sys => Install libasound2-dev and pkg-config
    advice of crate: (?:libudev|hidapi) => Install libudev-dev and pkg-config
    advice of crate: aws-lc => Install cmake, clang and libclang-dev
    advice of crate: (?:candle|cudarc|bindgen_cuda) => Put nvcc of CUDA 13 on PATH, and set CUDA_COMPUTE_CAP=121
    advice of crate: (?:prost|protobuf|etcd|tonic|lance) => Install protobuf-compiler
    advice of crate: (?:rdkafka|zmq|libgit2|libz|libssh2|fontconfig|freetype|dbus|xcb|wayland|gtk|glib|gdk|cairo|pango)
    + => Install pkg-config and the development package of that library
uncertain = yes
cause = The build script of the crate {crate} {version} failed; the lines below it, after --- stderr, say why.
remedy = {advice}, then run cargo again.
source = tensorlakeai/tensorlake#551

[download-refused]
keys = HTTPError: HTTP Error
pattern = HTTPError: HTTP Error (?P<status>[45]\d\d): (?P<why>[\w ]+)
values =
    advice of status: 40[13] => Log in or give a token: the server wants one, or refuses this account, address or
    + program
    advice of status: 404 => Look at the traceback's lines for the address: the file has another name or release, or
    + none for aarch64 and this Python; a build that only tries for a finished wheel goes on from source after it
    advice of status: 429 => Wait and run it again: the server limits the number of requests
    advice of status: . => Run it again later: the server could not answer
cause = A download of the program failed: the server answers {status}, {why}.
remedy = {advice}.
"""
