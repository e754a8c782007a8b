# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an owner records of a host names neither the host nor its owner."""

from __future__ import annotations

import json
import os
import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.recorded_host import FilterModule

recorded_host = FilterModule().filters()["recorded_host"]

HOSTS = os.path.join(os.path.dirname(__file__), "..", "..", "data", "hosts")

SECRETS = {
    "a host's name": "wolke7.internal.acme.example",
    "a user's name": "alice",
    "an IPv4 address": "10.23.45.67",
    "an IPv6 address": "2001:470:8::17",
    "a MAC address": "00:11:22:33:44:55",
    "a MAC address with dashes": "00-11-22-33-44-55",
    "a serial number": "1983925020080",
    "another serial number": "TAMSAG002940X2C",
    "a token": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "a company": "acme",
}


def spark() -> dict[str, t.Any]:
    with open(os.path.join(HOSTS, "dgx-spark.json"), encoding="utf-8") as stream:
        host = t.cast(dict[str, t.Any], json.load(stream))
    host["apt"]["held"] = ["cuda-nvcc-13-0"]
    host["apt"]["broken"] = [{"name": "cuda-gdb-13-0", "state": "half-configured"}]
    host["apt"]["lock_holder"] = {"pid": 812, "command": "/usr/bin/unattended-upgrade", "file": "/var/lib/dpkg/lock"}
    host["apt"]["offers"] = {"libnccl2": ["2.28.9-1+cuda13.0"]}
    host["gpu"]["processes"] = [{"pid": 4711, "name": "/usr/bin/python3", "used_mib": 20480}]
    host["managed_files"] = {"/etc/ld.so.conf.d/sparkforge-cudss.conf": "9f86d081" * 8}
    host["unread"] = [{"probe": "/etc/apt/preferences.d/x", "reason": "Permission denied"}]
    return host


def leaves(value: t.Any, path: tuple[t.Any, ...] = ()) -> t.Iterator[tuple[t.Any, ...]]:
    """Yield the path of every string."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    elif isinstance(value, str):
        yield path


def planted(text: str, *paths: tuple[t.Any, ...]) -> dict[str, t.Any]:
    """Return the host with a text in these places."""
    host = spark()
    for path in paths:
        place: t.Any = host
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = text
    return host


@pytest.mark.parametrize("form", ["{}", "/home/{}/data", "https://deb.{}/ubuntu", "root={}", "get {} exit"])
@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
def test_a_secret_does_not_get_through_whatever_string_it_stands_in(secret: str, form: str) -> None:
    paths = list(leaves(spark()))
    assert len(paths) > 150
    # Versions of packages are full of digits and dots, and nothing else is ever there.
    places = [path for path in paths if path[:2] not in (("apt", "packages"), ("apt", "offers"))]
    made = recorded_host(planted(form.format(secret), *places))
    assert secret not in json.dumps(made)
    assert set(made) == set(spark())


@pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))
def test_nor_does_it_as_a_name_of_the_hosts(secret: str) -> None:
    host = spark()
    host["apt"]["packages"][f"{secret}-agent"] = "1.0"
    host["apt"]["offers"][f"{secret}-agent"] = ["1.0"]
    host["apt"]["held"].append(f"{secret}-agent")
    host["apt"]["broken"].append({"name": f"{secret}-agent", "state": "unpacked"})
    host["loader"]["entries"][f"/etc/ld.so.conf.d/{secret}.conf"] = [f"/opt/{secret}/lib"]
    host["loader"]["libraries"][f"libcuda.so.{secret}"] = f"/opt/{secret}/libcuda.so"
    host["managed_files"][f"/usr/local/share/ca-certificates/sparkforge-{secret}.crt"] = "ab" * 32
    text = json.dumps(recorded_host(host))
    assert secret not in text and "ab" * 32 not in text


@pytest.mark.parametrize(
    ("uri", "recorded"),
    [
        # a name and a password for a proxy or a repository, and a token behind it
        ("https://alice:s3cret@esm.ubuntu.com/apps/ubuntu", "https://esm.ubuntu.com/apps/ubuntu"),
        ("https://alice:p@ss@esm.ubuntu.com/apps/ubuntu", "https://esm.ubuntu.com/apps/ubuntu"),
        ("https://esm.ubuntu.com/apps?token=s3cret#x", "https://esm.ubuntu.com/apps"),
        ("https://esm.ubuntu.com?token=s3cret", "https://esm.ubuntu.com"),
        ("https://apt.acme.example:8443/s3cret/ubuntu/", "https://redacted-1.invalid/redacted-2/ubuntu/"),
        ("http://10.1.2.3/ubuntu", "http://redacted-1.invalid/ubuntu"),
        ("https://notnvidia.com/ubuntu", "https://redacted-1.invalid/ubuntu"),
        ("https://snapshot.ppa.launchpadcontent.net/alice/ubuntu", "https://snapshot.ppa.launchpadcontent.net/redacted-1/ubuntu"),
    ],
)  # fmt: skip
def test_an_address_keeps_what_is_public(uri: str, recorded: str) -> None:
    host = planted(uri, ("apt_sources", 0, "uris", 0))
    assert recorded_host(host)["apt_sources"][0]["uris"] == [recorded]


def test_what_the_tests_need_stays() -> None:
    host = spark()
    made = recorded_host(host)
    assert made["gpu"]["devices"][0]["uuid"] == "GPU-00000000-0000-0000-0000-000000000000"
    assert made["managed_files"] == {"/etc/ld.so.conf.d/sparkforge-cudss.conf": "0" * 64}
    for key in ("cpu", "cuda_toolkits", "disk", "driver", "memory", "os", "python", "apt_sources", "loader", "clock"):
        assert made[key] == host[key], key
    assert made["apt"] == host["apt"]
    assert made["gpu"]["processes"] == host["gpu"]["processes"]
    assert made["unread"][0]["reason"] == "Permission denied"


def test_the_same_text_is_the_same_everywhere_and_another_is_another() -> None:
    host = spark()
    host["disk"][0]["mount"], host["disk"][1]["mount"], host["disk"][2]["mount"] = "/acme", "/nimbus", "/acme/data"
    mounts = [row["mount"] for row in recorded_host(host)["disk"]]
    assert mounts[:3] == ["/redacted-1", "/redacted-2", "/redacted-1/data"]


def test_a_second_time_nothing_is_taken() -> None:
    line = "BOOT_IMAGE=/boot/vmlinuz-6.17.0-1021-nvidia root=UUID=4f3b-acme quiet kho=off"
    host = planted(line, ("kernel", "cmdline"))
    once = recorded_host(host)
    assert once["kernel"]["cmdline"] == (
        "BOOT_IMAGE=/boot/vmlinuz-6.17.0-1021-nvidia root=UUID=redacted-1 quiet kho=off"
    )
    assert recorded_host(once) == once


def test_what_is_no_observation_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="expects a mapping, not list"):
        recorded_host([])
