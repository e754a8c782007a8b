# __init__.py in this directory explains the fields.

"""NCCL and RDMA

Messages from NCCL, Gloo and the RDMA tools on one of several hosts; the first rank that fails has the cause.
"""

RULES = r"""
[nccl-shared-memory]
keys =
    shared memory segment
    posix_fallocate
pattern =
    Error while creating shared memory segment (\S+)
    NCCL WARN Call to (posix_fallocate) failed : No space left on device
cause = /dev/shm is too small for NCCL ({found}): a container has 64 MB there unless it is told otherwise.
remedy = Start the container with a larger --shm-size (such as 10g) or with --ipc=host.
source = NVIDIA/nccl#342

[nccl-host-memory]
keys = Cuda failure
pattern = NCCL WARN Cuda failure (?:\d+ )?'(?P<why>peer access[^'\n]*|operation not supported)'
when = log-shows-shared-memory-transport
cause = NCCL shares host memory between the processes of one host through CUDA's virtual memory (cuMem), and this fails
    here: {why}.
remedy = Start all ranks with NCCL_CUMEM_HOST_ENABLE=0, which takes the older buffers in /dev/shm, or use a newer NCCL.
source = NVIDIA/nccl#1838

[rdma-queue-pair-interface]
keys = ibv_modify_qp failed
pattern = ibv_modify_qp failed with (?:error |\d+ )?(No such device)
cause = The RDMA device has no interface or GID behind what NCCL selected ({found}).
remedy = Compare show_gids with NCCL_IB_GID_INDEX, and check that the interface is up and has its address.
source = NVIDIA/nccl#799

[rdma-gid-chosen]
keys = ibv_modify_qp failed
pattern = ibv_modify_qp failed with (?:error |\d+ )?(?!No data)([\w ]+)(?:, on dev (?P<device>[\w:]+))?
when = log-shows-gid-index
cause = RDMA could not connect two ports[ (from {device})] with the GID that NCCL_IB_GID_INDEX={log_gid} chooses:
    {found}. Such an index may be that of a link-local address (fe80::) or of RoCE v1, and differs between hosts.
remedy = Unset NCCL_IB_GID_INDEX on all hosts, so that a recent NCCL chooses the GID itself, or name the index whose
    GID is RoCE v2 and ends in the port's IPv4 address, ::ffff:… in show_gids or ibv_devinfo -v[
    (NCCL_IB_GID_INDEX={log_gid_routable} in this log)].
source = NVIDIA/nccl#769

[rdma-no-route]
keys =
    ibv_modify_qp failed
    odify QP
pattern =
    ibv_modify_qp failed with (?:error |\d+ )?([\w ]+)(?:, on dev (?P<device>[\w:]+))?
    [Mm]odify QP(?: \w+)? (?:state )?to \w+: (?:errno:? )?([A-Za-z][\w ]+)
values =
    what of found: No data => the index of the GID that was chosen is not of this port any more
    what of found: Invalid argument => the port does not take the GID, MTU or address that was asked for
    what of found: .*(?:unreachable|[Nn]o route) => there is no route between their GIDs
    what of found: . => no answer came from the other side
    advice of found: Invalid argument => Leave NCCL_IB_GID_INDEX unset, or choose a GID of RoCE v2 with the port's
    + IPv4 address (show_gids), and give both sides one MTU (role fabric)
    advice of found: No data => Unset NCCL_IB_GID_INDEX on all hosts (in a compose file null, since an empty text
    + counts as 0), as an index changes when an interface goes down and up, and NCCL chooses the right one by itself
    advice of found: . => Check the fabric between the hosts (role fabric): the ports that NCCL pairs must be on one
    + cable or network, so limit NCCL_IB_HCA to those, or set NCCL_CROSS_NIC=0; leave NCCL_IB_GID_INDEX unset, or
    + choose a GID of RoCE v2 (show_gids); for a ring of three set NCCL_IB_SUBNET_AWARE_ROUTING=1
cause = RDMA could not connect two ports[ (from {device})]: {found}; {what}.
remedy = {advice}.
source = NVIDIA/nccl-tests#185

[rdma-port-event]
keys =
    Got async event
    Got async error event
    Got async fatal event
pattern =
    (?P<device>\w+:\d+)? ?Got async (?:error |fatal )?event ?: (?P<event>port error|[Pp]ort \w+|device fatal[\w ]*
    +|local \w+[\w ]*)
cause = The RDMA port[ {device}] reported {event} while NCCL used it: its link went down, or the card stopped.
remedy = Seat the cable anew on both hosts, and read the kernel's lines of that time (journalctl -k | grep mlx5), which
    tell why.

[rdma-timeout]
keys = Got completion
pattern =
    Got completion (?:from peer \S+ )?with (?:error |status=(?:IBV_WC_RETRY_EXC_ERR\()?)12\b(?:[^\n]*? hca (?P
    +<device>\w+))?
cause = RDMA timed out[ on {device}] (error 12, IBV_WC_RETRY_EXC_ERR): RoCE does not get through to the other host.
remedy = Check the fabric (role fabric): the cable, one MTU on both sides, and the GID of RoCE v2 with the port's IPv4
    address (show_gids, NCCL_IB_GID_INDEX); ib_write_bw tests the same way without NCCL.
source = NVIDIA/nccl#426

[ucx-transport-missing]
keys = are not available, please use one or more of
pattern =
    transports? (?P<what>'[^\n]{1,120}?) (?:is|are) not available, please use one or more of: (?P<have>[^\n]{1,200})
cause = The UCX in use has no transport {what}, only {have}.
remedy = Use a UCX that was built with it (./configure --with-cuda=/usr/local/cuda --with-verbs --enable-mt; ucx_info -d
    lists what one has), first on LD_LIBRARY_PATH, with libcuda.so.1 there (--gpus all), or name what it has in UCX_TLS.
source = LMCache/LMCache#605

[rdma-completion-refused]
keys = Got completion
pattern = Got completion (?:from peer \S+ )?with (?:error |status=(?:IBV_WC_\w+\()?)(?P<status>[1246]|9|1[01])\b
values =
    what of status: 4$ => this host's card did not accept the memory of the request, LOC_PROT
    what of status: [126]$ => this host's card refused the request
    what of status: 9$ => the other host refused the request, REM_INV_REQ
    what of status: 10$ => the other host refused access to its memory, REM_ACCESS
    what of status: . => the other host failed in it, REM_OP
    advice of status: 4$ => Try NCCL_NET_GDR_LEVEL=0 and NCCL_DMABUF_ENABLE=0 (a Spark has no GPUDirect RDMA; on
    + servers with GPUs switch ACS off), name the cabled ports in NCCL_IB_HCA, and use an rdma-core that fits NCCL
    advice of status: . => Run the same NCCL with the same NCCL_ variables on all hosts, and compare GID and MTU
cause = An RDMA request failed with status {status} ({what})[: the rdma-core here has no {log_dmabuf}, by which NCCL
    registers memory of the GPU]; waiting for other ranks follows from it.
remedy = {advice}; if NCCL_IB_DISABLE=1 helps, RDMA is at fault (role fabric).
source =
    eugr/spark-vllm-docker#150
    sgl-project/sglang#23143

[ucx-name-unknown]
keys =
    is not available, please use one or more of
    UCX WARN network device
pattern =
    UCX WARN (?P<kind2>network devices?) '?(?P<name2>[\w:.,-]+)'? (?:is|are) not available
    (?P<kind1>network device|transport) '(?P<name1>[^'\n]+)' is not available, please use one or more of: (?P<list>[
    +^\n]{1,160})
cause = UCX does not know the {kind} {name} here[; there are {list}].
remedy = Correct UCX_NET_DEVICES or UCX_TLS to one that ucx_info -d shows, or unset it; mlx5_0 is called rocep1s0f0 on
    a Spark.

[ucx-no-transport]
keys =
    no active messages transport
    ucp_ep_create failed
    no usable transports/devices
pattern =
    no usable transports/devices \((?P<list3>[^)\n]{3,160})\)
    ucp_ep_create failed: (?P<list2>[^\n]{3,100})
    no active messages transport to [^\n]*?: (?P<list1>[^\n]{1,160})
cause = UCX has no way to the other process: UCX_TLS or UCX_NET_DEVICES leaves none that reaches another host, or the
    card is not seen ({list}).
remedy = See what there is (ucx_info -d), then name a network beside shared memory (UCX_TLS=tcp,sm,self or rc,sm,self)
    and the port (UCX_NET_DEVICES=rocep1s0f0:1), or unset both; give a container --device /dev/infiniband.
source = openucx/ucx#4742

[ucx-retries]
keys = Transport retry count exceeded on
pattern = Transport retry count exceeded on (?P<device>[\w:]+)
cause = RDMA timed out on {device} (UCX: the transport's retries ran out): RoCE does not get through to the other host.
remedy = Check the fabric (role fabric): the cable, one MTU on both sides, and a GID of RoCE v2 with the port's IPv4
    address (show_gids; UCX_IB_GID_INDEX); UCX_NET_DEVICES names the port that both hosts share.

[nccl-collective-mismatch]
keys =
    collective mismatch error
    mismatch between collectives on ranks
pattern =
    (Detected mismatch between collectives on ranks)
    collective mismatch error, local size (\d+) remote size (?P<remote>\d+)
cause = Two ranks of one collective operation do different things ({found}[ and {remote}]): their settings differ.
remedy = Set the same NCCL variables and use one NCCL version on all hosts (NCCL_DEBUG_SUBSYS=ENV prints them).
source = NVIDIA/nccl#969

[nccl-versions-differ]
keys =
    Message truncated : received
    socketFinalizeAccept: wrong
    socketFinalizeConnect: wrong
    Mismatched NCCL version detected
    mismatch in rank count from procs
    Net : connecting to address
pattern =
    Net : (connecting to address\s+with family \d+) is neither AF_INET
    (socketFinalize(?:Accept|Connect): wrong magic \w+ != \w+)
    (mismatch in rank count from procs \d+ : \d+)
    (Mismatched NCCL version detected : rank \d+ version \d+ rank \d+ version \d+)
    (Message truncated : received \d+ bytes instead of \d+)
    (socketFinalizeAccept: wrong type \d+ != \d+)
cause = NCCL received what it does not understand ({found}): the ranks have different NCCL versions or settings, or an
    earlier run still has the address.
remedy = Use one NCCL version and the same variables on all hosts, and end processes that an earlier run left.
source = NVIDIA/nccl#1176

[nccl-net-plugin]
keys =
    NET plugin
    but no device matched
pattern =
    (NCCL_IB_HCA was set to \S+ but no device matched)
    (?:NCCL WARN )?(Failed to initialize (?:any )?NET plugin(?: \w+)?)$
cause = NCCL could use no network that it may use ({found}): NCCL_NET or NCCL_IB_HCA names what this host does not have,
    or a container does not see /dev/infiniband.
remedy = Set NCCL_IB_HCA on each host to names that `rdma link show` lists there (rocep1s0f0 on a Spark) or unset it and
    NCCL_NET; give a container --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1.
source = NVIDIA/nccl#958

[nccl-no-interface]
keys =
    no socket interface found
    NET/Socket : no interface found
    ncclSocketInit: connecting to address
pattern =
    Bootstrap : (no socket interface found)
    NET/Socket : (no interface found)
    ncclSocketInit: connecting to address +(with family \d+) is neither
cause = No network interface of this host matches NCCL_SOCKET_IFNAME ({found}).
remedy = Set it to a name that `ip -br addr` shows with an address on this host (enp1s0f0np0 on a Spark), or unset it.
source = marin-community/marin#6940

[nccl-wrong-interface]
keys =
    NCCL WARN Connect to
    NCCL WARN Net : Connect to
    ocketPollConnect:
    ocketStartConnect:
pattern =
    NCCL WARN (?:Net : )?Connect to (?P<peer1>\S+) failed : (?P<why1>[\w ]+)
    socket(?:Poll|Start)Connect: [Cc]onnect to (?P<peer2>\S+) (?:returned|failed :?) ?(?:\d+\()?(?P<why2>[\w ]+)
values =
    where of peer: (?:172\.(?:1[6-9]|2\d|3[01])\.|127\.) => that is mostly an address of a container's network or of
    + the host itself, which other hosts do not reach
    where of why: .*refused => nothing listens there any more, as when that rank has ended, or a firewall rejects it
    where of why: .*(?:[Nn]o route|unreachable) => that host's firewall rejects it, or the interface has no way to that
    + network
    where of why: . => the interface belongs to another network, or a firewall drops the connection
cause = NCCL could not reach {peer} ({why}): {where}.
remedy = Set NCCL_SOCKET_IFNAME on all hosts to the interface between them, or leave others out
    (^lo,docker,br-,veth), and allow that network in the firewall (sudo ufw allow from the network); if that
    address is right, read the log of its rank for an earlier error.
source = pytorch/pytorch#68893

[nccl-no-ib]
keys = NET/IB : No device found
pattern = NCCL WARN NET/IB : (No device found)
cause = NCCL sees no RDMA device ({found}): its container has no /dev/infiniband, NCCL_IB_HCA names another, or the
    ports are down.
remedy = Look at ibdev2netdev on the host; give the container --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit
    memlock=-1, and unset NCCL_IB_HCA or set it to rocep1s0f0 and the like.

[perftest-exchange]
keys = Failed to exchange data between server and clients
pattern = (Failed to exchange data between server and clients)
cause = The two sides of perftest do not understand each other ({found}): their versions or options differ, or one
    ended.
remedy = Start both with the same options in the same version of perftest, the server first, with the port and the index
    of its GID named on both (-d, -x 3: show_gids says which is RoCE v2 with the IPv4 address), and read the other
    side's lines.

[rdma-mtu]
keys = Requested mtu is higher than active mtu
pattern = (Requested mtu is higher than active mtu)
cause = The test was asked for a larger RDMA MTU than the port has ({found}).
remedy = Leave -m out, or raise the interface's MTU on both sides (9000 gives an active MTU of 4096; role fabric).

[rdma-no-device]
keys =
    rdma_create_event_channel() failed
    No IB devices found
    Unable to find the Infiniband/RoCE device
    Failed to get IB device
    IB device mlx5_
    IB device roce
pattern =
    (rdma_create_event_channel\(\) failed)
    (No IB devices found)
    (Unable to find the Infiniband/RoCE device)
    (Failed to get IB devices? list[^\n]*)
    (IB device \w+ not found)
cause = No RDMA device of that name is seen here ({found}).
remedy = Look at ibdev2netdev or rdma link show on the host, and name a device from there (-d rocep1s0f0 on a Spark); if
    there is none, load the modules (sudo modprobe -a mlx5_ib rdma_ucm); in a container pass --device /dev/infiniband.

[rdma-port-down]
keys = state is Down
pattern = Port number (\d+) state is Down
cause = The RDMA port {found} is down: it has no cable or no other side, or its network interface is not up.
remedy = Look at ibdev2netdev: take the device that is Up, plug the cable into that port (both ends), and set the
    interface up (ip link set … up, or netplan).

[rdma-cm-rejected]
keys = Unexpected CM event
pattern = Unexpected CM event(?: bl blka)? (\d+)
cause = The other side was not reached or refused the RDMA connection (event {found} of the connection manager).
remedy = Start the server with the same options (-R) first, use its address in the network of the RDMA ports, and open
    the port in the firewall (ufw).

[nccl-duplicate-gpu]
keys = Duplicate GPU detected
pattern = Duplicate GPU detected : (rank \d+ and rank \d+) both on CUDA device (?P<device>\w+)
cause = Two ranks of one job run on the same GPU ({found}, device {device}), and a Spark has one.
remedy = Start one rank on each Spark (a tensor parallel size of the number of Sparks), and give each rank its own
    device.
source = NVIDIA/Megatron-LM#661

[gloo-rdma-failed]
keys = wc->status == IBV_WC_SUCCESS
pattern = wc->status == IBV_WC_SUCCESS\. (?P<status>\d+) vs 0\.(?: [^\n:]*: (?P<why>[^\n]{3,120}))?
cause = A request of Gloo over RDMA failed (status {status}[, {why}]): its connection does not get through, mostly
    since Gloo takes port 1 and index 0 of the card, whose address is a link-local one.
remedy = Give it the index whose GID holds the port's IPv4 address as RoCE v2 (show_gids), the same on both sides
    (--ib-index, --ib-port of its benchmark), or let it use TCP (--transport tcp).
source = pytorch/gloo#147

[gloo-interface]
keys = nable to find address for:
pattern = Unable to find address for: (\S+)
cause = GLOO_SOCKET_IFNAME is {found}, which is no interface with an address on this host (Gloo takes plain names of
    interfaces only, neither ^lo nor a part of an address).
remedy = Set GLOO_SOCKET_IFNAME to an interface whose address reaches the other host, such as enp1s0f0np0, or unset it;
    an image may bring its own value.
source = tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark#13

[gloo-loopback]
keys =
    connectFullMesh failed
    gloo/transport/tcp/
pattern =
    Gloo connectFullMesh failed with \[\S+\]\s*(?:timed out connecting: )?SO_ERROR: (?P<why1>[^,\n]+), remote
    +=\[(?P<remote1>127\.[^\]\n]+)\]
    gloo/transport/tcp/\w+\.cc:\d+\] connect \[(?P<remote2>127\.[\d.]+)\]:\d+: (?P<why2>\w[\w ]+)
cause = A Gloo process published {remote}, which no other host reaches ({why}): /etc/hosts gives its host's name that
    address.
remedy = Put each host's real address behind its name in /etc/hosts, or set GLOO_SOCKET_IFNAME on each host to the
    interface between the hosts.
source = sgl-project/sglang#3226

[gloo-full-mesh]
keys = connectFullMesh failed
pattern =
    Gloo connectFullMesh failed with \[\S+\]\s*(?:(?:timed out connecting: )?SO_ERROR: (?P<why>[^,\n]+), remote
    +=\[(?P<remote>[^\]\n]+)\])?
uncertain = yes
cause = Gloo processes do not reach each other[: {why} at {remote}]: one published an address that only its own host
    reaches, such as that of docker0, a firewall is between them, or a process ended before the others had connected.
remedy = Set GLOO_SOCKET_IFNAME on each host to the interface between the hosts, put each host's real address behind
    its name in /etc/hosts, and read the log of the process at that address.
source = sgl-project/sglang#3226

[c10d-rendezvous]
keys =
    client socket has failed to connect
    client socket has timed out
pattern =
    client socket has (?:failed|timed out)[^\n]*? to connect to (?:any network address of )?\(?([^\s),]+(?:, \d+)?)
cause = The rank that all others meet at ({found}) is not reached: it does not run, is in another network, or a firewall
    rejects its port.
remedy = Set MASTER_ADDR to its address in the network between the hosts, start it first, and open the port in the
    firewall (ufw).
source = huggingface/accelerate#2468

[rdma-peer-unreachable]
keys = Failed to modify QP to RT
pattern = Failed to modify QP to (?P<state>RT[RS]), check mtu, gid, peer lid, peer qp num: (?P<why>[\w ]+?)(?: \[|$)
cause = The RDMA ports that were paired do not reach each other ({state}: {why}): they are in two networks, or the GID
    that was chosen does not get there, such as a link-local one (fe80).
remedy = Name on both hosts only the devices of one network, and the index of a RoCE v2 GID with an IPv4 address
    (show_gids lists them).
source = kvcache-ai/Mooncake#204

[rdma-plugin-mtu]
keys = ibv_modify_qp to RTR failed
pattern = ibv_modify_qp to RTR failed: (?P<why>Invalid argument)
when = log-shows-active-mtu
cause = The NCCL plugin could not bring its queue pair to RTR ({why}), as when it asks for a larger RDMA MTU than the
    port has: {log_mtu} is active here.
remedy = Give the interfaces of both ends one larger MTU (ip link set DEV mtu 9000, which makes 4096 active; role
    fabric), or take a newer plugin, which asks for the port's active MTU.
source = autoscriptlabs/nccl-mesh-plugin#12

[rdma-no-gid]
keys = Failed to modify QP
pattern = Failed to modify QP \d+ to (RTR|RTS|INIT)
cause = The RDMA port could not be brought to {found}: it has no usable GID, because its network interface is missing
    (in this container) or has no address.
remedy = Bring the interface up with its address (in a container: --network host and --device /dev/infiniband), and
    choose a GID index that show_gids lists (-x).
source = Mellanox/k8s-rdma-shared-dev-plugin#72

[rdma-not-permitted]
keys =
    Unable to create QP
    get device attributes
    create IB resources
    Unable to open device
    get context for the device
pattern =
    (Unable to open device \w+|Couldn't get context for the device)
    (Couldn't get device attributes|Unable to create QP|Couldn't create IB resources)
cause = The program may not use the RDMA device ({found}): in a container the device or the right to lock memory is
    missing.
remedy = Pass --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1 to the container.
source = Mellanox/k8s-rdma-shared-dev-plugin#105

[rdma-perftest-timeout]
keys = Failed status 12
pattern = Failed status (12)\b[^\n]*
cause = perftest got no answer from the other side (status {found}: the transport's retries ran out), as when the two
    sides use GIDs of different indexes.
remedy = Give both sides the same index of a RoCE v2 GID with an IPv4 address (-x 3; show_gids lists them), and where
    nothing gets through check the fabric (role fabric).
source = linux-rdma/perftest#44

[rdma-gpu-memory]
keys = Failed status 4: wr_id
pattern = (Failed status 4: wr_id \d+)
cause = The network card could not access the memory that it was given ({found}), such as the GPU's with --use_cuda:
    NVIDIA does not support GPUDirect RDMA on a DGX Spark.
remedy = Test with the host's memory, without --use_cuda, and with messages of 64 KiB at most (-s 65536): on some Sparks
    perftest itself fails so with longer ones, while NCCL works.
source =
    linux-rdma/perftest#394
    https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html

[mpi-slots]
keys = There are not enough slots available
pattern = There are not enough slots available in the system to satisfy the (\d+)
cause = mpirun was asked for {found} processes, and the hosts that it was given have fewer slots: a host without a
    number counts as one on its command line.
remedy = Give each host its number of processes (--host spark-a:1,spark-b:1, or slots=1 in the host file), or ask for
    fewer with -np.
source = open-mpi/ompi#3133

[mpi-no-program]
keys = was unable to launch the specified application
pattern = mpi(?:run|exec) was unable to launch the specified application as it could not access\s+or execute
cause = mpirun did not find its program on one of the hosts.
remedy = Put the program at the same path on every host (mpirun copies none), and name it by that path.
source = veg/hyphy#1751

[perftest-no-server]
keys = Couldn't connect to
pattern = Couldn't connect to (?P<address>[\w.:-]+:\d+)\s*(?:\n[^\n]*){0,2}?init the socket connection
cause = perftest's client did not reach its other side at {address} over TCP, before any RDMA was tried.
remedy = Start the same command without an address on the other host first, and open that port in its firewall (ufw).
source = linux-rdma/perftest#228

[connectx-subnets]
keys = share the subnet
pattern = interfaces (\S+ and \S+) share the subnet (?P<subnet>\S+)
cause = Two interfaces of one ConnectX-7, {found}, have addresses in the same subnet {subnet}, so that the traffic of
    one leaves by the other.
remedy = Give each half of the port a subnet of its own (role fabric).
source = eugr/spark-vllm-docker#270

[connectx-missing]
keys = No CX7 interfaces detected
pattern = (No CX7 interfaces detected on any host)
cause = No ConnectX-7 interface was found ({found}): the cable or the module is missing, or its driver is not loaded.
remedy = Look at ibdev2netdev and at mlx5_core in the kernel's log on each host.
source = spark-arena/sparkrun#203

[mlx5-not-started]
keys =
    mlx5_load_one failed
    mlx5_init_one failed
    handle_hca_cap failed
    wait for FW pre-init timed out
pattern =
    mlx5_core (?P<device2>[\w:.]+): [^\n]*?(?P<step2>wait for FW pre-init timed out)
    mlx5_core (?P<device>[\w:.]+): [^\n]*?(?P<step>mlx5_\w+_one|handle_hca_cap) failed(?: with error code (?P<code>-\d
    ++))?
uncertain = yes
cause = The kernel's driver could not start the ConnectX card {device} ({step}[, {code}]), so that it has no interface
    and no RDMA: mostly this driver and the card's firmware do not fit each other.
remedy = Boot a kernel whose mlx5_core supports the card and its firmware; update the firmware only by the vendor's way.
source = PeterSuh-Q3/tinycore-redpill#9

[rdma-provider-missing]
keys =
    couldn't load driver 'lib
    open config directory '/etc/libibverbs.d
pattern =
    couldn't load driver '(?P<provider>[\w.-]+)'
    couldn't open config (?P<directory>directory '/etc/libibverbs\.d')
cause = libibverbs has no driver for the card[: {provider} is missing or of another release][ (no {directory})], so the
    program cannot use RDMA.
remedy = Install rdma-core's packages where the program runs, in the container too, all of one release (apt install
    ibverbs-providers libibverbs1 librdmacm1), and do not mix them with those of DOCA or MLNX_OFED; ibv_devinfo must
    list the ports.
source = https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/init.c

[rdma-dmabuf-unsupported]
keys = ibv_reg_dmabuf_mr
pattern =
    ibv_reg_dmabuf_mr\w*(?:\(\))? failed(?: with error)?:? (?P<why>Operation not supported|Bad address|Invalid argument)
cause = The GPU's memory could not be registered with the RDMA card through DMA-BUF ({why}): this kernel, driver,
    rdma-core or GPU does not support it, as on a DGX Spark, where NCCL may report it as enabled.
remedy = Set NCCL_DMABUF_ENABLE=0 on all hosts, or use a newer NCCL, which then copies through host memory by itself; a
    newer kernel, driver or DOCA may support it on another GPU.
source =
    NVIDIA/nccl#778
    https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html
"""
