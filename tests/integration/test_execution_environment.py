"""The execution environment as an image built on the lab's Debian, and a lab host provisioned from it.

The base image named in execution-environment.yml is in a registry; the lab's image has the same Debian release.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab import image
from tests.integration.conftest import CHECKOUT, Bench, Host, Play
from tests.lint.test_collection import BIN, copy_of_the_tracked_files, run

pytestmark = pytest.mark.long

NAME = f"localhost/sparkforge-ee-test:{os.getpid()}"
#: The bundle of certificates that this machine trusts; by default, pip uses its own.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the name of the image."""
    clone = copy_of_the_tracked_files(tmp_path_factory.mktemp("ee") / "clone")
    machine = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    base = ["--build-arg", f"EE_BASE_IMAGE={image.build(machine)}"]
    settings = {"ANSIBLE_CONFIG": ""}
    run(BIN / "ansible-galaxy", "collection", "build", "--force", cwd=clone, **settings)
    run(BIN / "ansible-builder", "create", "--context", clone / "context", cwd=clone, **settings)
    trust = ["--env", f"PIP_CERT={CERTIFICATES}"] if Path(CERTIFICATES).exists() else []
    mounted = ["-v", "/etc/ssl/certs:/etc/ssl/certs:ro"]
    image.podman("build", "--layers=false", "-t", NAME, "--network", "host", *mounted, *trust, *base, clone / "context")
    yield NAME
    image.podman("rmi", "-f", NAME, quiet=True)


def inside(built: str, *command: str, options: tuple[str, ...] = ()) -> str:
    """Run a command in the image as AWX does, through its entrypoint and as its user, and return the output."""
    return image.podman("run", "--rm", *options, built, *command).stdout


def test_image_contains_ansible_and_the_collection_and_runs_unprivileged(built: str) -> None:
    pins = (CHECKOUT / "requirements.txt").read_text()
    assert inside(built, "id", "-u").strip() == "1000"
    version_text = inside(built, "ansible-playbook", "--version")
    version = version_text.partition("[core ")[2].partition("]")[0]
    assert f"ansible-core=={version}; python_version >= " in pins
    assert "config file = /etc/ansible/ansible.cfg" in version_text
    assert f"ansible-runner=={inside(built, 'ansible-runner', '--version').strip()}\n" in pins
    documented = json.loads(inside(built, "ansible-doc", "--json", "sparkforge.dgx_spark.build_info"))
    assert documented["sparkforge.dgx_spark.build_info"]["doc"]["description"]


def test_a_host_is_provisioned_from_it_and_a_second_run_changes_nothing(built: str, bench: Bench, tmp_path: Path):
    host: Host = bench.fresh()
    facts = yaml.safe_load((host.inventory / "group_vars/lab/generated.yml").read_text())
    settings = Path(facts["lab_ssh_config"])
    # Only root may enter the directory; only its owner, another account in the container, may read the key.
    shutil.copytree(host.inventory, tmp_path / "inventory")
    shutil.copytree(settings.parent, tmp_path / "lab", ignore=shutil.ignore_patterns("cp"))
    copy = tmp_path / "lab" / settings.name
    copy.write_text(copy.read_text().replace(str(settings.parent), "/runner/lab"))
    shutil.copy2(facts["lab_mirror_ca"], tmp_path / "lab/ca.pem")
    (tmp_path / "reports").mkdir()
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 1000, 1000)
    variables = {
        "lab_ssh_config": f"/runner/lab/{settings.name}",
        "lab_mirror_ca": "/runner/lab/ca.pem",
        "verify_report_directory": "/runner/reports",
        "sparkforge_wheelhouse_cache": "/runner/wheelhouse",
    }
    command = ("ansible-playbook", "-i", "inventory/lab.yml", "sparkforge.dgx_spark.site", "-l", host.name)
    options = ("--network", "host", "-v", f"{tmp_path}:/runner")
    first, second = (
        Play(0, inside(built, *command, "-e", json.dumps(variables), options=options)) for _run in ("first", "second")
    )
    assert first.changed > 0
    assert second.changed == 0, second.output
    assert json.loads((tmp_path / f"reports/{host.name}.json").read_text())["summary"]["fail"] == 0
