# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kube_node.py - a Kubernetes node in one folder: etcd, API server, containerd and a real kubelet.
"""kubelet and API server are 1.20.2 (kubernetes.sh), or those of the folder that SLIPWAY_E2E_KUBERNETES names: kubelet and
kube-apiserver of any version, and with them etcd, ctr, containerd and its shim where that version needs newer ones. Each has a
certificate of its own, and kubelet has a node's rights alone (Node,RBAC and NodeRestriction).

    node = Node(folder, runtime="/usr/sbin/runc")     # call inside a private mount namespace: it mounts /var/lib/kubelet
    node.start()
    node.run_pod("a", ["nvidia-smi", "-L"], limits={"nvidia.com/gpu": 1}); node.log_of("a")
    node.stop()
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tarfile
import time
import urllib.error
import urllib.request

from kube_certificates import Authority
from slipway_host import must, run, script

NAME = "node-1"
IMAGE = "localhost/slipway-test:1"
PAUSE = "localhost/slipway-pause:1"
LIMIT = 300  # seconds; a loaded machine needs more time
NEWER = 31  # the minor version from which kubelet's file has former flags, and cgroups of version 1 must be allowed
            # explicitly


CONTAINERD_1 = """version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
    default_runtime_name = "gpu"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.gpu]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.gpu.options]
        BinaryName = "{runtime}"
