"""Refused checkouts, and the limit on retries while the network is down."""

import contextlib
import errno
import os
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import (
    git_command,
    git_errors,
    git_tree,
    sources,
    urls,
)

CHECKOUT = urls.make_revision("https://example.com/x", "1" * 40, {}, "")


class OtherHead(git_command.Commands):
    """A git that checks out a different commit."""

    def local(self, *arguments: str, **_options: object) -> bytes:
        return b"2" * 40 + b"\n" if "rev-parse" in arguments else b""


def test_checkout_of_another_commit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(git_errors.GitError, match=r"2222 was checked out .* 1111") as caught:
        git_tree._check_out(CHECKOUT, str(tmp_path), "/none", OtherHead({"PATH": "/usr/bin:/bin"}), print)
    assert caught.value.kind is git_errors.Kind.CORRUPT


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.EIO, errno.ENOSPC])
def test_objects_are_copied_if_hard_links_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(git_tree.os, "link", refuse)
    (tmp_path / "objects/pack").mkdir(parents=True)
    for name in ("pack/a.pack", "pack/tmp_b", "alternates"):
        (tmp_path / "objects" / name).write_text(name)
    if number in (errno.EIO, errno.ENOSPC):
        with pytest.raises(OSError, match=os.strerror(number)):
            git_tree._share(str(tmp_path / "objects"), str(tmp_path / "other"))
        return
    git_tree._share(str(tmp_path / "objects"), str(tmp_path / "other"))
    assert [path.name for path in (tmp_path / "other").rglob("*") if path.is_file()] == ["a.pack"]


@pytest.mark.parametrize(
    ("kind", "file", "message"),
    [
        ("cmake", "llvm/CMakeLists.txt", r"has no CMakeLists\.txt; it has llvm\. .*llvm would work"),
        ("wheel", "", r"empty or missing\. Correct"),
        ("wheel", "setup.py", ""),
        ("cmake", "CMakeLists.txt", ""),
    ],
)
def test_tree_must_have_build_files(tmp_path: Path, kind: str, file: str, message: str) -> None:
    if file:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    with pytest.raises(SparkforgeError, match=message) if message else contextlib.nullcontext():
        sources.check_tree(str(tmp_path), "", kind, "It", False)


@pytest.mark.parametrize(("kind", "count"), [("UNKNOWN", 3), ("BROKEN", 10), ("NETWORK", 0)])
def test_retries_are_limited(kind: str, count: int) -> None:
    now, attempt_times = [0.0], []

    def attempt() -> None:
        attempt_times.append(now[0])
        assert len(attempt_times) < 200
        raise git_errors.GitError(git_errors.Kind[kind], "fatal: x")

    def sleep(seconds: float) -> None:
        now[0] += seconds

    patience = git_errors.Patience(600, sleep, lambda: now[0])
    with pytest.raises((SparkforgeError, git_errors.GitError)):
        git_errors.Retry(patience, lambda _text: None)(CHECKOUT, attempt)
    if count:
        assert len(attempt_times) == count
    else:
        assert 600 <= attempt_times[-1] < 700
