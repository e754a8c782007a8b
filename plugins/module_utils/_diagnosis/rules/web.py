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
cause = node_modules has no compiled part for ARM ({what}): it, or the lock file, was made on another machine, and
    optional packages were left out.
remedy = Remove node_modules and package-lock.json and install anew on this machine with npm 11 or newer, without
    --omit=optional (rm -rf node_modules package-lock.json, npm install).
source = npm/cli#4828

[npm-conflict]
keys = ERESOLVE
pattern =
    code (ERESOLVE)(?s:.{0,400}?)While resolving: (?P<package>\S+)(?:(?s:.{0,200}?)Found: (?P<have>\S+))?
    (ERESOLVE) (?:unable to resolve|could not resolve)
cause = npm found no versions that go together ({found})[: {package} does not fit {have}].
remedy = Install what the project locked (npm ci); without a lock, npm install --legacy-peer-deps takes it as older npm
    did.
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
cause = Node[ {have}] is not of the version that[ {package}] needs[: {need}].
remedy = Install a Node of that range (nvm install 22, or NodeSource's package; Ubuntu's own is 18), and remove
    node_modules before npm ci.
source = open-webui/open-webui#5233

[npm-not-permitted]
keys = EACCES: permission denied
pattern = EACCES: permission denied, \w+ '(?P<path>[^'\n]+)'
values =
    advice of path: /usr => Install without -g in the project, or set a directory of your own for npm -g (npm config
    + set prefix ~/.local); no sudo
    advice of path: . => Make it this account's own again (chown -R), which an earlier sudo npm or a container's root
    + changed
cause = npm or Node may not write {path}.
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
    advice of why: Could => Change to the directory with package.json (of a web UI often frontend or webui)
    advice of why: Missing => See which there are (npm run), in the directory of that package.json
    advice of why: . => Take the project's own lock file unchanged from its tag, or make a new one with npm install
    + (pnpm install --no-frozen-lockfile)
cause = npm cannot run this here: {why}.
remedy = {advice}.

[npm-package-unknown]
keys =
    npm error 404
    npm ERR! 404
pattern = 404 Not Found - GET (?P<url>\S+)
cause = npm's registry has no package at {url}, or none for this account.
remedy = Correct the name; for a package of a company set its registry and token in .npmrc.

[npm-integrity]
keys = EINTEGRITY
pattern = (EINTEGRITY)
cause = A package that npm downloaded or has in its cache differs from what the lock says ({found}).
remedy = Run npm cache clean --force and npm ci again; if it stays, the registry or a proxy gives another file: compare
    package-lock.json with its tag.

[node-native-missing]
keys =
    linux-arm64
    Could not load the "sharp" module
pattern =
    Cannot find module '?(?P<module1>@?[\w./@-]*linux-arm64[\w-]*)
    Could not load the '(?P<module2>sharp)' module using the linux-arm64
cause = The compiled part of a package for this processor, {module}, is not installed: node_modules or its lock was made
    on another one, or without optional packages.
remedy = Remove node_modules (and package-lock.json, where npm leaves it out again), and run npm install here; never
    copy node_modules from an x86 host or into an image (.dockerignore).
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
remedy = Install a newer release of it (old ones of Electron and its chromedriver have none for arm64), or leave the
    package out and name the system's program (chromium and its driver; PUPPETEER_SKIP_DOWNLOAD=1 with
    PUPPETEER_EXECUTABLE_PATH, CHROMEDRIVER_FILEPATH).
source =
    electron/electron#8291
    giggio/node-chromedriver#173

[npm-platform]
keys = Unsupported platform for
pattern =
    Unsupported platform for (?P<package>\S+): wanted \{(?P<need>[^}\n]*)\}[^\n]*'(?:cpu|arch)':'arm64'
cause = The package {package} is not for this processor (arm64): it takes {need}, as a lock or a package.json names that
    was written on another machine.
remedy = Remove that package from dependencies (it belongs into optionalDependencies), delete node_modules and
    package-lock.json and run npm install here, or take a release of the program that supports linux-arm64.
source = anatoliygatt/deep-freeze-node#10

[esbuild-platform]
keys = installed esbuild for another platform
pattern =
    You installed (esbuild) for another platform(?:(?s:.{0,500}?)the '(?P<have>@esbuild/[\w-]+)' package is present)?
cause = node_modules was made on another machine: {found}'s program in it is for that one[ ({have})].
remedy = Delete node_modules and run npm ci here; in a Dockerfile put node_modules into .dockerignore, so that the
    host's is not copied.

[node-abi]
keys =
    NODE_MODULE_VERSION
    Error: The module '
pattern =
    module '(?P<module>[^'\n]+)'\s+was compiled against a different Node\.js version using\s+NODE_MODULE_VERSION (?P<bui
    +lt>\d+)(?s:.{0,80}?)NODE_MODULE_VERSION (?P<have>\d+)
