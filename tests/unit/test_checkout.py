"""Files that no commit may contain. The test reads git's index directly, because `make fast` starts no programs."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_no_virtual_environment_is_tracked() -> None:
    """If a link .venv were committed, checking it out would replace every developer's .venv."""
    git = ROOT / ".git"
    if not git.exists():
        pytest.skip("this is an unpacked release, which has no index")
    folder = Path(git.read_text().removeprefix("gitdir:").strip()) if git.is_file() else git
    # In the index, a path's length precedes the path: gitformat-index(5).
    assert b"\0\5.venv\0" not in (folder / "index").read_bytes(), "Run: git rm --cached .venv"
