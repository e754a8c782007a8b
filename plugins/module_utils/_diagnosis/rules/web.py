# __init__.py in this directory explains the fields.

"""Node and notebooks

Messages from npm, Node and Jupyter, which build and run web interfaces.
"""

RULES = r"""
[native-bindings-missing]
keys =
    native bindings are not available
    Cannot find native binding
    Failed to load SWC binary
pattern =
    (?P<what1>Turbopack is not supported on this platform) \(linux/arm64\)
    (?P<what2>Cannot find native binding)
    (?P<what3>Failed to load SWC binary) for linux/arm64
cause = node_modules has no compiled part for ARM ({what}): it or the lock file was created on another machine, without
    optional packages.
remedy = Remove node_modules and package-lock.json and reinstall on this machine with npm 11 or newer, without
    --omit=optional (rm -rf node_modules package-lock.json, npm install).
source = npm/cli#4828

[npm-conflict]
keys = ERESOLVE
pattern =
    code (ERESOLVE)(?s:.{0,400}?)While resolving: (?P<package>\S+)(?:(?s:.{0,200}?)Found: (?P<have>\S+))?
    (ERESOLVE) (?:unable to resolve|could not resolve)
cause = npm found no compatible versions ({found})[: {package} does not fit {have}].
remedy = Install the locked versions (npm ci). Without a lock file, npm install --legacy-peer-deps accepts the conflict
    as older npm did.
source = npm/cli#3236

[npm-engine]
keys =
    EBADENGINE
    Unsupported engine
    Not compatible with your version of node
    ERR_PNPM_UNSUPPORTED_ENGINE
pattern =
    (?:version of node/npm|notsup Not compatible with your version of node/npm): (?P<package>\S+)(?s:.{0,200}?)Required:
    + \{'node':'(?P<need>[^'\n]+)'(?:(?s:.{0,200}?)'node':'(?P<have>[^'\n]+)')?
    package: '(?P<package2>[^'\n]+)',(?s:.{0,120}?)required: \{ node: '(?P<need2>[^'\n]+)'(?s:.{0,160}?)node: '(?P<have2
    +>[^'\n]+)'
    (ERR_PNPM_UNSUPPORTED_ENGINE)
    code EBADENGINE(?s:.{0,300}?)version of node/npm: (?P<package3>\S+)(?s:.{0,200}?)Required:\s*\{'node':'(?P<need3>
    +[^'\n]+)'(?:(?s:.{0,200}?)'node':'(?P<have3>[^'\n]+)')?
    (EBADENGINE)
unless = npm (?:WARN|warn)
cause = Node[ {have}] is not a version that[ {package}] supports[: {need}].
remedy = Install a Node in that range (nvm install 22, or NodeSource's package; Ubuntu's is 18), and remove node_modules
    before npm ci.
source = open-webui/open-webui#5233

[npm-not-permitted]
keys = EACCES: permission denied
pattern = EACCES: permission denied, \w+ '(?P<path>[^'\n]+)'
values =
    advice of path: /usr => Install without -g in the project, or set your own directory for npm -g (npm config set
    + prefix ~/.local). Do not use sudo
    advice of path: . => Return it to this account (chown -R): an earlier sudo npm or a container's root changed its
    + owner
cause = npm or Node is not allowed to write {path}.
remedy = {advice}.

[npm-no-project]
keys =
    Could not read package.json
    Missing script:
    package.json and package-lock.json
    can only install with an existing package-lock.json
    pnpm-lock.yaml is not up to date
pattern =
    (?P<why1>Could not read package\.json)
    (?P<why2>Missing script: '?[\w:.-]+)
    (?P<why3>package\.json and package-lock\.json[\w .-]* are in sync)
    can only install with an (?P<why4>existing package-lock\.json)
    (?P<why5>pnpm-lock\.yaml is not up to date)
values =
    advice of why: Could => Change to the directory with package.json (for a web UI often frontend or webui)
    advice of why: Missing => List the scripts (npm run) in the directory of that package.json
    advice of why: . => Use the project's lock file unchanged from its tag, or create a new one with npm install (pnpm
    + install --no-frozen-lockfile)
cause = npm cannot run this here: {why}.
remedy = {advice}.

[npm-package-unknown]
keys =
    npm error 404
    npm ERR! 404
pattern = 404 Not Found - GET (?P<url>\S+)
cause = npm's registry has no package at {url}, or hides it from this account.
remedy = Correct the name. For a company's package, set its registry and token in .npmrc.

[npm-integrity]
keys = EINTEGRITY
pattern = (EINTEGRITY)
cause = A package that npm downloaded or has in its cache differs from the one in the lock file ({found}).
remedy = Run npm cache clean --force and npm ci again; if this does not help, the registry or a proxy sends another
    file: compare package-lock.json with its tag.

[node-native-missing]
keys =
    linux-arm64
    Could not load the "sharp" module
pattern =
    Cannot find module '?(?P<module1>@?[\w./@-]*linux-arm64[\w-]*)
    Could not load the '(?P<module2>sharp)' module using the linux-arm64
cause = The compiled part of a package for this processor, {module}, is not installed: node_modules or the lock file was
    created on another one, or without optional packages.
remedy = Remove node_modules (and package-lock.json, if npm omits the part again), and run npm install here. Never copy
    node_modules from an x86 host or into an image (.dockerignore).
source = npm/cli#4828

[npm-no-arm64-file]
keys =
    for linux-arm64 at
    -arm64.zip
    -arm64.tar
    Unsupported platform: {"os":"linux"
pattern =
    Failed to find (?P<package>[\w@/-]+ v?[\w.-]+) for linux-arm64 at (?P<address>\S+)
    Downloading (?P<address2>https?://\S*linux-arm64\.(?:zip|tar\S*)) failed: (?P<why>[^\n]+)
    (Unsupported platform): \{"os":"linux","arch":"arm64"\}
cause = The version that npm installs has no file for Linux on arm64[: {address}][ ({why})].
remedy = Install a newer release of it (old releases of Electron and its chromedriver have no file for arm64), or omit
    the package and use the system's program (chromium and its driver; PUPPETEER_SKIP_DOWNLOAD=1 with
    PUPPETEER_EXECUTABLE_PATH, CHROMEDRIVER_FILEPATH).
source =
    electron/electron#8291
    giggio/node-chromedriver#173

[npm-platform]
keys = Unsupported platform for
pattern =
    Unsupported platform for (?P<package>\S+): wanted \{(?P<need>[^}\n]*)\}[^\n]*'(?:cpu|arch)':'arm64'
cause = The package {package} is not for this processor (arm64), but for {need}: a lock file or a package.json from
    another machine names it.
remedy = Remove that package from dependencies (it belongs in optionalDependencies), delete node_modules and
    package-lock.json and run npm install here, or use a release of the program that supports linux-arm64.
source = anatoliygatt/deep-freeze-node#10

[esbuild-platform]
keys = installed esbuild for another platform
pattern =
    You installed (esbuild) for another platform(?:(?s:.{0,500}?)the '(?P<have>@esbuild/[\w-]+)' package is present)?
cause = node_modules was created on another machine: it contains {found}'s program for that one[ ({have})].
remedy = Delete node_modules and run npm ci here; for a Dockerfile, add node_modules to .dockerignore, so that the
    host's is not copied.

[node-abi]
keys =
    NODE_MODULE_VERSION
    Error: The module '
pattern =
    module '(?P<module>[^'\n]+)'\s+was compiled against a different Node\.js version using\s+NODE_MODULE_VERSION (?P<bui
    +lt>\d+)(?s:.{0,80}?)NODE_MODULE_VERSION (?P<have>\d+)
cause = {module} was compiled for another Node (ABI {built}) than this one (ABI {have}).
remedy = Run npm rebuild, or npm ci with the Node that will run it.

[node-module-missing]
keys =
    Error: Cannot find module '
    ERR_MODULE_NOT_FOUND
    Rollup failed to resolve import
    error TS2307
pattern =
    Error: Cannot find module '([^'\n]+)'
    Cannot find package '([^'\n]+)' imported from
    Rollup failed to resolve import '([^'\n]+)'
    error TS2307: Cannot find module '([^'\n]+)'
cause = Node does not find {found}: the package is not installed, or the file was not built.
remedy = Run npm ci in the directory of package.json (for a build, without --omit=dev). If it is a path that begins with
    a dot or a slash, build the file or correct the path.

[node-heap]
keys = JavaScript heap out of memory
pattern = (JavaScript heap out of memory)
cause = Node reached its own memory limit, which is far below the host's memory ({found}). Builds of web interfaces need
    more.
remedy = Set NODE_OPTIONS=--max-old-space-size=8192 for the build (in a Dockerfile with ENV).

[node-too-old]
keys =
    SyntaxError: Unexpected token
    digital envelope routines::unsupported
    Unexpected identifier
    ERR_REQUIRE_ESM
pattern =
    SyntaxError: (Unexpected token '[?.=|&]+')
    (ERR_REQUIRE_ESM)
    (digital envelope routines::unsupported)
values =
    what of found: Unexpected => is too old for the program's syntax
    what of found: ERR => cannot load an ES module with require
    what of found: . => has an OpenSSL that refuses a method of this old bundler (webpack 4)
    advice of found: Unexpected => Install a newer Node (nvm install 22; Ubuntu's is 18)
    advice of found: ERR => Install Node 22.12 or newer, or the package versions in the lock file (npm ci)
    advice of found: . => Update the bundler, or set NODE_OPTIONS=--openssl-legacy-provider for the build
cause = This Node {what} ({found}).
remedy = {advice}.

[node-watchers]
keys =
    inotify watch limit reached
    number of file watchers reached
pattern =
    (inotify watch limit) reached
    System limit for number of (file watchers) reached
cause = This host's limit of watched files is reached ({found}). The disk is not full.
remedy = Raise the limit: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024, and keep it
    in /etc/sysctl.d.

[node-gyp]
keys =
    gyp ERR!
    gyp verb `which` failed
pattern =
    gyp ERR! (?:stack Error: )?(not found: make)
    gyp ERR! find (Python)
    gyp ERR! stack Error: (Could not find any Python)
    gyp ERR! stack Error: Can't find (Python) executable
    gyp verb 'which' failed Error: not found: (python2)
cause = A package has no compiled file for this Node on ARM, and cannot be compiled: {found} is missing.
remedy = Install build-essential and python3 (also in the image), or a Node for which the package has a file. A node-gyp
    that asks for python2 is too old: use a newer release of the package that includes it.

[vscode-server-library]
keys =
    prerequisites for glibc
    Visual Studio Code Server
    Missing GLIBC
pattern =
    find (?P<need1>GLIBC(?:XX)? >= v?[\d.]+) \(but found v?(?P<have>[\d.]+)
    Missing (?P<need2>GLIBC(?:XX)? >= [\d.]+)!
    may not (meet VS Code Server's prerequisites)
    does not meet (Visual Studio Code Server)
cause = VS Code's server does not start on the remote host: its C or C++ library is older than the server needs[
    ({need})][, and has {have}].
remedy = If the host is new enough (Ubuntu 20.04 or newer), update VS Code (some releases check the host wrongly), and
    remove ~/.vscode-server on the host. For an older host, such as Ubuntu 18.04 of JetPack 4, use VS Code 1.98 or
    older, or a container.
source = microsoft/vscode#204264

[vscode-server-download]
keys =
    Failed to download VS Code Server
    wget download failed
    install the VS Code Server
    Error: XHR failed
    Could not fetch or extract
pattern =
    (Failed to download VS Code Server[^\n)]*)
    (wget download failed)
    (Failed to install the VS Code Server)
    (XHR failed)
    (Could not fetch or extract)
cause = VS Code's server could not be installed on the remote host ({found}).
remedy = On the host, check that curl -I https://update.code.visualstudio.com works (set a proxy in ~/.bashrc above its
    test for a terminal) and that df -h ~ shows free space, or set remote.SSH.localServerDownload to always, so that
    your computer downloads it. Then remove ~/.vscode-server there and connect again. A 404 for server-linux-armhf means
    a 32-bit system.
source = microsoft/vscode-remote-release#9677

[websocket-closed]
keys =
    closed (1
    code: 1006
    code=1006
    code 1006
    close code 10
pattern =
    closed \((?P<code1>10(?:01|06|08|09|11|12|13))\b
    (?:close )?code[:= ]+(?P<code2>10(?:06|08|09|11|12|13))\b
values =
    what of code: 1001 => the other side is going away
    what of code: 1006 => the other side ended without a closing message: it crashed, was killed, or a proxy cut the
    + connection
    what of code: 1008 => the other side refuses it (a token, an origin or a policy)
    what of code: 1009 => a message is larger than the other side accepts
    what of code: 1011 => the other side failed to handle the request
    what of code: 101[23] => the other side restarts or is overloaded
    advice of code: 1008 => Use the right token, and allow the page's origin in the server's configuration
    advice of code: 1009 => Raise the server's message limit, or send less at once
    advice of code: . => Read that program's own log for the first error (its unit's journal, docker logs), check that
    + it runs and listens at that address with the same scheme (ws or wss), and allow upgrades in any proxy between
uncertain = yes
cause = A WebSocket was closed with {code}: {what}.
remedy = {advice}.
source = NVIDIA/NemoClaw#4616

[jupyter-xsrf]
keys = '_xsrf' argument missing
pattern = ('_xsrf' argument missing)
cause = Jupyter refused a request from its own page ({found}): the browser's cookie is from another server or an earlier
    start, or a proxy drops it.
remedy = Open the address with its token in a new private window, and let the proxy pass cookies and websockets. Two
    servers on one host name need different ports and names.

[jupyter-file-mode]
keys = Permissions assignment failed for secure file
pattern = Permissions assignment failed for secure file: '(?P<file>[^'\n]+)'\.\s*Got '(?P<mode>\w+)'
cause = Jupyter cannot make {file} readable only for its account (it got {mode}): the file system does not keep modes,
    like Windows mounts and some network shares.
remedy = Set JUPYTER_RUNTIME_DIR to a directory on a local disk, or JUPYTER_ALLOW_INSECURE_WRITES=1 if nobody else can
    log in.
source = jupyter/notebook#5058

[jupyter-kernel-program]
keys = Failed to run command:
pattern = App\] Failed to run command:\s+\['(?P<program>[^'\n]+)'
cause = Jupyter cannot start a kernel's program, {program}: it does not exist, is not on the PATH of Jupyter's account,
    or is not executable for that account (as below /root).
remedy = Check what the kernel starts (jupyter kernelspec list, kernel.json in that directory), and reinstall the kernel
    as the account that runs Jupyter (python -m ipykernel install --user).
source = SciSharp/SciSharpCube#3

[comfyui-no-node]
keys = due to the lack of NODE_CLASS_MAPPINGS
pattern = Skip (?P<path>\S+) module for custom nodes due to the lack of NODE_CLASS_MAPPINGS
cause = {path} is in the directory of ComfyUI's custom nodes, but is not a node: it is a Python package, a directory too
    high or too low, or an incomplete copy.
remedy = Move it out of custom_nodes. Install a package (SageAttention, Triton) with ComfyUI's own pip; for
    SageAttention, start with --use-sage-attention. Clone a node again so that its __init__.py is in custom_nodes/NAME.
source = woct0rdho/SageAttention#4

[jupyter-root]
keys = Use --allow-root to bypass
pattern = (Running as root is not recommended)
cause = Jupyter does not start as root ({found}).
remedy = Run it as another user, or in a container with --allow-root.

[jupyter-no-port]
keys =
    Jupyter server could not be started because
    all ports in use
pattern =
    could not be started because (no available port could be found)
    (all ports in use)
cause = Jupyter found no free port ({found}): other servers are running, or the address of --ip is not this host's.
remedy = List the servers (jupyter server list) and stop old ones, or choose --port. --ip 0.0.0.0 means any address of
    this host.

[jupyter-kernel-unknown]
keys = No such kernel
pattern = No such kernel named (\S+)
cause = Jupyter has no kernel named {found}.
remedy = Check jupyter kernelspec list. In the kernel's environment, run python -m ipykernel install --user --name
    {found}.

[jupyter-kernel-died]
keys =
    Kernel died
    restarting kernel (
pattern =
    (Kernel died, restarting)
    (restarting kernel \(\d+/\d+\))
uncertain = yes
cause = The notebook's Python died ({found}): usually memory ran out, or a compiled library crashed.
remedy = Run the same code with python in a terminal to see the cause, and look for Out of memory in the kernel's log
    (journalctl -k).

[jupyter-host-refused]
keys = Blocking request with non-local 'Host'
pattern = Blocking request with non-local 'Host' (\S+)
cause = Jupyter answers only requests for localhost, but this one was for {found}.
remedy = Start it with --ip 0.0.0.0 and a password, or reach it through ssh -L 8888:localhost:8888.

[database-locked]
keys = database is locked
pattern = (database is locked)
cause = Another process has the SQLite file open for writing, or the file is on a network file system ({found}).
remedy = Stop the second copy of the program (two containers with one volume), and keep the file on a local disk.

[database-not-writable]
keys =
    unable to open database file
    attempt to write a readonly database
pattern = (unable to open database file|attempt to write a readonly database)
cause = The program cannot open or write its SQLite file ({found}): its directory does not exist or belongs to another
    account, like a volume created by a container's root.
remedy = Create the directory, give it to the account that runs the program (sudo chown -R; for a container the user in
    --user), and mount it writable.

[gradio-localhost]
keys = When localhost is not accessible
pattern = When (localhost is not accessible), a shareable link must be created
cause = Gradio did not reach its own server ({found}): a proxy got the request, or the version of another package breaks
    its page.
remedy = Set NO_PROXY=localhost,127.0.0.1,0.0.0.0, and start it with server_name="0.0.0.0". If that does not help,
    install the gradio and pydantic that the program pins.

[gradio-share]
keys = Could not create share link
pattern = Could not create share link\.(?: Missing file: (?P<file>\S+?)\.?(?:\s|$))?
cause = Gradio could not make a public link[: it lacks the program {file}], or cannot reach Gradio's server.
remedy = Start it without share=True and reach it by ssh (ssh -L 7860:localhost:7860 HOST), or in your own network with
    server_name="0.0.0.0". For the link, download the file in the message, and make it executable.

[gradio-schema]
keys = TypeError: argument of type 'bool' is not iterable
pattern = (argument of type 'bool' is not iterable)
cause = The installed Gradio cannot read a newer pydantic's (2.11) schema for its page ({found}).
remedy = Install the previous release of pydantic (pip install pydantic==2.10.6), or upgrade gradio and gradio_client.
source = THU-MIG/yoloe#72

[open-webui-secret]
keys = Required environment variable not found. Terminating
pattern = (Required environment variable not found)
cause = Open WebUI has no key for its sessions ({found}): WEBUI_SECRET_KEY is not set and it cannot write one.
remedy = Set it (docker run -e WEBUI_SECRET_KEY="$(openssl rand -hex 32)"), or start it with its own command (open-webui
    serve), which writes one.

[api-key-refused]
keys =
    AuthenticationError: Error code: 401
    Incorrect API key provided
    invalid_api_key
    Invalid API Key
    Invalid proxy server token
    "error":"Unauthorized"
    "error": "Unauthorized"
pattern =
    (AuthenticationError: Error code: 401)
    (Incorrect API key provided|invalid_api_key|Invalid API Key|Invalid proxy server token)
    ^(Unauthorized)\s*$
cause = The server refuses the client's API key ({found}).
remedy = Set the client's key to the one that the server was started with (--api-key or VLLM_API_KEY of vLLM,
    LITELLM_MASTER_KEY; any text if it has none), and check that base_url is that server's (http://HOST:PORT/v1), not
    OpenAI's.

[api-path-unknown]
keys =
    "detail":"Not Found"
    "detail": "Not Found"
    "File Not Found"
    Method Not Allowed
    POST /generate HTTP
pattern =
    ^(?:File )?(?P<why>Not Found)\s*$
    ^(?P<why2>Method Not Allowed)\s*$
    "POST (?P<path>/\S+) HTTP/1\.1" (?P<why3>40[45])\b
values =
    advice of why: Method => Send what the path expects: chat/completions, completions and embeddings take a POST with
    + a JSON body (curl -d …), and a browser only sends GET
    advice of why: . => Request a path that the server lists (/docs, /openapi.json, /v1/models). For an OpenAI client
    + the base URL ends in /v1 (http://HOST:PORT/v1), because it adds /chat/completions itself; Ollama's own API is
    + below /api
cause = The server answers, but not on that address[ ({path})]: {why}.
remedy = {advice}. If none of its paths exists, another program listens on that port (ss -ltnp).
source = vllm-project/vllm#5082

[api-body-refused]
keys =
    "loc":
    'loc':
pattern =
    'loc': ?[\[(]'(?:body|query|path)'(?:, ?(?P<field>[^\])\n]{1,160}))?[\])], ?'msg': ?'(?P<why>[^'\n]{3,160})
cause = The server's interface refuses the request[ at {field}]: {why}.
remedy = Send that field with the type that /docs or /openapi.json lists (chat/completions takes messages, completions a
    prompt, both as JSON with the header Content-Type: application/json). If content must be a string, the server or the
    model's chat template takes no list of parts: send plain text, or update the server.
source = chatboxai/chatbox#1352

[api-still-loading]
keys = "Loading model"
pattern = ^(Loading model)\s*$
cause = llama-server still loads the model ({found}), and answers other requests only afterwards.
remedy = Wait until /health answers with 200 (curl -f http://HOST:PORT/health), and let what depends on it wait for that
    as well (a health check with a long start_period, or retries). If it never does, read the server's own log.

[yarn-engine]
keys = is incompatible with this module
pattern =
    The engine '(?P<engine>\w+)' is incompatible with this module\. Expected version '(?P<need>[^'\n]+)'\. Got '(?P<have
    +>[^'\n]+)'
cause = {engine} {have} is not a version that a package supports: {need}.
remedy = Install a {engine} in that range (nvm install 22 for Node), or pass --ignore-engines if you know that it works.

[corepack-keys]
keys = Cannot find matching keyid
pattern = (Cannot find matching keyid)
cause = This Node's corepack is older than the current keys of npm's registry ({found}).
remedy = Update corepack (npm install -g corepack@latest) or Node.

[playwright-browser-missing]
keys = Executable doesn't exist at
pattern = Executable doesn't exist at (\S+)
cause = Playwright's browser {found} was not downloaded for this version.
remedy = Run playwright install --with-deps chromium in the same environment, as the user who runs the program.
"""
