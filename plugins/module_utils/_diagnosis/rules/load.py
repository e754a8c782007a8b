# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Loading

What the loader says of a library that was built.
"""

RULES = r"""
[cudss-soname]
keys = libcudss.so.0: cannot open
pattern = (libcudss\.so\.0): cannot open shared object file
cause = {found} is not found: cuDSS before 1.0 provides it; cuDSS 1.0 is libcudss.so.1, which does not satisfy it.
remedy = Install cuDSS 0.7.1 to 0.8.0 (role math_libraries, package libcudss0-cuda-13); elf_closure_info lists
    everything that is missing in one pass.

[driver-library-missing]
keys =
    libcuda.so.1: cannot open
    libnvidia-ml.so.1: cannot open
pattern = (libcuda\.so\.1|libnvidia-ml\.so\.1): cannot open shared object file
cause = {found} is not found: it belongs to the NVIDIA driver.
remedy = Run this on a host with the driver; this collection never installs the driver.

[library-not-found]
keys = cannot open shared object file
pattern = ([^\s/:]+\.so[\w.]*): cannot open shared object file
facts = library
cause = The shared library {found} is not found. {hint}
remedy = Provide it{ways}; elf_closure_info lists everything that is missing in one pass; the loader stops at the first.

[libc-too-old]
keys = not found (required by
pattern = (\S+): version '([A-Z]\w+_[\d.]+)' not found \(required by ([^)\n]+)\)
cause = {found} of this host or environment is older than the one a library was built with.
remedy = Build it on the oldest system that must run it, and keep older copies out of LD_LIBRARY_PATH.

[static-tls]
keys = static TLS block
pattern = (\S+): cannot allocate memory in static TLS block
cause = {found} was loaded too late to get thread-local storage.
remedy = Import torch first, or preload that library (mostly libgomp) with LD_PRELOAD.

[undefined-symbol]
keys = undefined symbol
pattern = (\S+): undefined symbol: ([^\s,]+)
cause = {found} needs a symbol that no loaded library has: it was built against another version of a library.
remedy = Rebuild it against the installed libraries.
"""
