# PYTHON_ARGCOMPLETE_OK
"""The command line of `sparkforge`. Modules are imported only when needed, because every press of Tab runs this."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from argcomplete import autocomplete, shell_integration

from sparkforge import INTERRUPTED, Exit, Refusal, galaxy, module

DESCRIPTION = """Set up DGX Sparks, and prove that they compute right numbers. Each command prints the
ansible-playbook line that it runs, and passes everything after -- to ansible-playbook."""
LINE = yaml.safe_load(Path(__file__).with_name("commands.yml").read_text())
COMMANDS: dict[str, dict[str, Any]] = LINE["commands"]
EXIT_CODES: dict[int, str] = LINE["exit_codes"]
#: Exit codes of commands that neither find Sparks nor ask about licences.
COMMON = (Exit.DONE, Exit.FAILED, Exit.USAGE, Exit.NO_SSH, Exit.REFUSED, INTERRUPTED)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser for the whole command line."""
    repository = galaxy("repository")
    pages = f"\n\nDocumentation and questions: {repository}." if repository else ""
    parser = argparse.ArgumentParser(
        "sparkforge",
        description=DESCRIPTION,
        epilog=f"{epilog(['sparkforge setup'], EXIT_CODES)}\n\nSome commands differ: see their --help.{pages}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sparkforge {galaxy('version')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, entry in COMMANDS.items():
        add(commands, name, entry)
    return parser


def add(commands: Any, name: str, entry: Mapping[str, Any]) -> None:
    """Add a command with its options and its help."""
    codes = EXIT_CODES if name == "setup" else {code: EXIT_CODES[code] for code in COMMON}
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=entry["help"],
        description=textwrap.fill(f"{entry['help'][0].upper()}{entry['help'][1:]}.", 79),
        epilog=epilog([entry["example"], *entry.get("more_examples", [])], {**codes, **entry.get("exits", {})}),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(playbook=entry.get("playbook"), own=entry.get("arguments", []))
    names = entry.get("common", [name for name in LINE["common"] if name != "check"])
    groups: dict[str, Any] = {"": parser}
    for flag, option in [*entry.get("options", {}).items(), *((name, LINE["common"][name]) for name in names)]:
        keywords = {key: value for key, value in option.items() if key not in ("flags", "either")}
        if "type" in keywords:
            keywords["type"] = {"path": Path, "int": int}[keywords["type"]]
        group = option.get("either", "")
        if group not in groups:
            groups[group] = parser.add_mutually_exclusive_group()
        action = groups[group].add_argument(*option.get("flags", [flag]), **keywords)
        if flag == "limit":
            action.completer = complete_hosts


def epilog(examples: Sequence[str], codes: Mapping[int, str | None]) -> str:
    """Return the epilog of a command's help: the examples and the exit codes."""
    rows = [f"  {code:<4} {text}" for code, text in codes.items() if text]
    return "\n".join(["example:", *(f"  {example}" for example in examples), "", "exit codes:", *rows])


def complete_hosts(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the hosts in the inventory, for shell completion."""
    from sparkforge import inventory

    content = inventory.load(parsed_args.inventory or inventory.default_path())
    return [name for name in content["all"]["children"]["sparks"]["hosts"] if name.startswith(prefix)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    parser = make_parser()
    autocomplete(parser)
    typed = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if typed[0] == "explain":
        return int(module("plugins.plugin_utils.programs").PROOF.module("explain").main(typed[1:]))
    cut = typed.index("--") if "--" in typed else len(typed)
    arguments = parser.parse_args(typed[:cut])
    arguments.further = typed[cut + 1 :]
    if arguments.command == "completion":
        sys.stdout.write(shell_integration.shellcode(["sparkforge"], shell=arguments.shell))
        return Exit.DONE
    from sparkforge import admit, commands, terminal

    errors = terminal.Console(stderr=True, soft_wrap=True)
    run = {"setup": commands.setup, "run": admit.run, "top": admit.top}.get(arguments.command, commands.command)
    try:
        terminal.refuse_control(typed[:cut])
        return run(arguments, terminal.Console())
    except Refusal as refusal:
        # Print each on one line, even if a host or a file put line breaks into it.
        cause, remedy = (" ".join(text.split()) for text in (refusal.cause, refusal.remedy))
        errors.print(f"sparkforge: {cause}\n  {remedy}")
        return refusal.code
    except (KeyboardInterrupt, EOFError):
        errors.print("\nsparkforge: interrupted; nothing was written.")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
