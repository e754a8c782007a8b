# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module apt_source on a host: one source with its own keyring, or the one that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Bench, Host

MODULE = "sparkforge.dgx_spark.apt_source"


class Sources:
    """A host that trusts the mirror's CA, and the source of NVIDIA's repository on it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        mirror = host.mirror
        host.copy(Path(mirror["ca"]), "/usr/local/share/ca-certificates/mirror.crt")
        host.execute("update-ca-certificates >/dev/null 2>&1")
        self.fingerprint: str = mirror["summary"]["key_fingerprint"]
        repository = next((mirror["tree"] / "compute/cuda/repos/ubuntu2404").iterdir())
        self.key_file = repository / "3bf863cc.pub"
        self.url = f"{mirror['url']}/compute/cuda/repos/ubuntu2404/{repository.name}/"
        self.other_fingerprint: str = mirror["summary"]["site_repository"]["key_fingerprint"]

    def run(self, check: bool = False, **options: Any) -> dict[str, Any]:
        given = {"key_url": f"{self.url}3bf863cc.pub", "key_fingerprint": self.fingerprint, "url": self.url, **options}
        return self.host.task(MODULE, check=check, name="nvidia-cuda", **given)

    def absent(self) -> dict[str, Any]:
        return self.host.task(MODULE, name="nvidia-cuda", state="absent")

    def state(self) -> tuple[list[str], str]:
        return self.host.contents(), self.host.execute(
            "ls /var/lib/apt/lists | grep -vx -e auxfiles -e lock -e partial || true"
        )

    def refused(self, **options: Any) -> str:
        before = self.state()
        result = self.run(**options)
        assert result.get("cause") and result.get("remedy"), result
        assert self.state() == before
        return f"{result['cause']} {result['remedy']}"


@pytest.fixture(scope="module")
def sources(bench: Bench) -> Sources:
    return Sources(bench.fresh())


def test_a_key_that_did_not_sign_the_repository_is_refused(sources: Sources) -> None:
    site = f"{sources.host.mirror['url']}{sources.host.mirror['summary']['site_repository']['key']}"
    said = sources.refused(key_url=site, key_fingerprint=sources.other_fingerprint)
    assert sources.fingerprint[-16:] in said, "the message names the key that did sign it"


def test_a_repository_that_is_not_there_is_refused(sources: Sources) -> None:
    assert "nowhere" in sources.refused(url=sources.url.replace("compute/", "nowhere/"))


def test_check_mode_announces_the_source_and_writes_nothing(sources: Sources) -> None:
    before = sources.state()
    result = sources.run(check=True)
    assert result["changed"] and result["file"].endswith("/sparkforge-nvidia-cuda.sources"), result
    assert sources.state() == before


def test_the_source_is_added_with_a_keyring_of_its_own_and_added_once(sources: Sources) -> None:
    result = sources.run()
    assert result["changed"], result
    assert f"Signed-By: {result['keyring']}" in sources.host.execute(f"cat {result['file']}")
    assert sources.host.execute(f"stat -c '%a %U' {result['keyring']} {result['file']}") == "644 root\n644 root"
    assert "9.14.0.64-1" in sources.host.execute("apt-cache policy libcudnn9-dev-cuda-13")
    assert not sources.run()["changed"]
    assert not sources.run(check=True)["changed"]


def test_package_lists_that_were_never_fetched_are_fetched(sources: Sources) -> None:
    sources.run()
    # As after a run that was killed between the source and its package lists.
    sources.host.execute("rm /var/lib/apt/lists/mirror*")
    assert sources.run(check=True)["changed"]
    assert sources.run()["changed"]
    assert "9.14.0.64-1" in sources.host.execute("apt-cache policy libcudnn9-dev-cuda-13")
    assert not sources.run()["changed"]


def test_a_keyring_that_was_swapped_is_put_right(sources: Sources) -> None:
    keyring = sources.run()["keyring"]
    sources.host.execute(f"echo broken > {keyring}")
    assert sources.run()["changed"]
    sources.host.execute("apt-get update -q")


def test_absent_takes_back_source_keyring_and_lists(sources: Sources) -> None:
    assert sources.absent()["changed"]
    contents, lists = sources.state()
    assert "sparkforge" not in "\n".join(contents) and "mirror" not in lists
    assert not sources.absent()["changed"]


def test_a_source_of_another_name_is_taken_as_it_is_and_outlives_absent(sources: Sources) -> None:
    # DGX OS has it as cuda-compute-repo.sources; here without the last slash, as others write it.
    keyring = "/usr/share/keyrings/cuda-compute-repo.asc"
    sources.host.copy(sources.key_file, keyring)
    text = f"Types: deb\nURIs: {sources.url.rstrip('/')}\nSuites: /\nSigned-By: {keyring}\n"
    file = "/etc/apt/sources.list.d/cuda-compute-repo.sources"
    sources.host.execute(f"cat > {file} <<'end'\n{text}end")
    before = sources.state()
    result = sources.run()
    assert not result["changed"] and result["file"] == file, result
    assert not sources.absent()["changed"]
    assert sources.state() == before
