"""Sorts pip-style arguments and requirements files into lines, wheels and sources."""

from __future__ import annotations

import dataclasses
import os
import re
import urllib.parse
import urllib.request

from ...plugins.module_utils._core import disk
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._elf.reader import is_elf
from ...plugins.module_utils._wheel.requirement import clip
from .resolve import Index, Target, check_requirement

#: Limits on the size of a file in bytes, the nesting of files, and the total number of lines.
SIZE_LIMIT, DEPTH_LIMIT, LINES_LIMIT = 1 << 20, 10, 10_000
_OPTION = re.compile(
    r"(-r|--requirement|-c|--constraint|-i|--index-url|--extra-index-url|-f|--find-links|-e|--editable)(?:\s+|=|(?<=^-.))(\S.*)"
)
#: Options that change how pip installs, but not what it installs.
_HOW = re.compile(r"--(?:pre|prefer-binary|no-binary|only-binary|require-hashes|trusted-host|use-feature|no-deps)\b")
_AT_URL = re.compile(r"[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\])?\s*@\s*(?P<location>\S.*)")
# The start of an environment marker; a URL may contain semicolons, too.
_MARKER = re.compile(r" ?; ?(?=\(*(?:python_|platform_|sys_|os_|implementation_|extra\b|['\"]))")
_REPOSITORY = re.compile(r"(?:git|hg|svn|bzr)\+\S+")
#: The ends of the names of source archives, and of files with requirements.
_ARCHIVES, _LISTS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip"), (".txt", ".in")
_IMAGE = re.compile(
    r"(?:docker|oci)://\S+|[a-z0-9][\w.-]*:[\w.-]+"
    r"|[a-z0-9][\w.-]*(?::\d+)?(?:/[a-z0-9][\w.-]*)+(?::[\w.-]+)?(?:@sha256:\w+)?"
)


@dataclasses.dataclass
class RequirementLines:
    """The sorted requirements.

    :ivar requirements: lines that an index resolves.
    :ivar constraints: lines from ``-c`` files.
    :ivar wheels: paths of wheels and of bare binaries, and ``https`` URLs of wheels.
    :ivar sources: repositories, directories and source archives, which are built during installation.
    :ivar left_out: lines whose environment markers do not hold on the host.
    :ivar index: the index to search, with the options from the files.
    :ivar host: the host for which the markers are evaluated.
    """

    index: Index
    host: Target
    requirements: list[str] = dataclasses.field(default_factory=list)
    constraints: list[str] = dataclasses.field(default_factory=list)
    wheels: list[str] = dataclasses.field(default_factory=list)
    sources: list[str] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)
    _count: int = 0

    def read(self, text: str, base: str = ".", depth: int = 0, constrains: bool = False) -> RequirementLines:
        """Sort each line of a text, including the files that it names.

        :param base: the directory that its paths are relative to.
        :raises SparkforgeError: if a file cannot be read, or a line is invalid.
        """
        for line in re.sub(r"\\\n|\0", " ", text).splitlines():
            # Collapse blanks, because the patterns would try every way to split a run of them.
            line = " ".join(re.sub(r"(^|\s)#.*$", "", line).split())
            line = re.sub(r"\s--(?:hash|config-settings?)[= ]\S+", "", line)
            self._count += 1
            if self._count > LINES_LIMIT:
                raise SparkforgeError(f"There are more than {LINES_LIMIT} lines of requirements.", "Name fewer.")
            if line == "--no-index":
                self.index = dataclasses.replace(self.index, url="none", extra=())
            elif line and not _HOW.match(line):
                self._sort(line, base, depth, constrains)
        return self

    def _sort(self, line: str, base: str, depth: int, constrains: bool) -> None:
        option = _OPTION.fullmatch(line)
        if option:
            self._option(option[1].lstrip("-"), option[2].strip("'\""), base, depth)
            return
        if constrains:
            check_requirement(line)
            self.constraints.append(line)
            return
        requested, *markers = _MARKER.split(line, maxsplit=1)
        if not all(map(self.host.accepts, markers)):
            self.left_out.append(redact(line))
            return
        at_url = _AT_URL.fullmatch(requested)
        location = at_url["location"] if at_url else requested
        try:
            url = urllib.parse.urlsplit(location)
        except ValueError as error:
            raise SparkforgeError(f"{clip(redact(location))!r} is not a URL: {error}.", "Correct the line.") from error
        if url.scheme == "file":
            location = urllib.request.url2pathname(url.path)
        in_base = os.path.join(base, os.path.expanduser(location))
        is_remote = url.scheme in ("http", "https")
        if (url.path if is_remote else location).endswith(".whl") or (location[:1] in "./~" and is_elf(in_base)):
            self.wheels.append(location if is_remote else in_base)
        elif is_remote or at_url or _REPOSITORY.fullmatch(location):
            self.sources.append(redact(line))
        elif location.endswith(_LISTS):
            self._option("r", location, base, depth)
        elif location.endswith(_ARCHIVES) or location[:1] in "./~":
            if not (os.path.isdir(in_base) or (location.endswith(_ARCHIVES) and os.path.isfile(in_base))):
                raise SparkforgeError(
                    f"{clip(redact(location))!r} is not a wheel, library, archive, requirements list or directory.",
                    "Name one of these on this machine, or a virtual environment.",
                )
            self.sources.append(redact(line))
        elif _IMAGE.fullmatch(location):
            raise SparkforgeError(
                f"{clip(location)!r} names an image, but its files are not on this machine.",
                "Mount it on the host (podman image mount, as root), and name the printed directory.",
            )
        else:
            self.requirements.append(line)

    def _option(self, option: str, value: str, base: str, depth: int) -> None:
        if option in ("e", "editable"):
            self.sources.append(redact(value))
        elif option in ("i", "index-url"):
            self.index = dataclasses.replace(self.index, url=self.index.url or value)
        elif option == "extra-index-url":
            # Like pip, ignore all indexes after --no-index.
            extra = (*self.index.extra, value) if self.index.url != "none" else ()
            self.index = dataclasses.replace(self.index, extra=extra)
        elif option in ("f", "find-links"):
            self.index = dataclasses.replace(self.index, find_links=(*self.index.find_links, value))
        elif depth == DEPTH_LIMIT:
            raise SparkforgeError(f"Requirements files include each other {DEPTH_LIMIT} deep.", "Name one without -r.")
        else:
            path = os.path.join(base, os.path.expanduser(value))
            text = _content(path)
            self.read(text, os.path.dirname(path), depth + 1, option in ("c", "constraint"))


def _content(path: str) -> str:
    try:
        with disk.open_regular(path, links=True) as stream:
            content = stream.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise SparkforgeError(
            f"The requirements file {clip(redact(path))} cannot be read: {error.strerror}.",
            "Name a file on the controller; download a file behind a URL first.",
        ) from error
    if len(content) > SIZE_LIMIT:
        raise SparkforgeError(f"{path} has more than {SIZE_LIMIT >> 20} MiB.", "Name a requirements file.")
    return content.decode("utf-8", "replace")
