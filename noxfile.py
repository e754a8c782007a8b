# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""antsibull-nox's sessions, which collections have in common, and the unit tests on each ansible-core: `make nox`."""

import antsibull_nox
import nox

# ansible-core -> the newest Python that its controllers support; the candidate is what is newest, betas included.
CORES = {"2.19.14": "3.11", "2.20.10": "3.12", "2.21.5": "3.13", "candidate": "3.14"}

antsibull_nox.load_antsibull_nox_toml()


@nox.session(default=False)
@nox.parametrize(
    ("python", "core"), [(python, core) for core, python in CORES.items()], ids=[f"core-{core}" for core in CORES]
)
def units(session: nox.Session, core: str) -> None:
    """Run the unit tests that start no program, on one ansible-core."""
    session.install("-r", "requirements-dev.txt", "-e", ".")
    # After the pins, which name one version.
    if core == "candidate":
        session.install("--pre", "--upgrade", "ansible-core")
    else:
        session.install(f"ansible-core=={core}")
    environment = {"ANSIBLE_CONFIG": str(session.invoked_from) + "/ansible.cfg"}
    folders = session.posargs or ["tests/unit", "tests/golden", "guard/tests/unit", "proof/tests/unit"]
    session.run("pytest", "-q", "-n", "2", "--dist", "loadfile", "--no-programs", *folders, env=environment)


if __name__ == "__main__":
    nox.main()
