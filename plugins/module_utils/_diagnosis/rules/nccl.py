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
cause = /dev/shm is too small for NCCL ({found}). A container has 64 MB there by default.
remedy = Start the container with a larger --shm-size (such as 10g) or with --ipc=host.
source = NVIDIA/nccl#342

[nccl-host-memory]
keys = Cuda failure
pattern = NCCL WARN Cuda failure (?:\d+ )?'(?P<why>peer access[^'\n]*|operation not supported)'
when = log-shows-shared-memory-transport
cause = NCCL shares host memory between the processes of one host through CUDA's virtual memory (cuMem), which fails
    here: {why}.
remedy = Start all ranks with NCCL_CUMEM_HOST_ENABLE=0, which uses the older buffers in /dev/shm, or use a newer NCCL.
source = NVIDIA/nccl#1838

[rdma-queue-pair-interface]
keys =
    ibv_modify_qp failed
    RoceGetVersionNum
pattern =
    ibv_modify_qp failed with (?:error |\d+ )?(No such device)
    (?:read failed in|Check failed:) (\w*IbRoceGetVersionNum)
cause = The RDMA device has no interface or GID for NCCL's selection ({found}).
remedy = Compare show_gids with NCCL_IB_GID_INDEX (UCCL: UCCL_IB_GID_INDEX), set the index of a RoCE v2 GID with an IPv4
    address, and check that the interface is up and has its address.
source = NVIDIA/nccl#799

[rdma-gid-chosen]
keys = ibv_modify_qp failed
pattern = ibv_modify_qp failed with (?:error |\d+ )?(?!No data)([\w ]+)(?:, on dev (?P<device>[\w:]+))?
when = log-shows-gid-index
cause = RDMA could not connect two ports[ (from {device})] with the GID that NCCL_IB_GID_INDEX={log_gid} selects:
    {found}. The index may belong to a link-local address (fe80::) or to RoCE v1, and differs between hosts.
remedy = Unset NCCL_IB_GID_INDEX on all hosts, so that a recent NCCL chooses the GID itself, or set the index whose GID
    is RoCE v2 and ends in the port's IPv4 address, ::ffff:… in show_gids or ibv_devinfo -v[
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
    what of found: No data => this port no longer has the selected GID index
    what of found: Invalid argument => the port does not accept the requested GID, MTU or address
    what of found: .*(?:unreachable|[Nn]o route) => there is no route between their GIDs
    what of found: . => the other side did not answer
    advice of found: Invalid argument => Leave NCCL_IB_GID_INDEX unset, or choose a RoCE v2 GID with the port's IPv4
    + address (show_gids), and set the same MTU on both sides (role fabric)
    advice of found: No data => Unset NCCL_IB_GID_INDEX on all hosts (in a compose file, set it to null, because an
    + empty text counts as 0): an index changes when an interface goes down and up, and NCCL chooses the right one
    + automatically
    advice of found: . => Check the fabric between the hosts (role fabric): the ports that NCCL pairs must be on the
    + same cable or network, so limit NCCL_IB_HCA to those, or set NCCL_CROSS_NIC=0; leave NCCL_IB_GID_INDEX unset, or
    + choose a RoCE v2 GID (show_gids); for a ring of three, set NCCL_IB_SUBNET_AWARE_ROUTING=1
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
remedy = Reconnect the cable on both hosts, and read the kernel's lines from that time (journalctl -k | grep mlx5),
    which say why.

