"""A release and its signature, checked by the commands that docs/developer.md gives."""

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


def checks_of_the_page() -> str:
    chapter = PAGE.read_text().partition("## Check a release\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```bash\n(.*?)```", chapter, re.S)
    return str(block)


def check(folder: Path, public: str) -> subprocess.CompletedProcess[str]:
    folder.joinpath("allowed_signers").write_text(f"sparkforge {public}")
    script = "set -e\n" + "\n".join(line for line in checks_of_the_page().splitlines() if "install" not in line)
    return subprocess.run(["bash", "-c", script], cwd=folder, text=True, capture_output=True, check=False)


def test_what_the_page_says_accepts_a_release_of_ours(tmp_path: Path, key: Path) -> None:
    made = release.write(tmp_path / "out", key.read_text(), tarball)
    assert [path.name for path in made] == ["SHA256SUMS", "SHA256SUMS.sig", TARBALL]
    done = check(tmp_path / "out", key.with_suffix(".pub").read_text())
    assert done.returncode == 0, done.stderr
    assert f"{TARBALL}: OK" in done.stdout


@pytest.mark.parametrize("changed", [TARBALL, "SHA256SUMS"])
def test_what_the_page_says_refuses_a_file_that_was_changed(tmp_path: Path, key: Path, changed: str) -> None:
    release.write(tmp_path / "out", key.read_text(), tarball)
    with (tmp_path / "out" / changed).open("ab") as stream:
        stream.write(b"0")
    assert check(tmp_path / "out", key.with_suffix(".pub").read_text()).returncode != 0


def test_what_the_page_says_refuses_the_signature_of_somebody_else(tmp_path: Path, key: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    release.write(tmp_path / "out", other.read_text(), tarball)
    assert check(tmp_path / "out", key.with_suffix(".pub").read_text()).returncode != 0


def test_without_a_key_there_is_no_signature_and_an_older_one_is_gone(tmp_path: Path, key: Path) -> None:
    release.write(tmp_path / "out", key.read_text(), tarball)
    assert [path.name for path in release.write(tmp_path / "out", "", tarball)] == ["SHA256SUMS", TARBALL]


def test_a_text_that_is_no_key_ends_it(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        release.write(tmp_path / "out", "not a key", tarball)


def test_a_version_is_released_where_the_changelog_has_its_chapter() -> None:
    text = "Notes\n\nv0.1.0\n======\n\n- v0.2.0 comes later\n"
    assert release.is_released("0.1.0", text)
    assert not release.is_released("0.2.0", text)
