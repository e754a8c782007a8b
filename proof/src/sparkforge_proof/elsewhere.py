"""Reword a report for users of the single-file program, with its own options, and pip instead of playbooks."""

from __future__ import annotations

import re
import typing as t

_AGAIN = "nstall the packages of this environment again"
#: Patterns and replacements, in this order: remarks next to a remedy, remedies, and names of options.
_REPLACEMENTS = [
    (r" \((?:playbooks/[\w.]+|role \w+|stack_method: \w+|verify_accept|sparkforge_gpu_required is false)\)", ""),
    (r"\((?:playbooks/[\w.]+, or|role \w+,) ", "("),
    (r"; (?:elf_closure_info|in this collection)[^.;]*(?:; the loader stops at the first)?", ""),
    (r"; the role pytorch always sets it|, built by the role pytorch", ""),
    (r"or with the role pytorch's fix \w+, ", ""),
    (r"If it is intentionally slower, set the floor in verify_speed_floors\.", ""),
    (r", or (?:set|correct) verify_\w+[^.;]*(?=[.;]|$)", ""),
    (
        r"Use a stack whose torch has an official aarch64 CUDA wheel \(2\.11 and newer\), or build it from source",
        "Run python -m pip install --force-reinstall 'torch>=2.11', which is a CUDA build",
    ),
    (r" and playbooks/deploy\.yml", ""),
    (r", then run playbooks/\w+\.yml|: run playbooks/libraries\.yml, or playbooks/deploy\.yml if[^.]*", ""),
    (r"Run playbooks/libraries\.yml for (\w+)", r"Install \1"),
    (r"(?:Remove \S+ and (?=r)|(?=R))([Rr])un playbooks/deploy\.yml[^.;:]*", rf"I{_AGAIN}"),
    (r"run playbooks/deploy\.yml[^.;:]*|playbooks/deploy\.yml fetches it again", f"i{_AGAIN}"),
    (r"Run playbooks/libraries\.yml[^.;:]*", "Install the library that is missing"),
    (r"Run the role \w+, which installs ", "Install "),
    (r"Run the role \w+\. |, and the role adds the entry", ""),
    (r"run the role that installed it", "install it again"),
    (r"no role of this collection installs", "nothing here is known to install"),
    (r"\bverify_user\b", "this account"),
    (r"\bverify_accept\b", "--accept"),
    (r"set sparkforge_gpu_required: false", "use --cpu"),
    (r"Set stack_profile to this GPU's profile, or to generic", "Name another with --profile, such as generic"),
    (r"raise limits\.seconds", "use --full, which may take longer"),
    (r"\bThis site accepts\b", "You accept"),
]
_RULES = [(re.compile(pattern), text) for pattern, text in _REPLACEMENTS]


def reword(value: t.Any) -> t.Any:
    """Return a sentence, a row or a list from a report with these replacements made."""
    if isinstance(value, t.Mapping):
        return {key: reword(item) for key, item in value.items()}
    if isinstance(value, list):
        return [reword(item) for item in value]
    if not isinstance(value, str):
        return value
    for pattern, text in _RULES:
        value = pattern.sub(text, value)
    return re.sub(r"\blimits\.(\w+)", lambda match: f"--{match[1].replace('_', '-')}", value).strip()
