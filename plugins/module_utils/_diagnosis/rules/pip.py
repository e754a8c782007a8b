# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file. What its fields mean: __init__.py beside it.

"""pip

What it is to install, and from where.
"""

RULES = r"""
[hash-mismatch]
keys =
    DO NOT MATCH THE HASHES
    require-hashes mode
pattern =
    DO NOT MATCH THE HASHES
    Hashes are required in --require-hashes mode
cause = A package does not have the hash that was asked for.
remedy = Do not install it: compare the lock with where the file comes from; a wheel that was built again has another
    hash.
from = pip 26.3
example =
    ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package ve [...]

[index-unreachable]
keys =
    WARNING: Retrying
    Could not fetch URL
pattern =
    WARNING: Retrying .*?(Failed to resolve '[^'\n]+'|Connection refused|Read timed out|Tunnel connection failed)
    WARNING: Retrying .*?(Network is unreachable|Connection reset by peer|Connection timed out|timed out)
    Could not fetch URL (\S+?):
when = no-such-requirement
cause = pip could not reach its index ({found}), so it found no package there.
remedy = Check the network, the proxy (role network_access) and index_url.
from = pip 26.3, no such name
example =
    Looking in indexes: https://nowhere.sparkforge.test/simple
    WARNING: Retrying (Retry(total=0, [...])) after connection [...] Failed to resolve 'nowhere.sparkforge.test' [...]
    ERROR: Could not find a version that satisfies the requirement ninja (from versions: none)
    ERROR: No matching distribution found for ninja

[requirement-conflict]
keys =
    ResolutionImpossible
    have conflicting dependencies
pattern =
    Cannot install (.+?) because these package versions have conflicting dependencies
    ResolutionImpossible
cause = The requirements contradict each other ({found}).
remedy = See the lines below for who wants what, and change the unit's requirements.
from = pip 26.3
example = ERROR: Cannot install needs-a==1 and needs-b==1 because these package versions have conflicting dependencies.

[no-such-requirement]
keys =
    No matching distribution found for
    satisfies the requirement
pattern = (?:No matching distribution found for|satisfies the requirement) (\S+)
cause = pip finds no package that serves {found} for this Python and machine.
remedy = Correct the requirement, or name the index or directory that has it (index_url, find_links).
from = pip 26.3
example = ERROR: Could not find a version that satisfies the requirement cmake==3.31.6 (from versions: none)

[pyproject-invalid]
keys =
    TOMLDecodeError
    Invalid TOML
    tomllib.
    invalid pyproject.toml
pattern =
    TOMLDecodeError: ([^\n]+)
    Invalid TOML
    invalid pyproject\.toml
cause = A pyproject.toml cannot be read ({found}).
remedy = Correct the patch or the edit that changed it.
from = pip 26.3
example = tomllib.TOMLDecodeError: Expected ']' at the end of a table declaration (at line 1, column 14)
"""
