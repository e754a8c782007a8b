"""Build the chain llvm -> triton -> pytorch -> extensions -> environment with the real roles, over ssh.

The lab serves the sources, which are the trees in tests/upstream. Only inventory variables differ from real use. The
tests run natively in `make test`, and on ARM64 in `make test-long`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import yaml

from lab.host import repositories
from tests import upstream
from tests.integration import ownership
from tests.integration.conftest import CHECKOUT, TOOLCHAIN, Host, Play, running


@dataclass
class Site:
    """A host, the stack made of the fixture's trees, and the result of building it."""

    host: Host
    made: upstream.Upstream
    first: Play
    left: list[ownership.Entry]

    def run(self, playbook: str, *arguments: str, **variables: object) -> Play:
        return self.host.run(playbook, *arguments, **{**VARIABLES, **variables})

    def info(self) -> dict:
        return self.host.task("sparkforge.dgx_spark.build_info")

    def receipts(self) -> dict[str, dict]:
        """Return the newest receipt of each unit."""
        return {receipt["name"]: receipt for receipt in reversed(self.info()["receipts"])}


VARIABLES = {
    "stack_name": "lab-upstream",
    "stack_method": "build",
    # The submodule's own URL has no server.
    "sparkforge_rewrite": {upstream.ELSEWHERE: "{{ lab_mirror_url }}/git/"},
    # The containers share this machine's memory and disk with the other tests.
    "sparkforge_build_memory_reserve": 512,
    "preflight_memory_minimum_gib": 1,
    "preflight_disk_minimum": [{"path": "/", "gib": 2, "purpose": "small trees"}],
    # Our fixes are for the real 2.9.1; these libraries are tiny stand-ins that can be linked.
    "pytorch_fixes": {"rowwise_121a": False, "fermi_token": False, "attention_guard": False},
    "pytorch_architectures": "12.0",
    "pytorch_cuda": False,
    "torch_extensions_cuda": False,
    "torch_extensions_packages": [],
    "torch_extensions_names": ["torchvision", "flash_attention"],
    "torch_extensions": [
        {"name": name, "memory_per_job": 512, "free_space": 100} for name in ("torchvision", "flash_attention")
    ],
    "pytorch_libraries": ["cudss"],
    "pytorch_blas": "NVPL",
    "python_env_imports": ["torch", "triton", "torchvision", "flash_attn"],
    "pytorch_unit": {
        "patches": [{"name": "cstdint", "content": upstream.PYTORCH_PATCH.read_text()}],
        "environment": {"FIXTURE_WEIGHT": "0"},
        "memory_per_job": 512,
        "free_space": 100,
    },
    "llvm_unit": {"memory_per_job": 512, "free_space": 100},
    "triton_unit": {"memory_per_job": 512, "free_space": 100},
    # The package being built looks like torch but cannot compute.
    "verify_checks": ["identity.import", "identity.versions", "identity.wheels", "identity.files"],
    "report_require": "unproven",
}


def write_stack(host: Host) -> upstream.Upstream:
    """Create the repositories, and write their stack and its lock to the bench's inventory."""
    trees = upstream.make(repositories())
    # Use the address, because only the containers know the name that the certificate is for.
    definition = trees.stack(host.mirror["url_here"])
    # PyYAML has a wheel for each machine, but the native mirror has only those for its own.
    definition["machines"] = [host.machine]
    # The tree does not include image libraries.
    definition["units"]["torchvision"]["expect"] = {"libraries": [], "files": []}
    path = host.inventory / "stacks/lab-upstream.yml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump({"stack_definition": definition}))
    return trees


def lock(host: Host, *arguments: str) -> Play:
    here = {"sparkforge_nvidia_url": host.mirror["url_here"], "stack_lock_find_links": [host.mirror["wheels"]]}
    parts = ["archives", "sources", "requirements"]
    return host.run(
        "lock", *arguments, stack_name="lab-upstream", stack_lock_host=host.name, stack_lock_parts=parts, **here
    )


