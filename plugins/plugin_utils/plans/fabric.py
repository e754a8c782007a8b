"""The plan of the `fabric` role: the address of each half of each port, and the order of measurements between hosts.

The plan depends only on the inventory, so every host of a fabric computes the same plan by itself.

A *link* is a cable between two ports, or a switch with many. Each link has two *rails*, one for each half of a port.
Each rail is its own subnet: two interfaces of one host in the same subnet answer for each other's addresses (ARP flux),
and replies leave through the interface that the kernel picks first. NVIDIA's newest example does the same
(dgx-spark-playbooks, nvidia/playbook-connect-multiple-sparks/assets/cx7-netplan-example.yaml).
"""

from __future__ import annotations

import ipaddress
import typing as t

from . import Plan

HALVES = (0, 1)
PORTS = (0, 1)
TOPOLOGIES = ("auto", "pair", "ring", "switch")
# NVIDIA's settings for three Sparks in a ring (dgx-spark-playbooks nvidia/nccl/README.md, "Ring-specific NCCL
# settings", NCCL 2.30 and newer): each peer is behind a different port, and NCCL uses the device whose subnet reaches
# it. Merged ports of one card would be one device for two peers; therefore eugr/spark-vllm-docker
# docs/NETWORKING.md sets NCCL_IB_MERGE_NICS to 0.
RING_ENVIRONMENT = {"NCCL_IB_SUBNET_AWARE_ROUTING": "1", "NCCL_NET_PLUGIN": "none", "NCCL_IB_MERGE_NICS": "0"}
# A cable between two Sparks is one port with two halves, which NCCL merges into one device: an owner's blog
# (2026-07-21, NCCL 2.28.9) reports 22 GB/s with this setting and 13.5 without; other owners' launchers set it as well.
PAIR_ENVIRONMENT = {"NCCL_IB_MERGE_NICS": "1"}


