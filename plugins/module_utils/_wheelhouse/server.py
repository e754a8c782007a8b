# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""nginx in front of the wheelhouse: one server of plain files, asked whether it serves what it was told to.

Files::

    /etc/nginx/conf.d/sparkforge-wheelhouse.conf
    /etc/nginx/sparkforge-wheelhouse/certificate.pem, key.pem, htpasswd

One page of the server says the digest of its own configuration. That one question settles whether nginx runs, has read
these files, and listens where it is to: a host that answers it as expected is converged.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import errno
import glob
import grp
import hashlib
import hmac
import http.client
import ipaddress
import os
import re
import secrets
import shutil
import socket
import ssl
import stat
import tempfile
import time
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached, disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

#: Runs an argument list with these additions to the environment; returns exit status, stdout, stderr.
Run = t.Callable[[t.List[str], t.Dict[str, str]], t.Tuple[int, str, str]]

NAME = "sparkforge-wheelhouse"
#: What says which configuration is served; it is no secret, and asks for no password.
PROBE = "/-/configuration"
#: Of Debian's and Ubuntu's package; the account of the workers is in it.
GROUP = "www-data"
PATIENCE = 20.0  # seconds that nginx has to take the new configuration
_RECEIPT = "nginx-wheelhouse"
_ROOT = re.compile(r"/[A-Za-z0-9._/+-]*[A-Za-z0-9._+-]")
_WORDS = re.compile(r"[^\x00-\x1f\x7f]+")


@dataclasses.dataclass(frozen=True)
class File:
    """A file as it is to be."""

    content: bytes = dataclasses.field(repr=False)
    mode: int = 0o644
    group: int = 0
    secret: bool = False


