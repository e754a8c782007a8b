"""A stand-in for nvidia-smi that changes some of the real one's answers."""

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
ANSWERS
  }
  print
}'
"""


def answer(environment: Environment, answers: dict[str, str]) -> None:
    """Let nvidia-smi give these answers: ``{"clocks.sm": "507"}``."""
    lines = [f'    if (names[i] == "{name}") $i = "{value}"' for name, value in answers.items()]
    script = environment.directory / "bin/nvidia-smi"
    script.write_text(WRAPPER.replace("ANSWERS", "\n".join(lines)))
    script.chmod(0o755)
