"""The files that a program or a role installs: compare them with the host, write and remove them."""

from __future__ import annotations

import os
import stat
import typing as t

from . import disk, phrases

#: A file's content, mode, user and group; the content is None if there is no file.
State = tuple[t.Optional[bytes], int, int, int]


class Files:
    """The files to install, compared with those on the host.

    :param desired: content and mode of each file by its path.
    :param installed: the paths that an earlier run may have installed; those no longer wanted are removed.
    :param groups: the number of a file's group by its path; other files get that of this process.
    :ivar changes: the content before and after for each file that differs; None stands for a missing file.
    """

    def __init__(
        self,
        desired: t.Mapping[str, tuple[bytes, int]],
        installed: t.Iterable[str],
        groups: t.Mapping[str, int] | None = None,
    ) -> None:
        self.desired = desired
        after: dict[str, State] = dict.fromkeys(installed, (None, 0, 0, 0))
        for path, (content, mode) in desired.items():
            after[path] = (content, mode, os.geteuid(), (groups or {}).get(path, os.getegid()))
        states = {path: (_state(path), after[path]) for path in sorted(after)}
        self._states = {path: (old, new) for path, (old, new) in states.items() if old != new}
        self.changes = {path: (old[0], new[0]) for path, (old, new) in self._states.items()}

    def diff(self) -> list[dict[str, str]]:
        """Return the differences for ``--diff``."""
        return [phrases.diff(path, *_diff_sides(old, new)) for path, (old, new) in self._states.items()]

    def apply(self) -> None:
        """Write and remove the files."""
        for path, (_old, (content, mode, _user, group)) in self._states.items():
            if content is not None:
                disk.write_file(path, content, mode, group)
                continue
            try:
                os.unlink(path)
                directory = os.path.dirname(path)
                if directory.endswith(".service.d") and not os.listdir(directory):
                    os.rmdir(directory)
            except OSError as error:
                raise disk.io_error(f"{path} cannot be removed", error) from error


def _state(path: str) -> State:
    try:
        if os.path.islink(path):
            return os.fsencode(os.readlink(path)), 0o777, 0, 0
        with disk.open_regular(path) as stream:
            status = os.fstat(stream.fileno())
            return stream.read(), stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
    except (FileNotFoundError, NotADirectoryError):
        return None, 0, 0, 0
    except OSError as error:
        raise disk.io_error(f"{path} cannot be read", error) from error


def _diff_sides(before: State, after: State) -> tuple[str, str]:
    """Return both sides of a difference: the contents, if they differ and are world-readable, or the attributes."""
    states = [state for state in (before, after) if state[0] is not None]
    if before[0] != after[0] and all(mode & stat.S_IROTH for _content, mode, _user, _group in states):
        return _text(before[0]), _text(after[0])
    return _attributes(*before), _attributes(*after)


def _attributes(content: bytes | None, mode: int, user: int, group: int) -> str:
    return "" if content is None else f"mode {mode:04o}, user {user}, group {group}\n"


def _text(content: bytes | None) -> str:
    if content is None or b"\0" not in content:
        return (content or b"").decode("utf-8", "replace")
    return f"{len(content)} bytes\n"
