"""Resolve a requirement on the controller and judge it from its wheels; the module handles directories.

The documentation is in plugins/modules/inspect_info.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import tempfile
import typing as t
import urllib.parse

from ...tools.lock import resolve
from ...tools.lock.requirement_lines import RequirementLines
from ...tools.network import network
from ..module_utils._core import disk, program, sanitize
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._fetch import http
from ..module_utils._wheel import requirement
from ..module_utils._wheel.names import normalised, parse_wheel_name
from ..module_utils._wheel.tags import check_wheel_fits
from ..plugin_utils import files
from ..plugin_utils.action import AsksProgram, OnController
from ..plugin_utils.programs import PROOF

#: The contents of a package and a finding about it, in the format of sparkforge_proof.files.
Contents = dict[str, t.Any]
Finding = dict[str, t.Any]
_BUILD = "it must be built from source (C and C++ need gcc, CUDA also nvcc, Rust cargo), which was not read"
_STUB = "its source was not read; that of NVIDIA's packages is often a stub without code, which only looks for a wheel"
#: A source distribution of this many bytes or more is not a stub.
_STUB_SIZE = 64 << 10
#: A message of uv about a package whose wheels are all for other Pythons or machines.
_OTHER_WHEELS = re.compile(r"found wheels for `([\w.-]+)` \(v?(\S+)\) with the following (\S.*?) tags?: (`[^.]+`)")
_PLATFORMS = re.compile(r"Wheels are available for `[\w.-]+` \(\S+\) on the following platforms?: (`[^.]+`)")
#: uv's hint about a package that only its source would provide.
_SOURCE_ALONE = re.compile(r"Wheels are required for `([\w.-]+)` because building from source is disabled")
_REMOTE = ("http:", "https:")
ON_CONTROLLER = ("index_url", "find_links", "uv", "cache", "proxies", "ca_certificate")


class ActionModule(AsksProgram, OnController):
    """Inspects a directory on the host, and everything else on the controller."""

    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {"program": program.ARGUMENT}

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the module's result."""
        try:
            return self._work(arguments, task_vars)
        except PROOF.module("_shared.module_utils._core.errors").SparkforgeError as error:
            # The package raises its own copy of this collection's error class.
            raise SparkforgeError(error.cause, error.remedy, **error.details) from error

    def _work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        target = arguments["target"].strip()
        if target.startswith(("./", "../", "~/")) and os.path.isdir(os.path.join(os.path.expanduser(target), "lib")):
            target = os.path.abspath(os.path.expanduser(target))
        if target.startswith("/") and not target.endswith(".whl") and not os.path.isfile(target):
            options = {key: value for key, value in self._task.args.items() if key not in ON_CONTROLLER}
            return self.run_program({**options, "target": target}, task_vars)
        judge = PROOF.module("files.judge")
        device = judge.Device(*(arguments[key] for key in ("machine", "capability", "cuda", "python")))
        index = resolve.Index(arguments["index_url"], tuple(arguments["find_links"]), tuple(arguments["uv"] or ()))
        try:
            disk.make_directories(arguments["cache"])
        except OSError as error:
            raise disk.io_error(f"{arguments['cache']} cannot be created", error) from error
        with network(arguments["proxies"], arguments["ca_certificate"]):
            lines = RequirementLines(index, resolve.Target(device.python, device.machine)).read(target)
            packages, requested, findings = self._resolve(lines, arguments["cache"])
        judge.find_lacking(packages, device)
        unread = [f"{source}, which is built from source when it is installed" for source in lines.sources]
        result = judge.judge(packages, device, requested, findings, unread)
        return {"changed": False, **result, "table": judge.table(result)}

    def _resolve(self, lines: RequirementLines, cache: str) -> tuple[list[Contents], set[str], list[Finding]]:
        """Return the packages' contents, the names of the requested packages, and the findings from resolving them."""
        host = lines.host
        missing = [wheel for wheel in lines.wheels if not (wheel.startswith(_REMOTE) or os.path.exists(wheel))]
        findings = [_of_name(wheel, host) for wheel in missing]
        own = [self._of_wheel(wheel, cache) for wheel in lines.wheels if wheel not in missing]
        names = {package["name"] for package in own} | {finding["package"] for finding in findings}
        findings += [_finding("-", "perhaps", "source", _of_source(source)) for source in lines.sources]
        level = "note" if lines.wheels or lines.sources or lines.requirements else "perhaps"
        for line in lines.left_out:
            text = f"its environment marker excludes it on {host.platform} ({line})."
            findings.append(_finding(requirement.split(line).name, level, "marker", text))
        newest: dict[str, dict[str, t.Any]] = {}
        if lines.requirements:
            newest, refused = self._newest(lines, host)
            if refused:
                return own, names | {finding["package"] for finding in refused}, [*findings, *refused]
            for name, package in newest.items():
                bound, tags = resolve.pythons(name, package["version"], host, lines.index)
                if bound:
                    text = f"{name} {package['version']} refuses Python {host.python} (Requires-Python {bound})."
                    findings.append(_finding(name, "no", "python", text))
                elif not package.get("wheels"):
                    only = f", only for {', '.join(sorted(tags))}" if tags else ""
                    text = f"{name} {package['version']} has no wheel for {host.platform}{only}: {_to_build(package)}."
                    findings.append(_finding(name, "perhaps", "sdist", text))
        needed = [*lines.requirements, *(line for package in own for line in package["requires"])]
        chosen, unread, cause = self._choose(needed, lines, host)
        failed_packages = {finding["package"] for finding in findings}
        for name in filter(lambda name: name not in failed_packages, unread):
            text = f"it has no wheel for {host.platform}: {_to_build({'name': name})}."
            findings.append(_finding(name, "perhaps", "sdist", text))
        if cause:
            others = sorted((names | set(newest)) - failed_packages)
            findings += [_finding(name, "no", "unresolved", cause) for name in others]
            return own, names | set(newest), findings
        for package in chosen:
            latest = newest.get(package["name"], package)
            if latest.get("wheels") and latest.get("version") != package["version"]:
                text = f"{latest['version']} or one of its dependencies has no wheel for {host.platform}."
                findings.append(_finding(package["name"], "perhaps", "older", text))
        rest = [self._contents(package, host, cache) for package in chosen if normalised(package["name"]) not in names]
        return [*own, *rest], names | set(newest), findings

    def _choose(
        self, needed: list[str], lines: RequirementLines, host: resolve.Target
    ) -> tuple[list[dict[str, t.Any]], list[str], str]:
        """Return the resolved packages, the names of those that must be built, and why nothing can be resolved."""
        unread: list[str] = []
        while True:
            left_out = [f"{name}; python_version < '0'" for name in unread]
            try:
                return resolve.packages(needed, host, lines.index, lines.constraints, left_out), unread, ""
            except SparkforgeError as error:
                names = set(_SOURCE_ALONE.findall(" ".join(error.details.get("stderr", "").split()))).difference(unread)
                if not names:
                    return [], unread, error.cause
                unread += sorted(names)

    def _newest(
        self, lines: RequirementLines, host: resolve.Target
    ) -> tuple[dict[str, dict[str, t.Any]], list[Finding]]:
        """Return the newest version of each requirement that fits, and a finding for each requirement without one."""

        def resolve_alone(requirements: t.Sequence[str], target: resolve.Target) -> dict[str, dict[str, t.Any]]:
            rows = resolve.packages(requirements, target, lines.index, lines.constraints, alone=True)
            return {row["name"]: row for row in rows}

        try:
            return resolve_alone(lines.requirements, host), []
        except SparkforgeError as error:
            refused = error
        other = resolve.Target(host.python, "x86_64" if host.machine == "aarch64" else "aarch64")
        with contextlib.suppress(SparkforgeError):
            text = f"it has wheels for {other.machine} but not for {host.machine}, and no source."
            return {}, [_finding(name, "no", "platform", text) for name in resolve_alone(lines.requirements, other)]
        findings = []
        for line in lines.requirements:
            reason = refused.cause
            if len(lines.requirements) > 1:
                try:
                    resolve_alone([line], host)
                    continue
                except SparkforgeError as error:
                    reason = error.cause
            for name, version, kind, tags in _OTHER_WHEELS.findall(reason):
                text = f"{version} has wheels only with the {kind} tags {tags}"
                if python := re.search(r"`cp(\d)(\d+)`$", tags):
                    try:
                        resolve_alone([f"{name}=={version}"], resolve.Target(".".join(python.groups()), host.machine))
                    except SparkforgeError as error:
                        reason = error.cause
                text += "".join(f", for the platforms {platforms}" for platforms in _PLATFORMS.findall(reason))
                findings.append(_finding(name, "no", "platform", f"{text}, and no source."))
            name = requirement.split(line).name
            # Any version of a name was refused above, and that of a single name on the other machine, too.
            note, versions = "", [] if line == name else resolve.versions(name, host, lines.index)
            if not versions and lines.requirements != [name]:
                note, versions = f" for {other.machine}", resolve.versions(name, other, lines.index)
            if versions:
                text = f"no version matches {line}: the index has {', '.join(versions)}{note}."
                findings.append(_finding(name, "no", "version", text))
        if findings:
            return {}, findings
        raise SparkforgeError(
            refused.cause, "Name a package of the index, as for pip: vllm, or vllm==0.32.0.", **refused.details
        ) from refused

    def _of_wheel(self, location: str, cache: str) -> Contents:
        """Return the contents of a wheel on the controller or at a URL."""
        if not location.startswith(_REMOTE):
            return t.cast("Contents", PROOF.module("files.contents").of_wheel(location, cache))
        sha256 = re.search(r"#(?:.*&)?sha256=([0-9a-f]{64})", location)
        try:
            return self._fetch(location.partition("#")[0], sha256[1] if sha256 else None, cache)
        except SparkforgeError as error:
            raise SparkforgeError(error.cause, "Download it and name the file, or correct the URL.") from error

    def _contents(self, package: dict[str, t.Any], host: resolve.Target, cache: str) -> Contents:
        """Return the contents of a package's wheel, from the cache if a wheel with that sha256 was read before."""
        wheel = resolve.best_wheel(package, host)
        sha256 = wheel["hashes"]["sha256"]
        cached = pathlib.Path(cache, f"{sha256}.{PROOF.module('files.contents').FORMAT}.json")
        try:
            return t.cast("Contents", json.loads(cached.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            pass
        url = wheel.get("url") or pathlib.Path(wheel["path"]).absolute().as_uri()
        fetched = self._fetch(url, sha256, cache, wheel.get("size") or 0)
        files.write_text(str(cached), json.dumps(fetched), "Set cache to a directory that you can write to.")
        return fetched

    def _fetch(self, url: str, sha256: str | None, cache: str, size: int = 0) -> Contents:
        name = os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(url).path))
        self._display.display(f"inspect | {sanitize.line(name)} ({size / 1e6:.0f} MB)")
        # Avoid /tmp, which may be in memory, because a wheel and its largest file take a gigabyte each.
        with tempfile.TemporaryDirectory(prefix=".fetched-", dir=cache) as directory:
            path = http.fetch(url, directory, sha256=sha256, setting="inspect_index_url")
            read: Contents = PROOF.module("files.contents").of_wheel(
                str(pathlib.Path(path).rename(pathlib.Path(directory, name))), directory
            )
        return read


