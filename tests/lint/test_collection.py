"""The collection as shipped to users: the tarball, the documentation, the README's commands."""

import functools
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
from ansible.cli.playbook import PlaybookCLI
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record import record
from sparkforge import cli as command_line
from sparkforge_proof import cli
from sparkforge_proof.endpoint import cli as endpoint

from lab import host

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
MEGABYTE = 1_000_000


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    variables = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **environment}
    variables = {name: value for name, value in variables.items() if value != ""}
    result = subprocess.run([str(word) for word in command], cwd=cwd, env=variables, text=True, check=False,
                          capture_output=True)  # fmt: skip
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


#: A block of commands, and the line before it.
BLOCK = re.compile(r"^ *([^\n]*)\n{1,2} *```(?:bash|sh)\n(.*?)```", re.M | re.S)


def copy_of_the_tracked_files(target: Path) -> Path:
    """Copy the files that git tracks or would track, as in a fresh clone."""
    for name in host.files():
        source, destination = CHECKOUT / name, target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, destination, follow_symlinks=False)
    # With equal times, the size of the tarball does not depend on how busy the machine is while it copies.
    for path in target.rglob("*"):
        os.utime(path, (10**9, 10**9), follow_symlinks=False)
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
    # Do not use the checkout's configuration, which `make test` sets: in it, the collection is installed already.
    run(
        BIN / "ansible-galaxy", "collection", "install", "--offline", "-p", collections, tarball,
        cwd=collections, ANSIBLE_CONFIG="",
    )  # fmt: skip
    return collections


def test_the_tarball_is_small_and_holds_no_tests_caches_or_environments(tarball: Path):
    # A fifth of it is the table of diagnoses with its sources, and a quarter the proof with its tables of inputs. Both
    # grow with what is reported of servers and GPUs. Galaxy accepts 20 MB; this bound is to find files by mistake.
    assert tarball.stat().st_size < 1.8 * MEGABYTE
    with tarfile.open(tarball) as archive:
        names = archive.getnames()
    tops = {name.split("/")[0] for name in names}
    assert not tops & set("tests lab molecule benchmarks cli .venv .ci .collections .git reports".split())
    assert {"roles", "plugins", "tools", "playbooks", "README.md", "LICENSE"} <= tops
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
    # If a file defines several filters, a file named after each of them has its documentation.
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


