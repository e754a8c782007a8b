"""Makes small wheels, and installs them with pip into a directory."""

import base64
import hashlib
import subprocess
import sys
import typing as t
import zipfile
from pathlib import Path


def make(
    directory: Path, name: str, version: str, files: t.Mapping[str, bytes], requires: t.Sequence[str] = ()
) -> Path:
    """Write a wheel that holds ``files``, with a RECORD that names each."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    content = {
        **files,
        f"{info}/METADATA": (metadata + "".join(f"Requires-Dist: {line}\n" for line in requires) + "\n").encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in content.items()
    )
    path = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in {**content, f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}.items():
            archive.writestr(member, data)
    return path


def install(target: Path, *wheels: Path) -> Path:
    """Install wheels as pip does, bytecode included, and nothing that they require."""
    options = ["--quiet", "--no-index", "--no-deps", "--compile", "--disable-pip-version-check", "--target", target]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, *wheels], check=True)
    return target
