"""A hostile builder, whose root user publishes anything: neither the controller nor another host accepts any of it.

One offer is valid, which shows that each of the others is refused for its specific fault. The malformed manifests in
tests/unit/plugins/plugin_utils/test_wheelhouse.py need no host.
"""

import copy
import hashlib
import io
import itertools
import json
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import publication, signature

from tests.integration.conftest import Bench, Host
from tests.integration.test_hostile_host import ESCAPES
from tests.unit import wheel_tree

#: A stack that is built from source and, in these tests, needs no lock.
STACK: dict[str, Any] = {"stack_name": "lab-built", "stack_method": "build", "stack_lock_required": False}
CONTENT = wheel_tree.wheel("triton", "1.0")
FILE, MARK = wheel_tree.file_name("triton", "1.0"), "1" * 16
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PATH = f"triton/{MARK}/{FILE}"
ROW = {"name": "triton", "version": "1.0", "file": FILE, "size": len(CONTENT), "path": PATH, "sha256": DIGEST}
MANIFEST: dict[str, Any] = {
    "format": 1, "stack": "lab-built", "lock_id": "0" * 12, "platform": wheel_tree.PLATFORM, "python": "3.13",
    "host": "spark99", "written": "2026-11-21T10:00:00Z",
    "units": [{"name": "triton", "fingerprint": MARK, "wheels": [ROW]}],
}  # fmt: skip
#: Scripts that replace the wheel (``$wheel``).
WHEELS = {
    "another wheel": 'printf x >> "$wheel"',
    "a link to a secret": 'ln -sf /etc/shadow "$wheel"',
    "a link to what has no end": 'ln -sf /dev/zero "$wheel"',
    "a directory": 'rm "$wheel"; mkdir "$wheel"',
}


def resealed(change: Callable[[dict[str, Any]], object], signer: signature.Signer | None = None) -> bytes:
    """Return a one-wheel manifest that was changed and sealed again, as root on the builder can do."""
    manifest: dict[str, Any] = copy.deepcopy(MANIFEST)
    change(manifest)
    manifest["seal"] = publication.seal(manifest)
    return json.dumps(signer.sign(manifest) if signer else manifest).encode()  # type: ignore[arg-type]


