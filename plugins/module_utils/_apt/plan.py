"""Parse apt-get's plan, and refuse it if it touches the vendor's packages."""

from __future__ import annotations

import re
import typing as t

from .._core import phrases
from .._core.errors import SparkforgeError
from .deb_version import compare_versions

# The driver, the kernel and DGX packages belong to the vendor (DESIGN.md, rule 10). linux-libc-dev is not a kernel but
# the header package that every compiler depends on. The names are from nvidia-facts A and from Ubuntu's kernels.
PROTECTED = (
    r"^nvidia-driver",
    r"^nvidia-kernel",
    r"^nvidia-dkms",
    r"^nvidia-open",
    r"^nvidia-firmware",
    r"^nvidia-fabricmanager",
    r"^nvidia-modprobe$",
    r"^nvidia-persistenced$",
    r"^nvidia-utils-",
    r"^nvidia-compute-utils-",
    r"^nvidia-fs",
    r"^nvidia-spark",
    r"^nvidia-system-",
    r"^libnvidia-",
    r"^xserver-xorg-video-nvidia",
    r"^cuda-drivers",
    r"^cuda-compute-repo",
    r"^linux-(?!libc-dev)",
    r"^dgx-",
    r"^grub-",
    r"^shim-",
)

_INST = re.compile(r"^Inst (\S+) (?:\[(\S+)\] )?\((\S+) ?([^)\[]*)")
_REMV = re.compile(r"^(?:Remv|Purg) (\S+)(?: \[(\S+)\])?")


class Step(t.NamedTuple):
    """One package in apt's plan: new if ``previous`` is None, removed if ``version`` is None."""

    name: str
    previous: str | None
    version: str | None

    def as_result(self) -> dict[str, str | None]:
        return {"name": self.name, "previous": self.previous, "version": self.version}


class Plan(t.NamedTuple):
    """The changes that apt-get would make."""

    install: list[Step]
    remove: list[Step]


def parse_simulation(text: str) -> Plan:
    """Parse the output of ``apt-get --simulate``."""
    plan = Plan([], [])
    for line in text.splitlines():
        inst, remv = _INST.match(line), _REMV.match(line)
        if inst:
            plan.install.append(Step(inst.group(1), inst.group(2), inst.group(3)))
        elif remv and remv.group(1) not in {step.name for step in plan.remove}:
            plan.remove.append(Step(remv.group(1), remv.group(2), None))
    return plan


def check_plan(plan: Plan, allow: t.Iterable[str] = ()) -> None:
    """Refuse a plan that removes or downgrades anything, or that touches a protected package.

    :param allow: regular expressions for exceptions to ``PROTECTED`` (nvidia-fs, if requested).
    """
    if plan.remove:
        raise SparkforgeError(
            f"apt would remove {names_of(plan.remove)} to install the requested packages.",
            "Find the conflicting package with `apt-get -s install`; remove it manually if it is not needed, or "
            "request versions that fit.",
            would_remove=[step.as_result() for step in plan.remove],
        )
    allowed = [re.compile(pattern) for pattern in allow]
    guarded = [re.compile(pattern) for pattern in PROTECTED]
    protected_steps = [
        step
        for step in plan.install
        if any(pattern.search(step.name) for pattern in guarded)
        and not any(pattern.search(step.name) for pattern in allowed)
    ]
    if protected_steps:
        raise SparkforgeError(
            f"apt would install or upgrade {names_of(protected_steps)}: the driver, the kernel and DGX packages are "
            "the vendor's.",
            "First update the host with the vendor's own updater (apt full-upgrade, or DGX Dashboard), or request "
            "versions that fit the installed packages.",
            protected=[step.as_result() for step in protected_steps],
        )
    downgrades = [
        step
        for step in plan.install
        if step.previous is not None and step.version is not None and compare_versions(step.previous, step.version) > 0
    ]
    if downgrades:
        raise SparkforgeError(
            "apt would downgrade "
            + ", ".join(f"{step.name} from {step.previous} to {step.version}" for step in downgrades)
            + ".",
            "Request the installed version, or remove the newer package manually first.",
            would_downgrade=[step.as_result() for step in downgrades],
        )


def names_of(steps: t.Sequence[Step]) -> str:
    return phrases.some([step.name for step in steps])
