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
    requires
pattern =
    (?:Error|Exception): [^\n]{3,80}? requires (?P<variable6>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){2,})(?: to be set)?\.?\s*$
    (?<![\w.{$-])(?P<variable1>[A-Z][A-Z0-9]*_[A-Z0-9_]+)'?(?: environment variable)? (?:is |was |has )?(?:not (?:been
    + )?set|unset)\b
    [Ee]nvironment variable:? '?(?P<variable2>[A-Z][A-Z0-9_]{3,})'? (?:is |was )?(?:not (?:set|found|defined)|missing
    +|required|must be set|needs to be set|expected)
    (?:<frozen os>|/os\.py)', line \d+, in __getitem__\n(?: [^\n]*\n){0,3}KeyError: '(?P<variable3>\w+)'
    ^KeyError: '(?P<variable4>[A-Z][A-Z0-9]*_[A-Z0-9_]+)'$
    [Ss]et(?:ting)? (?:the )?environment variable '?(?P<variable5>[A-Z][A-Z0-9_]{3,})'?(?: to (?!an? |the
    + )|=)'?(?P<value>[^\s',.]+)
unless = Defaulting to a blank|[Uu]sing default|\bwill (?:use|fall)|default to
values =
    advice of variable: (HF|HUGGING_FACE\w*)_\w*TOKEN => Create a token on the hub's settings page and pass it to the
    + program
    advice of variable: (NGC|NVIDIA)_API_KEY => Create a key on the account's NGC page and pass it to the program
    advice of variable: (AMENT_PREFIX_PATH|COLCON_\w+|ROS_\w+) => Load ROS 2 first (source
    + /opt/ros/DISTRIBUTION/setup.bash), or, if the log names variables of the program's own copy, export those; the
    + last resort is
    advice of variable: (CUDA_HOME|CUDA_PATH) => Set it to the CUDA toolkit's directory (/usr/local/cuda)
    advice of variable: . => Set it
cause = The program needs the environment variable {variable}[ with the value {value}], but runs without that setting.
remedy = {advice}: export {variable}=VALUE in the same shell before you start it (docker run -e {variable}=VALUE, the
    .env file of a compose project, Environment= of a unit; sudo drops variables unless sudo -E is used).
source = https://github.com/NVIDIA/dgx-spark-playbooks

[import-not-available]
keys = is not available
pattern = ImportError: (?P<part>[^\n]{1,80}? '(?P<package>\w+)') is not available\.?$
uncertain = yes
cause = The program could not import {package}, which is not installed or fails to import.
remedy = Import it with the Python that runs the program (python -c 'import {package}'), which says why it fails.

[package-required]
keys = requires
pattern =
    ^\W*(?:Import|ModuleNotFound)Error: (?P<part1>[\w .-]{3,80}?) requires (?:the
    + )?'?(?P<package1>[a-z][a-z0-9]*_\w+)'?\.?$
    ^\W*\w*Error: (?P<part3>[\w .-]{3,80}?) requires '?(?P<package3>(?:deep|flash|sgl|vllm|torch|nvidia|lm|pplx)_\w+)'
    +?\.?$
    ^\W*\w*(?:Error|Exception): (?P<part2>[\w .-]{3,80}?) requires (?:the )?'?(?P<package2>[\w-]+(?=
    + (?:package|library|module|to be installed)))'?(?: package| library| module| to be installed)?\.?$
cause = {part} needs the package {package}, which is not installed.
remedy = Install it with the Python that runs the program (python -m pip install {package}; it may have another name in
    an index or repository), or choose a setting other than {part}.

