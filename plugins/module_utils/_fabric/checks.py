"""Check each rail of a fabric: state, reachability, full-size frames and bandwidth.

Each probe is bound to its rail's interface (``SO_BINDTODEVICE``), regardless of the routing table, so that another rail
cannot hide a broken one. A full-size frame is tested by an ICMP echo with "do not fragment" (ip(7), IP_MTU_DISCOVER).
The peer's kernel answers it, so nothing needs to run there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import struct
import time
import typing as t
from concurrent import futures

from .._host import connectx, network
from .._host.reader import Host
from .rails import WHERE_THE_CARD_IS, locate

#: Values from linux/in.h, because Python's socket module does not define them.
IP_MTU_DISCOVER, IP_PMTUDISC_PROBE = 10, 3
#: The size of the IPv4 and ICMP headers, which a full-size frame contains in addition to the payload.
HEADERS = 28
#: The smallest frame that IPv4 guarantees.
SMALLEST = 576
ECHO_REQUEST, ECHO_REPLY = 8, 0
#: The number of attempts, because the first packet may be lost during ARP, and the seconds to wait for each answer.
ATTEMPTS, ANSWER_SECONDS = 3, 0.5
#: A half with a bandwidth in this range is degraded, although its link and PCIe look healthy (dgx-spark-playbooks pull
#: request 108: 12.86 and 13.23 Gb/s measured, 92.57 and 97.28 when healthy). The kernels were reported in developer
#: forum 379303 and MiaAI-Lab/DeepSeek-v4.1-Flash-DGX-Sparks issue 14 (kho=off), by one owner each.
DEGRADED_GBITS = (8.0, 25.0)
#: The first TCP port for ib_write_bw servers, from NVIDIA's guide (performance_benchmarking_guide.md).
FIRST_TCP_PORT = 12000
MEETING_SECONDS = 60

Row = dict[str, t.Any]


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071), whose sum is taken modulo 65535."""
    data += b"\0" * (len(data) % 2)
    return 0xFFFF - int(sum(struct.unpack(f"!{len(data) // 2}H", data)) % 0xFFFF)


def echo(interface: str, source: str, target: str, frame: int) -> str | None:
    """Send an ICMP echo over one interface; return ``None`` if it is answered, otherwise the reason."""
    try:
        try:
            connection = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        except PermissionError:
            # Without CAP_NET_RAW, the kernel allows this to groups in net.ipv4.ping_group_range (icmp(7)).
            connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
        with connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0")
            connection.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
            connection.bind((source, 0))
            return None if _is_answered(connection, target, frame) else "no answer"
    except OSError as error:
        if error.errno in (errno.EHOSTUNREACH, errno.ECONNREFUSED):
            return "no host has that address on this rail"
        too_large = "the frame is larger than this interface's MTU"
        return f"here: {too_large if error.errno == errno.EMSGSIZE else error.strerror}"


