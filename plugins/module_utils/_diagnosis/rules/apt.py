# __init__.py in this directory explains the fields.

"""apt and dpkg

Sources, keys, locks and packages.
"""

RULES = r"""
[apt-signed-by-several]
keys = Conflicting values set for option Signed-By
pattern =
    regarding source (?P<source>(?P<kind>\w+):/+(?P<host>[^/\s]+)\S* \S+?): [^\n]*\n[^\n]*regarding source (?P<other>(?!
    +(?P=kind):/+(?P=host))\w+:/+(?P<host_of_other>[^/\s]+)\S* \S+?):\s
cause = Each of two repositories ({source}, and {other}) is in two files with different keyrings, or with a keyring and
    without.
remedy = Find the files (grep -rn -e {host} -e {host_of_other} /etc/apt/sources.list /etc/apt/sources.list.d). For each
    repository keep the file that its current instructions or package write, and remove the other.
source = NVIDIA/nvidia-docker#1626

[apt-signed-by-missing]
keys = Conflicting values set for option Signed-By
pattern =
    regarding source\s+(?P<source>\S+\s+\S+?):\s+(?P<key1>\S+) != *$(?!\n +/)
    regarding source (?P<source2>\S+ \S+?):  ?!= (?P<key2>\S+)
cause = Two apt sources name the same repository {source}, one with the keyring {key} and one without Signed-By.
remedy = Find the two files (grep -rn with the repository's host in /etc/apt/sources.list.d), remove the file without
    Signed-By, and keep the file that the repository's instructions write.
source = NVIDIA/libnvidia-container#194

[apt-signed-by-invalid]
keys = Invalid value set for option Signed-By
pattern = Invalid value set for option Signed-By regarding source (?P<source>\S+ \S+) \((?P<why>[^)\n]+)\)
cause = apt does not understand Signed-By of the source {source} ({why}). It must be the complete path of a key file, a
    fingerprint or, from apt 2.3.10 (Ubuntu 22.04) on, a key.
remedy = Save the key in a file (/etc/apt/keyrings/NAME.asc, readable by all accounts) and set Signed-By to its complete
    path. A fingerprint has 40 hexadecimal digits.
source = jkroepke/access-log-exporter#142

[apt-clock]
keys = is not valid yet (invalid for another
pattern = Release file for (?P<url>\S+) is not valid yet \(invalid for another (?P<time>[\w ]+)\)
cause = This host's clock is {time} behind the clock of the repository {url}.
remedy = Set the clock (timedatectl set-ntp true), then run apt update again.
source = hkjarral/AVA-AI-Voice-Agent-for-Asterisk#122

[apt-expired]
keys = is expired (invalid since
pattern = Release file for (?P<url>\S+) is expired \(invalid since (?P<time>[\w ]+)\)
cause = apt does not use {url}, which expired {time} ago. Its mirror or a caching proxy is out of date, or this host's
    clock is ahead.
remedy = Check the clock (timedatectl). If it is right, use another mirror or refresh the proxy's cache.
source = wolfgang42/vagrant-deb#19

[apt-held]
keys =
    held packages will be changed
    Held packages were changed
pattern =
    held packages will be changed:\s*\n +(?P<packages>[^\n]+)
    Held packages were changed
cause = The command would change packages that are on hold[: {packages}].
remedy = Find out why they are held (apt-mark showhold lists them). Release them with apt-mark unhold, or do not run the
    command.
source = ansible/ansible#51218

[apt-sha1]
keys = SHA1 is not considered secure
pattern = (?:Signing key on (?P<key>\w+) (?:(?s:.{0,400}?)))?SHA1 is not considered secure since (?P<day>[\d-]{10})
cause = apt no longer accepts the repository's signing key[ {key}], because the key itself is signed only with SHA-1
    (apt's policy rejects that since {day}; Ubuntu 24.04's apt only warns).
remedy = If the source is for another release, use the repository for this one (NVIDIA's for debian13 has a new key). Or
    fetch the key again to the path in Signed-By; gpg --list-packets shows digest algo 2 as long as it is SHA-1. Until
    the owner signs the key again, disable the source, or allow SHA-1 for one apt update (sha1 = "always" below
    [hash_algorithms] in /etc/crypto-policies/back-ends/apt-sequoia.config; then remove that file again).
source = NVIDIA/cuda-repo-management#39

[apt-toolkit-key]
keys = NO_PUBKEY DDCAE044F796ECB0
pattern = NO_PUBKEY (DDCAE044F796ECB0)
cause = The key of NVIDIA's container toolkit repository ({found}) is not in the keyring that its source names, or apt's
    account may not read that file.
remedy = Make the file readable (sudo chmod 644 /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg). If that does
    not help, fetch the key into it again (https://nvidia.github.io/libnvidia-container/gpgkey, through gpg --dearmor),
    as the toolkit's installation guide says. cuda-keyring does not contain it.
source = NVIDIA/nvidia-container-toolkit#160

[apt-date-invalid]
keys = Invalid 'Valid-Until' entry
pattern = Failed to fetch (\S+) +Invalid 'Valid-Until' entry
cause = The Release file {found} has a date that apt cannot read.
remedy = Tell the repository's owner, and disable the source until it is repaired.
source = mapcrafter/mapcrafter#247

[dpkg-mounted-file]
keys =
    unable to make backup link of
    unable to install new version of
pattern =
    unable to make backup link of '(?P<file>[^'\n]+)' before installing new version: (?P<why>Invalid cross-device link)
    unable to install new version of '(?P<file2>[^'\n]+)': (?P<why2>Device or resource busy|Invalid cross-device link)
values =
    advice of file: \S*(?:nvidia|libcuda|libnv) => The file belongs to the host's driver, which the container gets
    + when it starts. Install no driver in a container (cuda-toolkit-13-0 or cuda-libraries-13-0 instead of cuda,
    + cuda-drivers or nvidia-cuda-toolkit; apt install --no-install-recommends), or build the image without the GPU's
    + runtime
    advice of file: . => Remove the mount during the installation, or install into the image instead
cause = dpkg cannot replace {file} because it is a mount ({why}).
remedy = {advice}.
source = usnistgov/ARIAC#355

[dpkg-architectures-differ]
keys = trying to overwrite shared '
pattern =
    trying to overwrite shared '(?P<file>[^'\n]+)', which is different from other instances of package (?P<package>\S+)
cause = Two builds of one package, for two architectures, contain different files {file}, so {package} cannot be
    installed beside the other build.
remedy = Upgrade both to the same version (sudo apt update, then apt-cache policy for each). If they already have it,
    keep only one (sudo apt remove the package of the other architecture; install its -dev package for a cross build in
    a container).
source = Raezroth/Linux-ARM-Gaming-Chroot#14

[dpkg-overwrite]
keys = trying to overwrite '
pattern = trying to overwrite '([^'\n]+)', which is also in package (?P<owner>[^\n]+)
cause = A package contains {found}, which belongs to {owner}. Usually the packages belong to two driver branches, or to
    another distribution.
remedy = Remove the package of the other branch first, then run apt --fix-broken install. Do not force the overwrite.
source = pop-os/shop#121

[deb-damaged]
keys = is not a debian format archive
pattern = '?([^\s']+)'? is not a debian format archive
cause = {found} is not a package: the download failed and saved something else, such as an error page.
remedy = Run file on it, download it again, and compare its checksum.
source = NVIDIA/nvidia-modprobe#2

[deb-unreadable]
keys =
    uses unknown compression for member
    is not a Debian format archive
    unexpected end of file in
    lzma error
    zstd error
    to decompressor pipe
    E: Invalid archive signature
    E: This is not a valid DEB archive
    E: Could not read meta data from
    dpkg: error processing
    premature member
pattern =
    (?P<file1>[^\s'(]+\.deb)' (?P<why1>uses unknown compression for member '[^'\n]+'|is not a Debian format
    + archive|has premature member)
    (?P<why2>unexpected end of file in archive[^\n]*?) in '(?P<file2>[^'\n]+)'
    archive '(?P<file3>[^'\n]+)'[^\n]*(?P<why3>(?:lzma|zstd|gzip) error: [^\n]+)
    archive member from '(?P<file4>[^'\n]+)' to decompressor pipe: (?P<why4>[^\n]+)
    E: (?P<why5>Invalid archive signature|This is not a valid DEB archive)
    E: (?P<why6>Could not read meta data) from (?P<file5>\S+)
    processing archive (?P<file6>\S+) \([^\n]*\n (?P<why7>cannot access archive[^\n]*)
    processing archive (?P<file7>\S+) \([^\n]*\n [^\n]*(?P<why8>unexpected end of file or stream)
values =
    advice of why: uses unknown|has prem => It was packed (zstd) for a newer dpkg. Install the package for this
    + release of Ubuntu or Debian
    advice of why: cannot => Correct the path. The file does not exist, or was not downloaded
    advice of why: . => Remove it (sudo apt clean, if apt downloaded it), check df -h, download it again and compare
    + its checksum. A small file is usually an error page
cause = The package[ {file}] cannot be read: {why}.
remedy = {advice}.
source = https://github.com/guillemj/dpkg/blob/main/src/deb/extract.c

[apt-locked]
keys =
    Could not get lock
    Unable to acquire the dpkg frontend lock
    Unable to lock directory
    was locked by another process
    is locked by another process
pattern =
    Could not get lock (?P<lock1>\S+?)\.? +It is held by process (?P<who1>\d+(?: \([^)\n]+\))?)
    Could not get lock (?P<lock2>[^\s.]+)
    Unable to acquire the dpkg frontend lock \((?P<lock3>[^)\n]+)\), is another process using it
    Unable to lock directory (?P<lock4>\S+)
    dpkg frontend lock was locked by another process with pid (?P<who2>\d+)
    (?:status database area|frontend lock) is locked by another process
cause = Another program has apt's lock[ {lock}][, which is held by process {who}].
remedy = Wait until it ends (unattended-upgrades and the DGX updater run after boot), or let apt wait for it
    (DPkg::Lock::Timeout "600"; in /etc/apt/apt.conf.d, or sparkforge_apt_lock_timeout). Do not delete the lock file.
source = servo/ci-runners#57

[apt-signed-by-conflict]
keys = Conflicting values set for option Signed-By
pattern =
    Conflicting values set for option Signed-By regarding source (?P<source>\S+ \S+?): (?P<one>\S*) !=
    + (?P<other>[^\s,]*)
values =
    advice of source: https?://developer\.download\.nvidia => on DGX OS keep the vendor's cuda-compute-repo.sources
    + and remove the file that the package cuda-keyring added
    advice of source: . => keep the file that the repository's package or instructions wrote (grep -rn with the
    + repository's host in /etc/apt/sources.list.d finds both)
cause = Two apt sources name the same repository {source} with different keyrings: {one} and {other}.
remedy = Remove one of the two files from /etc/apt/sources.list.d: {advice}.
source = NVIDIA/nvidia-container-toolkit#170

[apt-later-version]
keys =
    A later version is already installed
    without --allow-downgrades
    will not downgrade
pattern =
    A later version is already installed
    without --allow-downgrades
    will not downgrade (\S+)
cause = A later version of a package than the requested one is already installed.
remedy = Keep the later version and correct the pin; this collection never downgrades a package.

[apt-key-not-readable]
keys = are ignored as the file
pattern = The key\(s\) in the keyring (?P<file>\S+) are ignored as the file (?P<why>[^\n]+?)\.?$
values =
    advice of why: is not readable => Make it readable by all accounts (sudo chmod 644 for the file, 755 for its
    + directory)
    advice of why: . => It contains no key, or an armored key in a file named .gpg. Run file on it, then write it
    + again with gpg --dearmor, or rename it to .asc
cause = apt ignores the key file {file} because it {why}. The repository therefore counts as unsigned.
remedy = {advice}. Then run apt update.

[apt-key-missing]
keys =
    NO_PUBKEY
    Missing key
pattern =
    (?P<where>(?:https?|file|copy):\S+)(?=\s)(?:(?!NO_PUBKEY|Missing key)[^\n])*(?:\n(?:(?!NO_PUBKEY|Missing
    + key|\w+:/)[^\n])*)?(?:NO_PUBKEY|Missing key) (?P<key1>[\dA-F]{8,})
    (?:NO_PUBKEY|Missing key) (?P<key2>[\dA-F]{8,})
cause = The repository[ {where}] is signed with key {key}, which none of its keyrings contains.
values =
    advice of where: \S*(?:ports|archive|security|mirror\S*)\.ubuntu\.com => Reinstall the package with Ubuntu's keys
    + (sudo apt install --reinstall ubuntu-keyring). In an image, its Ubuntu is older than the suite, or /tmp or the
    + disk is full
    advice of where: \S*(?:debian\.org) => Install debian-archive-keyring for that release, or correct the suite
    advice of where: \S*download\.docker\.com => Fetch Docker's key again (sudo curl -fsSL
    + https://download.docker.com/linux/ubuntu/gpg -o /etc/apt/keyrings/docker.asc), and name it in Signed-By
    advice of where: \S*/compute/machine-learning/ => NVIDIA gave this repository up: remove its file from
    + /etc/apt/sources.list.d. Its packages are in the CUDA repository (compute/cuda/repos, which cuda-keyring adds)
    advice of where: \S*nvidia => Reinstall the package that provides the key (nvidia-spark-repo, dgx-repo or
    + nvidia-repo-keys on DGX OS, cuda-keyring elsewhere), or correct the source's Signed-By
    advice of key: .*3BF863CC => Install cuda-keyring, which contains NVIDIA's key for CUDA, or on DGX OS reinstall
    + nvidia-spark-repo
    advice of key: . => Fetch the key that the repository's current instructions name into /etc/apt/keyrings, and name
    + it in the source's Signed-By
remedy = {advice}.
source = NVIDIA-ISAAC-ROS/isaac_ros_dnn_inference#12

[apt-key-file-broken]
keys =
    add_keyblock_resource
    keydb_search
    Unknown error executing apt-key
    sqv returned an error code
pattern =
    (?P<where>https?://\S+)[^\n]*?(?P<why1>add_keyblock_resource|keydb_search|Unknown error executing apt-key)
    (?P<why2>add_keyblock_resource|keydb_search)
    Sub-process \S*sqv returned an error code \(1\), error message is: ?(?P<why3>[^\n]*)
unless = NO_PUBKEY
values =
    advice of why: (?:add|keydb|Unknown) => Check the file that Signed-By names (or /etc/apt/trusted.gpg.d): it is
    + empty, an error page, or not readable by apt. Fetch the key again (curl -fsSL URL | sudo gpg --dearmor -o FILE;
    + sudo chmod 644 FILE)
    advice of why: (?:) => Fetch the vendor's current key: this one is expired, outdated (SHA-1) or for another
    + repository
cause = apt cannot check the signature[ of {where}] with its keyring ({why}).
remedy = {advice}. Then run sudo apt update.
source = mwt/zoom-apt-repo#10

[apt-signature]
keys =
    EXPKEYSIG
    KEYEXPIRED
    REVKEYSIG
    BADSIG
pattern =
    (?P<where>(?:https?|file|copy):\S+)[^\n]*(?:\n[^\n]*)?(?P<what1>(?:EXPKEYSIG|KEYEXPIRED|REVKEYSIG|BADSIG) \w+)
    (?P<what2>(?:EXPKEYSIG|KEYEXPIRED|REVKEYSIG|BADSIG) \w+)
cause = The signature of the repository[ {where}] is not valid ({what}).
values =
    advice of what: BADSIG => The file does not match its signature: a proxy or mirror served an older or changed
    + file. Remove the lists (sudo rm -r /var/lib/apt/lists/*), bypass the proxy (Acquire::http::No-Cache=true, https),
    + and run sudo apt update again (later, if the repository is being updated)
    advice of what: \w+ C45B1676A04EA552|\w+ (?:DDCAE044F796ECB0|6ED91CA3AC1160CD) => Write the current key into the
    + keyring of its source (curl -fsSL https://nvidia.github.io/libnvidia-container/gpgkey | sudo gpg --dearmor --yes
    + -o /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg), and replace old sources of nvidia-docker with the
    + toolkit's (https://nvidia.github.io/libnvidia-container/stable/deb)
    advice of where: https?://nvidia\.github\.io => Write the current key into the keyring of its source (curl -fsSL
    + https://nvidia.github.io/libnvidia-container/gpgkey | sudo gpg --dearmor --yes -o
    + /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg), and replace old sources of nvidia-docker with the
    + toolkit's (https://nvidia.github.io/libnvidia-container/stable/deb)
    advice of where: https?://developer\.download\.nvidia => Install the current cuda-keyring package (from the
    + directory of that URL; on DGX OS sudo apt install --reinstall of the package that owns the source, dpkg -S FILE)
    advice of what: . => Download the key that the vendor's instructions name now, and write it into the file that
    + Signed-By in the source names (curl -fsSL KEY-URL | sudo gpg --dearmor --yes -o FILE), and check the host's clock
remedy = {advice}.
source = aptly-dev/aptly#916

[apt-login-page]
keys = does the network require authentication
pattern = (?P<url>https?://\S+)[^\n]*(?:\n[^\n]*)?does the network require authentication
cause = Another server answered instead of the repository[ {url}], such as the login page of a guest network.
remedy = Log in to the network in a browser on the host, or set sparkforge_proxies, and run again.
source = allinurl/goaccess#2850

[apt-no-release]
keys = a Release file
pattern =
    The repository '(?P<repository>\S+)(?: +(?P<suite>(?!(?:In)?Release')\S+))?[^'\n]*' (?P<why>does not have|no longer
    + has|does no longer have) a Release file
values =
    advice of repository: https?://nvidia\.github\.io/ => NVIDIA moved it. For every distribution, use the line of the
    + container toolkit's installation guide instead (https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /)
    advice of repository: https?://developer\.download\.nvidia\.\w+/ => Correct the directory of NVIDIA's source to
    + …/compute/cuda/repos/ubuntu2404/sbsa/ for Ubuntu 24.04 on arm64 (x86_64 elsewhere). An empty or doubled part of
    + the path is an unset variable
    advice of repository: file:/ => This is a local repository whose directory is gone: remove its list from
    + /etc/apt/sources.list.d (grep -l file: /etc/apt/sources.list.d/*), or install the package that brought it again
    advice of why: (?:does )?no longer => Its release has ended: upgrade the system or the image, or use the archive
    + (old-releases.ubuntu.com; for Debian, archive.debian.org)
    advice of repository: \S+/ppa/|\S*ppa\. => Remove that PPA, which has nothing for this Ubuntu release (sudo
    + add-apt-repository --remove), or use the address on its page
    advice of repository: \S+/linux/(?:debian|ubuntu) => Write linux/ubuntu on Ubuntu and linux/debian on Debian, with
    + this system's codename (. /etc/os-release; echo $VERSION_CODENAME)
    advice of why: . => Open the address in a browser. Correct the suite (this system's codename) or the path, or
    + remove the source
cause = The repository {repository} {why} a Release file[ for {suite}].
remedy = {advice}.
source = REMnux/remnux-cli#125

[apt-invalid-signature]
keys = At least one invalid signature was encountered
pattern =
    (?P<where>https?://\S+)[^\n]*At least one invalid signature was encountered
    At least one invalid signature was encountered
uncertain = yes
cause = apt could not check the signature[ of {where}]. Usually the disk is full; in an image build, Docker's disk.
remedy = Check df -h, and make room (docker system prune; docker builder prune). If there is room, check that /tmp is
    writable for all accounts (chmod 1777 /tmp) and remove /var/lib/apt/lists/*.
source = adoptium/containers#561

[apt-temporary-file]
keys = t create temporary file /tmp/
pattern = Couldn't create temporary file (/tmp/\S+)
cause = apt's own account cannot write {found} because /tmp has the wrong mode or is full.
remedy = Run sudo chmod 1777 /tmp, check df -h /tmp, and run apt update again.

[apt-unsigned]
keys =
    is not signed
    signatures were invalid
pattern =
    signatures were invalid: (?P<key>[0-9A-F]{16,40})(?s:.{0,600}?)The repository '(?P<repository1>[^'\n]+)' is not
    + signed
    The repository '(?P<repository2>[^'\n]+)' is not signed
values =
    advice of key: . => That key's signature is of an old kind (SHA-1 or a short key) that apt no longer accepts: use
    + the repository's current address and key, and if nobody maintains it remove its source
    advice of repository: https?://nvidia\.github\.io/ => Write NVIDIA's key into the keyring that its source names
    + (curl -fsSL https://nvidia.github.io/libnvidia-container/gpgkey | sudo gpg --dearmor --yes -o
    + /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg), and name that file there (signed-by)
    advice of repository: \S*/compute/machine-learning/ => NVIDIA gave this repository up: remove its file from
    + /etc/apt/sources.list.d. Its packages are in the CUDA repository (compute/cuda/repos, which cuda-keyring adds)
    advice of repository: https?://developer\.download\.nvidia\.\w+/compute/cuda/ => Install NVIDIA's key:
    + cuda-keyring_1.1-1_all.deb (sudo dpkg -i) from the directory for this host's release of the system
    + (/etc/os-release; debian13 on Debian 13, ubuntu2404/sbsa on a Spark), and remove the source of another release. On
    + DGX OS, reinstall the package that owns the source (dpkg -S FILE)
    advice of repository: . => Look for the reason in the lines above (NO_PUBKEY, the clock, a full disk), and check
    + the URL. An unsigned repository is never used
cause = The repository {repository} is not signed, or its signature could not be checked.
remedy = {advice}.
source = REMnux/remnux-cli#125

[apt-interrupted]
keys = dpkg was interrupted
pattern = dpkg was interrupted
cause = An earlier run of dpkg was interrupted.
remedy = Run 'dpkg --configure -a' as root, then repeat the run.

[deb-of-another-architecture]
keys = does not match system
pattern =
    error processing archive (?P<file>\S+) [^\n]*\n package architecture \((?P<have1>\w+)\) does not match system \((?P<
    +host1>\w+)\)
    package architecture \((?P<have2>\w+)\) does not match system \((?P<host2>\w+)\)
cause = The package[ {file}] is for {have}, but this host is {host}.
remedy = Download the file for {host}, if the vendor offers one. Do not force the installation or add {have} as an
    architecture, because the program cannot run here.
source = awesometic/realtek-r8152-dkms#23

[apt-reinstall-required]
keys = needs to be reinstalled, but I can't find an archive
pattern = The package (\S+) needs to be reinstalled, but I can't find an archive
cause = The package {found} was left half installed, and no source offers it any more.
remedy = Download its .deb again and install it with dpkg -i, or remove it with sudo dpkg --remove
    --force-remove-reinstreq {found}.

[ppa-unknown]
keys = Cannot add PPA
pattern = Cannot add PPA: '([^'\n]+)'
cause = There is no PPA {found}, or Launchpad could not be reached.
remedy = Compare the name with its page on Launchpad, check that it has packages for this Ubuntu and arm64, and set
    http_proxy and https_proxy for sudo (sudo -E).

[apt-key-download]
keys = no valid OpenPGP data found
pattern = gpg: (no valid OpenPGP data found)
cause = The downloaded file is not a repository's key ({found}): the download failed, or its address returned a web
    page.
remedy = Fetch the key with curl -fsSL, which fails instead of saving an error page. Check the file, and use the address
    in the vendor's current instructions.

[apt-key-command]
keys =
    apt-key: command not found
    apt-key: not found
pattern = (apt-key): (?:command )?not found
cause = This system no longer has {found}, which old instructions call.
remedy = Save the key in a separate file (curl -fsSL URL | sudo gpg --dearmor -o /usr/share/keyrings/NAME.gpg), and name
    it in the source with signed-by=/usr/share/keyrings/NAME.gpg.

[apt-no-sources-of-source]
keys = URIs in your sources.list
pattern = You must put some '(deb-src)' URIs in your sources\.list
cause = No apt source offers source packages ({found}).
remedy = Add deb-src to Types in /etc/apt/sources.list.d/ubuntu.sources, and run sudo apt update.

[apt-no-version]
keys = ' was not found
pattern = Version '(?P<version>[^'\n]+)' for '(?P<package>[^'\n]+)' was not found
cause = No enabled apt source offers {package} in version {version}, which was requested or pinned.
remedy = Run apt-cache madison {package} to list the versions, and request one of them. Repositories drop old versions,
    so correct the pin, or enable the source that has it.

[apt-source-malformed]
keys =
    Malformed entry
    Malformed stanza
    is not known on line
    is not known on stanza
    Malformed line
pattern =
    (?P<what1>Malformed (?:entry|stanza|line) \d+) in (?:list|source) (?:file|list)? ?(?P<file1>\S+)
    (?P<what2>Type '[^'\n]+' is not known) on (?:line|stanza) \d+ in source(?:s)? list (?P<file2>\S+)
cause = apt does not read any source, because it cannot read {file} ({what}).
remedy = Correct that file or remove it. A line of a .list is `deb (with signed-by) URL SUITE COMPONENTS`. If the file
    contains HTML, the download returned an error page: download it again, and check it before you use it.

[apt-lists-damaged]
keys =
    package lists or status file could not be parsed
    Unable to parse package file
    Problem with MergeList
    parsing file '/var/lib/dpkg/
    Encountered a section with no Package
pattern =
    Unable to parse package file (/\S+)
    Problem with MergeList (/\S+)
    parsing file '(/var/lib/dpkg/\w+)' near line
    Encountered a section with no Package: header
    package lists or status file could not be parsed or opened
cause = One of apt's package lists is damaged ({found}).
remedy = Remove the lists and fetch them again: sudo rm -r /var/lib/apt/lists/* && sudo apt update. If the message names
    /var/lib/dpkg/status, restore that file from /var/backups.

[apt-release-changed]
keys = changed its '
pattern =
    Repository '(?P<url>[^'\n]+)' changed its '(?P<field>[^'\n]+)' value from '(?P<old>[^'\n]*)' to '(?P<new>[^'\n]*)'
cause = The repository {url} changed its {field} from {old} to {new}, which apt accepts only with your permission.
remedy = Check with its owner that the change is intended, then run sudo apt-get update --allow-releaseinfo-change.
    Update pins that use the old value.

[apt-essential]
keys = Essential packages were removed
pattern = (Essential packages were removed)
cause = The command would remove packages that the system needs ({found}).
remedy = Do not force it. In the list above, find the package that makes apt remove them (usually from another release
    or repository), and omit or pin it.

[apt-source-for-x86]
keys = doesn't support
pattern = repository '(?P<url>https?://\S*/x86_64/?)\s[^\n]*doesn't support architecture 'arm64'
cause = The apt source {url} is for x86 processors, so it offers no package for this host.
remedy = Remove it (and the x86_64 cuda-keyring), and add the source for this host: for CUDA, the same address with sbsa
    instead of x86_64. DGX OS already has its own.

[apt-renamed]
keys = is a virtual package provided by:
pattern = Package (?P<package>\S+) is a virtual package provided by:\s+(?P<provider>\S+)(?: \S+)?(?:\n  (?P<more>\S+))?
values =
    advice of more: \S+-cuda-\d+ => Request the package for your CUDA's major version (nvcc --version; -cuda-13 on a
    + Spark), and correct the list of packages
    advice of more: . => Request one of them by name, and correct the list of packages
    advice of provider: . => Request that package, and correct the list of packages
cause = No package is called {package}: {provider}[ or {more}] replaces it, as with many packages of Ubuntu 24.04, whose
    names now end in t64.
remedy = {advice} (sudo apt install {provider}[, or {more}]).

[apt-no-package]
keys =
    Unable to locate package
    has no installation candidate
pattern =
    Unable to locate package (\S+(?: \S+)*)
    Package '?(?P<known>[^\s']+)'? has no installation candidate
every = yes
values =
    advice of found: [^\s,]+ \S => quote each name separately: here several were quoted together
    advice of found: lib(?:asound2|glib2\.0-0|gtk-3-0|cups2|atk1\.0-0|aio1|curl4|ssl3|event-2\.1-7)$ => its name ends in
    + t64 in Ubuntu 24.04 (libasound2t64)
    advice of found: nvidia-container(?:-runtime)?$ => the package is now nvidia-container-toolkit, in NVIDIA's own
    + repository for it
    advice of found: .*nvidia-jetpack => on a Jetson check /etc/apt/sources.list.d/nvidia-l4t-apt-source.list: its
    + release (r36.4) must be that in /etc/nv_tegra_release. Other machines have no JetPack
    advice of found: linux-(?:(?:headers|modules|image)-\d|modules-nvidia) => the source no longer has that kernel:
    + boot the newest kernel (sudo apt full-upgrade, reboot), and install the package for the kernel that uname -r then
    + shows
    advice of found: .*libgl1-mesa-glx => libgl1-mesa-glx is now called libgl1 (with libglib2.0-0t64)
    advice of found: nvidia-docker => nvidia-docker2 has been replaced by nvidia-container-toolkit
    advice of found: docker-compose$ => docker-compose is docker-compose-v2 in Ubuntu's source, docker-compose-plugin
    + in Docker's
    advice of found: python$ => python is called python3 (python-is-python3 provides the old name)
    advice of found: python3\.\d+ => Ubuntu 24.04 has only Python 3.12, so use that, or install another with uv python
    + install
    advice of found: cuda-(?:toolkit-)?dev(?:el)?$ => no source has a package of that name. NVIDIA's is
    + cuda-toolkit-13-0 (cuda-toolkit for the newest), with nvcc and the headers; Ubuntu's older package is
    + nvidia-cuda-toolkit
    advice of found: cuda(?:-toolkit|-runtime|-libraries|-compiler)?-\d+-\d+ => apt-cache search --names-only
    + ^cuda-toolkit shows whether NVIDIA's source is enabled (the role cuda_libraries adds it; for arm64 it is sbsa) and
    + which versions it has. Each Ubuntu release begins with a certain version (24.04 with 12.5); older versions are
    + only for older releases
    advice of found: (?:nvidia-(?:utils|driver|dkms|headless|compute-utils|kernel-source|firmware)|libnvidia-(?:compute
    +|gl|decode|encode|cfg1))$ => Ubuntu has no package of that name, but one for each branch of the driver (as
    + nvidia-utils-580): use the installed driver's (cat /proc/driver/nvidia/version; on DGX OS leave the driver as it
    + is)
    advice of found: libcudnn9(?:-dev|-headers|-static)?$ => name the package for your CUDA, such as
    + libcudnn9-cuda-13 or libcudnn9-cuda-12: libcudnn9 alone has no package. They are in NVIDIA's source (arm64:
    + sbsa), which the role cuda_libraries adds
    advice of found: .*(?:cuda|cudnn|nccl|nvidia|libnv|tensorrt) => check that NVIDIA's source is enabled and for
    + arm64 (sbsa). The role cuda_libraries adds it, DGX OS has it, and the container toolkit has a separate source
    advice of found: docker-|containerd\.io => it is in Docker's own source (download.docker.com/linux/ubuntu).
    + Ubuntu's packages are docker.io and docker-buildx
    advice of found: . => check the names for this distribution and arm64, and that universe and the packages' source
    + are enabled
cause = No enabled apt source offers {found}.
remedy = Run sudo apt update first (in an image, in the same RUN). If that does not help[ and apt-cache showpkg {known}
    lists packages under Reverse Provides, install one of those. Otherwise], {advice}.
source =
    jetsonhacks/install-docker#4
    NVIDIA-ISAAC-ROS/isaac_ros_common#210

[apt-hash]
keys =
    Hash Sum mismatch
    File has unexpected size
pattern =
    Failed to fetch (?P<local>file:\S+)\s+Hash Sum mismatch
    Hash Sum mismatch
    File has unexpected size
values =
    advice of local: . => This is a local repository whose copy of the file is damaged or incomplete. Download the
    + package that installed it again (dpkg -i cuda-repo-….deb), or use the network repository
    advice of local: (?:) => Try again in a few minutes: a mirror during an update, or a caching proxy, serves a mix
    + of two states. If it stays so, the mirror is stale: use the vendor's own address
cause = A file of an apt repository[ ({local})] does not match the repository's index.
remedy = {advice}.
source = NVIDIA/nvidia-docker#1151

[apt-arm64-on-ports]
keys = /binary-arm64/
pattern =
    Failed to fetch https?://(?P<host>(?:[\w-]+\.)*(?:archive|security)\.ubuntu\.com)/ubuntu/?/dists/(?P<suite>[\w-]+)/\
    +S+ +404
cause = {host} has no arm64 packages of {suite}: Ubuntu's arm64 packages are on ports.ubuntu.com/ubuntu-ports.
remedy = Add a source for arm64 (URIs: http://ports.ubuntu.com/ubuntu-ports/, the same suites, Architectures: arm64),
    and limit the entries of archive.ubuntu.com and security.ubuntu.com to Architectures: amd64 (arch=amd64 in a .list).
    On an arm64 host, change their address to ports.ubuntu.com instead.
source = conan-io/conan-center-index#26326

[apt-fetch]
keys =
    Failed to fetch
    Err:
pattern =
    Failed to fetch (?P<url1>[a-z+]+:\S+) +(?P<why1>[^\[\n]*[^\[\s])
    ^Err:\d+ (?P<url2>\S+)(?P<foreign> \S+ i386 Packages)?[^\n]*\n +(?P<why2>(?:\d{3} |Could not |Cannot
    + initiate|Connect|Temporary failure|Unable to connect)[^\[\n]*[^\[\s])
values =
    advice of url: https?://nvidia\.github\.io/\S+/(?:ubuntu|debian|stable/\w+)\d => NVIDIA gave up the directories
    + for each release. For every distribution and architecture, use the line of the container toolkit's installation
    + guide (https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /)
    advice of url: \S+/ubuntu/(?:dists/\S+/binary-arm64|pool/\S+_arm64\.deb) => This address has only Ubuntu's amd64
    + packages. The arm64 packages are in ubuntu-ports (http://ports.ubuntu.com/ubuntu-ports/, or a mirror's path
    + /ubuntu-ports/): correct the sources in /etc/apt
    advice of foreign: . => That repository has no packages for i386, which this host does not need. Run sudo dpkg
    + --remove-architecture i386
    advice of url: \S+/ubuntu-ports/dists/\S+/binary-(?:amd64|i386) => ubuntu-ports has no packages for that
    + architecture, which this host does not need. Run sudo dpkg --remove-architecture i386 (or amd64), or limit the
    + source (Architectures: arm64)
    advice of url: \S+/by-hash/ => The repository is changing right now, or a proxy or a mirror still has its old
    + list. Run sudo apt update again in a few minutes; if that does not help, bypass the proxy (-o
    + Acquire::http::No-Cache=true), and check that the repository's directory is for this Ubuntu release and arm64
    + (sbsa)
    advice of why: 404 => Run sudo apt update first (in an image, in the same RUN), because the lists name a version
    + that is gone. If the file is a Release file, correct the source's address or suite
    advice of why: 403 => The server or a proxy refuses this address. Open the URL on another host, and try later or
    + use another mirror
    advice of why: (?:Temporary failure|Could not resolve) => Check name resolution (resolvectl query HOST) and the
    + proxy (sparkforge_proxies)
    advice of why: . => Check the host's network, the proxy (sparkforge_proxies) and the source's URL
cause = apt could not fetch {url}: {why}.
remedy = {advice}.

[apt-signature-gone]
keys = is no longer signed
pattern = The repository '(?P<repository>[^'\n]+)' is no longer signed
cause = The repository {repository} was signed before, and now serves no signature.
remedy = Run sudo apt update again later, without a proxy in between and with fresh lists (sudo rm -r
    /var/lib/apt/lists/*). If it stays, open its address in a browser, and ask its vendor.
source = MichaIng/DietPi#1710

[apt-configuration-invalid]
keys =
    E: Syntax error /
    E: Invalid record in the preferences file
    E: No priority (or zero) specified
    E: Did not understand pin type
pattern =
    ^E: (?P<why1>Syntax error (?P<file1>/[^:\s]+):\d+: [^\n]+)
    ^E: (?P<why2>Invalid record in the preferences file (?P<file2>[^,\s]+), [^\n]+)
    ^E: (?P<why3>No priority \(or zero\) specified for pin|Did not understand pin type [^\n]*)
cause = apt cannot read its own configuration: {why}.
remedy = Correct it[ in {file}], or move that file away. Files in /etc/apt/apt.conf.d have lines such as NAME "VALUE";,
    and files in /etc/apt/preferences.d have blocks of Package, Pin and Pin-Priority. apt-config dump and apt-cache
    policy show what apt reads.
source = https://manpages.ubuntu.com/manpages/noble/man5/apt_preferences.5.html

[apt-refused]
keys =
    E: Couldn't find any package by
    E: Release '
    is invalid for APT::Default-Release
    E: Conflicting values set for option
    E: There were unauthenticated packages
    E: Some packages could not be authenticated
    E: Packages need to be removed but
    E: Could not perform immediate configuration
    E: Command line option
    E: Invalid operation
    E: Unsupported file
    E: Unable to find a source package
    is missing. - Acquire
    E: Dynamic MMap ran out of room
    E: Problem parsing dependency
    E: Unable to determine a suitable packaging system
    E: The method driver
    E: flAbsPath on /var/lib/dpkg/status
    E: Trivial Only specified
    is gnupg installed
    but neither seems installed
pattern =
    ^E: (?P<why>Couldn't find any package by (?:glob|regex) [^\n]+|Release '[^'\n]+' for '[^'\n]+' was not found|The
    + value '[^'\n]+' is invalid for APT::Default-Release|Conflicting values set for option [^\n]+|There were
    + unauthenticated packages|Some packages could not be authenticated|Packages need to be removed but remove is
    + disabled|Could not perform immediate configuration on[^.\n]+|Command line option [^\n]+|Invalid operation
    + [^\n]+|Unsupported file [^\n]+|Unable to find a source package for \S+|(?:List|Archives) directory \S+ is
    + missing|Dynamic MMap ran out of room|Problem parsing dependency|Unable to determine a suitable packaging
    + system|The method driver \S+ could not be found|flAbsPath on /var/lib/dpkg/status failed|Trivial Only specified)
    (?P<why2>gpgv, gpgv2 or gpgv1 required for verification, but neither seems installed|Could not execute
    + '?apt-key'? to verify signature)
values =
    advice of why: Couldn't|Release|Unable to find => Run sudo apt update, look up the name and the available
    + versions (apt-cache search; apt-cache madison NAME), and enable the source or pocket that has it for arm64
    + (deb-src for sources)
    advice of why: The value => Remove that name from APT::Default-Release (grep -r Default-Release /etc/apt), or
    + enable a source of that release
    advice of why: Conflicting => The same repository is in two files of /etc/apt/sources.list.d with different
    + options: keep one of them
    advice of why: There|Some => Fetch the repository's key, name it in Signed-By and run sudo apt update, instead of
    + allowing unsigned packages
    advice of why: Packages need => Run it without --no-remove, or omit the conflicting package
    advice of why: Could not perf => Run it again with -o APT::Immediate-Configure=false, then run sudo apt
    + --fix-broken install
    advice of why: Command|Invalid|Trivial => Correct the command (apt --help): an option is misspelt, belongs to
    + another tool or release, or begins with a long dash copied from a web page
    advice of why: Unsupported => Give the file's path (./NAME.deb) and check that it exists
    advice of why: (?:List|Archives) => Create it: sudo mkdir -p /var/lib/apt/lists/partial
    + /var/cache/apt/archives/partial
    advice of why: Dynamic => Remove APT::Cache-Limit from /etc/apt/apt.conf.d, or set APT::Cache-Start to 100000000
    advice of why: Problem => Remove the lists (sudo rm -r /var/lib/apt/lists/*) and run sudo apt update
    advice of why: Unable to det|flAbs => /var/lib/dpkg/status is missing: copy back /var/lib/dpkg/status-old or
    + /var/backups/dpkg.status.0
    advice of why: The method => Correct the scheme in the source (http, https and file are part of apt), or install
    + that method's package
    advice of why: gpgv => Install gpgv; if a container has it, the host's Docker is too old for the image: update
    + Docker and libseccomp2
    advice of why: . => Install gnupg and gpgv (in an image, before the key is used)
cause = apt rejected the request: {why}.
remedy = {advice}.
source =
    https://github.com/Debian/apt/blob/main/apt-private/private-install.cc
    tianon/docker-brew-ubuntu-core#207

[apt-hook-failed]
keys = Problem executing scripts
pattern = Problem executing scripts (?P<hook>[\w:-]+) '(?P<command>[^\n]+)'\s*$
values =
    advice of command: .*(?:docker-clean|rm -f /var) => An old Docker rejects the newer libc of the image. Update
    + Docker and runc on the host, or build with --security-opt seccomp=unconfined
    advice of command: .*(?:appstream|app-info) => Run sudo appstreamcli refresh --force, or sudo apt install
    + --reinstall appstream
    advice of command: .*cnf => Set python3 back to Ubuntu's own and run sudo apt install --reinstall
    + command-not-found python3-apt
    advice of command: . => Run that command by hand and correct the error that it reports. The file in
    + /etc/apt/apt.conf.d that contains it names its package
cause = apt did its own work, but a command that another package hooks into it failed ({hook}: {command}).
remedy = {advice}.
source = moby/moby#43595

[dpkg-refused]
keys =
    dpkg: error:
    dpkg: unrecoverable fatal error
    statoverride file
    is missing final newline
    newline in field name
pattern =
    dpkg: error: (?P<why1>need an action option|--[\w-]+ needs [^\n]+|unknown option \S+|(?:cannot|unable to) access
    + the dpkg database directory [^\n]+|cannot remove architecture \S+ currently in use[^\n]*|cannot open security
    + status notification channel[^\n]*|parsing file '[^'\n]+' near line \d+[^\n]*|\d+ expected programs? not found in
    + PATH|(?:unable to open|cannot open) /var/lib/dpkg/[^\n]+)
    (?P<why2>unknown system (?:user|group) '(?P<account>[^'\n]+)' in statoverride file)
    (?P<why3>files list file for package '(?P<package>[^'\n]+)' (?:is missing final newline|contains empty filename))
values =
    advice of why: need|--|unknown option => Correct the command (dpkg --help)
    advice of why: (?:cannot|unable to) access|unable|cannot open /var => /var/lib/dpkg is missing or damaged. Check
    + that the disk is intact and mounted, and restore the directory (/var/backups/dpkg.status.*)
    advice of why: cannot remove => First remove that architecture's packages (for example dpkg -l | grep :i386; sudo
    + apt purge), then the architecture
    advice of why: cannot open sec => Run it with sudo
    advice of why: parsing file '/var/lib/dpkg/updates => Remove all files in /var/lib/dpkg/updates and run sudo dpkg
    + --configure -a
    advice of why: parsing => Correct that line, or copy back /var/lib/dpkg/status-old (or /var/lib/dpkg/available:
    + sudo dpkg --clear-avail)
    advice of why: \d => Set root's PATH (sudo -i, or PATH=/usr/local/sbin:/usr/sbin:/sbin:$PATH)
    advice of why: unknown system => Remove the line with it from /var/lib/dpkg/statoverride (sudo dpkg-statoverride
    + --remove PATH), or create the account again
    advice of why: . => Move that list away from /var/lib/dpkg/info, reinstall the package (sudo apt install
    + --reinstall), and check the disk
cause = dpkg stops: {why}.
remedy = {advice}.
source = https://github.com/guillemj/dpkg/blob/main/lib/dpkg/parse.c

[apt-unmet-modules]
keys = linux-modules-nvidia-
pattern =
    (?P<modules>linux-modules-nvidia-\d+[a-z-]*-(?P<kernel>\d[\w.+-]*)) ?: (?:Pre-?)?Depends: (?P<part>\S+) \(<= (?P
    +<most>[^)\n]*)\) but (?P<have>\S+) is (?:to be )?installed
cause = The driver's prebuilt modules for the kernel {kernel} accept {part} up to {most}, but {have} is to be installed.
    The driver's packages are newer than that kernel's modules.
remedy = Upgrade that kernel and its modules together with the driver (sudo apt update && sudo apt full-upgrade), or, if
    uname -r shows another kernel, remove its modules (sudo apt remove {modules}). If no newer modules are offered, the
    newer driver and the kernel come from different sources (apt-cache policy {part}): install both from one source.

[apt-unmet-architecture]
keys =
    :amd64
    :armhf
    :i386
    :arm64 : Depends
pattern =
    (?:^|dependencies:) *(?P<package>[\w.+-]+):(?P<architecture>amd64|armhf|i386|arm64) ?: (?:Pre-?)?Depends:
    + (?P<need>[^\n]+?) but [^\n]*
values =
    host of architecture: arm64 => amd64
    host of architecture: . => arm64
cause = {package} is a package for {architecture}, but this host is {host}, so apt has no {need} for it.
remedy = Download the package's file for {host}, if the vendor has one, and remove the architecture again if it was
    added (sudo dpkg --remove-architecture {architecture}).
source = Chia-Network/chia-blockchain#13820

[apt-unmet-release]
keys = Depends:
pattern =
    (?P<package>\S+) ?: (?:Pre-?)?Depends: (?P<library>libc6|libstdc\+\+6|libgcc-s1|libssl\d\S*|python3) \(>=
    + (?P<need>(?P<series>\d+\.\d+)\b[^)\n]*)\) but (?P<have>(?!(?P=series)\b)\d\S*) is (?:to be )?installed
cause = {package} needs {library} {need} or newer, but this system has {have}. The package's repository is for a newer
    release of Ubuntu or Debian.
remedy = In /etc/apt/sources.list.d, set the repository for this release (for NVIDIA's CUDA on DGX OS 7,
    ubuntu2404/sbsa; see /etc/os-release), run apt update, and try again.

[apt-unmet-two-sources]
keys =
    Depends:
    nvidia-driver-
pattern =
    (?P<package1>\S*(?:nvidia|cuda-drivers)\S*) ?: (?:Pre-?)?Depends: (?P<part1>\S+) \(= (?P<need1>[^)\n]*ubuntu\d+)
    +\) but (?P<have1>\S*ubuntu0[.~]\S+) is
    (?P<package2>\S*(?:nvidia|cuda-drivers)\S*) ?: (?:Pre-?)?Depends: (?P<part2>\S+) \(= (?P<need2>[^)\n]*ubuntu0[.~
    +][^)\n]*)\) but (?P<have2>\S*ubuntu\d+) is
    (?P<have3>nvidia-driver-(?P<branch3>\d{3})\b[\w-]*)(?:\n[^\n]*){1,30}?\n *(?P<package3>\S*nvidia\S*) ?:
    + Depends: (?P<part3>\S+) \(= (?P<need3>(?!(?P=branch3))\d{3}\.[^)\n]*)\)
    (?P<package4>\S*nvidia\S*) ?: Depends: (?P<part4>\S+) \(= (?P<need4>(?P<of>\d{3})\.[^)\n]*)\)(?:\n[^\n]*)
    +{1,30}?(?P<have4>nvidia-driver-(?P<branch4>(?!(?P=of))\d{3})\b[\w-]*)
values =
    whose of branch: . => from another branch
    whose of need: . => from another source (Ubuntu's versions end in ubuntu0.24.04.1 or similar, those of NVIDIA's
    + repository in ubuntu1)
cause = The driver's parts must all have one version: {package} needs {part} {need}, but {have} is {whose}.
remedy = Install all parts from one source[, in branch {branch}]: apt-cache policy {part} shows the sources; pin or
    remove the other. In NVIDIA's repository, first install nvidia-driver-pinning-VERSION on its own. Remove parts of
    another branch (dpkg -l | grep nvidia), then run sudo apt --fix-broken install. Keep the pins that DGX OS has in
    /etc/apt/preferences.d.

[apt-unmet-half-done]
keys = have unmet dependencies
pattern = (packages have unmet dependencies)
when = log-shows-broken-packages
cause = An earlier installation was left incomplete, and apt does nothing else until it is repaired ({log_apt_broken}).
remedy = Run sudo apt --fix-broken install and check what it would remove. If it fails, remove the package in the way
    (sudo apt remove NAME), then try again.

[apt-unmet]
keys =
    have unmet dependencies
    Depends:
    held broken packages
    you have held
    Unsatisfied dependencies
    Reached two conflicting assignments
    E: Unmet dependencies
    pkgProblemResolver::Resolve generated breaks
pattern =
    (?:^|dependencies:|^[\w.-]+ >) *(?:E: )?(?P<line1>\S+ ?: (?:Pre-?)?Depends: \S+(?: \([^)\n]*\))? but
    + (?P<why1>[^\n]+?))(?:\n(?:(?:\d+\.\d+)? {3}[^\n]*\n){0,6}?(?:\d+\.\d+)? {3,}Depends:
    + (?P<base>(?:libc6|libstdc\+\+6|libgcc-s1) \(>=[^)\n]*\)) but|\n|  |$)
    (?:packages have unmet|Unsatisfied) dependencies:\s+(?!\S+ ?: (?:Pre-?)?Depends: [^\n]* but )(?P<line2>\S+ ?:
    + (?P<why2>[^\n]+?))(?:\n|  |$)
    Reached two conflicting assignments:\n\s*1\. (?P<line3>[^\n]+)
    E: Un(?:met|satisfied) dependencies
    held broken packages(?!(?s:.{0,1500}?)have unmet dependencies:)
    you have held(?!(?s:.{0,1500}?)have unmet dependencies:)
    pkgProblemResolver::Resolve generated breaks
values =
    advice of base: . => It was built for a newer release of Ubuntu or Debian. Use its build for this release (see
    + /etc/os-release), or build it here
    advice of line: .*Depends: (?:libc6|libstdc\+\+6|libgcc-s1|libssl\d\S*|libicu\d+|libffi\d+|libtinfo5|libncurses5
    +|libtinfo6|python3|libpython3\S*)(?: \(>=?[^)]*\))? but => Usually it comes from a repository for another release
    + of Ubuntu or Debian. In /etc/apt/sources.list.d, set the repository for this release (for NVIDIA's CUDA on DGX OS
    + 7, ubuntu2404/sbsa; see /etc/os-release), run apt update, and try again
    advice of line: (?:nvidia-(?:driver|dkms|kernel|utils|open|compute|firmware|headless)|cuda-drivers)\S* ?: .*Depends:
    + \S*nvidia\S*(?: \([^)]*\))? but it is not installable => No enabled source has that part in this version
    + (apt-cache policy PACKAGE shows the sources of both): run apt update, enable the source from which the first
    + package comes with all its parts (restricted and the updates, or NVIDIA's repository for this release), remove
    + pins against it, or install a driver whose parts are there. In an image, leave the driver out, because the
    + container gets the host's
    advice of line: (?:nvidia-(?:driver|dkms|kernel|utils|open|compute|firmware|headless)|linux-modules-nvidia|libnvidia
    +|cuda-drivers|xserver-xorg-video-nvidia)\S* ?: .*Depends: \S*(?:nvidia|cuda-drivers)\S* => All parts of the driver
    + must have one version, but usually two sources offer them, Ubuntu and NVIDIA's repository (apt-cache policy
    + PACKAGE shows the sources of both packages). Install all from one: pin or remove the other (in NVIDIA's
    + repository, first install nvidia-driver-pinning-VERSION on its own), or name the versions (apt install
    + NAME=VERSION …). Remove parts of another branch (dpkg -l | grep nvidia), then run apt --fix-broken install
    advice of line: .*Depends: \S+ \(<=? [^)\n]*\) but \d => The first package needs an older version than this system
    + has, so it was usually built for an older release of Ubuntu or Debian. Set this system's codename (lsb_release
    + -cs) in its source in /etc/apt/sources.list.d, run sudo apt update, and install its build for this release. If the
    + second package does not come from the system's source (apt-cache policy), return to the system's version
    advice of line: xserver-xorg-video-nvidia\S* ?: .*xorg-video-abi => This CUDA's driver is for another release of
    + the system. Install only the toolkit (cuda-toolkit-13-0 instead of cuda), which includes no driver
    advice of why: \d => The two packages come from different repositories or updates: apt-cache policy shows their
    + versions. Install both from one source in one version (pin or remove the other repository, or name the versions:
    + apt install NAME=VERSION …), then run apt --fix-broken install
    advice of why: it is not installable => No enabled source has it for this architecture and release. Usually the
    + package or its repository is for another release of Ubuntu or Debian (/etc/os-release). Use the build for this
    + release, enable the repository that has it, or omit the package that needs it
    advice of why: it(?:'s| is) not going to be => Request it too (apt install NAME): apt then says what prevents it,
    + usually a hold (apt-mark showhold), a pin or a conflict
    advice of why: (?:Conflicts|Breaks) => Remove the other package first, or install only one of the two
    advice of why: (?:) => This output lacks apt's list of reasons: run sudo apt-get install -s with the same names on
    + that host, which prints it. Usually a package is on hold (apt-mark showhold), pinned (apt-cache policy NAME), or
    + belongs to another version or branch than the installed one (dpkg -l), which must be removed first
uncertain = yes
cause = apt cannot install the requested packages: they have unmet dependencies[ ({line})][, among them {base}].
remedy = {advice}. Keep the pins that DGX OS has in /etc/apt/preferences.d.
source = osrf/rocker#298

[dnf-unmet]
keys =
    but none of the providers can be installed
    nothing provides
unless = py(?:\d{2,3}_?)?h[0-9a-f]|py\d{2,3}_\d|__\w
pattern =
    nothing provides (?P<need1>\S[^\n]*?) needed by (?P<package1>[^\s,]+)(?: from (?P<source1>\S+))?
    package (?P<package2>\S+)(?: from (?P<source2>\S+))? requires (?P<need2>[^\n]+?), but none of the providers can be
    + installed
values =
    advice of need: (?:.*nvidia|a?kmod-|cuda-drivers) => Keep only one source of NVIDIA's driver (RPM Fusion, NVIDIA's
    + repository or another) for this release of the system, and disable the others
    advice of need: .*(?:gcc|libstdc|glibc|libc\.so) => Use the repository for this release of the system
    advice of need: . => Enable the repository that has it (updates, EPEL, CRB), or wait until the source has all its
    + packages
cause = dnf cannot install {package}[ from {source}]: no enabled repository has a fitting {need}, which it needs.
remedy = {advice}. dnf repolist shows the enabled repositories, and dnf --refresh repoquery --whatprovides 'NAME' shows
    which has it.

[rpm-same-file]
keys =
    conflicts between attempted installs of
    conflicts with file from package
pattern = file (?P<file>/\S+) (?:from install of (?P<first1>\S+) )?conflicts (?:between attempted installs of
    + (?P<first2>\S+) and|with file from package) (?P<second>\S+)
cause = Two packages contain {file}: {first} and {second}.
remedy = Enable only the repository for this release (cat /etc/os-release says which), and one source of NVIDIA's
    packages. Remove the other source's package (sudo dnf remove), run dnf clean all, and install again.
source = NVIDIA/yum-packaging-fabric-manager#4

[dpkg-configuration-question]
keys = end of file on stdin at conffile prompt
pattern =
    error processing package (?P<package>\S+) [^\n]*\n[^\n]*end of file on stdin at conffile prompt
    end of file on stdin at conffile prompt
cause = dpkg asked whether to keep a changed configuration file[ of {package}], but nobody could answer.
remedy = Finish it with sudo apt-get -o Dpkg::Options::=--force-confold -f install, which keeps your file (confnew
    installs the package's). Set the same option for unattended runs.

[package-asks]
keys = Please select the geographic area
pattern = Please select the (geographic area) in which you live
cause = The installation (of tzdata, for example) asks for the {found}, and nobody can answer in an image build.
remedy = Set DEBIAN_FRONTEND=noninteractive and TZ=Etc/UTC for that step (RUN DEBIAN_FRONTEND=noninteractive apt-get
    install -y …).

[apt-python-module]
keys = No module named '
pattern =
    No module named '(apt_pkg|aptsources|Quirks|CommandNotFound|softwareproperties|UpdateManager|DistUpgrade|lsb_release
    +|distro_info)\b
cause = python3 is no longer Ubuntu's own Python, so Ubuntu's tools cannot import {found}: update-alternatives or a link
    set another Python.
remedy = Set /usr/bin/python3 back to Ubuntu's own (3.12 on 24.04: sudo ln -sf python3.12 /usr/bin/python3), run sudo
    apt install --reinstall python3-apt, and call the other Python by name or in an environment.

[grub-device-missing]
keys = /var/lib/grub/esp
pattern = mount: /var/lib/grub/esp: special device (\S+) does not exist
cause = The boot loader's package is configured to write to {found}, a disk that no longer exists.
remedy = Run sudo dpkg-reconfigure grub-efi-arm64, choose the partition that is mounted at /boot/efi, then run sudo dpkg
    --configure -a.

[apt-would-remove]
keys = remove packages while --no-remove
pattern =
    will be REMOVED:\s*\n(?P<packages> [^\n]+)(?s:.{0,400}?)remove packages while --no-remove
    remove packages while --no-remove
cause = The command would remove packages[:{packages}], which --no-remove forbids.
remedy = Check which of them DGX OS needs before you allow it. sparkforge forecast shows what such a change breaks.

[apt-not-root]
keys =
    are you root?
    Could not open lock file
    requires superuser privilege
pattern =
    are you root\?
    Could not open lock file \S+ - open \(13: Permission denied\)
    requested operation requires superuser privilege
cause = apt was not run as root.
remedy = Run it with sudo (become: true in Ansible).

[initramfs-failed]
keys =
    failed for /boot/
    update-initramfs: failed for
    mkinitramfs failure
    does not have sufficient space, required
pattern =
    update-initramfs: failed for (?P<file1>\S+)
    mkinitramfs failure \w+
    (?<!\S)(?P<file2>/boot\S*) does not have sufficient space, required (?P<need>[\d.]+ \wB), got (?P<free>[\d.]+ \wB)
cause = A kernel's boot file[ ({file})] could not be written[: {need} are needed, but {free} are free], so its package
    or update is incomplete.
remedy = Read the lines above. Usually /boot or /tmp is full (df -h /boot /tmp): remove old kernels (apt autoremove
    --purge), never the running one, and run sudo dpkg --configure -a before you reboot.

[release-upgrade-first]
keys = Please install all available updates for your release
pattern = (Please install all available updates for your release) before upgrading
cause = do-release-upgrade does not start, because updates of this release are outstanding or held.
remedy = Run sudo apt update && sudo apt full-upgrade, check apt-mark showhold, and reboot. Upgrade DGX OS only with its
    vendor's tools.

[dpkg-script-state]
keys =
    dpkg: error processing
    conflicting packages - not installing
    prevent removal of
pattern =
    processing (?:package|archive) (?P<package1>\S+) [^\n]*\n (?P<why1>package is in a very bad inconsistent
    + state|package \S+ is not ready for configuration)
    (?P<why2>conflicting packages) - not installing (?P<package2>\S+)
    dependency (?P<why3>problems prevent removal) of (?P<package3>[^:\s]+)
values =
    advice of why: package => Install it again (sudo apt install --reinstall, or apt --fix-broken install). If its own
    + script then fails, move its /var/lib/dpkg/info/NAME.prerm or .postinst away, run sudo dpkg --remove
    + --force-remove-reinstreq NAME, and install it
    advice of why: conf => First remove the other package in that line, or let apt do both (sudo apt install ./FILE.deb)
    advice of why: . => Use sudo apt remove instead of dpkg -r: it also removes the packages that depend on this one
cause = dpkg cannot continue with {package}: {why}.
remedy = {advice}.
source = https://github.com/guillemj/dpkg/blob/main/src/main/remove.c

[apt-helper-died]
keys =
    received signal
    received a segmentation fault
    has died unexpectedly
    exited unexpectedly
pattern =
    E: Sub-process (?P<program1>\S+) (?P<why1>received (?:signal \d+|a segmentation fault)|exited unexpectedly)
    E: Method (?P<program2>\S+) (?P<why2>has died unexpectedly)
uncertain = yes
cause = apt's helper program {program} crashed ({why}). Perhaps the memory or the disk is full, a library in
    LD_LIBRARY_PATH or /usr/local is used instead of the system's, or one of apt's packages is damaged.
remedy = Check df -h, free -h and the kernel's log (segfault, Out of memory). Unset LD_LIBRARY_PATH and LD_PRELOAD,
    remove /var/lib/apt/lists/* and try again. If that does not help, reinstall apt, dpkg and their libraries
    (--reinstall).
source = https://github.com/Debian/apt/blob/main/apt-pkg/acquire-worker.cc

[alternatives-refused]
keys = update-alternatives: error:
pattern =
    update-alternatives: error: (?P<why>no alternatives for (?P<name>\S+)|alternative path (?P<path>\S+) doesn't
    + exist|alternative \S+ can't be slave of \S+[^\n]*|alternative \S+ is already managed by [^\n]+|unable to [^\n]+)
values =
    advice of why: no => Register a program first (sudo update-alternatives --install /usr/bin/NAME NAME
    + /usr/bin/NAME-13 10), or install the package that does
    advice of why: alternative path => Install the package that contains it, or use the actual path (ls /usr/bin/NAME-*)
    advice of why: alternative => Remove it from the other group first (sudo update-alternatives --remove-all NAME),
    + and register both in one command with --slave
    advice of why: . => Run it with sudo, on a writable file system
cause = update-alternatives fails: {why}.
remedy = {advice}.
source = https://github.com/guillemj/dpkg/blob/main/utils/update-alternatives.c

[initrd-not-loaded]
keys =
    Failed to load initrd
    error: out of memory.
pattern =
    EFI stub: ERROR: (?P<why1>Failed to load initrd: \w+)
    ^(?P<why2>error: out of memory)\.\n(?:[^\n]*\n)?[^\n]*Press any key
cause = The boot loader could not load the initial RAM disk ({why}) because it is missing, incomplete or too large.
remedy = Boot an older kernel from the menu, make room in /boot (df -h /boot; sudo apt autoremove) and write the RAM
    disk again (sudo update-initramfs -u -k all). If it is too large, first set MODULES=dep and COMPRESS=zstd in
    /etc/initramfs-tools/initramfs.conf.
source = https://help.ubuntu.com/community/Grub2/Troubleshooting

[boot-loader-refused]
keys =
    grub-install: error:
    grub-probe: error:
    /etc/default/grub:
pattern =
    grub-(?:install|probe): error: (?P<why1>cannot find EFI directory|failed to get canonical path of
    + '[^'\n]+'|\S+/modinfo\.sh doesn't exist|cannot find a device for [^\n]+|will not proceed with
    + blocklists|[^\n]{3,100}doesn't look like an EFI partition)
    (?P<why2>/etc/default/grub: (?:Syntax error[^\n]*|[^\n:]+: not found))
values =
    advice of why: cannot find EFI|.*look => Mount the EFI partition (sudo mount /boot/efi; it is formatted as FAT and
    + listed in /etc/fstab), then try again
    advice of why: failed|cannot => It runs in a live system, container or chroot without /dev, /proc, /sys and
    + /boot/efi: mount these there first (mount --rbind)
    advice of why: \S+modinfo => Install the boot loader for this firmware (grub-efi-arm64-bin; for x86_64
    + grub-efi-amd64-bin), or select the firmware with --target
    advice of why: /etc => Correct that line of /etc/default/grub (NAME="value", with paired quotes), then run sudo
    + update-grub
    advice of why: . => Install to a disk that has an EFI partition, not to a partition
cause = The boot loader could not be set up: {why}.
remedy = {advice}.
source = https://help.ubuntu.com/community/Grub2/Troubleshooting

[gpg-failed]
keys =
    gpg: keyserver receive failed
    gpg: can't open '
    gpg: cannot open '/dev/tty'
    gpg: failed to create temporary file
    gpg: can't connect to the agent
    gpg: signing failed
pattern =
    gpg: (?P<why>keyserver receive failed: [^\n]+|can't open '(?P<file>[^'\n]+)'[^\n]*|cannot open
    + '/dev/tty'[^\n]*|failed to create temporary file [^\n]+|can't connect to the agent[^\n]*|signing failed: [^\n]+)
values =
    advice of why: keyserver => Download the key as a file over https from the vendor, not from a key server (whose
    + port 11371 is often blocked)
    advice of why: can't open => Download or create that file first (its directory with sudo mkdir -p
    + /etc/apt/keyrings), and run gpg as an account with write access to it
    advice of why: cannot open => Add --batch --yes (and --no-tty) because gpg wants to ask a question, such as
    + whether to overwrite the file, but has no terminal
    advice of why: failed => Create its directory (mkdir -m 700 ~/.gnupg), check its owner, and check df -h
    advice of why: . => Set GPG_TTY=$(tty), and restart the agent (gpgconf --kill gpg-agent)
cause = gpg failed: {why}.
remedy = {advice}.
source = https://www.gnupg.org/documentation/manuals/gnupg/Agent-Options.html

[apt-not-available]
keys = is not available, but is referred to
pattern = Package (?P<name>\S+) is not available, but is referred to by another package
uncertain = yes
cause = None of apt's sources has the package {name}, although another package needs or replaces it.
remedy = Check that the source of {name} is enabled for this release and arm64 and was read without an error (sudo apt
    update; apt-cache policy {name}). In a script, check that the variable with its version is not empty (export it
    before sudo).
source = NVIDIA/nvidia-container-toolkit#1142
"""
