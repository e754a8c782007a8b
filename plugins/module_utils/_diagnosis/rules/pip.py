# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""pip

What it is to install, and from where.
"""

RULES = r"""
[uv-wheel-glibc]
keys = only has wheels for the following platform
pattern =
    'manylinux_2_(?P<have>\d+)_aarch64'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels for the
    + following platforms?: [^\n]*?manylinux_2_(?P<need>\d+)_aarch64
cause = The wheel of {package} {version} for aarch64 needs glibc 2.{need}, and this system has 2.{have}.
remedy = Run it on a system with glibc 2.{need} or newer (Ubuntu 24.04 has 2.39), or take a version whose wheel fits.
source =
    astral-sh/uv#15310
    astral-sh/uv#12721

[uv-wheel-python]
keys = only has wheels with the following Python
pattern =
    You're using (?P<python>[\w. ]+?) \('\w+'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels
    + with the following Python [\w ]+ tags?: (?P<tags>[^\n;]+)
cause = {package} {version} has wheels only for other Pythons than {python}: {tags}.
remedy = Use a Python that is among them (uv venv --python), or a version of {package} that has a wheel for this one.
source =
    google/oss-fuzz-gen#1226
    ai4ce/INT-ACT#2
    astral-sh/uv#10236

[uv-no-wheel]
keys = have a source distribution or wheel for the current platform
pattern =
    Distribution '?`?([^\s@`]+) @ [^`\n]*`? can't be installed because it doesn't have a source distribution o
    +r wheel for the current platform
values =
    advice of found: torch\w*==.*\+cu12[0-8] => PyTorch's index of that CUDA has none for aarch64: take the cu
    +130 build
    advice of found: . => Take a version that has a wheel for aarch64, or make the lock again with aarch64 amo
    +ng tool.uv.environments or required-environments
cause = uv has no file of {found} for this machine: its index, or the lock that was made elsewhere, lists none for
    aarch64.
remedy = {advice}.
source =
    index-tts/index-tts#556
    mmcdermott/MEDS_EIC_AR#161
    pydantic/jiter#217

[uv-python-range]
keys = does not satisfy Python
pattern =
    (?P<have>the (?:requested|current) Python version \([^)\n]+\)) does not satisfy (?P<need>Python\S+) and
    + (?P<package>\S+)
cause = {package} needs {need}, and {have} does not fit.
remedy = Take a Python in that range (uv venv --python 3.12) or raise requires-python in pyproject.toml, for which all
    versions that it allows are resolved; or take a version of the package for the older Python.

[uv-conflict]
keys = No solution found when resolving dependencies
pattern =
    No solution found when resolving dependencies[^\n]*:\s+\S+ Because ((?:(?!there is no version|no version of|only )
    +[^\n])* depends on [^\n,]+)
cause = uv found no versions that go together: {found}.
remedy = Leave the version of one of them open, or take the release of the package that was made for the version which
    you need.
source =
    astral-sh/uv#6907
    mozhu621/LongGenBench#4

[uv-no-version]
keys =
    there is no version of
    there are no versions of
pattern =
    there (?:is no version|are no versions) of (?P<package>[\w.-]+(?:\[[\w,.-]*\])?)(?:\{[^}\n]*\})?(?:==)?(?P<version>[
    +^\s,]+)?
values =
    advice of version: \S+\+cu\d+ => leave +cu out, for such versions are only on PyTorch's index of that CUDA (cu130
    + on a Spark)
    advice of package: . => take a version that the index has
cause = The index from which uv takes {package} does not have it[ in version {version}]: uv takes each package from the
    first index that has any version of it.
remedy = Bind the package to the index that has that version (tool.uv.sources), put that index first, pass
    --index-strategy unsafe-best-match where you trust all indexes, or {advice}.
source =
    astral-sh/uv#10604
    vllm-project/vllm#19392
    https://docs.astral.sh/uv/concepts/indexes/

[uv-no-matching-wheel]
keys = no wheels with a matching
pattern =
    only (\S+) is available and[\s\S]{0,80}?no wheels with a matching\s+platform tag
    (?:^|\s)(\S+) has\s+no wheels with a matching
cause = The index in use has no wheel of {found} for this machine.
remedy = Take another version or index that has a wheel for aarch64, or build it.
source = eugr/spark-vllm-docker#21

[uv-package-unknown]
keys = was not found in the package registry
pattern = Because (?P<package>[\w.-]+(?:\[[\w,.-]*\])?) was not found in the package registry
cause = The index from which uv takes packages has none called {package}.
remedy = Correct the name, or give the index that has it (--index URL, tool.uv.sources); for a project that is only on
    GitHub write git+https://….
source =
    astral-sh/uv#13099
    botingw/rulebook-ai#61

[uv-only-versions]
keys = available and
pattern =
    Because only (?P<offered>\S[^\n]*?) (?:is|are) available and (?P<by>[^\n]+?) (?:requires?|depends on) (?P<need>\S[^\
    +n,]*)
cause = The index offers only {offered}, and {by} needs {need}.
remedy = Ask for a version that is there, or give the index that has the other (of torch: the cu130 index); for this
    Python and aarch64 an index may have fewer versions than its page shows.

