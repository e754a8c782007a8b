# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Environment of a build

What a build finds, and what it must not touch, before it compiles anything.
"""

RULES = r"""
[cuda-home-is-a-list]
keys = nvcc: not found
pattern = sh: \d+: (?P<path>:\S*/nvcc): not found
cause = The build calls {path}, with a colon before the path: CUDA_HOME was set like a PATH (CUDA_HOME=$CUDA_HOME:DIR).
remedy = Set CUDA_HOME to the one directory of the toolkit, without a colon, and remove what was half built (such as
    flashinfer's cache).
source = vllm-project/vllm#36077

[unbound-variable]
keys = unbound variable
pattern = (\w+): unbound variable
cause = A script under 'set -u' reads {found}, which is not set.
remedy = Set {found} before the script runs, in the shell or the unit's environment: a unit's build gets only these
    variables, never a shell's.

[build-requirement-missing]
keys =
    Error: No module named
    Cannot import '
    Missing dependencies:
    Cannot import build backend
    invalid command 'bdist_wheel'
pattern =
    invalid command '(bdist_wheel)'
    Error: No module named '(setuptools|wheel|scikit_build_core|hatchling|flit_core|poetry|mesonpy)(?:\.[\w.]+)?'
    Error: No module named '(pybind11|nanobind|numpy|yaml|typing_extensions|packaging|psutil)(?:\.[\w.]+)?'
    Error: No module named '(ninja|cmake|jinja2|six|requests|Cython|setuptools_scm)(?:\.[\w.]+)?'
    Cannot import (?:build backend )?'([\w.]+)'
    Missing dependencies:\s+(\S+)
cause = The build needs {found}, and its environment does not have it: with --no-build-isolation pip installs no build
    requirements.
remedy = Install it into the environment of the build first (pip install {found}; in this collection the unit's
    requirements); a wrong Python gives the same error.
source = foundation-model-stack/fastsafetensors#82

[python-version]
keys =
    requires a different Python
    Requires-Python
    requires-python
    requires Python '
pattern =
    requires a different Python: (\S+ not in '[^'\n]+')
    requires Python '(?P<wanted>[^'\n]+)' but
cause = The source does not support the environment's Python ({found}).
remedy = Use a Python in that range (uv venv --python 3.12; the unit's python), or a version of the package that
    supports this one.

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
    DIR and DIR/bin/pip, or uv venv; of Ansible's module pip the option virtualenv; in this collection the role
    python_env), and a program with pipx; never with --break-system-packages.
source =
    actions/runner-images#10781
    vllm-project/vllm#21677

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
    cannot create directory:?\s+'?(/[^\s'\"]+?)'?[.:]?\s[^\n]*\s*(?:Permission denied|No such file)
    cannot create directory:?\s+'?(/[^\s'\"]+?)'?[.:]?\s[^\n]*\s*(?:Maybe|administrative|privileges)
    Permission denied: '(/usr/(?:local/)?lib/python[^'\n]*)
    create or remove files in install directory
cause = Something was to be installed into the system ({found}), which this account may not write.
remedy = Install into a virtual environment (python3 -m venv, uv venv), not with sudo; a unit's build makes a wheel,
    with CMAKE_INSTALL_PREFIX only below the root, and never runs 'setup.py install'.
"""
