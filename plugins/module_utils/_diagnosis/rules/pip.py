# __init__.py in this directory explains the fields.

"""pip

The packages that pip installs, and their sources.
"""

RULES = r"""
[pip-user-in-environment]
keys = Can not perform a '--user' install
pattern = (Can not perform a '--user' install)
cause = pip was run with --user in a virtual environment, or PIP_USER is set ({found}).
remedy = Remove --user, and unset PIP_USER (and user = true in pip.conf).

[pip-not-installed]
keys = : No module named
pattern = python[\d.]*: No module named (pip|venv|ensurepip|virtualenv)$
cause = This Python has no {found}.
remedy = Install python3-venv and python3-pip with apt and create an environment (python3 -m venv DIR), or use uv. Never
    use get-pip.py for the system's Python.

[wheel-invalid]
keys =
    has an invalid wheel
    is invalid.
pattern =
    (?P<package2>[\w.-]+) has an invalid wheel
    Wheel '(?P<package>[^'\n]+)' located at (?P<file>\S+) is invalid
cause = The wheel[ {file}] of {package} is damaged, or is not a wheel.
remedy = Remove it (pip cache purge), download or build it again, and compare its size and sha256.

[shell-glob]
keys = no matches found:
pattern = zsh: no matches found: (\S+)
cause = The shell interpreted the brackets of {found} as a file name pattern.
remedy = Put it in quotes ('{found}').

[poetry-keyring]
keys =
    Failed to unlock the collection
    SecretServiceNotAvailableException
pattern =
    (Failed to unlock the collection)
    (SecretServiceNotAvailableException)
cause = Poetry or pip asks the desktop's password store, which is locked or does not exist in this session, as over ssh
    ({found}).
remedy = Turn it off: export PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring (or permanently, poetry config
    keyring.enabled false).

[poetry-no-candidates]
keys = Unable to find installation candidates for
pattern =
    Unable to find installation candidates for (?P<package>\S+ \([^)\n]+\))(?:(?:\n[^\n]*){1,6}?does not support the
    + identified (?P<tags>[\w ]+?) tags)?
values =
    advice of tags: (?:abi|python) => Use a Python for which that version has wheels (poetry env use python3.12), or a
    + version of the package with wheels for this one; then lock again (poetry lock)
    advice of package: . => Use a version that has a wheel for aarch64 (for torch, the cu130 index as a source with
    + priority explicit; a version with +cpu is only on that index), and lock again here (poetry lock)
cause = Poetry's index or lock has no file of {package} for this Python on aarch64[: the {tags} tags of its wheels do
    not fit].
remedy = {advice}.
source = drmingler/docling-api#10

[poetry-hash]
keys =
    found in known hashes
    Invalid hashes (
    didn't match RECORD
pattern =
    Hash for (?P<package1>\S+ \([^)\n]+\)) from archive \S+ not found in known hashes
    Invalid hashes \([^)\n]+\) for (?P<package2>\S+ \([^)\n]+\))
    In \S*?(?P<package3>[^/\s]+\.whl), hash / size of (?P<file>\S+) didn't match RECORD
values =
    advice of file: . => The wheel itself lists another hash for that file: Poetry 1.4.1 and newer only warn about it
    + (poetry self update), or install this package with pip in Poetry's environment (poetry run pip install)
    advice of file: (?:) => Clear Poetry's cache (poetry cache clear --all .; rm -r ~/.cache/pypoetry/artifacts), and
    + lock again on this machine (poetry lock): the lock was written for another index or platform, or a download was
    + cut off
cause = Poetry refuses the file of {package}[ ({file})]: its hash is not the recorded one.
remedy = {advice}.
source =
    zylon-ai/private-gpt#1611
    python-poetry/poetry#7146
    OpenBB-finance/OpenBB#4558

[poetry-conflict]
keys = solving failed
pattern =
    ^ *(?:So, )?[Bb]ecause (?P<why>[^\n]+?),? version solving failed
    version solving failed
cause = Poetry found no versions that fit together[: {why}].
remedy = Loosen the constraint that it names in pyproject.toml, or use the release of one package that was made for the
    other.

[poetry-python]
keys =
    is not allowed by the project
    not compatible with some of the required packages Python
pattern =
    Python version \((?P<have>[^)\n]+)\) is not allowed by the project \((?P<need>[^)\n]+)\)
    supported Python range \((?P<have2>[^)\n]+)\) is not compatible with some of the required packages Python
    + requirement:(?:\s+- (?P<need2>[^\n]+?),? so it)?
cause = The project's Python ({have}) does not meet a requirement[, {need}].
remedy = Choose another interpreter (poetry env use python3.12), or narrow requires-python in pyproject.toml.

[poetry-lock-outdated]
keys =
    changed significantly since poetry.lock
    could not find a pyproject.toml
pattern =
    (changed significantly since poetry\.lock)
    (could not find a pyproject\.toml) file in (?P<place>\S+)
values =
    advice of found: could => Change to the project's directory (or poetry -C DIR)
    advice of found: . => Run poetry lock, and commit the file
cause = Poetry cannot continue: {found}[ in {place}].
remedy = {advice}.

[package-half-removed]
keys =
    .dist-info/METADATA
    .dist-info/RECORD
pattern = No such file or directory: '(?P<directory>\S+/(?P<package>\w[\w.]*)-\d[^/\s]*\.dist-info)/
cause = {package} was only partly removed or installed: {directory} lacks a file.
remedy = Remove that directory (rm -r {directory}) and the entries beside it that begin with ~, and reinstall {package}
    (pip install --force-reinstall --no-deps {package}). Run only one pip at a time.

[uninstall-of-apt]
keys =
    Cannot uninstall
    no RECORD file was found for
pattern =
    (?P<why2>no RECORD file was found) for (?P<package2>\S+?)\.?$
    Cannot uninstall '?(?P<package>[\w.-]+(?: \d[\w.]*)?)'?[,.] (?P<why>RECORD file not found|It is a distutils
    + installed project|The package's contents are unknown)
    Cannot uninstall (?P<package3>\S+ \d\S*)\s+\W*(?P<why3>It is a distutils installed project)
cause = pip may not replace {package}, which apt (or an old installer) installed ({why}).
remedy = Install into a virtual environment instead of the system's Python. In a disposable image, --ignore-installed
    installs a second copy.

[setuptools-older-than-python]
keys = 'ImpImporter'
pattern = module 'pkgutil' has no attribute '(ImpImporter)'
cause = The setuptools or pip in use is older than Python 3.12, which dropped {found}.
remedy = Upgrade them in the environment (python -m ensurepip --upgrade, then pip install -U pip setuptools), and use a
    release of the package that does not pin an old setuptools.

[requirements-file-missing]
keys = Could not open requirements file
pattern = Could not open requirements file: [^\n]*?'([^'\n]+)'
cause = There is no file {found} in the directory in which pip runs.
remedy = Change to the project's directory, or pass the file's path. In a Dockerfile, COPY it before RUN pip.

[package-name-retired]
keys = IS DEPRECATED
pattern = PROJECT '(?P<old>[\w.-]+)' IS DEPRECATED\.?\s+Please use '(?P<new>[\w.-]+)'
cause = The package {old} was renamed to {new}. It is now only a stub, whose installation fails on purpose.
remedy = Install {new} instead (pip install {new}), and use a release of the program that no longer requires {old}, or
    change its requirements.
source = unslothai/unsloth#10589

[requirement-invalid]
keys =
    Invalid requirement
    parse requirement in `
pattern =
    Invalid requirement: '([^'\n]+)'
    Couldn't parse requirement in '[^'\n]+' at position \d+(?:\n +Caused by: ([^\n]+))?
cause = A line of the requirements cannot be read ({found}).
remedy = Write it as NAME==VERSION (two equals signs, no spaces around the name). In a shell, quote it if it contains <
    or >.

[no-python-project]
keys = does not appear to be a Python project
pattern = (\S+) does not appear to be a Python project
cause = {found} has neither setup.py nor pyproject.toml, so pip cannot build it.
remedy = Use the directory that has one (some projects keep it in python/ or another subdirectory), and check that the
    clone is complete.

[venv-package-missing]
keys = virtual environment was not created successfully
pattern = virtual environment was not created successfully because (ensurepip) is not
cause = Python's {found} is not installed, so python3 -m venv cannot create an environment.
remedy = Install python3-venv (python3.12-venv for 3.12), and run it again; uv venv needs no such package.

[hash-mismatch]
keys = DO NOT MATCH THE HASHES
pattern =
    MATCH THE HASHES.*\n {4}(?P<package>.*?)(?: from (?P<url>\S+).*)?:?\n +Exp\w+ +\w+ +
    +(?P<expected>\w+(?:\n +Exp.*)*)\n +Got +(?P<got>\w+)
cause = The sha256 of {package} is {got}, but the requirements file or the index requires {expected}.
remedy = Run it again without the cache (--no-cache-dir), because a truncated download causes the same error. If it
    remains, find out what changed[ in {url}], and regenerate the requirements file (this collection's with
    playbooks/lock.yml).
source = Comfy-Org/ComfyUI-Manager#1645

[lsb-release-fails]
keys = Command '('lsb_release', '-a')'
pattern = CalledProcessError: Command '\('lsb_release', '-a'\)' returned non-zero exit status (?P<status>\d+)
cause = pip runs lsb_release to get the distribution's name, which fails here (exit status {status}).
remedy = Run lsb_release -a to see why (usually its python3 or apt-cache is not the distribution's), and repair or
    remove it (sudo apt remove lsb-release). Then upgrade pip, because a pip with distro 1.6 or newer works without it.
source = python-distro/distro#260

[pip-move-refused]
keys = due to an OSError: [('
pattern = due to an OSError: \[\('(?P<file>[^'\n]+)', '[^'\n]*', '\[Errno (?:1\] Operation not permitted|13\]
    + Permission denied)
uncertain = yes
cause = pip may not replace {file}: another account owns it, it is immutable (lsattr), or its file system does not keep
    owners, as in a rootless container or on a network share.
remedy = Install into your own environment (python3 -m venv), which does not replace the system's files.
source = pypa/pip#4730

[metadata-refused]
keys =
    has invalid metadata:
    Cannot process installed package
pattern =
    Requested (?P<package1>\S+)(?: \S+)*? from \S+ has invalid metadata: (?P<why1>[^\n]+)
    Cannot process installed package (?P<package2>\S+ \S+) [^\n]*because it has an invalid
    + (?P<why2>\w+):(?:\n\W*(?P<why3>[^\n]+))?
cause = The metadata of {package} does not follow Python's rules ({why}), so pip 24.1 and newer refuse it.
remedy = Use a newer release of it, whose metadata is corrected, or install the old one with pip install 'pip<24.1'. If
    one is installed, remove it first (pip uninstall with that older pip, or apt).
source = pypa/pip#12063

[requirement-not-pinned]
keys = must have their versions pinned with ==
pattern =
    versions pinned with ==\. These do not:\n\s+(?P<package1>\S+).*?\(from (?P<by>[^)(\n]+?)(?:->|\)| \()
    versions pinned with ==\. These do not:\n\s+(?P<package2>\S+)
cause = The package {package}[, which {by} needs,] is not in the requirements.
remedy = Renew the lock with playbooks/lock.yml, or add that package, pinned and with its hash.

[requirement-without-hash]
keys = Hashes are required in --require-hashes mode
pattern =
    Hashes are required in --require-hashes mode(?s:.*?)\n\s+(?P<package>\S+) --hash=
    Hashes are required in --require-hashes mode
cause = The package[ {package}] is required but has no hash.
remedy = Renew the lock with playbooks/lock.yml, or add that package, pinned and with its hash.

[wheel-name-invalid]
keys = is not a valid wheel filename
pattern =
    '?(?P<file1>[^\s'*]+\.whl)'? is not a valid wheel filename
    '?(?P<file2>[^\s'*]+\*[^\s']{0,99}\.whl)'? is not a valid wheel filename
values =
    advice of file: [^*]+\* => No file matches it: check that directory, and the log of the build that should have put a
    + wheel there; run that build again
    advice of file: . => Restore the file's own name (NAME-VERSION-PYTHON-ABI-PLATFORM.whl), because pip reads version
    + and platform from it
cause = {file} is not the name of a wheel.
remedy = {advice}.
source = h2oai/h2o4gpu#448

[wheel-of-another-platform]
keys =
    is not a supported wheel on this platform
    is incompatible with the current platform
pattern =
    (\S+\.whl) is not a supported wheel on this platform
    path dependency is incompatible with the current platform: (\S+\.whl)
values =
    advice of found: \S+-manylinux(?:1|2010|_2_(?:\d|1[0-6]))_aarch64\.whl => No Python accepts its tag, because aarch64
    + has no tag older than manylinux2014 (manylinux_2_17). Rebuild the wheel as manylinux2014_aarch64 with a newer
    + maturin or auditwheel, or as linux_aarch64 for your own hosts
    advice of found: . => Read its name: the tags must match the Python (cp312) and the machine (aarch64, not x86_64 or
    + win); use the wheel for this machine, or the Python for which it was built
cause = The wheel {found} is not for this platform.
remedy = {advice}.
source = McGill-NLP/nano-aha-moment#3
    explosion/tokenizations#21

[wheel-not-repaired]
keys =
    too-recent versioned symbols
    has an unsupported platform tag
pattern =
    auditwheel: error: cannot repair "(?P<wheel1>[^"\n]+)" to "(?P<tag1>[^"\n]+)" ABI because of the presence of
    + too-recent versioned symbols
    Binary wheel '(?P<wheel2>[^'\n]+)' has an unsupported platform tag(?: ?'(?P<tag2>[^'\n]+)')?
values =
    advice of wheel: .*manylinux(?:1|2010|_2_(?:5|12))_aarch64 => aarch64 has no tag that old: use manylinux2014_aarch64
    + (manylinux_2_17_aarch64) or newer
    advice of tag: linux_ => The index accepts only manylinux tags: repair it first (auditwheel repair --plat
    + manylinux_2_39_aarch64 for DGX OS's C library); for your own hosts, install the file itself
    advice of tag: . => Build it in that tag's image (quay.io/pypa/manylinux_2_28_aarch64), or request the tag of this
    + host's C library (--plat manylinux_2_39_aarch64 on DGX OS)
cause = The wheel {wheel} does not match its tag[ {tag}]: the host that built it has a newer C library, or the wheel was
    not repaired.
remedy = {advice}.
source = pypa/auditwheel#354

[wheel-library-not-copied]
keys = because required library
pattern = Cannot repair wheel, because required library '([^'\n]+)' could not be located
cause = auditwheel does not find {found}, which the wheel needs and which it must copy into it.
remedy = Add the library's directory to LD_LIBRARY_PATH for auditwheel, or leave the library out if the host or another
    wheel provides it (auditwheel repair --exclude {found}; for CUDA and PyTorch --exclude 'libcu*' --exclude 'libnv*'
    --exclude 'libtorch*' --exclude 'libc10*').
source = pytorch/pytorch#149471

[http-refused]
keys = HTTP error
pattern = HTTP error (?P<status>\d{3}) while getting (?P<url>https?://[^\s#]+)
cause = {url} answers HTTP {status}.
remedy = Check the URL, the server and the credentials.

[http-error]
keys = Max retries exceeded with url
pattern = host='(?P<host>[^'\n]+)', port=\d+\): .*? exceeded with url: (?P<path>\S+)\s.*'too many (?P<code>\d+) error
cause = {host} answers HTTP {code} for {path}.
remedy = Check the server and the proxy (sparkforge_proxies), and run again.

[index-unreachable]
keys =
    WARNING: Retrying
    Could not fetch URL
pattern =
    WARNING: Retrying .*?(?P<why1>Failed to resolve '[^'\n]+'|Name or service not known)(?:.*/(?P<package1>\S+?)/?$)?
    WARNING: Retrying .*?(?P<why2>Tunnel connection failed[^'\n]*|CERTIFICATE_\w+)(?:.*/(?P<package2>\S+?)/?$)?
    WARNING: Retrying .*?(?P<why3>Connection (?:refused|reset by peer|timed out))(?:.*/(?P<package3>\S+?)/?$)?
    WARNING: Retrying .*?(?P<why4>Network is unreachable|Read timed out|timed out)(?:.*/(?P<package4>\S+?)/?$)?
    Could not fetch URL \S+?/(?P<package5>[\w.+-]+)/?: (?P<why5>.*)
when = no-such-requirement
cause = pip could not reach its index[ for {package}]: {why}.
remedy = Check the network, DNS, the proxy (sparkforge_proxies), its CA (sparkforge_ca_certificate) and index_url, and
    run again.

[requirement-conflict]
keys = have conflicting dependencies
pattern =
    (Cannot install .+?) because these package versions have conflicting dependencies(?:\.?\s+The conflict is caused
    + by:\s+(?P<one>[^\n]+)\n\s+(?P<other>[^\n]+))?
values =
    advice of other: .*\(constraint\).*(?:nv\d\d|\+git) => The constraint keeps the image's own build, which no index
    + has: install the package without its dependencies (pip install --no-deps), or use the package's own image
    advice of found: . => Of the two, leave your version open (the unit's requirements, or a new lock with
    + playbooks/lock.yml), or use the release of one package that was made for the other
cause = The requirements conflict ({found})[: {one}, but {other}].
remedy = {advice}.
source = vllm-project/vllm-ascend#9225

[requirement-conflict-unnamed]
keys =
    have no matching distributions available
    ResolutionImpossible
pattern =
    in these conflicts have no matching distributions available for your environment:\s+(?P<package>[\w.-]+)
    (ResolutionImpossible)
uncertain = yes
values =
    advice of package: nvidia-\S+-cu1[12]$ => Remove the pins of nvidia-* packages from the requirements, because torch
    + installs those for its own CUDA, and install torch from the cu130 index
    advice of found: . => Read the lines above (The conflict is caused by), and of the versions that they name, leave
    + your own open
cause = The requirements conflict[, and no file of {package}, which they name, fits them, this Python and this machine].
    This part of the log does not name the conflict.
remedy = {advice}.

[pip-python-range]
keys = that require a different python version
pattern =
    versions that require a different python version: (?:[^\n]{0,1800}?; )?(?P<version>[\w.]+) Requires-Python
    + (?P<range>[^;\n]+)[^\n]{0,1800}\n(?:[^\n]*\n)?[^\n]*satisfies the requirement (?P<package>[\w.\[\]-]+)==
    +(?P=version)[ ;,]
    different python version: (?:[^\n]{0,1800}?; )?(?P<version2>[\w.]+) Requires-Python
    + (?P<range2>[^;\n]+)\n[^\n]*satisfies the requirement (?P<package2>[\w.\[\]-]+) \(from versions: none
cause = {package} {version} needs Python {range}, but this Python is outside that range.
remedy = Use a Python in that range (uv venv --python 3.12, python3.12 -m venv), or a version of {package} that supports
    this one.
source = Nerogar/OneTrainer#1088

[pip-too-deep]
keys =
    resolution-too-deep
    ResolutionTooDeep
pattern =
    error: (resolution-too-deep)
    ERROR: (ResolutionTooDeep)
cause = pip gave up, because the requirements leave so many versions open that it found no combination that fits
    ({found}).
remedy = Set lower bounds or exact versions for the packages that it tried most, install the release's own requirements
    or lock, or use uv pip install, whose resolver is faster.
source = https://pip.pypa.io/en/stable/topics/dependency-resolution/

[editable-hook-missing]
keys = missing the 'build_editable' hook
pattern = build backend (?:that )?is missing the '(build_editable)' hook
cause = pip install -e needs {found} from the build backend, but the setuptools in use is older than 64.
remedy = Upgrade setuptools (pip install -U pip setuptools), or install without -e.

[no-such-requirement]
keys =
    No matching distribution found for
    satisfies the requirement
pattern =
    satisfies the requirement (?P<package1>.*?) \(from versions: (?P<offered>[^)\n]*)\)
    (?:No matching distribution found for|satisfies the requirement) (?P<package2>\S+)
values =
    advice of package: (?:install|pip3?|uv)$ => The command has that word twice, or as a name: write pip install NAME
    advice of package: \S*requirements\S*\.txt$ => Write -r before the name of a file with requirements (pip install -r
    + requirements.txt)
    advice of package: decord(?!2) => There is no decord for aarch64: install decord2 instead, which has wheels for it,
    + or build decord from a git checkout
    advice of package: onnxruntime[-_]gpu => The package index had none for aarch64: use Microsoft's own package for
    + CUDA 13 and aarch64 (microsoft/onnxruntime#27944 names its index), onnxruntime for the CPU, or build it from
    + source (--use_cuda, CMAKE_CUDA_ARCHITECTURES=121)
    advice of package: xformers => xformers has no release with a wheel for aarch64: leave it out where the program can
    + use PyTorch's own attention (sdpa), or build it (TORCH_CUDA_ARCH_LIST=12.0 MAX_JOBS=8 pip install -v
    + --no-build-isolation git+https://github.com/facebookresearch/xformers.git)
    advice of package:
    + nvidia-(?:cublas|cuda-\w+|cudnn|cufft|curand|cusolver|cusparse|nccl|nvjitlink|nvtx|cufile)[\w-]*-cu12 => This list
    + was made for CUDA 12, usually on x86: remove the nvidia-… lines, and let torch bring its own (pip install torch
    + --index-url https://download.pytorch.org/whl/cu130)
    advice of package: nvidia-dali-cuda1[0-2]\d => Use nvidia-dali-cuda130, which has a wheel for aarch64
    advice of package: cupy-cuda1[0-2] => Use cupy-cuda13x, which has wheels for aarch64
    advice of package: faiss-gpu => faiss-gpu has wheels only for x86: use faiss-cpu, conda-forge's faiss-gpu, or build
    + it
    advice of package: (?i:pyqt5) => PyQt5 has no wheel for aarch64: use PyQt6, or sudo apt install python3-pyqt5 in an
    + environment with --system-site-packages
    advice of package: taichi => taichi has no wheel for aarch64 and this Python: leave it out, or build it from a git
    + checkout
    advice of package: bitsandbytes => bitsandbytes 0.46 and newer have wheels for aarch64: upgrade pip first (pip
    + install -U pip), which otherwise does not know their tag, and use such a release
    advice of package:
    + (?:mediapipe|open3d|usd-core|faiss-cpu|sgl-kernel|vllm|opencv-\S*|av|grain|ray|pyarrow|tensorflow)\b
    +[^=<~]*(?:==|<|~=)
    + => Newer releases of it have wheels for aarch64 and newer Pythons: raise the pin (pip index versions NAME lists
    + what fits here), or use a release of the project that does
    advice of package: (?:torch|torchvision|torchaudio)\b\S*\+cu(?!13) => PyTorch's index for that CUDA has no such
    + version for aarch64: use a version from the cu130 index (pip install torch --index-url
    + https://download.pytorch.org/whl/cu130)
    advice of package: torchcodec\b => Older releases of torchcodec have no wheel for aarch64: use 0.10 or newer with
    + its torch (pip install torchcodec --index-url https://download.pytorch.org/whl/cu130), or build that version from
    + a git checkout with FFmpeg's development packages
    advice of package: torchao\b => torchao has wheels for aarch64 from 0.10 on: use a newer one that fits the torch,
    + from the cu130 index (pip install torchao --index-url https://download.pytorch.org/whl/cu130), or build it from a
    + git checkout
    advice of package: (?:torch|torchvision|torchaudio)==(?:0|1|2\.[0-8])\b => The project pins an old PyTorch, which
    + has no code for a GB10 and no wheel for this Python or machine:
    + use a release of the project for torch 2.9 or newer, or change the pin (pip install torch torchvision --index-url
    + https://download.pytorch.org/whl/cu130; then install the project with --no-deps or the edited file)
    advice of package: triton\b => Older releases of Triton have no wheel for aarch64: use the release that the
    + installed torch requires (pip show torch), or build it from source
    advice of offered: none$ => The index has neither a wheel for this Python and machine nor a source archive, or does
    + not know the name: check the spelling, use another Python, the index that has it (--extra-index-url; index_url and
    + find_links of this collection) or a package that replaces it, or build it from a git checkout
    advice of package: . => Check which versions and wheels the index has (usually none for aarch64, or none for this
    + Python); use a version that has one, or the index that has it (--extra-index-url; index_url and find_links of this
    + collection), or build it from source
cause = pip found no {package} for this Python and machine (aarch64 on a Spark)[; the index offered {offered}].
remedy = {advice}.
source = efogdev/apollo#2

[pyproject-invalid]
keys =
    TOMLDecodeError
    Invalid TOML
    tomllib.
    invalid pyproject.toml
    Failed to parse `pyproject.toml`
pattern =
    Failed to parse '[^'\n]*pyproject\.toml'[^\n]*(?:\n +(?:Caused by: )?(TOML parse error[^\n]*))?
    TOMLDecodeError: ([^\n]+)
    Invalid TOML
    invalid pyproject\.toml
cause = A pyproject.toml cannot be read ({found}).
remedy = Correct the patch or edit that changed it.

[yaml-invalid]
keys =
    yaml.scanner.ScannerError
    yaml.parser.ParserError
    yaml.reader.ReaderError
    error converting YAML to JSON
    yaml: line
    yaml: unmarshal errors
pattern =
    yaml\.\w+\.\w+Error: (?P<why1>[^\n]+)(?:\n[^\n]*){0,3}?\n\s+in '(?P<file1>[^'\n]+)', line (?P<line1>\d+)
    yaml\.\w+\.\w+Error: (?P<why2>[^\n]+)
    yaml: line (?P<line3>\d+): (?P<why3>[^\n]+)
    yaml: (?P<why4>unmarshal errors:(?:\n\s+line \d+: [^\n]+)?)
cause = A YAML file cannot be read[: {file}][, line {line}] ({why}).
remedy = Correct that line or the one above it: indent with spaces (no tabs), put a space after a colon, and quote
    values that contain a colon, braces, # or @.
source = https://yaml.org/spec/1.2.2/

[pip-git-failed]
keys = did not run successfully
pattern = ^\W{1,12}(?P<command>git (?P<verb>\w+)[^\n]*?) did not run successfully
uncertain = yes
values =
    advice of verb: (?:checkout|rev-parse) => Correct the part after the @ in the requirement: that tag, branch or
    + commit is not in the repository (git ls-remote URL lists the tags and branches; write all 40 digits of a commit)
    advice of verb: submodule => Run that command by hand in a clone: a submodule's repository may have moved or need a
    + login
    advice of verb: . => Check the URL, the network and the login (git clone URL by hand shows git's own message)
cause = pip could not get a source with git: {command} failed.
remedy = {advice}.
source = nvidia-cosmos/cosmos-dependencies#11
"""
