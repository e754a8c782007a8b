"""An owner's first evening: a Spark announced by Avahi, and the command sparkforge at a terminal."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
import yaml
from sparkforge import Exit, find

from lab import image
from lab.bench import bridge_address
from tests.integration.conftest import CHECKOUT, Bench, Host
from tests.playbooks.test_front_door import Person, answer

#: Benches of other workers are on the same network.
NAME = f"spark-{os.getpid():x}"
SERVICE = """<?xml version="1.0" standalone="no"?>
<!DOCTYPE service-group SYSTEM "avahi-service.dtd">
<service-group><name replace-wildcards="yes">%h SSH</name>
<service><type>_ssh._tcp</type><port>22</port></service></service-group>
"""
#: Makes sshd offer another host key.
IMPOSTOR = "/etc/ssh/sshd_config.d/00-impostor.conf"
#: The lab's own password will not do: it equals the user's name, which occurs everywhere.
PASSWORD = "secret-4711"
PROMPTED = r"has a key\):\s*$"
ANSWERS = [("1 of 5", "1"), ("2 of 5", image.USER), ("3 of 5", "y"), ("4 of 5", "wheels")]


def announce(host: Host) -> None:
    """Have the real avahi-daemon announce the host; nothing else on the host changes."""
    # Debian 13's sshd blocks clients after several failed logins; Ubuntu 24.04's, which a Spark runs, does not yet.
    host.execute("echo 'PerSourcePenalties no' > /etc/ssh/sshd_config.d/lab.conf && kill -HUP 1")
    host.execute(f"""set -eu
        apt-get update -q
        apt-get install -y -q --no-install-recommends avahi-daemon
        sed -i 's/^#host-name=.*/host-name={NAME}/; s/^#enable-dbus=.*/enable-dbus=no/' /etc/avahi/avahi-daemon.conf
        cat > /etc/avahi/services/ssh.service <<'END'\n{SERVICE}END
        echo '{image.USER}:{PASSWORD}' | chpasswd
        avahi-daemon --daemonize --no-drop-root --no-rlimits --no-chroot""")


@pytest.fixture(scope="module")
def announced(bench: Bench) -> Iterator[Host]:
    host = bench.fresh()
    announce(host)
    yield host
    host.execute("avahi-daemon --kill")


@pytest.fixture
def person(open_path: Path) -> Person:
    made = Person(open_path)
    made.search = ["--interfaces", bridge_address(), "--names", NAME]
    return made


def passwords(started: "pexpect.spawn[str]", *answers: str) -> None:
    for word in answers:
        started.expect("5 of 5|again")
        started.expect(PROMPTED)
        started.sendline(word)


def test_five_answers_give_an_inventory_that_works(person: Person, announced: Host) -> None:
    started = person.starts()
    answer(started, ANSWERS)
    passwords(started, "wrong", PASSWORD)
    # The site reports that the container is not a Spark; the test below has a stack for it.
    assert person.ends(started) == Exit.FAILED, person.said
    # The terminal wraps lines, at positions that depend on the length of the host's name.
    output = " ".join(person.said.split())
    assert f"over ssh. {NAME}: " in output, person.said
    assert "Permission denied (publickey,password)." in output, person.said
    default = yaml.safe_load((CHECKOUT / "roles/stack/defaults/main.yml").read_text())["stack_default"]
    assert f"{NAME} cannot get stack {default}." in output, person.said
    sparks = yaml.safe_load(person.inventory.read_text())["all"]["children"]["sparks"]
    assert sparks["hosts"] == {NAME: {"ansible_host": announced.execute("hostname -I").split()[0]}}
    assert sparks["vars"]["ansible_user"] == image.USER
    key = announced.execute("ssh-keygen -y -f /etc/ssh/ssh_host_ed25519_key").split()[:2]
    known = person.inventory.with_name("known_hosts")
    assert known.read_text() == f"{NAME} {' '.join(key)}\n"
    for path in person.home.rglob("*"):
        assert path.is_dir() or path.is_socket() or PASSWORD not in path.read_text(errors="replace"), path

    # An impostor answers instead of the host, and offers only a key of another type.
    announced.execute(f"""set -eu
        ssh-keygen -q -t ecdsa -N '' -f /etc/ssh/other_key
        echo 'HostKey /etc/ssh/other_key' > {IMPOSTOR}
        kill -HUP 1""")
    written = person.inventory.read_text()
    try:
        started = person.starts()
        started.expect("differs: ")
        answer(started, [*ANSWERS[:1], ("Accept the new", "n")])
        assert person.ends(started) == Exit.NO_SSH
        output = " ".join(person.said.split())
        assert f"{NAME} has another ssh" in output
        assert f"{known} has {find.fingerprint(' '.join(key))} for {NAME}." in output
        assert (person.inventory.read_text(), known.read_text()) == (written, f"{NAME} {' '.join(key)}\n")
        # If the user agrees, the new key is accepted; the password is requested only after its fingerprint is shown.
        started = person.starts()
        answer(started, [*ANSWERS[:1], ("Accept the new", "y"), *ANSWERS[1:]])
        started.expect("keys are new")
        started.expect("SHA256:")
        passwords(started, PASSWORD)
        assert person.ends(started) == Exit.FAILED, person.said
        other = announced.execute("cut -d' ' -f1,2 /etc/ssh/other_key.pub").strip()
        assert known.read_text() == f"{NAME} {other}\n"
    finally:
        announced.execute(f"rm {IMPOSTOR} && kill -HUP 1")


@pytest.mark.long
def test_setup_provisions_a_spark_that_the_other_commands_use(person: Person, announced: Host) -> None:
    lab = yaml.safe_load((announced.inventory / "group_vars/lab/main.yml").read_text())
    lab = {name: value for name, value in lab.items() if not name.startswith("ansible_")}
    generated = yaml.safe_load((announced.inventory / "group_vars/lab/generated.yml").read_text())
    variables = person.home.parent / "lab.yml"
    variables.write_text(yaml.safe_dump({**generated, **lab}))
    # The lab's stack is next to the inventory, like a user's own stack.
    for folder in ("stacks", "locks"):
        shutil.copytree(announced.inventory / folder, person.inventory.parent / folder)
    started = person.starts("--", "-e", f"@{variables}")
    answer(started, ANSWERS)
    passwords(started, PASSWORD)
    assert person.ends(started) == Exit.DONE, person.said[-6000:]
    assert f"report | {NAME}: unproven" in person.said
    assert announced.execute("test -x /opt/sparkforge/bin/torch-python && echo there") == "there"
    commands = (
        ("status", Exit.DONE, "1 as its stack"),
        ("prove", Exit.DONE, "unproven"),
        ("build", Exit.FAILED, "Nothing can be built: stack_method is wheel"),
    )
    for command, code, expected in commands:
        started = person.starts("--", "-e", f"@{variables}", command=command)
        started.expect("Your password on")
        started.expect(r":\s*$")
        started.sendline(PASSWORD)
        assert person.ends(started) == code, person.said[-3000:]
        assert expected in " ".join(person.said.split())
