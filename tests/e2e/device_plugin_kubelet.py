#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/device_plugin_kubelet.py - the component deviceplugin with a real kubelet 1.20.2; pods run the real nvidia-smi.
"""kubelet, API server, etcd and containerd are real, and run on this machine; so are slipway-runtime, CDI specs and Debian's
nvidia-smi. The service runs beside them in a booted machine, under the unit that an apply writes there, and has kubelet's folder as its
own. The GPUs are simulated. Needs root. --long: kubelet is restarted 100 times instead of 20."""

import itertools
import json
import os
import re
import signal
import sys
import time

from cdi_podman import copy_program, generate, make_machine
from engine_machine import EngineMachine
from kube_node import LIMIT, Node
from kube_test import main_of
from slipway_host import BUILD, VERSION, must

GPU = "nvidia.com/gpu"
UNIT = "slipway-deviceplugin.service"
CONFIG = "/etc/slipway/device-plugin.yaml"
STATUS = "/run/slipway/deviceplugin/status.json"


class Plugin:
    """The service `deviceplugin` of a booted machine, under its unit."""

    def __init__(self, machine):
        self.machine = machine
        self.restarts = 0  # restarts by systemd itself since the unit was started

    def apply(self, **section):
        """The first call writes the unit; later changes of the section are reloads."""
        spec = {"hardware": "assume", "components": {"deviceplugin": {"driver_root": "/driver", **section}}}
        self.write("/etc/slipway/host.yaml", {"apiVersion": "slipway.dev/v1", "kind": "Host", "metadata": {"name": "e2e"},
                                              "spec": spec})
        return self.machine.slipway("apply", "--yes", "-f", "/etc/slipway/host.yaml")

    def reload(self, **config):
        """Changes CONFIG; the process stays."""
        self.write(CONFIG, {"version": "v1", **config})
        self.machine.must("systemctl", "reload", UNIT)

    def stop(self):
        self.machine.must("systemctl", "stop", UNIT)
        self.restarts = 0

    def kill(self):
        """Kills the service's own process; systemd starts the unit again."""
        self.machine.must("systemctl", "kill", "--kill-who=main", "--signal=SIGKILL", UNIT)
        self.restarts += 1

    def write(self, path, value):
        file = self.machine.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))

    def simulate(self, more):
        make_machine(self.machine.root / "driver/run/slipway/sim", more)

    def sim(self, *words):
        must([BUILD / "bin/slipway-sim", self.machine.root / "driver/run/slipway/sim", *words])

    def log(self):
        return self.machine.run("journalctl", "--boot", "--output=cat", "--unit", UNIT).stdout

    def registrations(self):
        """Returns how often this process has registered its first resource."""
        status = json.loads(self.machine.must("cat", STATUS))
        return next((each["registrations"] for each in status["resources"]), 0)

    def shown(self):
        """Returns systemd's properties of the unit."""
        names = "ActiveState,MainPID,NRestarts,ControlGroup"
        lines = self.machine.must("systemctl", "show", f"--property={names}", UNIT).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def runs_since(self, before):
        shown = self.shown()
        return shown["ActiveState"] == "active" and shown["MainPID"] not in ("0", before)

    def processes(self):
        """Returns process id and /proc/PID/status of each process in the unit's cgroup."""
        numbers = self.machine.run("cat", f"/sys/fs/cgroup/system.slice/{UNIT}/cgroup.procs").stdout.split()
        found = {number: self.machine.run("cat", f"/proc/{number}/status").stdout for number in numbers}
        return {number: status for number, status in found.items() if status}  # without processes that have just ended


def make_image_root(root):
    for folder in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "proc", "sys", "dev", "run", "tmp"):
        (root / folder).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink(f"usr/{name}", root / name)
    (root / "etc/debian_version").write_text("12\n")
    for program in ("sh", "ls", "cat", "sleep", "env", "grep", "ldconfig"):
        copy_program(root, program)
    for library in ("libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"):
        must(["cp", "-L", f"/usr/lib/x86_64-linux-gnu/{library}", root / "usr/lib/x86_64-linux-gnu/"])


