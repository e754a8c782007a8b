"""The build account: create and remove it, check its access, and give it directories and files."""

# Only the system's account tools create and remove the account, and the engine that runs them has no AnsibleModule.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import grp
import os
import subprocess

from . import accounts, disk
from .errors import SparkforgeError

_SYSTEM_USER_SHELL = "/usr/sbin/nologin"


class BuildAccount(accounts.Account):
    """The account that a build runs as."""

    def create(self, home: str) -> bool:
        """Create the account if it does not exist; tell whether it was created."""
        if self.entry is not None:
            return False
        command = ["useradd", "--system", "--home-dir", home, "--no-create-home", "--shell", _SYSTEM_USER_SHELL]
        try:
            grp.getgrnam(self.name)
            command += ["--gid", self.name]
        except KeyError:
            command += ["--user-group"]
        completed = subprocess.run(
            [*command, self.name], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if completed.returncode != 0 and self.entry is None:
            raise SparkforgeError(
                f"The account {self.name} cannot be created: {completed.stderr.strip()}.",
                "Create it, or set the option user.",
            )
        return True

    def remove(self, name: str) -> None:
        """Remove the account that ``create`` created. Its group is kept if it has other members."""
        subprocess.run(["userdel", name], stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def check_interpreter(self, python: str) -> None:
        """Refuse an interpreter that the account cannot run, such as one in a user's home directory."""
        files = [os.path.realpath(python), python, os.path.realpath(os.__file__)]
        with self.acting():
            for file in files:
                parts = file.split("/")
                for directory in ("/".join(parts[:end]) or "/" for end in range(1, len(parts))):
                    if not os.access(directory, os.X_OK):
                        raise self._interpreter_error(python, f"may not enter {directory}")
                if not os.access(file, os.R_OK if file == files[-1] else os.X_OK):
                    raise self._interpreter_error(python, f"may not use {file}")

    def _interpreter_error(self, python: str, fault: str) -> SparkforgeError:
        return SparkforgeError(
            f"The account {self.name} cannot build with {python}, which runs this module: it {fault}.",
            "Set this host's ansible_python_interpreter to one that every account can run, such as /usr/bin/python3.",
        )

    def own_directory(self, path: str) -> None:
        """Create the directory ``path`` if it does not exist, and give it to the account.

        :raises SparkforgeError: if the path exists but is not a directory.
        """
        entry = self.entry
        make_owned_directory(path, entry.pw_uid if entry else -1, entry.pw_gid if entry else -1)

    def own_file(self, path: str) -> None:
        """Create an empty file that the account can write, in a directory that it cannot."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            entry = self.entry
            if self.is_root and entry is not None:
                os.fchown(descriptor, entry.pw_uid, entry.pw_gid)
            os.fchmod(descriptor, 0o644)
        finally:
            os.close(descriptor)


def make_owned_directory(path: str, uid: int, gid: int) -> None:
    """Create the directory ``path`` if it does not exist; as root, give it to ``uid`` and ``gid`` (-1 for no change).

    :raises SparkforgeError: if the path exists but is not a directory.
    """
    try:
        disk.make_directories(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.geteuid() == 0 and os.fstat(descriptor).st_uid != uid:
                os.fchown(descriptor, uid, gid)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SparkforgeError(
            f"The directory {path} cannot be created: {error.strerror}.",
            "Set become for this task, and make sure that the file system is writable and not full.",
        ) from error
