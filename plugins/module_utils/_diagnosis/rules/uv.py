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
cause = The wheels of {package} {version} for aarch64 are for glibc, and this system has musl, as Alpine does (uv calls
    it {tag}).
remedy = Use a system or image with glibc (Ubuntu, or Debian's python:3.12-slim in the place of -alpine), or build
    {package} from its source.
source = astral-sh/uv#18169

[uv-wheel-glibc]
keys = only has wheels for the following platform
pattern =
    'manylinux_2_(?P<have>\d+)_aarch64'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels for the
    + following platforms?: [^\n]*?manylinux_2_(?P<need>\d+)_aarch64
cause = The wheel of {package} {version} for aarch64 needs glibc 2.{need}, and this system has 2.{have}.
remedy = Run it on a system with glibc 2.{need} or newer (Ubuntu 24.04 has 2.39), or take a version whose wheel fits.
source = astral-sh/uv#15310

[uv-wheel-python]
keys = only has wheels with the following Python
pattern =
    You're using (?P<python>[\w. ]+?) \('\w+'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\) only has wheels
    + with the following Python [\w ]+ tags?: (?P<tags>[^\n;]+)
cause = {package} {version} has wheels only for other Pythons than {python}: {tags}.
remedy = Use a Python that is among them (uv venv --python), or a version of {package} that has a wheel for this one.
source = google/oss-fuzz-gen#1226

[uv-wheel-platform]
keys = only has wheels for the following platform
pattern =
    You're on [\w ]+? \('(?P<tag>(?![^'\n]*_aarch64)[^'\n]+)'\), but '(?P<package>[\w.-]+)' \(v?(?P<version>[^)\n]+)\)
    + only has wheels for the following platforms?: (?P<have>[^\n;]+)
cause = This machine is {tag}, and the index or lock in use has {package} {version} only for {have}.
remedy = Look at the index's page of {package}: if it has no file for this machine, take another index or version (or
    build it); if it has one, lock again so that this machine counts (uv lock; tool.uv.required-environments names those
    that must).
source = astral-sh/uv#11418

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
    advice of found: torch\w*==.*\+cu12[0-8] => PyTorch's index of that CUDA has none for aarch64: take the cu130 build
    advice of found: . => Make the lock again here (uv lock --upgrade-package NAME) with a version that has a wheel
    + for aarch64 (uv looks for one if aarch64 is among tool.uv.required-environments), leave the package out there by a
    + marker (platform_machine != 'aarch64'), or build it from its repository
cause = uv has no file of {found}[ {version}] for this machine: its index, or the lock that was made elsewhere, lists
    none for
    it.
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
cause = {package} needs {need}, and {have} does not fit.
remedy = Take a Python in that range (uv venv --python 3.12) or raise requires-python in pyproject.toml, for which all
    versions that it allows are resolved; or take a version of the package for the older Python.

[uv-prerelease]
keys = but pre-releases weren't enabled
pattern =
    Pre-releases are available for '(?P<package>[^'\n]+)' in the requested range \(e\.g\., (?P<version>[^)\n]+)\)
cause = The requested range of {package} has only pre-releases ({version}), and uv does not take these unless it is
    asked.
remedy = Run it with --prerelease=allow, or name the version ({package}=={version}); with prerelease = "allow" below
    [tool.uv] for a project.

[uv-first-index]
keys = but not at the requested version
pattern =
    '(?P<package>[^'\n]+)' was found on (?P<index>\S+?),? but not at the requested version(?: \((?P<need>[^)\n]+)\))?
cause = uv takes {package} only from the first index that has it, {index}, and that one has no version that fits[
    ({need})].
remedy = Bind PyTorch's packages to PyTorch's index and leave the rest to the package index (explicit = true with
    tool.uv.sources), or pass --index-strategy unsafe-best-match where you trust all indexes.
source = https://docs.astral.sh/uv/concepts/indexes/

[uv-conflict]
keys =
    No solution found when resolving dependencies
    Because
