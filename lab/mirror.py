# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build a mirror of NVIDIA's download tree: `python -m lab.mirror --level full|native`.

``full`` contains NVIDIA's own aarch64 libraries, taken from wheels in the package index; ``native`` contains tiny
libraries with the same names for this machine's architecture. ``mirror_inputs.yml`` maps the inputs to artefacts.

The tree consists of stages, each of which is a directory. A stage is built in a temporary directory, renamed into
place, and rebuilt only if its inputs or this code have changed; the tree replaces the previous one when it is complete.
Checkouts with other inputs or code have their own trees next to it, because their servers read from them.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import html
import json
import os
import platform as machine_platform
import re
import shutil
import subprocess
import sys
import time
import typing as t
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from lab import packages, stand_ins
from lab.host import LabError, cache_directory, digest_of, fail
from lab.packages import Content, Entry, FileContent, Package, SigningKey, Source, WheelMember, Written

INPUTS = Path(__file__).with_name("mirror_inputs.yml")
README = Path(__file__).with_name("README.md")
#: The markers around the README's table of real artefacts and stand-ins.
TABLE_BEGIN, TABLE_END = "<!-- table: begin -->\n", "<!-- table: end -->"
#: A change in these files invalidates everything they build.
CODE = [Path(__file__), *(Path(module.__file__ or "") for module in (packages, stand_ins))]
SUMMARY = "mirror.json"
#: NVIDIA's name for its key file; in the lab, the file contains the lab's key.
KEY_FILE = "3bf863cc.pub"

Inputs = dict[str, t.Any]


@dataclass(frozen=True)
class Platform:
    """The names of one architecture in the vendor's tree."""

    redist: str
    repository: str
    target: str
    multiarch: str
    architecture: str

    def fill(self, text: str) -> str:
        """Replace {target}, {multiarch}, {repository} and {architecture} in ``text``."""
        return text.format(**vars(self))


PLATFORMS = {
    "linux-sbsa": Platform("linux-sbsa", "sbsa", "sbsa-linux", "aarch64-linux-gnu", "arm64"),
    "linux-x86_64": Platform("linux-x86_64", "x86_64", "x86_64-linux", "x86_64-linux-gnu", "amd64"),
}


#: The seconds for which an unused tree is kept even if no server has it open, because a server may be about to start.
KEPT = 3600


def tree(level: str) -> Path:
    """Return the path of this checkout's mirror at a level, for its current inputs and code."""
    return cache_directory() / "mirror" / f"{level}-{digest_of([_sha256(path) for path in (INPUTS, *CODE)])}"


def say(text: str) -> None:
    print(f"mirror: {text}", flush=True)


def megabytes(size: float) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e8 else f"{size / 1e6:.0f} MB"


def load_inputs(path: Path = INPUTS) -> Inputs:
    """Read the inputs file.

    :raises LabError: if it is not YAML, or a package names an unknown library, place or source.
    """
    try:
        inputs = t.cast(Inputs, yaml.safe_load(path.read_text()))
    except yaml.YAMLError as error:
        raise LabError(f"{path} is not YAML: {error}. Correct the file.") from error
    # A nested list is an alias for another repository's packages.
    flat: list[Inputs] = []
    for item in inputs["site_repository"]:
        flat += item if isinstance(item, list) else [item]
    inputs["site_repository"] = flat
    for spec in _all_specs(inputs):
        where = spec.get("name") or spec.get("component")
        unknown = {*spec.get("libraries", ()), *spec.get("links", ())} - set(inputs["libraries"])
        unknown |= {spec["headers"]} - set(inputs["sources"]) if "headers" in spec else set()
        unknown |= {spec["place"]} - set(inputs["places"]) if "place" in spec else set()
        if unknown:
            raise LabError(f"{path}: {where} names {sorted(unknown)}, which the file does not define. Add it.")
    return inputs


def _all_specs(inputs: Inputs) -> Iterator[Inputs]:
    yield from inputs["cuda_repository"]
    for repository in inputs["cusparselt_local_repos"]:
        yield from repository["packages"]
    yield from inputs["site_repository"]
    yield from inputs["archives"]