[rdma-timeout]
keys = Got completion
pattern =
    Got completion (?:from peer \S+ )?with (?:error |status=(?:IBV_WC_RETRY_EXC_ERR\()?)12\b(?:[^\n]*? hca (?P
    +<device>\w+))?
cause = RDMA timed out[ on {device}] (error 12, IBV_WC_RETRY_EXC_ERR): RoCE packets do not reach the other host.
remedy = Check the fabric (role fabric): the cable, the same MTU on both sides, and the RoCE v2 GID with the port's IPv4
    address (show_gids, NCCL_IB_GID_INDEX). ib_write_bw tests the same path without NCCL.
source = NVIDIA/nccl#426

[ucx-transport-missing]
keys = are not available, please use one or more of
pattern =
    transports? (?P<what>'[^\n]{1,120}?) (?:is|are) not available, please use one or more of: (?P<have>[^\n]{1,200})
cause = The UCX in use does not have the transport {what}, only {have}.
remedy = Use a UCX that was built with it (./configure --with-cuda=/usr/local/cuda --with-verbs --enable-mt; ucx_info -d
    lists the transports), first on LD_LIBRARY_PATH, with libcuda.so.1 there (--gpus all), or set UCX_TLS to available
    transports.
source = LMCache/LMCache#605

[rdma-completion-refused]
keys = Got completion
pattern = Got completion (?:from peer \S+ )?with (?:error |status=(?:IBV_WC_\w+\()?)(?P<status>[1246]|9|1[01])\b
values =
    what of status: 4$ => this host's card did not accept the request's memory, LOC_PROT
    what of status: [126]$ => this host's card refused the request
    what of status: 9$ => the other host refused the request, REM_INV_REQ
    what of status: 10$ => the other host refused access to its memory, REM_ACCESS
    what of status: . => the request failed on the other host, REM_OP
    advice of status: 4$ => Try NCCL_NET_GDR_LEVEL=0 and NCCL_DMABUF_ENABLE=0 (a Spark has no GPUDirect RDMA; on GPU
    + servers, turn off ACS), set the cabled ports in NCCL_IB_HCA, and use an rdma-core that fits NCCL
    advice of status: . => Run the same NCCL with the same NCCL_ variables on all hosts, and compare GID and MTU
cause = An RDMA request failed with status {status} ({what})[: this rdma-core has no {log_dmabuf}, with which NCCL
    registers GPU memory]. Ranks that wait for others are a consequence.
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
cause = UCX does not know the {kind} {name} here[; it knows {list}].
remedy = Set UCX_NET_DEVICES or UCX_TLS to a name that ucx_info -d shows, or unset it. On a Spark, mlx5_0 is called
    rocep1s0f0.

[ucx-no-transport]
keys =
    no active messages transport
    ucp_ep_create failed
    no usable transports/devices
pattern =
    no usable transports/devices \((?P<list3>[^)\n]{3,160})\)
    ucp_ep_create failed: (?P<list2>[^\n]{3,100})
    no active messages transport to [^\n]*?: (?P<list1>[^\n]{1,160})
cause = UCX cannot connect to the other process: UCX_TLS or UCX_NET_DEVICES leaves no transport that reaches another
    host, or the card is not visible ({list}).
remedy = List the transports (ucx_info -d), then set a network as well as shared memory (UCX_TLS=tcp,sm,self or
    rc,sm,self) and the port (UCX_NET_DEVICES=rocep1s0f0:1), or unset both. Give a container --device /dev/infiniband.
source = openucx/ucx#4742

[ucx-retries]
keys = Transport retry count exceeded on
pattern = Transport retry count exceeded on (?P<device>[\w:]+)
cause = RDMA timed out on {device} (UCX: the transport's retries ran out): RoCE packets do not reach the other host.
remedy = Check the fabric (role fabric): the cable, the same MTU on both sides, and a RoCE v2 GID with the port's IPv4
    address (show_gids; UCX_IB_GID_INDEX). Set UCX_NET_DEVICES to the port that both hosts share.

[nccl-collective-mismatch]
keys =
    collective mismatch error
    mismatch between collectives on ranks
pattern =
    (Detected mismatch between collectives on ranks)
    collective mismatch error, local size (\d+) remote size (?P<remote>\d+)
cause = Two ranks of a collective operation run different operations ({found}[ and {remote}]), because their settings
    differ.
remedy = Set the same NCCL variables and use the same NCCL version on all hosts (NCCL_DEBUG_SUBSYS=ENV prints them).
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
cause = NCCL received an unknown message ({found}): the ranks have different NCCL versions or settings, or an earlier
    run still uses the address.
remedy = Use the same NCCL version and variables on all hosts, and end processes that an earlier run left.
source = NVIDIA/nccl#1176

[nccl-net-plugin]
keys =
    NET plugin
    but no device matched
pattern =
    (NCCL_IB_HCA was set to \S+ but no device matched)
    (?:NCCL WARN )?(Failed to initialize (?:any )?NET plugin(?: \w+)?)$
cause = NCCL found no network that it may use ({found}): NCCL_NET or NCCL_IB_HCA names something that this host does not
    have, or a container cannot see /dev/infiniband.
remedy = On each host, set NCCL_IB_HCA to names that `rdma link show` lists there (rocep1s0f0 on a Spark), or unset it
    and NCCL_NET. Give a container --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1.
source = NVIDIA/nccl#958

[nccl-no-interface]
keys =
    no socket interface found
    NET/Socket : no interface found
    ncclSocketInit: connecting to address
    Address family not supported by protocol
pattern =
    Bootstrap ?: (no socket interface found)
    NET/Socket : (no interface found)
    WARN Socket creation failed : (Address family not supported by protocol)
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
    where of peer: fe80 => it is a link-local IPv6 address, which NCCL cannot use here. Set NCCL_SOCKET_FAMILY=AF_INET,
    + and give the interface an IPv4 address
    where of peer: (?:172\.(?:1[6-9]|2\d|3[01])\.|127\.) => usually this address belongs to a container's network or to
    + the host itself, and other hosts cannot reach it
    where of why: .*refused => nothing listens there any more (that rank may have ended), or a firewall rejects the
    + connection
    where of why: .*(?:[Nn]o route|unreachable) => that host's firewall rejects the connection, or the interface has no
    + route to that network
    where of why: . => the interface belongs to another network, or a firewall drops the connection
cause = NCCL could not reach {peer} ({why}): {where}.
remedy = On all hosts, set NCCL_SOCKET_IFNAME to the interface between them, or exclude others (^lo,docker,br-,veth),
    and allow that network in the firewall (sudo ufw allow from the network). If the address is right, read the log of
    its rank for an earlier error.
source = pytorch/pytorch#68893

[nccl-no-ib]
keys = NET/IB : No device found
pattern = NCCL WARN NET/IB : (No device found)
cause = NCCL sees no RDMA device ({found}): its container has no /dev/infiniband, NCCL_IB_HCA names another device, or
    the ports are down.
remedy = Check ibdev2netdev on the host. Give the container --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit
    memlock=-1, and unset NCCL_IB_HCA or set it to rocep1s0f0 and the like.

[nccl-libfabric]
keys = NET/OFI
pattern = (?:NCCL WARN |^\W*)NET/OFI (?P<why>(?:[Cc]ould|[Ff]ail|[Uu]nable|[Nn]o|[Ee]rror)[^\n]{3,140})
cause = NCCL's plugin for libfabric (aws-ofi-nccl) failed: {why}.
remedy = Between Sparks it is not needed: export NCCL_NET_PLUGIN=none, and remove it from LD_LIBRARY_PATH. On a cluster
    that needs it, use the plugin's release for this NCCL.

[nccl-topology-incomplete]
keys = of node
pattern = (?P<part>Attribute \w+ of node \w+) not found
cause = NCCL does not find a part of the host's topology: {part}. It reads /sys, or the file in NCCL_TOPO_FILE.
remedy = Unset NCCL_TOPO_FILE and CUDA_VISIBLE_DEVICES for a try, let the container see /sys as the host does (no own
    mount or sandbox over it), and use a newer NCCL (NCCL_DEBUG=INFO with NCCL_TOPO_DUMP_FILE shows what it finds).
source = TinyLLaVA/TinyLLaVA_Factory#112

[nccl-address-families]
keys = .ss_family
pattern = (ss1\.ss_family == ss2\.ss_family)
cause = One host offers NCCL an IPv4 address and another an IPv6 address ({found}).
remedy = Set NCCL_SOCKET_FAMILY=AF_INET on all hosts, and NCCL_SOCKET_IFNAME to the interface between them, which must
    have an IPv4 address (ip -4 addr).
source = pytorch/pytorch#135355

[nccl-nvls]
keys =
    transport/nvls
    NVLS rank
pattern = NCCL WARN (?P<why>NVLS rank[^\n]{3,100}|Cuda failure \d+ [^\n]{3,60}|[^\n]{0,60}multicast[^\n]{0,60})
cause = NCCL could not set up NVLink SHARP (NVLS), which needs multicast memory over NVLink switches: {why}.
remedy = Turn it off (export NCCL_NVLS_ENABLE=0, in a container docker run -e). A Spark does not have it. On a host with
    NVLink switches, restart nvidia-fabricmanager, whose version must be the driver's, and reboot if that does not help.
source = NVIDIA/nccl#1769

[perftest-exchange]
keys = Failed to exchange data between server and clients
pattern = (Failed to exchange data between server and clients)
cause = The two sides of perftest do not understand each other ({found}): their versions or options differ, or one side
    ended.
remedy = Start both sides with the same options and the same version of perftest, the server first. Set the port and the
    GID index on both (-d, -x 3: show_gids lists the RoCE v2 GID with the IPv4 address), and read the other side's
    lines.

[rdma-mtu]
keys = Requested mtu is higher than active mtu
pattern = (Requested mtu is higher than active mtu)
cause = The test requested a larger RDMA MTU than the port has ({found}).
remedy = Omit -m, or raise the interface's MTU on both sides (9000 gives an active MTU of 4096; role fabric).

[rdma-no-device]
keys =
    rdma_create_event_channel() failed
    No IB devices found
    0 HCAs found
    Unable to find the Infiniband/RoCE device
    Failed to get IB device
    IB device mlx5_
    IB device roce
pattern =
    (rdma_create_event_channel\(\) failed)
    (No IB devices found|^0 HCAs found)
    (Unable to find the Infiniband/RoCE device)
    (Failed to get IB devices? list[^\n]*)
    (IB device \w+ not found)
cause = There is no RDMA device with that name here ({found}).
remedy = Check ibdev2netdev or rdma link show on the host, and use a device from there (-d rocep1s0f0 on a Spark). If
    there is none, load the modules (sudo modprobe -a mlx5_ib rdma_ucm). In a container, pass --device /dev/infiniband,
    and install ibverbs-providers and rdma-core in its image.

[rdma-port-down]
keys = state is Down
pattern = Port number (\d+) state is Down
cause = The RDMA port {found} is down: it has no cable or no peer, or its network interface is not up.
remedy = Check ibdev2netdev: use the device that is Up, plug the cable into that port (both ends), and set the interface
    up (ip link set … up, or netplan).

[rdma-cm-rejected]
keys = Unexpected CM event
pattern = Unexpected CM event(?: bl blka)? (\d+)
cause = The other side could not be reached, or refused the RDMA connection (event {found} of the connection manager).
remedy = Start the server with the same options (-R) first, use its address in the network of the RDMA ports, and open
    the port in the firewall (ufw).

[nccl-duplicate-gpu]
keys = Duplicate GPU detected
pattern = Duplicate GPU detected : (rank \d+ and rank \d+) both on CUDA device (?P<device>\w+)
cause = Two ranks of one job use the same GPU ({found}, device {device}), but a Spark has only one.
remedy = Start one rank on each Spark (tensor parallel size = number of Sparks), and give each rank its own device.
source = NVIDIA/Megatron-LM#661

[gloo-rdma-failed]
keys = wc->status == IBV_WC_SUCCESS
pattern = wc->status == IBV_WC_SUCCESS\. (?P<status>\d+) vs 0\.(?: [^\n:]*: (?P<why>[^\n]{3,120}))?
cause = A Gloo request over RDMA failed (status {status}[, {why}]) because its packets do not arrive. Usually Gloo uses
    the card's port 1 and index 0, whose address is link-local.
remedy = Set the index of the RoCE v2 GID with the port's IPv4 address (show_gids), the same on both sides (--ib-index,
    --ib-port of its benchmark), or let Gloo use TCP (--transport tcp).
source = pytorch/gloo#147

[gloo-interface]
keys = nable to find address for:
pattern = Unable to find address for: (\S+)
cause = GLOO_SOCKET_IFNAME is {found}, but this host has no interface of that name with an address. Gloo accepts only
    plain interface names, neither ^lo nor part of an address.
remedy = Set GLOO_SOCKET_IFNAME to an interface whose address reaches the other host, such as enp1s0f0np0, or unset it.
    An image may set its own value.
source = tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark#13

[gloo-loopback]
keys =
    connectFullMesh failed
    gloo/transport/tcp/
pattern =
    Gloo connectFullMesh failed with \[\S+\]\s*(?:timed out connecting: )?SO_ERROR: (?P<why1>[^,\n]+), remote
    +=\[(?P<remote1>127\.[^\]\n]+)\]
    gloo/transport/tcp/\w+\.cc:\d+\] connect \[(?P<remote2>127\.[\d.]+)\]:\d+: (?P<why2>\w[\w ]+)
