"""Two hosts in one play, one of them hostile: its root user can send any answer, and affects only that host.

Its python3 runs the code that Ansible sends, and changes the answers as ``/srv/attack.json`` says; its files can be
links to anything. The other host and the controller must end up as they would without the hostile host.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import RECAP, Bench, Host, Play

#: Replaces python3: it carries out the request but returns another answer.
PYTHON = r"""#!/usr/bin/python3.13 -IS
import json, subprocess, sys

def merged(value, other):
    if isinstance(value, dict) and isinstance(other, dict):
        return {**value, **{key: merged(value.get(key), one) for key, one in other.items()}}
    return other

done = subprocess.run(["/usr/bin/python3.13", *sys.argv[1:]], stdout=subprocess.PIPE)
said = done.stdout
with open("/srv/attack.json") as stream:
    attack = json.load(stream)
try:
    answer = json.loads(said)
except ValueError:
    answer = None
if isinstance(answer, dict):
    answer = merged(answer, attack["say"])
    if "spark_info" in answer:
        answer["spark_info"] = merged(answer["spark_info"], attack["observe"])
        answer["ansible_facts"]["spark_info"] = answer["spark_info"]
    said = json.dumps(answer).encode() + b" " * attack["flood"]
if attack["instead"] is not None:
    said = attack["instead"].encode()
sys.stdout.buffer.write(said)
sys.exit(done.returncode)
"""
#: Clears the screen, sets the title, writes to the clipboard, and contains a C1 escape.
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x9b2J"


@dataclass
class Pair:
    """The hostile host, which comes first so that tasks with ``run_once`` run on it, and an ordinary host."""

    hostile: Host
    other: Host
    stolen: Path

    def attack(self, say=None, observe=None, flood=0, instead=None) -> None:
        """Make the hostile host send these answers from now on."""
        text = json.dumps({"say": say or {}, "observe": observe or {}, "flood": flood, "instead": instead})
        path = self.stolen.parent / "attack.json"
        path.write_text(text)
        self.hostile.copy(path, "/srv/attack.json")

    def honest(self) -> None:
        """Make the hostile host send honest answers again; changes to its files remain."""
        self.attack()

    def run(self, playbook: str, *arguments: str, **variables: object) -> Play:
        both = f"{self.hostile.name},{self.other.name}"
        return self.other.run(playbook, *arguments, "-l", both, **variables)

    def rows(self, **variables: object) -> dict[str, dict[str, Any]]:
        """Return the status of both hosts, which playbooks/status.yml writes to the file named in the inventory."""
        self.status.unlink(missing_ok=True)
        play = self.run("status", **variables)
        assert self.status.exists(), play.output[-6000:]
        assert play.code == 0 and "\x1b" not in play.output and "Traceback" not in play.output, play.output[-6000:]
        return {row["host"]: row for row in json.loads(self.status.read_text())["hosts"]}

    @property
    def status(self) -> Path:
        return self.stolen.parent / "status.json"

    def report(self, host: Host) -> dict[str, Any]:
        """Return the controller's copy of a host's proof report."""
        report: dict[str, Any] = json.loads((host.reports / f"{host.name}.json").read_text())
        return report

    def facts(self) -> dict[str, Any]:
        """Return facts that would affect more than this host if the play used them as variables."""
        evaluated = "{{ lookup('ansible.builtin.pipe', 'mkdir -p " + str(self.stolen) + "') }}"
        return {
            "verify_report_directory": str(self.stolen / "reports"),
            "status_file": str(self.stolen / "status"),
            "status_format": "nonsense",
            "sparkforge_wheelhouse_cache": str(self.stolen / "cache"),
            "sparkforge_wheelhouse_signers": [],
            "report_require": "none",
            "stack_name": evaluated,
            "stack": {"name": evaluated},
            "sparkforge_builder": {"name": self.hostile.name, "here": True, "platform": "../../stolen"},
            "sparkforge_platforms": {self.other.name: "../../stolen"},
            "sparkforge_root": "/stolen",
            "ansible_host": "192.0.2.1",
            "ansible_connection": "local",
            "ansible_python_interpreter": "/bin/false",
            "ansible_become_exe": "/bin/false",
            "ansible_delegated_vars": {self.other.name: {"ansible_python_interpreter": "/bin/false"}},
            "discovered_interpreter_python": "/bin/false",
            "inventory_hostname": self.other.name,
            "groups": {"builders": [self.hostile.name]},
            "hostvars": {self.other.name: {"stack": evaluated}},
            evaluated: evaluated,
        }

    def lies(self, escapes: str = ESCAPES) -> dict[str, Any]:
        """Return everything besides its own content that an answer could contain and Ansible or a play might act on.

        :param escapes: '' for a play with Ansible's own modules, because ansible-playbook prints these unfiltered.
        """
        evaluated = "{{ lookup('ansible.builtin.pipe', 'mkdir -p " + str(self.stolen) + "') }}"
        return {
            "ansible_facts": self.facts(),
            "add_host": {"host_name": "stolen", "groups": ["builders"], "host_vars": {"ansible_connection": "local"}},
            "add_group": "builders",
            "ansible_stats": {"data": {evaluated: evaluated}, "per_host": False, "aggregate": True},
            "_ansible_delegated_vars": {self.other.name: {"ansible_host": "192.0.2.1"}},
            "_ansible_facts_cacheable": True,
            "warnings": [f"{escapes}{evaluated}"],
            "diff": {"before": escapes, "after": evaluated},
            f"{escapes}{evaluated}": f"{escapes}\n{evaluated}",
        }

    def is_untouched(self) -> None:
        """Assert that the attack reached neither the other host nor the controller."""
        assert not self.stolen.exists()
        where = "/opt/sparkforge /etc /var/log/sparkforge"
        assert self.other.execute(f"grep -rlF '{self.stolen}' {where} 2>/dev/null || true") == ""
        kinds = ("json", "html", "check.json", "check.html")
        names = {f"{host.name}.{kind}" for host in (self.other, self.hostile) for kind in kinds}
        report_names = {
            path.name for path in self.other.reports.iterdir() if path.name.startswith(("..", "spark", "evil"))
        }
        assert {name for name in report_names if self.hostile.name in name or self.other.name in name} <= names


@pytest.fixture(scope="module")
def pair(bench: Bench, provisioned: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """A hostile host, and a host on which the site has run."""
    hostile = bench.fresh()
    pair = Pair(hostile, provisioned, tmp_path_factory.mktemp("hostile") / "stolen")
    hosts = bench.inventory / "lab.yml"
    before = hosts.read_text()
    settings = {"status_file": str(pair.status), "status_format": "json"}
    listed = {"hosts": {hostile.name: None, provisioned.name: None}}
    hosts.write_text(yaml.safe_dump({"all": {"vars": settings, "children": {"lab": listed}}}, sort_keys=False))
    pair.honest()
    script = pair.stolen.parent / "python3"
    script.write_text(PYTHON)
    hostile.copy(script, "/srv/python3")
    hostile.execute("rm /usr/bin/python3 && install -m 0755 /srv/python3 /usr/bin/python3")
    yield pair
    hosts.write_text(before)


@pytest.fixture(scope="module")
def alone(pair: Pair) -> dict[str, Any]:
    """The other host's status while neither host is hostile."""
    pair.honest()
    return pair.rows()[pair.other.name]


