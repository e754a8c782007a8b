# __init__.py in this directory explains the fields.

"""Jetson and WSL

Messages from the tools that flash a Jetson, from its GPU's library, and from Linux under Windows.
"""

RULES = r"""
[jetson-not-in-recovery]
keys =
    probing the target board failed
    Reading board information failed
    Target board not found
    No devices to flash
    chip_info.bin_bak missing
    BootRom is not running
    Failed to read UID
pattern =
    (probing the target board failed)
    (Reading board information failed)
    (Target board not found)
    (No devices to flash)
    (chip_info\.bin_bak missing)
    (BootRom is not running)
    (Failed to read UID)
cause = The flashing tool found no Jetson in recovery mode, or one that was already used for an attempt ({found}).
remedy = Before each attempt, put the board into recovery mode again (hold its recovery button, or bridge FC REC and
    GND, while power comes on), and check that lsusb lists 0955: NVIDIA Corp. APX. Run the tool as root on an x86-64 PC
    with Ubuntu (no virtual machine, no ARM host) that is connected with a USB data cable, without a hub.
source = balena-os/jetson-flash#73

[jetson-usb-write]
keys =
    might be timeout in USB write
    failed to read rcm_state
pattern =
    (might be timeout in USB write)
    (failed to read rcm_state)
cause = The Jetson left the USB bus while its boot loader was sent to it ({found}).
remedy = Put it into recovery mode again and start at once. Use another port and cable without a hub, a real PC instead
    of a virtual machine, and keep USB awake (echo -1 | sudo tee /sys/module/usbcore/parameters/autosuspend).
source = OE4T/meta-tegra#1824

[jetson-initrd-not-booted]
keys =
    to boot to the initrd flash kernel
    Waiting for target to boot-up...Timeout
pattern =
    (Device failed to boot to the initrd flash kernel)
    Waiting for target to boot-up\.\.\.(Timeout)
cause = The Jetson received its boot loader, but then its flashing system could not be reached over USB networking
    ({found}).
remedy = On the PC, install nfs-kernel-server, switch off firewall and VPN temporarily (sudo ufw disable), keep
    NetworkManager off usb0, and leave IPv6 on. Then put the board into recovery mode again. A custom carrier board
    needs USB device mode in its device tree.

[jetson-board-unknown]
keys = Invalid target board
pattern = Invalid target board - (\S+?)\.?$
cause = This Jetson Linux has no configuration for the board {found}.
remedy = Name one of the .conf files in Linux_for_Tegra (ls *.conf), and unpack the release for that module, because
    each covers one family (36 Orin, 38 Thor). Remove leftovers of an earlier download for another board.
source = balena-os/jetson-flash#87

[jetson-memory-not-permitted]
keys = NvRmMemInitNvmap failed
pattern = NvRmMemInitNvmap failed with (?P<why>[\w ]+)
cause = A program on a Jetson may not open the GPU's memory device (/dev/nvmap): {why}.
remedy = Add the account to the groups video and render (sudo usermod -aG video,render $USER) and log in again. Start a
    container with --runtime nvidia, and with --group-add video if it does not run as root.
source = osrf/rocker#211

[jetson-libraries-empty]
keys = is empty, not checked
pattern = File (?P<file>/usr/lib/aarch64-linux-gnu/\S+) is empty, not checked
when =
    library-of-old-cuda
    library-not-found
cause = The image is for a Jetson, and its CUDA libraries ({file}) are empty files. The NVIDIA runtime mounts the host's
    libraries over them, but did not run here.
remedy = On a Jetson, start containers with --runtime nvidia, and for docker build make it Docker's default
    ("default-runtime": "nvidia" in /etc/docker/daemon.json); the JetPack must be the image's. On a Spark use another
    image, because L4T images do not run there.
source = dusty-nv/jetson-containers#235

[wsl-no-adapter]
keys = WSL environment detected but no adapters
pattern = (WSL environment detected but no adapters were found)
cause = Docker runs under WSL, which has no GPU ({found}).
remedy = Install NVIDIA's current driver on Windows, run wsl --update and wsl --shutdown in PowerShell, and check that
    nvidia-smi works inside WSL first. The card must be in WDDM mode, and Docker Desktop must use WSL 2.
source = NVIDIA/nvidia-docker#1692

[wsl-gpu-blocked]
keys = GPU access blocked by the operating system
pattern = (GPU access blocked by the operating system)
cause = The program may not use the GPU's devices ({found}): in a container its control group excludes them, and under
    WSL itself the Windows driver and WSL do not fit together.
remedy = If it happens only in a container, set no-cgroups = false in /etc/nvidia-container-runtime/config.toml and
    restart docker (a rootless Podman needs --group-add keep-groups instead). If it happens in WSL itself, update the
    driver on Windows, run wsl --update and wsl --shutdown, and remove nvidia-utils and other driver packages from the
    distribution.
source = NVIDIA/nvidia-container-toolkit#85

[wsl-not-started]
keys =
    Wsl/Service/
    Wsl/Install
    HCS_E_
    WslRegisterDistribution failed
pattern =
    (?:Wsl/\w+/\S*?)?(?P<code>HCS_E_\w+|WSL_E_\w+|E_\w+|0x[0-9a-fA-F]{8})
    WslRegisterDistribution failed with error: (?P<code2>0x[0-9a-fA-F]{8})
values =
    advice of code: HCS_E|0x80370(?:102|114) => Switch on virtualization in the firmware's setup and the Windows feature
    + Virtual Machine Platform (wsl --install --no-distribution), and restart Windows
    advice of code: WSL_E_DISTRO => Look up the distribution's name (wsl --list --online), and install it
    advice of code: . => Run wsl --update and wsl --shutdown in PowerShell and try again. Restart Windows after its
    + updates
cause = WSL could not start its Linux ({code}).
remedy = {advice}.
"""
