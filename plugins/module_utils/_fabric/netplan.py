"""A host's part of a fabric: one netplan file, and the variables by which NCCL finds its devices.

netplan checks the file on a copy of the host's configuration before it is written. If applying it fails, or the
interface of the default route loses its addresses, the previous file is restored. ``netplan try`` is unsuitable because
it prompts on a terminal.
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

from .._core import contents, disk, phrases, receipts
from .._core.errors import SparkforgeError
from .._host import connectx, network
from .._host.reader import Host
from .rails import WHERE_THE_CARD_IS, Facts, locate

FILE = "/etc/netplan/60-sparkforge-fabric.yaml"
RECEIPT = "fabric"
POLL = 0.25
NO_NETPLAN = (
    "This host has no netplan (DGX OS and Ubuntu do), so the fabric cannot be configured.",
    "Install netplan.io if systemd-networkd or NetworkManager runs; to set addresses by other means, skip this role "
    "and use fabric_check.",
)
HEADER = "# Written by the role sparkforge.dgx_spark.fabric: change its variables instead.\n"
ENVIRONMENT_HEADER = (
    "# Written by the role sparkforge.dgx_spark.fabric. NAME=value lines, for a shell: set -a; . nccl.env; set +a\n"
)
SOCKET_VARIABLES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "UCX_NET_DEVICES", "OMPI_MCA_btl_tcp_if_include")
#: The valid characters in an environment value, which shells, systemd, docker and NCCL all read.
_VALUE = re.compile(r"[A-Za-z0-9_.,:/+^-]*")
_NAME = re.compile(r"[A-Z][A-Z0-9_]*|OMPI_MCA_[A-Za-z0-9_]+")

Rails = t.Sequence[Facts]


def render(rails: Rails, renderer: str = "") -> str:
    """Return the netplan file.

    Link-local addresses are disabled because they would add RoCE GIDs, and NCCL must use the rail's own. Boot does not
    wait for the interfaces, because a cable's other end may be off.
    """
    text = HEADER + "network:\n  version: 2\n" + (f"  renderer: {renderer}\n" if renderer else "") + "  ethernets:\n"
    for rail in rails:
        others = ", ".join(f"{peer['host']} {peer['address']}" for peer in rail["peers"])
        text += f"""\
    {rail["interface"]}:
      # {rail["name"]}: half {rail["half"]} of port {rail["port"]}, with {others}
      dhcp4: false
      dhcp6: false
      accept-ra: false
      link-local: []
      optional: true
      mtu: {rail["mtu"]}
      addresses: [{rail["address"]}]
