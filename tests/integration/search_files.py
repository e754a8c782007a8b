"""Search files for byte strings: ``search_files.py HEX[,HEX…] DIRECTORY…``, as root on a host or on the controller.

Print how many files and bytes were read, and the path, owner and mode of each file with a match. gzip and zip archives
are also searched inside, and the journal is searched as journalctl prints it.
"""

import gzip
import json
import os
import pwd
import shutil
import stat
import subprocess
import sys
import typing as t
import zipfile

BLOCK = 1 << 24


def blocks(path: str) -> t.Iterator[bytes]:
    """Yield a file's content in blocks, each preceded by the end of the previous one, then an archive's content."""
    with open(path, "rb") as stream:
        head = stream.read(2)
        stream.seek(0)
        yield from pieces(stream)
    try:
        if head == b"\x1f\x8b":
            with gzip.open(path) as stream:
                yield from pieces(stream)
        elif head == b"PK":
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    with archive.open(name) as stream:
                        yield from pieces(stream)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        # The file only looks like an archive, and has already been searched as plain bytes.
        return


def pieces(stream: t.IO[bytes]) -> t.Iterator[bytes]:
    last = b""
    while True:
        piece = stream.read(BLOCK)
        if not piece:
            return
        yield last + piece
        last = piece[-256:]


def files(folder: str) -> t.Iterator[str]:
    """Yield all regular files below a directory, on its own file system."""
    device = os.stat(folder).st_dev
    for directory, names, members in os.walk(folder):
        names[:] = [name for name in names if os.lstat(os.path.join(directory, name)).st_dev == device]
        yield from (os.path.join(directory, name) for name in members)


def main() -> None:
    needles = [bytes.fromhex(word) for word in sys.argv[1].split(",")]
    result: dict[str, t.Any] = {"files": 0, "bytes": 0, "hits": []}
    for path in sorted({path for folder in sys.argv[2:] if os.path.isdir(folder) for path in files(folder)}):
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                continue
            hit = any(needle in piece for piece in blocks(path) for needle in needles)
        except FileNotFoundError:
            continue
        result["files"] += 1
        result["bytes"] += status.st_size
        if hit:
            try:
                owner = pwd.getpwuid(status.st_uid).pw_name
            except KeyError:
                owner = str(status.st_uid)
            result["hits"].append([path, owner, f"{stat.S_IMODE(status.st_mode):04o}"])
    if shutil.which("journalctl"):
        with subprocess.Popen(["journalctl", "--no-pager", "-o", "export"], stdout=subprocess.PIPE) as reader:
            if any(needle in piece for piece in pieces(reader.stdout) for needle in needles):
                result["hits"].append(["the journal", "root", ""])
    print(json.dumps(result))


main()
