# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A certificate of a CA that signed nothing, made with ``openssl req -x509 -newkey ec -nodes``; its key is gone."""

from __future__ import annotations

PEM = """\
-----BEGIN CERTIFICATE-----
MIIBgDCCASegAwIBAgIUb4cjmaiLiLRpqwiLieNVK1PBoi4wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKY2EuZXhhbXBsZTAgFw0yNjExMjgwNTE5MTRaGA8yMTI2MTEw
NDA1MTkxNFowFTETMBEGA1UEAwwKY2EuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABIknF6Af1SLZyL8UPAb4gwx2XJ7Rxs3CJCpvJu32agzu9Ds6mcBK
UuTvGbcj9IJYejmK3snhAEPPLcFv9nROSxyjUzBRMB0GA1UdDgQWBBQCI0NmqD1H
y9TZFOf9q2xDBoKa9DAfBgNVHSMEGDAWgBQCI0NmqD1Hy9TZFOf9q2xDBoKa9DAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIF5hVFeKhVNdSdWRyViH
cxEjzomGyYXqm/3oJm7EPbrmAiAliqD+IKgRzauXG8Bmlyq/9wXUQ259CKagG9o5
texQPA==
-----END CERTIFICATE-----
"""
