# __init__.py in this directory explains the fields.

"""Network

These rules come before their consequences, because without a network, pip finds no package.
"""

RULES = r"""
[download-in-build]
keys = error: downloading '
pattern = error: downloading '([^'\n]+)' failed
cause = The build itself tried to download {found}, but could not.
remedy = Provide the file beforehand (a project option, FETCHCONTENT_SOURCE_DIR_… or an edit), or let the build reach
    the network. No lock covers what a build downloads itself.

[certificate]
keys =
    SSL peer certificate or SSH remote key
    error setting certificate
    's certificate, issued by
    certificate verify failed
    certificate verification failed
    SSL certificate problem
    Certificate verification failed
    certificate issuer is unknown
    invalid peer certificate
    validate the SSL certificate for
pattern =
    Failed to validate the SSL certificate for ([^\s"]+?)\.\s
    (SSL peer certificate or SSH remote key was not OK)
    error setting certificate (verify locations|file)
    cannot verify (\S+?)'s certificate, issued by
    invalid peer certificate: (\w+)
    (?:certificate verify failed|SSL certificate problem): ([^\n(]+?)\s*(?:\(|$)
    server certificate verification failed
    (Certificate verification failed[^\n.]*)
    certificate issuer is unknown
unless =
    WARNING: Retrying
    Retry scheduled
    WARNING: Attempting to resume
values =
    advice of found: verify|file => Install the list of authorities (apt-get install ca-certificates; in an image,
    + before curl)
    advice of found: .*(?:not yet valid|expired) => Check this host's clock first (timedatectl set-ntp true). If it is
    + right, the server's owner must renew the certificate
    advice of found: .*(?:mismatch|not valid for|does not match) => Use the name in the certificate (openssl s_client
    + -connect HOST:443 shows it), or get a certificate for this name
    advice of found: . => In an image, install the authorities first (apt-get install ca-certificates). If a proxy or a
    + mirror signs with its own CA, install that CA: copy it to
    + /usr/local/share/ca-certificates and run update-ca-certificates, and set SSL_CERT_FILE or REQUESTS_CA_BUNDLE for
    + Python (this collection's sparkforge_ca_certificate; uv also accepts --native-tls). Check the clock too
cause = The TLS certificate of a server could not be verified ({found}).
remedy = {advice}. Never skip verification.
source = TheR1D/shell_gpt#112

[proxy]
keys =
    Missing dependencies for SOCKS support
    after CONNECT
    CONNECT tunnel failed
    Proxy CONNECT aborted
    Cannot connect to proxy
    ProxyError
    Could not resolve proxy
    Tunnel connection failed
    Invalid response from proxy
pattern =
    Missing dependencies for (SOCKS) support
    Invalid response from proxy: (HTTP/\S+ \d+[\w ]*)
    HTTP code (\d+) from proxy
    CONNECT tunnel failed, (response \d+)
    Proxy CONNECT aborted
    Cannot connect to proxy
    Could not resolve proxy: \S+
    Tunnel connection failed[^\n')]*
    ProxyError
unless =
    WARNING: Retrying
    Retry scheduled
    WARNING: Attempting to resume
cause = The proxy refused the connection or is unreachable ({found}).
values =
    advice of found: SOCKS => Unset ALL_PROXY and all_proxy for this command, or install PySocks first (apt install
    + python3-socks)
    advice of found: . => Correct the proxy's address and password (role network_access)
remedy = {advice}.

[nmcli-property]
keys = Error: invalid property '
pattern = Error: invalid property '(?P<property>[^'\n]+)': '[^'\n]+' not among \[
values =
    advice of property: mtu => Write ethernet.mtu (802-3-ethernet.mtu) instead of ipv4.mtu
    advice of property: . => Look up the names in nmcli connection show NAME or man nm-settings-nmcli
cause = NetworkManager has no property {property} in the named section.
remedy = {advice}.
source = NVIDIA/daqiri#77

[container-host-name]
keys = host.docker.internal
pattern =
    (?:Cannot connect to host|Failed to connect to|connect ECONNREFUSED) (host\.docker\.internal)(?::| port )
    +(?P<port>\d+)[^\n]{0,40}?(?P<why1>Connect call failed|Couldn't connect|Could not connect|Connection refused|$)
    (?:Cannot connect to host|Failed to connect to) (host\.docker\.internal)(?::| port )(?P<port2>\d+)
    (?:resolve host:? |resolve '|ENOTFOUND )(host\.docker\.internal)
    (host\.docker\.internal)[^\n]*(?:not known|no such host|ENOTFOUND|Temporary failure)
values =
    cause of why: . => The program on the host does not listen on the address that containers use
    cause of why: (?:) => On Linux, a container knows this name only if you add it
cause = A container cannot reach its host as {found}[ (port {port})]. {cause}.
remedy = Make the program on the host listen on 0.0.0.0 (for Ollama: sudo systemctl edit ollama, with
    Environment="OLLAMA_HOST=0.0.0.0", and restart it), and start the container with
    --add-host=host.docker.internal:host-gateway (extra_hosts in a compose file). Or use --network host and localhost.
source = open-webui/open-webui#10833

[interface-not-renamed]
keys = Failed to rename network interface
pattern =
    Failed to rename network interface \d+ from '(?P<old>[^'\n]+)' to '(?P<new>[^'\n]+)': (?P<why>[^\n]+)
cause = udev could not give the network interface {old} the name {new} ({why}) because another interface has that name,
    or gets it too.
remedy = Find that interface (ip -br link), remove the setting that assigns the name twice (rules in /etc/udev/rules.d,
    .link files in /etc/systemd/network, set-name in /etc/netplan), and reboot.
source = Joshua-Riek/ubuntu-rockchip#286

[host-unknown]
keys =
    Could not resolve host
    name resolution
    Name or service not known
    Failed to resolve '
    Could not resolve '
    Temporary failure resolving '
    no such host
    server misbehaving
    ENOTFOUND
    EAI_AGAIN
    resolve host name
    : i/o timeout
    unable to resolve host address
pattern =
    unable to resolve host address '([^'\n]+)'
    (?:ping: |addresses of \()([\w.-]+)[:,] [^\n]*(?:name resolution|service not known)
    (?:ENOTFOUND|EAI_AGAIN) ([\w-]+(?:\.[\w.-]+)?)
    Cannot connect to host ([\w.-]+):\d+ [^\n]*(?:name resolution|service not known)
    host='([\w.-]+)', port=\d+\)[^\n]*(?:name resolution|service not known)
    Couldn't resolve host name
    lookup (\S+?)(?: on \S+)?: server misbehaving
    lookup (\S+?)(?: on \S+)?: (?:read udp [^\n]*: )?i/o timeout
    (?:ssh: )?Could not resolve hostname (?P<template>[^\n:]{0,80}?(?:\{\{|\||\[)[^\n:]{0,80}): [A-Z]
    ssh: Could not resolve hostname (?P<peer>(?![\w.-]+\.(?:com|org|io|net|dev|ai)\b)[^\s():]+)
    Could not resolve host(?:name \(Could not resolve host)?(?:name)?:? ([^\s():;]+)
    (?:Could not resolve|Temporary failure resolving) '([^'\n]+)'
    Failed to resolve '([^'\n]+)'
    Temporary failure in name resolution
    Name or service not known
    lookup (\S+?)(?: on \S+)?: no such host
unless =
    sudo: unable to resolve host
    WARNING: Retrying
    Retry scheduled
    WARNING: Attempting to resume
values =
    advice of template: . => The inventory or the play's hosts: has an expression that was not evaluated. Write the
    + group's or the host's name there, or define the variable before Ansible reads it (-e, the inventory)
    advice of peer: .$ => The name has a single letter: a list of hosts was probably split into its letters. Give them
    + in another form (for sparkrun, save a cluster with sparkrun cluster create and pass --cluster)
    advice of peer: . => ssh needs a name that this host (or container) knows: add the address and the name to
    + /etc/hosts on every host, or write the address into the hostfile. In Kubernetes, the other pod must run first,
    + and its service must exist (kubectl get pods,svc)
    advice of found: (?!Name|Temporary)[\w-]+$ => A name without a dot is in your own network. If it is a container or
    + a compose service, check that it runs (docker ps -a) and is in the same Docker network. For a host, add the
    + address to /etc/hosts (in the container too), or use NAME.local if Avahi runs on both hosts
    advice of found: . => Check the network (resolvectl query NAME), the proxy (role network_access) and the name.
    + Without a network, use a mirror or local archives
cause = A server's name cannot be resolved here: {found}.
remedy = {advice}.

[index-not-trusted]
keys = is not a trusted or secure host
pattern = The repository located at (\S+) is not a trusted or secure host
cause = pip ignores the index at {found}, because it uses plain HTTP.
remedy = Serve it over https, or trust its host by name (--trusted-host, PIP_TRUSTED_HOST), or add its files as
    find-links.

[git-corrupt]
keys =
    is corrupt
    corrupt or missing
    inflate: data stream error
    is empty
    bad object
    corrupt loose
pattern =
    (?:loose|packed) object (\w+) (?:\([^)\n]*\) )?is corrupt
    corrupt loose object '(\w+)'
    object file (\S+) is empty
    inflate: (data stream error)
    fatal: bad object (\w+)
cause = A git repository is damaged: object {found}.
remedy = Run again: a damaged store below <root>/builds/.sources is recognised and fetched again. If the server reports
    it ('remote:'), repair its repository.

[http-status]
keys =
    The requested URL returned error: 4
    The requested URL returned error: 5
    awaiting response... 4
    awaiting response... 5
    ERROR 403: Forbidden
    ERROR 404: Not Found
    ERROR 401: Unauthorized
    ERROR 503: Service Unavailable
pattern =
    ^(?:ERROR )?(?P<status3>[45]\d\d): [A-Z]\w
    curl: \(22\) The requested URL returned error: (?P<status1>[45]\d\d)
    awaiting response\.\.\. (?P<status2>[45]\d\d)
unless = [Ww]ill retry
values =
    advice of status: 404|410 => Correct the address: the file has another name or release, or does not exist for this
    + machine (aarch64, sbsa)
    advice of status: 401|403|407 => Log in, or send a token with the request. A proxy may also refuse it
    advice of status: 429 => Wait, or use a mirror (raw.githubusercontent.com and hubs limit requests per address)
    advice of status: . => Try later: the server itself failed
cause = A server answers a download with {status}.
remedy = {advice}.

[proxy-refused]
keys =
    from upstream
    too large body
    413 Request Entity
    502 Bad Gateway
    503 Service
    504 Gateway
pattern =
    (?P<why1>upstream timed out)[^\n]* while (?:reading|sending)
    (?P<why2>upstream prematurely closed connection)
    (?P<why3>client intended to send too large body)
    <(?:title|h1)>(?P<why4>(?:413|50[234]) [\w -]+)</
values =
    what of why: .*(?:timed|504) => the server behind it did not answer in time
    what of why: .*(?:premature|502) => the server behind it exited, or closed the connection
    what of why: .*(?:large|413) => the request is larger than the proxy allows
    what of why: . => the server behind it does not accept requests now
    advice of why: .*(?:timed|504) => Allow more time for a long answer (nginx: proxy_read_timeout 600s, and
    + proxy_buffering off if it streams), and check in the server's log whether it still works or hangs
    advice of why: .*(?:large|413) => Raise the limit (nginx: client_max_body_size 100m), or send less at once
    advice of why: . => Find the first error in the log of the server behind it, and check that this server listens on
    + the address in the proxy's configuration (ss -ltnp)
cause = A proxy answered instead of the server ({why}): {what}.
remedy = {advice}.
source = https://nginx.org/en/docs/http/ngx_http_proxy_module.html

[local-server-not-running]
keys =
    Failed to connect to localhost
    Failed to connect to 127.0.0.1
    HTTPConnectionPool(host='localhost'
    HTTPConnectionPool(host='127.0.0.1'
    HTTPConnectionPool(host='0.0.0.0'
    Cannot connect to host localhost
    Cannot connect to host 127.0.0.1
    while connecting to upstream
    ECONNREFUSED 127.0.0.1:
    ECONNREFUSED ::1:
    connect to Ollama
pattern =
    Cannot connect to host (?:localhost|127\.0\.0\.1):(?P<port3>\d+)
    while connecting to upstream[^\n]*upstream: 'http://[^:'\n]+:(?P<port4>\d+)
    Failed to connect to (?:localhost|127\.0\.0\.1) port (?P<port1>\d+)
    connect ECONNREFUSED (?:127\.0\.0\.1|::1):(?P<port5>\d+)
    ouldn't connect to Ollama at http://(?:127\.0\.0\.1|localhost):(?P<port6>\d+)
    HTTPConnectionPool\(host='(?:localhost|127\.0\.0\.1|0\.0\.0\.0)', port=(?P<port2>\d+)\)[^\n]*?(?:Connection refused|
    +establish a new)
cause = No server on this host answers on port {port}: it has not started, still loads its model, or listens elsewhere.
remedy = Check whether a program listens (ss -ltnp | grep {port}), and read the server's log. Inside a container,
    localhost is the container itself (use the service's name, or --network host). A server in a container needs -p
    {port}:{port} for access from outside.
source = wandb/openui#215

[git-request-refused]
keys = RPC failed; HTTP 4
pattern = RPC failed; HTTP (?P<status>4\d\d)
values =
    advice of status: 413 => A proxy in front of the server limits the size of a push (client_max_body_size of nginx):
    + raise it, push over ssh, or push fewer commits at once; large files belong into Git LFS
    advice of status: 40[13] => Log in with a token that may do this, and see that a proxy lets Git through
    advice of status: 429 => Wait, since the server limits the number of requests
    advice of status: . => Correct the address, or look at a proxy in between
cause = The server, or a proxy in front of it, refused Git's request with HTTP {status}.
remedy = {advice}.
source = https://git-scm.com/docs/git-config

[connection-lost]
keys =
    early EOF
    RPC failed
    unexpected disconnect
    hung up unexpectedly
    Connection reset by peer
    IncompleteRead
    incomplete-download
    transfer closed with
    Connection broken
    Read timed out
    Operation timed out
    operation timed out
    Operation too slow
    GnuTLS recv error
    gnutls_handshake() failed
    Could not handshake
    OpenSSL SSL_read
    bytes of body are still expected
    invalid index-pack output
    TLS connection was non-properly terminated
    UNEXPECTED_EOF_WHILE_READING
pattern =
    (UNEXPECTED_EOF_WHILE_READING)
    gnutls_handshake\(\) failed
    Could not handshake
    RPC failed[^\n]*
    unexpected disconnect
    hung up unexpectedly
    Connection reset by peer
    early EOF
    IncompleteRead
    incomplete-download
    transfer closed with[^\n]*
    Connection broken
    Read timed out
    (?<!start )[Oo]peration timed out
    The (?:handshake|read) operation timed out
    Operation too slow
    GnuTLS recv error \(-?\d+\)[^\n]*
    OpenSSL SSL_read[^\n]*
    \d+ bytes of body are still expected
    invalid index-pack output
    The TLS connection was non-properly terminated
unless =
    NCCL WARN
    gloo/transport
    retr\w+ ncclUniqueId
    \[c10d\]
    DistNetworkError
    socketProgressOpt|ncclRemoteError
    USB error
    \b(?:ibv|rdma|mlx5dv)_\w|\b(?:QP|GID|[Qq]ueue [Pp]air)\b|ncclSystemError|unhandled system error
    WARNING: Retrying
    Retry scheduled
    WARNING: Attempting to resume
cause = The connection to a server was lost[ during the download of {file}] ({found}).
remedy = Check the network and run again: completed downloads are kept. If the server is your own, read its log: it was
    not ready yet, or has exited.
source =
    renesas-rcar/linux-bsp#7
    NVIDIA/libnvidia-container#160

[apt-over-ipv6]
keys = Cannot initiate the connection to
pattern =
    Cannot initiate the connection to (?P<host>[\w.-]+):\d+ \((?P<address>[0-9a-f]*:[0-9a-f:]+)\)[^\n]*Network is unre
    +achable
cause = apt used the IPv6 address of {host}, but this host has no IPv6 route.
remedy = Run sudo apt-get -o Acquire::ForceIPv4=true update (to keep it: echo 'Acquire::ForceIPv4 "true";' | sudo tee
    /etc/apt/apt.conf.d/99ipv4). If IPv4 fails too, the network or the proxy is at fault.

[connection-failed]
keys =
    network failure seems to have happened
    Failed to connect to
    Could not connect to
    Unable to connect to
    : connect:
    Connection refused
    Connection timed out
    Network is unreachable
    No route to host
    Failed to establish a new connection
    ETIMEDOUT
    ECONNREFUSED
    error sending request for url
    : i/o timeout
pattern =
    (network failure seems to have happened)
    error sending request for url \(([^)\s]+)\)
    connect (?:ETIMEDOUT|ECONNREFUSED) (\S+)
    connect to host (\S+ port \d+: [\w ]+)
    dial \w+ (\S+: connect: [\w ]+)
    dial tcp ([\d.]+:\d+: i/o timeout)
    Failed to connect to (\S+ port \d+)
    (?:Could not|Unable to) connect to ([^\s:]+:\w+)
    Could not connect to the endpoint URL: "([^"\n]+)
    Connection refused
    Connection timed out
    Network is unreachable
    No route to host
    Failed to establish a new connection
unless =
    Event loop failed
    networkd-wait-online
    probe failed:
    WARNING: Retrying
    Retry scheduled
    WARNING: Attempting to resume
    do load request
    , ignoring:
    \b(?:ibv|rdma|mlx5dv)_\w|\b(?:QP|GID|[Qq]ueue [Pp]air)\b|ncclSystemError|unhandled system error
values =
    advice of found: .*(?:refused|ECONNREFUSED) => Start the server there, or correct the address and port. The host
    + answers, but nothing listens on that port (ss -ltnp there shows its ports). In a container, localhost is the
    + container itself
    advice of found: .*(?:timed out|timeout|ETIMEDOUT) => Check whether the host is on and reachable (ping, ip route
    + get). A firewall may drop the connection, or it may need a proxy (sparkforge_proxies, role network_access)
    advice of found: .*(?:unreachable|[Nn]o route) => Repair the route: ip route shows whether this host has a route
    + to that network. No route to host can also come from the other host's firewall
    advice of found: . => Check that the server runs and listens on that address (ss -ltnp there), and check the
    + network, the firewall in between and the proxy (sparkforge_proxies, role network_access)
uncertain = yes
cause = A server cannot be reached ({found}).
remedy = {advice}.

[hub-not-reached]
keys =
    cannot find the requested files in the
    couldn't connect to 'https://huggingface.co
pattern =
    (cannot find the requested files in the (?:local|disk) cache)
    (couldn't connect to 'https://huggingface\.co)
cause = The model hub could not be reached, and the file is not in this host's cache ({found}).
remedy = Check the network and the proxy (role network_access; huggingface.co and, for the files, hf.co must be
    reachable), or download the model elsewhere and copy the cache (HF_HOME). With HF_HUB_OFFLINE=1, a program then uses
    only the cache.
source = Comfy-Org/ComfyUI#3840

[port-privileged]
keys =
    listen EACCES
    bind: permission denied
    bind: Permission denied
    Errno 13
    (13: Permission denied)
pattern =
    listen EACCES: permission denied [^\s:]*:(?P<port1>\d{1,3})$
    listen \w+ [^\s:]*:(?P<port2>\d{1,3}): bind: permission denied
    bind\(\) to [^\s:]*:(?P<port3>\d{1,3}) failed \(13: Permission denied\)
    bind on address \('[^'\n]*', (?P<port4>\d{1,3})\): (?:\[Errno 13\] )?permission denied
cause = Only root may listen on a port below 1024, but the program uses {port}.
remedy = Choose a port from 1024 on, let a container publish it (-p {port}:8080), or grant the permission:
    AmbientCapabilities=CAP_NET_BIND_SERVICE for a unit, sudo setcap cap_net_bind_service=+ep FILE for a file.
source = https://man7.org/linux/man-pages/man7/capabilities.7.html

[port-in-use]
keys =
    ddress already in use
    EADDRINUSE
    port is already allocated
    Cannot find empty port in range
    bind HTTP server socket
pattern =
    Cannot find empty port in range: (?P<port7>\d+)
    couldn't bind HTTP server socket, hostname: [^\s,]+, port: (?P<port8>\d+)
    failed to listen on any local network address\. port: (?P<port1>\d+)[^\n]*EADDRINUSE
    Bind for \S+:(?P<port2>\d+) failed: port is already allocated
    listen \w+ \S+:(?P<port3>\d+): bind: address already in use
    (?:listen on|bind to) \S+:(?P<port6>\d+) \(errno: 98
    attempting to bind on address \('[^'\n]*', (?P<port4>\d+)\)[^\n]*address already in use
    bind host port (?:for )?[\d.\[\]]+:(?P<port5>\d+)[^\n]*address already in use
    [Aa]ddress already in use
    EADDRINUSE
cause = Another program already listens on the port[ {port}] that this program tried to open.
remedy = Find it (ss -ltnp; docker ps shows containers' ports) and stop it (often it is an earlier run), or choose
    another port (a server's --port, torchrun's --master-port).
source = om-ai-lab/VLM-R1#289

[address-not-here]
keys = annot assign requested address
pattern = ([Cc]annot assign requested address)
cause = The program tried to listen on, or connect from, an address that this host does not have now ({found}).
remedy = Use --host 0.0.0.0, or an address that ip -br addr shows. In a container, the host's addresses exist only with
    --network host.

[api-unreachable]
keys =
    All connection attempts failed
    APIConnectionError
    APITimeoutError
    failed to connect to all addresses
    ConnectTimeoutError
    curl: (52)
pattern =
    (All connection attempts failed)
    (APIConnectionError): Connection error
    (APITimeoutError)
    (failed to connect to all addresses)
    (ConnectTimeoutError)
    curl: \(52\) (Empty reply from server)
cause = The program got no answer from its server ({found}).
remedy = Check the address (base_url with http:// and /v1, the port), check that the server runs and has loaded its
    model, and read its log from that time. HTTP_PROXY also affects local addresses, unless NO_PROXY names them.

[archive-damaged]
keys =
    computed checksum
    does not look like a tar archive
    in gzip
    xz:
    unzip:
    stdin: unexpected end of file
    Unexpected EOF in archive
    End-of-central-directory signature
    File is not a zip file
    not a gzip file
    LZMAError
    file could not be opened successfully
pattern =
    tarfile\.ReadError: (not a gzip file|file could not be opened successfully)
    LZMAError: (Input format not supported by decoder|Corrupt input data)
    (\d+ computed checksums? did NOT match)
    (does not look like a tar archive)
    (not in gzip format)
    xz: [^\n]{1,80}: (File format not recognized|Unexpected end of input)
    unzip: +(cannot find (?:or open|zipfile directory)[^\n]{1,120})
    (stdin: unexpected end of file)
    (Unexpected EOF in archive)
    (End-of-central-directory signature not found)
    (File is not a zip file)
cause = A downloaded file is not an archive, or was truncated ({found}).
remedy = Check it (file, ls -l): an error page or a few bytes mean a wrong address or a missing login. Download it again
    with curl -fL, and compare its checksum.

[url-without-scheme]
keys =
    No connection adapters were found
    No scheme supplied
    is missing an 'http://'
    Illegal header value b'Bearer
pattern =
    No connection adapters were found for '(?P<url1>[^'\n]*)'
    Invalid URL '(?P<url2>[^'\n]*)': No scheme supplied
    (?P<url3>Request URL is missing an 'http://)
    (?P<key>Illegal header value b'Bearer)
values =
    what of url: . => The server's URL is incomplete
    what of key: . => The key that the client sends is empty or contains a line end
    advice of url: . => Write it with http:// in front and without quotation marks or spaces (http://HOST:PORT/v1).
    + Perhaps the option, setting or environment variable is empty
    advice of key: . => Set it to a single word (any text if the server has no key), such as OPENAI_API_KEY=none
cause = {what}[: {url}].
remedy = {advice}.
source = https://requests.readthedocs.io/en/latest/api/#requests.exceptions.MissingSchema
"""
