"""Check that a manifest was signed by a key that the inventory pins."""

from __future__ import annotations

import re
import subprocess
import tempfile
import typing as t
from pathlib import Path

from ...module_utils._core.errors import SparkforgeError
from ...module_utils._wheel.wheel import Manifest
from ...module_utils._wheelhouse.signature import NAMESPACE

#: A key's type and data, as in an authorized_keys file; the rest of the line is a comment.
_KEY = re.compile(r"([a-z0-9@.-]+ [A-Za-z0-9+/]+=*)(?: [^\n]*)?")


SETTING = "sparkforge_wheelhouse_signers"
#: The remedy for a manifest without a valid signature.
REMEDY = (
    "Find out who wrote it; if it was your builder, publish it again with playbooks/build.yml, which prints the "
    "key to pin."
)


def check(manifest: Manifest, signers: t.Sequence[str], where: str) -> None:
    """Refuse a manifest that none of ``signers`` has signed.

    :param signers: OpenSSH public keys; if empty, every manifest is accepted.
    :param where: the manifest's name in messages.
    :raises SparkforgeError: also if a signer is not a public key.
    """
    if not signers:
        return
    allowed = "".join(f"* {_key(signer)}\n" for signer in signers)
    with tempfile.TemporaryDirectory(prefix="sparkforge-") as folder:
        Path(folder, "keys").write_text(allowed, encoding="ascii")
        Path(folder, "signature").write_text(manifest.get("signature", ""), encoding="utf-8")
        command = ["ssh-keygen", "-q", "-Y", "verify", "-f", f"{folder}/keys", "-I", "wheelhouse", "-n", NAMESPACE]
        command += ["-s", f"{folder}/signature"]
        try:
            completed = subprocess.run(command, input=manifest["seal"], capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise SparkforgeError(
                f"{SETTING} is set, but the controller has no ssh-keygen to verify signatures.",
                "Install the OpenSSH client on the controller.",
            ) from error
    if completed.returncode != 0:
        fault = f"signed by none of {SETTING}" if manifest.get("signature") else "not signed"
        raise SparkforgeError(f"{where} is {fault}.", REMEDY)


def _key(signer: str) -> str:
    match = _KEY.fullmatch(signer.strip())
    if not match:
        raise SparkforgeError(
            f"{SETTING} has {signer[:40]!r}, which is not an OpenSSH public key.",
            "Copy the line that playbooks/build.yml prints at its end: ssh-ed25519 AAAA…",
        )
    return match.group(1)
