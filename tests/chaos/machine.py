"""A host whose disk is a file: it can lose power, its disk can fill up or fail, and it can be restored.

Its root is a separate ext4 that this machine has mounted, so this machine can read all of it without asking the host.
"""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from lab import bench as benches, faults, fleet, image
from lab.host import LabError, repositories, run
from lab.serve import Certificate, MirrorServer, ensure_certificate

CHECKOUT = Path(__file__).parents[2]
HOST = "spark01"
SIZE = 3 << 30
#: ext4's ioctl that shuts a file system down at once, and its flag "without the journal" (include/uapi/linux/ext4.h).
SHUTDOWN, WITHOUT_JOURNAL = 0x8004587D, 2
#: Dead connections are noticed within seconds, and no connection survives a restart of the host.
SSH = "-o ControlMaster=auto -o ControlPersist=15s -o ServerAliveInterval=2 -o ServerAliveCountMax=4"
HOLD = """import os; os.path.exists('/run/chaos/hook.py') and exec(open('/run/chaos/hook.py').read())\n"""
DPKG = """python3 -c 'import os, sys; sys.audit("dpkg.{when}", os.environ.get("DPKG_HOOK_ACTION", ""))'"""


@dataclass
class Held:
    """A paused call on the host: the pid and name of its process and of each of that process's ancestors."""

    chain: list[tuple[int, str]]
    call: str


