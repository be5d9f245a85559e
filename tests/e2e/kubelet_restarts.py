#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kubelet_restarts.py - bound pods keep their GPUs through restarts of kubelet, containerd and the device plugin.
"""Before the kubelet of the folder that SLIPWAY_E2E_KUBERNETES names (Kubernetes 1.31 or newer), as in
device_plugin_kubelet.py. Eight pods with a GPU each go through restarts, in which kubelet starts up to 75 s after the device
plugin or before it; kubelet must reject none. Pods that come while the service reloads must get their device as well. How
long a registration takes is read from kubelet's log.

With NVIDIA's nvidia-device-plugin as SLIPWAY_BENCH_DEVICE_PLUGIN, that goes through the same restarts: its figures are printed.
Needs root. --long: 20 restarts instead of 5."""

import collections
import json
import os
import shutil
import signal
import sys
import threading
import time

from cdi_podman import GPUS
from device_plugin_kubelet import CONFIG, GPU, UNIT, Test
from kube_test import main_of
from kubelet_log import KubeletLog
from nvidia_plugin import NvidiaPlugin
from slipway_host import run

DELAYS = (0, 1, 5, 15, 75)  # seconds
SETTLE = 2  # seconds in which kubelet admits all pods, once it has seen them
PERIOD = 0.2  # seconds between two pods of the crowd
CROWD = 50
SHARED = 16  # replicas: the crowd must not run out of devices, however slowly its containers start


# Pods that kubelet rejected, with its reasons; whether all others run with their former devices; whether the plugin
# registered before kubelet looked at its pods.
Restart = collections.namedtuple("Restart", "rejected kept in_time")


class Service:
    """slipway's, under its unit."""

    name = "slipway"

    def __init__(self, machine):
        self.machine = machine

    def start(self):
        self.machine.must("systemctl", "start", UNIT)

    def stop(self):
        self.machine.must("systemctl", "stop", UNIT)


