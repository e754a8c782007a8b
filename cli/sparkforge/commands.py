"""The commands of `sparkforge`."""

from __future__ import annotations

import argparse
import platform
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from sparkforge import INTERRUPTED, Exit, Refusal, find, inventory, module, play, questions, serving
from sparkforge.find import Spark
from sparkforge.play import Play
from sparkforge.questions import Answers
from sparkforge.terminal import Console
from sparkforge.unsafe_text import set_variables


def command(arguments: argparse.Namespace, console: Console) -> int:
    """Run a command other than setup."""
    playbook, own = arguments.playbook, arguments.own
    path = arguments.inventory or inventory.default_path()
    if arguments.command == "forecast":
        variables = forecast_variables(arguments)
        own = set_variables(**variables) if variables else []
        arguments.limit = arguments.limit or ",".join(arguments.host)
        arguments.no_password = arguments.no_password or bool(arguments.record)
    if unknown := inventory.unknown_names(path, getattr(arguments, "limit", None) or ""):
        raise Refusal(Exit.USAGE, f"{path} has no host {', '.join(unknown)}.", "Name hosts or groups of the inventory.")
    if arguments.command == "inspect":
        own = set_variables(inspect_target=arguments.target)
        path = path if path.exists() else play.LOCALHOST
    elif arguments.command == "record":
        return record(arguments, console, path)
    elif arguments.command == "forecast" and arguments.record:
        path = play.LOCALHOST
    elif not path.exists():
        raise Refusal(Exit.USAGE, f"There is no inventory {path}.", "Run sparkforge setup, or name another with -i.")
    if arguments.command in ("serve", "model"):
        with serving.variables(arguments) as variables:
            own = set_variables(**variables)
            return finish(arguments, console, Play(playbook, path, [*own, *for_ansible(arguments)]))
    return finish(arguments, console, Play(playbook, path, [*own, *for_ansible(arguments)]))


def record(arguments: argparse.Namespace, console: Console, path: Path) -> int:
    """Record the hosts in the inventory, or this machine if there is no inventory."""
    from sparkforge import record

    if arguments.inventory and not path.exists():
        raise Refusal(Exit.USAGE, f"There is no inventory {path}.", "Correct -i, or omit it to record this machine.")
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as folder:
        # A dry run prints commands for later use, when the temporary folder no longer exists.
        archive = (Path.cwd() if arguments.dry_run else Path(folder)) / record.NAME
        if arguments.dry_run:
            console.print(f"+ {shlex.join([sys.executable, '-m', 'sparkforge.record', str(archive)])}", soft_wrap=True)
        else:
            record.build(archive)
        if not path.exists():
            return record.record_this_machine(arguments, console, archive)
        extra = set_variables(record_archive=str(archive), record_options=record.options(arguments))
        return finish(arguments, console, Play("record", path, [*extra, *for_ansible(arguments)]))


