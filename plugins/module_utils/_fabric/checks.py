# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a fabric carries what it should, rail by rail: state, reachability, frames of full size, bandwidth.

Each probe leaves by its rail's interface (``SO_BINDTODEVICE``), whatever the routing table says, so that a rail that is
broken cannot hide behind another. A frame of full size is an ICMP echo with "do not fragment" (ip(7), IP_MTU_DISCOVER):
the peer's kernel answers it, and nothing has to run there.
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

from .._host import network
from .._host.reader import Host
from . import observation

#: linux/in.h, for Python's socket module does not name them.
IP_MTU_DISCOVER, IP_PMTUDISC_PROBE = 10, 3
#: IPv4 header and ICMP header: what an echo of a frame of full size has beside its payload.
HEADERS = 28
#: The smallest frame that IPv4 promises.
SMALLEST = 576
ECHO_REQUEST, ECHO_REPLY = 8, 0
#: How often a packet is sent, since the first may be lost while the peer's MAC is asked for; seconds for one answer.
ATTEMPTS, ANSWER_SECONDS = 3, 0.5
#: Between these a half is in the state in which link and PCIe look right and little goes through
#: (dgx-spark-playbooks pull request 108: 12.86 and 13.23 Gb/s measured, 92.57 and 97.28 healthy).
DEGRADED_GBITS = (8.0, 25.0)
#: Where servers of ib_write_bw listen: the ports of NVIDIA's guide (performance_benchmarking_guide.md) and the next.
FIRST_TCP_PORT = 12000
MEETING_SECONDS = 60