class Wheels:
    """The directory of downloaded wheels, each verified against its sha256 and kept for the next build."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._sources: dict[str, Path] = {}

    def path(self, source: str) -> Path:
        return self._sources[source]

    def fetch(self, pins: Mapping[str, Inputs]) -> None:
        """Provide all wheels in ``wanted`` (name -> version, file, sha256, size), downloading the missing ones.

        If a pin has ``name``, that is the project's name, and the key only distinguishes the pin from others.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        start, fetched = time.monotonic(), 0
        with locked(self._directory / ".lock"):
            for number, (name, pin) in enumerate(pins.items(), 1):
                path = self._directory / pin["file"]
                self._sources[name] = path
                if path.exists() and _sha256(path) == pin["sha256"]:
                    continue
                say(f"wheel {number} of {len(pins)}: {pin['file']}, {megabytes(pin['size'])}")
                self._download(pin.get("name", name), pin, path)
                fetched += pin["size"]
        seconds = time.monotonic() - start
        got = f"{megabytes(fetched)} at {megabytes(fetched / seconds)}/s" if fetched else "all in the cache"
        say(f"{len(pins)} wheels: {got}, {seconds:.1f} s")

    def _download(self, name: str, pin: Inputs, path: Path) -> None:
        """Let pip download a wheel, as the user's configuration says, and check it against its pin."""
        partial = self._directory / ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        requirement = partial / "requirement.txt"
        requirement.write_text(f"{name}=={pin['version']} --hash=sha256:{pin['sha256']}\n")
        tags = pin["file"].removesuffix(".whl").split("-")
        interpreter = tags[2][2:] if tags[2].startswith("cp") else "313"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--no-cache-dir", "--require-hashes", "--progress-bar", "off", "--dest", str(partial)]
        command += ["--requirement", str(requirement)]
        if tags[4] != "any":
            command += [word for tag in tags[4].split(".") for word in ("--platform", tag)]
            command += ["--python-version", f"{interpreter[0]}.{interpreter[1:]}"]
        # pip downloads into TMPDIR, where its progress can be measured whatever its version prints. PIP_RESUME_RETRIES
        # resumes after a broken connection if pip is new enough to support it.
        environment = {"PIP_RESUME_RETRIES": "5", **os.environ, "TMPDIR": str(partial)}
        log = partial / "pip.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, env=environment)
        started = time.monotonic()
        while True:
            try:
                code = process.wait(timeout=2)
                break
            except subprocess.TimeoutExpired:
                downloaded, seconds = _size_below(partial), time.monotonic() - started
                percent = min(100, 100 * downloaded // pin["size"])
                say(f"  {percent:3d} % of {megabytes(pin['size'])}, {megabytes(downloaded / seconds)}/s")
        if code:
            tail = "\n".join(log.read_text(errors="replace").strip().splitlines()[-8:])
            raise LabError(
                f"pip could not download {name}=={pin['version']} ({pin['file']}):\n{tail}\n"
                "Check pip's configuration (`python -m pip config list`) and the network, then run it again: "
                "the wheels that are complete are kept."
            )
        wheel = partial / pin["file"]
        if not wheel.exists():
            raise LabError(
                f"pip downloaded {sorted(p.name for p in partial.glob('*.whl'))} instead of {pin['file']}. "
                "Correct `file` in lab/mirror_inputs.yml."
            )
        wheel.replace(path)
        shutil.rmtree(partial)


def _size_below(directory: Path) -> int:
    """Return the total size of the files in a directory in which another process is working."""
    size = 0
    # os.walk skips a directory that disappears before it is read; Path.rglob does not.
    for folder, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.stat(f"{folder}/{name}").st_size
    return size


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold ``path`` as a lock, so that two benches that start together build only one mirror."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build ({path})")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Open a directory, to lock it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Payloads:
    """The files in packages and archives: the vendor's files, or tiny stand-ins for them."""

    def __init__(self, inputs: Inputs, platform: Platform, wheels: Wheels | None) -> None:
        """:param wheels: None to make all payloads tiny."""
        self._inputs = inputs
        self._platform = platform
        self._wheels = wheels

    def libraries(self, spec: Inputs, directory: str) -> list[Entry]:
        """Return ``libx.so.<file_version>`` and the link named after the SONAME, for each library in ``spec``."""
        entries = []
        for soname in spec.get("libraries", ()):
            real = f"{_stem(soname)}.so.{spec['file_version']}"
            entries.append(Entry(f"{directory}/{real}", self._library(spec, soname), mode=0o755))
            if real != soname:
                entries.append(Entry(f"{directory}/{soname}", link=real))
        return entries

    @staticmethod
    def links(sonames: Iterable[str], directory: str) -> list[Entry]:
        """Return the links that a linker follows: ``libx.so``."""
        return [Entry(f"{directory}/{_stem(soname)}.so", link=soname) for soname in sonames]

    def headers(self, spec: Inputs, directory: str) -> list[Entry]:
        source = spec.get("headers")
        if source is None:
            return []
        wheels = self._vendors(spec)
        if wheels is None:
            return [
                Entry(f"{directory}/{name}", Content(f"#pragma once\n/* Stand-in of the lab for {name}. */\n"))
                for name in self._inputs["header_names"][source]
            ]
        prefix = self._inputs["sources"][source]["headers"] + "/"
        with zipfile.ZipFile(wheels.path(source)) as wheel:
            names = [name for name in wheel.namelist() if name.startswith(prefix) and not name.endswith((".py", "/"))]
        return [
            Entry(f"{directory}/{name.removeprefix(prefix)}", WheelMember(wheels.path(source), name)) for name in names
        ]

    def members(self, spec: Inputs, directory: str) -> list[Entry]:
        """Return further files from a wheel's library directory, namely static libraries."""
        wheels = self._vendors(spec)
        return [
            Entry(
                f"{directory}/{name}",
                WheelMember(wheels.path(source), f"{self._inputs['sources'][source]['libraries']}/{name}")
                if wheels
                else Content("!<arch>\n"),
            )
            for source, names in spec.get("members", {}).items()
            for name in names
        ]

    def license(self, spec: Inputs, path: str) -> list[Entry]:
        wheels, source = self._vendors(spec), self._source_of(spec)
        if wheels is None or source is None:
            return [Entry(path, Content("Stand-in of the sparkforge lab: nothing of the vendor's is in it.\n"))]
        return [Entry(path, WheelMember(wheels.path(source), self._inputs["sources"][source]["license"]))]

    def _library(self, spec: Inputs, soname: str) -> Source:
        library = self._inputs["libraries"][soname]
        wheels = self._vendors(spec)
        if wheels is None or "source" not in library:
            needs = library.get("needs", ())
            return Content(stand_ins.shared_object(self._platform.redist, soname, needs))
        folder = self._inputs["sources"][library["source"]]["libraries"]
        return WheelMember(wheels.path(library["source"]), f"{folder}/{soname}")

    def _vendors(self, spec: Inputs) -> Wheels | None:
        return None if spec.get("stand_in") else self._wheels

    def _source_of(self, spec: Inputs) -> str | None:
        if "headers" in spec:
            return str(spec["headers"])
        return next((self._inputs["libraries"][name].get("source") for name in spec.get("libraries", ())), None)


