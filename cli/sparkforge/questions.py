"""The five questions of `sparkforge setup`, for values that cannot be guessed. Scripts can use options instead."""

from __future__ import annotations

import argparse
import getpass
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import yaml
from rich.prompt import Confirm, Prompt

from sparkforge import Exit, Refusal, collection, release
from sparkforge.find import Spark, fingerprint
from sparkforge.terminal import Console

LICENCE = """The libraries come under NVIDIA's licences: the CUDA Toolkit EULA (docs.nvidia.com/cuda/eula) and \
those of cuDNN, NCCL, cuSPARSELt, cuDSS and NVPL. Nothing is installed unless you accept them."""
USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]*")


@dataclass
class Answers:
    """The answers of a user who has accepted the licences."""

    sparks: list[Spark]
    user: str
    method: str
    password: str
    proxy: str = ""


def has_terminal() -> bool:
    """Tell whether input and output are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(arguments: argparse.Namespace, console: Console, sparks: list[Spark]) -> Answers:
    """Show the machines, and ask for everything that the command line does not set.

    :raises Refusal: if the licences are not accepted, the user name is invalid, or there is no terminal.
    """
    is_answered = arguments.host and arguments.user and arguments.accept_nvidia_license and arguments.method
    if not is_answered and not has_terminal():
        remedy = "Give --host, --user, --accept-nvidia-license and --method, or run this in a terminal."
        raise Refusal(Exit.USAGE, "The questions of setup need a terminal.", remedy)
    if not (arguments.host and arguments.dry_run):
        show(console, sparks)
    chosen = sparks if arguments.host else ask_hosts(console, sparks)
    accept(console, [spark for spark in chosen if spark.changed])
    # Offer the account that NVIDIA Sync uses.
    default = next((spark.user for spark in chosen if spark.user), getpass.getuser())
    user = arguments.user or Prompt.ask("2 of 5: Your user name there", console=console, default=default).strip()
    if not USER.fullmatch(user):
        raise Refusal(Exit.USAGE, f"{user!r} is not a valid user name.", "Give the name of your account on the Sparks.")
    if not arguments.accept_nvidia_license:
        console.print(LICENCE)
        if not Confirm.ask("3 of 5: Do you accept them?", console=console, default=False):
            remedy = "Read the licences, and run sparkforge setup again if you accept them."
            raise Refusal(Exit.DECLINED, "NVIDIA's licences were not accepted, and nothing was written.", remedy)
    text, offered = methods()
    if not (method := arguments.method):
        console.print(text)
        method = Prompt.ask("4 of 5: Which?", console=console, choices=[*offered], default="wheels")
    if method not in offered:
        raise Refusal(Exit.USAGE, "No shipped stack of wheels is newer than the default.", "Choose wheels or source.")
    secret = has_terminal() and not arguments.no_password and not arguments.dry_run
    if secret and (new := [spark for spark in chosen if spark.key and not spark.known]):
        console.print("Your password goes to these machines, whose ssh keys are new here. On each Spark, ssh-keyscan")
        console.print("localhost | ssh-keygen -lf - must print its key as shown here; if it does not, press Ctrl-C.")
        for spark in new:
            console.print(f"   {spark.name}, {spark.addresses[0]}\n   {fingerprint(spark.key)}", soft_wrap=True)
    password = ask_password(f"5 of 5: Password of {user}") if secret else ""
    return Answers(chosen, user, method, password)


def ask_address(console: Console, cause: str, remedy: str) -> str:
    """Ask for the address of a Spark that was not found, and return it, or '' if there is no answer or no terminal."""
    if not has_terminal():
        return ""
    console.print(f"{cause} {remedy}")
    return Prompt.ask("Its address or name (Enter for none)", console=console, default="", show_default=False).strip()


def show(console: Console, sparks: Sequence[Spark]) -> None:
    """List the machines with their distinguishing facts: name, address, and fingerprint of the ssh host key."""
    for number, spark in enumerate(sparks, 1):
        console.print(f"{number}. {spark.name} ({spark.source})")
        silent = f"refused: {spark.revoked}" if spark.revoked else f"no ssh at {', '.join(spark.addresses)}"
        state = f"differs: {spark.changed}" if spark.changed else "known" if spark.known else "new"
        where = f"{spark.addresses[0]}\n   ssh key {fingerprint(spark.key)} ({state})" if spark.key else silent
        console.print(f"   {'this machine' if spark.local else where}", soft_wrap=True)


def ask_hosts(console: Console, sparks: Sequence[Spark]) -> list[Spark]:
    """Ask which machines to set up; choosing a machine accepts the key that is shown for it."""
    reachable = [spark for spark in sparks if spark.is_reachable]
    # Any machine on the network can claim to be a Spark, so unknown machines are not chosen by default.
    default = "all" if all(spark.local or spark.known for spark in reachable) else ""
    by_name = {str(number): spark for number, spark in enumerate(sparks, 1)} | {spark.name: spark for spark in sparks}
    while True:
        text = "1 of 5: Which ones? Numbers or names, separated by commas"
        reply = Prompt.ask(text, console=console, default=default, show_default=bool(default))
        names = [word.lower() for word in re.split(r"[,\s]+", reply) if word]
        if names == ["all"]:
            return reachable
        if unusable := [word for word in names if word not in by_name or not by_name[word].is_reachable]:
            console.print(f"Not in the list, refused, or without ssh: {', '.join(unusable)}.")
        elif names:
            return list({by_name[word].name: by_name[word] for word in names}.values())


def accept(console: Console, changed: Sequence[Spark]) -> None:
    """Ask whether the machines' new keys replace the known ones.

    :raises Refusal: if the user declines, or there is no terminal.
    """
    for spark in changed:
        cause = f"{spark.name} has another ssh host key, {fingerprint(spark.key)}: {spark.changed}. "
        cause += "The Spark was reinstalled, or another machine answers instead."
        remedy = "Run ssh-keyscan localhost | ssh-keygen -lf - on the Spark; if it prints the new key, "
        if has_terminal():
            console.print(f"{cause}\n{remedy}answer y.")
            if Confirm.ask(f"Accept the new key of {spark.name}?", console=console, default=False):
                continue
        raise Refusal(Exit.NO_SSH, cause, f"{remedy}run sparkforge setup in a terminal and accept the new key.")


def methods() -> tuple[str, dict[str, dict[str, str]]]:
    """Return the text of the fourth question, and the variables for each answer.

    The answers are the collection's default stack, whose name is omitted, and a newer stack of official wheels, if
    there is one.
    """
    role = collection() / "roles/stack"
    default = yaml.safe_load((role / "defaults" / "main.yml").read_text())["stack_default"]
    newest = max((file.stem for file in (role / "vars").glob("torch-*.yml")), key=release)
    wheel = yaml.safe_load((role / "vars" / f"{newest}.yml").read_text())["stack_definition"]["wheel"]
    text = f"PyTorch {default[6:]} as official wheels (minutes), or built from source (hours; wheels until then)?"
    offered = {"wheels": {"stack_method": "wheel"}, "source": {"stack_method": "build"}}
    if wheel["available"] and release(newest) > release(default):
        lacks = " and ".join(wheel.get("without") or ())
        text += f"\nOr newest: PyTorch {newest[6:]}, as official wheels only{lacks and f', without {lacks}'}."
        offered["newest"] = {"stack_name": newest, "stack_method": "wheel"}
    return text, offered


def ask_password(text: str, hint: str = " (Enter if sudo needs none and ssh has a key)") -> str:
    """Ask for the password with getpass, which discards input that was typed while the terminal still echoed it."""
    return getpass.getpass(f"{text}{hint}: ")
