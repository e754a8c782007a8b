"""The data files of the table of diagnoses; their order decides between several matching rules."""

# isort: off
from .rules import (
    ansible, apt, arrays, cmake, compile as compiling, conda, consequences, containers, cuda, driver, environment,
    forms, general, git, hosts, hub, images, jetson, kernel, kubernetes, load, local, memory, models, nccl, network,
    notices, pip, ports, python, refusals, runtime, rust, servers, system, toolchain, torch, training, uv, web,
)  # fmt: skip

TOPICS = (
    nccl, memory, driver, kernel, kubernetes, containers, images, jetson, local, models, servers, hub, training,
    cuda, runtime, arrays, torch, toolchain, rust, python, environment, ansible, hosts, network, git, uv, pip,
    conda, web, cmake, ports, compiling, load, apt, system, general, refusals, forms, consequences, notices,
)  # fmt: skip
