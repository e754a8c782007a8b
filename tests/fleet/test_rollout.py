"""A complete rollout on a fleet: one build, waves, proof and switch, also when hosts and networks fail.

After every run, each host has either its former environment, which computes, or the new one, which was proven. The
tests are steps of one story, in this order. They are all in one file, because parallel files each get a fleet.
"""

import threading
from dataclasses import dataclass

import pytest

from lab import faults
from tests.fleet.conftest import HOSTS, MAKING, Event, Fleet, Rollout

pytestmark = pytest.mark.long


def test_a_host_builds_nothing_if_a_manifest_exists(site: Fleet) -> None:
    play = site.run("build", "-l", "spark02").succeeded()
    assert "spark02 builds nothing: spark01 built lab-fleet" in play.text
    assert list(site.builders()) == ["spark01"]


@pytest.fixture(scope="session")
def upgraded(site: Fleet) -> Rollout:
    """The upgrade from lab-fleet to lab-fleet-next, a new release of its only unit."""
    site.add_stack("lab-fleet-next")
    return site.run("site", stack_name="lab-fleet-next").succeeded()


def test_every_host_was_brought_to_the_first_stack(site: Fleet) -> None:
    assert len(site.hosts) == HOSTS
    assert len(set(site.current().values())) == 1
    assert list(site.builders()) == ["spark01"]


def test_the_upgrade_is_built_once_and_proven_on_every_host(site: Fleet, upgraded: Rollout) -> None:
    built = site.builders()
    assert list(built) == ["spark01"]
    assert len(built["spark01"]) == 2
    assert set(site.links().values()) == set(site.links(["spark01"]).values())
    assert all(verdict.startswith("proven on the CPU") for verdict in upgraded.report.values())
    assert sorted(upgraded.report) == site.hosts


def test_no_wheel_went_through_the_controller(site: Fleet, upgraded: Rollout) -> None:
    assert list((site.bench.folder / "wheelhouse").rglob("*.json"))
    assert not list((site.bench.folder / "wheelhouse").rglob("*.whl"))


