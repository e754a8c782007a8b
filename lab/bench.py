"""A bench: containers with sshd, the mirror's server, and the inventory variables that describe them.

Each bench has a name (``demo``, ``test-…``) and a state file, and stops exactly the parts listed in that file. A name
belongs to one checkout and one account, so two checkouts on the same machine can each run a bench ``demo``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lab import emulator, image, mirror
from lab.host import (
    CHECKOUT,
    LabError,
    cache_directory,
    install_packages,
    native_architecture,
    owner,
    repositories,
    rootless,
    run,
    say,
    step,
)

ADDRESS_FORMAT = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
GATEWAY_FORMAT = "{{range .Subnets}}{{.Gateway}}{{end}}"
# Use a name, because pip before 26 does not verify certificates for bare addresses; .test is reserved (RFC 2606).
MIRROR_NAME = "mirror.sparkforge.test"
INVENTORY = CHECKOUT / "inventory"
GENERATED = Path("group_vars/lab/generated.yml")
MIRROR_LEVELS = {"arm64": "full", "native": "native"}
# Facts about the mirror that become inventory variables; mirror.json contains all others.
MIRROR_FACTS = ("key_fingerprint", "cusparselt_local_repo_sha256", "cusparselt_local_repos", "site_repository")
INIT_COMMANDS = {"sshd": ["sh", "-c", "mkdir -p /run/sshd; exec /usr/sbin/sshd -D -e"], "systemd": ["/sbin/init"]}
INIT_OPTIONS = {"sshd": [], "systemd": ["--systemd=always"]}
LAB_STACKS = {"arm64": "lab", "native": "lab-native"}
#: Without root, containers have no address of their own: each sshd has a port on this machine, which containers reach
#: under an address of slirp4netns (slirp4netns(1), --disable-host-loopback; podman-run(1), --network).
HERE, ROOTLESS_GATEWAY = "127.0.0.1", "10.0.2.2"
ROOTLESS_OPTIONS = ["--network", "slirp4netns:allow_host_loopback=true", "--publish", f"{HERE}::22"]
#: The number of containers to start at a time: podman takes locks, so more of them would only wait for each other.
STARTERS = 4


@dataclass
class Bench:
    """A running bench. ``platform`` is ``arm64`` (emulated on other machines) or ``native``; ``ports`` are sshd's."""

    name: str
    platform: str
    containers: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    server: int | None = None
    mirror: dict[str, Any] = field(default_factory=dict)
    images: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The bench's unique name on this machine, which is the prefix of its containers and images."""
        return f"{self.name}-{owner()}"

    @property
    def folder(self) -> Path:
        return cache_directory() / "benches" / self.id

    @classmethod
    def load(cls, name: str) -> Bench | None:
        path = cls(name, "").folder / "state.json"
        return cls(**json.loads(path.read_text())) if path.exists() else None

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / "state.json.partial"
        partial.write_text(json.dumps(asdict(self), indent=1))
        partial.replace(self.folder / "state.json")

    @property
    def architecture(self) -> str:
        return "arm64" if self.platform == "arm64" else native_architecture()


def up(
    name: str,
    platform: str,
    hosts: list[str],
    inventory: Path,
    init: str = "sshd",
    options: Sequence[str] = (),
    locked: bool = False,
    packages: Sequence[str] = (),
) -> Bench:
    """Bring up ``hosts`` and the mirror, and make ``inventory`` describe them.

    An ``inventory`` other than the checkout's is a copy of it, so that benches do not interfere with each other. A
    running bench is completed, not started twice.

    :param init: the program that the containers of ``hosts`` start: ``sshd`` or ``systemd``.
    :param options: their options for ``podman create``, for example a memory limit.
    :param locked: whether the stack's lock exists already, because the bench has run before and nothing has changed.
    :param packages: what their image has in addition to the factory's packages.
    """
    install_packages()
    bench = Bench.load(name) or Bench(name, platform)
    bench.save()
    if bench.architecture != native_architecture():
        emulator.register(bench.id)
    make_ssh_key(bench)
    with ThreadPoolExecutor() as pool:
        # With an empty cache, each takes minutes: one computes under emulation, the other downloads and packs.
        building = pool.submit(build_mirror, bench.platform)
        tag = image.build(bench.architecture, init, packages)
        building.result()
    start(bench, hosts, tag, [*INIT_OPTIONS[init], *options], INIT_COMMANDS[init])
    serve_mirror(bench)
    write_inventory(bench, inventory, LAB_STACKS[bench.platform])
    if not locked:
        write_lock(bench, inventory / "lab.yml", LAB_STACKS[bench.platform])
    return bench


def down(name: str, inventory: Path) -> None:
    """Stop everything that the bench started, by id, and restore binfmt_misc."""
    bench = Bench.load(name)
    if bench:
        for host, container in bench.containers.items():
            image.podman("rm", "-f", "-t", "0", container, quiet=True)
            say(f"ended {host} ({container[:12]})")
        for made in bench.images:
            image.podman("rmi", made, quiet=True)
        _stop_server(bench)
        emulator.release(bench.id)
        shutil.rmtree(bench.folder)
        generated = inventory / GENERATED
        if generated.exists() and str(bench.folder) in generated.read_text():
            generated.unlink()
    else:
        say(f"no bench named {name} is up")