@pytest.fixture(scope="module", params=["native", pytest.param("arm64", marks=pytest.mark.long)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    for bench in running(tmp_path_factory, request.param):
        host = bench.fresh(packages=TOOLCHAIN)
        trees = write_stack(host)
        lock(host).succeeded()
        before = ownership.look(host)
        yield Site(host, trees, host.run("site", **VARIABLES).succeeded(), ownership.left(host, before))


def test_the_lock_has_the_commits_that_the_sources_pin(site: Site) -> None:
    lock = yaml.safe_load((site.host.inventory / "locks/lab-upstream.yml").read_text())["stack_lock"]["sources"]
    commits = site.made.commits
    assert lock["pytorch"]["commit"] == commits["pytorch"]["v2.9.1"]
    assert lock["triton"]["commit"] == commits["triton"]["v3.5.1"]
    assert lock["triton"]["pinned_by"]["file"] == ".ci/docker/ci_commit_pins/triton.txt"
    assert lock["llvm"]["commit"] == commits["llvm-project"]["main~1"]
    assert lock["llvm"]["pinned_by"]["file"] == "cmake/llvm-hash.txt"


def test_the_site_builds_every_unit_and_the_environment_is_made_of_them(site: Site) -> None:
    receipts = site.receipts()
    # oneDNN computes with this library, on aarch64 only.
    library = {"compute_library"} if site.host.machine == "aarch64" else set()
    assert set(receipts) == {"llvm", "triton", "pytorch", "torchvision", "flash_attention"} | library
    installed = site.host.execute(
        "/opt/sparkforge/envs/torch/current/bin/python -c "
        "'import torch, triton, torchvision; print(torch.__version__, torch.version.git_version)'"
    )
    version, git_version = installed.split()
    assert version.startswith("2.9.1")
    assert git_version == site.made.commits["pytorch"]["v2.9.1"]
    # The wheels match the receipts and differ from the index's.
    assert version == receipts["pytorch"]["outputs"][0]["version"]
    assert version != "2.9.1"


def test_progress_is_printed_while_it_builds(site: Site) -> None:
    for unit in ("llvm", "triton", "pytorch", "torchvision"):
        assert f"{site.host.name} | {unit} | " in site.first.output


def test_no_build_ran_as_root(site: Site) -> None:
    built = "/opt/sparkforge/builds /opt/sparkforge/wheelhouse/*/pytorch/* /var/log/sparkforge/*.log"
    assert set(site.host.execute(f"stat -c %U {built}").split()) == {"sparkforge"}
    # Hosts trust these paths when they install.
    roots = "/opt/sparkforge/wheelhouse /opt/sparkforge/wheelhouse/* /opt/sparkforge/wheelhouse/*/manifests"
    assert set(site.host.execute(f"stat -c %U {roots} /opt/sparkforge/receipts/units/*").split()) == {"root"}


def test_every_path_that_a_build_left_is_in_the_table_with_its_owner_and_mode(site: Site) -> None:
    assert ownership.compared(site.left, "build") == []


def test_the_second_run_changes_nothing_and_compiles_nothing(site: Site) -> None:
    before = site.info()["receipts"]
    assert site.run("site").succeeded().changed == 0
    assert site.info()["receipts"] == before


def test_check_names_the_unit_to_build_and_the_reason(site: Site) -> None:
    unit = {**VARIABLES["pytorch_unit"], "environment": {"FIXTURE_WEIGHT": "0", "USE_CUFILE": "0"}}
    play = site.run("build", "--check", "--diff", pytorch_unit=unit).succeeded()
    assert "environment.USE_CUFILE" in play.text or '"USE_CUFILE": "0"' in play.text
    assert site.info()["unfinished"] == []


def test_the_compute_library_is_installed_where_onednn_looks_for_it(site: Site) -> None:
    """Build it as the role pytorch does on aarch64; no stack for another machine requires it."""
    role = yaml.safe_load((CHECKOUT / "roles/pytorch/vars/main.yml").read_text())["__pytorch_compute_library"]
    source = {
        "repo": site.made.url("compute_library", site.host.mirror["url"]),
        "version": site.made.commits["compute_library"][upstream.COMPUTE_LIBRARY],
    }
    small = {"memory_per_job": 256, "free_space": 100, "user": "sparkforge"}
    result = site.host.task(
        "sparkforge.dgx_spark.source_build", name="compute_library", source=source, **{**role, **small}
    )
    assert result.get("prefix"), result
    assert site.host.execute(f"cd {result['prefix']} && ls lib arm_compute half").split() == [
        "arm_compute:", "graph.h", "half:", "half.hpp", "lib:", "libarm_compute.a", "libarm_compute_graph.a",
    ]  # fmt: skip


@pytest.mark.long
def test_uninstall_removes_the_units(site: Site) -> None:
    site.run("uninstall").succeeded()
    left = site.host.execute(
        "ls -d /opt/sparkforge /var/log/sparkforge 2>/dev/null; getent passwd sparkforge", check=False
    )
    assert left == ""
    assert site.run("uninstall").succeeded().changed == 0