"""
    return text


def environment(rails: Rails, socket_interface: str, extra: Facts) -> dict[str, str]:
    """Return the variables; ``extra`` overrides some of them and removes those that are null.

    ``NCCL_IB_HCA`` lists both halves of each port, because otherwise NCCL uses only one of them. The sockets by which
    processes find each other use the management network, which reaches every host in every topology
    (dgx-spark-playbooks nvidia/nccl/README.md).

    :raises SparkforgeError: for a name or a value that some reader of the file would not accept.
    """
    variables = dict.fromkeys(SOCKET_VARIABLES, socket_interface) if socket_interface else {}
    devices = [rail["rdma"] for rail in rails if rail["rdma"]]
    if devices:
        variables["NCCL_IB_HCA"] = ",".join(devices)
    variables.update(extra)
    for name, value in variables.items():
        if not _NAME.fullmatch(str(name)) or not _VALUE.fullmatch(str(value or "")):
            raise SparkforgeError(
                f"Some readers of the file would misread the name or the value of {name!r} in fabric_environment.",
                "A name has capital letters, digits and underscores, a value letters, digits and _ . , : / + ^ -.",
            )
    return {str(name): str(value) for name, value in variables.items() if value is not None}


def assign(rails: Rails, info: Facts) -> list[dict[str, t.Any]]:
    """Return the rails with this host's ``interface`` and ``rdma`` device.

    :raises SparkforgeError: if ports or halves are missing; the error lists them all.
    """
    assigned, missing = [], []
    for rail, link in locate(rails, info):
        if link:
            assigned.append({**rail, "rdma": link["rdma"]})
        else:
            name = f" ({rail['interface']})" if rail["interface"] else ""
            missing.append(f"half {rail['half']} of port {rail['port']}{name}")
    if missing:
        ports = sorted((row["port"], ", ".join(row["halves"])) for row in info["ports"])
        observed_ports = "; ".join(f"port {number}: {halves}" for number, halves in ports) or "no ConnectX-7"
        cause = f"This host lacks {', '.join(missing)} of the fabric. It has {observed_ports}."
        raise SparkforgeError(cause, f"Check {WHERE_THE_CARD_IS}")
    return assigned


def conflicts(rails: Rails, info: Facts, own: str, session: str = "") -> list[str]:
    """Return the reasons why the rails cannot be configured here, each with its remedy.

    :param own: the path of our netplan file.
    :param session: this host's address in the controller's connection, if known.
    """
    reasons = []
    own_interfaces = {rail["interface"] for rail in rails}
    management = info["management"]
    if management and management["interface"] in own_interfaces:
        reasons.append(
            f"{management['interface']} has the default route: it is the management interface, which the role does not "
            "touch. Choose another port in fabric_links, or manage the host through another interface."
        )
    for row in info["addresses"]:
        address = ipaddress.IPv4Interface(row["address"])
        if row["interface"] not in own_interfaces:
            reasons += [
                f"The subnet of {rail['address']} ({rail['name']}) overlaps with {row['address']} of "
                f"{row['interface']}. Choose other fabric_subnets, the same on all hosts."
                for rail in rails
                if address.network.overlaps(ipaddress.IPv4Interface(rail["address"]).network)
            ]
        elif str(address.ip) == session:
            reasons.append(
                f"Ansible is connected to {session} on {row['interface']}, which the role would reconfigure. "
                "Connect through the management network."
            )
    for entry in info["netplan"]["files"]:
        shared = sorted(own_interfaces & set(entry["interfaces"]))
        if shared and entry["path"] != own:
            # This is, for example, 40-cx7.yaml from NVIDIA's playbooks.
            reasons.append(
                f"{entry['path']} also configures {', '.join(shared)}, and netplan would merge both files. Move it "
                "away and run `netplan apply`."
            )
    return reasons


class FabricNetplan:
    """The fabric of one host.

    :param options: the options of the module fabric_netplan.
    :param session: see :func:`conflicts`.
    """

    def __init__(
        self, options: Facts, host: Host, check_mode: bool, warn: t.Callable[[str], None], session: str
    ) -> None:
        self.options, self.host, self.check_mode, self.warn, self.session = options, host, check_mode, warn, session
        self.file, self.root = str(options["file"]), str(options["root"])
        self.environment_file = os.path.join(self.root, "fabric", "nccl.env")

    def run(self) -> dict[str, t.Any]:
        """Apply the requested state to the host.

        :raises SparkforgeError: with the host unchanged.
        """
        if not re.fullmatch(r"/[A-Za-z0-9/._-]+\.yaml", self.file):
            raise SparkforgeError(
                f"{self.file} is not a file that netplan reads.", "Use a path in /etc/netplan that ends in .yaml."
            )
        info, before = self._observe(), receipts.read(self.root, RECEIPT) or {}
        return (self._absent if self.options["state"] == "absent" else self._present)(info, before)

    def _observe(self) -> dict[str, t.Any]:
        return connectx.observe(self.host, self.options["ports"])

    def _present(self, info: Facts, before: Facts) -> dict[str, t.Any]:
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
        values = environment(rails, self.options["socket_interface"] or management, self.options["environment"])
        lines = "".join(f"{name}={values[name]}\n" for name in sorted(values))
        texts = {self.file: render(rails, self.options["renderer"]), self.environment_file: ENVIRONMENT_HEADER + lines}
        current_texts = {path: contents.text(path) for path in texts}
        live = _deviations(rails, info) if self.options["apply"] else []
        is_readable = current_texts[self.file] is not None and os.stat(self.file).st_mode & 0o077
        outdated = bool(current_texts[self.file] != texts[self.file] or is_readable or live)
        problems = network.problems(info)
        self._warn(rails, info, problems)
        if outdated and not info["netplan"]["command"]:
            if not self.check_mode:
                raise SparkforgeError(*NO_NETPLAN)
            self.warn(" ".join(NO_NETPLAN))
        changed = outdated or current_texts != texts
        if changed and not self.check_mode:
            if outdated:
                self._check_netplan(texts[self.file], info["netplan"]["command"])
                self._switch(rails, info, before, texts[self.file])
            disk.write_file(self.environment_file, texts[self.environment_file].encode("utf-8"))
        result = {"rails": rails, "environment": values, "deviations": live, "problems": problems}
        return {**result, "changed": changed, "diff": _diff(current_texts, texts, live), "files": sorted(texts)}

    def _warn(self, rails: Rails, info: Facts, problems: t.Iterable[Facts]) -> None:
        for problem in problems:
            self.warn(f"{problem['cause']} {problem['remedy']}")
        interfaces = [rail["interface"] for rail in rails if not rail["rdma"]]
        if interfaces:
            verb = "has" if len(interfaces) == 1 else "have"
            self.warn(f"{', '.join(interfaces)} {verb} no RDMA device: NCCL would use sockets there.")
        if not info["management"] and not self.options["socket_interface"]:
            self.warn(
                "This host has no default route: set fabric_socket_interface, or NCCL chooses its sockets' interface."
            )

    def _check_netplan(self, text: str, command: str) -> None:
        """Let netplan check a copy of the host's configuration that includes our file."""
        with tempfile.TemporaryDirectory() as scratch:
            for folder in connectx.NETPLAN_FOLDERS:
                source = self.host.path(folder)
                if os.path.isdir(source) and not os.path.islink(os.path.dirname(source)):
                    shutil.copytree(source, scratch + folder, dirs_exist_ok=True)
            disk.write_file(f"{scratch}/etc/netplan/{os.path.basename(self.file)}", text.encode("utf-8"), 0o600)
            code, out, err = self.host.run([command, "generate", "--root-dir", scratch])
            if code != 0:
                message = " ".join((err or out).replace(scratch, "").split())[:400]
                raise SparkforgeError(
                    f"netplan refuses the configuration with the fabric in it: {message}.",
                    "Run `netplan generate` on the host: if it also fails without this file, correct the file that it "
                    "names. Nothing was changed.",
                )

    def _switch(self, rails: Rails, info: Facts, before: Facts, text: str | None) -> None:
        """Write the file and apply it to the interfaces; restore everything if that fails."""
        old, former = contents.text(self.file), before.get("interfaces", [])
        links = {link["interface"]: {"mtu_before": link["mtu"], "up_before": link["up"]} for link in info["links"]}
        links.update((row["interface"], row) for row in former)
        rows = [{**links[rail["interface"]], **{key: rail[key] for key in ("interface", "address")}} for rail in rails]
        if rows:
            # Write the receipt first, so that `state: absent` finds everything even after an interruption.
            receipt = {"file": self.file, "interfaces": rows, "environment": self.environment_file}
            receipts.write(self.root, RECEIPT, receipt)
        self._write_file(text)
        if not self.options["apply"]:
            return
        command = info["netplan"]["command"] if text or old else None
        try:
            self._apply(command)
            self._forget([row for row in former if row not in rows], rows)
            self._wait(rails, info)
        except SparkforgeError as error:
            self._write_file(old)
            with contextlib.suppress(SparkforgeError):
                self._apply(command)
            self._forget(rows, former)
            if before:
                receipts.write(self.root, RECEIPT, before)
            else:
                receipts.remove(self.root, RECEIPT)
            raise SparkforgeError(error.cause, f"{error.remedy} The configuration is unchanged.") from error

    def _write_file(self, text: str | None) -> None:
        if text is None:
            disk.delete(self.file)
        else:
            disk.write_file(self.file, text.encode("utf-8"), 0o600)

    def _apply(self, command: str | None) -> None:
        code, out, err = self.host.run([command, "apply"]) if command else (0, "", "")
        if code != 0:
            raise SparkforgeError(
                f"`netplan apply` failed: {' '.join((err or out).split())[-300:]}.",
                "See `journalctl -u systemd-networkd -u NetworkManager`.",
            )

    def _forget(self, rows: Rails, kept: Rails) -> None:
        """Remove addresses and MTU from interfaces, because `netplan apply` ignores unmentioned interfaces."""
        stay = {(row["interface"], row["address"]) for row in kept}
        ip = self.host.command("ip") or "ip"
        for row in rows:
            name = row["interface"]
            if (name, row["address"]) not in stay:
                # This fails if the address is already gone.
                self.host.run([ip, "address", "delete", row["address"], "dev", name])
            if name not in {interface for interface, _address in stay}:
                state = "up" if row["up_before"] else "down"
                self.host.run([ip, "link", "set", "dev", name, "mtu", str(row["mtu_before"]), state])

    def _wait(self, rails: Rails, before: Facts) -> None:
        deadline, management = self.host.clock() + self.options["wait"], before["management"] or {}
        needed = [row for row in before["addresses"] if row["interface"] == management.get("interface")]
        while True:
            now = self._observe()
            lost = [row["address"] for row in needed if row not in now["addresses"]]
            missing = _deviations(rails, now)
            if not lost and not missing:
                return
            if self.host.clock() >= deadline:
                break
            time.sleep(POLL)
        cause = f"the management interface lacks {', '.join(lost)}" if lost else "; ".join(missing)
        remedy = (
            "Correct the host's own netplan files, which do not restore them."
            if lost
            else "See `netplan status --all` and whether systemd-networkd or NetworkManager manages these interfaces "
            "(fabric_renderer names one)."
        )
        raise SparkforgeError(f"After `netplan apply` {cause}.", remedy)

    def _absent(self, info: Facts, before: Facts) -> dict[str, t.Any]:
        self.file = before.get("file") or self.file
        current_texts = {name: contents.text(name) for name in (self.file, self.environment_file)}
        changed = bool(before) or any(text is not None for text in current_texts.values())
        if changed and not self.check_mode:
            self._switch([], info, before, None)
            disk.delete(self.environment_file)
            disk.remove_empty(os.path.dirname(self.environment_file))
            receipts.remove(self.root, RECEIPT)
        result: dict[str, t.Any] = {"rails": [], "environment": {}, "files": [], "deviations": [], "problems": []}
        return {**result, "changed": changed, "diff": _diff(current_texts, dict.fromkeys(current_texts, ""), [])}