#: The mark, with the reason, before a block of commands that no test can run.
NOT_RUN = "<!-- not run by a test: "
#: Commands in the pages (the first match counts), and the tests that run them, with the lab's hosts, or the test's own
#: directory or server, instead of those in the page. If a sparkforge command has two tests, one checks the command line
#: that it prints, and the other runs that playbook.
RUN_BY = {
    r"make setup|\. \.venv/bin/activate": "Makefile",
    # Without a terminal, `make spark` does the same as `make demo`.
    r"make (spark|demo)( ARGS=.*)?": "integration/test_ordinary_user.py::test_readme_first_command_word_for_word",
    r"make test": (
        "integration/test_ordinary_user.py::"
        "test_the_readmes_first_block_in_an_unpacked_release_with_nothing_cached_on_arm64"
    ),
    r"make lab-down": (
        "integration/test_ordinary_user.py::test_benches_of_one_name_in_two_checkouts_and_two_accounts_are_up_at_once"
    ),
    r"uvx .* sparkforge setup": "lint/test_package.py::test_uv_runs_the_command",
    r"make \.venv/\.command .*": (
        "integration/test_on_the_spark_itself.py::test_first_step_of_make_spark_needs_only_make_and_python"
    ),
    r"mkdir .*|cp .*": (
        "integration/test_mirror.py::test_the_site_of_wheels_runs_twice_and_the_second_run_changes_nothing"
    ),
    r"sparkforge setup( --dry-run| --host .*| --method .*)": (
        "playbooks/test_front_door.py::test_without_a_terminal_options_replace_the_questions"
    ),
    r"sparkforge (setup --check|build.*)": (
        "unit/cli/test_cli.py::test_a_command_runs_ansible_playbook",
        "integration/test_build.py::test_the_site_builds_every_unit_and_the_environment_is_made_of_them",
        "integration/test_build.py::test_check_names_the_unit_to_build_and_the_reason",
        "integration/test_site.py::test_check_on_a_fresh_host_announces_changes_and_makes_none",
    ),
    r"(\.venv/bin/)?sparkforge (setup|status|prove.*)": (
        "integration/test_status.py::test_a_provisioned_host_is_as_its_stack_wants_it",
        "integration/test_front_door.py::test_setup_provisions_a_spark_that_the_other_commands_use",
    ),
    r"(\.venv/bin/)?sparkforge uninstall.*": (
        "unit/cli/test_cli.py::test_a_command_runs_ansible_playbook",
        "integration/test_uninstall.py::test_uninstalling_succeeds_and_a_second_time_changes_nothing",
    ),
    r"(\.venv/bin/)?sparkforge rollback.*": (
        "unit/cli/test_cli.py::test_a_command_runs_ansible_playbook",
        "integration/test_python_env.py::test_rollback_and_return_are_each_proven",
    ),
    r"sparkforge (serve|model) .*": (
        "unit/cli/test_cli.py::test_arguments_of_model_and_serve_are_no_templates",
        "integration/test_serving.py::test_model_is_downloaded_by_name_and_served",
    ),
    r"sparkforge explain .*": "unit/cli/test_cli.py::test_explain_names_the_failure_in_a_log",
    r".*(sparkforge inspect|inspect\.yml).*": "playbooks/test_inspect.py::test_a_documented_question_is_answered",
    r"(\.venv/bin/)?ansible-playbook -c local .*": (
        "integration/test_on_the_spark_itself.py::"
        "test_default_stack_on_another_machine_reports_all_problems_and_changes_nothing"
    ),
    r"ansible-playbook sparkforge\.dgx_spark\.site .*": (
        "integration/test_front_door.py::test_setup_provisions_a_spark_that_the_other_commands_use"
    ),
    r".* stack_name=torch-2.15.0 -e stack_method=wheel": (
        "integration/test_mirror.py::test_the_site_of_wheels_runs_twice_and_the_second_run_changes_nothing"
    ),
    r".* site\.yml .*--tags verify": "playbooks/test_rollout.py::test_only_the_proof_runs_where_only_it_is_asked_for",
    r".* site\.yml .*--check --diff": "integration/test_site.py::test_check_with_diff_names_what_would_be_installed",
    r".* site\.yml .*": "integration/test_site.py::test_the_site_provisions_a_fresh_host",
    r".*/rollback\.yml .*serving.*": (
        "integration/test_serving.py::test_a_new_environment_is_switched_to_and_back_and_the_server_follows"
    ),
    r".*/lock\.yml .*": "playbooks/test_lock.py::test_check_reports_moved_pins_and_writes_nothing",
    r".*/mirror\.yml .*": "integration/test_mirror.py::test_a_second_run_fetches_nothing",
    r".*/serve\.yml .*": (
        "integration/test_serving.py::test_a_server_runs_as_its_own_account_and_a_second_run_changes_nothing"
    ),
    r".*/preflight\.yml .*": (
        "integration/test_preflight.py::test_a_host_of_the_lab_passes_also_in_check_mode_and_as_text_variables"
    ),
    r".*/guard\.yml.*": "integration/test_guard.py::test_guard_runs_kills_a_process_and_leaves_nothing",
    r"sparkforge top": ("unit/cli/test_top.py::test_top_shows_memory_gpu_clocks_and_the_last_action_of_the_guard"),
    r"sparkforge run -- .*": (
        "../guard/tests/unit/test_admission.py::test_run_command_executes_with_a_limit_of_compile_jobs"
    ),
    r".*/fabric\.yml .*--tags.*": (
        "integration/test_fabric.py::test_each_half_is_measured_in_both_directions_by_both_ends_at_once"
    ),
    r".*/fabric\.yml .*": (
        "integration/test_fabric.py::test_both_halves_come_up_are_checked_and_the_second_run_changes_nothing"
    ),
    r"(\.venv/bin/)?sparkforge forecast.*|.*/forecast\.yml .*": (
        "unit/cli/test_cli.py::test_forecast_runs_its_playbook",
        "playbooks/test_forecast.py::test_the_forecast_of_two_hosts_changes_nothing",
    ),
    r"sparkforge record.*": (
        "unit/cli/test_cli.py::test_record_runs_the_archive_on_the_hosts",
        "integration/test_record.py::test_ansible_fetches_the_same_record_from_each_host_without_root",
    ),
    r"python3 sparkforge-record\.pyz.*": (
        "integration/test_record.py::test_account_without_sudo_records_its_machine_with_the_single_file"
    ),
    r"python sparkforge-proof\.pyz .*": "../proof/tests/test_one_file.py::test_report_and_page",
    r"ssh-keygen .*|sha256sum .*": "unit/lab/test_release.py::test_documented_check_accepts_a_release",
    r"ansible-builder .*": (
        "scale/test_execution_environment.py::test_everything_that_the_definition_names_is_in_the_context"
    ),
    r"ansible-runner .*": "scale/test_runner.py::test_preflight_runs_as_a_job_and_its_events_hold_the_recap",
    r"ansible-galaxy .*": "lint/test_collection.py::test_the_installed_collection_runs_its_site_by_name",
    r"ansible-doc .*": "lint/test_collection.py::test_every_plugin_and_role_is_documented",
}


def readme_commands(*pages: str) -> list[str]:
    """Return the commands from the pages' bash blocks, except the blocks that are marked as not run."""
    text = "\n".join((CHECKOUT / page).read_text() for page in pages or ("README.md",))
    blocks = [code for mark, code in BLOCK.findall(text) if not mark.startswith(NOT_RUN)]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return list(dict.fromkeys(line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()))