class Test:
    def __init__(self, checks, work, long):
        self.checks, self.work, self.long = checks, work, long
        kubelet = work / "node/kubelet"
        self.machine = EngineMachine(work, "bookworm", binds=[f"{kubelet}:/var/lib/kubelet"])
        self.root = self.machine.root / "driver"
        make_image_root(work / "image")
        make_machine(work / "sim", ",visible=nodes")  # as containers see it: only the nodes in their /dev
        self.config = work / "runtime.toml"
        self.config.write_text(f'[nvidia-container-runtime]\nruntimes = ["/usr/sbin/runc"]\n'
                               f'[nvidia-container-runtime.modes.cdi]\nspec-dirs = ["{work}/cdi"]\n')
        self.node = Node(work / "node", work / "image", BUILD / "bin/slipway-runtime",
                         {"NVIDIA_CTK_CONFIG_FILE_PATH": str(self.config)})
        self.plugin = Plugin(self.machine)
        self.pods = 0

    def that(self, *words):
        return self.checks.that(*words)

    def start(self):
        done = generate(self.work / "cdi/nvidia.json", self.root)
        self.that(done.returncode == 0, "the CDI spec of the GPUs is there", done.stderr)
        self.node.start()

    def apply(self, sentence, **section):
        done = self.plugin.apply(**section)
        self.that(done.returncode == 0, sentence, done.stdout + done.stderr + self.plugin.log()[-1500:])

    def under_its_unit(self, when):
        """Checks each process of the unit, since the worker is a process of its own."""
        shown, processes = self.plugin.shown(), self.plugin.processes()
        self.that(shown["ActiveState"] == "active" and shown["ControlGroup"] == f"/system.slice/{UNIT}"
                  and shown["MainPID"] in processes and len(processes) > 1
                  and all("\nNoNewPrivs:\t1\n" in status for status in processes.values())
                  and shown["NRestarts"] == str(self.plugin.restarts),
                  f"{when}: the service runs under its unit, without new privileges; systemd restarted it "
                  f"{self.plugin.restarts} times", f"{shown}\n{processes}\n{self.plugin.log()[-1500:]}")

    def amounts(self, wanted, capacity=None):
        """Waits until the node offers exactly that, and returns whether it does."""
        def holds():
            both = self.node.amounts("allocatable"), self.node.amounts("capacity")
            return both == (wanted, wanted if capacity is None else capacity)
        return self.node.wait(holds, "")

    def seen(self):
        return (f"allocatable {self.node.amounts('allocatable')}, capacity {self.node.amounts('capacity')}\n"
                + self.plugin.log()[-1500:])

    @staticmethod
    def held(word):
        """Command with which a pod waits until release() of that word: it stays as long as the test needs it."""
        return f"until [ -e /run/slipway/sim/{word} ]; do sleep 0.2; done"

    def release(self, word):
        (self.work / "sim" / word).touch()

    def pod(self, command, limits, name=None):
        self.pods += 1
        name = name or f"pod-{self.pods}"
        self.node.run_pod(name, ["/bin/sh", "-c", command], limits, [(self.work / "sim", "/run/slipway/sim")])
        return name

    def run_once(self, command, limits):
        """Returns a pod's output, and its phase."""
        name = self.pod(command, limits)
        phase = self.node.finished(name)
        log, status = self.node.log_of(name), self.node.status_of(name)
        self.node.delete_pod(name)
        return phase, log, status

    # --- what must hold ---

    def whole_gpus(self):
        self.that(self.amounts({GPU: 8}), "capacity and allocatable are 8 nvidia.com/gpu", self.seen())
        name = self.pod("nvidia-smi -L; " + self.held("one-gpu"), {GPU: 1})
        self.node.wait(lambda: "GPU 0" in self.node.log_of(name), "")
        held = self.node.devices_of(name)
        self.release("one-gpu")
        phase, log = self.node.finished(name), self.node.log_of(name)
        lines = [line for line in log.splitlines() if line.startswith("GPU ")]
        self.that(phase == "Succeeded" and len(lines) == len(held) == 1 and held[0] in lines[0],
                  "a pod with one GPU runs the real nvidia-smi -L and sees exactly its GPU",
                  f"{phase}\nheld {held}\n{log}\n{json.dumps(self.node.status_of(name))[:1500]}")
        self.node.delete_pod(name)
        phase, log, _ = self.run_once("nvidia-smi -L", {GPU: 3})
        self.that(phase == "Succeeded" and log.count("GPU-") == 3, "a pod with three GPUs sees three", log)

    def many_pods(self):
        """50 pods, up to 8 at a time; each prints its GPU, and its start and end time (/proc/uptime, one clock for
        all)."""
        command = "read begin rest </proc/uptime; nvidia-smi -L; sleep 0.5; read end rest </proc/uptime; echo held $begin $end"
        running, times, ended, bad = set(), {}, 0, []
        started = 0
        deadline = time.monotonic() + 10 * LIMIT
        while ended < 50 and time.monotonic() < deadline:
            while started < 50 and len(running) < 8:
                running.add(self.pod(command, {GPU: 1}, f"crowd-{started}"))
                started += 1
            for name, pod in self.node.pods().items():
                phase = pod.get("status", {}).get("phase", "")
                if name not in running or phase not in ("Succeeded", "Failed"):
                    continue
                log = self.node.log_of(name)
                seen = re.fullmatch(r"GPU 0: .* \(UUID: (\S+)\)\nheld (\S+) (\S+)", log)
                if phase == "Succeeded" and seen:
                    times.setdefault(seen[1], []).append((float(seen[2]), float(seen[3]), name))
                else:
                    bad.append((name, phase, log, pod["status"].get("message", ""), pod["status"].get("reason", "")))
                ended += 1
                running.remove(name)
                self.node.delete_pod(name)
            time.sleep(0.1)
        self.that(ended == 50 and not bad, "50 pods come, see a GPU and go", f"{ended} ended; {bad[:5]}")
        overlap = [(gpu, one, other) for gpu, spans in times.items() for one, other in itertools.pairwise(sorted(spans))
                   if other[0] < one[1]]
        self.that(len(times) > 1 and not overlap, "no two of them ever shared a GPU", overlap[:5] or times)

    def kubelet_restarts(self):
        rounds, slow = 100 if self.long else 20, []
        for i in range(rounds):
            before, offset = self.plugin.registrations(), len(self.node.log("kubelet"))
            self.node.end("kubelet", signal.SIGKILL if i % 2 else signal.SIGTERM)
            self.node.start_kubelet()
            if not self.node.wait(lambda: self.plugin.registrations() > before, ""):
                slow.append(f"{i}: not registered again")
            if not self.amounts({GPU: 8}):
                slow.append(f"{i}: {self.node.amounts('allocatable')}")
        self.that(not slow, f"after each of {rounds} restarts of kubelet there are 8 again", slow)
        self.node.wait_until_synced(offset)
        phase, log, status = self.run_once("nvidia-smi -L", {GPU: 1})
        self.that(phase == "Succeeded" and log.count("GPU-") == 1, "and a pod still gets its GPU",
                  f"{phase}\n{log}\n{json.dumps(status)[:800]}\n{self.plugin.log()[-1500:]}")

    def killed_plugin(self):
        names = [self.pod("nvidia-smi -L", {GPU: 1}) for _ in range(4)]
        before = self.plugin.shown()["MainPID"]
        self.plugin.kill()  # while kubelet asks it for an allocation
        self.node.wait(lambda: self.plugin.runs_since(before), "")
        self.that(self.amounts({GPU: 8}), "after kill -9 under allocations the plugin is back with 8", self.seen())
        phases = [self.node.finished(name) for name in names]
        for name in names:
            self.node.delete_pod(name)
        self.that(all(phase in ("Succeeded", "Failed") for phase in phases), "no pod hangs because of it", phases)
        phase, log, _ = self.run_once("nvidia-smi -L", {GPU: 8})
        self.that(phase == "Succeeded" and log.count("GPU-") == 8, "and no device is leaked: a pod gets all 8",
                  f"{phase}\n{log}")

    def lost_gpu(self):
        self.plugin.sim("gpu", "5", "lost")
        self.that(self.amounts({GPU: 7}, {GPU: 8}), "a lost GPU leaves 7 allocatable of 8", self.seen())
        phase, log, status = self.run_once("nvidia-smi -L", {GPU: 1})
        self.that(phase == "Succeeded", "a lost GPU harms no other pod", f"{phase}\n{log}\n{json.dumps(status)[:800]}")
        self.plugin.sim("gpu", "5", "found")
        self.that(self.amounts({GPU: 8}), "it comes back without any restart", self.seen())

    def replicas(self):
        def sharing(replicas):
            return {"sharing": {"timeSlicing": {"replicas": replicas}}}
        self.plugin.write(CONFIG, {"version": "v1", **sharing(128)})
        self.apply("another config is applied", quiet_seconds=1, config_file=CONFIG)
        self.that(self.amounts({GPU: 1024}), "128 replicas of 8 GPUs are 1024 nvidia.com/gpu", self.seen())
        before = self.plugin.shown()["MainPID"]
        self.plugin.reload(**sharing(4))
        self.that(self.amounts({GPU: 32}), "4 replicas are 32", self.seen())
        names = [self.pod(f"nvidia-smi -L; {self.held('replicas')}; echo done", {GPU: 1}) for _ in range(12)]
        self.node.wait(lambda: all(self.node.phase(name) == "Running" for name in names), "")
        running = [self.node.phase(name) for name in names]
        self.plugin.reload(**sharing(2))
        self.that(self.amounts({GPU: 16}), "from 4 to 2 replicas under running pods there are 16", self.seen())
        self.that(self.plugin.shown()["MainPID"] == before, "each by a reload that the process outlives", self.plugin.shown())
        self.release("replicas")
        phases = [self.node.finished(name) for name in names]
        logs = [self.node.log_of(name) for name in names]
        for name in names:
            self.node.delete_pod(name)
        self.that(set(running) == {"Running"} and set(phases) == {"Succeeded"} and all("done" in log for log in logs),
                  "and the pods that had replicas run on to their end", f"{running} {phases}")

    def mixed_mig(self):
        self.plugin.stop()
        self.plugin.simulate(",mig=1g.10gb")
        self.apply("mixed MIG is applied", quiet_seconds=1, config={"version": "v1", "mig": {"strategy": "mixed"}})
        wanted = {"nvidia.com/mig-1g.10gb": 56}
        self.that(self.node.wait(lambda: self.node.amounts("allocatable").get("nvidia.com/mig-1g.10gb") == 56, ""),
                  f"mixed MIG offers {wanted}", self.seen())
        self.that(self.node.wait(lambda: self.node.amounts("allocatable").get(GPU, 0) == 0, ""),
                  "and no whole GPUs any more", self.seen())
        self.pod_in_a_mig_device()

    def pod_in_a_mig_device(self):
        """Creates device nodes of the MIG devices, their CDI spec, and the machine as containers see it: then runs a
        pod."""
        profile = f"h100x8,driver={VERSION},mig=1g.10gb"
        make_machine(self.work / "sim", ",mig=1g.10gb,visible=nodes")
        must([BUILD / "bin/slipway-sim", self.work / "sim", "tree", profile, self.work / "tree"])
        os.mknod(self.root / "dev/nvidia-modeset", 0o020666, os.makedev(195, 254))
        caps = self.root / "dev/nvidia-caps"
        caps.mkdir()
        for line in (self.work / "tree/proc/driver/nvidia-caps/mig-minors").read_text().splitlines():
            minor = int(line.split()[1])
            if not (caps / f"nvidia-cap{minor}").exists():
                os.mknod(caps / f"nvidia-cap{minor}", 0o020444, os.makedev(511, minor))
        done = generate(self.work / "cdi/nvidia.json", self.root, "--sim", profile)
        self.that(done.returncode == 0 and "MIG-" in (self.work / "cdi/nvidia.json").read_text(),
                  "the CDI spec has the MIG devices", done.stderr)
        name = self.pod("nvidia-smi -L; " + self.held("one-mig"), {"nvidia.com/mig-1g.10gb": 1})
        self.node.wait(lambda: "MIG-" in self.node.log_of(name), "")
        held = self.node.devices_of(name)
        self.release("one-mig")
        phase, log = self.node.finished(name), self.node.log_of(name)
        self.that(phase == "Succeeded" and log.count("MIG-") == len(held) == 1 and held[0] in log and log.count("GPU ") == 1,
                  "a pod with a MIG device runs the real nvidia-smi -L and sees exactly its MIG device",
                  f"{phase}\nheld {held}\n{log}\n{json.dumps(self.node.status_of(name))[:1500]}")
        self.node.delete_pod(name)

    def run(self):
        self.apply("the service is applied", quiet_seconds=1)
        for part in (self.whole_gpus, self.many_pods, self.kubelet_restarts, self.killed_plugin, self.lost_gpu,
                     self.replicas, self.mixed_mig):
            part()
            self.under_its_unit(part.__name__)

    def close(self):
        self.node.stop()


if __name__ == "__main__":
    sys.exit(main_of(Test))