[uv-timeout]
keys = Try increasing UV_HTTP_TIMEOUT
pattern = Try increasing UV_HTTP_TIMEOUT \(current value: (\d+s)\)
cause = A download of uv took longer than its limit of {found} without data, as of large wheels (CUDA, torch) on a slow
    line.
remedy = Set UV_HTTP_TIMEOUT=600 and UV_CONCURRENT_DOWNLOADS=1 and run it again: finished files are kept.

[uv-environment-invalid]
keys =
    virtual environment directory
    virtual environment created from
pattern = virtual environment directory '([^'\n]+)' cannot be used because (?P<why>[^\n(]+)
cause = uv does not use {found}: {why}.
remedy = Remove that directory if nothing else is in it, and run uv venv; one that was copied or moved from another host
    or path, or whose Python is gone, does not work.

[uv-conflicting-indexes]
keys = conflicting indexes for package
pattern = conflicting indexes for package '([^'\n]+)'
cause = tool.uv.sources binds {found} to two indexes that count at the same time.
remedy = Give each a marker that excludes the other (marker = "platform_machine == 'aarch64'"), or an extra with
    tool.uv.conflicts.

[uv-program-missing]
keys = Failed to spawn: `
pattern = Failed to spawn: '([^'\n]+)'
cause = uv run found no program {found} in the environment.
remedy = Add the package that has it (uv add, or uv run --with PACKAGE {found}), or run it as a module (uv run python -m
    {found}).

[pip-user-in-environment]
keys = Can not perform a '--user' install
pattern = (Can not perform a '--user' install)
cause = pip was told --user inside a virtual environment, or PIP_USER is set ({found}).
remedy = Leave --user out, and unset PIP_USER (and user = true in pip.conf).

[pip-not-installed]
keys = : No module named
pattern = python[\d.]*: No module named (pip|venv|ensurepip|virtualenv)$
cause = This Python has no {found}.
remedy = Install python3-venv and python3-pip with apt and make an environment (python3 -m venv DIR), or use uv; never
    get-pip.py for the system's Python.

[wheel-invalid]
keys = is invalid.
pattern = Wheel '(?P<package>[^'\n]+)' located at (?P<file>\S+) is invalid
cause = The wheel {file} of {package} is damaged, or is no wheel.
remedy = Remove it (pip cache purge) and download or build it again; compare its size and sha256.

[shell-glob]
keys = no matches found:
pattern = zsh: no matches found: (\S+)
cause = The shell took the brackets of {found} for a pattern of file names.
remedy = Put it between quotes ('{found}').

[poetry-no-candidates]
keys = Unable to find installation candidates for
pattern = Unable to find installation candidates for (?P<package>\S+ \([^)\n]+\))
cause = The index or the lock of Poetry has no file of {package} for this Python on aarch64.
remedy = Take a version that has a wheel for aarch64 (of torch the cu130 index as a source with priority explicit), and
    make the lock again here (poetry lock).
source =
    drmingler/docling-api#10
    python-poetry/poetry#10125

[poetry-conflict]
keys = solving failed
pattern =
    ^ *(?:So, )?[Bb]ecause (?P<why>[^\n]+?),? version solving failed
    version solving failed
cause = Poetry found no versions that go together[: {why}].
remedy = Loosen the constraint that it names in pyproject.toml, or take the release of the package that was made for the
    other.

[poetry-python]
keys =
    is not allowed by the project
    not compatible with some of the required packages Python
pattern =
    Python version \((?P<have>[^)\n]+)\) is not allowed by the project \((?P<need>[^)\n]+)\)
    supported Python range \((?P<have2>[^)\n]+)\) is not compatible with some of the required packages Python requiremen
    +t:\s+- (?P<need2>[^\n]+?),? so it
cause = The Python of the project ({have}) does not fit what is required: {need}.
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
cause = Poetry cannot go on: {found}[ in {place}].
remedy = {advice}.

[uv-http]
keys =
    HTTP status client error
    HTTP status server error
pattern = HTTP status (?:client|server) error \((?P<status>\d{3})[^)\n]*\) for url \((?P<url>[^)\n]+)\)
cause = {url} answers HTTP {status}.
remedy = Check the index's URL and its credentials; an index that lists a file which is not there needs another
    release.
source = vllm-project/vllm#24876

[uv-lock-outdated]
keys = needs to be updated, but
pattern = The lockfile at '([^'\n]+)' needs to be updated, but '(?P<option>[^'\n]+)' was provided
cause = {found} does not fit pyproject.toml any more, and {option} forbids uv to change it.
remedy = Run uv lock and commit the result, or check out the lock that belongs to this pyproject.toml; another version
    of uv may also write another lock.

[uv-no-environment]
keys = No virtual environment found
pattern = (No virtual environment found)
cause = uv pip installs only into a virtual environment, and found none ({found}).
remedy = Run uv venv first (and uv pip in the same directory), activate one, or name it with --python; in a container
    image --system is right.

[uv-no-python]
keys = No interpreter found for
pattern = No interpreter found for (Python \S+)
cause = uv found no {found} on this host, and may not download one.
remedy = Run uv python install for that version (it needs the network, and python-downloads other than never), or allow
    another one in .python-version and requires-python.

[uv-hash]
keys = Hash mismatch for
pattern = Hash mismatch for '([^'\n]+)'
cause = The file of {found} has another hash than the lock says.
remedy = Find out why: the index may have another build of the same version (a mirror's, or that of cu130 beside the
    package index's); renew the lock for the index that is used (uv lock), and run uv cache clean if a download was cut
    off.

[uninstall-of-apt]
keys =
    Cannot uninstall
    no RECORD file was found for
pattern =
    (?P<why2>no RECORD file was found) for (?P<package2>\S+?)\.?$
    Cannot uninstall '?(?P<package>[\w.-]+(?: \d[\w.]*)?)'?[,.] (?P<why>RECORD file not found|It is a distutils
    + installed project|The package's contents are unknown)
cause = pip may not replace {package}, which apt (or an old installer) put there ({why}).
remedy = Install into a virtual environment instead of the system's Python; in an image that is thrown away
    --ignore-installed puts a second copy beside it.

[setuptools-older-than-python]
keys = 'ImpImporter'
pattern = module 'pkgutil' has no attribute '(ImpImporter)'
cause = The setuptools or pip in use is older than Python 3.12, which dropped {found}.
remedy = Upgrade them in the environment (python -m ensurepip --upgrade, then pip install -U pip setuptools), and take a
    release of the package that does not pin an old setuptools.

[requirements-file-missing]
keys = Could not open requirements file
pattern = Could not open requirements file: [^\n]*?'([^'\n]+)'
cause = There is no file {found} in the directory in which pip runs.
remedy = Change into the project's directory, or name the file's path; in a Dockerfile COPY it before RUN pip.

[requirement-invalid]
keys = Invalid requirement
pattern = Invalid requirement: '([^'\n]+)'
cause = pip cannot read the requirement {found}.
remedy = Write it as NAME==VERSION (two equals signs, no blanks around the name); quote it in a shell where it has < or
    >.

[no-python-project]
keys = does not appear to be a Python project
pattern = (\S+) does not appear to be a Python project
cause = {found} has neither setup.py nor pyproject.toml, so that pip cannot build it.
remedy = Name the directory that has one (some projects keep it in python/ or another subdirectory), and see that the
    clone is complete.

[venv-package-missing]
keys = virtual environment was not created successfully
pattern = virtual environment was not created successfully because (ensurepip) is not
cause = Python's {found} is not installed, so that python3 -m venv makes no environment.
remedy = Install python3-venv (python3.12-venv for 3.12), and run it again; uv venv needs no such package.

[hash-mismatch]
keys = DO NOT MATCH THE HASHES
pattern =
    MATCH THE HASHES.*\n {4}(?P<package>.*?)(?: from (?P<url>\S+).*)?:?\n(?P<expected>(?: +Exp.*\n)+) +Got +(?P<got>\w+)
cause = The sha256 of {package} is {got}, but the lock says {hashes}.
remedy = Find out what changed[ in {url}], or renew the lock with playbooks/lock.yml; a truncated download looks the
    same, and the next run fetches it again.
facts = hashes
source =
    Comfy-Org/ComfyUI-Manager#1645
    rhasspy/wyoming-satellite#139

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

[wheel-of-another-platform]
keys = is not a supported wheel on this platform
pattern = (\S+\.whl) is not a supported wheel on this platform
cause = The wheel {found} is not for this platform.
remedy = Read its name: the tags must fit the Python (cp312) and the machine (aarch64; x86_64 and win are others); take
    the wheel for this one, or choose the Python that it was built for.
source = McGill-NLP/nano-aha-moment#3

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
keys =
    ResolutionImpossible
    have conflicting dependencies
pattern =
    (Cannot install .+?) because these package versions have conflicting dependencies
    ResolutionImpossible
cause = The requirements conflict ({found}).
remedy = See the conflicting requirements below, and loosen or pin the one that is yours (the unit's requirements, or a
    new lock with playbooks/lock.yml).
source = vllm-project/vllm-ascend#9225

[no-such-requirement]
keys =
    No matching distribution found for
    satisfies the requirement
pattern =
    satisfies the requirement (?P<package1>.*?) \(from versions: (?P<offered>[^)\n]*)\)
    (?:No matching distribution found for|satisfies the requirement) (?P<package2>\S+)
values =
    advice of package: decord(?!2) => There is no decord for aarch64: install decord2 in its place, which has wheels for
    + it, or build decord from a git checkout
    advice of offered: none$ => The index has neither a wheel for this Python and machine nor a source archive, or does
    + not know the name: check the spelling, take another Python or the index that has it (--extra-index-url; index_url
    + and find_links of this collection), a package that replaces it, or build it from a git checkout
    advice of package: . => See at the index which versions and wheels there are: usually there is none for aarch64, or
    + none for this Python; take a version that has one, the index that has it (--extra-index-url; index_url and
    + find_links of this collection), or build it from source
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
remedy = Correct the patch or the edit that changed it.
"""
