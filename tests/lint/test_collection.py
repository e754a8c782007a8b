"""The collection as its users get it: the tarball, the documentation, the README's commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import cli
from sparkforge import cli as command_line

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
MEGABYTE = 1_000_000


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    variables = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **environment}
    variables = {name: value for name, value in variables.items() if value != ""}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=variables, text=True, check=False,
                          capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


#: The line before a block of commands, and the commands.
BLOCK = re.compile(r"^ *([^\n]*)\n{1,2} *```(?:bash|sh)\n(.*?)```", re.M | re.S)


def copy_of_the_tracked_files(target: Path) -> Path:
    """Copy what git tracks, and what it would track, as a fresh clone has it."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=CHECKOUT)
    for name in listed.splitlines():
        source, destination = CHECKOUT / name, target / name
        if not source.exists() and not source.is_symlink():
            continue
        destination.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            destination.symlink_to(os.readlink(source))
        else:
            shutil.copy2(source, destination)
    return target


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    clone = copy_of_the_tracked_files(tmp_path_factory.mktemp("clone") / "another-name")
    output = tmp_path_factory.mktemp("tarball")
    run(BIN / "ansible-galaxy", "collection", "build", "--output-path", output, cwd=clone)
    return next(output.glob("sparkforge-dgx_spark-*.tar.gz"))


