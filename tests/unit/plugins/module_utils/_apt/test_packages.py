"""Package sets: apt's plan, its errors and the receipt, with recorded output of apt 2.6.1 and dpkg 1.21."""

import itertools
import json
import re
import shutil
import subprocess
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt import (
    apt_get as _apt_get,
    deb_version as _deb_version,
    packages as _packages,
    plan as _plan,
    policy as _policy,
    removal as _removal,
    request as _request,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import apt_state
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host

POLICY = """\
libnccl2:
  Installed: (none)
  Candidate: 2.28.3-1+cuda12.9
  Version table:
     2.28.3-1+cuda12.9 500
        500 file:/srv/repo  Packages
     2.27.7-1+cuda13.0 500
        500 file:/srv/repo  Packages
pinned:
  Installed: (none)
  Candidate: (none)
  Version table:
     1.0-1 -1
        500 file:/srv/repo  Packages
leftover:
  Installed: 3.0-1
  Candidate: 3.0-1
  Version table:
 *** 3.0-1 100
        100 /var/lib/dpkg/status
virtual:
  Installed: (none)
  Candidate: (none)
  Version table:
preferred:
  Installed: (none)
  Candidate: 1.0-1+cuda13.0
  Version table:
     2.0-1+cuda13.0 500
        500 http://ports.example.invalid/ubuntu noble/multiverse arm64 Packages
     1.0-1+cuda13.0 600
        600 https://nvidia.example.invalid/sbsa  Packages
phased:
  Installed: (none)
  Candidate: 1.0-1
  Version table:
     1.0-1 (phased 50%) 500
        500 http://ports.example.invalid/ubuntu noble-updates/main arm64 Packages
"""

SIMULATION = """\
NOTE: This is only a simulation!
      apt-get needs root privileges for real execution.
Reading package lists...
Building dependency tree...
The following packages will be REMOVED:
  libcublas-13-0 libcublas-dev-13-0
Remv libcublas-dev-13-0 [13.1.0.3-1]
Remv libcublas-13-0 [13.1.0.3-1] []
Inst libc6 [2.36-9+deb12u9] (2.36-9+deb12u10 Debian:12.11/stable [amd64]) [libc6:i386 ]
Inst conflicter (1 T [amd64])
Inst nvidia-driver-580 (580.1  [arm64])
Conf conflicter (1 T [amd64])
"""


# -- requests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "-x", "libfoo-", "a b", "foo=", "foo|", "Foo", "foo=1 2", "foo>=", "foo>1", "--allow-downgrades", "../x"],
)
def test_option_or_removal_is_not_a_package_name(text: str):
    with pytest.raises(SparkforgeError, match="name a package"):
        _request.parse_request(text)


@pytest.mark.parametrize(
    ("text", "installed", "expected"),
    [
        ("libfoo", {"libfoo": "1"}, True),
        ("libfoo", {}, False),
        ("libfoo=1.2*", {"libfoo": "1.2.3-1"}, True),
        ("libfoo=1.2*", {"libfoo": "1.3-1"}, False),
        ("libnccl2=*+cuda13.*", {"libnccl2": "2.27.7-1+cuda13.0"}, True),
        ("libnccl2=*+cuda13.*", {"libnccl2": "2.18.5-1-2"}, False),
        ("libcusparselt0-cuda-13|libcusparselt0", {"libcusparselt0": "0.8.1.1-1"}, True),
        ("libcusparselt0=0.8.1[.-]*", {"libcusparselt0": "0.8.10.1-1"}, False),
        ("libcudnn9-dev-cuda-13>=9.13", {"libcudnn9-dev-cuda-13": "9.13.0.50-1"}, True),
        ("libcudnn9-dev-cuda-13>=9.13", {"libcudnn9-dev-cuda-13": "9.28.0.42-1"}, True),
        ("libcudnn9-dev-cuda-13>=9.13", {"libcudnn9-dev-cuda-13": "9.9.0.52-1"}, False),
        ("libnccl2=*+cuda13.*>=2.27.7", {"libnccl2": "2.28.9-1+cuda13.0"}, True),
        ("libnccl2=*+cuda13.*>=2.27.7", {"libnccl2": "2.28.9-1+cuda12.9"}, False),
        ("libnccl2=*+cuda13.*>=2.27.7", {"libnccl2": "2.27.3-1+cuda13.0"}, False),
    ],
)
def test_request_is_satisfied_by_name_glob_or_alternative(text: str, installed: dict, expected: bool):
    assert _request.is_satisfied(text, installed) is expected
    assert _request.missing([text, text], installed) == ([] if expected else [text])


