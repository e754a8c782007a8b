# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Runs pip: what makes an environment at a path from an interpreter, requirements and wheels.

Whatever has the method ``install`` of :class:`Pip` can take its place.
"""

from __future__ import annotations

import contextlib
import os
import re
import typing as t
import urllib.parse
import urllib.request

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.redact import redact
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import failures
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.identity import Identity
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment.model import ENGLISH, Options, Run
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import index
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.requirement import normalised, short


class Pip:
    """Makes environments with the interpreter's own venv and pip."""

    def __init__(self, options: Options, run: Run) -> None:
        self.options = options
        self.run = run
        self.credentials = index.credentials(options.credentials)

    def install(self, place: str, identity: Identity) -> None:
        """Make an environment at ``place``, which is not there yet, of exactly what is asked for.

        :raises SparkforgeError: with ``network`` among its details where the network failed.
        """
        # Without a prompt it would be the name of the directory, which does not stay.
        venv = [identity.python, "-I", "-m", "venv", "--prompt", self.options.paths.name, place]
        rc, out, err = self.run(venv, environ_update=ENGLISH)
        if rc != 0:
            free = os.statvfs(os.path.dirname(place))
            raise failures.venv_failure(identity.python, identity.version, out + err, free.f_bavail * free.f_frsize)
        requirements = os.path.join(place, ".requirements.txt")
        temporary = os.path.join(place, ".tmp")
        os.mkdir(temporary)
        _write_private(requirements, "\n".join([*self._lines(identity), ""]))
        # Next to the environment: /tmp is often a small file system in memory.
        variables = {**ENGLISH, "PIP_USER": "0", "TMPDIR": temporary}
        # pip does not know the variable that the rest of the system takes the CA from.
        if "SSL_CERT_FILE" in os.environ and not {"PIP_CERT", "REQUESTS_CA_BUNDLE"} & set(os.environ):
            variables["PIP_CERT"] = os.environ["SSL_CERT_FILE"]
        python = os.path.join(place, "bin", "python")
        pip = [python, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check"]
        install = [*pip, "--cache-dir", self.options.paths.of(".download"), "install", "--require-hashes"]
        install += ["--only-binary=:all:", "--progress-bar=off", *([] if self.options.compile else ["--no-compile"])]
        install += ["--requirement", requirements]
        with self._netrc(place, identity) as netrc:
            rc, out, err = self.run(install, environ_update={**variables, **netrc}, cwd=place)
        if rc != 0:
            raise self._explained(failures.pip_failure(out + "\n" + err), out + "\n" + err)
        rc, out, err = self.run([*pip, "check"], environ_update=variables, cwd=place)
        if rc != 0:
            first = ((out or err).strip().splitlines() or ["pip check failed"])[0]
            raise SparkforgeError(
                f"The packages do not fit each other: {short(first.rstrip('.'))}.",
                "Lock the environment again with playbooks/lock.yml.",
                pip_output=(out + err).strip(),
            )
        os.unlink(requirements)
        disk.remove(temporary)

    def _lines(self, identity: Identity) -> list[str]:
        """Return the lines of the file of requirements; not of the command line, as a URL may carry a password."""
        url = self.options.index_url
        lines = []
        if url is not None and url.strip().lower() in ("", "none"):
            lines.append("--no-index")
        elif url is not None:
            lines.append(f"--index-url {url}")
        for place in self.options.find_links:
            lines.append(f"--find-links {place}")
            if place.startswith("http://"):
                # Every hash is given, so that whoever answers there need not be trusted; pip would pass it over.
                lines.append(f"--trusted-host {urllib.parse.urlsplit(place).netloc.rpartition('@')[2]}")
        pinned = {requirement.name for requirement in self.options.requirements}
        for wheel in identity.wheels:
            if wheel.name.distribution in pinned:
                lines.append(f"--find-links {os.path.dirname(wheel.path)}")
        lines += [requirement.line for requirement in self.options.requirements]
        return lines + [
            f"file://{urllib.request.pathname2url(wheel.path)} --hash=sha256:{wheel.sha256}"
            for wheel in identity.wheels
            if wheel.name.distribution not in pinned
        ]

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


def _write_private(path: str, text: str) -> None:
    """Write a new file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
