"""Receipts written by the build account: which are accepted or refused, and the privileges with which they are read."""

import os
import pwd
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import accounts, digests
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import model, outcome, receipt as sealing

WHEEL = {"path": "tiny-1.0-py3-none-any.whl", "name": "tiny", "version": "1.0", "sha256": "0" * 64, "size": 3}


class Built:
    """A finished build for which root has no receipt yet."""

    def __init__(self, directory: Path) -> None:
        roots = str(directory / "root"), str(directory / "log")
        self.paths = model.Paths(*roots, "tiny", "a" * 16, "debian13-x86_64")
        self.artefact = Path(self.paths.artefact)
        self.artefact.mkdir(parents=True)
        (self.artefact / WHEEL["path"]).write_bytes(b"one")
        Path(self.paths.log_root).mkdir()
        Path(self.paths.log).touch()

    def write_receipt(self, **changed: t.Any) -> str:
        """Write the receipt next to the artefact, as the build account can, and return its path."""
        identity = {"name": "tiny", "fingerprint": "a" * 16, "platform": "debian13-x86_64", "finished": "2026"}
        receipt = {"format": 1, **identity, "inputs": {}, "outputs": [WHEEL], **changed}
        path = self.artefact / "receipt.json"
        path.write_bytes(digests.text_of(sealing.seal(receipt)).encode())
        return str(path)

    @property
    def is_accepted(self) -> bool:
        return outcome.find_receipt(self.paths, []) is not None


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path)


@pytest.mark.parametrize("changed", [{"name": "other"}, {"fingerprint": "b" * 16}, {"platform": "debian13-aarch64"}])
def test_receipt_of_another_build_is_refused(built: Built, changed: dict[str, str]) -> None:
    built.write_receipt()
    assert built.is_accepted
    built.write_receipt(**changed)
    assert not built.is_accepted


def test_receipt_with_artefact_of_another_size_is_refused(built: Built) -> None:
    built.write_receipt()
    (built.artefact / WHEEL["path"]).write_bytes(b"another")
    assert not built.is_accepted


@pytest.mark.parametrize("path", ["../x.whl", "/etc/passwd", "a/b.whl", "..", ""])
def test_receipt_with_path_outside_the_artefact_is_refused(built: Built, path: str) -> None:
    assert sealing.read(built.write_receipt(outputs=[{**WHEEL, "path": path}])) is None


@pytest.mark.parametrize(
    "changed",
    [{"finished": None}, {"inputs": []}, {"inputs": {"depends": [1]}}, {"inputs": {"depends": {"a": {}}}},
     {"outputs": {}}, {"outputs": [1]},
     {"outputs": [{**WHEEL, "sha256": None}]}, {"outputs": [{**WHEEL, "size": "3"}]}],
)  # fmt: skip
def test_incomplete_receipt_is_refused(built: Built, changed: dict[str, t.Any]) -> None:
    assert sealing.read(built.write_receipt(**changed)) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another account")
def test_state_is_read_with_rights_of_the_account(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    user_ids: list[int] = []
    state = {"phase": "build"}
    monkeypatch.setattr(outcome, "poll", lambda *_arguments: user_ids.append(os.geteuid()) or state)
    assert outcome.observe(built.paths, accounts.Account("nobody"), None, [])["status"] == "running"
    assert user_ids == [pwd.getpwnam("nobody").pw_uid]
