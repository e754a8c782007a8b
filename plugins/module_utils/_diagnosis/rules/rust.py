# __init__.py in this directory explains the fields.

"""Rust

cargo, rustc and maturin, which build many Python packages.
"""

RULES = r"""
[rust-missing]
keys =
    No such file or directory: 'cargo'
    can't find Rust compiler
    the Rust package manager, is not installed
    program not found: cargo
    Rust not found, installing
pattern =
    No such file or directory: '(cargo)'
    can't find (Rust compiler)
    (Cargo), the Rust package manager, is not installed
    (Rust) not found, installing into a temporary
cause = The package is built with Rust, but {found} is not installed (usually the index has no wheel for aarch64).
remedy = Install Rust (rustup, or the package cargo) for the build, or use a release with a wheel for this machine.
source = PyO3/maturin#232

[cargo-too-old]
keys =
    lock file version
    requires the Cargo feature called
    because it requires rustc
    feature `edition2
    is not supported by the following package
    error[E0658]
pattern =
    feature '(?P<what5>edition2\d+)' is required(?:(?s:.{0,300}?)this version of Cargo \((?P<version3>[\d.]+))?
    error\[E0658\]: use of (?P<what4>unstable \w+ feature)
    lock file version '(?P<what1>\d+)' was found, but this version of Cargo does not understand
    requires the Cargo feature called '(?P<what2>\w+)', but that feature is not stabilized in this version of Cargo
    +(?: \((?P<version1>[\d.]+))?
    cannot be built because it requires (?P<what3>rustc [\d.]+) or newer, while the currently active rustc version is
    + (?P<version2>[\d.]+)
    (?P<what6>rustc) (?P<version4>[\d.]+) is not supported by the following packages?:
    lock file version '?(?P<what7>\d+)'? requires '-Znext-lockfile-bump
values =
    need of what: unstable => a feature of a newer Rust
    need of what: 4$ => a Cargo.lock of version 4, which Cargo reads since 1.78
    need of what: edition2024 => the edition 2024, which Rust has since 1.85
    need of what: (\d+)$ => a newer version of Cargo.lock
    need of what: rustc => a newer rustc
    need of what: . => a feature that this Cargo does not have
cause = The installed Rust[, {version},] is older than a package needs: {need}.
remedy = Install a newer Rust with rustup and put its bin before the distribution's on PATH. If pip builds the package,
    a release with a wheel for this machine needs no Rust.
source = huggingface/xet-core#386

[rust-too-new]
keys = is undefined behavior, even if the reference is unused
pattern = error: (casting '&T' to '&mut T' is undefined behavior)
cause = The package's Rust code is too old for the installed Rust ({found}): tokenizers before 0.14.1 and others.
remedy = Use a newer release with wheels for aarch64 (a transformers that requires tokenizers 0.14.1 or newer), or build
    with RUSTFLAGS="-A invalid_reference_casting", or with Rust 1.72 (rustup toolchain install 1.72.0).
source = huggingface/tokenizers#1359

[cudarc-cuda-version]
keys = Unsupported cuda toolkit version
pattern = (?:cudarc-(?P<version>[\d.]+)[^\n]*\n[^\n]*)?Unsupported cuda toolkit version: `([\d.]+)`
cause = This release of the crate cudarc does not support the installed CUDA.
remedy = Use a release of the program with a newer cudarc (cargo update -p cudarc within its range), or set
    CUDARC_CUDA_VERSION to an older CUDA that it supports.
source = EricLBuehler/mistral.rs#1996

[crate-nvcc-missing]
keys =
    Missing `nvcc`
    nvcc cannot target gpu arch
pattern =
    (?P<why1>Missing 'nvcc') from \$PATH
    (?P<why2>nvcc cannot target gpu arch) (?P<need>\d+)\. Available nvcc targets are \[(?P<have>[^\]\n]+)\]
values =
    advice of why: Missing => Put the CUDA toolkit's bin on PATH (export PATH=/usr/local/cuda/bin:$PATH,
    + CUDA_HOME=/usr/local/cuda); in a container use a -devel image
    advice of why: . => Use the nvcc of CUDA 13 (/usr/local/cuda/bin first on PATH; remove Ubuntu's
    + nvidia-cuda-toolkit), or set CUDA_COMPUTE_CAP to a value that it supports
cause = The crate's CUDA kernels cannot be compiled ({why})[: this nvcc supports {have}, but the GPU is {need}].
remedy = {advice}.

[crate-cuda-missing]
keys =
    ind a cuda installation
    ind `include/cuda.h`
    execute `nvcc`
    panicked at
pattern =
    (?P<why1>[Cc]ould not find a cuda installation)
    (?P<why2>Unable to find 'include/cuda\.h') under any of: \[(?P<tried>[^\]\n]{1,160})
    (?P<why3>Failed to (?:execute|run|spawn) 'nvcc'): Os \{ code: 2
    panicked at [^\n]*?(?:\n\s*)?'?(?P<why4>(?:[Cc]ould not|[Cc]ouldn't|[Cc]annot|[Cc]an't|[Uu]nable to|[Ff]ailed to)
    + (?:find|locate|detect) (?:the |a |any )?(?:CUDA|cuda|nvcc)[\w .-]{0,60})
cause = The crate's build script finds no CUDA toolkit ({why}[: it looked in {tried}]).
remedy = Install the toolkit (cuda-toolkit-13-0; role cuda_libraries) and set its directory (export
    CUDA_PATH=/usr/local/cuda CUDA_ROOT=/usr/local/cuda CUDA_HOME=/usr/local/cuda, with its bin on PATH; in a container
    use a -devel image), or build without the feature cuda.
source = dimforge/sparkl#1

[crate-without-gpu]
keys =
    `nvidia-smi` failed
    Could not find compute_cap
pattern =
    ('nvidia-smi' failed)\. Ensure that you have CUDA installed
    (Could not find compute_cap)
cause = The crate asks nvidia-smi which GPU to compile for, but cannot run it: an image's build sees no GPU.
remedy = Name the GPU instead (export CUDA_COMPUTE_CAP=121 for a GB10; ENV in a Dockerfile), or build where nvidia-smi
    runs.

[rust-char-unsigned]
keys =
    expected `
    expected raw pointer `
    mismatched types:
pattern =
    expected '(?P<have>[*&\[\]\w ]*\bu8\]?)', found '(?P<give>[*&\[\]\w ]*\bi8\]?)'
    expected '(?P<have2>[*&\[\]\w ]*\bi8\]?)', found '(?P<give2>[*&\[\]\w ]*\bu8\]?)'
    mismatched types:\n expected '(?P<have3>[*&\[\]\w ]*\b[iu]8\]?)',\n\s+found '(?P<give3>[*&\[\]\w ]*\b[iu]8\]?)
cause = The crate assumes that C's char is signed, as on x86. On ARM it is unsigned ({give} instead of {have}).
remedy = Use a release of the crate that uses c_char (cargo update -p NAME; the line with --> names the file and the
    crate), or replace i8 with std::ffi::c_char there in a fork ([patch.crates-io] in Cargo.toml).
source = tailhook/unshare#18

[cargo-linker-missing]
keys = error: linker `
pattern = error: linker '(?!(?:cc|gcc|clang)')([^'\n]+)' not found
values =
    advice of found: aarch64-.*gnu => On the Spark, this linker is the system's gcc: build without --target, or remove
    + the line linker from .cargo/config.toml (CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=cc). To build for the Spark
    + on another machine, install gcc-aarch64-linux-gnu
    advice of found: .*musl => Install musl-tools (apt), or build for aarch64-unknown-linux-gnu
    advice of found: (?:x86_64|i686)- => This build is not for the Spark: use the target aarch64-unknown-linux-gnu
    advice of found: . => Install it, or remove the line linker from .cargo/config.toml
cause = cargo's settings name the linker {found}, which is not installed.
remedy = {advice}.
source = moonrepo/proto#747

[openssl-headers]
keys =
    Could not find directory of OpenSSL installation
    Package openssl was not found
    Could not find OpenSSL
pattern = (Could not find directory of OpenSSL installation|Package openssl was not found|Could not find OpenSSL\b)
cause = OpenSSL's development files, or pkg-config, are not installed ({found}).
remedy = Install libssl-dev and pkg-config.
source = koush/scrypted#657

[crate-library-missing]
keys =
    required by crate
    find system library
pattern =
    could not find system library '(?P<library2>[^'\n]+)' required by the '(?P<crate2>[^'\n]+)' crate
    The system library '(?P<library>[^'\n]+)' required by crate '(?P<crate>[^'\n]+)' was not found
values =
    package of library: alsa => libasound2-dev
    package of library: openssl => libssl-dev
    package of library: libudev => libudev-dev
    package of library: (glib|gobject|gio) => libglib2.0-dev
    package of library: dbus => libdbus-1-dev
    package of library: (webkit2gtk|javascriptcoregtk) => libwebkit2gtk-4.1-dev
    package of library: gtk => libgtk-3-dev
    package of library: libclang => libclang-dev
    package of library: (opencv) => libopencv-dev
    package of library: (libav|libsw) => libavcodec-dev, libavformat-dev and libswscale-dev
    package of library: . => the development package that contains its .pc file (apt-file search NAME.pc)
cause = The crate {crate} needs the library {library} with its headers, but pkg-config does not find it.
remedy = Install {package} and pkg-config, and run cargo again.

[not-position-independent]
keys = recompile with -fPI
pattern = relocation (\S+) [^\n]*recompile with -fPI[CE]
cause = An object was compiled without -fPIC and cannot go into a position-independent program ({found}).
remedy = Compile it with -fPIC (nvcc: -Xcompiler -fPIC). A newer release of the crate or project may do so.
source = SunayHegde2006/Air.rs#14

[rust-toolchain-missing]
keys =
    rustup could not
    toolchain '
pattern =
    rustup could not choose a version of (\w+) to run
    toolchain '([^'\n]+)' is not installed
cause = rustup has no toolchain for this build ({found}).
remedy = Run rustup default stable, or rustup toolchain install with the version that rust-toolchain.toml names.

[rust-target-missing]
keys = target may not be installed
pattern = the '([^'\n]+)' target may not be installed
cause = Rust has no standard library for the target {found}.
remedy = Run rustup target add {found}, or build for this machine (aarch64-unknown-linux-gnu).

[cargo-no-feature]
keys = does not have these features
pattern = depends on '(?P<crate>[^'\n]+)', with features: '(?P<feature>[^'\n]+)' but
cause = A package requires the feature {feature} of {crate}, but no permitted version of {crate} has it.
remedy = Use matching versions of both (one release of the project, with its Cargo.lock and --locked), or disable the
    feature (--no-default-features --features …). If a [patch] or a path provides {crate}, that copy is too old or too
    new.

[pyo3-function-missing]
keys = in module `pyo3
pattern = cannot find [^'\n]*'(?P<name>_?Py\w+)' in module 'pyo3
cause = The package's source is too old for this Python, which no longer has {name}. pip builds it because the index has
    no wheel for this Python.
remedy = Use a newer release of the package, or a Python for which it has wheels (3.12 on DGX OS).
source = huggingface/tokenizers#1639

[cargo-no-version]
keys =
    no matching package named
    failed to select a version for
pattern =
    no matching package named '([^'\n]+)' found
    failed to select a version for (?:the requirement )?'([^'\n]+)'
cause = cargo found no version of {found} that fits.
remedy = Compare the requirement in Cargo.toml with the registry's versions (cargo search), use the project's Cargo.lock
    (--locked), and update the index if it is old.

[cargo-lock-outdated]
keys = needs to be updated but --
pattern = lock file (\S+) needs to be updated but (?P<option>--\w+) was passed
cause = Cargo.lock does not fit Cargo.toml, but {option} forbids changing it ({found}).
remedy = Use the unchanged source of its tag, or update the lock file (cargo update -w) if the change is intended.

[cargo-no-project]
keys = could not find `Cargo.toml` in
pattern = could not find 'Cargo\.toml' in '([^'\n]+)'
cause = There is no Cargo.toml in {found} or above it.
remedy = Change to the project's directory, or name it with --manifest-path.

[rust-nightly]
keys =
    may not be used on the stable release channel
    only accepted on the nightly
    in this position are unstable
    is unstable
    error[E0658]
pattern =
    '([^'\n]{1,80})' may not be used on the stable release channel
    the option '([^'\n]+)' is only accepted on the nightly
    error\[E0658\]: ([^\n]*?) (?:in this position are|is|are) (?:unstable|experimental)
cause = The source uses a Rust feature that the installed Rust lacks, or that only a nightly toolchain has ({found}).
remedy = Use the toolchain that the project names (rust-toolchain.toml; rustup update, or rustup toolchain install
    nightly and cargo +nightly), or a release of the crate for stable Rust.
source = https://doc.rust-lang.org/error_codes/E0554.html

[protoc-missing]
keys =
    Could not find `protoc`
    protoc: not found
pattern = Could not find '(protoc)'
cause = The build needs the compiler of Protocol Buffers, {found}.
remedy = Install protobuf-compiler (and libprotobuf-dev), or set PROTOC to its path.

[libclang-missing]
keys =
    Unable to find libclang
    libclang.so'
pattern =
    Unable to find (libclang)
    find any valid shared libraries matching: \[\\?'(libclang)
cause = A crate generates its bindings with bindgen, which needs {found}.
remedy = Install libclang-dev (and clang), or set LIBCLANG_PATH to the directory with libclang.so.
source = rust-lang/rust-bindgen#1712

[pyo3-python-too-new]
keys = PyO3's maximum supported version
pattern =
    Python interpreter version \((?P<have>[\d.]+)\) is newer than PyO3's maximum supported version \((?P<most>[\d.]+)\)
cause = The package's PyO3 supports Python up to {most}, but this is {have}. pip builds the package because the index
    has no wheel for {have}.
remedy = Use Python {most} or older (3.12 on DGX OS), or a newer release of the package;
    PYO3_USE_ABI3_FORWARD_COMPATIBILITY=1 builds it anyway.
source = fief-dev/zxcvbn-rs-py#2

[maturin-no-environment]
keys = find a virtualenv or conda environment
pattern = (find a virtualenv or conda environment)
cause = maturin develop installs into the active environment, but none is active ({found}).
remedy = Create one and activate it (python3 -m venv .venv), or build a wheel instead (maturin build --release).
"""
