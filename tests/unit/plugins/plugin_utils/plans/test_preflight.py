"""Preflight reports all problems at once, each with cause and remedy."""

import copy
import json
import re
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import preflight

CHECKOUT = Path(__file__).parents[5]

STACK: dict[str, t.Any] = {
    "name": "torch-2.15.0",
    "method": "wheel",
    "profile": {"name": "gb10", "architectures": "12.0", "compute_capability": "12.1"},
    "cuda": {"version": "13.0", "major": 13, "suffix": "13-0"},
    "driver_minimum": "580.65.06",
    "systems": [{"id": "ubuntu", "version": "24.04"}],
    "machines": ["aarch64", "x86_64"],
    "python": {"version": "3.12", "minimum": "3.10", "maximum": "3.14"},
    "lock": {"id": "0123456789ab", "wheels": {"cp312-linux-aarch64": [], "cp312-linux-x86_64": []}},
}
SETTINGS: dict[str, t.Any] = {
    "gpu_required": True,
    "accept_license": True,
    "cuda_url": "https://developer.download.nvidia.com",
    "apt_wait": 300,
    "clock_tolerance": 300,
    "disk": [
        {"path": "/opt/sparkforge", "gib": 15, "purpose": "environments"},
        {"path": "/usr", "gib": 8},
        {"path": "/var/cache/apt", "gib": 4},
        {"path": "/tmp", "gib": 2},
    ],
    "memory_minimum_gib": 2,
    "packages": ["cuda-nvcc-13-0", "libcublas-dev-13-0", "libcudnn9-dev-cuda-13", "libnccl-dev"],
    "rdma": False,
}


def host(name: str = "dgx-spark") -> dict[str, t.Any]:
    return t.cast(dict[str, t.Any], json.loads((CHECKOUT / f"tests/unit/data/hosts/{name}.json").read_text()))


