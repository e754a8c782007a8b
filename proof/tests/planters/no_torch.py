"""The environment has no torch: another one was verified than was deployed, or an installation was undone half-way."""

import shutil

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    for path in ("torch", *(path.name for path in environment.site_packages.glob("torch-*.dist-info"))):
        shutil.rmtree(environment.site_packages / path)
