# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts vLLM or SGLang for the `serving` role's unit: ``sparkforge_launch.py ENGINE SHARE open|key ARGUMENT…``.

It limits the number of compilers by the free memory at this start, and passes the key to the engine from the unit's
credentials (systemd.exec(5), LoadCredential=), so that the key is in no command line, variable or log.

Read in the wheels of vllm 0.32.0 and 0.33.0, sglang 0.5.23, and their dependencies.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import secrets
import sys
import typing as t
from pathlib import Path

MODULES = {"vllm": "vllm.entrypoints.cli.main", "sglang": "sglang.cli.main"}
#: As for a build (module_utils/_unit/jobs.py; a test compares the results).
MEMORY_PER_JOB_MIB = 4096
RESERVE_MIB, RESERVE_SHARE, SMALL_RESERVE_SHARE = 16 * 1024, 0.15, 0.25
#: The variables that limit compilers at run time, each with the compiler's own maximum of jobs (0: one per core). The
#: ninja of flashinfer (jit/cpp_ext.py), sglang (kernels/jit/utils/compile/ninja.py), tvm_ffi (cpp/extension.py) and
#: torch (utils/cpp_extension.py) reads MAX_JOBS.
COMPILERS = {
    "MAX_JOBS": 0,
    "TORCHINDUCTOR_COMPILE_THREADS": 0,  # torch/_inductor/config.py; vllm itself sets 1
    "HUMMING_MAX_PARALLEL_BUILD_WORKERS": 0,  # humming/utils/cpu.py
    "QUACK_COMPILE_WORKERS": 8,  # quack/cache/async_compile.py
    "FLASHINFER_MM_FP4_CUTE_DSL_COMPILE_WORKERS": 4,  # flashinfer/gemm/gemm_mm_fp4_cute_dsl.py
    "B12X_COMPILE_WORKERS": 4,  # flashinfer/experimental/b12x/preparation/session.py
    "VLLM_TRITON_JIT_WARMUP_NUM_THREADS": 4,  # vllm/envs.py
}
CREDENTIAL = "api_key"

Message = t.MutableMapping[str, t.Any]


def compile_jobs(meminfo: str, share: float, cores: int) -> tuple[int, str]:
    """Return the number of compilers that may run, at least one, and a sentence with the reason.

    :param meminfo: the text of /proc/meminfo.
    :param share: the share of all memory that the engine takes; it may not have allocated it yet.
    """
    values = {name: int(size) // 1024 for name, size in re.findall(r"^(\w+): +(\d+) kB$", meminfo, re.M)}
    total, available = values["MemTotal"], values["MemAvailable"]
    least = min(RESERVE_MIB, math.ceil(total * SMALL_RESERVE_SHARE))
    kept = max(least, math.ceil(total * RESERVE_SHARE))
    engine = int(total * share)
    count = max(1, min(cores, (available - engine - kept) // MEMORY_PER_JOB_MIB))
    left = f"{available} MiB are available, minus {engine} for the engine and {kept} for the system"
    return count, f"{count} compile job{'s' * (count > 1)} at a time: {left}, at {MEMORY_PER_JOB_MIB} per job"


def key() -> str:
    """Return the key that systemd passed to the unit.

    :raises SystemExit: if there is no key; a server that should have one must not run without it.
    """
    try:
        return Path(os.environ["CREDENTIALS_DIRECTORY"], CREDENTIAL).read_text().strip()
    except (KeyError, OSError) as error:
        raise SystemExit(f"systemd passed no credential {CREDENTIAL}: {error!r}") from None


class Guard:
    """ASGI middleware that rejects requests without the key, except for /health.

    vLLM's own key protects only /v1, /v2, /inference and /cohere; /invocations answers the same requests without it
    (vllm/entrypoints/serve/middleware/authenticate.py, and the help for --api-key).
    """

    def __init__(self, app: t.Callable[..., t.Awaitable[None]]) -> None:
        self.app = app
        self.expected = f"Bearer {key()}".encode()

    async def __call__(self, scope: Message, receive: t.Any, send: t.Callable[[Message], t.Awaitable[None]]) -> None:
        kind = scope["type"]
        authorization = dict(scope.get("headers") or []).get(b"authorization", b"")
        # A browser first asks with OPTIONS whether it may send the key.
        free = kind not in ("http", "websocket") or scope.get("method") == "OPTIONS" or scope["path"] == "/health"
        if free or secrets.compare_digest(authorization, self.expected):
            await self.app(scope, receive, send)
        elif kind == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"error": "Unauthorized"}'})


class Secret(str):
    """A string that is hidden when the program logs its settings."""

    def __repr__(self) -> str:
        return "'***'"


def give_sglang_the_key() -> None:
    """Set ``api_key`` as ``--api-key`` would: SGLang has no variable for this, and it logs its settings at startup.

    Source: sglang/srt/server_args.py (from_cli_args) and sglang/srt/entrypoints/engine.py.
    """
    arguments = importlib.import_module("sglang.srt.server_args").ServerArgs
    plain = arguments.from_cli_args.__func__

    def with_key(cls: type, parsed: t.Any) -> t.Any:
        parsed.api_key = Secret(key())
        return plain(cls, parsed)

    arguments.from_cli_args = classmethod(with_key)


def main(engine: str, share: str, access: str, *arguments: str) -> None:
    """Become the engine; with ``key`` for ``access``, do not start without a key."""
    count, why = compile_jobs(Path("/proc/meminfo").read_text(), float(share), len(os.sched_getaffinity(0)))
    sys.stdout.write(f"sparkforge: {why}.\n")
    sys.stdout.flush()
    for name, most in COMPILERS.items():
        os.environ.setdefault(name, str(min(count, most or count)))
    if access != "open":
        key()
        if engine == "vllm":
            arguments = (*arguments, "--middleware", f"{Path(__file__).stem}.{Guard.__name__}")
        else:
            give_sglang_the_key()
    sys.argv = [engine, *arguments]
    importlib.import_module(MODULES[engine]).main()


if __name__ == "__main__":
    main(*sys.argv[1:])
