# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes an environment at a path from an interpreter, requirements and wheels: with the host's uv, or else pip.

Both take the same file of requirements and refuse what has another sha256. uv is several times as fast, and knows
nothing of pip's configuration; pip's words are what :mod:`failures` explains. So whatever uv does not manage pip does.

Root never runs what a wheel provides. uv and pip only unpack; pip is a copy of the interpreter's own, the bytecode is
compiled by the interpreter that the environment is made from, and what starts the finished one has no rights.
"""

from __future__ import annotations

import contextlib
import os
import re
import typing as t
import urllib.parse
import urllib.request
import zipfile

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import digests, disk, unprivileged
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import failures
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.identity import Identity
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.model import ENGLISH, Options, Run
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import index
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.requirement import (
    normalised,
    place_option,
    short,
)

#: Where the host's uv is looked for. One that the requirements bring is a wheel's, which root does not run.
UV = ("/usr/local/bin/uv", "/usr/bin/uv")
#: Makes an environment without packages and prints the interpreter's wheel of pip. ensurepip would have that
#: installed and compiled by three processes of its own, which takes as long as all the rest. The places are those of
#: ensurepip (PEP 453); Debian's is not among the variables of all its releases.
_VENV = """
import glob, os, sys, sysconfig
prompt, place = sys.argv[1:]
try:
    import ensurepip, venv
    venv.create(place, symlinks=True, prompt=prompt)
except (ImportError, OSError) as error:
    sys.exit(str(error))
