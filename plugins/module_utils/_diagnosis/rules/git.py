# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Sources and patches

Repositories, submodules and what is changed in them.
"""

RULES = r"""
[submodule-failed]
keys =
    into submodule path
    in submodule path
    No url found for submodule
pattern =
    clone of '(?P<url>[^'\n]+)' into submodule path '(?P<where1>[^'\n]+)' failed
    Fetched in submodule path '(?P<where2>[^'\n]+)', but it did not contain (?P<commit>\w+)
    Unable to (?:checkout|fetch)[^\n]*in submodule path '(?P<where3>[^'\n]+)'
    No url found for submodule path '(?P<where4>[^'\n]+)'
cause = The submodule {where} cannot be fetched[ from {url}][: its repository has no commit {commit}].
remedy = Make its repository reachable, or mirror it; it must contain the commit that its project pins.

[authentication]
keys =
    could not read Username
    Authentication failed
    Permission denied (publickey
    returned error: 401
    401 Error
    401 Client Error
    returned error: 403
    403 Client Error
pattern =
    could not read Username for '([^'\n]+)'
    Authentication failed for '([^'\n]+)'
    Permission denied \(publickey
    returned error: 40[13]
    40[13] (?:Client )?Error[^\n]*
cause = A server requires a login, or rejects this one ({found}).
remedy = Use a URL that needs no login or a mirror; builds never ask for a password.

[git-no-such-commit]
keys =
    not our ref
    reference is not a tree
    Could not parse object
    unable to read tree
    failed to unpack tree object
pattern =
    not our ref (\w+)
    reference is not a tree: (\w+)
    Could not parse object '(\w+)'
    unable to read tree \(?(\w+)
    failed to unpack tree object (\w+)
cause = The repository has no commit {found}.
remedy = Correct source.version (playbooks/lock.yml resolves a tag again), or the repository: a fork lacks commits.

[git-no-such-ref]
keys =
    not found in upstream
    couldn't find remote ref
    did not match any file(s) known to git
pattern =
    Remote branch (\S+) not found in upstream
    couldn't find remote ref (\S+)
    pathspec '([^'\n]+)' did not match
cause = The repository has no tag or branch {found}.
remedy = Correct source.version: git ls-remote lists the tags and branches.

[repository-missing]
keys =
    does not appear to be a git repository
    repository '
    Repository not found
    returned error: 404
pattern =
    '?(\S+?)'? does not appear to be a git repository
    repository '([^'\n]+)' (?:not found|does not exist)
    Repository not found
    returned error: 404
cause = There is no such repository or file: {found}.
remedy = Correct source.repo (or the archive's URL), or the mirror used for it.

[patch-failed]
keys =
    patch failed:
    patch does not apply
    FAILED at
    corrupt patch at line
pattern =
    patch failed: (\S+)
    error: (\S+): patch does not apply
    Hunk #(\d+ FAILED at \d+)
    corrupt patch at line \d+
cause = A patch does not apply ({found}).
remedy = Recreate it for this commit, or remove it if the source already has the change.
"""