class Machine:
    """A container on its own disk, with the mirror that this process serves."""

    def __init__(self, name: str) -> None:
        self.bench = benches.Bench.load(name) or benches.Bench(name, "native")
        self.folder = self.bench.folder
        self.disk, self.root, self.control = (self.folder / part for part in ("disk.img", "root", "control"))
        self.inventory = self.folder / "inventory"
        self.server: MirrorServer | None = None

    # --- life cycle ---------------------------------------------------------------------------------------------

    def up(self) -> None:
        """Create the disk and start the host on it in its factory state."""
        self.bench.save()
        # Any process with a copy of this machine's mounts, such as a long-running rootless podman, would keep the disk
        # in use; below a shared mount, unmounting takes effect in all copies.
        run("mount", "--bind", self.folder, self.folder)
        run("mount", "--make-shared", self.folder)
        for directory in (self.root, self.control):
            directory.mkdir(exist_ok=True)
        self.control.chmod(0o1777)
        shutil.copy(Path(__file__).with_name("hook.py"), self.control)
        tag = image.build(self.bench.architecture, extra=fleet.PACKAGES)
        with self.disk.open("wb") as stream:
            stream.truncate(SIZE)
        # Reserve no blocks for root, so that a full disk is full for every account.
        run("mkfs.ext4", "-q", "-F", "-m", "0", "-N", "120000", self.disk)
        self.mount()
        run("tar", "-C", self.root, "--numeric-owner", "-xf", image.root_file_system(tag))
        (self.root / "usr/lib/python3/dist-packages/chaos.pth").write_text(HOLD)
        hooks = "".join(f"{when}-invoke={DPKG.format(when=when)}\n" for when in ("pre", "post"))
        (self.root / "etc/dpkg/dpkg.cfg.d/chaos").write_text(hooks)
        benches.make_ssh_key(self.bench)
        self._create()
        self.on()
        benches.build_mirror(self.bench.platform)
        benches.serve_mirror(self.bench)
        self._serve()
        benches.write_inventory(self.bench, self.inventory, "lab-native")
        benches.write_lock(self.bench, self.inventory / "lab.yml", "lab-native")

    def _create(self) -> None:
        """Create the container. podman cannot copy into one whose root is a directory, so write the keys there."""
        key = self.folder / f"{HOST}_host_key"
        if not key.exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", HOST, "-f", key)
        shutil.copy(key, self.root / "etc/ssh/ssh_host_ed25519_key")
        home = self.root / f"home/{image.USER}/.ssh"
        shutil.copy(self.folder / "id_ed25519.pub", home / "authorized_keys")
        os.chown(home / "authorized_keys", home.stat().st_uid, home.stat().st_gid)
        options = ["--arch", self.bench.architecture, "--hostname", HOST, "--name", f"{self.bench.id}-{HOST}"]
        options += ["--add-host", f"{benches.MIRROR_NAME}:{benches.bridge_address()}"]
        options += ["--volume", f"{self.control}:/run/chaos", "--rootfs", str(self.root)]
        created = image.podman("create", *options, *benches.INIT_COMMANDS["sshd"])
        self.bench.containers[HOST] = created.stdout.strip()
        self.bench.save()

    def down(self) -> None:
        if self.server:
            self.server.__exit__()
        container = self.bench.containers.get(HOST)
        if container:
            image.podman("rm", "-f", "-t", "0", container, quiet=True)
            self.bench.containers.clear()
        self.unmount()
        # The mirror's server still has files open there; it is stopped next.
        run("umount", "--lazy", self.folder, quiet=True)
        benches.down(self.bench.name, self.inventory)

    def _serve(self) -> None:
        """Serve the mirror from this process, which can corrupt what it sends."""
        gateway = benches.bridge_address()
        pair = Certificate(*(self.folder / name for name in ("mirror.pem", "mirror.key", "ca.pem")))
        ensure_certificate(pair, [gateway, benches.MIRROR_NAME])
        tree = Path(self.bench.mirror["wheels"]).parent
        self.server = MirrorServer(tree, pair, bind=gateway, git=repositories())
        self.server.__enter__()
        self.bench.mirror |= {
            "url": f"https://{benches.MIRROR_NAME}:{self.server.port}",
            "url_here": f"https://{gateway}:{self.server.port}",
        }

    def mount(self) -> None:
        run("mount", "-o", "loop", self.disk, self.root)

    def unmount(self) -> None:
        """Unmount the disk and wait until it is unused: the kernel releases a container's own mounts with a delay."""
        deadline = time.monotonic() + 60
        while os.path.ismount(self.root) or run("losetup", "-j", self.disk, quiet=True).stdout:
            if os.path.ismount(self.root):
                run("umount", self.root, quiet=True)
            if time.monotonic() > deadline:
                raise LabError(f"{self.disk} is still in use.")
            time.sleep(0.05)

    def off(self) -> None:
        """Stop the host at once. Data that its programs have written is kept."""
        image.podman("kill", "--signal", "KILL", self.bench.containers[HOST], quiet=True)
        image.podman("wait", self.bench.containers[HOST], quiet=True)
        for socket in (self.folder / "cp").glob("*"):
            socket.unlink(missing_ok=True)

    def on(self) -> None:
        if not os.path.ismount(self.root):
            self.mount()
        benches.start(self.bench, [HOST], "")
        # Containers share the kernel's boot id, by which a build recognises that power was lost.
        (self.control / "boot_id").write_text(f"{uuid.uuid4()}\n")
        process = image.podman("inspect", self.bench.containers[HOST], "--format", "{{.State.Pid}}").stdout.strip()
        boot = "/proc/sys/kernel/random/boot_id"
        run("nsenter", "-t", process, "--mount", "mount", "--bind", "/run/chaos/boot_id", boot)

    def lose_power(self) -> None:
        """Lose all data that was not synced."""
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", WITHOUT_JOURNAL))
        finally:
            os.close(descriptor)
        self.off()
        self.unmount()

    def fail_disk(self) -> None:
        """Make the file system read-only, as after a disk error."""
        run("mount", "-o", "remount,abort", self.root, quiet=True)

    def restart(self) -> None:
        self.off()
        self.unmount()
        run("e2fsck", "-p", self.disk, quiet=True)
        self.on()

    def keep(self, name: str) -> Path:
        """Save a copy of the disk, to be restored later."""
        kept = self.folder / f"{name}.img"
        self.off()
        self.unmount()
        run("cp", "--sparse=always", self.disk, kept)
        self.on()
        return kept

    def restore(self, kept: Path) -> None:
        self.off()
        self.unmount()
        run("cp", "--sparse=always", kept, self.disk)
        for file in self.control.glob("*"):
            if file.name in ("plan.json", "held", "go", "trace"):
                file.unlink()
        self.on()

    # --- runs ----------------------------------------------------------------------------------------------------

    def play(self, playbook: Path | str, variables: dict[str, object], log: Path) -> subprocess.Popen[bytes]:
        """Start a playbook of the collection, or a file."""
        path = playbook if isinstance(playbook, Path) else CHECKOUT / f"playbooks/{playbook}.yml"
        extra = {
            "verify_report_directory": str(self.folder / "reports"),
            "sparkforge_wheelhouse_cache": str(self.folder / "wheelhouse"),
            **variables,
        }
        command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(self.inventory / "lab.yml")]
        environment = {
            **os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_SSH_ARGS": SSH,
        }  # fmt: skip
        with log.open("wb") as stream:
            return subprocess.Popen(
                [*command, str(path), "-l", HOST, "-e", json.dumps(extra)], cwd=CHECKOUT, env=environment,
                stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def roles(self, *names: str) -> Path:
        """Return a playbook that applies roles after the role stack, as a user's playbook would."""
        roles = [f"sparkforge.dgx_spark.{name}" for name in ("stack", *names)]
        return self.play_of("-".join(names), {"roles": roles})

    def play_of(self, name: str, play: dict[str, object]) -> Path:
        """Return a playbook with one play, in the environment that the site's own plays have."""
        network = "sparkforge_proxies | default({})"
        network += " | sparkforge.dgx_spark.fetch_environment(sparkforge_ca_certificate | default(''))"
        environment = f"{{{{ {network} }}}}"
        full_play = {"hosts": "all", "become": True, "gather_facts": False, "environment": environment, **play}
        path = self.inventory / f"{name}.yml"
        path.write_text(json.dumps([full_play]))
        return path

    def execute(self, script: str) -> str:
        return faults.execute(self.bench, HOST, script)

    def plan(self, event: str, match: str = "", nth: int = 1) -> None:
        """Pause the next program that reaches this call."""
        self.release()
        for name in ("held", "go"):
            (self.control / name).unlink(missing_ok=True)
        (self.control / "plan.json").write_text(json.dumps({"event": event, "match": match, "nth": nth}))

    def held(self) -> Held | None:
        try:
            held_event = json.loads((self.control / "held").read_text())
        except (OSError, ValueError):
            return None
        return Held([(pid, name) for pid, name in held_event["chain"]], held_event["call"])

    def release(self) -> None:
        (self.control / "plan.json").unlink(missing_ok=True)
        (self.control / "go").touch()

    # --- processes -----------------------------------------------------------------------------------------------

    def processes(self) -> dict[int, tuple[int, str]]:
        """Return the host's processes: pid on the host -> pid on this machine, and command line."""
        leader = image.podman("inspect", self.bench.containers[HOST], "--format", "{{.State.Pid}}").stdout.strip()
        space = os.readlink(f"/proc/{leader}/ns/pid")
        processes = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if os.readlink(entry / "ns/pid") == space:
                    status = (entry / "status").read_text()
                    inside = status.partition("NSpid:")[2].partition("\n")[0].split()[-1]
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                    if "\nState:\tZ" not in status:
                        processes[int(inside)] = (int(entry.name), command)
        return processes

    def end(self, inside: int) -> None:
        """Kill a process (SIGKILL), given its pid on the host."""
        process = self.processes().get(inside)
        if process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process[0], signal.SIGKILL)

    def close_connections(self) -> None:
        """Make sshd drop connections whose clients no longer answer, as it does after two hours (tcp_keepalive_time).

        Until then, a sudo on the host waits for a password that never comes, whatever Ansible was about to do.
        """
        for inside, (outside, command) in self.processes().items():
            if inside != 1 and command.startswith("sshd"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(outside, signal.SIGKILL)

    def mounts(self) -> list[str]:
        leader = image.podman("inspect", self.bench.containers[HOST], "--format", "{{.State.Pid}}").stdout.strip()
        lines = Path(f"/proc/{leader}/mountinfo").read_text().splitlines()
        return sorted(line.split()[4] for line in lines)
