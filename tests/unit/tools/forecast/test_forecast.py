"""The forecast: with this machine's apt and packages named like the vendor's, for recorded Sparks, and for a fleet."""

import datetime
import hashlib
import html
import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action import fleet_report, forecast as action
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.next_upgrade import UpdateInfo
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host
from ansible_collections.sparkforge.dgx_spark.tools.forecast import forecast, ledger

from tests.unit.act import act
from tests.unit.apt_tree import Tree

LEDGER = ledger.load()
TODAY = datetime.date(2026, 11, 26)
HOSTS = Path(__file__).parents[2] / "data/hosts"
DRIVER = "580.173.02-0ubuntu0.24.04.1"


def spark(tree: Tree) -> None:
    """Install packages with the names and dependencies of a Spark's vendor packages."""
    tree.offer("libnvidia-compute-580", DRIVER)
    tree.offer("linux-modules-nvidia-580-open-6.17.0-1021-nvidia", "6.17.0-1021.21")
    tree.offer("linux-image-6.17.0-1021-nvidia", "6.17.0-1021.21")
    tree.offer("linux-image-nvidia", "6.17.0-1021.21", Depends=["linux-image-6.17.0-1021-nvidia"])
    tree.offer("nvidia-driver-580-open", DRIVER, Depends=[f"libnvidia-compute-580 (= {DRIVER})"])
    tree.offer("libnccl2", "2.28.3-1+cuda13.0")
    tree.offer("nvidia-spark-repo", "1.1-1")
    tree.offer("dgx-spark-ota-update-meta", "26.04.1", Depends=["nvidia-spark-repo"])
    tree.update()
    tree.install("linux-image-nvidia", "nvidia-driver-580-open", "libnccl2", "dgx-spark-ota-update-meta",
                 "linux-modules-nvidia-580-open-6.17.0-1021-nvidia")  # fmt: skip


@pytest.fixture(scope="module")
def spark_tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = Tree(tmp_path_factory.mktemp("spark"))
    spark(tree)
    return tree


@pytest.fixture
def tree(spark_tree: Tree, tmp_path: Path) -> Tree:
    return spark_tree.copy(tmp_path / "copy")


def judge(tree: Tree, **options: t.Any) -> forecast.Forecast:
    packages = tree.apt.packages()
    observation = {
        **forecast.EMPTY,
        "apt": {"packages": packages.versions, "held": packages.held, "broken": packages.broken},
        "kernel": {"release": "6.17.0-1021-nvidia"},
        "gpu": {"hardware": True},
    }
    update = UpdateInfo(Host(str(tree.path), run=tree.run), **options).observe(packages.versions)
    return forecast.judge("spark01", observation, update, LEDGER, TODAY)


def rules(row: forecast.Forecast) -> set[str]:
    return {finding["rule"] for finding in row["findings"]} - {"lists-old"}


