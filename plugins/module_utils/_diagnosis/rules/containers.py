# __init__.py in this directory explains the fields.

"""Containers

Docker, Podman, their registries and NVIDIA's container toolkit.
"""

RULES = r"""
[docker-gpus-taken-by-amd]
keys = AMD CDI spec not found
pattern = (AMD CDI spec not found)
cause = Docker 29 looked for an AMD GPU for --gpus ({found}), because neither the NVIDIA runtime nor an NVIDIA CDI
    specification is registered.
remedy = Install nvidia-container-toolkit, run sudo nvidia-ctk runtime configure --runtime=docker and sudo nvidia-ctk
    cdi generate --output=/etc/cdi/nvidia.yaml, and restart Docker. Or start the container with --runtime nvidia instead
    of --gpus.
source = stevezau/media_preview_generator#260

[container-requirement-invalid]
keys = requirement error: invalid expression
pattern = requirement error: (invalid expression)
cause = NVIDIA's container tools cannot read a requirement of the container ({found}). A variable NVIDIA_REQUIRE_* of
    the image or its environment is empty or misspelt, or has a form that this release does not support.
remedy = Check these variables (docker inspect IMAGE | grep NVIDIA_REQUIRE, and your own environment) and correct or
    remove each that is not a condition such as cuda>=13.0. Otherwise update nvidia-container-toolkit, or start the
    container with -e NVIDIA_DISABLE_REQUIRE=1. The driver is not at fault.
source = mudler/LocalAI#4789

[container-requirement-not-met]
keys = unsatisfied condition:
pattern = unsatisfied condition: (?P<condition>(?P<what>brand|driver|arch)\s*[<>=!]+\s*[\w.]+)
values =
    advice of what: brand => The image accepts only other kinds of NVIDIA cards. Start it with -e
    + NVIDIA_DISABLE_REQUIRE=1, because such lists are older than the GPU, or use a newer tag
    advice of what: driver => Use an image for the CUDA that nvidia-smi shows, or update the driver (on DGX OS, with
    + its own updater)
    advice of what: arch => Use an image whose CUDA supports this GPU (12.8 or newer for 12.x, 13 for a GB10)
cause = The image requires {condition} (NVIDIA_REQUIRE_*), which this host does not meet.
remedy = {advice}.
source = NVIDIA/nvidia-docker#688

[container-cli-cuda]
keys = unsatisfied condition: cuda
pattern = unsatisfied condition: (cuda ?>=? ?[\d.]+)
cause = The image requires a newer CUDA than this host's driver supports ({found}).
remedy = Use an image for the CUDA that nvidia-smi shows. DGX OS updates the driver itself, and on a Jetson JetPack
    does. A newer CUDA toolkit on the host does not help.
source = theroyallab/tabbyAPI#324

[docker-option-twice]
keys = specified both as a flag and in the configuration file
pattern =
    configure the Docker daemon with file (?P<file>[^\s:]+): the following directives are specified both as a flag and
    + in the configuration file: (?P<option>[\w-]+)
cause = Docker does not start because its service passes the option {option} as a flag, and {file} sets it too.
remedy = Remove it either from {file} or from the service's ExecStart (systemctl cat docker; hosts is -H there), and
    start docker.
source = moby/moby#22339

[docker-configuration-invalid]
keys = configure the Docker daemon with file
pattern = configure the Docker daemon with file (?P<file>[^\s:]+): (?P<why>[^\n]{1,160})
values =
    advice of why: .*specified (?:both )?as a flag => Remove the named option from the file or from dockerd's command,
    + because only one of them may set it (systemctl cat docker shows the command and the drop-ins that add
    + --add-runtime, -H and similar options)
    advice of why: . => Correct the file (JSON has no comma before a closing bracket)
cause = Docker does not start, because it cannot use its configuration {file}: {why}.
remedy = {advice}, check it with dockerd --validate --config-file {file}, and start docker.
source =
    moby/moby#34507
    NVIDIA/nvidia-docker#787

[runc-in-nested-container]
keys = open sysctl net.
pattern = error during container init: open sysctl (net\.\S+) file: reopen fd \d+: permission denied
cause = runc may not open {found}. Docker runs inside an LXC or Incus container, whose AppArmor profile forbids how runc
    1.3.3 (Docker 28.5.2, containerd.io 1.7.28-2) opens such files.
remedy = Update LXC and AppArmor on the outer host (Proxmox: lxc-pve), or set lxc.apparmor.profile: unconfined for that
    container. Until then, hold containerd.io at 1.7.28-1. The image is not at fault.
source = containerd/containerd#12484

[containerd-configuration]
keys =
    containerd: failed to load TOML
    containerd config version
pattern =
    containerd: failed to load TOML(?: from)?:? (?P<file>/[^\s:]+): (?P<why1>[^\n]{1,160})
    (?P<why2>expected containerd config version [^\n]{1,120})
cause = containerd does not start, because it cannot read its configuration[ {file}]: {why}.
remedy = Write the file for this containerd version (containerd config default shows it; nvidia-ctk runtime configure
    --runtime=containerd --config=/etc/containerd/config.toml adds NVIDIA's runtime), remove
    /etc/containerd/conf.d/99-nvidia.toml if it does not fit, and restart containerd.
source = NVIDIA/aicr#1237

[cdi-management-device]
keys = management.nvidia.com/gpu=
pattern = unresolvable CDI devices (management\.nvidia\.com/gpu=(?:GPU-)?[\w-]+)
cause = The pod requests {found} from the CDI specification that only the GPU operator's own pods use, which has no such
    device.
remedy = Remove runtimeClassName nvidia-cdi from the pod (or set nvidia), and keep its limit nvidia.com/gpu. If that
    does not help, update the operator's container toolkit.
source = NVIDIA/nvidia-container-toolkit#1239

[cdi-not-known-to-podman]
keys =
    stat nvidia.com/gpu
    invalid device mode: nvidia.com/gpu
pattern =
    (?:getting info of source (?P<build>device) \S+: )?stat (?P<name1>nvidia\.com/gpu\S*): no such file
    containers (?P<config>config): invalid device mode: (?P<name2>nvidia\.com/gpu\S*)
values =
    advice of config: . => Remove it from devices in containers.conf and pass it with --device to each container, or
    + update Podman
    advice of build: . => Builds have it from Podman 5.1 on: update Podman, or build without the device and do that
    + step in a container that podman run --device nvidia.com/gpu=all starts
    advice of name: . => Update Podman to 4.1 or newer (podman version), then run sudo nvidia-ctk cdi generate
    + --output=/etc/cdi/nvidia.yaml
cause = This Podman treats {name} as a file, because it does not support CDI, or not in that setting.
remedy = {advice}.
source = NVIDIA/nvidia-container-toolkit#63

[runtime-mode-legacy]
keys = exec format error
pattern = exec: '(?P<program>/?[\w/.-]*nvidia-[\w.-]+)': exec format error
uncertain = yes
cause = The container cannot run {program}, which NVIDIA's runtime mounts from the host: its legacy mode mounted it
    badly, or the image is for another processor.
remedy = If the image is for arm64 (docker image inspect IMAGE | grep Architecture), use CDI instead: sudo nvidia-ctk
    config --in-place --set nvidia-container-runtime.mode=cdi, sudo nvidia-ctk cdi generate
    --output=/etc/cdi/nvidia.yaml, and restart docker. Otherwise use an image for linux/arm64.
source = timothystewart6/techno-tim.github.io#371

[threads-refused-by-seccomp]
keys =
    pthread_create failed
pattern =
    pthread_create failed(?: for thread \d+ of \d+)?: (?P<why>Operation not permitted)
cause = The container may not start threads ({why}): its image has a newer C library than this Docker and libseccomp
    know, so that they refuse its call clone3.
remedy = Update Docker to 20.10.10 or newer and libseccomp2 on the host, or, until then, start the container with
    --security-opt seccomp=unconfined.
source = NVIDIA/dcgm-exporter#22

[kvm-missing]
keys =
    access KVM kernel module
    /dev/kvm: No such file
pattern =
    Could not access (?P<what1>KVM) kernel module: (?P<why1>[\w ]+)
    (?P<what2>/dev/kvm): (?P<why2>No such file)
cause = This host offers no hardware virtualisation ({what}: {why}), which virtual machines and Kata containers need.
remedy = Check ls -l /dev/kvm and sudo dmesg | grep -i kvm: the kernel must have started in EL2 with KVM (some firmware
    or an outer virtual machine prevents it). Otherwise use an ordinary runtime (runc), or emulation (qemu -accel tcg),
    which is slow.
source = kata-containers/kata-containers#11078

[podman-storage-refused]
keys =
    Error processing tar file(exit status 1)
    processing tar file(exit status 1)
    /containers/storage/overlay
    kernel does not support overlay fs
    is not supported over extfs
pattern =
    (?P<why1>processing tar file\(exit status 1\)): (?:operation not permitted|potentially insufficient UIDs|there
    + might not be enough IDs)[^\n]*
    mount (?P<why2>/\S+/containers/storage/overlay):\S+ flags: 0x1000: permission denied
    open (?P<why3>/usr/lib/containers/storage/\S+): permission denied
    (?P<why4>kernel does not support overlay fs): [^\n]*
values =
    advice of why: processing => Give the account numbers for the image's users (sudo usermod --add-subuids
    + 100000-165535 --add-subgids 100000-165535 NAME), install uidmap and fuse-overlayfs, and run podman system migrate
    advice of why: /usr => Remove that directory from additionalimagestores in storage.conf (~/.config/containers or
    + /etc/containers)
    advice of why: kernel => Install fuse-overlayfs (sudo apt install fuse-overlayfs) and name it in
    + ~/.config/containers/storage.conf (mount_program = "/usr/bin/fuse-overlayfs"), keep the images on ext4 or XFS,
    + and, if they were made with another driver, run podman system reset, which deletes them
    advice of why: /var => It runs inside another container, which forbids mounts: start that with --security-opt
    + seccomp=unconfined --security-opt apparmor=unconfined --device /dev/fuse, or use STORAGE_DRIVER=vfs and
    + BUILDAH_ISOLATION=chroot
    advice of why: . => Start the outer container with --security-opt apparmor=unconfined --device /dev/fuse, or use
    + STORAGE_DRIVER=vfs
cause = Podman or Buildah cannot use its image store without root ({why}).
remedy = {advice}.
source =
    podman-container-tools/buildah#1745
    podman-container-tools/buildah#2899
    podman-container-tools/buildah#5332
    actions/runner-images#3229

[cluster-image-differs]
keys = image mismatch on worker
pattern = [Ii]mage mismatch on worker node \(?(?P<host>[\w.-]+)
cause = The other host {host} has another build of the image than this one.
remedy = Copy this host's image there: docker save IMAGE | ssh USER@HOST docker load (for spark-vllm-docker,
    ./build-and-copy.sh -c), with room for it twice on both (df -h /tmp /var/lib/docker), then start the cluster again.
source = eugr/spark-vllm-docker#339

[cdi-unresolvable]
keys = unresolvable CDI devices
pattern = unresolvable CDI devices ([^\s:]+[^\s:.])
values =
    why of log_cdi: . => the log names /run/cdi, which Podman does not always search (--cdi-spec-dir)
    why of found: . => none was generated, this account may not read it, it is elsewhere, or its version is too new
    + (the toolkit 1.19 writes CDI
    + 0.7, which Podman 4.9 does not support)
cause = Podman or Docker found no usable CDI specification for {found}: {why}.
remedy = Run sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml, correct what it reports, and run sudo
    chmod 644 /etc/cdi/nvidia.yaml. With Podman 4.9, keep the toolkit below 1.19.
source = NVIDIA/nvidia-container-toolkit#1940

[cdi-specification-missing]
keys = CDI device specs missing
pattern = (CDI device specs? missing)
cause = Docker is to give the GPU to containers by CDI, but the host has no CDI specification of it ({found}).
remedy = Run sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml, check that nvidia-ctk cdi list names
    nvidia.com/gpu=all, and start the installation again. Repeat it after each update of the driver, or install
    nvidia-container-toolkit 1.18 or newer, whose unit nvidia-cdi-refresh does so.
source = NVIDIA/NemoClaw#3252

[cdi-stale]
keys =
    cannot stat `/usr/lib
    failed to fulfil mount request
    failed to stat CDI host device
    : no such file or directory: unknown
    OCI runtime attempted to invoke a command that was not found
pattern =
    cannot stat '(?P<file1>/\S+?\.so\.(?P<version1>\d{3}[\d.]+))'
    failed to fulfil mount request: open (?P<file2>/\S+?\.so\.(?P<version2>\d{3}[\d.]+)): no such file
    error mounting \\*'(?P<file3>/\S+?\.so\.(?P<version3>\d{3}[\d.]+))\\*' to rootfs[^\n]*no such file or directory
    failed to stat CDI host device '(?P<file4>[^'\n]+)': no such file
cause = The CDI specification names {file}[ of the driver {version}], which no longer exists on this host: it was
    generated before the driver or the devices changed.
remedy = Generate it again: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml (toolkit 1.18 and newer do it
    automatically: systemctl status nvidia-cdi-refresh).
source = NVIDIA/nvidia-container-toolkit#885

[cdi-tegra]
keys = error getting GPU device minor number
pattern = (error getting GPU device minor number): Not Supported
cause = nvidia-ctk asked NVML about an integrated GPU, for which NVML has no device number.
remedy = Generate the specification with --mode=csv, the mode for Tegra.
source = NVIDIA-ISAAC-ROS/isaac_ros_common#163

[cdi-no-vendor]
keys = failed to discover GPU vendor from CDI
pattern = failed to discover GPU vendor from CDI: (?P<why>[^\n]+)
cause = Docker found no CDI specification for a GPU ({why}): the container toolkit is not installed, or has not written
    one.
remedy = Install nvidia-container-toolkit and generate it (sudo nvidia-ctk cdi generate
    --output=/var/run/cdi/nvidia.yaml; nvidia-ctk cdi list shows nvidia.com/gpu), then restart Docker. Without an NVIDIA
    GPU, omit --gpus.
source = ShaneIsrael/fireshare#689

[cdi-not-generated]
keys = failed to generate CDI spec
pattern =
    failed to generate CDI spec: (?P<why>(?!.*(?:ERROR_LIBRARY_NOT_FOUND|ERROR_DRIVER_NOT_LOADED|minor
    + number))[^\n]{1,300})
values =
    advice of why: .*(?:sandboxutils|sandbox utils) => Update the driver to 570 or newer, or generate the
    + specification without that part (NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS=disable-nvsandboxutils, also in
    + /etc/nvidia-container-toolkit/nvidia-cdi-refresh.env)
    advice of why: .*(?:invalid \S+ value|invalid [\w ]*mode|invalid --) => Correct the option in the message
    + (nvidia-ctk cdi generate --help)
    advice of why: .*locate lib(?:cuda|nvidia)\S*\.so => The driver's libraries are not in a standard directory: find
    + them (ldconfig -p | grep libcuda), and name their directory with --library-search-path=DIR
    advice of why: .*dxcore => Under WSL, let it find Windows' libraries (LD_LIBRARY_PATH=/usr/lib/wsl/lib), and update
    + WSL and Windows' driver
    advice of why: . => Check that nvidia-smi works on the host, pass --mode=csv on a Jetson, and update the container
    + toolkit
cause = nvidia-ctk could not generate the CDI specification: {why}.
remedy = {advice}.
source = NVIDIA/nvidia-container-toolkit#1517

[hook-called-directly]
keys =
    invoking the NVIDIA Container Runtime Hook directly
    detected mode as '
    Using requested mode '
pattern =
    mode (?:as )?'(?P<mode>\w+)'\s+invoking the NVIDIA Container Runtime Hook directly
    invoking the NVIDIA Container Runtime Hook directly
cause = NVIDIA's container toolkit uses a mode[ ({mode})] in which --gpus alone does not work.
remedy = Start the container with --runtime=nvidia (runtime: nvidia in the compose file) or --device nvidia.com/gpu=all.
    On hosts other than a Jetson, set the toolkit's mode back to auto.
source = dstackai/dstack#2306

[docker-context-without-gpu]
keys =
    desktop-linux *
    rootless *
    Context:
pattern =
    ^(desktop-linux|rootless) \*\s
    ^ *Context: +(desktop-linux|rootless)
when = container-no-gpu-driver
cause = Docker's current context is {found}, so another daemon answers than the system's, for which nvidia-ctk runtime
    configure sets up NVIDIA's container toolkit.
remedy = Go back to the system's daemon: docker context use default (and unset DOCKER_CONTEXT and DOCKER_HOST).
source = NVIDIA/nvidia-container-toolkit#814

[container-started-without-gpu]
keys = The NVIDIA Driver was not detected
pattern = The (NVIDIA Driver was not detected)
when =
    no-device-type
    gpu-not-seen
    driver-library-missing
    triton-no-libcuda
    llamacpp-no-cuda
cause = The container was started without the GPU ({found}), so its program failed.
remedy = In the compose file, add deploy.resources.reservations.devices with driver nvidia and capabilities gpu to the
    service, or runtime: nvidia. Without compose, start it with --gpus all. The image's own packages are not at fault.
source = AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-DFlash#5

[docker-cdi-off]
keys =
    could not select device driver "cdi"
    CDI device injection failed
pattern =
    could not select device driver '(cdi)'
    (CDI device injection failed): (?!unresolvable)
cause = This Docker does not provide devices through CDI ({found}): the feature is off, or Docker is older than 25.
remedy = Update Docker to 28 or newer, or switch it on with {{"features": {{"cdi": true}}}} in /etc/docker/daemon.json,
    and restart docker. Generate the specification with sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml.
source = NixOS/nixpkgs#337873

[container-no-gpu-driver]
keys = could not select device driver
pattern = could not select device driver '([^'\n]*)' with capabilities
cause = This Docker daemon has no device driver for GPUs: the NVIDIA Container Toolkit is not installed, or another
    daemon than the configured one answers (Docker Desktop's, a rootless one, or a snap's).
remedy = Check with docker context ls which daemon answers (docker context use default returns to the system's). Install
    nvidia-container-toolkit, run sudo nvidia-ctk runtime configure --runtime=docker, and restart docker.
source = NVIDIA/dcgm-exporter#33

[container-no-runtime]
keys =
    unknown or invalid runtime name
    Unknown runtime specified
pattern = (?:unknown or invalid runtime name:|Unknown runtime specified) (\w+)
cause = Docker's configuration has no runtime called {found}.
remedy = Run sudo nvidia-ctk runtime configure --runtime=docker, and restart docker. If docker info still does not list
    it, this daemon reads another file (a snap's, a rootless Docker's in ~/.config/docker, Docker Desktop's, or
    --config-file).
source = NVIDIA/dgx-spark-playbooks#26

[container-name-taken]
keys = is already in use by
pattern = [Tt]he container name '/?([\w.-]+)' is already in use by
cause = A container {found} already exists; it may have exited.
remedy = Remove it (docker rm {found}; docker ps -a shows it), or name the new container differently. --rm removes a
    container when it exits.
source = docker/docs#17816

[docker-client-too-old]
keys = is too old. Minimum supported API version
pattern = client version (?P<client>[\d.]+) is too old\. Minimum supported API version is (?P<least>[\d.]+)
cause = The program uses Docker's API {client}, but this daemon accepts only {least} and newer (Docker 29 dropped
    versions below 1.44).
remedy = Update that program (or its library). Until then, set DOCKER_API_VERSION={least} for it.
source = docker/compose#13389

[docker-not-running]
keys =
    dial unix /var/run/docker.sock
    Cannot connect to the Docker daemon
    failed to connect to the docker API at
    Error while fetching server API version
pattern =
    dial unix (/var/run/docker\.sock): (?:connect: )?(?:no such file or directory|connection refused)
    Cannot connect to the Docker daemon at ([^\s,]+)\. Is
    fetching server API version: \('Connection aborted\.', (FileNotFoundError)
    failed to connect to the docker API at ([^\s;]+);
cause = No Docker daemon answers at {found}: it does not run, or the client uses another socket.
remedy = Start it (systemctl start docker), and read its journal if it does not stay up. Check DOCKER_HOST and docker
    context.
source = moby/moby#32658

[docker-socket-in-container]
keys =
    Failed to list Docker containers
    failed to list containers:
pattern =
    (?:Failed to list Docker containers|failed to list containers:)[^\n]{0,80}?(?P<why>[Pp]ermission denied
    +|client error \(Connect\))
cause = A program in a container cannot reach Docker's socket ({why}): /var/run/docker.sock is not mounted, or the
    container's user is not in its group, whose number differs from host to host.
remedy = Mount it (-v /var/run/docker.sock:/var/run/docker.sock) and add the number of its group on this host (stat -c
    %g /var/run/docker.sock) to the container: --group-add NUMBER, group_add in a compose file, or the image's own
    variable (DOCKER_GID). Then recreate the container.
source = niklasfrick/spark-dashboard#38

[docker-not-permitted]
keys =
    the Docker daemon socket
    the docker API at
    Error while fetching server API version
pattern =
    permission denied while trying to connect to the (?:Docker daemon socket|docker API) at (\S+?):?(?:\s|$)
    fetching server API version: \('Connection aborted\.', (PermissionError)
cause = This account may not open Docker's socket {found}: it is not in the group docker, or was added after this login.
remedy = Add it to the group docker (usermod -aG docker USER; this amounts to root access) and log in again, or use
    sudo.
source = NVIDIA/nvidia-docker#1205

[entrypoint-doubled]
keys = : cannot execute binary file
pattern = (?<!\S)(?P<shell>\S*\bsh|\S*/bash): (?P=shell): cannot execute binary file
cause = The image's entry point is already a shell, but the command begins with {shell} again, so the shell tries to
    read itself as a script.
remedy = Begin the command with -c (without {shell}), or replace the entry point (entrypoint: "" in the compose file,
    --entrypoint).
source = AEON-7/Qwen3.6-27B-AEON-Ultimate-Uncensored-DFlash#12

[image-without-arm]
keys =
    no matching manifest for
    no match for platform in manifest
pattern =
    no matching manifest for (?P<platform>\S+)
    (?:image '|metadata for |reference ')(?P<image>[^\s'\n]+?)['\s:]*: no match for platform in manifest
    (no match for platform in manifest)
values =
    need of platform: linux/(?:amd64|386) => linux/amd64
    need of platform: (?:) => linux/arm64
cause = The image[ {image}] is published only for other processors[, not for {platform}].
remedy = Use a tag or an image that has {need} (docker manifest inspect lists its platforms), or build it on the machine
    itself.
source = s0len/Playbook#151

[image-of-another-platform]
keys =
    exec user process caused
    does not match the detected host platform
    does not match the expected platform
    exec format error
    Exec format error
    was pulled with platform
    image targets '
    Invalid ELF image for this architecture
pattern =
    exec user process caused:? '?exec (format) error
    image's platform \((?P<image>\S+)\) does not match the detected host platform \((?P<host>[^)\n]+)\)
    image platform \((?P<image3>[^)\n]+)\) does not match the expected platform \((?P<host3>[^)\n]+)\)
    image targets '(?P<image4>\w+)', cannot run on '(?P<host4>\w+)'
    exec container process '\S+': Exec format error
    exec: '[^'\n]+': exec (?P<formed>format) error
    (?P<emulated>qemu)[\w. -]*: \S+: Invalid ELF image for this architecture
    (?:exec \S+|exec user process caused): exec format error(?:(?s:.{0,1500}?)Base image (?P<name>\S+) was pulled with
    + platform '(?P<image2>[^'\n]+)', expected '(?P<host2>[^'\n]+)')?
values =
    need of host: (?:linux/)?(?:amd64|x86_64) => linux/amd64
    need of host: (?:) => linux/arm64
cause = The image[ {name}] is for another processor[ ({image})] than this host's[ ({host})][, and its emulator
    {emulated} is for a third].
remedy = Use an image or a tag that has {need} (docker manifest inspect lists its platforms), or build it here. An entry
    point that is a script must begin with #!/bin/sh.
source = docker/for-linux#105

[emulation-broken]
keys = Error while loading /
pattern = Error while loading (?P<program>/\S+): (?:No such file or directory|Exec format error)
cause = The emulation of another processor (qemu) cannot start {program} in this image.
remedy = Register today's qemu (docker run --privileged --rm tonistiigi/binfmt --install all), or better build the image
    on a machine with that processor (arm64 on a Spark itself; docker buildx with that host as a node).
source = moby/buildkit#1943

[containerd-configuration-invalid]
keys = invalid plugin config
pattern = invalid plugin config: '?(?P<why>[^\n"]{3,200})
values =
    advice of why: .*(?:mirrors|config_path|configs) => Give the mirrors in one of the two forms alone: remove
    + registry.mirrors and registry.configs, and write hosts.toml files below config_path (/etc/containerd/certs.d)
    advice of why: . => Correct that part; containerd config default prints a valid file, and containerd config dump
    + what is read
cause = containerd's plugin for Kubernetes is off, since /etc/containerd/config.toml is not valid: {why}.
remedy = {advice}; then sudo systemctl restart containerd.
source = https://github.com/containerd/containerd/blob/main/docs/cri/registry.md

[low-level-runtime-missing]
keys =
    no runtime binary found from candidate list
    find runc path: exec:
pattern =
    find runc path: exec: '(?P<candidates2>\w+)'
    no runtime binary found from candidate list: \[(?P<candidates>[^\]\n]+)\]
cause = NVIDIA's container runtime found none of the programs that start a container ({candidates}) on its PATH.
remedy = Install runc (apt install runc, or the package containerd.io, which includes it) where Docker itself runs, or
    set its path in /etc/nvidia-container-runtime/config.toml (runtimes = ["/usr/bin/runc"]).
source = domesticatedviking/TextyMcSpeechy#47

[io-uring-refused]
keys = io_uring
pattern =
    io_uring[^\n]{0,80}?(?P<why>Operation not permitted|Permission denied|Function not implemented|EPERM|ENOSYS
    +|Cannot allocate memory)
values =
    advice of why: Cannot => Raise the limit on locked memory (ulimit -l; for a container, --ulimit memlock=-1)
    advice of why: . => Start the container with --security-opt seccomp=unconfined (or a profile that allows
    + io_uring), set kernel.io_uring_disabled=0 if sysctl shows another value, or switch io_uring off in the program
cause = The program may not use io_uring ({why}): Docker's system call filter forbids it, or it is off in the kernel.
remedy = {advice}.
source = https://docs.docker.com/engine/security/seccomp/

[seccomp-filter-refused]
keys = error adding seccomp filter rule for syscall
pattern = error adding seccomp filter rule for syscall (?P<call>\w+): permission denied
cause = Docker and NVIDIA's container runtime on this host do not fit together: the runtime does not know the rule for
    the system call {call} that the newer Docker passes.
remedy = Upgrade NVIDIA's container toolkit with libnvidia-container from NVIDIA's repository. If there is none for this
    system (older JetPack), reinstall the previous docker.io and containerd and hold them (sudo apt-mark hold docker.io
    containerd).
source = containerd/containerd#6203

[vulkan-driver-missing]
keys =
    vkCreateInstance failed
    ERROR_INCOMPATIBLE_DRIVER
pattern =
    (vkCreateInstance failed with ERROR_INCOMPATIBLE_DRIVER)
    (VkResult: ERROR_INCOMPATIBLE_DRIVER)
    (VK_ERROR_INCOMPATIBLE_DRIVER)
cause = Vulkan finds no driver ({found}): NVIDIA's nvidia_icd.json or libGLX_nvidia is missing, for example in a
    container without the capability graphics.
remedy = Start the container with -e NVIDIA_DRIVER_CAPABILITIES=all (graphics is enough) and the runtime nvidia, update
    the container toolkit, and look for nvidia_icd*.json in /usr/share/vulkan/icd.d or /etc/vulkan/icd.d
    (VK_DRIVER_FILES names another path).
source = NVIDIA/nvidia-container-toolkit#1124

[image-refused-for-country]
keys =
    china-nim-distributors
    not available in your
    中国
when = image-not-permitted
pattern = (china-nim-distributors|not available in your (?:country|region)|中国 ?IP)
cause = The registry refuses to serve the image to this country or network address.
remedy = Read the registry's message below that line. In China, NVIDIA provides NIM's images through the partners named
    there. A login or another spelling of the name does not help.
source = NVIDIA/workbench-example-agentic-rag#18

[image-not-permitted]
keys =
    from daemon: denied
    pull access denied
    unauthorized: authentication required
    failed to fetch anonymous token
    failed to fetch oauth token
    unauthorized: <html>
    : unauthorized
    : denied
    denied: requested access
    Error pulling
pattern =
    from daemon: (denied)$
    pull access denied for ([^\s,]+)
    (?:metadata for|resolve reference) '?([^\s'\"]+?)'?: pull access denied
    (unauthorized: authentication required)
    failed to fetch (?:anonymous|oauth) token: [^\n]*(4\d\d \w+)
    (unauthorized): <html>
    Head '?https?://([\w.-]+/v\d/\S+?)/manifests/[^\n]*: (?:denied|unauthorized$)
    (?:error from registry|pull access): (denied)
    Error pulling (\S+) - code: \w+ message: [^\n]*(?:unauthorized|denied)
    denied: (requested access to the resource is denied)
cause = The registry requires a login for the image, or has no image of that name ({found}).
values =
    advice of found: (?!unauthorized|denied|requested|\d)[\w-]+(?::\S+)?$ => An image without a registry usually has
    + to be built here first (docker build -t); otherwise check the name
    advice of found: docker\.io/library/ => An image without a registry usually has to be built here first (docker
    + build -t; for a compose file, docker compose build); otherwise check the name
    advice of found: .*nvcr\.io/v2/(?:nvidian|nvstaging)/ => This image is internal to NVIDIA, so take the public one
    + (mostly nvidia instead of nvidian in the name); for any other, check the name
    advice of found: unauthorized: => If it came in the middle of a download, the login ran out meanwhile: pull again,
    + and complete layers are kept. Otherwise check the name
    advice of found: . => Check the name
remedy = {advice}, and log in to its registry (docker login nvcr.io with the user $oauthtoken and an NGC API key;
    ghcr.io with a GitHub token that may read packages).
source = NVIDIA-NeMo/Speech#243

[registry-login-refused]
keys =
    login attempt to
    unauthorized: incorrect username or password
pattern =
    login attempt to https?://(?P<host>[\w.-]+)/\S* failed with status: 40[13]
    unauthorized: incorrect username or password
cause = The registry[ {host}] did not accept the user or the key from docker login.
remedy = For nvcr.io, the user is the literal text $oauthtoken (in a shell, docker login nvcr.io -u '$oauthtoken') and
    the password an NGC API key. For ghcr.io, docker.io and others, the password is a token that may read packages.
    Remove an old login first (docker logout HOST).

[registry-limit]
keys =
    429 Too Many Requests
    toomanyrequests
    pull rate limit
pattern = (?<!client error \()(429 Too Many Requests|toomanyrequests|reached your (?:unauthenticated )?pull rate limit)
unless = huggingface|hf\.co|lient [Ee]rror[: ]
cause = The registry refuses more downloads for now ({found}): the limit of this address or account is reached.
remedy = Log in (docker login), wait, or use a mirror.
source = docker/hub-feedback#2464

[container-driver-release]
keys = This container was built for NVIDIA Driver Release
pattern = NVIDIA Driver Release (?P<need>[\d.]+) or later, but\s+version (?P<have>[\d.]+) was detected
cause = The image was made for the driver {need} or newer, but this host has {have}.
remedy = Use an older tag of the image, for the CUDA that nvidia-smi shows, or update DGX OS, which includes the driver.
source = eugr/spark-vllm-docker#266

[container-device-rules]
keys =
    failed to add device rules
    cgroup subsystem devices not found
    mount error: open failed: /sys/fs/cgroup/devices
    devices.allow: operation not permitted
pattern =
    (write error: /sys/fs/cgroup/\S*devices\.allow: operation not permitted)
    mount error: (open failed: /sys/fs/cgroup/devices)
    (failed to add device rules): [\w ]+
    (cgroup subsystem devices not found)
cause = NVIDIA's hook could not give the container access to the GPU's devices ({found}): the hook is older than this
    system's control groups, or runs without root.
remedy = Update the container toolkit, whose newest releases do not change these rules. Without root, set no-cgroups =
    true in /etc/nvidia-container-runtime/config.toml, or use CDI (--device nvidia.com/gpu=all).
source = NVIDIA/nvidia-container-toolkit#139

[container-unknown-gpu]
keys = nvidia-container-cli: device error
pattern = nvidia-container-cli: device error: (?:unknown device id: )?([\w/-]+?)(?:: unknown|\\|$)
cause = The container requests the GPU {found}, which this host does not have. A Spark has one GPU, number 0.
remedy = Start it with --gpus all, and correct NVIDIA_VISIBLE_DEVICES, device_ids or count in the compose file.
    In Kubernetes, restart the device plugin's pod (HAMi's, NVIDIA's), which still hands out an old identifier, and then
    this pod.
source = NVIDIA/nvidia-docker#1264

[container-mount-missing]
keys =
    mount error: mount operation failed
    mount error: stat failed
pattern = mount error: (?:mount operation|stat) failed: (?P<file>/\S+?): no such file or directory
values =
    advice of file: .*/proc/driver/nvidia/(?:params|version|registry) => Reboot, because the driver was updated or
    + reloaded while in use, and update the container toolkit
    advice of file: .*/proc/driver/nvidia/gpus/ => Update the container toolkit, because old ones truncate the PCI
    + domain's number (compare ls /proc/driver/nvidia/gpus). If that GPU is gone, reboot
    advice of file: . => Install its package on the host (on a Jetson, sudo apt install nvidia-jetpack), or remove it
    + from the lists in /etc/nvidia-container-runtime/host-files-for-container.d. After a change of the driver, generate
    + the CDI specification again
cause = NVIDIA's container toolkit should mount {file} into the container, but the file does not exist.
remedy = {advice}.
source =
    NVIDIA-NeMo/Speech#590
    NVIDIA/nvidia-docker#1068
    NVIDIA/nvidia-docker#1316

[container-driver-in-image]
keys = nvidia-container-cli: mount error: file creation failed
pattern = mount error: file creation failed: \S*/(?:merged|rootfs)(/\S+): file exists
cause = The image itself contains {found}, a file of the driver, which the container must get from the host.
remedy = Build the image without driver packages (libnvidia-compute, nvidia-utils), or delete that file in its last
    step. An image committed from a running container has such files too. On a Jetson, an image must be made for its
    JetPack (l4t).
source = BIOP/BIOP-desktop#2

[nvml-not-permitted]
keys =
    NVML: Insufficient Permissions
    nvml error: insufficient permissions
pattern =
    Failed to initialize NVML: (Insufficient Permissions)
    nvml error: (insufficient permissions)
values =
    advice of log_selinux: . => SELinux is the first suspect (getenforce: Enforcing): run sudo setsebool -P
    + container_use_devices true, or start the container with --security-opt=label=disable. If it still fails, compare
    + ls -l /dev/nvidia* with the account's groups (Podman: --group-add keep-groups)
    advice of log_selinux: (?:) => Compare ls -l /dev/nvidia* with the account's groups, and start Podman with
    + --group-add keep-groups or --userns=keep-id. With SELinux (getenforce: Enforcing), run sudo setsebool -P
    + container_use_devices true
cause = This account or container may not open the GPU's device files ({found}): SELinux, a rootless container, or their
    group forbids it.
remedy = {advice}.
source =
    NVIDIA/nvidia-container-toolkit#210
    mudler/LocalAI#7412

[container-without-cgroup-devices]
keys = Failed to initialize NVML: Unknown Error
pattern = Failed to initialize NVML: (Unknown Error)
when = log-shows-no-cgroups
cause = The container toolkit gave the container no right to use the GPU's devices ({found}), because its configuration
    has {log_no_cgroups}, which is meant for Docker without root.
remedy = Set no-cgroups = false in /etc/nvidia-container-runtime/config.toml, restart Docker (sudo systemctl restart
    docker) and start the container again.
source = NVIDIA/nvidia-container-toolkit#580

[container-systemd-without-cgroup]
keys =
    Failed to allocate manager object
    Failed to create /init.scope control group
pattern = Failed to (?P<step>allocate manager object|create /init\.scope control group): (?P<why>[^\n]+)
cause = systemd cannot start in this container ({why}): it cannot write to the host's control groups.
remedy = Start it with --privileged --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:rw (molecule: privileged: true,
    cgroupns_mode: host, and that volume), or with Podman (--systemd=always), and use an image with systemd 249 or
    newer.
source = eniocarboni/docker-ubuntu-systemd#1

[worker-shared-memory]
keys =
    is killed by signal: Bus error
    insufficient shared memory (shm)
    exceeds memory available in /dev/shm
pattern =
    (memory request exceeds memory available) in /dev/shm
    (DataLoader worker \(pid\(?s?\)? [\d, ]+\)) is killed by signal: Bus error
    (insufficient shared memory) \(shm\)
cause = /dev/shm is full ({found}): a container has 64 MB there by default.
remedy = Start the container with --ipc=host or a larger --shm-size (such as 16g; shm_size in a compose file), or use
    fewer workers.
source = pytorch/pytorch#5040

[container-runtime-rootless]
keys = error creating device nodes:
pattern =
    runc create failed: [^\n]*error creating device nodes: \w+ (?:\S+:)?(?P<path>/\S+): permission denied
cause = runc, which nvidia-container-runtime called, may not create the device {path} in a rootless container.
remedy = Omit --runtime nvidia-container-runtime: podman run --runtime crun --device nvidia.com/gpu=all needs no other
    runtime, only the CDI specification (sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml).
source = NVIDIA/nvidia-container-toolkit#1151

[container-runtime-wrapper]
keys = nvidia-container-runtime did not terminate successfully
pattern = (\S*nvidia-container-runtime) did not terminate successfully
cause = The program that Docker runs as NVIDIA's runtime ({found}) is another program, or not from the installed
    toolkit.
remedy = Point the runtime nvidia in /etc/docker/daemon.json to the toolkit's nvidia-container-runtime (nvidia-ctk
    runtime configure), and restart docker.
source = NixOS/nixpkgs#322400

[container-driver-library-stale]
keys =
    detection error: open failed
    error mounting
    failed to stat CDI
pattern =
    detection error: open failed: \S*/(?P<library1>lib[\w-]+)\.so\.(?P<version1>\d[\d.]+): no such file
    (?:error mounting|failed to stat CDI host device) [\\'"]*/\S*/(?P<library2>lib(?:cuda|nv)[\w-]*)\.so
    +\.(?P<version2>\d+\.[\d.]+)[^\n]*no such file
cause = The container tools look for {library} of the driver {version}, which is missing: after an update, the loader's
    cache, links or a CDI specification still name that driver.
remedy = Run sudo ldconfig, finish the driver's update and reboot. Delete links to the old version (find / -name
    'lib*nvidia*.so.{version}'; ldconfig -p | grep {version}) and generate a CDI specification again (sudo nvidia-ctk
    cdi generate --output=/etc/cdi/nvidia.yaml).
source =
    ublue-os/aurora#606
    NVIDIA/nvidia-container-toolkit#297

[container-hook-ldconfig]
keys = nvidia-container-cli: ldcache error
pattern =
    nvidia-container-cli: ldcache error: (open failed: \S+)
    nvidia-container-cli: ldcache error: (process \S+ (?:terminated with signal|failed with error code:) \d+)
cause = NVIDIA's hook could not run ldconfig for the container ({found}).
remedy = Set ldconfig = "@/sbin/ldconfig.real" (or "@/sbin/ldconfig") in /etc/nvidia-container-runtime/config.toml, so
    that the host's program runs, or use CDI instead of the hook (--device nvidia.com/gpu=all).
source = NVIDIA/nvidia-container-toolkit#1246

[container-driver-libraries]
keys =
    nvidia-container-cli: initialization error: cannot open
    nvidia-container-cli: initialization error: load library failed
    ERROR_LIBRARY_NOT_FOUND
pattern =
    nvidia-container-cli: initialization error: (cannot open shared object file)
    nvidia-container-cli: initialization error: load library failed: (libnvidia-ml\.so\.1)(?P<closed>[^\n]*permission
    + denied)?
    failed to initialize NVML: (ERROR_LIBRARY_NOT_FOUND)
values =
    reason of closed: . => its file may not be read
    reason of found: . => the driver's libraries are missing, or not where ldconfig looks
    advice of closed: . => Let all accounts read it and its directories (ls -lL /usr/lib/*/libnvidia-ml.so.1; sudo chmod
    + a+rx), as after an installation from a .run file with another umask. If it is readable, AppArmor or a snap denies
    + it (journalctl -k | grep DENIED)
    advice of found: . => Make nvidia-smi work on the host, and run sudo ldconfig. A Docker that is a snap (snap list
    + docker) or Docker Desktop does not see these libraries: install Docker from apt instead
cause = NVIDIA's container toolkit could not load libnvidia-ml of the host ({found}): {reason}.
remedy = {advice}.
source = canonical/docker-snap#148

[nvidia-docker-1-plugin]
keys =
    volume plugin nvidia-docker
    plugin "nvidia-docker" not found
pattern =
    (error looking up volume plugin nvidia-docker)
    (plugin 'nvidia-docker' not found)
cause = The container was created with nvidia-docker 1, whose volume plugin does not exist any more ({found}).
remedy = Remove the container (docker rm) and create it again with --gpus all and the NVIDIA Container Toolkit
    (nvidia-container-toolkit; sudo nvidia-ctk runtime configure --runtime=docker).
source = NVIDIA/nvidia-docker#349

[podman-option-gpus]
keys = unknown flag: --gpus
pattern = unknown flag: (--gpus)
cause = This Podman (before 5) or nerdctl does not support Docker's option {found}.
remedy = Pass the GPU through CDI: podman run --device nvidia.com/gpu=all …, after sudo nvidia-ctk cdi generate
    --output=/etc/cdi/nvidia.yaml.

[docker-platforms-not-loaded]
keys = exporter does not currently support exporting manifest lists
pattern = (docker exporter does not currently support exporting manifest lists)
cause = buildx can load an image into Docker for one platform only, not for several ({found}).
remedy = Name only this host's platform (--platform linux/arm64 --load), push the images to a registry (--push), or
    switch on Docker's containerd image store.
source = https://docs.docker.com/build/building/multi-platform/

[docker-buildx-missing]
keys =
    unknown flag: --platform
    buildx component is missing
    'buildx' is not a docker command
    unknown command: docker buildx
pattern =
    unknown flag: (--platform)
    the (buildx) component is missing or broken
    '(buildx)' is not a docker command
    unknown command: docker (buildx)
cause = Docker has no buildx plugin here, so it misreads {found} as its own argument, or builds no image.
remedy = Install docker-buildx-plugin (for Ubuntu's own Docker, docker-buildx).
source = intel/gprofiler#822

[container-hook-root]
keys = change root failed
pattern = nvidia-container-cli: initialization error: (change root failed)
cause = The driver's root directory in the toolkit's configuration does not exist ({found}). A driver container may have
    set it.
remedy = Remove the line root from /etc/nvidia-container-runtime/config.toml.
source = NVIDIA/nvidia-container-toolkit#679

[container-no-device]
keys = failed to detect NVIDIA devices
pattern = (failed to detect NVIDIA devices)
cause = NVIDIA's container toolkit found no GPU on this host ({found}). Its later messages are consequences.
remedy = Make nvidia-smi work on the host first. If it works, check that the toolkit has permission to load the driver's
    modules.
source = NVIDIA/nvidia-docker#1675

[container-hook-overcommit]
keys = not enough memory for the allocation
pattern =
    __vm_enough_memory: pid: \d+, comm: (?P<program>[^,\n]+), bytes: (?P<bytes>\d+) not enough memory for the allocation
when = container-hook-driver
cause = The kernel refused {bytes} bytes to {program}, which the container toolkit starts: its overcommit rule
    (vm.overcommit_memory) allows no more, so CUDA did not start.
remedy = Check sysctl vm.overcommit_memory. If it is 2, set it to 0 or raise vm.overcommit_ratio; if it is 0, stop other
    programs or add swap. Or start the container through CDI, which needs no such helper.
source = NVIDIA/nvidia-container-toolkit#1324

[container-hook-driver]
keys =
    driver rpc error
    detection error: nvml error
    driver error: failed to process request
    initialization error: cuda error
pattern =
    (driver rpc error: [\w ]+)
    detection error: (nvml error: [\w ]+)
    (driver error: failed to process request)
    initialization error: (cuda error: [\w ]+)
cause = The helper of NVIDIA's container toolkit could not start the driver in time, or crashed in it ({found}).
remedy = Update the container toolkit (older ones needed CUDA on the host, and failed with it), keep nvidia-persistenced
    running, and reboot the host if CUDA does not start there either.
source = NVIDIA/nvidia-docker#1648

[container-hook-missing]
keys =
    nvidia-container-runtime
    nvidia-cdi-hook
pattern =
    exec: \\*'(nvidia-container-runtime[\w.-]*)\\*': executable file not found
    fork/exec (\S*nvidia-c\S+): no such file or directory
    stat (\S*nvidia-container-runtime-hook): no such file or directory
values =
    what of found: .*hook$ => hook, which the CDI specification or the engine's hooks file names
    what of found: . => runtime, which Docker should start
cause = {found} is not installed. It is the NVIDIA {what}.
remedy = Install all packages of the container toolkit in one version (nvidia-container-toolkit, its base and
    libnvidia-container). For a hook, then generate the specification again (sudo nvidia-ctk cdi generate
    --output=/etc/cdi/nvidia.yaml).
source = NVIDIA/nvidia-docker#1190

[cdi-hook-failed]
keys = error executing hook
pattern = error executing hook `(\S*nvidia-c\S+)`
cause = A hook of NVIDIA's container toolkit failed ({found}): it is older than the driver or the CDI specification, or
    it is the old OCI hook, which fails without root.
remedy = Generate the specification again (sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml), and remove the
    old hook's file from /usr/share/containers/oci/hooks.d.
source = ublue-os/bluefin#3454

[containerd-refused]
keys =
    systemd_cgroup` only works
    make sure you are running as root and the endpoint
    containerd-rootless-setuptool
    needs CNI plugin
    name is reserved for
    /run/containerd/containerd.sock: connect: permission denied
pattern =
    (?P<why>'systemd_cgroup' only works for|connect endpoint '\S+', make sure you are
    + running as root|rootless containerd not running|needs CNI plugin '[^'\n]+'|name is reserved
    + for|/run/containerd/containerd\.sock: connect: permission denied)
values =
    advice of why: 'sys => Remove systemd_cgroup from /etc/containerd/config.toml, and set SystemdCgroup = true in the
    + runtime's options
    advice of why: needs => Install the CNI plugins into that directory (package containernetworking-plugins)
    advice of why: name => Remove the old pod or container first (crictl rmp -f, crictl rm)
    advice of why: . => Run the command with sudo, and check that containerd runs (systemctl status containerd)
cause = containerd or a client of it failed: {why}.
remedy = {advice}.
source = https://github.com/containerd/containerd/blob/main/docs/man/containerd-config.toml.5.md

[container-toolkit-refused]
keys =
    nvidia-container-cli
    NVIDIA Container Runtime
    unrecognized runtime '
    failed to inject devices
    failed to run ldconfig
    unable to determine CDI version
    unable to load config for runtime
pattern =
    nvidia-container-cli(?:\.real)?: (?P<why1>permission error: capset failed|initialization error: driver error:
    + timed out|detection error: path error: [^\n]+|initialization error: open failed: [^\n]+)
    NVIDIA Container Runtime: (?P<why2>[^\n]*(?:could not find requested GPU device|unable to load config[^\n]*))
    (?P<why3>unrecognized runtime '[^'\n]+'|failed to run ldconfig|failed to inject devices|unable to determine CDI
    + version)
    unable to load config for runtime \w+: (?P<why4>[^\n']+)
values =
    advice of why: permission => If the engine runs in a container, start that container with --privileged; if it runs
    + without root, set no-cgroups = true in config.toml
    advice of why: init\w+ error: driver => Keep nvidia-persistenced running, because the driver starts slowly without
    + it, and try again
    advice of why: detection|init => The engine runs without root or in a sandbox that hides that path. Run it as
    + root, or use CDI (nvidia-ctk cdi generate)
    advice of why: .*could not find => Request a GPU that nvidia-smi -L lists (0 on a Spark), or generate the
    + specification again (sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml)
    advice of why: unrec => Use docker, containerd or crio
    advice of why: failed|unable to det => Install the toolkit's packages in one version (nvidia-container-toolkit,
    + -base, libnvidia-container-tools), then generate the CDI specification again
    advice of why: .*denied => Run nvidia-ctk with sudo
    advice of why: . => Correct that file (/etc/nvidia-container-runtime/config.toml or the engine's), or move it
    + away and run sudo nvidia-ctk runtime configure --runtime=docker
cause = NVIDIA's container toolkit failed: {why}.
remedy = {advice}.
source = https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html

[container-lost-gpu]
keys = Failed to initialize NVML: Unknown Error
pattern = Failed to initialize NVML: (Unknown Error)
uncertain = yes
cause = NVML may not use the GPU's devices in this container ({found}): if it had the GPU before, a reload of systemd
    (daemon-reload) removed them from its control group; if not, the toolkit never added them.
remedy = Start the container again; CDI, or the links below /dev/char that NVIDIA describes, prevent this. If it never
    had the GPU, set no-cgroups = false in /etc/nvidia-container-runtime/config.toml (true only for Docker without
    root), update the toolkit, and name the devices (--device /dev/nvidia0 and the others).
source = NVIDIA/nvidia-container-toolkit#48

[start-program-missing]
keys = exec user process caused
pattern = exec user process caused:? '?(?P<why>no such file or directory|permission denied)
uncertain = yes
values =
    advice of why: no => Check in the image that the program and the interpreter in its first line (#!) exist, that
    + the script has no Windows line endings (sed -i 's/\r$//' FILE), and that a binary's loader exists (ldd; a glibc
    + binary does not run on Alpine)
    advice of why: . => Make it executable in the image (RUN chmod +x FILE), and start it from a volume that is not
    + mounted with noexec
cause = The container's start program could not be run: {why}.
remedy = {advice}.
source = docker-archive-public/docker.labs#215
"""