def same(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two rows say the same about a host, apart from the age of its proof."""
    return {key: row[key] for key in row if key != "proof"} == {key: other[key] for key in other if key != "proof"}


def test_no_fact_of_a_host_is_a_variable_of_the_play(pair: Pair, alone, monkeypatch: pytest.MonkeyPatch):
    # ansible-core's default.
    monkeypatch.setenv("ANSIBLE_INJECT_FACT_VARS", "true")
    pair.attack(pair.lies())
    rows = pair.rows()
    assert same(rows[pair.other.name], alone)
    assert rows[pair.hostile.name]["standing"] in ("changes", "stops")
    pair.is_untouched()


def test_invalid_observation_concerns_only_its_host(pair: Pair, alone: dict[str, Any]) -> None:
    # The platform leads out of the cache. tests/unit/plugins/action/test_on_host.py has the other malformed answers.
    pair.attack(observe={"platform": "../../../stolen-x86_64"})
    rows = pair.rows()
    assert same(rows[pair.other.name], alone)
    assert rows[pair.hostile.name]["standing"] == "failed"
    assert "valid observation" in rows[pair.hostile.name]["problem"]
    pair.is_untouched()


ANSWERS = {"no JSON": f"{ESCAPES}{{{{ lookup('pipe', 'id') }}}}", "a depth without an end": "[" * 200_000}


@pytest.mark.parametrize("instead", ANSWERS.values(), ids=ANSWERS)
def test_invalid_answer_affects_only_its_host(pair: Pair, alone: dict[str, Any], instead: str) -> None:
    pair.attack(instead=instead)
    rows = pair.rows()
    assert same(rows[pair.other.name], alone)
    assert rows[pair.hostile.name]["standing"] == "failed"
    pair.is_untouched()


def test_answer_of_any_size_affects_only_its_host(pair: Pair, alone: dict[str, Any]) -> None:
    # Our readers of JSON refuse 16 MiB. Ansible has no limit for an answer.
    pair.attack(flood=17 << 20)
    assert same(pair.rows()[pair.other.name], alone)


def test_report_cannot_describe_another_host(pair: Pair) -> None:
    pair.honest()
    before = pair.report(pair.other)
    evil = f"{ESCAPES}{{{{ lookup('ansible.builtin.pipe', 'mkdir -p {pair.stolen}') }}}}<script>alert(1)</script>"
    check = {"name": evil, "status": "pass", "measured": evil, "cause": evil, "remedy": evil, "family": evil}
    forged = {"host": pair.other.name, "verdict": "proven", "stack": evil, "notices": [evil], "checks": [check]}
    pair.attack({**pair.lies(), "report": {**forged, "summary": None}})
    play = pair.run("verify", verify_require="unproven")
    assert "\x1b" not in play.output and "Traceback" not in play.output, play.output[-6000:]
    after = pair.report(pair.other)
    assert (after["host"], after["verdict"]) == (pair.other.name, before["verdict"])
    assert [row["name"] for row in after["checks"]] == [row["name"] for row in before["checks"]]
    if (pair.hostile.reports / f"{pair.hostile.name}.json").exists():
        assert pair.report(pair.hostile)["host"] == pair.hostile.name
    for page in pair.hostile.reports.glob("*.html"):
        assert "<script>alert" not in page.read_text(errors="replace")
    pair.is_untouched()


def test_links_on_a_host_affect_only_that_host(pair: Pair, alone: dict[str, Any]) -> None:
    pair.honest()
    root, logs = "/opt/sparkforge", "/var/log/sparkforge/proof"
    pair.hostile.execute(
        f"mkdir -p {root}/receipts/units {root}/envs/torch/1 {root}/wheelhouse {logs} /etc/ld.so.conf.d"
        f" && ln -s /dev/zero {root}/envs/torch/1/receipt.json && ln -s 1 {root}/envs/torch/current"
        f" && mkfifo {root}/receipts/cuda.json {root}/receipts/units/a.json {logs}/1.json"
        f" && ln -s /etc/shadow {root}/receipts/redist-cudss.json && ln -s /dev/zero {root}/receipts/units/b.json"
        f" && ln -s / {root}/envs/other && mkfifo /etc/ld.so.conf.d/sparkforge-x.conf"
        f" && ln -s ../../../../etc {root}/envs/torch/previous"
    )
    rows = pair.rows()
    # The host's own ldconfig would block on the pipe.
    pair.hostile.execute(f"rm -rf {root} /etc/ld.so.conf.d/sparkforge-x.conf {logs}")
    assert same(rows[pair.other.name], alone)
    assert pair.hostile.execute("head -1 /etc/shadow") not in pair.status.read_text()
    pair.is_untouched()


@pytest.mark.parametrize(("playbook", "stack"), [("build", "torch-2.9.1"), ("deploy", "lab-native")])
def test_host_facts_do_not_choose_the_builder(pair: Pair, playbook: str, stack: str) -> None:
    """A platform that only the hostile host has, so that no other host could be told to install from it."""
    pair.attack(pair.lies(escapes=""), observe={"platform": "stolen1-x86_64"})
    play = pair.run(playbook, "--check", stack_name=stack, stack_method="build" if playbook == "build" else "wheel")
    assert "\x1b" not in play.output and "Traceback" not in play.output, play.output[-6000:]
    if playbook == "build":
        chosen = dict(re.findall(r"msg: '(\S+) builds for (\S+?)-", play.text))
        assert chosen == {pair.hostile.name: "stolen1", pair.other.name: "debian13"}
    else:
        recap = {row[0]: row for row in RECAP.findall(play.output)}
        # The other host is unchanged and has no failures: it is in the state in which the site left it.
        assert (recap[pair.other.name][2], recap[pair.other.name][4]) == ("0", "0"), play.output[-6000:]
    cache = pair.other.reports.parent / "wheelhouse"
    assert not [path for path in cache.rglob("*") if "stolen1" in path.name and path.is_file()]
    pair.is_untouched()
    assert "stolen" not in json.dumps(list(pair.other.contents()))


@pytest.mark.long
def test_site_is_unaffected_by_a_host_that_lies_in_every_answer(pair: Pair) -> None:
    pair.honest()
    before = pair.other.contents()
    pair.attack(pair.lies(escapes=""))
    play = pair.run("site", sparkforge_max_fail_percentage=100)
    assert "\x1b" not in play.output and "Traceback" not in play.output, play.output[-6000:]
    recap = {row[0]: row for row in RECAP.findall(play.output)}
    assert recap[pair.other.name][4] == "0", play.output[-6000:]
    assert pair.other.contents() == before
    assert pair.report(pair.other)["verdict"] == "unproven"
    pair.is_untouched()
