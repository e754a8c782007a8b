# __init__.py in this directory explains the fields.

"""Refusals of package managers and build tools

Messages with which pip, uv, cargo, CMake and others refuse a command or a project; each explains itself.
"""

RULES = r"""
[pip-refuses]
keys =
    activated virtualenv
    restricting platform and
    platform or abi specific
    must give at least one requirement
    ombine
    together
    to the user site
    uble requirement given
    not allowed as constraints
    hosted on PyPI
    archive format
    valid editable requirement
    inconsistent version
    inconsistent name
    [dependency-groups]
    build dependencies for
    script entry point
    Configuration file contains
    have a way to hash
    while executing command
    is not installable
    editable mode
    unknown command "
pattern =
    ^\W{0,20}(?:ERROR:? )*((?:Could not find an activated virtualenv|When restricting platform and|Can ?not use any
    + platform|You must give at least one requirement|Can ?not combine '|Cannot set \S+ and \S+ together|Will not
    + install to the user site|Double requirement given|Editable requirements are not allowed|Packages installed
    + from PyPI cannot|Cannot unpack file|Cannot determine archive format|\S{1,200} is not a valid editable
    + requirement|Requested \S+ (?:\S+ )?from \S+ has inconsistent (?:version|name)|\[dependency-groups\] |Some
    + build dependencies for|For req: \S+ Invalid script entry point|Configuration file contains|Can't verify hashes
    + for these|Error \[Errno \d+\] [^\n]*?while executing command|Directory '[^'\n]*' is not installable|File
    + 'setup\.py'[^\n]*editable mode|unknown command ")[^\n]*)
values =
    advice of found: Could not => Activate an environment (python3 -m venv .venv; . .venv/bin/activate):
    + PIP_REQUIRE_VIRTUALENV or pip.conf forbids pip outside one
    advice of found: When|Can ?not use => Add --only-binary=:all: and --target DIR, because pip cannot build for
    + another machine or Python
    advice of found: You => Name a package, or a file with -r (a variable of the script may be empty)
    advice of found: Can ?not combine|Cannot set => Leave out one of the two; PIP_USER, PIP_TARGET, PIP_PREFIX or
    + pip.conf may have set it (pip config debug)
    advice of found: Will => Leave out --user and upgrade that package in its environment, or use an environment of
    + your own
    advice of found: Double => Remove one of the two lines
    advice of found: Editable => Remove the lines with -e from the constraints
    advice of found: Packages => Install that package from its URL first, then this one with --no-deps
    advice of found: Cannot => Pass the address of a file (.whl, .tar.gz), git+https:// for a repository, or
    + --index-url for an index: that address is a web page, usually a login or an error
    advice of found: Requested \S+ .*version => Its version usually comes from git's tags: fetch them (git fetch
    + --tags), or set SETUPTOOLS_SCM_PRETEND_VERSION to the requested version
    advice of found: Requested => Request it by its own name (NAME @ URL; no other #egg=)
    advice of found: \S+ is not a valid => Write git+https://… or a path that begins with ./, and run pip in the
    + directory that contains that path
    advice of found: \[dep => Correct the group's name, or run the command where pyproject.toml defines that group
    advice of found: Some => Install these first (pip install), or leave out --no-build-isolation
    advice of found: For => Correct the package's entry point (NAME = module:function), or use another release
    advice of found: Conf => Correct that file (pip config debug lists the files)
    advice of found: Can't => Remove lines with git+ and paths from the file with hashes, and install them separately
    advice of found: Error => Install that program (apt install git), or pass a path that works
    advice of found: File => Upgrade pip and setuptools, which can install from pyproject.toml without setup.py
    advice of found: Dir => Name the directory that has pyproject.toml or setup.py (some projects keep it in
    + python/), or clone it completely
    advice of found: . => Run pip help for this pip's commands and options
cause = pip refuses this: {found}
remedy = {advice}.
source = https://github.com/pypa/pip/tree/main/src/pip/_internal

[uv-refuses]
keys =
    orkspace
    is not defined in
    declared conflicts
    Unable to find lockfile
    roken virtual environment
    Python interpreter at `
    Querying Python at
    wheel filename "
    does not match filename
    matches project name
    is shadowed by
    depends on itself
    marked as `--no-b
    source distributions
    to increase the timeout
    Bad CRC
    distutils-installed
    Cannot uninstall package
    is missing the `git+` prefix
    supported file extension
    File not found: `
    use `--force` to
    to be a TOML file
    network was disabled
    source distribution requires Python
    parse environment variable
    package manager and cannot update
    uv binaries installed via
    add a `[project]` table
    -checking is not supported
    must have a hash
    `git` not found
    using the `[project]` table
    required schema
    unsupported schema version
    `--find-links`
    evice or resource busy
    has no subdirectory
pattern =
    ^\W{0,20}(?:error: |Caused by: )?((?:'[^'\n]+' (?:is included as a workspace member|references a
    + workspace)|Workspace member '|Two workspace members|Package '[^'\n]+' not found in workspace|The workspace does
    + not have|(?:Extra|Default group|Group|Dependency group) '[^'\n]+' [^\n]*is not defined in|Extras? [^\n]*declared
    + conflicts|Unable to find lockfile|(?:The )?[Bb]roken virtual environment|Failed to (?:query|inspect) Python
    + interpreter|Querying Python at '|The wheel filename '|Wheel \w+(?: \w+)? does not match filename|Requirement name
    + '[^'\n]+'
    + matches|Distribution '[^\n]+marked as '--no-b|Building source distributions|Timeout \(\d+s\) when waiting for
    + lock|(?:[^\n]{0,120}: )?Bad CRC|Unable to uninstall '[^'\n]+'\. distutils|Cannot uninstall package|Direct URL
    + \(|Expected (?:direct URL|path|download URL) \(|File not found: '|Executables? [^\n]*'--force'|The file '[^'\n]+'
    + appears to be a TOML|Because [^\n]*network was disabled|The source distribution [^\n]*requires Python|Failed to
    + parse environment variable|uv was installed through an external|Self-update is only|Project is missing a
    + '\[project\]|Hash-checking is not|In '--require-hashes' mode|'git' not found|'pyproject\.toml' (?:is using
    + the|does not match the)|Failed to parse: 'uv\.lock', which uses|The source distribution '[^'\n]+' has no
    + subdirectory|Failed to read '--find-links'|failed to remove directory '[^\n]+ resource busy)[^\n]*)
    (?P<shadow>The (?:package|project|workspace member) '[^\n]+(?:is shadowed by|depends on itself)[^\n]*)
values =
    advice of found: (?:'|.*workspace).*(?:workspace) => Clone the complete repository (in a Dockerfile, COPY the
    + members too), name each member in tool.uv.sources as { workspace = true }, and its directory in
    + tool.uv.workspace.members
    advice of found: (?:Extra|Default|Group|Dep).*not defined => Correct its name: optional-dependencies are extras
    + (--extra), dependency-groups are groups (--group); perhaps another release has it
    advice of found: Extras? => Request only one of them (--extra instead of --all-extras)
    advice of found: Unable to find lock => Run uv lock first and keep uv.lock next to pyproject.toml (COPY both), or
    + leave out --frozen or --locked
    advice of found: (?:The )?[Bb]roken|Failed to (?:query|inspect)|Querying => Recreate the environment (rm -r .venv;
    + uv venv
    + --python 3.12; uv sync): its Python was removed or updated, or it was copied from another host
    advice of found: The wheel filename => Restore the file's original name (NAME-VERSION-PYTHON-ABI-PLATFORM.whl)
    advice of found: Wheel => Build it with that version (SETUPTOOLS_SCM_PRETEND_VERSION), or rename it as its
    + metadata says; UV_SKIP_WHEEL_FILENAME_CHECK=1 accepts it as it is
    advice of found: Requirement|The (?:package|project|workspace member) => Rename the project in pyproject.toml:
    + it has the name of the package that it needs
    advice of found: Distribution.*no-binary => Leave out --no-binary for it: it has only wheels
    advice of found: Distribution|Building => Allow its build (leave out --no-build, --only-binary, and no-build in
    + uv.toml), or use a version with a wheel for aarch64 and this Python
    advice of found: Timeout => Wait for or end the other uv (ps -ef | grep uv), which holds that lock; on NFS set
    + UV_CACHE_DIR to a local disk
    advice of found: .*Bad CRC => Remove the download (uv cache clean NAME) and run it again; if that does not help, a
    + proxy, the disk or the memory damages the file
    advice of found: Unable to un|Cannot un => apt or an old installer installed it: use a separate environment (uv
    + venv), or remove its files manually
    advice of found: Direct => Write git+ before the address
    advice of found: Expected => Pass the address of a file (.whl, .tar.gz), or of an index with --index
    advice of found: File => Change into the directory that has it; in a Dockerfile, COPY it first
    advice of found: Exec => Add --force, or remove the other program of that name first
    advice of found: The file => Name it with -r only if it lists requirements; install a project with uv pip
    + install DIRECTORY or uv sync
    advice of found: Because => Leave out --offline (UV_OFFLINE) once to fill the cache, or pass the files with
    + --find-links
    advice of found: The source dist.*Python => Use a Python in that range (uv venv --python 3.12), or an older
    + version of the package
    advice of found: Failed to parse env => Correct the variable's value (times are numbers of seconds)
    advice of found: uv was|Self => Update it in the way it was installed (pip install -U uv, brew, apt, a newer image)
    advice of found: Project => Add [project] with name and version to pyproject.toml, or use uv pip
    advice of found: Hash|In => Remove local paths from the file with hashes, and add a hash to every other line (uv
    + pip compile --generate-hashes)
    advice of found: .git. not => Install git (apt install git), also in the image
    advice of found: .pyproject => Add the field that it names to [project] (name; version or dynamic = ["version"])
    advice of found: Failed to parse: => Update uv, which wrote that file in a newer version (uv self update), or
    + recreate the lock
    advice of found: Failed to read => Create that directory of wheels, or correct its path (in a container, the
    + path inside it)
    advice of found: failed to rem => It is a mount of the container: mount the volume elsewhere, or let
    + UV_PROJECT_ENVIRONMENT name another directory
    advice of found: . => Correct the subdirectory or the tag in the address
cause = uv refuses this: {found}
remedy = {advice}.
source = https://github.com/astral-sh/uv/tree/main/crates

[conda-refuses]
keys =
    CondaValueError:
    EnvironmentFileNotFound:
    SpecNotFound:
    InvalidVersionSpec:
    InvalidMatchSpec:
    ClobberError:
    SafetyError:
    CommandNotFoundError:
    NotWritableError:
    ChecksumMismatchError:
    RemoveError:
    CondaEnvException:
    prefix does not exist
    Download error (
    PaddingError:
    NoBaseEnvironmentError:
    NotACondaEnvironmentError:
    LinkError:
    PlatformMismatchError:
    EnvironmentIsFrozenError:
    CorruptedEnvironmentError:
    not supported: /
    cannot execute native linux-
    lock-file not up-to-date
    project manifest
pattern =
    ^\W{0,20}(?:critical libmamba |Error:\s+\W\s)?((?:CondaValueError: (?:could not parse|You have chosen a non-default
    + solver|[^\n]*)|EnvironmentFileNotFound:|SpecNotFound:|InvalidVersionSpec:|InvalidMatchSpec:|ClobberError:|SafetyE
    +rror:|CommandNotFoundError:|NotWritableError:|ChecksumMismatchError:|RemoveError:|CondaEnvException: Pip
    + failed|Cannot activate, prefix does not exist|Download error
    + \(\d+\)|PaddingError:|NoBaseEnvironmentError:|DirectoryNotACondaEnvironmentError:|LinkError:|PlatformMismatchErro
    +r:|EnvironmentIsFrozenError:|CorruptedEnvironmentError:|(?:Error: )?Architecture x86_64 not supported|cannot
    + execute native linux-|lock-file not up-to-date|failed to parse (?:project|workspace) manifest)[^\n]*)
values =
    advice of found: (?:Env\w*NotF|SpecNot) => Change to the directory with that file, or name the file with conda env
    + create -f PATH (not conda create)
    advice of found: (?:CondaV\w+: could|Invalid) => Write the requirement as NAME=VERSION or "NAME>=VERSION" in quotes
    advice of found: CondaV\w+: You => Repair the solver (conda install -n base conda-libmamba-solver libarchive),
    + with CONDA_SOLVER=classic for that command
    advice of found: CondaV => Correct what it names
    advice of found: Clobber => Two packages contain the same file: install both from one channel (conda-forge,
    + nodefaults)
    advice of found: (?:Safety|Checksum|Corrupted|Download) => Check the network and the free space (df -h), remove
    + the cache (conda clean --packages --tarballs --index-cache) and run it again
    advice of found: CommandNot => Correct the command, or install the plug-in or mamba into base first
    advice of found: NotW => Use an environment and a cache of your own without sudo (conda create -p DIR;
    + CONDA_PKGS_DIRS)
    advice of found: Remove => Do that in an environment of your own, not in base
    advice of found: CondaEnvEx => Read pip's own lines above (ERROR:), or install that list manually with pip install
    + -r
    advice of found: Cannot => Correct the name (mamba env list), or create it first
    advice of found: Padding => Install conda into a shorter path
    advice of found: (?:NoBase|Directory) => Name an existing environment (conda env list), or create it at an empty
    + path
    advice of found: Link => Run it with -v for the script's own message; often the disk is full or the path is not
    + writable
    advice of found: (?:Plat|cannot ex|\W*(?:Error: )?Arch) => Use the installer or lock for linux-aarch64
    + (Miniforge3-Linux-aarch64.sh)
    advice of found: EnvironmentIs => Create an environment of your own: the owner has locked that one
    advice of found: lock => Run pixi install without --locked, and commit pixi.lock
    advice of found: . => Correct that file (pixi.toml; newer fields need a newer pixi: pixi self-update)
cause = conda, mamba or pixi refuses this: {found}
remedy = {advice}.
source = https://github.com/conda/conda/blob/main/conda/exceptions.py

[setuptools-refuses]
keys =
    error: can't copy '
    error: package directory '
    setup command:
    CMake executable
    must be installed to build
    Unrecognised metadata key
    No file/folder found for package
    must contain [
    requires LLVM
    Unable to pre-compile
    CandidateNotFound
pattern =
    ^\W{0,20}(?:[\w.]+(?:Error|Exception|Found): |\[\w+\]: )*((?:error: can't copy '|error: package directory '|error
    + in \S+ setup command:|Cannot find CMake executable|CMake must be installed to build|Unrecognised metadata
    + key|(?:The current project could not be installed: )?No file/folder found for package|configuration error: '\S+
    + must contain|Building llvmlite requires LLVM|Unable to pre-compile|Unable to find candidates for)[^\n]*)
values =
    advice of found: error: can't => An earlier step of the build did not create that file: look above for its own
    + error, and build from a complete checkout
    advice of found: error: package => Clone the project with its submodules, and run the command in the directory of
    + setup.py
    advice of found: error in \S+ setup command: use_2to3 => The package is for Python 2: use a newer release, or
    + setuptools<58 without build isolation
    advice of found: error in => The package declares a requirement that newer setuptools refuse: use a newer
    + release, or setuptools<66 for its build (PIP_CONSTRAINT)
    advice of found: .*CMake => Install CMake (pip install cmake ninja, or apt install cmake)
    advice of found: Unrec => Correct that key below [tool.flit.metadata]; newer projects use [project]
    advice of found: .*No file => Name the package in pyproject.toml (packages, with include = the directory), COPY
    + the source into the image, or install only the dependencies (poetry install --no-root)
    advice of found: conf => Add that key to [project] in pyproject.toml
    advice of found: Building llvm => Use an llvmlite (and numba) with a wheel for this Python, or install the LLVM
    + of that version (llvm-15-dev; LLVM_CONFIG=/usr/bin/llvm-config-15)
    advice of found: Unable to pre => Leave out that operation (DS_BUILD_OPS=0, or DS_BUILD_AIO=0 for a single one;
    + DeepSpeed compiles them at first use), or install the libraries that its warning above names (libaio-dev, ninja)
    advice of found: . => Check the name and the source that pyproject.toml sets for it; perhaps it has no file for
    + aarch64 and this Python
cause = The package's build refuses this: {found}
remedy = {advice}.
source = https://github.com/pypa/setuptools/tree/main/setuptools

[spack-refuses]
keys =
    cannot be satisfied by known versions of
    ==> Error:
pattern =
    (?P<what1>\S+: dependency on \S+ cannot be satisfied by known versions of [\w-]+)
    ==> Error: (?P<what2>[^\n]{8,300})
values =
    advice of what: \S+: dep => Update spack's packages (git pull in the repository), or request a version that they
    + contain
    advice of what: .*[Cc]ompiler => Let spack search for compilers (spack compiler find) after installing g++ and
    + gfortran
    advice of what: .*(?:[Pp]ackage|not exist) => Correct the name, or update spack's packages
    advice of what: (?i:.*(?:concretiz|unsatisf|conflict)) => Relax one of the requirements (spack spec -I NAME
    + shows the conflict)
    advice of what: . => Read the lines above and the build's log, whose path Spack prints
uncertain = yes
cause = Spack refuses this: {what}
remedy = {advice}.
source = spack/spack-packages#4809

[go-refuses]
keys =
    is not in std
    no required module provides package
    updates to go.mod needed
    missing go.sum entry
    does not contain package
    build constraints exclude all Go files
    cannot find main module
    checksum mismatch
    unknown revision
    inconsistent vendoring
    import cycle not allowed
    internal compiler error:
pattern =
    ^(?:go: |\S+\.go:\d+:\d+: |# )?((?:package \S+ is not in std|no required module provides package|updates to
    + go\.mod needed|missing go\.sum entry|module \S+ found \([^)\n]*\), but does not contain package|(?:imports
    + \S+: )?build constraints exclude all Go files|cannot find main module|verifying \S+: checksum mismatch|\S+:
    + invalid version: unknown revision|inconsistent vendoring|import cycle not allowed)[^\n]*)
    ^\S+\.go:\d+:\d+: (internal compiler error: [^\n]*)
values =
    advice of found: package => Correct the import, or use a newer Go, if it added that package (which go; go version)
    advice of found: (?:no req|missing|updates) => Run go mod tidy (or go get MODULE), and commit go.mod and go.sum
    advice of found: module => Name a version that contains it (go get MODULE@VERSION), or its new path
    advice of found: .*build => Build with CGO_ENABLED=1 and gcc installed, or with the tags (-tags) that these files
    + need: their build constraints exclude linux/arm64
    advice of found: cannot => Change into the directory of go.mod, or create one (go mod init NAME)
    advice of found: ver => Delete that module's download (go clean -modcache); if that does not help, its tag was
    + moved: name another version
    advice of found: \S+: inv => That commit or tag no longer exists, or the repository needs a login (GOPRIVATE)
    advice of found: incons => Run go mod vendor, or build with -mod=mod
    advice of found: import => Use another commit: this one cannot be built
    advice of found: . => Use another release of Go (go install golang.org/dl/goX.Y@latest): its compiler has a fault
cause = Go refuses the build: {found}
remedy = {advice}.
source = https://go.dev/ref/mod

[cargo-refuses]
keys =
    no targets specified
    failed to read `
    load manifest for workspace member
    manifest path `
    no such command: `
    already exists in destination
    nothing to install in
    determine which binary
    target named `
    any packages
    contain this feature
    contains these features
    contains this feature
    the checksum of
    link to native library
    in a workspace when it's not
    cyclic package dependency
    execute process `
    Unrecognized option: '
    compiled by an incompatible version
    is not a dependency
    revspec '
    object not found - no match
    failed to find branch
    failed to find tag
    authentication methods succeeded
    rustup is not installed
    rustc interrupted by
    ort does not provide
pattern =
    ^\W{0,20}(?:error(?:\[\w+\])?: |Caused by:\s+)?((?:no targets specified in|failed to read
    + '[^'\n]*Cargo\.toml'|failed to load manifest for workspace member|manifest path '|no such command: '|binary
    + '[^'\n]+' already exists|there is nothing to install|'cargo run' could not determine which binary|no
    + (?:bin|lib|example|test|library) target|package ID specification '[^'\n]+' did not match any packages|(?:the
    + package|none of the) [^\n]*(?:contain this feature|contains (?:these|this) feature)|failed to verify the
    + checksum of|multiple packages link to native library|current package believes it's in a workspace|cyclic
    + package dependency|could not execute process '[^\n]*never executed|Unrecognized option: '|found crate
    + '[^'\n]+' compiled by|feature '[^\n]+ is not a dependency|revspec '[^'\n]+' not found|failed to find
    + (?:branch|tag) '|object not found - no match|no authentication methods succeeded|rustup is not installed|rustc
    + interrupted by|ort does not provide prebuilt)[^\n]*)
values =
    advice of found: no targets => The crate's sources are missing: clone it completely; in a Dockerfile, also COPY
    + src (or an empty src/lib.rs for a layer with the dependencies)
    advice of found: failed to (?:read|load) => That member or path dependency is missing: clone the complete
    + repository with its submodules, and COPY it into the image
    advice of found: manifest => Pass the path of the Cargo.toml (--manifest-path; for maturin, manifest-path),
    + relative to the directory in which it runs
    advice of found: no such => Install it (cargo install cargo-NAME; for rustup's components, rustup component add)
    advice of found: binary => It is already installed: add --force to replace it
    advice of found: there => Name a package that contains a program, or add the crate to a project (cargo add)
    advice of found: .cargo run|no (?:bin|lib|ex|te) => Name one that it has (--bin NAME; cargo build --bin lists them)
    advice of found: package ID => Correct the name of -p (cargo metadata), and run it in the workspace that has it
    advice of found: (?:the package|none) => Name a feature that [features] of Cargo.toml lists, and choose the
    + member with -p; another release may use another name
    advice of found: failed to verify => Remove that crate from ~/.cargo/registry/cache and src, and fetch it again
    advice of found: multiple => Use one version of the -sys crate for both (cargo tree -i NAME-sys, cargo update)
    advice of found: current => Add it to members or exclude of the workspace, or put an empty [workspace] into its
    + Cargo.toml
    advice of found: cyclic => Remove that dependency from Cargo.toml
    advice of found: could not execute => Install that program, or unset RUSTC_WRAPPER (build.rustc-wrapper in
    + .cargo/config.toml)
    advice of found: Unrec => rustc is older than cargo: use both from one toolchain (rustup; which -a rustc cargo)
    advice of found: found crate => Run cargo clean: the target directory comes from another rustc
    advice of found: feature => Correct that line below [features]; the dependency was renamed or removed
    advice of found: (?:revspec|failed to find) => That commit, branch or tag no longer exists: run cargo update -p
    + NAME, or name one that the repository has
    advice of found: object => Remove the cached copy of that repository (uv cache clean; ~/.cargo/git) and fetch it
    + again, with a newer uv or cargo
    advice of found: no auth => Let git fetch it (export CARGO_NET_GIT_FETCH_WITH_CLI=true) with a login or key for
    + that repository, or use its https URL
    advice of found: rustup => Install it (https://rustup.rs), or run it with the HOME and CARGO_HOME of the account
    + that has it
    advice of found: rustc => Use more stack for its threads (RUST_MIN_STACK=16777216) and fewer jobs (cargo build -j
    + 2). If that does not help, use a newer Rust
    advice of found: . => Build ONNX Runtime for this machine and set ORT_LIB_LOCATION to it (with the feature
    + load-dynamic, ORT_DYLIB_PATH); or do without that feature
cause = cargo, rustc or git refuses this: {found}
remedy = {advice}.
source = https://github.com/rust-lang/cargo/tree/master/src/cargo

[maturin-refuses]
keys =
    kind of interpreter
    VIRTUAL_ENV and CONDA_PREFIX
    Cargo metadata failed
    Failed to find pip
    Cannot repair wheel
    patchelf
    find any interpreters
    forbidden librar
    Failed to copy cargo artifact
    nsupported Python interpreter
    symbols from versions
    cdylib
    is not a module
    python source path
pattern =
    ^\W{0,20}(?:Caused by: )?((?:Both VIRTUAL_ENV and|Cargo metadata failed|Failed to find pip|Cannot repair
    + wheel|[^\n]{0,60}(?:patchelf[^\n]*(?:not found|install|version))|Python interpreter should be a
    + kind|[^\n]{0,60}find any interpreters|Your library (?:is not|links)[^\n]*(?:forbidden librar|versioned
    + symbols)|[^\n]*too-recent symbols|Failed to copy cargo artifact|(?:Unsupported|The given list of) [Pp]ython
    + interpreter|[^\n]{0,80}(?:crate-type|cdylib)[^\n]*(?:missing|add|lib)|python source path '|[^\n]{0,60}is not a
    + module)[^\n]*)
unless = ModuleNotFoundError
values =
    advice of found: Both => Unset one of them (unset CONDA_PREFIX, or conda deactivate)
    advice of found: Cargo => Install Rust with rustup, put ~/.cargo/bin on PATH, and check that cargo metadata works
    + in this directory
    advice of found: Failed to find pip => Run maturin develop --uv, or install pip into the environment
    advice of found: .*patchelf => Install it (pip install maturin[patchelf])
    advice of found: Cannot => Put the directory of that library on LD_LIBRARY_PATH during the build, or build with
    + --auditwheel skip
    advice of found: .*interpreter => Name the interpreter (maturin build -i python3.12; with --target its name, not
    + its path), and use a newer maturin for a newer Python
    advice of found: (?:Your|.*symbols) => Build it in the image of that tag, or for this host only (--compatibility
    + linux, --skip-auditwheel). PyO3's feature extension-module removes the link to libpython
    advice of found: .*(?:cdylib|crate-type|copy cargo) => Make the crate a library for Python ([lib] crate-type =
    + ["cdylib"] in its Cargo.toml), and name that Cargo.toml with -m
    advice of found: . => Correct module-name and python-source below [tool.maturin] in pyproject.toml
cause = maturin refuses this: {found}
remedy = {advice}.
source = https://github.com/PyO3/maturin/tree/main/src

[compiler-refuses]
keys =
    redefinition of argument
    no input files
    No input files
    Could not open input
    targets unsupported OS
    nvlink error
    plugin needed to handle lto
    ecognise the format of
    : No such file or directory
    no such file or directory: '
    final link failed: bad value
pattern =
    nvcc fatal +: ((?:redefinition of argument|No input files|Could not open input|Host compiler targets)[^\n;]*)
    nvlink error +: ((?:Multiple definition|entry function)[^\n]*)
    (?:fatal error|error): (no input files)
    (?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+): error: (\S+: No such file or directory|no such file or directory: '[^\n]*)
    ^\S*(?:ar|ld|nm|strip|ranlib): (?:\S+: )?(plugin needed to handle lto|Unable to recogni[sz]e the format
    + of[^\n]*|final link failed: bad value)
values =
    advice of found: redef => An option is set twice: check NVCC_APPEND_FLAGS, NVCC_PREPEND_FLAGS, CUDAFLAGS and
    + CMAKE_CUDA_FLAGS as well as the build's own
    advice of found: [Nn]o input => A variable in the command is empty: check the complete command (make VERBOSE=1,
    + ninja -v)
    advice of found: Could => The directory for temporary files is full or was cleared during the build: set TMPDIR to
    + another one
    advice of found: Host => Use Ubuntu's own gcc (CC=gcc-13, NVCC_CCBIN=g++-13), not one for another target
    advice of found: Multiple => The same device code is linked twice: name every object and library only once
    advice of found: entry => Use the same -maxrregcount and __launch_bounds__ in all files, or none
    advice of found: plugin => Use gcc-ar, gcc-nm and gcc-ranlib (AR, NM, RANLIB), or build without -flto
    advice of found: Unable => Use that target's strip (aarch64-linux-gnu-strip), or build natively
    advice of found: final => Read the line of ld above it
    advice of found: . => The command names a file that does not exist: one that an earlier build step should have
    + created (build again with one job), one of a submodule, or part of a path with a space
cause = The compiler or linker refuses its command: {found}.
remedy = {advice}.
source = https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/

[cmake-file-not-read]
keys = CMake Error
pattern =
    CMake Error [^\n]*\n\s+(?P<what1>file (?:STRINGS|READ|COPY|SHA\w+|MD5)[^\n]*? (?:file|cannot find|cannot
    + read|find)[:]?\s+'(?P<file1>[^'\n]+)')
    CMake Error [^\n]*\n\s+(?P<what2>include could not find (?:requested|load) file):\s+(?P<file2>\S+)
    CMake Error [^\n]*\n\s+(?P<what3>Cannot find source file):\s+(?P<file3>\S+)
    CMake Error [^\n]*\n\s+(?P<what4>configure_file|File)\s[^\n]*?(?P<file4>\S+)\s+does\s+not\s+exist
    CMake Error [^\n]*\n\s+The imported target '[^'\n]+' (?P<what5>references the file)\s+'(?P<file5>[^'\n]+)'
    CMake Error [^\n]*\n\s+Imported target '[^'\n]+' (?P<what6>includes non-existent path)\s+'(?P<file6>[^'\n]+)'
values =
    advice of what: (?:references|includes) => The package of that …Config.cmake was partly removed or moved, or comes
    + from another host: reinstall its development package, and configure in an empty directory
    advice of file: /usr|/opt => Install the package with that file, headers included, or pass the directory that has
    + it (the project's -D…_ROOT or -D…_DIR)
    advice of file: . => Clone the project completely (git submodule update --init --recursive), at a release tag, and
    + pass the paths of parts outside it with their own options
cause = CMake does not find {file}, which the project names ({what}).
remedy = {advice}.
source = NVIDIA/TensorRT-LLM#1716

[cmake-refuses]
keys =
    CMake Error
    could not load cache
    missing CMakeCache.txt
pattern =
    CMake Error[^\n:]*(?: at [^\n]*\n\s+|: )(?P<what>(?:Could not create named generator|Cannot specify (?:link
    + libraries|include directories|compile \w+) for|No SOURCES given|Unknown CMake command '|file DOWNLOAD HASH|file
    + DOWNLOAD cannot|Each download failed|install TARGETS given no|install\(EXPORT|add_\w+ cannot create target|Cannot
    + determine link language|Error required internal CMake|(?:Cannot|Unable to) open (?:file for|cache file)|Could not
    + read presets|No such preset|Unknown argument|Parse error in|Generator given more than|The inter-target dependency
    + graph|execute_process failed|target_compile_features |Policy 'CMP|CMAKE_\w+_COMPILER not set|math cannot parse|if
    + given arguments|[a-z_]+ (?:sub-command [A-Z_]+[^\n]*(?:requires|needs)|called with incorrect|requires at
    + least)|The binary directory|Cannot (?:find|create) directory)[^\n]*(?:\n {2}\S[^\n]*){0,2})
    ^Error: (?P<what2>could not load cache|not a CMake build directory)
values =
    advice of what: (?:Could not create|Unknown arg|Parse|Generator|No such pre|Could not read) => Correct the
    + command line (cmake --help lists the generators, cmake --list-presets the presets)
    advice of what: Cannot specify => These options do not create that target: enable the part that does, or use
    + sources from one release
    advice of what: (?:No SOURCES|Cannot determine link) => The list of its sources is empty: clone the project with
    + its submodules, and enable the language that they are in
    advice of what: Unknown CMake command .pybind11 => Install pybind11 (pip install pybind11), and pass
    + -Dpybind11_DIR=$(python3 -m pybind11 --cmakedir)
    advice of what: Unknown CMake => The module or package that defines it was not found above: install that
    + package's development files, and clone the submodules
    advice of what: (?:file DOWN|Each) => Read the status below it, and run it again on a network that reaches the
    + server. If only the hash differs, the file is incomplete (remove it) or was replaced (use a newer release)
    advice of what: install => Set what the message names, or use a newer release of the project: its install rules
    + do not fit this CMake
    advice of what: add_\w+ cannot => Two parts create the same target: leave out the bundled copy or the installed
    + one, and configure in an empty directory
    advice of what: (?:Error required|CMAKE_) => Install the compiler of that language (build-essential, nvcc on
    + PATH), remove the build directory and configure again
    advice of what: (?:Cannot open|Unable|Cannot (?:find|create)) => Build in a directory that this account can
    + write (mkdir ~/build; cmake -S SOURCE -B ~/build); a directory from a run with sudo belongs to root
    advice of what: execute_process => Look above for the failure of the command that it ran, or run that command
    + manually
    advice of what: target_compile.*no known => Remove the build directory, and use a newer CMake: this one does not
    + know that compiler
    advice of what: target_compile => Use a newer compiler (g++-13: CC and CXX), in an empty build directory
    advice of what: (?:Policy|if given) => Use a newer CMake (pip install -U cmake), or an older release of the project
    advice of what: math => A version or size in that expression is not an integer: use a newer release of the
    + project, or set that value with its own option
    advice of what: (?:could|not) => Configure first (cmake -S . -B build), then cmake --build build, from that
    + directory
    advice of what: [a-z_]+ (?:sub-|req|call) => A variable in that line is empty, usually because something above
    + was not found: fix the first such message (-- Could NOT find, NOTFOUND), and configure in an empty directory
    advice of what: . => Use sources from one release, and configure in an empty directory
cause = CMake refuses this: {what}
remedy = {advice}.
source = https://github.com/Kitware/CMake/tree/master/Source

[ninja-refuses]
keys =
    ninja: error:
    ninja: fatal:
pattern =
    ninja: (?:error|fatal): ((?:[^\n]*multiple rules generate|[^\n]*chdir to|invalid -|[^\n]*Resource temporarily
    + unavailable|[^\n]*dupbuild|[^\n]*expected|[^\n]*duplicate rule|[^\n]*bad \$-escape)[^\n]*)
values =
    advice of found: .*(?:chdir|invalid) => Correct the command line: pass an existing build directory to -C and a
    + number to -j (perhaps MAX_JOBS is empty)
    advice of found: .*Resource => Use fewer jobs (-j 4, MAX_JOBS=4): the process limit (ulimit -u, the container's
    + pids limit) is reached
    advice of found: . => Remove the build directory and configure again; if that does not help, use another release
    + of the project or a newer CMake
cause = ninja refuses this: {found}
remedy = {advice}.
source = https://github.com/ninja-build/ninja/tree/master/src

[meson-refuses]
keys =
    ERROR: Meson version
    ERROR: Program '
    ERROR: Unknown option
    Python dependency not found
    contain a build file meson.build
    ERROR: Could not detect Ninja
    cannot compile programs
    are not runnable
    library '
    is buildable: NO
    is not one of the choices
    ERROR: Subproject
    ERROR: Tried to use unknown language
    ERROR: File
    ERROR: Compiler
pattern =
    ERROR: ((?:Meson version is|Program '[^'\n]+' not found|Unknown options?:|Python dependency not found|Neither
    + source directory|Could not detect Ninja|Compiler \S+ cannot compile|Executables created by|\w+
    + (?:shared|static|or| )*library '[^'\n]+' not found|Subproject \S+ is|Value '[^'\n]+'[^\n]*is not one of|Tried
    + to use unknown language|File \S+ does not exist)[^\n]*)
values =
    advice of found: Meson => Install a newer Meson (pip install -U meson ninja), and put it first on PATH
    advice of found: Program => Install that program (pip install cython, or the apt package of its name)
    advice of found: (?:Unknown|Value) => Leave out the option, or use a value that this Meson or this release of
    + the project knows (meson configure; pip install -U meson)
    advice of found: Python => Install python3-dev, and use the Python of the environment
    advice of found: Neither => Change into the directory with meson.build
    advice of found: Could => Install ninja-build (or pip install ninja)
    advice of found: (?:Compiler|Exec) => Read the compiler's message in meson-logs/meson-log.txt: CC, CFLAGS or
    + LDFLAGS name something that does not exist (conda sets them), or build-essential is missing
    advice of found: Subproject => Download its subprojects (meson subprojects download; git submodule update
    + --init), or install that library
    advice of found: File => Clone the project completely, with its submodules
    advice of found: . => Install its development package (apt-file search NAME), and pkg-config
cause = Meson refuses this: {found}
remedy = {advice}.
source = https://github.com/mesonbuild/meson/tree/master/mesonbuild

[command-name-empty]
keys = sh:
pattern = (?:^|\s|/)(?:ba)?sh: (?:line )?(?:\d+: )?(?P<option>--?\w[\w-]*): (?:command )?not found
cause = A command begins with {option}: the variable before it, which should name the program, is empty.
remedy = Check the complete command (make VERBOSE=1, ninja -v, bash -x), and name that program (for CMake,
    -DPYTHON_EXECUTABLE=$(which python3) and -DPython3_EXECUTABLE; otherwise CC, NVCC, PYTHON in the environment).
source = PaddlePaddle/Paddle#50763

[command-line-refused]
keys =
    cannot be used with '
    cannot be used multiple times
    unrecognized subcommand
    wasn't recognized
    for '-
    required arguments were not provided
    a value is required for '
    which wasn't expected
    Missing argument '
    Missing option '
    No such command '
    unexpected extra argument
    nrecognized option
    nknown option
    nvalid option
    requires an argument
pattern =
    (?:^|: +)(?:\W{0,20}error: )((?:the argument '[^\n]+cannot be used (?:with|multiple)|unrecognized subcommand '|The
    + subcommand '[^'\n]+' wasn't|invalid value '[^\n]* for '-|the following required arguments were not provided:\s+|a
    + value is required for '|Found argument '[^'\n]+' which wasn't)[^\n]*(?:\n\s+\[possible values: [^\n]+)?)
    ^\W{0,20}Error: ((?:Missing argument '|Missing option '|No such command '|Invalid value for '-|Got unexpected
    + extra argument)[^\n]*)
    ^[\w./ -]{1,40}: ((?:[Uu]nrecognized|[Uu]nknown|[Ii]nvalid) option:? (?:-- )?'?-?[^\n]{1,60}|option
    + '?-[^\n]{1,40}requires an argument[^\n]*)
values =
    advice of found: the argument.*multiple => Pass it only once
    advice of found: the argument => Leave out one of the two; a configuration file, an alias or a variable may set
    + the other
    advice of found: (?:unrec.*sub|The sub|No such) => Correct the command (--help lists those of this release), or
    + use the release that has it
    advice of found: (?i:invalid value) => Use a value that the message or --help names; a newer release may accept more
    advice of found: (?:the following|a value|Missing|option) => Add the missing part; a variable of the script may be
    + empty
    advice of found: . => Remove or correct it (--help lists this release's options), or use the release that has it
cause = The command line is refused: {found}
remedy = {advice}.
source = https://docs.rs/clap/latest/clap/error/enum.ErrorKind.html
"""
