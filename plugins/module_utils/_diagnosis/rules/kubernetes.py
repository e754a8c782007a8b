# __init__.py in this directory explains the fields.

"""Kubernetes

Messages from kubeadm, kubelet, kubectl, helm and NVIDIA's operator and device plugin, on a node and about a pod.
"""

RULES = r"""
[cdi-device-empty]
keys = empty device edits
pattern = invalid device, (empty device edits)
cause = nvidia-ctk could not generate the CDI specification: it found nothing to add to a container for a device
    ({found}), so containers and a cluster's device plugin get no GPU.
remedy = Set the toolkit's mode to legacy (sudo nvidia-ctk config --in-place --set nvidia-container-runtime.mode=legacy)
    and restart docker or containerd, until a newer toolkit can generate it. Then recreate the containers or pods.
source =
    NVIDIA/nvidia-container-toolkit#1517
    kaito-project/kaito#2326

[k8s-plugin-no-driver]
keys =
    Failed to initialize NVML
    failed to initialize NVML
    Incompatible platform detected
    Incompatible strategy detected
    nvml init failed
pattern =
    [Ff]ailed to initialize NVML: (?P<why1>could not load NVML library|ERROR_LIBRARY_NOT_FOUND)[^\n]*\n[^\n]*If this
    + is a GPU node
    unable to create (?:cdi handler|resource manager): failed to initialize NVML: (?P<why2>[\w ]+)
    (?P<why3>Incompatible (?:platform|strategy) detected)
    unable to create plugin manager: nvml init failed: (?P<why4>\w+)
cause = NVIDIA's device plugin sees no driver in its container ({why}): containerd started it without NVIDIA's runtime.
remedy = Set the runtime class nvidia for the plugin's pods (helm: --set runtimeClassName=nvidia), or make that runtime
    the node's default (sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default, then restart
    containerd; k3s detects the toolkit when it restarts). nvidia-smi must work on the node first.
source = k3s-io/k3s#4391

[k8s-plugin-lost-driver]
keys = error calling nvml.Init
pattern = error calling nvml\.Init(?:: (?P<why>[\w ]+))?
cause = NVIDIA's device plugin could no longer start NVML in its own container[ ({why})], so the kubelet rejected the
    pod: the driver changed or failed after the plugin started, or the plugin lost the GPU's devices.
remedy = Check that nvidia-smi works on the node (if not, read journalctl -k, and reboot), then delete the plugin's pod
    there, so that it starts again. If the message is Unknown Error, CDI prevents it (deviceListStrategy=cdi-cri).
source = NVIDIA/k8s-device-plugin#1397

[k8s-node-lost]
keys =
    Kubelet stopped posting node status
    NodeStatusUnknown
pattern = (?P<found>Kubelet stopped posting node status|NodeStatusUnknown)
uncertain = yes
cause = The node no longer reports to Kubernetes ({found}): its kubelet has ended or cannot reach the server, or the
    host hangs.
remedy = On that host, run systemctl status k3s-agent kubelet and journalctl -u k3s-agent -u kubelet -n 100, check free
    -h and df -h (a model can take all memory of a Spark), and restart the service; if ssh does not answer either,
    restart the host.
source = kubernetes-sigs/dra-driver-nvidia-gpu#501

[k3s-template-invalid]
keys = compiled_template
pattern = template: compiled_template:\d+:\d+: executing '?compiled_template'? at (?P<field><[^>\n]+>):
    + (?P<why>[^\n]{3,160})
cause = k3s cannot write containerd's configuration, because its template does not fit this release at {field}: {why}.
remedy = If there is a config.toml.tmpl or config-v3.toml.tmpl of your own in /var/lib/rancher/k3s/agent/etc/containerd,
    rename it (k3s finds NVIDIA's runtime by itself) or write it anew for this release; otherwise install a newer k3s,
    because some releases had this fault. Then restart k3s.
source = k3s-io/k3s#8754

[k3s-server-not-reached]
keys =
    failed to get CA certs
    CA cert validation failed
    server is not ready: Get
pattern =
    server is not ready: Get "?https://(?P<address2>[\w.:-]+)/\S+: (?P<why2>[^\n]{3,160})
    (?:failed to get CA certs|CA cert validation failed): Get "?https://(?P<address>[\w.:-]+)/cacerts"?:
    + (?P<why>[^\n]{3,160})
values =
    advice of why: .*IP SANs|.*certificate => Something between them ends TLS with its own certificate. Let the load
    + balancer forward TCP only, and name its address to the server (--tls-san)
    advice of why: . => On this host, run curl -vk https://SERVER:6443/cacerts with the server from K3S_URL: 127.0.0.1
    + is only the agent's own load balancer, which forwards to it. Open TCP 6443 there and UDP 8472 between the hosts,
    + put 127.0.0.1 and the server's address into NO_PROXY, and use one MTU on the path
cause = The k3s agent could not get the server's certificate through {address}: {why}.
remedy = {advice}.
source =
    k3s-io/k3s-ansible#301
    k3s-io/k3s#4848

[k8s-plugin-watcher]
keys = FS watcher
pattern = [Ff]ailed to created? FS watcher(?:\.|: (?P<why>[\w ]+))
values =
    advice of why: too many => Raise the node's limit (sudo sysctl fs.inotify.max_user_instances=8192
    + fs.inotify.max_user_watches=524288, and the same in a file below /etc/sysctl.d)
    advice of why: no such => In the daemon set's hostPath, set the directory device-plugins of the node's kubelet
    + (k3s and others do not keep it in /var/lib/kubelet: see kubelet's --root-dir)
    advice of why: (?:)|. => Check that the daemon set mounts the kubelet's directory device-plugins (hostPath), and
    + that the node has inotify instances left (sysctl fs.inotify.max_user_instances)
cause = NVIDIA's device plugin cannot watch the kubelet's plugin directory[: {why}].
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
    restart containerd. k3s detects the runtime when you restart it after that (grep {found}
    /var/lib/rancher/k3s/agent/etc/containerd/config.toml). If the GPU operator installs the toolkit, its toolkit daemon
    set must run first.
source = NVIDIA/gpu-operator#413

[kubectl-request-timeout]
keys =
    Error from server (Timeout)
    failed calling webhook
pattern =
    Error from server \(Timeout\)[^\n]*(request did not complete within requested timeout)
    failed calling webhook '(?P<hook>[^'\n]+)'[^\n]*(?P<why>context deadline exceeded|connection refused|no endpoints
    + available|timeout|x509[^\n]{0,80})
cause = The Kubernetes API did not finish the request in time, because a webhook[ ({hook})] did not answer it: {found}.
remedy = Check that the webhook's pod runs (kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations;
    kubectl get pods -A), that the control plane reaches the pods' network (the firewall; on a cloud's private cluster,
    allow the webhook's port), and try again. If its program was removed, delete the webhook's configuration.
source = kgateway-dev/kgateway#2696

[k8s-operator-waits-for-driver]
keys = /run/nvidia/validations/
pattern = cannot statx? '/run/nvidia/validations/([\w.-]*driver[\w.-]*)': No such file or directory
cause = NVIDIA's GPU operator waits for its own driver container ({found}), which is not ready.
remedy = If the host has its own driver, as DGX OS does, install the operator with --set driver.enabled=false (and
    toolkit.enabled=false if the host has the container toolkit). Otherwise read the log of the driver daemon set.
source = NVIDIA/gpu-operator#531

[k8s-driver-absent]
keys = failed to run command
pattern = chroot: failed to run command '(nvidia-smi)': No such file
cause = The GPU operator's validator found no {found} below the directory of its own driver container: neither that
    container nor the host has installed a driver yet.
remedy = If the host has the driver (nvidia-smi works on it), install the operator with --set driver.enabled=false.
    Otherwise read the log of the driver daemon set, whose container must install it first.
source = NVIDIA/gpu-operator#487

[k8s-device-links]
keys = error creating symlink creator
pattern = error creating symlink creator: (?P<why>[^\n\\]{1,200})
cause = The GPU operator's validator could not create its links below /dev/char: {why}.
remedy = If the host has its own driver and toolkit and nvidia-smi works on it, set
    DISABLE_DEV_CHAR_SYMLINK_CREATION=true for the validator (in the ClusterPolicy, validator: driver: env:).
source = NVIDIA/gpu-operator#1015

[k8s-driver-container]
keys =
    Could not unload NVIDIA driver kernel modules
    Could not resolve Linux kernel version
pattern =
    (Could not unload NVIDIA driver kernel modules, driver is in use)
    (Could not resolve Linux kernel version)
cause = The GPU operator's driver container cannot install its own driver on this host ({found}): the host has a driver
    in use, or there are no headers for its kernel.
remedy = On a host with its own driver, such as DGX OS, install the operator with --set driver.enabled=false.
source = NVIDIA/gpu-operator#163

[k8s-unschedulable]
keys = nodes are available:
pattern =
    (?P<nodes>\d+/\d+) nodes are available: (?P<why>[^\n]*?nvidia\.com/gpu[^\n.]*)
    (?P<nodes2>\d+/\d+) nodes are available: (?P<why2>(?:[^\n.]|\.(?! |$))+)
values =
    advice of why: .*Insufficient \S*/gpu => Check what the node offers (kubectl describe node | grep nvidia.com/gpu).
    + If it is 0, read the device plugin's log. If it is 1, as on a Spark, stop the pod that holds it, or configure
    + time-slicing in the plugin
    advice of why: .*unbound immediate PersistentVolumeClaim => Check why the claim is not bound (kubectl describe
    + pvc). It needs a storage class that exists (kubectl get storageclass) or a volume
    advice of why: .*/disk-pressure => Free space on the node's disk (df -h, crictl rmi --prune)
    advice of why: .*/memory-pressure => Free the node's memory, which on a GB10 is also the GPU's
    advice of why: .*/(?:not-ready|unreachable|network-unavailable) => Repair the node first (kubectl describe node)
    advice of why: .*/(?:control-plane|master) => If that is the only node, let pods run on it: kubectl taint nodes
    + --all node-role.kubernetes.io/control-plane-
    advice of why: .*Insufficient (?:memory|cpu) => Lower the pod's requests (resources.requests), or stop other pods
    advice of why: .*(?:affinity|selector) => Add the label that the pod requests to the node (kubectl get nodes
    + --show-labels, kubectl label node NODE KEY=VALUE), or correct nodeSelector. gpu-feature-discovery sets the labels
    + for GPU features
    advice of why: . => Compare the pod (kubectl describe pod) with the node (kubectl describe node)
cause = Kubernetes has no node for the pod ({nodes} fit): {why}.
remedy = {advice}.

[k8s-flannel]
keys = /run/flannel/subnet.env
pattern = open (/run/flannel/subnet\.env): no such file
cause = flannel, the pod network, has not started on this node, so it did not write {found}.
remedy = Read its log (kubectl -n kube-flannel logs -l app=flannel). The cluster needs --pod-network-cidr=10.244.0.0/16
    at kubeadm init, and the node needs the module br_netfilter (sudo modprobe br_netfilter). If you use another
    network, remove flannel's file from /etc/cni/net.d.
source = kubernetes/kubernetes#36575

[k8s-no-pod-network]
keys =
    NetworkPluginNotReady
    cni config uninitialized
pattern =
    (NetworkPluginNotReady)
    (cni config uninitialized)
cause = The node is not ready, because no pod network is installed ({found}), or its pod does not run.
remedy = Install one (flannel, Calico or Cilium, by kubectl apply of its manifest), and check that its pods run (kubectl
    get pods -A) and that /etc/cni/net.d contains its file.
source = kubernetes/kubernetes#36575

[k8s-cri-disabled]
keys = unknown service runtime.v1
pattern = unknown service (runtime\.v1\w*\.RuntimeService)
cause = containerd answers, but does not offer the interface that kubelet needs ({found}): Docker's package switches it
    off (disabled_plugins lists cri), or this containerd is too old for this Kubernetes.
remedy = Remove cri from disabled_plugins in /etc/containerd/config.toml (or write the file again: containerd config
    default | sudo tee /etc/containerd/config.toml), and run sudo systemctl restart containerd. Otherwise update
    containerd.
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
    advice of why: .*ip_forward => Run sudo sysctl -w net.ipv4.ip_forward=1, and add it to a file in /etc/sysctl.d
    advice of why: .*bridge-nf => Run sudo modprobe br_netfilter (and name it in /etc/modules-load.d)
    advice of why: .*(?:in use|already exists|not empty) => An earlier cluster still exists: run sudo kubeadm reset -f
    + first
    advice of why: .*container runtime is not running => Start containerd (systemctl status containerd), and check
    + that its configuration does not disable cri
    advice of why: . => Correct that, then run kubeadm again
cause = kubeadm or kubelet does not start on this host: {why}.
remedy = {advice}.
source = containerd/containerd#8032

[k8s-cgroup-of-container]
keys =
    cgroup (v2)
    cannot enter cgroupv2
    [kubepods] doesn't exist
    /sys/fs/cgroup/kubepods/
    some missing controllers
pattern =
    ailed to find (\w+ cgroup) \(v2\)
    (cannot enter cgroupv2) '/sys/fs/cgroup
    root container \[(kubepods)\] doesn't exist
    /sys/fs/cgroup/(kubepods)/\S+: no such file
    cgroup \[\\?'?(kubepods)\\?'?\] has some missing controllers
cause = Kubernetes in a container (k3s, kind, OpenShell's gateway) does not get its own control groups ({found}) on a
    host with only version 2, such as DGX OS.
remedy = Start that container with the host's groups (docker run --cgroupns=host --privileged; in
    /etc/docker/daemon.json "default-cgroupns-mode": "host", then restart Docker), or use a newer release of the program
    that starts it. Outside containers, systemd must manage them (Delegate=yes).
source = NVIDIA/OpenShell#374

[k8s-memory-cgroup]
keys =
    Failed to find memory cgroup
    failed to find memory cgroup
pattern = ailed to find (memory cgroup)(?! \(v2)
cause = The kernel was started without the memory control group ({found}), which Kubernetes needs.
remedy = Add cgroup_enable=memory cgroup_memory=1 to the kernel's command line (on a Jetson, to APPEND in
    /boot/extlinux/extlinux.conf), and reboot.

[kubectl-no-server]
keys = was refused - did you specify the right host or port
pattern = The connection to the server (\S+) was refused - did you specify
values =
    what of found: (?:localhost|127\.0\.0\.1):8080 => knows no cluster, so it asks this host
    what of found: . => gets no answer from the cluster's API
    advice of found: (?:localhost|127\.0\.0\.1):8080 => Set the cluster's configuration: export
    + KUBECONFIG=/etc/rancher/k3s/k3s.yaml for k3s, or copy /etc/kubernetes/admin.conf to ~/.kube/config and make
    + yourself its owner. sudo drops both
    advice of found: . => On that host, check whether it runs (systemctl status k3s or kubelet; sudo crictl ps -a),
    + and read its journal. Swap that is on again, a full disk or an expired certificate can stop it
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
    advice of why: .*expired => Check the clock, and have the certificates renewed (sudo kubeadm certs renew all; for
    + k3s, restart the service), then copy the new configuration
    advice of why: .*unknown authority => Use the server's current configuration (/etc/kubernetes/admin.conf or
    + /etc/rancher/k3s/k3s.yaml), not one from an earlier cluster in ~/.kube/config
    advice of why: . => Use a name or address from the certificate (k3s's --tls-san, kubeadm's certSANs)
cause = kubectl rejects the cluster's certificate: {why}.
remedy = {advice}.

[k8s-not-permitted]
keys = Error from server (Forbidden)
pattern = Error from server \(Forbidden\): (?:error when \w+ [^\n:]*: )?(?P<what>[^\n]{1,160})
cause = The cluster does not permit this to the account: {what}.
remedy = Use an account with that permission (kubectl auth can-i shows it; the administrator's configuration has all),
    or request a RoleBinding.

[microk8s-no-addon]
keys = was not found in any repository
pattern = Addon (?P<addon>\S+) was not found in any repository
values =
    advice of addon: (?:gpu|nvidia)$ => That addon is for amd64 only: install NVIDIA's GPU Operator with helm
    + (driver.enabled=false, because the host has the driver), with MicroK8s' containerd paths in toolkit.env
    advice of addon: . => List the addons for this processor (microk8s status), and add the repository that has it
    + (sudo microk8s enable community, microk8s addons repo update)
cause = MicroK8s has no addon {addon} for this processor in its repositories.
remedy = {advice}.
source = defilantech/LLMKube#718

[helm-kind-unknown]
keys = no matches for kind
pattern = no matches for kind '(?P<kind>\w+)' in version '(?P<version>[^'\n]+)'
cause = The cluster does not know the kind {kind} in {version}: its definition (CRD) is not installed, or the manifest
    is for another Kubernetes.
remedy = First install the definition (the chart's crds; the operator before its own objects), or change apiVersion to
    one that kubectl api-resources lists.

[helm-name-taken]
keys = cannot re-use a name that is still in use
pattern = (cannot re-use a name that is still in use)
cause = helm already has a release with that name ({found}), perhaps a failed one.
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
    advice of resource: memory => On a GB10 this includes the GPU's memory. Reduce the engine's share, or the number
    + of pods
    advice of resource: . => Free space below /var/lib (crictl rmi --prune, old logs), or move the images and the
    + model cache to a larger disk
cause = kubelet evicted the pod, because the node ran short of {resource}[ ({free} left)].
remedy = {advice}. Set the pod's requests to what it needs.

[pod-out-of-memory]
keys =
    Reason:       OOMKilled
    reason: OOMKilled
    "OOMKilled"
    OOMKilled
pattern =
    [Rr]eason'?: *'?(OOMKilled)
    ^\S+ +\d+/\d+ +(OOMKilled)\b
cause = The pod's program was killed because it used more memory than its limit ({found}).
remedy = Raise the pod's resources.limits.memory, or reduce the program's use. On a GB10, what the GPU allocates is also
    the host's memory.
"""