def render(
    root: str, listen: t.Sequence[str], port: int, directory: str, *, tls: bool, password: bool, digest: str
) -> str:
    """Return the server file. It serves manifests, the simple index and wheels, and nothing else that lies there."""
    lines = [
        "# Written by the role sparkforge.dgx_spark.wheelhouse, which overwrites changes.",
        "server {",
        *(f"    listen {_address(one)}:{port}{' ssl' if tls else ''};" for one in listen),
        "    server_name _;",
        f"    root {root}/wheelhouse;",
        "    autoindex off;",
        "    server_tokens off;",
        "    absolute_redirect off;",
        "    # A build must not be able to publish what lies elsewhere.",
        "    disable_symlinks on from=$document_root;",
    ]
    if tls:
        lines += [
            f"    ssl_certificate {directory}/certificate.pem;",
            f"    ssl_certificate_key {directory}/key.pem;",
            "    ssl_protocols TLSv1.2 TLSv1.3;",
        ]
    if password:
        lines += ['    auth_basic "wheelhouse";', f"    auth_basic_user_file {directory}/htpasswd;"]
    lines += [
        '    location ~ "^/[^/]+/simple/([^/.][^/]*/)?(index\\.html)?$" {',
        "        index index.html;",
        "    }",
        '    location ~ "^/[^/]+/manifests/[^/.][^/]*\\.json$" {',
        "        default_type application/json;",
        "        add_header Cache-Control no-cache;",
        "    }",
        '    location ~ "^/[^/]+/[a-z][a-z0-9_]*/[0-9a-f]{16}/[^/.][^/]*\\.whl$" {',
        "        default_type application/octet-stream;",
        "    }",
        f"    location = {PROBE} {{",
        "        auth_basic off;",
        "        default_type text/plain;",
        f'        return 200 "{digest}\\n";',
        "    }",
        "    location / {",
        "        return 404;",
        "    }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def hashed(username: str, password: str, salt: bytes) -> bytes:
    """Return the line of an htpasswd file, as nginx's ``{SSHA}`` has it."""
    # SHA-1 is what nginx offers on every libc; the file can be read by root and nginx alone.
    digest = hashlib.sha1(password.encode("utf-8") + salt, usedforsecurity=False).digest()
    return b"%s:{SSHA}%s\n" % (username.encode("utf-8"), base64.b64encode(digest + salt))


def holds_password(content: bytes, username: str, password: str) -> bool:
    """Tell whether a file of passwords has just this one."""
    name, _colon, rest = content.partition(b":{SSHA}")
    try:
        salt = base64.b64decode(rest.strip(), validate=True)[20:]
    except ValueError:
        return False
    return (
        bool(salt)
        and name == username.encode("utf-8")
        and hmac.compare_digest(content, hashed(username, password, salt))
    )


def _address(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class Server:
    """The wheelhouse's server on this host.

    :param options: the options of the module ``wheelhouse_server``.
    :param run: runs commands.
    :param etc: where nginx is configured.
    """

    def __init__(
        self, options: t.Mapping[str, t.Any], run: Run, check_mode: bool = False, etc: str = "/etc/nginx"
    ) -> None:
        self.options = options
        self.run = run
        self.check_mode = check_mode
        self.root = os.path.abspath(options["root"])
        self.file = os.path.join(etc, "conf.d", f"{NAME}.conf")
        self.directory = os.path.join(etc, NAME)
        self.default_site = os.path.join(etc, "sites-enabled", "default")
        self.certificate: str = options.get("certificate") or ""
        self.key: str = options.get("key") or ""
        self.username: str = options.get("username") or ""
        self.password: str = options.get("password") or ""
        self.listen = [str(one).strip("[]") for one in options["listen"]]
        self.port: int = options["port"]
        self.warnings: t.List[str] = []

    # --- present -----------------------------------------------------------------------------------------------

    def present(self) -> t.Dict[str, t.Any]:
        """Have it served.

        :raises SparkforgeError: then nginx serves what it served before.
        """
        self._check()
        wanted = self._wanted()
        digest = self._digest()
        there = {path: _look(path) for path in [*wanted, *self._ours()]}
        differ = [path for path, found in there.items() if found != wanted.get(path)]
        dull = self._is_default_site_ours()
        reasons = []
        if not differ and not dull:
            said = self._ask()
            if said != digest:
                reasons.append("nginx does not serve it")
            if not self._is_enabled():
                reasons.append("nginx is not started at boot")
        changed = bool(differ or dull or reasons)
        result = {
            "changed": changed,
            "url": self._url(),
            "files": sorted(wanted),
            "reasons": reasons,
            "diff": self._diff(there, wanted, differ, reasons, dull),
        }
        if changed and not self.check_mode:
            with receipts.lock(self.root, _RECEIPT):
                self._apply(wanted, there, differ, digest)
        return result

    def _check(self) -> None:
        if not _ROOT.fullmatch(self.root):
            raise SparkforgeError(
                f"The root {self.root!r} cannot stand in a configuration of nginx.",
                "Give an absolute path of letters, digits, '.', '_', '+' and '-'.",
            )
        if not 0 < self.port < 65536:
            raise SparkforgeError(f"{self.port} is not a port.", "Set wheelhouse_port to a number from 1 to 65535.")
        if not self.listen:
            raise SparkforgeError(
                "There is no address to listen at.", "Set wheelhouse_listen, to 0.0.0.0 for every one."
            )
        for address in self.listen:
            try:
                ipaddress.ip_address(address)
            except ValueError as error:
                raise SparkforgeError(
                    f"{address!r} is not an address to listen at.",
                    "Set wheelhouse_listen to addresses of this host, or to 0.0.0.0 for every one.",
                ) from error
        if bool(self.username) != bool(self.password):
            raise SparkforgeError(
                f"There is a {'user name' if self.username else 'password'} for the wheelhouse, and no "
                f"{'password' if self.username else 'user name'}.",
                "Set both wheelhouse_username and wheelhouse_password, or neither.",
            )
        if self.username and (":" in self.username or not _WORDS.fullmatch(self.username)):
            raise SparkforgeError(
                "The user name of the wheelhouse has a colon or a control character.",
                "Choose a wheelhouse_username without them: basic authentication has no way to send them.",
            )
        if self.password and not _WORDS.fullmatch(self.password):
            raise SparkforgeError(
                "The password of the wheelhouse has a line break or another control character.",
                "Choose a wheelhouse_password without them; a file's last line break is taken off with | trim.",
            )
        if self.password and not self.certificate:
            self.warnings.append(
                "The wheelhouse asks for a password without TLS, so that whoever listens on the network reads it. "
                "Set wheelhouse_tls_certificate and wheelhouse_tls_key."
            )
        if bool(self.certificate) != bool(self.key):
            raise SparkforgeError(
                f"There is a {'certificate' if self.certificate else 'key'} for the wheelhouse, and no "
                f"{'key' if self.certificate else 'certificate'}.",
                "Set both wheelhouse_tls_certificate and wheelhouse_tls_key, or neither.",
            )
        if self.certificate:
            self._check_pair()

    def _check_pair(self) -> None:
        """Refuse a certificate and a key that do not belong together."""

        def ask() -> str:
            raise SparkforgeError(
                "The key of the wheelhouse asks for a passphrase.", "Give a key without one: nginx starts by itself."
            )

        # The directory can be entered by its owner alone.
        with tempfile.TemporaryDirectory() as scratch:
            paths = []
            for name, text in (("certificate.pem", self.certificate), ("key.pem", self.key)):
                paths.append(os.path.join(scratch, name))
                with open(paths[-1], "w", encoding="utf-8") as stream:
                    stream.write(text)
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(paths[0], paths[1], password=ask)
            except (ssl.SSLError, ValueError) as error:
                why = getattr(error, "reason", None) or "one of them is not PEM"
                raise SparkforgeError(
                    f"The certificate and the key of the wheelhouse cannot be used together: {why}.",
                    "Give wheelhouse_tls_certificate (with its chain) and the wheelhouse_tls_key that it was made "
                    "for, both as PEM.",
                ) from error

    def _digest(self) -> str:
        """Return what stands for all that nginx must have read anew; it reads the file of passwords each time."""
        text = self._render("")
        return hashlib.sha256("\0".join([text, self.certificate, self.key]).encode("utf-8")).hexdigest()[:32]

    def _render(self, digest: str) -> str:
        return render(
            self.root,
            self.listen,
            self.port,
            self.directory,
            tls=bool(self.certificate),
            password=bool(self.password),
            digest=digest,
        )

    def _wanted(self) -> t.Dict[str, File]:
        wanted = {self.file: File(self._render(self._digest()).encode("ascii"))}
        if self.certificate:
            wanted[os.path.join(self.directory, "certificate.pem")] = File(self.certificate.encode("utf-8"))
            wanted[os.path.join(self.directory, "key.pem")] = File(self.key.encode("utf-8"), 0o600, secret=True)
        if self.password:
            path = os.path.join(self.directory, "htpasswd")
            found = _look(path)
            if found and holds_password(found.content, self.username, self.password):
                content = found.content
            else:
                content = hashed(self.username, self.password, secrets.token_bytes(16))
            wanted[path] = File(content, 0o640, self._group(), secret=True)
        return wanted

    def _group(self) -> int:
        try:
            return grp.getgrnam(GROUP).gr_gid
        except KeyError:
            if self.check_mode:
                return 0
            raise SparkforgeError(
                f"There is no group {GROUP}, which nginx reads the file of passwords as.",
                "Install nginx of the distribution: apt install nginx",
            ) from None

    def _ours(self) -> t.List[str]:
        return [path for path in [self.file, *sorted(glob.glob(f"{glob.escape(self.directory)}/*"))] if _look(path)]

    def _is_default_site_ours(self) -> bool:
        """Tell whether the page that the package shows on port 80 is there because this collection brought nginx."""
        return "nginx" in (receipts.read(self.root, "apt-wheelhouse") or {}).get("brought", []) and (
            os.path.islink(self.default_site)
        )

    def _url(self) -> str:
        """Return the URL on this host; by which name others reach it is not known here."""
        return f"{'https' if self.certificate else 'http'}://{_address(self._near())}:{self.port}/"

    def _near(self) -> str:
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.listen[0], self.listen[0])  # noqa: S104

    def _ask(self) -> t.Optional[str]:
        """Return what the server says of its configuration; None where it does not answer."""
        connection: http.client.HTTPConnection
        if self.certificate:
            # This very certificate, and no authority: whether others trust it is theirs to say.
            context = ssl.create_default_context(cadata=self.certificate)
            context.check_hostname = False
            # X509_V_FLAG_PARTIAL_CHAIN: what is trusted need not be its own issuer. Python 3.9 has no name for it.
            context.verify_flags = ssl.VerifyFlags(0x80000)
            connection = http.client.HTTPSConnection(self._near(), self.port, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection(self._near(), self.port, timeout=10)
        try:
            connection.request("GET", PROBE)
            return connection.getresponse().read(200).decode("ascii", "replace").strip()
        except ssl.SSLCertVerificationError as error:
            # Another one than ours is served as long as nginx has not read it.
            if "expired" in error.verify_message or "not yet valid" in error.verify_message:
                raise SparkforgeError(
                    f"The certificate of the wheelhouse is of no use: {error.verify_message}.",
                    "Give another wheelhouse_tls_certificate, or correct the clock of this host.",
                ) from error
            return None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _diff(
        self,
        there: t.Mapping[str, t.Optional[File]],
        wanted: t.Mapping[str, File],
        differ: t.Sequence[str],
        reasons: t.Sequence[str],
        dull: bool,
    ) -> t.List[t.Dict[str, str]]:
        rows = [
            {
                "before_header": path,
                "after_header": path,
                "before": _shown(there[path], "before"),
                "after": _shown(wanted.get(path), "after"),
            }
            for path in sorted(differ)
        ]
        if dull:
            rows.append({"before_header": self.default_site, "before": "the package's page\n", "after": ""})
        if reasons:
            rows.append({"before": "".join(f"{reason}\n" for reason in reasons), "after": "nginx serves it\n"})
        return rows

    # --- changing ----------------------------------------------------------------------------------------------

    def _apply(
        self,
        wanted: t.Mapping[str, File],
        there: t.Mapping[str, t.Optional[File]],
        differ: t.Sequence[str],
        digest: str,
    ) -> None:
        self._require_nginx()
        self._check_port()
        known = receipts.read(self.root, _RECEIPT) or {}
        site = os.readlink(self.default_site) if self._is_default_site_ours() else None
        started = False
        try:
            for path in differ:
                _put(path, wanted.get(path))
            if site is not None:
                os.unlink(self.default_site)
            self._test()
            started = self._load()
            self._await(digest)
        except BaseException:
            for path in differ:
                _put(path, there[path])
            if site is not None:
                os.symlink(site, self.default_site)
            self._tidy()
            with contextlib.suppress(SparkforgeError):
                self._stop() if started else self._reload()
            raise
        self._tidy()
        receipts.write(
            self.root,
            _RECEIPT,
            {
                "kind": "nginx",
                "files": sorted(wanted),
                # By this, and not by systemd or a person.
                "started": started or bool(known.get("started")),
                "default_site": site or known.get("default_site"),
            },
        )

    def _require_nginx(self) -> None:
        if shutil.which("nginx", path=_PATH) is None:
            raise SparkforgeError("nginx is not installed.", "Run the role wheelhouse, or: apt install nginx")

    def _check_port(self) -> None:
        """Refuse a port that something else than nginx listens at, and an address that this host has not."""
        for address in self.listen:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            try:
                with socket.socket(family, socket.SOCK_STREAM) as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    if family == socket.AF_INET6:
                        probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                    probe.bind((address, self.port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    holder = _listener(self.port)
                    if holder is None or holder[1] == "nginx":
                        continue
                    cause = f"The port {self.port} is used by {holder[1]} (process {holder[0]})."
                    remedy = "Set wheelhouse_port to a free one, or end that process."
                else:
                    cause = f"nginx cannot listen at {address}: {error.strerror}."
                    remedy = "Set wheelhouse_listen to addresses of this host, or to 0.0.0.0 for every one."
                raise SparkforgeError(cause, remedy, listen=address, port=self.port) from error

    def _test(self) -> None:
        status, _out, error = self._nginx("-t", "-q")
        if status != 0:
            raise SparkforgeError(
                f"nginx refuses its configuration: {_first(error)}.",
                f"Correct that file; without {self.file} it was the same or had this error already. "
                "Nothing was changed.",
                stderr=error[-2000:],
            )

    def _load(self) -> bool:
        """Let nginx read its files, started where it does not run; tell whether it was started without systemd."""
        if detached.systemd_runs():
            if not self._is_enabled():
                self._command("systemctl", "enable", "--quiet", "nginx")
            self._command("systemctl", "reload-or-restart", "nginx")
            return False
        if _master() is not None:
            self._nginx("-s", "reload", "-q")
            return False
        status, _out, error = self._nginx("-q")
        if status != 0:
            raise SparkforgeError(
                f"nginx does not start: {_first(error)}.", "Correct that, and run again.", stderr=error[-2000:]
            )
        return True

    def _reload(self) -> None:
        """Let nginx read its files where it runs."""
        if _master() is None:
            return
        if detached.systemd_runs():
            self._command("systemctl", "reload", "nginx")
        else:
            self._nginx("-s", "reload", "-q")

    def _await(self, digest: str) -> None:
        """Wait until nginx serves the new configuration: it takes it over by and by."""
        deadline = time.monotonic() + PATIENCE
        while self._ask() != digest:
            if time.monotonic() > deadline:
                raise SparkforgeError(
                    f"nginx does not serve the wheelhouse at {self._url()}.",
                    f"See /var/log/nginx/error.log, and that /etc/nginx/nginx.conf includes {self.file}.",
                )
            time.sleep(0.05)

    def _is_enabled(self) -> bool:
        if not detached.systemd_runs():
            return True
        return self.run(["systemctl", "is-enabled", "--quiet", "nginx"], {})[0] == 0

    def _command(self, *argv: str) -> None:
        status, out, error = self.run(list(argv), {})
        if status != 0:
            raise SparkforgeError(
                f"`{' '.join(argv)}` failed: {_first(error or out)}.",
                "See: systemctl status nginx",
                stderr=error[-2000:],
            )

    def _nginx(self, *arguments: str) -> t.Tuple[int, str, str]:
        return self.run([shutil.which("nginx", path=_PATH) or "nginx", *arguments], {})

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):
            os.rmdir(self.directory)

    # --- absent ------------------------------------------------------------------------------------------------

    def absent(self) -> t.Dict[str, t.Any]:
        """Serve it no longer."""
        ours = self._ours()
        receipt = receipts.read(self.root, _RECEIPT)
        there = {path: _look(path) for path in ours}
        changed = bool(ours or receipt is not None)
        if changed and not self.check_mode:
            with receipts.lock(self.root, _RECEIPT):
                for path in ours:
                    _put(path, None)
                self._tidy()
                site = (receipt or {}).get("default_site")
                if site and os.path.exists(os.path.join(os.path.dirname(self.default_site), site)):
                    with contextlib.suppress(FileExistsError):
                        os.symlink(site, self.default_site)
                if (receipt or {}).get("started"):
                    self._stop()
                else:
                    self._reload()
                receipts.remove(self.root, _RECEIPT)
        return {
            "changed": changed,
            "url": None,
            "files": [],
            "reasons": [],
            "diff": self._diff(there, {}, ours, [], False),
        }

    def _stop(self) -> None:
        """End the nginx that was started here, which does not run as a service."""
        if detached.systemd_runs() or _master() is None:
            return
        self._nginx("-s", "quit", "-q")
        deadline = time.monotonic() + PATIENCE
        while _master() is not None and time.monotonic() < deadline:
            time.sleep(0.05)


_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"


def _look(path: str) -> t.Optional[File]:
    """Return the file at ``path``; None where there is none."""
    try:
        with open(path, "rb") as stream:
            found = os.fstat(stream.fileno())
            return File(
                stream.read(),
                stat.S_IMODE(found.st_mode),
                found.st_gid,
                secret=bool(stat.S_IMODE(found.st_mode) & 7 == 0),
            )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SparkforgeError(
            f"{path} cannot be read: {error.strerror}.", "Become root for this task.", path=path
        ) from error


def _put(path: str, file: t.Optional[File]) -> None:
    """Make ``path`` what ``file`` says, none where it is None."""
    if file is None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return
    disk.make_directories(os.path.dirname(path))
    # Never readable by more than it is to be, not even for a moment.
    disk.write_file(path, file.content, file.mode if file.group == 0 else file.mode & 0o700)
    if file.group:
        os.chown(path, -1, file.group)
        os.chmod(path, file.mode)


def _shown(file: t.Optional[File], when: str) -> str:
    if file is None:
        return ""
    return f"(secret, {when})\n" if file.secret else file.content.decode("utf-8", "replace")


def _first(text: str) -> str:
    lines = [re.sub(r"^nginx: \[\w+\] ", "", line) for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "it says nothing").rstrip(".")[:300]


def _master(path: str = "/run/nginx.pid") -> t.Optional[int]:
    """Return the process of nginx that reads the configuration; None where it does not run."""
    try:
        with open(path, encoding="ascii") as stream:
            pid = int(stream.read())
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as stream:
            return pid if stream.read().strip() == "nginx" else None
    except (OSError, ValueError):
        return None


def _listener(port: int) -> t.Optional[t.Tuple[int, str]]:
    """Return the id and the name of the process that listens at ``port``; None where that cannot be told."""
    inodes = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/net/{name}", encoding="ascii") as stream:
            for line in stream.readlines()[1:]:
                fields = line.split()
                # 0A is LISTEN (include/net/tcp_states.h).
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(f"socket:[{fields[9]}]")
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.readlink(link) in inodes:
                pid = int(link.split("/")[2])
                with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as stream:
                    return pid, stream.read().strip()
    return None
