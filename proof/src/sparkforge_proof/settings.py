"""Validate the options of a proof, and merge the speed floors of the profile and the site."""

from __future__ import annotations

import difflib
import pwd
import typing as t

from . import catalogue, verdict
from ._shared.module_utils._core.errors import SparkforgeError

#: The default limits: the share of the device's memory, the factor on each check's time limit, the seconds for the
#: proof, and for the survey, the number of inputs per operator and the seconds per data type.
LIMITS: dict[str, float] = {"memory_share": 0.5, "factor": 1.0, "seconds": 1800.0, "samples": 3.0, "survey": 12.0}
#: Optional limits: the seed for the inputs, which by default is the date.
OPTIONAL = ("seed",)
#: The seed whose inputs have run on other devices (docs/evidence/sound-runs.md). On a kind of device without recorded
#: runs, an environment's first proof draws these, so that only the device is new, and not its inputs too.
SEED_SEEN = 20261129
#: For each floor, the check that measures it, and the rate's name in that check.
RATES = {
    "matmul_bfloat16_tflops": ("speed.matmul_bfloat16", "tflops"),
    "matmul_float16_tflops": ("speed.matmul_float16", "tflops"),
    "copy_gb_per_s": ("speed.copy", "gb_per_s"),
    "host_to_device_gb_per_s": ("speed.copy", "host_to_device_gb_per_s"),
    "device_to_host_gb_per_s": ("speed.copy", "device_to_host_gb_per_s"),
    "sm_clock_mhz": ("speed.clocks", "sm_clock_mhz"),
}
#: The maximum values of the two numbers in a speed floor.
MOST_OF_A_FLOOR = {"nominal": float("inf"), "ratio": 1.0}
#: Rows about the host that a profile may require, given as their name or its first word (``closure libcudss.so.0``).
HOST_ROWS = ("gpu", "compute_capability", "driver", "environment", "closure", "path", "python")


def check(
    patterns: t.Sequence[str], required: t.Sequence[str], limits: t.Mapping[str, float], accepted: t.Sequence[str] = ()
) -> None:
    """Refuse names and patterns that do not match any check, and invalid limits."""
    names = [*catalogue.CHECKS, *HOST_ROWS]
    for name in accepted:
        if name not in names and name.partition(" ")[0] not in HOST_ROWS:
            raise SparkforgeError(
                f"{name!r} in verify_accept is not the name of a check.",
                "Give the full name of each failed check, as in the report.",
            )
    for option, option_patterns in (("the selected checks", patterns), ("the profile's required checks", required)):
        for pattern in option_patterns:
            if not any(verdict.selects([pattern], name) for name in names):
                similar = difflib.get_close_matches(pattern, names, n=1)
                raise SparkforgeError(
                    f"{pattern!r} in {option} matches no check.",
                    f"Name {similar[0] if similar else 'one'} or another that sparkforge-proof --list prints.",
                )
    unknown, known = sorted(set(limits) - {*LIMITS, *OPTIONAL}), ", ".join((*LIMITS, *OPTIONAL))
    if unknown:
        raise SparkforgeError(f"limits has the unknown key {unknown[0]!r}.", f"The keys are {known}.")
    for key, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise SparkforgeError(f"limits.{key} is {value!r}.", "Set a number above 0.")
    if limits["memory_share"] > 0.9:
        raise SparkforgeError(
            f"limits.memory_share is {limits['memory_share']}.",
            "Use at most 0.9: with unified memory, the host freezes if memory runs out.",
        )


def floors(profile: t.Mapping[str, t.Any]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the profile's floors with the site's changes applied, and a notice for each floor that the site lowers."""
    own, site = profile.get("speed_floors") or {}, profile.get("site_floors") or {}
    merged = {rate: {**(own.get(rate) or {}), **(site.get(rate) or {})} for rate in {**own, **site}}
    notices = []
    for rate in site:
        # A floor set by the site blocks even without evidence.
        merged[rate].pop("evidence", None)
    for rate, floor in merged.items():
        for key in ("nominal", "ratio"):
            value: t.Any = floor.get(key)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value <= MOST_OF_A_FLOOR[key]:
                fault = "no" if value is None else f"{value!r} for its"
                raise SparkforgeError(
                    f"The floor {rate} of the profile {profile.get('name')} has {fault} {key}.",
                    "Set nominal (the device's nominal rate) and ratio (the part of it that must be reached, at most "
                    "1), both above 0, or remove the floor.",
                )
        before = own.get(rate) or {}
        if before and floor["nominal"] * floor["ratio"] < before["nominal"] * before["ratio"]:
            notices.append(
                f"The floor of {rate} is {floor['ratio']:g} of {floor['nominal']:g}; the site lowered it from"
                f" {before['ratio']:g} of {before['nominal']:g}."
            )
    return merged, notices


def check_user(user: str) -> None:
    """Refuse an account that does not exist on this host."""
    try:
        pwd.getpwnam(user)
    except KeyError as error:
        raise SparkforgeError(f"This host has no account {user}.", "Set verify_user to an existing account.") from error
