# __init__.py in this directory explains the fields.

"""Kubernetes

Messages from kubeadm, kubelet, kubectl, helm and NVIDIA's operator and device plugin, on a node and about a pod.
"""

RULES = r"""
[cdi-device-empty]
keys = empty device edits
pattern = invalid device, (empty device edits)
cause = nvidia-ctk could not make the CDI specification: it found nothing to give a container for a device ({found}), so
    that containers, and a cluster's device plugin, get no GPU.
remedy = Set the toolkit's mode to legacy (sudo nvidia-ctk config --in-place --set nvidia-container-runtime.mode=legacy)
    and restart docker or containerd, until a newer toolkit makes it; then create the containers or pods anew.
source =
    NVIDIA/nvidia-container-toolkit#1517
    kaito-project/kaito#2326

[k8s-plugin-no-driver]
keys =
    Failed to initialize NVML
    failed to initialize NVML
    Incompatible platform detected
    Incompatible strategy detected
pattern =
    [Ff]ailed to initialize NVML: (?P<why1>could not load NVML library|ERROR_LIBRARY_NOT_FOUND)[^\n]*\n[^\n]*If this
    + is a GPU node
    unable to create (?:cdi handler|resource manager): failed to initialize NVML: (?P<why2>[\w ]+)
    (?P<why3>Incompatible (?:platform|strategy) detected)
cause = NVIDIA's device plugin sees no driver in its container ({why}): containerd started it without NVIDIA's runtime.
remedy = Give the plugin's pods the runtime class nvidia (helm: --set runtimeClassName=nvidia), or make that runtime the
    default of the node (sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default, then restart
    containerd; k3s finds the toolkit when it is restarted); nvidia-smi must work on the node first.
source = k3s-io/k3s#4391

[k8s-plugin-lost-driver]
keys = error calling nvml.Init
pattern = error calling nvml\.Init(?:: (?P<why>[\w ]+))?
cause = NVIDIA's device plugin could no longer start NVML in its own container[ ({why})], so that the kubelet refused
    the pod: the driver was changed or failed after the plugin had started, or the plugin lost the GPU's devices.
remedy = See that nvidia-smi works on the node (if not, journalctl -k, and reboot), then delete the plugin's pod there,
    so that it starts again; with Unknown Error keep that from coming back with CDI (deviceListStrategy=cdi-cri).
source = NVIDIA/k8s-device-plugin#1397

[k8s-plugin-watcher]
keys = FS watcher
pattern = [Ff]ailed to created? FS watcher(?:\.|: (?P<why>[\w ]+))
values =
    advice of why: too many => Let the node have more of them (sudo sysctl fs.inotify.max_user_instances=8192
    + fs.inotify.max_user_watches=524288, and the same in a file below /etc/sysctl.d)
    advice of why: no such => Give the plugin the directory device-plugins of the node's own kubelet (k3s and others
    + keep
    + it elsewhere than in /var/lib/kubelet: see kubelet's --root-dir), in the daemon set's hostPath
    advice of why: (?:)|. => See that the daemon set mounts the kubelet's own directory device-plugins (hostPath), and
    + that
    + the node has inotify instances left (sysctl fs.inotify.max_user_instances)
cause = NVIDIA's device plugin cannot watch the kubelet's directory for plugins[: {why}].
remedy = {advice}.
source =
    NVIDIA/gpu-operator#441
    NVIDIA/k8s-device-plugin#65

[k8s-no-runtime]
keys =
    no runtime for "
    RuntimeHandler "
pattern =
    no runtime for '([\w-]+)' is configured
    RuntimeHandler '([\w-]+)' not supported
cause = The container runtime of this node (containerd, or Docker through cri-dockerd) has no runtime class {found}.
remedy = Install nvidia-container-toolkit on the node, run sudo nvidia-ctk runtime configure --runtime=containerd and
    restart containerd; k3s finds the runtime when it is restarted after that (grep {found}
    /var/lib/rancher/k3s/agent/etc/containerd/config.toml); where the GPU operator brings the toolkit, its toolkit
    daemon set must run first.
source = NVIDIA/gpu-operator#413

[k8s-operator-waits-for-driver]
keys = /run/nvidia/validations/
pattern = cannot statx? '/run/nvidia/validations/([\w.-]*driver[\w.-]*)': No such file or directory
cause = NVIDIA's GPU operator waits for its own driver container ({found}), which is not ready.
remedy = Where the host brings the driver, as DGX OS does, install the operator with --set driver.enabled=false (and
    toolkit.enabled=false where the host has the container toolkit); else read the log of the driver daemon set.
source = NVIDIA/gpu-operator#531

[k8s-driver-absent]
keys = failed to run command
pattern = chroot: failed to run command '(nvidia-smi)': No such file
cause = The GPU operator's validator looked for the driver below the directory of its own driver container and found
    no {found} there: neither that container nor the host has installed one yet.
remedy = Where the host has the driver (nvidia-smi works on it), install the operator with --set driver.enabled=false;
    else read the log of the driver daemon set, whose container must install it first.
source = NVIDIA/gpu-operator#487

[k8s-device-links]
keys = error creating symlink creator
pattern = error creating symlink creator: (?P<why>[^\n\\]{1,200})
cause = The GPU operator's validator could not make its links below /dev/char: {why}.
remedy = Set DISABLE_DEV_CHAR_SYMLINK_CREATION=true for it (in the ClusterPolicy, validator: driver: env:), where the
    host brings driver and toolkit and nvidia-smi works on it.
source = NVIDIA/gpu-operator#1015

[k8s-driver-container]
keys =
    Could not unload NVIDIA driver kernel modules
    Could not resolve Linux kernel version
pattern =
    (Could not unload NVIDIA driver kernel modules, driver is in use)
    (Could not resolve Linux kernel version)
cause = The GPU operator's driver container cannot put its own driver on this host ({found}): the host has one that is
    in use, or there are no headers for its kernel.
remedy = On a host with a driver of its own, as DGX OS has, install the operator with --set driver.enabled=false.
source = NVIDIA/gpu-operator#163

[k8s-unschedulable]
keys = nodes are available:
pattern =
    (?P<nodes>\d+/\d+) nodes are available: (?P<why>[^\n]*?nvidia\.com/gpu[^\n.]*)
    (?P<nodes2>\d+/\d+) nodes are available: (?P<why2>(?:[^\n.]|\.(?! |$))+)
values =
    advice of why: .*Insufficient \S*/gpu => See what the node offers (kubectl describe node | grep nvidia.com/gpu):
    + where it is 0, read the device plugin's log; where it is 1, as on a Spark, end the pod that holds it, or set
    + time-slicing in the plugin's configuration
    advice of why: .*unbound immediate PersistentVolumeClaim => See why the claim is not bound (kubectl describe pvc):
    + it needs a storage class that exists (kubectl get storageclass) or a volume
    advice of why: .*/disk-pressure => Free the node's disk (df -h, crictl rmi --prune)
    advice of why: .*/memory-pressure => Free the node's memory, which on a GB10 is the GPU's, too
    advice of why: .*/(?:not-ready|unreachable|network-unavailable) => Mend the node first (kubectl describe node)
    advice of why: .*/(?:control-plane|master) => Where that is the only node, let pods run on it: kubectl taint nodes
    + --all node-role.kubernetes.io/control-plane-
    advice of why: .*Insufficient (?:memory|cpu) => Lower the pod's requests (resources.requests), or end other pods
    advice of why: .*(?:affinity|selector) => Give the node the label that the pod asks for (kubectl get nodes
    + --show-labels, kubectl label node NODE KEY=VALUE), or correct nodeSelector; that of the GPU's features comes from
    + gpu-feature-discovery
    advice of why: . => Compare the pod (kubectl describe pod) with the node (kubectl describe node)
cause = Kubernetes has no node for the pod ({nodes} fit): {why}.
remedy = {advice}.

[k8s-flannel]
keys = /run/flannel/subnet.env
pattern = open (/run/flannel/subnet\.env): no such file
cause = flannel, the network of the pods, has not started on this node, and so did not write {found}.
remedy = Read its log (kubectl -n kube-flannel logs -l app=flannel): the cluster needs --pod-network-cidr=10.244.0.0/16
    at kubeadm init, the node the module br_netfilter (sudo modprobe br_netfilter); where another network is used,
    remove flannel's file from /etc/cni/net.d.
source = kubernetes/kubernetes#36575

[k8s-no-pod-network]
keys =
    NetworkPluginNotReady
    cni config uninitialized
pattern =
    (NetworkPluginNotReady)
    (cni config uninitialized)
cause = The node is not ready, because no network for pods is installed ({found}), or its pod does not run.
remedy = Install one (flannel, Calico, Cilium: kubectl apply of its manifest), and see that its pods run (kubectl get
    pods -A) and that /etc/cni/net.d has its file.
source = kubernetes/kubernetes#36575

[k8s-cri-disabled]
keys = unknown service runtime.v1
pattern = unknown service (runtime\.v1\w*\.RuntimeService)
cause = containerd answers, and does not offer what kubelet asks ({found}): the package of Docker switches that part off
    (disabled_plugins lists cri), or this containerd is older than the Kubernetes.
remedy = Take cri out of disabled_plugins in /etc/containerd/config.toml (or write it anew: containerd config default |
    sudo tee /etc/containerd/config.toml), and run sudo systemctl restart containerd; else update containerd.
source = containerd/containerd#4581

[kubeadm-preflight]
keys =
    Some fatal errors occurred:
    running with swap on is not supported
pattern =
    Some fatal errors occurred:\s*\[ERROR (?P<check>[\w.-]+)[^\]\n]*\]: (?P<why>[^\n]+)
    (?P<why2>running with swap on is not supported)
values =
    advice of why: .*swap => Switch swap off (sudo swapoff -a, and comment it out in /etc/fstab), or set failSwapOn:
    + false in kubelet's configuration
    advice of why: .*ip_forward => sudo sysctl -w net.ipv4.ip_forward=1, and keep it in /etc/sysctl.d
    advice of why: .*bridge-nf => sudo modprobe br_netfilter (and name it in /etc/modules-load.d)
    advice of why: .*(?:in use|already exists|not empty) => An earlier cluster is still here: sudo kubeadm reset -f
    + first
    advice of why: .*container runtime is not running => Start containerd (systemctl status containerd), and see that
    + its configuration does not disable cri
    advice of why: . => Mend that, then run kubeadm again
cause = kubeadm or kubelet does not start on this host: {why}.
remedy = {advice}.
source = containerd/containerd#8032

[k8s-cgroup-of-container]
keys =
    cgroup (v2)
    cannot enter cgroupv2
    [kubepods] doesn't exist
    some missing controllers
pattern =
    ailed to find (\w+ cgroup) \(v2\)
    (cannot enter cgroupv2) '/sys/fs/cgroup
    root container \[(kubepods)\] doesn't exist
    cgroup \[\\?'?(kubepods)\\?'?\] has some missing controllers
cause = Kubernetes in a container (k3s, kind, OpenShell's gateway) does not get its own control groups ({found}) on a
    host with version 2 alone, as DGX OS is.
remedy = Start that container with the host's groups (docker run --cgroupns=host --privileged; in
    /etc/docker/daemon.json "default-cgroupns-mode": "host", then restart Docker), or take a newer release of what
    starts it; outside of a container systemd must manage them (Delegate=yes).
source = NVIDIA/OpenShell#374

[k8s-memory-cgroup]
keys =
    Failed to find memory cgroup
    failed to find memory cgroup
pattern = ailed to find (memory cgroup)(?! \(v2)
cause = The kernel was started without the control group for memory ({found}), which Kubernetes needs.
remedy = Add cgroup_enable=memory cgroup_memory=1 to the kernel's command line (on a Jetson APPEND in
    /boot/extlinux/extlinux.conf), and reboot.

[kubectl-no-server]
keys = was refused - did you specify the right host or port
pattern = The connection to the server (\S+) was refused - did you specify
values =
    what of found: (?:localhost|127\.0\.0\.1):8080 => knows no cluster, and so asks this host
    what of found: . => gets no answer of the cluster's API
    advice of found: (?:localhost|127\.0\.0\.1):8080 => Give it the cluster's configuration: export
    + KUBECONFIG=/etc/rancher/k3s/k3s.yaml for k3s, or copy /etc/kubernetes/admin.conf to ~/.kube/config and make it
    + your own; sudo drops both
    advice of found: . => On that host see whether it runs (systemctl status k3s or kubelet; sudo crictl ps -a), and
    + read its journal: swap that is on again, a full disk or an expired certificate stop it
cause = kubectl {what} ({found}).
remedy = {advice}.
source = k3s-io/k3s#5558

[kubectl-config-closed]
keys = rror loading config file "
pattern = [Ee]rror loading config file '(?P<file>[^'\n]+)': open \S+: permission denied
cause = kubectl may not read the cluster's configuration {file}.
remedy = Copy it for this account (mkdir -p ~/.kube; sudo cp {file} ~/.kube/config; sudo chown $USER ~/.kube/config) and
    set KUBECONFIG=~/.kube/config, or start k3s with --write-kubeconfig-mode 644.
source = k3s-io/k3s#389

[kubectl-certificate]
keys = Unable to connect to the server
pattern = Unable to connect to the server: (?:tls: failed to verify certificate: )?x509: (?P<why>certificate [\w ]+)
values =
    advice of why: .*expired => Check the clock, and have the certificates renewed (sudo kubeadm certs renew all; of k3s
    + a restart of the service), then copy the new configuration
    advice of why: .*unknown authority => Take the present configuration: /etc/kubernetes/admin.conf or
    + /etc/rancher/k3s/k3s.yaml of that server, instead of one of an earlier cluster in ~/.kube/config
    advice of why: . => Use a name or address that the certificate has (--tls-san of k3s, certSANs of kubeadm)
cause = kubectl does not accept the cluster's certificate: {why}.
remedy = {advice}.

[k8s-not-permitted]
keys = Error from server (Forbidden)
pattern = Error from server \(Forbidden\): (?:error when \w+ [^\n:]*: )?(?P<what>[^\n]{1,160})
cause = The cluster does not let this account do it: {what}.
remedy = Use an account with that right (kubectl auth can-i shows it; the administrator's configuration has all), or ask
    for a RoleBinding.

[microk8s-no-addon]
keys = was not found in any repository
pattern = Addon (?P<addon>\S+) was not found in any repository
values =
    advice of addon: (?:gpu|nvidia)$ => That addon is for amd64 only: install NVIDIA's GPU Operator with helm
    + (driver.enabled=false, since the host has the driver), with the paths of MicroK8s' containerd in toolkit.env
    advice of addon: . => List what there is for this processor (microk8s status), and add the repository that has it
    + (sudo microk8s enable community, microk8s addons repo update)
cause = MicroK8s has no addon {addon} for this processor in its repositories.
remedy = {advice}.
source = defilantech/LLMKube#718

[helm-kind-unknown]
keys = no matches for kind
pattern = no matches for kind '(?P<kind>\w+)' in version '(?P<version>[^'\n]+)'
cause = The cluster does not know the kind {kind} of {version}: its definition (CRD) is not installed, or the manifest
    is for another Kubernetes.
remedy = Install what brings the definition first (the chart's crds; the operator before its own objects), or change
    apiVersion to one that kubectl api-resources lists.

[helm-name-taken]
keys = cannot re-use a name that is still in use
pattern = (cannot re-use a name that is still in use)
cause = helm has a release of that name already ({found}), perhaps one that failed.
remedy = Use helm upgrade --install, or remove the old one first (helm list -A; helm uninstall NAME -n NAMESPACE).

[pod-object-missing]
keys =
    MountVolume.SetUp failed for volume
    Error: secret "
    Error: configmap "
pattern =
    MountVolume\.SetUp failed for volume '[^'\n]+' : (?P<kind1>secret|configmap) '(?P<name1>[^'\n]+)' not found
    Error: (?P<kind2>secret|configmap) '(?P<name2>[^'\n]+)' not found
cause = The pod needs the {kind} {name}, which is not in its namespace.
remedy = Create it there (kubectl create {kind} … {name} -n NAMESPACE), or correct its name in the pod.

[pod-evicted]
keys = The node was low on resource
pattern = The node was low on resource: (?P<resource>[\w-]+)(?:[^\n]*?available: (?P<free>\w+))?
values =
    advice of resource: memory => On a GB10 the GPU's memory counts in it: lower the engine's share, or the number of
    + pods
    advice of resource: . => Free the disk below /var/lib (crictl rmi --prune, old logs), or move the images and the
    + cache of models to a larger one
cause = kubelet ended the pod, because the node ran short of {resource}[ ({free} left)].
remedy = {advice}; give the pod a request for what it needs.

[pod-out-of-memory]
keys =
    Reason:       OOMKilled
    reason: OOMKilled
    "OOMKilled"
    OOMKilled
pattern =
    [Rr]eason'?: *'?(OOMKilled)
    ^\S+ +\d+/\d+ +(OOMKilled)\b
cause = The pod's program was killed because it took more memory than its limit ({found}).
remedy = Raise resources.limits.memory of the pod, or let the program take less; on a GB10 what the GPU allocates is the
    host's memory, too.
"""
