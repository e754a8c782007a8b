"""Runs ansible-playbook with the checkout's collection, but only the test's own settings and files.

Alternatively, the collection takes its playbooks and plugins from the checkout and its roles from the test.
"""

import json
import os
import re
import subprocess
import sys
import typing as t
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def run_playbook(directory: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `ansible-playbook *arguments` in ``directory``, with the ansible.cfg there, or an empty one if there is none.

    :param environment: variables that are added or changed.
    """
    (directory / "ansible.cfg").touch()
    return subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), *arguments],
        cwd=directory,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PIP_"))},
            # Ansible takes this as its current directory.
            "PWD": str(directory),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(directory / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_LOCAL_TEMP": str(directory / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            # As in the checkout's ansible.cfg; a module takes half as long.
            "ANSIBLE_PIPELINING": "true",
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


class Run(t.NamedTuple):
    """The result of a rollout, and the report's text for each host on which it stopped."""

    code: int
    output: str
    stopped: dict[str, str]

    def told(self, word: str) -> list[str]:
        """Return the texts that roles printed after a word, in order."""
        return re.findall(rf"msg\W+{word} (.*?)\"", self.output)


class StandIn:
    """A collection with the test's roles, and an inventory whose names all mean this machine."""

    def __init__(self, path: Path, roles: t.Mapping[str, list[dict[str, t.Any]]]) -> None:
        """:param roles: role and entry point -> tasks."""
        self.path = path
        self.collection = path / "collections/ansible_collections/sparkforge/dgx_spark"
        self.collection.mkdir(parents=True)
        for name in ("plugins", "proof", "tools", "playbooks", "docs", "galaxy.yml", "meta"):
            (self.collection / name).symlink_to(ROOT / name)
        for entry, tasks in roles.items():
            self.write(entry, tasks)
        (path / "ansible.cfg").write_text("[defaults]\nforks = 4\nstdout_callback = ansible.builtin.default\n")

    def write(self, entry: str, tasks: list[dict[str, t.Any]]) -> None:
        role, _slash, name = entry.partition("/")
        file = self.collection / "roles" / role / "tasks" / f"{name}.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(tasks))

    def play(self, playbook: str, hosts: t.Mapping[str, t.Any], *arguments: str, **variables: t.Any) -> Run:
        common = {"ansible_connection": "local", "ansible_become": False, "report_require": "none", **variables}
        (self.path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts, "vars": common}}))
        collections = str(self.path / "collections")
        result = run_playbook(self.path, "-i", "hosts.yml", playbook, *arguments, ANSIBLE_COLLECTIONS_PATH=collections)
        file = self.path / "reports/fleet.json"
        rows = json.loads(file.read_text())["hosts"] if file.exists() else []
        return Run(result.returncode, result.stdout + result.stderr, {row["host"]: row["stopped"] for row in rows})
