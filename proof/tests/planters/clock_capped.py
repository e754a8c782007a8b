"""The SM clock remains at 507 MHz under load, as on Sparks whose USB power negotiation failed. The real clock is not
changed: the proof's sampler finds a wrapper for nvidia-smi first, which changes the answers.
"""

from proof.tests import nvidia_smi
from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    nvidia_smi.answer(environment, {"clocks.sm": "507"})