VERSIONS = (
    "0 1 1.0 1.0-1 1.0-1ubuntu1 1.0-1~bpo12+1 1.0~rc1 1.0~ 1.0~~ 1.0+b1 1:0.1 2.28.3-1+cuda12.9 2.27.7-1+cuda13.0 "
    "0.8.10 0.8.9 0.8.1.1-1 0.8.1-1 1.0a 1.0.a 13.1.0.3-1 1:20.1.2-0ubuntu1~24.04.3 1.0-01"
).split()


def test_versions_are_ordered_as_by_dpkg():
    if shutil.which("dpkg") is None:
        pytest.skip("dpkg is not installed on this machine")
    # Checking both relations of each pair would take 462 processes, so dpkg is asked only whether `left lt right`.
    for left, right in itertools.combinations(VERSIONS, 2):
        less = subprocess.run(["dpkg", "--compare-versions", left, "lt", right], check=False).returncode == 0
        assert (_deb_version.compare_versions(left, right) < 0) is less, (left, right)
        assert _deb_version.compare_versions(left, right) == -_deb_version.compare_versions(right, left)


def test_version_ignores_leading_zeros():
    assert _deb_version.compare_versions("1.0-01", "1.0-1") == 0
    assert _deb_version.compare_versions("0:1", "1") == 0
    # Neither prefix is an epoch, because int() refuses both.
    assert _deb_version.compare_versions("\u00b2:1", f"{'1' * 5000}:1") != 0


# -- apt's offers ----------------------------------------------------------------------------------------


def choose(text: str, pins: t.Sequence[dict[str, t.Any]] = ()) -> _policy.Choice:
    return _policy.choose(text, apt_state.parse_policy(POLICY), pins)


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("libnccl2", "libnccl2"), ("libnccl2=*+cuda13.*", "libnccl2=2.27.7-1+cuda13.0"),
        ("libnccl2=2.*", "libnccl2=2.28.3-1+cuda12.9"), ("nope|libnccl2", "libnccl2"), ("libnccl2>=2.28", "libnccl2"),
        ("libnccl2=*+cuda13.*>=2.27", "libnccl2=2.27.7-1+cuda13.0"),
        ("preferred=*+cuda13.*", "preferred=1.0-1+cuda13.0"), ("phased=1.*", "phased=1.0-1"),
    ],
)  # fmt: skip
def test_choice_is_the_version_that_apt_prefers(text: str, argument: str):
    assert choose(text) == _policy.Choice(argument, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nope", "nope is in no"),
        ("virtual", "virtual is in no"),
        ("pinned", "pinned is blocked"),
        ("pinned=1.*", "pinned is blocked"),
        ("libnccl2=9*", "libnccl2 has no version 9*, only 2.28.3-1+cuda12.9, 2.27.7-1+cuda13.0"),
        ("libnccl2=*+cuda13.*>=2.28", "libnccl2 has no version *+cuda13.* and 2.28 or newer, only 2.28.3-1+cuda12.9"),
        ("libnccl2>=3", "libnccl2 has no version 3 or newer, only 2.28.3-1+cuda12.9"),
        ("leftover=3*", "leftover has no version 3*, only 3.0-1"),
        ("nope|pinned", "apt source; pinned is blocked"),
    ],
)
def test_choice_names_reason_of_missing_package(text: str, reason: str):
    choice = choose(text)
    assert choice.argument is None
    assert reason in choice.reason


