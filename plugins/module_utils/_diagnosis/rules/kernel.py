# __init__.py in this directory explains the fields.

"""Kernel and systemd

Messages in the kernel's log about disks, heat, cables and hangs, and from systemd about a unit that does not start.
"""

RULES = r"""
[disk-error]
keys =
    XFS (
    BTRFS
    Buffer I/O error on dev
    SQUASHFS error
    after probe failure
    e2fsck: Cannot continue
    Device not ready; aborting
    UNEXPECTED INCONSISTENCY
    I/O error, dev
    QID
    EXT4-fs error
    controller is down; will reset
    critical medium error
    Remounting filesystem read-only
pattern =
    XFS \((?P<device9>\w+)\): (?:Corruption detected|Metadata corruption detected|Metadata I/O error|log I/O error)
    BTRFS (?:error|critical) \(device (?P<device10>\w+)
    Buffer I/O error on dev (?P<device11>\w+)
    (?P<device12>SQUASHFS) error
    nvme (?P<device13>nvme\d+): Removing after probe failure
    e2fsck: Cannot (?P<device14>continue)
    nvme (?P<device8>nvme\d+): Device not ready
    /dev/(?P<device7>\w+): UNEXPECTED INCONSISTENCY
    I/O error, dev (?P<device1>\w+)
    nvme (?P<device2>nvme\d+): I/O (?:tag )?\d+[^\n]*?QID \d+ (?P<late>timeout, (?:aborting|completion
    + polled))(?!(?s:.{0,1500}?)(?:I/O error, dev|Removing after|controller is down))
    nvme (?P<device15>nvme\d+): I/O (?:tag )?\d+[^\n]*?QID \d+ (?:timeout|\(I/O\))
    EXT4-fs error \(device (?P<device3>\w+)\)
    nvme (?P<device4>nvme\d+): controller is (?P<down>down)
    critical medium error, dev (?P<device5>\w+)
    EXT4-fs \((?P<device6>\w+)\): Remounting filesystem read-only
values =
    state of late: . => did not answer in time
    state of device: . => fails
    advice of down: . => Disable the disk's power saving (kernel options nvme_core.default_ps_max_latency_us=0
    + pcie_aspm=off in /etc/default/grub; sudo update-grub; reboot) and cool it. If it happens again, save your data,
    + update its firmware (fwupdmgr), see smartctl -a, and have it replaced
    advice of device: loop => It is a file used as a disk: see which (losetup -a), whether the file system that holds
    + it is full or read-only (df -h), and what the kernel reports of the disk below
    advice of late: .*polled => The disk works, but its interrupts arrive late or get lost. Use a newer kernel and the
    + disk's newest firmware, and try the kernel option pcie_aspm=off. It is no loss of data
    advice of late: . => First disable the disk's power saving (kernel option nvme_core.default_ps_max_latency_us=0, or
    + pcie_aspm=off) and update its firmware (fwupdmgr); smartctl -a shows its health and temperature. If I/O errors
    + follow, save your data and have it replaced
    advice of device: . => Save your data, check nvme smart-log and smartctl, check the file system from another
    + system (fsck), and have the disk replaced if errors come back
cause = The disk {device} or its file system {state}. Later errors of programs are consequences.
remedy = {advice}.

[device-gone]
keys = attempt to access beyond end of device
pattern = attempt to access beyond end of device(?:\n[^\n:]{0,60}?(?<!\w)(?P<device>\w{1,20}):
    + rw=\d+[^\n]{0,80}?limit=(?P<limit>\d+))?
values =
    advice of limit: 0$ => The device was removed while it was mounted (a volume detached, an enclosure switched off):
    + unmount first (sync; umount) and detach afterwards; what was not written is lost, so check the file system (fsck)
    + before the next use
    advice of limit: . => The file system is larger than its partition or device, which was made smaller or copied in
    + part: restore the device's size, or the file system from a backup
    advice of limit: (?:) => Look whether the device is still there and how large it is (lsblk), and check the file
    + system (fsck)
cause = The kernel reads or writes behind the end of a device[, {device}, which has {limit} sectors].
remedy = {advice}.
source = dstackai/dstack#1936

[too-hot]
keys =
    High temperature on sensors
    critical temperature reached
    critical temp reached
pattern =
    (High temperature on sensors)
    (critical temp(?:erature)? reached)
values =
    event of found: High => The ConnectX card is too hot, and may stop
    event of found: . => The host became too hot and shut down
cause = {event} ({found}).
remedy = Clear its air inlets, keep it away from other heat sources, and check the temperature under load (nvidia-smi -q
    -d TEMPERATURE). If it is hot when idle, ask the vendor.

[cable-fault]
keys = Port module event[error]
pattern = mlx5_core (?P<device>[\w:.]+): Port module event\[error\]: module \d+, (?P<why>[^\n]+)
cause = The ConnectX card {device} rejects the cable or module in its port ({why}).
remedy = Reseat it on both ends, try the other port and another cable from the vendor's list (for a Spark, a QSFP112 or
    QSFP56 cable), and update the card's firmware with the vendor's tool.

[connectx-stopped]
keys =
    TX timeout detected
    firmware internal error
    in pre-initializing state
    Will cause a leak of a command resource
    Fatal error
    PCI slot is unavailable
    health compromised
    mlx5_pci_err_detected
pattern =
    mlx5_core (?P<device1>[\w:.]*\w)[^\n]*?(?P<why1>mlx5_pci_err_detected|Fatal error \d+ detected|PCI slot is
    + unavailable|health
    + compromised|TX timeout detected|firmware internal error|Firmware over \d+ MS in pre-initializing state)
    mlx5_core (?P<device2>[\w:.]*\w)[^\n]*?(?P<why2>[A-Z_]{4,}\(0x\w+\) timeout)\. Will cause a leak
cause = The ConnectX card {device} no longer answers its driver ({why}). Later errors from RDMA or NCCL are
    consequences.
remedy = Switch the host's power off and on, reseat the cable, and compare the card's firmware with the vendor's latest.
    If it happens again under load, check its temperature (mget_temp, sensors) and ask the vendor.

[wifi-stopped]
keys =
    mt7925e
    driver own failed
    chip reset failed
    hardware init failed
    firmware crashed
    Microcode SW error
pattern =
    (?P<driver>mt79\w+|iwlwifi|ath\d+k\w*) (?P<device>[\w:.]+): (?P<why>driver own failed|hardware init failed|firmware
    + crashed|Microcode SW error detected|chip reset failed|Message [0-9a-f]+ \(seq \d+\) timeout)
cause = The Wi-Fi card {device} no longer answers its driver {driver} ({why}).
remedy = Shut the host down and unplug its power for a minute (a restart does not reset the card), update the kernel and
    linux-firmware, switch the card's power saving off (iw dev NAME set power_save off), or use a network cable.

[network-card-stuck]
keys = NETDEV WATCHDOG
pattern =
    NETDEV WATCHDOG:? (?P<interface1>\S+) \((?P<driver1>[^)\n]+)\): transmit queue \d+ timed out
    (?P<driver2>\w+) [\w:.-]+ (?P<interface2>\S+): NETDEV WATCHDOG: [^\n]*transmit queue \d+ timed out
cause = The network card {interface} (driver {driver}) no longer sends.
remedy = Restart it (sudo ip link set {interface} down, then up), update kernel and firmware, try another cable and
    switch port, and switch its power saving off (sudo ethtool --set-eee {interface} eee off).

[usb-network-lost]
keys = get_registers -71
pattern = r8152 (?P<port>[\w.-]+:[\w.]+) (?P<interface>\S+): (?:get_registers|set_registers|Tx status|Rx status|intr
    + status) -71
cause = The USB network adapter {interface} (port {port}) answers no more: transfers on its USB port fail (-71).
remedy = Plug it into another port, without a hub, with a short cable; power saving of the port may do it
    (usbcore.autosuspend=-1 on the kernel's command line), or too little power.
source = bb-qq/r8152#114

[network-card-detached]
keys = PCIe link lost, device now detached
pattern = (?P<driver>\w+) (?P<device>[0-9a-f]{4}:[\w:.]+) (?P<interface>\S+): PCIe link lost, device now detached
cause = The network card {interface} (driver {driver}, {device}) has vanished from the PCIe bus.
remedy = Power the host off and on again. If it returns, update BIOS, kernel and the card's firmware, start the kernel
    with pcie_aspm=off (and pcie_port_pm=off), and reseat the card.
source = pop-os/linux#185

[hardware-error]
keys =
    SError Interrupt on CPU
    BERT: Error records
    Hardware error from APEI
pattern =
    (SError Interrupt on CPU\d+)
    (BERT: Error records from previous boot)
    (Hardware error from APEI)[^\n]*(?:\n[^\n]*severity: (?P<severity>\w+))?
unless = corrected
cause = The firmware reports a hardware error[ ({severity})]: {found}.
remedy = The lines below name the part (memory, PCIe, processor). A corrected error needs no action; for others, ask the
    vendor.

[driver-no-memory-hang]
keys = [NV_ERR_NO_MEMORY]
pattern = \[(NV_ERR_NO_MEMORY)\]
when =
    gpu-task-hung
    unit-watchdog
    log-shows-memory-pressure
cause = The driver got no unified memory ({found}), and the host is short of memory too[ ({log_pressure})]: GPU
    programs, other programs and the page cache of loaded files use up the memory that a GB10 shares with its host.
remedy = Leave more memory free: a smaller share for the engine (--gpu-memory-utilization, --mem-fraction-static), a
    shorter context, fewer other programs, and a memory guard (role guard). While a model loads, drop the page cache and
    compact the memory (sync; echo 3 | sudo tee /proc/sys/vm/drop_caches; echo 1 | sudo tee
    /proc/sys/vm/compact_memory). Reboot a host that hangs; if uname -r says 7.0.0, boot kernel 6.17.
source =
    tonyd2wild/GLM-5.3-Flash-NVFP4-DFlash2-2x-DGX-Spark#19
    NVIDIA/open-gpu-kernel-modules#1358

[unit-not-started]
keys =
    Failed at step
    code=exited, status=2
    Failed to load environment files
    Changing to the requested working directory failed
pattern =
    (?P<unit5>[\w@.\\-]+): Changing to the requested (?P<step5>working directory) failed: (?P<why5>[\w ]+)
    ^Failed at step (?P<step6>\w+) spawning (?P<unit6>[^\n:]+): (?P<why6>[^\n]+)
    (?P<unit1>\S+): Failed at step (?P<step1>\w+) spawning (?P<program>[^\n:]+): (?P<why1>[^\n]+)
    (?P<unit3>[\w@.\\-]+): Failed to load (?P<step3>environment files): (?P<why3>[\w ]+)
    (?P<unit2>[\w@.\\-]+): \w+ process exited, code=exited, status=2\d\d/(?P<step2>[A-Z]{4,})
    Process: \d+ ExecStart=(?P<unit4>\S+)[^\n]* \(code=exited, status=2\d\d/(?P<step4>[A-Z]{4,})\)
values =
    advice of step: environment => Create the file that EnvironmentFile names, or put - before its path
    advice of step: working => Correct WorkingDirectory: a directory that exists and that the unit's account (User=)
    + may enter
    advice of why: Permission denied => Let the unit's account (User=) run that file: chmod 755 on it, chmod o+x on
    + each directory above it (namei -l PATH shows them; not below a home), and a file system without noexec.
    + Reinstalling the program also does this
    advice of why: No such file => Correct the path in ExecStart, or install the program: it, or the interpreter in
    + its first line, does not exist
    advice of why: Exec format => Install the build for this processor (file PATH), or add the first line (#!) to a
    + script
    advice of step: EXEC => Correct ExecStart (the absolute path of a program that the unit's account may run; if its
    + first line names an interpreter, that must exist)
    advice of step: CHDIR => Correct WorkingDirectory
    advice of step: USER|GROUP => Create the account, or correct User and Group
    advice of why: Operation not => A unit of a user cannot have mounts of its own on this kernel or in this container:
    + leave LogNamespace, PrivateTmp, ProtectSystem and the like out of it, or make it a system unit with User=
    advice of why: No space left => Check whether sysctl user.max_user_namespaces is 0 (hardened systems), which
    + forbids namespaces, and whether /run is full (df -h /run; df -i /run)
    advice of why: Invalid argument => Start it again. If a container may not mount (LXC, Docker), allow nesting, or
    + switch the unit's sandbox off in a drop-in (PrivateTmp=no, ProtectSystem=no and similar)
    advice of step: NAMESPACE => Read the unit's line just before (journalctl -u), which names the path that could not
    + be mounted: create the directories that ReadWritePaths, BindPaths and similar options name, or leave that sandbox
    + option out in a container
    advice of step: . => Read about that step in man systemd.exec
cause = systemd could not start [{program} for ]{unit} (step {step})[: {why}]. The program itself did not run.
remedy = {advice}. Then run systemctl daemon-reload, and start it again.
source = utkuozdemir/nvidia_gpu_exporter#249

[systemd-target-refused]
keys =
    Failed to start reboot.target
    Failed to start poweroff.target
    Failed to reboot system via logind
    Failed to power off system via logind
pattern =
    Failed to start (?P<target>reboot|poweroff)\.target: (?P<why1>[^\n]+)
    Failed to (?P<target2>reboot|power ?off) system via logind: (?P<why2>[^\n]+)
cause = systemd does not carry out the {target}: {why}. It hangs or is overloaded, mostly for lack of memory or because
    a disk does not answer.
remedy = Run sync, then sudo systemctl --force reboot, and if that hangs sudo reboot -ff. Afterwards read the earlier
    boot's journal (journalctl -b -1 -p err) for the reason.
source = MichaIng/DietPi#813

[root-not-found]
keys =
    does not exist.  Dropping to a shell!
    Unable to mount root fs on
    Gave up waiting for root
pattern =
    ALERT!\s+(\S+) does not exist\.\s+Dropping to a shell
    (Unable to mount root fs on \S+)
    (Gave up waiting for root file system)
cause = The kernel found no root file system at boot ({found}): its initial RAM disk lacks the disk's driver or was not
    written, or the disk is not detected.
remedy = Boot an older kernel (Advanced options of the boot menu), then write the RAM disk again with enough room in
    /boot (df -h /boot; sudo update-initramfs -c -k KERNEL; sudo dpkg --configure -a). Compare the UUID with blkid.

[emergency-mode]
keys = You are in emergency mode
pattern = (You are in emergency mode)
uncertain = yes
cause = The host did not finish booting ({found}). Usually a file system in /etc/fstab is missing or damaged.
remedy = Log in on its screen and read journalctl -xb -p err. Correct /etc/fstab (nofail for disks that may be absent),
    or run fsck.

[io-error]
keys = Input/output error
pattern =
    error (?:reading|writing) '(?P<file1>[^'\n]+)': Input/output error
    \[Errno 5\] Input/output error(?:: '(?P<file2>[^'\n]+)')?
    (?<!\S)'?(?P<file3>/[^\s':]+)'?: Input/output error
cause = The disk or network file system with the program's files[ ({file})] does not answer (Input/output error).
remedy = Read the kernel's log (journalctl -k: nvme, usb, nfs), save what you can, and check smartctl -a. Reconnect a
    USB disk, and mount a network share again.

[nfs-not-responding]
keys = not responding
pattern = nfs: server (\S+) not responding
cause = The NFS server {found} does not answer, so programs that use its files wait for it.
remedy = Check it and the network to it (ping, showmount -e {found}). A mount with soft,timeo=100 gives up instead of
    waiting. Copy model files to a local disk.

[nfs-refused]
keys =
    mount.nfs: Connection
    mount.nfs: requested NFS version
    mount.nfs: rpc.statd is not running
    reason given by server
    does not support NFS export
pattern =
    mount\.nfs4?: (?P<why1>Connection (?:timed out|refused))
    mount\.nfs4?: (?P<why2>requested NFS version or transport protocol is not supported)
    mount\.nfs4?: (?P<why3>rpc\.statd is not running)
    mount\.nfs4?: mounting (?P<what>\S+) failed, reason given by server: (?P<why4>No such file or directory)
    exportfs: (?P<what2>\S+) (?P<why5>does not support NFS export)
values =
    advice of why: Connection => On the server, check that NFS runs (systemctl status nfs-kernel-server) and that the
    + firewall allows this host on port 2049 (sudo ufw allow from ADDRESS to any port nfs)
    advice of why: requested => Request a version that the server supports (-o vers=4.2, or vers=3), and check that
    + nfs-kernel-server runs there
    advice of why: rpc => Run sudo systemctl enable --now rpc-statd (package nfs-common), or use vers=4 or -o nolock
    advice of why: No such => Compare the path with showmount -e SERVER. With NFS 4, it may be relative to the export
    + with fsid=0
    advice of why: does => Export a directory on a real disk: a container's overlay or a mount without fsid= cannot be
    + exported
cause = The NFS share[ {what}] cannot be mounted or exported: {why}.
remedy = {advice}.

[page-allocation]
keys = : page allocation failure
pattern = (?P<task>[\w./:+-]+): page allocation failure: order:(?P<order>\d+)
cause = The kernel got no memory for {task} (a request of order {order}): memory is used up, or the page cache leaves no
    blocks of that size, for example while a large model loads on a GB10.
remedy = Leave more memory free (a smaller share for the engine), drop the cache and compact the memory (sync; echo 3 |
    sudo tee /proc/sys/vm/drop_caches; echo 1 | sudo tee /proc/sys/vm/compact_memory), and raise vm.min_free_kbytes
    (sysctl).
source = MiaAI-Lab/DeepSeek-v4.1-Flash-DGX-Sparks#23

[usb-controller-died]
keys =
    : HC died
    xHCI host
pattern = xhci[\w-]* (?P<port>[\w:.-]+): (?:HC died|xHCI host (?:controller )?not responding)
cause = The USB controller {port} has stopped, and all devices on its ports are gone.
remedy = Reboot (if that is not enough, shut down and unplug the power for a minute), update the host's firmware
    (fwupdmgr, DGX Dashboard), and find out which device or hub causes it.

[usb-not-enumerated]
keys =
    device descriptor read/
    device not accepting address
    unable to enumerate USB device
pattern =
    usb (?P<port>[\w-]+): (?:unable to enumerate USB device|device descriptor read/\w+, error|device not accepting
    + address)
cause = A device on the USB port {port} does not answer.
remedy = Unplug it, try another port and cable without a hub, and use the device's own power supply if it has one.

[read-only]
keys = ead-only file system
pattern =
    '?(?P<path>[^\s'()]+)(?<!\signoring)'?: [Rr]ead-only file system
    [Rr]ead-only file system(?:: '(?P<path2>[^'\n]+))?
cause = A file system is read-only[, so that {path} cannot be written].
remedy = Mount it writable (for a container, without :ro or read_only). If the kernel made it read-only, it has errors
    (see dmesg).
source = Jrohy/docker-install#1

[swap-in-use]
keys = swapon failed
pattern =
    swapon: (?P<file>\S+): swapon failed: (?P<why>Device or resource busy|Invalid argument|Operation not permitted)
values =
    advice of why: Device => It is already in use (swapon --show): switch it off first (sudo swapoff FILE)
    advice of why: Invalid => Create it again (fallocate or dd on ext4, chmod 600, mkswap), because it is not a swap
    + file or has holes
    advice of why: . => Use sudo, outside containers
cause = {file} cannot be used as swap: {why}.
remedy = {advice}.

[boot-policy]
keys =
    SBAT self-check failed
    shim SBAT data failed
pattern = (SBAT self-check failed|shim SBAT data failed)
cause = Secure Boot refuses the boot loader ({found}): an update of this or another system told the firmware to trust
    only newer ones.
remedy = Switch Secure Boot off in the firmware's setup, boot, run sudo mokutil --set-sbat-policy delete and sudo apt
    install --only-upgrade shim-signed grub-efi-arm64-signed, reboot twice, and switch it on again.

[pcie-link-lost]
keys =
    : Link Down
    DPC: containment event
    can't recover
    failed to assign
    can't assign
    can't reserve
pattern =
    (?P<device>[0-9a-f]{4}:[\w:.]+): (?P<why1>pciehp: Slot\([^)\n]*\): Link Down|DPC: containment event|AER: can't
    + recover)
    (?P<device2>[0-9a-f]{4}:[\w:.]+): (?P<why2>BAR \d+[^\n]{0,90}?(?:failed to assign|can't assign|can't reserve))
values =
    advice of why: BAR[^\n]*reserve => Another driver has claimed the device (lspci -nnk). Unload it first; for the
    + console's efifb, boot with video=efifb:off
    advice of why: BAR => Enable Above 4G Decoding and Resizable BAR in the firmware's setup, update the firmware, or
    + boot with pci=realloc. For a bridge's own small window the message is harmless
    advice of why: . => Shut the host down and unplug it for a minute, reseat the card or cable, and update its
    + firmware and the host's; if it happens again, disable deep power states (pcie_aspm=off), and ask the vendor
uncertain = yes
cause = The PCIe device {device} lost its link, or the bus has no address space for it ({why}).
remedy = {advice}.
source = https://docs.kernel.org/PCI/pcieaer-howto.html

[device-firmware-missing]
keys =
    Direct firmware load for
    Unable to load firmware
    firmware: failed to load
pattern =
    Direct firmware load for (?P<file1>(?!regulatory|nvidia/)\S+) failed with error (?P<code1>-\d+)
    (?:Unable to load firmware|firmware: failed to load) (?P<file2>(?!regulatory|nvidia/)\S+) \((?P<code2>-\d+)\)
uncertain = yes
cause = A driver asked for its firmware {file}, which is missing (error {code}). Many drivers then use an older file or
    work without it.
remedy = If that device does not work, update linux-firmware (sudo apt install --reinstall linux-firmware; sudo
    update-initramfs -u), and reboot. If it works, ignore the message.
source = https://docs.kernel.org/driver-api/firmware/index.html

[memory-module-error]
keys =
    UE Multi-bit
    UE on
    UE memory
    Memory failure: 0x
pattern =
    (EDAC \w+: \d+ UE [^\n]{3,60})
    (Memory failure: 0x\w+: [^\n]{3,80})
cause = The host's memory has an error that could not be corrected ({found}).
remedy = Save your data, restart the host, test the memory (memtester, the vendor's diagnosis), and have it replaced if
    the error returns. A Spark's memory is soldered, so only the vendor can replace it.
source = https://docs.kernel.org/admin-guide/RAS/main.html

[iommu-fault]
keys =
    arm-smmu-v3
    DRHD: handling fault
    IO_PAGE_FAULT
pattern =
    arm-smmu-v3 \S+ (?P<what1>event 0x\w+ received|CMD_SYNC timeout|event: [A-Z]\w+)
    DMAR: (?P<what2>DRHD: handling fault)
    (?P<what3>IO_PAGE_FAULT)(?: device=(?P<device>[\w:.]+))?
uncertain = yes
cause = A device[ {device}] accessed memory that it may not use ({what}). Perhaps its driver or firmware has a fault, or
    it was reset during a transfer.
remedy = Identify the device (the lines below; lspci), and update its driver, its firmware and the kernel. If transfers
    between cards fail, disable ACS or set iommu=pt on the kernel's command line.
source = https://docs.kernel.org/arch/x86/iommu.html

[kernel-limit-reached]
keys =
    table full, dropping packet
    neighbor table overflow
    fork rejected by pids controller
    (CRON) error (can't fork)
pattern =
    (?P<why1>nf_conntrack: table full)
    (?P<why2>neighbor table overflow)
    (?P<why3>fork rejected by pids controller)(?: in (?P<group>\S+))?
    (?P<why4>\(CRON\) error \(can't fork\))
values =
    advice of why: nf => Raise it (sudo sysctl net.netfilter.nf_conntrack_max=262144, and in /etc/sysctl.d), or find
    + the program that opens so many connections
    advice of why: neigh => Raise net.ipv4.neigh.default.gc_thresh3, or use a smaller subnet
    advice of why: fork => Raise TasksMax= of the unit or slice (docker run --pids-limit), or stop the program that
    + starts so many processes
    advice of why: . => The memory or the number of processes is exhausted: check free -h and ps -e | wc -l
cause = A limit of the kernel is reached: {why}[ in {group}].
remedy = {advice}.
source = https://docs.kernel.org/networking/nf_conntrack-sysctl.html
"""