def merge(base: t.Mapping[str, t.Any], change: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    result = copy.deepcopy(dict(base))
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result


def judge(observed=None, stack=None, settings=None, name="dgx-spark") -> list[dict[str, str]]:
    return preflight.problems(
        merge(host(name), observed or {}), merge(STACK, stack or {}), merge(SETTINGS, settings or {})
    )


def test_a_healthy_dgx_spark_has_no_problem() -> None:
    assert judge() == []


LAB_STACK = {
    "name": "lab", "systems": [{"id": "debian", "version": "13"}], "machines": ["aarch64"],
    "python": {"version": "3.13"}, "lock": {"wheels": {"cp313-linux-aarch64": []}},
}  # fmt: skip


def test_a_host_without_a_gpu_has_no_problem_if_none_is_required() -> None:
    assert judge(stack=LAB_STACK, settings={"gpu_required": False}, name="debian-13-without-gpu") == []


def test_a_host_without_a_gpu_is_refused_if_one_is_required() -> None:
    problems = judge(stack=LAB_STACK, name="debian-13-without-gpu")
    assert [row["check"] for row in problems] == ["gpu"]
    assert "sparkforge_gpu_required: false" in problems[0]["remedy"]


def test_a_recorded_h200_host_with_the_generic_profile_has_only_warnings() -> None:
    # The record has only the packages that were relevant when it was made.
    problems = judge(
        {"apt": {"packages": {"gpg": "2.4.4"}}},
        stack={"profile": {"name": "generic", "architectures": "9.0", "compute_capability": None}},
        name="ubuntu-24.04-h200",
    )
    assert [(row["check"], row["severity"]) for row in problems] == [("held packages", "warning")]
    assert "libcublas-dev-13-0" in problems[0]["cause"]


def test_unified_memory_of_gb10_is_judged_by_the_hosts_memory() -> None:
    assert host()["gpu"]["devices"][0]["memory_total_mib"] is None
    assert judge(settings={"memory_minimum_gib": 100}) == []
    problems = judge({"memory": {"available_mib": 50000}}, settings={"memory_minimum_gib": 100})
    assert [row["check"] for row in problems] == ["memory"]
    assert "48.8 GiB" in problems[0]["cause"]


def test_less_memory_than_the_profiles_is_a_warning() -> None:
    profile = {"profile": {"memory_minimum_mib": 112640}}
    assert judge(stack=profile) == []
    problems = judge({"memory": {"total_mib": 64000}}, profile)
    assert [(row["check"], row["severity"]) for row in problems] == [("memory", "warning")]
    assert "profile gb10 needs 110.0 GiB" in problems[0]["cause"]
    assert "stack_profile" in problems[0]["remedy"]
    # A host without a GPU is not the profile's machine; if a GPU is required, another check reports that.
    without_gpu = {"gpu": {"devices": []}, "memory": {"total_mib": 64000}}
    assert judge(without_gpu, profile, {"gpu_required": False}) == []


SECOND_SOURCE = {
    "file": "/etc/apt/sources.list.d/cuda-ubuntu2404-sbsa.list",
    "enabled": True,
    "types": ["deb"],
    "uris": ["https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa"],
    "suites": ["/"],
    "components": [],
    "signed_by": "/usr/share/keyrings/other.gpg",
    "keyring_present": True,
}
GB10 = host()["gpu"]["devices"][0]
LOCK_HOLDER = {"pid": 812, "command": "/usr/bin/unattended-upgrade", "file": "/var/lib/dpkg/lock-frontend"}
NO_WHEELS: dict[str, t.Any] = {"wheels": None}


def assert_problem(problems: list[dict[str, str]], check: str, severity: str, text: str) -> None:
    assert [(row["check"], row["severity"]) for row in problems] == [(check, severity)]
    assert text in problems[0]["cause"] + " "
    assert problems[0]["remedy"].endswith(".")
    assert problems[0]["cause"].endswith(".")


def pin(package: str, pinned: str, priority: int) -> dict[str, t.Any]:
    return {"file": "f", "package": package, "pin": pinned, "priority": priority}


@pytest.mark.parametrize(
    ("observed", "check", "severity", "text"),
    [
        ({"os": {"id": "debian", "version": "12"}}, "operating system", "error", "debian 12"),
        ({"driver": {"version": "575.57.08"}}, "driver", "error", "580.65.06"),
        ({"driver": {"version": "580.65"}}, "driver", "error", "580.65,"),
        ({"driver": {"version": "590.44.01"}}, "driver", "warning", "590"),
        ({"driver": {"open_kernel_module": False}}, "kernel module", "error", "proprietary"),
        ({"gpu": {"devices": []}}, "gpu", "error", "not show it"),
        ({"gpu": {"devices": [{**GB10, "compute_capability": "12.0"}]}}, "compute capability", "error", "12.0"),
        ({"apt": {"broken": [{"name": "cups", "state": "half-configured"}]}}, "apt", "error", "cups (half-configured)"),
        ({"apt": {"lock_holder": LOCK_HOLDER}}, "apt lock", "error", "process 812"),
        ({"clock": {"offset": -301.2}}, "clock", "error", "301 s behind"),
        ({"clock": {"offset": 301.2}}, "clock", "error", "301 s ahead of"),
        ({"kernel": {"release": "6.17.0-1008-nvidia"}}, "kernel", "warning", "7.4.0"),
        ({"apt_sources": [*host()["apt_sources"], SECOND_SOURCE]}, "apt source", "error", "other.gpg"),
        ({"apt_sources": [*host()["apt_sources"], {**SECOND_SOURCE, "signed_by": None}]},
         "apt source", "error", "with no Signed-By"),
        ({"unread": [{"probe": "nvidia-smi --query-gpu", "reason": "infoROM"}]}, "gpu", "warning", "infoROM"),
        ({"apt": {"packages": {"nvidia-cuda-toolkit": "12.0.140~12.0.1-4build4"}}},
         "cuda toolkit", "warning", "/usr/bin/nvcc is 12.0"),
        ({"apt_sources": [{**SECOND_SOURCE, "keyring_sha1": True}]}, "apt source", "warning", "with SHA-1"),
        ({"apt_sources": [{**SECOND_SOURCE, "keyring_sha1": True}], "apt": {"packages": {"sqv": "1.3.0-3"}}},
         "apt source", "error", "which apt 3 refuses"),
        ({"apt_sources": [{**SECOND_SOURCE, "keyring_present": False}]}, "apt source", "error", "NO_PUBKEY"),
        ({"apt": {"architecture": "arm64"}, "apt_sources": [
            {**SECOND_SOURCE, "uris": ["https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/"]}]},
         "apt source", "warning", "for another architecture"),
        ({"apt": {"pins": [pin("libcudnn9*", "origin developer.download.nvidia.com", -1)]}},
         "apt pins", "error", "libcudnn9-dev-cuda-13"),
        ({"gpu": {"processes": [{"pid": 9, "name": "python3", "used_mib": 2048}]}},
         "gpu processes", "warning", "2.0 GiB"),
        ({"memory": {"available_mib": 1024}}, "memory", "error", "1.0 GiB"),
    ],
)  # fmt: skip
def test_each_problem_of_a_host_has_cause_and_remedy(observed: dict[str, t.Any], check: str, severity: str, text: str):
    assert_problem(judge(observed), check, severity, text)


@pytest.mark.parametrize(
    ("stack", "check", "text"),
    [
        ({"machines": ["x86_64"]}, "architecture", "aarch64"),
        ({"profile": {"compute_capability": None, "architectures": "9.0;12.0a"}}, "compute capability", "12.0a"),
        ({"python": {"version": "3.9"}, "lock": NO_WHEELS}, "python", "3.10 to 3.14"),
        ({"python": {"version": "3.13"}, "lock": NO_WHEELS}, "python", "3.12.3"),
    ],
)
def test_a_stack_that_does_not_fit_the_host_is_an_error(stack: dict[str, t.Any], check: str, text: str) -> None:
    assert_problem(judge(stack=stack), check, "error", text)


def test_a_lock_without_wheels_is_no_problem_and_the_licence_must_be_accepted() -> None:
    assert judge(stack={"lock": NO_WHEELS}) == []
    assert_problem(judge(settings={"accept_license": False}), "licence", "error", "cuDSS")


def test_a_lock_without_wheels_for_this_python_and_machine_is_named() -> None:
    stack = merge(STACK, {})
    stack["lock"] = {"wheels": {"cp312-linux-x86_64": []}}
    problems = preflight.problems(host(), stack, SETTINGS)
    assert [row["check"] for row in problems] == ["lock"]
    assert "cp312-linux-aarch64" in problems[0]["cause"]


def disk(mount: str, available: int, device: str, number: str) -> dict[str, t.Any]:
    size = {"total_mib": 99999, "available_mib": available}
    return {"mount": mount, "device": device, "fstype": "x", "id": number, **size}


def test_space_on_one_file_system_is_added_up() -> None:
    problems = judge({"disk": [disk("/", 28 * 1024, "/dev/a", "8:1")]})
    assert [row["check"] for row in problems] == ["disk"]
    assert "29 GiB are needed" in problems[0]["cause"]
    assert judge({"disk": [disk("/", 29 * 1024, "/dev/a", "8:1")]}) == []


def test_each_path_is_judged_by_its_own_file_system() -> None:
    disks = [disk("/", 14 * 1024, "/dev/a", "8:1"), disk("/opt", 16 * 1024, "/dev/b", "8:2")]
    assert judge({"disk": disks}) == []
    disks[1]["available_mib"] = 10 * 1024
    assert ["/opt" in row["cause"] for row in judge({"disk": disks})] == [True]


def test_a_bind_mount_shares_the_space_of_its_device() -> None:
    disks = [disk("/", 20 * 1024, "/dev/a", "8:1"), disk("/opt", 20 * 1024, "/dev/a", "8:1")]
    assert "29 GiB" in judge({"disk": disks})[0]["cause"]


def test_a_file_system_whose_size_is_unknown_is_not_judged() -> None:
    disks = [disk("/", 20 * 1024, "/dev/a", "8:1"), {**disk("/opt", 0, "nas:/x", "0:9"), "available_mib": None}]
    assert judge({"disk": disks}) == []


def test_little_space_on_a_provisioned_host_is_a_warning() -> None:
    problems = judge(
        {"disk": [disk("/", 1024, "/dev/a", "8:1")], "managed_files": {"/etc/ld.so.conf.d/sparkforge-x.conf": "0"}}
    )
    assert [(row["check"], row["severity"]) for row in problems] == [("disk", "warning")]


def test_a_foreign_file_with_our_prefix_does_not_make_a_host_provisioned() -> None:
    small = {"disk": [disk("/", 1024, "/dev/a", "8:1")], "managed_files": {"/etc/dpkg/dpkg.cfg.d/sparkforge-lab": "0"}}
    assert [row["severity"] for row in judge(small)] == ["error"]


def test_gpu_problems_are_warnings_if_no_gpu_is_required() -> None:
    problems = judge({"driver": {"version": "550.1"}}, settings={"gpu_required": False})
    assert [(row["check"], row["severity"]) for row in problems] == [("driver", "warning")]


def test_missing_gpu_is_explained_by_nvidia_smi_dkms_and_signatures() -> None:
    def remedy(reason: str, **host: t.Any) -> str:
        gpu = {"gpu": {"devices": []}, "unread": [{"probe": "nvidia-smi -q", "reason": reason}]}
        (problem,) = judge({**gpu, **host})
        return "{cause} {remedy}".format(**problem)

    mismatch, unloaded = "Driver/library version mismatch", "NVIDIA-SMI couldn't communicate with the NVIDIA driver"
    assert mismatch in remedy(mismatch)
    assert "DKMS" not in remedy(mismatch) and "signed modules" not in remedy(unloaded)
    assert "--reinstall nvidia-dkms-595-open" in remedy(mismatch, apt={"packages": {"nvidia-dkms-595-open": "595.71"}})
    assert "signed modules" in remedy(unloaded, kernel={"cmdline": "quiet module.sig_enforce=1"})


def test_a_proprietary_module_is_named_as_the_reason_for_a_missing_gpu() -> None:
    checks = [row["check"] for row in judge({"gpu": {"devices": []}, "driver": {"open_kernel_module": False}})]
    assert checks == ["gpu", "kernel module"]


KERNEL_7 = {"kernel": {"release": "7.0.0-1019-nvidia"}}
KHO = {"apt": {"packages": {"nvidia-spark-grub-kho": "1.0-1"}}}


@pytest.mark.parametrize(("rdma", "severity"), [(False, "warning"), (True, "error")])
def test_kernel_7_without_the_package_for_its_reserve_names_it(rdma: bool, severity: str) -> None:
    (problem,) = judge(KERNEL_7, settings={"rdma": rdma})
    assert (problem["check"], problem["severity"]) == ("kernel", severity)
    assert "9.3 GiB" in problem["cause"] and ("RDMA" in problem["cause"]) is rdma
    assert "install nvidia-spark-grub-kho`" in problem["remedy"]


def test_kernel_7_booted_before_the_package_needs_a_reboot() -> None:
    (problem,) = judge(merge(KERNEL_7, KHO))
    assert problem["remedy"].startswith("Reboot: nvidia-spark-grub-kho 1.0-1 is installed")


def test_kernel_7_of_another_system_has_no_such_package() -> None:
    observed = {**KERNEL_7, "os": {"dgx": None}}
    assert judge(observed) == []
    (problem,) = judge(observed, settings={"rdma": True})
    assert "kho=off" in problem["remedy"]


@pytest.mark.parametrize("rdma", [False, True])
def test_dgx_os_7_6_with_that_package_has_no_problem(rdma: bool) -> None:
    assert judge(name="dgx-spark-7.6", settings={"rdma": rdma}) == []


def test_gpg_is_needed_to_add_the_source_of_nvidia() -> None:
    observed = host("debian-13-without-gpu")
    del observed["apt"]["packages"]["gpg"]
    settings = {**SETTINGS, "gpu_required": False}
    problems = preflight.problems(observed, merge(STACK, LAB_STACK), settings)
    assert [(row["check"], row["severity"]) for row in problems] == [("gpg", "error")]
    assert "apt-get install gpg" in problems[0]["remedy"]
    assert preflight.problems(observed, merge(STACK, LAB_STACK), {**settings, "packages": []}) == []
    observed["apt_sources"].append({**SECOND_SOURCE, "keyring_present": True})
    assert preflight.problems(observed, merge(STACK, LAB_STACK), settings) == []


def test_a_disabled_second_source_is_no_problem() -> None:
    assert judge({"apt_sources": host()["apt_sources"] + [{**SECOND_SOURCE, "enabled": False}]}) == []


@pytest.mark.parametrize(
    ("pins", "blocked"),
    [
        ([("*", "origin developer.download.nvidia.com", -1)], True),
        ([("*", 'origin "developer.download.nvidia.com"', -10)], True),
        ([("*", "origin example.com", -1)], False),
        ([("/^libcudnn9-/", "release *", -1)], True),
        ([("/^(libcudnn9-/", "release *", -1)], False),
        (
            [
                ("libcudnn9-dev-cuda-13", "origin developer.download.nvidia.com", 900),
                ("*", "origin developer.download.nvidia.com", -1),
            ],
            False,
        ),
        ([("libcudnn9-dev-cuda-13", "version 9.14.*", -1)], False),
    ],
)
def test_a_pin_that_forbids_a_package_of_nvidia_is_a_problem(pins: list[tuple[str, str, int]], blocked: bool) -> None:
    rows = {"apt": {"pins": [pin(*row) for row in pins]}}
    problems = judge(rows, settings={"packages": ["libcudnn9-dev-cuda-13"]})
    assert [row["check"] for row in problems] == (["apt pins"] if blocked else [])


def test_a_pin_on_a_package_that_is_installed_is_no_problem() -> None:
    assert judge({"apt": {"pins": [pin("cuda-*", "origin developer.download.nvidia.com", -1)]}}) == []


def test_a_python_from_outside_apt_needs_headers_and_venv() -> None:
    python = {"path": "/usr/local/bin/python3.13", "version": "3.13.1", "headers": False, "venv": True}
    stack = {"python": {"version": "3.13"}, "lock": {"wheels": None}}
    assert "/usr/local/bin/python3.13 lacks its headers" in judge({"python": [python]}, stack)[0]["cause"]
    assert judge({"python": [{**python, "headers": True}]}, stack) == []


def test_a_python_that_apt_offers_is_no_problem() -> None:
    stack = {"python": {"version": "3.13"}, "lock": {"wheels": None}}
    assert judge({"apt": {"offers": {"python3.13": ["3.13.5-1"]}}}, stack) == []


def test_an_empty_observation_raises_no_exception() -> None:
    checks = {row["check"] for row in preflight.problems({}, STACK, SETTINGS)}
    assert {"architecture", "operating system", "gpu", "python"} <= checks


def test_a_plan_refuses_errors_and_notes_warnings() -> None:
    observed = {**host(), "gpu": {**host()["gpu"], "processes": [{"pid": 7, "name": "python3", "used_mib": 2048}]}}
    observed["environments"] = {"torch": {"torch": "2.16.0", "stack": {}}}
    early = {**host()["clock"], "offset": 9000.0}
    plan = preflight.plan(
        {
            "stack": {**STACK, "versions": {"torch": "2.15.0"}, "named": False},
            "sparkforge_gpu_required": "true",
            # The option -e sets strings.
            "sparkforge_accept_nvidia_license": "false",
            "sparkforge_nvidia_url": SETTINGS.get("cuda_url", ""),
            "sparkforge_root": "/opt/sparkforge",
            "preflight_apt_wait": "0",
            "preflight_clock_tolerance": "300",
            "preflight_disk_minimum": [],
            "preflight_memory_minimum_gib": "2",
            "preflight_packages": [],
            "preflight_rdma": "no",
            # The clock is read at the first observation, before any wait.
            "__preflight_observation": {"spark_info": {"clock": early}},
        },
        observed,
    )
    assert [row["check"] for row in plan.refusals] == ["older PyTorch", "licence", "clock"]
    assert [note.split(":")[0] for note in plan.notes] == ["gpu processes"]
    assert plan.steps == {}


@pytest.mark.parametrize(
    ("command", "is_update"),
    [
        ("/usr/bin/python3 /usr/bin/unattended-upgrade", True),
        ("/bin/sh /usr/lib/apt/apt.systemd.daily install", True),
        ("/bin/bash /usr/bin/nvidia-spark-run-apt-upgrade-once", True),
        ("/usr/libexec/packagekitd", True),
        ("apt-get install vim", False),
        ("python3 /tmp/hold.py", False),
    ],
)
def test_automatic_updaters_are_recognized_by_their_command(command: str, is_update: bool) -> None:
    variables = yaml.safe_load((CHECKOUT / "roles/preflight/vars/main.yml").read_text())
    assert bool(re.search(variables["__preflight_updaters"], command)) == is_update
