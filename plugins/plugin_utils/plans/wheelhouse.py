"""The plan of the `wheelhouse` role: nginx's files for serving the wheels, and the settings that cannot work."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
import typing as t
from pathlib import Path

import jinja2

from . import Plan, packages

TEMPLATES = Path(__file__).parents[3] / "roles/wheelhouse/templates"
#: The addresses through which the host itself reaches a server that listens on every address.
_LOCAL = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - is compared
#: A cause and its remedy.
Fault = tuple[str, str]


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the steps to serve the wheelhouse; certificate and key are read on the controller.

    Steps: ``site`` with its ``addresses``, its ``url`` on the host itself, and its ``content``; ``tls``, the
    certificate with its chain and its key, which must not be printed; ``salt``, for the password's hash; ``packages``;
    ``first``, set if nginx is not installed. From an observation (``__wheelhouse_observed``) it derives ``serve``, set
    if anything differs; ``reload``, if nginx does not listen; ``stale``, the files to remove; ``unit``, a drop-in that
    confines nginx's unit if it has no other site; and ``opened``, set if that drop-in is to be removed.
    """
    pem, faults = _pem([str(settings[f"wheelhouse_tls_{part}"] or "") for part in ("certificate", "key")])
    username, password = str(settings["wheelhouse_username"]), str(settings["wheelhouse_password"])
    root, port, listen = str(settings["sparkforge_root"]), settings["wheelhouse_port"], settings["wheelhouse_listen"]
    addresses = [_address(str(text)) for text in (listen.split(",") if isinstance(listen, str) else listen)]
    faults = [*_address_problems(root, listen, addresses, port), *faults, *_account(username, password)]
    if faults:
        return Plan(refusals=[{"cause": cause, "remedy": remedy} for cause, remedy in faults])
    url = f"http{'s' if pem else ''}://{_LOCAL.get(addresses[0], addresses[0])}:{port}"
    site: dict[str, t.Any] = {"addresses": addresses, "url": url}
    directory = settings["__wheelhouse_directory"]
    variables = {
        "sparkforge_root": root, "wheelhouse_port": port, "wheelhouse_password": bool(password),
        "__wheelhouse_addresses": addresses, "__wheelhouse_tls": bool(pem), "__wheelhouse_directory": directory,
    }  # fmt: skip
    site["content"] = _render("site.conf.j2", variables)
    missing = packages(["nginx", *(["openssl"] if password else [])], observation)
    # The salt is the same each time, so that a password always gives the same line, but it differs between hosts.
    salt = hashlib.sha256(f"{settings['inventory_hostname']}{username}".encode()).hexdigest()[:16]
    tls, htpasswd = f"{directory}/tls.pem", f"{directory}/htpasswd"
    observed = (settings.get("__wheelhouse_observed") or {}).get("stdout")
    unit = _render("unit.conf.j2", variables) if "alone" in (observed or "").splitlines() else ""
    unit_path = settings["__wheelhouse_unit"]
    expected = _expected_lines(settings["__wheelhouse_site"], site["content"], "644") | {"listening", "enabled"}
    expected |= _expected_lines(unit_path, unit, "644") if unit else set()
    # If root starts nginx, its workers need not read the key.
    expected |= _expected_lines(tls, f"{pem}\n", *(("640", "www-data") if unit else ("600",))) if pem else set()
    expected |= {"password", f"640 root:www-data {htpasswd}"} if password else set()
    lines = set(observed.splitlines()) if observed is not None else expected
    unit_remains = not unit and _mentions(lines, unit_path)
    stale = [path for path, content in ((tls, pem), (htpasswd, password)) if not content and _mentions(lines, path)]
    serves = expected <= lines and not stale and not unit_remains
    steps = {
        "site": site,
        "tls": pem,
        "salt": salt if password else "",
        "first": "nginx" not in observation["apt"]["packages"],
        "serve": not serves,
        "reload": "listening" not in lines,
        "stale": stale,
        "unit": unit,
        "opened": unit_remains,
        **missing.steps,
    }
    note = (
        "The wheelhouse asks for a password without TLS, so anyone on the network can read it. Set"
        " wheelhouse_tls_certificate and wheelhouse_tls_key."
    )
    return Plan(
        {name: step for name, step in steps.items() if step},
        [*missing.reasons, *([] if serves else [f"serve the wheelhouse at {url}"])],
        notes=[note] if password and not pem else [],
    )


