"""`python -m lab up|down|status`: the lab's command line; `up --count 16` brings up a fleet."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lab import bench, fleet
from lab.host import LabError, fail


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab", description="Simulated Sparks in containers.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("up", "start a bench"), ("down", "stop a bench"), ("status", "print a bench as JSON")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--bench", default="demo", help="name of the bench (default: demo)")
        if name != "status":
            command.add_argument("--inventory", type=Path, default=bench.INVENTORY, help="made to describe the bench")
        if name == "up":
            command.add_argument("--platform", choices=sorted(bench.MIRROR_LEVELS), default="arm64")
            command.add_argument("--hosts", nargs="+", default=["spark01"], metavar="NAME")
            command.add_argument(
                "--count", type=int, metavar="N", help="a fleet: N native hosts whose PyTorch computes"
            )
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "up" and arguments.count is not None:
            fleet.up(fleet.names(arguments.count), arguments.bench)
            print(f"lab: ansible-playbook -i {fleet.inventory(arguments.bench)} site.yml")
        elif arguments.command == "up":
            bench.up(arguments.bench, arguments.platform, arguments.hosts, arguments.inventory)
        elif arguments.command == "down":
            bench.down(arguments.bench, arguments.inventory)
        else:
            loaded = bench.Bench.load(arguments.bench)
            print(json.dumps(asdict(loaded) if loaded else None, indent=1))
    except LabError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
