"""One of torch's libraries comes from another build and lacks a symbol that the others need. Either a single file was
copied, or two packages own the same path. torch cannot be imported.
"""

import subprocess

from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    library = environment.site_packages / "torch/lib/libc10.so"
    library.unlink()
    source = environment.change("torch/lib/c10.c", "int c10_of_another_build;\n")
    subprocess.run(["gcc", "-shared", "-o", library, source, "-Wl,-soname,libc10.so"], check=True)
    source.unlink()
