"""The choice of the builder: playbooks/build.yml on three names of this machine, with a stack without units."""

import threading
import typing as t
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from tests.playbooks.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[2]


class Fleet:
    """An inventory of three hosts that are all this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "stacks").mkdir()
        lab = yaml.safe_load((COLLECTION / "inventory/stacks/lab.yml").read_text())["stack_definition"]
        lab["sources"] = {"tool": {"archive": "https://example.com/tool.tar.gz", "sha256": "a" * 64}}
        lab["units"] = {"tool": {"optional": True}}
        for archive in [*lab["archives"], lab["cusparselt"]["archive"]]:
            archive["sha256"] = {"linux-sbsa": "a" * 64}
        (path / "stacks/none.yml").write_text(yaml.safe_dump({"stack_definition": lab}))
        (path / "ansible.cfg").write_text("[defaults]\nforks = 3\n")

    def run(self, playbook: str, *arguments: str, builders=(), fails=False, **variables: t.Any) -> str:
        names = ("first", "second", "third")
        hosts = {name: {"ansible_connection": "local", "ansible_become": False} for name in names}
        inventory: dict[str, t.Any] = {"all": {"hosts": hosts}}
        if builders:
            inventory["all"]["children"] = {"builders": {"hosts": dict.fromkeys(builders)}}
        (self.path / "hosts.yml").write_text(yaml.safe_dump(inventory))
        all_variables = {"stack_name": "none", "stack_method": "build", "stack_profile": "generic"}
        # Ignore this machine's own libraries.
        all_variables |= {
            "sparkforge_has_libraries": True,
            "sparkforge_wheelhouse_cache": str(self.path / "cache"),
            **variables,
        }
        result = run_playbook(
            self.path, "-i", "hosts.yml", playbook, *arguments,
            "-e", yaml.safe_dump(all_variables, default_flow_style=True, width=10000).strip(),
        )  # fmt: skip
        assert (result.returncode != 0) == fails, (result.stdout + result.stderr)[-5000:]
        return " ".join((result.stdout + result.stderr).split()) if fails else result.stdout

    def build(self, *arguments: str, **options: t.Any) -> str:
        return self.run(str(COLLECTION / "playbooks/build.yml"), *arguments, **options)


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def test_the_first_host_builds_and_the_others_are_left_alone(fleet: Fleet) -> None:
    output = fleet.build()
    assert "first builds for " in output
    # After the election only the builder acts, until all hosts learn the result.
    after = output[output.index("TASK [Report the builder") :].partition("PLAY [")[0]
    assert "[first]" in after
    assert "[second]" not in after
    assert "[third]" not in after


@pytest.mark.parametrize("arguments", [(), ("--check",)], ids=" ".join)
def test_build_refuses_hosts_with_only_wheels_and_site_continues(fleet: Fleet, arguments: tuple[str, ...]) -> None:
    output = fleet.build(*arguments, fails=True, stack_method="wheel", stack_lock_required=False)
    assert "stack_method is wheel for first, second, third. Nothing was changed." in output
    assert "sparkforge setup --method source" in output and output.count("Nothing can be") <= 2
    assert "PLAY [Units]" not in output
    within_site = fleet.build(stack_method="wheel", stack_lock_required=False, build_reported=True)
    assert "Nothing can be" not in within_site


def test_wheelhouse_with_invalid_answers_stops_all_hosts_before_any_change(fleet: Fleet) -> None:
    class Login(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><html><body>Log in</body></html>")

        def log_message(self, *_arguments: t.Any) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Login)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        signers = ["ssh-ed25519 AAAA"]
        output = fleet.build(fails=True, sparkforge_wheelhouse_url=url, sparkforge_wheelhouse_signers=signers)
    finally:
        server.shutdown()
        server.server_close()
    assert "an HTML page" in output
    assert "PLAY [Units]" not in output