Row = dict[str, t.Any]
# Takes interface, source, target and frame size; returns None, or why nothing came back.
Probe = t.Callable[[str, str, str, int], t.Optional[str]]
#: Cause and remedy.
Problem = t.Optional[tuple[str, str]]


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071), whose sum is one modulo 65535."""
    data += b"\0" * (len(data) % 2)
    return 0xFFFF - int(sum(struct.unpack(f"!{len(data) // 2}H", data)) % 0xFFFF)


def echo(interface: str, source: str, target: str, frame: int) -> str | None:
    """Send an ICMP echo over one interface; return ``None`` for an answer, else why there was none.

    The text begins with ``here`` for a local cause.
    """
    try:
        try:
            made, raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP), True
        except PermissionError:
            # A container without CAP_NET_RAW: the kernel lets groups of net.ipv4.ping_group_range (icmp(7)).
            made, raw = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP), False
        with made:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0")
            made.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
            made.bind((source, 0))
            return None if _answered(made, raw, target, frame) else "no answer"
    except OSError as error:
        if error.errno == errno.EMSGSIZE:
            return "here: the frame is larger than this interface's MTU"
        if error.errno in (errno.EHOSTUNREACH, errno.ECONNREFUSED):
            return "no host has that address on this rail"
        return f"here: {error.strerror}"


def _answered(made: socket.socket, raw: bool, target: str, frame: int) -> bool:
    mark = os.urandom(8)
    identifier = struct.unpack("!H", mark[:2])[0]
    # The mark comes back in the payload: that is what tells our answer from another ping's.
    payload = (mark * (frame // 8 + 1))[: frame - HEADERS]
    for sequence in range(ATTEMPTS):
        head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, identifier, sequence)
        head = struct.pack("!BBHHH", ECHO_REQUEST, 0, checksum(head + payload), identifier, sequence)
        made.sendto(head + payload, (target, 0))
        deadline = time.monotonic() + ANSWER_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            made.settimeout(left)
            with contextlib.suppress(socket.timeout):
                answer, sender = made.recvfrom(65535)
                body = answer[(answer[0] & 15) * 4 :] if raw else answer
                if sender[0] == target and body[:1] == bytes([ECHO_REPLY]) and body[8:] == payload:
                    return True
    return False


def largest(probe: t.Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest size that passes, ``low`` being one that does and ``high`` one that does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if probe(middle) else (low, middle)
    return low


def bandwidth_of(output: str) -> float | None:
    """Return the average in Gb/s of ``ib_write_bw --report_gbits``: the fourth number of its last line of figures."""
    found = re.findall(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s", output + "\n", re.M)
    return float(found[-1]) if found else None


class FabricCheck:
    """The checks of one host.

    :param rails: as the plan has them; ``interface`` may be left out where the ports are found by PCI.
    :param speed: the negotiated speed that each half must have in Mb/s; 0: whatever it is.
    """

    def __init__(
        self,
        host: Host,
        rails: t.Sequence[Row],
        ports: t.Sequence[t.Sequence[str]] = (),
        speed: int = 0,
        probe: Probe = echo,
    ) -> None:
        self.host, self.speed, self.probe = host, speed, probe
        self.info = observation.observe(host, ports)
        self.links = {link["interface"]: link for link in self.info["links"]}
        self.rails = [{**rail, "interface": observation.interface_of(rail, self.info)} for rail in rails]

    def run(self) -> list[Row]:
        """Return a row for each check: ``name``, ``status``, ``measured``, ``cause``, ``remedy``."""
        rows = [
            _judged(problem["check"], (problem["cause"], problem["remedy"])) for problem in network.problems(self.info)
        ]
        # A rail that does not answer costs seconds; the others do not wait for it.
        with futures.ThreadPoolExecutor(max(len(self.rails), 1)) as pool:
            found = list(pool.map(self._rail, self.rails))
        return [*rows, *(row for rail in found for row in rail), *self._halves(found)]

    # -- one rail

    def _rail(self, rail: Row) -> list[Row]:
        name = rail["name"]
        link = self.links.get(rail["interface"] or "")
        if link is None:
            cause = f"Half {rail['half']} of port {rail['port']} has no interface on this host."
            return [_judged(f"state.{name}", (cause, f"Check {observation.WHERE_THE_CARD_IS}"))]
        state = self._state(rail, link)
        rows = [_judged(f"state.{name}", state, f"{link['interface']} {rail['address']}, {_speed(link)}")]
        if state:
            return rows
        wrong = f"This end, {link['interface']}, has an MTU of {link['mtu']}; the fabric's is {rail['mtu']}."
        problem = (wrong, "Run playbooks/fabric.yml on this host.") if link["mtu"] != rail["mtu"] else None
        rows += [_judged(f"mtu.{name}", problem, link["mtu"], link["mtu"]), *self._device(rail, link)]
        return rows + [row for peer in rail["peers"] for row in self._peer(rail, link, peer)]

    def _state(self, rail: Row, link: Row) -> Problem:
        who = f"{link['interface']} (half {rail['half']} of port {rail['port']})"
        if not link["up"]:
            return f"{who} is down.", "Run playbooks/fabric.yml, or check which other tool set it down."
        if not link["carrier"]:
            return (
                f"{who} has no link.",
                "Reseat the QSFP cable at both ends, in the port that the plan names, turn the other host on, and "
                "check that a switch's port is enabled.",
            )
        if rail["address"] not in link["addresses"]:
            there = ", ".join(link["addresses"])
            return (
                f"{who} has {there} instead of {rail['address']}." if there else f"{who} has no address.",
                "Run playbooks/fabric.yml on this host; if it stays, another netplan file or connection sets it.",
            )
        if self.speed and link["speed_mbps"] is not None and link["speed_mbps"] < self.speed:
            return (
                f"{who} runs at {link['speed_mbps'] // 1000} Gb/s, but {self.speed // 1000} Gb/s are required.",
                "Use a QSFP112 cable from NVIDIA's list, and set a switch's port to 200 Gb/s; or set fabric_speed.",
            )
        return None

    @staticmethod
    def _device(rail: Row, link: Row) -> list[Row]:
        if not link["connectx7"]:
            return []
        device, problem = link["rdma"], None
        if not device:
            problem = (
                f"{link['interface']} has no RDMA device: NCCL would use sockets.",
                "Load mlx5_ib (`modprobe mlx5_ib`) and check `ibdev2netdev`.",
            )
        elif _gid(rail, link) is None:
            problem = (
                f"{device} has no RoCE v2 GID of {_address(rail)}: NCCL cannot use this half.",
                f"See /sys/class/infiniband/{device}/ports/1/gids; the address creates it.",
            )
        rows = [_judged(f"rdma.{rail['name']}", problem, device)]
        pcie = link["pcie"] or {}
        # 32 GT/s is PCIe 5.0. Firmware before April 2026 wired the second controller with two lanes
        # (tonyd2wild's DeepSeek-v4-Flash repository, pull request 35).
        slow = pcie.get("speed") and not str(pcie["speed"]).startswith("32")
        if slow or (pcie.get("width") or 4) < 4:
            cause = f"{link['interface']} is connected at {pcie['speed']} x{pcie['width']} instead of 32.0 GT/s x4."
            remedy = "Update the firmware (`fwupdmgr update`) and power the Spark off and on."
            rows.append(_judged(f"pcie.{rail['name']}", (cause, remedy)))
        return rows

    def _peer(self, rail: Row, link: Row, peer: Row) -> list[Row]:
        interface, switch = link["interface"], rail["kind"] == "switch"
        who, name = f"{peer['host']} ({peer['address']})", f"{rail['name']}.{peer['host']}"

        def ask(frame: int) -> str | None:
            return self.probe(interface, _address(rail), peer["address"], frame)

        wrong = ask(min(SMALLEST, link["mtu"]))
        if wrong:
            cause = f"{who} does not answer on the rail {rail['name']}: {wrong}."
            vlan = "; on a switch all ports must be in one VLAN" if switch else ""
            remedy = (
                f"See the checks of {peer['host']}: its half {rail['half']} of port {peer['port']} is down, has "
                f"another address, or is cabled to another port{vlan}."
            )
            return [_judged(f"reach.{name}", (cause, remedy))]
        reached = _judged(f"reach.{name}", None, peer["address"])
        if link["mtu"] < rail["mtu"]:
            # mtu.… says what is wrong: this end cannot send such a frame.
            return [reached, _skipped(f"jumbo.{name}", f"{interface} has an MTU of {link['mtu']}")]
        if not ask(rail["mtu"]):
            return [reached, _judged(f"jumbo.{name}", None, rail["mtu"])]
        size = largest(lambda frame: ask(frame) is None, SMALLEST, rail["mtu"])
        between = "the other end or the switch between" if switch else "the other end"
        cause = (
            f"Frames of {rail['mtu']} bytes do not reach {who}, but those of {size} do: this end, {interface}, has "
            f"an MTU of {link['mtu']}, and {between} accepts {size} (most drivers accept 4 bytes more than their "
            "MTU, for a VLAN tag)."
        )
        more = ", raise the MTU of the switch's ports, or lower fabric_switch_mtu." if switch else "."
        remedy = f"Run playbooks/fabric.yml on {peer['host']}{more}"
        return [reached, _judged(f"jumbo.{name}", (cause, remedy), None, size)]

    def _halves(self, found: t.Sequence[t.Sequence[Row]]) -> list[Row]:
        """Say what it means where one half of a port works and the other does not."""
        rows = []
        for port in sorted({rail["port"] for rail in self.rails}):
            rails = [(rail, own) for rail, own in zip(self.rails, found) if rail["port"] == port]
            bad = [rail for rail, own in rails if any(row["status"] == "fail" for row in own)]
            if bad and len(bad) < len(rails):
                names = ", ".join(f"half {rail['half']} ({rail['interface'] or 'absent'})" for rail in bad)
                cause = (
                    f"Only one half of port {port} works; {names} does not. NCCL would get about half of the port's "
                    "200 Gb/s."
                )
                rows.append(_judged(f"halves.port{port}", (cause, "Fix the problem reported above for that half.")))
        return rows

    # -- bandwidth

    def measure(self, part: Row, seconds: int, floor: float) -> list[Row]:
        """Take part in one measurement with another host, half by half.

        :param part: ``link``, ``role`` (``server`` or ``client``) and ``peer``.
        """
        rows = []
        for number, rail in enumerate(rail for rail in self.rails if rail["link"] == part["link"]):
            name, link = f"bandwidth.{rail['name']}.{part['peer']}", self.links.get(rail["interface"] or "")
            if not self.info["tools"]["ib_write_bw"]:
                rows.append(_skipped(name, "ib_write_bw (package perftest) is not installed"))
            elif not link or not link["rdma"]:
                rows.append(_skipped(name, f"{rail['interface']} has no RDMA device"))
            else:
                rows.append(self._bandwidth(name, rail, link, part, FIRST_TCP_PORT + number, seconds, floor))
        return rows

    def _bandwidth(self, name: str, rail: Row, link: Row, part: Row, port: int, seconds: int, floor: float) -> Row:
        argv = [self.info["tools"]["ib_write_bw"], "-d", link["rdma"], "-i", "1", "-p", str(port), "-F"]
        argv += ["--report_gbits", "-q", "4", "-D", str(seconds)]
        gid = _gid(rail, link)
        argv += [] if gid is None else ["-x", str(gid)]
        if part["role"] == "client":
            argv.append(next(peer["address"] for peer in rail["peers"] if peer["host"] == part["peer"]))
        said, code = self._meet(argv, seconds)
        if code == 0 and part["role"] == "server":
            # The client has the figure; here it only counts that it came.
            return _judged(name, None, "served")
        value = bandwidth_of(said)
        if code != 0 or value is None:
            return _judged(name, self._did_not_meet(part, said))
        return _judged(name, self._too_slow(value, floor, link, part), round(value, 2), round(value, 2))

    def _meet(self, argv: list[str], seconds: int) -> tuple[str, int]:
        """Run one side; a client that comes before its server tries again until both have met."""
        deadline = time.monotonic() + MEETING_SECONDS
        limit = self.host.command("timeout")
        while True:
            left = max(int(deadline - time.monotonic()), 1)
            code, out, err = self.host.run([*([limit, str(left + seconds + 5)] if limit else []), *argv])
            text = f"{out}\n{err}"
            refused = "connect" in text.lower() and bandwidth_of(out) is None
            if code == 0 or not refused or time.monotonic() >= deadline:
                return text, code
            time.sleep(0.3)

    @staticmethod
    def _did_not_meet(part: Row, said: str) -> Problem:
        lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("---")]
        return (
            f"ib_write_bw did not finish with {part['peer']}: {' '.join(lines[-2:])[:200] or 'no output'}.",
            f"Both hosts must be in the play at the same time: no serial, at least two forks. Check that no firewall "
            f"blocks TCP ports {FIRST_TCP_PORT} and {FIRST_TCP_PORT + 1} on the fabric.",
        )

    @staticmethod
    def _too_slow(value: float, floor: float, link: Row, part: Row) -> Problem:
        if value >= floor:
            return None
        what = f"{link['rdma']} writes {value:.1f} Gb/s to {part['peer']}"
        low, high = DEGRADED_GBITS
        if low <= value <= high:
            return (
                f"{what} although the link reports {_speed(link)}: one end is in the degraded state that a ConnectX-7 "
                "can enter at boot or when cables change.",
                "Leave the cables as they are and reboot both hosts. If that does not help, shut both down, unplug "
                "their power supplies for 60 s, and boot; MTU and buffer sizes do not matter.",
            )
        remedy = "Stop other work on both hosts and measure again; check the PCIe link (pcie.…) and the cable."
        return f"{what}; {floor:.0f} are required.", remedy


def _address(rail: Row) -> str:
    return str(rail["address"].partition("/")[0])


def _gid(rail: Row, link: Row) -> int | None:
    """Return the index of the RoCE v2 GID of the rail's address."""
    wanted = (_address(rail), "RoCE v2")
    return next((gid["index"] for gid in link["gids"] if (gid["address"], gid["type"]) == wanted), None)


def _speed(link: Row) -> str:
    return f"{link['speed_mbps'] // 1000} Gb/s" if link["speed_mbps"] else "no speed"


def _judged(name: str, problem: Problem, passed: t.Any = None, failed: t.Any = None) -> Row:
    """Return a row: of a check that passed with what it measured, or of one that failed, with cause and remedy."""
    cause, remedy = problem or (None, None)
    status, measured = ("fail", failed) if problem else ("pass", passed)
    return {"name": name, "status": status, "measured": measured, "cause": cause, "remedy": remedy}


def _skipped(name: str, reason: str) -> Row:
    return {**_judged(name, None), "status": "skip", "cause": reason}
