# SPDX-License-Identifier: Apache-2.0
# tests/e2e/engine_machine.py - a booted machine with a container engine of a Debian suite, slipway, and simulated GPUs.
"""    with EngineMachine(work, "trixie") as machine:
        machine.slipway("apply", "-f", "/etc/slipway/host.yaml")

A root of engine-root.sh, booted by systemd-nspawn with a cgroup2 hierarchy of its own, so that its units, its containerd
and runc's containers are real. The driver root /driver is that of cdi_podman.py: Debian's real user space, the simulator in
the place of libnvidia-ml. Images are made from folders; snapshots are plain copies (native)."""

import contextlib
import fcntl
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import time

from cdi_podman import GPUS, copy_program, make_container_root, make_driver_root, make_machine
from slipway_host import BUILD, install_into, must, run, script

CGROUP2 = pathlib.Path(must(["findmnt", "--noheadings", "--types", "cgroup2", "--output", "TARGET"]).splitlines()[0])
BOOT_LIMIT = 300  # seconds; a loaded machine needs more time
IMAGE = "docker.io/library/gpu:1"


def write_image(root, archive, name=IMAGE):
    """Packs a folder as a container image in docker-archive form."""
    layer = archive.with_suffix(".layer")
    must(["tar", "--create", "--numeric-owner", "--file", layer, "--directory", root, "."])
    with open(layer, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    config = json.dumps({"architecture": "amd64", "os": "linux",
                         "config": {"Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], "Cmd": ["/bin/sleep", "3600"]},
                         "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest]},
                         "history": [{}]}).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": [digest + "/layer.tar"]}]
    with tarfile.open(archive, "w") as tar:
        for member, data in ((config_name, config), ("manifest.json", json.dumps(manifest).encode())):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        tar.add(layer, arcname=digest + "/layer.tar")
    layer.unlink()


def add_libraries(root):
    """Copies slipway's libraries that the root lacks; a newer suite has some in other versions."""
    there = {line.split()[0] for line in must(["ldconfig", "-r", root, "-p"]).splitlines() if "=>" in line}
    target = root / "usr/local/lib"
    for program in [*(BUILD / "bin").glob("slipway*"), *(BUILD / "lib/slipway/plugins").glob("*.so")]:
        for line in run(["ldd", program]).stdout.splitlines():  # a static program has no libraries
            words = line.split()
            if len(words) > 2 and words[0] not in there and words[2].startswith("/"):
                shutil.copy(words[2], target / words[0])
    must(["ldconfig", "-r", root])


def let_services_simulate(root):
    """The simulator's library, unlike a driver's, writes to a file: this allows it in the services' units."""
    folder = root / "etc/systemd/system/slipway-.service.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "simulator.conf").write_text("[Service]\nReadWritePaths=-/driver -/sim\n")


class EngineMachine:
    def __init__(self, work, suite, files=None, binds=()):
        """`files`: paths inside and their text, written before the machine boots. `binds`: "OUTSIDE:INSIDE" of
        folders of this
        machine that appear in the other one."""
        self._prepare(work, suite)
        self._binds = binds
        install_into(self.root)
        add_libraries(self.root)
        self._make_gpus(work)
        for path, text in {"/etc/hosts": "127.0.0.1 localhost\n", "/etc/resolv.conf": "", **(files or {})}.items():
            file = self.root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755 if text.startswith("#!") else 0o644)

    def _prepare(self, work, suite, make_root=None):
        """Creates the root without slipway; `make_root` creates it from something else than the suite."""
        self.root = work / f"machine-{suite}"
        self.leader = 0
        self._process = None
        self._binds = ()
        # nspawn creates the machine's cgroups inside its own cgroup, so each machine has one for itself.
        self._cgroup = CGROUP2 / f"slipway-e2e-{os.getpid()}-{suite}"
        if make_root:
            make_root(self.root)
        else:
            script("engine-root.sh", suite, self.root)

    def _make_gpus(self, work):
        (self.root / "driver").mkdir()
        make_driver_root(self.root / "driver")
        make_machine(self.root / "sim", ",visible=nodes")
        let_services_simulate(self.root)
        container = work / f"container-{self.root.name}"
        make_container_root(container)
        copy_program(container, "sleep")
        write_image(container, self.root / "var/tmp/gpu.tar")

    def _take_groups(self):
        """Machines share this machine's control groups, so only one runs at a time; a killed one leaves its own
        behind."""
        self._lock = open("/run/lock/slipway-e2e-machine", "w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        for name in ("payload", "supervisor"):
            for folder, _, _ in os.walk(f"/sys/fs/cgroup/unified/{name}", topdown=False):
                with contextlib.suppress(OSError):  # another run's machine is in it
                    os.rmdir(folder)

    def __enter__(self):
        self._take_groups()
        words = ["systemd-nspawn", "--quiet", "--directory", self.root, "--boot", "--register=no", "--keep-unit",
                 "--capability=all", "--system-call-filter=@keyring bpf", "--console=pipe",
                 *(f"--bind={bind}" for bind in self._binds)]
        log = open(self.root.with_suffix(".log"), "wb")
        self._cgroup.mkdir()
        self._process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         preexec_fn=lambda: (self._cgroup / "cgroup.procs").write_text(str(os.getpid())),
                                         env=dict(os.environ, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY="1"))
        log.close()
        deadline = time.monotonic() + BOOT_LIMIT
        while time.monotonic() < deadline:
            time.sleep(0.5)
            children = run(["pgrep", "--parent", str(self._process.pid)]).stdout.split()
            self.leader = int(children[0]) if children else 0
            if self.leader and self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded"):
                return self
        state = self.run("systemctl", "list-jobs").stdout if self.leader else ""
        self.__exit__()
        raise RuntimeError("the machine did not boot: " + self.root.with_suffix(".log").read_text()[-2000:] + state)

    def __exit__(self, *_):
        if self.leader:
            self.run("systemctl", "--no-block", "poweroff")
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for folder, _, _ in os.walk(self._cgroup, topdown=False):
            run(["rmdir", folder])
        self._lock.close()

    def run(self, *words):
        """Runs a program inside, as root."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        return run(["nsenter", f"--target={self.leader}", "--all", "--root", "--wd", *words], env=environment)

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise RuntimeError(f"{words} exited with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done.stdout

    def slipway(self, *words):
        return self.run("/usr/bin/slipway", *words)

    def generate_cdi(self):
        """Writes the spec of the simulated GPUs to the engines' folder; returns the GPUs' UUIDs in the order of their
        index."""
        path = "/run/cdi/nvidia.com-gpu.json"
        self.must("/usr/bin/slipway", "toolkit", "cdi", "generate", "--driver-root", "/driver", "--output", path)
        devices = json.loads(self.must("cat", path))["devices"]
        node_of = {device["name"]: device["containerEdits"]["deviceNodes"][0]["path"] for device in devices}
        return [next(name for name, node in node_of.items() if name.startswith("GPU-") and node == f"/dev/nvidia{i}")
                for i in range(GPUS)]

    def starts(self, unit):
        """Returns how often systemd has started the unit since the boot."""
        return self.must("journalctl", "--boot", "--output=cat", "--unit", unit).count(f"Started {unit}")

    def import_image(self, namespace="default"):
        # From 2.0 on ctr lets the daemon import, which unpacks only for its own snapshotter.
        local = ["--local"] if "--local" in self.run("ctr", "images", "import", "--help").stdout else []
        self.must("ctr", "--namespace", namespace, "images", "import", *local, "--snapshotter", "native", "/var/tmp/gpu.tar")

    def ctr_run(self, name, command, *options):
        """Runs a container with containerd's own client; the machine's folder /sim describes the GPUs to the
        simulator."""
        mount = "type=bind,src=/sim,dst=/run/slipway/sim,options=rbind:ro"
        return self.run("ctr", "run", "--rm", "--snapshotter", "native", "--cpu-shares", "0", "--mount", mount, *options,
                        IMAGE, name, "/bin/sh", "-c", command)
