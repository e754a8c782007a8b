# __init__.py in this directory explains the fields.

"""Conda

Messages from conda, mamba and their solver.
"""

RULES = r"""
[conda-not-found]
keys =
    nothing provides requested
    No candidates were found for
    PackagesNotFoundError
    ResolvePackageNotFound
    does not exist (perhaps a typo
pattern =
    nothing provides requested (?P<package4>[^\n]+)
    No candidates were found for (?P<package5>[^\n]+?)\.?$
    [└├]─ (?P<package3>[^\n]+?) does not exist \(perhaps a typo or a missing channel\)
    (?:PackagesNotFoundError|ResolvePackageNotFound):[^\n]*\n+ *- (?P<package>\S+)
    (?P<package2>PackagesNotFoundError|ResolvePackageNotFound)
values =
    advice of package: \S*(?:linux[-_]64|x86[-_]64|amd64) => That name is the one for x86-64: delete the line from the
    + file, or write aarch64's own (ld_impl_linux-aarch64 for ld_impl_linux-64), and export the file on the other
    + machine without what conda adds itself (conda env export --from-history)
    advice of package: (?:) => Install it from conda-forge (conda install -c conda-forge), without build strings of
    + another platform (conda env export --no-builds), or with pip, or omit it on aarch64 if its project has no build
    + for that. PyTorch and pytorch-cuda are no longer in the channel pytorch: pip install torch --index-url
    + https://download.pytorch.org/whl/cu130
cause = None of conda's channels has {package} for this platform (conda info names it: a Spark is linux-aarch64).
remedy = {advice}.
source = CNES/pangeo-pyinterp#33

[conda-build-contradicts-itself]
keys = The following package could not be installed
pattern =
    The following package could not be installed\s+[└├]─ (?P<package>[^\s=<>]+) (?P<version>[^\n]*?) is not installable
    + because it requires(?s:.{0,500}?)[└├]─ (?P<one>[^\n]*?), which requires\s+[│ ]*[└├]─ (?P<library>[\w.-]+)
    + (?P<range1>[^\n]*?) ?\*?, which can be installed;?(?s:.{0,500}?)[└├]─ (?P<other>[^\n]*?), which
    + requires\s+[│ ]*[└├]─ (?P=library) (?P<need>[^\n]*?) ?\*?, which conflicts with any
cause = The packages of this build of {package} exclude each other: it requires {one}, which needs {library} {range},
    and {other}, which needs {library} {need}.
remedy = The fault is in the package, and no setting can change it: use another build or version of {package} (conda
    search {package} lists them), or the pip wheel (torch from the index cu130).
source = conda-forge/pytorch-cpu-feedstock#422

[conda-virtual-package]
keys =
    __cuda
    __glibc
    Virtual package '__
    would require __
    has constraint __
pattern =
    package (?P<package2>\S+) has constraint (?P<what5>__\w+ [^\n]{1,40}? conflicting with __[\w.-]+)
    nothing provides (?P<what1>__(?:cuda|glibc)[^\n]{0,40}?) needed by (?P<package>[^\s,]+)
    Virtual package '(?P<what3>__[^'\n]+)' does not match any
    would require (?P<what4>__[^\n]{1,60}?), for which no candidates
    (?P<what2>__(?:cuda|glibc)[^\n]{0,40}?),? which is missing on the system
values =
    advice of what: __cuda => On a host, make nvidia-smi work. Without a driver, as in an image's build, set
    + CONDA_OVERRIDE_CUDA=13.0 for the command. For pixi, also declare it in the project ([system-requirements] cuda =
    + "13")
    advice of what: __archspec => Its build is for another processor: use one for this platform (linux-aarch64 in
    + pixi's platforms), or update pixi (an old one compared it wrongly)
    advice of what: . => Use a newer system (Ubuntu 24.04 has glibc 2.39), or an older build of the package
cause = The package[ {package}] has a requirement that conda does not find met on this system: {what}.
remedy = {advice}.
source = pangeo-data/pangeo-docker-images#655

[pixi-no-candidates]
keys = Cannot solve the request because of
pattern =
    Cannot solve the request because of: (?P<package>[^\n]{1,80}?) cannot be installed because there are no viable
    + options:(?:\n[^\n]*){0,12}?\n[^\n]*?─ (?P<need>\w[^\n─]{0,80}?), for which no candidates were found
cause = {package} cannot be installed on this platform: each of its builds needs {need}, which no channel has here.
remedy = Use another build or version of it (pixi search NAME --platform linux-aarch64), add the channel that has the
    missing package, or install it with pip ([pypi-dependencies]; torch from the index cu130).
source = prefix-dev/pixi#5657

[conda-conflict]
keys =
    UnsatisfiableError
    Could not solve for environment specs
    but none of the providers can be installed
    any installable versions previously
    which conflicts with any
pattern =
    UnsatisfiableError:[^\n]*(?:(?:\n+Output in format[^\n]*)?\n+ *- (?P<why1>[^\n]+))?(?:(?s:.{1,1500}?)would
    + require\n[^\n]*[└├]─ (?P<python>python >=[\w.]+,<[\w.]+?)a?\d*[ ,])?
    Could not solve for environment specs(?:(?s:.{0,200}?)[└├]─ (?P<why2>[^\n]+?)(?:,? (?:which )?(?:is|are)
    + installable\b[^\n]*|\.)?$(?:(?s:.{1,1500}?)[└├]─ (?P<user>\S+)[^\n]{0,200}(?:would require|which
    + requires)\n[^\n]{0,80}[└├]─ (?P<against>[^\n]+?), which conflicts with any)?)?
    package (?P<why3>\S+ requires [^\n]+?), but none of the providers can be installed
    [└├]─ (?P<why4>[^\n]+?), which conflicts with any installable
values =
    way of why: .*__cuda => The driver's CUDA is older than the packages need, or they were built for another platform:
    + choose builds for it (cuda-version=13.0; conda search NAME --subdir linux-aarch64 lists them)
    way of why: .*none of the providers => Choose another version or build of the package that requires it (conda
    + search NAME --subdir linux-aarch64 lists them), because its own requirements may contradict each other
    way of against: cuda-version => Pin less, so that a newer release with a build for your CUDA fits (conda search
    + NAME --subdir linux-aarch64 lists them), or request the cuda-version that it needs
    way of why: (?:) => Start with an empty environment and pin fewer versions
cause = The requested packages exclude each other, or need a package that no channel has[: {why}][, but {user} needs
    {against}].
remedy = [The existing builds need {python} or the like: request such a Python. ]{way}. `nothing provides __cuda` means
    that conda sees no driver (set CONDA_OVERRIDE_CUDA=13.0 to install
    without one). Do not mix the channels defaults and conda-forge.
source = rapidsai/cugraph-gnn#395

[conda-channel]
keys = UnavailableInvalidChannel
pattern = UnavailableInvalidChannel: [^\n]*?channel (\S+)
cause = There is no channel {found}, or it has no packages for this machine.
remedy = Correct or remove it (conda config --show channels), and use conda-forge.

[conda-not-set-up]
keys =
    Run 'conda init' before
    has not been properly configured to use
pattern =
    (Run 'conda init' before 'conda activate')
    (shell has not been properly configured)
cause = This shell is not set up for conda ({found}), for example that of a script, a unit or a Dockerfile.
remedy = Run conda init bash once and open a new shell. In a script, first source etc/profile.d/conda.sh of conda's
    installation, or use conda run -n NAME.

[conda-solver-broken]
keys = conda entry point: conda-libmamba-solver
pattern = loading conda entry point: conda-libmamba-solver \((?P<why>[^)\n]+)\)
cause = conda's solver cannot be loaded ({why}): a package in its base environment was replaced by one that does not
    fit.
remedy = Repair base with the old solver (CONDA_SOLVER=classic conda install -n base --force-reinstall libarchive
    libmamba libmambapy conda-libmamba-solver), or install Miniforge3-Linux-aarch64.sh anew, and install packages only
    into environments of your own.
source = huggingface/lerobot#427

[conda-not-reached]
keys =
    CondaHTTPError
    CondaSSLError
pattern =
    CondaHTTPError: HTTP (?P<why1>[\w ]+) for url <?(?P<url>[^>\s]+)
    (?P<why2>CondaSSLError)[^\n]*
cause = conda does not reach its channel[ {url}] ({why}).
remedy = Check the network and the proxy (proxy_servers in .condarc, ssl_verify with the proxy's CA), and the channel's
    name.

[conda-terms]
keys = Terms of Service have not been accepted
pattern = Terms of Service have not been accepted[^\n]*(?:\n\W*(?P<channel>https?://\S+))?
cause = The terms of Anaconda's channels[, {channel},] were not accepted on this host.
remedy = Accept them (conda tos accept --override-channels --channel URL; in a Dockerfile, ENV
    CONDA_PLUGINS_AUTO_ACCEPT_TOS=yes) if they fit your use, or use only conda-forge (Miniforge; channels and nodefaults
    in .condarc).
source = NVIDIA/cuml-spark#963

[conda-not-writable]
keys =
    EnvironmentNotWritableError
    NoWritablePkgsDirError
    NoWritableEnvsDirError
pattern = (EnvironmentNotWritableError|NoWritable(?:Pkgs|Envs)DirError)
cause = The environment belongs to another account ({found}), usually root's base.
remedy = Create your own (conda create -n NAME) instead of changing base, without sudo.

[conda-no-environment]
keys =
    EnvironmentLocationNotFound
    EnvironmentNameNotFound
pattern =
    EnvironmentLocationNotFound: Not a conda environment: (\S+)
    EnvironmentNameNotFound: [^\n]*?: (\S+)
cause = There is no conda environment {found}.
remedy = Check its name with conda env list (each account and each conda has its own environments), or create it.

[conda-archive-damaged]
keys =
    InvalidArchiveError
    appears to be corrupted
pattern =
    InvalidArchiveError\('?[^\n]*?(?P<file1>/\S+?\.(?:conda|tar\.bz2))
    CondaVerificationError: The package for (?P<file2>\S+) located at
cause = A package in conda's cache is damaged: {file}.
remedy = Clear conda's cache (conda clean --packages --tarballs), check the free space (df -h), and run it again.

[conda-environment-exists]
keys = prefix already exists
pattern = prefix already exists: (\S+)
cause = There already is a conda environment at {found}.
remedy = Use it (conda activate; conda env update), or remove it first (conda env remove -p {found}).

[pixi-platform]
keys =
    workspace does not support
    project does not support
pattern = (?:workspace|project) does not support '(?P<platform>[\w-]+)'
cause = The pixi workspace does not list this platform, {platform}.
remedy = Add it with pixi workspace platform add {platform} (platforms in pixi.toml). Each of its packages must then
    exist for {platform}.
"""