def _stem(soname: str) -> str:
    return soname.split(".so.")[0]


def make_package(spec: Inputs, payloads: Payloads, inputs: Inputs, platform: Platform) -> Package:
    """Convert an entry in a repository's list to a package."""
    directories = {key: platform.fill(value) for key, value in inputs["places"][spec.get("place", "system")].items()}
    entries = payloads.libraries(spec, directories["library"])
    entries += payloads.links(spec.get("links", ()), directories["library"])
    entries += payloads.headers(spec, directories["include"])
    entries += payloads.members(spec, directories["library"])
    entries += [Entry(path, Content(platform.fill(text))) for path, text in sorted(spec.get("files", {}).items())]
    entries += [Entry(path, link=platform.fill(link)) for path, link in spec.get("symlinks", {}).items()]
    if entries:
        entries += payloads.license(spec, f"usr/share/doc/{spec['name']}/copyright")
    note = "Files of the vendor's names and paths, in a package of the sparkforge lab."
    if spec.get("stand_in"):
        note = "Stand-in of the sparkforge lab: nothing of the vendor's is in it."
    return Package(
        name=spec["name"],
        version=spec["version"],
        architecture=spec.get("architecture", platform.architecture),
        summary=f"{spec['name']} ({'stand-in, ' if spec.get('stand_in') else ''}sparkforge lab)",
        description=note,
        relations={"Depends": spec.get("depends", [])},
        entries=entries,
        scripts=_alternatives(spec),
    )


def _alternatives(spec: Inputs) -> dict[str, str]:
    """Return the scripts that point /usr/local/<name> to a toolkit, as NVIDIA's packages do."""
    links: Mapping[str, str] = spec.get("alternatives", {})
    if not links:
        return {}
    install = "".join(
        f"update-alternatives --install /usr/local/{name} {name} {target} {spec['priority']}\n"
        for name, target in links.items()
    )
    remove = "".join(f"update-alternatives --remove {name} {target}\n" for name, target in links.items())
    return {
        "postinst": f'#!/bin/sh\nset -e\nif [ "$1" = configure ]; then\n{install}fi\n',
        "prerm": f'#!/bin/sh\nset -e\nif [ "$1" = remove ]; then\n{remove}fi\n',
    }


class Stage(t.NamedTuple):
    """A directory in the tree: ``build`` fills a directory that becomes ``directory``.

    ``inputs`` and the code identify the stage; the dict that ``build`` returns is added to the summary.
    """

    name: str
    directory: str
    inputs: t.Any
    build: Callable[[Path], dict[str, t.Any]]