class RestartTest(Test):
    def __init__(self, checks, work, long):
        super().__init__(checks, work, long)
        self.service = Service(self.machine)
        self.figures = []
        self.log = None

    # --- the bound pods ---

    def bind_pods(self):
        """Creates those of the eight again that are missing or were rejected."""
        there = self.node.pods()
        names = [f"bound-{i}" for i in range(GPUS)]
        for name in names:
            if there.get(name, {}).get("status", {}).get("phase") == "Failed":
                self.node.delete_pod(name)
        gone = [name for name in names if there.get(name, {}).get("status", {}).get("phase") in (None, "Failed")]
        self.node.wait(lambda: not set(gone) & set(self.node.pods()), "the end of rejected pods")
        for name in gone:
            self.node.run_pod(name, ["/bin/sh", "-c", "nvidia-smi -L; exec sleep 1000000"], {GPU: 1},
                              [(self.work / "sim", "/run/slipway/sim")], restart="Always")
        return self.node.wait(lambda: self.running(names), "")

    def running(self, names):
        """Returns whether each has a running container in containerd that kubelet knows."""
        tasks = {words[0] for words in map(str.split, run(self.node.ctr("task", "ls")).stdout.splitlines())
                 if words[-1] == "RUNNING"}
        pods = self.node.pods()
        return all(tasks & {status.get("containerID", "").rpartition("/")[2]
                            for status in pods.get(name, {}).get("status", {}).get("containerStatuses", [])} for name in names)

    def held_by_pods(self):
        return {f"bound-{i}": self.node.devices_of(f"bound-{i}") for i in range(GPUS)}

    def failed(self):
        return [name for name, pod in self.node.pods().items() if pod.get("status", {}).get("phase") == "Failed"]

    # --- restarts ---

    def without_containers(self, delay):
        """kubelet and the containers are killed; kubelet comes back later"""
        self.node.end("kubelet", signal.SIGKILL)
        self.node.kill_containers()
        time.sleep(delay)
        self.node.start_kubelet()

    def with_containerd(self, delay):
        """containerd is killed and started, kubelet ends and comes back later"""
        self.node.end("containerd", signal.SIGKILL)
        self.node.start_containerd()
        self.node.end("kubelet")
        time.sleep(delay)
        self.node.start_kubelet()

    def kubelet_early(self, delay):
        """kubelet is restarted while the device plugin is stopped; the plugin starts later"""
        self.service.stop()
        self.node.end("kubelet")
        self.node.start_kubelet()
        time.sleep(delay)
        self.service.start()

    def reboot(self, delay):
        """all is killed as by a power cut; containerd and the device plugin start, kubelet later"""
        self.node.end("kubelet", signal.SIGKILL)
        self.service.stop()
        self.node.lose_containers()
        self.node.start_containerd()
        self.service.start()
        time.sleep(delay)
        self.node.start_kubelet()

    def restart(self, kind, delay):
        before = self.held_by_pods()
        log = KubeletLog(self.node)
        kind(delay)
        names = list(before)
        settled = self.node.wait(lambda: None not in log.registration() and (log.denied() or self.running(names)), "")
        time.sleep(SETTLE)
        rejected = log.denied()
        self.node.wait(lambda: len(self.failed()) == len(rejected), "")
        registered, looked = log.registration()
        self.figures.append(f"{self.service.name}: {kind.__doc__}, by {delay} s: registered {registered} ms after kubelet's server "
                            f"came up, which saw its pods after {looked} ms; {len(rejected)} pods rejected")
        print(self.figures[-1], flush=True)
        after = self.held_by_pods()
        kept = settled and before == after and len({each for ids in after.values() for each in ids}) == GPUS
        return Restart(rejected, kept, None not in (registered, looked) and registered < looked)

    def restarts(self, kinds):
        for kind, delay in kinds:
            if not self.bind_pods():
                self.that(False, "eight pods run", f"{json.dumps(self.node.pods())[-3000:]}\n{self.seen()}")
            done = self.restart(kind, delay)
            self.that(not done.rejected and done.kept, f"{kind.__doc__}, by {delay} s: no pod is rejected, and each runs with the GPU that it had",
                      f"{done.rejected}\n{self.held_by_pods()}\n{self.seen()}")
            if kind != self.kubelet_early:  # cases in which kubelet has no plugin to wait for
                self.that(done.in_time, "the device plugin registers before kubelet looks at its pods", self.figures[-1])

    def compare(self, program):
        """Measures NVIDIA's plugin in place of slipway's, without requirements."""
        self.service.stop()
        own, self.service = self.service, NvidiaPlugin(program, self.work, self.root / "run/slipway/sim")
        self.service.start()
        self.amounts({GPU: GPUS})
        for kind, delay in ((self.without_containers, 1), (self.kubelet_early, 1), (self.reboot, 15)):
            self.bind_pods()
            self.restart(kind, delay)
        self.service.stop()
        self.service = own
        self.service.start()
        self.that(self.amounts({GPU: GPUS}), "slipway's plugin takes over from NVIDIA's", self.seen())

    # --- reloads ---

    def crowd(self, sentence, disturb, pause=0.25):
        """Creates a pod every 0.2 s, which ends at once, while the service is disturbed again and again."""
        over = threading.Event()
        disturbed = []

        def work():
            while not over.wait(pause):
                disturb(len(disturbed))
                disturbed.append(1)
        worker = threading.Thread(target=work)
        names = [f"crowd-{i}" for i in range(CROWD)]
        began = time.monotonic()
        worker.start()
        for i, name in enumerate(names):
            time.sleep(max(0.0, began + i * PERIOD - time.monotonic()))
            self.node.run_pod(name, ["/bin/sh", "-c", ":"], {GPU: 1})
        seconds = time.monotonic() - began
        self.node.wait(lambda: all(self.node.pods().get(name, {}).get("status", {}).get("phase") in ("Succeeded", "Failed")
                                   for name in names), "")
        over.set()
        worker.join()
        pods = self.node.pods()
        bad = [(name, pods[name]["status"].get("reason"), pods[name]["status"].get("message")) for name in names
               if pods[name]["status"].get("phase") != "Succeeded"]
        self.figures.append(f"{sentence}: {CROWD} pods in {seconds:.1f} s, {len(disturbed)} times; {len(bad)} did not succeed")
        print(self.figures[-1], flush=True)
        self.that(not bad and len(disturbed) > 2, f"{sentence}, and each of {CROWD} pods that come meanwhile gets its device",
                  f"{bad[:5]}\n{self.seen()}")
        for name in names:
            self.node.delete_pod(name)
        self.node.wait(lambda: not self.node.pods(), "the end of the crowd")

    def reloads(self):
        def sharing(replicas):
            return {"version": "v1", "sharing": {"timeSlicing": {"replicas": replicas}}}

        def other(count):
            self.plugin.write(CONFIG, sharing(SHARED * (1 + count % 2)))
            self.machine.must("systemctl", "reload", UNIT)
        for name in self.node.pods():
            self.node.delete_pod(name)
        self.plugin.write(CONFIG, sharing(SHARED))
        self.apply("a config with replicas is applied", quiet_seconds=1, config_file=CONFIG)
        self.that(self.amounts({GPU: GPUS * SHARED}), f"{GPUS * SHARED} replicas are offered", self.seen())
        before = self.plugin.shown()["MainPID"]
        self.crowd("the service gets SIGHUPs", lambda _: self.machine.must("systemctl", "kill", "--kill-who=main", "--signal=HUP", UNIT))
        self.crowd("the config changes", other)
        self.crowd("the service's files are replaced, as by an upgrade of the package", self.upgrade, 1.5)
        taken = self.plugin.log().count("the new one starts, and takes over")
        self.that(taken > 2, "the new program has taken over each time", f"{taken}\n{self.seen()}")
        self.that(self.plugin.shown()["MainPID"] == before, "all by reloads of one unit", self.plugin.shown())
        self.apply("without replicas again", quiet_seconds=1)
        self.that(self.amounts({GPU: GPUS}), "there are eight again", self.seen())

    def upgrade(self, _):
        """Does what dpkg and the package's postinst do: replaces the files, then reloads."""
        for file in (self.machine.root / "usr/lib").glob("**/slipway/plugins/deviceplugin*"):
            fresh = file.with_name(file.name + ".dpkg-new")
            shutil.copy2(file, fresh)
            os.utime(fresh)
            fresh.rename(file)
        self.machine.must("systemctl", "try-reload-or-restart", UNIT)

    # --- before kubelet ---

    def order(self):
        """Checks that kubelet starts after the service, and that stopping the service blocks no other unit; only
        prints how long that takes."""
        before = self.machine.must("systemctl", "show", "--property=Before", "--value", UNIT).split()
        wanted = {"kubelet.service", "k3s.service", "k3s-agent.service", "rke2-server.service", "k0scontroller.service"}
        self.that(wanted <= set(before), "its unit is ordered before kubelet, k3s, rke2 and k0s", before)
        began = time.monotonic()
        self.service.stop()
        self.figures.append(f"systemctl stop {UNIT}: {1000 * (time.monotonic() - began):.0f} ms")
        self.service.start()
        self.that(self.amounts({GPU: GPUS}), "after a stop and a start there are eight GPUs", self.seen())

    # --- the other way of registration ---

    def watcher(self):
        """Only printed: kubelet finds the socket by itself, possibly after its first look at pods."""
        self.apply("registration by kubelet's watcher is applied", quiet_seconds=1, registration="watcher")
        self.amounts({GPU: GPUS})
        self.bind_pods()
        self.restart(self.with_containerd, 1)
        self.that(self.amounts({GPU: GPUS}), "mode watcher: kubelet has eight GPUs after its restart", self.seen())
        self.apply("and by its socket again", quiet_seconds=1)
        self.that(self.amounts({GPU: GPUS}), "mode socket: eight GPUs as well", self.seen())
        left = list((self.work / "node/kubelet/plugins_registry").glob("nvidia*"))
        self.that(not left, "where the watcher looks, no socket is left", left)

    def run(self):
        kinds = [(self.reboot, 5), (self.without_containers, 15), (self.with_containerd, 0), (self.kubelet_early, 1), (self.reboot, 75)]
        if self.long:
            kinds = [(kind, delay) for delay in DELAYS
                     for kind in (self.without_containers, self.with_containerd, self.kubelet_early, self.reboot)]
        self.apply("the service is applied", quiet_seconds=1)
        self.that(self.amounts({GPU: GPUS}), f"kubelet {self.node.version} has eight GPUs", self.seen())
        self.order()
        self.restarts(kinds)
        if program := os.environ.get("SLIPWAY_BENCH_DEVICE_PLUGIN"):
            self.compare(program)
        self.reloads()
        self.watcher()
        self.under_its_unit("at the end")
        print("\n".join([f"kubelet {self.node.version}", *self.figures]))

    def close(self):
        if isinstance(self.service, NvidiaPlugin):
            self.service.stop()
        super().close()


if __name__ == "__main__":
    sys.exit(main_of(RestartTest, newer=True))