bundled = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
places = (sysconfig.get_config_var("WHEEL_PKG_DIR"), bundled, "/usr/share/python-wheels")
wheels = (wheel for place in places if place for wheel in glob.glob(os.path.join(glob.escape(place), "pip-*.whl")))
print(next(wheels, "ensurepip has no wheel of pip"))
"""
#: What configures pip beside the variables of the environment (pip.pypa.io, Configuration).
_PIP_CONFIGURATIONS = ("/etc/pip.conf", "/etc/xdg/pip/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf")


class Installer:
    """Makes environments with the interpreter's own venv, and uv or pip."""

    def __init__(self, options: Options, run: Run) -> None:
        self.options = options
        self.run = run
        self.credentials = index.credentials(options.credentials)

    def install(self, place: str, identity: Identity) -> None:
        """Make an environment at ``place``, which is not there yet, of exactly what is asked for.

        :raises SparkforgeError: with ``network`` among its details where the network failed.
        """
        if self._may_use_uv():
            if self._fill(place, identity, self._make(place, identity), self._with_uv) is None:
                return
            disk.remove(place)
        output = self._fill(place, identity, self._make(place, identity), self._with_pip)
        if output is not None:
            raise self._explained(failures.pip_failure(output), output)

    def _may_use_uv(self) -> bool:
        """Tell whether uv would do as pip: it reads no configuration of pip's."""
        if not self._uv():
            return False
        if self.options.index_url is not None:
            return True
        files = map(os.path.expanduser, _PIP_CONFIGURATIONS)
        return not any(map(os.path.exists, files)) and not any(name.startswith("PIP_") for name in os.environ)

    def _uv(self) -> str:
        return next((path for path in UV if os.access(path, os.X_OK)), "")

    def _make(self, place: str, identity: Identity) -> str:
        """Make an environment without packages; return the path of the interpreter's wheel of pip."""
        # Without a prompt it would be the name of the directory, which does not stay.
        venv = [identity.python, "-I", "-c", _VENV, self.options.paths.name, place]
        rc, out, err = self.run(venv, environ_update=ENGLISH)
        wheel = out.rstrip("\n")
        if rc != 0 or not os.path.isfile(wheel):
            raise failures.venv_failure(identity.python, identity.version, out + err)
        return wheel

    def _fill(self, place: str, identity: Identity, pip: str, install: t.Callable[[str, str], list[str]]) -> str | None:
        """Install what is asked for with the command that ``install`` returns; return what it said if it fails.

        :param pip: the interpreter's wheel of it, which is installed as well.
        :raises SparkforgeError: if what was installed does not fit together.
        """
        requirements = os.path.join(place, ".requirements.txt")
        temporary = os.path.join(place, ".tmp")
        # pip imports parts of itself when it has installed already: by then those may be a wheel's.
        with zipfile.ZipFile(pip) as archive:
            archive.extractall(temporary)
        _write_private(requirements, "\n".join([*self._places(identity), *self._wanted(identity, pip), ""]))
        # Next to the environment: /tmp is often a small file system in memory.
        variables = {**ENGLISH, "PIP_USER": "0", "TMPDIR": temporary}
        # pip does not know the variable that the rest of the system takes the CA from.
        if "SSL_CERT_FILE" in os.environ and not {"PIP_CERT", "REQUESTS_CA_BUNDLE"} & set(os.environ):
            variables["PIP_CERT"] = os.environ["SSL_CERT_FILE"]
        with self._netrc(place, identity) as netrc:
            rc, out, err = self.run(install(place, requirements), environ_update={**variables, **netrc}, cwd=place)
        if rc != 0:
            return f"{out}\n{err}"
        if self.options.compile:
            # A file that is no Python of this version is left as it is, as pip does.
            self.run([identity.python, "-I", "-m", "compileall", "-q", os.path.join(place, "lib")])
        check, settings = unprivileged.command([*_own_pip(place), "check"], ENGLISH)
        rc, out, err = self.run(check, environ_update=settings, cwd=place)
        complaints = [line for line in (out or err).splitlines() if line.strip() and not self._is_override(line)]
        if rc != 0 and (complaints or not self.options.override):
            first = (complaints or ["pip check failed"])[0]
            raise SparkforgeError(
                f"The packages conflict: {short(first.rstrip('.'))}.",
                "Renew the lock with playbooks/lock.yml.",
                pip_output=(out + err).strip(),
            )
        # The last is uv's own.
        for leftover in (requirements, temporary, os.path.join(place, ".lock")):
            disk.remove(leftover)
        return None

    def _is_override(self, complaint: str) -> bool:
        """Whether pip complains that a package is of another version, which is what was asked for."""
        found = re.search(r" has requirement ([A-Za-z0-9._-]+)", complaint)
        return found is not None and normalised(found[1]) in map(normalised, self.options.override)

    def _what(self, requirements: str) -> list[str]:
        """Return the options that say what is installed; what the lock overrides no resolver would take."""
        return [*(["--no-deps"] if self.options.override else []), "--requirement", requirements]

    def _with_pip(self, place: str, requirements: str) -> list[str]:
        install = [*_own_pip(place), "--cache-dir", self.options.paths.of(".download")]
        install += ["install", "--require-hashes", "--only-binary=:all:", "--progress-bar=off", "--no-compile"]
        return [*install, *self._what(requirements)]

    def _with_uv(self, place: str, requirements: str) -> list[str]:
        # The cache goes when the environment is made, so that it may share its files.
        install = [self._uv(), "--no-config", "--no-progress", "--cache-dir", self.options.paths.of(".download/uv")]
        install += ["pip", "install", "--python", os.path.join(place, "bin", "python"), "--require-hashes"]
        return [*install, "--only-binary=:all:", *self._what(requirements)]

    def _places(self, identity: Identity) -> list[str]:
        """Return where to look, for the file of requirements: a command line shows the password that a URL may have."""
        url = self.options.index_url
        lines = []
        if url is not None and url.strip().lower() in ("", "none"):
            lines.append("--no-index")
        elif url is not None:
            lines.append(place_option("index_url", url))
        for place in self.options.find_links:
            lines.append(place_option("find_links", place))
            if place.startswith("http://"):
                # Every hash is given, so that whoever answers there need not be trusted; pip would pass it over.
                lines.append(f"--trusted-host {urllib.parse.urlsplit(place).netloc.rpartition('@')[2]}")
        pinned = self._pinned()
        return lines + [
            place_option("find_links", os.path.dirname(wheel.path))
            for wheel in identity.wheels
            if wheel.name.distribution in pinned
        ]

    def _wanted(self, identity: Identity, pip: str) -> list[str]:
        """Return what to install, each line with its hash."""
        pinned = self._pinned()
        wheels = [(wheel.path, wheel.sha256) for wheel in identity.wheels if wheel.name.distribution not in pinned]
        if "pip" not in pinned.union(wheel.name.distribution for wheel in identity.wheels):
            wheels.append((pip, digests.of_file(pip)))
        return [requirement.line for requirement in self.options.requirements] + [
            f"file://{urllib.request.pathname2url(path)} --hash=sha256:{sha256}" for path, sha256 in wheels
        ]

    def _pinned(self) -> set[str]:
        return {requirement.name for requirement in self.options.requirements}

    @contextlib.contextmanager
    def _netrc(self, directory: str, identity: Identity) -> t.Iterator[dict[str, str]]:
        """Give the credentials to pip in a file of root's: others read command lines, and root the environment."""
        if not self.credentials:
            yield {}
            return
        path = os.path.join(directory, ".netrc")
        text = index.render_netrc(self.credentials, identity.version)
        try:
            _write_private(path, text)
            yield {"NETRC": path}
        finally:
            disk.remove(path)

    def _explained(self, error: SparkforgeError, output: str) -> SparkforgeError:
        """Return a better cause than pip's, where the index answers something else than pip takes it for."""
        hosts = {one.host for one in self.credentials}

        def authenticated(url: str) -> bool:
            return urllib.parse.urlsplit(url).hostname in hosts

        def explained(url: str) -> SparkforgeError | None:
            answer = index.ask(url, self.credentials)
            return index.explain(url, answer, package, authenticated(url)) if answer else None

        better: SparkforgeError | None = None
        url, package = str(error.details.get("url") or ""), str(error.details.get("package") or "")
        if "status" in error.details:
            better = index.refused(redact(url), error.details["status"], "", authenticated(url))
        elif url:
            better = explained(url)
        elif package and error.details.get("looked_for"):
            better = next(filter(None, map(explained, self._pages(output, package))), None)
        if better is None:
            return error
        better.details.update({key: value for key, value in error.details.items() if key not in better.details})
        return better

    def _pages(self, output: str, package: str) -> list[str]:
        """Return the URLs that pip looked for a package at."""
        url = self.options.index_url
        indexes = [url] if url and url.strip().lower() != "none" else []
        if url is None:
            # As the host's own pip configuration has it; pip hides a password there.
            told = re.search(r"^Looking in indexes: (.*)$", output, re.MULTILINE)
            indexes = re.split(r",\s*", told.group(1)) if told else []
        project = normalised(re.split(r"[^A-Za-z0-9._-]", package, maxsplit=1)[0])
        pages = [place for place in self.options.find_links if place.startswith(("http://", "https://"))]
        return [*pages, *(f"{place.rstrip('/')}/{project}/" for place in indexes)]


def _own_pip(place: str) -> list[str]:
    """Return the start of a command of the pip that the environment began with."""
    runner = os.path.join(place, ".tmp", "pip", "__pip-runner__.py")
    return [os.path.join(place, "bin", "python"), "-I", runner, "--no-input", "--disable-pip-version-check"]


def _write_private(path: str, text: str) -> None:
    """Write a new file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