def forecast_variables(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the variables of the forecast's playbook.

    :raises Refusal: if a record does not exist, or hosts are specified in two ways.
    """
    if arguments.host and arguments.limit:
        cause = f"Hosts were given twice: {' '.join(arguments.host)}, and -l {arguments.limit}."
        raise Refusal(Exit.USAGE, cause, "Give the hosts as arguments or with -l, not both.")
    for path in arguments.record or []:
        if not path.is_file():
            raise Refusal(Exit.USAGE, f"There is no file {path}.", "Run sparkforge record, which writes such files.")
    values = {
        "forecast_records": [str(path.absolute()) for path in arguments.record or []],
        "forecast_ledger": arguments.ledger,
        "forecast_accept": arguments.accept,
        "forecast_format": "json" if arguments.json else None,
        "forecast_file": str(arguments.file.absolute()) if arguments.file else None,
    }
    return {name: value for name, value in values.items() if value}


def for_ansible(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments to pass to ansible-playbook."""
    limit = ["-l", arguments.limit] if getattr(arguments, "limit", None) else []
    check = ["--check", "--diff"] if getattr(arguments, "check", False) else []
    return [*limit, *check, *(["-v"] if arguments.verbose else []), *arguments.further]


def finish(arguments: argparse.Namespace, console: Console, last: Play, password: str | None = None) -> int:
    """Run the last play of a command, and return the exit status."""
    asks = not getattr(arguments, "no_password", True)
    if arguments.dry_run:
        console.print(f"+ {(last.with_password_prompts() if asks else last).line}", soft_wrap=True)
        check = "" if getattr(arguments, "check", True) else " Use --check to see what would change on the Sparks."
        console.print(f"Nothing was run or written.{check}")
        return Exit.DONE
    if password is None:
        password = questions.ask_password("Your password on the Sparks") if asks and questions.has_terminal() else ""
    outcome = play.run(last, password, console, arguments.verbose)
    if outcome.code == play.CANCELLED:
        console.print("Interrupted. A running build continues; sparkforge build follows it.")
        return INTERRUPTED
    # A play that tolerates failures, such as status, succeeds even if it could not log in.
    if outcome.rejected and outcome.unable.keys() <= outcome.rejected:
        return Exit.REFUSED
    return {0: Exit.DONE, play.UNREACHABLE: Exit.NO_SSH}.get(outcome.code, Exit.FAILED)


def setup(arguments: argparse.Namespace, console: Console) -> int:
    """Find Sparks, ask the questions, test the answers on the Sparks, write the inventory, and run site.yml."""
    path = (arguments.inventory or inventory.default_path()).absolute()
    proxies = {"http": arguments.proxy} if arguments.proxy else {}
    if problems := module("plugins.plugin_utils.network_access").proxy_problems(proxies):
        raise Refusal(Exit.USAGE, problems[0].cause, problems[0].remedy)
    keys = path.with_name("known_hosts")
    content = inventory.load(path)
    answers = questions.ask(arguments, console, candidates(arguments, console, keys))
    answers.proxy = arguments.proxy or ""
    hosts, key_lines = inventory.render(content, answers), inventory.known_keys(keys, answers.sparks)
    arguments.limit = arguments.limit or ",".join(spark.name for spark in answers.sparks)
    site = Play("site", path, for_ansible(arguments))
    if arguments.dry_run:
        console.print(f"{path} would be:\n{hosts}", soft_wrap=True)
        return finish(arguments, console, site)
    # Try a copy first, so that an inventory that does not work is not written.
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as folder:
        trial = Path(folder) / "hosts.yml"
        inventory.write(trial, hosts)
        inventory.write(trial.with_name("known_hosts"), key_lines)
        connect(arguments, console, Play("connect", trial, ["-l", arguments.limit, *arguments.further]), answers)
    hosts = inventory.render(content, answers)
    inventory.write(keys, key_lines)
    inventory.write(path, hosts)
    console.print(f"Written: {path}", soft_wrap=True)
    return finish(arguments, console, site, answers.password)


def candidates(arguments: argparse.Namespace, console: Console, keys: Path) -> list[Spark]:
    """Return the machines to choose from, each with its ssh host key, or the named machines.

    A dry run does not contact named machines, and they need not exist.

    :raises Refusal: if there are no machines, or none of them runs ssh.
    """
    if arguments.dry_run and arguments.host:
        return find.by_name(arguments.host, find.by_sync())
    with console.status("Looking for Sparks"):
        mdns = [] if arguments.host else find.by_mdns(arguments.names, arguments.interfaces, console)
        machines = find.discovery.combined(mdns, find.by_sync())
        sparks = find.by_name(arguments.host, machines) if arguments.host else machines
        find.reach(sparks, keys)
    names = find.discovery.names_by_key(keys.read_text(errors="replace")) if keys.is_file() else {}
    sparks, sentences = find.discovery.distinct(sparks, names)
    console.print(*sentences, sep="\n", end="\n" if sentences else "", soft_wrap=True)
    if not sparks:
        cause = "No Spark answered in this network, and NVIDIA Sync lists none."
        remedy = "Check the Spark's power and network, or name it: sparkforge setup --host NAME (on it: localhost). "
        remedy += "Guest Wi-Fi and VPNs block the search; hostname -I on the Spark prints its address."
        # WSL2's NAT forwards neither multicast nor .local names: github.com/microsoft/WSL/issues/12354.
        if "microsoft" in platform.release().lower():
            remedy = "WSL2 cannot search the network of Windows. Give its address: sparkforge setup --host ADDRESS."
        if arguments.dry_run:
            console.print(f"{cause} A real run would ask for an address; with spark-abcd it would do this:")
        if address := "spark-abcd" if arguments.dry_run else questions.ask_address(console, cause, remedy):
            arguments.host = [address]
            return candidates(arguments, console, keys)
        raise Refusal(Exit.NO_SPARK, cause, remedy)
    silent = [spark for spark in sparks if not spark.is_reachable]
    if silent and (arguments.host or len(silent) == len(sparks)):
        if causes := [f"{spark.name} is refused: {spark.revoked}." for spark in silent if spark.revoked]:
            remedy = "Make new host keys there (rm /etc/ssh/ssh_host_*key*, ssh-keygen -A), or find out who answers."
            raise Refusal(Exit.NO_SSH, " ".join(causes), remedy)
        where = ", ".join(f"{spark.name} ({', '.join(spark.addresses)}, port {spark.port})" for spark in silent)
        remedy = "On the Spark, run sudo systemctl enable --now ssh, and check that no firewall blocks it."
        raise Refusal(Exit.NO_SSH, f"No ssh server answers at {where}.", remedy)
    return list(sparks)


def connect(arguments: argparse.Namespace, console: Console, trial: Play, answers: Answers) -> None:
    """Log in and become root on every Spark; a wrong password may be corrected twice, as with sudo."""
    for remaining_attempts in (2, 1, 0):
        outcome = play.run(trial, answers.password, console, arguments.verbose, quiet=not arguments.verbose)
        if outcome.code == play.CANCELLED:
            raise KeyboardInterrupt
        if outcome.code == 0:
            for spark in answers.sparks:
                spark.hostname = outcome.hostnames.get(spark.name, "")
            return
        failed = "".join(f"\n  {host}: {message}" for host, message in sorted(outcome.unable.items()))
        attempt = "log in over ssh" if outcome.code == play.UNREACHABLE else "become root"
        if not remaining_attempts or not answers.password:
            break
        console.print(f"{answers.user} could not {attempt}.{failed}")
        answers.password = questions.ask_password(f"Password of {answers.user}, again")
    remedy = "Test the user name and the password with ssh, and with sudo -v on the Spark."
    raise Refusal(Exit.REFUSED, f"{answers.user} could not {attempt}; nothing was written.{failed}", remedy)
