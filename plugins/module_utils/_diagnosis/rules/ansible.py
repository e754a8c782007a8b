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
keys = Host key verification failed
pattern = (Host key verification failed)
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
pattern =
    couldn't resolve module/action '([^'\n]+)'
    the role '([^'\n]+)' was not found
cause = Ansible does not find {found}: its collection is not installed for this ansible, or the name is misspelt.
remedy = Install it (ansible-galaxy collection install NAMESPACE.NAME, or -r requirements.yml), as the same account and
    in the same environment as ansible-playbook (ansible-galaxy collection list shows what it sees).

[ansible-undefined]
keys =
    dict object' has no attribute
    error while evaluating conditional
    ' is undefined
    undefined variable
pattern =
    error while evaluating conditional[^\n]*?'dict object' has no attribute '(?P<name3>\w+)'
    (?:undefined variable(?s:.{0,300}?))?(?<!identifier )'(?P<name>[\w.]+)' is undefined
    has no attribute '(?P<name2>\w+)'[^\n]*undefined
cause = The play uses {name}, which nobody has set for this host.
remedy = Set it in the inventory (group_vars, host_vars) or with -e; check its spelling, and that the play whose facts
    it comes from ran before (--tags and --limit leave plays out).

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
pattern =
    (you probably need to set the interpreter)
    The module interpreter '([^'\n]+)' was not found
cause = Ansible's module did not run on the host: there is no Python where it looks ({found}).
remedy = Install python3 there, and unset or correct ansible_python_interpreter.

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

[ansible-old-python]
keys = requires a minimum of Python version
pattern = requires a minimum of Python version (?P<need>[\d.]+)\. Current version: (?P<have>[\d.]+)
cause = Ansible needs Python {need} or newer, and found {have}.
remedy = Use a newer Python on that side (ansible_python_interpreter for a host, a new environment for the controller),
    or an ansible-core that supports {have}.

[ansible-play-invalid]
keys = conflicting action statements
pattern = conflicting action statements: ([^\n]+)
cause = One task has two modules, or an option of the task stands among those of its module ({found}).
remedy = Correct the indentation: module options below the module, become_user and the like beside it.

[ansible-host-key-password]
keys = Host Key checking is enabled and sshpass
pattern = (Host Key checking is enabled) and sshpass does not support this
cause = Ansible is to log in with a password, and ssh does not know the host's key yet ({found}).
remedy = Connect once with ssh and compare the fingerprint (or ssh-keyscan HOST >> ~/.ssh/known_hosts, checked), or
    better copy a key there (ssh-copy-id) and go without -k.

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

[galaxy-no-version]
keys = resolve the requested dependencies map
pattern = Failed to resolve the requested dependencies map[^\n]*(?:\n\* (?P<need>[^\s(]+))?
cause = ansible-galaxy found no versions of the collections that go together[: {need} is not met].
remedy = Loosen that line of requirements.yml (ansible-galaxy collection list shows what is installed, --upgrade renews
    it), and check that its server has that version.

[ansible-remote-directory]
keys = Failed to create temporary directory
pattern =
    Failed to create temporary directory\.[^\n]*?Failed command was: [^\n]*?echo (?P<path>[^\s`'"]+)|(Failed to cr
    +eate temporary directory)
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
    Conditional result \((?P<value>[^)\n]*)\) was derived from value of type '(?P<type>\w+)'(?: at '(?P<where>[^'\
    +n]+)')?
cause = A condition[ at {where}] is a {type} ({value}) and not true or false, which ansible-core 2.19 no longer takes.
remedy = Make it one: x | bool, x is defined, x | length > 0; or as a stopgap set allow_broken_conditionals in
    ansible.cfg.

[ansible-attribute]
keys =
    is not a valid attribute for a
    Unsupported parameters for (
pattern =
    '(?P<name1>\w+)' is not a valid attribute for a (?P<kind>\w+)
    Unsupported parameters for \((?P<module>[\w.]+)\) module: (?P<name2>[\w, .]+?)\. Supported
cause = [The module {module}][A {kind}] has no option {name}: it is misspelt or at the wrong indentation, or from
    another release.
remedy = Compare it with ansible-doc (of the module's own release), and put module options below the module and those of
    a task beside it.

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
keys = "HTTP Error
pattern = HTTP Error (?P<status>[45]\d\d): (?P<why>[\w ]+)
cause = Ansible could not download a file: the server answers {status}, {why}.
remedy = Correct the address (the file has another name or release, or none for aarch64 or sbsa), or log in where it
    asks for that.
"""
