# __init__.py in this directory explains the fields.

"""Environment of a build

Files that a build needs, or must not touch, before it compiles anything.
"""

RULES = r"""
[setuptools-configuration]
keys =
    InvalidConfigError:
    must be valid exactly by one definition
    invalid pyproject.toml config
pattern =
    InvalidConfigError: (?P<what1>Invalid dash-separated key '[^'\n]+)
    InvalidConfigError: (?P<what2>License classifiers have been superseded)
    InvalidConfigError: (?P<what4>[^\n]{1,160})
    '(?P<what3>project\.[\w.-]+)' must be valid exactly by one definition
values =
    advice of what: Invalid dash => Use a newer release of the package. An old one builds with setuptools below 78
    + (setuptools<78 in a constraints file that PIP_BUILD_CONSTRAINT or PIP_CONSTRAINT names)
    advice of what: License => Use a release without these classifiers, or build it with setuptools below 77
    + (setuptools<77 in a constraints file that PIP_BUILD_CONSTRAINT or PIP_CONSTRAINT names)
    advice of what: project\.license => Build it with setuptools 77 or newer (pip install -U setuptools, and without
    + --no-build-isolation), which accepts SPDX licence expressions
    advice of what: . => Build it with the setuptools in the package's build-system.requires, and without
    + --no-build-isolation, or use a release of the package for the installed setuptools
cause = The package's configuration does not fit the setuptools that builds it: {what}.
remedy = {advice}.
source = logpai/Drain3#106

[setuptools-flat-layout]
keys = discovered in a flat-layout
pattern = Multiple top-level (?:packages|modules) discovered in a flat-layout: (\[[^\]\n]*\])
cause = The project does not name its packages, and setuptools finds several directories that could be one: {found}.
remedy = Remove the directories that are not part of the source (data, outputs, models, build), name the package in
    pyproject.toml ([tool.setuptools] packages = ["NAME"]), or run the program from its checkout without installing it.
source = pypa/setuptools#3197

[hatch-files-unknown]
keys = which files to ship inside the wheel
pattern = (Unable to determine which files to ship inside the wheel)
cause = hatchling finds no directory with the project's name, and does not know which files belong in the wheel
    ({found}).
remedy = Name the directory in pyproject.toml ([tool.hatch.build.targets.wheel] packages = ["src/NAME"]). In a
    Dockerfile, COPY the sources before the install, or install only the dependencies (uv sync --no-install-project).
source = pypa/hatch#1819

[debian-setuptools]
keys = install_layout
pattern = AttributeError: (install_layout)
cause = Debian's modified distutils and another setuptools are mixed ({found}): apt's old setuptools is used with a
    newer pip or newer packages.
remedy = Build in a virtual environment (python3 -m venv), or upgrade pip, setuptools and wheel together there (pip
    install -U pip setuptools wheel).

[cython-too-new]
keys = cython_sources
pattern = AttributeError: '?(?:\w+' object has no attribute ')?(cython_sources)
cause = The package (PyYAML before 6.0.1) does not build with Cython 3 ({found}).
remedy = Use PyYAML 6.0.1 or newer, which has wheels. If it is pinned, constrain the build: Cython<3 in a file that
    PIP_CONSTRAINT names.

[python-newer-than-source]
keys =
    __Pyx_
    has no member named
    _PyLong_AsByteArray
    implicit declaration of function
    longintrepr.h
    arguments to function
    was not declared in this scope
    unknown type name
    undeclared
    invalid use of incomplete type
pattern =
    error: '(_?Py(?!Array)[A-Z]\w+)' (?:was not declared|undeclared)
    error: unknown type name '(Py(?!Array)[A-Z]\w+)'
    error: invalid use of incomplete type '(Py\w+)
    error: '(?:(?:struct )?Py(?!Array)\w+|struct _\w+)'(?: \{aka[^}\n]*\})? has no member named '(\w+)'
    error: too few arguments to function '(?:\w+ )?(_PyLong_AsByteArray)
    error: implicit declaration of function '(_?Py[A-Z]\w+)'
    fatal error: (longintrepr\.h)
    In function '__Pyx_\w+':\n[^\n]*error: too (?:few|many) arguments to function '[^\n]*?\b(Py[A-Z]\w+)
cause = The package's C code uses Python internals that the installed Python no longer has ({found}): it was written for
    an older Python.
remedy = Use a release of the package with a wheel for this Python, or a Python that it supports (uv venv --python 3.12,
    or 3.11 for old ones).
source = MagicStack/uvloop#680

[config-program-missing]
keys =
    pg_config executable not found
    Can not find valid pkg-config name
    mysql_config
pattern =
    (?P<program1>pg_config) executable not found
    (?P<program2>Can not find valid pkg-config name)
    (?P<program3>mysql_config): not found
values =
    package of program: pg_config => libpq-dev (or the wheel psycopg2-binary, which needs no build)
    package of program: . => libmysqlclient-dev (or libmariadb-dev) and pkg-config
cause = A client library for a database is being built, but the database's headers are not installed ({program}).
remedy = Install {package}, and run pip again.
source = https://docs.astral.sh/uv/reference/troubleshooting/build-failures/

[library-headers-missing]
keys =
    did not find HDF5 headers
    headers or library files could not be found for
    development packages are installed
    include files
pattern =
    did not find (?P<library4>HDF5) headers
    headers or library files could not be found for (?P<library1>\w+)
    make sure the (?P<library2>libxml2) and libxslt development packages are installed
    The '(?P<library3>linux/input\.h)' and '[^'\n]*' include files
values =
    package of library: HDF5 => libhdf5-dev
    package of library: jpeg => libjpeg-dev
    package of library: zlib => zlib1g-dev
    package of library: freetype => libfreetype-dev
    package of library: libxml2 => libxml2-dev and libxslt1-dev
    package of library: linux => linux-libc-dev (build-essential)
    package of library: . => its development package
cause = pip compiles the package because no wheel fits this Python and aarch64, but the headers of {library} are not
    installed.
remedy = Install {package} with apt and run pip again, or use a release or a Python (3.12) for which there is a wheel.
source = https://docs.astral.sh/uv/reference/troubleshooting/build-failures/

[cuda-home-is-a-list]
keys = nvcc: not found
pattern = sh: \d+: (?P<path>:\S*/nvcc): not found
cause = The build calls {path}, with a colon before the path: CUDA_HOME was set like PATH (CUDA_HOME=$CUDA_HOME:DIR).
remedy = Set CUDA_HOME to the toolkit's directory only, without a colon, and remove the unfinished build (such as
    flashinfer's cache).
source = vllm-project/vllm#36077

[unbound-variable]
keys = unbound variable
pattern = (\w+): unbound variable
cause = A script under 'set -u' reads {found}, which is not set.
remedy = Set {found} before the script runs, in the shell or the unit's environment: a unit's build gets only the unit's
    variables, never the shell's.

[build-requirement-missing]
keys =
    cythonize without
    Error: No module named
    Cannot import '
    Missing dependencies:
    Cannot import build backend
    invalid command 'bdist_wheel'
pattern =
    Cannot cythonize without (Cython) installed
    invalid command 'bdist_(wheel)'
    Error: No module named '(setuptools|wheel|pip|scikit_build_core|hatchling|flit_core|poetry|mesonpy)(?:\.[\w.]+)?'
    Error: No module named '(pybind11|nanobind|numpy|yaml|typing_extensions|packaging|psutil)(?:\.[\w.]+)?'
    Error: No module named '(ninja|cmake|jinja2|six|requests|Cython|setuptools_scm)(?:\.[\w.]+)?'
    Cannot import (?:build backend )?'([\w.]+)'
    Missing dependencies:\s+(\S+)
values = name of found: yaml$ => pyyaml
cause = {found} is imported, but not installed: with --no-build-isolation pip installs no build requirements, and a
    program needs it in its own environment.
remedy = Install it into the environment of the build or the program first (pip install {found}[, whose package is
    called {name}]; in this collection the unit's requirements). The wrong Python causes the same error.
source = foundation-model-stack/fastsafetensors#82

[python-version]
keys =
    Cannot install on Python version
    requires a different Python
    Requires-Python
    requires-python
    requires Python '
    is not one of the supported versions
    package requires Python version
pattern =
    package requires Python version (\S+, running on \S+)
    Cannot install on Python version (\S+; only versions [^\s]+) are supported
    Python version (\([\d.]+\) is not one of the supported versions:\s+[\d.;]*\d)
    requires a different Python: (\S+ not in '[^'\n]+')
    requires Python '(?P<wanted>[^'\n]+)' but
cause = The source does not support the environment's Python ({found}).
remedy = Use a Python in that range (uv venv --python 3.12; the unit's python), or a version of the package that
    supports this one.

[mpi-not-installed]
keys = Cannot compile MPI programs
pattern = (Cannot compile MPI programs)
cause = The package is compiled for MPI, but no MPI with its headers and mpicc is installed.
remedy = Install Open MPI (sudo apt install libopenmpi-dev openmpi-bin; in conda, conda install -c conda-forge mpi4py
    openmpi), and run pip again.
source = https://mpi4py.readthedocs.io/en/stable/install.html

[externally-managed]
keys =
    externally-managed-environment
    This environment is externally managed
    is externally managed, and indicates
pattern =
    interpreter at \S+ is externally managed
    externally-managed-environment
    This environment is externally managed
cause = pip tried to install into the system's Python, which the distribution manages.
remedy = Install the distribution's package (apt install python3-NAME), or into a virtual environment (python3 -m venv
    DIR and DIR/bin/pip, or uv venv; for Ansible's module pip the option virtualenv; in this collection the role
    python_env). Install a program with pipx. Never use --break-system-packages.
source = actions/runner-images#10781

[install-into-system]
keys =
    cannot make directory
    cannot create directory
    INSTALL cannot
    Permission denied: '/usr
    files in install directory
pattern =
    INSTALL cannot (?!find\b)\w+(?: \w+){0,2}\s+'?(/[^\s'\"]+?)'?[.:]?\s[^\n]*\s*(?:Permission denied|No such file)
    INSTALL cannot (?!find\b)\w+(?: \w+){0,2}\s+'?(/[^\s'\"]+?)'?[.:]?\s[^\n]*\s*(?:Maybe|administrative|privileges)
    cannot create directory:?\s+'?(/(?:usr|lib|opt|etc|var)/[^\s'\"]+?)'?[.:]?\s[^\n]*\s*(?:Permission denied|No such
    + file|Maybe|administrative|privileges)
    Permission denied: '(/usr/(?:local/)?lib/python[^'\n]*)
    create or remove files in install directory
cause = An installation tried to write to the system ({found}), which this account cannot do.
remedy = Install into a virtual environment (python3 -m venv, uv venv), not with sudo. A unit's build creates a wheel,
    sets CMAKE_INSTALL_PREFIX only below the root, and never runs 'setup.py install'.
"""