@pytest.mark.parametrize("package", ["pinned", "other pin*", "/^pin/"])
def test_choice_names_the_blocking_pin(package: str):
    pins = [
        {"file": "/etc/apt/preferences.d/a", "package": "pinned", "pin": "release *", "priority": 600},
        {"file": "/etc/apt/preferences.d/b", "package": "/(/ other", "pin": "release *", "priority": -1},
        {"file": "/etc/apt/preferences.d/c", "package": package, "pin": "release *", "priority": -1},
    ]
    reason = choose("pinned", pins).reason
    assert reason == f"pinned is blocked by the pin of {package} to -1 in /etc/apt/preferences.d/c"


# -- the plan --------------------------------------------------------------------------------------------


def test_plan_is_parsed_from_simulation():
    plan = _plan.parse_simulation(SIMULATION)
    assert plan.remove == [
        _plan.Step("libcublas-dev-13-0", "13.1.0.3-1", None),
        _plan.Step("libcublas-13-0", "13.1.0.3-1", None),
    ]
    assert plan.install == [
        _plan.Step("libc6", "2.36-9+deb12u9", "2.36-9+deb12u10"),
        _plan.Step("conflicter", None, "1"),
        _plan.Step("nvidia-driver-580", None, "580.1"),
    ]


def test_plan_counts_purge_as_removal():
    assert _plan.parse_simulation("Purg libfoo [1.0-1]\n").remove == [_plan.Step("libfoo", "1.0-1", None)]


def test_plan_that_removes_is_refused_with_names():
    with pytest.raises(SparkforgeError, match="would remove libcublas-dev-13-0, libcublas-13-0"):
        _plan.check_plan(_plan.parse_simulation(SIMULATION))


def plan_of(*names: str) -> _plan.Plan:
    return _plan.Plan([_plan.Step(name, None, "1") for name in names], [])


PROTECTED = (
    "nvidia-driver-580-open nvidia-kernel-common-580 nvidia-dkms-580 libnvidia-compute-580 nvidia-fs-dkms "
    "linux-image-6.17.0-1008-nvidia linux-headers-generic linux-modules-nvidia-580 dgx-release nvidia-spark-repo "
    "cuda-drivers nvidia-utils-580 cuda-compute-repo-lowpri"
).split()


@pytest.mark.parametrize("name", PROTECTED)
def test_vendor_packages_are_protected(name: str):
    with pytest.raises(SparkforgeError, match=name):
        _plan.check_plan(plan_of(name))


def test_libraries_and_kernel_headers_are_not_protected():
    libraries = ["cuda-driver-dev-13-0", "libcublas-13-0", "nvidia-gds-13-0", "libcudnn9-cuda-13", "libnccl2"]
    _plan.check_plan(plan_of("linux-libc-dev", "cuda-nvcc-13-0", *libraries))


def test_protected_package_can_be_allowed():
    _plan.check_plan(plan_of("nvidia-fs-dkms", "nvidia-fs"), [r"^nvidia-fs"])
    with pytest.raises(SparkforgeError, match="dgx-release"):
        _plan.check_plan(plan_of("nvidia-fs-dkms", "dgx-release"), [r"^nvidia-fs"])


def test_plan_with_downgrade_is_refused():
    plan = _plan.Plan([_plan.Step("libnccl2", "2.28.3-1", "2.27.7-1")], [])
    with pytest.raises(SparkforgeError, match=r"downgrade libnccl2 from 2.28.3-1 to 2.27.7-1"):
        _plan.check_plan(plan)


# -- errors of apt and dpkg ------------------------------------------------------------------------------

