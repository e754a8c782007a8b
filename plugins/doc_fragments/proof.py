"""The options that choose the checks of a proof, and the directory of its reports."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  python:
    description:
      - The interpreter in which the checks run.
      - By default, the interpreter of the environment in O(reference), with the variables and library paths of its
        activation.
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
      - The kind of host, described by C(name), C(compute_capability) (for example V(12.1), null for any),
        C(unified_memory) and C(driver_minimum).
      - C(required_checks) are patterns of the checks that must not be skipped; each of their families that computes
        numbers must have at least one correct number. C(required_by_site) is true if a site set these patterns; a check
        without a result then fails.
      - C(speed_floors) has for each rate C(nominal), the device's nominal rate; C(ratio), the share of it that must be
        reached; and C(evidence), the basis of the ratio. If the floor was not measured on such a device, a rate below
        it only warns.
      - C(site_floors) has the same keys and replaces individual values; the report names floors that it lowers.
      - The rates of the first proven run in O(history) are floors as well; three quarters of each must be reached.
    type: dict
    default: {}
  reference:
    description:
      - The environment as described by the stack. C(root) and C(environment) identify it on the host, C(stack),
        C(method) and C(lock_id) identify the stack.
      - C(environment_id) is the directory name of one environment, so that a staged environment can be proven before
        the switch; if unset or null, the current environment is proven.
      - C(versions) are those of torch, triton, torchvision and torchaudio, C(cuda_version) is that of the host's
        toolkit, and C(driver_minimum) is the oldest accepted driver.
      - C(paths) are files and directories whose library dependencies the loader must find, and C(sonames) are the
        libraries that C(dlopen) must open.
    type: dict
    default: {}
  limits:
    description:
      - C(memory_share) is the usable share of the free memory, 0.5 by default and 0.9 at most.
      - C(factor) multiplies each check's own time limit, 1 by default. C(seconds) is the total time limit, 1800 by
        default.
      - C(survey) is the number of seconds, for each format, during which the survey starts further operators, 12 by
        default; their order changes every day. C(samples) is the number of inputs for each operator, 3 by default.
      - C(seed) determines the order and the inputs; by default it is the date.
    type: dict
    default: {}
  gpu_required:
    description: Whether the host must have a GPU. If false, checks that need a GPU are skipped with that reason.
    type: bool
    default: true
  user:
    description:
      - The account that runs the checks, if the module runs as root. If empty, each environment has a separate account
        without privileges, whose processes are all killed at the end. If unset, root runs them.
    type: str
  accept:
    description: Names of checks whose failure this site accepts; such a failure only warns, and the report says so.
    type: list
    elements: str
    default: []
"""

    # Every module that calls one of our programs has these options.
    PROGRAM = r"""
options:
  program:
    description:
      - The program that does the work, C(sparkforge-proof) or C(sparkforge-guard). The action plugin sets this option
        and sends the program to a host that lacks it.
    type: dict
    suboptions:
      sha256:
        description: The program's sha256, which is compared with the file on the host.
        type: str
        required: true
      path:
        description: The path on the host to which the action plugin sent the program.
        type: path
"""

    # Modules that read a host's earlier proofs have this option.
    KEPT = r"""
options:
  history:
    description: The host's directory with the reports that M(sparkforge.dgx_spark.cuda_proof) writes.
    type: path
    default: /var/log/sparkforge/proof
"""
