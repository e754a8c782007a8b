# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host's part of a fabric: one netplan file, and the variables with which NCCL finds its devices.

The rollback is by hand, because ``netplan try`` asks at a terminal whether the change is to stay.

Files::

    /etc/netplan/60-sparkforge-fabric.yaml    both halves of each port; 0600, as netplan demands
    <root>/fabric/nccl.env                    NAME=value lines, for shells, systemd, `docker --env-file`, NCCL_CONF_FILE
    <root>/receipts/fabric.json               what was set, to undo it

netplan's own check comes before the file is written, on a copy of the host's configuration. Where it cannot be applied,
or the interface of the default route loses its addresses, the file that was there before comes back.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import shutil
import tempfile
import time
import typing as t

from .._core import disk, modules, receipts
from .._core.errors import SparkforgeError
from .._host.reader import Host
from . import observation, render

FILE = "/etc/netplan/60-sparkforge-fabric.yaml"
RECEIPT = "fabric"
POLL = 0.25
NO_NETPLAN = (
    "This host has no netplan (DGX OS and Ubuntu do), so the fabric cannot be configured.",
    "Install netplan.io where systemd-networkd or NetworkManager runs; to set addresses by other means, skip this role "
    "and use fabric_check.",
)


def assign(rails: t.Sequence[t.Mapping[str, t.Any]], info: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return the rails with this host's ``interface`` and ``rdma`` device.

    :raises SparkforgeError: with every port or half that is not there.
    """
    links = _links(info)
    found, missing = [], []
    for rail in rails:
        name = observation.interface_of(rail, info)
        if name is None or name not in links:
            missing.append(f"half {rail['half']} of port {rail['port']}" + (f" ({name})" if name else ""))
            continue
        found.append({**rail, "interface": name, "rdma": links[name]["rdma"]})
    if missing:
        ports = sorted((row["port"], ", ".join(row["halves"])) for row in info["ports"])
        there = "; ".join(f"port {number}: {halves}" for number, halves in ports) or "no ConnectX-7"
        cause = f"This host lacks {', '.join(missing)} of the fabric. It has {there}."
        raise SparkforgeError(cause, f"Check {observation.WHERE_THE_CARD_IS}")
    return found


def conflicts(
    rails: t.Sequence[t.Mapping[str, t.Any]], info: t.Mapping[str, t.Any], own: str, session: str = ""
) -> list[str]:
    """Return why the rails cannot be set up here, one sentence each with its remedy.

    :param own: the path of our netplan file.
    :param session: the address of this host that the controller is connected to, where it is known.
    """
    found = []
    ours = {rail["interface"] for rail in rails}
    management = info["management"]
    if management and management["interface"] in ours:
        found.append(
            f"{management['interface']} has the default route: it is the management interface, which the role does not "
            f"touch. Choose another port in fabric_links, or manage the host through another interface."
        )
    for row in info["addresses"]:
        address = ipaddress.IPv4Interface(row["address"])
        if row["interface"] in ours:
            if session and str(address.ip) == session:
                found.append(
                    f"Ansible is connected to {session} on {row['interface']}, which the role would reconfigure. "
                    "Connect through the management network."
                )
            continue
        for rail in rails:
            if address.network.overlaps(ipaddress.IPv4Interface(rail["address"]).network):
                found.append(
                    f"The subnet of {rail['address']} ({rail['name']}) overlaps with {row['address']} of "
                    f"{row['interface']}. Choose other fabric_subnets, the same on all hosts."
                )
    for entry in info["netplan"]["files"]:
        both = sorted(ours & set(entry["interfaces"]))
        if both and entry["path"] != own:
            # 40-cx7.yaml is what NVIDIA's playbooks write.
            found.append(
                f"{entry['path']} also configures {', '.join(both)}, and netplan would merge both files. Move it away "
                f"and run `netplan apply`."
            )
    return found


class FabricNetplan:
    """The fabric of one host.

    :param options: ``state``, ``rails``, ``ports``, ``file``, ``renderer``, ``apply``, ``wait``, ``environment``,
        ``socket_interface`` and ``root``.
    """

    def __init__(
        self,
        options: t.Mapping[str, t.Any],
        host: Host,
        check_mode: bool = False,
        warn: t.Callable[[str], None] = lambda _text: None,
        session: str = "",
    ) -> None:
        self.options, self.host, self.check_mode, self.warn, self.session = options, host, check_mode, warn, session
        self.file: str = options["file"]
        self.root: str = options["root"]
        self.environment_file = os.path.join(self.root, "fabric", "nccl.env")

    def run(self) -> dict[str, t.Any]:
        """Bring the host to its state.

        :raises SparkforgeError: with the host as it was.
        """
        if not re.fullmatch(r"/[A-Za-z0-9/._-]+\.yaml", self.file):
            raise SparkforgeError(
                f"{self.file} is not a file that netplan reads.", "Use a path in /etc/netplan that ends in .yaml."
            )
        info = self._observe()
        before = receipts.read(self.root, RECEIPT) or {}
        if self.options["state"] == "absent":
            return self._absent(info, before)
        return self._present(info, before)

    def _observe(self) -> dict[str, t.Any]:
        return observation.FabricInfo(self.host, self.options["ports"]).observe()

    # -- present

    def _present(self, info: t.Mapping[str, t.Any], before: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        if not self.options["rails"]:
            raise SparkforgeError(
                "No rails are set: the host would not be part of the fabric.",
                "Set rails to what the lookup plan returns for fabric, or set state to absent.",
            )
        rails = assign(self.options["rails"], info)
        against = conflicts(rails, info, self.file, self.session)
        if against:
            raise SparkforgeError(" ".join(against), "Nothing was changed on this host.")
        management = info["management"]["interface"] if info["management"] else ""
        values = render.environment(rails, self.options["socket_interface"] or management, self.options["environment"])
        wanted = {
            self.file: render.render(rails, self.options["renderer"]),
            self.environment_file: render.render_environment(values),
        }
        there = {path: _read(path) for path in wanted}
        live = self._deviations(rails, info) if self.options["apply"] else []
        loose = there[self.file] is not None and os.stat(self.file).st_mode & 0o077
        network = there[self.file] != wanted[self.file] or bool(loose) or bool(live)
        result = _result(network or there != wanted, _diff(there, wanted, live), rails, values, wanted, live)
        result["problems"] = observation.problems(info)
        for problem in result["problems"]:
            self.warn(f"{problem['cause']} {problem['remedy']}")
        self._say_what_lacks_devices(rails, info)
        command = info["netplan"]["command"]
        if network and not command:
            if not self.check_mode:
                raise SparkforgeError(*NO_NETPLAN)
            self.warn(" ".join(NO_NETPLAN))
        if result["changed"] and not self.check_mode:
            if network:
                self._check_netplan(wanted[self.file], command)
                self._switch(rails, info, before, wanted[self.file], command)
            disk.make_directories(os.path.dirname(self.environment_file))
            disk.write_file(self.environment_file, wanted[self.environment_file].encode("utf-8"))
        return result

    def _say_what_lacks_devices(self, rails: t.Sequence[t.Mapping[str, t.Any]], info: t.Mapping[str, t.Any]) -> None:
        bare = [rail["interface"] for rail in rails if not rail["rdma"]]
        if bare:
            self.warn(
                f"{', '.join(bare)} {'has' if len(bare) == 1 else 'have'} no RDMA device: NCCL would use sockets there."
            )
        if not info["management"] and not self.options["socket_interface"]:
            self.warn(
                "This host has no default route: set fabric_socket_interface, or NCCL chooses its sockets' interface."
            )

    def _deviations(self, rails: t.Sequence[t.Mapping[str, t.Any]], info: t.Mapping[str, t.Any]) -> list[str]:
        """Return what the interfaces lack; one without a cable shows nothing, and is left for when it has one."""
        links, found = _links(info), []
        for rail in rails:
            link = links[rail["interface"]]
            if not link["up"]:
                found.append(f"{rail['interface']} is down")
            elif link["carrier"]:
                if rail["address"] not in link["addresses"]:
                    found.append(f"{rail['interface']} has {', '.join(link['addresses']) or 'no address'}")
                if link["mtu"] != rail["mtu"]:
                    found.append(f"{rail['interface']} has an MTU of {link['mtu']}")
        return found

    def _check_netplan(self, text: str, command: str) -> None:
        """Let netplan read a copy of the host's configuration with our file in it."""
        with tempfile.TemporaryDirectory() as scratch:
            for folder in observation.NETPLAN_FOLDERS:
                source = self.host.path(folder)
                if os.path.isdir(source) and not os.path.islink(os.path.dirname(source)):
                    shutil.copytree(source, scratch + folder, dirs_exist_ok=True)
            path = os.path.join(scratch, "etc/netplan", os.path.basename(self.file))
            disk.write_file(path, text.encode("utf-8"), 0o600)
            code, out, err = self.host.run([command, "generate", "--root-dir", scratch])
            if code != 0:
                said = " ".join((err or out).replace(scratch, "").split())[:400]
                raise SparkforgeError(
                    f"netplan refuses the configuration with the fabric in it: {said}.",
                    "Run `netplan generate` on the host: if it also fails without this file, correct the file that it "
                    "names. Nothing was changed.",
                )

    def _switch(
        self,
        rails: t.Sequence[t.Mapping[str, t.Any]],
        info: t.Mapping[str, t.Any],
        before: t.Mapping[str, t.Any],
        text: str,
        command: str,
    ) -> None:
        old = _read(self.file)
        links = _links(info)
        known = {row["interface"]: row for row in before.get("interfaces", [])}
        rows = []
        for name, address in [(rail["interface"], rail["address"]) for rail in rails]:
            was = {"mtu_before": links[name]["mtu"], "up_before": links[name]["up"], **known.get(name, {})}
            rows.append({**was, "interface": name, "address": address})
        gone = [row for row in before.get("interfaces", []) if row not in rows]
        # First, so that `state: absent` finds all of it whenever this ends.
        after = {"file": self.file, "interfaces": rows, "environment": self.environment_file}
        receipts.write(self.root, RECEIPT, after)
        self._write_file(text)
        if not self.options["apply"]:
            return
        try:
            self._apply(command)
            self._forget(gone, rows)
            self._wait(rails, info)
        except SparkforgeError as error:
            self._write_file(old)
            with contextlib.suppress(SparkforgeError):
                self._apply(command)
            self._forget(rows, before.get("interfaces", []))
            if before:
                receipts.write(self.root, RECEIPT, before)
            else:
                receipts.remove(self.root, RECEIPT)
            raise SparkforgeError(error.cause, f"{error.remedy} The configuration is unchanged.") from error

    def _write_file(self, text: str | None) -> None:
        try:
            if text is not None:
                disk.write_file(self.file, text.encode("utf-8"), 0o600)
            elif os.path.exists(self.file):
                os.unlink(self.file)
        except OSError as error:
            cause = f"{self.file} cannot be written: {error.strerror}."
            raise SparkforgeError(cause, "Set become for this task.") from error

    def _apply(self, command: str) -> None:
        code, out, err = self.host.run([command, "apply"])
        if code != 0:
            raise SparkforgeError(
                f"`netplan apply` failed: {' '.join((err or out).split())[-300:]}.",
                "See `journalctl -u systemd-networkd -u NetworkManager`.",
            )

    def _forget(self, rows: t.Sequence[t.Mapping[str, t.Any]], kept: t.Sequence[t.Mapping[str, t.Any]]) -> None:
        """Take addresses and MTU back from interfaces; `netplan apply` leaves what no file mentions as it is."""
        stay = {(row["interface"], row["address"]) for row in kept}
        used = {row["interface"] for row in kept}
        ip = self.host.command("ip") or "ip"
        for row in rows:
            if (row["interface"], row["address"]) not in stay:
                # It may be gone already.
                self.host.run([ip, "address", "delete", row["address"], "dev", row["interface"]])
            if row["interface"] not in used:
                state = "up" if row["up_before"] else "down"
                self.host.run([ip, "link", "set", "dev", row["interface"], "mtu", str(row["mtu_before"]), state])

    def _wait(self, rails: t.Sequence[t.Mapping[str, t.Any]], info: t.Mapping[str, t.Any]) -> None:
        deadline = self.host.clock() + self.options["wait"]
        while True:
            now = self._observe()
            lost = self._lost(info, now)
            missing = self._deviations(rails, now)
            if not lost and not missing:
                return
            if self.host.clock() >= deadline:
                break
            time.sleep(POLL)
        if lost:
            raise SparkforgeError(
                f"After `netplan apply` the management interface lacks {', '.join(lost)}.",
                "Correct the host's own netplan files, which do not restore them.",
            )
        raise SparkforgeError(
            f"After `netplan apply` {'; '.join(missing)}.",
            "See `netplan status --all` and whether systemd-networkd or NetworkManager manages these interfaces "
            "(fabric_renderer names one).",
        )

    @staticmethod
    def _lost(before: t.Mapping[str, t.Any], now: t.Mapping[str, t.Any]) -> list[str]:
        if not before["management"]:
            return []
        name = before["management"]["interface"]
        there = {row["address"] for row in now["addresses"] if row["interface"] == name}
        return [address for address in before["management"]["addresses"] if address not in there]

    # -- absent

    def _absent(self, info: t.Mapping[str, t.Any], before: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        path = before.get("file") or self.file
        names = [path, self.environment_file]
        there = {name: _read(name) for name in names}
        changed = bool(before) or any(text is not None for text in there.values())
        result = _result(changed, _diff(there, dict.fromkeys(names, ""), []))
        if not changed or self.check_mode:
            return result
        command = info["netplan"]["command"]
        old = there[path]
        self.file = path
        self._write_file(None)
        if self.options["apply"] and command and old is not None:
            try:
                self._apply(command)
            except SparkforgeError as error:
                self._write_file(old)
                raise SparkforgeError(error.cause, f"{error.remedy} {path} was restored.") from error
        if self.options["apply"]:
            self._forget(before.get("interfaces", []), [])
        if os.path.exists(self.environment_file):
            os.unlink(self.environment_file)
        with contextlib.suppress(OSError):  # others' files, or gone already
            os.rmdir(os.path.dirname(self.environment_file))
        receipts.remove(self.root, RECEIPT)
        return result


def session_address(environment_variables: t.Mapping[str, str]) -> str:
    """Return the address of this host in ``SSH_CONNECTION`` (ssh(1)); sudo may have taken the variable away."""
    words = environment_variables.get("SSH_CONNECTION", "").split()
    return words[2] if len(words) == 4 else ""


def _links(info: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return {link["interface"]: link for link in info["links"]}


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SparkforgeError(f"{path} cannot be read: {error.strerror}.", "Set become for this task.") from error


def _result(
    changed: bool,
    diff: list[dict[str, str]],
    rails: t.Sequence[t.Any] = (),
    environment: t.Mapping[str, str] | None = None,
    files: t.Iterable[str] = (),
    deviations: t.Sequence[str] = (),
) -> dict[str, t.Any]:
    more = {"environment": environment or {}, "files": sorted(files), "deviations": list(deviations), "problems": []}
    return {"changed": changed, "diff": diff, "rails": list(rails), **more}


def _diff(
    there: t.Mapping[str, str | None], wanted: t.Mapping[str, str], live: t.Sequence[str]
) -> list[dict[str, str]]:
    rows = [
        modules.diff(path, there[path] or "", wanted[path])
        for path in sorted(wanted)
        if (there[path] or "") != wanted[path]
    ]
    if live:
        rows.append(modules.diff("interfaces", "".join(f"{line}\n" for line in live), "as in the netplan file\n"))
    return rows