def _is_answered(made: socket.socket, target: str, frame: int) -> bool:
    mark = os.urandom(8)
    # The reply contains the mark in its payload, which distinguishes it from replies to other pings.
    payload = (mark * (frame // 8 + 1))[: frame - HEADERS]
    for sequence in range(ATTEMPTS):
        kind, rest = bytes([ECHO_REQUEST, 0]), mark[:2] + bytes([0, sequence]) + payload
        made.sendto(kind + struct.pack("!H", checksum(kind + rest)) + rest, (target, 0))
        deadline = time.monotonic() + ANSWER_SECONDS
        while (remaining := deadline - time.monotonic()) > 0:
            made.settimeout(remaining)
            with contextlib.suppress(socket.timeout):
                answer, sender = made.recvfrom(65535)
                # Only a raw socket also returns the IP header.
                body = answer[(answer[0] & 15) * 4 :] if made.type == socket.SOCK_RAW else answer
                if sender[0] == target and body[:1] == bytes([ECHO_REPLY]) and body[8:] == payload:
                    return True
    return False


def largest(probe: t.Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest size that passes, if ``low`` passes and ``high`` does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if probe(middle) else (low, middle)
    return low


def bandwidth_of(output: str) -> float | None:
    """Return the average in Gb/s from ``ib_write_bw --report_gbits``: the fourth number in its last line of figures."""
    figures = re.findall(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s", output + "\n", re.M)
    return float(figures[-1]) if figures else None


class FabricCheck:
    """The checks of one host.

    :param rails: the rails in the plan.
    :param speed: the minimum negotiated speed of each half in Mb/s; 0 accepts any.
    """

    def __init__(
        self, host: Host, rails: t.Sequence[Row], ports: t.Sequence[t.Sequence[str]] = (), speed: int = 0
    ) -> None:
        self.host, self.speed = host, speed
        self.info = connectx.observe(host, ports)
        self.rails = locate(rails, self.info)

    def run(self) -> list[Row]:
        """Return a row for each check: ``name``, ``status``, ``measured``, ``cause``, ``remedy``."""
        rows = [_row(row["check"], None, row["cause"], row["remedy"]) for row in network.problems(self.info)]
        # Check the rails in parallel, because an unresponsive rail takes seconds.
        with futures.ThreadPoolExecutor(max(len(self.rails), 1)) as pool:
            rows_by_rail = list(pool.map(lambda pair: list(self._rail(*pair)), self.rails))
        return [*rows, *(row for rail in rows_by_rail for row in rail), *self._halves(rows_by_rail)]

    def _rail(self, rail: Row, link: Row | None) -> t.Iterator[Row]:
        name, problem = rail["name"], self._state(rail, link)
        if problem or link is None:
            yield _row(f"state.{name}", None, *problem)
            return
        yield _row(f"state.{name}", f"{link['interface']} {rail['address']}, {_speed(link)}")
        cause = f"This end, {link['interface']}, has an MTU of {link['mtu']}; the fabric's is {rail['mtu']}."
        problem = (cause, "Run playbooks/fabric.yml on this host.") if link["mtu"] != rail["mtu"] else ()
        yield _row(f"mtu.{name}", link["mtu"], *problem)
        if link["connectx7"]:
            yield from self._device(rail, link)
        for peer in rail["peers"]:
            yield from self._peer(rail, link, peer)

    def _state(self, rail: Row, link: Row | None) -> tuple[str, ...]:
        half = f"half {rail['half']} of port {rail['port']}"
        if link is None:
            return f"{half.capitalize()} has no interface on this host.", f"Check {WHERE_THE_CARD_IS}"
        label = f"{link['interface']} ({half})"
        if not link["up"]:
            return f"{label} is down.", "Run playbooks/fabric.yml, or check which other tool set it down."
        if not link["carrier"]:
            remedy = (
                "Reseat the QSFP cable at both ends, in the port that the plan names, turn the other host on, and "
                "check that a switch's port is enabled."
            )
            return f"{label} has no link.", remedy
        if rail["address"] not in link["addresses"]:
            current = ", ".join(link["addresses"])
            cause = f"{label} has {current} instead of {rail['address']}." if current else f"{label} has no address."
            remedy = "Run playbooks/fabric.yml on this host; if it stays, another netplan file or connection sets it."
            return cause, remedy
        if self.speed and link["speed_mbps"] is not None and link["speed_mbps"] < self.speed:
            cause = f"{label} runs at {_speed(link)}, but {self.speed // 1000} Gb/s are required."
            remedy = "Use a QSFP112 cable from NVIDIA's list, and set a switch's port to 200 Gb/s; or set fabric_speed."
            return cause, remedy
        return ()

    @staticmethod
    def _device(rail: Row, link: Row) -> t.Iterator[Row]:
        device, name = link["rdma"], rail["name"]
        problem: tuple[str, ...] = ()
        if not device:
            cause = f"{link['interface']} has no RDMA device: NCCL would use sockets."
            problem = (cause, "Load mlx5_ib (`modprobe mlx5_ib`) and check `ibdev2netdev`.")
        elif _gid(rail, link) is None:
            cause = f"{device} has no RoCE v2 GID of {_address(rail)}: NCCL cannot use this half."
            problem = (cause, f"See /sys/class/infiniband/{device}/ports/1/gids; the address creates it.")
        yield _row(f"rdma.{name}", None if problem else device, *problem)
        speed, width = link["pcie"]["speed"], link["pcie"]["width"]
        # 32 GT/s is PCIe 5.0. Firmware before April 2026 configured the second controller with two lanes (tonyd2wild's
        # DeepSeek-v4-Flash repository, pull request 35).
        if (speed and not speed.startswith("32")) or (width or 4) < 4:
            cause = f"{link['interface']} is connected at {speed} x{width} instead of 32.0 GT/s x4."
            remedy = "Update the firmware (`fwupdmgr update`) and power the Spark off and on."
            yield _row(f"pcie.{name}", None, cause, remedy)

    @staticmethod
    def _peer(rail: Row, link: Row, peer: Row) -> t.Iterator[Row]:
        interface, switch = link["interface"], rail["kind"] == "switch"
        peer_name, name = f"{peer['host']} ({peer['address']})", f"{rail['name']}.{peer['host']}"

        def ask(frame: int) -> str | None:
            return echo(interface, _address(rail), peer["address"], frame)

        problem = ask(min(SMALLEST, link["mtu"]))
        if problem:
            cause = f"{peer_name} does not answer on the rail {rail['name']}: {problem}."
            vlan = "; on a switch all ports must be in one VLAN" if switch else ""
            remedy = (
                f"See the checks of {peer['host']}: its half {rail['half']} of port {peer['port']} is down, has "
                f"another address, or is cabled to another port{vlan}."
            )
            yield _row(f"reach.{name}", None, cause, remedy)
            return
        yield _row(f"reach.{name}", peer["address"])
        if link["mtu"] < rail["mtu"]:
            # The check mtu.… reports the cause: this end cannot send such a frame.
            yield _row(f"jumbo.{name}", None, f"{interface} has an MTU of {link['mtu']}")
        elif not ask(rail["mtu"]):
            yield _row(f"jumbo.{name}", rail["mtu"])
        else:
            size = largest(lambda frame: ask(frame) is None, SMALLEST, rail["mtu"])
            between = "the other end or the switch between" if switch else "the other end"
            cause = (
                f"Frames of {rail['mtu']} bytes do not reach {peer_name}, but those of {size} do: this end, "
                f"{interface}, has an MTU of {link['mtu']}, and {between} accepts {size} (most drivers accept 4 bytes "
                "more than their MTU, for a VLAN tag)."
            )
            more = ", raise the MTU of the switch's ports, or lower fabric_switch_mtu." if switch else "."
            yield _row(f"jumbo.{name}", size, cause, f"Run playbooks/fabric.yml on {peer['host']}{more}")

    def _halves(self, rows_by_rail: t.Sequence[t.Sequence[Row]]) -> t.Iterator[Row]:
        """Explain the effect if one half of a port works and the other does not."""
        for port in sorted({rail["port"] for rail, _link in self.rails}):
            rails = [(rail, own) for (rail, _link), own in zip(self.rails, rows_by_rail) if rail["port"] == port]
            failed = [rail for rail, own in rails if any(row["status"] == "fail" for row in own)]
            if failed and len(failed) < len(rails):
                names = ", ".join(f"half {rail['half']} ({rail['interface'] or 'absent'})" for rail in failed)
                explanation = f"Only one half of port {port} works; {names} does not."
                cause = f"{explanation} NCCL would get about half of the port's 200 Gb/s."
                yield _row(f"halves.port{port}", None, cause, "Fix the problem reported above for that half.")

    def measure(self, part: Row, seconds: int, floor: float) -> t.Iterator[Row]:
        """Take part in one measurement with another host, half by half.

        :param part: ``link``, ``role`` (``server`` or ``client``) and ``peer``.
        """
        program = self.info["tools"]["ib_write_bw"]
        own = [(rail, link) for rail, link in self.rails if rail["link"] == part["link"]]
        for port, (rail, link) in enumerate(own, FIRST_TCP_PORT):
            name = f"bandwidth.{rail['name']}.{part['peer']}"
            if not program:
                yield _row(name, None, "ib_write_bw (package perftest) is not installed")
            elif not link or not link["rdma"]:
                yield _row(name, None, f"{rail['interface']} has no RDMA device")
            else:
                argv = f"{program} -d {link['rdma']} -i 1 -p {port} -F --report_gbits -q 4 -D {seconds}".split()
                gid = _gid(rail, link)
                argv += [] if gid is None else ["-x", str(gid)]
                if part["role"] == "client":
                    argv += [peer["address"] for peer in rail["peers"] if peer["host"] == part["peer"]]
                yield _row(name, *_judge(*self._measure_with_retries(argv, seconds), floor, link, part))

    def _measure_with_retries(self, argv: list[str], seconds: int) -> tuple[int, str]:
        """Run one side; a client that starts before its server retries until both have met."""
        deadline = time.monotonic() + MEETING_SECONDS
        limit = self.host.command("timeout")
        while True:
            remaining = max(int(deadline - time.monotonic()), 1)
            code, out, err = self.host.run([*([limit, str(remaining + seconds + 5)] if limit else []), *argv])
            refused = "connect" in f"{out}{err}".lower() and bandwidth_of(out) is None
            if code == 0 or not refused or time.monotonic() >= deadline:
                return code, f"{out}\n{err}"
            time.sleep(0.3)


def _judge(code: int, output: str, floor: float, link: Row, part: Row) -> tuple[t.Any, ...]:
    """Return the measurement of one side, with cause and remedy if it is too low."""
    if code == 0 and part["role"] == "server":
        # The client has the figure; the server only checks that the client connected.
        return ("served",)
    value = bandwidth_of(output)
    if code != 0 or value is None:
        lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("---")]
        cause = f"ib_write_bw did not finish with {part['peer']}: {' '.join(lines[-2:])[:200] or 'no output'}."
        remedy = (
            "Both hosts must be in the play at the same time: no serial, at least two forks. Check that no firewall "
            f"blocks TCP ports {FIRST_TCP_PORT} and {FIRST_TCP_PORT + 1} on the fabric."
        )
        return None, cause, remedy
    if value >= floor:
        return (round(value, 2),)
    cause = f"{link['rdma']} writes {value:.1f} Gb/s to {part['peer']}"
    if DEGRADED_GBITS[0] <= value <= DEGRADED_GBITS[1]:
        cause += (
            f" although the link reports {_speed(link)}: one end is in the degraded state that a ConnectX-7 can enter "
            "at boot or when cables change, and that owners saw with kernels 6.17.0-1029 and 6.17.0-1032."
        )
        remedy = (
            "Leave the cables as they are and reboot both hosts. If that does not help, shut both down, unplug their "
            "power supplies for 60 s, and boot; MTU and buffer sizes do not matter."
        )
    else:
        cause += f"; {floor:.0f} are required."
        remedy = "Stop other work on both hosts and measure again; check the PCIe link (pcie.…) and the cable."
    return round(value, 2), cause, remedy


def _address(rail: Row) -> str:
    return str(rail["address"].partition("/")[0])


def _gid(rail: Row, link: Row) -> int | None:
    """Return the index of the RoCE v2 GID for the rail's address."""
    expected = (_address(rail), "RoCE v2")
    return next((gid["index"] for gid in link["gids"] if (gid["address"], gid["type"]) == expected), None)


def _speed(link: Row) -> str:
    return f"{link['speed_mbps'] // 1000} Gb/s" if link["speed_mbps"] else "no speed"


def _row(name: str, measured: t.Any, cause: str | None = None, remedy: str | None = None) -> Row:
    """Return the row of a check: failed with cause and remedy, skipped with only a cause, otherwise passed."""
    status = "fail" if remedy else "skip" if cause else "pass"
    return {"name": name, "status": status, "measured": measured, "cause": cause, "remedy": remedy}