@pytest.fixture(scope="module")
def installed(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    collections = tmp_path_factory.mktemp("collections")
    # Not with the checkout's own configuration, which `make test` names: it finds the collection installed already.
    run(
        BIN / "ansible-galaxy", "collection", "install", "--offline", "-p", collections, tarball,
        cwd=collections, ANSIBLE_CONFIG="",
    )  # fmt: skip
    return collections


def test_the_tarball_is_small_and_holds_no_tests_caches_or_environments(tarball: Path):
    assert tarball.stat().st_size < MEGABYTE
    with tarfile.open(tarball) as archive:
        names = archive.getnames()
    tops = {name.split("/")[0] for name in names}
    assert not tops & {
        "tests",
        "lab",
        "molecule",
        "benchmarks",
        "cli",
        ".venv",
        ".ci",
        ".collections",
        ".git",
        "reports",
    }
    assert {"roles", "plugins", "playbooks", "README.md", "LICENSE"} <= tops
    assert not [name for name in names if "__pycache__" in name or "generated.yml" in name]


def test_the_installed_collection_runs_its_site_by_name(installed: Path, tmp_path: Path):
    inventory = tmp_path / "hosts.yml"
    inventory.write_text("all: {hosts: {spark01: {ansible_connection: local}}}")
    output = run(
        BIN / "ansible-playbook", "-i", inventory, "--list-tasks", "sparkforge.dgx_spark.site",
        cwd=tmp_path, ANSIBLE_COLLECTIONS_PATH=str(installed), ANSIBLE_CONFIG="",
    )  # fmt: skip
    for role in ("preflight", "cuda_libraries", "cusparselt", "math_libraries", "python_env", "verify"):
        assert role in output


def test_every_plugin_and_role_is_documented(installed: Path, tmp_path: Path):
    environment = {"ANSIBLE_COLLECTIONS_PATH": str(installed), "ANSIBLE_CONFIG": ""}
    folder = installed / "ansible_collections/sparkforge/dgx_spark"
    modules = {path.stem for path in (folder / "plugins/modules").glob("*.py")}
    # A file that has several has the documentation of each in a file of its name.
    filters = {path.stem for path in (folder / "plugins/filter").iterdir() if "DOCUMENTATION" in path.read_text()}
    for kind, names in (("module", modules), ("filter", filters)):
        qualified = [f"sparkforge.dgx_spark.{name}" for name in sorted(names)]
        documents = json.loads(run(BIN / "ansible-doc", "-t", kind, "--json", *qualified, cwd=tmp_path, **environment))
        assert set(documents) == set(qualified)
        for name, document in documents.items():
            assert document["doc"]["description"], name
            assert document["examples"], name
            if kind == "module":
                assert document["return"], name
                assert {"check_mode", "diff_mode", "idempotent"} <= set(document["doc"]["attributes"]), name
    roles = json.loads(
        run(BIN / "ansible-doc", "-t", "role", "--json", "-l", "sparkforge.dgx_spark", cwd=tmp_path, **environment)
    )
    assert {name.rsplit(".", 1)[1] for name in roles} == {path.name for path in (folder / "roles").iterdir()}


def test_a_clone_under_another_name_resolves_its_own_collection(tmp_path: Path):
    clone = copy_of_the_tracked_files(tmp_path / "some other folder")
    output = run(BIN / "ansible-playbook", "--syntax-check", "site.yml", cwd=clone, ANSIBLE_CONFIG="")
    assert "site.yml" in output


#: What stands before a block of commands that no test can run, with the reason.
NOT_RUN = "<!-- not run by a test: "
#: Commands that a test runs as they stand, with other paths.
RUN_BY = {
    "ssh-keygen": "tests/unit/lab/test_release.py",
    "sha256sum": "tests/unit/lab/test_release.py",
    "ansible-builder": "tests/scale/test_execution_environment.py",
    "ansible-runner": "tests/scale/test_runner.py",
}


def readme_commands(*pages: str) -> list[str]:
    """Return the commands of the pages' blocks of bash, but for those that are marked as not run."""
    text = "\n".join((CHECKOUT / page).read_text() for page in pages or ("README.md",))
    blocks = [code for mark, code in BLOCK.findall(text) if not mark.startswith(NOT_RUN)]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return list(dict.fromkeys(line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()))


def test_the_readme_is_short():
    assert len((CHECKOUT / "README.md").read_text().splitlines()) <= 120


PAGES = [
    path
    for place in (".", "docs", "docs/evidence", "roles/*", "lab", "benchmarks")
    for path in sorted(CHECKOUT.glob(f"{place}/*.md"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_a_link_leads_to_a_page_and_a_heading_that_are_there(page: Path):
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        name, _hash, heading = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            anchors = {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}
            assert heading in anchors, link


def test_the_readme_has_commands():
    assert {"make setup", "make demo", "make lab-down"} <= set(readme_commands())
    assert "make test" in (CHECKOUT / "README.md").read_text()


def test_a_block_that_is_marked_gives_its_reason() -> None:
    for page in PAGES:
        for mark, _code in BLOCK.findall(page.read_text()):
            assert not mark.startswith("<!--") or re.fullmatch(rf"{NOT_RUN}.{{10,}} -->", mark), page


@pytest.mark.parametrize(
    "command", readme_commands(*(str(page.relative_to(CHECKOUT)) for page in PAGES if "evidence" not in page.parts))
)
def test_a_command_of_the_readme_exists_and_parses(command: str, installed: Path):
    words = shlex.split(command)
    if words[0] == "make":
        run("make", "-n", *words[1:], cwd=CHECKOUT)
    elif words[0].removeprefix(".venv/bin/") == "ansible-playbook":
        environment = {"ANSIBLE_COLLECTIONS_PATH": f"{CHECKOUT / '.collections'}:{installed}"}
        keep = [word for word in words[1:] if word not in ("-K", "--ask-become-pass")]
        # What sparkforge setup writes has the hosts and variables of the example.
        keep = ["inventory/hosts.yml" if word == "~/.config/sparkforge/hosts.yml" else word for word in keep]
        run(BIN / "ansible-playbook", *keep, "--list-tasks", cwd=CHECKOUT, **environment)
    elif words[0] in ("python", "docker") and "sparkforge-proof.pyz" in command:
        # Run by tests/proof/test_one_file.py; here its options are parsed.
        cli.parser(["gb10"]).parse_args(command.partition("sparkforge-proof.pyz")[2].split())
    elif words[0] in RUN_BY:
        assert (CHECKOUT / RUN_BY[words[0]]).is_file()
    elif words[0] in ("sparkforge", "uvx"):
        command_line.make_parser().parse_args(words[words.index("sparkforge") + 1 :])
    elif words[0] in ("ansible-galaxy", "ansible-doc", "git", "cd"):
        assert shutil.which(words[0], path=f"{BIN}:{os.environ['PATH']}") or words[0] == "cd"
    else:
        pytest.fail(f"README command that no test knows how to check: {command}")
