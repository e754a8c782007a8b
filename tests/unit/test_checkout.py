"""What must not be in a commit. The index is read and not asked, since `make fast` starts no program."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_no_virtual_environment_is_tracked() -> None:
    """A link .venv that somebody added would replace everybody's own .venv, with all that is in it."""
    git = ROOT / ".git"
    if not git.exists():
        pytest.skip("this is an unpacked release, which has no index")
    folder = Path(git.read_text().removeprefix("gitdir:").strip()) if git.is_file() else git
    # Before a path the index has its length: gitformat-index(5).
    assert b"\0\5.venv\0" not in (folder / "index").read_bytes(), "Run: git rm --cached .venv"
