"""Proxies and a corporate CA for the controller's own downloads."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
import typing as t

from ..plugins.module_utils._core.errors import SparkforgeError
from ..plugins.plugin_utils.network_access import CA_BUNDLE, CA_VARIABLES, proxy_environment


@contextlib.contextmanager
def network(proxies: t.Mapping[str, t.Any], certificate: str) -> t.Iterator[None]:
    """Set proxies and the site's CA for all downloads in this process, in uv and in git.

    The CA is added to the system's CAs, because a site's proxy may re-sign one host and pass another one through.

    :raises SparkforgeError: if the certificate cannot be read.
    """
    variables = proxy_environment(proxies)
    with contextlib.ExitStack() as stack:
        if certificate:
            bundle = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8"))
            system = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile or CA_BUNDLE
            try:
                for path in (system, certificate):
                    if path == certificate or os.path.isfile(path):
                        with open(path, encoding="utf-8") as file:
                            bundle.write(file.read() + "\n")
            except (OSError, UnicodeDecodeError) as error:
                raise SparkforgeError(
                    f"The CA certificate {path} cannot be read: {error}.",
                    "Set sparkforge_ca_certificate to a PEM file on the controller.",
                ) from error
            bundle.flush()
            variables.update(dict.fromkeys(CA_VARIABLES, bundle.name))
        # Ansible runs every task in a separate process, but restore the environment anyway.
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