def _of_name(location: str, host: resolve.Target) -> Finding:
    """Return a finding about a wheel that is not on this machine, from its name.

    :raises SparkforgeError: if it is not the name of a wheel.
    """
    wheel = parse_wheel_name(location)
    major, minor = map(int, host.python.split("."))
    try:
        check_wheel_fits(location, (major, minor), host.machine, f"2.{resolve.GLIBC_MINOR}")
    except SparkforgeError as error:
        return _finding(wheel.distribution, "no", "platform", f"{error.cause} {error.remedy}")
    built = re.findall(r"(cu|torch)(\d+)(?=([.]\d+)?)", wheel.version.partition("+")[2])
    libraries = [f"CUDA {number[:2]}" if kind == "cu" else f"torch {number}{rest}" for kind, number, rest in built]
    needs = f" and needs {' and '.join(libraries)}" if libraries else ""
    text = f"its name fits {host.platform} with glibc 2.{resolve.GLIBC_MINOR}{needs}; there is no file {wheel.file}, so"
    return _finding(wheel.distribution, "perhaps", "name", f"{text} its contents were not looked at.")


def _to_build(package: dict[str, t.Any]) -> str:
    """Return what is known of the source of a package without a wheel; uv may not tell its size."""
    is_small = (package.get("sdist") or {}).get("size", 0) < _STUB_SIZE
    return _STUB if is_small and re.match(r"(?:nvidia|tensorrt)\b", package["name"]) else _BUILD


def _of_source(source: str) -> str:
    named = re.search(r"([A-Za-z][\w.-]*?)-(\d[\w.+!]*)\.(?:tar\.\w+|tgz|zip)$", source)
    other = f" To look for its wheel, inspect {named[1]}=={named[2]}." if named else ""
    return f"{source} is built from source, so its code was not read.{other}"


def _finding(package: str, level: str, kind: str, text: str) -> Finding:
    return {"package": package, "level": level, "kind": kind, "what": text}
