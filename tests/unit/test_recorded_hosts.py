"""All hosts in tests/unit/data/hosts are redacted, have the module's format, and fit every plan."""

import functools
import json
import re
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.sparkforge.dgx_spark.plugins.lookup.plan import ROLES, LookupModule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record.redaction import redacted
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet import status
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.builder import platforms
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import archives, cusparselt, preflight
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

from tests.unit.plugins.plugin_utils.fleet.test_status import look
from tests.unit.plugins.plugin_utils.plans.test_preflight import SETTINGS, STACK
from tests.unit.plugins.plugin_utils.plans.test_pytorch import plan as pytorch_plan, stack as pytorch_stack

HOSTS = sorted((Path(__file__).parent / "data/hosts").glob("*.json"))
# This host has the format that the module's own tests check, and at least one row in every list.
FORM = json.loads((Path(__file__).parent / "data/hosts/dgx-spark.json").read_text())
VERSION = re.compile(r"\d+(\.\d+)+")


@pytest.fixture(params=HOSTS, ids=[path.stem for path in HOSTS])
def host(request: pytest.FixtureRequest) -> dict[str, t.Any]:
    return t.cast(dict[str, t.Any], json.loads(request.param.read_text()))


def is_spark(host: t.Mapping[str, t.Any]) -> bool:
    return any("GB10" in device["name"] for device in host["gpu"]["devices"])


def test_host_is_redacted(host: dict[str, t.Any]) -> None:
    # The sentences in a proof's report are those of the release that wrote it.
    host.get("record", {}).pop("report", None)
    assert redacted(host) == host


def test_host_has_the_form_that_the_module_returns(host: dict[str, t.Any]) -> None:
    assert set(host) - {"record"} == set(FORM)
    for key in ("apt", "gpu", "driver", "os", "kernel", "memory", "cpu", "loader", "clock"):
        assert set(host[key]) == set(FORM[key]), key
    rows = {key: host[key] for key in ("apt_sources", "disk", "python", "cuda_toolkits")}
    for key, entries in {**rows, "pins": host["apt"]["pins"], "devices": host["gpu"]["devices"]}.items():
        known = {"pins": FORM["apt"], "devices": FORM["gpu"]}.get(key, FORM)[key][0]
        assert all(set(row) == set(known) for row in entries), key


def test_values_of_a_host_are_consistent(host: dict[str, t.Any]) -> None:
    assert host["kernel"]["machine"] in ("aarch64", "x86_64")
    assert host["apt"]["architecture"] == {"aarch64": "arm64", "x86_64": "amd64"}[host["kernel"]["machine"]]
    assert 0 < host["memory"]["available_mib"] <= host["memory"]["total_mib"]
    assert any(row["mount"] == "/" and row["total_mib"] for row in host["disk"])
    assert host["cpu"]["count"] > 0 and host["apt"]["packages"] and host["apt_sources"] and host["python"]
    devices = host["gpu"]["devices"]
    assert host["gpu"]["present"] == bool(devices)
    assert host["gpu"]["unified_memory"] == any(device["memory_total_mib"] is None for device in devices)
    for version in (host["driver"]["version"], host["driver"]["cuda_version"]):
        assert VERSION.fullmatch(version) if devices else version is None


def test_every_filter_accepts_the_host(host: dict[str, t.Any]) -> None:
    machine, python = host["kernel"]["machine"], host["python"][0]["version"].split(".")
    fits = {
        **STACK,
        "profile": {"name": "generic", "architectures": "12.0", "compute_capability": None},
        "systems": [{"id": host["os"]["id"], "version": host["os"]["version"]}],
        "machines": [machine],
        "python": {**STACK["python"], "version": ".".join(python[:2])},
        "lock": {"id": "0123456789ab", "wheels": {f"cp{''.join(python[:2])}-linux-{machine}": []}},
    }
    problems = preflight.problems(host, fits, {**SETTINGS, "gpu_required": host["gpu"]["present"]})
    assert all(row["cause"] and row["remedy"] and row["severity"] in ("error", "warning") for row in problems)
    # A temporary state, such as a full disk or a held lock, may be an error; a property of the host must not.
    properties = {"architecture", "operating system", "gpu", "driver", "python", "apt sources"}
    assert [row for row in problems if row["severity"] == "error" and row["check"] in properties] == []

    names = platforms(["host"], {"host": {"ansible_facts": {"spark_info": host}}})
    assert names == {"host": f"{host['os']['id']}{host['os']['version']}-{machine}"}
    row = status.row(
        "host", {**look(), "changed_since_proof": status.changed(look()["proof"], host)}, fits, {}, problems
    )
    assert row["host"] == "host" and row["standing"]
    assert plans.packages(["no-such-package"], host).reasons == ["install no-such-package"]
    assert archives.select(pytorch_stack()["archives"], host)["platform"].startswith("linux-")
    sha256 = {"linux-sbsa": "d3" * 32, "linux-x86_64": "d3" * 32}
    archive = {"component": "libcusparse_lt", "release": "0.8.1", "version": "0.8.1.1", "sha256": sha256}
    library = {"version": "0.8.1", "soname": "libcusparseLt.so.0", "archive": archive}
    settings = {
        "stack": {"cusparselt": library, "cuda": {"major": 13}},
        "cusparselt_state": "present",
        "cusparselt_backends": ["redist"],
        "cusparselt_version": "",
        "cusparselt_local_repo_sha256": "",
        "sparkforge_root": "/opt/sparkforge",
        "__cusparselt_loader_file": "/etc/ld.so.conf.d/sparkforge-cusparselt.conf",
    }
    assert cusparselt.plan(settings, host).steps["archive"]["archive"]["version"] == "0.8.1.1"


