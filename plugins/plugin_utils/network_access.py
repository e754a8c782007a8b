"""Proxies and a corporate CA: environment variables for downloads, and files on a host.

No message contains a proxy's user or password.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import ssl
import typing as t
from urllib.parse import urlsplit

from ..module_utils._core.errors import SparkforgeError
from ..module_utils._core.modules import PROXIES_VARIABLE

CA_FILE = "/usr/local/share/ca-certificates/sparkforge.crt"
APT_FILE = "/etc/apt/apt.conf.d/51sparkforge-proxy"
# The collection's modules read this file instead of an environment with a password.
PROXIES_FILE = "/etc/sparkforge-proxies.json"
# The bundle that update-ca-certificates makes on Debian and Ubuntu from the system's CAs and ours.
CA_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
PROXY_KEYS = ("http", "https", "no_proxy")

# The characters allowed in a URL; quotes, spaces and backslashes would cut off a value for apt or a shell.
_URL_TEXT = re.compile(r"^[A-Za-z0-9._~:/?#\[\]@!$&()*+,=%-]+$")
_HOST_TEXT = re.compile(r"^[A-Za-z0-9.*_:/\[\]-]+$")


class Problem(t.NamedTuple):
    """An error in one of the two variables."""

    cause: str
    remedy: str


def no_proxy_hosts(value: t.Any) -> list[str]:
    """Return the hosts that bypass the proxy, from a list or from a string separated by commas or spaces."""
    if isinstance(value, str):
        return value.replace(",", " ").split()
    return [str(host).strip() for host in value or []]


def _proxy_problem(key: str, value: t.Any) -> Problem | None:
    name = f"sparkforge_proxies.{key}"
    remedy = "Write it as http://proxy.example.com:3128, with user:password@ before the host if needed."
    if not isinstance(value, str) or not _URL_TEXT.match(value):
        return Problem(
            f"{name} is not a URL: it is not a string, or contains blanks, quotes or other invalid characters.", remedy
        )
    try:
        parts = urlsplit(value)
        is_valid_port = parts.port is None or parts.port > 0
    except ValueError:
        return Problem(f"{name} has an invalid port or host.", remedy)
    if parts.scheme not in ("http", "https"):
        return Problem(f"{name} does not begin with http:// or https://.", remedy)
    if not parts.hostname or not is_valid_port:
        return Problem(f"{name} has no host.", remedy)
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        return Problem(f"{name} has a path after host and port.", remedy)
    return None


def proxy_problems(proxies: t.Any) -> list[Problem]:
    """Return every error in ``sparkforge_proxies``."""
    if not isinstance(proxies, t.Mapping):
        return [
            Problem(
                f"sparkforge_proxies is {type(proxies).__name__}, not a mapping.",
                "Write it as a mapping with the keys http, https and no_proxy.",
            )
        ]
    problems = [
        Problem(f"sparkforge_proxies has the unknown key {key}.", f"The keys are {', '.join(PROXY_KEYS)}.")
        for key in proxies
        if key not in PROXY_KEYS
    ]
    for key in ("http", "https"):
        problem = _proxy_problem(key, proxies[key]) if proxies.get(key) else None
        problems += [problem] if problem else []
    hosts = proxies.get("no_proxy")
    if hosts is not None and not isinstance(hosts, (str, list)):
        problems.append(
            Problem("sparkforge_proxies.no_proxy is neither a list nor a string.", "Write it as a list of hosts.")
        )
    elif any(not _HOST_TEXT.match(host) for host in no_proxy_hosts(hosts)):
        problems.append(
            Problem(
                "sparkforge_proxies.no_proxy has an entry that is not a host.",
                "Write host names, domains such as .example.com, addresses or networks.",
            )
        )
    return problems


def certificate_problem(text: str) -> str | None:
    """Return the fault in a PEM file with certificates, or None if it is valid."""
    if "PRIVATE KEY-----" in text:
        return "contains a private key"
    if "-----BEGIN CERTIFICATE-----" not in text:
        return "contains no PEM certificate"
    try:
        # Text between the certificates may contain non-ASCII characters, which OpenSSL does not accept.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text.encode("ascii", "ignore").decode())
    except ssl.SSLError:
        return "contains something other than an X.509 certificate"
    return None


def certificate_text(path: str) -> str:
    """Return a PEM file's text, ending with a newline.

    :raises OSError: if the file cannot be read.
    :raises UnicodeDecodeError: if the file is not text.
    """
    with open(os.path.expanduser(path), encoding="utf-8") as stream:
        return stream.read().strip() + "\n"


def ca_problems(path: t.Any) -> list[Problem]:
    """Return every error in ``sparkforge_ca_certificate``, a path on the controller."""
    if not path:
        return []
    remedy = "Set sparkforge_ca_certificate to the path, on the controller, of the CA's certificate in PEM."
    if not isinstance(path, str):
        return [Problem(f"sparkforge_ca_certificate is {type(path).__name__}, not a path.", remedy)]
    try:
        fault = certificate_problem(certificate_text(path))
    except OSError as error:
        return [Problem(f"The CA certificate {path} cannot be read ({error.strerror}).", remedy)]
    except UnicodeDecodeError:
        return [
            Problem(
                f"The CA certificate {path} is not PEM.",
                f"Convert it with `openssl x509 -inform der -in {path} -out ca.pem`.",
            )
        ]
    return [Problem(f"The CA certificate {path} {fault}.", remedy)] if fault else []


def problems(proxies: t.Any, ca_path: t.Any) -> list[Problem]:
    """Return every error in the two variables."""
    return proxy_problems(proxies) + ca_problems(ca_path)


def has_password(proxies: t.Mapping[str, t.Any]) -> bool:
    """Tell whether one of the proxy URLs contains a password."""
    return any(urlsplit(str(proxies.get(key) or "")).password for key in ("http", "https"))


def proxy_environment(proxies: t.Mapping[str, t.Any]) -> dict[str, str]:
    """Return the proxy variables in lower and upper case, for curl, pip, git and Python."""
    variables: dict[str, str] = {}
    for key, variable in (("http", "http_proxy"), ("https", "https_proxy")):
        if proxies.get(key):
            variables[variable] = variables[variable.upper()] = proxies[key]
    hosts = no_proxy_hosts(proxies.get("no_proxy"))
    if hosts:
        variables["no_proxy"] = variables["NO_PROXY"] = ",".join(hosts)
    return variables


def fetch_environment(proxies: t.Any, ca_certificate: t.Any = "") -> dict[str, str]:
    """Return the environment variables for downloads: the proxies, and the bundle that contains the CA.

    Proxies with a password are in a file that only root can read; the collection's modules read them from there.

    :raises SparkforgeError: for an invalid proxy or certificate, with all causes.
    """
    faults = problems(proxies or {}, ca_certificate)
    if faults:
        *others, last = faults
        causes = [*(f"{fault.cause} {fault.remedy}" for fault in others), last.cause]
        raise SparkforgeError(" ".join(causes), last.remedy)
    proxies = proxies or {}
    variables = {PROXIES_VARIABLE: PROXIES_FILE} if has_password(proxies) else proxy_environment(proxies)
    return {**variables, **dict.fromkeys(CA_VARIABLES if ca_certificate else (), CA_BUNDLE)}


def apt_text(proxies: t.Mapping[str, t.Any]) -> str:
    """Return apt's configuration for the proxies, or '' without proxies.

    apt accepts single hosts as exceptions, but not domains or networks (apt.conf(5)).
    """
    schemes = [key for key in ("http", "https") if proxies.get(key)]
    if not schemes:
        return ""
    lines = ["// Written by sparkforge.dgx_spark.network_access: change sparkforge_proxies instead."]
    for key in schemes:
        lines.append(f'Acquire::{key}::Proxy "{proxies[key]}";')
        lines += [
            f'Acquire::{key}::Proxy::{host} "DIRECT";'
            for host in no_proxy_hosts(proxies.get("no_proxy"))
            if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", host)
        ]
    return "\n".join(lines) + "\n"


def files(proxies: t.Mapping[str, t.Any], ca_path: str) -> dict[str, dict[str, str]]:
    """Return the files' target state: path -> ``content``, ``mode``, ``sha256``; empty content means absent.

    Only root may read a proxy's password: apt reads its configuration as root and passes it to its methods, so the user
    _apt need not read the file. An ordinary user's apt skips it.
    """
    secret = has_password(proxies)
    proxies_text = json.dumps(proxy_environment(proxies), indent=1, sort_keys=True) + "\n" if secret else ""
    rows = {
        APT_FILE: (apt_text(proxies), "0600" if secret else "0644"),
        PROXIES_FILE: (proxies_text, "0600"),
        CA_FILE: (certificate_text(ca_path) if ca_path else "", "0644"),
    }
    return {
        path: {
            "content": content,
            "mode": mode,
            "sha256": hashlib.sha256(content.encode()).hexdigest() if content else "",
        }
        for path, (content, mode) in rows.items()
    }
