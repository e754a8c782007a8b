# __init__.py in this directory explains the fields.

"""Ansible, ssh and sudo

Messages from a controller that cannot reach a host, or cannot find something that a play uses.
"""

RULES = r"""
[ssh-host-changed]
keys = REMOTE HOST IDENTIFICATION HAS CHANGED
pattern = REMOTE HOST IDENTIFICATION HAS CHANGED(?:(?s:.{0,1200}?)Offending \S+ key in (?P<file>[^\s:]+):(?P<line>\d+))?
cause = The host answers with another key than before[ (line {line} of {file})]: it was installed anew, another host has
    its address, or somebody stands between.
remedy = If it was installed anew, compare its fingerprint on its own screen (ssh-keygen -lf
    /etc/ssh/ssh_host_ed25519_key.pub), then forget the old one: ssh-keygen -R NAME.

[ssh-host-unknown]
keys =
    Host key verification failed
    The authenticity of host
pattern =
    (Host key verification failed)
    ssh connection error: [^\n]{0,40}?(The authenticity of host '[^'\n]+' can't be established)
cause = This account does not know the other host's key ({found}), and there was nobody to ask.
remedy = Connect once by hand with ssh as the same account and compare the fingerprint, or put the key into known_hosts
    (ssh-keyscan, checked); of git, that of the git server.

[ssh-key-open]
keys = are too open
pattern = Permissions (?P<mode>\d+) for '(?P<file>[^'\n]+)' are too open
cause = ssh does not use the private key {file}, since others may read it (mode {mode}).
remedy = chmod 600 {file}; on a file system without modes (a Windows disk, a shared folder) copy it into ~/.ssh.

[ssh-closed]
keys = kex_exchange_identification
pattern = kex_exchange_identification: (?:\w+: )?([^\n]+)
cause = The host closed the connection before anybody logged in ({found}): its ssh server has too many at once
    (MaxStartups), blocks this address (fail2ban, a firewall), or still starts.
remedy = Wait a minute and try again with fewer at once (forks in ansible.cfg), read journalctl -u ssh on the host, and
    see that the port is that of ssh.

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
    advice of why: . => Delete it (rm) and try again; where it comes back, its file system takes no sockets (a Windows
    + disk under WSL, a shared folder, overlayfs) or its directory is missing: set control_path_dir = /tmp/.ansible-cp
    + in ansible.cfg, or ssh_args = -o ControlMaster=no
cause = ssh on the controller cannot use the socket by which it shares connections[: {path}][ ({why})]; this says
    nothing about the host.
remedy = {advice}.
source = Azure/az-hop#110

[ssh-too-many-keys]
keys = Too many authentication failures
pattern = (Too many authentication failures)
cause = ssh offered more keys than the host tries ({found}) before it came to the right one.
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
    advice of found: .*sudoers => Add the account to the group sudo as an administrator (sudo usermod -aG sudo NAME)
    + and log in again, or use an account that is in it
    advice of found: Interactive => Put sudo before the command, which systemd or NetworkManager refuses to an ordinary
    + account without a desktop
    advice of found: . => Run it with ssh -t, which gives sudo a terminal, or Ansible's -K, or let the account use sudo
    + without a password for what it does (a rule with NOPASSWD: in /etc/sudoers.d)
cause = The command needs root, and sudo did not give it here ({found}).
remedy = {advice}.

[sudo-prompt-not-seen]
keys = waiting for privilege escalation prompt
pattern = (Timeout \(\d+s\) waiting for privilege escalation prompt)
cause = Ansible did not see a prompt of sudo that it knows ({found}).
remedy = If sudo --version on the host says sudo-rs, which Ubuntu has since 25.10, set ansible_become_exe to sudo.ws, or
    use ansible-core 2.21 or newer. Otherwise give the password with -K; if you did, the host is slow: raise timeout in
    ansible.cfg.
source = ansible/ansible#86441

[ansible-sshpass]
keys = must install the sshpass program
pattern = must install the (sshpass) program
cause = Ansible is to log in with a password, for which the controller needs {found}.
remedy = Install sshpass on the controller, or better copy a key to the host (ssh-copy-id) and go without -k.

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
cause = Ansible does not find {found}: its collection is not installed for this ansible, or the name is misspelt.
remedy = Install it (ansible-galaxy collection install NAMESPACE.NAME, or -r requirements.yml), as the same account and
    in the same environment as ansible-playbook (ansible-galaxy collection list shows what it sees).

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
    Mandatory variable '?(?P<name6>\w+)'? not defined
values =
    advice of host: HostVars => Let Ansible know that host first: a play over all hosts that are read gathers their
    + facts (gather_facts: true, without --limit), or set it in that host's host_vars
    advice of name: (?:arm64|aarch64)$ => The play has a table by architecture (of downloads, packages) without an
    + entry for this one: take a newer release of it, or add the entry with the file that its project publishes for
    + arm64
    advice of name: (?:stdout|stderr|rc|stat|changed|results|json|content)(?:_lines)?$ => The task whose result is read
    + here was skipped, failed or ran in check mode: see that task's own output, and write default() or 'is not
    + skipped' where that may be
    advice of name: . => Set it in the inventory (group_vars, host_vars) or with -e; check its spelling, and that the
    + play whose facts it comes from ran before (--tags and --limit leave plays out)
cause = The play uses {name}, which nobody has set for this host.
remedy = {advice}.

[ansible-yaml]
keys =
    Syntax Error while loading YAML
    YAML parsing failed
pattern =
    Syntax Error while loading YAML\.\s+(?P<why1>[^\n]+)
    YAML parsing failed: (?P<why2>[^\n]+)
cause = A file of the play or the inventory is no valid YAML: {why}.
remedy = Look at the file and line that it names: indent with blanks, and quote values that begin with a brace or
    contain a colon and a blank.

[ansible-file-missing]
keys = the playbook:
pattern = the playbook: (\S+) could not be found
cause = There is no playbook {found} here.
remedy = Run it in the directory that has it, or by its full name (NAMESPACE.COLLECTION.NAME) once the collection is
    installed.

[ansible-no-python]
keys =
    you probably need to set the interpreter
    The module interpreter
    "module_stderr": "
pattern =
    "module_stderr": '[^\n]{0,200}?/(?:ba|da)?sh: (?:line )?(?:\d+: )?(?P<path>/[^\n:]{1,120}): (?:No such file or
    + directory|not found|cannot execute)
    (you probably need to set the interpreter)
    The module interpreter '([^'\n]+)' was not found
values =
    advice of path: .*\s => An interpreter is one path: unset ansible_python_interpreter, or set it to /usr/bin/python3
    advice of path: . => Install python3 there, and unset ansible_python_interpreter, or correct it to the path of a
    + Python on that host (of an environment, one that exists there)
    advice of path: (?:) => Install python3 there, and unset or correct ansible_python_interpreter
cause = Ansible's module did not run on the host: there is no Python where it looks ({found}).
remedy = {advice}.
source = ansible/ansible#18846

[ansible-vault]
keys =
    no vault secrets found
    Decryption failed (no vault secrets
pattern = (no vault secrets[\w ]*)
cause = A variable or file is encrypted with Ansible Vault, and no password fits ({found}).
remedy = Pass --ask-vault-pass or --vault-password-file with the password of that vault id.

[ansible-no-hosts]
keys =
    Could not match supplied host pattern
    leaves us with no hosts to target
pattern =
    Could not match supplied host pattern, ignoring: (?P<group>\S+)(?s:.{0,300}?)no hosts to target
    leaves us with no hosts to target
cause = Ansible has no host for the play[: its inventory has no {group}].
remedy = Give the inventory (-i inventory/hosts.yml), compare the group's and the host's name with ansible-inventory
    --graph, and check --limit.

[ansible-inventory-unread]
keys = no hosts matched
pattern = ^skipping: (no hosts matched)
when = log-shows-inventory
cause = Ansible could not read {log_inventory} as an inventory, so that the play has no host ({found}).
remedy = See that the file is there and readable at that path (-i), and that it is valid: ansible-inventory -i FILE
    --graph
    -vvv prints each plugin's reason.
source = microsoft/pai#5306

[ansible-become-unprivileged]
keys = becoming an unprivileged user
pattern = temporary files Ansible needs to create when (becoming an unprivileged user)
cause = Ansible cannot hand its files to the user that the task becomes ({found}), since acl is missing on the host.
remedy = Install the package acl on the host, or set pipelining = True in ansible.cfg.

[ansible-python-library]
keys = Failed to import the required Python library
pattern =
    Failed to import the required Python library \((?P<library>[^)\n]+)\) on (?P<host>\S+)'s Python (?P<python>\S+?)\.?[
    +\s'"]
cause = The module needs the Python library {library} on {host}, for {python}.
remedy = Install it there for that Python (apt install python3-{library}, where Ubuntu has it), or set
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
cause = The locale of this session is not there or not UTF-8[ ({locale})].
remedy = Set one that exists (export LC_ALL=C.UTF-8), or make it (sudo locale-gen en_US.UTF-8).

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
    advice of file: .*(?:/tasks/|/handlers/|/vars/|/submodules/|main\.ya?ml$) => It is a part of what the play
    + includes, which is here in another release, or whose Git submodule is not checked out at the
    + commit that the project names (git submodule update --init --recursive)
    advice of file: . => Put it into the role's files or templates, or beside the playbook, and correct its path; for a
    + file that is on the host already set remote_src: true (in the place of a lookup, which always reads the
    + controller, use slurp)
cause = Ansible looks for {file} on the controller, where it is not.
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
    Destination directory (?P<path1>[^\s"\\]+)(?:\\\S*)? +does not exist
    (?:Destination|Path) (?P<path2>/[^\s"]+) does not exist !
    file \((?P<path3>[^)\n]+)\) is absent, cannot continue
    src file does not exist, use [^\n]{1,60}?: (?P<path4>[^\s"]+)
    dest '(?P<path5>[^'\n]+)' must be an existing dir
    \bSource '?(?P<path6>/[^\s'"]+?)'? (?:not found|does not exist|not readable)
cause = A task needs {path} on the host, which is not there.
remedy = Let an earlier task make it (ansible.builtin.file with state: directory; create: true of lineinfile and
    blockinfile; of an archive its download) or install the package that brings it, or correct the path; with --check
    earlier tasks have not made it, so leave such tasks out there (when: not ansible_check_mode).
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
cause = The path of the task exists already on the host as another kind of file[ ({path})]: {why}.
remedy = Remove or rename what is there (a directory only if it may go), then repeat it; force: true replaces a file by
    a link, and dest of copy with content: needs a file's name.
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
    advice of program: /usr/(?:local/)?bin/|/opt/ => An earlier task should have installed it there: see whether that
    + one was skipped (--tags, --limit, a condition, a release of ansible-core that the play does not know), or install
    + it yourself
    advice of program: pip => Install python3-pip there (apt), or name an environment's pip (executable: or virtualenv:
    + of the module pip)
    advice of program: . => Install it on that host first, or name it by its full path: a session without login and
    + sudo's secure_path have no /usr/local/bin or ~/.local/bin everywhere
    advice of archive: . => Install unzip, tar, bzip2, xz-utils or zstd there, and look at the file (file NAME): what a
    + download saved may be a page of the server
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
    + of the following
    + is required: [^"\n]{1,200}|missing parameter\(s\) required by '\w+': [^"\n]{1,100})
values =
    advice of why: mode => Write it as a text in quotes ("0644")
    advice of why: value of => Choose one of those values
    advice of why: .*exclusive => Leave one of them out
    advice of why: .*(?:missing|required) => Add it; a value that is empty or comes from an undefined variable with
    + default(omit) counts as missing
    advice of why: . => Write a value of that kind: filters convert it (| int, | bool, | list), and a value that comes
    + out of a template is a text in ansible-core before 2.19 without jinja2_native
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
    + changed_when are expressions already (when: x == 'a')
    advice of why: No first => The list is empty: see what fills it (a group without hosts, a search without a result),
    + and use default() or a condition on its length
    advice of why: recursive => A variable is defined by itself: give the inner and the outer one different names
    advice of why: Invalid => Give it a list: dict2items for a mapping, [x] for one value, query() or wantlist=True for
    + a lookup
    advice of why: list => The list is shorter or empty: see what fills it (a result that was skipped, a group without
    + hosts), and use default() or a condition on its length
    advice of why: .*(?:concatenate|operand|not supported between|type) => Convert the value first (| int, | float, |
    + string)
    advice of why: . => Correct the expression at that place: brackets, quotes and filters; a text with braces that is
    + no expression goes between raw and endraw
cause = A template or an expression of the play is wrong: {why}.
remedy = {advice}.
source = https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_templating.html

[ansible-reboot]
keys =
    waiting for last boot time check
    imed out waiting for reboot
pattern = ([Tt]imed out waiting for (?:last boot time check|reboot)[^"\n]{0,40})
cause = The host was restarted, and Ansible could not log in to it again in time ({found}).
remedy = Look at its screen or console (a disk check, a firmware update, a new kernel that does not start) and at its
    address, which may be another one now; if it only needs longer, raise reboot_timeout of the task.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/reboot_module.html

[ansible-checksum]
keys =
    Unable to find a checksum for file
    checksum for
pattern =
    Unable to find a checksum for file '(?P<file1>[^'\n]+)' in '(?P<list>[^'\n]+)'
    The (?:[\w-]+ )?checksum for (?P<file2>\S+) did not match (?P<need>\w+)(?:[.;] ?it was (?P<have>\w+))?
values =
    advice of list: . => Open that address: it must have a line with this file's name after its sum (a sum alone only
    + newer releases of ansible-core take); otherwise write the sum itself into the task (checksum: sha256:…)
    advice of need: . => Take the file's present sum from its publisher if the file was renewed (then the address has
    + no version in it), and otherwise look at what was downloaded (a page of a proxy, or half of it) and delete it
cause = The download [{file} ]cannot be verified[: {list} has no sum of it][: its sum is {have}, and the task wants
    {need}].
remedy = {advice}.
source = ansible/ansible#86132

[ansible-apt-key]
keys =
    key does not seem to have been added
    but failed to add the key
pattern = (key does not seem to have been added|failed to add the key)
cause = Ansible's module apt_key did not find the key under the id that the task names after adding it ({found}): the id
    is of a subkey or of another key than the file has.
remedy = Leave id out or give the key's complete fingerprint (gpg --show-keys FILE); better fetch the key to
    /etc/apt/keyrings with get_url and name it in the source (Signed-By; module deb822_repository), as apt-key is gone
    from new releases.
source = ansible/ansible#76143

[ansible-compose]
keys = Error when processing
pattern = "?Error when processing (?P<service>\S+?): (?P<why>[^\n"]{2,200})
uncertain = yes
cause = docker compose reports an error for {service} under Ansible's module ({why}).
remedy = Run docker compose up -d in that directory on the host, which says why; where that works, update the collection
    community.docker (3.8 or newer does not take such a line for a failure).
source = ansible-collections/community.docker#807

[service-socket-missing]
keys = ocket path does not exist
pattern = [Ss]ocket path does not exist: (?P<path>/\S+)
cause = The program asks a service through the socket {path}, which is not there: that service does not run, or in
    another container.
remedy = Start it (systemctl status; docker ps -a; of AWX the container with receptor), read its log, and mount the
    socket's directory into the container that asks.
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
cause = The task may not write {path} on the host: it runs as an ordinary account.
remedy = Set become: true for this task or the play (with -K where sudo asks for a password), or choose a path that
    belongs to the account.
source = https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_privilege_escalation.html

[ansible-git-changed]
keys = Local modifications exist in
pattern = Local modifications exist in (?:the destination: )?(?P<path>[^\s"]+)
cause = The checkout {path} has changes of its own, which Ansible's module git does not overwrite.
remedy = Look at them (git -C {path} status); commit or stash what is needed, or set force: true, which discards all of
    them.
source = https://docs.ansible.com/ansible/latest/collections/ansible/builtin/git_module.html

[ansible-no-systemd]
keys = Service is in unknown state
pattern = (Service is in unknown state)
cause = Ansible asked systemd for a unit on a host where systemd does not run ({found}): mostly a container or a chroot.
remedy = Start an image whose first process is systemd, or leave such tasks out there (when: ansible_service_mgr ==
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
    advice of why: .*(?:sysv-install|Default-Start|no runlevels) => It is an old init script without the header that
    + names its runlevels: write a unit for it in /etc/systemd/system (or take a package that has one), then
    + daemon_reload: true
    advice of why: .*(?:static|no installation config|\[Install\]) => Its unit has no [Install] part: what needs it
    + starts it; enable the timer or socket instead, or leave enabled out
    advice of why: .*(?:Access denied|authentication required|Permission) => Set become: true
    advice of why: . => Do it by hand on that host (sudo systemctl start NAME; journalctl -xeu NAME)
cause = systemd did not {verb} {unit} for Ansible: {why}
remedy = {advice}.
source = ansible/ansible#22171

[ansible-old-python]
keys = requires a minimum of Python version
pattern = requires a minimum of Python version (?P<need>[\d.]+)\. Current version: (?P<have>[\d.]+)
cause = Ansible needs Python {need} or newer, and found {have}.
remedy = Use a newer Python on that side (ansible_python_interpreter for a host, a new environment for the controller),
    or an ansible-core that supports {have}.

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
    advice of why: Invalid => Use letters, digits and underscores alone, and no digit first
    advice of why: no => Take the ansible-core that the play needs (ansible --version), if it knows the module only
    + since then; otherwise write the module with its complete name (NAMESPACE.COLLECTION.NAME; ansible.builtin for
    + its own), install its collection, and indent its options below it
    advice of why: this => Write the options as lines below the module (name: value), not behind it
    advice of why: [Aa] malformed => A list of tasks begins each with a dash and is not a mapping: look at the line
    + that it names
    advice of why: . => Correct the indentation: module options below the module, become_user and the like beside it
cause = A task of the play is not valid: {why}.
remedy = {advice}.

[ansible-host-key-password]
keys = Host Key checking is enabled and sshpass
pattern = (Host Key checking is enabled) and sshpass does not support this
cause = Ansible is to log in with a password, and ssh does not know the host's key yet ({found}).
remedy = Connect once with ssh and compare the fingerprint (or ssh-keyscan HOST >> ~/.ssh/known_hosts, checked), or
    better copy a key there (ssh-copy-id) and go without -k.

[ansible-password-refused]
keys = Invalid/incorrect password
pattern = (Invalid/incorrect (?:username/)?password)
cause = The host refuses the password that Ansible gave for its account ({found}).
remedy = Compare ansible_user and the password (-k asks for it; ansible_password in a vault) by logging in with ssh
    once; where the host allows keys alone (PasswordAuthentication no), copy one there (ssh-copy-id from an account that
    has access).
source = https://docs.ansible.com/ansible/latest/inventory_guide/connection_details.html

[ansible-installs-mixed]
keys =
    Unexpected Exception, this is probably a bug
    No module named 'ansible_collections.ansible.builtin'
pattern =
    ^ModuleNotFoundError: (?P<why2>No module named 'ansible_collections\.ansible\.builtin')
    Unexpected Exception, this is probably a bug: (?P<why>cannot import name '\w+' from '[\w.]+'|No module named
    + '[\w.]+'|[^\n]{3,160})
values =
    advice of why: (?:cannot import|No module) => Two releases of Ansible are mixed in this Python, or a library is of
    + another release than it takes (Jinja2, resolvelib): make a new environment with one of them (python3 -m venv, pip
    + install ansible-core) and remove the others (pip uninstall ansible ansible-base ansible-core)
    advice of why: . => Repeat it with -vvv, which shows the traceback, and with the newest ansible-core of this branch
uncertain = yes
cause = Ansible itself failed on the controller: {why}.
remedy = {advice}.
source = https://docs.ansible.com/ansible/latest/installation_guide/intro_installation.html

[ansible-python-too-new]
keys = ansible.module_utils.six.moves
pattern = No module named '(ansible\.module_utils\.six\.moves)'
cause = The host's Python is newer than this ansible-core knows ({found}): Python 3.12, as Ubuntu 24.04 has, needs
    ansible-core 2.16 or newer.
remedy = Update ansible-core on the controller (pipx upgrade ansible-core, or a new environment), or set
    ansible_python_interpreter to an older Python of the host.

[ansible-no-package]
keys = No package matching '
pattern = No package matching '([^'\n]+)' is available
cause = No enabled apt source of the host offers {found}.
remedy = Refresh the lists first (update_cache: true), check the name for this Ubuntu and arm64, and add the source that
    has it.

[ansible-handler-missing]
keys = The requested handler
pattern = The requested handler '(?P<name>[^'\n]+)' was not found
cause = A task notifies the handler {name}, which the play does not have.
remedy = Write it with exactly that name (or listen: {name}) in the handlers of the play, or of a role
    (handlers/main.yml) that was included before.

[ansible-wait-timeout]
keys = Timeout when waiting for
pattern = Timeout when waiting for (?:search string \S+ in )?(?P<target>[\w.:-]+?:\d+|/\S+?)(?=["\s]|$)
cause = Ansible waited in vain for {target}.
remedy = See on that host whether the service runs and listens (systemctl status NAME; ss -ltnp), whether the firewall
    lets it through, and raise timeout where a model or a restart takes longer.

[ansible-async]
keys = async task did not complete
pattern = (async task did not complete within the requested time - \d+s)
cause = A task that runs in the background was not finished in its time ({found}).
remedy = Raise async: of the task (and poll:), after seeing on the host whether it still works or waits (ps, its log);
    what it had started may still run.
source = https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_async.html

[galaxy-no-version]
keys = resolve the requested dependencies map
pattern = Failed to resolve the requested dependencies map[^\n]*(?:\n\* (?P<need>[^\s(]+))?
cause = ansible-galaxy found no versions of the collections that go together[: {need} is not met].
remedy = Loosen that line of requirements.yml (ansible-galaxy collection list shows what is installed, --upgrade renews
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
    advice of status: 40[13] => Give the token of that server (a section of galaxy_server in ansible.cfg, or --token)
    advice of status: 404 => Correct the name NAMESPACE.COLLECTION, the version and the server
    advice of status: 5 => Try again later: the server fails, not this host; in a hurry install the collection from its
    + Git repository (git+https://…) or from a tarball of its releases
    advice of why: .*(?:timed out|Errno|urlopen|refused|reset|resolve|certificate|SSL) => Look whether this host
    + reaches galaxy.ansible.com (curl -I https://galaxy.ansible.com), through its proxy (https_proxy) if it has one,
    + and try again with --timeout 300; without a network install from a tarball
    advice of why: Failed to parse => What answers is not Galaxy's interface: a proxy's page, or an address that an old
    + ansible
    + asks (update ansible-core); otherwise install from a tarball
    advice of why: Neither => Give the name as NAMESPACE.COLLECTION, a tarball's path that exists, or a Git address
    + with type: git
    advice of why: .*(?:was not found|not found on|Failed to find) => Correct the name and its kind (ansible-galaxy
    + collection
    + install, ansible-galaxy install)
    advice of why: . => Repeat it with -vvv
cause = ansible-galaxy did not get what it asked for[: the server answers {status}][, {why}].
remedy = {advice}.
source = ansible/ansible#77105

[ansible-remote-directory]
keys =
    Failed to create temporary directory
    failed to resolve remote temporary directory
pattern =
    Failed to create temporary directory\.[^\n]*?Failed command was: [^\n]*?echo (?P<path>[^\s`'"]+)|([Ff]ailed to
    + (?:create|resolve remote) temporary directory)
cause = Ansible could not make its directory on the host[ ({path})]: the disk is full or read-only, or the account has
    no home directory that it may write.
remedy = Look there as that account (df -h ~; ls -ld ~), or set remote_tmp to /tmp/.ansible in ansible.cfg
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

[ansible-condition-type]
keys = Conditionals must have a boolean result
pattern =
    Conditional result \((?P<value>[^)\n]*)\) was derived from value of type '(?P<type>\w+)'(?: at
    + '(?P<where>[^'\n]+)')?
    Conditional result was '?(?P<value2>[^\n]{0,200}?)'? of type '(?P<type2>\w+)'
cause = A condition[ at {where}] is a {type} ({value}) and not true or false, which ansible-core 2.19 no longer takes.
remedy = Make it one: x | bool, x is defined, x | length > 0; or as a stopgap set allow_broken_conditionals in
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
    advice of name: warn$ => That option is gone from command and shell since ansible-core 2.14: remove it, or take a
    + newer release of what uses it
    advice of kind: RoleMetadata => Remove that line from the role's meta/main.yml (its other facts stand below
    + galaxy_info)
    advice of name: . => Compare it with ansible-doc (of the module's own release): if it is newer than this ansible or
    + collection, update that (ansible --version; ansible-galaxy collection install --upgrade); put module options
    + below the module and those of a task beside it
cause = Ansible knows no option {name}[ of the module {module}][ of a {kind}]: it is misspelt or at the wrong
    indentation, or from another release.
remedy = {advice}.

[ansible-apt-library]
keys =
    import the python3-apt module
    Could not import python modules: apt
pattern =
    Could not import the python3-apt module using (?P<python>\S+)
    Could not import (?P<python2>python) modules: apt, apt_pkg
cause = Ansible's apt module runs with {python}, which has no python3-apt: an environment in place of Ubuntu's own
    Python.
remedy = Set ansible_python_interpreter to /usr/bin/python3 for that host (and sudo apt install python3-apt there).
source = robertdebock/ansible-role-bootstrap#45

[docker-library-old]
keys = Not supported URL scheme http+docker
pattern = (Not supported URL scheme http\+docker)
cause = The Python library docker is older than the requests beside it ({found}).
remedy = Install docker 7.1 or newer in that environment (python3 -m pip install -U docker); docker-compose 1 has to
    give way to docker compose.

[ansible-download]
keys =
    "HTTP Error
    Status code was
pattern =
    HTTP Error (?P<status>[45]\d\d): (?P<why>[\w ]+)
    Status code was (?P<status2>[45]\d\d) and not \[(?P<want>[\d, ]+)\](?:: (?:HTTP Error \d+: )?(?P<why2>[\w ]{3,60}))?
values =
    advice of want: . => Send the same request with curl -i from that host: correct the address, log in where it asks
    + for that (url_username, force_basic_auth, headers), and repeat it (until, retries, delay) where the service only
    + starts
    advice of status: . => Correct the address (the file has another name or release, or none for aarch64 or sbsa), or
    + log in where it asks for that
cause = Ansible's request fails: the server answers {status}[, {why}][, and the task expects {want}].
remedy = {advice}.
"""
