# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes docs/playbooks.md from the specification of the playbooks' own variables: python -m lab.playbooks."""

from __future__ import annotations

import pathlib
import sys
import typing as t

import yaml

from lab import pages

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "playbooks.md"
SPECS = ROOT / "playbooks" / "meta" / "argument_specs.yml"

INTRODUCTION = """\
# Variables of the playbooks

The playbooks have these variables in addition to those of the roles that they run, which
`ansible-doc -t role sparkforge.dgx_spark.<role>` lists. If a value is invalid, or a name is close to one of these but
misspelled, the run stops before it does anything. The controller is the machine that runs Ansible.

`python -m lab.playbooks` writes this page from `playbooks/meta/argument_specs.yml`.
"""


def page(specs: t.Mapping[str, t.Any]) -> str:
    """Return the page, with a table for each playbook."""
    return "\n".join([INTRODUCTION, *(section(name, specs[name]) for name in sorted(specs))])


def section(name: str, spec: t.Mapping[str, t.Any]) -> str:
    """Return a playbook's table."""
    rows = [
        f"| `{option}` | {default(option_spec)} | {text(option_spec)} |"
        for option, option_spec in spec["options"].items()
    ]
    head = [
        f"## playbooks/{name}.yml",
        "",
        f"{spec['short_description']}.",
        "",
        "| variable | default | |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def default(option: t.Mapping[str, t.Any]) -> str:
    """Return the default as it would be written in an inventory."""
    if option.get("required"):
        return "required"
    if "default" not in option:
        return ""
    written = yaml.safe_dump(option["default"], default_flow_style=True)
    return f"`{written.strip().removesuffix('...').strip()}`"


def text(option: t.Mapping[str, t.Any]) -> str:
    """Return the description in Markdown, including the choices."""
    sentences = option["description"] if isinstance(option["description"], list) else [option["description"]]
    choices = [f"One of {', '.join(f'`{choice}`' for choice in option['choices'])}."] if "choices" in option else []
    from ansible_collections.sparkforge.dgx_spark.plugins.lookup.variable_errors import unmarked

    return unmarked(" ".join([*sentences, *choices]), r"`\1`")


def main(argv: t.Sequence[str] | None = None) -> int:
    """Write the page, or with ``--check`` tell whether it is current."""
    sys.path.insert(0, str(ROOT / ".collections"))
    text = page(yaml.safe_load(SPECS.read_text(encoding="utf-8"))["argument_specs"])
    return pages.write(PAGE, text, "lab.playbooks", "--check" in (sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    sys.exit(main())