cause = {module} was compiled for another Node (ABI {built}) than the one that runs (ABI {have}).
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
cause = Node does not find {found}: a package that is not installed, or a file that was not built.
remedy = Run npm ci in the directory of package.json (without --omit=dev for a build); a path that begins with a dot or
    a slash must be built or corrected.

[node-heap]
keys = JavaScript heap out of memory
pattern = (JavaScript heap out of memory)
cause = Node reached its own limit of memory, which is far below the host's ({found}); builds of web interfaces need
    more.
remedy = Set NODE_OPTIONS=--max-old-space-size=8192 for the build (in a Dockerfile as ENV).

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
    what of found: Unexpected => is older than the program, and does not know its syntax
    what of found: ERR => cannot load an ES module by require
    what of found: . => has an OpenSSL that refuses what this old bundler (webpack 4) uses
    advice of found: Unexpected => Install a newer Node (nvm install 22; Ubuntu's own is 18)
    advice of found: ERR => Install Node 22.12 or newer, or the versions of the packages that the lock names (npm ci)
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
cause = No more files can be watched on this host ({found}); the disk is not full.
remedy = Raise it: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024, and keep it in
    /etc/sysctl.d.

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
cause = A package has no compiled file for this Node on ARM, and cannot be built: {found} is missing.
remedy = Install build-essential and python3 (in the image, too), or a Node for which the package has a file; a
    node-gyp that
    asks for python2 is too old: take a newer release of the package that brings it.

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
remedy = Update VS Code first, where the host is new enough (Ubuntu 20.04 and newer; some releases measured wrongly),
    and remove ~/.vscode-server on the host; for an older host such as Ubuntu 18.04 of JetPack 4 take VS Code 1.98 or
    older, or work in a container.
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
cause = VS Code's server could not be put on the remote host ({found}).
remedy = See on the host that curl -I https://update.code.visualstudio.com works (a proxy belongs into ~/.bashrc before
    its test for a terminal) and that df -h ~ has room; or set remote.SSH.localServerDownload to always, so that your
    computer downloads it. Then remove ~/.vscode-server there and connect again; a 404 of server-linux-armhf means a
    32-bit system.
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
    what of code: 1006 => the other side ended without a word: it crashed, was killed, or a proxy cut the connection
    what of code: 1008 => the other side refuses it (a token, an origin or a policy)
    what of code: 1009 => a message is larger than the other side takes
    what of code: 1011 => the other side failed at the request
    what of code: 101[23] => the other side restarts or is overloaded
    advice of code: 1008 => Give it the right token, and allow the page's origin in the server's configuration
    advice of code: 1009 => Raise the server's limit of a message, or send less at once
    advice of code: . => Read that program's own log for the first error (its unit's journal, docker logs), see that it
    + runs and listens at that address with the same kind (ws or wss), and allow upgrades in a proxy between
uncertain = yes
cause = A WebSocket was closed with {code}: {what}.
remedy = {advice}.
source = NVIDIA/NemoClaw#4616

[jupyter-xsrf]
keys = '_xsrf' argument missing
pattern = ('_xsrf' argument missing)
cause = Jupyter refused a request of its own page ({found}): the browser's cookie is of another server or an earlier
    start, or a proxy drops it.
remedy = Open the address with its token anew in a private window, and pass cookies and websockets through the proxy;
    two servers on one host name need different ports and names.

[jupyter-file-mode]
keys = Permissions assignment failed for secure file
pattern = Permissions assignment failed for secure file: '(?P<file>[^'\n]+)'\.\s*Got '(?P<mode>\w+)'
cause = Jupyter cannot make {file} readable for its account alone (it got {mode}): the file system does not keep modes,
    as mounts of Windows and some network shares.
remedy = Set JUPYTER_RUNTIME_DIR to a directory of a local disk, or JUPYTER_ALLOW_INSECURE_WRITES=1 where nobody else
    can log in.
source = jupyter/notebook#5058

[jupyter-kernel-program]
keys = Failed to run command:
pattern = App\] Failed to run command:\s+\['(?P<program>[^'\n]+)'
cause = Jupyter cannot start the program of a kernel, {program}: it is not there, not on the PATH of Jupyter's account,
    or not executable for it (below /root for another account).
remedy = See what the kernel starts (jupyter kernelspec list, kernel.json in that directory), and install the kernel
    again as the account that runs Jupyter (python -m ipykernel install --user).
source = SciSharp/SciSharpCube#3

[comfyui-no-node]
keys = due to the lack of NODE_CLASS_MAPPINGS
pattern = Skip (?P<path>\S+) module for custom nodes due to the lack of NODE_CLASS_MAPPINGS
cause = {path} is in the directory of ComfyUI's custom nodes, and is none: a Python package, a directory too high or too
    low, or a copy that is not complete.
