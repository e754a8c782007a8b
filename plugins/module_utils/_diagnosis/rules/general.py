# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What its fields mean: __init__.py beside it.

"""Any tool

What any tool may print, also one whose failure does not matter: asked last.
"""

RULES = r"""
[warnings-as-errors]
keys = [-Werror
pattern = error: ([^\n]+?) \[-Werror
cause = A warning counts as an error: {found}.
remedy = Add the matching -Wno-error=… to CXXFLAGS in the unit's environment, or drop -Werror by an edit.
from = gcc 12.2
example = w.cpp:1:15: error: unused variable 'unused' [-Werror=unused-variable]

[process-killed]
keys =
    Killed
    [code=137]
pattern =
    ^[ \t]*(?:\S*sh: line \d+: +\d+ )?(Killed)\b(?! signal)
    FAILED: \[(code=137)\]
    \] (Killed)$
cause = A process of the build was killed by signal 9 ({found}), as the kernel does when memory runs out; nvcc prints no
    more than that when it happens to its compiler.
remedy = Run again, which resumes from the objects with jobs sized by the memory that is then free; raise memory_per_job
    or set jobs, and end the programs that hold memory (GPU processes hold it too).
from = a step of ninja 1.13 that kills itself by signal 9
example = FAILED: [code=137] x.o

[compile-error]
keys = error:
pattern = ^[ \t]*(\S+?(?::\d+(?::\d+)?:|\(\d+\):) (?:fatal )?error: [^\n]+)
unless = : (?:Permission denied|Operation not permitted)
cause = The source does not compile: {found}
remedy = Compare the compiler, nvcc and Python with those of the stack; a patch or an edit may have broken the source.
from = gcc 12.2
example = e.cpp:1:18: error: 'undeclared_name' was not declared in this scope

[dubious-ownership]
keys = detected dubious ownership
pattern = detected dubious ownership in repository at '([^'\n]+)'
cause = git refuses {found}, for another user owns it.
remedy = Give the directory to the build user (chown -R): an earlier build ran as root or as somebody else.
from = git 2.39
example = fatal: detected dubious ownership in repository at '/opt/sparkforge/builds/demo/0f1e2d3c4b5a6978/c1'

[python-module-missing]
keys = Error: No module named
pattern = Error: No module named '?([\w.]+)
cause = Python does not find the module {found}.
remedy = Name its package in the unit's requirements, or install it into the environment.
from = Python 3.12
example = ModuleNotFoundError: No module named 'some_module_of_ours'

[triton-compiler-failed]
keys = CalledProcessError: Command
pattern = CalledProcessError: Command '\['([^']+)', '[^']*(?:cuda_utils|__triton_launcher|main|launcher)\.c'
cause = Triton compiles a C file at the first kernel, and {found} failed.
remedy = Run the role build_toolchain on this host; see that cuda.h, Python.h and libcuda.so.1 are found.
from = Triton 3.5.1 compiling its cuda_utils.c with a compiler that fails without a word
example =
    subprocess.CalledProcessError: Command '['/opt/sparkforge/badcc', '/tmp/tmpyyvos1qa/cuda_utils.c', '-O3', [...]

[dependency-cycle]
keys = dependency cycle
pattern = dependency cycle: ([^\n]+)
cause = The build's files depend on each other in a ring: {found}.
remedy = Correct the source, or the patch or edit that made it.
from = ninja 1.11
example = ninja: error: dependency cycle: a -> b -> a

[clock]
keys =
    still dirty after 100 tries
    in the future
    Clock skew detected
    is not valid yet
pattern =
    still dirty after 100 tries
    modification time \S+ s in the future
    Clock skew detected
    is not valid yet
cause = The clock of this host went back, or is wrong ({found}).
remedy = Set the clock (timedatectl; a Spark without network time may start in the past) and build with rebuild=true.
from = GNU make
example = make: Warning: File 'y' has modification time 86399 s in the future

[input-missing]
keys =
    missing and no known rule
    No rule to make target
    INSTALL cannot find
pattern =
    '([^'\n]+)', needed by .* missing and no known rule
    No rule to make target '([^'\n]+)'
    INSTALL cannot find\s+'([^'\n]+)'
cause = The build needs the file {found}, which is not there and which nothing makes.
remedy = Take the whole source, submodules and what an ignore list may have left out included; where the file was there
    when CMake configured, build with rebuild=true.
from = GNU make
example = make: *** No rule to make target 'gone.h', needed by 'a.o'.  Stop.
from = ninja 1.11
example = ninja: error: 'a.cpp', needed by 'a.o', missing and no known rule to make it

[ninja-no-file]
keys = loading 'build.ninja'
pattern = loading 'build\.ninja': ([^\n]+)
cause = The build directory has no build.ninja: configuring did not finish.
remedy = See the lines of CMake above; build with rebuild=true where they show no error.
from = ninja 1.11
example = ninja: error: loading 'build.ninja': No such file or directory

[process-limit]
keys =
    Resource temporarily unavailable
    Too many open files
pattern =
    Resource temporarily unavailable
    Too many open files
cause = A limit of the build's user or unit was reached ({found}).
remedy = Raise the limits of processes or open files (TasksMax, LimitNOFILE, ulimit -u and -n), or set fewer jobs.
from = bash 5.2
example = bash: fork: retry: Resource temporarily unavailable

[permission-denied]
keys =
    Permission denied
    Operation not permitted
    Unable to (re)create
pattern =
    Permission denied: '([^'\n]+)'
    '?([^\s':]+)'?: (?:Permission denied|Operation not permitted)
    Unable to \(re\)create the private pkgRedirects directory:\s+(\S+)
cause = The build user may not write or run {found}.
remedy = Give it to the build user (chown -R): an earlier build ran as root or as somebody else.
from = Python 3.12
example = PermissionError: [Errno 13] Permission denied: 'ro/x'
from = git 2.39
example = fatal: could not create work tree dir 'ro/x': Permission denied
from = CMake 3.25
example =
    CMake Error: Unable to (re)create the private pkgRedirects directory:
    /opt/sparkforge/builds/demo/0f1e2d3c4b5a6978/source/cm11/new/CMakeFiles/pkgRedirects

[command-missing]
keys =
    command not found
    : not found
    No such file or directory: '
    No such file or directory
pattern =
    (?:^|\s)'?([^\s:']+): command not found
    sh: \d+: ([^\s:]+): not found
    make(?:\[\d+\])?: (\S+): No such file
    Error: \[Errno 2\] No such file or directory: '([\w.+-]+)'
cause = The build calls {found}, which is not on its PATH.
remedy = Run the role build_toolchain on this host, or name the package in the unit's requirements.
from = bash 5.2
example = bash: line 1: ccache: command not found

[step-crashed]
keys =
    Segmentation fault
    Bus error
    Illegal instruction
    Aborted
    died due to signal
    [code=13
pattern =
    ^[ \t]*(Segmentation fault|Bus error|Illegal instruction|Aborted)\b
    FAILED: \[code=(13[4569])\]
cause = A program that the build runs crashed ({found}).
remedy = See the command above it: an illegal instruction means code for another processor, a bus error a full disk.
from = a program that reads address 0, below ninja 1.11
example = Segmentation fault
"""