class PlanError(Exception):
    """All errors in the variables at once, each cause with its remedy."""

    def __init__(self, faults: t.Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{cause} {remedy}" for cause, remedy in faults.items()))
        self.faults = faults


class Link(t.NamedTuple):
    """A cable or a switch: ``ends`` are (host, port) in inventory order."""

    name: str
    kind: str
    ends: tuple[tuple[str, int], ...]
    mtu: int


def ring(hosts: t.Sequence[str]) -> list[list[str]]:
    """Return the ends of a ring's cables: port 0 of each host to port 1 of the next, as NVIDIA wires three Sparks."""
    return [[f"{host}:0", f"{hosts[(number + 1) % len(hosts)]}:1"] for number, host in enumerate(hosts)]


def find_links(
    hosts: t.Sequence[str], topology: str, rows: t.Sequence[t.Any], port: int, mtu: int, switch_mtu: int
) -> list[Link]:
    """Return the links in ``rows``, or the topology's links if there are no rows.

    :raises PlanError: if a row is invalid; the error lists all faults.
    """
    faults: dict[str, str] = {}
    if len(set(hosts)) != len(hosts) or len(hosts) < 2:
        faults[f"A fabric needs at least two different hosts; fabric_hosts has {', '.join(hosts) or 'none'}."] = (
            "Add the Sparks that are cabled together to the inventory's group fabric."
        )
    if topology not in TOPOLOGIES:
        faults[f"fabric_topology is {topology!r}."] = f"Set it to one of {', '.join(TOPOLOGIES)}."
    if port not in PORTS:
        faults[f"fabric_port is {port!r}."] = "A Spark has the ports 0 (next to Ethernet) and 1."
    if faults:
        raise PlanError(faults)
    if not rows:
        rows = _of_topology(hosts, topology, port)
    return _parsed(rows, hosts, mtu, switch_mtu)


def _of_topology(hosts: t.Sequence[str], topology: str, port: int) -> list[dict[str, t.Any]]:
    if topology == "auto":
        topology = {2: "pair", 3: "ring"}.get(len(hosts), "switch")
    if topology == "pair" and len(hosts) != 2:
        cause = f"fabric_topology is pair, and fabric_hosts has {len(hosts)} hosts."
        raise PlanError({cause: "Name two hosts, or set fabric_topology to ring (three) or switch."})
    if topology == "ring":
        # With four or more, hosts that are not neighbours have no link, so NVIDIA's script refuses that too.
        if len(hosts) != 3:
            cause = f"fabric_topology is ring, and fabric_hosts has {len(hosts)} hosts."
            raise PlanError(
                {
                    cause: "A ring without a switch has three Sparks, each cabled to the other two. "
                    "Set fabric_topology to pair or switch, or list the cables in fabric_links."
                }
            )
        return [{"name": f"cable{number}", "ends": ends} for number, ends in enumerate(ring(hosts), 1)]
    ends = [f"{host}:{port}" for host in hosts]
    return [
        {"name": "cable1", "ends": ends} if topology == "pair" else {"name": "switch1", "ends": ends, "switch": True}
    ]


def _parsed(rows: t.Sequence[t.Any], hosts: t.Sequence[str], mtu: int, switch_mtu: int) -> list[Link]:
    faults: dict[str, str] = {}
    links: list[Link] = []
    used_ports: dict[tuple[str, int], str] = {}
    for number, row in enumerate(rows, 1):
        where = f"fabric_links[{number - 1}]"
        if not isinstance(row, t.Mapping) or not isinstance(row.get("ends"), list):
            faults[f"{where} has no list 'ends'."] = "Write ends: [spark01:0, spark02:0], host:port each."
            continue
        unknown = sorted(set(row) - {"name", "ends", "switch", "mtu"})
        if unknown:
            faults[f"{where} has the unknown key {unknown[0]}."] = "Keys are name, ends, switch and mtu."
        name, ends = str(row.get("name") or f"link{number}"), []
        if name in [link.name for link in links]:
            faults[f"Two rows of fabric_links have the name {name}."] = "Give each a unique name."
        for text in row["ends"]:
            host, _colon, port = str(text).rpartition(":")
            if port not in ("0", "1") or host not in hosts:
                faults[f"{where}: the end {text!r} is not a port of a host in the fabric."] = (
                    f"Write host:0 or host:1; the hosts are {', '.join(hosts)}."
                )
                continue
            end = (host, int(port))
            if end in used_ports:
                faults[f"Port {port} of {host} is used by {used_ports[end]} and by {name}."] = (
                    "Correct fabric_links: a port takes one cable."
                )
            used_ports[end] = name
            ends.append(end)
        is_switch = bool(row.get("switch", len(row["ends"]) > 2))
        if not is_switch and len(row["ends"]) != 2:
            faults[f"{where} is a cable with {len(row['ends'])} ends."] = "Give it two ends."
        names = [host for host, _port in ends]
        if is_switch and len(set(names)) < 2:
            faults[f"{where} is a switch with fewer than two hosts."] = "List every host connected to it."
        for host in sorted({host for host in names if names.count(host) > 1}):
            # Both ports share two PCIe links, so a second cable to the same host adds nothing
            # (dgx-spark-playbooks nvidia/playbook-connect-multiple-sparks: "one cable per device").
            faults[f"{where} has {host} twice."] = "Remove one of them: one port of each host is enough."
        frame = row.get("mtu") or (switch_mtu if is_switch else mtu)
        if not isinstance(frame, int) or not 1280 <= frame <= 9978:
            # The mlx5 driver accepts at most 9978.
            faults[f"The MTU of {name} is {frame!r}."] = "Give a number from 1280 to 9978, such as 9000."
        ends.sort(key=lambda end: (hosts.index(end[0]), end[1]))
        links.append(Link(name, "switch" if is_switch else "cable", tuple(ends), frame))
    if faults:
        raise PlanError(faults)
    return links


def addresses(
    links: t.Sequence[Link], hosts: t.Sequence[str], subnets: t.Sequence[str]
) -> dict[str, list[dict[str, t.Any]]]:
    """Return each host's rails.

    Subnets are assigned to the rails in the order of the links, the first half before the second. A host has the same
    last number in each subnet: its position in the inventory.

    :raises PlanError: with every fault.
    """
    networks, faults = _networks(subnets)
    needed = len(links) * len(HALVES)
    if not faults and len(networks) < needed:
        faults[
            f"The fabric has {needed} rails (two for each of {len(links)} links), and fabric_subnets has "
            f"{len(networks)}."
        ] = "Add unused subnets, one for each rail."
    for network in networks[:needed]:
        if network.num_addresses - 2 < len(hosts):
            faults[
                f"{network} has room for {max(network.num_addresses - 2, 0)} hosts; the fabric has {len(hosts)}."
            ] = "Give a larger subnet in fabric_subnets."
    if faults:
        raise PlanError(faults)
    rails: dict[str, list[dict[str, t.Any]]] = {host: [] for host in hosts}
    for number, link in enumerate(links):
        for half in HALVES:
            network = networks[number * len(HALVES) + half]
            rows = [(host, port, str(network.network_address + hosts.index(host) + 1)) for host, port in link.ends]
            for host, port, address in rows:
                rails[host].append(
                    {
                        "name": f"{link.name}.{half}",
                        "link": link.name,
                        "kind": link.kind,
                        "port": port,
                        "half": half,
                        "address": f"{address}/{network.prefixlen}",
                        "mtu": link.mtu,
                        "peers": [
                            {"host": other, "port": theirs, "address": reached}
                            for other, theirs, reached in rows
                            if other != host
                        ],
                    }
                )
    return rails


def _networks(subnets: t.Sequence[str]) -> tuple[list[ipaddress.IPv4Network], dict[str, str]]:
    networks: list[ipaddress.IPv4Network] = []
    faults: dict[str, str] = {}
    for text in subnets:
        try:
            network = ipaddress.IPv4Network(str(text))
        except ValueError:
            faults[f"fabric_subnets: {text!r} is not an IPv4 network."] = (
                "Write it as 192.168.200.0/24, with the host bits zero."
            )
            continue
        other = next((known for known in networks if known.overlaps(network)), None)
        if other:
            faults[f"fabric_subnets: {network} overlaps with {other}."] = "Give each rail its own subnet."
        networks.append(network)
    return networks, faults


def environment(rails: t.Sequence[t.Mapping[str, t.Any]]) -> dict[str, str]:
    """Return the NCCL variables other than device names. A switch gets none, because nothing was measured on one."""
    ring = len({rail["link"] for rail in rails}) > 1
    return dict(RING_ENVIRONMENT if ring else PAIR_ENVIRONMENT if rails[0]["kind"] == "cable" else {})


def rounds(links: t.Sequence[Link]) -> list[list[dict[str, t.Any]]]:
    """Return the pairs of hosts that measure with each other, in rounds in which each host takes part once.

    Both ports of a Spark share two PCIe links, so two simultaneous measurements on one host would halve each other's
    result. On a switch, each host measures with the next one. Each pair measures both ways, since a port can be slow in
    only one direction (dgx-spark-playbooks pull request 108).
    """
    pairs: list[tuple[str, str, str]] = []
    for link in links:
        names = list(dict.fromkeys(host for host, _port in link.ends))
        chosen = list(zip(names, [*names[1:], names[0]], strict=True)) if len(names) > 2 else [(names[0], names[1])]
        pairs += [(link.name, here, there) for here, there in chosen]
    result: list[list[dict[str, t.Any]]] = []
    for link_name, here, there in [direction for pair in pairs for direction in (pair, (pair[0], pair[2], pair[1]))]:
        for entries in result:
            if not any({here, there} & {entry["server"], entry["client"]} for entry in entries):
                entries.append({"link": link_name, "server": here, "client": there})
                break
        else:
            result.append([{"link": link_name, "server": here, "client": there}])
    return result


def of_host(
    hosts: t.Sequence[str],
    host: str,
    subnets: t.Sequence[str],
    topology: str = "auto",
    links: t.Sequence[t.Any] = (),
    port: int = 0,
    mtu: int = 9000,
    switch_mtu: int = 1500,
) -> dict[str, t.Any]:
    """Return one host's ``rails``, the ``environment`` that NCCL needs, and the ``rounds`` in which it measures."""
    fabric = find_links(hosts, topology, links, port, mtu, switch_mtu)
    if host not in hosts:
        cause = f"{host} is not a host of the fabric ({', '.join(hosts)})."
        raise PlanError({cause: "Add it to the inventory's group fabric, or exclude it with -l."})
    rails = addresses(fabric, hosts, subnets)[host]
    if not rails:
        cause = f"No link of fabric_links ends at {host}."
        raise PlanError({cause: "Add its cable, or remove it from the group."})
    return {"rails": rails, "environment": environment(rails), "rounds": _parts(rounds(fabric), host)}


def _parts(rounds: list[list[dict[str, t.Any]]], host: str) -> list[dict[str, t.Any]]:
    parts: list[dict[str, t.Any]] = []
    for entries in rounds:
        mine = next((entry for entry in entries if host in (entry["server"], entry["client"])), None)
        if mine is None:
            parts.append({})
            continue
        role, peer = ("server", "client") if mine["server"] == host else ("client", "server")
        parts.append({"link": mine["link"], "role": role, "peer": mine[peer]})
    return parts


def plan(settings: t.Mapping[str, t.Any], _observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the steps from :func:`of_host`, without reading any host."""
    try:
        steps = of_host(
            list(settings["fabric_hosts"]),
            settings["inventory_hostname"],
            settings["fabric_subnets"],
            topology=settings["fabric_topology"],
            links=settings["fabric_links"],
            port=int(settings["fabric_port"]),
            mtu=int(settings["fabric_mtu"]),
            switch_mtu=int(settings["fabric_switch_mtu"]),
        )
    except PlanError as error:
        return Plan(refusals=[{"cause": cause, "remedy": remedy} for cause, remedy in error.faults.items()])
    return Plan(steps)
