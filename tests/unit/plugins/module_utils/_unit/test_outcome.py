"""What a receipt is worth: whose it is, what it names, and with whose rights the end of a build is read."""

import os
import pwd
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import accounts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model, outcome, receipt as sealing

WHEEL = {"path": "tiny-1.0-py3-none-any.whl", "name": "tiny", "version": "1.0", "sha256": "0" * 64, "size": 3}


class Built:
    """A build that has ended, of which root has no receipt yet."""

    def __init__(self, place: Path) -> None:
        self.paths = model.Paths(str(place / "root"), str(place / "log"), "tiny", "a" * 16, "debian13-x86_64")
        self.artefact = Path(self.paths.artefact)
        self.artefact.mkdir(parents=True)
        (self.artefact / WHEEL["path"]).write_bytes(b"one")
        Path(self.paths.log_root).mkdir()
        Path(self.paths.log).touch()

    def say(self, **changed: t.Any) -> str:
        """Write the receipt beside the artefact, as the account may, and return its path."""
        known = {"name": "tiny", "fingerprint": "a" * 16, "platform": "debian13-x86_64", "finished": "2026"}
        receipt = {"format": 1, **known, "inputs": {}, "outputs": [WHEEL], **changed}
        path = self.artefact / "receipt.json"
        path.write_bytes(sealing.text_of(sealing.sealed(receipt)))
        return str(path)

    @property
    def is_taken(self) -> bool:
        return outcome.find_receipt(self.paths, []) is not None


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path)


@pytest.mark.parametrize("changed", [{"name": "other"}, {"fingerprint": "b" * 16}, {"platform": "debian13-aarch64"}])
def test_a_receipt_of_another_build_beside_the_artefact_is_none(built: Built, changed: dict[str, str]) -> None:
    built.say()
    assert built.is_taken
    built.say(**changed)
    assert not built.is_taken


def test_an_artefact_of_another_size_is_not_the_receipt_s(built: Built) -> None:
    built.say()
    (built.artefact / WHEEL["path"]).write_bytes(b"another")
    assert not built.is_taken


@pytest.mark.parametrize("path", ["../x.whl", "/etc/passwd", "a/b.whl", "..", ""])
def test_a_receipt_names_files_of_its_artefact_alone(built: Built, path: str) -> None:
    assert sealing.read(built.say(outputs=[{**WHEEL, "path": path}])) is None


@pytest.mark.parametrize(
    "changed",
    [{"finished": None}, {"inputs": []}, {"inputs": {"depends": [1]}}, {"inputs": {"depends": {"a": {}}}},
     {"outputs": {}}, {"outputs": [1]},
     {"outputs": [{**WHEEL, "sha256": None}]}, {"outputs": [{**WHEEL, "size": "3"}]}],
)  # fmt: skip
def test_a_receipt_has_what_its_readers_rely_on(built: Built, changed: dict[str, t.Any]) -> None:
    assert sealing.read(built.say(**changed)) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_the_end_of_a_build_is_read_with_its_account_s_rights(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    known = {"phase": "build"}
    monkeypatch.setattr(outcome.state_file, "observe", lambda *_arguments: seen.append(os.geteuid()) or known)
    assert outcome.observe(built.paths, accounts.Account("nobody"), None, [])["status"] == "running"
    assert seen == [pwd.getpwnam("nobody").pw_uid]
