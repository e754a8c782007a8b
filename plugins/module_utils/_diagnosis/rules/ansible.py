# __init__.py in this directory explains the fields.

"""Ansible, ssh and sudo

Messages from a controller that cannot reach a host, or cannot find something that a play uses.
"""

RULES = r"""
[ssh-host-changed]
keys = REMOTE HOST IDENTIFICATION HAS CHANGED
pattern = REMOTE HOST IDENTIFICATION HAS CHANGED(?:(?s:.{0,1200}?)Offending \S+ key in (?P<file>[^\s:]+):(?P<line>\d+))?
cause = The host's key has changed[ (line {line} of {file})]: the host was reinstalled, another host has its address, or
    somebody intercepts the connection.
remedy = If it was reinstalled, check the new fingerprint on its own screen (ssh-keygen -lf
    /etc/ssh/ssh_host_ed25519_key.pub), then remove the old key: ssh-keygen -R NAME.

[ssh-host-unknown]
keys =
    Host key verification failed
    The authenticity of host
pattern =
    (Host key verification failed)
    ssh connection error: [^\n]{0,40}?(The authenticity of host '[^'\n]+' can't be established)
cause = This account does not know the other host's key ({found}), and ssh could not ask about it.
remedy = Connect once by hand with ssh as the same account and compare the fingerprint, or put the key into known_hosts
    (ssh-keyscan, after checking it). With git, this is the git server's key.

[ssh-key-open]
keys = are too open
pattern = Permissions (?P<mode>\d+) for '(?P<file>[^'\n]+)' are too open
cause = ssh does not use the private key {file} because others may read it (mode {mode}).
remedy = Run chmod 600 {file}. If it is on a file system without modes (a Windows disk, a shared folder), copy it into
    ~/.ssh.

[ssh-closed]
keys = kex_exchange_identification
pattern = kex_exchange_identification: (?:\w+: )?([^\n]+)
cause = The host closed the connection before the login ({found}): its ssh server has too many connections at once
    (MaxStartups), blocks this address (fail2ban, a firewall), or is still starting.
remedy = Wait a minute and try again with fewer connections (forks in ansible.cfg), read journalctl -u ssh on the host,
    and check that the port is ssh's.

[ssh-control-socket]
keys =
    ontrol socket connect(
    unix_listener:
    ControlPath
pattern =
    [Cc]ontrol socket connect\((?P<path1>[^)\n]{1,200})\): (?P<why1>Connection refused|Operation not
    + supported|Permission denied)
    unix_listener: (?P<why2>cannot bind to path|path):? '?(?P<path2>[^\s'"\\]{1,200})'?(?P<why3> too long)?
    ControlPath (?P<why4>too long)
values =
    advice of why: .*(?:too long|path$) => The path is too long for a socket, or its directory is missing: set
    + control_path_dir = /tmp/.ansible-cp in ansible.cfg
    advice of why: . => Delete it (rm) and try again. If it comes back, its file system does not support sockets (a
    + Windows disk under WSL, a shared folder, overlayfs) or its directory is missing: set control_path_dir =
    + /tmp/.ansible-cp in ansible.cfg, or ssh_args = -o ControlMaster=no
cause = ssh on the controller cannot use the socket through which it shares connections[: {path}][ ({why})]. This says
    nothing about the host.
remedy = {advice}.
source = Azure/az-hop#110

[ssh-too-many-keys]
keys = Too many authentication failures
pattern = (Too many authentication failures)
cause = ssh offered too many other keys before the right one ({found}).
remedy = Name the key: IdentityFile with IdentitiesOnly yes in ~/.ssh/config (ansible_ssh_private_key_file).

[sudo-needs-terminal]
keys =
    sudo: a terminal is required
    sudo: a password is required
    Interactive authentication required
    is not in the sudoers file
pattern =
    (Interactive authentication required)
    (\S+ is not in the sudoers file)
    sudo: (a (?:terminal|password) is required)[^\n]*
values =
    advice of found: .*sudoers => As an administrator, add the account to the group sudo (sudo usermod -aG sudo NAME)
    + and log in again, or use an account in that group
    advice of found: Interactive => Run the command with sudo, because systemd or NetworkManager refuses it to an
    + ordinary account without a desktop
    advice of found: . => Use ssh -t, which gives sudo a terminal, or Ansible's -K, or allow the account this command
    + without a password (a rule with NOPASSWD: in /etc/sudoers.d)
cause = The command needs root, but sudo did not grant it ({found}).
remedy = {advice}.

[sudo-prompt-not-seen]
keys = waiting for privilege escalation prompt
pattern = (Timeout \(\d+s\) waiting for privilege escalation prompt)
cause = Ansible did not recognise a prompt from sudo ({found}).
remedy = If sudo --version on the host says sudo-rs (in Ubuntu since 25.10), set ansible_become_exe to sudo.ws, or use
    ansible-core 2.21 or newer. Otherwise pass the password with -K. If you did, the host is slow (raise timeout in
    ansible.cfg), or sudoers permits the account only single commands: Ansible needs /bin/sh as the other user.
source = ansible/ansible#86441

[ansible-sshpass]
keys = must install the sshpass program
pattern = must install the (sshpass) program
cause = To log in with a password, Ansible needs {found} on the controller.
remedy = Install sshpass on the controller, or preferably copy a key to the host (ssh-copy-id) and omit -k.

[ansible-collection-missing]
keys =
    resolve module/action
    was not found in
    plugin '
pattern =
    couldn't resolve module/action '([^'\n]+)'
    the role '([^'\n]+)' was not found
    (?:lookup|connection|become|callback|inventory|strategy|filter|test) plugin '?\(?'?([\w.]+)'?\)? (?:was )?not found
    No module named 'ansible_collections\.([\w.]+)'
cause = Ansible does not find {found}: its collection is not installed for this Ansible, or the name is misspelt.
remedy = Install it (ansible-galaxy collection install NAMESPACE.NAME, or -r requirements.yml), as the same account and
    in the same environment as ansible-playbook (ansible-galaxy collection list shows its collections).

[ansible-undefined]
keys =
    has no attribute '
    has no attribute u'
    error while evaluating conditional
    ' is undefined
    undefined variable
    Mandatory variable
pattern =
    error while evaluating conditional[^\n]*?'dict object' has no attribute u?'(?P<name3>\w+)'
    (?:undefined variable(?s:.{0,300}?))?(?<!identifier )'(?P<name>[\w.]+)' is undefined
    (?P<host1>HostVars)\w*(?: object)?'? has no attribute '(?P<name4>\w+)'
    object of type '(?P<host2>\w+)' has no attribute '(?P<name5>\w+)'
    has no attribute '(?P<name2>\w+)'[^\n]*undefined
    undefined variable[^\n]{0,80}'dict object' has no attribute u?'(?P<name7>[\w.-]+)'
    Mandatory variable '?(?P<name6>\w+)'? not defined
values =
    advice of host: HostVars => Gather the facts of that host first, with a play over all hosts whose variables are
    + read (gather_facts: true, without --limit), or set it in that host's host_vars
    advice of name: (?:arm64|aarch64)$ => The play's table of architectures (for downloads, packages) has no entry for
    + this one: use a newer release of the play, or add the entry with the file that its project publishes for arm64
    advice of name: v?\d => The play's table of releases has no entry for that one: take a release that it lists, or
    + use a
    + newer release of the play
    advice of name: (?:stdout|stderr|rc|stat|changed|results|json|content)(?:_lines)?$ => The task that registers this
    + result was skipped, failed or ran in check mode: read that task's output, and use default() or 'is not skipped'
    + where this can happen
    advice of name: . => Set it in the inventory (group_vars, host_vars) or with -e; check its spelling, and that the
    + play that sets it ran before (--tags and --limit can skip plays)
cause = The play uses {name}, which is not set for this host.
remedy = {advice}.

[ansible-yaml]
keys =
    Syntax Error while loading YAML
    YAML parsing failed
pattern =
    Syntax Error while loading YAML\.\s+(?P<why1>[^\n]+)
    YAML parsing failed: (?P<why2>[^\n]+)
cause = A file of the play or the inventory is not valid YAML: {why}.
remedy = Check the file and line in the message: indent with spaces, and quote values that begin with a brace or contain
    a colon and a space.

[ansible-file-missing]
keys = the playbook:
pattern = the playbook: (\S+) could not be found
cause = There is no playbook {found} here.
remedy = Change to the playbook's directory, or run it by its full name (NAMESPACE.COLLECTION.NAME) once the collection
    is installed.

[ansible-no-python]
keys =
    you probably need to set the interpreter
    The module interpreter
    "module_stderr": "
    "module_stdout": "
pattern =
    ^[^\n]{0,200}?/(?:ba|da)?sh: (?:line )?(?:\d+: )?(?P<path>/[^\n:]{1,120}): (?:No such file or
    + directory|not found|cannot execute)
    (you probably need to set the interpreter)
    The module interpreter '([^'\n]+)' was not found
values =
    advice of path: .*\s => An interpreter must be a single path: unset ansible_python_interpreter, or set it to
    + /usr/bin/python3
    advice of path: . => Install python3 there, and unset ansible_python_interpreter, or correct it to the path of a
    + Python on that host (the environment must exist there)
    advice of path: (?:) => Install python3 there, and unset or correct ansible_python_interpreter
cause = Ansible's module did not run on the host: there is no Python where Ansible expects it ({found}).
remedy = {advice}.
source = ansible/ansible#18846

[ansible-shell-prints]
keys = unexpected output from Python interpreter discovery
pattern = Unhandled error in Python interpreter discovery for host (?P<host>\S+): unexpected output
uncertain = yes
cause = The login shell of {host} printed something else than Ansible's command did, so that Ansible cannot find Python
    there.
remedy = Make its profile silent (ssh HOST true must print nothing), use /bin/sh or bash as the account's login shell,
    leave variables such as $USER in braces out of remote_tmp, and set ansible_python_interpreter: /usr/bin/python3.
source = ansible/ansible#75231

[ansible-vault]
keys =
    no vault secrets found
    Decryption failed (no vault secrets
pattern = (no vault secrets[\w ]*)
cause = A variable or file is encrypted with Ansible Vault, but no password fits ({found}).
remedy = Pass --ask-vault-pass or --vault-password-file with the password of that vault id.

[ansible-no-hosts]
keys =
    Could not match supplied host pattern
    leaves us with no hosts to target
pattern =
    Could not match supplied host pattern, ignoring: (?P<group>\S+)(?s:.{0,300}?)no hosts to target
    leaves us with no hosts to target
cause = Ansible has no host for the play[: its inventory has no {group}].
remedy = Pass the inventory (-i inventory/hosts.yml), check the names of the group and the host with ansible-inventory
    --graph, and check --limit.

[ansible-inventory-unread]
keys = no hosts matched
pattern = ^skipping: (no hosts matched)
when = log-shows-inventory
cause = Ansible could not read {log_inventory} as an inventory, so the play has no hosts ({found}).
remedy = Check that the file exists at that path (-i), is readable and is valid: ansible-inventory -i FILE --graph -vvv
    prints each plugin's reason.
source = microsoft/pai#5306

[ansible-become-unprivileged]
keys = becoming an unprivileged user
pattern = temporary files Ansible needs to create when (becoming an unprivileged user)
cause = Ansible cannot hand its files to the task's become user ({found}) because acl is missing on the host.
remedy = Install the package acl on the host, or set pipelining = True in ansible.cfg.

[ansible-python-library]
keys = Failed to import the required Python library
pattern =
    Failed to import the required Python library \((?P<library>[^)\n]+)\) on (?P<host>\S+)'s Python (?P<python>\S+?)\.?[
    +\s'"]
values =
    package of library: Docker SDK => docker
    package of library: .*\b(?:kubernetes|openshift)\b => kubernetes
    package of library: ([\w-]+)$ => the name in parentheses
    package of library: . => that library
cause = The module needs the Python library ({library}) on {host}, for {python}.
remedy = Install it there for that Python (sudo apt install python3-NAME, or pip install NAME into its environment; the
    NAME is {package}), or set
    ansible_python_interpreter to one that has it.

[ansible-locale]
keys =
    locale encoding to be UTF-8
    could not initialize the preferred locale
    unsupported locale setting
pattern =
    locale encoding to be UTF-8; Detected (?P<locale>\S+?)\.
    could not initialize the preferred locale: (?P<why1>unsupported locale setting)
    locale\.Error: (?P<why2>unsupported locale setting)
cause = The locale of this session does not exist or is not UTF-8[ ({locale})].
remedy = Set one that exists (export LC_ALL=C.UTF-8), or generate it (sudo locale-gen en_US.UTF-8).

[ansible-controller-file]
keys =
    Could not find or access '
    could not locate file in lookup
    had an issue accessing the file
pattern =
    Could not find or access '(?P<file1>[^'\n]+)'
    could not locate file in lookup: (?P<file2>[^\s",]+)
    had an issue accessing the file '(?P<file3>[^'\n]+)'
values =
    advice of file: .*(?:/tasks/|/handlers/|/vars/|/submodules/|main\.ya?ml$) => The play includes this file from a
    + part that is installed in another release, or whose Git submodule is not checked out at the project's commit (git
    + submodule update --init --recursive)
    advice of file: . => Put it into the role's files or templates, or next to the playbook, and correct its path. For
    + a file that is already on the host, set remote_src: true (instead of a lookup, which always reads the controller,
    + use slurp)
cause = Ansible looks for {file} on the controller, where it does not exist.
remedy = {advice}.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/copy_module.html

[ansible-path-missing]
keys =
    Destination directory
    does not exist !
    is absent, cannot continue
    src file does not exist
    must be an existing dir
    Source /
    Source '/
pattern =
    Destination directory (?P<path1>[^\s"\\]+)(?:["\\]\S*)?\s+does not exist
    (?:Destination|Path) (?P<path2>/[^\s"]+) does not exist !
    file \((?P<path3>[^)\n]+)\) is absent, cannot continue
    src file does not exist, use [^\n]{1,60}?: (?P<path4>[^\s"]+)
    dest '(?P<path5>[^'\n]+)' must be an existing dir
    \bSource '?(?P<path6>/[^\s'"]+?)'? (?:not found|does not exist|not readable)
cause = A task needs {path} on the host, where it does not exist.
remedy = Create it in an earlier task (ansible.builtin.file with state: directory; create: true of lineinfile and
    blockinfile; the download of an archive), install the package that includes it, or correct the path. With --check,
    earlier tasks do not create it: skip such tasks then (when: not ansible_check_mode).
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/file_module.html

[ansible-path-kind]
keys =
    refusing to convert
    can not use content with a dir
    failed to create symbolic link
pattern =
    (?P<why1>refusing to convert (?:from|between) \w+ (?:to|and) \w+) for (?P<path>[^\s"]+)
    (?P<why2>can not use content with a dir as dest)
    (?P<why3>failed to create symbolic link)[^\n]{0,200}File exists
cause = The task's path already exists on the host as another kind of file[ ({path})]: {why}.
remedy = Remove or rename the existing file (a directory only if nobody needs it), then run the task again. force: true
    replaces a file with a link; copy with content: needs a file name as dest.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/file_module.html

[ansible-program-missing]
keys =
    Failed to find required executable
    Unable to find any of
    Make sure the required command to extract
    No such file or directory: b'
pattern =
    Failed to find required executable \\*'?(?P<program1>[\w.+-]+)
    ^\[Errno 2\] No such file or directory: b'(?P<program3>[^'\n]+)'
    Unable to find any of (?P<program2>[\w., +-]+?) to use
    Failed to find handler for \\*'?(?P<archive>[^'\s\\]+)[^\n]*?required command to extract
values =
    advice of program: /usr/(?:local/)?bin/|/opt/ => An earlier task should have installed it there: check whether it
    + was skipped (--tags, --limit, a condition, a release of ansible-core that the play does not support), or install
    + it yourself
    advice of program: pip => Install python3-pip there (apt), or name an environment's pip (executable: or virtualenv:
    + of the module pip)
    advice of program: . => Install it on that host first, or name it by its full path: a session without login and
    + sudo's secure_path do not always include /usr/local/bin or ~/.local/bin
    advice of archive: . => Install unzip, tar, bzip2, xz-utils or zstd there, and check the file (file NAME): the
    + download may have saved an error page of the server
cause = A module needs [{program}][a program that unpacks {archive}], which it does not find on the host[ or which
    refused that file: {archive}].
remedy = {advice}.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/unarchive_module.html

[ansible-argument]
keys =
    must be one of:
    missing required arguments
    we were unable to convert to
    is required but was not set
    has an invalid value (
    must be in octal or symbolic form
    parameters are mutually exclusive
    of the following are missing
    one of the following is required
    missing parameter(s) required by
    parameters are required together
pattern =
    (?P<why1>value of (?P<option1>[\w.]+) must be one of: [^"\n]{1,300}, got: [^"\n]{1,100})
    (?P<why2>missing required arguments: (?P<option2>[\w, ]+))
    (?P<why3>[Aa]rgument '?(?P<option3>[\w.]+)'? is of type [^"\n]{3,60}? and we were unable to convert to \w+)
    (?P<why4>[Tt]he field '(?P<option4>\w+)' is required but was not set)
    (?P<why5>[Tt]he field '(?P<option5>\w+)' has an invalid value \([^)\n]{1,100}\))
    (?P<why6>(?P<option6>mode) must be in octal or symbolic form)
    (?P<why7>parameters are (?:mutually exclusive|required together): [^"\n]{1,200})
    (?P<why8>(?<!\w)(?P<option8>\w{1,40}) is \S{1,60} but (?:any|all) of the following are missing: [^"\n]{1,200}|one
    + of the following is required: [^"\n]{1,200}|missing parameter\(s\) required by '\w+': [^"\n]{1,100})
values =
    advice of why: mode => Write it as a quoted string ("0644")
    advice of why: value of => Choose one of those values
    advice of why: .*exclusive => Omit one of them
    advice of why: .*(?:missing|required) => Add it; a value that is empty or comes from an undefined variable with
    + default(omit) counts as missing
    advice of why: . => Write a value of that kind: filters convert it (| int, | bool, | list), and in ansible-core
    + before 2.19 without jinja2_native, a template always yields a string
cause = Ansible refuses an option of the task: {why}.
remedy = {advice} (ansible-doc MODULE describes the options).
source = https://docs.ansible.com/ansible/latest/dev_guide/developing_program_flow_modules.html

[ansible-template]
keys =
    recursive loop detected
    Invalid data passed to 'loop'
    templating type error
    template error while templating string
    Syntax error in template
    has no element
    delimiters are not supported
    sequence was empty
    exception occurred while templating
pattern =
    (?P<why1>recursive loop detected in template(?: string)?: [^"\n]{1,160})
    (?P<why2>Invalid data passed to 'loop', it requires a list, got this instead: [^"\n]{1,120})
    templating type error occurred on \([^\n]{1,200}?\): (?P<why3>(?:[^"\n\\]|\\.){3,200})
    template error while templating string: (?P<why4>(?!Could not load|[Nn]o filter)[^\n]{3,200}?)(?:\. String|$)
    (?P<why5>Syntax error in template: [^"\n]{3,160})
    (?P<why6>list object has no element \d+|No first item, sequence was empty)
    (?P<why7>Template delimiters are not supported in expressions[^"\n]{0,120})
    exception occurred while templating '[^\n]{1,200}?original message: (?P<why8>[^"\n]{3,200})
values =
    advice of why: Template delim => Write the expression without braces: when, until, that, failed_when and
    + changed_when already are expressions (when: x == 'a')
    advice of why: No first => The list is empty: check what fills it (a group without hosts, a search without a
    + result), and use default() or a condition on its length
    advice of why: recursive => A variable is defined through itself: rename the inner or the outer one
    advice of why: Invalid => Pass a list: dict2items for a mapping, [x] for one value, query() or wantlist=True for a
    + lookup
    advice of why: list => The list is too short or empty: check what fills it (a result that was skipped, a group
    + without hosts), and use default() or a condition on its length
    advice of why: .*(?:concatenate|operand|not supported between|type) => Convert the value first (| int, | float, |
    + string)
    advice of why: . => Correct the expression there (brackets, quotes and filters). Text with braces that is not an
    + expression belongs between raw and endraw
cause = A template or an expression in the play is wrong: {why}.
remedy = {advice}.
source = https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_templating.html

[ansible-reboot]
keys =
    waiting for last boot time check
    imed out waiting for reboot
pattern = ([Tt]imed out waiting for (?:last boot time check|reboot)[^"\n]{0,40})
cause = The host was restarted, but Ansible could not log in again in time ({found}).
remedy = Check its screen or console (a disk check, a firmware update, a new kernel that does not start) and its
    address, which may have changed. If the host only needs more time, raise the task's reboot_timeout.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/reboot_module.html

[ansible-checksum]
keys =
    Unable to find a checksum for file
    checksum for
pattern =
    Unable to find a checksum for file '(?P<file1>[^'\n]+)' in '(?P<list>[^'\n]+)'
    The (?:[\w-]+ )?checksum for (?P<file2>\S+) did not match (?P<need>\w+)(?:[.;] ?it was (?P<have>\w+))?
values =
    advice of list: . => Open that address: it must have a line with the checksum and then this file's name (only newer
    + releases of ansible-core accept a checksum alone). Otherwise write the checksum into the task (checksum: sha256:…)
    advice of need: . => If the file was updated (its address then contains no version), get its current checksum from
    + the publisher. Otherwise check the downloaded file (a proxy's page, or an incomplete file) and delete it
cause = The download [{file} ]cannot be verified[: {list} has no checksum for it][: its checksum is {have}, but the task
    expects {need}].
remedy = {advice}.
source = ansible/ansible#86132

[ansible-apt-key]
keys =
    key does not seem to have been added
    but failed to add the key
pattern = (key does not seem to have been added|failed to add the key)
cause = Ansible's module apt_key added a key, but did not find it under the task's id ({found}): the id belongs to a
    subkey, or to a key that is not in the file.
remedy = Omit id, or set it to the key's complete fingerprint (gpg --show-keys FILE). It is better to download the key
    to /etc/apt/keyrings with get_url and name it in the source (Signed-By; module deb822_repository), because new
    releases no longer have apt-key.
source = ansible/ansible#76143

[ansible-compose]
keys = Error when processing
pattern = "?Error when processing (?P<service>\S+?): (?P<why>[^\n"]{2,200})
uncertain = yes
cause = docker compose reports an error for {service} under Ansible's module ({why}).
remedy = Run docker compose up -d in that directory on the host to see the cause. If that works, update the collection
    community.docker (3.8 and newer do not treat such a line as a failure).
source = ansible-collections/community.docker#807

[service-socket-missing]
keys = ocket path does not exist
pattern = [Ss]ocket path does not exist: (?P<path>/\S+)
cause = The program connects to a service through the socket {path}, which does not exist: the service is not running,
    or runs in another container.
remedy = Start it (systemctl status; docker ps -a; for AWX the container with receptor), read its log, and mount the
    socket's directory into the program's container.
source = ansible/awx#9967

[ansible-become-needed]
keys =
    as requested: [Errno 13]
    Permission denied: b'
    not writable
    could not open lock file
pattern =
    There was an issue creating (?P<path1>\S+) as requested: \[Errno 13\]
    ^Permission denied: b'(?P<path2>[^'\n]+)'
    Destination (?P<path3>\S+) (?:is )?not writable
cause = The task is not allowed to write {path} on the host: it runs as an ordinary account.
remedy = Set become: true for this task or the play (with -K if sudo asks for a password), or choose a path that belongs
    to the account.
source = https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_privilege_escalation.html

[ansible-git-changed]
keys = Local modifications exist in
pattern = Local modifications exist in (?:the destination: )?(?P<path>[^\s"]+)
cause = The checkout {path} has local changes, which Ansible's module git does not overwrite.
remedy = Check the changes (git -C {path} status). Commit or stash those you need, or set force: true, which discards
    all of them.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/git_module.html

[ansible-no-systemd]
keys = Service is in unknown state
pattern = (Service is in unknown state)
cause = Ansible asked systemd for a unit on a host where systemd is not running ({found}), usually a container or a
    chroot.
remedy = Start an image whose first process is systemd, or skip such tasks there (when: ansible_service_mgr ==
    'systemd').
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/systemd_service_module.html

[ansible-service-refused]
keys =
    Unable to enable service
    Unable to start service
    Unable to restart service
    Unable to reload service
    Unable to stop service
    Unable to disable service
pattern = Unable to (?P<verb>\w+) service (?P<unit>[^\s:]+): (?P<why>(?s:[^"]{3,400}))
unless = Job for|is masked|not be found
uncertain = yes
values =
    advice of why: .*(?:sysv-install|Default-Start|no runlevels) => It is an old init script without a header for its
    + runlevels: write a unit for it in /etc/systemd/system (or use a package that includes a unit), then set
    + daemon_reload: true
    advice of why: .*(?:static|no installation config|\[Install\]) => Its unit has no [Install] section, so other
    + units start it: enable the timer or socket instead, or omit enabled
    advice of why: .*(?:Access denied|authentication required|Permission) => Set become: true
    advice of why: .*changed on disk => Set daemon_reload: true in that task (systemd module), or run sudo systemctl
    + daemon-reload there. Then read why the service itself fails: journalctl -xeu NAME -b --no-pager | tail -50 on that
    + host; for Docker it is often a mistake in /etc/docker/daemon.json, or an option that a drop-in gives twice
    advice of why: . => Try it by hand on that host (sudo systemctl start NAME; journalctl -xeu NAME)
cause = systemd did not {verb} {unit} for Ansible: {why}
remedy = {advice}.
source = ansible/ansible#22171

[ansible-old-python]
keys = requires a minimum of Python version
pattern = requires a minimum of Python version (?P<need>[\d.]+)\. Current version: (?P<have>[\d.]+)
cause = Ansible needs Python {need} or newer, but found {have}.
remedy = Use a newer Python on that side (ansible_python_interpreter for a host, a new environment for the controller),
    or an ansible-core that supports {have}.

[molecule-refused]
keys =
    Failed to find driver
    Idempotence test failed
    molecule.yml
    fully qualified role name
    Instances not created
    There are no running hosts
    No such file or directory: 'ansible-
pattern =
    (?P<why1>Failed to find driver [\w-]+)
    (?P<why2>Idempotence test failed)[^\n]*\n\W*(?P<task>[^\n]{3,160})
    (?P<why3>molecule\.yml'? glob failed)
    (?P<why4>Failed to validate \S*molecule\.yml)(?: because of:)?\s*(?P<what>[^\n]{3,160})?
    (?P<why5>fully qualified role name of \S+ does not follow)
    (?P<why6>Instances not created|There are no running hosts)
    (?P<why7>No such file or directory: 'ansible-(?:galaxy|playbook|lint)')
values =
    advice of why: Failed to find => Install its plugin into the environment of molecule (pip install
    + "molecule-plugins[docker]", or podman, vagrant), or use the driver default with create.yml and destroy.yml of
    + your own. molecule drivers lists what there is
    advice of why: Idem => The second run changed that task again: give it changed_when, creates or a module instead of
    + a command, or the tag molecule-idempotence-notest if it must change each time
    advice of why: molecule => Run molecule in the directory that contains molecule/, and name the scenario with -s;
    + molecule init scenario writes a new one
    advice of why: Failed to validate => Correct or remove that key: today's molecule has no lint section (run
    + ansible-lint by itself), and each driver comes with its plugin (pip install "molecule-plugins[docker]")
    advice of why: fully => Set role_name and namespace under galaxy_info in meta/main.yml, or set role_name_check to 1
    + in molecule.yml
    advice of why: No such => Install ansible-core into the same environment as molecule (pip install ansible-core), or
    + activate it, so that its programs are on the PATH
    advice of why: . => Run molecule create first (molecule list shows the instances; molecule reset removes a stale
    + state)
cause = Molecule stopped: {why}[ ({what})][: {task}].
remedy = {advice}.
source = https://docs.ansible.com/projects/molecule/

[ansible-play-invalid]
keys =
    conflicting action statements
    no module/action detected
    no action detected
    has extra params
    Invalid variable name in
    malformed block
pattern =
    conflicting action statements: (?P<why1>[^\n]+)
    (?P<why2>no (?:module/)?action detected in task)
    (?P<why3>this task '[^'\n]+' has extra params)
    (?P<why4>Invalid variable name in '\w+' specified: '[^'\n]+')
    (?P<why5>[Aa] malformed block was encountered[^\n"]{0,60})
values =
    advice of why: Invalid => Use only letters, digits and underscores, and do not begin with a digit
    advice of why: no => If only a newer ansible-core has the module, install the one that the play needs (ansible
    + --version). Otherwise write the module with its complete name (NAMESPACE.COLLECTION.NAME; ansible.builtin for
    + Ansible's own), install its collection, and indent its options below it
    advice of why: this => Write the options as lines below the module (name: value), not after it
    advice of why: [Aa] malformed => Tasks are a list, not a mapping, and each begins with a dash: check the line in
    + the message
    advice of why: . => Correct the indentation: module options below the module, become_user and the like on the
    + module's level
cause = A task of the play is not valid: {why}.
remedy = {advice}.

[ansible-host-key-password]
keys = Host Key checking is enabled and sshpass
pattern = (Host Key checking is enabled) and sshpass does not support this
cause = Ansible cannot log in with a password because ssh does not know the host's key yet ({found}).
remedy = Connect once with ssh and compare the fingerprint (or run ssh-keyscan HOST >> ~/.ssh/known_hosts and check it),
    or preferably copy a key there (ssh-copy-id) and omit -k.

[ansible-password-refused]
keys = Invalid/incorrect password
pattern = (Invalid/incorrect (?:username/)?password)
cause = The host refuses the password that Ansible sent for its account ({found}).
remedy = Check ansible_user and the password (-k asks for it; ansible_password in a vault) by logging in with ssh once.
    If the host allows only keys (PasswordAuthentication no), copy one there (ssh-copy-id from an account that has
    access).
source = https://docs.ansible.com/ansible/latest/inventory_guide/connection_details.html

[ansible-ssh-key]
keys = Permission denied (publickey
pattern =
    Failed to connect to the host via ssh:? (?:[^\n]*\n)?[^\n]*?(?P<local>localhost|127\.0\.0\.1): Permission denied
    + \((?P<methods1>publickey[^)\n]*)
    Failed to connect to the host via ssh:? (?:Warning: [^\n]*\n|(?!\S+@)[^\n]*[ .])?Permission denied
    + \((?P<methods2>publickey[^)\n]*)
values =
    advice of local: . => This is the host that Ansible runs on, which needs no ssh: set ansible_connection: local for
    + it in the inventory (or run with -c local). To reach it over ssh all the same, copy the key there too
    + (ssh-copy-id localhost)
    advice of methods: . => Set ansible_user to the account that ssh uses (without it, Ansible takes your own, and
    + under sudo root's), copy its key there (ssh-copy-id USER@HOST) or name it (ansible_ssh_private_key_file), or pass
    + -k for a password. ssh -v USER@HOST shows which keys it offers. For the host that Ansible itself runs on, set
    + ansible_connection: local instead
cause = The host[ {local}] did not let Ansible log in: it accepts {methods}, and none of this account's keys.
remedy = {advice}.
source = ansible/ansible#69182

[ansible-installs-mixed]
keys =
    Unexpected Exception, this is probably a bug
    No module named 'ansible_collections.ansible.builtin'
pattern =
    ^ModuleNotFoundError: (?P<why2>No module named 'ansible_collections\.ansible\.builtin')
    Unexpected Exception, this is probably a bug: (?P<why>cannot import name '\w+' from '[\w.]+'|No module named
    + '[\w.]+'|[^\n]{3,160})
values =
    advice of why: (?:cannot import|No module) => Two releases of Ansible are mixed in this Python, or a library
    + (Jinja2, resolvelib) has a release that Ansible does not accept: create a new environment with a single Ansible
    + (python3 -m venv, pip install ansible-core) and remove the others (pip uninstall ansible ansible-base
    + ansible-core)
    advice of why: . => Run it again with -vvv, which shows the traceback, and with the newest ansible-core of this
    + branch
uncertain = yes
cause = Ansible itself failed on the controller: {why}.
remedy = {advice}.
source = https://docs.ansible.com/ansible/latest/installation_guide/intro_installation.html

[ansible-python-too-new]
keys = ansible.module_utils.six.moves
pattern = No module named '(ansible\.module_utils\.six\.moves)'
cause = The host's Python is newer than this ansible-core supports ({found}): Python 3.12, as in Ubuntu 24.04, needs
    ansible-core 2.16 or newer.
remedy = Update ansible-core on the controller (pipx upgrade ansible-core, or a new environment), or set
    ansible_python_interpreter to an older Python of the host.

[ansible-no-package]
keys = No package matching '
pattern = No package matching '([^'\n]+)' is available
cause = No enabled apt source of the host offers {found}.
remedy = Refresh the lists first (update_cache: true), check the name for this Ubuntu and arm64, and add the source that
    offers it.

[ansible-handler-missing]
keys = The requested handler
pattern = The requested handler '(?P<name>[^'\n]+)' was not found
cause = A task notifies the handler {name}, which does not exist in the play.
remedy = Write it with exactly that name (or listen: {name}) in the handlers of the play, or in a handlers/main.yml that
    was included before.

[ansible-wait-timeout]
keys = Timeout when waiting for
pattern = Timeout when waiting for (?:search string \S+ in )?(?P<target>[\w.:-]+?:\d+|/\S+?)(?=["\s]|$)
cause = Ansible waited in vain for {target}.
remedy = Check on that host whether the service runs and listens (systemctl status NAME; ss -ltnp) and whether the
    firewall allows it. Raise timeout if a model or a restart takes longer.

[ansible-async]
keys = async task did not complete
pattern = (async task did not complete within the requested time - \d+s)
cause = A task in the background did not finish in time ({found}).
remedy = Check on the host whether it is still working or waiting (ps, its log), since its processes may still run. Then
    raise the task's async: (and poll:).
source = https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_async.html

[galaxy-no-version]
keys = resolve the requested dependencies map
pattern = Failed to resolve the requested dependencies map[^\n]*(?:\n\* (?P<need>[^\s(]+))?
cause = ansible-galaxy found no compatible versions of the collections[: {need} is not met].
remedy = Loosen that line of requirements.yml (ansible-galaxy collection list shows what is installed, --upgrade updates
    it), and check that its server has that version.

[galaxy-server]
keys =
    (HTTP Code:
    when attempting to call Galaxy
    Failed to parse Galaxy response
    was NOT installed successfully
    on any of the galaxy servers
    concrete resolvable collection artifact
pattern =
    \(HTTP Code: (?P<status>\d+), Message: ?(?P<why1>[^)\n]*?) Code: \w+\)
    when attempting to call Galaxy at '[^'\n]+': (?P<why2>[^\n]{3,200})
    (?P<why3>Failed to parse Galaxy response)
    was NOT installed successfully: -? ?(?P<why4>[^\n]{3,160})
    (?P<why5>Failed to find collection \S+ on any of the galaxy servers)
    (?P<why6>Neither the collection requirement entry key [^\n]{3,120})
values =
    advice of status: 40[13] => Set the token of that server (a section of galaxy_server in ansible.cfg, or --token)
    advice of status: 404 => Correct the name NAMESPACE.COLLECTION, the version and the server
    advice of status: 5 => Try again later: the fault is the server's, not this host's. If it is urgent, install the
    + collection from its Git repository (git+https://…) or from a tarball of its releases
    advice of why: .*(?:timed out|Errno|refused|reset|resolve|certificate|SSL) => Check whether this host
    + reaches galaxy.ansible.com (curl -I https://galaxy.ansible.com), through its proxy (https_proxy) if any, and try
    + again with --timeout 300. Without a network, install from a tarball
    advice of why: Content has no field => This Ansible is older than 2.9, which is the first that knows collections:
    + update it (pipx install ansible-core)
    advice of why: Failed to parse => The answer is not from Galaxy's API, but a proxy's page, or from an address that
    + an old Ansible uses (update ansible-core). Otherwise install from a tarball
    advice of why: Neither => Pass the name as NAMESPACE.COLLECTION, the path of an existing tarball, or a Git address
    + with type: git
    advice of why: .*(?:was not found|not found on|Failed to find) => Correct the name and its kind (ansible-galaxy
    + collection install, ansible-galaxy install)
    advice of why: . => Run it again with -vvv
cause = ansible-galaxy could not get the collection or role[: the server answers {status}][, {why}].
remedy = {advice}.
source = ansible/ansible#77105

[ansible-remote-directory]
keys =
    Failed to create temporary directory
    Authentication or permission failure
    failed to resolve remote temporary directory
pattern =
    (?:Failed to create temporary directory|Authentication or permission failure)\.[^\n]*?Failed command was:
    + [^\n]*?echo (?P<path>[^\s`'"]+)|([Ff]ailed to (?:create|resolve remote) temporary directory|Authentication or
    + permission failure)
cause = Ansible could not create its directory on the host[ ({path})]: the disk is full or read-only, or the account has
    no writable home directory, or its login is not a shell.
remedy = Check there as that account (df -h ~; ls -ld ~), or set remote_tmp to /tmp/.ansible in ansible.cfg
    (ansible_remote_tmp for one host).

[ansible-filter-missing]
keys =
    template error while templating string
    No filter named '
pattern =
    Could not load \\*'(?P<name1>\w+)\\*'
    [Nn]o filter named '(?P<name2>[\w.]+)'
cause = A template uses the filter {name}, which this Ansible does not have: its collection or the Python library that
    it needs is not installed on the controller.
remedy = Install the collection (ipaddr: ansible.utils with the library netaddr; json_query: community.general with
    jmespath), and write the filter with its full name (ansible.utils.ipaddr).

[ansible-controller-library]
keys =
    on the ansible controller
    prior to running
pattern =
    The (?P<user1>\w+ (?:filter|lookup|module)) requires (?:the )?(?:python-)?(?P<library1>[\w.-]+)[^\n]{0,60} on the
    + ansible controller
    need to install \\?'(?P<library2>[\w.-]+)\\?' prior to running (?P<user2>\w+ (?:filter|lookup))
cause = {user} needs the Python library {library} on the controller, where Ansible runs.
remedy = Install it into the environment that ansible --version names: pip install {library} there, pipx inject
    ansible-core {library}, or sudo apt install python3-{library} for Ubuntu's Ansible.
source = kubernetes-sigs/kubespray#4257

[ansible-apt-lock]
keys = Failed to lock apt for exclusive operation
pattern = (Failed to lock apt for exclusive operation)
cause = The module apt could not take apt's lock ({found}): the task does not run as root, or another program holds it
    (unattended-upgrades and the DGX updater run after boot).
remedy = Set become: true for the task, and lock_timeout: 600. sudo fuser -v /var/lib/dpkg/lock-frontend shows who holds
    the lock on the host.
source = ansible/ansible#58103

[ansible-network-module]
keys = ansible_network_os must be specified
pattern = (ansible_network_os must be specified on this host)
cause = The task uses a module for switches and routers ({found}), such as net_ping, cli_command or net_get.
remedy = For a Linux host, use ansible.builtin.command, ping or wait_for instead. For a switch, set ansible_network_os
    and ansible_connection: network_cli in its host_vars.
source = UBC-Thunderbots/Software#2654

[ansible-condition-type]
keys = Conditionals must have a boolean result
pattern =
    Conditional result \((?P<value>[^)\n]*)\) was derived from value of type '(?P<type>\w+)'(?: at
    + '(?P<where>[^'\n]+)')?
    Conditional result was '?(?P<value2>[^\n]{0,200}?)'? of type '(?P<type2>\w+)'
cause = A condition[ at {where}] is a {type} ({value}), not true or false, which ansible-core 2.19 no longer accepts.
remedy = Make it a boolean (x | bool, x is defined, x | length > 0), or as a stopgap set allow_broken_conditionals in
    ansible.cfg.

[ansible-attribute]
keys =
    is not a valid attribute for a
    Unsupported parameters for (
    unsupported parameter for module
pattern =
    '(?P<name1>\w+)' is not a valid attribute for a (?P<kind>\w+)
    Unsupported parameters for \((?P<module>[\w.]+)\) module: (?P<name2>[\w, .]+?)\.? Supported
    unsupported parameter for module: (?P<name3>\w+)
values =
    advice of name: warn$ => That option is gone from command and shell since ansible-core 2.14: remove it, or use a
    + newer release of the playbook that contains it
    advice of kind: RoleMetadata => Remove that line from the role's meta/main.yml (its other facts belong below
    + galaxy_info)
    advice of name: . => Compare it with ansible-doc for the module's installed release. If the option is newer than
    + this Ansible or collection, update that (ansible --version; ansible-galaxy collection install --upgrade). Indent
    + module options below the module, and task options on the module's level
cause = Ansible knows no option {name}[ of the module {module}][ of a {kind}]: it is misspelt, wrongly indented, or from
    another release.
remedy = {advice}.

[ansible-apt-library]
keys =
    import the python3-apt module
    must be installed and visible from
    Could not import python modules: apt
pattern =
    Could not import the python3-apt module using (?P<python>\S+)
    Could not import (?P<python2>python) modules: apt, apt_pkg
    python3?-apt must be installed and visible from (?P<python3>\S+?)\.?['"]?(?:\s|$)
cause = Ansible's apt module runs with {python}, which has no python3-apt: it is an environment, not Ubuntu's own
    Python.
remedy = Set ansible_python_interpreter to /usr/bin/python3 for that host (and run sudo apt install python3-apt there).
source = robertdebock/ansible-role-bootstrap#45

[docker-library-old]
keys = Not supported URL scheme http+docker
pattern = (Not supported URL scheme http\+docker)
cause = The Python library docker is too old for the installed requests ({found}).
remedy = Install docker 7.1 or newer in that environment (python3 -m pip install -U docker); replace docker-compose 1
    with docker compose.

[ansible-download]
keys =
    "HTTP Error
    response: 'HTTP Error
    Status code was
pattern =
    ^\s*response: 'HTTP Error (?P<status3>[45]\d\d): (?P<why3>[\w ]+)
    (?:^|Failed to download \w+ at (?P<url>\S+): )HTTP Error (?P<status>[45]\d\d): (?P<why>[\w ]+)
    Status code was (?P<status2>[45]\d\d) and not \[(?P<want>[\d, ]+)\](?:: (?:HTTP Error \d+: )?(?P<why2>[\w ]{3,60}))?
values =
    advice of want: . => Send the same request with curl -i from that host: correct the address, log in if the server
    + requires it (url_username, force_basic_auth, headers), and repeat the task (until, retries, delay) if the service
    + is still starting
    advice of url: https://developer\.download\.nvidia\.com/compute/cuda/repos/ => Correct the release and the
    + architecture in the address (ubuntu2404/sbsa for Ubuntu 24.04 on arm64; only LTS releases have a directory, and a
    + derived distribution uses its base's), and take the key from the package cuda-keyring
    advice of status: . => Correct the address (the file has another name or release, or none for aarch64 or sbsa), or
    + log in if the server requires it
cause = Ansible's request fails: the server answers {status}[, {why}][, but the task expects {want}].
remedy = {advice}.
"""
