# __init__.py in this directory explains the fields.

"""Facts in other lines of the log

These rules explain nothing themselves. Other rules name them under ``when``, or use their values.
"""

RULES = r"""
[log-shows-cuda-13]
keys =
    +cu13
    .so.13
    cuda-13
    cuda13
    nvidia/cu13
    CUDA Version: 13
    CUDA 13
    release 13.
pattern =
    (?P<log_newest_cuda>\+cu13\d|lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink)\.so\.13|\bcuda-?13\b[.-]?\d?|nvidia/cu13
    +\b|CUDA (?:Version: )?13(?:\.\d)?|release 13\.\d)
cause =
remedy =

[log-shows-vllm-checkout]
keys = No module named 'vllm._version'
pattern = No module named '(?P<log_checkout>vllm)\._version'
cause =
remedy =

[log-shows-rust]
keys =
    `Result::unwrap()`
    panicked at
    Cargo.toml
    DriverError(CUDA_
pattern = (?P<log_rust>Result::unwrap\(\)|panicked at|Cargo\.toml|DriverError\(CUDA_)
cause =
remedy =

[log-shows-sudo-path]
keys = sudo:
pattern = sudo: [^\s:]+: (?P<log_sudo>command not found)
cause =
remedy =

[log-shows-nccl-last-error]
keys = Last error:
pattern = Last error:\s*\n(?:Error: )?(?P<log_nccl>[^\n]{3,200})
cause =
remedy =

[log-shows-old-ptxas]
keys = ptxas does not support CC
pattern = (?P<log_old_ptxas>ptxas does not support CC \d+\.\d)
cause =
remedy =

[log-shows-image]
keys =
    mage:
    mage Name:
    ontainer:
    docker run
    docker.io/
    ghcr.io/
    nvcr.io/
    Building image
pattern =
    (?:^|\s)(?:[Ii]mage(?: Name)?|container):\s+(?P<log_image1>(?=[\w.]+[/:-]\w)[a-z0-9][\w./-]*[\w-](?::[\w.-]+)?)
    (?P<log_image2>(?:docker|ghcr|nvcr)\.io/[\w./-]+(?::[\w.-]+)?)
    docker run [^\n]*?\s(?P<log_image3>[a-z0-9][\w.-]*/[\w./-]+(?::[\w.-]+)?)(?:\s|$)
cause =
remedy =

[log-shows-container]
keys =
    docker compose
    docker-compose
    docker run
    docker exec
    docker logs
    docker build
    docker start
    podman run
    podman exec
    root@
pattern = (?P<log_container>docker[- ]compose|(?:docker|podman) (?:run|exec|logs|build|start)|root@[0-9a-f]{12}:)
cause =
remedy =

[log-shows-selinux]
keys =
    odman
    SELinux
    selinux
    container_t
    container_file_t
    avc:  denied
pattern = (?P<log_selinux>[Pp]odman|SELinux|selinux|container_(?:file_)?t\b|avc:  denied)
cause =
remedy =

[log-shows-no-cgroups]
keys = no-cgroups
pattern = (?<!#)(?<!# )(?P<log_no_cgroups>no-cgroups ?= ?true)
cause =
remedy =

[log-shows-failed-unit]
keys =
    .service: Main process exited
    .service: Failed with result
pattern = (?<![\w@.-])(?P<log_unit>(?!nvidia-persistenced)[\w@.-]+\.service): (?:Main process exited|Failed with)
cause =
remedy =

[log-shows-image-build]
keys =
    ] RUN
    failed to solve: process
pattern = (?P<log_image_build>(?:>|ERROR) \[[^\]\n]*\d+/\d+\] RUN|failed to solve: process)
cause =
remedy =

[log-shows-memory-pressure]
keys =
    Under memory pressure
    page allocation failure
    emory pressure is
    blocked for more than
pattern =
    (?P<log_pressure>Under memory pressure|page allocation failure|[Mm]emory pressure is (?:high|critical)|blocked for
    + more than \d+ seconds)
cause =
remedy =

[log-shows-torch-of-cuda-12]
keys =
    cu11
    cu12
pattern =
    (?P<log_torch1>\d+\.\d+[\w.]*\+cu1[12]\d)
    \b(?P<log_torch2>nvidia-(?:cuda-runtime|cublas|cudnn|nccl)-cu12)\b
cause =
remedy =

[log-shows-bitsandbytes-not-built]
keys = libbitsandbytes_cpu.so: cannot open
pattern = (?P<log_bitsandbytes>libbitsandbytes_cpu)\.so: cannot open
cause =
remedy =

[log-shows-cdi-directory]
keys = /run/cdi
pattern = (?P<log_cdi>/run/cdi\b)
cause =
remedy =

[log-shows-ggml]
keys =
    ggml_cuda
    ggml-cuda
pattern = (?P<log_ggml>ggml[_-]cuda)
cause =
remedy =

[log-shows-inventory]
keys = as an inventory source
pattern = Unable to parse (?P<log_inventory>\S+) as an inventory source
cause =
remedy =

[log-shows-comfyui]
keys =
    **Node Type:**
    Exception during processing
    custom_nodes
pattern = (?P<log_comfyui>\*\*Node Type:\*\*|!!! Exception during processing|custom_nodes)
cause =
remedy =

[log-shows-hami]
keys = libvgpu.so
pattern = (?P<log_hami>libvgpu\.so)
cause =
remedy =

[log-shows-fp4-of-marlin]
keys = native support for FP4
pattern = not have (?P<log_marlin>native support for FP4)
cause =
remedy =

[log-shows-kernel-of-el-9-6]
keys = el9_6
pattern = (?P<log_uvm_kernel>5\.14\.0-570)\S*el9_6
cause =
remedy =

[log-shows-tensorrt-llm]
keys =
    TensorRT-LLM
    TensorRT LLM
    TRT-LLM
    tensorrt_llm
pattern = (?P<log_tensorrt_llm>TensorRT[ -]LLM|TRT-LLM|tensorrt_llm)
cause =
remedy =

[log-shows-shared-memory-transport]
keys = via SHM/
pattern = via (?P<log_transport>SHM)/
cause =
remedy =

[log-shows-gid-index]
keys = NCCL_IB_GID_INDEX
pattern = NCCL_IB_GID_INDEX(?:=| set by environment to )(?P<log_gid>\d+)
cause =
remedy =

[log-shows-gid-of-ipv4]
keys = RoCE v2
pattern = GID\[ *(?P<log_gid_routable>\d+)\]:\s+(?:::ffff:|0000:0000:0000:0000:0000:ffff:)\S+, RoCE v2
cause =
remedy =

[log-shows-active-mtu]
keys = active_mtu
pattern = active_mtu:\s+(?P<log_mtu>\d+)
cause =
remedy =

[log-shows-backend-option]
keys =
    -backend
pattern = (?P<log_backend_option>--(?!distributed)[\w-]+-backend[ =][\w.-]+)
cause =
remedy =

[log-shows-moe-option]
keys =
    --moe-backend
    --moe-runner-backend
pattern = (?P<log_moe_option>--moe-(?:runner-)?backend[ =][\w.-]+)
cause =
remedy =

[log-shows-nvcc-package]
keys = nvidia-cuda-nvcc
pattern = nvidia-cuda-nvcc(?:-cu\d+)?(?:==|\s+)(?P<log_nvcc>\d+\.\d+)
cause =
remedy =

[log-shows-runtime-package]
keys = nvidia-cuda-runtime
pattern = nvidia-cuda-runtime(?:-cu\d+)?(?:==|\s+)(?P<log_runtime>\d+\.\d+)
cause =
remedy =

[log-shows-sudoers-line]
keys = NOPASSWD
pattern = (?P<log_sudoers>[%\w-]+\s+ALL ?= ?NOPASSWD: ?\S+)
cause =
remedy =

[log-shows-new-gcc]
keys =
    (gcc 1
    GCC 1
    GNU 1
pattern = (?:\(gcc|identification is GNU|\bGCC) (?P<log_gcc>1[6-9](?:\.\d+)*)
cause =
remedy =

[log-shows-kernel-build]
keys =
    CC [M]
    scripts/Makefile.build
    scripts/Makefile.modbuiltin
    /var/lib/dkms/
pattern = (?P<log_kernel_build>CC \[M\]|scripts/Makefile\.\w+|/var/lib/dkms/[\w.-]+)
cause =
remedy =

[log-shows-worker-waiting]
keys = No available shared memory broadcast block
pattern = (?P<log_worker_waits>No available shared memory broadcast block)
cause =
remedy =

[log-shows-server]
keys =
    /sglang/srt/
    /vllm/model_executor/
    /vllm/v1/
    /vllm/worker/
    /lmdeploy/
pattern = File '[^'\n]*/(?P<log_server>sglang/srt|vllm/model_executor|vllm/v1|vllm/worker|lmdeploy)/[^'\n]*', line
cause =
remedy =

[log-shows-speculation]
keys =
    num_speculative_tokens
    SpecDecoding metrics
    --speculative-
    /speculative/
    /spec_decode/
pattern =
    (?P<log_speculation1>num_speculative_tokens(?=\W{1,4}\d)|SpecDecoding|--speculative-(?:config|algorithm))
    File '[^'\n]*/(?P<log_speculation2>(?:speculative|spec_decode)/\w+\.py)', line
cause =
remedy =

[log-shows-context]
keys =
    ctx
    max_model_len
    max-model-len
    max_seq_len
pattern = (?:\bn?_?ctx(?:[_-]size)?|max[_-]model[_-]len|max_seq_len)'?(?: ?[=:] ?| )(?P<log_context>\d{4,8})\b
cause =
remedy =

[log-shows-nvrtc-arch]
keys =
    -arch=sm_
    -arch=compute_
pattern = -arch=(?:sm|compute)_(?P<log_arch>\d+)
cause =
remedy =

[log-shows-nvrtc-of-torch]
keys = RuntimeError: nvrtc: error
pattern = (?P<log_nvrtc>RuntimeError: nvrtc): error
cause =
remedy =

[log-shows-failed-capture]
keys = Capture cuda graph failed
pattern = (?P<log_capture>Capture cuda graph failed)
cause =
remedy =

[log-shows-capability]
keys = compute capability
pattern = Device \d+: [^\n]*, compute capability (?P<log_capability>\d+\.\d)
cause =
remedy =

[log-shows-old-capability]
keys = compute capability
pattern = Device \d+: [^\n]*, compute capability (?P<log_old_capability>[1-7]\.\d)
cause =
remedy =

[log-shows-compiler-process]
keys =
    cudafe++
    cc1plus
    cicc
pattern = \d +-?\d+ +(?P<log_compiler>cudafe\+\+|cc1plus|cicc)\s*$
cause =
remedy =

[log-shows-extension-call]
keys =
    (_C,
    _C.
pattern = (?P<log_extension>getattr\(_C,|\b_C\.\w+\()
cause =
remedy =

[log-shows-graphs]
keys =
    Graph capturing finished
    Capture cuda graph
pattern = (?P<log_graphs>Graph capturing finished|Capture cuda graph (?:begin|end))
cause =
remedy =

[log-shows-triton-kernel]
keys =
    PTXASError
    Triton PTX codegen
    .ptx, line
pattern = (?P<log_triton>PTXASError|Triton PTX codegen|ptxas(?:-blackwell)? \S*/tmp\w{8}\.ptx, line)
cause =
remedy =

[log-shows-dmabuf]
keys = failed on mlx5dv_
pattern = failed on (?P<log_dmabuf>mlx5dv_reg_dmabuf_mr)
cause =
remedy =

[log-shows-signatures]
keys =
    module.sig_enforce=1
    Secure boot enabled
    locked down from EFI Secure
pattern = (?P<log_signatures>module\.sig_enforce=1|Secure boot enabled|locked down from EFI Secure Boot)
cause =
remedy =

[log-shows-dkms-driver]
keys = nvidia-dkms
pattern = \b(?P<log_dkms>nvidia-dkms(?:-\d+)?(?:-(?:open|server))*)\b
cause =
remedy =

[log-shows-metapackage]
keys = cuda-drivers
pattern = (?P<log_metapackage>cuda-drivers)\b[^\n]{0,12}\(61[5-9]
cause =
remedy =

[log-shows-weights]
keys = Loading weights took
pattern = (?P<log_weights>Loading weights took)
cause =
remedy =

[log-shows-several-hosts]
keys = local_world_size=
pattern = \bworld_size=(?P<ranks>\d+), (?P<log_hosts>local_world_size=(?!(?P=ranks)\b)\d+)
cause =
remedy =

[log-shows-broken-packages]
keys = E: Unmet dependencies. Try
pattern = E: (?P<log_apt_broken>Unmet dependencies)\. Try '
cause =
remedy =

[log-ends-waiting]
keys = The log ends with:
pattern = ^The log ends with: [^\n]*(?P<awaited>[Ww]aiting for|[Pp]lease wait for)
cause =
remedy =

[log-warns-of-fallback]
keys =
    alling back
    allback to
    will be slow
    -optimal
    uboptimal
    ot supported
    disabling
pattern =
    \b(?:[Ff]alling back|[Ff]allback to|will be slow|sub-?optimal|disabling)\b
    \bnot supported\b[^\n]*?\b(?:using|instead|disabled)\b
cause =
remedy =

[log-warns-of-deprecation]
keys = eprecat
pattern = \b[Dd]eprecat(?:ed|ion)
cause =
remedy =

[log-warns]
keys =
    WARN
    Warning:
pattern = \S
cause =
remedy =
"""