remedy = Move it out of custom_nodes; install a package (SageAttention, Triton) with ComfyUI's own pip, and start with
    --use-sage-attention for the first; clone a node again so that its __init__.py lies in custom_nodes/NAME.
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
cause = Jupyter found no free port ({found}): others run already, or the address of --ip is not this host's.
remedy = See jupyter server list, end the old ones, or choose --port; --ip 0.0.0.0 is any address of this host.

[jupyter-kernel-unknown]
keys = No such kernel
pattern = No such kernel named (\S+)
cause = Jupyter has no kernel called {found}.
remedy = See jupyter kernelspec list; in that environment run python -m ipykernel install --user --name {found}.

[jupyter-kernel-died]
keys =
    Kernel died
    restarting kernel (
pattern =
    (Kernel died, restarting)
    (restarting kernel \(\d+/\d+\))
uncertain = yes
cause = The notebook's Python ended by itself ({found}): mostly memory ran out, or a compiled library crashed.
remedy = Run the same code with python in a terminal, which shows why; look for Out of memory in the kernel's log
    (journalctl -k).

[jupyter-host-refused]
keys = Blocking request with non-local 'Host'
pattern = Blocking request with non-local 'Host' (\S+)
cause = Jupyter answers only requests for localhost, and this one was for {found}.
remedy = Start it with --ip 0.0.0.0 and a password, or reach it through ssh -L 8888:localhost:8888.

[database-locked]
keys = database is locked
pattern = (database is locked)
cause = Another process has the SQLite file open for writing, or it lies on a network file system ({found}).
remedy = End the second copy of the program (two containers with one volume), and keep the file on a local disk.

[database-not-writable]
keys =
    unable to open database file
    attempt to write a readonly database
pattern = (unable to open database file|attempt to write a readonly database)
cause = The program may not open or write its SQLite file ({found}): its directory does not exist or belongs to another
    account, as a volume does that was made by a container's root.
remedy = Make the directory and give it to the account that runs the program (sudo chown -R; of a container the user of
    --user), and mount it writable.

[gradio-localhost]
keys = When localhost is not accessible
pattern = When (localhost is not accessible), a shareable link must be created
cause = Gradio did not reach its own server ({found}): a proxy gets the request, or a package of another version breaks
    its page.
remedy = Set NO_PROXY=localhost,127.0.0.1,0.0.0.0, and start it with server_name="0.0.0.0"; else install the gradio and
    pydantic that the program pins.

[gradio-share]
keys = Could not create share link
pattern = Could not create share link\.(?: Missing file: (?P<file>\S+?)\.?(?:\s|$))?
cause = Gradio could not make a public link[: it has no program {file} for it], or its server is not reached.
remedy = Start it without share=True and reach it by ssh (ssh -L 7860:localhost:7860 HOST), or in the own network with
    server_name="0.0.0.0"; for the link get the file that its message names, and make it executable.

[gradio-schema]
keys = TypeError: argument of type 'bool' is not iterable
pattern = (argument of type 'bool' is not iterable)
cause = The installed Gradio cannot read the schema of a newer pydantic (2.11) for its page ({found}).
remedy = Install pydantic of the release before (pip install pydantic==2.10.6), or upgrade gradio and gradio_client.
source = THU-MIG/yoloe#72

[open-webui-secret]
keys = Required environment variable not found. Terminating
pattern = (Required environment variable not found)
cause = Open WebUI has no key for its sessions ({found}): WEBUI_SECRET_KEY is not set and none can be written.
remedy = Set it (docker run -e WEBUI_SECRET_KEY="$(openssl rand -hex 32)"), or start it by its own command
    (open-webui serve), which writes one.

[api-key-refused]
keys =
    AuthenticationError: Error code: 401
    Incorrect API key provided
    invalid_api_key
pattern =
    (AuthenticationError: Error code: 401)
    (Incorrect API key provided|invalid_api_key)
cause = The server refuses the client's API key ({found}).
remedy = Give the client the key with which the server was started (--api-key or VLLM_API_KEY of vLLM, any text where it
    has none), and see that base_url is that server's (http://HOST:PORT/v1), not OpenAI's own.

[yarn-engine]
keys = is incompatible with this module
pattern =
    The engine '(?P<engine>\w+)' is incompatible with this module\. Expected version '(?P<need>[^'\n]+)'\. Got '(?P<have
    +>[^'\n]+)'
cause = {engine} {have} is not of the version that a package needs: {need}.
remedy = Install a {engine} of that range (nvm install 22 for Node), or pass --ignore-engines if you know that it works.

[corepack-keys]
keys = Cannot find matching keyid
pattern = (Cannot find matching keyid)
cause = This Node's corepack is older than the keys of npm's registry ({found}).
remedy = Update it (npm install -g corepack@latest), or a newer Node.

[playwright-browser-missing]
keys = Executable doesn't exist at
pattern = Executable doesn't exist at (\S+)
cause = Playwright's browser {found} was not downloaded for this version.
remedy = Run playwright install --with-deps chromium in the same environment, as the user who runs it.
"""
