#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/mig_kubelet.py - MIG layouts that change under the running device plugin, with a real kubelet; pods run nvidia-smi.
"""kubelet, API server, etcd and containerd are real, as in device_plugin_kubelet.py. slipway applies mig, cdi, deviceplugin and gfd in a booted machine; the driver's folder with the simulated
H100 and then A100 is the same there and outside, where containerd runs. Needs root."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

from cdi_podman import GPUS, LIB, make_machine
from device_plugin_kubelet import GPU, UNIT, Plugin, Test, make_image_root
from engine_machine import EngineMachine
from kube_node import Node
from kube_test import main_of
from slipway_host import BUILD, VERSION, must
from units import LABELS, wait_for

SHARED = "/mnt"  # the same folder in the machine and outside
DRIVER = f"{SHARED}/driver"
MINORS = "proc/driver/nvidia-caps/mig-minors"
SLICE = "nvidia.com/mig-1g.10gb"
PER_GPU = 7
GIVEN = " (kubelet gave it the device; no process was found)"
NOTED = " (kubelet gave it the device, as its checkpoint says; no process was found)"
SPEC = "/etc/slipway/host.yaml"
SERVICES = (UNIT, "slipway-gfd.service")


def once_free(command):
    """Another slipway may be writing CDI specs (exit code 75), which is over soon."""
    end = time.monotonic() + 60
    while True:
        done = command()
        if done.returncode != 75 or time.monotonic() > end:
            return done
        time.sleep(0.2)


class MigPlugin(Plugin):
    """The device plugin, with the GPUs' layouts, their CDI spec and their labels."""

    def __init__(self, machine, shared):
        super().__init__(machine)
        self.state = shared / "driver/run/slipway/sim"

    def apply(self, config="all-disabled", drain="fail-fast", **section):
        root = {"driver_root": DRIVER}
        components = {"mig": {**root, "config": config, "drain": drain, **section},
                      "cdi": {**root, "folder": f"{SHARED}/cdi", "hook_path": f"{SHARED}/slipway-cdi-hook", "format": "json"},
                      "deviceplugin": {**root, "quiet_seconds": 1, "config": {"version": "v1", "mig": {"strategy": "mixed"}}},
                      "gfd": {**root, "mig_strategy": "mixed", "timestamp": False, "interval": "1h"}}
        self.write(SPEC, {"apiVersion": "slipway.dev/v1", "kind": "Host", "metadata": {"name": "e2e"},
                          "spec": {"hardware": "assume", "components": components}})
        return once_free(lambda: self.machine.slipway("apply", "--yes", "-f", SPEC))

    def simulate(self, more):
        make_machine(self.state, more)

    def sim(self, *words):
        return must([BUILD / "bin/slipway-sim", self.state, *words])