def test_the_readme_is_short():
    assert len((CHECKOUT / "README.md").read_text().splitlines()) <= 120


PAGES = [
    path
    for directory in (".", "docs", "docs/evidence", "roles/*", "lab", "benchmarks")
    for path in sorted(CHECKOUT.glob(f"{directory}/*.md"))
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
    assert readme_commands()[0] == "make spark" and "make test" in readme_commands()
    assert {"make demo", "make lab-down"} <= set(readme_commands("docs/tutorial.md"))


def test_a_block_that_is_marked_gives_its_reason() -> None:
    for page in PAGES:
        for mark, _code in BLOCK.findall(page.read_text()):
            assert not mark.startswith("<!--") or re.fullmatch(rf"{NOT_RUN}.{{10,}} -->", mark), page


COMMANDS = readme_commands(*(str(page.relative_to(CHECKOUT)) for page in PAGES if "evidence" not in page.parts))


def is_long(test: str) -> bool:
    """Tell whether a test (``file::function`` below tests/) runs only in `make test-long`, not in `make test`."""
    name, _colons, function = test.partition("::")
    source = (CHECKOUT / "tests" / name).read_text()
    definition = re.search(rf"((?:^[@ )\]].*\n)*)^def {function}\(", source, re.M)
    assert definition, f"{test} is not there"
    return "pytest.mark.long" in definition[1] or "\npytestmark = pytest.mark.long" in source


def test_each_command_of_the_pages_is_run_by_a_test_or_marked(capsys: pytest.CaptureFixture[str]) -> None:
    used, left_to_long, alone = set(), [], []
    for command in COMMANDS:
        row = next((pattern for pattern in RUN_BY if re.fullmatch(pattern, command)), None)
        if row is None:
            alone.append(command)
            continue
        used.add(row)
        tests = [RUN_BY[row]] if isinstance(RUN_BY[row], str) else RUN_BY[row]
        if tests != ["Makefile"] and all(is_long(test) for test in tests):
            left_to_long.append(command)
    assert alone == [], "no test runs these, and their block is not marked"
    assert set(RUN_BY) - used == set(), "no page has such a command any more"
    # `make test` creates the environment in which the tests run, with `make setup`.
    assert re.search(r"^test: \$\(VENV\)/\.command\b", (CHECKOUT / "Makefile").read_text(), re.M)
    marked = [code for page in PAGES for mark, code in BLOCK.findall(page.read_text()) if mark.startswith(NOT_RUN)]
    summary = f"{len(COMMANDS)} commands, each run by a test, {len(left_to_long)} of them by long ones alone"
    with capsys.disabled():
        print(f"\npages: {summary}; {len(marked)} blocks are marked as not run")


#: Programs whose arguments are not checked here.
OTHER_PROGRAMS = "ansible-galaxy ansible-doc ansible-builder ansible-runner cp mkdir ssh-keygen sha256sum".split()


@functools.cache
def check_playbook(playbook: str, installed: Path) -> None:
    environment = {"ANSIBLE_COLLECTIONS_PATH": f"{CHECKOUT / '.collections'}:{installed}"}
    run(BIN / "ansible-playbook", "-i", "localhost,", playbook, "--list-tasks", cwd=CHECKOUT, **environment)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_pages_exists_and_parses(command: str, installed: Path):
    arguments = shlex.split(command)
    if arguments[0] == "make":
        run("make", "-n", *arguments[1:], cwd=CHECKOUT)
    elif arguments[0].removeprefix(".venv/bin/") == "ansible-playbook":
        playbook_command = PlaybookCLI(arguments)
        playbook_command.init_parser()
        for playbook in playbook_command.parser.parse_args(arguments[1:]).args:
            check_playbook(playbook, installed)
    elif arguments[:3] == ["python", "sparkforge-proof.pyz", "endpoint"]:
        endpoint.parser().parse_args(arguments[3:])
    elif arguments[:2] == ["python", "sparkforge-proof.pyz"]:
        cli.parser(["gb10"]).parse_args(command.partition("sparkforge-proof.pyz")[2].split())
    elif arguments[:2] == ["python3", "sparkforge-record.pyz"]:
        record.make_parser().parse_args(arguments[2:])
    elif arguments[0].removeprefix(".venv/bin/") in ("sparkforge", "uvx"):
        arguments = [word.removeprefix(".venv/bin/") for word in arguments]
        end = arguments.index("--") if "--" in arguments else len(arguments)
        command_line.make_parser().parse_args(arguments[arguments.index("sparkforge") + 1 : end])
    elif arguments[0] in OTHER_PROGRAMS:
        assert shutil.which(arguments[0], path=f"{BIN}:{os.environ['PATH']}")
    elif arguments[0] != ".":
        pytest.fail(f"README command that no test knows how to check: {command}")