ERRORS = [
    (
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 15302 (python3)\n"
        "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n",
        r"lock /var/lib/dpkg/lock-frontend, which is held by process 15302 \(python3\)",
        "lock_timeout",
    ),
    (
        "dpkg: error: dpkg frontend lock was locked by another process with pid 77\n",
        r"lock, which is held by process 77\.",
        "not delete",
    ),
    (
        "W: OpenPGP signature verification failed: https://x.invalid/ InRelease: Sub-process /usr/bin/sqv returned an "
        "error code (1), error message is: Missing key EB693B3035CD5710E231E123A4B469963BF863CC, which is needed to "
        "verify signature.\n",
        r"key EB693B3035CD5710E231E123A4B469963BF863CC",
        "cuda-keyring",
    ),
    ("E: Unable to locate package nope1\nE: Unable to locate package nope2\n", r"offers nope1, nope2", "names"),
    (
        "E: You don't have enough free space in /var/cache/apt/archives/.\n",
        r"file system is full \(/var/cache/apt/archives/\)",
        "apt-get clean",
    ),
    (
        "E: Failed to fetch http://127.0.0.1:9/x/InRelease  Could not connect to 127.0.0.1:9 (127.0.0.1). - connect "
        "(111: Connection refused)\n",
        r"127.0.0.1:9",
        "sparkforge_proxies",
    ),
    (
        "E: Failed to fetch https://x.invalid/InRelease  Certificate verification failed: The certificate is NOT "
        "trusted.\n",
        r"TLS certificate",
        "sparkforge_ca_certificate",
    ),
    (
        "dpkg: error processing package fails (--configure):\n installed fails package post-installation script "
        "subprocess returned error exit status 3\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n",
        r"dpkg could not finish fails\.",
        "dpkg.log",
    ),
    ("E: Could not open lock file x - open (13: Permission denied)\n", r"not run as root", "become"),
    ("E: Something never seen\n", r"Something never seen", "apt-get check"),
]


@pytest.mark.parametrize(("stderr", "cause", "remedy"), ERRORS)
def test_apt_error_has_cause_and_remedy(stderr: str, cause: str, remedy: str):
    error = _apt_get.diagnose("install libfoo", "", stderr)
    assert re.search(cause, error.cause), error.cause
    assert remedy in error.remedy
    assert error.details["stderr"] == stderr


def test_lock_error_names_the_holders_command():
    holder = {"pid": 42, "command": "/usr/bin/unattended-upgrade", "file": "/var/lib/dpkg/lock-frontend"}
    error = _apt_get.diagnose("install", "", ERRORS[0][0], holder)
    assert "process 42 (/usr/bin/unattended-upgrade)" in error.cause
    assert error.details["holder"] == holder


def test_dependency_error_names_the_package():
    dependency = "broken-dep : Depends: missing but it is not installable"
    stdout = f"The following packages have unmet dependencies:\n {dependency}\n"
    stderr = "E: Unable to correct problems, you have held broken packages.\n"
    assert dependency in _apt_get.diagnose("install broken-dep", stdout, stderr).cause


# -- removable packages ----------------------------------------------------------------------------------


def status(*rows: tuple[str, str]) -> str:
    return "\n".join(
        f"Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n{extra}"
        for name, extra in rows
    )


DEPENDENCIES = _removal.parse_dependencies(
    status(
        ("dev", "Depends: lib (= 1), base\n"), ("lib", "Pre-Depends: base (>= 1)\n"), ("base", ""),
        ("user", "Depends: lib:any (>= 1) | other\n"), ("mail", "Provides: mta (= 1)\n"),
        ("cron", "Depends: exim | mta\n"),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ({"dev"}, {"dev"}), ({"dev", "lib"}, {"dev"}), ({"dev", "lib", "user"}, {"dev", "lib", "user"}),
        ({"base"}, set()), ({"dev", "lib", "base"}, {"dev"}), ({"mail"}, set()), ({"mail", "cron"}, {"mail", "cron"}),
        ({"gone", "dev"}, {"dev"}),
    ],
)  # fmt: skip
def test_removable_packages_are_needed_by_nothing_else(installed: set, expected: set):
    assert _removal.removable(installed, DEPENDENCIES) == expected


def test_half_configured_package_counts_as_installed():
    configuring = status(("a", "")).replace("ok installed", "ok half-configured")
    removed = status(("b", "")).replace("install ok installed", "deinstall ok config-files")
    assert set(_removal.parse_dependencies(f"{configuring}\n{removed}")) == {"a"}