def write_inventory(bench: Bench, inventory: Path, stack: str) -> None:
    """Make ``inventory`` describe the bench; an inventory other than the checkout's is a copy of it."""
    if inventory != INVENTORY:
        shutil.copytree(INVENTORY, inventory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("generated.yml"))
        shutil.copy2(bench.folder / "ssh_config", inventory)
    generated = inventory / GENERATED
    generated.write_text(f"---\n# Written by `python -m lab up`; gone after `make lab-down`.\n{describe(bench, stack)}")


def describe(bench: Bench, stack: str) -> str:
    """Return the bench as YAML variables; inventory/group_vars/lab/main.yml maps them to the roles' own."""
    variables = {
        "lab_stack": stack,
        "lab_ssh_config": str(bench.folder / "ssh_config"),
        **{f"lab_mirror_{key}": value for key, value in bench.mirror.items()},
    }
    return yaml.safe_dump(variables, sort_keys=True)


def write_lock(bench: Bench, inventory: Path, stack: str, **variables: object) -> None:
    """Resolve one of the lab's stacks against the mirror, as a site resolves its own against NVIDIA's servers.

    :param inventory: the file, not its directory.
    """
    with step(f"resolving the lock of the stack {stack} (playbooks/lock.yml)"):
        playbook = Path(sys.executable).parent / "ansible-playbook"
        # This machine cannot resolve the mirror's name, which is only in the containers' /etc/hosts.
        variables = {
            "stack_name": stack,
            "stack_lock_host": next(iter(bench.containers)),
            "sparkforge_nvidia_url": bench.mirror["url_here"],
            "stack_lock_find_links": [bench.mirror["wheels"]],
            **variables,
        }
        command: list[str | Path] = [playbook, "-i", inventory, "playbooks/lock.yml", "-e", json.dumps(variables)]
        run(*command, cwd=CHECKOUT, env={**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg")})


def make_ssh_key(bench: Bench) -> None:
    key = bench.folder / "id_ed25519"
    if not key.exists():
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"lab {bench.id}", "-f", key)


def start(
    bench: Bench,
    hosts: Sequence[str],
    tag: str,
    options: Sequence[str] = (),
    command: Sequence[str] = INIT_COMMANDS["sshd"],
) -> None:
    """Start the containers of ``hosts``, several at a time, and wait until each sshd answers."""
    gateway = ROOTLESS_GATEWAY if rootless() else bridge_address()
    saving = threading.Lock()
    with ThreadPoolExecutor(STARTERS) as pool:
        started = [pool.submit(_start_container, bench, host, tag, options, command, gateway, saving) for host in hosts]
        # Wait for all of them, so that those that start are recorded even if one fails.
        problems = [str(problem) for future in started if (problem := future.exception())]
    # Keep the order of the hosts, whichever starts first.
    bench.containers = {host: bench.containers[host] for host in sorted(bench.containers)}
    _write_ssh_config(bench)
    bench.save()
    if problems:
        raise LabError("\n".join(problems))


def _start_container(
    bench: Bench,
    host: str,
    tag: str,
    options: Sequence[str],
    command: Sequence[str],
    gateway: str,
    saving: threading.Lock,
) -> None:
    known = bench.containers.get(host)
    if known and image.podman("container", "exists", known, quiet=True).returncode == 0:
        image.podman("start", known)
    else:
        settings = ["--arch", bench.architecture, "--hostname", host, "--name", f"{bench.id}-{host}"]
        settings += ["--add-host", f"{MIRROR_NAME}:{gateway}", *(ROOTLESS_OPTIONS if rootless() else [])]
        known = image.podman("create", *settings, *options, tag, *command).stdout.strip()
        with saving:
            bench.containers[host] = known
            bench.save()
        host_key = bench.folder / f"{host}_host_key"
        if not host_key.exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", host, "-f", host_key)
        # Write the key before the start, because sshd exits immediately if the key is incomplete.
        image.podman("cp", bench.folder / "id_ed25519.pub", f"{known}:/home/{image.USER}/.ssh/authorized_keys")
        image.podman("cp", host_key, f"{known}:/etc/ssh/ssh_host_ed25519_key")
        image.podman("start", known)
    if rootless():
        address, _colon, port = image.podman("port", known, "22").stdout.strip().partition(":")
    else:
        address, port = image.podman("inspect", known, "--format", ADDRESS_FORMAT).stdout.strip(), "22"
    with saving:
        bench.addresses[host], bench.ports[host] = address, int(port)
    _wait_for_sshd(host, known, address, int(port))
    say(f"{host} is up at {address}:{port} ({bench.architecture})")


def _write_ssh_config(bench: Bench) -> None:
    """Let Ansible, testinfra and users (`ssh -F … spark01`) reach the containers by name."""
    known_hosts = bench.folder / "known_hosts"
    keys = {host: (bench.folder / f"{host}_host_key.pub").read_text().split()[:2] for host in bench.addresses}
    known_hosts.write_text("".join(f"{host} {' '.join(key)}\n" for host, key in keys.items()))
    entries = [
        f"Host {host}\n  HostName {address}\n  Port {bench.ports.get(host, 22)}\n  HostKeyAlias {host}\n"
        for host, address in bench.addresses.items()
    ]
    common = f'Host *\n  User {image.USER}\n  IdentityFile "{bench.folder / "id_ed25519"}"\n  IdentitiesOnly yes\n'
    common += f'  UserKnownHostsFile "{known_hosts}"\n  StrictHostKeyChecking yes\n'
    (bench.folder / "ssh_config").write_text("".join(entries) + common)


def bridge_address() -> str:
    """Return this machine's address on podman's default bridge."""
    return image.podman("network", "inspect", "podman", "--format", GATEWAY_FORMAT).stdout.strip()


def _wait_for_sshd(host: str, container: str, address: str, port: int) -> None:
    """Wait up to five minutes for a running container's sshd, which may be emulated on a busy machine."""
    deadline = time.monotonic() + 300
    while not _answers(address, port, expected=b"SSH-"):
        state = image.podman("inspect", container, "--format", "{{.State.Status}}").stdout.strip()
        if state != "running" or time.monotonic() > deadline:
            logs = image.podman("logs", "--tail", "10", container, quiet=True)
            raise LabError(
                f"sshd of {host} does not answer at {address}:{port}, its container is {state} and printed:\n"
                f"{(logs.stdout + logs.stderr).strip() or 'nothing'}"
            )
        time.sleep(0.2)


def _wait_for_server(address: str, port: int, process: subprocess.Popen[bytes], printed: Path) -> None:
    """Wait up to five minutes for the mirror's running server."""
    deadline = time.monotonic() + 300
    while not _answers(address, port):
        if process.poll() is not None or time.monotonic() > deadline:
            tail = "\n".join(printed.read_text(errors="replace").splitlines()[-10:])
            raise LabError(f"The mirror does not answer at {address}:{port}. Its server printed:\n{tail or 'nothing'}")
        time.sleep(0.2)


def _answers(address: str, port: int, expected: bytes = b"") -> bool:
    """Tell whether a server accepts connections and sends ``expected`` without a request."""
    try:
        with socket.create_connection((address, port), timeout=60) as connection:
            return connection.recv(len(expected)) == expected if expected else True
    except OSError:
        return False


def mirror_tree(platform: str) -> Path:
    """Return the path of the mirror for a platform's benches."""
    return mirror.tree(MIRROR_LEVELS[platform])


def build_mirror(platform: str) -> None:
    """Build the mirror if it is missing."""
    level = MIRROR_LEVELS[platform]
    with step(f"the mirror of the vendor's artefacts ({level})"):
        # Print its progress directly to the user's screen.
        command = [sys.executable, "-m", "lab.mirror", "--level", level]
        if subprocess.run(command, check=False, cwd=CHECKOUT).returncode:
            raise LabError("The mirror was not built; the reason is above. Correct it, and run the same command again.")


def serve_mirror(bench: Bench) -> None:
    """Serve the mirror over HTTPS on the containers' gateway."""
    gateway = HERE if rootless() else bridge_address()
    if bench.server is None or not _alive(bench.server):
        port = _free_port(gateway)
        tree = mirror_tree(bench.platform)
        command = [
            sys.executable,
            "-m",
            "lab.serve",
            "--root",
            str(tree),
            "--bind",
            gateway,
            "--port",
            str(port),
        ]
        # The directory for repositories that tests create: see tests/upstream.
        command += ["--git", str(repositories())]
        command += ["--cert", str(bench.folder / "mirror.pem"), "--key", str(bench.folder / "mirror.key")]
        command += [
            "--ca",
            str(bench.folder / "ca.pem"),
            "--name",
            MIRROR_NAME,
            "--log",
            str(bench.folder / "mirror.log"),
        ]
        # Write the output to a file: if it went to a pipe, the reader of `make demo` would wait for the server to exit.
        printed = bench.folder / "mirror.out"
        with printed.open("wb") as stream:
            process = subprocess.Popen(
                command,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=CHECKOUT,
            )
        bench.server = process.pid
        bench.mirror = {
            "url": f"https://{MIRROR_NAME}:{port}",
            "url_here": f"https://{gateway}:{port}",
            "ca": str(bench.folder / "ca.pem"),
            "wheels": str(tree / "wheels"),
        }
        bench.save()
        _wait_for_server(gateway, port, process, printed)
    summary = json.loads((Path(bench.mirror["wheels"]).with_name(mirror.SUMMARY)).read_text())
    bench.mirror["summary"] = {key: summary[key] for key in MIRROR_FACTS}
    bench.save()
    say(f"the mirror is served at {bench.mirror['url']}")


def _stop_server(bench: Bench) -> None:
    if bench.server and _alive(bench.server):
        os.kill(bench.server, signal.SIGTERM)
        say(f"stopped the mirror's server ({bench.server})")


def _alive(pid: int) -> bool:
    """Tell whether ``pid`` is still our server: another process may have been given the same pid."""
    try:
        return b"lab.serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
