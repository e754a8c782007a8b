# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that choose the checks of a proof, and the directory of its reports."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  python:
    description:
      - The interpreter in which the checks run.
      - By default that of the environment in O(reference), with the variables and library paths of its activation.
    type: path
  checks:
    description:
      - Shell patterns of check names, for example V(attention.*) and V(cpu.*).
      - The role P(sparkforge.dgx_spark.verify#role) lists the names in its README.
    type: list
    elements: str
    default: ["*"]
  profile:
    description:
      - The kind of host. C(name), C(compute_capability) (for example V(12.1), null for any), C(unified_memory),
        C(driver_minimum).
      - C(required_checks) are patterns of the checks that must not be skipped; of each family among them that computes,
        a number must have been computed and right. C(required_by_site) says that a site set them; then a check without
        an answer fails.
      - C(speed_floors) has for each rate C(nominal), the device's nominal rate, C(ratio), the part of it that must be
        reached, and C(evidence), its basis; a rate below one that was not measured on such a device warns.
      - C(site_floors) has the same keys and replaces single values; the report names floors that it lowers.
      - The rates of the first proven run in O(history) are floors as well, three quarters of which must be reached.
    type: dict
    default: {}
  reference:
    description:
      - The environment as the stack describes it. C(root) and C(environment) name it on the host, C(stack),
        C(method) and C(lock_id) the stack.
      - C(environment_id) is the name of one environment's directory, so that a staged one is proven before the switch;
        if unset or null, the current one.
      - C(versions) of torch, triton, torchvision and torchaudio, C(cuda_version) of the host's toolkit,
        C(driver_minimum).
      - C(paths) are files and directories whose closure the loader must find, C(sonames) what C(dlopen) must open.
    type: dict
    default: {}
  limits:
    description:
      - C(memory_share) is the usable share of the free memory, 0.5 by default and 0.9 at most.
      - C(factor) multiplies each check's own time limit, 1 by default. C(seconds) is the limit for all, 1800 by
        default.
      - C(survey) is the number of seconds during which the survey starts further operators, for each format, 12 by
        default, in an order that changes by the day; C(samples) how many inputs each has, 3 by default.
      - C(seed) decides the order and the inputs, by default the date.
    type: dict
    default: {}
  gpu_required:
    description: Whether the host must have a GPU. Otherwise checks that need one are skipped with that reason.
    type: bool
    default: true
  user:
    description:
      - The account that runs the checks, if the module runs as root. If empty, each environment has a separate account
        without rights, all of whose processes are killed at the end. If unset, root runs them.
    type: str
  accept:
    description: Names of checks whose failure this site accepts; they warn, and the report says so.
    type: list
    elements: str
    default: []
"""

    # Every module that calls a program of ours has these options.
    PROGRAM = r"""
options:
  program:
    description:
      - The program that does the work, C(sparkforge-proof) or C(sparkforge-guard). The action plugin fills this in, and
        sends the program to a host that lacks it.
    type: dict
    suboptions:
      sha256:
        description: Its sha256, with which the file on the host is compared.
        type: str
        required: true
      path:
        description: The path that the action plugin sent it to.
        type: path
"""

    # Modules that read a host's earlier proofs have this option.
    KEPT = r"""
options:
  history:
    description: The host's directory of reports that M(sparkforge.dgx_spark.cuda_proof) writes.
    type: path
    default: /var/log/sparkforge/proof
"""
