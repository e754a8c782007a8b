"""The interpreter does not start, because the environment was copied from a machine with a different processor. Its ELF
header names a machine for which no emulator is registered.
"""

import shutil

from proof.tests.environment import Environment

MOTOROLA_68000 = 4


def plant(environment: Environment) -> None:
    program = environment.python.resolve().read_bytes()
    python = environment.python
    python.unlink()
    python.write_bytes(program[:18] + MOTOROLA_68000.to_bytes(2, "little") + program[20:])
    shutil.copymode(shutil.which("sh") or "/bin/sh", python)
