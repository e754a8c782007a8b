# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# __init__.py in this directory explains the fields.

"""Images and compose files

What Docker, Podman and their registries say of images, files and names.
"""

RULES = r"""
[image-tag-unknown]
keys =
    manifest unknown
    failed to resolve
pattern =
    manifest for (\S+) not found: manifest unknown
    reading manifest (?P<tag>\S+) in (?P<repository>\S+): manifest unknown
    resolve (?:reference|source metadata for) '?([^\s'@]+?)'?: \S+: not found
    Error response from daemon: manifest unknown
cause = The registry has no such image or tag ({found}[ in {repository}]): not every repository has latest.
remedy = Look up the tags that the repository's page lists (of nvcr.io: the NGC catalogue), and pull one that exists for
    arm64.
source =
    jadolg/DockerImageSave#9
    ivangabriele/dockfish#13

[docker-credentials]
keys = ing credentials - err
pattern = error (?:stor|gett)ing credentials - err: exec: \\*'([^'\\\n]+)
cause = Docker is set to keep logins with {found}, which is not installed here.
remedy = Take credsStore (or credHelpers) out of ~/.docker/config.json, or install that helper, and run docker login
    again.

[container-program-missing]
keys =
    executable file not found in
    no such file or directory: unknown
    permission denied: unknown
pattern =
    (?<!not found: )exec: \\*'(?P<program1>[^'\\\n]+)\\*':? (?P<why1>executable file not found in \$PATH)
    exec: \\*'(?P<program2>[^'\\\n]+)\\*': (?:stat [^:\n]+: )?(?P<why2>no such file or directory): unknown
    exec: \\*'(?P<program3>[^'\\\n]+)\\*': (?P<why3>permission denied): unknown
values =
    advice of program: nvidia-(smi|ctk) => Start the container with --gpus all (or --runtime=nvidia), which puts
    + nvidia-smi into it
    advice of program: new[ug]idmap => Install the package uidmap on the host, which Podman needs without root
    advice of program: (/bin/|/usr/bin/)?bash$ => The image may have only sh, or a program set as its entry point: try
    + sh, or --entrypoint
    advice of why: permission => Make the file executable (chmod +x) before it is copied into the image
    advice of program: -|\w+= => Put docker's options before the name of the image, since what follows it is the program
    advice of program: . => Look at what the image has (docker run --entrypoint sh IMAGE), and give the program's full
    + path
cause = The container's program {program} cannot be started in the image ({why}).
remedy = {advice}.
source =
    docker/for-linux#963
    docker/cli#2200

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
cause = The registry {host} was not reached ({why}): Docker's daemon asks it itself, and does not have a shell's proxy
    or VPN.
remedy = Check the network (curl -I https://{host}/v2/), set a needed proxy in a drop-in of docker.service
    (HTTPS_PROXY), and restart docker.
source =
    DeepVAC/TorchPod#64
    moby/moby#50035

[registry-plain-http]
keys = server gave HTTP response to HTTPS client
pattern = https://(?P<host>[\w.-]+(?::\d+)?)/\S* http: (server gave HTTP response to HTTPS client)
cause = The registry {host} answers in plain HTTP, and Docker asks by HTTPS.
remedy = Give the registry a certificate, or name it under insecure-registries in /etc/docker/daemon.json of the host
    that pulls (BuildKit: in its own buildkitd.toml), and restart docker.
source = distribution/distribution#1874

[registry-certificate]
keys = x509: certificate
pattern = https://(?P<host>[\w.-]+(?::\d+)?)/[^\n]*x509: certificate (?P<why>[\w ]+)
values =
    advice of why: has expired or is not yet valid => Check this host's clock (timedatectl), and else have the
    + certificate renewed
    advice of why: is valid for => Use a name that the certificate has
    advice of why: . => Put the CA of that server or of the proxy as ca.crt into a directory
    + called like the server in /etc/docker/certs.d, or for all programs into /usr/local/share/ca-certificates
    + (update-ca-certificates) and restart docker
cause = The TLS certificate of {host} is not accepted: it {why}.
remedy = {advice}.
source = docker/for-win#23

[bind-source-missing]
keys =
    bind source path does not exist
    Error: stat
pattern =
    bind source path does not exist: (\S+?)\.?$
    Error: stat(?:fs)? (/(?!dev/)\S+): no such file or directory
cause = The container is to see {found} of the host, which does not exist there.
remedy = Create the directory first, and write its full path; a Docker that is a snap sees only the home directory, and
    a remote daemon its own disk.
source =
    docker/docs#4709
    tribut/homeassistant-docker-venv#35

[mount-file-onto-directory]
keys = onto a file
pattern =
    mounting \\*'(?P<source1>[^'\\\n]+)\\*' to rootfs at \\*'(?P<target>[^'\\\n]+)\\*'[^\n]*mount a directory onto a fil
    +e
    mount a directory onto a file
cause = A directory of the host is to be mounted onto a file of the container, or the reverse[ ({source} on {target})]:
    Docker makes a directory of a path that does not exist.
remedy = Remove the empty directory that Docker made of the path, create the file, and write its full path.
source =
    moby/moby#36428
    zedeus/nitter#1392

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
remedy = Install docker-compose-plugin (of Ubuntu's own Docker: docker-compose-v2), and write docker compose -f FILE up,
    with -f before up.
source =
    docker/compose#8986
    docker/for-linux#1330

[dockerfile-copy-missing]
keys =
    failed to calculate checksum of ref
    COPY failed: file not found
pattern =
    failed to calculate checksum of ref \S+ '?([^'\n]+)'?: not found
    COPY failed: file not found in build context or excluded by \.dockerignore: stat ([^:\n]+)
cause = The Dockerfile copies {found}, which is not in the directory that docker build was given, or .dockerignore
    leaves it out.
remedy = Run docker build with the directory that has it as the context (-f names the Dockerfile), or clone the
    repository instead of unpacking an archive, where it is .git or a submodule.
source =
    infiniflow/ragflow#5135
    docker/compose#12028

[dockerfile-missing]
keys =
    failed to read dockerfile
    unable to prepare context
pattern =
    failed to read dockerfile: open (\S+): no such file or directory
    unable to prepare context: (path '[^'\n]+' not found)
    unable to prepare context: unable to evaluate symlinks in Dockerfile path: lstat (\S+):
cause = docker build did not find {found}.
remedy = Change to the directory of the Dockerfile, or name it with -f and give its directory as the last argument.

[docker-iptables]
keys = iptables failed:
pattern =
    iptables failed: [^\n]*?(No chain/target/match by that name|Chain '\S+' does not exist|RULE_APPEND failed)
    iptables failed: (?P<command>iptables [^\n:]+):(?P<why>[^\n]+)
cause = Docker could not add its firewall rule ({found}): its chains are gone, as after ufw, firewalld or nftables
    loaded their rules anew, or iptables does not work in this kernel.
remedy = Restart docker (systemctl restart docker), which makes its chains again, and always after the firewall.
source =
    moby/moby#16816
    moby/moby#23154

[docker-address-pools]
keys =
    non-overlapping IPv4 address pool
    predefined address pools have been fully subnetted
pattern =
    (non-overlapping IPv4 address pool)
    (predefined address pools have been fully subnetted)
cause = Docker has no free subnet for another network ({found}): each compose project takes one, and a VPN's routes
    exclude more.
remedy = Remove unused networks (docker network prune), or set smaller default-address-pools in /etc/docker/daemon.json.
source =
    moby/moby#23971
    buildpacks/pack#2259

[device-for-container-missing]
keys =
    while adding custom device
    cannot stat `/dev/
    Error: stat /dev/
pattern =
    while adding custom device '([^'\n]+)': no such file or directory
    (?:cannot|Error:) stat '?(/dev/[^\s':]+)'?: [Nn]o such file or directory
cause = The container is to get the device {found}, which this host does not have now.
remedy = Take it off the devices, or load what makes it (of /dev/infiniband: mlx5_ib and ib_uverbs, of /dev/nvidia*: the
    driver; nvidia-smi shows it).
source =
    dstackai/dstack#2787
    weskerfoot/DeleteFB#156

[image-name-invalid]
keys = invalid reference format
pattern = invalid reference format(?:: (repository name[^\n.]*must be lowercase))?
cause = Docker cannot read the image's name[ ({found})]: an empty variable, a blank after a backslash, or an option that
    is not written right has become part of it.
remedy = Print the command with its variables (set -x), and see that each line but the last ends with a backslash and
    that the name is in small letters.
source =
    scyto/docker-UnifiBrowser#11
    l11x0m7/book-of-qna-code#8

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
    (?P<why5>Additional properties are not allowed \([^)\n]*\))
    validating (?P<file>/\S+\.ya?ml): (?P<why1>[^\n]+)
    ^(?:failed to parse \S+: )?(?:\S+\.ya?ml: )?(?P<why2>yaml: (?:line \d+|while scanning)[^\n]*)
    (?P<why3>service '[^'\n]+' has neither an image nor a build context specified)
cause = The compose file[ {file}] is not valid: {why}.
remedy = Correct that place: mostly blanks of indentation, a tab or a colon in an unquoted value; where the key is a new
    one (develop, gpus), update the compose plugin. docker compose config checks the file.
source =
    docker/getting-started-todo-app#22
    docker/docs#4303

[compose-file-missing]
keys =
    no configuration file provided: not found
    env file
pattern =
    (no configuration file provided): not found
    env file (\S+) not found
cause = docker compose did not find a file ({found}).
remedy = Change to the directory with compose.yaml (or name it with -f), and create the file of variables that it reads
    (.env, mostly from .env.example).
source =
    docker/compose#11264
    Zoeille/picsou-finance#28

[compose-dependency]
keys = dependency failed to start
pattern = dependency failed to start: container (\S+) (?P<why>is unhealthy|exited \(\d+\)|has no healthcheck configured)
cause = docker compose did not start what depends on the container {found}: that one {why}.
remedy = Read the log of that container (docker logs {found}), which has the cause; a model that loads long needs a
    longer start_period of its healthcheck.
source =
    NationalSecurityAgency/datawave#2666
    vstorm-co/agenticos#1831

[podman-short-name]
keys = did not resolve to an alias
pattern = short-name '([^'\n]+)' did not resolve to an alias
cause = Podman does not know from which registry {found} comes.
remedy = Write the name in full (docker.io/{found}), or set unqualified-search-registries in
    /etc/containers/registries.conf.
source =
    podman-container-tools/podman#12933
    containers/podman.io#373

[podman-user-ids]
keys =
    potentially insufficient UIDs or GIDs
    there might not be enough IDs available
pattern =
    potentially insufficient UIDs or GIDs available in user namespace(?: \(requested (?P<ids1>[\d:]+) for (?P<file1>\S+?
    +)\))?
    there might not be enough IDs available in the namespace(?: \(requested (?P<ids2>[\d:]+) for (?P<file2>\S+?)\))?
cause = Podman without root has too few user ids for the image[: {file} needs {ids}].
remedy = Give the account a range (sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER), then run
    podman system migrate.
source =
    podman-container-tools/podman#12715
    podman-container-tools/podman#4583

[container-low-port]
keys = cannot expose privileged port
pattern = rootlessport cannot expose privileged port (\d+)
cause = Podman without root may not open the port {found}, since it is below 1024.
remedy = Publish a higher one (-p 8080:{found}), or set net.ipv4.ip_unprivileged_port_start={found} with sysctl.
source =
    rootless-containers/rootlesskit#192
    gutmensch/docker-dmarc-report#66

[docker-client-too-new]
keys = is too new. Maximum supported API version
pattern = client version (?P<client>[\d.]+) is too new\. Maximum supported API version is (?P<most>[\d.]+)
cause = The program asks Docker with the API {client}, and this daemon is older: it knows up to {most}.
remedy = Update Docker on this host, or set DOCKER_API_VERSION={most} for the program that asks.

[docker-not-a-terminal]
keys = a TTY
pattern = the input device is not (a TTY)
cause = docker was to give the container a terminal (-t), and the command does not run in one, as in a script, by ssh or
    cron.
remedy = Leave -t out (-i alone passes input on), or call ssh with -t.
source =
    wpscanteam/wpscan#1169
    bdd/runitor#34

[container-interpreter-missing]
keys = exec /
pattern = ^exec (/\S+): no such file or directory
cause = The container's program {found} is there, but what it needs first is not: the interpreter of its first line (a
    carriage return at the line's end is taken as part of it), or the loader of its C library.
remedy = Look at its first line (head -1, file), convert it with dos2unix, and use a base image with that C library
    (glibc, not Alpine's musl).

[container-not-running]
keys = Error response from daemon: Container
pattern = Error response from daemon: [Cc]ontainer (?P<name>\S+) is (?P<why>not running|restarting)
cause = The container {name} is {why}: its program ended.
remedy = Read docker logs {name}, which has its reason; docker run --entrypoint sh starts the image without that
    program.

[docker-network-overlap]
keys = Pool overlaps with other one
pattern = (Pool overlaps with other one) on this address space
cause = The compose file asks for a subnet that another network of Docker or of this host has ({found}).
remedy = Choose another subnet in it, or remove the old network (docker network ls, docker network rm).

[container-rlimit]
keys = error setting rlimit type
pattern = error setting rlimit type (\d+): operation not permitted
cause = Docker may not raise the limit that --ulimit asks for (type {found}; 8 is memlock): it runs without root, or in
    a container.
remedy = Leave --ulimit out, or raise the limit of the daemon itself (LimitMEMLOCK=infinity in a drop-in of its
    service).

[buildx-platforms]
keys = Multi-platform build is not supported
pattern = (Multi-platform build is not supported) for the docker driver
cause = Docker's own builder makes images for one platform at a time ({found}).
remedy = Build only for linux/arm64, or make a builder (docker buildx create --use --driver docker-container).

[docker-containerd]
keys = failed to dial "/run/containerd
pattern = failed to dial '(/run/containerd/containerd\.sock)'
cause = Docker does not start, because containerd does not answer at {found}.
remedy = Start it (systemctl status containerd; its journal says why it does not run), then docker.

[docker-stop-denied]
keys = cannot stop container
pattern = cannot (?:stop|kill) container: (\w+):[^\n]*permission denied
cause = Docker may not end the container {found}: AppArmor's profile of a second Docker (mostly a snap) forbids it.
remedy = Keep one Docker (snap list docker; snap remove docker), and restart docker.

[image-emulated]
keys = qemu: uncaught target signal
pattern = qemu: uncaught target signal (\d+)
cause = A program for another processor crashed in the emulation (signal {found}).
remedy = Use an image for linux/arm64; what an emulated one does on a Spark is slow, and CUDA does not work in it.
"""
