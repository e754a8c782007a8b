"""The device draws at most 30 W, like a Spark with faulty power delivery. The real limit is not changed: the proof's
sampler finds a wrapper for nvidia-smi first, which changes the answers.
"""

from proof.tests import nvidia_smi
from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    nvidia_smi.answer(environment, {"clocks.sm": "721", "power.draw": "29.7"})
