# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that turns sparkforge_waves into sizes of batches."""

from __future__ import annotations

DOCUMENTATION = r"""
name: waves
short_description: Turn the definition of a rollout's waves into their sizes
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - The sizes of the waves in which the hosts are rolled out, for C(serial) of a play.
  - Each wave is a number of hosts, a percentage of them all (rounded down, one at least), or V(rest), the last one. A
    wave takes what is left where it is larger than that, and waves that find nobody left are dropped, so that a
    definition for a whole fleet serves C(--limit) as well.
  - Unlike C(serial), the last wave is not repeated. A definition that leaves hosts out is refused.
positional: _input, definition
options:
  _input:
    description: The hosts.
    type: list
    elements: str
    required: true
  definition:
    description:
      - The waves, as a list, or as text with commas as C(-e) and surveys have it.
      - V(default) is one canary, then a quarter, then the rest, C([1, "25%", rest]).
    type: raw
    default: default
"""

EXAMPLES = r"""
- name: Say how large the waves are
  ansible.builtin.debug:
    msg: "{{ groups['all'] | sparkforge.dgx_spark.waves([1, '25%', 'rest']) }}"
"""

RETURN = r"""
_value:
  description: How many hosts each wave has; a single 1 where there are none.
  type: list
  elements: int
  sample: [1, 4, 11]
"""

import re
import typing as t

from ansible.errors import AnsibleFilterError

#: One canary, then a quarter, then the rest.
DEFAULT = (1, "25%", "rest")
_REMEDY = "Set sparkforge_waves to numbers of hosts, percentages and rest, for example [1, 25%, rest]."


def waves(hosts: t.Sequence[str], definition: t.Any = "default") -> list[int]:
    """Return the size of each wave; see RETURN.

    :raises AnsibleFilterError: a definition that is none, or that leaves hosts out.
    """
    words = _words(DEFAULT if definition == "default" else definition)
    percentages = sum(int(word[:-1]) for word in words if word.endswith("%"))
    if percentages > 100:
        raise AnsibleFilterError(f"The waves {_shown(words)} add up to {percentages} % of the hosts. {_REMEDY}")
    left, sizes = len(hosts), []
    for word in words:
        size = left if word == "rest" else _size(word, len(hosts))
        sizes.append(min(size, left))
        left -= sizes[-1]
    if left:
        raise AnsibleFilterError(
            f"The waves {_shown(words)} hold {sum(sizes)} of {len(hosts)} hosts: {left} would never be reached. Let the"
            " last wave of sparkforge_waves be rest."
        )
    return [size for size in sizes if size] or [1]


def _words(definition: t.Any) -> list[str]:
    """Return the waves as text, each of them checked."""
    listed = [definition] if isinstance(definition, int) else definition
    if isinstance(listed, str):
        listed = [word for word in re.split(r"[\s,\[\]'\"]+", listed) if word]
    if not isinstance(listed, t.Sequence) or not listed:
        raise AnsibleFilterError(f"sparkforge_waves names no wave. {_REMEDY}")
    words = [str(item).strip() for item in listed]
    for number, word in enumerate(words, 1):
        if isinstance(listed[number - 1], bool) or not re.fullmatch(r"[1-9]\d{0,5}|[1-9]\d?%|100%|rest", word):
            raise AnsibleFilterError(f"{word} is not the size of a wave. {_REMEDY}")
        if word == "rest" and number < len(words):
            raise AnsibleFilterError(f"In the waves {_shown(words)} nothing is left after rest. {_REMEDY}")
    return words


def _size(word: str, whole: int) -> int:
    return max(1, whole * int(word[:-1]) // 100) if word.endswith("%") else int(word)


def _shown(words: t.Sequence[str]) -> str:
    return f"[{', '.join(words)}]"


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"waves": waves}
