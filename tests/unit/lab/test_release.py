"""A release and its signature, verified with the commands in docs/developer.md."""

import re
import subprocess
from pathlib import Path

import pytest

from lab import release

PAGE = Path(__file__).parents[3] / "docs/developer.md"
TARBALL = "sparkforge-dgx_spark-0.1.0.tar.gz"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    private = tmp_path / "signer"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", private], check=True)
    return private


def tarball(folder: Path) -> None:
    (folder / TARBALL).write_bytes(b"a collection")


def documented_checks() -> str:
    chapter = PAGE.read_text().partition("## Check a release\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```bash\n(.*?)```", chapter, re.S)
    return str(block)


def check(folder: Path, public: str) -> subprocess.CompletedProcess[str]:
    folder.joinpath("allowed_signers").write_text(f"sparkforge {public}")
    script = "set -e\n" + "\n".join(line for line in documented_checks().splitlines() if "install" not in line)
    return subprocess.run(["bash", "-c", script], cwd=folder, text=True, capture_output=True, check=False)


def test_documented_check_accepts_a_release(tmp_path: Path, key: Path) -> None:
    files = release.write(tmp_path / "out", key.read_text(), tarball)
    assert [path.name for path in files] == ["SHA256SUMS", "SHA256SUMS.sig", TARBALL]
    result = check(tmp_path / "out", key.with_suffix(".pub").read_text())
    assert result.returncode == 0, result.stderr
    assert f"{TARBALL}: OK" in result.stdout


@pytest.mark.parametrize("changed", [TARBALL, "SHA256SUMS"])
def test_documented_check_refuses_a_changed_file(tmp_path: Path, key: Path, changed: str) -> None:
    release.write(tmp_path / "out", key.read_text(), tarball)
    with (tmp_path / "out" / changed).open("ab") as stream:
        stream.write(b"0")
    assert check(tmp_path / "out", key.with_suffix(".pub").read_text()).returncode != 0


def test_documented_check_refuses_another_key(tmp_path: Path, key: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    release.write(tmp_path / "out", other.read_text(), tarball)
    assert check(tmp_path / "out", key.with_suffix(".pub").read_text()).returncode != 0


def test_a_release_without_a_key_removes_the_old_signature(tmp_path: Path, key: Path) -> None:
    release.write(tmp_path / "out", key.read_text(), tarball)
    assert [path.name for path in release.write(tmp_path / "out", "", tarball)] == ["SHA256SUMS", TARBALL]


def test_an_invalid_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        release.write(tmp_path / "out", "not a key", tarball)


def test_a_version_is_released_if_the_changelog_has_its_chapter() -> None:
    text = "Notes\n\nv0.1.0\n======\n\n- v0.2.0 comes later\n"
    assert release.is_released("0.1.0", text)
    assert not release.is_released("0.2.0", text)
