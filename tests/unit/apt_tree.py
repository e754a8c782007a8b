"""A small system in a directory, used with this machine's apt and dpkg, and a repository for it.

Its packages have no scripts, so dpkg needs neither a chroot nor a container.
"""

import gzip
import os
import shutil
import subprocess
import typing as t
from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.apt_get import ENVIRONMENT, Apt
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.apt_state import AptState
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host

from lab.packages import Content, Entry, Package

ARCHITECTURE = subprocess.run(
    ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
).stdout.strip()
CONFIG = """\
Dir "{tree}/";
Dir::State::status "{tree}/var/lib/dpkg/status";
Dir::Etc::sourceparts "-";
Dir::Etc::parts "-";
DPkg::Options {{ "--root={tree}"; "--force-not-root"; "--log=/dev/null"; "--force-unsafe-io"; }};
DPkg::Lock::Timeout "0";
DPkg::Run-Directory "/";
APT::Sandbox::User "";
APT::Architectures {{ "{architecture}"; }};
Acquire::Languages "none";
"""


class Tree:
    """The system at ``path``, whose only source is the repository next to it."""

    def __init__(self, path: Path) -> None:
        self.path, self.repository = path / "tree", path / "repository"
        for name in ("var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/apt/lists/partial", "etc/apt/preferences.d",
                     "var/cache/apt/archives/partial", "var/log/apt", "boot", "usr", "proc/sys/kernel"):  # fmt: skip
            (self.path / name).mkdir(parents=True)
        self.repository.mkdir()
        (self.path / "var/lib/dpkg/status").touch()
        (self.path / "var/lib/dpkg/arch").write_text(f"{ARCHITECTURE}\n")
        (self.path / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{self.repository} ./\n")
        self.config = path / "apt.conf"
        self.config.write_text(CONFIG.format(tree=self.path, architecture=ARCHITECTURE))
        self.stanzas: dict[str, str] = {}
        self.ran: list[list[str]] = []

    def offer(self, name: str, version: str, fields: str = "", files: t.Sequence[str] = (), **relations: t.Any) -> None:
        """Add a package to the repository; ``fields`` are additional lines for the index."""
        entries = [Entry(path, Content(f"{name} {version}\n")) for path in (f"usr/share/{name}", *files)]
        kinds = {kind.replace("_", "-"): list(names) for kind, names in relations.items()}
        package = Package(name, version, ARCHITECTURE, name, relations=kinds, entries=entries)
        written = package.write(self.repository)
        location = f"Filename: ./{written.path.name}\nSize: {written.size}\nSHA256: {written.sha256}\n"
        self.stanzas[f"{name} {version}"] = f"{package.control()}{fields}{location}"

    def update(self) -> None:
        """Write the index and run apt-get update."""
        index = "\n".join(self.stanzas.values()).encode()
        (self.repository / "Packages").write_bytes(index)
        (self.repository / "Packages.gz").write_bytes(gzip.compress(index, mtime=0))
        self.must("apt-get", "update", "-q")

    def run(self, argv: list[str], environment: t.Mapping[str, str] | None = None) -> tuple[int, str, str]:
        self.ran.append(argv)
        if argv[0] == "dpkg":
            argv = ["dpkg", f"--root={self.path}", "--force-not-root", *argv[1:]]
        result = subprocess.run(
            argv, env={**os.environ, **ENVIRONMENT, **(environment or {}), "APT_CONFIG": str(self.config)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return result.returncode, result.stdout, result.stderr

    def must(self, *argv: str) -> str:
        status, out, error = self.run(list(argv))
        assert status == 0, out + error
        return out

    def install(self, *names: str) -> None:
        self.must("apt-get", "install", "-y", "-q", "--no-install-recommends", "--allow-downgrades", *names)

    @property
    def host(self) -> Host:
        return Host(str(self.path), run=self.run)

    @property
    def apt(self) -> Apt:
        apt = Apt(self.run, lock_timeout=0)
        apt.state = AptState(self.host)
        return apt

    def versions(self) -> dict[str, str]:
        return self.apt.packages().versions

    def copy(self, path: Path) -> "Tree":
        """Return a copy of the system and its repository in another directory."""
        other = Tree.__new__(Tree)
        other.path, other.repository, other.config = path / "tree", path / "repository", path / "apt.conf"
        path.mkdir()
        for name in ("tree", "repository"):
            shutil.copytree(self.path.parent / name, path / name, symlinks=True)
        other.config.write_text(CONFIG.format(tree=other.path, architecture=ARCHITECTURE))
        (other.path / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{other.repository} ./\n")
        other.stanzas, other.ran = dict(self.stanzas), []
        other.update()
        return other