def test_the_waves_are_one_canary_then_a_quarter_then_the_rest(site: Fleet, upgraded: Rollout) -> None:
    sizes = [len(wave) for wave in upgraded.waves]
    assert sizes == [1, HOSTS // 4, HOSTS - 1 - HOSTS // 4]
    assert upgraded.waves[0] == ["spark01"]


def test_a_canary_that_computes_wrong_numbers_stops_the_rollout(site: Fleet, upgraded: Rollout) -> None:
    site.add_stack("lab-fleet-wrong")
    before = site.links()
    play = site.run("site", stack_name="lab-fleet-wrong").failed()
    assert site.links() == before
    assert play.waves == [["spark01"]]
    assert "cpu.matmul.float32" in play.report["spark01"]
    assert "the rollout: spark01 failed" in play.report["spark02"]


@dataclass
class Struck:
    """A run in which hosts failed, and each failed host's fault."""

    play: Rollout
    victims: dict[str, str]


@pytest.fixture(scope="session")
def struck(site: Fleet, upgraded: Rollout) -> Struck:
    """The upgrade to the next stack, while faults affect five hosts: four of the last wave, and one from the start."""
    site.add_stack("lab-fleet-after")
    bench = site.bench
    dead, full, lost, apart, late = (f"spark{number:02d}" for number in range(HOSTS - 4, HOSTS + 1))
    faults.set_clock(bench, late, "+3d")
    faults.limit_disk(bench, full, "/opt/sparkforge", 300)

    over = threading.Event()

    def strike() -> None:
        faults.kill(bench, dead)
        faults.fill(bench, full, "/opt/sparkforge", leave=2048)
        for host, mbit in ((lost, 8), (apart, 8)):
            faults.throttle(bench, host, 1000 * mbit)
        threading.Thread(target=cut, args=(lost, None)).start()
        threading.Thread(target=cut, args=(apart, bench.addresses["spark01"])).start()

    def cut(host: str, towards: str | None) -> None:
        """Cut the network in the middle of the download of a 26 MB wheel, which takes 26 seconds at this speed."""
        before = faults.received(bench, host)
        while faults.received(bench, host) < before + 4_000_000:
            if over.wait(0.2):
                return
        faults.cut(bench, host, towards)

    strikes = [Event(rf"TASK \[{MAKING}\]", strike, nth=3)]
    try:
        play = site.run("site", during=strikes, stack_name="lab-fleet-after", sparkforge_max_fail_percentage=40)
    finally:
        over.set()
    return Struck(play, {"dead": dead, "full": full, "lost": lost, "apart": apart, "late": late})


def test_the_others_finish(site: Fleet, struck: Struck) -> None:
    struck.play.failed()
    others = [host for host in site.hosts if host not in struck.victims.values()]
    assert len(set(site.links(others).values())) == 1
    assert all(struck.play.report[host].startswith("proven on the CPU") for host in others)


def test_the_report_says_what_happened(site: Fleet, struck: Struck) -> None:
    rows = {fault: struck.play.report[host] for fault, host in struck.victims.items()}
    assert "lost in wave 3" in rows["dead"]
    assert "lost in wave 3" in rows["lost"]
    assert "no space left" in rows["full"]
    assert "failed in wave 3" in rows["apart"]
    assert "before the rollout" in rows["late"]
    assert "clock" in struck.play.text


def test_failed_hosts_keep_their_environment(site: Fleet, struck: Struck) -> None:
    victims = struck.victims
    bench = site.bench
    faults.revive(bench, victims["dead"])
    faults.empty(bench, victims["full"], "/opt/sparkforge")
    faults.mend(bench, victims["lost"])
    faults.mend(bench, victims["apart"], bench.addresses["spark01"])
    for host in (victims["lost"], victims["apart"]):
        faults.throttle(bench, host, None)
    faults.set_clock(bench, victims["late"], None)
    environments = site.current(list(victims.values()))
    assert len(set(environments.values())) == 1
    assert set(environments.values()) != set(site.current(["spark01"]).values())


def test_next_run_upgrades_them_and_changes_nothing_else(site: Fleet, struck: Struck) -> None:
    play = site.run("site", stack_name="lab-fleet-after").succeeded()
    changed = {host for host, row in play.recap.items() if row["changed"]}
    assert changed == set(struck.victims.values())
    assert len(set(site.current().values())) == 1
    assert list(site.builders()) == ["spark01"]


def test_two_controllers_at_once_lose_nothing(site: Fleet, struck: Struck) -> None:
    site.add_stack("lab-fleet-last")
    hosts = site.hosts[:3]
    before = set(site.links(hosts).values())
    plays: dict[str, Rollout] = {}

    def control(name: str) -> None:
        plays[name] = site.run("site", "-l", ",".join(hosts), name=name, stack_name="lab-fleet-last")

    threads = [threading.Thread(target=control, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert any(play.code == 0 for play in plays.values()), plays["one"].output[-4000:]
    assert not any("Traceback" in play.output for play in plays.values())
    environments = set(site.current(hosts).values())
    assert len(environments) == 1
    assert environments != before
    assert site.run("site", "-l", ",".join(hosts), stack_name="lab-fleet-last").succeeded().changed == 0


# --- bad input: one clear message, and no changes on any host


def states(site: Fleet) -> dict[str, str]:
    """Return, for each host, the state of everything that a rollout changes."""
    script = "find /opt/sparkforge /etc/ld.so.conf.d -xdev -not -name .lock -printf '%p %T@ %l\\n' | sort | sha256sum"
    return {host: site.execute(host, script) for host in site.hosts}


def test_a_builder_of_another_platform_is_refused(site: Fleet) -> None:
    """The group builders has only hosts of another system, and no host has built the stack yet."""
    builder = site.hosts[-1]
    another = "sed -i 's/^ID=.*/ID=ubuntu/; s/^VERSION_ID=.*/VERSION_ID=24.04/' /etc/os-release"
    site.execute(builder, f"cp /etc/os-release /root/os-release; {another}")
    text = (site.folder / "fleet.yml").read_text()
    (site.folder / "fleet.yml").write_text(f"{text}    builders:\n      hosts:\n        {builder}:\n")
    before = states(site)
    try:
        play = site.run("build", "-l", f"{site.hosts[1]},{builder}").failed()
    finally:
        (site.folder / "fleet.yml").write_text(text)
        site.execute(builder, "cp /root/os-release /etc/os-release")
    assert "builders" in play.text
    assert states(site) == before
