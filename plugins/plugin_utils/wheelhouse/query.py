"""The required identity of a stack's manifest, and checks of the texts in it, which become paths, URLs and lines."""

from __future__ import annotations

import json
import time
import typing as t

from ...module_utils._core.errors import SparkforgeError
from ...module_utils._wheel.wheel import Manifest
from ...module_utils._wheelhouse import publication
from .. import schema
from . import signed

_FIELDS = {"platform": "the platform", "stack": "the stack", "lock_id": "the lock", "python": "Python"}


class Query(t.NamedTuple):
    """The required identity of a manifest."""

    stack: str
    lock_id: str
    platform: str
    python: str = ""
    signers: t.Sequence[str] = ()

    def read(self, content: bytes, where: str) -> Manifest:
        """Return the validated manifest in a file, which may be, for example, the HTML of a proxy's error page."""
        try:
            manifest = json.loads(content.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            start = content[:200].lstrip().lower()
            kind = "an HTML page" if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")) else "not JSON"
            raise SparkforgeError(
                f"{where} is {kind}.", "Check which server answers there: this looks like a proxy or a login page."
            ) from error
        return self.check(manifest, where)

    def check(self, manifest: t.Any, where: str) -> Manifest:
        """Return the validated manifest.

        :param where: the manifest's name in messages.
        :raises SparkforgeError: if its content is invalid or was changed, its identity is wrong, or none of ``signers``
            signed it.
        """
        checked = publication.check(manifest, where)
        problems = schema.problems("manifest", checked) or contradictions(checked)
        if problems:
            raise SparkforgeError(
                f"{where} is not a wheelhouse manifest: {'; '.join(problems[:3])}.",
                "Publish it again on the builder with playbooks/build.yml.",
            )
        for key, noun in _FIELDS.items():
            expected = getattr(self, key)
            if expected and checked[key] != expected:  # type: ignore[literal-required]
                raise SparkforgeError(
                    f"{where} is for {noun} {checked[key]}, not {expected}.",  # type: ignore[literal-required]
                    "Set the URL or cache of a wheelhouse that has it, or build it with playbooks/build.yml.",
                )
        signed.check(checked, self.signers, where)
        return checked

    @property
    def file(self) -> str:
        return publication.file_of(self.stack, self.lock_id)


def contradictions(manifest: Manifest) -> list[str]:
    """Return the contradictions in a manifest that matches the schema."""
    problems = []
    try:
        time.strptime(manifest["written"], publication.TIME)
    except ValueError:
        problems.append(f"written is {manifest['written']!r}")
    names = [unit["name"] for unit in manifest["units"]]
    if len(set(names)) < len(names):
        problems.append("it lists a unit twice")
    for unit in manifest["units"]:
        for wheel in unit["wheels"]:
            file = wheel["file"]
            if not publication.matches_wheel(file, wheel["name"], wheel["version"]):
                problems.append(f"{file} is not a wheel of {wheel['name']} {wheel['version']}")
            if wheel["path"] != f"{unit['name']}/{unit['fingerprint']}/{file}":
                problems.append(f"the path of {file} is {wheel['path']!r:.80}")
    return problems
