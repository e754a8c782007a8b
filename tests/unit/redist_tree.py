"""A small copy of NVIDIA's redist tree: manifests, and archives with ELF libraries of a few hundred bytes."""

import hashlib
import io
import json
import tarfile
import typing as t

from tests.unit.plugins.module_utils import elf_writer


def library(soname: str, machine: int = elf_writer.AARCH64, filler: bytes = b"") -> bytes:
    """Return a shared library that has only a SONAME."""
    return elf_writer.elf_bytes(soname=soname, machine=machine) + filler


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.mtime = kind, target, mode, 1_700_000_000
    return info


def tar(members: t.Iterable[tuple[tarfile.TarInfo, bytes]], compression: str = "xz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def archive(top: str, soname: str, version: str, *, machine=elf_writer.AARCH64, extra=(), filler=b"") -> bytes:
    """Return an archive with the layout of NVIDIA's."""
    base = soname.partition(".so.")[0]
    return tar(
        [
            (member(top, tarfile.DIRTYPE, mode=0o755), b""),
            (member(f"{top}/LICENSE"), b"NVIDIA's licence\n"),
            (member(f"{top}/include/{base}.h"), b"#pragma once\n"),
            (member(f"{top}/lib/{base}.so", tarfile.SYMTYPE, soname), b""),
            (member(f"{top}/lib/{soname}", tarfile.SYMTYPE, f"{base}.so.{version}"), b""),
            (member(f"{top}/lib/{base}.so.{version}", mode=0o755), library(soname, machine, filler)),
            (member(f"{top}/lib/cmake/{base}/{base}-config.cmake"), b"# CMake\n"),
            (
                member(f"{top}/lib/pkgconfig/{base}.pc"),
                b"prefix=/usr/local\nlibdir=${prefix}/lib\nincludedir=${prefix}/include\nName: x\n",
            ),
            *extra,
        ]
    )


class Tree:
    """The files of a redist tree to serve, path -> bytes."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def publish(self, product, release, component, version, content, *, variant="cuda13", platform="linux-sbsa") -> str:
        """Add an archive to a release and return its sha256."""
        suffix = f"_{variant}" if variant else ""
        relative = f"{component}/{platform}/{component}-{platform}-{version}{suffix}-archive.tar.xz"
        entry: dict[str, t.Any] = {
            "relative_path": relative,
            "sha256": hashlib.sha256(content).hexdigest(),
            "md5": "0" * 32,
            "size": str(len(content)),
        }
        path = f"/compute/{product}/redist/redistrib_{release}.json"
        manifest = json.loads(self.files.get(path, b'{"release_date": "2026-06-01"}'))
        described = manifest.setdefault(
            component, {"name": f"NVIDIA {component}", "license": f"{component} licence", "version": version}
        )
        if variant:
            described.setdefault(platform, {})[variant] = entry
            described["cuda_variant"] = ["12", "13"]
        else:
            described[platform] = entry
        self.files[path] = json.dumps(manifest).encode()
        self.files[f"/compute/{product}/redist/{relative}"] = content
        return str(entry["sha256"])
