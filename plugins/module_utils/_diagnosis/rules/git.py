# __init__.py in this directory explains the fields.

"""Sources and patches

Repositories, submodules and changes to them.
"""

RULES = r"""
[git-lfs-object]
keys =
    Smudge error: Error downloading
    smudge filter lfs failed
    external filter
pattern =
    Smudge error: Error downloading (?P<file1>\S+) [^\n]*?(?P<why>Git credentials for \S+ not found|remote missing
    + object|does not exist on the server|over its data quota|rate limit|expected OID|invalid character|Server
    + error|from HTTP 5\d\d|timed? ?out)
    Smudge error: Error downloading (?P<file2>\S+)
    (?P<file3>\S+): smudge filter lfs failed
    external filter '?git-lfs [^\n]*failed
values =
    what of why: exp => the download is damaged, or is another file
    what of why: inv => the answer contains other text, such as output of the login shell
    what of why: Ser|from|tim => the server failed
    what of why: Git cred => the server requires a login
    what of why: over|rate => the repository's quota is used up
    what of why: . => the server does not have it
    advice of why: exp => run git lfs pull in the clone again, or download a model's file with hf download
    advice of why: inv => make sure that ~/.bashrc and the like print nothing without a terminal, or clone over https
    advice of why: Ser|from|tim => run git lfs pull in the clone later
    advice of why: (?:)|. => log in, run git lfs pull in the clone, or download the files as the project describes
cause = git cannot download [{file}, ]a large file that the repository keeps in Git LFS[: {what}].
remedy = If the build does not need these files, which are often for tests or pictures, skip them (export
    GIT_LFS_SKIP_SMUDGE=1 before git clone, pip or uv). Otherwise {advice}.
source = astral-sh/uv#9451

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
values =
    advice of commit: . => Use a release or a newer commit of the project that pins an existing commit, or take the
    + submodule's newest (git submodule update --init --recursive --remote), which the project has not tested
    advice of commit: (?:) => Make its repository reachable, or mirror it. It must contain the commit that its project
    + pins
    ssh of url: git@ => ; an address that begins with git@ needs an ssh key at the server: git config --global
    + url.https://github.com/.insteadOf git@github.com: takes https instead
cause = The submodule {where} cannot be fetched[ from {url}][: its repository has no commit {commit}].
remedy = {advice}[{ssh}].
source = isaac-sim/IsaacLab-Arena#1066

[ssh-key-not-in-container]
keys =
    cannot access '
    Identity file
pattern =
    cannot access '(/root/\.ssh[^'\n]*)': No such file
    Identity file (/root/\.ssh\S*) not accessible
when = ssh-key-missing
cause = ssh finds no key: {found} does not exist here, for example in a container, which does not see its host's ~/.ssh.
remedy = Mount the key into the container, read-only (-v ~/.ssh/id_ed25519:/root/.ssh/id_ed25519:ro, or volumes in the
    compose file), and recreate the container. If root itself runs ssh on a host, create a key for root and copy it with
    ssh-copy-id.
source = MiaAI-Lab/sparkDash#44

[ssh-key-missing]
keys = Permission denied (publickey
pattern = (?<![\w.@-])(?!git@)(?P<account>[\w.-]+@[\w.-]+): Permission denied \((?P<methods>publickey[^)\n]*)
values =
    why of methods: .*(?:password|keyboard) => it accepted neither a key nor a password
    why of methods: . => it accepts only keys, and none of this account's
cause = The other host did not let {account} in: {why}.
remedy = Copy this account's public key there (ssh-copy-id {account}), and check that ssh {account} true works before
    mpirun, Ray or a script uses it. ssh in a container has only the keys mounted into it.
source = https://manpages.ubuntu.com/manpages/noble/man1/ssh-copy-id.1.html

[sudo-password-missing]
keys =
    Missing sudo password
    Incorrect sudo password
    Missing become password
pattern = ((?:Missing|Incorrect) (?:sudo|become) password)
cause = sudo asks Ansible's account for a password on this host, but got none or a wrong one ({found}): sudoers does not
    let the account become the task's user (root, or become_user) without a password[; {log_sudoers} covers only root].
remedy = Run it with -K (--ask-become-pass) and type that account's password, or let the rule cover all users: ACCOUNT
    ALL=(ALL) NOPASSWD: ALL in a file in /etc/sudoers.d. Without (ALL) it covers only root.
source = geerlingguy/internet-pi#235

[git-not-found]
keys =
    failed to fetch branch or tag
    failed to fetch commit
    failed to find branch, tag, or commit
    fatal: repository '
    fatal: Remote branch
    find remote ref
    did not match any file(s) known to git
    not our ref
pattern =
    not our ref (\w+)
    failed to (?:fetch|find) (?:branch or tag|branch, tag, or commit|commit) '([^'\n]+)'
    fatal: repository '([^'\n]+)' not found
    fatal: Remote (branch \S+) not found
    fatal: couldn't find remote ref (\S+)
    pathspec '([^'\n]+)' did not match any file
cause = The server has no {found}, or shows it only to accounts with access.
remedy = Check the name (git ls-remote lists branches and tags), fetch the tags (git fetch --tags), and log in if the
    repository is private.

[git-commit-missing]
keys =
    reference is not a tree
    Failed to checkout tag:
pattern =
    fatal: reference is not a tree: (\w+)
    Failed to checkout tag: '([^'\n]+)'
cause = The cloned repository has no {found}: it was removed upstream (a force push), the clone is shallow or old, or
    the tag has another name.
remedy = Fetch everything (git fetch --unshallow --tags), check the name with git ls-remote, or use a release of the
    project whose pin exists. Remove the incomplete clone (_deps, .deps) before you configure again.

[git-directory-taken]
keys = already exists and is not an empty directory
pattern = destination path '([^'\n]+)' already exists
cause = The directory {found} already exists, and git clones only into an empty one.
remedy = Use it (git pull in it), name another directory, or remove it.

[git-locked]
keys =
    .lock': File exists
    could not lock config file
pattern =
    Unable to create '([^'\n]+\.lock)': File exists
    could not lock config file (\S+): File exists
cause = Another git process is using this repository, or a killed one left its lock {found}.
remedy = Check that no git process is running (pgrep -a git), then remove that file.

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
values =
    advice of found: Permission denied \(publickey => Add this host's public key (ssh-keygen -t ed25519 creates one)
    + to the account there: with ssh-copy-id on a host, on the SSH keys page of GitHub or GitLab
    advice of found: http.*github|.*github => Correct the repository's name: the answer for a missing one is the same.
    + For a private one, log in (gh auth login, or a token as the password)
    advice of found: .*40?1 => Log in with a token in the tool's own configuration: the tool sent none, or an expired
    + one
    advice of found: .*403 => Get access for the account (accept a licence or join the project), or use a mirror: the
    + server understood the request, but refuses it
    advice of found: . => Correct the name, and log in with a token that has read access (in the tool's own
    + configuration)
uncertain = yes
cause = A server requires a login, or rejects this one ({found}).
remedy = {advice}. Builds never ask for a password.

[patch-of-another-release]
keys = Checking patch
pattern =
    Checking patch \S+\n[^\n]*?error: (?P<file>\S+): No such file or directory
cause = The build applies a patch (from a pull request) that changes {file}, which this version of the source does not
    have.
remedy = Update the build's recipe (git pull in it), build the version that it was made for, or remove the patch from
    it.
source = eugr/spark-vllm-docker#167

[patch-failed]
keys =
    patch failed:
    patch does not apply
    FAILED at
    FAILED -- saving rejects
    in the patch input
    corrupt patch at line
pattern =
    patch failed: (\S+)
    error: (\S+): patch does not apply
    Hunk #(\d+ FAILED at \d+)
    (hunks? FAILED -- saving rejects to file \S+)
    (Only garbage was found in the patch input)
    corrupt patch at line \d+
cause = A patch does not apply ({found}).
remedy = Recreate it for this commit, or remove it if the source already has the change.

[git-local-changes]
keys =
    would be overwritten by
    CONFLICT (
pattern =
    local changes to the following files would be overwritten by (?P<step>\w+):\s+(?P<file1>\S+)
    untracked working tree files would be overwritten by (?P<step2>\w+):\s+(?P<file2>\S+)
    CONFLICT \([\w/]+\): Merge conflict in (?P<file3>\S+)
cause = git stopped[ before the {step}] because {file} has changes both here and in the other version.
remedy = Keep your changes (git stash, or commit them on your own branch), or discard them (git checkout -- {file}). If
    there is a conflict, resolve it in the file, run git add and continue, or run git merge --abort.

[git-identity]
keys =
    Please tell me who you are
    unable to auto-detect email address
pattern = (Please tell me who you are|unable to auto-detect email address)
cause = git does not know whose name to commit under ({found}).
remedy = Run git config --global user.name NAME and git config --global user.email ADDRESS.

[pip-clone-failed]
keys = did not run successfully
pattern = git clone [^\n]*?(?P<url>(?:https?|ssh|git)\S*[:/]\S+) \S+ did not run successfully
cause = pip could not clone {url}.
remedy = Run git clone {url} by hand to see the cause: no login (a token or an ssh key), a wrong address, or no network.
    A line with fatal: above names it, too.

[git-diverged]
keys =
    reconcile divergent branches
    (non-fast-forward)
    (fetch first)
    refusing to merge unrelated histories
pattern =
    (reconcile divergent branches)
    \[rejected\] +(\S+ -> \S+) \((?:non-fast-forward|fetch first)\)
    (refusing to merge unrelated histories)
cause = Both the local branch and the server's have new commits ({found}).
remedy = Run git pull --rebase to put yours on top. If you do not need yours, fetch and reset to the server's branch.

[git-file-too-large]
keys = exceeds GitHub's file size limit
pattern = File (?P<file>\S+) is (?P<size>[\d.]+ MB); this exceeds GitHub's file size limit
cause = GitHub does not accept a file as large as {file} ({size}).
remedy = Keep it in Git LFS (git lfs migrate import --include={file}) or on a model hub, and remove it from every
    unpushed commit (git filter-repo --path {file} --invert-paths).
"""