def test_automatic_packages_are_read_from_extended_states():
    text = "Package: a\nArchitecture: amd64\nAuto-Installed: 1\n\nPackage: b\nArchitecture: amd64\nAuto-Installed: 0\n"
    assert _removal.parse_extended_states(text) == {"a"}


def test_lock_is_waited_for_until_the_timeout(monkeypatch: pytest.MonkeyPatch):
    clock = [100.0]

    def sleep(seconds: float) -> None:
        assert clock[0] < 106, "the wait is longer than lock_timeout"
        clock[0] += seconds

    monkeypatch.setattr(_apt_get, "time", types.SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    calls: list[float] = []
    apt = _apt_get.Apt(lambda *_asked: (calls.append(clock[0]) or 100, "", ERRORS[0][0]), lock_timeout=6, poll=2)
    with pytest.raises(SparkforgeError) as raised:
        apt.run(["apt-get", "update"], "update")
    assert (calls, raised.value.details["waited"]) == ([100, 102, 104, 106], 6)


# -- package sets on a simulated host --------------------------------------------------------------------


class FakeApt(_apt_get.Apt):
    """A host with the state files of dpkg and apt, where install and purge edit dpkg's status file."""

    def __init__(self, root: Path) -> None:
        self.calls: list[list[str]] = []
        super().__init__(self._answer, lock_timeout=0, poll=0)
        self.files = root / "host"
        (self.files / "var/lib/dpkg").mkdir(parents=True)
        (self.files / "var/lib/apt").mkdir(parents=True)
        (self.files / "var/lib/dpkg/arch").write_text("amd64\n")
        self.state = apt_state.AptState(Host(root=str(self.files)))
        self.offers = {"dev": "Depends: lib\n", "lib": "", "third": ""}
        self.extra_steps = ""
        self.fail_with = ""
        self.write({})

    def write(self, packages: dict[str, str]) -> None:
        self.installed = packages
        (self.files / "var/lib/dpkg/status").write_text(status(*packages.items()))
        automatic = "".join(f"Package: {n}\nAuto-Installed: 1\n\n" for n in packages if n == "lib")
        (self.files / "var/lib/apt/extended_states").write_text(automatic)

    def _answer(self, argv: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
        assert environment["DEBIAN_FRONTEND"] == "noninteractive"
        self.calls.append(argv)
        if argv[0] == "apt-cache":
            rows = [
                f"{n}:\n  Installed: (none)\n  Candidate: 1\n  Version table:\n"
                "     1 500\n        500 file:/r  Packages\n"
                for n in argv[2:]
                if n in self.offers
            ]
            return 0, "".join(rows), ""
        verb = next((word for word in argv if word in ("install", "purge", "update")), "")
        names = [word.split("=")[0] for word in argv[argv.index(verb) + 1 :] if not word.startswith("-")]
        new = [
            n for n in ("lib", *names) if n not in self.installed and (n != "lib" or "dev" in names or "lib" in names)
        ]
        if "--simulate" in argv:
            lines = [f"Inst {n} (1 T [amd64])" for n in new] if verb == "install" else [f"Purg {n} [1]" for n in names]
            return 0, "\n".join(lines) + "\n" + self.extra_steps, ""
        if verb == "install":
            self.write({**self.installed, **{n: self.offers[n] for n in new[: 1 if self.fail_with else None]}})
        elif verb == "purge":
            self.write({n: e for n, e in self.installed.items() if n not in names})
        return (100, "", self.fail_with) if self.fail_with else (0, "", "")

    def executed(self, verb: str) -> bool:
        return any(verb in call and "--simulate" not in call for call in self.calls)


@pytest.fixture
def apt(tmp_path: Path) -> FakeApt:
    return FakeApt(tmp_path)


def package_set(apt: FakeApt, tmp_path: Path, *packages: str, name: str = "x", **more: t.Any) -> _packages.PackageSet:
    check_mode, warn = more.pop("check_mode", False), more.pop("warn", lambda _text: None)
    options = {"name": name, "packages": packages, "root": str(tmp_path / "root")}
    return _packages.PackageSet(apt, {**options, "allow": [], "update_cache": False, **more}, check_mode, warn)


def receipt(tmp_path: Path, name: str = "x") -> dict:
    return json.loads((tmp_path / f"root/receipts/apt-{name}.json").read_text())


def test_second_run_starts_no_process(apt: FakeApt, tmp_path: Path):
    package_set(apt, tmp_path, "dev").present()
    apt.calls.clear()
    result = package_set(apt, tmp_path, "dev", update_cache=True).present()
    assert not result["changed"]
    assert result["packages"] == {"dev": "1"}
    assert apt.calls == []


def test_check_mode_reports_diff_and_changes_nothing(apt: FakeApt, tmp_path: Path):
    checked = package_set(apt, tmp_path, "dev", check_mode=True, update_cache=True).present()
    assert checked["changed"]
    assert not apt.executed("install")
    assert not apt.executed("update")
    assert not (tmp_path / "root").exists()
    assert package_set(apt, tmp_path, "dev").present()["diff"] == checked["diff"]


def test_all_unknown_packages_are_named_at_once(apt: FakeApt, tmp_path: Path):
    with pytest.raises(SparkforgeError, match=r"2 package\(s\).*nope1 is in no .*nope2 is in no") as raised:
        package_set(apt, tmp_path, "dev", "nope1", "nope2").present()
    assert raised.value.details["unknown"] == ["nope1", "nope2"]
    assert not apt.executed("install")
    assert not (tmp_path / "root").exists()


@pytest.mark.parametrize(
    "extra", ["Remv lib [1]\n", "Inst nvidia-driver-580 (580.1 T [amd64])\n", "Inst lib [2] (1 T [amd64])\n"]
)
def test_refused_plan_leaves_the_host_unchanged(apt: FakeApt, tmp_path: Path, extra: str):
    apt.extra_steps = extra
    before = (apt.files / "var/lib/dpkg/status").read_text()
    with pytest.raises(SparkforgeError):
        package_set(apt, tmp_path, "dev").present()
    assert not apt.executed("install")
    assert (apt.files / "var/lib/dpkg/status").read_text() == before
    assert not (tmp_path / "root").exists()


def test_failed_install_records_packages_that_arrived(apt: FakeApt, tmp_path: Path):
    apt.fail_with = "dpkg: error processing package dev (--configure):\n"
    with pytest.raises(SparkforgeError, match="dpkg could not finish dev"):
        package_set(apt, tmp_path, "dev").present()
    assert receipt(tmp_path)["brought"] == ["lib"]
    apt.fail_with = ""
    package_set(apt, tmp_path).absent()
    assert apt.installed == {}


def test_receipt_is_written_before_the_installation(apt: FakeApt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    apt.write({"third": ""})
    before: list[dict] = []

    def apply(*_arguments: str) -> None:
        before.append(receipt(tmp_path))
        raise SparkforgeError("There is no network.", "Try again.")

    monkeypatch.setattr(apt, "apply", apply)
    with pytest.raises(SparkforgeError, match="no network"):
        package_set(apt, tmp_path, "dev", "third").present()
    assert not (tmp_path / "root/receipts").exists(), "nothing was installed, so nothing is recorded"
    monkeypatch.undo()
    package_set(apt, tmp_path, "dev", "third").present()
    # A run that is killed during the installation leaves the same receipt as a complete run.
    assert before == [receipt(tmp_path)]


def test_absent_keeps_packages_that_others_need(apt: FakeApt, tmp_path: Path):
    package_set(apt, tmp_path, "dev").present()
    apt.write({**apt.installed, "user": "Depends: lib\n"})
    result = package_set(apt, tmp_path).absent()
    assert set(apt.installed) == {"lib", "user"}
    assert [row["name"] for row in result["kept"]] == ["lib"] and "another installed" in result["kept"][0]["reason"]


def test_absent_keeps_packages_marked_manual(apt: FakeApt, tmp_path: Path):
    package_set(apt, tmp_path, "dev").present()
    (apt.files / "var/lib/apt/extended_states").write_text("")
    result = package_set(apt, tmp_path).absent()
    assert set(apt.installed) == {"lib"}
    assert "apt-mark manual" in result["kept"][0]["reason"]


@pytest.mark.parametrize(
    ("first", "second", "reason", "brought"),
    [
        ("dev", ["lib", "third"], "apt-b requires it", ["lib", "third"]),
        ("lib", ["dev"], "a dependency of apt-b needs it", ["dev", "lib"]),
    ],
)
def test_package_that_a_second_set_needs_passes_to_it(apt: FakeApt, tmp_path: Path, first, second, reason, brought):
    package_set(apt, tmp_path, first, name="a").present()
    package_set(apt, tmp_path, *second, name="b").present()
    assert package_set(apt, tmp_path, name="a").absent()["kept"] == [{"name": "lib", "reason": reason}]
    assert receipt(tmp_path, "b")["brought"] == brought
    package_set(apt, tmp_path, name="b").absent()
    assert apt.installed == {}


def test_purge_of_further_packages_is_refused(apt: FakeApt, tmp_path: Path):
    package_set(apt, tmp_path, "dev").present()
    apt.extra_steps = "Remv ubuntu-desktop [1]\n"
    with pytest.raises(SparkforgeError, match="would also change ubuntu-desktop"):
        package_set(apt, tmp_path).absent()
    assert set(apt.installed) == {"dev", "lib"}


def test_broken_source_is_a_warning(apt: FakeApt, tmp_path: Path):
    warnings: list[str] = []
    original = apt._run

    def run(argv: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
        if "update" in argv:
            return 100, "", "W: GPG error: https://spark.invalid InRelease: NO_PUBKEY AAAA\n"
        return original(argv, environment)

    apt._run = run
    assert package_set(apt, tmp_path, "dev", update_cache=True, warn=warnings.append).present()["changed"]
    assert "AAAA" in warnings[0]


def test_lock_denied_to_user_is_not_waited_for():
    stderr = (
        "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\n"
        "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?\n"
    )
    calls: list[list[str]] = []
    apt = _apt_get.Apt(lambda argv, _environment: (calls.append(argv) or 100, "", stderr), lock_timeout=60)
    with pytest.raises(SparkforgeError, match="not run as root"):
        apt.run(["apt-get", "update"], "update")
    assert len(calls) == 1


def test_invalid_expression_is_refused(apt: FakeApt, tmp_path: Path):
    with pytest.raises(SparkforgeError, match="regular expression"):
        package_set(apt, tmp_path, "dev", allow=["("])


def test_apt_get_must_not_remove_packages(apt: FakeApt, tmp_path: Path):
    package_set(apt, tmp_path, "dev").present()
    [install] = [call for call in apt.calls if "install" in call and "--simulate" not in call]
    # apt must not remove unused packages either, because they may be the vendor's.
    assert {"--no-remove", "APT::Get::AutomaticRemove=0", "--no-install-recommends"} <= set(install)


def test_missing_package_after_successful_apt_get_is_reported(apt: FakeApt, tmp_path, monkeypatch):
    monkeypatch.setattr(apt, "apply", lambda *_arguments: None)
    with pytest.raises(SparkforgeError, match="dev is not installed") as raised:
        package_set(apt, tmp_path, "dev").present()
    assert raised.value.remedy and not (tmp_path / "root/receipts/apt-x.json").exists()


@pytest.mark.parametrize(("details", "warns"), [({}, True), ({"holder": {"pid": 1}}, False), ({"waited": 5}, False)])
def test_locked_lists_fail_but_broken_source_only_warns(apt: FakeApt, tmp_path, monkeypatch, details, warns):
    def update() -> None:
        raise SparkforgeError("No lists.", "Wait.", **details)

    warnings: list[str] = []
    monkeypatch.setattr(apt, "update", update)
    dev = package_set(apt, tmp_path, "dev", update_cache=True, warn=warnings.append)
    if warns:
        assert dev.present()["changed"] and warnings == ["No lists. Wait."]
        return
    with pytest.raises(SparkforgeError, match="No lists"):
        dev.present()
    assert warnings == [] and not apt.executed("install")
