"""The observation of the composed Spark in data/hosts, with all libraries installed."""

import json
import typing as t
from pathlib import Path

RECORDED = Path(__file__).parent / "data/hosts/dgx-spark.json"
REDIST = "/opt/sparkforge/redist"


def spark(machine: str = "aarch64") -> dict[str, t.Any]:
    """Return a Spark with all libraries: cuSPARSELt from a package, cuDSS and NVPL from archives.

    :param machine: the machine type; the packages are the same for each.
    """
    host: dict[str, t.Any] = json.loads(RECORDED.read_text().replace("aarch64", machine))
    host["apt"]["packages"].update(
        {
            "libcudnn9-dev-cuda-13": "9.13.0.50-1",
            "libnccl-dev": "2.27.7-1+cuda13.0",
            "libcufile-dev-13-0": "1.15.1.6-1",
            "libcusparselt0-dev-cuda-13": "0.8.1.1-1",
        }
    )
    host["loader"]["libraries"].update(
        {
            "libcusparseLt.so.0": f"/usr/lib/{machine}-linux-gnu/libcusparseLt/13/libcusparseLt.so.0",
            "libcudss.so.0": f"{REDIST}/libcudss/current/lib/libcudss.so.0",
            "libnvpl_blas_lp64_gomp.so.0": f"{REDIST}/nvpl_blas/current/lib/libnvpl_blas_lp64_gomp.so.0",
            "libnvpl_lapack_lp64_gomp.so.0": f"{REDIST}/nvpl_lapack/current/lib/libnvpl_lapack_lp64_gomp.so.0",
        }
    )
    return host