pattern =
    No solution found when resolving dependencies[^\n]*:\s+\S+ Because ((?:(?!there is no version|no version of|only |
    +has no wheels)
    +[^\n])* depends on [^\n,]+)
    \bBecause ((?:(?!no versions?\b|no wheel|not found|we can)[^\n]|\n(?!\n\n)){3,200}?\sdepends\s+on (?:(?!no
    + versions?\b|no wheel|not found|we can)[^\n]|\n(?!\n\n)){3,200}?\s(?:depends\s+on|you\s+require)\s+[^\s,]+)
cause = uv found no versions that go together: {found}.
remedy = Leave the version of one of them open, or take the release of the package that was made for the version which
    you need.
source = astral-sh/uv#6907

[uv-conflicting-urls]
keys = contain conflicting URLs for package
pattern =
    contain conflicting URLs for package '(?P<package>[^'\n]+)'[^\n]*(?:\n[^\n]*?- (?P<one>\S+)\n[^\n]*?-
    + (?P<other>\S+))?
cause = uv was given two files of {package}[: {one} and {other}].
remedy = Remove the older file from that directory (wheels of an earlier build remain in it), or name one in the
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
    advice of version: \S+\+cu\d+ => leave +cu out, for such versions are only on PyTorch's index of that CUDA (cu130 on
    + a Spark)
    advice of package: . => take a version that the index has
cause = The index from which uv takes {package} does not have it[ in version {version}]: uv takes each package from the
    first index that has any version of it.
remedy = Bind the package to the index that has that version (tool.uv.sources), put that index first, pass
    --index-strategy unsafe-best-match where you trust all indexes, or {advice}.
source = astral-sh/uv#10604

[uv-wheel-python-tag]
keys = no wheels with a matching Python
pattern =
    (?P<package>[\w.-]+(?:==[\w.+!]+)?)\s+ha(?:s|ve)\s+no wheels with a matching Python (?:ABI|implementation|version
    +)?\s*tag(?:
    + \(e\.g\., '(?P<tag>[^'\n]+)'\))?
cause = {package} has no wheel for the Python in use[ ({tag})]: it is newer or older than those that the release was
    built for.
remedy = Use a Python that it has wheels for (uv venv --python 3.12), or a release that supports this one.
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
    advice of tag: (?:linux|musllinux\w*)_aarch64 => This system has musl, as Alpine does: use one with glibc (Ubuntu,
    + or Debian's python:3.12-slim), or build it
    advice of tag: \w*(?:x86_64|amd64|win32|macosx) => Take another version, or an index that has it for such a machine
    advice of found: (?:triton|torch(?:vision|audio)?)\b => Take torch 2.9 or newer from PyTorch's index cu130
    + (tool.uv.sources; uv pip install torch --index-url https://download.pytorch.org/whl/cu130): older releases have no
    + CUDA wheels for aarch64, nor their Triton
    advice of all: have => No version there has one: name an index or a URL that has a wheel for aarch64, build it, or
    + leave it out (a newer release may have one)
    advice of found: . => Take another version or index that has a wheel for aarch64, or build it
remedy = {advice}.
source = astral-sh/uv#2538
    unslothai/unsloth#4446

[uv-package-unknown]
keys = was not found in the package registry
pattern = Because (?P<package>[\w.-]+(?:\[[\w,.-]*\])?) was not found in the package registry
cause = The index from which uv takes packages has none called {package}.
values =
    advice of package: (?:wheel|setuptools|numpy|ninja|cmake|packaging|pybind11|hatchling|cython|typing-extensions|jin
    +ja2
    +|requests|pyyaml|scikit-build-core|meson-python)$ => The index in use is one for PyTorch's packages alone, given by
    + --index-url: name it beside the general one (--extra-index-url, or tool.uv.sources for torch alone; uv pip install
    + --torch-backend=cu130), and take a version of what is built that has a wheel
    advice of package: . => Correct the name, or give the index that has it (--index URL, tool.uv.sources); for a
    + project
    + that is only on GitHub write git+https://…
remedy = {advice}.
source = astral-sh/uv#13099

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
    virtual environment already exists
    virtual environment directory
    virtual environment created from
pattern =
    virtual environment (?P<why2>already exists) at '(?P<path2>[^'\n]+)'
    virtual environment directory '(?P<path1>[^'\n]+)' cannot be used because (?P<why1>[^\n(]+)