[root-required]
keys =
    as root
    with sudo
    using sudo
    root privilege
    root access
    root permission
    root rights
    superuser
    uperuser (sudo
    dministrator privilege
pattern =
    (?P<why1>(?:must|needs? to|has to|should|can only) be (?:run|executed|started|invoked)(?: \w+)? (?:as|by|with|using)
    + (?:the )?(?:user )?'?(?:root|sudo|super ?user|administrator)\b)
    (?P<why2>(?:[Rr]oot|[Ss]uper ?user|[Aa]dministrator)(?: \(sudo\))? (?:privileges?|access|rights?|permissions?)
    + (?:is|are) (?:required|needed|necessary))
    (?P<why3>(?:requires?|needs?) (?:root|super ?user|administrator)(?: \(sudo\))?
    + (?:privileges?|access|rights?|permissions?))
    (?P<why4>[Pp]lease (?:re-?)?run (?:this \w+ |it |again )?(?:as (?:the )?'?root|with '?sudo)\b)
unless = not (?:be )?run|unless|if you|for real execution
cause = The program requires root ({why}).
remedy = Run it with sudo. If a program runs it over ssh or from a service, allow that account sudo without a password
    for this command (a file in /etc/sudoers.d), or do that step by hand.

[fabric-required]
keys =
    NVLink
    NVSwitch
    MNNVL
    multicast
    GPUDirect
pattern =
    Error: (?P<what>[^\n]{3,80}?) (?:requires?|needs?|is only supported (?:on|with|over)|only works (?:with|over))
    + (?:an? )?(?P<need>MNNVL|NVLink|NVSwitch|NVLS|multicast|GPUDirect(?: RDMA)?)\b
cause = The program needs {need} ({what}), which Sparks do not have: two Sparks are linked by RoCE, without GPUDirect.
remedy = Switch that feature off (its option or environment variable: the program's help or the model's page names it),
    so that NCCL's ordinary collectives are used, or use one Spark.
source = https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html

[version-required]
keys =
    requires
    require
    needs
    ou need
pattern =
    (?:Error:|\.|Problem encountered:) '?(?P<program>[\w./-]+(?: \d[\w.]*)?)'? (?:requires|needs)
    + '?(?P<package>CUDA|[Pp]y[Tt]orch|[Tt]orch|[Pp]ython|[\w-]+)'?(?: version)? ?(?P<bound>>=|==|~=|>|<=|<)
    + ?(?P<version>\d[\w.]*\w)(?:[^\n]{0,40}?(?:have|found|got|but) [^\n\d]{0,30}(?P<have>\d[\w.+]*\w))?
    Error: [^\n]{0,60}?[Yy]ou need '?(?P<package2>[A-Za-z][\w-]*) ?(?P<bound2>>=|==|~=|>|<=|<) ?(?P<version2>\d[\w.]*\w)
values =
    advice of package: CUDA => Install a CUDA toolkit of that version (cuda-toolkit-13-0; role cuda_libraries) and set
    + CUDA_HOME and PATH to it
    advice of package: [Pp]y[Tt]orch|[Tt]orch => Install a PyTorch of that version for CUDA 13 with its torchvision
    + and torchaudio (pip install --index-url https://download.pytorch.org/whl/cu130), or another release of the program
    + that requires it
    advice of package: [Pp]ython => Create the environment with that Python version (uv venv --python 3.12)
    advice of package: . => Install that version (pip install, with name, bound and version together in quotes)
cause = The program[ {program}] supports {package} only {bound} {version}[, but {have} is installed].
remedy = {advice}.

[parts-not-divisible]
keys =
    must be divisible by
    must be a multiple of
    is not divisible by
    should be divisible by
    be evenly divisible by
pattern =
    Error: (?P<part1>[^\n]{2,120}?) (?:must|should) be (?:(?:evenly )?divisible by|a multiple of)
    + (?P<other1>[^\n]{1,120}?)(?:\.|\. [^\n]+)?$
    Error: (?P<part2>[^\n]{2,120}?) is not divisible by (?P<other2>[^\n]{1,120}?)\.?$
values =
    advice of part: .*(?:page|block) => Leave out speculative decoding with a draft model, or use a cache of another
    + type (--kv-cache-dtype fp8 or auto) or another --block-size: all parts of the cache must have the same page size
    advice of other: .*generations => Raise per_device_train_batch_size so that its product with the processes and the
    + accumulation is a multiple of num_generations (the batch counts answers, not prompts), or lower num_generations
    advice of part: .*(?:batch|sequence|seq_len|world|process|rank) => Change the batch, the sequence length or the
    + number of processes so that it divides evenly
    advice of part: .*(?:width|height|image|resolution) => Make width and height multiples of 64
    advice of part: . => Lower --tensor-parallel-size of a server to a divisor of it (1 on one Spark), or change the
    + other size
cause = Two sizes do not match: {part} must be a multiple of {other}.
remedy = {advice}.

[built-without]
keys =
    in this build
    built without
    compiled without
    ot built with
    ot compiled with
pattern =
    (?:Error|Exception|error): (?P<part1>[^\n]{2,120}?) (?:requires|needs) (?:the )?(?P<need1>[\w. /+-]{2,40}?)(?:
    + library)?,? which is not (?:integrated|included|enabled|available|supported|compiled) in this build
    (?:Error|Exception|error|Fatal\])(?:: b'|:)? (?P<need4>[^\n]{2,60}?) (?:is|was) not (?:enabled|included|available
    +|supported) in (?P<part4>this build)
    (?:Error|Exception|error): (?P<part2>[^\n]{2,120}?) (?:(?:is|was|were|has)(?:n't| not)|not)(?: been)? (?:built
    +|compiled) with (?P<need2>[\w. /+-]{2,40}?)(?: (?:support|enabled|installed|available))?(?:[.,;(!]|$)
    (?:Error|Exception|error): (?P<part3>[^\n]{2,120}?) (?:is|was|were|has)(?: been)? (?:built|compiled) without
    + (?P<need3>[\w. /+-]{2,40}?)(?: (?:support|enabled))?(?:[.,;(!]|$)
values =
    advice of need: (?i:.*(?:cudnn)) => Install cuDNN for CUDA 13 and build it from source with cuDNN switched on
    + (-DWITH_CUDNN=ON for CTranslate2, -DUSE_CUDNN=1 elsewhere), or use a build that has it
    advice of need: (?i:.*(?:cuda|gpu|cublas|nvidia)) => Use a build with CUDA 13 for this machine. For aarch64 that
    + is often only an image or a build from source (with the toolkit on PATH and the CUDA option on, such as
    + -DUSE_CUDA=1 for LightGBM)
    advice of need: . => Use a build that has it, or build it from source with that option on and its development
    + files installed
cause = This build of the program does not have {need} ({part}).
remedy = {advice}.
source = lightgbm-org/LightGBM#3696

[raised-wrongly]
keys = ", line
pattern =
    \A\s*File '[^'\n]+', line \d+, in \S+\n\s+raise \w*(?:Error|Exception|Exit)\(\s*f?'(?P<why>[^'\n]{8,300}?)\.?'[^\n]*
    +\n(?:[ ~^]+\n)?TypeError: (?:\w+\.)?__init__\(\) missing
cause = The program reported an error, but failed to print its message, which is: {why}.
remedy = Do what that message says (server options have hyphens instead of the underscores; --help lists them). A newer
    release of the program may print it properly.
source = InternLM/lmdeploy#1123

[called-with-other-arguments]
keys =
    required positional argument
    positional argument
pattern =
    TypeError: (?P<function2>[\w.]+)\(\) takes (?:from )?\d+ (?:to \d+ )?positional arguments? but
    + (?P<count>\d+) (?:was|were) given
    TypeError: (?P<function>[\w.]+)\(\) missing \d+ required positional arguments?: (?P<argument>'\w+'(?:[\w ,]+'\w+')*)
uncertain = yes
cause = {function} was called[ by {raiser}][ without {argument}][ with {count} arguments, which it does not accept]: the
    caller has a bug in this release (if both belong to one package), or the two packages have versions that do not fit.
remedy = Upgrade the package that the traceback's last lines name, where such a bug is usually fixed. If {function}
    belongs to another package, install the version of that package which the caller's release pins (requirements.txt or
    pyproject.toml).
source = vllm-project/vllm#23066

[package-to-install-first]
keys =
    must be installed first
    must be installed to
    needs to be installed
pattern =
    (?:the|The) '(?P<package>[\w.-]+)' (?:Python )?(?:package|library|module) (?:must|needs to) be installed
cause = The program cannot continue without the package {package}, which it cannot import: it is not installed, or its
    own import fails.
remedy = Install it with the Python that runs the program (python -m pip install {package}). If it is installed, python
    -c 'import {package}' says what is missing (for sageattention usually triton).
source = Comfy-Org/ComfyUI#7484

[package-asked-for]
keys =
    pip install
    lease install
pattern =
    Error: [^\n]*?['\"(](?P<command1>(?:uv )?pip3? install [^'\"()\n]*[^'\"()\n .])
    Error: [^\n]*?[Pp]lease install '?(?P<command2>[\w.-]+(?:\[[\w,-]+\])?)'?(?= (?:for|to|before|first|it|with|via
    +|from)\b|[.,;]? *$)
cause = The program needs a package that is not installed, or a newer release than the installed one: it asks for
    {command}.
remedy = Install it with the Python that runs the program (python -m pip install), with --no-deps if it would replace
    torch. If it has no wheel for aarch64, look for an option that avoids it.

[torch-check-false]
keys = to be true, but got false
pattern = Expected (?P<what>[^\n]{3,240}?) to be true, but got false
values =
    advice of what: .*(?:type\(|::k[A-Z]|Float|Half|BFloat|Int) => A tensor has another data type than this kernel
    + accepts: choose another quantization or --dtype, or another backend for it
    advice of what: .*(?:device|is_cuda|cuda) => Move all tensors and the model to one device
    advice of what: .*contiguous => Pass it contiguous tensors (x.contiguous())
    advice of what: .*(?:size|shape|dim|stride|numel|[%=<>]) => Compare the shapes that the program passes with what
    + the kernel accepts: use another size of groups, heads or parallelism, or another model
    advice of what: . => Choose another backend for that kernel
uncertain = yes
cause = A compiled part of the program checked its arguments and found that this does not hold: {what}.
remedy = {advice}; the traceback's last lines name the operator and its options.
source = vllm-project/vllm#20221

[arguments-required]
keys = the following arguments are required
pattern = ^(?P<program>[^\n:]{1,60}): error: the following arguments are required: (?P<names>[^\n]{1,160})
values =
    advice of names: model(?:_tag)?\b => Write the model's name or directory as the first word after serve
    advice of names: . => Add it to the command
cause = {program} was started without {names}.
remedy = {advice}. Perhaps a line of the command lost its \\ at the end (not even a space may follow it), or a variable
    is empty; --help shows the syntax.
source = vllm-project/vllm#13150

[own-fault-reported]
keys = This is a bug
pattern = (?:^|[:\]] )(?P<why>[^\n:]{6,160}?)[.:,;]? This is a bug\b
uncertain = yes
cause = The program reports an internal fault: {why}.
remedy = Use its newest release, send fewer requests at once, or leave out the less common options. Then search the
    project's issues for this message.
source = huggingface/text-embeddings-inference#744

[options-exclusive]
keys =
    are mutually exclusive
    at the same time
    Only one of
    only one of
    fy both
    set both
    use both
    ass both
    ide both
    ave both
    ive both
    able both
    be used together
    cannot be used /
pattern =
    AssertionError: [Ww]hen (?P<first5>[^,\n]{3,60}), (?:either )?(?P<second5>[^\n/]{3,140}?) can(?:no|')t be used(?:
    + /|\.?$)
    (?:[Ee]rror|ERROR|fatal)[^\n]{0,40}?: (?:argument )?(?P<first1>[\w.=-]+(?:, [\w.=-]+)*),? and
    + (?P<second1>[\w.=-]+) are mutually exclusive
    Error: [\W]?(?P<first2>[\w.=-]+)\W? and \W?(?P<second2>[\w.=-]+)\W? (?:can ?not|can't|must not|may not|should not)
    + (?:be )?(?:both )?(?:be )?(?:both )?(?:configured|set|specified|used|given|provided|passed|enabled)\b
    Error: (?:You )?(?:[Cc]an ?not|[Cc]an't|must not|should not|[Dd]o not)
    + (?:specify|set|use|pass|provide|have|give|enable)
    + both (?:of )?[`'-]*(?P<first3>[\w.=-]+)\W? and [`'-]*(?P<second3>[\w.=-]+\w)
    Error: [Oo]nly one of [`'-]*(?P<first4>[\w.=-]+)\W? (?:and|or) [`'-]*(?P<second4>[\w.=-]+)\W?
    + (?:can|may|must|should) be\b
uncertain = yes
cause = {first} and {second} exclude each other, and both are set.
remedy = Leave one of them out. If you set only one, look for the other in the script, the configuration file or the
    environment that the program also reads.
source = pytorch/pytorch#175435

[read-ended-early]
keys =
    failed to fill whole buffer
    unexpected end of file
    early eof
pattern = (?P<why>failed to fill whole buffer|(?<!`)unexpected end of file(?!' )|early eof)
unless = syntax error|line \d+
uncertain = yes
cause = A program written in Rust or Go read less than it expected ({why}): a file is cut off, or the process at the
    other end of a pipe or connection has ended.
remedy = If it was reading a file, download or write it again (compare its size). For a server, read the first error of
    its other processes, and look for Out of memory in the kernel's log (journalctl -k).
source = guoqingbao/xinfer#195

[program-advice-list]
keys = Error:
pattern =
    \A(?!any)(?:\W*(?:\w+\.)*\w*(?:Error|Exception):) +(?P<why>[^\n]{4,300}?)\.?\n(?:[^\n]*\n){0,3}?[^\n]{0,40}(?:[Ff]ix
    + options|[Ss]olutions?|[Ff]ixes|[Ss]uggestions|[Tt]o fix this[^\n:]{0,20}):[ ]*\n\s*(?:1[.)]|[-*•])
    + (?P<advice>[^\n]{4,300}?)\.?(?:\n\s*(?:2[.)]|[-*•]) (?P<other>[^\n]{4,200}?)\.?)?$
uncertain = yes
cause = The program ended, and its message says why: {why}.
remedy = Do what the message says: {advice}[; or {other}].
source = unslothai/unsloth#4541

[program-advice]
keys =
    Error:
    Exception:
    validation error
    Value error,
    Assertion failed,
pattern =
    \A(?!any)(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|(?:[^\n]*validation errors? for \w+\n(?:\S+\n)?)?\s*(?:Value
    + error|Assertion failed),) +(?![^\n]*(?:\. Did you mean: '|[Ss]tack ?trace|root cause|NumCudaDevices|Check
    + failed|for (?:more )?details|report (?:an?|this) |(?:open|file|raise|create) an? issue|/issues|lease
    + file|[Cc]heck [^\n]{0,40}\blogs?\b|relevant logs|(?:errors?|messages?|output) above|the logs?
    + (?:above|for)|enforce fail))(?:(?P<why>[^\n]{4,400}?)(?:[.!?;:]['`)\]]*\s*|,\s+| [(\u2013\u2014-] *(?=[a-z]+
    + )))?(?P<advice>(?:[Pp]lease|[Cc]onsider|[Tt]ry|[Mm]ake sure|[Ee]nsure|[Yy]ou (?:must|need to|can|should)|Did
    + you|did you (?:mean|forget)|To (?:fix|avoid|enable|disable|resolve|override|use|run)|In order
    + to|[Uu]se|(?:Set|set(?= '?(?:-|\w+[_=]|[A-Z]{3})))|[Pp]ass|[Ss]pecify|[Ee]ither
    + (?:set|use|pass|enable|disable|install)|(?:Provide|Ch(?:oose|eck|ange)|Select|Add|Run|Start|Restart|Switch|Verify
    +|Export|Configure|Adjust|Omit|Do not|Don't|Raise|Rename|Avoid|Pick|Load|Leave|Create|Keep|Limit)|[EeDd](?:n|is)abl
    +e|(?:[Ii]n|[Dd]e)crease|[Rr]educe|[Ll]ower (?:the|your|-)|[Ii]nstall|[Uu]p(?:grade|date)|[Dd]owngrade|[Rr]e(?:buil
    +d|install|compile|move|launch|start)|omit|drop|choose|switch to)(?!\w)(?!
    + (?:above|below|only|of)\b)[^\n]{4,300}?)[.!]?(?: \[type=[^\n]*)?$
    \A(?!any)(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|\s*(?:Value error|Assertion failed),) +(?P<why2>[^\n]{4,300}?)
    +[,;.]? +(?P<advice2>by (?:setting|passing|using|adding|installing|specifying|(?:in|de)creasing|reducing|enabling
    +|disabling|running|removing)\b[^\n]{4,300}?)[.!]?(?: \[type=[^\n]*)?$
uncertain = yes
cause = The program ended, and its message says why[: {why}].
remedy = Do what the message says: {advice}.

[option-asked-for]
keys =
    without '--
    without `--
    without --
    requires '--
    requires `--
    requires --
    require --
    validation error
    Value error,
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception|error):|(?:[^\n]*validation errors? for \w+\n(?:\S+\n)?)?\s*Value error,)
    + (?P<why>[^\n]{4,300}?\b(?:without|requires?) '?(?P<option>--[a-z][\w-]+)'?[^\n]{0,160}?)\.?(?: \[type=[^\n]*)?$
cause = The program names an option that it needs: {why}.
remedy = Start it with {option} (its --help lists the values), or make the other change that the message suggests.

[value-among-choices]
keys =
    validation error
    must be one of
    must be in
    must be either
    should be one of
    upported
    vailable
    alid
    hoices
    llowed
    hoose
    xpected one of
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception|error):|(?:[^\n]*validation errors? for \w+\n(?:\S+\n)?)?\s*(?:Value
    + error|Assertion failed),) (?P<setting1>[^\n]{2,120}?) (?:must|should) be (?:one of|in|either)(?: the
    + following)?:? (?P<choices1>(?![\[(]-?[\d.]+, ?-?[\w.]+[\])])[^\n]{3,300}?)(?:[,;.] (?:but )?(?:got|found|is)
    + (?P<value1>[^\n]{1,120}?))?\.?(?: \[type=[^\n]*)?$
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception|error):|(?:[^\n]*validation errors? for \w+\n(?:\S+\n)?)?\s*(?:Value
    + error|Assertion failed),) (?:Unknown|Invalid|Unsupported|Unrecognized|Unexpected) (?P<setting2>[\w
    + -]{2,60}?)(?::| type| mode)? '?(?P<value2>[^\n'.;,]{1,120}?)'?[.;,:]? \(?(?:(?:Currently |currently
    + )?(?:[Ss]upported|[Vv]alid|[Aa]vailable|[Aa]llowed|[Kk]nown|[Pp]ossible)[\w -]{0,30}?(?::| are| is)|[Mm]ust be
    + (?:one of|in|either)|[Ss]hould be (?:one of|in|either)|[Cc]hoose (?:from|one of)|[Ee]xpected(?: one of)?:?)
    + (?P<choices2>[^\n]{3,300}?)\)?\.?(?: \[type=[^\n]*)?$
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception|error):) Only (?P<choices3>[{\[(]?'[^\n]{2,200}?)
    + (?P<setting3>[a-z][\w -]{2,40}?) (?:is|are) (?:supported|allowed|available|valid)[^\n]*?[.,;] (?:[Bb]ut
    + )?(?:[Gg]ot|found) (?:\w+=)?'?(?P<value3>[\w.-]{0,60}\w)'?\.?$
    (?:Error|Exception|error): (?P<setting4>[^\n:]{2,60}?) does not support (?P<value4>[^\n]{2,80}?)\. Supported
    + [\w -]{2,40}: (?P<choices4>[^\n]{3,200}?)\.?(?: [A-Z][^\n]*)?$
unless = ('\w+')[^\n]*\bgot \1
cause = The program does not accept this value of {setting}[: {value}].
remedy = Choose one of the values that it names: {choices}. Any other value needs a release of the program that has it.

[machine-not-known]
keys =
    o prebuilt
    o binar
    available for
    found for
    nknown
    nsupported
    nrecogni
    nvalid
    not support
pattern =
    ^(?=[^\n]*?(?:aarch|arm|ARM)64)[^\n]*?(?:(?:[Uu]n(?:known|supported|recogni[sz]ed)|[Ii]nvalid) (?:[\w/]+
    + )?(?:[Mm]achine|[Aa]rch(?:itecture)?|[Pp]latform|[Pp]rocessor|CPU|[Hh]ost|[Tt]arget)(?:
    + (?:type|name|architecture|arch|platform|tag))?(?::| is|=)? ?[(\['"]?(?P<machine>(?:[Ll]inux[-_/
    + ])?(?:aarch64|arm64|ARM64))\b|[Nn]o (?:prebuilt \w+|binar(?:y|ies)|release|download|asset|distribution)s? (?:was
    + |were )?(?:found |available )?for (?:cpu |CPU |arch(?:itecture)? |platform |machine
    + )?[(\['"]?(?P<machine3>(?:[Ll]inux[-_/ ])?(?:aarch64|arm64|ARM64))\b|\b(?:[Mm]achine|[Aa]rch(?:itecture)?|[Pp]lat
    +form|[Pp]rocessor|CPU) [(\['"]?(?P<machine2>(?:[Ll]inux[-_/ ])?(?:aarch64|arm64|ARM64))['")\]]? (?:is
    + )?(?:unknown|unsupported|unrecogni[sz]ed|not supported)|does not support (?P<machine4>(?:[Ll]inux[-_/
    + ])?(?:aarch64|arm64|ARM64))\b)
unless = (?i:warn|skip|fall|ignor|default|deprecat)
cause = The program or its build does not know this machine ({machine}): it handles others, such as x86_64, but not this
    one.
remedy = Use a newer release whose notes or issues name aarch64, or another package for the same purpose. If only the
    choice of a download or of flags fails, add the case for aarch64 to its script.
source = capstone-engine/capstone#2102

[only-supported]
keys =
    validation error
    only support
    supports only
    support only
    Only
    only available
    only works
    only be used
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|(?:[^\n]*validation errors? for \w+\n(?:\S+\n)?)?\s*(?:Value
    + error|Assertion failed),) (?P<part1>[^\n]{2,160}?) (?:(?:currently )?only supports?|supports? only|(?:is|are)
    + (?:currently )?only (?:supported|available|implemented) (?:with|for|on|by|when|in|if)|only works?
    + (?:with|for|on)|can only be used (?:with|for|on|when|if)) (?P<need1>[^\n]{2,200}?)(?:[,;.]? (?:but
    + )?(?:got|found|is|received):? (?P<have1>[^\n]{1,160}?))?\.?(?: \[type=[^\n]*)?$
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|(?:[^\n]*validation errors? for \w+\n(?:\S+\n)?)?\s*(?:Value
    + error|Assertion failed),) Only (?P<need2>[^\n]{2,160}?) (?:is |are |can be )?(?:currently )?supported(?:
    + (?:for|by|in|with|on) (?P<part2>[^\n]{2,120}?))?(?:[,;.]? (?:but )?(?:got|found|is|received):?
    + (?P<have2>[^\n]{1,160}?))?\.?(?: \[type=[^\n]*)?$
unless = SM ?\d|sm_?\d|Blackwell|Hopper|Ampere|(?i:gpus?|devices?|compute capability)\b
values =
    advice of need: multimodal models => Upgrade the server and Transformers, which do not know that this model reads
    + images; if it is a text model, leave out the option
    advice of need: .*(?:b?fp?16|[Hh]alf)\b.*(?:type|dtype)? => Load the model in that type (dtype=torch.bfloat16,
    + --dtype bfloat16), run the call under torch.autocast("cuda", dtype=torch.bfloat16), or choose another attention
    + (attn_implementation="sdpa")
    advice of need: . => If one of your settings decides it, set that value. If the model's files do, use the model in
    + another form (quantization, precision), choose another backend for that part, or leave out the option that
    + requires it
cause = [{part}: ]only {need} is supported in this release[, and this is {have}].
remedy = {advice}.

[feature-not-supported]
keys =
    does not support
    doesn't support
    do not support
    not yet support
    not currently support
pattern =
    ^\W*(?:[\w.]+\.)?(?:ValueError|NotImplementedError|RuntimeError|AssertionError|TypeError|ImportError):
    + (?P<part>[^\n]{2,100}?) (?:does not|doesn't|do not)(?: yet| currently)? support (?P<feature>[^\n]{2,200}?)(?:
    + yet)?\.?$
unless = (?i:device|driver|gpu|system|platform|hardware) does|Error in function
cause = {part} does not support {feature} in this release of the program.
remedy = Leave out the option that requests one or the other[ ({log_backend_option} in this log)], or use a newer
    release whose notes say so.

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
    ^\W*(?:[\w.]+\.)?(?:ValueError|NotImplementedError|RuntimeError|AssertionError|TypeError|ImportError):
    + (?P<what>[^\n]{3,140}?)(?: and)? (?:is|are) (?:currently )?(?:not (?:yet |currently
    + )?(?:supported|compatible|implemented|available)|incompatible|unsupported)(?: yet)?(?: (?P<how>with|when|for|on|
    +by|in|without) (?P<other>[^\n]{2,140}?))?\.?$
values =
    advice of what: .*\b[Pp]ipeline parallel => Leave out --pipeline-parallel-size (use --tensor-parallel-size)
    advice of what: .*\bbackend => Choose another backend for it (--moe-backend, --attention-backend; Marlin and
    + Triton support most shapes)
    advice of other: .*\b(?:device|GPU|platform|hardware|architecture|SM_?\d+) => This kernel does not exist for that
    + GPU: use the model in another quantization (GPTQ, AWQ, FP8), another backend for it, or a GPU that has the kernel
    advice of how: with => Leave out one of the two options or settings
    advice of how: for|on => Choose another value there, or leave out the option
    advice of how: . => Remove the option or setting from the command or configuration
    advice of how: (?:) => Remove the option or setting from the command or configuration
unless = is not available\.?$
cause = This release of the program does not support {what}[ {how} {other}].
remedy = {advice}, or use a newer release of the program whose notes say so.

[setting-refused]
keys = validation error
pattern =
    validation errors? for (?P<model>\w+)\n(?:(?P<field>\w[\w.\[\]-]*)\n)?\s*(?P<why>Extra inputs are not permitted|
    +Field required|Input should be [^\n\[]*[^\n\[ ])
values =
    advice of why: Extra => Remove it, or correct its name and level: this release has no such setting there (for
    + TensorRT-LLM, compare the YAML file with the reference of the installed release)
    advice of why: Field => Add it: this release requires it
    advice of model: (?:VllmConfig|ModelConfig|Compress\w+|Quantization\w+)$ => If you set it, use a value of that
    + kind. If it comes from the model's config.json, use the release of the server that the model's page names
    advice of why: . => Use a value of that kind (in YAML, a number or true has no quotes)
cause = {model} refuses a setting[, {field}]: {why}.
remedy = {advice}.

[settings-refused]
keys =
    validation error
    Value error,
    Assertion failed,
    ", line
pattern =
    \A[^\n]*validation errors? for (?P<part1>\w+)\n(?:\S+\n)?\s*(?:Value error|Assertion failed),
    + (?P<why1>[^\n]{4,400}?)\.?(?: \[type=[^\n]*)?$
    \A\s*(?:Value error|Assertion failed), (?P<why2>[^\n]{4,400}?)\.?(?: \[type=[^\n]*)?$
    \A\s*File '(?:[^'\n]*/)?(?P<part3>(?:vllm|sglang|tensorrt_llm|ray)/(?:srt/|engine/|llmapi/|_private/)?(?:config/|a
    +rg_utils|server_args|arg_groups/|platforms/|configs/model_config|utils/server_args|envs\.py|entrypoints/cli|llm_a
    +rgs|launch_server|parameter|services|resource_spec)[^'\n]*)', line \d+, in \S+\n(?:
    + {4}[^\n]*\n){0,12}(?:\w+\.)*(?:Value|Assertion|NotImplemented|Runtime|Type|FileNotFound)Error: (?P<why3>[^\n]{8,
    +400}?)\.?$
    \A\s*File '(?:[^'\n]*/)?(?P<part4>(?:vllm|sglang|tensorrt_llm|ray)/[^'\n]*)', line \d+, in \S+\n(?:
    + {4}[^\n]*\n){0,12}(?:\w+\.)*(?:Value|Assertion|NotImplemented|Runtime|Type|ArgumentType)Error:
    + (?P<why4>(?:[^\n]{0,200}?'?--[a-z][\w-]+|[^\n]{0,200}?\b(?:VLLM|SGLANG|SGL|TRTLLM|NCCL|CUDA|RAY)_(?!ERROR|STATUS|
    +DEBUG\b|LAUNCH)[A-Za-z_]{3,})[^\n]{0,300}?)\.?$
    \A\s*File '(?:[^'\n]*/)?(?P<part5>(?:vllm|sglang|tensorrt_llm)/[^'\n]*(?:/utils/|entrypoints/|/managers/|scheduler
    +|_manager|/engine/)[^'\n]*)', line \d+, in \S+\n(?: {4}[^\n]*\n){0,12}(?:\w+\.)*(?:Value|Assertion|NotImplemented
    +|Runtime|Type)Error: (?P<why5>(?:[a-z]+(?:_[a-z0-9]+)+(?: \([^)\n]*\)|=\S+)? (?:must|cannot|should|can only)
    + (?:not )?be (?:set|given|provided|used|positive|non-negative|greater|less|at (?:least|most)|between|>|<|a |an
    + |None))[^\n]{0,300}?)\.?$
cause = The server refuses its settings[ ({part})]: {why}.
values =
    advice of why: (?:Expecting (?:property|value|'|\W|[,:])|Extra data: line|Unterminated string) => A JSON text is
    + invalid: correct it there, in the value of an option or in a file of the model (such as config.json; python3 -m
    + json.tool FILE shows where, and downloading it again may help)
    advice of why: .*[Cc]apability: \d => Use the model in another quantization or unquantized, or a GPU with that
    + capability (for older GPUs llama.cpp with a GGUF file)
    advice of why: .*must be (?:evenly )?divisible by (?:the )?tensor => Choose a --tensor-parallel-size that divides
    + it (1, 2, 4 or 8; 1 on one Spark), for three hosts --pipeline-parallel-size 3 with --tensor-parallel-size 1
    advice of why: .*[Tt]ensor parallel size .*(?:larger than|exceeds?) .*GPU => A Spark has one GPU: use
    + --tensor-parallel-size 1, or start the server across two (--distributed-executor-backend ray in a Ray cluster of
    + both, or --nnodes 2 with --node-rank and --master-addr)
    advice of why: Found unknown quantization => Use a release that knows it. If the model also has a Transformers
    + form, leave out Mistral's options (--config-format, --load-format, --tokenizer-mode)
    advice of why: . => Change the setting that the message names. As an option it has hyphens instead of underscores
    + (--help lists them); in JSON or YAML it has the same name. If you do not need it, leave out the setting and what
    + depends on it, or use a release whose notes name it
remedy = {advice}.

[llamacpp-model-refused]
keys =
    error loading model:
    llama_init_from_model:
    gguf_init_from
    clip_init:
    mtmd_init_from
    failed to load mmproj
    no backends are loaded
pattern =
    error loading model: (?:error loading model \w+: |[\w.]+: )?(?P<why1>[^\n]{3,240})
    llama_init_from_model: (?:failed to initialize the context: )?(?P<why2>[^\n]{3,240})
    gguf_init_from\w*: (?P<why3>[^\n]{3,240})
    (?:clip_init|mtmd_init_from_\w+): (?P<why4>[^\n]{3,240})
    (?P<why5>failed to load mmproj|no backends are loaded)
unless = this is normal during memory fitting
values =
    advice of why: .*n_batch and n_ubatch => Set both sizes (-b 2048 -ub 512) and pass the draft's file as the
    + release's documentation says (-md). If that does not help, use a newer release; without speculative decoding it
    + starts
    advice of why: .*architecture: 'mllama' => llama.cpp has no code for Llama 3.2 Vision, and an Ollama that runs
    + models with llama-server has none either: run it with Transformers or vLLM, or use another model for images
    + (gemma3, qwen2.5vl)
    advice of why: .*architecture: ''$ => The file names no architecture, so it is not a language model: a model for
    + images, video or sound belongs into its own program (ComfyUI-GGUF, stable-diffusion.cpp), and a damaged file must
    + be downloaded again
    advice of why: .*(?:unknown projector type|key not found) => Update llama.cpp (or Ollama), which does not know
    + this projector yet, or use the mmproj file of the same model
    advice of why: .*first split => Name the file that ends in -00001-of-, with all other parts next to it
    advice of why: .*(?:split|corrupt|read error|bounds|offset|failed to (?:load|read)|magic) => Delete it, download
    + all parts again, and compare their sizes with the hub's
    advice of why: .*(?:No such file|failed to open|Permission) => Correct the path as the program sees it (the path
    + inside a container), and its permissions
    advice of why: .*(?:main_gpu|devices) => Leave out --main-gpu and --tensor-split
    advice of why: .*backends => Start it in the directory of its libggml-*.so (build/bin)
    advice of why: .*(?:[KV] cache|V cache|Flash Att|flash_att) => Add -fa on, or leave out -ctk and -ctv
    advice of why: .*(?:projector|mmproj|n_embd =|mm\.) => Use the mmproj file of the same model, and update llama.cpp
    advice of why: .*(?:alloc|mmap|memory) => Leave more memory free, shorten the context (-c), lower -np, or use a
    + smaller quantization
    advice of why: . => Update llama.cpp (or Ollama), or use a GGUF that was made for this release; pass an mmproj
    + file with --mmproj, a LoRA with --lora
cause = llama.cpp does not load the model: {why}.
remedy = {advice}.
source = ollama/ollama#12634

[ollama-refused]
keys =
    no FROM line
    no Modelfile or safetensors files
    unsupported quantization type
    not in GGUF format
    'from' or 'files' was specified
    only one adapter is currently
    unsupported content type
    vocabulary is larger than expected
    invalid digest format
    no suitable llama servers
    not listed in available servers
    memory layout cannot be allocated
    runner process no longer running
    not supported by your version of Ollama
    unauthorized: access denied
    see the ollama server logs
    are not yet supported
    Error: couldn't find '
    Error: unknown type
    invalid model name
    maximum pending requests exceeded
pattern =
    (?:Error: |error=")(?P<why>[^\n]{0,60}?(?:no FROM line|no Modelfile or safetensors files found|unsupported
    + quantization type|supplied file was not in GGUF format|neither 'from' or 'files' was specified|only one
    + adapter is currently supported|unsupported content type|vocabulary is larger than expected|invalid digest
    + format|no suitable llama servers found|server \S* ?not listed in available servers map|memory layout cannot be
    + allocated|llama runner process no longer running|not supported by your version of Ollama|unauthorized: access
    + denied|see the ollama server logs|Models based on '?[^'\n]+ are not yet supported|couldn't find
    + '[^\n]+|unknown type$|invalid model name|maximum pending requests exceeded)[^\n]{0,120})
values =
    advice of why: .*(?:servers found|servers map) => Reinstall Ollama with its script: the directory of its runners
    + (lib/ollama) is missing, cannot be unpacked (TMPDIR full or noexec, df -h /tmp) or belongs to another release
    advice of why: .*(?:memory layout) => Leave more memory free, and lower OLLAMA_CONTEXT_LENGTH and
    + OLLAMA_NUM_PARALLEL
    advice of why: .*(?:no longer running|server logs) => Read the server's lines at that time (journalctl -u ollama
    + -e, docker logs): they contain the runner's own error
    advice of why: .*your version => Update Ollama
    advice of why: .*pending requests => Wait, or raise OLLAMA_MAX_QUEUE and OLLAMA_NUM_PARALLEL
    advice of why: .*unauthorized => Correct the name, and sign in (ollama signin) for a private model
    advice of why: .*(?:vocabulary|Models based on|content type) => Convert the model with llama.cpp's
    + convert_hf_to_gguf.py, and name the GGUF file in FROM
    advice of why: .*quantization type => Use one of its types (q8_0, q4_K_M, q4_K_S), from a model in F16 or F32
    advice of why: .*(?:FROM|Modelfile|'from'|couldn't find|unknown type|GGUF format) => Write FROM with a model's
    + name or the path of a complete GGUF file (relative to the Modelfile) or of a directory with safetensors and
    + config.json, and pass the Modelfile with -f
    advice of why: . => Correct the name or the Modelfile: a name has the form [HOST/][OWNER/]NAME[:TAG]
cause = Ollama refuses the request: {why}.
remedy = {advice}.
source = ollama/ollama#9004

[llamacpp-request-refused]
keys =
    send_error: task id =
    got exception: {"error"
pattern =
    send_error: task id = \d+, error: (?P<why1>[^\n]{3,240})
    got exception: \{'error':\{'code':\d+,'message':'(?P<why2>[^\n]{3,240})
values =
    advice of why: .*physical batch => Start it with -ub and -b at least as large as the longest input
    advice of why: .*(?:context|n_ctx) => Raise -c (divided by the slots of -np), or send less
    advice of why: .*(?:template|parser|arse input|jinja|tools) => Update llama.cpp, and start it with --jinja and the
    + model's newest template
    advice of why: .*(?:mmproj|image|audio) => Start it with the model's --mmproj file
    advice of why: . => Change the part of the request that it names, or start it with the option that it names
cause = llama-server refuses a request: {why}.
remedy = {advice}.

[object-attribute-missing]
keys = ' object has no attribute '
pattern =
    AttributeError: '(?P<class>(?!NoneType|MultiprocExecutor'|str'|list'|dict'|int'|float'|tuple'|bool'|bytes'|function
    +'|_OpNamespace)
    +[\w.]+)' object has no attribute '(?P<attribute>\w+)'
values =
    advice of attribute: set_embed|hot_token_id|set_eagle3 => Use a draft that was made for this model and algorithm
    + (--speculative-draft-model-path, an EAGLE or MTP head; without it, the model itself is used), or leave out
    + --speculative-algorithm. For a new model, use a release whose notes name its draft
    advice of attribute: (?:train|eval)$ => Upgrade accelerate together with transformers: a newer one calls this only
    + on optimizers that have it
    advice of attribute: . => Upgrade both in one command, or install the versions that the program's release pins
    + (the paths in the traceback's last two entries name the packages). If both are one package, choose its other
    + backend for that part (--moe-runner-backend, --attention-backend, --quantization), or use a newer release
uncertain = yes
cause = {class} has no {attribute}: the package of the traceback's last entry[, {raiser},] was written for another
    release of the package of {class}, or both are one package, which never sets it for these options and this model.
remedy = {advice}[; the packages are {raiser} and the one of {class}].

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
    advice of why: .*(?:unauthorized|denied|forbidden|authentication) => Let the pod log in (kubectl create secret
    + docker-registry, named under imagePullSecrets), or correct the name, because a registry also refuses an unknown
    + name like this
    advice of why: .*(?:no match for platform|no matching manifest) => Use a tag that has linux/arm64
    advice of why: .*(?:not found|manifest unknown) => Correct the name and tag; an image that is only local needs
    + imagePullPolicy: IfNotPresent, and must be in containerd (k3s ctr images import)
    advice of why: .*(?:toomanyrequests|429) => Log in to the registry, or wait, because its limit was reached
    advice of why: .*(?:x509|certificate) => Add the registry's certificate to containerd (/etc/containerd/certs.d)
    advice of why: .*(?:no such host|i/o timeout|dial tcp|connection refused|deadline) => Check on the node that the
    + registry can be reached (curl -I with https:// and its name), through the proxy if there is one
    advice of why: .*(?:no space|disk pressure) => Free the node's disk (crictl rmi --prune)
    advice of why: . => Read the complete reason (kubectl describe pod POD)
    advice of why: (?:) => Read the reason (kubectl describe pod POD): a wrong name or tag, no image for linux/arm64,
    + a missing login (imagePullSecrets) or an image that is only local (imagePullPolicy: IfNotPresent)
cause = Kubernetes could not pull the image[ {image}][: {why}].
remedy = {advice}.

[compiled-graph-failed]
keys =
    InductorError:
    BackendCompilerFailed:
    LoweringException:
    exc.TorchRuntimeError:
    RuntimeError: Tried to erase Node
pattern =
    (?:InductorError|BackendCompilerFailed|LoweringException|TorchRuntimeError): (?P<why1>[^\n]+)
    RuntimeError: (?P<why2>Tried to erase Node[^\n]+)
uncertain = yes
cause = torch.compile failed: {why}.
remedy = Start without it for now (vLLM: --enforce-eager, elsewhere TORCHDYNAMO_DISABLE=1), delete the caches
    (~/.cache/vllm/torch_compile_cache, /tmp/torchinductor_*), and use a newer PyTorch with its Triton. The lines below
    name the kernel.

[crate-build-script]
keys = failed to run custom build command for
pattern =
    failed to run custom build command for '(?P<crate>(?:ring(?= v)|openssl-sys|alsa-sys|libudev|hidapi|aws-lc|candle
    +|cudarc
    +|bindgen_cuda|prost|protobuf|etcd|tonic|lance|rdkafka|zmq|libgit2|libz|libssh2|fontconfig|freetype|dbus|xcb|wayland
    +|gtk|glib|gdk|cairo|pango)[\w-]*) v(?P<version>[^\s'`]+)
values =
    advice of crate: ring$ => Use gcc 9 or newer, or with the gcc of manylinux2014 set
    + CFLAGS_aarch64_unknown_linux_gnu=-D__ARM_ARCH=8
    advice of crate: openssl-sys => Install libssl-dev and pkg-config
    advice of crate: alsa-sys => Install libasound2-dev and pkg-config
    advice of crate: (?:libudev|hidapi) => Install libudev-dev and pkg-config
    advice of crate: aws-lc => Install cmake, clang and libclang-dev
    advice of crate: candle-flash => Use a newer candle (the copy of CUTLASS in 0.8's and older releases does not
    + compile with CUDA 13), or build without the feature flash-attn, with CUDA_COMPUTE_CAP=121
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
    advice of status: 40[13] => Log in or pass a token: the server requires one, or refuses this account, address or
    + program
    advice of status: 404 => Find the address in the traceback: the file has another name or release, or does not
    + exist for aarch64 and this Python. A build that only tries to download a prebuilt wheel continues from source
    advice of status: 429 => Wait and run it again: the server limits the number of requests
    advice of status: . => Run it again later, because the server could not answer
cause = A download of the program failed: the server answered {status}, {why}.
remedy = {advice}.

[name-undefined]
keys = NameError: name '
pattern =
    NameError: name '(?P<name>\w+)' is not defined[^\n]*$(?!\s*(?:During handling of the above|The above exception was))
uncertain = yes
values =
    advice of name: (?:Replicate|Shard|DTensor|DeviceMesh) => Upgrade PyTorch, or use an older Transformers
    advice of name: (?:init_empty|dispatch_model) => Install accelerate
    advice of name: . => Look above for a package that is missing or too old. In your own script, define the name first
cause = {name} is used but not defined: the program imports it only if a package is installed and new enough.
remedy = {advice}.
source = tdrussell/diffusion-pipe#271

[extension-none]
keys = 'NoneType' object has no attribute
pattern = AttributeError: 'NoneType' object has no attribute '(\w+)'
when = log-shows-extension-call
cause = The package's compiled part (_C), which has {found}, is missing: it was not built, or its build failed, and the
    import continued without it.
remedy = Look for its warning in the first lines of the run (no CUDA toolkit, a compiler's error), and reinstall the
    package with an nvcc on PATH that fits torch.version.cuda (pip install --force-reinstall --no-binary :all:
    --no-build-isolation --no-deps NAME; ninja makes it faster). Delete ~/.cache/torch_extensions if it compiles on
    first use.
source = nerfstudio-project/nerfstudio#3266

[value-none]
keys =
    'NoneType'
    not NoneType
    None is not a
pattern =
    TypeError: (?P<why1>None is not an? [^\n]{3,60})$
    (?:Type|Attribute)Error: (?P<why>[^\n]{0,120}?'?NoneType'?[^\n]{0,100})[^\n]*$(?!\s*(?:During handling of the
    + above|The above exception was))
uncertain = yes
values =
    advice of why: .*'(?:attn_bias|memory_efficient_attention)' => xformers is None, because its import failed.
    + Install the release that was built for this PyTorch (python -m xformers.info says why it does not load; on a
    + Spark, build it with TORCH_CUDA_ARCH_LIST=12.0), or upgrade the program, which then works without it
    advice of why: .*'__name__' => For a tokenizer, its class is None: run pip install sentencepiece tiktoken
    + protobuf, then start it again. Otherwise the traceback's last line shows what is None
    advice of why: . => Find out from the traceback's last line what is None, and read the warnings above it. Compare
    + the model's config.json and the options with what this release of the program expects, and install the versions
    + that it pins
cause = The program expects a value, but it is missing (None: {why}): an earlier step did not find a file, field or
    answer, or a package failed to import.
remedy = {advice}.

[data-cut-off]
keys =
    Ran out of input
    pickle data was truncated
    EOFError
    EOF while parsing a value
    expected value at line 1 column 1
    Error: Expecting value: line 1 column 1
pattern =
    (Ran out of input|pickle data was truncated|EOF while parsing a value|Exception: expected value at line 1 column 1)
    ^\W*(EOFError)\s*$
uncertain = yes
cause = Data ends early ({found}): a file is cut off, or the process at the other end exited.
remedy = Find out which file it is from the traceback, and delete it or download it again (also caches: ~/.triton,
    /tmp/torchinductor_*).

[triton-kernel-refused]
keys =
    CompilationError: at
    CompileTimeAssertionFailure: at
    UnsupportedLanguageConstruct: at
    InterpreterError:
    PTXASError
pattern =
    CompilationError: at (?P<place1>\d+:\d+):(?P<why1>(?:[^\n]*\n){0,40}?[^\n]*(?:Error|must|cannot|not
    + supported|unsupported|expected|mismatch)[^\n]{0,200})
    PTXASError: (?P<why2>[^\n]{4,200})
    (?P<why3>CompileTimeAssertionFailure|UnsupportedLanguageConstruct): at (?P<place2>\d+:\d+)
    InterpreterError: (?P<why4>[^\n]{4,200})
uncertain = yes
cause = Triton could not compile a kernel[ (at {place} in its function)][: {why}].
remedy = Use the Triton that this PyTorch pins, choose another backend for that part, and set
    TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas if ptxas failed.

[command-timeout]
keys = TimeoutExpired: Command
pattern = TimeoutExpired: Command '(?P<command>[^\n]{3,200}?)' timed out after (?P<seconds>[\d.]+) seconds
values =
    advice of command: .*nvidia-smi => Run nvidia-smi by hand. If it hangs as well, the driver or the GPU hangs (look
    + for Xid and NVRM with journalctl -k), and a reboot is needed
    advice of command: .*(?:docker|podman) => Run it by hand. If docker hangs, restart it (sudo systemctl restart
    + docker), read its journal, and look for a full disk
    advice of command: .*(?:curl|wget|git|pip|hf|huggingface|ssh) => Run it by hand. Usually the network, a proxy or
    + an unanswered question (a password, a host key) blocks it
    advice of command: . => Run it by hand to see what it waits for, or raise the program's limit
uncertain = yes
cause = A command that the program started did not finish within {seconds} s: {command}.
remedy = {advice}.
source = https://docs.python.org/3/library/subprocess.html

[java-failed]
keys =
    UnsatisfiedLinkError
    UnsupportedClassVersionError
    NoClassDefFoundError
    ClassNotFoundException
    Java heap space
pattern =
    java\.lang\.(?P<kind>UnsatisfiedLinkError|UnsupportedClassVersionError|NoClassDefFoundError|ClassNotFoundException
    +|OutOfMemoryError): (?P<why>[^\n]{2,200})
uncertain = yes
values =
    advice of kind: Unsat => Use the jar with native code for Linux on aarch64 (a classifier such as linux-aarch64 or
    + cuda13-arm64), in the same version as the library that it loads, and set that library's directory
    + (-Djava.library.path)
    advice of kind: Unsup => Run it with a newer Java (61 means Java 17, 65 means Java 21: apt install
    + openjdk-21-jre-headless, JAVA_HOME)
    advice of kind: NoClass => Read the first such error above: the class itself failed to initialise (usually because
    + of a native library), or its jar is not on the class path
    advice of kind: ClassNot => Put the jar that has the class on the class path (--jars of Spark), in the program's
    + version
    advice of kind: . => Raise the heap (-Xmx; spark.executor.memory), or process less at once
cause = A Java program failed ({kind}): {why}.
remedy = {advice}.
source = rapidsai/spark-examples#31

[python-fault]
keys =
    Error:
    StopIteration
    queue.Empty
pattern =
    ^\W*(?:any\.)?(?P<why>(?:(?:Index|UnboundLocal|ZeroDivision|Overflow|Recursion|Key)Error: |TypeError:
    + [^\n]{0,80}?(?:got
    + multiple values|can only concatenate|has no len|argument of type|is not
    + (?:subscriptable|iterable|callable)|unsupported operand|not supported between|unhashable|JSON
    + serializable|pickle)|ValueError: (?:(?:too many|not enough) values|invalid literal for|could not convert
    + string)|ValueError: \w+\(\) [^\n]{0,20}empty|AttributeError:
    + '(?:str|list|dict|int|float|tuple|bool|bytes|function)' object|RuntimeError: (?:dictionary changed|generator
    + raised|Already borrowed)|(?:StopIteration|_?queue\.Empty|NotImplementedError)$)[^\n]*)$(?!\s*(?:During handling
    + of the above|The above exception was))
uncertain = yes
values =
    what of why: KeyError => it looks up a name that does not exist
    what of why: IndexError: _Map_base => a compiled package has no kernel for this size, type or GPU
    what of why: IndexError => a list or tensor is shorter than expected
    what of why: UnboundLocal => no branch of the program handles this case, such as a new GPU (12.1), version or option
    what of why: ZeroDivision => a number is 0 (perhaps nothing was counted, read or measured)
    what of why: Overflow => a number is too large
    what of why: Recursion => a function calls itself without end, as with objects that refer to each other
    what of why: ValueError: (?:invalid literal|could not convert) => it reads a number but finds other text (a
    + version, an architecture such as 12.1a, an empty setting)
    what of why: ValueError => the number of values is not the expected one
    what of why: .*got multiple values => the same argument is passed twice (by name and by position, or by an
    + intermediate caller)
    what of why: .*pickle => an object cannot be passed to another process
    what of why: RuntimeError: generator => it searches for something that does not exist (a file, a device, a next
    + element)
    what of why: RuntimeError => two threads use one object at once
    what of why: StopIteration => it searches for something that does not exist (a file, a device, a next element)
    what of why: _?queue => another process sent nothing in time: it hangs or has exited
    what of why: NotImpl => this class or release does not implement the operation
    what of why: . => a value has another type than expected
    advice of why: .*'(?:int|float)' object has no attribute '(?:mean|backward|detach|item)' => The loss is a number,
    + not the expected tensor: let the trainer see one GPU (CUDA_VISIBLE_DEVICES=0) or start a process for each
    + (torchrun, accelerate launch), and upgrade transformers, trl and the patching program (Unsloth) together
    advice of why: KeyError: '(?:text|messages|prompt|labels?|input_ids|content|question|answer|instruction|completion|
    +chosen|rejected|images?)'$ => The data has no column or field of that name: print its column_names, rename one
    + (rename_column), or set the right name in the trainer (dataset_text_field, formatting_func, the column mapping)
    advice of why: KeyError: <class ' => The program has a table of classes, and a newer package has replaced one of
    + them: install the version of that package (the first part of the class's name) that the program was made for
    advice of why: .*got multiple values for keyword argument '(?:trust_remote_code|torch_dtype|dtype|device_map
    +|attn_implementation)' => Pass that argument only once: remove it from your call, or from the configuration that
    + already passes it. If neither is yours, install the Transformers that the program names
    advice of why: KeyError: '[\w.]*layers\.\d+\.(?:\w+\.)*(?:\w*attn|mixer|indexer)'$ => vLLM looks for that
    + layer's cache on the wrong rank or with a wrong setting: start it without --pipeline-parallel-size and without
    + speculative decoding, or use a newer release
    advice of why: UnboundLocal => Update the program or the node whose file the traceback names last (git pull, pip
    + install -U); if it stays, add the missing case at that line (for 12.1, that of 12.0), or choose another option
    + there
    advice of why: KeyError: \d+$ => If the line looks up a GPU's, type's or version's number in a table, update the
    + program: its table is older. If it reads a data set, its rows have other numbers than 0 to its length: make a
    + list or datasets.Dataset of it (for pandas, reset_index(drop=True))
    advice of why: KeyError: None$ => A setting that this line looks up was not set: set it in the program's
    + configuration (for FSDP, the type of state dict), or upgrade what should set it (transformers and accelerate
    + together)
    advice of why: IndexError: _Map_base => Install that package and the one that calls it in releases that belong
    + together (an NGC image has both), or choose the plain implementation of that layer
    advice of why: KeyError.*(?:weight|scale|bias|layers|lm_head|embed) => The file of weights has other names than
    + this release expects: use the release that the model's page names, or another quantization of the model
    advice of why: .*pickle => Start workers with fork, or move that object to the top level of the module
    advice of why: RuntimeError: (?!generator) => Send it one request at a time, or give each thread its own object
    advice of why: . => Compare the input at the traceback's last line (a field of config.json or another file, an
    + option, another program's answer) with what this release expects. Install the versions that the program pins,
    + because usually a newer package has changed it
cause = The program fails[ in {raiser}] with {why}: {what}.
remedy = {advice}.

[api-status]
keys =
    Error code: 4
    Error code: 5
    Client Error:
    Server Error:
    Client error '
    Server error '
    ClientResponseError:
    Ollama: 5
    (status code:
pattern =
    Error code: (?P<status1>[45]\d\d)\b(?: - (?P<why1>[^\n]{1,300}))?
    HTTPError: (?P<status2>[45]\d\d) (?:Client|Server) Error: (?P<why2>[^\n]{1,200})
    (?:Client|Server) error '(?P<status3>[45]\d\d) (?P<why3>[^\n]{1,200})
    (?:ClientResponseError|Ollama): (?P<status4>[45]\d\d), (?P<why4>[^\n]{1,200})
    ResponseError: (?P<why5>[^\n]{1,200}?) \(status code: (?P<status5>[45]\d\d)
unless =
    huggingface\.co|hf\.co|pypi\.org|github|nvidia\.com
    for url:? '?https?://(?:[\w-]+\.)+[a-z]{2,}/(?!\S*(?:v1|api)/)
values =
    advice of why: .*(?:\{%|\{\{|[Jj]inja|chat.template) => The model's chat template does not accept this
    + conversation, or this server cannot read it: send the system message first, then user and assistant in turn, leave
    + out empty fields (tool_calls=[]), update the server, or set another template (llama.cpp: --chat-template-file,
    + vLLM: --chat-template)
    advice of why: .*(?:[Ll]oading model|unavailable_error) => Wait until the model is loaded (until /health answers
    + with 200)
    advice of why: .*(?:[Mm]odel|model_not_found).{0,80}(?:not exist|not found) => Ask for a name that /v1/models
    + lists (--served-model-name), or pull the model first
    advice of why: .*(?:audio|transcription) => Start a server with this path and an audio model, or correct the address
    advice of why: .*load_lora_adapter => Start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True
    advice of why: .*/v1/(?:embeddings|score|rerank|pooling) => Start the server for a model of that kind (vLLM:
    + --runner pooling, SGLang: --is-embedding, llama.cpp: --embeddings)
    advice of why: .*/api/(?:chat|generate|tags|embed|show) => That is a path of Ollama, but the server is not
    + Ollama: use its /v1, or Ollama's port 11434
    advice of status: 400 => Change what the message names in the request (a field or value that this server or
    + model does not accept); the server's log contains the complete message
    advice of status: 40[13] => Set that server's key in the client (--api-key), and bypass any proxy
    advice of status: 40[45] => Correct the address (base_url ends in /v1 for OpenAI clients, but not for Ollama
    + clients), and ask for a model that /v1/models lists
    advice of status: 413 => Send less at once, or raise the limit of the proxy in front of it (client_max_body_size
    + of nginx)
    advice of status: 422 => Add or correct the field of the request that detail names
    advice of status: 429 => Send fewer requests at once, or log in to the service that limits them
    advice of status: 50[234] => Wait until the server answers /health, and check in its log that it has not exited
    + or hung; raise the timeout of the proxy in front of it
    advice of status: . => Read the server's own log at that time: it contains the error
cause = The server answered a request with the status {status}[: {why}].
remedy = {advice}.
source = murtaza-nasir/speakr#8

[server-hung-up]
keys =
    RemoteProtocolError
    Server disconnected
    RemoteDisconnected
    Remote end closed connection
    Response payload is not completed
    httpx.ReadError
pattern =
    (peer closed connection without sending complete message body|Server disconnected|Remote end closed connection
    + without response|Response payload is not completed|httpx\.ReadError)
uncertain = yes
cause = The server closed the connection before its answer was complete ({found}): it failed at that request, or a
    proxy gave up.
remedy = Read the server's own log at that time for the first error, and raise the proxy's time limits.

[llamacpp-download-failed]
keys =
    common_download_file
    get_repo_commit: error
    error from HF API
    failed to get manifest
    common_get_model
    curl_perform_with_retry
pattern =
    (?P<why>(?:common_download_file\w*|get_repo_commit: error|error from HF API|error: failed to get
    + manifest|common_get_model|curl_perform_with_retry)[^\n]{3,200})
unless = attempt 1 of
cause = llama.cpp could not download the model from the hub: {why}.
remedy = Correct the name (-hf OWNER/REPOSITORY:QUANTIZATION, with GGUF files), set HF_TOKEN if the model is gated, and
    check that the host reaches huggingface.co. Otherwise download the file (hf download) and pass it with -m.
source = https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md

[tensorrt-code]
keys =
    Error Code 1:
    Error Code 2:
    Error Code 3:
    Error Code 4:
    Error Code 5:
    Error Code 6:
    Error Code 7:
    Error Code 9:
    Error Code 10:
pattern = Error Code (?P<code>\d+): (?P<kind>[\w ]+?) \((?P<why>[^\n]{3,300}?)\)?\s*$
values =
    advice of why: .*(?:magicTag|[Vv]ersion|SERIAL|[Ss]erializ|archive) => Check that the file is complete, or delete
    + it (also an engine that a program cached), and build it again with the TensorRT that loads it
    advice of why: .*(?:launch failure|illegal|misaligned) => Load the same engine with trtexec. If that works, the
    + program's own code is at fault (buffers freed or too small, another stream): run it under compute-sanitizer
    advice of code: 2$ => Leave more memory free
    advice of code: 3$ => Correct the names and shapes that the program passes
    advice of code: . => Use the newest TensorRT for this GPU, and simplify the model (onnxsim, a newer opset)
uncertain = yes
cause = TensorRT failed (code {code}, {kind}): {why}.
remedy = {advice}.
source = https://docs.nvidia.com/deeplearning/tensorrt/latest/reference/troubleshooting.html

[trtllm-failed]
keys =
    Failed to initialize executor on rank
    Error in event loop:
    Hang detected on rank
    error in forward function:
    RequestError:
    [TensorRT-LLM][ERROR]
pattern =
    Failed to initialize executor on rank \d+: (?P<why1>[^\n]{3,300})
    Error in event loop: (?P<why2>[^\n]{3,300})
    (?P<why3>Hang detected on rank \d+)
    error in forward function: (?P<why4>[^\n]{3,300})
    executor\.utils\.RequestError: (?P<why5>[^\n]{3,300})
    \[TensorRT-LLM\]\[ERROR\] (?:\[TensorRT-LLM\]\[ERROR\] )?(?:Assertion failed: )?(?P<why6>(?!\[)[^\n]{3,300})
unless = an illegal memory|out of memory
values =
    advice of why: Hang => Start it without the overlap scheduler and CUDA graphs (disable_overlap_scheduler,
    + cuda_graph_config: null), and read the other hosts' logs
    advice of why: .*NCCL error => Set NCCL_DEBUG=WARN and read the first NCCL WARN of each rank (invalid usage:
    + usually two ranks on one GPU; a Spark has one GPU, so start one rank per host; system error: the network between
    + the hosts)
    advice of why: mNextBlocks|(?!.*(?:memory|alloc)).*kvCacheManager => Its cache manager has a fault here: turn off
    + the reuse of blocks
    + (kv_cache_config: enable_block_reuse: false), or use a newer release
    advice of why: .*(?:remaining_buffer|eserializ|erialized engine) => The engine comes from another release or GPU:
    + build it again with this release on this GPU (trtllm-build), or serve the model without one (--backend pytorch)
    advice of why: .*model architecture => Check that the model's config.json has architectures, and use a release
    + whose list of models has it
    advice of why: .*(?:max_\w+|length|exceed|Batch) => Raise the limit that it names (--max_num_tokens,
    + --max_seq_len, --max_batch_size), or send less
    advice of why: .*(?:memory|alloc|KV cache) => Lower --kv_cache_free_gpu_memory_fraction and --max_seq_len
    advice of why: .*(?:CUDA|cublas|GEMM|kernel|nsupported) => Choose another backend (moe_config, attn_backend), or
    + a release with code for 12.1
    advice of why: . => Compare the settings with the documentation of the installed release, and rebuild an engine
    + with that release
uncertain = yes
cause = TensorRT-LLM failed: {why}.
remedy = {advice}.
source = https://nvidia.github.io/TensorRT-LLM/reference/troubleshooting.html

[c-assertion]
keys =
    ' failed.
    ` failed.
    Assertion '
    Assertion `
pattern =
    ^(?P<program>[\w./+-]+): (?P<file>[^\s:]+):(?P<line>\d+): [^\n]{1,300}?: Assertion '(?P<check>[^\n]{1,200}?)' failed
uncertain = yes
cause = A check inside {program} failed ({file}, line {line}): {check}.
remedy = Use a newer release of the part that the file's path names (for mlir, llvm and triton: PyTorch with its
    Triton), leave out the options added last, and search for the condition in its issues.
source = https://man7.org/linux/man-pages/man3/assert.3.html

[mlir-refused]
keys =
    error: 'tt.
    error: 'ttg.
    error: 'ttng.
    error: 'arith.
    error: 'llvm.
    error: operation
    failed to translate module to LLVM IR
    failed with error code
    LLVM ERROR:
pattern =
    error: (?P<why1>'(?:tt|ttg|ttng|arith|llvm|nvvm|scf|math|gpu)\.[\w.]+' op [^\n]{3,200})
    error: (?P<why2>operation scheduled before its operands)
    (?P<why3>failed to translate module to LLVM IR)
    '(?P<why4>ptxas' failed with error code \d+)
    LLVM ERROR: (?P<why5>[^\n]{3,200})
uncertain = yes
cause = The kernel compiler (Triton, or the CUTLASS DSL) could not build a kernel for this GPU: {why}.
remedy = Use the newest Triton with its PyTorch (pip show triton torch; for the DSL, nvidia-cutlass-dsl[cu13]): perhaps
    the kernel and the compiler come from different releases, or the compiler does not know the GPU. Delete
    ~/.triton/cache, set TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas, and choose another backend for that kernel.
source = lum3on/comfyui_HiDream-Sampler#102

[module-half-imported]
keys = partially initialized module
pattern = (?:cannot import name '(?P<name>\w+)' from )?partially initialized module '(?P<module>[\w.]+)'
uncertain = yes
cause = {module} is imported again before its first import has finished[ (for {name})]: perhaps a file or directory of
    that name in the current directory comes first, or two modules import each other because their releases do not fit.
remedy = Start the program from another directory, and rename your own file {module}.py. Otherwise install that package
    and the one that imports it in matching versions.
source = https://docs.python.org/3/faq/programming.html#what-are-the-best-practices-for-using-import-in-a-module

[rust-panic]
keys =
    PanicException:
    thread '<unnamed>' panicked
pattern =
    PanicException: (?P<why1>[^\n]{2,200})
    thread '<unnamed>' panicked at '?(?P<why2>[^'\n]{2,200}?)'?(?:, (?P<place>\S+))?$
uncertain = yes
cause = A library written in Rust panicked[ (in {place})]: {why}.
remedy = Upgrade the package that the last line of the traceback names (tokenizers, safetensors, outlines, hf-xet,
    polars); if it read a model's files, download tokenizer.json and the weights again.
source = https://docs.rs/pyo3/latest/pyo3/panic/struct.PanicException.html

[transformers-part-not-imported]
keys = because of the following error (look up to see its traceback)
pattern =
    Failed to import (?P<module>[\w.]+) because of the following error \(look up to see its
    + traceback\):\s*\n?(?P<why>[^\n]{0,200})
uncertain = yes
cause = Transformers could not import {module}[: {why}]; the cause is the first traceback above.
values =
    advice of why: .*triton\.ops => Upgrade bitsandbytes (0.45 or newer), because Triton 3 no longer has that part, or
    + uninstall it if nothing needs it
    advice of why: .*undefined symbol => Install that package's build for the installed torch, or uninstall it if
    + nothing needs it
    advice of why: (?:)|. => Fix that first import: usually another package does not fit (torch, torchvision,
    + flash-attn, tokenizers, numpy); upgrade it together with transformers, or uninstall it if nothing needs it
remedy = {advice}.
source = https://github.com/huggingface/transformers/blob/main/src/transformers/utils/import_utils.py

[dynamo-refused]
keys =
    torch._dynamo.exc.
    symbolic_shapes.
    CppCompileError
    DataDependentOutputException
pattern =
    (?P<kind1>DataDependentOutputException): (?P<why2>[^\n]{2,200})
    (?P<kind>(?:_dynamo\.exc|symbolic_shapes|_inductor\.exc)\.(?:Unsupported|InternalTorchDynamoError|UserError
    +|FailOnRecompileLimitHit|ConstraintViolationError|GuardOnDataDependentSymNode|CppCompileError|Uncapturable\w+
    +|\w+Error)): (?P<why>[^\n]{2,200})(?:\n[^\n]*){0,3}?(?:\n\s*Hint: (?P<hint>[^\n]{4,200}?)\.?)?$
uncertain = yes
values =
    advice of why: .*(?:data-dependent|\.item\(\)|_local_scalar_dense|[Uu]nbacked|aten\.(?:equal|nonzero|_unique)) =>
    + The program's path depends on a tensor's value there: declare the bounds with torch._check, set
    + torch._dynamo.config.capture_scalar_outputs=True for .item(), leave out fullgraph=True, and export with
    + strict=False. A program that is not yours runs without torch.compile (vLLM: --enforce-eager,
    + TORCHDYNAMO_DISABLE=1)
    advice of why: . => Run it without torch.compile (vLLM: --enforce-eager, TORCHDYNAMO_DISABLE=1), or use the
    + release of the program that names this PyTorch. In your own code, exclude that function (torch.compiler.disable)
cause = torch.compile or torch.export could not translate the program: {why}.
remedy = {advice}[; its own hint: {hint}].
source = https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html

[nvshmem-failed]
keys =
    nvshmem
    NVSHMEM
    DeepEP error
pattern =
    (?P<why>(?:nvshmem[^\n]{0,80}?(?:failed|exiting|WARN: )|NVSHMEM[^\n]{0,60}?(?:error|failed)|DeepEP error:
    + )[^\n]{0,160})
uncertain = yes
cause = NVSHMEM, with which DeepEP and others exchange data between GPUs, does not work here: {why}.
remedy = Do without it: for SGLang, leave out --moe-a2a-backend deepep; for vLLM, use --all2all-backend
    allgather_reducescatter. Otherwise install the nvidia-nvshmem-cu13 that the program was built for, and set
    NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME to the interface between the hosts. NVSHMEM also needs GPUDirect RDMA, which
    NVIDIA does not support on a DGX Spark (NVSHMEM_REMOTE_TRANSPORT=none on a single host).
source = deepseek-ai/DeepEP#62

[allocator-option-unknown]
keys =
    CachingAllocator option
    Unrecognized key '
pattern = Unrecognized (?:CachingAllocator option|key '?)(?: in [\w ]+)?:? ?(?P<option>[^\s']+)
cause = PYTORCH_CUDA_ALLOC_CONF (PYTORCH_ALLOC_CONF) has the option {option}, which this PyTorch does not know.
remedy = Correct it (name:value, with commas and without spaces between several), such as expandable_segments:True, or
    unset the variable.
source = https://docs.pytorch.org/docs/stable/notes/cuda.html

[rdma-verb-failed]
keys =
    ibv_
    rdma_
    mlx5dv_
    to modify QP
pattern =
    [Ff]ailed to (?P<verb2>modify QP)(?! to \w+, check)
    \b(?P<verb>(?:ibv|mlx5dv)_\w+|rdma_(?:resolve|connect|create|bind|accept|listen|get)\w*)(?:\([^)\n]{0,60}\))?:?
    + (?:has )?failed(?: with)?(?: error)?(?: on \w+)?[:,]? ?(?P<why>[^\n]{2,160})
unless = Cannot allocate memory
uncertain = yes
values =
    advice of why: (?:, )?syndrome|Operation canceled|Input/output|Remote I/O => Read the kernel's messages about the
    + card (sudo dmesg | grep mlx5): it refused a command or no longer answers. Reboot, use mlx5_core and firmware from
    + the same vendor release, and one release of UCX and rdma-core with them
    advice of why: Bad address => The card cannot reach that memory (a GPU's without nvidia-peermem, as on a GB10, or
    + huge pages): let UCX use ordinary memory (UCX_TLS without cuda_ipc and gdr_copy), and set NCCL_NET_GDR_LEVEL=LOC
    advice of verb: modify|ibv_(?:modify|query_gid|create_ah|post|poll)|rdma_ => Use only the ports of the cable or
    + network
    + between the hosts (NCCL_IB_HCA, UCX_NET_DEVICES; rdma link and show_gids list them), with their addresses in one
    + subnet and one MTU (role fabric), and test them with ib_write_bw
    advice of verb: ibv_(?:open|get_device|alloc_pd|query) => Pass /dev/infiniband to the container, let the
    + container's account use it, and install one release of rdma-core (ibv_devinfo must list the ports)
    advice of verb: . => Allow the program unlimited locked memory (ulimit -l), set NCCL_DMABUF_ENABLE=0, and use one
    + release of rdma-core, NCCL and UCX on all hosts
cause = An RDMA call failed ({verb})[: {why}].
remedy = {advice}; NCCL_IB_DISABLE=1 tells whether RDMA is at fault.
source = https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html

[value-expected]
keys =
    xpected
    xpecting
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|\s*(?:Value error|Assertion failed),) (?P<what>[^\n]{0,80}?)[:;.,]?
    + ?[Ee]xpect
    +(?:ed|ing) (?P<need>[^\n]{2,120}?)[,;]? (?:but )?(?:got|found|received|is)\b:? ?(?P<value>[^\n]{1,160}?)\.?$
unless = CUDA|NCCL|same device|byte|HTTP|JSON|scalar type
values =
    advice of need: .*(?:shape|dim|size|rank|\[|tensor|channel|token|image) => Compare the input's shape with what that
    + line
    + expects: weights, configuration and program must be of one model and release
    advice of need: . => Correct it in the call, the command or the configuration, or use the release for which that
    + was written
uncertain = yes
cause = The program expects {need}, but got {value}[ ({what})].
remedy = {advice}.

[value-unknown]
keys =
    nsupported
    nknown
    nrecognized
    nvalid
    nexpected
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|\s*(?:Value error|Assertion failed),) (?:[\w.-]+: )?(?:Unsupported|Unknown
    +|Unrecognized|Invalid|Unexpected|unsupported|unknown|invalid) (?P<what>[a-zA-Z][\w /-]{2,60}?)(?:: ?|=| (?=[`'\"]))
    +[`'\"]?(?P<value>[^\n`'\"]{1,120}?)[`'\"]?(?: for [^\n]{2,80})?\.?$
unless = CUDA|NCCL|\[Errno|https?://|argument
values =
    advice of what: .*(?:model|layer|architecture|rope|config|quant|attention) => Use a newer release of the program,
    + which
    + knows it, or a model (or a revision of it) that this release supports
    advice of what: (?:.* )?(?:token|key|credentials?)$ => Create a new one on the service's page, and set it again
    advice of what: . => Correct it, or use the release of the program that has it; its documentation or --help lists
    + the values
uncertain = yes
cause = This release of the program does not know this {what}: {value}.
remedy = {advice}.

[value-must-be]
keys =
    must be
    should be
    has to be
    must contain
    should contain
    must have
    should have
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|\s*(?:Value error|Assertion failed),) (?P<what>[^\n]{2,120}?)
    + (?P<need>(?:must
    +|should|has to) (?:not )?(?:be|contain|have) [^\n]{2,160}?)(?:[,;.:]? (?:[Bb]ut
    + )?(?:(?:got|found|received|was|is|found
    +|given):? )(?P<value>[^\n]{1,120}?))?\.?(?: \[type=[^\n]*)?$
unless = /|NoneType|nsupported|Traceback|CUDA|NCCL
values =
    source of what: .*(?:config|layer|head|hidden|vocab|rope) => If the model's config.json has it, use the
    + release of the program that the model's page names, or another revision of the model
    source of what: . => Correct it in the call, the command or the configuration, whose documentation lists the values
uncertain = yes
cause = The program checks its input, and this does not fit: {what} {need}[, but it is {value}].
remedy = {source}.

[setting-required]
keys =
    requires
    require
pattern =
    \A(?:\W*(?:\w+\.)*\w*(?:Error|Exception):|\s*(?:Value error|Assertion failed),) (?P<what>[^\n]{2,160}?),?
    + (?:requires?
    +|needs) [`'\"(]?(?P<need>-{0,2}[a-z][\w.-]*[`'\"]? ?(?:=|to be (?:set|enabled)|set to|is set)[^\n]{0,120}?)[.)]?(?:
    + \[type=[^\n]*)?$
uncertain = yes
cause = Two settings do not fit: {what} requires {need}.
remedy = Set that ({need}), or leave out what needs it.

[thing-not-found]
keys =
    nable to find
    ould not find
    annot find
    ailed to find
    ailed to locate
    nable to locate
    ould not locate
pattern =
    (?i:unable to|could not|cannot|failed to) (?:find|locate) (?:(?!package)[a-z]+ ){0,3}?'(?P<name>[^'\n]{2,160})'
    (?i:unable to|could not|cannot|failed to) (?:find|locate) (?:[a-z]+ ){0,3}?(?P<path>/[^\s:,;'")]{2,200})
uncertain = yes
values =
    advice of name: .*[^/:]/ => Check whether it exists for the account and in the container that the program runs in
    + (ls -l): correct the path, mount its directory (-v), or create or download it first
    advice of name: . => Compare the name with those that exist (the program's own list or --help): correct it, or
    + install or enable what provides it
    advice of path: . => Check whether it exists for the account and in the container that the program runs in (ls
    + -l): correct the path, mount its directory (-v), or create or download it first
cause = The program looks for [{name}][{path}], which does not exist.
remedy = {advice}.
source = clearml/clearml-serving#3

[limit-passed]
keys =
    er than
    less than
    more than
    xceeds
pattern =
    \A(?:\W*|any\.)(?:\w+\.)*\w*(?:Error|Exception): (?:[^\n:]{1,60}: )?(?P<large1>[A-Za-z][^\n()\d:]{1,70}?) ?[ =(]
    + ?(?P<high1>\d+(?:\.\d+)*(?: ?(?:[KMGT]i?B|tokens|bytes|%))?)\)? (?:is |are
    + )?(?:(?:greater|larger|longer|bigger|higher|more) than|exceeds)(?: the| your)? (?P<small1>[^\n()\d:]{2,80}?) ?[
    + =(] ?(?P<low1>\d+(?:\.\d+)*(?: ?(?:[KMGT]i?B|tokens|bytes|%))?)\)?(?![\w.]*\w)
    \A(?:\W*|any\.)(?:\w+\.)*\w*(?:Error|Exception): (?:[^\n:]{1,60}: )?(?P<small2>[A-Za-z][^\n()\d:]{1,70}?) ?[ =(]
    + ?(?P<low2>\d+(?:\.\d+)*(?: ?(?:[KMGT]i?B|tokens|bytes|%))?)\)? (?:is |are )?(?:smaller|less|shorter|lower|fewer)
    + than(?: the| your)? (?P<large2>[^\n()\d:]{2,80}?) ?[ =(] ?(?P<high2>\d+(?:\.\d+)*(?:
    + ?(?:[KMGT]i?B|tokens|bytes|%))?)\)?(?![\w.]*\w)
values =
    gpus of small: .*\b(?i:gpus?|devices?)\b => A Spark has one GPU: set the number to 1 (--tensor-parallel-size 1), or
    + join the other Sparks first
    free of small: .*\b(?i:memory|vram|/dev/shm)\b => Free memory first (nvidia-smi, free -g; a container's
    + --shm-size), or lower the request
    both of small: (?!.*\b(?i:gpus?|devices?|memory|vram|/dev/shm)\b). => if a setting decides it, or lower
cause = Two numbers do not fit: {large} is {high}, but {small} is only {low}.
remedy = [{gpus}][{free}][Raise {small} to at least {high} {both} {large} to at most {low} (a name with underscores is
    an option with hyphens)].

[versions-apart]
keys =
    ompiled
    uilt
    ncompatib
    ismatch
    match
    upport
pattern =
    \A(?:\W*|any\.)(?:\w+\.)*\w*(?:Error|Exception): (?:Found )?(?:[Ii]nstalled )?(?P<package1>[A-Za-z][\w.-]{1,40})(?:
    + version)? ?[ =(v]+ ?(?P<have1>\d+\.\d[\w.+]*)\)?,? (?:but|is (?:incompatible|not compatible) with|(?:does|do) not
    + match|while) [^\n\d]{0,60}?(?P<side>[A-Za-z][\w.-]{1,40})[^\n\d]{0,50}?[ =(v]+(?P<need1>\d+\.\d(?:[\w.+]*\w)?)
    \A(?:\W*|any\.)(?:\w+\.)*\w*(?:Error|Exception): (?P<package2>[A-Za-z][\w.-]{1,40}) (?:was|is) (?:compiled|built)
    + (?:with|against|for) (?P<other2>[A-Za-z][\w.-]{1,40})(?: version)? ?[ =(v]+(?P<need2>\d+\.\d[\w.+]*)\)?,?
    + (?:but|and) [^\n\d]{0,60}?[ =(v]+(?P<have2>\d+\.\d(?:[\w.+]*\w)?)
cause = Two versions do not fit: {package}[ was built for {other} {need}, but {have} is installed][ is {have}, but
    {side} is or needs {need}].
remedy = Install both in one command, in versions that belong together (pip index versions NAME lists them; pip check
    says what else they change): one is {have}, the other {need}.

[file-command-failed]
keys =
    : No such file or directory
    : File exists
    : Directory not empty
    : Is a directory
    : Not a directory
    : Text file busy
    : Invalid cross-device link
pattern =
    ^(?:/\S*/)?(?P<program1>cp|mv|rm|ln|mkdir|rmdir|install|tar|sed|grep|cat|head|tail|touch|du|ls|diff|chmod
    +|chown): +(?P<what1>[^\n:]{1,160}(?:: Cannot open)?): (?P<why1>No such file or directory|File exists|Directory
    + not empty|Is a directory|Not a directory|Text file busy|Invalid cross-device link)$
    ^(?:/\S*/)?(?P<program2>(?:ba|z|da)?sh): (?:line \d+: )?(?P<what2>(?:cd: )?[^\n:]{1,160}): (?P<why2>No such file
    + or directory|Is a directory|Not a directory)$
uncertain = yes
values =
    advice of why: No such => A relative path starts in the directory where the command runs (pwd; in a Dockerfile,
    + WORKDIR, with only the copied files): check it with ls, and look above for the earlier step that should have
    + created it
    advice of why: (?:File exists|Directory not) => Remove it first if it is not needed, or use the option that
    + accepts or replaces it (mkdir -p, ln -sfn, cp -rT)
    advice of why: Is a => Add -r, or name a file in it
    advice of why: Not a => A part of the path is a file: remove or rename that file
    advice of why: Text => End the program that runs from this file first
    advice of why: . => The two are on different file systems: use cp and rm, or a symbolic link
cause = {program} failed: {what} ({why}).
remedy = {advice}.
source = https://man7.org/linux/man-pages/man3/errno.3.html
"""
