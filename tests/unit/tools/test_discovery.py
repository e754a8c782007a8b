"""Sparks announced through mDNS: their names, addresses and ports, and limits on the search."""

import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
import zeroconf
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.tools import discovery
from ansible_collections.sparkforge.dgx_spark.tools.discovery import FACTORY_NAMES, Answer, Spark


def sparks(answers: list[Answer], names: Sequence[str] = FACTORY_NAMES) -> list[Spark]:
    listed, left_out = discovery.sparks(answers, names)
    assert left_out == []
    return listed


def ssh(server: str, *addresses: str, port: int = 22) -> Answer:
    return Answer(server, "_ssh._tcp", port, addresses or ("192.0.2.1",))


@pytest.mark.parametrize(
    "name",
    [
        "spark-85e8", "gx10-49d1", "zgx-5a09", "promaxgb10-41b1", "thinkstationpgx-2be0", "edgexpert-d623",
        "aitopatom-9ab9", "gn100-3511",
    ],
)  # fmt: skip
def test_names_from_the_factory_are_sparks(name: str) -> None:
    listed = sparks([ssh(f"{name}.local."), ssh(f"{name.upper()}-2.local.")])
    assert [spark.name for spark in listed] == [name, f"{name}-2"]


@pytest.mark.parametrize("name", ["printer", "spark", "sparkle-1", "my-spark-85e8", "raspberrypi", "gx100-1"])
def test_names_of_other_machines_are_ignored(name: str) -> None:
    assert sparks([ssh(f"{name}.local.")]) == []


@pytest.mark.parametrize(
    "server",
    [
        "spark-../../etc.local.", "spark-{{ lookup('pipe', 'id') }}.local.", "spark-a\nb.local.", "spark-ä.local.",
        "spark-.local.", "spark-ab12.example.com.", "spark-ab12.", "spark-ab 12.local.", f"spark-{'a' * 60}.local.",
    ],
)  # fmt: skip
def test_an_invalid_announced_name_is_ignored(server: str) -> None:
    assert sparks([ssh(server)]) == []


def test_own_patterns_replace_the_factorys_and_ignore_case() -> None:
    answers = [ssh("Lab-GB10-1.local."), ssh("spark-85e8.local.")]
    assert [spark.name for spark in sparks(answers, ["lab-gb10-*"])] == ["lab-gb10-1"]
    assert [spark.name for spark in sparks(answers, ["LAB-*", "spark-*"])] == ["lab-gb10-1", "spark-85e8"]


def test_a_machine_with_two_services_is_listed_once_with_the_port_of_ssh() -> None:
    answers = [
        Answer("zgx-5a09.local.", "_hpzgx._tcp", 8080, ("192.0.2.9",)),
        ssh("ZGX-5a09.local.", "192.0.2.3", port=2222),
    ]
    assert sparks(answers) == [Spark("zgx-5a09", ("192.0.2.3", "192.0.2.9"), 2222)]
    assert sparks(answers[:1])[0].port == 22


@pytest.mark.parametrize("name", ["localhost", "all", "ungrouped", "sparks", "builders", "fabric", "Lab"])
def test_a_machine_with_the_name_of_a_group_is_left_out(name: str) -> None:
    listed, left_out = discovery.sparks([ssh(f"{name}.local.", "192.0.2.9"), ssh("a.local.")], ["*"], {"lab"})
    assert [spark.name for spark in listed] == ["a"]
    assert len(left_out) == 1 and f"reserved name {name.lower()}." in left_out[0]


@pytest.mark.parametrize("addresses", [("192.0.2.2", "192.0.2.10"), ()])
def test_two_machines_with_one_name_are_left_out_with_their_addresses(addresses: tuple[str, ...]) -> None:
    # zeroconf lists both machines' addresses for each announcement, because the machines share the name.
    servers = {"spark-1.local.": "192.0.2.10", "SPARK-1.local.": "192.0.2.2"}
    answers = [ssh(server, *(addresses or (address,))) for server, address in servers.items()]
    listed, (sentence,) = discovery.sparks([*answers, ssh("spark-2.local.")])
    assert [spark.name for spark in listed] == ["spark-2"]
    assert "called spark-1: ssh was announced 2 times, for 192.0.2.2 and 192.0.2" in sentence


def test_link_local_addresses_come_last() -> None:
    (spark,) = sparks([ssh("spark-1.local.", "fe80::1%eth0", "169.254.9.9", "2001:db8::1", "192.0.2.9", "192.0.2.10")])
    assert spark.addresses == ("192.0.2.9", "192.0.2.10", "2001:db8::1", "169.254.9.9", "fe80::1%eth0")


def test_a_missing_zeroconf_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeroconf", None)
    with pytest.raises(SparkforgeError, match=r"pip install zeroconf"):
        discovery.browse()


def test_an_interface_that_is_not_an_address_is_refused() -> None:
    with pytest.raises(SparkforgeError, match="failed: 'eth0'"):
        discovery.browse(interfaces=["eth0"])


class SlowNetwork:
    """Resolves names that contain "announced" at once; for any other name, the request times out."""

    def get_service_info(self, kind: str, name: str, timeout: int) -> str | None:
        if "announced" in name:
            return f"{kind} {name}"
        time.sleep(timeout / 1000)
        return None


@pytest.mark.parametrize("silent", [0, 20, discovery.MOST_NAMES])
def test_unresolvable_names_share_one_deadline(silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "RESOLVE", 0.5)
    instances = [("_ssh._tcp.local.", f"{number:04} silent") for number in range(silent)]
    start = time.monotonic()
    resolved = discovery.resolved(SlowNetwork(), [*instances, ("_ssh._tcp.local.", "zz announced")])
    assert time.monotonic() - start < 3
    assert [name for (_kind, name), info in resolved.items() if info] == ["zz announced"]
    assert len(resolved) == silent + 1


@pytest.mark.parametrize("service", ["ssh", "_ssh._tcp.local.", "_ssh._tcp\n", "ssh._tcp", "_ssh", "_ssh._tcp x"])
def test_an_invalid_service_type_is_refused(service: str) -> None:
    with pytest.raises(SparkforgeError, match=r"(?s)ssh.* service type"):
        discovery.browse(["_ssh._tcp", service])


def test_aliases_of_nvidia_sync_must_be_names() -> None:
    assert discovery.sync_aliases("Host spark-1 a/b *.lab spark-2;x\nHost = fe80::1\n") == ["spark-1", "fe80::1"]


@pytest.mark.parametrize("name", ["spark-ab12", "\0spark._ssh._tcp.local.", "a.example.", "-._tcp.local."])
def test_an_invalid_pointer_does_not_stop_the_search(name: str) -> None:
    network = SimpleNamespace(get_service_info=lambda kind, name, timeout: zeroconf.ServiceInfo(kind, name))
    announced = ("_ssh._tcp.local.", "spark-ab12._ssh._tcp.local.")
    resolved = discovery.resolved(network, [("_ssh._tcp.local.", name), announced])
    assert [instance for instance, info in resolved.items() if info] == [announced]