def test_a_spark_is_recognized_and_pytorch_can_be_planned_for_it(host: dict[str, t.Any]) -> None:
    if not is_spark(host):
        assert "DGX Spark" not in str(host["os"]["dgx"])
        return
    assert (host["kernel"]["machine"], host["os"]["id"], host["os"]["version"]) == ("aarch64", "ubuntu", "24.04")
    assert host["gpu"]["unified_memory"] and host["gpu"]["devices"][0]["compute_capability"] == "12.1"
    assert host["driver"]["open_kernel_module"] is True
    problems = [row for row in preflight.problems(host, STACK, SETTINGS) if row["severity"] == "error"]
    assert not {row["check"] for row in problems} & {"architecture", "operating system", "gpu", "compute capability"}
    assert all("(role " in line or "(build_toolchain" in line for line in pytorch_plan(host)["missing"])


#: Both methods of installing the default PyTorch.
METHODS = ("build", "wheel")
DEFAULT = yaml.safe_load((Path(load.SHIPPED) / "defaults/main.yml").read_text())["stack_default"]
BUILT = {"llvm", "triton", "pytorch", "torch_extensions"}
#: Allowed reasons for refusal: temporary states of a recorded host, things that other roles install first, and a
#: fabric, which requires an inventory of several hosts.
PASSING_STATES = re.compile(
    r"The file system \S+ has|[\d.]+ GiB of memory are available|dpkg left packages|.* holds /var/|.* are not built for"
    r"|This host lacks|A fabric needs at least two"
)
#: Reasons for refusal that are allowed on a host that is not a Spark.
OTHER_MACHINES = re.compile(
    r"The host runs \w+ [\d.]+, but stack|The host has no NVIDIA GPU, but one is required|Stack \S+ needs Python"
    r"|The package gpg is not installed|No CUDA architecture is known|The profile generic lists no architectures"
)


@functools.cache
def stack_of(method: str, profile: str) -> dict[str, t.Any]:
    paths = load.search_paths([], load.SHIPPED)
    return t.cast(dict[str, t.Any], facts.facts(DEFAULT, method, profile, paths)["stack"])


@pytest.mark.parametrize("method", METHODS)
def test_every_plan_can_be_made_for_the_host(host: dict[str, t.Any], method: str) -> None:
    profile = "gb10" if is_spark(host) else "generic"
    known = {
        "inventory_hostname": "spark01",
        "ansible_check_mode": False,
        "ansible_facts": {"spark_info": host},
        "stack": stack_of(method, profile),
        "sparkforge_accept_nvidia_license": True,
        "__preflight_observation": {"spark_info": host},
        "__stack_meanwhile": {"stack": stack_of("wheel", profile)},
        # The user has to set these, and the default stack has no engine.
        "serving_engine": "vllm",
        "serving_model": "/srv/models/one",
    }
    loader = DataLoader()
    roles = [role for role in ROLES if method == "build" or role not in BUILT]
    for role, plan in zip(roles, LookupModule(loader, Templar(loader, known)).run(roles, known), strict=True):
        refusals = [refusal["cause"] for refusal in plan["refusals"]]
        left = [cause for cause in refusals if not PASSING_STATES.match(cause)]
        assert [cause for cause in left if is_spark(host) or not OTHER_MACHINES.match(cause)] == [], role
        assert plan["settled"] or plan["steps"] or refusals, role