class Mirror:
    """A mirror at ``output`` for one level and platform."""

    def __init__(self, inputs: Inputs, level: str, platform: Platform, output: Path, cache: Path) -> None:
        self._inputs = inputs
        self._level = level
        self._platform = platform
        self._output = output
        self._new = output.with_name(output.name + ".new")
        self._cache = cache
        self._wheels = Wheels(cache)
        self._payloads = Payloads(inputs, platform, self._wheels if level == "full" else None)

    def build(self) -> dict[str, t.Any]:
        """Build the missing parts and return the summary, which is also in the tree as mirror.json."""
        with locked(self._output.with_name(f"{self._level}.lock")):
            self._recover()
            stages = self._stages()
            signing_keys = self._signing_keys()
            keys = {stage.name: self._stage_key(stage, signing_keys) for stage in stages}
            identity = digest_of(self._level, self._platform.redist, keys)
            summary = _read_json(self._output / SUMMARY)
            if summary.get("identity") == identity and self._intact(summary):
                say(f"{self._output} is up to date ({identity})")
                os.utime(self._output)
                return summary
            start = time.monotonic()
            missing = [stage for stage in stages if not self._reuse(stage, keys[stage.name])]
            if missing and self._level == "full":
                self._wheels.fetch({**self._inputs["sources"], **self._inputs["environment"]})
            for number, stage in enumerate(missing, 1):
                self._run(stage, keys[stage.name], f"step {number} of {len(missing)}")
            summary = self._summary(identity, stages)
            self._publish(summary)
            self._prune()
            size = sum(summary["files"].values())
            seconds = time.monotonic() - start
            say(f"{self._output}: {len(summary['files'])} files, {megabytes(size)}, {seconds:.1f} s")
            return summary

    def _stages(self) -> list[Stage]:
        """Return all stages, in build order."""
        repository = self._platform.repository
        stages = [
            Stage(
                f"CUDA repository ({repository})",
                f"compute/cuda/repos/ubuntu2404/{repository}",
                self._inputs["cuda_repository"],
                self._cuda_repository,
            )
        ]
        for local in self._inputs["cusparselt_local_repos"]:
            stages.append(
                Stage(
                    f"cuSPARSELt local repository {local['version']}",
                    f"compute/cusparselt/{local['version']}/local_installers",
                    local,
                    lambda work, local=local: self._local_repository(work, local),  # type: ignore[misc]
                )
            )
        products: dict[str, list[Inputs]] = {}
        for archive in self._inputs["archives"]:
            products.setdefault(archive["product"], []).append(archive)
        for product, archives in products.items():
            stages.append(
                Stage(
                    f"redist archives of {product}",
                    f"compute/{product}/redist",
                    archives,
                    lambda work, archives=archives: self._redist(work, archives),  # type: ignore[misc]
                )
            )
        stages.append(
            Stage(
                "a further apt source",
                f"site/apt/{repository}",
                self._inputs["site_repository"],
                self._site_repository,
            )
        )
        stages.append(
            Stage(
                "wheels",
                "wheels",
                [self._inputs["environment"], self._build_wheels(), self._inputs["native_wheels"]],
                self._environment,
            )
        )
        return stages

    def _key(self, name: str) -> SigningKey:
        return SigningKey(self._cache / "keys" / f"{name}.asc", f"sparkforge lab mirror, {name}")

    def _signing_keys(self) -> dict[str, str]:
        """Create missing keys; return their digests, because a tree depends on its keys."""
        names = ["cuda", "site"]
        names += [f"cusparselt-{local['version']}" for local in self._inputs["cusparselt_local_repos"]]
        with locked(self._cache / ".lock"):
            for name in names:
                self._key(name)
        return {path.name: _sha256(path) for path in sorted((self._cache / "keys").glob("*.asc"))}

    def _stage_key(self, stage: Stage, signing_keys: Mapping[str, str]) -> str:
        common = [self._inputs[name] for name in ("sources", "libraries", "header_names", "places")]
        code = [_sha256(path) for path in CODE]
        return digest_of(stage.inputs, common, code, self._level, self._platform.redist, signing_keys)

    def _packages(self, directory: Path, specs: Iterable[Inputs]) -> list[tuple[Package, Written]]:
        written = []
        for spec in specs:
            package = make_package(spec, self._payloads, self._inputs, self._platform)
            start = time.monotonic()
            deb = package.write(directory)
            _say_if_large(deb, time.monotonic() - start)
            written.append((package, deb))
        return written

    def _release_fields(self, origin: str, label: str) -> dict[str, str]:
        return {"Origin": origin, "Label": label, "Architectures": f"{self._platform.architecture} all"}

    def _cuda_repository(self, work: Path) -> dict[str, t.Any]:
        key = self._key("cuda")
        built = self._packages(work, self._inputs["cuda_repository"])
        packages.write_repository(work, built, key, self._release_fields("NVIDIA", "NVIDIA CUDA"))
        (work / KEY_FILE).write_bytes(key.armored)
        path = f"/compute/cuda/repos/ubuntu2404/{self._platform.repository}/"
        return {
            "key_fingerprint": key.fingerprint,
            "cuda_repository": path,
            "cuda_repository_key": path + KEY_FILE,
            "debs": _describe(built, path, self._inputs["cuda_repository"], tiny=self._level == "native"),
        }

    def _site_repository(self, work: Path) -> dict[str, t.Any]:
        key = self._key("site")
        built = self._packages(work, self._inputs["site_repository"])
        packages.write_repository(work, built, key, self._release_fields("Site", "A site's own packages"))
        (work / "site.pub").write_bytes(key.armored)
        path = f"/site/apt/{self._platform.repository}/"
        return {
            "site_repository": {"path": path, "key": f"{path}site.pub", "key_fingerprint": key.fingerprint},
            "debs": _describe(built, path, self._inputs["site_repository"], tiny=self._level == "native"),
        }

    def _local_repository(self, work: Path, local: Inputs) -> dict[str, t.Any]:
        """Write a .deb that installs a repository with its packages, index, key and apt source."""
        version = local["version"]
        key = self._key(f"cusparselt-{version}")
        inner = work / ".inner"
        inner.mkdir()
        built = self._packages(inner, local["packages"])
        packages.write_repository(
            inner, built, key, self._release_fields("NVIDIA", f"cuSPARSELt {version} local repository")
        )
        short = key.fingerprint[-8:]
        keyring = f"cusparselt-local-{short}-keyring.gpg"
        (inner / f"{short}.pub").write_bytes(key.armored)
        (inner / keyring).write_bytes(key.keyring)
        name = f"cusparselt-local-repo-ubuntu2404-{version}"
        source = f"deb [signed-by=/usr/share/keyrings/{keyring}] file:///var/{name} /\n"
        entries = [Entry(f"var/{name}/{path.name}", FileContent(path)) for path in sorted(inner.iterdir())]
        entries.append(Entry(f"etc/apt/sources.list.d/cusparselt-local-ubuntu2404-{version}.list", Content(source)))
        outer = Package(
            name=name,
            version=local["revision"],
            architecture=self._platform.architecture,
            summary=f"cuSPARSELt {version} local repository (sparkforge lab)",
            relations={},
            entries=entries,
            scripts={"postinst": _missing_key_notice(name, keyring)},
        )
        deb = outer.write(work)
        shutil.rmtree(inner)
        path = f"/compute/cusparselt/{version}/local_installers/{deb.path.name}"
        return {
            "cusparselt_local_repos": {
                version: {
                    "path": path,
                    "package": name,
                    "package_version": local["revision"],
                    "sha256": deb.sha256,
                    "size": deb.size,
                    "key_fingerprint": key.fingerprint,
                    "keyring": keyring,
                    "packages": {package.name: package.version for package, _ in built},
                    "stand_in": self._level == "native" or bool(local.get("stand_in")),
                }
            }
        }

    def _redist(self, work: Path, archives: list[Inputs]) -> dict[str, t.Any]:
        manifests: dict[str, dict[str, t.Any]] = {}
        described = []
        platform = self._platform.redist
        for archive in archives:
            component, variant = archive["component"], archive["variant"]
            manifest = manifests.setdefault(
                archive["release"],
                {
                    "release_date": archive.get("date", "2025-10-01"),
                    "release_label": archive["release"],
                    "release_product": archive["product"],
                },
            )
            suffix = f"_{variant}" if variant else ""
            name = f"{component}-{platform}-{archive['version']}{suffix}-archive"
            relative = f"{component}/{platform}/{name}.tar.xz"
            start = time.monotonic()
            written = packages.write_archive(work / relative, self._archive_entries(archive))
            _say_if_large(written, time.monotonic() - start)
            entry = {
                "relative_path": relative,
                "sha256": written.sha256,
                "md5": written.md5,
                "size": str(written.size),
            }
            section = manifest.setdefault(
                component,
                {
                    "name": archive["title"],
                    "license": archive["title"].removeprefix("NVIDIA ").split()[0],
                    "license_path": f"{component}/LICENSE.txt",
                    "version": archive["version"],
                },
            )
            if variant:
                section.setdefault("cuda_variant", []).append(variant.removeprefix("cuda"))
                section["cuda_variant"].sort()
                section.setdefault(platform, {})[variant] = entry
            else:
                section[platform] = entry
            described.append(
                {
                    **{key: archive[key] for key in ("product", "release", "component", "version", "variant")},
                    "platform": platform,
                    "path": f"/compute/{archive['product']}/redist/{relative}",
                    "sha256": written.sha256,
                    "size": written.size,
                    "sonames": archive["libraries"],
                    "stand_in": self._level == "native" or bool(archive.get("stand_in")),
                }
            )
        for release, manifest in manifests.items():
            text = json.dumps(manifest, indent=4) + "\n"
            (work / f"redistrib_{release}.json").write_text(text)
        return {"archives": described}

    def _archive_entries(self, archive: Inputs) -> list[Entry]:
        entries = self._payloads.libraries(archive, "lib")
        entries += self._payloads.links(archive["libraries"], "lib")
        entries += self._payloads.headers(archive, "include")
        entries += self._payloads.license(archive, "LICENSE")
        if "cmake" in archive:
            package = archive["cmake"]["package"]
            for path, text in _cmake_package(package, archive["version"], archive["cmake"]["targets"]).items():
                entries.append(Entry(f"lib/cmake/{package}/{path}", Content(text)))
        return entries

    def _build_wheels(self) -> dict[str, Inputs]:
        """Return the pins, by file, of the wheels for source builds on this platform."""
        pins: list[Inputs] = self._inputs["build_wheels"]
        return {pin["file"]: pin for pin in pins if pin.get("platform", self._platform.redist) == self._platform.redist}

    def _environment(self, work: Path) -> dict[str, t.Any]:
        pins: Mapping[str, Inputs] = self._inputs["environment"]
        if self._level == "full":
            paths = [_place(self._wheels.path(name), work / pin["file"]) for name, pin in pins.items()]
        else:
            tiny = [{"name": name, **pin} for name, pin in pins.items()] + self._inputs["native_wheels"]
            paths = [
                stand_ins.write_wheel(
                    work, pin["name"], pin["version"], _tiny_module(pin, self._platform.redist), pin.get("requires", ())
                )
                for pin in tiny
            ]
        if building := self._build_wheels():
            self._wheels.fetch(building)
            paths += [_place(self._wheels.path(file), work / file) for file in building]
        wheels = {path.name: _sha256(path) for path in sorted(paths)}
        named = {_wheel_key(file): digest for file, digest in wheels.items()}
        requirements = [
            f"{name}=={pin['version']} --hash=sha256:{named[(_normal(name), pin['version'])]}"
            for name, pin in sorted(pins.items())
        ]
        (work / "requirements.txt").write_text("\n".join(requirements) + "\n")
        links = "".join(
            f'<a href="{html.escape(name)}#sha256={digest}">{html.escape(name)}</a><br>\n'
            for name, digest in wheels.items()
        )
        page = f"<!DOCTYPE html>\n<html><head><title>Wheels</title></head><body>\n{links}</body></html>\n"
        (work / "index.html").write_text(page)
        return {"wheels_path": "/wheels/", "wheels": wheels, "requirements": requirements}

    def _recover(self) -> None:
        """Complete or undo a replacement of the tree that was interrupted between its two renames."""
        old = self._output.with_name(self._output.name + ".old")
        if old.exists() and self._output.exists():
            shutil.rmtree(old)
        elif old.exists():
            old.rename(self._output)

    def _record(self, tree: Path, stage: Stage) -> Path:
        return tree / ".stages" / f"{stage.directory.replace('/', '-')}.json"

    def _reuse(self, stage: Stage, key: str) -> bool:
        """Tell whether the stage is in the new tree, after copying it from another tree that has it."""
        if _read_json(self._record(self._new, stage)).get("key") == key:
            return True
        trees = [self._output, *self._others()]
        source = next((tree for tree in trees if _read_json(self._record(tree, stage)).get("key") == key), None)
        if source is None:
            return False
        target = self._new / stage.directory
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(
            source / stage.directory,
            target,
            copy_function=lambda old, new: _place(Path(old), Path(new)),
        )
        self._record(self._new, stage).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self._record(source, stage), self._record(self._new, stage))
        return True

    def _others(self) -> list[Path]:
        """Return the trees of this level from other checkouts, or earlier ones from this checkout."""
        trees = [path.parent for path in self._output.parent.glob(f"{self._level}-*/{SUMMARY}")]
        return [path for path in trees if path != self._output and path.suffix not in (".new", ".old")]

    def _prune(self) -> None:
        """Remove trees that have not been used for a while and that no server has open: servers lock them."""
        for other in self._others():
            if time.time() - other.stat().st_mtime < KEPT:
                continue
            with contextlib.suppress(BlockingIOError), opened(other) as folder:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(other)

    def _run(self, stage: Stage, key: str, position: str) -> None:
        say(f"{position}: {stage.name}")
        work = self._new / ".work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        start = time.monotonic()
        result = stage.build(work)
        size = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
        target = self._new / stage.directory
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        work.rename(target)
        record = self._record(self._new, stage)
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"key": key, "result": result}))
        seconds = time.monotonic() - start
        say(f"{position}: {megabytes(size)} in {seconds:.1f} s ({megabytes(size / seconds)}/s)")

    def _summary(self, identity: str, stages: Iterable[Stage]) -> dict[str, t.Any]:
        summary: dict[str, t.Any] = {
            "identity": identity,
            "level": self._level,
            "platform": self._platform.redist,
            "architecture": self._platform.architecture,
        }
        for stage in stages:
            for name, value in _read_json(self._record(self._new, stage))["result"].items():
                if isinstance(value, dict):
                    summary.setdefault(name, {}).update(value)
                elif isinstance(value, list):
                    summary.setdefault(name, []).extend(value)
                else:
                    summary[name] = value
        newest = self._inputs["cusparselt_local_repos"][0]["version"]
        summary["cusparselt_local_repo_sha256"] = summary["cusparselt_local_repos"][newest]["sha256"]
        summary["stand_ins"] = stand_in_rows(self._inputs)
        summary["files"] = {
            f"/{path.relative_to(self._new)}": path.stat().st_size
            for path in sorted(self._new.rglob("*"))
            if path.is_file() and ".stages" not in path.parts
        }
        return summary

    def _publish(self, summary: dict[str, t.Any]) -> None:
        (self._new / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n")
        old = self._output.with_name(self._output.name + ".old")
        if self._output.exists():
            self._output.rename(old)
        self._new.rename(self._output)
        shutil.rmtree(old, ignore_errors=True)

    def _intact(self, summary: dict[str, t.Any]) -> bool:
        """Tell whether all files in the summary exist with their sizes, because a cache may have been cleaned."""
        for name, size in summary["files"].items():
            path = self._output / name.lstrip("/")
            if not path.is_file() or path.stat().st_size != size:
                say(f"{path} was changed after it was built")
                shutil.rmtree(self._output)
                return False
        return True


def _read_json(path: Path) -> dict[str, t.Any]:
    try:
        return t.cast("dict[str, t.Any]", json.loads(path.read_text()))
    except (OSError, ValueError):
        return {}


def _say_if_large(written: Written, seconds: float) -> None:
    if written.size > 50_000_000:
        rate = megabytes(written.size / seconds)
        say(f"  {written.path.name}: {megabytes(written.size)} in {seconds:.1f} s ({rate}/s)")


def _describe(
    built: Iterable[tuple[Package, Written]], path: str, specs: Iterable[Inputs], *, tiny: bool
) -> dict[str, t.Any]:
    return {
        path + written.path.name: {
            "package": package.name,
            "version": package.version,
            "architecture": package.architecture,
            "sha256": written.sha256,
            "size": written.size,
            "stand_in": bool(spec.get("stand_in")) or (tiny and not spec.get("layout")),
        }
        for (package, written), spec in zip(built, specs, strict=True)
    }


def _missing_key_notice(name: str, keyring: str) -> str:
    """Return a postinst that tells the user the remaining steps, as NVIDIA's does."""
    return (
        f"#!/bin/sh\nset -e\nif [ ! -f /usr/share/keyrings/{keyring} ]; then\n"
        f'echo "The public {name} GPG key does not appear to be installed."\n'
        'echo "To install the key, run this command:"\n'
        f'echo "sudo cp /var/{name}/{keyring} /usr/share/keyrings/"\nfi\n'
    )


def _place(source: Path, target: Path) -> Path:
    """Give a file a second path, using a hard link if the two directories' file systems allow it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _wheel_key(file: str) -> tuple[str, str]:
    name, version = file.split("-")[:2]
    return _normal(name), version


def _tiny_module(pin: Inputs, platform: str) -> dict[str, str | bytes]:
    """Return the files of a stand-in wheel: a module with its version, structured like torch's."""
    module, version = pin["module"], pin["version"]
    if module != "torch":
        return {f"{module}/__init__.py": f'__version__ = "{version}"\n'}
    return {
        "torch/__init__.py": "from . import cuda, version\n\n__version__ = version.__version__\n",
        "torch/version.py": f'__version__ = "{version}+cpu"\ncuda = None\ngit_version = "{0:040d}"\n',
        "torch/cuda.py": "def is_available():\n    return False\n\n\ndef device_count():\n    return 0\n",
        "torch/lib/libtorch_cpu.so": stand_ins.shared_object(platform, "libtorch_cpu.so"),
    }


def _cmake_package(package: str, version: str, targets: Mapping[str, str]) -> dict[str, str]:
    """Return an archive's CMake package files, with imported targets at paths relative to them."""
    config = 'get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)\n'
    for target, soname in targets.items():
        config += (
            f"if(NOT TARGET {target})\n"
            f"  add_library({target} SHARED IMPORTED)\n"
            f"  set_target_properties({target} PROPERTIES\n"
            f'    IMPORTED_LOCATION "${{_prefix}}/lib/{_stem(soname)}.so"\n'
            f'    IMPORTED_SONAME "{soname}"\n'
            '    INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include")\n'
            "endif()\n"
        )
    config += f"set({package}_FOUND TRUE)\nunset(_prefix)\n"
    check = (
        f'set(PACKAGE_VERSION "{version}")\n'
        "if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n"
        "  set(PACKAGE_VERSION_COMPATIBLE FALSE)\n"
        "else()\n"
        "  set(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
        "  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n"
        "    set(PACKAGE_VERSION_EXACT TRUE)\n"
        "  endif()\n"
        "endif()\n"
    )
    return {f"{package}-config.cmake": config, f"{package}-config-version.cmake": check}


def stand_in_rows(inputs: Inputs) -> list[dict[str, str]]:
    """Return a row for each artefact of the level ``full`` that says whether it is real or a stand-in."""

    def payload(spec: Inputs) -> str:
        if spec.get("layout"):
            return "links and loader entries, laid out as NVIDIA's"
        if spec.get("stand_in"):
            tiny = [*spec.get("libraries", ()), *spec.get("links", ())]
            return "stand-in: tiny files of the same names" if tiny else "stand-in: no payload"
        names = [*spec.get("libraries", ())] or [f"headers, {', '.join(spec.get('links', ()))} links"]
        return f"real: {', '.join(names)}"

    rows = []
    for spec in inputs["cuda_repository"]:
        rows.append({"where": "CUDA repository", **_named(spec), "payload": payload(spec)})
    for local in inputs["cusparselt_local_repos"]:
        where = f"cuSPARSELt local repository {local['version']}"
        rows += [{"where": where, **_named(spec), "payload": payload(spec)} for spec in local["packages"]]
    for spec in inputs["site_repository"]:
        rows.append({"where": "a further apt source", **_named(spec), "payload": payload(spec)})
    for spec in inputs["archives"]:
        name = f"{spec['component']}{' ' + spec['variant'] if spec['variant'] else ''}"
        rows.append(
            {
                "where": f"redist {spec['product']} {spec['release']}",
                "name": name,
                "version": spec["version"],
                "payload": payload(spec),
            }
        )
    for name, pin in inputs["environment"].items():
        rows.append({"where": "wheels", "name": name, "version": pin["version"], "payload": f"real: {pin['file']}"})
    for pin in inputs["build_wheels"]:
        rows.append({"where": "wheels", **_named(pin), "payload": f"real, also on native: {pin['file']}"})
    return rows


def _named(spec: Inputs) -> dict[str, str]:
    return {"name": spec["name"], "version": spec["version"]}


def stand_ins_table(inputs: Inputs) -> str:
    """Return the table as Markdown: the real artefacts first, then the packages without payload, in groups."""
    rows = stand_in_rows(inputs)
    empty = [row for row in rows if row["payload"] == "stand-in: no payload"]
    lines = [
        "<!-- Written by `python -m lab.mirror --write-table` from mirror_inputs.yml. -->",
        "The mirror has these artefacts on ARM64 (level `full`). On native containers (level `native`) all of them are",
        "stand-ins with the same names unless the row says otherwise: shared objects of 1 kB with the right SONAME and",
        "NEEDED, and tiny wheels.",
        "",
        "| where | name | version | payload |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row['where']} | {row['name']} | {row['version']} | {row['payload']} |" for row in rows if row not in empty
    ]
    for where in dict.fromkeys(row["where"] for row in empty):
        names = ", ".join(f"{row['name']} {row['version']}" for row in empty if row["where"] == where)
        lines.append(f"| {where} | {names} | | stand-in: no payload |")
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.mirror", description="Build the lab's mirror.")
    parser.add_argument("--level", choices=("full", "native"), default="full")
    parser.add_argument("--output", type=Path, help="the tree (default: where bench.py expects it)")
    parser.add_argument("--cache", type=Path, help="downloaded wheels and signing keys")
    parser.add_argument("--platform", choices=sorted(PLATFORMS), help="level native: default this machine's")
    parser.add_argument("--inputs", type=Path, default=INPUTS)
    parser.add_argument("--write-table", action="store_true", help="write README.md's table and exit")
    arguments = parser.parse_args(argv)
    try:
        inputs = load_inputs(arguments.inputs)
        if arguments.write_table:
            text = README.read_text()
            before, rest = text.split(TABLE_BEGIN)
            README.write_text(before + TABLE_BEGIN + stand_ins_table(inputs) + TABLE_END + rest.split(TABLE_END)[1])
            return 0
        platform = arguments.platform or "linux-sbsa"
        if arguments.level == "native" and not arguments.platform:
            platform = "linux-x86_64" if machine_platform.machine() == "x86_64" else "linux-sbsa"
        if arguments.level == "full" and platform != "linux-sbsa":
            raise LabError("The level full exists for linux-sbsa only. Ask for --level native.")
        Mirror(
            inputs,
            arguments.level,
            PLATFORMS[platform],
            (arguments.output or tree(arguments.level)).resolve(),
            (arguments.cache or cache_directory() / "mirror/wheels").resolve(),
        ).build()
    except LabError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
