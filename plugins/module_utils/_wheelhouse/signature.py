"""Sign manifests with the builder's root-owned key, using OpenSSH signatures (ssh-keygen(1), -Y).

Only the seal is signed, because it covers everything else. Ed25519 signatures are deterministic.
"""

# There is no AnsibleModule here to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import os
import shutil
import subprocess
import typing as t

from .._core import disk
from .._core.errors import SparkforgeError
from .._wheel.wheel import Manifest

#: Signatures made for other purposes, such as git commits, are not valid here.
NAMESPACE = "manifest@sparkforge"


class Signer:
    """The signing key of this host.

    :param root: the collection's root on this host; the key is ``<root>/keys/wheelhouse``.
    """

    def __init__(self, root: str) -> None:
        self.directory = os.path.join(root, "keys")
        self.path = os.path.join(self.directory, "wheelhouse")
        self.program = shutil.which("ssh-keygen", path="/usr/bin:/bin:/usr/local/bin")

    @property
    def public_key(self) -> str | None:
        """The public key in the form that an inventory pins, or None if there is no key yet."""
        try:
            with open(f"{self.path}.pub", encoding="ascii") as stream:
                return " ".join(stream.read().split()[:2])
        except OSError:
            return None

    def make(self, check_mode: bool) -> bool:
        """Create the key if there is none; tell whether it was, or would be, created."""
        if not self.program or self.public_key:
            return False
        if check_mode:
            return True
        disk.remove(self.directory)
        disk.make_directories(self.directory)
        os.chmod(self.directory, 0o700)
        _run([self.program, "-q", "-t", "ed25519", "-N", "", "-C", "sparkforge", "-f", self.path])
        disk.fsync_tree(self.directory)
        return True

    def sign(self, manifest: Manifest) -> Manifest:
        """Return the manifest with this host's signature, or unchanged if there is no key."""
        if not self.program or not self.public_key:
            return manifest
        command = [self.program, "-q", "-Y", "sign", "-f", self.path, "-n", NAMESPACE]
        return {**manifest, "signature": _run(command, manifest["seal"])}


def _run(command: t.Sequence[str], text: str = "") -> str:
    completed = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        lines = (completed.stderr or completed.stdout).strip().splitlines() or [f"exit status {completed.returncode}"]
        raise SparkforgeError(
            f"ssh-keygen cannot sign the manifest: {lines[-1].rstrip('.')}.",
            "Remove the directory keys in sparkforge_root and run again. Then pin the new key.",
        )
    return completed.stdout