def wheel_of(manifest: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = manifest["units"][0]["wheels"][0]
    return row


@dataclass
class Offer:
    """An offer of the hostile builder, with the expected message; the lock tells offers apart."""

    name: str
    lock: str
    said: str
    signers: list[str]


def offers(folder: Path) -> tuple[list[Offer], str]:
    """Pack a wheelhouse as ``house.tar``; return the offers in it, and a script that corrupts the unpacked files."""
    known = signature.Signer(str(folder / "known"))
    known.make(False)
    house = f"/opt/sparkforge/wheelhouse/{wheel_tree.PLATFORM}"
    locks = (f"{number:012x}" for number in itertools.count(1))
    offered: list[Offer] = []
    shell: list[str] = []
    files: dict[str, bytes | str] = {}

    def offer(name: str, message: str, content: bytes | str, lock: str, signers: list[str] | None = None) -> None:
        files[f"manifests/lab-built-{lock}.json"] = content
        offered.append(Offer(name, lock, message, signers or []))

    def of(lock: str, mark: str = MARK, signer: signature.Signer | None = None) -> bytes:
        def change(manifest: dict[str, Any]) -> None:
            manifest["lock_id"], manifest["units"][0]["fingerprint"] = lock, mark
            wheel_of(manifest)["path"] = f"triton/{mark}/{FILE}"

        return resealed(change, signer)

    lock = next(locks)
    offer("escapes for its name", "host is ", resealed(lambda made: made.update(lock_id=lock, host=ESCAPES)), lock)
    offer("a link to a secret", "is not JSON", "/etc/shadow", next(locks))
    for (name, script), number in zip(WHEELS.items(), itertools.count(2)):
        lock, mark = next(locks), f"{number:016x}"
        offer(f"{name} for the wheel", f"The wheel {FILE}|The sha256 of {FILE}", of(lock, mark), lock)
        files[f"triton/{mark}/{FILE}"] = CONTENT
        shell.append(f"wheel={house}/triton/{mark}/{FILE}; {script}")
    lock = next(locks)
    offer("what is right", "", of(lock, signer=known), lock, [str(known.public_key)])
    files[f"triton/{MARK}/{FILE}"] = CONTENT
    with tarfile.open(folder / "house.tar", "w") as packed:
        for path, content in files.items():
            info = tarfile.TarInfo(f"{house[1:]}/{path}")
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                packed.addfile(info)
            else:
                info.size = len(content)
                packed.addfile(info, io.BytesIO(content))
    return offered, " && ".join(f"( {line} )" for line in shell)


@dataclass
class Scene:
    """Two hosts of one inventory: the builder, and a host that would install from it."""

    hostile: Host
    other: Host
    place: Path

    def play(self, tasks: list[dict[str, Any]], **variables: object) -> dict[str, Any]:
        """Run tasks on the other host after the role stack; return their ``results``."""
        results = self.place / "results.json"
        results.unlink(missing_ok=True)
        written = {"content": "{{ results | to_json }}", "dest": str(results)}
        last = {"ansible.builtin.copy": written, "delegate_to": "localhost", "become": False}
        play = {"hosts": "all", "become": True, "gather_facts": False, "roles": ["sparkforge.dgx_spark.stack"]}
        path = self.place / "play.yml"
        path.write_text(json.dumps([{**play, "tasks": [*tasks, last]}]))
        result = self.other.run(str(path), "-l", self.other.name, **STACK, **variables)
        assert results.exists(), result.output[-6000:]
        assert "\x1b" not in result.output and "Traceback" not in result.output, result.output[-6000:]
        answers: dict[str, Any] = json.loads(results.read_text())
        return answers

    @property
    def cache(self) -> Path:
        return self.place / "cache"

    def cached(self) -> list[str]:
        """Return the files in the controller's cache, from any builder."""
        return sorted(str(path.relative_to(self.cache)) for path in self.cache.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def scene(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    hostile, other = bench.fresh(), bench.fresh()
    hosts = bench.inventory / "lab.yml"
    before = hosts.read_text()
    lab: dict[str, Any] = {"hosts": {hostile.name: None, other.name: None}}
    groups = {"lab": lab, "builders": {"hosts": {hostile.name: None}}}
    hosts.write_text(yaml.safe_dump({"all": {"children": groups}}))
    hostile.execute("useradd --system --no-create-home sparkforge")
    stacks = bench.inventory / "stacks"
    definition = yaml.safe_load((stacks / "lab-native.yml").read_text())["stack_definition"]
    definition["units"] = {"pytorch": {"requirements": []}}
    definition["sources"] = {"pytorch": {"url": "https://192.0.2.1/pytorch.git", "ref": "v2.10.0"}}
    (stacks / "lab-built.yml").write_text(yaml.safe_dump({"stack_definition": definition}))
    yield Scene(hostile, other, tmp_path_factory.mktemp("builder"))
    hosts.write_text(before)


@pytest.fixture(scope="module")
def untouched(scene: Scene) -> list[str]:
    """The other host's state before any request to the builder."""
    return scene.other.contents()


def test_offers_of_a_hostile_builder_are_refused(scene: Scene, untouched: list[str]) -> None:
    listed, spoil = offers(scene.place)
    scene.hostile.copy(scene.place / "house.tar", "/srv/house.tar")
    scene.hostile.execute(f"tar -xf /srv/house.tar -C / --no-same-owner && {spoil}")
    asked = {
        "sparkforge.dgx_spark.wheelhouse_manifest": {
            "stack": "lab-built", "lock_id": "{{ item.lock }}", "platform": wheel_tree.PLATFORM, "python": "3.13",
            "places": ["builder"], "wheels": True, "signers": "{{ item.signers }}", "cache": str(scene.cache),
        },
        "delegate_to": scene.hostile.name, "loop": "{{ offers }}", "register": "asked", "ignore_errors": True,
    }  # fmt: skip
    record = {"ansible.builtin.set_fact": {"results": {"asked": "{{ asked.results }}"}}}
    rows = [{"lock": offer.lock, "signers": offer.signers} for offer in listed]
    answers = scene.play([asked, record], offers=rows)["asked"]
    texts = {offer.name: " ".join(str(answer.get("msg", "")).split("\n")) for offer, answer in zip(listed, answers)}
    wrong = {
        offer.name: texts[offer.name]
        for offer, answer in zip(listed, answers)
        if bool(answer.get("failed")) is not bool(offer.said)
        or not any(alternative in texts[offer.name] for alternative in offer.said.split("|"))
    }
    assert not wrong, json.dumps(wrong, indent=1)
    messages = [answer["msg"] for answer in answers if answer.get("failed")]
    assert not [message for message in messages if not message.isprintable() or "uid=0" in message]
    assert scene.hostile.execute("head -1 /etc/shadow") not in "".join(messages)
    # Only the valid offer's manifest and wheel were fetched.
    right = [offer for offer in listed if not offer.said]
    wheels = [name for name in scene.cached() if "/wheels/" in name and name.endswith(".whl")]
    assert [Path(name).name for name in wheels] == [FILE] and len(right) == 1
    assert (scene.cache / wheels[0]).read_bytes() == CONTENT
    kept = {Path(name).name for name in scene.cached() if "/manifests/" in name}
    sound = [offer for offer in listed if not offer.said or offer.name.endswith(" for the wheel")]
    assert kept <= {f"lab-built-{offer.lock}.json" for offer in sound}
    assert scene.other.contents() == untouched


def test_no_host_installs_anything_outside_its_stack(scene: Scene, untouched: list[str]) -> None:
    record = {"ansible.builtin.set_fact": {"results": {"lock": "{{ stack.lock.id }}"}}}
    lock = scene.play([record])["lock"]
    house = f"/opt/sparkforge/wheelhouse/{wheel_tree.PLATFORM}"
    path = scene.place / "manifest.json"
    path.write_bytes(resealed(lambda manifest: manifest.update(lock_id=lock, host=scene.hostile.name)))
    scene.hostile.copy(path, f"{house}/manifests/lab-built-{lock}.json")
    play = scene.other.roles("python_env", **STACK, sparkforge_wheelhouse_cache=str(scene.cache)).failed()
    assert f"The manifest of {scene.hostile.name} lists the unit triton" in play.text
    assert scene.other.contents() == untouched
