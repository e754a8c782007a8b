"""ansible-test sanity, for the oldest and the newest ansible-core that this machine's interpreters can run."""

import configparser
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

# ansible-core -> the interpreter on which it runs here, and the version of pip that its ansible-test requires.
CORES = {"2.19.14": ("3.11", "24.2"), "2.21.5": ("3.12", "25.2")}

# Other linters or the unit tests (import) find the same faults. Each of these tests creates its own environment.
OTHERS = ("pylint", "pep8", "yamllint", "compile", "changelog", "import")

# The paths that are copied and checked: the collection as installed.
CONTENT = ("galaxy.yml", "meta", "plugins", "tools", "roles", "playbooks", "changelogs", "README.md", "LICENSE")

# ansible-test downloads a bootstrap script from its own host, which a closed network cannot reach. Python includes pip,
# so this script does the same with ensurepip.
BOOTSTRAP = """
import subprocess, sys
subprocess.check_call([sys.executable, "-m", "ensurepip"])
packages = [word for word in sys.argv[1:] if "==" in word]
subprocess.check_call([sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "-q", *packages])
"""


def interpreter(version: str) -> str | None:
    """Return an interpreter of ``version`` that can create virtual environments, or None."""
    # Under `make test`, ~ is root's home, but pyenv belongs to the user who called make.
    home = Path(f"~{os.environ.get('SUDO_USER', '')}").expanduser()
    homes = sorted(home.glob(f".pyenv/versions/{version}.*/bin/python3"))
    for candidate in [sys.executable, shutil.which(f"python{version}"), *map(str, homes)]:
        question = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        if candidate:
            completed = subprocess.run([candidate, "-c", question], capture_output=True, text=True, check=False)
            if completed.returncode == 0 and completed.stdout.strip() == version:
                return candidate
    return None


def write_pip_settings(path: Path) -> None:
    """Write the user's own pip settings (an index, a proxy, a certificate), read from files and variables.

    ansible-test does not pass any variables to the pip that it starts.
    """
    settings = configparser.RawConfigParser()
    named = os.environ.get("PIP_CONFIG_FILE") or os.devnull
    settings.read([Path.home() / ".pip/pip.conf", Path.home() / ".config/pip/pip.conf", named])
    if not settings.has_section("global"):
        settings.add_section("global")
    for name, value in os.environ.items():
        if name.startswith("PIP_") and name != "PIP_CONFIG_FILE":
            settings.set("global", name[len("PIP_") :].lower().replace("_", "-"), value)
    path.parent.mkdir(parents=True)
    with path.open("w") as stream:
        settings.write(stream)


# The oldest core finds features that the collection may not use yet, the usual fault of a change; the newest is run
# before a release. The tests in OTHERS take twice as long as the rest.
@pytest.mark.parametrize(
    ("core", "but"),
    [
        ("2.19.14", [word for name in OTHERS for word in ("--skip-test", name)]),
        pytest.param("2.19.14", [word for name in OTHERS for word in ("--test", name)], marks=pytest.mark.long),
        pytest.param("2.21.5", [], marks=pytest.mark.long),
    ],
)
def test_ansible_test_sanity_finds_nothing(core: str, but: list[str], tmp_path: Path):
    version, pip_version = CORES[core]
    python = interpreter(version)
    if not python:
        pytest.skip(f"ansible-core {core} needs Python {version}, which this machine does not have")
    tools = Path(sys.executable).parent
    if metadata.version("ansible-core") != core:
        tools = tmp_path / "venv/bin"
        subprocess.run([python, "-m", "venv", tools.parent], check=True)
        install = [tools / "pip", "install", "-q", "--disable-pip-version-check", f"ansible-core=={core}"]
        subprocess.run(install, check=True)

    collection = tmp_path / "ansible_collections/sparkforge/dgx_spark"
    collection.mkdir(parents=True)
    for name in CONTENT:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, collection / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, collection / name)
    (collection / ".gitignore").write_text("tests/output/\n")
    subprocess.run(["git", "init", "-q", "."], cwd=collection, check=True)
    subprocess.run(["git", "add", "-A"], cwd=collection, check=True)

    home = tmp_path / "home"
    cache = home / ".ansible/test/cache"
    cache.mkdir(parents=True)
    (cache / f"get_pip_{pip_version.replace('.', '_')}.py").write_text(BOOTSTRAP)
    write_pip_settings(home / ".config/pip/pip.conf")
    environment = {**os.environ, "HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}"}
    command = ["ansible-test", "sanity", "--venv", "--python", version, "--color", "no", *but]
    result = subprocess.run(command, cwd=collection, env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    # Hundreds of lines list pip's installations; only these report errors.
    errors = [line for line in result.stdout.splitlines() if line.startswith(("ERROR", "FATAL"))]
    assert result.returncode == 0, "\n".join(errors)
