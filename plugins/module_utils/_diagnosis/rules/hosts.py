# __init__.py in this directory explains the fields.

"""Several hosts

Messages from Ray, MPI, torchrun, netplan, ssh and rsync between hosts.
"""

RULES = r"""
[ray-version-mismatch]
keys = The cluster was started with:
pattern =
    The cluster was started with:\s+(?P<head>Ray: \S+\s+Python: \S+)\s+This process on node (?P<node>\S+) was started
    + with:\s+(?P<own>Ray: \S+\s+Python: \S+)
cause = The hosts of the Ray cluster have different versions: the head has {head}, and {node} has {own}.
remedy = Use one image, or one environment with the same Ray and exactly the same Python version, on all hosts. Stop an
    older cluster first (ray stop on each host).
source = ray-project/kuberay#154

[ray-memory]
keys =
    killed due to the node running low on memory
    killed due to memory pressure (OOM)
pattern =
    running was (?P<used>[\d.]+GB) / (?P<total>[\d.]+GB) [^\n]*exceeds the memory usage threshold of (?P<limit>[\d.]+)
    killed due to the node running low on memory[^\n]*(?:\n[^\n]*?running was (?P<used2>[\d.]+GB) / (?P<total2>[\d.]+GB)
    +)?
    (?P<count>\d+) Workers \(tasks / actors\) killed due to memory pressure
cause = Ray killed a worker, because the host's memory was nearly full[: {used} of {total}]. On a GB10, it includes the
    GPU's memory.
remedy = Reduce the engine's share (--gpu-memory-utilization), or raise Ray's own limit on all hosts before ray start
    (RAY_memory_usage_threshold=0.98; RAY_memory_monitor_refresh_ms=0 turns it off).
source = ray-project/ray#30312

[ray-running-already]
keys = Ray is trying to start at
pattern = Ray is trying to start at (?P<address>[\w.:]+), but is already running
cause = Ray from an earlier run still uses {address} on this host.
remedy = Stop it first (ray stop --force, on every host), or join it with ray start --address.

[ray-not-running]
keys = Could not find any running Ray instance
pattern = Could not find any (running Ray instance)
cause = The program cannot connect to a Ray cluster, because none runs on this host ({found}).
remedy = Start it (ray start --head on the first host, ray start --address=HEAD:6379 on the others; ray status shows
    them), in the same container or environment as the program.

[etcd-not-reached]
keys =
    connect to etcd
    Check etcd server
    etcdserver:
    etcd client:
    Etcd connection
pattern =
    [Ff]ailed to connect to etcd[^\n]*?etcd_url: \['?(?P<address1>[^\]'\n]+)
    [Cc]heck etcd server status at (?P<address2>[^\s,)]+)
    (?:[Ff]ailed|[Uu]nable|annot) (?:to )?connect to etcd(?:[^\n]{0,80}?(?P<address3>https?://[^\s,)"]+))?
    (?P<why>etcdserver: [\w :]+)
cause = The program keeps its state in etcd, but cannot use it[ at {address}][ ({why})]: etcd does not run there, or
    answers too late.
remedy = Start etcd first (the program's docker compose file, or etcd --advertise-client-urls http://0.0.0.0:2379
    --listen-client-urls http://0.0.0.0:2379). Check that curl gets an answer from /health at that address where the
    program runs, and set the address (Dynamo's ETCD_ENDPOINTS), the same on all hosts.
source =
    ai-dynamo/dynamo#851
    apache/beam#36966

[nats-without-jetstream]
keys =
    nats: ServiceUnavailableError
    nats: no servers available
    JetStream not enabled
    NoServersError
    no responders available
pattern =
    (nats: (?:ServiceUnavailableError|no servers available|no responders available|JetStream not enabled)|JetStream not
    + enabled(?: for account)?|NoServersError)
values =
    advice of found: .*(?:[Nn]o ?[Ss]ervers) => Start nats-server -js first, and set its address
    + (NATS_SERVER=nats://HOST:4222), because no server answers
    advice of found: . => Start it with JetStream (nats-server -js), which Dynamo's queues need, and then start the
    + workers
cause = The program sends messages through NATS, which does not deliver them ({found}).
remedy = {advice}.
source = ai-dynamo/dynamo#429

[ray-redis-not-reached]
keys = Could not establish connection to Redis
pattern = Could not establish connection to Redis (?P<address>[^\s(]+)
cause = Ray is configured to keep its state in Redis at {address} (RAY_REDIS_ADDRESS) but cannot reach it, so its head
    (GCS) does not start.
remedy = Unset RAY_REDIS_ADDRESS (only a fault-tolerant head needs it), or start Redis there and correct the address.
source = ray-project/ray#33842

[ray-head-unreachable]
keys =
    Failed to connect to GCS
    nable to connect to GCS
    Failed to get cluster ID from GCS
    The current node timed out during startup
    waiting for GCS to become available
    Could not establish connection to redis
    Failed to send request to gcs
    have not registered with Redis
pattern =
    Could not establish connection to redis (?P<address3>\S+)
    Failed to send request to gcs
    processes that the driver needs to connect to have not registered with Redis
    waiting for GCS to become available
    Failed to get cluster ID from GCS|The current node timed out during startup
    Failed to connect to GCS at address (?P<address1>\S+?) within
    Unable to connect to GCS (?:\(ray head\) )?at (?P<address2>\S+?)\.\s
    (?:Failed|[Uu]nable) to connect to GCS(?: within [^\n]{0,40}GCS (?P<end>may have been killed))?
values =
    advice of end: . => Find out why the head ended: look for Out of memory in its kernel log (journalctl -k), and
    + read /tmp/ray/session_latest/logs/gcs_server.out; ray stop also ends it. Then start the cluster again
    advice of end: (?:) => Compare the address with the one that ray start --head printed (if no host precedes the
    + colon, a variable was empty). Use the address of the network between the hosts (--node-ip-address), open its ports
    + in the firewall (ufw), check that both have the same Ray version, and stop leftovers of an earlier start (ray
    + stop)
cause = This host could not reach the head of the Ray cluster[ at {address}][, which {end}].
remedy = {advice}.
source =
    vllm-project/vllm#15385
    ray-project/ray#45570

[ray-address-empty]
keys = Malformed host:
pattern = (?:ValueError: |^)Malformed host: ?(?P<host>\S*)
values =
    state of host: . => is not a host name or an address
    state of host:  => is empty
cause = The address with which ray start is called {state}[ ({host})].
remedy = Set the variable where the command runs: one that only the host's shell knows is empty in a container (docker
    run -e NODE_IP=ADDRESS). Check it with echo, and pass the host's address in the network between the hosts to
    --node-ip-address.
source = spark-arena/sparkrun#132

[socket-path-too-long]
keys =
    AF_UNIX path
    ipc path "
    too long for Unix domain socket
pattern =
    AF_UNIX path (?:length cannot exceed (?P<limit1>\d+)|too long)(?:[^\n']*'(?P<path1>[^'\n]+)')?
    ipc path '(?P<path2>[^'\n]+)' is longer than (?P<limit2>\d+) characters
    path '(?P<path3>[^'\n]+)' too long for Unix domain socket
cause = The path of a socket is longer than Linux allows[ ({limit} characters)][: {path}].
remedy = Use a short directory for temporary files (TMPDIR=/tmp; for Ray, --temp-dir=/tmp/ray; for vLLM,
    VLLM_RPC_BASE_PATH=/tmp; for ssh and Ansible, a short ControlPath: control_path = %(directory)s/%%C below
    ssh_connection).

[mpi-root]
keys = detected an attempt to run as root
pattern = (\w+) has detected an attempt to run as root
cause = {found} does not run as root without explicit permission.
remedy = Run it as another user, or (as in a container, whose user is root) add --allow-run-as-root, or set
    OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 on all hosts.
source = open-mpi/ompi#5597

[mpi-daemon-missing]
keys =
    /orted: No such file
    /prted: No such file
    orted: command not found
    prted: command not found
pattern = (\S*[op]rted): (?:No such file or directory|command not found)
cause = mpirun's daemon {found} is not at that path on the other host: its Open MPI is elsewhere, or not installed.
remedy = Install the same Open MPI on all hosts (sudo apt install openmpi-bin) and call mpirun by its full path, which
    sets the prefix for the other hosts (or use --prefix). Set PATH in ~/.bashrc above its test for a terminal.

[mpi-program-missing]
keys = was unable to find the specified executable file
pattern =
    was unable to find the specified executable file(?s:.{0,700}?)Node: +(?P<node>\S+)\s+Executable: +(?P<program>\S+)
    was unable to find the specified executable file
cause = mpirun cannot find its program[ {program}][ on {node}].
remedy = Build or copy it to the same path on every host and pass that full path. mpirun also takes a misspelt option
    for the program.

[mpi-hcoll]
keys = LOG_CAT_
pattern = \[LOG_CAT_\w+\] (?P<message>[^\n]{3,160})
cause = HCOLL, which HPC-X and Mellanox's Open MPI use for collective operations, does not work here: {message}.
remedy = Run without it (mpirun --mca coll ^hcoll, or OMPI_MCA_coll=^hcoll in the environment). The program then runs
    without HCOLL.
source = open-mpi/ompi#11469

[mpi-no-component]
keys =
    able to be opened in the
    requested component was not found
pattern =
    No components were able to be opened in the (?P<kind1>\w+) framework
    A requested component was not found[^\n]*(?:\n[^\n]*){0,12}?Framework: +(?P<kind2>\w+)
cause = This Open MPI has no usable component for {kind}: OMPI_MCA_{kind} or --mca {kind} names one that was not built
    (such as ucx), or that detects no card.
remedy = Unset that variable (env | grep OMPI_MCA), or name an existing component (ompi_info | grep {kind}). mpirun
    --mca pml ob1 --mca btl tcp,self always works between two Sparks, and NCCL does not need MPI's RDMA.

[mpi-no-daemon-of-its-own]
keys = ORTE_ERROR_LOG: Not found in file
pattern = ORTE_ERROR_LOG: (Not found) in file (?P<file>\w+\.c)
cause = mpirun cannot find its own files ({file}): two Open MPIs are mixed, or its directory was moved.
remedy = Check which -a mpirun and echo $LD_LIBRARY_PATH $OPAL_PREFIX. Unset OPAL_PREFIX and keep one Open MPI on both
    paths (HPC-X, conda and apt each install one), or set OPAL_PREFIX to its directory.

[mpi-wrong-interface]
keys =
    received unexpected process identifier
    cannot find a corresponding process
    TCP connection from what appears to be
    failed to TCP connect to a peer MPI process
pattern =
    failed to TCP connect to a peer MPI process(?s:.{0,300}?)Message: +(connect\(\) to \S+) failed
    (received unexpected process identifier)
    (accepted a TCP connection from what appears to be)
cause = MPI's processes on two hosts used interfaces that are not connected ({found}), such as docker0 or the other port
    of a card.
remedy = Name the network between the hosts: mpirun --mca btl_tcp_if_include 192.168.100.0/24 --mca oob_tcp_if_include
    192.168.100.0/24 (or exclude lo,docker0).
source = jbornschein/mpi4py-examples#12

[mpi-memory-copy]
keys = Read -1, expected
pattern = (Read -1, expected \d+, errno = 1)\b
cause = In this container, Open MPI may not read another process's memory ({found}), so it copies in another way.
remedy = Start the container with --cap-add SYS_PTRACE, or set OMPI_MCA_btl_vader_single_copy_mechanism=none, which also
    stops the messages.
source = open-mpi/ompi#4948

[gloo-no-interface]
keys = nable to find interface for
pattern = Unable to find interface for: \[?(?P<address>[\w.:%]+)\]?
cause = Gloo found no interface with the address {address}: this host's name resolves to an address that the host does
    not have.
remedy = Set GLOO_SOCKET_IFNAME to the interface between the hosts (ip -br addr), or correct the host's own name in
    /etc/hosts.

[rank-variables-missing]
keys =
    env:// rendezvous
    Default process group has not been initialized
pattern =
    environment variable (\w+) expected, but not set
    (Default process group has not been initialized)
cause = The program runs distributed code, but was not started as one of several ranks ({found}).
remedy = Start it with torchrun (--nnodes, --nproc-per-node 1 on a Spark, --node-rank, --master-addr), which sets RANK,
    WORLD_SIZE, MASTER_ADDR and MASTER_PORT, or set these variables yourself.

[rendezvous-failed]
keys =
    RendezvousConnectionError
    RendezvousTimeoutError
    The connection to the C10d store has failed
pattern =
    (RendezvousConnectionError)
    (RendezvousTimeoutError)
cause = torchrun's processes did not meet ({found}): the host of --rdzv-endpoint cannot be reached or does not know that
    name as its own, or fewer hosts joined than --nnodes says.
remedy = On all hosts, pass the same --rdzv-id and the first host's address in the network between them. Start it on all
    hosts within the timeout, and open the port in the firewall (ufw).

[rendezvous-closed]
keys =
    RendezvousClosedError
    is not renewed
pattern =
    (RendezvousClosedError)
    Keep-alive key (?P<key>\S+) is not renewed
uncertain = yes
cause = torchrun's meeting of the hosts is over[ (the host of {key} no longer answers)]: the launcher of another host
    ended, or lost its connection.
remedy = Read the other hosts' logs for their first error (memory, the kernel's log, the network). Then start torchrun
    again on all hosts, with a new --rdzv-id.
source =
    pytorch/pytorch#116974
    Lightning-AI/pytorch-lightning#3029

[rdma-device-not-opened]
keys =
    ibv_open_device failed
    Couldn't allocate MR
pattern =
    (ibv_open_device failed)
    (Couldn't allocate MR)
values =
    advice of found: Couldn't => Raise the limit on locked memory (ulimit -l unlimited; for a container, --ulimit
    + memlock=-1)
    advice of found: . => Start the container with --device /dev/infiniband and --ulimit memlock=-1, and check the
    + permissions of /dev/infiniband
cause = The RDMA library cannot use the card ({found}).
remedy = {advice}.

[sandbox-interfaces]
keys = uv_interface_addresses returned
pattern = (uv_interface_addresses) returned (?:Unknown )?[Ss]?ystem error
cause = Node.js may not list the network interfaces ({found}), because its sandbox forbids that. The network is not at
    fault.
remedy = Update the sandbox and the programs in it together (NemoClaw with its OpenShell and OpenClaw), or allow
    AF_NETLINK in the sandbox's policy.
source = NVIDIA/NemoClaw#4174

[mlx-tool-refused]
keys =
    -E- Image is not
    No Mellanox devices found
    MST PCI module is not loaded
    -E- Failed to
    -E- Can
pattern =
    (?P<why2>Failed to (?:identify the device|query device current configuration)|No Mellanox devices found|MST PCI
    + module is not loaded|Image is not compatible)
    -E- (?:Failed to (?:open|query) device|Can ?not open)[ :]+(?P<device>[\w:./]+?)[.:]? [^\n]*?(?P<why>[A-Z]\w+_[A-Z_
    +]+|Cannot open device)
cause = The network card's tool could not read or write the card[ {device}]: {why}.
remedy = Run it with sudo, load the devices first (sudo mst start; mst status lists their names), and name the card by
    its PCI address from lspci -d 15b3:. If Secure Boot locks the kernel down, use devlink dev info and ethtool -i.

[port-of-test-taken]
keys = Couldn't listen to port
pattern = Couldn't listen to port (\d+)
cause = The test's server cannot open the port {found}, because an earlier server still runs.
remedy = Stop it (ss -ltnp shows it), or choose another port on both sides (-p).

[netplan-invalid]
keys =
    Error in network definition
    Invalid YAML:
    Conflicting default route declarations
pattern =
    (?<!\S)(?P<file1>/[^\s:]+\.yaml):(?P<line1>\d+):\d+: (?:Error in network definition|Invalid YAML): (?P<why1>[^\n]+)
    (?P<why2>Conflicting default route declarations for [^,\n]+)[^\n]*first declared in (?P<one>\S+) but also in (?P<oth
    +er>\S+)
    Error in network definition: (?P<why3>[^\n]+)
values =
    advice of why: Conflicting => Keep a default route (gateway4, to: default, DHCP's) on one interface. On the ports
    + between Sparks set none, and with DHCP set dhcp4-overrides use-routes: false
    advice of why: .*prefixlength|.*malformed address => Write the address with its prefix length, such as
    + 192.168.100.10/24
    advice of why: unknown renderer => Write renderer: networkd or renderer: NetworkManager, or remove that line
    advice of why: unknown key => Correct the key's name (ethernets, addresses, mtu) or its indentation
    advice of why: . => Correct that line. YAML is indented with spaces, not tabs
cause = netplan rejects the configuration[ {file}, line {line}]: {why}[ (on {one} and {other})].
remedy = {advice}. Check it with sudo netplan try, which reverts automatically.
source = achetronic/metal-cloud#7

[mtu-too-small]
keys = message too long, mtu
pattern = message too long, mtu[=:] ?(?P<mtu>\d+)
cause = A packet of the requested size does not pass: this interface's MTU is {mtu}.
remedy = Set the same MTU on both hosts and on the switch (sudo ip link set NAME mtu 9000; mtu: 9000 in netplan keeps
    it), or call ping with -s 28 bytes below the MTU.

[tun-not-permitted]
keys =
    net/tun
    tstun.New
pattern =
    (?:tstun\.New\('(?P<name>\w+)'\)|/dev/net/tun)[^\n]{0,60}?(?P<why>operation not permitted|Operation not permitted
    +|No such file or directory|no such file or directory|permission denied|Permission denied)
cause = The program may not create a virtual network interface[ {name}] ({why}).
remedy = Start it as root (in a container, with --device /dev/net/tun --cap-add NET_ADMIN), and load the module on the
    host (sudo modprobe tun). tailscaled also runs with --tun=userspace-networking.
source = https://tailscale.com/kb/1112/userspace-networking

[network-not-permitted]
keys = RTNETLINK answers: Operation not permitted
pattern = RTNETLINK answers: (Operation not permitted)
cause = Changing the network needs root ({found}).
remedy = Use sudo, or start the container with --cap-add NET_ADMIN (or change it on the host).

[host-not-answering]
keys = Destination Host Unreachable
pattern = From (?P<from>\S+) icmp_seq=\d+ Destination Host Unreachable
cause = The other host does not answer in its own network (requests from {from}): it is off, has another address or
    cable, or its port is down.
remedy = On both sides, compare ip -br addr (one subnet, the ports of one cable), ip -br link (state UP) and ethtool
    NAME (Link detected: yes).

[interface-missing]
keys =
    Cannot get device settings: No such device
    Cannot find device "
    does not exist.
    netlink error: No such device
    RTNETLINK answers: No such device
pattern =
    Cannot get device settings: No such device
    RTNETLINK answers: No such device
    Cannot find device '(?P<name1>[^'\n]+)'
    Device '(?P<name2>[^'\n]+)' does not exist
    ethtool: netlink error: No such device
cause = The network interface[ {name}] does not exist on this host.
remedy = Use a name that ip -br link shows. A Spark's ConnectX ports are enp1s0f0np0, enp1s0f1np1 and their twins
    enP2p1s0f0np0 and enP2p1s0f1np1; names can differ in another kernel or a container.

[address-exists]
keys =
    RTNETLINK answers: File exists
    Address already assigned
pattern =
    RTNETLINK answers: (File exists)
    (Address already assigned)
cause = The address or route already exists ({found}).
remedy = Check ip -br addr and ip route. If netplan or NetworkManager sets it, change it there; otherwise remove it
    first (ip addr del).

[network-setting-refused]
keys =
    RTNETLINK answers:
    : Could not set
    : Could not bring up
    Error: Nexthop has
    greater than device maximum
    prefix is expected rather than
    is a garbage
    SIOCS
    netlink error:
    ethtool: bad command
    device settings: Operation not supported
    sendmsg: No buffer space
    ping: socket
    ping:
    No chain/target/match
    unknown option "--
    ufw-init
    find a profile matching
    ERROR: Bad port
    determine iptables version
    Could not process rule
    cannot lookup
pattern =
    RTNETLINK answers: (?P<why>Invalid argument|Device or resource busy|Operation not supported|Numerical result out
    + of range|Network is unreachable|No such process|Cannot assign requested address)
    : Could not (?:set|bring up) (?:MTU|interface|route|address|nexthop)[^:\n]*: (?P<why5>Invalid argument|Network is
    + unreachable|Operation not supported|Nexthop has invalid gateway[^\n]*|Numerical result out of range)
    (?P<why2>Nexthop has invalid gateway|mtu greater than device maximum|prefix is expected rather than
    + '[^'\n]+'|'[^'\n]+' is a garbage|SIOCS\w+: [^\n]+|netlink error: [^\n]+|ethtool: bad command line|Cannot get
    + device settings: Operation not supported|sendmsg: No buffer space available|ping: socket: Operation not permitted)
    iptables(?: v\S+ \(\w+\))?: (?P<why3>No chain/target/match by that name|unknown option '[^'\n]+')
    (?P<why4>problem running ufw-init|Could not find a profile matching '[^'\n]+'|ERROR: Bad port|Couldn't determine
    + iptables version|Could not process rule: [^\n]+)
values =
    advice of why: Invalid|Num|mtu|SIOCSIFMTU => The device does not accept that value. Look up its limits (ip -d link
    + show: minmtu, maxmtu). Jumbo frames need mtu 9000 on both ends
    advice of why: Dev => Take the interface down first (sudo ip link set NAME down), or remove it from its bond or
    + bridge
    advice of why: Operation|Cannot get => The driver of that interface does not support it. For a virtual interface,
    + set it on the physical interface
    advice of why: Net|Nexth|Cannot ass => The gateway or address belongs to no network of this host: set the
    + interface's address first (with its /24; see ip -br addr), then the route
    advice of why: No such process => That route does not exist (ip route lists the routes)
    advice of why: SIOC|netlink => Check the interface's name (ip -br link) and the value
    advice of why: prefix|' => Correct the command (man ip-address): an address has the form 192.168.100.10/24
    advice of why: ethtool => Read ethtool --help, because the options depend on its release
    advice of why: sendmsg => The interface's queue is full: the link is down or stuck (ip -s link), or memory is low
    advice of why: ping => Use sudo, give the container CAP_NET_RAW, or run sudo setcap cap_net_raw+p $(command -v ping)
    advice of why: No chain => The chain or the kernel's module is missing. Restart docker (or the program that
    + created the chain), and load the module that the rule names (sudo modprobe)
    advice of why: unknown => Write -j TARGET or -m MODULE before that option, or use the other iptables
    + (update-alternatives --config iptables)
    advice of why: problem|Couldn => Reinstall iptables and ufw, check update-alternatives --config iptables, and
    + reboot if the kernel was upgraded. sudo /usr/lib/ufw/ufw-init start prints the reason
    advice of why: .*profile => Use a name from ufw app list, or allow the port: sudo ufw allow 8000/tcp
    advice of why: ERROR => Write a number with its protocol (8000/tcp, 8000:8010/tcp)
    advice of why: . => The table, the chain or the kernel module is missing (nft list ruleset; sudo modprobe nf_tables)
cause = A network setting was rejected: {why}.
remedy = {advice}.
source = https://man7.org/linux/man-pages/man8/ip.8.html

[mdns-name-unknown]
keys =
    Failed to resolve host name '
    .local
pattern =
    Failed to resolve host name '([\w-]+\.local)'
    (?<![\w.-])([\w-]+\.local)\b:? [^\n]*(?:Name or service not known|Temporary failure in name resolution|not known)
    (?<![\w.-])([\w-]+\.local): Name or service not known
    Could not resolve host(?:name)?:? ([\w-]+\.local)\b
cause = No host in this network answers to the name {found}. mDNS reaches only hosts of the same network, and needs
    Avahi on both sides.
remedy = Check avahi-daemon on that host, libnss-mdns here and port 5353/udp in the firewall (ufw), and compare the name
    with its hostname (a second host with that name is NAME-2.local). Otherwise use its address or /etc/hosts.

[ssh-no-common-algorithm]
keys = Unable to negotiate with
pattern =
    Unable to negotiate with (?P<host>\S+) port \d+: (?P<why>no matching [\w ]+) found\. Their offer: (?P<offer>\S+)
cause = This ssh and {host} have no algorithm in common ({why}): the other side is older and offers {offer}.
remedy = Update the other side's ssh (a switch, a NAS). Until then, allow an old algorithm only for that host in
    ~/.ssh/config (HostKeyAlgorithms +ssh-rsa, or KexAlgorithms).

[ssh-config-owner]
keys = Bad owner or permissions on
pattern = Bad owner or permissions on (\S+)
cause = ssh does not use {found}, because another account owns it or can write to it.
remedy = Make this account its owner (chown), and remove others' access (chmod 600).

[ssh-agent-missing]
keys = connection to your authentication agent
pattern = (Could not open a connection to your authentication agent)
cause = ssh-add has no agent for the key ({found}).
remedy = Start one in this shell (eval "$(ssh-agent -s)"), then run ssh-add. Without an agent, name the key with -i or
    IdentityFile.

[ssh-key-damaged]
keys = Load key "
pattern = Load key '(?P<file>[^'\n]+)': (?P<why>error in libcrypto|invalid format|incorrect passphrase[^\n]*)
cause = ssh cannot read the private key {file} ({why}): it is not an OpenSSH key, was truncated or changed by a copy
    (its last line must end with a newline, and Windows line ends are invalid), or is the public key.
remedy = Copy it again unchanged, convert it (dos2unix {file}; a PuTTY key with puttygen -O private-openssh), and check
    it with ssh-keygen -y -f {file}.

[sshd-not-started]
keys =
    no hostkeys available -- exiting
    Missing privilege separation directory
pattern =
    (no hostkeys available)
    (Missing privilege separation directory: /run/sshd)
values =
    advice of found: no => Create them (sudo ssh-keygen -A), for an image in its entry point
    advice of found: . => Create it first (mkdir -p /run/sshd); in a container no unit does that
cause = The ssh server does not start: {found}.
remedy = {advice}, then start it again.

[ssh-forward-taken]
keys =
    cannot listen to port
    Could not request local forwarding
pattern =
    cannot listen to port: (?P<port>\d+)
    (Could not request local forwarding)
cause = ssh -L could not open the port[ {port}] on this side, because another program (usually an earlier tunnel) holds
    it.
remedy = Stop that program (ss -ltnp shows it), or choose another local port (-L 18888:localhost:8888).

[ssh-tunnel-target]
keys = open failed: connect failed
pattern = open failed: (?:connect failed|administratively prohibited): (?P<why>[\w ]+)
cause = The ssh tunnel is open, but the connection at its other end failed: {why}.
remedy = On the other host, check that the program listens on that address and port (ss -ltnp). localhost in -L is the
    other host itself, and a container needs a published port.

[ssh-home-open]
keys = Authentication refused: bad ownership or modes
pattern = Authentication refused: bad ownership or modes for (?:directory|file) (\S+)
cause = The ssh server does not use the account's keys, because others may write to {found}.
remedy = Make the account the owner of all these paths, and remove others' write access: chmod go-w {found}, chmod 700
    ~/.ssh, chmod 600 ~/.ssh/authorized_keys.

[ssh-other-openssl]
keys = OpenSSL version mismatch
pattern = OpenSSL version mismatch\. Built against (?P<built>\w+), you have (?P<have>\w+)
cause = ssh loads OpenSSL {have}, but was built with {built}: conda's or an image's library precedes the system's.
remedy = Run conda deactivate or unset LD_LIBRARY_PATH for it (env -u LD_LIBRARY_PATH ssh …), or install openssh in that
    environment too.

[ssh-no-key]
keys = ERROR: No identities found
pattern = ssh-copy-id: ERROR: (No identities found)
cause = This account has no ssh key yet ({found}).
remedy = Create one (ssh-keygen -t ed25519), then run ssh-copy-id again.
source = https://manpages.ubuntu.com/manpages/noble/man1/ssh-copy-id.1.html

[ssh-broken-pipe]
keys =
    client_loop: send disconnect
    packet_write_wait:
pattern =
    client_loop: send disconnect: (Broken pipe|Connection reset)
    packet_write_wait: [^\n]{1,80}: (Broken pipe)
cause = The ssh connection was lost ({found}): the other host slept, restarted or ran out of memory, or a router forgot
    the idle connection.
remedy = Set ServerAliveInterval 30 in ~/.ssh/config, run long work in tmux or as a service, and read the other host's
    journal from that time.

[rsync-shell-not-clean]
keys = is your shell clean?
pattern = protocol version mismatch -- (is your shell clean)
cause = The other host's shell prints text when it starts, which mixes with rsync's data, or that host has no rsync.
remedy = Change ~/.bashrc to print nothing without a terminal (ssh HOST true must print nothing), and install rsync on
    both hosts.
source = dot-star/dot-star#74

[rsync-code]
keys = rsync error:
pattern = rsync error: (?P<why>[^\n(]{5,120}?) \((?:see previous errors\) \()?(?:code (?P<code>1[013]|2[0-5]|35))
values =
    advice of code: 23$ => Read the lines above, which name each file that was not copied and why (path, permissions,
    + space)
    advice of code: 24$ => Files vanished during the copy. Run it again when nothing writes there
    advice of code: (10|12|30|35|255)$ => First try ssh to that host alone: the connection ended, rsync is not
    + installed there, or the shell there prints text when it starts
    advice of code: 11$ => Check the target's free space (df -h, df -i) and its limit on a file's size (FAT)
    advice of code: 20$ => It was interrupted (Ctrl-C, a closed terminal). Run it again, and it continues
    advice of code: . => Look the number up in man rsync (EXIT VALUES)
uncertain = yes
cause = rsync ended with {code}: {why}.
remedy = {advice}.
source = https://download.samba.org/pub/rsync/rsync.1

[copy-path-refused]
keys =
    scp:
    rsync:
    some files/attrs were not transferred
pattern =
    scp: (?:dest open|stat (?:local|remote)|open local|realpath|write remote|local|remote mkdir|mkdir)?
    + ?'?(?P<path1>[^'\n:]+)'?: (?P<why1>No such file or directory|Failure|not a regular file|Permission denied)
    rsync: (?:\[\w+\] )?(?!link_stat)\w+(?:[: ]+\w+)? '?(?P<path2>[^'\n]+?)'?(?: \(in \S+\))? failed: (?P<why2>No such
    + file or directory|Permission denied|No space left on device|Operation not permitted|Is a directory|Not a
    + directory|Read-only file system)
values =
    advice of why: No such => Correct the path, which must exist on that side, as must the target's directory (ssh
    + HOST mkdir -p DIR). Relative paths start in the account's home
    advice of why: Fail|No space => The other side could not write. Check df -h and the quota there
    advice of why: not|Is|Not => Copy directories with scp -r, or rsync -a, onto a directory
    advice of why: Read => That file system is mounted read-only. Use another target
    advice of why: . => The other account may not do that. Use a directory that it owns, or rsync --rsync-path='sudo
    + rsync', and omit owners and groups (-rlt instead of -a)
cause = The copy to or from the other host failed at {path}: {why}.
remedy = {advice}.
source = https://man.openbsd.org/scp

[rsync-source-missing]
keys = link_stat "
pattern = link_stat '([^'\n]+)' failed: No such file or directory
cause = rsync cannot find {found} on the source side.
remedy = Correct the path (relative paths start in the remote account's home), and quote spaces.

[ssh-banner-timeout]
keys = during banner exchange
pattern =
    (Connection (?:timed out|closed|reset)[^\n]*) during banner exchange|(Connection to \S+ timed out while waitin
    +g to read)
values =
    why of found: .*timed => usually it is so short of memory or so busy that its ssh server cannot run
    why of found: . => its ssh server limits or refuses connections (MaxStartups, PerSourcePenalties, a firewall), or
    + another program listens on that port
    advice of found: .*timed => Wait, or switch it off and on. Then leave more memory free there (a smaller share for
    + the model server, fewer jobs), and read its journal from that time (journalctl -b -1 -e)
    advice of found: . => Try again after a minute, compare the port, and read the other host's journal (journalctl -u
    + ssh)
cause = The other host accepts the connection but does not answer ({found} during banner exchange): {why}.
remedy = {advice}.
source = MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks#193

[ssh-other-link]
keys = connect to host
pattern =
    connect to host (?P<host>\S+) port \d+: (?:Connection timed out|Operation timed out|No route to
    + host)\n[^\n]*(?:cannot reach IB address|falling back to (?:the )?management)
cause = This machine has no link to {host}, an address of the other host's fast ports: in a ring or mesh each pair of
    hosts has its own network, and the tool used another pair's address. It continues over the management network.
remedy = Set an address of that host that answers from here (ip route get ADDRESS shows the port, ping tests it), or
    update the tool: since 0.2.37, sparkrun uses only addresses that answer.
source = spark-arena/sparkrun#176

[ssh-setting-unknown]
keys =
    Bad configuration option
    bad configuration options
    open failed: administratively
    Session open refused by peer
    agent refused operation
    failed to open ID file
    PTY allocation request failed
    X11 forwarding request failed
    Cannot bind any address
    extra arguments
    unsupported option
    Unsupported KEX
pattern =
    (?<!\S)(?P<file1>/\S+?):? line (?P<line>\d+): (?P<why1>Bad configuration option: [^\n]+|[Uu]nsupported option
    + [^\n]+|keyword \S+ extra arguments[^\n]*)
    (?P<why2>Session open refused by peer|open failed: administratively prohibited|agent refused operation|failed to
    + open ID file '[^'\n]+'|PTY allocation request failed|X11 forwarding request failed|Cannot bind any address)
values =
    advice of why: Bad|[Uu]ns|key => Correct or remove that line (man ssh_config; for the server sshd_config, which
    + sudo sshd -t checks). The option is misspelt, or does not exist in this release
    advice of why: Session => The server allows no more sessions over one connection (MaxSessions), or the shared one
    + is stale: run ssh -O exit HOST, and connect again
    advice of why: open => The server forbids forwarding (AllowTcpForwarding yes in /etc/ssh/sshd_config), or the name
    + behind it is not known there
    advice of why: agent => The agent cannot use the key (its password, a token, too open a mode): run ssh-add -D,
    + chmod 600 on the key, and add it again with ssh-add
    advice of why: failed => Pass the public key (ssh-copy-id -i ~/.ssh/id_ed25519.pub), which ssh-keygen creates
    advice of why: PTY => The other side has no free terminal: mount devpts there, or omit -t
    advice of why: X11 => Set X11Forwarding yes and install xauth on the other host
    advice of why: . => Another program has port 22, or the address in ListenAddress is not this host's. Check sudo ss
    + -ltnp 'sport = :22'
cause = ssh failed[ ({file}, line {line})]: {why}.
remedy = {advice}.
source = https://man.openbsd.org/ssh_config

[ssh-cut-at-once]
keys =
    Connection closed by
    Connection reset by
pattern =
    ^(Connection (?:closed|reset) by (?:(?:remote host|authenticating user \S+) )?[\w.:-]+ port \d+)\.?$
uncertain = yes
cause = The other host, or a device in between, closed the ssh connection ({found}). Only its own log says why.
remedy = Read the log there (journalctl -u ssh -b): an account that may not log in, too many connections at once
    (MaxStartups), fail2ban, or a shell profile that exits. ssh -v shows how far it got.
source = https://man.openbsd.org/ssh

[ssh-not-reached]
keys = connect to host
pattern =
    connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>Connection refused|Connection timed out|Operation timed ou
    +t|No route to host|Network is unreachable)
values =
    advice of why: .*refused => On that host, install and start openssh-server (systemctl status ssh), and compare the
    + port
    advice of why: .*timed => First check that this host is connected to the address's network (ip route get with the
    + address shows the port in use): a host with several networks may answer on another address only. Then check that
    + the other host is on and has this address (ip -br addr there), and that no firewall drops the port
    advice of why: . => Compare the addresses of both hosts (ip -br addr): the cable, the interface or a route to that
    + network is missing here
cause = ssh could not reach {host} on port {port}: {why}.
remedy = {advice}.

[ssh-no-sftp]
keys = subsystem request failed on channel
pattern = (subsystem request failed) on channel \d+
cause = The other host's ssh has no sftp, which scp uses ({found}).
remedy = Use scp -O, or install openssh-sftp-server there.

[munge-refused]
keys =
    Munge decode failed
    Munge encode failed
pattern = Munge (?:decode|encode) failed: ([\w ]+)
cause = Slurm's hosts do not accept each other ({found}): their munge keys or their clocks differ, or munge does not
    run.
remedy = Copy the controller's /etc/munge/munge.key to all hosts (owner munge, mode 400), set the clocks, and restart
    munge and Slurm's daemons.

[slurm-gpu-count]
keys = count reported lower than configured
pattern = gres/gpu count reported lower than configured \((?P<have>\d+) < (?P<configured>\d+)\)
cause = Slurm drained the node, because its slurmd reports {have} GPUs, but slurm.conf has {configured}.
remedy = Make nvidia-smi work on the node and check its gres.conf (AutoDetect=nvml, or File=/dev/nvidia0; slurmd -G
    shows what it detects). Restart slurmd after the driver is loaded (at boot, too), then run sudo scontrol update
    nodename=NODE state=resume. Correct the number in slurm.conf if it is wrong.
source = awslabs/awsome-distributed-ai#195

[slurm-refused]
keys =
    srun: error
    srun: fatal
    sbatch: error
    sbatch: fatal
    salloc: error
    slurmd: error
    slurmd: fatal
    slurmctld: error
    slurmctld: fatal
    slurmstepd: error
pattern =
    (?P<program>srun|sbatch|salloc|slurm\w+): (?:error|fatal): (?P<why>(?!\*\*\*|[^\n]*(?:task \d|[Ee]xited
    + with|[Kk]illed|oom|CANCELLED|Terminating))[^\n]{5,200}(?<!\.))
values =
    advice of why: .*gres\.conf file /dev/ => That device does not exist. Check that nvidia-smi works on the node
    + (sudo nvidia-modprobe -c 0 -u creates the devices once the driver is loaded), then restart slurmd. On a node
    + without a GPU, remove the line from gres.conf
    advice of why: Step requested GRES => Request no GPUs in srun inside the job, so the step gets all of the job's,
    + or name their type as the job does (--gres=gpu:TYPE:1)
    advice of why: .*SLURM_MEM_PER_ => Request memory in one way only. Within another job, unset that job's settings
    + (unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE)
    advice of why: .*cgroup_dbus => Set IgnoreSystemd=yes in cgroup.conf if systemd does not run (a container), or
    + start the container with systemd
    advice of why: .*(?:cgroup/v2|cgroup plugin) => Build Slurm with the development files of dbus and bpf
    + (libdbus-1-dev, libbpf-dev), or install the package with cgroup_v2.so. CgroupPlugin=disabled in cgroup.conf avoids
    + it
    advice of why: .*execve.*/slurm_script => The node's own copy of the job's script is gone. Keep SlurmdSpoolDir
    + (/var/spool/slurmd) out of /tmp, which is cleaned, and restart slurmd on that node
    advice of why: .*(?:gres|generic resource) => Declare the GPU on both sides: GresTypes=gpu and Gres=gpu:1 in
    + slurm.conf, Name=gpu File=/dev/nvidia0 in the node's gres.conf, then restart slurmctld and slurmd
    advice of why: .*NodeName => Name the node in slurm.conf as hostname -s prints it (or with NodeHostname=), the same
    + file on all hosts
    advice of why: .*(?:node configuration|More processors|Node count|memory) => Request what a node has (sinfo -N -o
    + "%N %c %m %G"; a Spark has 20 processors and one GPU), or correct RealMemory and CPUs in slurm.conf (slurmd -C
    + prints them)
    advice of why: .*(?:execve|No such file) => Put the program at that path on every node (a shared directory or an
    + image)
    advice of why: .*(?:contact slurm|controller|Connection refused|Zero Bytes|timed out) => Check that slurmctld and
    + slurmd run (systemctl status), reach each other (ports 6817 and 6818) and have the same munge key and time
    advice of why: .*(?:account|partition|qos|QOS) => Name a partition that sinfo shows, and an account that sacctmgr
    + shows
    advice of why: . => Read the log of slurmctld and of that node's slurmd (/var/log/slurm)
cause = Slurm's {program} failed: {why}.
remedy = {advice}.
source = https://slurm.schedmd.com/gres.html

[slurm-prolog]
keys =
    Prolog failure on node
    Epilog error
pattern = (?P<script>Prolog|Epilog) (?:failure|error) on node (?P<node>\S+)
uncertain = yes
cause = Slurm's {script} script failed on the node {node}, so Slurm revoked the job and drained the node.
remedy = Read slurmd's log on that node (SlurmdLogFile, journalctl -u slurmd) for the script's own error, correct it,
    then run sudo scontrol update nodename={node} state=resume.
source = AMDResearch/hpcfund#69

[slurm-memory]
keys = oom_kill event in
pattern = Detected (?P<count>\d+) oom[_-]kill event\S* in (?P<step>\S+)
cause = The kernel killed a process of the Slurm job ({step}), because it used more memory than the job's limit.
remedy = Request more (--mem), or reduce the program's use. On a GB10 the GPU's memory is the host's, so --mem includes
    it.

[umad-not-open]
keys = open UMAD port
pattern = can't open UMAD port
cause = InfiniBand's tools (ibstat, ibping) cannot open any port: there is no InfiniBand port (the Spark's ConnectX is
    Ethernet only), or /dev/infiniband/umad* needs root or is not in the container.
remedy = Use sudo, and for RoCE use its tools: rdma link show, ibv_devinfo, show_gids, ib_write_bw.

[sshd-login-refused]
keys = not allowed because
pattern = User (?P<user>\S+)(?: from \S+)? not allowed because (?P<why>[^\n]+)
values =
    advice of why: .*shell => Install that shell, or set an installed one for the account (sudo chsh -s /bin/bash
    + NAME; see /etc/shells)
    advice of why: .*(?:Allow|Deny|listed) => Add the account or its group to AllowUsers or AllowGroups in
    + /etc/ssh/sshd_config, and reload ssh
    advice of why: .*locked => Unlock it (sudo usermod -U NAME), or set a password
    advice of why: . => Correct its account, group or address in /etc/ssh/sshd_config, and reload ssh
cause = The ssh server refused the login of {user}: {why}.
remedy = {advice}.
source = https://man.openbsd.org/sshd_config

[tailscale-refused]
keys =
    connect to local tailscaled
    requires mentioning all
pattern =
    (failed to connect to local tailscaled)
    (requires mentioning all)\s+non-default flags
values =
    advice of found: failed => Start it: sudo systemctl enable --now tailscaled. In a container, run tailscaled itself
    + (with --tun=userspace-networking if /dev/net/tun is missing)
    advice of found: . => Run the command again with all the flags that it prints, or use tailscale set to change a
    + single setting
cause = The tailscale command failed: {found}.
remedy = {advice}.
source = https://tailscale.com/kb/1080/cli
"""
