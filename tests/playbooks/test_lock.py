"""Run playbooks/lock.yml with the test's own download tree, package index and repositories."""

import json
import os
import shutil
import subprocess
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.action import stack_lock

from tests.playbooks.run_playbook import run_playbook
from tests.unit.package_index import PackageIndex

COLLECTION = Path(__file__).parents[2]
SHA = {"libcudss": "1" * 64, "nvpl_blas": "2" * 64, "nvpl_lapack": "3" * 64, "libcusparse_lt": "4" * 64}


class Site:
    """An inventory with the lab's stack, and the sources from which it is resolved."""

    def __init__(self, path: Path, index: PackageIndex) -> None:
        self.path = path
        self.index = index
        self.inventory = path / "inventory"
        (self.inventory / "stacks").mkdir(parents=True)
        shutil.copy(COLLECTION / "inventory/stacks/lab.yml", self.inventory / "stacks")
        (self.inventory / "hosts.yml").write_text("all: {hosts: {spark01: {ansible_host: 192.0.2.1}}}\n")
        (path / "ansible.cfg").write_text("")
        self.tree = path / "tree"
        definition = yaml.safe_load((self.inventory / "stacks/lab.yml").read_text())["stack_definition"]
        for archive in [*definition["archives"], definition["cusparselt"]["archive"]]:
            entry: dict[str, t.Any] = {"relative_path": "a.tar.xz", "sha256": SHA[archive["component"]]}
            if archive.get("variant"):
                entry = {archive["variant"]: entry}
            manifest = self.tree / f"compute/{archive['product']}/redist/redistrib_{archive['release']}.json"
            manifest.parent.mkdir(parents=True, exist_ok=True)
            content = json.loads(manifest.read_text()) if manifest.exists() else {}
            content[archive["component"]] = {"version": archive["version"], "linux-sbsa": entry}
            manifest.write_text(json.dumps(content))

    @property
    def lock(self) -> Path:
        return self.inventory / "locks" / "lab.yml"

    def run(self, *arguments: str, **variables: t.Any) -> subprocess.CompletedProcess[str]:
        all_variables = {
            "stack_name": "lab",
            "sparkforge_nvidia_url": self.tree.as_uri(),
            "stack_lock_index_url": self.index.simple.replace("://", "://user:secret@"),
            **variables,
        }
        all_variables = {key: value for key, value in all_variables.items() if value is not None}
        playbook = str(COLLECTION / "playbooks/lock.yml")
        line = ["-i", str(self.inventory / "hosts.yml"), playbook, "-e", json.dumps(all_variables), *arguments]
        cache = str(self.path / "uv")
        return run_playbook(self.path, *line, UV_CACHE_DIR=cache, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    index = PackageIndex()
    index.record("cp313-linux-aarch64")
    yield Site(tmp_path, index)
    index.close()


def test_a_lock_is_written_once_and_the_second_run_changes_nothing(site: Site) -> None:
    first = site.run()
    assert "changed=1" in first.stdout, first.stdout + first.stderr
    lock = yaml.safe_load(site.lock.read_text())["stack_lock"]
    assert lock["archives"]["libcudss"]["sha256"] == {"linux-sbsa": "1" * 64}
    assert lock["archives"]["libcusparse_lt"]["sha256"] == {"linux-sbsa": "4" * 64}
    lines = lock["wheels"]["cp313-linux-aarch64"]
    assert lines[-2].startswith("torch==2.10.0 --hash=sha256:5c4d217b")
    assert not [line for line in lines if line.startswith(("triton", "nvidia"))]
    for word in (site.index.url, "127.0.0.1", "secret", str(site.path)):
        assert word not in site.lock.read_text()

    site.lock.write_text(site.lock.read_text().replace(lock["resolved"], "2026-01-01"))
    before = site.lock.read_bytes()
    second = site.run()
    assert "changed=0" in second.stdout, second.stdout + second.stderr
    assert site.lock.read_bytes() == before


def test_check_reports_moved_pins_and_writes_nothing(site: Site) -> None:
    first = site.run("--check", "--diff")
    assert "changed=1" in first.stdout, first.stdout + first.stderr
    assert "+      - torch==2.10.0 --hash" in first.stdout
    assert not site.lock.parent.exists()

    site.run()
    before = site.lock.read_bytes()
    manifest = site.tree / "compute/nvpl/redist/redistrib_25.5.json"
    manifest.write_text(manifest.read_text().replace("2" * 64, "9" * 64))
    moved = site.run("--check")
    assert f"archives nvpl_blas linux-sbsa 0.4.1.1: sha256 {'2' * 64} -> {'9' * 64}" in moved.stdout
    assert site.lock.read_bytes() == before


def test_a_part_that_is_left_out_keeps_what_the_lock_has(site: Site) -> None:
    site.run()
    before = site.lock.read_bytes()
    shutil.rmtree(site.tree)
    kept = site.run(stack_lock_parts=["wheels"])
    assert "archives kept: not selected" in kept.stdout
    assert "changed=0" in kept.stdout
    assert site.lock.read_bytes() == before


def test_an_upstream_that_cannot_be_reached_fails_and_leaves_the_lock(site: Site) -> None:
    site.run()
    before = site.lock.read_bytes()
    shutil.rmtree(site.tree)
    failed = site.run()
    assert failed.returncode == 2
    assert "redistrib_0.7.1.json" in failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr
    assert site.lock.read_bytes() == before


def test_broken_lock_is_replaced_and_reported(site: Site) -> None:
    site.lock.parent.mkdir()
    site.lock.write_text("stack_lock: {format: 7}\n")
    result = site.run()
    assert "previous lock" in result.stdout
    assert "changed=1" in result.stdout
    assert yaml.safe_load(site.lock.read_text())["stack_lock"]["stack"] == "lab"


@pytest.mark.long
def test_the_variables_of_one_host_apply_without_reaching_it(site: Site) -> None:
    (site.inventory / "host_vars").mkdir()
    (site.inventory / "host_vars/spark01.yml").write_text(f"sparkforge_nvidia_url: {site.tree.as_uri()}\n")
    result = site.run(sparkforge_nvidia_url=None, stack_lock_host="spark01", stack_lock_parts=["archives"])
    assert "changed: [spark01]" in result.stdout, result.stdout + result.stderr
    assert site.lock.exists()


def test_sites_ca_is_trusted_in_addition_to_the_systems_and_nothing_is_left(tmp_path, monkeypatch):
    system = tmp_path / "system.pem"
    system.write_text("SYSTEM")
    own = tmp_path / "own.pem"
    own.write_text("OWN")
    monkeypatch.setenv("SSL_CERT_FILE", str(system))
    monkeypatch.delenv("https_proxy", raising=False)
    with stack_lock.network(
        {"https": "http://proxy.example:3128", "no_proxy": ["localhost", ".example.com"]}, str(own)
    ):
        bundle = Path(os.environ["SSL_CERT_FILE"])
        assert bundle.read_text().split() == ["SYSTEM", "OWN"]
        assert os.environ["GIT_SSL_CAINFO"] == str(bundle)
        assert os.environ["https_proxy"] == "http://proxy.example:3128"
        assert os.environ["no_proxy"] == "localhost,.example.com"
    assert os.environ["SSL_CERT_FILE"] == str(system)
    assert "https_proxy" not in os.environ
    assert not bundle.exists()
