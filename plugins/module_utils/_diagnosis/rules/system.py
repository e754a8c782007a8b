# __init__.py in this directory explains the fields.

"""The system

Messages from systemd, snap, fwupd and mount.
"""

RULES = r"""
[system-library-of-a-package]
keys =
    PortAudio library not found
    espeak not installed on your system
    sndfile library not found
    no library called "cairo-2" was found
    cannot load library 'libsndfile
pattern =
    OSError: (?P<library1>PortAudio) library not found
    (?P<library2>espeak) not installed on your system
    (?P<library3>sndfile) library not found
    no library called '(?P<library4>cairo)-2' was found
    cannot load library '(?P<library5>libsndfile)
values =
    package of library: PortAudio => libportaudio2
    package of library: espeak => espeak-ng
    package of library: .*sndfile => libsndfile1
    package of library: cairo => libcairo2
cause = A Python package needs the system library {library}, which its aarch64 wheel does not include.
remedy = Install it where the program runs or, for an image, in its Dockerfile (sudo apt install {package}).
source = dnhkng/GLaDOS#14

[unit-missing]
keys =
    not found.
    could not be found
    does not exist.
    is masked
    Could not find the requested service
    Unable to find unit
pattern =
    Unable to find unit (?P<unit6>[\w@.\\-]+?)\.?$
    Unit (?P<unit1>[\w@.\\-]+) not found
    Unit (?P<unit2>[\w@.\\-]+) could not be found
    (?:enable|start|restart) unit: Unit file (?P<unit3>[\w@.\\-]+) does not exist
    Unit (?P<unit4>[\w@.\\-]+) is (?P<masked>masked)
    Could not find the requested service (?P<unit5>[\w@.\\-]+): host
values =
    what of masked: . => is masked, so it cannot start
    what of unit: . => is not known to systemd on this host
    advice of masked: . => Unmask it (systemctl unmask) if it should run
    advice of unit: docker => Install Docker, or check whether it is a snap (snap.docker.dockerd)
    advice of unit: . => Correct the name (systemctl list-unit-files), install its package, or write the file to
    + /etc/systemd/system (for a user's unit, ~/.config/systemd/user, with --user) and run systemctl daemon-reload
cause = The unit {unit} {what}.
remedy = {advice}.

[unit-file-invalid]
keys =
    bad unit file setting
    Refusing.
    Assignment outside of section
    Missing '='
pattern =
    Unit (?P<unit1>[\w@.\\-]+) has a (?P<why1>bad unit file setting)
    (?P<unit2>[\w@.\\-]+): (?P<why2>Service has (?:no|more than one) ExecStart=[^\n.]*)
    (?<!\S)(?P<file>/\S+\.(?:service|socket|timer|mount)):\d+: (?P<why3>Assignment outside of section|Missing '=')
cause = systemd rejects the unit file[ of {unit}][ {file}]: {why}.
remedy = Check it with systemd-analyze verify, correct it, and run systemctl daemon-reload. A drop-in that replaces
    ExecStart needs an empty ExecStart= before it.

[systemd-no-bus]
keys =
    Failed to connect system bus
    Failed to connect to bus
    user scope bus via local transport
    booted with systemd as init system
pattern =
    (booted with systemd as init system)
    Failed to connect (?:to )?(?:user scope |system )?bus(?: via local transport)?: (?P<why>[^\n(]+)
values =
    advice of why: No such file => In a container, start the program directly, or use an image that starts systemd
    + (molecule: command /lib/systemd/systemd, privileged, cgroupns_mode host). For a user's units, log in as that user
    + itself (ssh USER@localhost) instead of with su or sudo
    advice of why: No medium|\$DBUS => Log in as that user itself (ssh USER@localhost, machinectl shell)
    + instead of su or sudo, or run loginctl enable-linger USER and set XDG_RUNTIME_DIR=/run/user/UID
    advice of why: .?| => Start the service's program directly in the container, or use an image that starts systemd
cause = systemctl cannot reach systemd here[ ({why})]: none runs in this container, or the user's session has none.
remedy = {advice}.

[desktop-without-egl]
keys =
    is not supported by EGL
    Unrecoverable failure in required component
pattern =
    The GPU (?P<device>/dev/dri/\w+) chosen as primary is not supported by (?P<why>EGL)
    Unrecoverable failure in required component (?P<component>[\w.-]+)
uncertain = yes
cause = The desktop cannot start[: EGL does not work on {device}][ ({component})]: usually the driver's library for
    Wayland or its kernel option is missing.
remedy = Install the driver's library of the same version (sudo apt install libnvidia-gl-580, or what nvidia-smi shows),
    set options nvidia-drm modeset=1 in /etc/modprobe.d, run sudo update-initramfs -u and reboot; WaylandEnable=false in
    /etc/gdm3/custom.conf starts Xorg instead. A server needs no desktop (sudo systemctl set-default multi-user.target).
source = glfs-book/glfs#256

[unit-result]
keys =
    Failed with result '
    Can't open PID file
    Failed to run 'start' task
    Failed to set up mount namespacing
    ocate executable
    Neither a valid executable name
    not found in path "
    steps required by its unit configuration
    unavailable resources or another system error
    Found ordering cycle
pattern =
    (?P<unit1>[\w@.\\-]+): Failed with result '(?P<why1>oom-kill|protocol|resources|exec-condition|watchdog)'
    (?P<unit2>[\w@.\\-]+): (?P<why2>Can't open PID file (?P<file2>\S+)|Failed to run 'start' task|Failed to set up
    + mount namespacing: (?P<file3>[^\n:]+)|Failed to locate executable (?P<file4>[^\n:]+)|Unable to locate
    + executable '(?P<file5>[^'\n]+)'|Neither a valid executable name nor an absolute path: (?P<file6>[^\n]+)|Found
    + ordering cycle on (?P<file8>\S+?)/)
    (?<!\S)(?P<unit3>/\S+\.service):\d+: (?P<why3>Executable) '(?P<file7>[^'\n]+)' not found in path
    ^Failed with result '(?P<why5>oom-kill|watchdog)'
    Job for (?P<unit4>\S+) failed because (?P<why4>the service did not take the steps|of unavailable resources)
values =
    what of why: oom => the kernel or systemd-oomd ended it because memory was exhausted
    what of why: proto|the service => it did not exit or report its start as Type= says
    what of why: Can't => its PID file, which Type=forking needs, was not written
    what of why: res|of un|Failed to run => systemd could not prepare the start (a directory or a file of
    + EnvironmentFile= or PIDFile= is missing)
    what of why: exec => the command in ExecCondition= decided that it must not run here
    what of why: watch => it did not report to the watchdog in time
    what of why: Failed to set => a path of its sandbox (ReadWritePaths=, BindPaths=) does not exist
    what of why: Found => units wait for each other in a cycle, so systemd skipped one of them
    what of why: . => the program of its ExecStart= does not exist
    advice of why: oom => Reduce its load or allow it more memory (the unit's MemoryMax=; on a GB10 the GPU's memory
    + counts), and read the kernel's log (journalctl -k)
    advice of why: proto|the service|Can't => Set Type= to match what the program does (exec if it stays in the
    + foreground, forking with its PIDFile= if it does not, notify only if it supports that)
    advice of why: res|of un|Failed to run => Read the lines above (journalctl -u UNIT -b), and create the missing
    + file or put a - before its path
    advice of why: exec => Check ExecCondition= (systemctl cat UNIT). Usually this is intended
    advice of why: watch => Raise WatchdogSec=, or find out why it hung
    advice of why: Failed to set => Create that directory, or put a - before its path in the unit
    advice of why: Found => The lines below name your own unit: remove its After= or Before=
    + (After=network-online.target with WantedBy=sysinit.target, or a mount that needs the network, makes such cycles)
    advice of why: . => Write its full path (systemd expands no ~ or variables there), and install it for all
    + accounts, not below /root or in an environment that the unit cannot use
cause = systemd could not run the unit[ {unit}]: {what}[ ({file})].
remedy = {advice}. Then run sudo systemctl daemon-reload, and start it.
source = https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html

[systemctl-refused]
keys =
    Failed to enable unit
    Failed to execute operation
    Failed to start transient
    Failed to preset unit
    Failed to reload daemon
    Failed to talk to init daemon
    Failed to get D-Bus connection
    Failed to get properties
    nvalid unit name
    failed to load properly, please adjust
    timed out (service_start_timeout
    Failed to list units
    Failed to set time
    Failed to set hostname
    Failed to try-restart
    no installation config
    : Interactive authentication required
    : Access denied
pattern =
    Failed to [\w -]*?(?:unit|operation|\.service|units|daemon|time|hostname|properties|connection)(?: for \S+)?:
    + (?P<why>File \S+ already exists[^\n]*|Refusing to operate on alias name[^\n]*|Unit \S+ is transient or
    + generated|Unit (?:file )?\S+ is masked|File exists|Invalid argument|Unit \S+ already exists|Unit \S+ was
    + already loaded|Method call timed out|Connection timed out|Operation not permitted|Unit name \S+ is not
    + valid|Automatic time synchronization is enabled|Could not set static hostname[^\n]*|Access denied|Interactive
    + authentication required)
    (?P<why2>Unit \S+ failed to load properly|timed out \(service_start_timeout=\d+ms\)|Failed to talk to init
    + daemon|[Ii]nvalid unit name '[^'\n]+'|The unit files have no installation config)
    Failed to (?:start|stop|restart|reload) \S+: (?P<why3>Access denied|Interactive authentication
    + required|Transport endpoint is not connected)
values =
    advice of why: File|Unit \S+ (?:already|was) => Remove the existing unit first (systemctl disable, systemctl
    + reset-failed NAME, or the link in /etc/systemd/system), and repeat
    advice of why: Refusing => Name the unit itself, not its alias (on Ubuntu, ssh.service instead of sshd)
    advice of why: Unit \S+ is trans => It is generated at boot from /etc/fstab, netplan or an init script: change
    + it there
    advice of why: Unit (?:file )?\S+ is masked => Unmask it (sudo systemctl unmask NAME) if it should run
    advice of why: Invalid|[Ii]nvalid|Unit name => Check the name and the file (systemd-analyze verify FILE;
    + systemd-escape for paths)
    advice of why: Unit \S+ failed => Its file cannot be read now. Run systemd-analyze verify on it, then sudo
    + systemctl daemon-reload
    advice of why: Auto => Disable the synchronisation first (sudo timedatectl set-ntp false), or rely on it
    advice of why: Could => The root file system is read-only, or /etc/hostname is a mount
    advice of why: Acc|Inter => Use sudo, because polkit cannot ask for a password over ssh
    advice of why: Oper => systemd does not run in this container, or the container lacks the permission. Start the
    + program directly
    advice of why: The unit => Another unit, a socket or a timer starts it, so it cannot be enabled itself. Enable
    + that unit, or add an [Install] section with WantedBy=multi-user.target
    advice of why: . => systemd does not answer. Read journalctl -b -t systemd and free memory, then run sudo
    + systemctl daemon-reexec, or reboot
cause = systemd rejected the request: {why}.
remedy = {advice}.
source = https://www.freedesktop.org/software/systemd/man/latest/systemctl.html

[unit-stop-timeout]
keys = State 'stop-sigterm' timed out
pattern = ([\w@.\\-]+): State 'stop-sigterm' timed out
cause = {found} did not exit in time when it was stopped, so systemd killed it (signal 9).
remedy = Its memory is not the cause. Make it exit sooner, or raise TimeoutStopSec (systemctl edit {found}). A program
    that waits in the driver is in state D in ps.

[unit-start-timeout]
keys =
    start operation timed out
    result 'timeout'
pattern =
    (?P<unit1>[\w@.\\-]+): start operation timed out
    (?P<unit2>[\w@.\\-]+): Failed with result 'timeout'
unless = -wait-(?:network-)?online\.service
cause = {unit} did not report in time that it is ready, so systemd stopped it. A large model takes minutes to load.
remedy = Raise TimeoutStartSec in a drop-in (systemctl edit {unit}; infinity for no limit), and check in the unit's own
    lines what it waited for.

[podman-network-wait]
keys = podman-user-wait-network-online.service
pattern = podman-user-wait-network-online\.service: (?P<why>start operation timed out|Failed with result 'timeout')
cause = Podman's unit of a user waited in vain for the system's target network-online.target ({why}): nothing starts
    that target at boot.
remedy = Let a system unit start it: sudo systemctl enable --now NetworkManager-wait-online.service
    (systemd-networkd-wait-online.service with networkd), or leave it out with DefaultDependencies=false in the section
    Quadlet of the container's file.
source = podman-container-tools/podman#24796

[unit-watchdog]
keys = Watchdog timeout (limit
pattern = (?P<unit>[\w@.\\-]+): Watchdog timeout \(limit (?P<limit>[^)\n]+)\)
cause = {unit} gave systemd no sign of life for {limit}, so systemd killed it: it hung, or the host was busy or short of
    memory.
remedy = Read its own lines above and the kernel's log from that time (journalctl -k). Raise WatchdogSec in a drop-in
    only if the unit is known to take that long.

[device-wait-timeout]
keys =
    imed out waiting for device
    .device/start timed out
pattern =
    [Tt]imed out waiting for device (\S+)
    Job (\S+\.device)/start timed out
cause = At boot the device {found}, which /etc/fstab, a unit or the kernel's options name, did not appear.
remedy = Compare /etc/fstab with lsblk -f (the UUID changes when a disk is formatted), and add nofail to a disk that
    may be missing. If it holds the system, the kernel or its initial RAM disk lacks the driver (of USB or NVMe): boot
    the previous kernel, and add the driver (update-initramfs -u).

[snap-refused]
keys =
    not available on
    error: access denied (try with sudo)
    unable to contact snap store
    has running apps
    assumes unsupported features
    cannot find installed snap
    Download snap
    error: snap "
    published using classic confinement
    yet seeded
    /run/snapd.socket
    cannot connect to the snap daemon
pattern =
    snap '(?P<snap4>[^'\n]+)' (?P<why6>not available on \S+ for this architecture|has running apps)
    (?P<why7>access denied \(try with sudo\)|unable to contact snap store|assumes unsupported features: [\w.]+|cannot
    + find installed snap)
    (?:- )?Download snap '(?P<snap3>[^'\n]+)' [^\n]*\((?P<why5>[^\n]+)\)\s*$
    error: snap '(?P<snap1>[^'\n]+)' (?P<why1>not found|is not available on \S+ for this architecture \(\w+\)|has '[\w-]
    ++' change in progress)
    revision of snap '(?P<snap2>[^'\n]+)' was (?P<why2>published using classic confinement)
    (?P<why3>device not yet seeded)
    (?P<why4>/run/snapd\.socket: connect: [\w ]+)
values =
    advice of why: not available => Use another form of the program (a deb for arm64, a container, its own installer)
    advice of why: has running => Close that program, and run it again
    advice of why: access => Use sudo
    advice of why: unable => Check the network and the proxy (sudo snap set system proxy.https=URL), then run it again
    advice of why: assumes => Update snapd first (sudo apt install --only-upgrade snapd; sudo snap refresh snapd)
    advice of why: cannot find => Remove and install that snap again
    advice of why: (?:Get|Post|cannot) => Check the network and the proxy (sudo snap set system proxy.https=URL), then
    + run it again
    advice of why: not found => Look it up (snap find), or use another form of the program
    advice of why: is not => Use another form of the program (a deb for arm64, a container, its own installer)
    advice of why: has => Wait until that change ends (snap changes)
    advice of why: published => Repeat the command with --classic, if you trust the publisher
    advice of why: device => Wait some minutes after the first boot (snap wait system seed.loaded)
    advice of why: [^/]*(?:EOF|timeout|reset|refused|TLS|no such host) => Check the network and the proxy (sudo snap
    + set system proxy.https=URL), then run it again
    advice of why: . => Start snapd (systemctl start snapd.socket); a container has none
cause = The snap command failed[ for {snap}]: {why}.
remedy = {advice}.

[snap-confinement]
keys =
    snap-confine has elevated permissions
    missing profile snap.
    aa_is_enabled() failed unexpectedly
    is not a snap cgroup
pattern =
    (snap-confine has elevated permissions)
    (missing profile \S+?)\.?$
    (aa_is_enabled\(\) failed unexpectedly)
    (is not a snap cgroup)
cause = A snap does not start, because its confinement is incomplete ({found}): AppArmor's profiles are not loaded, or
    it was started outside a login session (over ssh, in a container, by su).
remedy = Run sudo systemctl enable --now apparmor snapd.apparmor and log in again (systemctl --user status must answer).
    In a container, mount securityfs (sudo mount -t securityfs securityfs /sys/kernel/security), or install the program
    as a deb.
source = anbox/anbox#386

[flatpak-unknown]
keys =
    No remote refs found for
    Nothing matches
    not found in remote
    error: Error searching remote
pattern =
    No remote refs found for '(?P<name1>[^'\n]+)'
    Nothing matches (?P<name2>\S+) in remote
    error: (?P<name3>\S+) not found in remote
    Error searching remote \w+: Can't find ref (?P<name4>\S+)
cause = No flatpak remote has {name} for this processor.
remedy = Name the remote (flatpak install flathub {name}), run flatpak update, and check with flatpak remote-info
    flathub {name} for which processors it is published. A runtime GL.nvidia must have the driver's version, and appears
    days after the driver.
source = flathub/org.freedesktop.Platform.GL.nvidia#151

[journal-not-readable]
keys =
    due to insufficient permissions
    Failed to get journal access
pattern =
    (Failed to get journal access)
    (No journal files were opened due to insufficient permissions)
cause = This account may not read the system journal ({found}).
remedy = Use sudo, or add the account to the group systemd-journal (or adm) and log in again.

[sudo-broken]
keys =
    must be owned by uid 0 and have the setuid bit set
    "no new privileges" flag is set
pattern =
    (?P<file>\S*sudo) (?P<why1>must be owned by uid 0 and have the setuid bit set)
    The '(?P<why2>no new privileges)' flag is set
values =
    advice of why: must => As root (in recovery mode, or with docker run -v /:/host), run chown root:root and chmod
    + 4755 on /usr/bin/sudo. A chmod -R or chown -R on /usr did this, and may have changed other files too
    advice of why: no => Start the container without security_opt no-new-privileges, or the service without
    + NoNewPrivileges=yes (the terminal of a snap or an editor sets it too)
cause = sudo does not work here: {why}.
remedy = {advice}.

[sudo-refused]
keys =
    sudo: no tty present
    you must have a tty
    Sorry, user
    incorrect password attempt
    is world writable
    should be 0
    effective uid is not 0
    sudo: unknown user
    account validation failure
    sudo: PAM
    sudo.conf
    sudo: unable to stat
    sudo: unable to execute
    su:
    account is currently not available
    Error executing command as another user
    pkexec: must be
pattern =
    sudo: (?P<why>no tty present|sorry, you must have a tty|\d+ incorrect password attempts?|\S+ is world
    + writable|\S+ is owned by uid \d+, should be 0|effective uid is not 0|unknown user:? \S+|account validation
    + failure|PAM [^\n]+|error in \S+sudo\.conf[^\n]*|unable to stat \S+|unable to execute \S+: [^\n]+)
    (?P<why2>Sorry, user \S+ (?:is not allowed to execute|may not run)[^\n]*)
    su: (?P<why3>Authentication failure|must be run from a terminal|user \S+ does not exist|cannot set user id[^\n]*)
    (?P<why4>This account is currently not available|pkexec: must be setuid root|Error executing command as another
    + user: \S[^\n]*)
values =
    advice of why: no tty|sorry => Allow it without a password (sudo visudo -f /etc/sudoers.d/NAME: USER ALL=(root)
    + NOPASSWD: /path/of/command), or use a terminal (ssh -t)
    advice of why: \d => Enter this account's own password (on DGX OS, the one from the first set-up), or reset it in
    + recovery mode
    advice of why: \S+ is (?:world|owned) => As root (pkexec, or recovery mode), run chown root:root and chmod 440 on
    + that file
    advice of why: eff|pkexec => The file system is mounted with nosuid, or sudo lost its mode. Mount it without
    + nosuid, or run chmod 4755 /usr/bin/sudo /usr/bin/pkexec as root
    advice of why: unknown|user => Create the account first (sudo adduser NAME)
    advice of why: acc|PAM => The account is locked or expired, or its directory service is unreachable. As root,
    + check chage -l NAME, passwd -S NAME, /etc/pam.d and the time
    advice of why: error => As root, reinstall sudo (apt install --reinstall sudo)
    advice of why: unable to stat => sudo cannot read its own configuration. Reboot into recovery mode and run chown
    + -R root:root /etc/sudoers /etc/sudoers.d; chmod 440 these files
    advice of why: unable to exec => Make the file executable (chmod +x) and check its first line and that its disk is
    + not mounted with noexec
    advice of why: Sorry => Its rule does not allow that command. Check sudo -l, and ask an administrator to extend it
    advice of why: Auth => Use sudo -i with your own password: on Ubuntu, root has no password
    advice of why: must => In a script, use sudo -u NAME instead of su
    advice of why: cannot => The account has reached its limit of processes (ulimit -u, /etc/security/limits.d)
    advice of why: This => It is a service account without a shell. Run sudo -u NAME COMMAND
    advice of why: . => Use sudo, because no polkit agent runs that could ask for a password
cause = The command was not allowed to run as the other account: {why}.
remedy = {advice}.
source = https://www.sudo.ws/docs/man/sudo.man/

[sudoers-invalid]
keys =
    /etc/sudoers
pattern =
    parse error in (?P<file1>/etc/sudoers\S*) near line (?P<line1>\d+)
    (?P<file2>/etc/sudoers[^\s:]*):(?P<line2>\d+):\d+: syntax error
cause = sudo does not work, because {file} has an error in line {line}.
remedy = Correct it as root (pkexec visudo -f {file}, or from the recovery console), and edit these files only with
    visudo.

[fstab-invalid]
keys = /etc/fstab: parse error
pattern = /etc/fstab: parse error at line (\d+)
cause = Line {found} of /etc/fstab is invalid and skipped.
remedy = Correct it (six fields; spaces in a path are \040), check it with findmnt --verify, then run systemctl
    daemon-reload.

[mount-cifs]
keys = mount error(
pattern = mount error\((?P<number>\d+)\): (?P<why>[\w ]+)
values =
    advice of number: 13$ => Check user, password and domain (credentials=FILE), and the share's permissions
    advice of number: 2$ => Compare the share's name (smbclient -L SERVER) and create the directory here
    advice of number: 11[0-9]$ => Check that the server can be reached on port 445 and supports the version (vers=3.0)
    advice of number: . => Read the kernel's log (journalctl -k | grep CIFS)
cause = The Windows share cannot be mounted: error {number}, {why}.
remedy = {advice}.

[ptrace-forbidden]
keys = ptrace_scope
pattern = (ptrace_scope)
cause = A debugger or sampler may not inspect another process here (kernel.yama.{found}).
remedy = Run it with sudo (in a container, with --cap-add SYS_PTRACE), or run sudo sysctl kernel.yama.ptrace_scope=0
    temporarily.

[rename-across-disks]
keys = Invalid cross-device link
pattern = Invalid cross-device link(?:: '(?P<from>[^'\n]+)' -> '(?P<to>[^'\n]+)')?
cause = The program tries to rename a file across two file systems[: {from} to {to}].
remedy = Put its temporary directory on the target's disk (export TMPDIR, and UV_CACHE_DIR or PIP_CACHE_DIR), or use a
    release that copies.
source = kvcache-ai/ktransformers#23

[mount-failed]
keys =
    wrong fs type, bad option, bad superblock
    you might need a /sbin/mount.
    access denied by server while mounting
    can't find UUID=
    unknown filesystem type
    special device
pattern =
    mount: (?P<where6>/\S+): (?P<why6>special device \S+ does not exist)
    mount: (?P<where5>/\S+): (?P<why5>unknown filesystem type '\w+')
    mount: (?P<where1>/\S+): (?P<why1>wrong fs type), bad option, bad superblock on (?P<device>\S+?),
    mount: (?P<where2>/\S+): (?P<why2>bad option); for several filesystems
    mount\.nfs4?: (?P<why3>access denied by server) while mounting (?P<what3>\S+)
    mount: (?P<where4>/\S+): (?P<why4>can't find UUID=\S+?)\.?$
values =
    advice of why: wrong|unknown => Check its content (lsblk -f; sudo dmesg | tail), install that file system's tools
    + (exfatprogs, ntfs-3g, nfs-common), and check it with fsck
    advice of why: bad => Install nfs-common (or cifs-utils), which contains the helper that mount needs
    advice of why: access => Add this host's address to the export on the server (exportfs -v), and check the path
    advice of why: . => Correct /etc/fstab with the UUID that blkid shows
cause = {where}{what} cannot be mounted[ from {device}]: {why}.
remedy = {advice}.
source = snu-csl/nvmevirt#34

[stale-file-handle]
keys = Stale file handle
pattern =
    Stale file handle: '(?P<file1>/[^'\n]+)'
    (?<!\S)'?(?P<file2>/[^\s':]+)'?: Stale file handle
    Stale file handle
cause = The network file system under this path was exported again or changed on its server, so the old mount is
    invalid[: {file}].
remedy = Unmount it (sudo umount -l) and mount it again. Stop programs that still have its files open.

[udev-not-running]
keys = Failed to send reload request
pattern = Failed to send reload request: (?P<why>[^\n]{3,80})
cause = udevadm cannot reach systemd-udevd ({why}), because it does not run here, as in a container.
remedy = Run the calling program (netplan apply, an installer) on the host or in a machine with systemd (systemctl
    status systemd-udevd), and omit that step in a container.
source = hifis-net/ansible-collection-toolkit#318

[fwupd-refused]
keys =
    ailed to run update on reboot
    ailed-to-run-update-on-reboot
    waiting for the update to be applied
    failed to read flash
    failed to erase
    CapsuleApp: failed
    Could not apply capsule
    failed to wait for detach
    OnlyTrusted=false
    failed to update bootorder
    but shim isn't installed
    ESP partition or a ESP
    ESP partition not detected
    requires AC power
    Battery level is too low
    No detected devices
    in legacy BIOS mode
    No upgrades for device
    sufficient space, required
    Failed to obtain auth
    No updatable devices
    org.freedesktop.fwupd was not provided
    Blocked executable in the ESP
    power is required
    UEFI capsule updates not available
    Failed to find ESP
    Failed to download metadata for
    failed to write data to efivarfs
    when not on AC power
    ailed to write-firmware
    ailed to download, server response
pattern =
    (?P<why12>(?:Could not apply capsules?(?: update)?: [\w ]+|failed to wait for detach[\w ]*|firmware signature
    + missing or not trusted|failed to update bootorder|shim isn't installed|ESP partition or a ESP mount point not
    + found|requires AC power|Battery level is too low|No detected devices|can not be updated in legacy BIOS mode|No
    + upgrades for device|does not have sufficient space, required [\d. MB]+))
    (?P<why10>Failed to obtain auth[^\n]*)
    (?P<why17>waiting for the update to be applied)
    (?P<why11>No updatable devices)
    (?P<why9>Failed to download metadata for \w+)
    (?P<why6>Failed to find ESP[^\n]*|ESP partition not detected)
    (?P<why7>failed to write data to efivarfs[^\n]*)
    (?P<why8>[\w ]*when not on AC power)
    (?P<why13>failed to read flash)
    [Ff]ailed (?P<why15>to write-firmware: [^\n]{1,140})
    [Ff]ailed (?P<why16>to download, server response was \d+)
    (?P<why14>failed to erase [^\n]{1,140})
    (?P<why1>org\.freedesktop\.fwupd was not provided)
    (?P<why2>Blocked executable in the ESP)[^:\n]*: (?P<file>/\S+)
    (?P<why3>[\w ]*power is required)
    (?P<why4>UEFI capsule updates not available)
    (?P<why5>[Ff]ailed[ -]to[ -]run[ -]update[ -]on[ -]reboot|CapsuleApp: failed to update)
values =
    advice of why: to write => Turn the host and the device fully off for a minute (unplug the power), plug the device
    + into the host itself, and run sudo fwupdmgr refresh --force and sudo fwupdmgr update again. If it is refused
    + again, use the vendor's own updater, or a newer fwupd
    advice of why: to download => The vendor's list is older than its files. Run sudo fwupdmgr refresh --force, and try
    + again in a few hours
    advice of why: Could => The firmware rejected the capsule at boot. Check that the boot entry Linux Firmware
    + Updater exists, and that the EFI partition has fwupdaa64.efi (fwupdx64.efi) and free space, run the vendor's own
    + updater or its EFI shell, and clear old entries (efibootmgr)
    advice of why: failed to wait => Plug the device into the host itself, without a hub, and try again
    advice of why: firmware sig => Use the firmware from the vendor's own remote (fwupdmgr get-remotes, refresh),
    + because this file is not signed
    advice of why: failed to read => The kernel or the firmware locks the flash. For the update, disable Secure Boot
    + and the firmware's flash lock, boot once with iomem=relaxed, or use the vendor's own updater
    advice of why: failed to erase => Plug the device into the host itself, restart fwupd (sudo systemctl restart fwupd)
    + and try a newer fwupd
    advice of why: failed to update => Boot in UEFI mode with efivarfs mounted and writable, and check efibootmgr -v
    advice of why: shim => Install shim-signed and the signed grub package (sudo apt install --reinstall shim-signed),
    + or disable Secure Boot for the update
    advice of why: ESP|does => Mount the EFI partition (/boot/efi) and make room on it (old kernels, Windows'
    + capsules), or set its path (fwupdmgr --esp-path, or EspLocation in fwupd.conf)
    advice of why: (?:req|Batt) => Connect the power supply, and try again
    advice of why: No (?:det|upg) => Nothing needs to be done: there is no newer firmware, or no device that fwupd
    + supports
    advice of why: can not => Boot the host in UEFI mode
    advice of why: Failed to obtain => Run it with sudo, because polkit cannot ask for the password over ssh
    advice of why: waiting => Restart the host, which applies the update at boot (fwupdmgr get-history shows the
    + result),
    + before the next one
    advice of why: No updatable => Nothing needs to be done: fwupdmgr get-devices lists the devices, and the
    + vendor's own updater (DGX Dashboard) updates the others
    advice of why: Failed to download => Check the network and the proxy (curl -I https://cdn.fwupd.org), then run
    + sudo fwupdmgr refresh --force
    advice of why: [Ff]ailed.to.run|Capsule => Run fwupdmgr get-history, switch the host off and on, and use the
    + vendor's updater (DGX Dashboard)
    advice of why: Failed => Mount the EFI partition (sudo mount /boot/efi; it must be in /etc/fstab), and restart fwupd
    advice of why: failed to write => The store of UEFI variables is full. Restart the host, remove old dumps (sudo rm
    + /sys/firmware/efi/efivars/dump-*), and try again
    advice of why: org => Start fwupd (systemctl start fwupd), or install it. A container does not run it
    advice of why: Blocked => Upgrade shim and grub first (apt full-upgrade), and remove that old file if nothing
    + boots from it
    advice of why: UEFI => Enable capsule updates in the firmware's setup
    advice of why: . => Connect the power supply that came with the host, and try again
cause = fwupd could not update the firmware: {why}[ ({file})].
remedy = {advice}.

[boot-files-damaged]
keys =
    Unable to find a medium containing a live file system
    invalid magic at start of compressed
    you need to load the kernel first
    grub-install /dev/
    bad shim signature
pattern =
    (?P<what1>Unable to find a medium containing a live file system)
    (?P<what2>invalid magic at start of compressed)
    (?P<what3>you need to load the kernel first)
    (?P<what4>grub-install /dev/\w+)'? failed
    (?P<what5>bad shim signature)
values =
    advice of what: Unable => Write the image to another USB stick (check its SHA256 first, and write it with dd or
    + balenaEtcher, not by copying files), use another port, and for a Spark take the vendor's recovery image for this
    + model
    advice of what: grub => From the installer's shell or a recovery system, mount the EFI partition (/boot/efi needs
    + free space, type FAT32), and run grub-install --target=arm64-efi --efi-directory=/boot/efi again; efibootmgr -v
    + shows the entries, and a full store of UEFI variables needs an old entry removed (efibootmgr -B)
    advice of what: bad => The kernel or its boot loader is not signed for Secure Boot: boot the previous kernel
    + (Advanced options), and run sudo apt install --reinstall shim-signed and the signed image of the kernel, or
    + disable Secure Boot
    advice of what: . => In GRUB's menu, boot the previous kernel (Advanced options), make room on /boot (df -h /boot),
    + and install the newest kernel's package again (sudo apt install --reinstall linux-image-VERSION; sudo
    + update-initramfs -u; sudo update-grub)
cause = The host cannot start from these boot files ({what}): they are damaged, incomplete or elsewhere.
remedy = {advice}.
source =
    Dasharo/dasharo-issues#1594
    stockmind/gpd-pocket-ubuntu-respin#117
    procount/pinn#822

[mount-refused]
keys =
    mount: /
    mount.nfs
    umount:
    exportfs:
    refused mount request
    RPC: Program not registered
    Unable to resolve 'UUID
    while setting up superblock
    while trying to open
    insufficient free space
    initialize physical volume
    losetup: cannot find
    fallocate failed
pattern =
    mount: (?P<where>/\S+): (?P<why1>can't find in /etc/fstab|must be superuser to use mount|mount point does not
    + exist|\S+ already mounted or mount point busy|cannot mount \S+ read-only|mount\(2\) system call failed:
    + [^\n]+|failed to setup loop device[^\n]*|permission denied|fsconfig[^\n]*failed: [^\n]+|special device [^\n]+)
    mount\.nfs4?: (?P<why2>mount point \S+ does not exist|an incorrect mount option was specified|\S+ is busy or
    + already mounted|Protocol not supported|Operation not permitted|No route to host|Failed to resolve server
    + [^\n]+|RPC Error|mount system call failed)
    mount\.nfs4?: mount to NFS server '(?P<where3>[^'\n]+)' failed: (?P<why5>[^\n]+)
    umount: (?P<where2>/\S+): (?P<why3>not mounted|must be superuser)
    (?P<why4>refused mount request from \S+ for \S+|Failed to stat /\S+: No such file|RPC: Program not
    + registered|Unable to resolve 'UUID=[^'\n]+'|Device or resource busy while (?:setting up superblock|trying to
    + open)|has insufficient free space|Can't initialize physical volume '[^'\n]+'|cannot find an unused loop
    + device|fallocate failed: Operation not supported)
values =
    advice of why: can't => Add it to /etc/fstab, or pass both arguments (mount DEVICE DIRECTORY)
    advice of why: must|perm|Oper => Use sudo. A container needs --privileged, and an NFS server may accept only ports
    + below 1024 (insecure in its export)
    advice of why: mount point|Failed to stat => Create that directory first (sudo mkdir -p)
    advice of why: .*(?:busy or|already mounted|not mounted) => Look up what is mounted (findmnt DIRECTORY; lsblk)
    advice of why: cannot mount|mount\(2\)[^\n]*clean => The file system has errors. Unmount it and run fsck on the
    + device
    advice of why: mount\(2\)[^\n]*(?:stale|Stale) => The server exported it again. Run umount -f -l, and mount it again
    advice of why: mount\(2\)|fsconfig|RPC|mount sys => Look for the reason in sudo dmesg | tail and in the server's log
    advice of why: an inc => Correct the options (man nfs: vers=4.2, not version=)
    advice of why: Proto => The server does not support that version or transport. Use -o vers=3 or vers=4.2, proto=tcp
    advice of why: No route|Failed to res => First make the server reachable (ping; its name in /etc/hosts). For a
    + mount at boot, add _netdev in /etc/fstab
    advice of why: refused => Add this client's address to /etc/exports on the server, and run sudo exportfs -ra
    advice of why: Unable => Correct /etc/fstab with the UUID that blkid shows
    advice of why: Device => The device is mounted or part of a volume. Make sure that it is the right device
    + (findmnt, lsblk), then unmount it
    advice of why: has => Extend the volume group with a disk (vgextend), or use less space (vgs)
    advice of why: Can't => The disk has other content. Check it (lsblk -f), and wipe the disk only if nobody needs it
    + (sudo wipefs -a)
    advice of why: fall => Use dd instead of fallocate on this file system
    advice of why: . => Check that the server's services run (rpcinfo -p SERVER; systemctl status nfs-kernel-server).
    + A loop device needs losetup -f and a host, not a container
cause = The file system[ {where}] cannot be mounted, unmounted or created: {why}.
remedy = {advice}.
source = https://man7.org/linux/man-pages/man8/mount.8.html

[mount-busy]
keys =
    target is busy
    Device or resource busy
    apparently in use by the system
pattern =
    mk\w+\.?\w*: (/\S+) is apparently in use by the system
    umount: (\S+): target is busy
    cannot (?:remove|move) '([^'\n]+)'[^\n]*: Device or resource busy
cause = {found} is in use: a program has an open file or its working directory there, or something is mounted on it.
remedy = Find the user (sudo fuser -vm {found}; findmnt {found}), then stop the program or unmount the other file
    system. A container keeps its volumes until it is removed.

[argument-list-too-long]
keys = Argument list too long
pattern = (?P<program>[^\s:]+): (Argument list too long)
cause = The command line for {program} is longer than the kernel takes.
remedy = Pass the names in parts (find … -exec … +, xargs, or a file of names with @FILE or --files-from), or use
    shorter paths; environment variables count too.
source = https://man7.org/linux/man-pages/man2/execve.2.html

[superblock-invalid]
keys = Bad magic number in super-block
pattern = Bad magic number in super-block[^\n]*?(?:open |: )(?P<device>/dev/[\w/-]+)
cause = {device} has no file system of the kind that this tool checks: it is a whole disk in the place of its partition,
    another kind (LVM, LUKS, XFS, btrfs), or its first block is overwritten.
remedy = Look at what is on it first (lsblk -f; sudo blkid {device}; sudo wipefs -n {device}) and name the right
    partition; only if it was ext4 try a copy of the superblock (e2fsck -b 32768, on an image of the disk).
source = https://man7.org/linux/man-pages/man8/e2fsck.8.html

[account-missing]
keys =
    invalid user:
    invalid group:
    ' does not exist
    failed to look up
    does not exist
pattern =
    failed: failed to look up (?:user|group) (\w[\w.-]*)
    ^Group (\w[\w.-]*) does not exist$
    invalid (?:user|group): '([^'\n]+)'
    (?:usermod|useradd|gpasswd|groupmod|userdel): (?:user|group) '([^'\n]+)' does not exist
cause = There is no account or group {found} on this host.
remedy = Create it (sudo groupadd, sudo useradd -r), or install the package that does (Docker creates the group docker).

[account-number-taken]
keys =
    useradd: UID
    groupadd: GID
pattern =
    useradd: UID (\d+) is not unique
    groupadd: GID '(\d+)' already exists
cause = The number {found} already belongs to another account or group. Ubuntu 24.04's images have an account ubuntu
    with the number 1000.
remedy = Remove that account first (in the Dockerfile, RUN userdel -r ubuntu), or use another number.

[network-manager-refused]
keys =
    Error: unknown connection
    Connection activation failed
    is strictly unmanaged
pattern =
    (?P<why3>unknown connection '[^'\n]+')
    Connection activation failed: (?:\(\d+\) )?(?P<why1>[^\n]{1,200}?)\.?$
    Device '(?P<device>[^'\n]+)' is (?P<why2>strictly unmanaged)
values =
    advice of why: unknown => Use a name from nmcli con show, or create the connection (nmcli con add type ethernet
    + ifname DEVICE con-name NAME)
    advice of why: .*no carrier => Plug the cable in at both ends, and check ip -br link. A Spark's two ConnectX ports
    + have four interfaces; those of the connected port are up
    advice of why: .*[Ss]ecrets => Enter the password (nmcli dev wifi connect NAME --ask), or correct the saved one
    advice of why: .*IP configuration => No DHCP server answered. Set an address manually (nmcli con mod NAME
    + ipv4.method manual ipv4.addresses 192.168.100.10/24), as between two Sparks
    advice of why: .*unmanaged => Let NetworkManager manage it (nmcli dev set DEVICE managed yes; renderer:
    + NetworkManager in netplan), or set it with netplan and networkd
    advice of why: . => Read its journal (journalctl -u NetworkManager -b)
cause = NetworkManager could not bring the connection up[ on {device}]: {why}.
remedy = {advice}.

[dhcp-timeout]
keys =
    dhcp4 (
pattern = dhcp4 \((?P<interface>[\w.-]+)\): request timed out
cause = No DHCP server answered on {interface}. A cable between two Sparks has none; otherwise the network may be
    interrupted.
remedy = Between Sparks, set an address manually (netplan: addresses; nmcli con mod NAME ipv4.method manual
    ipv4.addresses 192.168.100.10/24), or use link-local addresses (ipv4.method link-local). Elsewhere, check cable and
    switch.

[network-wait-timeout]
keys =
    while waiting for network connectivity
    Event loop failed
    wait-online
    Wait for Network to be
pattern =
    (Timeout occurred while waiting for network connectivity)
    (Event loop failed: Connection timed out)
    ((?:networkd|NetworkManager)-wait-online\.service: (?:start operation timed out|Failed with result))
    (Failed to start [^\n]{0,60}Wait for Network to be \w+)
cause = The boot waited in vain for an interface without a network ({found}). It waits for each interface that
    netplan names, such as a ConnectX port without a cable. Everything else works.
remedy = Set optional: true for that interface in /etc/netplan (networkctl shows which interface is configuring), then
    run sudo netplan apply. Disable the waiting service of the network manager that is not in use (systemctl is-enabled
    NetworkManager-wait-online systemd-networkd-wait-online).

[nmcli-refused]
keys =
    Error: Timeout expired
    no secrets: No agents
    Error: Device '
    Error: Failed to modify connection
    Error: Failed to add
    Error: invalid or not allowed setting
    Error: Could not create NMClient
    ' is not valid
    Error: Not authorized
    Error: connection verification failed
    Activation: failed for connection
    -> failed (reason
    failed to load connection
pattern =
    Error: (?P<why>Timeout expired \(\d+ seconds\)|Device '[^'\n]+' not found|Failed to (?:modify|add)[^\n]*?:
    + [^\n]+|invalid or not allowed setting '[^'\n]+'|Could not create NMClient object|'?[\w.-]+'? is not valid|Not
    + authorized to control networking|connection verification failed: [^\n]+)
    device \((?P<device3>[^)\n]+)\): (?P<why5>no secrets)
    device \((?P<device1>[^)\n]+)\): Activation: (?P<why2>failed) for connection '[^'\n]+'
    device \((?P<device2>[^)\n]+)\): state change: \S+ -> failed \(reason '(?P<why3>[\w-]+)'
    (?P<why4>failed to load connection: [^\n]+)
values =
    advice of why: Timeout => The network did not answer. Check DHCP, the cable and the password (journalctl -u
    + NetworkManager -b). For a port without DHCP, set ipv4.method manual
    advice of why: Device => Use a name that nmcli dev shows
    advice of why: Failed to[^\n]*(?:Message recipient|not running) => NetworkManager ended meanwhile: read why
    + (journalctl -u
    + NetworkManager -b), start it (sudo systemctl restart NetworkManager) and repeat the command
    advice of why: Failed to[^:\n]*: (?:Insuff|Not auth) => Use sudo
    advice of why: .*method(?:=|:| 'manual|.*manual) => Set the address in the same command: ipv4.method manual
    + ipv4.addresses 192.168.100.10/24
    advice of why: Not auth => Use sudo
    advice of why: Could => Start it (sudo systemctl start NetworkManager). It does not run in a container
    advice of why: (?:failed to load[^\n]*perm|failed to load[^\n]*insecure) => Make the file readable only by root
    + (sudo chown root, sudo chmod 600), then run sudo nmcli con reload
    advice of why: failed to load => Correct or remove that file, and run sudo nmcli con reload
    advice of why: (?:no.secrets|supplicant|ssid) => Enter the password again (nmcli dev wifi connect NAME --ask),
    + and check that the network is in range
    advice of why: (?:ip-config|dhcp|failed$) => It got no address. Check the cable and DHCP, or set one manually
    + (ipv4.method manual)
    advice of why: . => Correct that property (nmcli con show NAME lists them; the message says which values it accepts)
cause = NetworkManager failed[ for {device}]: {why}.
remedy = {advice}.
source = https://networkmanager.dev/docs/api/latest/nmcli.html

[network-manager-off]
keys = NetworkManager is not running
pattern = (NetworkManager is not running)
cause = nmcli cannot reach NetworkManager ({found}). networkd may manage this host's interfaces.
remedy = Start it (systemctl start NetworkManager), or set the interfaces with netplan (networkctl shows who manages
    them).

[efi-variables-missing]
keys = EFI variables are not supported on this system
pattern = (EFI variables are not supported on this system)
cause = The firmware's variables are not accessible ({found}): this is a container, the system was started without UEFI,
    or efivarfs is not mounted.
remedy = On the host itself, mount them (sudo mount -t efivarfs efivarfs /sys/firmware/efi/efivars). If
    /sys/firmware/efi is missing, boot it in UEFI mode.

[gpu-program-fault]
keys = Xid (
pattern =
    Xid \([^)\n]+\): (?P<number>13|31|32|69), ?(?:pid=[^,\n]*, )?(?:name=(?P<program>\w[^,\n]*), )?
    +(?P<words>[^\n]{0,120})(?:(?:\n[^\n]*){0,8}?\n[^\n]* 154, [^\n]*\((?P<action>[\w ]+ Required)\))?
values =
    blame of number: 32 => usually the driver, the bus or memory is at fault, not the program
    blame of number: . => usually the program is at fault, not the hardware
    advice of number: 32 => Update the driver (or boot the previous kernel and driver), and check the card's seat,
    + power and temperature, and the host's memory
    advice of number: . => In that program's own log, find the kernel that failed (an illegal memory access), and use
    + a release of its library with a fix. If other programs fail in the same way, reset the GPU
    what of number: 32 => the commands for the GPU arrived damaged
    what of number: 31 => a kernel accessed GPU memory that is not mapped
    what of number: . => the GPU's engine could not execute a program's commands
uncertain = yes
cause = The driver reports Xid {number}[ for the program {program}]: {what}[ ({words})]; {blame}.
remedy = {advice}[. According to the driver, the GPU now needs: {action}].
source =
    https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
    sgl-project/sglang#27520

[account-refused]
keys =
    already exists
    cannot lock /etc/
    is currently used by process
    passwd:
    bad minute
    errors in crontab file
pattern =
    (?:useradd|adduser|groupadd|addgroup)(?:: fatal)?: (?P<why1>(?:[Tt]he )?(?:user|group) '?[^'\s]+'? already exists)
    (?:useradd|usermod|userdel|groupadd|groupmod|groupdel|gpasswd|passwd): (?P<why2>cannot lock /etc/\S+)
    (?:usermod|userdel): (?P<why3>user \S+ is currently used by process \d+)
    passwd: (?P<why4>Authentication token manipulation error|You may not [^\n]+)
    (?P<why5>bad (?:minute|hour|day-of-month|command)|errors in crontab file)
values =
    advice of why: user[^\n]*process => Log that account out and stop its services (loginctl terminate-user NAME),
    + then try again
    advice of why: [Tt]he|user|group => Use the existing account or group (usermod -aG GROUP NAME adds it to a group),
    + or choose another name; Ubuntu 24.04's images have an account ubuntu with the number 1000
    advice of why: cannot => Run it as root on a writable disk. If another such command runs or crashed (pgrep -a
    + user), stop it, and remove the old /etc/passwd.lock, shadow.lock, group.lock and gshadow.lock
    advice of why: Auth => Enter the current password first, or run passwd NAME as root; the root file system must be
    + writable
    advice of why: You => Use sudo
    advice of why: . => Write five time fields before the command in each line (in /etc/crontab, also an account)
cause = The account or its crontab was not changed: {why}.
remedy = {advice}.
source = https://manpages.ubuntu.com/manpages/noble/man8/useradd.8.html
"""