cause = A Gloo process published {remote}, which no other host can reach ({why}), because /etc/hosts gives its host's
    name that address.
remedy = Give each host's name its real address in /etc/hosts, or set GLOO_SOCKET_IFNAME on each host to the interface
    between the hosts.
source = sgl-project/sglang#3226

[gloo-full-mesh]
keys = connectFullMesh failed
pattern =
    Gloo connectFullMesh failed with \[\S+\]\s*(?:(?:timed out connecting: )?SO_ERROR: (?P<why>[^,\n]+), remote
    +=\[(?P<remote>[^\]\n]+)\])?
uncertain = yes
cause = Gloo processes cannot reach each other[: {why} at {remote}]. One published an address that only its own host can
    reach, such as that of docker0; a firewall is between them; or a process ended before the others had connected.
remedy = On each host, set GLOO_SOCKET_IFNAME to the interface between the hosts, and give each host's name its real
    address in /etc/hosts. Read the log of the process at that address.
source = sgl-project/sglang#3226

[c10d-rendezvous]
keys =
    client socket has failed to connect
    client socket has timed out
pattern =
    client socket has (?:failed|timed out)[^\n]*? to connect to (?:any network address of )?\(?([^\s),]+(?:, \d+)?)
cause = The other ranks cannot reach the rank at which they meet ({found}): it is not running, it is in another network,
    or a firewall rejects its port.
