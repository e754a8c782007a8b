"""The SM clock remains at 507 MHz under load, as on Sparks whose USB power negotiation failed. The real clock is not
changed: the proof's sampler finds a wrapper for nvidia-smi first, which changes the answers.
"""

from proof.tests.environment import Environment

WRAPPER = r"""#!/bin/sh
PATH=${PATH#*:}:/usr/local/nvidia/bin
for word in "$@"; do
  case $word in --query-gpu=*) query=${word#*=} ;; esac
done
answer=$(nvidia-smi "$@") || { status=$?; echo "$answer"; exit $status; }
echo "$answer" | awk -F ', ' -v OFS=', ' -v query="$query" '{
  count = split(query, names, ",")
  for (i = 1; i <= count; i++) {
    if (names[i] == "clocks.sm") $i = "507"
  }
  print
}'
"""


def plant(environment: Environment) -> None:
    script = environment.directory / "bin/nvidia-smi"
    script.write_text(WRAPPER)
    script.chmod(0o755)