def _render(template: str, variables: t.Mapping[str, t.Any]) -> str:
    environment = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True)  # noqa: S701
    return environment.from_string((TEMPLATES / template).read_text(encoding="utf-8")).render(variables)


def _expected_lines(path: str, content: str, mode: str, group: str = "root") -> set[str]:
    """Return the lines that roles/wheelhouse/files/observe.sh prints for a file in its target state."""
    return {f"{mode} root:{group} {path}", f"{hashlib.sha256(content.encode()).hexdigest()}  {path}"}


def _mentions(lines: t.Iterable[str], path: str) -> bool:
    return any(line.endswith(f" {path}") for line in lines)


def _address(text: str) -> str:
    """Return an address in the form for nginx and URLs, with IPv6 in brackets, or '' if it is invalid."""
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return ""
    # nginx does not support zones.
    return "" if "%" in host else f"[{host}]" if ":" in host else host


def _address_problems(root: str, listen: t.Any, addresses: t.Sequence[str], port: t.Any) -> t.Iterator[Fault]:
    if not re.fullmatch(r"/[A-Za-z0-9._/+-]+", root):
        yield (
            f"The root {root} cannot be used in nginx's configuration.",
            "Set sparkforge_root to an absolute path of letters, digits, '.', '_', '+' and '-'.",
        )
    if not addresses or not all(addresses):
        yield (
            f"{json.dumps(listen)} are not addresses to listen on.",
            "Set wheelhouse_listen to addresses of this host, or to 0.0.0.0 for all of them.",
        )
    if not re.fullmatch(r"\d{1,5}", str(port)) or not 0 < int(port) < 65536:
        yield f"{port} is not a port.", "Set wheelhouse_port to a number from 1 to 65535."


def _pem(paths: t.Sequence[str]) -> tuple[str, list[Fault]]:
    """Return the certificate and key in one text, which is replaced on a host in one step, or '' for plain HTTP."""
    variable_names = "wheelhouse_tls_certificate and wheelhouse_tls_key"
    if bool(paths[0]) != bool(paths[1]):
        given_part = "certificate but no key" if paths[0] else "key but no certificate"
        return "", [(f"The wheelhouse has a {given_part}.", f"Set both {variable_names}, or neither.")]
    texts, faults = [], []
    for path in filter(None, paths):
        try:
            texts.append(Path(path).expanduser().read_text(encoding="utf-8").rstrip())
        except (OSError, UnicodeDecodeError):
            cause = f"{path} is not a file on the controller that can be read as PEM."
            faults.append((cause, f"Set {variable_names} to the PEM files, or clear both for plain HTTP."))
    if any("ENCRYPTED" in text for text in texts):
        cause = f"{paths[1]} has a passphrase."
        faults.append((cause, "Set wheelhouse_tls_key to a key without one: nginx starts unattended."))
    return "\n".join(texts), faults


def _account(username: str, password: str) -> t.Iterator[Fault]:
    if bool(username) != bool(password):
        given_part = "user name but no password" if username else "password but no user name"
        yield f"The wheelhouse has a {given_part}.", "Set both wheelhouse_username and wheelhouse_password, or neither."
    # openssl passwd reads at most 256 bytes.
    if (
        re.search(r"[\x00-\x1f\x7f:]", username)
        or re.search(r"[\x00-\x1f\x7f]", password)
        or len(password.encode()) > 255
    ):
        yield (
            "The user name of the wheelhouse has a colon, or it or the password has a line break or another control"
            " character, or the password is longer than 255 bytes.",
            "Set another wheelhouse_username or wheelhouse_password; | trim removes a file's trailing line break.",
        )