remedy = Set MASTER_ADDR to that rank's address in the network between the hosts, start it first, and open the port in
    the firewall (ufw).
source = huggingface/accelerate#2468

[rdma-peer-unreachable]
keys = Failed to modify QP to RT
pattern = Failed to modify QP to (?P<state>RT[RS]), check mtu, gid, peer lid, peer qp num: (?P<why>[\w ]+?)(?: \[|$)
cause = The paired RDMA ports cannot reach each other ({state}: {why}): they are in two networks, or the selected GID,
    such as a link-local one (fe80), does not reach the other.
remedy = On both hosts, set only the devices of one network, and the index of a RoCE v2 GID with an IPv4 address
    (show_gids lists them).
source = kvcache-ai/Mooncake#204

[rdma-plugin-mtu]
keys = ibv_modify_qp to RTR failed
pattern = ibv_modify_qp to RTR failed: (?P<why>Invalid argument)
when = log-shows-active-mtu
cause = The NCCL plugin could not bring its queue pair to RTR ({why}). This happens if it requests a larger RDMA MTU
    than the port has: {log_mtu} is active here.
remedy = Set the same larger MTU on the interfaces of both ends (ip link set DEV mtu 9000, which makes 4096 active; role
    fabric), or use a newer plugin, which requests the port's active MTU.
source = autoscriptlabs/nccl-mesh-plugin#12

[rdma-no-gid]
keys = Failed to modify QP
pattern = Failed to modify QP \d+ to (RTR|RTS|INIT)
cause = The RDMA port could not be brought to {found}: it has no usable GID, because its network interface is missing
    (in this container) or has no address.
remedy = Bring the interface up with its address (in a container, --network host and --device /dev/infiniband), and
    choose a GID index that show_gids lists (-x).
source = Mellanox/k8s-rdma-shared-dev-plugin#72

[rdma-not-permitted]
keys =
    Unable to create QP
    get device attributes
    create IB resources
    Unable to open device
    Failed to open device
    get context for the device
pattern =
    ^(Failed to open device)$
    (Unable to open device \w+|Couldn't get context for the device)
    (Couldn't get device attributes|Unable to create QP|Couldn't create IB resources)
cause = The program may not use the RDMA device ({found}): the container lacks the device or the right to lock memory.
remedy = Pass --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1 to the container.
source = Mellanox/k8s-rdma-shared-dev-plugin#105

[rdma-perftest-timeout]
keys = Failed status 12
pattern = Failed status (12)\b[^\n]*
cause = perftest got no answer from the other side (status {found}: the transport's retries ran out). This happens if
    the two sides use GIDs with different indexes.
remedy = On both sides, set the same index of a RoCE v2 GID with an IPv4 address (-x 3; show_gids lists them). If
    nothing gets through, check the fabric (role fabric).
source = linux-rdma/perftest#44

[rdma-perftest-remote]
keys = Failed status 10
pattern = Failed status (10)\b[^\n]*
cause = The other side refused perftest's access to its memory (status {found}).
remedy = Start both sides new, with the same release and the same options (size, --use_cuda, -R), and with messages of
    at most 64 KiB (-s 65536): on some Sparks perftest itself fails with longer ones, while NCCL works. The kernel's log
    of the other host names the local error (journalctl -k | grep mlx5).
source = linux-rdma/perftest#394

[rdma-gpu-memory]
keys = Failed status 4: wr_id
pattern = (Failed status 4: wr_id \d+)
cause = The network card could not access the memory that it was told to use ({found}), such as GPU memory with
    --use_cuda. NVIDIA does not support GPUDirect RDMA on a DGX Spark.
remedy = Test with the host's memory, without --use_cuda, and with messages of at most 64 KiB (-s 65536): on some Sparks
    perftest itself fails this way with longer ones, while NCCL works.
source =
    linux-rdma/perftest#394
    https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html

[mpi-slots]
keys = There are not enough slots available
pattern = There are not enough slots available in the system to satisfy the (\d+)
cause = mpirun was asked for {found} processes, but its hosts have fewer slots. On its command line, a host without a
    number counts as one.
remedy = Set the number of processes for each host (--host spark-a:1,spark-b:1, or slots=1 in the host file), or ask for
    fewer with -np.
source = open-mpi/ompi#3133

[mpi-no-program]
keys = was unable to launch the specified application
pattern = mpi(?:run|exec) was unable to launch the specified application as it could not access\s+or execute
cause = mpirun did not find its program on one of the hosts.
remedy = Put the program at the same path on every host (mpirun does not copy it), and use that path in the command.
source = veg/hyphy#1751

[perftest-no-server]
keys = Couldn't connect to
pattern = Couldn't connect to (?P<address>[\w.:-]+:\d+)\s*(?:\n[^\n]*){0,2}?init the socket connection
cause = perftest's client could not reach its other side at {address} over TCP, before it tried RDMA.
remedy = On the other host, first start the same command without an address, and open that port in its firewall (ufw).
source = linux-rdma/perftest#228

[perftest-rdma-cm]
keys =
    Unable to perform rdma_client function
    times ADDR_ERROR
    Unable to perform rdma_server function
pattern =
    Received \d+ times (?P<event1>(?:ADDR|ROUTE)_ERROR)
    Unable to perform (?P<event2>rdma_(?:client|server)) function
cause = perftest's option -R could not find an RDMA port for that address ({event}).
remedy = Give it the address of the cabled port itself (rdma link and ip -br addr show which interface belongs to which
    device), not a host name of the other network, with both ports in one subnet; or leave out -R.
source = linux-rdma/perftest#132

[connectx-subnets]
keys = share the subnet
pattern = interfaces (\S+ and \S+) share the subnet (?P<subnet>\S+)
cause = Two interfaces of one ConnectX-7, {found}, have addresses in the same subnet {subnet}, so traffic for one leaves
    through the other.
remedy = Give each half of the port its own subnet (role fabric).
source = eugr/spark-vllm-docker#270

[connectx-missing]
keys = No CX7 interfaces detected
pattern = (No CX7 interfaces detected on any host)
cause = No ConnectX-7 interface was found ({found}): the cable or the module is missing, or its driver is not loaded.
remedy = Check ibdev2netdev, and mlx5_core in the kernel's log, on each host. If they are there, run sparkrun without
    --dry-run, from an account that needs no password for sudo.
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
cause = The kernel's driver could not start the ConnectX card {device} ({step}[, {code}]), so the card has no interface
    and no RDMA. Usually this driver and the card's firmware do not match.
remedy = Boot a kernel whose mlx5_core supports the card and its firmware. Update the firmware only in the way that the
    vendor describes.
source = PeterSuh-Q3/tinycore-redpill#9

[rdma-provider-missing]
keys =
    couldn't load driver 'lib
    open config directory '/etc/libibverbs.d
pattern =
    couldn't load driver '(?P<provider>libmlx[\w.-]+)'
    couldn't open config (?P<directory>directory '/etc/libibverbs\.d')
cause = libibverbs has no driver for the card[: {provider} is missing or comes from another release][ (no {directory})],
    so the program cannot use RDMA.
remedy = Install rdma-core's packages where the program runs, also in the container, all from the same release (apt
    install ibverbs-providers libibverbs1 librdmacm1), and do not mix them with those of DOCA or MLNX_OFED. ibv_devinfo
    must list the ports.
source = https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/init.c

[rdma-dmabuf-unsupported]
keys = ibv_reg_dmabuf_mr
pattern =
    ibv_reg_dmabuf_mr\w*(?:\(\))? failed(?: with error)?:? (?P<why>Operation not supported|Bad address|Invalid argument)
cause = The RDMA card could not register GPU memory through DMA-BUF ({why}): this kernel, driver, rdma-core or GPU does
    not support it. A DGX Spark does not, even if NCCL reports it as enabled.
remedy = Set NCCL_DMABUF_ENABLE=0 on all hosts, or use a newer NCCL, which then copies through host memory
    automatically. On another GPU, a newer kernel, driver or DOCA may support it.
source =
    NVIDIA/nccl#778
    https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html
"""
