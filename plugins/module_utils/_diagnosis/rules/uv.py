# __init__.py in this directory explains the fields.

"""uv

Packages that uv finds in no index, and operations that uv does not support.
"""

RULES = r"""
[uv-wheel-musl]
keys = only has wheels for the following platform
pattern =
    You're on [\w ]+? \('(?P<tag>(?:linux|musllinux_\d+_\d+)_aarch64)'\), but '(?P<package>[\w.-]+)' \(v?(?P<version
    +>[^)\n
    +]+)\) only has wheels for the following platforms?:(?=[^;\n]*manylinux\w*_aarch64)(?![^;\n]*musllinux\w*_aarch64)
cause = The wheels of {package} {version} for aarch64 need glibc, but this system has musl, like Alpine (uv calls it
    {tag}).
remedy = Use a system or image with glibc (Ubuntu, or Debian's python:3.12-slim instead of -alpine), or build {package}
    from source.
source = astral-sh/uv#18169

[uv-wheel-glibc]
keys = only has wheels for the following platform
pattern =
    'manylinux_2_(?P<have>\d+)_aarch64'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels for the
    + following platforms?: [^\n]*?manylinux_2_(?P<need>\d+)_aarch64
cause = The wheel of {package} {version} for aarch64 needs glibc 2.{need}, but this system has 2.{have}.
remedy = Run it on a system with glibc 2.{need} or newer (Ubuntu 24.04 has 2.39), or use a version whose wheel fits.
source = astral-sh/uv#15310

[uv-wheel-python]
keys = only has wheels with the following Python
pattern =
    You're using (?P<python>[\w. ]+?) \('\w+'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels
    + with the following Python [\w ]+ tags?: (?P<tags>[^\n;]+)
cause = {package} {version} has wheels only for other Pythons than {python}: {tags}.
remedy = Use one of those Pythons (uv venv --python), or a version of {package} that has a wheel for this one.
source = google/oss-fuzz-gen#1226

[uv-wheel-platform]
keys = only has wheels for the following platform
pattern =
    You're on [\w ]+? \('(?P<tag>(?![^'\n]*_aarch64)[^'\n]+)'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\)
    + only has wheels for the following platforms?: (?P<have>[^\n;]+)
cause = This machine is {tag}, but the index or lock in use has {package} {version} only for {have}.
remedy = Check {package}'s page on the index. If it has no file for this machine, use another index or version (or build
    it). If it has one, lock again so that this machine is included (uv lock; tool.uv.required-environments names the
    required ones).
source = astral-sh/uv#11418

# Rules below share these values.
[packages-without-aarch64]
values =
    advice of found: decord(?!2) => There is no decord for aarch64: use decord2, which has wheels for it, or torchcodec
    advice of found: onnxruntime[-_]gpu => The package index had none for aarch64: use Microsoft's own package for CUDA
    + 13 and aarch64 (microsoft/onnxruntime#27944 names its index), or onnxruntime for the CPU
    advice of found: torchcodec => Use torchcodec 0.10 or newer with its torch, which has wheels for aarch64, and raise
    + the pin in pyproject.toml
    advice of found: xformers => xformers has no release with a wheel for aarch64: leave it out where the program can
    + use PyTorch's own attention (sdpa), or build it (TORCH_CUDA_ARCH_LIST=12.0 MAX_JOBS=8 pip install -v
    + --no-build-isolation git+https://github.com/facebookresearch/xformers.git)
    advice of found: nvidia-dali-cuda1[0-2]\d => Use nvidia-dali-cuda130, which has a wheel for aarch64
    advice of found: cupy-cuda1[0-2] => Use cupy-cuda13x, which has wheels for aarch64
    advice of found: faiss-gpu => faiss-gpu has wheels only for x86: use faiss-cpu, conda-forge's faiss-gpu, or build it
    advice of found: (?i:pyqt5) => PyQt5 has no wheel for aarch64: use PyQt6, or sudo apt install python3-pyqt5 in an
    + environment with --system-site-packages
    advice of found: taichi => taichi has no wheel for aarch64 and this Python: leave it out, or build it from a git
    + checkout

[uv-no-wheel]
keys =
    have a source distribution or wheel for the current platform
    only has wheels for the following platform
pattern =
    Distribution '?`?([^\s@`]+) @ [^`\n]*`? can't be installed because it doesn't have a source distribution o
    +r wheel for the current platform
    You're on [\w ]+? \('\w*_aarch64'\), but '([\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels for the following
    + platforms?:(?![^;]*linux\w*_aarch64)
values =
    as in packages-without-aarch64
    advice of found: torch\w*==.*\+cu12[0-8] => PyTorch's index for that CUDA has none for aarch64: use the cu130 build
    advice of found: . => Lock again here (uv lock --upgrade-package NAME) with a version that has a wheel for aarch64
    + (uv looks for one if aarch64 is in tool.uv.required-environments), exclude the package there with a marker
    + (platform_machine != 'aarch64'), or build it from its repository
cause = uv has no file of {found}[ {version}] for this machine: its index, or a lock from elsewhere, lists none for it.
remedy = {advice}.
source = Lightricks/LTX-2#256

[uv-python-range]
keys =
    does not satisfy Python
    incompatible with the project's Python requirement
pattern =
    resolved to (?P<have2>Python [\d.]+\d), which is incompatible with the (?P<package2>project
    +)'s Python requirement: '(?P<need2>[^'\n]+)'
    (?P<have>the (?:requested|current) Python version \([^)\n]+\)) does not satisfy (?P<need>Python\S+) and
    + (?P<package>\S+)
cause = {package} needs {need}, which {have} does not meet.
remedy = Use a Python in that range (uv venv --python 3.12), or raise requires-python in pyproject.toml, because uv
    resolves for all versions that it allows. Or use a version of the package for the older Python.

[uv-prerelease]
keys = but pre-releases weren't enabled
pattern =
    Pre-releases are available for '(?P<package>[^'\n]+)' in the requested range \(e\.g\., (?P<version>[^)\n]+)\)
cause = The requested range of {package} has only pre-releases ({version}), which uv uses only if you request them.
remedy = Run it with --prerelease=allow, or request the version ({package}=={version}). For a project, set prerelease =
    "allow" below [tool.uv].

[uv-first-index]
keys = but not at the requested version
pattern =
    '(?P<package>[^'\n]+)' was found on (?P<index>\S+?),? but not at the requested version(?: \((?P<need>[^)\n]+)\))?
cause = uv uses {package} only from the first index that has it, {index}, which has no version that fits[ ({need})].
remedy = Bind PyTorch's packages to PyTorch's index and leave the rest to the package index (explicit = true with
    tool.uv.sources), or pass --index-strategy unsafe-best-match if you trust all indexes.
source = https://docs.astral.sh/uv/concepts/indexes/

[uv-conflict]
keys =
    No solution found when resolving dependencies
    Because
pattern =
    No solution found when resolving dependencies[^\n]*:\s+\S+ Because ((?:(?!there is no version|no version of|only
    + |has no wheels)[^\n])* depends on [^\n,]+)
    \bBecause ((?:(?!no versions?\b|no wheel|not found|we can)[^\n]|\n(?!\n\n)){3,200}?\sdepends\s+on (?:(?!no
    + versions?\b|no wheel|not found|we can)[^\n]|\n(?!\n\n)){3,200}?\s(?:depends\s+on|you\s+require)\s+[^\s,]+)
cause = uv found no versions that fit together: {found}.
remedy = Leave one of the versions open, or use the release of one package that was made for the version of the other
    that you need.
source = astral-sh/uv#6907

[uv-conflicting-urls]
keys = contain conflicting URLs for package
pattern =
    contain conflicting URLs for package '(?P<package>[^'\n]+)'[^\n]*(?:\n[^\n]*?- (?P<one>\S+)\n[^\n]*?-
    + (?P<other>\S+))?
cause = uv received two files of {package}[: {one} and {other}].
remedy = Remove the older file from that directory (an earlier build leaves its wheels there), or name one in the
    requirements.
source = eugr/spark-vllm-docker#54

[uv-no-version]
keys =
    there is no version of
    there are no versions of
pattern =
    there (?:is no version|are no versions) of (?P<package>[\w.-]+(?:\[[\w,.-]*\])?)(?:\{[^}\n]*\})?(?:==)?(?P<version>[
    +^\s,]+)?
values =
    advice of version: \S+\+cu\d+ => leave +cu out, because such versions are only on PyTorch's index for that CUDA
    + (cu130 on a Spark)
    advice of package: . => use a version that the index has
cause = The index that uv uses for {package} does not have it[ in version {version}]: uv uses the first index that has
    any version of a package.
remedy = Bind the package to the index that has that version (tool.uv.sources), put that index first, pass
    --index-strategy unsafe-best-match if you trust all indexes, or {advice}.
source = astral-sh/uv#10604

[uv-wheel-python-tag]
keys =
    no wheels with a matching Python
    no wheels are available with a matching Python
pattern =
    (?P<package>[\w.-]+(?:==[\w.+!]+)?)\s+ha(?:s|ve)\s+no wheels (?:are available )?with a matching Python
    + (?:(?:ABI|implementation|version )?\s*tag|implementation)(?: \(e\.g\., '(?P<tag>[^'\n]+)'\))?
cause = {package} has no wheel for the Python in use[ ({tag})], which is newer or older than those for which the release
    was built.
remedy = Use a Python for which it has wheels (uv venv --python 3.12), or a release that supports this one.
source = astral-sh/uv#10236

[uv-no-matching-wheel]
keys =
    no wheels with a matching
    no wheels are available with a matching
pattern =
    only (\S+) is available and[\s\S]{0,80}?no wheels with a matching\s+platform tag(?:\s+\(e\.g\., '(?P<tag1>[^'\n]+))?
    \ball versions of (\S+) (?P<all>have)\s+no wheels with a matching platform\s+tag(?:\s+\(e\.g\., '(?P<tag3>[^'\n]+))?
    (?:^|\s)(\S+) has\s+no wheels with a matching(?: platform tag \(e\.g\., '(?P<tag2>[^'\n]+))?
    (\S+) is unusable because no wheels are available with a matching
cause = The index in use has no wheel of {found} for this machine.
values =
    advice of tag: (?:linux|musllinux\w*)_aarch64 => This system has musl, like Alpine: use one with glibc (Ubuntu, or
    + Debian's python:3.12-slim), or build it
    advice of tag: \w*(?:x86_64|amd64|win32|macosx) => Use another version, or an index that has it for such a machine
    as in packages-without-aarch64
    advice of found: (?:triton|torch(?:vision|audio)?)\b => Use torch 2.9 or newer from PyTorch's index cu130
    + (tool.uv.sources; uv pip install torch --index-url https://download.pytorch.org/whl/cu130): older releases have no
    + CUDA wheels for aarch64, and neither does their Triton
    advice of all: have => None of its versions has one: use an index or a URL that has a wheel for aarch64, build it,
    + or omit it (a newer release may have one)
    advice of found: . => Use another version or index that has a wheel for aarch64, or build it
remedy = {advice}.
source = astral-sh/uv#2538
    unslothai/unsloth#4446

[uv-package-unknown]
keys = was not found in the package registry
pattern = Because (?P<package>[\w.-]+(?:\[[\w,.-]*\])?) was not found in the package registry
cause = The index that uv uses has no package named {package}.
values =
    advice of package: (?:wheel|setuptools|numpy|ninja|cmake|packaging|pybind11|hatchling|cython|typing-extensions|jinj
    +a2|requests|pyyaml|scikit-build-core|meson-python)$ => The index in use, set with --index-url, has only PyTorch's
    + packages: use it in addition to the general one (--extra-index-url, or tool.uv.sources only for torch; uv pip
    + install --torch-backend=cu130), and use a version of the built package that has a wheel
    advice of package: . => Correct the name, or use the index that has it (--index URL, tool.uv.sources); for a project
    + that is only on GitHub, write git+https://…
remedy = {advice}.
source = astral-sh/uv#13099

[uv-only-versions]
keys = available and
pattern =
    Because only (?P<offered>\S[^\n]*?) (?:is|are) available and (?P<by>[^\n]+?) (?:requires?|depends on) (?P<need>\S[^\
    +n,]*)
cause = The index offers only {offered}, but {by} needs {need}.
remedy = Request an available version, or use the index that has the other (for torch, the cu130 index). For this Python
    and aarch64, an index may have fewer versions than its page shows.

[uv-timeout]
keys = Try increasing UV_HTTP_TIMEOUT
pattern = Try increasing UV_HTTP_TIMEOUT \(current value: (\d+s)\)
cause = A download by uv received no data for longer than its limit of {found}. This happens with large wheels (CUDA,
    torch) on a slow line.
remedy = Set UV_HTTP_TIMEOUT=600 and UV_CONCURRENT_DOWNLOADS=1 and run it again: finished files are kept.

[uv-environment-invalid]
keys =
    virtual environment already exists
    virtual environment directory
    virtual environment created from
pattern =
    virtual environment (?P<why2>already exists) at '(?P<path2>[^'\n]+)'
    virtual environment directory '(?P<path1>[^'\n]+)' cannot be used because (?P<why1>[^\n(]+)
cause = uv cannot use {path} for a new environment: it {why}.
remedy = Remove that directory if it contains nothing else, and run uv venv. An environment does not work if it was
    copied or moved from another host or path, or if its Python is gone.

[uv-conflicting-indexes]
keys = conflicting indexes for package
pattern = conflicting indexes for package '([^'\n]+)'
cause = tool.uv.sources binds {found} to two indexes that apply at the same time.
remedy = Give each index a marker that excludes the other (marker = "platform_machine == 'aarch64'"), or an extra with
    tool.uv.conflicts.

[uv-index-undeclared]
keys =
    references an undeclared index
    is not defined in the project's `optional
pattern =
    (?P<package>Package '[^'\n]+') references an undeclared index: '(?P<name1>[^'\n]+)'
    Extra '(?P<name2>[^'\n]+)' is not defined in the project
cause = pyproject.toml does not define {name}[, the index for {package}].
remedy = Define it there (an index as [[tool.uv.index]] with name = "{name}" and its url, an extra below
    [project.optional-dependencies]), or correct the name.

[uv-program-missing]
keys = Failed to spawn: `
pattern = Failed to spawn: '([^'\n]+)'
cause = uv run found no program {found} in the environment.
remedy = Add the package that has it (uv add, or uv run --with PACKAGE {found}), or run it as a module (uv run python -m
    {found}).

[uv-http]
keys =
    HTTP status client error
    HTTP status server error
pattern = HTTP status (?:client|server) error \((?P<status>\d{3})[^)\n]*\) for url \((?P<url>[^)\n]+)\)
values =
    advice of status: 40[13] => Set a login for this index (UV_INDEX_NAME_USERNAME and _PASSWORD, or ~/.netrc), or
    + correct its URL: some servers answer this way for a page that does not exist
    advice of status: 404 => Correct the URL of the index or file; if an index lists a file that does not exist, use
    + another release of the package
    advice of status: 429 => Wait, and run it again: the server limits the number of requests
    advice of status: 5 => Run it again later, because the server has a fault; until then use a mirror or another index
    advice of status: . => Check the URL of the index
cause = {url} answers HTTP {status}.
remedy = {advice}.
source = vllm-project/vllm#24876

[uv-lock-outdated]
keys = needs to be updated, but
pattern = The lockfile at '([^'\n]+)' needs to be updated, but '(?P<option>[^'\n]+)' was provided
cause = {found} no longer matches pyproject.toml, and {option} prevents uv from changing it.
remedy = Run uv lock and commit the result, or check out the lock for this pyproject.toml. Another version of uv may
    also write another lock.

[uv-too-old]
keys =
    Required uv version
    Failed to parse `uv.lock`
pattern =
    Required uv version '(?P<need>[^'\n]+)' does not match the running version '(?P<have>[^'\n]+)'
    Failed to parse 'uv\.lock'(?s:.{0,300}?)(?P<what>unknown field '[^'\n]+)
cause = This uv[, {have},] is older than the project needs[: {need}][: its uv.lock has an {what}].
remedy = Update it (uv self update, or pip install -U uv; in an image, use a newer base).

[uv-file-missing]
keys =
    Distribution not found at: file
    No `pyproject.toml` found in
pattern =
    Distribution not found at: (?P<file1>file:\S+)
    No '(?P<file2>pyproject\.toml)' found in (?:current )?directory
values =
    advice of file: file:\S+(?<!\.whl)$ => The directory from tool.uv.sources does not exist: COPY it into the image, or
    + use the released package (uv sync --no-sources)
    advice of file: file: => Build or download that wheel first, and pass its path (in a container, the path inside)
    advice of file: . => Change to the project's directory, or pass it (uv --project DIR, --directory DIR)
cause = uv does not find {file}.
remedy = {advice}.

[uv-no-project-table]
keys = No `project` table found in
pattern = No 'project' table found in: '([^'\n]+)'
cause = {found} has settings but no [project] table, so uv sees no project in it.
remedy = Install its requirements without a project (uv pip install -r requirements.txt), or add the table ([project]
    with name, version and requires-python; uv init writes one).

[uv-no-environment]
keys = No virtual environment found
pattern = (No virtual environment found)
cause = uv pip installs only into a virtual environment, but found none ({found}).
remedy = Run uv venv first (and uv pip in the same directory), activate an environment, or pass one with --python. In a
    container image, use --system.

[uv-no-python]
keys =
    No download found for request
    No interpreter found for
pattern =
    No interpreter found for (Python \S+)
    No download found for request: (\S+)
cause = uv found no {found} on this host, and may not download one.
remedy = Run uv python install for that version (it needs the network, and python-downloads other than never), or allow
    another one in .python-version and requires-python.

[uv-environment-replaced]
keys = Removed virtual environment at
pattern = Removed virtual environment at: (\S+)
when =
    python-module-missing
    import-not-available
cause = uv replaced the environment {found} with a new one with the project's own Python and packages, so everything
    else that was installed there is gone.
remedy = Install it again, and start the program with that environment's python or with uv run --no-sync.

[uv-hash]
keys = Hash mismatch for
pattern = Hash mismatch for '([^'\n]+)'
cause = The hash of {found}'s file differs from the lock's.
remedy = Find out why: the index may have another build of the same version (a mirror's, or cu130's besides the package
    index's). Renew the lock for the index in use (uv lock), and run uv cache clean if a download was interrupted.
"""
