"""Keys and small signed apt repositories, created with gpg, apt-ftparchive and dpkg-deb in a test's directory."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest


def require(*tools: str) -> None:
    """Skip a module's tests if a tool is not installed."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed on this machine", allow_module_level=True)


class Keys:
    """Keys in a gpg home directory."""

    def __init__(self, home: Path) -> None:
        # gpg-agent's socket path may have at most 107 characters, and the paths of pytest's directories are longer.
        home.mkdir(mode=0o700, parents=True)
        self.environment = {**os.environ, "GNUPGHOME": str(home), "LC_ALL": "C.UTF-8"}

    def gpg(self, *arguments: str) -> bytes:
        return subprocess.run(
            ["gpg", "--batch", "--quiet", "--yes", "--no-tty", *arguments],
            env=self.environment, check=True, capture_output=True,
        ).stdout  # fmt: skip

    def make(self, name: str) -> str:
        self.gpg("--passphrase", "", "--quick-gen-key", name, "rsa2048", "sign")
        lines = self.gpg("--list-keys", "--with-colons", name).decode().splitlines()
        return next(line.split(":")[9] for line in lines if line.startswith("fpr"))

    def close(self) -> None:
        subprocess.run(["gpgconf", "--kill", "all"], env=self.environment, check=False, capture_output=True)


def build_deb(tree: Path, folder: Path, compression: str = "xz", **fields: str) -> Path:
    """Build a .deb from ``tree`` with these control fields."""
    (tree / "DEBIAN").mkdir(parents=True, exist_ok=True)
    base = {"Maintainer": "Test <test@example.invalid>", "Description": "a test", **fields}
    (tree / "DEBIAN/control").write_text("".join(f"{key}: {value}\n" for key, value in base.items()))
    path = folder / f"{fields['Package']}_{fields['Version']}_{fields['Architecture']}.deb"
    subprocess.run(
        ["dpkg-deb", f"-Z{compression}", "--root-owner-group", "--build", str(tree), str(path)],
        check=True, capture_output=True,
    )  # fmt: skip
    return path


def with_control(deb: Path, text: str) -> Path:
    """Replace a .deb's control file with ``text``, which dpkg-deb might refuse to pack."""
    control = deb.with_suffix(".control")
    control.write_text(text)
    folder = deb.with_suffix(".members")
    folder.mkdir()
    subprocess.run(["ar", "x", deb.absolute()], cwd=folder, check=True)
    next(folder.glob("control.tar*")).unlink()
    with tarfile.open(folder / "control.tar", "w") as archive:
        archive.add(control, "./control")
    # dpkg-deb expects this order.
    members = ["debian-binary", *(next(folder.glob(f"{part}.tar*")).name for part in ("control", "data"))]
    deb.unlink()
    subprocess.run(["ar", "rc", deb.absolute(), *members], cwd=folder, check=True)
    return deb