class MigTest(Test):
    def __init__(self, checks, work, _):
        self.checks, self.work, self.pods = checks, work, 0
        self.shared = work / "shared"
        self.shared.mkdir()
        node = work / "node"
        logs = [f"{node}/{name}:/var/log/{name.removesuffix('-logs')}s" for name in ("pod-logs", "container-logs")]
        self.machine = EngineMachine(work, "bookworm", binds=[f"{node}/kubelet:/var/lib/kubelet", f"{self.shared}:{SHARED}", *logs],
                                     files={"/etc/systemd/system/slipway-.service.d/shared.conf":
                                            f"[Service]\nReadWritePaths=-{SHARED}\n"})
        (self.machine.root / "driver").rename(self.shared / "driver")
        must(["cp", BUILD / "bin/slipway-cdi-hook", self.shared])
        must(["mount", "--bind", self.shared, SHARED])
        make_image_root(work / "image")
        config = work / "runtime.toml"
        config.write_text(f'[nvidia-container-runtime]\nruntimes = ["/usr/sbin/runc"]\n'
                          f'[nvidia-container-runtime.modes.cdi]\nspec-dirs = ["{SHARED}/cdi"]\n')
        self.node = Node(node, work / "image", BUILD / "bin/slipway-runtime", {"NVIDIA_CTK_CONFIG_FILE_PATH": str(config)})
        self.plugin = MigPlugin(self.machine, self.shared)
        self.figures = []

    # --- the simulated driver ---

    def model(self, profile):
        """Creates eight GPUs of that model, as the machine sees them; files that a kernel would have in /proc, and
        nodes of all
        possible instances, since the simulated driver has no kernel module that creates them."""
        self.profile = f"{profile},driver={VERSION}"
        must([BUILD / "bin/slipway-sim", self.plugin.state, "make", self.profile])
        tree = self.shared / "tree"
        must([BUILD / "bin/slipway-sim", self.plugin.state, "tree", self.profile, tree])
        caps = self.shared / "driver/dev/nvidia-caps"
        caps.mkdir(exist_ok=True)
        for line in (tree / MINORS).read_text().splitlines():
            node = caps / f"nvidia-cap{line.split()[1]}"
            if not node.exists():
                os.mknod(node, 0o020444, os.makedev(511, int(line.split()[1])))
        (self.work / "sim").mkdir(exist_ok=True)

    def show_driver_to_machine(self):
        self.machine.must("mount", "--bind", f"{SHARED}/tree/proc/driver", "/proc/driver")
        modeset = self.shared / "driver/dev/nvidia-modeset"
        if not modeset.exists():
            os.mknod(modeset, 0o020666, os.makedev(195, 254))

    def show_gpus_to_pods(self):
        """Copies the current state, except that only the nodes in the caller's /dev are visible."""
        whole, seen = self.work / "whole", self.work / "seen"
        must([BUILD / "bin/slipway-sim", whole, "make", self.profile])
        must([BUILD / "bin/slipway-sim", seen, "make", self.profile + ",visible=nodes"])
        state = bytearray((self.plugin.state / "machine").read_bytes())
        pairs = zip((whole / "machine").read_bytes(), (seen / "machine").read_bytes())
        for at, (one, other) in enumerate(pairs):
            if one != other:
                state[at] = other
        (self.work / "sim/machine").write_bytes(state)

    def instances(self):
        return [line for line in self.plugin.sim("show").splitlines() if line.startswith(("gpu ", "  gi ", "    ci "))]

    # --- what kubelet has ---

    def kubelet_has(self):
        """Returns kubelet's devices by resource from its checkpoint, which it writes with each list."""
        file = self.work / "node/kubelet/device-plugins/kubelet_internal_checkpoint"
        with contextlib.suppress(OSError, ValueError):
            devices = json.loads(file.read_text())["Data"]["RegisteredDevices"] or {}
            return {name: len(ids) for name, ids in devices.items() if ids}
        return None

    def until_kubelet_has(self, wanted):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.kubelet_has() == wanted:
                return True
            time.sleep(0.005)
        return False

    def changes(self, sentence, wanted, change):
        """Makes a change, and measures how long after its end kubelet has the devices, and the node's allocatable."""
        before = {name: self.machine.must("systemctl", "show", "--property=MainPID", "--value", name) for name in SERVICES}
        began = time.monotonic()
        done = change()
        ended = time.monotonic()
        self.that(done.returncode == 0, sentence, done.stdout + done.stderr + self.plugin.log()[-1500:])
        listed = self.until_kubelet_has(wanted)
        list_seconds = time.monotonic() - ended
        holds = self.node.wait(lambda: {name: n for name, n in self.node.amounts("allocatable").items() if n} == wanted, "")
        node_seconds = time.monotonic() - ended
        self.that(listed and holds, f"kubelet and the node have {wanted}", f"{self.kubelet_has()}\n{self.seen()}")
        self.figures.append(f"{self.profile.split(',')[0]}, {sentence}: apply {ended - began:.2f} s, kubelet's list "
                            f"{list_seconds:.2f} s and the node's allocatable {node_seconds:.2f} s after its end")
        after = {name: self.machine.must("systemctl", "show", "--property=MainPID", "--value", name) for name in SERVICES}
        self.that(before == after, "no service was restarted", f"{before} {after}")

    def spec(self):
        return json.loads((self.shared / "cdi/nvidia.com-gpu.json").read_text())

    def described(self, count):
        """Checks that CDI spec and labels have that many MIG devices."""
        names = {device["name"] for device in self.spec()["devices"] if device["name"].startswith("MIG-")}
        self.that(len(names) == count, f"the CDI spec has {count} MIG devices", names)
        label = f"nvidia.com/mig-1g.10gb.count={count}\n"
        self.that(wait_for(lambda: (label in self.machine.run("cat", LABELS).stdout) == (count > 0)), "and the labels follow",
                  self.machine.run("cat", LABELS).stdout)

    # --- what must hold ---

    def to_slices(self):
        self.changes("from all-disabled to all-1g.10gb", {SLICE: GPUS * PER_GPU}, lambda: self.plugin.apply("all-1g.10gb"))
        self.described(GPUS * PER_GPU)
        self.show_gpus_to_pods()

    def pods_in_slices(self, count):
        """Checks that each sees its own instance, and no other."""
        names = [self.pod("nvidia-smi -L; " + self.held("slices"), {SLICE: 1}) for _ in range(count)]
        self.node.wait(lambda: all("MIG-" in self.node.log_of(name) for name in names), "", 60)
        held = {name: self.node.devices_of(name) for name in names}
        logs = {name: self.node.log_of(name) for name in names}
        ids = [each for ids in held.values() for each in ids]
        self.that(len(set(ids)) == len(ids) == count, f"{count} pods have {count} instances", held)
        wrong = [name for name in names if not held[name] or logs[name].count("MIG-") != 1 or held[name][0] not in logs[name]
                 or logs[name].count("GPU ") != 1]
        self.that(not wrong, "each runs the real nvidia-smi -L and sees its instance and no other",
                  json.dumps([(held[name], logs[name], self.node.status_of(name)) for name in wrong])[:3000])
        return names, held

    def blocked_by_a_pod(self):
        names, held = self.pods_in_slices(3)
        pids = {name: self.pid_of(name) for name in names}
        gpus = set()
        for name in names:
            gpu, instance, compute = self.instance_of(held[name][0])
            gpus.add(gpu)
            self.plugin.sim("process", "add", gpu, pids[name], "100", "compute", "sh", instance, compute)
        before = self.instances()
        self.refused("fail-fast", 1, names)
        self.that(self.instances() == before and self.until_kubelet_has({SLICE: GPUS * PER_GPU}), "fail-fast: nothing was changed",
                  f"{before}\n{self.instances()}\n{self.seen()}")
        self.refused("when-idle", 3, names)
        done = self.slipway_of_the_node("status")
        self.that(self.named(names, done.stdout), "when-idle: the status names them", done.stdout + done.stderr)
        wanted = {GPU: GPUS - len(gpus), SLICE: PER_GPU * len(gpus)}
        self.that(self.until_kubelet_has(wanted), f"when-idle: the GPUs that nobody uses are changed meanwhile: {wanted}", self.seen())
        self.release("slices")
        phases = [self.node.finished(name) for name in names]
        self.that(set(phases) == {"Succeeded"}, "the pods end", phases)
        for name in names:
            self.node.delete_pod(name)
            self.plugin.sim("process", "remove", pids[name])
        (self.work / "sim/slices").unlink()

    def blocked_by_an_idle_pod(self):
        """The pod never opens its instance, so that only kubelet knows of it."""
        (name,), _ = self.pods_in_slices(1)
        before = self.instances()
        for policy in ("fail-fast", "terminate"):
            self.refused(policy, 1, [name], GIVEN)
        self.node.running["kubelet"].send_signal(signal.SIGSTOP)
        done = self.slipway_of_the_node("apply", "--yes", "-f", SPEC)
        self.node.running["kubelet"].send_signal(signal.SIGCONT)
        said = " ".join((done.stdout + done.stderr).split())
        self.that(done.returncode == 1 and "kubelet does not report which pods have it" in said and "systemctl status kubelet" in said,
                  "nothing is changed while kubelet does not answer, and the error tells it", f"{done.returncode}\n{said}")
        self.that(self.instances() == before, "and none of these changed anything", f"{before}\n{self.instances()}")
        self.release("slices")
        self.that(self.node.finished(name) == "Succeeded", "the idle pod ends", self.node.status_of(name))
        gone = self.node.wait(lambda: name not in self.slipway_of_the_node("plan", "-f", SPEC).stdout, "", 60)
        self.that(gone, "a pod that has ended holds nothing, though it is still there", self.slipway_of_the_node("plan", "-f", SPEC).stdout)
        self.node.delete_pod(name)
        (self.work / "sim/slices").unlink()

    def blocked_by_an_init_container(self):
        """kubelet's pod resources leave it out while it runs: only the checkpoint has its devices."""
        name = "prepared"
        self.node.run_pod(name, ["/bin/sh", "-c", ":"], {}, [(self.work / "sim", "/run/slipway/sim")],
                          init=(["/bin/sh", "-c", self.held("prepared")], {SLICE: 1}))

        def state():
            return (self.node.status_of(name).get("initContainerStatuses") or [{}])[0].get("state", {})
        self.that(self.node.wait(lambda: "running" in state(), "") and len(self.node.devices_of(name)) == 1,
                  "an init container runs and has an instance", self.node.status_of(name))
        before = self.instances()
        self.refused("fail-fast", 1, [name], NOTED, "init container prepare")
        self.that(self.instances() == before and "running" in state(), "nothing was changed under the init container",
                  f"{before}\n{self.instances()}\n{state()}")
        self.release("prepared")
        self.that(self.node.finished(name) == "Succeeded", "the pod with the init container ends", self.node.status_of(name))
        self.node.delete_pod(name)
        (self.work / "sim/prepared").unlink()

    def refused(self, policy, code, pods, how=",", container="container c"):
        self.write_drain(policy)
        done = self.slipway_of_the_node("plan", "-f", SPEC)
        self.that(done.returncode == 2 and self.named(pods, done.stdout, how, container), f"{policy}: the plan names the pods that hold instances",
                  done.stdout + done.stderr)
        done = self.slipway_of_the_node("apply", "--yes", "-f", SPEC)
        self.that(done.returncode == code and self.named(pods, done.stdout + done.stderr, how, container), f"{policy}: so does the apply, which does not end them",
                  f"{done.returncode}\n{done.stdout}{done.stderr}")

    @staticmethod
    def named(pods, text, how=",", container="container c"):
        words = " ".join(text.split())
        return "on 1g.10gb at " in words and all(f"pod default/{pod}, {container}{how}" in words for pod in pods)

    def write_drain(self, policy):
        spec = json.loads((self.machine.root / SPEC.lstrip("/")).read_text())
        spec["spec"]["components"]["mig"].update(config="all-disabled", drain=policy)
        self.plugin.write(SPEC, spec)

    def back(self):
        self.changes("and back, once they have ended", {GPU: GPUS}, lambda: self.plugin.apply("all-disabled"))
        self.described(0)
        phase, log, _ = self.run_whole()
        self.that(phase == "Succeeded" and log.count("GPU ") == 1 and "MIG" not in log, "a pod gets a whole GPU again", log)

    def run_whole(self):
        self.show_gpus_to_pods()
        return self.run_once("nvidia-smi -L", {GPU: 1})

    def by_the_tool(self):
        """`slipway mig apply` makes the device plugin release the driver, as an apply does."""
        def tool(config):
            return self.machine.run("sh", "-c", f"export SLIPWAY_NVML={DRIVER}/{LIB}/libnvidia-ml.so.{VERSION}; "
                                    f"slipway mig generate-config | slipway mig apply -f - -c {config}")
        self.changes("slipway mig apply -c all-1g.10gb", {SLICE: GPUS * PER_GPU}, lambda: tool("all-1g.10gb"))
        self.changes("slipway mig apply -c all-disabled", {GPU: GPUS}, lambda: tool("all-disabled"))

    # --- the pod as its node sees it ---

    def pid_of(self, pod):
        """Returns the process id of the pod's container, in this machine's pid namespace."""
        def container():
            told = self.node.status_of(pod).get("containerStatuses") or [{}]
            return told[0].get("containerID", "").rpartition("/")[2]
        self.node.wait(container, f"the container of {pod}")
        for line in must(self.node.ctr("task", "ls")).splitlines():
            if line.startswith(container()):
                return line.split()[1]
        raise RuntimeError(f"containerd has no task {container()}")

    def instance_of(self, uuid):
        """Returns GPU, GPU instance and compute instance of a MIG device, by the device nodes of the CDI spec."""
        minors = dict(reversed(line.split()) for line in (self.shared / "tree" / MINORS).read_text().splitlines())
        device = next(each for each in self.spec()["devices"] if each["name"] == uuid)
        paths = [node["path"] for node in device["containerEdits"]["deviceNodes"]]
        names = [minors[path.rpartition("nvidia-cap")[2]] for path in paths if "/nvidia-cap" in path]
        return re.fullmatch(r"gpu(\d+)/gi(\d+)/ci(\d+)/access", max(names, key=len)).groups()

    def slipway_of_the_node(self, *words):
        """Runs slipway as on a node: in the pods' pid namespace, which is not the machine's. systemd answers only
        processes
        in its own."""
        systemctl = self.shared / "systemctl"
        systemctl.write_text(f'#!/bin/sh\nexec nsenter --target={self.machine.leader} --all --root --wd systemctl "$@"\n')
        systemctl.chmod(0o755)
        inside = (f"mount -t proc proc /proc && mount --bind {SHARED}/tree/proc/driver /proc/driver && "
                  f"mount --bind {SHARED}/systemctl /usr/bin/systemctl && exec slipway \"$@\"")
        words = ["nsenter", f"--target={self.machine.leader}", "--mount", "--uts", "--ipc", "--net", "--root", "--wd",
                 "unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "slipway", *words]
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        return once_free(lambda: subprocess.run(words, text=True, capture_output=True, check=False, env=environment))

    def start(self):
        self.model("h100x8")
        self.node.start()

    def run(self):
        self.show_driver_to_machine()
        for profile in ("h100x8", "a100-80x8"):
            if profile != "h100x8":
                self.plugin.stop()
                self.model(profile)
                self.machine.must("systemctl", "start", UNIT)
            done = self.plugin.apply()
            self.that(done.returncode == 0 and self.until_kubelet_has({GPU: GPUS}), f"{profile}: kubelet has eight GPUs",
                      done.stdout + done.stderr + self.seen())
            self.to_slices()
            self.blocked_by_an_idle_pod()
            self.blocked_by_a_pod()
            self.blocked_by_an_init_container()
            self.back()
        self.by_the_tool()
        print("\n".join([f"kubelet {self.node.version}", *self.figures]))

    def close(self):
        super().close()
        subprocess.run(["umount", "-l", SHARED], check=False)


if __name__ == "__main__":
    sys.exit(main_of(MigTest))
