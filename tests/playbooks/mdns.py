"""A machine that announces itself through multicast DNS, on the loopback interface only: zeroconf is the responder."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from zeroconf import ServiceInfo, Zeroconf

HERE = "127.0.0.1"


@contextmanager
def announced(*names: str, port=22, addresses=(HERE,), instance="") -> Iterator[Zeroconf]:
    """Announce ssh under each name, as a Spark does, until the end of the block."""
    responder = Zeroconf(interfaces=[HERE])
    kind = "_ssh._tcp.local."
    packed = [socket.inet_aton(address) for address in addresses]
    try:
        for name in names:
            label = f"{name} {instance or 'SSH'}.{kind}"
            responder.register_service(ServiceInfo(kind, label, port, addresses=packed, server=f"{name}.local."))
        yield responder
    finally:
        responder.close()


def settings(folder: Path, **options: object) -> Path:
    """Write a configuration for the inventory plugin that makes it search on the loopback interface."""
    path = folder / "discover.yml"
    known = {"plugin": "sparkforge.dgx_spark.discover", "interfaces": [HERE], "wait": 3.5}
    path.write_text(yaml.safe_dump({**known, **options}))
    return path
