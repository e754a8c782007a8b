"""ARM64 containers run on this machine, and the collection finds on them what it finds on a Spark.

Under emulation the whole site takes a quarter of an hour: see `make molecule` and `make test-long`.
"""

import json
import os
from pathlib import Path

import ansible

from lab import emulator, image
from lab.host import native_architecture
from tests.integration.conftest import CHECKOUT


def test_an_arm64_container_is_seen_as_a_spark_is() -> None:
    user = f"test-arm64-{os.getpid()}"
    if native_architecture() != "arm64":
        emulator.register(user)
    try:
        output = image.podman(
            "run", "--rm", "--arch=arm64",
            f"--volume={CHECKOUT}:/checkout:ro", f"--volume={Path(ansible.__file__).parent}:/lib/controller/ansible:ro",
            "--env=PYTHONPATH=/checkout/.collections:/lib/controller",
            image.unpacked("arm64"), "sh", "-c",
            """echo '{"ANSIBLE_MODULE_ARGS": {}}' | """
            "python3 -m ansible_collections.sparkforge.dgx_spark.plugins.modules.spark_info",
        ).stdout  # fmt: skip
    finally:
        emulator.release(user)
    observation = json.loads(output)["spark_info"]
    assert (observation["kernel"]["machine"], observation["os"]["id"]) == ("aarch64", "debian")
    # The loader's directories are those of the emulated machine, not of the emulator's host.
    assert "/etc/ld.so.conf.d/aarch64-linux-gnu.conf" in observation["loader"]["entries"]
