"""Write the receipts of an environment, as on a host that the collection provisioned."""

import hashlib
import importlib.metadata
import json
import platform
import runpy
import shutil

from sparkforge_proof._shared.module_utils._core import receipts
from sparkforge_proof._shared.module_utils._unit import model, state_file
from sparkforge_proof._shared.module_utils._wheel import environment as recorded

from proof.tests.environment import Environment


def provision(environment: Environment) -> Environment:
    """Write the receipts of an environment and of the unit that built its torch; return the updated environment.

    The wheels do not exist, as if they had been built on another host.
    """
    # Do not import torch, because that takes seconds.
    module = runpy.run_path(str(environment.site_packages / "torch/version.py"))
    version, commit = str(module["__version__"]), str(module["git_version"])
    modules = {"torch": {"version": version, "cuda": module["cuda"], "git_version": commit}}
    distributions = importlib.metadata.distributions(path=[str(environment.site_packages)])
    packages = {str(distribution.metadata["Name"]): distribution.version for distribution in distributions}
    major, minor = map(int, environment.site_packages.parent.name.removeprefix("python").split("."))
    requirements, wheels = [], []
    for name, installed in sorted(packages.items()):
        digest = hashlib.sha256(f"{name} {installed}".encode()).hexdigest()
        if name == "torch":
            wheels.append({"file": f"torch-{version}-py3-none-any.whl", "sha256": digest})
        else:
            requirements.append(f"{name}=={installed} --hash=sha256:{digest}")
    machine = platform.machine()
    digests = [wheel["sha256"] for wheel in wheels]
    receipt = {
        "schema": recorded.SCHEMA,
        "name": "torch",
        "environment_id": "5d41402abc4b",
        "stack": {"lock_id": "0123456789ab"},
        "fingerprint": recorded.fingerprint((major, minor), machine, requirements, digests),
        "python": {"path": str(environment.python), "version": f"{major}.{minor}"},
        "machine": machine,
        "requirements": requirements,
        "wheels": wheels,
        "packages": packages,
        "modules": modules,
        "library_paths": [],
        "environment": {},
        "paths": {"environment": str(environment.directory), "python": str(environment.python)},
    }
    unit = {
        "format": state_file.FORMAT,
        "name": "pytorch",
        "platform": f"linux-{machine}",
        "fingerprint": "fedcba9876543210",
        "version": f"v{version.partition('+')[0]}",
        "inputs": {"source": {"commit": commit}, "environment": {"USE_MKLDNN": "1"}},
        "applied": [],
        "outputs": [{"path": wheels[0]["file"], "name": "torch", "version": version, "sha256": digests[0]}],
        "finished": "2026-11-01T00:00:00Z",
    }
    shutil.rmtree(environment.root / "receipts", ignore_errors=True)
    receipts.write(str(environment.root), "env-torch", receipt)
    # The environment has a copy of the receipt.
    (environment.directory / "receipt.json").write_text(json.dumps(receipt))
    units = environment.root / "receipts/units"
    units.mkdir()
    (units / "pytorch.json").write_text(json.dumps({**unit, "seal": model.fingerprint(unit)}))
    environment.reference.update(
        paths=[f"{environment.directory}/lib/python3*/site-packages/torch/lib"],
        stack=f"torch-{version}",
        method="build",
        environment="torch",
        lock_id=receipt["stack"]["lock_id"],
        versions={"torch": version.partition("+")[0]},
    )
    return environment
