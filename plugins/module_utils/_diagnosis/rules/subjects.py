# __init__.py in this directory explains the fields.

"""Subjects of errors

What an error concerns that no rule knows, by the words of its line, and what most often helps there. The first subject
that matches is reported; its cause continues the sentence: This error is not among the known ones.
"""

RULES = r"""
[subject-unsupported-query]
keys =
pattern = (?i:nvml|nvidia-smi|gpu memory|memory info|\bMIG\b|gpu clock|info for|minor number|power)[^\n]*(?i:not.?supp
    +orted)
cause = but concerns a query or a setting that this GPU does not have
remedy = A GB10 shares the host's memory, so that its driver has no counters of GPU memory, no MIG and no power limit:
    use a newer release of the program, which continues without them, or switch that query or setting off.

[subject-driver]
keys =
pattern =
    \b(?:NVRM|NVML|Xid|GSP|nvmlInit|nvml|nvidia-smi|nvidia-modeset|nvidia-uvm|nvidia-nvswitch|nvidia-persistenced|nvid
    +ia\.ko)\b
    (?i:nvidia[ _](?:driver|devices?|drm)|driver version|cuInit|no CUDA-capable|cuda driver|vulkan)
    (?i:permission)[^\n]*(?i:performance counters)
cause = but concerns the NVIDIA driver
remedy = Make nvidia-smi work on the host first, and reboot if the driver was updated since the last start (cat
    /proc/driver/nvidia/version and modinfo -F version nvidia must agree). A container needs --gpus all. The driver's
    own lines are in the kernel's log (journalctl -k | grep -e NVRM -e Xid).

[subject-memory]
keys =
pattern =
    ^(?!.*(?:not yet initialized))(?=.*(?:(?i:(?<!heap )out.of.(?:\w+ )?memory|signal 9\b|\bSIGKILL|killed signal|(?:c
    +ode|status) 137|not enough (?:\w+ )?memory|(?:insufficient|no available) (?:\w+ )?(?:v?ram|memory)\b)))
    ^(?!.*(?:not yet initialized))(?=.*(?:(?i:failed to allocate|allocation failed|(?:cannot|unable to) allocate(?!.*s
    +tatic TLS)|malloc of size|memory pressure)))
    ^(?!.*(?:not yet initialized))(?=.*(?:(?i:free memory|memory (?:capacity|fraction|utili[sz]ation|budget|profiling|
    +limit)|(?:system|gpu) memory|\bVRAM\b)))
cause = but concerns memory
remedy = Stop other programs that use it (nvidia-smi, free -g), drop the page cache, which counts on a GB10 (echo 3 |
    sudo tee /proc/sys/vm/drop_caches), and lower the program's share, context or batch (--gpu-memory-utilization,
    --mem-fraction-static, --max-model-len; --shm-size of a container).

[subject-rdma]
keys =
pattern =
    (?i:\bibv_|\brdma|\bmlx5|\bRoCE\b|\bGIDs?\b|\bHCAs?\b|\bsyndrom|infiniband|\bibwarn|\bumad|\bUCX\b|\bCX7 |wr_id)
    ^\W*(?i:Unable to (?:perform|open|init)|Failed to open device|Couldn't connect to \d)
cause = but concerns RDMA between the hosts
remedy = Check on both hosts that the port is up and has an address of one subnet (ibdev2netdev; rdma link; ip -br addr;
    show_gids). A container needs --network host, --device /dev/infiniband, --cap-add IPC_LOCK and --ulimit memlock=-1.
    Then test that port alone, with the same options on both (ib_write_bw -d DEVICE; ib_write_bw -d DEVICE ADDRESS).

[subject-firmware]
keys =
pattern = (?i:\bfwupd|write-firmware|capsule update|fwupd\S*capsule|\bUEFI\b|\bSBIOS\b|firmware update)
cause = but concerns the host's firmware
remedy = Connect the power supply, run fwupdmgr refresh --force and fwupdmgr update, and reboot after each update;
    fwupdmgr get-devices says what a device waits for.

[subject-boot]
keys =
pattern = (?:Kernel panic|\bOops\b|initramfs|\binitrd\b|EFI stub|\bEFI\b|grub-?\w*|GRUB|shim signature|live file syste
    +m|compressed image)
cause = but concerns the start of the system or its kernel
remedy = Choose the previous kernel in the boot menu. There, complete the installation of the new one (sudo dpkg
    --configure -a; sudo update-initramfs -u -k all; sudo update-grub), and keep the lines above for a report.

[subject-mount]
keys =
pattern = (?:^|\s)mount(?:\.\w+)?: |(?i:\bNFS\b|\bcifs\b|stale file handle|\bfstab\b|umount)
cause = but concerns a mount
remedy = Compare /etc/fstab with lsblk -f and findmnt, install what the file system needs (nfs-common, cifs-utils), ask
    the server for its exports (showmount -e SERVER; on it, sudo exportfs -v), and mount it again (sudo umount -l PATH;
    sudo mount -v PATH).

[subject-disk]
keys =
pattern =
    \b(?:EXT4-fs|JBD2|XFS \(|BTRFS|nvme\d|Ext4Error|journal on device|fsck)
    /dev/(?:disk|nvme|sd[a-z])|(?i:\bI/O error|input/output error|no space left|disk full|read-only file system|wron
    +g fs type|superblock|swapon|swapfile|with swap on)
cause = but concerns a disk or its file system
remedy = Check its space and mount (df -h, df -i, findmnt) and its health (sudo smartctl -a /dev/nvme0), save the data,
    and check the file system while it is not mounted (sudo fsck -f DEVICE).

[subject-kernel-module]
keys =
pattern =
    ^(?:(?=.*?\b(?:[Mm]odule |insert (?:module )?)'?(?P<module>(?!build|not|for|is)[a-z]\w+)'?[: ,])|)(?=.*(?:\b(?:mod
    +probe|insmod|rmmod|dkms|DKMS|modpost|Module\.symvers|libkmod)\b|(?i:kernel (?:module|headers|version)|module buil
    +d|could not insert|\b(?:insert )?module \S+ (?:not found|is in use)|insert module)))
cause = but concerns a kernel module
remedy = [Ask for it ({module}) under the running kernel (modinfo {module}; sudo modprobe {module}; sudo dmesg | tail).
    ]Install the running kernel's headers and modules (sudo apt install linux-headers-$(uname -r)), rebuild it (sudo
    dkms autoinstall; dkms status), and reboot if a newer kernel is installed; with Secure Boot its key must be
    enrolled.

[subject-heat]
keys =
pattern = (?i:thermal|critical temp|temperature|throttl|overheat)
cause = but concerns the host's temperature
remedy = Let air reach both sides and take other hot hosts away from it, watch it (nvidia-smi -q -d TEMPERATURE,CLOCK;
    sensors), and limit the load (nvidia-smi -lgc 0,2000) until it stays cool; update the firmware (fwupdmgr update).

[subject-device]
keys =
pattern =
    ^\W*(?:kernel: )?(?:usb|xhci\S*|pcieport|igc|r8\d+|mt7\w+|iwlwifi|mlx\w+|nvme) (?P<device1>[\w:.-]+?):(?=\s)
    (?:NETDEV WATCHDOG: (?P<device2>\w+)|(?i:(?<!-)\bPCIe\b|\bAER\b|\bHC died|USB (?:disconnect|device)|\bSError\b|dev
    +ice now detached|transmit queue))
    (?i:load firmware|firmware file)
cause = but concerns a device of this host
remedy = Switch the host fully off and unplug it for a minute, reseat the device[ ({device})] or its cable, and update
    the kernel and the firmware (sudo apt full-upgrade, which includes linux-firmware; fwupdmgr update). lspci -nnk and
    lsusb -t show whether a driver has it, and journalctl -k -b what the kernel reported first.

[subject-nccl]
keys =
pattern = \bNCCL\b|\bnccl[A-Z]\w+|(?i:nvshmem|all.?reduce|collective)
cause = but concerns NCCL, with which GPUs exchange data
remedy = Run it again with NCCL_DEBUG=INFO on all hosts, with one release of NCCL on them, and set NCCL_SOCKET_IFNAME
    and NCCL_IB_HCA to the cabled ports. A container needs --network host and --ipc host; one Spark needs one process.

[subject-c-library]
keys =
pattern = \b(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+
cause = but concerns the C or C++ library of the system
remedy = The file was built on a newer system, or an older copy of that library is loaded first: use an image with a
    newer one (Ubuntu 24.04 has glibc 2.39), take old copies off LD_LIBRARY_PATH (conda install -c conda-forge
    libstdcxx-ng brings a newer libstdc++), or build it from source here.

[subject-apt]
keys =
pattern =
    ^(?:(?=.*?(?:package|matching|install) '?(?P<package>[a-z0-9][a-z0-9+.-]{2,60})'?)|)(?!.*(?:failed to solve|=> ERR
    +OR|from daemon|ERROR!|Command line option))(?=\W{0,2}(?:[EW]: |Err:\d+ )|.*(?:\b(?:apt|apt-get|apt-key|dpkg\S*|In
    +Release|PPA|python3-apt)\b|\.deb\b|sources\.list|(?i:NO_PUBKEY|signatures? (?:were|couldn)|hash sum mismatch|\bOp
    +enPGP\b|\bgpg:|apt for exclusive)))
cause = but concerns apt, its sources or its packages
remedy = Read what sudo apt update reports[, and which versions there are (apt-cache policy {package})]. Correct the
    source that it names in /etc/apt/sources.list.d (a Spark is arm64, of Ubuntu's release lsb_release -cs; Ubuntu's
    arm64 packages are on ports.ubuntu.com), fetch its key again, and run sudo dpkg --configure -a and sudo apt
    --fix-broken install.

[subject-download]
keys =
pattern =
    ^(?:(?=.*?(?P<url>https?://[^\s"'`,;)>]*[^\s"'`,;:.)>]))|)(?=.*(?i:\bHTTP (?:status|error|code)\W+(?:client erro
    +r )?\W?[45]\d\d|failed to download|requested URL|downloading \S*https?:|dial tcp|failed to do request|could not r
    +esolve host|x509))
cause = but concerns a download
remedy = Fetch the address by hand where the program runs[ (curl -fLv -o /dev/null {url})]: 404 needs another version,
    name or architecture in it, 401 or 403 a login or token, and no answer the proxy (https_proxy) or its certificate.

[subject-kubernetes]
keys =
pattern =
    (?i:kube(?:let|ctl|adm)|\bPodSandbox|\bpods?\b|\bhelm\b|device plugin|\bk3s\b|RuntimeHandler|\bCRI\b|microk8s)
    (?i:incompatible (?:strategy|platform)|Error from server|container runtime network)
cause = but concerns Kubernetes or its node
remedy = Read the events and the node's journal (kubectl describe pod NAME; journalctl -u k3s -u kubelet -e), check that
    the runtime class nvidia exists (kubectl get runtimeclass), and that nvidia-smi works in a container on the node.

[subject-registry]
keys =
pattern =
    ^(?:(?=.*?(?:image |for |solve: |pull |docker\.io/|resolve reference ['"])(?P<image>(?!linux/)[a-z0-9][\w.-]*/[\w.
    +/-]+(?::[\w.-]+)?))|)(?=.*(?i:(?<!model )\bmanifest(?!-path)|pull access|(?<![/+])\bregistry(?!\+)|toomanyrequest
    +s|unauthorized|denied: |failed to resolve (?:source|reference)|storing credentials|short-name|filesystem layer|re
    +gister layer|finished image|could not open image|Head \S?https?://))
cause = but concerns an image or its registry
remedy = Check the name and that the tag has linux/arm64[ (docker manifest inspect {image})], log in (docker login HOST;
    for nvcr.io the user is $oauthtoken and the password an NGC key), and check the disk (df -h /var/lib/docker) and the
    daemon's proxy (systemctl show docker -p Environment).

[subject-container-gpu]
keys =
pattern =
    (?i:nvidia-container|nvidia-ctk|container toolkit|\bCDI\b|nvidia\.com/gpu|libnvidia-container|nvidia-cdi-hook)
    (?i:daemon|docker|podman|oci|container)[^\n]*(?i:(?<![/.])\b(?:gpus?|nvidia|cuda|runtime name)\b(?!/))|driver [\d.
    +]+ < image
cause = but concerns the GPU in containers
remedy = Make nvidia-smi work on the host, then install and configure the toolkit again: sudo apt install
    nvidia-container-toolkit; sudo nvidia-ctk runtime configure --runtime=docker; sudo nvidia-ctk cdi generate
    --output=/etc/cdi/nvidia.yaml; sudo systemctl restart docker. Test it with docker run --rm --gpus all ubuntu
    nvidia-smi.

[subject-image-build]
keys =
pattern = (?i:failed to solve|dockerfile|buildkit|\bbuildx\b|build executor|=> ERROR)
cause = but concerns the build of an image, or its platform
remedy = Show the complete step (docker build --progress=plain --no-cache), correct that line for linux/arm64 (base
    image, downloads), and check that the files that it copies are in the build's directory and not in .dockerignore.

[subject-container]
keys =
pattern =
    ^(?!.*(?:nvcc|exec format))(?=.*(?i:response from daemon|start daemon|\bOCI\b|\brunc\b|\bcrun\b|containerd|\bpodma
    +n|docker|compose|\bconmon\b|cgroup|containers? (?:runtime|network)))
cause = but concerns the container engine or its configuration
remedy = Check the engine and its files (systemctl status docker; journalctl -u docker -n 50; sudo dockerd --validate;
    docker compose config), then restart it (sudo systemctl restart docker) and start the container again.

[subject-ansible]
keys =
pattern =
    ^\W*ERROR!|^\W*\[ERROR\]: Task failed|^\W*fatal: \[|^\W*failed: \[|(?i:\bansible\b|playbook|\bgalaxy\b|molecule)
    (?i:conditional (?:check|result)|'\S+' is undefined|undefined variable|module/action|\bbecom(?:e_|e (?:pass|user|m
    +ethod)|ing an)|privilege escalation|inventory|\blookup plugin|set the interpreter)
    ^(?!\W*jinja2).*'dict object'
    (?:No package matching|missing required arguments|async task|Destination \S+ )
cause = but concerns the play, or what its task expects on the host
remedy = Run it with -vvv, which shows the task's file, its values and the answer of the host. Check the syntax
    (ansible-playbook --syntax-check) and the collections (ansible-galaxy collection install -r requirements.yml
    --force), and try the same command by hand on the host as the same account.

[subject-ssh]
keys =
pattern = (?i:\bssh\b|\bssh-|\bscp\b|rsync|\bsftp\b|host key|publickey|identities|authentication agent|negotiate with)
cause = but concerns the connection by SSH
remedy = Try it by hand with ssh -v HOST as the same account: accept the host's key, copy your key (ssh-copy-id HOST),
    and check the name or address and port 22 (ssh -G HOST shows what applies).

[subject-git]
keys =
pattern =
    (?:^|[\s'(])git\b(?!\+)|fatal: (?:unable to access|repository|reference|destination|remote|could)|\bgit-lfs|\bLFS\b
    Smudge|unadvertised|[Ss]ubmodule '|by checkout:|GnuTLS|git clone|corrupt loose object|divergent branches|remote ref
cause = but concerns git or its repository
remedy = Check the address, branch or commit by hand (git ls-remote URL), then fetch everything again (git fetch --all;
    git submodule sync --recursive; git submodule update --init --recursive; git lfs pull), or clone into a new
    directory.

[subject-cmake]
keys =
pattern = CMake (?:Error|was)|(?i:\bmeson\b|pkg-config|configure: error|\bninja\b|bazel|cmake_)
cause = but concerns the configuration of a build
remedy = Install what the line names with its headers (sudo apt install libNAME-dev, pkg-config, ninja-build), delete
    the build directory, and configure again with -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc and
    -DCMAKE_CUDA_ARCHITECTURES=121; -DNAME_ROOT=DIR names a directory of its own.

[subject-python-package]
keys =
pattern =
    ^(?:(?=.*?(?:requirement |Distribution |version of |Because |for |no |package )['"`]?(?P<package>[a-z][\w.-]*(?:==
    +|>=|<=|~=|[<>])[\w.+*]+))|(?=.*?(?P<wheel>[\w.]+-[\w.+]+-\w+-\w+-\w+)\.whl)|)(?=.*(?:\u2570\u2500\u25b6|(?i:\bpip
    +3?\b(?!-)|\buv\b|\bconda(?=[ :])|poetry|pixi|\bwheels?\b|\.whl\b|(?<!#)requirement|(?<!CUDA )distribution|Resolut
    +ionTooDeep|no (?:matching|version)|version solving|[=\d] cannot be (?:installed|used)|versions of \S+ cannot|can'
    +t be installed|package registry|virtual environment|Mamba|PackagesNotFound|externally-managed|interpreter|pyproje
    +ct|\bsdist\b|package metadata)))
cause = but concerns the installation of a Python package
remedy = [The wheel's name must have this Python's tag and aarch64 ({wheel}). ]See which versions there are for this
    Python and aarch64 [for {package} ](pip index versions NAME; pip download --no-deps NAME). Often an environment with
    Python 3.12 (uv venv --python 3.12), a newer version with wheels for aarch64, PyTorch's packages from
    https://download.pytorch.org/whl/cu130, or a build from source (pip install --no-binary NAME) helps.

[subject-processor]
keys =
pattern = (?i:exec format|cannot execute binary|\bELF\b|x86[_-]64|\bamd64|aarch64|arm64|\bcpus?\b|instruction set)
cause = but concerns the processor for which a file was made
remedy = Compare the file with this machine (file PATH; uname -m: a Spark is aarch64), and take its release for
    linux-aarch64 or arm64 (an image with --platform linux/arm64). If there is none, build it from source, or use
    another program for the purpose.

[subject-node-package]
keys =
pattern = (?i:\bnpm\b|node\.js|node_modules|\bnode-|\byarn\b|javascript|\brollup\b|electron|playwright|jupyter|\bVS ?C
    +ode\b)
cause = but concerns a program of Node.js or its packages
remedy = Install the current Node.js for arm64, delete node_modules and the lock file, and install again (npm install).
    A package without a file for linux-arm64 needs a newer version or a build from source.

[subject-names]
keys =
pattern =
    ^(?!.*jinja2)(?=.*(?i:cannot import name|name '\w+' is not defined|no module named|unexpected keyword|positional a
    +rgument|has no attribute))
cause = but concerns a name that an installed package does not have
remedy = Install the version of that package that the program's release pins (pip show NAME; requirements.txt), or
    upgrade both together; look for a file or directory of that name beside the program, which hides the package.

[subject-gpu-architecture]
keys =
pattern =
    ^(?!.*(?:\(\d+\): error|:\d+:\d+: ))(?=.*(?i:\bsm_?\d{2,3}[af]?\b|compute.?capabilit|\bcapability\b|(?:gpu|cuda|de
    +vice|SM).?arch|\bblackwell|\bhopper|\bampe)
    ^(?!.*(?:\(\d+\): error|:\d+:\d+: ))(?=.*+re))
    ^(?!.*(?:\(\d+\): error|:\d+:\d+: ))(?=.*(?i:unsupported (?:gpu|device|arch)|no kernel image|device code|compute_
    +\d|libdevice|gpu-name|too old to be)
    ^(?!.*(?:\(\d+\): error|:\d+:\d+: ))(?=.*+ supported))
cause = but concerns the architecture of the GPU
remedy = A GB10 is 12.1 (sm_121), which many kernels and older builds do not know: choose another backend for that part
    (--attention-backend, --moe-backend, --quantization), use a newer release or an image for the Spark, or build it
    with CUDA 13 and TORCH_CUDA_ARCH_LIST=12.1a (CMAKE_CUDA_ARCHITECTURES=121a).

[subject-compiler]
keys =
pattern =
    (?i:\bnvcc\b|ptxas|nvlink|\bgcc\b|\bg\+\+|clang|\bcc1|\bld\b|\blinker\b|undefined reference|relocation|LTO\b|#error)
    CUDA_HOME|CUDA [Tt]oolkit|\w\.(?:h|hpp|cuh)'?: No such|evelopment package|\(\d+\): error|:\d+(?::\d+)?: (?:fatal )
    +?error|(?i:internal compiler|fatal error: \S+\.h|cannot open source|\brustc\b|cargo|\bcrate|rustup|panicked|assem
    +bler|\.s:\d)
cause = but concerns a compiler, a linker or their headers
remedy = Compile with this machine's own tools in one version: gcc and g++ 13 with build-essential and python3-dev, nvcc
    of CUDA 13 (PATH=/usr/local/cuda/bin:$PATH, nvcc --version), a current Rust (rustup update). Options for x86 (-msse,
    -mavx, -m64) do not exist on aarch64. Then build in an empty directory.

[subject-tensorrt]
keys =
pattern = (?i:\bTRT\b|tensorrt|trtllm|engine plan|onnx|ExecutionProvider|cudnn)
cause = but concerns TensorRT, ONNX Runtime or cuDNN
remedy = Use one release of it with its CUDA and cuDNN (NVIDIA's image for the Spark has them), rebuild engines on this
    host with the installed TensorRT, and leave out the node or precision that the line names.

[subject-quantization]
keys =
pattern =
    ^(?!.*(?:buffer named|loss scale))(?=.*(?:(?i:fp4\b|fp8|mxfp|float8|\bint[48]\b|gptq|\bawq\b|marlin|quantiz|_scale
    +s?\b|(?:weight|input|block|tensor).?scal|scaling mode|cutlass|gemm|grouped.?mm|_mm\b)))
    ^(?!.*(?:buffer named|loss scale))(?=.*(?:(?i:\bmoe\b|experts?\b|modelopt|bitsandbytes|torchao|swizzl|block.?scal)))
cause = but concerns kernels for quantized weights or experts
remedy = Choose another kernel for that part (vLLM: --moe-backend marlin or triton; SGLang: --moe-runner-backend and
    --fp8-gemm-backend triton), use the model in another quantization (AWQ, GPTQ, FP8, BF16) or a newer release; those
    for data-centre GPUs (DeepGEMM, TensorRT-LLM's) do not run on a GB10.

[subject-compilation]
keys =
pattern = (?i:cuda ?graph|\bcaptur|torch\.compile|inductor|dynamo|compile the model|compiled graph|custom op lookup|\b
    +guards?\b|piecewise)
cause = but concerns compilation or CUDA graphs
remedy = Start it without them (vLLM: --enforce-eager; SGLang: --disable-cuda-graph; elsewhere TORCHDYNAMO_DISABLE=1),
    and delete the caches (~/.cache/vllm, /tmp/torchinductor_*, ~/.triton).

[subject-attention]
keys =
pattern =
    ^(?!.*(?i:nixl|kvtransfer|transfer failed|shared memory))(?=.*(?i:attention|flash_?attn|\bFA[23]?\b|flashinfer|\bm
    +la\b|kv.?cache|head_?(?:size|dim)|(?:page|block).?size|prefill))
    ^(?!.*(?i:nixl|kvtransfer|transfer failed|shared memory))(?=.*(?i:\bqkv?\b|\bquery\W{1,3}key|sdpa|xformers|num_tok
    +ens))
cause = but concerns attention or its cache
remedy = Choose another attention (vLLM: --attention-backend TRITON_ATTN or FLASHINFER; SGLang: --attention-backend
    triton; Transformers: attn_implementation="sdpa"), and leave out --kv-cache-dtype and the sizes of blocks and pages.

[subject-kernel]
keys =
pattern = (?i:triton|\bptx\b|nvrtc|cubin|nvvm|\bmlir\b|\bllvm\b|passmanager|\bkernels?\b(?!:)|launch (?:failure|TMA)|f
    +ailed to launch|resource: shared memory|cublas|cufft|curand)
cause = but concerns a GPU kernel or its compiler
remedy = Use the Triton and CUDA libraries of this PyTorch (pip check; pip list | grep -i -e torch -e triton -e nvidia),
    delete the kernels' caches (~/.triton, ~/.cache/flashinfer, ~/.nv), let Triton use CUDA 13's ptxas (export
    TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas), choose another backend for that part, or a newer release, because
    older ones have no kernels for a GB10 (12.1).

[subject-lora]
keys =
pattern = (?i:\blora\b|adapter|\bpeft\b|target.?modules)
cause = but concerns a LoRA adapter
remedy = Compare its adapter_config.json (rank, target modules, base model) with the server's options (--enable-lora,
    --max-lora-rank, --lora-modules NAME=PATH), upgrade peft, or merge it into the model.

[subject-gguf]
keys =
pattern = (?i:gguf|ggml|llama[._ -]?(?:cpp|runner|server)|pull model|do load request|ollama|modelfile|mmproj|vocab type)
cause = but concerns llama.cpp, Ollama or a GGUF file
remedy = Update it (for a Spark, build llama.cpp with -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=121), download the file
    again from a repository that names this release, and read the server's own lines (journalctl -u ollama -e).

[subject-comfyui]
keys =
pattern = (?i:comfy|workflow|custom.?node|\bclip\b|\bvae\b|\bunet\b|diffus|latent|safetensors.*checkpoint|model type of)
cause = but concerns a diffusion model or its nodes
remedy = Use the files that the workflow's page names, each in its own directory (diffusion_models, text_encoders, vae,
    loras), and update ComfyUI with its nodes (git pull; pip install -r requirements.txt), or diffusers and
    transformers.

[subject-chat]
keys =
pattern =
    (?i:chat.?template|jinja|tool[ _-]?(?:call|choice|parser|param)|tools\b|reasoning|\bthink\w*\b|system message|harm
    +ony)
    (?i:conversation|roles must|grammar|json.?schema|xgrammar)
cause = but concerns the chat template, tools or the output's form
remedy = Use the model's newest tokenizer_config.json and template (--chat-template FILE; llama.cpp: --jinja), the
    parsers that its page names (--tool-call-parser, --reasoning-parser), and send one system message, first.

[subject-tokenizer]
keys =
pattern = (?i:tokeni[sz]er|vocab|special token|sentencepiece|tiktoken|\beos\b|pad_token|token id)
cause = but concerns the tokenizer
remedy = Download the model's tokenizer files again (tokenizer.json, tokenizer_config.json), and install transformers,
    tokenizers, sentencepiece, tiktoken and protobuf in the versions that its page names.

[subject-versions]
keys =
pattern =
    (?i:version|incompatib(?!le (?:strategy|platform))|compiled (?:with|against)|built (?:with|against|for)|\bnewer\b|
    +\bolder\b|too (?:old|new)|deprecat)
    (?i:removed|no longer|upgrade|not a valid attribute|undefined symbol|symbol )
cause = but concerns versions that do not fit
remedy = Install the versions that the program's release pins (requirements.txt, pyproject.toml) in a fresh environment,
    and compare what is loaded (pip check; pip list); upgrade packages that belong together in one command.

[subject-images]
keys =
pattern = (?i:\bimages?\b(?!\.)|pixel|video|audio|multi-?modal|vision|\bmm_|placeholders?|torchcodec|ffmpeg|opengl|dis
    +play)
cause = but concerns pictures, sound or video
remedy = Use the processor and template of the same release as the model (upgrade transformers), smaller or fewer
    pictures, and install FFmpeg and a backend without a display (sudo apt install ffmpeg; MPLBACKEND=Agg;
    MUJOCO_GL=egl).

[subject-model]
keys =
pattern =
    (?i:config\.json|architecture|model.?type|processor|auto_map|remote.code|configuration class|model class|pretrained)
    (?i:unrecognized model|not a local folder|appear to have a file|model identifier|huggingface|\brepo\b|gated)
cause = but concerns the model's files or its architecture
remedy = Use a newer release of the program with its Transformers (pip install -U), download the complete model again
    (hf download NAME; hf auth login for a gated one), and pass --trust-remote-code if the model brings its own code.

[subject-weights]
keys =
pattern =
    ^(?!.*(?:(?i:reqwest|connect|requires?_grad)))(?=.*(?:(?i:state_?dict|checkpoint|safetensors|\bweights?\b|\bshards
    +?\b|parameters?\b|\blayers?\b|missing key|unexpected key)))
    ^(?!.*(?:(?i:reqwest|connect|requires?_grad)))(?=.*(?:(?i:map tensor|tensor ['"`]|tensor \w+\.\w+|load_?weights|bu
    +ffer named|size mismatch)))
cause = but concerns the model's weights
remedy = Use the release that the model's page names, because the weights have other names or shapes than this one
    expects, download them again completely, or use another quantization of the model.

[subject-sizes]
keys =
pattern =
    (?i:\bshapes?\b|size of tensor|dimensions?\b|\bdim\b|multiplied|divisible|contiguous|\bmat[12]\b|index out of|of l
    +ength)
    (?i:(?:long|great|larg|small|few)er than|less than|more than|exceed|too (?:long|large|many|small|few)|at most)
cause = but concerns sizes or lengths
remedy = Compare the two numbers or shapes of the line. If options set them, raise the smaller or lower the larger (a
    name with underscores is an option with hyphens). If files do, use model, weights, adapter and processor of one
    family and release.

[subject-training]
keys =
pattern =
    (?i:\bgrad|backward|autograd|optimi[sz]er|\bloss\b|requires_grad|\bddp\b|\bfsdp|dtensor|reducer|inplace|trainer|ge
    +nerations)
    (?i:deepspeed|megatron|accelerate|unsloth|\btrl\b|rollout)
cause = but concerns the training's settings
remedy = Install the versions of torch, transformers, trl, peft, accelerate and deepspeed that the program pins,
    together, and try it with one process, without offloading and gradient checkpointing, in bfloat16.

[subject-processes]
keys =
pattern =
    (?i:\branks?\b|world.?size|process group|rendezvous|\bray\b|raylet|\bgloo\b|\bmpi\w*|\borted\b|placement group|\bG
    +CS\b)
    torch\.distributed|\bDist\w*Error|(?i:nixl|kvtransfer|transfer failed|master_|torchrun|\bpeers?\b(?! cert)|handsha
    +ke|client socket|server socket|parallel|\bworkers?\b|all hosts|cluster|node types|resource request)
cause = but concerns the processes of one job, or the hosts between which they run
remedy = Start it with one process on one Spark (--tensor-parallel-size 1, --nproc-per-node 1). For several hosts use
    one release on all, a master address that all reach (ping, nc -z ADDRESS PORT), the cabled interface
    (GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME, VLLM_HOST_IP), and start the head first (ray status lists the hosts).

[subject-data]
keys =
pattern = ^(?!.*(?i:toml|yaml|json))(?=.*(?i:datasets?\b|dataloader|\bcolumns?\b|parquet|\barrow\b|\bcsv\b|jsonl|label
    +s?\b|samples?\b|feature type|padding))
cause = but concerns the data
remedy = Print one row and the columns' names, rename or cast them to what the trainer expects, set padding and
    truncation, and upgrade datasets.

[subject-types]
keys =
pattern =
    (?i:\bdtypes?\b|data type|bfloat16|float16|\bhalf\b|'Half'|float32|\bint64\b|\bfloat\b|scalar type|not implemente
    +d for)
cause = but concerns a data type
remedy = Load all parts in one type (--dtype bfloat16; dtype=torch.bfloat16), run the call under torch.autocast("cuda",
    dtype=torch.bfloat16), or move it to the GPU, which has more types than the CPU.

[subject-devices]
keys =
pattern =
    ^(?!.*(?:suspend))(?=.*(?:(?i:\bcuda\b|\bgpus?\b|\bdevices?\b|accelerator|\bmeta\b)))
cause = but concerns the GPU as the program sees it
remedy = Check python -c "import torch; print(torch.version.cuda, torch.cuda.is_available())" in the program's
    environment: with None or False install PyTorch for CUDA 13 (https://download.pytorch.org/whl/cu130) or start the
    container with --gpus all; unset CUDA_VISIBLE_DEVICES; and keep model and inputs on one device (.to("cuda")).

[subject-library]
keys =
pattern =
    ^(?:(?=.*?\b(?P<library>lib[\w+-]+\.so(?:\.\d+)*))|)(?=.*(?i:\blib\w+\.so|shared (?:object|librar)|\.so\b|\blib[a-
    +z]+ |dlopen|load (?:any|library|plugin)))
cause = but concerns a shared library
remedy = [Find its package and copies (apt-file search {library}; ldconfig -p | grep {library}). ]Install it for aarch64
    in the version that the program was built with (ldd FILE shows which are missing), and remove other copies from
    LD_LIBRARY_PATH.

[subject-crash]
keys =
pattern =
    (?i:core dumped|illegal instruction|segmentation|\bsignal\b|exit(?:ed|code)?\W+(?:with )?(?:code|status)|died|term
    +inated)
    (?i:corrupted|\baborted|killed|exited unexpectedly|not responding|stopped with)
cause = but concerns the end of a process
remedy = Look for the kernel's reason at that time (journalctl -k -e, grep -i -e segfault -e "out of memory"), for its
    first error further up, and for programs built for x86 (file PATH); run it by hand once with PYTHONFAULTHANDLER=1
    and fewer processes.

[subject-login]
keys =
pattern = (?i:api.?key|credential|\btoken\b|forbidden|\blogin\b|\bauth\w*|\bpassword|\b40[13]\b)
cause = but concerns a login, key or token
remedy = Create the key or token again on the service's page, pass it where the program runs (export NAME=VALUE; docker
    run -e NAME), and check that the account may use this model, image or project.

[subject-network]
keys =
pattern =
    ^(?:(?=.*?(?P<url>https?://[^\s"'`,;)>]*[^\s"'`,;:.)>]))|(?=.*?\b(?P<host>(?:\d{1,3}\.){3}\d{1,3})(?:[:<, ]+(?:por
    +t )?(?P<port>\d{2,5})\b)?)|)(?=.*(?i:https?://|connect|socket|\bport\b|address|proxy|\bssl\b|\btls\b|certificate|
    +resolve host|unreachable|broken pipe|timed? ?out|timeout|reset by peer|download|\bstatus \d{3}\b|\b(?:404|429|50
    +\d)\b|\bDNS\b))
cause = but concerns the network, or a server that does not answer as expected
remedy = [Fetch {url} by hand where the program runs (curl -fLv -o /dev/null {url}). ][Check from this host that {host}
    can be reached (ping -c3 {host}; ip route get {host}). ][On that host, a program must listen on {port} (ss -ltnp).
    ]Look whether the process that should answer still runs (its own log; ss -ltnp on its host), and check names
    (resolvectl query NAME), firewalls, the proxy (https_proxy, no_proxy) and certificates.

[subject-unit]
keys =
pattern =
    ^(?:(?=.*?\b(?P<unit>[\w@-]+\.(?:service|socket|mount|timer|device))\b)|)(?=.*(?:\.service\b|\b[Uu]nit\b|systemd|s
    +ystemctl|\bD-?Bus\b|to bus\b|netplan|networkd|NetworkManager|\b[Ii]nterface\b|\bsubnet|\bMTU\b|\broute\b|\bstep [
    +A-Z]+ spawning))
cause = but concerns a service of systemd, or the network's configuration
remedy = [Read its state and journal (systemctl status {unit}; journalctl -u {unit} -b) and check its file
    (systemd-analyze verify {unit}). ]Correct what they name (the network: sudo netplan try, nmcli device status), then
    run sudo systemctl daemon-reload and start it again.

[subject-syntax]
keys =
pattern = (?i:\bjson\b|yaml|toml|syntax|pars(?:e|ing)|unexpected (?:token|character|end|argument)|unrecogni[sz]ed|argu
    +ments?:|option)
cause = but concerns a command, a configuration or its form
remedy = Compare it with the help and documentation of this release (--help), remove what it does not know, and check
    quotes, indentation and variables in the file.

[subject-permission]
keys =
pattern =
    ^(?:(?=.*?(?:^|[\s'"`:])(?P<path>/[\w.+@-]+/[\w./+@-]*\w))|)(?=.*(?i:permi(?:ssion|tted)|\bdenied\b|not writable|w
    +rit(?:e|able) (?:perm|env)|read-only|\bas root\b|sudo|ownership|insufficient priv))
cause = but concerns permissions
remedy = Check who owns the path and may enter it (namei -l PATH; id), change its owner (sudo chown -R $USER: PATH), use
    sudo for the system's own, or give the container the right (--user, --cap-add, --device).

[subject-file]
keys =
pattern =
    ^(?:(?=.*?(?:^|[\s'"`:(])(?P<path>~?/[\w.+@-]+/[\w./+@-]*\w))|)(?=.*(?i:\bfiles?\b|director|\bpath\b|no such|doe
    +s ?n.t exist|does not exist|cannot open|not found|could not find|cannot find|not installed))
    (?:\s|^|['"`])~?/[\w.+-]+/[\w.+-]+
cause = but concerns a file or program that is not there
remedy = [Look whether it is there for this account (ls -ld {path}; namei -l {path}). ]Check the path as the program
    sees it (in a container, the path inside, mounted with -v) and its working directory, and install or download what
    should be there.

[subject-code]
keys =
pattern = ^\W*(?:\w+\.)*(?:Key|Index|UnboundLocal|Type|Value|Assertion|NotImplemented|EOF|Unicode\w+)Error\b
cause = but concerns the program's own code, or what it reads
remedy = Compare the file, field or option of the traceback's last lines with what this release expects, and update the
    program (pip install -U NAME; git pull) or install the versions that it pins; then search its issues for this line.

[subject-none]
keys =
pattern = ^
cause = of this table
remedy = Read the lines around it: the cause may stand above, and later errors are mostly consequences.
"""
