# __init__.py in this directory explains the fields.

"""Signs of errors

The forms of lines that report an error, perhaps one, or only look like it. For the failures that no rule knows.
"""

RULES = r"""
# Lines that a tool itself marks as an error.
[error]
keys =
pattern =
    (?<![^\s:)│])(?:fatal |Fatal )?[Ee]rror(?:\[\w+\])?\s*:
    ^(?:[\s│╰─>]*|E {3,}|Exception in thread \S+ )(?:[\w]+\.)*\w*(?:Error|Exception)\b(?::|\s*$)
    ^\s*FATAL\b
    ^\s*Segmentation fault
    ^\s*Aborted
    ^\s*Killed
    ^\s*Illegal instruction
    ^\s*Bus error
    ^\s*Error!
    ^\s*Caused by:
    ^\s*╰─▶
    ^\s*Value error,
    ^panic:[ ]
    ^CUDA error
    : CUDA error
    (?<!\S)(?:fatal|FATAL|E|ERROR|CRITICAL|(?:nvcc|ptxas) fatal|LLVM ERROR)\s*:
    \bLLVM Fatal Error\b
    \bNCCL WARN\b
    \bXid \(
    \bBUG:[ ]
    \bOops:
    \b[Ff]atal error(?:,| in )
    CMake Error
    undefined reference to
    cannot find -l
    [Aa]ssertion [^\n]*failed
    memory exhausted
    terminate called
    final link failed
    file not recognized
    core dumped
    Error response from daemon
    NVRM: (?:Xid|API mismatch)
    NVIDIA-SMI has failed
    Kernel panic
    panicked at
    Failed to initialize NVML
    AER: (?:Multiple )?Uncorrectable
    (?<!\S)-E-[ ]
cause =
remedy =

# Lines that count as errors only if no tool reports a clearer one, because scripts also print them for mere attempts.
[perhaps]
keys =
pattern =
    : not found$
    command not found
    Permission denied
    unbound variable$
    [Ee]xec format error
    no matching manifest
    UCX +ERROR
    [Uu]n(?:caught|handled) exception
    \"statusCode\": ?50\d
    marked dead
    \bFail -[ ]
    \bFAIL\b(?![:= ]*0)
    \b(?:worker|process|[Ee]ngine) died\b
    ^curl: \(\d+\)
    ^\s*\u00d7[ ]
    ^Error (?:\w+ing|while|in|at|from|during)[ ]
    ^npm (?:ERR!|error)[ ]
    ^Err:\d+[ ]
    ^\W*(?:ERROR|error|FAIL(?:ED)?)\b(?!-)
    ^\[[EC] \d
    ^.{0,60}?[\[<(](?:ERROR|FATAL|CRITICAL)[\])>]
    ^(?:free|malloc|realloc)\w*\(\)
    ^corrupted[ ]
    ^double free[ ]
    !!! Exception during
    \bException Message:
    ^\s*(?:\w+\.)*RayTaskError\(
    (?:xception|rror|ailed|rashed)\b[^:\n]{0,60}: (?:\w+\.)*[A-Z]\w*(?:Error|Exception):[ ]
cause =
remedy =

# Words that also occur in harmless lines: such a line counts as an error only at the end of a log without other
# errors.
[loose]
keys =
pattern =
    \b[Ff]ailed\b
    \b[Cc]annot\b
    \b[Cc]ould not\b
    \b[Uu]nable to\b
    \b(?:not |[Uu]n)supported\b
    \bI/O error\b
    \bout of (?:memory|resource)
    \bnot a valid\b
    \bunauthorized\b
    \bdoes not exist\b
    \bnot compiled with\b
    \b[Rr]efused\b
    \btimed out\b
    \b[Ii]nvalid\b
    \bis missing\b
    \bdenied\b
    \bnot found\b
    \bfound: NO\b
    \b[Cc](?:ould|a)n't\b
    \b[Cc]an not\b
    \bdied\b
    \bcrashed\b
    \bincompatible\b
    \binsufficient\b
    \baborting\b
    \bno compatible\b
    \bnot permitted\b
    \b[Nn]o such file or directory\b
    \b[Rr]esource busy\b
    \b[Ii]nput/output error\b
    \bunrecognized\b
    \bunknown (?:shorthand )?(?:option|flag)\b
    \balready exists\b
    \bmismatch
    \b[Tt]imeout (?:waiting|expired|exceeded)
    ^(?:\w+\.)+[A-Z]\w+:[ ]
cause =
remedy =

# Lines that report the consequence of an error elsewhere.
[consequence]
keys =
pattern =
    FAILED:[ ]
    \*\*\* \[
    ninja: build stopped
    ld returned \d+ exit status
    error: [a-z]+(?:-[a-z]+)+$
    error: command '
    Failed (?:building|to build)
    non-zero (?:exit status|code)
    ERROR: Exception:
    errors? (?:occurred|detected in the compilation|generated)
    CMake build failed
    Encountered error while
    Could not build wheels
    could not compile `
    nvcc error while executing
    maturin failed
    compiling objects for extension
    [Cc]argo build finished
    through cargo
    build backend returned an error
    did not (?:run|complete) successfully
    [Ff]ailed to (?:build|prepare|start)\b
    failed \(exit status
    (?:[Ss]ee|read) [\w ]*(?:above|below)
    nitialization failed
    ChildFailedError
    Process(?:Raised|Exited)Exception
    EngineDeadError
    encountered a fatal
    (?:died|exited|terminated) unexpectedly
    exit code: \d+$
    ^failed: \[
    Sub-process \S+ returned
    FAILED! =>
    Generate step failed
    Error in inspecting model
    failed to be inspected
    Error raised in subprocess:
    complete standard error output:
    \b(?:exited|finished|completed) with (?:exit )?(?:code|status):? \[?(?!1(?:30|43)\b)[1-9]
    [Ee]xited \([1-9]
    repeated too quickly
    (?:exited on|terminated with) signal
    not expected\)
    gave up:[ ]
    ^checking for[ ]
    ^During handling of the above
    ^The above exception was
    ^Dumping[ ]
    ^\s*note:[ ]
    ^error\s*$
cause =
remedy =

# Lines that only look like errors: from `git describe` outside a repository, CMake's feature tests, pip's resolver,
# and containerd under Docker, which has its own networks.
[harmless]
keys =
pattern =
    not a git repository
    No names found, cannot describe
    no tag exactly matches
    No annotated tags can describe
    dependency resolver does not currently
    Warning:[ ]
    Wno-error
    failed=0
    errors?[=:] ?0\b
    Exception ignored in
    \bwarning:[ ]
    \bWARNING\b
    \b(?:0|no|No|zero) (?:tests? )?(?:errors?|failed(?! to)|failures)\b
    \bACPI (?:BIOS )?Error\b
    - RETRYING:[ ]
    cudaError\w+' in https
    asynchronously reported
    KeyboardInterrupt
    nv(?:Check|Assert)(?:Ok)?FailedNoLog
    failed to load cni during init
    Failed to import Triton kernels
    severity=Correct
    tainting kernel
    be preloaded
    \(non-fatal\)
    Failed to open libibverbs
    ^(?:64-bit library )?lib\S+: not found$
    ^[\s│]*-- (?!Configuring incomplete)
    ^W:[ ]
    ^\s*[a-z][\w-]* (?:warn|WARN)\b
    ^\s*WARN\b
    ^debconf:[ ]
    ^npm ERR! (?:Linux|argv|node)[ ]
    ^sudo: unable to resolve host
cause =
remedy =

# Failures that programs report at a harmless level.
[at-any-level]
keys =
pattern =
    not expected\)
    ^gave up:[ ]
    GGML_ASSERT\(
    to connect to GCS
    [Ee]ngine (?:core )?died
    " 500 Internal
    worker died
    exited with (?:code|status) (?!1(?:30|43)\b)[1-9]
    placement group of specs for (?:[6-9]\d|\d{3,}) s
cause =
remedy =

# Attempts that will be repeated, or that are allowed to fail.
[again]
keys =
pattern =
    \b[Ww]ill retry\b
    \bRetrying\b
    \bretrying\b
    \b[Rr]etry scheduled\b
    \bretries left\b
    \battempt \d
    (?m:^Connecting to .* connected\.$)
cause =
remedy =

# The wording of a program that continues without the failed part.
[goes-on]
keys =
pattern =
    \b[Ss]kip(?:s|ped|ping)?\b
    \b[Ff]alling back\b
cause =
remedy =

# The last line of a log that ends well.
[ends-well]
keys =
pattern =
    \b[Ss]uccessfully\b
    \b[Dd]one\b
    \b[Cc]ompleted?\b
    \b[Ss]tarted\b
    \b[Rr]eady\b
    \b[Ff]inished\b
    GUI go to:
    Found ninja-
cause =
remedy =

# The part of a message before the cause that it names at its end: no rule answers by that part alone. A retry
# has its own rules.
[before-cause]
keys =
pattern = ^(?!.*[Rr]etry).*?(?=\[SSL: CERTIFICATE_VERIFY_FAILED\]|\[Errno (?:-[235]|12|28)\] [CNT]|dial tcp:
    + lookup [^\s:]+|Could not resolve host|no space left on|CUDA out of memory)
cause =
remedy =
"""
