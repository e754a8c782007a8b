# PYTHON_ARGCOMPLETE_OK
"""The command line of `sparkforge`. What runs something is imported when it is needed: Tab asks at every press."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argcomplete import autocomplete, shell_integration

from sparkforge import INTERRUPTED, Exit, Refusal, forecast, module, published, serving

EXITS = """It ends with 0 done, 1 a host failed, 2 wrong usage, 3 no Spark found or two of one name, \
4 no ssh server, 5 user name or password refused, 6 licence declined, 130 interrupted."""
DESCRIPTION = """Sets DGX Sparks up, and proves that they compute right numbers. Each command prints the \
ansible-playbook line that it runs; what follows -- goes to ansible-playbook."""
#: Each other command: the playbook, its own arguments, whether --check means anything to it, and what it does.
COMMANDS: dict[str, tuple[str, list[str], bool, str]] = {
    "status": ("status", [], False, "show what each Spark has, its last proof, and what a run would change"),
    "prove": ("site", ["--tags", "verify"], False, "compute on each Spark, and compare with a float64 calculation"),
    "build": ("build", [], True, "build the stack from source, or follow the build that runs"),
    "serve": ("serve", [], True, "serve a model with vLLM or SGLang, and get what that needs"),
    "model": ("model", [], True, "get a model from the Hugging Face hub, or remove it"),
    "rollback": ("rollback", [], True, "go back to the environment before the current one, and prove it"),
    "forecast": ("forecast", [], False, "tell what the next upgrade of each Spark breaks, and what to do; reads only"),
    "record": ("record", [], False, "write what a run would need to know of a Spark into a file to send, without root"),
    "inspect": ("inspect", [], False, "tell whether a package, wheel, environment or image runs on a Spark"),
}
#: Commands and options that are gone, and what to do instead.
GONE = {
    "--discover": "Use --names and --interfaces, or name the Sparks with --host.",
    "audit": "Run sparkforge prove, whose checks identity.files and identity.wheels compare installed files.",
    "update": "Run sparkforge forecast, then NVIDIA's own updater as it says, and sparkforge prove afterwards.",
}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    place = f" Documentation and questions: {published()}." if published() else ""
    parser = argparse.ArgumentParser("sparkforge", description=DESCRIPTION, epilog=EXITS + place)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    setup = add(commands, "setup", "find Sparks, ask five questions, write the inventory, and run", check=True)
    setup.add_argument("--host", action="append", metavar="NAME", help="a name or an address; may be given again")
    setup.add_argument("--user", help="your user name on the Sparks")
    setup.add_argument("--accept-nvidia-license", action="store_true", help="you accept NVIDIA's licences")
    methods = ["wheels", "source", "newest"]
    setup.add_argument("--method", choices=methods, help="wheels (minutes), source (hours), or newer wheels if shipped")
    setup.add_argument("--proxy", metavar="URL", help="what apt, pip and git go through: http://proxy.example:3128")
    setup.add_argument("--names", action="append", metavar="PATTERN", help="look for these names, not the factory's")
    setup.add_argument("--interfaces", action="append", metavar="ADDRESS", help="search only from this address")
    added = {name: add(commands, name, text, check) for name, (_play, _words, check, text) in COMMANDS.items()}
    for name, (playbook, own, _check, _text) in COMMANDS.items():
        added[name].set_defaults(playbook=playbook, own=own)
    added["inspect"].add_argument("target", help="a requirement, a file or a directory")
    serving.add_options(added["serve"], added["model"])
    forecast.add_options(added["forecast"])
    record = added["record"]
    record.add_argument("--prove", action="store_true", help="prove the torch that is there, and add the report")
    record.add_argument("--python", metavar="PATH", help="an interpreter on the Spark that has torch")
    top = add(commands, "top", "show memory, power and the guard's acts of each Spark every second", check=False)
    top.add_argument("--once", action="store_true", help="show them once")
    text = "tell what a command takes of this machine's memory, and start it if it fits"
    run = commands.add_parser("run", help=text, description=f"{text[0].upper()}{text[1:]}. The command follows --.")
    run.add_argument("--needs", metavar="SIZE", help="what it takes, such as 40G, if that is not known")
    run.add_argument("--dry-run", action="store_true", help="tell only")
    commands.add_parser("explain", help="tell what failed in a log, and the remedy").add_argument("file", nargs="*")
    completion = commands.add_parser("completion", help='for completion with Tab: eval "$(sparkforge completion bash)"')
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    return parser


def add(commands: Any, name: str, text: str, check: bool) -> argparse.ArgumentParser:
    """Add a command with the options that each has."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.add_argument("-i", "--inventory", type=Path, metavar="FILE", help="default: ~/.config/sparkforge/hosts.yml")
    limit = parser.add_argument("-l", "--limit", metavar="HOSTS", help="only these hosts of the inventory")
    limit.completer = complete_hosts  # type: ignore[attr-defined]
    parser.add_argument("--dry-run", action="store_true", help="print the line; neither run nor write anything")
    if check:
        parser.add_argument("--check", action="store_true", help="show what would change (--check --diff)")
    parser.add_argument("--no-password", action="store_true", help="sudo wants none, or the inventory has it")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all of Ansible's output, also on a terminal")
    return parser


def complete_hosts(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the hosts of the inventory, for the shell."""
    from sparkforge import inventory

    known = inventory.load(parsed_args.inventory or inventory.default_path())
    return [name for name in known["all"]["children"]["sparks"]["hosts"] if name.startswith(prefix)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the status to exit with."""
    parser = make_parser()
    autocomplete(parser)
    words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if words[0] == "explain":
        return int(module("plugins.plugin_utils.programs").PROOF.module("explain").main(words[1:]))
    cut = words.index("--") if "--" in words else len(words)
    for word in (words[0], *(word for word in words[:cut] if word.startswith("--"))):
        if word in GONE:
            sys.stderr.write(f"sparkforge: {word} is gone. {GONE[word]}\n")
            return Exit.USAGE
    arguments = parser.parse_args(words[:cut])
    arguments.further = words[cut + 1 :]
    if arguments.command == "completion":
        sys.stdout.write(shell_integration.shellcode(["sparkforge"], shell=arguments.shell))
        return Exit.DONE
    from sparkforge import admit, commands, terminal

    errors = terminal.Console(stderr=True, soft_wrap=True)
    run = {"setup": commands.setup, "run": admit.run, "top": admit.top}.get(arguments.command, commands.command)
    try:
        terminal.refuse_control(words[:cut])
        return run(arguments, terminal.Console())
    except Refusal as refusal:
        # A line each, whatever a host or a file put into them.
        cause, remedy = (" ".join(text.split()) for text in (refusal.cause, refusal.remedy))
        errors.print(f"sparkforge: {cause}\n  {remedy}")
        return refusal.code
    except (KeyboardInterrupt, EOFError):
        errors.print("\nsparkforge: interrupted; nothing was written.")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
