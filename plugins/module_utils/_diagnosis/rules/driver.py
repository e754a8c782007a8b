# __init__.py in this directory explains the fields.

"""The driver and the kernel

Messages from nvidia-smi, DKMS, modprobe and the kernel's log about the host, not the program.
"""

RULES = r"""
[fabric-manager-mismatch]
keys = nvidia-nvswitch: Version mismatch
pattern = nvidia-nvswitch: Version mismatch, kernel version (?P<kernel>[\d.]+\d) user version (?P<user>[\d.]+\d)
cause = The fabric manager is version {user}, but the driver's module is version {kernel}. On hosts with NVSwitch, CUDA
    does not start until both have the same version.
remedy = Install nvidia-fabricmanager in exactly the driver's version ({kernel}), hold both packages, and restart it
    (sudo systemctl restart nvidia-fabricmanager). A host without NVSwitch, such as a Spark, needs none.
source = NVIDIA/gpu-operator#121

[secure-boot]
keys =
    Key was rejected by service
    module with unavailable key is rejected
    unsigned module loading is restricted
    Required key not available
    Loading of unsigned module is
pattern =
    insert (?:module )?'?(?P<module>[\w.-]+)'?[^\n]*(?:Key was rejected by service|Required key not available)
    Loading of unsigned module is re\w+
    Required key not available
    Loading of module with unavailable key is rejected
    unsigned module loading is restricted
    Key was rejected by service
values =
    advice of module: (?:)$|nvidia => Use the distribution's signed modules (linux-modules-nvidia for this kernel), or
    + enrol
    advice of module: . => Sign the module, if its build does not (DKMS and kmodsign do), and enrol
cause = Secure Boot is on, and the kernel refuses the module[ {module}], which is not signed with an enrolled key.
remedy = {advice} the key that DKMS signs with (sudo mokutil --import /var/lib/shim-signed/mok/MOK.der, then a reboot
    and Enroll MOK on the host's own screen). Otherwise, switch Secure Boot off in the firmware's setup.
source =
    google/gasket-driver#11
    hhfeuer/nvhda#8

[module-older-than-kernel]
keys = fatal error:
pattern =
    (?P<source>[\w./+-]+\.[ch]):\d+(?::\d+)?: fatal error: (?P<header>(?:linux|asm|drm|net|rdma|video|acpi)/(?!version
    +|autoconf)[\w./-]+\.h): No such file
when = log-shows-kernel-build
values =
    module of source: .*nvidia => the NVIDIA driver
cause = A kernel module[ ({module})] does not fit this kernel: its {source} includes {header}, which this kernel does
    not have. Such a header belongs to the kernel's own source, and no other package has it.
remedy = Install a newer release of the module that supports this kernel (a newer driver of the branch), or boot an
    older kernel.
source = NixOS/nixpkgs#538659

[module-of-another-interface]
keys =
    has no member named
    implicit declaration of function
    arguments to function
    incompatible pointer type
    incompatible-pointer-types
    conflicting types for
    undeclared (first use
    unknown type name
    expected declaration specifiers
pattern =
    (?P<source>[\w./+-]+\.[ch]):\d+(?::\d+)?: error: (?P<why>[^\n]*(?:has no member named|implicit declaration of
    + function|too (?:few|many) arguments to function|incompatible[ -]pointer[ -]type|conflicting types for|undeclared
    + \(first use|unknown type name|expected declaration specifiers)[^\n]{0,80})
when = log-shows-kernel-build
values =
    module of source: .*nvidia => the NVIDIA driver
cause = The source of a kernel module[ ({module})] does not fit this kernel, whose functions or structures have changed:
    {why} ({source}).
remedy = Install a newer release of the module whose notes name this kernel (for NVIDIA's driver, a newer one of the
    branch, or the distribution's linux-modules-nvidia), or boot an older kernel (on Ubuntu, the GA kernel instead of
    HWE) and build it there (sudo dkms autoinstall).
source =
    noob404yt/mt7668-wifi-bt#1
    NVIDIA/open-gpu-kernel-modules#635

[kernel-headers-name]
keys = kernel headers for kernel
pattern = kernel headers for kernel (?P<name>linux-(?:headers|image|modules)-(?P<kernel>\S+)) cannot be found
cause = DKMS was called with the name of a package, {name}, as the kernel's release, so it looks for headers that do not
    exist.
remedy = Install the headers of that kernel, and pass the release alone (sudo dkms autoinstall -k {kernel}; ls
    /lib/modules lists the installed releases). Remove a script in /etc/kernel that passes the package's name.
source = Frogging-Family/linux-tkg#1186

[kernel-headers-missing]
keys =
    kernel headers for kernel
    /build: No such file or directory.  Stop
    /include/linux/autoconf.h
    *** /usr/src/linux-headers-
    Unable to find the kernel source tree
    Kernel configuration is invalid
    Module.symvers file is missing
pattern =
    The Module\.symvers file is missing
    Unable to find the kernel source tree for the currently running kernel
    Kernel configuration is invalid
    kernel headers for kernel (?P<kernel1>\S+) cannot be found
    \*\*\* /lib/modules/(?P<kernel2>[^/\s]+)/build: No such file or directory
    \*\*\* /usr/src/linux-headers-(?P<kernel4>[^/\s:]+): No such file or directory
    fatal error: /lib/modules/(?P<kernel3>[^/\s]+)/build/include/linux/autoconf\.h
cause = A kernel module cannot be built[ for {kernel}], because the headers of that kernel are missing or incomplete.
remedy = Install (or reinstall) the headers of that kernel (linux-headers-$(uname -r) for the running one), and run dkms
    autoinstall.
source = cilynx/rtl88x2bu#231

[dkms-build-failed]
keys =
    Bad return status for module build on kernel
    dkms autoinstall on
    (bad exit status:
pattern =
    Bad return status for module build on kernel: (?P<kernel>\S+) \(\w+\)\s*\n[^\n]*/dkms/(?P<module>[^/\s]+)/
    +(?P<version>[^/\s]+)/build/make\.log
    Bad return status for module build on kernel: (?P<kernel2>\S+)
    dkms autoinstall on (?P<kernel3>[^\s/]+)/\S+ failed for (?P<module3>[\w-]+)
    KERNELRELEASE=(?P<kernel4>\S+)[^\n]*\(bad exit status: \d+\)
uncertain = yes
values =
    advice of module: nvidia => Use a release of the driver that supports this kernel, or boot the kernel that it was
    + made
    + for
    advice of module: . => If nothing needs that module, remove it (sudo dkms remove -m NAME -v VERSION --all, or its
    + -dkms
    + package). Otherwise install a release of it for this kernel. Then run sudo dpkg --configure -a
    advice of kernel: . => Use a release of the module that supports this kernel, or boot the kernel that it was made
    + for
cause = DKMS could not build[ {module} {version}] for the kernel {kernel}. Usually the module is older than the kernel.
remedy = Read the first error of its make.log[ (in /var/lib/dkms/{module}/{version}/build)]. {advice}.
source = NVIDIA/gds-nvidia-fs#64

[dkms-source-gone]
keys = /source/dkms.conf does not exist
pattern = /var/lib/dkms/(?P<module>[^/\s]+)/(?P<version>[^/\s]+)/source/dkms\.conf does not exist
cause = DKMS lists {module} {version}, but its source (/usr/src/{module}-{version}) is gone, as after an incomplete
    removal of a package. DKMS then stops for all modules.
remedy = If {version} is the installed version, reinstall its package (sudo apt install --reinstall); otherwise remove
    what is left of it (sudo rm -r /var/lib/dkms/{module}/{version}). Then run sudo dkms autoinstall.
source = negativo17/nvidia-driver#56

[dkms-patch-failed]
keys = Error! Application of patch
pattern =
    Application of patch (?P<patch>\S+) failed\.?(?:\s+Check /var/lib/dkms/(?P<module>[^/\s]+)/(?P<version>[^/\s
    +]+)/build)?
cause = DKMS could not prepare the module[ {module} {version}]: the patch {patch} of its package does not fit. dpkg's
    errors about other packages are a consequence.
remedy = Install a release of the package that was made for this kernel, or boot the kernel that it supports and remove
    the other kernel's packages. Then run sudo dpkg --configure -a.
source = pop-os/nvidia-graphics-drivers-470#27

[dkms-already-there]
keys =
    Error! Module version
    is not newer than what is already found
    DKMS tree already contains
pattern =
    Module version (?P<version>\S+) for (?P<module1>[\w.-]+)\s+(?:exactly matches|is not newer than)
    DKMS tree already contains: (?P<module2>\S+)
cause = DKMS has {module}[ {version}] already, or the kernel's own package has a module that is at least as new.
remedy = Run dkms status. Remove the old module (sudo dkms remove MODULE/VERSION --all) before you add it again, or keep
    the kernel's module (linux-modules-nvidia) without DKMS.

[dkms-compiler-missing]
keys =
    : gcc-
    -gcc-
pattern =
    sh: \d+: (?P<compiler>(?:\w+-)*gcc-\d+): not found(?s:.{0,600}?)/var/lib/dkms/(?P<module>[\w.-]+)/
cause = DKMS cannot compile {module} because the compiler of the running kernel, {compiler}, is not installed.
remedy = Run sudo apt install {compiler}, then sudo dkms autoinstall (or sudo dpkg --configure -a).

[dkms-refused]
keys =
    Error! Could not find module source
    does not appear to have module source
    due to missing BUILD_DEPENDS
    Error! Bad conf file
    Error! Arguments <module>
    Error! You must be root
    Error! No write access to DKMS
    is not located in the DKMS tree
    is broken!
    Error! Problems with depmod
    includes a BUILD_EXCLUSIVE directive
    has already been built on
    Error! Unable to make temporary
    Error! System is missing os-release
    Error! Installation aborted
    Failed to sign module '
pattern =
    Error! (?P<why>Could not find module source directory|The directory \S+ does not appear to have module
    + source|Aborting build of module (?P<module>[^\s/]+)\S* [^\n]*due to missing BUILD_DEPENDS:? ?(?P<need>[\w.
    + -]+)|Bad conf file|Arguments <module> and <module-version> are not specified|You must be root to use this
    + command|No write access to DKMS tree|The module/version combo: (?P<combo>\S+) is not located in the DKMS
    + tree|\S+ is broken!|Problems with depmod detected|[^\n]*includes a BUILD_EXCLUSIVE directive|This
    + module/version has already been built|Unable to make temporary|System is missing os-release|Installation aborted)
    (?P<why2>Failed to sign module '[^'\n]+')
values =
    advice of why: Could|The dir => Reinstall the package with the module's source (nvidia-dkms of the branch), or
    + unpack it to /usr/src/NAME-VERSION
    advice of why: Aborting => Build and install that module first (for ofa_kernel, MLNX_OFED's
    + mlnx-ofed-kernel-dkms), or use the kernel's own module
    advice of why: Bad|System => Reinstall the package that owns the dkms.conf, which needs PACKAGE_NAME,
    + PACKAGE_VERSION and BUILT_MODULE_NAME
    advice of why: Arg => Name both: dkms install NAME/VERSION (dkms status shows them)
    advice of why: You|No write => Run it with sudo
    advice of why: The module => Use NAME/VERSION as dkms status shows it, or add it first (sudo dkms add NAME/VERSION)
    advice of why: \S+ is broken => Reinstall its package, or remove its remains (sudo rm -r
    + /var/lib/dkms/NAME/VERSION), then sudo dkms autoinstall
    advice of why: Prob|Inst => Check df -h /lib/modules and run sudo depmod -a, which prints the reason; then run
    + sudo dkms install NAME/VERSION again
    advice of why: .*EXCL => The package does not support this kernel or processor: install a release that does,
    + boot a kernel that it supports, or remove it if nothing needs it
    advice of why: This => The module is already built: run sudo dkms install NAME/VERSION, with --force to build it
    + again
    advice of why: Unable => Make room in /tmp or mount it (df -h /tmp; chmod 1777 /tmp)
    advice of why: . => Check that mokutil, openssl and the kernel's headers (scripts/sign-file) are installed and
    + /var/lib/shim-signed/mok contains the key (sudo update-secureboot-policy --new-key), then build the module again.
    + Without Secure Boot the message is harmless
cause = DKMS stopped: {why}.
remedy = {advice}.
source = https://github.com/dkms-project/dkms/blob/main/dkms.in

[driver-object-failed]
keys = /var/lib/dkms/
pattern = \*\*\* \[[^\]\n]*?: /var/lib/dkms/(?P<module>[^/\s]+)/(?P<version>[^/\s]+)/build(?:/\S+\.o)?\] Error
uncertain = yes
values =
    name of module: nvidia$ => NVIDIA driver's
cause = The [{name} ]module {module} {version} does not compile for this kernel. Usually it is older than the kernel.
remedy = Read the first error of its make.log (in /var/lib/dkms/{module}/{version}/build). Install a release that
    supports this kernel, or boot a kernel that this release supports.
source = linux-surface/linux-surface#573

[kernel-symbol-gpl]
keys = GPL-incompatible module
pattern = GPL-incompatible module (?P<module>[\w.-]+) uses GPL-only symbol '(?P<symbol>\w+)'
cause = The module {module} does not build for this kernel: the symbol {symbol} is reserved for free (GPL) modules
    there.
remedy = Install the driver's open kernel modules (nvidia-driver-580-open), which may use the symbol, or a driver or
    kernel without that conflict. If you built the kernel yourself, boot the distribution's.

[driver-installer-refused]
keys =
    .run file is intended for the
    please exit X before installing
    Unable to find the development tool
    ERROR: The kernel header file '
    appears to be already loaded in your kernel
    ERROR: An error occurred while performing the step
    libc header files
    ERROR: Failed to run `/usr/sbin/dkms
    install the kernel module through DKMS
    ERROR: The kernel module failed to load
    nvidia-installer must be run as root
    was configured without CONFIG_MODULES
    does not exactly match the current compiler
    -provided pre-install script failed
    ERROR: Installation has failed
    ERROR: Unable to find the system utility
    ERROR: Unable to find the module utility
pattern =
    (?P<why3>The kernel header file '[^'\n]+' does not exist)
    (?P<why4>kernel module '[^'\n]+' appears to be already loaded)
    (?P<why5>You do not appear to have libc header files installed)
    (?P<why6>Failed to (?:run '/usr/sbin/dkms build[^'\n]*'|install the kernel module through DKMS))
    (?P<why7>The kernel module failed to load[^\n.]*)
    (?P<why8>nvidia-installer must be run as root)
    (?P<why9>kernel was configured without CONFIG_MODULES)
    (?P<why10>compiler used to compile the kernel [^\n]*?does not exactly match the current compiler)
    (?P<why11>distribution-provided pre-install script failed)
    (?P<why12>An error occurred while performing the step: '[^'\n]+'|Installation has failed)
    Unable to find the (?:system|module) utility '(?P<tool2>[^'\n]+)'
    (?P<why1>\.run file is intended for the\s+\S+\s+platform, but you appear to be running on\s+[\w-]+)
    (?P<why2>running an X server; please exit X before installing)
    Unable to find the development tool '(?P<tool>[^'\n]+)'
values =
    advice of why: \.run => Install the driver's packages for this host's distribution (DGX OS includes its driver),
    + or use the installer for Linux-aarch64
    advice of why: running => Stop the desktop first (sudo systemctl isolate multi-user.target), and install over ssh
    advice of why: The kernel header => Install the headers of the running kernel (linux-headers-$(uname -r))
    advice of why: kernel module => Stop all programs that use the GPU (the desktop, nvidia-persistenced, containers),
    + unload the modules or reboot without the desktop, and run the installer again
    advice of why: You => Install libc6-dev (build-essential)
    advice of why: Failed to|An|Inst => Read the first error in /var/log/nvidia-installer.log and
    + /var/lib/dkms/nvidia/VERSION/build/make.log. Usually the headers are missing, or the driver is older than the
    + kernel
    advice of why: The kernel module => Let the installer sign the module and enrol the key (sudo mokutil --import),
    + or switch Secure Boot off; sudo dmesg shows the reason
    advice of why: nvidia => Run it with sudo
    advice of why: kernel was => Use a kernel with loadable modules
    advice of why: compiler => Install the compiler that built the kernel (cat /proc/version), and set CC to it
    + (CC=gcc-13)
    advice of why: distri => Continue: this only warns that the distribution has its own driver packages, which fit
    + better
    advice of tool: . => Install build-essential (the compiler that built the kernel) and the kernel's headers
cause = NVIDIA's installer does not continue[: {why}][: its tool {tool} is missing].
remedy = {advice}.

[driver-branches-mixed]
keys =
    API mismatch:
    nvidia-modeset: Version mismatch
pattern =
    API mismatch:\s+(?:the )?client (?:'[^'\n]*' \(pid \d+\)\s+)?(?:NVRM: +)?has (?:the )?version
    + (?P<client>(?P<branch>\d+)\.[\d.]*\d),?\s+(?:but\s+)?(?:NVRM: +)?(?:this )?kernel\s+module\s+has
    +\s+(?:NVRM: +)?(?:the )?version (?P<module>(?!(?P=branch)\.)\d+\.[\d.]*\d)
    Version mismatch:\s+nvidia\.ko ?\((?P<core>[\d.]+)\)\s+nvidia-modeset\.ko ?\((?P<modeset>[\d.]+)\)
cause = Two releases of the NVIDIA driver are mixed[: the libraries are version {client}, but the loaded kernel module
    is {module}][: the kernel module nvidia is version {core}, but nvidia-modeset is {modeset}].
remedy = If the driver was updated since the last start, reboot. If the versions still differ, two drivers are
    installed, for example from NVIDIA's .run installer and from apt. Remove one (sudo nvidia-uninstall for the .run
    driver, apt purge for the nvidia-driver and linux-modules-nvidia packages of the other branch; keep the kernel's
    headers), and reboot.
source = NVIDIA/aerial-cuda-accelerated-ran#32

[driver-mismatch-on-disk]
keys = API mismatch: the client
pattern =
    API mismatch: the client (?:'[^'\n]*' \(pid \d+\)\s+(?:NVRM: +)?)?has the version (?P<client>[\d.]*\d),
    + but\s+(?:NVRM: +)?this kernel module has\s+(?:NVRM: +)?the version
    + (?P<module>[\d.]*\d)\.?\s(?s:.){0,1500}?\nversion: +(?P=module)\s
cause = The NVIDIA driver's kernel module is version {module}, on disk too (modinfo), but its libraries are {client}.
    The module of the new version was not built or installed, so a reboot does not help.
remedy = Install the module in the libraries' version, with DKMS (dkms status; sudo dkms install nvidia/{client}, whose
    make.log says why it failed) or as the package linux-modules-nvidia for this kernel. Then run sudo depmod -a and
    sudo update-initramfs -u, and reboot.
source = Frogging-Family/nvidia-all#394

[driver-mismatch]
keys =
    ERROR_LIB_RM_VERSION_MISMATCH
    API mismatch: the client
    Driver/library version mismatch
    driver/library version mismatch
    NVML/RM version mismatch
pattern =
    NVML: ERROR_LIB_RM_VERSION_MISMATCH
    nvml error: driver/library version mismatch
    API mismatch: the client '[^'\n]*' \(pid \d+\)\s+(?:NVRM: +)?has the version (?P<client2>[\d.]*\d), but this kernel
    + module has\s+(?:NVRM: +)?the version (?P<module2>[\d.]*\d)
    API mismatch: the client has the version (?P<client>[\d.]*\d), but\s+(?:NVRM: +)?this kernel module has th
    +e version (?P<module>[\d.]*\d)
    Driver/library version mismatch
    NVML/RM version mismatch
cause = The loaded kernel module of the NVIDIA driver[ ({module})] and its libraries[ ({client})] have different
    versions.
remedy = Reboot the host. If that does not help, the modules' package (linux-modules-nvidia for this kernel) was not
    upgraded with the libraries: upgrade it to the same version[. On this host DKMS builds the modules ({log_dkms}): run
    dkms status, then sudo apt install --reinstall {log_dkms}, and reboot].
source = ublue-os/bazzite#2668

[driver-module-proprietary]
keys = Xid (
pattern = Xid \([^)\n]+\): 169\b
cause = The driver's proprietary kernel modules are loaded (Xid 169). They do not support Blackwell GPUs such as the
    GB10.
remedy = Install the open kernel modules of the same driver branch (nvidia-driver-580-open) and reboot.
source = Start9Labs/start-technologies#3693

[gpu-fallen-off]
keys =
    fallen off the bus
    GPU is lost
    Xid (
pattern =
    GPU is lost
    fallen off the bus
    Xid \([^)\n]+\): 79\b
cause = The GPU no longer answers on its bus, so the driver gave up on it (Xid 79).
remedy = Switch the host fully off and on. If it happens again, check temperature, power, slot or cable, and firmware,
    and ask the vendor.
source = NVIDIA/NVSentinel#155

[driver-newer-than-firmware]
keys = secure boot partition timed out
pattern = (SEC2 secure boot partition timed out)
cause = The GPU's secure start does not complete ({found}). On DGX OS, usually apt installed a driver that is newer than
    the host's firmware from the last system update; nvidia-spark-ota-check calls that pair torn.
remedy = Run the update in DGX Dashboard to its end (again, if it says done), then shut down and unplug the power for a
    minute. Or go back to the driver of that update and hold it (apt-mark hold). Install later drivers through the
    dashboard.
source = https://docs.nvidia.com/dgx/dgx-spark/release-notes.html

[gpu-firmware-timeout]
keys =
    Idling display engine timed out
    Xid (
    waiting for RPC response from GPU
    Error while waiting for GPU progress
    GPU is probably locked
    GSP RM heartbeat timed out
    _kgspIsHeartbeatTimedOut
pattern =
    Xid \([^)\n]+\): (119|120),
    (Timeout after \d+s of waiting for RPC response from GPU\d+ GSP)
    nvidia-modeset: ERROR: GPU:[^\n]*?(Error while waiting for GPU progress|Idling display engine timed out)
    (GPU is probably locked)
    (GSP RM heartbeat timed out)
    _kgspIsHeartbeatTimedOut: (Heartbeat timed out)
cause = The GPU's firmware (GSP) stopped answering the driver ({found}).
remedy = Reboot the host, and use a driver whose release notes name the fix. If it happens again, send the output of
    nvidia-bug-report.sh to NVIDIA.
source = NVIDIA/open-gpu-kernel-modules#446

[gpu-firmware-boot]
keys = wait for GFW_BOOT
pattern = failed to (wait for GFW_BOOT)
cause = The GPU's own firmware did not finish its start, so that the driver cannot use the GPU ({found}).
remedy = Turn the host fully off and on; update its firmware (fwupdmgr on a Spark) and the driver, and where it appeared
    with a new driver use the release before it.
source = NVIDIA/open-gpu-kernel-modules#659

[gpu-memory-fault]
keys =
    Xid (
pattern = Xid \([^)\n]+\): (48|63|64|92|94|95|140),
values =
    what of found: 48 => a double-bit error, which cannot be corrected
    what of found: 63 => a row or page is marked for replacement
    what of found: 64 => a row or page could not be replaced
    what of found: 92 => many single-bit errors were corrected
    what of found: 94 => an error was contained in the program that used that memory
    what of found: 95 => an error was not contained, so other programs may have wrong data
    what of found: . => an error was not corrected
    advice of found: 94 => Start the program again. When the GPU is free, reset it or reboot, which replaces the row
    advice of found: 64 => Reset the GPU or reboot, and have the vendor check the hardware
    advice of found: . => Reset the GPU or reboot, which also replaces marked rows
cause = The GPU's memory has errors (Xid {found}: {what}). The hardware is at fault, not the program.
remedy = {advice}. If it happens again, have the hardware replaced.
source = https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html

[driver-firmware-missing]
keys = Direct firmware load for nvidia/
pattern = Direct firmware load for (nvidia/(?P<version>[\d.]+)/(?!gsp_log)\S+) failed(?: with|,) error (?P<code>-\d+)
cause = The driver {version} did not find its firmware {found} when it started (error {code}).
remedy = Install the firmware package of the same version (on Ubuntu, nvidia-firmware-BRANCH-{version}), run sudo
    update-initramfs -u -k all, and reboot.

[gpu-region-not-resized]
keys =
    to re-allocate BAR
    to allocate resized BAR
    BAR resiz
pattern =
    NVRM: (?P<why>FATAL: Failed to re-allocate BAR\d|No address space to allocate resized BAR\d|BAR resize resource not
    + supported|BAR resizing failed with error \W?-?\d+)
values =
    effect of why: FATAL => and lost the current window, so the driver does not use the GPU
    effect of why: . => and the GPU continues with the small window, which is no failure in itself
cause = The driver could not enlarge the GPU's window on the PCIe bus ({why}), {effect}.
remedy = Switch on Above 4G Decoding and Resizable BAR in the firmware's setup and update the firmware, or boot with
    pci=realloc. NVreg_EnableResizableBar=0 (options nvidia in /etc/modprobe.d) keeps the firmware's window.

[gpu-region-invalid]
keys = region assigned to your NVIDIA device is invalid
pattern = region assigned to your NVIDIA device is invalid:?(?:\s+NVRM: (?P<region>BAR\d is \w+ @ \w+))?
cause = The firmware reserved no room for the GPU's memory on the bus[ ({region})].
remedy = Switch on Above 4G Decoding and Resizable BAR in the firmware's setup, update the firmware, or add pci=realloc
    to the kernel's command line.

[uvm-module-not-loaded]
keys = Could not load UVM kernel module
pattern = (Could not load UVM kernel module)
uncertain = yes
cause = The kernel module nvidia-uvm, which CUDA needs, could not be loaded ({found}). Usually the driver was updated,
    or is not installed for the running kernel.
remedy = Run sudo modprobe nvidia_uvm, which says why. Reboot after an update of the driver, or install
    linux-modules-nvidia for this kernel (uname -r).
source = NVIDIA/nvidia-docker#1223

[driver-claims-no-device]
keys =
    No NVIDIA graphics adapter probed
    NVIDIA probe routine was not called
    No NVIDIA GPU found
    None of the NVIDIA devices were
pattern =
    NVRM: (No NVIDIA graphics adapter probed)
    NVRM: The (NVIDIA probe routine was not called for \d+ device)
    NVRM: (No NVIDIA GPU found)
    NVRM: (None of the NVIDIA devices were (?:probed|initialized))
cause = The NVIDIA driver was loaded but got no GPU ({found}): another driver (nouveau, nova, vfio-pci) holds the
    device, or this driver does not support it.
remedy = Run lspci -nnk -d 10de: to see which driver holds the GPU. Block that driver (blacklist nouveau in
    /etc/modprobe.d, then sudo update-initramfs -u), or release the GPU from vfio-pci, and reboot. If none holds it,
    install the open kernel modules (-open) of a branch that supports this GPU.
source = mattshma/bigdata#133

[gpu-firmware-left]
keys = WPR2 already up
pattern = unexpected (WPR2 already up)
uncertain = yes
cause = The GPU's firmware (GSP) still runs from an earlier start ({found}), so the driver cannot start it. The GPU is
    in a bad state.
remedy = Shut the host down, unplug its power for some minutes (a restart may keep that state), and start it again. If
    it happens again, look for an earlier failure (Xid, NVRM) in the kernel's log, use another driver release and newer
    firmware, and ask the vendor.
source = NVIDIA/open-gpu-kernel-modules#1230

[driver-gpu-unsupported]
keys =
    only ready for use on Data Center GPUs
    requires use of the NVIDIA open kernel modules
    installed in this system is not supported by
    NVIDIA kernel open modules
pattern =
    (only ready for use on Data Center GPUs)
    (requires use of the NVIDIA open kernel modules)
    NVRM: installed in this system is not supported by the[^\n]*\n[^\n]*NVIDIA (?P<version>[\d.]+) driver release
cause = The loaded NVIDIA driver does not support this GPU: it is proprietary, or older than the GPU[ ({version})].
remedy = Install the open kernel modules of a branch that supports the GB10 (nvidia-driver-580-open or newer), as DGX OS
    does, and reboot.
source = Start9Labs/start-technologies#3693

[gpu-not-initialised]
keys = RmInitAdapter failed
pattern = RmInitAdapter failed! \(([^)\n]+)\)
uncertain = yes
cause = The NVIDIA driver is loaded but could not initialise the GPU ({found}).
remedy = A Blackwell GPU needs the open kernel modules of 570 or newer (packages whose names end in -open), and a card
    in a PC needs Above 4G Decoding and Resizable BAR in its firmware's settings. If these are right, shut the host
    down, unplug its power for some minutes (a restart keeps the state of the firmware), and start it again. If that
    does not help, boot the previous kernel, and send these numbers to the vendor.
source = NVIDIA/gpu-operator#649

[driver-fallback]
keys = Falling back to
pattern = NVIDIA kernel module (?P<what>not found|missing)\. Falling back to [Nn]ouveau
cause = Fedora started without NVIDIA's kernel module ({what}): none was built for the running kernel, or Secure Boot
    refused it.
remedy = Check mokutil --sb-state and the logs below /var/cache/akmods/nvidia. With Secure Boot, enrol the key first
    (sudo kmodgenca -a; sudo mokutil --import /etc/pki/akmods/certs/public_key.der). Build the module with sudo akmods
    --force, and reboot.
source = gridhead/nvidia-auto-installer-for-fedora-linux#107

[driver-other-module]
keys =
    obtained ownership of the NVIDIA device
    Nouveau kernel driver is currently in use
pattern =
    obtained ownership of the NVIDIA device
    Nouveau kernel driver is currently in use
cause = Another kernel driver, such as nouveau, took the GPU before NVIDIA's.
remedy = Keep the other driver from loading (blacklist nouveau, then update-initramfs -u) and reboot.
source = mattshma/bigdata#133

[gpu-mailbox-silent]
keys = failed to create mailbox
pattern = (?P<device>[0-9a-f]{4}:[\w:.]+): DOE: \[\w+\] failed to create mailbox
when =
    driver-not-loaded
    gpu-none-listed
    gpu-lost
    gpu-not-initialised
cause = The GPU's port {device} did not answer through its mailbox (DOE) at boot, and the driver detected no GPU.
    According to a report, the firmware gets into that state when the kernel crashes, and stays in it.
remedy = Shut the host down, unplug its power for a minute (a restart may not reset it) and start it. If it happens
    again, boot another kernel (6.17.0-1008-nvidia is reported to crash like this), update the firmware with the
    vendor's tool, and ask the vendor.
source = https://forums.developer.nvidia.com/t/366026

[driver-no-module]
keys = Module nvidia
pattern = Module nvidia(?:[-_](?!peermem|fs\b)\w+)? not found(?: in directory /lib/modules/(?P<kernel>\S+)|\.?$)
cause = There is no nvidia module for the running kernel[ {kernel}]: the modules were built for another kernel[, or not
    at all, because the package {log_metapackage} contains no driver].
remedy = Install the modules for this kernel (linux-modules-nvidia of the branch, or DKMS with its linux-headers)[, or
    nvidia-open instead of {log_metapackage}], or boot the kernel that has them.
source =
    NVIDIA/nvidia-docker#365
    cupy/cupy#10295

[gpu-none-listed]
keys =
    No devices were found
    NVRM: No NVIDIA GPU found
    could not insert 'nvidia': No such device
pattern =
    ^(No devices were found)
    NVRM: (No NVIDIA GPU found)
    could not insert 'nvidia': (No such device)
uncertain = yes
cause = The driver runs but lists no GPU ({found}): it could not start the GPU, or lost it.
remedy = Look for NVRM, RmInitAdapter and Xid in the kernel's log (journalctl -k), which say why. Switch the power fully
    off and on, and check that driver and firmware fit together.

[driver-not-loaded]
keys =
    communicate with the NVIDIA driver
    nvml error: driver not loaded
    NVML: Driver Not Loaded
    ERROR_DRIVER_NOT_LOADED
    Failed to query NVIDIA devices
    NVMLError_DriverNotLoaded
pattern =
    (couldn't communicate with the NVIDIA driver)
    nvml error: (driver not loaded)
    NVML: (Driver Not Loaded|ERROR_DRIVER_NOT_LOADED)
    (Failed to query NVIDIA devices)
    NVMLError_DriverNotLoaded: (Driver Not Loaded)
uncertain = yes
values =
    usual of log_unit: . => At boot such units often ask too early; a driver that failed shows it in the kernel's log
    usual of log_unit: (?:) => Usually there is none for the running kernel, or Secure Boot rejects it
cause = The kernel module of the NVIDIA driver is not loaded on this host ({found})[, or was not ready when {log_unit}
    started]. {usual}[; this kernel accepts only signed modules ({log_signatures})].
remedy = [If nvidia-smi works now, let {log_unit} start later: sudo systemctl edit {log_unit}, with Wants= and
    After=nvidia-persistenced.service below the heading Unit, then sudo systemctl restart {log_unit}. ]If nvidia-smi
    fails, `dkms status` and the kernel's log (NVRM, Key was rejected) show why. If DKMS signed the module, enrol its
    key (sudo mokutil --import /var/lib/shim-signed/mok/MOK.der, and reboot). If there
    is no module for `uname -r`, install one (linux-modules-nvidia, or headers for DKMS) or boot the previous kernel.
source =
    M-Bab/linux-kernel-amdgpu-binaries#101
    NVIDIA/nvidia-container-toolkit#1611

[driver-library-of-torch]
keys = driver_api.cpp
pattern = handle_(?P<number>\d) INTERNAL ASSERT FAILED at '[^'\n]*(?P<file>driver_api\.cpp)'
values =
    library of number: 0 => libcuda.so.1
    library of number: . => libnvidia-ml.so.1
cause = PyTorch could not load the driver's library {library} ({file}).
remedy = Check it where the program runs (ldconfig -p | grep -e libcuda -e libnvidia-ml). Start a container with --gpus
    all
    and NVIDIA_DRIVER_CAPABILITIES=compute,utility; on the host, install the driver's libraries (libnvidia-compute-580).
source = LlamaChinese/Llama-Chinese#256

[pcie-fault]
keys =
    AER: Uncorrectable
    PCIe Bus Error: severity=Uncorrect
pattern =
    ([\w:.]+): PCIe Bus Error: severity=Uncorrect\w+ \((?P<kind2>[\w-]+)\)
    AER: Uncorrectable \((?P<kind1>[\w-]+)\) error message received from (?P<device>\S+)
cause = The PCIe device[ {device}] reported an uncorrectable error ({kind}), for example a ConnectX-7 that stopped. The
    host is at fault, not the program.
remedy = Switch the host's power off and on, reconnect the cable, and compare the firmware with the vendor's latest.
    Later hangs and failures (a soft lockup, RDMA) are consequences.
source = MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#146

[kernel-interrupt-unhandled]
keys = nobody cared
pattern = irq (?P<number>\d+): nobody cared
cause = The kernel switched interrupt {number} off because no driver handled it. The devices on it no longer work, or
    are slow.
remedy = Look up the devices (grep ' {number}:' /proc/interrupts), read their drivers' messages above that line (a GPU's
    NVRM lines; an Xid), reboot, and use another release of that driver or kernel. The option irqpoll only hides the
    fault.
source = CachyOS/linux-cachyos#1019

[kernel-oops]
keys =
    unable to handle page fault
    general protection fault, prob
    ynchronous External Abort
    ynchronous external abort
    Oops:
    Kernel panic
    Unable to handle kernel
    BUG: kernel NULL
    error: Oops -
pattern =
    BUG: (kernel NULL pointer dereference)
    (Oops): \S+ \[#\d+\][^\n]*(?:\n[^\n]*){0,12}?\n[^\n]*\bpc : (?P<where>[\w.]+)
    (Oops|Kernel panic)\b
    BUG: (unable to handle page fault)
    ^(general protection fault, prob|Synchronous External Abort)
    Internal error: ([Ss]ynchronous [Ee]xternal [Aa]bort)
    Internal error: (Oops - [A-Z]\w+)
    Unable to handle kernel (NULL pointer dereference|paging request)
unless = Unable to mount root fs
cause = The kernel itself failed ({found}[ in {where}]). The running program is not at fault.
remedy = Reboot, and use a kernel or driver release with a fix; report these lines to its vendor.
source = NVIDIA/aerial-cuda-accelerated-ran#18

[driver-installer-module]
keys =
    Unable to load the kernel module 'nvidia
    kernel module was not created
pattern =
    Unable to load the kernel module '(?P<module1>nvidia[\w.-]*)'(?:(?:[^\n]*\n){1,12}?-> Kernel module load error:
    + (?P<why>[^\n]+))?
    The (?P<module2>nvidia[\w-]*) kernel module was not created
values =
    advice of why: .*busy => The previous driver's modules are still in use: stop the display manager (sudo systemctl
    + isolate multi-user.target) and all programs on the GPU, unload the modules (sudo modprobe -r nvidia_drm
    + nvidia_modeset nvidia_uvm nvidia) or reboot, and run the installer again
    advice of why: .*[Kk]ey => Enrol the key for Secure Boot (sudo mokutil --import) and reboot, or turn Secure Boot off
    advice of why: .*(?:No such device|[Ii]nvalid) => Install the open modules (-M open), which Blackwell needs, for
    + this kernel
    advice of why: (?:)|. => Read the first error in /var/log/nvidia-installer.log. Key was rejected means Secure
    + Boot, a compiler error a driver older than this kernel, and an unsupported GPU the wrong flavour (Blackwell needs
    + the open modules: -M open)
cause = NVIDIA's installer could not build or load {module} for the running kernel[: {why}].
remedy = {advice}. The distribution's packages (nvidia-driver-580-open) are the better choice, because they fit its
    kernels.
source = NVIDIA/gpu-driver-container#44

[module-needs-open-driver]
keys = module using GPL-only symbols
pattern =
    (?P<module>[\w-]+): module using GPL-only symbols uses symbols? (?P<symbol>\w+) from proprietary module (?P<owne
    +r>\w+)
cause = The kernel does not let {module} use {symbol}, because {module} also uses symbols that are reserved for free
    (GPL) modules, and {owner} is proprietary.
remedy = Install the driver's open kernel modules instead of the proprietary ones (nvidia-driver-580-open), reboot, and
    rebuild {module} against them (sudo dkms autoinstall, or reinstall its package).
source = NVIDIA/gds-nvidia-fs#48

[module-symbols-differ]
keys = disagrees about version of symbol
pattern = (?P<module>[\w-]+): disagrees about version of symbol (?P<symbol>\w+)
values =
    owner of symbol: nvidia|nv[A-Z_] => the NVIDIA driver
    owner of symbol: (?:ib|rdma|mlx\d?|uverbs)_ => the kernel's or OFED's RDMA
    owner of symbol: . => the kernel or a module loaded earlier
cause = The kernel module {module} was built against another version of {owner} than the running one: {symbol} differs.
remedy = Rebuild {module} (sudo dkms autoinstall, or reinstall its package) with the kernel's headers, also after each
    change of the driver or of OFED, and load it. Instead of nv_peer_mem, use the driver's own nvidia-peermem.
source = Mellanox/nv_peer_memory#8

[module-symbol-missing]
keys = : Unknown symbol
pattern =
    (?P<module>[\w-]+): Unknown symbol (?P<symbol>_*(?:acpi_video|nvKms|nvidia_|nvUvm|nv_|rm_|drm_|ib_|rdma_|backlight_
    +)\w*) \(err (?:-2|0)\)
values =
    owner of symbol: _*acpi_video => the kernel's module video (ACPI displays)
    owner of symbol: _*nvKms => nvidia_modeset
    owner of symbol: _*(?:nv|rm_) => the driver's module nvidia
    owner of symbol: _*drm_ => the kernel's modules drm and drm_kms_helper
    owner of symbol: _*backlight_ => the kernel's module backlight
    owner of symbol: . => the modules ib_core and rdma_cm
    advice of symbol: _*(?:nv|rm_) => Load that module first (sudo modprobe, which says why it fails). If it is
    + loaded, its version differs from this module's: install both in one version for this kernel
    advice of symbol: _*acpi_video => Load it (sudo modprobe video). A kernel without it needs its extra modules
    + (linux-modules-extra-$(uname -r) on Ubuntu), or must be built with ACPI_VIDEO
    advice of symbol: . => Load them first (sudo modprobe). A kernel without them needs its extra modules
    + (linux-modules-extra-$(uname -r) on Ubuntu)
cause = The kernel module {module} needs {symbol} of {owner}, which no loaded module provides.
remedy = {advice}.
source = siderolabs/talos#12108

[module-of-another-kernel]
keys =
    Invalid module format
    magic '
    could not insert 'nvidia': Exec format error
pattern =
    (?P<module1>[\w-]+): version magic '(?P<built>[^\s']+)[^'\n]*' should be '(?P<kernel>[^\s']+)
    could not insert (?:module )?'?(?P<module2>[\w./-]+?)'?: (?P<why>Invalid module format|Exec format error)
cause = The kernel module {module} was built for another kernel or driver than the running one[: for {built}, not
    {kernel}][ ({why})].
remedy = Boot the kernel that it was built for, or install the modules for the running one (linux-modules-nvidia, or
    DKMS with its headers), all of one driver version.

[module-symbol-unknown]
keys = Unknown symbol
pattern =
    (?P<module1>[\w-]+): (?P<why1>Unknown symbol \w+ \(err -?\d+\))
    could not insert (?:module )?'?(?P<module2>[\w./-]+?)'?: (?P<why2>Unknown symbol in module)
uncertain = yes
values =
    reason of why: .*-22 => it was built against another version of the symbol's module, or its licence forbids the use
    reason of why: . => a module that it needs is not loaded, does not exist for this kernel, or has another version
cause = The kernel cannot load the module {module} ({why}): {reason}.
remedy = Read the kernel's log from the first line with the module's name (sudo dmesg | grep {module}). Load it with
    modprobe, which first loads the modules that it needs, and install all modules for the running kernel in one version
    (linux-modules-nvidia and linux-modules-extra, or DKMS with its headers).

[peer-memory-not-supported]
keys =
    nvidia_peermem
    nvidia-peermem
    could not insert 'nv_peer_mem'
pattern =
    could not insert '(nv_peer_mem)': (?P<why3>Invalid argument)
    could not insert '(nvidia_peermem)': (?P<why>[\w ]+)
    Module (nvidia[-_]peermem) (?P<why2>not found)
cause = {found} cannot be loaded ({why}). It is for GPUDirect RDMA, which NVIDIA does not support on a DGX Spark.
remedy = Remove it from /etc/modules-load.d: NCCL uses RDMA between Sparks without it. On a host with a GPU that
    supports it, read the kernel's reason (sudo dmesg | grep peer), and use the driver's own nvidia-peermem
    instead of the old nv_peer_mem.
source = https://docs.nvidia.com/dgx/dgx-spark-porting-guide/porting/cuda.html

[peer-memory-without-driver]
keys = Cannot locate nvidia modules
pattern = (Cannot locate nvidia modules)
cause = nv_peer_mem cannot be built: there are no modules of the NVIDIA driver for its kernel.
remedy = Install the driver's modules for that kernel first (modinfo -k KERNEL nvidia shows them), or remove
    nv_peer_mem. Today's drivers include nvidia-peermem instead, and NVIDIA supports neither on a DGX Spark.
source = Mellanox/nv_peer_memory#85

[kernel-module-missing]
keys = modprobe: FATAL: Module
pattern = Module (?P<module>(?!nvidia)[\w-]+) not found in directory [\w./-]{0,120}/lib/modules/(?P<kernel>\S+)
values =
    advice of module: ip_conntrack => Write nf_conntrack instead: newer kernels renamed it
    advice of module: (?:xhci_pci|ext4|vfat|nvme\w*|usbcore|loop|overlay|tun|fuse)$ => Remove it from the list of
    + modules, if this kernel has it built in (grep it in /lib/modules/KERNEL/modules.builtin); otherwise install the
    + extra modules of that kernel, or boot the previous one
    advice of module: . => Install its extra modules (linux-modules-extra with that kernel's version, if Ubuntu has it),
    + or reboot if the kernel was upgraded since the last start. A container cannot load modules
cause = The running kernel {kernel} has no module {module}.
remedy = {advice}.

[gpu-counters-not-permitted]
keys =
    perf_event_paranoid
    ERR_NVGPUCTRPERM
    CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
pattern =
    (perf_event_paranoid) is
    (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    (ERR_NVGPUCTRPERM)
cause = The driver or the kernel allows only root to read performance counters ({found}).
remedy = Run the profiler with sudo (a container with --cap-add SYS_ADMIN), or set options nvidia
    NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d and reboot. For the processor's counters, run sudo sysctl
    kernel.perf_event_paranoid=2.

[dcgm-refused]
keys =
    start host engine server
    waiting for SIGUSR1
    Error watching fields
    DCGM initialization error
    Error: Failed to initialize NVML
    serviced by a module of DCGM
    Profiling is not supported
    third-party Profiling module
    DcgmModuleProfiling failed
pattern =
    (?P<why1>Failed to start host engine server|Got error \d+ while waiting for SIGUSR1|DCGM initialization
    + error|Error: Failed to initialize NVML$)
    Error watching fields: (?P<why2>[^\n"]+)
    (?P<why3>serviced by a module of DCGM that is not currently loaded|Profiling is not supported for this
    + group|third-party Profiling module returned an \w+ error|DcgmModuleProfiling failed to initialize)
values =
    advice of why: .*(?:[Pp]rofil|module|Feature) => Remove the profiling metrics (DCGM_FI_PROF_*) from the exporter's
    + list: this GPU (such as a GB10) or this DCGM does not offer them, or another profiler or host engine holds them.
    + Use the DCGM version that the exporter was made for
    advice of why: . => Make nvidia-smi work where it runs (in a container or pod with the GPU's runtime: --gpus all,
    + runtimeClassName nvidia), stop another nv-hostengine on port 5555, and use a DCGM that supports this GPU
uncertain = yes
cause = DCGM, which measures GPUs, did not start: {why}.
remedy = {advice}.
source = NVIDIA/dcgm-exporter#330

[dcgm-not-running]
keys =
    Unable to connect to host engine
pattern = (Unable to connect to host engine)
cause = dcgmi reaches no DCGM service ({found}), because it does not run.
remedy = Start it (sudo systemctl start nvidia-dcgm), or pass the host of nv-hostengine to dcgmi (--host).

[driver-in-use]
keys =
    is in use by
    Module nvidia
    because it's being used by some other process
    appears to already be loaded in your kernel
    GPU Reset couldn
pattern =
    (GPU Reset couldn't run)
    Module (nvidia\w*) is in use
    (reset this GPU) because it's being used by some other process
    kernel module '(nvidia[\w-]*)' appears to already be loaded
cause = This cannot be done while programs use the GPU: {found}.
remedy = Stop the programs that use it (sudo fuser -v /dev/nvidia*; nvidia-smi; also the desktop, nvidia-persistenced
    and containers), or reboot.

[module-not-inserted]
keys =
    could not insert '
    could not insert module
    Failed to insert module '
    Failed to find module '
    kmod_module_insert_module
    failed to validate module [
    section size must match
pattern =
    (?:could not insert|Failed to insert)(?: module)? '?(?P<module1>[\w./-]+?)'?: (?P<why1>Invalid
    + argument|Operation not permitted|Cannot allocate memory|File exists|No such device|Device or resource busy|Bad
    + address|Numerical result out of range|No such file or directory)
    Failed to (?P<why2>find) module '(?P<module2>[^'\n]+)'
    (?P<why3>could not find module) by name='(?P<module3>[^'\n]+)'
    failed to (?P<why4>validate) module \[(?P<module4>[\w-]+)\] BTF
    module (?P<module5>[\w-]+): \S+ (?P<why5>section size must match)
values =
    reason of why: Invalid => it rejects its options or this machine; the kernel's log says why
    reason of why: Operation => the command must run as root, outside containers, and Secure Boot may have locked the
    + kernel
    reason of why: Cannot => the kernel ran out of memory
    reason of why: File => it or another module with its name is already loaded
    reason of why: No such device => it did not detect a device that it supports
    reason of why: Device => another driver holds the device
    reason of why: find|could => no module of that name is installed for the running kernel
    reason of why: validate|section => it was built for another kernel with the same version number
    reason of why: . => its start failed
    advice of why: Invalid|No such device|Bad|Num => Read its messages (sudo dmesg | tail -30), correct its options in
    + /etc/modprobe.d, and run sudo update-initramfs -u
    advice of why: Operation => Use sudo on the host itself. With Secure Boot, the module must be signed with an
    + enrolled key (mokutil --sb-state)
    advice of why: Cannot => Free memory, and try again
    advice of why: File => Unload the old module first (sudo modprobe -r NAME), or reboot
    advice of why: Device => Unload or block the driver that holds it (lspci -nnk; often nouveau)
    advice of why: find|could => Install it for uname -r (linux-modules-extra, linux-modules-nvidia of the branch,
    + or its DKMS package), or remove its name from /etc/modules-load.d and /etc/modprobe.d
    advice of why: validate|section => Rebuild it with the headers of exactly this kernel (sudo dkms install --force
    + NAME/VERSION), and reboot into the installed kernel
    advice of why: . => Read the kernel's log (sudo dmesg | tail -30)
cause = The kernel module {module} could not be loaded: {reason}.
remedy = {advice}.
source = https://wiki.archlinux.org/title/Kernel_module

[persistenced-failed]
keys =
    Unable to find any NVIDIA devices
    - failed to open
    persistence mode
    nvidia-persistenced
pattern =
    (?P<why1>Unable to find any NVIDIA devices)
    (?P<why6>open /run/nvidia-persistenced/socket: no such file or directory)
    (?P<why7>mount: /run/nvidia-persistenced/socket: mount point does not exist)
    (?P<why2>device [0-9a-f:.]+ - (?:failed to open|persistence mode failed to be enabled|failed to enable
    + persistence mode))
    (?P<why3>Failed to (?:register RPC V\d|start local RPC|create RPC) service)
    (?P<why4>nvidia-persistenced failed to initialize)
    (?P<why5>Failed to (?:set (?:user|group) ID|(?:lock|open) PID file|(?:create directory|change ownership of)
    + /var/run/nvidia-persistenced|load symbol \w+ from libnvidia-cfg\.so\.1)|Unable to access
    + /var/run/nvidia-persistenced)
values =
    advice of why: (?:open|mount) => The driver was probably updated while it was loaded, and nvidia-persistenced
    + ended. Reboot the host, or, if nvidia-smi works, run sudo systemctl restart nvidia-persistenced; then create the
    + container again
    advice of why: Unable to find|device => Read the driver's messages (nvidia-smi; sudo dmesg | grep -i nvrm): there
    + is no module for this kernel, the GPU did not start, or another driver (vfio-pci, nouveau) holds it. After the
    + repair, run sudo systemctl restart nvidia-persistenced
    advice of why: Failed to (?:reg|start|create) => Another nvidia-persistenced runs (pgrep -a nvidia-persist), or
    + rpcbind or its socket is in the way. Stop it, and start the service again
    advice of why: nvidia => Read its lines in the system's log (journalctl -b -t nvidia-persistenced), which say why
    advice of why: Failed to lock => It already runs (systemctl status nvidia-persistenced)
    advice of why: Failed to load => Its library belongs to another version of the driver: install
    + nvidia-compute-utils and libnvidia-cfg1 in the driver's version
    advice of why: . => Start its service as root (sudo systemctl start nvidia-persistenced), which sets its account
    + and directory
uncertain = yes
cause = NVIDIA's persistence daemon failed: {why}.
remedy = {advice}.
source = https://github.com/NVIDIA/nvidia-persistenced/blob/main/nvidia-persistenced.c

[gpu-xid]
keys = Xid (
pattern =
    Xid \([^)\n]+\): 45, ?(?:pid=[^,\n]*, )?(?:name=(?P<program2>\w[^,\n]*), )?[^\n]*?(?P<words2>caused by previous Xid
    + (?P<number2>(?!(?:13|31|32|43|69|154)\b)\d+))
    Xid \([^)\n]+\): (?P<number>(?!(?:13|31|32|43|45|69|154),)\d+)\b,? ?(?:pid=[^,\n]*, )?
    +(?:name=(?P<program>\w[^,\n]*), )?(?P<words>[^\n]{0,120})
values =
    what of number: (61|62)$ => a controller of the GPU stopped
    what of number: 38$ => the driver's firmware failed
    what of number: 110$ => the GPU rejected a command (a security fault)
    what of number: 74$ => a link between GPUs (NVLink) had an error
    what of number: 109$ => switching between programs took too long
    what of number: (8|46|158|167)$ => the GPU did not answer in time
    what of number: (44|56|57|68)$ => an engine of the GPU (graphics, display or video) failed
    what of number: (137|14[4-9]|150|155)$ => a link between GPUs (NVLink) had an error
    what of number: 121$ => the link between processor and GPU had errors
    what of number: (15[67]|16[018]|17[12])$ => part of the GPU's memory has errors and is retired
    what of number: [12]\d{4}$ => a switch between GPUs (NVSwitch) or a link at it had an error
    what of number: . => NVIDIA's catalogue says what it means
    advice of number: (8|38|44|46|56|57|61|62|68|109|110|121|158|167)$ => Reset the GPU or reboot. If it happens
    + again, use a newer driver
    advice of number: (15[67]|16[018]|17[12])$ => Reset the GPU or reboot. If it happens again, have the hardware
    + checked
    advice of number: (74|137|14[4-9]|150|155)$ => Reset the GPUs together or reboot, and look up the link in
    + nvidia-smi nvlink -e and the fabric manager's log. If it happens again, have the hardware checked
    advice of number: [12]\d{4}$ => Read the fabric manager's log (/var/log/fabricmanager.log), reset all GPUs together
    + or reboot, and have the hardware checked if it happens again
    advice of number: . => Look the number up in NVIDIA's catalogue of Xids, which says what to do
uncertain = yes
cause = The driver reports Xid {number}[ for the program {program}]: {what}[ ({words})].
remedy = {advice}.
source = https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html

[display-no-screen]
keys =
    no screens found
    Failed to initialize the NVIDIA graphics device
pattern =
    (no screens found)
    (Failed to initialize the NVIDIA graphics device)
cause = The X server found no usable display ({found}).
remedy = Check that nvidia-smi works, and read the NVRM lines (journalctl -k). Remove an old /etc/X11/xorg.conf that
    names another driver or BusID, set options nvidia-drm modeset=1, and connect a screen before you start it.

[driver-suspend]
keys = without driver procfs suspend interface
pattern = (System Power Management attempted without driver procfs suspend interface)
cause = The host did not suspend, because the driver's services for that are off ({found}).
remedy = Switch them on (sudo systemctl enable nvidia-suspend nvidia-resume nvidia-hibernate), or keep a server from
    sleeping (sudo systemctl mask sleep.target suspend.target).

[suspend-refused]
keys =
    Some devices failed to suspend
    nv_pmops_suspend
pattern =
    PM: (?P<why1>Some devices failed to suspend)
    (?P<why2>nv_pmops_suspend)\S* (?:\[nvidia\] )?returns -\d+
cause = The host could not suspend, because a device refused ({why}); the driver may not work until the host is
    restarted.
remedy = On a host that serves models, forbid it (sudo systemctl mask sleep.target suspend.target hibernate.target, and
    in GNOME's settings of power switch Automatic Suspend off). To suspend all the same, first end the programs on the
    + GPU and enable
    nvidia-suspend and nvidia-resume.
source = https://docs.kernel.org/power/suspend-and-interrupts.html

[hardware-test-failed]
keys =
    MODS-0
pattern = \b(?P<test>\w{1,40}) ?[:|] ?(?:FAIL|Fail)\w{0,5} ?[(:|]? ?(?P<code>MODS-\d+)
cause = NVIDIA's field diagnostics found a fault in the hardware: {test} failed ({code}).
remedy = Run it again after the host was without power for some minutes and has the newest firmware. If the same test
    fails again, send its log to the vendor and have the host replaced; no driver or container mends it.
source = tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark#31

[nvidia-docker-1-driver]
keys = unsupported CUDA version: driver
pattern = unsupported CUDA version: driver (?P<have>[\d.]+) < image (?P<need>[\d.]+)
values =
    advice of have: 0\.0 => The old nvidia-docker 1 does not see the driver: remove it, install
    + nvidia-container-toolkit, run sudo nvidia-ctk runtime configure --runtime=docker, restart docker, and start
    + containers with --gpus all
    advice of have: . => Update the driver, or use an image for its CUDA. Replace the old nvidia-docker 1 by
    + nvidia-container-toolkit (docker run --gpus all)
cause = The image needs CUDA {need}, but the driver offers {have}.
remedy = {advice}.
source =
    NVIDIA/nvidia-docker#357
    NVIDIA/nvidia-docker#497

[nvidia-smi-field]
keys = is not a valid field to query
pattern = Field '?(?P<field>[\w.]+)'? is not a valid field to query
cause = nvidia-smi of this driver knows no field {field}: it is misspelt, or from another release.
remedy = Take a name from the list of nvidia-smi --help-query-gpu, or update the program that asks (an exporter or a
    dashboard). On a GB10 the fields of memory are N/A.
source = https://docs.nvidia.com/deploy/nvidia-smi/index.html

[powerd-needless]
keys =
    SBIOS support not found for NVPCF
    Client (presumably SBIOS)
    Failed to initialize Dynamic Boost
    Allocate client failed 89
    Failed to initialize RM Client
pattern =
    (SBIOS support not found for NVPCF|Client \(presumably SBIOS\) [^\n]+|Failed to initialize Dynamic Boost)
    (Allocate client failed 89|Failed to initialize RM Client)
cause = nvidia-powerd (Dynamic Boost), which only some notebooks can use, does not start here ({found}).
remedy = Run sudo systemctl disable --now nvidia-powerd; nothing else needs it.
source = https://download.nvidia.com/XFree86/Linux-x86_64/580.95.05/README/dynamicboost.html

[nvidia-tool-refused]
keys =
    is not a valid power limit
    Insufficient Permissions
    Persistence mode is not supported
    Resetting GPU
    Unable to find display on any available
    control display is undefined
    NVIDIA driver is not loaded
    Unable to write to directory '/etc/X11'
    MD5 checksums
    Command 'nvidia-smi' not found
    Failed to start DCGM Server
    interface version
    unrecognized option
pattern =
    (?P<why1>[\d.]+ W is not a valid power limit which should be between [\d.]+ W and [\d.]+ W)
    (?P<why2>(?:Unable|Failed) to set[\w ]*: Insufficient Permissions)
    (?P<why3>(?:Persistence mode|Resetting GPU \S+) is not supported)
    (?P<why4>Unable to find display on any available system|The control display is undefined|NVIDIA driver is not
    + loaded)
    (?P<why5>Unable to write to directory '/etc/X11')
    (?P<why6>Error in MD5 checksums)
    (?P<why7>Command 'nvidia-smi' not found)
    (?P<why8>Failed to start DCGM Server)
    driver interface version (?P<fm>[\d.]+) don't match with driver version (?P<driver>[\d.]+\d)
    nvidia-\w+: (?P<why9>unrecognized option[^\n]*)
values =
    advice of why: [\d.]+ => Use a value within these limits (nvidia-smi -q -d POWER)
    advice of why: (?:Unable|Failed) to set => Run it with sudo; a container lacks the permission
    advice of why: (?:Pers|Reset) => Omit that option: this GPU does not support it (a GB10 is reset together with its
    + host)
    advice of why: Unable to find|The control => Run it in the desktop's own session (DISPLAY=:0 and that account's
    + XAUTHORITY); over ssh use nvidia-smi instead
    advice of why: NVIDIA => Make nvidia-smi work first (check that its package fits the kernel and that Secure Boot
    + accepts the module)
    advice of why: Unable to write => Run it with sudo
    advice of why: Error => The installer file is incomplete: download it again and compare its checksum
    advice of why: Command => Do not install the package that the shell suggests, which belongs to another branch:
    + install nvidia-utils in the version of the loaded modules (cat /proc/driver/nvidia/version)
    advice of why: Failed to start => Port 5555 is taken by another nv-hostengine, or the driver is not ready: check
    + pgrep -a nv-hostengine and nvidia-smi, then run sudo systemctl restart nvidia-dcgm
    advice of why: unrec => Read its --help, because options differ between releases of the driver
    advice of fm: . => Install nvidia-fabricmanager in exactly the driver's version, hold both packages, and restart it
cause = A tool of NVIDIA's driver rejected the request[: {why}][: the fabric manager is version {fm}, but the driver is
    {driver}].
remedy = {advice}.
source = https://docs.nvidia.com/deploy/nvidia-smi/index.html

[nvrm-startup-failed]
keys =
    Cannot initialize GSP firmware
    bootstrap riscv/gsp
    failed to execute Booter
    rm_init_adapter failed
    nvidia_open_deferred failed
    failed to copy vbios
    Cannot attach gpu
    request_mem_region failed
    BIOS may have misconfigured your GPU
    probe with driver nvidia failed
    : probe of
    from D3cold to D0
    GSP-FMC reported an error
    kgspBootstrap
    Failed to initialize the NVIDIA GPU at
    Failed to initialize the NVIDIA kernel module
pattern =
    NVRM:? [^\n]*?(?P<why1>Cannot initialize GSP firmware RM|cannot bootstrap riscv/gsp|failed to execute
    + Booter|rm_init_adapter failed|nvidia_open_deferred failed|failed to copy vbios to system memory|Cannot attach
    + gpu|request_mem_region failed|BIOS may have misconfigured your GPU|GSP-FMC reported an error[^\n]*)
    nvidia \S+: (?P<why2>probe with driver nvidia failed with error -\d+|Unable to change power state from D3cold to
    + D0, device inaccessible)
    nvidia: (?P<why3>probe of \S+ failed with error -\d+)
    NVIDIA[^\n]*: (?P<why4>Failed to initialize the NVIDIA (?:GPU at \S+|kernel module))
values =
    advice of why: .*(?:request_mem|BIOS) => Switch on Above 4G Decoding and Resizable BAR in the firmware's setup and
    + update the firmware, or boot with pci=realloc
    advice of why: Unable => The slot or card has no power or the link is down. Switch the host fully off, unplug it
    + for a minute, and reseat the card; switch off PCIe's deep sleep (pcie_port_pm=off)
    advice of why: . => Read all NVRM lines from the first (sudo dmesg | grep -i nvrm), and check that the open modules
    + of a branch for this GPU run. Then switch the host off, unplug it for some minutes, and update the firmware
uncertain = yes
cause = The NVIDIA driver could not start the GPU ({why}).
remedy = {advice}.
source = NVIDIA/open-gpu-kernel-modules#1230

[gpu-setting-not-supported]
keys =
    is not supported for GPU
    Unable to enable MIG Mode
    Unable to enable persistence mode
    Error asserting MIG
pattern =
    (?:Changing|Setting) (?P<what1>[\w ]+?) is not supported for GPU:? ?(?P<gpu>[\w:.]+)
    Unable to enable (?P<what2>MIG Mode) for GPU (?P<gpu2>[\w:.]+): Not Supported
    Error asserting (?P<what3>MIG [\w ]+): [^\n]*Not Supported
cause = The GPU[ {gpu}] does not support that setting ({what}).
remedy = Omit that setting. nvidia-smi -q shows N/A for settings that this GPU lacks (a GB10 shares power and memory
    with its host, and has no MIG: sudo systemctl disable --now nvidia-mig-manager).

[fabric-manager-needless]
keys = NV_WARN_NOTHING_TO_DO
pattern = (NV_WARN_NOTHING_TO_DO)
cause = nvidia-fabricmanager does not start ({found}), because this host has no NVSwitch for it to manage.
remedy = Switch it off (sudo systemctl disable --now nvidia-fabricmanager) and remove its package: a Spark, and cards
    without NVSwitch, do not need it.
source = data-infra/cube-studio#29

[display-driver-trouble]
keys =
    [nvidia-drm]
    nvidia-modeset: ERROR
    (EE) Failed to load module "nvidia"
pattern =
    \[nvidia-drm\][^\n]*?(?P<why1>Failed to (?:get memory pages|allocate NVKMS memory|grab modeset ownership|map
    + NvKmsKapiMemory)|Flip event timeout)
    nvidia-modeset: ERROR: GPU:\d+: (?P<why2>Failed (?:to query display engine|detecting connected display)[^\n:]*)
    (?P<why3>Failed to load module 'nvidia' \([^)\n]*\))
values =
    advice of why: .*grab => Another session or program (a second desktop, a console) owns the display: stop it
    advice of why: Failed to load => Install the driver's X module (xserver-xorg-video-nvidia of the same branch), or
    + remove the xorg.conf that names nvidia
    advice of why: .*(?:memory|map) => The driver had no memory for a window or frame. Free memory (a GB10 shares the
    + host's), or restart the desktop. A server needs no desktop (sudo systemctl set-default multi-user.target)
    advice of why: . => Restart the desktop, check the monitor's cable, and install a newer driver; programs without a
    + window are not affected
uncertain = yes
cause = The display part of the NVIDIA driver failed ({why}).
remedy = {advice}.
source = NVIDIA/open-gpu-kernel-modules#1170

[module-not-loaded-to-remove]
keys =
    is not currently loaded
    ignoring bad line starting with
    depmod: ERROR:
    depmod: FATAL:
    is builtin.
pattern =
    (?:Module|module) (?P<what1>'?[\w-]{1,64}'? is (?:not currently loaded|builtin))
    (?<!\S)(?P<file>/\S+) line \d+: (?P<what2>ignoring bad line starting with '[^'\n]*')
    depmod: (?:ERROR|FATAL): (?P<what3>could not (?:open directory|search modules)[^\n]*)
values =
    advice of what: ignoring => Correct that line: it begins with options, alias, blacklist, install, remove or softdep
    advice of what: could => That kernel has no modules: name a kernel from /lib/modules (uname -r), or install that
    + kernel's packages (linux-image and linux-modules)
    advice of what: .*builtin => It is part of the kernel and cannot be unloaded. Change its behaviour with an option
    + on the kernel's command line
    advice of what: . => Nothing needs to be done unless a later step needs the module (lsmod lists loaded modules)
cause = A kernel module command failed: {what}.
remedy = {advice}.
source = https://man7.org/linux/man-pages/man5/modprobe.d.5.html
"""
