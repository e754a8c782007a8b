"""The environment has no torch: it is not the deployed one, or an uninstallation was interrupted."""

import shutil

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    for path in ("torch", *(path.name for path in environment.site_packages.glob("torch-*.dist-info"))):
        shutil.rmtree(environment.site_packages / path)