"""

CONTAINERD_2 = """version = 3
root = "{folder}/containerd"
state = "{folder}/containerd-state"
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "native"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{pause}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "gpu"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.gpu]
      runtime_type = "io.containerd.runc.v2"
      snapshotter = "native"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.gpu.options]
        BinaryName = "{runtime}"
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def docker_archive(path, name, root, command):
    """Returns an image of one layer from a folder, in the form of `docker save`."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(root, arcname=".")
    data = layer.getvalue()
    digest = __import__("hashlib").sha256(data).hexdigest()
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Cmd": command, "Env": ["PATH=/usr/bin:/bin"]},
                         "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(path, "w") as tar:
        for file, content in (("layer.tar", data), ("config.json", config), ("manifest.json", manifest)):
            info = tarfile.TarInfo(file)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


class Node:
    """All started processes end with stop(), or with the caller's process group."""

    def __init__(self, folder, image_root, runtime="/usr/sbin/runc", environment=None):
        self.folder = pathlib.Path(folder)
        self.image_root = image_root
        self.runtime = runtime
        self.environment = environment or {}
        named = os.environ.get("SLIPWAY_E2E_KUBERNETES")
        self.programs = pathlib.Path(named or script("kubernetes.sh").splitlines()[-1])
        self.version = must([self.programs / "kubelet", "--version"]).split()[-1].removeprefix("v")
        self.minor = int(self.version.split(".")[1])
        self.running = {}
        self.endpoint = f"unix://{self.folder}/containerd.sock"
        self.port = free_port()
        self.context = None

    # --- processes ---

    def _spawn(self, name, argv, **environment):
        log = open(self.folder / f"{name}.log", "ab")
        self.running[name] = subprocess.Popen([str(word) for word in argv], stdout=log, stderr=log,
                                              stdin=subprocess.DEVNULL, env=os.environ | environment)

    def program(self, name):
        """Returns the folder's program, or else the machine's."""
        own = self.programs / name
        return own if own.exists() else name

    def end(self, name, number=signal.SIGTERM):
        process = self.running.pop(name, None)
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        kubelet_root = self.folder / "kubelet"
        kubelet_root.mkdir(exist_ok=True)
        pathlib.Path("/var/lib/kubelet").mkdir(parents=True, exist_ok=True)
        must(["mount", "--bind", kubelet_root, "/var/lib/kubelet"])
        for name, where in (("pod-logs", "/var/log/pods"), ("container-logs", "/var/log/containers")):
            (self.folder / name).mkdir(exist_ok=True)
            pathlib.Path(where).mkdir(parents=True, exist_ok=True)
            must(["mount", "--bind", self.folder / name, where])
        self._start_etcd()
        self._start_api_server()
        self.start_containerd()
        self._import_images()
        self._write_kubelet_config()
        self.start_kubelet()
        return self

    def stop(self):
        for name in list(self.pods()) if "api" in self.running else []:
            self.delete_pod(name)
        self.end("kubelet")
        if "containerd" in self.running:
            for task in run(self.ctr("task", "ls", "-q")).stdout.split():
                run(self.ctr("task", "kill", "-s", "SIGKILL", task))
        for name in ("containerd", "api", "etcd"):
            self.end(name)
        self._unmount_below(self.folder, "/var/lib/kubelet", "/var/log/pods", "/var/log/containers")

    @staticmethod
    def _unmount_below(*folders):
        for line in reversed(pathlib.Path("/proc/self/mountinfo").read_text().splitlines()):
            where = line.split()[4]
            if where.startswith(tuple(map(str, folders))):
                run(["umount", "-l", where])

    def _start_etcd(self):
        self.etcd = free_port()
        peer = free_port()
        client = f"http://127.0.0.1:{self.etcd}"
        self._spawn("etcd", [self.program("etcd"), "--data-dir", self.folder / "etcd", "--listen-client-urls", client,
                             "--advertise-client-urls", client, "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                             "--unsafe-no-fsync"])

    def _start_api_server(self):
        self.authority = Authority(self.folder / "certificates")
        issue = self.authority.issue
        own, own_key = issue("api-server", "/CN=kube-apiserver", "DNS:localhost,IP:127.0.0.1")
        client, client_key = issue("kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client")
        admin, admin_key = issue("admin", "/O=system:masters/CN=admin")
        self.context = ssl.create_default_context(cafile=self.authority.certificate)
        self.context.load_cert_chain(admin, admin_key)
        key = self.folder / "service-account.key"
        must(["openssl", "genrsa", "-out", key, "2048"])
        self._spawn("api", [self.programs / "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd}",
                            "--bind-address=127.0.0.1", f"--secure-port={self.port}", f"--tls-cert-file={own}",
                            f"--tls-private-key-file={own_key}", f"--client-ca-file={self.authority.certificate}",
                            f"--kubelet-certificate-authority={self.authority.certificate}",
                            f"--kubelet-client-certificate={client}", f"--kubelet-client-key={client_key}",
                            "--kubelet-preferred-address-types=Hostname,InternalIP", "--endpoint-reconciler-type=none",
                            "--service-cluster-ip-range=10.0.0.0/24", f"--service-account-key-file={key}",
                            f"--service-account-signing-key-file={key}", "--service-account-issuer=https://slipway.test",
                            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
                            "--anonymous-auth=false"])
        self.wait(lambda: self.api("GET", "/healthz", text=True) == "ok", "the API server")
        self.api("POST", "/api/v1/namespaces/default/serviceaccounts",
                 {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})

    def ctr(self, *words):
        return [self.program("ctr"), "--address", self.folder / "containerd.sock", "-n", "k8s.io", *words]

    def start_containerd(self):
        config = self.folder / "containerd.toml"
        is_own = self.program("containerd") != "containerd"
        config.write_text((CONTAINERD_2 if is_own else CONTAINERD_1).format(
            folder=self.folder, pause=PAUSE, runtime=self.runtime))
        path = f"{self.programs}:{os.environ['PATH']}" if is_own else os.environ["PATH"]  # of its shim
        self._spawn("containerd", [self.program("containerd"), "--config", config], **self.environment, PATH=path)
        self.wait(lambda: run(self.ctr("version")).returncode == 0, "containerd")

    def _import_images(self):
        pause = self.folder / "pause-root"
        (pause / "bin").mkdir(parents=True)
        shutil.copy("/usr/bin/busybox", pause / "bin/busybox")
        for name, root, command in ((PAUSE, pause, ["/bin/busybox", "sleep", "1000000"]),
                                    (IMAGE, self.image_root, ["/bin/sh"])):
            archive = self.folder / "image.tar"
            docker_archive(archive, name, root, command)
            local = ["--local"] if self.program("ctr") != "ctr" else []  # otherwise containerd 2 needs to know the
                                                                         # snapshotter to unpack for
            must(self.ctr("images", "import", *local, "--snapshotter", "native", archive))
            archive.unlink()

    def _write_kubelet_config(self):
        client, client_key = self.authority.issue("kubelet", f"/O=system:nodes/CN=system:node:{NAME}")
        server, server_key = self.authority.issue("kubelet-server", f"/O=system:nodes/CN=system:node:{NAME}",
                                                  f"DNS:{NAME},IP:127.0.0.1")
        (self.folder / "kubeconfig").write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                   "certificate-authority": str(self.authority.certificate)}}],
            "users": [{"name": "u", "user": {"client-certificate": str(client), "client-key": str(client_key)}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "cgroupfs",
            "cgroupsPerQOS": False, "enforceNodeAllocatable": [], "failSwapOn": False, "port": free_port(),
            "healthzPort": 0, "readOnlyPort": 0, "serverTLSBootstrap": False, "maxPods": 250,
            "tlsCertFile": str(server), "tlsPrivateKeyFile": str(server_key),
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(self.authority.certificate)}},
            "authorization": {"mode": "Webhook"}, "nodeStatusUpdateFrequency": "1s", "syncFrequency": "1s",
            "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
            "evictionHard": {"memory.available": "1Mi", "nodefs.available": "0.1%", "imagefs.available": "0.1%",
                             "nodefs.inodesFree": "0.1%"}}
        if self.minor >= NEWER:
            config.update(containerRuntimeEndpoint=self.endpoint, kubeletCgroups="/", failCgroupV1=False)
        (self.folder / "kubelet.json").write_text(json.dumps(config))

    def start_kubelet(self):
        flags = ["--container-runtime=remote", f"--container-runtime-endpoint={self.endpoint}", "--runtime-cgroups=/",
                 "--kubelet-cgroups=/"]
        self._spawn("kubelet", [self.programs / "kubelet", f"--config={self.folder}/kubelet.json",
                                *(flags if self.minor < NEWER else []), f"--kubeconfig={self.folder}/kubeconfig",
                                f"--hostname-override={NAME}", "--v=2"])

    def wait_until_synced(self, offset):
        """Waits until the kubelet whose log begins at that offset has received the API server's pods. Before that,
        kubelet counts
        devices in its checkpoint as taken even if their pods are gone, and rejects a pod for which none is left."""
        self.wait(lambda: re.search(r'SyncLoop (ADD" source=|\(ADD, )"api"', self.log("kubelet")[offset:]), "kubelet to hear of its pods")

    def kill_containers(self):
        """Kills each container without asking containerd and kubelet."""
        for line in run(self.ctr("task", "ls")).stdout.splitlines()[1:]:
            with contextlib.suppress(ProcessLookupError, ValueError, IndexError):
                os.kill(int(line.split()[1]), signal.SIGKILL)

    def lose_containers(self):
        """Does what a power cut does to containerd and its containers: kills all, and empties its folder below /run."""
        shims = run(["pgrep", "--full", f"containerd-shim.*{self.folder}/containerd.sock"]).stdout.split()
        self.kill_containers()
        self.end("containerd", signal.SIGKILL)
        for shim in shims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(shim), signal.SIGKILL)
        state = self.folder / "containerd-state"
        self._unmount_below(state)
        must(["rm", "-rf", "--one-file-system", state])

    # --- the API ---

    def api(self, method, path, body=None, text=False, kind="application/json"):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", data=data, method=method,
                                         headers={"Content-Type": kind})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=20) as answer:
                content = answer.read().decode()
        except (urllib.error.URLError, OSError) as problem:
            return "" if text else {"problem": str(problem), "code": getattr(problem, "code", 0)}
        return content if text else json.loads(content)

    @staticmethod
    def wait(holds, what, seconds=LIMIT):
        """Waits until it holds; returns whether it does, or raises if `what` is given."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return True
            time.sleep(0.2)
        if what:
            raise RuntimeError(f"{what} did not come up within {seconds} s")
        return False

    def amounts(self, kind):
        """Returns the node's {"nvidia.com/gpu": 8} in "capacity" or "allocatable"."""
        status = self.api("GET", f"/api/v1/nodes/{NAME}").get("status", {})
        return {name: int(value) for name, value in status.get(kind, {}).items() if name.startswith("nvidia.com/")}

    def run_pod(self, name, command, limits, volumes=(), restart="Never", init=None):
        """Creates a pod of one container, which runs once unless `restart` says otherwise. volumes: (host path, path
        inside).
        init: command and limits of an init container."""
        mounts = [{"name": f"v{i}", "mountPath": inside} for i, (_, inside) in enumerate(volumes)]
        sources = [{"name": f"v{i}", "hostPath": {"path": str(host)}} for i, (host, _) in enumerate(volumes)]

        def container(called, words, its_limits):
            return {"name": called, "image": IMAGE, "imagePullPolicy": "Never", "command": words, "volumeMounts": mounts,
                    "resources": {"limits": {key: str(value) for key, value in its_limits.items()}}}
        return self.api("POST", "/api/v1/namespaces/default/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"nodeName": NAME, "hostNetwork": True, "restartPolicy": restart,
                     "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False,
                     "tolerations": [{"operator": "Exists"}], "volumes": sources,
                     "initContainers": [container("prepare", *init)] if init else [],
                     "containers": [container("c", command, limits)]}})

    def pods(self):
        items = self.api("GET", "/api/v1/namespaces/default/pods").get("items", [])
        return {pod["metadata"]["name"]: pod for pod in items}

    def phase(self, name):
        return self.api("GET", f"/api/v1/namespaces/default/pods/{name}").get("status", {}).get("phase", "")

    def status_of(self, name):
        return self.api("GET", f"/api/v1/namespaces/default/pods/{name}").get("status", {})

    def finished(self, name, seconds=LIMIT):
        """Returns the pod's phase when it has ended, or the last one."""
        self.wait(lambda: self.phase(name) in ("Succeeded", "Failed"), "", seconds)
        return self.phase(name)

    def log_of(self, name):
        """Returns the container's output, from the log files that kubelet has the engine write."""
        folder = next(iter(sorted(pathlib.Path("/var/log/pods").glob(f"default_{name}_*/c"))), None)
        lines = []
        for file in sorted(folder.glob("*.log")) if folder else []:
            lines += [re.sub(r"^\S+ \S+ \S ", "", line) for line in file.read_text().splitlines()]
        return "\n".join(lines)

    def devices_of(self, name):
        """Returns the pod's device ids in kubelet's checkpoint."""
        uid = self.api("GET", f"/api/v1/namespaces/default/pods/{name}").get("metadata", {}).get("uid")
        file = pathlib.Path("/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint")
        entries = json.loads(file.read_text())["Data"]["PodDeviceEntries"] or []
        ids = [entry["DeviceIDs"] for entry in entries if entry["PodUID"] == uid]
        return sorted(re.findall(r"(?:GPU|MIG)-[0-9a-f-]{36}(?:::\d+)?", json.dumps(ids)))

    def delete_pod(self, name):
        self.api("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
