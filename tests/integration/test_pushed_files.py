"""An attacker uses the connecting account, without knowing its password, to swap the files that Ansible puts there.

The connection and sudo are real: none of the attacker's code runs as root or is installed, and each task has either the
right result or a single message.
"""

import json
import re
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab import serve
from tests.integration.conftest import Bench, Host

#: Swaps each file below the directory for another file, a link to that, and the original again; counts the swaps.
ATTACK = r"""
import collections, itertools, json, os, time

EVIL = "/srv/attack/evil"
swaps = collections.Counter()
turns = itertools.count()
before = 0
while not os.path.exists("/srv/attack/stop"):
    done = sum(swaps.values())
    # Make the first thousand swaps at full speed, and then leave time for other work.
    time.sleep(0.0005 if done == before or done > 1000 else 0)
    before = done
    for directory, _directories, names in os.walk("/home/spark/.ansible/tmp"):
        for name in names:
            if name.startswith(".attack"):
                continue
            path, new, good = (os.path.join(directory, start + name) for start in ("", ".attack-new-", ".attack-good-"))
            try:
                if not os.path.exists(good):
                    os.link(path, good)
                if os.path.lexists(new):
                    os.unlink(new)
                turn = next(turns) % 3
                if turn == 0:
                    with open(EVIL, "rb") as reading, open(new, "wb") as writing:
                        writing.write(reading.read())
                elif turn == 1:
                    os.symlink(EVIL, new)
                else:
                    os.link(good, new)
                os.replace(new, path)
                swaps[name] += 1
            except OSError:
                pass
with open("/srv/attack/swaps.json", "w") as stream:
    json.dump(swaps, stream)
"""
#: If run, it records the account; the test searches root's files for its text.
EVIL = "# OF-THE-ATTACKER\nimport os\nopen(f'/srv/attack/ran-{os.geteuid()}', 'w').close()\n"


@dataclass
class Attacked:
    """A host whose connecting account is also used by an attacker."""

    host: Host

    def begin(self) -> None:
        """Make the attacker swap files until ``end``."""
        self.host.execute("rm -f /srv/attack/stop /srv/attack/swaps.json")
        self.host.execute(
            "setsid setpriv --reuid spark --regid spark --init-groups python3 /srv/attack/attack.py"
            " > /srv/attack/log 2>&1 < /dev/null &"
        )

    def end(self) -> dict[str, int]:
        """Return each file's number of swaps, after checking that no attacker's code ran as root or was installed."""
        self.host.execute("touch /srv/attack/stop")
        for _second in range(20):
            written = self.host.execute("cat /srv/attack/swaps.json 2>/dev/null || true")
            if written:
                break
            time.sleep(0.5)
        assert written, self.host.execute("cat /srv/attack/log")
        assert self.host.execute("ls /srv/attack | grep ^ran-0 || true") == ""
        assert (
            self.host.execute("grep -rl OF-THE-ATTACKER /etc /opt /root /usr/local /var/lib 2>/dev/null || true") == ""
        )
        swaps: dict[str, int] = json.loads(written)
        return swaps


@pytest.fixture(scope="module")
def attacked(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    host = bench.fresh()
    folder = tmp_path_factory.mktemp("attack")
    host.execute("mkdir /srv/attack && chown spark: /srv/attack")
    for name, text in (("attack.py", ATTACK), ("evil", EVIL)):
        (folder / name).write_text(text)
        host.copy(folder / name, f"/srv/attack/{name}")
    # The account alone cannot become root: sudo asks for its password.
    refused = host.execute("setpriv --reuid spark --regid spark --init-groups sudo -n true 2>&1 || true")
    assert "password is required" in refused
    return Attacked(host)


#: Messages of tasks whose file was swapped: the collection's, and Ansible's, which cannot make a link executable.
REFUSED = "replaced|sha256|regular file|was not sent|permission|execute bit|transfer"


def has_succeeded(result: dict[str, t.Any]) -> bool:
    """Tell whether a task succeeded; a failed one must have a single expected message."""
    if "msg" not in result:
        return True
    assert "Traceback" not in json.dumps(result), result
    assert re.search(REFUSED, result["msg"]), result
    return False


def test_roles_put_no_file_into_the_folder_of_the_account(attacked: Attacked, tmp_path: Path) -> None:
    """Their content arrives with the module, through sudo's own pipe."""
    host = attacked.host
    certificate = serve.make_certificate(tmp_path / "certificate", ["127.0.0.1"])
    variables = {
        "wheelhouse_tls_certificate": str(certificate.certificate),
        "wheelhouse_tls_key": str(certificate.key),
        "wheelhouse_username": "fleet",
        "wheelhouse_password": "a password",
    }
    attacked.begin()
    play = host.roles("network_access", "wheelhouse", **variables)
    assert attacked.end() == {}
    play.succeeded()
    patterns = "/etc/nginx/sparkforge-wheelhouse/*.* /etc/nginx/sparkforge-wheelhouse/htpasswd"
    assert host.execute(f"stat -c '%a %U:%G %n' {patterns}").splitlines() == [
        "600 root:root /etc/nginx/sparkforge-wheelhouse/tls.pem",
        "640 root:www-data /etc/nginx/sparkforge-wheelhouse/htpasswd",
    ]
    assert Path(certificate.key).read_text().strip() in host.execute("cat /etc/nginx/sparkforge-wheelhouse/tls.pem")
    assert host.execute("ls -A /etc/nginx | grep before || true") == ""
    assert host.roles("network_access", "wheelhouse", **variables).succeeded().changed == 0


@pytest.mark.long
def test_a_program_that_is_exchanged_on_its_way_does_not_run(attacked: Attacked) -> None:
    count = 0
    # On a busy machine it takes more calls to reach a thousand swaps.
    while count <= 1000:
        attacked.begin()
        results = [
            attacked.host.task("sparkforge.dgx_spark.proof_publish", root="/opt/sparkforge") for _call in range(4)
        ]
        swaps = attacked.end()
        for result in results:
            has_succeeded(result)
        assert set(swaps) == {"sparkforge-proof.pyz"}, swaps
        count += sum(swaps.values())


def test_home_that_root_may_not_read_is_one_message_and_roles_work(bench: Bench) -> None:
    """This happens on NFS with root_squash: root has only its own permissions. Here it lacks a capability."""
    host = bench.fresh("sshd", ["--cap-drop=DAC_OVERRIDE"])
    assert host.execute("ls /home/spark 2>&1 || true").endswith("Permission denied")
    # Files that arrive with the module, through sudo's own pipe, need no home.
    assert host.roles("network_access").succeeded().changed
    assert host.roles("network_access").succeeded().changed == 0
    before = host.contents()
    for check in (True, False):
        message = host.task("sparkforge.dgx_spark.guard", check=check)["msg"]
        assert "cannot be read: Permission denied" in message
        assert "root_squash" in message and "ansible_remote_tmp" in message
    assert host.contents() == before