cause = uv does not use {path} for a new environment: it {why}.
remedy = Remove that directory if nothing else is in it, and run uv venv; one that was copied or moved from another host
    or path, or whose Python is gone, does not work.

[uv-conflicting-indexes]
keys = conflicting indexes for package
pattern = conflicting indexes for package '([^'\n]+)'
cause = tool.uv.sources binds {found} to two indexes that count at the same time.
remedy = Give each a marker that excludes the other (marker = "platform_machine == 'aarch64'"), or an extra with
    tool.uv.conflicts.

[uv-index-undeclared]
keys =
    references an undeclared index
    is not defined in the project's `optional
pattern =
    (?P<package>Package '[^'\n]+') references an undeclared index: '(?P<name1>[^'\n]+)'
    Extra '(?P<name2>[^'\n]+)' is not defined in the project
cause = pyproject.toml does not define {name}[, the index that {package} is bound to].
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
    advice of status: 40[13] => Give uv a login for this index (UV_INDEX_NAME_USERNAME and _PASSWORD, or ~/.netrc), or
    + correct its URL: some servers answer so for a page that does not exist
    advice of status: 404 => Correct the URL of the index or file; a file that an index lists and does not have needs
    + another release of the package
    advice of status: 429 => Wait, and run it again: the server limits the number of requests
    advice of status: 5 => Run it again later: the server has a fault; a mirror or another index serves until then
    advice of status: . => Check the URL of the index
cause = {url} answers HTTP {status}.
remedy = {advice}.
source = vllm-project/vllm#24876

[uv-lock-outdated]
keys = needs to be updated, but
pattern = The lockfile at '([^'\n]+)' needs to be updated, but '(?P<option>[^'\n]+)' was provided
cause = {found} does not fit pyproject.toml any more, and {option} forbids uv to change it.
remedy = Run uv lock and commit the result, or check out the lock that belongs to this pyproject.toml; another version
    of uv may also write another lock.

[uv-too-old]
keys =
    Required uv version
    Failed to parse `uv.lock`
pattern =
    Required uv version '(?P<need>[^'\n]+)' does not match the running version '(?P<have>[^'\n]+)'
    Failed to parse 'uv\.lock'(?s:.{0,300}?)(?P<what>unknown field '[^'\n]+)
cause = This uv[, {have},] is older than the project needs[: {need}][: its uv.lock has an {what}].
remedy = Update it (uv self update, or pip install -U uv; in an image a newer base).

[uv-file-missing]
keys =
    Distribution not found at: file
    No `pyproject.toml` found in
pattern =
    Distribution not found at: (?P<file1>file:\S+)
    No '(?P<file2>pyproject\.toml)' found in (?:current )?directory
values =
    advice of file: file:\S+(?<!\.whl)$ => That directory of tool.uv.sources is not there: COPY it into the image, or
    + take the released
    + package (uv sync --no-sources)
    advice of file: file: => Build or download that wheel first, and give the path at which it lies (in a container the
    + path inside)
    advice of file: . => Change into the project's directory, or name it (uv --project DIR, --directory DIR)
cause = uv does not find {file}.
remedy = {advice}.

[uv-no-project-table]
keys = No `project` table found in
pattern = No 'project' table found in: '([^'\n]+)'
cause = {found} has settings but no [project] table, so that uv sees no project in it.
remedy = Install its requirements without a project (uv pip install -r requirements.txt), or add the table ([project]
    with name, version and requires-python; uv init writes one).

[uv-no-environment]
keys = No virtual environment found
pattern = (No virtual environment found)
cause = uv pip installs only into a virtual environment, and found none ({found}).
remedy = Run uv venv first (and uv pip in the same directory), activate one, or name it with --python; in a container
    image --system is right.

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
cause = uv replaced the environment {found} by a new one of the project's own Python and packages, so that what was
    installed there otherwise is gone.
remedy = Install it again, and start the program with that environment's python or with uv run --no-sync.

[uv-hash]
keys = Hash mismatch for
pattern = Hash mismatch for '([^'\n]+)'
cause = The file of {found} has another hash than the lock says.
remedy = Find out why: the index may have another build of the same version (a mirror's, or that of cu130 beside the
    package index's); renew the lock for the index that is used (uv lock), and run uv cache clean if a download was cut
    off.
"""
