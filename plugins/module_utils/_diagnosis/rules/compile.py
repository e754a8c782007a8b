# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Compiling and linking

Headers, libraries, objects and flags.
"""

RULES = r"""
[lld-missing]
keys =
    fatal error: cannot find
    invalid linker name
    does not support '-fuse-ld
pattern =
    collect2: fatal error: cannot find '(ld)'
    invalid linker name in (?:argument )?'(-fuse-ld=[^'\n]+)'
    does not support '(-fuse-ld=[^'\n]+)'
cause = The build's linker is not installed ({found}).
remedy = Run the role build_toolchain on this host, or remove the linker option (-fuse-ld, LLVM_ENABLE_LLD,
    TRITON_BUILD_WITH_CLANG_LLD).

[compiler-too-old]
keys =
    unrecognized command-line option
    unrecognized command line option
    bad value
    invalid value '
    or later compatible compiler is required
    compiler does not support '
    unsupported argument '
pattern =
    unrecognized command[- ]line option '([^'\n]+)'
    bad value '([^'\n]+)' for '-m(?:arch|cpu|tune)=
    (C\+\+\d+ or later) compatible compiler is required
    invalid value '([^'\n]+)' in '-std=
    compiler does not support '(-m[^'\n]+)'
    unsupported argument '([^'\n]+)' to option '-m
cause = The compiler does not know {found}: it is too old for this source or these flags, or is for another processor.
remedy = Set a newer compiler in the unit's toolchain, or correct CFLAGS and CXXFLAGS.

[missing-header]
keys = fatal error:
pattern = fatal error: '?([^\s:']+\.(?:h|hh|hpp|hxx|cuh|inc|def)|[a-z_]+)'?(?:: No such file| file not found)
values =
    part of found: (lib)?cudnn => cuDNN's development package (libcudnn9-dev-cuda-13, role cuda_libraries)
    part of found: (lib)?nccl => NCCL's development package (libnccl-dev, role cuda_libraries)
    part of found: (lib)?cusparseLt => cuSPARSELt (role cusparselt)
    part of found: (lib)?cudss => cuDSS (role math_libraries)
    part of found: (lib)?nvpl => NVPL (role math_libraries)
    part of found: (lib)?cu(blas|solver|sparse|rand|fft|file|pti|da|b) => the CUDA toolkit (role cuda_libraries)
    part of found: (lib)?nv(rtc|ToolsExt|tx|ml|JitLink|cc) => the CUDA toolkit (role cuda_libraries)
    part of found: thrust|cooperative_groups => the CUDA toolkit (role cuda_libraries)
    part of found: (llvm|mlir|lld|clang) => LLVM at the commit that Triton pins (role llvm)
    part of found: (torch|ATen|c10) => PyTorch (role pytorch), which must be in the unit's depends
    part of found: . => the package that provides it (see apt-file search)
cause = The compiler does not find the header {found}.
remedy = Install {part}; if it is in a directory of its own, add that to CPATH in the unit's environment.

[library-missing]
keys =
    cannot find -l
    unable to find library -l
    library not found for -l
pattern = (?:cannot find|unable to find library|library not found for) -l(\S+?)(?::|$|\s)
values =
    part of found: (lib)?cudnn => cuDNN's development package (libcudnn9-dev-cuda-13, role cuda_libraries)
    part of found: (lib)?nccl => NCCL's development package (libnccl-dev, role cuda_libraries)
    part of found: (lib)?cusparseLt => cuSPARSELt (role cusparselt)
    part of found: (lib)?cudss => cuDSS (role math_libraries)
    part of found: (lib)?nvpl => NVPL (role math_libraries)
    part of found: (lib)?cu(blas|solver|sparse|rand|fft|file|pti|da|b) => the CUDA toolkit (role cuda_libraries)
    part of found: (lib)?nv(rtc|ToolsExt|tx|ml|JitLink|cc) => the CUDA toolkit (role cuda_libraries)
    part of found: thrust|cooperative_groups => the CUDA toolkit (role cuda_libraries)
    part of found: (llvm|mlir|lld|clang) => LLVM at the commit that Triton pins (role llvm)
    part of found: (torch|ATen|c10) => PyTorch (role pytorch), which must be in the unit's depends
    part of found: . => the package that provides it (see apt-file search)
cause = The linker does not find the library {found}.
remedy = Install {part}; if it is in a directory of its own, add that to LIBRARY_PATH in the unit's environment.

[object-damaged]
keys =
    file too short
    file format not recognized
    file truncated
    malformed archive
    not an ELF file
pattern = (\S+): (?:file not recognized: )?(?:file (?:too short|format not recognized|truncated)|malformed archive)
cause = {found} is damaged, as happens after a power loss or on a full disk.
remedy = Remove it and run again, or build with rebuild=true.

[wrong-architecture]
keys =
    file in wrong format
    Exec format error
    wrong ELF class
    cannot open shared object file
    skipping incompatible
pattern =
    (\S+?):? (?:error adding symbols: )?file in wrong format
    (\S+): (?:cannot execute[\w ]*: )?Exec format error
    (\S+): wrong ELF class
    Error: (\S*/\S+): cannot open shared object file
    Exec format error: '([^'\n]+)'
    skipping incompatible (\S+) when searching
cause = {found} is for another processor than this host's, or is damaged.
remedy = Use the file for this machine (uname -m): linux-sbsa is for ARM64 servers and the Spark, linux-aarch64 for
    Tegra.

[relocation-overflow]
keys =
    relocation truncated to fit
    relocation out of range
pattern =
    relocation truncated to fit[^\n]{0,80}
    relocation out of range
cause = A library became too large for its relocations ({found}).
remedy = Build for fewer architectures (TORCH_CUDA_ARCH_LIST), and on aarch64 set USE_PRIORITIZED_TEXT_FOR_LD=1.

[undefined-reference]
keys =
    undefined reference to
    undefined symbol:
pattern =
    undefined reference to '([^'\n]+)'
    ld\.lld: error: undefined symbol: ([^\n]+)
cause = The linker does not find a definition of {found}.
remedy = Find the library that should define it: it was built with other options or from another version, or is missing
    from the link.
"""
