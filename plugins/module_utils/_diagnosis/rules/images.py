# __init__.py in this directory explains the fields.

"""Images and compose files

Messages from Docker, Podman and their registries about images, files and names.
"""

RULES = r"""
[image-format-old]
keys = manifest version 2, schema 1 support has been removed
pattern = schema 1 support has been removed\. Suggest the author of (?P<image>\S+)|(schema 1 support has been removed)
cause = The image[ {image}] has an old format (schema 1), which this Docker no longer reads.
remedy = Use a newer tag, or rebuild the image from its Dockerfile.

[image-tag-unknown]
keys =
    failed to solve:
    manifest unknown
    failed to resolve
pattern =
    failed to solve: ([^\s:]+(?::\d+/[^\s:]+)?:[^\s:]+): (?:failed to resolve source metadata for )?\S+: not found$
    manifest for (\S+) not found: manifest unknown
    reading manifest (?P<tag>\S+) in (?P<repository>\S+): manifest unknown
    resolve (?:reference|source metadata for) '?([^\s'@]+?)'?: \S+: not found
    Error response from daemon: manifest unknown
cause = The registry has no such image or tag ({found}[ in {repository}]). Not every repository has latest.
remedy = Look up the tags that the repository's page lists (for nvcr.io, the NGC catalogue), and pull one that exists
    for arm64.
source = jadolg/DockerImageSave#9

[image-store-damaged]
keys =
    parent snapshot
    missing content
    failed to get state for index
pattern =
    (parent snapshot \S+ does not exist)
    (failed to get state for index \d+ on [^\n:]+)
    compute cache key: [^\n]*(missing content)
cause = Docker's layer store is inconsistent ({found}), as after a full disk or a power loss.
remedy = Empty the build cache (docker builder prune -af) and restart docker. If that does not help, remove the image
    and pull it again (docker rmi; docker system prune -a removes all images that no container uses).

[image-layer-damaged]
keys =
    failed to register layer
    failed to extract layer
    invalid tar header
    failed to load: archive/tar
pattern =
    failed to load: (?P<why3>archive/tar: unexpected EOF)
    failed to (?:register|extract) layer[^\n]*?: (?P<why1>unexpected EOF|file exists|input/output error|archive/tar:
    + invalid tar header|lchown [^\n:]+: [\w ]+|exit status \d+)
    (?P<why2>archive/tar: invalid tar header)
values =
    advice of why: unexpected|archive => Check the space below /var/lib/docker (df -h; docker system df), because a
    + full disk shows the same message, then pull again
    advice of why: file exists => Restart docker and pull again. If that does not help, remove the remains of an
    + interrupted pull (docker system prune)
    advice of why: lchown => Add user ids for the account that runs it without root (/etc/subuid, /etc/subgid:
    + 100000:65536)
    advice of why: . => Check the kernel's log for disk errors (journalctl -k) and the free space (df -h)
cause = A layer of the image could not be unpacked ({why}).
remedy = {advice}.
source = sickcodes/Docker-OSX#314

[docker-password-store]
keys = pass not initialized
pattern = (pass not initialized)
cause = Docker is configured to keep logins in the program pass, which has no store yet ({found}).
remedy = Remove credsStore from ~/.docker/config.json, or create a store (gpg --gen-key, then run pass init KEY), and
    run docker login again.

[docker-credentials]
keys = ing credentials - err
pattern = error (?:stor|gett)ing credentials - err: exec: \\*'([^'\\\n]+)
cause = Docker is configured to keep logins with {found}, which is not installed here.
remedy = Remove credsStore (or credHelpers) from ~/.docker/config.json, or install that helper, and run docker login
    again.

[podman-network-program]
keys = executable file not found in $PATH
pattern =
    could not find (?P<program1>pasta|slirp4netns)
    exec: '(?P<program2>pasta|slirp4netns|netavark|aardvark-dns|fuse-overlayfs|conmon|crun)': executable file not found
cause = Podman needs the program {program}, which is not installed.
remedy = Install its package (for pasta, passt). sudo apt install podman installs recommended packages, except with
    --no-install-recommends.

[container-program-missing]
keys =
    not found in $PATH
    executable file not found in
    no such file or directory: unknown
    permission denied: unknown
pattern =
    executable file '(?P<program4>[^'\n]+)' (?P<why4>not found in \$PATH)
    (?<!not found: )exec: \\*'(?P<program1>[^'\\\n]+)\\*':? (?P<why1>executable file not found in \$PATH)
    exec: \\*'(?P<program2>[^'\\\n]+)\\*': (?:stat [^:\n]+: )?(?P<why2>no such file or directory): unknown
    exec: \\*'(?P<program3>[^'\\\n]+)\\*': (?P<why3>permission denied): unknown
values =
    advice of program: serve$|vllm$ => Write the full command (vllm serve MODEL), or omit the part that is already the
    + image's entry point
    advice of program: nvidia-(smi|ctk) => Start the container with --gpus all (with Podman, --device
    + nvidia.com/gpu=all), which mounts nvidia-smi. In Kubernetes, the pod did not get NVIDIA's runtime: run sudo
    + nvidia-ctk
    + runtime configure --runtime=containerd on the node, restart containerd, and check that nvidia-smi works there
    advice of program: new[ug]idmap => Install the package uidmap on the host, which Podman needs without root
    advice of program: (/bin/|/usr/bin/)?bash$ => The image may have only sh, or a program set as its entry point. Try
    + sh, or --entrypoint
    advice of why: permission => Make the file executable (chmod +x) before you copy it into the image
    advice of program: -|\w+= => Put docker's options before the image's name, because the program follows it
    advice of program: . => Check what the image contains (docker run --entrypoint sh IMAGE), and use the program's
    + full path
cause = The program {program} cannot be started in the container's image ({why}).
remedy = {advice}.
source = docker/for-linux#963

[registry-payment]
keys =
    Payment Required
pattern = (?:registry|status[^\n]{0,40}): ?(?P<why>(?:402 )?Payment Required)
cause = The registry gives the image only to entitled accounts ({why}). NVIDIA requires a subscription or membership in
    its developer program.
remedy = Use the API key of an entitled organisation (NGC: accept the terms on the image's page, join the NVIDIA
    developer program for NIM), and run docker login nvcr.io again with the user $oauthtoken.

[registry-unreachable]
keys =
    net/http: request canceled
    net/http: TLS handshake timeout
    context deadline exceeded
    dial tcp
    : EOF
pattern =
    https?://(?P<host1>[\w.-]+(?::\d+)?)/v2/[^\n]*?(?P<why1>net/http: [\w ]+?|context deadline exceeded)(?: \(|'|$)
    https?://(?P<host3>[\w.-]+(?::\d+)?)/v2/[^\n]*?: (?P<why3>EOF)$
    https?://(?P<host2>[\w.-]+(?::\d+)?)/v2/[^\n]*?dial tcp \S+: (?:connect: )?(?P<why2>[\w/ ]+)$
cause = The registry {host} could not be reached ({why}). Docker's daemon connects itself, without your shell's proxy or
    VPN.
remedy = Check the network (curl -I https://{host}/v2/), set a needed proxy in a drop-in of docker.service
    (HTTPS_PROXY), and restart docker.
source = DeepVAC/TorchPod#64

[registry-plain-http]
keys = server gave HTTP response to HTTPS client
pattern = https://(?P<host>[\w.-]+(?::\d+)?)/\S* http: (server gave HTTP response to HTTPS client)
cause = The registry {host} answers in plain HTTP, but Docker uses HTTPS.
remedy = Install a certificate on the registry, or name it under insecure-registries in /etc/docker/daemon.json on the
    pulling host (for BuildKit, in its own buildkitd.toml), and restart docker.
source = distribution/distribution#1874

[registry-certificate]
keys = x509: certificate
pattern = https://(?P<host>[\w.-]+(?::\d+)?)/[^\n]*x509: certificate (?P<why>[\w ]+)
values =
    advice of why: has expired or is not yet valid => Check this host's clock (timedatectl); if it is right, have the
    + certificate renewed
    advice of why: is valid for => Use a name from the certificate
    advice of why: . => Copy the CA of that server or of the proxy to ca.crt in a directory named after the server in
    + /etc/docker/certs.d (for all programs, to /usr/local/share/ca-certificates, and run update-ca-certificates), and
    + restart docker
cause = Docker rejects the TLS certificate of {host} ({why}).
remedy = {advice}.
source = docker/for-win#23

[bind-source-missing]
keys =
    bind source path does not exist
    Error: stat
pattern =
    bind source path does not exist: (\S+?)\.?$
    Error: stat(?:fs)? (/(?!dev/)\S+): no such file or directory
cause = The container should mount {found} from the host, where it does not exist.
remedy = Create the directory first, and write its full path. Docker from a snap sees only the home directory, and a
    remote daemon only its own disk.
source = docker/docs#4709

[mount-file-onto-directory]
keys = onto a file
pattern =
    mounting \\*'(?P<source1>[^'\\\n]+)\\*' to rootfs at \\*'(?P<target>[^'\\\n]+)\\*'[^\n]*mount a directory onto a fil
    +e
    mount a directory onto a file
cause = The mount puts a directory of the host onto a file of the container, or the reverse[ ({source} on {target})].
    Docker creates a directory for a path that does not exist.
remedy = Remove the empty directory that Docker created at that path, create the file, and write its full path.
source = moby/moby#36428

[docker-plugin-missing]
keys =
    unknown command: docker
    is not a docker command
pattern =
    unknown command: docker (?!compose|buildx)([a-z]\w*)
    '(?!compose|buildx)([a-z]\w*)' is not a docker command
cause = Docker has no plugin {found} here, or the command is misspelt.
remedy = Add Docker's own apt repository (download.docker.com/linux/ubuntu) and run sudo apt install
    docker-{found}-plugin. docker info lists the installed plugins.
source = docker/model-runner#257

[docker-compose-missing]
keys =
    'compose' is not a docker command
    unknown command: docker compose
    unknown shorthand flag: 'f' in -f
    docker-compose: command not found
    Command 'docker-compose' not found
pattern =
    '(compose)' is not a docker command
    unknown command: (docker compose)
    unknown shorthand flag: '(f)' in -f
    (docker-compose): command not found
    Command '(docker-compose)' not found
cause = Docker's compose plugin is not installed here, or the command is written in its old form ({found}).
remedy = Install docker-compose-plugin (for Ubuntu's own Docker, docker-compose-v2), and write docker compose -f FILE
    up, with -f before up.
source = docker/compose#8986

[dockerfile-copy-missing]
keys =
    failed to calculate checksum of ref
    COPY failed: file not found
pattern =
    failed to calculate checksum of ref \S+ '?([^'\n]+)'?: not found
    COPY failed: file not found in build context or excluded by \.dockerignore: stat ([^:\n]+)
cause = The Dockerfile copies {found}, which is not in docker build's context directory, or is excluded by
    .dockerignore.
remedy = Run docker build with the directory that contains it as the context (-f names the Dockerfile). For .git or a
    submodule, clone the repository instead of unpacking an archive.
source = infiniflow/ragflow#5135

[dockerfile-invalid]
keys =
    dockerfile parse error
    Dockerfile parse error
pattern =
    [Dd]ockerfile parse error (?:on )?line (?P<line>\d+): (?P<why>[^\n]+)
cause = Line {line} of the Dockerfile cannot be read: {why}.
remedy = Correct it. A command of several lines needs a backslash at the end of each line but the last (with no space
    after it), and the lines of a script belong in a here-document (RUN <<EOF), which needs BuildKit.

[buildkit-needed]
keys = option requires BuildKit
pattern = the (--\w+) option requires BuildKit
cause = The Dockerfile uses {found}, which Docker's old builder does not support.
remedy = Install docker-buildx-plugin (for Ubuntu's own Docker, docker-buildx), or build with DOCKER_BUILDKIT=1.

[build-secret-missing]
keys = failed to solve: secret
pattern = failed to solve: secret ([\w.-]+): not found
cause = The Dockerfile mounts the secret {found}, but docker build got none.
remedy = Pass it: docker build --secret id={found},env={found} (or src=FILE); in a compose file, use build.secrets.

[dockerfile-missing]
keys =
    failed to read dockerfile
    unable to prepare context
pattern =
    failed to read dockerfile: open (\S+): no such file or directory
    unable to prepare context: (path '[^'\n]+' not found)
    unable to prepare context: unable to evaluate symlinks in Dockerfile path: lstat (\S+):
cause = docker build cannot find {found}.
remedy = Change to the directory of the Dockerfile, or name it with -f and pass its directory as the last argument.

[docker-network-module]
keys =
    pair interfaces: operation not supported
    network: operation not supported
pattern =
    (?P<what1>failed to add the host [^\n]{0,60}pair interfaces): operation not supported
    (?P<what2>error creating default '?bridge'? network): operation not supported
cause = The running kernel has no module for Docker's network ({what}): the kernel was upgraded without a reboot, so the
    old modules are gone, or this kernel was installed or built without them.
remedy = Reboot the host. If that does not help, load the modules (sudo modprobe veth bridge), and install the kernel's
    extra modules (linux-modules-extra-$(uname -r), if that package exists).

[docker-iptables-module]
keys =
    Could not fetch rule set generation id
    t initialize iptables table
    Error initializing network controller
pattern =
    iptables failed:[^\n]*(?P<rule2>Could not fetch rule set generation id)
    can't initialize iptables table '(?P<table>\w+)': Table does not exist
    Error initializing network controller[^\n]*?(?P<rule>RULE_APPEND failed|Extension \w+ revision \d+ not supported)
values =
    advice of table: raw => Docker 28 needs it for published ports. Boot a kernel with iptable_raw, stay with Docker
    + 27, or set DOCKER_INSECURE_NO_IPTABLES_RAW=1 in a drop-in of docker.service (this exposes ports published on
    + 127.0.0.1 to the local network)
    advice of table: . => Load its module (sudo modprobe iptable_nat, iptable_filter), or boot a kernel that has it
    advice of rule: . => Reboot if the kernel was upgraded since the last start. If that does not help, switch to the
    + other backend (sudo update-alternatives --set iptables /usr/sbin/iptables-legacy) and start docker
cause = Docker cannot write its firewall rules, because this kernel lacks what iptables needs[: the table {table}][
    ({rule})].
remedy = {advice}.
source = moby/moby#49557

[docker-iptables]
keys = iptables failed:
pattern =
    iptables failed: [^\n]*?(No chain/target/match by that name|Chain '\S+' does not exist|RULE_APPEND failed)
    iptables failed: (?P<command>iptables [^\n:]+):(?P<why>[^\n]+)
values =
    event of why: .*(?:initialize nft|not supported|Table does not exist|owner) => iptables does not work in this kernel
    event of command: . => its chains are gone (ufw, firewalld or nftables reloaded their rules, for example), or
    + iptables
    + does not work in this kernel
    event of found: . => its chains are gone (ufw, firewalld or nftables reloaded their rules, for example)
    advice of why: .*(?:initialize nft|not supported|Table does not exist|owner) => Load the modules (sudo modprobe
    + nf_tables nft_compat nf_nat br_netfilter) and restart docker. If they are missing, reboot (after an upgrade of the
    + kernel), or boot a kernel that has them, such as DGX OS's own. Or choose the other iptables (sudo
    + update-alternatives --config iptables)
    advice of found: . => Restart docker (systemctl restart docker), which creates its chains again. Always restart
    + docker
    + after the firewall
cause = Docker could not add its firewall rule ({found}): {event}.
remedy = {advice}.
source = moby/moby#16816

[docker-address-pools]
keys =
    non-overlapping IPv4 address pool
    non-overlapping IPv6 address pool
    predefined address pools have been fully subnetted
pattern =
    (non-overlapping IPv[46] address pool)
    (predefined address pools have been fully subnetted)
cause = Docker has no free subnet for another network ({found}): each compose project uses one, and a VPN's routes
    exclude more.
remedy = Remove unused networks (docker network prune), or set smaller default-address-pools in /etc/docker/daemon.json.
source = moby/moby#23971

[device-for-container-missing]
keys =
    while adding custom device
    cannot stat `/dev/
    Error: stat /dev/
pattern =
    while adding custom device '([^'\n]+)': no such file or directory
    (?:cannot|Error:) stat '?(/dev/[^\s':]+)'?: [Nn]o such file or directory
cause = The container requests the device {found}, which this host does not have now.
remedy = Remove it from the devices, or load the module that creates it (for /dev/infiniband, mlx5_ib and ib_uverbs; for
    /dev/nvidia*, the driver, which nvidia-smi shows).
source = dstackai/dstack#2787

[image-name-invalid]
keys =
    invalid reference format
    build tag cannot contain a digest
pattern =
    invalid reference format(?:: (repository name[^\n.]*must be lowercase))?
    (?P<digest>build tag cannot contain a digest)
values =
    why of digest: . => the tag for docker build has the digest of another image (NAME@sha256:…)
    why of digest: (?:) => it contains the effect of an empty variable, a space after a backslash, or a misspelt option
    advice of digest: . => Give docker build -t a tag without @sha256:…, which names only images that exist. If a script
    + passes it, set its variable to NAME:TAG, or use a newer release of the script
    advice of digest: (?:) => Print the command with its variables (set -x). Check that each line but the last ends with
    + a backslash, and that the name is in lower case
cause = Docker cannot read the image's name[ ({found})]: {why}.
remedy = {advice}.
source = scyto/docker-UnifiBrowser#11

[compose-file-invalid]
keys =
    validating /
    yaml: line
    yaml: while scanning
    neither an image nor a build context
    Additional properties are not allowed
    is invalid because:
pattern =
    Compose file '(?P<file2>[^'\n]+)' is invalid because:\s+(?P<why4>[^\n]+)
    (?<!\[')(?P<why5>Additional properties are not allowed \([^)\n]*\))
    validating (?P<file>/\S+\.ya?ml): (?P<why1>[^\n]+)
    ^(?:failed to parse \S+: )?(?:\S+\.ya?ml: )?(?P<why2>yaml: (?:line \d+|while scanning)[^\n]*)
    (?P<why3>service '[^'\n]+' has neither an image nor a build context specified)
values =
    advice of why: .*(?:Additional properties|Unsupported config option) .*'(?:deploy|devices|device_requests|gpus
    +|runtime|develop|include|name|profiles|configs|pull_policy)' =>
    + This compose release does not support that key. Use docker compose (docker-compose-plugin from Docker's
    + repository) instead of docker-compose 1.x, or update it
    advice of why: . => Correct that line: usually the indentation, a tab, or a colon in an unquoted value is wrong.
    + If the key is new, update the compose plugin. docker compose config checks the file
cause = The compose file[ {file}] is not valid: {why}.
remedy = {advice}.
source = docker/getting-started-todo-app#22

[compose-undefined]
keys = : invalid compose project
pattern =
    (?P<what>service '[^'\n]+' (?:refers to undefined \w+ \S+|depends on undefined service '?[\w.-]+)'?): invali
    +d compose
cause = The compose file is incomplete: {what}.
remedy = Define it in the file (volumes, networks and secrets have separate top-level sections), or correct the name.

[compose-variable-required]
keys = is missing a value
pattern = required variable (?P<name>\w+) is missing a value(?:: (?P<why>[^'\n]+))?
cause = The compose file needs the variable {name}, which is not set[: {why}].
remedy = Set it in the file .env next to the compose file, or in the shell that calls docker compose.

[compose-file-missing]
keys =
    no configuration file provided: not found
    env file
pattern =
    (no configuration file provided): not found
    env file (\S+) not found
cause = docker compose cannot find a file ({found}).
remedy = Change to the directory with compose.yaml (or name it with -f), and create its variables file (.env, usually
    from .env.example).
source = docker/compose#11264

[podman-short-name]
keys = did not resolve to an alias
pattern = short-name '([^'\n]+)' did not resolve to an alias
cause = Podman does not know from which registry {found} comes.
remedy = Write the name in full (docker.io/{found}), or set unqualified-search-registries in
    /etc/containers/registries.conf.
source = podman-container-tools/podman#12933

[user-namespaces-restricted]
keys =
    bwrap: No permissions to creat
    uid map: Permission denied
    uid_map: Operation not permitted
    uid_map failed: Operation not permitted
    No usable sandbox!
    info to setgroups: Permission denied
    Failed RTM_NEWADDR: Operation not permitted
pattern =
    bwrap: (No permissions to creat\w+ new namespace)
    (setting up uid map: Permission denied)
    (loopback: Failed RTM_NEWADDR: Operation not permitted)
    (uid_map: Operation not permitted)
    (uid_map failed: Operation not permitted)
    (No usable sandbox!)
    (info to setgroups: Permission denied)
unless = new[ug]idmap: write
cause = The program may not create a user namespace ({found}). In Ubuntu 23.10 and newer, AppArmor allows that only to
    programs with a profile.
remedy = Write a profile for that program in /etc/apparmor.d (profile NAME /usr/bin/NAME flags=(unconfined), with the
    single rule userns,) and run sudo systemctl reload apparmor, or allow all programs: sudo sysctl
    kernel.apparmor_restrict_unprivileged_userns=0. If the program runs in a container, start that with --security-opt
    apparmor=unconfined.
source = anthropic-experimental/sandbox-runtime#74

[podman-nested]
keys = is not supported over overlayfs
pattern = ('?overlay'? is not supported over overlayfs)
cause = Podman or Docker stores images on another container's overlay ({found}), which does not work.
remedy = Mount a volume on its storage (-v containers:/var/lib/containers; for Docker, /var/lib/docker), or install
    fuse-overlayfs and pass --device /dev/fuse.

[podman-id-programs]
keys =
    write to uid_map failed
    write to gid_map failed
    should have setuid or have filecaps setuid
pattern =
    (new[ug]idmap): write to [ug]id_map failed
    '((?:/[\w-]+)*/?new[ug]idmap)': should have setuid or have filecaps
cause = {found}, which containers without root need, lost its setuid bit (in an image or a copied system), or the
    account has no range of ids.
remedy = Reinstall uidmap (sudo apt install --reinstall uidmap; ls -l then shows an s in the mode), add the account to
    /etc/subuid and /etc/subgid (sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER), then run
    podman system migrate.

[enroot-directory]
keys = pyxis:
pattern =
    pyxis:\s+(?:\[ERROR\] )?mkdir: cannot create directory '(?P<directory>[^'\n]+)': (?P<why>Permission denied|No sp
    +ace left on device|No such file or directory)
cause = enroot, which pyxis starts, cannot create its directory {directory} ({why}).
remedy = On each node, make the directories in /etc/enroot/enroot.conf (ENROOT_RUNTIME_PATH, ENROOT_CACHE_PATH,
    ENROOT_DATA_PATH) writable for each user (sudo mkdir -p and chmod 1777, or a directory for each user with $(id -u)
    in the path), on a disk that is mounted before slurmd starts. Then resume the node.
source = awslabs/awsome-distributed-ai#141

[enroot-no-gpu]
keys = Command not found: nvidia-container-cli
pattern = Command not found: (nvidia-container-cli)
cause = enroot needs the program {found} to pass the GPU to a container, but it is not installed.
remedy = Install it (sudo apt install libnvidia-container-tools, from the repository of NVIDIA's container toolkit).

[loop-device-missing]
keys =
    failed to find loop device
    failed to setup loop device
pattern = (failed to (?:find|set ?up) (?:a )?loop device)
cause = There is no free loop device for the image ({found}): the limit is reached, or the program runs in a container.
remedy = Load the module with more devices (sudo modprobe loop max_loop=256; losetup -a shows those in use). Without
    loop devices, unpack the image (apptainer build --sandbox DIR IMAGE) and run the directory.

[podman-refused]
keys =
    Error: crun:
    Error: OCI runtime
    Error: runc
    preparing container
    Error: cannot set up namespace
    short-name resolution enforced
    Error: netavark
    Error: could not find "
    Error: could not find slirp4netns
    Error: could not find pasta
    Error: setting up Pasta
    kernel does not support overlay
    'overlay' is not supported over
    User-selected graph driver
    Error: database configuration mismatch
    unable to connect to Podman socket
    no container with name or ID
    Error: invalid config provided
    rootless needs no limits
pattern =
    crun: (?P<why1>fsopen_mount[^\n:]*: Function not implemented|cannot set memory limit[^\n]*|unknown version
    + specified|error stat'ing file '(?P<file>[^'\n]+)'|read status from sync socket[^\n]*|mount '[^'\n]+' to
    + '[^'\n]+': Operation not permitted|setrlimit '\w+': Operation not permitted|unlink '[^'\n]+': Permission
    + denied|open '/[^'\n]*/merged': Permission denied|pivot_root: [^\n]+|clone: [^\n]+|join keyctl[^\n]*)
    runc create failed: [^\n]*?(?P<why2>can't get final child's PID from pipe: EOF|rootless needs no limits)
    Error: (?P<why3>cannot set up namespace using '\S+'|short-name resolution enforced but cannot prompt|netavark:
    + [^\n]+|could not find '?(?:netavark|aardvark-dns|slirp4netns|pasta|conmon|crun|runc)'?|setting up
    + Pasta[^\n]*|kernel does not support overlay fs|'overlay' is not supported over \w+|User-selected graph driver
    + '\w+' overwritten|database configuration mismatch|unable to connect to Podman socket|no container with name or
    + ID \S+|invalid config provided: [^\n]+)
values =
    advice of why: fsopen|unknown|join => This crun does not fit the kernel or Podman. Update crun (or podman), or use
    + --runtime runc
    advice of why: cannot set mem|rootless => Delegate the control groups to the account (systemd: Delegate=cpu cpuset
    + io memory pids for user@.service, and a direct login), or omit the limit
    advice of why: error stat => The CDI specification names a device that does not exist now: load the driver
    + (nvidia-smi; sudo nvidia-modprobe -u -c 0) and generate it again (sudo nvidia-ctk cdi generate
    + --output=/etc/cdi/nvidia.yaml)
    advice of why: read|can't get => The runtime ended when the container started. Update crun or runc, raise a low
    + memory limit, and read the kernel's log (segfault, apparmor)
    advice of why: mount|setr|pivot|clone => It is not allowed without root or in a container. Omit that option or
    + --ulimit, or start the outer container with --privileged (or use sudo podman)
    advice of why: unlink|open => Files of this account belong to root, or its user namespace cannot enter the home
    + directory: change the owner back (sudo chown -R $USER ~/.local/share/containers), and allow others to enter
    + each directory above (chmod o+x)
    advice of why: cannot set up => Install uidmap, and add a range for the account in /etc/subuid and /etc/subgid
    + (sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER; podman system migrate)
    advice of why: short => Use the image's full name (docker.io/library/NAME)
    advice of why: netavark => Run it with sudo, or load the kernel's modules (nf_tables, iptable_nat). Inside a
    + container, start the outer container with NET_ADMIN
    advice of why: could => Install that program (apt: netavark, aardvark-dns, slirp4netns, passt, conmon, crun)
    advice of why: setting => Update passt and its AppArmor profile, or use --network slirp4netns or host
    advice of why: kernel|'over => Set driver = "vfs" or mount_program = "/usr/bin/fuse-overlayfs" in
    + ~/.config/containers/storage.conf, or put the storage on a local disk
    advice of why: User|data => The storage was created with other settings. Restore them in storage.conf, or create
    + it again (podman system reset, which removes all images and containers)
    advice of why: unable => Start its service (systemctl --user start podman.socket; outside Linux, podman machine)
    advice of why: no cont => Check podman ps -a as the same account (root has its own containers)
    advice of why: . => Omit one of the two options
cause = Podman, or the runtime that it calls, failed: {why}.
remedy = {advice}.
source = mmartial/ComfyUI-Nvidia-Docker#86

[podman-runtime-silent]
keys = no logs from conmon
pattern = (container create failed) \(no logs from conmon\)
uncertain = yes
cause = The OCI runtime (crun or runc) that Podman called ended without an answer ({found}); this log does not tell why.
remedy = Run it again with podman --log-level=debug, and with the other runtime (--runtime runc or crun; podman info
    names the one in use). Update crun, runc and conmon together, and look in the kernel's log for the runtime's end
    (journalctl -k -e: segfault, apparmor, memory).
source = containers/ramalama#1487

[podman-controllers]
keys = the requested cgroup controller
pattern = the requested cgroup controller '(\w+)' is not available
cause = Podman without root may not use the control group {found}, which the requested limit needs.
remedy = Let systemd delegate it: set Delegate=cpu cpuset io memory pids in a drop-in of user@.service, run sudo
    systemctl daemon-reload, and log in again. Or omit the limit.

[podman-user-ids]
keys =
    no subuid ranges found for user
    no subgid ranges found for user
    potentially insufficient UIDs or GIDs
    there might not be enough IDs available
pattern =
    no sub[ug]id ranges found for user
    potentially insufficient UIDs or GIDs available in user namespace(?: \(requested (?P<ids1>[\d:]+) for (?P<file1>\S+?
    +)\))?
    there might not be enough IDs available in the namespace(?: \(requested (?P<ids2>[\d:]+) for (?P<file2>\S+?)\))?
cause = Podman without root has too few user ids for the image[: {file} needs {ids}].
remedy = Add a range for the account (sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER), then
    run podman system migrate.
source = podman-container-tools/podman#12715

[container-low-port]
keys = cannot expose privileged port
pattern = rootlessport cannot expose privileged port (\d+)
cause = Podman without root may not open the port {found} because it is below 1024.
remedy = Publish a higher port (-p 8080:{found}), or set net.ipv4.ip_unprivileged_port_start={found} with sysctl.
source = rootless-containers/rootlesskit#192

[docker-client-too-new]
keys = is too new. Maximum supported API version
pattern = client version (?P<client>[\d.]+) is too new\. Maximum supported API version is (?P<most>[\d.]+)
cause = The program uses Docker's API {client}, but this daemon is older: it supports versions up to {most}.
remedy = Update Docker on this host, or set DOCKER_API_VERSION={most} for that program.

[docker-not-a-terminal]
keys = a TTY
pattern = the input device is not (a TTY)
cause = docker should attach a terminal to the container (-t), but the command does not run in a terminal (in a script,
    over ssh, from cron).
remedy = Omit -t (-i alone forwards input), or call ssh with -t.
source = wpscanteam/wpscan#1169

[container-interpreter-missing]
keys = exec /
pattern = ^exec (/\S+): no such file or directory
cause = The container's program {found} exists, but its interpreter does not: the one in its first line (a carriage
    return at the line's end counts as part of it), or the loader of its C library.
remedy = Check its first line (head -1, file), convert it with dos2unix, and use a base image with that C library
    (glibc, not Alpine's musl).

[container-user-missing]
keys =
    no matching entries in passwd file
    no matching entries in group file
pattern = unable to find (?P<kind>user|group) (?P<name>[\w.-]+): no matching entries
cause = The container should run as the {kind} {name}, which its image does not have.
remedy = Use its number instead (--user 1000:1000; user: "1000:1000" in the compose file), or add it in the Dockerfile
    (useradd) before USER.

[container-exec-broken]
keys = write init-p: broken pipe
pattern = (write init-p: broken pipe)
cause = Docker could not start another program in the container ({found}): the container has reached its limit of memory
    or processes, or is just exiting.
remedy = Check docker stats and docker inspect (State, Memory, PidsLimit), raise the limit, or restart the container.

[container-not-running]
keys =
    Error response from daemon: container
    Error response from daemon: Container
pattern = Error response from daemon: [Cc]ontainer (?P<name>\S+) is (?P<why>not running|restarting)
cause = The container {name} is {why}, because its program exited.
remedy = Read docker logs {name}, which says why. docker run --entrypoint sh starts the image without that program.

[docker-network-overlap]
keys = Pool overlaps with other one
pattern = (Pool overlaps with other one) on this address space
cause = The compose file requests a subnet that another network of Docker or of this host uses ({found}).
remedy = Choose another subnet in the file, or remove the old network (docker network ls, docker network rm).

[container-rlimit]
keys = error setting rlimit type
pattern = error setting rlimit type (\d+): operation not permitted
cause = Docker may not raise the limit that --ulimit requests (type {found}; 8 is memlock), because it runs without
    root, or in a container.
remedy = Omit --ulimit, or raise the daemon's own limit (LimitMEMLOCK=infinity in a drop-in of its service).

[build-memory]
keys =
    ResourceExhausted: process
    error reading from server: EOF
pattern =
    failed to solve: (?P<why1>ResourceExhausted): process
    failed to receive status: rpc error: (?P<why2>code = Unavailable desc = error reading from server: EOF)
cause = The builder ran out of memory, or exited in the middle of the build ({why}).
remedy = Look for Out of memory in the kernel's log (journalctl -k) and read docker's journal (journalctl -u docker).
    Build with fewer jobs (MAX_JOBS as a build argument), stop programs that hold memory, and restart docker.

[buildx-platforms]
keys = Multi-platform build is not supported
pattern = (Multi-platform build is not supported) for the docker driver
cause = Docker's default builder builds images for one platform at a time ({found}).
remedy = Build only for linux/arm64, or create a builder (docker buildx create --use --driver docker-container).

[docker-daemon-refused]
keys =
    failed to start daemon
    failed to start containerd
    failed to load listeners
    driver-opts
pattern =
    failed to (?:start (?:daemon|containerd)|load listeners): [^\n]*?(?P<why>[Ii]ptables not found|failed to
    + (?:create|add|register)[^\n]{2,120}|volume store metadata database: timeout|conflicts with network [^\n]+|Failed
    + to Setup IP tables[^\n]*|Devices cgroup isn't mounted|timeout waiting for containerd to start|no sockets found
    + via socket activation|can't create unix socket \S+: is a directory|error creating plugin manager[^\n]*|could not
    + create plugins|invalid CIDR address[^\n]*|[Ee]rror creating default 'bridge' network: [^\n]+|no available
    + network|permission denied|read-only file system|no such device|cannot allocate memory|unsupported[^\n]*)
values =
    advice of why: [Ii]ptables => Install iptables (sudo apt install iptables), and check that /usr/sbin is on the
    + service's PATH
    advice of why: volume => Another dockerd has its files open: stop it (pgrep -a dockerd), then start docker
    advice of why: conflicts => Stop docker, move /var/lib/docker/network/files/local-kv.db away and start docker,
    + which creates its networks again (compose networks need docker compose up)
    advice of why: no available => All address ranges that Docker would take are in use (a VPN, many networks): stop
    + the VPN
    + for the start, run docker network prune, or set bip and default-address-pools in /etc/docker/daemon.json
    advice of why: [Ee]rror creating default[^\n]*permission => Start it as root on the host (sudo systemctl start
    + docker). In
    + a container or without root, it needs --privileged or the rootless set-up (dockerd-rootless-setuptool.sh install)
    advice of why: Failed to Setup|[Ee]rror creating def|failed to (?:create|add|register) => Load its modules (sudo
    + modprobe ip_tables iptable_nat br_netfilter), reboot if the kernel was upgraded since the last start, or choose
    + the other iptables (sudo update-alternatives --config iptables)
    advice of why: Devices => Mount the control groups (cgroup2 on /sys/fs/cgroup, as systemd does). Docker inside a
    + container needs --privileged
    advice of why: timeout => Find out why containerd does not start (systemctl status containerd; journalctl -u
    + containerd), move /var/lib/containerd away if it is reported as damaged, and check df -h
    advice of why: no sockets => Start it with systemd (sudo systemctl start docker.socket docker), or without -H fd://
    advice of why: can't => Remove that directory (sudo rmdir), which a container that mounts the missing socket
    + created. Then start docker.socket and docker
    advice of why: error creating plug|could => Move /var/lib/docker/plugins away, and start docker
    advice of why: invalid => Correct bip, fixed-cidr or default-address-pools in /etc/docker/daemon.json
    + (192.168.5.1/24)
    advice of why: permission|read-only => Put data-root on a disk that root can write (findmnt -T /var/lib/docker;
    + Docker from a snap sees only its own directories)
    advice of why: . => Run dockerd --debug by hand: its lines above this one name the failing part
cause = Docker's daemon does not start: {why}.
remedy = {advice}.
source = dyrnq/install-docker#10

[compose-of-another-version]
keys = ERROR: for
pattern = ERROR: for \S+\s+__init__\(\) got an unexpected keyword argument '(?P<argument>\w+)'
cause = docker-compose 1, which is written in Python, and its package docker come from different releases:
    docker-compose passes {argument}, which the package does not support.
remedy = Use Docker's plugin (sudo apt install docker-compose-plugin; docker compose up), with the GPU under
    deploy.resources.reservations.devices, and remove the old one (pip uninstall docker-compose).
source = docker/compose#6691

[compose-value-refused]
keys =
    invalid interpolation format
    contains an invalid type
    external volume "
    multiple platforms feature is
pattern =
    (?P<why1>invalid interpolation format for [^\n:]+)
    (?P<why2>[\w.-]+ contains an invalid type, it should be [^\n]+)
    (?P<why3>external volume '[^'\n]+' not found)
    (?P<why4>multiple platforms feature is currently not supported for docker driver)
values =
    advice of why: invalid => Write $$ for a literal $, and close every brace
    advice of why: external => Create it (docker volume create NAME), or remove external from the file
    advice of why: multiple => Run docker buildx create --use first, or build only for linux/arm64
    advice of why: . => Write the value in the form that the message describes (in a list, each line begins with -)
cause = Docker rejected the Compose file or the build: {why}.
remedy = {advice}.
source = https://docs.docker.com/reference/compose-file/interpolation/

[docker-request-refused]
keys =
    Error response from daemon
    returned error:
    docker: invalid
    invalid argument "
    requires API
    No such object
    cannot attach stdin to a TTY
    unknown shorthand flag
    invalid tag "
pattern =
    (?P<why>invalid volume specification|includes invalid characters for a local volume name|invalid IP
    + address[^\n]*|user specified IP address is supported|unable to remove repository
    + reference[^\n]*|(?:cannot|could not) remove container[^\n]*: container is running|[Yy]ou cannot remove a
    + running container|failed to remove root filesystem|volume is in use|get \S+: no such volume|Minimum memory
    + limit|Range of CPUs is from [\d. a-z]+|[Cc]onflicting options: [^\n]+|[Uu]nexpected HTTP status: \d+[\w
    + ]*|error parsing HTTP \d+ response body|context canceled|not a device node|container with id exists|This node
    + is not a swarm manager|no such container|invalid environment variable|invalid restart policy|a directory onto
    + a file|unable to apply cgroup configuration[^\n]*|invalid CapAdd|No such network|has active endpoints|page not
    + found|Timeout: [^\n]+|is starting, wait|cannot start a paused container|layer does not exist|mount point not
    + found|Duplicate mount point: \S+|client is newer than server|unsupported log driver|linux spec user:
    + [^\n]+|file name too long|[Nn]o space left)
    docker: (?P<why2>invalid publish opts format|invalid spec: \S*:? ?empty section between colons|invalid reference)
    (?P<why3>invalid argument '[^'\n]*' for '[^'\n]+' flag[^\n]*|requires API [\d.]+ or higher|cannot attach stdin
    + to a TTY|No such object: \S+|unknown shorthand flag: [^\n]+|invalid tag '[^'\n]+')
unless =
    OCI runtime
    toomanyrequests|denied|unauthorized
values =
    advice of why: unknown shorthand flag: '[a-z]' in -[dfp]$ => Install the compose plugin, without which docker
    + treats compose's options as its own (docker-compose-plugin from Docker, docker-compose-v2 from Ubuntu). Otherwise
    + correct that option (docker run --help)
    advice of why: invalid vol|invalid spec|Dup => Write -v HOST-PATH:PATH or HOST-PATH:PATH:ro, each path once and
    + none empty (an unset variable makes it empty)
    advice of why: includes => Pass the host's directory as an absolute path (-v "$PWD/models:/models"). A name
    + without / is a volume
    advice of why: invalid IP|user => Create a network with a subnet (docker network create --subnet 172.30.0.0/16
    + NAME), and pass --network NAME with --ip
    advice of why: (?:unable to remove|volume is|.*is running|You|you) => Remove the container that uses it first
    + (docker ps -a; docker rm -f NAME)
    advice of why: failed to remove root => A process still has its files open (grep the container's id in
    + /proc/*/mountinfo). Stop it, or restart docker and remove the container again
    advice of why: get|no such|No such|layer|is start => List what exists (docker ps -a, volume ls, image ls,
    + network ls), in the same context and as the same account
    advice of why: Min|Range => Use a value that this host has (--memory 8g; --cpus no more than nproc)
    advice of why: [Cc]onf => Omit one of the two options: with --network host no ports are published (-p), and no
    + host name, DNS or links can be set
    advice of why: [Uu]nexp|error parsing|page|Timeout => The registry or a proxy failed. Try again later, and check
    + the proxy (docker info | grep -i proxy)
    advice of why: context => The caller cancelled it (Ctrl-C, a tool's timeout). For a slow download, run docker pull
    + first
    advice of why: not a dev => A file has the device's name. Remove it, and let the driver create the device (sudo
    + nvidia-modprobe -c 0 -u)
    advice of why: container with => An old task of that container still exists. Run docker rm -f NAME, or restart
    + containerd and docker
    advice of why: This => Use docker compose instead of docker stack, or make this host a manager (docker swarm init)
    advice of why: has act => Disconnect or remove its containers first (docker network inspect NAME)
    advice of why: a dir => Create the file on the host first, because Docker creates a directory for a missing path
    advice of why: unable to app => Restart docker, reboot if the host has many dead control groups, and update runc
    advice of why: linux spec => Use a user that the image has (--user 1000:1000 works without a name)
    advice of why: (?:No|no) space => Free space (docker system df; docker system prune; df -h and df -i)
    advice of why: cannot attach => Start it without -t
    advice of why: .*API|client => Update Docker's daemon, or set DOCKER_API_VERSION
    advice of why: . => Correct that option (docker run --help): no spaces after commas, quotes around '"device=0"',
    + names in lower case
cause = Docker rejected the request: {why}.
remedy = {advice}.
source = https://docs.docker.com/reference/cli/docker/container/run/

[image-pull-failed]
keys =
    short read: expected
    filesystem layer verification failed
    blob not found
    error pulling image configuration
    failed to fetch anonymous token
    ERROR: failed to solve:
    download failed after attempts
    reading blob sha256
    unexpected status from
    no image found in manifest list
pattern =
    (?P<why1>short read: expected \d+ bytes but got \d+|filesystem layer verification failed|blob not found|(?:error
    + pulling image configuration|failed to fetch anonymous token)[^\n]*: [^\n:]+|download failed after attempts=\d+:
    + [^\n]+|unexpected status from [^\n]+)
    failed to solve: (?P<why2>(?P<image>[\w./-]+:[\w.-]+): not found)
    (?P<why3>no image found in manifest list for architecture \S+)
values =
    advice of why: blob => containerd's store lacks a listed part. Remove the image (docker image rm, nerdctl, or ctr
    + -n k8s.io images rm), run docker builder prune, and pull again
    advice of why: short|file => The download was truncated or changed on its way. Pull again. If that does not help,
    + bypass the proxy or mirror (registry-mirrors in /etc/docker/daemon.json), and check memory and disk
    advice of why: no image => Use a tag that has linux/arm64 (docker manifest inspect IMAGE), or build the image here
    advice of image: . => Correct the name and tag in FROM, which the registry does not have
    advice of why: . => Check that this host can reach the registry and its storage (curl -I
    + https://registry-1.docker.io/v2/; a firewall may allow only one of their names), set the proxy for the daemon (a
    + drop-in with HTTPS_PROXY), and pull again
cause = The image was not downloaded: {why}.
remedy = {advice}.
source = docker/for-linux#711

[docker-process-id-file]
keys = ensure docker is not running or delete
pattern = ensure docker is not running or delete (\S+)
cause = Docker does not start, because {found} from an earlier run exists, or Docker already runs.
remedy = Check whether Docker runs (pgrep -a dockerd; snap list docker). If not, remove {found} and start docker.

[docker-storage]
keys =
    error creating overlay mount
    error initializing graphdriver
    too many levels of symbolic links
pattern =
    error initializing graphdriver: (?P<why1>[^\n]{1,160})
    error creating overlay mount[^\n]*: (?P<why2>too many levels of symbolic links|invalid argument|no such file or di
    +rectory)
values =
    advice of why: invalid argument|no such => Let Docker recreate its layers: run docker system prune -a, restart
    + docker and pull again. The file system of /var/lib/docker must support overlay (ext4, or xfs with ftype=1)
    advice of why: too many => Remove the remains of an interrupted build (docker system prune) and restart docker. A
    + newer Docker corrects this
    advice of why: .*not supported => Load the module (sudo modprobe overlay; reboot if the kernel was upgraded since
    + the last start), and put /var/lib/docker on ext4 or xfs
    advice of why: . => Put /var/lib/docker on ext4 or xfs (data-root in /etc/docker/daemon.json), remove an unknown
    + storage-driver from that file, and start docker
cause = Docker cannot use its image store: {why}.
remedy = {advice}.

[docker-containerd]
keys =
    failed to dial "/run/containerd
    ttrpc: c
pattern =
    failed to dial '(/run/containerd/containerd\.sock)'
    Error response from daemon:[^\n]*(ttrpc: (?:client shutting down|closed))
cause = Docker cannot work with containerd ({found}): it does not run, or was updated while Docker ran.
remedy = Restart both (sudo systemctl restart containerd docker), and read containerd's journal if it does not stay up
    (journalctl -xeu containerd). If it comes back, install containerd.io and docker-ce from one source in fitting
    + versions.

[docker-apparmor]
keys = unable to apply apparmor profile
pattern = (unable to apply apparmor profile)
cause = The kernel did not apply AppArmor's profile for the container ({found}): AppArmor was reloaded, is off, or
    Docker itself runs in a container.
remedy = Restart apparmor and docker (systemctl restart apparmor docker). If Docker runs in a container, allow nesting
    for that container, or start with --security-opt apparmor=unconfined.

[docker-no-device-filter]
keys = bpf_prog_query(BPF_CGROUP_DEVICE) failed
pattern = (bpf_prog_query\(BPF_CGROUP_DEVICE\) failed)
cause = This kernel cannot limit a container's devices with control groups version 2 ({found}), because it was built
    without CONFIG_CGROUP_BPF, like some Jetson kernels.
remedy = Boot with the old control groups (systemd.unified_cgroup_hierarchy=0 on the kernel's command line), or use a
    kernel with CONFIG_CGROUP_BPF (on a Jetson, a newer JetPack).

[container-not-killed]
keys = did not receive an exit event
pattern = (tried to kill container, but did not receive an exit event)
cause = The container's program does not end even when it is killed ({found}): it waits in the kernel, usually in the
    driver.
remedy = The process shows state D (ps -eo pid,stat,wchan,cmd | grep ' D'). Read the kernel's log (journalctl -k: NVRM,
    Xid, blocked for more than), and reboot the host; only that ends it.

[docker-stop-denied]
keys = cannot stop container
pattern = cannot (?:stop|kill) container: (\w+):[^\n]*permission denied
cause = Docker may not stop the container {found}: the AppArmor profile of a second Docker (usually a snap) forbids it.
remedy = Keep one Docker (snap list docker; snap remove docker), and restart docker.

[display-not-opened]
keys =
    Can't open display
    cannot open display
    no authorization protocol specified
    Unable to open X display
    could not connect to display
    XOpenDisplay(
    Unable to run X server
    connecting to X server
pattern =
    [Cc]an(?:'|no)t open display:? ?(?P<display>[\w.:-]*\d)?
    (no authorization protocol specified)
    (Unable to open X display|could not connect to display|Unable to run X server|[Ee]rror connecting to X server)
    XOpenDisplay\('(?P<display2>[^'\n]*)'\) failed
cause = The program cannot open a window on the screen[ {display}]: it runs over ssh, in a container, or as another
    account than the desktop's.
remedy = In a container, pass -e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix and allow it on the host (xhost
    +local:docker). Over ssh, use ssh -X, or run it without a window (headless, EGL, QT_QPA_PLATFORM=offscreen).

[image-gpu-unsupported]
keys =
    which may not yet be supported in this version of the container
    No supported GPU(s) detected to run this container
pattern =
    Detected (?P<gpu>[^\n]+?) GPU, which may not yet be supported in this version of the container
    (No supported GPU\(s\) detected) to run this container
cause = NVIDIA's image is older than this GPU[ ({gpu})] and has no code for it.
remedy = Use a newer tag of the image; for a GB10, NVIDIA's PyTorch, vLLM or TensorRT-LLM images from 25.09 on (docker
    run --gpus all; the catalogue names the GPUs of each tag).

[nim-profile-missing]
keys =
    No compatible profiles found
    Could not match a profile in manifest
    No matching profile
    NIMProfileIDNotFound
    Unknown profiles provided
    Could not find a profile that
pattern =
    (Could not find a profile that is currently runnable)
    (Unknown profiles provided: \{[^}\n]{1,80}\})
    (No compatible profiles? found[^\n]{0,80})
    (Could not match a profile in manifest)
    (No matching profiles?[^\n]{0,60})
    NIMProfileIDNotFound: ([^\n]{1,80})
cause = The NIM has no profile for this GPU and its memory, or none with that name ({found}).
remedy = List its profiles (docker run … IMAGE list-model-profiles), then use a NIM whose page names the DGX Spark, set
    NIM_MODEL_PROFILE to a generic profile, or serve the model with vLLM itself.
source = https://github.com/NVIDIA/dgx-spark-playbooks

[ngc-key-missing]
keys =
    downloading manifest: Authentication Error
    NGC_API_KEY
pattern =
    manifest: (Authentication Error)
    (NGC_API_KEY)[^\n]{0,60}(?:is not set|not provided|is missing|is required|invalid)
cause = The container needs a key for NVIDIA's catalogue, but got no valid one ({found}).
remedy = Create a key on your account's NGC page (API keys), run export NGC_API_KEY=…, and pass it: docker run -e
    NGC_API_KEY ….
"""
