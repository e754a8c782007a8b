"""Files that no commit may contain. The test reads git's index itself, because `make fast` starts no program."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_no_virtual_environment_is_tracked() -> None:
    """Checking out a committed link .venv would replace the .venv of every developer."""
    git = ROOT / ".git"
    if not git.exists():
        pytest.skip("this is an unpacked release, which has no index")
    folder = Path(git.read_text().removeprefix("gitdir:").strip()) if git.is_file() else git
    # The index has a path's length before the path: gitformat-index(5).
    assert b"\0\5.venv\0" not in (folder / "index").read_bytes(), "Run: git rm --cached .venv"
