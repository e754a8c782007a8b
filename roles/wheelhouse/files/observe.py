# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print what nginx serves and which files it is to read, as JSON; changes nothing.

Arguments: URL, user name, salt, the file with the password's hash, other files. The password is read from stdin.
"""

from __future__ import annotations

import contextlib
import glob
import grp
import hashlib
import json
import os
import pwd
import ssl
import stat
import subprocess
import sys
import urllib.request


def configuration(url: str) -> str:
    """Return the digest of the configuration that nginx has read; empty without an answer."""
    unverified = ssl.create_default_context()
    # Others decide whether they trust the certificate.
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unverified))
    try:
        with urllib.request.build_opener(*handlers).open(f"{url}/-/configuration", timeout=10) as answer:
            return str(answer.read(1000).decode("utf-8", "replace").strip())
    except (OSError, ValueError):
        return ""


def described(path: str) -> str:
    """Return sha256, mode, owner and group of a file; empty if there is none."""
    try:
        with open(path, "rb") as stream:
            digest, status = hashlib.sha256(stream.read()).hexdigest(), os.fstat(stream.fileno())
    except OSError:
        return ""
    owner, group = str(status.st_uid), str(status.st_gid)
    with contextlib.suppress(KeyError):
        owner, group = pwd.getpwuid(status.st_uid).pw_name, grp.getgrgid(status.st_gid).gr_name
    return f"{digest} {stat.S_IMODE(status.st_mode):04o} {owner}:{group}"


def has_password(path: str, username: str, salt: str, password: bytes) -> bool:
    """Tell whether the file has the hash of this password."""
    try:
        command = ["openssl", "passwd", "-6", "-stdin", "-salt", salt]
        hashed = subprocess.run(command, input=password, capture_output=True, check=True).stdout.decode("ascii").strip()
        with open(path, encoding="utf-8") as stream:
            return stream.read() == f"{username}:{hashed}\n"
    except (OSError, ValueError, subprocess.CalledProcessError):
        return False


def is_enabled() -> bool:
    """Tell whether nginx starts at boot."""
    if os.path.isdir("/run/systemd/system"):
        return subprocess.run(["systemctl", "-q", "is-enabled", "nginx"], check=False).returncode == 0
    return bool(glob.glob("/etc/rc[2-5].d/S*nginx"))


if __name__ == "__main__":
    url, username, salt, htpasswd, *files = sys.argv[1:]
    found = {
        "configuration": configuration(url),
        "files": {path: described(path) for path in (htpasswd, *files)},
        "password": bool(salt) and has_password(htpasswd, username, salt, sys.stdin.buffer.read()),
        "enabled": is_enabled(),
    }
    print(json.dumps(found))