def session_address(environment_variables: t.Mapping[str, str]) -> str:
    """Return this host's address from ``SSH_CONNECTION`` (ssh(1)); sudo may have removed the variable."""
    fields = environment_variables.get("SSH_CONNECTION", "").split()
    return fields[2] if len(fields) == 4 else ""


def _deviations(rails: Rails, info: Facts) -> list[str]:
    """Return the interfaces' deviations from the plan; an interface is not checked until it has a cable."""
    deviations = []
    for rail, link in locate(rails, info):
        if not link or not link["up"]:
            deviations.append(f"{rail['interface']} is down")
        elif link["carrier"]:
            if rail["address"] not in link["addresses"]:
                deviations.append(f"{rail['interface']} has {', '.join(link['addresses']) or 'no address'}")
            if link["mtu"] != rail["mtu"]:
                deviations.append(f"{rail['interface']} has an MTU of {link['mtu']}")
    return deviations


def _diff(there: t.Mapping[str, str | None], texts: Facts, live: t.Sequence[str]) -> list[dict[str, str]]:
    pairs = [(path, there[path] or "", text) for path, text in sorted(texts.items())]
    if live:
        pairs.append(("interfaces", "".join(f"{line}\n" for line in live), "as in the netplan file\n"))
    return [phrases.diff(*pair) for pair in pairs if pair[1] != pair[2]]
