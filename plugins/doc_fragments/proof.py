# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is proven, and where the host keeps what was found."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  python:
    description:
      - The interpreter in which the checks run.
      - By default that of the environment that O(reference) names, with the variables and library paths of
        its activation.
    type: path
  checks:
    description:
      - Shell patterns over the names of checks, for example V(attention.*) and V(cpu.*).
      - The role P(sparkforge.dgx_spark.verify#role) lists the names in its README.
    type: list
    elements: str
    default: ["*"]
  profile:
    description:
      - What kind of host it is. C(name), C(compute_capability) (for example V(12.1), null for any), C(unified_memory),
        C(driver_minimum).
      - C(required_checks) are patterns of the checks that must pass, each with what that rests on, C(measured on ...),
        C(from the data sheet) or C(unknown), or a plain list of them.
      - One that is skipped counts as failed. Where its requirement does not rest on a measurement it is a warning, and
        so is a failure that computed nothing. A number that is wrong fails whatever it rests on.
      - C(speed_floors) has for each rate C(nominal), what the device is made for, C(ratio), the part of it that must be
        reached, and C(evidence), what that rests on; only a floor that was measured fails the check, another warns.
      - C(site_floors) has the same keys and replaces single values; a floor that this lowers is named in the report.
      - The rates of the first proven run in O(history) are floors as well, three quarters of which must be reached.
    type: dict
    default: {}
  reference:
    description:
      - What the stack says that the environment is. C(root) and C(environment) name it on the host, C(stack),
        C(method) and C(lock_id) the stack.
      - C(environment_id) is the name of one environment's directory, so that a staged one is proven before it is
        switched to; left out or null, it is the current one.
      - C(versions) of torch, triton, torchvision and torchaudio, C(cuda_version) of the host's toolkit,
        C(driver_minimum).
      - C(paths) are files and directories whose closure the loader must find, C(sonames) what C(dlopen) must open.
    type: dict
    default: {}
  limits:
    description:
      - C(memory_share) of the free memory that may be taken, 0.5 by default and 0.9 at most.
      - C(factor) multiplies each check's own time limit, 1 by default. C(seconds) is the limit for all, 1800 by
        default.
      - C(survey) is for how many seconds the survey of torch's operators begins another one, in each format, 12 by
        default, in an order that changes by the day; C(samples) how many inputs each has, 3 by default.
      - C(seed) decides the order and the inputs, by default the date.
    type: dict
    default: {}
  gpu_required:
    description: Whether the host must have a GPU. Checks that need one are skipped with that reason otherwise.
    type: bool
    default: true
  user:
    description: The account as which the checks run, where the module runs as root.
    type: str
"""

    # For what works on a host that has kept a proof.
    KEPT = r"""
options:
  root:
    description: Where the collection keeps what it makes.
    type: path
    default: /opt/sparkforge
  history:
    description: Where the host keeps its reports, as M(sparkforge.dgx_spark.cuda_proof) writes them.
    type: path
    default: /var/log/sparkforge/proof
"""