def test_a_small_update_is_a_go_and_changes_nothing_on_the_host(tree: Tree) -> None:
    tree.offer("nvidia-spark-repo", "1.2-1")
    tree.update()

    def state() -> dict[str, str]:
        files = [path for path in tree.path.rglob("*") if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = state()
    row = judge(tree)
    assert row["answer"] == forecast.GO and rules(row) == set()
    assert [step["name"] for step in row["plan"]["install"]] == ["nvidia-spark-repo"]
    assert row["steps"] == ["Upgrade with sudo apt full-upgrade; then reboot.", forecast.PROVE]
    assert state() == before


def test_a_kernel_without_driver_modules_is_held(tree: Tree) -> None:
    tree.offer("linux-image-6.17.0-1022-nvidia", "6.17.0-1022.22")
    tree.offer("linux-image-nvidia", "6.17.0-1022.22", Depends=["linux-image-6.17.0-1022-nvidia"])
    tree.update()
    row = judge(tree)
    assert row["answer"] == forecast.HOLD and "kernel-without-driver" in rules(row)
    assert {"linux-image-nvidia", "linux-image-6.17.0-1022-nvidia"} <= set(row["hold"])
    # The new kernel is not installed yet, so only the package that depends on it can be held.
    assert row["steps"][0] == "sudo apt-mark hold linux-image-nvidia" and row["steps"][-1] == forecast.PROVE
    tree.must("apt-mark", "hold", "linux-image-nvidia")
    assert "nothing to upgrade" in judge(tree)["steps"][0]
    tree.must("apt-mark", "unhold", "linux-image-nvidia")
    tree.offer("linux-modules-nvidia-580-open-6.17.0-1022-nvidia", "6.17.0-1022.22")
    tree.offer(
        "linux-image-nvidia", "6.17.0-1022.22",
        Depends=["linux-image-6.17.0-1022-nvidia", "linux-modules-nvidia-580-open-6.17.0-1022-nvidia"],
    )  # fmt: skip
    tree.update()
    row = judge(tree)
    assert "kernel-without-driver" not in rules(row) and row["kernel"]["new"] == ["6.17.0-1022-nvidia"]


def test_a_removed_driver_blocks_the_upgrade(tree: Tree) -> None:
    new = "590.48.01-0ubuntu1"
    tree.offer("libnvidia-compute-590", new, Conflicts=["libnvidia-compute-580"], Replaces=["libnvidia-compute-580"])
    tree.offer("libnccl2", "2.30.7-1+cuda13.2", Depends=["libnvidia-compute-590"])
    tree.offer("nvidia-driver-580-open", new, Depends=["libnvidia-compute-590"])
    tree.update()
    row = judge(tree)
    assert {"vendor-packages-removed", "driver-branch", "driver-until-reboot"} <= rules(row)
    assert row["answer"] == forecast.HOLD and row["blocked"] == ["vendor-packages-removed"]
    assert row["driver"] == {"before": "580.173.02", "after": "590.48.01"}
    assert len(row["steps"]) == 1 and "Deal with vendor-packages-removed first" in row["steps"][0]
    assert rules(judge(tree, mode="safe")) == {"kept-back"}


def test_phased_updates_and_holds_of_apt_are_respected(tree: Tree) -> None:
    (tree.path / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    tree.config.write_text(tree.config.read_text() + f'Dir::Etc::machine-id "{tree.path}/etc/machine-id";\n')
    tree.offer("nvidia-spark-repo", "1.2-1", fields="Phased-Update-Percentage: 0\n")
    tree.offer("libnccl2", "2.30.7-1+cuda13.2")
    tree.update()
    tree.must("apt-mark", "hold", "libnccl2")
    row = judge(tree)
    assert {"held-packages", "kept-back"} <= rules(row)
    assert "nvidia-spark-repo" not in {step["name"] for step in row["plan"]["install"]}


def test_packages_that_autoremove_would_remove_are_named(tree: Tree) -> None:
    tree.must("apt-mark", "auto", "nvidia-spark-repo")
    tree.offer("dgx-spark-ota-update-meta", "26.09.2")
    tree.update()
    row = judge(tree)
    (finding,) = [finding for finding in row["findings"] if finding["rule"] == "autoremove-vendor"]
    assert finding["why"] == ["nvidia-spark-repo"] and row["answer"] == forecast.STEPS and row["blocked"] == []


def test_an_unreachable_source_is_a_hold_with_its_name(tree: Tree) -> None:
    (tree.path / "etc/apt/sources.list").write_text("deb [trusted=yes] http://127.0.0.1:9/x ./\n")
    row = judge(tree, refresh=True)
    assert row["answer"] == forecast.HOLD and "apt-refuses" in row["blocked"]
    assert "127.0.0.1:9" in json.dumps(row["findings"])


def test_remedy_of_an_apt_problem_comes_from_the_problem() -> None:
    problem = {"cause": "apt could not simulate dist-upgrade: Unmet dependencies.", "remedy": "Pin the other source."}
    (finding,) = forecast.judge("spark01", forecast.EMPTY, {"plan": {"problem": problem}}, LEDGER, TODAY)["findings"]
    assert (finding["rule"], finding["remedy"]) == ("apt-refuses", "Pin the other source.")


FIRMWARE_UPDATE = [{"name": "SoC Firmware", "version": "1", "state": "success", "error": None, "update": "2"}]
CURL = {"name": "curl", "previous": "8.5.0-2ubuntu10.6", "version": "8.5.0-2ubuntu10.7"}
OLD_NCCL = {"name": "libnccl2", "previous": None, "version": "2.18.5-1-2"}
DRIVER_STEP = {"name": "libnvidia-compute-580", "previous": DRIVER, "version": "580.178.04-0ubuntu0.24.04.1"}


@pytest.mark.parametrize(
    ("step", "installed", "firmware", "steps"),
    [
        (CURL, {}, [], ["Dashboard, or with sudo apt full-upgrade;"]),
        (CURL, {}, FIRMWARE_UPDATE, ["Dashboard, or with sudo apt full-upgrade, and sudo fwupdmgr"]),
        ({**OLD_NCCL, "previous": "2.17.1-1"}, {"libnccl2": "2.17.1-1"}, [],
         ["sudo apt-mark hold libnccl2", "Upgrade with sudo apt full-upgrade;"]),
        (OLD_NCCL, {}, [], ["Deal with nccl-of-ubuntu first"]),
        (DRIVER_STEP, {"libnvidia-compute-580": DRIVER}, [], ["Dashboard, or with", "for driver-until-reboot"]),
        (None, {}, [], ["nothing to upgrade"]),
    ],
)  # fmt: skip
def test_a_forecast_ends_with_the_next_steps(step, installed, firmware, steps):
    observation = {**forecast.EMPTY, "os": {"dgx": {"version": "7.6"}}, "apt": {"packages": installed}}
    update = {"plan": {"install": [step] if step else [], "remove": []}, "firmware": firmware}
    row = forecast.judge("spark01", observation, update, LEDGER, TODAY)
    is_upgraded = any("full-upgrade" in step or "Dashboard" in step for step in steps)
    expected = [*steps, *([forecast.PROVE] if is_upgraded else [])]
    assert all(part in step for part, step in zip(expected, row["steps"], strict=True))
    text = forecast.as_text(forecast.fleet([row], LEDGER, TODAY))
    ending = text[text.index("steps for spark01:") :].splitlines()
    assert ending[1 : 1 + len(row["steps"])] == [f"  {number}. {step}" for number, step in enumerate(row["steps"], 1)]


def test_a_hostile_package_name_is_quoted_in_the_printed_command() -> None:
    name = "libnccl2;reboot"
    update = {"plan": {"install": [{**OLD_NCCL, "previous": "2.17"}, {**OLD_NCCL, "name": name, "previous": "2.17"}]}}
    observation = {**forecast.EMPTY, "apt": {"packages": {"libnccl2": "2.17", name: "2.17"}}}
    row = forecast.judge("spark01", observation, update, LEDGER, TODAY)
    assert row["steps"][0] == "sudo apt-mark hold libnccl2 'libnccl2;reboot'"


SPARKS = sorted(path.stem for path in HOSTS.glob("*.json") if "GB10" in path.read_text())
#: The hosts with packages, pins, kernels and firmware of a real Spark (data/hosts/README.md).
REAL = ("asus-gx10-ota2604", "dgx-spark-ota2607")


def upgrade_to(name: str, versions: dict[str, str], **update: t.Any) -> forecast.Forecast:
    """Return the forecast for a real Spark on which apt would install these versions."""
    observation, recorded = forecast.of_record(json.loads((HOSTS / f"{name}.json").read_text()))
    before = observation["apt"]["packages"]
    install = [{"name": name, "previous": before.get(name), "version": version} for name, version in versions.items()]
    plan = {"install": install, "remove": [], "problem": None}
    return forecast.judge(name, observation, {**recorded, "plan": plan, **update}, LEDGER, TODAY)


@pytest.mark.parametrize("name", REAL)
def test_a_real_spark_without_upgrades_has_nothing_to_do(name: str) -> None:
    row = upgrade_to(name, {})
    # The installed nvidia-settings from branch 610 is not a driver.
    assert row["driver"] == {"before": "580.173.02", "after": "580.173.02"}
    assert row["kernel"]["after"] == "6.17.0-1029-nvidia" and rules(row) == set()
    assert row["answer"] == forecast.GO and "nothing to upgrade" in row["steps"][0]


def test_new_module_of_dkms_needs_a_key_for_secure_boot() -> None:
    module = {"nvidia-fs-dkms": "2.26.6-1"}
    row = upgrade_to(REAL[0], module, secure_boot={"on": True, "key": False})
    assert row["blocked"] == ["secure-boot-unsigned"]
    (finding,) = [finding for finding in row["findings"] if finding["rule"] == "secure-boot-unsigned"]
    assert finding["why"] == ["nvidia-fs-dkms"]
    for secure_boot in ({"on": True, "key": True}, {"on": False, "key": False}):
        assert "secure-boot-unsigned" not in rules(upgrade_to(REAL[0], module, secure_boot=secure_boot))
    assert "secure-boot-unsigned" not in rules(upgrade_to(REAL[0], {}, secure_boot={"on": True, "key": False}))


def test_missing_space_has_a_unit() -> None:
    boot = {"available_mib": 90, "total_mib": 700, "read_only": False}
    (finding,) = [row for row in upgrade_to(REAL[0], KERNEL_7, boot=boot)["findings"] if row["rule"] == "boot-full"]
    assert finding["why"][0].endswith(" MiB")


@pytest.mark.parametrize(
    ("package", "writes"),
    [("linux-firmware", True), ("initramfs-tools", True), ("nvidia-fs-dkms", True), ("initramfs-toolset", False)],
)
def test_packages_that_rewrite_the_initial_ram_disk_need_room(package: str, writes: bool) -> None:
    boot = {"available_mib": 31, "total_mib": 488, "read_only": False}
    assert ("boot-full" in rules(upgrade_to(REAL[0], {package: "9"}, boot=boot))) == writes


KERNEL_7_UPDATE = {
    "plan": {
        "install": [{"name": "linux-image-7.0.0-1019-nvidia", "previous": None, "version": "7.0.0-1019.19"}],
        "remove": [],
        "problem": None,
    },
    "infiniband": ["rocep1s0f0"],
}
KERNEL_7 = {
    **dict.fromkeys(("linux-nvidia-hwe-24.04", "linux-image-nvidia-hwe-24.04"), "7.0.0-1019.19~24.04.2"),
    **dict.fromkeys(("linux-image-7.0.0-1019-nvidia", "linux-headers-7.0.0-1019-nvidia"), "7.0.0-1019.19~24.04.2"),
    "linux-modules-nvidia-580-open-7.0.0-1019-nvidia": "7.0.0-1019.19~24.04.2+1",
}


@pytest.mark.parametrize("name", REAL)
def test_kernel_7_on_a_real_spark_needs_the_package_against_kho(name: str) -> None:
    assert "kernel-7-kho" in upgrade_to(name, KERNEL_7)["blocked"]
    row = upgrade_to(name, {**KERNEL_7, "nvidia-spark-grub-kho": "1.0-1"})
    assert rules(row) == {"kernel-7-connectx-mix"} and row["answer"] == forecast.GO
    kernel = list(KERNEL_7)[:4]
    without = upgrade_to(name, {**{package: KERNEL_7[package] for package in kernel}, "nvidia-spark-grub-kho": "1.0-1"})
    assert set(without["hold"]) == set(kernel) and "kernel-without-driver" in rules(without)
    assert without["steps"][0] == "sudo apt-mark hold linux-image-nvidia-hwe-24.04 linux-nvidia-hwe-24.04"


def test_the_kho_package_with_kernel_6_17_0_1032_is_noted_in_a_fabric() -> None:
    kernel = {
        "linux-image-6.17.0-1032-nvidia": "6.17.0-1032.32",
        "linux-modules-nvidia-580-open-6.17.0-1032-nvidia": "6.17.0-1032.32",
    }
    row = upgrade_to(REAL[0], {**kernel, "nvidia-spark-grub-kho": "1.0-1"})
    assert rules(row) == {"kernel-6.17.0-1032-kho"} and row["answer"] == forecast.GO
    assert rules(upgrade_to(REAL[0], kernel)) == set()
    assert rules(upgrade_to(REAL[0], {**kernel, "nvidia-spark-grub-kho": "1.0-1"}, infiniband=[])) == set()


def test_a_driver_of_branch_610_is_held_on_a_real_spark() -> None:
    packages = ("nvidia-driver-610-open", "libnvidia-compute-610")
    row = upgrade_to(REAL[1], dict.fromkeys(packages, "610.57.04-0ubuntu0.24.04.3"))
    assert "driver-branch" in rules(row) and row["answer"] == forecast.HOLD
    (finding,) = [finding for finding in row["findings"] if finding["rule"] == "driver-branch"]
    assert "610" in finding["breaks"] and any("28659" in source["url"] for source in finding["source"])


def test_firmware_versions_are_shown_and_firmware_precedes_the_driver() -> None:
    success, unknown = {"state": "success", "error": None}, {"state": None, "error": None, "update": None}
    firmware = [
        {**success, "name": "Embedded Controller", "version": "0x03000302", "update": "0x03000508"},
        {**success, "name": "UEFI Device Firmware", "version": "0x0200980f", "update": "0x02009b0b"},
        {**unknown, "name": "KEK CA", "version": "2023"},
        {**unknown, "name": "MT2910 Family (ConnectX-7)", "version": ""},
    ]
    driver = {"libnvidia-compute-580": "580.178.04-0ubuntu0.24.04.1"}
    row = upgrade_to("dgx-spark-ota2607", driver, firmware=firmware)
    assert "firmware-order" in row["blocked"] and row["firmware"][-1]["name"] == "KEK CA"
    text = forecast.as_text(forecast.fleet([row], LEDGER, TODAY))
    assert "Embedded Controller 0x03000302 to 0x03000508, UEFI Device Firmware 0x0200980f to 0x02009b0b" in text
    assert forecast.cells(upgrade_to(REAL[0], {}))[4] == "no update"
    assert forecast.cells(upgrade_to(REAL[0], {}, firmware=None))[4] == "not known"


def test_a_real_spark_with_older_firmware_updates_it_before_the_driver() -> None:
    row = upgrade_to("asus-gx10-ota2.2", {})
    assert row["answer"] == forecast.GO and "sudo fwupdmgr upgrade" in row["steps"][0]
    assert "0x02000005 to 0x02000006" in forecast.cells(row)[4]
    row = upgrade_to("asus-gx10-ota2.2", {"libnvidia-compute-580": "580.178.04-0ubuntu0.24.04.1"})
    assert row["blocked"] == ["firmware-order"] and rules(row) == {"firmware-order", "driver-until-reboot"}
    assert upgrade_to("asus-gx10-ota2.2", KERNEL_7)["blocked"] == ["firmware-order", "kernel-7-kho"]


def test_an_upgrade_to_driver_580_173_02_is_noted() -> None:
    name, previous = "libnvidia-compute-580", "580.159.03-0ubuntu0.24.04.1"
    observation = {**forecast.EMPTY, "apt": {"packages": {name: previous}}}
    update = {"plan": {"install": [{"name": name, "previous": previous, "version": DRIVER}]}}
    row = forecast.judge("spark01", observation, update, LEDGER, TODAY)
    assert rules(row) == {"driver-580.173.02", "driver-until-reboot"} and row["answer"] == forecast.STEPS


@pytest.mark.parametrize("name", SPARKS)
def test_a_record_without_a_plan_is_never_a_go(name: str) -> None:
    row = act(action.ActionModule, {"records": [str(HOSTS / f"{name}.json")]})["hosts"][f"{name}.json"]
    assert row["answer"] == forecast.HOLD and row["findings"][0]["rule"] == "plan-unknown"


def test_sixty_four_hosts_are_one_table_with_each_finding_once() -> None:
    observation = {**forecast.EMPTY, "kernel": {"release": "6.17.0-1021-nvidia"}}
    rows = [
        {"host": f"spark{number:02}", "observation": observation, "update": KERNEL_7_UPDATE} for number in range(1, 64)
    ]
    rows.append({"host": "lost", "problem": "No route to\nhost"})
    result = act(action.ActionModule, {"rows": rows})
    lines = result["shown"].strip().splitlines()
    table = lines[: lines.index("")]
    assert len(table) == 65 and table[0].split()[:2] == ["host", "answer"]
    assert table[-1].split() == ["lost", "not", "read", "No", "route", "to", "host"]
    assert result["shown"].count("(kernel-7-kho)") == 1 and "and 51 more" in result["shown"]
    assert result["summary"] == {"go": 0, "go with steps": 63, "hold": 0, "not read": 1}
    assert "days old" in result["shown"]


def test_the_file_has_the_printed_json(tmp_path: Path) -> None:
    rows = [{"host": "<b>spark</b>", "observation": forecast.EMPTY, "update": {"plan": {"install": [], "remove": []}}}]
    result = act(action.ActionModule, {"rows": rows, "format": "json", "path": str(tmp_path / "forecast.json")})
    assert json.loads(result["shown"])["hosts"][0]["answer"] == "go"
    assert json.loads((tmp_path / "forecast.json").read_text()) == json.loads(result["shown"])


def test_a_forecast_that_read_no_host_fails_after_its_output(tmp_path: Path) -> None:
    rows = [{"host": name, "problem": f"No route to {name}"} for name in ("lost", "gone")]
    result = act(action.ActionModule, {"rows": rows, "path": str(tmp_path / "forecast.txt")})
    assert result["failed"] and "No route to lost" in result["cause"] and result["remedy"]
    assert "No route to gone" in (tmp_path / "forecast.txt").read_text()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"record": 3}', " " * action.LARGEST + "{}"])
def test_an_invalid_record_is_one_message(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    result = act(action.ActionModule, {"records": [str(tmp_path / "x.json")]})
    assert result["failed"] and "cannot be forecast" in result["cause"] and result["remedy"]


@pytest.mark.parametrize(
    "invalid", [{"apt": {"packages": [1]}}, {"apt": {"broken": [{}]}}, {"kernel": "x"}, {"os": {"dgx": ["7"]}}]
)
def test_an_invalid_observation_does_not_affect_other_hosts(invalid: dict[str, t.Any]) -> None:
    update = {"plan": {"install": [], "remove": []}}
    rows = [{"host": "invalid", "observation": {**forecast.EMPTY, **invalid}, "update": update}]
    rows.append({"host": "sound", "observation": forecast.EMPTY, "update": update})
    hosts = act(action.ActionModule, {"rows": rows})["hosts"]
    assert (hosts["invalid"]["answer"], hosts["sound"]["answer"]) == ("not read", "go")
    assert "malformed" in hosts["invalid"]["problem"]


@pytest.mark.parametrize("content", ["{", "[]", "[" * 9000, '{"format": 2}', '{"hosts": []}'])
def test_an_invalid_stored_forecast_is_refused(tmp_path: Path, content: str) -> None:
    assert forecast.load(str(tmp_path)) is None
    (tmp_path / forecast.FILE).write_text(content)
    with pytest.raises(SparkforgeError, match="is damaged"):
        forecast.load(str(tmp_path))


def report_page(directory: Path, *names: str) -> str:
    result = act(fleet_report.ActionModule, {"directory": str(directory), "hosts": list(names)})
    return Path(result["page"]).read_text()


def test_the_report_page_has_the_forecast_of_its_hosts(tmp_path: Path) -> None:
    def rows(*names: str, **update: t.Any) -> list[dict[str, t.Any]]:
        merged = {**KERNEL_7_UPDATE, **update}
        return [{"host": name, "observation": forecast.EMPTY, "update": merged} for name in names]

    reports = tmp_path / "reports"
    act(action.ActionModule, {"rows": rows("spark1"), "reports": str(reports)})
    assert not reports.exists()
    reports.mkdir()
    assert "The next upgrade" not in report_page(reports, "spark1")
    act(action.ActionModule, {"rows": rows("spark1", "gone"), "reports": str(reports)})
    quiet = {"plan": {"install": [], "remove": []}}
    act(action.ActionModule, {"rows": rows("<b>2</b>", **quiet), "reports": str(reports)}, check_mode=True)
    page = report_page(reports, "spark1", "<b>2</b>")
    section = page[page.index("<h2>The next upgrade") : page.index("</section>", page.index("<h2>The next upgrade"))]
    hosts = json.loads((reports / "forecast.json").read_text())["hosts"]
    assert {row["host"]: row["answer"] for row in hosts} == {
        "spark1": "go with steps", "gone": "go with steps", "<b>2</b>": "go"
    }  # fmt: skip
    assert section.count("<tr>") == 3 and "gone" not in section and "<b>2</b>" not in section
    (finding,) = [finding for finding in hosts[-1]["findings"] if finding["rule"] == "kernel-7-kho"]
    assert finding["remedy"] in html.unescape(section) and finding["source"][0]["url"] in section
    assert datetime.date.today().isoformat() in section
    assert "Steps for spark1" in section
    steps = next(row["steps"] for row in hosts if row["host"] == "spark1")
    assert all(f"<li>{html.escape(step)}</li>" in section for step in steps) and steps

    (reports / "forecast.json").write_text('{"format": 1,')
    assert "forecast.json is damaged" in report_page(reports, "spark1")
    act(action.ActionModule, {"rows": rows("spark1"), "reports": str(reports)})
    assert "is damaged" not in report_page(reports, "spark1")
